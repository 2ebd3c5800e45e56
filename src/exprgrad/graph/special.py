"""Rows of the op table: special functions, and others that few formulas have.

What a row holds is told in ``op.py``, and what its texts may say in ``ops.py``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from exprgrad.graph import bessel, beta
from exprgrad.graph.bessel import BESSEL_0_COSINE, BESSEL_0_SINE, BESSEL_1_COSINE, BESSEL_1_SINE
from exprgrad.graph.beta import scaled_gamma
from exprgrad.graph.functions import DENSITY, FAR, NORMAL, WHOLE
from exprgrad.graph.op import ATAN_SLOPE, Family, Op, Special, bell, horner

__all__ = ["ROWS"]

# Reciprocals of trigonometric and hyperbolic functions, and their inverses.

INVERSE_SECANT = "a = abs(x); r = where(a < 1e150, sqrt((a - 1)*(a + 1)), a)"
"""The tangent of the angle whose secant is abs(x); it keeps its digits beside 1, where 1/x loses them."""

# fmt: off
RECIPROCALS: tuple[Op, ...] = (
    Op(
        "sec", "x", ("out*tan(x)",), "the secant of x radians", value="1/cos(x)", definition="1/cos(x)",
        domain="abs(x) < inf", latex=r"\sec x", magnifies="period", not_zero="always",
    ),
    Op(
        "csc", "x", ("-out/tan(x)",), "the cosecant of x radians", shown=("-out*cot(x)",),
        value="1/sin(x)", definition="1/sin(x)", domain="(x != 0)*(abs(x) < inf)", domain_words="x is finite and not 0", poles=(("x == 0", "1/x"),),
        latex=r"\csc x", magnifies="period", not_zero="always", spellings="cosec",
    ),
    Op(
        "cot", "x", ("-1 - out^2",), "the cotangent of x radians", value="1/tan(x)", definition="cos(x)/sin(x)",
        domain="(x != 0)*(abs(x) < inf)", domain_words="x is finite and not 0", poles=(("x == 0", "1/x"),), latex=r"\cot x", magnifies="period",
        spellings="ctg cotan cotg",
    ),
    Op(
        "sech", "x", ("-out*tanh(x)",), "the hyperbolic secant", value="e = exp(-abs(x)); 2*e/(1 + e*e)",
        second_abs=3e-16, definition="2/(exp(x) + exp(-x))", latex=r"\operatorname{sech} x", not_negative=True,
    ),
    Op(
        "csch", "x", ("-out/tanh(x)",), "the hyperbolic cosecant", shown=("-out*coth(x)",),
        value="where(x == 0, 1/x, -2*sign(x)*exp(-abs(x))/expm1(-2*abs(x)))",
        definition="2/(exp(x) - exp(-x))", domain="x != 0", poles=(("x == 0", "1/x"),),
        value_ulp=2.3, latex=r"\operatorname{csch} x", spellings="cosech",
    ),
    Op(
        "coth", "x", ("m = expm1(-2*abs(x)); -4*exp(-2*abs(x))/m/m",), "the hyperbolic cotangent", shown=("1 - out^2",),
        seconds=("2*out/sinh(x)/sinh(x)",),
        value="where(x == 0, 1/x, sign(x)*(1 + 2/expm1(2*abs(x))))",
        definition="(exp(2*x) + 1)/(exp(2*x) - 1)", domain="x != 0", poles=(("x == 0", "1/x"),),
        latex=r"\coth x", not_zero="always",
    ),
    Op(
        "asec", "x", (f"{INVERSE_SECANT}; where(a >= 1, 1/a/r, nan)",),
        "the angle in [0, pi] whose secant is x", shown=("1/(abs(x)*sqrt(x^2 - 1))",),
        value=f"{INVERSE_SECANT}; where(x > 0, atan(r), pi - atan(r))", definition="acos(1/x)",
        domain="abs(x) >= 1", latex=r"\operatorname{arcsec} x", spellings="arcsec",
    ),
    Op(
        "acsc", "x", (f"{INVERSE_SECANT}; where(a >= 1, -1/a/r, nan)",),
        "the angle in [-pi/2, pi/2] whose cosecant is x", shown=("-1/(abs(x)*sqrt(x^2 - 1))",),
        value=f"{INVERSE_SECANT}; where(a < 1.5, sign(x)*atan(1/r), asin(1/x))", definition="asin(1/x)",
        domain="abs(x) >= 1", latex=r"\operatorname{arccsc} x", spellings="arccsc arccosec acosec",
    ),
    Op(
        "acot", "x", ("-(1/hypot(1, x))^2",), "the angle in (-pi/2, pi/2] whose cotangent is x",
        shown=("-1/(1 + x^2)",), value="where(x == 0, pi/2, atan(1/x))", definition="where(x == 0, pi/2, atan(1/x))",
        joint=("where(x == 0, pi/2, atan(1/x))", f"{ATAN_SLOPE}; where(wide, -r*r, -r)"),
        special=(
            Special("x == 0", "jump", "its operand is 0", side="where(dx < 0, -pi/2, pi/2)", undecided="dx == 0"),
        ),
        latex=r"\operatorname{arccot} x", spellings="arccot arcctg actg",
    ),
    Op(
        "asech", "x", ("where(x >= 0, -1/x/(sqrt(1 - x)*sqrt(1 + x)), nan)",), "the inverse of sech, not negative",
        shown=("-1/(x*sqrt(1 - x^2))",),
        seconds=("q = (1 - x)*(1 + x); 2*(0.7071067811865476 - x - 4.833646656726457e-17)*(0.7071067811865476 + x)/q/sqrt(q)/x/x",),
        value="q = 1 - x; where(x < 1e-300, log(2) - log(x), log1p((q + sqrt(q*(1 + x)))/x))",
        definition="acosh(1/x)", domain="(x > 0)*(x <= 1)", poles=(("x == 0", "inf"),),
        value_ulp=3.5, latex=r"\operatorname{arsech} x", spellings="arsech arcsech",
    ),
    Op(
        "acsch", "x", ("-1/abs(x)/hypot(1, x)",), "the inverse of csch", shown=("-1/(abs(x)*sqrt(1 + x^2))",),
        value="where((abs(x) < 1e-300)*(x != 0), sign(x)*(log(2) - log(abs(x))), asinh(1/x))", definition="asinh(1/x)",
        domain="x != 0", poles=(("x == 0", "1/x"),), latex=r"\operatorname{arcsch} x", spellings="arcsch arccsch",
    ),
    Op(
        "acoth", "x", ("where(abs(x) >= 1, 1/(1 - x)/(1 + x), nan)",), "the inverse of coth", shown=("1/(1 - x^2)",),
        value="sign(x)*log1p(2/(abs(x) - 1))/2", definition="log((x + 1)/(x - 1))/2",
        domain="abs(x) > 1", poles=(("abs(x) == 1", "x*inf"),), latex=r"\operatorname{arcoth} x",
        spellings="arcoth arccoth",
    ),
    Op(
        "deg", "x", ("180/pi",), "the degrees of x radians", value="180/pi*x",
        definition="180*x/pi", latex=r"\operatorname{deg}(x)", inverse="rad", elsewhere="degrees rad2deg", monotone=1,
    ),
    Op(
        "rad", "x", ("pi/180",), "the radians of x degrees", value="pi/180*x",
        definition="pi*x/180", latex=r"\operatorname{rad}(x)", inverse="deg", elsewhere="radians deg2rad", monotone=1,
    ),
)

# Networks and statistics.

RECTIFIERS: tuple[Op, ...] = (
    Op(
        "softsign", "x", ("(1/(1 + abs(x)))^2",), "x/(1 + abs(x)), between -1 and 1", shown=("1/(1 + abs(x))^2",),
        value="where(abs(x) == inf, sign(x), x/(1 + abs(x)))", definition="x/(1 + abs(x))",
        latex=r"\operatorname{softsign}(x)", gate="scaler", bend=0.0, monotone=1,
    ),
    Op(
        "hardtanh", "x", ("where(x > -1, where(x < 1, 1, 0), 0)",), "x, but not below -1 nor above 1",
        value="min(max(x, -1), 1)", definition="min(max(x, -1), 1)", latex=r"\operatorname{hardtanh}(x)",
        gate="window",
        special=(
            Special("abs(x) == 1", "kink", "its operand is -1 or 1", slope="where(x < 0, max(dx, 0), min(dx, 0))"),
        ),
        value_ulp=0.0, partial_ulp=0.0, elsewhere="hard_tanh", monotone=1,
    ),
    Op(
        "relu6", "x", ("where(x > 0, where(x < 6, 1, 0), 0)",), "the rectifier that ends at 6: min(max(x, 0), 6)",
        value="min(max(x, 0), 6)", definition="min(max(x, 0), 6)", latex=r"\operatorname{relu6}(x)",
        gate="window",
        special=(
            Special(
                "(x == 0) + (x == 6)", "kink", "its operand is 0 or 6",
                slope="where(x == 0, max(dx, 0), min(dx, 0))",
            ),
        ),
        value_ulp=0.0, partial_ulp=0.0, not_negative=True, monotone=1,
    ),
    Op(
        "logit", "x", ("where((x >= 0)*(x <= 1), 1/(x*(1 - x)), nan)",), "log(x/(1 - x)), the inverse of sigmoid",
        seconds=("t = x*(1 - x); where((x >= 0)*(x <= 1), (2*x - 1)/t/t, nan)",), shown=("1/(x*(1 - x))",),
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

NEAR_GAMMA = horner(GAMMA_NEAR, "t")
STIRLING = f"z = min(a, 300); w = 1/z; p = z^(z/2 - 0.25); f = {scaled_gamma('w')}*exp(-z)"
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
    f"near = t*{horner(LGAMMA_NEAR, 't')}; next = t*{horner(LGAMMA_NEXT, 't')}; z = max(a, 100); q = 1/(z*z); "
    "far = where(a == inf, inf, (z - 0.5)*(log(z) - 1) + 0.41893853320467274 + "
    "(0.08333333333333333 - q*(0.002777777777777778 - q*(0.0007936507936507937 - q*0.0005952380952380953)))/z); "
    "where(x > 0, where(a < 0.7, near - log(a), where(first, near, where(a < 3.5, next, "
    "where(a < 160, log(gamma(min(a, 160))), far)))), where(x == 0, inf, nan))"
)
"""log(gamma(x)): near 1 and 2, its zeros, by polynomials; then of gamma, whose error hardly counts."""

DIGAMMA_UP = (
    f"z = max(a, 2); w = 1/z; far = log(z) - w*(0.5 + w*{horner(DIGAMMA_FAR, 'w')}); "
    "t = where(a < 1, a, a - 1); "
    f"near = (t - 0.46163214496836236 + 1.5522348162858677e-17)*{horner(DIGAMMA_NEAR, 't')}; "
    "up = where(a < 1, near - 1/a, where(a < 2, near, far))"
)
"""digamma(a): its zero, 1.4616…, is a factor of the polynomial near it."""
DIGAMMA = f"a = abs(x); {DIGAMMA_UP}; where(x == 0, -inf, where(x > 0, up, nan))"
BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)


def polygamma(n: int) -> Op:
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
        f"far = z^-{n}*({most}/{n} + ({most}/(2*z) + {horner([*terms[::-1], 0.0], 'q')})); "
        f"where(x >= 0, {sign}*(where(near, {most}*({below}), 0) + far), nan)",
        domain="x > 0", poles=(("x == 0", f"{'-' * (sign < 0)}inf"),),
        latex=rf"\psi^{{({n})}}(x)", value_ulp=4.0 + n, partial_ulp=5.0 + n,
    )  # fmt: skip


# fmt: off
GAMMAS: tuple[Op, ...] = (
    Op(
        "gamma", "x", ("out*digamma(x)",), "the gamma function: (x - 1)! where x is a positive whole number",
        value=GAMMA, domain="x > 0", poles=(("x == 0", "inf"),), latex=r"\Gamma(x)", magnifies="growth", value_ulp=6.0, partial_ulp=9.0,
        elsewhere="tgamma",
    ),
    Op(
        "lgamma", "x", ("digamma(x)",), "the logarithm of gamma(x)",
        value=LGAMMA, domain="x > 0", poles=(("x == 0", "inf"),), latex=r"\operatorname{lgamma}(x)",
        value_ulp=3.0, elsewhere="gammaln loggamma lngamma log_gamma",
    ),
    Op(
        "digamma", "x", ("polygamma(1, x)",), "the derivative of lgamma",
        value=DIGAMMA, domain="x > 0", poles=(("x == 0", "-inf"),), latex=r"\operatorname{digamma}(x)", value_ulp=4.0, second_abs=1e-14, elsewhere="psi", monotone=1,
    ),
    Op(
        "factorial", "x", ("out*digamma(1 + x)",), "the factorial: gamma(1 + x)",
        value=FACTORIAL, domain="x > -1", poles=(("x == -1", "inf"),), latex=r"\operatorname{factorial}(x)", magnifies="growth", value_ulp=6.0,
        partial_ulp=9.0, partial_abs=5e-15, elsewhere="fact fac",
    ),
)

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
    f"far = {1 / math.sqrt(math.pi)!r}/z*(1 - q*{horner(LONG_TAIL, 'q')}); up = where(z < 28, whole/(m + 2), far); "
    "h = round(16*m)/16; where(x >= 0, up, 2*exp(h*h)*exp((m - h)*(m + h)) - up)"
)
"""From 28 on an asymptotic series: W. J. Cody, Rational Chebyshev approximations for the error function,
Math. Comp. 23 (1969), 631-637.  On the left it is 2*exp(x^2) less what it is on the right.
"""
LONG_SLOPE = tuple([(2 * k + 1) * term for k, term in zip(range(7, 0, -1), LONG_TAIL, strict=True)])
ERFCX_SLOPE = (
    f"z = max(x, 0); m = min(z, 28); u = (m - 2)/(m + 2); near = {horner(ERFCX_SLOPE_NEAR, 'u')}/(m + 2)/(m + 2); "
    f"q = 1/z/z; far = {1 / math.sqrt(math.pi)!r}*q*(1 - q*{horner(LONG_SLOPE, 'q')}); "
    f"where(x >= 0, -where(z < 28, near, far), 2*x*out - {2 / math.sqrt(math.pi)!r})"
)
NORMPDF = f"{FAR}; {bell(40, '/2', 'where(far, 40, 0) ')}; density = {DENSITY!r}*bell"
"""The density, but for the factor ``last``: scaled up where it is small, so that no factor is subnormal."""
NORMCDF = f"{NORMAL}; less = share*bell*last; where(x < 0, less, 1 - less)"
QUANTILE = (
    f"s = sqrt(w); first = {horner(INVERSE_FIRST, '(w - 3)')}; second = {horner(INVERSE_SECOND, '(s - 3.4)')}; "
    f"third = {horner(INVERSE_THIRD, '(s - 7)')}; last = {horner(INVERSE_LAST, '(s - 18.7)')}; "
    "ratio = where(w < 6, first, where(s < 4.25, second, where(s < 10, third, last)))"
)
"""erfinv(x)/x, of w = -log(1 - x^2): M. B. Giles, Approximating the erfinv function, GPU Computing Gems 2 (2011)."""
ERFINV_SLOPE = f"p = {math.sqrt(math.pi) / 2!r}*erfcx(abs(out))/(1 - abs(x))"
"""sqrt(pi)/2*exp(out^2), whose exponent would lose digits where it is large."""
NORMINV_SLOPE = f"p = {math.sqrt(math.pi / 2)!r}*erfcx(abs(out)*{math.sqrt(0.5)!r})/min(x, 1 - x)"

NORMALS: tuple[Op, ...] = (
    Op(
        "normpdf", "x", (f"{NORMPDF}; where(abs(x) > 39, 0, -x*density*last)",), "the density of the standard normal distribution",
        seconds=(f"{NORMPDF}; where(abs(x) > 39, 0, (z - 1)*(z + 1)*density*last)",), shown=("-x*out",), value=f"{NORMPDF}; density*last",
        latex=r"\operatorname{normpdf}(x)", not_negative=True, value_ulp=3.0,
    ),
    Op(
        "normcdf", "x", ("normpdf(x)",), "the standard normal distribution: how likely it is to be below x",
        value=NORMCDF, latex=r"\operatorname{normcdf}(x)", not_negative=True, inverse="norminv", value_ulp=5.0,
        elsewhere="norm_cdf ndtr normsdist pnorm", monotone=1,
    ),
    Op(
        "norminv", "x", (f"{NORMINV_SLOPE}; where((x == 0) + (x == 1), inf, p)",),
        "the standard normal distribution's quantile: what it is below with likelihood x",
        seconds=(f"{NORMINV_SLOPE}; where((x == 0) + (x == 1), out, out*p*p)",), shown=("1/normpdf(out)",),
        value=f"w = -log(4*x*(1 - x)); {QUANTILE}; where(x == 0, -inf, where(x == 1, inf, {math.sqrt(2)!r}*(2*x - 1)*ratio))",
        domain="(x > 0)*(x < 1)", poles=(("x == 0", "-inf"), ("x == 1", "inf")),
        latex=r"\operatorname{norminv}(x)", inverse="normcdf", value_ulp=5.0, partial_ulp=8.0, elsewhere="ndtri norm_ppf probit normsinv qnorm", monotone=1,
    ),
    Op(
        "erfinv", "x", (f"{ERFINV_SLOPE}; where(abs(x) == 1, inf, p)",), "the inverse of erf",
        seconds=(f"{ERFINV_SLOPE}; where(abs(x) == 1, out, 2*out*p*p)",), shown=("sqrt(pi)/2*exp(out^2)",),
        value=f"w = -log((1 - x)*(1 + x)); {QUANTILE}; where(abs(x) == 1, x*inf, x*ratio)",
        domain="abs(x) < 1", poles=(("abs(x) == 1", "x*inf"),), latex=r"\operatorname{erfinv}(x)", inverse="erf",
        value_ulp=3.0, partial_ulp=8.0, monotone=1,
    ),
    Op(
        "erfcx", "x", (ERFCX_SLOPE,), "the scaled error function exp(x^2)*erfc(x)", shown=("2*x*out - 2/sqrt(pi)",),
        value=ERFCX, latex=r"\operatorname{erfcx}(x)", not_negative=True, value_ulp=5.0, second_abs=1e-15, monotone=-1,
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

BRANCH = (
    "p = sqrt(2*exp(1)*max((x + 0.36787944117144233) - 1.2428753672788363e-17, 0)); "
    f"above = p*{horner(LAMBERTW_NEAR, 'p')}"
)
"""1 + lambertw(x) beside the branch point -1/e, which is 1.24e-17 greater than the double nearest to it."""
HALLEY = "; ".join(
    f"t{k} = x*exp(-w{k}); w{k + 1} = w{k} - (w{k} - t{k})/(1 + t{k} + (w{k} - t{k})*t{k}/(2*(1 + t{k})))" for k in range(3)
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


def bessel_first(order: int, zeros: Sequence[tuple[float, float]]) -> str:
    """A Bessel function: near 0 its first zeros, each in two pieces, are factors; far out P. Hankel's form."""
    odd = order % 2
    near, above, below = (
        (BESSEL_1_NEAR, BESSEL_1_COSINE, BESSEL_1_SINE) if odd else (BESSEL_0_NEAR, BESSEL_0_COSINE, BESSEL_0_SINE)
    )
    factors = "*".join(f"((z - {high!r} + {-low!r})*(z + {high!r}))" for high, low in zeros)
    wave = "p*(s - c) + q*(s + c)" if odd else "p*(c + s) - q*(s - c)"
    sign = "sign(x)*" if odd else ""
    near_0 = "near" if odd else "where(z < 1e-8, 1, near)"
    return (
        f"z = abs(x); t = z*z/16 - 1; near = {'z*' if odd else ''}{factors}*{horner(near, 't')}; "
        f"far = z > 5.65685424949238; v = where(far, z, 6); u = 32/v/v; c = cos(v); s = sin(v); p = {horner(above, 'u')}; q = {horner(below, 'u')}/v; "
        f"where(z == inf, 0, {sign}where(far, ({wave})/sqrt(pi*v), {near_0}))"
    )


FIRST_ZEROS = {
    0: ((2.404825557695773, -1.1766916515308941e-16), (5.520078110286311, 8.088597146146722e-17)),
    1: ((3.8317059702075125, -1.526918409008807e-16),),
}
"""Their first zeros, each as a double and what it lacks."""
J1_SERIES = tuple(
    [
        (-1) ** k * (2 * k + 1) * 2 * k / (2 ** (2 * k + 1) * math.factorial(k) * math.factorial(k + 1))
        for k in range(9, 0, -1)
    ]
)
J1_SLOPE = "where(abs(x) < 1e-8, 0.5, where(abs(x) == inf, 0, j0(x) - out/x))"

OTHERS: tuple[Op, ...] = (
    Op(
        "lambertw", "x", (f"{LAMBERTW_SLOPE}; d",),
        "Lambert's W, its principal branch: the w from -1 up for which w*exp(w) is x", shown=("exp(-out)/(1 + out)",),
        value=LAMBERTW, seconds=(f"{LAMBERTW_SLOPE}; -d*d*(2 + out)/below",),
        domain="x > -0.36787944117144233", domain_words="x is greater than -1/e",
        latex=r"\operatorname{lambertw}(x)", value_ulp=4.0, elsewhere="productlog lambertw0",
    ),
    Op(
        "j0", "x", ("-j1(x)",), "the Bessel function of the first kind of order 0", value=bessel_first(0, FIRST_ZEROS[0]),
        latex=r"\operatorname{j0}(x)", value_ulp=6.0, value_abs=2e-16, partial_ulp=8.0, partial_abs=2e-16, second_abs=1e-15, elsewhere="besselj0 bessel_j0",
    ),
    Op(
        "j1", "x", (J1_SLOPE,), "the Bessel function of the first kind of order 1", shown=("j0(x) - out/x",), value=bessel_first(1, FIRST_ZEROS[1]),
        seconds=(f"s = x*x; where(abs(x) < 1, x*{horner(J1_SERIES, 's')}, out*(1/x/x - 1) - ({J1_SLOPE})/x)",),
        latex=r"\operatorname{j1}(x)", value_ulp=8.0, value_abs=2e-16, partial_ulp=10.0, partial_abs=4e-16, second_abs=2e-15, elsewhere="besselj1 bessel_j1",
    ),
)
# fmt: on

WITH_SETTINGS: tuple[Family, ...] = (
    Family(
        "polygamma", "the derivatives of digamma", 1, polygamma, "digamma", greatest=100, beyond=150
    ),
    *bessel.ROWS,
)
"""Families of rows with a whole-number setting."""
ROWS: tuple[Op | Family, ...] = (
    *RECIPROCALS, *RECTIFIERS, *GAMMAS, *beta.ROWS, *NORMALS, *OTHERS, *WITH_SETTINGS,
)  # fmt: skip
