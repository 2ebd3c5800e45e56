"""Builds the documentation's site, strictly: ``python docs/build_site.py`` writes it to ``site/``.

Zensical makes the pages.  The lessons are written beside them, as a course.  Formulas of operations become
MathML, which browsers draw without scripts or fonts of ours.
"""

from __future__ import annotations

import re
import subprocess
import sys
from html import unescape
from pathlib import Path

from generate import COURSE, formula

from exprgrad import write_course
from exprgrad.graph.ops import OPS
from exprgrad.graph.tensors import STRUCTURAL
from exprgrad.language.write.mathml import mathml_of_latex

ROOT = Path(__file__).parents[1]
SITE = ROOT / "site"
FORMULA = re.compile(r'<span class="arithmatex">\\\((.*?)\\\)</span>', re.DOTALL)
LIVE = re.compile(r"<!-- live: (\w+) -->")
"""The place of a lesson in a page."""
SEARCHED_FORMULA = re.compile(r"\\\\\(.*?\\\\\) ?")
"""A formula in the index of the search, which shows nothing but letters."""


def draw_formulas() -> None:
    """Write formulas as MathML, and leave them out of the search's index."""
    drawn = {formula(row.latex): mathml_of_latex(row.latex) for row in (*OPS, *STRUCTURAL.values())}
    for page in SITE.rglob("*.html"):
        text = page.read_text("utf-8")
        if "arithmatex" in text:
            text = FORMULA.sub(lambda found: drawn[f"${unescape(found[1])}$"], text)
            page.write_text(text, "utf-8")
    index = SITE / "search.json"
    index.write_text(SEARCHED_FORMULA.sub("", index.read_text("utf-8")), "utf-8")


def add_lessons() -> None:
    """Write the course, show a lesson where a page asks for it, and link to the site's own lessons."""
    write_course(SITE / "course")
    for page in SITE.rglob("index.html"):
        text = page.read_text("utf-8")
        course = "../" * (len(page.relative_to(SITE).parts) - 1) + "course"
        text = LIVE.sub(
            rf'<iframe class="lesson" src="{course}/\1.html" title="The lesson \1"></iframe>', text
        )
        page.write_text(text.replace(f'href="{COURSE}/', f'href="{course}/'), "utf-8")


def main() -> None:
    """Build the site; whatever Zensical warns of stops it."""
    zensical = [sys.executable, "-m", "zensical", "build", "--strict"]
    subprocess.run(zensical, cwd=ROOT, check=True)
    draw_formulas()
    add_lessons()


if __name__ == "__main__":
    main()
