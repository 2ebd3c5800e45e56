"""A gradient held against numbers, with a verdict for each input.

The numbers are differences of values, in balls where python-flint is there and else in doubles: nothing
that is checked vouches for itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from exprgrad.errors import RequestError, advice
from exprgrad.explain.checking.bumps import at_step
from exprgrad.explain.checking.differences import (
    differences,
    measured_differences,
    moved_errors,
)
from exprgrad.explain.checking.suspects import Wrong, accusing, blamed, wrong_numbers
from exprgrad.explain.checking.true_differences import least_work, true_differences
from exprgrad.explain.checking.verdicts import (
    Verdict,
    apart,
    by_differences,
    by_truth,
    infinite,
    one_side,
    pole,
    unsettled,
)
from exprgrad.explain.diagnostics import Run
from exprgrad.explain.kinks_met import flagged
from exprgrad.explain.nodes import find_nodes
from exprgrad.explain.places import at
from exprgrad.explain.sides.kinks import one_sided
from exprgrad.graph.graph import (
    CONST,
    INPUT,
    dependencies,
    dependents,
    element_name,
    size,
)
from exprgrad.run.balls.balls import Ball, has_balls
from exprgrad.run.evaluation import evaluator_for
from exprgrad.source import Span

if TYPE_CHECKING:
    from exprgrad.explain.checking.thresholds import Threshold
    from exprgrad.explain.digits.trusted import Trusted

__all__ = ["MOST_WORK", "Check", "Sampled", "check_nodes", "check_of", "check_run"]

MOST_IN_BALLS = 200_000
MOST_IN_DOUBLES = 10_000
"""The most nodes times derivatives for which differences are taken: some 5 to 15 seconds.

In balls a node takes 25 microseconds in the first precision, in doubles 1 millisecond for all the steps.
"""
MOST_CHECKED = 64
"""How many numbers of tensors are checked; of more, so many are chosen, evenly spread.

Each takes some 80 forward sweeps, so that all take as long as a short training.
"""
MOST_WORK = least_work(MOST_IN_BALLS)
"""The most bits times nodes in balls, of all derivatives: higher precisions are taken while it lasts."""


class Sampled(NamedTuple):
    """Where a claim was tried.

    ``points``      at how many points
    ``thresholds``  on both sides of which thresholds, among them
    ``one_sided``   the texts of comparisons and the like of which these points met one side alone
    """

    points: int
    thresholds: tuple[Threshold, ...]
    one_sided: tuple[str, ...]


class Check(NamedTuple):
    """One derivative, held against numbers.

    ``input``     the input's name; of an inner node its name or text
    ``analytic``  what the gradient says, with a claim the true derivative
    ``numeric``   what differences say, with a claim what is claimed; None where they say nothing
    ``error``     what ``numeric`` may be off by
    ``left``, ``right``  the derivatives from the sides, where they differ or only one is there
    ``verdict``   ``agrees``, ``kink``, ``cancellation``, ``overflow``, ``undecided`` or ``disagrees``
    ``message``   the verdict in words
    ``node``      the node, where it was one that was asked for
    ``claim``, ``point``  the claim's text, and the inputs at which the two numbers were found
    ``where``     the node to look at, and its span; of a claim, a span in the claim's text
    ``help``      what to do, where it follows from how the check was made
    ``sampled``   where a claim was tried
    """

    input: str
    analytic: float | None
    numeric: float | None
    error: float | None
    left: float | None
    right: float | None
    verdict: str
    message: str
    node: int | None = None
    claim: str | None = None
    point: dict[str, float] | None = None
    where: tuple[int, Span] | None = None
    help: str | None = None
    sampled: Sampled | None = None


def check_of(input: str, analytic: float | None, verdict: Verdict) -> Check:
    """The check that a verdict makes of a derivative."""
    return Check(
        input=input,
        analytic=analytic,
        numeric=verdict.numeric,
        error=verdict.error,
        left=verdict.left,
        right=verdict.right,
        verdict=verdict.verdict,
        message=verdict.message,
        where=verdict.where,
        help=verdict.help,
    )


class Checker:
    """What the checks of one run share."""

    def __init__(self, run: Run, count: int) -> None:
        self.run = run
        self.special = one_sided(run)  # the inputs that a kink or a jump at the point concerns
        work = count * len(run.graph)
        self.in_balls = work <= MOST_IN_BALLS and has_balls()
        self.in_doubles = work <= MOST_IN_DOUBLES
        self.work = MOST_WORK // max(count, 1)
        if not (self.in_balls or self.in_doubles):
            message = f"{len(run.graph):,} nodes times {count:,} derivatives are too many to check"
            most = MOST_IN_BALLS if has_balls() else MOST_IN_DOUBLES
            some = advice("--wrt a,b", "wrt=['a', 'b']")
            help = f"at most {most:,} are checked" + f": choose some, {some}" * (count > 1)
            raise RequestError("too-many", message, help=help)

    @cached_property
    def wrong(self) -> list[Wrong]:
        """The local derivatives and data that are wrong by themselves, looked for once."""
        return list(wrong_numbers(self.run, MOST_WORK))

    @cached_property
    def value_error(self) -> float:
        """What rounding may have done to the output's data."""
        graph, values = self.run.graph, self.run.values
        nodes = [node for node, kind in enumerate(graph.kinds) if kind not in (INPUT, CONST)]
        return moved_errors(graph, values, nodes)[graph.output]

    def check(self, node: int, name: str, analytic: float) -> Verdict:
        """What numbers say of one derivative."""
        run = self.run
        special = by_rules = None
        if name in self.special and run.graph.kinds[node] == INPUT:
            found = self.special[name]
            if found.verdict == "exists":
                by_rules = found.right
            elif not found.missing:
                special = one_side(found, analytic)
        if special is not None and special.verdict != "undecided":
            return special
        if self.in_balls:
            truth = true_differences(
                run.graph, run.inputs, node, run.values[node], self.work, analytic
            )
            verdict = by_truth(truth, run.value, analytic)
            if verdict is not None:
                return self.with_value(self.by_rules(verdict, node, analytic), truth.value)
        if not math.isfinite(run.value):
            return special or infinite(run.value, pole(run))
        if not self.in_doubles:
            large = Verdict().says("undecided", "the formula is too large for differences")
            return special or large
        sides = differences(run.graph, run.inputs, node, run.values[node])
        said = self.by_rules(by_differences(sides, analytic), node, analytic)
        if said.verdict in ("kink", "cancellation") and (self.in_balls or by_rules is not None):
            return special or unsettled(analytic, by_rules)
        return said if special is None or said.verdict == "kink" else special

    def focus(self, node: int, verdict: str) -> tuple[int, Span]:
        """The node to look at: a kink's, one that loses digits, that is not finite, or the node itself."""
        graph, values = self.run.graph, self.run.values
        if verdict == "kink":
            moved = dependents(graph, [node])
            node = next((each for each in flagged(self.run) if moved[each]), node)
        elif verdict == "cancellation" and self.in_balls:
            trusted = self.trusted.get(self.run.names.get(node, ""))
            node = trusted.lost.node if trusted and trusted.lost else node
        elif not math.isfinite(self.run.value):
            needed = dependencies(graph, graph.output)
            bad = (at for at, value in enumerate(values) if needed[at] and not math.isfinite(value))
            node = next(bad)
        return node, graph.span(node)

    @cached_property
    def trusted(self) -> Mapping[str, Trusted]:
        """How far each derivative can be trusted."""
        from exprgrad.explain.digits.trust import trust

        with suppress(RequestError):
            return trust(self.run, {}).gradient
        return {}

    def by_rules(self, found: Verdict, node: int, analytic: float) -> Verdict:
        """The verdict, or the rule to blame for it."""
        if not found.suspicious or found.numeric is None:
            return found
        wrong = blamed(self.run, self.wrong, node, analytic, found.numeric)
        return found if wrong is None else accusing(found, self.run, wrong)

    def with_value(self, found: Verdict, true: Ball) -> Verdict:
        """The verdict, unless the output's own data is wrong by more than rounding can be."""
        value = self.run.value
        if found.verdict == "disagrees" or not math.isfinite(value):
            return found
        off = abs(true - value)
        if (
            not off.is_finite() or off <= 2 * self.value_error
        ):  # it leaves out terms of second order
            return found
        data = [wrong for wrong in self.wrong if wrong.position is None]
        return accusing(found, self.run, data[-1]) if data else found


def check_run(
    run: Run, nodes: Iterable[str | int] | None = None, h: float | None = None
) -> list[Check]:
    """Check a run of both sweeps: its gradient, or the grads of some nodes.

    ``h`` is the lesson's step.  Raises ``RequestError`` for nodes and a step of a formula of tensors, of
    which all numbers are checked, or 64 of more.
    """
    if run.graph.shapes:
        if nodes is not None or h is not None:
            message = (
                "a formula of tensors is checked at its inputs alone, with steps of our choice"
            )
            help = advice("--node and --h", "nodes and h") + " are for formulas of numbers"
            raise RequestError("no-tensors", message, help=help)
        return [check_number(run, place) for place in chosen(run)]
    if nodes is not None:
        return check_nodes(run, find_nodes(run, nodes), h, ids=True)
    return check_nodes(run, {name: run.graph.inputs[name] for name in run.wrt or ()}, h)


def check_nodes(
    run: Run, nodes: Mapping[str, int], step: float | None = None, *, ids: bool = False
) -> list[Check]:
    """Check the derivatives with respect to some nodes (name → node); ``run`` has both sweeps.

    With a ``step`` the numbers are the lesson's: the node is bumped by it.  With ``ids`` the nodes are part
    of the answer.
    """
    checker = Checker(run, len(nodes))
    gradient = run.gradient
    found = []
    for name, node in nodes.items():
        is_input = run.graph.kinds[node] == INPUT
        analytic = gradient[name] if is_input and name in gradient else run.grad(node)
        assert analytic is not None
        verdict = checker.check(node, name, analytic)
        if step is not None:
            verdict = at_step(run, node, analytic, step, verdict)
        where = verdict.where or checker.focus(node, verdict.verdict)
        found.append(
            check_of(name, analytic, verdict)._replace(node=node if ids else None, where=where)
        )
    return found


# Tensors.


class InputNumber(NamedTuple):
    """One number of an input: its name, and where it is; () for an input that is a number."""

    name: str
    at: tuple[int, ...]


def chosen(run: Run) -> list[InputNumber]:
    """The numbers to check: all, or so many of them, evenly spread."""
    shapes = {name: run.graph.shape(run.graph.inputs[name]) for name in run.wrt or ()}
    total = sum(map(size, shapes.values()))
    count = min(total, MOST_CHECKED)
    wanted = {part * total // count for part in range(count)}
    every = (
        (name, place) for name, shape in shapes.items() for place in product(*map(range, shape))
    )
    return [InputNumber(*number) for at, number in enumerate(every) if at in wanted]


def check_number(run: Run, place: InputNumber) -> Check:
    """The verdict on one number's derivative."""
    analytic, x = (at(all_of[place.name], place.at) for all_of in (run.gradient, run.inputs))
    node, called = run.graph.inputs[place.name], element_name(*place)
    span = run.graph.span(node)

    if not math.isfinite(run.value):
        found = infinite(run.value)
    else:
        found = by_differences(measured_differences(as_function_of(run, place), x), analytic)
    if found.suspicious and found.numeric is not None:
        says, true = apart(analytic, found.numeric)
        why = f"the gradient for {called} says {says}, differences say {true}"
        found = found.blaming(node, span, why)
    return check_of(called, analytic, found)._replace(where=found.where or (node, span))


def as_function_of(run: Run, place: InputNumber) -> Callable[[float], float]:
    """The output as a function of one number."""
    evaluator = evaluator_for(run.graph)

    def value(x: float) -> float:
        given: Any = x
        if place.at:
            given = run.inputs[place.name].copy()
            given[place.at] = x
        return float(evaluator.forward({**run.inputs, place.name: given})[run.graph.output])

    return value
