"""Programs as queries: value and gradient as columns beside those of a table.

The first step reads the inputs as doubles.  Each further step adds what the columns before it suffice for,
and the last adds the results.  A step is worked out once (``MATERIALIZED``): PostgreSQL and SQLite would
else put its text wherever it is read, and the query would double with every step.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from exprgrad.errors import RequestError
from exprgrad.graph.graph import Graph, Program
from exprgrad.language.code.identifiers import Names
from exprgrad.language.code.program import LINE_WIDTH, Result, check_name, comment
from exprgrad.language.code.statements import Statements, Writer
from exprgrad.language.code.target import Target

__all__ = ["query"]

KNOWN = "known"
"""The helper, a column, that says whether a number is finite, and so are all inputs of a row."""
TABLE = "rows"
"""The table that is read."""


def query(
    program: Program, target: Target, *, formula: Graph, parts: Sequence[Result], name: str = "f"
) -> str:
    """A query that adds the program's outputs, in ``parts``, to the columns of a table.

    The program is lowered to the target, and needs no helpers but columns.  ``formula`` is the graph as
    written: its inputs are columns, and its text stands in the comment.
    """
    check_name(name, target)
    check_columns(formula, target)
    layout, writer = target.layout, Writer(target, f"{name}_", {})
    names = Names(map(writer.helper, target.helpers), ascii=target.ascii, prefix=writer.prefix)
    inputs = {given: names.claim(given) for given in formula.inputs}
    body = Statements(writer, program, names, inputs)
    for output in program.outputs:
        body.settle(output)
    columns = [layout.key(column) for column in returned(parts)]
    known = writer.helper(KNOWN)
    results = [
        layout.answer.format(known=known, value=text, key=column)
        for text, column in zip(body.answers(), columns, strict=True)
    ]
    steps = stepped(body, known)
    opening, closing = layout.head
    written = []
    for number, step in enumerate(steps):
        once = " AS MATERIALIZED" if number else " AS"
        head = opening.format(name=f"{writer.prefix}{number}{once}")
        table = f"{writer.prefix}{number - 1}" if number else TABLE
        written.append(head + selected(step, 2 * layout.indent) + closing.format(table=table))
    opening, _, closing = layout.result
    last = f"{writer.prefix}{len(steps) - 1}"
    return layout.file.format(
        comment=comment(target, formula, {x: x for x in inputs}, parts, name, {}, columns=columns),
        head=", ".join(written),
        body=opening + selected(results, layout.indent) + closing.format(table=last),
    )


def check_columns(formula: Graph, target: Target) -> None:
    """Raise ``RequestError`` where two inputs are one column: upper and lower case are the same there."""
    seen: dict[str, str] = {}
    for name in formula.inputs:
        other = seen.setdefault(name.lower(), name)
        if other != name:
            message = f"'{other}' and '{name}' are one column in {target.title}"
            help = "upper and lower case are the same there: rename one of them"
            raise RequestError("bad-name", message, help=help).about(name)


def stepped(body: Statements, known: str) -> list[list[str]]:
    """What the steps add: the inputs, whether they are finite, and the statements."""
    layout, helpers = body.target.layout, body.target.helpers
    read = [
        layout.parameter.format(key=layout.key(given), name=name)
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


def returned(parts: Sequence[Result]) -> list[str]:
    """The columns that are added: ``value``, ``d_x``, ``d_x_y``, and the names of several outputs."""
    found = []
    for part in parts:
        for index in part.places:
            names = [axis[at] for axis, at in zip(part.axes, index, strict=True)]
            derivative = "_".join(["d", *names])
            found.append((names or [part.name])[0] if part is parts[0] else derivative)
    return found


def selected(columns: Sequence[str], indent: str) -> str:
    """Columns, one below another behind all that are there; nothing where there are none."""
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
