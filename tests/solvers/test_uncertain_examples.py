"""Uncertainties of guides, textbooks and laboratories, beside the package uncertainties and Monte Carlo."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from exprgrad import parse
from exprgrad.graph.graph import Algebra, Graph, interpret
from exprgrad.run.values.uncertain import split_uncertain
from exprgrad.solvers.uncertainty.nonlinear import half_unit
from exprgrad.solvers.uncertainty.propagation import Uncertainty
from together import together

CASES = Path(__file__).parents[1] / "cases" / "uncertainties.txt"
DRAWS = 1_000_000
SURE = 3.0
"""So many standard errors of Monte Carlo tell a difference."""


class Example(NamedTuple):
    """A line of the table."""

    name: str
    text: str
    values: dict[str, str]
    correlations: dict[tuple[str, str], float]
    source: str


def example(line: str) -> Example:
    name, text, values, correlations, source = (cell.strip() for cell in line.split("|"))
    pairs = [part.partition("=") for part in correlations.split()]
    known = {(a, b): float(r) for names, _, r in pairs for a, b in [names.split(",")]}
    return Example(name, text, dict(v.split("=") for v in values.split()), known, source)


EXAMPLES = [
    example(line)
    for line in CASES.read_text("utf-8").splitlines()
    if line and not line.startswith("#")
]


def asked(case: Example, draws: int = 0) -> Uncertainty:
    run = parse(case.text).evaluate(case.values)
    return run.propagate(correlation=case.correlations, mc=draws, seed=1)


def test_there_are_sixty_and_more() -> None:
    assert len(EXAMPLES) >= 60 and len({case.name for case in EXAMPLES}) == len(EXAMPLES)


PUBLISHED = {
    "gauge block, GUM": (50000838, 32),
    "resistance of an impedance": (127.732, 0.071),
    "reactance of an impedance": (219.847, 0.295),
    "impedance": (254.260, 0.236),
    "correction of a thermometer": (-0.1494, 0.0041),
    "sum of four normal quantities": (0, 2.0),
    "calibration of a mass": (1.234, 0.054),
    "comparison loss at 0.010": (0.0001, 0.0001),
    "comparison loss at 0.050": (0.0025, 0.0005),
}
"""What the guides print."""


def test_what_the_guides_print() -> None:
    found = {case.name: asked(case) for case in EXAMPLES if case.name in PUBLISHED}
    assert found.keys() == PUBLISHED.keys()
    for name, (estimate, value) in PUBLISHED.items():
        assert found[name].estimate == pytest.approx(estimate, abs=0.5 * half_unit(value) + 1e-12)
        assert found[name].value == pytest.approx(value, abs=half_unit(value) + 1e-12), name


def second_of(name: str) -> tuple[float, float]:
    (found,) = [asked(case).second for case in EXAMPLES if case.name == name]
    assert found is not None and not isinstance(found, list)
    return found.shift, found.value


def test_terms_of_second_order_are_those_of_the_guides() -> None:
    """JCGM 100, H.1.7: 34 nm; JCGM 101, 9.3: 0.0750 mg; 9.4, tables 5 and 6, by quadratic terms."""
    assert second_of("gauge block, GUM")[1] == pytest.approx(34, abs=0.5)
    assert second_of("calibration of a mass")[1] == pytest.approx(0.0750, abs=1e-4)
    tables = {"0": (50, 50), "0.010": (50, 112), "0.050": (50, 502)}
    for place, expected in tables.items():
        shift, value = second_of(f"comparison loss at {place}")
        assert (shift * 1e6, value * 1e6) == pytest.approx(expected, abs=0.5)
    tables = {"0": (50, 67), "0.010": (50, 121), "0.050": (50, 505)}
    for place, expected in tables.items():
        shift, value = second_of(f"comparison loss at {place}, correlated")
        assert (shift * 1e6, value * 1e6) == pytest.approx(expected, abs=0.8)


# Beside the package uncertainties.


def by_package(case: Example) -> Any:
    """The value by the package, which has derivatives of its own; None for what it has no function for."""
    uncertainties = pytest.importorskip("uncertainties")
    from uncertainties import umath

    values, spread = split_uncertain(case.values)
    centres = {name: parse("x")(x=value) for name, value in values.items()}
    names = list(spread.deviations)
    r = [
        [case.correlations.get((a, b), case.correlations.get((b, a), float(a == b))) for b in names]
        for a in names
    ]
    pairs = [(centres[name], spread.deviations[name]) for name in names]
    inputs = centres | dict(zip(names, uncertainties.correlated_values_norm(pairs, r), strict=True))
    if not case.correlations:
        inputs = centres | {
            n: uncertainties.ufloat(*pair) for n, pair in zip(names, pairs, strict=True)
        }
    arithmetic: dict[str, Any] = {
        "add": operator.add,
        "sub": operator.sub,
        "mul": operator.mul,
        "pow": operator.pow,
    }
    arithmetic |= {"div": operator.truediv, "neg": operator.neg}

    def apply(graph: Graph, node: int, operands: Sequence[Any]) -> Any:
        kind = graph.kinds[node]
        function: Any = arithmetic.get(kind) or getattr(umath, kind)
        return function(*operands)

    graph = parse(case.text).graph
    algebra: Algebra[Any] = Algebra(lambda graph, node: graph.payloads[node], apply)
    return interpret(graph, algebra, inputs)[graph.output]


WITHOUT = {"abs", "max", "relu", "min", "floor"}
"""What the package has no derivatives of."""


@together([case for case in EXAMPLES if not WITHOUT & {*parse(case.text).graph.kinds}])
def test_beside_the_package(case: Example) -> None:
    """To rounding."""
    ours, theirs = asked(case), by_package(case)
    assert ours.estimate == pytest.approx(theirs.nominal_value, rel=1e-14, abs=1e-300)
    assert ours.value == pytest.approx(theirs.std_dev, rel=1e-14, abs=1e-300)


# Beside Monte Carlo.


class Judged(NamedTuple):
    """An example beside Monte Carlo.

    ``off``      by how much the mean and the standard deviation of the draws differ from the linear answer
    ``errors``   the standard errors of these two
    ``allowed``  half a unit in the second digit of the uncertainty
    """

    found: Uncertainty
    off: tuple[float, float]
    errors: tuple[float, float]
    allowed: float

    @property
    def verdict(self) -> bool | None:
        """Whether linearising is not enough; None where the draws are too few to tell."""
        pairs = [*zip(self.off, self.errors, strict=True)]
        if any(off > self.allowed + SURE * error for off, error in pairs):
            return True
        if all(
            off < max(self.allowed - SURE * error, SURE * error * (not self.allowed))
            for off, error in pairs
        ):
            return False
        return None


@cache
def judged(name: str) -> Judged:
    (case,) = [case for case in EXAMPLES if case.name == name]
    found = asked(case, DRAWS)
    assert found.sample is not None
    mean, deviation = found.sample.mean, found.sample.value
    off = abs(mean - found.estimate), abs(deviation - found.value)
    errors = deviation / math.sqrt(DRAWS), deviation * math.sqrt(1 / DRAWS)
    return Judged(found, off, errors, half_unit(found.value))


@pytest.mark.slow
def test_warnings_are_given_where_monte_carlo_disagrees_and_nowhere_else() -> None:
    """Nor does one of those that the draws are too few for decide it: there are few of them."""
    verdicts = {case.name: judged(case.name).verdict for case in EXAMPLES}
    warned = {case.name: bool(asked(case).diagnostics) for case in EXAMPLES}
    assert [
        n for n, verdict in verdicts.items() if verdict is not None and verdict != warned[n]
    ] == []
    assert sum(verdict is None for verdict in verdicts.values()) <= 5
    assert sum(verdict is True for verdict in verdicts.values()) >= 30


@pytest.mark.slow
def test_terms_of_second_order_are_those_of_monte_carlo() -> None:
    """Where they are small, as far as the next terms and the draws allow; kinks have others."""
    close = 0
    for case in EXAMPLES:
        found, _, errors, _ = judged(case.name)
        second = found.second
        assert second is not None and not isinstance(second, list) and found.sample is not None
        if (
            abs(second.shift) + abs(second.value - found.value) > 0.15 * found.value
            or "kink" in case.source
            or "jump" in case.source
        ):
            continue
        left = abs(found.sample.mean - found.estimate - second.shift)
        assert left <= 5 * errors[0] + second.shift**2 / found.value, case.name
        close += left <= SURE * errors[0]
    assert close >= 45
