"""A formula as a program in another language: differentiate, lower, write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf

from exprgrad.derive.build import GraphBuilder
from exprgrad.derive.lower.lower import IN_PLACE, lower_program, missing_rows, row_programs
from exprgrad.derive.sweeps.gradient import Entries, gradient, hessian_entries, jacobian_entries
from exprgrad.errors import RequestError, command_or_python
from exprgrad.graph.graph import Graph, Program, Shape, check_scalars_only
from exprgrad.language.code.program import (
    Result,
    check_tensors,
    find_target,
    function_source,
    query_source,
    several_outputs,
)  # fmt: skip
from exprgrad.language.read.parse import need_number

__all__ = ["build_requested_program", "translate_formula"]


def translate_formula(
    graph: Graph,
    to: str,
    *,
    wrt: Sequence[str] | None = None,
    name: str = "f",
    value_only: bool = False,
    of: Mapping[str, int] | None = None,
    second: bool = False,
    text: str = "",
) -> str:
    """Write the source code of one self-contained function for a formula's value and gradient.

    ``to`` is the name of a target (``language/code/targets/``); ``wrt`` are names of inputs, all by
    default.  With several outputs ``of``, name → node, it is for their values and Jacobian, and with
    ``second`` for the Hessian, too.  A graph with shapes gives a program of tensors, for exactly those
    shapes; ``text`` is its formula, for errors.  Raises ``RequestError`` for another target, a name that
    no function has, or tensors where the target or a matrix has none, ``ShapeError`` for the gradient of a
    tensor.
    """
    target = find_target(to)
    longest = inf if target.columns else IN_PLACE
    check_tensors(target, graph, text)
    if second:
        point = command_or_python('exprgrad hess "…" X=@X.npy', "f.hessian(…)")
        message = "a program for a Hessian computes with numbers, not with tensors"
        help = f"{point} finds it at a point"
        check_scalars_only(graph, lambda _: RequestError("no-tensors", message, help=help))
    elif of is None and not value_only:
        need_number(graph, text, "code", several_outputs(graph, text))
    if not value_only:
        refuse_tensor_rows(graph, of or {})
    chosen = tuple(graph.inputs) if wrt is None else tuple(wrt)
    program, parts = build_requested_program(
        graph, chosen, value_only=value_only, of=of, second=second
    )
    lowered = lower_program(program, target.spelled, graph, longest)
    if target.columns:
        for root in missing_rows(lowered.graph, target.spelled):
            raise RequestError(
                "no-spelling",
                f"a root is found in a loop, and {target.title} has none",
                help="choose another language, such as --to python",
            ).about(str(root))
        return query_source(lowered, target, formula=graph, parts=parts, name=name)
    rows = row_programs(lowered, target.spelled)
    return function_source(lowered, target, formula=graph, parts=parts, name=name, formulas=rows)


def build_requested_program(
    graph: Graph,
    wrt: tuple[str, ...],
    *,
    value_only: bool,
    of: Mapping[str, int] | None,
    second: bool,
) -> tuple[Program, list[Result]]:
    """Build the requested program, and describe its outputs."""
    value = Result("value", () if of is None else (tuple(of),))
    if value_only:
        return Program(graph, (graph.output,) if of is None else tuple(of.values())), [value]
    shapes = [graph.shape(graph.inputs[name]) for name in wrt]
    if of is not None:
        program, entries = jacobian_entries(graph, [*of.values()], wrt)
        return output_full_matrix(program, len(of), entries, len(of), shapes), [
            value,
            Result("jacobian", (tuple(of), wrt)),
        ]
    if second:
        program, entries = hessian_entries(graph, wrt)
        parts = [value, Result("gradient", (wrt,)), Result("hessian", (wrt, wrt))]
        return output_full_matrix(program, 1 + len(wrt), entries, len(wrt), shapes), parts
    return gradient(graph, wrt), [value, Result("gradient", (wrt,))]


def output_full_matrix(
    program: Program, before: int, entries: Entries, rows: int, columns: Sequence[Shape]
) -> Program:
    """Make a program's last outputs all entries of a matrix, row by row, zeros included.

    ``columns`` are the shapes of its columns' inputs, and so of the entries.
    """
    builder = GraphBuilder(program.graph.empty())
    images = builder.include(program.graph)
    found = [images[output] for output in program.outputs]
    zeros = [builder.fill(0.0, shape) for shape in columns]
    matrix = [
        found[entries[row, column]] if (row, column) in entries else zero
        for row in range(rows)
        for column, zero in enumerate(zeros)
    ]
    return builder.program([*found[:before], *matrix])


def refuse_tensor_rows(graph: Graph, of: Mapping[str, int]) -> None:
    """Refuse a tensor among the outputs of a Jacobian."""
    for name, node in of.items():
        if graph.shape(node):
            shape = graph.shape(node)
            first = f"{name}[{', '.join('0' for _ in shape)}]"
            point = command_or_python('exprgrad jac "…" X=@X.npy', "f.jacobian(…)")
            raise RequestError(
                "no-tensors",
                f"a program for a Jacobian has a row for each number, and '{name}' is {shape}",
                help=f"name the numbers that are wanted: {name}_0 = {first}; …; "
                f"{point} has all at a point",
            )
