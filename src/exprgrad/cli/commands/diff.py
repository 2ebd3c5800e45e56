"""The command ``diff``: derivatives as formulas."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from math import comb
from typing import TYPE_CHECKING, Any

import click

from exprgrad.cli.answer import Answer, give_answer, write_text
from exprgrad.cli.command import FormulaCommand
from exprgrad.cli.options import (
    Count,
    Words,
    color_option,
    csv_option,
    document_option,
    formula_without_values,
    json_option,
    refuse_together,
    shape_option,
    split_names,
    wrt_option,
)
from exprgrad.cli.request import note_former_constants, parse_without_values
from exprgrad.errors import RequestError

if TYPE_CHECKING:
    from exprgrad.derive.simplify.orders import Orders
    from exprgrad.graph.graph import Graph
    from exprgrad.show.text.table import Screen

__all__ = ["diff_command"]

MOST_DERIVATIVES = 10_000
"""The most derivatives of a higher order that are written; JSON has each mixed one several times."""
SCREENFUL = 4000
"""The length, in characters, above which a formula is announced before it is printed."""


@click.command("diff", cls=FormulaCommand)
@formula_without_values
@shape_option
@wrt_option("Differentiate with respect to these inputs only.")
@click.option(
    "--order",
    type=Count(1, 100),
    default=1,
    show_default=True,
    metavar="N",
    help="Differentiate N times, 100 at most.",
)
@click.option(
    "--to",
    type=Words("infix", "latex"),
    default="infix",
    show_default=True,
    help="Write the formulas in exprgrad's language or in LaTeX.",
)
@click.option("--steps", "show_steps", is_flag=True, help="Show how each derivative comes about.")
@json_option
@csv_option("one derivative per line")
@click.option("-q", "--quiet", is_flag=True, help="Print only the formulas.")
@document_option
@color_option
def diff_command(**options: Any) -> int:
    """Derivatives as formulas, simplified."""
    from exprgrad.derive.simplify.formula import refuse_tensor_derivative
    from exprgrad.derive.simplify.orders import derivatives_of_order
    from exprgrad.run.values.inputs import select_inputs

    expression = parse_without_values(options, "diff")
    graph, order, to = expression.for_people.typed, options["order"], options["to"]
    chosen = select_inputs(graph, split_names(options["wrt"]))
    count = comb(len(chosen) + order - 1, order) if chosen else 0
    if order > 1 and (len(chosen) ** order if options["as_json"] else count) > MOST_DERIVATIVES:
        most = f"{MOST_DERIVATIVES:,} derivatives of order {order}"
        raise RequestError(
            "too-many",
            f"{len(chosen)} inputs have more than {most}",
            help="choose fewer inputs: --wrt a,b",
        )
    if options["show_steps"]:
        others = {"--order": order > 1, "--to latex": to != "infix"}
        others |= {"--quiet": options["quiet"], "--csv": options["as_csv"]}
        refuse_together(
            "--steps",
            others,
            "steps are for first derivatives, in infix, in full: leave out one of the two",
        )
    refuse_tensor_derivative(graph, expression.text, chosen, order)
    if not chosen:
        write_text(
            ["note: the formula has no inputs to differentiate with respect to\n"], sys.stderr
        )
    given = derivatives_of_order(graph, chosen, order), graph, chosen, options
    return give_answer(formulas_answer(expression.text, *given), options)


def formulas_answer(
    text: str,
    found: Iterable[tuple[Orders, Graph]],
    graph: Graph,
    wrt: Sequence[str],
    options: Mapping[str, Any],
) -> Answer:
    """Build the answer: every derivative of an order, computed when it is written.

    With ``--steps`` it is how each comes about, instead of the formula alone.
    """
    from exprgrad.explain.derivations import derivation_steps
    from exprgrad.show.documents.document import csv_rows, record_lines
    from exprgrad.show.text import formulas

    order, to, show_steps = options["order"], options["to"], options["show_steps"]
    notes = note_former_constants(graph)
    tell, write = None if options["document"] else tell_size, partial(formulas.formula_text, to=to)

    def fields() -> Iterator[tuple[str, Any]]:
        texts = {inputs: write(formula) for inputs, formula in found}
        output = {"node": graph.output, "name": graph.output_name}
        derivatives = formulas.nest_by_input(texts, wrt, order)
        given = {"output": output, "order": order, "to": to, "derivatives": derivatives}
        if show_steps:  # ahead of the first field: an error leaves no half an object
            given["steps"] = {
                name: formulas.step_records(derivation_steps(graph, name)) for name in wrt
            }
        yield from (given | ({"diagnostics": record_lines(notes)} if notes else {})).items()

    def lines() -> Iterator[tuple[str, str]]:
        for inputs, formula in found:
            yield ("" if len(wrt) == 1 else ",".join(inputs)), write(formula)

    def lay_out(screen: Screen) -> Iterator[str]:
        if not show_steps:
            for inputs, formula in found:
                yield from formulas.derivative_lines(graph, inputs, formula, to, tell, screen.width)
            return
        for place, name in enumerate(wrt):
            if place:
                yield "\n"
            given, width, color = derivation_steps(graph, name), screen.width, screen.color
            yield from formulas.step_lines(graph, name, given, width=width, color=color)

    columns = {"wrt": lambda one: ",".join(one[0]), "derivative": lambda one: write(one[1])}
    rows = csv_rows(columns, found)
    return Answer("diff", text, fields(), rows, lines(), lay_out, notes, exact=not show_steps)


def tell_size(name: str, size: int, order: int) -> None:
    """Say that more than a screenful is coming."""
    if size > SCREENFUL:
        lower = "; a lower --order is shorter" if order > 1 else ""
        help = f"-o FILE.txt writes it to a file{lower}"
        write_text([f"note: {name} has {size:,} characters\n  help: {help}\n"], sys.stderr)
