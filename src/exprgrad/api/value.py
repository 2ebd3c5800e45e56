"""``Value``: a number that remembers how it came about, with the words of Karpathy's micrograd.

Operators and methods build the graph; ``backward()`` runs the reverse sweep of every other command over it.
What micrograd documents holds (github.com/karpathy/micrograd, README), and so does the code of the
lesson, step by step by hand too.  It differs where micrograd goes wrong:

- No recursion: a graph may be 100,000 operations deep.
- ``backward()`` twice adds the gradient to the inputs twice, as PyTorch does.  micrograd passes on what
  the first time left in the results, too.  Results have the grad of the last ``backward()``.
- ``backward()`` takes the inputs' data as they are then, and brings the results' up to date.  micrograd
  mixes new inputs with old results.
- A number that was only written, as in ``2*a``, is a constant: its grad stays 0.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection, Mapping, Sequence
from numbers import Real
from typing import TYPE_CHECKING

from exprgrad.api.expression import Expression, Run, parse
from exprgrad.graph.graph import CONST, INPUT, Binding, Graph
from exprgrad.graph.ops import BY_NAME, OPS, Op
from exprgrad.language.read.parse import CONSTANTS
from exprgrad.language.write.infix import program
from exprgrad.language.write.naming import fresh, name_shared
from exprgrad.run.numbers.primitives import functions
from exprgrad.run.numbers.sweeps import play, record
from exprgrad.run.values.inputs import as_number

if TYPE_CHECKING:
    from exprgrad.show.page.page import Page

__all__ = ["Value"]

SYMBOLS = {"^": "**"}
"""Symbols of the language that Python writes in another way."""
NOWHERE = (0, 0)


def operators(kind: str) -> tuple[Callable[[Value, object], Value], ...]:
    """A binary operator, and the same with its operands exchanged.

    Python goes on to ask the other operand where it is neither a value nor a number.
    """

    def forward(self: Value, other: object) -> Value:
        value = lifted(other)
        return NotImplemented if value is None else apply(kind, (self, value))

    def reflected(self: Value, other: object) -> Value:
        value = lifted(other)
        return NotImplemented if value is None else apply(kind, (value, self))

    return forward, reflected


def comparison(kind: str) -> Callable[[Value, object], bool]:
    """A comparison of data, as a fact."""

    def holds(self: Value, other: object) -> bool:
        value = lifted(other)
        return NotImplemented if value is None else bool(functions[kind](self._data, value._data))

    return holds


class Value:
    """A number: an input, ``Value(2.0, label='a')``, or what an operation made of others.

    ``data`` and ``grad`` can be read and set; ``label`` is its name in tables and pictures.  Besides
    operators there is a method for every elementwise function of ``exprgrad ops``: ``a.tanh()``,
    ``a.max(b)``.  ``<`` and its like compare data and give True or False; two values are equal if they are
    the same.

    >>> a = Value(2.0, label='a')
    >>> L = (a*a + 1).log()
    >>> L.backward()
    >>> a
    Value(data=2.0, grad=0.8)
    """

    __slots__ = ("_data", "_grad", "_label", "held", "kind", "operands")

    kind: str
    operands: tuple[Value, ...]

    def __init__(self, data: object, *, label: str = "") -> None:
        self.label = label
        self._data = as_number(data, label or "data")
        self._grad = 0.0
        self.kind = INPUT
        self.operands = ()
        self.held = False

    @property
    def data(self) -> float:
        """The number.  A result that is set keeps what it was set to, whatever its operands are then."""
        return self._data

    @data.setter
    def data(self, number: object) -> None:
        self._data = as_number(number, self.label or "data")
        self.held = True

    @property
    def grad(self) -> float:
        """What ``backward()`` found.  It adds to that of inputs, so it is set to 0 between two steps."""
        return self._grad

    @grad.setter
    def grad(self, number: object) -> None:
        self._grad = as_number(number, self.label or "grad")

    @property
    def label(self) -> str:
        """What it is called in tables and pictures: any text.  ``TypeError`` for what is none."""
        return self._label

    @label.setter
    def label(self, text: str) -> None:
        if not isinstance(text, str):
            raise TypeError(f"a label is a text, not {type(text).__name__}")
        self._label = text

    def backward(self) -> None:
        """The derivative of this value with respect to every input, added to the inputs' grads.

        Data is worked out afresh from the inputs.  Results get the grad of this sweep alone.
        """
        values = reached(self)
        for value in values:
            if value.operands and not value.held:
                value._data = functions[value.kind](*[o._data for o in value.operands])
        for value, grad in zip(values, grads(values), strict=True):
            if value.kind != CONST:
                value._grad = (grad or 0.0) + (value._grad if value.kind == INPUT else 0.0)

    def _backward(self) -> None:
        """Pass the grad on to the operands, one step by hand, as the lesson does."""
        operands = [*dict.fromkeys(self.operands)]
        for operand, slope in zip(operands, grads([*operands, self], operands), strict=False):
            if operand.kind != CONST and slope is not None and self.operands:
                operand._grad += self._grad * slope

    @property
    def _prev(self) -> set[Value]:
        """The operands, as micrograd lists them."""
        return set(self.operands)

    @property
    def _op(self) -> str:
        """The operation as micrograd writes it: a symbol or a word, nothing for an input."""
        op = BY_NAME.get(self.kind)
        return "" if op is None else SYMBOLS.get(op.infix, op.infix or op.prefix or op.name)

    def expression(self) -> Expression:
        """The formula of this value; inputs and results bear their labels, if those can be names."""
        return parse(described(self)[0])

    def run(self) -> Run:
        """Both sweeps at the inputs' data: tables, traces and pictures; no grad of a value changes."""
        text, inputs = described(self)
        return parse(text).gradient(inputs)

    def dot(self, *, digits: int = 6, all: bool = False) -> str:
        """The graph with its numbers as DOT source; ``exprgrad.draw`` makes a picture of it."""
        return self.run().dot(digits=digits, all=all)

    def explore(self, *, digits: int = 6, all: bool = False) -> Page:
        """The page to step through: see ``Run.explore``."""
        return self.run().explore(digits=digits, all=all)

    def __repr__(self) -> str:
        return f"Value(data={self._data!r}, grad={self._grad!r})"

    __add__, __radd__ = operators("add")
    __sub__, __rsub__ = operators("sub")
    __mul__, __rmul__ = operators("mul")
    __truediv__, __rtruediv__ = operators("div")
    __mod__, __rmod__ = operators("mod")
    __pow__, __rpow__ = operators("pow")
    __lt__, __gt__, __le__, __ge__ = map(comparison, ("lt", "gt", "le", "ge"))

    def __neg__(self) -> Value:
        return apply("neg", [self])

    def __pos__(self) -> Value:
        return self

    def __abs__(self) -> Value:
        return apply("abs", [self])

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Callable[..., Value]:
            """The functions of the op table."""


def constant(number: object) -> Value:
    """A number that is written in a formula."""
    value = Value(number)
    value.kind = CONST
    return value


def apply(kind: str, operands: Sequence[Value]) -> Value:
    """What an operation makes of some values."""
    made = Value.__new__(Value)
    made._data = functions[kind](*[operand._data for operand in operands])
    made._grad = 0.0
    made.kind = kind
    made.operands = tuple(operands)
    made._label = ""
    made.held = False
    return made


def lifted(operand: object) -> Value | None:
    """A value, or a number as one; None for anything else."""
    if isinstance(operand, Value):
        return operand
    return constant(operand) if isinstance(operand, Real) else None


def method(op: Op) -> Callable[..., Value]:
    """A row of the op table as a method: the value is its first operand."""

    def applied(self: Value, *others: object) -> Value:
        operands = [lifted(operand) for operand in (self, *others)]
        fits = len(operands) > 1 if op.variadic else len(operands) == len(op.names)
        if not fits:
            message = f"{op.name} takes {op.arity_words()}, this value being the first"
            raise TypeError(f"{message}, but is given {len(operands)}")
        for operand, given in zip(operands, (self, *others), strict=True):
            if operand is None:
                raise TypeError(f"{op.name} takes numbers and values, not {type(given).__name__}")
        return apply(op.name, [operand for operand in operands if operand is not None])

    applied.__name__ = op.name
    applied.__qualname__ = f"Value.{op.name}"
    applied.__doc__ = f"{op.about[:1].upper()}{op.about[1:]}."
    return applied


for row in OPS:
    if not (row.infix or row.prefix):
        setattr(Value, row.name, method(row))


# Graphs.


def reached(root: Value) -> list[Value]:
    """What a value is made of, operands first, in the order in which a formula would name them; it last."""
    found: dict[Value, None] = {}
    todo = [root]
    while todo:
        value = todo[-1]
        if value not in found:
            todo += [operand for operand in reversed(value.operands) if operand not in found]
        if todo[-1] is value:
            found[todo.pop()] = None
    return [*found]


def graph_of(
    values: Sequence[Value], names: Mapping[Value, str], leaves: Collection[Value] = ()
) -> Graph:
    """The graph of some values, operands first; ``leaves`` are inputs whatever made them.

    ``names`` are those of inputs and of statements; an input without one is called by its place.
    """
    graph = Graph()
    place: dict[Value, int] = {}
    for node, value in enumerate(values):
        place[value] = node
        if value.kind == CONST:
            graph.append(CONST, (), value.data, NOWHERE)
        elif not value.operands or value in leaves:
            name = names.get(value) or str(node)
            graph.inputs[name] = graph.append(INPUT, (), name, NOWHERE)
        else:
            operands = tuple([place[operand] for operand in value.operands])
            graph.append(value.kind, operands, None, NOWHERE, (NOWHERE,) * len(operands))
            if value in names:
                graph.bindings.append(Binding(names[value], node, NOWHERE))
                graph.output_name = names[value]
    graph.output = len(values) - 1
    if not (graph.bindings and graph.bindings[-1].node == graph.output):
        graph.output_name = None
    return graph


def grads(values: Sequence[Value], leaves: Collection[Value] = ()) -> list[float | None]:
    """The derivative of the last of some values with respect to each of them; None where there is none."""
    graph = graph_of(values, {}, leaves)
    data = [value.data for value in values]
    return play(record(graph, graph.inputs.values()), data).grads


def names_of(values: Sequence[Value]) -> dict[Value, str]:
    """The labels that can be names, of inputs first, each name once."""
    found: dict[Value, str] = {}
    taken = {*CONSTANTS}
    for value in sorted(values, key=lambda value: bool(value.operands)):
        name = unicodedata.normalize("NFC", value.label)
        if name.isidentifier() and name not in taken and value.kind != CONST:
            taken.add(name)
            found[value] = name
    return found


def described(root: Value) -> tuple[str, dict[str, float]]:
    """The formula of a value, and its inputs' data by name; an input without a name is v1, v2, …."""
    values = reached(root)
    names = names_of(values)
    unnamed = fresh(graph_of(values, names), "v")
    for value in values:
        if value.kind == INPUT and value not in names:
            names[value] = next(unnamed)
    graph = graph_of(values, names)
    name_shared(graph)
    inputs = {names[value]: value.data for value in values if value.kind == INPUT}
    return program(graph), inputs
