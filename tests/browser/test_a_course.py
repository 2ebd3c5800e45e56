"""A course in a browser: answers, ticks and links from lesson to lesson, and the file for a teacher."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from browsers import axe
from exprgrad import write_course
from pages import answer_task, press

LESSON = """
title = "{title}"
expression = "y = w*x"
question = "=How far does y move?"
tasks = [
  {{text = "The grad of w?", answer = -4, wrong = {{"2" = "That is w."}}}},
  {{text = "Ask yourself more."}},
]
[values]
w = 2
x = -4
"""
REFUSE = """() => { Object.defineProperty(window, "localStorage", {get() { throw new Error("no"); }}); }"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The pages of a course of two lessons, by the names of their files."""
    folder = tmp_path_factory.mktemp("lessons")
    files = [folder / f"{name}.toml" for name in ("first", "second")]
    for file in files:
        file.write_text(LESSON.format(title=f"The {file.stem} one"), "utf-8")
    index = write_course(folder / "course", files)
    return {path.name: path.read_text("utf-8") for path in index.parent.iterdir()}


@pytest.fixture
def course(browse: Any, pages: dict[str, str], tmp_path: Path) -> Iterator[Any]:
    """The index of a course that nobody has begun, on a page that may leave it."""
    for name, html in pages.items():
        (tmp_path / name).write_text(html, "utf-8")
    page = browse.page("en-US")
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto((tmp_path / "index.html").as_uri())
    yield page
    browse.asked.clear()


def go_to(page: Any, link: str) -> None:
    """Follow a link to another page."""
    with page.expect_navigation():
        page.get_by_role("link", name=link, exact=True).first.click()


def saved(page: Any, button: str) -> tuple[str, str]:
    """The name and the text of the file that a button saves."""
    with page.expect_download() as waiting:
        press(page, button)
    return waiting.value.suggested_filename, Path(waiting.value.path()).read_text("utf-8-sig")


def play_lessons(page: Any) -> None:
    """Answer the first lesson, wrongly and then rightly, give the second's up, and come back."""
    go_to(page, "Begin with The first one")
    first = page.locator("#tasks li").first
    assert answer_task(first, "2") == "✗ That is w."
    assert answer_task(first, "-4") == "✓ Right."
    page.locator("#tasks li input").last.check()
    page.get_by_role("button", name="Grads").click()
    press(page, "Hint")
    press(page, "Stop asking")
    go_to(page, "Next: The second one")
    assert page.get_by_role("link", name="Previous: The first one").count() == 1
    page.locator("#tasks li").first.get_by_role("button", name="Give up").click()
    go_to(page, "All lessons")


@pytest.mark.numbers
def test_a_course_keeps_what_was_answered(course: Any) -> None:
    page = course
    assert page.locator("#total").inner_text() == "0 of 4 tasks done."
    play_lessons(page)
    listed = page.locator("#lessons output").all_inner_texts()
    assert listed == ["✓ 2 of 2 tasks", "0 of 2 tasks"]
    assert page.locator("#on").inner_text() == "Go on with The second one"
    page.get_by_label("Your name").fill("Ada, L.")
    page.get_by_label("Your name").blur()
    name, table = saved(page, "Save for a teacher (.csv)")
    assert name == "progress-Ada-L-.csv"
    rows = [*csv.DictReader(table.splitlines())]
    assert [[*row.values()] for row in rows] == [
        ["Ada, L.", "The first one", "1", "The grad of w?", "yes", "2", "2; -4", "no", "1"],
        ["Ada, L.", "The first one", "2", "Ask yourself more.", "yes", "0", "", "no", ""],
        ["Ada, L.", "The second one", "1", "The grad of w?", "no", "0", "", "yes", "0"],
        ["Ada, L.", "The second one", "2", "Ask yourself more.", "no", "0", "", "no", ""],
    ]
    page.reload()
    assert page.locator("#lessons output").first.inner_text() == "✓ 2 of 2 tasks"
    go_to(page, "The first one")
    page.reload()
    assert page.locator("#tasks li input:checked").count() == 2
    page.locator("#tasks li input").last.uncheck()
    go_to(page, "All lessons")
    assert page.locator("#lessons output").first.inner_text() == "1 of 2 tasks"


@pytest.mark.numbers
def test_progress_is_saved_loaded_and_forgotten(course: Any, tmp_path: Path) -> None:
    page = course
    play_lessons(page)
    name, kept = saved(page, "Save to go on elsewhere (.json)")
    assert name == "progress.json" and json.loads(kept)["lessons"]["first"]["hints"] == 1
    page.get_by_text("Begin again").click()
    press(page, "Forget my progress")
    assert page.locator("#total").inner_text() == "0 of 4 tasks done."
    page.reload()
    assert page.locator("#total").inner_text() == "0 of 4 tasks done."
    (tmp_path / name).write_text(kept, "utf-8")
    page.get_by_label("Load a saved").set_input_files(tmp_path / name)
    page.get_by_text("is added to your progress").wait_for()
    assert page.locator("#total").inner_text() == "2 of 4 tasks done."
    (tmp_path / "other.json").write_text('{"lessons": {"first": 3}}', "utf-8")
    page.get_by_label("Load a saved").set_input_files(tmp_path / "other.json")
    page.get_by_text("other.json has no progress").wait_for()
    assert page.locator("#total").inner_text() == "2 of 4 tasks done."


@pytest.mark.numbers
def test_links_carry_progress_where_the_browser_keeps_none(course: Any, browse: Any) -> None:
    page = browse.browser.new_page(offline=True)
    page.add_init_script(f"({REFUSE})()")
    page.goto(course.url)
    assert "keeps no progress here" in page.locator("#kept").inner_text()
    play_lessons(page)
    assert page.locator("#lessons output").first.inner_text() == "✓ 2 of 2 tasks"
    go_to(page, "The first one")
    assert page.locator("#tasks li input:checked").count() == 2
    assert "keeps no progress" in page.locator("#course").inner_text()
    page.close()


@pytest.mark.numbers
@pytest.mark.parametrize("width", [1440, 390])
def test_axe_has_nothing_against_a_course(width: int, course: Any) -> None:
    page = course
    page.set_viewport_size({"width": width, "height": 664})
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        assert axe(page, scheme) == []
        assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.locator("#course").wait_for()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        assert axe(page, scheme) == []
    small = page.locator("a:visible").evaluate_all(
        "all => all.filter(one => one.getBoundingClientRect().height < 24).length"
    )
    assert small == 0
