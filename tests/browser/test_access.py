"""Whoever uses the page: by keyboard alone, with a screen reader, in the dark, on a phone, on paper."""

from __future__ import annotations

from typing import Any

import pytest

import golden
from browsers import axe
from exprgrad.show.page.lessons import LESSONS, all_tasks
from pages import (
    break_it,
    edit,
    html_of,
    last,
    lesson_html,
    panel,
    press,
    read,
    results,
    spoken,
    step_on,
)


@pytest.mark.parametrize(
    "name",
    [
        n if n == "neuron" else pytest.param(n, marks=pytest.mark.slow)
        for n in LESSONS
        if not LESSONS[n].parts or n == "order"
    ],
)
def test_what_a_screen_reader_is_told(name: str, browse: Any) -> None:
    page = browse.show(lesson_html(name))
    body = page.locator("body")
    golden.agree(f"page/{name}-start.txt", body.aria_snapshot() + "\n")
    last(page)
    break_it(page)
    golden.agree(f"page/{name}-end.txt", body.aria_snapshot() + "\n")


def test_each_step_is_told(browse: Any) -> None:
    page = browse.show(lesson_html("square"))
    live = page.locator("[aria-live=polite]")
    assert live.count() == 1
    before = live.inner_text()
    page.keyboard.press("ArrowRight")
    assert live.inner_text() == read(page).sentence != before


def tab_to(page: Any, name: str) -> None:
    """Press Tab until something of this name has the focus."""
    met: list[str] = []
    while name not in met and len(met) < 60:
        page.keyboard.press("Tab")
        met.append(spoken(page))
    assert met[-1] == name, ", ".join(met)


def test_by_keyboard_alone(browse: Any) -> None:
    """All that the page can do, without a click."""
    page = browse.show(lesson_html("diamond"))
    key = page.keyboard.press
    # Steps.
    key("ArrowRight")
    assert read(page).sentence == "b = a + 1 = 2 + 1 = 3"
    key("ArrowLeft")
    key("End")
    assert read(page).grad[0] == 15
    key("Home")
    assert not read(page).grad
    # The graph is one stop; with Shift, arrows lead along its wires; Enter looks closer.
    tab_to(page, "a, data 2")
    key("Shift+ArrowRight")
    assert page.locator(":focus").get_attribute("id") in ("c2_0", "c4_0")
    key("Shift+ArrowRight")
    assert page.locator(":focus").get_attribute("id") in ("n2", "n4")
    key("Enter")
    heading = panel(page, "Look closer").get_by_role("heading", level=3).inner_text()
    assert heading in ("b = a + 1", "c = a * 3")
    # Buttons, an input.
    tab_to(page, "Last step")
    key("Enter")
    assert read(page).grad[0] == 15
    tab_to(page, "a")
    key("Control+A")
    page.keyboard.type("-0.5")
    assert read(page).grad[0] == 0
    # The order of visits.
    order = page.locator("#order li bdi")
    tab_to(page, "Break it")
    key("Enter")
    tab_to(page, "d↑↓")
    assert order.all_inner_texts() == ["d", "c", "b", "a"]
    key("ArrowDown")
    key("Alt+ArrowDown")
    key("Alt+ArrowDown")
    assert order.all_inner_texts() == ["d", "b", "a", "c"]
    assert results(page)["a"] == (-1.5, 0)
    # Ask me, and out of it.
    tab_to(page, "Grads")
    key("Enter")
    page.keyboard.type("1")
    key("Enter")
    assert "✓" in panel(page, "Ask me").inner_text()
    key("Escape")
    assert page.locator("#graph input").count() == 0
    # The keys are told.
    key("?")
    dialog = page.get_by_role("dialog", name="Keys")
    assert dialog.is_visible()
    key("Escape")
    assert not dialog.is_visible()


LOOK = """e => {
  const s = getComputedStyle(e.closest("g") ? e.querySelector("rect") : e);
  return [s.outlineStyle, s.outlineWidth, s.boxShadow, s.stroke, s.strokeWidth, s.strokeDasharray].join();
}"""


@pytest.mark.slow
def test_the_focus_is_seen(browse: Any) -> None:
    """Each stop looks different while it has the focus."""
    page = browse.show(lesson_html("square"))
    looks: list[tuple[Any, str]] = []
    for _ in range(60):
        page.keyboard.press("Tab")
        focused = page.evaluate_handle("() => document.activeElement").as_element()
        if looks:
            assert looks[-1][0].evaluate(LOOK) != looks[-1][1], looks[-1][0].evaluate(
                "e => e.outerHTML"
            )
        if focused.evaluate("e => e === document.body"):
            break
        looks.append((focused, focused.evaluate(LOOK)))
    assert 12 < len(looks) < 60


@pytest.mark.numbers
@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_has_nothing_against_it(scheme: str, browse: Any) -> None:
    """At the end, in a wrong order, looking closer, asking, and with the keys open."""
    page = browse.show(lesson_html("neuron"), color_scheme=scheme)
    last(page)
    break_it(page)
    page.get_by_role("button", name="o earlier", exact=True).or_(
        page.get_by_role("button", name="o later", exact=True)
    ).last.click()
    page.locator("#c9_0").click()
    assert axe(page, scheme) == []
    page.keyboard.press("?")
    assert axe(page, scheme) == []
    page.keyboard.press("Escape")
    press(page, "Grads")
    page.keyboard.type("7")
    page.keyboard.press("Enter")
    assert axe(page, scheme) == []


SMALL = """() => [...document.querySelectorAll("button, input, summary, .node, .chip, .knob")]
  .filter(part => !part.closest("label, .inside"))
  .map(part => [part.outerHTML, part.getBoundingClientRect()])
  .filter(([, {width, height}]) => width && height && Math.min(width, height) < 24 - .1)
  .map(([written]) => written.slice(0, 80))"""
"""What can be pressed and is narrower or lower than 24 pixels; a box to tick has its label, and
what is inside of a call is a picture."""
NAMED = ("label-content-name-mismatch", "target-size", "button-name", "label")
"""The rules of axe-core that look at names and sizes."""
FORMULAS = ("f(x) = x*x; f(a) + 2*b", "max(a, abs(b))/a", "sum(relu([[a, b]]*a))")


@pytest.mark.numbers
@pytest.mark.parametrize(
    "name",
    [n if n == "kink" else pytest.param(n, marks=pytest.mark.slow) for n in (*LESSONS, *FORMULAS)],
)
def test_parts_are_called_as_they_are_written(name: str, browse: Any) -> None:
    """Names say what is seen, and what can be pressed is large enough, also on a phone, in each panel."""
    html = lesson_html(name) if name in LESSONS else html_of(name, a=2.0, b=-3.0)
    page = browse.show(html)
    assert axe(page, "light", NAMED) == [] and page.evaluate(SMALL) == []
    page.keyboard.press("End")
    assert axe(page, "light", NAMED) == [] and page.evaluate(SMALL) == []
    page = browse.show(html, viewport={"width": 390, "height": 664})
    for tab in page.locator("nav button").all():
        tab.click()
        assert axe(page, "light", NAMED) == [] and page.evaluate(SMALL) == []


def shade(page: Any) -> int:
    """How light the page is: from 0, black, to 765."""
    colour = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    return sum(map(int, colour.strip("rgb()").split(", ")))


def test_light_and_dark(browse: Any) -> None:
    assert shade(browse.show(lesson_html("square"), color_scheme="light")) > 600
    assert shade(browse.show(lesson_html("square"), color_scheme="dark")) < 200


@pytest.mark.slow
def test_motion_is_left_out_where_it_is_not_wanted(browse: Any) -> None:
    moving = """() => [...document.querySelectorAll("*")].filter(e => {
      const s = getComputedStyle(e);
      return s.animationName !== "none" || s.transitionDuration.split(", ").some(d => parseFloat(d) > 0);
    }).length"""
    html = lesson_html("square")
    assert browse.show(html, reduced_motion="reduce").evaluate(moving) == 0
    assert browse.show(html, reduced_motion="no-preference").evaluate(moving) > 0


@pytest.mark.parametrize("width", [320, pytest.param(1280, marks=pytest.mark.slow)])
def test_nothing_sticks_out(width: int, browse: Any) -> None:
    """Only the graph scrolls sideways, in a box of its own."""
    text = "loss = log(1 + exp(-(weight_one*x + weight_two*x^2 + bias))) + weight_one^2"
    html = html_of(text, weight_one=0.3, weight_two=-1.2, x=1.5, bias=0.1)
    page = browse.show(html, viewport={"width": width, "height": 800})
    last(page)
    page.locator("#c4_0, .chip").first.click()
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width


def test_on_paper(browse: Any) -> None:
    """All numbers are filled in, on light paper, without what can only be pressed; then it is as before."""
    page = browse.show(lesson_html("square"), color_scheme="dark")
    start = read(page)
    page.emulate_media(media="print")
    page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    assert read(page).grad == {0: 6, 1: 6, 2: 6, 3: 1}
    assert shade(page) > 600
    assert not page.locator("button, input[type=range]").filter(visible=True).count()
    assert panel(page, "Nodes").is_visible() and page.locator("#graph").is_visible()
    page.evaluate("() => dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")
    assert read(page) == start


PRINTED = """name => {
  let seen;
  window.print = () => { seen = document.querySelector("#paper").outerHTML; };
  [...document.querySelectorAll("#ask button")].find(b => b.textContent === `Print the ${name}`).click();
  return seen;
}"""
ROOM_FOR_A_HAND = 28
"""The height of a blank, in pixels on paper: more than 7 mm."""


def printed(page: Any, name: str) -> Any:
    """A worksheet or a solution, as it goes to the printer; the page is as before."""
    before, address = read(page), page.url
    html = page.evaluate(PRINTED, name)
    assert not page.locator("#paper").count() and read(page) == before
    assert page.url.startswith(address)
    page.emulate_media(media="print")
    page.evaluate(
        "html => document.querySelector('main').insertAdjacentHTML('beforeend', html)", html
    )
    return page.locator("#paper")


def texts(found: Any) -> list[str]:
    """What is written in each of some cells, or labels."""
    return [text.strip() for text in found.all_text_contents()]


@pytest.mark.parametrize("name", ["start", "tensors"])
def test_a_worksheet_has_all_parts_and_formulas_blank(name: str, browse: Any) -> None:
    lesson, page = LESSONS[name], browse.show(lesson_html(name))
    edit(page, "c", "5") if name == "start" else last(page)
    paper = printed(page, "worksheet")
    assert paper.locator("details[open]").count() == len(lesson.parts)
    assert texts(paper.locator("section > code")) == [one.expression for one in lesson.formulas]
    assert paper.locator("svg#graph").count() == len(lesson.formulas)
    assert {*texts(paper.locator(".chip text, #edges td, [data-node] td:last-child"))} <= {"", "–"}
    for blank in (paper.locator("#edges td"), paper.locator("li .lines span")):
        heights = [box.bounding_box()["height"] for box in blank.all()]
        assert heights and min(heights) >= ROOM_FOR_A_HAND
    tasks = all_tasks(lesson)
    assert paper.locator("li .lines").count() == len(tasks)
    choices = [one for task in tasks for one in task.choices]
    assert paper.inner_text().count("☐") == len(choices)
    assert not paper.locator(".seen, button, input").filter(visible=True).count()
    assert not page.locator("#front").is_visible() and paper.get_by_text("Name:").is_visible()
    page.emulate_media(media="screen")


def test_a_solution_has_every_answer(browse: Any) -> None:
    lesson, page = LESSONS["neuron"], browse.show(lesson_html("neuron"))
    paper = printed(page, "solution")
    items = paper.locator("li:has(> label)").all()
    for item, task in zip(items, all_tasks(lesson), strict=True):
        assert item.locator(".seen").is_visible() and not item.locator(".lines").count()
        assert task.answer is None or item.locator("b").inner_text().strip() == str(task.answer)
    assert "" not in texts(paper.locator("#nodes td, #edges td"))
    assert not paper.get_by_text("Name:").count()
    page.emulate_media(media="screen")


@pytest.mark.numbers
@pytest.mark.parametrize("width, height", [(1280, 720), (1920, 1080)])
def test_a_projector_shows_letters_of_18_pixels(width: int, height: int, browse: Any) -> None:
    html = lesson_html("network" if width == 1280 else "neuron")
    page = browse.show(html, viewport={"width": width, "height": height})
    press(page, "Projector")
    if width == 1280:
        press(page, "The whole graph")
    step_on(page)
    least = page.evaluate(
        """() => {
          const graph = document.querySelector("#graph");
          const scale = graph.getBoundingClientRect().width / graph.viewBox.baseVal.width;
          const texts = [...graph.querySelectorAll("text, tspan")].filter(text => text.checkVisibility());
          return scale * Math.min(...texts.map(text => parseFloat(getComputedStyle(text).fontSize)));
        }"""
    )
    assert least >= 18
    assert axe(page, "light") == []
    press(page, "Projector")
    assert not page.locator("[data-projector]").count()
