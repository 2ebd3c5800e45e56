"""Wanted that a model is fitted to: from files or tables, in memory, or gone through again and again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from os import PathLike, fspath
from typing import Any, NamedTuple

import numpy as np

from exprgrad.data.arrow import Doubles, numbers, one_array
from exprgrad.data.formats import (
    BY_ENDING,
    batches,
    partitions_of,
    sampled,
)  # fmt: skip
from exprgrad.data.frames import FRAME, as_table, frame_of
from exprgrad.data.job import Job
from exprgrad.data.places import STDIN, RowFile, found_in
from exprgrad.data.plans import check_columns, read_schema, sources_of
from exprgrad.errors import InputError, advice
from exprgrad.graph.graph import Graph, Program
from exprgrad.run.engines.columns import take
from exprgrad.run.engines.compiled import Kernel, built
from exprgrad.solvers.fit.problem import Columns

__all__ = ["Observations", "Table", "Wanted", "observed", "tables"]

MOST_NUMBERS = 2**27
"""So many numbers are held in memory; what is larger is read again for every point."""


class Table(NamedTuple):
    """A file of rows or a table in memory: what it is called, its columns, and a way to go through some.

    ``batches`` takes the columns by name, and yields them as doubles, some rows at a time.
    """

    title: str
    columns: tuple[str, ...]
    batches: Callable[[Mapping[str, str]], Iterator[list[Doubles]]]
    again: bool = True


def tables(data: object) -> list[Table]:
    """What data are: paths of files, a frame, or columns by name."""
    if isinstance(data, Mapping):
        return [of_columns(data)]
    listed = data if isinstance(data, list | tuple) else [data]
    if listed and all(isinstance(path, str | PathLike) for path in listed):
        return [*map(of_file, sources_of(found_in([*map(fspath, listed)], BY_ENDING)))]
    return [of_frame(data)]


def of_columns(data: Mapping[str, Any]) -> Table:
    """Columns by name, arrays or lists."""
    names = tuple(map(str, data))

    def batches_of(read: Mapping[str, str]) -> Iterator[list[Doubles]]:
        graph = Graph()
        graph.inputs = dict.fromkeys(read.values(), 0)
        taken = take({name: data[name] for name in graph.inputs}, graph, "", ())
        found = dict(zip(graph.inputs, taken.columns, strict=True))
        yield [Doubles(found[column]) for column in read.values()]

    return Table("data", names, batches_of)


def of_frame(data: object) -> Table:
    """A frame of pandas, polars or pyarrow."""
    _, given = frame_of(data)

    def batches_of(read: Mapping[str, str]) -> Iterator[list[Doubles]]:
        table = as_table(given, dict.fromkeys(read.values()))
        check_columns(Job("", tuple(read.items())), FRAME, table)
        yield [numbers(one_array(table.column(column))) for column in read.values()]

    return Table("the frame", tuple(given.columns), batches_of)


def of_file(given: RowFile) -> Table:
    """A file of rows."""
    source, sample = sampled(given)

    def batches_of(read: Mapping[str, str]) -> Iterator[list[Doubles]]:
        job = Job("", tuple(read.items()))
        check_columns(job, source, sample)
        schema = read_schema(job, source, sample.schema, (), is_plain=False)
        for partition in partitions_of(source):
            for batch in batches(partition, schema.names, schema):
                yield [numbers(batch.column(column)) for column in read.values()]

    return Table(f"'{source.path}'", tuple(sample.schema.names), batches_of, source.path != STDIN)


class Observations(NamedTuple):
    """The rows that a problem takes: see ``Problem``.  ``left_out`` are those that miss a number.

    ``names`` are the columns in order, without that of the scale.
    """

    names: tuple[str, ...]
    blocks: Callable[[], Iterator[Columns]]
    rows: int
    left_out: int


class Wanted(NamedTuple):
    """Which columns are read, by the names that formulas know them by, and which rows count.

    ``where``  a condition on them, if there is one
    ``scale``  the column that says how much a row counts: standard deviations, or with ``weights`` weights
    ``drop``   whether rows that miss a number are left out; else they are an error
    """

    read: Mapping[str, str]
    where: Graph | None = None
    scale: str = ""
    weights: bool = False
    drop: bool = False


def observed(listed: Sequence[Table], asked: Wanted) -> Observations:
    """The rows of some tables, in memory as long as they find room there."""
    held: list[Columns] | None = []
    rows = size = missed = 0
    names = tuple(asked.read)
    can_repeat = all(table.again for table in listed)
    for block, left_out in told_of_scale(rows_met(listed, asked), asked):
        rows += len(block.columns[0])
        missed += left_out
        size += len(block.columns[0]) * (len(names) + 1)
        if size > MOST_NUMBERS and can_repeat:
            held = None
        if held is not None:
            held.append(block)
    if held is None:
        again = partial(rows_met, listed, asked)
        return Observations(names, lambda: (block for block, _ in again()), rows, missed)
    whole = at_once(held)
    return Observations(names, lambda: iter(whole), rows, missed)


def told_of_scale(
    blocks: Iterator[tuple[Columns, int]], asked: Wanted
) -> Iterator[tuple[Columns, int]]:
    """The same; an error about the column of the scale has no advice for names of the formula."""
    try:
        yield from blocks
    except InputError as error:
        is_own = asked.scale not in ("", *asked.read.values())
        if error.code == "bad-column" and is_own and f"'{asked.scale}'" in error.message:
            error.help = "a column of numbers is needed there"
        raise


def at_once(blocks: list[Columns]) -> list[Columns]:
    """Blocks as one, or none."""
    if not blocks:
        return []
    columns = [np.concatenate(parts) for parts in zip(*(b.columns for b in blocks), strict=True)]
    scales = [block.scale for block in blocks if block.scale is not None]
    return [Columns(columns, np.concatenate(scales) if scales else None)]


def rows_met(listed: Sequence[Table], asked: Wanted) -> Iterator[tuple[Columns, int]]:
    """The rows that count, some at a time, and how many of those that miss a number lay between."""
    names = tuple(asked.read)
    columns = {**asked.read, **({"": asked.scale} if asked.scale else {})}
    condition = None
    if asked.where is not None:
        program = Program(asked.where, (asked.where.output,))
        condition = built(program, names, "numpy", False)[1]
    for table in listed:
        row = 0
        for batch in table.batches(columns):
            count = len(batch[0].values)
            values = [np.ascontiguousarray(one.values) for one in batch]
            keep = np.ones(count, dtype=bool)
            if condition is not None:
                keep = met(condition, values[: len(names)])
            bad = np.zeros(count, dtype=bool)
            for one in values:
                bad |= ~np.isfinite(one)
            scale = scale_of(values[-1], bad, weights=asked.weights) if asked.scale else None
            bad &= keep
            if bad.any() and not asked.drop:
                raise bad_row(table, row, int(np.flatnonzero(bad)[0]), columns, batch, asked)
            keep &= ~bad
            row += count
            if not keep.all():
                values = [one[keep] for one in values]
                scale = None if scale is None else scale[keep]
            if len(values[0]):
                yield Columns(values[: len(names)], scale), int(np.count_nonzero(bad))


def met(condition: Kernel, values: Sequence[Any]) -> Any:
    """The rows that meet a condition."""
    found = np.empty(len(values[0]))
    condition(values, [found], 0, len(found))
    return (found != 0) & (found == found)


def scale_of(given: Any, bad: Any, *, weights: bool) -> Any:
    """What rows' residuals are multiplied with; a row of no weight is a bad one."""
    with np.errstate(all="ignore"):
        found = np.sqrt(given) if weights else 1 / given
    bad |= ~(np.isfinite(found) & (given > 0))
    return found


def bad_row(
    table: Table,
    before: int,
    at: int,
    columns: Mapping[str, str],
    batch: Sequence[Doubles],
    asked: Wanted,
) -> InputError:
    """The error for a row that misses a number, or whose number cannot be used."""
    for (name, column), one in zip(columns.items(), batch, strict=True):
        value = float(one.values[at])
        if np.isfinite(value) and (name or value > 0):
            continue
        what = f"'{column}' has no number there"
        if one.wrong is not None and one.wrong[at]:
            what = f"the cell of '{column}' is not a number"
        elif one.missing is None and not np.isfinite(value):
            what = f"'{column}' is {value} there"
        elif np.isfinite(value):
            kind = "weight" if asked.weights else "standard deviation"
            what = f"the {kind} '{column}' is {value:g}, and has to be above 0"
        message = f"row {before + at + 1:,} of {table.title} cannot be used: {what}"
        instead = advice("--bad-rows drop", "bad_rows='drop'")
        return InputError("bad-row", message, help=f"{instead} leaves such rows out")
    raise AssertionError
