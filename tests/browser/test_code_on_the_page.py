"""Formula, graph and code: what one points at in one of them is lit in all three."""

from __future__ import annotations

from typing import Any

import pytest

from browsers import axe
from exprgrad.show.page.listing import LIBRARIES
from pages import edit, html_of, lesson_html, listing, press, run_of, step_on, unfold

FORMULA = "e = a*b; e*tanh(a) + c"
VALUES = {"a": 2.0, "b": -3.0, "c": 1.0}
LIT = """word => ["span", "li", "g.node"].map(kind =>
  [...document.querySelectorAll(`${kind}.${word}`)].map(e => e.id || e.textContent.trim()))"""
LINES = (
    "() => [...document.querySelectorAll('#code li')].map(e => e.textContent).join('\\n') + '\\n'"
)


def lit(page: Any, word: str = "lit") -> list[list[str]]:
    """What is lit: pieces of the formula, lines of code, nodes."""
    return page.evaluate(LIT, word)  # type: ignore[no-any-return]


def test_hovering_one_lights_all_three(browse: Any) -> None:
    page = browse.show(html_of(FORMULA, **VALUES))
    e = [["e", "a", "*", "b", "e"], ["e = a * b"], ["n2"]]
    for place in (".whole span:text-is('*') >> nth=0", "#code li:text-is('e = a * b')", "#n2 rect"):
        page.locator(place).first.hover()
        assert lit(page) == e, place
    page.mouse.move(1, 1)
    assert lit(page) == [[], [], []]


def test_the_step_is_lit(browse: Any) -> None:
    page = browse.show(html_of(FORMULA, **VALUES))
    step_on(page)
    assert lit(page, "now")[:2] == [["e", "a", "*", "b", "e"], ["e = a * b"]]
    press(page, "Last step")
    press(page, "Back a step")
    assert lit(page, "now")[:2] == [["b"], ["b = Value(-3.0)"]] or lit(page, "now")[1]


def test_what_is_asked_for_is_lit(browse: Any) -> None:
    page = browse.show(html_of(FORMULA, **VALUES))
    press(page, "Grads")
    page.keyboard.type("1")
    page.keyboard.press("Enter")
    assert page.locator("#ask .wanted").text_content() == "What is the grad of c?"
    assert lit(page, "now")[:2] == [["c"], ["c = Value(1.0)"]]


def test_by_key_and_by_tap(browse: Any) -> None:
    page = browse.show(html_of(FORMULA, **VALUES))
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    assert lit(page)[2] == ["n0"] and page.locator("#told").text_content() == "a, data 2"
    page.keyboard.press("Enter")
    assert page.locator("#closer h3").text_content() == "a"
    page.keyboard.press("Escape")
    page.locator("#code li:text-is('e = a * b')").click()
    assert page.locator("#closer h3").text_content() == "e = a * b"
    page.keyboard.press("ArrowUp")
    assert page.evaluate("document.activeElement.textContent") == "c = Value(1.0)"


@pytest.mark.parametrize("title", [library.title for library in LIBRARIES])
def test_the_code_is_what_the_tests_run(title: str, browse: Any) -> None:
    page = browse.show(html_of(FORMULA, **VALUES))
    page.get_by_role("radio", name=title, exact=True).check()
    assert page.evaluate(LINES) == listing(run_of(FORMULA, VALUES), title)
    edit(page, "b", "0.1")
    assert page.evaluate(LINES) == listing(run_of(FORMULA, {**VALUES, "b": 0.1}), title)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(scheme: str, browse: Any) -> None:
    page = browse.show(html_of(FORMULA, **VALUES), color_scheme=scheme)
    step_on(page)
    page.locator(".whole span[tabindex='0']").focus()
    assert axe(page, scheme) == []


def test_names_of_any_script_and_calls(browse: Any) -> None:
    page = browse.show(html_of("f(x) = x^2; שלום = f(a) + 𝑥; שלום*b", a=2.0, b=3.0, **{"𝑥": 1.0}))
    assert page.locator(".whole").text_content() == "f(x) = x^2; שלום = f(a) + 𝑥; שלום*b"
    page.locator("#code li", has_text="**2").hover()
    assert lit(page)[0] == ["f(", "a", ")"]


def test_what_a_library_lacks_is_said(browse: Any) -> None:
    page = browse.show(html_of("Si(x)", x=1.0))
    page.get_by_role("radio", name="JAX", exact=True).check()
    assert (
        page.locator("#code > p").text_content() == "JAX has no Si, nor what it takes to write it."
    )
    assert not page.locator("#code li").count()


def test_where_there_is_no_code(browse: Any) -> None:
    page = browse.show(run_of("x > 1", {"x": 2.0}).explore().html)
    told = "No input moves the output: there is no grad to find."
    assert page.locator("#code > p").text_content() == told


@pytest.mark.parametrize("title", ["exprgrad", "PyTorch", "JAX"])
def test_the_code_of_tensors(title: str, browse: Any) -> None:
    """It is that which the tests run, with the numbers as they are edited, and lit with its node."""
    values = {"X": [[1.0, -2.0], [0.5, 3.0]], "b": [1.0, 0.25]}
    text = "sum(relu(X @ b) + [1, 2])"
    page = browse.show(run_of(text, values).explore().html)  # type: ignore[arg-type]
    page.get_by_role("textbox", name="b[1]", exact=True).fill("0.5")
    page.get_by_role("radio", name=title).check()
    edited = run_of(text, {**values, "b": [1.0, 0.5]})  # type: ignore[dict-item]
    assert page.evaluate(LINES) == listing(edited, title)
    page.locator("#n2 rect").first.hover()
    assert lit(page)[1:] == [["t1 = X @ b"], ["n2"]]


SEEN = """word => ["span", "li", "g.node"].map(kind =>
  [...document.querySelectorAll(`${kind}.${word}`)].some(part => {
    const {left, top, bottom} = part.getBoundingClientRect(), middle = (top + bottom) / 2;
    return part.closest("g") ? graph.parentNode.getBoundingClientRect().bottom > bottom && left >= 0
      : document.elementFromPoint(left + 3, middle) === part;
  }))"""


@pytest.mark.parametrize("name", ["neuron", "tanh", "network"])
def test_all_three_are_seen_at_once(name: str, browse: Any) -> None:
    """At 1280 by 800, in a lesson, at every third step."""
    page = browse.show(lesson_html(name), {"width": 1280, "height": 800})
    unfold(page)
    for _ in range(6):
        for _ in range(3):
            page.keyboard.press("ArrowRight")
        assert page.evaluate(SEEN, "now") == [True, True, True], page.locator(
            "#sentence"
        ).text_content()


def test_in_a_small_window_it_is_a_tab(browse: Any) -> None:
    page = browse.show(lesson_html("neuron"), {"width": 1280, "height": 800})
    page.set_viewport_size({"width": 390, "height": 664})
    press(page, "Code")
    assert page.locator("#code").is_visible() and not page.locator("#tasks").is_visible()
    page.set_viewport_size({"width": 1280, "height": 800})
    assert page.locator("#code li").first.is_visible() and page.locator("#tasks").is_visible()
