"""The page as an object: shown in a notebook, written to a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from exprgrad.errors import RequestError, advice, require
from exprgrad.explain.diagnostics import Run
from exprgrad.explain.limits import significant
from exprgrad.graph.graph import numbers_only
from exprgrad.run.evaluation import adjoints_of
from exprgrad.show.page.lessons import (
    Formula,
    Lesson,
    functions_of,
    lesson_named,
    nodes_of,
    tasks_of,
    trains,
)
from exprgrad.show.picture.dot import LARGEST
from exprgrad.show.picture.picture import misnamed, put
from exprgrad.source import cut, printable

__all__ = ["ENDINGS", "Page", "check_path", "page"]

ENDINGS = (".html", ".htm")
"""What the name of a page's file may end in: browsers go by it."""

SHOWN = 60
"""The most characters of a formula in an error."""

SHOWN_NAMES = 12
"""The most names of nodes in an error."""

FRAME = (
    '<iframe title="exprgrad: step through a formula" sandbox="allow-scripts" '
    'style="border: 0; width: 100%; height: min(56rem, 85vh); min-height: 32rem; resize: vertical" '
    'srcdoc="{}"></iframe>'
)
"""A page inside of another: it runs its own script, gets at nothing around it, and fits a window."""


class Page:
    """A page to step through a formula: ``html`` is the whole of it; a notebook shows it."""

    def __init__(self, html: str) -> None:
        self.html = html

    def save(self, path: str | Path) -> None:
        """Write the page to an ``.html`` file."""
        check_path(path)
        put(self.html, path)

    def __str__(self) -> str:
        return self.html

    def __repr__(self) -> str:
        return f"<Page: {len(self.html.encode()):,} bytes of HTML>"

    def _repr_html_(self) -> str:
        return FRAME.format(escape(self.html))


def check_path(path: str | Path) -> None:
    """Raise ``RequestError`` unless a file's name ends as that of a page does."""
    if Path(path).suffix.lower() not in ENDINGS:
        raise misnamed(path, "a web page", "the ending is .html")


def page(
    run: Run,
    *,
    digits: int = 6,
    all: bool = False,
    lesson: Lesson | str | None = None,
    descend: bool = False,
    run_of: Callable[[Formula], Run] | None = None,
) -> Page:
    """The page of a run of ``gradient``; with a lesson, its texts and tasks; with ``descend``, a panel of
    gradient descent.

    ``run_of`` runs the further formulas of a lesson on several.
    Raises ``RequestError`` for other runs, for a number of digits that is none, for a lesson on something
    else, for a descent over tensors or without inputs, above ``LARGEST`` nodes unless ``all`` is true, and
    for tensors too large to be written out; ``MissingExtraError`` without Graphviz.
    """
    adjoints_of(run, "a page")
    digits = significant(digits)
    if descend:
        check_descent(run)
    if isinstance(lesson, str):
        lesson = lesson_named(lesson)
    runs, insides = [run], {}
    if lesson is not None:
        require(lesson, Lesson, "a lesson is a Lesson, or the name of one")
        check_lesson(lesson, run)
        if run_of is not None:
            runs += map(run_of, lesson.formulas[1:])
            if trains(lesson):
                insides = {one.name: run_of(one) for one in functions_of(lesson.expression)}
        check_goals(lesson, runs)
    check_runs(runs, lesson, all=all)
    from exprgrad.show.page.document import document

    html = document(
        *runs,
        digits=digits,
        lesson=lesson,
        descend=descend,
        insides=insides,
        most=None if all else LARGEST,
    )
    return Page(html)


def check_descent(run: Run) -> None:
    """Raise ``RequestError`` unless a run has numbers that a descent can move, and no tensors."""
    refuse_tensors(run, "descent on a page", advice("descend", "descend()") + " takes tensors")
    if not run.wrt:
        raise RequestError("usage", "the formula has no inputs to move")


def refuse_tensors(run: Run, what: str, help: str) -> None:
    """Raise ``RequestError`` for a run over tensors, given what it is that takes numbers alone."""
    message = f"{what} is for formulas of numbers: this one has tensors"
    numbers_only(run.graph, lambda _: RequestError("no-tensors", message, help=help))


def check_runs(runs: Sequence[Run], lesson: Lesson | None, *, all: bool) -> None:
    """Raise ``RequestError`` for what is too large to read, and where something moves over tensors."""
    is_live = lesson is not None and any(part.live for part in lesson.parts)
    for one in runs:
        if is_live:
            refuse_tensors(one, "what moves in a lesson", "leave out the part's live")
        if len(one.shown) > LARGEST and not all:
            raise RequestError(
                "too-large",
                f"a page of {len(one.shown):,} nodes is too large to read: the limit is {LARGEST}",
                help=advice("--all", "all=True") + " makes it anyway",
            )


def check_lesson(lesson: Lesson, run: Run) -> None:
    """Raise ``RequestError`` unless a run is the one that a lesson's tasks are about."""
    if run.text != lesson.expression:
        what = "another formula"
        given, own = (cut(printable(text), SHOWN) for text in (run.text, lesson.expression))
    elif (inputs := with_lists(run.inputs)) != with_lists(lesson.values):
        what = "other inputs"
        given, own = (
            ", ".join(f"{name}={value}" for name, value in found.items())
            for found in (inputs, lesson.values)
        )
    else:
        return
    message = f"the lesson '{lesson.name}' is about {what}: {own} instead of {given}"
    help = "its run is parse(lesson.expression).gradient(lesson.values)"
    raise RequestError("usage", message, help=help)


def with_lists(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Inputs, of which tensors are lists."""
    return {
        name: value.tolist() if hasattr(value, "tolist") else value
        for name, value in inputs.items()
    }


def check_goals(lesson: Lesson, runs: Sequence[Run]) -> None:
    """Raise ``RequestError`` where a task speaks of a node that no formula of the page has."""
    from exprgrad.language.mistakes.hints import meant
    from exprgrad.show.page.model import short_names

    names = [name for run in runs for name in short_names(run).values()]
    spoken = [
        (name, f"'{part.title}'")
        for part in lesson.parts
        for name in [*part.data, *part.points, part.shows]
        if name
    ]
    spoken += [
        (name, f"task {number}")
        for number, task in enumerate(tasks_of(lesson), 1)
        for goal in task.goals
        for name in nodes_of(goal)
    ]
    for name, speaker in spoken:
        if name not in names:
            message = f"'{name}', of which {speaker} speaks, is not a node of the formula"
            help = meant(name, names, f"the nodes are {', '.join(names[:SHOWN_NAMES])}")
            raise RequestError("usage", message, help=help).about(name)
