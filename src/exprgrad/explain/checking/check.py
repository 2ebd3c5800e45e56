"""A gradient checked by numbers, with a verdict for each input, and the rule to blame if one is wrong.

The numbers are differences of values, in balls where python-flint is installed, else in doubles: nothing
that is checked vouches for itself.  Where the two disagree, the local derivative of every edge is compared
with the difference quotient of that one operation at its operands' data.  If all of them are right, then so
is the gradient, up to rounding, for it consists of them.  With a step, the numbers are those of
the lesson: A. Karpathy, The spelled-out intro to neural networks and backpropagation: building micrograd
(2022).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from exprgrad.derive.build import GraphBuilder
from exprgrad.errors import RequestError, command_or_python
from exprgrad.explain.checking.differences import (
    SCALE,
    STEP,
    BoundedEstimate,
    QuotientGraph,
    difference_estimates,
    least_work,
    measure_derivatives,
    quotient_graph,
    true_differences,
)
from exprgrad.explain.checking.verdicts import (
    ENOUGH_DIGITS,
    Check,
    agreement_text,
    count_shared_digits,
    format_short_pair,
    infinite_verdict,
    one_sided_verdict,
    pole_text,
    short_number,
    verdict_by_differences,
    verdict_by_truth,
)
from exprgrad.explain.diagnostics import DiagnosedRun
from exprgrad.explain.kinks_met import nonsmooth_nodes
from exprgrad.explain.places import ScalarRun, find_nodes, number_in_place, to_scalar_run
from exprgrad.explain.sides.kinks import one_sided_derivatives
from exprgrad.graph.graph import (
    INPUT,
    MOST_ELEMENTS,
    Graph,
    Shape,
    dependency_flags,
    dependent_flags,
    element_name,
    shape_size,
)
from exprgrad.graph.ops import BY_NAME
from exprgrad.language.write.infix import number_text
from exprgrad.run.balls.balls import Ball, enclose_nodes, has_balls
from exprgrad.run.evaluation import adjoints_of, evaluator_for
from exprgrad.run.numbers.sweeps import Adjoints, forward_numbers
from exprgrad.source import Span

if TYPE_CHECKING:
    from exprgrad.explain.digits.trust import TrustedNumber

__all__ = [
    "MOST_WORK", "Check", "check_nodes", "check_run", "numbers_to_check",
]  # fmt: skip

MOST_IN_BALLS = 200_000
MOST_IN_DOUBLES = 10_000
"""The most nodes times derivatives for which differences are taken, in about 5 to 15 seconds.

In balls a node takes 25 microseconds in the first precision, in doubles 1 millisecond for all the steps.
"""
MOST_CHECKED = 64
"""The most numbers of tensors that are checked; of more, a choice is evenly spread.

Each takes about 80 forward sweeps, so that all take as long as a short training.
"""
MOST_WORK = least_work(MOST_IN_BALLS)
"""The most bits times nodes in balls, of all derivatives; higher precisions use what is left."""


class Checker:
    """The state that the checks of one run share."""

    def __init__(self, run: DiagnosedRun, count: int) -> None:
        self.run = run
        self.special = one_sided_derivatives(
            run
        )  # the inputs that a kink or a jump at the point concerns
        work = count * len(run.graph)
        self.in_balls = work <= MOST_IN_BALLS and has_balls()
        self.in_doubles = work <= MOST_IN_DOUBLES
        self.work = MOST_WORK // max(count, 1)
        if not (self.in_balls or self.in_doubles):
            most = MOST_IN_BALLS if has_balls() else MOST_IN_DOUBLES
            some = command_or_python("--wrt a,b", "wrt=['a', 'b']")
            raise RequestError(
                "too-many",
                f"{len(run.graph):,} nodes times {count:,} derivatives are too many to check",
                help=f"at most {most:,} are checked" + f": choose some, {some}" * (count > 1),
            )

    @cached_property
    def wrong(self) -> list[WrongNumber]:
        """The local derivatives and data that are wrong by themselves, searched once."""
        return list(wrong_numbers(self.run, MOST_WORK))

    def check(self, node: int, name: str, analytic: float) -> Check:
        """Check one derivative by numbers."""
        run = self.run
        special = by_rules = None
        if name in self.special and run.graph.kinds[node] == INPUT:
            found = self.special[name]
            if found.verdict == "exists":
                by_rules = found.right
            elif not found.missing:
                special = one_sided_verdict(found, analytic)
        if special is not None and special.verdict != "undecided":
            return special
        if self.in_balls:
            truth = true_differences(
                run.graph, run.inputs, node, run.values[node], self.work, analytic
            )
            verdict = verdict_by_truth(truth, run.value, analytic)
            if verdict is not None:
                return self.with_value(self.by_rules(verdict, node, analytic), truth.value)
        if not math.isfinite(run.value):
            return special or infinite_verdict(run.value, pole_text(run))
        if not self.in_doubles:
            large = Check().says("undecided", "the formula is too large for differences")
            return special or large
        sides = difference_estimates(run.graph, run.inputs, node, run.values[node])
        said = self.by_rules(verdict_by_differences(sides, analytic), node, analytic)
        if said.verdict in ("kink", "cancellation") and (self.in_balls or by_rules is not None):
            rules = (
                ""
                if by_rules is None
                else f"; by the rules of both sides it is {short_number(by_rules)}"
            )
            message = f"differences do not settle, returned {short_number(analytic)}{rules}"
            return special or Check().says("undecided", message)
        return said if special is None or said.verdict == "kink" else special

    def focus(self, node: int, verdict: str) -> tuple[int, Span]:
        """Return the node to show: at a kink, with lost digits, not finite, or the node itself."""
        graph, values = self.run.graph, self.run.values
        if verdict == "kink":
            moved = dependent_flags(graph, [node])
            node = next((each for each in nonsmooth_nodes(self.run) if moved[each]), node)
        elif verdict == "cancellation" and self.in_balls:
            trusted = self.trusted.get(self.run.names.get(node, ""))
            node = trusted.lost.node if trusted and trusted.lost else node
        elif not math.isfinite(self.run.value):
            needed = dependency_flags(graph, graph.output)
            bad = (at for at, value in enumerate(values) if needed[at] and not math.isfinite(value))
            node = next(bad)
        return node, graph.span(node)

    @cached_property
    def trusted(self) -> Mapping[str, TrustedNumber]:
        """The trust in each derivative."""
        from exprgrad.explain.digits.trust import measure_trust

        with suppress(RequestError):
            return measure_trust(self.run, self.run.swept, {}).gradient
        return {}

    def by_rules(self, found: Check, node: int, analytic: float) -> Check:
        """Return the verdict, or blame a rule."""
        if not found.suspicious or found.numeric is None:
            return found
        wrong = find_wrong_local(self.run, self.wrong, node, analytic, found.numeric)
        return found if wrong is None else blame_wrong_number(found, self.run, wrong)

    def with_value(self, found: Check, true: Ball) -> Check:
        """Return the verdict, or blame the output's data if it is wrong by more than rounding."""
        value = self.run.value
        if found.verdict == "disagrees" or not math.isfinite(value):
            return found
        off = abs(true - value)
        allowed = 2 * self.run.errors[0][self.run.graph.output]  # for the bound is of first order
        if not off.is_finite() or off <= allowed:
            return found
        data = [wrong for wrong in self.wrong if wrong.position is None]
        return blame_wrong_number(found, self.run, data[-1]) if data else found


def check_run(
    run: DiagnosedRun, nodes: Iterable[str | int] | None = None, h: float | None = None
) -> list[Check]:
    """Check a run of both sweeps: its gradient, or the grads of some nodes.

    ``h`` is the lesson's step.  Raises ``RequestError`` for nodes or a step with a formula of tensors, of
    which all numbers are checked, at most 64.
    """
    if run.graph.shapes:
        if nodes is not None or h is not None:
            raise RequestError(
                "no-tensors",
                "a formula of tensors is checked at its inputs alone, with steps of our choice",
                help=command_or_python("--node and --h", "nodes and h")
                + " are for formulas of numbers",
            )
        numbers = numbers_to_check(run)
        elements = sum(map(shape_size, run.graph.shapes))
        are_few = elements <= MOST_ELEMENTS and len(numbers) * elements <= MOST_IN_BALLS
        over = to_scalar_run(run) if are_few and has_balls() else None
        return [check_number(run, over, *number) for number in numbers]
    if nodes is not None:
        return check_nodes(run, find_nodes(run, nodes), h, ids=True)
    return check_nodes(run, {name: run.graph.inputs[name] for name in run.wrt or ()}, h)


def check_nodes(
    run: DiagnosedRun, nodes: Mapping[str, int], step: float | None = None, *, ids: bool = False
) -> list[Check]:
    """Check the derivatives with respect to some nodes (name → node); ``run`` has both sweeps.

    With a ``step`` the numbers are the lesson's: the node is bumped by it.  With ``ids`` nodes are part
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
            verdict = verdict_at_step(run, node, analytic, step, verdict)
        where = verdict.where or checker.focus(node, verdict.verdict)
        found.append(
            verdict._replace(input=name, analytic=analytic, node=node if ids else None, where=where)
        )
    return found


# Tensors.


def numbers_to_check(run: DiagnosedRun) -> list[tuple[str, Shape]]:
    """List the numbers to check, by input and place: all, or an evenly spread choice."""
    shapes = {name: run.graph.shape(run.graph.inputs[name]) for name in run.wrt or ()}
    total = sum(map(shape_size, shapes.values()))
    count = min(total, MOST_CHECKED)
    wanted = {part * total // count for part in range(count)}
    every = (
        (name, place) for name, shape in shapes.items() for place in product(*map(range, shape))
    )
    return [number for at, number in enumerate(every) if at in wanted]


def check_number(
    run: DiagnosedRun, over: ScalarRun[DiagnosedRun] | None, name: str, place: Shape
) -> Check:
    """Check one number's derivative, in balls if there is a run ``over`` numbers."""
    analytic, x = (number_in_place(all_of[name], place) for all_of in (run.gradient, run.inputs))
    node, called = run.graph.inputs[name], element_name(name, place)
    span = run.graph.span(node)

    found = None
    if over is not None:
        numbers, moved = over.run, over.node(node, place)
        truth = true_differences(numbers.graph, numbers.inputs, moved, x, 0.0, analytic)
        found = verdict_by_truth(truth, run.value, analytic)
    if found is None and not math.isfinite(run.value):
        found = infinite_verdict(run.value)
    if found is None:
        found = verdict_by_differences(
            measure_derivatives(function_of_number(run, name, place), x), analytic
        )
    rounded = 2 * number_in_place(run.errors[1][node], place)  # for the bound is of first order
    numeric, is_suspicious = found.numeric, found.suspicious and math.isfinite(run.value)
    if is_suspicious and numeric is not None and not abs(analytic - numeric) <= rounded:
        says, true = format_short_pair(analytic, numeric)
        found = found.blaming(
            node, span, f"the gradient for {called} says {says}, differences say {true}"
        )
    return found._replace(input=called, analytic=analytic, where=found.where or (node, span))


def function_of_number(run: DiagnosedRun, name: str, place: Shape) -> Callable[[float], float]:
    """Return the output as a function of one number."""
    evaluator = evaluator_for(run.graph)

    def value(x: float) -> float:
        given: Any = x
        if place:
            given = run.inputs[name].copy()
            given[place] = x
        return float(evaluator.forward({**run.inputs, name: given})[run.graph.output])

    return value


# Suspects: every edge by itself, held against differences.

BITS = 2200
"""Bits enough for one operation on doubles: 2098 from 2^1024 to 2^-1074, and a double's 53 beyond."""


WITHOUT_FRACTIONS = 2.0**53
"""The number from which there are no doubles between whole numbers."""

MOST_NODES = 20_000
"""The most operations checked one by one, in a quarter of a millisecond each."""


class WrongNumber(NamedTuple):
    """A number that is wrong: a node's local derivative at a position, or its data (position None)."""

    user: int
    position: int | None
    says: float
    true: float


def wrong_numbers(run: DiagnosedRun, work: int) -> Iterator[WrongNumber]:
    """Find the local derivatives and data that are wrong at their operands' data, from the output down.

    Rules that are conventions have nothing to be compared with.  Of very many nodes, equally many of
    each operation are checked.  Each edge has its share of the ``work``, in bits times nodes.
    """
    assert isinstance(run.adjoints, Adjoints)
    edges = sum(len(run.graph.operands[user]) for user in run.order)
    seen = Counter(run.graph.kinds[user] for user in run.order if run.graph.operands[user])
    most = MOST_NODES if seen.total() <= MOST_NODES else MOST_NODES // len(seen)
    seen.clear()
    bent, in_balls = run.adjoints.met, has_balls()
    for user in run.order:
        data = [run.values[node] for node in run.graph.operands[user]]
        # Balls know no infinity here, and no negative zero.
        if not data or not all(math.isfinite(x) and str(x) != "-0.0" for x in data):
            continue
        seen[run.graph.kinds[user]] += 1
        if seen[run.graph.kinds[user]] > most:
            continue
        lone, inputs = isolate_operation(run, user)
        op = BY_NAME[run.graph.kinds[user]]
        says = run.values[user]
        value = true_value(lone, inputs) if in_balls else None
        if value is not None:
            allowed = max((op.value_ulp + 1) * math.ulp(value), op.value_abs)
            if not abs(says - value) <= allowed:
                yield WrongNumber(user, None, says, value)
        for position, local in enumerate(run.adjoints.locals[user] or ()):
            if local is None or user in bent:
                continue
            truth = true_local(lone, inputs, position, local, work // edges)
            if truth is not None:
                rounded = max((op.partial_ulp + 1) * math.ulp(truth.value), op.partial_abs)
                allowed = truth.error + rounded
                if not abs(local - truth.value) <= allowed:
                    yield WrongNumber(user, position, local, truth.value)


def isolate_operation(run: DiagnosedRun, user: int) -> tuple[Graph, dict[str, float]]:
    """Return an operation alone, each operand an input of its own, and the operands' data."""
    builder, operands = GraphBuilder(plain=True), run.graph.operands[user]
    inputs = {f"operand {place}": run.values[operand] for place, operand in enumerate(operands)}
    names = [builder.input(name) for name in inputs]
    builder.graph.output = builder.apply(run.graph.kinds[user], *names)
    return builder.graph, inputs


def true_value(graph: Graph, inputs: dict[str, float]) -> float | None:
    """Return an operation's value by balls; None where they do not determine a double."""
    true = enclose_nodes(graph, inputs, BITS)[graph.output]
    found = float(true) if true.is_finite() else math.inf
    return found if math.isfinite(found) else None


def true_local(
    graph: Graph, inputs: dict[str, float], place: int, local: float, work: int
) -> BoundedEstimate | None:
    """Return an operation's derivative with respect to one operand, by differences; None if they show none.

    They show none at a kink, a jump, or an edge of the domain; in doubles also at data so
    large that all doubles are whole numbers, where the steps of ``round`` cannot be seen.
    """
    at = inputs[f"operand {place}"]
    if not has_balls():
        if abs(at) >= WITHOUT_FRACTIONS:
            return None
        center, left, right = difference_estimates(graph, inputs, place, at)
        if center is None or left is None or right is None:
            return None
        bent = abs(left.value - right.value) > left.error + right.error
        return None if bent or not center.settled(local) else center
    found = true_differences(graph, inputs, place, at, work, local)
    if found.kind != "smooth" or found.center is None:
        return None
    value = float(found.center)
    return BoundedEstimate(value, 0.0) if math.isfinite(value) else None


def find_wrong_local(
    run: DiagnosedRun, found: Sequence[WrongNumber], node: int, analytic: float, numeric: float
) -> WrongNumber | None:
    """Find the wrong number that explains a node's wrong derivative; None if none does.

    The derivative is computed again with the true numbers.  If that does not bring
    it nearer to the differences, the wrong ones are innocent.  The one that changes it most is blamed.
    """
    data = [wrong for wrong in found if wrong.position is None]
    if data or not found:
        return data[-1] if data else None
    grads, tangents = sweep_with_true_locals(run, found, node)
    before, after = abs(analytic - numeric), abs(grads[node] - numeric)
    if math.isfinite(before) and not after <= before / 2:
        return None
    return max(found, key=lambda wrong: effect_of_error(run, wrong, grads, tangents))


def sweep_with_true_locals(
    run: DiagnosedRun, rules: Sequence[WrongNumber], node: int
) -> tuple[list[float], list[float]]:
    """Compute every node's grad, and its tangent along a node, with the true local derivatives."""
    graph, order, found = run.graph, run.order, adjoints_of(run, "grads").locals
    locals_ = {user: [*local] for user in order if (local := found[user]) is not None}
    for wrong in rules:
        assert wrong.position is not None
        locals_[wrong.user][wrong.position] = wrong.true
    grads, tangents = [0.0] * len(graph), [0.0] * len(graph)
    grads[graph.output] = tangents[node] = 1.0
    for user in order:
        for operand, local in zip(graph.operands[user], locals_.get(user, ()), strict=False):
            if local:
                grads[operand] += grads[user] * local
    for user in reversed(order):
        for operand, local in zip(graph.operands[user], locals_.get(user, ()), strict=False):
            if local and user != node:
                tangents[user] += local * tangents[operand]
    return grads, tangents


def effect_of_error(
    run: DiagnosedRun, wrong: WrongNumber, grads: Sequence[float], tangents: Sequence[float]
) -> float:
    """Return by how much a wrong local derivative changes the derivative."""
    assert wrong.position is not None
    operand = run.graph.operands[wrong.user][wrong.position]
    found = abs(grads[wrong.user] * (wrong.says - wrong.true) * tangents[operand])
    return math.inf if found != found else found


def blame_wrong_number(found: Check, run: DiagnosedRun, wrong: WrongNumber) -> Check:
    """Return a verdict that blames a wrong number."""
    graph, user = run.graph, wrong.user
    op = BY_NAME[graph.kinds[user]]
    what, by, says, true = (
        op.infix or op.prefix or op.name,
        "differences",
        *format_short_pair(wrong.says, wrong.true),
    )
    if wrong.position is None:
        what, by = f"the value of {what}", "balls"
    else:
        what = f"the rule of {what} for {run.label(graph.operands[user][wrong.position])}"
    place = f"at node {user} '{run.texts[user]}'"
    return found.blaming(
        user, graph.span(user), f"{what}, {place}, is suspect: it says {says}, {by} say {true}"
    )


# The lesson's bump: L1, the node's data and h more, L2, and (L2 - L1)/h beside its grad.

LESSON = 0.001
"""The lesson's step."""
KEPT = 8
"""The digits by which a suggested step is smaller than its number: about half."""
HALVINGS = 32
"""The halvings of an interval in the search for a kink."""
NOISE = 16
"""The most ulps of the output that rounding may add to a difference of differences."""


def verdict_at_step(
    run: DiagnosedRun, node: int, analytic: float, step: float, best: Check
) -> Check:
    """Return the verdict with the lesson's number, (L2 - L1)/h, compared with the ``best`` verdict.

    Raises ``RequestError`` for a step that is 0 or not finite, or too small to change the node's data.
    """
    data = run.values[node]
    if not math.isfinite(step) or step == 0 or (math.isfinite(data) and data + step == data):
        message = f"a step of {number_text(step)} leads nowhere"
        if math.isfinite(step) and step:
            message = f"a step of {number_text(step)} is lost: {number_text(data)} stays as it is"
        raise RequestError("bad-step", message, help=suggest_step(data))
    found = quotient_graph(run.graph, node)
    numeric, central = bumped_quotients(run, found, step)[:2]
    error = None if best.numeric is None else abs(numeric - best.numeric)
    here = f"at h = {number_text(step)}, (L2 - L1)/h is {short_number(numeric)}"
    shown = best._replace(numeric=numeric, error=error)
    if best.verdict != "agrees" or not (math.isfinite(numeric) and math.isfinite(central)):
        message = f"{best.message}; {here} and the central difference {short_number(central)}"
        return shown._replace(message=message)
    first, second = (
        count_shared_digits(abs(each - analytic), abs(analytic)) for each in (numeric, central)
    )
    if first < ENOUGH_DIGITS and numeric != analytic and has_kink_in_step(run, found, step):
        return shown._replace(
            verdict="kink",
            message=f"kink between the sample points: {here}, returned {short_number(analytic)}",
        )
    most = best.digits
    if not analytic or most is None:
        return shown._replace(message=f"{best.message}; {here}")
    if first:
        message = (
            f"{agreement_text(first)} at h = {number_text(step)}, {second} by the central difference, "
            f"{most} by a "
            "better step"
        )
        return shown._replace(message=message)
    returned = (
        f"{here}, returned {short_number(analytic)}, which a better step finds to {most} digits"
    )
    if 2 * math.ulp(run.value) / abs(step) < abs(numeric - analytic):
        return shown.says("undecided", f"the step is too large: {returned}")
    lost = shown._replace(help="a larger step keeps more digits")
    return lost.says("cancellation", f"the step is too small: {returned}")


def suggest_step(data: float) -> str:
    """Suggest a better step."""
    if not math.isfinite(data) or data + LESSON != data:
        return f"the lesson takes h = {LESSON}"
    larger = 10.0 ** (math.floor(math.log10(abs(data))) - KEPT)
    return f"h = {larger:g} would move it"


def bumped_quotients(
    run: DiagnosedRun, found: QuotientGraph, step: float
) -> tuple[float, float, float]:
    """Return the forward and central difference quotients at a step, and the rise L2 - L1."""
    values = forward_numbers(found.graph, {**run.inputs, STEP: step, SCALE: 1.0})
    rise = values[found.graph.operands[found.right][0]]
    return rise / step, values[found.center], rise


def has_kink_in_step(run: DiagnosedRun, found: QuotientGraph, step: float) -> bool:
    """Whether a kink or a jump lies between the node's data and that bumped by a step.

    The interval is halved repeatedly, keeping the half in which the slope changes more.  Where
    the function is smooth, that change shrinks with the interval; at a kink it stays, as far
    as rounding lets one see.
    """

    def rise(at: float) -> float:
        return bumped_quotients(run, found, at)[2] if at else 0.0

    def change(start: float, width: float) -> float:
        one, middle, other = (rise(start + width * part) for part in (0.0, 0.5, 1.0))
        return abs((other - middle) - (middle - one)) / abs(width / 2)

    ulp = math.ulp(max(abs(run.value), abs(run.value + rise(step))))
    start, width = 0.0, step
    most = last = change(start, width)
    for _ in range(HALVINGS):
        width /= 2
        starts = start, start + width / 2, start + width
        start, last = max(((at, change(at, width)) for at in starts), key=lambda pair: pair[1])
        if not last * abs(width) > NOISE * ulp:
            return False
        if last * abs(width) < NOISE * NOISE * ulp:
            break
        most = max(most, last)
    return last >= most / 4
