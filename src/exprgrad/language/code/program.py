"""Programs as source code: one function of the inputs, for any of the targets; in SQL, a query.

Each target has a file in ``targets/``; ``statements.py`` writes the statements.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import NamedTuple

from exprgrad.errors import RequestError, command_or_python
from exprgrad.graph.graph import (
    INPUT,
    Algebra,
    Graph,
    LoopProgram,
    Program,
    check_scalars_only,
    interpret,
)
from exprgrad.graph.ops import BY_NAME
from exprgrad.graph.structural import shape_text
from exprgrad.graph.tensors import STRUCTURAL
from exprgrad.language.code.statements import Names, ProgramWriter, Statements, is_plain_identifier
from exprgrad.language.code.target import (
    NEEDED_FORMS,
    FunctionLayout,
    Routine,
    Target,
    Variant,
    variant_operands,
)
from exprgrad.language.code.targets import TARGETS
from exprgrad.language.mistakes.hints import did_you_mean
from exprgrad.language.write.infix import program_text as infix
from exprgrad.language.write.infix import setting_text
from exprgrad.source import Source, cut_text

__all__ = [
    "Result", "check_tensors", "find_target", "function_comment", "function_source", "helper_functions",
    "query_source", "several_outputs", "takers_of_tensors",
]  # fmt: skip

LINE_WIDTH = 96
"""The width of lines, in characters."""
TAKING = "input"
"""The helper that checks an input of a program of tensors."""
LONGEST_FORMULA = 12
"""The most lines of the formula in a comment."""


def find_target(name: str) -> Target:
    """Find a target by name; the error for an unknown one lists them all."""
    target = TARGETS.get(name)
    if target is not None:
        if missing := [form for form in NEEDED_FORMS if form not in target.forms]:
            raise RequestError(
                "no-spelling",
                f"the target '{name}' has no form '{missing[0]}'",
                help="add it to the target's forms; C_LIKE in language/code/target.py has those of C",
            )
        return target
    help = did_you_mean(name, TARGETS, f"the targets are {', '.join(TARGETS)}", also=True)
    raise RequestError("unknown-target", f"there is no target '{name}'", help=help).about(name)


def name_advice(name: str) -> str:
    """Write the option, or the argument, that names a function."""
    return command_or_python(f"--name {name}", f"name={name!r}")


def check_name(name: str, target: Target) -> None:
    """Raise ``RequestError`` unless a function may have this name in a target."""
    help = f"a name in {target.title} has letters, digits and _: {name_advice('f')}"
    message = f"'{name}' cannot be a function's name"
    if name in target.words or name in target.library:
        message = f"'{name}' is taken in {target.title}"
        help = f"choose another, such as {name_advice(f'{name}_of')}"
    elif is_plain_identifier(name):
        return
    raise RequestError("bad-name", message, help=help).about(name)


def check_tensors(target: Target, formula: Graph, text: str) -> None:
    """Raise ``RequestError`` for a formula of tensors and a target without arrays.

    ``text`` is the text of ``formula``, for the excerpt.
    """

    def no_tensors(node: int) -> RequestError:
        shape = formula.shape(node)
        first = next(t.name for t in TARGETS.values() if t.arrays)
        what = f"'{formula.payloads[node]}'" if formula.kinds[node] == INPUT else "this"
        fact = shape_text(shape, "is a tensor of shape {}", "takes tensors")
        help = f"{takers_of_tensors()}: {command_or_python(f'--to {first}', repr(first))}"
        return RequestError(
            "no-tensors",
            f"a program in {target.title} computes with numbers, and {what} {fact}",
            source=Source(text),
            span=formula.span(node),
            help=several_outputs(formula, text) or help,
        )

    if not target.arrays:
        check_scalars_only(formula, no_tensors)


def several_outputs(formula: Graph, text: str) -> str | None:
    """Suggest several outputs for a formula of numbers that ends with a list of them."""
    listed = formula.operands[formula.output]
    is_list = formula.shape(formula.output) == (len(listed),) and len(formula) - 1 == formula.output
    if not is_list or any(formula.shape(node) for node in range(formula.output)):
        return None
    names = [f"y{at}" for at in range(1, len(listed) + 1)][:3]
    pairs = zip(names, listed, strict=False)
    texts = [f"{name} = {text[slice(*formula.span(node))]}" for name, node in pairs]
    of = command_or_python(f"--of {','.join(names)}", f"of={names}")
    return f"name the outputs, and ask for them by {of}: {'; '.join(texts)}"


def takers_of_tensors() -> str:
    """Name the targets that take tensors, in a sentence."""
    *others, last = [target.name for target in TARGETS.values() if target.arrays]
    return f"{', '.join(others)} and {last} take tensors"


class Result(NamedTuple):
    """One of a program's results: a number, or numbers by the names along each axis."""

    name: str
    axes: tuple[Sequence[str], ...] = ()

    @property
    def title(self) -> str:
        """Its title in a sentence."""
        if self.name in ("jacobian", "hessian"):
            return self.name.capitalize()
        return "values" if self.name == "value" and self.axes else self.name

    @property
    def places(self) -> list[tuple[int, ...]]:
        """The indices of its numbers, in order."""
        return [*product(*(range(len(axis)) for axis in self.axes))]


def function_source(
    program: Program,
    target: Target,
    *,
    formula: Graph,
    parts: Sequence[Result],
    name: str = "f",
    formulas: Mapping[Routine, Program | LoopProgram],
) -> str:
    """Write a function that returns the program's outputs in ``parts``, the value first.

    The program is lowered to the target; ``formulas`` holds the rows that became functions.  ``formula``
    is the graph as written: its inputs are the parameters, in order, and the comment shows its text.
    A formula with shapes becomes a program of tensors, for exactly those shapes.
    """
    check_name(name, target)
    layout, fixed = target.layout, bool(formula.shapes)
    writer = ProgramWriter(target, f"{name}_", variant_names(reversed([*formulas])))
    names = writer.names()
    inputs = {given: names.claim(given) for given in formula.inputs}
    called = {}
    for part in parts:
        if is_several(parts) if layout.joined else part.places and part.axes:
            called[part] = names.claim(part.name)
    shape = names.claim("shape")
    body = Statements(writer, program, names, inputs)
    partial = incomplete_outputs(body) if target.arrays and not fixed else []
    if len(parts) > 1 and not parts[0].axes:
        body.settle(program.outputs[0], "value")
    for position in partial:
        body.settle(program.outputs[position])
    answers = list(body.answers())
    before = take_arrays(body, formula) if fixed else convert_parameters(body)
    after = stretch_answers(body, partial, answers, shape)
    parameters = [layout.parameter.format(name=parameter) for parameter in inputs.values()]
    if layout.extra:
        for part, given in called.items():
            sizes = "".join(layout.size.format(count=len(axis)) for axis in part.axes)
            parameters.append(layout.extra.format(name=given, sizes=sizes))
    head = layout.procedure if parts[0] in called and not layout.joined else layout.head
    opening, closing = (part.format(name=name) for part in head)
    statements = [*before, *body.lines, *after, *return_statements(layout, answers, parts, called)]
    text = layout.file.format(
        comment=function_comment(target, formula, inputs, parts, name, called, fixed),
        head="\n".join(break_list(opening, parameters or [layout.none], closing, layout)),
        body=indent_lines(statements, layout.indent),
        helpers="".join(helper_functions(writer, body.helpers, formulas)),
    )
    return text.rstrip("\n") + "\n"


def is_several(parts: Sequence[Result]) -> bool:
    """Tell whether a program returns more than a value and a gradient."""
    return bool(parts[0].axes) or len(parts) > 2


def variant_names(formulas: Iterable[Routine]) -> dict[Routine, str]:
    """Name the functions of structural rows: the row's name, numbered from the second on."""
    found: dict[Routine, str] = {}
    counts: Counter[str] = Counter()
    for row in formulas:
        if isinstance(row, Variant):
            counts[row.kind] += 1
            number = counts[row.kind]
            found[row] = row.kind if number == 1 else f"{row.kind}{number}"
    return found


def take_arrays(body: Statements, formula: Graph) -> list[str]:
    """Write statements that make arrays of the parameters, each of its shape."""
    if not body.inputs:
        return []
    function = body.helper(TAKING)
    return [
        f"{parameter} = {function}({parameter}, {formula.shape(formula.inputs[given])})"
        for given, parameter in body.inputs.items()
    ]


def convert_parameters(body: Statements) -> list[str]:
    """Write statements that make arrays of the parameters, or mark a parameter as unused."""
    parameters = list(body.inputs.values())
    layout = body.target.layout
    if layout.unused:
        idle = body.inputs.keys() - body.read
        return [
            layout.unused.format(name=name) for given, name in body.inputs.items() if given in idle
        ]
    if not body.arrays or not parameters:
        return []
    function, listed = body.make(), ", ".join(parameters)
    line = f"{listed} = map({function}, ({listed}))"
    if len(parameters) == 1 or len(line) > LINE_WIDTH - len(layout.indent):
        return [f"{parameter} = {function}({parameter})" for parameter in parameters]
    return [line]


def incomplete_outputs(body: Statements) -> list[int]:
    """Find the outputs that do not depend on every input, whose shape they may lack."""
    every = frozenset(body.inputs)
    union = Algebra[frozenset[str]](lambda *_: frozenset(), lambda *at: frozenset().union(*at[-1]))
    seen = interpret(body.graph, union, {name: frozenset({name}) for name in every}, body.outputs)
    return [i for i, output in enumerate(body.outputs) if seen[output] != every]


def stretch_answers(
    body: Statements, positions: list[int], answers: list[str], shape: str
) -> list[str]:
    """Broadcast some answers to the shape of all inputs; return the statements that find the shape."""
    arrays = body.arrays
    if not positions or arrays is None:
        return []
    for position in positions:
        answers[position] = arrays.broadcast.format(text=answers[position], shape=shape)
    shapes = [f"{parameter}.shape" for parameter in body.inputs.values()]
    return break_list(f"{shape} = {arrays.shapes}(", shapes, ")", body.target.layout)


def return_statements(
    layout: FunctionLayout,
    answers: list[str],
    parts: Sequence[Result],
    called: Mapping[Result, str],
) -> list[str]:
    """Write the statements that return the outputs."""
    value, *derivatives = parts
    if not derivatives and not value.axes:
        return [layout.answer.format(value=answers[0])]
    opening, item, closing = layout.result
    if not layout.joined:
        rest = iter(answers)
        if not value.axes:
            closing = closing.format(value=next(rest))
        places = [
            called[part] + "".join(f"[{at}]" for at in index)
            for part in parts
            if part.axes
            for index in part.places
        ]
        stored = [item.format(text=next(rest), place=place) for place in places]
        return stored if value.axes else [*stored, closing]
    if is_several(parts):
        return named_parts(layout, answers, parts, called)
    around = opening.format(value=answers[0]), item, closing.format(value=answers[0])
    return list_texts(layout, around, derivatives[0].axes[-1], answers[1:])


def named_parts(
    layout: FunctionLayout,
    answers: list[str],
    parts: Sequence[Result],
    called: Mapping[Result, str],
) -> list[str]:
    """Write statements that name each part, and one that returns them all."""
    rest = iter(answers)
    lines: list[str] = []
    opening, item, closing = layout.table
    before, _, after = layout.define.format(name="{name}", text="{text}").partition("{text}")
    for part in parts:
        head = before.format(name=called[part])
        if not part.axes:
            lines.append(f"{head}{next(rest)}{after}")
            continue
        *above, names = part.axes
        if not above:
            around = head + opening, item, closing + after
            lines += list_texts(layout, around, names, [next(rest) for _ in names])
            continue
        lines.append(head + opening)
        for name in above[0]:
            around = item.format(key=layout.key(name), text="") + opening, item, f"{closing},"
            width = LINE_WIDTH - len(layout.indent)
            row = list_texts(layout, around, names, [next(rest) for _ in names], width)
            lines += [layout.indent + line for line in row]
        lines.append(closing + after)
    opening, item, closing = layout.several
    items = [item.format(part=part.name, name=called[part]) for part in parts]
    items[0] += layout.lone * (len(items) == 1)
    return [*lines, *break_list(opening, items, closing, layout)]


def list_texts(
    layout: FunctionLayout,
    around: tuple[str, str, str],
    names: Sequence[str],
    texts: Sequence[str],
    width: int = LINE_WIDTH,
) -> list[str]:
    """Write texts as a list, or by name; ``around`` has the texts before, of and after the items."""
    opening, item, closing = around
    pairs = zip(names, texts, strict=True)
    items = [item.format(key=layout.key(name), text=text) for name, text in pairs]
    if len(items) == 1:
        items[0] += layout.lone
    return break_list(opening, items, closing, layout, width)


def helper_functions(
    writer: ProgramWriter,
    rows: Iterable[Routine],
    formulas: Mapping[Routine, Program | LoopProgram],
) -> list[str]:
    """Write the helper functions for some rows, and those that they need, each before its callers."""
    target, layout = writer.target, writer.target.layout
    before, after = layout.gaps
    written: list[str] = []
    needed = set(rows)
    for row in reversed([*target.helpers, *formulas]):  # callers come last
        if row not in needed:
            continue
        if row in target.helpers:
            written.append(target.helpers[str(row)].replace("F_", writer.prefix))
            continue
        operands, about = describe_row(row)
        names, formula = writer.names(), formulas[row]
        inputs = {operand: names.claim(operand) for operand in operands}
        parameters = [layout.parameter.format(name=name) for name in inputs.values()]
        if isinstance(formula, LoopProgram):
            lines, called = repeat_statements(writer, formula, names, inputs)
        else:
            body = Statements(writer, formula, names, inputs)
            lines, called = [*body.lines, answer_statement(body)], [*body.helpers]
        text = layout.helper.format(
            name=writer.helper(row),
            parameters=", ".join(parameters),
            about=about,
            body=indent_lines(lines, layout.indent),
        )
        written.append(text)
        needed.update(called)
    return [before + text + after for text in reversed(written)]


def answer_statement(body: Statements) -> str:
    """Write the statement that returns a function's result."""
    return body.target.layout.answer.format(value=next(body.answers()))


def repeat_statements(
    writer: ProgramWriter, loop: LoopProgram, names: Names, inputs: dict[str, str]
) -> tuple[list[str], list[Routine]]:
    """Write the statements of a loop, and list the helpers that they call."""
    layout = writer.target.layout
    repeat = layout.repeat
    state = {name: names.claim(name.partition(" ")[0]) for name in loop.state}
    go, operands = names.claim("go"), [*inputs.values()]
    whole = ", ".join([*state.values(), go])
    listed = ", ".join(operands) + "," * (len(operands) == 1)  # a tuple of one, in Python
    words = {"go": go, "states": whole, "operands": listed, "first": operands[0]}

    def filled(part: str, **more: str) -> list[str]:
        """Fill a part of the layout; return its lines."""
        return part.format(**words, **more).split("\n") if part else []

    first = Statements(writer, loop.first, names, inputs)
    lines = [*filled(repeat.before), *first.lines]
    begun = [*zip(state.values(), first.answers(), strict=True), (go, "1.0")]
    for name, text in begun:
        lines += filled(repeat.declare, name=name, text=text)
    turn = Statements(writer, loop.turn, names, {**inputs, **state})
    turn.set_apart()
    after = zip([*state.values(), go], turn.answers(), strict=True)
    assigned = [
        line for name, text in after for line in filled(repeat.assign, name=name, text=text)
    ]
    lines += filled(repeat.opening)
    lines += indent_lines([*turn.lines, *assigned], layout.indent).split("\n")
    lines += filled(repeat.closing)
    last = Statements(writer, loop.last, names, {**inputs, **state})
    lines += [*last.lines, answer_statement(last)]
    return lines, [row for body in (first, turn, last) for row in body.helpers]


def describe_row(row: Routine) -> tuple[Sequence[str], str]:
    """Name the operands of a row's function, and describe it in words."""
    if isinstance(row, str):
        op = BY_NAME[row]
        first = op.about[:1]
        plain = first in row or first in op.fallback_names
        about = op.about if plain else first.upper() + op.about[1:]
        return op.fallback_names, about
    structural, operands = STRUCTURAL[row.kind], variant_operands(row)
    pairs = zip(operands, row.operands, strict=True)
    given = [f"{name} {shape or 'a number'}" for name, shape in pairs]
    given += [f"{p.name}={setting_text(value)}" for p, value in structural.given(row.settings)]
    words = f"{structural.word} of {', '.join(given)}: {structural.about}"
    indent = "    "
    lines = textwrap.wrap(words, LINE_WIDTH - 2 * len(indent), break_long_words=False)
    return operands, f"\n{indent}".join(lines)


def function_comment(
    target: Target,
    formula: Graph,
    inputs: Mapping[str, str],
    parts: Sequence[Result],
    name: str,
    called: Mapping[Result, str],
    fixed: bool = False,
    columns: Sequence[str] = (),
) -> str:
    """Write the comment of a function: its formula, its inputs and its results.

    ``fixed``: for inputs of these shapes; ``columns``: those that a query adds to a table, the column of
    row numbers first.
    """
    words = [f"the {part.title}" for part in parts]
    what = " and ".join(", ".join(words).rsplit(", ", 1))
    value = formula.output_name or "the value"
    returns = f"Returns {value}."
    wrt = parts[-1].axes[-1] if len(parts) > 1 else ()
    if columns:
        returns = target.layout.returns.format(row=columns[0], columns=", ".join(columns[1:]))
    elif is_several(parts):
        returns = in_words(target.layout, inputs, parts, called)
    elif len(parts) > 1 and (wrt or not target.layout.extra):
        by = order_in_words(wrt, inputs)
        extra = called.get(parts[-1], "")
        returns = target.layout.returns.format(value=value, wrt=by, extra=extra)
    listed, about = ", ".join(inputs), target.about
    if fixed and target.arrays:
        nodes = formula.inputs.items()
        listed = ", ".join(f"{name} {formula.shape(at) or '(a number)'}" for name, at in nodes)
        derivatives = "" if len(parts) == 1 else "; each derivative has the shape of its input"
        about = f"The program is for exactly these shapes{derivatives}.  {target.arrays.about}"
    paragraphs = [f"Inputs, in order: {listed or 'none'}.", returns, about]
    renamed = [f"{given} is called {new}" for given, new in inputs.items() if given != new]
    if renamed:
        paragraphs.insert(1, f"In the code, {', '.join(renamed)}.")
    statements = infix(formula, most=LINE_WIDTH).split("; ")
    shown = [
        f"  {cut_text(statement, LINE_WIDTH - 10)}" for statement in statements[:LONGEST_FORMULA]
    ]
    lines = [f"{name}: {what} of a formula, by exprgrad.", "", *shown]
    lines += [*(["  …"] if len(statements) > len(shown) else []), ""]
    for text in paragraphs:
        lines += textwrap.wrap(text, LINE_WIDTH - 6, break_long_words=False, break_on_hyphens=False)
    opening, prefix, closing = target.layout.comment
    rest = [(prefix + line).rstrip() for line in lines[1:]]
    return "\n".join([opening + lines[0], *rest]) + closing


def order_in_words(wrt: Sequence[str], inputs: Iterable[str]) -> str:
    """List the inputs of derivatives."""
    return "the inputs, in this order" if tuple(wrt) == tuple(inputs) else ", ".join(wrt)


def in_words(
    layout: FunctionLayout,
    inputs: Iterable[str],
    parts: Sequence[Result],
    called: Mapping[Result, str],
) -> str:
    """Describe results beyond a value and a gradient, and their order."""
    value, *derivatives = parts
    wrt = parts[-1].axes[-1]
    by, stored = order_in_words(wrt, inputs), " and ".join(called.values())
    found = f"the values of {', '.join(value.axes[0])}" if value.axes else "the value"
    if derivatives and value.axes:
        found += f" and their Jacobian: a row for each, a column for each of {by}"
    elif derivatives:
        found += (
            f", the gradient with respect to {by}, and the Hessian: a row and a column for each"
        )
    if layout.joined:
        return f"Returns {found}."
    if value in called:
        return f"Finds {found}.  Stores them in {stored}."
    rest = f"; stores the rest in {stored}" * bool(stored)
    return f"Finds {found}.  Returns the value{rest}."


def break_list(
    opening: str,
    items: Sequence[str],
    closing: str,
    layout: FunctionLayout,
    width: int = LINE_WIDTH,
) -> list[str]:
    """Write a list on one line, or break it."""
    line = opening + ", ".join(items) + closing
    if len(line) + len(layout.indent) <= width or not items:
        return [line]
    lines = [opening]
    current = ""
    for number, item in enumerate(items):
        piece = item + ("," if number < len(items) - 1 else layout.last)
        if current and len(current) + len(piece) + 2 * len(layout.indent) > width:
            lines.append(layout.indent + current)
            current = ""
        current = f"{current} {piece}" if current else piece
    return [*lines, layout.indent + current, closing]


def indent_lines(lines: Iterable[str], indent: str) -> str:
    """Indent statements."""
    return "\n".join(indent + line for line in lines)


# Queries: value and gradient as columns beside those of a table.
#
# The query numbers the rows and reads their inputs as doubles.  Each further step adds the columns that can
# be computed from those before it; the results are joined to the rows by number.  So no step sees the
# table's columns, whose names are not known here.  At the join, the columns that we add are written without
# their table: a table's column of the same name makes them ambiguous, which every database refuses.
# ``MATERIALIZED`` makes databases compute each step once: PostgreSQL and SQLite would otherwise insert its
# text wherever it is read, and the query would double with every step.

KNOWN = "known"
"""The helper, and a column, that tell whether all inputs of a row are finite."""
TABLE = "rows"
"""The name of the table, and of its numbered rows."""
ROW, OUT, ONCE = "row", "out", " MATERIALIZED"
"""The column of row numbers, the results by row, and the keyword for computing a step once."""


def query_source(
    program: Program, target: Target, *, formula: Graph, parts: Sequence[Result], name: str
) -> str:
    """Write a query that adds the program's outputs, in ``parts``, to the columns of a table.

    The program is lowered to the target, and its helpers are columns.  ``formula`` is the graph as
    written: its inputs are columns, and the comment shows its text.
    """
    check_name(name, target)
    check_column_names(formula, target)
    layout, writer = target.layout, ProgramWriter(target, f"{name}_", {})
    seen = Names(formula.inputs, ascii=False, prefix=writer.prefix)
    row = seen.reserve(writer.prefix + ROW)
    columns = [seen.reserve(column) for column in columns_returned(parts)]
    taken = [row, *map(writer.helper, target.helpers)]
    names = Names(taken, ascii=target.ascii, prefix=writer.prefix)
    inputs = {given: names.claim(given) for given in formula.inputs}
    body = Statements(writer, program, names, inputs)
    for output in program.outputs:
        body.settle(output)
    known, keys = writer.helper(KNOWN), [*map(layout.key, columns)]
    results = [
        layout.answer.format(known=known, value=text, key=key)
        for text, key in zip(body.answers(), keys, strict=True)
    ]
    said = function_comment(
        target, formula, {x: x for x in inputs}, parts, name, {}, columns=[row, *keys]
    )
    steps = [*query_steps(body, known), results]
    return layout.file.format(comment=said, **join_rows(layout, writer.prefix, row, steps, keys))


def join_rows(
    layout: FunctionLayout,
    prefix: str,
    row: str,
    steps: Sequence[Sequence[str]],
    keys: Sequence[str],
) -> dict[str, str]:
    """Write the head of a query, the numbered rows and the steps, and its body, which joins the results."""
    numbered, given, last = layout.result
    rows, *tables = [prefix + part for part in (TABLE, *map(str, range(len(steps) - 1)), OUT)]
    opening, closing = layout.head
    text = opening.format(name=rows, once=ONCE, first=numbered.format(row=row))
    head = [text + closing.format(table=given.format(table=TABLE, row=row))]
    for table, before, step in zip(tables, (rows, *tables), steps, strict=False):
        is_end = table in (tables[0], tables[-1])
        text = opening.format(name=table, once="" if is_end else ONCE, first=row if is_end else "*")
        head.append(text + select_columns(step, 2 * layout.indent) + closing.format(table=before))
    columns = select_columns(keys, layout.indent)
    body = last.format(columns=columns, rows=rows, row=row, out=tables[-1])
    return {"head": ", ".join(head), "body": body}


def check_column_names(formula: Graph, target: Target) -> None:
    """Raise ``RequestError`` for two inputs that differ only in case, and are one column."""
    seen: dict[str, str] = {}
    for name in formula.inputs:
        other = seen.setdefault(name.lower(), name)
        if other != name:
            message = f"'{other}' and '{name}' are one column in {target.title}"
            help = "upper and lower case are the same there: rename one of them"
            raise RequestError("bad-name", message, help=help).about(name)


def query_steps(body: Statements, known: str) -> list[list[str]]:
    """List the columns that each step adds: the inputs, whether they are finite, the statements."""
    layout, helpers = body.target.layout, body.target.helpers
    read = [
        layout.parameter.format(table=body.writer.prefix + TABLE, key=layout.key(given), name=name)
        for given, name in body.inputs.items()
    ]
    for row in body.helpers:
        text = helpers[str(row)]
        read.append(layout.define.format(text=text, name=body.writer.helper(row)))
    finite = " AND ".join([helpers[KNOWN].format(name) for name in body.inputs.values()])
    first = layout.define.format(text=finite or "TRUE", name=known)
    steps = [read, [first], *([] for _ in range(max(body.depths, default=0)))]
    for line, depth in zip(body.lines, body.depths, strict=True):
        steps[depth + 1].append(line)
    return steps


def columns_returned(parts: Sequence[Result]) -> list[str]:
    """Name the added columns: ``value``, ``d_x``, ``d_x_y``, and the names of several outputs."""
    found = []
    for part in parts:
        for index in part.places:
            names = [axis[at] for axis, at in zip(part.axes, index, strict=True)]
            derivative = "_".join(["d", *names])
            found.append((names or [part.name])[0] if part is parts[0] else derivative)
    return found


def select_columns(columns: Sequence[str], indent: str) -> str:
    """Write further columns of a query, one below another."""
    lines = [
        textwrap.fill(
            column,
            LINE_WIDTH,
            initial_indent=indent,
            subsequent_indent=indent + "  ",
            break_long_words=False,
            break_on_hyphens=False,
        )
        for column in columns
    ]
    return "".join(f",\n{line}" for line in lines)
