"""Formulas put together in Python: operators, inputs replaced, and simplified."""

from __future__ import annotations

import math
import operator
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exprgrad import Expression, InputError, LanguageError, parse
from strategies import programs

F, G = parse("x^2*y"), parse("x + 1")


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (F + G, "x^2*y + (x + 1)"),
        (F - 1, "x^2*y - 1"),
        (1 - F, "1 - x^2*y"),
        (F / G, "x^2*y/(x + 1)"),
        (2**F, "2^(x^2*y)"),
        (-F % 3, "-(x^2*y)%3"),
        (+F, "x^2*y"),
        (F * F, "f = x^2*y; f*f"),
        ((F + G) * (F - G), "t1 = x^2*y; t2 = x + 1; (t1 + t2)*(t1 - t2)"),
        (F.subs(x=G), "(x + 1)^2*y"),
        (F.subs(x="y", y="x"), "y^2*x"),
        (F.subs({"x": "u + v", "y": -0.5}), "(u + v)^2*-0.5"),
        (parse("x^2 + x").subs(x="sin(u)"), "x = sin(u); x^2 + x"),
        (parse("x^2 + x").subs(x="x + 1"), "t1 = x + 1; t1^2 + t1"),
        (parse("v = a*b; v + v^2").subs(a="v + 1"), "t1 = (v + 1)*b; t1 + t1^2"),
        (parse("f(t) = t*t; f(x)").subs(x="2*u"), "x = 2*u; x*x"),
        (parse("d(x^3, x) + y").subs(y="root(E^3 - z, E, 1)"), "3*x^2 + root(E^3 - z, E, 1)"),
        (parse("x*x + x*x").simplify(), "2*x^2"),
        (F.derivative("y") + 0, "x^2 + 0"),
    ],
)
def test_the_text_of_the_formula(made: Expression, text: str) -> None:
    assert made.text == text
    assert pickle.loads(pickle.dumps(made)) == made == parse(text)


@pytest.mark.parametrize("join", [operator.add, operator.sub, operator.mul, operator.truediv])
@settings(max_examples=15)
@given(programs(), programs(), st.floats(0.1, 2))
def test_the_value_is_that_of_the_parts(
    join: Callable[[Any, Any], Any], one: str, other: str, x: float
) -> None:
    """To the bit."""
    f, g = parse(one), parse(other)
    parts = [part(dict.fromkeys(part.inputs, x)) for part in (f, g)]
    try:
        whole = join(*parts)
    except ZeroDivisionError:
        return
    made = join(f, g)
    found = made(dict.fromkeys(made.inputs, x))
    assert found == whole or (math.isnan(found) and math.isnan(whole))


@settings(max_examples=30)
@given(programs(), programs(), st.floats(0.1, 2))
def test_what_stands_for_an_input_is_worked_out_once(one: str, other: str, x: float) -> None:
    f, g = parse(one), parse(other)
    replaced = [*f.inputs][:1]
    inner = g(dict.fromkeys(g.inputs, x))
    made = f.subs(dict.fromkeys(replaced, g))
    found = made(dict.fromkeys(made.inputs, x))
    wanted = f({name: inner if name in replaced else x for name in f.inputs})
    assert found == wanted or (math.isnan(found) and math.isnan(wanted))


def test_a_loop_makes_a_short_formula() -> None:
    f = parse("x")
    for _ in range(40):
        f = f * parse("y") + f
    assert len(f.text) < 1000 and f(x=1, y=1) == 2.0**40


def test_shapes_go_along() -> None:
    f = parse("sum(W @ x)", shapes={"W": (2, 3), "x": (3,)})
    assert (2 * f).shapes == f.shapes
    assert f.subs(x="[1, 2, 3]").shapes == {"W": (2, 3)}
    assert f.subs(x="[1, 2, 3]").derivative("W")(W=[[0] * 3] * 2).tolist() == [[1, 2, 3]] * 2


def test_what_can_not_be_put_together() -> None:
    others: list[Any] = ["x", [1.0], 1j, None]
    for other in others:
        with pytest.raises(TypeError, match="unsupported operand"):
            F + other
    with pytest.raises(InputError, match="'z' is not an input"):
        F.subs(z=1)
    with pytest.raises(InputError, match="the value of 'x' is not a number: list"):
        F.subs(x=[1, 2])
    with pytest.raises(LanguageError, match="an operand is missing"):
        F.subs(x="u +")
