"""Diagnostics of answers about outputs and inputs that are tensors."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from exprgrad.explain.diagnostic import Diagnostic
from exprgrad.explain.outputs import NOT_FINITE, merged, seen_from
from exprgrad.explain.tensors import diagnose_tensors
from exprgrad.graph.graph import Graph
from exprgrad.language.write.infix import number
from exprgrad.run.arrays import measure
from exprgrad.run.arrays.basis import trouble
from exprgrad.run.evaluator import Evaluator, evaluator_for
from exprgrad.run.matrices import Matrix, row_program
from exprgrad.run.result import Run

__all__ = ["diagnose_tensor_hessian", "diagnose_tensor_outputs"]


def diagnose_tensor_outputs(
    text: str,
    graph: Graph,
    inputs: Mapping[str, Any],
    values: list[Any],
    outputs: Mapping[str, int],
    wrt: Sequence[str],
    swept: Collection[str] | None = None,
    *,
    unused: bool = True,
) -> list[Diagnostic]:
    """What is worth knowing about some outputs (name → node) and their derivatives in ``wrt``.

    ``values`` are the nodes' data.  Of an output that is a tensor all numbers are differentiated together.
    ``swept`` and ``unused`` are as in ``diagnose_outputs``.
    """

    def found() -> Iterator[Diagnostic]:
        """Output by output."""
        for name, output in outputs.items():
            view = seen_from(graph, output)
            run = Run(text, view, inputs, values)
            if swept is None or name in swept:
                sweep = evaluator_for(view).gradient(inputs, tuple(wrt))[1]
                run = Run(text, view, inputs, values, sweep, tuple(wrt))
            yield from diagnose_tensors(run)

    return merged(found(), unused=unused)


def diagnose_tensor_hessian(
    text: str,
    evaluator: Evaluator,
    inputs: Mapping[str, Any],
    values: list[Any],
    wrt: Sequence[str],
    hessian: Matrix,
) -> list[Diagnostic]:
    """What is worth knowing about the output, its gradient and its second derivatives.

    Of second derivatives that are not finite the first is named, if all before them was finite.
    """
    graph = evaluator.graph
    listed = diagnose_tensor_outputs(text, graph, inputs, values, {"": graph.output}, wrt)
    if any(diagnostic.code in NOT_FINITE for diagnostic in listed):
        return listed
    for row, column, value in hessian.listed():
        if not measure.all_finite(value):
            return [*listed, entry_trouble(evaluator, inputs, wrt, row, column, value)]
    return listed


def entry_trouble(
    evaluator: Evaluator,
    inputs: Mapping[str, Any],
    wrt: Sequence[str],
    row: str,
    column: str,
    value: Any,
) -> Diagnostic:
    """The diagnostic of a block of the Hessian that is not finite, at the first node that is not."""
    graph = evaluator.graph
    count, index = measure.places(measure.nans(value))
    if not count:
        _, index = measure.places(measure.infinities(value))
    rank = len(graph.shape(graph.inputs[row]))
    first, second = (
        f"{name}{list(at) if at else ''}"
        for name, at in ((row, index[:rank]), (column, index[rank:]))
    )
    by = first if first == second else f"{first} and {second}"
    shown = measure.at(value, index)
    program = row_program(evaluator, wrt, list(wrt).index(row))
    span = trouble(evaluator, program, inputs, row, index[:rank])
    places = [at for at in range(len(graph)) if graph.span(at) == span]
    node = places[-1] if places else graph.output
    code = "nan-hessian" if shown != shown else "infinite-hessian"
    message = f"the second derivative with respect to {by} is {number(shown)}"
    return Diagnostic(code, "warning", message, node, graph.span(node), None)
