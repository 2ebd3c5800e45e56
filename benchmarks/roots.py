"""A hundred equations: what is right, what is said to fail, and what is silently wrong.

``python -m benchmarks.roots`` writes the tables into ``docs/explanation/roots.md``.  The equations are
those of ``tests/cases/roots.txt``, with roots worked out by mpmath.  Others are given a start, the range's
middle where there is a range, or the range itself, and have to find one root to six digits, be it outside.
"""

from __future__ import annotations

import math
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.machine import machine
from benchmarks.measure import peer, table
from benchmarks.pages import fill
from benchmarks.truth import from_tests
from exprgrad.language.read.relations import read_relations
from exprgrad.run.numbers.sweeps import forward_numbers

__all__ = ["answers", "tallies"]

PAGE = Path(__file__).parents[1] / "docs" / "explanation" / "roots.md"
PLACES = 1e-6
"""To what part of itself a root of others has to be right; of a root 0, how small it has to be."""
SAID = ("right", "true, not proved", "said to fail", "wrong")

Finder = Callable[[Any, Callable[[Sequence[float]], list[float]]], "Sequence[float] | None"]
"""Who finds a root, of an equation and its residuals: the point, or None where that is said to fail."""


def residuals_of(equation: Any) -> Callable[[Sequence[float]], list[float]]:
    """The residuals in doubles."""
    graph, relations = read_relations(equation.text, unknowns=equation.values)

    def residuals(point: Sequence[float]) -> list[float]:
        values = forward_numbers(graph, dict(zip(equation.values, map(float, point), strict=True)))
        return [values[one.node] for one in relations]

    return residuals


def ends_of(text: str) -> tuple[float, float]:
    """The ends of a range; a start is both."""
    low, _, high = text.partition(":")
    return float(low), float(high or low)


def start_of(equation: Any) -> list[float]:
    """The start, or the middle of the range; of all numbers it is 1."""
    ends = map(ends_of, equation.values.values())
    return [(low + high) / 2 if math.isfinite(high - low) else 1.0 for low, high in ends]


def by_brentq(equation: Any, residuals: Callable[[Sequence[float]], list[float]]) -> Any:
    """SciPy's bracketing method; a range without a change of sign is said to fail."""
    from scipy.optimize import brentq

    ((low, high),) = map(ends_of, equation.values.values())
    if low == high or not math.isfinite(high - low):
        raise NotImplementedError
    return [brentq(lambda x: residuals([x])[0], low, high)]


def by_fsolve(equation: Any, residuals: Callable[[Sequence[float]], list[float]]) -> Any:
    """MINPACK's method by SciPy."""
    from scipy.optimize import fsolve

    found, _, code, _ = fsolve(residuals, start_of(equation), full_output=True)
    return found if code == 1 else None


def by_findroot(equation: Any, residuals: Callable[[Sequence[float]], list[float]]) -> Any:
    """mpmath's: the secant method, or Newton's for a system, in 15 digits."""
    return in_digits(equation, start_of(equation), 15)


def in_digits(equation: Any, start: Sequence[float], digits: int) -> list[float]:
    """What mpmath finds from a start, in so many digits."""
    oracles = from_tests("oracles")
    graph, relations = read_relations(equation.text, unknowns=equation.values)

    def exact(*point: Any) -> Any:
        given = dict(zip(equation.values, point, strict=True))
        values = oracles.evaluate(graph, given, oracles.decimal)
        found = [values[one.node] for one in relations]
        return found if len(found) > 1 else found[0]

    with oracles.mp.workdps(digits):
        found = oracles.mp.findroot(exact, start if len(start) > 1 else start[0])
        return [float(x) for x in (found if len(start) > 1 else [found])]


FINDERS: dict[str, tuple[str, Finder]] = {
    "SciPy brentq": ("scipy", by_brentq),
    "SciPy fsolve": ("scipy", by_fsolve),
    "mpmath findroot": ("mpmath", by_findroot),
}


def judged(found: Sequence[float] | None, equation: Any) -> str:
    """What an answer is: a root, or none."""
    if found is None or not all(map(math.isfinite, found)):
        return "said to fail"
    listed: list[Sequence[float]] = [[float(x) for x in place] for place in equation.roots]
    near = [root for root in listed if is_near(root, found)]
    if listed and not near:  # it may be one outside of the range
        near = [root for root in roots_near(found, equation) if is_near(root, found)]
    return "right" if near else "wrong"


def roots_near(found: Sequence[float], equation: Any) -> Iterator[Sequence[float]]:
    """Roots next to an answer: a number of six digits, or where mpmath gets in 60 digits."""
    short = [round(x, 6) for x in found]
    if residuals_of(equation)(short) == [0.0] * len(equation.values):
        yield short
    with suppress(Exception):
        yield in_digits(equation, found, 60)


def is_near(root: Sequence[float], found: Sequence[float]) -> bool:
    """Whether an answer is this root, to six digits."""
    return all(abs(x - y) <= PLACES * (abs(x) or 1) for x, y in zip(root, found, strict=True))


def answers(finder: Finder, equations: Sequence[Any]) -> dict[str, str]:
    """By equation what somebody's answer is; one that is not asked is left out."""
    said = {}
    for equation in equations:
        if finder is by_brentq and len(equation.values) > 1:
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", RuntimeWarning)
                found = finder(equation, residuals_of(equation))
        except NotImplementedError:
            continue
        except Exception:  # whatever is raised, that is said
            found = None
        said[equation.text] = judged(found, equation)
    return said


def ours(equations: Sequence[Any]) -> dict[str, str]:
    """By equation what our answer is: all roots in the range, each proved, or that there is none."""
    from exprgrad import solve

    verdict = from_tests("equations").verdict
    said = {"right": "right", "unproved": "true, not proved"}
    return {
        one.text: said.get(verdict(solve(one.text, one.values), one), "wrong") for one in equations
    }


def tallies() -> tuple[dict[str, dict[str, str]], dict[str, float]]:
    """By contestant the answers, and the processor's seconds."""
    equations = from_tests("equations").equations()
    found, seconds = {}, {}
    contestants: dict[str, Callable[[], dict[str, str]]] = {"exprgrad": lambda: ours(equations)}
    for name, (module, finder) in FINDERS.items():
        if peer(module):
            contestants[name] = lambda finder=finder: answers(finder, equations)  # type: ignore[misc]
    for name, asked in contestants.items():
        before = time.process_time()
        found[name] = asked()
        seconds[name] = time.process_time() - before
    return found, seconds


def versions() -> str:
    """The libraries that were asked."""
    modules = dict.fromkeys(module for module, _ in FINDERS.values())
    return ", ".join(f"{m} {version(m)}" for m in modules if peer(m))


def main() -> None:
    """Write the tables."""
    found, seconds = tallies()
    equations = {one.text: one for one in from_tests("equations").equations()}
    rows = []
    for name, said in found.items():
        count = Counter(said.values())
        without = sum(word == "wrong" and not equations[text].roots for text, word in said.items())
        counts = [len(said), *[count[word] for word in SAID], without]
        rows.append([name, *map(str, counts), f"{seconds[name] / len(said) * 1000:.1f}"])
    heads = ["tool", "asked", *SAID, "of these without a root", "ms each"]
    wrong = [
        [f"`{text}`", *["wrong" if said.get(text) == "wrong" else "" for said in found.values()]]
        for text in equations
        if any(said.get(text) == "wrong" for said in found.values())
    ]
    fill(
        PAGE,
        {
            "tally": table(heads, rows),
            "wrong": table(["equation", *found], wrong),
            "machine": f"{machine()}; {versions()}\n",
        },
    )


if __name__ == "__main__":
    main()
