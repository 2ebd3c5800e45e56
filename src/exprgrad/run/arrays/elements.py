"""A run over tensors written out number by number, so that whatever works on numbers works on tensors.

An elementwise operation becomes a node for each number.  Operations that move numbers leave no nodes.
Other structural rows are expanded by their ``definition``, their ``fallback``, or their ``value``, called
with arrays whose numbers build nodes.  Operations without a derivative, such as a choice of labels, stay as
the run found it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, NamedTuple, cast

import numpy as np

from exprgrad.errors import RequestError
from exprgrad.graph.graph import (
    CONST,
    INPUT,
    MOST_ELEMENTS,
    Binding,
    Graph,
    Literal,
    Settings,
    Shape,
    element_name,
    shape_size,
)
from exprgrad.graph.ops import BY_NAME
from exprgrad.graph.structural import Structural, keepdims_shape, normalize_axes
from exprgrad.graph.tensors import STRUCTURAL
from exprgrad.run.arrays.arrays import Array, array_of_doubles, structural_value
from exprgrad.run.evaluation import SweptRun
from exprgrad.run.numbers.sweeps import forward_numbers, reverse_sweep
from exprgrad.source import Span

__all__ = ["Elements", "Origin", "expand_elements", "refuse_many"]


class Origin(NamedTuple):
    """The origin of a number: a node of the graph over tensors, and the number's place in it.

    ``place`` is None for an intermediate number, such as the sum of the first terms.
    """

    node: int
    place: Shape | None


class Elements(NamedTuple):
    """A run over tensors, written out over numbers.

    ``run``      the run over numbers; its inputs and statements are named ``X[0, 1]``
    ``origins``  by node of that run: where it comes from
    ``nodes``    by node of the run over tensors: the nodes of its numbers, an array of its shape
    """

    run: SweptRun
    origins: list[Origin]
    nodes: list[Array]


def refuse_many(graph: Graph) -> None:
    """Raise ``RequestError`` for a graph whose nodes hold too many numbers to be written out."""
    count = sum(map(shape_size, graph.shapes))
    if count > MOST_ELEMENTS:
        raise RequestError(
            "too-large",
            f"tensors are written out up to {MOST_ELEMENTS:,} elements over all nodes; "
            f"this formula has {count:,}",
            help="try a smaller example of the same formula: fewer rows, fewer columns",
        )


def expand_elements(run: SweptRun) -> Elements:
    """Write out a run over tensors, with its reverse sweep if it has one.

    Raises ``RequestError`` above ``MOST_ELEMENTS``.
    """
    refuse_many(run.graph)
    writer, source = ElementWriter(run.graph, run.values), run.graph
    for node in range(len(source)):
        writer.write(node)
    graph, nodes = writer.graph, writer.nodes
    graph.output = int(nodes[source.output].flat[0])
    graph.output_name = source.output_name
    graph.bindings = [
        Binding(element_name(name, place), int(number), span)
        for name, node, span in source.bindings
        for place, number in np.ndenumerate(nodes[node])
    ]
    inputs = {
        element_name(name, place): float(number)
        for name in source.inputs
        for place, number in np.ndenumerate(array_of_doubles(run.inputs[name]))
    }
    values = forward_numbers(graph, inputs)
    if run.wrt is None:
        written = type(run)(run.text, graph, inputs, values, spelled=run.spelled)
        return Elements(written, writer.origins, nodes)
    moved = [int(number) for name in run.wrt for number in nodes[source.inputs[name]].flat]
    wrt = tuple([str(graph.payloads[number]) for number in moved])
    swept = reverse_sweep(graph, values, moved)
    written = type(run)(run.text, graph, inputs, values, swept, wrt, run.spelled)
    return Elements(written, writer.origins, nodes)


class ArrayNumber:
    """A number of an array: a node.  An array library's operations on it append nodes."""

    __slots__ = ("node", "writer")

    def __init__(self, writer: ElementWriter, node: int) -> None:
        self.writer = writer
        self.node = node


def python_operator(kind: str, *, turned: bool = False) -> Callable[[ArrayNumber, Any], Any]:
    """Make a Python operator; ``turned``: its left operand comes second."""

    def apply(self: ArrayNumber, other: Any) -> Any:
        return self.writer.operation(kind, (other, self) if turned else (self, other))

    return apply


for name, kind in (("add", "add"), ("mul", "mul"), ("truediv", "div")):
    setattr(ArrayNumber, f"__{name}__", python_operator(kind))
    setattr(ArrayNumber, f"__r{name}__", python_operator(kind, turned=True))


class ObjectArrays:
    """NumPy, except that its new arrays can hold ``ArrayNumber`` objects too."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    def zeros(self, shape: Shape) -> Array:
        """A tensor of zeros."""
        return np.zeros(shape, dtype=object)


class ElementWriter:
    """A graph over numbers under construction.

    For a row's ``definition`` it is the builder of nodes: there a handle stands for an array, whose
    entries are ``ArrayNumber`` objects, or doubles where nothing was computed.

    ``nodes``   by node of the graph over tensors: the nodes of its numbers
    ``arrays``  by handle
    ``data``    by handle, the numbers themselves, where they are known
    """

    def __init__(self, source: Graph, values: Sequence[Array]) -> None:
        self.source = source
        self.values = values
        self.graph = Graph()
        self.origins: list[Origin] = []
        self.nodes: list[Array] = []
        self.arrays: list[Array] = []
        self.data: dict[int, Array] = {}
        self.node = 0

    def write(self, node: int) -> None:
        """Write out one node, once its operands are written."""
        source, before = self.source, len(self.graph)
        self.node = node
        kind, payload = source.kinds[node], source.payloads[node]
        if kind in (INPUT, CONST):
            found = self.leaves(node)
        else:
            operands = source.operands[node]
            arrays = [self.numbers(self.nodes[operand]) for operand in operands]
            if kind in BY_NAME:
                spans = tuple([source.occurrence(node, at) for at in range(len(operands))])
                found = self.elementwise(kind, arrays, spans)
            else:
                data = [self.values[operand] for operand in operands]
                found = self.structural(STRUCTURAL[kind], arrays, data, cast(Settings, payload))
        nodes = np.vectorize(self.node_of, otypes=[int])(found)
        for place, number in np.ndenumerate(nodes):
            if number >= before:
                self.origins[number] = Origin(node, place)
        self.nodes.append(nodes)

    def leaves(self, node: int) -> Array:
        """Return the numbers of an input or a constant."""
        source, found = self.source, np.empty(self.source.shape(node), dtype=object)
        for place, value in np.ndenumerate(array_of_doubles(self.values[node])):
            if source.kinds[node] == INPUT:
                name = element_name(str(source.payloads[node]), place)
                number = self.append(INPUT, (), name)
                self.graph.inputs[name] = number.node
            else:
                number = self.append(CONST, (), float(value))
                if node in source.symbols:
                    self.graph.symbols[number.node] = source.symbols[node]
                if node in source.spelled:
                    self.graph.spelled[number.node] = source.spelled[node]
            found[place] = number
        return found

    def elementwise(
        self, kind: str, arrays: Sequence[Array], spans: tuple[Span, ...] = ()
    ) -> Array:
        """Apply an elementwise row to arrays."""
        stretched = np.broadcast_arrays(*arrays)
        found = np.empty(stretched[0].shape, dtype=object)
        for place in np.ndindex(*found.shape):
            found[place] = self.operation(kind, [array[place] for array in stretched], spans)
        return found

    def structural(
        self, row: Structural, arrays: Sequence[Array], data: Sequence[Any], settings: Settings
    ) -> Array:
        """Apply a structural row to arrays; one that passes nothing on keeps the run's numbers."""
        if row.gate == "blocker":
            return np.asarray(structural_value(row, data, settings), dtype=object)
        if row.definition is None and row.value is not None:
            given = [array[()] for array in arrays]  # a number is no array of one
            return np.asarray(row.value(ObjectArrays(), given, settings), dtype=object)
        handles = [self.handle(array, known) for array, known in zip(arrays, data, strict=True)]
        built = row.definition or row.fallback
        assert built is not None
        return self.arrays[built(self, handles, settings)]

    # What a definition builds.

    def handle(self, array: Array, data: Array = None) -> int:
        """Return the handle of an array."""
        if data is not None:
            self.data[len(self.arrays)] = data
        self.arrays.append(array)
        return len(self.arrays) - 1

    def apply(self, kind: str, *operands: int, settings: Settings | None = None) -> int:
        """Return the handle of an operation; operands of different shapes are broadcast."""
        arrays = [self.arrays[operand] for operand in operands]
        if kind in BY_NAME:
            return self.handle(self.elementwise(kind, arrays))
        data = [self.data.get(operand) for operand in operands]
        return self.handle(self.structural(STRUCTURAL[kind], arrays, data, settings or ()))

    def constant(self, value: float) -> int:
        """Return the handle of a number."""
        return self.handle(np.asarray(value, dtype=object))

    def literal(self, literal: Literal) -> int:
        """Return the handle of a literal tensor."""
        return self.handle(np.array(literal.numbers, dtype=object).reshape(literal.shape))

    def shape(self, handle: int) -> Shape:
        """Return the shape of a handle's array."""
        return tuple(self.arrays[handle].shape)

    def fold(self, kind: str, x: int, settings: Settings) -> int:
        """Fold an elementwise row over the numbers along some axes: two by two, or all at once."""
        array, (axes, keepdims) = self.arrays[x], settings
        gone = normalize_axes(axes, array.shape)
        rows = np.moveaxis(array, gone, range(len(gone)))
        rows = rows.reshape(-1, *rows.shape[len(gone) :])
        if len(rows) == 1:
            found = np.asarray(rows[0], dtype=object)  # one number is no array
        elif BY_NAME[kind].variadic:
            found = self.elementwise(kind, rows)
        else:
            found = reduce(lambda one, other: self.elementwise(kind, (one, other)), rows)
        return self.handle(found.reshape(keepdims_shape(array.shape, axes)) if keepdims else found)

    def known(self, x: int) -> Array:
        """Return the numbers of a handle's array, where a run found them; else None."""
        return self.data.get(x)

    # Nodes.

    def operation(self, kind: str, operands: Sequence[Any], spans: tuple[Span, ...] = ()) -> Any:
        """Return an operation's number; a choice or a sum that a double decides is not written."""
        if kind == "where" and not isinstance(operands[0], ArrayNumber):
            if operands[0] != operands[0]:  # what is no label has neither a value nor a derivative
                return self.operation("mul", operands[:2])
            return operands[1] if operands[0] else operands[2]
        if kind == "add" and 0.0 in operands:
            return operands[0] if operands[1] == 0.0 else operands[1]
        return self.append(
            kind, tuple([self.node_of(operand) for operand in operands]), None, spans
        )

    def append(
        self,
        kind: str,
        operands: tuple[int, ...],
        payload: str | float | None,
        spans: tuple[Span, ...] = (),
    ) -> ArrayNumber:
        """Append a node, at the place of the node over tensors."""
        span = self.source.span(self.node)
        self.origins.append(Origin(self.node, None))
        spans = spans or (span,) * len(operands)
        return ArrayNumber(self, self.graph.append(kind, operands, payload, span, spans))

    def node_of(self, number: Any) -> int:
        """Return the node of an array's number, which may be a double."""
        return (
            number if isinstance(number, ArrayNumber) else self.append(CONST, (), float(number))
        ).node

    def numbers(self, nodes: Array) -> Array:
        """Return nodes as an array of numbers."""
        return np.vectorize(lambda node: ArrayNumber(self, node), otypes=[object])(nodes)
