"""Rows of the op table: the beta function and its logarithm."""

from __future__ import annotations

import re

from exprgrad.graph.op import Op, horner

__all__ = ["ROWS", "scaled_gamma"]

GAMMA_FAR = (
    -0.008992618444225591, 0.04184723288258449, -0.08674841307392517, 0.10281988767030592, -0.07190143747763929,
    0.023258698006122413, 0.005773293114918177, -0.008423016346084916, 0.0012656028698115297, 0.0018874392863300216,
    -9.882411322706569e-05, -0.001487493772474963, 0.00017501234091204344, 0.0019652832868850443,
    -0.0005752008531241252, -0.006721090481777799, 0.008703570398106302, 0.20888568955258302, 2.5066282746310007,
)  # fmt: skip
"""gamma(z)*exp(z)*z^(1/2 - z), of w = 1/z, for z from 2 on: fitted for exprgrad as those of ``special.py``."""


def scaled_gamma(w: str) -> str:
    """gamma(z)*exp(z)*z^(1/2 - z) for z from 2 on, of the name of 1/z."""
    return horner(GAMMA_FAR, w)


DIGAMMA_TERMS = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12, -3617 / 8160)
"""The asymptotic series of log(z) - 1/(2*z) - digamma(z), of 1/z^2."""
SHIFT = 10
"""How far an operand is moved up at least, to where that series holds."""


def moved_up(a: str, b: str) -> str:
    """The operand a where the asymptotic series holds; ``less`` is b, but finite."""
    return f"less = min({b}, 1e300); near = {a} < {SHIFT}; z = where(near, {a} + {SHIFT}, {a}); p = 1/z; q = 1/(z + less)"


def digamma_rise(a: str, b: str, *, thin: str = "") -> str:
    """digamma(a + b) - digamma(a) as ``rise``, a sum of positive terms: in no place two near numbers cancel.

    Where ``thin`` holds, b being less than an ulp of a, it is the quotient of that and b.

    M. Abramowitz and I. Stegun, Handbook of Mathematical Functions (1964), 6.3.16 and 6.3.18: what the series
    loses from 1/a to 1/(a + b) has b as a factor.
    """
    first = f"lift/({a} + less)/{a}"
    below = " + ".join(f"1/(({a} + {k})*({a} + less + {k}))" for k in reversed(range(1, SHIFT)))
    powers = ["h1 = 1"]
    for k in range(2, len(DIGAMMA_TERMS) + 1):
        powers.append(f"h{k} = pp*h{k - 1} + qq^{k - 1}")
    lift, far = "lift = less", f"log1p({b}/z)"
    if thin:
        lift, far = f"thin = {thin}; lift = where(thin, 1, less)", f"where(thin, p, {far})"
    series = " + ".join(f"{term!r}*h{k}" for k, term in reversed([*enumerate(DIGAMMA_TERMS, 1)]))
    return (
        f"{moved_up(a, b)}; pp = p*p; qq = q*q; {'; '.join(powers)}; {lift}; "
        f"rise = where(near, {first} + lift*({below}), 0) + ({far} + lift*q*p*(0.5 + (p + q)*({series})))"
    )


def trigamma_fall(a: str, b: str) -> str:
    """polygamma(1, a) - polygamma(1, a + b) as ``fall``, in the same way, and in the names of ``digamma_rise``."""
    below = " + ".join(
        f"(2*{a} + less + {2 * k})/(({a} + {k})*({a} + less + {k}))/(({a} + {k})*({a} + less + {k}))"
        for k in reversed(range(1, SHIFT))
    )
    first = f"lift/({a} + less)/{a}*(1/{a} + 1/({a} + less))"
    powers = ["g1 = pp + p*q + qq"]
    for k in range(2, len(DIGAMMA_TERMS) + 1):
        powers.append(f"g{k} = pp*g{k - 1} + (p + q)*q^{2 * k - 1}")
    series = " + ".join(
        f"{2 * k * term!r}*g{k}" for k, term in reversed([*enumerate(DIGAMMA_TERMS, 1)])
    )
    return (
        f"{'; '.join(powers)}; "
        f"fall = where(near, {first} + lift*({below}), 0) + lift*q*p*(1 + (p + q)/2 + {series})"
    )


ORDERED = "x = max(a, b); y = min(a, b); u = y/x; s = x + y"
RATIO = f"v = 1/max(x, 2); w = 1/max(s, 2); far = {scaled_gamma('v')}/{scaled_gamma('w')}"
"""What the scaled gamma function loses from x to x + y."""
BOTH = f"t = 1/max(y, 2); both = far*{scaled_gamma('t')}"

BETA = (
    f"{ORDERED}; {RATIO}; {BOTH}; "
    "c = min(y, 30); half = x^(-c/2); small = where(c < 1e-20, 1, min(c, 1)*gamma(c)); "
    "k = x/s; r = y/s; tail = r^y; "
    "mixed = small*far*sqrt(1 + u)*exp(y - x*log1p(u))*s^-y; "
    "large = both*sqrt((1 + u)/y)*k^x*exp(s*((1 - k) - r)); "
    "huge = x >= 1e15; "
    "last = where(huge, half, where(y < 2, 1, tail)); "
    "part = where(huge, half*small*(1 - c*(c - 1)/(2*x)), where(y >= 2, large, where(x >= 2, mixed, small*where(x < 1e-20, s/x, gamma(x)/gamma(s)))))"
)
"""beta(a, b) is ``part*last/min(y, 1)``.  Of the powers (x/s)^x and (y/s)^y, where s is x + y, the quotients are rounded.
What that makes of both is exp(s*(1 - k - r)), whose difference is exact, as k is 1/2 at least.

Where x is huge, gamma(x)/gamma(x + y) is x^-y but for a series in 1/x, taken in two halves lest it underflow.
"""
LBETA = (
    f"{ORDERED}; {RATIO}; {BOTH}; l = log1p(u); xl = where(u < 1e-300, y, x*l); "
    "large = log(both) + (l - log(y))/2 - (xl + y*log1p(x/y)); "
    "mixed = (lgamma(y) - y*log(s)) + ((y - xl) + l/2 + log(far)); "
    "small = lgamma(y) + (lgamma(x) - lgamma(s)); "
    "where(y > 0, where(x == inf, -inf, where(y >= 2, large, where(x >= 2, mixed, small))), where(y == 0, inf, nan))"
)
OUTSIDE = "where(min(a, b) >= 0, {}, nan)"


def marked(text: str) -> str:
    """A text whose own names end in ``_b``, so that it can stand beside the same of the other operand."""
    for name in re.findall(r"(\w+) = ", text):
        text = re.sub(rf"\b{name}\b", f"{name}_b", text)
    return text


def rises(thin: str) -> str:
    """What both derivatives are made of: the second one's names are marked."""
    first, second = (thin.format(a=a, b=b) for a, b in ("ab", "ba"))
    return f"{digamma_rise('a', 'b', thin=first)}; {marked(digamma_rise('b', 'a', thin=second))}"


BETA_THIN = "{b} < 1e-18*{a}"
LBETA_THIN = "({b} < 1e-100)*({b} < 1e-18*{a})*({a} > 1e-150)"
BETA_SCALE = "where(thin, max({b}, 1), 1)/where(thin, 1, min(y, 1))"
"""Of beta's derivatives, which may be normal numbers though beta itself underflows or overflows."""
BETA_RISES = f"{BETA}; {rises(BETA_THIN)}"
LBETA_RISES = rises(LBETA_THIN)


def beta_second(a: str, b: str) -> str:
    """The second derivative of beta for a."""
    rise = digamma_rise(a, b, thin=BETA_THIN.format(a=a, b=b))
    both = f"part*(rise*rise*where(thin, {b}, 1) + fall)*last*{BETA_SCALE.format(b=b)}"
    return f"{BETA}; {rise}; {trigamma_fall(a, b)}; {OUTSIDE.format(both)}"


def beta_mixed() -> str:
    """The second derivative of beta for a and b; where one is tiny it is the difference of two near numbers."""
    product = "part*(rise*rise_b - polygamma(1, s))*last/min(y, 1)"
    first, second = digamma_rise("a", "b"), marked(digamma_rise("b", "a"))
    return f"{BETA}; {first}; {second}; {OUTSIDE.format(product)}"


def lbeta_second(a: str, b: str) -> str:
    """The second derivative of lbeta for a."""
    rise = digamma_rise(a, b, thin=LBETA_THIN.format(a=a, b=b))
    return f"{rise}; {trigamma_fall(a, b)}; {OUTSIDE.format(f'where(thin, fall*{b}, fall)')}"


# fmt: off
ROWS: tuple[Op, ...] = (
    Op(
        "beta", "a b", (
            f"{BETA_RISES}; {OUTSIDE.format('-(part*rise)*last*' + BETA_SCALE.format(b='b'))}",
            f"{BETA_RISES}; {OUTSIDE.format('-(part*rise_b)*last*' + BETA_SCALE.format(b='a').replace('thin', 'thin_b'))}",
        ),
        "the beta function gamma(a)*gamma(b)/gamma(a + b)",
        shown=("out*(digamma(a) - digamma(a + b))", "out*(digamma(b) - digamma(a + b))"),
        seconds=(beta_second("a", "b"), beta_mixed(), beta_second("b", "a")),
        value=f"{BETA}; where(y > 0, part*last/min(y, 1), where(y == 0, inf, nan))",
        domain="(a > 0)*(b > 0)", domain_words="a and b are positive", poles=(("min(a, b) == 0", "inf"),),
        latex=r"\operatorname{beta}(a, b)", commutes=True, not_negative=True, magnifies="growth", value_ulp=7.0, partial_ulp=9.0,
    ),
    Op(
        "lbeta", "a b",
        (
            f"{LBETA_RISES}; {OUTSIDE.format('where(thin, -rise*b, -rise)')}",
            f"{LBETA_RISES}; {OUTSIDE.format('where(thin_b, -rise_b*a, -rise_b)')}",
        ),
        "the logarithm of beta(a, b)",
        shown=("digamma(a) - digamma(a + b)", "digamma(b) - digamma(a + b)"),
        seconds=(
            lbeta_second("a", "b"), OUTSIDE.format("-polygamma(1, a + b)"), lbeta_second("b", "a"),
        ),
        value=LBETA, domain="(a > 0)*(b > 0)", domain_words="a and b are positive", poles=(("min(a, b) == 0", "inf"),),
        latex=r"\operatorname{lbeta}(a, b)", commutes=True, value_ulp=3.0, value_abs=2e-15, elsewhere="betaln",
    ),
)
# fmt: on
