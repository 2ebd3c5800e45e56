"""Stepping and editing in a browser, against runs in Python."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import pytest

from exprgrad.api import Run
from exprgrad.run.evaluation import Node
from exprgrad.show.page.lessons import LESSONS
from pages import edit, html_of, last, lesson_html, panel, press, read, run_of, unfold

EXACT = 1e-12
"""How far, relatively, the page's numbers may be from Python's: the contract's bound."""

OWN: dict[str, tuple[str, dict[str, float]]] = {
    "reused": ("t=a*b; y=t+t*a", {"a": 2, "b": -3}),
    "branches": ("where(x > 0, log(x), x*y) + max(x, y)^2 - relu(-x)", {"x": 2, "y": 0.5}),
    "functions": (
        "s = sigmoid(w*x); atan2(s, x) + erf(s)/hypot(w, x) - sqrt(abs(w))", {"w": -0.7, "x": 1.3}
    ),
    "unused": ("k = 3*x; m = y + 1; exp(x)", {"x": 0.5, "y": 1}),
    "special": ("1/x + log(y)", {"x": 0, "y": -1}),
    "numbers": ("3+4", {}),
    "unread": ("k = x+1; 3", {"x": 1}),
}  # fmt: skip
FORMULAS = OWN | {
    name: (lesson.expression, lesson.values)
    for name, lesson in LESSONS.items()
    if all(isinstance(value, (int, float)) for value in lesson.values.values())
}


def same(found: float, true: float) -> bool:
    """Whether two numbers agree as far as the contract asks."""
    both_nan = math.isnan(found) and math.isnan(true)
    return both_nan or found == true or math.isclose(found, true, rel_tol=EXACT, abs_tol=0)


def seen(run: Run) -> dict[int, Node]:
    """The nodes that the page shows, as it numbers them: of a closed call its result alone."""
    return {at: run.nodes[node] for at, node in enumerate(run.shown)}


def assert_shows(page: Any, run: Run) -> None:
    """Every node's data and grad on the last step are those of a run."""
    shown = read(page)
    assert shown.data.keys() == seen(run).keys()
    for at, node in seen(run).items():
        assert same(shown.data[at], node.data), node
        if node.grad is None:
            assert at not in shown.grad, node
        else:
            assert same(shown.grad.get(at, 0.0), node.grad), node


USUAL = ("branches",)
usual_first = [n if n in USUAL else pytest.param(n, marks=pytest.mark.slow) for n in FORMULAS]


@pytest.mark.numbers
@pytest.mark.parametrize("name", usual_first)
def test_stepping_to_the_end_shows_the_grads_of_grad(name: str, browse: Any) -> None:
    """Step by step: what is shown only ever grows, forward in topological order."""
    text, values = FORMULAS[name]
    run = run_of(text, values)
    page = browse.show(lesson_html(name) if name in LESSONS else html_of(text, **values))
    unfold(page)
    shown = [read(page)]
    total = int(page.get_by_role("slider", name="Step", exact=True).get_attribute("max"))
    for _ in range(total):
        page.keyboard.press("ArrowRight")
        shown.append(read(page))
    assert_shows(page, run)
    assert {
        name: shown[-1].grad.get(run.shown.index(run.graph.inputs[name]), 0.0) for name in run.swept
    } == (pytest.approx(run.swept, rel=EXACT, nan_ok=True))
    operations = [at for at, node in seen(run).items() if node.operands]
    known = [[id for id in step.data if id in operations] for step in shown]
    assert known[: len(operations) + 1] == [operations[:k] for k in range(len(operations) + 1)]
    assert all(not step.grad for step in shown[: len(operations) + 1])
    for before, after in pairwise(shown):
        assert before.sentence != after.sentence
        assert before.data.keys() <= after.data.keys() and before.grad.keys() <= after.grad.keys()
    page.keyboard.press("Home")
    assert read(page) == shown[0]


EDITS = {
    "neuron": ["x2=1", "b=0.1", "w1=−2.5e-1", "x1=-1e3"],
    "branches": ["x=−1.5e0", "y=-1.5", "y=7", "x=0"],
    "functions": ["x=0", "w=1e-9", "w=0"],
    "reused": ["a=1e200", "b=-inf", "b=pi"],
    "unused": ["x=-3", "y=0"],
}


@pytest.mark.parametrize(
    "name",
    [n if n == "branches" else pytest.param(n, marks=pytest.mark.slow) for n in EDITS],
)
def test_editing_a_leaf_is_a_fresh_grad(name: str, browse: Any) -> None:
    text, values = FORMULAS[name]
    page = browse.show(html_of(text, **values))
    last(page)
    here = dict(values)
    for change in EDITS[name]:
        leaf, number = change.split("=")
        here[leaf] = math.pi if number == "pi" else float(number.replace("−", "-"))
        edit(page, leaf, number)
        assert_shows(page, run_of(text, here))
    press(page, "Reset")
    assert_shows(page, run_of(text, values))


def test_what_is_no_number_changes_nothing(browse: Any) -> None:
    text, values = FORMULAS["neuron"]
    page = browse.show(lesson_html("neuron"))
    last(page)
    for wrong in ("", "1,500", "1,5,2", "2x", "−", "x1", "0x10", "1e", "<b>1</b>"):
        edit(page, "b", wrong)
        assert_shows(page, run_of(text, values))
        assert panel(page, "Inputs").get_by_text("not a number").is_visible()
        field = page.get_by_role("textbox", name="b", exact=True)
        assert field.get_attribute("aria-invalid") == "true"
    field.blur()
    assert field.get_attribute("aria-invalid") is None


def test_which_way_a_small_step_of_an_input_moves_the_output(browse: Any) -> None:
    """L = (a*b + c)*f: a step h of an input moves it by exactly grad*h."""
    plain = browse.show(html_of(LESSONS["graph"].expression, **LESSONS["graph"].values))
    assert panel(plain, "Inputs").locator("p").first.inner_text() == "0.01 more moves L up by 0.06"
    page = browse.show(lesson_html("graph"))
    said = panel(page, "Inputs").locator("p")
    # A lesson asks for the grad: all is told when the sweep has found it.
    assert said.first.inner_text() == ""
    last(page)
    assert said.all_inner_texts()[:4] == [
        "0.01 more moves L up by 0.06; grad × step is 0.06",
        "0.01 more moves L down by 0.04; grad × step is −0.04",
        "0.1 more moves L down by 0.2; grad × step is −0.2",
        "0.01 more moves L up by 0.04; grad × step is 0.04",
    ]


def test_an_edge_is_looked_at(browse: Any) -> None:
    """By a click on its chip or its wire: its rule in MathML, its numbers, what passes along it."""
    page = browse.show(lesson_html("neuron"))
    closer = panel(page, "Look closer")
    page.locator("#c9_0").click()
    assert closer.locator("math").count() == 1
    assert "is not known yet" in closer.inner_text()
    last(page)
    page.locator("#c9_0").click()
    assert "0.5" in closer.locator(".formula").inner_text()
    assert "grad of o × local derivative = 1 × 0.5 = 0.5" in closer.inner_text()
    page.locator("#c5_1").click()
    assert "The edge from w2 to x2*w2" in closer.inner_text()
    assert closer.get_by_role("heading", level=3).count() == 1
    page.locator('[data-edge="2_0"] path').first.click(force=True)
    assert "The edge from x1 to x1*w1" in closer.inner_text()
    page.locator("#n9").click()
    assert closer.get_by_role("heading", level=3).inner_text() == "o = tanh(n)"


@pytest.mark.slow
def test_an_edge_is_looked_at_by_focus(browse: Any) -> None:
    page = browse.show(lesson_html("graph"))
    closer = panel(page, "Look closer")
    page.locator("#c6_0").focus()
    assert "The edge from d to L" in closer.inner_text()
    page.keyboard.press("Shift+ArrowLeft")
    assert closer.get_by_role("heading", level=3).inner_text() == "d = e + c"


@pytest.mark.slow
def test_an_input_that_is_used_once_has_no_empty_line(browse: Any) -> None:
    page = browse.show(lesson_html("graph"))
    page.locator("#n0").click()
    assert all(panel(page, "Look closer").locator("p").all_inner_texts())


@pytest.mark.slow
def test_an_edit_is_told_though_the_sentence_stays(browse: Any) -> None:
    page = browse.show(lesson_html("graph"))
    last(page)
    edit(page, "a", "0")
    assert page.locator("#told").inner_text() == "L is −20"


KINKED = "relu(x) - relu(-x) + y"


def test_an_edit_onto_a_kink_is_noted(browse: Any) -> None:
    page = browse.show(html_of(KINKED, x=1, y=2))
    last(page)
    notes, order = panel(page, "Notes"), panel(page, "Visit order")
    assert not notes.count() and "✓ right" in order.inner_text()
    edit(page, "x", "0")
    assert "relu(x) has a kink here: its operand is 0" in notes.inner_text()
    assert "the sweep's numbers" in notes.inner_text()
    assert (
        "the derivative along x is 1 from both sides; the sweep's 0 is wrong" in notes.inner_text()
    )
    verdict = order.locator("[data-input=x] td:last-child").inner_text()
    assert verdict == "⚠ the sweep's; the derivative is 1"
    edit(page, "x", "3")
    assert not notes.count()


def test_where_the_gradient_is_corrected_the_sweep_s_is_not_called_right(browse: Any) -> None:
    page = browse.show(html_of(KINKED, x=0, y=2))
    last(page)
    row = panel(page, "Visit order").locator("[data-input=x]")
    assert row.inner_text().endswith("the sweep's; the derivative is 1")
    edit(page, "x", "3")
    assert row.inner_text().endswith("✓ right")
