"""What it costs that kinks are looked for: a gradient, in the time of its two sweeps alone.

The points are smooth, so nothing is found; the formulas have many operations with kinks, some, or none.
The last one meets a kink at each of its inputs, and both sides of each are worked out.
"""

from __future__ import annotations

from random import Random

import exprgrad
from benchmarks.formulas import VALUES, chain
from benchmarks.measure import Report, ratio, table, times, turns

__all__ = ["report"]


def report(*, quick: bool) -> Report:
    """The table: ``gradient`` in times of ``swept``."""
    formulas = {
        "a neuron": "tanh(a*b + c*d + e)",
        "a neuron with relu": "relu(a*b + c*d + e)",
        "chain, 1,000 nodes, no kinks": chain(1000),
        "kinks in half of 1,000 nodes": kinks(250),
        "at eight kinks": " + ".join(f"abs({name} - {value})" for name, value in VALUES.items()),
    }
    rows = [[name, times(looked_for(text, quick=quick))] for name, text in formulas.items()]
    return Report(table(["formula", "gradient, against its sweeps alone"], rows))


def kinks(layers: int) -> str:
    """Layers of ``max``, ``relu`` and ``abs``, with products and sums between them."""
    random = Random(layers)
    text = "a"
    for _ in range(layers):
        one, other = random.sample(list(VALUES), 2)
        text = f"{random.choice(('relu', 'abs'))}(max({text}*0.7, {one}) + {random.random()}*{other} + 1)"
    return text


def looked_for(text: str, *, quick: bool) -> float:
    """The median time of a gradient in that of its sweeps."""
    expression = exprgrad.parse(text)
    values = {name: VALUES[name] for name in expression.inputs}
    expression.gradient(values).gradient  # noqa: B018
    taken = turns(
        {
            "sweeps": lambda: expression.gradient(values).swept,
            "gradient": lambda: expression.gradient(values).gradient,
        },
        5 if quick else 15,
        max(1, (5_000 if quick else 10_000) // len(expression.graph)),
    )
    return ratio(taken, "gradient", "sweeps").median
