"""One command, ratios against peers: ``python -m benchmarks``."""

from __future__ import annotations

from importlib import import_module
from typing import NamedTuple

import click

from benchmarks.machine import machine, one_core, versions
from benchmarks.measure import Ratio, Report


class Part(NamedTuple):
    """What a part is called, and how its tables are to be read.  Its module has the part's name."""

    title: str
    words: str


PARTS = {
    "startup": Part("Start-up", "Times of whole processes."),
    "parse": Part(
        "Reading a formula",
        "What Lark takes, in times of `exprgrad.parse`, which also builds the graph; and exprgrad's "
        "time per token, in that of the first row.",
    ),
    "gradient": Part(
        "Value and gradient",
        "What others take, in calls of exprgrad's `gradient` on a formula read once; so are exprgrad's "
        "own value, reading and first call, the last two taken once.  The same operations for all: `+`, "
        "`*`, `relu`.  A turn is some calls in a row, with the garbage collector on, and begins with a "
        "clean heap.",
    ),
    "value": Part(
        "Value and micrograd",
        "What `Value` takes, in the time of micrograd's: for making a graph, and for `backward()` alone.",
    ),
    "batch": Part(
        "Columns",
        "Value and gradient for every row, into columns that are there already where a contestant can.",
    ),
    "columns": Part(
        "Columns in files",
        "The neuron's value and gradient for every row of a file, all five inputs being columns: summed, "
        "beside merely reading the batches; and written, beside writing the same columns, computed "
        "beforehand.  Others are given the derivatives, and sum plainly; JAX derives them.",
    ),
    "compile": Part("Compiling", "From the formula's text to a function over columns."),
    "growth": Part(
        "Growth",
        "Time and bytes for a node of a balanced tree of `+`, `*` and `relu`; a batch has 32 rows.",
    ),
    "derive": Part("Derivation", "The value and the derivatives in all inputs, as one program."),
    "sides": Part(
        "Kinks looked for",
        "What a gradient takes, in times of its two sweeps alone: at smooth points, and at kinks.",
    ),
    "guard": Part(
        "Right digits counted",
        "What the error bounds of a value and its gradient take, in times of the gradient.",
    ),
    "tensor": Part(
        "Tensors",
        "A layer's gradient by X, W and b: in the time of its three matrix products in NumPy, and all that "
        "is held, inputs and gradient included, in the bytes of X, W and X @ W.  Then what others take for "
        "a small network's gradient, in calls of exprgrad's `gradient` on a formula read once.",
    ),
    "calls": Part(
        "Calls",
        'One point: value and gradient in times of SymPy\'s `lambdify([f, *gradient], "math", cse=True)`, '
        "and `f.function().vector` in times of CasADi's call on an array.  Then few rows in machine code, "
        "into an earlier answer, with the same arrays again and again, in times of C's.",
    ),
    "fits": Part(
        "Fits",
        "NIST's 27 certified problems from both starts: *reached* has 4 right digits of each parameter, "
        "and is said to have arrived; *silently* are those with fewer of which nothing is said.",
    ),
    "minima": Part(
        "Minima",
        "The 35 test problems of Moré, Garbow and Hillstrom, from their starts, and from 10 times "
        "these: *silently elsewhere* is said to be a minimum, and is none that is known.",
    ),
    "accuracy": Part(
        "Accuracy",
        "Errors of gradients in ulp, each of its worst component, against mpmath at the exact doubles: "
        "*wrong* has no digit right, *nan* and *inf* stand for a finite number.",
    ),
}
ON_REQUEST = frozenset({"accuracy", "calls", "columns", "fits", "guard", "minima"})
"""What is no part of a whole run: accuracy has a page of its own, the others are measured by themselves."""


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--quick", is_flag=True, help="Fewer sizes and rounds.")
@click.option("--only", type=click.Choice([*PARTS]), help="One part.")
@click.option("--write", is_flag=True, help="Write the tables into docs/explanation/speed.md too.")
def main(quick: bool, only: str | None, write: bool) -> None:
    """Run the benchmarks and print Markdown tables of ratios, contestants taking turns on one core.

    Without --only all that is about speed is measured, and a table of what is asked for comes last.
    """
    if write and (quick or only):
        raise click.UsageError("--write takes a whole run: the page is about one.")
    core = one_core()
    where = f"core {core} alone" if core is not None else "any core: this system cannot pin"
    click.echo(f"{machine()}; {where}.\n\n{versions()}.")
    reports: dict[str, Report] = {}
    for name, part in PARTS.items():
        if only == name or (only is None and name not in ON_REQUEST):
            reports[name] = import_module(f"benchmarks.{name}").report(quick=quick)
            click.echo(f"\n## {part.title}\n\n{part.words}\n\n{reports[name].text}", nl=False)
    if only is None:
        from benchmarks.regimes import summary

        figures: dict[str, Ratio] = {}
        for report in reports.values():
            figures |= report.figures
        sizes = "Sizes are smaller than it says here.\n\n" if quick else ""
        click.echo(f"\n## What is asked for\n\n{sizes}{summary(figures)}", nl=False)
    if write:
        from benchmarks.speed_page import write_page

        write_page(reports, figures, where)


if __name__ == "__main__":
    main(prog_name="python -m benchmarks")
