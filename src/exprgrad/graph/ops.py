"""The op table: one row per operation, and everything else follows from the rows.

A row's texts are written in the language that users write (``grammar/expression.lark``).  A rule may
name the row's operands, and

    out             the operation's own result
    varies_x        1 if operand x depends on an input, else 0
    x, varies, ties in a variadic row: one operand, whether it varies, and the row's tie rule summed
                    over all operands (so ``(x == out)/ties`` shares a tie equally)

Every function in a rule is itself a row.  Where a derivative does not exist, a rule gives the
subgradient of least norm.  ``docs/how-to/add-an-operation.md`` walks through one row.

Rows that ordinary formulas do without stand in modules of their own, ``FURTHER``, which are loaded when a
name is met that is not known yet, or when ``OPS`` is asked for, which is all rows.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from exprgrad.graph.op import (
    ATAN_SLOPE,
    Family,
    NonsmoothPoint,
    Op,
    comparison_row,
    extremum_row,
    horner_text,
    hypot_slope,
    index_by,
    names_with,
    step_row,
)

if TYPE_CHECKING:  # it takes long to load
    from fractions import Fraction

__all__ = [
    "ARITHMETIC_OPERATORS", "BENT", "BEYOND", "BY_INFIX", "BY_NAME", "BY_POWERS", "BY_SIGNS", "COMMON", "COMPARISONS", "EQUATIONS", "EXTREMA", "FAMILIES", "FUNCTIONS",
    "IN_MATH", "IN_OTHER_WORDS", "LOGIC", "OPS", "PRODUCTS", "SUMS", "VARIADIC", "NonsmoothPoint", "Op",
    "by_row_name", "family_member", "is_function", "is_root",
]  # fmt: skip


T = TypeVar("T")
MOST_BITS = 8192
"""The most bits of a power's numerator or denominator; a longer one is no double, and no quotient of two."""


def rational_power(base: Fraction, exponent: Fraction) -> Fraction | None:
    """Return a fraction's power; None where that is not rational, or too long to be a double."""
    if exponent.denominator != 1 or not base:
        return None
    bits = max(base.numerator.bit_length(), base.denominator.bit_length(), 2) - 1
    if bits * abs(exponent) > MOST_BITS:
        return None
    return base ** int(exponent)


WRAPS = "q = round(x/y); pull = where(q == 0, 0, q*dy); falls = (dx - pull)*sign(y) < 0"
"""Beside a whole quotient q: whether the quotient falls below it, for it moves by (dx - q*dy)/y."""


CLAMP_TIES = (
    "at_x = (x == out)*(lo <= x); at_lo = (lo == out)*(x <= lo); at_hi = hi == out; "
    "ties = where(at_x, where(varies_x, 1, inf), 0) + where(at_lo, where(varies_lo, 1, inf), 0) "
    "+ where(at_hi, where(varies_hi, 1, inf), 0)"
)
"""As in ``max``: whichever of x, lo and hi is the result, there or right beside, shares equally."""

SINC_SLOPE = (
    "s = x*x; u = 1 - s/378*(1 - s/460*(1 - s/550*(1 - s/648))); "
    "v = 1 - s/130*(1 - s/180*(1 - s/238*(1 - s/304*u))); "
    "near = 0 - x/3*(1 - s/10*(1 - s/28*(1 - s/54*(1 - s/88*v)))); "
    "where(abs(x) < 1, near, where(abs(x) == inf, 0, (cos(x) - sin(x)/x)/x))"
)
"""The derivative of sin(x)/x; where it is the difference of two numbers near 1, its power series."""

SINC_NEAR = horner_text(
    [-306 / math.factorial(19), 240 / math.factorial(17), -182 / math.factorial(15), 132 / math.factorial(13),
     -90 / math.factorial(11), 56 / math.factorial(9), -1 / 168, 1 / 10, -1 / 3], "s",
)  # fmt: skip
SINC_SECOND = f"s = x*x; near = {SINC_NEAR}; where(abs(x) < 1, near, where(abs(x) == inf, 0, -out - 2*((cos(x) - out)/x)/x))"
"""The second derivative of sin(x)/x, near 0 by its power series."""

POW_EXACT = "max(y >= 0.5, y == floor(y))*(abs(y) < 2^53)"
"""Whether y - 1 is a double."""
POW_SCALE = "where(abs(x) < 1e-280, 2^100, where(abs(x) > 1e280, 2^-100, 1))"
"""What keeps y*x^(y/2)/x from overflow and underflow where y*x^(y - 1) is an ordinary number."""
POW_SLOPE = (
    "h = abs(x)^(y/2); p = x^(y - 1); at_end = where((y == 0) + (p == 0)*(x != 0), 0, y*p); "
    "scaled = sign(x)^y*(h/(x*where(abs(x) < 1, 2^100, 2^-100))*y*(h*where(abs(x) < 1, 2^100, 2^-100))); "
    "far = where((x == 0) + (h < 1e-290) + (abs(x) == inf), at_end, scaled); "
    "near = (abs(x) > 1e-280)*(abs(x) < 1e280)*(h > 1e-290); "
    "general = where(near, where(x < 0, (-1)^y, 1)*(y*h/x*h), far); "
    "halves = x^floor((y - 1)/2)*y*x^(y - 1 - floor((y - 1)/2)); "
    "plain = where(abs(y) <= 4, y*p, halves); "
    "rare = (x == 0) + (abs(out) <= 1e-290) + (out == inf); "
    f"fixed = where(y == 0, 0, where({POW_EXACT}, plain, y*out/x)); "
    f"where(where(varies_y, 1, where(y == 0, 0, where({POW_EXACT}, 0, rare))), general, fixed)"
)
"""The derivative of x^y for x: in general from two halves of the power, scaled where x is tiny or huge.
Where a half is subnormal, either y - 1 is a double or the derivative is 0.

Where y is constant, y*x^(y - 1) is as good if y - 1 is a double, and y*out/x unless the power is tiny.
"""
POW_SECONDS = (
    "h = x^(y/2); halves = x^floor((y - 2)/2)*(y*(y - 1))*x^(y - 2 - floor((y - 2)/2)); "
    "plain = where(max(y == 0, y == 1), 0, where(y == 2, 2, where(abs(y) <= 4, y*(y - 1)*x^(y - 2), halves))); "
    "where(max(max(y >= 1, y == floor(y))*(abs(y) < 2^53), x == 0), plain, h/x*y*(h/x*(y - 1)))",
    f"h = x^(y/2); s = {POW_SCALE}; q = 1 + y*log(x); "
    "where(x == 0, where(y > 1, 0, -inf), where(h < 1e-290, x^(y - 1)*q, h/(x*s)*q*(h*s)))",
    "h = x^(y/2); where((x == 0)*(y >= 0), 0, where(h == 0, where(x > 0, 0, nan), h*log(x)*(h*log(x))))",
)
"""The second derivatives of x^y, in which y - 1 is a factor, and no difference of two products of y."""
POW_JOINED = "h = abs(x)^(y/2)"
POW_JOINT = (
    "x^y",
    f"{POW_JOINED}; s = {POW_SCALE}; even = y/2 == floor(y/2); p = y - 1; odd = (p == floor(p))*(p/2 != floor(p/2)); "
    "at_0 = where((p > 0) + (y == 0), 0*y, y*where(p == 0, 1, where(odd, 1/x, inf))); "
    "at_inf = where(p < 0, 0, where(p == 0, 1, where((x < 0)*even*(abs(y) < 2^53), x*y, abs(x)*y))); "
    "whole = where(abs(y) < 2^53, where(y == floor(y), where(even, 1, -1), nan), 1); "
    "finite = where(h == 0, 0, h/(x*s)*y*(h*s)); "
    "where(x == 0, at_0, "
    "where(abs(x) == inf, at_inf, where(x > 0, 1, where(x < 0, whole, nan))*finite))",
    f"{POW_JOINED}; where((x == 0)*(y >= 0) + (x > 0)*(h == 0), 0, h*log(x)*h)",
)
"""All from two powers and a logarithm."""

EXP2_JOINED = "large = x > 1000; e = exp2(x - where(large, 24, 0)); s = where(large, 2^24, 1)"
NEAR_SINH = (
    "s = x*x; near = x + x*(s*((((((7.7615447096593e-13*s + 1.605716803252691e-10)*s + 2.505212430896844e-08)*s "
    "+ 2.755731914973586e-06)*s + 0.0001984126984145497)*s + 0.008333333333333115)*s + 0.16666666666666669))"
)
"""sinh up to 1, to 1.1e-19."""
HALVES = "h = exp(abs(x)/2); g = h/2*h; f = 0.25/g"
SINH_JOINT = f"{NEAR_SINH}; {HALVES}; where(abs(x) < 1, near, sign(x)*(g - f))"
COSH_JOINT = f"{HALVES}; g + f"
NORM = "s = where(out < 1e-290, 2^600, where(out > 1e300, 2^-600, 1)); h = hypot(x*s, y*s); u = x*s/h; v = y*s/h"
"""The unit vector (u, v) of x and y, and their norm h, scaled by s."""
EXPM1_SERIES = horner_text([1 / math.factorial(k) for k in range(20, 1, -1)], "x")
"""(exp(x) - 1 - x)/x^2, by its Taylor series, from -0.7 to 1.1."""
FLAT = "(out == 0) + (max(abs(x), abs(y)) == inf)"
"""Where a norm is taken to have no second derivative, and where it has none in the limit."""
TURN = (
    "r = hypot(x, y); s = where(r < 1e-150, 2^600, where(r > 1e150, 2^-600, 1)); k = hypot(x*s, y*s); "
    "u = x*s/k; v = y*s/k"
)
"""The same with another scale: what is divided by the norm's square stays normal."""

SCALED = (
    "m = max(abs(x), abs(y)); small = m < 2^-500; large = m > 2^500; s = where(small, 2^600, where(large, 2^-600, 1)); "
    "u = x*s; v = y*s; k = u*u + v*v"
)
"""x and y times a power of two, so that their squares are neither too large nor too small."""
ROOT = (
    f"{SCALED}; h = sqrt(k); out = h*where(small, 2^-600, where(large, 2^600, 1)); "
    "far = max(m < 2^-960, m > 2^990); below = where(far, h, out)"
)

# fmt: off
COMMON: tuple[Op, ...] = (
    # Arithmetic.
    Op("add", "x y", ("1", "1"), "the sum", infix="+", latex="x + y", gate="distributor", value_ulp=0.5, partial_ulp=0.0, signs=(1, 1), exact=operator.add, commutes=True, not_zero="any"),
    Op("sub", "x y", ("1", "-1"), "the difference", infix="-", latex="x - y", gate="distributor, sign flipped", value_ulp=0.5, partial_ulp=0.0, signs=(1, -1), exact=operator.sub),
    Op("mul", "x y", ("y", "x"), "the product", infix="*", latex=r"x \cdot y", gate="swap multiplier", value_ulp=0.5, partial_ulp=0.0, powers=(1, 1), exact=operator.mul, unit=1.0, commutes=True, logic="and"),
    Op(
        "div", "x y", ("1/y", "-out/y"), "the quotient", display_partials=("1/y", "-x/y^2"), infix="/", latex=r"\frac{x}{y}",
        domain="y != 0", poles=(("(y == 0)*(x != 0)", "x*inf"),),
        caveat="where x/y is below 2.2e-308, the derivative for y has no more digits than x/y has", value_ulp=0.5,
        powers=(1, -1), exact=operator.truediv, unit=1.0,
    ),
    Op(
        "mod", "x y", ("where(y == 0, nan, 1)", "-round(x/y - out/y)"),
        "the floor modulus: x - y*floor(x/y), with the sign of y",
        display_partials=("1", "-floor(x/y)"), definition="x - y*floor(x/y)", infix="%", latex=r"x \bmod y",
        domain="y != 0", value_ulp=0.5, exact=operator.mod, ill_conditioned="quotient",
        special=(
            NonsmoothPoint(
                "out == 0", "jump", "the remainder wraps around",
                side=f"{WRAPS}; where(falls, y, 0)", slope=f"{WRAPS}; dx - dy*where(falls, q - 1, q)",
                undecided=f"{WRAPS}; (1 - (abs(dx - pull) > 2^-52*abs(pull)))*(1 - same)",
            ),
        ),
    ),
    Op(
        "pow", "x y",
        (
            POW_SLOPE,
            "h = x^(y/2); where((x == 0)*(y >= 0), 0, where(h == 0, where(x > 0, 0, nan), h*log(x)*h))",
        ),
        "x to the power y; 0^0 is 1",
        seconds=POW_SECONDS, display_partials=("y*x^(y - 1)", "out*log(x)"), fused_partials=POW_JOINT, infix="^", latex="x^{y}", spellings="pow",
        domain="(x > 0) + (x == 0)*(y >= 0) + (x < 0)*(y == floor(y))",
        domain_words="the base is positive, or 0 with an exponent from 0 up, or negative with a whole exponent",
        poles=(("(x == 0)*(y < 0)", "inf"),), finite_boundary="(x == 0)*(y > 1)*(y != floor(y))", gate="power", exact=rational_power, unit=1.0, ill_conditioned="growth",
        special=(
            NonsmoothPoint(
                "(x == 0)*(y == 0)*varies_y", "jump", "0 has power 1 for the exponent 0 alone",
                side="where(moves_x, where(dx > 0, 1, nan), where(dy > 0, 0, inf))",
                slope="where(moves_x, where(dy == 0, nan, -dy*inf), 0)",
                undecided="where(moves_x*(dx >= 0), dx, dy) == 0",
            ),
        ),
    ),
    Op("neg", "x", ("-1",), "the negative", prefix="-", latex="-x", gate="sign flipper", value_ulp=0.0, partial_ulp=0.0, signs=(-1,), exact=operator.neg, inverse="neg", not_zero="all"),
    # Comparisons and choices.
    comparison_row("lt", "<", "x < y", "1 where x is less than y, else 0", "ge", "gt"),
    comparison_row("le", "<=", r"x \le y", "1 where x is at most y, else 0", "gt", "ge"),
    comparison_row("gt", ">", "x > y", "1 where x is greater than y, else 0", "le", "lt"),
    comparison_row("ge", ">=", r"x \ge y", "1 where x is at least y, else 0", "lt", "le"),
    comparison_row("eq", "==", "x = y", "1 where x equals y, else 0", "ne", "eq"),
    comparison_row("ne", "!=", r"x \ne y", "1 where x differs from y, else 0", "eq", "ne"),
    Op(
        "where", "c x y", ("0", "where(c, 1, 0)", "where(c, 0, 1)"), "x where c is not 0, else y",
        latex=r"\begin{cases} x & \text{if } c \ne 0 \\ y & \text{otherwise} \end{cases}", gate="switch", branches=(1, 2),
        special=(
            NonsmoothPoint("(c == 0)*varies_c", "jump", "its condition is 0", side="x", slope="dx", undecided="dc == 0"),
        ),
        value_ulp=0.0, partial_ulp=0.0, not_zero="all", foreign_names="if ifelse if_else iif",
    ),
    extremum_row("min", "the least operand", "le", "fmin minimum"),
    extremum_row("max", "the greatest operand", "ge", "fmax maximum", logic="or"),
    Op(
        "clamp", "x lo hi",
        (f"{CLAMP_TIES}; at_x/ties", f"{CLAMP_TIES}; at_lo/ties", f"{CLAMP_TIES}; at_hi/ties"),
        "x, but not below lo nor above hi", display_partials=("(lo <= x)*(x < hi)", "(x < lo)*(lo < hi)", "max(x, lo) >= hi"),
        value="min(max(x, lo), hi)", definition="min(max(x, lo), hi)",
        latex=r"\operatorname{clamp}(x, lo, hi)", gate="router",
        special=(
            NonsmoothPoint(
                "(x == lo)*(lo <= hi) + (x == hi)*(lo <= hi) + (lo == hi)*(x <= lo)", "kink", "x meets a bound",
                slope="m = max(x, lo); dm = where(x > lo, dx, where(x < lo, dlo, max(dx, dlo))); "
                "where(m < hi, dm, where(m > hi, dhi, min(dm, dhi)))",
            ),
        ),
        value_ulp=0.0, partial_ulp=0.5, foreign_names="clip",
    ),
    # Steps and corners.
    Op(
        "abs", "x", ("sign(x)",), "the absolute value", latex=r"\left|x\right|", gate="sign router",
        definition="max(x, -x)", special=(NonsmoothPoint("x == 0", "kink", "its operand is 0", slope="abs(dx)"),),
        value_ulp=0.0, partial_ulp=0.0, exact=abs, not_negative=True, not_zero="all", arb=abs, foreign_names="absolute fabs",
    ),
    step_row("sign", r"\operatorname{sign}(x)", "x == 0", "its operand is 0", "sign(dx)", "-1, 0 or 1, as x is negative, 0 or positive", spellings="sgn", elsewhere="signum"),
    step_row("floor", r"\left\lfloor x \right\rfloor", "x == out", "its operand is a whole number", "where(dx < 0, out - 1, out)", "the greatest whole number not above x", exact=math.floor),
    step_row("ceil", r"\left\lceil x \right\rceil", "x == out", "its operand is a whole number", "where(dx > 0, out + 1, out)", "the least whole number not below x", exact=math.ceil, elsewhere="ceiling"),
    step_row("round", r"\operatorname{round}(x)", "abs(x - out) == 0.5", "its operand is halfway between whole numbers", "x + sign(dx)/2", "the nearest whole number; halves go to the even one", exact=round, elsewhere="rint"),
    step_row(
        "trunc", r"\operatorname{trunc}(x)", "(x == out)*(x != 0)", "its operand is a whole number other than 0",
        "where(sign(dx) == -sign(x), out - sign(x), out)", "the whole part of x, which is x rounded toward 0",
        definition="sign(x)*floor(abs(x))", elsewhere="fix int truncate",
    ),
    step_row(
        "heaviside", r"\operatorname{heaviside}(x)", "x == 0", "its operand is 0", "(1 + sign(dx))/2",
        "the unit step: 0 below 0, 1/2 at 0, 1 above", definition="(1 + sign(x))/2", elsewhere="step unit_step",
    ),
    # Roots, exponentials, logarithms.
    Op("sqrt", "x", ("1/(2*abs(out))",), "the square root", seconds=("-0.25/abs(x)/abs(out)",), display_partials=("1/(2*out)",), definition="x^(1/2)", domain="x >= 0", latex=r"\sqrt{x}", value_ulp=0.5, not_zero="all", foreign_names="realsqrt squareroot", monotone=1),
    Op(
        "cbrt", "x", ("1/(3*out^2)",), "the cube root", seconds=("where(x == 0, nan, -2/9/x/out/out)",),
        fallback="r = abs(x)^(1/3); where((x == 0) + (abs(x) == inf), x, sign(x)*(r - (r - abs(x)/(r*r))/3))",
        definition="sign(x)*abs(x)^(1/3)", latex=r"\sqrt[3]{x}", monotone=1,
    ),
    Op(
        "exp", "x", ("out",), "e to the power x", latex=r"e^{x}", gate="scales by its own output",
        inverse="log", not_negative=True, ill_conditioned="growth", monotone=1,
    ),
    # Up to 1024.53, exp2 overflows and its derivative does not.
    Op(
        "exp2", "x", ("where(x > 1000, exp2(x - 1)*(2*log(2)), out*log(2))",), "2 to the power x", display_partials=("out*log(2)",),
        seconds=("where(x > 1000, exp2(x - 2)*(4*log(2)*log(2)), out*log(2)*log(2))",), definition="2^x", fused_partials=(f"{EXP2_JOINED}; e*s", f"{EXP2_JOINED}; e*log(2)*s"), latex=r"2^{x}", gate="scales by its own output",
        ill_conditioned="growth", monotone=1,
    ),
    Op(
        "expm1", "x", ("exp(x)",), "exp(x) - 1, exact near 0",
        fallback=f"where(abs(x - 0.2) < 0.9, where(x == 0, x, x + x*x*{EXPM1_SERIES}), exp(x) - 1)",
        definition="exp(x) - 1", latex="e^{x} - 1", inverse="log1p", monotone=1,
    ),
    Op(
        "log", "x", ("where(x >= 0, 1/abs(x), nan)",), "the natural logarithm", display_partials=("1/x",),
        seconds=("where(x >= 0, -1/abs(x)/abs(x), nan)",), domain="x > 0", poles=(("x == 0", "-inf"),), latex=r"\ln x",
        inverse="exp", ill_conditioned="zero", spellings="ln", binary_expansion="log(x)/log(y)", monotone=1,
    ),
    Op(
        "log2", "x", ("where(x >= 0, 1/log(2)/abs(x), nan)",), "the logarithm to base 2", display_partials=("1/(x*log(2))",),
        seconds=("where(x >= 0, -1/log(2)/abs(x)/abs(x), nan)",), definition="log(x)/log(2)", domain="x > 0", poles=(("x == 0", "-inf"),), latex=r"\log_{2} x",
        ill_conditioned="zero", foreign_names="lb ld log_2", monotone=1,
    ),
    Op(
        "log10", "x", ("where(x >= 0, 1/log(10)/abs(x), nan)",), "the logarithm to base 10", display_partials=("1/(x*log(10))",),
        seconds=("where(x >= 0, -1/log(10)/abs(x)/abs(x), nan)",), definition="log(x)/log(10)", fallback="t = log(x); t*0.4342944819032518 + t*1.098319650216765e-17", domain="x > 0", poles=(("x == 0", "-inf"),), latex=r"\log_{10} x",
        ill_conditioned="zero", monotone=1,
    ),
    Op(
        "log1p", "x", ("where(x >= -1, 1/(1 + x), nan)",), "log(1 + x), exact near 0", display_partials=("1/(1 + x)",),
        seconds=("where(x >= -1, -1/(1 + x)/(1 + x), nan)",),
        fallback="u = 1 + x; where(u == 1, x, where((u > 0)*(u < inf), log(u) + (x - (u - 1))/u, log(u)))", definition="log(1 + x)", domain="x > -1", poles=(("x == -1", "-inf"),), latex=r"\ln(1 + x)",
        inverse="expm1", monotone=1,
    ),
    Op(
        "xlogy", "x y", ("log(y)", "where(y > 0, x/y, where((x == 0)*(y == y), 0, where(y == 0, x*inf, nan)))"),
        "the product x*log(y), but 0 where x is 0, whatever number y is", display_partials=("log(y)", "x/y"),
        seconds=(
            "0", "where(y >= 0, 1/abs(y), nan)",
            "where(y > 0, -x/y/y, where((x == 0)*(y == y), 0, where(y == 0, -x*inf, nan)))",
        ),
        value="where((x == 0)*(y == y), 0, x*log(y))", definition="where(x == 0, 0, x*log(y))",
        domain="max(x == 0, y > 0)", domain_words="y is positive, or x is 0",
        poles=(("(x != 0)*(y == 0)", "-x*inf"),), latex=r"\operatorname{xlogy}(x, y)",
        special=(
            NonsmoothPoint(
                "(x == 0)*(y == 0)*varies_x", "jump", "0*log(0) is 0, and x*log(0) infinite",
                side="where(moves_x, -dx*inf, 0)", undecided="max(moves_x*moves_y, (dx == 0)*moves_x)",
            ),
        ),
    ),
    # Trigonometric and hyperbolic functions.
    Op("sin", "x", ("cos(x)",), "the sine of x radians", domain="abs(x) < inf", latex=r"\sin x", square=("cos", 1, -1), ill_conditioned="period", foreign_names="sen"),
    Op("cos", "x", ("-sin(x)",), "the cosine of x radians", domain="abs(x) < inf", latex=r"\cos x", square=("sin", 1, -1), ill_conditioned="period", foreign_names="cosine"),
    Op("tan", "x", ("1 + out^2",), "the tangent of x radians", definition="sin(x)/cos(x)", domain="abs(x) < inf", latex=r"\tan x", quotient=("sin", "cos"), ill_conditioned="period", spellings="tg", foreign_names="tangent"),
    # Near 0 the derivative is its power series, to 28 digits.  Beside its first other zero, at 4.49, cos(x) and
    # sin(x)/x are about 1/4: half a last digit of each, and that of sin(x), come to 1.6e-17 when they are divided by x.
    Op(
        "sinc", "x", (SINC_SLOPE,), "the quotient sin(x)/x, and 1 at 0; not normalised: its zeros are at multiples of pi",
        display_partials=("where(x == 0, 0, (cos(x) - out)/x)",),
        seconds=(SINC_SECOND,), second_abs=3e-16,
        value="where(x == 0, 1, where(abs(x) == inf, 0, sin(x)/x))", definition="where(x == 0, 1, sin(x)/x)",
        latex=r"\operatorname{sinc}(x)", partial_abs=1.6e-17,
        away_from_zeros=("(abs(x) < 3) + (abs(x*cos(x)) > 3)", 1e18),
    ),
    Op(
        "asin", "x", ("1/sqrt((1 - x)*(1 + x))",), "the angle in [-pi/2, pi/2] whose sine is x",
        seconds=("t = (1 - x)*(1 + x); x/(t*sqrt(t))",), display_partials=("1/sqrt(1 - x^2)",), domain="abs(x) <= 1", latex=r"\arcsin x", spellings="arcsin", foreign_names="arcsen", monotone=1,
    ),
    Op(
        "acos", "x", ("-1/sqrt((1 - x)*(1 + x))",), "the angle in [0, pi] whose cosine is x",
        seconds=("t = (1 - x)*(1 + x); -x/(t*sqrt(t))",), display_partials=("-1/sqrt(1 - x^2)",), domain="abs(x) <= 1", latex=r"\arccos x", spellings="arccos", monotone=-1,
    ),
    Op(
        "atan", "x", ("(1/hypot(1, x))^2",), "the angle in [-pi/2, pi/2] whose tangent is x", display_partials=("1/(1 + x^2)",),
        fused_partials=("atan(x)", f"{ATAN_SLOPE}; where(wide, r*r, r)"), latex=r"\arctan x", spellings="arctan arctg", monotone=1,
    ),
    Op(
        "atan2", "y x",
        (
            "h = hypot(x, y); s = where(h < 1e-150, 2^600, where(h > 1e150, 2^-600, 1)); k = hypot(x*s, y*s); x*s/(k*k)*s",
            "h = hypot(x, y); s = where(h < 1e-150, 2^600, where(h > 1e150, 2^-600, 1)); k = hypot(x*s, y*s); -(y*s)/(k*k)*s",
        ),
        "the angle of the point (x, y), in [-pi, pi]", fused_partials=("atan2(y, x)", f"{SCALED}; u/k*s", f"{SCALED}; -v/k*s"), seconds=(
            f"{TURN}; -2*(u/k)*(v/k)*s*s", f"{TURN}; (y*s - x*s)/k/k*((y*s + x*s)/k/k)*s*s", f"{TURN}; 2*(u/k)*(v/k)*s*s",
        ),
        display_partials=("x/(x^2 + y^2)", "-y/(x^2 + y^2)"),
        latex=r"\operatorname{atan2}(y, x)", arb=lambda y, x: y.atan2(y, x),
        special=(
            NonsmoothPoint(
                "(y == 0)*(x <= 0)", "jump", "the point is on the cut, where the angle leaps by 2*pi",
                side="where(x < 0, where(moves_y, sign(dy)*pi, out), atan2(where(moves_y, dy, y), dx))",
                slope="where(x < 0, dy/x, where(moves_x*moves_y, nan, 0))",
                undecided="(dy == 0)*moves_y*where(x < 0, 1, dx <= 0) + (x == 0)*(dx == 0)*(dy == 0) + (x == 0)*(abs(dx) == inf)*(abs(dy) == inf)",
            ),
        ), foreign_names="arctan2",
    ),
    Op(
        "sinh", "x", ("cosh(x)",), "the hyperbolic sine",
        fallback="e = expm1(abs(x)); h = exp(abs(x)/2); sign(x)*where(abs(x) < 20, (e + e/(e + 1))/2, h/2*h)",
        definition="(exp(x) - exp(-x))/2", fused_partials=(SINH_JOINT, COSH_JOINT), latex=r"\sinh x",
        square=("cosh", -1, 1), ill_conditioned="growth", foreign_names="sh senh", monotone=1,
    ),
    Op(
        "cosh", "x", ("sinh(x)",), "the hyperbolic cosine", fallback="a = abs(x); e = exp(a); h = exp(a/2); where(a < 700, e/2 + 0.5/e, h/2*h)",
        definition="(exp(x) + exp(-x))/2", fused_partials=(COSH_JOINT, SINH_JOINT), latex=r"\cosh x",
        square=("sinh", 1, 1), not_negative=True, ill_conditioned="growth", not_zero="always", foreign_names="ch",
    ),
    Op(
        "tanh", "x", ("1/cosh(x)/cosh(x)",), "the hyperbolic tangent", display_partials=("1 - out^2",),
        fused_partials=(
            "e = expm1(-2*abs(x)); sign(x)*(-e/(2 + e))",
            "e = exp(-2*abs(x)); 4*e/(1 + e*(2 + e))",
        ),
        seconds=("-2*out/cosh(x)/cosh(x)",), definition="(exp(2*x) - 1)/(exp(2*x) + 1)", latex=r"\tanh x", value_ulp=2.3,
        fallback="e = expm1(2*abs(x)); sign(x)*where(abs(x) < 20, e/(e + 2), 1)",
        quotient=("sinh", "cosh"), foreign_names="th tgh", monotone=1,
    ),
    Op(
        "asinh", "x", ("1/hypot(1, x)",), "the inverse of sinh", display_partials=("1/sqrt(1 + x^2)",),
        fused_partials=("asinh(x)", "1/where(abs(x) > 2^30, abs(x), sqrt(1 + x*x))"),
        fallback="a = abs(x); sign(x)*where(a > 2^28, log(a) + log(2), log1p(a + a*(a/(1 + sqrt(1 + a*a)))))",
        definition="log(x + sqrt(x^2 + 1))", latex=r"\operatorname{arsinh} x", spellings="arsinh arcsinh argsinh", foreign_names="arsh argsh", monotone=1,
    ),
    Op(
        "acosh", "x", ("1/(sqrt(x - 1)*sqrt(x + 1))",), "the inverse of cosh, not negative", display_partials=("1/sqrt(x^2 - 1)",),
        seconds=("a = sqrt(x - 1)*sqrt(x + 1); where(x == inf, 0, -(x/a)/a/a)",),
        fallback="t = x - 1; where(x > 2^28, log(x) + log(2), where(x >= 1, log1p(t + sqrt(2*t + t*t)), nan))",
        definition="log(x + sqrt(x^2 - 1))", domain="x >= 1", latex=r"\operatorname{arcosh} x",
        value_ulp=2.3, spellings="arcosh arccosh argcosh", foreign_names="arch argch", monotone=1,
    ),
    Op(
        "atanh", "x", ("where(abs(x) <= 1, 1/((1 - x)*(1 + x)), nan)",), "the inverse of tanh", display_partials=("1/(1 - x^2)",),
        seconds=("t = (1 - x)*(1 + x); where(abs(x) <= 1, 2*x/(t*t), nan)",), fallback="sign(x)*log1p(2*abs(x)/(1 - abs(x)))/2",
        definition="log((1 + x)/(1 - x))/2", domain="abs(x) < 1", poles=(("abs(x) == 1", "x*inf"),), latex=r"\operatorname{artanh} x", spellings="artanh arctanh argtanh", foreign_names="arth argth", monotone=1,
    ),
    Op(
        "hypot", "x y", (hypot_slope("x", "y"), hypot_slope("y", "x")),
        "sqrt(x^2 + y^2), safe from overflow", seconds=(
            f"{NORM}; where({FLAT}, 0, v/h*v*s)", f"{NORM}; where({FLAT}, 0, -u/h*v*s)",
            f"{NORM}; where({FLAT}, 0, u/h*u*s)",
        ),
        display_partials=("x/out", "y/out"), definition="sqrt(x^2 + y^2)", fallback=(
            "a = max(abs(x), abs(y)); r = min(abs(x), abs(y))/a; "
            "where(max(abs(x) == inf, abs(y) == inf), inf, where(a == 0, 0, a*sqrt(1 + r*r)))"
        ),
        fused_partials=(
            f"{ROOT}; where(max(abs(x) == inf, abs(y) == inf), inf, out)",
            f"{ROOT}; where(h == 0, 0, where(abs(x) == inf, sign(x) + 0*y, where(far, u, x)/below))", f"{ROOT}; where(h == 0, 0, where(abs(y) == inf, sign(y) + 0*x, where(far, v, y)/below))",
        ),
        latex=r"\sqrt{x^{2} + y^{2}}", arb=lambda x, y: (x * x + y * y).nonnegative_part().sqrt(), special=(NonsmoothPoint("out == 0", "kink", "both operands are 0", slope="hypot(dx, dy)"),), not_negative=True, not_zero="any",
    ),
)
"""The rows that are always there."""
# fmt: on

BY_NAME: dict[str, Op] = {}
FUNCTIONS: dict[str, Op] = {}
"""The rows that are calls, by each word that is read as one."""
EQUATIONS: dict[str, Op] = {}
"""The rows of roots that other roots' rows call by name, made as they are met."""
FAMILIES: dict[str, Family] = {}
"""The families of rows by what people write."""
BEYOND: dict[str, Family] = {}
"""Members that derivatives alone lead to: their numbers are greater than may be written."""
IN_OTHER_WORDS = {
    "erf2": ("x y", "erf(y) - erf(x)"),
    "erf2inv": ("x y", "erfinv(erf(x) + y)"),
    "binomial": ("n k", "exp(-lbeta(n - k + 1, k + 1))/(n + 1)"),
    "catalan": ("n", "exp(-lbeta(n + 1, n + 1))/((n + 1)*(2*n + 1))"),
}
"""Calls that stand for a formula: their operands, and the formula.

A binomial is no quotient by ``beta``, though it would have two digits more where it is large: the quotient's
local derivative overflows from 1e154 on.
"""
BENT: set[str] = set()
"""The rows whose derivative has a kink where the value has none."""
VARIADIC: set[str] = set()


def register_rows(entries: Sequence[Op | Family]) -> None:
    """Add rows, and families of rows, to the table."""
    rows = [entry for entry in entries if isinstance(entry, Op)]
    families = [entry for entry in entries if isinstance(entry, Family)]
    BY_NAME.update(index_by(rows, "name"))
    FUNCTIONS.update((row.name, row) for row in rows if not row.infix and not row.prefix)
    FUNCTIONS.update((word, row) for row in rows for word in row.spellings.split())
    FAMILIES.update(index_by(families, "name"))
    BENT.update(names_with(rows, "derivative_kink_at"))
    VARIADIC.update(row.name for row in rows if row.variadic)


register_rows(COMMON)
BY_INFIX: dict[str, Op] = index_by(COMMON, "infix")
COMPARISONS = names_with(COMMON, "opposite")
EXTREMA = tuple(row for row in COMMON if row.winner)
LOGIC = names_with(COMMON, "logic")
SUMS = names_with(COMMON, "signs")
PRODUCTS = names_with(COMMON, "powers")
LEAF = Op("", "", (), "")
"""An empty row, for inputs and constants."""
BY_SIGNS = {row.signs: row.name for row in COMMON if row.signs}
"""The names of the rows that are sums, by their operands' signs: ``(1, -1)`` is a difference."""
BY_POWERS = {row.powers: row.name for row in COMMON if row.powers}
"""The names of the rows that are products, by their operands' exponents: ``(1, -1)`` is a quotient."""
ARITHMETIC_OPERATORS = {
    row.name: row.exact for row in COMMON if row.exact and (row.signs or row.powers)
}
"""The rows of the four operations and the sign → Python's operators for them."""
IN_MATH = frozenset(row.name for row in COMMON if not row.value and hasattr(math, row.name))
"""The rows that are functions of Python's ``math``."""


def by_row_name(table: Mapping[str, T]) -> dict[str, T]:
    """Return a table by the rows' names, given one by their infix symbols."""
    return {BY_INFIX[symbol].name: entry for symbol, entry in table.items()}


def is_root(kind: str) -> bool:
    """Whether an operation is a root, the solution of an equation."""
    return kind in BY_NAME and BY_NAME[kind].equation is not None


# The rows that are not always there.

FURTHER = ["functions", "special", "integrals"]
"""The modules whose rows are not in the table yet, in loading order."""


def load_next_module() -> None:
    """Add the rows of the next module to the table."""
    from importlib import import_module

    name = FURTHER[0]
    module = import_module(f"exprgrad.graph.{name}")
    register_rows(module.ROWS)
    if name in FURTHER:  # another thread may have been faster
        FURTHER.remove(name)


def is_function(word: str, *, rare: bool = True) -> bool:
    """Whether a word is the name of a function or a family; loads rows until it is found.

    Without ``rare``, modules of rare functions are not loaded.
    """
    while FURTHER and word not in FUNCTIONS and word not in FAMILIES:
        if FURTHER[0] != "functions" and not rare:
            break
        load_next_module()
    return word in FUNCTIONS or word in FAMILIES


if TYPE_CHECKING:
    OPS: tuple[Op, ...]
    """All rows."""
else:

    def __getattr__(name: str) -> Any:
        if name != "OPS":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        while FURTHER:
            load_next_module()
        made = [row for row in BY_NAME.values() if row.setting is None and row.equation is None]
        globals()["OPS"] = tuple(made)
        return globals()["OPS"]


def family_member(family: Family, number: int) -> Op:
    """Return a family's row for a whole number, and add it to ``BY_NAME``."""
    name = f"{family.name}_{number}"
    if name not in BY_NAME:
        row = family.row(number)
        BY_NAME[name] = row._replace(name=name, setting=(family.name, number))
        if number > family.greatest:
            BEYOND[name] = family
    return BY_NAME[name]
