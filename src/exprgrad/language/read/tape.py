"""The tape: what the grammar's rules recognised, written down to be built later, and more than once.

In ``sum(x^k for k in 1..3)`` the index comes after the body that it stands in.  So the actions of the first
pass write steps, operands before their users, and where a part has to wait, or to be built several times,
its steps are cut out of the tape and kept as code of their own.  The second pass runs the tape; a step that
has code to run asks for it by yielding, so that nothing recurses however deep a text is nested.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from types import GeneratorType
from typing import Any, NamedTuple

from exprgrad.errors import LanguageError
from exprgrad.language.read.lalr import START, Action, parser
from exprgrad.source import Span

__all__ = [
    "Clause",
    "Code",
    "Job",
    "Recurrence",
    "Reduction",
    "Scope",
    "Tape",
    "Waiting",
    "outcome",
    "run",
    "steps",
    "tape_actions",
]

WHOLE_RULES = ("whole_group", "whole_infix", "whole_name", "whole_number", "whole_signed")
"""The rules of whole numbers that are known when they are read."""
BY_HAND = (
    "call", "clause", "definition", "list_over_index", "over_index", "recurrence", "subscript", "term",
)  # fmt: skip
"""The rules that methods of the tape are for."""


class Reduction(NamedTuple):
    """A reduction: its rule, and what its action is given.

    In the place of a value that an earlier step leaves stands None, of a list of them their count.
    """

    rule: str
    parts: tuple[Any, ...]


Code = list[Reduction]


class Clause(NamedTuple):
    """``for k in 1..10``: where it begins and ends, where its index is written, and the bounds."""

    start: int
    end: int
    name: Span
    low: Code
    high: Code


class Scope(NamedTuple):
    """What local names mean: a node (parameters and unknowns), or a whole number (indices)."""

    nodes: Mapping[str, int]
    wholes: Mapping[str, int]


class Job(NamedTuple):
    """Code to run, and the local names that it knows."""

    code: Code
    scope: Scope


class Recurrence(NamedTuple):
    """``x[k] = … for k in 1..10``: the name's place, the code of its index, the place of ``=``, …"""

    name: Span
    place: Code
    equals: Span
    formula: Span
    body: Code
    clause: Clause


class Tape:
    """The steps so far; the value of a reduction is the place where its first step stands."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.code: Code = []

    def step(self, rule: str, *parts: Any) -> int:
        """Write a step down.  Its parts are spans, places of steps, lists of these, and plain data."""
        places = [part[0] if type(part) is list else part for part in parts if is_value(part)]
        first: int = places[0] if places else len(self.code)
        waiting = [None if type(p) is int else len(p) if is_value(p) else p for p in parts]
        self.code.append(Reduction(rule, tuple(waiting)))
        return first

    def cut(self, start: int) -> Code:
        """Take the steps from a place on out of the tape."""
        code = self.code[start:]
        del self.code[start:]
        return code

    def word(self, span: Span) -> str:
        """What stands at a place."""
        return self.text[span[0] : span[1]]

    # Lists of values.

    def first(self, value: Any) -> list[Any]:
        """The first of a list."""
        return [value]

    def more(self, values: list[Any], *separator_and_value: Any) -> list[Any]:
        """A further one."""
        values.append(separator_and_value[-1])
        return values

    # What waits for its index.

    def clause(
        self, begin: Span, name: Span, _in: Span, low: int, _range: Span, high: int
    ) -> Clause:
        """``for k in 1..10``."""
        last = self.cut(high)
        end = max(part[1] for step in last for part in step.parts if type(part) is tuple)
        return Clause(begin[0], end, name, self.cut(low), last)

    def over_index(
        self, name: Span, _left: Span, body: int, clauses: list[Clause], right: Span
    ) -> int:
        """``sum(x^k for k in 1..10)``."""
        return self.step("over_index", name, self.body(body, clauses), clauses, right)

    def list_over_index(self, left: Span, body: int, clauses: list[Clause], right: Span) -> int:
        """``[x^k for k in 1..10]``."""
        return self.step("list_over_index", left, self.body(body, clauses), clauses, right)

    def body(self, start: int, clauses: list[Clause]) -> Code:
        """What stands before a ``for``: its names do not end in an index, for ``x_k`` is one name."""
        code = self.cut(start)
        below = tuple([f"_{self.word(clause.name)}" for clause in clauses])
        for step in code:
            if step.rule == "name" and self.word(step.parts[0]).endswith(below):
                place = step.parts[0]
                name, _, index = self.word(place).rpartition("_")
                error = LanguageError(
                    "over-index",
                    f"'{name}_{index}' is one name, and does not change with {index}",
                    span=place,
                    help=f"write {name}[{index}]",
                )
                raise error.mended_by((*place, f"{name}[{index}]"))
        return code

    # What is told by a name.

    def call(self, name: Span, left: Span, values: list[int], right: Span) -> int:
        """A call.  A root's unknown is local, and what a derivative is taken by has a name."""
        word, count = self.word(name), len(values)
        if (
            word == "root"
            and count in (3, 4)
            and self.code[values[1]].rule == "name"
            and values[2] == values[1] + 1
        ):
            ends = self.cut(values[2])
            (unknown,) = self.cut(values[1])
            body = self.cut(values[0])
            self.code += ends
            moved = [place - values[2] + values[0] for place in values[2:]]
            return self.step("root", name, body, unknown.parts[0], moved, right)
        if word == "d" and count in (2, 3):
            last = self.code[(values[2] if count == 3 else len(self.code)) - 1]
            if last.rule in ("name", "element"):
                return self.step("derivative", name, last.parts[0], values, right)
        return self.step("call", name, left, values, right)

    def subscript(self, value: int, left: Span, places: list[int], right: Span) -> int:
        """``x[k - 1]``: of a name, for that may be a recurrence's."""
        owner = self.code[value]
        if owner.rule != "name" or places[0] != value + 1:
            return self.step("subscript", value, left, places, right)
        del self.code[value]
        self.step("element", owner.parts[0], left, places, right)
        return value

    # Statements.

    def definition(self, head: int, equals: Span, body: int) -> int:
        """``f(x, y) = …``."""
        inside = self.cut(body)
        *parameters, called = self.cut(head)
        plain = called.rule in ("call", "empty_call") and all(p.rule == "name" for p in parameters)
        names = tuple([p.parts[0] for p in parameters]) if plain else False
        return self.step("definition", called.parts[0], names, equals, inside)

    def term(self, head: int, equals: Span, body: int) -> int:
        """``x[0] = …``."""
        inside = self.cut(body)
        name, index = self.indexed(head, equals)
        self.code += inside
        return self.step("term", name, index, equals, head)

    def recurrence(self, head: int, equals: Span, body: int, clause: Clause) -> int:
        """``x[k] = … for k in 1..10``; several that follow each other make one step."""
        inside = self.body(body, [clause])
        formula = equals[1], clause.start
        one = Recurrence(*self.indexed(head, equals), equals, formula, inside, clause)
        if self.code and self.code[-1].rule == "recurrences":
            self.code[-1].parts[0].append(one)
            return len(self.code) - 1
        return self.step("recurrences", [one])

    def indexed(self, head: int, equals: Span) -> tuple[Span, Code]:
        """The name and the code of the index before ``=``."""
        *index, element = self.cut(head)
        if element.rule != "element" or element.parts[2] != 1 or index[-1].rule not in WHOLE_RULES:
            raise LanguageError(
                "recurrence",
                "a recurrence's term is a name with one index",
                span=equals,
                help="such as x[0] = 1 or x[k] = x[k - 1]/2 for k in 1..10",
            )
        return element.parts[0], index


def tape_actions() -> dict[str, Action]:
    """What each rule of the grammar does: most write a step down."""
    names = (rule for _, _, rule in parser().rules if rule not in (None, START))
    return {
        **{rule: writing(rule) for rule in names},
        **dict.fromkeys(("first_argument", "first_clause"), Tape.first),
        **dict.fromkeys(("more_arguments", "more_clauses"), Tape.more),
        **{rule: getattr(Tape, rule) for rule in BY_HAND},
    }


def writing(rule: str) -> Action:
    """The action that writes down a step of a rule."""

    def action(tape: Tape, *parts: Any) -> int:
        return tape.step(rule, *parts)

    return action


def is_value(part: Any) -> bool:
    """Whether a part of a reduction is a value that steps leave, or a list of them, and no span."""
    return type(part) is int or (type(part) is list and type(part[0]) is int)


def steps(code: Code) -> Iterator[Reduction]:
    """All steps of some code, those of the code that they wait with included."""
    todo = [code]
    while todo:
        for step in todo.pop():
            yield step
            for part in step.parts:
                if type(part) is list and isinstance(part[0], Reduction):
                    todo.append(part)
                elif type(part) is list and isinstance(part[0], Clause):
                    todo += [code for clause in part for code in (clause.low, clause.high)]


Actions = Mapping[str, Callable[..., Any]]
Waiting = Generator[Job, Any, Any]
"""An action that has code to run: it yields jobs, is sent their values, and returns its own."""


class Frame:
    """Code that is being run: the steps that are left, the values so far, and who waits for the last."""

    def __init__(self, job: Job) -> None:
        self.rest = iter(job.code)
        self.scope = job.scope
        self.values: list[Any] = []
        self.waiting: Waiting | None = None


def run(code: Code, scope: Scope, actions: Actions, enter: Callable[[Scope], None]) -> Any:
    """Run code: the value of its last step.  ``enter`` is told the local names whenever they change."""
    frames = [Frame(Job(code, scope))]
    enter(scope)
    while True:
        frame = frames[-1]
        waiting = advance(frame, actions)
        answer: Any = None
        if waiting is None:
            frames.pop()
            answer = frame.values[-1] if frame.values else None
            if not frames:
                return answer
            frame = frames[-1]
        else:
            frame.waiting = waiting
        assert frame.waiting is not None
        enter(frame.scope)
        try:
            job = frame.waiting.send(answer)
        except StopIteration as stop:
            frame.values.append(stop.value)
        else:
            frames.append(Frame(job))
            enter(job.scope)


def outcome(code: Code, actions: Actions) -> Any:
    """The value of some code that no step of waits."""
    frame = Frame(Job(code, Scope({}, {})))
    advance(frame, actions)
    return frame.values[-1]


def advance(frame: Frame, actions: Actions) -> Waiting | None:
    """Run a frame's steps to its end, or to one that has code to run."""
    values = frame.values
    for rule, parts in frame.rest:
        value = actions[rule](*filled(parts, values))
        if type(value) is GeneratorType:
            return value
        values.append(value)
    return None


def filled(parts: tuple[Any, ...], values: list[Any]) -> list[Any]:
    """What an action is given, the values that wait on the stack taken off it."""
    given = []
    for part in reversed(parts):
        if part is None:
            given.append(values.pop())
        elif type(part) is int:
            given.append(values[-part:])
            del values[-part:]
        else:
            given.append(part)
    given.reverse()
    return given
