"""The library as people use it: an expression in, runs out, with the same words as the commands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from exprgrad.graph.graph import Graph
from exprgrad.language.parse import parse as parse_graph
from exprgrad.run import result
from exprgrad.run.inputs import resolve, select
from exprgrad.run.sweeps import forward, play
from exprgrad.run.tape import Tape, record

if TYPE_CHECKING:
    from exprgrad.explain.diagnostics import Diagnostic

__all__ = ["Expression", "Run", "parse"]


def parse(text: str) -> Expression:
    """Read a formula.  Raises ``LanguageError``, with the place, where it is not in the language."""
    if not isinstance(text, str):
        raise TypeError(f"a formula is a text (str), not {type(text).__name__}")
    return Expression(text, parse_graph(text))


def run_again(text: str, inputs: dict[str, float], wrt: tuple[str, ...] | None) -> Run:
    """A run from what it was made of: how runs are pickled and copied."""
    expression = parse(text)
    return (
        expression.evaluate(inputs) if wrt is None else expression.gradient(inputs, wrt=wrt or None)
    )


class Expression:
    """A formula, read once and evaluated as often as you like.

    ``text`` is what was typed, ``graph`` its computation graph, ``inputs`` the names it reads, in
    order of appearance.
    """

    def __init__(self, text: str, graph: Graph) -> None:
        self.text = text
        self.graph = graph

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names that the expression reads, in order of appearance."""
        return tuple(self.graph.inputs)

    def evaluate(self, values: Mapping[str, object] | None = None, /, **inputs: object) -> Run:
        """Run the forward sweep: every node's data.

        Values are numbers, or constant expressions as text (``"pi/2"``).  Names that cannot be
        keywords go into the mapping.  Raises ``InputError`` for a missing or surplus value.
        """
        given = resolve(self.graph, self.text, {**(values or {}), **inputs})
        return Run(self.text, self.graph, given, forward(self.graph, given))

    def gradient(
        self,
        values: Mapping[str, object] | None = None,
        /,
        *,
        wrt: Iterable[str] | None = None,
        **inputs: object,
    ) -> Run:
        """Run both sweeps: every node's data and grad.

        ``wrt`` chooses the inputs to differentiate, all by default.  Values are as in ``evaluate``.
        """
        graph = self.graph
        given = resolve(graph, self.text, {**(values or {}), **inputs})
        chosen = select(graph, wrt)
        tape = self.tape if wrt is None else record(graph, [graph.inputs[name] for name in chosen])
        data = forward(graph, given)
        return Run(self.text, graph, given, data, play(tape, data), chosen)

    @cached_property
    def tape(self) -> Tape:
        """The reverse sweep for all inputs, worked out once."""
        return record(self.graph, self.graph.inputs.values())

    def dot(self, *, all: bool = False) -> str:
        """The formula's graph as DOT source; above 500 nodes only with ``all``."""
        from exprgrad.draw.dot import source

        return source(self.graph, all=all)

    def svg(self, *, all: bool = False) -> str:
        """The formula's graph as SVG.  Raises ``MissingExtraError`` without Graphviz."""
        from exprgrad.draw.files import picture

        return picture(self.dot(all=all), "svg").decode()

    def save(self, path: str | Path, *, all: bool = False) -> None:
        """Write the picture to a ``.dot``, ``.svg``, ``.png`` or ``.pdf`` file."""
        from exprgrad.draw.files import write

        write(self.dot(all=all), path)

    def __reduce__(self) -> tuple[Any, ...]:
        return parse, (self.text,)

    def __str__(self) -> str:
        from exprgrad.language.infix import program

        return program(self.graph)

    def __repr__(self) -> str:
        return f"exprgrad.parse({self.text!r})"

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        from exprgrad.draw.files import notebook

        return notebook(str(self), self.svg)


class Run(result.Run):
    """One evaluation: ``value``, ``gradient``, ``nodes``, ``edges``, ``order`` and ``diagnostics``.

    It prints as its table, and shows as its picture in a notebook where Graphviz is at hand.
    """

    @cached_property
    def diagnostics(self) -> list[Diagnostic]:
        """Where the numbers stop being finite, and the kinks and jumps that were met."""
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

    def json(self, command: str | None = None) -> str:
        """The run as the JSON document that the command prints."""
        from exprgrad.draw.document import run_json

        name = command or ("eval" if self.adjoints is None else "grad")
        return "".join(run_json(self, name, self.diagnostics))

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
