"""The request for a fit: which names are columns and which are parameters, and the rows to fit."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import compress, product
from math import inf, isfinite, nan
from typing import Any, NamedTuple

import numpy as np

from exprgrad.data.arrow import DoubleColumn, arrow_doubles, flatten_chunks
from exprgrad.data.formats import BY_ENDING, read_batches, split_into_partitions
from exprgrad.data.frames import FRAME, frame_to_table, list_file_names, wrap_frame
from exprgrad.data.job import BatchJob, change_masks, sum_counts
from exprgrad.data.places import STDIN, RowFile, find_row_files
from exprgrad.data.plans import (
    check_batch_columns,
    likely_column,
    map_option,
    parse_condition,
    parse_scalar_formula,
    read_schema,
    refuse_constants,
    sample_row_files,
)
from exprgrad.derive.parsed import complete_graph
from exprgrad.errors import Asker, InputError, RequestError, command_or_python
from exprgrad.explain.diagnostics import DiagnosedRun
from exprgrad.graph.graph import Graph, Program, refuse_tensors
from exprgrad.language.mistakes.hints import constant_hint, did_you_mean, nearest_word
from exprgrad.language.read.relations import read_relations
from exprgrad.run.engines.columns import contiguous_column, take_columns
from exprgrad.run.engines.compiled import build_kernel
from exprgrad.run.evaluation import evaluator_for
from exprgrad.run.values.files import LISTED, listed_columns
from exprgrad.run.values.inputs import as_number, is_plain_number, normal_name, surplus_value
from exprgrad.run.values.layouts import CHANGES, UNKNOWN, Layout
from exprgrad.run.values.ranges import as_interval
from exprgrad.solvers.fit.fit import Bounds, Estimate, Fit, FitOptions, fit_likelihood, fit_problem
from exprgrad.solvers.fit.least_squares import (
    LOSSES,
    Columns,
    LeastSquaresProblem,
    least_squares_problem,
)
from exprgrad.source import Source

__all__ = ["DataTable", "FitRequest", "data_tables", "fit_model"]

NOT_FINITE = ("nan", "infinity", "nan-gradient", "infinite-gradient")
"""Codes of the diagnostics that say where numbers stop being finite."""
AWAY = (1.37, 0.61)
"""The factor and the offset that move a point away from the start."""


class FitRequest(NamedTuple):
    """The request for a fit: see ``exprgrad.fit``.  ``spelled`` has starts as arguments, for errors."""

    text: str
    data: object
    start: Mapping[str, object]
    fix: Mapping[str, object] | Iterable[str] = ()
    bounds: Mapping[str, object] | None = None
    sigma: Any = None
    weights: Any = None
    loss: str | None = None
    loss_scale: object = 1.0
    map: Mapping[str, str] | None = None
    where: str | None = None
    bad_rows: str = "fail"
    level: object = 0.95
    starts: int = 1
    seed: int = 0
    profile: bool = False
    objective: bool = False
    delimiter: str = ""
    decimal: str = ""
    sheet: str = ""
    spelled: Mapping[str, str] | None = None

    @property
    def scale(self) -> Any:
        """The weights or standard deviations of the rows.

        It is a column's name, or, once the columns are known, a number or an array.
        """
        return self.weights if self.sigma is None else self.sigma


@np.errstate(all="ignore")
def fit_model(asked: FitRequest) -> Fit:
    """Fit a model to rows."""
    text = asked.text
    graph = parse_scalar_formula(text) if asked.objective else parse_model(text)
    response = graph.output if asked.objective else graph.operands[graph.output][0]
    start = {normal_name(name): as_number(value, name) for name, value in asked.start.items()}
    held = fixed_parameters(asked.fix, start)
    given = {**start, **held}
    refuse_unread(graph, text, given, asked.spelled or {})
    refuse_exclusive_options(asked)
    parameters = [name for name in graph.inputs if name in start and name not in held]
    manner = FitOptions(
        parse_bounds(asked.bounds or {}, parameters, start),
        parse_confidence_level(asked.level),
        asked.sigma is not None,
        asked.starts,
        asked.seed,
        asked.profile,
    )
    loss = parse_loss(asked.loss, asked.loss_scale)
    rows = collect_fit_rows(asked, graph, given)
    refuse_few_rows(rows.rows, parameters, rows.left_out, text)
    given_rows = rows.names, parameters, held, rows.blocks, rows.rows
    problem = least_squares_problem(graph, response, *given_rows, *loss)
    if asked.starts == 1:
        refuse_no_value(problem, graph, text, given)
        refuse_idle_parameters(problem, graph, text, start)
    found = (fit_likelihood if asked.objective else fit_problem)(text, problem, start, manner)
    known = {name: Estimate(value, held="fixed") for name, value in held.items()}
    known |= found.parameters
    in_order = {name: known[name] for name in graph.inputs if name in known}
    return found._replace(left_out=rows.left_out, converted=rows.converted, parameters=in_order)


def collect_fit_rows(asked: FitRequest, graph: Graph, given: Collection[str]) -> Observations:
    """Collect the rows to fit; an error for names that are neither columns nor given."""
    listed = data_tables(asked.data, Layout(asked.delimiter, asked.decimal, asked.sheet))
    asked = resolve_scale(asked, listed)
    condition = parse_condition(asked.where) if asked.where is not None else None
    read = columns_by_role(asked, graph, condition, listed, given)
    return observe_rows(listed, asked, read, condition, graph)


def resolve_scale(asked: FitRequest, listed: Sequence[DataTable]) -> FitRequest:
    """Replace a scale that is not a column by numbers: one for all rows, or an array."""
    option = "weights" if asked.sigma is None else "sigma"
    scale, (table, *_) = asked.scale, listed
    if scale is None or (isinstance(scale, str) and scale in table.columns):
        return asked
    if isinstance(scale, str) and not is_plain_number(scale):
        raise InputError(
            "bad-column",
            f"{table.title} has no column '{scale}'",
            help=did_you_mean(
                scale, table.columns, f"its columns are {listed_columns(table.columns)}"
            ),
        )
    return asked._replace(**{option: contiguous_column(scale, option, [], [])})


# The formula.


def parse_model(text: str) -> Graph:
    """The graph of ``y ~ EXPR``, whose output is the response less the model; an error for another text."""
    graph, relations = read_relations(text, "~")
    models = [relation for relation in relations if relation.right is not None]
    if not models:
        message, help = (
            "this does not say what is fitted",
            "write y ~ EXPR: a column, and its model",
        )
        if graph.bindings and graph.bindings[-1].node == graph.output:
            name = graph.bindings[-1].name
            message = f"'=' binds '{name}', and fits nothing"
            help = f"write ~ for =: {name} ~ …"
        raise InputError("no-model", message, source=Source(text), span=(0, len(text)), help=help)
    if models[1:] or models[0] is not relations[-1]:
        raise InputError(
            "no-model",
            "a fit has one model, y ~ EXPR, and it is the last statement",
            source=Source(text),
            span=relations[-1].span,
            help="statements before it bind names: k = EXPR; y ~ …",
        )
    graph = complete_graph(graph, text)
    refuse_tensors(graph, text, "a model with tensors cannot be fitted")
    return graph


def columns_by_role(
    asked: FitRequest,
    graph: Graph,
    condition: Graph | None,
    tables: Sequence[DataTable],
    given: Collection[str],
) -> dict[str, str]:
    """Map names to the columns they stand for; an error for a name that stands for nothing."""
    text, renamed = asked.text, asked.map or {}
    table, *others = tables
    for name in renamed:
        if name not in graph.inputs and not (condition and name in condition.inputs):
            raise surplus_value(graph, text, name, [], {})
    for name in given:
        if name in renamed or name in table.columns:
            raise InputError(
                "given-twice",
                f"'{name}' is a column of {table.title}, and is given a number, too",
                help="rename the parameter, or leave out its start",
            )
    read = {name: renamed.get(name, name) for name in graph.inputs if name not in given}
    if condition is not None:
        for name, node in condition.inputs.items():
            if name in given or renamed.get(name, name) not in table.columns:
                raise InputError(
                    "bad-column",
                    f"the condition reads '{name}', which is not a column of {table.title}",
                    help=f"its columns are {listed_columns(table.columns)}",
                ).about(asked.where or "", condition.span(node))
            read[name] = renamed.get(name, name)
    refuse_constants(graph, text, table.title, table.columns)
    lacking = [name for name, column in read.items() if column not in table.columns]
    if lacking:
        raise missing_start_error(graph, text, table, lacking, read)
    for other, column in product(others, read.values()):
        if column not in other.columns:
            raise InputError(
                "bad-column",
                f"{other.title} has no column '{column}', and {table.title} has one",
                help=f"its columns are {listed_columns(other.columns)}",
            )
    if not read:
        raise InputError(
            "missing-input",
            f"the model reads no column of {table.title}",
            source=Source(text),
            help=f"its columns are {listed_columns(table.columns)}",
        )
    return read


def missing_start_error(
    graph: Graph, text: str, table: DataTable, names: Sequence[str], read: Mapping[str, str]
) -> InputError:
    """The error for names that are neither columns nor given a start."""
    name, *others = names
    if read[name] != name:
        return InputError(
            "bad-column",
            f"{table.title} has no column '{read[name]}'",
            help=f"its columns are {listed_columns(table.columns)}",
        )
    message = f"'{name}' is neither a column of {table.title} nor a parameter with a start"
    if others:
        listed = ", ".join(f"'{other}'" for other in names[:LISTED])
        message = (
            f"these are neither columns of {table.title} nor parameters with a start: {listed}"
        )
        message += ", …" * (len(names) > LISTED)
    mapped = [other for other in names if likely_column(other, table.columns)]
    unlike = [other for other in names if other not in mapped] or names
    starts = ", ".join(f"{other}=1" for other in unlike[:LISTED])
    starts = command_or_python(starts.replace(",", ""), starts)
    if not Asker.by_command and not FitRequest._field_defaults.keys().isdisjoint(names):
        starts = f"start={dict.fromkeys(names[:LISTED], 1)}"
    help = f"a parameter needs a start: {starts}; the columns are {listed_columns(table.columns)}"
    if mapped:
        help = f"write {map_option(mapped, table.columns)}; a parameter needs a start: {starts}"
    near = nearest_word(name, table.columns)
    if near is not None and not others:
        help = f"did you mean the column '{near}'? a parameter needs a start: {starts}"
    help = "; or ".join(filter(None, (constant_hint(graph, text, names), help)))
    span = graph.span(graph.inputs[name])
    return InputError("missing-input", message, source=Source(text), span=span, help=help)


# Parameters.


def fixed_parameters(
    fix: Mapping[str, object] | Iterable[str], given: Mapping[str, float]
) -> dict[str, float]:
    """The parameters that are held, each at its value or at its start."""
    named = (
        fix if isinstance(fix, Mapping) else dict.fromkeys([fix] if isinstance(fix, str) else fix)
    )
    held = {}
    for name, value in named.items():
        name = normal_name(name)
        if value is None and name not in given:
            raise InputError(
                "missing-input",
                f"'{name}' is held, and has no value",
                help=command_or_python(f"--fix {name}=1, or {name}=1", f"fix={{{name!r}: 1}}"),
            )
        held[name] = given[name] if value is None else as_number(value, name)
    return held


def refuse_unread(
    graph: Graph, text: str, given: Mapping[str, float], spelled: Mapping[str, str]
) -> None:
    """An error for a parameter that the model does not read, or whose start is not finite."""
    for name, value in given.items():
        if name not in graph.inputs:
            raise surplus_value(graph, text, name, [], spelled)
        if not isfinite(value):
            raise InputError(
                "bad-value",
                f"the start of '{name}' is {value}",
                help=f"a start is a finite number, such as {name}=1",
            )


def parse_bounds(
    asked: Mapping[str, object], parameters: Collection[str], given: Mapping[str, float]
) -> Bounds:
    """The bounds of parameters; an error for a start that is not within."""
    found = {}
    for name, value in asked.items():
        if name not in parameters:
            raise InputError(
                "unknown-input",
                f"'{name}' has bounds, and is not estimated",
                help=f"those are {', '.join(parameters)}",
            )
        low, high = found[name] = as_interval(value, name, infinite=True)
        if not low <= given[name] <= high:
            raise InputError(
                "bad-range",
                f"the start of '{name}', {given[name]:g}, lies outside of its bounds {low:g}:{high:g}",
                help="start within the bounds",
            )
    return found


BESIDE_OTHERS = (
    "sigma has standard deviations, weights say only how much a row counts beside others"
)
IN_FORMULA = "write the weight of a row in the formula"
EXCLUSIVE = (
    ("sigma", "weights", BESIDE_OTHERS),
    ("profile", "loss", "a profile is one of sums of squares"),
    *(("objective", name, IN_FORMULA) for name in ("sigma", "weights", "loss", "profile")),
)  # fmt: skip
"""Pairs of options that a fit cannot combine, and what to do instead."""


def refuse_exclusive_options(asked: FitRequest) -> None:
    """Refuse options that cannot be combined."""
    names = ("sigma", "weights", "loss", "profile", "objective")
    given = {name for name in names if getattr(asked, name) is not FitRequest._field_defaults[name]}
    for one, other, help in EXCLUSIVE:
        if {one, other} <= given:
            pair = command_or_python(f"--{one} and --{other}", f"{one} and {other}")
            raise RequestError("usage", f"{pair} cannot be combined", help=help)
    if asked.bad_rows not in ("fail", "drop"):
        raise RequestError(
            "usage",
            f"there is no bad_rows={asked.bad_rows!r}",
            help="it is 'fail' or 'drop'",
        )


def parse_loss(name: str | None, scale: object) -> tuple[str, float]:
    """A loss by name, and its scale; no name for squares."""
    if name is not None and name not in LOSSES:
        raise RequestError(
            "usage",
            f"there is no loss '{name}'",
            help=f"the losses are {', '.join(LOSSES)}",
        )
    width = as_number(scale, "the loss's scale")
    if not 0 < width < inf:
        raise RequestError(
            "usage",
            f"the loss's scale is {width:g}, and has to be above 0",
            help="it is as large as an ordinary residual",
        )
    return name or "", width


def parse_confidence_level(value: object) -> float:
    """A level of confidence."""
    found = as_number(value, "level")
    if not 0 < found < 1:
        raise RequestError(
            "usage",
            f"the level is {found:g}, and has to be between 0 and 1",
            help="95 % is 0.95",
        )
    return found


def refuse_few_rows(rows: int, parameters: Sequence[str], left_out: int, text: str) -> None:
    """An error for no parameter, and for fewer rows than parameters."""
    if not parameters:
        raise InputError(
            "missing-input",
            "there is no parameter to estimate",
            source=Source(text),
            help="a parameter has a start, such as b1=1, and is not held",
        )
    if rows >= len(parameters):
        return
    without = f", {left_out:,} left out" if left_out else ""
    if not rows:
        raise InputError(
            "few-rows",
            f"there is no row to fit{without}",
            help="the data have no rows, or every row was left out",
        )
    instead, count = command_or_python("--fix NAME", "fix=['NAME']"), len(parameters)
    raise InputError(
        "few-rows",
        f"{rows} row{'s' * (rows > 1)}{without} cannot determine {count} parameter{'s' * (count != 1)}",
        help=f"{instead} holds one at its start",
    )


def refuse_no_value(
    problem: LeastSquaresProblem, graph: Graph, text: str, given: Mapping[str, float]
) -> None:
    """Raise an error for the first row whose model or derivatives are not finite at the start."""
    point = np.array([given[name] for name in problem.parameters])
    if problem.linearized(point) is not None:
        return
    for block, results in problem.results(point):
        bad = ~np.all(np.isfinite(results), axis=0)
        if not bad.any():
            continue
        at = int(np.flatnonzero(bad)[0])
        row = {name: float(x[at]) for name, x in zip(problem.columns, block.columns, strict=True)}
        inputs = {name: row.get(name, given.get(name, nan)) for name in graph.inputs}
        run = DiagnosedRun.of(text, evaluator_for(graph), inputs, problem.parameters)
        words = ", ".join(f"{name}={value:g}" for name, value in row.items())
        message = f"the model has no value at the start, in the row with {words}"
        help = "start elsewhere, or leave such rows out"
        for told in run.remarks:
            if told.code in NOT_FINITE:
                message += f": {told.message}"
                raise InputError(
                    "no-start", message, source=Source(text), span=told.span, help=help
                )
        raise InputError("no-start", message, help=help)


def refuse_idle_parameters(
    problem: LeastSquaresProblem, graph: Graph, text: str, given: Mapping[str, float]
) -> None:
    """An error for a parameter that has no effect, neither at the start nor elsewhere."""
    start = np.array([given[name] for name in problem.parameters])
    idle = np.ones(len(start), dtype=bool)
    for point in (start, AWAY[0] * start + AWAY[1]):
        found = problem.linearized(point)
        if found is None:
            return
        idle &= ~found.factor.any(axis=0)
    for at in np.flatnonzero(idle)[:1]:
        name = problem.parameters[at]
        instead = command_or_python(f"--fix {name}", f"fix=['{name}']")
        span = graph.span(graph.inputs[name])
        raise InputError(
            "no-effect",
            f"'{name}' has no effect on the model: its derivative is 0 in every row",
            source=Source(text),
            span=span,
            help=f"leave it out, hold it by {instead}, or begin elsewhere",
        )


# The rows: from files or tables, in memory, or gone through again and again.

MOST_NUMBERS = 2**27
"""The most numbers held in memory; larger data are read again for every point."""


class DataTable(NamedTuple):
    """A file of rows or a table in memory: its title, its columns, and a function that reads some.

    ``batches`` takes the columns by name, and yields them as doubles, some rows at a time.
    """

    title: str
    columns: tuple[str, ...]
    batches: Callable[[Mapping[str, str]], Iterator[list[DoubleColumn]]]
    again: bool = True


def data_tables(data: object, layout: Layout = UNKNOWN) -> list[DataTable]:
    """Return the tables of data: paths of files, written in a layout, a frame, or columns by name."""
    if isinstance(data, Mapping):
        return [data_from_columns(data)]
    files = list_file_names(data)
    if files is None:
        return [data_from_frame(data)]
    return [
        data_from_file(*pair) for pair in sample_row_files(find_row_files(files, BY_ENDING), layout)
    ]


def data_from_columns(data: Mapping[str, Any]) -> DataTable:
    """Columns by name, arrays or lists."""
    names = tuple(map(str, data))

    def batches_of(read: Mapping[str, str]) -> Iterator[list[DoubleColumn]]:
        graph = Graph()
        graph.inputs = dict.fromkeys(read.values(), 0)
        taken = take_columns({name: data[name] for name in graph.inputs}, graph, "", ())
        found = dict(zip(graph.inputs, taken.columns, strict=True))
        yield [DoubleColumn(found[column]) for column in read.values()]

    return DataTable("data", names, batches_of)


def data_from_frame(data: object) -> DataTable:
    """A frame of pandas, polars or pyarrow."""
    _, given = wrap_frame(data)

    def batches_of(read: Mapping[str, str]) -> Iterator[list[DoubleColumn]]:
        table = frame_to_table(given, dict.fromkeys(read.values()))
        check_batch_columns(BatchJob("", tuple(read.items())), FRAME, table)
        yield [arrow_doubles(flatten_chunks(table.column(column))) for column in read.values()]

    names = (name for name in given.columns if isinstance(name, str))  # pandas has others
    return DataTable("the frame", tuple(names), batches_of)


def data_from_file(source: RowFile, sample: Any) -> DataTable:
    """A file of rows, and what it begins with."""

    def batches_of(read: Mapping[str, str]) -> Iterator[list[DoubleColumn]]:
        job = BatchJob("", tuple(read.items()))
        check_batch_columns(job, source, sample)
        schema = read_schema(job, source, sample.schema, (), is_plain=False)
        for partition in split_into_partitions(source):
            for batch in read_batches(partition, schema.names, schema):
                yield [arrow_doubles(batch.column(column)) for column in read.values()]

    return DataTable(
        f"'{source.path}'", tuple(sample.schema.names), batches_of, source.path != STDIN
    )


class Observations(NamedTuple):
    """The rows of a ``LeastSquaresProblem``.  ``left_out`` are those that miss a number.

    ``names`` are the columns in order, without that of the scale; ``converted`` counts as ``Tally`` does.
    """

    names: tuple[str, ...]
    blocks: Callable[[], Iterator[Columns]]
    rows: int
    left_out: int
    converted: Mapping[str, int]


def observe_rows(
    listed: Sequence[DataTable],
    asked: FitRequest,
    read: Mapping[str, str],
    condition: Graph | None,
    model: Graph,
) -> Observations:
    """Collect the rows of some tables, in memory as long as they fit.

    ``read`` are the columns, by the names that formulas know them by; ``condition`` is one on rows.
    """
    held: list[Columns] | None = []
    rows = size = missed = 0
    converted: dict[str, int] = {}
    names = tuple(read)
    can_repeat = all(table.again for table in listed)
    again = partial(select_rows, listed, asked, read, condition, model)
    for block, left_out, changed in again():
        converted = sum_counts(converted, changed, CHANGES)
        rows += len(block.columns[0])
        missed += left_out
        size += len(block.columns[0]) * (len(names) + 1)
        if size > MOST_NUMBERS and can_repeat:
            held = None
        if held is not None:
            held.append(block)
    known = rows, missed, converted
    if held is None:
        return Observations(names, lambda: (b for b, *_ in again() if len(b.columns[0])), *known)
    whole = concatenate_blocks(held)
    return Observations(names, lambda: iter(whole), *known)


def concatenate_blocks(blocks: list[Columns]) -> list[Columns]:
    """Concatenate blocks into one; return an empty list if there are none."""
    if not blocks:
        return []
    columns = [np.concatenate(parts) for parts in zip(*(b.columns for b in blocks), strict=True)]
    scales = [block.scale for block in blocks if block.scale is not None]
    return [Columns(columns, np.concatenate(scales) if scales else None)]


def select_rows(
    listed: Sequence[DataTable],
    asked: FitRequest,
    read: Mapping[str, str],
    condition: Graph | None,
    model: Graph,
) -> Iterator[tuple[Columns, int, Mapping[str, int]]]:
    """Yield the rows to fit in blocks, with the counts of rows left out and, by kind, of those changed."""
    names, scale = tuple(read), asked.scale
    is_column = isinstance(scale, str)
    label = scale if is_column else "sigma" if asked.weights is None else "weights"
    columns = {**read, **({} if scale is None else {"": label})}
    counting = [name in model.inputs or not name for name in columns]
    chosen = None
    if condition is not None:
        chosen = build_kernel(Program(condition, (condition.output,)), names, "numpy", False)[1]
    total, is_apart = 0, not (is_column or scale is None)
    for table in listed:
        row = 0
        for batch in table.batches(columns if is_column else read):
            count = len(batch[0].values)
            if is_apart:
                batch = [*batch, slice_column_rows(scale, total, count, label)]
            values = [np.ascontiguousarray(one.values) for one in batch]
            keep = np.ones(count, dtype=bool)
            if chosen is not None:
                found = np.empty(count)
                chosen(values[: len(names)], [found], 0, count)
                keep = (found != 0) & ~np.isnan(found)
                for name in condition.inputs if condition else ():
                    keep &= ~np.isnan(values[names.index(name)])
            bad = np.zeros(count, dtype=bool)
            for one in compress(values, counting):
                bad |= ~np.isfinite(one)
            factors = None if scale is None else residual_scale(values[-1], bad, asked)
            bad &= keep
            if bad.any() and asked.bad_rows == "fail":
                cells = [*compress(zip(columns.items(), batch, strict=True), counting)]
                raise bad_row_error(table, row, int(np.flatnonzero(bad)[0]), cells, asked)
            keep &= ~bad
            row, total = row + count, total + count
            if not keep.all():
                values = [one[keep] for one in values]
                factors = None if factors is None else factors[keep]
            changed = change_masks(batch, 0, count).items()
            counts = {change: int(np.count_nonzero(which)) for change, which in changed}
            yield Columns(values[: len(names)], factors), int(np.count_nonzero(bad)), counts
    if is_apart:
        slice_column_rows(scale, total, None, label)


def slice_column_rows(given: Any, start: int, count: int | None, name: str) -> DoubleColumn:
    """Take some rows of an array, or of a number for all; without a count, check that it has no more."""
    part = np.full(count or 0, given) if isinstance(given, float) else given[start:][:count]
    if len(part) != (count or 0):
        raise InputError(
            "column-lengths",
            f"{name} has {len(given):,} numbers, and the data another number of rows",
            help="give one for each row, or one for all",
        )
    return DoubleColumn(part)


def residual_scale(given: Any, bad: Any, asked: FitRequest) -> Any:
    """Return the factors of the rows' residuals; mark rows without a positive finite one as bad."""
    with np.errstate(all="ignore"):
        found = np.sqrt(given) if asked.weights is not None else 1 / given
    bad |= ~(np.isfinite(found) & (given > 0))
    return found


def bad_row_error(
    table: DataTable,
    before: int,
    at: int,
    cells: Iterable[tuple[tuple[str, str], DoubleColumn]],
    asked: FitRequest,
) -> InputError:
    """The error for a row that misses a number, or whose number cannot be used."""
    for (name, column), one in cells:
        value = float(one.values[at])
        if np.isfinite(value) and (name or value > 0):
            continue
        what = f"'{column}' has no number there"
        if one.wrong is not None and one.wrong[at]:
            what = f"the cell of '{column}' is not a number"
        elif one.missing is None and not np.isfinite(value):
            what = f"'{column}' is {value} there"
        elif np.isfinite(value):
            kind = "weight" if asked.weights is not None else "standard deviation"
            what = f"the {kind} '{column}' is {value:g}, and has to be above 0"
        message = f"row {before + at + 1:,} of {table.title} cannot be used: {what}"
        instead = command_or_python("--bad-rows drop", "bad_rows='drop'")
        return InputError("bad-row", message, help=f"{instead} leaves such rows out")
    raise AssertionError
