"""The local derivatives of edges as MathML."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from exprgrad import parse
from exprgrad.show.page.lessons import LESSONS
from exprgrad.show.page.model import rule_mathml


@pytest.mark.parametrize(
    ("text", "values", "position", "written"),
    [
        ("L = d*f", {"d": 4, "f": -2}, 0, "<mi>f</mi>"),
        ("a + b", {"a": 1, "b": 2}, 1, "<mn>1</mn>"),
        ("o = tanh(n)", {"n": 1}, 0, "<mn>1</mn><mo>−</mo><msup><mi>o</mi><mn>2</mn></msup>"),
        ("(a + 1)*x1", {"a": 1, "x1": 2}, 1, "<mi>a</mi><mo>+</mo><mn>1</mn>"),
        ("e^2", {"e": 3}, 0, "<mn>2</mn><mi>e</mi>"),
    ],
)
def test_a_rule(text: str, values: dict[str, float], position: int, written: str) -> None:
    run = parse(text).gradient(values)
    assert rule_mathml(run, run.graph.output, position) == f"<math>{written}</math>"


def test_a_rule_that_was_cut() -> None:
    run = parse(f"{'+'.join(['abc'] * 20)}").gradient(abc=1)
    product = parse(f"({run.text})*y").gradient(abc=1, y=2)
    assert product.rule(product.graph.output, 1).endswith("…")
    assert rule_mathml(product, product.graph.output, 1) == ""


@pytest.mark.parametrize(
    "name", [name for name in LESSONS if name not in ("tensors", "matrix", "jacobian")]
)
def test_every_edge_of_the_lessons(name: str) -> None:
    lesson = LESSONS[name]
    run = parse(lesson.expression).gradient(lesson.values)
    for edge in run.edges:
        assert len(ElementTree.fromstring(rule_mathml(run, edge.user, edge.position)))
