"""Results reduced over rows, all of them or by group, alike to the bit however the work is divided.

A partition's rows are taken in chunks, counted from its first.  Within a chunk each number is split in two
at a place that the chunk's largest sets: the parts above it add up without rounding, and what is below
is too small to matter (S. M. Rump, T. Ogita, S. Oishi, "Accurate floating-point summation", SIAM J. Sci.
Comput. 31, 2008).  Chunks, then partitions, are added in order, with the rounding of each addition carried
along (D. E. Knuth, The Art of Computer Programming 2, 4.2.2).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from exprgrad.data.arrow import cast_times_and_decimals, import_arrow, plain_cells
from exprgrad.data.job import BatchJob

__all__ = [
    "CHUNK", "REDUCTIONS", "Partial", "combine_partials", "empty_partial", "finish_groups", "group_rows",
    "label_groups", "reduce_chunk", "sum_huge", "sum_parts",
]  # fmt: skip

CHUNK = 2**14
"""The rows of a chunk."""
SPLIT = 1.5 * 2.0**15
"""Times a power of two above a chunk's largest number: adding this and subtracting it again rounds."""
LARGE, SMALL = 2.0**480, 2.0**-480
"""Squares overflow above, or lose digits below; such numbers are scaled by ``2^600`` first."""
SCALE = 600
HUGE = 2.0**900
"""Numbers above this are added up apart, times ``2^-600``: sums overflow only where they do in truth."""


class Partial(NamedTuple):
    """Results reduced so far: by group its rows, and by result an array with a number for each group.

    Of ``rows`` the first are those of the group that compute, and then come those of each result.  Sums
    are ``high`` and what its roundings lost, ``low``, in two scales; of squares in three.
    """

    keys: tuple[Any, ...]
    rows: np.ndarray
    high: np.ndarray
    low: np.ndarray


class Reduction(NamedTuple):
    """A way to reduce results: a chunk to sums, two of those to one, and all of them to an answer."""

    chunk: Callable[[np.ndarray, np.ndarray | None, int], tuple[np.ndarray, np.ndarray]]
    add: Callable[..., tuple[np.ndarray, np.ndarray]]
    neutral: float
    scales: int
    finish: Callable[[np.ndarray, np.ndarray, int], float]


def reduce_by_group(
    operation: np.ufunc, values: np.ndarray, codes: np.ndarray | None, groups: int
) -> np.ndarray:
    """Values reduced along their last axis, in each group by itself."""
    if codes is None:
        return np.asarray(operation.reduce(values, axis=-1))[..., None]
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(groups))
    return np.asarray(operation.reduceat(values[..., order], starts, axis=-1))


def sum_groups(
    values: np.ndarray, codes: np.ndarray | None, groups: int
) -> tuple[np.ndarray, np.ndarray]:
    """The sums of a chunk's values, and what they lost by rounding."""
    top = np.maximum(values.max(axis=-1), -values.min(axis=-1))
    _, exponents = np.frexp(top)
    places = np.ldexp(SPLIT, exponents)[..., None]
    above = values + places
    above -= places
    below = values - above
    return reduce_by_group(np.add, above, codes, groups), reduce_by_group(
        np.add, below, codes, groups
    )


def scaled_sums(
    values: np.ndarray, codes: np.ndarray | None, groups: int
) -> tuple[np.ndarray, np.ndarray]:
    """The sums of a chunk's values in two scales: first of ordinary numbers, then of huge ones."""
    is_huge = np.abs(values) > HUGE
    if not is_huge.any():
        high, low = sum_groups(values, codes, groups)
        return np.stack([high, np.zeros_like(high)]), np.stack([low, np.zeros_like(low)])
    others = sum_groups(np.where(is_huge, 0.0, values), codes, groups)
    huge = sum_groups(np.ldexp(np.where(is_huge, values, 0.0), -SCALE), codes, groups)
    highs, lows = zip(others, huge, strict=True)
    return np.stack(highs), np.stack(lows)


def sum_huge(results: Sequence[np.ndarray]) -> Partial:
    """The sums of the huge numbers of a chunk, which are 0 from then on; of no rows."""
    values = np.array(results)
    is_huge = np.abs(values) > HUGE
    for one, which in zip(results, is_huge, strict=True):
        one[which] = 0.0
    none = np.zeros((1 + len(values), 1), dtype=np.int64)
    return reduce_chunk("sum", np.where(is_huge, values, 0.0), [()], None)._replace(rows=none)


def add_compensated(
    high: np.ndarray, low: np.ndarray, more: np.ndarray, less: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Sums and others, with what the addition rounds."""
    total = high + more
    part = total - high
    lost = (high - (total - part)) + (more - part)
    return total, low + (less + lost)


def sum_squares(
    values: np.ndarray, codes: np.ndarray | None, groups: int
) -> tuple[np.ndarray, np.ndarray]:
    """The sums of a chunk's squares in three scales: of small numbers, of others, of large ones."""
    size = np.abs(values)
    parts = [size < SMALL, (size >= SMALL) & (size <= LARGE), size > LARGE]
    found = [
        sum_groups(np.square(np.ldexp(np.where(part, values, 0.0), shift)), codes, groups)
        for part, shift in zip(parts, (SCALE, 0, -SCALE), strict=True)
    ]
    highs, lows = zip(*found, strict=True)
    return np.stack(highs), np.stack(lows)


def extreme_reduction(operation: np.ufunc, neutral: float) -> Reduction:
    """The least or the largest: nothing is lost by rounding."""

    def chunk(*given: Any) -> tuple[np.ndarray, np.ndarray]:
        found = reduce_by_group(operation, *given)
        return found, np.zeros_like(found)

    return Reduction(
        chunk,
        lambda high, low, more, less: (operation(high, more), low),
        neutral,
        scales=1,
        finish=lambda high, low, rows: float(high[0]),
    )


def euclidean_norm(high: np.ndarray, low: np.ndarray, rows: int) -> float:
    """The root of the sum of squares in three scales."""
    small, middle, large = (high + low).tolist()
    if large:
        middle = math.ldexp(middle, -2 * SCALE)
        return math.sqrt(large + middle) * 2.0**SCALE  # which may be infinite
    if middle:
        return math.sqrt(middle + math.ldexp(small, -2 * SCALE))
    return math.ldexp(math.sqrt(small), -SCALE)


def divide_scaled(high: np.ndarray, low: np.ndarray, parts: int) -> float:
    """Divide a sum in two scales into equal parts, and return one."""
    if not high[1]:
        return float(high[0] + low[0]) / parts
    scaled = [*np.ldexp([high[0], low[0]], -SCALE).tolist(), float(high[1]), float(low[1])]
    return math.fsum(scaled) / parts * 2.0**SCALE  # which may be infinite


REDUCTIONS: Mapping[str, Reduction] = {
    "sum": Reduction(
        scaled_sums, add_compensated, 0.0, 2, lambda high, low, _: divide_scaled(high, low, 1)
    ),
    "mean": Reduction(scaled_sums, add_compensated, 0.0, 2, divide_scaled),
    "norm": Reduction(sum_squares, add_compensated, 0.0, 3, euclidean_norm),
    "min": extreme_reduction(np.minimum, math.inf),
    "max": extreme_reduction(np.maximum, -math.inf),
}
"""The reductions by name."""


def empty_partial(name: str, results: int) -> Partial:
    """The reduction of no rows."""
    shape = (REDUCTIONS[name].scales, results, 0)
    rows = np.zeros((1 + results, 0), dtype=np.int64)
    return Partial((), rows, np.zeros(shape), np.zeros(shape))


def reduce_chunk(
    name: str,
    values: np.ndarray,
    keys: Sequence[Any],
    codes: np.ndarray | None,
    counting: np.ndarray | None = None,
) -> Partial:
    """A chunk's results (a row of the array for each), by group: ``codes`` say which of the ``keys``.

    ``counting`` says which rows compute, and then which of each result count; None stands for all.
    """
    row = REDUCTIONS[name]
    if counting is not None:
        values = np.where(counting[1:], values, row.neutral)
    high, low = row.chunk(values, codes, len(keys))
    shape = (row.scales, len(values), len(keys))
    codes = np.zeros(values.shape[1], dtype=np.int64) if codes is None else codes
    weights = [None] if counting is None else counting
    counts = np.array([np.bincount(codes, one, len(keys)) for one in weights], dtype=np.int64)
    rows = np.broadcast_to(counts, (1 + len(values), len(keys)))
    return Partial(tuple(keys), rows, high.reshape(shape), low.reshape(shape))


def sum_parts(rows: np.ndarray, highs: np.ndarray, lows: np.ndarray) -> Partial:
    """Combine sums that are in several parts, by result: the parts are added in order."""
    high, low = highs[:, 0], lows[:, 0]
    for at in range(1, highs.shape[1]):
        high, low = add_compensated(high, low, highs[:, at], lows[:, at])
    both = [np.stack([one, np.zeros_like(one)])[..., None] for one in (high, low)]
    return Partial(((),), rows[:, None], *both)


def combine_partials(name: str, one: Partial, other: Partial) -> Partial:
    """Combine reduced rows with those after them; groups keep the order in which they appear."""
    row = REDUCTIONS[name]
    if one.keys == other.keys:
        high, low = row.add(one.high, one.low, other.high, other.low)
        return Partial(one.keys, one.rows + other.rows, high, low)
    places = {key: at for at, key in enumerate(one.keys)}
    at = np.array([places.setdefault(key, len(places)) for key in other.keys], dtype=np.intp)
    more = len(places) - len(one.keys)
    rows = np.concatenate([one.rows, np.zeros((len(one.rows), more), dtype=np.int64)], axis=-1)
    new = np.zeros((*one.high.shape[:2], more))
    high = np.concatenate([one.high, new + row.neutral], axis=-1)
    low = np.concatenate([one.low, new], axis=-1)
    rows[..., at] += other.rows
    high[..., at], low[..., at] = row.add(high[..., at], low[..., at], other.high, other.low)
    return Partial(tuple(places), rows, high, low)


def finish_groups(
    name: str, partial: Partial, by: Sequence[str] = ()
) -> dict[Any, tuple[int, list[float]]]:
    """Map groups to their rows and answers; without a row sums are 0, and all else is nan."""
    row, nothing = REDUCTIONS[name], 0.0 if name == "sum" else math.nan
    found = {}
    if not (partial.keys or by):
        return {(): (0, [nothing] * partial.high.shape[1])}
    for at, key in enumerate(partial.keys):
        count, *own = partial.rows[:, at].tolist()
        sums = zip(partial.high[:, :, at].T, partial.low[:, :, at].T, own, strict=True)
        found[key] = count, [row.finish(*one) if one[-1] else nothing for one in sums]
    return found


# Groups.

WHOLE = re.compile(r"0|-?[1-9]\d*")
"""A whole number as it is written."""
TRUTHS = {"true": True, "false": False}


def group_rows(columns: Sequence[Any], as_texts: bool) -> tuple[list[Any], np.ndarray | None]:
    """Return the groups of rows by their cells, and each row's group; without columns there is one."""
    if not columns:
        return [()], None
    keys: list[Any] = [()]
    codes = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        values, places = distinct_cells(column, as_texts)
        codes = codes * len(values) + places
        if len(keys) == 1:
            keys = [(*keys[0], value) for value in values]
            continue
        met, codes = np.unique(codes, return_inverse=True)  # most pairs are in no row
        pairs = [divmod(code, len(values)) for code in met.tolist()]
        keys = [(*keys[key], values[value]) for key, value in pairs]
    return keys, codes


def distinct_cells(column: Any, as_texts: bool) -> tuple[list[Any], np.ndarray]:
    """Return a column's distinct cells, and which each row has; missing ones are one cell, and -0 is 0.

    ``as_texts`` makes texts of them, whatever they look like.
    """
    pa = import_arrow()
    if not pa.types.is_dictionary(column.type):
        column = cast_times_and_decimals(column).dictionary_encode("encode")
    size = len(column.dictionary)
    indices = column.indices.cast(pa.int64()).fill_null(size).to_numpy()
    met = np.flatnonzero(np.bincount(indices))
    cells = plain_cells(column.dictionary.take(pa.array(met[met < size])))
    if as_texts:
        texts = (str(cell).lower() if isinstance(cell, bool) else str(cell) for cell in cells)
        cells = [None if cell is None else text for cell, text in zip(cells, texts, strict=True)]
    cells += [None] * (len(met) - len(cells))
    places: dict[Any, int] = {}
    numbered = np.zeros(size + 1, dtype=np.int64)
    numbered[met] = [places.setdefault(cell, len(places)) for cell in cells]
    return list(places), numbered[indices]


def label_groups(job: BatchJob, keys: Sequence[Sequence[Any]]) -> list[tuple[Any, ...]]:
    """The groups' keys to show: texts become numbers in a column where each is its number's usual text.

    So CSV and Parquet show the same groups alike, and ``02134`` remains what it is.
    """
    columns = [*zip(*keys, strict=True)]
    if job.by_texts:
        columns = [typed_cells(column) for column in columns]
    return [*zip(*columns, strict=True)] if columns else [()] * len(keys)


def typed_cells(cells: Sequence[str | None]) -> tuple[Any, ...]:
    """Texts as numbers, or truth values, if all but empty ones are what those are written as."""
    given = {cell for cell in cells if cell}
    if given <= {*TRUTHS}:
        return tuple(TRUTHS.get(cell or "", cell) for cell in cells)
    found: dict[str, float] = {}
    with suppress(ValueError):
        found = {cell: int(cell) if WHOLE.fullmatch(cell) else float(cell) for cell in given}
    is_exact = all(str(found.get(cell)) == cell for cell in given) and all(
        map(math.isfinite, found.values())
    )
    return tuple(found[cell] if is_exact and cell else cell for cell in cells)
