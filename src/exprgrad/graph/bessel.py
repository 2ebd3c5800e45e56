"""Families of rows of the op table: Bessel functions of whole order."""

from __future__ import annotations

import math

from exprgrad.graph.op import Family, Op, horner

__all__ = [
    "BESSEL_0_COSINE", "BESSEL_0_SINE", "BESSEL_1_COSINE", "BESSEL_1_SINE", "ROWS",
]  # fmt: skip

# The polynomials were fitted for exprgrad at Chebyshev's points in 70 digits, to relative errors of 1e-18.

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


def power_series(n: int, sign: int, count: int) -> str:
    """The series of (z/2)^-n*n! times a Bessel function, in q = (z/2)^2."""
    start = math.factorial(n)
    terms = [
        sign**k * start / (math.factorial(k) * math.factorial(n + k)) for k in range(count, -1, -1)
    ]
    return f"(z/2)^{n}*({1 / start!r}*{horner(terms, 'q')})"


def downward(top: int, sign: str) -> str:
    """J. C. P. Miller's algorithm: the recurrence downwards, where it is stable, from far above the order."""
    lines = [f"i = 1/z; f{top} = 0; f{top - 1} = 1e-200"]
    for k in range(top - 1, 0, -1):
        lines.append(f"f{k - 1} = {2 * k}*i*f{k} {sign} f{k + 1}")
    return "; ".join(lines)


def upward(n: int, first: str, second: str, rule: str) -> str:
    """The function of order n from those of order 0 and 1: ``rule`` is the recurrence upwards."""
    lines = [f"g0 = {first}; g1 = {second}"]
    for k in range(1, n):
        lines.append(f"g{k + 1} = " + rule.format(f"{2 * k}/z*g{k}", f"g{k - 1}"))
    return "; ".join(lines)


def slope(word: str, n: int, text: str) -> str:
    """A member's derivative, by those beside it."""
    beside = f"{word}({n - 1}, x)", f"{word}({n + 1}, x)"
    return text.format(*beside)


# fmt: off
def first_kind(n: int) -> Op:
    """F. W. J. Olver, Bessel functions of integer order, in Abramowitz and Stegun (1964), 9.1.10, 9.1.27 and 9.12.

    Up to the order, J0 + 2*J2 + 2*J4 … is 1.
    """
    top = n + 18 + math.ceil(7 * n ** (1 / 3))
    evens = " + ".join(f"f{k}" for k in range(top - top % 2, 0, -2))
    value = (
        f"z = abs(x); q = z*z/4; small = {power_series(n, -1, 14)}; {upward(n, 'j0(z)', 'j1(z)', '{} - {}')}; "
        f"{downward(top, '-')}; below = f{n}/(f0 + 2*({evens})); "
        f"{'sign(x)*' if n % 2 else ''}where(z < {math.sqrt(2 * (n + 1))!r}, small, where(z < {n}, below, g{n}))"
    )
    return Op(
        "", "x", (slope("besselj", n, "({} - {})/2") if n else "-besselj(1, x)",),
        f"the Bessel function of the first kind of order {n}", value=value if n > 1 else f"j{n}(x)", latex=rf"\operatorname{{J}}_{{{n}}}(x)",
        value_ulp=6.0 + n, value_abs=6e-16, partial_ulp=8.0 + n, partial_abs=6e-16,
    )


SECOND = (
    "z = abs(x); m = min(z, 6); t = m*m/16 - 1; far = z > 5.65685424949238; v = where(far, where(z < inf, z, 6), 6); r = 32/v/v; c = cos(v); s = sin(v); "
    f"near_0 = {2 / math.pi!r}*log(m)*j0(m) + {horner(SECOND_0, 't')}; "
    f"far_0 = ({horner(BESSEL_0_COSINE, 'r')}*(s - c) + {horner(BESSEL_0_SINE, 'r')}/v*(s + c))/sqrt(pi*v); "
    f"near_1 = {2 / math.pi!r}*(log(m)*j1(m) - 1/m) + m*{horner(SECOND_1, 't')}; "
    f"far_1 = ({horner(BESSEL_1_SINE, 'r')}/v*(s - c) - {horner(BESSEL_1_COSINE, 'r')}*(s + c))/sqrt(pi*v)"
)
"""Y0 and Y1: near 0 with the logarithm; far out in P. Hankel's form."""


def second_kind(n: int) -> Op:
    """The recurrence is stable upwards: 9.1.11, 9.1.27 and 9.2.6 there.

    What is infinite is not taken from what is infinite too.
    """
    orders = upward(n, "where(far, far_0, near_0)", "where(far, far_1, near_1)", "{} - max({}, -1e308)")
    shown = slope("bessely", n, "({} - {})/2") if n else "-bessely(1, x)"
    return Op(
        "", "x", (slope("bessely", n, "(max({}, -1e308) - {})/2") if n else shown,),
        f"the Bessel function of the second kind of order {n}", shown=(shown,),
        value=f"{SECOND}; {orders}; where(x > 0, where(x == inf, 0, g{n}), where(x == 0, -inf, nan))",
        domain="x > 0", poles=(("x == 0", "-inf"),), latex=rf"\operatorname{{Y}}_{{{n}}}(x)",
        value_ulp=6.0 + n, value_abs=6e-16, partial_ulp=8.0 + n, partial_abs=6e-16,
    )


def growing(n: int) -> Op:
    """9.6.10, 9.6.26 and 9.7.1 there; between those I0 + 2*I1 + 2*I2 … is exp(z).

    Upwards the recurrence loses what I0 is in times of the order's, which is little from n^2/2 on.
    """
    end = max(16.0, n * n / 2)
    top = 20 + 13 * n // 2
    every = " + ".join(f"f{k}" for k in range(top, 0, -1))
    middle = f"{downward(top, '+')}; between = f{n}/(f0 + 2*({every})); " if end > 16 else "between = 0; "
    scaled = f"{horner(GROWTH_0, 'w')}/sqrt(v)", f"{horner(GROWTH_1, 'w')}/sqrt(v)"
    value = (
        f"z = abs(x); v = max(z, 16); w = 1/v; q = z*z/4; small = {power_series(n, 1, 48)}; {middle}"
        f"{upward(n, *scaled, '{1} - {0}')}; h = exp(z/2); "
        f"{'sign(x)*' if n % 2 else ''}where(z < 16, small, where(z == inf, inf, h*where(z < {end!r}, between, g{n})*h))"
    )
    return Op(
        "", "x", (slope("besseli", n, "({} + {})/2") if n else "besseli(1, x)",),
        f"the modified Bessel function of the first kind of order {n}", value=value, latex=rf"\operatorname{{I}}_{{{n}}}(x)",
        value_ulp=6.0 + n, partial_ulp=8.0 + n,
    )


DECAY = (
    "z = abs(x); m = min(z, 1); q = m*m; l = 0.6931471805599453 - log(m); v = max(z, 1); u = 1 - 4/(v + 2); far = z > 1; "
    f"near_0 = l*besseli(0, m) + {horner(DECAY_NEAR_0, 'q')}; near_1 = 1/m - l*besseli(1, m) + m*{horner(DECAY_NEAR_1, 'q')}; "
    f"far_0 = {horner(DECAY_FAR_0, 'u')}/sqrt(v); far_1 = {horner(DECAY_FAR_1, 'u')}/sqrt(v)"
)
"""K0 and K1: near 0 with the logarithm; from 1 on in times of exp(x)."""


def decaying(n: int) -> Op:
    """The recurrence is stable upwards: 9.6.11, 9.6.26 and 9.7.2 there."""
    orders = upward(n, "where(far, far_0, near_0)", "where(far, far_1, near_1)", "{} + {}")
    return Op(
        "", "x", (slope("besselk", n, "-({} + {})/2") if n else "-besselk(1, x)",),
        f"the modified Bessel function of the second kind of order {n}",
        value=f"{DECAY}; {orders}; h = exp(-z/2); where(x > 0, where(far, h*g{n}*h, g{n}), where(x == 0, inf, nan))",
        domain="x > 0", poles=(("x == 0", "inf"),), latex=rf"\operatorname{{K}}_{{{n}}}(x)", not_negative=True,
        value_ulp=6.0 + n, partial_ulp=8.0 + n,
    )
# fmt: on


ROWS: tuple[Family, ...] = (
    Family("besselj", "the Bessel functions of the first kind", 0, first_kind),
    Family("bessely", "the Bessel functions of the second kind", 0, second_kind),
    Family("besseli", "the modified Bessel functions of the first kind", 0, growing),
    Family("besselk", "the modified Bessel functions of the second kind", 0, decaying),
)
