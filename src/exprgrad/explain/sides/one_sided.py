"""What a formula does just beside a point, on one side: a forward sweep of one-sided values and tangents.

One input moves away from the point.  Every node that depends on it has a value there, in the limit, a
tangent (its derivative towards that side), and may not move at all.  At kinks and jumps the op table says
what comes of these (``side``, ``slope`` and ``undecided`` of ``Special``), elsewhere its partials do.

Beside the tangent runs what the reverse sweep makes of it, with its conventions, and how far the two are
apart.  That distance is carried by itself: it is exactly 0 until a convention is wrong, so that equality is
never asked of two numbers that were rounded on different ways.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from itertools import product
from typing import Any, NamedTuple

from exprgrad.derive.rules import slots, template
from exprgrad.explain.sides.around import Around, error_of
from exprgrad.explain.sides.movement import local_rule, met, stirs, stirs_edge
from exprgrad.explain.sides.noise import noise, noise_of
from exprgrad.explain.sides.running_error import (
    SURE,
    ZERO,
    Measured,
    inner,
    measured,
    minus,
    rounded,
)
from exprgrad.explain.sides.turning import decide, names_in
from exprgrad.graph.graph import dependencies, dependents
from exprgrad.graph.ops import BY_NAME, Op, Special
from exprgrad.run.numbers.primitives import functions
from exprgrad.run.numbers.sweeps import Adjoints
from exprgrad.run.numbers.templates import at_pole, compile_template, holds, sides
from exprgrad.run.result import Run

__all__ = ["UNDEFINED", "Towards", "towards"]

UNDECIDED, UNDEFINED = "undecided", "undefined"
"""What else a node may be beside the point: only higher orders would tell, or there is no value."""
NOT_WHOLE = 2.0**52 - 0.5
"""The greatest double that is no whole number."""


class Motion(NamedTuple):
    """How a node moves: its ``tangent`` (None: undecided), the sweep's, and how far they are apart."""

    moves: bool
    tangent: Measured | None
    swept: Measured
    off: Measured


class Towards(NamedTuple):
    """What the output does beside the point: its limit and derivative, for the input's growth.

    ``off`` is how much more than the sweep's number ``slope`` is.  ``state`` says why a number is None;
    ``turned``, whether any kink or jump was met on the way.
    """

    turned: bool
    state: str
    value: float | None
    slope: Measured | None
    off: Measured


def towards(run: Run, name: str, sign: float, around: Around) -> Towards:
    """The output beside the point: to the right of an input's value (sign 1), or to the left (−1).

    Where a tangent is infinite, the answer must be the same for whatever rounding did to the data.
    """
    side = Beside(run, name, sign, around)
    found = outcome(run, name, sign, side)
    if found.slope is None or not any(is_steep(motion) for motion in side.motions.values()):
        return found
    noisy = outcome(run, name, sign, Beside(run, name, sign, around, noise(run)))
    if noisy.slope is not None and noisy.slope.value == found.slope.value:
        return found
    return found._replace(state=UNDECIDED, slope=None, off=Measured(math.nan))


def outcome(run: Run, name: str, sign: float, side: Beside) -> Towards:
    """What one side comes to."""
    graph = run.graph
    moving = dependents(graph, [graph.inputs[name]])
    needed = dependencies(graph, graph.output)
    for node in range(graph.inputs[name] + 1, graph.output + 1):
        if moving[node] and needed[node]:
            side.visit(node)
    output, met_any = graph.output, side.turned
    if output in side.lost:
        return Towards(met_any, side.lost[output], None, None, Measured(math.nan))
    value = side.values.get(output, Measured(run.value)).value
    motion = side.motions.get(output, STILL)
    if motion.tangent is None or math.isinf(value):
        return Towards(met_any, UNDECIDED, value, None, Measured(math.nan))
    slope, off = (Measured(sign * x.value, x.error) for x in (motion.tangent, motion.off))
    return Towards(met_any, "", value, slope, off)


STILL = Motion(False, ZERO, ZERO, ZERO)


class Beside:
    """The sweep's state, by node: what differs from the run.

    ``values``   one-sided values that are not the node's data, and what rounding may add to the difference
    ``motions``  how nodes move; a node that is not there stays, for the sweep too
    ``lost``     the nodes whose value there is not known, with the reason
    ``noise``    by node: what rounding may have done to its data, where that is to be heeded
    """

    def __init__(
        self, run: Run, name: str, sign: float, around: Around, noise: Sequence[float] = ()
    ) -> None:
        assert isinstance(run.adjoints, Adjoints)
        self.graph = run.graph
        self.alike, self.smooth = (around.alike, {}) if noise else around
        self.noise = noise
        self.data = run.values
        self.locals: Sequence[Any] = run.adjoints.locals
        self.special = frozenset(run.adjoints.special)
        self.turned = False
        self.values: dict[int, Measured] = {}
        self.lost: dict[int, str] = {}
        along = Measured(sign)
        self.motions = {run.graph.inputs[name]: Motion(True, along, along, ZERO)}

    def visit(self, node: int) -> None:
        """One node, its operands being known."""
        operands = self.graph.operands[node]
        if not any(o in self.motions or o in self.values or o in self.lost for o in operands):
            return
        if node in self.smooth and not any(o in self.values or o in self.lost for o in operands):
            self.glide(node)
            return
        op = BY_NAME[self.graph.kinds[node]]
        motions = [self.motions.get(operand, STILL) for operand in operands]
        moves = [motion.moves for motion in motions]
        seen = [self.value(operand) for operand in operands]
        changed = any(operand in self.values or operand in self.lost for operand in operands)
        out = functions[op.name](*seen) if changed else self.data[node]
        views = sides(op, [*seen, out], [float(m) for m in moves])
        special = met(op, views, moves) if any(moves) else None
        reason = self.lost_by(op, node, views, special)
        if reason:
            self.turned = self.turned or node in self.special
            self.lost[node] = reason
            if reason == UNDEFINED and not any(moves):
                self.values[node] = Measured(out)
        elif special is not None:
            self.turn(op, node, special, views, motions)
        else:
            self.go_on(op, node, changed, views, motions)

    def glide(self, node: int) -> None:
        """A smooth node whose operands have the data that they have at the point."""
        motions = self.motions
        terms = [(local, motions[o]) for o, local in self.smooth[node] if o in motions]
        if not terms:
            return
        tangents = [(local, motion.tangent) for local, motion in terms if motion.tangent]
        tangent = inner(tangents) if len(tangents) == len(terms) else None
        if tangent is not None and math.isnan(tangent.value):
            tangent = None
        if tangent is not None and all(motion.off is ZERO and motion.moves for _, motion in terms):
            motions[node] = Motion(True, tangent, tangent, ZERO)
            return
        swept = inner((local, motion.swept) for local, motion in terms)
        off = inner((local, motion.off) for local, motion in terms)
        motions[node] = Motion(any(m.moves for _, m in terms), tangent, swept, off)

    def value(self, node: int) -> float:
        """A node's one-sided value; where it is not defined nan, or what IEEE makes of nan."""
        if node in self.values:
            return self.values[node].value
        return math.nan if self.lost.get(node) == UNDEFINED else self.data[node]

    def lost_by(
        self, op: Op, node: int, views: Sequence[Sequence[float]], special: Special | None
    ) -> str:
        """Why a node is lost with one of its operands.

        A branch that is not taken may be lost, and an operand that is not defined is nan, of which a
        comparison makes a number as it does everywhere.  A power too does of nan^0, which is no limit.
        """
        out, reasons = views[0][1 if op.variadic else len(op.names)], ""
        for position, operand in enumerate(self.graph.operands[node]):
            reason = self.lost.get(operand)
            if reason is None or reasons == UNDEFINED:
                continue
            if reason == UNDEFINED and out == out and op.partial(position) == "0":
                continue
            if position not in op.branches:
                reasons = reason
            elif special is not None:
                if op.names[position] in names_in(special):
                    reasons = reason
            elif local_rule(op.name, position)(views[position]):
                reasons = reason
        return reasons

    # At a kink or a jump.

    def turn(
        self,
        op: Op,
        node: int,
        special: Special,
        views: Sequence[Sequence[float]],
        motions: Sequence[Motion],
    ) -> None:
        """A node that meets a kink or a jump: its row says what is beside."""
        self.turned = True
        if op.variadic:
            self.fold(op, node, special, views, motions)
            return
        given = dict(zip(slots(op), map(Measured, views[0]), strict=True))
        operands = self.graph.operands[node]
        given["same"] = Measured(float(len({self.alike[operand] for operand in operands}) == 1))
        unknown = set()
        for name, motion in zip(op.names, motions, strict=True):
            if motion.moves and motion.tangent is None:
                unknown.add(f"d{name}")
            given[f"d{name}"] = (motion.tangent or ZERO) if motion.moves else ZERO
            given[f"moves_{name}"] = Measured(float(motion.moves))
        passed = sum(self.values[o].error for o in operands if o in self.values)
        if unknown & names_in(special):
            if special.side or special.undecided:
                self.lost[node] = UNDECIDED
            else:
                out = given["out"].value
                self.settle(op, node, out, None, motions, moves=True, error=passed)
            return
        side = decide(special, given)
        if side is None or side != side:
            self.lost[node] = UNDECIDED if side is None else UNDEFINED
            return
        if not special.slope:
            view = [*views[0]]
            view[len(op.names)] = side
            self.go_on(op, node, True, [view] * len(motions), motions, side)
            return
        formula = template(special.slope)
        stirring = [f"d{n}" for n, m in zip(op.names, motions, strict=True) if m.moves]
        moves = stirs(formula, {name: number.value for name, number in given.items()}, stirring)
        slope = measured(formula, given)
        tangent = None if math.isnan(slope.value) else slope if moves else ZERO
        self.settle(op, node, side, tangent, motions, moves=moves, error=passed)

    def fold(
        self,
        op: Op,
        node: int,
        special: Special,
        views: Sequence[Sequence[float]],
        motions: Sequence[Motion],
    ) -> None:
        """A variadic node at a tie: what is said of two operands, over all that tie."""
        test = compile_template(template(special.where), slots(op))
        slope = template(special.slope)
        operands = self.graph.operands[node]
        passed = sum(self.values[o].error for o in operands if o in self.values)
        tied = [motion for view, motion in zip(views, motions, strict=True) if test(view)]
        out = views[0][1]
        tangent: Measured | None = None
        moves = False
        for number, motion in enumerate(tied):
            mine = motion.tangent if motion.moves else ZERO
            if mine is None or (number and tangent is None):
                tangent, moves = None, True
                break
            if tangent is None:
                tangent, moves = mine, motion.moves
                continue
            given = {"dx": tangent, "dy": mine}
            stirring = [n for n, m in (("dx", moves), ("dy", motion.moves)) if m]
            moves = stirs(slope, {name: x.value for name, x in given.items()}, stirring)
            tangent = measured(slope, given)
        self.settle(op, node, out, tangent, motions, moves=moves, error=passed)

    # Elsewhere.

    def go_on(
        self,
        op: Op,
        node: int,
        changed: bool,
        views: Sequence[Sequence[float]],
        motions: Sequence[Motion],
        out: float | None = None,
    ) -> None:
        """A node where its row's partials hold; ``out`` is its value, where a jump led to it."""
        led = out is not None
        if out is None:
            out = views[0][1] if op.variadic else views[0][len(op.names)]
        swept = self.locals[node]
        own = not changed and swept is not None
        moving = [motion.moves for motion in motions]
        terms: list[tuple[Measured, Motion]] = []
        passing, known = set(), True
        for position, motion in enumerate(motions):
            view, flat = views[position], op.partial(position) == "0"
            if motion is STILL or (flat and not stirs_edge(op, position, view, moving)):
                continue
            local = swept[position] if own and not flat else local_rule(op.name, position)(view)
            if local == 0 and motion.moves and not stirs_edge(op, position, view, moving):
                continue
            if local == 0 and position in op.branches:
                continue
            by = Measured(local, error_of(op, position, local) + self.error(node, position, view))
            terms.append((by, motion))
            if motion.moves:
                passing.add(position)
                known = known and is_known(by, motion)
        moves = bool(passing)
        inside = self.inside(op, node, motions) if (any(moving) or changed) and not led else True
        if inside is True and moves and math.isinf(out) and not led:
            out = self.pole(op, node, out, motions)
            moves = not self.is_endless(node, moving)
        if math.isfinite(out) and self.is_open(op, node, views, moving, passing):
            inside = None
        if inside is not True or out != out:
            gone = any(self.lost.get(o) == UNDEFINED for o in self.graph.operands[node])
            self.lost[node] = UNDEFINED if inside is False or gone else UNDECIDED
            return
        tangent = None
        if not moves:
            tangent = ZERO
        elif known and math.isfinite(out):
            tangent = inner((local, m.tangent or ZERO) for local, m in terms if m.moves)
            if math.isnan(tangent.value):
                tangent = None
        if not own or tangent is None or math.isinf(out):
            error = self.value_error(op, node, out) if changed else 0.0
            self.settle(op, node, out, tangent, motions, moves=moves, error=error)
        elif all(m.off == ZERO and m.moves for _, m in terms):
            if terms:
                self.motions[node] = Motion(moves, tangent, tangent, ZERO)
        else:
            by_sweep = inner((local, m.swept) for local, m in terms)
            off = inner((local, m.off) for local, m in terms)
            self.motions[node] = Motion(moves, tangent, by_sweep, off)

    def error(self, node: int, position: int, view: Sequence[float]) -> float:
        """What rounding of the data may have done to a local derivative, where that is to be heeded."""
        if not self.noise:
            return 0.0
        op, operands = BY_NAME[self.graph.kinds[node]], self.graph.operands[node]
        seen = [operands[position]] if op.variadic else operands
        return noise_of(op, position, view, [self.noise[o] for o in (*seen, node)])

    def value_error(self, op: Op, node: int, out: float) -> float:
        """What its operands' errors do to a one-sided value's difference from the node's data.

        Values are taken as they were computed: an error makes nothing jump.
        """
        if any(special.code == "jump" for special in op.special):
            return 0.0
        operands = self.graph.operands[node]
        seen = [self.value(operand) for operand in operands]
        passed = 0.0
        for position, operand in enumerate(operands):
            error = self.values[operand].error if operand in self.values else 0.0
            if error and op.partial(position) != "0":
                ends = (seen[position] - error, seen[position] + error)
                tried = [[*seen[:position], end, *seen[position + 1 :]] for end in ends]
                apart = [abs(functions[op.name](*given) - out) for given in tried]
                passed += max((x for x in apart if math.isfinite(x)), default=0.0)
        return passed

    def settle(
        self,
        op: Op,
        node: int,
        out: float,
        tangent: Measured | None,
        motions: Sequence[Motion],
        *,
        moves: bool,
        error: float = 0.0,
    ) -> None:
        """Note a node's value and motion, and how far its tangent is from the sweep's."""
        data = self.data[node]
        if out != data:
            numbers = [self.value(operand) for operand in self.graph.operands[node]]
            before = [self.data[operand] for operand in self.graph.operands[node]]
            for value, given in ((out, numbers), (data, before)):
                if math.isfinite(value):
                    error += rounded(op, value, given)
            if math.isinf(out) or not abs(out - data) <= error:
                self.values[node] = Measured(out, error)
            elif error > SURE * max(map(abs, (out, data, *numbers))):  # as beside a pole of tan
                self.lost[node] = UNDECIDED
                return
        swept = self.sweep(op, node, motions)
        if tangent is None:
            self.motions[node] = Motion(True, None, swept, Measured(math.nan))
        elif moves or swept != ZERO or tangent != ZERO:
            off = minus(tangent, swept)
            self.motions[node] = Motion(moves, tangent, swept, off)

    def sweep(self, op: Op, node: int, motions: Sequence[Motion]) -> Measured:
        """The tangent that the reverse sweep stands for; 0 where no gradient went on."""
        locals_ = self.locals[node]
        if locals_ is None:
            return ZERO
        terms = []
        for position, motion in enumerate(motions):
            local = locals_[position]
            gate = op.partial(position) == "0" or position in op.branches
            if local is None or motion.swept == ZERO or (local == 0 and gate):
                continue
            terms.append((Measured(local, error_of(op, position, local)), motion.swept))
        return inner(terms)

    def inside(self, op: Op, node: int, motions: Sequence[Motion]) -> bool | None:
        """Whether a node is defined beside the point; None where only higher orders would tell.

        The row's domain is asked one double further along each tangent.
        """
        if not op.domain:
            return True
        tests = [op.domain, *(where for where, _ in op.poles)]
        found = {
            any(holds(test, op.names, place) for test in tests)
            for place in self.places(node, motions)
        }
        return found.pop() if len(found) == 1 else None

    def is_open(
        self,
        op: Op,
        node: int,
        views: Sequence[Sequence[float]],
        moving: Sequence[bool],
        passing: Collection[int],
    ) -> bool:
        """Whether an infinity and what else moves pull at a node, which is finite for exact operands only.

        So are inf^0 and 1^inf, which are 1.
        """
        for at, operand in enumerate(self.graph.operands[node]):
            if math.isinf(self.value(operand)) and any(other != at for other in passing):
                all_moving = [*moving[:at], True, *moving[at + 1 :]]
                if at in passing or stirs_edge(op, at, views[at], all_moving):
                    return True
        return False

    def is_endless(self, node: int, moving: Sequence[bool]) -> bool:
        """Whether an infinity is none that is only a limit: one that stays made it, as in x + inf."""
        operands = zip(self.graph.operands[node], moving, strict=True)
        return {moves for operand, moves in operands if math.isinf(self.value(operand))} == {False}

    def pole(self, op: Op, node: int, out: float, motions: Sequence[Motion]) -> float:
        """The limit of a node that moves and is infinite; nan where it is not known, or overflow made it.

        Beside a pole the sign is that of the value one double further.
        """
        seen = [self.value(operand) for operand in self.graph.operands[node]]
        if not at_pole(op, seen):
            return math.nan if all(map(math.isfinite, seen)) else out
        signs = {math.copysign(1.0, functions[op.name](*p)) for p in self.places(node, motions)}
        return math.inf * signs.pop() if len(signs) == 1 else math.nan

    def places(self, node: int, motions: Sequence[Motion]) -> list[tuple[float, ...]]:
        """Where a node's operands may be, one double further along their tangents.

        On the way to an infinity are the greatest double, and numbers that are not whole.
        """
        places = []
        for operand, motion in zip(self.graph.operands[node], motions, strict=True):
            x, tangent = self.value(operand), motion.tangent
            if math.isnan(x) or not motion.moves:
                error = self.values.get(operand, ZERO).error
                places.append(sorted({x - error, x, x + error} if error else {x}))
            elif math.isinf(x):
                places.append([math.nextafter(x, 0.0), math.copysign(NOT_WHOLE, x)])
            elif tangent is None or abs(tangent.value) <= tangent.error:
                places.append([math.nextafter(x, -math.inf), x, math.nextafter(x, math.inf)])
            else:
                places.append([math.nextafter(x, math.copysign(math.inf, tangent.value))])
        return list(product(*places))


def is_known(local: Measured, motion: Motion) -> bool:
    """Whether an operand's tangent tells what it adds: what may be 0 times an infinity does not."""
    tangent = motion.tangent
    if tangent is None or math.isnan(local.value):
        return False
    if math.isinf(tangent.value) and abs(local.value) <= local.error:
        return False
    return math.isfinite(local.value) or abs(tangent.value) > tangent.error


def is_steep(motion: Motion) -> bool:
    """Whether a tangent is infinite."""
    return motion.tangent is not None and math.isinf(motion.tangent.value)
