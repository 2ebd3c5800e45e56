"""Lessons with prose, played: every task can be done, every part moves, the numbers are the library's."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest

from amounts import some
from browsers import axe
from exprgrad.api import parse
from exprgrad.show.page.lessons import (
    LESSONS,
    Lesson,
    LessonPart,
    Task,
    all_tasks,
    set_columns,
)
from exprgrad.show.text.lines import signed_number
from networks import names_of_weights, room, trained
from pages import answer_all, answer_task, break_it, edit, last, panel, press, read, step_on, unfold

PROSE = [name for name, lesson in LESSONS.items() if lesson.parts]
ORDERS = {"right": "right", "preorder": "preorder", "bfs": "breadth first", "naive": "naive"}
ASKED = {"data": "Data", "local": "Local derivatives", "grad": "Grads"}
SIGNS = {"+=": "+= add up", "=": "= overwrite"}
LONGER = [("moons", 60), ("spiral", 180)]
"""How many steps are taken with other points."""
INSIDE = ("u3", "v3", "b3", "u3*x", "v3*y", "u3*x + v3*y", "u3*x + v3*y + b3", "h3")
BOTH = (("x", "u3"), ("y", "v3"))
"""The nodes in a neuron; those that others read too, with their weights."""
RATES = {"reached": ["0.1"], "zigzags": ["0.009", "0.2", "0.4", "0.9"], "diverged": ["1.1"]}


def lesson_page(browse: Any, name: str, **how: Any) -> Any:
    """The page of a lesson, at its beginning."""
    lesson = LESSONS[name]
    run = parse(lesson.expression).gradient(lesson.values)
    return browse.show(run.explore(lesson=name).html, **how)


def open_part(page: Any, at: int) -> Any:
    """Open a part of the lesson, if it is not open."""
    part = page.locator("#tasks details").nth(at)
    if part.get_attribute("open") is None:
        part.locator("summary").click()
    assert page.locator("#tasks details[open]").count() == 1
    return part


def formula_of(lesson: Lesson, part: LessonPart) -> Any:
    """The run of the formula that a part shows."""
    for formula in lesson.formulas:
        if formula.name == part.formula:
            read_ = parse(formula.expression)
            return (read_.expand(formula.expand) if formula.expand else read_), formula.values
    return parse(lesson.expression), lesson.values


def move(part: Any, state: str, points: str = "circles") -> None:
    """Have what moves in a part get to a state."""
    place = part.locator("[data-live]").or_(part.page.locator("#learns [data-live]"))
    kind = place.get_attribute("data-live")
    if kind == "search":
        while not place.get_by_text("Sweep in this order").is_visible():
            place.get_by_role("button", name="Next in the search").click()
    elif kind == "paths":
        place.get_by_role("slider").press("End")
    elif kind == "differences":
        place.get_by_role("button", name="Down to").click()
    elif kind == "training":
        place.get_by_role("combobox", name="Points").select_option(points)
        step = place.get_by_role("button", name="One step")
        step.evaluate("button => { for (let n = 0; n < 170; n++) button.click(); }")
    else:
        for rate in RATES[state]:
            place.get_by_role("button", name="Back to the start").click()
            place.get_by_role("textbox", name="Rate").fill(rate)
            step = place.get_by_role("button", name="A step down")
            step.evaluate("button => { for (let n = 0; n < 40; n++) button.click(); }")


def reach(page: Any, part: Any, goal: dict[str, Any]) -> None:
    """Do what a goal asks for."""
    for name, number in goal.get("inputs", {}).items():
        edit(page, name, str(number))
    if "order" in goal:
        break_it(page).get_by_label(ORDERS[goal["order"]], exact=True).check()
    if "sign" in goal:
        break_it(page).get_by_label(SIGNS[goal["sign"]], exact=True).check()
    if "step" in goal:
        unfold(page)
        last(page)
    if "node" in goal:
        page.get_by_role("button", name=re.compile(f"^{goal['node']}( =|,|$)")).first.click()
    if "edge" in goal:
        operand, user = goal["edge"]
        page.get_by_role("button", name=f"edge from {operand} to {user}").first.click()
    if "first" in goal:
        first, second = goal["first"]
        break_it(page)
        listed = page.locator("#order li bdi")
        while (names := listed.all_inner_texts()).index(first) > names.index(second):
            press(page, f"{first} earlier")
    if "found" in goal:
        for name in (ASKED[goal["found"]], "Show all", "Stop asking"):
            press(page, name)
    if "live" in goal:
        move(part, goal["live"], goal.get("set", "circles"))


@pytest.mark.parametrize("name", ["tanh", pytest.param("vanish", marks=pytest.mark.slow)])
def test_a_formula_that_is_left_takes_nothing_along(name: str, browse: Any) -> None:
    """Zooming and printing move the code, which is the shown formula's, wherever one came from."""
    page, lesson = lesson_page(browse, name, viewport={"width": 1440, "height": 900}), LESSONS[name]
    for at in range(len(lesson.parts)):
        open_part(page, at)
        for width, height, media in (
            (720, 450, "screen"),
            (1440, 900, "screen"),
            (1440, 900, "print"),
        ):
            page.set_viewport_size({"width": width, "height": height})
            page.emulate_media(media=media)
            page.wait_for_timeout(50)
            assert "null" not in page.locator("body").inner_text().split()
            assert page.locator("#code").count() == 1
    page.emulate_media(media="screen")


@pytest.mark.numbers
@pytest.mark.parametrize(
    "name", [n if n == "paths" else pytest.param(n, marks=pytest.mark.slow) for n in PROSE]
)
def test_every_task_can_be_done(name: str, browse: Any) -> None:
    """Each part shows its formula, with the library's gradient, and leads to the next; all get a tick."""
    page, lesson = lesson_page(browse, name), LESSONS[name]
    for at, part in enumerate(lesson.parts):
        opened = open_part(page, at)
        expression, values = formula_of(lesson, part)
        if part.formula:
            assert page.locator("#formulas [aria-pressed=true]").inner_text() == part.formula
            run, shown = expression.gradient(values), last(page)
            if not run.graph.shapes:
                assert {shown.grad[run.graph.inputs[n]] for n in values} == {*run.gradient.values()}
            page.keyboard.press("Home")
        boxes = opened.locator("li > label input")
        for task, box in zip(part.tasks, boxes.all(), strict=True):
            for goal in task.goals:
                reach(page, opened, dict(goal))
            if task.answer is not None:
                assert not box.is_checked() and box.is_disabled(), task.text
                item = box.locator("xpath=ancestor::li")
                for wrong, why in task.wrong.items():
                    assert answer_task(item, wrong) == f"✗ {why}"
                    assert not item.locator(".seen").is_visible()
                assert answer_task(item, str(task.answer)) == "✓ Right."
            elif not task.goals:
                box.check()
            assert box.is_checked(), task.text
            assert not task.seen or opened.get_by_text(task.seen[:20]).first.is_visible()
        if at + 1 < len(lesson.parts):
            opened.get_by_role("button", name="Next: ").click()
            assert page.locator("#tasks details").nth(at + 1).get_attribute("open") is not None
    assert page.locator("#tasks li > label input:not(:checked)").count() == 0


@pytest.mark.numbers
@pytest.mark.parametrize("name", [name for name in LESSONS if name not in PROSE])
def test_wrong_answers_to_exercises_are_explained(name: str, browse: Any) -> None:
    """Nothing is ticked by them; a right one ticks, or waits for the task's goals."""
    page = lesson_page(browse, name)
    for item, task in zip(page.locator("#tasks li").all(), all_tasks(LESSONS[name]), strict=True):
        for wrong, why in task.wrong.items():
            assert answer_task(item, wrong) == f"✗ {why}"
            assert not item.get_by_role("checkbox").is_checked()
        if task.answer is not None:
            assert answer_task(item, str(task.answer)) == "✓ Right."


@pytest.mark.numbers
@pytest.mark.parametrize(
    "name, scheme",
    [
        ("order", "light"),
        *[pytest.param(n, "light", marks=pytest.mark.slow) for n in PROSE if n != "order"],
        *[pytest.param(n, "dark", marks=pytest.mark.slow) for n in ("order", "descent")],
    ],
)
def test_axe_has_nothing_against_any_part(name: str, scheme: str, browse: Any) -> None:
    page, parts = lesson_page(browse, name, color_scheme=scheme), len(LESSONS[name].parts)
    for at in range(parts) if name == "order" else some(range(parts), name, 2):
        opened = open_part(page, at)
        unfold(page)
        last(page)
        for button in opened.locator("[data-live] button:enabled").all()[:2]:
            button.click()
        assert axe(page, scheme) == []


def test_the_search_finds_an_order_that_is_right(browse: Any) -> None:
    page = lesson_page(browse, "order", viewport={"width": 390, "height": 664})
    page.get_by_role("button", name="Lesson", exact=True).click()
    part = open_part(page, 1)
    move(part, "end")
    assert part.locator(".facts dd").all_inner_texts()[1:] == ["y, b, a, 1, c", "a, 1, b, c, y"]
    assert page.locator(".visited").count() == 5
    part.get_by_text("Sweep in this order").click()
    part.locator("summary").click()
    assert page.locator(".visited, .searching").count() == 0
    assert page.locator("#order li bdi").all_text_contents() == ["y", "c", "b", "a"]
    assert last(page).grad[0] == 21


@pytest.mark.parametrize(
    "name, place, rate",
    [
        ("descent", 0, 0.3),
        ("descent", 1, 0.009),
        ("descent", 1, 0.011),
        ("kink", 0, 0.4),
        ("kink", 1, 0.2),
    ],
)
def test_descent_takes_the_steps_of_descend(
    name: str, place: int, rate: float, browse: Any
) -> None:
    """To the last bit, along a parabola, in a valley, beyond all bounds, across a kink."""
    page, lesson = lesson_page(browse, name), LESSONS[name]
    expression, values = formula_of(lesson, lesson.parts[place])
    part = open_part(page, place)
    part.get_by_role("textbox", name="Rate").fill(str(rate))
    steps = expression.descend(values, rate=rate, steps=12).steps
    for step in steps[1:10]:
        part.get_by_role("button", name="A step down").click()
        shown = read(page)
        for given, x in step.inputs.items():
            node = expression.graph.inputs[given]
            assert shown.data[node] == x and shown.grad[node] == step.gradient[given]
    assert part.locator("svg.plot").count() == 2
    if place == 1:
        part.locator("svg.plot").first.click()
        assert "Choose a rate" in part.inner_text()


def test_descent_on_a_formula_s_page(browse: Any) -> None:
    """Of three inputs, two make the map; the steps are those of ``descend``, and kinks are dashed."""
    expression, values = parse("abs(u) + (v - 1)^2*w"), {"u": 0.3, "v": 2, "w": 1}
    page = browse.show(expression.gradient(values).explore(descend=True).html)
    place = panel(page, "Descent")
    place.get_by_role("textbox", name="Rate").fill("0.2")
    for step in expression.descend(values, rate=0.2, steps=6).steps[1:7]:
        place.get_by_role("button", name="A step down").click()
        shown = read(page)
        for given, x in step.inputs.items():
            node = expression.graph.inputs[given]
            assert shown.data[node] == x and shown.grad[node] == step.gradient[given]
    assert axe(page, "light") == []
    svg, loss = place.locator("svg.plot").all()
    assert loss.locator(".curve").count() == 1 and svg.locator(".dot").count() == 7
    # The kink is where u is 0, all the way up: ten cuts, two decimals.
    across = re.findall(r"([\d.]+) [\d.]+(?=[ML]|$)", svg.locator(".bend").get_attribute("d"))
    assert len(across) >= 80
    near = 200 / 40 * 0.55**10 + 0.005
    zero = place_of(svg, "u", 0)
    assert all(abs(float(x) - zero) <= near for x in across)
    place.get_by_role("combobox", name="To the right").select_option("w")
    svg = place.locator("svg.plot").first
    assert "w to the right, v up" in svg.get_attribute("aria-label")
    assert not svg.locator(".bend").get_attribute("d")
    box = svg.locator(".ground").bounding_box()
    spot = {"x": 0.25 * box["width"], "y": 0.375 * box["height"]}
    svg.locator(".ground").click(position=spot)
    found = read(page).data
    clicked = [found[expression.graph.inputs[name]] for name in "wv"]
    places = [place_of(svg, name, x) for name, x in zip("xy", clicked, strict=True)]
    assert places == pytest.approx([0.25 * 200, 0.625 * 200], abs=2)
    edit(page, "u", "0.3")
    edit(page, "v", "1")
    for _ in range(4):
        place.get_by_role("button", name="A step down").click()
    assert "it zigzags across a kink" in place.get_by_role("status").text_content()
    # A kink on the way is not the cause where the slope is the same on both sides.
    run = parse("(u - 1)^2 + 10*v^2 + abs(u - v)").gradient(u=-3, v=1)
    page = browse.show(run.explore(descend=True).html)
    for _ in range(6):
        panel(page, "Descent").get_by_role("button", name="A step down").click()
    said = panel(page, "Descent").get_by_role("status").text_content()
    assert "it zigzags, for each step goes too far" in said


MARKS = """svg => [...svg.querySelectorAll(".tick")].map(text => [
  text.classList.contains("up"), text.getBoundingClientRect().height,
  ...[text.textContent.replace("−", "-"), text.getAttribute("x"), text.getAttribute("y")].map(Number),
])"""


CUT = """svg => {
  const own = svg.getBoundingClientRect();
  const isCut = ({left, right, top, bottom}) =>
    left < own.left || right > own.right || top < own.top || bottom > own.bottom;
  return [...svg.querySelectorAll(".tick")]
    .filter(text => isCut(text.getBoundingClientRect())).map(text => text.textContent);
}"""
"""The numbers at a plot's axes that do not lie within it whole."""


def scale_of(svg: Any, *, up: bool) -> tuple[float, float, float]:
    """A number at an axis, its place in the frame, from the left or from below, and a unit's length."""
    found = [
        (x, 204 - y if up else at) for is_up, _, x, at, y in svg.evaluate(MARKS) if is_up == up
    ]
    (low, start), *_, (high, end) = found
    return low, start, (end - start) / (high - low)


def place_of(svg: Any, name: str, x: float) -> float:
    """Where a number is in the frame, in its own units, by the numbers at its axes; u and x go right."""
    low, start, unit = scale_of(svg, up=name not in "ux")
    return start + (x - low) * unit


@pytest.mark.parametrize(
    "rate, width",
    [
        ("0.009", 390),
        pytest.param("0.011", 1440, marks=pytest.mark.slow),
        pytest.param("0.009", 1440, marks=pytest.mark.slow),
    ],
)
def test_the_valley_is_seen(rate: str, width: int, browse: Any) -> None:
    """A unit of u is as long as one of v; the window holds the path, each point where the axes say."""
    page = lesson_page(browse, "descent", viewport={"width": width, "height": 900})
    if width < 1000:
        page.get_by_role("button", name="Lesson", exact=True).click()
    part = open_part(page, 1)
    part.get_by_role("textbox", name="Rate").fill(rate)
    windows = set()
    values = {"u": -3.0, "v": 1.0}
    course = parse("u^2 + 100*v^2").descend(values, rate=float(rate), steps=30).steps
    for step in course[1:]:
        part.get_by_role("button", name="A step down").click()
        svg = part.locator("svg.plot").first
        u, v = scale_of(svg, up=False), scale_of(svg, up=True)
        assert u[2] == pytest.approx(v[2], rel=1e-9)
        windows.add(v)
        dots = svg.locator(".dot").evaluate_all(
            "all => all.map(dot => [dot.cx, dot.cy].map(at => at.baseVal.value))"
        )
        assert all(0 < x < 200 and 0 < y < 200 for x, y in dots)
        places = [
            u[1] + (step.inputs["u"] - u[0]) * u[2],
            200 - v[1] - (step.inputs["v"] - v[0]) * v[2],
        ]
        assert dots[-1] == pytest.approx(places, abs=1e-3)
        # The dotted line leads from there along -gradient, past the minimum.
        ends = svg.locator(".downhill").evaluate("line => [...line.points].map(({x, y}) => [x, y])")
        assert ends[0] == pytest.approx(dots[-1])
        along = [ends[1][0] - ends[0][0], ends[0][1] - ends[1][1]]
        grads = [-step.gradient[name] for name in "uv"]
        assert along[0] * grads[1] == pytest.approx(along[1] * grads[0], rel=1e-3, abs=1e-3)
        assert along[0] * grads[0] >= 0 and along[1] * grads[1] >= 0
    assert (len(windows) > 2) == (rate == "0.011")
    assert svg.evaluate(CUT) == []
    heights = [height for _, height, *_ in svg.evaluate(MARKS)]
    assert len(heights) >= 6 and min(heights) >= 11
    # Contours reach all four sides of the frame, or nearly.
    ends = re.findall(r"[ML]([\d.]+) ([\d.]+)", "".join(
        line.get_attribute("d") for line in svg.locator(".level").all()
    ))  # fmt: skip
    for at in (0, 1):
        cuts = [float(end[at]) for end in ends]
        assert min(cuts) < 5 and max(cuts) > 195


@pytest.mark.parametrize(
    "text, x, told",
    [
        ("x^2", 1.5, "x^2 is 0: the slope is 0, and it moves no more. It is at the bottom of"),
        ("x^3/3", 2, "x^3/3 is 0: the slope is 0, and it moves no more. This is a flat place."),
    ],
)
def test_descent_says_where_it_rests(text: str, x: float, told: str, browse: Any) -> None:
    """A slope of 0 is the bottom of the curve, or is not."""
    page = browse.show(parse(text).gradient(x=x).explore(descend=True).html)
    place = panel(page, "Descent")
    place.get_by_role("textbox", name="Rate").fill("0.5")
    place.get_by_role("button", name="A step down").click()
    assert told in place.get_by_role("status").text_content()


WEIGHTS = """(steps) => {
  const fields = [...document.querySelectorAll("#inputs .input")];
  const field = name => fields.find(one => one.textContent.startsWith(name)).querySelector("input");
  const buttons = [...document.querySelectorAll("button")];
  const step = buttons.find(one => one.textContent === "One step");
  return Array.from({length: steps}, () => {
    step.click();
    return NAMES.map(name => field(name).value);
  });
}"""


def train(page: Any, points: str, steps: int) -> list[list[float]]:
    """Choose points and take steps: the weights after each, to the last bit."""
    page.locator("#learns").get_by_role("combobox", name="Points").select_option(points)
    found = page.evaluate(WEIGHTS.replace("NAMES", str(names_of_weights(6))), steps)
    return [[float(text.replace("−", "-")) for text in texts] for texts in found]


@pytest.mark.numbers
@pytest.mark.parametrize(
    "points, steps",
    [("circles", 30), *[pytest.param(*few, marks=pytest.mark.slow) for few in LONGER]],
)
def test_training_is_numpy_s(points: str, steps: int, browse: Any) -> None:
    """The weights after every step are those of a program written by hand, to what both may round."""
    page, lesson = lesson_page(browse, "network"), LESSONS["network"]
    found = train(page, points, steps)
    wanted = trained(lesson.values, set_columns(points), 0.5, steps).weights
    apart = room(wanted, set_columns(points), 0.5)
    assert abs(found[0] - wanted[1]).max() < 1e-15
    assert np.all(abs(found[-1] - wanted[-1]) <= apart) and apart.max() < 1e-9
    assert f"After {steps} steps" in page.locator("#learns").inner_text()


def test_a_neuron_opens_while_it_trains(browse: Any) -> None:
    """Its inside has the numbers that the library has for its nodes, of x and y what it passes to them."""
    page, lesson = lesson_page(browse, "network"), LESSONS["network"]
    expression = parse(lesson.expression)
    page.get_by_role("group", name="Neuron").get_by_role("button", name="h3").click()
    for points in ("moons", "spiral"):
        found = train(page, points, 2)[-1]
        values = lesson.values | dict(zip(names_of_weights(6), found, strict=True))
        run = expression.expand("n").gradient(values)
        nodes = {node.name or node.text: node for node in run.nodes}
        inside = page.locator("#learns .inside")
        assert inside.get_attribute("aria-label") == "Inside h3 = n(u3, v3, b3, x, y)"
        own = {name: nodes[name].grad for name in INSIDE}
        own |= {name: nodes[f"{weight}*{name}"].grad * values[weight] for name, weight in BOTH}
        for kind, wanted in (
            ("data", [nodes[name].data for name in own]),
            ("grad", [*own.values()]),
        ):
            shown = inside.locator(f".{kind}").all_text_contents()
            assert sorted(shown) == sorted(f"{x + 0:.6g}".replace("-", "−") for x in wanted)
        assert axe(page, "light") == []
    page.locator(".mark").nth(20).click()
    across, up, _ = set_columns("spiral")
    now = read(page).data
    assert [now[expression.graph.inputs[name]] for name in "xy"] == [across[20], up[20]]
    assert page.locator("#learns .inside").is_visible()
    # In the whole graph it opens by its knob, beside it.
    unfold(page)
    page.locator(".call .knob").nth(2).click()
    inside = page.locator("#closer .inside")
    assert inside.is_visible() and inside.get_attribute("aria-label").startswith("Inside h3 = ")


IN_FRONT = """() => {
  const seen = parts => [...document.querySelectorAll(parts)].filter(part => {
    const {left, top, right, bottom, width, height} = part.getBoundingClientRect();
    const [frame] = [...document.querySelectorAll("#learns")].map(own => own.getBoundingClientRect());
    return width && height && left >= frame.left && right <= frame.right
      && top >= frame.top && bottom <= Math.min(frame.bottom, innerHeight);
  }).length;
  return ["#learns .mark", "#learns .curve", "#learns .node .data", "#graph"].map(seen);
}"""


@pytest.mark.parametrize("width, height", [(1440, 900), (1280, 640), (768, 1024), (390, 664)])
def test_a_network_opens_on_what_it_learns(width: int, height: int, browse: Any) -> None:
    """The points, the loss and a neuron with its numbers are in sight; the graph is a click away."""
    page = lesson_page(browse, "network", viewport={"width": width, "height": height})
    for _ in range(3):
        press(page, "One step")
    points, curves, numbers, graphs = page.evaluate(IN_FRONT)
    assert points == 32 and curves == 1 and numbers >= 1 and graphs == 0
    assert all(page.locator("#learns .data").all_text_contents())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    press(page, "The whole graph")
    assert page.locator("#graph").is_visible() and not page.locator("#learns").is_visible()
    press(page, "First step")
    step_on(page)
    press(page, "What it learns")
    # A step shows the graph, too.
    page.keyboard.press("ArrowRight")
    assert page.locator("#graph").is_visible()
    press(page, "What it learns")
    # The neuron is that of the step, and has all its numbers.
    inside = page.locator("#learns .inside")
    assert inside.get_attribute("aria-label").startswith("Inside h2 = ")
    assert all(inside.locator(".grad").all_text_contents())
    if width < 960:
        press(page, "Ask me")
    press(page, "Grads")
    assert page.locator("#graph input").first.is_visible()


def test_long_numbers_at_the_axes_are_whole(browse: Any) -> None:
    page = lesson_page(browse, "descent")
    part = open_part(page, 1)
    part.get_by_role("textbox", name="Rate").fill("0.0135")
    for _ in range(30):
        part.get_by_role("button", name="A step down").click()
    svg = part.locator("svg.plot").first
    assert any("e+06" in text for text in svg.locator(".tick").all_text_contents())
    assert svg.evaluate(CUT) == []


def test_training_steps_for_nobody(browse: Any) -> None:
    """A task that asks for the last step is not done while the graph is folded: training ends there."""
    page = lesson_page(browse, "network")
    press(page, "One step")
    item = page.locator("#tasks li").first
    assert answer_task(item, "w3") == "✓ Right."
    assert not item.get_by_role("checkbox").is_checked()
    press(page, "The whole graph")
    assert item.get_by_role("checkbox").is_checked()


def test_an_address_with_a_step_shows_the_graph(browse: Any) -> None:
    page = lesson_page(browse, "network")
    address = page.url
    page.goto("about:blank")
    page.goto(f"{address}#step=3")
    browse.asked.clear()
    assert page.locator("#graph").is_visible() and page.locator("#slider").input_value() == "3"


def test_differences_are_those_of_the_formula(browse: Any) -> None:
    page = lesson_page(browse, "check")
    part = open_part(page, 0)
    part.get_by_role("button", name="Down to").click()
    rows = part.locator("[data-live] tbody tr")
    assert rows.count() == 17
    for at in (0, 3, 6):
        h = float(f"1e-{at}")
        one, both = ((2 + h) ** 3 - 8) / h, ((2 + h) ** 3 - (2 - h) ** 3) / (2 * h)
        shown = rows.nth(at).locator("td").all_inner_texts()
        # Ten digits are shown; a power may be rounded another way, which 1/h makes larger.
        room = 5e-9 + 2 * math.ulp(8.0) / h
        assert [float(cell) for cell in shown] == pytest.approx([one, both], rel=0, abs=room)


def test_paths_are_counted(browse: Any) -> None:
    page = lesson_page(browse, "paths")
    part = open_part(page, 2)
    told = "The forward sweep takes 4 × and 0 +; the reverse sweep takes a × and a + for each edge"
    assert f"Here 16 paths lead from a to y. {told}, and has passed 0 of 8." in part.inner_text()
    last(page)
    assert "and has passed 8 of 8." in part.inner_text()
    assert part.locator(".bars span").all_inner_texts()[1::2] == ["80", "16"]
    assert "Path by path takes 64 × and 16 +, the sweep 8 × and 8 +." in part.inner_text()
    for _ in range(9):
        part.get_by_role("slider").press("ArrowRight")
    assert "10 copies: 1,099,511,627,776 paths" in part.inner_text()
    assert "the paths take 12 hours, and the sweep a moment" in part.inner_text()


def test_a_lesson_lasts_when_its_formula_changes(browse: Any) -> None:
    """Ticks stay; the address names the formula, and leads back to it."""
    page = lesson_page(browse, "start", viewport={"width": 390, "height": 664})
    page.get_by_role("button", name="Lesson", exact=True).click()
    page.get_by_label("Your answer").first.fill("10")
    page.get_by_label("Your answer").first.press("Enter")
    last(page)
    assert page.locator("#tasks li > label input:checked").count() == 1
    page.get_by_role("button", name="a·a", exact=True).click()
    assert page.evaluate("document.activeElement.textContent") == "a·a"
    assert page.locator("html").get_attribute("data-tab") == "Lesson"
    assert page.locator("#tasks li > label input:checked").count() == 1
    page.keyboard.press("End")
    page.wait_for_url("**#open=2&step=*")
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    browse.asked.clear()
    assert page.locator("#formulas code").filter(visible=True).all_inner_texts() == ["y = a*a"]
    assert read(page).grad[0] == 6
    assert page.locator("#tasks li > label input:checked").count() == 1


def test_a_wrong_answer_is_explained_by_the_chain_rule(browse: Any) -> None:
    """The task asks for the grad of a; giving up shows what one sees, and ticks nothing."""
    page = lesson_page(browse, "start")
    field, reply = page.get_by_label("Your answer").first, page.locator("#tasks output").first
    for words, why in {
        "1": "The local derivative of y for s is missing.",
        "-1": "The local derivative of y for s is the other factor.",
        "2": "That is the data of a.", "7": "Not yet.", "ten": "A number, please.",
        "-10": "The size is right, the sign is not.",
    }.items():  # fmt: skip
        field.fill(words)
        field.press("Enter")
        assert reply.inner_text() == f"✗ {why}"
    page.get_by_role("button", name="Give up").first.click()
    assert page.locator("#tasks .seen").first.is_visible()
    assert page.locator("#tasks li > label input:checked").count() == 0


def test_a_node_that_is_not_visited_comes_before_none(browse: Any) -> None:
    """Of the wrong orders that are offered, one leaves out the input: the task is about another."""
    page = lesson_page(browse, "diamond")
    answer_all(page, LESSONS["diamond"])
    break_it(page).get_by_label("preorder", exact=True).check()
    done = [box.is_checked() for box in page.locator("#tasks li > label input").all()]
    assert done == [True, False, False, False, False]


def test_bars_are_seen_in_forced_colours(browse: Any) -> None:
    """They are borders: backgrounds are taken away there."""
    page = lesson_page(browse, "vanish", forced_colors="active")
    last(page)
    bar = page.locator(".bar").first
    assert bar.bounding_box()["height"] > 8
    colours = (
        "e => [getComputedStyle(e).borderTopColor, getComputedStyle(document.body).backgroundColor]"
    )
    own, behind = bar.evaluate(colours)
    assert own != behind


SEEN_BY_STEP = r"""() => {
  const home = "section, header, #deck, #scroll";
  const skipped = "#count, #tour, #keys, summary, script, style, template";
  const seen = () => {
    const found = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const {parentElement: part, data} = walker.currentNode;
      if (/\d/.test(data) && !part.closest(skipped) && part.checkVisibility({visibilityProperty: true}))
        found.push([part.closest(home)?.id ?? "", data]);
    }
    return found;
  };
  const all = name => [...document.querySelectorAll(name)], [slider] = all("#slider"), steps = [];
  document.querySelector('[aria-label="First step"]').click();
  for (;;) {
    const held = all("[data-node]").flatMap(({dataset}) => [dataset.data, dataset.grad]);
    const said = all("#sentence, [data-edge] td:nth-child(3)").map(cell => cell.textContent);
    steps.push([seen(), held.filter(Boolean).join(",").split(",").map(Number), said.join("  ")]);
    if (slider.value === slider.max) return steps;
    document.querySelector("#forth").click();
  }
}"""
"""By step, the visible texts with digits, each with its part of the page, what the nodes have, and what the
wires have and the sentence says."""
NUMBER = re.compile(r"(?<![\w.^])[−-]?\d[\d,]*(?:\.\d+)?(?:e[+−-]\d+)?")
NOT_SAID = re.compile(r"^Next: \d+\.|^[\d.]+ more moves|and \d+ more$")
COUNTS = range(13)
RESULTS = {"deck", "visits", "nodes", "steps"}


def numbers_of(text: str) -> set[str]:
    """The numbers of a text, as the page writes them."""
    found = NUMBER.findall(NOT_SAID.sub("", text))
    return {one.rstrip(",").replace(",", "").replace("-", "−") for one in found}


@pytest.mark.numbers
@pytest.mark.parametrize(
    "name",
    [n if n in ("chain", "diamond") else pytest.param(n, marks=pytest.mark.slow) for n in LESSONS],
)
def test_no_answer_is_seen_before_it_is_given(name: str, browse: Any) -> None:
    """A typed answer stands nowhere on the page, at no step of the sweeps, before the sweeps have found it.

    A number that they have found, in a node, on a wire or in a sentence, is known, even if a task asks for
    it: it may be another one, and stepping is what tasks ask for.  A whole number up to 12 may count parts,
    rows or steps in a text: it is looked for where results stand.  A choice stands on its button.
    """
    page, lesson = lesson_page(browse, name), LESSONS[name]
    known: dict[str, set[str]] = {}
    parts: list[Lesson | LessonPart] = [*lesson.parts] or [lesson]
    for at, part in enumerate(parts):
        if lesson.parts:
            open_part(page, at)
        own = known.setdefault(getattr(part, "formula", ""), set())
        asked = [task.answer for task in part.tasks if isinstance(task, Task)]
        for texts, held, said in page.evaluate(SEEN_BY_STEP):
            own |= numbers_of(said) | {signed_number(x, 6) for x in held}
            for answer in asked:
                if isinstance(answer, int | float) and signed_number(answer, 6) not in own:
                    told = [
                        text for place, text in texts if answer not in COUNTS or place in RESULTS
                    ]
                    found = [text for text in told if signed_number(answer, 6) in numbers_of(text)]
                    assert not found, (part.title, answer)
