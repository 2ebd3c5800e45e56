"""``jac``, ``hess``, ``jvp`` and ``vjp`` where tensors are met."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from exprgrad.cli.matrices import Asked, Forms, answer
from exprgrad.cli.weights import number_or_weights, weights
from exprgrad.draw.text import blocks as drawn
from exprgrad.explain.diagnostic import Diagnostic
from exprgrad.explain.diagnostics import diagnose_hessian, diagnose_outputs
from exprgrad.graph.literal import Shape
from exprgrad.language.read.shaping import need_number
from exprgrad.run import matrices
from exprgrad.run.values import directions

__all__ = ["hess", "jac", "jvp", "vjp"]


def shapes_of(asked: Asked, nodes: Mapping[str, int]) -> dict[str, Shape]:
    """The shapes of nodes, by name."""
    return {name: asked.graph.shape(node) for name, node in nodes.items()}


def blocks_of(
    asked: Asked,
    found: matrices.Matrix,
    rows: Mapping[str, int],
    columns: Sequence[str],
    called: Callable[[str, str], str],
    *,
    named: bool = True,
) -> list[drawn.Block]:
    """A matrix block by block, each ``called`` so; ``named``: whether the rows have names."""
    row_shapes = shapes_of(asked, rows)
    column_shapes = shapes_of(asked, {name: asked.graph.inputs[name] for name in columns})
    return [
        drawn.Block(
            called(row, name),
            row,
            row_shapes[row],
            name,
            column_shapes[name],
            found.block(at, place),
            named,
        )
        for at, row in enumerate(rows)
        for place, name in enumerate(columns)
    ]


def jac(asked: Asked, of: str | None, wrt: str | None, options: dict[str, Any]) -> int:
    """The Jacobian of each output with respect to each input."""
    outputs, chosen = asked.outputs(of), asked.chosen(wrt)
    kind, count = matrices.sweeps(asked.graph, outputs, chosen)
    found = matrices.jacobian(asked.evaluator, asked.inputs, outputs, chosen)
    values = asked.values(outputs)
    named = of is not None or asked.graph.output_name is not None
    blocks = blocks_of(
        asked,
        found,
        outputs,
        chosen,
        lambda row, column: f"d {drawn.grouped(row)} / d {column}",
        named=named,
    )
    feet = [drawn.outputs_foot(values, asked.digits, whole=asked.whole)]
    if blocks:
        feet.append(f"found by {count:,} {kind}{'s' * (count != 1)}")
    forms = Forms(
        {
            "value": drawn.answers(values, of),
            "jacobian": drawn.answers(found.whole(), of),
        },
        drawn.block_csv(blocks),
        drawn.block_lines(blocks) if of else drawn.numbers_lines(found.row(0)),
        lambda width: [
            *drawn.sections(blocks, asked.digits, whole=asked.whole, width=width),
            *feet,
        ],
    )
    diagnostics = diagnose(asked, outputs, chosen, of, [block.value for block in blocks])
    return answer(asked, options, "jac", forms, diagnostics)


def diagnose(
    asked: Asked,
    outputs: Mapping[str, int],
    wrt: Sequence[str],
    of: str | None,
    answers: Iterable[Any],
    swept: Collection[str] | None = None,
) -> list[Diagnostic]:
    """What is worth knowing about outputs and their derivatives, the ``answers``."""
    given = asked.text, asked.evaluator, asked.inputs, outputs, wrt, answers
    return diagnose_outputs(*given, swept=swept, unused=of is None)


def hess(asked: Asked, wrt: str | None, options: dict[str, Any]) -> int:
    """The Hessian of an output that is a number."""
    outputs, chosen = asked.outputs(None), asked.chosen(wrt)
    need_number(asked.graph, asked.text, "hess")
    found = matrices.hessian(asked.evaluator, asked.inputs, chosen)
    pattern = matrices.pattern(asked.evaluator, chosen)
    values = asked.values(outputs)
    rows = {name: asked.graph.inputs[name] for name in chosen}
    label = drawn.grouped(next(iter(outputs)))
    blocks = blocks_of(
        asked, found, rows, chosen, lambda row, column: f"d² {label} / d {row} d {column}"
    )
    shown = [block for block in blocks if (block.row, block.column) in pattern]
    feet = [drawn.outputs_foot(values, asked.digits)]
    if len(shown) < len(blocks):
        feet.append(f"{len(shown):,} of {len(blocks):,} blocks are not structurally 0")
    gradient = matrices.gradient(asked.evaluator, asked.inputs, chosen)
    forms = Forms(
        {
            "value": drawn.answers(values, None),
            "gradient": gradient,
            "hessian": found.whole(),
            "pattern": [list(place) for place in pattern],
        },
        drawn.block_csv(blocks, "row", "column"),
        drawn.block_lines(blocks),
        lambda width: [
            *drawn.sections(shown, asked.digits, whole=asked.whole, width=width),
            *feet,
        ],
    )
    diagnostics = diagnose_hessian(asked.text, asked.evaluator, asked.inputs, chosen, found)
    return answer(asked, options, "hess", forms, diagnostics)


def jvp(asked: Asked, tangent: str, of: str | None, options: dict[str, Any]) -> int:
    """How the outputs change along a direction."""
    outputs = asked.outputs(of)
    given = weights(tangent, "--tangent") if tangent.strip() else {}
    direction = directions.tangents(asked.graph, asked.text, given)
    found = matrices.jvp(asked.evaluator, asked.inputs, outputs, direction)
    values = asked.values(outputs)
    rows = {name: (values[name], found[name]) for name in outputs}
    forms = Forms(
        {
            "value": drawn.answers(values, of),
            "tangent": direction,
            "jvp": drawn.answers(found, of),
        },
        drawn.numbers_csv(found),
        drawn.numbers_lines(found, named=of is not None),
        lambda _: drawn.numbers_table(
            ("output", "value", "jvp"), rows, asked.digits, whole=asked.whole
        ),
    )
    moving = [name for name, tangent in direction.items() if is_moving(tangent)]
    diagnostics = diagnose(asked, outputs, moving, of, found.values())
    return answer(asked, options, "jvp", forms, diagnostics)


def vjp(
    asked: Asked, cotangent: str, of: str | None, wrt: str | None, options: dict[str, Any]
) -> int:
    """The gradient of a weighted sum of outputs."""
    outputs, chosen = asked.outputs(of), asked.chosen(wrt)
    given = number_or_weights(cotangent, "--cotangent")
    weight = directions.cotangents(asked.graph, asked.text, outputs, given)
    found = matrices.vjp(asked.evaluator, asked.inputs, outputs, weight, chosen)
    values = asked.values(outputs)
    foot = drawn.outputs_foot(values, asked.digits, weight, whole=asked.whole)
    rows = {name: (asked.inputs[name], number) for name, number in found.items()}
    forms = Forms(
        {
            "value": drawn.answers(values, of),
            "cotangent": drawn.answers(weight, of),
            "vjp": found,
        },
        drawn.numbers_csv(found),
        drawn.numbers_lines(found),
        lambda _: drawn.numbers_table(
            ("input", "value", "vjp"), rows, asked.digits, foot, whole=asked.whole
        ),
    )
    swept = [name for name, cotangent in weight.items() if is_moving(cotangent)]
    diagnostics = diagnose(asked, outputs, chosen, of, found.values(), swept)
    return answer(asked, options, "vjp", forms, diagnostics)


def is_moving(direction: Any) -> bool:
    """Whether a tangent or cotangent is anything but 0."""
    return direction != 0 if isinstance(direction, float) else bool(direction.any())
