"""Fits as tables, CSV, JSON and pictures: the estimates, their correlations, and how the fit ended."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from exprgrad.show.documents.document import Lines
from exprgrad.show.picture.plots import (
    Frame,
    Layer,
    band_layer,
    dot_layer,
    line_layer,
    plot_frames,
    rule_layer,
)
from exprgrad.show.text.lines import decimal_text, true_minus
from exprgrad.show.text.table import Column, Table, csv_column, make_table
from exprgrad.solvers.fit.fit import Fit, fit_curve
from exprgrad.source import cut_text, printable_text

__all__ = ["fit_ending", "fit_fields", "fit_parts", "fit_picture"]

MOST_CORRELATED = 12
"""The most parameters whose correlations are shown as a table."""
HELD = {"fixed": "held", "bound": "at its bound"}
"""The words for a parameter that was not estimated."""


def fit_parts(found: Fit, digits: int, *, whole: bool) -> Iterator[str | Table]:
    """The estimates; their correlations; how good the fit is, and how it ended."""
    table = estimates_table(found, digits, whole=whole)
    foot = "\n".join([*quality_lines(found, digits), fit_ending(found)])
    known = uncertain_estimates(found)
    if not (2 < len(known) <= MOST_CORRELATED or (whole and len(known) > 2)):
        yield table._replace(foot=foot)
        return
    yield from (table, "", correlation_table(found, known)._replace(foot=foot))


def estimates_table(found: Fit, digits: int, *, whole: bool) -> Table:
    """A line for each parameter."""
    undetermined = {name for way in found.open for name, by in way.items() if by}

    def error_cell(name: str) -> str:
        one, missing = estimates[name], "not determined" if name in undetermined else "unknown"
        return HELD[one.held] if one.held else decimal_text(one.error, digits) or missing

    def interval_columns(heading: str, field: str, key: str, expendable: int) -> Iterator[Column]:
        """A column for people, and for programs one for each end."""
        ends = {name: getattr(one, field) or (None, None) for name, one in estimates.items()}
        yield Column(
            heading,
            lambda name: " … ".join(filter(None, (decimal_text(x, digits) for x in ends[name]))),
            is_number=True,
            expendable=expendable,
        )
        yield csv_column(key=f"{key}low", value=lambda name: ends[name][0])
        yield csv_column(key=f"{key}high", value=lambda name: ends[name][1])

    estimates = found.parameters
    columns = [
        Column("parameter", key="parameter", value=str, flexible=True),
        Column(
            "value",
            lambda name: (
                None if name in undetermined and not estimates[name].held else estimates[name].value
            ),
            is_number=True,
            style="green",
            key="value",
            value=lambda name: estimates[name].value,
        ),
        Column(
            "std. error",
            error_cell,
            is_number=True,
            key="error",
            value=lambda name: estimates[name].error,
        ),
        *interval_columns(f"{found.level * 100:.10g} % interval", "interval", "", 1),
        *(interval_columns("by profile", "profile", "profile_", 2) if found.profiled else ()),
        csv_column(key="digits", value=lambda name: estimates[name].digits),
        csv_column(key="held", value=lambda name: estimates[name].held),
    ]
    return make_table(columns, [*estimates], digits, whole=whole, what="parameters")


def uncertain_estimates(found: Fit) -> list[int]:
    """The estimates that have errors above 0, by their places: only these correlate."""
    return [at for at, name in enumerate(found.estimated) if found.parameters[name].error]


def correlation_table(found: Fit, known: Sequence[int]) -> Table:
    """The correlations of the estimates that have errors, below the diagonal."""
    names = [printable_text(found.estimated[at]) for at in known]
    columns = [Column("correlation"), *(Column(name, is_number=True) for name in names[:-1])]
    rows = []
    for place, at in enumerate(known):
        cells = [correlation_text(found.correlation[at][other]) for other in known[:place]]
        rows.append([names[place], *cells, *[""] * (len(known) - 1 - place)])
    return Table(columns, rows[1:])


def correlation_text(value: float) -> str:
    """A correlation: one that is 0 in all digits shown has no sign."""
    return f"{round(float(value), 4) + 0.0:.4f}"


def quality_lines(found: Fit, digits: int) -> Iterator[str]:
    """The lines on the quality of a fit: rows, residuals, correlation, starts, and lost digits."""
    s = "s" * (found.rows != 1)
    yield f"{found.rows:,} row{s}, {found.dof:,} degree{'s' * (found.dof != 1)} of freedom" + (
        f", {found.left_out:,} left out" if found.left_out else ""
    )
    if found.objective:
        yield f"least sum {decimal_text(found.cost, digits)}"
    if found.residual_sd is not None:
        what = "reduced chi-squared" if found.absolute else "residual standard deviation"
        value = found.residual_sd**2 if found.absolute else found.residual_sd
        yield f"{what} {decimal_text(value, digits)}"
    if found.r_squared is not None:
        caveat = "" if found.linear else ", which says little about a nonlinear model"
        shown = decimal_text(found.r_squared, digits)
        if shown == "1" and found.r_squared < 1:
            shown = f"1 - {decimal_text(1 - found.r_squared, 2)}"
        yield f"R² {shown}{caveat}"
    if found.aic is not None:
        yield f"AIC {decimal_text(found.aic, digits)}"
    known = uncertain_estimates(found)
    if len(known) == 2:
        one, other = (printable_text(found.estimated[at]) for at in known)
        yield f"correlation of {one} and {other} {correlation_text(found.correlation[known[0]][known[1]])}"
    if found.starts.tried > 1:
        tried, led, failed = found.starts
        yield f"{tried} starts: {led} led here" + (f", {failed} had no value" if failed else "")
    for way in found.open:
        moved = [
            f"{printable_text(name)} by {decimal_text(by, 3)}" for name, by in way.items() if by
        ]
        yield f"not determined: moving {', '.join(moved)} changes nothing"
    few = [
        f"{printable_text(name)} {one.digits}"
        for name, one in found.parameters.items()
        if one.digits is not None and one.digits < digits
    ]
    if found.error_digits is not None and found.error_digits < digits and not found.exact:
        few.append(f"standard errors {found.error_digits}")
    if few:
        yield f"digits that rounding leaves: {', '.join(few)}"


def fit_ending(found: Fit) -> str:
    """Whether a fit converged, and why, or why not."""
    return f"{'converged' if found.converged else 'not converged'}: {printable_text(found.reason)}"


def fit_fields(found: Fit) -> dict[str, Any]:
    """A fit as JSON has it."""
    parameters = {
        name: {
            "value": one.value,
            "error": one.error,
            "interval": one.interval,
            **({"profile": one.profile} if found.profiled else {}),
            "digits": one.digits,
            "held": one.held or None,
        }
        for name, one in found.parameters.items()
    }
    return {
        "parameters": Lines(parameters.items(), "{}"),
        "residual_sd": found.residual_sd,
        "dof": found.dof,
        "converged": found.converged,
        "reason": found.reason,
        "rows": found.rows,
        "left_out": found.left_out,
        "converted": found.converted,
        "sum_of_squares": None if found.loss or found.objective else 2 * found.cost,
        "objective": found.cost if found.objective else None,
        "r_squared": found.r_squared,
        "aic": found.aic,
        "level": found.level,
        "absolute": found.absolute,
        "loss": found.loss or None,
        "correlation": named_matrix_lines(found, found.correlation),
        "covariance": named_matrix_lines(found, found.covariance),
        "rank": found.rank,
        "condition": found.condition,
        "undetermined": found.open,
        "relative_offset": found.offset,
        "error_digits": found.error_digits,
        "passes": found.passes,
        "starts": found.starts._asdict(),
    }


def named_matrix_lines(found: Fit, matrix: Any) -> Lines:
    """A matrix of the estimates, by name."""
    names = found.estimated
    rows = (dict(zip(names, map(float, row), strict=True)) for row in matrix)
    return Lines(zip(names, rows, strict=True), "{}")


# The rows, the model and the residuals as a picture.


LONGEST_TITLE = 70
SIZES = ((60, 5.0), (600, 3.5), (10**9, 2.0))
"""The size of the dots in points, by the most rows that have it."""


def fit_picture(found: Fit, format: str, look: str | None = None) -> bytes:
    """The picture as the bytes of an ``svg``, ``png`` or ``pdf`` file; ``look`` is as in ``plot_frames``.

    One frame has the rows and the model, the other the residuals.
    """
    drawn = fit_curve(found)
    count = len(drawn.x)
    size = next(size for most, size in SIZES if count <= most)
    title = true_minus(cut_text(" ".join(found.text.split()), LONGEST_TITLE))
    response = true_minus(cut_text(found.text.partition("~")[0].rpartition(";")[2].strip(), 30))
    rows: list[Layer] = []
    if drawn.low is not None and drawn.high is not None:
        label = f"{found.level * 100:.10g} % band of the model"
        rows.append(band_layer(drawn.places, drawn.low, drawn.high, label=label))
    rows.append(
        dot_layer(drawn.x, drawn.y, "grad", size=size, errors=drawn.deviations, label="data")
    )
    rows.append(line_layer(drawn.places, drawn.values, label="model"))
    left = dot_layer(drawn.x, drawn.residuals, "grad", size=size, errors=drawn.deviations)
    across = drawn.column or "model"
    above = Frame(rows, title, y_label=response)
    below = Frame([rule_layer(y=0.0), left], x_label=across, y_label="residual", share=0.5)
    return plot_frames([above, below], format, look)
