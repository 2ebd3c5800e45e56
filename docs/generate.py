"""Writes the generated reference pages: ``python docs/generate.py``; a test holds them current."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from types import FunctionType
from typing import Any

import click

import exprgrad
from exprgrad import LESSONS, draw, parse
from exprgrad.api.displays import Course, DerivativesByName
from exprgrad.api.fits import Fitted
from exprgrad.api.minima import Minimized
from exprgrad.api.roots import Solved
from exprgrad.cli.command import load_command
from exprgrad.cli.commands import COMMANDS
from exprgrad.cli.group import Group
from exprgrad.data.formats import FORMATS
from exprgrad.data.frames import ArrowFunctions
from exprgrad.data.grids import RangeTable
from exprgrad.explain.rewriting.rewrites import (
    EXTENSIONS,
    REWRITES,
    Rewrite,
    rewrite_conditions,
)
from exprgrad.explain.walks import Paths, VisitResult
from exprgrad.graph.ops import COMPARISONS, OPS
from exprgrad.graph.tensors import STRUCTURAL
from exprgrad.language.code.targets import TARGETS
from exprgrad.run.engines.compiled import Compiled
from exprgrad.run.engines.point_function import PointFunction
from exprgrad.show.picture.curves import Plot
from exprgrad.show.picture.theme import DATA, GRAD
from exprgrad.show.text.lines import decimal_text
from exprgrad.show.text.operations import operation_details, operation_usage
from exprgrad.solvers.uncertainty.propagation import Uncertainty

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from gallery import call_along, draw_curve, plot_operation

from corpus import Formula, trades

REFERENCE = Path(__file__).parent / "reference"
TUTORIAL = Path(__file__).parent / "tutorial"
COURSE = "https://exprgrad.github.io/exprgrad/course"
"""Where the site has the lessons, live."""
SWEEPS = Path(__file__).parent / "images" / "sweeps.svg"
CURVES = Path(__file__).parent / "images" / "operations"
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
        parts.append(
            f"### {op.name}\n\n![The curve of {op.name}](../images/operations/{op.name}.svg)\n\n"
            f"```text\n{operation_details(op).rstrip()}\n```\n"
        )
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


def api() -> str:
    """The page on the library: every public name, from its docstring."""
    named = {name: getattr(exprgrad, name) for name in exprgrad.__all__ if name[0] != "_"}
    functions = {name: one for name, one in named.items() if inspect.isfunction(one)}
    classes = {name: one for name, one in named.items() if inspect.isclass(one)}
    errors = {name: one for name, one in classes.items() if issubclass(one, Exception)}
    rows = {op.name for op in OPS}
    parts = [
        "# Python\n",
        "This page is generated from the docstrings.  [Use it from Python](../how-to/use-from-python.md) "
        'shows the library at work.  Values are given by name, `f(x=2)`, or as a mapping, `f({"x": 2})`.\n',
        "## Functions\n",
    ]
    for name, one in functions.items():
        parts += described(f"exprgrad.{name}", one)
    for name in LIVING:
        parts += [f"## {name}\n", prose(inspect.getdoc(classes[name]) or "")]
        for called, one in vars(classes[name]).items():
            hidden = called[0] == "_" or called in rows or called in INTERNAL
            if not hidden and isinstance(one, FunctionType | property | cached_property):
                parts += described(f"{name}.{called}", one)
    parts.append("## What they return, and take\n")
    for name, one in {**classes, **{one.__name__: one for one in RESULTS}}.items():
        if name not in LIVING and name not in errors:
            parts += [f"### {name}\n", prose(inspect.getdoc(one) or "")]
    parts.append("## Errors and warnings\n")
    for name, one in errors.items():
        parts += [f"### {name}\n", prose(inspect.getdoc(one) or "")]
    return "\n".join(parts)


LIVING = ("Expression", "Run", "Value")
"""The classes whose methods are listed."""
RESULTS = (
    ArrowFunctions, Compiled, Course, DerivativesByName, Fitted, Minimized, Paths, Plot, PointFunction,
    RangeTable, Solved, Uncertainty, VisitResult,
)  # fmt: skip
"""What methods return, beside what the package exports."""
INTERNAL = {
    "at", "at_numbers", "columns", "derivatives", "drawn", "evaluator", "for_people", "for_shapes", "given",
    "in_rows", "is_elementwise", "kind", "held", "named", "only_input", "operands", "refuse", "searched",
    "spread", "swept", "typed",
}  # fmt: skip
"""Names for other modules of the package."""


def described(called: str, one: Any) -> Iterator[str]:
    """A heading, the signature of a function, and the docstring."""
    yield f"### {called}\n"
    if inspect.isfunction(one):
        taken = [*signature_parts(inspect.signature(one))]
        text = f"{called}({', '.join(taken)})"
        if len(text) > 88:
            text = "\n    ".join([f"{called}(", *(f"{each}," for each in taken)]) + "\n)"
        yield f"```text\n{text}\n```\n"
    yield prose(inspect.getdoc(one) or "")


def signature_parts(signature: inspect.Signature) -> Iterator[str]:
    """The parameters but ``self``, and the signs between those by place and those by name."""
    before = inspect.Parameter.POSITIONAL_OR_KEYWORD
    for name, each in signature.parameters.items():
        if before is inspect.Parameter.POSITIONAL_ONLY is not each.kind:
            yield "/"
        if each.kind is inspect.Parameter.KEYWORD_ONLY is not before:
            yield "*"
        before = each.kind
        if name != "self":
            yield re.sub(r": '([^']*)'", r": \1", str(each))


def prose(doc: str) -> str:
    """A docstring as Markdown: a list of fields stays as it is, in letters of one width."""
    parts = [
        f"```text\n{part.replace('``', '')}\n```"
        if re.match(r"``[^`]+``(, ``[^`]+``)*  +\S", part)
        else re.sub(r"``(.+?)``", r"`\1`", part)
        for part in doc.split("\n\n")
    ]
    return "\n\n".join(parts) + "\n"


def gallery() -> str:
    """The page with the curves of all elementwise operations."""
    parts = [
        "# Gallery of operations\n",
        "Each elementwise operation along its first operand: the value above, the derivative below, with a "
        "dot at each kink, rings at jumps, and dashes at poles.  The other operands are 2, but 1 for x, "
        "and -1 and 1 for the ends of `clamp`.  A picture leads to what [the table](operations.md) says of "
        "the operation: formulas, domain, kinks, accuracy.  This page is generated; `exprgrad plot` finds "
        "the curves.\n",
        '<div class="grid gallery" markdown>\n',
    ]
    for op in OPS:
        picture = f"![The curve of {op.name}](../images/operations/{op.name}.svg)"
        parts.append(f"[{picture} `{call_along(op)[0]}`](operations.md#{op.name.lower()})\n")
    return "\n".join([*parts, "</div>\n"])


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

    Where a reader asks for less motion, the picture is complete and does not move.
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
    "python.md": api,
    "operations.md": operations,
    "gallery.md": gallery,
    "formats.md": formats,
    "rewrites.md": rewrites,
    "schema.json": schema,
}


def main() -> None:
    """Write every page."""
    for name, page in PAGES.items():
        (REFERENCE / name).write_text(page(), encoding="utf-8")
    (TUTORIAL / "lessons.md").write_text(lessons(), encoding="utf-8")
    for op in OPS:
        (CURVES / f"{op.name}.svg").write_text(draw_curve(op, plot_operation(op)), encoding="utf-8")
    METHODS.write_text(methods(), encoding="utf-8")
    SWEEPS.write_text(sweeps(), encoding="utf-8")


if __name__ == "__main__":
    main()
