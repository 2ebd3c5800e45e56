"""The picture of a fit: rows, the curve with its band, and the residuals below."""

from __future__ import annotations

from exprgrad.show.picture.plots import Band, Dots, Frame, Layer, Line, Rule, plot
from exprgrad.solvers.fit.curves import fit_curve
from exprgrad.solvers.fit.fit import Fit
from exprgrad.source import cut

__all__ = ["fit_picture"]

LONGEST_TITLE = 70
SIZES = ((60, 5.0), (600, 3.5), (10**9, 2.0))
"""Up to how many rows dots are how large, in points."""


def fit_picture(found: Fit, format: str, look: str | None = None) -> bytes:
    """The picture as the bytes of an ``svg``, ``png`` or ``pdf`` file; ``look`` is as in ``plot``."""
    return plot(fit_frames(found), format, look)


def fit_frames(found: Fit) -> list[Frame]:
    """A frame with the rows and the model, and one with what it leaves."""
    drawn = fit_curve(found)
    count = len(drawn.x)
    size = next(size for most, size in SIZES if count <= most)
    title = cut(" ".join(found.text.split()), LONGEST_TITLE)
    response = cut(found.text.partition("~")[0].rpartition(";")[2].strip(), 30)
    rows: list[Layer] = []
    if drawn.low is not None and drawn.high is not None:
        label = f"{found.level * 100:.10g} % band of the model"
        rows.append(Band(drawn.places, drawn.low, drawn.high, label=label))
    rows.append(Dots(drawn.x, drawn.y, "grad", size=size, errors=drawn.deviations, label="data"))
    rows.append(Line(drawn.places, drawn.values, label="model"))
    left = Dots(drawn.x, drawn.residuals, "grad", size=size, errors=drawn.deviations)
    across = drawn.column or "model"
    return [
        Frame(rows, title, y_label=response),
        Frame([Rule(y=0.0), left], x_label=across, y_label="residual", share=0.5),
    ]
