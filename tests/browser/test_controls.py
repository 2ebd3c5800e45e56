"""Each control does what it says: by mouse, by slider, by key, and in a window of another size."""

from __future__ import annotations

from typing import Any

import pytest

from exprgrad.show.page.lessons import LESSONS
from pages import (
    Shown,
    answer_all,
    break_it,
    edit,
    html_of,
    last,
    lesson_html,
    panel,
    press,
    read,
    results,
    run_of,
    step_on,
)

GRAPH = LESSONS["graph"]
CHAIN = "; ".join(["t0 = x + 1", *(f"t{k + 1} = sin(t{k})" for k in range(11))])
"""A graph that is wider than any window here."""


def slider(page: Any, name: str) -> Any:
    """A slider."""
    return page.get_by_role("slider", name=name, exact=True)


def shown_steps(page: Any) -> list[Shown]:
    """What is shown at each step, by the arrow keys."""
    page.keyboard.press("Home")
    steps = [read(page)]
    for _ in range(int(slider(page, "Step").get_attribute("max"))):
        page.keyboard.press("ArrowRight")
        steps.append(read(page))
    return steps


def test_ways_through_the_steps(browse: Any) -> None:
    """Buttons, the slider, the list of steps: each goes where the arrow keys do."""
    page = browse.show(html_of("b = a + 1; c = a*3; d = b*c", a=2.0))
    steps = shown_steps(page)
    end = len(steps) - 1
    press(page, "First step")
    assert read(page) == steps[0]
    press(page, "Back a step")
    assert read(page) == steps[0]
    for at in (1, 2, 3):
        step_on(page)
        assert read(page) == steps[at]
    press(page, "Back a step")
    assert read(page) == steps[2]
    press(page, "Last step")
    assert read(page) == steps[end]
    step_on(page)
    assert read(page) == steps[end]
    press(page, "Back a step")
    assert read(page) == steps[end - 1]
    listed = panel(page, "Steps").get_by_role("listitem")
    assert listed.count() == end
    for at in (5, 1, end):
        slider(page, "Step").fill(str(at))
        assert read(page) == steps[at]
        listed.nth(at - 2).click()
        to = (at - 2) % end + 1
        assert read(page) == steps[to] and listed.nth(to - 1).inner_text() == steps[to].sentence
        assert page.locator("[aria-current=step]").inner_text() == steps[to].sentence
        assert slider(page, "Step").input_value() == str(to)
    press(page, "First step")
    assert read(page) == steps[0]


@pytest.mark.slow
def test_play_and_pause(browse: Any) -> None:
    """It goes on by itself, step by step, to the end; a press pauses it, and so does a step."""
    page = browse.show(lesson_html("diamond"), locale="en-IE")
    page.clock.install()
    page.reload()
    browse.asked.clear()
    steps = shown_steps(page)
    assert read(page) == steps[-1]
    press(page, "Play")
    assert read(page) == steps[0]
    page.clock.run_for(3_000)
    assert read(page) in steps[1:5]
    press(page, "Pause")
    paused = read(page)
    page.clock.run_for(60_000)
    assert read(page) == paused
    press(page, "Play")
    press(page, "First step")
    page.clock.run_for(60_000)
    assert read(page) == steps[0]
    press(page, "Play")
    page.clock.run_for(120_000)
    assert read(page) == steps[-1]
    assert page.get_by_role("button", name="Play", exact=True).is_visible()


def assert_is_run(page: Any, **changed: float) -> None:
    """The page shows the grads of the lesson ``graph`` with some inputs changed."""
    run = run_of(GRAPH.expression, {**GRAPH.values, **changed})
    assert read(page).grad == {node.id: node.grad for node in run.nodes}
    fields = panel(page, "Inputs").get_by_role("textbox")
    assert [float(found.input_value().replace("−", "-")) for found in fields.all()] == [
        *run.inputs.values()
    ]


def test_ways_to_edit_an_input(browse: Any) -> None:
    """Its slider, the arrow keys in its field, its card dragged by the mouse, and Reset."""
    page = browse.show(lesson_html("graph"))
    last(page)
    slider(page, "c, by a slider").fill("-4")
    assert_is_run(page, c=-4)
    field = page.get_by_role("textbox", name="a", exact=True)
    field.press("ArrowUp")
    assert_is_run(page, a=2.1, c=-4)
    field.press("ArrowDown")
    field.press("Shift+ArrowDown")
    assert_is_run(page, a=1, c=-4)
    press(page, "Reset")
    assert_is_run(page)
    page.locator("#n0").scroll_into_view_if_needed()
    box = page.locator("#n0").bounding_box()
    x, y = box["x"] + 9, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 40, y)
    # Two pixels are two small steps, of 0.01.
    assert_is_run(page, a=2.4)
    page.mouse.move(x - 10, y)
    page.mouse.up()
    assert_is_run(page, a=1.9)
    page.mouse.move(x + 30, y)
    assert_is_run(page, a=1.9)
    # With Shift a pixel is a tenth of a small step.
    page.mouse.move(x, y)
    page.mouse.down()
    page.keyboard.down("Shift")
    page.mouse.move(x + 40, y)
    assert_is_run(page, a=1.94)
    page.keyboard.up("Shift")
    page.mouse.move(x + 50, y)
    page.mouse.up()
    assert_is_run(page, a=2.04)


@pytest.mark.slow
def test_a_visit_is_dragged_to_another_place(browse: Any) -> None:
    page = browse.show(lesson_html("diamond"))
    break_it(page)
    items = page.locator("#order li")
    assert items.locator("bdi").all_inner_texts() == ["d", "c", "b", "a"]
    items.nth(1).drag_to(items.nth(3))
    assert items.locator("bdi").all_inner_texts() == ["d", "b", "a", "c"]
    assert results(page) == {"a": (6, 15)}
    items.nth(3).drag_to(items.nth(1))
    assert items.locator("bdi").all_inner_texts() == ["d", "c", "b", "a"]
    assert results(page) == {"a": (15, 15)}


@pytest.mark.slow
def test_what_is_too_long_is_counted(browse: Any) -> None:
    """Of many paths or visits some are listed, and the others are counted."""
    text = "; ".join(["t0 = x*1", *(f"t{k + 1} = t{k}*t{k}" for k in range(6))])
    page = browse.show(html_of(text, x=1.0))
    last(page)
    paths = panel(page, "Visit order").locator("ul.paths li")
    assert paths.count() < 60
    *listed, more = paths.all_inner_texts()
    assert more == f"and {2**6 - len(listed)} more"
    break_it(page).get_by_role("radio", name="naive", exact=True).check()
    *listed, more = page.locator("#order > li").all_inner_texts()
    # Each node is visited once for each way that leads to it.
    visits = run_of(text, {"x": 1.0}).visited("naive").order
    assert more == f"and {len(visits) - len(listed)} more"


def pattern(page: Any) -> str:
    """What is said where one looks closer."""
    return str(panel(page, "Look closer").inner_text())


def test_looking_closer(browse: Any) -> None:
    """At an edge: the gate of its user, and what leads on from there; not while numbers are asked for."""
    page = browse.show(lesson_html("diamond"))
    page.locator("#c5_0").click()
    assert "The edge from b to d" in pattern(page) and "Swap multiplier: " in pattern(page)
    panel(page, "Look closer").get_by_role("button", name="operand b", exact=True).click()
    assert "b = a + 1" in pattern(page) and "Swap multiplier: " not in pattern(page)
    page.locator("#n0").click()
    assert "Used twice: what is passed to it adds up" in pattern(page)
    press(page, "Grads")
    assert not panel(page, "Look closer").count() and not page.locator(".picked").count()
    said = page.locator("#told").inner_text()
    for spot, low in (("#n2", 4), ("#c5_0", 13)):  # beside the fields, which stand in the middle
        page.locator(spot).click(position={"x": 4, "y": low})
        page.locator(spot).press("Enter")
        assert page.locator("#told").inner_text() == said
        assert not page.locator(".picked").count()
    press(page, "Stop asking")
    page.locator("#n2").press("Enter")
    assert "b = a + 1" in pattern(page) and "b = a + 1" in page.locator("#told").inner_text()


IN_SIGHT = """() => {
  const frame = document.querySelector("#scroll").getBoundingClientRect();
  const lit = [...document.querySelectorAll("#graph .node.now")].map(part => part.getBoundingClientRect());
  return lit.length > 0 && lit.every(({left, right}) => left >= frame.left && right <= frame.right);
}"""


@pytest.mark.slow
def test_the_graph_follows_the_steps(browse: Any) -> None:
    """What a step is about is in sight, where the graph is wider than its frame."""
    page = browse.show(html_of(CHAIN, x=0.5), viewport={"width": 700, "height": 800})
    frame = page.locator("#scroll")
    assert frame.evaluate("e => e.scrollWidth > 2 * e.clientWidth")
    for _ in range(14):
        page.keyboard.press("ArrowRight")
        assert page.evaluate(IN_SIGHT)
    assert frame.evaluate("e => e.scrollLeft") > 0
    last(page)
    page.keyboard.press("ArrowLeft")
    assert page.evaluate(IN_SIGHT)


def test_a_window_of_another_size(browse: Any) -> None:
    """The panels are beside the graph, or take turns below it: also when the window's size changes."""
    page = browse.show(lesson_html("diamond"), viewport={"width": 1281, "height": 801})
    tabs = page.get_by_role("navigation", name="Panels")
    for width, beside in ((1281, True), (500, False), (1281, True)):
        page.set_viewport_size({"width": width, "height": 801})
        assert panel(page, "Inputs").count() == beside
        assert tabs.count() == (not beside)
    page.set_viewport_size({"width": 500, "height": 801})
    tabs.get_by_role("button", name="Inputs").click()
    edit(page, "a", "3")
    assert read(page).data[0] == 3 and not panel(page, "Visit order").count()
    tabs.get_by_role("button", name="Order").click()
    assert panel(page, "Visit order").is_visible() and not panel(page, "Inputs").count()
    tabs.get_by_role("button", name="Steps").click()
    assert page.locator("#sentence").is_visible() and not panel(page, "Visit order").count()


def ticked(page: Any) -> list[int]:
    """Which tasks are done, by number."""
    boxes = panel(page, "Try this").get_by_role("checkbox").all()
    return [number for number, box in enumerate(boxes, 1) if box.is_checked()]


def choose(page: Any, name: str) -> None:
    """One of the choices of the visit order."""
    break_it(page).get_by_role("radio", name=name, exact=True).check()


def find_all(page: Any, kind: str) -> None:
    """Have all numbers of a kind shown, and go on."""
    press(page, kind)
    press(page, "Show all")
    press(page, "Stop asking")


def test_tasks_tick_themselves(browse: Any) -> None:
    """And tell then what there was to see; a task of two parts is done after both."""
    page = browse.show(lesson_html("neuron"))
    tasks = panel(page, "Try this")
    answer_all(page, LESSONS["neuron"])
    assert not ticked(page) and "x1, with −1.5" not in tasks.inner_text()
    last(page)
    assert ticked(page) == [1] and "x1, with −1.5" in tasks.inner_text()
    assert "Task 1 is done. x1, with −1.5" in "".join(tasks.get_by_role("status").all_inner_texts())
    edit(page, "b", "10")
    assert ticked(page) == [1]
    edit(page, "b", "6")
    assert ticked(page) == [1, 4]
    edit(page, "x2", "1")
    assert ticked(page) == [1, 3, 4]
    for name in ("preorder", "breadth first", "naive"):
        choose(page, name)
    assert ticked(page) == [1, 3, 4, 5]
    find_all(page, "Local derivatives")
    assert ticked(page) == [1, 2, 3, 4, 5]


@pytest.mark.slow
def test_every_task_can_be_done(browse: Any) -> None:
    page = browse.show(lesson_html("graph"))
    answer_all(page, LESSONS["graph"])
    last(page)
    page.locator("#c6_0").click()
    edit(page, "b", "-2.999")
    break_it(page)
    press(page, "e earlier")
    find_all(page, "Grads")
    assert ticked(page) == [1, 2, 3, 5], "the order of e and d is right still"
    while "✓ right" in panel(page, "Visit order").locator("[data-input=a]").inner_text():
        press(page, "e earlier")
    assert ticked(page) == [1, 2, 3, 4, 5]
    page = browse.show(lesson_html("square"))
    answer_all(page, LESSONS["square"])
    last(page)
    choose(page, "= overwrite")
    choose(page, "+= add up")
    choose(page, "naive")
    edit(page, "b", "-2")
    find_all(page, "Grads")
    assert ticked(page) == [1, 2, 3, 4, 5]
    page = browse.show(lesson_html("diamond"))
    answer_all(page, LESSONS["diamond"])
    last(page)
    for spot in ("#c5_0", "#c5_1"):
        page.locator(spot).click()
        page.keyboard.press("Escape")
    break_it(page)
    press(page, "a earlier")
    press(page, "a earlier")
    choose(page, "right")
    choose(page, "= overwrite")
    edit(page, "a", "-0.5")
    find_all(page, "Grads")
    assert ticked(page) == [1, 2, 3, 4, 5]


FLYING = "document.querySelector('.travellers').childElementCount"


def test_numbers_run_along_the_lit_edges(browse: Any) -> None:
    """On a step ahead alone, and not for those who want less motion; what is shown at last is the same."""
    page = browse.show(lesson_html("neuron"), reduced_motion="no-preference")
    # They fly for less than a second: they are counted as they set out, however busy the machine is.
    page.evaluate(
        f"addEventListener('keydown', () => {{ window.flying = {FLYING} }}, {{once: true}})"
    )
    page.keyboard.press("ArrowRight")
    assert page.evaluate("flying") == 2
    page.wait_for_selector(".travellers text", state="detached")
    assert not page.locator(".coming").count()
    shown = read(page)
    last(page)
    assert page.evaluate(FLYING) == 0
    press(page, "Speed 1×")
    assert page.get_by_role("button", name="Speed 2×", exact=True).inner_text() == "2×"
    page = browse.show(lesson_html("neuron"))
    page.keyboard.press("ArrowRight")
    assert page.evaluate(FLYING) == 0 and read(page) == shown
