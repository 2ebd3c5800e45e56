"""Rows of the op table: special functions, and others that few formulas have.

What a row holds is told in ``op.py``, and what its texts may say in ``ops.py``.
"""

from __future__ import annotations

import math

from exprgrad.graph.op import Family, Op, Special, horner

__all__ = ["FAMILIES", "ROWS"]

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
        latex=r"\operatorname{csch} x", spellings="cosech",
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
        latex=r"\operatorname{arsech} x", spellings="arsech arcsech",
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
        definition="180*x/pi", latex=r"\operatorname{deg}(x)", inverse="rad", elsewhere="degrees rad2deg",
    ),
    Op(
        "rad", "x", ("pi/180",), "the radians of x degrees", value="pi/180*x",
        definition="pi*x/180", latex=r"\operatorname{rad}(x)", inverse="deg", elsewhere="radians deg2rad",
    ),
)

# Networks and statistics.

RECTIFIERS: tuple[Op, ...] = (
    Op(
        "softsign", "x", ("(1/(1 + abs(x)))^2",), "x/(1 + abs(x)), between -1 and 1", shown=("1/(1 + abs(x))^2",),
        value="where(abs(x) == inf, sign(x), x/(1 + abs(x)))", definition="x/(1 + abs(x))",
        latex=r"\operatorname{softsign}(x)", gate="scaler", bend=0.0,
    ),
    Op(
        "hardtanh", "x", ("where(x > -1, where(x < 1, 1, 0), 0)",), "x, but not below -1 nor above 1",
        value="min(max(x, -1), 1)", definition="min(max(x, -1), 1)", latex=r"\operatorname{hardtanh}(x)",
        gate="window",
        special=(
            Special("abs(x) == 1", "kink", "its operand is -1 or 1", slope="where(x < 0, max(dx, 0), min(dx, 0))"),
        ),
        value_ulp=0.0, partial_ulp=0.0, elsewhere="hard_tanh",
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
        value_ulp=0.0, partial_ulp=0.0, not_negative=True,
    ),
    Op(
        "logit", "x", ("where((x >= 0)*(x <= 1), 1/(x*(1 - x)), nan)",), "log(x/(1 - x)), the inverse of sigmoid",
        seconds=("t = x*(1 - x); where((x >= 0)*(x <= 1), (2*x - 1)/t/t, nan)",), shown=("1/(x*(1 - x))",),
        value="where(abs(x - 0.5) > 0.2, log(x) - log1p(-x), where(x < 0.5, -log1p((1 - 2*x)/x), log1p((2*x - 1)/(1 - x))))",
        definition="log(x/(1 - x))", domain="(x > 0)*(x < 1)", poles=(("x == 0", "-inf"), ("x == 1", "inf")),
        latex=r"\operatorname{logit}(x)", inverse="sigmoid",
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

GAMMA_FAR = (
    -0.008992618444225591, 0.04184723288258449, -0.08674841307392517, 0.10281988767030592, -0.07190143747763929,
    0.023258698006122413, 0.005773293114918177, -0.008423016346084916, 0.0012656028698115297, 0.0018874392863300216,
    -9.882411322706569e-05, -0.001487493772474963, 0.00017501234091204344, 0.0019652832868850443,
    -0.0005752008531241252, -0.006721090481777799, 0.008703570398106302, 0.20888568955258302, 2.5066282746310007,
)  # fmt: skip
"""gamma(z)*exp(z)*z^(1/2 - z), of w = 1/z, for z from 2 on."""

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
STIRLING = f"z = min(a, 300); w = 1/z; p = z^(z/2 - 0.25); f = {horner(GAMMA_FAR, 'w')}*exp(-z)"
"""gamma(a) is p*f*p from 2 on: both powers and the exponential have exact operands.  At 300 it overflows."""
REFLECTED = "k = round(a); r = a - k; s = where(k/2 == floor(k/2), 1, -1)*sin(pi*r)"
"""sin(pi*a), whose operand is reduced before it is multiplied by pi."""
GAMMA = (
    f"a = abs(x); {STIRLING}; t = where(a < 1, a, a - 1); near = {NEAR_GAMMA}; {REFLECTED}; whole = round(p*f*p); "
    "where((x == floor(x))*(x > 1)*(whole < 2^53), whole, where(x == 0, 1/x, where(x > 0, where(a < 1, near/a, where(a < 2, near, p*f*p)), "
    "where(r == 0, nan, where(a < 1, -pi/(s*near), where(a < 2, -pi/(a*s)/near, -pi/(a*s)/(p*f)/p))))))"
)
FACTORIAL = (
    f"t = x; near = {NEAR_GAMMA}; where(x < 0, gamma(1 + x), where(x < 1, near, x*gamma(x)))"
)
LGAMMA = (
    "a = abs(x); first = a < 1.5; t = where(a < 0.7, a, a - where(first, 1, 2)); "
    f"near = t*{horner(LGAMMA_NEAR, 't')}; next = t*{horner(LGAMMA_NEXT, 't')}; z = max(a, 100); q = 1/(z*z); "
    "far = where(a == inf, inf, (z - 0.5)*(log(z) - 1) + 0.41893853320467274 + "
    "(0.08333333333333333 - q*(0.002777777777777778 - q*(0.0007936507936507937 - q*0.0005952380952380953)))/z); "
    f"{REFLECTED}; "
    "where(x > 0, where(a < 0.7, near - log(a), where(first, near, where(a < 3.5, next, "
    "where(a < 160, log(gamma(min(a, 160))), far)))), "
    "where(x == 0, inf, where(r == 0, inf, where(a < 160, log(abs(gamma(max(x, -160)))), log(pi/a/abs(s)) - far))))"
)
"""log(gamma(x)): near 1 and 2, its zeros, by polynomials; then of gamma, whose error hardly counts."""

DIGAMMA_UP = (
    f"z = max(a, 2); w = 1/z; far = log(z) - w*(0.5 + w*{horner(DIGAMMA_FAR, 'w')}); "
    "t = where(a < 1, a, a - 1); "
    f"near = (t - 0.46163214496836236 + 1.5522348162858677e-17)*{horner(DIGAMMA_NEAR, 't')}; "
    "up = where(a < 1, near - 1/a, where(a < 2, near, far))"
)
"""digamma(a): its zero, 1.4616…, is a factor of the polynomial near it."""
COTANGENT = (
    "r = x - round(x); c = where(abs(r) > 0.25, sign(r)*tan(pi*(0.5 - abs(r))), 1/tan(pi*r))"
)
"""cot(pi*x), whose operand is reduced before it is multiplied by pi."""
DIGAMMA = (
    f"a = abs(x); {DIGAMMA_UP}; {COTANGENT}; where(x == 0, -1/x, where(x > 0, up, "
    "where(r == 0, nan, where(a < 1, near, up + 1/a) - pi*c)))"
)


def cotangent_derivative(n: int) -> str:
    """The derivative of cot(y) of order n, a polynomial of c = cot(y): c' is -1 - c^2."""
    terms = [0, 1]
    for _ in range(n):
        slope = [power * factor for power, factor in enumerate(terms)][1:]
        terms = [-a - b for a, b in zip([*slope, 0, 0], [0, 0, *slope], strict=True)]
    return horner(terms[::-1], "c")


BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)


def polygamma(n: int) -> Op:
    """M. Abramowitz and I. Stegun, Handbook of Mathematical Functions (1964), 6.4.6, 6.4.7 and 6.4.11.

    A large operand's is the asymptotic series, a smaller one's follows by the recurrence, and a negative one's
    by reflection.
    """
    sign, start, most = (-1) ** (n + 1), 16 + n, math.factorial(n)
    below = " + ".join(f"(a + {k})^-{n + 1}" for k in reversed(range(start)))
    terms = [
        b * math.factorial(2 * k + n + 1) / math.factorial(2 * k + 2)
        for k, b in enumerate(BERNOULLI)
    ]
    mirrored = f"{-sign}*up + {most}*a^-{n + 1} - {math.pi ** (n + 1)!r}*{cotangent_derivative(n)}"
    return Op(
        "", "x", (f"polygamma({n + 1}, x)",), f"the derivative of digamma, of order {n}",
        value=f"a = abs(x); near = a < {start}; z = where(near, a + {start}, a); q = 1/(z*z); "
        f"far = z^-{n}*({most}/{n} + ({most}/(2*z) + {horner([*terms[::-1], 0.0], 'q')})); "
        f"up = {sign}*(where(near, {most}*({below}), 0) + far); {COTANGENT}; "
        f"where(x >= 0, up, where(r == 0, nan, {mirrored}))",
        domain="(x > 0) + (x != floor(x))", poles=(("x == 0", "inf" if n % 2 else "-inf*sign(1/x)"),),
        latex=rf"\psi^{{({n})}}(x)", value_ulp=4.0 + n, partial_ulp=5.0 + n, value_abs=0.0 if n % 2 else 1e-13,
    )  # fmt: skip


# fmt: off
GAMMAS: tuple[Op, ...] = (
    Op(
        "gamma", "x", ("out*digamma(x)",), "the gamma function: (x - 1)! where x is a positive whole number",
        value=GAMMA, domain="(x > 0) + (x != floor(x))", domain_words="x is no negative whole number, nor 0",
        poles=(("x == 0", "1/x"),), latex=r"\Gamma(x)", magnifies="growth", value_ulp=6.0, partial_ulp=9.0,
        partial_abs=5e-15, elsewhere="tgamma",
    ),
    Op(
        "lgamma", "x", ("digamma(x)",), "the logarithm of the absolute value of gamma(x)",
        value=LGAMMA, domain="(x > 0) + (x != floor(x))", domain_words="x is no negative whole number, nor 0",
        poles=(("(x <= 0)*(x == floor(x))*(x > -inf)", "inf"),), latex=r"\operatorname{lgamma}(x)",
        value_abs=2e-15, partial_abs=4e-15, elsewhere="gammaln loggamma lngamma log_gamma",
    ),
    Op(
        "digamma", "x", ("polygamma(1, x)",), "the derivative of lgamma",
        value=DIGAMMA, domain="(x > 0) + (x != floor(x))", domain_words="x is no negative whole number, nor 0",
        poles=(("x == 0", "-1/x"),), latex=r"\operatorname{digamma}(x)", value_abs=4e-15, second_abs=1e-14, elsewhere="psi",
    ),
    Op(
        "factorial", "x", ("out*digamma(1 + x)",), "the factorial: gamma(1 + x)",
        value=FACTORIAL, domain="(x > -1) + (x != floor(x))", domain_words="x is no negative whole number",
        poles=(("x == -1", "inf"),), latex=r"\operatorname{factorial}(x)", magnifies="growth", value_ulp=6.0,
        partial_ulp=9.0, partial_abs=5e-15, elsewhere="fact fac",
    ),
)
# fmt: on

FAMILIES: tuple[Family, ...] = (Family("polygamma", "the derivatives of digamma", 1, polygamma),)
"""Families of rows with a whole-number setting."""
ROWS: tuple[Op, ...] = (*RECIPROCALS, *RECTIFIERS, *GAMMAS)
