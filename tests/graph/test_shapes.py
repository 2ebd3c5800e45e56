"""Shapes: how they broadcast, and that every graph of tensors keeps its invariants through every pass."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exprgrad.derive.sweeps.gradient import gradient, jvp, vjp
from exprgrad.errors import LanguageError, ShapeError
from exprgrad.graph.graph import CONST, Graph, Literal, Program, Shape, shape_size
from exprgrad.graph.structural import (
    ShapeMismatch,
    broadcast_shape,
    keepdims_shape,
    normalize_axes,
    normalize_axis,
    reduce_shape,
    repeated_axes,
    shape_text,
)
from exprgrad.graph.tensors import axis_ranges
from exprgrad.language.read.parse import parse_text
from exprgrad.language.read.shaping import infer_shapes
from invariants import check
from well_shaped import Formula, formulas

steady = settings(derandomize=True)
shapes = st.lists(st.integers(1, 3), max_size=4).map(tuple)


@settings(steady, max_examples=100)
@given(st.lists(shapes, min_size=1, max_size=4))
def test_broadcasting_is_numpy_s(operands: list[Shape]) -> None:
    try:
        expected = np.broadcast_shapes(*operands)
    except ValueError:
        with pytest.raises(ShapeMismatch) as caught:
            broadcast_shape(operands)
        blamed = caught.value.operands
        assert blamed is not None and len(blamed) >= 2
        with pytest.raises(ValueError, match="mismatch"):
            np.broadcast_shapes(*[operands[at] for at in blamed])
    else:
        assert broadcast_shape(operands) == expected
        for shape in operands:
            axes = repeated_axes(shape, expected)
            assert np.ones(expected).sum(axis=axes).size == shape_size(shape)


@settings(steady, max_examples=80)
@given(shapes, st.data())
def test_axes_and_reductions_are_numpy_s(shape: Shape, data: st.DataObject) -> None:
    listed = data.draw(st.lists(st.integers(-5, 4), max_size=3)) or None
    axes = None if listed is None else tuple(listed)
    try:
        expected = np.ones(shape).sum(axis=axes).shape
    except ValueError:  # NumPy's AxisError is one
        with pytest.raises(ShapeMismatch):
            reduce_shape(shape, axes)
    else:
        assert reduce_shape(shape, axes) == expected
        assert reduce_shape(shape, axes, True) == keepdims_shape(shape, axes)
        assert keepdims_shape(shape, axes) == np.ones(shape).sum(axis=axes, keepdims=True).shape
        assert all(
            normalize_axis(axis - len(shape), shape) == axis for axis in normalize_axes(axes, shape)
        )


ends = st.none() | st.integers(-4, 4)
places = st.lists(st.integers(-4, 4) | st.tuples(ends, ends), max_size=4)


@settings(steady, max_examples=100)
@given(shapes, places)
def test_indices_are_numpy_s(shape: Shape, at: list[int | tuple[int | None, int | None]]) -> None:
    """Where NumPy takes them and something is left."""
    try:
        found = np.ones(shape)[tuple(p if isinstance(p, int) else slice(*p) for p in at)]
    except IndexError:
        with pytest.raises(ShapeMismatch):
            axis_ranges(shape, at)
        return
    if not found.size:
        with pytest.raises(ShapeMismatch):
            axis_ranges(shape, at)
        return
    lengths = [stop - start for start, stop in axis_ranges(shape, at)]
    kept_ones = [n for n, p in itertools.zip_longest(lengths, at) if not isinstance(p, int)]
    assert tuple(kept_ones) == found.shape


def test_shapes_in_words() -> None:
    assert shape_text(()) == "a number"
    assert shape_text((3,)) == "(3,)" and shape_text((3, 4)) == "(3, 4)"
    assert shape_size(()) == 1 and shape_size((2, 3)) == 6


def typed(formula: Formula) -> Graph:
    return infer_shapes(parse_text(formula.text), formula.text, formula.shapes)


@settings(steady, max_examples=80)
@given(formulas())
def test_a_shaped_graph_keeps_the_invariants(formula: Formula) -> None:
    """It has the nodes of the text, and besides them broadcasts that stretch elementwise operands."""
    plain = parse_text(formula.text)
    check(plain)
    graph = typed(formula)
    check(graph)
    assert graph.shapes
    assert [
        kind for node, kind in enumerate(graph.kinds) if node not in graph.implicit
    ] == plain.kinds
    for node in graph.implicit:
        (operand,) = graph.operands[node]
        assert graph.kinds[node] == "broadcast" and graph.shapes[node] != graph.shapes[operand]
    assert list(graph.inputs) == list(plain.inputs) and graph.output_name == plain.output_name


def checked(program: Program, expected: list[Shape]) -> None:
    """The invariants, and the shapes of what is asked for."""
    check(program.graph)
    assert program.graph.shapes
    assert [program.graph.shapes[node] for node in program.outputs] == expected


@settings(steady, max_examples=60)
@given(formulas(6, number=True))
def test_every_derived_graph_keeps_the_invariants(formula: Formula) -> None:
    """A derivative has its input's shape: of the first order, of the second, and along directions."""
    graph = typed(formula)
    assert graph.shapes
    names = list(graph.inputs)
    mine = [formula.shapes[name] for name in names]
    first = gradient(graph, names)
    checked(first, [(), *mine])
    checked(vjp(graph, [graph.output], names), mine)
    for masked in (False, True):
        checked(jvp(graph, names, [graph.output], masked=masked), [()])
    checked(jvp(first.graph, names, first.outputs), [(), *mine])
    checked(vjp(first.graph, first.outputs, names), mine)


@settings(steady, max_examples=40)
@given(formulas(5))
def test_so_do_the_products_with_the_jacobian_of_a_tensor(formula: Formula) -> None:
    graph = typed(formula)
    assert graph.shapes
    names = list(graph.inputs)
    whole = graph.shapes[graph.output]
    for masked in (False, True):
        checked(jvp(graph, names, [graph.output], masked=masked), [whole])
        program = vjp(graph, [graph.output], names, masked=masked)
        checked(program, [formula.shapes[name] for name in names])


def damage_shape(graph: Graph) -> None:
    assert graph.shapes
    graph.shapes[graph.kinds.index("matmul")] = (3, 3)


def damage_input(graph: Graph) -> None:
    assert graph.shapes
    graph.shapes[0] = (7,)


def damage_literal(graph: Graph) -> None:
    graph.payloads[graph.kinds.index(CONST)] = Literal((2,), (1.0, 2.0))


def damage_length(graph: Graph) -> None:
    assert graph.shapes
    graph.shapes.pop()


def drop_broadcast(graph: Graph) -> None:
    node = graph.kinds.index("broadcast")
    user = next(n for n, operands in enumerate(graph.operands) if node in operands)
    (operand,) = graph.operands[node]
    graph.operands[user] = tuple([operand if n == node else n for n in graph.operands[user]])


def lose_settings(graph: Graph) -> None:
    graph.payloads[graph.kinds.index("reshape")] = None


def surplus_setting(graph: Graph) -> None:
    graph.payloads[graph.kinds.index("matmul")] = (1,)


def surplus_operand(graph: Graph) -> None:
    node = graph.kinds.index("reshape")
    graph.operands[node] = (*graph.operands[node], 0)


@pytest.mark.parametrize(
    "damage",
    [damage_shape, damage_input, damage_literal, damage_length, drop_broadcast, lose_settings,
     surplus_setting, surplus_operand],
    ids=lambda damage: damage.__name__,
)  # fmt: skip
def test_check_rejects_a_graph_with_wrong_shapes(damage: object) -> None:
    text = "reshape(X @ [1, 2, 3] + b, [2, 1])"
    graph = infer_shapes(parse_text(text), text, {"X": (2, 3), "b": ()})
    check(graph)
    assert callable(damage)
    damage(graph)
    with pytest.raises(ValueError, match="not a graph"):
        check(graph)


def test_constants_stretch_by_themselves() -> None:
    text = "2*x + x/pi"
    graph = infer_shapes(parse_text(text), text, {"x": (3,)})
    assert "broadcast" not in graph.kinds and not graph.implicit


def test_a_tensor_has_so_many_axes_and_no_more() -> None:
    for depth, fits in ((32, True), (33, False), (3_000, False)):
        for inner in ("x", "1"):
            text = "[" * depth + inner + "]" * depth
            graph = parse_text(text)
            if fits:
                assert infer_shapes(graph, text, {"x": ()}).shapes
            else:
                with pytest.raises(ShapeError, match="more than 32 axes"):
                    infer_shapes(graph, text, {"x": ()})


@settings(steady, max_examples=100)
@given(st.text("x[]0:1,.T@+-*2()^", max_size=14))
def test_any_soup_is_refused_or_shaped(text: str) -> None:
    try:
        graph = parse_text(text)
        check(graph)
        check(infer_shapes(graph, text, dict.fromkeys(graph.inputs, (2, 2))))
    except (LanguageError, ShapeError) as error:
        assert error.span is not None and "{" not in error.message
