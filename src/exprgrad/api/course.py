"""A course as a library writes it: pages of lessons, and their index."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from exprgrad.api.expression import run_of_formula
from exprgrad.errors import require_kind
from exprgrad.show.page.course import INDEX, check_course_names, course_index, make_course_folder
from exprgrad.show.page.lessons import LESSONS, Formula, Lesson, find_lesson
from exprgrad.show.page.page import make_page
from exprgrad.show.picture.picture import write_file

__all__ = ["write_course"]


def write_course(
    folder: str | Path,
    lessons: Sequence[Lesson | str | Path] = (),
    *,
    digits: int = 6,
    all: bool = False,
) -> Path:
    """Write a course to a folder: a page for each lesson, and ``index.html``, whose path is returned.

    The ``lessons`` are taken in their order: built-in ones by name, files by path, or ``Lesson``; all
    that are built in, if left out.  ``digits`` and ``all`` are as in ``Run.explore``.  The folder is made
    if there is none.  Raises ``RequestError`` for a folder that holds anything but a course, for lessons
    that cannot be read or share a name, and where a file cannot be written; ``MissingExtraError`` without
    Graphviz.
    """
    require_kind(lessons, (list, tuple), "lessons are a list of names, of files, or of Lessons")
    course = [
        find_lesson(str(one)) if isinstance(one, str | Path) else one
        for one in lessons or LESSONS.values()
    ]
    for one in course:
        require_kind(one, Lesson, "a lesson is a Lesson, or the name of one")
    check_course_names(course)
    make_course_folder(Path(folder))
    pages = {
        f"{one.name}.html": make_page(
            run_of_formula(Formula(one.name, one.expression, one.values)),
            digits=digits,
            all=all,
            lesson=one,
            run_of=run_of_formula,
            course=course,
        ).html
        for one in course
    }
    for name, html in {**pages, INDEX: course_index(course)}.items():
        write_file(html, Path(folder) / name)
    return Path(folder) / INDEX
