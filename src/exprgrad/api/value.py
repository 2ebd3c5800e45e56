"""``Value``: a number that remembers how it came about, with the words of Karpathy's micrograd.

Operators and methods work their result out at once; ``backward()`` is the sweep of every other command,
with the values themselves for nodes: what an operation passes on is said by its row's rules.
What micrograd documents holds (github.com/karpathy/micrograd, README), and so does the code of the
lesson, step by step by hand too.  It differs where micrograd goes wrong:

- No recursion: a graph may be 100,000 operations deep.
- ``backward()`` twice adds the gradient to the inputs twice, as PyTorch does.  micrograd passes on what
  the first time left in the results, too.  Results have the grad of the last ``backward()``.
- ``backward()`` takes the inputs' data as they are then: where some were set since, it brings the
  results' up to date.  micrograd mixes new inputs with old results.
- A number that was only written, as in ``2*a``, is a constant: its grad stays 0.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from numbers import Real
from typing import TYPE_CHECKING, Any

from exprgrad.api.expression import Expression, Run, parse
from exprgrad.api.guesses import VALUE, answer_other_names
from exprgrad.derive.rules import rule_slots
from exprgrad.errors import InputError, RequestError
from exprgrad.graph.graph import CONST, INPUT, Binding, Graph, dependency_flags, transform_graph
from exprgrad.graph.ops import BY_INFIX, BY_NAME, OPS, Op
from exprgrad.language.read.builder import CONSTANTS
from exprgrad.language.write.infix import fresh_names, name_shared, program_text
from exprgrad.run.evaluation import evaluator_for
from exprgrad.run.numbers.sweeps import (
    LocalRule,
    Template,
    companion_values,
    functions,
    row_rules,
    template_part,
    template_reader,
)
from exprgrad.run.values.inputs import as_number, has_parts

if TYPE_CHECKING:
    from exprgrad.api.methods import Methods
    from exprgrad.show.page.page import Page
else:
    Methods = object

__all__ = ["Value"]

SYMBOLS = {"^": "**"}
"""Symbols of the language that Python writes in another way."""
NOWHERE = (0, 0)
MADE = "made"
"""The kind of a value that is made by hand: its operation is a word."""
UNREACHED = float("0")
"""The grad of a result before a sweep: this very object, which no sum is, says that nothing arrived yet."""


# What an operation passes on.

BEYOND_WHOLE = 2**53
"""Below it every whole number is a double."""
FILLED_IN = frozenset(range(-16, 17)) - {0}
"""Constants with rules of their own, as in ``x**2``; 0 is left out, because it would stand for -0 too."""
FIRST, SECOND = (True, False), (False, True)
"""Which of two operands varies."""
Backward = Callable[["Value"], None]
"""The step of a value in a sweep: it adds to its operands' grads."""


def pass_no_grads(value: Value) -> None:
    """An input and a constant pass nothing on."""


@lru_cache(4096)
def pass_by_rules(
    kind: str, varies: tuple[bool, ...], numbers: tuple[float | None, ...] = ()
) -> Backward:
    """Return the step that adds to each varying operand's grad: the result's grad times the row's rule.

    A ``where`` and the constant rule 0 pass nothing on, not even 0 times infinity.  ``numbers`` holds each
    operand's number if the rules are specialised for it, else None.
    """
    op = BY_NAME[kind]
    if op.variadic:
        return variadic_backward(op, varies)
    rules = rules_for(op, varies, numbers)
    edges = [(at, part, gate) for at, (part, gate) in enumerate(rules) if varies[at]]
    if any(gate for _, _, gate in edges) or len(varies) > 2:
        return gate_by_gate([(at, template_reader(part), gate) for at, part, gate in edges])
    if len(varies) == 1:
        return of_one(template_reader(edges[0][1]))
    if len(edges) == 1:
        return one_operand_backward(edges[0][0], template_reader(edges[0][1]))
    (_, first, _), (_, second, _) = edges
    if callable(first) or callable(second):
        return of_two(template_reader(first), template_reader(second))
    return pass_by_cells(first, second)


def rules_for(
    op: Op, varies: tuple[bool, ...], numbers: tuple[float | None, ...]
) -> Sequence[LocalRule]:
    """A row's rules for the operands that vary, and for constants; and whether they are gated."""
    rules, companions = row_rules(op)
    filled = {name: x.hex() for name, x in zip(op.names, numbers, strict=False) if x is not None}
    if not (filled or companions):
        return rules
    from exprgrad.derive.sweeps.walks import specialise_rule

    seen = (*op.names, "out")
    for name, flag in zip(rule_slots(op)[len(seen) :], varies, strict=True):
        filled[name] = float(flag).hex()
    graphs = [specialise_rule(op.partial(at), (*filled.items(),)) for at in range(len(varies))]
    return [
        (template_part(graph, seen), gate) for graph, (_, gate) in zip(graphs, rules, strict=True)
    ]


def gate_by_gate(edges: Sequence[tuple[int, Template, bool]]) -> Backward:
    """The step of any operation: by operand its position, its rule, and whether that is gated."""

    def step(value: Value) -> None:
        cells = [operand._data for operand in value.operands]
        cells.append(value._data)
        for at, rule, gated in edges:
            slope = rule(cells)
            if slope or not gated:
                value.operands[at]._grad += value._grad * slope

    return step


def of_one(rule: Template) -> Backward:
    """The step of an operation of one operand."""

    def step(value: Value) -> None:
        (x,) = value.operands
        x._grad += value._grad * rule((x._data, value._data))

    return step


def one_operand_backward(at: int, rule: Template) -> Backward:
    """The step of two operands, one of which is a constant."""

    def step(value: Value) -> None:
        x, y = operands = value.operands
        operands[at]._grad += value._grad * rule((x._data, y._data, value._data))

    return step


def of_two(first: Template, second: Template) -> Backward:
    """The step of two operands."""

    def step(value: Value) -> None:
        x, y = value.operands
        cells = x._data, y._data, value._data
        grad = value._grad
        x._grad += grad * first(cells)
        y._grad += grad * second(cells)

    return step


def pass_by_cells(first: int | float, second: int | float) -> Backward:
    """The step of two operands whose local derivatives are an operand, the result, or a number."""
    i = 3 if isinstance(first, float) else first
    j = 4 if isinstance(second, float) else second

    def by_numbers(value: Value) -> None:
        x, y = value.operands
        grad = value._grad
        x._grad += grad * first
        y._grad += grad * second

    def step(value: Value) -> None:
        x, y = value.operands
        grad = value._grad
        cells = x._data, y._data, value._data, first, second
        x._grad += grad * cells[i]
        y._grad += grad * cells[j]

    return by_numbers if i > 2 and j > 2 else step


def variadic_backward(op: Op, varies: Sequence[bool]) -> Backward:
    """The step of a row that takes any number of operands, by one rule."""
    (rule,) = (template_reader(part) for part, _ in row_rules(op)[0])
    beside = [float(flag) for flag in varies]

    def step(value: Value) -> None:
        cells = [operand._data for operand in value.operands]
        seen = companion_values(op, [*cells, value._data], beside)
        for operand, mine, flag in zip(value.operands, seen, varies, strict=True):
            if flag:
                operand._grad += value._grad * rule(mine)

    return step


class AllVarying(dict[str, Backward]):
    """The steps of operations whose operands all vary, by kind; made on first use."""

    def __missing__(self, kind: str) -> Backward:
        self[kind] = made = pass_by_rules(kind, (True,) * len(BY_NAME[kind].names))
        return made


all_varying = AllVarying()


# Operators.


def binary_operators(kind: str) -> tuple[Callable[[Value, object], Value], ...]:
    """A binary operator, and the same with its operands exchanged.

    Python goes on to ask the other operand where it is neither a value nor a number.
    """
    function = functions[kind]

    def forward(self: Value, other: object) -> Any:
        y = other if isinstance(other, Value) else lift_operand(other)
        if y is None:
            return NotImplemented
        if self.kind == CONST:
            return apply_to_values(kind, (self, y))
        x, number = self._data, y._data
        inner: tuple[Value, ...] = (self,) if self.operands else ()
        if y.kind == CONST:
            step = pass_by_rules(kind, FIRST, (None, number if number in FILLED_IN else None))
            return result_value(kind, (self, y), inner, function(x, number), step)
        if y.operands:
            inner = (y, *inner)
        return result_value(kind, (self, y), inner, function(x, number), all_varying[kind])

    def reflected(self: Value, other: object) -> Any:
        x = lift_operand(other)
        if x is None or self.kind == CONST:
            return NotImplemented if x is None else apply_to_values(kind, (x, self))
        number = x._data
        inner = (self,) if self.operands else ()
        step = pass_by_rules(kind, SECOND, (number if number in FILLED_IN else None, None))
        return result_value(kind, (x, self), inner, function(number, self._data), step)

    return forward, reflected


def comparison_of_data(kind: str) -> Callable[[Value, object], bool]:
    """A comparison of data, as a fact."""

    def holds(self: Value, other: object) -> bool:
        value = lift_operand(other)
        return NotImplemented if value is None else bool(functions[kind](self._data, value._data))

    return holds


class Clock:
    """Counts how often data of any value was set: results made before may be out of date."""

    now = 0


@answer_other_names(VALUE)
class Value(Methods):
    """A number: an input, ``Value(2.0, label='a')``, or what an operation made of others.

    ``data`` and ``grad`` are the sweeps', ``a.run().true`` has the true ones.  They can be read and set;
    ``label``, or ``name``, is its name in tables and pictures.
    Besides operators there is a method for every elementwise function of ``exprgrad ops``: ``a.tanh()``,
    ``a.max(b)``.  ``<`` and its like compare data and give True or False; two values are equal if they are
    the same.

    >>> a = Value(2.0, label='a')
    >>> L = (a*a + 1).log()
    >>> L.backward()
    >>> a
    Value(data=2.0, grad=0.8)

    An operation of one's own is made by hand, as the lesson does: ``out = Value(t, (a,), 'tanh')``, and
    ``out._backward = f``, which adds to ``a.grad``.  Such a value keeps its data, whatever ``a`` is then.
    """

    __slots__ = (
        "_data", "_grad", "_inner", "_label", "_mark", "_step", "_time", "_word",
        "held", "kind", "operands",
    )  # fmt: skip

    _data: float
    _grad: float
    _label: str
    held: bool
    _inner: tuple[Value, ...]
    kind: str
    _mark: object
    operands: tuple[Value, ...]
    _step: Backward
    _time: int
    _word: str

    def __init__(
        self, data: object, _children: Iterable[Value] = (), _op: str = "", label: str = ""
    ) -> None:
        self._data = data if type(data) is float else checked_double(data, label)
        self._grad = 0.0
        self._label = ""
        if label != "":
            self.label = label
        self.operands = () if _children == () else check_children(_children, data)
        self._inner = results_of(self.operands)
        self.kind = MADE if self.operands or _op else INPUT
        self._word = _op
        self._step = pass_no_grads
        self.held = self.kind == MADE
        self._time = Clock.now
        self._mark = None

    @property
    def data(self) -> float:
        """The number.  A result that is set keeps what it was set to, whatever its operands are then."""
        return self._data

    @data.setter
    def data(self, number: object) -> None:
        self._data = as_number(number, self._label or "data")
        self.held = True
        Clock.now += 1

    @property
    def grad(self) -> float:
        """The grad that ``backward()`` found.  Inputs add grads up: set them to 0 between two steps."""
        return self._grad

    @grad.setter
    def grad(self, number: object) -> None:
        self._grad = as_number(number, self._label or "grad")

    @property
    def label(self) -> str:
        """The name shown in tables and pictures: any text.  Raises ``TypeError`` for anything else."""
        return self._label

    @label.setter
    def label(self, text: str) -> None:
        if not isinstance(text, str):
            raise TypeError(f"a label is a string, not {type(text).__name__}")
        self._label = text

    name = label

    def backward(self) -> None:
        """The derivative of this value with respect to every input, added to the inputs' grads.

        Results get the grad of this sweep alone.  Those made before some data was set are made afresh.
        """
        results = made_of(self)
        self._grad = 1.0 if results else self._grad + 1.0
        for value in reversed(results):
            if value._grad is not UNREACHED:
                value._step(value)

    @property
    def _backward(self) -> Callable[[], None]:
        """The step that passes the grad on to the operands, by hand, as in the lesson; it can be set."""
        return partial(self._step, self)

    @_backward.setter
    def _backward(self, function: Callable[[], object]) -> None:
        if not callable(function):
            raise TypeError(f"_backward is a function, not {type(function).__name__}")

        def step(value: Value) -> None:
            function()

        self._step = step

    @property
    def _prev(self) -> set[Value]:
        """The operands, as micrograd lists them."""
        return set(self.operands)

    @property
    def _op(self) -> str:
        """The operation as micrograd writes it: a symbol or a word, nothing for an input."""
        if self.kind == MADE:
            return self._word
        op = BY_NAME.get(self.kind)
        return "" if op is None else SYMBOLS.get(op.infix, op.infix or op.prefix or op.name)

    def expression(self) -> Expression:
        """The formula of this value; inputs and results bear their labels, if those can be names."""
        return parse(formula_and_inputs(self)[0])

    def run(self) -> Run:
        """Both sweeps at the inputs' data: tables, traces and pictures; no grad of a value changes."""
        text, inputs = formula_and_inputs(self)
        return parse(text).gradient(inputs)

    def dot(self, *, micrograd: bool = False, **options: Any) -> str:
        """The graph with its numbers as DOT source; ``exprgrad.draw`` makes a picture of it.

        With ``micrograd`` it is the graph that micrograd makes, where a difference is a sum, and a quotient
        a product with a power.  The other options are those of ``Run.dot``.
        """
        if not micrograd:
            return self.run().dot(**options)
        values = values_reached(self)
        names = all_names(values)
        graph = of_micrograd(graph_of_values(values, names))
        inputs = {names[value]: value.data for value in values if value.kind == INPUT}
        run = Run.of(program_text(graph), evaluator_for(graph), inputs, tuple(inputs))
        return run.dot(**options)

    def explore(self, *, digits: int = 6, all: bool = False, descend: bool = False) -> Page:
        """The page to step through: see ``Run.explore``."""
        return self.run().explore(digits=digits, all=all, descend=descend)

    def __getstate__(self) -> dict[str, Any]:
        """The state to copy and pickle; a value made by hand keeps its data, not its ``_backward``."""
        kept = ("_data", "_grad", "_label", "held", "kind", "operands")
        return {"_word": self._op, **{name: getattr(self, name) for name in kept}}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        for name, part in state.items():
            setattr(self, name, part)
        self._inner = results_of(self.operands)
        self._mark = None
        self._step = step_of(self.kind, self.operands) if self.kind in BY_NAME else pass_no_grads
        self._time = Clock.now

    def __float__(self) -> float:
        return self._data

    def __int__(self) -> int:
        return int(self._data)

    def __round__(self, digits: int | None = None) -> float:
        return round(self._data, digits)

    def __format__(self, spec: str) -> str:
        return format(self._data, spec) if spec else str(self)

    def __repr__(self) -> str:
        return f"Value(data={self._data!r}, grad={self._grad!r})"

    if not TYPE_CHECKING:
        __add__, __radd__ = binary_operators("add")
        __sub__, __rsub__ = binary_operators("sub")
        __mul__, __rmul__ = binary_operators("mul")
        __truediv__, __rtruediv__ = binary_operators("div")
        __mod__, __rmod__ = binary_operators("mod")
        __pow__, __rpow__ = binary_operators("pow")
        __lt__, __gt__, __le__, __ge__ = map(comparison_of_data, ("lt", "gt", "le", "ge"))

    def __neg__(self) -> Value:
        return apply_to_values("neg", (self,))

    def __pos__(self) -> Value:
        return self

    def __abs__(self) -> Value:
        return apply_to_values("abs", (self,))


new = object.__new__


def checked_double(number: object, label: str) -> float:
    """Convert any number to a double; ``label`` names it in errors."""
    if type(number) is int and -BEYOND_WHOLE < number < BEYOND_WHOLE:
        return float(number)
    if not isinstance(number, str) and has_parts(number):
        raise InputError(
            "bad-value",
            f"a Value is one number, not {type(number).__name__}",
            help="[Value(x) for x in …] makes one of each; exprgrad.parse reads formulas of tensors",
        )
    return as_number(number, label or "data")


def check_children(children: Iterable[Value], data: object) -> tuple[Value, ...]:
    """Return the operands of a value made by hand; an error unless all are values."""
    if isinstance(children, str):
        raise TypeError(f"a label is given by its name: Value({data!r}, label={children!r})")
    operands = tuple(children) if isinstance(children, Iterable) else (children,)
    for operand in operands:
        if not isinstance(operand, Value):
            kind = type(operand).__name__
            message = f"what a Value is made of are Values, (a, b), not {kind}"
            raise TypeError(f"{message}: a number alone is Value({data!r})")
    return operands


def literal_value(number: object) -> Value:
    """A number that is written in a formula."""
    made = new(Value)
    made._data = number if type(number) is float else checked_double(number, "")
    made._grad = 0.0
    made._inner = ()
    made._label = ""
    made.held = False
    made.kind = CONST
    made.operands = ()
    made._step = pass_no_grads
    return made


def apply_to_values(kind: str, operands: tuple[Value, ...]) -> Value:
    """Apply an operation to some values; constants alone give a constant."""
    data = functions[kind](*[operand._data for operand in operands])
    if all(operand.kind == CONST for operand in operands):
        return literal_value(data)
    return result_value(kind, operands, results_of(operands), data, step_of(kind, operands))


def results_of(operands: tuple[Value, ...]) -> tuple[Value, ...]:
    """The operands that were made of others, last first."""
    return tuple([operand for operand in operands[::-1] if operand.operands])


def step_of(kind: str, operands: tuple[Value, ...]) -> Backward:
    """Return the step of an operation, some of whose operands may be constants."""
    literal_value = [operand.kind == CONST for operand in operands]
    numbers = [
        operand._data if known and operand._data in FILLED_IN else None
        for operand, known in zip(operands, literal_value, strict=True)
    ]
    return pass_by_rules(kind, tuple([not known for known in literal_value]), tuple(numbers))


def result_value(
    kind: str, operands: tuple[Value, ...], inner: tuple[Value, ...], data: float, step: Backward
) -> Value:
    """The value that an operation makes, of its first operand's class, a constant aside."""
    like = operands[0] if operands[0].kind != CONST else operands[1]
    made: Value = new(like.__class__)
    made._data = data
    made._grad = 0.0
    made._label = ""
    made.held = False
    made._inner = inner
    made.kind = kind
    made._mark = None
    made.operands = operands
    made._step = step
    made._time = Clock.now
    return made


def lift_operand(operand: object) -> Value | None:
    """A value, or a number as one; None for anything else."""
    if isinstance(operand, Value):
        return operand
    known = type(operand) is float or type(operand) is int  # quicker to ask than for any number
    return literal_value(operand) if known or isinstance(operand, Real) else None


def row_method(op: Op) -> Callable[..., Value]:
    """A row of the op table as a method: the value is its first operand."""
    alone = not op.variadic and len(op.names) == 1

    def applied(self: Value, *others: object) -> Value:
        if alone and not others and self.kind != CONST:
            inner = (self,) if self.operands else ()
            return result_value(
                op.name, (self,), inner, functions[op.name](self._data), all_varying[op.name]
            )
        operands = [lift_operand(operand) for operand in (self, *others)]
        fits = len(operands) > 1 if op.variadic else len(operands) == len(op.names)
        if not fits:
            message = f"{op.name} takes {op.arity_words()}, this value being the first"
            raise TypeError(f"{message}, but is given {len(operands)}")
        for operand, given in zip(operands, (self, *others), strict=True):
            if operand is None:
                raise TypeError(f"{op.name} takes numbers and values, not {type(given).__name__}")
        return apply_to_values(
            op.name, tuple([operand for operand in operands if operand is not None])
        )

    applied.__name__ = op.name
    applied.__qualname__ = f"Value.{op.name}"
    applied.__doc__ = f"{op.about[:1].upper()}{op.about[1:]}."
    return applied


for op in OPS:
    if not (op.infix or op.prefix):
        setattr(Value, op.name, row_method(op))


# Graphs.


def made_of(root: Value) -> list[Value]:
    """The results that a value is made of, in the order of a formula: operands first, it last.

    All of them are up to date then, and no grad has reached them.
    """
    mark, now, stale = object(), Clock.now, False
    found: list[Value] = []
    todo: list[Any] = [root] if root.operands else []
    while todo:
        value = todo.pop()
        if value is None:
            found.append(todo.pop())
        elif value._mark is not mark:
            value._mark = mark
            value._grad = UNREACHED
            if value._time != now:
                stale = True
            if value._inner:
                todo += (value, None)
                todo += value._inner
            else:
                found.append(value)
    if stale:
        for value in found:
            value._time = now
            if not value.held:
                operands = [operand._data for operand in value.operands]
                value._data = functions[value.kind](*operands)
    return found


def values_reached(root: Value) -> list[Value]:
    """Return the operands of a value, and theirs, in the order of a formula; the value comes last."""
    found: dict[Value, None] = {}
    todo = [root]
    while todo:
        value = todo[-1]
        if value not in found:
            todo += [operand for operand in reversed(value.operands) if operand not in found]
        if todo[-1] is value:
            found[todo.pop()] = None
    return [*found]


def graph_of_values(values: Sequence[Value], names: Mapping[Value, str]) -> Graph:
    """The graph of some values, operands first.

    ``names`` are those of inputs and of statements; an input without one is called by its place.
    """
    graph = Graph()
    place: dict[Value, int] = {}
    for value in values:
        if value.kind == CONST:
            node = graph.append(CONST, (), value.data, NOWHERE)
        elif value.kind == INPUT:
            name = names.get(value) or str(len(graph))
            node = graph.inputs[name] = graph.append(INPUT, (), name, NOWHERE)
        else:
            kind, number = row_of_value(value)
            operands = tuple([place[operand] for operand in value.operands])
            if number is not None:
                operands = (*operands, graph.append(CONST, (), number, NOWHERE))
            node = graph.append(kind, operands, None, NOWHERE, (NOWHERE,) * len(operands))
            if value in names:
                graph.bindings.append(Binding(names[value], node, NOWHERE))
                graph.output_name = names[value]
        place[value] = node
    graph.output = len(graph) - 1
    if not (graph.bindings and graph.bindings[-1].node == graph.output):
        graph.output_name = None
    return graph


def row_of_value(value: Value) -> tuple[str, float | None]:
    """A result's row, and a number that it takes besides its operands, as in ``**2``.

    A value that is made by hand has a row if its word is one's name or symbol.  Raises ``RequestError``
    for any other.
    """
    if value.kind != MADE:
        return value.kind, None
    word, count = value._word.casefold(), len(value.operands)
    for op in OPS:
        fits = count > 1 if op.variadic else count == len(op.names)
        if word and fits and word in (op.name, op.prefix or op.infix, SYMBOLS.get(op.infix)):
            return op.name, None
    power = re.fullmatch(r"(\*\*|\^)(-?[0-9.]+)", word)
    if power and count == 1:
        return BY_INFIX["^"].name, float(power[2])
    raise RequestError(
        "no-formula",
        f"a value made by hand, '{value._word}' of {count}, has no formula",
        help="its operation is a name in exprgrad.OPS or a symbol, such as 'tanh' or '*'",
    )


def all_names(values: Sequence[Value]) -> dict[Value, str]:
    """Name values by the labels that can be names, each once, inputs first; other inputs are v1, v2, …."""
    names: dict[Value, str] = {}
    taken = {*CONSTANTS}
    for value in sorted(values, key=lambda value: bool(value.operands)):
        name = unicodedata.normalize("NFC", value.label)
        if name.isidentifier() and name not in taken and value.kind != CONST:
            taken.add(name)
            names[value] = name
    unnamed = fresh_names(graph_of_values(values, names), "v")
    for value in values:
        if value.kind == INPUT and value not in names:
            names[value] = next(unnamed)
    return names


def of_micrograd(graph: Graph) -> Graph:
    """The graph with what micrograd makes of -x, x - y and x/y: x*-1, x + y*-1 and x*y**-1.

    A number's negative or reciprocal is a number, as Python works it out.
    """
    add, sub, mul, div, power = (BY_INFIX[symbol].name for symbol in "+-*/^")
    (neg,) = (op.name for op in OPS if op.prefix)

    def apply(made: Graph, kind: str, *operands: int) -> int:
        if {made.kinds[operand] for operand in operands} == {CONST}:
            return number(made, functions[kind](*[made.payloads[operand] for operand in operands]))
        return made.append(kind, operands, None, NOWHERE, (NOWHERE,) * len(operands))

    def number(made: Graph, value: float) -> int:
        return made.append(CONST, (), value, NOWHERE)

    def rule(made: Graph, node: int, images: Sequence[int]) -> int | None:
        kind = graph.kinds[node]
        if kind not in (neg, sub, div):
            return None
        *first, last = (images[operand] for operand in graph.operands[node])
        last = apply(made, power if kind == div else mul, last, number(made, -1.0))
        return apply(made, mul if kind == div else add, *first, last) if first else last

    made, _ = transform_graph(graph, rule)
    return transform_graph(made, wanted=dependency_flags(made, made.output))[0]


def formula_and_inputs(root: Value) -> tuple[str, dict[str, float]]:
    """The formula of a value, and its inputs' data by name; an input without a name is v1, v2, …."""
    values = values_reached(root)
    names = all_names(values)
    graph = graph_of_values(values, names)
    name_shared(graph)
    inputs = {names[value]: value.data for value in values if value.kind == INPUT}
    return program_text(graph), inputs
