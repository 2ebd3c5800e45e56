"""The graph stays in sight, in a frame that is shown late, in short windows and on paper, too."""

from __future__ import annotations

import re
from html import escape
from typing import Any

import pytest

from pages import html_of, last, lesson_html, press, read

BOX = (
    "(element) => { const {top, bottom} = element.getBoundingClientRect(); return [top, bottom]; }"
)


@pytest.mark.slow
@pytest.mark.parametrize("hidden", ["<details>{}</details>", "<div style='display:none'>{}</div>"])
def test_a_frame_that_is_shown_late(hidden: str, browse: Any) -> None:
    """Nothing has a size before that; what is written below the chips finds its place."""
    frame = (
        '<iframe sandbox="allow-scripts" style="width:100%;height:50rem" '
        f'srcdoc="{escape(lesson_html("square"))}"></iframe>'
    )
    page = browse.show(f"<!doctype html>{hidden.format(frame)}")
    inner = page.frames[-1]
    inner.wait_for_selector(".passed", state="attached")
    page.evaluate("""() => {
      for (const part of document.body.children) part.open = true, part.style.display = "block";
    }""")
    press(inner, "Last step")
    places = inner.locator(".passed").evaluate_all(
        "texts => texts.map(text => [text.getAttribute('x'), text.getAttribute('y')].join())"
    )
    assert len(set(places)) == len(places)
    assert "0,10" not in places


@pytest.mark.parametrize("name", ["neuron", pytest.param("graph", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "width, height",
    [(1280, 900), pytest.param(1920, 1080, marks=pytest.mark.slow), (390, 844)],
)
def test_the_graph_is_in_sight_of_the_visit_order(
    name: str, width: int, height: int, browse: Any
) -> None:
    page = browse.show(lesson_html(name), viewport={"width": width, "height": height})
    page.locator("#order li").first.scroll_into_view_if_needed()
    page.locator("#visits").evaluate("panel => panel.scrollIntoView()")
    top, bottom = page.locator("#graph").evaluate(BOX)
    assert top >= 0
    assert bottom <= height
    head, _ = page.locator("#visits h2").evaluate(BOX)
    assert 0 < head < height
    assert page.locator("html.beside").count() or head > bottom


@pytest.mark.slow
@pytest.mark.parametrize("width, height", [(640, 450), (844, 390)])
def test_in_a_short_window_nothing_covers_the_graph(width: int, height: int, browse: Any) -> None:
    page = browse.show(lesson_html("neuron"), viewport={"width": width, "height": height})
    page.locator("#scroll").scroll_into_view_if_needed()
    (_, bottom), (top, _) = (page.locator(part).evaluate(BOX) for part in ("#scroll", "#deck"))
    assert top >= bottom - 1


def test_the_first_stop_in_the_graph_is_a_card(browse: Any) -> None:
    page = browse.show(html_of("y = a*b\ny", a=2.0, b=-3.0))
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "n0"


def test_reset_keeps_the_focus(browse: Any) -> None:
    page = browse.show(html_of("y = a*b\ny", a=2.0, b=-3.0))
    page.get_by_role("textbox", name="a", exact=True).fill("5")
    page.keyboard.press("Tab")
    press(page, "Reset")
    assert page.evaluate("document.activeElement.textContent") == "Reset"


def test_an_input_is_shown_as_it_is(browse: Any) -> None:
    """The field has every digit, whatever the digits of the picture."""
    page = browse.show(html_of("y = a*a\ny", a=1 / 3))
    assert page.get_by_role("textbox", name="a", exact=True).input_value() == repr(1 / 3)


@pytest.mark.slow
def test_paper_is_not_wasted(browse: Any) -> None:
    page = browse.show(lesson_html("neuron"), viewport={"width": 1280, "height": 900})
    page.emulate_media(media="print")
    assert len(re.findall(rb"/Type\s*/Page\b", page.pdf())) <= 3


def test_printing_does_not_tell_what_is_asked(browse: Any) -> None:
    page = browse.show(html_of("y = a*b\ny", a=2.0, b=-3.0))
    press(page, "Grads")
    before = read(page)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert read(page) == before
    assert not "".join(page.locator(".passed").all_text_contents())
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert read(page) == before
    press(page, "Stop asking")
    page.keyboard.press("Home")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert read(page).grad
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert not read(page).grad
    assert last(page).grad
