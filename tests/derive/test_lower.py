"""Lowering: what a target lacks becomes what it has, and no number changes but where a formula must do."""

from __future__ import annotations

import math
from itertools import product
from random import Random

import pytest

from amounts import many
from exprgrad import parse as parse_expression
from exprgrad.derive.build import GraphBuilder
from exprgrad.derive.lower.lower import defining_formula, lower_program, row_programs
from exprgrad.derive.rules import template
from exprgrad.derive.sweeps.gradient import gradient
from exprgrad.graph.graph import CONST, INPUT, Graph, Program, dependency_flags
from exprgrad.graph.ops import BY_NAME, OPS
from exprgrad.graph.tensors import STRUCTURAL
from exprgrad.language.code.target import Target
from exprgrad.language.code.targets import TARGETS
from exprgrad.language.read.parse import parse_text
from exprgrad.run.numbers.sweeps import compile_template, forward_numbers
from invariants import check
from oracles import holds, true_value, ulps
from strategies import FREQUENT, points, tree
from together import together

EVERYTHING = frozenset(op.name for op in OPS)
each_target = pytest.mark.parametrize("target", TARGETS.values(), ids=lambda target: target.name)


def operations(graph: Graph) -> set[str]:
    return set(graph.kinds) - {INPUT, CONST}


def value(text: str) -> Program:
    graph = parse_text(text)
    return Program(graph, (graph.output,))


@together(product(OPS, TARGETS.values()))
def test_every_row_comes_down_to_what_a_target_spells(op: object, target: object) -> None:
    from exprgrad.graph.op import Op
    from exprgrad.language.code.target import Target

    assert isinstance(op, Op) and isinstance(target, Target)
    graph = GraphBuilder()
    operands = [graph.input(f"a{i}") for i in range(3 if op.variadic else len(op.names))]
    output = graph.apply(op.name, *operands)
    lowered = lower_program(Program(graph.graph, (output,)), target.spelled)
    graph.graph.output = output
    check(lowered.graph)
    helpers = row_programs(lowered, target.spelled)
    for program in (lowered, *helpers.values()):
        assert isinstance(program, Program)
        assert operations(program.graph) <= target.spelled | helpers.keys()
    for number, program in enumerate(helpers.values()):
        earlier = set(list(helpers)[:number])
        assert isinstance(program, Program)
        assert operations(program.graph) <= target.spelled | earlier


def test_lowering_to_everything_changes_no_number() -> None:
    random = Random("lower")
    for _ in range(300):
        text = tree(random, ("x", "y", "x", "2", "0.5", "-1"), FREQUENT, 8)
        graph = parse_text(text)
        program = gradient(graph, tuple(graph.inputs))
        lowered = lower_program(program, EVERYTHING, graph)
        check(lowered.graph)
        given = {name: random.uniform(-3, 3) for name in "xy"}
        before, after = forward_numbers(program.graph, given), forward_numbers(lowered.graph, given)
        for one, other in zip(program.outputs, lowered.outputs, strict=True):
            x, y = before[one], after[other]
            rounds_otherwise = any(word in text for word in ("^", "pow", "logsumexp"))
            assert x == y or (math.isnan(x) and math.isnan(y)) or rounds_otherwise, text


def test_a_square_is_a_product_and_a_minus_is_no_sum() -> None:
    for text in ("x^2 + -y", "-x + y^2", "x^2 + -2"):
        kinds = operations(lower_program(value(text), EVERYTHING).graph)
        assert {"mul", "sub"} <= kinds and not kinds & {"add", "pow"}
    assert "pow" in operations(lower_program(value("x^3"), EVERYTHING).graph)


def test_many_operands_become_pairs() -> None:
    graph = lower_program(value("max(a, b, c, d)"), EVERYTHING).graph
    assert graph.kinds.count("max") == 3
    assert all(len(o) == 2 for k, o in zip(graph.kinds, graph.operands, strict=True) if k == "max")


def test_short_formulas_stand_in_place_and_long_ones_apart() -> None:
    spelled = EVERYTHING - {"relu", "sigmoid", "erf"}
    lowered = lower_program(value("relu(x) + sigmoid(x) + erf(x)"), spelled)
    assert operations(lowered.graph) == {"add", "max", "sigmoid", "erf"}
    assert list(row_programs(lowered, spelled)) in (["erf", "sigmoid"], ["sigmoid", "erf"])


@pytest.mark.parametrize(
    ("text", "guards"),
    [
        ("log(1 + x^2)", set()), ("sqrt(1 + x^2)", set()), ("log(exp(x) + x^2*2)", set()),
        ("log(2 + abs(x)/3)", set()),
        ("log(x)", {"where", "ge", "abs"}), ("log(x^2 - 1)", {"where", "ge", "abs"}),
        ("log(x*(-x))", {"where", "ge", "abs"}), ("log(x - 1)", {"where", "ge", "abs"}),
    ],
)  # fmt: skip
def test_what_cannot_happen_is_not_guarded(text: str, guards: set[str]) -> None:
    derived = gradient(parse_text(text), ["x"])
    lowered = lower_program(derived, EVERYTHING)
    used = dependency_flags(lowered.graph, lowered.outputs[1])
    kinds = {kind for kind, flag in zip(lowered.graph.kinds, used, strict=True) if flag}
    if "abs(" not in text:
        assert kinds & {"where", "ge", "abs"} == guards
    for x in (
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.3,
        -2.5,
        1e200,
        -1e200,
        1e-200,
        math.inf,
        -math.inf,
        math.nan,
    ):
        before, now = (forward_numbers(each.graph, {"x": x}) for each in (derived, lowered))
        for one, other in zip(derived.outputs, lowered.outputs, strict=True):
            assert before[one].hex() == now[other].hex(), (text, x)


def test_names_of_the_formula_stay() -> None:
    graph = parse_text("a = x*y; o = tanh(a)")
    lowered = lower_program(gradient(graph, ("x",)), EVERYTHING, graph)
    names = {binding.name: lowered.graph.kinds[binding.node] for binding in lowered.graph.bindings}
    assert names == {"a": "mul", "o": "tanh"}


FORMULAS = {
    "logsumexp": 2.0,
    "cbrt": 1.0,
    "exp2": 1.0,
    "expm1": 1.5,
    "log1p": 1.5,
    "log2": 2.0,
    "log10": 2.0,
    "tan": 2.0,
    "sinh": 2.0,
    "cosh": 2.0,
    "tanh": 2.0,
    "asinh": 2.0,
    "acosh": 2.0,
    "atanh": 2.0,
    "erf": 2.0,
    "erfc": 7.0,
    "hypot": 2.0,
}
"""The accuracy of the rows' formulas, in ulp, measured against mpmath; of others 0."""
SPELLED = ("abs", "mod", "sqrt")
"""Rows that no formula of others computes as well: every target and engine has to spell them."""
FALLBACKS = [
    op.name
    for op in OPS
    if defining_formula(op.name) and not op.value and op.equation is None and op.name not in SPELLED
]
"""Rows that are computed by others where a target does not spell them."""


@each_target
def test_what_no_formula_replaces_is_spelled(target: Target) -> None:
    made = {op.name for op in OPS if defining_formula(op.name) or op.equation is not None}
    assert {*SPELLED, *(EVERYTHING - made)} <= target.spelled


def test_native_code_spells_what_no_formula_replaces() -> None:
    pytest.importorskip("llvmlite")
    from exprgrad.run.engines import native

    made = {op.name for op in OPS if defining_formula(op.name) or op.equation is not None}
    dialect = native.fast_dialect(native.detect_machine())
    assert {*SPELLED, *(EVERYTHING - made)} <= {*dialect.texts, *dialect.scalar, *dialect.vector}


@pytest.mark.parametrize("count", [300, pytest.param(many(2_000), marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", FALLBACKS)
def test_formulas_are_accurate(name: str, count: int) -> None:
    op = BY_NAME[name]
    random = Random(name)
    names = op.fallback_names
    formula = compile_template(template(defining_formula(name)), names)
    sample = list(points(random, len(names), count))
    sample += [tuple(random.uniform(-3, 8) for _ in names) for _ in range(count)]
    sample += [tuple(10.0 ** random.uniform(-12, 9) for _ in names) for _ in range(count)]
    sample += [tuple(1 + 10.0 ** random.uniform(-16, 1) for _ in names) for _ in range(count)]
    for point in sample:
        if holds(op.domain, op.names, point):
            found, true = formula(point), true_value(name, *point)
            assert (
                ulps(found, true) <= FORMULAS.get(name, 0.0) or abs(found - true) <= op.value_abs
            ), point


@pytest.mark.parametrize("name", FALLBACKS)
def test_formulas_end_where_the_rows_do(name: str) -> None:
    from exprgrad.run.numbers.sweeps import functions

    names = BY_NAME[name].fallback_names
    formula = compile_template(template(defining_formula(name)), names)
    ends = (0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, -1.0, 2.0, -2.0)
    for x in product(ends, repeat=len(names)):
        found, expected = formula(x), functions[name](*x)
        assert found == pytest.approx(expected, rel=1e-14, nan_ok=True), x
        assert math.copysign(1, found) == math.copysign(1, expected) or math.isnan(found), x


TENSORS: dict[str, tuple[str, dict[str, tuple[int, ...]]]] = {
    "softmax": ("sum(softmax(X, axis=0)*X)", {"X": (3, 4)}),
    "norm": ("norm(X, axis=1) @ v", {"X": (3, 4), "v": (3,)}),
    "cross_entropy": ("cross_entropy(X, v)", {"X": (3, 4), "v": (3,)}),
    "reduce_logsumexp": ("logsumexp(X)", {"X": (3, 4)}),
    "broadcast": ("sum(exp(v)*X + exp(k))", {"X": (3, 4), "v": (4,), "k": ()}),
}


@pytest.mark.parametrize("kind", TENSORS)
def test_programs_of_tensors_stay_graphs_with_shapes_and_numbers(kind: str) -> None:
    """Lowered, it finds the same numbers, bit for bit; its rows' functions are well-formed graphs."""
    np = pytest.importorskip("numpy")
    from exprgrad.run.arrays import arrays

    text, shapes = TENSORS[kind]
    f = parse_expression(text, shapes=shapes)
    program = gradient(f.typed, f.inputs)
    spelled = TARGETS["numpy"].spelled | EVERYTHING
    lowered = lower_program(program, spelled, f.typed)
    check(lowered.graph)
    for function in row_programs(lowered, spelled).values():
        assert isinstance(function, Program)
        check(function.graph)
        assert operations(function.graph) <= spelled
    given = {name: np.ones(shape) / 3 for name, shape in shapes.items()}
    given["X"] = np.sin(np.arange(12.0)).reshape(3, 4)
    before = arrays.forward_arrays(program.graph, given)
    after = arrays.forward_arrays(lowered.graph, given)
    for one, other in zip(program.outputs, lowered.outputs, strict=True):
        np.testing.assert_array_equal(before[one], after[other])


def test_what_is_stretched_is_computed_before_it_is() -> None:
    f = parse_expression("sum(exp(k)*2 + X)", shapes={"X": (3, 4)})
    graph = lower_program(
        Program(f.typed, (f.typed.output,)), EVERYTHING | STRUCTURAL.keys(), f.typed
    ).graph
    assert graph.shapes
    shapes = {kind: graph.shapes[node] for node, kind in enumerate(graph.kinds)}
    assert shapes["exp"] == shapes["mul"] == () and shapes["broadcast"] == shapes["add"] == (3, 4)
