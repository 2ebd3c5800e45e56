"""CSV and TSV, and the sheets of workbooks, which are read as CSV."""

from __future__ import annotations

import io
import re
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from typing import IO, Any

from exprgrad.data.arrow import import_arrow, is_text_type
from exprgrad.data.format import (
    SHOWN,
    Format,
    Partition,
    RowWriter,
    decode_dictionaries,
    decode_head,
    empty_file_error,
    has_unsafe_numbers,
    join_row_texts,
    line_blocks,
    read_blocks_in_order,
    trim_to_whole_lines,
)
from exprgrad.data.places import RowFile, open_unpacked, read_head
from exprgrad.data.threads import Threads
from exprgrad.errors import ExprgradError, InputError, RequestError, command_or_python
from exprgrad.run.values.layouts import DECIMAL_COMMAS, MISSING, Layout, detect_layout, rewrite_rows
from exprgrad.source import cut_text

__all__ = ["CSV", "TSV", "XLSX"]


def detect_csv_layout(source: RowFile, start: bytes) -> Layout:
    """Detect the layout of a CSV or TSV file from its beginning."""
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
    """Rewrite a block of lines as ``csv_table`` reads them; only ASCII characters change."""
    is_plain = found.delimiter != " " and not found.is_closed
    marks = (found.comment or "\n ").encode(), b"\n "
    if is_plain and not any(mark in block for mark in marks):
        return block
    return rewrite_rows(block.decode("latin-1"), found).encode("latin-1")


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
    """Replace decimal commas in texts by points."""
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

    If a cell in a column of numbers is not one, the whole column is text in that batch.
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
    """Read a block's columns, with types by place; columns of numbers are texts if a cell is no double."""
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
    """Writes rows as CSV, or as TSV: numbers as the shortest text that reads back.

    Where no cell is quoted pyarrow writes the lines: to join cells here takes 1.1 to 1.5 times as long.
    """

    def __init__(
        self,
        file: IO[bytes],
        schema: Any,
        size: int = 0,
        memos: Sequence[str] = (),
        separator: str = ",",
    ) -> None:
        self.file, self.separator = file, separator
        self.signs = f'^$|[{separator}"\r\n]'  # an empty text is quoted: a missing cell is empty
        names = import_arrow().array(schema.names, import_arrow().string())
        cells = [quote_cells(names.slice(at, 1), self.signs) for at in range(len(names))]
        if not size:
            file.write(separated_lines(cells, separator))

    def encoded(self, batch: Any) -> bytes:
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


CSV = Format(
    "csv", "CSV", 1, (".csv",), csv_sample, csv_batches, CsvWriter,
    is_text=True, is_loose=True, piped=b"",
)  # fmt: skip
TSV = Format(
    "tsv", "TSV", 2, (".tsv", ".tab"), csv_sample, csv_batches, partial(CsvWriter, separator="\t"),
    is_text=True, is_loose=True,
)  # fmt: skip
XLSX = Format(
    "xlsx", "workbooks", 6, (".xlsx",), csv_sample, csv_batches,
    is_text=True, is_loose=True, needs="python_calamine",
)  # fmt: skip
