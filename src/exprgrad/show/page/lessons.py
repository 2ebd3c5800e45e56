"""Lessons: a formula, its inputs, and what to try with them.  Each is a file that a teacher can write.

Those that are built in stand in ``assets/lessons``.  Some are exercises: a formula, and what to try.
Others have their prose, in parts that open one after the other, several formulas, and parts that move.
Where a network is trained, its points are made here.
"""

from __future__ import annotations

import re
from cmath import rect
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.resources import files
from itertools import chain
from math import inf, pi
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

from exprgrad.errors import RequestError

__all__ = [
    "BUILT_IN", "LESSONS", "LIVE", "POINT_SETS", "TOOLS", "Formula", "Lesson", "LessonPart", "Task",
    "all_tasks", "find_lesson", "functions_as_formulas", "goals_by_task", "nodes_in_task", "read_lesson",
    "set_columns",
]  # fmt: skip

# Sets of points.


POINTS_PER_SIDE = 16
"""The number of points on each side."""
MEAN_SCATTER = 0.05
"""The standard deviation of a point from its place, each way."""
PLACES = 2
"""The decimal places of a point."""

POINT_SETS: dict[str, Callable[[float, int], complex]] = {
    "circles": lambda part, side: rect(
        (0.6, 1.4)[side], 2 * pi * part * (POINTS_PER_SIDE - 1) / POINTS_PER_SIDE
    ),
    "moons": lambda part, side: (-1.2, 1.2)[side] * (rect(1, pi * part) - (0.5 + 0.25j)),
    "spiral": lambda part, side: rect(0.25 + 1.3 * part, 2 * pi * part + pi * side),
}
"""Each set's points in the complex plane, by the part of the way, from 0 to 1, and the side, 0 or 1.

An inner and an outer circle; two half circles, each of which ends within the other; two arms of a spiral.
"""


def set_columns(name: str) -> tuple[list[float], list[float], list[float]]:
    """A set's columns: to the right, up, and the side, which is -1 or 1; each point is a little aside."""
    chance, place = Random(1), POINT_SETS[name]
    across: list[float] = []
    up: list[float] = []
    sides: list[float] = []
    for side in (0, 1):
        for at in range(POINTS_PER_SIDE):
            middle = place(at / (POINTS_PER_SIDE - 1), side)
            for column, number in ((across, middle.real), (up, middle.imag)):
                column.append(round(number + chance.gauss(0, MEAN_SCATTER), PLACES))
            sides.append(2.0 * side - 1)
    return across, up, sides


# What a lesson is, and how its file is read.


Check = Callable[[Any], bool]
"""Whether a value is what a field has to be."""

BUILT_IN = (
    "start", "graph", "chain", "neuron", "tanh", "gates", "square", "accumulate", "diamond", "paths",
    "order", "backward", "check", "vanish", "variance", "descent", "kink", "dead", "momentum", "batch",
    "tensors", "matrix", "jacobian", "network",
)  # fmt: skip
"""The lessons that are built in, in the order in which to take them."""
TOOLS = {
    "orders": "the panel Visit order, where an order of visits is broken",
    "code": "the panel Code, with the formula in several libraries",
}
"""What a page has besides, unless its lesson can do without; each with what it is."""
ENDING = ".toml"
"""The ending of a lesson's file name."""


class Task(NamedTuple):
    """Something to try.

    ``text``   what to do, or a question
    ``seen``   what one sees then: the page shows it once the task is done
    ``goals``  states of the page, each of which has to be reached once: facts by name (see ``FACTS``)
               that hold together.  Without any, and without an answer, the reader ticks the task off
    ``answer``   a number to type, or one of the ``choices``; it has to be given besides the goals
    ``choices``  texts to choose from
    ``grad``     the node whose grad the answer is: so a wrong one is explained by the chain rule
    ``wrong``    by wrong answer, as it is typed, what is wrong with it
    """

    text: str
    seen: str = ""
    goals: tuple[Mapping[str, Any], ...] = ()
    answer: float | str | None = None
    choices: Sequence[str] = ()
    grad: str = ""
    wrong: Mapping[str, str] = {}


class LessonPart(NamedTuple):
    """A part of a lesson, which opens by itself: prose, and what goes with it.

    ``title``    a heading of a few words
    ``text``     paragraphs, parted by empty lines; text between backticks is code
    ``formula``  the name of the formula that the page shows with it; empty: whichever is there
    ``code``     a program to read
    ``live``     what moves in it, one of ``LIVE``
    ``tasks``    what to try
    ``rate``     that of a descent, at the start
    ``data``     for training: columns of numbers by input, two for the plane and one for the targets
    ``sets``     instead: sets of points that are built in, among which the reader chooses
    ``points``   with these: the two inputs of the plane, and the one of the targets
    ``shows``    for training: the node that is positive on one side
    """

    title: str
    text: str = ""
    formula: str = ""
    code: str = ""
    live: str = ""
    tasks: tuple[Task, ...] = ()
    rate: float = 0.1
    data: Mapping[str, Sequence[float]] = {}
    sets: Sequence[str] = ()
    points: Sequence[str] = ()
    shows: str = ""


class Formula(NamedTuple):
    """One of several formulas among which a lesson's page switches, and the operations to take apart."""

    name: str
    expression: str
    values: dict[str, Any]
    expand: tuple[str, ...] = ()


class Lesson(NamedTuple):
    """A formula with its inputs, and what the page says about it.

    ``name``        what the command calls it
    ``title``       a heading of a few words
    ``expression``  the formula
    ``values``      a number for each input, or a tensor as lists
    ``about``       two or three sentences
    ``tasks``       what to try, in order: tasks, or their texts
    ``question``    what it asks, in a line: the page leads with it
    ``parts``       prose in parts, each with tasks of its own
    ``formulas``    the formulas, if there are several; the first is ``expression`` with its values
    ``tools``       those of ``TOOLS`` that its page has
    """

    name: str
    title: str
    expression: str
    values: dict[str, Any]
    about: str
    tasks: tuple[str | Task, ...]
    question: str = ""
    parts: tuple[LessonPart, ...] = ()
    formulas: tuple[Formula, ...] = ()
    tools: tuple[str, ...] = tuple(TOOLS)


def all_tasks(lesson: Lesson | LessonPart) -> list[Task]:
    """The tasks of a lesson, those in its parts too, or of a part."""
    own = [Task(task) if isinstance(task, str) else task for task in lesson.tasks]
    parts = lesson.parts if isinstance(lesson, Lesson) else ()
    return [*own, *(task for part in parts for task in part.tasks)]


def goals_by_task(lesson: Lesson) -> list[list[dict[str, Any]]]:
    """By task its goals; a part's hold while its formula is shown, told by its place."""
    places = {formula.name: place for place, formula in enumerate(lesson.formulas)}
    found = [[dict(goal) for goal in task.goals] for task in all_tasks(lesson._replace(parts=()))]
    for part in lesson.parts:
        with_it = {"formula": places[part.formula]} if part.formula else {}
        found += [[{**goal, **with_it} for goal in task.goals] for task in part.tasks]
    for at, task in enumerate(all_tasks(lesson)):
        found[at] += [] if task.answer is None else [{"answer": at}]
    return found


def nodes_in_task(task: Task) -> list[str]:
    """The names of the nodes that a task's goals and its answer speak of."""
    found = [task.grad] if task.grad else []
    for goal in task.goals:
        found += [goal["node"]] if "node" in goal else []
        found += [*goal.get("edge", ()), *goal.get("first", ()), *goal.get("inputs", ())]
    return found


def functions_as_formulas(expression: str) -> list[Formula]:
    """The functions that a formula defines, each as a formula that calls it with its own parameters."""
    found: list[Formula] = []
    before: list[str] = []
    for statement in re.split(r"[;\n]", expression):
        if definition := re.match(r"\s*(\w+)\s*\(([\w\s,]*)\)\s*=(?!=)", statement):
            before.append(statement)
            name, parameters = definition[1], [each.strip() for each in definition[2].split(",")]
            text = "; ".join([*before, f"{name}({', '.join(parameters)})"])
            found.append(Formula(name, text, dict.fromkeys(parameters, 0.0), (name,)))
    return found


def is_text_value(value: Any) -> bool:
    """Tells whether a value is a text."""
    return isinstance(value, str)


def is_number(value: Any) -> bool:
    """Tells whether a value is a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_number_or_lists(value: Any) -> bool:
    """Tells whether a value is a number, or a tensor as nested lists."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, list):
            waiting += one
        elif not is_number(one):
            return False
    return True


def word_check(*words: str) -> Check:
    """Checks for one of some words."""
    return words.__contains__


def list_check(each: Check, least: int = 0, most: float = inf) -> Check:
    """Checks for a list of ``least`` to ``most`` items that pass ``each``."""
    return lambda value: (
        isinstance(value, list) and least <= len(value) <= most and all(map(each, value))
    )


def table_check(each: Check) -> Check:
    """Checks for a table whose values pass ``each``."""
    return lambda value: isinstance(value, dict) and all(map(each, value.values()))


Fields = Mapping[str, tuple[str, Check]]
"""By name what a field has to be, in words, and whether it is."""
TEXT = "a text", is_text_value
TABLES = "a list of tables", list_check(table_check(lambda _: True))
VALUES = "a table of numbers, or of lists of them", table_check(is_number_or_lists)
COLUMNS = table_check(list_check(is_number, 1))

ORDER_FACTS: Fields = {
    "order": (
        "'right', 'preorder', 'bfs' or 'naive'",
        word_check("right", "preorder", "bfs", "naive"),
    ),
    "first": (
        "the names of two nodes, the first of which is visited first",
        list_check(is_text_value, 2, 2),
    ),
    "sign": ("'+=' or '='", word_check("+=", "=")),
}
"""Those of ``FACTS`` that are about the order of visits."""
FACTS: Fields = {
    "step": ("'end': all steps are done", word_check("end")),
    "node": ("the name of a node that is looked at", is_text_value),
    "edge": (
        "the names of the operand and the user whose edge is looked at",
        list_check(is_text_value, 2, 2),
    ),
    "inputs": ("a table of inputs and the numbers they have", table_check(is_number)),
    **ORDER_FACTS,
    "found": (
        "'data', 'local' or 'grad': all of them have been found under Ask me",
        word_check("data", "local", "grad"),
    ),
    "set": (f"one of {', '.join(POINT_SETS)}", word_check(*POINT_SETS)),
    "live": (
        "'end', 'reached', 'diverged' or 'zigzags': what moves in the part got there",
        word_check("end", "reached", "diverged", "zigzags"),
    ),
}
"""The facts about the page that a goal may ask for."""

TASK_FIELDS: Fields = {
    "text": TEXT,
    "seen": TEXT,
    "goals": TABLES,
    "answer": (
        "a number, or one of the choices",
        lambda value: is_number(value) or is_text_value(value),
    ),
    "choices": ("a list of texts", list_check(is_text_value, 2)),
    "grad": ("the name of a node", is_text_value),
    "wrong": ("a table of texts", table_check(is_text_value)),
}
FORMULA_FIELDS: Fields = {
    "name": TEXT,
    "expression": TEXT,
    "values": VALUES,
    "expand": ("a list of operations", list_check(is_text_value)),
}
LIVE = {
    "paths": "counts paths beside the sweep's edges, for copies of the formula in a chain",
    "search": "finds the order by a depth-first search, step by step, with its code",
    "differences": "divides differences by smaller and smaller steps h",
    "gates": "lists what each operation does with a grad",
    "sizes": "draws how large the grad of each operation is",
    "descent": "goes down the gradient",
    "training": "trains a network on points in the plane",
}
"""Each thing that can move in a part, with what it does."""
PART_FIELDS: Fields = {
    "title": TEXT,
    "text": TEXT,
    "formula": ("the name of one of the formulas", is_text_value),
    "code": TEXT,
    "live": (f"one of {', '.join(LIVE)}", word_check(*LIVE)),
    "rate": ("a number", is_number),
    "data": (
        "a table of three lists of numbers, of the same length",
        lambda value: COLUMNS(value) and len(value) == 3 and len({*map(len, value.values())}) == 1,
    ),
    "sets": (f"a list of some of {', '.join(POINT_SETS)}", list_check(word_check(*POINT_SETS), 1)),
    "points": ("a list of three inputs", list_check(is_text_value, 3, 3)),
    "shows": ("the name of a node", is_text_value),
    "tasks": TABLES,
}
LESSON_FIELDS: Fields = {
    "title": TEXT,
    "expression": TEXT,
    "values": VALUES,
    "formulas": TABLES,
    "about": TEXT,
    "question": TEXT,
    "tools": (f"a list of some of {', '.join(TOOLS)}", list_check(word_check(*TOOLS))),
    "parts": TABLES,
    "tasks": TABLES,
}
ONE, SEVERAL = {"title", "expression", "values"}, {"title", "formulas"}
"""The required fields of a lesson on one formula, and of one on several."""


def parse_lesson(text: str, name: str) -> Lesson:
    """A lesson from the text of its file.  Raises ``RequestError`` where that is wrong, and says where."""
    import tomllib

    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise lesson_error(name, f"is not TOML: {error}") from None
    check_lesson_table(
        table, LESSON_FIELDS, SEVERAL if "formulas" in table else ONE, name, "the lesson"
    )
    tasks = [*read_tasks(table, name)]
    formulas = tuple(read_formulas(table, name))
    for field in {"expression", "values"} & table.keys() if formulas else ():
        raise lesson_error(name, f"the lesson has formulas, and '{field}' beside them")
    parts: list[LessonPart] = []
    for number, part in enumerate(table.get("parts", ()), 1):
        check_lesson_table(part, PART_FIELDS, {"title"}, name, f"part {number}")
        if part.get("formula", "") not in ["", *(formula.name for formula in formulas)]:
            raise lesson_error(
                name, f"part {number} is about '{part['formula']}', which is no formula's name"
            )
        if part.get("live") == "training":
            own_points = {"sets", "points"} if "sets" in part else {"data"}
            check_lesson_table(
                part, PART_FIELDS, {"title", "shows", *own_points}, name, f"part {number}"
            )
        own = tuple(read_tasks(part, name, len(tasks) + sum(len(one.tasks) for one in parts)))
        parts.append(LessonPart(**{**part, "tasks": own}))
    first = formulas[0] if formulas else formula_from_table(table)
    about, question = (" ".join(table.get(field, "").split()) for field in ("about", "question"))
    lesson = Lesson(
        Path(name).stem, table["title"], first.expression, first.values, about, tuple(tasks), question,
        tuple(parts), formulas, tuple(table.get("tools", TOOLS)),
    )  # fmt: skip
    for number, task in enumerate(all_tasks(lesson), 1):
        if ORDER_FACTS.keys() & {*chain.from_iterable(task.goals)} and "orders" not in lesson.tools:
            raise lesson_error(
                name, f"task {number} has a goal about the visit order, and 'tools' has no 'orders'"
            )
    return lesson


def read_tasks(table: Mapping[str, Any], name: str, before: int = 0) -> Iterator[Task]:
    """The tasks of a lesson or a part, numbered after the ``before`` earlier ones."""
    for number, task in enumerate(table.get("tasks", ()), before + 1):
        check_lesson_table(task, TASK_FIELDS, {"text"}, name, f"task {number}")
        for goal in task.get("goals", ()):
            check_lesson_table(goal, FACTS, set(), name, f"a goal of task {number}")
        answer, choices = task.get("answer"), task.get("choices", ())
        if (choices or isinstance(answer, str)) and answer not in choices:
            raise lesson_error(name, f"the 'answer' of task {number} is not one of its choices")
        yield Task(**{**task, "goals": tuple(task.get("goals", ()))})


def read_formulas(table: Mapping[str, Any], name: str) -> Iterator[Formula]:
    """The formulas of a lesson on several."""
    if not table.get("formulas", True):
        raise lesson_error(name, "the lesson has an empty list of formulas")
    for number, formula in enumerate(table.get("formulas", ()), 1):
        needed = {"name", "expression", "values"}
        check_lesson_table(formula, FORMULA_FIELDS, needed, name, f"formula {number}")
        if number == 1 and "expand" in formula:
            raise lesson_error(name, "the first formula is shown as it is, and not expanded")
        yield formula_from_table(formula)


def formula_from_table(table: Mapping[str, Any]) -> Formula:
    """A formula from its table, or a lesson's."""
    values = {
        key: value if isinstance(value, list) else float(value)
        for key, value in table["values"].items()
    }
    expand = tuple(table.get("expand", ()))
    return Formula(table.get("name", ""), table["expression"], values, expand)


def check_lesson_table(
    table: Mapping[str, Any], fields: Fields, needed: set[str], name: str, where: str
) -> None:
    """Raise ``RequestError`` unless a table has the fields it needs and no others, and each is right."""
    from exprgrad.language.mistakes.hints import did_you_mean

    for field, value in table.items():
        if field not in fields:
            known = f"the fields are {', '.join(fields)}"
            raise lesson_error(
                name, f"{where} has no field '{field}'", did_you_mean(field, fields, known)
            )
        words, is_right = fields[field]
        if not is_right(value):
            raise lesson_error(name, f"the '{field}' of {where} is not {words}")
    for field in sorted(needed - table.keys()):
        raise lesson_error(name, f"{where} has no '{field}'")


def lesson_error(name: str, what: str, help: str = "") -> RequestError:
    """The error for a lesson's file."""
    advice = help or "docs/how-to/write-a-lesson.md tells what such a file holds"
    return RequestError("usage", f"'{name}': {what}", help=advice).about(name)


def read_lesson(path: str | Path) -> Lesson:
    """The lesson in a file.  Raises ``RequestError`` where it cannot be read or is not a lesson."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise lesson_error(str(path), f"cannot be read: {reason}") from None
    return parse_lesson(text, str(path))


def read_builtin_lesson(name: str) -> Lesson:
    """One of the lessons that come with the program."""
    path = files("exprgrad.show.page").joinpath("assets", "lessons", name + ENDING)
    return parse_lesson(path.read_text(encoding="utf-8"), name)


if TYPE_CHECKING:
    LESSONS: dict[str, Lesson]
    """The lessons that are built in by name, in the order in which to take them."""
else:

    def __getattr__(name: str) -> Any:
        """``LESSONS``, read when it is first asked for: a page of a formula has none."""
        if name != "LESSONS":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()["LESSONS"] = {each: read_builtin_lesson(each) for each in BUILT_IN}
        return globals()["LESSONS"]


def find_lesson(name: str) -> Lesson:
    """The built-in lesson of a name, or the one in a file.  Raises ``RequestError`` if there is none."""
    if name in BUILT_IN:
        return read_builtin_lesson(name)
    if name.endswith(ENDING):
        return read_lesson(name)
    from exprgrad.language.mistakes.hints import did_you_mean

    known = f"the lessons are {', '.join(BUILT_IN)}, or a file that ends in {ENDING}"
    raise RequestError(
        "usage", f"there is no lesson '{name}'", help=did_you_mean(name, BUILT_IN, known)
    ).about(name)
