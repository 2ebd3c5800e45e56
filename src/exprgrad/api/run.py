"""One evaluation as people use it: its numbers, and every way to look at them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from exprgrad.explain import diagnostics
from exprgrad.explain.limits import LISTED_PATHS
from exprgrad.language.read.parse import parse
from exprgrad.run.evaluator import evaluator_at, shapes_of
from exprgrad.source import WIDTH

if TYPE_CHECKING:
    from pathlib import Path

    from exprgrad.explain.digits.trusted import Trust
    from exprgrad.explain.walks.orders import Visited
    from exprgrad.explain.walks.paths import Paths
    from exprgrad.show.page.lessons import Lesson
    from exprgrad.show.page.page import Page

__all__ = ["Run"]


def run_again(text: str, inputs: dict[str, Any], wrt: tuple[str, ...] | None) -> Run:
    """A run from what it was made of: how runs are pickled and copied."""
    evaluator = evaluator_at(parse(text), text, shapes_of(inputs))
    if wrt is None:
        return Run(text, evaluator.graph, inputs, evaluator.forward(inputs))
    values, adjoints = evaluator.gradient(inputs, wrt)
    return Run(text, evaluator.graph, inputs, values, adjoints, wrt)


class Run(diagnostics.Run):
    """One evaluation: ``value``, ``gradient``, ``nodes``, ``edges``, ``order`` and ``diagnostics``.

    It prints as its table, and shows as its picture in a notebook where Graphviz is at hand.
    """

    def table(self, *, digits: int = 6, all: bool = False) -> str:
        """The table of nodes as plain text; a long one in full with ``all``."""
        from exprgrad.show.text.nodes import node_table
        from exprgrad.show.text.table import plain

        return plain(node_table(self, digits, all_nodes=all))

    def trace(self, *, digits: int = 6, all: bool = False) -> str:
        """The reverse sweep, visit by visit, as plain text.  Needs a run of ``gradient``."""
        if self.adjoints is None:
            from exprgrad.errors import RequestError

            raise RequestError(
                "no-gradient", "only a run of gradient() has a reverse sweep to trace"
            )
        from exprgrad.show.text.trace import trace

        return trace(self, digits, all_visits=all)

    def map(self, *, digits: int = 6, all: bool = False, width: int = WIDTH) -> str:
        """The formula with marks under it: how large the grad of each node is, in quarters of the largest.

        Lines are at most ``width`` cells wide; a long formula is whole with ``all``.  Needs a run of
        ``gradient``.
        """
        from exprgrad.show.text.grad_map import grad_map
        from exprgrad.show.text.table import Screen

        return grad_map(self, digits, Screen(width), whole=all)

    def trust(self) -> Trust:
        """How many digits of the value and of each derivative are right, and where the others are lost.

        Raises ``MissingExtraError`` without python-flint, ``RequestError`` for tensors of more than 4,096
        numbers over all nodes.
        """
        from exprgrad.explain.digits.trust import trust

        return trust(self, self.one_sided)

    def paths(self, most: int = LISTED_PATHS) -> dict[str, Paths]:
        """By input, how many paths lead to it from the output, and those with the largest products.

        Over tensors they are the paths to each of an input's numbers, ``X[0, 1]``.  Needs a run of
        ``gradient``; raises ``RequestError`` for others, and for tensors of more than 4,096 numbers.
        """
        from exprgrad.explain.walks.paths import paths

        return paths(self, most)

    def visited(
        self,
        order: str | Iterable[str | int] | None = None,
        accumulate: str = "add",
        *,
        most: int = LISTED_PATHS,
    ) -> Visited:
        """The reverse sweep in another order, and what it loses: ``got``, ``true``, the lost paths.

        ``order`` lists names or ids of nodes, or is ``preorder``, ``bfs`` or ``naive``; ``accumulate``
        is ``add``, or ``set`` for ``=`` where ``+=`` should be.  ``most`` lost paths are listed for each
        input.  Over tensors the nodes are their numbers, ``X[0, 1]``.  Needs a run of ``gradient``; raises
        ``RequestError`` for others, for tensors of more than 4,096 numbers, and for what is not an order.
        """
        from exprgrad.explain.walks.orders import visit

        return visit(self, order, accumulate, most=most)

    def json(self, command: str | None = None, *, all: bool = False) -> str:
        """The run as the JSON document that the command prints; with ``all`` no tensor is left out."""
        from exprgrad.show.documents.document import document
        from exprgrad.show.documents.runs import run_fields

        name = command or ("eval" if self.adjoints is None else "grad")
        return "".join(document(name, self.text, run_fields(self, self.diagnostics), whole=all))

    def dot(self, *, digits: int = 6, all: bool = False) -> str:
        """The graph with its numbers as DOT source; above 500 nodes only with ``all``."""
        from exprgrad.show.picture.dot import source

        return source(self.graph, self, digits=digits, all=all)

    def svg(self, *, digits: int = 6, all: bool = False) -> str:
        """The graph with its numbers as SVG.  Raises ``MissingExtraError`` without Graphviz."""
        from exprgrad.show.picture.picture import Picture

        return Picture(self.dot(digits=digits, all=all)).svg()

    def save(self, path: str | Path, *, digits: int = 6, all: bool = False) -> None:
        """Write the picture to a ``.dot``, ``.svg``, ``.png`` or ``.pdf`` file."""
        from exprgrad.show.picture.picture import Picture

        Picture(self.dot(digits=digits, all=all)).save(path)

    def explore(
        self, *, digits: int = 6, all: bool = False, lesson: Lesson | str | None = None
    ) -> Page:
        """The page to step through, edit and break; above 500 nodes only with ``all``.

        With a ``lesson``, or the name of a built-in one, it has its texts and tasks: they are about the
        lesson's own formula and inputs.  ``digits`` is from 1 to 17.  Needs a run of ``gradient``, of
        numbers; raises ``RequestError`` for others, ``MissingExtraError`` without Graphviz.
        """
        from exprgrad.show.page.page import page

        return page(self, digits=digits, all=all, lesson=lesson)

    def __reduce__(self) -> tuple[Any, ...]:
        return run_again, (self.text, self.inputs, self.wrt)

    def __str__(self) -> str:
        return self.table()

    def __repr__(self) -> str:
        return self.table()

    def _repr_svg_(self) -> str | None:
        return self._repr_mimebundle_().get("image/svg+xml")

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        from exprgrad.show.picture.picture import notebook

        return notebook(str(self), self.svg)
