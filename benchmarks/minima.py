"""The test problems of Moré, Garbow and Hillstrom: ``exprgrad minimize`` beside SciPy and Ipopt.

``python -m benchmarks.minima`` writes the table into ``docs/explanation/minima.md``.
"""

from __future__ import annotations

import statistics
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.machine import machine, one_core, versions
from benchmarks.measure import Report, peer, table, used
from benchmarks.pages import fill
from benchmarks.truth import from_tests
from exprgrad import parse
from exprgrad.explain.places import to_scalar_run
from exprgrad.graph.graph import Graph
from exprgrad.run.evaluation import shapes_of
from exprgrad.solvers.minima.search import Counts, Objective, PointLayout

__all__ = ["report"]

PAGE = Path(__file__).parents[1] / "docs" / "explanation" / "minima.md"
FARTHEST = 10
"""The most that the standard start is multiplied by."""
CLOSE, TINY = 1e-3, 1e-7
"""A value so near to a minimum's, as a part of it, or so near to 0 where that is 0, is taken for it."""
OPERATIONS: dict[str, Callable[..., Any]] = {
    "add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y, "pow": lambda x, y: x**y, "neg": lambda x: -x,
}  # fmt: skip


class Ended(NamedTuple):
    """Where a contestant ended, whether it says that it arrived, and what it took."""

    value: float
    arrived: bool
    counts: Counts


class Score(NamedTuple):
    """What became of a run: if a least value was reached, or another said to be one; and what it took."""

    reached: bool
    silent: bool
    off: float
    counts: Counts
    seconds: float


Solver = Callable[[Any], Ended]


def ours(problem: Any) -> Ended:
    """``exprgrad minimize``."""
    found = parse(problem.formula).minimize(problem.start)
    return Ended(found.value, found.verdict in ("minimum", "flat"), found.counts)


def by_scipy(method: str, derivatives: Sequence[str]) -> Solver:
    """``scipy.optimize.minimize`` with some of our derivatives; without, with differences of its own."""

    def solve(problem: Any) -> Ended:
        from scipy.optimize import minimize

        expression = parse(problem.formula)
        evaluator, given = expression.at(problem.start)
        shapes = shapes_of({name: given[name] for name in expression.inputs})
        objective = Objective(evaluator.graph, PointLayout({}, shapes))
        makers = {
            "jac": lambda at: objective.slope(at)[1],
            "hess": objective.curvature,
            "hessp": objective.product,
        }
        chosen = {name: makers[name] for name in derivatives}
        start = objective.layout.vector(given)
        answer = minimize(objective.value, start, method=method, **chosen)
        return Ended(float(answer.fun), bool(answer.success), objective.counts)

    return solve


def by_ipopt(problem: Any) -> Ended:
    """Ipopt, by way of CasADi, which has derivatives of its own; its defaults but for silence."""
    import casadi

    expression = parse(problem.formula)
    over = to_scalar_run(expression.gradient(problem.start)).run
    names = [*over.graph.inputs]
    unknown = casadi.SX.sym("x", len(names))
    value = in_casadi(casadi, over.graph, {name: unknown[k] for k, name in enumerate(names)})
    options = {"ipopt.print_level": 0, "print_time": False, "ipopt.sb": "yes"}
    solver = casadi.nlpsol("solver", "ipopt", {"x": unknown, "f": value}, options)
    answer = solver(x0=[over.inputs[name] for name in names])
    found = solver.stats()
    keys = ("n_call_nlp_f", "n_call_nlp_grad_f", "n_call_nlp_hess_l")
    counts = Counts(*[int(found.get(key, 0)) for key in keys])
    return Ended(float(answer["f"]), bool(found["success"]), counts)


def in_casadi(casadi: Any, graph: Graph, inputs: dict[str, Any]) -> Any:
    """A formula of numbers as CasADi has it."""
    values: list[Any] = []
    special: dict[str, Callable[..., Any]] = {
        "where": casadi.if_else, "hypot": casadi.hypot, "abs": casadi.fabs, "min": casadi.fmin,
    }  # fmt: skip
    for kind, operands, payload in zip(graph.kinds, graph.operands, graph.payloads, strict=True):
        if kind == "input":
            values.append(inputs[str(payload)])
        elif kind == "const":
            values.append(casadi.SX(payload))
        else:
            function = OPERATIONS.get(kind) or special.get(kind) or getattr(casadi, kind)
            values.append(function(*[values[operand] for operand in operands]))
    return values[graph.output]


def contestants() -> dict[str, Solver]:
    """Who takes part."""
    listed: dict[str, Solver] = {
        "exprgrad minimize": ours,
        "SciPy BFGS, differences": by_scipy("BFGS", ()),
        "SciPy BFGS, our gradient": by_scipy("BFGS", ("jac",)),
        "SciPy L-BFGS-B, our gradient": by_scipy("L-BFGS-B", ("jac",)),
        "SciPy Newton-CG, our products": by_scipy("Newton-CG", ("jac", "hessp")),
        "SciPy trust-exact, our Hessian": by_scipy("trust-exact", ("jac", "hess")),
    }
    if peer("casadi"):
        listed["Ipopt by CasADi"] = by_ipopt
    return listed


def score(problem: Any, solver: Solver) -> Score:
    """One run of one contestant."""
    start = used()
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            found = solver(problem)
    except Exception:  # whatever it is, it was said
        return Score(False, False, 1.0, Counts(), used() - start)
    seconds = used() - start
    is_least = problem.is_least(found.value, CLOSE, TINY)
    off = min(abs(found.value - least) / (least or 1.0) for least in problem.minima)
    return Score(is_least, found.arrived and not is_least, off, found.counts, seconds)


def report(*, quick: bool) -> Report:
    """The table; with ``quick`` of every tenth run."""
    listed = [one for one in from_tests("minima").PROBLEMS if one.times <= FARTHEST]
    problems = listed[:: 10 if quick else 1]
    rows = []
    for name, solver in contestants().items():
        score(problems[0], solver)  # nobody is charged for what is loaded
        rows.append(row_of(name, [(one, score(one, solver)) for one in problems]))
    standard = sum(problem.times == 1 for problem in problems)
    heads = [
        f"of {len(problems)} runs", f"reached, of {standard} standard starts",
        "reached, of all", "silently elsewhere", "least value off by, median", "most",
        "values, median", "gradients", "Hessians or products", "ms, median", "all, s",
    ]  # fmt: skip
    return Report(table(heads, rows))


def row_of(name: str, found: list[tuple[Any, Score]]) -> list[str]:
    """One contestant's row; what it took is of standard starts that it solved."""
    reached = [(problem, one) for problem, one in found if one.reached]
    standard = [one for problem, one in reached if problem.times == 1]
    off = [one.off for p, one in reached if p.times == 1 and 0 not in p.minima]
    second = [one.counts.hessian + one.counts.product for one in standard]
    return [
        name,
        str(len(standard)),
        str(len(reached)),
        str(sum(one.silent for _, one in found)),
        f"{statistics.median(off):.1g}",
        f"{max(off):.1g}",
        f"{statistics.median(one.counts.value for one in standard):.0f}",
        f"{statistics.median(one.counts.gradient for one in standard):.0f}",
        f"{statistics.median(second):.0f}",
        f"{1e3 * statistics.median(one.seconds for one in standard):.0f}",
        f"{sum(one.seconds for _, one in found):.0f}",
    ]


def main() -> None:
    """Write the page's table."""
    one_core()
    fill(PAGE, {"problems": f"{report(quick=False).text}\n{machine()}; {versions()}.\n"})


if __name__ == "__main__":
    main()
