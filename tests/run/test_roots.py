"""Roots of equations, found or not: in doubles, over arrays and columns, in balls and in generated code."""

from __future__ import annotations

import math
from pathlib import Path
from random import Random

import mpmath
import numpy as np
import pytest

import exprgrad
from exprgrad.derive.placeholders import root_row
from exprgrad.derive.search import OUT
from exprgrad.derive.sweeps.gradient import gradient
from exprgrad.graph.graph import CONST, INPUT
from exprgrad.language.code.targets import TARGETS
from exprgrad.language.read.parse import parse_text
from exprgrad.run.arrays import arrays
from exprgrad.run.balls.balls import enclose_nodes, has_balls
from exprgrad.run.numbers.sweeps import functions
from placeholders import Hand, kepler
from programs import Program, run

FOUND = {
    "out^2 - 2": ([1.0], 2**0.5),
    "out^2 - 2 ": ([0.0, 2.0], 2**0.5),
    "out - 2": ([2.0, 3.0], 2.0),
    "out - 3": ([2.0, 3.0], 3.0),
    "log(out)": ([0.0, 5.0], 1.0),
    "log(out) ": ([0.5], 1.0),
    "cos(out) - out": ([0.0], 0.7390851332151607),
    "atan(out)": ([3.0], 0.0),
    "atan(out) ": ([1e10], 0.0),
    "exp(out) - 1e300": ([0.0], math.log(1e300)),
    "out*exp(out) - 1": ([0.0], 0.5671432904097838),
    "1e-12*(exp(out/0.026) - 1) - (5 - out)/1000": ([0.6], 0.5774594837846935),
    "out - 1e-200": ([-1.0, 1.0], 1e-200),
    "abs(out) - 1": ([5.0], 1.0),
    "(out - 1)^2": ([3.0], 1.0),
    "out^3": ([-1.0, 2.0], 0.0),
    "exp(out) - exp(-300)": ([700.0], -300.0),
    "out^2": ([1.0], 0.0),
}
"""An equation, where its root is looked for, and the root."""
NOT_FOUND = {
    "out^2 + 1": [1.0],
    "out - 5": [2.0, 3.0],
    "1/out": [-1.0, 2.0],
    "1/out ": [1.0],
    "1/(out - 1)": [0.0, 3.0],
    "tan(out)": [1.0, 2.0],
    "where(out < 1, out - 5, out + 5)": [0.0, 3.0],
    "exp(-out)": [0.0, 20.0],
    "exp(out) + 2.2": [50.0],
    "exp(out) + 1": [60.0],
    "log(out)  ": [-1.0],
    "nan*out": [1.0],
}
"""Equations without a root there: with poles and leaps, which change the sign too, among them."""
NEAR_EDGES = [
    ("log(out) + 30", 5.0),
    ("log(out) - 1", 1e100),
    ("-log(out) - 100", 1.0),
    ("out^0.1 - 0.0001", 1.0),
    ("1/sqrt(out) - 1e6", 1.0),
    ("1/out - 1e8", 5.0),
    ("1/(out - 3) - 1e9", 100.0),
]
"""Equations whose roots lie by the edge of the domain or a pole, and far starts."""


def solved(text: str, ends: list[float]) -> float:
    row = root_row("E", parse_text(text.strip()), [], is_bracketed=len(ends) == 2)
    return functions[row.name](*ends)


@pytest.mark.parametrize("text", FOUND)
def test_roots_are_found_to_the_last_digits(text: str) -> None:
    ends, expected = FOUND[text]
    assert solved(text, ends) == pytest.approx(expected, rel=2e-16, abs=1e-100)


@pytest.mark.parametrize(("text", "start"), NEAR_EDGES)
def test_a_search_that_steps_out_of_the_domain_comes_back(text: str, start: float) -> None:
    root = solved(text, [start])
    beside = [math.nextafter(root, -math.inf), root, math.nextafter(root, math.inf)]
    residuals = [exprgrad.parse(text).evaluate(out=x).value for x in beside]
    assert 0.0 in residuals or min(residuals) < 0 < max(residuals)


@pytest.mark.parametrize("text", NOT_FOUND)
def test_what_is_not_found_is_nan(text: str) -> None:
    assert math.isnan(solved(text, NOT_FOUND[text]))


def test_a_root_lies_between_the_two_doubles_where_the_sign_changes() -> None:
    random = Random(7)
    for _ in range(60):
        c = random.uniform(-3, 3)
        root = solved(f"out^3 + out - {c!r}", [-5.0, 5.0])
        signs = {
            math.copysign(1, x**3 + x - c)
            for x in (root, math.nextafter(root, 9), math.nextafter(root, -9))
        }
        assert signs == {1.0, -1.0} or root**3 + root == c


def true_kepler(m: float, e: float, near: float) -> tuple[mpmath.mpf, mpmath.mpf, mpmath.mpf]:
    with mpmath.workdps(40):
        anomaly = mpmath.findroot(lambda x: x - mpmath.mpf(e) * mpmath.sin(x) - mpmath.mpf(m), near)
        slope = 1 - mpmath.mpf(e) * mpmath.cos(anomaly)
        return anomaly, 1 / slope, mpmath.sin(anomaly) / slope


def ulps(found: float, true: mpmath.mpf) -> float:
    return abs(float(mpmath.mpf(found) - true)) / math.ulp(float(true))


def test_a_search_that_no_change_of_sign_bounds_gives_up_soon(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    turns: list[float] = []

    def erf(x: float) -> float:
        turns.append(x)
        return x

    monkeypatch.setitem(functions, "erf", erf)
    assert math.isnan(solved("out + out^0.5 + 0*erf(out)", [1.0]))
    assert 50 < len(turns) <= 210


def test_keplers_equation_and_its_gradient() -> None:
    random, f = Random(1), kepler()
    for _ in range(100):
        m, e = random.uniform(-math.pi, math.pi), random.uniform(0, 0.95)
        found = f.gradient(M=m, e=e)
        true = true_kepler(m, e, found.value)
        # sin(E)/(1 - e*cos(E)) feels what E itself is off by, where sin(E) is small
        slope = 1 - e * math.cos(found.value)
        felt = abs(math.cos(found.value) - e) / slope**2 * float(abs(found.value - true[0]))
        assert abs(found.gradient["e"] - float(true[2])) <= 5 * math.ulp(float(true[2])) + felt


def operations(graph: object) -> int:
    kinds = graph.kinds  # type: ignore[attr-defined]
    return sum(kind not in (INPUT, CONST) for kind in kinds)


def test_the_derivative_costs_one_sweep_over_the_equation_and_no_search() -> None:
    hand = Hand()
    names = hand.inputs("a b c d f g")
    unknown = hand.unknown("E")
    body = unknown
    for name in names:  # each makes the equation longer by the same
        body = hand.apply("add", hand.apply("mul", name, hand.apply("exp", unknown)), body)
    graph = hand.resolved(hand.root(body, unknown, 0.0))
    made = gradient(graph, [*graph.inputs]).graph
    row = next(kind for kind in made.kinds if kind.startswith("root"))
    assert made.kinds.count(row) == 1
    equation = 3 * len(names)
    assert operations(made) - 1 < 2.5 * equation


def test_second_derivatives() -> None:
    m, e = 1.0, 0.3
    found = kepler().hessian(M=m, e=e)
    anomaly, by_m, by_e = (float(x) for x in true_kepler(m, e, 1.3))
    slope = 1 - e * math.cos(anomaly)
    assert found["M"]["M"] == pytest.approx(-e * math.sin(anomaly) * by_m / slope**2, rel=1e-14)
    mixed = math.cos(anomaly) / slope**2 - e * math.sin(anomaly) * by_e / slope**2
    assert found["M"]["e"] == found["e"]["M"] == pytest.approx(mixed, rel=1e-13)


def test_products_with_directions() -> None:
    f = kepler()
    run = f.gradient(M=1, e=0.3)
    assert f.jvp(M=1, e=0.3, tangent={"M": 2.0, "e": 0.0}) == pytest.approx(
        2 * run.gradient["M"], rel=1e-15
    )


def test_arrays_are_solved_all_at_once() -> None:
    f, means = kepler(), np.linspace(-3, 3, 12).reshape(3, 4)
    found = f.evaluate(M=means, e=0.5).value
    assert found.shape == (3, 4)
    singles = [f(M=m, e=0.5) for m in means.ravel()]
    assert np.allclose(found.ravel(), singles, rtol=4e-16, atol=1e-300)
    row = f.graph.kinds[f.graph.output]
    assert np.isnan(
        arrays.array_function(row)(np.array([0.5]), np.array([np.nan]), np.array([1.0]))
    ).all()


@pytest.mark.parametrize("engine", ["numpy", "jax", "native", None])
def test_columns(engine: str | None) -> None:
    if engine == "jax":
        pytest.importorskip("jax")
    if engine == "native":
        pytest.importorskip("llvmlite")
    f, rng = kepler(), np.random.default_rng(3)
    columns = {"M": rng.uniform(-3, 3, 500), "e": rng.uniform(0, 0.9, 500)}
    value, slopes = f.compile(engine)(columns)
    for at in range(0, 500, 50):
        one = f.gradient(M=columns["M"][at], e=columns["e"][at])
        assert value[at] == pytest.approx(one.value, rel=4e-16)
        assert slopes["e"][at] == pytest.approx(one.gradient["e"], rel=1e-13, abs=1e-15)
    assert (
        value[:3].tolist()
        == f.compile(engine)({k: c[:3] for k, c in columns.items()}).value.tolist()
    )
    if engine in ("numpy", None):
        exact, _ = f.compile(engine, precise=True)(columns)
        assert exact[0] == f(M=columns["M"][0], e=columns["e"][0])


@pytest.mark.parametrize("target", [name for name in TARGETS if not TARGETS[name].columns])
def test_code(target: str, tmp_path: Path) -> None:
    f, points = kepler(), [[1.0, 0.3], [-2.5, 0.9], [0.0, 0.5], [3.0, 0.99]]
    program = Program(f.code(target), "f", 2, points)
    ((*answers,),) = run(target, [program], tmp_path)
    for (m, e), answer in zip(points, answers, strict=True):
        one = f.gradient(M=m, e=e)
        assert answer.value == pytest.approx(one.value, rel=4e-16)
        assert answer.gradient == pytest.approx([*one.gradient.values()], rel=1e-13)


@pytest.mark.skipif(not has_balls(), reason="there is no python-flint")
def test_balls_hold_the_root() -> None:
    random, graph = Random(5), kepler().graph
    for _ in range(20):
        m, e = random.uniform(-3, 3), random.uniform(0, 0.95)
        ball = enclose_nodes(graph, {"M": m, "e": e}, 128)[graph.output]
        true, *_ = true_kepler(m, e, float(ball.mid()))
        assert ball.is_finite()
        with mpmath.workdps(40):
            assert abs(mpmath.mpf(ball.mid().str(38, radius=False)) - true) < mpmath.mpf(10) ** -34


@pytest.mark.skipif(not has_balls(), reason="there is no python-flint")
@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("(3*out - 1)^2", [1.0]),  # a double root that is no double
        ("exp(-out)", [1.0]),  # none: the residual is 0 by underflow
        ("out + floor(out) - 3.5", [1.0]),  # it jumps
        ("out^2 - 2*out + 1", [3.0]),
    ],
)
def test_balls_say_nothing_of_what_they_cannot_prove(text: str, ends: list[float]) -> None:
    residual = parse_text(text)
    row = root_row("E", residual, [], is_bracketed=len(ends) == 2)
    hand = Hand()
    graph = hand.graph
    graph.output = hand.apply(row.name, *ends)
    ball = enclose_nodes(graph, {}, 128)[graph.output]
    assert not ball.is_finite()
    assert OUT in residual.inputs


def test_a_kink_of_the_equation_is_one_of_the_root() -> None:
    hand = Hand()  # 3*x or x, on either side of 0
    a, x = hand.input("a"), hand.unknown("x")
    left = hand.apply("add", hand.apply("abs", x), hand.apply("mul", x, 2.0))
    f = hand.expression(hand.root(hand.apply("sub", left, a), x, -1.0, 2.0))
    assert f.gradient(a=0.6).gradient == {"a": pytest.approx(1 / 3, rel=1e-15)}
    assert [flag.code for flag in f.gradient(a=0).diagnostics][:1] == ["kink"]
    (check,) = f.check(a=0)
    assert (check.verdict, check.left) == ("kink", 1.0)
    assert check.right == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("ends", "said"),
    [
        ([1.0], "Newton's method does not converge from x = 1"),
        ([3.0, 4.0], "its formula is 10 at x = 3 and 17 at x = 4"),
    ],
)
def test_why_a_root_is_not_found(ends: list[float], said: str) -> None:
    hand = Hand()
    a, x = hand.input("a"), hand.unknown("x")
    f = hand.expression(hand.root(hand.apply("add", hand.apply("mul", x, x), a), x, *ends))
    run_ = f.gradient(a=1)
    assert math.isnan(run_.value)
    (first, *rest) = run_.diagnostics
    assert (first.code, first.severity) == ("nan", "warning")
    assert f"the root is not found: {said}" in first.message
    assert first.help
    assert not [one for one in rest if one.code == "lost-digits"]


def test_a_slope_of_0_is_told() -> None:
    found = kepler().gradient(M=0, e=1).diagnostics
    assert "the slope of its equation is 0 at the root, E = 0" in found[0].message


def test_an_unknown_is_called_otherwise_where_an_input_has_its_name() -> None:
    hand = Hand()
    e, x = hand.input("x"), hand.unknown("x")
    square = hand.apply("mul", x, x)
    f = hand.expression(hand.root(hand.apply("sub", square, hand.apply("mul", e, 2.0)), x, 1.0))
    assert str(f) == "root(x_*x_ - x*2, x_, 1)"
    assert f(x=8) == 4


def test_latex() -> None:
    assert kepler().latex() == r"\operatorname{root}_{E = M}(E - e \sin E - M)"


def test_steps() -> None:
    assert kepler().steps("e").startswith("1. implicit function theorem: minus the derivative")


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_columns_of_several_roots_in_one_another(engine: str) -> None:
    pytest.importorskip("llvmlite" if engine == "native" else "numpy")
    hand = Hand()
    a, b, x, y = hand.input("a"), hand.input("b"), hand.unknown("x"), hand.unknown("y")
    inner = hand.root(hand.apply("sub", hand.apply("mul", y, y), hand.apply("exp", x)), y, 1.0)
    outer = hand.root(hand.apply("sub", inner, a), x, 0.0)  # exp(x/2) = a
    scaled = hand.apply("mul", outer, b)
    z = hand.unknown("z")
    last = hand.root(
        hand.apply("sub", hand.apply("add", z, hand.apply("sinh", z)), scaled), z, -9.0, 9.0
    )
    f = hand.expression(last)
    columns = {"a": np.linspace(0.5, 3, 40), "b": np.linspace(-1, 1, 40)}
    value, slopes = f.compile(engine)(columns)
    for at in range(0, 40, 13):
        one = f.gradient(a=columns["a"][at], b=columns["b"][at])
        assert value[at] == pytest.approx(one.value, rel=1e-14, abs=1e-15)
        assert slopes["a"][at] == pytest.approx(one.gradient["a"], rel=1e-12)
