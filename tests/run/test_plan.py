"""The forward sweep by a plan against the plain one, to the bit."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from exprgrad.language.read.parse import parse_text
from exprgrad.run.numbers.sweeps import follow_plan, forward_numbers, plan_forward
from strategies import everyday, expressions

Point = tuple[float, float]
doubles = st.sampled_from((0.0, -0.0, 1.0, -2.5, 1e-300, 1e200)) | everyday


@settings(derandomize=True, max_examples=100)
@given(
    expressions(("x", "y", "0", "2", "pi")),
    st.tuples(doubles, doubles),
    st.tuples(doubles, doubles),
)
def test_a_plan_finds_what_a_sweep_finds(text: str, one: Point, other: Point) -> None:
    """At one point and then at another: nothing stays behind."""
    graph = parse_text(text)
    planned = plan_forward(graph)
    for point in (one, other):
        inputs = dict(zip("xy", point, strict=True))
        assert list(map(repr, follow_plan(planned, inputs))) == list(
            map(repr, forward_numbers(graph, inputs))
        )


def test_operations_of_one_two_and_more_operands() -> None:
    graph = parse_text(
        "t = max(a, b, c, -2); u = where(a > b, t, -c); clamp(u, 0, 1)*hypot(a, b) + tanh(c)"
    )
    planned = plan_forward(graph)
    for inputs in ({"a": 1.0, "b": 2.0, "c": 0.5}, {"a": -1.0, "b": -2.0, "c": -0.0}):
        assert list(map(repr, follow_plan(planned, inputs))) == list(
            map(repr, forward_numbers(graph, inputs))
        )


def test_a_leaf_alone() -> None:
    assert follow_plan(plan_forward(parse_text("x")), {"x": -0.0}) == [0.0]
    assert follow_plan(plan_forward(parse_text("2")), {}) == [2.0]
