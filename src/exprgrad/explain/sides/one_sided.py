"""A formula just beside a point, on one side: a forward sweep of one-sided values and tangents.

One input moves away from the point.  Every node that depends on it has a value there, in the limit, a
tangent (its derivative towards that side), and may not move at all.  At kinks and jumps the op table says
what these give (``side``, ``slope`` and ``undecided`` of ``NonsmoothPoint``), else its partials do.

Beside the tangent runs the reverse sweep's version of it, with its conventions, and how far the two are
apart.  That distance is carried along: it is exactly 0 until a convention is wrong, so that equality is
never tested on two numbers that were rounded differently.

Numbers carry bounds of their rounding errors: each operation adds its own rounding to the errors of its
operands (J. H. Wilkinson's running error analysis, Rounding Errors in Algebraic Processes,
1963).  The bounds are of first order in the errors.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache, partial
from itertools import product
from typing import Any, NamedTuple

from exprgrad.derive.rules import rule_slots, template
from exprgrad.explain.kinks_met import (
    compile_local_derivative,
    met_nonsmooth_point,
    passes_movement,
    template_moves,
)
from exprgrad.graph.graph import (
    Algebra,
    Graph,
    dependency_flags,
    dependent_flags,
    evaluate_nodes,
    interpret,
)
from exprgrad.graph.op import NonsmoothPoint, Op
from exprgrad.graph.ops import BY_NAME, COMPARISONS
from exprgrad.run.evaluation import SweptRun, adjoints_of
from exprgrad.run.numbers.bounds import EXACT_BELOW, kind_of, number_data_errors, row_error
from exprgrad.run.numbers.sweeps import (
    at_pole,
    companion_values,
    compile_template,
    condition_holds,
    functions,
    template_number,
)

__all__ = [
    "RUNNING", "SURE", "UNDEFINED", "Measured", "OneSidedOutput", "PointContext", "build_point_context",
    "leading_slope", "local_derivative_error", "operation_rounding", "output_on_side",
]  # fmt: skip

UNDECIDED, UNDEFINED = "undecided", "undefined"
"""Other states of a node beside the point: only higher orders would tell, or there is no value."""
NOT_WHOLE = 2.0**52 - 0.5
"""The greatest double that is not a whole number."""
SURE = 2.0**-8
"""A number with an error of at most this part of it has two digits."""


# Numbers with what rounding may have done to them.


class Measured(NamedTuple):
    """A number and its error bound, which is 0 for a number that is not finite."""

    value: float
    error: float = 0.0


ZERO = Measured(0.0)


def operation_rounding(value: float, operands: Iterable[float], ulps: float = 0.5) -> float:
    """Bound the rounding of an operation; 0 where all numbers are whole."""
    if not math.isfinite(value):
        return 0.0
    exact = ulps <= 0.5 and all(x.is_integer() and abs(x) < EXACT_BELOW for x in (value, *operands))
    return 0.0 if exact else ulps * math.ulp(value)


def inner_product(terms: Iterable[tuple[Measured, Measured]]) -> Measured:
    """Return a sum of products."""
    found = error = 0.0
    for (one, error_of_one), (other, error_of_other) in terms:
        value = one * other
        if value and not (abs(one) == 1.0 or abs(other) == 1.0):
            error += operation_rounding(value, (one, other))
        error += abs(one) * error_of_other + error_of_one * (abs(other) + error_of_other)
        before, found = found, found + value
        if before and value:
            error += operation_rounding(found, (before, value))
    unbounded = math.isnan(error)  # 0 times an error without a bound
    error = math.inf if unbounded else error
    return Measured(found, error if math.isfinite(found) else 0.0)


def measure_template(graph: Graph, given: Mapping[str, Measured]) -> Measured:
    """Evaluate a template, given its names' values with their errors."""
    return interpret(graph, RUNNING, given)[graph.output]


def data_noise(run: SweptRun) -> list[float]:
    """Return the error bounds of the nodes' data; inputs and typed numbers have none.

    Data are taken as computed, which makes no difference while everything is finite: a number
    that belongs to a rounded one is off by little.  Noise times infinity has not even a known sign.
    """
    errors = number_data_errors(run.graph, run.values)
    return [e if math.isfinite(x) else 0.0 for x, e in zip(run.values, errors, strict=True)]


def typed_constant(graph: Graph, node: int) -> Measured:
    """Measure a typed number, which is exact, or one with a name, such as pi."""
    value = template_number(graph, node)
    is_named = node in graph.symbols and math.isfinite(value)
    return Measured(value, math.ulp(value) / 2 if is_named else 0.0)


def apply_measured(graph: Graph, node: int, operands: Sequence[Measured]) -> Measured:
    """Apply an operation to numbers with errors, and add its own rounding."""
    kind, seen = graph.kinds[node], [x.value for x in operands]
    value = functions[kind](*seen)
    if not math.isfinite(value):
        return Measured(value)
    return Measured(
        value, row_error(kind_of(kind), value, range(len(seen)), seen, [x.error for x in operands])
    )


RUNNING = Algebra(typed_constant, apply_measured)
"""Numbers with running error bounds."""


def local_derivative_noise(
    op: Op, position: int, view: Sequence[float], errors: Sequence[float]
) -> float:
    """Bound a local derivative's error, given those of its operands and the result.

    ``view`` are the values that the rule sees; the first of them have those errors.
    """
    rule, names = compile_local_derivative(op.name, position), rule_slots(op)
    if not any(errors):
        return 0.0
    here = rule(view)
    rest = view[len(errors) : len(names)]
    ends = [{x - error, x + error} for x, error in zip(view, errors, strict=False)]
    apart = [abs(rule([*place, *rest]) - here) for place in product(*ends)]
    return max(x if x == x else math.inf for x in apart)


def local_derivative_error(op: Op, position: int, local: float) -> float:
    """Bound a local derivative's own rounding; an operand, or a constant, has none.

    The row's bound is in ulps of the true number, which may be twice those of the computed one; near a zero
    it is absolute.
    """
    is_exact = len(template(op.partial(position))) == 1 or not math.isfinite(local)
    return 0.0 if is_exact else max(2 * op.partial_ulp * math.ulp(local), op.partial_abs)


# A side.


class Motion(NamedTuple):
    """A node's motion: its ``tangent`` (None: undecided), the sweep's, and how far they are apart."""

    moves: bool
    tangent: Measured | None
    swept: Measured
    off: Measured


STILL = Motion(False, ZERO, ZERO, ZERO)


class Side(NamedTuple):
    """A node just beside the point, on one side.

    ``value``    its limit there; nan, or the IEEE result of nan, where it is not defined
    ``motion``   its motion; ``STILL`` if it stays, for the sweep too
    ``changed``  whether the limit differs from the node's data, or is unknown
    ``error``    the rounding error of the difference between the two
    ``lost``     why the limit is unknown, if it is
    ``turned``   whether it meets a kink or a jump
    """

    value: float
    motion: Motion = STILL
    changed: bool = False
    error: float = 0.0
    lost: str = ""
    turned: bool = False


class PointContext(NamedTuple):
    """A run's nodes around its point: the same for every input and both sides.

    ``alike``    by node: the first that is the same formula of the same inputs
    ``special``  the nodes that meet a kink or a jump
    ``locals``   by node: the sweep's local derivatives, None where no gradient went on
    ``still``    by node: itself, where it stays
    ``noise``    by node: the error bound of its data; empty to ignore rounding
    """

    run: SweptRun
    alike: list[int]
    special: Collection[int]
    locals: Sequence[Sequence[Any] | None]
    still: list[Side]
    noise: Sequence[float] = ()


def build_point_context(run: SweptRun) -> PointContext:
    """Build the context of a run's point."""
    adjoints, still = adjoints_of(run, "sides"), [Side(value) for value in run.values]
    return PointContext(run, equal_nodes(run.graph), adjoints.met, adjoints.locals, still)


def equal_nodes(graph: Graph) -> list[int]:
    """Return, for each node, the first that is the same formula of the same inputs."""
    first: dict[object, int] = {}
    found: list[int] = []
    for node, (kind, operands, payload) in enumerate(
        zip(graph.kinds, graph.operands, graph.payloads, strict=True)
    ):
        key = (kind, tuple([found[operand] for operand in operands]), repr(payload))
        found.append(first.setdefault(key, node))
    return found


class SidedOperation(NamedTuple):
    """An operation whose operands are known beside the point.

    ``data``     its own value at the point
    ``locals``   the sweep's local derivatives; None where no gradient went on
    ``nodes``, ``operands``  the operands: their nodes, and their sides beside the point
    ``values``, ``motions``, ``moves``  the operands' limits, motions, and whether each moves
    """

    around: PointContext
    node: int
    op: Op
    data: float
    locals: Sequence[Any] | None
    nodes: tuple[int, ...]
    operands: Sequence[Side]
    values: list[float]
    motions: list[Motion]
    moves: list[bool]


class OneSidedOutput(NamedTuple):
    """The output beside the point: its limit and derivative, as the input grows.

    ``off`` is ``slope`` less the sweep's number.  ``state`` says why a number is None;
    ``turned``, whether any kink or jump was met on the way.
    """

    turned: bool
    state: str
    value: float | None
    slope: Measured | None
    off: Measured


def output_on_side(around: PointContext, name: str, sign: float) -> OneSidedOutput:
    """Find the output beside the point: to the right of an input's value (sign 1), or to the left (−1).

    Where a tangent is infinite, the answer must not depend on the data's rounding.
    """
    found, steep = side_outcome(around, name, sign)
    if found.slope is None or not steep:
        return found
    noisy, _ = side_outcome(around._replace(noise=data_noise(around.run)), name, sign)
    is_same = noisy.slope is not None and noisy.slope.value == found.slope.value
    undecided = found._replace(state=UNDECIDED, slope=None, off=Measured(math.nan))
    return found if is_same else undecided


def side_outcome(around: PointContext, name: str, sign: float) -> tuple[OneSidedOutput, bool]:
    """Return the output on one side, and whether a tangent is infinite on the way."""
    graph, along = around.run.graph, Measured(sign)
    start, output = graph.inputs[name], graph.output
    moving, needed = dependent_flags(graph, [start]), dependency_flags(graph, output)
    nodes = [node for node in range(start + 1, output + 1) if moving[node] and needed[node]]
    still = around.still
    moved = still[start]._replace(motion=Motion(True, along, along, ZERO))
    algebra = Algebra(lambda _, node: still[node], partial(evaluate_node_side, around))
    values = [*still[:start], moved, *still[start + 1 :]]
    reached = evaluate_nodes(graph, algebra, values, nodes)
    turned = any(reached[node].turned for node in nodes)
    tangents = [reached[node].motion.tangent for node in nodes]
    steep = any(tangent is not None and math.isinf(tangent.value) for tangent in tangents)
    side = reached[output]
    tangent, off = side.motion.tangent, side.motion.off
    value = None if side.lost else side.value
    if value is None or tangent is None or math.isinf(value):
        return OneSidedOutput(
            turned, side.lost or UNDECIDED, value, None, Measured(math.nan)
        ), steep
    slope, off = (Measured(sign * x.value, x.error) for x in (tangent, off))
    return OneSidedOutput(turned, "", value, slope, off), steep


def evaluate_node_side(
    around: PointContext, graph: Graph, node: int, operands: Sequence[Side]
) -> Side:
    """Evaluate one node's side, given its operands'."""
    changed, motions = any(side.changed for side in operands), [side.motion for side in operands]
    if not changed and all(motion is STILL for motion in motions):
        return around.still[node]
    data, op = around.run.values[node], BY_NAME[graph.kinds[node]]
    values, moves = [side.value for side in operands], [motion.moves for motion in motions]
    here = SidedOperation(
        around, node, op, data, around.locals[node], graph.operands[node], operands, values,
        motions, moves,
    )  # fmt: skip
    out = functions[op.name](*here.values) if changed else data
    views = companion_values(op, [*here.values, out], [float(m) for m in moves])
    special = met_nonsmooth_point(op, views, moves) if any(moves) else None
    reason = lost_operand_reason(here, views, special)
    if reason:
        side = lost_side(here, reason)._replace(turned=node in around.special)
        return side if reason == UNDECIDED or any(moves) else side._replace(value=out)
    if special is None:
        return side_by_partials(here, views, changed=changed)
    if op.gate == "blocker" and len(op.names) == 1 and math.isinf(here.values[0]):
        side = side_by_partials(here, views, changed=changed)  # an infinity is no whole number
    else:
        side = side_at_kink(here, special, views)
    return side._replace(turned=True)


def lost_side(here: SidedOperation, reason: str) -> Side:
    """Return the side of a node whose value beside the point is unknown for a reason."""
    value = math.nan if reason == UNDEFINED else here.data
    return Side(value, changed=True, lost=reason)


def lost_operand_reason(
    here: SidedOperation, views: Sequence[Sequence[float]], special: NonsmoothPoint | None
) -> str:
    """Say why a node is lost with one of its operands; empty if it is not.

    A branch that is not taken may be lost, and an undefined operand is nan, of which a
    comparison makes a number as it does everywhere.  A power too does of nan^0, which is no limit.
    """
    op, found = here.op, ""
    out = views[0][1 if op.variadic else len(op.names)]
    for position, (side, view) in enumerate(zip(here.operands, views, strict=True)):
        if not side.lost or found == UNDEFINED:
            continue
        if side.lost == UNDEFINED and out == out and op.partial(position) == "0":
            continue
        is_read = (
            op.names[position] in side_rule_names(special)
            if special is not None and position in op.branches
            else compile_local_derivative(op.name, position)(view)
        )
        if is_read or position not in op.branches:
            found = side.lost
    return found


# At a kink or a jump.


def side_at_kink(
    here: SidedOperation, special: NonsmoothPoint, views: Sequence[Sequence[float]]
) -> Side:
    """Return a node's side at a kink or a jump, by its row."""
    if here.op.variadic:
        return fold_tie(here, special, views)
    op, motions = here.op, here.motions
    given = dict(zip(rule_slots(op), map(Measured, views[0]), strict=True))
    alike = {here.around.alike[operand] for operand in here.nodes}
    given["same"] = Measured(float(len(alike) == 1))
    for name, motion in zip(op.names, motions, strict=True):
        given[f"d{name}"] = (motion.tangent or ZERO) if motion.moves else ZERO
        given[f"moves_{name}"] = Measured(float(motion.moves))
    asked = side_rule_names(special)
    if any(
        m.moves and m.tangent is None and f"d{name}" in asked
        for name, m in zip(op.names, motions, strict=True)
    ):
        if special.side or special.undecided:
            return lost_side(here, UNDECIDED)
        return make_side(here, given["out"].value, None, moves=True, error=operand_errors(here))
    side = decide_by_tangents(special, given)
    if side is None or side != side:
        return lost_side(here, UNDECIDED if side is None else UNDEFINED)
    if not special.slope:
        view = [*views[0]]
        view[len(op.names)] = side
        return side_by_partials(here, [view] * len(motions), changed=True, led=True)
    formula = template(special.slope)
    stirring = [f"d{n}" for n, m in zip(op.names, motions, strict=True) if m.moves]
    moves = template_moves(
        formula, {name: number.value for name, number in given.items()}, stirring
    )
    slope = measure_template(formula, given)
    tangent = None if math.isnan(slope.value) else slope if moves else ZERO
    return make_side(here, side, tangent, moves=moves, error=operand_errors(here))


def fold_tie(
    here: SidedOperation, special: NonsmoothPoint, views: Sequence[Sequence[float]]
) -> Side:
    """Return a variadic node's side at a tie: the rule for two operands, folded over all that tie."""
    test = compile_template(template(special.where), rule_slots(here.op))
    slope = template(special.slope)
    tied = [motion for view, motion in zip(views, here.motions, strict=True) if test(view)]
    tangent: Measured | None = None
    moves = False
    for at, motion in enumerate(dict.fromkeys(tied)):
        mine = motion.tangent if motion.moves else ZERO
        if mine is None or (at and tangent is None):
            tangent, moves = None, True
            break
        if tangent is None:
            tangent, moves = mine, motion.moves
            continue
        given = {"dx": tangent, "dy": mine}
        stirring = [n for n, m in (("dx", moves), ("dy", motion.moves)) if m]
        moves = template_moves(slope, {name: x.value for name, x in given.items()}, stirring)
        tangent = measure_template(slope, given)
    return make_side(here, views[0][1], tangent, moves=moves, error=operand_errors(here))


def operand_errors(here: SidedOperation) -> float:
    """Sum the operands' errors."""
    return sum(side.error for side in here.operands)


@cache
def side_rule_names(special: NonsmoothPoint) -> frozenset[str]:
    """Return the names that a side's texts use."""
    texts = filter(None, (special.side, special.slope, special.undecided))
    return frozenset(name for text in texts for name in template(text).inputs)


def decide_by_tangents(special: NonsmoothPoint, given: Mapping[str, Measured]) -> float | None:
    """Decide the value just beside a kink or a jump; None where the tangents do not tell.

    Tangents have errors: the answer must be the same wherever they are within these, and
    it is tried at the ends, at 0 and where two are equal.
    """
    names = [n for n in side_rule_names(special) if n.startswith("d") and given[n].error]
    tangents = [x.value for name, x in given.items() if name.startswith("d")]
    choices = []
    for name in names:
        t, error = given[name]
        inner = [x for x in (0.0, *tangents) if abs(x - t) <= error]
        choices.append({t, t - error, t + error, *inner})
    plain = {name: number.value for name, number in given.items()}
    slots_ = tuple(plain)
    found = set()
    for chosen in product(*choices):
        values = list({**plain, **dict(zip(names, chosen, strict=True))}.values())
        if special.undecided and compile_template(template(special.undecided), slots_)(values):
            return None
        if special.side:
            found.add(compile_template(template(special.side), slots_)(values))
    if not special.side:
        return plain["out"]
    return found.pop() if len(found) == 1 else None


# Elsewhere.


def side_by_partials(
    here: SidedOperation, views: Sequence[Sequence[float]], *, changed: bool, led: bool = False
) -> Side:
    """Return a node's side by its row's partials; ``led``: its value in the views is a jump's."""
    out = views[0][1] if here.op.variadic else views[0][len(here.op.names)]
    own = not changed and here.locals is not None
    terms, passing, told = moving_local_derivatives(here, views, own=own)
    moves = bool(passing)
    inside: bool | None = True
    if not led and (changed or any(here.moves)):
        inside = is_inside_domain(here)
        if inside and moves and math.isinf(out):
            stays = {one.motion.moves for one in here.operands if math.isinf(one.value)} == {False}
            out, moves = pole_limit(here, out), not stays  # an infinity that stays made it: x + inf
    if math.isfinite(out) and is_indeterminate(here, views, passing):
        inside = None
    if not inside or out != out:
        gone = inside is False or any(side.lost == UNDEFINED for side in here.operands)
        return lost_side(here, UNDEFINED if gone else UNDECIDED)
    tangent = None if moves else ZERO
    if moves and told and math.isfinite(out):
        total = inner_product((local, m.tangent or ZERO) for local, m in terms if m.moves)
        tangent = None if math.isnan(total.value) else total
    if not own or tangent is None or math.isinf(out):
        error = value_error(here, out) if changed else 0.0
        return make_side(here, out, tangent, moves=moves, error=error)
    if all(motion.off == ZERO and motion.moves for _, motion in terms):
        return Side(here.data, Motion(moves, tangent, tangent, ZERO) if terms else STILL)
    swept = inner_product((local, motion.swept) for local, motion in terms)
    off = inner_product((local, motion.off) for local, motion in terms)
    return Side(here.data, Motion(moves, tangent, swept, off))


def moving_local_derivatives(
    here: SidedOperation, views: Sequence[Sequence[float]], *, own: bool
) -> tuple[list[tuple[Measured, Motion]], set[int], bool]:
    """Local derivatives with the motions that they carry on, the positions through which movement passes,
    and whether the tangents tell what these add.

    ``own``: the local derivatives are the sweep's.
    """
    op, moving = here.op, here.moves
    terms: list[tuple[Measured, Motion]] = []
    passing, told = set(), True
    for position, (motion, view) in enumerate(zip(here.motions, views, strict=True)):
        flat = op.partial(position) == "0"
        if motion is STILL or (flat and not passes_movement(op, position, view, moving)):
            continue
        found = here.locals[position] if own and here.locals and not flat else None
        local = compile_local_derivative(op.name, position)(view) if found is None else found
        if local == 0 and motion.moves and not passes_movement(op, position, view, moving):
            continue
        if local == 0 and position in op.branches:
            continue
        by = Measured(
            local, local_derivative_error(op, position, local) + rule_error(here, position, view)
        )
        terms.append((by, motion))
        if motion.moves:
            passing.add(position)
            told = told and is_contribution_known(by, motion)
    return terms, passing, told


def is_contribution_known(local: Measured, motion: Motion) -> bool:
    """Whether an operand's contribution is known: not if it may be 0 times infinity."""
    tangent = motion.tangent
    if tangent is None or math.isnan(local.value):
        return False
    is_steep, may_be_flat = math.isinf(tangent.value), abs(local.value) <= local.error
    is_moving = math.isfinite(local.value) or abs(tangent.value) > tangent.error
    return is_moving and not (is_steep and may_be_flat)


def rule_error(here: SidedOperation, position: int, view: Sequence[float]) -> float:
    """Bound the effect of the data's rounding on a local derivative, where that matters."""
    noise = here.around.noise
    if not noise:
        return 0.0
    seen = [here.nodes[position]] if here.op.variadic else here.nodes
    return local_derivative_noise(
        here.op, position, view, [noise[node] for node in (*seen, here.node)]
    )


def value_error(here: SidedOperation, out: float) -> float:
    """Bound the effect of operands' errors on a limit's difference from the node's data.

    Values are taken as computed: an error makes nothing jump.
    """
    op, seen, error = here.op, here.values, 0.0
    if any(special.code == "jump" for special in op.special):
        return 0.0
    for position, side in enumerate(here.operands):
        if side.error and op.partial(position) != "0":
            ends = (side.value - side.error, side.value + side.error)
            tried = [[*seen[:position], end, *seen[position + 1 :]] for end in ends]
            apart = [abs(functions[op.name](*given) - out) for given in tried]
            error += max((x for x in apart if math.isfinite(x)), default=0.0)
    return error


def make_side(
    here: SidedOperation, out: float, tangent: Measured | None, *, moves: bool, error: float
) -> Side:
    """Make a node's side from its limit and tangent, with the distance from the sweep's tangent."""
    op, data, changed = here.op, here.data, False
    if out != data:
        before = [here.around.run.values[operand] for operand in here.nodes]
        for value, given in ((out, here.values), (data, before)):
            if math.isfinite(value):
                error += max(operation_rounding(value, given, op.value_ulp), op.value_abs)
        changed = math.isinf(out) or not abs(out - data) <= error
        if not changed and error > SURE * max(map(abs, (out, data, *here.values))):
            return lost_side(here, UNDECIDED)  # as beside a pole of tan
    side = Side(out, changed=True, error=error) if changed else Side(data)
    swept = swept_tangent(here)
    if tangent is None:
        return side._replace(motion=Motion(True, None, swept, Measured(math.nan)))
    if moves or swept != ZERO or tangent != ZERO:
        off = inner_product(((Measured(1.0), tangent), (Measured(-1.0), swept)))
        return side._replace(motion=Motion(moves, tangent, swept, off))
    return side


def swept_tangent(here: SidedOperation) -> Measured:
    """Return the tangent implied by the reverse sweep; 0 where no gradient went on."""
    terms = []
    for position, (motion, local) in enumerate(zip(here.motions, here.locals or (), strict=False)):
        gate = here.op.partial(position) == "0" or position in here.op.branches
        if local is not None and motion.swept != ZERO and (local or not gate):
            terms.append(
                (Measured(local, local_derivative_error(here.op, position, local)), motion.swept)
            )
    return inner_product(terms)


def is_inside_domain(here: SidedOperation) -> bool | None:
    """Whether a node is defined beside the point; None where only higher orders would tell.

    The row's domain is tested one double further along each tangent.
    """
    if not here.op.domain:
        return True
    tests = [here.op.domain, *(where for where, _ in here.op.poles)]
    found = {
        any(condition_holds(test, here.op.names, place) for test in tests)
        for place in next_operands(here)
    }
    return found.pop() if len(found) == 1 else None


def is_indeterminate(
    here: SidedOperation, views: Sequence[Sequence[float]], passing: Collection[int]
) -> bool:
    """Whether an infinity and another moving operand compete in a node, finite only for exact operands.

    Such are inf^0 and 1^inf, which are 1.
    """
    for at, value in enumerate(here.values):
        if math.isinf(value) and any(other != at for other in passing):
            moving = [*here.moves]
            moving[at] = True
            if at in passing or passes_movement(here.op, at, views[at], moving):
                return True
    return False


def pole_limit(here: SidedOperation, out: float) -> float:
    """Return the limit of a node that moves and is infinite; nan if unknown, or made by overflow.

    Beside a pole the sign is that of the value one double further.
    """
    if not at_pole(here.op, here.values):
        return math.nan if all(map(math.isfinite, here.values)) else out
    signs = {math.copysign(1.0, functions[here.op.name](*place)) for place in next_operands(here)}
    return math.inf * signs.pop() if len(signs) == 1 else math.nan


def next_operands(here: SidedOperation) -> list[tuple[float, ...]]:
    """List where a node's operands may be, one double further along their tangents.

    On the way to an infinity are the greatest double, and numbers that are not whole.
    """
    found: list[list[float]] = []
    for side in here.operands:
        x, tangent = side.value, side.motion.tangent
        if math.isnan(x) or not side.motion.moves:
            found.append(sorted({x - side.error, x, x + side.error} if side.error else {x}))
        elif math.isinf(x):
            found.append([math.nextafter(x, 0.0), math.copysign(NOT_WHOLE, x)])
        elif tangent is None or abs(tangent.value) <= tangent.error:
            found.append([math.nextafter(x, -math.inf), x, math.nextafter(x, math.inf)])
        else:
            found.append([math.nextafter(x, math.copysign(math.inf, tangent.value))])
    return list(product(*found))


# Leading terms: a node is its limit plus c*t^p + o(t^p), of the way t along the input and a real p, from 0
# up if the limit is finite.  So sqrt(t^4) gains t^2, and cbrt(t)^3 gains t.  That tells derivatives where a
# tangent is infinite on the way, or 0 times infinity.

DEEPEST_SERIES = 2
"""The depth to which definitions of rows are followed."""
SAME_POWER = 1e-9
"""Powers nearer to each other than this are the same, up to rounding."""


class Term(NamedTuple):
    """A limit and its leading term, ``gain*t^power``; a power of ``inf`` means no change.

    ``doubt`` is the limit's error bound.  Where nothing is known the limit is nan; where it is
    infinite, the gain is all there is.
    """

    limit: float
    gain: Measured = ZERO
    power: float = math.inf
    doubt: float = 0.0


LOST = Term(math.nan, power=0.0)


def leading_slope(run: SweptRun, value: float, name: str, sign: float) -> Measured | None:
    """Find the derivative towards one side, where leading terms tell it and lead to the ``value``."""
    doubts = data_noise(run)
    given = {one: Term(x) for one, x in run.inputs.items()}
    given[name] = Term(run.inputs[name], Measured(sign), 1.0)

    def step(graph: Graph, node: int, operands: Sequence[Term]) -> Term:
        op = BY_NAME[graph.kinds[node]]
        zeros = [not (x.limit or x.doubt) for x in operands]
        by_first = op.powers or op.gate == "power"
        is_exact = any(zeros) if op.powers == (1, 1) else all(zeros[:1] if by_first else zeros)
        found = row_term(op, operands, DEEPEST_SERIES)
        # Where the data are nan, limits have doubts of their own.
        here = apply_measured(graph, node, [Measured(x.limit, x.doubt) for x in operands]).error
        doubt = max(found.doubt, here, doubts[node])
        return found._replace(doubt=0.0 if is_exact and not found.limit else doubt)

    algebra = Algebra(lambda graph, node: Term(template_number(graph, node)), step)
    limit, gain, power, _ = interpret(run.graph, algebra, given)[run.graph.output]
    if limit != value or (power < 1.0 and abs(gain.value) <= gain.error):
        return None
    if power < 1.0:
        return Measured(sign * math.copysign(math.inf, gain.value))
    return Measured(sign * gain.value, gain.error) if power == 1.0 else ZERO


def row_term(op: Op, operands: Sequence[Term], depth: int) -> Term:
    """Return a row's term from its operands'; definitions are followed ``depth`` deep."""
    limits, moves = [x.limit for x in operands], [x.power < math.inf for x in operands]
    out = functions[op.name](*limits) if op.equation is None else math.nan
    if not any(moves) or any(map(math.isnan, limits)):
        return LOST if any(moves) else Term(out)
    if op.powers == (1, 1):
        return product_term(*operands)
    is_exact = not any(x.doubt for x in operands)
    if op.powers and is_exact and not limits[1]:
        return product_term(operands[0], power_term(operands[1], -1.0))
    if op.gate == "power" and not limits[0] and not moves[1]:
        return power_term(operands[0], limits[1]) if is_exact else LOST
    views = companion_values(op, [*limits, out], [float(m) for m in moves])
    special = met_nonsmooth_point(op, views, moves)
    positions = [0 if op.variadic else at for at in range(len(operands))]
    locals_ = [
        compile_local_derivative(op.name, at)(view) if m else 0.0
        for at, view, m in zip(positions, views, moves, strict=True)
    ]
    if special is None and all(map(math.isfinite, [out, *locals_])):
        doubts = [x.doubt for x in operands[: len(op.names)]]
        slopes = [
            Measured(
                x, local_derivative_error(op, at, x) + local_derivative_noise(op, at, view, doubts)
            )
            for at, view, x in zip(positions, views, locals_, strict=True)
        ]
        terms = [(slope, x) for slope, x, m in zip(slopes, operands, moves, strict=True) if m]
        power = min(x.power for _, x in terms)
        return Term(
            out, inner_product((slope, x.gain) for slope, x in terms if x.power == power), power
        )
    if not (is_exact and math.isfinite(out)) or op.variadic:
        return LOST
    if special is not None and len(operands) == 1:
        return term_at_kink(op, special, out, operands[0], views[0])
    if not op.definition or not depth:
        return LOST
    graph = template(op.definition)
    if not {"where", *COMPARISONS}.isdisjoint(graph.kinds):
        return LOST  # a case may hold at the point alone
    algebra = Algebra(
        lambda graph, node: Term(template_number(graph, node)),
        lambda graph, node, seen: row_term(BY_NAME[graph.kinds[node]], seen, depth - 1),
    )
    return interpret(graph, algebra, dict(zip(op.names, operands, strict=True)))[graph.output]


def product_term(one: Term, other: Term) -> Term:
    """Return the term of a product; a factor that stays 0 makes it 0."""
    terms = [
        (Measured(x.limit, x.doubt), y.gain, y.power)
        for x, y in ((one, other), (other, one))
        if x.limit and math.isfinite(x.limit)
    ]
    terms.append((one.gain, other.gain, one.power + other.power))
    power = min(p for _, _, p in terms)
    gain = inner_product((x, gain) for x, gain, p in terms if p == power)
    if math.isfinite(limit := one.limit * other.limit) or LOST in (one, other):
        return Term(limit, gain, power)
    if abs(power) < SAME_POWER:
        return Term(gain.value, ZERO, 0.0, gain.error)
    return Term(0.0 if power > 0 else math.inf, gain, power)


def power_term(base: Term, exponent: float) -> Term:
    """Return the term of a constant power, not 0, of an operand with limit 0."""
    value, error = base.gain
    is_whole, is_zero = exponent.is_integer(), abs(value) <= error
    is_known = is_whole and not error and exponent > 0 if is_zero else is_whole or value > 0
    if not (exponent and is_known):
        return LOST
    gain = value**exponent
    error = 2 * abs(exponent * gain / value) * error if value else 0.0
    limit = 0.0 if exponent > 0 else math.inf
    return Term(limit, Measured(gain, error + math.ulp(gain)), base.power * exponent)


def term_at_kink(
    op: Op, special: NonsmoothPoint, out: float, x: Term, view: Sequence[float]
) -> Term:
    """Return the term of a one-operand operation at its kink or jump."""
    value, error = x.gain
    if abs(value) <= error:
        return Term(out, ZERO, x.power) if special.code == "kink" and not error else LOST
    given = [*view, value, 1.0, 1.0]
    names = (*rule_slots(op), f"d{op.names[0]}", f"moves_{op.names[0]}", "same")
    if special.side:
        return Term(compile_template(template(special.side), names)(given))
    slope = compile_template(template(special.slope), names)(given)
    return Term(out, Measured(slope, 2 * error), x.power)
