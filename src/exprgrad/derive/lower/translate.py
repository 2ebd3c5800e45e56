"""A formula as a program in another language: differentiate, lower, write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from exprgrad.derive.build import Builder
from exprgrad.derive.lower.lower import formulas, lower
from exprgrad.derive.sweeps.gradient import Entries, gradient, hessian, jacobian
from exprgrad.errors import RequestError
from exprgrad.graph.graph import Graph, Program, numbers_only
from exprgrad.language.code.program import Result, check_tensors, find_target, source
from exprgrad.language.read.parse import need_number

__all__ = ["translate"]


def translate(
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
    """The source code of one self-contained function for a formula's value and gradient.

    ``to`` is the name of a target (``language/code/targets/``); ``wrt`` are names of inputs, all by
    default.  With several outputs ``of``, name → node, it is for their values and Jacobian, and with
    ``second`` for the Hessian, too.  A graph with shapes gives a program of tensors, for exactly those
    shapes; ``text`` is its formula, for errors.  Raises ``RequestError`` for another target, a name that
    no function has, or tensors where the target or a matrix has none, ``ShapeError`` for the gradient of a
    tensor.
    """
    target = find_target(to)
    check_tensors(target, graph, text)
    if of is not None or second:
        numbers_only(graph, lambda _: no_blocks())
    elif not value_only:
        need_number(graph, text, "code")
    chosen = tuple(graph.inputs) if wrt is None else tuple(wrt)
    program, parts = asked(graph, chosen, value_only=value_only, of=of, second=second)
    lowered = lower(program, target.spelled, graph)
    return source(
        lowered,
        target,
        formula=graph,
        parts=parts,
        name=name,
        formulas=formulas(lowered, target.spelled),
    )


def asked(
    graph: Graph,
    wrt: tuple[str, ...],
    *,
    value_only: bool,
    of: Mapping[str, int] | None,
    second: bool,
) -> tuple[Program, list[Result]]:
    """The program for what is asked, and what its outputs are."""
    value = Result("value", () if of is None else (tuple(of),))
    if value_only:
        return Program(graph, (graph.output,) if of is None else tuple(of.values())), [value]
    if of is not None:
        program, entries = jacobian(graph, [*of.values()], wrt)
        return full(program, len(of), entries, len(of), len(wrt)), [
            value,
            Result("jacobian", (tuple(of), wrt)),
        ]
    if second:
        program, entries = hessian(graph, wrt)
        parts = [value, Result("gradient", (wrt,)), Result("hessian", (wrt, wrt))]
        return full(program, 1 + len(wrt), entries, len(wrt), len(wrt)), parts
    return gradient(graph, wrt), [value, Result("gradient", (wrt,))]


def full(program: Program, before: int, entries: Entries, rows: int, columns: int) -> Program:
    """A program whose last outputs, behind some, are all entries of a matrix, row by row, zeros too."""
    builder = Builder(program.graph.empty())
    images = builder.include(program.graph)
    found = [images[output] for output in program.outputs]
    zero = builder.constant(0.0)
    places = [entries.get((row, column)) for row in range(rows) for column in range(columns)]
    return builder.program(
        [*found[:before], *[zero if place is None else found[place] for place in places]]
    )


def no_blocks() -> RequestError:
    """The error for a matrix of derivatives of tensors."""
    message = "a program for a Jacobian or a Hessian computes with numbers, not with tensors"
    return RequestError("no-tensors", message)
