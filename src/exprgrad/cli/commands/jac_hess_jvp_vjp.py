"""The commands that ask for more than one gradient: ``jac``, ``hess``, ``jvp``, ``vjp``."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from exprgrad.cli.command import (
    Answer,
    FormulaCommand,
    Request,
    digits_shown,
    evaluator_of,
    formula,
    give,
    listed_names,
    output_as,
    start,
    wrt_option,
)
from exprgrad.explain.diagnostics import (
    answered,
    diagnose_hessian,
    diagnose_outputs,
    settled_by_sides,
    told_once,
)
from exprgrad.language.read.parse import need_number
from exprgrad.run import matrices
from exprgrad.run.evaluation import Run
from exprgrad.run.matrices import Point
from exprgrad.show.text import matrices as drawn

if TYPE_CHECKING:
    from exprgrad.api import Expression
    from exprgrad.run.evaluation import Diagnostic, Evaluator, Settled
    from exprgrad.run.matrices import Kind
    from exprgrad.show.text.table import Screen, Table

__all__ = ["hess_command", "jac_command", "jvp_command", "vjp_command"]

by_option = wrt_option("Differentiate with respect to these inputs only.")
of_option = click.option(
    "--of", metavar="NAME[,NAME]", help="Take these named statements as the outputs."
)


class Asked(NamedTuple):
    """A request that was read: the outputs, name → node, their values, and the inputs to differentiate.

    ``run`` is the forward sweep.
    """

    run: Run
    evaluator: Evaluator
    outputs: dict[str, int]
    values: dict[str, Any]
    wrt: tuple[str, ...]
    options: Mapping[str, Any]

    @property
    def among_tensors(self) -> bool:
        """Whether what is printed has places and shapes."""
        return not self.evaluator.by_entries

    @property
    def several(self) -> bool:
        """Whether the answer is by output, since ``--of`` named them."""
        return self.options["of"] is not None

    def one_or_all(self, found: Mapping[str, Any]) -> Any:
        """What JSON says of outputs: by name if ``--of`` named them, else of the only one."""
        return dict(found) if self.several else next(iter(found.values()))

    def guarded(
        self, kind: Kind, direction: Mapping[str, Any] = {}
    ) -> tuple[Asked, dict[str, Any], Settled]:
        """The derivatives that were swept, by field, and what becomes of them.

        The same becomes of the outputs' values, which are put in.
        """
        (output, *_), options = self.outputs, self.options
        run = self.run
        point = Point(self.evaluator, run.inputs, self.outputs, self.wrt, direction, run.spelled)
        swept: dict[str, Any] = kind.sweep(point)
        label, digits = partial(drawn.number_label, output=output), digits_shown(options)
        unseen = {"value", "gradient"} if options["quiet"] or options["as_csv"] else {"gradient"}
        unseen = set() if options["as_json"] else unseen  # the gradient is in the document of hess
        fields = {"value": self.values, **swept}
        found = answered(run, point, kind, fields, label, digits, unseen)
        outputs = {name: value for (name,), value in found.among("value").values.items()}
        return self._replace(values=self.values | outputs), swept, found


def ask(options: Mapping[str, Any], started: tuple[Expression, Request] | None = None) -> Asked:
    """Read a request as far as all four commands agree, if it has not been ``started`` to be read."""
    from exprgrad.run.values.directions import outputs
    from exprgrad.run.values.inputs import select

    options = {"of": None, "wrt": None, **options}
    expression, request = started or start(options)
    evaluator, given = evaluator_of(expression, request)
    graph, data = evaluator.graph, evaluator.forward(given)
    run = Run(expression.text, graph, given, data, spelled=request.texts)
    asked = outputs(graph, listed_names(options["of"], "--of"))
    values = {name: data[node] for name, node in asked.items()}
    wrt = select(graph, listed_names(options["wrt"]))
    return Asked(run, evaluator, asked, values, wrt, options)


def told(
    asked: Asked,
    command: str,
    found: Mapping[str, Any],
    rows: Iterable[Sequence[Any]],
    lines: Iterable[tuple[str, Any]],
    shown: Callable[[Screen], Iterable[str | Table]],
    diagnostics: list[Diagnostic],
    guard: Settled,
) -> int:
    """Write what was found beside the outputs' values; return the exit status."""
    among = asked.among_tensors
    found = {"value": asked.one_or_all(asked.values), **found}
    if guard.values:
        found |= drawn.digit_fields(guard, found, several=asked.several)
    diagnostics = told_once(diagnostics, guard)
    fields = drawn.fields_of(asked.run.inputs, found, diagnostics, among_tensors=among)
    given = fields.items(), rows, lines, shown, diagnostics
    return give(Answer(command, asked.run.text, *given, apart=among), asked.options)


def diagnose(
    asked: Asked, wrt: Sequence[str], answers: Iterable[Any], swept: Collection[str] | None = None
) -> list[Diagnostic]:
    """What is worth knowing about the outputs and their derivatives, the ``answers``."""
    answers = answers if asked.among_tensors else ()
    given = asked.run.text, asked.evaluator, asked.run.inputs, asked.outputs, wrt, answers
    unused = asked.options["of"] is None
    return diagnose_outputs(*given, swept=swept, unused=unused, spelled=asked.run.spelled)


@click.command("jac", cls=FormulaCommand)
@formula
@of_option
@by_option
@output_as("one line per output")
def jac_command(**options: Any) -> int:
    """Jacobian: each output's derivative with respect to each input."""
    asked, digits, whole = ask(options), options["digits"], options["show_all"]
    several, (asked, fields, guard) = asked.several, asked.guarded(matrices.JACOBIAN)
    swept = fields["jacobian"]
    found = drawn.corrected_matrix(swept, guard, "jacobian")
    is_named = several or asked.run.graph.output_name is not None
    shown = drawn.Derivative(found, asked.among_tensors, "d {row} / d {column}", is_named)
    foot = drawn.outputs_foot(asked.values, digits, whole=whole)
    foot = "\n".join([foot, *drawn.correction_lines(guard, digits, several=several)])
    if asked.among_tensors and asked.wrt:
        kind, count = matrices.sweeps(asked.run.graph, asked.outputs, asked.wrt)
        foot += f"\nfound by {count:,} {kind}{'s' * (count != 1)}"
    return told(
        asked,
        "jac",
        {"jacobian": found if several else found.row(0)},
        drawn.matrix_rows(shown),
        drawn.entry_lines(found) if several else found.row(0).items(),
        lambda screen: drawn.matrix_parts(shown, digits, foot, screen, whole=whole),
        diagnose(asked, asked.wrt, swept.entries.values()),
        drawn.with_zeros(guard, found, "jacobian"),
    )


@click.command("hess", cls=FormulaCommand)
@formula
@by_option
@output_as("one line per input")
def hess_command(**options: Any) -> int:
    """Hessian: the output's second derivatives.

    A range, x=0:10:101, gives a row for each of its points.
    """
    started = start(options)
    if started[1].has_ranges:
        from exprgrad.cli.ranges import over_ranges

        return over_ranges(*started, "hess", options)
    asked, digits, whole = ask(options, started), options["digits"], options["show_all"]
    need_number(asked.run.graph, asked.run.text, "hess")
    point = asked.run.inputs, asked.wrt
    asked, fields, guard = asked.guarded(matrices.HESSIAN)
    swept, gradient = fields["hessian"], fields["gradient"]
    by_sides = settled_by_sides(asked.run.text, asked.evaluator, *point, swept)
    guard = guard.joined(by_sides)
    corrections = [*drawn.correction_lines(guard, digits, several=False)]
    guard = drawn.mirrored(guard, swept)
    found = drawn.corrected_matrix(swept, guard, "hessian")
    gradient |= {name: slope for (name,), slope in guard.among("gradient").values.items()}
    moving = matrices.pattern(asked.evaluator, asked.wrt)
    called = f"d² {drawn.grouped(next(iter(asked.outputs)))} / d {{row}} d {{column}}"
    shown = drawn.Derivative(found, asked.among_tensors, called, pattern=moving)
    foot = drawn.outputs_foot(asked.values, digits)
    count = len(asked.wrt) ** 2
    if len(moving) < count:
        what = "blocks" if asked.among_tensors else "entries"
        foot += f"\n{len(moving):,} of {count:,} {what} are not structurally 0"
    foot = "\n".join([foot, *corrections])
    places = [list(place) for place in moving]
    return told(
        asked,
        "hess",
        {"gradient": gradient, "hessian": found, "pattern": places},
        drawn.matrix_rows(shown, "row", "column"),
        drawn.entry_lines(found),
        lambda screen: drawn.matrix_parts(shown, digits, foot, screen, whole=whole),
        diagnose_hessian(asked.run.text, asked.evaluator, *point, found, asked.run.spelled),
        drawn.with_zeros(guard, found, "hessian"),
    )


@click.command("jvp", cls=FormulaCommand)
@formula
@click.option("--tangent", metavar="NAME=VALUE[,...]", default="", help="How each input moves.")
@of_option
@output_as("one line per output")
def jvp_command(**options: Any) -> int:
    """Forward mode: how the outputs change along a direction."""
    from exprgrad.cli.assignments import weights
    from exprgrad.run.values.directions import tangents

    asked, written = ask(options), options["tangent"]
    given = weights(written, "--tangent") if written.strip() else {}
    direction = tangents(asked.run.graph, asked.run.text, given)
    asked, fields, guard = asked.guarded(matrices.JVP, direction)
    swept = fields["jvp"]
    found = swept | {name: slope for (name,), slope in guard.among("jvp").values.items()}
    moving = [name for name, tangent in direction.items() if matrices.moves(tangent)]
    rows = {name: (value, found[name]) for name, value in asked.values.items()}
    lines = found.items() if asked.several else [("", asked.one_or_all(found))]
    told = {"tangent": direction, "jvp": asked.one_or_all(found)}
    diagnostics = diagnose(asked, moving, swept.values())
    return vector(asked, "jvp", told, lines, ("output", rows, ""), diagnostics, guard)


@click.command("vjp", cls=FormulaCommand)
@formula
@click.option(
    "--cotangent", metavar="[NAME=]VALUE[,...]", default="1", show_default=True,
    help="The weight of each output.",
)  # fmt: skip
@of_option
@by_option
@output_as("one line per input")
def vjp_command(**options: Any) -> int:
    """Reverse mode: the gradient of a weighted sum of outputs."""
    from exprgrad.cli.assignments import number_or_weights
    from exprgrad.run.values.directions import cotangents

    asked = ask(options)
    given = number_or_weights(options["cotangent"], "--cotangent")
    weight = cotangents(asked.run.graph, asked.run.text, asked.outputs, given)
    asked, fields, guard = asked.guarded(matrices.VJP, weight)
    swept = fields["vjp"]
    found = swept | {name: slope for (name,), slope in guard.among("vjp").values.items()}
    weighed = [name for name, cotangent in weight.items() if matrices.moves(cotangent)]
    rows = {name: (asked.run.inputs[name], slope) for name, slope in found.items()}
    told = {"cotangent": asked.one_or_all(weight), "vjp": found}
    foot = drawn.outputs_foot(asked.values, options["digits"], weight, whole=options["show_all"])
    diagnostics = diagnose(asked, asked.wrt, swept.values(), weighed)
    return vector(asked, "vjp", told, found.items(), ("input", rows, foot), diagnostics, guard)


def vector(
    asked: Asked,
    command: str,
    fields: Mapping[str, Any],
    lines: Iterable[tuple[str, Any]],
    table: tuple[str, Mapping[str, tuple[Any, Any]], str],
    diagnostics: list[Diagnostic],
    guard: Settled,
) -> int:
    """Write what ``jvp`` or ``vjp`` found: by name, a value and what was found for it.

    ``table`` is its first heading, its rows and what stands below it.
    """
    heading, rows, foot = table
    digits, whole = asked.options["digits"], asked.options["show_all"]
    below = drawn.correction_lines(guard, digits, several=asked.several)
    foot = "\n".join(part for part in (foot, *below) if part)
    numbers = {name: found for name, (_, found) in rows.items()}
    return told(
        asked,
        command,
        fields,
        drawn.vector_rows(numbers, among_tensors=asked.among_tensors),
        lines,
        lambda _: [
            drawn.vector_table((heading, "value", command), rows, digits, foot, whole=whole)
        ],
        diagnostics,
        guard,
    )
