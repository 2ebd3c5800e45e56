"""Measuring: contestants take turns, so that whatever disturbs the machine disturbs them all."""

from __future__ import annotations

import gc
import platform
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

__all__ = ["Call", "interleaved", "machine", "peer", "table", "times"]

Call = Callable[[], object]


def peer(module: str) -> Any:
    """A peer's module, or None where it is not installed."""
    try:
        return import_module(module)
    except ImportError:
        return None


def interleaved(calls: Mapping[str, Call], rounds: int, calls_a_turn: int = 1) -> dict[str, float]:
    """The median seconds of each call, over rounds in which each has one turn.

    A turn is some calls in a row, as in a loop.  One round goes ahead unmeasured.  The garbage
    collector stays on, as it is for everybody; but nobody is charged for the modules that others
    imported, nor for the garbage of their turns.
    """
    taken: dict[str, list[float]] = {name: [] for name in calls}
    gc.collect()
    gc.freeze()
    for _ in range(rounds + 1):
        for name, call in calls.items():
            gc.collect()
            start = time.perf_counter()
            for _ in range(calls_a_turn):
                call()
            taken[name].append((time.perf_counter() - start) / calls_a_turn)
    gc.unfreeze()
    return {name: statistics.median(seconds[1:]) for name, seconds in taken.items()}


def times(ratio: float) -> str:
    """A ratio as people read it."""
    return f"{ratio:.2f} ×" if ratio < 10 else f"{ratio:.0f} ×"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def machine() -> str:
    """What the numbers were taken on."""
    system = platform.freedesktop_os_release().get("PRETTY_NAME", "") if on_linux() else ""
    return (
        f"{processor()}; {system or platform.system()}; "
        f"{platform.python_implementation()} {platform.python_version()}"
    )


def on_linux() -> bool:
    """Whether this system describes itself in files."""
    return Path("/proc/cpuinfo").exists() and Path("/etc/os-release").exists()


def processor() -> str:
    """The processor's model, as far as the system tells."""
    if on_linux():
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            name, _, model = line.partition(":")
            if name.strip() == "model name":
                return model.strip()
    return platform.processor() or platform.machine()
