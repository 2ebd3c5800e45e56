"""``f.function()``: the sweep's numbers to the bit, no name of the user's, and what is refused."""

from __future__ import annotations

import ast
import math
import re
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import exprgrad
from exprgrad.graph.ops import OPS, Op
from exprgrad.run.engines.point_function import point_texts
from strategies import INPUTS, apply, expressions

LEAVES = ("x", "y", "2", "0.5", "pi")
SPECIAL = (
    0.0, -0.0, 1.0, -1.0, 0.5, -2.0, 3.0, math.inf, -math.inf, math.nan, 5e-324, 1e308, -1e308, 710.5,
)  # fmt: skip
NUMBERS = st.sampled_from(SPECIAL) | st.floats(width=64)
OURS = re.compile(
    r"v\d+|[xyft]|f_\w+|math|careful|abs|float|round|cbrt|\w+Error|t\d+|high|rest|bell|gap"
)
"""Every name that is compiled."""


def is_same(one: float, other: float) -> bool:
    """Whether two numbers are one double, zeros of either sign alike."""
    return one == other or (one != one and other != other)


def is_near(one: float, other: float) -> bool:
    """Whether two numbers differ by rounding at most."""
    return is_same(one, other) or math.isclose(one, other, rel_tol=1e-13)


def assert_swept(f: exprgrad.Expression, order: int, points: list[tuple[float, ...]]) -> None:
    """The function finds what the sweep finds, at some points."""
    h = f.function(order=order)
    for point in points:
        run = f.gradient(dict(zip(f.inputs, point, strict=True)))
        found = h(*point)
        alike = is_near if "logsumexp" in f.graph.kinds else is_same
        assert alike(found[0], run.value), point
        assert all(map(alike, found[1], run.swept.values())), (point, found, run.swept)


@given(expressions(LEAVES), st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=8))
def test_the_numbers_are_the_sweeps(text: str, points: list[tuple[float, float]]) -> None:
    f = exprgrad.parse(text)
    assert_swept(f, 1, [point[: len(f.inputs)] for point in points])


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_each_operation_keeps_nan_and_infinities(op: Op) -> None:
    names = ["x", "y", "z"] if op.variadic else list(op.names)
    f = exprgrad.parse(apply(op, names))
    points = [*product(SPECIAL, repeat=len(f.inputs))][:: 1 if len(f.inputs) < 3 else 37]
    assert_swept(f, 1, points)


def test_the_hessian_is_the_sweeps() -> None:
    f = exprgrad.parse("x^3*y + exp(x/y)*atan2(y, x)")
    h = f.function(order=2)
    for point in product((0.5, -2.0, 3.0, 1.7), repeat=2):
        given = dict(zip(f.inputs, point, strict=True))
        value, gradient, hessian = h(*point)
        assert (value, [*gradient]) == (f(given), [*f.gradient(given).swept.values()])
        assert [[*row] for row in hessian] == [[*row.values()] for row in f.hessian(given).values()]


def test_vectors_and_matrices() -> None:
    f = exprgrad.parse("(1 - x)^2 + 100*(y - x^2)^2")
    h = f.function()
    value, gradient = h.vector(np.array([0.5, 2]))
    assert (value, gradient.tolist()) == (306.5, [-351.0, 350.0])
    assert h.hessian([1, 1]).tolist() == [[802.0, -400.0], [-400.0, 200.0]]
    assert f.function(order=2).vector([1, 1])[0] == 0


def test_minimize_takes_it() -> None:
    optimize = pytest.importorskip("scipy.optimize")
    h = exprgrad.parse("(1 - x)^2 + 100*(y - x^2)^2").function()
    found = optimize.minimize(h.vector, [-1, 2], jac=True, hess=h.hessian, method="trust-exact")
    assert np.allclose(found.x, 1)


def test_wrt_chooses_and_orders() -> None:
    f = exprgrad.parse("x*y^2")
    assert f.function(["y", "x"])(2.0, 3.0) == (18.0, (12.0, 9.0))
    assert f.function(["y"], order=2)(2.0, 3.0) == (18.0, (12.0,), ((4.0,),))
    assert f.function(iter(["y", "x"]), order=2)(2.0, 3.0)[2] == ((4.0, 6.0), (6.0, 0.0))
    assert exprgrad.parse("pi").function()() == (math.pi, ())


def names_compiled(text: str) -> set[str]:
    """The names in a text; asserts that its literals are numbers, and what we say of a helper."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            assert re.match("math|IEEE|-1|The |x %", node.value), ast.dump(node)
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.arg)):
            found.add(node.name if isinstance(node, ast.FunctionDef) else node.arg)
        elif isinstance(node, ast.Attribute):
            assert isinstance(node.value, ast.Name)
            assert node.value.id == "math"
        elif isinstance(node, (ast.Import, ast.ImportFrom, ast.Global, ast.Lambda, ast.JoinedStr)):
            pytest.fail(ast.dump(node))
    return found


THEIRS = (
    "secret = theirs^2; évil = cbrt(secret); secret*évil + exec*__import__ + abs",
    "their_function(a_) = a_^2 + 1; their_function(their_input) + gamma(their_input)",
    "root(their_root^3 + their_root - their_k, their_root, 1)*their_k",
    "root(cos(theirs) - theirs*k, theirs, 0, 2)",
    "where(theirs < 1, normcdf(theirs), logsumexp(theirs, 1, 2))",
)


@pytest.mark.parametrize("text", THEIRS)
@pytest.mark.parametrize("order", [1, 2])
def test_no_name_of_theirs_is_compiled(text: str, order: int) -> None:
    f = exprgrad.parse(text)
    for written in point_texts(f.graph, f.inputs, order):
        strange = [name for name in names_compiled(written) if not OURS.fullmatch(name)]
        assert not strange
        assert not re.search("their|secret|vil|exec|import", written)


@given(expressions(INPUTS))
def test_no_name_of_an_expression_is_compiled(text: str) -> None:
    f = exprgrad.parse(text)
    for written in point_texts(f.graph, f.inputs, 1):
        assert all(map(OURS.fullmatch, names_compiled(written)))


def test_a_number_that_is_missing_is_named() -> None:
    h = exprgrad.parse("rate*λ^2 + v7*x").function()
    with pytest.raises(TypeError, match=r"missing 2 required positional arguments: 'v7' and 'x'"):
        h(1.0, 2.0)
    with pytest.raises(TypeError, match=r"missing 1 required positional argument: 'x'"):
        h.vector(np.array([1.0, 2.0, 3.0]))
    with pytest.raises(TypeError, match=r"missing 1 required positional argument: 'x'"):
        h.hessian(np.array([1.0, 2.0, 3.0]))
    assert h(1.0, 2.0, 3.0, 5.0) == (19.0, (4.0, 4.0, 5.0, 3.0))


def test_what_is_refused() -> None:
    for f in (exprgrad.parse("sum(x)"), exprgrad.parse("x*y", shapes={"x": (3,)})):
        with pytest.raises(exprgrad.RequestError, match="not tensors") as caught:
            f.function()
        assert "f.compile()" in str(caught.value.help)
    with pytest.raises(exprgrad.RequestError, match="no function of order 3"):
        exprgrad.parse("x^2").function(order=3)
    with pytest.raises(exprgrad.InputError):
        exprgrad.parse("x^2").function(["z"])
