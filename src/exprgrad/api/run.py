"""One evaluation as people use it: its numbers, and every way to look at them."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from exprgrad.run import result

if TYPE_CHECKING:
    from exprgrad.explain.diagnostics import Diagnostic

__all__ = ["Run"]


def run_again(text: str, inputs: dict[str, Any], wrt: tuple[str, ...] | None) -> Run:
    """A run from what it was made of: how runs are pickled and copied."""
    from exprgrad.api.expression import parse

    expression = parse(text)
    return (
        expression.evaluate(inputs) if wrt is None else expression.gradient(inputs, wrt=wrt or None)
    )


class Run(result.Run):
    """One evaluation: ``value``, ``gradient``, ``nodes``, ``edges``, ``order`` and ``diagnostics``.

    It prints as its table, and shows as its picture in a notebook where Graphviz is at hand.
    """

    @cached_property
    def diagnostics(self) -> list[Diagnostic]:
        """Where the numbers stop being finite, and the kinks and jumps that were met."""
        if self.shapes is not None:
            from exprgrad.explain.tensors import diagnose_tensors

            return diagnose_tensors(self)
        from exprgrad.explain.diagnostics import diagnose

        return diagnose(self)

    def table(self, *, digits: int = 6, all: bool = False) -> str:
        """The table of nodes as plain text; a long one in full with ``all``."""
        from exprgrad.draw.table import node_table, plain

        return plain(node_table(self, digits, all_nodes=all))

    def trace(self, *, digits: int = 6, all: bool = False) -> str:
        """The reverse sweep, visit by visit, as plain text.  Needs a run of ``gradient``."""
        if self.adjoints is None:
            from exprgrad.errors import RequestError

            raise RequestError(
                "no-gradient", "only a run of gradient() has a reverse sweep to trace"
            )
        from exprgrad.draw.trace import trace

        return trace(self, digits, all_visits=all)

    def json(self, command: str | None = None, *, all: bool = False) -> str:
        """The run as the JSON document that the command prints; with ``all`` no tensor is left out."""
        from exprgrad.draw.document import run_json

        name = command or ("eval" if self.adjoints is None else "grad")
        return "".join(run_json(self, name, self.diagnostics, whole=all))

    def dot(self, *, digits: int = 6, all: bool = False) -> str:
        """The graph with its numbers as DOT source; above 500 nodes only with ``all``."""
        from exprgrad.draw.dot import source

        return source(self.graph, self, digits=digits, all=all)

    def svg(self, *, digits: int = 6, all: bool = False) -> str:
        """The graph with its numbers as SVG.  Raises ``MissingExtraError`` without Graphviz."""
        from exprgrad.draw.files import picture

        return picture(self.dot(digits=digits, all=all), "svg").decode()

    def save(self, path: str | Path, *, digits: int = 6, all: bool = False) -> None:
        """Write the picture to a ``.dot``, ``.svg``, ``.png`` or ``.pdf`` file."""
        from exprgrad.draw.files import write

        write(self.dot(digits=digits, all=all), path)

    def __reduce__(self) -> tuple[Any, ...]:
        return run_again, (self.text, self.inputs, self.wrt)

    def __str__(self) -> str:
        return self.table()

    def __repr__(self) -> str:
        return self.table()

    def _repr_svg_(self) -> str | None:
        return self._repr_mimebundle_().get("image/svg+xml")

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        from exprgrad.draw.files import notebook

        return notebook(str(self), self.svg)
