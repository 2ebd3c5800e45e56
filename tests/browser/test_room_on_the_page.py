"""The graph stays in sight, in a frame that is shown late, in short windows and on paper, too."""

from __future__ import annotations

import re
from html import escape
from typing import Any

import pytest

from amounts import some
from exprgrad.show.page.lessons import LESSONS
from pages import DEEP, break_it, edit, follow, html_of, last, lesson_html, press, read, unfold


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


SEEN = """() => {
  const boxes = parts => [...document.querySelectorAll(parts)].map(part => part.getBoundingClientRect());
  const within = (box, {left, top, right, bottom}) =>
    box.left >= left - 1 && box.right <= right + 1 && box.top >= top - 1 && box.bottom <= bottom + 1;
  const own = {left: 0, top: 0, right: innerWidth, bottom: innerHeight}, lit = boxes(".node.now");
  const [frame] = boxes("#scroll"), [deck] = boxes("#deck");
  const shown = [...boxes("#sentence"), ...boxes("#buttons button")].filter(({width}) => width);
  return shown.length > 3 && shown.every(box => within(box, own) && within(box, deck))
    && within(frame, own) && (frame.bottom <= deck.top + 1 || frame.right <= deck.left + 1)
    && (!lit.length || lit.some(box => within(box, frame)));
}"""
SMALL = [(390, 664), (412, 732), (1280, 640), (640, 320), (320, 568), (844, 390)]
"""Phones, a low screen, and the same where everything is twice as large."""


@pytest.mark.parametrize(
    "name", ["neuron", *[pytest.param(n, marks=pytest.mark.slow) for n in (*LESSONS, DEEP)]]
)
def test_graph_sentence_and_buttons_are_in_sight_at_every_step(name: str, browse: Any) -> None:
    """On phones, on a low screen, and where everything is twice as large; of long ones the first sixty."""
    html = lesson_html(name) if name in LESSONS else html_of(name, x=0.5, w=0.9, b=0.1)
    for width, height in SMALL if name == "neuron" else some(SMALL, name, 2):
        page = browse.show(html, viewport={"width": width, "height": height})
        unfold(page)
        total = min(int(page.locator("#slider").get_attribute("max")), 60)
        for step in range(total + 1):
            assert page.evaluate(SEEN), (width, height, step)
            page.keyboard.press("ArrowRight")


@pytest.mark.parametrize("width, height", SMALL)
def test_an_answer_stands_where_one_looks(width: int, height: int, browse: Any) -> None:
    """It is inside the window, and does not cover what was clicked; nothing scrolls away for it."""
    page = browse.show(lesson_html("neuron"), viewport={"width": width, "height": height})
    page.keyboard.press("End")
    for spot in ("#n9", "#c9_0", "#n0", "#c5_1"):
        page.locator(spot).click()
        at, box = (page.locator(part).bounding_box() for part in (spot, "#closer"))
        assert box["x"] >= 0 and box["x"] + box["width"] <= width
        assert box["y"] >= 0 and box["y"] + box["height"] <= height
        if width > 960 and height > 480:  # the panels are beside the graph, and it stands on them
            frame = page.locator("#scroll").bounding_box()
            assert frame["x"] + frame["width"] <= box["x"]
        else:
            assert at["y"] + at["height"] <= box["y"] or box["y"] + box["height"] <= at["y"]
        assert page.evaluate("scrollY") == 0
        page.keyboard.press("Escape")
        assert not page.locator("#closer").is_visible()


def test_numbers_stand_on_the_panels(browse: Any) -> None:
    """Where these are beside the graph; a scroll does not take them from there."""
    page = browse.show(html_of("sum([a, b]*[b, a])", a=2.0, b=-3.0))
    page.keyboard.press("End")
    page.locator(".node").last.click()
    page.locator(".map").first.click()
    before = page.locator("#closer").bounding_box()
    frame = page.locator("#scroll").bounding_box()
    assert before["x"] >= frame["x"] + frame["width"]
    page.evaluate(
        "() => new Promise(done => { dispatchEvent(new Event('scroll')); setTimeout(done) })"
    )
    assert page.locator("#closer").bounding_box() == before


def test_zoom(browse: Any) -> None:
    page = browse.show(lesson_html("neuron"), viewport={"width": 390, "height": 664})

    def width() -> float:
        return float(page.locator("#graph").bounding_box()["width"])

    start = width()
    press(page, "Zoom in")
    assert width() == pytest.approx(1.25 * start, rel=0.01)
    press(page, "Fit")
    press(page, "Fit")
    assert width() <= 390
    press(page, "Fit")
    assert width() == pytest.approx(start, rel=0.01)


def test_an_address_shows_the_same(browse: Any) -> None:
    """The step, edited inputs, the order and the sign; what it cannot be is left out."""
    page = browse.show(lesson_html("diamond"))
    edit(page, "a", "3")
    break_it(page).get_by_role("radio", name="= overwrite", exact=True).check()
    press(page, "b earlier")
    press(page, "Back a step")
    shown = read(page)
    page.wait_for_url(f"**#step={page.locator('#slider').input_value()}&*order=*")
    address = page.url
    assert "with=a%3D3" in address and "sign=" in address
    page.goto("about:blank")
    page.goto(address)
    browse.asked.clear()
    assert read(page) == shown
    for order in ("1.2", "constructor", "own"):
        follow(page, f"step=1e9&with=a=b&with=zz=3&order={order}&sign=x")
        assert read(page).grad[0] == 15
    browse.asked.clear()


def test_the_first_stop_in_the_graph_is_a_card(browse: Any) -> None:
    page = browse.show(html_of("y = a*b\ny", a=2.0, b=-3.0))
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('.whole') !== null"), (
        "the formula is first"
    )
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
