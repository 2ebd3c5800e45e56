"""``Value`` beside micrograd's: making a graph, and ``backward()``, with the garbage collector on and off.

The graphs are a neuron, two networks of ``micrograd.nn`` (its classes as they are, on either ``Value``)
with a loss over four rows, and a loss like that of micrograd's demo, two moons, over 20.  Both have to
agree before anything is timed.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from random import Random
from typing import Any

from benchmarks.measure import Ratio, Report, in_turns, left_out, peer, ratio, table, times
from exprgrad import Value

__all__ = ["report"]

Build = Callable[[], Any]
"""What makes a graph and returns its last value."""
ROWS = [[2.0, 3.0, -1.0], [3.0, -1.0, 0.5], [0.5, 1.0, 1.0], [1.0, 1.0, -1.0]]
SIGNS = [1.0, -1.0, -1.0, 1.0]
RESULTS = 3000
"""How many results a turn takes in a row, about."""


def report(*, quick: bool) -> Report:
    """The table: the time of exprgrad's ``Value`` in that of micrograd's."""
    nn = peer("micrograd.nn")
    if nn is None:
        return Report(left_out(["micrograd"]))
    theirs = nn.Value
    graphs: dict[str, tuple[Callable[[type], Build], int]] = {
        "neuron": (neuron, 5),
        "3-4-4-1": (partial(network, nn, [4, 4, 1]), 300),
        "3-16-16-1": (partial(network, nn, [16, 16, 1]), 2700),
        "moons": (partial(moons, nn), 13_500),
    }
    rows, figures = [], {}
    for name, (maker, size) in graphs.items():
        builds = {"exprgrad": maker(Value), "micrograd": maker(theirs)}
        agree(builds)
        cells = []
        for state in (True, False):
            made, passed = measured(builds, max(1, RESULTS // size), state, quick=quick)
            cells += [times(made.median), times(passed.median)]
            figures[f"value {name} {'on' if state else 'off'}"] = passed
        rows.append([f"{name}, {size:,} results", *cells])
    head = ["graph", "making it", "backward", "making it, collector off", "backward, collector off"]
    return Report(table(head, rows), figures)


def measured(
    builds: dict[str, Build], graphs: int, collector: bool, *, quick: bool
) -> tuple[Ratio, Ratio]:
    """The ratios of making some graphs, and of going backward through them."""
    seconds: dict[str, list[float]] = {name: [] for name in builds}

    def turn(name: str) -> float:
        build, making = builds[name], 0.0
        found = 0.0
        for _ in range(graphs):
            start = time.process_time()
            output = build()
            built = time.process_time()
            output.backward()
            found += time.process_time() - built
            making += built - start
        seconds[name].append(making)
        return found

    with collecting(collector):
        taken = in_turns({name: partial(turn, name) for name in builds}, 7 if quick else 25)
    making = {name: dict(enumerate(found[1:])) for name, found in seconds.items()}
    return ratio(making, "exprgrad", "micrograd"), ratio(taken, "exprgrad", "micrograd")


@contextmanager
def collecting(state: bool) -> Iterator[None]:
    """The garbage collector on or off, from a clean heap, and then as it was."""
    before = gc.isenabled()
    gc.collect()
    (gc.enable if state else gc.disable)()
    try:
        yield
    finally:
        (gc.enable if before else gc.disable)()


def agree(builds: dict[str, Build]) -> None:
    """Raise ``ValueError`` where the values differ by more than rounding."""
    one, other = (build().data for build in builds.values())
    if not abs(one - other) <= 1e-9 * abs(other):
        raise ValueError(f"the values differ: {one} and {other}")


def neuron(kind: Any) -> Build:
    """Two inputs, a bias, relu."""
    x, y, v, w, bias = map(kind, (2.0, 0.5, -3.0, 1.0, 6.88))
    return lambda: (x * v + y * w + bias).relu()


def model(nn: Any, kind: Any, inputs: int, sizes: list[int]) -> Any:
    """A network of ``micrograd.nn`` of some ``Value``, always with the same weights."""
    nn.Value = kind
    made = nn.MLP(inputs, sizes)
    random = Random(1)
    for weight in made.parameters():
        weight.data = random.uniform(-1, 1)
    return made


def network(nn: Any, sizes: list[int], kind: Any) -> Build:
    """The squared error of a network over four rows."""
    made = model(nn, kind, 3, sizes)

    def build() -> Any:
        scores = [made([kind(x) for x in row]) for row in ROWS]
        return sum((score - sign) ** 2 for score, sign in zip(scores, SIGNS, strict=True))

    return build


def moons(nn: Any, kind: Any) -> Build:
    """A hinge loss over 20 points, with a penalty for large weights, as for micrograd's two moons."""
    made = model(nn, kind, 2, [16, 16, 1])
    random = Random(2)
    points = [[random.uniform(-1, 1), random.uniform(-1, 1)] for _ in range(20)]
    signs = [random.choice((-1, 1)) for _ in points]

    def build() -> Any:
        scores = [made([kind(x) for x in point]) for point in points]
        losses = [(1 - sign * score).relu() for sign, score in zip(signs, scores, strict=True)]
        weights = sum(weight * weight for weight in made.parameters())
        return sum(losses) * (1.0 / len(losses)) + 1e-4 * weights

    return build
