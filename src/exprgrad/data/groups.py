"""The groups that rows are in, by the cells of some columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from math import isfinite
from typing import Any

import numpy as np

from exprgrad.data.arrow import arrow, in_texts, plain_cells
from exprgrad.data.job import Job

__all__ = ["groups_of", "labelled"]

WHOLE = re.compile(r"0|-?[1-9]\d*")
"""A whole number as it is written."""
TRUTHS = {"true": True, "false": False}


def groups_of(job: Job, batch: Any, low: int, high: int) -> tuple[list[Any], np.ndarray | None]:
    """The groups that some rows are in, and by row which; without ``by`` they are all in one."""
    if not job.by:
        return [()], None
    keys: list[Any] = [()]
    codes = np.zeros(high - low, dtype=np.int64)
    for name in job.by:
        column = batch.column(name).slice(low, high - low)
        values, places = cells_met(column, job.by_texts)
        codes = codes * len(values) + places
        if len(keys) == 1:
            keys = [(*keys[0], value) for value in values]
            continue
        met, codes = np.unique(codes, return_inverse=True)  # most pairs are in no row
        pairs = [divmod(code, len(values)) for code in met.tolist()]
        keys = [(*keys[key], values[value]) for key, value in pairs]
    return keys, codes


def cells_met(column: Any, as_texts: bool) -> tuple[list[Any], np.ndarray]:
    """A column's different cells, and by row which it is; what is missing is one, and -0 is 0.

    As texts whatever they look like, an empty one is missing.
    """
    pa = arrow()
    if not pa.types.is_dictionary(column.type):
        column = in_texts(column).dictionary_encode("encode")
    size = len(column.dictionary)
    indices = column.indices.cast(pa.int64()).fill_null(size).to_numpy()
    met = np.flatnonzero(np.bincount(indices))
    cells = plain_cells(column.dictionary.take(pa.array(met[met < size])))
    cells = [*map(text_of, cells)] if as_texts else cells
    cells += [None] * (len(met) - len(cells))
    places: dict[Any, int] = {}
    numbered = np.zeros(size + 1, dtype=np.int64)
    numbered[met] = [places.setdefault(cell, len(places)) for cell in cells]
    return list(places), numbered[indices]


def text_of(cell: Any) -> str | None:
    """A cell as a text; None for one that is missing, or empty."""
    if isinstance(cell, bool):
        return str(cell).lower()
    return None if cell is None else str(cell) or None


def labelled(job: Job, keys: Sequence[Sequence[Any]]) -> list[tuple[Any, ...]]:
    """Groups' keys to show.  Texts are numbers again where each of a column is a number's own text.

    So CSV and Parquet show the same groups alike, and ``02134`` remains what it is.
    """
    columns = [*zip(*keys, strict=True)]
    if job.by_texts:
        columns = [as_told(column) for column in columns]
    return [*zip(*columns, strict=True)] if columns else [()] * len(keys)


def as_told(cells: Sequence[str | None]) -> tuple[Any, ...]:
    """Texts as numbers, or truth values, if all are what those are written as; an empty one is missing."""
    given = {cell for cell in cells if cell}
    if given <= {*TRUTHS}:
        return tuple(TRUTHS.get(cell or "") for cell in cells)
    found: dict[str, float] = {}
    with suppress(ValueError):
        found = {cell: int(cell) if WHOLE.fullmatch(cell) else float(cell) for cell in given}
    is_exact = all(str(found.get(cell)) == cell for cell in given) and all(
        map(isfinite, found.values())
    )
    return tuple((found[cell] if is_exact else cell) if cell else None for cell in cells)
