"""Elasticities, x/f·∂f/∂x: the percentage by which a value changes when an input changes by one percent.

A. Marshall, Principles of Economics (1890), book III, chapter IV; in the words of the sensitivity analysis
of models, the relative sensitivity coefficient.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import frexp, inf, isfinite, ldexp, nan
from typing import Any

from exprgrad.explain.diagnostics import DiagnosedRun
from exprgrad.run.evaluation import Diagnostic

__all__ = ["elasticity_digits", "elasticity_of", "elasticity_remarks", "list_elasticities"]


def list_elasticities(run: DiagnosedRun) -> dict[str, Any]:
    """Return x/f·∂f/∂x by input, the largest magnitude first; for a tensor number by number.

    It uses the numbers that commands print, ``run.true``.  Where f is 0 it is infinite, or nan if
    x·∂f/∂x is 0, too; an elasticity without a number comes last.
    """
    answer = run.true
    found = {
        name: elasticity_of(run.inputs[name], slope, answer.value)
        for name, slope in answer.gradient.items()
    }
    sizes = {
        name: [abs(float(x)) for x in getattr(one, "flat", [one]) if x == x]
        for name, one in found.items()
    }
    return dict(sorted(found.items(), key=lambda one: -max(sizes[one[0]], default=-1.0)))


def elasticity_of(x: Any, slope: Any, value: float) -> Any:
    """Return the elasticity of a number, or of each entry of a tensor."""
    if isinstance(x, float) and isinstance(slope, float):
        return number_elasticity(x, slope, value)
    import numpy as np

    pairs = zip(np.ravel(x).tolist(), np.ravel(slope).tolist(), strict=True)
    return np.array([number_elasticity(a, b, value) for a, b in pairs]).reshape(np.shape(x))


def number_elasticity(x: float, slope: float, value: float) -> float:
    """Return x/f·∂f/∂x, which overflows only if the result is too large."""
    parts = (x, slope, value)
    if not all(map(isfinite, parts)):
        return nan if value != value or not x else x * slope / value
    if not value:
        return nan if not (x and slope) else inf if (x > 0) == (slope > 0) else -inf
    (a, i), (b, j), (c, k) = map(frexp, parts)
    try:
        return ldexp(a * b / c, i + j - k)
    except OverflowError:
        return inf if a * b / c > 0 else -inf


def elasticity_digits(digits: Mapping[str, Any]) -> dict[str, Any]:
    """Count the right digits of each elasticity, given those of the value and of the gradient.

    Two relative errors add up, so it is a digit less than the smaller count.
    """
    of_value = digits["value"]
    return {name: max(min(of_value, count) - 1, 0) for name, count in digits["gradient"].items()}


def elasticity_remarks(run: DiagnosedRun, found: Mapping[str, Any]) -> list[Diagnostic]:
    """Explain an elasticity that is 0, infinite or nan because a value or an input is 0."""
    graph = run.graph
    remarks: list[tuple[str, str, int, str | None]] = []
    if found and run.true.value == 0:
        message = "the value is 0, and 0 has no percentages: elasticities are infinite, or nan"
        help = "derivatives are those of grad without --elastic"
        remarks.append(("warning", message, graph.output, help))
    for name in found if run.true.value else ():
        x = run.inputs[name]
        zeros = sum(1 for number in getattr(x, "flat", [x]) if number == 0)
        if zeros:
            what = "is 0" if isinstance(x, float) else f"has {zeros:,} zeros"
            message = (
                f"{name} {what}, which percentages do not move: an elasticity of 0 says nothing"
            )
            remarks.append(("note", message, graph.inputs[name], None))
    return [
        Diagnostic("elasticity", severity, message, node, graph.span(node), help, None)
        for severity, message, node, help in remarks
    ]
