"""Ask me: numbers are hidden until the reader has found them, everywhere on the page."""

from __future__ import annotations

import re
from typing import Any

import pytest

from exprgrad.show.page.lessons import LESSONS
from exprgrad.show.text.lines import signed_number as number
from pages import break_it, edit, html_of, lesson_html, panel, press, read, run_of

GRADS = {"L": "1", "d": "-2", "f": "4", "e": "−2", "c": "-2.0", "a": "6", "b": "-4"}
"""The grads of the first lesson, as a person may type them."""


def field(page: Any, name: str) -> Any:
    """One of the fields in the graph."""
    return page.get_by_role("textbox", name=name, exact=True)


def reply(page: Any) -> str:
    """What the page says of the last answer."""
    return str(panel(page, "Ask me").get_by_role("status").inner_text())


def answer(page: Any, name: str, words: str) -> str:
    """Type an answer, and what is said of it."""
    field(page, name).fill(words)
    field(page, name).press("Enter")
    return reply(page)


def told(page: Any) -> str:
    """All that can be read, and all that a screen reader is told."""
    return f"{page.locator('body').inner_text()}\n{page.locator('body').aria_snapshot()}"


def test_grads_are_asked_for(browse: Any) -> None:
    page = browse.show(lesson_html("graph"))
    press(page, "Grads")
    assert reply(page).startswith("7 numbers to find")
    assert field(page, "grad of L").evaluate("field => field === document.activeElement")
    assert not read(page).grad
    assert "✗" in answer(page, "grad of d", "5")
    assert field(page, "grad of d").get_attribute("aria-invalid") == "true"
    assert "the sign is not" in answer(page, "grad of d", "2")
    assert answer(page, "grad of d", "two") == "two is not a number."
    for left, (name, words) in zip(range(6, -1, -1), GRADS.items(), strict=True):
        said = answer(page, f"grad of {name}", words)
        assert said.startswith("✓ Right")
        assert (f"{left} to go" in said) == (left > 0)
        assert not field(page, f"grad of {name}").count()
    lesson = LESSONS["graph"]
    run = run_of(lesson.expression, lesson.values)
    assert read(page).grad == {node.id: node.grad for node in run.nodes}
    press(page, "Stop asking")
    assert panel(page, "Inputs").is_visible()


@pytest.mark.parametrize(
    "kind",
    [*[pytest.param(k, marks=pytest.mark.slow) for k in ("Data", "Local derivatives")], "Grads"],
)
def test_nothing_gives_the_answer_away(kind: str, browse: Any) -> None:
    """Not the graph, not a table, not a label that only a screen reader reads."""
    text, values = "s = tanh(x*w); sin(s)*s + log(x)", {"x": 0.713, "w": -1.37}
    run = run_of(text, values)
    answers = {
        "Data": [node.data for node in run.nodes if node.operands],
        "Local derivatives": [e.local for e in run.edges if e.local not in (1.0, *values.values())],
        "Grads": [node.grad for node in run.nodes if node.grad not in (None, 1.0)],
    }[kind]
    hidden = {number(value, 6) for value in answers}
    page = browse.show(html_of(text, **values))
    press(page, "Last step")
    assert any(value in told(page) for value in hidden)
    press(page, kind)
    shown = told(page)
    # What is known before may happen to be an answer: a product's local derivatives are its operands.
    known = {number(node.data, 6) for node in run.nodes if kind != "Data"}
    known |= {number(edge.local, 6) for edge in run.edges if kind == "Grads"}
    assert len(hidden - known) > 1
    assert not [value for value in hidden - known if value in shown]
    page.keyboard.press("Escape")
    assert panel(page, "Inputs").is_visible()


def test_hints_are_rules_and_an_answer_can_be_shown(browse: Any) -> None:
    page = browse.show(lesson_html("neuron"))
    press(page, "Local derivatives")
    field(page, "local derivative of o for n").focus()
    press(page, "Hint")
    assert "1 − o²" in reply(page)
    press(page, "Show this one")
    assert reply(page).startswith("Shown") and "0.5" in reply(page)
    assert not field(page, "local derivative of o for n").count()
    assert answer(page, "local derivative of x1*w1 for x1", "-3").startswith("✓")
    press(page, "Show all")
    assert page.locator("#graph input").count() == 0
    press(page, "Stop asking")
    press(page, "Data")
    field(page, "data of o").focus()
    press(page, "Hint")
    assert "tanh" in reply(page)
    assert answer(page, "data of n", "0.8814").startswith("✓")
    assert answer(page, "data of o", "0.70").startswith("✗")
    assert answer(page, "data of o", "0.707").startswith("✓")


def test_a_wrong_grad_is_explained(browse: Any) -> None:
    """By the paths that lead to it, in the words of ``check --claim``."""
    page = browse.show(html_of("b = a + 1; c = a*3; d = b*c", a=2.0))
    press(page, "Grads")
    for words, why in {
        "9": "The path through b is missing: 9 of 15.", "6": "The path through c is missing: 6 of 15.",
        "24": "The path through c is counted twice.", "-15": "The size is right, the sign is not.",
        "2": "That is the data of a.", "0": "The seed of 1 is forgotten.",
        "15.5": "15.5 is not the grad of a.",
    }.items():  # fmt: skip
        assert answer(page, "grad of a", words) == f"✗ {why}"
    assert answer(page, "grad of a", "15").startswith("✓")


@pytest.mark.slow
def test_what_is_asked_is_about_the_inputs_as_they_are(browse: Any) -> None:
    page = browse.show(lesson_html("square"))
    edit(page, "b", "-5")
    press(page, "Grads")
    assert answer(page, "grad of u", "6").startswith("✗")
    assert answer(page, "grad of u", "-6").startswith("✓")
    assert answer(page, "grad of a", "-6").startswith("✓")


@pytest.mark.slow
def test_there_is_no_zero_below_zero(browse: Any) -> None:
    """As in the tables of ``grad``: −0 is 0, in every text and as an answer."""
    page = browse.show(html_of("u = y*2; x/u", x=0.0, y=-3.0))
    press(page, "Data")
    assert answer(page, "data of u", "-6").startswith("✓")
    assert answer(page, "data of x/u", "0").startswith("✓")
    press(page, "Stop asking")
    break_it(page).get_by_role("radio", name="= overwrite", exact=True).check()
    press(page, "Last step")
    assert "−0," not in told(page) and not re.search(r"−0\s", told(page))
    assert page.locator(".wrong").count() == 0


@pytest.mark.slow
def test_the_digits_of_an_expression_are_no_precision(browse: Any) -> None:
    page = browse.show(html_of("a*b", a=33.0001, b=1.0))
    press(page, "Data")
    for words in ("2*3*5.5", "3.3*10.0", "33"):
        assert not answer(page, "data of a*b", words).startswith("✓")
    assert answer(page, "data of a*b", "33.00").startswith("✓")


@pytest.mark.slow
def test_too_few_digits_are_right_as_far_as_they_go(browse: Any) -> None:
    page = browse.show(lesson_html("neuron"))
    page.keyboard.press("ArrowRight")
    press(page, "Data")
    assert (
        answer(page, "data of n", "0.88")
        == "0.88 is right as far as it goes: three digits, please."
    )
    assert answer(page, "data of n", "0.87").startswith("✗")
    press(page, "Stop asking")
    assert page.locator("#count").inner_text().startswith("1 of ")


@pytest.mark.slow
def test_one_number_or_none_is_asked_for(browse: Any) -> None:
    page = browse.show(html_of("3+4"))
    press(page, "Grads")
    assert reply(page) == "There are no grads to find."
    assert not page.get_by_role("button", name="Hint").is_visible()
    press(page, "Data")
    assert reply(page).startswith("1 number to find")


def test_the_number_is_named_and_the_score_is_kept(browse: Any) -> None:
    page = browse.show(lesson_html("square"))
    press(page, "Grads")
    asked = panel(page, "Ask me")
    assert asked.locator(".wanted").inner_text() == "What is the grad of y?"
    answer(page, "grad of y", "1")
    assert asked.locator(".wanted").inner_text() == "What is the grad of u?"
    answer(page, "grad of u", "3")
    answer(page, "grad of u", "6,0")
    press(page, "Show this one")
    answer(page, "grad of a", "6")
    score = asked.locator(".score").inner_text()
    assert score == "3 of 4 found, 2 at the first try, 1 shown."
    assert not asked.get_by_role("button", name="Hint").count()
    press(page, "Data")
    assert asked.locator(".wanted").inner_text() == "What is the data of u?"


def test_a_comma_may_be_a_point(browse: Any) -> None:
    """Where it cannot part thousands: 1,234 may be either."""
    page = browse.show(lesson_html("square"))
    for typed, meant in (("1,5", 1.5), ("0,125", 0.125), ("−2,25", -2.25), ("12,3456", 12.3456)):
        edit(page, "b", typed)
        assert read(page).data[1] == meant
    edit(page, "b", "1,234")
    assert read(page).data[1] == 12.3456
    assert panel(page, "Inputs").get_by_text("not a number").is_visible()
