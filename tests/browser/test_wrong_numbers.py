"""Numbers that are wrong, after an edit, are explained, marked where they begin, and never called right."""

from __future__ import annotations

from typing import Any

import pytest

from browsers import axe
from pages import edit, html_of, last, panel, press, results, spoken

MARKED = "() => [...document.querySelectorAll('.blamed')].map(part => part.id)"


def verdict(page: Any, name: str) -> str:
    """What is said of an input's grad."""
    return str(page.locator(f"[data-input={name}] td:last-child").inner_text())


def test_a_nan_is_blamed_on_its_node(browse: Any) -> None:
    page = browse.show(html_of("sqrt(x)*log(y) + x^3", x=4, y=2))
    last(page)
    assert verdict(page, "x") == "✓ right" and not page.evaluate(MARKED)
    edit(page, "y", "-1")
    assert verdict(page, "x") == "⚠ no number: nan begins at log(y)" and "✓" not in verdict(
        page, "y"
    )
    (node,) = page.evaluate(MARKED)
    told = "log(y) is nan: outside the domain, at y = −1; it is defined where y > 0."
    assert told in panel(page, "Notes").text_content()
    assert "⚠ nan begins here" in page.locator(f"#{node}").text_content()
    page.locator(f"#{node}").click()
    assert told in panel(page, "Look closer").text_content()
    page.keyboard.press("Escape")
    # Not before the sweep gets there, and then with its step.
    press(page, "First step")
    assert not page.evaluate(MARKED)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert page.evaluate(MARKED) == [node] and page.locator("#why").inner_text() == told
    edit(page, "y", "3")
    assert not page.evaluate(MARKED) and not panel(page, "Notes").count()


def test_a_slope_that_ends_is_blamed_on_its_edge(browse: Any) -> None:
    page = browse.show(html_of("sqrt(x^2) + y", x=4, y=2))
    last(page)
    edit(page, "x", "0")
    assert results(page)["y"] == (1, 1) and verdict(page, "y") == "✓ right"
    assert verdict(page, "x") == "⚠ a kink: left −1, right 1"
    assert len(page.evaluate(MARKED)) == 2, "where inf begins, and where nan does"
    assert (
        "kink along x: left −1, right 1; the sweep has nan" in panel(page, "Notes").text_content()
    )


def test_lost_digits_are_known_of_the_first_point_alone(browse: Any) -> None:
    page = browse.show(html_of("(1 - cos(x))/x^2 + y", x=1e-7, y=1))
    last(page)
    assert page.locator(".blamed").text_content().endswith("⚠ loses digits")
    assert "right digits in doubles" in page.locator("#notes").inner_text()
    assert verdict(page, "x") == "⚠ the sweep's; the derivative is −8.33333e−09"
    edit(page, "x", "1")
    assert not page.evaluate(MARKED)
    assert "known of the numbers that the page was made for" in panel(page, "Notes").text_content()


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_has_nothing_against_it(scheme: str, browse: Any) -> None:
    page = browse.show(html_of("sqrt(x)*log(y) + x^3", x=4, y=2), color_scheme=scheme)
    last(page)
    edit(page, "y", "-1")
    page.locator(".blamed").click()
    assert axe(page, scheme) == []


@pytest.mark.parametrize(
    ("formula", "x"), [("(1 - cos(x))/x^2", 1e-7), ("sum((1 - cos(x))/x^2)", (1e-7, 1.0))]
)
def test_numbers_without_digits_are_marked_and_told_of(formula: str, x: Any, browse: Any) -> None:
    page = browse.show(html_of(formula, x=x))
    last(page)
    rows = {row.locator("bdi").inner_text(): row for row in page.locator("#nodes tbody tr").all()}
    marks = {
        name: [cell.endswith("~") for cell in row.locator("td").all_inner_texts()]
        for name, row in rows.items()
    }
    assert marks["x"] == [False, True] and marks["1 − cos(x)"] == [True, False]
    assert marks["cos(x)"] == [False, False]
    assert "~ fewer right digits than shown" in page.locator("#nodes caption").inner_text()
    assert page.locator("#why").inner_text().endswith("fewer right digits than shown")
    if isinstance(x, float):
        card = page.locator(".node:has([aria-label^='x,'])").first
        assert card.text_content().endswith("7992.78~")
        name = spoken(page, ".node:has([aria-label^='x,'])")
        assert name.endswith("with fewer right digits than shown")
        edit(page, "x", "1e-6")
        assert (
            "~" not in page.locator("#nodes tbody").inner_text() and "~" not in card.text_content()
        )
        assert "right digits" not in page.locator("#why").inner_text()
