"""JSON lines: an object for each row, on a line of its own."""

from __future__ import annotations

import json
from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from functools import partial
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
from exprgrad.errors import InputError
from exprgrad.run.values.files import fields_given_once
from exprgrad.run.values.layouts import LAST_WHOLE, change_of
from exprgrad.source import cut_text

__all__ = ["JSONL"]


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
            row = json.loads(
                text,
                object_pairs_hook=fields_given_once,
                parse_float=lambda real: real if change_of(real, float(real)) else float(real),
            )
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
    names = dict.fromkeys(name for row in rows for name in row)
    kinds = {one.name: one.type for one in schema} if schema is not None else names
    return pa.table(
        {name: json_column([row.get(name) for row in rows], kind) for name, kind in kinds.items()}
    )


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

    def __init__(
        self, file: IO[bytes], schema: Any, size: int = 0, memos: Sequence[str] = ()
    ) -> None:
        self.file = file
        names = [json.dumps(name, ensure_ascii=False) for name in schema.names]
        self.heads = [f"{', ' if at else '{'}{name}: " for at, name in enumerate(names)]

    def encoded(self, batch: Any) -> bytes:
        """Some rows as lines."""
        cells = map(json_cells, decode_dictionaries(batch).columns)
        pieces = [piece for pair in zip(self.heads, cells, strict=True) for piece in pair]
        return join_row_texts([*pieces, "}\n"])


CONTROL = "[\x00-\x1f]"
"""Characters that JSON texts have to escape by number."""


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
    import numpy as np

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


JSONL = Format(
    "jsonl", "JSON lines", 3, (".jsonl", ".ndjson"), json_sample, json_batches, JsonWriter,
    is_loose=True, room=("lists", "objects"), piped=b"{",
)  # fmt: skip
