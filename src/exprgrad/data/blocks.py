"""A job's results for a block of rows, and which of its rows do not compute."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from exprgrad.data.arrow import Doubles, numbers
from exprgrad.data.job import Job, Prepared, prepared
from exprgrad.errors import InputError, advice
from exprgrad.run.engines.memory import staggered

__all__ = [
    "KINK",
    "REASONS",
    "Block",
    "Tally",
    "bad_row",
    "columns_of",
    "computed",
    "first_bad",
    "judged",
    "merged",
    "played",
    "told_of",
]

REASONS = {
    "missing": "a value is missing",
    "number": "a cell is not a number",
    "domain": "outside the domain",
    "infinite": "a result is not finite",
}
"""Why a row does not compute; the first that holds counts."""
KINK = "kink"
"""What the first rows at a kink are listed under."""
FIRST = 3
"""How many rows are told of for each reason."""


class Tally(NamedTuple):
    """What is known of rows that were worked on, apart from their results.

    ``rows``  those that met the condition
    ``bad``   by reason, how many of them do not compute
    ``kinks`` how many meet a kink or a jump, and compute
    ``first`` by reason, the first few of those: the file, and the row's number in it, from 1
    """

    rows: int = 0
    kinks: int = 0
    bad: Mapping[str, int] = {}
    first: Mapping[str, tuple[tuple[str, int], ...]] = {}


def merged(one: Tally, other: Tally) -> Tally:
    """What is known of rows and of those behind them."""
    bad = {key: one.bad.get(key, 0) + other.bad.get(key, 0) for key in REASONS}
    reasons = (*REASONS, KINK)
    first = {key: (*one.first.get(key, ()), *other.first.get(key, ()))[:FIRST] for key in reasons}
    return Tally(
        one.rows + other.rows,
        one.kinks + other.kinks,
        {key: count for key, count in bad.items() if count},
        {key: rows for key, rows in first.items() if rows},
    )


class Block(NamedTuple):
    """Rows' results, one array each; which rows were ``chosen``, which are bad, and which meet a kink."""

    results: Sequence[np.ndarray]
    chosen: np.ndarray | None
    bad: np.ndarray | None
    kinks: np.ndarray | None
    reasons: Mapping[str, np.ndarray]


def columns_of(job: Job, batch: Any) -> list[Doubles]:
    """The columns of a batch that a job's kernel reads, in its order."""
    columns = dict(job.columns)
    return [numbers(batch.column(columns[name])) for name in prepared(job).names]


def computed(
    kernel: Prepared, columns: Sequence[Doubles], low: int, high: int, memory: Any = None
) -> Block:
    """The results of the rows from ``low`` to before ``high``; ``memory`` takes them if it is given."""
    memory = staggered(kernel.outputs, high - low) if memory is None else memory
    played(kernel, columns, low, high, memory)
    return judged(kernel, columns, low, high, memory)


def played(
    kernel: Prepared, columns: Sequence[Doubles], low: int, high: int, memory: Sequence[np.ndarray]
) -> None:
    """Write a kernel's outputs for some rows."""
    kernel.kernel([column.values[low:high] for column in columns], memory, 0, high - low)


def judged(
    kernel: Prepared, columns: Sequence[Doubles], low: int, high: int, memory: Sequence[np.ndarray]
) -> Block:
    """Outputs as results, and which of their rows count."""
    outputs = [one[: high - low] for one in memory]
    results = outputs[: kernel.results]
    chosen = None
    if kernel.condition:
        condition = outputs[kernel.condition]
        chosen = (condition != 0) & (condition == condition)
    met = outputs[kernel.kink] > 0 if kernel.kink else None
    if met is not None and chosen is not None:
        met &= chosen
    is_clean = not any(column.missing is not None for column in columns)
    with np.errstate(all="ignore"):
        is_clean = is_clean and all(np.isfinite(np.add.reduce(one)) for one in results)
    if is_clean:
        return Block(results, chosen, None, met, {})
    reasons = causes(columns, results, low, high)
    if chosen is not None:
        reasons = {reason: rows & chosen for reason, rows in reasons.items()}
    bad = np.logical_or.reduce([*reasons.values()])
    if met is not None:
        met &= ~bad
    return Block(results, chosen, bad if bad.any() else None, met, reasons)


def causes(
    columns: Sequence[Doubles], results: Sequence[np.ndarray], low: int, high: int
) -> dict[str, np.ndarray]:
    """By reason, the rows that do not compute, each for one reason."""
    rows = high - low
    left = np.ones(rows, dtype=bool)
    found: dict[str, np.ndarray] = {}

    def settle(reason: str, which: np.ndarray) -> None:
        found[reason] = which & left
        left[which] = False

    none = np.zeros(rows, dtype=bool)
    is_nan = np.logical_or.reduce([np.isnan(one) for one in results])
    missing = [column.missing[low:high] for column in columns if column.missing is not None]
    wrong = [column.wrong[low:high] for column in columns if column.wrong is not None]
    nans = [np.isnan(column.values[low:high]) & is_nan for column in columns]
    settle("missing", np.logical_or.reduce(missing) if missing else none)
    settle("number", np.logical_or.reduce([*wrong, *nans]) if columns else none)
    settle("domain", is_nan)
    settle("infinite", np.logical_or.reduce([np.isinf(one) for one in results]))
    return found


def first_bad(job: Job, block: Block) -> tuple[int, str] | None:
    """The first row that does not compute, and why, if such a row is to end the run."""
    if job.bad != "fail" or block.bad is None:
        return None
    place = int(np.flatnonzero(block.bad)[0])
    reason = next(reason for reason, which in block.reasons.items() if which[place])
    return place, REASONS[reason]


def bad_row(row: int, where: str, why: str) -> InputError:
    """The error for a row, from 0, that does not compute."""
    message = f"row {row + 1:,} of {where} does not compute: {why}"
    instead = advice("--bad-rows null or drop", "bad_rows='null' or 'drop'")
    return InputError("bad-row", message, help=f"{instead} goes on without such rows")


def told_of(block: Block, path: str, row: int, rows: int) -> Tally:
    """What is to be told of a block whose first row is the file's ``row``, from 0."""
    count = rows if block.chosen is None else int(np.count_nonzero(block.chosen))
    bad: dict[str, int] = {}
    first: dict[str, tuple[tuple[str, int], ...]] = {}
    kinked = {} if block.kinks is None else {KINK: block.kinks}
    for reason, which in {**block.reasons, **kinked}.items():
        places = np.flatnonzero(which)
        if len(places):
            bad[reason] = len(places)
            first[reason] = tuple((path, row + int(place) + 1) for place in places[:FIRST])
    return Tally(count, bad.pop(KINK, 0), bad, first)
