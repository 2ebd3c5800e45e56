"""A course as files: its folder, its index, and how its lessons lead to each other."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from exprgrad import LESSONS, Lesson, RequestError, write_course
from exprgrad.show.page.course import QUESTIONS, course_index
from exprgrad.show.page.lessons import all_tasks
from exprgrad.show.page.page import OWN_PROPERTIES
from shell import command

OWN = Lesson(
    "a <b>",
    "<i>A</i> & B",
    "y = w*x",
    {"w": 2.0, "x": -1.0},
    "</script><script>alert(1)</script>",
    ("Try & see.",),
)
LARGEST_INDEX = 26_000
"""The most bytes of the index of all lessons."""


def links(html: str) -> list[str]:
    """The addresses that a page leads to."""
    return re.findall(r'<a href="([^"]*)"', html)


def test_its_pages_lead_to_each_other(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "course"
    index = write_course(folder, ["square", OWN, "diamond"])
    assert index == folder / "index.html"
    found = {path.name: path.read_text("utf-8") for path in folder.iterdir()}
    assert {*found} == {"index.html", "square.html", "a <b>.html", "diamond.html"}
    own = "a%20%3Cb%3E.html"
    assert links(found["square.html"]) == ["index.html", own, "index.html", own]
    assert links(found["a <b>.html"])[:3] == ["index.html", "square.html", "diamond.html"]
    assert links(found["diamond.html"]) == ["index.html", own, "index.html"]
    # The lessons that ask questions come first, and then all of them.
    assert links(found["index.html"])[1:] == ["diamond.html", "square.html", own, "diamond.html"]
    for html in found.values():
        assert html.count("<script>") == html.count("</script>") == 1
        assert not re.search(r"\b(?:src|url)\s*[=(](?!\"#)", html)


def test_a_folder_is_written_anew_if_it_holds_a_course(tmp_path: Path) -> None:
    write_course(tmp_path, ["square"])
    write_course(tmp_path, ["diamond"])
    assert "square.html" not in links((tmp_path / "index.html").read_text("utf-8"))
    other = tmp_path / "other"
    other.mkdir()
    (other / "index.html").write_bytes(b"<p>Mine: \xff</p>")
    with pytest.raises(RequestError) as caught:
        write_course(other, ["square"])
    assert caught.value.code == "file" and "new folder" in str(caught.value.help)
    assert [path.name for path in other.iterdir()] == ["index.html"]


@pytest.mark.parametrize("name", ["index", "a/b"])
def test_names_that_make_no_file(name: str, tmp_path: Path) -> None:
    with pytest.raises(RequestError, match=r"cannot have (two pages|a page) called"):
        write_course(tmp_path, [OWN._replace(name=name)])
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("lessons", ["start", [3], {"start"}])
def test_what_are_no_lessons(lessons: Any, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="lesson"):
        write_course(tmp_path, lessons)


def test_the_index_has_all_that_the_lessons_ask() -> None:
    html = course_index([*LESSONS.values()])
    (told,) = re.findall(r"^const COURSE=(.*);$", html, re.MULTILINE)
    listed = json.loads(re.sub(r"(?<=[{,])(name|title|tasks):", r'"\1":', told))
    assert [(one["name"], one["tasks"]) for one in listed] == [
        (name, [task.text for task in all_tasks(lesson)]) for name, lesson in LESSONS.items()
    ]
    assert f"a course of {len(LESSONS)} lessons" in html and len(html.encode()) <= LARGEST_INDEX


def test_its_questions_are_those_of_the_tutorial() -> None:
    page = Path(__file__).parents[3] / "docs" / "tutorial" / "the-chain-rule.md"
    rows = re.findall(r"^\| (.*\?) \|.*\| (.*) \|$", page.read_text("utf-8"), re.MULTILINE)
    assert len(rows) == 10
    asked = {question: tuple(re.findall("`(.*?)`", lessons)) for question, lessons in rows}
    assert asked == QUESTIONS


def test_the_tutorial_quotes_the_tasks_that_ask_them() -> None:
    """Row by row in the order of the questions: a task with an answer, and what a wrong one is told."""
    page = Path(__file__).parents[3] / "docs" / "tutorial" / "the-chain-rule.md"
    row = r"^\| `(\w+)` (\d) \| \*(.*)\* \| (.*) \| (.*) \|$"
    rows = re.findall(row, page.read_text("utf-8"), re.MULTILINE)
    for (name, part, text, wrong, told), lessons in zip(rows, QUESTIONS.values(), strict=True):
        assert name in lessons
        tasks = {task.text: task for task in LESSONS[name].parts[int(part) - 1].tasks}
        assert tasks[text].answer is not None and tasks[text].wrong[wrong] == told


def test_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert command("explore", "--course", "c", "square") == (0, "c/index.html\n", "")
    found = json.loads(command("explore", "--course", "c", "square", "--json").out)
    assert (found["file"], found["lessons"]) == ("c/index.html", ["square"])
    (tmp_path / "notes.txt").write_text("mine")
    status, out, err = command("explore", "--course", ".", "square")
    assert (status, out) == (2, "") and "files that are no course's" in err


def test_what_is_kept_has_the_same_keys_on_every_page() -> None:
    """Pages write properties of their own shorter, each in its way, and none of these."""
    assert not OWN_PROPERTIES & {"learner", "lessons", "tasks", "hints", "answers", "done", "shown"}
