"""NIST's 27 certified problems from both starts: ``exprgrad fit`` beside four others.

``python -m benchmarks.fits`` writes the table into ``docs/explanation/fits.md``.
"""

from __future__ import annotations

import math
import shutil
import statistics
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.machine import machine, one_core, versions
from benchmarks.measure import Report, peer, table, used
from benchmarks.pages import fill
from benchmarks.truth import from_tests

__all__ = ["report"]

PAGE = Path(__file__).parents[1] / "docs" / "explanation" / "fits.md"
STARTS = ("start1", "start2")
REACHED = 4.0
"""From so many right digits of every parameter on a fit counts as the certified one."""
ROUNDED = "Lanczos1"
"""Its residuals are those of rounding to 13 digits: their size is beyond doubles."""
NAMES = {"exp": np.exp, "cos": np.cos, "sin": np.sin, "atan": np.arctan, "log": np.log, "pi": np.pi}


class Found(NamedTuple):
    """What a contestant says: estimates and standard deviations, and whether it says that it arrived."""

    values: Sequence[float]
    errors: Sequence[float]
    arrived: bool


class Task(NamedTuple):
    """One problem from one start: a model as a function of the columns and parameters, and the data."""

    one: Mapping[str, Any]
    start: list[float]
    model: Callable[..., Any]
    columns: list[Any]
    response: Any


Fitter = Callable[[Task], Found]


def tasks() -> Iterator[Task]:
    """All problems from both starts."""
    for one in from_tests("fits").SETS.values():
        columns = {name: np.array(values, float) for name, values in one["data"].items()}
        across = [name for name in columns if name != "y"]
        text = one["model"].replace("^", "**")
        model = eval(f"lambda {', '.join([*across, *one['params']])}: {text}", dict(NAMES))
        response = eval(one["response"], {**NAMES, **columns})
        for start in STARTS:
            values = [float(value) for value in one[start]]
            yield Task(one, values, model, [columns[name] for name in across], response)


def ours(task: Task) -> Found:
    """exprgrad's fit."""
    from exprgrad.api.fits import fit

    one = task.one
    given = dict(zip(one["params"], task.start, strict=True))
    found = fit(f"{one['response']} ~ {one['model']}", one["data"], given)
    listed = [found.parameters[name] for name in one["params"]]
    return Found([p.value for p in listed], [p.error or math.nan for p in listed], found.converged)


def flat(task: Task) -> Callable[..., Any]:
    """The model as a function of all columns at once, and the parameters."""
    count = len(task.columns)
    return lambda x, *parameters: task.model(*(x if count > 1 else [x]), *parameters)


def scipy_fit(method: str) -> Fitter:
    """SciPy's ``curve_fit``."""

    def run(task: Task) -> Found:
        from scipy.optimize import curve_fit

        x = np.array(task.columns) if len(task.columns) > 1 else task.columns[0]
        values, covariance = curve_fit(flat(task), x, task.response, task.start, method=method)
        errors = np.sqrt(np.diag(covariance))
        return Found(values.tolist(), errors.tolist(), bool(np.isfinite(errors).all()))

    return run


def lmfit_fit(task: Task) -> Found:
    """lmfit's Levenberg-Marquardt."""
    from lmfit import Parameters, minimize

    names = task.one["params"]
    parameters = Parameters()
    for name, value in zip(names, task.start, strict=True):
        parameters.add(name, value=value)

    def residual(given: Any) -> Any:
        return task.response - task.model(*task.columns, *(given[name].value for name in names))

    found = minimize(residual, parameters)
    values = [found.params[name].value for name in names]
    errors = [found.params[name].stderr or math.nan for name in names]
    return Found(values, errors, bool(found.success and found.errorbars))


def iminuit_fit(task: Task) -> Found:
    """iminuit's Migrad and Hesse, twice: it wants to know how large residuals are, and then does."""
    from iminuit import Minuit

    variance, values, dof = 1.0, np.array(task.start), len(task.response) - len(task.start)

    def cost(given: Any) -> float:
        return float(np.sum((task.response - task.model(*task.columns, *given)) ** 2)) / variance

    for _ in range(2):
        found = Minuit(cost, values)
        found.errordef = Minuit.LEAST_SQUARES
        found.migrad()
        values = np.array(found.values)
        variance *= cost(values) / dof
    found = Minuit(cost, values)
    found.errordef = Minuit.LEAST_SQUARES
    found.strategy = 2
    found.migrad()
    found.hesse()
    return Found(list(found.values), list(found.errors), bool(found.valid))


def gnuplot_fit(task: Task) -> Found:
    """gnuplot's ``fit``, a process of its own each time."""
    one = task.one
    across = [name for name in one["data"] if name != "y"]
    text = one["model"].replace("^", "**")
    for name, sign in zip(across, "xy", strict=False):
        text = text if len(across) == 1 else text.replace(name, sign)
    lines = [f"{name} = {value!r}" for name, value in zip(one["params"], task.start, strict=True)]
    with tempfile.TemporaryDirectory() as folder:
        rows = np.column_stack([*task.columns, task.response])
        np.savetxt(Path(folder) / "rows.txt", rows, fmt="%.17g")
        using = ":".join(str(at + 1) for at in range(rows.shape[1]))
        script = [
            *lines, "set fit quiet nolog errorvariables", "set dummy x, y",
            f"fit {text} 'rows.txt' using {using} via {', '.join(one['params'])}",
            *(f"print sprintf('%.17g %.17g', {name}, {name}_err)" for name in one["params"]),
        ]  # fmt: skip
        done = subprocess.run(
            ["gnuplot"], input="\n".join([*script, ""]), cwd=folder, text=True, capture_output=True,
            check=False,
        )  # fmt: skip
    pairs = [line.split() for line in done.stderr.splitlines() if len(line.split()) == 2]
    numbers = [[float(cell) for cell in pair] for pair in pairs if "." in pair[0] or "e" in pair[0]]
    if done.returncode or len(numbers) != len(one["params"]):
        raise ArithmeticError(done.stderr[-300:])
    return Found([value for value, _ in numbers], [error for _, error in numbers], True)


def contestants() -> dict[str, Fitter]:
    """Those that are installed, by name."""
    found: dict[str, Fitter] = {"exprgrad fit": ours}
    if peer("scipy"):
        found["SciPy curve_fit"] = scipy_fit("lm")
        found["SciPy curve_fit, trf"] = scipy_fit("trf")
    if peer("lmfit"):
        found["lmfit"] = lmfit_fit
    if peer("iminuit"):
        found["iminuit"] = iminuit_fit
    if shutil.which("gnuplot"):
        found["gnuplot fit"] = gnuplot_fit
    return found


class Score(NamedTuple):
    """What became of a fit: the least right digits of parameters and of errors, if it arrived; seconds."""

    digits: float
    errors: float
    said: bool
    seconds: float

    @property
    def reached(self) -> bool:
        """Whether it is the certified fit, and said to be one."""
        return self.said and self.digits >= REACHED


def score(task: Task, fitter: Fitter) -> Score:
    """One fit of one contestant."""
    right = from_tests("fits").right
    start = used()
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            found = fitter(task)
    except Exception:  # whatever it is, it was said
        return Score(0.0, 0.0, False, used() - start)
    seconds = used() - start
    digits = min(map(right, map(float, found.values), task.one["optimum"]))
    errors = min(map(right, map(float, found.errors), task.one["sd"]))
    return Score(digits, errors, found.arrived, seconds)


def report(*, quick: bool) -> Report:
    """The table; with ``quick`` of every fifth fit."""
    listed = list(tasks())[:: 5 if quick else 1]
    scores: dict[str, list[tuple[Task, Score]]] = {name: [] for name in contestants()}
    for fitter in contestants().values():
        score(listed[0], fitter)  # nobody is charged for what is loaded
    for task in listed:
        for name, fitter in contestants().items():
            scores[name].append((task, score(task, fitter)))
    rows = [row_of(name, found) for name, found in scores.items()]
    heads = [
        f"of {len(listed)} fits", "reached", "not reached", "of these silently",
        "digits of parameters, least", "median", "digits of standard deviations, least", "median",
        "ms a fit, median", "all, s",
    ]  # fmt: skip
    return Report(table(heads, rows))


def row_of(name: str, found: list[tuple[Task, Score]]) -> list[str]:
    """One contestant's row."""
    reached = [(task, one) for task, one in found if one.reached]
    silent = sum(one.said and one.digits < REACHED for _, one in found)
    digits = [one.digits for _, one in reached]
    errors = [one.errors for task, one in reached if task.one["name"] != ROUNDED]
    seconds = [one.seconds for _, one in found]
    return [
        name,
        str(len(reached)),
        str(len(found) - len(reached)),
        str(silent),
        f"{min(digits):.1f}",
        f"{statistics.median(digits):.1f}",
        f"{min(errors):.1f}",
        f"{statistics.median(errors):.1f}",
        f"{1e3 * statistics.median(seconds):.1f}",
        f"{sum(seconds):.1f}",
    ]


def main() -> None:
    """Write the page's table."""
    one_core()
    fill(PAGE, {"nist": f"{report(quick=False).text}\n{machine()}; {versions()}, {gnuplot()}.\n"})


def gnuplot() -> str:
    """Its version, where it is installed."""
    if shutil.which("gnuplot") is None:
        return "no gnuplot"
    return subprocess.run(
        ["gnuplot", "--version"], text=True, capture_output=True, check=True
    ).stdout.strip()


if __name__ == "__main__":
    main()
