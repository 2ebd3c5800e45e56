"""A course: the index of its lessons, and the folder that holds it.

The index names what one will be able to explain, lists the lessons with how far each is, and saves all
answers as a file.  Like the lessons' pages it is one file, whose policy lets it load nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from urllib.parse import quote

from exprgrad.errors import RequestError
from exprgrad.show.page.lessons import Lesson, all_tasks
from exprgrad.show.page.page import (
    SLOT,
    content_policy,
    lesson_path,
    page_style,
    read_asset,
    script_literal,
    squeeze_script,
    text_html,
)
from exprgrad.show.picture.picture import write_file

__all__ = [
    "INDEX",
    "QUESTIONS",
    "check_course_folder",
    "check_course_names",
    "course_index",
    "save_course",
]

INDEX = "index.html"
"""The name of the index's file."""
MARK = '<meta name="generator" content="exprgrad course">'
"""What the index of a course has in its head, and no other page."""
QUESTIONS = {
    "Why does backpropagation use `+=`, not `=`?": ("accumulate", "diamond"),
    "Why visit nodes in reverse topological order?": ("order",),
    "How does a local derivative differ from a gradient?": ("chain",),
    "Why does a reverse sweep cost about two forward ones?": ("paths",),
    "What is saturation?": ("vanish", "neuron"),
    "What is a dead ReLU?": ("dead", "kink"),
    "What shape is the gradient of a matrix, and why?": ("matrix", "tensors"),
    "Which step h is best for a difference?": ("check",),
    "What does a kink do to a gradient?": ("check", "kink"),
    "Why does gradient descent zigzag?": ("descent",),
}
"""Questions that learners can answer after the built-in lessons, and the lessons that ask them."""


def check_course_names(course: Sequence[Lesson]) -> None:
    """Raise ``RequestError`` unless each lesson's name makes a file of its own."""
    for name, count in Counter(lesson.name for lesson in course).items():
        if count > 1:
            what = f"the course has {count} lessons called '{name}'"
        elif lesson_path_is_free(name):
            continue
        else:
            what = f"a lesson of a course cannot be called '{name}'"
        raise RequestError(
            "usage",
            what,
            help="a lesson's page has the name of its file: rename one, or leave it out",
        )


def lesson_path_is_free(name: str) -> bool:
    """Tells whether a lesson's name is that of a file, and not the index's."""
    return Path(name).name == name and name not in ("", Path(INDEX).stem)


def check_course_folder(folder: Path) -> None:
    """Raise ``RequestError`` unless a folder is new, empty, or holds a course."""
    index = folder / INDEX
    try:
        is_free = not folder.exists() or not any(folder.iterdir())
        if is_free or (index.is_file() and MARK.encode() in index.read_bytes()):
            return
    except OSError as error:
        raise course_folder_error(folder, error) from None
    raise RequestError(
        "file",
        f"'{folder}' holds files that are no course's",
        help="name a new folder, or an empty one",
    )


def save_course(folder: Path, pages: Mapping[str, str]) -> Path:
    """Write the pages of a course, by the names of their files; returns the path of the index."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise course_folder_error(folder, error) from None
    for name, html in pages.items():
        write_file(html, folder / name)
    return folder / INDEX


def course_folder_error(folder: Path, error: OSError) -> RequestError:
    """The error for a folder in which no course can be written."""
    return RequestError("file", f"cannot write a course to '{folder}': {error.strerror or error}")


def course_index(course: Sequence[Lesson]) -> str:
    """The index page of a course."""
    names = {lesson.name: lesson for lesson in course}
    told = script_literal(
        [
            {"name": one.name, "title": one.title, "tasks": [task.text for task in all_tasks(one)]}
            for one in course
        ]
    )
    code = squeeze_script("\n".join(map(read_asset, ("progress.js", "index.js"))))
    script = f'"use strict";\nconst COURSE={told};\n{code}'
    asked = {
        question: [names[name] for name in lessons if name in names]
        for question, lessons in QUESTIONS.items()
    }
    goals = "\n".join(
        f"<li>{text_html(question)} {', '.join(map(link_by_title, lessons))}</li>"
        for question, lessons in asked.items()
        if lessons
    )
    head = "<h2>What you will be able to explain</h2>\n<p>Each lesson named here asks the question.</p>"
    plural = "s" * (len(course) > 1)
    parts = {
        "policy": content_policy(script),
        "title": f"Backpropagation: a course of {len(course)} lesson{plural}",
        "style": page_style("index.css"),
        "goals": f"<section>{head}\n<ul>\n{goals}\n</ul></section>" if goals else "",
        "lessons": "\n".join(
            f"<li>{link_by_title(one)}<p>{escape(one.question or one.about)}</p><output></output></li>"
            for one in course
        ),
        "script": script,
    }
    return SLOT.sub(lambda slot: parts[slot[1]], read_asset("index.html"))


def link_by_title(lesson: Lesson) -> str:
    """A link to a lesson, by its title."""
    return f'<a href="{quote(lesson_path(lesson))}">{escape(lesson.title)}</a>'
