"""A course: the index of its lessons, and the folder that holds it.

The index names what one will be able to explain, lists the lessons with how far each is, and saves all
answers as a file.  Like the lessons' pages it is one file, whose policy lets it load nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape
from pathlib import Path

from exprgrad.errors import RequestError
from exprgrad.show.page.lessons import Lesson, all_tasks
from exprgrad.show.page.page import (
    SLOT,
    content_policy,
    lesson_link,
    page_style,
    read_asset,
    script_literal,
    squeeze_script,
    text_html,
)
from exprgrad.show.text.walks import count_words

__all__ = ["INDEX", "QUESTIONS", "check_course_names", "course_index", "make_course_folder"]

INDEX = "index.html"
"""The name of the index's file."""
MARK = '<meta name="generator" content="exprgrad course">'
"""The mark in the head of a course's index, which no other page has."""
QUESTIONS = {
    "Why does backpropagation use `+=`, not `=`?": ("accumulate", "diamond"),
    "Why visit nodes in reverse topological order?": ("order",),
    "How does a local derivative differ from a gradient?": ("chain",),
    "Why does a reverse sweep cost about two forward ones?": ("paths",),
    "What is saturation?": ("vanish", "neuron"),
    "What is a dead ReLU?": ("dead",),
    "What shape is the gradient of a matrix, and why?": ("matrix", "tensors"),
    "Which step h is best for a difference?": ("check",),
    "What does a kink do to a gradient?": ("check", "kink"),
    "Why does gradient descent zigzag?": ("descent",),
}
"""Questions that learners can answer after the built-in lessons, and the lessons that ask them."""


def check_course_names(course: Sequence[Lesson]) -> None:
    """Raise ``RequestError`` unless each lesson's name makes a file of its own, beside the index."""
    counts = Counter([Path(INDEX).stem, *(lesson.name for lesson in course)])
    for name, count in counts.items():
        if count > 1 or Path(name).name != name:
            raise RequestError(
                "usage",
                f"a course cannot have {'two pages' if count > 1 else 'a page'} called '{name}'",
                help="a lesson's page has the name of its file: rename one, or leave it out",
            )


def make_course_folder(folder: Path) -> None:
    """Make a folder, if there is none.  Raises ``RequestError`` unless it is empty or holds a course."""
    index = folder / INDEX
    try:
        folder.mkdir(parents=True, exist_ok=True)
        is_ours = index.is_file() and MARK.encode() in index.read_bytes()
        if is_ours or not any(folder.iterdir()):
            return
    except OSError as error:
        reason = error.strerror or error
        raise RequestError("file", f"cannot write a course to '{folder}': {reason}") from None
    raise RequestError(
        "file",
        f"'{folder}' holds files that are no course's",
        help="name a new folder, or an empty one",
    )


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
    goals = "\n".join(
        f"<li>{text_html(question)} {', '.join(lesson_link(names[name]) for name in found)}</li>"
        for question, lessons in QUESTIONS.items()
        if (found := [*filter(names.get, lessons)])
    )
    head = "<h2>What you will be able to explain</h2>\n<p>Each lesson named here asks the question.</p>"
    parts = {
        "policy": content_policy(script),
        "mark": MARK,
        "title": f"Backpropagation: a course of {count_words(len(course), 'lesson')}",
        "style": page_style("index.css"),
        "goals": f"<section>{head}\n<ul>\n{goals}\n</ul></section>" if goals else "",
        "lessons": "\n".join(
            f"<li>{lesson_link(one)}<p>{escape(one.question or one.about)}</p><output></output></li>"
            for one in course
        ),
        "script": script,
    }
    return SLOT.sub(lambda slot: parts[slot[1]], read_asset("index.html"))
