"""Rows of the op table: special functions, and others that few formulas have.

See ``op.py`` for a row's fields and ``ops.py`` for the language of its texts.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from exprgrad.graph.functions import DENSITY, FAR, NORMAL, WHOLE
from exprgrad.graph.op import ATAN_SLOPE, Family, NonsmoothPoint, Op, bell_text, horner_text

__all__ = ["ROWS"]

# Reciprocals of trigonometric and hyperbolic functions, and their inverses.

INVERSE_SECANT = "a = abs(x); r = where(a < 1e150, sqrt((a - 1)*(a + 1)), a)"
"""The tangent of the angle whose secant is abs(x); it keeps its digits beside 1, where 1/x loses them."""

# fmt: off
RECIPROCALS: tuple[Op, ...] = (
    Op(
        "sec", "x", ("out*tan(x)",), "the secant of x radians", value="1/cos(x)", definition="1/cos(x)",
        domain="abs(x) < inf", latex=r"\sec x", ill_conditioned="period", not_zero="always",
    ),
    Op(
        "csc", "x", ("-out/tan(x)",), "the cosecant of x radians", display_partials=("-out*cot(x)",),
        value="1/sin(x)", definition="1/sin(x)", domain="(x != 0)*(abs(x) < inf)", domain_words="x is finite and not 0", poles=(("x == 0", "1/x"),),
        latex=r"\csc x", ill_conditioned="period", not_zero="always", spellings="cosec",
    ),
    Op(
        "cot", "x", ("-1 - out^2",), "the cotangent of x radians", value="1/tan(x)", definition="cos(x)/sin(x)",
        domain="(x != 0)*(abs(x) < inf)", domain_words="x is finite and not 0", poles=(("x == 0", "1/x"),), latex=r"\cot x", ill_conditioned="period",
        spellings="ctg cotan cotg",
    ),
    Op(
        "sech", "x", ("-out*tanh(x)",), "the hyperbolic secant", value="e = exp(-abs(x)); 2*e/(1 + e*e)",
        second_abs=3e-16, definition="2/(exp(x) + exp(-x))", latex=r"\operatorname{sech} x", not_negative=True,
    ),
    Op(
        "csch", "x", ("-out/tanh(x)",), "the hyperbolic cosecant", display_partials=("-out*coth(x)",),
        value="where(x == 0, 1/x, -2*sign(x)*exp(-abs(x))/expm1(-2*abs(x)))",
        definition="2/(exp(x) - exp(-x))", domain="x != 0", poles=(("x == 0", "1/x"),),
        value_ulp=2.3, latex=r"\operatorname{csch} x", spellings="cosech",
    ),
    Op(
        "coth", "x", ("m = expm1(-2*abs(x)); -4*exp(-2*abs(x))/m/m",), "the hyperbolic cotangent", display_partials=("1 - out^2",),
        seconds=("2*out/sinh(x)/sinh(x)",),
        value="where(x == 0, 1/x, sign(x)*(1 + 2/expm1(2*abs(x))))",
        definition="(exp(2*x) + 1)/(exp(2*x) - 1)", domain="x != 0", poles=(("x == 0", "1/x"),),
        latex=r"\coth x", not_zero="always",
    ),
    Op(
        "asec", "x", (f"{INVERSE_SECANT}; where(a >= 1, 1/a/r, nan)",),
        "the angle in [0, pi] whose secant is x", display_partials=("1/(abs(x)*sqrt(x^2 - 1))",),
        value=f"{INVERSE_SECANT}; where(x > 0, atan(r), pi - atan(r))", definition="acos(1/x)",
        domain="abs(x) >= 1", latex=r"\operatorname{arcsec} x", spellings="arcsec",
    ),
    Op(
        "acsc", "x", (f"{INVERSE_SECANT}; where(a >= 1, -1/a/r, nan)",),
        "the angle in [-pi/2, pi/2] whose cosecant is x", display_partials=("-1/(abs(x)*sqrt(x^2 - 1))",),
        value=f"{INVERSE_SECANT}; where(a < 1.5, sign(x)*atan(1/r), asin(1/x))", definition="asin(1/x)",
        domain="abs(x) >= 1", latex=r"\operatorname{arccsc} x", spellings="arccsc arccosec acosec",
    ),
    Op(
        "acot", "x", ("-(1/hypot(1, x))^2",), "the angle in (-pi/2, pi/2] whose cotangent is x",
        display_partials=("-1/(1 + x^2)",), value="where(x == 0, pi/2, atan(1/x))", definition="where(x == 0, pi/2, atan(1/x))",
        fused_partials=("where(x == 0, pi/2, atan(1/x))", f"{ATAN_SLOPE}; where(wide, -r*r, -r)"),
        special=(
            NonsmoothPoint("x == 0", "jump", "its operand is 0", side="where(dx < 0, -pi/2, pi/2)", undecided="dx == 0"),
        ),
        latex=r"\operatorname{arccot} x", spellings="arccot arcctg actg",
    ),
    Op(
        "asech", "x", ("where(x >= 0, -1/x/(sqrt(1 - x)*sqrt(1 + x)), nan)",), "the inverse of sech, not negative",
        display_partials=("-1/(x*sqrt(1 - x^2))",),
        seconds=("q = (1 - x)*(1 + x); 2*(0.7071067811865476 - x - 4.833646656726457e-17)*(0.7071067811865476 + x)/q/sqrt(q)/x/x",),
        value="q = 1 - x; where(x < 1e-300, log(2) - log(x), log1p((q + sqrt(q*(1 + x)))/x))",
        definition="acosh(1/x)", domain="(x > 0)*(x <= 1)", poles=(("x == 0", "inf"),),
        value_ulp=3.5, latex=r"\operatorname{arsech} x", spellings="arsech arcsech",
    ),
    Op(
        "acsch", "x", ("-1/abs(x)/hypot(1, x)",), "the inverse of csch", display_partials=("-1/(abs(x)*sqrt(1 + x^2))",),
        value="where((abs(x) < 1e-300)*(x != 0), sign(x)*(log(2) - log(abs(x))), asinh(1/x))", definition="asinh(1/x)",
        domain="x != 0", poles=(("x == 0", "1/x"),), latex=r"\operatorname{arcsch} x", spellings="arcsch arccsch",
    ),
    Op(
        "acoth", "x", ("where(abs(x) >= 1, 1/(1 - x)/(1 + x), nan)",), "the inverse of coth", display_partials=("1/(1 - x^2)",),
        value="sign(x)*log1p(2/(abs(x) - 1))/2", definition="log((x + 1)/(x - 1))/2",
        domain="abs(x) > 1", poles=(("abs(x) == 1", "x*inf"),), latex=r"\operatorname{arcoth} x",
        spellings="arcoth arccoth",
    ),
    Op(
        "deg", "x", ("180/pi",), "the degrees of x radians", value="180/pi*x",
        definition="180*x/pi", latex=r"\operatorname{deg}(x)", inverse="rad", foreign_names="degrees rad2deg", monotone=1,
    ),
    Op(
        "rad", "x", ("pi/180",), "the radians of x degrees", value="pi/180*x",
        definition="pi*x/180", arb=lambda x: x * x.pi() / 180, latex=r"\operatorname{rad}(x)", inverse="deg", foreign_names="radians deg2rad", monotone=1,
    ),
)

# Networks and statistics.

RECTIFIERS: tuple[Op, ...] = (
    Op(
        "softsign", "x", ("(1/(1 + abs(x)))^2",), "x/(1 + abs(x)), between -1 and 1", display_partials=("1/(1 + abs(x))^2",),
        value="where(abs(x) == inf, sign(x), x/(1 + abs(x)))", definition="x/(1 + abs(x))",
        latex=r"\operatorname{softsign}(x)", gate="scaler", derivative_kink_at=0.0, monotone=1,
    ),
    Op(
        "hardtanh", "x", ("where(x > -1, where(x < 1, 1, 0), 0)",), "x, but not below -1 nor above 1",
        value="min(max(x, -1), 1)", definition="min(max(x, -1), 1)", latex=r"\operatorname{hardtanh}(x)",
        gate="window",
        special=(
            NonsmoothPoint("abs(x) == 1", "kink", "its operand is -1 or 1", slope="where(x < 0, max(dx, 0), min(dx, 0))"),
        ),
        value_ulp=0.0, partial_ulp=0.0, foreign_names="hard_tanh", monotone=1,
    ),
    Op(
        "relu6", "x", ("where(x > 0, where(x < 6, 1, 0), 0)",), "the rectifier that ends at 6: min(max(x, 0), 6)",
        value="min(max(x, 0), 6)", definition="min(max(x, 0), 6)", latex=r"\operatorname{relu6}(x)",
        gate="window",
        special=(
            NonsmoothPoint(
                "(x == 0) + (x == 6)", "kink", "its operand is 0 or 6",
                slope="where(x == 0, max(dx, 0), min(dx, 0))",
            ),
        ),
        value_ulp=0.0, partial_ulp=0.0, not_negative=True, monotone=1,
    ),
    Op(
        "logit", "x", ("where((x >= 0)*(x <= 1), 1/(x*(1 - x)), nan)",), "log(x/(1 - x)), the inverse of sigmoid",
        seconds=("t = x*(1 - x); where((x >= 0)*(x <= 1), (2*x - 1)/t/t, nan)",), display_partials=("1/(x*(1 - x))",),
        value="where(abs(x - 0.5) > 0.2, log(x) - log1p(-x), where(x < 0.5, -log1p((1 - 2*x)/x), log1p((2*x - 1)/(1 - x))))",
        definition="log(x/(1 - x))", domain="(x > 0)*(x < 1)", poles=(("x == 0", "-inf"), ("x == 1", "inf")),
        latex=r"\operatorname{logit}(x)", inverse="sigmoid", monotone=1,
    ),
)
# fmt: on

# The gamma function and its relatives.
#
# The polynomials were fitted for exprgrad at Chebyshev's points in 70 digits, to relative errors of 1e-18.

GAMMA_NEAR = (
    -5.6133701811373474e-05, 0.0007858717667253992, -0.005255516893956718, 0.02240435636974457,
    -0.06862582432691611, 0.16165877365256492, -0.30676980455383984, 0.4864306880697353, -0.6658353979310472,
    0.8118602164004932, -0.9093788535096698, 0.9629922466454329, -0.9872622644554669, 0.9962602269496023,
    -0.9989055601402699, 0.9993526312446582, -0.9990002036400335, 0.9981026571629815, -0.9960014772424829,
    0.9931490949065122, -0.9819950679205309, 0.9817280868013419, -0.9074790760801992, 0.989055995327965,
    -0.5772156649015329, 1.0,
)  # fmt: skip
"""gamma(1 + t) for t from 0 to 1."""

DIGAMMA_NEAR = (
    -3.8404871886247865e-05, 0.000537668230234603, -0.0035956565115888186, 0.015328347484972252,
    -0.04695162158771375, 0.11060189062804769, -0.2098825324668846, 0.33280158211439415, -0.4555464268893212,
    0.5554559458756044, -0.6221833017266097, 0.6588804560478442, -0.6755184776900107, 0.6817410984959529,
    -0.6836841560760544, 0.6842551806986495, -0.6845513651646201, 0.684973666482908, -0.6858013770980043,
    0.6874892925336863, -0.6909821137279583, 0.6983635063564789, -0.714540711725491, 0.7524682722898574,
    -0.8546933606017874, 1.2503801375034054,
)  # fmt: skip
"""digamma(1 + t)/(t - t0) for t from 0 to 1, where t0 is its zero."""

DIGAMMA_FAR = (
    -0.1929376358703739, 0.8901879616938654, -1.7567072023052166, 1.7837244544596382, -0.641062733884744,
    -0.7247543039055867, 1.274654150888477, -0.9632373767544927, 0.41293764960797613, -0.0798043315175276,
    -0.006722242761755486, -0.001957029168110166, 0.007777291554586151, -1.5507662490869938e-05,
    -0.004165795294974477, -3.448438501034092e-08, 0.003968254878186009, -1.4698488263501077e-11,
    -0.00833333333320751, -4.283288476380924e-16, 0.08333333333333333,
)  # fmt: skip
"""(log(z) - w/2 - digamma(z))/w^2, of w = 1/z, for z from 2 on."""

LGAMMA_NEAR = (
    0.0008699001684174055, -0.005776602874571085, 0.01764287395282281, -0.033252331359530395, 0.044542351121569845,
    -0.04786081928405571, 0.04714974695521699, -0.04737111861309117, 0.04956342711119134, -0.052530993133530726,
    0.055590114221750704, -0.0588438279380078, 0.06250129978151302, -0.06666708302137411, 0.07143270523701985,
    -0.07693258567337001, 0.08335385868494304, -0.09095401571167355, 0.10009945683398527, -0.11133426587456459,
    0.12550966953883366, -0.14404989676916538, 0.1695571769972515, -0.20738555102866912, 0.27058080842778537,
    -0.40068563438653143, 0.8224670334241132, -0.5772156649015329,
)  # fmt: skip
"""log(gamma(1 + t))/t for t from -0.3 to 0.7."""

LGAMMA_NEXT = (
    6.000064770490969e-12, -9.055191838406103e-11, 6.379790793648023e-10, -2.8175237877454094e-09,
    8.929330805596298e-09, -2.242384546471887e-08, 4.90654084748591e-08, -1.0202376315871759e-07,
    2.125402950862684e-07, -4.4873841488570916e-07, 9.546463108839443e-07, -2.0391666220347704e-06,
    4.374997680798333e-06, -9.439542870120087e-06, 2.0507200048183936e-05, -4.4926224754860566e-05,
    9.945751246773195e-05, -0.0002231547597200627, 0.0005096695249027266, -0.0011927539116333029,
    0.0028905103307298283, -0.007385551028675898, 0.02058080842778486, -0.06735230105319807, 0.3224670334241132,
    0.42278433509846713,
)  # fmt: skip
"""log(gamma(2 + t))/t for t from -0.5 to 1.5."""

GAMMA_FAR = (
    -0.008992618444225591, 0.04184723288258449, -0.08674841307392517, 0.10281988767030592, -0.07190143747763929,
    0.023258698006122413, 0.005773293114918177, -0.008423016346084916, 0.0012656028698115297, 0.0018874392863300216,
    -9.882411322706569e-05, -0.001487493772474963, 0.00017501234091204344, 0.0019652832868850443,
    -0.0005752008531241252, -0.006721090481777799, 0.008703570398106302, 0.20888568955258302, 2.5066282746310007,
)  # fmt: skip
"""gamma(z)*exp(z)*z^(1/2 - z), of w = 1/z, for z from 2 on."""


def scaled_gamma_text(w: str) -> str:
    """gamma(z)*exp(z)*z^(1/2 - z) for z from 2 on, of the name of 1/z."""
    return horner_text(GAMMA_FAR, w)


NEAR_GAMMA = horner_text(GAMMA_NEAR, "t")
STIRLING = f"z = min(a, 300); w = 1/z; p = z^(z/2 - 0.25); f = {scaled_gamma_text('w')}*exp(-z)"
"""gamma(a) is p*f*p from 2 on: both powers and the exponential have exact operands.  At 300 it overflows."""
GAMMA = (
    f"a = abs(x); {STIRLING}; t = where(a < 1, a, a - 1); near = {NEAR_GAMMA}; whole = round(p*f*p); "
    "where((x == floor(x))*(x > 1)*(whole < 2^53), whole, where(x == 0, inf, "
    "where(x > 0, where(a < 1, near/a, where(a < 2, near, p*f*p)), nan)))"
)
FACTORIAL = (
    f"t = x; near = {NEAR_GAMMA}; where(x < 0, gamma(1 + x), where(x < 1, near, x*gamma(x)))"
)
LGAMMA = (
    "a = abs(x); first = a < 1.5; t = where(a < 0.7, a, a - where(first, 1, 2)); "
    f"near = t*{horner_text(LGAMMA_NEAR, 't')}; next = t*{horner_text(LGAMMA_NEXT, 't')}; z = max(a, 100); q = 1/(z*z); "
    "far = where(a == inf, inf, (z - 0.5)*(log(z) - 1) + 0.41893853320467274 + "
    "(0.08333333333333333 - q*(0.002777777777777778 - q*(0.0007936507936507937 - q*0.0005952380952380953)))/z); "
    "where(x > 0, where(a < 0.7, near - log(a), where(first, near, where(a < 3.5, next, "
    "where(a < 160, log(gamma(min(a, 160))), far)))), where(x == 0, inf, nan))"
)
"""log(gamma(x)): near 1 and 2, its zeros, by polynomials; then of gamma, whose error hardly counts."""

DIGAMMA_UP = (
    f"z = max(a, 2); w = 1/z; far = log(z) - w*(0.5 + w*{horner_text(DIGAMMA_FAR, 'w')}); "
    "t = where(a < 1, a, a - 1); "
    f"near = (t - 0.46163214496836236 + 1.5522348162858677e-17)*{horner_text(DIGAMMA_NEAR, 't')}; "
    "up = where(a < 1, near - 1/a, where(a < 2, near, far))"
)
"""digamma(a): its zero, 1.4616…, is a factor of the polynomial near it."""
DIGAMMA = f"a = abs(x); {DIGAMMA_UP}; where(x == 0, -inf, where(x > 0, up, nan))"
BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)


def polygamma_row(n: int) -> Op:
    """M. Abramowitz and I. Stegun, Handbook of Mathematical Functions (1964), 6.4.6 and 6.4.11.

    A large operand's is the asymptotic series, and a smaller one's follows by the recurrence.
    """
    sign, start, most = (-1) ** (n + 1), 16 + n, math.factorial(n)
    below = " + ".join(f"(a + {k})^-{n + 1}" for k in reversed(range(start)))
    terms = [
        b * math.factorial(2 * k + n + 1) / math.factorial(2 * k + 2)
        for k, b in enumerate(BERNOULLI)
    ]
    return Op(
        "", "x", (f"polygamma({n + 1}, x)",), f"the derivative of digamma, of order {n}",
        value=f"a = abs(x); near = a < {start}; z = where(near, a + {start}, a); q = 1/(z*z); "
        f"far = z^-{n}*({most}/{n} + ({most}/(2*z) + {horner_text([*terms[::-1], 0.0], 'q')})); "
        f"where(x >= 0, {sign}*(where(near, {most}*({below}), 0) + far), nan)",
        domain="x > 0", poles=(("x == 0", f"{'-' * (sign < 0)}inf"),),
        latex=rf"\psi^{{({n})}}(x)", value_ulp=4.0 + n, partial_ulp=5.0 + n,
    )  # fmt: skip


# fmt: off
GAMMAS: tuple[Op, ...] = (
    Op(
        "gamma", "x", ("out*digamma(x)",), "the gamma function: (x - 1)! where x is a positive whole number",
        value=GAMMA, domain="x > 0", poles=(("x == 0", "inf"),), latex=r"\Gamma(x)", ill_conditioned="growth", value_ulp=6.0, partial_ulp=9.0,
        foreign_names="tgamma Γ",
    ),
    Op(
        "lgamma", "x", ("digamma(x)",), "the logarithm of gamma(x)",
        value=LGAMMA, domain="x > 0", poles=(("x == 0", "inf"),), arb=lambda x: x.lgamma(),
        latex=r"\operatorname{lgamma}(x)",
        value_ulp=3.0, foreign_names="gammaln loggamma lngamma log_gamma",
    ),
    Op(
        "digamma", "x", ("polygamma(1, x)",), "the derivative of lgamma",
        value=DIGAMMA, domain="x > 0", poles=(("x == 0", "-inf"),), latex=r"\operatorname{digamma}(x)", value_ulp=4.0, second_abs=1e-14, foreign_names="psi ψ", monotone=1,
    ),
    Op(
        "factorial", "x", ("out*digamma(1 + x)",), "the factorial: gamma(1 + x)",
        value=FACTORIAL, domain="x > -1", poles=(("x == -1", "inf"),), arb=lambda x: (x + 1).gamma(),
        latex=r"\operatorname{factorial}(x)", ill_conditioned="growth", value_ulp=6.0,
        partial_ulp=9.0, partial_abs=5e-15, away_from_zeros=("x > 0.6", 150.0), foreign_names="fact fac",
    ),
)

# The beta function and its logarithm.

DIGAMMA_TERMS = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12, -3617 / 8160)
"""The asymptotic series of log(z) - 1/(2*z) - digamma(z), of 1/z^2."""
SHIFT = 10
"""How far an operand is moved up at least, to where that series holds."""


def digamma_rise_text(a: str, b: str, *, thin: str = "") -> str:
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
    return (  # less is b, but finite; z is a where the series holds
        f"less = min({b}, 1e300); near = {a} < {SHIFT}; z = where(near, {a} + {SHIFT}, {a}); "
        f"p = 1/z; q = 1/(z + less); pp = p*p; qq = q*q; {'; '.join(powers)}; {lift}; "
        f"rise = where(near, {first} + lift*({below}), 0) + ({far} + lift*q*p*(0.5 + (p + q)*({series})))"
    )


def trigamma_fall_text(a: str, b: str) -> str:
    """polygamma(1, a) - polygamma(1, a + b) as ``fall``, in the same way, and in the names of ``digamma_rise_text``."""
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
RATIO = f"v = 1/max(x, 2); w = 1/max(s, 2); far = {scaled_gamma_text('v')}/{scaled_gamma_text('w')}"
"""What the scaled gamma function loses from x to x + y."""
BOTH = f"t = 1/max(y, 2); both = far*{scaled_gamma_text('t')}"

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

Where x is huge, gamma(x)/gamma(x + y) is x^-y times a series in 1/x, in two halves lest it underflow.
"""
LBETA = (
    f"{ORDERED}; {RATIO}; {BOTH}; l = log1p(u); xl = where(u < 1e-300, y, x*l); "
    "large = log(both) + (l - log(y))/2 - (xl + y*log1p(x/y)); "
    "mixed = (lgamma(y) - y*log(s)) + ((y - xl) + l/2 + log(far)); "
    "small = lgamma(y) + (lgamma(x) - lgamma(s)); "
    "where(y > 0, where(x == inf, -inf, where(y >= 2, large, where(x >= 2, mixed, small))), where(y == 0, inf, nan))"
)
OUTSIDE = "where(min(a, b) >= 0, {}, nan)"


def suffix_local_names(text: str, mark: str = "b") -> str:
    """A text whose own names end in ``_b``, so that the same text for the other operand can follow it."""
    names = {*re.findall(r"(\w+) = ", text)}
    return re.sub(r"\w+", lambda word: f"{word[0]}_{mark}" if word[0] in names else word[0], text)


def both_digamma_rises_text(thin: str) -> str:
    """What both derivatives are made of: the second one's names are marked."""
    first, second = (thin.format(a=a, b=b) for a, b in ("ab", "ba"))
    return f"{digamma_rise_text('a', 'b', thin=first)}; {suffix_local_names(digamma_rise_text('b', 'a', thin=second))}"


BETA_THIN = "{b} < 1e-18*{a}"
LBETA_THIN = "({b} < 1e-100)*({b} < 1e-18*{a})*({a} > 1e-150)"
BETA_SCALE = "where(thin, max({b}, 1), 1)/where(thin, 1, min(y, 1))"
"""Of beta's derivatives, which may be normal numbers though beta itself underflows or overflows."""
BETA_RISES = f"{BETA}; {both_digamma_rises_text(BETA_THIN)}"
LBETA_RISES = both_digamma_rises_text(LBETA_THIN)


def beta_second_partial(a: str, b: str) -> str:
    """The second derivative of beta for a."""
    rise = digamma_rise_text(a, b, thin=BETA_THIN.format(a=a, b=b))
    both = f"part*(rise*rise*where(thin, {b}, 1) + fall)*last*{BETA_SCALE.format(b=b)}"
    return f"{BETA}; {rise}; {trigamma_fall_text(a, b)}; {OUTSIDE.format(both)}"


def digamma_bow_text(a: str, t: str) -> str:
    """((digamma(a + t) - digamma(a))/t - polygamma(1, a + t))/t as ``bow``, a sum of positive terms.

    It is the sum of 1/(a + k)/(a + k + t)^2, its tail a series again, in the names of ``digamma_rise_text``.
    """
    below = " + ".join(
        f"1/(({a} + {k})*({a} + less + {k}))/({a} + less + {k})" for k in reversed(range(SHIFT))
    )
    powers = ["c1 = pp + 2*p*q"]
    for k in range(2, len(DIGAMMA_TERMS) + 1):
        powers.append(f"c{k} = pp*c{k - 1} + {2 * k - 1}*pp*q^{2 * k - 2} + {2 * k}*p*q^{2 * k - 1}")
    series = " + ".join(f"{term!r}*c{k}" for k, term in reversed([*enumerate(DIGAMMA_TERMS, 1)]))
    sides = horner_text([1 / k for k in range(25, 1, -2)], "w*w")
    return (
        f"{'; '.join(powers)}; h = 2*z + less; w = less/h; "
        f"arch = where(less < z/2, 2/h/h*(1/(1 + w) + w*{sides}), (log1p(less*p) - less*q)/less/less); "
        f"bow = where(near, {below}, 0) + (arch + q*q*(p/2 + {series}))"
    )


def beta_mixed_partial() -> str:
    """The second derivative of beta for a and b; where one is small it is a sum of positive terms.

    There beta(a, b) is (1/a + 1/b)*g(a, b) with g = gamma(1 + a)*gamma(1 + b)/gamma(1 + a + b).
    """
    product = "part*(rise*rise_b - polygamma(1, s))*last/min(y, 1)"
    first, second = digamma_rise_text("a", "b"), suffix_local_names(digamma_rise_text("b", "a"))
    wide = digamma_rise_text("g", "y", thin="y < 1e-18*g") + f"; {digamma_bow_text('g', 'y')}"
    long = f"{digamma_rise_text('f', 'x')}; {digamma_bow_text('f', 'x')}"
    small = (
        f"g = 1 + x; f = 1 + y; {suffix_local_names(wide, 'g')}; {suffix_local_names(long, 'f')}; "
        "steep = where(thin_g, rise_g, rise_g/y); "
        "little = part*(x/s*(bow_g + bow_f) + steep*rise_f)*last*max(y, 1)"
    )
    both = f"where(y < 2, little, {product})"
    return f"{BETA}; {small}; {first}; {second}; {OUTSIDE.format(both)}"


def lbeta_second_partial(a: str, b: str) -> str:
    """The second derivative of lbeta for a."""
    rise = digamma_rise_text(a, b, thin=LBETA_THIN.format(a=a, b=b))
    return f"{rise}; {trigamma_fall_text(a, b)}; {OUTSIDE.format(f'where(thin, fall*{b}, fall)')}"


# fmt: off
BETAS: tuple[Op, ...] = (
    Op(
        "beta", "a b", (
            f"{BETA_RISES}; {OUTSIDE.format('-(part*rise)*last*' + BETA_SCALE.format(b='b'))}",
            f"{BETA_RISES}; {OUTSIDE.format('-(part*rise_b)*last*' + BETA_SCALE.format(b='a').replace('thin', 'thin_b'))}",
        ),
        "the beta function gamma(a)*gamma(b)/gamma(a + b)",
        display_partials=("out*(digamma(a) - digamma(a + b))", "out*(digamma(b) - digamma(a + b))"),
        seconds=(beta_second_partial("a", "b"), beta_mixed_partial(), beta_second_partial("b", "a")),
        value=f"{BETA}; where(y > 0, part*last/min(y, 1), where(y == 0, inf, nan))",
        domain="(a > 0)*(b > 0)", domain_words="a and b are positive", poles=(("min(a, b) == 0", "inf"),),
        arb=lambda a, b: a.gamma() * b.gamma() * (a + b).rgamma(),
        latex=r"\operatorname{beta}(a, b)", commutes=True, not_negative=True, ill_conditioned="growth", value_ulp=7.0, partial_ulp=9.0,
    ),
    Op(
        "lbeta", "a b",
        (
            f"{LBETA_RISES}; {OUTSIDE.format('where(thin, -rise*b, -rise)')}",
            f"{LBETA_RISES}; {OUTSIDE.format('where(thin_b, -rise_b*a, -rise_b)')}",
        ),
        "the logarithm of beta(a, b)",
        display_partials=("digamma(a) - digamma(a + b)", "digamma(b) - digamma(a + b)"),
        seconds=(
            lbeta_second_partial("a", "b"), OUTSIDE.format("-polygamma(1, a + b)"), lbeta_second_partial("b", "a"),
        ),
        value=LBETA, domain="(a > 0)*(b > 0)", domain_words="a and b are positive", poles=(("min(a, b) == 0", "inf"),),
        arb=lambda a, b: a.lgamma() + b.lgamma() - (a + b).lgamma(),
        latex=r"\operatorname{lbeta}(a, b)", commutes=True, value_ulp=3.0, value_abs=2e-15, foreign_names="betaln",
    ),
)
# fmt: on

# The normal distribution, the error function's relatives and inverses.
#
# The polynomials were fitted for exprgrad at Chebyshev's points in 70 digits, to relative errors of 1e-17 at most.

ERFCX_SLOPE_NEAR = (
    -2.60383560475978e-09, -3.332242173225119e-09, 2.7222961057076404e-08, 5.8592364147363017e-08,
    -6.594191641834056e-08, -2.9841834231461574e-07, -1.633200348590748e-07, 5.657158523962067e-07,
    1.2337887774619652e-06, 6.654561197080613e-07, -2.0816206101200353e-06, -5.946893163689771e-06,
    -4.88683974903711e-06, 9.992881716625898e-06, 3.4089246230957754e-05, 2.6426782661730216e-05,
    -7.157136881083219e-05, -0.00020998617353697852, -7.24712121764981e-05, 0.0006701522121550439,
    0.0012135390403179792, -0.0011009945240877772, -0.006277004326294267, -0.001393780353837299,
    0.02749535684219701, 0.020331438047415374, -0.1399492347858071, -0.059726278469513824, 0.9477429721887971,
    -1.9332655539397308, 1.7087433896558335,
)  # fmt: skip
"""-(z + 2)^2 times the derivative of erfcx, of u = (z - 2)/(z + 2), for z from 0 to 28."""

INVERSE_FIRST = (
    -2.977707210373966e-25, 1.0499404936793972e-23, -3.054151405249721e-23, -8.896305825200184e-22,
    6.474157771888622e-21, 2.0609839483422843e-20, -4.459348390459549e-19, 1.4477027999369341e-18,
    1.3637178945101644e-17, -1.553961341304869e-16, 2.673654455859035e-16, 6.28202677776061e-15,
    -5.289119641427558e-14, 6.497831604071422e-15, 2.6988179378616532e-12, -1.732965937406382e-11,
    -3.1425181543769876e-11, 1.1108001435801187e-09, -5.4671795714723386e-09, -2.3688730483123692e-08,
    4.4998542600670617e-07, -1.748002092821003e-06, -1.2716422638985917e-05, 0.0001950613244118731,
    -0.0008361817769092665, -0.005738135221005619, 0.24163040416615827, 1.6235420064648298,
)  # fmt: skip
"""erfinv(x)/x, of w - 3, where w = -log(1 - x^2) is at most 6."""

INVERSE_SECOND = (
    2.97664899884577e-11, -8.107798169030497e-11, -6.220151264662616e-11, 5.999049648491356e-10,
    -1.3445662638646905e-09, 1.2333430471941167e-09, 4.153523702389923e-09, -2.3928803565630168e-08,
    5.403339271270131e-08, -1.630910353438189e-08, -2.990929777771102e-07, 1.0160570838829473e-06,
    -1.2598178836872105e-06, -2.0178185195599073e-06, 1.248495251740307e-05, -2.5519646843166023e-05,
    1.3686034956681029e-05, 7.564345859053883e-05, -0.00028786286193852755, 0.000610425722541186,
    -0.0009900098513896808, 0.0015064308605280206, -0.002577990665073557, 0.0039689203216485515, 1.006646803009153,
    3.2347837842446925,
)  # fmt: skip
"""The same of sqrt(w) - 3.4, for sqrt(w) up to 4.25."""

INVERSE_THIRD = (
    -3.544442822700505e-24, -1.5605685256241142e-23, 6.36404835675733e-22, -2.239568691147772e-21,
    -1.404813910889149e-20, 8.917724673013547e-20, 3.250169890423924e-20, -9.73272632575761e-19,
    -7.559913411250993e-20, 1.0079582490225705e-17, -8.748737269214545e-18, -5.124998134654092e-17,
    4.9795516142638684e-17, 2.678551547422716e-16, -5.0641623907010175e-16, 7.426163563695209e-16,
    -9.629781518905112e-15, 8.006103667770944e-14, -5.744976147502521e-13, 4.094647525533009e-12,
    -2.8787708513558327e-11, 1.9813444208450362e-10, -1.3300526203135561e-09, 8.652730158929918e-09,
    -5.391219008569112e-08, 3.142269802157635e-07, -1.6193145410104702e-06, 6.054733715828132e-06,
    6.2844717995501754e-06, -0.0005126546321535192, 1.008595621222701, 6.869019651871007,
)  # fmt: skip
"""The same of sqrt(w) - 7, up to 10."""

INVERSE_LAST = (
    -5.545727323721581e-36, 1.032456813300133e-34, 1.0560029980140794e-33, -1.988812826518986e-32,
    -3.3751945972912886e-31, 6.2395932632049304e-30, -1.4750147343750606e-29, 2.434685497163128e-28,
    -1.312907706479591e-26, 2.3164268326780188e-25, -3.4603902260507875e-24, 5.881426576660131e-23,
    -1.0048061231217085e-21, 1.6309823538447814e-20, -2.53331659505746e-19, 3.693417690411625e-18,
    -4.7603316456883666e-17, 4.464189980016995e-16, 8.71050655508453e-16, -2.0929077407807104e-13,
    7.997028147494654e-12, -2.371715292192652e-10, 6.35262379774705e-09, -1.6192355875382266e-07,
    4.038206535763865e-06, -0.00010075868439454707, 1.0025942004016792, 18.62484495385255,
)  # fmt: skip
"""The same of sqrt(w) - 18.7, up to 27.4."""

LONG_TAIL = (135135 / 128, -10395 / 64, 945 / 32, -105 / 16, 15 / 8, -3 / 4, 1 / 2)
ERFCX = (
    f"z = abs(x); m = min(z, 28); u = (m - 2)/(m + 2); {WHOLE}; q = 1/z/z; "
    f"far = {1 / math.sqrt(math.pi)!r}/z*(1 - q*{horner_text(LONG_TAIL, 'q')}); up = where(z < 28, whole/(m + 2), far); "
    "h = round(16*m)/16; where(x >= 0, up, 2*exp(h*h)*exp((m - h)*(m + h)) - up)"
)
"""From 28 on an asymptotic series: W. J. Cody, Rational Chebyshev approximations for the error function,
Math. Comp. 23 (1969), 631-637.  On the left it is 2*exp(x^2) less what it is on the right.
"""
LONG_SLOPE = tuple([(2 * k + 1) * term for k, term in zip(range(7, 0, -1), LONG_TAIL, strict=True)])
ERFCX_SLOPE = (
    f"z = max(x, 0); m = min(z, 28); u = (m - 2)/(m + 2); near = {horner_text(ERFCX_SLOPE_NEAR, 'u')}/(m + 2)/(m + 2); "
    f"q = 1/z/z; far = {1 / math.sqrt(math.pi)!r}*q*(1 - q*{horner_text(LONG_SLOPE, 'q')}); "
    f"where(x >= 0, -where(z < 28, near, far), 2*x*out - {2 / math.sqrt(math.pi)!r})"
)
NORMPDF = f"{FAR}; {bell_text(40, '/2', 'where(far, 40, 0) ')}; density = {DENSITY!r}*bell"
"""The density without the factor ``last``: scaled up where it is small, so that no factor is subnormal."""
NORMCDF = f"{NORMAL}; less = share*bell*last; where(x < 0, less, 1 - less)"
QUANTILE = (
    f"s = sqrt(w); first = {horner_text(INVERSE_FIRST, '(w - 3)')}; second = {horner_text(INVERSE_SECOND, '(s - 3.4)')}; "
    f"third = {horner_text(INVERSE_THIRD, '(s - 7)')}; last = {horner_text(INVERSE_LAST, '(s - 18.7)')}; "
    "ratio = where(w < 6, first, where(s < 4.25, second, where(s < 10, third, last)))"
)
"""erfinv(x)/x, of w = -log(1 - x^2): M. B. Giles, Approximating the erfinv function, GPU Computing Gems 2 (2011)."""
ERFINV_SLOPE = f"p = {math.sqrt(math.pi) / 2!r}*erfcx(abs(out))/(1 - abs(x))"
"""sqrt(pi)/2*exp(out^2), whose exponent would lose digits where it is large."""
NORMINV_SLOPE = f"p = {math.sqrt(math.pi / 2)!r}*erfcx(abs(out)*{math.sqrt(0.5)!r})/min(x, 1 - x)"

NORMALS: tuple[Op, ...] = (
    Op(
        "normpdf",
        "x",
        (f"{NORMPDF}; where(abs(x) > 39, 0, -x*density*last)",),
        "the density of the standard normal distribution",
        seconds=(f"{NORMPDF}; where(abs(x) > 39, 0, (z - 1)*(z + 1)*density*last)",),
        display_partials=("-x*out",),
        value=f"{NORMPDF}; density*last",
        latex=r"\operatorname{normpdf}(x)",
        not_negative=True,
        value_ulp=3.0,
        arb=lambda x: (-x * x / 2).exp() / (2 * x.pi()).sqrt(),
        foreign_names="norm_pdf normal_pdf",
    ),
    Op(
        "normcdf",
        "x",
        ("normpdf(x)",),
        "the standard normal distribution: how likely it is to be below x",
        value=NORMCDF,
        latex=r"\operatorname{normcdf}(x)",
        not_negative=True,
        inverse="norminv",
        value_ulp=5.0,
        foreign_names="norm_cdf normal_cdf CND ndtr normsdist pnorm",
        monotone=1,
    ),
    Op(
        "norminv",
        "x",
        (f"{NORMINV_SLOPE}; where((x == 0) + (x == 1), inf, p)",),
        "the standard normal distribution's quantile: what it is below with likelihood x",
        seconds=(f"{NORMINV_SLOPE}; where((x == 0) + (x == 1), out, out*p*p)",),
        display_partials=("1/normpdf(out)",),
        value=f"w = -log(4*x*(1 - x)); {QUANTILE}; where(x == 0, -inf, where(x == 1, inf, {math.sqrt(2)!r}*(2*x - 1)*ratio))",
        domain="(x > 0)*(x < 1)",
        poles=(("x == 0", "-inf"), ("x == 1", "inf")),
        latex=r"\operatorname{norminv}(x)",
        inverse="normcdf",
        value_ulp=5.0,
        partial_ulp=8.0,
        foreign_names="ndtri norm_ppf ppf probit normsinv qnorm",
        monotone=1,
    ),
    Op(
        "erfinv",
        "x",
        (f"{ERFINV_SLOPE}; where(abs(x) == 1, inf, p)",),
        "the inverse of erf",
        seconds=(f"{ERFINV_SLOPE}; where(abs(x) == 1, out, 2*out*p*p)",),
        display_partials=("sqrt(pi)/2*exp(out^2)",),
        value=f"w = -log((1 - x)*(1 + x)); {QUANTILE}; where(abs(x) == 1, x*inf, x*ratio)",
        domain="abs(x) < 1",
        poles=(("abs(x) == 1", "x*inf"),),
        latex=r"\operatorname{erfinv}(x)",
        inverse="erf",
        value_ulp=3.0,
        partial_ulp=8.0,
        monotone=1,
    ),
    Op(
        "erfcx",
        "x",
        (ERFCX_SLOPE,),
        "the scaled error function exp(x^2)*erfc(x)",
        display_partials=("2*x*out - 2/sqrt(pi)",),
        value=ERFCX,
        arb=lambda x: (x * x).exp() * x.erfc(),
        latex=r"\operatorname{erfcx}(x)",
        not_negative=True,
        value_ulp=5.0,
        second_abs=1e-15,
        monotone=-1,
    ),
)

# Lambert's W and Bessel functions, in polynomials fitted in the same way.

LAMBERTW_NEAR = (
    2.0577780665814454e-07, -2.254672599029817e-06, 1.1931261305381314e-05, -4.107175519373674e-05,
    0.00010506833300239738, -0.00021768376367624608, 0.00039079708969249553, -0.00064307947809647,
    0.0010131195089066105, -0.0015721431950275694, 0.002439489788695844, -0.0038109811747036415,
    0.006014487197785539, -0.009616884497077908, 0.015635631786629422, -0.025984714821216847, 0.04450231481234962,
    -0.07962962962955838, 0.15277777777777668, -0.3333333333333333, 1.0,
)  # fmt: skip
"""(1 + lambertw(x))/p, of p = sqrt(2*(1 + e*x)), up to 0.9."""

BESSEL_0_NEAR = (
    -1.900373416667715e-18, 1.0505314971165415e-16, -5.039412054732181e-15, 2.0797110540077185e-13,
    -7.283050412333054e-12, 2.131753197419964e-10, -5.120592513344895e-09, 9.86788928955736e-08,
    -1.4822807732409074e-06, 1.6707144987386e-05, -0.00013400386260642498, 0.0007061239500175509,
    -0.00213010850412941, 0.0026861635624847073,
)  # fmt: skip
"""j0(x) by its first zeros' factors, of x^2/16 - 1, for x^2 up to 32."""

BESSEL_1_NEAR = (
    -9.696588328833067e-19, 5.733382105538655e-17, -2.9569020254725715e-15, 1.3196530485705845e-13,
    -5.032886118762855e-12, 1.617942761946324e-10, -4.313163961478975e-09, 9.347056880506376e-08,
    -1.6063775162856133e-06, 2.1210202492696942e-05, -0.00020627879249984852, 0.0013928952611836508,
    -0.005971597822946245, 0.013934779886367698, -0.012526907619488157,
)  # fmt: skip
"""j1(x)/x by its first zeros' factors, of x^2/16 - 1, for x^2 up to 32."""

BESSEL_0_COSINE = (
    -4.563984443604081e-08, 4.7436946294417957e-07, -2.2985507646723993e-06, 6.905405784878551e-06,
    -1.4439774542042362e-05, 2.2391714647677464e-05, -2.6840151549644582e-05, 2.5685662666550585e-05,
    -2.0249613041579654e-05, 1.3668526822363107e-05, -8.357462175983414e-06, 5.041453634246721e-06,
    -3.3683037103146496e-06, 2.81967952457413e-06, -3.277994297302896e-06, 5.7926160170811765e-06,
    -1.7471355424064393e-05, 0.00010952353474890445, -0.002197265624999809, 1.0,
)  # fmt: skip
"""Hankel's P of order 0, of 32/x^2, from there on."""

BESSEL_0_SINE = (
    7.565123204488527e-07, -8.57110316155235e-06, 4.5484552626937647e-05, -0.00015034069660047457,
    0.00034729295034476314, -0.0005966571761892267, 0.0007926976101732439, -0.0008371044973819044,
    0.0007183303159013003, -0.0005116091825718531, 0.00031013683465023426, -0.0001658577042514302,
    8.271903967646211e-05, -4.180827477190361e-05, 2.3811123312569587e-05, -1.6965886337938876e-05,
    1.642862236064476e-05, -2.3250974872252354e-05, 5.272605596157996e-05, -0.00022178515787251983,
    0.0022888183593747172, -0.125,
)  # fmt: skip
"""Hankel's x*Q of order 0, of 32/x^2, from there on."""

BESSEL_1_COSINE = (
    4.80700649419843e-08, -4.996869941620197e-07, 2.4215820285483546e-06, -7.276392439068624e-06,
    1.5219312326700004e-05, -2.3608483746072566e-05, 2.8312040924512463e-05, -2.711303773392469e-05,
    2.1397674225621346e-05, -1.4468222347135622e-05, 8.871675114006118e-06, -5.3771716980474775e-06,
    3.6200769556697793e-06, -3.065235618956779e-06, 3.623089202878095e-06, -6.5649683078822e-06,
    2.06479656878358e-05, -0.0001408159732546855, 0.0036621093749997996, 1.0,
)  # fmt: skip
"""Hankel's P of order 1, of 32/x^2, from there on."""

BESSEL_1_SINE = (
    -7.934969669239385e-07, 8.99081282144229e-06, -4.771624955459979e-05, 0.0001577351899929194,
    -0.00036442704765408235, 0.0006262102356498267, -0.0008321650830468929, 0.000879077130999073,
    -0.0007547042942710265, 0.0005378893345880185, -0.00032641621665145985, 0.00017486189522080675,
    -8.74535088878489e-05, 4.440112384423086e-05, -2.5463407585160308e-05, 1.832446147185762e-05,
    -1.7993374790137156e-05, 2.598639156050677e-05, -6.083775720994085e-05, 0.0002710707485190221,
    -0.0032043457031247042, 0.375,
)  # fmt: skip
"""Hankel's x*Q of order 1, of 32/x^2, from there on."""

BRANCH = (
    "p = sqrt(2*exp(1)*max((x + 0.36787944117144233) - 1.2428753672788363e-17, 0)); "
    f"above = p*{horner_text(LAMBERTW_NEAR, 'p')}"
)
"""1 + lambertw(x) beside the branch point -1/e, which is 1.24e-17 greater than the double nearest to it."""
HALLEY = "; ".join(
    f"t{k} = x*exp(-w{k}); w{k + 1} = w{k} - (w{k} - t{k})/(1 + t{k} + (w{k} - t{k})*t{k}/(2*(1 + t{k})))"
    for k in range(3)
)
"""Three steps for w = x*exp(-w)."""
LAMBERTW = (
    f"{BRANCH}; y = log1p(x); w0 = y*(1 - log1p(y)/(2 + y)); {HALLEY}; "
    "where(x > -0.36787944117144233, where(x < -0.26, above - 1, where((x == 0) + (x == inf), x, w3)), nan)"
)

LAMBERTW_SLOPE = (
    f"{BRANCH}; below = where(x < -0.26, above, 1 + out); "
    "d = where(x > -0.36787944117144233, where(x > 1, out/x/below, exp(-out)/below), nan)"
)


def low_order_bessel_text(order: int, zeros: Sequence[tuple[float, float]]) -> str:
    """A Bessel function: near 0 its first zeros, each in two pieces, are factors; far out P. Hankel's form."""
    odd = order % 2
    near, above, below = (
        (BESSEL_1_NEAR, BESSEL_1_COSINE, BESSEL_1_SINE)
        if odd
        else (BESSEL_0_NEAR, BESSEL_0_COSINE, BESSEL_0_SINE)
    )
    factors = "*".join(f"((z - {high!r} + {-low!r})*(z + {high!r}))" for high, low in zeros)
    wave = "p*(s - c) + q*(s + c)" if odd else "p*(c + s) - q*(s - c)"
    sign = "sign(x)*" if odd else ""
    near_0 = "near" if odd else "where(z < 1e-8, 1, near)"
    return (
        f"z = abs(x); t = z*z/16 - 1; near = {'z*' if odd else ''}{factors}*{horner_text(near, 't')}; "
        f"far = z > 5.65685424949238; v = where(far, z, 6); u = 32/v/v; c = cos(v); s = sin(v); p = {horner_text(above, 'u')}; q = {horner_text(below, 'u')}/v; "
        f"where(z == inf, 0, {sign}where(far, ({wave})/sqrt(pi*v), {near_0}))"
    )


FIRST_ZEROS = {
    0: ((2.404825557695773, -1.1766916515308941e-16), (5.520078110286311, 8.088597146146722e-17)),
    1: ((3.8317059702075125, -1.526918409008807e-16),),
}
"""Their first zeros, each as a double and what it lacks."""
J1_SERIES = tuple(
    [
        (-1) ** k
        * (2 * k + 1)
        * 2
        * k
        / (2 ** (2 * k + 1) * math.factorial(k) * math.factorial(k + 1))
        for k in range(9, 0, -1)
    ]
)
J1_SLOPE = "where(abs(x) < 1e-8, 0.5, where(abs(x) == inf, 0, j0(x) - out/x))"

OTHERS: tuple[Op, ...] = (
    Op(
        "lambertw",
        "x",
        (f"{LAMBERTW_SLOPE}; d",),
        "Lambert's W, its principal branch: the w from -1 up for which w*exp(w) is x",
        display_partials=("exp(-out)/(1 + out)",),
        value=LAMBERTW,
        seconds=(f"{LAMBERTW_SLOPE}; -d*d*(2 + out)/below",),
        domain="x > -0.36787944117144233",
        domain_words="x is greater than -1/e",
        latex=r"\operatorname{lambertw}(x)",
        value_ulp=4.0,
        foreign_names="productlog lambertw0",
    ),
    Op(
        "j0",
        "x",
        ("-j1(x)",),
        "the Bessel function of the first kind of order 0",
        value=low_order_bessel_text(0, FIRST_ZEROS[0]),
        arb=lambda x: x.bessel_j(0),
        latex=r"\operatorname{j0}(x)",
        value_ulp=6.0,
        value_abs=2e-16,
        partial_ulp=8.0,
        partial_abs=2e-16,
        away_from_zeros=("abs(x) < 3", 5.0),
        second_abs=1e-15,
        foreign_names="besselj0 bessel_j0",
    ),
    Op(
        "j1",
        "x",
        (J1_SLOPE,),
        "the Bessel function of the first kind of order 1",
        display_partials=("j0(x) - out/x",),
        value=low_order_bessel_text(1, FIRST_ZEROS[1]),
        seconds=(
            f"s = x*x; where(abs(x) < 1, x*{horner_text(J1_SERIES, 's')}, out*(1/x/x - 1) - ({J1_SLOPE})/x)",
        ),
        arb=lambda x: x.bessel_j(1),
        latex=r"\operatorname{j1}(x)",
        value_ulp=8.0,
        value_abs=2e-16,
        partial_ulp=10.0,
        partial_abs=4e-16,
        away_from_zeros=("abs(x) < 1.2", 5.0),
        second_abs=2e-15,
        foreign_names="besselj1 bessel_j1",
    ),
)
# fmt: on

# Families of Bessel functions of whole order.

SECOND_0 = (
    2.450888066990881e-19, -1.7178510184336705e-17, 1.062158529385621e-15, -5.755127133716334e-14,
    2.704108832842237e-12, -1.0894659956884642e-10, 3.714309684950943e-09, -1.0547503028101814e-07,
    2.4471367038218804e-06, -4.528440148938057e-05, 0.0006479339683545093, -0.006873814564340056,
    0.0508943416217202, -0.23850636693470123, 0.5802388787357959, -0.31616271057371176, -0.7860067848549582,
    0.33356080727422077,
)  # fmt: skip
"""What (2/pi)*log(x)*j0(x) lacks to Y0, of x^2/16 - 1, for x^2 up to 32."""

SECOND_1 = (
    6.94494974911937e-21, -5.164753908616011e-19, 3.4016601508680567e-17, -1.971813584844526e-15,
    9.96210835021147e-14, -4.341479039536712e-12, 1.6123579203892914e-10, -5.030273529900082e-09,
    1.2957699714268973e-07, -2.698069540488534e-06, 4.421169240035742e-05, -0.0005505339801086241,
    0.004965340898152723, -0.030217460540047824, 0.11020450043792282, -0.18571959101501856,
    0.018194291966901012, 0.15384167272680302,
)  # fmt: skip
"""What (2/pi)*(log(x)*j1(x) - 1/x) lacks to Y1, divided by x, of the same."""

GROWTH_0 = (
    -23828997.808199488, 16002554.965941884, -3837837.81164168, 508237.5269593169, -42077.8735386064,
    2433.744696108194, -84.85085644705238, 5.080646082667406, 0.6362972983075105, 0.2291333676067559,
    0.09059599023266392, 0.044742257246627296, 0.02921940514583059, 0.028050629091024355, 0.049867785050178866,
    0.3989422804014327,
)  # fmt: skip
"""I0(x)*exp(-x)*sqrt(x), of 1/x, for x from 16 on."""

GROWTH_1 = (
    21884409.70297696, -15468419.738476036, 3772838.5422938634, -504397.9990957829, 41963.12363974167,
    -2442.0718154697897, 84.10840615812415, -5.420342317137541, -0.7419267709100451, -0.270666318825844,
    -0.1107299181809583, -0.05752574751494829, -0.04090716726525006, -0.04675104848484487, -0.14960335515053702,
    0.3989422804014327,
)  # fmt: skip
"""I1(x)*exp(-x)*sqrt(x), of 1/x, for x from 16 on."""

DECAY_NEAR_0 = (
    6.608797182218267e-17, 2.0090165686376613e-14, 4.843200709053819e-12, 8.819883049166487e-10,
    1.1570350941580681e-07, 1.0214014135957667e-05, 0.0005451899602568578, 0.014418505235913549,
    0.10569608377461678, -0.5772156649015329,
)  # fmt: skip
"""K0(x) + log(x/2)*I0(x), of x^2, for x up to 1."""

DECAY_NEAR_1 = (
    -3.3736581586193026e-18, -1.1451062360227728e-15, -3.1208597649036993e-13, -6.540197222484471e-11,
    -1.0112909397665771e-08, -1.0892182538735543e-06, -7.493042905988501e-05, -0.002837111983763369,
    -0.042049020943654196, 0.03860783245076643,
)  # fmt: skip
"""(K1(x) - log(x/2)*I1(x) - 1/x)/x, of x^2, for x up to 1."""

DECAY_FAR_0 = (
    1.7098549167745842e-05, -0.0001775666502502038, 0.000851704864593943, -0.0025096646282547464,
    0.005116579033828787, -0.00777283012144075, 0.009418433606838682, -0.009898738703549056,
    0.009952991690666345, -0.010262130725123525, 0.010922792333560067, -0.011743240762743298,
    0.012625057542118026, -0.013597614108610401, 0.014712249675828832, -0.01600642510849711,
    0.01752058577995764, -0.01931193743422428, 0.02146104575472865, -0.02408216903736276, 0.027343024588027717,
    -0.03149951005257046, 0.03696471099313369, -0.044443181859544725, 0.0552861424865255, -0.07228847679002241,
    0.1045580229835157, 1.1901571834152027,
)  # fmt: skip
"""K0(x)*exp(x)*sqrt(x), of u = (x - 2)/(x + 2), for x from 1 on."""

DECAY_FAR_1 = (
    -9.884119000252966e-05, 0.0011549693660735764, -0.006272144768190467, 0.021031818185699606,
    -0.04888580286453925, 0.08415768588989742, -0.11296460871863774, 0.12515500378838249, -0.12362659681631549,
    0.11912361232666525, -0.11861189502601413, 0.1217367585097707, -0.12566515979608395, 0.129196522327005,
    -0.1326291769998177, 0.1363658278132011, -0.14050630328371716, 0.1450604073695935, -0.15007998981533785,
    0.1556539589358537, -0.16189491269429684, 0.1689467944646669, -0.17700084212322176, 0.18631803302737204,
    -0.19726559790934695, 0.21037922434716733, -0.22648056649308068, 0.2469014339319352, -0.2740310297283677,
    0.3125463948274996, -0.3759578130914374, 1.4615569735231244,
)  # fmt: skip
"""K1(x)*exp(x)*sqrt(x), of u = (x - 2)/(x + 2), for x from 1 on."""


def bessel_power_series(n: int, sign: int, count: int) -> str:
    """The series of (z/2)^-n*n! times a Bessel function, in q = (z/2)^2."""
    start = math.factorial(n)
    terms = [
        sign**k * start / (math.factorial(k) * math.factorial(n + k)) for k in range(count, -1, -1)
    ]
    return f"(z/2)^{n}*({1 / start!r}*{horner_text(terms, 'q')})"


def miller_downward(top: int, sign: str) -> str:
    """J. C. P. Miller's algorithm: the recurrence downwards, where it is stable, from far above the order."""
    lines = [f"i = 1/z; f{top} = 0; f{top - 1} = 1e-200"]
    for k in range(top - 1, 0, -1):
        lines.append(f"f{k - 1} = {2 * k}*i*f{k} {sign} f{k + 1}")
    return "; ".join(lines)


def recurrence_upward(n: int, first: str, second: str, rule: str) -> str:
    """The function of order n from those of order 0 and 1: ``rule`` is the recurrence upwards."""
    lines = [f"g0 = {first}; g1 = {second}"]
    for k in range(1, n):
        lines.append(f"g{k + 1} = " + rule.format(f"{2 * k}/z*g{k}", f"g{k - 1}"))
    return "; ".join(lines)


def family_member_slope(word: str, n: int, text: str) -> str:
    """A member's derivative, by those beside it."""
    beside = f"{word}({n - 1}, x)", f"{word}({n + 1}, x)"
    return text.format(*beside)


# fmt: off
def besselj_row(n: int) -> Op:
    """F. W. J. Olver, Bessel functions of integer order, in Abramowitz and Stegun (1964), 9.1.10, 9.1.27 and 9.12.

    Where x is below the order, a recurrence downward is scaled so that J0 + 2*J2 + 2*J4 … is 1.
    """
    top = n + 18 + math.ceil(7 * n ** (1 / 3))
    evens = " + ".join(f"f{k}" for k in range(top - top % 2, 0, -2))
    value = (
        f"z = abs(x); q = z*z/4; small = {bessel_power_series(n, -1, 14)}; {recurrence_upward(n, 'j0(z)', 'j1(z)', '{} - {}')}; "
        f"{miller_downward(top, '-')}; below = f{n}/(f0 + 2*({evens})); "
        f"{'sign(x)*' if n % 2 else ''}where(z < {math.sqrt(2 * (n + 1))!r}, small, where(z < {n}, below, g{n}))"
    )
    return Op(
        "", "x", (family_member_slope("besselj", n, "({} - {})/2") if n else "-besselj(1, x)",),
        f"the Bessel function of the first kind of order {n}", value=value if n > 1 else f"j{n}(x)", latex=rf"\operatorname{{J}}_{{{n}}}(x)",
        value_ulp=6.0 + n, value_abs=6e-16, partial_ulp=8.0 + n, partial_abs=6e-16, second_abs=6e-16,
    )


SECOND = (
    "z = abs(x); m = min(z, 6); t = m*m/16 - 1; far = z > 5.65685424949238; v = where(far, where(z < inf, z, 6), 6); r = 32/v/v; c = cos(v); s = sin(v); "
    f"near_0 = {2 / math.pi!r}*log(m)*j0(m) + {horner_text(SECOND_0, 't')}; "
    f"far_0 = ({horner_text(BESSEL_0_COSINE, 'r')}*(s - c) + {horner_text(BESSEL_0_SINE, 'r')}/v*(s + c))/sqrt(pi*v); "
    f"near_1 = {2 / math.pi!r}*(log(m)*j1(m) - 1/m) + m*{horner_text(SECOND_1, 't')}; "
    f"far_1 = ({horner_text(BESSEL_1_SINE, 'r')}/v*(s - c) - {horner_text(BESSEL_1_COSINE, 'r')}*(s + c))/sqrt(pi*v)"
)
"""Y0 and Y1: near 0 with the logarithm; far out in P. Hankel's form."""


def bessely_row(n: int) -> Op:
    """The recurrence is stable upwards: 9.1.11, 9.1.27 and 9.2.6 there.

    What is infinite is not taken from what is infinite too.
    """
    orders = recurrence_upward(n, "where(far, far_0, near_0)", "where(far, far_1, near_1)", "{} - max({}, -1e308)")
    shown = family_member_slope("bessely", n, "({} - {})/2") if n else "-bessely(1, x)"
    return Op(
        "", "x", (family_member_slope("bessely", n, "(max({}, -1e308) - {})/2") if n else shown,),
        f"the Bessel function of the second kind of order {n}", display_partials=(shown,),
        value=f"{SECOND}; {orders}; where(x > 0, where(x == inf, 0, g{n}), where(x == 0, -inf, nan))",
        domain="x > 0", poles=(("x == 0", "-inf"),), latex=rf"\operatorname{{Y}}_{{{n}}}(x)",
        value_ulp=6.0 + n, value_abs=6e-16, partial_ulp=8.0 + n, partial_abs=6e-16, second_abs=6e-16,
    )


def besseli_row(n: int) -> Op:
    """9.6.10, 9.6.26 and 9.7.1 there; between those I0 + 2*I1 + 2*I2 … is exp(z).

    Upwards the recurrence loses what I0 is in times of the order's, which is little from n^2/2 on.
    """
    end = max(16.0, n * n / 2)
    top = 20 + 13 * n // 2
    every = " + ".join(f"f{k}" for k in range(top, 0, -1))
    middle = f"{miller_downward(top, '+')}; between = f{n}/(f0 + 2*({every})); " if end > 16 else "between = 0; "
    scaled = f"{horner_text(GROWTH_0, 'w')}/sqrt(v)", f"{horner_text(GROWTH_1, 'w')}/sqrt(v)"
    value = (
        f"z = abs(x); v = max(z, 16); w = 1/v; q = z*z/4; small = {bessel_power_series(n, 1, 48)}; {middle}"
        f"{recurrence_upward(n, *scaled, '{1} - {0}')}; h = exp(z/2); "
        f"{'sign(x)*' if n % 2 else ''}where(z < 16, small, where(z == inf, inf, h*where(z < {end!r}, between, g{n})*h))"
    )
    return Op(
        "", "x", (family_member_slope("besseli", n, "({} + {})/2") if n else "besseli(1, x)",),
        f"the modified Bessel function of the first kind of order {n}", value=value, latex=rf"\operatorname{{I}}_{{{n}}}(x)",
        value_ulp=6.0 + n, partial_ulp=8.0 + n,
    )


DECAY = (
    "z = abs(x); m = min(z, 1); q = m*m; l = 0.6931471805599453 - log(m); v = max(z, 1); u = 1 - 4/(v + 2); far = z > 1; "
    f"near_0 = l*besseli(0, m) + {horner_text(DECAY_NEAR_0, 'q')}; near_1 = 1/m - l*besseli(1, m) + m*{horner_text(DECAY_NEAR_1, 'q')}; "
    f"far_0 = {horner_text(DECAY_FAR_0, 'u')}/sqrt(v); far_1 = {horner_text(DECAY_FAR_1, 'u')}/sqrt(v)"
)
"""K0 and K1: near 0 with the logarithm; from 1 on in times of exp(x)."""


def besselk_row(n: int) -> Op:
    """The recurrence is stable upwards: 9.6.11, 9.6.26 and 9.7.2 there."""
    orders = recurrence_upward(n, "where(far, far_0, near_0)", "where(far, far_1, near_1)", "{} + {}")
    return Op(
        "", "x", (family_member_slope("besselk", n, "-({} + {})/2") if n else "-besselk(1, x)",),
        f"the modified Bessel function of the second kind of order {n}",
        value=f"{DECAY}; {orders}; h = exp(-z/2); where(x > 0, where(far, h*g{n}*h, g{n}), where(x == 0, inf, nan))",
        domain="x > 0", poles=(("x == 0", "inf"),), latex=rf"\operatorname{{K}}_{{{n}}}(x)", not_negative=True,
        value_ulp=6.0 + n, partial_ulp=8.0 + n,
    )
# fmt: on


FAMILIES: tuple[Family, ...] = (
    Family(
        "polygamma",
        "the derivatives of digamma",
        1,
        polygamma_row,
        "digamma",
        greatest=100,
        beyond=150,
    ),
    Family("besselj", "the Bessel functions of the first kind", 0, besselj_row),
    Family("bessely", "the Bessel functions of the second kind", 0, bessely_row),
    Family("besseli", "the modified Bessel functions of the first kind", 0, besseli_row),
    Family("besselk", "the modified Bessel functions of the second kind", 0, besselk_row),
)
"""Families of rows with a whole-number setting."""
ROWS: tuple[Op | Family, ...] = (
    *RECIPROCALS, *RECTIFIERS, *GAMMAS, *BETAS, *NORMALS, *OTHERS, *FAMILIES,
)  # fmt: skip
