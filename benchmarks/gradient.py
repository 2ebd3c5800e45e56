"""Value and gradient of formulas of 10² to 10⁵ nodes against micrograd, autograd and PyTorch.

exprgrad reads a formula once, and each call of ``gradient`` is measured.  The peers walk the same
list of operations with their own numbers, which is their forward pass, and then go backward.  Before
anything is timed, all have to agree.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import exprgrad
from benchmarks.formulas import VALUES, chain, tree
from benchmarks.measure import (
    Call,
    Ratio,
    Report,
    left_out,
    medians,
    peer,
    ratio,
    table,
    times,
    turns,
)

__all__ = ["report"]

Steps = list[tuple[str, tuple[int, ...], Any]]
Answer = tuple[float, list[float]]
Contestant = Callable[[], Answer]


def report(*, quick: bool) -> Report:
    """The table: how many times exprgrad's time a peer takes."""
    makers = {"micrograd": micrograd, "autograd": autograd, "PyTorch": pytorch}
    peers = {"micrograd": "micrograd.engine", "autograd": "autograd.numpy", "PyTorch": "torch"}
    there = {name: module for name in makers if (module := peer(peers[name])) is not None}
    sizes = (100, 1000, 10_000)
    largest = () if quick else (100_000,)
    rows = []
    figures: dict[str, Ratio] = {}
    for shape, counts in ((tree, sizes + largest), (chain, sizes)):
        for size in counts:
            contestants = {name: (makers[name], module) for name, module in there.items()}
            cells, ratios = row(shape(size), contestants, quick)
            rows.append([f"{shape.__name__}, {size:,} nodes", *cells])
            if shape is tree:
                figures = ratios
    head = ["formula", "its value", *there, "reading it", "first call", "largest difference"]
    missing = left_out(name for name in makers if name not in there)
    return Report(table(head, rows) + missing, figures)


def row(
    text: str, peers: dict[str, tuple[Callable[..., Contestant], Any]], quick: bool
) -> tuple[list[str], dict[str, Ratio]]:
    """One formula, in exprgrad's calls: the time of the value, of peers, of reading and first calling.

    And the ratios that have a bar.
    """
    exprgrad.parse("relu(a*b + 1)").gradient(a=1, b=1)
    start = time.process_time()
    expression = exprgrad.parse(text)
    read = time.process_time()
    expression.gradient(VALUES)
    called = time.process_time()
    graph = expression.graph
    steps = list(zip(graph.kinds, graph.operands, graph.payloads, strict=True))

    def ours() -> Answer:
        run = expression.gradient(VALUES)
        gradient = run.gradient
        return run.value, [gradient.get(name, 0.0) for name in VALUES]

    expected = ours()
    calls: dict[str, Call] = {"exprgrad": ours, "value": lambda: expression.evaluate(VALUES).value}
    failed: dict[str, str] = {}
    worst = 0.0
    for name, (maker, module) in peers.items():
        contestant = maker(module, steps)
        try:
            worst = max(worst, difference(expected, contestant()))
            calls[name] = contestant
        except RecursionError:
            failed[name] = "RecursionError"
    rounds, turn = (3, 5_000) if quick else (8, 10_000)
    taken = turns(calls, rounds, max(1, turn // len(graph)), ("autograd", "PyTorch"))
    unit = medians(taken)["exprgrad"]
    cells = [
        times(ratio(taken, "value", "exprgrad").median),
        *[failed.get(name) or times(ratio(taken, name, "exprgrad").median) for name in peers],
        times((read - start) / unit),
        times((called - read) / unit),
        f"{worst:.0e}",
    ]
    found = {"sweeps": ratio(taken, "exprgrad", "value")}
    if "micrograd" in taken:
        found["micrograd"] = ratio(taken, "micrograd", "exprgrad")
    return cells, found


def difference(one: Answer, other: Answer) -> float:
    """The largest difference of two answers, relative to the value or the largest derivative.

    Raises ``ValueError`` where it is more than rounding.
    """
    scale = max(map(abs, one[1]))
    apart = [abs(one[0] - other[0]) / abs(one[0])]
    apart += [abs(x - y) / scale for x, y in zip(one[1], other[1], strict=True)]
    worst = max(apart)
    if not worst < 1e-9:
        raise ValueError(f"the gradients differ by {worst}")
    return worst


def walk(steps: Steps, leaves: dict[str, Any], relu: Callable[[Any], Any]) -> Any:
    """Apply the operations in order to whatever the leaves are; constants stay floats."""
    values: list[Any] = []
    for kind, operands, payload in steps:
        if kind == "add":
            values.append(values[operands[0]] + values[operands[1]])
        elif kind == "mul":
            values.append(values[operands[0]] * values[operands[1]])
        elif kind == "relu":
            values.append(relu(values[operands[0]]))
        elif kind == "input":
            values.append(leaves[payload])
        elif kind == "const":
            values.append(payload)
        else:
            raise ValueError(f"the peers are not taught {kind}")
    return values[-1]


def micrograd(module: Any, steps: Steps) -> Contestant:
    """``micrograd.engine.Value``."""

    def call() -> Answer:
        leaves = {name: module.Value(value) for name, value in VALUES.items()}
        output = walk(steps, leaves, module.Value.relu)
        output.backward()
        return output.data, [leaf.grad for leaf in leaves.values()]

    return call


def autograd(module: Any, steps: Steps) -> Contestant:
    """``autograd.value_and_grad``; ``where`` for relu, as ``maximum`` halves the gradient at 0."""
    from importlib import import_module

    def output(leaves: tuple[Any, ...]) -> Any:
        named = dict(zip(VALUES, leaves, strict=True))
        return walk(steps, named, lambda x: module.where(x > 0, x, 0.0))

    both = import_module("autograd").value_and_grad(output)

    def call() -> Answer:
        value, gradient = both(tuple(VALUES.values()))
        return float(value), [float(x) for x in gradient]

    return call


def pytorch(module: Any, steps: Steps) -> Contestant:
    """Scalar double tensors and ``backward()``."""

    def call() -> Answer:
        leaves = {
            name: module.tensor(value, dtype=module.float64, requires_grad=True)
            for name, value in VALUES.items()
        }
        output = walk(steps, leaves, module.relu)
        output.backward()
        gradient = [0.0 if leaf.grad is None else leaf.grad.item() for leaf in leaves.values()]
        return output.item(), gradient

    return call
