"""One command, ratios against peers: ``python -m benchmarks``."""

from __future__ import annotations

import click

from benchmarks import accuracy, derive, gradient, parse, sides, startup, tensor
from benchmarks.measure import machine

PARTS = {
    "startup": ("Start-up", "Times of whole processes.", startup.report),
    "gradient": (
        "Value and gradient",
        "What others take, in calls of exprgrad's `gradient` on a formula read once; so are exprgrad's "
        "own reading and first call, each taken once.  The same operations for all: `+`, `*`, `relu`.  "
        "A turn is some calls in a row, with the garbage collector on, and begins with a clean heap.",
        gradient.report,
    ),
    "sides": (
        "Kinks looked for",
        "What a gradient takes, in times of its two sweeps alone: at smooth points, and at kinks.",
        sides.report,
    ),
    "tensor": (
        "Tensors",
        "A layer's gradient by X, W and b: in the time of its three matrix products in NumPy, and all that "
        "is held, inputs and gradient included, in the bytes of X, W and X @ W.  Then what others take for "
        "a small network's gradient, in calls of exprgrad's `gradient` on a formula read once.",
        tensor.report,
    ),
    "parse": (
        "Reading a formula",
        "What Lark takes, in times of `exprgrad.parse`, which also builds the graph; and exprgrad's "
        "time per token, in that of the first row.",
        parse.report,
    ),
    "derive": (
        "Derivation",
        "The value and the derivative by every input, as one program.",
        derive.report,
    ),
    "accuracy": (
        "Accuracy",
        "Errors of gradients in ulp, each of its worst component, against mpmath at the exact doubles: "
        "*wrong* has no digit right, *nan* and *inf* stand for a finite number.",
        accuracy.report,
    ),
}


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--quick", is_flag=True, help="Fewer sizes and rounds.")
@click.option("--only", type=click.Choice([*PARTS]), help="One part.")
def main(quick: bool, only: str | None) -> None:
    """Run the benchmarks and print Markdown tables of ratios, each of two medians taken in turn."""
    click.echo(f"Medians of interleaved runs on {machine()}.")
    for name, (title, words, report) in PARTS.items():
        if only in (None, name):
            click.echo(f"\n## {title}\n\n{words}\n\n{report(quick=quick)}", nl=False)


main(prog_name="python -m benchmarks")
