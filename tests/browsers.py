"""A Chromium for the tests of the page, and pages in it that may load nothing but themselves.

Without a browser the tests are skipped; with ``EXPRGRAD_BROWSER=require`` they fail.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

INSTALL = (
    "no browser: pip install playwright axe-playwright-python, "
    "and apt-get install chromium fonts-dejavu-core"
)
QUIETLY = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update",
)  # fmt: skip
MEDIA = {
    "media": "screen", "color_scheme": "light", "reduced_motion": "reduce", "forced_colors": "none",
}  # fmt: skip
LAID_OUT = """() => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync("#panels > section { content-visibility: visible }");
  document.adoptedStyleSheets = [sheet];
}"""
PATIENCE = 30_000
"""Milliseconds to wait for what should be there at once."""


class Browsing:
    """A browser with one page, looked at in different ways: a new one would take longer than most tests.

    ``trouble`` is what the pages complained about, and what they asked for besides themselves.
    """

    def __init__(self, browser: Any) -> None:
        self.browser = browser
        self.pages: dict[str, Any] = {}
        self.folder = Path()
        self.asked: list[str] = []
        self.trouble: list[str] = []

    def show(
        self, html: str, viewport: dict[str, int] | None = None, locale: str = "en-US", **media: Any
    ) -> Any:
        """A page from a file, at its beginning, in a window of a size, with what ``media`` emulates."""
        path = self.folder / f"page{len([*self.folder.iterdir()])}.html"
        path.write_bytes(html.encode())
        page = self.page(locale)
        page.set_viewport_size(viewport or {"width": 1280, "height": 720})
        page.emulate_media(**{**MEDIA, **media})
        self.asked.clear()
        page.goto(path.as_uri())
        assert self.asked == [path.as_uri()]
        # A panel that is scrolled out of sight is not laid out, and what is not has no inner text.
        page.evaluate(LAID_OUT)
        self.asked.clear()
        return page

    def page(self, locale: str) -> Any:
        """The page in a locale."""
        if locale not in self.pages:
            context = self.browser.new_context(offline=True, locale=locale)
            note = self.trouble.append
            context.on("console", lambda message: note(f"{message.type}: {message.text}"))
            context.on("weberror", lambda error: note(str(error.error)))
            context.on("dialog", lambda shown: shown.dismiss() or note(f"dialog: {shown.message}"))
            context.on("request", lambda request: self.asked.append(request.url))
            self.pages[locale] = context.new_page()
            self.pages[locale].set_default_timeout(PATIENCE)
        return self.pages[locale]


def axe(page: Any, scheme: str) -> list[str]:
    """What axe-core has against a page as it is; in the dark only its colours are others."""
    from axe_playwright_python.sync_playwright import Axe

    options = {"resultTypes": ["violations"]}  # of what is well it need not tell every place
    if scheme == "dark":
        options["runOnly"] = ["color-contrast"]
    # What the page learns of its own sizes it learns with the next frame.
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
    found = Axe().run(page, options=options).response["violations"]
    return [f"{one['id']}: {[node['html'] for node in one['nodes']]}" for one in found]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browsing]:
    """One browser for all tests of a process."""
    names = ("chromium", "chromium-browser", "google-chrome")
    program = next(filter(None, map(shutil.which, names)), None)
    if program is None or not all(map(find_spec, ("playwright", "axe_playwright_python"))):
        (pytest.fail if os.environ.get("EXPRGRAD_BROWSER") == "require" else pytest.skip)(INSTALL)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=[*QUIETLY])
        yield Browsing(browser)
        browser.close()


@pytest.fixture
def browse(chromium: Browsing, tmp_path: Path) -> Iterator[Browsing]:
    """Pages that may load nothing but themselves, and complain about nothing."""
    chromium.folder = tmp_path
    chromium.trouble.clear()
    yield chromium
    assert chromium.trouble + chromium.asked == []
