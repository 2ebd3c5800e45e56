"""Pages over tensors: their numbers, what comes from what, the Jacobian, edits, accessibility."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from browsers import axe
from exprgrad import Run, parse
from exprgrad.show.page.lessons import LESSONS
from pages import answer_task, follow, lesson_html, panel, press

LAYER = "h = relu(X @ W + b); L = sum(h^2)"
VALUES = {"X": [[1, 2], [3, -4]], "W": [[1, 0.5, 2], [2, -1, 1]], "b": [0.1, 0.2, 0.3]}
NUMBERS = """() => [...document.querySelectorAll("[data-node]")].map(row =>
  ["data", "grad"].map(kind => row.dataset[kind]?.split(",").map(Number) ?? null))"""
LIT = """() => [...document.querySelectorAll(".cell.lit")].map(cell => {
  const kind = cell.parentNode.previousElementSibling.classList[0];
  return `${cell.closest(".node").id} ${kind} ${cell.dataset.at}`;
})"""
SIZE = """() => [document.documentElement.scrollWidth,
  document.querySelector("#slider").getBoundingClientRect().bottom]"""


def layer(**changed: Any) -> Run:
    """Both sweeps over a layer."""
    return parse(LAYER).gradient({**VALUES, **changed})


@cache
def html() -> str:
    """Its page."""
    return layer().explore().html


def agree(page: Any, run: Run) -> None:
    """Hold what the page shows against a run."""
    for node, (data, grad) in zip(run.shown, page.evaluate(NUMBERS), strict=True):
        assert np.allclose(data, np.ravel(run.values[node]), rtol=1e-13)
        assert grad is None or np.allclose(grad, np.ravel(run.grad(node)), rtol=1e-13)


def test_tensors_are_stepped_through(browse: Any) -> None:
    page = browse.show(html())
    page.keyboard.press("ArrowRight")
    sentence = page.locator("#sentence")
    assert sentence.inner_text() == (
        "X @ W = [[1, 2], [3, −4]] @ [[1, 0.5, 2], [2, −1, 1]] = [[5, −1.5, 4], [−5, 5.5, 2]]"
    )
    # No number is there before its step.
    assert page.locator("#n5 .cell").count() == 0 and page.locator("#n2 .cell").count() == 6
    press(page, "Last step")
    agree(page, layer())
    assert page.locator("#n0 .grad + .map title").text_content() == (
        "grad of X: [[27.4, 29], [14.9, −6.8]]"
    )


def test_an_edited_number_is_that_of_grad(browse: Any) -> None:
    page = browse.show(html())
    page.get_by_role("textbox", name="X[1, 1]", exact=True).fill("2,5")
    agree(page, layer(X=[[1, 2], [3, 2.5]]))
    # A link has the numbers, too.
    follow(page, "step=99&with=X=1,2,3,-1")
    agree(page, layer(X=[[1, 2], [3, -1]]))


def test_where_a_number_comes_from_is_lit(browse: Any) -> None:
    """X[0, 1] is passed row 0 of the product's grad, each number times one of row 1 of W."""
    page = browse.show(html())
    press(page, "Last step")
    page.locator("#n0 .grad + .map .cell").nth(1).click()
    assert {*page.evaluate(LIT)} == {
        *(f"n2 grad {at}" for at in (0, 1, 2)),
        *(f"n1 data {at}" for at in (3, 4, 5)),
    }
    assert page.locator("#origin").text_content() == (
        "The grad of X[0, 1] is 10.2 × 2 + 0 × (−1) + 8.6 × 1 = 29."
    )
    # The same by the keyboard: the next number of the table.
    page.locator("#close [role=grid].grad td").nth(1).focus()
    page.keyboard.press("ArrowRight")
    assert {*page.evaluate(LIT)} >= {"n2 grad 3", "n2 grad 4", "n2 grad 5", "n1 data 0"}
    page.locator("#n2 .data + .map .cell").nth(0).click()
    assert {*page.evaluate(LIT)} == {"n0 data 0", "n0 data 1", "n1 data 0", "n1 data 3"}


def test_the_jacobian_is_drawn_and_never_formed(browse: Any) -> None:
    page = browse.show(html())
    press(page, "Last step")
    page.locator("#c2_0").click()
    closer = panel(page, "Look closer")
    box = closer.bounding_box()
    assert box["x"] + box["width"] < 1280
    drawn = closer.get_by_role("img")
    assert drawn.get_attribute("aria-label") == (
        "The Jacobian, 6 by 4: 12 of its 24 numbers can be other than 0"
    )
    # The grad of the user beside its rows, and below its columns what the wire passes.
    assert drawn.locator(".cell").count() == 12 + 6 + 4
    assert "Left: the grad of " in closer.text_content()
    assert (
        "never formed; here it would take 192 bytes, and 19.2 GB if every" in closer.text_content()
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_in_the_way_over_tensors(browse: Any, scheme: str) -> None:
    page = browse.show(html(), color_scheme=scheme)
    assert axe(page, scheme) == []
    press(page, "Last step")
    page.locator("#n0 .grad + .map .cell").nth(1).click()
    assert axe(page, scheme) == []
    page.locator("#c2_0").click()
    assert axe(page, scheme) == []


@pytest.mark.parametrize(("width", "height"), [(320, 640), (390, 664), (1280, 640)])
def test_buttons_stay_in_sight_over_tensors(browse: Any, width: int, height: int) -> None:
    page = browse.show(html(), {"width": width, "height": height})
    press(page, "Last step")
    wide, high = page.evaluate(SIZE)
    assert wide <= width and high <= height


def test_a_mask_is_predicted(browse: Any) -> None:
    """Each number of the grads is asked; what is not asked is read beside its node."""
    values = {"Z": [[2, -1], [-3, 4]], "C": [[1, 2], [3, -2]]}
    run = parse("h = relu(Z); L = sum(C*h)").gradient(values)
    page = browse.show(run.explore().html)
    press(page, "Grads")
    asked = panel(page, "Ask me")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "grad of L"
    page.keyboard.type("1")
    page.keyboard.press("Enter")
    mask = asked.get_by_role("group", name="grad of Z")
    for at, right in zip(("0, 0", "0, 1", "1, 0", "1, 1"), ("1", "0", "0", "-2"), strict=True):
        field = mask.get_by_role("textbox", name=f"grad of Z[{at}]", exact=True)
        field.fill("7")
        field.press("Enter")
        assert field.get_attribute("aria-invalid") == "true"
        assert page.locator("#n0 .grad + .map .cell").count() == 0
        field.fill(right)
        field.press("Enter")
    assert mask.get_by_role("textbox").count() == 0
    assert mask.locator(".grid").text_content() == "✓ 1✓ 0✓ 0✓ −2"
    assert page.locator("#n0 .grad + .map .cell").count() == 4
    page.locator("#graph [aria-label^='h']").click()
    closer = panel(page, "Look closer")
    assert closer.get_by_role("grid").count() == 1, "its data are there, its grad is not"
    assert "Grad: not known yet" in closer.text_content()
    assert axe(page, "light") == []
    press(page, "Show all")
    assert "5 of 17 found" in asked.text_content()
    press(page, "Stop asking")
    assert asked.get_by_role("textbox").count() == 0


def test_the_lesson_on_tensors(browse: Any) -> None:
    """Each part shows its formula, whose tasks tick themselves, and whose numbers are those of grad."""
    lesson = LESSONS["tensors"]
    page = browse.show(lesson_html("tensors"))
    formulas = {formula.name: formula for formula in lesson.formulas}
    for part in lesson.parts:
        formula = formulas[part.formula]
        if part != lesson.parts[0]:
            page.get_by_text(part.title, exact=True).first.click()
        press(page, "Last step")
        agree(page, parse(formula.expression).gradient(formula.values))
        if part == lesson.parts[1]:
            press(page, "Grads")
            press(page, "Show all")
            press(page, "Stop asking")
        if part == lesson.parts[3]:
            page.locator(".node:has([aria-label^='b,']) .grad + .map .cell").first.click()
        first, answer = page.locator("details[open] li").first, part.tasks[0].answer
        assert answer is None or answer_task(first, str(answer)) == "✓ Right."
        assert page.locator("details[open] li :checked").count() == 1
    press(page, "ReLU's mask")
    page.locator("details").nth(1).locator("summary").click()
    press(page, "Last step")
    page.locator("#c1_0").click()
    second, task = page.locator("details[open] li").nth(1), lesson.parts[1].tasks[1]
    assert answer_task(second, str(task.answer)) == "✓ Right."
    assert page.locator("details[open] li :checked").count() == 2
    assert axe(page, "light") == []
