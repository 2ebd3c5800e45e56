"""The stages of a large formula in a process of its own: ``python -m benchmarks.stages NODES ROUNDS``.

Prints a line of JSON for each stage: its name, seconds of some calls, and the bytes on the heap at the
most, beyond what was there before, if ``heap.c`` counts them.
"""

from __future__ import annotations

import ctypes
import gc
import json
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import exprgrad
from benchmarks.formulas import VALUES, tree
from exprgrad.derive.sweeps.gradient import gradient

__all__ = ["ROWS", "STAGES"]

LIMIT = 10**13
"""More than the largest formula takes."""
ROWS = 1024
"""How many rows a batch has: a block of the largest formulas."""
STAGES = ("parse", "sweep", "derive", "compile", "batch")


def main(nodes: int, rounds: int) -> None:
    """Every stage of a formula of so many nodes, after those of a small one, which pays for imports."""
    for _ in stages(tree(1000), 1):
        pass
    for stage, seconds, most in stages(tree(nodes), rounds):
        print(json.dumps({"stage": stage, "seconds": seconds, "bytes": most}), flush=True)  # noqa: T201


def stages(text: str, rounds: int) -> Iterator[tuple[str, list[float], int | None]]:
    """What each stage takes; the later ones get what the earlier ones made.

    A sweep and a batch keep memory for the next: the bytes are those of the first, the seconds of others.
    """
    columns = {name: np.linspace(0.5, 1.0, ROWS) * value for name, value in VALUES.items()}
    expression, seconds, most = measured(lambda: exprgrad.parse(text, limit=LIMIT), rounds)
    yield "parse", seconds, most
    _, _, most = measured(lambda: expression.gradient(VALUES).gradient, 1)
    _, seconds, _ = measured(lambda: expression.gradient(VALUES).gradient, rounds)
    yield "sweep", seconds, most
    _, seconds, most = measured(lambda: gradient(expression.graph, list(VALUES)), rounds)
    yield "derive", seconds, most
    compiled, seconds, most = measured(lambda: expression.compile("numpy", threads=1), rounds)
    yield "compile", seconds, most
    out, _, most = measured(lambda: compiled(columns), 1)
    _, seconds, _ = measured(lambda: compiled(columns, out=out), rounds)
    yield "batch", seconds, most


def measured(stage: Callable[[], Any], rounds: int) -> tuple[Any, list[float], int | None]:
    """What a stage gives; the seconds of some calls; and the bytes that the last one took at the most."""
    heap = counter()
    found = []
    result = most = None
    for _ in range(rounds):
        result = None
        gc.collect()
        gc.freeze()
        before = heap.heap_reset() if heap else 0
        start = time.process_time()
        result = stage()
        found.append(time.process_time() - start)
        most = heap.heap_most() - before if heap else None
        gc.unfreeze()
    return result, found, most


def counter() -> Any:
    """The functions of ``heap.c``; None where it was not loaded."""
    this = ctypes.CDLL(None)
    if not hasattr(this, "heap_most"):
        return None
    this.heap_reset.restype = this.heap_most.restype = ctypes.c_long
    return this


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
