"""A graph that is larger than its frame: the map, layers that open, the keys."""

from __future__ import annotations

from typing import Any

import pytest

from browsers import axe
from networks import network
from pages import html_of, last, lesson_html, press, read, wait_until

SHUT = """() => [...document.querySelectorAll('.cover.shut')]
  .map(cover => cover.querySelector('text').textContent).sort()"""
SCROLLED = """() => {
  const frame = document.querySelector("#scroll");
  return [frame.scrollLeft, frame.scrollTop];
}"""
LONG = "; ".join(["t0 = x*1.5", *(f"t{k + 1} = tanh(t{k})*1.5" for k in range(80))])
"""A formula of more than 200 nodes, in a row."""
PAUSE = 500
"""Milliseconds after which the lists of a long graph have followed its steps."""
DRAWN = """() => {
  const boxes = part => [...part.querySelectorAll("rect, text")].map(one => one.getBoundingClientRect());
  const isDrawn = part => boxes(part).some(({width}) => width);
  const {left, right} = document.querySelector("#scroll").getBoundingClientRect();
  const graph = document.getElementById("graph"), own = graph.getBoundingClientRect();
  const by = own.width / graph.viewBox.baseVal.width;
  const parts = [...document.querySelectorAll(".node, .chip")].map(part => {
    const low = own.left + Number(part.firstChild.getAttribute("x")) * by;
    const high = low + Number(part.firstChild.getAttribute("width")) * by;
    const mute = ".chip, .const, :not(.now)";
    const isTold = part.matches(mute) || Boolean(part.querySelector(".data").textContent);
    return {isDrawn: isDrawn(part), isSeen: low < right && high > left, isTold};
  });
  return {drawn: parts.filter(({isDrawn}) => isDrawn).length, all: parts.length,
    blank: parts.filter(({isDrawn, isSeen, isTold}) => isSeen && !isDrawn || !isTold).length};
}"""
"""How many cards and chips are drawn, and how many are in sight without being so, or lack their number."""


def large() -> str:
    """The page of a network of some ninety nodes."""
    text, values = network(2, 4, 4, 1)
    return html_of(text, **values)


def test_layers_open_by_a_click(browse: Any) -> None:
    page = browse.show(large())
    layers, neurons = ["a1", "a2"], [f"a{layer}_{at}" for layer in (1, 2) for at in range(1, 5)]
    wait_until(page, f"({SHUT})().length")
    assert {*page.evaluate(SHUT)} >= {*neurons, "out"}
    last(page)
    result = page.locator(".cover.neuron", has_text="a2_3").first
    node = int(result.get_attribute("data-result"))
    assert f"data {read(page).data[node]:.3g}".replace("-", "−") in result.text_content()
    while shut := page.evaluate(SHUT):
        assert {*shut} <= {*layers, *neurons, "out"}
        page.locator(".cover.shut").last.click()
    page.locator("#map svg").wait_for()  # the page learns of the graph's size with the next frame
    before = page.evaluate(SCROLLED)
    box = page.locator("#map svg").bounding_box()
    page.mouse.click(box["x"] + 5, box["y"] + 5)
    assert page.evaluate(SCROLLED) != before
    press(page, "To the step's node")
    lit, frame = (
        page.locator(".node.now").first.bounding_box(),
        page.locator("#scroll").bounding_box(),
    )
    assert frame["x"] <= lit["x"] and lit["x"] + lit["width"] <= frame["x"] + frame["width"]
    press(page, "Fit")
    assert page.evaluate(SHUT)


def test_the_keys_lead_into_a_folded_layer(browse: Any) -> None:
    page = browse.show(large())
    wait_until(page, f"({SHUT})().length")
    page.locator("[role=button][tabindex='0'].node, [role=button][tabindex='0'].chip").focus()
    for _ in range(4):
        page.keyboard.press("ArrowDown")
    assert page.evaluate(SHUT) == []


def test_a_small_graph_has_no_map(browse: Any) -> None:
    assert not browse.show(lesson_html("square")).locator("#map").count()


def test_a_long_graph_is_drawn_where_it_is_in_sight(browse: Any) -> None:
    """At each step, there and back, where one scrolls, and where one walks by the keys."""
    page = browse.show(html_of(LONG, x=0.5))
    total = page.evaluate(DRAWN)["all"]

    def is_well(most: float = 0.2) -> bool:
        found = page.evaluate(DRAWN)
        assert found["drawn"] < most * total, found
        return bool(found["drawn"] and not found["blank"])

    # It opens on its output, at a size that can be read.
    assert is_well() and page.locator(".node.output .word").first.bounding_box()["height"] > 10
    for key in ("ArrowRight", "ArrowRight", "End", "ArrowLeft", "Home", *["ArrowRight"] * 9):
        page.keyboard.press(key)
        assert is_well(), key
    page.evaluate("() => document.querySelector('#scroll').scrollTo(3000, 0)")
    page.wait_for_timeout(100)
    assert is_well()
    last(page)
    page.locator(".node[tabindex='0'], .chip[tabindex='0']").first.evaluate("part => part.focus()")
    for _ in range(3):
        page.keyboard.press("ArrowDown")
        assert page.evaluate("document.activeElement.matches('.picked')") and is_well()
    # Its lists follow when the steps pause; on paper all of it is there at once.
    page.keyboard.press("Home")
    page.wait_for_timeout(PAUSE)
    assert len(read(page).data) < 100
    page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    assert all(page.locator(".node:not(.const) .data").all_text_contents())
    assert len(read(page).data) == page.locator(".node").count()
    page.evaluate("() => dispatchEvent(new Event('afterprint'))")


@pytest.mark.numbers
@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_has_nothing_against_it(scheme: str, browse: Any) -> None:
    page = browse.show(large(), color_scheme=scheme)
    last(page)
    assert axe(page, scheme) == []
    page.locator(".cover.shut").last.click()
    assert axe(page, scheme) == []
