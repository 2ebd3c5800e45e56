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
PATIENCE = 5_000
"""Milliseconds to wait for what should be there at once."""


class Browsing:
    """A browser, with one page for each way to look at it: a new one would take longer than most tests.

    ``trouble`` is what the pages complained about, and what they asked for besides themselves.
    """

    def __init__(self, browser: Any) -> None:
        self.browser = browser
        self.pages: dict[tuple[tuple[str, object], ...], Any] = {}
        self.folder = Path()
        self.asked: list[str] = []
        self.trouble: list[str] = []

    def show(self, html: str, **options: Any) -> Any:
        """A page from a file, at its beginning; ``options`` are those of a browser's context."""
        path = self.folder / f"page{len([*self.folder.iterdir()])}.html"
        path.write_bytes(html.encode())
        page = self.page(**{"reduced_motion": "reduce", **options})
        page.emulate_media(media="screen")
        self.asked.clear()
        page.goto(path.as_uri())
        assert self.asked == [path.as_uri()]
        self.asked.clear()
        return page

    def page(self, **options: Any) -> Any:
        """The page that is looked at in a certain way."""
        key = tuple((name, str(value)) for name, value in sorted(options.items()))
        if key not in self.pages:
            context = self.browser.new_context(offline=True, **options)
            note = self.trouble.append
            context.on("console", lambda message: note(f"{message.type}: {message.text}"))
            context.on("weberror", lambda error: note(str(error.error)))
            context.on("dialog", lambda shown: shown.dismiss() or note(f"dialog: {shown.message}"))
            context.on("request", lambda request: self.asked.append(request.url))
            self.pages[key] = context.new_page()
            self.pages[key].set_default_timeout(PATIENCE)
        return self.pages[key]


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
