"""A graph that is larger than its frame: the map, layers that open, the keys."""

from __future__ import annotations

from typing import Any

import pytest

from browsers import axe
from networks import network
from pages import html_of, last, lesson_html, press, read

SHUT = """() => [...document.querySelectorAll('.cover.shut')]
  .map(cover => cover.querySelector('text').textContent).sort()"""
SCROLLED = """() => {
  const frame = document.querySelector("#scroll");
  return [frame.scrollLeft, frame.scrollTop];
}"""


def large() -> str:
    """The page of a network of some ninety nodes."""
    text, values = network(2, 4, 4, 1)
    return html_of(text, **values)


def test_layers_open_by_a_click(browse: Any) -> None:
    page = browse.show(large())
    layers, neurons = ["a1", "a2"], [f"a{layer}_{at}" for layer in (1, 2) for at in range(1, 5)]
    page.wait_for_function(f"({SHUT})().length")
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
    page.wait_for_function(f"({SHUT})().length")
    page.locator("[role=button][tabindex='0'].node, [role=button][tabindex='0'].chip").focus()
    for _ in range(4):
        page.keyboard.press("ArrowDown")
    assert page.evaluate(SHUT) == []


def test_a_small_graph_has_no_map(browse: Any) -> None:
    assert not browse.show(lesson_html("square")).locator("#map").count()


@pytest.mark.numbers
@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_has_nothing_against_it(scheme: str, browse: Any) -> None:
    page = browse.show(large(), color_scheme=scheme)
    last(page)
    assert axe(page, scheme) == []
    page.locator(".cover.shut").last.click()
    assert axe(page, scheme) == []
