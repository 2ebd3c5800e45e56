"""Time and memory for a node, from a thousand nodes to a million: each size in a process of its own."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from benchmarks.machine import gcc
from benchmarks.measure import Ratio, Report, table
from benchmarks.peers.limit import build
from benchmarks.plot import Panel, svg
from benchmarks.stages import STAGES

__all__ = ["Curve", "Growth", "curves", "growth", "report"]

SIZES = {1000: 15, 10_000: 5, 100_000: 2, 1_000_000: 1}
"""By number of nodes: how many calls are measured."""
HEAP = Path(__file__).with_name("heap.c")


class Taken(NamedTuple):
    """What a stage took for a node: seconds, by the median call and by the least; and bytes, if counted."""

    median: float
    least: float
    memory: float | None


Growth = dict[int, dict[str, Taken]]
"""By number of nodes, by stage."""
Curve = dict[int, float]
"""By number of nodes."""


def report(*, quick: bool) -> Report:
    """A table by size and stage, and by how much each figure grows."""
    return growth_report(growth(quick=quick))


def growth_report(found: Growth) -> Report:
    """The same of what was measured already."""
    parts = []
    for title, quantity, factor in (("µs a node", "time", 1e6), ("bytes a node", "memory", 1.0)):
        lines = [
            [name, *[figure(curve[size] * factor) for size in found]]
            for name, curve in curves(found, quantity).items()
        ]
        parts.append(table([title, *[f"{size:,} nodes" for size in found]], lines))
    return Report("\n".join(parts), figures(found), {"growth.svg": picture(found)})


def picture(found: Growth) -> str:
    """The curves of time and memory."""
    time = {
        name: {nodes: seconds * 1e6 for nodes, seconds in curve.items()}
        for name, curve in curves(found, "time").items()
    }
    return svg([Panel("µs a node", time), Panel("bytes a node", curves(found, "memory"))])


def growth(*, quick: bool) -> Growth:
    """Measure every size: time first, then memory, for a counter under ``malloc`` takes time itself."""
    sizes = dict([*SIZES.items()][:2]) if quick else SIZES
    found = {nodes: process(nodes, rounds, os.environ) for nodes, rounds in sizes.items()}
    if not (gcc() and sys.platform == "linux"):
        return found
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "heap.so"
        build(HEAP, library, ("-O2",))
        counting = {**os.environ, "LD_PRELOAD": str(library), "PYTHONMALLOC": "malloc"}
        for nodes, by_stage in found.items():
            for stage, counted in process(nodes, 1, counting).items():
                by_stage[stage] = by_stage[stage]._replace(memory=counted.memory)
    return found


def process(nodes: int, rounds: int, environment: Mapping[str, str]) -> dict[str, Taken]:
    """One size, each stage so many times; the bytes of those that count them."""
    command = [sys.executable, "-m", "benchmarks.stages", str(nodes), str(rounds)]
    here = Path(__file__).parents[1]
    done = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, env=dict(environment), cwd=here
    )
    found = {}
    for line in map(json.loads, done.stdout.splitlines()):
        seconds, most = line["seconds"], line["bytes"]
        memory = None if most is None else most / nodes
        median = statistics.median(seconds) / nodes
        found[line["stage"]] = Taken(median, min(seconds) / nodes, memory)
    return found


def curves(found: Growth, quantity: str) -> dict[str, Curve]:
    """By stage, its ``time``, ``least`` time or ``memory`` for a node; {} if memory was not counted."""
    field = {"time": "median"}.get(quantity, quantity)
    result: dict[str, Curve] = {}
    for stage in STAGES:
        curve = {nodes: getattr(taken[stage], field) for nodes, taken in found.items()}
        if None not in curve.values():
            result[stage] = curve
    return result


def figures(found: Growth) -> dict[str, Ratio]:
    """By what factor a figure for a node rises from a size to a larger one."""
    least = curves(found, "least")
    return {
        f"{quantity} {stage}": Ratio(
            rise(curve), rise((least if quantity == "time" else known)[stage])
        )
        for quantity in ("time", "memory")
        for known in (curves(found, quantity),)
        for stage, curve in known.items()
    }


def rise(curve: Curve) -> float:
    """By what factor a curve rises from a size to a larger one; at least 1."""
    least = accumulate(curve.values(), min)
    return max(here / low for here, low in zip(curve.values(), least, strict=True))


def figure(value: float) -> str:
    """Three digits."""
    return f"{value:.3g}" if value < 1000 else f"{value:,.0f}"
