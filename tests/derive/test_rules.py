"""The rules: what is computed equals what is read, and every convention of the subgradients."""

from __future__ import annotations

import math
from random import Random
from typing import Any

import pytest

import exprgrad
from exprgrad.derive.build import GraphBuilder
from exprgrad.derive.rules import operation_count, rule_slots, template
from exprgrad.derive.sweeps import walks
from exprgrad.derive.sweeps.walks import specialise_rule
from exprgrad.graph.ops import BY_NAME, OPS, Op
from exprgrad.language.read.parse import parse_text
from exprgrad.run.numbers.sweeps import forward_numbers, reverse_sweep
from oracles import Real, computed, evaluate, holds, is_special, mp, mpf, reference, ulp
from strategies import points
from together import together


def gradient(text: str, inputs: dict[str, float], wrt: str | None = None) -> dict[str, float]:
    """The sweep's grads by name; a constant or what is not differentiated is left out."""
    graph = parse_text(text)
    values = forward_numbers(graph, inputs)
    chosen = wrt.split() if wrt else list(graph.inputs)
    adjoints = reverse_sweep(graph, values, [graph.inputs[name] for name in chosen])
    return {name: adjoints.grads[graph.inputs[name]] or 0.0 for name in chosen}


@together([op for op in OPS if op.display_partials])
def test_shown_and_computed_partials_are_equal_in_real_arithmetic(op: Op) -> None:
    """Where a row is an approximation, its partial may be one too."""
    tried = 0
    for args in points(Random(f"{op.name} shown"), 3 if op.variadic else len(op.names), 80):
        if not holds(op.domain, op.names, args) or is_special(op, args):
            continue
        for position in range(len(args)):
            with mp.workprec(2400):
                given = seen(op, position, [*map(mpf, args)])
                one = evaluate(template(op.partial(position)), given)[-1]
                other = evaluate(template(op.display_partial(position)), given)[-1]
                within = op.partial_ulp * ulp(other) + op.partial_abs
                near = op.value and not op.definition and abs(one - other) <= within
                assert near or equal(one, other), (
                    args,
                    position,
                    mp.nstr(one, 20),
                    mp.nstr(other, 20),
                )
                tried += 1
        if tried > 12:
            break
    assert tried > 6


def seen(op: Op, position: int, args: list[Real]) -> dict[str, Real]:
    """What a row's rules see at an operand, all operands varying."""
    out = reference(op.name, *args)
    if not op.variadic:
        return dict(zip(rule_slots(op), [*args, out, *[mpf(1)] * len(args)], strict=True))
    shared = {"out": out, "varies": mpf(1)}
    ties = [evaluate(template(op.ties), {**shared, op.names[0]: x})[-1] for x in args]
    return {**shared, op.names[0]: args[position], "ties": mp.fsum(ties)}


def equal(one: Real, other: Real) -> bool:
    """Equal to 90 bits; beyond the range of doubles, that both are beyond it."""
    if mp.isnan(one) or mp.isnan(other):
        return bool(mp.isnan(one) and mp.isnan(other))
    if min(abs(one), abs(other)) > mp.ldexp(1, 1024) and mp.sign(one) == mp.sign(other):
        return True
    return bool(abs(one - other) <= mp.ldexp(abs(one), -90) + mp.ldexp(1, -1080))


def test_shown_is_what_a_learner_expects() -> None:
    assert BY_NAME["tanh"].display_partial(0) == "1 - out^2"
    assert BY_NAME["div"].display_partial(1) == "-x/y^2"
    assert BY_NAME["max"].display_partial(2) == BY_NAME["max"].partials[0]


@pytest.mark.parametrize(
    ("text", "slope"),
    [
        ("clamp(x, x, x)", 1),
        ("clamp(x, x, 3)", 1),
        ("clamp(x, 3, x)", 1),
        ("clamp(0, x, x)", 1),
        ("clamp(5, x, x)", 1),
        ("clamp(x, x, 0)", 0),
        ("clamp(x, 5, 5)", 0),
    ],
)
def test_what_is_read_holds_where_operands_are_one(text: str, slope: int) -> None:
    """Bounds that are equal everywhere are no kink: exactly one branch passes its slope on."""
    formula = exprgrad.parse(text).derivative("x")
    assert formula(x=2.0) == slope if formula.inputs else formula() == slope


def test_slots_name_the_companions() -> None:
    assert rule_slots(BY_NAME["clamp"]) == (
        "x",
        "lo",
        "hi",
        "out",
        "varies_x",
        "varies_lo",
        "varies_hi",
    )
    assert rule_slots(BY_NAME["max"]) == ("x", "out", "varies", "ties")


def test_operation_count() -> None:
    assert [operation_count(text) for text in ("1", "y", "-out/y", "(1/cosh(x))^2")] == [0, 0, 2, 3]


@together(
    [
        ("abs(x)", {"x": 0}, {"x": 0}),
        ("abs(x)", {"x": -0.0}, {"x": 0}),
        ("relu(x)", {"x": 0}, {"x": 0}),
        ("max(a, b)", {"a": 2, "b": 2}, {"a": 0.5, "b": 0.5}),
        ("min(a, b)", {"a": 2, "b": 2}, {"a": 0.5, "b": 0.5}),
        ("max(a, b, c)", {"a": 2, "b": 2, "c": 1}, {"a": 0.5, "b": 0.5, "c": 0}),
        ("min(a, b, c, d)", {"a": 1, "b": 1, "c": 1, "d": 1}, dict.fromkeys("abcd", 0.25)),
        ("max(x, 0)", {"x": 0}, {"x": 0}),
        ("max(0, x)", {"x": 0}, {"x": 0}),
        ("min(x, 3)", {"x": 3}, {"x": 0}),
        ("max(a, b, 2)", {"a": 2, "b": 2}, {"a": 0, "b": 0}),
        ("max(x, x)", {"x": 2}, {"x": 1}),
        ("max(x, 0)", {"x": 1}, {"x": 1}),
        ("clamp(x, 0, 1)", {"x": 0}, {"x": 0}),
        ("clamp(x, 0, 1)", {"x": 1}, {"x": 0}),
        ("clamp(x, 0, 1)", {"x": 0.5}, {"x": 1}),
        ("clamp(x, l, h)", {"x": 0, "l": 0, "h": 1}, {"x": 0.5, "l": 0.5, "h": 0}),
        ("clamp(x, l, h)", {"x": 1, "l": 0, "h": 1}, {"x": 0.5, "l": 0, "h": 0.5}),
        ("clamp(0, l, 1)", {"l": 0}, {"l": 0}),
        ("clamp(x, l, h)", {"x": 1, "l": 1, "h": 0}, {"x": 0, "l": 0, "h": 1}),
        ("clamp(x, l, h)", {"x": 0, "l": 1, "h": 0}, {"x": 0, "l": 0, "h": 1}),
        ("clamp(x, l, h)", {"x": 0, "l": 1, "h": 1}, {"x": 0, "l": 0.5, "h": 0.5}),
        ("clamp(x, l, h)", {"x": 1, "l": 1, "h": 1}, dict.fromkeys("xlh", 1 / 3)),
        ("clamp(x, l, h)", {"x": 2, "l": 1, "h": 1}, {"x": 0, "l": 0, "h": 1}),
        ("hypot(x, y)", {"x": 0, "y": 0}, {"x": 0, "y": 0}),
        ("x^y", {"x": 0, "y": 0}, {"x": 0, "y": 0}),
        ("x^y", {"x": 0, "y": 2}, {"x": 0, "y": 0}),
        ("x^3", {"x": -2}, {"x": 12}),
        ("x^2", {"x": 0}, {"x": 0}),
        ("x^1", {"x": 0}, {"x": 1}),
        ("floor(x)", {"x": 2}, {"x": 0}),
        ("ceil(x)", {"x": 2.5}, {"x": 0}),
        ("round(x)", {"x": 2.5}, {"x": 0}),
        ("sign(x)", {"x": 0}, {"x": 0}),
        ("x < y", {"x": 1, "y": 1}, {"x": 0, "y": 0}),
        ("x % y", {"x": -5, "y": 3}, {"x": 1, "y": 2}),
        ("x % y", {"x": -1.7e308, "y": 1e308}, {"x": 1, "y": 2}),
        ("where(c, x, y)", {"c": 0, "x": 1, "y": 2}, {"c": 0, "x": 0, "y": 1}),
        ("sqrt(x)", {"x": 0}, {"x": math.inf}),
        ("leaky_relu(x)", {"x": 0}, {"x": 0.01}),
        ("elu(x)", {"x": 0}, {"x": 1}),
        ("selu(x)", {"x": 0}, {"x": 1.0507009873554805}),
        ("heaviside(x)", {"x": 0}, {"x": 0}),
        ("trunc(x)", {"x": 2}, {"x": 0}),
        ("sinc(x)", {"x": 0}, {"x": 0}),
        ("xlogy(x, y)", {"x": 0, "y": 2}, {"x": math.log(2), "y": 0}),
        ("xlogy(x, y)", {"x": 0, "y": 0}, {"x": -math.inf, "y": 0}),
        ("xlogy(x, y)", {"x": 3, "y": 0}, {"x": -math.inf, "y": math.inf}),
        ("logaddexp(x, y)", {"x": -math.inf, "y": 3}, {"x": 0, "y": 1}),
        ("logaddexp(x, y)", {"x": math.inf, "y": math.inf}, {"x": 0.5, "y": 0.5}),
    ]
)
def test_conventions(text: str, inputs: dict[str, float], expected: dict[str, float]) -> None:
    assert gradient(text, inputs) == expected


def test_a_subset_of_the_inputs_changes_no_share() -> None:
    both = gradient("max(a, b)", {"a": 1, "b": 1})
    assert gradient("max(a, b)", {"a": 1, "b": 1}, "a") == {"a": both["a"]} == {"a": 0.5}
    assert gradient("max(x*k, 0)", {"x": 0, "k": 2}, "x") == {"x": 0}
    assert gradient("clamp(x, l, h)", {"x": 1, "l": 1, "h": 2}, "l") == {"l": 0.5}


def test_an_infinite_slope_keeps_its_sign() -> None:
    assert computed(BY_NAME["asin"], (1.0,))[1] == [math.inf]
    assert computed(BY_NAME["acos"], (-1.0,))[1] == [-math.inf]
    assert computed(BY_NAME["cbrt"], (0.0,))[1] == [math.inf]
    assert computed(BY_NAME["acosh"], (1.0,))[1] == [math.inf]


def test_of_a_rule_with_a_known_number_only_what_it_takes_is_built() -> None:
    """A power's rule has some 90 operations; a whole exponent needs few of them, known ones among them."""
    built: list[str] = []

    class Counting(GraphBuilder):
        def append(self, kind: str, *arguments: Any) -> int:
            built.append(kind)
            return super().append(kind, *arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(walks, "GraphBuilder", Counting)
        numbers = (("y", (7.0).hex()), ("varies_y", (0.0).hex()))
        graph = specialise_rule.__wrapped__(BY_NAME["pow"].partial(0), numbers)
    assert len(graph) < 10
    assert not {"where", "sign", "gt"} & {*built}
