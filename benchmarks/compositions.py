"""Gradients of generated formulas, two functions deep: how often each library is near the truth.

Nobody chose these cases, so they also hold those in which errors of two steps cancel for one library and
not for another.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

from benchmarks.gradients import Gradient
from benchmarks.measure import table
from benchmarks.truth import from_tests, true_gradient
from exprgrad.api import Expression, parse
from exprgrad.graph.ops import OPS

__all__ = ["compositions_table"]

FORMS = ("{}", "{}", "{}", "1 - {}", "1/{}", "{}^2", "{}*x", "{} + x", "-{}")
"""What stands between the two functions."""
FEW, LEAD = 5.0, 2.0
"""The ulps that are few, and by how many one gradient is nearer than another."""


def compositions_table(known: Mapping[str, Gradient], count: int) -> str:
    """A line for each contestant, of those formulas that all of them know."""
    ours, *_ = known
    found = [errors for case in formulas(count) if (errors := measured(*case, known)) is not None]

    def share(name: str, holds: Any) -> str:
        return f"{100 * sum(holds(errors, name) for errors in found) / len(found):.1f} %"

    rows = [
        [
            name,
            share(name, lambda errors, name: errors[name] <= FEW),
            share(name, lambda errors, name: errors[name] <= 1000 * FEW),
            share(name, lambda errors, name: errors[name] + LEAD < errors[ours]),
            share(name, lambda errors, name: errors[ours] + LEAD < errors[name]),
        ]
        for name in known
    ]
    head = [
        f"of {len(found)} derivatives",
        "within 5 ulp",
        "within 5,000 ulp",
        "nearer than exprgrad by 2 ulp",
        "farther by 2 ulp",
    ]
    return table(head, rows)


def formulas(count: int) -> Iterator[tuple[Expression, float]]:
    """Formulas of x, the same at every run, and a value for it: near 0 and 1, everyday, up to 30."""
    smooth = [op for op in OPS if len(op.names) == 1 and not (op.variadic or op.special)]
    names = [op.name for op in smooth if not op.prefix]
    random = Random(0)
    for _ in range(count):
        inner = random.choice(FORMS).format(f"{random.choice(names)}(x)")
        x = random.choice(
            (
                random.uniform(0, 1),
                random.uniform(-3, 3),
                random.uniform(-30, 30),
                10 ** random.uniform(-8, 2),
                1 - 10 ** random.uniform(-10, -1),
            )
        )
        yield parse(f"{random.choice(names)}({inner})"), x


def measured(
    expression: Expression, x: float, known: Mapping[str, Gradient]
) -> dict[str, float] | None:
    """Every contestant's error in ulp, or None outside the domain, beyond the doubles and at a zero."""
    oracles = from_tests("oracles")
    try:
        (true,) = true_gradient(expression.graph, {"x": x}).values()
        if not 1e-300 < abs(true) < 1e300:
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            errors = {
                name: oracles.ulps(of(expression, {"x": x})[0], true) for name, of in known.items()
            }
    except (KeyError, ValueError, NotImplementedError):
        return None
    return {name: math.inf if math.isnan(ulps) else ulps for name, ulps in errors.items()}
