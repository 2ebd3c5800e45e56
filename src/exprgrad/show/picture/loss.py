"""A descent as a picture: the value at each step, and the norm of the gradient below it."""

from __future__ import annotations

from math import hypot, inf, isfinite
from typing import Any

from exprgrad.explain.descent import Descent, Step
from exprgrad.run.values.updates import length
from exprgrad.show.picture.plots import Dots, Frame, Line, plot
from exprgrad.show.text.descent import ending
from exprgrad.source import cut, printable

__all__ = ["loss_picture"]

LONGEST_TITLE = 40
"""Where a formula is cut above a picture."""
FEW_STEPS = 60
"""So many points are marked, each."""
DECADES = 1e2
"""Positive numbers that are further apart stand on a logarithmic axis."""


def loss_picture(found: Descent[Any], format: str, look: str | None = None) -> bytes:
    """The bytes of an ``svg``, ``png`` or ``pdf`` file; ``look`` is as in ``plots.plot``."""
    name = found.run.graph.output_name or "value"
    values = [step.value for step in found.steps]
    norms = [norm(step) for step in found.steps]
    text = cut(printable(found.run.text), LONGEST_TITLE)
    first = frame(values, "data", f"{text}   {ending(found)}", printable(name))
    second = frame(norms, "grad", "", "‖grad‖")._replace(x_label="step", share=0.7)
    return plot([first, second], format, look)


def norm(step: Step) -> float:
    """The norm of a step's gradient."""
    return hypot(*map(length, step.gradient.values()))


def frame(numbers: list[float], role: str, title: str, label: str) -> Frame:
    """Numbers by step; what is not finite is left out."""
    known = [x for x in numbers if isfinite(x)]
    positive = [x for x in known if x > 0]
    is_long = len(positive) == len(known) and max(known, default=0.0) > DECADES * min(
        known, default=inf
    )
    places = [float(at) for at in range(len(numbers))]
    shown = [x if isfinite(x) else float("nan") for x in numbers]
    layers: list[Any] = [Line(places, shown, role)]
    if len(numbers) <= FEW_STEPS:
        layers.append(Dots(places, shown, role, size=3.0))
    x_range = None if len(numbers) > 1 else (-1.0, 1.0)
    return Frame(layers, title, "", label, x_range, logarithmic=is_long, counted=True)
