"""What it costs that kinks are looked for: a gradient, in the time of its two sweeps alone.

The points are smooth, so nothing is found; the formulas have many operations with kinks, some, or none.
The last one meets a kink at each of its inputs, and both sides of each are worked out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random

import exprgrad
from benchmarks.formulas import VALUES, chain
from benchmarks.measure import Report, ratio, table, times, turns

__all__ = ["reading", "report"]


def report(*, quick: bool) -> Report:
    """The table: ``gradient`` in times of ``swept``."""
    formulas = {
        "a neuron": "tanh(a*b + c*d + e)",
        "a neuron with relu": "relu(a*b + c*d + e)",
        "chain, 1,000 nodes, no kinks": chain(1000),
        "kinks in half of 1,000 nodes": kinks(250),
        "at eight kinks": " + ".join(f"abs({name} - {value})" for name, value in VALUES.items()),
    }
    taken = [
        reading(text, VALUES, lambda run: run.gradient, against=lambda run: run.swept, quick=quick)
        for text in formulas.values()
    ]
    rows = [[name, times(one)] for name, one in zip(formulas, taken, strict=True)]
    return Report(table(["formula", "gradient, against its sweeps alone"], rows))


def kinks(layers: int) -> str:
    """Layers of ``max``, ``relu`` and ``abs``, with products and sums between them."""
    random = Random(layers)
    text = "a"
    for _ in range(layers):
        one, other = random.sample(list(VALUES), 2)
        text = f"{random.choice(('relu', 'abs'))}(max({text}*0.7, {one}) + {random.random()}*{other} + 1)"
    return text


def reading(
    text: str,
    values: Mapping[str, float],
    what: Callable[[exprgrad.Run], object],
    *,
    against: Callable[[exprgrad.Run], object],
    quick: bool,
) -> float:
    """The median time of a gradient of which something is read, in that of one of which less is."""
    expression = exprgrad.parse(text)
    inputs = {name: values[name] for name in expression.inputs}
    what(expression.gradient(inputs))
    taken = turns(
        {
            "more": lambda: what(expression.gradient(inputs)),
            "less": lambda: against(expression.gradient(inputs)),
        },
        5 if quick else 15,
        max(1, (5_000 if quick else 10_000) // len(expression.graph)),
    )
    return ratio(taken, "more", "less").median
