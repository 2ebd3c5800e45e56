"""Carries out a plan, partition by partition, into a file or into reduced rows."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from types import SimpleNamespace
from typing import Any, NamedTuple, Protocol
from warnings import warn

import numpy as np

from exprgrad.data.arrow import (
    DoubleColumn,
    arrow_doubles,
    cast_to_text,
    import_arrow,
    is_text_type,
    nan_text_mask,
)
from exprgrad.data.format import Partition, RowWriter
from exprgrad.data.formats import FORMATS, read_batches
from exprgrad.data.job import (
    REASONS,
    BatchJob,
    RowBlock,
    Tally,
    batch_columns,
    change_masks,
    compute_rows,
    judge_outputs,
    merge_tallies,
    missing_masks,
    prepare_kernel,
    row_remarks,
    run_rows,
    tally_block,
)  # fmt: skip
from exprgrad.data.places import PIPE, open_packed
from exprgrad.data.plans import BatchPlan, output_file
from exprgrad.data.sums import (
    CHUNK,
    Partial,
    combine_partials,
    empty_partial,
    group_rows,
    reduce_chunk,
    sum_huge,
    sum_parts,
)
from exprgrad.data.targets import Manifest, RunProgress, open_target, parts_folder
from exprgrad.data.threads import Threads, map_in_order, start_threads
from exprgrad.errors import DigitsWarning, InputError, command_or_python
from exprgrad.run.engines.columns import staggered_columns
from exprgrad.source import without_controls

__all__ = [
    "ComputedBatch", "PartitionOutcome", "Progress", "Workers", "doubles_to_arrow", "execute_plan",
    "partition_rows", "process_partition", "reduce_rows", "result_batches", "result_columns", "tally_chunk",
    "warn_of_lost_digits",
]  # fmt: skip

Progress = Callable[[int], None]
"""Called with the number of rows that have just been done."""


class ComputedBatch(NamedTuple):
    """Some rows with their results, and remarks on them."""

    rows: Any
    tally: Tally


class PartitionOutcome(NamedTuple):
    """The outcome of some partitions: remarks on their rows, and the reduced rows, if there are any."""

    tally: Tally
    partial: Partial | None = None


def execute_plan(
    plan: BatchPlan,
    progress: Progress = lambda rows: None,
    kept: Manifest | None = None,
    workers: Workers | None = None,
    threads: int = 1,
) -> PartitionOutcome:
    """Process all partitions, in order, and write the output.

    With a manifest the run begins where an unfinished one ended, and records its progress now and then.
    Without ``workers`` the ``threads`` of this process do the work.
    """
    prepare_kernel(plan.job)  # once for all threads
    with np.errstate(all="ignore"), start_threads(threads) as here:
        workers = workers or LocalWorkers(here)
        if plan.path is None or plan.into_folder:
            return process_partitions(plan, progress, kept, workers)
        if kept is not None:
            return grow_partitions(plan, progress, kept, workers, here)
        return PartitionOutcome(
            write_output(plan, plan.path, "", workers.rows(plan, 0), progress, here)
        )


class Workers(Protocol):
    """Workers on a plan's partitions, from the ``first`` one on; results come in order."""

    def each(self, plan: BatchPlan, first: int, progress: Progress) -> Iterator[PartitionOutcome]:
        """Yield the outcome of each partition: see ``process_partition``."""

    def rows(self, plan: BatchPlan, first: int) -> Iterator[Callable[[], ComputedBatch] | None]:
        """Yield functions that compute rows with results, one for each batch; None ends a partition."""


class LocalWorkers(NamedTuple):
    """This process, and its threads."""

    threads: Threads | None = None

    def each(self, plan: BatchPlan, first: int, progress: Progress) -> Iterator[PartitionOutcome]:
        """Yield the outcome of each partition: several share the threads, and one alone has them all."""
        partitions, threads = plan.partitions[first:], self.threads
        if threads is None or len(partitions) == 1:
            yield from (process_partition(plan, one, progress, threads) for one in partitions)
            return
        work = partial(process_partition, plan, progress=threads.telling(progress))
        yield from map_in_order(work, partitions, threads)

    def rows(self, plan: BatchPlan, first: int) -> Iterator[Callable[[], ComputedBatch] | None]:
        """Yield functions that compute rows with results, one for each batch; None ends a partition."""
        for partition in plan.partitions[first:]:
            yield from partition_rows(plan, partition, self.threads)
            yield None


def process_partition(
    plan: BatchPlan,
    partition: Partition,
    progress: Progress = lambda rows: None,
    threads: Threads | None = None,
) -> PartitionOutcome:
    """Process a partition by itself: write its file in a folder, or reduce its rows."""
    if plan.into_folder:
        assert plan.path is not None
        path, parts = (
            output_file(plan.path, plan.format, partition.source),
            parts_folder(plan, plan.path),
        )
        found = partition_rows(plan, partition, threads)
        return PartitionOutcome(write_output(plan, path, parts, found, progress, threads))
    rows = read_batches(partition, plan.job.read.names, plan.job.read, threads)
    return reduce_rows(plan.job, partition, rows, progress)


def process_partitions(
    plan: BatchPlan, progress: Progress, kept: Manifest | None, workers: Workers
) -> PartitionOutcome:
    """Process all partitions but those that an unfinished run has done."""
    reached = kept.reached if kept else RunProgress()
    tally, partial = reached.tally, reached.partial
    if kept and kept.damaged:
        for _ in workers.each(plan._replace(partitions=kept.damaged), 0, lambda rows: None):
            pass  # their rows are counted in the record
    for count, done in enumerate(workers.each(plan, reached.done, progress), reached.done + 1):
        tally = merge_tallies(tally, done.tally)
        if done.partial is not None:
            partial = partial or empty_partial(plan.job.reduce, len(plan.names))
            partial = combine_partials(plan.job.reduce, partial, done.partial)
        if kept and kept.is_due(count):
            kept.note(RunProgress(count, tally, partial=partial))
    return PartitionOutcome(tally, partial)


def write_output(
    plan: BatchPlan,
    path: str,
    folder: str,
    rows: Iterator[Callable[[], ComputedBatch] | None],
    progress: Progress,
    threads: Threads | None,
) -> Tally:
    """Write rows to a file, which grows in a folder (see ``open_target``); return remarks on them."""
    tally = Tally()
    with open_target(path, folder) as file, open_packed(file, path) as inner:
        if path == PIPE and FORMATS[plan.format].is_loose and sys.stdout.isatty():
            screen = inner
            inner = SimpleNamespace(
                write=lambda lines: screen.write(without_controls(lines.decode()).encode())
            )
        writer = FORMATS[plan.format].writer(inner, plan.schema)
        with closing_writer(writer):
            for told, _ in write_rows(rows, writer, progress, threads):
                tally = merge_tallies(tally, told)
    return tally


def grow_partitions(
    plan: BatchPlan, progress: Progress, kept: Manifest, workers: Workers, threads: Threads | None
) -> PartitionOutcome:
    """Write the rows of all partitions after those that an unfinished run has written."""
    assert plan.path is not None
    done, tally, size, *_ = kept.reached
    memos = [one.memo for one in kept.marks]
    kept.file.truncate(size)
    kept.file.seek(size)
    writer = FORMATS[plan.format].writer(kept.file, plan.schema, size, memos)
    with closing_writer(writer):
        for told, is_end in write_rows(workers.rows(plan, done), writer, progress, threads):
            tally, done = merge_tallies(tally, told), done + is_end
            if is_end and kept.is_due(done):
                kept.note(RunProgress(done, tally, kept.file.tell(), writer.memo()))
    kept.finish()
    return PartitionOutcome(tally)


def write_rows(
    rows: Iterator[Callable[[], ComputedBatch] | None],
    writer: RowWriter,
    progress: Progress,
    threads: Threads | None,
) -> Iterator[tuple[Tally, bool]]:
    """Write rows; yield each batch's tally, and whether it is the end of a partition instead."""

    def ready(find: Callable[[], ComputedBatch] | None) -> tuple[int, Any, Tally]:
        if find is None:
            return -1, None, Tally()
        batch, tally = find()
        return batch.num_rows, writer.encoded(batch) if batch.num_rows else None, tally

    for count, encoded, tally in map_in_order(ready, rows, threads):
        if count > 0:
            writer.write(encoded)
            progress(count)
        yield tally, count < 0


@contextmanager
def closing_writer(writer: RowWriter) -> Iterator[None]:
    """Close a writer of rows, after an error too."""
    try:
        yield
    except BaseException:
        with suppress(Exception):
            writer.close()
        raise
    writer.close()


# Reduced.


def reduce_rows(
    job: BatchJob, partition: Partition, rows: Iterable[Any], progress: Progress = lambda rows: None
) -> PartitionOutcome:
    """Reduce rows of a partition, or of a table in its place: like machines find the same bits."""
    kernel = prepare_kernel(job)
    if kernel.engine == "native" and job.reduce in ("sum", "mean") and not job.by:
        return sum_rows(job, partition, rows, progress)
    partial, tally = empty_partial(job.reduce, kernel.results), Tally()
    memory = staggered_columns(kernel.outputs, CHUNK)
    for batch, columns, low, high, row in row_chunks(job, partition.row, rows, progress):
        block = compute_rows(job, columns, low, high, memory)
        tally = merge_tallies(tally, tally_chunk(job, block, columns, partition, row, low, high))
        by = [batch.column(name).slice(low, high - low) for name in job.by]
        if not job.by_texts:  # files may say one column in several types
            pairs = zip(job.by, by, strict=True)
            by = [cast_column(one, job.read.field(name), partition) for name, one in pairs]
        keys, codes = group_rows(by, job.by_texts)
        partial = combine_partials(job.reduce, partial, reduce_block(job, block, keys, codes))
    return PartitionOutcome(tally, partial)


def sum_rows(
    job: BatchJob, partition: Partition, rows: Iterable[Any], progress: Progress
) -> PartitionOutcome:
    """Sum the rows of a partition: in machine code, where all rows of a chunk compute."""
    from exprgrad.run.engines.native import Totals

    kernel = prepare_kernel(job)
    memory = staggered_columns(kernel.outputs, CHUNK)
    totals, tally = Totals(memory[: kernel.results]), Tally()
    huge: list[Partial] = []
    kept = np.zeros(1 + kernel.results, dtype=np.int64)
    plain = 0
    for _, columns, low, high, row in row_chunks(job, partition.row, rows, progress):
        run_rows(kernel, columns, low, high, memory)
        is_special = missing_masks(columns, low, high) or change_masks(columns, low, high)
        is_sure = not kernel.sure or memory[kernel.sure][: high - low].min() > 0
        is_plain = is_sure and not (kernel.kink or kernel.condition or is_special)
        if is_plain and totals.add(high - low):
            plain += high - low
            continue
        block = judge_outputs(job, columns, low, high, memory)
        tally = merge_tallies(tally, tally_chunk(job, block, columns, partition, row, low, high))
        counting = block.counting()
        kept += high - low if counting is None else np.count_nonzero(counting, axis=1)
        for one, which in zip(
            block.results, () if counting is None else counting[1:], strict=False
        ):
            one[~which] = 0.0
        if not totals.add(high - low):
            huge.append(sum_huge(block.results))
            totals.add(high - low, anyway=True)
    tally = tally._replace(rows=tally.rows + plain)
    if not (kept + plain).any():
        return PartitionOutcome(tally, empty_partial(job.reduce, kernel.results))
    found = sum_parts(plain + kept, *totals.sums())
    for apart_sums in huge:
        found = combine_partials(job.reduce, found, apart_sums)
    return PartitionOutcome(tally, found)


def row_chunks(
    job: BatchJob, row: int, rows: Iterable[Any], progress: Progress
) -> Iterator[tuple[Any, list[DoubleColumn], int, int, int]]:
    """Yield chunks of rows: the batch, its columns, the chunk's bounds, and its first row in the file."""
    for batch in rechunk_batches(rows):
        columns = batch_columns(job, batch)
        for low in range(0, batch.num_rows, CHUNK):
            yield batch, columns, low, min(low + CHUNK, batch.num_rows), row + low
        row += batch.num_rows
        progress(batch.num_rows)


def reduce_block(
    job: BatchJob, block: RowBlock, keys: list[Any], codes: np.ndarray | None
) -> Partial:
    """Reduce the chosen rows of a chunk; a group whose rows are all bad counts 0 of them."""
    values, counting, chosen = np.array(block.results), block.counting(), block.chosen
    if chosen is not None:
        values = values[:, chosen]
        counting = None if counting is None else counting[:, chosen]
        codes = None if codes is None else codes[chosen]
    if not values.shape[1]:
        return empty_partial(job.reduce, len(values))
    if codes is not None:
        met, codes = np.unique(codes, return_inverse=True)
        keys = [keys[at] for at in met]
    return reduce_chunk(job.reduce, values, keys, codes, counting)


def rechunk_batches(rows: Iterable[Any]) -> Iterator[Any]:
    """Regroup batches, so that all but the last have whole chunks."""
    rest = None
    for batch in rows:
        if rest is not None:
            lacking = CHUNK - rest.num_rows
            rest = import_arrow().concat_batches([rest, batch.slice(0, lacking)])
            batch = batch.slice(lacking)
            if rest.num_rows < CHUNK:
                continue
            yield rest
            rest = None
        whole = batch.num_rows - batch.num_rows % CHUNK
        if whole:
            yield batch.slice(0, whole)
        if whole < batch.num_rows:
            rest = batch.slice(whole)
    if rest is not None:
        yield rest


# Row by row.


def partition_rows(
    plan: BatchPlan, partition: Partition, threads: Threads | None = None
) -> Iterator[Callable[[], ComputedBatch]]:
    """Yield functions that compute the rows of one partition with their results, one for each batch."""
    job, row = plan.job, partition.row
    for batch in read_batches(partition, job.read.names, job.read, threads):
        yield partial(compute_batch, plan, partition, batch, row)
        row += batch.num_rows


def result_batches(plan: BatchPlan, threads: int) -> Iterator[Any]:
    """Yield all rows with their results, batch by batch, computed by several threads."""
    prepare_kernel(plan.job)
    tally = Tally()
    with np.errstate(all="ignore"), start_threads(threads) as here:
        for partition in plan.partitions:
            rows = partition_rows(plan, partition, here)
            for found in map_in_order(lambda find: find(), rows, here):
                tally = merge_tallies(tally, found.tally)
                yield found.rows
    warn_of_lost_digits(plan.job, tally, plan.names, stacklevel=3)


def warn_of_lost_digits(job: BatchJob, tally: Tally, names: Sequence[str], stacklevel: int) -> None:
    """Warn of rows that have a result with too few right digits; other remarks show in the results."""
    for remark in row_remarks(job, Tally(first=tally.first, lost=tally.lost), names):
        warn(remark, DigitsWarning, stacklevel=stacklevel)


def compute_batch(plan: BatchPlan, partition: Partition, batch: Any, row: int) -> ComputedBatch:
    """Compute the results of some rows; the first of them is the file's ``row``, counted from 0."""
    job, pa = plan.job, import_arrow()
    columns = batch_columns(job, batch)
    block = compute_rows(job, columns, 0, batch.num_rows)
    tally = tally_chunk(job, block, columns, partition, row, 0, batch.num_rows)
    kept = [
        cast_column(batch.column(name), plan.schema.field(name), partition) for name in plan.kept
    ]
    found = pa.RecordBatch.from_arrays([*kept, *result_columns(block)], schema=plan.schema)
    keep = block.written(job)
    return ComputedBatch(found if keep is None else found.filter(pa.array(keep)), tally)


def cast_column(column: Any, field: Any, partition: Partition) -> Any:
    """A column converted to the type of a schema's field; texts that hold no number become missing."""
    kind, pa = field.type, import_arrow()
    if column.type == kind:
        return column
    if is_text_type(kind):
        return cast_to_text(column)
    if kind == pa.float64() and is_text_type(column.type):
        values = arrow_doubles(column).values
        return doubles_to_arrow(values, np.isnan(values) & ~nan_text_mask(cast_to_text(column)))
    try:
        return column.cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        where = f"column '{field.name}' of '{partition.source.path}'"
        raise InputError(
            "bad-column",
            f"{where} is read as {kind}, which cannot hold one of its cells",
            help="make all of its cells one type, or leave the column out",
        ) from None


def result_columns(block: RowBlock) -> list[Any]:
    """A block's results as Arrow arrays, null in rows that don't have them."""
    counting = block.counting()
    lost = [None] * len(block.results) if counting is None else ~counting[1:]
    columns = [*map(doubles_to_arrow, block.results, lost)]
    if block.digits is not None:
        unknown = None if counting is None else ~counting[0]
        columns.append(import_arrow().array(block.digits, import_arrow().int64(), mask=unknown))
    return columns


def doubles_to_arrow(values: np.ndarray, bad: np.ndarray | None) -> Any:
    """Doubles as an Arrow array, null where they are bad."""
    pa = import_arrow()
    valid = None if bad is None else pa.py_buffer(np.packbits(~bad, bitorder="little"))
    return pa.Array.from_buffers(pa.float64(), len(values), [valid, pa.py_buffer(values)])


def tally_chunk(
    job: BatchJob,
    block: RowBlock,
    columns: Sequence[DoubleColumn],
    partition: Partition,
    row: int,
    low: int,
    high: int,
) -> Tally:
    """Tally a block; raise an error for a row that does not compute, if rows may not fail."""
    path = partition.source.path
    if job.bad == "fail" and block.bad is not None:
        place = int(np.flatnonzero(block.bad)[0])
        why = next(REASONS[reason] for reason, which in block.reasons.items() if which[place])
        cells = zip(prepare_kernel(job).names, columns, strict=True)
        values = ", ".join(f"{name}={column.values[low + place]:g}" for name, column in cells)
        instead = command_or_python("--bad-rows null or drop", "bad_rows='null' or 'drop'")
        raise InputError(
            "bad-row",
            f"row {row + place + 1:,} of '{path}' does not compute: {why} ({values})",
            help=f"{instead} goes on without such rows",
        )
    return tally_block(job, block, path, row, high - low)
