"""A formula over a grid of ranges, row by row: value, gradient and Hessian at each point.

Rows are computed in blocks, by a kernel that finds what the sweeps over numbers find, to the bit.  Those
that meet a kink, are not finite, or have too few right digits are looked at one by one, as commands look
at a point, and get the numbers that they print.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import repeat
from math import prod
from typing import Any, NamedTuple

import numpy as np

from exprgrad.data.job import BatchJob, job_program, prepare_kernel, result_fields, result_names
from exprgrad.data.points import PointQuestion, answer_point
from exprgrad.derive.error_rules import UNIT
from exprgrad.errors import InputError, RequestError
from exprgrad.explain.diagnostics import MOST_COUNTED, notes_on_names
from exprgrad.explain.limits import COUNTED, SHARED
from exprgrad.graph.graph import Graph, check_scalars_only
from exprgrad.language.read.parse import at_shapes, need_number
from exprgrad.language.write.infix import number_text
from exprgrad.run import evaluation, matrices
from exprgrad.run.arrays import arrays
from exprgrad.run.arrays.bounds import array_data_errors
from exprgrad.run.engines.columns import staggered_columns
from exprgrad.run.evaluation import Diagnostic, Evaluator, Flag, right_digits, shapes_of
from exprgrad.run.values.inputs import (
    is_range,
    normal_name,
    resolve_inputs,
    select_inputs,
    value_texts,
)
from exprgrad.run.values.ranges import Range, range_in
from exprgrad.show.text.lines import diagnostic_text
from exprgrad.show.text.rows import rows_table
from exprgrad.show.text.table import Table, plain_table, render_html
from exprgrad.solvers.elasticity import elasticity_of
from exprgrad.source import bytes_text, printable_text

__all__ = [
    "Grid", "GridTally", "RangeTable", "grid_rows", "grid_warnings", "make_grid", "row_fields_function",
    "row_names", "tabulate_grid",
]  # fmt: skip

ROWS_AT_ONCE, NUMBERS_AT_ONCE = 4096, 2**22
"""The most rows computed at a time, and the most numbers of nodes altogether."""
LONGEST_BLOCKED = 5000
"""The most nodes of a formula for which bounds over many rows at a time pay."""
LEAST_COMPILED = 50_000
"""Fewer rows are computed by NumPy, because loading the compiler takes longer than they do."""
PRINTED_DIGITS = 6
"""The digits of numbers in a printed table."""
MOST_LOOKED = {"infinite": 1000, "kink": 1000, "digits": 4000}
"""The most rows examined one by one: of those not finite, of those at kinks, and of the others."""
EXPLAINED = 20
"""The most rows for which the node that loses digits is found."""
POINTS_TOLD = 3
"""The most points listed for each reason."""
REASONS = {
    "domain": ("nan", "outside the domain"),
    "infinite": ("infinity", "with a result that is not finite"),
    "kink": ("kink", "at a kink or a jump, where derivatives are a convention"),
    "corrected": ("lost-digits", "corrected, for in doubles their digits are lost"),
    "elasticity": ("elasticity", "where the value is 0, which has no percentages"),
    "digits": ("lost-digits", "with digits that depend on how numbers are rounded"),
}
"""Reason → the diagnostic's code, and its words."""
UNSEEN = {
    "kink": "the two sides were not compared",
    "digits": "digits may be lost and are not corrected",
    "infinite": "the true numbers were not looked for",
}
"""Remark on rows beyond those that were examined."""


class Grid(NamedTuple):
    """A formula over ranges, of which the last varies fastest; the other inputs are ``fixed``.

    ``evaluator``  of the formula, for the shapes of its inputs
    ``wrt``     the inputs to differentiate
    ``order``   0 for values alone, 1 for the gradient, 2 for second derivatives, too
    ``digits``  how many digits of the numbers are shown
    ``elastic`` whether elasticities follow the gradient
    ``texts``   of fixed inputs that were typed otherwise than their doubles' shortest texts
    """

    text: str
    evaluator: Evaluator
    ranges: Mapping[str, Range]
    fixed: Mapping[str, Any]
    wrt: tuple[str, ...]
    order: int
    digits: int
    elastic: bool
    texts: Mapping[str, str]

    @property
    def graph(self) -> Graph:
        """The formula's graph."""
        return self.evaluator.graph

    @property
    def size(self) -> int:
        """The number of points."""
        return prod(one.size for one in self.ranges.values())

    @property
    def job(self) -> BatchJob:
        """The numbers computed for every row."""
        columns = tuple((name, name) for name in self.ranges)
        fixed = tuple(self.fixed.items()) if self.evaluator.by_entries else ()
        wrt = self.wrt if self.order else ()
        engine = "numpy" if self.size < LEAST_COMPILED else None
        return BatchJob(
            self.text, columns, fixed, (), wrt, self.order == 2, precise=True, engine=engine
        )


def make_grid(
    graph: Graph,
    text: str,
    values: Mapping[str, object],
    wrt: Iterable[str] | None,
    order: int,
    digits: int = COUNTED,
    *,
    elastic: bool = False,
    arguments: Mapping[str, str] = evaluation.NOTHING,
    origins: Mapping[str, str] = evaluation.NOTHING,
) -> Grid:
    """Make the grid of a formula from values, some of which are texts of ranges; others are as in a run.

    ``arguments`` are those of a command line as they were typed, ``origins`` the files that values came
    from.  Raises ``InputError`` for invalid values, ``ShapeError`` for those that do not fit.
    """
    ranges = {
        normal_name(name): range_in(value, name)
        for name, value in values.items()
        if isinstance(value, str) and is_range(value)
    }
    if not ranges:
        raise InputError(
            "bad-value",
            "no input has a range",
            help='such as f.table(x="0:10:101"); the table of a point is f.gradient(x=2).table()',
        )
    starts = {name: one.points([0])[0] for name, one in ranges.items()}
    given = {normal_name(name): value for name, value in values.items()} | starts
    found = resolve_inputs(graph, text, given, arguments)
    shaped = at_shapes(graph, text, shapes_of(found), origins)
    if order:
        need_number(shaped, text, "grad" if order == 1 else "hess")
    fixed = {name: value for name, value in found.items() if name not in ranges}
    chosen = select_inputs(graph, wrt)
    texts = value_texts(
        {name: value for name, value in values.items() if normal_name(name) in fixed}
    )
    if order == 2:
        message = "second derivatives over ranges are of numbers alone"
        help = "give it numbers; at one point hess takes tensors"
        check_scalars_only(shaped, lambda _: RequestError("no-tensors", message, help=help))
    evaluator = evaluation.evaluator_for(shaped)
    return Grid(text, evaluator, ranges, fixed, chosen, order, digits, elastic, texts)


class GridTally:
    """A tally of a grid's remarks: per reason, the number of rows and the first of them.

    ``samples`` has the first row's diagnostic per reason; ``unseen`` counts rows not examined;
    ``remarks`` are about the formula itself.
    """

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.first: dict[str, list[int]] = {}
        self.samples: dict[str, Diagnostic] = {}
        self.looked: dict[str, int] = {}
        self.unseen: dict[str, int] = {}
        self.remarks: list[Diagnostic] = []

    def add(self, reason: str, row: int, sample: Diagnostic | None) -> None:
        """Count a row."""
        self.counts[reason] = self.counts.get(reason, 0) + 1
        places = self.first.setdefault(reason, [])
        if len(places) < POINTS_TOLD:
            places.append(row)
        if sample is not None:
            self.samples.setdefault(reason, sample)

    def may_look(self, reason: str) -> bool:
        """Whether to examine one more row for a reason; if not, it is counted."""
        is_next = self.looked.get(reason, 0) < MOST_LOOKED[reason]
        counts = self.looked if is_next else self.unseen
        counts[reason] = counts.get(reason, 0) + 1
        return is_next


def grid_point(grid: Grid, row: int) -> dict[str, float]:
    """The point of a row, counted from 0."""
    given = grid_columns(grid, row, row + 1)
    return {name: float(one[0]) for name, one in zip(grid.ranges, given, strict=True)}


def grid_columns(grid: Grid, first: int, after: int) -> list[np.ndarray]:
    """Return the points of the rows from ``first`` to before ``after``, a column for each range."""
    places, found = np.arange(first, after), []
    for one in reversed([*grid.ranges.values()]):
        places, mine = np.divmod(places, one.size)
        used, inverse = np.unique(mine, return_inverse=True)
        found.append(np.array(one.points(used.tolist()), dtype=np.float64)[inverse])
    return found[::-1]


def grid_rows(grid: Grid, tally: GridTally) -> Iterator[tuple[Any, ...]]:
    """The rows: the points' numbers, then the results, as ``result_names`` has them.

    Numbers are floats; over tensors a result may be an array.
    """
    for block in grid_blocks(grid, tally):
        yield from zip(*[one.tolist() if one.ndim == 1 else one for one in block], strict=True)


def grid_blocks(grid: Grid, tally: GridTally) -> Iterator[list[np.ndarray]]:
    """Yield blocks of rows, each a list of column arrays; a tensor column stacks its rows."""
    tally.remarks = [*notes_on_names(evaluation.SweptRun(grid.text, grid.graph, {}, []))]
    if not grid.evaluator.by_entries or len(grid.graph) > LONGEST_BLOCKED:
        yield from tensor_grid_blocks(grid, tally)
        return
    step = min(ROWS_AT_ONCE, max(NUMBERS_AT_ONCE // len(job_program(grid.job).graph), 1))
    for first in range(0, grid.size, step):
        given = grid_columns(grid, first, min(first + step, grid.size))
        yield add_elasticities(
            grid, [*given, *correct_doubtful_rows(grid, given, first, tally)], first, tally
        )


def tensor_grid_blocks(grid: Grid, tally: GridTally) -> Iterator[list[np.ndarray]]:
    """Yield the rows of a formula of tensors, each examined by itself, a block each."""
    for row in range(grid.size):
        point = grid_point(grid, row)
        numbers, diagnostics = examine_row(grid, point)
        count_row(tally, numbers, diagnostics, row)
        block = [np.asarray(x)[None] for x in (*point.values(), *numbers)]
        yield add_elasticities(grid, block, row, tally)


def add_elasticities(
    grid: Grid, block: list[np.ndarray], first: int, tally: GridTally
) -> list[np.ndarray]:
    """Append elasticities, if requested, to a block whose first row is the grid's ``first``."""
    if not grid.elastic:
        return block
    given = dict(zip(grid.ranges, block, strict=False))
    values, *slopes = block[len(grid.ranges) :]
    for place in np.flatnonzero(values == 0).tolist():
        tally.add("elasticity", first + place, None)
    found = []
    for name, slope in zip(grid.wrt, slopes, strict=True):
        points = given[name].tolist() if name in given else repeat(grid.fixed[name])
        listed = slope.tolist() if slope.ndim == 1 else slope
        rows = zip(points, listed, values.tolist(), strict=False)
        found.append(np.array([elasticity_of(*row) for row in rows]))
    return [*block, *found]


class RangeTable(NamedTuple):
    """A table of rows, a column for each number: arrays, as long as there are points.

    ``inputs``   the points, by input that has a range
    ``value``, ``gradient``, ``hessian``, ``elasticity``  what was found there; by input, and empty if it
    was not asked for
    ``counts``   by reason, how many rows the ``diagnostics`` remark on
    ``text``     the formula
    ``columns``  all of them, by the headings of ``--csv``: ``x``, ``value``, ``d_x``, ``d_x_y``, ``e_x``
    """

    inputs: dict[str, np.ndarray]
    value: np.ndarray
    gradient: dict[str, np.ndarray]
    hessian: dict[str, dict[str, np.ndarray]]
    elasticity: dict[str, np.ndarray]
    counts: dict[str, int]
    diagnostics: list[Diagnostic]
    text: str
    columns: dict[str, np.ndarray]

    @property
    def parts(self) -> list[str | Table]:
        """The table, and the diagnostics below it, for people."""
        rows = zip(*self.columns.values(), strict=True)
        cells = ([float(x) if np.ndim(x) == 0 else x for x in row] for row in rows)
        table = rows_table([*self.columns], [*self.inputs], cells, len(self.value), PRINTED_DIGITS)
        return [table, *("\n" + diagnostic_text(one, self.text) for one in self.diagnostics)]

    def __repr__(self) -> str:
        return "\n".join(
            part if isinstance(part, str) else plain_table(part) for part in self.parts
        )

    def _repr_html_(self) -> str:
        return render_html(self.parts)


def tabulate_grid(grid: Grid) -> RangeTable:
    """All rows of a grid as columns.  Raises ``RequestError`` for more than would fit into memory."""
    numbers = grid.size * len(row_names(grid))
    if numbers > matrices.LARGEST:
        raise RequestError(
            "too-large",
            f"that table would have {numbers:,} numbers, or {bytes_text(8 * numbers)}",
            help="exprgrad eval, grad and hess write the rows of any range",
        )
    tally = GridTally()
    found = [np.concatenate(parts) for parts in zip(*grid_blocks(grid, tally), strict=True)]
    width = len(grid.ranges)
    fields = row_fields_function(grid)(found[width:])
    inputs = dict(zip(grid.ranges, found, strict=False))
    gradient, hessian, elasticity = (
        fields.get(name, {}) for name in ("gradient", "hessian", "elasticity")
    )
    return RangeTable(
        inputs,
        fields["value"],
        gradient,
        hessian,
        elasticity,
        tally.counts,
        grid_warnings(grid, tally),
        grid.text,
        columns=dict(zip(row_names(grid), found, strict=True)),
    )


def row_names(grid: Grid) -> list[str]:
    """The columns: inputs, then results as ``result_names`` has them, then elasticities, ``e_x``.

    A result with an input's name is renamed.
    """
    elasticities = [f"e_{name}" for name in grid.wrt if grid.elastic]
    results = [*result_names(grid.job), *elasticities]
    return [*grid.ranges, *(f"result_{one}" if one in grid.ranges else one for one in results)]


def row_fields_function(grid: Grid) -> Callable[[Sequence[Any]], dict[str, Any]]:
    """Return the function that makes JSON fields of a row's results."""
    job, names = grid.job, grid.wrt
    if not grid.elastic:
        return partial(result_fields, job)

    def fields(results: Sequence[Any]) -> dict[str, Any]:
        last = zip(names, results[-len(names) :], strict=True)
        return {**result_fields(job, results), "elasticity": dict(last)}

    return fields


def correct_doubtful_rows(
    grid: Grid, given: Sequence[np.ndarray], first: int, tally: GridTally
) -> list[np.ndarray]:
    """Compute a block's results; those of doubtful rows are computed again, each at its own point."""
    kernel, size = prepare_kernel(grid.job), len(given[0])
    memory = staggered_columns(kernel.outputs, size)
    with np.errstate(all="ignore"):
        kernel.kernel(given, memory, 0, size)
        results = memory[: kernel.results]
        doubts = {"infinite": ~np.isfinite(sum(results)), "digits": doubtful_rows(grid, given)}
        if kernel.kink:
            doubts["kink"] = memory[kernel.kink] > 0
    left = np.ones(size, dtype=bool)
    for reason in ("infinite", "kink", "digits"):
        which = doubts.get(reason, ~left) & left
        left &= ~which
        for place in np.flatnonzero(which).tolist():
            numbers = [float(one[place]) for one in results]
            if tally.may_look(reason):
                swept, point = numbers, grid_point(grid, first + place)
                is_explained = tally.looked[reason] <= EXPLAINED
                numbers, told = examine_row(grid, point, is_explained=is_explained)
                for one, found in zip(results, numbers, strict=True):
                    one[place] = found
                count_row(tally, numbers, told, first + place, is_corrected=numbers != swept)
            elif reason != "digits":
                tally.add(failure_reason(numbers) or reason, first + place, None)
    return results


def doubtful_rows(grid: Grid, given: Sequence[np.ndarray]) -> np.ndarray:
    """Mark rows with too few right digits, as far as bounds tell, and those with an infinite node.

    In 6 digits an answer has to be the same if points are off by as much as they are rounded.
    """
    graph, outputs = job_program(grid.job)
    inputs = {**dict(zip(grid.ranges, given, strict=True)), **grid.fixed}
    values, size = arrays.forward_arrays(graph, inputs), len(given[0])
    rounded = {
        graph.inputs[name]: np.where(np.rint(one) == one, 0.0, UNIT * np.abs(one))
        for name, one in zip(grid.ranges, given, strict=True)
        if name in graph.inputs
    }
    found = np.zeros(size, dtype=bool)
    for off, digits in ((rounded, min(grid.digits, SHARED)), ({}, grid.digits)):
        if off or digits > SHARED:
            errors = array_data_errors(graph, values, outputs, off)
            for one in outputs:
                found |= right_digits(values[one], errors[one]) < min(digits, MOST_COUNTED)
    if grid.order:
        for value in arrays.forward_arrays(grid.graph, inputs):
            found |= np.isinf(value)
    return found


def examine_row(
    grid: Grid, point: Mapping[str, float], *, is_explained: bool = True
) -> tuple[list[Any], list[Diagnostic]]:
    """Compute a row's results as the commands print them at its point, with diagnostics.

    These name the node that loses digits only if ``is_explained``.
    """
    question = PointQuestion(
        grid.text,
        grid.evaluator,
        grid.wrt if grid.order else (),
        (),
        grid.order == 2,
        grid.digits,
        grid.fixed,
        grid.texts,
    )
    found = answer_point(question, point, is_explained=is_explained)
    return found.numbers, found.diagnostics


def count_row(
    tally: GridTally,
    numbers: Sequence[Any],
    told: Sequence[Diagnostic],
    row: int,
    *,
    is_corrected: bool = False,
) -> None:
    """Count an examined row under each reason to remark on it."""
    warnings = [one for one in told if one.severity == "warning" and one.code != "unused"]
    if not warnings:
        return
    lost = [one for one in warnings if one.code == "lost-digits"]
    whole = [one for one in warnings if not isinstance(one, Flag)]
    reason = failure_reason(numbers) or (
        ("corrected" if is_corrected else "digits") if lost else "kink"
    )
    tally.add(reason, row, (lost or whole or warnings)[0] if reason != "domain" else warnings[0])


def failure_reason(numbers: Sequence[Any]) -> str:
    """Why a row has no results, if it has none."""
    flat = np.concatenate([np.ravel(one) for one in numbers])
    if np.isnan(flat).any():
        return "domain"
    return "" if np.isfinite(flat).all() else "infinite"


def grid_warnings(grid: Grid, tally: GridTally) -> list[Diagnostic]:
    """Warnings about the rows: one for each reason, with the first few points."""
    found = [*tally.remarks]
    for reason, (code, words) in REASONS.items():
        if reason in tally.counts:
            found.append(rows_warning(grid, tally, reason, code, words))
    output = grid.graph.output
    for reason, words in UNSEEN.items():
        if reason in tally.unseen:
            count = tally.unseen[reason]
            message = f"at {count:,} more row{'s' * (count > 1)} {words}"
            message += f", past the first {MOST_LOOKED[reason]:,}"
            span = grid.graph.span(output)
            found.append(Diagnostic(REASONS[reason][0], "warning", message, output, span, None))
    return found


def rows_warning(grid: Grid, tally: GridTally, reason: str, code: str, words: str) -> Diagnostic:
    """The warning about the rows with one reason to remark on."""
    count, first = tally.counts[reason], tally.first[reason]
    points = [
        ", ".join(
            f"{printable_text(name)} = {number_text(value)}"
            for name, value in grid_point(grid, row).items()
        )
        for row in first
    ]
    message = f"{count:,} row{'s' * (count > 1)} {words}: {'; '.join(points)}"
    message += "; …" * (count > len(points))
    sample, node, help = tally.samples.get(reason), grid.graph.output, None
    if sample is not None:
        node, help = sample.node, sample.help
        if help is None or reason not in ("domain", "infinite"):
            help = f"at {points[0]}: {sample.message}" + (f"; {help}" if help else "")
    return Diagnostic(code, "warning", message, node, grid.graph.span(node), help)
