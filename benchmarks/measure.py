"""Measuring: contestants take turns, so that whatever disturbs the machine disturbs them all."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple

__all__ = [
    "Call", "Ratio", "Report", "Taken", "in_turns", "interleaved", "left_out", "medians", "peer", "ratio",
    "table", "timed", "times", "turns",
]  # fmt: skip

Call = Callable[[], object]
Taken = Mapping[str, Mapping[int, float]]
"""By contestant: the seconds of a call, by the number of the round."""
SELDOM = 4
"""In one of so many rounds, those have a turn that take long and decide nothing."""


class Ratio(NamedTuple):
    """One contestant's time in another's: the median over rounds, and least by least."""

    median: float
    least: float


class Report(NamedTuple):
    """What a part found.

    ``text``      its tables, in Markdown
    ``figures``   what has a bar, by the name of its regime
    ``pictures``  SVG, by the file's name
    """

    text: str
    figures: Mapping[str, Ratio] = {}
    pictures: Mapping[str, str] = {}


def peer(module: str) -> Any:
    """A peer's module, or None where it is not installed."""
    try:
        return import_module(module)
    except ImportError:
        return None


def used() -> float:
    """The processor's seconds for this process, all threads, and for its children that have ended.

    On one core that is the time on the wall, less what other processes took in between.  Where a system
    does not tell, it is the time on the wall.
    """
    try:
        import resource
    except ImportError:
        return time.perf_counter()
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def turns(
    calls: Mapping[str, Call],
    rounds: int,
    calls_a_turn: int = 1,
    seldom: Collection[str] = (),
    clock: Callable[[], float] = used,
) -> Taken:
    """The seconds of each call: a turn is some calls in a row, as in a loop.

    Nobody is charged for what is there already: modules that others imported, say.
    """
    gc.collect()
    gc.freeze()
    one_each = {name: partial(timed, call, calls_a_turn, clock) for name, call in calls.items()}
    taken = in_turns(one_each, rounds, seldom)
    gc.unfreeze()
    return taken


def in_turns(
    contestants: Mapping[str, Callable[[], float]], rounds: int, seldom: Collection[str] = ()
) -> Taken:
    """What each contestant says that its turn took, over rounds; who is ``seldom`` has one in some of them.

    One round goes ahead unmeasured.
    """
    taken: dict[str, dict[int, float]] = {name: {} for name in contestants}
    for number in range(rounds + 1):
        for name, turn in contestants.items():
            if name not in seldom or number <= 1 or number % SELDOM == 0:
                taken[name][number] = turn()
    for seconds in taken.values():
        del seconds[0]
    return taken


def timed(call: Call, calls: int = 1, clock: Callable[[], float] = used) -> float:
    """The seconds of a call, of some in a row.

    The garbage collector stays on, as it is for everybody; but nobody is charged for others' garbage.
    """
    gc.collect()
    start = clock()
    for _ in range(calls):
        call()
    return (clock() - start) / calls


def medians(taken: Taken) -> dict[str, float]:
    """The median seconds of each contestant."""
    return {name: statistics.median(seconds.values()) for name, seconds in taken.items()}


def interleaved(calls: Mapping[str, Call], rounds: int, calls_a_turn: int = 1) -> dict[str, float]:
    """The median seconds of each call, taken in turns."""
    return medians(turns(calls, rounds, calls_a_turn))


def ratio(taken: Taken, one: str, other: str) -> Ratio:
    """One contestant's time in another's.

    A round's two turns are milliseconds apart, so its ratio stays when the processor's clock does not: the
    median is that of the rounds' ratios.
    """
    over, under = taken[one], taken[other]
    both = [seconds / under[number] for number, seconds in over.items() if number in under]
    return Ratio(statistics.median(both), min(over.values()) / min(under.values()))


def times(ratio: float) -> str:
    """A ratio as people read it."""
    return f"{ratio:.2f} ×" if ratio < 10 else f"{ratio:.0f} ×"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def left_out(names: Iterable[str]) -> str:
    """A line on the peers that are not installed; nothing if all are."""
    missing = ", ".join(names)
    return f"\nLeft out, not being installed: {missing}.\n" if missing else ""
