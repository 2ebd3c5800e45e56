"""Shorthand, expanded: user-defined functions, sums over an index, recurrences.

The graph is that of the text written out by hand, node by node; its ``calls`` record which shorthand made
each node.  A derivative and a root become placeholders, which a later pass replaces:

    ``derivative``  of (body, variable), its payload the order
    ``parameter``   of (argument,): a parameter that a derivative is taken with respect to, a node of its
                    own beside the argument
    ``unknown``     a leaf, its payload the name
    ``root``        of (body, unknown, start) or (body, unknown, low, high)

In ``sum(x^k for k in 1..3)`` the index comes after the body that uses it.  So a text is read in two passes.
The first writes steps on a tape, operands before their users; a part that has to wait, or is built several
times, is cut out of the tape and kept as code.  The second pass runs the tape; a step yields the code that
it has to run, so that nothing recurses, however deep the text is nested.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from functools import cache, partial
from types import GeneratorType
from typing import Any, Literal, NamedTuple

from exprgrad.errors import LanguageError
from exprgrad.graph.graph import Binding, Call
from exprgrad.language.read import lalr
from exprgrad.language.read.builder import (
    CONSTANTS,
    INFIX,
    LISTS,
    PREFIX,
    RULES,
    TENSOR_RULES,
    Builder,
    is_operand,
)
from exprgrad.language.read.structural import (
    ACTIONS,
    Setting,
    Value,
    append_subscript,
    list_literal,
    whole_at,
)
from exprgrad.source import Span, cut_text

__all__ = ["BUILT_IN", "FOLDS", "read_in_short"]

LONGEST_CALL = 60
"""The longest text of a call, in characters."""
BY_PAIRS = frozenset({INFIX["+"], INFIX["*"]})
"""Rows that join two terms at a time; other rows take all."""
OWN_RULES = (
    "definition", "derivative", "element", "list_over_index", "over_index", "recurrences", "root",
    "term",
)  # fmt: skip
"""The rules and steps with methods of ``Expander``."""
BUILT_IN = ("d", "root")
"""Words that are called like functions, without rows in the table."""


# The tape.

BY_HAND = (
    "call", "clause", "definition", "list_over_index", "over_index", "recurrence", "subscript", "term",
)  # fmt: skip
"""The rules with methods of the tape."""


class ParsedReduction(NamedTuple):
    """A reduction: its rule, and the arguments of its action.

    None stands for the value of an earlier step, a number n for a list of n of them.
    """

    rule: str
    parts: tuple[Any, ...]


Code = list[ParsedReduction]


class Clause(NamedTuple):
    """``for k in 1..10``: its start and end, its index's span, and the bounds."""

    start: int
    end: int
    name: Span
    low: Code
    high: Code


class Scope(NamedTuple):
    """The local names: nodes (parameters and unknowns) and whole numbers (indices)."""

    nodes: Mapping[str, int]
    wholes: Mapping[str, int]


GLOBAL = Scope({}, {})


class ExpansionJob(NamedTuple):
    """Code to run, with its local names."""

    code: Code
    scope: Scope


class Recurrence(NamedTuple):
    """``x[k] = … for k in 1..10``: spans of the name, ``=`` and the formula, and code of the parts."""

    name: Span
    place: Code
    equals: Span
    formula: Span
    body: Code
    clause: Clause


class StepTape:
    """The steps so far; a reduction's value is the index of its first step."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.code: Code = []

    def step(self, rule: str, *parts: Any) -> int:
        """Write a step.  Its parts are spans, indices of steps, lists of these, and plain data."""
        places = [part[0] if type(part) is list else part for part in parts if is_step_value(part)]
        first: int = places[0] if places else len(self.code)
        waiting = [None if type(p) is int else len(p) if is_step_value(p) else p for p in parts]
        self.code.append(ParsedReduction(rule, tuple(waiting)))
        return first

    def cut(self, start: int) -> Code:
        """Cut the tape at an index; return the steps from there on."""
        code = self.code[start:]
        del self.code[start:]
        return code

    def word(self, span: Span) -> str:
        """The text of a span."""
        return self.text[span[0] : span[1]]

    # Code that waits for its index.

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
        """Cut out the body of a ``for``; refuse ``x_k`` in it, a name that does not change with k."""
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

    # Meanings of names.

    def call(self, name: Span, left: Span, values: list[int], right: Span) -> int:
        """Write a call, or a root or a derivative whose second operand is a name."""
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
        """Write ``x[k - 1]``, whose ``x`` may be a recurrence."""
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
        """Write ``x[k] = … for k in 1..10``; adjacent recurrences share a step."""
        inside = self.body(body, [clause])
        formula = equals[1], clause.start
        one = Recurrence(*self.indexed(head, equals), equals, formula, inside, clause)
        if self.code and self.code[-1].rule == "recurrences":
            self.code[-1].parts[0].append(one)
            return len(self.code) - 1
        return self.step("recurrences", [one])

    def indexed(self, head: int, equals: Span) -> tuple[Span, Code]:
        """Cut out the name and the code of the index before ``=``."""
        *index, element = self.cut(head)
        if element.rule != "element" or element.parts[2] != 1 or index[-1].rule == "slice":
            raise LanguageError(
                "recurrence",
                "a recurrence's term is a name with one index",
                span=equals,
                help="such as x[0] = 1 or x[k] = x[k - 1]/2 for k in 1..10",
            )
        return element.parts[0], index


def is_step_value(part: Any) -> bool:
    """Tell whether a part of a reduction is the value of steps, or a list of them."""
    return type(part) is int or (type(part) is list and type(part[0]) is int)


def walk_steps(code: Code) -> Iterator[ParsedReduction]:
    """Yield the steps of some code, and those of the code in them."""
    todo = [code]
    while todo:
        for step in todo.pop():
            yield step
            for part in step.parts:
                if type(part) is list and isinstance(part[0], ParsedReduction):
                    todo.append(part)
                elif type(part) is list and isinstance(part[0], Clause):
                    todo += [code for clause in part for code in (clause.low, clause.high)]


Actions = Mapping[str, Callable[..., Any]]
Waiting = Generator[ExpansionJob, Any, Any]
"""An action with code to run: it yields jobs, receives their values, and returns its own."""


def run_code(code: Code, scope: Scope, actions: Actions, enter: Callable[[Scope], None]) -> Any:
    """Run code, and return its last step's value; ``enter`` is called with new local names."""
    running = [(execute_code(code, actions), scope)]
    answer: Any = None
    while running:
        waiting, inside = running[-1]
        enter(inside)
        try:
            job = waiting.send(answer)
        except StopIteration as ended:
            running.pop()
            answer = ended.value
        else:
            running.append((execute_code(job.code, actions), job.scope))
            answer = None
    return answer


def execute_code(code: Code, actions: Actions) -> Waiting:
    """Run the steps of some code, yielding jobs; return the last step's value."""
    values: list[Any] = []
    for rule, parts in code:
        value = actions[rule](*fill_from_stack(parts, values))
        values.append((yield from value) if type(value) is GeneratorType else value)
    return values[-1] if values else None


def fill_from_stack(parts: tuple[Any, ...], values: list[Any]) -> list[Any]:
    """Return an action's arguments, taking the values of earlier steps off the stack."""
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


# The second pass.


FOLDS = {
    "sum": (INFIX["+"], 0),
    "prod": (INFIX["*"], 1),
    "mean": (INFIX["+"], None),
    **{word: (word, None) for word in ("max", "min")},
}
"""A word that takes an index → its row, and its value over no terms.  A sum is a chain, as in a loop."""


class Function(NamedTuple):
    """A user-defined function: the span of its name, its parameters, and those that derivatives use.

    Each call makes at least ``size`` nodes.
    """

    span: Span
    parameters: tuple[str, ...]
    derived: frozenset[str]
    body: Code
    size: int


class Progression(NamedTuple):
    """A recurrence: the first span of its name, and its terms."""

    span: Span
    terms: dict[int, int]


def read_in_short(text: str, scanned: str | None) -> Builder:
    """Read a text with shorthand; raise the first mistake in it.

    ``scanned`` is the text for the scanner, if it differs.
    """
    tape, expander = StepTape(text), Expander(text, relates=scanned is not None)
    lalr.run_parser(lalr.language_parser(), scanned or text, recording_rules(), tape)
    refuse_no_range(tape)
    run_code(tape.code, GLOBAL, expander.built, expander.enter)
    refuse_no_result(tape.code[-1], expander)
    expander.finish()
    return expander


@cache
def recording_rules() -> list[lalr.Production]:
    """Join the grammar's rules with the actions that record a step, or that a rule has by hand."""
    parser = lalr.language_parser()
    steps = {
        rule: lambda tape, *parts, rule=rule: tape.step(rule, *parts)
        for _, _, rule in parser.rules
        if rule not in (None, lalr.START)
    }
    by_hand = {rule: getattr(StepTape, rule) for rule in BY_HAND}
    return lalr.rules_with_actions(parser, {**steps, **LISTS, **by_hand})


def refuse_no_range(tape: StepTape) -> None:
    """Refuse a recurrence without a ``for``; adjacent recurrences do not share one."""
    ranges = {
        tape.word(one.clause.name): tape.text[one.clause.start : one.clause.end]
        for step in tape.code
        if step.rule == "recurrences"
        for one in step.parts[0]
    }
    bound = {tape.word(step.parts[0]) for step in tape.code if step.rule == "bind"}
    for step in tape.code:
        if step.rule != "term":
            continue
        names = [tape.word(part.parts[0]) for part in step.parts[1] if part.rule == "whole_name"]
        for name in names:
            if name not in bound:
                place = step.parts[2][1]
                end = place + len(re.match(r"[^;#\r\n]*", tape.text[place:])[0].rstrip())  # type: ignore[index]
                wanted = ranges.get(name, f"for {name} in 1..10")
                error = LanguageError(
                    "recurrence",
                    "this recurrence does not say which index it runs over",
                    span=(step.parts[0][0], step.parts[2][0]),
                    help=f"each has its own 'for': add {wanted}",
                )
                raise error.mended_by((end, end, f" {wanted}") if name in ranges else None)


def refuse_no_result(last: ParsedReduction, expander: Expander) -> None:
    """Refuse a function or a recurrence as the last statement, which is the output."""
    if last.rule == "definition":
        name = expander.word(last.parts[0])
        span = last.parts[0][0], last.parts[2][0]
        message, meant = f"'{name}' is defined but never called", expander.signature(name)
    elif last.rule == "recurrences":
        one = last.parts[0][-1]
        name, span = expander.word(one.name), one.name
        meant = f"{name}[{max(expander.sequences[name].terms)}]"
        message = "the last statement is a recurrence, and does not say which term is meant"
    else:
        return
    error = LanguageError("no-result", message, span=span, help=f"add a last statement: {meant}")
    raise error.mended_by((len(expander.text), len(expander.text), f"; {meant}"))


class Expander(Builder):
    """The state of one parse, with its functions and recurrences, and the current call."""

    in_short = True

    def __init__(self, text: str, *, relates: bool = False) -> None:
        super().__init__(text, relates=relates)
        self.scope = GLOBAL
        self.built = self.actions()
        self.functions: dict[str, Function] = {}
        self.sequences: dict[str, Progression] = {}
        self.indices: dict[str, Span] = {}
        self.claimed: set[Span] = set()
        self.read_inside: dict[str, Span] = {}
        self.called_inside: dict[str, Span] = {}
        self.current = -1
        self.marked = self.turned = 0
        self.most = self.graph.budget.most("writing out")

    def actions(self) -> dict[str, Any]:
        """Map the tape's steps to the methods that build their nodes."""
        tensors = {rule: partial(ACTIONS[rule], self.graph, self.text) for rule in TENSOR_RULES}
        own = {rule: getattr(self, rule) for rule in (*RULES, *OWN_RULES)}
        return {**tensors, **own, "list": self.list_of}

    def enter(self, scope: Scope) -> None:
        """Set the local names."""
        self.scope = scope

    # Names.

    def word(self, span: Span) -> str:
        """Return a name, in NFC."""
        return self.valid_name(self.text[span[0] : span[1]], span)

    def name(self, span: Span) -> Value:
        """A name, read."""
        text, scope = self.text[span[0] : span[1]], self.scope
        if scope.nodes or scope.wholes:
            name = self.valid_name(text, span)
            if name in scope.nodes:
                return scope.nodes[name], *span
            if name in scope.wholes:
                return self.whole_literal(scope.wholes[name], span)
        return super().name(span)

    def whole_literal(self, number: int, span: Span) -> Value:
        """Append an index's value, as the literal that a person would write."""
        value = self.literal(str(abs(number)), float(abs(number)), span)
        return self.operation(PREFIX["-"], (value,), span) if number < 0 else value

    def new_name(self, text: str, span: Span) -> int:
        """The node of a name that is not known as it is spelled."""
        name = self.valid_name(text, span)
        if name in self.functions:
            raise LanguageError(
                "definition",
                f"'{name}' is a function, but is used here without operands",
                span=span,
                help=f"write {self.signature(name)}",
                related=(("defined here", self.functions[name].span),),
            )
        if name in self.sequences:
            terms = self.sequences[name].terms
            ends = f", from {name}[{min(terms)}] to {name}[{max(terms)}]" if terms else ""
            message = f"'{name}' is a recurrence, and has no value without an index"
            raise LanguageError(
                "recurrence", message, span=span, help=f"write the term that is meant{ends}"
            )
        self.refuse_taken(name, span, {"an index": self.indices})
        return super().new_name(text, span)

    def defined(self) -> dict[str, Mapping[str, Span]]:
        """Map names that are no nodes to their first spans."""
        return {
            "a function": {name: function.span for name, function in self.functions.items()},
            "a recurrence": {name: sequence.span for name, sequence in self.sequences.items()},
        }

    def refuse_taken(self, name: str, span: Span, others: Mapping[str, Mapping[str, Span]]) -> None:
        """Refuse a name that has another meaning already."""
        for what, places in others.items():
            if name in places:
                raise LanguageError(
                    "name-taken",
                    f"'{name}' is {what} already",
                    span=span,
                    help="choose another name",
                    related=(("there", places[name]),),
                )

    def refuse_rebinding(self, name: str, span: Span) -> None:
        """Refuse to bind a name that has a meaning, or is read, already."""
        self.refuse_taken(name, span, {**self.defined(), "an index": self.indices})
        if name in self.read_inside:
            raise LanguageError(
                "bound-twice",
                f"'{name}' is bound here, but a function before it reads it as an input",
                span=span,
                help=f"bind '{name}' before that function, or choose another name",
                related=(("read here", self.read_inside[name]),),
            )
        super().refuse_rebinding(name, span)

    # Calls.

    def begin(
        self, kind: str, name: str, text: str, span: Span, operands: Sequence[int] = ()
    ) -> int:
        """Begin a call, to which the next nodes belong."""
        self.mark()
        self.refuse_beyond(max(len(self.graph), len(self.graph.calls)), span)
        self.graph.calls.append(
            Call(kind, name, cut_text(text, LONGEST_CALL), span, self.current, tuple(operands), -1)
        )
        self.current = len(self.graph.calls) - 1
        return self.current

    def end(self, number: int, result: int) -> None:
        """End a call."""
        self.mark()
        call = self.graph.calls[number]
        self.graph.calls[number] = call._replace(result=result)
        self.current = call.parent

    def mark(self) -> None:
        """Note the current call for the nodes since the last beginning or end of a call."""
        if self.current >= 0:
            for node in range(self.marked, len(self.graph)):
                self.graph.called.setdefault(node, self.current)
        self.marked = len(self.graph)

    def refuse_beyond(self, count: int, span: Span) -> None:
        """Raise ``RequestError`` for too many nodes, at the outermost call."""
        if count <= self.most:
            return
        number = self.current
        while number >= 0:
            span, number = self.graph.calls[number].span, self.graph.calls[number].parent
        self.graph.budget.refuse_beyond(count, "writing out", span)

    def written(self, span: Span) -> str:
        """Return a span's text, in one line."""
        return " ".join(self.text[span[0] : span[1]].split())

    # Functions.

    def signature(self, name: str) -> str:
        """Write a function's call."""
        return f"{name}({', '.join(self.functions[name].parameters)})"

    def definition(
        self,
        name_span: Span,
        parameters: tuple[Span, ...] | Literal[False],
        equals: Span,
        body: Code,
    ) -> None:
        """``f(x, y) = …``."""
        self.refuse_pending()
        name = self.word(name_span)
        head = name_span[0], equals[0]
        if parameters is False:
            raise LanguageError(
                "definition",
                "the parameters of a function are names",
                span=head,
                help=f"such as {name}(x, y) = x*y; its operands are given where it is called",
            )
        self.refuse_definition(name, name_span, head, parameters)
        names = tuple(map(self.word, parameters))
        derived = frozenset(
            self.word(step.parts[1]) for step in walk_steps(body) if step.rule == "derivative"
        )
        self.note_inside(name, name_span, names, body)
        known, size = self.functions, sum(step.rule in ("call", "infix") for step in body)
        called = [self.word(step.parts[0]) for step in body if step.rule == "call"]
        size += sum(known[word].size - 1 for word in called if word in known)
        known[name] = Function(name_span, names, derived.intersection(names), body, size)

    def refuse_definition(
        self, name: str, span: Span, head: Span, parameters: Sequence[Span]
    ) -> None:
        """Refuse a function with a taken name, without parameters, or with a parameter twice."""
        from exprgrad.language.mistakes.hints import is_reserved

        if is_reserved(name) or name in BUILT_IN or name in CONSTANTS:
            what = "a constant" if name in CONSTANTS else "a function"
            raise LanguageError(
                "definition",
                f"'{name}' is {what} already",
                span=span,
                help=f"choose another name, such as {name}1",
            )
        if not parameters:
            help = f"what has no parameters is a name: {name} = …"
            raise LanguageError(
                "definition", "a function has at least one parameter", span=head, help=help
            )
        self.refuse_rebinding(name, span)
        if name in self.called_inside:
            raise LanguageError(
                "definition",
                f"'{name}' is defined here, but a function before it calls it",
                span=span,
                help=f"define '{name}' before that function",
                related=(("called here", self.called_inside[name]),),
            )
        seen: dict[str, Span] = {}
        for place in parameters:
            word = self.word(place)
            if word in seen:
                raise LanguageError(
                    "definition",
                    f"the parameter '{word}' appears twice",
                    span=place,
                    help="choose another name",
                    related=(("first here", seen[word]),),
                )
            seen[word] = place

    def note_inside(self, name: str, span: Span, parameters: tuple[str, ...], body: Code) -> None:
        """Note the unknown names in a function's body: they are inputs, and cannot be bound later."""
        inside = list(walk_steps(body))
        local = {*parameters}
        for step in inside:
            if step.rule in ("over_index", "list_over_index"):
                local |= {self.word(clause.name) for clause in step.parts[2]}
            if step.rule == "root":
                local.add(self.word(step.parts[2]))
        for step in inside:
            if step.rule in ("call", "empty_call") and self.word(step.parts[0]) == name:
                raise LanguageError(
                    "definition",
                    f"'{name}' calls itself",
                    span=step.parts[0],
                    help="a recurrence goes step by step: x[0] = a; x[k] = x[k - 1]/2 for k in 1..10",
                    related=(("defined here", span),),
                )
            if step.rule in ("call", "empty_call"):
                word = self.word(step.parts[0])
                if word not in self.functions:
                    self.called_inside.setdefault(word, step.parts[0])
            if step.rule in ("name", "whole_name", "element"):
                word = self.word(step.parts[0])
                if word not in local and word not in self.known and word not in self.sequences:
                    self.read_inside.setdefault(word, step.parts[0])

    def call(self, name: Span, left: Span, values: list[Any], right: Span) -> Any:
        """A call."""
        word = self.text[name[0] : name[1]]
        if not word.isascii():
            word = self.word(name)
        if word in self.functions:
            return self.applied(word, values, (name[0], right[1]))
        if word in BUILT_IN and word not in self.known:
            raise self.misused(word, (name[0], right[1]))
        value = super().call(name, left, values, right)
        self.marked = min(self.marked, value[0])
        return value

    def applied(self, name: str, values: list[Any], span: Span) -> Waiting:
        """Build a call of a user-defined function: its body, with operands for its parameters."""
        function, graph = self.functions[name], self.graph
        count, wanted = len(values), len(function.parameters)
        for value in values:
            if type(value) is not tuple:
                raise LanguageError(
                    "bad-setting",
                    f"{name} takes no setting",
                    span=value.name,
                    help="its operands are given in order, without names; to compare, write ==",
                )
        if count != wanted:
            operands = "1 operand" if wanted == 1 else f"{wanted} operands"
            raise LanguageError(
                "arity",
                f"{name} takes {operands}, but is given {count}",
                span=span,
                help=f"write {self.signature(name)}",
                related=(("defined here", function.span),),
            )
        self.refuse_beyond(len(graph) + function.size, span)
        number = self.begin("function", name, self.written(span), span, [v[0] for v in values])
        nodes: dict[str, int] = {}
        for parameter, value in zip(function.parameters, values, strict=True):
            nodes[parameter] = value[0]
            if parameter in function.derived:
                place = value[-2:]
                nodes[parameter] = graph.append("parameter", (value[0],), None, place, (place,))
        value = yield ExpansionJob(function.body, Scope(nodes, {}))
        self.end(number, value[0])
        return value[0], *span

    # Over an index.

    def over_index(self, name: Span, body: Code, clauses: list[Clause], right: Span) -> Waiting:
        """``sum(x^k for k in 1..10)``."""
        word, span = self.word(name), (name[0], right[1])
        if word not in FOLDS:
            raise LanguageError(
                "over-index",
                f"'{word}' takes no index",
                span=name,
                help=f"{', '.join(FOLDS)} do; a list does, too: [x^k for k in 0..4]",
            )
        row, of_none = FOLDS[word]
        number = self.begin("index", word, self.written(span), span)
        found: list[Value] = []
        count = 0
        for scope in self.turns(clauses):
            value = yield from self.turn(word, body, clauses, scope, span)
            count += 1
            if found and row in BY_PAIRS:
                found = [self.operation(row, [*found, value], span)]
            else:
                found.append(value)
        if not count:
            if of_none is None:
                raise LanguageError(
                    "over-index",
                    f"there is no {word} of nothing: this index takes no value",
                    span=span,
                    help="a range runs upwards, and includes both its ends: 1..10",
                )
            found = [self.whole_literal(of_none, span)]
        elif len(found) > 1:
            found = [self.operation(row, found, span)]
        if word == "mean" and count > 1:
            by = self.whole_literal(count, span)
            found = [self.operation(INFIX["/"], [*found, by], span)]
        self.end(number, found[0][0])
        return found[0][0], *span

    def turn(
        self, word: str, body: Code, clauses: Sequence[Clause], scope: Scope, span: Span
    ) -> Waiting:
        """Build the body at one turn of its indices."""
        names = [self.word(clause.name) for clause in clauses]
        text = ", ".join(f"{name} = {scope.wholes[name]}" for name in names)
        number = self.begin("index", word, text, span)
        value = yield ExpansionJob(body, scope)
        self.end(number, value[0])
        return value

    def list_over_index(
        self, left: Span, body: Code, clauses: list[Clause], right: Span
    ) -> Waiting:
        """``[x^k for k in 0..4]``."""
        span = left[0], right[1]
        number = self.begin("index", "list", self.written(span), span)
        elements: list[Value] = []
        for scope in self.turns(clauses):
            elements.append((yield from self.turn("list", body, clauses, scope, span)))
        if not elements:
            raise LanguageError(
                "empty-list",
                "this list is empty: its index takes no value",
                span=span,
                help="a range runs upwards, and includes both its ends: 0..4",
            )
        value = self.list_of(left, elements, right)
        self.end(number, value[0])
        return value

    def list_of(self, left: Span, elements: list[Value], right: Span) -> Value:
        """``[…]``."""
        value = list_literal(self.graph, self.text, left, elements, right)
        self.marked = min(self.marked, value[0])
        return value

    def turns(self, clauses: Sequence[Clause]) -> Iterator[Scope]:
        """Yield the local names at each turn of some indices; the last index runs fastest."""
        scopes = [self.scope]
        running = [iter(self.places(clauses[0], self.scope, clauses[0].name))]
        while running:
            number = next(running[-1], None)
            if number is None:
                running.pop()
                scopes.pop()
                continue
            self.turned += 1
            self.refuse_beyond(self.turned, clauses[0].name)
            name = self.word(clauses[len(running) - 1].name)
            inside = Scope(scopes[-1].nodes, {**scopes[-1].wholes, name: number})
            if len(running) == len(clauses):
                yield inside
            else:
                scopes.append(inside)
                clause = clauses[len(running)]
                running.append(iter(self.places(clause, inside, clause.name)))

    def places(self, clause: Clause, scope: Scope, span: Span) -> range:
        """Return the values of an index, both bounds included; too many are an error at ``span``."""
        self.claim(self.word(clause.name), clause.name, scope)
        low, high = self.bound(clause.low, scope), self.bound(clause.high, scope)
        self.refuse_beyond(high - low, span)
        return range(low, high + 1)

    def claim(self, name: str, span: Span, scope: Scope) -> None:
        """Refuse an index whose name has another meaning; each span is checked once."""
        if span in self.claimed:
            return
        self.claimed.add(span)
        around = {name: self.indices.get(name, span)} if name in scope.wholes else {}
        self.refuse_taken(
            name,
            span,
            {
                "an index around this one": around,
                "a parameter": {name: span} if name in scope.nodes else {},
                **self.defined(),
                "a constant": self.constants_read,
                "an input": {n: self.graph.span(node) for n, node in self.graph.inputs.items()},
                "the name of a node": {b.name: b.span for b in self.graph.bindings},
            },
        )
        self.indices.setdefault(name, span)

    # Whole numbers.

    def bound(self, code: Code, scope: Scope) -> int:
        """Work out a bound, a whole number."""
        before = self.scope
        value = run_code(code, scope, self.built, self.enter).value
        self.enter(before)
        return int(value)

    def whole_name(self, span: Span) -> Any:
        """Read a name in an index or a bound: an index, or a name for a whole number."""
        name = self.word(span)
        if name in self.scope.wholes:
            return Setting(self.scope.wholes[name], *span)
        return super().whole_name(span)

    def meant(self, name: str) -> int | None:
        """The node that a name stands for."""
        return self.scope.nodes.get(name, self.known.get(name))

    # Recurrences.

    def element(self, name_span: Span, left: Span, places: list[Setting], right: Span) -> Value:
        """``x[k - 1]``: a term of a recurrence, or an element of a tensor."""
        name, span = self.word(name_span), (name_span[0], right[1])
        if name not in self.sequences or name in self.scope.nodes:
            return append_subscript(
                self.graph, self.text, self.name(name_span), left, places, right
            )
        terms, number = self.sequences[name].terms, places[0].value
        if len(places) > 1 or type(number) is not int:
            raise LanguageError(
                "recurrence",
                f"a term of '{name}' has one index",
                span=span,
                help=f"write each term: [{name}[0], {name}[1]]",
            )
        if number not in terms:
            raise self.no_term(name, number, span)
        return terms[number], *span

    def no_term(self, name: str, number: int, span: Span) -> LanguageError:
        """The error for a term that does not exist, or not yet."""
        terms = self.sequences[name].terms
        if not terms:
            return LanguageError(
                "recurrence",
                f"there is no {name}[{number}] to begin with",
                span=span,
                help=f"write {name}[{number}] = … before it",
            )
        least, greatest = min(terms), max(terms)
        help = f"'{name}' goes from {name}[{least}] to {name}[{greatest}]"
        if number < 0 <= least:
            help += f"; its last term is written {name}[{greatest}]"
        during = f", which {self.graph.calls[self.current].name} needs" if self.current >= 0 else ""
        return LanguageError(
            "recurrence", f"there is no {name}[{number}]{during}", span=span, help=help
        )

    def term(self, name: Span, index: Code, equals: Span, value: Value) -> None:
        """``x[0] = …``."""
        self.refuse_pending()
        self.declare(name)
        self.bind_term(name, self.bound(index, GLOBAL), value[0], equals)

    def declare(self, span: Span) -> None:
        """Make a name a recurrence's."""
        name = self.word(span)
        if name not in self.sequences:
            self.refuse_rebinding(name, span)
            self.sequences[name] = Progression(span, {})

    def bind_term(self, name_span: Span, number: int, node: int, equals: Span) -> None:
        """Bind a node as a term."""
        name, graph = self.word(name_span), self.graph
        span = name_span[0], name_span[0] + len(self.text[name_span[0] : equals[0]].rstrip())
        terms, called = self.sequences[name].terms, f"{name}[{number}]"
        if number in terms:
            raise LanguageError(
                "bound-twice",
                f"'{called}' is bound twice",
                span=span,
                help="a name stands for one node: begin after it",
                related=(
                    ("first bound here", next(b.span for b in graph.bindings if b.name == called)),
                ),
            )
        terms[number] = node
        graph.bindings.append(Binding(called, node, span))
        graph.output, graph.output_name = node, called

    def recurrences(self, several: list[Recurrence]) -> Waiting:
        """Build adjacent recurrences: those over one index and the same bounds advance together."""
        self.refuse_pending()
        together: list[Recurrence] = []
        before: tuple[str, range] | None = None
        for one in several:
            self.declare(one.name)
        for one in several:
            over = self.word(one.clause.name), self.range_of(one)
            if over != before and together and before is not None:
                yield from self.advanced(together, *before)
                together = []
            together.append(one)
            before = over
        if before is not None:
            yield from self.advanced(together, *before)

    def range_of(self, one: Recurrence) -> range:
        """Return the values of a recurrence's index, at each of which a term is made."""
        name = self.word(one.clause.name)
        values = self.places(one.clause, GLOBAL, one.name)
        low, end = values.start, values.stop
        if low >= end:
            raise LanguageError(
                "over-index",
                f"there is no whole number from {low} up to {end - 1}",
                span=one.clause.name,
                help="a range runs upwards, and includes both its ends: 1..10",
            )
        first, second = (self.bound(one.place, Scope({}, {name: at})) for at in (low, low + 1))
        if second != first + 1:
            raise LanguageError(
                "recurrence",
                f"the index before '=' must be '{name}', or a whole number more or less",
                span=one.name,
                help=f"such as {self.word(one.name)}[{name}] or {self.word(one.name)}[{name} + 1]",
            )
        return values

    def advanced(self, several: Sequence[Recurrence], index: str, values: range) -> Waiting:
        """Build recurrences step by step, in written order at each step."""
        for value in values:
            scope = Scope({}, {index: value})
            for one in several:
                number = self.bound(one.place, scope)
                name = f"{self.word(one.name)}[{number}]"
                call = self.begin(
                    "term", name, f"{self.written(one.formula)}, {index} = {value}", one.name
                )
                result = yield ExpansionJob(one.body, scope)
                self.end(call, result[0])
                self.bind_term(one.name, number, result[0], one.equals)

    # Placeholders.

    def derivative(self, name: Span, variable: Span, values: list[Value], right: Span) -> Value:
        """``d(expr, x)``, ``d(expr, x, 2)``."""
        if not all(map(is_operand, values)):
            raise self.misused("d", (name[0], right[1]))
        body, by, *order = values
        if self.word(variable) in self.scope.wholes:
            raise LanguageError(
                "bad-setting",
                "an index is a whole number, and nothing is differentiated with respect to it",
                span=variable,
            )
        number = self.order(order[0]) if order else 1
        span = name[0], right[1]
        return self.operation("derivative", (body, by), span, (number,))

    def order(self, value: Value) -> int:
        """Read the order of a derivative, a whole number, and take its node out of the graph."""
        graph, node = self.graph, value[0]
        number = whole_at(graph, node)
        if number is None or number < 1:
            raise LanguageError(
                "bad-setting",
                "the order of a derivative is a whole number from 1 up",
                span=value[1:3],  # type: ignore[arg-type]
                help="such as d(x^3, x, 2)",
            )
        if node == len(graph) - 1 and value[1] <= graph.starts[node] < value[2]:
            graph.truncate(node)
        return number

    def root(
        self, name: Span, body: Code, unknown: Span, ends: list[Value], right: Span
    ) -> Waiting:
        """``root(expr, E, 1)``, ``root(expr, E, 0, 2)``: the unknown is local."""
        word, span, scope = self.word(unknown), (name[0], right[1]), self.scope
        sought = self.graph.append("unknown", (), word, unknown)
        value = yield ExpansionJob(body, Scope({**scope.nodes, word: sought}, scope.wholes))
        operands = [value, (sought, *unknown), *ends]
        if not all(map(is_operand, operands)):
            raise self.misused("root", span)
        return self.operation("root", operands, span)

    def misused(self, word: str, span: Span) -> LanguageError:
        """The error for a derivative or a root without what it needs."""
        usual = {
            "d": (
                "d needs a formula and a name to differentiate it with respect to",
                "d(x^3, x) or d(x^3, x, 2); for more than a name, u = x + y; d(u^2, u)",
            ),
            "root": (
                "root takes a formula, the name of its unknown, and where the search starts, or two ends",
                "root(x^2 - 2, x, 1) or root(x^2 - 2, x, 0, 2)",
            ),
        }
        message, example = usual[word]
        return LanguageError("arity", message, span=span, help=f"such as {example}")
