"""Looks at the built site in Chromium: ``python docs/check_site.py``, or with ``--all`` at every page.

axe finds nothing, no page is wider than its window or asks another server for anything, light and dark,
wide and narrow, and the search finds what people look for.  It needs what the tests of the page need.
"""

from __future__ import annotations

import http.server
import shutil
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, sync_playwright

SITE = Path(__file__).parents[1] / "site"
SAMPLE = (
    "", "tutorial/the-chain-rule", "tutorial/lessons", "how-to/install", "how-to/uncertainties",
    "reference/gallery", "explanation/roots",
)  # fmt: skip
SOUGHT = {
    "kink": "explanation/kinks/", "uncertainty": "how-to/uncertainties/", "Windows": "how-to/install/",
    "completion": "reference/input-output/", "Spark": "how-to/questions/", "units": "how-to/questions/",
    "implied volatility": "reference/formulas/",
}  # fmt: skip
"""Words, and a page among the first results."""
RESULTS = 10
VIEWS = [(width, scheme) for width in (1280, 390) for scheme in ("light", "dark")]


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    """Serves files without a word."""

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def main() -> None:
    """Print what is wrong, and exit with 1 if anything is."""
    pages = SAMPLE
    if "--all" in sys.argv:
        found = (path.parent.relative_to(SITE).as_posix() for path in SITE.rglob("index.html"))
        pages = tuple(sorted(one.removeprefix(".") for one in found if one != "course"))
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), partial(QuietHandler, directory=SITE)
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        wrong = [*check_pages(browser, f"http://127.0.0.1:{server.server_port}/", pages)]
        browser.close()
    print("\n".join(wrong) or f"{len(pages)} pages: nothing found")  # noqa: T201
    sys.exit(1 if wrong else 0)


def check_pages(browser: Any, base: str, pages: tuple[str, ...]) -> Iterator[str]:
    """List the faults of some pages, and of the search."""
    for width, scheme in VIEWS:
        page = browser.new_page(
            viewport={"width": width, "height": 850}, color_scheme=scheme, reduced_motion="reduce"
        )
        asked: list[str] = []
        page.on("request", lambda request, asked=asked: asked.append(request.url))
        for name in pages:
            page.goto(f"{base}{name}{'/' * bool(name)}")
            seen = f"{name or 'front page'}, {width} px, {scheme}"
            if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                yield f"{seen}: wider than its window"
            for fault in Axe().run(page).response["violations"]:
                yield f"{seen}: {fault['id']}, {fault['nodes'][0]['html'][:120]}"
        yield from (f"asks for {url}" for url in set(asked) if not url.startswith(base))
        page.close()
    yield from missing_results(browser.new_page(), base)


def missing_results(page: Page, base: str) -> Iterator[str]:
    """The words for which the search does not show their page among the first."""
    page.goto(base)
    page.keyboard.press("Control+k")
    for word, place in SOUGHT.items():
        page.keyboard.press("Control+a")
        page.keyboard.type(word)
        results = page.locator(f'a[href*="?h={word.split()[0]}"]')
        results.first.wait_for()
        links = results.evaluate_all("all => all.map(one => one.getAttribute('href'))")
        if not any(place in one for one in links[:RESULTS]):
            yield f"the search for {word!r} does not lead to {place}"


if __name__ == "__main__":
    main()
