"""Batches from Python: over frames, record batches and files, row by row or reduced.

A formula can also become functions of Arrow arrays, which DuckDB and pyarrow's registry call by name.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from inspect import Parameter, Signature
from keyword import iskeyword
from os import PathLike, fspath
from typing import Any, NamedTuple
from warnings import warn

import numpy as np

from exprgrad.data.arrow import (
    DoubleColumn,
    arrow_doubles,
    describe_type,
    flatten_chunks,
    import_arrow,
    is_numeric_type,
)
from exprgrad.data.batch import (
    PartitionOutcome,
    execute_plan,
    reduce_rows,
    result_batches,
    result_columns,
    tally_chunk,
    warn_of_lost_digits,
)
from exprgrad.data.format import Partition
from exprgrad.data.job import (
    BatchJob,
    Tally,
    compute_rows,
    prepare_kernel,
    result_fields,
    result_names,
    tally_fields,
)
from exprgrad.data.places import RowFile
from exprgrad.data.plans import (
    BAD_ROWS,
    BatchPlan,
    check_batch_columns,
    check_names,
    columns_to_read,
    make_job,
    parse_scalar_formula,
    plan_batch,
    refuse_name_clashes,
)
from exprgrad.data.sums import REDUCTIONS, finish_groups, label_groups
from exprgrad.data.targets import is_resumable, open_manifest
from exprgrad.errors import InputError, RequestError, import_extra
from exprgrad.run.engines.compiled import count_cores, thread_count
from exprgrad.run.values.inputs import select_inputs, value_texts
from exprgrad.run.values.layouts import Layout
from exprgrad.source import Source

__all__ = [
    "FRAME", "ArrowFunctions", "BatchOptions", "batch_frame", "frame_to_table", "list_file_names",
    "wrap_frame",
]  # fmt: skip


class BatchOptions(NamedTuple):
    """Options of a batch, with the names that ``exprgrad batch`` gives them."""

    only: bool = False
    prefix: str = ""
    bad_rows: str = "null"
    reduce: str | None = None
    by: str | Iterable[str] = ()
    output: str | PathLike[str] | None = None
    to: str | None = None
    resume: bool = False
    check_content: bool = False
    cluster: str | None = None
    threads: int | None = None
    layout: Layout = Layout()


class ReducedRows(NamedTuple):
    """Reduced rows: how many ``rows`` they are, without the ``bad`` ones, and how many meet ``kinks``.

    ``undefined`` counts rows where a derivative alone does not exist, by input; ``converted`` those with
    cells read as other numbers; ``lost`` those where fewer than 6 digits of a result are known to be right;
    ``corrected`` those that are corrected, if that was requested.
    With several outputs ``value`` has one number for each, and ``jacobian`` their derivatives.
    """

    value: Any
    gradient: Mapping[str, float]
    rows: int
    bad: Mapping[str, int]
    kinks: int
    jacobian: Mapping[str, Mapping[str, float]] = {}
    hessian: Mapping[str, Mapping[str, float]] = {}
    undefined: Mapping[str, int] = {}
    converted: Mapping[str, int] = {}
    lost: Mapping[str, Any] = {}
    corrected: int = 0


class GroupedRows(dict[Any, ReducedRows]):
    """The reduced rows of each group: by its cell, or by a tuple of several.

    ``bad`` rows, those at ``kinks``, ``undefined``, ``converted``, ``lost`` and ``corrected`` ones are
    counted over all groups.
    """

    bad: Mapping[str, int]
    kinks: int
    undefined: Mapping[str, int]
    converted: Mapping[str, int]
    lost: Mapping[str, Any]
    corrected: int = 0


def batch_frame(text: str, data: object, manner: BatchOptions, **asked: Any) -> Any:
    """Return a frame with its results, record batches of files with theirs, or reduced rows.

    ``asked`` goes to ``make_job``.  With an ``output`` the ``Tally`` of the rows written is returned.
    """
    by = (manner.by,) if isinstance(manner.by, str) else tuple(dict.fromkeys(manner.by))
    files = list_file_names(data)
    asked["texts"] = value_texts(asked["constants"])
    refuse_arguments(manner, by, files is not None, shows_digits=bool(asked.get("show_digits")))
    if files is None:
        job = make_job(text, **asked)._replace(
            bad=manner.bad_rows, reduce=manner.reduce or "", by=by
        )
        if manner.reduce:
            return reduced_answer(job, reduce_frame(job, data))
        return result_frame(job, data, only=manner.only, prefix=manner.prefix)
    output = None if manner.output is None else fspath(manner.output)
    plan = plan_batch(
        text,
        files,
        **{name: getattr(manner, name) for name in ("only", "prefix", "bad_rows", "layout")},
        reduce=manner.reduce or "",
        by=by,
        path=output,
        to=manner.to if output else "arrow",
        **asked,
    )
    if manner.reduce:
        return reduced_answer(plan.job, run_batch_plan(plan, manner))
    return (
        result_batches(plan, thread_count(manner.threads) or count_cores())
        if output is None
        else run_batch_plan(plan, manner).tally
    )


def list_file_names(data: object) -> list[str] | None:
    """Return the names of files, given one or a list of them; None for data of any other kind."""
    listed = data if isinstance(data, list | tuple) else [data]
    if listed and all(isinstance(path, str | PathLike) for path in listed):
        return [*map(fspath, listed)]
    return None


def refuse_arguments(
    manner: BatchOptions, by: tuple[str, ...], has_files: bool, *, shows_digits: bool
) -> None:
    """Raise errors for unknown words, and for arguments that cannot be combined."""
    words: tuple[tuple[str, str | None, Collection[str]], ...] = (
        ("bad_rows", manner.bad_rows, BAD_ROWS),
        ("reduce", manner.reduce or None, REDUCTIONS),
    )
    for name, word, known in words:
        if word is not None and word not in known:
            raise RequestError(
                "usage",
                f"there is no {name}={word!r}",
                help=f"it is {', '.join(map(repr, known))}",
            )
    rows_alone = manner.only or shows_digits or manner.output is not None or manner.to is not None
    files_alone = manner.output is not None or manner.cluster is not None
    for is_wrong, why in (
        (by and not manner.reduce, "by= needs reduce=: it groups the rows to reduce"),
        (rows_alone and manner.reduce,
            "only=, show_digits=, output= and to= are for rows, and reduce= leaves none"),
        (manner.to and manner.output is None, "to= needs output="),
        (manner.resume and manner.output is None, "resume= needs output="),
        (manner.check_content and manner.output is None, "check_content= needs output="),
        (files_alone and not has_files, "output= and cluster= need files, and no frame"),
        (manner.cluster and not (manner.reduce or manner.output), "cluster= needs output= or reduce="),
    ):  # fmt: skip
        if is_wrong:
            raise RequestError("usage", why)


def run_batch_plan(plan: BatchPlan, manner: BatchOptions) -> PartitionOutcome:
    """Run a plan; if its output can be resumed, record the progress for a later run."""
    with ExitStack() as around:
        kept = workers = None
        if plan.path is not None and is_resumable(plan, plan.path):
            how = manner.resume, manner.check_content
            kept = around.enter_context(open_manifest(plan.path, plan, *how))
            if kept.warning:
                warn(kept.warning, RuntimeWarning, stacklevel=5)
        elif manner.resume or manner.check_content:
            raise RequestError("usage", "resume= and check_content= need files on this machine")
        if manner.cluster is not None:
            from exprgrad.data.cluster import connect_cluster

            workers = around.enter_context(connect_cluster(manner.cluster))
        return execute_plan(
            plan, kept=kept, workers=workers, threads=thread_count(manner.threads) or count_cores()
        )


def reduced_answer(job: BatchJob, found: PartitionOutcome) -> ReducedRows | GroupedRows:
    """Return the reduced rows of an outcome, of all rows or by group."""
    assert found.partial is not None
    groups = finish_groups(job.reduce, found.partial, job.by)
    if not job.by:
        return make_reduced_rows(job, *groups[()], found.tally)
    answer = GroupedRows()
    for name, count in tally_fields(job, found.tally).items():
        setattr(answer, name, count)
    for key, (rows, values) in zip(label_groups(job, [*groups]), groups.values(), strict=True):
        answer[key[0] if len(key) == 1 else key] = make_reduced_rows(job, rows, values, Tally())
    return answer


def make_reduced_rows(
    job: BatchJob, rows: int, values: Sequence[float], tally: Tally
) -> ReducedRows:
    """Make the reduced rows of one group, or of all rows."""
    fields = {"gradient": {}, **result_fields(job, values)}
    return ReducedRows(rows=rows, **tally_fields(job, tally), **fields)


# Tables in memory: of pandas, polars or pyarrow.

FRAME = RowFile("frame", "arrow")
"""A table in memory, as errors name it."""
STREAM = "__arrow_c_stream__"
"""The method of objects that speak Arrow's protocol of streams."""


def result_frame(job: BatchJob, frame: object, *, only: bool = False, prefix: str = "") -> Any:
    """Return the frame with the results of a job as further columns, or ``only`` those.

    Raises ``InputError`` for an object that is not a frame, for columns that are missing, hold no numbers,
    or have the name of a result, and for a row that does not compute, if rows may not fail.
    """
    library, given = wrap_frame(frame)
    names = [prefix + name for name in result_names(job)]
    refuse_name_clashes(() if only else given.columns, names, FRAME)
    table = read_job_columns(job, given)
    read = dict(job.columns)
    columns = [
        arrow_doubles(flatten_chunks(table.column(read[name])))
        for name in prepare_kernel(job).names
    ]
    block = compute_rows(job, columns, 0, table.num_rows)
    tally = tally_chunk(job, block, columns, Partition(FRAME), 0, 0, table.num_rows)
    warn_of_lost_digits(job, tally, names, stacklevel=5)
    results = import_arrow().table(result_columns(block), names)
    added = library.from_arrow(results, backend=given.implementation)
    found = given.with_columns(*added.iter_columns())
    keep = block.written(job)
    if keep is not None:
        found = found.filter(keep.tolist())
    written = (found.select(names) if only else found).to_native()
    if isinstance(frame, Mapping):
        return {name: written[name].to_numpy() for name in written.column_names}
    return written


def reduce_frame(job: BatchJob, frame: object) -> PartitionOutcome:
    """Reduce the rows of a frame, with the same result as from a file."""
    _, given = wrap_frame(frame)
    table = read_job_columns(job, given)
    # A schema with metadata has no hash in PyArrow 19.
    job = job._replace(read=table.schema.remove_metadata())
    return reduce_rows(job, Partition(FRAME), table.combine_chunks().to_batches())


def read_job_columns(job: BatchJob, frame: Any) -> Any:
    """Read the columns that a job needs from a frame; errors for those missing, or without numbers."""
    check_names(job, FRAME, frame.columns)
    table = frame_to_table(frame, dict.fromkeys([*columns_to_read(job), *job.by]))
    check_batch_columns(job, FRAME, table)
    return table


def frame_to_table(frame: Any, columns: Iterable[str]) -> Any:
    """Some columns of a frame as a table of Arrow's."""
    try:
        return frame.select(columns).to_arrow()
    except (import_arrow().ArrowInvalid, import_arrow().ArrowTypeError):
        for column in columns:
            try:
                frame.select(column).to_arrow()
            except import_arrow().ArrowException as error:
                raise InputError(
                    "bad-column",
                    f"column '{column}' of 'frame' holds values of several types",
                    help="make its cells numbers, such as by pandas.to_numeric",
                ) from error
        raise


def wrap_frame(frame: object) -> tuple[Any, Any]:
    """Return Narwhals, which is imported here alone, and the frame that it wraps."""
    narwhals = import_extra("narwhals", "frames need narwhals")
    import_arrow()
    try:
        if isinstance(frame, Mapping):
            frame = import_arrow().table(columns_to_arrays(frame))
        elif hasattr(frame, STREAM) and not narwhals.dependencies.is_into_dataframe(frame):
            frame = import_arrow().table(frame)
        return narwhals, narwhals.from_native(frame, eager_only=True)
    except TypeError:
        message = f"a frame is expected, not a value of type {type(frame).__name__}"
        help = "give a frame of pandas, polars or pyarrow, a lazy one after .collect(), columns by name, "
        help += "or a file's name"
        raise InputError("bad-column", message, help=help) from None
    except ValueError as error:  # such as for two columns of one name
        raise InputError("bad-column", " ".join(str(error).split())) from None


def columns_to_arrays(given: Mapping[str, Any]) -> dict[str, Any]:
    """Columns by name as Arrow arrays of one length; a number is the same in every row."""
    pa, arrays = import_arrow(), {}
    single = [name for name, one in given.items() if isinstance(one, pa.Scalar | int | float)]
    for name, column in given.items():
        try:
            listed = [column] if name in single else column
            arrays[name] = pa.chunked_array(listed) if hasattr(listed, STREAM) else pa.array(listed)
        except (TypeError, pa.ArrowException):
            raise InputError(
                "bad-column",
                f"'{name}' is not a column: {type(column).__name__}",
                help="give an array, a list or a Series",
            ) from None
    sizes = {len(array) for name, array in arrays.items() if name not in single} or {1}
    if len(sizes) > 1:
        raise InputError(
            "bad-column",
            f"columns have {' and '.join(map(str, sorted(sizes)))} rows",
            help="all have the same length",
        )
    every = np.zeros(sizes.pop(), dtype=np.int64)
    return {
        name: array.take(every) if name in single else flatten_chunks(array)
        for name, array in arrays.items()
    }


# Functions of Arrow arrays.

STRUCT = "gradient"
"""The name of the function that returns everything."""


class ArrowFunctions(dict[str, Callable[..., Any]]):
    """A formula's functions of Arrow arrays, by name.

    ``value`` is the formula, ``grad_x`` its derivative with respect to ``x``, for each input that is
    differentiated, and ``gradient`` all at once, a struct of ``value``, ``d_x``….  With a ``name`` they are
    ``name``, ``name_grad_x`` and ``name_gradient``.  Each takes the ``inputs`` in order, an array or a
    number each.  A row is null where an input is, and where it does not compute: where ``grad`` has inf
    or nan.
    """

    def __init__(self, text: str, name: str = "", *, wrt: Iterable[str] | None = None) -> None:
        graph = parse_scalar_formula(text)
        self.text, self.inputs, chosen = text, tuple(graph.inputs), select_inputs(graph, wrt)
        if not self.inputs:
            raise RequestError(
                "missing-input",
                "a formula that reads nothing is not a function of columns",
                source=Source(text),
            )
        job, before = BatchJob(text, tuple((x, x) for x in self.inputs)), f"{name}_" if name else ""
        jobs = {name or "value": job}
        jobs |= {f"{before}grad_{x}": job._replace(wrt=(x,)) for x in chosen}
        if chosen:
            jobs[before + STRUCT] = job._replace(wrt=chosen)
        self.fields = {key: result_names(job) for key, job in jobs.items() if key.endswith(STRUCT)}
        super().__init__(
            {key: column_function(job, key in self.fields) for key, job in jobs.items()}
        )

    def register(self, connection: Any = None) -> None:
        """Make the functions known to a DuckDB connection, or to ``pyarrow.compute`` if none is given."""
        pa = import_arrow()
        for name, function in self.items():
            fields = self.fields.get(name)
            if connection is not None:
                kind = ", ".join(f'"{field}" DOUBLE' for field in fields or ())
                connection.create_function(
                    name,
                    function,
                    ["DOUBLE"] * len(self.inputs),
                    f"STRUCT({kind})" if fields else "DOUBLE",
                    type="arrow",
                    null_handling="special",
                )
                continue
            told = {
                "summary": f"{name} of {self.text}",
                "description": f"of {', '.join(self.inputs)}",
            }
            kind = (
                pa.struct([(field, pa.float64()) for field in fields]) if fields else pa.float64()
            )
            import_arrow("compute").register_scalar_function(
                lambda _, *columns, function=function: function(*columns),
                name,
                told,
                dict.fromkeys(self.inputs, pa.float64()),
                kind,
            )


def column_function(job: BatchJob, is_struct: bool) -> Callable[..., Any]:
    """Make a function of columns, which can be pickled, of a job's last result or of all of them."""
    function = partial(apply_job, job, is_struct)
    names = [name + "_" * iskeyword(name) for name, _ in job.columns]
    parameters = [Parameter(name, Parameter.POSITIONAL_ONLY) for name in names]
    function.__signature__ = Signature(parameters)  # type: ignore[attr-defined]  # DuckDB counts them
    return function


def apply_job(job: BatchJob, is_struct: bool, *columns: Any) -> Any:
    """Compute a job's last result, or all of them, as an Arrow array."""
    given = equal_length_columns([name for name, _ in job.columns], columns)
    block = compute_rows(job, given, 0, len(given[0].values))
    arrays, mask = (
        result_columns(block),
        None if block.bad is None else import_arrow().array(block.bad),
    )
    if not is_struct:
        return arrays[-1]
    return import_arrow().StructArray.from_arrays(arrays, result_names(job), mask=mask)


def equal_length_columns(inputs: Sequence[str], columns: Sequence[Any]) -> list[DoubleColumn]:
    """Arrow arrays and numbers as doubles, all of one length; errors for what is neither."""
    if len(columns) != len(inputs):
        s = "s" * (len(inputs) != 1)
        raise InputError(
            "missing-input",
            f"the function takes {len(inputs)} column{s}, and was given {len(columns)}",
            help=f"they are {', '.join(inputs)}, in this order",
        )
    arrays = columns_to_arrays(dict(zip(inputs, columns, strict=True)))
    for name, array in arrays.items():
        if not is_numeric_type(array.type):
            raise InputError(
                "bad-column", f"'{name}' was given {describe_type(array.type)}, not numbers"
            )
    return [*map(arrow_doubles, arrays.values())]
