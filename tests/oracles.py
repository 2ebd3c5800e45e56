"""Independent truths for the tests: mpmath in place of doubles, differences in place of rules.

Nothing here reads a row's ``partials`` or ``value``.  A row is evaluated by mpmath's function of the
same name, by ``CORE`` below, or else through the row's ``definition``; so a new row needs no line here if
mpmath knows it or if it states what it is, though one of its own is the better witness.

Where doubles are held to the truth at thousands of points, balls tell it, some 10 times as fast:
``run/test_balls.py`` holds those to mpmath, and what they do not settle is asked of mpmath.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache, lru_cache, partial
from itertools import combinations_with_replacement
from typing import Any

from mpmath import mp as mp
from mpmath import mpf as mpf

from exprgrad.derive.rules import rule_slots, template
from exprgrad.derive.sweeps.gradient import Entries, hessian_entries
from exprgrad.graph.graph import CONST, INPUT, Graph, Program
from exprgrad.graph.ops import BY_NAME, Op
from exprgrad.language.read.parse import parse_text
from exprgrad.run.balls.balls import Ball, apply_to_balls, exact_ball, working_precision
from exprgrad.run.numbers import sweeps
from exprgrad.run.numbers.sweeps import Tape, forward_numbers, play_tape, record_tape

Real = Any
"""An mpf: mpmath has no type annotations."""

MAX = 1.7976931348623157e308
RECENT = 10_000
"""So many truths are kept: points such as 0 and inf are met again and again, and some take a second."""
SELU, SELU_LEFT = 1.0507009873554805, 1.6732632423543772
"""G. Klambauer et al., Self-Normalizing Neural Networks, NIPS 2017, equation 14, as PyTorch rounds them."""
CONSTANTS = {"pi": lambda: +mp.pi}


def flag(condition: Any) -> Real:
    return mpf(1 if condition else 0)


def power(x: Real, y: Real) -> Real:
    if x == 0:
        return mpf(1) if y == 0 else mpf(0) if y > 0 else mp.inf
    return x**y


def log_sum_exp(*operands: Real) -> Real:
    """The greatest operand taken out, so that what is left is small and keeps all its digits."""
    if any(mp.isnan(x) for x in operands):
        return mp.nan
    first, *rest = sorted(operands, reverse=True)
    return first + mp.log1p(mp.fsum(mp.exp(x - first) for x in rest)) if rest else first


def complement(x: Real) -> Real:
    """erfc, which is nearer than exp(-x^2) to 2 on the left; beyond 100 it is far below every double."""
    if mp.isnan(x) or -mp.sqrt(mp.prec) < x < 100:
        return mp.erfc(x)
    return flag(x < 0) * 2


def logistic(x: Real) -> Real:
    """1/(1 + exp(-x)), with all its digits on the left too."""
    return 1 / (1 + mp.exp(-x)) if x >= 0 else mp.exp(x) / (1 + mp.exp(x))


def log_one_plus_exp(x: Real) -> Real:
    """log(1 + exp(x)): the area below the logistic function."""
    return (x if x > 0 else 0) + mp.log1p(mp.exp(-abs(x)))


def between(x: Real, low: Real, high: Real) -> Real:
    """The middle one of three numbers; the last where the ends are in the wrong order."""
    if any(mp.isnan(number) for number in (x, low, high)):
        return mp.nan
    return sorted((x, low, high))[1] if low <= high else high


def log_gamma(x: Real) -> Real:
    """log(gamma(x)) from 0 up: beside its zeros 1 and 2 a Taylor series, DLMF 5.7.3."""
    if not x >= 0:
        return mp.nan
    if x == 0:
        return mp.inf
    zero = 1 if x < 1.5 else 2
    step = x - zero
    if abs(step) < mp.ldexp(1, -60):
        terms = range(2, 2 + mp.prec // 60)
        rest = mp.fsum((-step) ** k / k * (mp.zeta(k) - (zero - 1)) for k in terms)
        return step * mp.digamma(zero) + rest
    return mp.loggamma(x)


def log_beta(a: Real, b: Real) -> Real:
    """log(beta(a, b)) from 0 up, with the digits that the sum and the difference of the logarithms lose."""
    if not min(a, b) >= 0:
        return mp.nan
    if min(a, b) == 0 or mp.isinf(max(a, b)):
        return mp.inf if min(a, b) == 0 else -mp.inf
    x, y = max(a, b), min(a, b)
    is_far = y < mp.ldexp(x, -mp.prec // 3)
    with mp.extraprec(20 + mp.mag(x) - mp.mag(y) + max(0, mp.mag(x))):
        first = log_gamma_once(y, mp.prec)
        if not is_far:
            return first + (mp.loggamma(x) - mp.loggamma(x + y))
    with mp.extraprec(20):
        rest = y * (mp.digamma(x) + y * mp.polygamma(1, x) / 2)
    with mp.extraprec(20 + mp.mag(x) - mp.mag(y)):
        return first - rest


@lru_cache(maxsize=8)
def log_gamma_once(x: Real, bits: int) -> Real:
    """Of the operand that a difference quotient leaves as it is, to so many bits."""
    with mp.workprec(bits):
        return mp.loggamma(x)


def beta(a: Real, b: Real) -> Real:
    """The beta function from 0 up."""
    with mp.extraprec(20):
        return mp.exp(log_beta(a, b))


def log_beta_slope(x: Real, y: Real) -> Real:
    """The derivative of log(beta(x, y)) with respect to x, for finite positive x and y."""
    with mp.workprec(300):
        if y < mp.ldexp(x, -100):
            return -y * (mp.polygamma(1, x) + y * mp.polygamma(2, x) / 2)
        return mp.digamma(x) - mp.digamma(x + y)


def beta_slope(x: Real, y: Real) -> Real:
    """The derivative of beta(x, y) with respect to x, for finite positive x and y."""
    with mp.workprec(300):
        return beta(x, y) * log_beta_slope(x, y)


def airy(name: str, x: Real, derivative: int = 0) -> Real:
    """An Airy function or its derivative; beyond 200 it is far beyond every double."""
    if x < -(10**6) or mp.isnan(x):
        return mp.nan
    if x > 200:
        return (
            mp.ldexp(x, 3000) if name == "airybi" else (-1) ** derivative * mp.ldexp(1 / x, -3000)
        )
    return getattr(mp, name)(x, derivative=derivative)


def elliptic_e_slope(m: Real) -> Real:
    """The derivative of the complete elliptic integral of the second kind, DLMF 19.4.2; m is not 0."""
    with mp.extraprec(max(0, -mp.mag(m))):
        return (mp.ellipe(m) - mp.ellipk(m)) / (2 * m)


def gamma(x: Real) -> Real:
    """The gamma function from 0 up; beyond 10^20 it is far beyond every double."""
    if not x >= 0:
        return mp.nan
    if x == 0:
        return mp.inf
    return mp.gamma(x) if x < 10**20 else mp.ldexp(x, 10**22)


def scaled_complement(x: Real) -> Real:
    """exp(x^2)*erfc(x): far out an asymptotic series, and far to the left beyond every double."""
    if mp.isnan(x) or -(10**4) < x < 100:
        return mp.exp(x * x) * mp.erfc(x)
    if x < 0:
        return mp.ldexp(-x, 3000)
    if mp.isinf(x):
        return mpf(0)
    terms = [mp.fac2(2 * k - 1) / (-2 * x * x) ** k for k in range(60)]
    return mp.fsum(terms) / (x * mp.sqrt(mp.pi))


def tail_quantile(q: Real) -> Real:
    """The y from 0 up for which erfc(y) is q, by Newton's steps for the logarithm."""
    if q == 1:
        return mpf(0)
    w = -mp.log(q * (2 - q))
    y = mp.sqrt(max(w - mp.log(mp.pi * max(w, 1)) / 2, w / 4))
    bits = 60
    while bits < mp.prec:  # each step doubles the digits that are right
        with mp.workprec(bits):
            y = approached(y, q)
        bits *= 2
    return approached(y, q)


def approached(y: Real, q: Real) -> Real:
    for _ in range(200):
        other = complement(y)
        step = mp.log(other / q) * other * mp.sqrt(mp.pi) / 2 * mp.exp(y * y)
        y += step
        if abs(step) <= abs(y) * mp.ldexp(1, -mp.prec // 2 - 8):
            return y
    raise mp.NoConvergence


def inverse_erf(x: Real) -> Real:
    if abs(x) < 0.5:
        return mp.erfinv(x)
    if not abs(x) < 1:
        return x * mp.inf if abs(x) == 1 else mp.nan
    return mp.sign(x) * tail_quantile(1 - abs(x))


def quantile(p: Real) -> Real:
    if not 0 < p < 1:
        return mp.nan if not 0 <= p <= 1 else mp.inf if p else -mp.inf
    y = mp.sqrt(2) * tail_quantile(2 * min(p, 1 - p))
    return y if p > 0.5 else -y


def bessel(order: int, x: Real) -> Real:
    """A Bessel function of the first kind: Hankel's expansion where the operand is large."""
    if mp.isnan(x) or abs(x) < 10**4:
        return mp.besselj(order, x)
    if mp.isinf(x):
        return mpf(0)
    if mp.mag(x) > 10**4:
        return mp.nan
    with mp.extraprec(20 + max(0, mp.mag(x))):
        z, mu, term, sums = abs(x), 4 * order * order, mpf(1), [mpf(0), mpf(0)]
        for k in range(40):
            sums[k % 2] += term * (-1) ** (k // 2)
            term *= (mu - (2 * k + 1) ** 2) / ((k + 1) * 8 * z)
        angle = z - (2 * order + 1) * mp.pi / 4
        wave = sums[0] * mp.cos(angle) - sums[1] * mp.sin(angle)
        return mp.sqrt(2 / (mp.pi * z)) * wave * (mp.sign(x) if order % 2 else 1)


def exponential_integral(x: Real) -> Real:
    """Ei: beyond 10^4 it is far beyond every double, and on the left far below."""
    if mp.isnan(x) or abs(x) < 10**4:
        return mp.ei(x)
    return mp.ldexp(x, 10**4) if x > 0 else -mp.ldexp(-1 / x, -(10**4))


def hyperbolic_integral(sign: int, x: Real) -> Real:
    """Shi, or with a sign of -1 Chi; beyond 10^4 they are far beyond every double."""
    if mp.isnan(x) or (x < 0 and sign < 0):
        return mp.nan
    if abs(x) > 10**4:
        return mp.ldexp(x, 10**4)
    return mp.shi(x) if sign > 0 else mp.chi(x)


def fresnel(function: Callable[[Real], Real], x: Real) -> Real:
    """Fresnel's sine or cosine integral: far out the asymptotic series, down to its least terms."""
    if mp.isnan(x) or 2 * x * x < mp.prec + 200:
        return function(x)
    if mp.isinf(x):
        return mp.sign(x) / 2
    if mp.mag(x) > 10**4:
        return mp.nan
    with mp.extraprec(20 + max(0, 2 * mp.mag(x))):
        z, k, term, sums = mp.pi * x * x, 0, mpf(1), [mpf(0), mpf(0)]
        while abs(term) > mp.ldexp(1, -mp.prec):
            sums[k % 2] += term * (-1) ** (k // 2)
            k, term = k + 1, term * (2 * k + 1) / z
        sine, cosine = mp.sin(z / 2), mp.cos(z / 2)
        if function == mp.fresnels:
            waves = -sums[0] * cosine - sums[1] * sine
        else:
            waves = sums[0] * sine - sums[1] * cosine
        return mp.sign(x) / 2 + waves / (mp.pi * x)


CORE: dict[str, Callable[..., Real]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "mod": operator.mod,
    "pow": power,
    "neg": operator.neg,
    "lt": lambda x, y: flag(x < y),
    "le": lambda x, y: flag(x <= y),
    "gt": lambda x, y: flag(x > y),
    "ge": lambda x, y: flag(x >= y),
    "eq": lambda x, y: flag(x == y),
    "ne": lambda x, y: flag(x != y),
    "where": lambda c, x, y: x if c != 0 else y,
    "min": lambda *operands: mp.nan if any(mp.isnan(x) for x in operands) else min(operands),
    "max": lambda *operands: mp.nan if any(mp.isnan(x) for x in operands) else max(operands),
    "logsumexp": log_sum_exp,
    "logaddexp": log_sum_exp,
    "abs": abs,
    "round": lambda x: mp.nint(x),
    "log2": lambda x: mp.log(x) / mp.log(2),
    "log10": lambda x: mp.log(x) / mp.log(10),
    "cbrt": lambda x: mp.sign(x) * mp.cbrt(abs(x)),
    "tanh": lambda x: mp.tanh(x) if abs(x) < 10**5 else mp.sign(x),  # 1 - 2^-288,000
    "erf": lambda x: mp.erf(x) if x * x < mp.prec else mp.sign(x),
    "erfc": complement,
    "gelu": lambda x: x * complement(-x / mp.sqrt(2)) / 2,
    "clamp": between,
    "trunc": lambda x: mp.ceil(x) if x < 0 else mp.floor(x),
    "heaviside": lambda x: x if mp.isnan(x) else mpf((x > 0) + (x >= 0)) / 2,
    "xlogy": lambda x, y: x if x == 0 and y == y else x * mp.log(y),
    "sinc": lambda x: mp.sinc(x),
    "relu": lambda x: mpf(0) if x < 0 else x,
    "leaky_relu": lambda x: x / 100 if x < 0 else x,
    "elu": lambda x: mp.expm1(x) if x < 0 else x,
    "selu": lambda x: mpf(SELU) * (SELU_LEFT * mp.expm1(x) if x < 0 else x),
    "sigmoid": logistic,
    "silu": lambda x: x * logistic(x),
    "softplus": log_one_plus_exp,
    "normpdf": lambda x: mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi) if not abs(x) >= 10**4 else mpf(0),
    "normcdf": lambda x: complement(-x / mp.sqrt(2)) / 2,
    "norminv": quantile,
    "erfinv": inverse_erf,
    "erfcx": scaled_complement,
    "j0": lambda x: bessel(0, x),
    "j1": lambda x: bessel(1, x),
    "gamma": gamma,
    "factorial": lambda x: gamma(1 + x),
    "lgamma": log_gamma,
    "beta": beta,
    "lbeta": log_beta,
    "Ei": exponential_integral,
    "E1": lambda x: mp.nan if not x >= 0 else mp.e1(x) if x else mp.inf,
    "li": lambda x: mp.nan if not x >= 0 else mp.li(x),
    "Si": lambda x: mp.si(x),
    "Ci": lambda x: mp.nan if not x >= 0 else mp.ci(x),
    "Shi": lambda x: hyperbolic_integral(1, x),
    "Chi": lambda x: hyperbolic_integral(-1, x),
    "fresnels": lambda x: fresnel(mp.fresnels, x),
    "fresnelc": lambda x: fresnel(mp.fresnelc, x),
    "erfi": lambda x: mp.erfi(x) if not abs(x) > 100 else mp.ldexp(x, 3000),
    "airyai": lambda x: airy("airyai", x),
    "airybi": lambda x: airy("airybi", x),
    "airyaiprime": lambda x: airy("airyai", x, 1),
    "airybiprime": lambda x: airy("airybi", x, 1),
    "elliptic_k": lambda x: mp.nan if not x <= 1 else mp.ellipk(x) if x < 1 else mp.inf,
    "elliptic_e": lambda x: mp.nan if not x <= 1 else mp.ellipe(x),
    "softsign": lambda x: x / (1 + abs(x)) if mp.isfinite(x) else mp.sign(x),
    "logsigmoid": lambda x: -log_one_plus_exp(-x),
}


SLOPES: dict[str, Callable[..., Real]] = {
    "lbeta": log_beta_slope,
    "beta": beta_slope,
    "erf": lambda x: 2 * mp.exp(-x * x) / mp.sqrt(mp.pi),
    "erfc": lambda x: -2 * mp.exp(-x * x) / mp.sqrt(mp.pi),
    "normcdf": lambda x: mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi),
    "norminv": lambda p: mp.sqrt(2 * mp.pi) * mp.exp(quantile(p) ** 2 / 2),
    "erfinv": lambda x: mp.sqrt(mp.pi) * mp.exp(inverse_erf(x) ** 2) / 2,
    "gamma": lambda x: mp.gamma(x) * mp.digamma(x) if x < 1000 else mp.inf,
    "factorial": lambda x: mp.gamma(1 + x) * mp.digamma(1 + x) if x < 1000 else mp.inf,
    "erfi": lambda x: 2 * mp.exp(x * x) / mp.sqrt(mp.pi),
    "Ei": lambda x: mp.exp(x) / x,
    "E1": lambda x: -mp.exp(-x) / x,
    "li": lambda x: 1 / mp.log(x),
    "Shi": lambda x: mp.sinh(x) / x,
    "Chi": lambda x: mp.cosh(x) / x,
    "fresnels": lambda x: mp.sinpi(x * x / 2),
    "fresnelc": lambda x: mp.cospi(x * x / 2),
    "elliptic_e": elliptic_e_slope,
    "airyai": lambda x: airy("airyai", x, 1),
    "airybi": lambda x: airy("airybi", x, 1),
    "airyaiprime": lambda x: x * airy("airyai", x),
    "airybiprime": lambda x: x * airy("airybi", x),
}
"""Derivatives with respect to the first operand where quotients would take minutes.

Of an integral the integrand, of an inverse the reciprocal of the slope, of a solution of y'' = x*y the
other's; of two operands both alike.
"""


def has_own_reference(name: str) -> bool:
    """Whether mpmath knows the operation; if not, its definition is what it is."""
    row = BY_NAME[name]
    word = row.setting[0] if row.setting else name
    return name in CORE or (hasattr(mp, word) and not (row.value and row.definition))


def known(name: str, *args: Real) -> Real:
    """What mpmath says; nothing where an approximation, which may cover less, is not said to hold."""
    row = BY_NAME[name]
    if name in CORE:
        return CORE[name](*args)
    given = dict(zip(row.names, args, strict=True)) if row.domain and row.value else {}
    if given and not evaluate(template(row.domain), given)[-1]:
        poles = [value for at, value in row.poles if evaluate(template(at), given)[-1]]
        return evaluate(template(poles[0]), given)[-1] if poles else mp.nan
    word, *setting = row.setting or (name,)
    return getattr(mp, str(word))(*setting, *args)


class Unwieldy(ArithmeticError):
    """A number so large or small that a function takes minutes: it wants pi or log(2) to as many bits."""


def reference(name: str, *args: Real) -> Real:
    """An operation at mpmath's working precision; nan where it has no real value."""
    try:
        if has_own_reference(name):
            result = known(name, *args)
        else:
            definition = template(BY_NAME[name].definition)
            result = evaluate(definition, dict(zip(BY_NAME[name].names, args, strict=True)))[-1]
    except ZeroDivisionError:
        return mp.nan if name != "div" or args[0] == 0 else args[0] * mp.inf
    except (ValueError, TypeError, OverflowError, mp.NoConvergence):
        return mp.nan  # no real number, or one whose exponent is itself beyond counting
    if isinstance(result, mp.mpc):
        return mp.nan
    return mpf(result)


def decimal(value: float) -> Real:
    """The decimal that a double is written as, which simplification takes it for."""
    return mpf(repr(value))


def evaluate(
    graph: Graph,
    inputs: Mapping[str, Real],
    number: Callable[[float], Real] = mpf,
    exponents: float = math.inf,
) -> list[Real]:
    """Every node's data at mpmath's working precision; named constants are exact, not doubles.

    ``number`` says what a constant is: the double itself, or the ``decimal`` that was typed.  Where a
    number's exponent is beyond ``exponents``, it is ``Unwieldy``.
    """
    values: list[Real] = []
    for node, kind in enumerate(graph.kinds):
        payload = graph.payloads[node]
        if kind == INPUT:
            values.append(mpf(inputs[str(payload)]))
        elif kind == CONST:
            exact = CONSTANTS.get(graph.symbols.get(node, ""))
            digits = graph.spelled.get(node) if number is decimal else None
            typed = mpf(digits) if digits else number(payload)  # type: ignore[arg-type]
            values.append(exact() if exact else typed)
        else:
            values.append(reference(kind, *[values[operand] for operand in graph.operands[node]]))
        if mp.isfinite(values[-1]) and values[-1] and abs(mp.mag(values[-1])) > exponents:
            raise Unwieldy(kind)
    return values


def agree(one: Real, other: Real, bits: int) -> bool:
    return bool(one == other) or bool(abs(one - other) <= mp.ldexp(abs(other), -bits))


@lru_cache(maxsize=RECENT)
def true_value(name: str, *args: float) -> Real:
    """An operation's value at doubles: by balls, or else by mpmath."""
    if all(map(math.isfinite, args)):
        for bits in (160, 640, 2560):
            with working_precision(bits):
                settled = settled_by(apply_to_balls(name, [*map(exact_ball, args)]), 100)
            if settled is not None:
                return settled
    return value_by_mpmath(name, *args)


FAR_BELOW = 2.0**-500
"""The square of this, and its cube, are nothing beside the least double."""


def settled_by(enclosure: Ball, bits: int) -> Real | None:
    """The number that a ball determines to so many bits, or tells to be far below the least double."""
    if not enclosure.is_finite():
        return None
    if enclosure.rel_accuracy_bits() < bits and not abs(enclosure) < exact_ball(FAR_BELOW) ** 3:
        return None
    digits, exponent = enclosure.mid().man_exp()
    return mp.ldexp(int(digits), int(exponent))


def value_by_mpmath(name: str, *args: float) -> Real:
    """An operation's value at doubles: evaluated ever more precisely until two answers agree.

    A definition begins at 2,400 bits, which hold the sum of 1 and the least double.
    """
    if name.startswith("airy"):  # mpmath sees to what cancels there
        with mp.workprec(200):
            return reference(name, *map(mpf, args))
    bits = 160 if has_own_reference(name) else 2400
    before = None
    while True:
        with mp.workprec(bits):
            now = reference(name, *map(mpf, args))
            if mp.isnan(now) or (before is not None and agree(before, now, 100)):
                return now
        before, bits = now, bits * 2
        assert bits < 20000, f"{name}{args} does not settle"


@lru_cache(maxsize=RECENT)
def true_partial(name: str, position: int, args: tuple[float, ...]) -> Real:
    """An operation's derivative by one operand: of balls, or else by mpmath.

    At a kink or a jump the answer means nothing: callers leave those out.
    """
    if name not in INTEGRALS and all(map(math.isfinite, args)):
        settled = limit_of_balls(name, position, args)
        if settled is not None:
            return settled
    return partial_by_mpmath(name, position, args)


INTEGRALS = {"Ei", "E1", "li", "Shi", "Chi", "fresnels", "fresnelc"}
"""Their slopes are elementary functions, and sooner told than any quotient."""


def limit_of_balls(name: str, position: int, args: Sequence[float]) -> Real | None:
    """The limit of central quotients as in ``limit_of_quotients``; None where balls do not settle it.

    A quotient of 0 is believed only where the step is below all doubles: a jump's period may be shorter.
    """
    bits, before = 100 if BY_NAME[name].special else 45, None
    large = max(0, *[math.frexp(x)[1] for x in args])
    while bits <= (200 if name in SLOPES else 1600):
        with working_precision(4 * bits + large):
            exact = [*map(exact_ball, args)]
            step = step_from(args, position, bits)
            left, right = (
                apply_to_balls(
                    name, [*exact[:position], exact[position] + shift, *exact[position + 1 :]]
                )
                for shift in (-step, step)
            )
            quotient = settled_by((right - left) / (2 * step), 80)
        if quotient is not None:
            is_nothing = bits > 1000 and abs(quotient) < FAR_BELOW
            is_settled = quotient != 0 and before is not None and agree(before, quotient, 64)
            if is_nothing or is_settled:
                return quotient
        before, bits = quotient, bits * 2
    return None


def step_from(args: Sequence[float], position: int, bits: int) -> Ball:
    """A step from one operand, some bits below it and below 1, or else below the least of the others."""
    x = args[position]
    scale = abs(x) or min([abs(other) for other in args if other], default=1.0)
    return (
        exact_ball(min(scale, 1.0)) * exact_ball(0.5) ** bits * exact_ball(math.pi / 4)
    )  # no whole number of periods


def partial_by_mpmath(name: str, position: int, args: Sequence[float]) -> Real:
    """An operation's derivative by one operand: in closed form, or else the limit of difference quotients.

    At a kink or a jump the answer means nothing: callers leave those out.
    """
    if name in SLOPES and all(x and math.isfinite(x) for x in args):
        row, others = BY_NAME[name], [*args[:position], *args[position + 1 :]]
        with (
            mp.workprec(400 + 2 * max(0, *[math.frexp(x)[1] for x in args])),
            suppress(ZeroDivisionError),
        ):
            inside = holds(row.domain, row.names, args)
            return SLOPES[name](*map(mpf, (args[position], *others))) if inside else mp.nan
    return limit_of_quotients(name, position, args)


def limit_of_quotients(name: str, position: int, args: Sequence[float]) -> Real:
    """An operation's derivative by one operand: a difference quotient with ever smaller steps.

    It is central inside the domain and one-sided at its edge, where it may grow or shrink like a power
    of the step: then the limit is infinite or 0.  An exact zero is believed only at the smallest step;
    what is far below the least double counts as zero; nan means that there is no derivative.  At a kink
    or a jump the answer means nothing; where a row has such, steps begin shorter.
    """
    bits = 600 if not has_own_reference(name) else 100 if BY_NAME[name].special else 45
    quotient, large = mp.nan, max(0, *[math.frexp(x)[1] for x in args], 0)
    while bits <= (3200 if quotient else 1600):
        before = quotient
        with mp.workprec(4 * bits + large):  # so that a small step from a large operand is a step
            quotient = difference_quotient(name, position, [mpf(x) for x in args], bits)
            if quotient != 0 and agree(before, quotient, 64):
                return quotient
        bits *= 2
    if abs(quotient) > 2 * abs(before) > 0 and abs(quotient) > 1:
        return mp.sign(quotient) * mp.inf
    # Beside an edge, 1/log(x) is about halved as the bits double.
    vanishes = abs(quotient) < mp.ldexp(1, -1100) or 1.9 * abs(quotient) < abs(before)
    return mpf(0) if vanishes else mp.nan


def difference_quotient(name: str, position: int, args: list[Real], bits: int) -> Real:
    x = args[position]
    scale = abs(x) or min([abs(other) for other in args if other], default=mpf(1))
    step = mp.ldexp(min(scale, 1), -bits) * mp.pi / 4  # no whole number of periods

    def at(shift: Real) -> Real:
        return reference(name, *args[:position], x + shift, *args[position + 1 :])

    left, right = at(-step), at(step)
    if mp.isnan(left) and not mp.isnan(right):
        return (right - at(mpf(0))) / step
    if mp.isnan(right) and not mp.isnan(left):
        return (at(mpf(0)) - left) / step
    return (right - left) / (2 * step)


def ulp(true: Real) -> Real:
    """The distance of doubles at a real number; 2^-1074 where they are subnormal; nan at nan."""
    if mp.isnan(true):
        return true
    magnitude = mp.mag(true) if true else -2000
    return mp.ldexp(1, min(max(magnitude - 53, -1074), 971))


def ulps(computed: float, true: Real) -> float:
    """How far a double is from the truth, in ulps of the truth; beyond the doubles lies 2^1024.

    The truth in ulps is a whole number and a rest, so that the difference to a double keeps its digits.
    """
    if mp.isnan(true) or math.isnan(computed):
        return 0.0 if mp.isnan(true) and math.isnan(computed) else math.inf
    if mp.mag(true) > 1024:
        true = mp.ldexp(mp.sign(true), 1024)
    digits, exponent = map(int, true.man_exp)
    unit = min(max(digits.bit_length() + exponent - 53, -1074), 971) if digits else -1074
    below = unit - exponent
    whole = digits >> below if below > 0 else digits << -below
    is_tiny = digits.bit_length() < below - 60
    rest = 0.0 if below <= 0 or is_tiny else (digits - (whole << below)) / (1 << below)
    near, exponent = (
        (computed, 0) if math.isfinite(computed) else (math.copysign(1, computed), 1024)
    )
    try:
        return abs(math.ldexp(-near if true < 0 else near, exponent - unit) - whole - rest)
    except OverflowError:
        return math.inf


def holds(condition: str, names: Sequence[str], args: Sequence[Real]) -> bool:
    """Whether a condition of a row holds: comparisons, of doubles or else in mpmath."""
    if not condition:
        return True
    if all(isinstance(x, float) for x in args):
        return sweeps.condition_holds(condition, tuple(names), args)
    with mp.workprec(2400):
        return bool(evaluate(template(condition), dict(zip(names, args, strict=False)))[-1] != 0)


def gradient(
    graph: Graph,
    inputs: Mapping[str, float],
    digits: int = 60,
    number: Callable[[float], Real] = mpf,
) -> dict[str, Real]:
    """The output's derivative by every input: central differences of the whole graph.

    Three times the digits are carried, and the step takes one third: the truncation error is of the
    order of the step's square.  Not to be asked at kinks and jumps.
    """
    found = {}
    with mp.workdps(4 * digits):
        exact = {name: number(value) for name, value in inputs.items()}
        for name, x in exact.items():
            step = mpf(10) ** -digits * (abs(x) if x else 1)
            right = evaluate(graph, {**exact, name: x + step}, number)[graph.output]
            left = evaluate(graph, {**exact, name: x - step}, number)[graph.output]
            found[name] = (right - left) / (2 * step)
    return found


def second_derivatives(
    graph: Graph,
    inputs: Mapping[str, float],
    digits: int = 60,
    number: Callable[[float], Real] = mpf,
) -> dict[str, dict[str, Real]]:
    """The output's second derivatives, by central differences along both inputs: see ``gradient``."""
    found: dict[str, dict[str, Real]] = {name: {} for name in inputs}
    with mp.workdps(4 * digits):
        exact = {name: number(value) for name, value in inputs.items()}
        steps = {name: mpf(10) ** -digits * (abs(x) if x else 1) for name, x in exact.items()}
        for one, other in combinations_with_replacement(inputs, 2):
            total = size = mpf(0)
            for first, second in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
                moved = {**exact, one: exact[one] + first * steps[one]}
                moved[other] += second * steps[other]
                value = evaluate(graph, moved, number)[graph.output]
                total += first * second * value
                size += abs(value)
            if abs(total) < size * mpf(10) ** (10 - 4 * digits):
                total = mpf(0)  # nothing but rounding
            found[one][other] = found[other][one] = total / (4 * steps[one] * steps[other])
    return found


@cache
def graph_of(op: Op, count: int) -> Graph:
    """The operation alone, on so many inputs named a0, a1…"""
    names = [f"a{position}" for position in range(count)]
    if op.prefix:
        return parse_text(op.prefix + names[0])
    return parse_text(op.infix.join(names) if op.infix else f"{op.name}({', '.join(names)})")


def computed(op: Op, args: Sequence[float]) -> tuple[float, list[float]]:
    """What the sweeps find for one operation: its value and its local derivatives."""
    tape = tape_of(op, len(args))
    values = forward_numbers(tape.graph, {f"a{position}": x for position, x in enumerate(args)})
    found = play_tape(tape, values).locals[tape.graph.output]
    assert found is not None
    return values[-1], [local for local in found if local is not None]


@cache
def tape_of(op: Op, count: int) -> Tape:
    """The tape of the operation alone."""
    graph = graph_of(op, count)
    return record_tape(graph, graph.inputs.values())


def is_special(op: Op, args: Sequence[float]) -> bool:
    """Whether a row's answer is a convention there: all operands vary."""
    if op.variadic:
        return bool(op.special) and len(set(args)) < len(args)
    if not op.special:
        return False
    names = rule_slots(op)
    values = [*args, computed(op, args)[0], *[1.0] * len(args)]
    return any(holds(special.where, names, values) for special in op.special)


def true_second(name: str, positions: tuple[int, int], args: Sequence[float]) -> Real:
    """An operation's second derivative by two operands: of balls, or else by mpmath.

    At a kink of the first derivative it means nothing; nan where it does not settle, as beside the end
    of a domain.
    """
    before = None
    for bits in (100, 200, 400, 800):
        with working_precision(6 * bits):
            steps = [step_from(args, position, bits) for position in range(len(args))]
            enclosure = second_quotient(
                partial(apply_to_balls, name), [*map(exact_ball, args)], positions, steps
            )
            quotient = settled_by(enclosure, 80)
        if quotient is not None and before is not None and agree(before, quotient, 64):
            return quotient
        before = quotient
    return second_by_mpmath(name, positions, args)


def second_by_mpmath(name: str, positions: tuple[int, int], args: Sequence[float]) -> Real:
    """An operation's second derivative by two operands: a difference quotient with ever smaller steps."""
    if name.startswith("airy") and math.isfinite(args[0]):
        with mp.workprec(400):
            x, word = mpf(args[0]), name.removesuffix("prime")
            slope = airy(word, x) if name != word else 0
            return x * airy(word, x, int(name != word)) + slope
    quotient = mp.nan
    for bits in (100, 200, 400, 800, 1600, 3200):
        before = quotient
        with mp.workprec(6 * bits):
            quotient = by_steps(name, positions, [mpf(x) for x in args], bits)
            if quotient != 0 and agree(before, quotient, 64):
                return quotient
    vanishes = abs(quotient) < mp.ldexp(1, -1100) or 2 * abs(quotient) < abs(before)
    return mpf(0) if vanishes else mp.nan


def by_steps(name: str, positions: tuple[int, int], args: list[Real], bits: int) -> Real:
    """A second quotient by mpmath with steps of so many bits; of a slope, if that has a closed form."""
    if name in SLOPES and len(args) == 1 and args[0]:
        (x,), slope = args, SLOPES[name]
        step = mp.ldexp(min(abs(x), 1), -bits)
        return (slope(x + step) - slope(x - step)) / (2 * step)
    scales = [abs(x) or min([abs(other) for other in args if other], default=mpf(1)) for x in args]
    steps = [mp.ldexp(min(scale, 1), -bits) * mp.pi / 4 for scale in scales]
    return second_quotient(lambda moved: reference(name, *moved), args, positions, steps)


def second_quotient(
    function: Callable[[list[Any]], Any],
    args: list[Any],
    positions: tuple[int, int],
    steps: list[Any],
) -> Any:
    """A central second quotient of a function of some operands, by steps from two of them."""

    def at(*signs: int) -> Any:
        moved = list(args)
        for position, sign in zip(positions, signs, strict=True):
            moved[position] += sign * steps[position]
        return function(moved)

    first, second = positions
    if first == second:
        return (at(1, 0) - 2 * at(0, 0) + at(-1, 0)) / steps[first] ** 2
    crossed = at(1, 1) - at(1, -1) - at(-1, 1) + at(-1, -1)
    return crossed / (4 * steps[first] * steps[second])


def computed_second(op: Op, args: Sequence[float]) -> dict[tuple[int, int], float]:
    """The second derivatives of one operation as ``hess`` finds them, on and above the diagonal."""
    program, entries = hessian_of(op, len(args))
    values = forward_numbers(program.graph, {f"a{position}": x for position, x in enumerate(args)})
    places = [(i, j) for i in range(len(args)) for j in range(i, len(args))]
    return {
        place: values[program.outputs[entries[place]]] if place in entries else 0.0
        for place in places
    }


@cache
def hessian_of(op: Op, count: int) -> tuple[Program, Entries]:
    """The second derivatives of the operation alone."""
    return hessian_entries(graph_of(op, count), [f"a{position}" for position in range(count)])
