"""Who takes part in a batch: each in a process of its own, as in a script, all on the same core.

So nobody is better or worse off for the memory that others held and gave back, nor for their threads.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import NamedTuple

from benchmarks.machine import gcc
from benchmarks.measure import peer, timed
from benchmarks.peers import by_column, by_row, frameworks, limit, ours
from benchmarks.problems import PROBLEMS, Answer, Columns, Problem, agree, columns

__all__ = [
    "BY_HAND",
    "BY_JAX",
    "BY_NUMPY",
    "MAKERS",
    "NATIVE",
    "NUMPY",
    "C",
    "Contestant",
    "contestants",
    "installed",
]

NATIVE, NUMPY, JAX = "exprgrad `native`", "exprgrad `numpy`", "exprgrad `jax`"
C, GREEKS, BY_JAX = "C", "C, the textbook's greeks", "JAX"
BY_NUMPY, BY_HAND = "NumPy, naive", "NumPy, by hand"
MAKERS: dict[str, tuple[str, Callable[[Problem, Columns], Answer]]] = {
    NATIVE: ("llvmlite", partial(ours.engine, "native")),
    NUMPY: ("numpy", partial(ours.engine, "numpy")),
    JAX: ("jax", partial(ours.engine, "jax")),
    C: ("gcc", limit.by_hand),
    GREEKS: ("gcc", limit.greeks),
    BY_JAX: ("jax", frameworks.jax),
    "numba": ("numba", by_row.numba),
    BY_NUMPY: ("numpy", by_column.derived),
    BY_HAND: ("numpy", by_column.by_hand),
    "NumExpr": ("numexpr", by_column.numexpr),
    "PyTorch": ("torch", frameworks.pytorch),
    "autograd": ("autograd", frameworks.autograd),
    "CasADi": ("casadi", by_row.casadi),
}
"""By contestant: what has to be installed, and what makes a call."""


class Contestant(NamedTuple):
    """A process that waits to be asked."""

    name: str
    pipe: Connection

    def prepare(self, problem: Problem, rows: int) -> bool:
        """Make the answer and hold it against the engine for single points; False where there is none.

        Raises ``ValueError`` where they do not agree.
        """
        self.pipe.send((problem.name, rows))
        found = self.pipe.recv()
        if isinstance(found, Exception):
            raise found
        return bool(found)

    def turn(self, calls: int) -> float:
        """The seconds of a call, of some in a row."""
        self.pipe.send(calls)
        return float(self.pipe.recv())


@contextmanager
def contestants(names: Collection[str]) -> Iterator[Mapping[str, Contestant]]:
    """Start the processes, which end with the block."""
    context = get_context("spawn")
    started = []
    found = {}
    try:
        for name in names:
            ours, theirs = context.Pipe()
            process = context.Process(target=serve, args=(name, theirs), daemon=True)
            process.start()
            started.append((process, ours))
            found[name] = Contestant(name, ours)
        yield found
    finally:
        for process, pipe in started:
            pipe.close()
            process.join()


def serve(name: str, pipe: Connection) -> None:
    """Prepare what is asked for, and take turns, until nobody asks any more."""
    make = MAKERS[name][1]
    answer: Answer | None = None
    with_name = {problem.name: problem for problem in PROBLEMS}
    while True:
        try:
            asked = pipe.recv()
        except EOFError:
            return
        if isinstance(asked, int):
            assert answer is not None
            pipe.send(timed(answer, asked))
            continue
        answer = None
        gc.unfreeze()
        problem, rows = with_name[asked[0]], asked[1]
        given = columns(problem, rows)
        try:
            answer = make(problem, given)
            agree(problem, given, name, answer)
            gc.collect()
            gc.freeze()
            pipe.send(True)
        except NotImplementedError:
            pipe.send(False)
        except Exception as error:  # the parent raises it
            pipe.send(error)


def installed(needs: str) -> bool:
    """Whether a peer's module, or gcc, is there."""
    return bool(gcc()) if needs == "gcc" else peer(needs) is not None
