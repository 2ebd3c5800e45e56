"""The visit-order lab: the reverse sweep in any order, and which paths that loses.

A visit passes the grad that a node has then, times the local derivatives, on to its operands; the visit
of an input reads its grad off.  What arrives later is lost.  So a path counts exactly when each node on
it is visited after the node before it on the way from the output, and what an order reads is the sum of
the products of the paths that count.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from exprgrad.errors import RequestError
from exprgrad.explain.limits import LISTED_PATHS
from exprgrad.explain.walks.contributions import Contribution, simulate
from exprgrad.explain.walks.lost_paths import Outcome, outcome, tally
from exprgrad.explain.walks.repeats import recount, repeated_outcome
from exprgrad.explain.walks.sequences import WRONG, wanted
from exprgrad.explain.walks.web import Web, web_of
from exprgrad.run.result import Run

__all__ = ["Visited", "visit"]

ACCUMULATE = ("add", "set")
"""What a contribution does to a grad: ``+=``, or the ``=`` of those who forget the ``+``."""


class Visited(NamedTuple):
    """What a reverse sweep in some order finds.

    ``order``      the visits; a node stands in it more than once for naive recursion alone
    ``rule``       the name of a wrong order, if it was asked for by that
    ``accumulate``   ``add`` or ``set``
    ``inputs``     by input: what it got, the true grad, and the paths that were lost
    ``contributions``  all that was passed, in order
    ``reads``      by input: the visit that read its grad off; None for one that is read at the end
    ``web``        the edges
    """

    order: tuple[int, ...]
    rule: str | None
    accumulate: str
    inputs: dict[str, Outcome]
    contributions: list[Contribution]
    reads: dict[str, int | None]
    web: Web

    @property
    def got(self) -> dict[str, float]:
        """The grads that were read, by input."""
        return {name: found.got for name, found in self.inputs.items()}

    @property
    def true(self) -> dict[str, float]:
        """The grads of the right order: those of the reverse sweep, which ``gradient`` may correct."""
        return {name: found.true for name, found in self.inputs.items()}

    @property
    def wrong(self) -> list[str]:
        """The inputs to which a path was lost, or counted again."""
        return [name for name, found in self.inputs.items() if found.is_wrong]

    @property
    def clobbered(self) -> list[Contribution]:
        """The contributions that overwrote another one before it was passed on."""
        return [passed for passed in self.contributions if passed.replaced is not None]


def visit(
    run: Run,
    order: str | Iterable[str | int] | None = None,
    accumulate: str = "add",
    *,
    most: int = LISTED_PATHS,
) -> Visited:
    """The reverse sweep in a given order, and what is wrong with it.

    ``order`` is ``preorder``, ``bfs`` or ``naive``, or names or ids of nodes, once each, as a list or with
    commas between; None is the right order.  Constants need not be listed.  An input left out is read
    at the end; another node left out passes nothing on.  With ``accumulate="set"`` a contribution
    overwrites the grad.  Of the paths that were lost, ``most`` are listed for each input.

    Raises ``RequestError`` for a forward run, one of tensors, an order that names no node or one twice,
    and naive recursion that would take too long.
    """
    if accumulate not in ACCUMULATE:
        message = f"a contribution is not accumulated by '{accumulate}'"
        raise RequestError("usage", message, help="it is one of 'add' and 'set'")
    web = web_of(run)
    rule = order.strip() if isinstance(order, str) and order.strip() in WRONG else None
    visits = tuple(run.order) if order is None else wanted(run, order)
    contributions, got, reads, carried = simulate(web, visits, overwrite=accumulate == "set")
    inputs: dict[str, Outcome] = {}
    if len({*visits}) < len(visits):
        again = recount(web, contributions, visits, overwrite=accumulate == "set")
        for name, node in web.inputs.items():
            inputs[name] = repeated_outcome(web, node, got[name], again, most)
    else:
        kept = tally(web, contributions, visits, carried)
        for name, node in web.inputs.items():
            inputs[name] = outcome(web, node, got[name], kept, most)
    return Visited(visits, rule, accumulate, inputs, contributions, reads, web)
