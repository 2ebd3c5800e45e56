"""Enclosures hold the truth: mpmath's, for every row alone and for generated expressions.

The truth of a derivative is a chain of difference quotients, one for each operation, each with a bound on
its own error; nothing here reads a rule.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise, product
from random import Random
from typing import Any, NamedTuple

import pytest

from amounts import many
from exprgrad.derive.rules import rule_slots, template
from exprgrad.explain.digits.judgements import enclose_outputs, judge_number
from exprgrad.explain.digits.trust import describe_number, measure_trust
from exprgrad.graph.graph import Graph, dependent_flags
from exprgrad.graph.ops import BY_NAME, OPS, Op
from exprgrad.language.read.parse import parse_text
from exprgrad.run.balls.balls import (
    Ball,
    apply_to_balls,
    decide_truth,
    enclose_nodes,
    exact_ball,
    has_own_ball,
    import_flint,
    is_infinite,
    is_known,
    middle_text,
    undefined_ball,
    whole_line,
    working_precision,
)
from exprgrad.run.balls.sweep import sweep_balls
from exprgrad.run.numbers.sweeps import forward_numbers, reverse_sweep
from oracles import (
    Real,
    evaluate,
    graph_of,
    holds,
    is_special,
    mp,
    mpf,
    partial_by_mpmath,
    reference,
    value_by_mpmath,
)
from strategies import CRITICAL, FREQUENT, double, points, tree
from together import together

PRECISION = 6000
"""The bits that mpmath carries."""
FEWER = 2000
"""Enough where no number is beyond 2^500 or below 2^-500; most of the time goes into bits."""
NO_IDEA = mp.ldexp(1, 10 * PRECISION)
"""The error of what is not known."""
STEP = Counter({"mod": 2300, "fresnels": 2300, "fresnelc": 2300})
"""Of the difference quotients: 2^-400 of the least operand; so small that it spans no jump, and no wave."""


def inside(true: Real, error: Real, found: Ball) -> bool:
    """Whether a ball holds a number that is known up to an error."""
    if error > mp.sqrt(NO_IDEA):
        return True
    if found.is_nan():
        return bool(mp.isnan(true))
    if is_infinite(found):
        return bool(mp.isinf(true)) and (true > 0) == (float(found) > 0)
    if not found.is_finite():
        return True
    if not mp.isfinite(true):
        return False
    middle, radius, exponent = (int(part) for part in found.mid_rad_10exp(80))
    scale = mpf(10) ** exponent
    return bool((middle - radius) * scale - error <= true <= (middle + radius) * scale + error)


def is_moderate(found: Ball, bits: int = PRECISION) -> bool:
    """Whether a true number is finite and so many bits carry it, and its square, through a formula."""
    if not found.is_finite():
        return False
    edge = exact_ball(2) ** (bits // 4)
    return bool(found.is_zero()) or (bool(1 / edge < abs(found)) and bool(abs(found) < edge))


class Slope(NamedTuple):
    """A number and how far it may be from the truth."""

    value: Real
    error: Real

    def times(self, other: Slope) -> Slope:
        """The product."""
        error = abs(self.value) * other.error + abs(other.value) * self.error
        return Slope(self.value * other.value, error + self.error * other.error)


def step_of(name: str, args: Sequence[Real]) -> Real:
    """How far from its operands an operation's quotient is taken."""
    return mp.ldexp(min([mpf(1), *(abs(x) for x in args if x)]), -(STEP[name] or 400))


def quotient(name: str, args: Sequence[Real], position: int) -> Slope:
    """A central difference, with what rounding and truncation may have done to it.

    Truncation is of the order of the step's square, so half the step leaves a quarter of it; a step across
    a jump gives quotients that have nothing to do with each other.
    """
    step = step_of(name, args)

    def at(shift: Real) -> Real:
        return reference(name, *args[:position], args[position] + shift, *args[position + 1 :])

    left, right = at(-step), at(step)
    value = (right - left) / (2 * step)
    half = (at(step / 2) - at(-step / 2)) / step
    if not mp.isfinite(half) or not abs(value - half) <= mp.ldexp(abs(half), -100):
        return Slope(mpf(0), NO_IDEA)  # and 0 times it is 0
    apart = abs(value - half)
    largest = max(abs(left), abs(right), abs(args[position] * half))  # the operand is rounded, too
    rounding = mp.ldexp(largest, 100 - mp.prec) / step
    return Slope(half, rounding + apart)


def marks(op: Op) -> list[float]:
    """The numbers at which a row says that it has kinks or jumps."""
    payloads = [payload for s in op.special for payload in template(s.where).payloads]
    return [payload for payload in payloads if isinstance(payload, float)]


def meets_special(graph: Graph, values: Sequence[Real]) -> bool:
    """Whether some operation meets a kink or a jump, or is so near that a quotient may span it."""
    for node, operands in enumerate(graph.operands):
        op = BY_NAME.get(graph.kinds[node])
        if op is None or not op.special:
            continue
        exact = [values[operand] for operand in operands]
        gaps = [high - low for low, high in pairwise(sorted(exact))]
        gaps += [abs(abs(x) - abs(mark)) for x in exact for mark in marks(op)]
        if any(gap <= 2 * step_of(op.name, exact) for gap in gaps if gap or op.variadic):
            return True
        seen = [*exact, values[node], *[mpf(1)] * len(exact)]
        if not op.variadic and any(holds(s.where, rule_slots(op), seen) for s in op.special):
            return True
    return False


def true_gradient(graph: Graph, values: Sequence[Real]) -> dict[str, Slope]:
    """The gradient by the chain rule from quotients."""
    active = dependent_flags(graph, graph.inputs.values())
    grads: list[Slope | None] = [None] * len(graph)
    grads[graph.output] = Slope(mpf(1), mpf(0))
    for node in range(graph.output, -1, -1):
        grad, operands = grads[node], graph.operands[node]
        if grad is None or not operands:
            continue
        exact = [values[operand] for operand in operands]
        for position, operand in enumerate(operands):
            kind = graph.kinds[node]
            taken = kind != "where" or position == (1 if exact[0] != 0 else 2)
            if active[operand] and taken:
                passed = grad.times(quotient(kind, exact, position))
                before = grads[operand] or Slope(mpf(0), mpf(0))
                total = before.value + passed.value
                error = before.error + passed.error + mp.ldexp(abs(total), 10 - mp.prec)
                grads[operand] = Slope(total, error)
    return {name: grads[node] or Slope(mpf(0), mpf(0)) for name, node in graph.inputs.items()}


def holds_digits(value: float, digits: int, true: Slope) -> bool:
    """Whether so many digits of a number are right, for all that is known of the truth."""
    if not digits:
        return True
    far = abs(mpf(value) - true.value) - true.error
    return bool(far <= (abs(true.value) + true.error) * mpf(10) ** -digits)


LEAVES = ("x", "y", "z", "x", "y", "2", "0.3", "1", "0", "pi")


def one_expression(seed: int, told: Counter[str]) -> None:
    """One generated expression at one point: its value and its gradient, and the digits claimed of them."""
    random = Random(seed)
    graph = parse_text(tree(random, LEAVES, FREQUENT, random.randint(1, 7)))
    inputs = {name: some_double(random) for name in graph.inputs}
    found = enclose_outputs(graph, inputs, tuple(inputs))
    if not all(is_moderate(x) for x in found.values):
        told["left out"] += 1
        return
    data = forward_numbers(graph, inputs)
    grads = reverse_sweep(graph, data, graph.inputs.values()).grads
    is_easy = all(is_moderate(x, FEWER) for x in found.values) and not STEP.keys() & {*graph.kinds}
    with mp.workprec(FEWER if is_easy else PRECISION):
        values = evaluate(graph, inputs)
        numbers = [(data[graph.output], values[graph.output], found.values[graph.output])]
        slopes = [Slope(numbers[0][1], mp.ldexp(abs(numbers[0][1]), -300))]
        if not meets_special(graph, values):
            told["gradients"] += bool(inputs)
            for name, slope in true_gradient(graph, values).items():
                number = grads[graph.inputs[name]] or 0.0
                numbers.append((number, slope.value, found.grad(graph.inputs[name])))
                slopes.append(slope)
        for (number, true, enclosure), slope in zip(numbers, slopes, strict=True):
            if not slope.error <= max(abs(true) * mpf(10) ** -60, mpf(10) ** -300):
                told["not well known"] += 1
            said = judge_number(number, enclosure, found.bits)
            if said.verdict == "undefined" and enclosure is not found.values[graph.output]:
                told["no derivative"] += 1  # by the chain rule: there is none in doubles either
                assert math.isnan(number), (seed, true)
                continue
            place = (seed, number, true, said)
            assert inside(true, slope.error, enclosure), place
            assert holds_digits(number, said.digits, slope), place
            assert not said.is_exact or number == true or slope.error, place
            told[said.word] += 1
            told["numbers"] += 1
            told["tight"] += bool(enclosure.is_exact() or enclosure.rel_accuracy_bits() >= 80)


def some_double(random: Random) -> float:
    """Any double, or an everyday one; zeros have no sign."""
    return (double(random) if random.random() < 0.5 else random.uniform(-3, 3)) + 0.0


@pytest.mark.parametrize("count", [60, pytest.param(many(1_000), marks=pytest.mark.slow)])
def test_generated_expressions_are_enclosed_and_no_digit_is_overstated(count: int) -> None:
    """And the enclosures are tight, or the number is 0 and cannot be told from one."""
    told: Counter[str] = Counter()
    for seed in range(count):
        one_expression(seed, told)
    assert told["left out"] < 0.5 * count, told
    assert told["gradients"] > 0.2 * count, told
    assert told["no derivative"] < 0.01 * told["numbers"], told
    assert told["not well known"] < 0.15 * told["numbers"], told
    assert told["tight"] > 0.97 * told["numbers"], told
    assert told["right"] > 0.03 * told["numbers"], told


def places(op: Op, count: int) -> list[tuple[float, ...]]:
    """Points for one row: everywhere, and its critical doubles."""
    random = Random(op.name)
    arity = 3 if op.variadic else len(op.names)
    found = list(points(random, arity, count))
    for _ in range(count):
        found.append(
            tuple(random.choice((1, -1)) * random.choice(CRITICAL) + 0.0 for _ in range(arity))
        )
    return found


@pytest.mark.parametrize("count", [4, pytest.param(60, marks=pytest.mark.slow)])
@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_every_row_is_enclosed(op: Op, count: int) -> None:
    """Value and local derivatives; mpmath's own agree to 100 and 64 bits before they are believed."""
    tight = Counter[bool]()
    for args in places(op, count):
        graph = graph_of(op, len(args))
        inputs = {f"a{position}": x for position, x in enumerate(args)}
        found = enclose_outputs(graph, inputs, tuple(inputs))
        if any(not is_moderate(x) and x.is_finite() for x in found.values):
            continue  # mpmath has nothing to compare with in reasonable time
        value = found.values[graph.output]
        true = value_by_mpmath(op.name, *args)
        with mp.workprec(PRECISION):
            assert inside(true, mp.ldexp(abs(true), -99), value), (args, true, value)
        tight[
            bool(not value.is_finite() or value.is_exact() or value.rel_accuracy_bits() >= 80)
        ] += 1
        if not mp.isfinite(true):
            continue
        if is_special(op, args):
            holds_conventions(graph, inputs, inputs)
            continue
        for position, name in enumerate(inputs):
            slope = partial_by_mpmath(op.name, position, args)
            grad = found.grad(graph.inputs[name])
            if mp.isnan(slope) or (slope == 0 and bool(abs(grad) < exact_ball(2) ** -1090)):
                continue
            with mp.workprec(PRECISION):
                error = mp.ldexp(abs(slope), -60) if mp.isfinite(slope) else mpf(0)
                assert inside(slope, error, grad), (args, position, slope, grad)
    assert tight[False] <= 0.05 * tight[True], tight


def holds_conventions(graph: Graph, inputs: dict[str, float], wrt: Iterable[str]) -> None:
    """At a kink or a jump the enclosures hold the convention: it is what the sweep in doubles says.

    One convention differs from another by far more than rounding does.
    """
    found = enclose_outputs(graph, inputs, tuple(wrt))
    grads = reverse_sweep(
        graph, forward_numbers(graph, inputs), [graph.inputs[name] for name in wrt]
    ).grads
    for name in wrt:
        grad, number = found.grad(graph.inputs[name]), grads[graph.inputs[name]] or 0.0
        if grad.is_finite() and math.isfinite(number):
            rounding = exact_ball(2) ** -40 * max(1, abs(number))
            assert bool(abs(grad - exact_ball(number)) <= rounding), (
                graph.kinds,
                inputs,
                name,
                grad,
            )
        elif is_infinite(grad):
            assert float(grad) == number, (graph.kinds, inputs, name)
        else:
            assert grad.is_nan() == math.isnan(number), (graph.kinds, inputs, name, number)


BENT = [op for op in OPS if op.special and not op.variadic]


@together(BENT)
def test_conventions_hold_beside_operands_that_are_no_doubles(op: Op) -> None:
    """Each operand is an input or, in turn, pi or e, of which doubles have only the nearest."""
    choices: tuple[float | str, ...] = (0.0, 0.5, 1.0, -1.0, 2.0, "pi", "exp(1)", "-pi")
    for args in product(choices, repeat=len(op.names)):
        if args.count("pi") > 1 or args.count("exp(1)") > 1 or args.count("-pi") > 1:
            continue  # balls do not tell one from the other
        names = [x if isinstance(x, str) else f"a{place}" for place, x in enumerate(args)]
        inputs = {f"a{place}": x for place, x in enumerate(args) if isinstance(x, float)}
        text = op.infix.join(map("({})".format, names))
        graph = parse_text(text if op.infix else f"{op.name}({', '.join(names)})")
        holds_conventions(graph, inputs, inputs)


@together(OPS)
def test_a_wide_ball_holds_what_each_of_its_numbers_gives(op: Op) -> None:
    """Around zeros, jumps and edges of domains too; a finite ball says that all of it is in the domain."""
    random = Random(f"wide {op.name}")
    arity = 2 if op.variadic else len(op.names)
    told = 0
    with working_precision(128):
        for _ in range(80):
            middles = [
                random.choice((0.0, 0.5, 1.0, -1.0, 2.5, random.uniform(-3, 3)))
                for _ in range(arity)
            ]
            radii = [random.choice((0.0, 1e-9, 0.25, 1.0, 2.0)) for _ in range(arity)]
            wide = apply_to_balls(
                op.name,
                [
                    exact_ball(m) + import_flint().arb(0, r)
                    for m, r in zip(middles, radii, strict=True)
                ],
            )
            told += bool(wide.is_finite())
            for _ in range(6):
                shifts = [
                    random.choice((-1.0, 0.0, 1.0, random.uniform(-1, 1))) for _ in range(arity)
                ]
                inner = [m + s * r for m, s, r in zip(middles, shifts, radii, strict=True)]
                if not all(abs(x - m) <= r for x, m, r in zip(inner, middles, radii, strict=True)):
                    continue  # rounded out of the ball
                narrow = apply_to_balls(op.name, [exact_ball(x) for x in inner])
                if wide.is_finite():
                    assert narrow.is_finite() and wide.overlaps(narrow), (middles, radii, inner)
                elif wide.is_nan() or is_infinite(wide):
                    assert narrow.is_nan() == wide.is_nan(), (middles, radii, inner)
    assert told >= 6, told


def test_every_row_has_a_way_to_be_computed() -> None:
    """Arb's function of the same name, a line of care, or the row's definition."""
    assert not [op.name for op in OPS if not has_own_ball(op)]


def at(text: str, bits: int = 128, **inputs: float) -> tuple[Ball, dict[str, Ball | None]]:
    """The true value and gradient of a formula."""
    graph = parse_text(text)
    values = enclose_nodes(graph, inputs, bits)
    found = sweep_balls(graph, values, graph.inputs.values(), bits)
    grads = {name: found.grads[node] for name, node in graph.inputs.items()}
    return values[graph.output], grads


@together(
    [
        ("abs(x)", {"x": 0.0}, 0, {"x": 0}),
        ("relu(x)", {"x": 0.0}, 0, {"x": 0}),
        ("max(x, y)", {"x": 2.0, "y": 2.0}, 2, {"x": 0.5, "y": 0.5}),
        ("max(x, 2)", {"x": 2.0}, 2, {"x": 0}),
        ("min(x, y, 2)", {"x": 3.0, "y": 2.5}, 2, {"x": 0, "y": 0}),
        ("clamp(x, y, 2)", {"x": 2.0, "y": 2.0}, 2, {"x": 0, "y": 0}),
        ("clamp(x, x, pi)", {"x": 0.5}, 0.5, {"x": 1}),
        ("clamp(x, y, pi)", {"x": 1.0, "y": 1.0}, 1, {"x": 0.5, "y": 0.5}),
        ("clamp(x, y, exp(y))", {"x": 1.0, "y": 1.0}, 1, {"x": 0.5, "y": 0.5}),
        ("clamp(x, 1 - pi, y)", {"x": 1.0, "y": 1.0}, 1, {"x": 0.5, "y": 0.5}),
        ("clamp(x, 1, pi)", {"x": 1.0}, 1, {"x": 0}),
        ("hypot(x, x - y)", {"x": 0.0, "y": 0.0}, 0, {"x": 0, "y": 0}),
        ("0^exp(x)", {"x": 1.0}, 0, {"x": 0}),
        ("x^exp(y)", {"x": 0.0, "y": 1.0}, 0, {"x": 0, "y": 0}),
        ("(x - x)^silu(x)", {"x": 2.0}, 0, {"x": 0}),
        ("xlogy(x, exp(y))", {"x": 0.0, "y": 0.0}, 0, {"x": 0, "y": 0}),
        ("hypot(x, y)", {"x": 0.0, "y": 0.0}, 0, {"x": 0, "y": 0}),
        ("x^y", {"x": 0.0, "y": 0.0}, 1, {"x": 0, "y": 0}),
        ("x^y", {"x": 0.0, "y": 2.0}, 0, {"x": 0, "y": 0}),
        ("x^3", {"x": -2.0}, -8, {"x": 12}),
        ("x^0.5", {"x": 0.0}, 0, {"x": math.inf}),
        ("sqrt(x)", {"x": 0.0}, 0, {"x": math.inf}),
        ("1/x", {"x": 0.0}, math.inf, {"x": -math.inf}),
        ("log(x)", {"x": 0.0}, -math.inf, {"x": math.inf}),
        ("where(x > 0, log(x), x)", {"x": -1.0}, -1, {"x": 1}),
        ("where(x > 0, 1/x, x)", {"x": 0.0}, 0, {"x": 1}),
        ("floor(log2(x)) + floor(log10(y))", {"x": 8.0, "y": 1000.0}, 6, {"x": None, "y": None}),
        ("floor(cbrt(x))", {"x": 27.0}, 3, {"x": None}),
        ("round(x)", {"x": 2.5}, 2, {"x": None}),
        ("round(x)", {"x": -3.5}, -4, {"x": None}),
        ("round(x)", {"x": 0.49999999999999994}, 0, {"x": None}),
        ("x % 3", {"x": -1.0}, 2, {"x": 1}),
        ("tanh(exp(x))", {"x": math.inf}, 1, {"x": math.nan}),
        ("exp(-x)", {"x": math.inf}, 0, {"x": 0}),
    ]
)
def test_conventions_are_those_of_the_rows(
    text: str, inputs: dict[str, float], value: float, grads: dict[str, float | None]
) -> None:
    """Worked out by hand, at points where a rule's answer is agreed on."""
    found, slopes = at(text, 256, **inputs)
    assert float(found) == value and found.is_exact()
    for name, expected in grads.items():
        grad = slopes[name]
        if expected is None or grad is None:
            assert expected is grad
        elif math.isnan(expected):
            assert grad.is_nan()
        else:
            assert float(grad) == expected and grad.is_exact(), (name, grad)


def test_a_tie_in_balls_that_are_not_doubles_is_not_decided() -> None:
    """Both operands are pi, and two balls do not tell: the share that is agreed on is still enclosed."""
    for text in ("clamp(x*pi, pi*x, 5)", "clamp(x*pi, 0, x*pi)"):
        grad = at(text, x=1.0)[1]["x"]
        assert grad is not None and grad.overlaps(import_flint().arb.pi()), text


def test_nobody_knows_an_infinity_times_what_may_be_0() -> None:
    """The cosine of asin(1) is 0, and in balls something next to it: a pole is not what follows."""
    for text in ("sin(asin(x))", "sin(asin(x))^2 + x", "cos(acos(x))"):
        for x in (1.0, -1.0):
            grad = at(text, x=x)[1]["x"]
            assert grad is not None and not is_infinite(grad), (text, x)
    infinity = exact_ball(math.inf)
    with working_precision(128):
        about_0 = exact_ball(0.01) + import_flint().arb(0, 0.1)
        for kind, operands in (("mul", (infinity, about_0)), ("div", (infinity, about_0))):
            found = apply_to_balls(kind, operands)
            assert not is_infinite(found) and not found.is_nan(), kind
        three = exact_ball(3) + import_flint().arb(0, 0.1)
        for kind in ("add", "sub", "mul", "div"):
            assert apply_to_balls(kind, (infinity, three)) == infinity


def test_what_has_no_value_is_told_from_what_nobody_knows() -> None:
    for text, x in (("log(x)", -1.0), ("sqrt(x)", -4.0), ("x/0*0", 0.0), ("sin(x)", math.inf)):
        assert at(text, x=x)[0].is_nan(), text
    for text in (
        "sqrt(sin(pi))",
        "1/sin(pi)",
        "log(sqrt(2)^2 - 2)",
        "exp(1e300)",
        "asin(sin(pi/2))",
    ):
        value = at(text)[0]
        assert not value.is_nan() and not value.is_finite() and not is_infinite(value), text


@pytest.mark.parametrize(
    ("kind", "operands"),
    [
        ("add", (math.inf, -math.inf)),
        ("sub", (math.inf, math.inf)),
        ("mul", (0.0, -math.inf)),
        ("div", (-math.inf, math.inf)),
        ("mod", (math.inf, 2.5)),
        ("xlogy", (math.inf, 1.0)),
    ],
)
def test_an_infinity_against_another_has_no_value(kind: str, operands: tuple[float, ...]) -> None:
    """Where doubles give nan at exact operands, so it is: no value, which says more than an unknown one."""
    with working_precision(80):
        assert apply_to_balls(kind, [exact_ball(operand) for operand in operands]).is_nan()


def test_a_comparison_that_is_not_decided_is_either() -> None:
    value, _ = at("sqrt(2)^2 > 2")
    assert decide_truth(value) is None and value.contains(0) and value.contains(1)
    chosen, grads = at("where(sqrt(2)^2 > 2, 3*x, 5*x)", x=1.0)
    assert chosen.contains(3) and chosen.contains(5) and not chosen.contains(6)
    grad = grads["x"]
    assert grad is not None and all(grad.contains(slope) for slope in (0, 3, 5, 8))


def test_a_tie_that_is_not_decided_is_all_or_nothing() -> None:
    _, grads = at("max(x*sqrt(2)*sqrt(2), 2*y)", x=1.0, y=1.0)
    assert all(
        grad is not None and grad.contains(0) and grad.contains(1) for grad in grads.values()
    )


def test_what_is_beaten_is_passed_nothing_whoever_wins() -> None:
    _, grads = at("max(x*sqrt(2)*sqrt(2), 2*y, z)", x=1.0, y=1.0, z=1.5)
    assert grads["z"] == 0
    assert (
        decide_truth(grads["x"] or exact_ball(0)) is None
        and decide_truth(grads["y"] or exact_ball(0)) is None
    )


def test_a_wide_tie_takes_a_few_comparisons_for_each_operand(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counted: list[str] = []

    def counting(kind: str, operands: Sequence[Ball]) -> Ball:
        counted.append(kind)
        return apply_to_balls(kind, operands)

    monkeypatch.setattr("exprgrad.run.balls.sweep.apply_to_balls", counting)
    for count in (50, 100):
        names = [f"x{number}" for number in range(count)]
        counted.clear()
        _, grads = at(f"max({', '.join(names)})", 128, **dict.fromkeys(names, 1.0))
        assert all(
            grad is not None and (grad * count).overlaps(exact_ball(1)) for grad in grads.values()
        )
        assert len(counted) <= 4 * count


def test_named_constants_are_what_they_name() -> None:
    assert bool(abs(at("sin(pi)", 256)[0]) < exact_ball(10) ** -70)
    assert bool(abs(at("acos(-1) - pi", 256)[0]) < exact_ball(10) ** -70)
    assert bool(abs(at("sin(3.141592653589793)", 256)[0]) > exact_ball(10) ** -17)


@pytest.mark.parametrize(
    "text",
    [
        "sin(1e300^10)",
        "exp(exp(exp(100)))",
        "exp(exp(exp(exp(100))))",
        "10^10^10^10",
        "(-3)^(2^60)",
        "0.1^1e300",
        "1e300 % 1e-300",
        "erfc(1e300)",
        "floor(exp(1e5))",
        "cosh(1e300)",
        "sin(exp(exp(50)))",
        "2^(2^62) - 2^(2^62)",
    ],
)
def test_astronomical_numbers_stay_small(text: str) -> None:
    """At the highest precision too: no ball has many more bits, in its digits or in its exponent."""
    for found in enclose_nodes(parse_text(text), {}, 16384):
        assert found.bits() <= 16384 + 128
        if found.is_finite():
            assert int(found.mid().man_exp()[1]).bit_length() <= 16384


def test_a_long_formula_is_no_recursion() -> None:
    graph = parse_text("sin(" * 20_000 + "x" + ")" * 20_000)
    values = enclose_nodes(graph, {"x": 0.5}, 128)
    found = sweep_balls(graph, values, [0], 128).grads[0]
    assert found is not None and found.is_finite()


def test_the_nearest_decimal() -> None:
    with working_precision(200):
        assert middle_text(import_flint().arb.pi(), 17) == "3.1415926535897932"
        assert middle_text(exact_ball(-2) / 3, 5) == "-0.66667"
        assert middle_text(exact_ball(10) ** 400, 17) == "1e+400"
        assert (
            middle_text(exact_ball(0.1), 17) == "0.10000000000000001"
            and middle_text(exact_ball(0), 3) == "0"
        )
        assert middle_text(exact_ball(99999) / 100000, 3) == "1"


def test_what_is_not_finite_stays_what_it_is() -> None:
    assert (
        undefined_ball().is_nan() and not whole_line().is_finite() and not is_infinite(whole_line())
    )
    assert is_infinite(exact_ball(math.inf)) and is_infinite(exact_ball(-math.inf))


def test_trust_says_the_same_of_whole_runs() -> None:
    """What a run says of itself comes from these enclosures."""
    from exprgrad import parse as read

    run = read("(1 - cos(x))*y").gradient(x=1e-5, y=3)
    graph, inputs = run.graph, run.inputs
    found = enclose_outputs(graph, inputs, run.wrt)
    plain = judge_number(run.value, found.values[graph.output], found.bits)
    value = describe_number(plain, found.bits)
    assert measure_trust(run, run.swept, {}).value.low == value.low


NAN, INF = undefined_ball(), exact_ball(math.inf)
"""No value; and an infinity."""
WITHOUT_A_VALUE = [
    ("add", (NAN, exact_ball(1)), "nan"), ("mul", (NAN, exact_ball(0)), "nan"), ("sin", (NAN,), "nan"),
    ("max", (NAN, exact_ball(1)), "nan"), ("lt", (NAN, exact_ball(1)), "0"), ("ge", (NAN, NAN), "0"),
    ("eq", (NAN, NAN), "0"), ("ne", (NAN, NAN), "1"), ("where", (exact_ball(1), exact_ball(2), NAN), "2"),
    ("where", (exact_ball(0), exact_ball(2), NAN), "nan"), ("sub", (INF, INF), "nan"),
    ("mul", (INF, exact_ball(0)), "nan"),
    ("div", (exact_ball(1), INF), "0"), ("tanh", (INF,), "1"), ("atan", (-INF,), "decided"),
    ("exp", (-INF,), "0"), ("log", (exact_ball(-1),), "nan"), ("log", (exact_ball(0),), "-inf"),
    ("log", (exact_ball(0).union(exact_ball(1)),), "unknown"), ("sqrt", (whole_line(),), "unknown"),
]  # fmt: skip


@together(WITHOUT_A_VALUE)
def test_what_has_no_value_and_what_is_infinite(
    kind: str, operands: tuple[Any, ...], expected: str
) -> None:
    """As in IEEE: nan goes through all but comparisons, and a branch that is not taken."""
    found = apply_to_balls(kind, operands)
    if expected == "nan":
        assert found.is_nan()
    elif expected == "unknown":
        assert not is_known(found) and not found.is_nan()
    elif expected == "decided":
        assert found.is_finite() and abs(float(found) + math.pi / 2) < 1e-15
    else:
        assert found.is_exact() and float(found) == float(expected)
