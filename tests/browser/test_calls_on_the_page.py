"""Calls on the page: cards that open and close by click and key, and are stepped through when open."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from browsers import axe
from calls import Part, with_calls
from exprgrad.api import Run, parse
from pages import edit, follow, last, press, read, spoken, step_on

F = "a*(2*x + 1) + tanh(2*b + 1)"
PARTS = (
    Part("g(x)", "2*x + 1", "x"),
    Part("g(b)", "2*b + 1", "b"),
    Part("f(x, b)", F, "x b"),
)


@cache
def run_of(**values: float) -> Run:
    """``g(t) = 2*t + 1; f(x, b) = a*g(x) + tanh(g(b)); y = f(x, b); y*x``, as if it were read."""
    return with_calls(f"y = {F}; y*x", *PARTS).gradient(values)


def html() -> str:
    """Its page."""
    return run_of(a=2, x=3, b=0.1).explore().html


def agrees(page: Any, run: Run) -> None:
    """At the end all cards have the numbers of the run's nodes, as they are shown."""
    last(page)
    cards = page.evaluate(
        "() => [...document.querySelectorAll('.node:not(.const)')].map(card =>"
        " [card.querySelector('.data').textContent, card.querySelector('.grad').textContent])"
    )
    shown = [node for node in run.shown if run.graph.kinds[node] != "const"]
    wanted = [[f"{x:.6g}".replace("-", "−") for x in (run.values[n], run.grad(n))] for n in shown]
    assert cards == wanted


def test_a_card_opens_and_closes(browse: Any) -> None:
    page, run = browse.show(html()), run_of(a=2, x=3, b=0.1)
    agrees(page, run)
    assert page.locator(".call").count() == 1 and page.locator(".frame").count() == 0
    page.locator(".call .knob").click()
    assert page.locator("#told").text_content() == "f(x, b) is open"
    opened = with_calls(f"y = {F}; y*x", *PARTS).expand(["f"]).gradient({"a": 2, "x": 3, "b": 0.1})
    agrees(page, opened)
    assert page.locator(".frame").count() == 1 and page.locator(".call").count() == 2
    # An edit lasts, and works behind closed cards, too.
    edit(page, "x", "-1")
    page.locator(".frame .knob").click()
    assert page.locator("#told").text_content() == "f(x, b) is closed"
    agrees(page, run_of(a=2, x=-1, b=0.1))
    chips = page.locator(".chip > text:nth-child(2)").all_text_contents()
    assert {"4", "0.61004", "−1"} <= {*chips}


def test_keys_open_a_card_and_step_through_it(browse: Any) -> None:
    page = browse.show(html())
    page.keyboard.press("ArrowRight")
    assert read(page).sentence == "y = f(x, b) = 14.8337"
    page.keyboard.press("o")
    # It stands where it stood, and the focus is on what the call comes to.
    assert read(page).sentence.startswith("y = a*g(x) + tanh(g(b)) = 14 + 0.833655 = 14.8337")
    assert spoken(page).startswith("y = a*g(x) + tanh(g(b)), data 14.8337")
    press(page, "Back a step")
    assert read(page).sentence.startswith("tanh(g(b)) = ")
    step_on(page)
    step_on(page)
    page.keyboard.press("Escape")
    page.locator(".call").first.focus()
    assert spoken(page, ".call").endswith("a call: o opens it")
    page.keyboard.press("o")
    assert page.locator(".frame").count() == 3 and page.locator(".call").count() == 0
    press(page, "Close g(x)")
    assert page.locator(".frame").count() == 1 and page.locator(".call").count() == 2
    assert "g(x)" in spoken(page)
    page.keyboard.press("?")
    assert page.get_by_text("open a call, close it").is_visible()


def test_a_link_shows_what_was_open(browse: Any) -> None:
    page = browse.show(html())
    follow(page, "open=1&step=3")
    assert read(page).sentence == "g(b) = 1.2"
    assert page.locator(".call").count() == 2


def test_kinks_in_a_closed_call_are_told(browse: Any) -> None:
    run = parse("f(x) = max(x, 1)*2; f(a) + b").gradient(a=2, b=1)
    page = browse.show(run.explore().html)
    edit(page, "a", "1")
    assert "f(a) has a kink here: operands tie" in page.locator("#notes + section").text_content()
    edit(page, "a", "0.5")
    assert not page.get_by_text("has a kink here").count()


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_has_nothing_against_it(scheme: str, browse: Any) -> None:
    page = browse.show(html(), color_scheme=scheme)
    last(page)
    assert axe(page, scheme) == []
    page.locator(".call .knob").click()
    page.locator(".call").first.click()
    assert axe(page, scheme) == []
