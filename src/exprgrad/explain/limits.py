"""Limits that the library and the commands share: a leaf, so that both have them without loading more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exprgrad.errors import RequestError, whole_number

if TYPE_CHECKING:
    from exprgrad.run.evaluation import SweptRun

__all__ = [
    "COUNTED", "LISTED_PATHS", "LONGEST_LABEL", "MOST_DRAWS", "MOST_STEPS", "SHARED",
    "check_significant_digits", "side_limit_reason",
]  # fmt: skip

COUNTED = 6
"""The digits of a number that are right, or a warning says how many, where all digits are printed."""
LISTED_PATHS = 5
"""The paths listed for each input by default."""
LONGEST_LABEL = 40
"""The longest text of a formula in a number's label."""
SHARED = 6
"""In so many digits an answer has to be the same for doubles and for the decimals as typed."""
MOST_STEPS = 100_000
"""How many steps a descent takes at most."""
MOST_DRAWS = 10_000_000
"""How many draws Monte Carlo makes at most: all values are kept, for the interval."""
MOST_DIGITS = 17
"""More digits say nothing more of a double."""
MOST_INPUTS = 64
"""The most differentiated numbers for which one-sided derivatives are found."""
MOST_VISITS = 300_000
"""The most visits of operands for them, all inputs and both sides together."""


def check_significant_digits(digits: object) -> int:
    """Return a number of significant digits; raise for anything else."""
    count = whole_number(digits)
    if count is None or not 1 <= count <= MOST_DIGITS:
        raise RequestError(
            "usage", f"digits is {digits!r}, which is not a whole number from 1 to {MOST_DIGITS}"
        )
    return count


def side_limit_reason(run: SweptRun, runs: int = 1) -> str:
    """Say why a run is too large for one-sided derivatives; empty if it is not.

    It may be one of several ``runs`` of the same size.
    """
    from exprgrad.graph.graph import MOST_ELEMENTS, shape_size

    graph = run.graph
    count = sum(shape_size(graph.shape(graph.inputs[name])) for name in run.wrt or ())
    nodes, elements = len(graph), sum(map(shape_size, graph.shapes))
    visits = 2 * count * len(graph.edge_starts) * runs
    limit = "formulas that are not so long" if visits > MOST_VISITS else ""
    if elements > MOST_ELEMENTS:
        limit = f"up to {MOST_ELEMENTS:,} elements over all nodes"
    if count > MOST_INPUTS:
        limit = f"up to {MOST_INPUTS} inputs"
    many = f"{elements:,} elements" if elements > nodes else f"{nodes:,} nodes"
    return limit and f"{limit}; this one has {count:,} input{'s' * (count != 1)} and {many}"
