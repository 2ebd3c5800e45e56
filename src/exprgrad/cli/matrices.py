"""The commands that ask for more than one gradient: ``jac``, ``hess``, ``jvp``, ``vjp``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from exprgrad.cli.arguments import FormulaCommand
from exprgrad.cli.common import draw, exit_status, formula, names_in, only_one, output_as, start
from exprgrad.cli.output import show_diagnostics, terminal_width, write, write_exactly

if TYPE_CHECKING:
    from exprgrad.draw.text.table import Table
    from exprgrad.explain.diagnostic import Diagnostic
    from exprgrad.graph.graph import Graph
    from exprgrad.run.evaluator import Evaluator

__all__ = [
    "Asked", "Forms", "answer", "hess_command", "jac_command", "jvp_command", "vjp_command",
]  # fmt: skip

wrt_option = click.option(
    "--wrt", metavar="NAME[,NAME]", help="Differentiate with respect to these inputs only."
)
of_option = click.option("--of", metavar="NAME[,NAME]", help="Outputs: these named statements.")


class Asked(NamedTuple):
    """A request that was read, and every node's data."""

    text: str
    evaluator: Evaluator
    inputs: dict[str, Any]
    data: list[Any]
    digits: int
    whole: bool

    @property
    def graph(self) -> Graph:
        """The graph, for these values' shapes."""
        return self.evaluator.graph

    @property
    def is_tensor(self) -> bool:
        """Whether it is about tensors; then ``cli/blocks.py`` answers."""
        return self.graph.shapes is not None

    def outputs(self, of: str | None) -> dict[str, int]:
        """The outputs that ``--of`` names, or the expression's own: name → node."""
        from exprgrad.run.values.directions import outputs

        return outputs(self.graph, None if of is None else names_in(of, "--of"))

    def chosen(self, wrt: str | None) -> tuple[str, ...]:
        """The inputs that ``--wrt`` names, or all."""
        from exprgrad.run.values.inputs import select

        return select(self.graph, None if wrt is None else names_in(wrt))

    def values(self, outputs: Mapping[str, int]) -> dict[str, Any]:
        """The data of outputs."""
        return {name: self.data[node] for name, node in outputs.items()}


def ask(
    arguments: tuple[str, ...], file: str | None, inputs: str | None, options: dict[str, Any]
) -> Asked:
    """Read a request as far as all four commands agree."""
    from exprgrad.run.values.inputs import resolve

    only_one(options)
    expression, request = start(arguments, file, inputs)
    text = expression.text
    given = resolve(expression.graph, text, request.values, request.spelled)
    digits, whole = options["digits"], options["show_all"]
    evaluator = expression.evaluator(given, request.origins)
    return Asked(text, evaluator, given, evaluator.forward(given), digits, whole)


class Forms(NamedTuple):
    """An answer in every form: JSON's fields, CSV, lines for scripts, and tables so many cells wide."""

    fields: Mapping[str, Any]
    csv: Iterable[str]
    quiet: Iterable[str]
    table: Callable[[int | None], Table | list[str | Table]]


def answer(
    asked: Asked, options: dict[str, Any], command: str, forms: Forms, diagnostics: list[Diagnostic]
) -> int:
    """Write an answer in the form that was asked for, and its diagnostics; return the exit status."""
    if options["as_json"]:
        write(document(asked, command, forms.fields, diagnostics))
    elif options["as_csv"]:
        write_exactly(forms.csv)
    elif options["quiet"]:
        write_exactly(forms.quiet)
    else:
        content = forms.table(terminal_width() if sys.stdout.isatty() else None)
        for part in content if isinstance(content, list) else [content]:
            write([part if isinstance(part, str) else draw(part, options["color"]), "\n"])
    if not options["as_json"]:
        show_diagnostics(asked.text, diagnostics, options["color"])
    return exit_status(options, diagnostics)


def document(
    asked: Asked, command: str, fields: Mapping[str, Any], diagnostics: list[Diagnostic]
) -> Iterable[str]:
    """An answer as a JSON document."""
    if asked.is_tensor:
        from exprgrad.draw.text.blocks import block_document

        given = command, asked.text, asked.inputs, fields, diagnostics
        return block_document(*given, whole=asked.whole)
    from exprgrad.draw.text.matrices import document

    return document(command, asked.text, asked.inputs, fields, diagnostics)


@click.command("jac", cls=FormulaCommand)
@formula
@of_option
@wrt_option
@output_as("one line per output")
def jac_command(
    arguments: tuple[str, ...],
    file: str | None,
    inputs: str | None,
    of: str | None,
    wrt: str | None,
    **options: Any,
) -> int:
    """Jacobian: each output's derivative with respect to each input."""
    from exprgrad.draw.text import matrices as drawn
    from exprgrad.explain.diagnostics import diagnose_outputs
    from exprgrad.run.matrices import jacobian

    asked = ask(arguments, file, inputs, options)
    if asked.is_tensor:
        from exprgrad.cli import blocks

        return blocks.jac(asked, of, wrt, options)
    outputs, chosen = asked.outputs(of), asked.chosen(wrt)
    found = jacobian(asked.evaluator, asked.inputs, outputs, chosen)
    values = asked.values(outputs)
    foot = drawn.outputs_foot(values, asked.digits, whole=asked.whole)
    forms = Forms(
        {
            "value": drawn.answers(values, of),
            "jacobian": found if of else drawn.named(found.row(0)),
        },
        drawn.matrix_csv(found),
        drawn.matrix_lines(found) if of else drawn.pairs_lines(found.row(0)),
        lambda width: drawn.matrix_table(found, asked.digits, foot, whole=asked.whole, width=width),
    )
    diagnostics = diagnose_outputs(
        asked.text, asked.evaluator, asked.inputs, outputs, chosen, unused=of is None
    )
    return answer(asked, options, "jac", forms, diagnostics)


@click.command("hess", cls=FormulaCommand)
@formula
@wrt_option
@output_as("one line per input")
def hess_command(
    arguments: tuple[str, ...],
    file: str | None,
    inputs: str | None,
    wrt: str | None,
    **options: Any,
) -> int:
    """Hessian: the output's second derivatives."""
    from exprgrad.draw.text import matrices as drawn
    from exprgrad.explain.diagnostics import diagnose_hessian
    from exprgrad.run.matrices import gradient, hessian

    asked = ask(arguments, file, inputs, options)
    if asked.is_tensor:
        from exprgrad.cli import blocks

        return blocks.hess(asked, wrt, options)
    outputs, chosen = asked.outputs(None), asked.chosen(wrt)
    found = hessian(asked.evaluator, asked.inputs, chosen)
    values = asked.values(outputs)
    feet = [drawn.outputs_foot(values, asked.digits), drawn.pattern_foot(found)]
    foot = "\n".join(filter(None, feet))
    slopes = gradient(asked.evaluator, asked.inputs, chosen)
    fields = {
        "value": drawn.answers(values, None),
        "gradient": drawn.named(slopes),
        "hessian": found,
        "pattern": [place[:2] for place in found.listed()],
    }
    forms = Forms(
        fields,
        drawn.matrix_csv(found),
        drawn.matrix_lines(found),
        lambda width: drawn.matrix_table(found, asked.digits, foot, whole=asked.whole, width=width),
    )
    diagnostics = diagnose_hessian(asked.text, asked.evaluator, asked.inputs, chosen, found)
    return answer(asked, options, "hess", forms, diagnostics)


@click.command("jvp", cls=FormulaCommand)
@formula
@click.option("--tangent", metavar="NAME=VALUE[,...]", default="", help="How each input moves.")
@of_option
@output_as("one line per output")
def jvp_command(
    arguments: tuple[str, ...],
    file: str | None,
    inputs: str | None,
    tangent: str,
    of: str | None,
    **options: Any,
) -> int:
    """Forward mode: how the outputs change along a direction."""
    from exprgrad.cli.weights import weights
    from exprgrad.draw.text import matrices as drawn
    from exprgrad.explain.diagnostics import diagnose_outputs
    from exprgrad.run.matrices import jvp
    from exprgrad.run.values.directions import tangents

    asked = ask(arguments, file, inputs, options)
    if asked.is_tensor:
        from exprgrad.cli import blocks

        return blocks.jvp(asked, tangent, of, options)
    outputs = asked.outputs(of)
    direction = tangents(
        asked.graph, asked.text, weights(tangent, "--tangent") if tangent.strip() else {}
    )
    found = jvp(asked.evaluator, asked.inputs, outputs, direction)
    values = asked.values(outputs)
    rows = {name: (values[name], found[name]) for name in outputs}
    forms = Forms(
        {
            "value": drawn.answers(values, of),
            "tangent": drawn.named(direction),
            "jvp": drawn.answers(found, of),
        },
        drawn.pairs_csv(found),
        drawn.pairs_lines(found) if of else [f"{number!r}\n" for number in found.values()],
        lambda _: drawn.pairs_table(
            ("output", "value", "jvp"), rows, asked.digits, whole=asked.whole
        ),
    )
    moving = [name for name, number in direction.items() if number != 0]
    diagnostics = diagnose_outputs(
        asked.text, asked.evaluator, asked.inputs, outputs, moving, unused=of is None
    )
    return answer(asked, options, "jvp", forms, diagnostics)


@click.command("vjp", cls=FormulaCommand)
@formula
@click.option(
    "--cotangent", metavar="[NAME=]VALUE[,...]", default="1", show_default=True,
    help="What each output weighs.",
)  # fmt: skip
@of_option
@wrt_option
@output_as("one line per input")
def vjp_command(
    arguments: tuple[str, ...],
    file: str | None,
    inputs: str | None,
    cotangent: str,
    of: str | None,
    wrt: str | None,
    **options: Any,
) -> int:
    """Reverse mode: the gradient of a weighted sum of outputs."""
    from exprgrad.cli.weights import number_or_weights
    from exprgrad.draw.text import matrices as drawn
    from exprgrad.explain.diagnostics import diagnose_outputs
    from exprgrad.run.matrices import vjp
    from exprgrad.run.values.directions import cotangents

    asked = ask(arguments, file, inputs, options)
    if asked.is_tensor:
        from exprgrad.cli import blocks

        return blocks.vjp(asked, cotangent, of, wrt, options)
    outputs, chosen = asked.outputs(of), asked.chosen(wrt)
    given = number_or_weights(cotangent, "--cotangent")
    weight = cotangents(asked.graph, asked.text, outputs, given)
    found = vjp(asked.evaluator, asked.inputs, outputs, weight, chosen)
    values = asked.values(outputs)
    foot = drawn.outputs_foot(values, asked.digits, weight, whole=asked.whole)
    rows = {name: (asked.inputs[name], number) for name, number in found.items()}
    forms = Forms(
        {
            "value": drawn.answers(values, of),
            "cotangent": drawn.answers(weight, of),
            "vjp": drawn.named(found),
        },
        drawn.pairs_csv(found),
        drawn.pairs_lines(found),
        lambda _: drawn.pairs_table(
            ("input", "value", "vjp"), rows, asked.digits, foot, whole=asked.whole
        ),
    )
    swept = [name for name, number in weight.items() if number != 0]
    diagnostics = diagnose_outputs(
        asked.text, asked.evaluator, asked.inputs, outputs, chosen, swept=swept, unused=of is None
    )
    return answer(asked, options, "vjp", forms, diagnostics)
