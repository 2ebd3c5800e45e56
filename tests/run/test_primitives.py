"""Every row's value and local derivatives against mpmath, over the whole range of doubles."""

from __future__ import annotations

import math
from itertools import product
from random import Random

import pytest

import oracles
from amounts import many
from climbing import worst_partial, worst_value
from exprgrad.derive.rules import template
from exprgrad.graph.ops import BY_NAME, OPS, Op
from exprgrad.language.read.parse import parse_text
from exprgrad.run.numbers.sweeps import (
    condition_holds,
    forward_numbers,
    functions,
    reverse_sweep,
)
from oracles import (
    MAX,
    Real,
    agree,
    computed,
    holds,
    is_special,
    limit_of_quotients,
    mp,
    partial_by_mpmath,
    true_partial,
    true_value,
    ulp,
    ulps,
)  # fmt: skip
from strategies import double, points
from together import together

SEEDS = [pytest.param(0, 60, 8), pytest.param(1, many(600), many(120), marks=pytest.mark.slow)]
SETTLED = 2.0**-10
"""The ulps by which a difference quotient that settled may be wrong; two doubles are half of one apart."""

each_row = pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
sampled = pytest.mark.parametrize(("seed", "values", "partials"), SEEDS)


def arity(op: Op) -> int:
    return 3 if op.variadic else len(op.names)


def sample(op: Op, seed: int, count: int) -> list[tuple[float, ...]]:
    return list(points(Random(f"{op.name} {seed}"), arity(op), count))


def in_domain(op: Op, args: tuple[float, ...]) -> bool:
    return holds(op.domain, op.names, args)


def at_pole(op: Op, args: tuple[float, ...]) -> bool:
    return any(holds(where, op.names, args) for where, _ in op.poles)


@each_row
@sampled
def test_values_are_within_the_stated_ulps(op: Op, seed: int, values: int, partials: int) -> None:
    inside = [args for args in sample(op, seed, values) if in_domain(op, args)]
    assert len(inside) > values / 10
    for args in inside:
        true, found = true_value(op.name, *args), functions[op.name](*args)
        assert not mp.isnan(true)
        near = abs(true - found) <= op.value_abs  # of a zero that no double is
        assert near or ulps(found, true) <= op.value_ulp, (args, found, mp.nstr(true, 20))


@each_row
@sampled
def test_partials_are_within_the_stated_ulps(op: Op, seed: int, values: int, partials: int) -> None:
    inside = [args for args in sample(op, seed, partials * 4) if in_domain(op, args)]
    smooth = [args for args in inside if not is_special(op, args)][:partials]
    assert len(smooth) > partials / 10
    for args in smooth:
        _, found = computed(op, args)
        for position in range(len(args)):
            true = true_partial(op.name, position, args)
            wrong = ulps(found[position], true)
            allowed = op.partial_ulp + unavoidable(op, position, args, true) + SETTLED
            near = abs(true - found[position]) <= op.partial_abs  # of a zero that no double is
            assert near or wrong <= allowed, (position, args, found[position], mp.nstr(true, 20))


INEXACT = [op for op in OPS if op.value_ulp or op.partial_ulp]
CLIMBED = [
    *[pytest.param(op, many(300), marks=pytest.mark.slow, id=op.name) for op in INEXACT],
    *[pytest.param(BY_NAME[name], 40, id=f"{name}, a little") for name in ("pow", "erfc", "acosh")],
]


@pytest.mark.parametrize(("op", "count"), CLIMBED)
def test_climbing_to_the_worst_value_stays_within_the_stated_ulps(op: Op, count: int) -> None:
    worst = worst_value(op, count)
    assert worst.error <= 1, worst


@pytest.mark.parametrize(("op", "count"), CLIMBED)
def test_climbing_to_the_worst_partials_stays_within_the_stated_ulps(op: Op, count: int) -> None:
    for position in range(1 if op.variadic else len(op.names)):
        worst = worst_partial(op, position, count)
        assert worst.error <= 1 + SETTLED, worst


@pytest.mark.parametrize("count", [3, pytest.param(20, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", oracles.SLOPES)
def test_the_slopes_that_are_known_in_closed_form_are_those_of_the_values(
    name: str, count: int
) -> None:
    op = BY_NAME[name]
    inside = [args for args in sample(op, 2, 10 * count) if in_domain(op, args)][:count]
    for args in inside:
        exact, limit = partial_by_mpmath(name, 0, args), limit_of_quotients(name, 0, args)
        tiny = max(abs(exact), abs(limit)) < ulp(0) / 4 or min(abs(exact), abs(limit)) > MAX
        assert at_pole(op, args) or tiny or agree(exact, limit, 60), args


@pytest.mark.parametrize("count", [50, 200, pytest.param(1_000, marks=pytest.mark.slow)])
def test_a_logarithm_of_many_exponentials(count: int) -> None:
    """Neither the value nor a share is worse for many operands; equal ones round alike."""
    op, random = BY_NAME["logsumexp"], Random(count)
    for width in (0.0, 1.0, 20.0):
        args = [random.uniform(-width, width) for _ in range(count)]
        value, shares = computed(op, args)
        assert ulps(value, true_value(op.name, *args)) <= op.value_ulp
        for position in (0, count // 2, count - 1):
            true = true_partial(op.name, position, tuple(args))
            assert ulps(shares[position], true) <= op.partial_ulp, (width, position)


HARD = [
    ("pow", (5e-324, 0.07)), ("pow", (1.7e308, 0.0105)), ("pow", (1e-320, 0.09)), ("pow", (8e307, 0.012)),
    ("pow", (1.5e-323, 1.983)), ("pow", (1e-279, 2.09)),
    ("erf", (26.59,)), ("erf", (26.91,)), ("erf", (27.03,)), ("erfc", (26.66,)), ("erfc", (26.97,)),
]  # fmt: skip
"""Where a factor of a derivative would overflow, or be subnormal, if it were formed as it is written."""


@pytest.mark.parametrize("count", [4, pytest.param(100, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("name", "args"), HARD)
def test_derivatives_whose_factors_would_be_no_normal_numbers(
    name: str, args: tuple[float, ...], count: int
) -> None:
    op, random = BY_NAME[name], Random(name)
    for _ in range(count):
        near = tuple([x * random.uniform(0.999, 1.001) for x in args])
        for position, found in enumerate(computed(op, near)[1]):
            true = true_partial(name, position, near)
            assert ulps(found, true) <= op.partial_ulp, (near, position)


AT_INFINITY = [
    ("pow", (math.inf, 2.0), (math.inf, math.inf)), ("pow", (math.inf, 0.5), (0, math.inf)),
    ("pow", (math.inf, 1.0), (1, math.inf)), ("pow", (math.inf, -1.0), (0, 0)),
    ("pow", (2.0, math.inf), (math.inf, math.inf)), ("pow", (2.0, -math.inf), (0, 0)),
    ("pow", (0.5, math.inf), (0, 0)), ("pow", (0.5, -math.inf), (-math.inf, -math.inf)),
    ("hypot", (math.inf, 2.0), (1, 0)), ("hypot", (3.0, -math.inf), (0, -1)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "args", "slopes"), AT_INFINITY)
def test_infinite_operands_give_the_limits_of_both_derivatives(
    name: str, args: tuple[float, ...], slopes: tuple[float, ...]
) -> None:
    assert tuple(computed(BY_NAME[name], args)[1]) == slopes


def test_a_zero_has_no_sign_for_a_power_that_is_no_whole_number() -> None:
    for text in ("x^-0.5", "x^-1.5"):
        graph = parse_text(text)
        for x in (0.0, -0.0):
            found = reverse_sweep(graph, forward_numbers(graph, {"x": x}), [0]).grads[0]
            assert found == -math.inf


EXPONENTS = (
    -40.0, -12.0, -3.0, -2.0, -1.5, -1.0, -0.5, 1 / 3, 0.4, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0,
    9.0, 12.0, 101.0,
)  # fmt: skip


@together(EXPONENTS)
def test_powers_with_a_constant_exponent(exponent: float) -> None:
    """The rule for an exponent that does not vary is another than the one for two operands that do."""
    op = BY_NAME["pow"]
    graph = parse_text(f"x^({exponent!r})")
    (node,) = graph.inputs.values()
    random = Random(str(exponent))
    for base in [double(random) for _ in range(30)] + [x for x in SIZES if x > 1e-300]:
        args = (base, exponent)
        if not in_domain(op, args) or at_pole(op, args) or base == 0:
            continue
        found = reverse_sweep(graph, forward_numbers(graph, {"x": base}), [node]).grads[node]
        true = true_partial("pow", 0, args)
        assert found is not None
        assert ulps(found, true) <= op.partial_ulp + SETTLED, (base, found, mp.nstr(true, 20))


SIZES = (5e-324, 3e-308, 7e-291, 2.3e-154, 6e-128, 0.7, 3e127, 9.9e153, 4e300, 1.1e308)


@pytest.mark.parametrize("name", ["div", "atan2", "hypot", "mod"])
def test_no_two_magnitudes_meet_badly(name: str) -> None:
    op = BY_NAME[name]
    for args in product(SIZES, repeat=2):
        if is_special(op, args):
            continue
        for position, found in enumerate(computed(op, args)[1]):
            true = true_partial(name, position, args)
            allowed = op.partial_ulp + unavoidable(op, position, args, true)
            assert ulps(found, true) <= allowed, (position, args, found, mp.nstr(true, 20))


@pytest.mark.parametrize("name", ["logaddexp", "logsumexp"])
def test_shares_of_numbers_whose_difference_overflows(name: str) -> None:
    """The greater has it all, and the exponential of minus 4e300 and less is 0."""
    for more, less in ((1.1e308, -1.1e308), (1e308, -4e300), (4e300, 0.7), (0.7, -1.1e308)):
        assert computed(BY_NAME[name], (more, less)) == (more, [1.0, 0.0])
        assert computed(BY_NAME[name], (less, more)) == (more, [0.0, 1.0])


def unavoidable(op: Op, position: int, args: tuple[float, ...], true: Real) -> float:
    """The ulps that a subnormal intermediate costs.

    Only division has one: its second partial is ``-out/y`` by contract, and a subnormal quotient
    carries up to half of the least double as an error, which is then divided by y.
    """
    if op.name != "div" or position != 1:
        return 0.0
    x, y = args
    with mp.workprec(200):
        quotient = abs(mp.mpf(x) / mp.mpf(y))
        if quotient >= mp.ldexp(1, -1022):
            return 0.0
        return float(mp.ldexp(1, -1075) / abs(mp.mpf(y)) / ulp(true))


@together(OPS)
def test_outside_the_domain_all_is_nan(op: Op) -> None:
    everywhere = sample(op, 2, 100)
    if not op.domain:
        assert all(not math.isnan(functions[op.name](*args)) for args in everywhere)
        return
    outside = [a for a in everywhere if not in_domain(op, a) and not at_pole(op, a)]
    outside += EDGES.get(op.name, [])
    assert outside or op.domain == "x != 0"  # which is a pole
    for args in outside:
        value, locals_ = computed(op, args)
        if op.name == "div":  # its first partial is 1/y by contract, and infinite at 0/0
            assert math.isinf(locals_.pop(0))
        assert all(math.isnan(number) for number in (value, *locals_)), (args, value, locals_)


EDGES: dict[str, list[tuple[float, ...]]] = {
    "div": [(0.0, 0.0), (0.0, -0.0)],
    "mod": [(0.0, 0.0), (1.0, 0.0), (-5.0, -0.0)],
    **{name: [(math.inf,), (-math.inf,)] for name in ("sin", "cos", "tan", "sec", "csc", "cot")},
    "lgamma": [(-math.inf,)],
}

CORNERS = (0.0, -1.0, 1.0, 2.0, -2.0, 3.0, -0.5, 5e-324, -5e-324, 1e308, -1e308)


@pytest.mark.parametrize("op", [op for op in OPS if op.poles], ids=lambda op: op.name)
def test_poles_have_the_stated_value(op: Op) -> None:
    found = [args for args in product(CORNERS, repeat=len(op.names)) if at_pole(op, args)]
    assert found
    for args in found:
        stated = next(value for where, value in op.poles if holds(where, op.names, args))
        x, ends = args[0], {"inf": math.inf, "-inf": -math.inf}
        ends |= {"x*inf": x * math.inf, "-x*inf": -x * math.inf}
        ends |= {"1/x": math.copysign(math.inf, x), "-1/x": -math.copysign(math.inf, x)}
        assert computed(op, args)[0] == ends[stated]


@together(OPS)
def test_no_operand_raises(op: Op) -> None:
    ends = (math.inf, -math.inf, math.nan, 0.0, -0.0, 1.0, -1.5, 5e-324, 1.7976931348623157e308)
    for args in product(ends, repeat=arity(op)):
        value, locals_ = computed(op, args)
        assert all(isinstance(number, float) for number in (value, *locals_)), args


@together([op for op in OPS if arity(op) == 1])
def test_nan_goes_through(op: Op) -> None:
    value, locals_ = computed(op, (math.nan,))
    assert math.isnan(value)
    flat = not template(op.partials[0]).inputs or op.gate in ("gate", "window")
    assert flat or math.isnan(locals_[0])


LIMITS = {
    "exp": (0.0, math.inf), "tanh": (-1.0, 1.0), "sigmoid": (0.0, 1.0), "softplus": (0.0, math.inf),
    "erf": (-1.0, 1.0), "erfc": (2.0, 0.0), "atan": (-math.pi / 2, math.pi / 2), "expm1": (-1.0, math.inf),
    "sinh": (-math.inf, math.inf), "cosh": (math.inf, math.inf), "asinh": (-math.inf, math.inf),
    "cbrt": (-math.inf, math.inf), "floor": (-math.inf, math.inf), "relu": (0.0, math.inf),
    "exp2": (0.0, math.inf), "sinc": (0.0, 0.0), "heaviside": (0.0, 1.0), "trunc": (-math.inf, math.inf),
    "leaky_relu": (-math.inf, math.inf), "elu": (-1.0, math.inf), "selu": (-1.7580993408473766, math.inf),
    "silu": (0.0, math.inf), "gelu": (0.0, math.inf), "logsigmoid": (-math.inf, 0.0),
    "sech": (0.0, 0.0), "csch": (0.0, 0.0), "coth": (-1.0, 1.0), "asec": (math.pi / 2, math.pi / 2),
    "acsc": (0.0, 0.0), "acot": (0.0, 0.0), "acsch": (0.0, 0.0), "acoth": (0.0, 0.0),
    "softsign": (-1.0, 1.0), "hardtanh": (-1.0, 1.0), "relu6": (0.0, 6.0),
    "normpdf": (0.0, 0.0), "normcdf": (0.0, 1.0), "erfcx": (math.inf, 0.0), "j0": (0.0, 0.0),
    "j1": (0.0, 0.0), "Ei": (0.0, math.inf), "Shi": (-math.inf, math.inf),
    "Si": (-math.pi / 2, math.pi / 2), "fresnels": (-0.5, 0.5), "fresnelc": (-0.5, 0.5),
    "erfi": (-math.inf, math.inf),
}  # fmt: skip
SLOPES: dict[str, tuple[float, float]] = dict.fromkeys(
    ("tanh", "sigmoid", "erf", "erfc", "atan", "asinh", "cbrt", "sinc"), (0, 0)
)
SLOPES |= dict.fromkeys(("sech", "csch", "coth", "asec", "acsc", "acot", "acsch", "acoth"), (0, 0))
SLOPES |= (
    dict.fromkeys(("elu", "silu", "gelu"), (0, 1)) | {"softsign": (0, 0)} | {"logsigmoid": (1, 0)}
)
SLOPES |= {"Ei": (0, math.inf), "Si": (0, 0), "Shi": (math.inf, math.inf)}
SLOPES |= {"erfi": (math.inf, math.inf)}
"""The limits of the derivative."""


@together(LIMITS)
def test_infinite_operands_give_the_limit(name: str) -> None:
    assert tuple(functions[name](x) for x in (-math.inf, math.inf)) == LIMITS[name]
    if name in SLOPES:
        slopes = tuple(computed(BY_NAME[name], (x,))[1][0] for x in (-math.inf, math.inf))
        assert slopes == SLOPES[name]


@pytest.mark.parametrize("name", [op.name for op in OPS if op.partial_abs])
@pytest.mark.parametrize("count", [30, pytest.param(3_000, marks=pytest.mark.slow)])
def test_an_absolute_bound_is_for_zeros_alone(name: str, count: int) -> None:
    """Tails included: what is small is as accurate as what is not."""
    op, random = BY_NAME[name], Random(name)
    assert op.away_from_zeros is not None
    (away, end), far = op.away_from_zeros, list[float]()
    while len(far) <= count:  # few points are away from the zeros of some
        tried = [random.uniform(-end, end) for _ in range(count)]
        tried += [random.choice((-1, 1)) * end ** random.uniform(-2, 1) for _ in range(count)]
        far += [x for x in tried if condition_holds(away, op.names, [x])]
    for x in far:
        found, true = computed(op, (x,))[1][0], true_partial(name, 0, (x,))
        assert ulps(found, true) <= op.partial_ulp + SETTLED, (x, found, mp.nstr(true, 20))


@pytest.mark.parametrize("x", [1024.0, 1024.25, 1024.5])
def test_a_derivative_may_be_finite_where_the_value_overflows(x: float) -> None:
    value, (slope,) = computed(BY_NAME["exp2"], (x,))
    assert value == math.inf
    assert ulps(slope, true_partial("exp2", 0, (x,))) <= BY_NAME["exp2"].partial_ulp


def test_a_derivative_may_be_finite_where_a_factor_of_it_is_not() -> None:
    """Twice the root of the power is beyond the doubles."""
    args = 1.7976931348622768e308, 1.9980496241898364
    slope = computed(BY_NAME["pow"], args)[1][0]
    assert ulps(slope, true_partial("pow", 0, args)) <= BY_NAME["pow"].partial_ulp


def test_the_floor_modulus_has_the_sign_of_its_second_operand() -> None:
    mod = functions["mod"]
    assert [mod(5, 3), mod(-5, 3), mod(5, -3), mod(-5, -3)] == [2, 1, -1, -2]


def test_round_goes_to_the_even_half() -> None:
    halves = (-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 0.49999999999999994)
    assert [functions["round"](x) for x in halves] == [-2, -2, 0, 0, 2, 2, 0]


def test_zero_to_the_power_zero_is_one() -> None:
    assert functions["pow"](0.0, 0.0) == 1
    assert computed(BY_NAME["pow"], (0.0, 0.0))[1] == [0, 0]
    assert computed(BY_NAME["pow"], (0.0, 1.0))[1] == [1, 0]
    assert computed(BY_NAME["pow"], (0.0, 2.0))[1] == [0, 0]


def test_the_sign_of_zero_says_from_which_side() -> None:
    atan2, div = functions["atan2"], functions["div"]
    assert [atan2(0.0, -1.0), atan2(-0.0, -1.0)] == [math.pi, -math.pi]
    assert [div(1.0, 0.0), div(1.0, -0.0), div(-1.0, -0.0)] == [math.inf, -math.inf, math.inf]
    assert math.copysign(1.0, functions["sqrt"](-0.0)) == -1.0
