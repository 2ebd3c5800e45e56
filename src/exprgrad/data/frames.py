"""Tables in memory: a frame of pandas, polars or pyarrow in, one of the same kind out, with the results."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from exprgrad.data.arrow import arrow, numbers, one_array
from exprgrad.data.batch import Done, as_column, kept_rows, rows_reduced
from exprgrad.data.blocks import bad_row, computed, first_bad
from exprgrad.data.formats import Partition
from exprgrad.data.job import Job, prepared, result_names
from exprgrad.data.places import RowFile
from exprgrad.data.plans import check_columns, check_names, columns_read, refuse_clashes
from exprgrad.errors import InputError, MissingExtraError, install

__all__ = ["FRAME", "as_table", "frame_of", "frame_reduced", "framed"]

FRAME = RowFile("frame", "arrow")
"""What errors call a table in memory."""


def framed(job: Job, frame: object, *, only: bool = False, prefix: str = "") -> Any:
    """The frame with the results of a job as further columns, or ``only`` those; rows as ``where`` says.

    Raises ``InputError`` for what is no frame, for columns that it lacks, that hold no numbers, or that are
    called as results are, and where a row does not compute, if that is to ``fail``.
    """
    library, given = frame_of(frame)
    names = [prefix + name for name in result_names(job)]
    refuse_clashes(() if only else given.columns, names, FRAME, prefix)
    table = table_of(job, given)
    read = dict(job.columns)
    columns = [numbers(one_array(table.column(read[name]))) for name in prepared(job).names]
    block = computed(prepared(job), columns, 0, table.num_rows)
    bad = first_bad(job, block)
    if bad is not None:
        raise bad_row(bad[0], "the frame", bad[1])
    results = arrow().table([as_column(one, block.bad) for one in block.results], names)
    added = library.from_arrow(results, backend=given.implementation)
    found = given.with_columns(*added.iter_columns())
    keep = kept_rows(block) if job.bad == "drop" else block.chosen
    if keep is not None:
        found = found.filter(keep.tolist())
    return (found.select(names) if only else found).to_native()


def frame_reduced(job: Job, frame: object) -> Done:
    """What the rows of a frame come to: the same as in a file."""
    _, given = frame_of(frame)
    table = table_of(job, given)
    return rows_reduced(job, Partition(FRAME), table.combine_chunks().to_batches())


def table_of(job: Job, frame: Any) -> Any:
    """The columns of a frame that a job reads; errors for those that are not there, or no numbers."""
    check_names(job, FRAME, frame.columns)
    table = as_table(frame, dict.fromkeys([*columns_read(job), *job.by]))
    check_columns(job, FRAME, table)
    return table


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
