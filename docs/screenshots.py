"""Takes the pictures of the page in a browser: ``python docs/screenshots.py``, when it looks different.

It needs Playwright and Chromium, as the tests of the page do.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from exprgrad import LESSONS, parse

IMAGES = Path(__file__).parent / "images"
STEPS = 12
"""How far the sweeps have got: both are seen, and something is still to come."""


def main() -> None:
    """Write ``explore-light.png`` and ``explore-dark.png``: the neuron, amid its reverse sweep."""
    lesson = LESSONS["neuron"]
    page = parse(lesson.expression).gradient(lesson.values).explore(lesson=lesson)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "page.html"
        page.save(path)
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        for scheme in ("light", "dark"):
            shown = browser.new_page(
                viewport={"width": 1440, "height": 900},
                color_scheme=scheme,
                reduced_motion="reduce",
            )
            shown.goto(path.as_uri())
            for _ in range(STEPS):
                shown.keyboard.press("ArrowRight")
            shown.screenshot(path=IMAGES / f"explore-{scheme}.png")
        browser.close()


if __name__ == "__main__":
    main()
