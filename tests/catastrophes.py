"""The collected catastrophes: formulas that floating-point arithmetic ruins, at points where it does.

The truth is mpmath's, in hundreds of digits.  Of a formula with ``d``, ``root`` or tensors it is that of
the same function in other words, which the collection has in its last cell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache, cached_property
from typing import NamedTuple

from corpus import table
from exprgrad.graph.graph import Graph
from exprgrad.language.read.parse import parse_text
from lost_digits import VALUE
from oracles import Real, decimal, evaluate, gradient, mp, mpf, second_derivatives

PLACES = 6
"""The digits that are compared: a table shows so many, and fewer right ones are warned about."""
DIGITS = 200
"""The digits of the oracle's steps; four times as many are carried."""
COLLECTIONS = ("catastrophes.txt", "catastrophes_of_other_kinds.txt")


class Truth(NamedTuple):
    """A true number for the doubles that inputs and literals are read as, and for the decimals typed."""

    read: Real
    typed: Real

    @property
    def is_one(self) -> bool:
        """Whether both are the same in the digits compared."""
        return bool(abs(self.read - self.typed) <= mpf(10) ** -PLACES * abs(self.read))


class Catastrophe:
    """A formula, at inputs where it loses digits, and how it does."""

    def __init__(self, formula: str, inputs: str, why: str, same: str = "") -> None:
        self.formula, self.why = formula, why
        given = dict(pair.split("=") for pair in inputs.split())
        self.inputs = {name: float(text) for name, text in given.items()}
        self.same = same or formula

    def __repr__(self) -> str:
        return " ".join([repr(self.formula[:60]), *self.words[1:]])

    @property
    def words(self) -> list[str]:
        """The formula and its inputs, as one types them after a command."""
        return [self.formula, *(f"{name}={value!r}" for name, value in self.inputs.items())]

    @cached_property
    def graph(self) -> Graph:
        """The formula that mpmath evaluates."""
        return parse_text(self.same)

    @cached_property
    def first(self) -> dict[str, Truth]:
        """The true value and derivatives; the derivative with respect to ``x`` is under ``x``."""
        return truths(self.graph, self.inputs)

    @cached_property
    def second(self) -> dict[tuple[str, str], Truth]:
        """The true second derivatives."""
        return second_truths(self.graph, self.inputs)


@cache
def collected(*names: str) -> tuple[Catastrophe, ...]:
    """The catastrophes of some collections, or of all."""
    return tuple(Catastrophe(*line) for name in names or COLLECTIONS for line in table(name))


def both(find: Callable[..., dict[str, Real]]) -> Iterator[dict[str, Real]]:
    """What is found for doubles, and for decimals."""
    for number in (mpf, decimal):
        yield find(number)


def truths(graph: Graph, inputs: Mapping[str, float]) -> dict[str, Truth]:
    """The true value and derivatives; the derivative with respect to ``x`` is under ``x``."""

    def find(number: Callable[[float], Real]) -> dict[str, Real]:
        with mp.workdps(4 * DIGITS):
            exact = {name: number(x) for name, x in inputs.items()}
            value = evaluate(graph, exact, number)[graph.output]
        return {VALUE: value, **gradient(graph, inputs, DIGITS, number)}

    read, typed = both(find)
    return {name: Truth(read[name], typed[name]) for name in read}


def second_truths(graph: Graph, inputs: Mapping[str, float]) -> dict[tuple[str, str], Truth]:
    """The true second derivatives, by pairs of inputs."""
    read, typed = both(lambda number: second_derivatives(graph, inputs, DIGITS, number))
    return {
        (one, other): Truth(read[one][other], typed[one][other]) for one in read for other in read
    }
