"""What is computed for every row, as plain data: the same wherever the rows are."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from exprgrad.data.kinks import kinks
from exprgrad.derive.build import Builder
from exprgrad.derive.lower.translate import asked
from exprgrad.derive.parsed import parsed
from exprgrad.graph.graph import Graph, Program, seen_from
from exprgrad.language.read.parse import at_shapes
from exprgrad.run.engines.compiled import Kernel, built

__all__ = ["Job", "Prepared", "prepared", "program_of", "result_fields", "result_names"]


class Job(NamedTuple):
    """A formula over columns.

    ``columns``    by name that the formula or the condition reads, the column that it stands for
    ``constants``  by name, the number that it is in every row
    ``of``         the named statements that are the outputs; none stands for the formula's own
    ``wrt``        the inputs to differentiate
    ``where``      the condition that rows have to meet, if there is one
    ``read``       the columns that are read, with types: an Arrow schema
    ``bad``        what becomes of rows that do not compute: ``null``, ``drop`` or ``fail``
    ``reduce``     what is made of the rows' results, or nothing; ``by`` are the columns of its groups,
                   ``by_texts`` if their cells are texts, whatever they look like
    ``precise``    whether results are those of the sweeps over numbers, to the bit
    ``engine``     what computes them, if that is chosen: see ``Compiled``
    """

    text: str
    columns: tuple[tuple[str, str], ...]
    constants: tuple[tuple[str, float], ...] = ()
    of: tuple[str, ...] = ()
    wrt: tuple[str, ...] = ()
    hessian: bool = False
    where: str = ""
    read: Any = None
    bad: str = "null"
    reduce: str = ""
    by: tuple[str, ...] = ()
    by_texts: bool = False
    precise: bool = False
    engine: str | None = None


class Prepared(NamedTuple):
    """A job's kernel: what it reads, in order, and how many results it has.

    ``kink`` and ``condition`` are the places behind them of what tells rows at a kink, and of what rows
    have to meet; 0 where there is none.
    """

    kernel: Kernel
    names: tuple[str, ...]
    results: int
    kink: int
    condition: int
    outputs: int
    engine: str


def graph_of(text: str) -> Graph:
    """The graph of a formula of numbers."""
    return at_shapes(parsed(text), text, {})


def program_of(job: Job) -> Program:
    """The program for a job's results: see ``result_names``."""
    return differentiated(job.text, job.of, job.wrt, job.hessian)


@lru_cache(maxsize=8)
def differentiated(
    text: str, outputs: tuple[str, ...], wrt: tuple[str, ...], second: bool
) -> Program:
    """The program for a job's results, made once: a plan asks if there is one, and then for its kernel."""
    graph = graph_of(text)
    bound = {binding.name: binding.node for binding in graph.bindings}
    of = {name: bound[name] for name in outputs} if outputs else None
    program, _ = asked(graph, wrt, value_only=not wrt, of=of, second=second)
    if not second:
        return program
    head, size = 1 + len(wrt), len(wrt)
    entries = [head + row * size + column for row in range(size) for column in range(row, size)]
    return Program(program.graph, tuple(program.outputs[at] for at in [*range(head), *entries]))


def result_names(job: Job) -> list[str]:
    """What the results are called: values, derivatives, and the second ones on and above the diagonal."""
    if job.of:
        slopes = [f"d_{output}_{name}" for output in job.of for name in job.wrt]
        return [*job.of, *slopes]
    pairs = [(a, b) for at, a in enumerate(job.wrt) for b in job.wrt[at:]] if job.hessian else []
    return ["value", *(f"d_{name}" for name in job.wrt), *(f"d_{a}_{b}" for a, b in pairs)]


def result_fields(job: Job, values: Sequence[Any]) -> dict[str, Any]:
    """Doubles in the order of ``result_names`` as other commands have them: value, gradient, matrices."""
    rest = iter(values)
    if job.of:
        found: dict[str, Any] = {"value": {name: next(rest) for name in job.of}}
        if job.wrt:
            found["jacobian"] = {y: {name: next(rest) for name in job.wrt} for y in job.of}
        return found
    fields: dict[str, Any] = {"value": next(rest)}
    if job.wrt:
        fields["gradient"] = {name: next(rest) for name in job.wrt}
    if job.hessian:
        upper = {(a, b): next(rest) for at, a in enumerate(job.wrt) for b in job.wrt[at:]}
        both = upper | {(b, a): value for (a, b), value in upper.items()}
        fields["hessian"] = {a: {b: both[a, b] for b in job.wrt} for a in job.wrt}
    return fields


@lru_cache(maxsize=8)
def prepared(job: Job) -> Prepared:
    """A job's kernel, compiled once in a process."""
    program = program_of(job)
    builder = Builder()
    names = dict(job.columns)
    inputs = {name: builder.input(name) for name in names}
    inputs |= {name: builder.constant(value) for name, value in job.constants}
    images = builder.include(program.graph, inputs)
    outputs = [images[output] for output in program.outputs]
    results, graph = len(outputs), graph_of(job.text)
    places = {"kink": 0, "condition": 0}
    bound = {binding.name: binding.node for binding in graph.bindings}
    views = [seen_from(graph, node) for node in [bound[name] for name in job.of] or [graph.output]]
    met = kinks(builder, views, job.wrt, inputs)
    if met is not None:
        places["kink"] = len(outputs)
        outputs.append(met)
    if job.where:
        places["condition"] = len(outputs)
        condition = graph_of(job.where)
        outputs.append(builder.include(condition, inputs)[condition.output])
    engine, kernel, _ = built(builder.program(outputs), [*names], job.engine, job.precise)
    return Prepared(kernel, tuple(names), results, outputs=len(outputs), engine=engine, **places)
