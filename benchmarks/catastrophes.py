"""Formulas that floating-point arithmetic ruins: our answers beside NumPy's, SymPy's, JAX's and PyTorch's.

``python -m benchmarks.catastrophes`` writes the tables into ``docs/explanation/catastrophes.md``.  The
formulas and points are some of ``tests/cases/catastrophes.txt``.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.libraries import installed, jax_library, torch_library
from benchmarks.machine import machine
from benchmarks.measure import table
from benchmarks.pages import fill
from benchmarks.symbols import arithmetic, sympy_read, translated
from benchmarks.truth import from_tests
from exprgrad.api import Expression, parse

__all__ = ["answers", "chosen"]

PAGE = Path(__file__).parents[1] / "docs" / "explanation" / "catastrophes.md"
PLACES = 6
"""The digits that are shown, and by which an answer is judged."""
DIGITS = 200
"""The digits of the oracle's steps."""
CHOSEN = (
    "(1 - cos(x))/x^2", "(x - sin(x))/x^3", "sqrt(x + 1) - sqrt(x)", "b*b - 4*a*c",
    "(-b + sqrt(b^2 - 4*a*c))/(2*a)", "log(1 + x)/x", "(1 + x)^(1/x)", "1 - tanh(x)",
    "(1e16 + x) - 1e16", "sqrt(x*x + y*y)", "exp(x)/(exp(x) + exp(y))", "log(cosh(x))",
    "x*y/z", "log(exp(-x) + exp(-y))", "sin(exp(x))", "(1 - p)^n", "1 - erf(x)",
    "s = 1/(1 + exp(-x)); s*(1 - s)", "max(1 - cos(x), 0)/x^2",
    "333.75*b^6 + a^2*(11*a^2*b^2 - b^6 - 121*b^4 - 2) + 5.5*b^8 + a/(2*b)",
)  # fmt: skip
"""The formulas on the page; where the collection has one twice, its first point."""
NUMPY = {"abs": "abs", "max": "maximum", "min": "minimum"}


class Answer(NamedTuple):
    """A formula's value, and its derivative with respect to its first input; None where there is none."""

    value: float | None
    slope: float | None


class Case(NamedTuple):
    """A formula at a point, with what is true and what everybody answers."""

    formula: str
    point: dict[str, float]
    true: tuple[Any, Any]
    answers: dict[str, Answer]


def chosen() -> Iterator[tuple[str, dict[str, float]]]:
    """The formulas on the page, each at its point."""
    points: dict[str, dict[str, float]] = {}
    for formula, inputs, _ in from_tests("corpus").table("catastrophes.txt"):
        given = dict(pair.split("=") for pair in inputs.split())
        points.setdefault(formula, {name: float(text) for name, text in given.items()})
    for formula in CHOSEN:
        yield formula, points[formula]


def cases() -> Iterator[Case]:
    """What is true of each formula, and what the installed libraries say."""
    oracles = from_tests("oracles")
    known = contestants()
    for formula, point in chosen():
        expression = parse(formula)
        first = next(iter(point))
        slope = oracles.gradient(expression.graph, point, DIGITS)[first]
        with oracles.mp.workdps(4 * DIGITS):
            exact = {name: oracles.mpf(x) for name, x in point.items()}
            value = oracles.evaluate(expression.graph, exact)[expression.graph.output]
        yield Case(formula, point, (value, slope), answers(expression, point, known))


def answers(
    expression: Expression, point: Mapping[str, float], known: Mapping[str, Any]
) -> dict[str, Answer]:
    """Everybody's answer."""
    found = {}
    for name, contestant in known.items():
        try:
            found[name] = contestant(expression, point)
        except (KeyError, NotImplementedError):
            found[name] = Answer(None, None)
    return found


Contestant = Callable[[Expression, Mapping[str, float]], Answer]
"""Who answers.  Raises ``KeyError`` for an operation that it does not know."""


def contestants() -> dict[str, Contestant]:
    """exprgrad and the libraries that are installed, by name and version."""
    return installed(ours, LIBRARIES)


def ours(expression: Expression, point: Mapping[str, float]) -> Answer:
    """What ``exprgrad grad`` prints."""
    true = expression.gradient(point).true
    return Answer(true.value, true.gradient[next(iter(point))])


def of_numpy(numpy: Any) -> Contestant:
    """NumPy's value; it has no derivatives."""

    def answer(expression: Expression, point: Mapping[str, float]) -> Answer:
        words = {**arithmetic(), **numpy_words(numpy, expression)}
        inputs = [numpy.float64(point[name]) for name in expression.graph.inputs]
        with numpy.errstate(all="ignore"):
            value, _ = translated(expression.graph, inputs, lambda x, _: numpy.float64(x), words)
        return Answer(float(value), None)

    return answer


def numpy_words(numpy: Any, expression: Expression) -> dict[str, Callable[..., Any]]:
    """NumPy's own functions for a formula's operations, as far as it has them."""
    names = {kind: NUMPY.get(kind, kind) for kind in expression.graph.kinds}
    return {kind: getattr(numpy, name) for kind, name in names.items() if hasattr(numpy, name)}


def of_sympy(sympy: Any) -> Contestant:
    """SymPy's ``evalf`` of the formula and of its ``diff``, the inputs substituted."""

    def answer(expression: Expression, point: Mapping[str, float]) -> Answer:
        output, inputs = sympy_read(sympy, expression.graph)
        given = {symbol: point[symbol.name] for symbol in inputs}
        first = next(symbol for symbol in inputs if symbol.name == next(iter(point)))
        found = (output.evalf(subs=given), output.diff(first).evalf(subs=given))
        return Answer(*[float(x) if x.is_number and x.is_real else math.nan for x in found])

    return answer


def of_library(library: Any) -> Contestant:
    """The value and gradient of PyTorch or JAX."""

    def answer(expression: Expression, point: Mapping[str, float]) -> Answer:
        names = list(expression.graph.inputs)

        def formula(*inputs: Any) -> Any:
            return translated(expression.graph, [*inputs], lambda x, _: x, library.words)[0]

        value, slopes = library.gradient(formula, [point[name] for name in names])
        return Answer(value, slopes[names.index(next(iter(point)))])

    return answer


LIBRARIES: dict[str, tuple[str, Callable[[Any], Contestant]]] = {
    "NumPy": ("numpy", of_numpy),
    "SymPy": ("sympy", of_sympy),
    "JAX": ("jax", lambda jax: of_library(jax_library(jax))),
    "PyTorch": ("torch", lambda torch: of_library(torch_library(torch))),
}


def tables() -> dict[str, str]:
    """The page's tables: of the values, of the derivatives, and how many are right."""
    found = [*cases()]
    names = [*found[0].answers]
    parts = {}
    for at, part in enumerate(("values", "derivatives")):
        rows = []
        for case in found:
            said = [shown(answer[at], case.true[at]) for answer in case.answers.values()]
            rows.append([where(case), text(case.true[at]), *said])
        of = "value" if part == "values" else "derivative"
        parts[part] = table([f"{of} of", "truth", *names], rows)
    counts = [
        [
            name,
            *[str(sum(is_right(c.answers[name][at], c.true[at]) for c in found)) for at in (0, 1)],
        ]
        for name in names
    ]
    for row in counts:
        if row[0].startswith("NumPy"):
            row[2] = "none"
    parts["right"] = table([f"right, of {len(found)}", "values", "derivatives"], counts)
    return parts


def where(case: Case) -> str:
    """A formula and its point, as a cell."""
    point = " ".join(f"{name}={str(x).removesuffix('.0')}" for name, x in case.point.items())
    return f"`{case.formula}`, {point}"


def is_right(x: float | None, true: Any) -> bool:
    """Whether a number is off by at most one unit in the last digit shown."""
    return x is not None and bool(from_tests("digits").is_right(x, true, PLACES))


def shown(x: float | None, true: Any) -> str:
    """An answer as a cell, in italics where it is wrong."""
    if x is None:
        return "none"
    return text(x) if is_right(x, true) else f"*{text(x)}*"


def text(x: Any) -> str:
    """A number in six digits; the true one may be beyond the doubles."""
    mp = from_tests("oracles").mp
    if isinstance(x, float) and not math.isfinite(x):
        return str(x)
    return str(mp.nstr(mp.mpf(x), PLACES)).replace(".0e", "e").removesuffix(".0")


def write_page() -> None:
    """Put the tables into the page, and when and with what they were made."""
    import exprgrad

    today = datetime.datetime.now(datetime.UTC).date()
    made = f"Measured on {today} with exprgrad {exprgrad.__version__} on {machine()}.\n"
    fill(PAGE, {"machine": made, **tables()})


if __name__ == "__main__":
    write_page()
