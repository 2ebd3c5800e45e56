"""Inputs by mouse and by slider: what is touched moves, and what is not keeps every digit."""

from __future__ import annotations

import math
from typing import Any

import pytest

from exprgrad.api import parse
from exprgrad.show.page.lessons import LESSONS
from pages import edit, html_of, lesson_html, panel, read


def node_of(name: str) -> int:
    """The id of an input of the lesson ``neuron``."""
    return parse(LESSONS["neuron"].expression).graph.inputs[name]


def data(page: Any, node: int) -> float:
    """What the page holds for a node, to the last digit."""
    return read(page).data[node]


def press_on(page: Any, node: int, *moves: int) -> None:
    """Press on a card, move so many pixels to the right of there, and let go."""
    box = page.locator(f"#n{node}").bounding_box()
    x, y = box["x"] + 12, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    for move in moves:
        page.mouse.move(x + move, y)
    page.mouse.up()


def test_a_click_is_no_edit(browse: Any) -> None:
    page, node = browse.show(lesson_html("neuron")), node_of("b")
    press_on(page, node, 1, 3, 0)
    assert data(page, node) == LESSONS["neuron"].values["b"]
    assert not read(page).grad, "no step was made"
    assert panel(page, "Look closer").get_by_role("heading", name="b", exact=True).count()


def test_a_drag_is_no_click(browse: Any) -> None:
    page, node = browse.show(lesson_html("neuron")), node_of("b")
    start = LESSONS["neuron"].values["b"]
    press_on(page, node, 10, 30)
    assert data(page, node) == pytest.approx(start + 15 * 0.02, rel=1e-11)
    assert not panel(page, "Look closer").get_by_role("heading", name="b", exact=True).count()
    edit(page, "b", repr(start))
    press_on(page, node, 30, 0)
    assert data(page, node) == start, "back where it began"
    press_on(page, node)
    assert panel(page, "Look closer").get_by_role("heading", name="b", exact=True).count()


SLIDER = "slide => [Number(slide.value), slide.disabled, slide.getAttribute('aria-valuetext')]"


def test_a_slider_is_where_its_number_is(browse: Any) -> None:
    page = browse.show(html_of("a*b + c", a=2.0, b=8e307, c=math.inf))
    slider, far, infinite = (
        page.get_by_role("slider", name=f"{name}, by a slider", exact=True) for name in "abc"
    )
    for typed, value in (("2", 2), ("1000", 1000), ("-5e6", -5e6), ("1", 1)):
        edit(page, "a", typed)
        found, disabled, told = slider.evaluate(SLIDER)
        assert found == pytest.approx(value) and not disabled
        assert float(told.replace("−", "-")) == value
    edit(page, "a", "nan")
    assert slider.evaluate(SLIDER)[1:] == [True, "nan"]
    assert far.evaluate(SLIDER)[1:] == [True, "8e+307"]
    assert infinite.evaluate(SLIDER)[1:] == [True, "inf"]
    edit(page, "c", "3")
    assert infinite.evaluate(SLIDER) == [3, False, "3"]


@pytest.mark.slow
def test_no_step_is_too_small_to_tell(browse: Any) -> None:
    page = browse.show(html_of("a*b", a=5e-324, b=1.0))
    assert "0 more moves" not in panel(page, "Inputs").inner_text().splitlines()
