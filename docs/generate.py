"""Writes the generated reference pages: ``python docs/generate.py``; a test holds them current."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from exprgrad import LESSONS, draw, parse
from exprgrad.cli.command import load_command
from exprgrad.cli.commands import COMMANDS
from exprgrad.cli.group import Group
from exprgrad.data.formats import FORMATS
from exprgrad.explain.rewriting.rewrites import (
    EXTENSIONS,
    REWRITES,
    Rewrite,
    rewrite_conditions,
)
from exprgrad.graph.ops import COMPARISONS, OPS
from exprgrad.graph.tensors import STRUCTURAL
from exprgrad.language.code.targets import TARGETS
from exprgrad.show.picture.theme import DATA, GRAD
from exprgrad.show.text.lines import decimal_text
from exprgrad.show.text.operations import operation_details, operation_usage

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from corpus import Formula, trades

REFERENCE = Path(__file__).parent / "reference"
TUTORIAL = Path(__file__).parent / "tutorial"
COURSE = "https://exprgrad.github.io/exprgrad/course"
"""Where the site has the lessons, live."""
SWEEPS = Path(__file__).parent / "images" / "sweeps.svg"
METHODS = Path(__file__).parents[1] / "src" / "exprgrad" / "api" / "methods.pyi"


def commands() -> str:
    """The page on the commands: each one's own help text."""
    group = Group()
    context = click.Context(
        group, info_name="exprgrad", terminal_width=80, **group.context_settings
    )
    parts = [
        "# Commands\n",
        "This page is generated from the commands' own `--help`.  What they share (where a formula "
        "comes from, values, output forms, exit statuses) is described in "
        "[Input and output](input-output.md).\n",
        f"```text\n{group.get_help(context)}\n```\n",
    ]
    for name in COMMANDS:
        command = load_command(name)
        inner = click.Context(command, info_name=name, parent=context, terminal_width=80)
        parts.append(f"## exprgrad {name}\n\n```text\n{command.get_help(inner)}\n```\n")
    return "\n".join(parts)


def operations() -> str:
    """The page on the operations: the op table, row by row."""
    parts = [
        "# Operations\n",
        "This page is generated from the op table.  Its [elementwise](#elementwise) rows work number by "
        "number (`src/exprgrad/graph/ops.py`, and `functions.py`, `special.py` and `integrals.py` beside "
        "it), its [structural](#structural) ones see "
        "their operands' shapes (`src/exprgrad/graph/linear_algebra.py`, and `reductions.py` and "
        "`tensors.py` beside it).\n",
        "## Elementwise\n",
        "`out` is the operation's "
        "own result.  *computed* is what the sweeps evaluate where it differs from what is shown: equal in "
        "real arithmetic, and accurate in doubles; *with* gives what those rules have in common.  An "
        "accuracy is the largest distance from the true value at the given doubles, in units in the last "
        "place (ulp), that the tests allow; *correctly rounded* is the nearest double.  A number after "
        "*or* is an absolute bound, which holds near a zero, where no bound in ulp can.\n",
        "| operation | formula | what it is |\n| --- | --- | --- |",
    ]
    for op in OPS:
        parts.append(
            f"| {linked(operation_usage(op), op.name)} | {formula(op.latex)} | {op.about} |"
        )
    parts.append("")
    for op in OPS:
        parts.append(f"### {op.name}\n\n```text\n{operation_details(op).rstrip()}\n```\n")
    parts += [
        "## Structural\n",
        "A structural row is linear in each operand, or nearly.  It states no Jacobian but how a "
        "cotangent goes back; below, that rule is written for operands of a few shapes.\n",
        "| operation | formula | what it is |\n| --- | --- | --- |",
    ]
    for row in STRUCTURAL.values():
        parts.append(
            f"| {linked(operation_usage(row), row.name)} | {formula(row.latex)} | {row.about} |"
        )
    parts.append("")
    for row in STRUCTURAL.values():
        parts.append(f"### {row.name}\n\n```text\n{operation_details(row).rstrip()}\n```\n")
    return "\n".join(parts)


def formats() -> str:
    """The page on the formats of rows: one row each."""
    parts = [
        "# Formats of rows\n",
        "This page is generated from `src/exprgrad/data/formats/`; [a new one](../how-to/add-a-format.md) "
        "is one file there.  `batch` and `fit` read a file as its ending says, and `batch` writes one so.  "
        "Cells may hold numbers, texts and times, and what the table says.\n",
        "| `--to` | endings | written | through a pipe | cells may hold, too | needs, beside pyarrow |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for row in FORMATS.values():
        pipe = "read" * (row.piped is not None), "written" * bool(row.writer and row.to_pipe)
        cells = (
            f"`{row.name}`" if row.writer else row.title,
            " ".join(f"`{ending}`" for ending in row.endings),
            "yes" if row.writer else "no",
            ", ".join(filter(None, pipe)) or "no",
            ", ".join(row.room) or "–",
            row.needs.replace("_", "-") or "–",
        )
        parts.append(f"| {' | '.join(cells)} |")
    return "\n".join(parts) + "\n"


def rewrites() -> str:
    """The page on what to write instead: the rewrites, row by row."""
    head = "| instead of | write | the same where | goes wrong at |\n| --- | --- | --- | --- |"
    parts = [
        "# What to write instead\n",
        "This page is generated from `src/exprgrad/explain/rewriting/rewrites.py`.  Each row is true in "
        "real arithmetic, and in doubles the right side is better at least at the point that the row "
        "gives; the tests hold both.  The letters stand for any parts of a formula.  A row is suggested "
        "only where it was tried at your point and helps: "
        "[Non-finite numbers](../explanation/non-finite-numbers.md) tells more.\n",
    ]
    for why in dict.fromkeys(row.why for row in REWRITES):
        parts.append(f"## {why[0].upper()}{why[1:]}\n\n{head}")
        parts += [rewrite_row(row) for row in REWRITES if row.why == why]
        parts.append("")
    parts.append("## Outside the domain\n")
    parts.append(
        "These are defined further than what they replace, and are suggested only there.\n"
    )
    parts.append("| instead of | write | for |\n| --- | --- | --- |")
    parts += [f"| `{row.pattern}` | `{row.better}` | {row.why} |" for row in EXTENSIONS]
    return "\n".join([*parts, ""])


def rewrite_row(row: Rewrite) -> str:
    """A rewrite as a row of a table."""
    repeated = f", any number of terms like that with {row.repeats}" if row.repeats else ""
    where = " and ".join(f"`{one}`" for one in rewrite_conditions(row)) or "everywhere"
    at = ", ".join(f"`{part.replace('=', ' = ')}`" for part in row.at.split())
    return f"| `{row.pattern}`{repeated} | `{row.better}` | {where} | {at} |"


def formula(latex: str) -> str:
    """LaTeX in a table's cell, which a bar would end."""
    return "$" + latex.replace(r"\|", r"\Vert ").replace("|", r"\vert ") + "$"


def linked(written: str, name: str) -> str:
    """An operation as it is written, with a link to its section."""
    shown = written.replace("|", r"\|")
    return f"[`{shown}`](#{name.lower()})"


def formulas() -> str:
    """The page on formulas of many trades: each as it is typed, with its gradient at a point."""
    listed = [*trades()]
    names = [*dict.fromkeys(one.trade for one in listed)]
    parts = [
        "# Formulas of many trades\n",
        f"This page is generated: {len(listed)} formulas of {len(names)} trades, each as its people type "
        "it, with a point and its gradient there.  In a file, or between quotes, each is what `exprgrad` "
        "takes: `exprgrad grad -f formula.txt c=5 y=0.04`.  Every number is tested: each formula is "
        "written again in mpmath, from the textbooks, and differentiated there.\n",
        ", ".join(f"[{name}](#{name.lower().replace(' ', '-')})" for name in names) + "\n",
    ]
    for name in names:
        parts.append(f"## {name}\n")
        parts += [part for one in listed if one.trade == name for part in worked_out(one)]
    return "\n".join(parts)


def worked_out(one: Formula) -> Iterator[str]:
    """A formula with its value, and a column for each input: its value and its derivative."""
    run = parse(one.text).gradient(one.values)
    output = run.graph.output_name
    value = f"{f'`{output}`' if output else 'value'} = {in_cell(run.true.value)}"
    rows = [
        ["input", *(f"`{name}`" for name in one.values)],
        ["---"] * (1 + len(one.values)),
        ["at", *(text.replace(",", ", ") for text in one.values.values())],
        ["derivative", *(in_cell(run.true.gradient[name]) for name in one.values)],
    ]
    yield f"**{one.title}.**  {value}\n\n```text\n{one.text}\n```\n"
    yield "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"


def in_cell(value: Any) -> str:
    """A number, or the numbers of a tensor, with 6 digits."""
    if getattr(value, "ndim", 0):
        return f"[{', '.join(map(in_cell, value))}]"
    return decimal_text(float(value), 6)


def schema() -> str:
    """The JSON Schema, in which the targets of ``code`` are those that there are."""
    text = (REFERENCE / "schema.json").read_text("utf-8")
    listed = ", ".join(f'"{name}"' for name in TARGETS)
    return re.sub(r'("to": \{ "enum": \[)"python"[^]]*', rf"\g<1>{listed}", text)


def methods() -> str:
    """What a type checker is told of the operators and functions of ``Value``: a line for each row."""
    lines = [
        '"""The operators and functions of ``Value``, for type checkers: written by docs/generate.py."""\n',
        "from typing import Self\n",
        "class Methods:",
    ]
    reflected = [op.name for op in OPS if op.infix and op.name not in COMPARISONS]
    special = {"div": "truediv"}
    for name in reflected:
        dunder = special.get(name, name)
        for form in (dunder, f"r{dunder}"):
            lines.append(f"    def __{form}__(self, other: Self | float) -> Self: ...")
    for name in ("lt", "le", "gt", "ge"):
        lines.append(f"    def __{name}__(self, other: Self | float) -> bool: ...")
    for op in OPS:
        if not (op.infix or op.prefix):
            taken = [f"{name}: Self | float" for name in op.names[1:]]
            taken += ["*others: Self | float"] * op.variadic
            lines.append(f"    def {op.name}({', '.join(['self', *taken])}) -> Self: ...")
    return "\n".join(lines) + "\n"


def lessons() -> str:
    """The page that leads to the lessons, live, with the parts of each."""
    parts = [
        "# Lessons\n",
        f"{len(LESSONS)} lessons to click through, in this order, or as "
        f"[a course with progress]({COURSE}/index.html).  Each is one page that needs no network and "
        "works on a phone; [`exprgrad explore --lesson chain`](../how-to/explore-a-formula.md#lessons) "
        "writes the one called `chain` to your disk.  This page is generated from the lessons.\n",
        "| lesson | called | its parts |\n| --- | --- | --- |",
    ]
    for one in LESSONS.values():
        titles = "; ".join(part.title.split(". ", 1)[-1].strip() for part in one.parts[:-1])
        parts.append(
            f"| [{one.title}]({COURSE}/{one.name}.html) | `{one.name}` | {titles or 'exercises'} |"
        )
    parts.append(
        "\nOn the site, the first of them runs right here:\n\n<!-- live: start -->\n\n"
        "To put one into a page of yours, or to write your own: "
        "[Teach a course](../how-to/teach-a-course.md#on-a-page-of-yours), "
        "[Write a lesson](../how-to/write-a-lesson.md)."
    )
    return "\n".join(parts) + "\n"


def sweeps() -> str:
    """The graph of a neuron, in which the numbers of both sweeps appear one by one, as SVG.

    For whoever asks for less motion the picture stands still, and is complete.
    """
    lesson = LESSONS["neuron"]
    run = parse(lesson.expression).gradient(lesson.values)
    count = len(run.nodes)
    step = 100 / (2 * count + STEPS_OF_REST)
    rules = [
        rule
        for node in range(1, count + 1)
        for rule in animate_card(node, {DATA: step * node, GRAD: step * (2 * count + 1 - node)})
    ]
    style = "\n".join(["@media (prefers-reduced-motion: no-preference) {", *rules, "}", "</style>"])
    title = (
        "<title>The forward sweep fills in each node's data, the reverse sweep each grad</title>"
    )
    svg = re.sub("<title>.*?</title>", title, draw(run).svg(), count=1)
    return svg.replace("</style>", style, 1)


def animate_card(node: int, moments: dict[str, float]) -> Iterator[str]:
    """CSS for a card: each number, by its colour, appears at its moment, and the outline is bold then."""
    bold = ""
    for ink, percent in moments.items():
        name, start, end = f"n{node}-{ink[1:]}", f"{percent:.1f}%", f"{percent + 3:.1f}%"
        yield f"@keyframes {name} {{ 0%, {start} {{ opacity: 0 }} {end}, 100% {{ opacity: 1 }} }}"
        yield f'#node{node} text[fill="{ink}"] {{ animation: {name} {SECONDS}s infinite }}'
        bold += f"{start}, {percent + 6:.1f}% {{ stroke-width: 1 }} {end} {{ stroke-width: 4 }} "
    yield f"@keyframes n{node} {{ {bold}}}"
    yield f'#node{node} path[fill="none"] {{ animation: n{node} {SECONDS}s infinite }}'


SECONDS, STEPS_OF_REST = 15, 5
"""How long the picture of the sweeps takes, and for how many steps it is shown finished."""


PAGES = {
    "formulas.md": formulas,
    "commands.md": commands,
    "operations.md": operations,
    "formats.md": formats,
    "rewrites.md": rewrites,
    "schema.json": schema,
}


def main() -> None:
    """Write every page."""
    for name, page in PAGES.items():
        (REFERENCE / name).write_text(page(), encoding="utf-8")
    (TUTORIAL / "lessons.md").write_text(lessons(), encoding="utf-8")
    METHODS.write_text(methods(), encoding="utf-8")
    SWEEPS.write_text(sweeps(), encoding="utf-8")


if __name__ == "__main__":
    main()
