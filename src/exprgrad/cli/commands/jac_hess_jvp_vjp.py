"""The commands that ask for more than one gradient: ``jac``, ``hess``, ``jvp``, ``vjp``."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from exprgrad.cli.output import give
from exprgrad.cli.request import (
    FormulaCommand,
    evaluator_of,
    formula,
    names_in,
    output_as,
    start,
    wrt_option,
)
from exprgrad.show.documents.answer import Answer

if TYPE_CHECKING:
    from exprgrad.explain.diagnostic import Diagnostic
    from exprgrad.graph.graph import Graph
    from exprgrad.run.evaluation import Evaluator
    from exprgrad.show.text.table import Screen, Table

__all__ = ["hess_command", "jac_command", "jvp_command", "vjp_command"]

by_option = wrt_option("Differentiate with respect to these inputs only.")
of_option = click.option("--of", metavar="NAME[,NAME]", help="Outputs: these named statements.")


class Asked(NamedTuple):
    """A request that was read: the outputs, name → node, and the inputs to differentiate."""

    command: str
    text: str
    evaluator: Evaluator
    inputs: dict[str, Any]
    data: list[Any]
    outputs: dict[str, int]
    wrt: tuple[str, ...]
    of: str | None
    digits: int
    whole: bool

    @property
    def graph(self) -> Graph:
        """The graph, for these values' shapes."""
        return self.evaluator.graph

    @property
    def among_tensors(self) -> bool:
        """Whether what is printed has places and shapes."""
        return bool(self.graph.shapes)

    @property
    def values(self) -> dict[str, Any]:
        """The data of the outputs."""
        return {name: self.data[node] for name, node in self.outputs.items()}

    def one_or_all(self, found: Mapping[str, Any]) -> Any:
        """What JSON says of outputs: by name if ``--of`` named them, else of the only one."""
        return dict(found) if self.of is not None else next(iter(found.values()))


def ask(command: str, options: Mapping[str, Any]) -> Asked:
    """Read a request as far as all four commands agree."""
    from exprgrad.run.values.directions import outputs
    from exprgrad.run.values.inputs import select

    expression, request = start(options)
    evaluator, given = evaluator_of(expression, request)
    graph, of = evaluator.graph, options.get("of")
    return Asked(
        command,
        expression.text,
        evaluator,
        given,
        evaluator.forward(given),
        outputs(graph, names_in(of, "--of")),
        select(graph, names_in(options.get("wrt"))),
        of,
        options["digits"],
        options["show_all"],
    )


def answer(
    asked: Asked,
    found: Mapping[str, Any],
    rows: Iterable[Sequence[Any]],
    lines: Iterable[tuple[str, Any]],
    shown: Callable[[Screen], Iterable[str | Table]],
    diagnostics: list[Diagnostic],
) -> Answer:
    """The answer that has found so much beside the outputs' values."""
    from exprgrad.show.text.matrices import fields_of

    among = asked.among_tensors
    found = {"value": asked.one_or_all(asked.values), **found}
    fields = fields_of(asked.inputs, found, diagnostics, among_tensors=among)
    given = fields.items(), rows, lines, shown, diagnostics
    return Answer(asked.command, asked.text, *given, apart=among)


def diagnose(
    asked: Asked, wrt: Sequence[str], answers: Iterable[Any], swept: Collection[str] | None = None
) -> list[Diagnostic]:
    """What is worth knowing about the outputs and their derivatives, the ``answers``."""
    from exprgrad.explain.diagnostics import diagnose_outputs

    answers = answers if asked.among_tensors else ()
    given = asked.text, asked.evaluator, asked.inputs, asked.outputs, wrt, answers
    return diagnose_outputs(*given, swept=swept, unused=asked.of is None)


@click.command("jac", cls=FormulaCommand)
@formula
@of_option
@by_option
@output_as("one line per output")
def jac_command(**options: Any) -> int:
    """Jacobian: each output's derivative with respect to each input."""
    from exprgrad.run.matrices import jacobian
    from exprgrad.show.text import matrices as drawn

    asked = ask("jac", options)
    found = jacobian(asked.evaluator, asked.inputs, asked.outputs, asked.wrt)
    is_named = asked.of is not None or asked.graph.output_name is not None
    shown = drawn.Derivative(found, asked.among_tensors, "d {row} / d {column}", is_named)
    foot = drawn.outputs_foot(asked.values, asked.digits, whole=asked.whole) + sweeps_foot(asked)
    diagnostics = diagnose(asked, asked.wrt, found.entries.values())
    return give(
        answer(
            asked,
            {"jacobian": found if asked.of is not None else found.row(0)},
            drawn.matrix_rows(shown),
            drawn.entry_lines(found) if asked.of is not None else found.row(0).items(),
            lambda screen: drawn.matrix_parts(shown, asked.digits, foot, screen, whole=asked.whole),
            diagnostics,
        ),
        options,
    )


def sweeps_foot(asked: Asked) -> str:
    """How many products a Jacobian among tensors was made of."""
    from exprgrad.run.matrices import sweeps

    if not (asked.among_tensors and asked.wrt):
        return ""
    kind, count = sweeps(asked.graph, asked.outputs, asked.wrt)
    return f"\nfound by {count:,} {kind}{'s' * (count != 1)}"


@click.command("hess", cls=FormulaCommand)
@formula
@by_option
@output_as("one line per input")
def hess_command(**options: Any) -> int:
    """Hessian: the output's second derivatives."""
    from exprgrad.explain.diagnostics import diagnose_hessian
    from exprgrad.language.read.parse import need_number
    from exprgrad.run.matrices import gradient, hessian, pattern
    from exprgrad.show.text import matrices as drawn

    asked = ask("hess", options)
    need_number(asked.graph, asked.text, "hess")
    found = hessian(asked.evaluator, asked.inputs, asked.wrt)
    moving = pattern(asked.evaluator, asked.wrt)
    label = drawn.grouped(next(iter(asked.outputs)))
    called = f"d² {label} / d {{row}} d {{column}}"
    shown = drawn.Derivative(found, asked.among_tensors, called, pattern=moving)
    foot = drawn.outputs_foot(asked.values, asked.digits)
    count = len(asked.wrt) ** 2
    if len(moving) < count:
        what = "blocks" if asked.among_tensors else "entries"
        foot += f"\n{len(moving):,} of {count:,} {what} are not structurally 0"
    slopes = gradient(asked.evaluator, asked.inputs, asked.wrt)
    places = [list(place) for place in moving]
    diagnostics = diagnose_hessian(asked.text, asked.evaluator, asked.inputs, asked.wrt, found)
    return give(
        answer(
            asked,
            {"gradient": slopes, "hessian": found, "pattern": places},
            drawn.matrix_rows(shown, "row", "column"),
            drawn.entry_lines(found),
            lambda screen: drawn.matrix_parts(shown, asked.digits, foot, screen, whole=asked.whole),
            diagnostics,
        ),
        options,
    )


@click.command("jvp", cls=FormulaCommand)
@formula
@click.option("--tangent", metavar="NAME=VALUE[,...]", default="", help="How each input moves.")
@of_option
@output_as("one line per output")
def jvp_command(**options: Any) -> int:
    """Forward mode: how the outputs change along a direction."""
    from exprgrad.cli.assignments import weights
    from exprgrad.run.matrices import jvp, moves
    from exprgrad.run.values.directions import tangents

    asked, written = ask("jvp", options), options["tangent"]
    given = weights(written, "--tangent") if written.strip() else {}
    direction = tangents(asked.graph, asked.text, given)
    found = jvp(asked.evaluator, asked.inputs, asked.outputs, direction)
    moving = [name for name, tangent in direction.items() if moves(tangent)]
    rows = {name: (asked.values[name], found[name]) for name in asked.outputs}
    lines = found.items() if asked.of is not None else [("", value) for value in found.values()]
    fields = {"tangent": direction, "jvp": asked.one_or_all(found)}
    diagnostics = diagnose(asked, moving, found.values())
    return give(vector(asked, fields, lines, "output", rows, "", diagnostics), options)


@click.command("vjp", cls=FormulaCommand)
@formula
@click.option(
    "--cotangent", metavar="[NAME=]VALUE[,...]", default="1", show_default=True,
    help="What each output weighs.",
)  # fmt: skip
@of_option
@by_option
@output_as("one line per input")
def vjp_command(**options: Any) -> int:
    """Reverse mode: the gradient of a weighted sum of outputs."""
    from exprgrad.cli.assignments import number_or_weights
    from exprgrad.run.matrices import moves, vjp
    from exprgrad.run.values.directions import cotangents
    from exprgrad.show.text.matrices import outputs_foot

    asked = ask("vjp", options)
    given = number_or_weights(options["cotangent"], "--cotangent")
    weight = cotangents(asked.graph, asked.text, asked.outputs, given)
    found = vjp(asked.evaluator, asked.inputs, asked.outputs, weight, asked.wrt)
    swept = [name for name, cotangent in weight.items() if moves(cotangent)]
    rows = {name: (asked.inputs[name], slope) for name, slope in found.items()}
    fields = {"cotangent": asked.one_or_all(weight), "vjp": found}
    foot = outputs_foot(asked.values, asked.digits, weight, whole=asked.whole)
    diagnostics = diagnose(asked, asked.wrt, found.values(), swept)
    return give(vector(asked, fields, found.items(), "input", rows, foot, diagnostics), options)


def vector(
    asked: Asked,
    fields: Mapping[str, Any],
    lines: Iterable[tuple[str, Any]],
    heading: str,
    rows: Mapping[str, tuple[Any, Any]],
    foot: str,
    diagnostics: list[Diagnostic],
) -> Answer:
    """The answer of ``jvp`` or ``vjp``: by name, a value and what was found for it."""
    from exprgrad.show.text.matrices import vector_rows, vector_table

    def shown(screen: Screen) -> Iterator[Table]:
        headings = heading, "value", asked.command
        yield vector_table(headings, rows, asked.digits, foot, whole=asked.whole)

    numbers = {name: found for name, (_, found) in rows.items()}
    cells = vector_rows(numbers, among_tensors=asked.among_tensors)
    return answer(asked, fields, cells, lines, shown, diagnostics)
