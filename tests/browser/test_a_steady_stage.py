"""The stage stands still: no control moves between steps, nothing covers the graph, text can be read."""

from __future__ import annotations

from typing import Any

import pytest

from amounts import some
from exprgrad.show.page.lessons import LESSONS
from pages import DEEP, html_of, lesson_html, read, unfold, wait_until

RELOADS = 100
"""How often a page is opened again at most, until the browser has kept what it was told to keep."""
SIZES = [(1440, 900), (1280, 640), (768, 1024), (390, 664)]
"""Screens of a desk, a laptop, a tablet and a phone."""
FORMULAS = {
    "short": ("(a+b)*c", {"a": 2.0, "b": -3.0, "c": 10.0}),
    "long": ("log(x)*sin(y)/(x^2+y^2)+exp(-x*y)", {"x": 1.5, "y": 0.3}),
    "deep": (DEEP, {"x": 0.5, "w": 0.9, "b": 0.1}),
}
MEASURED = """() => {
  const boxes = parts => [...document.querySelectorAll(parts)].map(part => part.getBoundingClientRect());
  const controls = boxes("#buttons button, #slider, #zoom button")
    .map(({x, y, width, height}) => [x, y, width, height]);
  const graph = document.getElementById("graph"), [{left, top, right, bottom}] = boxes("#scroll");
  const scale = graph.getBoundingClientRect().width / graph.viewBox.baseVal.width;
  const isSeen = box =>
    box.width && box.right > left && box.left < right && box.bottom > top && box.top < bottom;
  const isWhole = box =>
    box.left >= left - 1 && box.right <= right + 1 && box.top >= top - 1 && box.bottom <= bottom + 1;
  const sizes = [...graph.querySelectorAll("text")]
    .filter(text => text.textContent && isSeen(text.getBoundingClientRect()))
    .map(text => parseFloat(getComputedStyle(text).fontSize) * scale);
  const over = boxes("#zoom, #map, #deck").filter(isSeen).length, lit = boxes(".node.now");
  return {controls, least: Math.min(...sizes), over, isLitSeen: !lit.length || lit.some(isWhole)};
}"""
"""Where the controls are, how small the graph's texts are, what covers it, whether the step is in sight."""


def page_of(name: str) -> str:
    """The page of a lesson, or of one of the formulas."""
    if name in LESSONS:
        return lesson_html(name)
    text, values = FORMULAS[name]
    return html_of(text, **values)


def reload_until(page: Any, tours: int) -> None:
    """Open the page again until it has a tour, or none: a busy browser keeps things a moment later."""
    for _ in range(RELOADS):
        page.wait_for_timeout(100)
        page.reload()
        if page.locator("#tour").count() == tours:
            return
    pytest.fail(f"the page has {1 - tours} tours each time that it is opened")


@pytest.mark.parametrize(
    "name",
    ["neuron", "long", *[pytest.param(n, marks=pytest.mark.slow) for n in (*LESSONS, *FORMULAS)]],
)
def test_the_stage_stands_still(name: str, browse: Any) -> None:
    """At each step, there and back."""
    for width, height in SIZES if name in ("neuron", "long") else some(SIZES, name, 2):
        page = browse.show(page_of(name), viewport={"width": width, "height": height})
        unfold(page)
        total = min(int(page.locator("#slider").get_attribute("max")), 25)
        first = page.evaluate(MEASURED)["controls"]
        for key in ["ArrowRight"] * total + ["ArrowLeft"] * (total // 2):
            page.keyboard.press(key)
            found = page.evaluate(MEASURED)
            assert found["controls"] == first
            assert found["least"] >= (13 if width < 640 else 11)
            assert found["over"] == 0 and found["isLitSeen"]


@pytest.mark.parametrize("width, height", SIZES)
def test_clicks_on_one_spot_step_on(width: int, height: int, browse: Any) -> None:
    page = browse.show(page_of("deep"), viewport={"width": width, "height": height})
    box = page.locator("#forth").bounding_box()
    for _ in range(40):
        page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert page.locator("#slider").input_value() == "40"


def test_play_keeps_its_room(browse: Any) -> None:
    page = browse.show(page_of("short"))
    before = page.locator("#forth").bounding_box()
    page.get_by_role("button", name="Play", exact=True).click()
    assert page.locator("#forth").bounding_box() == before
    page.get_by_role("button", name="Pause", exact=True).click()


@pytest.mark.parametrize("width, height", SIZES)
def test_the_button_says_what_comes(width: int, height: int, browse: Any) -> None:
    """Each step, before it is done; a long one is cut; on a phone the button has a row of its own."""
    page = browse.show(page_of("long"), viewport={"width": width, "height": height})
    button, cut = page.locator("#forth"), 0
    for step in range(1, int(page.locator("#slider").get_attribute("max")) + 1):
        told = button.inner_text()
        cut += button.evaluate("part => part.scrollWidth > part.clientWidth")
        button.click()
        assert told == f"Next: {step}. {read(page).sentence}"
    assert button.inner_text() == "That was the last step"
    assert cut or width > 640
    own, back = button.bounding_box(), page.get_by_role("button", name="Back a step").bounding_box()
    assert (own["y"] + own["height"] <= back["y"]) == (width < 640)


@pytest.mark.parametrize("width, height", SIZES)
def test_a_large_graph_opens_on_its_output(width: int, height: int, browse: Any) -> None:
    page = browse.show(page_of("deep"), viewport={"width": width, "height": height})
    wait_until(page, "document.getElementById('scroll').scrollLeft > 0")
    box, frame = (page.locator(part).bounding_box() for part in (".node.output", "#scroll"))
    assert frame["x"] <= box["x"] and box["x"] + box["width"] <= frame["x"] + frame["width"]
    assert page.locator("#map svg").is_visible()


def test_a_tour_can_be_closed_and_stays_closed(browse: Any) -> None:
    """Three bubbles before the first step, on a screen of any size; they move no button."""
    for width, height in SIZES:
        page = browse.show(page_of("short"), viewport={"width": width, "height": height})
        page.evaluate("localStorage.removeItem('exprgrad tour')")
        reload_until(page, tours=1)
        tour, button = page.locator("#tour"), page.locator("#forth").bounding_box()
        for count in (1, 2, 3):
            assert tour.inner_text().startswith(f"{count} of 3: ")
            low = tour.bounding_box()["y"] + tour.bounding_box()["height"]
            assert low <= button["y"] and page.locator("#forth").bounding_box() == button
            if count < 3:
                tour.get_by_role("button", name="More", exact=True).click()
        page.keyboard.press("ArrowRight")
        assert not tour.is_visible()
        page.keyboard.press("ArrowLeft")
        assert tour.is_visible()
        tour.get_by_role("button", name="Close the tour", exact=True).click()
        reload_until(page, tours=0)
        assert page.locator("#forth").bounding_box() == button
        browse.asked.clear()
        page.evaluate("localStorage.removeItem('exprgrad tour')")
