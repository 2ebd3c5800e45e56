"""Plans batches, and finds what is wrong with a request before a row is read or written."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from exprgrad.data.arrow import (
    arrow_doubles,
    cast_times_and_decimals,
    describe_type,
    import_arrow,
    is_numeric_type,
    is_text_type,
    nan_text_mask,
)
from exprgrad.data.format import Partition
from exprgrad.data.formats import (
    BY_ENDING,
    FORMATS,
    format_by_ending,
    inspect_row_file,
    sample_file,
    split_into_partitions,
)
from exprgrad.data.job import BatchJob, job_program, result_names
from exprgrad.data.places import (
    HEAD,
    PIPE,
    STDIN,
    RowFile,
    expand_path,
    find_row_files,
    folder_keys,
    is_inside_folder,
    remote_store,
    split_packing,
)
from exprgrad.derive.parsed import parse_and_derive
from exprgrad.errors import (
    InputError,
    MissingExtraError,
    RequestError,
    command_or_python,
    install_command,
)
from exprgrad.explain.limits import COUNTED
from exprgrad.graph.graph import Graph, refuse_tensors
from exprgrad.language.mistakes.hints import did_you_mean, value_hint
from exprgrad.language.read.names import CONSTANT_SIGNS, plain_name
from exprgrad.run.balls.balls import has_balls
from exprgrad.run.evaluation import NOTHING
from exprgrad.run.values.directions import select_outputs
from exprgrad.run.values.files import listed_columns, say_remarks
from exprgrad.run.values.inputs import OPTIONS, as_number, normal_name, select_inputs, surplus_value
from exprgrad.run.values.layouts import (
    MEASURED,
    ODD_NUMBER,
    UNITS_ABOVE,
    UNKNOWN,
    Layout,
)
from exprgrad.source import Source as Text

__all__ = [
    "BAD_ROWS", "BatchPlan", "check_batch_columns", "check_names", "columns_to_read", "likely_column",
    "make_job", "map_option", "output_file", "parse_condition", "parse_scalar_formula", "plan_batch",
    "read_schema", "refuse_constants", "refuse_name_clashes", "sample_row_files",
]  # fmt: skip

BAD_ROWS = ("null", "drop", "fail")
"""The fates of rows that do not compute."""


class BatchPlan(NamedTuple):
    """A job, its rows, and what is written.

    ``names``   what the results are called
    ``kept``    the columns that are written before them
    ``schema``  all of them, with types
    ``path``    where to, in which ``format``; None for what is reduced
    ``rows``    about how many rows there are; 0 if that is not known
    ``into_folder``  whether the path is a folder, in which each partition has a file
    ``left_out``  columns that are not written, for the first file lacks them, and the file that has each
    """

    job: BatchJob
    partitions: list[Partition]
    names: tuple[str, ...]
    kept: tuple[str, ...] = ()
    schema: Any = None
    path: str | None = None
    format: str = ""
    rows: int = 0
    into_folder: bool = False
    left_out: Mapping[str, str] = {}


def plan_batch(
    text: str,
    data: Sequence[str],
    *,
    only: bool = False,
    prefix: str = "",
    bad_rows: str = "null",
    reduce: str = "",
    by: Sequence[str] = (),
    path: str | None = None,
    to: str | None = None,
    layout: Layout = UNKNOWN,
    **asked: Any,
) -> BatchPlan:
    """Plan a batch before a row is read; raises an error for what cannot be done.

    ``asked`` goes to ``make_job``: it says what is computed for every row.
    """
    job = make_job(text, **asked)
    into_folder = path is not None and (path.endswith(("/", os.sep)) or Path(path).is_dir())
    format = "" if reduce or into_folder else target_format(path, to)
    listed = find_row_files(data, BY_ENDING)
    refuse_overwriting([one for one, _ in listed], path)
    sources, samples = zip(*sample_row_files(listed, layout), strict=True)
    if into_folder:
        same = sources[0].format if FORMATS[sources[0].format].writer else "csv"
        path, format = str(path).rstrip("/" + os.sep), to or same
    said = check_folder(str(path), format, sources, data) if into_folder else set()
    is_loose = any(FORMATS[source.format].is_loose for source in sources)  # and says no types
    by = tuple(dict.fromkeys(by))
    job = job._replace(bad=bad_rows, reduce=reduce, by=by, by_texts=bool(by) and is_loose)
    for source, sample in zip(sources, samples, strict=True):
        check_batch_columns(job, source, sample)
    is_plain = bool(format) and FORMATS[format].is_text and FORMATS[sources[0].format].is_text
    kept = () if reduce or only else tuple(n for n in samples[0].schema.names if n not in said)
    read = common_schema(job, sources, samples, kept, said, is_plain)
    refuse_nested(read, kept, format)
    found = tuple(prefix + name for name in result_names(job))
    refuse_name_clashes([*kept, *by], found, sources[0])
    kinds = ["float64"] * (len(found) - job.show_digits) + ["int64"] * job.show_digits
    fields = map(import_arrow().field, found, kinds)
    schema = import_arrow().schema([*map(read.field, kept), *fields])
    partitions, rows = divide_files(sources, samples[0].num_rows, into_folder)
    job = job._replace(read=read)
    if reduce:
        return BatchPlan(job, partitions, found, rows=rows)
    more = columns_missing_in_first(sources, samples) if kept else {}
    path = path or PIPE
    return BatchPlan(job, partitions, found, kept, schema, path, format, rows, into_folder, more)


def divide_files(
    sources: Sequence[RowFile], sample: int, is_whole: bool
) -> tuple[list[Partition], int]:
    """The partitions of files, and about how many rows these have, going by those of a first sample."""
    found = [part for one in sources for part in split_into_partitions(one, is_whole)]
    guesses = (sample * max(one.source.size // HEAD, 1) for one in found)
    return found, sum(
        one.rows if one.rows >= 0 else n for one, n in zip(found, guesses, strict=True)
    )


def common_schema(
    job: BatchJob,
    sources: Sequence[RowFile],
    samples: Sequence[Any],
    kept: Sequence[str],
    said: Collection[str],
    is_plain: bool,
) -> Any:
    """Find the columns to read from every file, with types; an error for a file that has others.

    Columns ``said`` by folders' names are not passed on; where a file has them too, they are read to be
    compared.
    """
    first = samples[0].schema
    own = {key.name for source in sources for key in source.keys if key.inside is not None}
    compared = sorted(own.difference(kept).intersection(said))
    read = read_schema(job, sources[0], first, [*kept, *compared], is_plain)
    for source, sample in zip(sources[1:], samples[1:], strict=True):
        read = widen_schema(sources[0], source, read, sample.schema, [*kept, *job.by], is_plain)
    return read


def common_type(one: Any, other: Any) -> Any:
    """Find the type that has room for two; None if there is none."""
    pa = import_arrow()
    plain = [kind.value_type if pa.types.is_dictionary(kind) else kind for kind in (one, other)]
    schemas = [pa.schema([("", kind)]) for kind in ((one, other) if one == other else plain)]
    try:
        return pa.unify_schemas(schemas, promote_options="permissive").field(0).type
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return None


def columns_missing_in_first(sources: Sequence[RowFile], samples: Sequence[Any]) -> dict[str, str]:
    """Map each column that the first file lacks to the first file that has it."""
    found: dict[str, str] = {}
    for source, sample in zip(sources, samples, strict=True):
        found = dict.fromkeys(sample.schema.names, source.path) | found
    return {name: path for name, path in found.items() if path != sources[0].path}


def sample_row_files(
    listed: Sequence[tuple[str, str]], layout: Layout
) -> list[tuple[RowFile, Any]]:
    """Sample files of rows (see ``sample_file``), with the columns that their folders' names state.

    Prints remarks on the layouts that were detected.
    """
    delimiter, decimal = layout.delimiter, layout.decimal
    if len(delimiter) > 1 or decimal not in ("", ".", ",") or delimiter == decimal != "":
        raise RequestError(
            "usage",
            "a delimiter is one character, and decimals follow '.', or a ',' that is no delimiter",
            help="such as ';' and ','; a tab is \"\\t\"",
        )
    keys = folder_keys([path for path, _ in listed])
    pairs = [
        sample_file(inspect_row_file(path)._replace(name=name, keys=known, layout=layout))
        for (path, name), known in zip(listed, keys, strict=True)
    ]
    say_remarks({source.layout.remark: source.path for source, _ in reversed(pairs)})
    return pairs


def make_job(
    text: str,
    constants: Mapping[str, object] | None = None,
    spelled: Mapping[str, str] | None = None,
    renamed: Mapping[str, str] | None = None,
    *,
    wrt: Iterable[str] | None = None,
    of: Iterable[str] | None = None,
    value_only: bool = False,
    hessian: bool = False,
    where: str | None = None,
    show_digits: bool = False,
    correct: bool = False,
    texts: Mapping[str, str] = NOTHING,
) -> BatchJob:
    """The job that computes every row.  Raises ``InputError`` for names that the formula doesn't have.

    ``texts`` are of constants, as in a run.  Raises ``MissingExtraError`` without python-flint, if rows are
    to be corrected.
    """
    if correct and not has_balls():
        message = "rows are corrected in ball arithmetic, which needs python-flint"
        raise MissingExtraError("missing-flint", message, help=install_command("python-flint"))
    graph = parse_scalar_formula(text)
    condition = parse_condition(where) if where is not None else None
    names = [*graph.inputs, *(condition.inputs if condition else ())]
    fixed = {normal_name(name): as_number(value, name) for name, value in (constants or {}).items()}
    for name in fixed:
        if name not in names:
            raise surplus_value(graph, text, name, [], spelled or {})
    job = BatchJob(
        text,
        map_columns(names, fixed, renamed or {}, graph, text),
        tuple(sorted(fixed.items())),
        tuple(select_outputs(graph, of)) if of is not None else (),
        () if value_only else select_inputs(graph, wrt),
        hessian,
        where or "",
        digits=COUNTED,
        show_digits=show_digits,
        correct=correct,
        texts=tuple(sorted(texts.items())),
    )
    job_program(job)
    return job


def parse_scalar_formula(text: str) -> Graph:
    """A formula of numbers; an error for one of tensors."""
    graph = parse_and_derive(text)
    refuse_tensors(graph, text, "a formula with tensors cannot be evaluated over columns")
    return graph


def parse_condition(text: str) -> Graph:
    """A condition; an error for one that names a number, where it should compare."""
    graph = parse_scalar_formula(text)
    if len(graph.bindings) == 1 and not set(";\n") & set(text):
        name, _, span = graph.bindings[0]
        raise InputError(
            "bad-column",
            f"'=' names a number '{name}', and compares nothing",
            source=Text(text),
            span=span,
            help=f"to compare write '==': {name} == …",
        )
    return graph


def map_columns(
    names: Iterable[str],
    fixed: Collection[str],
    renamed: Mapping[str, str],
    graph: Graph,
    text: str,
) -> tuple[tuple[str, str], ...]:
    """Map each name that is read, but is no constant, to its column."""
    wanted = {name: name for name in names if name not in fixed}
    for name, column in renamed.items():
        if name in fixed:
            raise InputError(
                "given-twice",
                f"'{name}' is given as a number and as a column",
                help=f"leave out {name}=…, or --map {name}=…",
            )
        if name not in wanted:
            raise surplus_value(graph, text, name, [], {})
        wanted[name] = column
    if not wanted:
        raise InputError(
            "missing-input",
            "the formula reads no column",
            help="for numbers alone write exprgrad grad",
            source=Text(text),
        )
    return tuple(wanted.items())


def target_format(path: str | None, to: str | None) -> str:
    """Choose the format of the output: by the file's ending, or else as requested."""
    if path is None or path == PIPE:
        row = FORMATS[to or "csv"]
        if not row.to_pipe:
            raise RequestError(
                "usage",
                f"{row.title} cannot be written to a pipe",
                help=f"name a file: -o FILE{row.endings[0]}",
            )
        return row.name
    try:
        found = format_by_ending(path)
    except RequestError as error:
        error.help = f"{error.help}; the name of a folder ends in /"
        raise
    for is_wrong, why, help in (
        (FORMATS[found].writer is None, f"{FORMATS[found].title} are only read", "use .csv"),
        (
            split_packing(path)[1] not in ("", "gzip"),
            "only .gz compression is supported",
            "use .gz, or write to a pipe",
        ),
    ):
        if is_wrong:
            raise RequestError("unknown-format", f"cannot write '{path}': {why}", help=help).about(
                path
            )
    if to is not None and to != found:
        raise RequestError(
            "usage",
            f"--to {to} and -o {path} cannot be combined: the ending sets the format",
            help=f"leave out --to {to}",
        )
    return found


def refuse_overwriting(sources: Sequence[str], path: str | None) -> None:
    """An error for a target that is read, or cannot be written."""
    if path is None or path == PIPE or remote_store(path) is not None:
        return
    folder = os.path.dirname(path.rstrip("/" + os.sep)) or "."  # noqa: PTH120
    reason = ""
    if not Path(folder).is_dir():
        reason = f"there is no folder '{folder}'"
    elif not os.access(folder, os.W_OK | os.X_OK):
        reason = f"the folder '{folder}' is read-only"
    if reason:
        raise RequestError("file", f"cannot write '{path}': {reason}")
    for source in sources:
        with suppress(OSError):
            if Path(source).samefile(path):
                raise RequestError(
                    "file",
                    f"'{path}' is an input, and so cannot be written",
                    help="name another file: -o FILE",
                )


def columns_to_read(job: BatchJob) -> dict[str, str]:
    """Map each column that is read as numbers to the name it stands for."""
    return {column: name for name, column in reversed(job.columns)}


def check_batch_columns(job: BatchJob, source: RowFile, sample: Any) -> None:
    """Errors for columns that are not there, or twice, or hold no numbers."""
    check_names(job, source, sample.schema.names)
    for column in job.by:
        kind = sample.schema.field(column).type
        if import_arrow().types.is_nested(kind):
            raise InputError(
                "bad-column",
                f"column '{column}' of '{source.path}' holds {describe_type(kind)}",
                help="--by takes columns of texts, numbers or times",
            )
    for column, name in columns_to_read(job).items():
        kind = sample.schema.field(column).type
        refuse_ambiguous_numbers(source, column, sample)
        if is_numeric_type(kind) or (is_text_type(kind) and has_numbers(source, column, sample)):
            continue
        instead = command_or_python(f"--map {name}=COLUMN", f"map={{{name!r}: 'COLUMN'}}")
        cells = (
            cast_times_and_decimals(sample.column(column)).drop_null()[:1].to_pylist()
            if is_text_type(kind)
            else []
        )
        helps = {
            UNITS_ABOVE: any(MEASURED.fullmatch(cell.strip()) for cell in cells),
            f"{instead} takes another column for '{name}'": bool(name),
            "a column of numbers is needed there": True,
        }
        raise InputError(
            "bad-column",
            f"column '{column}' of '{source.path}' holds {describe_type(kind)}, not numbers",
            help=next(help for help, applies in helps.items() if applies),
        )


def check_names(job: BatchJob, source: RowFile, known: Sequence[str]) -> None:
    """Errors for columns that are not among those known, or twice."""
    counts = Counter(known)
    for column, name in {**columns_to_read(job), **dict.fromkeys(job.by, "")}.items():
        if counts[column] == 1:
            continue
        if counts[column]:
            raise InputError(
                "bad-column",
                f"'{source.path}' has {counts[column]} columns named '{column}'",
                help="give them different names",
            )
        read = [*map(str, known)]
        missing = [name for name, column in job.columns if name == column and column not in counts]
        raise missing_column_error(source, read, column, name, missing)
    for text in filter(None, (job.text, job.where)):
        refuse_constants(parse_and_derive(text), text, f"'{source.path}'", known)


def refuse_constants(graph: Graph, text: str, title: str, columns: Collection[str]) -> None:
    """Refuse a constant that has a column's name, because either may be meant."""
    for node, name in graph.symbols.items():
        span = graph.span(node)
        if name not in columns or text[slice(*span)] != name:
            continue
        signs = [
            f"for the constant write {sign}; "
            for sign in CONSTANT_SIGNS
            if plain_name(sign) == name
        ]
        taken = command_or_python(f"--map {name}_1={name}", f"map={{'{name}_1': '{name}'}}")
        raise InputError(
            "constant",
            f"'{name}' is a constant, and a column of {title}",
            source=Text(text),
            span=span,
            help=f"{''.join(signs)}for the column write {name}_1, and {taken}",
        )


def has_numbers(source: RowFile, name: str, sample: Any) -> bool:
    """Whether a column of texts has numbers among its cells, where it may, or nothing at all."""
    if not (FORMATS[source.format].is_loose or any(key.name == name for key in source.keys)):
        return False
    column = sample.column(name).combine_chunks()
    return not (
        np.isnan(arrow_doubles(column).values) & ~nan_text_mask(cast_times_and_decimals(column))
    ).all()


def refuse_ambiguous_numbers(source: RowFile, name: str, sample: Any) -> None:
    """An error for cells with signs between thousands, or with a comma that may be one."""
    column = sample.column(name)
    is_loose = FORMATS[source.format].is_loose and is_text_type(column.type)
    cells = cast_times_and_decimals(column).drop_null().to_pylist() if is_loose else ()
    for cell in filter(ODD_NUMBER.fullmatch, map(str.strip, cells)):
        option = command_or_python("--decimal ,", "decimal=','")
        raise InputError(
            "bad-column",
            f"column '{name}' of '{source.path}' has a cell '{cell}'",
            help=f"if decimals follow commas, {option}; else save it without signs between thousands",
        )


def missing_column_error(
    source: RowFile, known: Sequence[str], column: str, name: str, missing: Sequence[str]
) -> InputError:
    """The error for a column that a file doesn't have; ``missing`` names have no column either."""
    help = f"its columns are {listed_columns(known)}"
    if name == column:
        keyword = f"{name}=1" if name not in OPTIONS else f"{{{name!r}: 1}} as the second argument"
        help += f"; for one of them write {map_option(missing, known)}, for a number "
        help += command_or_python(f"{name}=1", keyword)
    help = "; or ".join(
        filter(None, (name and value_hint(name), did_you_mean(column, known, help)))
    )
    return InputError("bad-column", f"'{source.path}' has no column '{column}'", help=help)


def map_option(names: Sequence[str], columns: Sequence[str]) -> str:
    """Write the option that takes names from columns: each from the one that it equals or abbreviates."""
    found = {name: likely_column(name, columns) or "COLUMN" for name in names}
    pairs = ",".join(f"{name}={column}" for name, column in found.items())
    return command_or_python(
        f'--map "{pairs}"' if re.search(r"[^\w=,]", pairs) else f"--map {pairs}", f"map={found}"
    )


def likely_column(name: str, columns: Iterable[str]) -> str | None:
    """Return the column that a name equals or abbreviates, case and unit ignored, if any."""
    titles = {re.sub(r"[^\w]*[(\[].*", "", column).casefold(): column for column in columns}
    begun = (column for title, column in titles.items() if title.startswith(name.casefold()))
    return titles.get(name.casefold()) or next(begun, None)


def read_schema(
    job: BatchJob, source: RowFile, schema: Any, kept: Sequence[str], is_plain: bool
) -> Any:
    """The columns that are read, with types.

    CSV does not say what its cells are: numbers that the formula reads are doubles, and all else is passed
    on unchanged; so are the numbers, too, where the output is text as well.
    """
    pa = import_arrow()
    keys = {key.name for key in source.keys}
    is_loose, is_text_format = FORMATS[source.format].is_loose, FORMATS[source.format].is_text
    twice = [name for name, count in Counter(kept).items() if count > 1]
    if twice:
        raise InputError(
            "bad-column",
            f"'{source.path}' has several columns named '{twice[0]}'",
            help="--only writes the results alone, without the columns that are read",
        )
    numeric = columns_to_read(job)
    own = [name for name in schema.names if name not in keys]
    names = dict.fromkeys([*kept, *numeric, *job.by])
    if keys.issuperset(names):
        names |= dict.fromkeys(own[:1])  # something has to say how many rows there are

    def field(name: str) -> Any:
        if name in keys or not is_loose:
            return schema.field(name)
        if name in numeric and not is_plain:
            return pa.field(name, pa.float64())
        return pa.field(name, pa.string()) if is_text_format else schema.field(name)

    return pa.schema([field(name) for name in names])


def refuse_nested(schema: Any, kept: Sequence[str], format: str) -> None:
    """Refuse columns of lists, objects or bytes that the output's format has no room for."""
    for name in kept:
        words = describe_type(schema.field(name).type)
        by_room = sorted(FORMATS.values(), key=lambda row: -len(row.room))
        room = [row.name for row in by_room if words in row.room]
        if format and room and format not in room:
            others = " and .".join([", .".join(room[:-1]), room[-1]])
            raise InputError(
                "bad-column",
                f"column '{name}' holds {words}, which {format.upper()} cannot hold",
                help=f"--only leaves it out; -o FILE.{others} have room",
            )


def widen_schema(
    first: RowFile, source: RowFile, one: Any, other: Any, names: Sequence[str], is_plain: bool
) -> Any:
    """The columns of the first file, with types that have room for another's; an error where none has."""
    counts = Counter(other.names)
    for name in names:
        if counts[name] != 1:
            raise InputError(
                "bad-column",
                f"'{source.path}' has no column '{name}', and '{first.path}' has one",
                help="--only leaves such columns out",
            )
        kinds = one.field(name).type, other.field(name).type
        is_typed = not (is_plain or FORMATS[first.format].is_loose)
        shared = common_type(*kinds) if is_typed else kinds[0]
        if shared is None:
            raise InputError(
                "bad-column",
                f"column '{name}' is {kinds[1]} in '{source.path}', and {kinds[0]} in '{first.path}'",
                help="--only leaves such columns out",
            )
        one = one.set(one.get_field_index(name), one.field(name).with_type(shared))
    return one


def refuse_name_clashes(kept: Sequence[str], found: Sequence[str], source: RowFile) -> None:
    """Refuse results that have the name of a column, or of each other."""
    clash = next((name for name in found if name in kept), None)
    if clash is not None:
        option, example = (
            command_or_python("--prefix", "prefix"),
            command_or_python("--prefix f_", "prefix='f_'"),
        )
        raise InputError(
            "bad-column",
            f"'{source.path}' already has a column '{clash}', which is the name of a result",
            help=f"{option} renames it: {example} makes it 'f_{clash}'",
        )
    twice = next((name for name, count in Counter(found).items() if count > 1), None)
    if twice is not None:
        raise InputError(
            "bad-column",
            f"two results would be called '{twice}'",
            help="rename the statements or the inputs",
        )


# Folders: a file for each file that is read, under the same name.


def output_file(path: str, format: str, source: RowFile) -> str:
    """The file in a folder that the rows of another file go to."""
    bare, packing = split_packing(source.name)
    name = source.name
    if source.format != format:
        name = bare[: bare.rindex(".")] + FORMATS[format].endings[0]
    elif packing != "gzip":
        name = bare
    return f"{path}/{name}"


def check_folder(
    path: str, format: str, sources: Sequence[RowFile], data: Iterable[str]
) -> set[str]:
    """Errors for a folder that cannot be written, or whose rows would be mixed up with others.

    Returns the columns that the names of its own folders say: files don't have to say them again.
    """
    if any(source.path == STDIN for source in sources):
        raise RequestError(
            "usage",
            "rows from a pipe have no name that a file in a folder could have",
            help="name a file: -o FILE",
        )
    for given in data:
        if is_inside_folder(path, given) or any(
            is_inside_folder(source.path, path) for source in sources
        ):
            raise RequestError(
                "file",
                f"'{path}' is an input, and so cannot be written",
                help="name another folder",
            )
    outputs = [output_file(path, format, source) for source in sources]
    twice = next((name for name, count in Counter(outputs).items() if count > 1), None)
    if twice is not None:
        raise RequestError(
            "usage",
            f"two files would be written to '{twice}'",
            help="give one folder, or one glob, that has all",
        )
    remote = remote_store(path)
    is_there = remote[0].exists(remote[1]) if remote else Path(path).exists()
    if is_there and remote is None and not Path(path).is_dir():
        raise RequestError("file", f"cannot write into '{path}': it is a file")
    known = {name.removeprefix(f"{path}/") for name in outputs}
    listed = expand_path(path, tuple(BY_ENDING)) if is_there else ()
    others = [name for _, name in listed if name not in known]
    if others:
        raise RequestError(
            "file",
            f"'{path}' holds rows that this run would not write: '{others[0]}'",
            help="name another folder, or remove what is there",
        )
    keys = folder_keys([source.name for source in sources])
    return set.intersection(*({key.name for key in one} for one in keys))
