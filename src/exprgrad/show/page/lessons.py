"""Lessons: a formula, its inputs, and what to try with them.  Each is a file that a teacher can write.

Those that are built in stand in ``assets/lessons``; each shows one thing that the others do not.
``graph``: how the two sweeps go.  ``neuron``: an operation whose local derivative changes with its operand.
``square``: a node used twice by one operation, where ``=`` for ``+=`` gives half the gradient and recursion
without a visited set twice of it.  ``diamond``: a node used by two operations, where an order that reads it
too early loses a path.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from exprgrad.errors import RequestError

__all__ = [
    "ENDING",
    "LESSONS",
    "Lesson",
    "Task",
    "lesson_named",
    "nodes_of",
    "read_lesson",
    "tasks_of",
]

BUILT_IN = ("graph", "neuron", "square", "diamond")
"""The lessons that are built in, in the order in which to take them."""
ENDING = ".toml"
"""How the name of a lesson's file ends."""


class Task(NamedTuple):
    """Something to try.

    ``text``   what to do, or a question
    ``seen``   what one sees then: the page shows it once the task is done
    ``goals``  states of the page, each of which has to be reached once: facts by name (see ``FACTS``)
               that hold together.  Without any, the reader ticks the task off
    """

    text: str
    seen: str = ""
    goals: tuple[Mapping[str, Any], ...] = ()


class Lesson(NamedTuple):
    """A formula with its inputs, and what the page says about it.

    ``name``        what the command calls it
    ``title``       a heading of a few words
    ``expression``  the formula
    ``values``      a number for each input
    ``about``       two or three sentences
    ``tasks``       what to try, in order: tasks, or their texts
    ``question``    what it asks, in a line: the page leads with it
    """

    name: str
    title: str
    expression: str
    values: dict[str, float]
    about: str
    tasks: tuple[str | Task, ...]
    question: str = ""


def tasks_of(lesson: Lesson) -> list[Task]:
    """A lesson's tasks, those that are mere texts too."""
    return [Task(task) if isinstance(task, str) else task for task in lesson.tasks]


def nodes_of(goal: Mapping[str, Any]) -> list[str]:
    """The names of the nodes that a goal speaks of."""
    node = [goal["node"]] if "node" in goal else []
    return [*node, *goal.get("edge", ()), *goal.get("first", ()), *goal.get("inputs", ())]


def is_text(value: object) -> bool:
    """Whether it is a text."""
    return isinstance(value, str)


def is_number(value: object) -> bool:
    """Whether it is a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def are_numbers(value: object) -> bool:
    """Whether it is a table of numbers."""
    return isinstance(value, dict) and all(map(is_number, value.values()))


def is_pair(value: object) -> bool:
    """Whether it is a list of two texts."""
    return isinstance(value, list) and len(value) == 2 and all(map(is_text, value))


def one_of(*words: str) -> Callable[[object], bool]:
    """Whether it is one of some words."""
    return words.__contains__


def are_tables(value: object) -> bool:
    """Whether it is a list of tables."""
    return isinstance(value, list) and all(isinstance(each, dict) for each in value)


Fields = Mapping[str, tuple[str, Callable[[object], bool]]]
"""By name what a field has to be, in words, and whether it is."""

FACTS: Fields = {
    "step": ("'end': all steps are done", one_of("end")),
    "node": ("the name of a node that is looked at", is_text),
    "edge": ("the names of the operand and the user whose edge is looked at", is_pair),
    "inputs": ("a table of inputs and the numbers they have", are_numbers),
    "order": (
        "'right', 'preorder', 'bfs' or 'naive'",
        one_of("right", "preorder", "bfs", "naive"),
    ),
    "first": ("the names of two nodes, the first of which is visited first", is_pair),
    "sign": ("'+=' or '='", one_of("+=", "=")),
    "found": (
        "'data', 'local' or 'grad': all of them have been found under Ask me",
        one_of("data", "local", "grad"),
    ),
}
"""What a goal may ask of the page."""

TASK_FIELDS: Fields = {
    "text": ("a text", is_text),
    "seen": ("a text", is_text),
    "goals": ("a list of tables", are_tables),
}
LESSON_FIELDS: Fields = {
    "title": ("a text", is_text),
    "expression": ("a text", is_text),
    "values": ("a table of numbers", are_numbers),
    "about": ("a text", is_text),
    "question": ("a text", is_text),
    "tasks": ("a list of tables", are_tables),
}
NEEDED = {"title", "expression", "values"}
"""What a lesson's file cannot do without; a task cannot without its text."""


def lesson_of(text: str, name: str) -> Lesson:
    """A lesson from the text of its file.  Raises ``RequestError`` where that is wrong, and says where."""
    import tomllib

    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise wrong(name, f"is not TOML: {error}") from None
    checked(table, LESSON_FIELDS, NEEDED, name, "the lesson")
    tasks = []
    for number, task in enumerate(table.get("tasks", ()), 1):
        checked(task, TASK_FIELDS, {"text"}, name, f"task {number}")
        for goal in task.get("goals", ()):
            checked(goal, FACTS, set(), name, f"a goal of task {number}")
        tasks.append(Task(task["text"], task.get("seen", ""), tuple(task.get("goals", ()))))
    values = {key: float(value) for key, value in table["values"].items()}
    about, question = (flowing(table.get(field, "")) for field in ("about", "question"))
    title, expression = table["title"], table["expression"]
    return Lesson(Path(name).stem, title, expression, values, about, tuple(tasks), question)


def checked(
    table: Mapping[str, Any], fields: Fields, needed: set[str], name: str, where: str
) -> None:
    """Raise ``RequestError`` unless a table has the fields it needs and no others, and each is right."""
    from exprgrad.language.mistakes.hints import meant

    for field, value in table.items():
        if field not in fields:
            known = f"the fields are {', '.join(fields)}"
            raise wrong(name, f"{where} has no field '{field}'", meant(field, fields, known))
        words, is_right = fields[field]
        if not is_right(value):
            raise wrong(name, f"the '{field}' of {where} is not {words}")
    for field in sorted(needed - table.keys()):
        raise wrong(name, f"{where} has no '{field}'")


def flowing(text: str) -> str:
    """A text without its line breaks."""
    return " ".join(text.split())


def wrong(name: str, what: str, help: str = "") -> RequestError:
    """The error for a lesson's file."""
    advice = help or "docs/how-to/write-a-lesson.md tells what such a file holds"
    return RequestError("usage", f"'{name}': {what}", help=advice).about(name)


def read_lesson(path: str | Path) -> Lesson:
    """The lesson in a file.  Raises ``RequestError`` where it cannot be read or is not a lesson."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise wrong(str(path), f"cannot be read: {reason}") from None
    return lesson_of(text, str(path))


def built_in(name: str) -> Lesson:
    """One of the lessons that come with the program."""
    path = files("exprgrad.show.page").joinpath("assets", "lessons", name + ENDING)
    return lesson_of(path.read_text(encoding="utf-8"), name)


if TYPE_CHECKING:
    LESSONS: dict[str, Lesson]
    """The lessons that are built in by name, in the order in which to take them."""
else:

    def __getattr__(name: str) -> Any:
        """``LESSONS``, read when it is first asked for: a page of a formula has none."""
        if name != "LESSONS":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()["LESSONS"] = {each: built_in(each) for each in BUILT_IN}
        return globals()["LESSONS"]


def lesson_named(name: str) -> Lesson:
    """The built-in lesson of a name, or the one in a file.  Raises ``RequestError`` if there is none."""
    if name in BUILT_IN:
        return built_in(name)
    if name.endswith(ENDING):
        return read_lesson(name)
    from exprgrad.language.mistakes.hints import meant

    known = f"the lessons are {', '.join(BUILT_IN)}, or a file that ends in {ENDING}"
    help = meant(name, BUILT_IN, known)
    raise RequestError("usage", f"there is no lesson '{name}'", help=help).about(name)
