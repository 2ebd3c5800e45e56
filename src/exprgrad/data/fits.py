"""A fit as it is asked for: which names are columns and which parameters, and what is wrong with that."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from math import inf, isfinite, nan

import numpy as np

from exprgrad.data.observations import Rows, Table, observed, tables
from exprgrad.data.plans import condition_of
from exprgrad.derive.parsed import completed
from exprgrad.errors import InputError, RequestError, advice
from exprgrad.explain.diagnostics import Run
from exprgrad.graph.graph import CONST, Graph, Program, numbers_only
from exprgrad.language.read.relations import related
from exprgrad.run.evaluation import evaluator_for
from exprgrad.run.values.inputs import as_number, normal, surplus
from exprgrad.run.values.ranges import as_interval
from exprgrad.solvers.fit.fit import Bounds, Fit, Manner, fitted
from exprgrad.solvers.fit.losses import LOSSES
from exprgrad.solvers.fit.problem import Problem, problem_of
from exprgrad.source import Source

__all__ = ["fit_to"]

NOT_FINITE = ("nan", "infinity", "nan-gradient", "infinite-gradient")
"""What a run's diagnostics are called that say where its numbers stop being finite."""
LISTED = 8
"""How many columns a message lists."""


def fit_to(
    text: str,
    data: object,
    start: Mapping[str, object],
    *,
    fix: Mapping[str, object] | Iterable[str] = (),
    bounds: Mapping[str, object] | None = None,
    sigma: str | None = None,
    weights: str | None = None,
    loss: str | None = None,
    loss_scale: object = 1.0,
    map: Mapping[str, str] | None = None,
    where: str | None = None,
    bad_rows: str = "fail",
    level: object = 0.95,
    starts: int = 1,
    seed: int = 0,
    profile: bool = False,
    spelled: Mapping[str, str] | None = None,
) -> Fit:
    """Fit ``y ~ EXPR`` to rows: see ``exprgrad.fit``.  ``spelled`` has starts as arguments, for errors."""
    graph = model_of(text)
    condition = condition_of(where) if where is not None else None
    listed = tables(data)
    given = {normal(name): as_number(value, name) for name, value in start.items()}
    held = fixed_in(fix, given)
    refuse_unread(graph, text, {**given, **held}, spelled or {})
    read = columns_of(graph, condition, listed[0], map or {}, {**given, **held}, text)
    refuse_both(sigma, weights)
    parameters = [name for name in graph.inputs if name in given and name not in held]
    if not parameters:
        message = "there is no parameter to estimate"
        help = advice("a parameter has a start, such as b1=1", "a parameter has a start: b1=1")
        raise InputError("missing-input", message, source=Source(text), help=help)
    manner = Manner(
        bounds_in(bounds or {}, parameters, given),
        share_of(level),
        sigma is not None,
        starts,
        seed,
        profile,
    )
    if profile and loss is not None:
        message = (
            f"{advice('--profile', 'profile')} and {advice('--loss', 'loss')} exclude each other"
        )
        raise RequestError("usage", message, help="a profile is one of sums of squares")
    asked = Rows(read, condition, sigma or weights or "", weights is not None, bad_rows == "drop")
    rows = observed(listed, asked)
    refuse_few(rows.rows, parameters, rows.left_out)
    told = loss_of(loss, loss_scale)
    problem = problem_of(graph, rows.names, parameters, held, rows.blocks, rows.rows, *told)
    refuse_idle(problem.program, parameters, graph, text)
    if starts == 1:
        refuse_no_value(problem, graph, text, {**given, **held})
    found = fitted(text, problem, given, held, manner)
    in_order = {name: found.parameters[name] for name in graph.inputs if name in found.parameters}
    return found._replace(left_out=rows.left_out, parameters=in_order)


# The formula.


def model_of(text: str) -> Graph:
    """The graph of ``y ~ EXPR``, whose output is the response less the model; an error for another text."""
    graph, relations = related(text, "~")
    models = [relation for relation in relations if relation.right is not None]
    if len(models) != 1 or models[0] is not relations[-1]:
        message = "a fit has one model, y ~ EXPR, which is the last statement"
        if not models:
            message = "this is no model: what is fitted, and by what?"
        span = models[1].span if models[1:] else relations[-1].span
        help = "write the column that is measured first: y ~ EXPR; bind other names by name = EXPR;"
        raise InputError("no-model", message, source=Source(text), span=span, help=help)
    graph = completed(graph, text)

    def tensors(node: int) -> RequestError:
        return RequestError(
            "no-tensors",
            "a model of tensors is not fitted",
            source=Source(text),
            span=graph.span(node),
            help="write it for the numbers of one row, each a column of its own",
        )

    numbers_only(graph, tensors)
    return graph


def columns_of(
    graph: Graph,
    condition: Graph | None,
    table: Table,
    renamed: Mapping[str, str],
    given: Collection[str],
    text: str,
) -> dict[str, str]:
    """By name that stands for a column, that column; an error for a name that stands for nothing."""
    names = dict.fromkeys([*graph.inputs, *(condition.inputs if condition else ())])
    for name in renamed:
        if name not in names:
            raise surplus(graph, text, name, [], {})
    read = {}
    for name in names:
        column = renamed.get(name, name)
        if name in given:
            if name in renamed or name in table.columns:
                message = f"'{name}' is a column of {table.title}, and is given a number, too"
                help = "call the parameter otherwise, or leave out its start"
                raise InputError("given-twice", message, help=help)
            continue
        if column not in table.columns:
            raise no_start(graph, text, table, name, column)
        read[name] = column
    if not read:
        message = f"the model reads no column of {table.title}"
        help = f"its columns are {listed_columns(table)}"
        raise InputError("missing-input", message, source=Source(text), help=help)
    return read


def no_start(graph: Graph, text: str, table: Table, name: str, column: str) -> InputError:
    """The error for a name that is neither a column nor given a start."""
    from exprgrad.language.mistakes.hints import nearest

    if name != column:
        help = f"its columns are {listed_columns(table)}"
        return InputError("bad-column", f"{table.title} has no column '{column}'", help=help)
    message = f"'{name}' is no column of {table.title}, and has no start"
    start = advice(f"{name}=1", f"{name}=1")
    instead = advice(f"--map {name}=COLUMN", f"map={{{name!r}: 'COLUMN'}}")
    help = f"a parameter needs a start: {start}; its columns are {listed_columns(table)}: {instead}"
    near = nearest(name, table.columns)
    if near is not None:
        help = f"did you mean the column '{near}'? a parameter needs a start: {start}"
    found = InputError("missing-input", message, help=help)
    if name in graph.inputs:
        found.source, found.span = Source(text), graph.span(graph.inputs[name])
    return found


def listed_columns(table: Table) -> str:
    """The columns of a table, as far as anyone would read on."""
    names = table.columns
    return ", ".join([*names[:LISTED], *["…"][: max(len(names) - LISTED, 0)]])


# Parameters.


def fixed_in(
    fix: Mapping[str, object] | Iterable[str], given: Mapping[str, float]
) -> dict[str, float]:
    """The parameters that are held, each at its value or at its start."""
    named = (
        fix if isinstance(fix, Mapping) else dict.fromkeys([fix] if isinstance(fix, str) else fix)
    )
    held = {}
    for name, value in named.items():
        name = normal(name)
        if value is None and name not in given:
            message = f"'{name}' is held, and has no value"
            help = advice(f"--fix {name}=1, or {name}=1", f"fix={{{name!r}: 1}}")
            raise InputError("missing-input", message, help=help)
        held[name] = given[name] if value is None else as_number(value, name)
    return held


def refuse_unread(
    graph: Graph, text: str, given: Mapping[str, float], spelled: Mapping[str, str]
) -> None:
    """An error for a parameter that the model does not read, or whose start is not finite."""
    for name, value in given.items():
        if name not in graph.inputs:
            raise surplus(graph, text, name, [], spelled)
        if not isfinite(value):
            message = f"the start of '{name}' is {value}"
            help = f"a start is a finite number, such as {name}=1"
            raise InputError("bad-value", message, help=help)


def bounds_in(
    asked: Mapping[str, object], parameters: Collection[str], given: Mapping[str, float]
) -> Bounds:
    """The bounds of parameters; an error for a start that is not within."""
    found = {}
    for name, value in asked.items():
        if name not in parameters:
            message = f"'{name}' has bounds, and is not estimated"
            raise InputError("unknown-input", message, help=f"those are {', '.join(parameters)}")
        low, high = found[name] = as_interval(value, name, infinite=True)
        if not low <= given[name] <= high:
            message = f"the start of '{name}', {given[name]:g}, lies outside of its bounds {low:g}:{high:g}"
            raise InputError("bad-range", message, help="begin within the bounds")
    return found


def refuse_both(sigma: str | None, weights: str | None) -> None:
    """An error for standard deviations beside weights."""
    if sigma is not None and weights is not None:
        message = (
            f"{advice('--sigma', 'sigma')} and {advice('--weights', 'weights')} exclude each other"
        )
        help = "sigma has standard deviations, weights say only how much a row counts beside others"
        raise RequestError("usage", message, help=help)


def loss_of(name: str | None, scale: object) -> tuple[str, float]:
    """A loss by name, and its scale; no name for squares."""
    if name is not None and name not in LOSSES:
        message = f"there is no loss '{name}'"
        raise RequestError("usage", message, help=f"the losses are {', '.join(LOSSES)}")
    width = as_number(scale, "the loss's scale")
    if not 0 < width < inf:
        message = f"the loss's scale is {width:g}, and has to be above 0"
        raise RequestError("usage", message, help="it is as large as an ordinary residual")
    return name or "", width


def share_of(value: object) -> float:
    """A level of confidence."""
    found = as_number(value, "level")
    if not 0 < found < 1:
        message = f"the level is {found:g}, and has to be between 0 and 1"
        raise RequestError("usage", message, help="95 % is 0.95")
    return found


def refuse_few(rows: int, parameters: Sequence[str], left_out: int) -> None:
    """An error for fewer rows than parameters."""
    if rows >= len(parameters):
        return
    few = f"{rows} row{'s' * (rows != 1)}" if rows else "no row"
    without = f" ({left_out:,} left out)" if left_out else ""
    many = f"{len(parameters)} parameter{'s' * (len(parameters) > 1)}"
    message = f"{few}{without} cannot determine {many}"
    instead = advice("--fix NAME", "fix=['NAME']")
    raise InputError("few-rows", message, help=f"{instead} holds one at its start")


def refuse_no_value(problem: Problem, graph: Graph, text: str, given: Mapping[str, float]) -> None:
    """An error for a row where the model, or a derivative, is not finite at the start; and why it isn't."""
    point = np.array([given[name] for name in problem.parameters])
    if problem.linearized(point) is not None:
        return
    for block, results in problem.results(problem.first, len(point) + 2, point):
        bad = ~np.isfinite(np.sum(results, axis=0))
        if not bad.any():
            continue
        at = int(np.flatnonzero(bad)[0])
        row = {name: float(x[at]) for name, x in zip(problem.columns, block.columns, strict=True)}
        inputs = {name: row.get(name, given.get(name, nan)) for name in graph.inputs}
        run = Run.of(text, evaluator_for(graph), inputs, problem.parameters)
        words = ", ".join(f"{name}={value:g}" for name, value in row.items())
        message = f"the model has no value at the start, in the row with {words}"
        help = "begin elsewhere, or leave such rows out"
        for told in run.remarks:
            if told.code in NOT_FINITE:
                message += f": {told.message}"
                raise InputError(
                    "no-start", message, source=Source(text), span=told.span, help=help
                )
        raise InputError("no-start", message, help=help)
    message = "the sum of squares at the start is not finite"
    raise InputError("no-start", message, help="begin nearer to the data")


def refuse_idle(program: Program, parameters: Sequence[str], graph: Graph, text: str) -> None:
    """An error for a parameter that has no effect, whatever its value."""
    for name, output in zip(parameters, program.outputs[1:], strict=False):
        if program.graph.kinds[output] == CONST and program.graph.payloads[output] == 0:
            message = f"'{name}' has no effect on the model"
            instead = advice(f"--fix {name}", f"fix=['{name}']")
            source, span = Source(text), graph.span(graph.inputs[name])
            help = f"leave it out, or hold it: {instead}"
            raise InputError("no-effect", message, source=source, span=span, help=help)
