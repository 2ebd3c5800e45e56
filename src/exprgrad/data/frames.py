"""Tables in memory: a frame of pandas, polars or pyarrow in, one of the same kind out, with the results."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike, fspath
from typing import Any

from exprgrad.data.arrow import arrow, numbers, one_array
from exprgrad.data.batch import as_column, partition_rows
from exprgrad.data.blocks import bad_row, computed, first_bad
from exprgrad.data.job import Job, prepared, result_names
from exprgrad.data.places import RowFile
from exprgrad.data.plans import (
    BAD_ROWS,
    check_columns,
    job_of,
    no_column,
    planned,
    refuse_clashes,
)  # fmt: skip
from exprgrad.errors import InputError, MissingExtraError, RequestError, install

__all__ = ["FRAME", "as_table", "batched", "frame_of"]

FRAME = RowFile("frame", "arrow")
"""What errors call a table in memory."""


def batched(
    text: str, data: object, *, only: bool, prefix: str, bad_rows: str, **asked: Any
) -> Any:
    """A frame with its results, or files' record batches with theirs; ``asked`` is for ``job_of``."""
    if bad_rows not in BAD_ROWS:
        message = f"there is no bad_rows={bad_rows!r}"
        raise RequestError("usage", message, help=f"it is {', '.join(map(repr, BAD_ROWS))}")
    paths = data if isinstance(data, list | tuple) else [data]
    if paths and all(isinstance(path, str | PathLike) for path in paths):
        manner: dict[str, Any] = {"only": only, "prefix": prefix, "bad_rows": bad_rows}
        plan = planned(text, [*map(fspath, paths)], to="arrow", **asked, **manner)
        return (find().rows for part in plan.partitions for find in partition_rows(plan, part))
    return framed(job_of(text, **asked)._replace(bad=bad_rows), data, only=only, prefix=prefix)


def framed(job: Job, frame: object, *, only: bool = False, prefix: str = "") -> Any:
    """The frame with the results of a job as further columns, or ``only`` those.

    Raises ``InputError`` for what is no frame, for columns that it lacks, that hold no numbers, or that are
    called as results are, and where a row does not compute, if that is to ``fail``.
    """
    library, given = frame_of(frame)
    known, read = given.columns, dict(job.columns)
    for name, column in read.items():
        if column not in known:
            raise no_column(FRAME, known, column, name, job)
    names = [prefix + name for name in result_names(job)]
    refuse_clashes(() if only else known, names, FRAME, prefix)
    table = as_table(given, dict.fromkeys(read.values()))
    check_columns(job, FRAME, table)
    columns = [numbers(one_array(table.column(read[name]))) for name in prepared(job).names]
    block = computed(prepared(job), columns, 0, table.num_rows)
    bad = first_bad(job, block)
    if bad is not None:
        raise bad_row(bad[0], "the frame", bad[1])
    results = arrow().table([as_column(one, block.bad) for one in block.results], names)
    added = library.from_arrow(results, backend=given.implementation)
    found = given.with_columns(*added.iter_columns())
    if block.bad is not None and job.bad == "drop":
        found = found.filter(~library.col(names[0]).is_null())
    return (found.select(names) if only else found).to_native()


def as_table(frame: Any, columns: Iterable[str]) -> Any:
    """Some columns of a frame as a table of Arrow's."""
    try:
        return frame.select(columns).to_arrow()
    except (arrow().ArrowInvalid, arrow().ArrowTypeError):
        for column in columns:
            try:
                frame.select(column).to_arrow()
            except arrow().ArrowException as error:
                message = f"column '{column}' of 'frame' holds values of several types"
                help = "make its cells numbers, such as by pandas.to_numeric"
                raise InputError("bad-column", message, help=help) from error
        raise


def frame_of(frame: object) -> tuple[Any, Any]:
    """Narwhals, the one door to it, and the frame as it sees it."""
    try:
        import narwhals
    except ImportError:
        message = "frames need narwhals"
        raise MissingExtraError("missing-narwhals", message, help=install("narwhals")) from None
    arrow()
    try:
        return narwhals, narwhals.from_native(frame, eager_only=True)
    except TypeError:
        message = f"a frame is expected, not a value of type {type(frame).__name__}"
        help = "give a frame of pandas, polars or pyarrow, a lazy one after .collect(), or a file's name"
        raise InputError("bad-column", message, help=help) from None
    except ValueError as error:  # such as for two columns of one name
        raise InputError("bad-column", " ".join(str(error).split())) from None
