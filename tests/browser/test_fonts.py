"""The tests' fonts: a page has the one that it is tested in, whatever else is installed."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

import browsers
from pages import html_of


def test_a_page_is_shown_in_the_font(browse: Any, request: pytest.FixtureRequest) -> None:
    """What the page says in the system's font is set in it: its letters and digits."""
    page = browse.show(html_of("y = a*b\ny", a=2.0, b=-3.0))
    session = page.context.new_cdp_session(page)
    session.send("DOM.enable")
    session.send("CSS.enable")
    root = session.send("DOM.getDocument")["root"]["nodeId"]
    node = session.send("DOM.querySelector", {"nodeId": root, "selector": "#inputs h2"})["nodeId"]
    used = session.send("CSS.getPlatformFontsForNode", {"nodeId": node})["fonts"]
    session.detach()
    assert {font["familyName"] for font in used} == {request.node.callspec.params["chromium"]}


def test_each_font_is_drawn_for_many_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same one in each run; of those that are installed, unless all have to be."""
    names = [f"test_a_page[{count}]" for count in range(300)]
    monkeypatch.setenv("EXPRGRAD_BROWSER", "require")
    drawn = Counter(map(browsers.drawn_font, names))
    assert min(drawn[family] for family in browsers.FONTS) > 60
    assert browsers.drawn_font("test_zoom[]") == "Liberation Sans"
    monkeypatch.delenv("EXPRGRAD_BROWSER")
    monkeypatch.setattr(browsers, "font_folder", {"Open Sans": "a folder"}.get)
    assert set(map(browsers.drawn_font, names)) == {"Open Sans"}
