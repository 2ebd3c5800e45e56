"""Derivatives and roots inside of formulas, from graphs as the language leaves them."""

from __future__ import annotations

import math

import pytest

from counting import calls
from exprgrad.errors import LanguageError
from exprgrad.graph.graph import Binding
from exprgrad.language.write.infix import program_text
from invariants import check
from placeholders import Hand, kepler


def test_a_derivative_becomes_nodes() -> None:
    hand = Hand()
    x = hand.input("x")
    graph = hand.resolved(hand.d(hand.apply("pow", x, 3.0), x))
    check(graph)
    assert program_text(graph) == "3*x^2"
    (call,) = graph.calls
    assert (call.kind, call.name, call.result, call.parent) == ("derivative", "d", graph.output, -1)
    assert set(graph.called) == {node for node, kind in enumerate(graph.kinds) if kind != "input"}


@pytest.mark.parametrize(
    ("order", "expected"), [(1, "4*x^3"), (2, "12*x^2"), (3, "24*x"), (4, "24"), (5, "0")]
)
def test_orders(order: int, expected: str) -> None:
    hand = Hand()
    x = hand.input("x")
    f = hand.expression(hand.d(hand.apply("pow", x, 4.0), x, order))
    for value in (-1.5, 0.0, 2.0):
        assert f(x=value) == eval(expected.replace("^", "**"), {"x": value})


def test_the_nodes_of_high_orders_do_not_double() -> None:
    sizes = []
    for order in (4, 8):
        hand = Hand()
        x = hand.input("x")
        body = hand.apply("mul", x, hand.apply("exp", hand.apply("sin", x)))
        sizes.append(len(hand.resolved(hand.d(body, x, order))))
    assert sizes[1] < 6 * sizes[0]


def test_what_a_body_does_not_read_has_derivative_0() -> None:
    hand = Hand()
    x, y = hand.inputs("x y")
    f = hand.expression(hand.apply("add", hand.d(hand.apply("pow", x, 2.0), y), y))
    assert f(x=3, y=4) == 4
    hand = Hand()
    x = hand.input("x")
    assert hand.expression(hand.d(x, x))(x=3) == 1


def test_a_named_node_is_a_variable() -> None:
    hand = Hand()
    x = hand.input("x")
    u = hand.apply("mul", x, x)
    hand.graph.bindings.append(Binding("u", u, (0, 1)))
    f = hand.expression(hand.d(hand.apply("mul", hand.apply("sin", u), x), u))
    assert f(x=0.5) == math.cos(0.25) * 0.5
    assert f.inputs == ("x",)


def test_a_parameter_is_not_what_it_was_given() -> None:
    hand = Hand()  # f(r) = d(r*a, r); f(a)
    a = hand.input("a")
    r = hand.apply("parameter", a)
    graph = hand.resolved(hand.d(hand.apply("mul", r, a), r))
    check(graph)
    assert program_text(graph) == "a"


def test_derivatives_nest() -> None:
    hand = Hand()
    x, y = hand.inputs("x y")
    body = hand.apply("mul", hand.apply("pow", x, 3.0), hand.apply("pow", y, 2.0))
    f = hand.expression(hand.d(hand.d(body, x), y))
    assert f(x=2, y=5) == 3 * 2**2 * 2 * 5
    run = f.gradient(x=2, y=5)
    assert run.gradient == {"x": 6 * 2 * 2 * 5, "y": 3 * 2**2 * 2}


def test_what_only_the_body_needs_is_gone() -> None:
    hand = Hand()
    x = hand.input("x")
    graph = hand.resolved(hand.d(hand.apply("sin", hand.apply("mul", x, 2.0)), x))
    assert "sin" not in graph.kinds


def test_what_only_a_derivative_reads_belongs_to_it() -> None:
    hand = Hand()
    x = hand.input("x")
    shared = hand.apply("exp", x)
    inner = hand.apply("cos", shared)
    out = hand.apply("add", hand.d(hand.apply("exp", inner), x), shared)
    graph = hand.resolved(out)
    called = {graph.kinds[node] for node in graph.called}
    assert "cos" in called and "exp" in called  # that of the cosine
    (first,) = [n for n, k in enumerate(graph.kinds) if k == "exp" and graph.operands[n] == (0,)]
    assert first not in graph.called  # the sum reads it, too


@pytest.mark.parametrize("steps", [50])
def test_steps_with_a_derivative_each_take_linear_time(steps: int) -> None:
    def newton(count: int) -> tuple[int, int]:
        hand = Hand()
        a = x = hand.input("a")
        for _ in range(count):
            p, q = hand.apply("parameter", x), hand.apply("parameter", x)
            value = hand.apply("sub", hand.apply("mul", p, p), a)
            other = hand.apply("sub", hand.apply("mul", q, q), a)
            x = hand.apply("sub", x, hand.apply("div", value, hand.d(other, q)))
        graph, work = calls(lambda: hand.resolved(x))
        return len(graph), work

    newton(steps)
    (short, quick), (long, slow) = newton(steps), newton(10 * steps)
    assert long < 11 * short
    assert slow < 11 * quick


def test_it_needs_a_name_that_can_vary() -> None:
    hand = Hand()
    x, y = hand.inputs("x y")
    with pytest.raises(LanguageError, match=r"needs a name .* is a constant"):
        hand.resolved(hand.d(hand.apply("pow", x, 2.0), hand.number(3.0)))
    hand = Hand()
    x, y = hand.inputs("x y")
    with pytest.raises(LanguageError, match="needs a name to differentiate with respect to, not"):
        hand.resolved(hand.d(x, hand.apply("add", x, y)))


def test_it_is_for_numbers() -> None:
    hand = Hand()
    x = hand.input("x")
    with pytest.raises(LanguageError, match="formulas of numbers"):
        hand.resolved(hand.d(hand.apply("sum", x, payload=(None, False)), x))


def test_a_root_is_one_operation() -> None:
    graph = kepler().graph
    check(graph)
    assert program_text(graph) == "root(E - e*sin(E) - M, E, M)"
    assert len(graph) == 3
    assert [call.kind for call in graph.calls] == ["root"]


def test_what_does_not_depend_on_the_unknown_is_beside_it() -> None:
    hand = Hand()
    t, n, e = hand.inputs("t n e")
    unknown = hand.unknown("E")
    mean = hand.apply("mul", n, t)
    left = hand.apply("sub", unknown, hand.apply("mul", e, hand.apply("sin", unknown)))
    graph = hand.resolved(hand.root(hand.apply("sub", left, mean), unknown, 1.0))
    assert graph.kinds.count("mul") == 1
    assert program_text(graph) == "root(E - e*sin(E) - n*t, E, 1)"
    (product,) = [node for node, kind in enumerate(graph.kinds) if kind == "mul"]
    assert graph.called[product] == graph.called[graph.output] == 0


def test_the_same_equation_is_the_same_row() -> None:
    assert kepler().graph.kinds == kepler().graph.kinds


def test_an_equation_has_its_unknown() -> None:
    hand = Hand()
    x, unknown = hand.input("x"), hand.unknown("E")
    with pytest.raises(LanguageError, match="does not depend on its unknown, E"):
        hand.resolved(hand.root(hand.apply("mul", x, 2.0), unknown, 1.0))


def test_a_derivative_inside_of_an_equation() -> None:
    hand = Hand()  # where the slope of r^4 - a*r^2 is 0
    a, r = hand.input("a"), hand.unknown("r")
    energy = hand.apply(
        "sub", hand.apply("pow", r, 4.0), hand.apply("mul", a, hand.apply("pow", r, 2.0))
    )
    f = hand.expression(hand.root(hand.d(energy, r), r, 1.0))
    run = f.gradient(a=3)
    assert run.value == pytest.approx(math.sqrt(1.5), rel=1e-15)
    assert run.gradient["a"] == pytest.approx(0.25 / math.sqrt(1.5), rel=1e-15)


def test_a_derivative_of_a_root() -> None:
    hand = Hand()
    mean, e, unknown = hand.input("M"), hand.input("e"), hand.unknown("E")
    left = hand.apply("sub", unknown, hand.apply("mul", e, hand.apply("sin", unknown)))
    root = hand.root(hand.apply("sub", left, mean), unknown, mean)
    f = hand.expression(hand.d(root, mean))
    g = kepler()
    assert f(M=1, e=0.3) == g.gradient(M=1, e=0.3).gradient["M"]
    assert f.gradient(M=1, e=0.3).gradient["M"] == pytest.approx(
        g.hessian(M=1, e=0.3)["M"]["M"], rel=1e-14
    )


def test_roots_in_roots_are_refused_where_they_are_too_deep() -> None:
    def nested(depth: int) -> Hand:
        hand = Hand()
        inner = x = hand.input("x")
        unknowns = [hand.unknown(f"u{at}") for at in range(depth)]
        for at, unknown in enumerate(unknowns):
            outside = unknowns[at + 1] if at + 1 < depth else x
            body = hand.apply(
                "sub", hand.apply("mul", unknown, unknown), hand.apply("add", inner, outside)
            )
            inner = hand.root(body, unknown, 1.0)
        hand.resolved(inner)
        return hand

    nested(2)
    with pytest.raises(LanguageError, match="3 deep at most"):
        nested(5)
