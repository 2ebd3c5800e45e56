"""The tables of a notebook in a browser, among a notebook's own rules for tables, light and dark."""

from __future__ import annotations

from typing import Any

import pytest

from browsers import axe
from exprgrad import parse
from exprgrad.show.picture.theme import style_block
from notebooks import executed, shown

RULES = """
body {{background: {paper}; color: {ink}; font: 14px sans-serif; width: 60rem}}
.output table {{table-layout: fixed; margin: auto; border-collapse: collapse; font-size: 12px}}
:not(.markdown).output td, :not(.markdown).output th {{text-align: right; white-space: normal}}
:not(.markdown).output td, :not(.markdown).output th {{padding: .5em}}
.output tbody tr:nth-child(odd) {{background: {stripe}}}
.output pre {{white-space: pre-wrap; color: {ink}}}
"""
"""As JupyterLab has them, in short."""
THEMES = {
    "light": {"paper": "#ffffff", "ink": "#000000", "stripe": "#f5f5f5"},
    "dark": {"paper": "#111111", "ink": "#e0e0e0", "stripe": "#212121"},
}
OF_CELLS = """cells => cells.map(cell => {
  const style = getComputedStyle(cell);
  return [style.textAlign, style.color, style.whiteSpace, cell.className];
})"""


@pytest.mark.parametrize("theme", THEMES)
def test_they_have_the_notebook_s_colours(theme: str, browse: Any) -> None:
    """Texts to the left, numbers to the right, nothing broken or wider than the cell of the notebook."""
    *cells, _ = executed()
    found = [shown(cell).data.get("text/html", "") for cell in cells]
    outputs = "".join(f'<div class="output">{html}</div>' for html in found if "iframe" not in html)
    style = RULES.format(**THEMES[theme])
    page = browse.show(
        f"<!doctype html><html lang=en><title>A notebook</title><style>{style}</style>{outputs}",
        color_scheme=theme,
    )
    ink = page.evaluate("() => getComputedStyle(document.body).color")
    places = page.locator("td, th").evaluate_all(OF_CELLS)
    assert len(places) > 50
    for side, colour, blanks, name in places:
        assert side == ("right" if "number" in name else "left"), name
        assert (colour, blanks) == (ink, "pre")
    wide = "() => [...document.querySelectorAll('table, pre')].map(e => e.getBoundingClientRect().right)"
    assert max(page.evaluate(wide)) <= 60 * 16 + 16
    assert page.locator("pre").first.evaluate("e => getComputedStyle(e).whiteSpace") == "pre"
    assert axe(page, "dark") == []


PICTURE = """<svg class="exprgrad" viewBox="0 0 4000 10" width="4000"><rect fill="#ffffff" width="9"
height="9"/>{style}</svg>"""


@pytest.mark.parametrize("system", ["light", "dark"])
@pytest.mark.parametrize(
    "attribute, is_dark",
    [("data-jp-theme-light=true", False), ("data-jp-theme-light=false", True), ("", None)],
)
def test_a_picture_is_as_dark_as_the_notebook(
    attribute: str, is_dark: bool | None, system: str, browse: Any
) -> None:
    """A page that doesn't say follows the system; no picture is wider than its cell."""
    page = browse.show(
        f"<!doctype html><html lang=en><title>A</title><body {attribute}>"
        f"{PICTURE.format(style=style_block())}",
        color_scheme=system,
    )
    colour = page.locator("rect").evaluate("rect => getComputedStyle(rect).fill")
    expected = system == "dark" if is_dark is None else is_dark
    assert colour == ("rgb(30, 35, 43)" if expected else "rgb(255, 255, 255)")
    assert page.locator("svg").bounding_box()["width"] <= 1280


def test_the_page_s_frame_fits(browse: Any) -> None:
    """No taller than the window, however low that is, down to 32rem; and never taller than 56rem."""
    frame = parse("a*b").gradient(a=1, b=2).explore()._repr_html_()
    for height, expected in ((720, 612), (400, 512), (2000, 896)):
        page = browse.show(f"<!doctype html>{frame}", {"width": 900, "height": height})
        assert page.locator("iframe").bounding_box()["height"] == expected
        assert page.locator("iframe").bounding_box()["width"] <= 900
