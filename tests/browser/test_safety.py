"""Whatever is typed is text; the page asks for nothing, and runs nothing but itself."""

from __future__ import annotations

import re
from typing import Any

import pytest

from exprgrad import Lesson, Value, parse
from exprgrad.show.page.lessons import LESSONS
from exprgrad.show.page.page import Page
from pages import html_of, last, lesson_html, panel, press

MARKS = "</script><script>alert(1)</script><img src=x onerror=alert(2)>&amp;&#x41;]]><!-- \"'`${1}"
"""What would run, or be read as something else, if it were not text."""
TEXTS = [
    f"y = a*b  # {MARKS}\ny + (a < b)",
    "y = a*b  # <!--<script>\ny",
    "y = a*b  # \u2028 \u2029 \u202e \u200f \\u003c/script> \\\n y",
]


def counted(page: Any) -> dict[str, int]:
    """How many scripts and pictures there are, and other things that text must not become."""
    tags = ("script", "img", "iframe", "style", "link", "base")
    return {tag: page.locator(tag).count() for tag in tags}


def test_a_formula_is_text(browse: Any) -> None:
    plain = counted(browse.show(html_of("y = a*b\ny", a=2.0, b=-3.0)))
    for text in TEXTS:
        page = browse.show(html_of(text, a=2.0, b=-3.0))
        assert counted(page) == plain
        shown = page.locator("header code").first.inner_text()
        assert [*re.findall(r"\w+", shown)] == [*re.findall(r"\w+", text)]
    page = browse.show(html_of(TEXTS[0], a=2.0, b=-3.0))
    last(page)
    for kind in ("Data", "Local derivatives", "Grads"):
        press(page, kind)
        press(page, "Hint")
        press(page, "Show all")
        press(page, "Stop asking")


def test_labels_and_lessons_are_text(browse: Any) -> None:
    """They come from Python, and may be any text at all."""
    a, b = Value(2, label=MARKS), Value(-3, label="$&\\1{{script}}")
    (y := a * b).label = "]]></title><base href=//x>"
    run = y.run()
    lesson = Lesson(
        "x", f"{MARKS}</title>", run.text, run.inputs, MARKS, (MARKS, "{{policy}}"), MARKS
    )
    plain = counted(browse.show(html_of("y = a*b", a=2.0, b=1.0)))
    page = browse.show(run.explore(lesson=lesson).html)
    assert counted(page) == plain
    assert MARKS in page.title()
    assert page.locator("h1").inner_text() == f"{MARKS}</title>"
    assert "{{policy}}" in panel(page, "Try this").inner_text()
    last(page)
    for number in range(len(run.nodes)):
        page.keyboard.press("Escape")
        page.locator(f"#n{number}").click()
    page.locator("#c2_0").click()
    assert "The edge from" in panel(page, "Look closer").inner_text()
    assert not panel(page, "Look closer").locator("math").count()


PLACES = """element => {
  const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT), places = [];
  element.style.whiteSpace = "nowrap";
  for (let text; text = texts.nextNode();)
    for (const {index, 0: word} of text.data.matchAll(/[^\\s\\u200e*:]+/g)) {
      const range = document.createRange();
      range.setStart(text, index);
      range.setEnd(text, index + word.length);
      places.push(range.getBoundingClientRect().left);
    }
  return places;
}"""
"""Where the words of an element are, from the left, in the order of its text."""


@pytest.mark.slow
def test_names_from_right_to_left_stay_in_their_place(browse: Any) -> None:
    """Operands stand in the order of the formula, whatever way their names are written."""
    page = browse.show(html_of("שלום*عدد + a", שלום=2.0, عدد=-3.0, a=1.0))
    last(page)
    assert page.locator("header code").first.evaluate("e => getComputedStyle(e).direction") == "ltr"
    boxes = [page.locator("header bdi").nth(at).bounding_box() for at in range(2)]
    assert boxes[0]["x"] < boxes[1]["x"]
    page.evaluate("() => scrollTo(0, 0)")
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    sentence = page.locator("#sentence").inner_text().replace("\u200e", "")
    assert sentence == "שלום*عدد passes 1 × عدد = 1 × −3 = −3 to שלום: 0 → −3, complete"
    for selector in ("#sentence", "#steps li", "#visits .paths li", "#edges tbody tr"):
        places = page.locator(selector).first.evaluate(PLACES)
        assert len(places) > 3 and places == sorted(places), selector


def test_a_lesson_is_whole(browse: Any) -> None:
    """It names no other place; and a browser, which shows each in ``test_access``, loads none."""
    for name in LESSONS:
        html = lesson_html(name)
        assert "http" not in html.replace("http://www.w3.org/2000/svg", "").replace(
            "http-equiv", ""
        ).replace("http://www.w3.org/1998/Math/MathML", "")
    assert browse.show(html).evaluate("() => performance.getEntriesByType('resource').length") == 0


def test_the_policy_lets_nothing_else_run(browse: Any) -> None:
    html = html_of("y = a*b", a=2.0, b=-3.0)
    page = browse.show(html)
    failures: list[str] = []
    page.on("requestfailed", lambda request: failures.append(request.failure))
    refused = page.evaluate("() => fetch('https://example.org/').then(() => false, () => true)")
    assert refused
    page.evaluate("""() => {
      const script = document.createElement("script");
      script.textContent = "document.title = 'mine'";
      document.body.append(script);
      document.body.insertAdjacentHTML("beforeend", "<img src=https://example.org/x.png>");
    }""")
    assert page.title() != "mine"
    assert any("Content Security Policy" in said for said in browse.trouble)
    assert set(failures) == {"csp"}
    browse.trouble.clear()
    browse.asked.clear()


def test_a_changed_byte_is_refused(browse: Any) -> None:
    html = html_of("y = a*b", a=2.0, b=-3.0)
    page = browse.show(html.replace('"use strict"', '"use Strict"', 1))
    assert not page.get_by_role("button", name="Last step", exact=True).count()
    assert any("Content Security Policy" in said for said in browse.trouble)
    browse.trouble.clear()


def test_in_a_frame_as_a_notebook_has_it(browse: Any) -> None:
    """Sandboxed: it runs, and gets at nothing around it."""
    page = browse.show(f"<!doctype html><p>A cell</p>{Page(lesson_html('square'))._repr_html_()}")
    inner = page.frame_locator("iframe")
    inner.get_by_role("button", name="Last step", exact=True).click()
    assert inner.locator("[data-node='0']").get_attribute("data-grad") == "6"
    (frame,) = page.frames[1:]
    assert frame.evaluate("() => { try { return !parent.document; } catch { return true; } }")


def test_kinks_and_numbers_that_are_not_finite_are_told(browse: Any) -> None:
    run = parse("relu(x) + log(y)").gradient(x=0, y=-1)
    page = browse.show(run.explore().html)
    notes = page.locator("#notes").inner_text()
    for diagnostic in run.diagnostics:
        assert diagnostic.message.replace("-", "−") in notes.replace("-", "−")
