"""The computation for each row, wherever the rows are, and which rows cannot be computed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial, reduce
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from exprgrad.data.arrow import DoubleColumn, arrow_doubles
from exprgrad.derive.build import GraphBuilder
from exprgrad.derive.error_rules import UNIT
from exprgrad.derive.lower.translate import build_requested_program
from exprgrad.derive.parsed import parse_and_derive
from exprgrad.derive.search import apply_text
from exprgrad.derive.sweeps.digit_screen import add_digit_screen
from exprgrad.derive.sweeps.gradient import adjoint_program, jvp, tangent_name
from exprgrad.derive.sweeps.rounding import SLACK, add_error_bounds
from exprgrad.derive.switches import find_nonsmooth_nodes, movable_nodes
from exprgrad.graph.graph import (
    Graph,
    Program,
    dependency_flags,
    dependent_flags,
    remap_local_derivatives,
    with_output,
)
from exprgrad.graph.ops import BY_NAME
from exprgrad.language.read.parse import at_shapes
from exprgrad.run.engines.columns import staggered_columns
from exprgrad.run.engines.compiled import Kernel, build_kernel
from exprgrad.run.evaluation import DOUBLE_DIGITS, Evaluator, evaluator_for, right_digits
from exprgrad.run.values.layouts import CHANGES

__all__ = [
    "CORRECTED", "KINK", "REASONS", "BatchJob", "PreparedKernel", "RowBlock", "Tally", "batch_columns",
    "change_masks", "compute_rows", "describe_rows", "job_program", "judge_outputs", "merge_tallies",
    "missing_masks", "prepare_kernel", "result_fields", "result_keys", "result_names", "row_remarks",
    "run_rows", "sum_counts", "tally_block", "tally_fields",
]  # fmt: skip


class BatchJob(NamedTuple):
    """A formula over columns.

    ``columns``    pairs: a name that the formula or the condition reads, and the column with its values
    ``constants``  pairs: a name, and its number in every row
    ``of``         the named statements that are the outputs; if empty, the formula's own output
    ``wrt``        the inputs to differentiate
    ``where``      the condition that rows have to meet, if there is one
    ``read``       the columns that are read, with types: an Arrow schema
    ``bad``        what to do with rows that cannot be computed: ``null``, ``drop`` or ``fail``
    ``reduce``     how results are reduced over the rows, if they are; ``by`` has the columns that group
                   them, and ``by_texts`` says that their cells are texts, whatever they look like
    ``precise``    whether results equal those of the sweeps over numbers, to the bit
    ``engine``     the engine, if one is chosen: see ``Compiled``
    ``digits``     the results that surely have fewer right digits are counted; 0 if none are
    ``show_digits``  whether a row's fewest right digits follow its results
    ``correct``    whether doubtful rows are computed by themselves; ``texts`` has pairs, a constant and
                   its text, of those that were typed otherwise than their doubles' shortest texts
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
    digits: int = 0
    show_digits: bool = False
    correct: bool = False
    texts: tuple[tuple[str, str], ...] = ()


class PreparedKernel(NamedTuple):
    """A job's kernel: what it reads, in order, and how many results it has.

    ``kink``, ``condition`` and ``sure`` are the places, after the results, of the output that flags rows at
    a kink, of the condition that rows have to meet, and of the output that is 1 where all results surely
    keep the digits of the job; 0 if there is none.  The first ``values`` of the results are values.
    ``reads`` and ``asks`` say by name whether the results, and the condition, depend on it.
    """

    kernel: Kernel
    names: tuple[str, ...]
    results: int
    kink: int
    condition: int
    sure: int
    outputs: int
    engine: str
    values: int
    reads: tuple[bool, ...]
    asks: tuple[bool, ...]


def scalar_formula_graph(text: str) -> Graph:
    """The graph of a formula of numbers."""
    return at_shapes(parse_and_derive(text), text, {})


def job_program(job: BatchJob) -> Program:
    """The program for a job's results: see ``result_names``."""
    return result_program(job.text, job.of, job.wrt, job.hessian)


@lru_cache(maxsize=8)
def result_program(
    text: str, outputs: tuple[str, ...], wrt: tuple[str, ...], second: bool
) -> Program:
    """The program for a job's results, made once: a plan asks whether there is one, then for its kernel."""
    graph = scalar_formula_graph(text)
    bound = {binding.name: binding.node for binding in graph.bindings}
    of = {name: bound[name] for name in outputs} if outputs else None
    program, _ = build_requested_program(graph, wrt, value_only=not wrt, of=of, second=second)
    if not second:
        return program
    head, size = 1 + len(wrt), len(wrt)
    entries = [head + row * size + column for row in range(size) for column in range(row, size)]
    return Program(program.graph, tuple(program.outputs[at] for at in [*range(head), *entries]))


def result_names(job: BatchJob) -> list[str]:
    """Name the results: values, derivatives, and the second ones on and above the diagonal.

    The column that shows digits comes last.
    """
    values = len(job.of) or 1
    keys = result_keys(job)
    derivatives = ["d_" + key.replace(",", "_") for key in keys[values:]]
    return [*keys[:values], *derivatives, *[DIGITS] * job.show_digits]


def result_keys(job: BatchJob) -> list[str]:
    """Name results in counts: ``x`` a derivative, ``x,y`` a second one, ``z,x`` that of an output z."""
    if job.of:
        return [*job.of, *(f"{output},{name}" for output in job.of for name in job.wrt)]
    pairs = (
        [f"{a},{b}" for at, a in enumerate(job.wrt) for b in job.wrt[at:]] if job.hessian else []
    )
    return ["value", *job.wrt, *pairs]


def result_fields(job: BatchJob, values: Sequence[Any]) -> dict[str, Any]:
    """Arrange doubles, ordered as ``result_names``, as other commands do: value, gradient, matrices."""
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


@lru_cache(maxsize=64)
def prepare_kernel(job: BatchJob) -> PreparedKernel:
    """A job's kernel, compiled once in a process."""
    builder, inputs, outputs = build_column_program(job)
    results, graph = len(outputs), scalar_formula_graph(job.text)
    places, asks = {"kink": 0, "condition": 0, "sure": 0}, frozenset[str]()
    bound = {binding.name: binding.node for binding in graph.bindings}
    views = [
        with_output(graph, node) for node in [bound[name] for name in job.of] or [graph.output]
    ]
    flags = [kink_flag(builder, view, job.wrt, inputs) for view in views if job.wrt]
    met = [flag for flag in flags if flag is not None]
    if met:
        places["kink"] = len(outputs)
        outputs.append(reduce(partial(builder.apply, "max"), met))
    if job.where:
        places["condition"] = len(outputs)
        condition = scalar_formula_graph(job.where)
        outputs.append(builder.include(condition, inputs)[condition.output])
        asks = needed_inputs(condition)
    program = builder.program(outputs)
    if job.digits and not job.show_digits:
        places["sure"] = len(outputs)
        program = add_digit_screen(program, results, job.digits)
    names = [name for name, _ in job.columns]
    engine, kernel, _ = build_kernel(program, names, job.engine, job.precise)
    reads = frozenset[str]().union(*map(needed_inputs, views))
    chosen = (tuple(name in some for name in names) for some in (reads, asks))
    counts = results, places["kink"], places["condition"], places["sure"], len(program.outputs)
    return PreparedKernel(kernel, tuple(names), *counts, engine, len(views), *chosen)


def build_column_program(job: BatchJob) -> tuple[GraphBuilder, dict[str, int], list[int]]:
    """Begin a job's program: return the nodes of its columns and constants, and those of its results."""
    program = job_program(job)
    builder = GraphBuilder(program.graph.empty())
    inputs = {name: builder.input(name) for name, _ in job.columns}
    inputs |= {name: builder.constant(value) for name, value in job.constants}
    return builder, inputs, include_program(builder, program, inputs)


@lru_cache(maxsize=64)
def bound_kernel(job: BatchJob, engine: str | None) -> tuple[Kernel, int]:
    """Compile a job's results with their error bounds; return the kernel, and how many outputs it has."""
    builder, _, outputs = build_column_program(job)
    program = add_error_bounds(builder.program(outputs), len(outputs))
    names = [name for name, _ in job.columns]
    return build_kernel(program, names, engine, False)[1], len(program.outputs)


def needed_inputs(graph: Graph) -> frozenset[str]:
    """The inputs that a graph's output depends on."""
    needed = dependency_flags(graph, graph.output)
    return frozenset(name for name, node in graph.inputs.items() if needed[node])


# Kinks: one more number for each row.


def kink_flag(
    builder: GraphBuilder, graph: Graph, wrt: Sequence[str], inputs: Mapping[str, int]
) -> int | None:
    """Build a node that is not 0 where a formula meets a kink or a jump; None if it has no such place.

    ``inputs`` are the nodes that stand for the formula's.  Such a node counts in the branch that is taken,
    and where its operands move with the inputs: in ``relu(relu(x))`` below 0 the outer one's stays 0.
    """
    needed = dependency_flags(graph, graph.output)
    active = dependent_flags(graph, [graph.inputs[name] for name in wrt])
    suspects = find_nonsmooth_nodes(graph, active, needed)
    if not suspects:
        return None
    backward, reached, gated = adjoint_program(graph, wrt)
    images = include_program(builder, backward, inputs)
    arrives = dict(zip(gated, images[len(graph) + len(reached) :], strict=True))
    operands = sorted({operand for node in suspects for operand in graph.operands[node]})
    # A direction in which no two inputs that differ by a factor move alike.
    steps = {tangent_name(name): builder.constant(sqrt(at + 2)) for at, name in enumerate(wrt)}
    moved = include_program(builder, jvp(graph, wrt, operands), {**inputs, **steps})
    moves = dict(zip(operands, moved, strict=True))
    zero = builder.constant(0.0)
    total = zero
    for node in suspects:
        met = kink_condition(builder, graph, node, images, active)
        stirred = zero
        for operand in graph.operands[node]:
            step = builder.apply("ne", moves[operand], zero)
            stirred = builder.apply("max", stirred, step)
        met = builder.apply("mul", met, stirred)
        if node in arrives:
            met = builder.apply("mul", met, arrives[node])
        total = builder.apply("max", total, met)
    return total


def include_program(
    builder: GraphBuilder, program: Program, inputs: Mapping[str, int]
) -> list[int]:
    """Include a program in a builder, and return its outputs there."""
    images = builder.include(program.graph, inputs)
    builder.graph.slopes.update(remap_local_derivatives(program.graph, images))
    return [images[output] for output in program.outputs]


def kink_condition(
    builder: GraphBuilder, graph: Graph, node: int, images: Sequence[int], active: Sequence[int]
) -> int:
    """Build a node that is not 0 where a formula's node meets a kink or a jump in an active operand."""
    op, moving = BY_NAME[graph.kinds[node]], movable_nodes(graph)
    operands = graph.operands[node]
    varies = [builder.constant(float(moving[operand])) for operand in operands]
    total = builder.constant(0.0)
    sides: list[dict[str, int]] = []
    if op.variadic:
        for operand, one in zip(operands, varies, strict=True):
            sides.append({op.names[0]: images[operand], "out": images[node], "varies": one})
        ties = total
        for side in sides:
            ties = builder.apply("add", ties, apply_text(builder, op.ties, side))
        pairs = zip(operands, sides, strict=True)
        sides = [{**side, "ties": ties} for operand, side in pairs if active[operand]]
    else:
        slot = dict(zip(op.names, [images[operand] for operand in operands], strict=True))
        slot |= {f"varies_{name}": one for name, one in zip(op.names, varies, strict=True)}
        sides.append({**slot, "out": images[node]})
    for side in sides:
        for special in op.special:
            total = builder.apply("max", total, apply_text(builder, special.where, side))
    return total


# Results, and which rows have none.


REASONS = {
    "missing": "a value is missing",
    "number": "a cell is not a number",
    "domain": "outside the domain",
    "infinite": "a result is not finite",
}
"""Why a row cannot be computed; the first reason that holds counts."""
KINK = "kink"
"""The key of the first rows at a kink."""
CORRECTED = "corrected"
"""The key of the first rows that are corrected."""
DIGITS = "digits"
"""The column that shows how many digits of a row's least accurate result are right."""
FIRST = 3
"""The most rows reported for each reason."""
FEW_ROWS = 4000
"""The most doubtful rows that NumPy judges before another engine would be compiled."""


class Tally(NamedTuple):
    """Remarks on the rows computed so far, apart from their results.

    ``rows``  those that met the condition
    ``bad``   by reason, how many of them could not be computed
    ``kinks`` how many were computed at a kink or a jump
    ``first`` by reason, the first few of these: the file, and the row's number in it, from 1
    ``undefined``  by result, in how many of the other rows it alone does not exist: see ``result_keys``
    ``converted``  by kind of change, how many rows have a cell whose double differs: see ``CHANGES``
    ``lost``  by result, in how many rows it has fewer right digits than the job counts
    ``corrected``  in how many rows a result is not the sweep's but the truth

    In ``first``, results have keys that begin with a space, as no reason does, and lost ones with two.
    """

    rows: int = 0
    kinks: int = 0
    bad: Mapping[str, int] = {}
    first: Mapping[str, tuple[tuple[str, int], ...]] = {}
    undefined: Mapping[str, int] = {}
    converted: Mapping[str, int] = {}
    lost: Mapping[str, int] = {}
    corrected: int = 0


def tally_fields(job: BatchJob, tally: Tally) -> dict[str, Any]:
    """Return the fields by which an answer reports on its rows."""
    fields = {name: dict(getattr(tally, name)) for name in ("bad", "undefined", "converted")}
    lost = result_fields(job, [tally.lost.get(key, 0) for key in result_keys(job)])
    corrected = {"corrected": tally.corrected} if job.correct else {}
    return {**fields, "kinks": tally.kinks, "lost": drop_zero_fields(lost), **corrected}


def drop_zero_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Drop the fields that are 0, or that hold nothing else."""
    pairs = (
        (name, drop_zero_fields(one) if isinstance(one, dict) else one)
        for name, one in fields.items()
    )
    return {name: one for name, one in pairs if one}


def row_remarks(job: BatchJob, tally: Tally, names: Sequence[str]) -> Iterator[str]:
    """Describe some rows, a line for each reason: how many there are, and the first of them.

    ``names`` are the results' columns.
    """
    results = [*zip(result_keys(job), names, strict=False)]  # the column of digits is none
    words = {reason: f"not computed: {why}" for reason, why in REASONS.items()}
    words |= {f" {key}": f"without a finite {name}" for key, name in results}
    words |= CHANGES | {KINK: "at a kink or a jump, where derivatives are a convention"}
    few = f"where fewer than {job.digits} digits of "
    words |= {f"  {key}": f"{few}{name} are known to be right" for key, name in results}
    undefined = {f" {key}": count for key, count in tally.undefined.items()}
    lost = {f"  {key}": count for key, count in tally.lost.items()}
    counts = {**tally.bad, **undefined, KINK: tally.kinks, **tally.converted, **lost}
    for reason, count in counts.items():
        if not count:
            continue
        yield describe_rows(count, words[reason], tally.first[reason])


def describe_rows(count: int, words: str, first: Sequence[tuple[str, int]]) -> str:
    """Describe some rows: how many they are, and the first of them."""
    s = "s" * (count > 1)
    rows = ", ".join(f"{row:,}" for _, row in first) + ", …" * (count > len(first))
    place = f"row{s} {rows} of '{first[0][0]}'"
    if len({path for path, _ in first}) > 1:
        place = ", ".join(f"row {row:,} of '{path}'" for path, row in first)
    return f"{count:,} row{s} {words} ({place})"


def merge_tallies(one: Tally, other: Tally) -> Tally:
    """Merge the remarks on some rows with those on the rows after them."""
    keys = dict.fromkeys([*one.first, *other.first])
    return Tally(
        one.rows + other.rows,
        one.kinks + other.kinks,
        sum_counts(one.bad, other.bad, REASONS),
        {key: (*one.first.get(key, ()), *other.first.get(key, ()))[:FIRST] for key in keys},
        sum_counts(one.undefined, other.undefined, {**one.undefined, **other.undefined}),
        sum_counts(one.converted, other.converted, CHANGES),
        sum_counts(one.lost, other.lost, {**one.lost, **other.lost}),
        one.corrected + other.corrected,
    )


def sum_counts(
    one: Mapping[str, int], other: Mapping[str, int], keys: Iterable[str]
) -> dict[str, int]:
    """Add counts to counts, in the order of the keys."""
    return {key: one.get(key, 0) + other.get(key, 0) for key in keys if key in one or key in other}


class RowBlock(NamedTuple):
    """Rows' results, one array each, and by row whether something is true of it.

    ``chosen``     whether it is taken; None for all.  ``bad``: whether it does not compute; None for none
    ``kinks``      whether it meets a kink, and ``corrected`` whether a result is not the sweep's
    ``reasons``    by reason, whether it does not compute
    ``undefined``  by result's place, whether it alone does not exist; ``lost``: whether it lost digits
    ``changed``    by kind of change, whether a cell's double differs: see ``CHANGES``
    ``digits``     if that is shown, how many are right of the result that has the fewest
    """

    results: Sequence[np.ndarray]
    chosen: np.ndarray | None
    bad: np.ndarray | None
    kinks: np.ndarray
    corrected: np.ndarray
    reasons: Mapping[str, np.ndarray]
    undefined: Mapping[int, np.ndarray]
    lost: Mapping[int, np.ndarray]
    changed: Mapping[str, np.ndarray]
    digits: np.ndarray | None

    def counting(self) -> np.ndarray | None:
        """Return which rows compute, then, by result, which rows have it; None for all."""
        kept, size = self.kept, len(self.results[0])
        if kept is None and not self.undefined:
            return None
        found = np.array([np.ones(size, bool) if kept is None else kept] * (1 + len(self.results)))
        for at, which in self.undefined.items():
            found[1 + at] &= ~which
        return found

    @property
    def kept(self) -> np.ndarray | None:
        """Which rows are chosen and not bad; None for all."""
        if self.bad is None:
            return self.chosen
        return ~self.bad if self.chosen is None else self.chosen & ~self.bad

    def written(self, job: BatchJob) -> np.ndarray | None:
        """Return which rows are written; None for all."""
        return self.kept if job.bad == "drop" else self.chosen


def batch_columns(job: BatchJob, batch: Any) -> list[DoubleColumn]:
    """The columns of a batch that a job's kernel reads, in its order."""
    columns = dict(job.columns)
    return [arrow_doubles(batch.column(columns[name])) for name in prepare_kernel(job).names]


def compute_rows(
    job: BatchJob, columns: Sequence[DoubleColumn], low: int, high: int, memory: Any = None
) -> RowBlock:
    """Compute the rows from ``low`` to before ``high``, into ``memory`` if that is given."""
    kernel = prepare_kernel(job)
    memory = staggered_columns(kernel.outputs, high - low) if memory is None else memory
    run_rows(kernel, columns, low, high, memory)
    return judge_outputs(job, columns, low, high, memory)


def run_rows(
    kernel: PreparedKernel,
    columns: Sequence[DoubleColumn],
    low: int,
    high: int,
    memory: Sequence[np.ndarray],
) -> None:
    """Write a kernel's outputs for some rows."""
    kernel.kernel([column.values[low:high] for column in columns], memory, 0, high - low)


def judge_outputs(
    job: BatchJob,
    columns: Sequence[DoubleColumn],
    low: int,
    high: int,
    memory: Sequence[np.ndarray],
) -> RowBlock:
    """Take a kernel's outputs as results, and judge which of their rows count."""
    kernel = prepare_kernel(job)
    outputs = [one[: high - low] for one in memory]
    results = outputs[: kernel.results]
    read, asked = (
        [one for one, is_one in zip(columns, some, strict=True) if is_one]
        for some in (kernel.reads, kernel.asks)
    )
    taken, chosen = np.ones(high - low, dtype=bool), None
    if kernel.condition:
        condition = outputs[kernel.condition]
        chosen = taken = (condition != 0) & ~np.logical_or.reduce(
            [np.isnan(condition), *missing_masks(asked, low, high)]
        )
    none, gaps = np.zeros_like(taken), missing_masks(read, low, high)
    met = taken & (outputs[kernel.kink] > 0) if kernel.kink else none
    doubtful = taken if job.show_digits else none
    if kernel.sure:
        doubtful = taken & (outputs[kernel.sure] == 0)
    digits, corrected = count_result_digits(job, columns, low, doubtful), none
    if job.correct:
        is_right = (np.isfinite(results) & (digits >= job.digits)).all(axis=0)
        wanted = taken & (met | ~is_right) & ~np.logical_or.reduce([none, *gaps])
        corrected = correct_rows(job, columns, low, results, digits, wanted)
    reasons: Mapping[str, np.ndarray] = {}
    undefined, bad, left, fewest = {}, none, taken, None
    with np.errstate(all="ignore"):
        is_clean = all(np.isfinite(np.add.reduce(one)) for one in results)
    if gaps or not is_clean:
        reasons = missing_causes(read, results[: kernel.values], taken, low, high)
        bad = np.logical_or.reduce([*reasons.values()])
        left = taken & ~bad
        undefined = rows_by_result(left & ~np.isfinite(results))
    is_poor = digits < job.digits
    lost = rows_by_result(left & np.isfinite(results) & is_poor) if is_poor.any() else {}
    if job.show_digits:
        fewest = np.where(np.isfinite(results), digits, DOUBLE_DIGITS).min(axis=0)
    no_row, changed = bad if bad.any() else None, change_masks(columns, low, high)
    met, corrected = met & left, corrected & left
    return RowBlock(
        results, chosen, no_row, met, corrected, reasons, undefined, lost, changed, fewest
    )


def rows_by_result(found: np.ndarray) -> dict[int, np.ndarray]:
    """Map each result's place to the rows of which something is true, if there are any."""
    return {at: which for at, which in enumerate(found) if which.any()}


def count_result_digits(
    job: BatchJob, columns: Sequence[DoubleColumn], low: int, doubtful: np.ndarray
) -> np.ndarray:
    """Count right digits by result and by row, the first row being ``low``: all, unless ``doubtful``."""
    rows, results = np.flatnonzero(doubtful), prepare_kernel(job).results
    found = np.full((results, len(doubtful)), DOUBLE_DIGITS, dtype=np.int8)
    if len(rows):
        kernel, outputs = bound_kernel(job, job.engine if len(rows) > FEW_ROWS else "numpy")
        memory = staggered_columns(outputs, len(rows))
        kernel([column.values[low + rows] for column in columns], memory, 0, len(rows))
        for at in range(results):
            bound = memory[results + at]
            error = np.where(bound <= SLACK, 0.0, bound * UNIT)
            found[at, rows] = right_digits(memory[at], error)
    return found


def correct_rows(
    job: BatchJob,
    columns: Sequence[DoubleColumn],
    low: int,
    results: Sequence[np.ndarray],
    digits: np.ndarray,
    wanted: np.ndarray,
) -> np.ndarray:
    """Replace the results, and the counts of right digits, of the rows that are ``wanted``.

    Each row is computed by itself, as commands do at a point.  Returns which rows differ from the sweep's.
    """
    from exprgrad.data.points import PointQuestion, answer_point

    question = PointQuestion(
        job.text,
        row_evaluator(job.text),
        job.wrt,
        job.of,
        job.hessian,
        job.digits,
        dict(job.constants),
        dict(job.texts),
    )
    corrected, names = np.zeros_like(wanted), prepare_kernel(job).names
    for row in np.flatnonzero(wanted).tolist():
        cells = [float(column.values[low + row]) for column in columns]
        found = answer_point(question, dict(zip(names, cells, strict=True)), is_explained=False)
        for one, number in zip(results, found.numbers, strict=True):
            one[row] = number
        digits[:, row] = found.digits
        corrected[row] = found.is_corrected
    return corrected


@lru_cache(maxsize=8)
def row_evaluator(text: str) -> Evaluator:
    """The evaluator of a formula of numbers, which keeps the programs that it derives."""
    return evaluator_for(scalar_formula_graph(text))


def missing_masks(columns: Sequence[DoubleColumn], low: int, high: int) -> list[np.ndarray]:
    """Which rows lack a number, in each column that has such rows somewhere."""
    pairs = [gaps for one in columns for gaps in (one.missing, one.wrong)]
    return [gaps[low:high] for gaps in pairs if gaps is not None]


def change_masks(columns: Sequence[DoubleColumn], low: int, high: int) -> dict[str, np.ndarray]:
    """Find, by kind of change, the rows that have such a cell, whether they are chosen or not."""
    pairs = [pair for one in columns for pair in one.changed.items()]
    found = {change: np.zeros(high - low, dtype=bool) for change, _ in pairs}
    for change, which in pairs:
        found[change] |= which[low:high]
    return found


def missing_causes(
    columns: Sequence[DoubleColumn],
    values: Sequence[np.ndarray],
    taken: np.ndarray,
    low: int,
    high: int,
) -> dict[str, np.ndarray]:
    """Find, by reason, the taken rows that have no value, each for one reason."""
    none, lost = np.zeros_like(taken), ~np.isfinite(values).any(axis=0)
    missing = [one.missing[low:high] for one in columns if one.missing is not None]
    wrong = [one.wrong[low:high] for one in columns if one.wrong is not None]
    nans = lost & np.isnan(values).any(axis=0)
    every = np.logical_or.reduce([none, *missing]), np.logical_or.reduce([none, *wrong]), nans, lost
    found = {}
    for reason, which in zip(REASONS, every, strict=True):
        found[reason] = which & taken
        taken = taken & ~which
    return found


def tally_block(job: BatchJob, block: RowBlock, path: str, row: int, rows: int) -> Tally:
    """Tally a block whose first row is the file's ``row``, counted from 0."""
    count = rows if block.chosen is None else int(np.count_nonzero(block.chosen))
    counts: dict[str, int] = {}
    first: dict[str, tuple[tuple[str, int], ...]] = {}
    keys = result_keys(job)
    undefined = {f" {keys[at]}": which for at, which in block.undefined.items()}
    lost = {f"  {keys[at]}": which for at, which in block.lost.items()}
    special = {KINK: block.kinks, CORRECTED: block.corrected}
    every = {**block.reasons, **special, **block.changed, **undefined, **lost}
    for reason, which in every.items():
        places = np.flatnonzero(which)
        if len(places):
            counts[reason] = len(places)
            first[reason] = tuple((path, row + int(place) + 1) for place in places[:FIRST])
    bad, converted = sum_counts(counts, {}, REASONS), sum_counts(counts, {}, CHANGES)
    named = [{key.lstrip(): counts[key] for key in some} for some in (undefined, lost)]
    kinks, changed = (counts.get(key, 0) for key in (KINK, CORRECTED))
    return Tally(count, kinks, bad, first, named[0], converted, named[1], changed)
