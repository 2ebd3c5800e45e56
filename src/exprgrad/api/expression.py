"""Formulas as people use them: evaluated, differentiated, written and drawn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from exprgrad.api.run import Run
from exprgrad.graph.graph import Graph
from exprgrad.language.parse import parse as parse_graph
from exprgrad.run.inputs import resolve, select
from exprgrad.run.sweeps import forward, play
from exprgrad.run.tape import Tape, record

if TYPE_CHECKING:
    from exprgrad.run.matrices import Programs

__all__ = ["Expression", "parse"]

HIGHEST = 100
"""The highest order of a derivative: formulas grow with it."""


def parse(text: str) -> Expression:
    """Read a formula.  Raises ``LanguageError``, with the place, where it is not in the language."""
    if not isinstance(text, str):
        raise TypeError(f"a formula is a text (str), not {type(text).__name__}")
    return Expression(text, parse_graph(text))


def derived(text: str, known: tuple[str, ...]) -> Expression:
    """A derivative from its text: how those are made, pickled and copied."""
    return Expression(text, parse_graph(text), known)


class Expression:
    """A formula, read once and evaluated as often as you like.

    ``text`` is what was typed, ``graph`` its computation graph, ``inputs`` the names it reads, in
    order of appearance.  ``known`` are the inputs of the formula that it is the derivative of: it takes
    values for those too, read or not.
    """

    def __init__(self, text: str, graph: Graph, known: tuple[str, ...] = ()) -> None:
        self.text = text
        self.graph = graph
        self.known = known

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names that the expression reads, in order of appearance."""
        return tuple(self.graph.inputs)

    def given(
        self, values: Mapping[str, object] | None, inputs: Mapping[str, object]
    ) -> dict[str, float]:
        """Every input's value, from a mapping and from keywords."""
        merged = {**(values or {}), **inputs}
        unread = set(self.known).difference(self.graph.inputs)
        wanted = {name: value for name, value in merged.items() if name not in unread}
        return resolve(self.graph, self.text, wanted)

    def evaluate(self, values: Mapping[str, object] | None = None, /, **inputs: object) -> Run:
        """Run the forward sweep: every node's data.

        Values are numbers, or constant expressions as text (``"pi/2"``).  Names that cannot be
        keywords go into the mapping.  Raises ``InputError`` for a missing or surplus value.
        """
        given = self.given(values, inputs)
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
        given = self.given(values, inputs)
        chosen = select(graph, wrt)
        tape = self.tape if wrt is None else record(graph, [graph.inputs[name] for name in chosen])
        data = forward(graph, given)
        return Run(self.text, graph, given, data, play(tape, data), chosen)

    @cached_property
    def tape(self) -> Tape:
        """The reverse sweep for all inputs, worked out once."""
        return record(self.graph, self.graph.inputs.values())

    def jacobian(
        self,
        values: Mapping[str, object] | None = None,
        /,
        *,
        wrt: Iterable[str] | None = None,
        of: Iterable[str] | None = None,
        **inputs: object,
    ) -> dict[str, Any]:
        """The derivatives of the output by each input; of several outputs, a row for each.

        ``of`` names statements of the expression (``y1 = …; y2 = …``), and the answer is by their
        names, even for one: ``{"y1": {"a": 1.0}}``.  Values and ``wrt`` are as in ``gradient``.
        """
        from exprgrad.run import directions, matrices

        given = self.given(values, inputs)
        outputs, chosen = directions.outputs(self.graph, of), select(self.graph, wrt)
        found = matrices.jacobian(self.programs, self.graph, given, outputs, chosen)
        return found.row(0) if of is None else found.whole()

    def hessian(
        self,
        values: Mapping[str, object] | None = None,
        /,
        *,
        wrt: Iterable[str] | None = None,
        **inputs: object,
    ) -> dict[str, dict[str, float]]:
        """The output's second derivatives, row by row, zeros filled in; exactly symmetric.

        Values and ``wrt`` are as in ``gradient``.
        """
        from exprgrad.run import matrices

        given = self.given(values, inputs)
        chosen = select(self.graph, wrt)
        return matrices.hessian(self.programs, self.graph, given, chosen).whole()

    def hessian_pattern(self, wrt: Iterable[str] | None = None) -> list[tuple[str, str]]:
        """The entries of the Hessian, (row, column), that are not 0 at every point by its structure."""
        from exprgrad.run import matrices

        return matrices.pattern(self.programs, self.graph, select(self.graph, wrt))

    def jvp(
        self,
        values: Mapping[str, object] | None = None,
        /,
        *,
        tangent: Mapping[str, object],
        of: Iterable[str] | None = None,
        **inputs: object,
    ) -> Any:
        """The output's derivative along a direction; with ``of`` each output's, by name.

        ``tangent`` says how each input moves; 0 holds one fixed.  Values are as in ``evaluate``.
        """
        from exprgrad.run import directions, matrices

        given = self.given(values, inputs)
        outputs = directions.outputs(self.graph, of)
        direction = directions.tangents(self.graph, self.text, tangent)
        found = matrices.jvp(self.programs, self.graph, given, outputs, direction)
        return next(iter(found.values())) if of is None else found

    def vjp(
        self,
        values: Mapping[str, object] | None = None,
        /,
        *,
        cotangent: object = 1.0,
        of: Iterable[str] | None = None,
        wrt: Iterable[str] | None = None,
        **inputs: object,
    ) -> dict[str, float]:
        """By input, the derivative of the output times ``cotangent``.

        With ``of``, the derivative of the outputs' sum, each weighted by its cotangent:
        ``cotangent={"y1": 1, "y2": 0}``; 0 leaves one out.  Values and ``wrt`` are as in ``gradient``.
        """
        from exprgrad.run import directions, matrices

        given = self.given(values, inputs)
        outputs, chosen = directions.outputs(self.graph, of), select(self.graph, wrt)
        weights = directions.cotangents(self.graph, self.text, outputs, cotangent)
        return matrices.vjp(self.programs, self.graph, given, outputs, weights, chosen)

    def derivative(self, name: str, order: int = 1) -> Expression:
        """The derivative by an input as a formula, simplified: an expression again.

        Raises ``InputError`` for what is no input, ``RequestError`` for an order that is not from 1
        to 100.
        """
        from exprgrad.derive.formula import derivatives
        from exprgrad.language.infix import program

        if not isinstance(order, int) or not 1 <= order <= HIGHEST:
            from exprgrad.errors import RequestError

            help = f"an order is a whole number from 1 to {HIGHEST}; for a mixed derivative, chain calls"
            raise RequestError("bad-order", f"there is no derivative of order {order!r}", help=help)
        names = tuple(dict.fromkeys([*self.inputs, *self.known]))
        if name in names and name not in self.inputs:
            return derived("0", names)
        (chosen,) = select(self.graph, [name])
        graph = self.graph
        for step in range(1, order + 1):
            (graph,) = derivatives(graph, [chosen], steps=step == order)
        return derived(program(graph), names)

    def steps(self, name: str) -> str:
        """How the derivative by an input comes about, rule by rule, as plain text."""
        from exprgrad.draw.steps import lines
        from exprgrad.explain.steps import steps

        (chosen,) = select(self.graph, [name])
        return "\n".join(lines(self.graph, chosen, steps(self.graph, chosen)))

    def code(
        self,
        to: str,
        *,
        wrt: Iterable[str] | None = None,
        name: str = "f",
        value_only: bool = False,
    ) -> str:
        """The source of one function for value and gradient in another language.

        ``to`` is ``python``, ``numpy``, ``c``, ``javascript``, ``jax`` or ``torch``; ``wrt`` chooses
        the inputs to differentiate.  Raises ``RequestError`` for another target.
        """
        from exprgrad.derive.translate import translate

        chosen = select(self.graph, wrt)
        return translate(self.graph, to, wrt=chosen, name=name, value_only=value_only)

    def latex(self) -> str:
        """The formula in LaTeX, for math mode; named statements stand in an ``aligned``."""
        from exprgrad.language.latex import latex

        return latex(self.graph)

    @cached_property
    def programs(self) -> Programs:
        """Derived programs, each worked out once: by what they answer."""
        return {}

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
        return derived, (self.text, self.known)

    def __str__(self) -> str:
        from exprgrad.language.infix import program

        return program(self.graph)

    def __repr__(self) -> str:
        return f"exprgrad.parse({self.text!r})"

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex()}$"

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        from exprgrad.draw.files import notebook

        return {**notebook(str(self), self.svg), "text/latex": self._repr_latex_()}
