"""How many digits of a run's value and gradient are right, and what the true numbers are.

The formula is worked out again in ball arithmetic at the exact double inputs, in ever higher precision
until every number asked for has a tight enclosure.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

from exprgrad.explain.digits.trusted import Trust, Trusted, judged
from exprgrad.explain.digits.truths import Swept
from exprgrad.explain.kinks_met import flagged
from exprgrad.explain.places import at
from exprgrad.explain.sides.kinks import OneSided, corrections
from exprgrad.graph.graph import Shape, dependents, element_name, nested
from exprgrad.run.balls.balls import Ball, undefined
from exprgrad.run.evaluation import Path, Run

__all__ = ["trust"]

MOST_LEFT = 13
"""Digits count as lost where no more than these are left: rounding alone takes two or three."""
MOST_EXPLAINED = 16
"""For how many numbers it is worked out where their digits are lost: each takes a walk over the graph."""
BEST = ("exact", "rounded", "pole", "undefined")
"""Verdicts on numbers that lost nothing."""


def trust(run: Run, sides: Mapping[str, OneSided]) -> Trust:
    """How far a run's numbers can be trusted, where their digits are lost, and what would keep them.

    ``sides`` are the derivatives from the sides, which may correct the gradient.  Raises
    ``MissingExtraError`` without python-flint, ``RequestError`` for tensors too large to be written out.
    """
    source = Swept(run)
    found, over = source.doubles, source.formula
    special = conventional(over, sides)
    corrected = {name for name, side in sides.items() if side.corrected}
    explained: list[Path] = []

    def measured(path: Path, value: float, true: Ball) -> Trusted:
        name = source.input(path)
        if name in corrected:
            return Trusted(value, 0, False, "corrected", None, None, None, True, None, None)
        plain = judged(value, true, found.bits)._replace(convention=name in special)
        if (
            plain.verdict in BEST
            or plain.digits > MOST_LEFT
            or (plain.verdict == "zero" and value == 0)
        ):
            return plain
        explained.append(path)
        if len(explained) > MOST_EXPLAINED:
            return plain
        lost, better = source.explained(path, plain, true)[::2]
        if lost is not None and source.over.origins:
            node, place = source.over.origins[lost.node]
            lost = lost._replace(node=node, place=place or ())
        if plain.verdict == "undecided":
            better = None  # an undecided ball meets any other
        return plain._replace(lost=lost, rewrite=better)

    def slope(name: str, place: Shape) -> Trusted:
        path = "gradient", element_name(name, place)
        has_value = not found.values[over.graph.output].is_nan()
        true = source.true(found, path) if has_value else undefined()
        return measured(path, at(gradient[name], place), true)

    gradient = run.swept | {name: value for name, (_, value) in corrections(run, sides).items()}
    value = measured(("value",), run.value, found.values[over.graph.output])
    slopes = {}
    for name in gradient:
        shape = run.graph.shape(run.graph.inputs[name])
        entries = [slope(name, place) for place in product(*map(range, shape))]
        slopes[name] = nested(entries, shape, list)
    return Trust(value, slopes, found.bits)


def conventional(run: Run, sides: Mapping[str, OneSided]) -> set[str]:
    """The inputs whose derivative is a convention at this point."""
    unsure = [name for name, side in sides.items() if side.verdict != "exists"]
    bent = flagged(run) if unsure else []

    def is_bent(name: str) -> bool:
        moved = dependents(run.graph, [run.graph.inputs[name]])
        return any(moved[node] for node in bent)

    return {name for name in unsure if is_bent(name)}
