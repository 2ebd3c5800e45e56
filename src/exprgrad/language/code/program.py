"""Programs as source code: one function of the inputs, for any of the targets.

What differs between the targets is in ``targets.py``; the statements are written in ``statements.py``.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from exprgrad.errors import RequestError
from exprgrad.graph.graph import Graph, Program
from exprgrad.graph.ops import BY_NAME
from exprgrad.language.code.identifiers import Names, is_plain
from exprgrad.language.code.statements import Statements
from exprgrad.language.code.target import Row, Target, Variant
from exprgrad.language.code.targets import TARGETS
from exprgrad.language.mistakes.hints import nearest
from exprgrad.language.write.infix import program as infix
from exprgrad.source import Source, cut

if TYPE_CHECKING:
    from exprgrad.language.code.libraries import Library

__all__ = ["Writer", "check_name", "find_target", "helpers", "source"]

WIDTH = 96
"""Where lines are broken, in characters."""
TAKING = "input"
"""The function that takes an input of a program of tensors."""
LONGEST_FORMULA = 12
"""The lines that a comment gives to the formula."""


def find_target(name: str) -> Target:
    """The target of a name; an error that lists them all for any other."""
    target = TARGETS.get(name)
    if target is not None:
        return target
    known = nearest(name, TARGETS)
    help = f"the targets are {', '.join(TARGETS)}"
    help = f"did you mean '{known}'? {help}" if known else help
    message = f"there is no target '{name}'"
    place = Source(name, is_expression=False)
    raise RequestError("unknown-target", message, source=place, span=(0, len(name)), help=help)


def check_name(name: str, target: Target) -> None:
    """Raise ``RequestError`` unless a function may have this name in a target."""
    place = Source(name, is_expression=False)
    help = f"a name in {target.title} has letters, digits and _: --name f"
    message = f"'{name}' cannot be a function's name"
    if name in target.words or name in target.library:
        message = f"'{name}' is taken in {target.title}"
        help = f"choose another, such as --name {name}_of"
    elif is_plain(name):
        return
    raise RequestError("bad-name", message, source=place, span=(0, len(name)), help=help)


def source(
    program: Program,
    target: Target,
    *,
    formula: Graph,
    wrt: Sequence[str] | None = None,
    name: str = "f",
    formulas: Mapping[Row, Program] | None = None,
    library: Library | None = None,
) -> str:
    """A function that returns the program's first output and, by each of ``wrt``, the others.

    The program is lowered to the target; ``formulas`` holds the rows that became functions.  ``formula``
    is the graph as written: its inputs are the parameters, in order, and its text stands in the comment.
    ``library`` is what a formula of tensors needs of the target: see ``libraries.py``.
    """
    check_name(name, target)
    layout, prefix = target.layout, f"{name}_"
    called = variants(reversed(list(formulas or {})))
    writer = Writer(target, library, prefix, called)
    names = writer.names()
    inputs = {given: names.claim(given) for given in formula.inputs}
    extra = names.claim("gradient") if layout.extra and wrt else ""
    shape = names.claim("shape")
    body = writer.body(program, names, inputs)
    partial = incomplete(body) if target.array and library is None else []
    if wrt is not None:
        body.settle(program.outputs[0], "value")
    for position in partial:
        body.settle(program.outputs[position])
    answers = list(body.answers())
    before = converted(body) if library is None else taken(body, formula)
    after = broadcast(body, partial, answers, shape)
    parameters = [layout.parameter.format(name=parameter) for parameter in inputs.values()]
    if extra:
        parameters.append(layout.extra.format(name=extra, count=len(wrt or ())))
    opening, closing = (part.format(name=name) for part in layout.head)
    statements = [*before, *body.lines, *after, *result(target, answers, wrt, extra)]
    text = layout.file.format(
        comment=comment(target, formula, inputs, wrt, name, extra, library),
        head="\n".join(filled(opening, parameters or [layout.none], closing, layout.indent)),
        body=indented(statements, layout.indent),
        helpers="".join(helpers(writer, body.helpers, formulas or {})),
    )
    return text.rstrip("\n") + "\n"


class Writer(NamedTuple):
    """What all functions of a program share: target, library, the names' prefix, and variants' names."""

    target: Target
    library: Library | None
    prefix: str
    called: Mapping[Row, str]

    def names(self) -> Names:
        """The names that are taken before a function has any of its own."""
        functions = {*BY_NAME, *self.target.helpers, *self.called.values()}
        if self.library is not None:
            functions.add(TAKING)
        taken = {*self.target.words, *(self.prefix + row for row in functions)}
        return Names(taken, ascii=self.target.ascii)

    def body(self, program: Program, names: Names, inputs: dict[str, str]) -> Statements:
        """The statements of a program."""
        if program.graph.shapes is None or self.library is None:
            return Statements(program, self.target, names, inputs, self.prefix, self.called)
        from exprgrad.language.code.tensor_statements import TensorStatements

        return TensorStatements(
            program, self.target, names, inputs, self.prefix, self.called, self.library
        )

    def helper(self, row: Row) -> str | None:
        """The source of a function that is not made from a formula."""
        if row == TAKING and self.library is not None:
            return self.library.input.replace("F_", self.prefix)
        text = self.target.helpers.get(row) if isinstance(row, str) else None
        return text and text.replace("F_", self.prefix)


def variants(formulas: Iterable[Row]) -> dict[Row, str]:
    """What the functions of structural rows are called: the row's name, numbered from the second on."""
    found: dict[Row, str] = {}
    counts: dict[str, int] = {}
    for row in formulas:
        if isinstance(row, Variant):
            counts[row.kind] = counts.get(row.kind, 0) + 1
            number = counts[row.kind]
            found[row] = row.kind if number == 1 else f"{row.kind}{number}"
    return found


def taken(body: Statements, formula: Graph) -> list[str]:
    """Statements that make arrays of the parameters, each of its shape."""
    assert formula.shapes is not None
    function = body.helper(TAKING) if body.inputs else ""
    return [
        f"{parameter} = {function}({parameter}, {formula.shapes[formula.inputs[given]]})"
        for given, parameter in body.inputs.items()
    ]


def converted(body: Statements) -> list[str]:
    """Statements that make arrays of the parameters, or say that a parameter is not used."""
    parameters = list(body.inputs.values())
    layout = body.target.layout
    if layout.unused:
        idle = [given for given in body.inputs if given not in body.read]
        return [layout.unused.format(name=body.inputs[given]) for given in idle]
    if not body.target.array or not parameters:
        return []
    function, listed = body.array_function(), ", ".join(parameters)
    line = f"{listed} = map({function}, ({listed}))"
    if len(parameters) == 1 or len(line) > WIDTH - len(layout.indent):
        return [f"{parameter} = {function}({parameter})" for parameter in parameters]
    return [line]


def incomplete(body: Statements) -> list[int]:
    """The positions of the outputs that do not depend on every input, and so may lack its shape."""
    places = {name: 1 << place for place, name in enumerate(body.inputs)}
    seen: list[int] = []
    for operands, payload in zip(body.graph.operands, body.graph.payloads, strict=True):
        found = places[payload] if isinstance(payload, str) else 0
        for operand in operands:
            found |= seen[operand]
        seen.append(found)
    everything = (1 << len(places)) - 1
    return [i for i, output in enumerate(body.outputs) if seen[output] != everything]


def broadcast(body: Statements, positions: list[int], answers: list[str], shape: str) -> list[str]:
    """Give some of the answers the shape of all inputs; returns the statements that find it."""
    target = body.target
    for position in positions:
        answers[position] = target.broadcast.format(text=answers[position], shape=shape)
    shapes = [f"{parameter}.shape" for parameter in body.inputs.values()]
    line = filled(f"{shape} = {target.shapes}(", shapes, ")", target.layout.indent)
    return line if positions else []


def result(target: Target, answers: list[str], wrt: Sequence[str] | None, extra: str) -> list[str]:
    """The statements that return the outputs."""
    layout = target.layout
    if wrt is None:
        return [layout.answer.format(value=answers[0])]
    opening, item, closing = layout.result
    items = [
        item.format(text=text, index=index, extra=extra, key=key(name))
        for index, (text, name) in enumerate(zip(answers[1:], wrt, strict=True))
    ]
    closing = closing.format(value=answers[0])
    if not layout.joined:
        return [*items, closing]
    if len(items) == 1:
        items[0] += layout.lone
    return filled(opening.format(value=answers[0]), items, closing, layout.indent)


def key(name: str) -> str:
    """A name as a key of an object in JavaScript."""
    if name == "__proto__":
        return '["__proto__"]'
    return name if name.isascii() else json.dumps(name, ensure_ascii=False)


def helpers(writer: Writer, rows: Iterable[Row], formulas: Mapping[Row, Program]) -> list[str]:
    """The helper functions for some rows, and those that they need, each before its callers."""
    layout = writer.target.layout
    written: dict[Row, str] = {}
    todo = list(rows)
    while todo:
        row = todo.pop()
        if row in written:
            continue
        found = writer.helper(row)
        if found is not None:
            written[row] = found
            continue
        operands, about = described(row)
        names = writer.names()
        inputs = {operand: names.claim(operand) for operand in operands}
        body = writer.body(formulas[row], names, inputs)
        parameters = [layout.parameter.format(name=parameter) for parameter in inputs.values()]
        answer = layout.answer.format(value=next(body.answers()))
        written[row] = layout.helper.format(
            name=writer.prefix + writer.called.get(row, str(row)),
            parameters=", ".join(parameters),
            about=about,
            body=indented([*body.lines, answer], layout.indent),
        )
        todo += body.helpers
    order: list[Row] = [TAKING, *writer.target.helpers, *formulas]
    before, after = layout.gaps
    return [before + written[row] + after for row in sorted(written, key=order.index)]


def described(row: Row) -> tuple[Sequence[str], str]:
    """The operands of a row's function, and what it computes, in words."""
    if isinstance(row, str):
        op = BY_NAME[row]
        about = op.about if op.about[:1] in row else op.about[0].upper() + op.about[1:]
        return op.formula_names, about
    from exprgrad.language.code.spellings import operands_of, words_of

    indent = "    "
    wrapped = textwrap.wrap(words_of(row), WIDTH - 2 * len(indent), break_long_words=False)
    return operands_of(row), f"\n{indent}".join(wrapped)


def comment(
    target: Target,
    formula: Graph,
    inputs: Mapping[str, str],
    wrt: Sequence[str] | None,
    name: str,
    extra: str,
    library: Library | None,
) -> str:
    """What the function computes, of what, and what it returns."""
    what = "the value" if wrt is None else "the value and the gradient"
    value = formula.output_name or "the value"
    returns = f"Returns {value}."
    if wrt is not None and (wrt or not target.layout.extra):
        by = "the inputs, in this order" if tuple(wrt) == tuple(inputs) else ", ".join(wrt)
        returns = target.layout.returns.format(value=value, wrt=by, extra=extra)
    renamed = [f"{given} is called {new}" for given, new in inputs.items() if given != new]
    listed = ", ".join(shaped_inputs(formula)) or "none"
    paragraphs = [f"Inputs, in order: {listed}."]
    if renamed:
        paragraphs.append(f"In the code, {', '.join(renamed)}.")
    about = target.about
    if library is not None:
        derivatives = "" if wrt is None else "; each derivative has the shape of its input"
        about = f"The program is for exactly these shapes{derivatives}.  {library.about}"
    paragraphs += [returns, about]
    lines = [f"{name}: {what} of a formula, by exprgrad.", ""]
    statements = infix(formula).split("; ")
    shown = [f"  {cut(statement, WIDTH - 10)}" for statement in statements[:LONGEST_FORMULA]]
    lines += [*shown, *(["  …"] if len(statements) > len(shown) else []), ""]
    for paragraph in paragraphs:
        lines += textwrap.wrap(paragraph, WIDTH - 6, break_long_words=False, break_on_hyphens=False)
    opening, prefix, closing = target.layout.comment
    rest = [(prefix + line).rstrip() for line in lines[1:]]
    return "\n".join([opening + lines[0], *rest]) + closing


def shaped_inputs(formula: Graph) -> list[str]:
    """The inputs' names, with their shapes where those are known."""
    if formula.shapes is None:
        return list(formula.inputs)
    shapes = {name: formula.shapes[node] for name, node in formula.inputs.items()}
    return [f"{name} {shape or '(a number)'}" for name, shape in shapes.items()]


def filled(opening: str, items: Sequence[str], closing: str, indent: str) -> list[str]:
    """A list on one line, or on as many as it takes."""
    line = opening + ", ".join(items) + closing
    if len(line) + len(indent) <= WIDTH or not items:
        return [line]
    lines = [opening]
    current = ""
    for number, item in enumerate(items):
        piece = item + ("," if number < len(items) - 1 else "")
        if current and len(current) + len(piece) + 2 * len(indent) > WIDTH:
            lines.append(indent + current)
            current = ""
        current = f"{current} {piece}" if current else piece
    return [*lines, indent + current, closing]


def indented(lines: Iterable[str], indent: str) -> str:
    """Statements as the body of a function."""
    return "\n".join(indent + line for line in lines)
