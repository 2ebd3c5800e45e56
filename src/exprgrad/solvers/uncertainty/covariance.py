"""Correlations of inputs, given by pairs or as a covariance matrix, and their consistency."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import combinations, product
from math import inf, isfinite, sqrt
from typing import Any

import numpy as np

from exprgrad.errors import InputError, RequestError
from exprgrad.run.values.files import json_in, rows_in
from exprgrad.run.values.inputs import as_held, as_number, normal_name
from exprgrad.run.values.layouts import strip_quotes
from exprgrad.run.values.uncertain import Spread, UncertainNumbers, number_names
from exprgrad.source import comma_parts

__all__ = [
    "correlate_spread", "correlation_in", "correlation_matrix", "covariance_in", "draw_moves",
]  # fmt: skip

ROUNDING = 1e-9
"""The relative rounding allowed to equal covariances, and to coefficients at their bounds."""

Matrix = Mapping[str, Mapping[str, float]]


def correlation_in(text: str) -> tuple[tuple[str, str], float]:
    """Read the two names and the coefficient in ``a,b=0.3``."""
    names, equals, value = text.partition("=")
    pair = tuple([normal_name(names[a:b].strip()) for a, b in comma_parts(names)])
    if not equals or len(pair) != 2 or not all(pair) or not value.strip():
        raise InputError(
            "usage", "this is not NAME,NAME=COEFFICIENT", help="such as --correlation a,b=0.3"
        ).about(text)
    return (pair[0], pair[1]), as_number(value.strip(), names.strip())


def covariance_in(path: str) -> Matrix:
    """Read the covariance matrix in a file: CSV below a header of names, or a JSON object of rows by name.

    The output of ``fit --json`` gives that of its estimates.
    """
    is_json = path.lower().endswith(".json")

    def number(value: object, name: str) -> float:
        if isinstance(value, str) and value.lstrip()[:1] == "@":
            raise InputError("bad-value", f"the value of '{name}' in '{path}' names another file")
        return as_number(as_held(value, name, path), name)

    found = None
    with suppress(LookupError, TypeError, AttributeError):
        found = in_object(json_in(path), number) if is_json else below_header(path)
    if found is None:
        message = f"'{path}' does not hold a covariance matrix"
        help = "it has a header of names, and below it a line of as many numbers for each of them"
        if is_json:
            help = 'it should read {"a": {"a": 0.01, "b": 0.002}, "b": {"a": 0.002, "b": 0.04}}'
        raise RequestError("file", message, help=help)
    return {
        name: {other: number(value, f"{name}, {other}") for other, value in row.items()}
        for name, row in found.items()
    }


def in_object(found: Any, number: Callable[[object, str], float]) -> Any:
    """Return the rows of a matrix in a JSON document, by name, or of a fit's estimates; else None."""
    if isinstance(found, dict) and found.get("command") == "fit":
        errors = {
            name: number(one["error"], f"the error of {name}")
            for name, one in found["parameters"].items()
            if one.get("error") is not None
        }
        correlation = found.get("correlation", {})
        return {
            name: {
                other: error * errors[other] * number(r, f"{name}, {other}")
                for other, r in correlation.get(name, {name: 1.0}).items()
                if other in errors
            }
            for name, error in errors.items()
        }
    is_matrix = isinstance(found, dict) and all(isinstance(row, dict) for row in found.values())
    return found if is_matrix else None


def below_header(path: str) -> Any:
    """Return the rows below the header of a CSV file; its first column may have the names, too."""
    header, lines, _ = rows_in(path)
    names = [*map(normal_name, header)]
    rows = [[strip_quotes(cell) for cell in line.cells] for line in lines]
    if len(names) == len(rows) + 1 and [row[0] for row in rows] == names[1:]:
        names, rows = names[1:], [row[1:] for row in rows]
    if not names or len(rows) != len(names) or any(len(row) != len(names) for row in rows):
        return None
    return {name: dict(zip(names, row, strict=True)) for name, row in zip(names, rows, strict=True)}


def correlate_spread(
    spread: Spread,
    inputs: Mapping[str, Any],
    correlation: Mapping[tuple[str, str], float],
    covariance: Matrix | None,
) -> Spread:
    """Add the given correlations and covariance matrix to the uncertainties.

    Entries that the formula does not read are left out.  Raises ``InputError`` for what contradicts
    itself: a correlation of an exact number, one beyond 1, a matrix that is not symmetric, or one that is
    not positive semidefinite.
    """
    if covariance is not None:
        spread = with_matrix(spread, inputs, covariance)
    deviations, known = spread.deviations, dict(spread.correlations)
    numbers = {name for one in deviations for name in number_names(one, inputs.get(one))}
    for pair, coefficient in correlation.items():
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise InputError(
                "bad-covariance",
                "correlations are by pairs of names",
                help='write {("a", "b"): 0.3}',
            )
        one, other = map(normal_name, pair)
        r = as_number(coefficient, f"{one}, {other}")
        for name in (one, other):
            if name not in numbers:
                raise InputError(
                    "bad-covariance",
                    f"'{name}' is not an uncertain number, and correlates with nothing",
                    help=f"the uncertain ones are {', '.join(sorted(numbers)[:20])}"
                    if numbers
                    else "no input is uncertain",
                ).about(f"{one},{other}={r:g}")
        if one == other:
            raise InputError("bad-covariance", f"'{one}' correlates with itself by 1")
        if (one, other) in known or (other, one) in known:
            raise InputError(
                "given-twice", f"the correlation of '{one}' and '{other}' is given twice"
            )
        known[one, other] = r
    refuse_contradictions(known)
    return Spread(deviations, {pair: r for pair, r in known.items() if r})


def with_matrix(spread: Spread, inputs: Mapping[str, Any], covariance: Matrix) -> Spread:
    """Add a covariance matrix to the uncertainties."""
    deviations, known = dict(spread.deviations), dict(spread.correlations)
    read = [name for name in covariance if name in inputs]
    if not read:
        raise InputError("bad-covariance", "the covariance matrix names no input of the formula")
    refuse_gaps_and_asymmetry(covariance, read)
    for name in read:
        if name in deviations:
            raise InputError(
                "given-twice",
                f"the uncertainty of '{name}' is given twice: with its value, and in the matrix",
            )
        variance = covariance[name][name]
        if variance < 0:
            raise InputError(
                "bad-covariance",
                f"the variance of '{name}' is {variance:g}",
                help="a variance is 0 or more",
            )
        if not isinstance(inputs[name], float):
            raise InputError(
                "bad-covariance",
                f"'{name}' is a tensor, and has a variance for each of its numbers",
                help="write w=[1±0.1, 2±0.2]",
            )
        deviations[name] = sqrt(variance)
    for one, other in combinations(read, 2):
        if shared := covariance[one][other]:
            scale = deviations[one] * deviations[other]
            known[one, other] = shared / scale if scale else inf
    return Spread(deviations, known)


def refuse_gaps_and_asymmetry(covariance: Matrix, names: list[str]) -> None:
    """Raise for a matrix with an entry that is missing or not finite, or that differs from its mirror."""
    for one, other in product(names, repeat=2):
        what = f"variance of '{one}'" if one == other else f"covariance of '{one}' and '{other}'"
        if other not in covariance[one]:
            raise InputError("bad-covariance", f"the {what} is missing", help="write 0 for none")
        if not isfinite(covariance[one][other]):
            raise InputError(
                "bad-covariance",
                f"the {what} is {covariance[one][other]:g}",
                help="it is a finite number",
            )
    for one, other in combinations(names, 2):
        here, there = covariance[one][other], covariance[other][one]
        if not abs(here - there) <= ROUNDING * abs(here):
            raise InputError(
                "bad-covariance",
                f"the covariance matrix is not symmetric: {here:g} for '{one}' and '{other}', "
                f"and {there:g} for '{other}' and '{one}'",
            )


def refuse_contradictions(known: Mapping[tuple[str, str], float]) -> None:
    """Raise for correlations that no numbers can have."""
    for (one, other), r in known.items():
        if not abs(r) <= 1 + ROUNDING:
            raise InputError(
                "bad-covariance",
                f"the correlation of '{one}' and '{other}' is {r:g}, which is not from -1 to 1",
            )
    names = sorted({name for pair in known for name in pair})
    if len(names) > 2:
        matrix = correlation_matrix(names, UncertainNumbers({}, dict(known)))
        least = float(np.linalg.eigvalsh(matrix)[0])
        if least < -ROUNDING * len(names):
            raise InputError(
                "bad-covariance",
                "the correlations contradict each other: their matrix is not positive semidefinite",
                help=f"its least eigenvalue is {least:.2g}",
            )


# As matrices.


def correlation_matrix(names: Sequence[str], numbers: UncertainNumbers) -> Any:
    """Return the correlation matrix of some numbers."""
    return np.array([[numbers.correlation(one, other) for other in names] for one in names])


def draw_moves(names: Sequence[str], numbers: UncertainNumbers, random: Any, count: int) -> Any:
    """Draw deviations of normally distributed numbers: a row for each number, a column for each draw.

    They are correlated by a factor A with A·Aᵀ the correlation matrix, which may be singular.
    """
    normal = random.standard_normal((len(names), count))
    if numbers.correlations:
        values, vectors = np.linalg.eigh(correlation_matrix(names, numbers))
        normal = vectors * np.sqrt(np.maximum(values, 0.0)) @ normal
    return np.array([numbers.deviations[name] for name in names])[:, None] * normal
