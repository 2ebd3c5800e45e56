"""A Chromium for the tests of the page, and pages in it that may load nothing but themselves.

Each test runs with three fonts as the system's: with one of them, drawn by the test's name, among the
quick tests, with another among the slow ones, and with the third where ``EXPRGRAD_LONG`` asks for more;
what is slow itself has the first alone, unless more is asked for.  Without a browser, or a font, tests
are skipped; with ``EXPRGRAD_BROWSER=require`` they fail.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from amounts import LONG

INSTALL = (
    "no browser: pip install playwright axe-playwright-python, "
    "and apt-get install chromium fonts-dejavu-core"
)
FONTS = {
    "DejaVu Sans": "fonts-dejavu-core",
    "Liberation Sans": "fonts-liberation",
    "Open Sans": "fonts-open-sans",
}
"""The fonts that take turns as ``system-ui``, and Debian's packages with them."""
ONE_FONT = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig>
{folders}
<cachedir>{cache}</cachedir>
<match target="pattern"><edit name="family" mode="append_last"><string>{family}</string></edit></match>
</fontconfig>
"""
"""For fontconfig: what a page gets for a family that is none of those in the folders."""
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


def axe(page: Any, scheme: str, only: Sequence[str] = ()) -> list[str]:
    """What axe-core has against a page as it is, or some of its rules; in the dark only colours differ."""
    from axe_playwright_python.sync_playwright import Axe

    # Of what is well it need not tell every place; two rules are off unless asked for.
    rules = {rule: {"enabled": True} for rule in ("label-content-name-mismatch", "target-size")}
    options = {"resultTypes": ["violations"], "rules": rules}
    only = ["color-contrast"] if scheme == "dark" else only
    if only:
        options = {**options, "runOnly": [*only], "rules": {}}
    # What the page learns of its own sizes it learns with the next frame.
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
    found = Axe().run(page, options=options).response["violations"]
    return [f"{one['id']}: {[node['html'] for node in one['nodes']]}" for one in found]


@cache
def font_folder(family: str) -> Path | None:
    """The folder of a font's files, if the font is installed."""
    if shutil.which("fc-match") is None:
        return None
    line = ["fc-match", "--format=%{family[0]}\n%{file}", f"{family}:style=Regular,Book"]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    name, _, path = done.stdout.partition("\n")
    return Path(path).parent if name == family else None


def drawn_font(name: str) -> str:
    """The font that a test has among the quick ones: one that is installed, unless all must be."""
    usable = list(FONTS)
    if os.environ.get("EXPRGRAD_BROWSER") != "require":
        usable = [family for family in FONTS if font_folder(family)] or usable
    return usable[crc32(name.encode()) % len(usable)]


def font_turn(item: pytest.Item) -> int:
    """Which turn a test's font has: 0 for the one that was drawn for it, or without a font; else 1 or 2."""
    family = getattr(getattr(item, "callspec", None), "params", {}).get("chromium")
    if not family:
        return 0
    fonts = list(FONTS)
    return (fonts.index(family) - fonts.index(drawn_font(item.name.replace(family, "")))) % 3


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out fonts; a quick test in a font that was not drawn for it is a slow one.

    Where one font is enough there is one.  Of the others CI leaves the third to ``EXPRGRAD_LONG``, and
    the second too where the test is slow itself.
    """
    left_out = set()
    for item in items:
        turn = font_turn(item)
        is_too_long = LONG == 1 and (turn == 2 or item.get_closest_marker("slow"))
        if turn and (is_too_long or item.get_closest_marker("numbers")):
            left_out.add(item)
        elif turn:
            item.add_marker(pytest.mark.slow)
    config.hook.pytest_deselected(items=[*left_out])
    items[:] = [item for item in items if item not in left_out]


@pytest.fixture(scope="session", params=FONTS)
def chromium(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Browsing]:
    """One browser for all tests of a process in a font."""
    names = ("chromium", "chromium-browser", "google-chrome")
    program = next(filter(None, map(shutil.which, names)), None)
    lacks = pytest.fail if os.environ.get("EXPRGRAD_BROWSER") == "require" else pytest.skip
    if program is None or not all(map(find_spec, ("playwright", "axe_playwright_python"))):
        lacks(INSTALL)
    if font_folder(request.param) is None:
        lacks(f"no font {request.param}: apt-get install fontconfig {FONTS[request.param]}")
    from playwright.sync_api import sync_playwright

    # Arrows and signs that a font lacks are taken from DejaVu Sans, where it is installed.
    folders = {font_folder(family): None for family in (request.param, "DejaVu Sans")}
    home = tmp_path_factory.mktemp("fonts")
    listed = "\n".join(f"<dir>{folder}</dir>" for folder in folders if folder)
    rules = ONE_FONT.format(folders=listed, cache=home / "cache", family=request.param)
    (home / "fonts.conf").write_text(rules, encoding="utf-8")
    env = {**os.environ, "FONTCONFIG_FILE": str(home / "fonts.conf")}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=[*QUIETLY], env=env)
        yield Browsing(browser)
        browser.close()


@pytest.fixture
def browse(chromium: Browsing, tmp_path: Path) -> Iterator[Browsing]:
    """Pages that may load nothing but themselves, and complain about nothing."""
    chromium.folder = tmp_path
    chromium.trouble.clear()
    yield chromium
    assert chromium.trouble + chromium.asked == []
