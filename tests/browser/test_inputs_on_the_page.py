"""Inputs by mouse and by slider: what is touched moves, and what is not keeps every digit."""

from __future__ import annotations

import math
from typing import Any

import pytest

from exprgrad.api import parse
from exprgrad.show.page.lessons import LESSONS
from exprgrad.show.text.lines import signed_number
from pages import DEEP, edit, html_of, lesson_html, panel, press, read


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


WIGGLED = """() => Object.fromEntries([...document.querySelectorAll(".wiggle")]
  .map(text => [text.parentNode.id, text.textContent]))"""
NODES = ("p = x*w", "s = p + x + b", "o = tanh(s)")
VALUES = {"x": 0.5, "w": -3.0, "b": 0.8}


def number(x: float) -> str:
    """A number above a node, with its sign."""
    return ("+" if x > 0 else "") + signed_number(x, 4)


def test_a_wiggle_goes_through_the_graph(browse: Any) -> None:
    """Above each node that an input reaches: how far it moves for a small step, beside its slope."""
    page = browse.show(html_of("; ".join(NODES), **VALUES))
    inputs = panel(page, "Inputs")
    wigglers = inputs.get_by_role("group", name="Wiggle").get_by_role("button")
    for name, h in {"x": 0.001, "w": 0.01, "b": 0.001}.items():
        wigglers.get_by_text(name, exact=True).click()
        found = [*page.evaluate(WIGGLED).values()]
        expected = ["+h"]
        for end in range(1, len(NODES) + 1):
            formula = parse("; ".join(NODES[:end]))
            if name in formula.inputs:
                own = {key: VALUES[key] for key in formula.inputs}
                run, near = formula.gradient(own), formula.evaluate({**own, name: own[name] + h})
                slope = signed_number(run.gradient[name], 4)
                expected.append(f"{number(near.value - run.value)} ≈ {slope} × h")
        # A sum of three is two nodes.
        assert {*expected} <= {*found} and len(found) - len(expected) == (name != "b")
        assert f"the grad of {name} × h is {number(run.gradient[name] * h)}." in inputs.inner_text()
    wigglers.get_by_text("b", exact=True).click()
    assert page.evaluate(WIGGLED) == {} and "goes up by" not in inputs.inner_text()


OVERLAPS = """() => {
  const box = part => part.getBoundingClientRect(), labels = [...document.querySelectorAll(".wiggle")];
  const others = [...document.querySelectorAll(".node > rect, .chip > rect")].map(box);
  return labels.map(box).filter(own => own.width && others.some(({left, right, top, bottom}) =>
    left < own.right && right > own.left && top + 1 < own.bottom && bottom > own.top + 1)).length;
}"""


def test_what_a_wiggle_writes_covers_nothing(browse: Any) -> None:
    """In a long chain, whose chips are near."""
    page = browse.show(html_of(DEEP, x=0.5, w=0.9, b=0.1))
    page.keyboard.press("End")
    buttons = page.get_by_role("group", name="Wiggle").get_by_role("button")
    for button in buttons.all():
        button.click()
        assert page.locator(".wiggle").count() > 20 and page.evaluate(OVERLAPS) == 0


def test_a_wiggle_follows_edits_and_hides_from_questions(browse: Any) -> None:
    page = browse.show(html_of("y = a*a", a=2.0))
    panel(page, "Inputs").get_by_role("group", name="Wiggle").get_by_role("button").click()
    assert page.evaluate(WIGGLED) == {"n0": "+h", "n1": "+0.0401 ≈ 4 × h"}
    edit(page, "a", "3")
    assert page.evaluate(WIGGLED) == {"n0": "+h", "n1": "+0.0601 ≈ 6 × h"}
    press(page, "Grads")
    assert not "".join(page.evaluate(WIGGLED).values())
    press(page, "Stop asking")
    assert page.evaluate(WIGGLED)["n1"] == "+0.0601 ≈ 6 × h"


def test_a_wiggle_gives_no_answer_away(browse: Any) -> None:
    """Where a task asks for grads, it goes as soon as the sweep has found the input's."""
    page = browse.show(lesson_html("neuron"))
    inputs = panel(page, "Inputs")
    inputs.get_by_role("group", name="Wiggle").get_by_role("button", name="w1").click()
    assert not "".join(page.evaluate(WIGGLED).values())
    assert "Step on until w1 has its grad." in inputs.inner_text()
    press(page, "Last step")
    assert page.evaluate(WIGGLED)["n1"] == "+h" and "Step on" not in inputs.inner_text()


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
