"""Compiled templates: the same numbers as a forward sweep, and nothing evaluated that need not be."""

from __future__ import annotations

import math
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exprgrad.derive.rules import rule_slots, template
from exprgrad.graph.ops import OPS, Op
from exprgrad.language.read.parse import parse_text
from exprgrad.run.numbers.sweeps import compile_template, forward_numbers, functions
from strategies import expressions, points
from together import together

steady = settings(derandomize=True)


def same_number(one: float, other: float) -> bool:
    return one == other or (math.isnan(one) and math.isnan(other))


@settings(steady, max_examples=120)
@given(
    expressions(("x", "y", "x", "y", "2", "0.5", "0")),
    st.sampled_from((0.0, 1.0, -2.0, 0.5, 3.0)),
    st.floats(-4, 4),
)
def test_a_template_is_a_forward_sweep(text: str, x: float, y: float) -> None:
    graph = parse_text(text)
    expected = forward_numbers(graph, {"x": x, "y": y})[graph.output]
    assert same_number(compile_template(graph, ("x", "y"))((x, y)), expected), text


@together(OPS)
def test_every_rule_is_what_a_forward_sweep_of_it_finds(op: Op) -> None:
    names = rule_slots(op)
    for args in points(Random(op.name), len(names), 20):
        for text in (
            *op.partials,
            *op.display_partials,
            *(special.where for special in op.special),
        ):
            graph = template(text)
            expected = forward_numbers(graph, dict(zip(names, args, strict=True)))[graph.output]
            assert same_number(compile_template(graph, names)(args), expected), (text, args)


def test_the_branch_not_taken_is_not_evaluated(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[float] = []

    def spy(x: float) -> float:
        calls.append(x)
        return math.log(x)

    monkeypatch.setitem(functions, "log", spy)
    rule = compile_template(parse_text("where(x > 0, log(x), 7)"), ("x",))
    assert rule((-1.0,)) == 7
    assert calls == []
    assert rule((1.0,)) == 0
    assert calls == [1.0]


def test_a_shared_part_is_evaluated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[float] = []

    def spy(x: float) -> float:
        calls.append(x)
        return math.sin(x)

    monkeypatch.setitem(functions, "sin", spy)
    rule = compile_template(parse_text("t = sin(x + 1); u = t*t; u + t*u"), ("x",))
    assert rule((1.0,)) == math.sin(2) ** 2 + math.sin(2) * math.sin(2) ** 2
    assert calls == [2.0]


def test_constants_are_folded_when_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[float] = []

    def spy(x: float) -> float:
        calls.append(x)
        return math.exp(x)

    monkeypatch.setitem(functions, "exp", spy)
    rule = compile_template(parse_text("x*exp(1 + 2)"), ("x",))
    assert [rule((x,)) for x in (1.0, 2.0)] == [math.exp(3), 2 * math.exp(3)]
    assert calls == [3.0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("2", 2.0), ("y", 5.0), ("1 + 1", 2.0), ("max(x, y, 4)", 5.0), ("-x", -3.0)],
)
def test_small_templates(text: str, expected: float) -> None:
    assert compile_template(parse_text(text), ("x", "y"))((3.0, 5.0)) == expected


def test_a_name_without_a_slot_is_an_error() -> None:
    with pytest.raises(ValueError, match="not in tuple"):
        compile_template(parse_text("x + z"), ("x",))
