"""Derivatives as people read them: the golden table, and the same numbers in real arithmetic."""

from __future__ import annotations

import math
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import exprgrad
from corpus import table
from counting import calls
from exprgrad.derive.rules import shown
from exprgrad.derive.simplify.formula import (
    name_shared_steps,
    output_formulas,
    simplified_derivatives,
    simplify_program,
)
from exprgrad.derive.simplify.identities import IDENTITIES, INVERSE_IDENTITIES, Identity
from exprgrad.derive.sweeps.gradient import gradient
from exprgrad.graph.graph import Graph, Program
from exprgrad.graph.ops import OPS, Op
from exprgrad.language.read.parse import at_shapes, parse_text
from exprgrad.language.write.infix import program_text
from invariants import check
from oracles import Real, decimal, evaluate, graph_of, mp, mpf
from slopes import shortest_rule
from strategies import tree
from together import together

GOLDEN = list(table("derivatives.txt"))


@together(GOLDEN)
def test_the_golden_table(text: str, name: str, expected: str) -> None:
    (found,) = simplified_derivatives(parse_text(text), [name])
    check(found)
    assert program_text(found) == expected


@pytest.mark.parametrize(
    "condition", ["0*nan", "nan - nan", "inf - inf", "0*nan + x", "nan != nan"]
)
def test_what_is_no_number_stays_in_a_condition(condition: str) -> None:
    """It is not 0, so that the first branch is taken."""
    graph = parse_text(f"where({condition}, x^2, y)")
    (found,) = simplified_derivatives(graph, ["x"])
    assert parse_text(program_text(found)).kinds.count("where") == 1
    again = exprgrad.parse(program_text(found)).evaluate(x=3.0).value
    assert again == exprgrad.parse(program_text(graph)).gradient(x=3.0, y=1.0).gradient["x"] == 6.0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0*nan*x - x", "0*nan - 1"),
        ("x + 0*inf*sin(x)", "0*inf*cos(x) + 1"),
        ("nan*x - nan*x - x", "0*nan - 1"),
        ("x/nan - x/nan + x", "0*nan"),
        ("x*nan/nan", "0*nan"),
        ("x*inf/inf", "0*inf"),
        ("0/0*x - x", "0/0 - 1"),
    ],
)
def test_what_is_no_number_is_not_folded_away(text: str, expected: str) -> None:
    """It is nan in the derivative, too."""
    (found,) = simplified_derivatives(parse_text(text), ["x"])
    slope = exprgrad.parse(program_text(found))
    assert math.isnan(slope.evaluate(dict.fromkeys(slope.inputs, 3.0)).value)
    assert math.isnan(exprgrad.parse(text).gradient(x=3.0).gradient["x"])
    assert program_text(found) == expected


def test_the_golden_table_is_as_long_as_it_should_be() -> None:
    assert len(GOLDEN) >= 80
    used = {kind for text, _, _ in GOLDEN for kind in parse_text(text).kinds}
    assert {op.name for op in OPS if not op.infix and not op.prefix} <= used


@together(GOLDEN, every=3)
def test_a_name_never_makes_a_derivative_longer(text: str, name: str, expected: str) -> None:
    *statements, last = text.split(";")
    named = "; ".join([*statements, f"whole = {last}"])
    assert program_text(next(simplified_derivatives(parse_text(named), [name]))) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("v = a*x/(b + x)", "a*b/(b + x)^2"),
        ("n = a*x; m = b + x; n/m", "a*b/(b + x)^2"),
        ("t1 = 1/(x + 2)", "-1/(x + 2)^2"),
        ("d = (x - a)/(s*sqrt(T)); exp(-d^2)", "2*exp(-(x - a)^2/(s^2*T))*(a - x)/(s^2*T)"),
        (
            "u = sin(x)^2 + cos(y)^2 + x*y; exp(u)/u + log(u)",
            "u = sin(x)^2 + cos(y)^2 + x*y; "
            "(sin(2*x) + y)*(exp(u)*u - exp(u) + u)/u^2",
        ),
    ],
)  # fmt: skip
def test_names_are_used_where_that_is_shorter(text: str, expected: str) -> None:
    assert program_text(next(simplified_derivatives(parse_text(text), ["x"]))) == expected


def exactly(graph: Graph, inputs: dict[str, float]) -> list[Real]:
    """Every node's value at mpmath's precision; a constant is the decimal that was typed."""
    return evaluate(graph, inputs, decimal)


def tidied(graph: Graph) -> Graph:
    """The formula itself, simplified as its derivatives are."""
    formula, names = next(output_formulas(Program(graph, (graph.output,)), graph))
    return name_shared_steps(formula, names, graph)


def comparable(values: list[Real]) -> bool:
    """Whether a point is inside the domain throughout, and its numbers are of moderate size."""
    return all(mp.isfinite(value) and abs(value) < 10**30 for value in values)


def hold_equal(text: str, points: list[dict[str, float]]) -> int:
    """Hold every simplified form against the raw derivatives in mpmath; how many were compared."""
    graph = parse_text(text)
    names = list(graph.inputs)
    raw = gradient(graph, names, shown)
    lean = simplify_program(gradient(graph, names, shortest_rule), graph)
    answers = list(simplified_derivatives(graph, names))
    for found in (lean.graph, *answers):
        check(found)
    compared = 0
    for point in points:
        with mp.workdps(60):
            if not comparable(exactly(graph, point)):
                continue
            true = exactly(raw.graph, point)
            together = exactly(lean.graph, point)
            alone = [exactly(formula, point)[formula.output] for formula in answers]
            for place, formula in enumerate(alone, 1):
                expected = true[raw.outputs[place]]
                for found_value in (formula, together[lean.outputs[place]]):
                    if mp.isfinite(expected) and mp.isfinite(found_value):
                        compared += 1
                        scale = max(1, abs(expected))
                        assert abs(found_value - expected) < scale * mpf(10) ** -20, (text, point)
    return compared


SOFT = [
    op for op in OPS if op.name not in ("floor", "ceil", "round", "mod", "expm1", "cosh", "sinh")
]
"""All but what jumps at rounding's mercy and what grows beyond mpmath's patience."""


@settings(max_examples=60)
@given(st.integers(0, 2**32))
def test_simplified_is_equal_in_real_arithmetic(seed: int) -> None:
    random = Random(seed)
    ops = (*SOFT, *(op for op in SOFT if op.infix in ("+", "-", "*", "/", "^") for _ in range(4)))
    leaves = ("x", "y", "z", "x", "y", "2", "0.3", "3", "1", "0.5", "pi")
    text = tree(random, leaves, ops, random.randint(1, 9))
    points = [{name: random.uniform(low, 2) for name in "xyz"} for low in (0.1, -2, 0.5)]
    hold_equal(text, points)


@together((*IDENTITIES, *INVERSE_IDENTITIES))
def test_identities_hold(identity: Identity) -> None:
    """At 40 digits; and where the left side is defined, the right side is, infinities included."""
    sides = parse_text(identity.pattern), parse_text(identity.better)
    (name,) = sides[0].inputs
    edges = [0.0, 1.0, -1.0, math.inf, -math.inf, 50.0, -50.0]
    with mp.workdps(100):
        for x in [0.1, 0.7, 1.9, 4.0, -0.3, -1.2, -2.5, *edges]:
            left, right = (
                evaluate(side, {name: mpf(x)} if side.inputs else {})[side.output] for side in sides
            )
            if mp.isnan(left):
                continue
            rounded = (
                abs(left) * mpf(10) ** -40 + mpf(10) ** -95
            )  # cos(asin(1)) is 1e-100 in mpmath
            assert left == right or abs(left - right) <= rounded, (
                x,
                left,
                right,
            )


@together(
    [
        ("a*sin(2*t)^2 + b + a*cos(2*t)^2", "a + b"),
        ("3*sin(x)^2*y - 3*y", "-3*y*cos(x)^2"),
        ("sin(x)^2 + cos(y)^2", "sin(x)^2 + cos(y)^2"),
        ("sin(x)*cos(x)*y", "y*sin(2*x)/2"),
        ("exp(x)*exp(y)*exp(-x)", "exp(y)"),
        ("exp(a*x)*exp(b*x)/exp(x)", "exp(a*x + b*x - x)"),
        ("x*sign(x)*y", "y*abs(x)"),
        ("x/(1 + exp(-x/2))", "x*sigmoid(x/2)"),
        ("1/(y*(1 + exp(-x)))", "sigmoid(x)/y"),
        ("x^2*y^2/(x^2 + x^2*y^2)", "y^2/(1 + y^2)"),
        ("1/(x*(1 + y^2/x^2))", "x/(x^2 + y^2)"),
        ("(336 - 4032*u)/24", "14 - 168*u"),
        ("(x + 2)*(x - 2)/y", "(x^2 - 4)/y"),
        ("x/(y^2*sqrt(x/y))", "sqrt(x/y)/y"),
        ("1/sqrt(x/y)/y", "1/(y*sqrt(x/y))"),  # at x = 0, sqrt(x/y)/x is no infinity
        ("x^(n - 1)*n - x^n", "x^(n - 1)*(n - x)"),  # at x = 0, n/x is not defined
        ("x^(n - 1)*n + x^n*log(x)", "x^n*(n/x + log(x))"),
        ("(x - 1)^2*(x - 2)^2", "(x - 1)^2*(x - 2)^2"),
        ("sqrt(x^2)", "sqrt(x^2)"),
        ("sqrt(1 - sin(x)^2)", "sqrt(cos(x)^2)"),
    ]
)
def test_as_by_hand(text: str, expected: str) -> None:
    """What a rule has made, unlike what a person typed, which keeps its sums."""
    made = parse_text(text)
    found, _ = next(output_formulas(Program(made, (made.output,)), parse_text("0*a*b*n*t*u*x*y")))
    assert program_text(found) == expected
    hold_equal(text, [{name: 0.3 + 0.7 * place for place, name in enumerate("abntuxy")}])


@together(OPS)
def test_every_row_simplified_is_equal(op: Op) -> None:
    graph = graph_of(op, 3 if op.variadic else len(op.names))
    random = Random(op.name)
    text = program_text(graph)
    points = [
        {name: random.uniform(*bounds) for name in graph.inputs}
        for bounds in ((-0.9, 0.9), (0.1, 0.9), (1.1, 3), (-2, 2), (1.5, 2.5))
        for _ in range(2)
    ]
    flat = all(rule == "0" for rule in op.partials)
    assert hold_equal(text, points) > 0 or flat


@together(GOLDEN)
def test_an_answer_is_as_short_when_simplified_again(text: str, name: str, expected: str) -> None:
    again = program_text(tidied(parse_text(expected)))
    assert len(again) <= len(expected) + 4, again


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("pi = sinh(x)*cosh(y*x); erf(pi)*pi", 1),  # the rule of erf brings in the constant
        ("d = -2*x*y*z; (x + 1)^d", 1),
        ("d = -x - sin(x) - 1; y^d", 2),
        ("k1 = (z + x)/((z + (3 - x))/x); (k1*y - z)*x", 1),
        ("k = -((y <= (x > 3)) + x); k - 2^k", 1),
        ("log((2 - x)/0.3)*(x/0.3)^y", 2),
        ("((z + cos(0.5) - x)/0.3)^exp(z)", 1),
    ],
)
def test_named_and_gathered(text: str, order: int) -> None:
    """What went wrong once, in mpmath: names that hide factors, signs and coefficients."""
    graph = formula = parse_text(text)
    raw = parse_text(text)
    for _ in range(order):
        (formula,) = simplified_derivatives(formula, ["x"])
        derived = gradient(raw, ["x"], shown)
        raw = derived.graph
        raw.output = derived.outputs[1]
    read = parse_text(program_text(formula))
    for point in ({"x": 0.3, "y": 0.7, "z": 1.2}, {"x": 1.3, "y": -0.4, "z": 0.5}):
        with mp.workdps(60):
            given = {name: point[name] for name in graph.inputs}
            values = exactly(read, {name: point[name] for name in read.inputs})
            true = exactly(raw, given)[raw.output]
            if mp.isfinite(true):
                assert abs(values[read.output] - true) < max(1, abs(true)) * mpf(10) ** -20


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("sin(x/3e160)^3", 3), ("x^1e308*x^1e308*x^1e308", 1), ("x^(2/1e16)", 2), ("x^1e300", 2),
        ("(x + x + 2*y)^1e300*x", 1), ("x*(1e300*1e300)", 1), ("1e-300*x*1e-300", 1),
        ("(" * 1100 + "x" + ")^2" * 1100, 1),
    ],
    ids=lambda cell: str(cell)[:30],
)  # fmt: skip
def test_no_number_is_too_large_to_write(text: str, order: int) -> None:
    formula = parse_text(text)
    for _ in range(order):
        (formula,) = simplified_derivatives(formula, ["x"])
    assert parse_text(program_text(formula)).kinds


@together(table("corpus.txt"), every=4)
def test_what_is_printed_is_read_back(name: str, text: str) -> None:
    """Every derivative of the corpus, as text, is the text of what it is read as."""
    graph = parse_text(text)
    for formula in simplified_derivatives(graph, list(graph.inputs)):
        written = program_text(formula)
        assert program_text(parse_text(written)) == written, text


@together(
    [
        ("x - x", "0"),
        ("(a - b)/(b - a)", "-1"),
        ("1/(x - 1) + 1/(1 - x)", "0"),
        ("1/(x - 1)^2 + 1/(1 - x)^2", "2/(1 - x)^2"),
        ("where(0.1 + 0.2 == 0.3, x, y)", "where(0.3 == 0.3, x, y)"),
        ("where(2 > 1, x, y)", "x"),
        ("abs(x)*sign(x)", "x"),
        ("x >= x", "1"),
        ("1e300 + 1e-300", "1e+300 + 1e-300"),
        ("2^x*2^(1 - x)", "2"),
        ("sqrt(2)*sqrt(8)", "4"),
        ("sqrt(x*y)*sqrt(x*y)", "x*y"),
        ("2^1.5", "2*sqrt(2)"),
        ("x^0.5*x", "x^1.5"),
        ("(x^3)^(1/3)", "(x^3)^(1/3)"),
        ("sqrt(x)*sqrt(y)", "sqrt(x)*sqrt(y)"),
        ("k1 = (p+x)*x/(p+3-x); k1*y*(p+3-x)/x", "y*(p + x)"),
        ("--x", "x"),
        ("x*1 + 0", "x"),
        ("(x*y)/(y*x)", "1"),
        ("2*3*x/6", "x"),
        ("x^2*x^3/x^4", "x"),
        ("x^a*x^b", "x^(a + b)"),
        ("1/(1/x)", "x"),
        ("(x^2)^(1/2)", "sqrt(x^2)"),
        ("sqrt(x)^2", "x"),
        ("x/sqrt(x)", "sqrt(x)"),
        ("abs(x)^2", "x^2"),
        ("sqrt(2)*sqrt(pi)*x", "x*sqrt(2*pi)"),
        ("0.1*3*x", "0.3*x"),
        ("x/3 + x/6", "x/2"),
        ("-(x - y)", "y - x"),
        ("-x + 1", "1 - x"),
        ("x*-y*-2", "2*x*y"),
        ("where(x > 0, y, y)", "y"),
        ("where(x > 0, 1, 0)*y + where(x > 0, 0, y)", "y"),
        ("sin(x)/cos(x)", "tan(x)"),
        ("exp(log(x))", "x"),
        ("2^3", "8"),
        ("2^0.5", "sqrt(2)"),
        ("0*x", "0"),
        ("x^0", "1"),
        ("inf*0", "0*inf"),
    ]
)
def test_rewrites(text: str, expected: str) -> None:
    assert program_text(tidied(parse_text(text))) == expected


@pytest.mark.parametrize("text", ["(x - 1)/(x - 1)", "(x - 1)/(1 - x)", "(x - 1)^3/(1 - x)^3"])
def test_a_quotient_of_equals_has_the_derivative_0(text: str) -> None:
    """As x/x has, wherever it is defined: its sides are not told apart by a sign."""
    assert [
        program_text(formula) for formula in simplified_derivatives(parse_text(text), ["x"])
    ] == ["0"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(x^2 - 1)/(x - 1)", "1"),
        ("(x^2 - 1)/(1 - x)", "-1"),
        ("(x^3 - 8)/(x - 2)", "2*x + 2"),
        ("(x^2 - 4)/(x - 1)", "(x^2 - 2*x + 4)/(x - 1)^2"),
        ("(x^2 - y^2)/(x - y)", "(x^2 - 2*x*y + y^2)/(x - y)^2"),
    ],
)
def test_what_divides_a_numerator_is_divided_out(text: str, expected: str) -> None:
    """Polynomials of one name alone."""
    assert [
        program_text(formula) for formula in simplified_derivatives(parse_text(text), ["x"])
    ] == [expected]


@together(
    [
        ("exp(2*x)/exp(x)", "exp(x)"),
        ("x/(1 + x/(1 + x))", "(2*x^2 + 2*x + 1)/(1 + 2*x)^2"),
        ("(x^3 - x + 1)^3*(x - x^3 - 1)^3", "6*(x - x^3 - 1)^5*(3*x^2 - 1)"),
        ("cbrt(x)/cbrt(2*x)", "0"),
        ("log(abs(x))", "1/x"),
        ("log(abs(sin(x)))", "1/tan(x)"),
        ("cos(asin(x))", "-x/sqrt(1 - x^2)"),
        ("tan(asin(x))", "1/(1 - x^2)^(3/2)"),
        ("sin(atan(x))", "1/(1 + x^2)^(3/2)"),
        ("cosh(asinh(2*x))", "4*x/sqrt(1 + 4*x^2)"),
        ("log(1 + exp(-x))", "-sigmoid(-x)"),
        ("1/(1 + exp(-x))", "sigmoid(x)*(1 - sigmoid(x))"),
        ("(x - 1)*(x - 2)*(x - 3)", "3*x^2 - 12*x + 11"),
        ("x*(1 - x)*(2 + x)", "2 - 2*x - 3*x^2"),
        ("(x - 1)/(x^2 - 1)", "-1/(x + 1)^2"),
        ("(x^2 - 3*x + 2)/(x^2 - 1)", "3/(x + 1)^2"),
        ("(x^3 - 1)/(1 - x)^2", "(x^2 - 2*x - 2)/(1 - x)^2"),
        ("x/(x^2 - x)", "-1/(x - 1)^2"),
        ("(-x - x^2 - (2 - x)^2)*exp(x)*(2*x - 1)", "exp(x)*(5*x - 4*x^3 - 4*x^2 - 7)"),
        ("(x^3 + 2*x)/(1 + x^2)", "(x^4 + x^2 + 2)/(1 + x^2)^2"),
    ]
)
def test_a_derivative_as_by_hand(text: str, expected: str) -> None:
    (found,) = simplified_derivatives(parse_text(text), ["x"])
    assert program_text(found) == expected
    points = [{"x": x} for x in (0.3, -0.7, 0.9)]
    assert hold_equal(text, points)


LOOPS = (
    "y[0] = 0; s[0] = 0; e[0] = r; u[k] = kp*e[k-1] + ki*s[k-1]*dt for k in 1..{n}; "
    "y[k] = y[k-1] + dt*(u[k] - y[k-1])/lag for k in 1..{n}; e[k] = r - y[k] for k in 1..{n}; "
    "s[k] = s[k-1] + e[k] for k in 1..{n}; y[{n}]",
    "y[0] = 0; v[0] = 0; s[0] = 0; e[0] = 1; "
    "v[k] = v[k-1] + dt*(kp*e[k-1] + ki*s[k-1] - c*v[k-1] - w*y[k-1])/m for k in 1..{n}; "
    "y[k] = y[k-1] + dt*v[k] for k in 1..{n}; e[k] = 1 - y[k] for k in 1..{n}; "
    "s[k] = s[k-1] + e[k]*dt for k in 1..{n}; sum(abs(e[k])*k*dt for k in 0..{n})",
)
"""Loops of control, of coupled recurrences."""


@pytest.mark.parametrize("loop", LOOPS)
def test_derivatives_of_recurrences_grow_with_their_steps(loop: str) -> None:
    """A step's formula uses the names of those before it, and writes none of them out."""
    sizes = [
        len(next(simplified_derivatives(parse_text(loop.format(n=n)), ["ki"])))
        for n in (40, 55, 70)
    ]
    assert sizes[2] - sizes[1] < 1.1 * (sizes[1] - sizes[0])


def test_a_tower_of_products_and_powers_is_not_too_deep() -> None:
    graph = parse_text("s[0]=x; s[k]=s[k-1]^1e-308^s[k-1]*sin(x) for k in 1..400; s[400]")
    (derivative,) = simplified_derivatives(graph, ["x"])
    assert derivative.bindings


@pytest.mark.parametrize("term", ["{0}*x", "sin({0}*x)", "{0}*x^{0}", "x{0}*x", "x{0}*y{0}"])
def test_work_grows_with_the_number_of_terms_and_inputs(term: str) -> None:
    """Four times the terms take four times the work, of whatever they are the sum."""

    def work(count: int) -> int:
        graph = parse_text(" + ".join([term.format(k) for k in range(1, count + 1)]))
        return calls(lambda: [*simplified_derivatives(graph, list(graph.inputs))])[1]

    work(10)
    assert work(800) < 4.4 * work(200)


ONES = "(sin({0})^2 + cos({0})^2)*2"
"""Twos that are found to be such only when a derivative is simplified."""


@together(
    [
        ("dot", f"z*dot({ONES.format('v')}, w)", "2*sum(w)"),
        ("trace", f"z*trace({ONES.format('M')})", "6"),
        ("softmax", f"z*sum(softmax({ONES.format('v')})*w)", "sum(w)/3"),
        (
            "one axis",
            f"z*sum(sum({ONES.format('N')} + N, axis=[1])*v)",
            "sum(v*sum(2 + N, axis=1))",
        ),
        (
            "rows repeated",
            f"z*sum(max(broadcast({ONES.format('v')} + v, shape=[4, 3]), axis=0)*v)",
            "sum(v*(2 + v))",
        ),
        (
            "matrices repeated",
            f"z*sum(sum(broadcast({ONES.format('N')} + N, shape=[5, 3, 4]), axis=[0, 1])*u)",
            "5*sum(u*sum(2 + N, axis=0))",
        ),
        ("a part", f"z*sum(concat({ONES.format('v')} + v, w)[0:2])", "sum(concat(2 + v, w)[0:2])"),
    ]
)
def test_structure_is_simplified_as_by_hand(what: str, text: str, expected: str) -> None:
    shapes = {"z": (), "v": (3,), "w": (3,), "u": (4,), "M": (3, 3), "N": (3, 4)}
    graph = parse_text(text)
    known = {name: shapes[name] for name in graph.inputs}
    (found,) = simplified_derivatives(at_shapes(graph, text, known), ["z"])
    assert program_text(found) == expected, what


@together(
    [
        ("transpose(M)@transpose(M)", "M", "(C @ M).T + (M @ C).T"),
        ("reshape(reshape(M, [9]), [3, 3])", "M", "C"),
    ]
)
def test_structure_of_a_matrix_is_simplified_as_by_hand(
    part: str, name: str, expected: str
) -> None:
    text = f"sum(C*({part}))"
    (found,) = simplified_derivatives(
        at_shapes(parse_text(text), text, {"C": (3, 3), "M": (3, 3)}), [name]
    )
    assert program_text(found) == expected
