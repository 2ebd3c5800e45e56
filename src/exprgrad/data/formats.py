"""The formats of rows in files: how each is recognised, read in batches, and written.

If a block of text cannot be read as numbers, it is read again as text, so that only single cells are wrong.
Each row is read once, even from a pipe, and a bad row costs no other.

Parquet is written a row group at a time: each is encoded as a file of its own, and these are joined to one.
"""

from __future__ import annotations

import io
import json
import re
from base64 import b64decode, b64encode
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from functools import lru_cache, partial
from itertools import chain
from typing import IO, Any, NamedTuple

import numpy as np

from exprgrad.data.arrow import (
    MISSING,
    arrow_doubles,
    broken_file_error,
    cast_times_and_decimals,
    cast_to_text,
    import_arrow,
    is_text_type,
)
from exprgrad.data.places import (
    HEAD,
    LONGEST,
    STDIN,
    UNPACKED,
    WORKBOOK,
    FolderKey,
    RowFile,
    file_stamp,
    open_unpacked,
    read_head,
    remote_store,
    split_packing,
    standard_input,
)
from exprgrad.data.threads import Threads, map_in_order
from exprgrad.errors import ExprgradError, InputError, RequestError, command_or_python
from exprgrad.run.values.files import fields_given_once
from exprgrad.run.values.layouts import (
    DECIMAL_COMMAS,
    LAST_WHOLE,
    Layout,
    change_of,
    detect_layout,
    rewrite_rows,
)
from exprgrad.source import cut_text

__all__ = [
    "BATCH", "BLOCK", "BY_ENDING", "FORMATS", "ParquetWriter", "Partition", "RowWriter", "format_by_ending",
    "inspect_row_file", "read_batches", "sample_file", "split_into_partitions",
]  # fmt: skip

BATCH = 2**16
"""The rows of a batch, as far as the format lets us say."""
READ = 2**20
"""The bytes of a Parquet file that are read at a time."""
PARTITION = 2**22
"""From so many rows on a file is several partitions, if it is in pieces that stand alone."""

BLOCK = 2**21
"""The bytes of a block."""
SHOWN = 60
"""Where a line is cut in a message."""


class Partition(NamedTuple):
    """Rows that are worked on as one task: some of the pieces that a file is divided into.

    ``first`` and ``last``  the first piece (a row group, a record batch), and the one after the last;
                            -1 stands for the whole file
    ``row``                 the rows of the file before it
    ``rows``                how many it has; -1 if that is not known yet
    """

    source: RowFile
    first: int = 0
    last: int = -1
    row: int = 0
    rows: int = -1


class RowWriter:
    """Writes batches of one schema to an open file, which ``close`` leaves open.

    Formats of lines need nothing else: each line stands for itself, and nothing follows the last.
    """

    file: IO[bytes]

    def encoded(self, batch: Any, aside: bool = False) -> Any:
        """Some rows as ``write`` takes them; any thread may encode them, ``aside``."""
        return batch

    def write(self, encoded: Any) -> None:
        """Write some rows."""
        self.file.write(encoded)

    def memo(self) -> str:
        """What to know, beside the bytes since the last memo, for another process to go on with them."""
        return ""

    def close(self) -> None:
        """Write what comes after the last of them."""


class Format(NamedTuple):
    """A format: its endings, and the functions that read and write it.

    ``sample`` returns a file, with its layout as read from its first bytes, and a table of its columns,
    with first rows if these decide the types.  ``pieces`` lists the row counts of a file's pieces,
    if they can be read independently.
    ``is_text``: all cells are texts.  ``is_loose``: a cell's type may differ from those above it.
    """

    endings: tuple[str, ...]
    sample: Callable[[RowFile], tuple[RowFile, Any]]
    batches: Callable[[Partition, Sequence[str], Any, Threads | None], Iterator[Any]]
    writer: Callable[[IO[bytes], Any], RowWriter]
    is_text: bool = False
    is_loose: bool = False
    pieces: Callable[[RowFile], list[int]] = lambda source: []


# Texts, by blocks of whole lines.


def line_blocks(file: IO[bytes], path: str, *, quoted: bool) -> Iterator[bytes]:
    """A text in blocks of whole lines; if cells may be ``quoted``, they may contain line ends."""
    rest = b""
    while read := file.read(BLOCK):
        data = rest + read
        last = end = data.rfind(b"\n") + 1
        quotes = data.count(b'"', 0, end) if quoted and b'"' in data else 0
        while quotes % 2:
            before = data.rfind(b"\n", 0, end - 1) + 1
            quotes -= data.count(b'"', before, end)
            end = before
        if len(data) - end > LONGEST:
            end = last
        if end:
            yield data[:end]
        rest = data[end:]
        if len(rest) > LONGEST:
            raise InputError("bad-file", f"'{path}' has a line of more than {LONGEST:,} bytes")
    if rest:
        yield rest


def read_blocks_in_order(
    texts: Iterable[bytes],
    read: Callable[[bytes, int], Any],
    count: Callable[[bytes, Any], int],
    threads: Threads | None,
) -> Iterator[Any]:
    """The rows of blocks, read side by side, in batches.

    A block with an error is read again in its turn, when the number of rows or lines ahead of it is known,
    it, as ``count`` has them of a block: so the error tells the place in the file.
    """

    def tried(block: bytes) -> tuple[bytes, Any]:
        with suppress(ExprgradError):
            return block, read(block, 0)
        return block, None

    before = 0
    for block, table in map_in_order(tried, texts, threads):
        found = read(block, before) if table is None else table
        before += count(block, found)
        yield from found.combine_chunks().to_batches()


LONG_DIGITS = re.compile(rb"\d{16}")
TINY = [re.compile(signs) for signs in (rb"e-\d{3}", rb"E-\d{3}", rb"0{200}")]
"""How numbers are written that may be too long for a double, or too small."""


def has_unsafe_numbers(columns: Iterable[Any], block: bytes) -> bool:
    """Whether a cell of a block of text may say another number than the double that was read."""
    values = [np.abs(column.to_numpy()) for column in columns]
    return bool(
        any(np.isinf(one).any() for one in values)
        or (any((one >= LAST_WHOLE).any() for one in values) and LONG_DIGITS.search(block))
        or (not all(one.all() for one in values) and any(signs.search(block) for signs in TINY))
    )


def decode_head(line: bytes, path: str) -> str:
    """The text of some lines at the beginning of a file."""
    if line.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        raise RequestError(
            "encoding",
            f"'{path}' is UTF-16",
            help=f"iconv -f UTF-16 -t UTF-8 {path} | exprgrad … --data -",
        )
    unpacking = next((UNPACKED[signs] for signs in UNPACKED if line.startswith(signs)), None)
    if unpacking is not None:
        raise InputError(
            "bad-file",
            f"'{path}' is compressed: its first bytes are not those of a text",
            help=f"{unpacking} FILE | exprgrad … --data -",
        )
    if b"\0" in line:
        raise InputError("bad-file", f"'{path}' is not a text file: it contains zero bytes")
    try:
        return line.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        byte = f"byte 0x{line[error.start]:02x} at offset {error.start}"
        raise RequestError(
            "encoding",
            f"'{path}' is not UTF-8 text: {byte}",
            help=f"iconv -f LATIN1 -t UTF-8 {path} | exprgrad … --data -",
        ) from None


def empty_file_error(path: str) -> InputError:
    """The error for an empty file."""
    return InputError("bad-file", f"'{path}' is empty: it has no columns")


# CSV.


def detect_csv_layout(source: RowFile, start: bytes) -> Layout:
    """How a CSV or TSV file is written, given how it begins."""
    given = source.layout
    if source.format == "tsv":
        given = given._replace(delimiter=given.delimiter or "\t")
    text = decode_head(start, source.path)
    found = detect_layout(text, given)
    if not text.strip():
        raise empty_file_error(source.path)
    if not found.names:
        raise InputError(
            "bad-file",
            f"the first line of '{source.path}' holds numbers instead of column names",
            help="add a line of column names above it",
        ).quoting(text.strip().partition("\n")[0])
    if text[: found.start].count('"') % 2:
        raise InputError(
            "bad-file",
            f"cannot read the first line of '{source.path}'",
            help="a quote may not be closed",
        )
    length = len(text[: found.start].encode()) + len(BOM_UTF8) * start.startswith(BOM_UTF8)
    return found._replace(start=length)


def csv_sample(source: RowFile) -> tuple[RowFile, Any]:
    """A CSV file with its layout, its columns, and the rows at its beginning."""
    start = trim_to_whole_lines(read_head(source.path, source.layout.sheet))
    found = detect_csv_layout(source, start)
    rows = normalize_lines(start[found.start :], found)
    table = csv_table(source.path, rows, found, [*range(len(found.names))], None, 0)
    return source._replace(layout=found), table.rename_columns([*found.names])


def normalize_lines(block: bytes, found: Layout) -> bytes:
    """A block of lines as ``csv_table`` reads them; all that is changed is ASCII."""
    is_plain = found.delimiter != " " and not found.is_closed
    marks = (found.comment or "\n ").encode(), b"\n "
    if is_plain and not any(mark in block for mark in marks):
        return block
    return rewrite_rows(block.decode("latin-1"), found).encode("latin-1")


def trim_to_whole_lines(start: bytes) -> bytes:
    """Drop a head's last line, which may be cut short; keep a short head, which is a whole file."""
    end = start.rfind(b"\n") + 1
    return start[:end] if end and len(start) >= HEAD // 16 else start


def csv_table(
    path: str, block: bytes, found: Layout, places: Sequence[int], types: Any, row: int
) -> Any:
    """Some columns of a block of lines, after some rows; ``types`` by place, or None to guess."""
    csv, pa = import_arrow("csv"), import_arrow()
    keys = [str(at) for at in range(len(found.names))]
    wrong: list[Any] = []

    def ragged(found: Any) -> str:
        wrong.append(found)
        return "skip"

    if not block or block.isspace():
        kinds = types or {}
        return pa.table({keys[at]: pa.array([], kinds.get(keys[at], pa.null())) for at in places})
    has_texts = any(map(is_text_type, (types or {}).values()))  # in which NA is no missing cell
    nulls = {
        "null_values": [""] if has_texts else MISSING,
        "strings_can_be_null": has_texts,
        "quoted_strings_can_be_null": not has_texts,
    }
    table = csv.read_csv(
        pa.BufferReader(block),
        csv.ReadOptions(column_names=keys, block_size=len(block) + 1, use_threads=False),
        csv.ParseOptions(
            delimiter=found.delimiter,
            newlines_in_values=b'"' in block,
            invalid_row_handler=ragged,
        ),
        csv.ConvertOptions(
            column_types=types,
            include_columns=[keys[at] for at in places],
            decimal_point=found.decimal,
            **nulls,
        ),
    )
    if wrong:
        text, has, should = wrong[0].text, wrong[0].actual_columns, wrong[0].expected_columns
        line = re.search(rb"(?m)^" + re.escape(text.encode()) + rb"\r?$", block)
        row += block.count(b"\n", 0, line.start() if line else 0) + 1
        cells = f"{has} cell{'s' * (has != 1)}"
        raise InputError(
            "bad-file",
            f"row {row:,} of '{path}' has {cells}, and the header {should}",
            help="put # before lines above the header, and quotes around a cell with the delimiter",
        ).quoting(cut_text(text, SHOWN))
    return normalize_decimals(table) if found.decimal == "," else table


def normalize_decimals(table: Any) -> Any:
    """The same rows, with decimal points in texts."""
    replace = import_arrow("compute").replace_substring_regex
    for at, column in enumerate(table.columns):
        if is_text_type(column.type):
            for pattern, point in DECIMAL_COMMAS:
                column = replace(column, pattern, point)
            table = table.set_column(at, table.field(at), column)
    return table


def csv_batches(
    partition: Partition, columns: Sequence[str], schema: Any, threads: Threads | None
) -> Iterator[Any]:
    """The rows of a CSV file in some columns, of the types that a schema says, in batches.

    Where a cell of a number is none, all cells of that column are texts, as far as the batch goes.
    """
    source, found = partition.source, partition.source.layout
    with open_unpacked(source.path, found.sheet) as file:
        lines = line_blocks(file, source.path, quoted=True)
        first = next(lines, b"")
        places = {name: str(place) for place, name in enumerate(found.names)}
        types = {places[name]: schema.field(name).type for name in columns}

        def read(block: bytes, row: int) -> Any:
            rows = normalize_lines(block, found)
            return typed_table(source.path, rows, found, types, row).rename_columns([*columns])

        texts = chain([first[found.start :]], lines)
        yield from read_blocks_in_order(texts, read, lambda _, table: table.num_rows, threads)


def typed_table(path: str, block: bytes, found: Layout, types: Mapping[str, Any], row: int) -> Any:
    """A block's columns, with types by place; those of numbers are texts if a cell is no double."""
    pa = import_arrow()
    real = [at for at, kind in types.items() if kind == pa.float64()]
    texts = {**types, **dict.fromkeys(real, pa.string())}
    with suppress(pa.ArrowInvalid):
        table = csv_table(path, block, found, [*map(int, types)], types, row)
        if not has_unsafe_numbers(map(table.column, real), block):
            return table
    try:
        return csv_table(path, block, found, [*map(int, types)], texts, row)
    except pa.ArrowInvalid as error:
        raise misread_column_error(path, error, found) from None


def misread_column_error(path: str, error: Exception, found: Layout) -> ExprgradError:
    """The error for a column that turns out to be of another type than it began with."""
    words = str(error).partition("\n")[0]
    known = re.match(r"In CSV column #(\d+): CSV conversion error to (\S+): (.*)", words)
    if known is None:
        return InputError(
            "bad-file", f"cannot read '{path}': {command_or_python(words, 'it is damaged')}"
        )
    name = found.names[int(known[1])]
    if "UTF8" in known[3]:
        return RequestError("encoding", f"column '{name}' of '{path}' is not UTF-8 text")
    other = command_or_python(f"an {known[3]}", "other cells")
    return InputError(
        "bad-file",
        f"column '{name}' of '{path}' holds {known[2]} in its first rows, then {other}",
        help="--only leaves it out",
    )


class CsvWriter(RowWriter):
    """Writes rows as CSV, or as TSV: numbers as the shortest text that reads back."""

    def __init__(self, file: IO[bytes], schema: Any, separator: str = ",") -> None:
        self.file = file
        self.separator = separator
        self.signs = f'^$|[{separator}"\r\n]'  # an empty text is quoted: a missing cell is empty
        names = import_arrow().array(schema.names, import_arrow().string())
        file.write(
            separated_lines(
                [quote_cells(names.slice(at, 1), self.signs) for at in range(len(names))], separator
            )
        )

    def encoded(self, batch: Any, aside: bool = False) -> bytes:
        """Some rows as lines."""
        csv, pc = import_arrow("csv"), import_arrow("compute")
        batch = decode_dictionaries(batch)
        if batch.num_columns == 1 and batch.column(0).null_count:  # an empty line is no row
            cells = quote_cells(batch.column(0).cast(import_arrow().string()), self.signs)
            return separated_lines([cells.fill_null('""')], self.separator)
        texts = [column for column in batch.columns if is_text_type(column.type)]
        if any(pc.any(pc.match_substring_regex(one, self.signs)).as_py() for one in texts):
            cells = [
                quote_cells(one, self.signs)
                if is_text_type(one.type)
                else one.cast(import_arrow().string())
                for one in batch.columns
            ]
            return separated_lines(cells, self.separator)
        options = csv.WriteOptions(
            include_header=False, delimiter=self.separator, quoting_style="none"
        )
        lines = io.BytesIO()
        csv.write_csv(batch, lines, options)
        return lines.getvalue()


def decode_dictionaries(batch: Any) -> Any:
    """Decode dictionary columns; write times and decimals as texts."""
    pa = import_arrow()
    columns = [
        one.dictionary_decode() if pa.types.is_dictionary(one.type) else one
        for one in batch.columns
    ]
    return pa.RecordBatch.from_arrays([*map(cast_times_and_decimals, columns)], batch.schema.names)


def quote_cells(texts: Any, signs: str) -> Any:
    """Cells, quoted if they contain one of some characters."""
    pc = import_arrow("compute")
    doubled = pc.replace_substring(texts, '"', '""')
    inside = pc.binary_join_element_wise('"', doubled, '"', "")
    return pc.if_else(pc.match_substring_regex(texts, signs), inside, texts)


def separated_lines(columns: Sequence[Any], separator: str) -> bytes:
    """Lines of cells, as bytes; a missing cell is empty."""
    pieces = [piece for column in columns for piece in (column.fill_null(""), separator)]
    return join_row_texts([*pieces[:-1], "\n"])


def join_row_texts(pieces: Sequence[Any]) -> bytes:
    """Columns of texts, and texts that are the same in each row, put together row by row."""
    kind = import_arrow().large_string()
    texts = [
        import_arrow().scalar(one, kind) if isinstance(one, str) else one.cast(kind)
        for one in pieces
    ]
    rows = import_arrow("compute").binary_join_element_wise(*texts, import_arrow().scalar("", kind))
    _, places, signs = rows.buffers()
    offsets = np.frombuffer(places, np.int64)[rows.offset : rows.offset + len(rows) + 1]
    return memoryview(signs)[offsets[0] : offsets[-1]].tobytes()


# JSON lines.


def json_sample(source: RowFile) -> tuple[RowFile, Any]:
    """A file of JSON lines, its columns, and the rows at its beginning."""
    start = read_head(source.path)
    if not start.strip():
        raise empty_file_error(source.path)
    rows = trim_to_whole_lines(start)
    decode_head(rows, source.path)
    try:
        table = json_table(rows, None)
        kinds = [(field.name, json_column_type(field.type)) for field in table.schema]
        table = json_table(rows, import_arrow().schema(kinds))
    except import_arrow().ArrowInvalid:
        table = json_table_by_line(rows, source.path, 0)
    if not table.num_columns:
        raise InputError(
            "bad-file",
            f"the first lines of '{source.path}' are objects without a name: it has no columns",
        )
    return source, table


def json_column_type(kind: Any) -> Any:
    """The type of a JSON column; text that looks like a time stays text."""
    pa = import_arrow()
    if pa.types.is_timestamp(kind):
        return pa.string()
    if pa.types.is_list(kind):
        return pa.list_(json_column_type(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct([(one.name, json_column_type(one.type)) for one in kind])
    return kind


def json_table(block: bytes, schema: Any) -> Any:
    """A block of lines; a schema says which columns, or None: all."""
    json, pa = import_arrow("json"), import_arrow()
    block = block.removeprefix(BOM_UTF8)
    behavior = "infer" if schema is None else "ignore"
    return json.read_json(
        pa.BufferReader(block),
        json.ReadOptions(block_size=len(block) + 1, use_threads=False),
        json.ParseOptions(explicit_schema=schema, unexpected_field_behavior=behavior),
    )


def json_batches(
    partition: Partition, columns: Sequence[str], schema: Any, threads: Threads | None
) -> Iterator[Any]:
    """The rows of a file of JSON lines in some columns, as ``csv_batches`` has them."""
    path = partition.source.path
    read = partial(
        json_block_rows, path, import_arrow().schema([schema.field(name) for name in columns])
    )
    with open_unpacked(path) as file:
        lines = line_blocks(file, path, quoted=False)
        yield from read_blocks_in_order(lines, read, lambda block, _: block.count(b"\n"), threads)


def json_block_rows(path: str, wanted: Any, block: bytes, line: int) -> Any:
    """A block's rows in some columns; ``line`` lines come before it."""
    if not block.strip():
        return wanted.empty_table()
    try:
        table = json_table(block, wanted)
        real = [one for one in table.columns if import_arrow().types.is_floating(one.type)]
        if has_unsafe_numbers(real, block):
            table = json_table_by_line(block, path, line, wanted)
    except import_arrow().ArrowInvalid:
        table = json_table_by_line(block, path, line, wanted)
    return table.select(wanted.names)


def json_table_by_line(block: bytes, path: str, line: int, schema: Any = None) -> Any:
    """A block of lines, one by one; a column with a cell that is not a number becomes text."""
    pa = import_arrow()
    rows = []
    for number, text in enumerate(block.removeprefix(BOM_UTF8).splitlines(), line + 1):
        if not text.strip():
            continue
        try:
            row = json.loads(text, object_pairs_hook=fields_given_once, parse_float=parse_json_real)
        except InputError as error:
            raise error.at(path) from None
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            raise InputError(
                "bad-file",
                f"line {number:,} of '{path}' is not a JSON object",
                help="each row is one, on a line of its own",
            ).quoting(cut_text(text.decode(errors="replace"), SHOWN))
        rows.append(row)
    if schema is None:
        names = list(dict.fromkeys(name for row in rows for name in row))
        return pa.table({name: json_column([row.get(name) for row in rows]) for name in names})
    return pa.table(
        {
            field.name: json_column([row.get(field.name) for row in rows], field.type)
            for field in schema
        }
    )


def parse_json_real(text: str) -> float | str:
    """A number of JSON as a double, or as its text where that may be another number."""
    value = float(text)
    return text if change_of(text, value) else value


def json_column(values: list[Any], kind: Any = None) -> Any:
    """Values of JSON as a column of a type; as texts where they don't fit."""
    pa = import_arrow()
    try:
        return pa.array(values, kind)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        is_real = kind is not None and pa.types.is_floating(kind)
        return pa.array([json_value_text(value, is_real) for value in values], pa.string())


def json_value_text(value: Any, is_real: bool) -> str | None:
    """A value of JSON as a text: the same for one number in a column, however it is written."""
    if is_real and isinstance(value, int) and abs(value) <= LAST_WHOLE:
        value = float(value)
    if not is_real and isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if value is None or isinstance(value, str) else json.dumps(value)


class JsonWriter(RowWriter):
    """Writes rows as JSON lines, column by column; what is not finite becomes a text."""

    def __init__(self, file: IO[bytes], schema: Any) -> None:
        self.file = file
        names = [json.dumps(name, ensure_ascii=False) for name in schema.names]
        self.heads = [f"{', ' if at else '{'}{name}: " for at, name in enumerate(names)]

    def encoded(self, batch: Any, aside: bool = False) -> bytes:
        """Some rows as lines."""
        cells = map(json_cells, decode_dictionaries(batch).columns)
        pieces = [piece for pair in zip(self.heads, cells, strict=True) for piece in pair]
        return join_row_texts([*pieces, "}\n"])


CONTROL = "[\x00-\x1f]"
"""Signs that JSON has in texts by their numbers alone."""


def json_cells(column: Any) -> Any:
    """A column's cells as JSON writes them."""
    pa, pc = import_arrow(), import_arrow("compute")
    kind, types = column.type, pa.types
    if is_text_type(kind) and not pc.any(pc.match_substring_regex(column, CONTROL)).as_py():
        for sign in ("\\", '"'):
            column = pc.replace_substring(column, sign, f"\\{sign}")
        found = pc.binary_join_element_wise('"', column, '"', "")
    elif types.is_floating(kind):
        found = real_cells(column)
    elif types.is_integer(kind) or types.is_boolean(kind):
        found = column.cast(pa.string())
    else:
        cells = column.to_pylist()
        found = pa.array([None if cell is None else json_cell(cell) for cell in cells], pa.string())
    return found.fill_null("null")


def real_cells(column: Any) -> Any:
    """Doubles as JSON writes them: the shortest texts, and ``1.0`` for what is whole."""
    pa, pc = import_arrow(), import_arrow("compute")
    texts = column.cast(pa.string())
    values = column.fill_null(0.0).to_numpy(zero_copy_only=False)
    is_finite = np.isfinite(values)
    is_whole = is_finite & (values == np.floor(values))
    if is_whole.any():
        is_plain = pc.and_(pa.array(is_whole), pc.invert(pc.match_substring(texts, "e")))
        texts = pc.if_else(is_plain, pc.binary_join_element_wise(texts, ".0", ""), texts)
    if not is_finite.all():
        quoted = pc.binary_join_element_wise('"', texts, '"', "")
        texts = pc.if_else(pa.array(is_finite), texts, quoted)
    return texts


def json_cell(value: Any) -> str:
    """A cell of lists, objects or bytes, or a text of any signs."""
    write = json.JSONEncoder(ensure_ascii=False, default=str, allow_nan=False).encode
    try:
        return write(value)
    except ValueError:  # a number in it is not finite
        names = {"NaN": "nan", "Infinity": "inf", "-Infinity": "-inf"}
        return write(json.loads(json.dumps(value, default=str), parse_constant=names.get))


# Parquet.


def parquet_sample(source: RowFile) -> tuple[RowFile, Any]:
    """A Parquet file and its columns."""
    with open_unpacked(source.path) as file:
        return source, import_arrow("parquet").read_schema(file).empty_table()


def parquet_pieces(source: RowFile) -> list[int]:
    """The rows of each row group."""
    with open_unpacked(source.path) as file:
        metadata = import_arrow("parquet").read_metadata(file)
        return [metadata.row_group(at).num_rows for at in range(metadata.num_row_groups)]


def parquet_batches(
    partition: Partition, columns: Sequence[str], schema: Any, threads: Threads | None
) -> Iterator[Any]:
    """The rows of some row groups."""
    path = partition.source.path
    is_here = remote_store(path) is None
    with nullcontext(path) if is_here else open_unpacked(path) as file:
        # Row groups read ahead fill the memory, which only pays where each request takes long.
        found = import_arrow("parquet").ParquetFile(file, pre_buffer=not is_here, buffer_size=READ)
        last = found.num_row_groups if partition.last < 0 else partition.last
        groups = [*range(partition.first, last)]
        if groups:
            side_by_side = threads is not None
            yield from found.iter_batches(BATCH, groups, list(columns), use_threads=side_by_side)


MAGIC = b"PAR1"
"""How a Parquet file begins and ends."""
MARGIN = 2**20
"""The bytes that rows may take in a file, beyond a quarter more than in memory, at the first try."""


class RowGroupStream(io.RawIOBase):
    """Writes row groups to a file as they come, without how a file begins, and keeps the footer."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file, self.footer, self.is_rows, self.rows = file, io.BytesIO(), True, 0

    def writable(self) -> bool:
        """Yes."""
        return True

    def write(self, signs: Any) -> int:
        """Write some bytes."""
        size = len(signs)
        if not self.is_rows:
            return self.footer.write(signs)
        skipped = max(len(MAGIC) - self.rows, 0)
        self.file.write(memoryview(signs)[skipped:])
        self.rows += size
        return size


class ParquetWriter(RowWriter):
    """Writes rows as Parquet: each batch is a row group, which any thread may encode.

    ``memos`` say where the row groups are that the file has already.
    """

    def __init__(self, file: IO[bytes], schema: Any, memos: Sequence[str] = ()) -> None:
        self.file, self.schema, self.metadata = file, schema, None
        for footer in ",".join(filter(None, memos)).split(",") if any(memos) else ():
            self.take(b64decode(footer))
        self.fresh: list[bytes] = []
        self.spare: list[np.ndarray] = []  # new memory costs more than to write into it
        self.end = file.tell()
        if not self.end:
            self.end = file.write(MAGIC)

    def encoded(self, batch: Any, aside: bool = False) -> Any:
        """Some rows as a file of their own: the memory that it is in, and its bytes; or as they are."""
        if not aside:
            return batch
        size = batch.nbytes + batch.nbytes // 4 + MARGIN
        memory = self.spare.pop() if self.spare else np.empty(size, dtype=np.uint8)
        while True:
            sink = import_arrow().FixedSizeBufferWriter(import_arrow().py_buffer(memory))
            try:
                with import_arrow("parquet").ParquetWriter(sink, self.schema) as writer:
                    writer.write_batch(batch)
                return memory, sink.tell()
            except OSError:  # there is no room
                memory = np.empty(2 * max(size, len(memory)), dtype=np.uint8)

    def write(self, encoded: Any) -> None:
        """Write the row groups of such a file, or of rows: straight, for what is read again takes time."""
        if not isinstance(encoded, tuple):
            straight = RowGroupStream(self.file)
            with import_arrow("parquet").ParquetWriter(straight, self.schema) as writer:
                writer.write_batch(encoded)
                straight.is_rows = False
            self.join(straight.footer.getvalue()[: -4 - len(MAGIC)])
            self.end += straight.rows - len(MAGIC)
            return
        memory, size = encoded
        whole = memoryview(memory)[:size]
        ends = len(whole) - len(MAGIC) - 4
        start = ends - int.from_bytes(whole[ends : ends + 4], "little")
        self.join(bytes(whole[start:ends]))
        self.end += self.file.write(whole[len(MAGIC) : start])
        self.spare.append(memory)

    def join(self, footer: bytes) -> None:
        """Take up the footer of a file whose row groups begin where this one ends."""
        self.fresh.append(shift_footer(footer, self.end - len(MAGIC)))
        self.take(self.fresh[-1])

    def take(self, footer: bytes) -> None:
        """Take up a footer, after those before."""
        file = MAGIC + footer + len(footer).to_bytes(4, "little") + MAGIC
        found = import_arrow("parquet").read_metadata(io.BytesIO(file))
        if self.metadata is None:
            self.metadata = found
        else:
            self.metadata.append_row_groups(found)

    def footer(self) -> bytes:
        """What says where the row groups are."""
        found = io.BytesIO()
        assert self.metadata is not None
        self.metadata.write_metadata_file(found)
        return found.getvalue()[len(MAGIC) :]

    def memo(self) -> str:
        """The footers since the last memo."""
        fresh, self.fresh = self.fresh, []
        return ",".join(b64encode(one).decode() for one in fresh)

    def close(self) -> None:
        """Write the footer; readers look for columns in the first row group, so there is one."""
        if self.metadata is None:
            self.write(import_arrow().RecordBatch.from_pylist([], self.schema))
        self.file.write(self.footer())


# A Parquet file's footer says where its row groups are, as a struct in Thrift's compact protocol.  All is
# copied as it stands but those places.

PLACES = frozenset(
    [(4, 5), (4, 1, 2), (4, 1, 4), (4, 1, 6), *((4, 1, 3, field) for field in (9, 10, 11, 14))]
)
"""The numbers of the fields that say where something is: of row groups (4), and of their columns (1)."""
TRUE, FALSE, BYTE, INT64, DOUBLE, BINARY, LIST, SET, STRUCT = 1, 2, 3, 6, 7, 8, 9, 10, 12
INTEGERS = (4, 5, INT64)
SIZES = {TRUE: 0, FALSE: 0, BYTE: 1, DOUBLE: 8}
"""The types whose values always take the same number of bytes."""


def shift_footer(footer: bytes, by: int) -> bytes:
    """A footer whose row groups are so many bytes further on; raises ``ValueError`` for another struct."""
    found, copied = bytearray(), 0
    for path, start, end, number in footer_integers(io.BytesIO(footer)):
        if number and path in PLACES:
            found += footer[copied:start] + encode_varint(number + 2 * by)
            copied = end
    return bytes(found + footer[copied:])


def footer_integers(
    footer: IO[bytes], kind: int = STRUCT, path: tuple[int, ...] = ()
) -> Iterator[tuple[tuple[int, ...], int, int, int]]:
    """Every integer in a footer: its field numbers, where it begins and ends, and twice what it is.

    Structs and lists call it for what is in them: no footer nests more than a few.
    """
    if kind == STRUCT:
        field = 0
        while head := footer.read(1)[0]:
            field = field + (head >> 4) if head >= 16 else read_varint(footer) // 2
            yield from footer_integers(footer, head & 15, (*path, field))
    elif kind in (LIST, SET):
        head = footer.read(1)[0]
        count = head >> 4 if head < 240 else read_varint(footer)
        inner = BYTE if head & 15 in (TRUE, FALSE) else head & 15
        for _ in range(count):
            yield from footer_integers(footer, inner, path)
    elif kind in INTEGERS:
        start, number = footer.tell(), read_varint(footer)
        yield path, start, footer.tell(), number
    elif kind == BINARY:
        footer.seek(read_varint(footer), io.SEEK_CUR)
    elif kind in SIZES:
        footer.seek(SIZES[kind], io.SEEK_CUR)
    else:
        raise ValueError(f"a field of type {kind} in a footer")


def read_varint(footer: IO[bytes]) -> int:
    """Read a number, seven bits to a byte, the lowest first."""
    value = place = 0
    while (byte := footer.read(1)[0]) > 127:
        value |= (byte & 127) << place
        place += 7
    return value | byte << place


def encode_varint(number: int) -> bytes:
    """A number that is not negative, as ``read_varint`` reads it."""
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])


# Arrow's own.


@lru_cache(maxsize=1)
def open_arrow_stream(file: Any) -> Any:
    """The reader of an Arrow stream from a pipe, which sends its schema only once."""
    return import_arrow("ipc").open_stream(file)


def ipc_reader(file: Any, path: str) -> Any:
    """The reader of an Arrow file, or of an Arrow stream."""
    pa, ipc = import_arrow(), import_arrow("ipc")
    if path == STDIN:
        return open_arrow_stream(file)
    try:
        return ipc.open_file(file)
    except pa.ArrowInvalid:
        file.seek(0)
        return ipc.open_stream(file)


def ipc_sample(source: RowFile) -> tuple[RowFile, Any]:
    """An Arrow file and its columns."""
    with open_unpacked(source.path) as file:
        return source, ipc_reader(file, source.path).schema.empty_table()


def ipc_batches(
    partition: Partition, columns: Sequence[str], schema: Any, threads: Threads | None
) -> Iterator[Any]:
    """The rows of some record batches."""
    with open_unpacked(partition.source.path) as file:
        reader = rows = ipc_reader(file, partition.source.path)
        if hasattr(reader, "num_record_batches"):
            last = reader.num_record_batches if partition.last < 0 else partition.last
            rows = map(reader.get_batch, range(partition.first, last))
        for batch in rows:
            chosen = batch.select(list(columns))
            for start in range(0, chosen.num_rows, BATCH):
                yield chosen.slice(start, BATCH)


class IpcWriter(RowWriter):
    """Writes rows as an Arrow file, or as a stream if the target cannot seek.

    It has no memo: only the process that wrote the rest can write the footer.
    """

    def __init__(self, file: IO[bytes], schema: Any) -> None:
        ipc = import_arrow("ipc")
        self.writer = (ipc.new_file if file.seekable() else ipc.new_stream)(file, schema)

    def write(self, encoded: Any) -> None:
        """Write some rows as a record batch."""
        self.writer.write_batch(encoded)

    def close(self) -> None:
        """Write the footer."""
        self.writer.close()


# All formats, and the partitions of a file.


FORMATS: Mapping[str, Format] = {
    "csv": Format((".csv",), csv_sample, csv_batches, CsvWriter, is_text=True, is_loose=True),
    "tsv": Format(
        (".tsv", ".tab"), csv_sample, csv_batches, partial(CsvWriter, separator="\t"),
        is_text=True, is_loose=True,
    ),
    "jsonl": Format((".jsonl", ".ndjson"), json_sample, json_batches, JsonWriter, is_loose=True),
    "parquet": Format(
        (".parquet", ".pq"), parquet_sample, parquet_batches, ParquetWriter, pieces=parquet_pieces
    ),
    "arrow": Format((".arrow", ".arrows", ".ipc", ".feather"), ipc_sample, ipc_batches, IpcWriter),
}  # fmt: skip
"""Every format, by what ``--to`` calls it."""
BY_ENDING = {ending: name for name, row in FORMATS.items() for ending in row.endings}


def format_by_ending(path: str) -> str:
    """The format that a file's ending says; an error for another."""
    name = path.lower().rpartition("/")[2]
    inner, packing = split_packing(name)
    found = next((BY_ENDING[ending] for ending in BY_ENDING if inner.endswith(ending)), None)
    if found is None or (packing and not FORMATS[found].is_loose):
        from exprgrad.language.mistakes.hints import nearest_word

        ending = name[name.rfind(".") :] if "." in name else ""
        near = nearest_word(ending, BY_ENDING) if len(ending) > 2 else None
        help = f"did you mean '{near}'? " if near else ""
        help += f"the endings are {', '.join([*BY_ENDING, WORKBOOK])}"
        if ending in (".txt", ".dat"):
            help = f"rows of text are read through a pipe: --data - < {path}"
        raise RequestError(
            "unknown-format",
            f"'{path}' does not name a file of rows",
            help=help,
        ).about(path)
    return found


def inspect_row_file(path: str) -> RowFile:
    """A file of rows as it is now; the format of a pipe is recognised by its first bytes."""
    size, stamp = file_stamp(path)
    if path != STDIN:
        return RowFile(path, format_by_ending(path), size, stamp)
    start = standard_input().peek(64)
    if start.startswith((b"PAR1", b"ARROW1")):
        what = "Parquet" if start.startswith(b"PAR1") else "an Arrow file"
        raise RequestError(
            "unknown-format",
            f"standard input is {what}, which cannot be read through a pipe",
            help="give the file's name: --data FILE",
        )
    if start.startswith(b"\xff\xff\xff\xff"):
        return RowFile(path, "arrow")
    return RowFile(path, "jsonl" if start.lstrip()[:1] == b"{" else "csv")


def sample_file(source: RowFile) -> tuple[RowFile, Any]:
    """A file and its columns, followed by those that the names of its folders supply."""
    try:
        source, table = FORMATS[source.format].sample(source)
    except (OSError, import_arrow().ArrowException) as error:
        raise broken_file_error(source.path, error) from None
    keys = []
    for key in source.keys:
        at = table.schema.get_field_index(key.name)
        if at >= 0:
            key = key._replace(inside=table.schema.field(at).type)
            table = table.remove_column(at)
        keys.append(key)
        table = table.append_column(key.name, folder_column(key, table.num_rows))
    return source._replace(keys=tuple(keys)), table


def folder_column(key: FolderKey, rows: int) -> Any:
    """The column that the name of a folder supplies, for some rows."""
    pa = import_arrow()
    return pa.repeat(pa.scalar(key.cell, pa.int64() if key.is_whole else pa.string()), rows)


def split_into_partitions(source: RowFile) -> list[Partition]:
    """A file in partitions, which depend on the file alone: so sums are the same on any machine."""
    found: list[Partition] = []
    first = row = rows = 0
    pieces = FORMATS[source.format].pieces(source)
    for at, count in enumerate(pieces, 1):
        rows += count
        if rows >= PARTITION or at == len(pieces):
            found.append(Partition(source, first, at, row, rows))
            first, row, rows = at, row + rows, 0
    return found or [Partition(source)]


def read_batches(
    partition: Partition, columns: Sequence[str], schema: Any, threads: Threads | None = None
) -> Iterator[Any]:
    """A partition's rows in some columns; an error if its file is broken, or has changed.

    Threads help to read where they can.
    """
    source = partition.source
    keys = {key.name: key for key in source.keys if key.name in columns}
    own = [name for name in columns if name not in keys or keys[name].inside is not None]
    for key in keys.values():
        at = schema.get_field_index(key.name)
        schema = schema.set(at, schema.field(at).with_type(key.inside or schema.field(at).type))
    try:
        rows = FORMATS[source.format].batches(partition, own, schema, threads)
        yield from (add_folder_columns(batch, source, columns) for batch in rows) if keys else rows
    except import_arrow().ArrowCancelled:
        raise KeyboardInterrupt from None
    except (OSError, import_arrow().ArrowException) as error:
        raise broken_file_error(source.path, error) from None
    if file_stamp(source.path) != (source.size, source.stamp):
        raise RequestError(
            "file",
            f"'{source.path}' changed while it was being read",
            help="run it again",
        )


def add_folder_columns(batch: Any, source: RowFile, columns: Sequence[str]) -> Any:
    """Some rows with the columns that their folders' names supply; an error if the file disagrees."""
    keys = {key.name: folder_column(key, batch.num_rows) for key in source.keys}
    for key in source.keys:
        if key.name in batch.schema.names and differs_from_folder(batch.column(key.name), key):
            raise InputError(
                "bad-column",
                f"column '{key.name}' of '{source.path}' differs from the name of its folder",
                help=f"all its rows would have {key.name}={key.cell}; rename one of them",
            )
    arrays = [keys[name] if name in keys else batch.column(name) for name in columns]
    return import_arrow().RecordBatch.from_arrays(arrays, [*columns])


def differs_from_folder(column: Any, key: FolderKey) -> bool:
    """Whether a column has a cell that is not what the name of a folder says."""
    if key.cell is None:
        return bool(column.null_count < len(column))
    if key.is_whole:
        return not (arrow_doubles(column).values == key.cell).all()
    return any(cell != key.cell for cell in cast_to_text(column).unique().to_pylist())
