"""What is pressed and read on a page in a browser; each ``page`` is one of Playwright's."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from exprgrad.api import Run, parse
from exprgrad.show.page.lessons import LESSONS, Lesson, all_tasks
from exprgrad.show.page.listing import OF_NUMBERS, OF_TENSORS, listing_data

__all__ = [
    "DEEP", "LAST", "Shown", "answer_all", "answer_task", "break_it", "code_of", "edit", "follow",
    "html_of", "last", "lesson_html", "listing", "panel", "press", "read", "results", "run_of", "spoken",
    "step_on", "unfold", "wait_until",
]  # fmt: skip

LAST = "Last step"
DEEP = "; ".join(["t0 = x*w + b", *(f"t{k + 1} = tanh(t{k}*w + x)" for k in range(18))])
"""A formula of 60 nodes."""

READ = """() => {
  const rows = [...document.querySelectorAll("[data-node]")], found = {};
  for (const kind of ["data", "grad"])
    found[kind] = rows.filter(row => kind in row.dataset)
      .map(row => [Number(row.dataset.node), row.dataset[kind]]);
  return {...found, sentence: document.querySelector("#sentence").textContent};
}"""
RESULTS = """() => [...document.querySelectorAll("[data-input]")].map(row =>
  [row.dataset.input, row.dataset.got, row.dataset.true])"""

FOLLOW = """link => new Promise(done => {
  addEventListener("hashchange", () => done(), {once: true});
  location.hash = link;
})"""


SPOKEN = """part => part.getAttribute("aria-label") ?? part.labels?.[0]?.innerText.trim() ?? (
  part.tagName !== "g" ? part.innerText
    : [...part.querySelectorAll("[aria-label]")].map(text => text.getAttribute("aria-label")).join(" "))"""


class Shown(NamedTuple):
    """What a page shows: exact numbers by node, as far as they are known, and the step's sentence."""

    data: dict[int, float]
    grad: dict[int, float]
    sentence: str


def run_of(text: str, values: Mapping[str, float]) -> Run:
    """Both sweeps over a formula."""
    return parse(text).gradient(values)


@cache
def html_of(text: str, **values: float) -> str:
    """The page of a formula."""
    return run_of(text, values).explore().html


@cache
def lesson_html(name: str) -> str:
    """The page of a lesson."""
    lesson = LESSONS[name]
    return run_of(lesson.expression, lesson.values).explore(lesson=lesson).html


def read(page: Any) -> Shown:
    """What is shown now.  JavaScript's ``Infinity`` and ``NaN`` are numbers to Python, too."""
    found = page.evaluate(READ)
    # Over tensors a test reads numbers of its own.
    data, grad = (
        {id: float(text) for id, text in found[kind] if "," not in text}
        for kind in ("data", "grad")
    )
    return Shown(data, grad, found["sentence"])


def results(page: Any) -> dict[str, tuple[float, float]]:
    """What the visit order found for each input, and what is true."""
    return {name: (float(got), float(true)) for name, got, true in page.evaluate(RESULTS)}


def spoken(page: Any, part: str = "") -> str:
    """The name of a part of the page, or of what has the focus; a card is called by its texts."""
    found = f"document.querySelector({part!r})" if part else "document.activeElement"
    return str(page.evaluate(f"() => ({SPOKEN})({found})"))


def press(page: Any, name: str) -> None:
    """Press a button."""
    page.get_by_role("button", name=name, exact=True).click()


def step_on(page: Any) -> None:
    """Press the button of the next step, which is called by what comes."""
    page.locator("#forth").click()


def break_it(page: Any) -> Any:
    """The panel of visit orders, with those that may be wrong unfolded."""
    found = panel(page, "Visit order")
    if not found.get_by_role("group", name="Order", exact=True).is_visible():
        found.get_by_text("Break it", exact=True).click()
    return found


def unfold(page: Any) -> None:
    """Have the whole graph of a network shown."""
    button = page.get_by_role("button", name="The whole graph", exact=True)
    if button.count():
        button.click()


def last(page: Any) -> Shown:
    """Go to the last step."""
    press(page, LAST)
    return read(page)


def wait_until(page: Any, script: str) -> None:
    """Wait until a script finds something; the page's own policy lets no script ask for itself."""
    end = time.monotonic() + 30
    while not page.evaluate(script):
        assert time.monotonic() < end, script
        page.wait_for_timeout(50)


def follow(page: Any, link: str) -> None:
    """Follow a link to another state of the same page, until the page has."""
    page.evaluate(FOLLOW, f"#{link}")


def edit(page: Any, name: str, number: str) -> None:
    """Type an input's number."""
    page.get_by_role("textbox", name=name, exact=True).fill(number)


def panel(page: Any, name: str) -> Any:
    """One of the page's sections."""
    return page.get_by_role("region", name=name, exact=True)


def code_of(run: Run) -> dict[str, Any]:
    """The code of a run in all libraries."""
    return listing_data(run, OF_TENSORS if run.graph.shapes else OF_NUMBERS)


def listing(run: Run, title: str) -> str:
    """The code of a run in one of the libraries, as the page shows it."""
    found = code_of(run)
    place = [library[0] for library in found["libraries"]].index(title)
    _, head, given, opening, indent, closing = found["libraries"][place]
    lines = [head]
    for node, name in found["given"]:
        x = run.values[node]
        if run.graph.shapes:
            number = repr(np.asarray(x).tolist())
        else:
            number = repr(x) if math.isfinite(x) else f'float("{x}")'
        lines.append(given.format(name=name, number=number))
    lines += [opening] if opening else []
    for _, *texts in found["lines"]:
        lines.append(indent + texts[place if len(texts) > 1 else 0])
    return "\n".join([*lines, closing]) + "\n"


def answer_task(item: Any, words: str) -> str:
    """Choose an answer to a lesson's task, or type it; returns what the page says to it."""
    field = item.get_by_label("Your answer")
    if field.count():
        field.fill(words)
        field.press("Enter")
    else:
        item.get_by_role("button", name=words, exact=True).click()
    return str(item.locator("output").inner_text())


def answer_all(page: Any, lesson: Lesson) -> None:
    """Answer every task of a lesson that asks for something."""
    for item, task in zip(page.locator("#tasks li").all(), all_tasks(lesson), strict=True):
        if task.answer is not None:
            assert answer_task(item, str(task.answer)) == "✓ Right."
