"""A wrong claim is explained by the one step of the chain rule that leads to it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from exprgrad import LESSONS, Run, check, parse
from exprgrad.show.page.lessons import Formula

pytest.importorskip("flint")

DIAMOND = "b = a+1; c = a*3; d = b*c", {"a": 2.0}
NEURON = (
    "n = x1*w1 + x2*w2 + b; o = tanh(n)",
    {"x1": 2.0, "w1": -3.0, "x2": 0.0, "w2": 1.0, "b": 6.881373587019543},
)
NAMED = re.compile(
    "path .* (is missing|is counted twice|has the wrong sign)|local derivative of .* (is|is missing)"
    "|sign is wrong|it is the (value|derivative) of"
)


@pytest.mark.parametrize(
    ("formula", "name", "claim", "words"),
    [
        (DIAMOND, "a", "3*b", "the path through b is missing"),
        (DIAMOND, "a", "9", "the path through b is missing"),
        (DIAMOND, "a", "c", "the path through c is missing"),
        (DIAMOND, "a", "24", "the path through c is counted twice"),
        (DIAMOND, "a", "2", "it is the value of a"),
        (DIAMOND, "a", "18", "it is the value of d"),
        (NEURON, "w1", "0.5", "the local derivative of x1*w1 with respect to w1 is missing"),
        (NEURON, "w1", "-1.5", "the local derivative of x1*w1 with respect to w1 is x1, not w1"),
        (NEURON, "w1", "2", "the local derivative of o with respect to n is missing"),
        (NEURON, "b", "0.707", "it is the value of o"),
        (NEURON, "b", "-0.5", "its sign is wrong"),
        (
            ("x*tanh(x)", {"x": 2.0}),
            "x",
            "1 - tanh(x)^2",
            "it is the derivative of tanh(x), not yet times",
        ),
    ],
)
def test_what_led_to_a_claim(
    formula: tuple[str, dict[str, float]], name: str, claim: str, words: str
) -> None:
    (found,) = check(formula[0], formula[1], claims={name: claim})
    assert found.verdict == "disagrees" and f"; {words}" in found.message


@pytest.mark.parametrize("claim", ["7.123", "1e300", "nan", "0"])
def test_a_number_that_no_single_mistake_makes(claim: str) -> None:
    (found,) = check(*DIAMOND, claims={"a": claim})
    assert found.verdict == "disagrees" and not NAMED.search(found.message)


def single_mistakes(run: Run, source: str) -> Iterator[float]:
    """By an input, the derivative with a path left out or counted twice, or a local derivative left out."""
    graph, grads = run.graph, dict(enumerate(node.grad for node in run.nodes))
    moved = [0.0] * len(graph)
    moved[graph.inputs[source]] = 1.0
    for edge in sorted(run.edges, key=lambda edge: edge.user):
        moved[edge.user] += (edge.local or 0.0) * moved[edge.operand]
    true = grads[graph.inputs[source]]
    for edge in run.edges:
        if edge.local is None or not edge.contribution or not moved[edge.operand]:
            continue
        through = moved[edge.operand] * edge.contribution
        yield true + (1 - edge.local) * through / edge.local
        if f"{through:.6g}" != f"{true:.6g}":  # or else all paths lead through it
            yield from (true - through, true + through)


def lesson_formulas() -> Iterator[Formula]:
    """The formulas of numbers in the lessons, but for networks, which nobody differentiates by hand."""
    for lesson in LESSONS.values():
        for one in lesson.formulas or (Formula(lesson.name, lesson.expression, lesson.values),):
            graph = parse(one.expression).graph
            if len(graph) < 60 and all(isinstance(value, float) for value in one.values.values()):
                yield one


@pytest.mark.parametrize("formula", [*lesson_formulas()], ids=lambda one: one.expression[:40])
def test_every_single_mistake_in_a_lesson_s_formula_is_named(formula: Formula) -> None:
    """As a learner types the numbers: in six digits."""
    run = parse(formula.expression).gradient(formula.values)
    for name in list(run.gradient)[:2]:
        true = run.gradient[name]
        for number in single_mistakes(run, name):
            if f"{number:.6g}" in (f"{true:.6g}", "0", "-0") or abs(number) < 1e-9:
                continue
            (found,) = check(
                formula.expression, formula.values, wrt=[name], claims={name: f"{number:.6g}"}
            )
            assert found.verdict == "disagrees" and NAMED.search(found.message), (
                name,
                number,
                found.message,
            )
