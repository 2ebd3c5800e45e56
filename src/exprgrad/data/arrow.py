"""The one door to pyarrow, and its columns as doubles."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from exprgrad.errors import (
    ExprgradError,
    InputError,
    MissingExtraError,
    RequestError,
    install_command,
)
from exprgrad.run.values.layouts import LAST_WHOLE, MISSING, SPELLED, TRUTH_CELLS, change_of

if TYPE_CHECKING:
    import numpy as np

__all__ = [
    "DoubleColumn", "arrow_doubles", "broken_file_error", "cast_times_and_decimals",
    "cast_to_text", "describe_type", "flatten_chunks", "import_arrow", "is_numeric_type", "is_text_type",
    "nan_text_mask", "plain_cells",
]  # fmt: skip

DECIMAL = r"^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$|^[-+]?(?i:inf|infinity)$"
"""A cell that is a number."""

BROKEN = {
    "magic bytes": "is not a whole Parquet file: it is cut off, or another format",
    "file size is": "is not a whole Parquet file: it is cut off, or another format",
    "metadata bytes": "is not a whole Arrow file: it is cut off, or another format",
    "schema message": "is not a whole Arrow file: it is cut off, or another format",
    "unexpected end of stream": "is compressed, and cut off",
    "truncated compressed stream": "is compressed, and cut off",
    "inflate failed": "is not compressed as its name says, or is damaged",
    "thrift": "is damaged",
    "orrupt": "is damaged",
}
"""Words of pyarrow's error for a broken file → ours."""


@cache
def import_arrow(part: str = "") -> Any:
    """A module of pyarrow's, or pyarrow itself.  Raises ``MissingExtraError`` without it."""
    try:
        import pyarrow

        return import_module(f"pyarrow.{part}") if part else pyarrow
    except ImportError as error:
        message = "columns in files need pyarrow"
        if error.name is None or error.name.partition(".")[0] != "pyarrow":
            message = f"pyarrow is installed, but it cannot be loaded: {error}"
        raise MissingExtraError(
            "missing-pyarrow", message, help=install_command("pyarrow")
        ) from None


class DoubleColumn(NamedTuple):
    """A column as doubles, nan where a cell has none, and which cells are ``missing`` or ``wrong``.

    Wrong cells are not numbers; ``changed`` ones, by kind, differ from their doubles: see ``CHANGES``.
    """

    values: np.ndarray
    missing: np.ndarray | None = None
    wrong: np.ndarray | None = None
    changed: Mapping[str, np.ndarray] = {}


def arrow_doubles(column: Any) -> DoubleColumn:
    """Convert an Arrow array to doubles, without a copy where it holds nothing else."""
    import numpy as np

    pa = import_arrow()
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    missing = to_numpy_mask(column.is_null()) if column.null_count else None
    changed: dict[str, np.ndarray] = {}
    if is_text_type(column.type) or pa.types.is_decimal(column.type):
        values, missing, changed = parse_cells(column)  # from a text the nearest double is found
    else:
        doubles = column if column.type == pa.float64() else column.cast(pa.float64(), safe=False)
        values = (doubles if missing is None else doubles.fill_null(float("nan"))).to_numpy()
    if column.type in (pa.int64(), pa.uint64()):
        wholes = column.fill_null(0).to_numpy()
        inside = np.abs(values) < 2.0 ** (63 if column.type == pa.int64() else 64)
        back = np.where(inside, values, 0.0).astype(wholes.dtype)  # 0 where it is nan, too
        changed["rounded"] = back != wholes
    wrong = np.isnan(values) if missing is None else np.isnan(values) & ~missing
    changed = {change: which for change, which in changed.items() if which.any()}
    return DoubleColumn(values, missing, wrong if wrong.any() else None, changed)


def flatten_chunks(column: Any) -> Any:
    """A column in pieces as one array."""
    pa = import_arrow()
    if not isinstance(column, pa.ChunkedArray):
        return column
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)


def parse_cells(column: Any) -> tuple[np.ndarray, np.ndarray | None, dict[str, np.ndarray]]:
    """Parse texts as doubles, where they are numbers; return which are missing, and which are changed."""
    import numpy as np

    pa, pc = import_arrow(), import_arrow("compute")
    texts, changed = cast_times_and_decimals(column), {}
    given = texts
    try:
        doubles = pc.if_else(missing_text_mask(texts), None, texts).cast(pa.float64())
    except pa.ArrowInvalid:
        texts = given = pc.replace_substring(pc.utf8_trim_whitespace(texts), "−", "-")
        for flag, digit in TRUTH_CELLS.items():
            texts = pc.if_else(pc.equal(pc.utf8_lower(texts), flag), digit, texts)
        changed["truth"] = to_numpy_mask(pc.not_equal(texts, given))
        is_number = pc.match_substring_regex(texts, DECIMAL)
        doubles = pc.if_else(is_number, texts, None).cast(pa.float64())
    values = doubles.fill_null(float("nan")).to_numpy(zero_copy_only=False)
    sizes, missing = np.abs(values), to_numpy_mask(missing_text_mask(given))
    suspects = sizes == 0, np.isinf(sizes), (sizes >= LAST_WHOLE) & np.isfinite(sizes)
    for (change, pattern), which in zip(SPELLED.items(), suspects, strict=True):
        if which.any():
            which[which] = to_numpy_mask(
                pc.match_substring_regex(texts.filter(pa.array(which)), pattern)
            )
        changed[change] = which
    for at in np.flatnonzero(changed["rounded"]):
        changed["rounded"][at] = bool(change_of(texts[at].as_py(), values[at]))
    return values, missing if missing.any() else None, changed


def missing_text_mask(texts: Any) -> Any:
    """Which texts are missing: an array of Arrow's."""
    pc = import_arrow("compute")
    return pc.or_(pc.is_null(texts), pc.is_in(texts, import_arrow().array(MISSING, texts.type)))


def nan_text_mask(column: Any) -> np.ndarray:
    """Which texts of a column are nan."""
    return to_numpy_mask(import_arrow("compute").match_substring_regex(column, r"(?i)^\s*[-+]?nan"))


def to_numpy_mask(flags: Any) -> np.ndarray:
    """Truth values of Arrow's as NumPy's; null is false."""
    found: np.ndarray = flags.fill_null(False).to_numpy(zero_copy_only=False).copy()
    return found


def cast_times_and_decimals(column: Any) -> Any:
    """Convert times and decimals to texts; leave other columns as they are."""
    pa, kind = import_arrow(), column.type
    if pa.types.is_temporal(kind) or pa.types.is_decimal(kind) or pa.types.is_string_view(kind):
        return column.cast(pa.string())
    return column


def cast_to_text(column: Any) -> Any:
    """Convert a column of any type to texts; a number is written with the fewest digits."""
    pa = import_arrow()
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    column = cast_times_and_decimals(column)
    return column if is_text_type(column.type) else column.cast(pa.string())


def plain_cells(column: Any) -> list[Any]:
    """The cells of a column as None, truth values, numbers and texts: nan is None, and -0 is 0."""
    pa = import_arrow()
    found = cast_times_and_decimals(column).to_pylist()
    if pa.types.is_floating(column.type):
        return [None if cell is None or cell != cell else cell + 0.0 for cell in found]
    return [
        cell.decode(errors="backslashreplace") if isinstance(cell, bytes) else cell
        for cell in found
    ]


def is_text_type(kind: Any) -> bool:
    """Whether an Arrow type is one of texts."""
    types = import_arrow().types
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def is_numeric_type(kind: Any) -> bool:
    """Whether the cells of an Arrow type are numbers, or nothing at all."""
    types = import_arrow().types
    if types.is_dictionary(kind):
        return is_numeric_type(kind.value_type)
    checks = (
        types.is_integer, types.is_floating, types.is_decimal, types.is_boolean, types.is_null,
    )  # fmt: skip
    return any(check(kind) for check in checks)


def describe_type(kind: Any) -> str:
    """Describe what a column of an Arrow type holds, in words."""
    types = import_arrow().types
    if types.is_dictionary(kind):
        kind = kind.value_type
    if is_text_type(kind):
        return "texts"
    known = (
        (types.is_date, "dates"),
        (types.is_duration, "durations"),
        (types.is_temporal, "times"),
        (types.is_struct, "objects"),
        (types.is_nested, "lists"),
        (types.is_binary, "bytes"),
        (types.is_large_binary, "bytes"),
        (types.is_fixed_size_binary, "bytes"),
    )
    return next((words for check, words in known if check(kind)), str(kind))


def broken_file_error(path: str, error: Exception) -> ExprgradError:
    """The error for a file that pyarrow, or the system, cannot read."""
    if isinstance(error, OSError) and error.errno is not None:
        return RequestError("file", f"cannot read '{path}': {error.strerror}")
    what = str(error).partition("\n")[0].strip().rstrip(".")
    for words, ours in BROKEN.items():
        if words in what:
            return InputError("bad-file", f"'{path}' {ours}")
    return InputError("bad-file", f"cannot read '{path}': {what[:1].lower()}{what[1:]}")
