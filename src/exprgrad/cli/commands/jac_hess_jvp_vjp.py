"""The commands that ask for more than one gradient: ``jac``, ``hess``, ``jvp``, ``vjp``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from exprgrad.cli.answer import Answer, give_answer
from exprgrad.cli.assignments import ASSIGNED, read_weights
from exprgrad.cli.command import FormulaCommand
from exprgrad.cli.options import (
    digits_needed,
    formula_arguments,
    output_options_as,
    split_names,
    wrt_option,
)
from exprgrad.cli.request import Request, parse_request, prepare_evaluator
from exprgrad.explain.derivatives import Derivatives, group_label
from exprgrad.language.read.parse import need_number
from exprgrad.run import matrices
from exprgrad.run.matrices import Point
from exprgrad.run.values.directions import read_cotangents, read_tangents, select_outputs
from exprgrad.run.values.inputs import constant_value
from exprgrad.show.text import matrices as drawn
from exprgrad.source import comma_parts

if TYPE_CHECKING:
    from exprgrad.api import Expression
    from exprgrad.graph.graph import Graph
    from exprgrad.run.matrices import DerivativeKind
    from exprgrad.show.text.table import Screen, Table

__all__ = ["hess_command", "jac_command", "jvp_command", "vjp_command"]

by_option = wrt_option("Differentiate with respect to these inputs only.")
of_option = click.option(
    "--of", metavar="NAME[,NAME]", help="Take these named statements as the outputs."
)


class DerivativeRequest(NamedTuple):
    """A request for derivatives: where, and of which outputs.

    ``among_tensors``  whether what is printed has places and shapes
    ``several``        whether the answer is by output, since ``--of`` named them
    """

    text: str
    point: Point
    options: Mapping[str, Any]
    graph: Graph
    among_tensors: bool
    several: bool

    def one_or_all(self, found: Mapping[str, Any]) -> Any:
        """Return results for JSON: by output if ``--of`` named outputs, else of the only one."""
        return dict(found) if self.several else next(iter(found.values()))

    def derivatives(self, kind: DerivativeKind, direction: Mapping[str, Any] = {}) -> Derivatives:
        """Return the requested derivatives, of the outputs or along a direction."""
        point, options = self.point._replace(direction=direction), self.options
        unseen = {"value", "gradient"} if options["quiet"] or options["as_csv"] else {"gradient"}
        unseen = set() if options["as_json"] else unseen  # the gradient is in the document of hess
        return Derivatives(self.text, point, kind, digits_needed(options), unseen)


def read_common_request(
    options: Mapping[str, Any], started: tuple[Expression, Request] | None = None
) -> DerivativeRequest:
    """Read what all four commands share; ``started`` is a request that is parsed already."""
    from exprgrad.run.values.inputs import select_inputs

    options = {"of": None, "wrt": None, **options}
    expression, request = started or parse_request(options)
    evaluator, given = prepare_evaluator(expression, request)
    graph = evaluator.graph
    asked = select_outputs(graph, split_names(options["of"], "--of"))
    wrt = select_inputs(graph, split_names(options["wrt"]))
    point = Point(evaluator, given, asked, wrt, spelled=request.texts)
    among, several = not evaluator.by_entries, options["of"] is not None
    return DerivativeRequest(expression.text, point, options, graph, among, several)


def write_matrices(
    asked: DerivativeRequest,
    command: str,
    derivatives: Derivatives,
    found: Mapping[str, Any],
    rows: Iterable[Sequence[Any]],
    lines: Iterable[tuple[str, Any]],
    foot: str,
    shown: Callable[[str, Screen], Iterable[str | Table]],
) -> int:
    """Write what was found beside the outputs' values; return the exit status.

    People read what is ``shown``; below it come ``foot`` and what is corrected.
    """
    among, several, digits = asked.among_tensors, asked.several, asked.options["digits"]
    below = [foot, *drawn.matrix_corrections(derivatives.settled, digits, several=several)]
    foot = "\n".join(filter(None, below))
    found = {"value": asked.one_or_all(derivatives.true["value"]), **found}
    if derivatives.whole.values:
        found |= drawn.digit_fields(derivatives.whole, found, several=several)
    # Where outputs are chosen, the other statements are not there by mistake.
    diagnostics = [one for one in derivatives.diagnostics if not (several and one.code == "unused")]
    fields = drawn.laid_out_fields(asked.point.inputs, found, diagnostics, among_tensors=among)
    given = fields.items(), rows, lines, partial(shown, foot), diagnostics
    return give_answer(Answer(command, asked.text, *given, apart=among), asked.options)


@click.command("jac", cls=FormulaCommand)
@formula_arguments
@of_option
@by_option
@output_options_as("one line per output")
def jac_command(**options: Any) -> int:
    """Jacobian: each output's derivative with respect to each input."""
    asked, digits, whole = read_common_request(options), options["digits"], options["show_all"]
    several, derivatives = asked.several, asked.derivatives(matrices.JACOBIAN)
    found = derivatives.true["jacobian"]
    is_named = several or asked.graph.output_name is not None
    shown = drawn.DerivativeMatrix(found, asked.among_tensors, "d {row} / d {column}", is_named)
    foot = drawn.outputs_foot(derivatives.true["value"], digits, whole=whole)
    if asked.among_tensors and asked.point.wrt:
        kind, count = matrices.cheaper_products(asked.graph, asked.point.outputs, asked.point.wrt)
        foot += f"\nfound by {count:,} {kind}{'s' * (count != 1)}"
    return write_matrices(
        asked,
        "jac",
        derivatives,
        {"jacobian": found if several else found.row(0)},
        drawn.matrix_rows(shown),
        drawn.entry_lines(found) if several else found.row(0).items(),
        foot,
        lambda foot, screen: drawn.matrix_parts(shown, digits, foot, screen, whole=whole),
    )


@click.command("hess", cls=FormulaCommand)
@formula_arguments
@by_option
@output_options_as("one line per input")
def hess_command(**options: Any) -> int:
    """Hessian: the output's second derivatives.

    A range, x=0:10:101, gives a row for each of its points.
    """
    started = parse_request(options)
    if started[1].has_ranges:
        from exprgrad.cli.ranges import answer_ranges

        return answer_ranges(*started, "hess", options)
    asked, digits, whole = (
        read_common_request(options, started),
        options["digits"],
        options["show_all"],
    )
    need_number(asked.graph, asked.text, "hess")
    derivatives = asked.derivatives(matrices.HESSIAN)
    fields = {field: one for field, one in derivatives.true.items() if field != "value"}
    found = fields["hessian"]
    moving = matrices.nonzero_blocks(asked.point.evaluator, asked.point.wrt)
    called = f"d² {group_label(next(iter(asked.point.outputs)))} / d {{row}} d {{column}}"
    shown = drawn.DerivativeMatrix(found, asked.among_tensors, called, pattern=moving)
    foot = drawn.outputs_foot(derivatives.true["value"], digits)
    count = len(asked.point.wrt) ** 2
    if len(moving) < count:
        what = "blocks" if asked.among_tensors else "entries"
        foot += f"\n{len(moving):,} of {count:,} {what} are not structurally 0"
    places = [list(place) for place in moving]
    return write_matrices(
        asked,
        "hess",
        derivatives,
        {**fields, "pattern": places},
        drawn.matrix_rows(shown, "row", "column"),
        drawn.entry_lines(found),
        foot,
        lambda foot, screen: drawn.matrix_parts(shown, digits, foot, screen, whole=whole),
    )


@click.command("jvp", cls=FormulaCommand)
@formula_arguments
@click.option("--tangent", metavar="NAME=VALUE[,...]", default="", help="How each input moves.")
@of_option
@output_options_as("one line per output")
def jvp_command(**options: Any) -> int:
    """Forward mode: how the outputs change along a direction."""
    asked, written = read_common_request(options), options["tangent"]
    given = read_weights(written, "--tangent") if written.strip() else {}
    direction = read_tangents(asked.graph, asked.text, given)
    derivatives = asked.derivatives(matrices.JVP, direction)
    values, found = derivatives.true.values()
    rows = {name: (value, found[name]) for name, value in values.items()}
    lines = found.items() if asked.several else [("", asked.one_or_all(found))]
    told = {"tangent": direction, "jvp": asked.one_or_all(found)}
    return write_products(asked, "jvp", derivatives, told, lines, ("output", rows, ""))


@click.command("vjp", cls=FormulaCommand)
@formula_arguments
@click.option(
    "--cotangent", metavar="[NAME=]VALUE[,...]", default="1", show_default=True,
    help="The weight of each output.",
)  # fmt: skip
@of_option
@by_option
@output_options_as("one line per input")
def vjp_command(**options: Any) -> int:
    """Reverse mode: the gradient of a weighted sum of outputs."""
    asked = read_common_request(options)
    written = options["cotangent"]
    is_by_name = ASSIGNED.match(written) or len(list(comma_parts(written))) > 1
    given = (read_weights if is_by_name else constant_value)(written, "--cotangent")
    weight = read_cotangents(asked.graph, asked.text, asked.point.outputs, given)
    derivatives = asked.derivatives(matrices.VJP, weight)
    values, found = derivatives.true.values()
    rows = {name: (asked.point.inputs[name], slope) for name, slope in found.items()}
    told = {"cotangent": asked.one_or_all(weight), "vjp": found}
    foot = drawn.outputs_foot(values, options["digits"], weight, whole=options["show_all"])
    return write_products(asked, "vjp", derivatives, told, found.items(), ("input", rows, foot))


def write_products(
    asked: DerivativeRequest,
    command: str,
    derivatives: Derivatives,
    fields: Mapping[str, Any],
    lines: Iterable[tuple[str, Any]],
    table: tuple[str, Mapping[str, tuple[Any, Any]], str],
) -> int:
    """Write what ``jvp`` or ``vjp`` found: by name, a value and what was found for it.

    ``table`` is its first heading, its rows and the text below it.
    """
    heading, rows, foot = table
    digits, whole = asked.options["digits"], asked.options["show_all"]
    headings, numbers = (heading, "value", command), {name: one for name, (_, one) in rows.items()}
    return write_matrices(
        asked,
        command,
        derivatives,
        fields,
        drawn.vector_rows(numbers, among_tensors=asked.among_tensors),
        lines,
        foot,
        lambda foot, _: [drawn.vector_table(headings, rows, digits, foot, whole=whole)],
    )
