"""Eighty uncertainties beside NumPy's own draws: a number is right to two digits, or a warning says not."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import pytest

from exprgrad import parse
from exprgrad.solvers.uncertainty.nonlinear import half_unit

DRAWS = 1_000_000
SURE = 5.0
"""So many standard errors of the draws tell a difference."""

TABLE = """
x^2 | x=0±1
x^3 | x=0±1
x^4 | x=0±1
x^5 | x=0±1
x^6 | x=0±1
x^7 | x=0±0.1
x^3 + x | x=0±1
x^3 + x | x=0±0.01
x^2 - 2*x | x=1±1
(x - 1)^3 | x=1±0.5
x*y | x=0±1 y=0±1
x*y*z | x=0±1 y=0±1 z=0±1
x*y*z | x=1±0.01 y=1±0.01 z=0±1
x^2*y^2 | x=0±1 y=0±1
x^2*y | x=0±1 y=0±1
x^2*y | x=0±1 y=3±0.1
x^3*y^3 | x=0±2 y=0±2
x^3 + y | x=0±1 y=0±10
x^3 + y | x=0±1 y=0±100
1e-200*x^3 | x=0±1
1e200*x^3 | x=0±1
(x*1e-100)^3 | x=0±1e100
sin(x)^3 | x=0±1
sin(x)^3 | x=0±0.001
1 - cos(x)^2 | x=0±0.5
cos(x) | x=0±0.1
cos(x)^4 | x=0±1
exp(-x^4) | x=0±1
exp(-x^4) | x=0±0.1
tanh(x)^3 | x=0±1
x*abs(x) | x=0±1
abs(x)^3 | x=0±1
sqrt(1 + x^6) | x=0±1
log(1 + x^4) | x=0±1
x + exp(-((x-3)/0.01)^2)*100 | x=2.9±0.1
x + exp(-((x-3)/0.001)^2)*1000 | x=2.9±0.1
x + exp(-((x-3)/0.0001)^2)*1e6 | x=2.9±0.1
x + exp(-((x-3)/0.01)^2)*100 | x=2.7±0.1
x + exp(-((x-3)/0.01)^2)*1e6 | x=2.6±0.1
x + exp(-((x-3)/0.01)^2)*100 | x=1±0.1
x + exp(-((x-3)/0.01)^2)*1e-9 | x=2.9±0.1
x + y + exp(-((x-3)/0.01)^2)*100 | x=2.9±0.1 y=1±0.1
x + exp(-((x*y-3)/0.01)^2)*100 | x=2.9±0.1 y=1±0.01
x + 10/(1 + ((x - 3)/0.001)^2) | x=2.9±0.1
x + tanh(1000*(x - 3)) | x=2.9±0.1
x + 100*tanh(1000*(x - 3.2)) | x=2.9±0.1
x + 1000*tanh(1000*(x - 3.3)) | x=2.9±0.1
x + tanh(1000*(x - 9)) | x=2.9±0.1
x + sigmoid(10000*(x - 3)) | x=2.9±0.1
x + erf(5000*(x - 3))/10 | x=2.9±0.1
x + sin(1000*x)/1000 | x=2.9±0.1
x + sin(1000*x)/5 | x=2.9±0.1
sin(1000*x) | x=2.9±0.1
sin(1000*x)^2 | x=0±1
x + 0.01*sin(100*x)*y | x=1±0.1 y=2±0.1
sqrt(x) | x=1±0.01
sqrt(x) | x=1±0.3
sqrt(x - 2.6) | x=2.9±0.1
log(x) | x=1±0.01
log(x) | x=1±0.25
x*log(x) | x=1±0.2
exp(x) | x=0±0.01
exp(x) | x=0±1
exp(x) - x - 1 | x=0±0.01
exp(x) - x - x^2/2 | x=0±1
1/x | x=100±1
1/x | x=1±0.1
x/y | x=1±0.01 y=2±0.01
x/y | x=0±1 y=10±0.1
x/(1 + x^2) | x=1±0.1
atan(x) | x=0±0.01
atan(1000*x)/1000 + x | x=0.1±0.03
x^2/y | x=2±0.001 y=3±0.001
sin(x)^2 + cos(x)^2 | x=1±0.1
(x + 1)^3 - x^3 - 3*x^2 - 3*x | x=2±0.1
(1 - cos(x))/x^2 | x=1e-8±1e-9
4*pi^2*L/T^2 | L=1±0.001 T=2.006±0.012
x - x | x=1±1
2*x + 1 | x=1±0.5
1e16 + x - 1e16 | x=1±0.25
"""


class Row(NamedTuple):
    """A formula, and its inputs' means and standard deviations."""

    text: str
    values: dict[str, tuple[float, float]]


def row(line: str) -> Row:
    text, _, values = line.partition(" | ")
    pairs = [part.split("=") for part in values.split()]
    numbers = {name: tuple(map(float, value.split("±"))) for name, value in pairs}
    return Row(text, {name: (a, b) for name, (a, b) in numbers.items()})


ROWS = [row(line) for line in TABLE.strip().splitlines()]
EXACT = {
    "(1 - cos(x))/x^2": "0.5*sinc(x/2)**2",
    "1e16 + x - 1e16": "x",
    "x - x": "0*x",
    "sin(x)^2 + cos(x)^2": "1 + 0*x",
    "(x + 1)^3 - x^3 - 3*x^2 - 3*x": "1 + 0*x",
}
"""Formulas that doubles cannot compute, as others that they can."""


def sinc(x: Any) -> Any:
    return np.sinc(x / np.pi)


def drawn(one: Row) -> Any:
    """A million values of a formula, by NumPy."""
    random = np.random.default_rng(20_26)
    columns = {name: random.normal(*pair, DRAWS) for name, pair in one.values.items()}
    known = {
        name: getattr(np, name) for name in ("sin", "cos", "exp", "tanh", "sqrt", "log", "abs")
    }
    known |= {"atan": np.arctan, "pi": np.pi, "sinc": sinc}
    known |= {"erf": np.vectorize(math.erf), "sigmoid": lambda x: (1 + np.tanh(x / 2)) / 2}
    with np.errstate(all="ignore"):
        return eval(EXACT.get(one.text, one.text.replace("^", "**")), known | columns)


def verdict(one: Row) -> tuple[bool | None, bool]:
    """Whether the draws say that the linear answer is right, None if they can't tell; and what we say."""
    given = {name: f"{x!r}±{u!r}" for name, (x, u) in one.values.items()}
    found = parse(one.text).evaluate(given).uncertainty
    said = not [d for d in found.diagnostics if d.code == "nonlinear"]
    values = drawn(one)
    if not np.isfinite(values).all():
        return False, said
    unit = max(found.value, float(np.max(np.abs(values - found.estimate)))) or 1.0
    off = (values - found.estimate) / unit
    mean, deviation = float(off.mean()), float(off.std())
    fourth = float(np.mean((off - mean) ** 4))
    errors = (
        deviation / math.sqrt(DRAWS),
        math.sqrt(max(fourth - deviation**4, 0) / DRAWS) / (2 * deviation or 1.0),
    )
    allowed = half_unit(found.value) / unit
    gaps = abs(mean), abs(deviation - found.value / unit)
    rounding = 2.0**-50 * abs(found.estimate) / unit  # of the draws' own values
    if rounding > allowed > 0:
        return None, said
    pairs = list(zip(gaps, errors, strict=True))
    if any(gap > allowed + rounding + SURE * error for gap, error in pairs):
        return False, said
    if all(gap <= max(allowed, rounding) - SURE * error * bool(allowed) for gap, error in pairs):
        return True, said
    return None, said


def test_there_are_eighty() -> None:
    assert len(ROWS) == 80


@pytest.mark.slow
def test_no_uncertainty_is_silently_wrong_and_none_is_doubted_that_is_right() -> None:
    found = {f"{one.text}, {one.values}": verdict(one) for one in ROWS}
    assert [name for name, (is_right, said) in found.items() if is_right is False and said] == []
    assert [name for name, (is_right, said) in found.items() if is_right and not said] == []
    assert sum(is_right is False for is_right, _ in found.values()) >= 40
    assert sum(is_right is None for is_right, _ in found.values()) <= 8
