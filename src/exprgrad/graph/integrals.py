"""Rows of the op table: exponential, sine and Fresnel integrals, and the integral of exp(t^2).

What a row holds is told in ``op.py``, and what its texts may say in ``ops.py``.  The polynomials were fitted for
exprgrad at Chebyshev's points in 45 digits, to relative errors of 1e-17.  Where a function is split, and into what,
is told by M. Abramowitz and I. Stegun, Handbook of Mathematical Functions (1964), chapters 5 and 7.
"""

from __future__ import annotations

import math

from exprgrad.graph.op import Op, horner

__all__ = ["ROWS"]

EI_SMALL = (
    2.592466686682613e-08, 3.0592596728744743e-07, 3.100254487628238e-06, 2.8344687679505606e-05,
    0.00023148148116399327, 0.001666666666389149, 0.01041666666666335, 0.05555555555555708, 0.25, 1.0,
)  # fmt: skip
"""(Ei(v) - log(abs(v)) - Euler's constant)/v, for v from -0.3 to 0.15."""

EI_ZERO = (
    7.844068191323449e-12, 6.917643554278108e-11, 5.903134813968164e-10, 4.994922029331172e-09,
    3.965682329794674e-08, 2.9452531947986845e-07, 2.0390067306159517e-06, 1.308712620474645e-05,
    7.738415737391341e-05, 0.00041840675288637864, 0.002050138123716148, 0.009003759590912791,
    0.03495624566788473, 0.1178563545787026, 0.3369721656208696, 0.7906328319946465, 1.4538894873005483,
    2.0114308664030647,
)  # fmt: skip
"""(Ei(v) - log(v/v0))/(v - v0), of v/2 - 1, for v up to 4, where v0 is the zero of Ei."""

EI_FIRST = (
    -5.953972036721335, 2.1187123328178576, 5.9625377371176835, 4.236816755524098, -0.18539107310722966,
    -4.546546605372892, -5.267228859668023, -0.9162019085120415, 4.5194130134362185, 5.3115548730989115,
    -0.637146200502892, -5.816065597407644, -2.5117086033135334, 5.824736092238737, 1.4931522449568764,
    -4.788838604898224, 1.8247360916052882, 0.5975866986033456, -0.7888386048956161, 1.2788838604895616,
)  # fmt: skip
"""v*exp(-v)*Ei(v), of (v - 6)/(v + 6), for v from 4 to 10."""

EI_SECOND = (
    -7.985155312778317, -0.0809118949824888, 9.692162561726862, 0.47994518465105346, -9.532570450218719,
    0.7048170196705795, 9.463176158470828, -6.0312800297890155, -3.3942549834022815, 7.07184966956204,
    -4.401411805953618, 0.7444706184969185, 0.961636003464511, -1.08502492729457, 0.7320966719357604,
    -0.437649835785374, 0.2733248737901481, -0.18688700681249765, 1.0781031073861607,
)  # fmt: skip
"""The same of (v - 15)/(v + 15), up to 24."""

EI_LAST = (
    3.6804515970805844e-05, -0.00039479236552302774, 0.001944769071043877, -0.005838644704246423,
    0.011961382386119209, -0.01774727278326095, 0.019756480421540323, -0.016866559136156766,
    0.011190307160514551, -0.005810105543871796, 0.002365218921570726, -0.0007527517793189326,
    0.0001860962495101161, -3.4838594783047725e-05, 6.11167999056968e-06, 3.245030584626108e-06,
    1.5108787626629716e-05, 7.233608578156884e-05, 0.00043402783387340736, 0.00347222222133614,
    0.041666666666672215, 1.0,
)  # fmt: skip
"""The same of 24/v, from there on."""

EI_LEFT = (
    -0.007757791616418236, 0.0037230908718279892, 0.008851923120369583, -0.001914999681815176,
    -0.007416422061122812, 0.0024834623561027997, 0.0013904625712514121, 0.0008862558225597684,
    -0.0021274754908959625, 0.0017321270309195254, -0.00169505776730532, 0.0020894119208317618,
    -0.0023516545602235085, 0.0027932205750644612, -0.0031069382885827368, 0.0038977828568293113,
    -0.004315073847311315, 0.005846306924627263, -0.006333731428299033, 0.009783152413484136,
    -0.010023244584942345, 0.01962901675332601, -0.017642357307303916, 0.055410396228124756,
    -0.03652637676806227, 0.38538944929277635, 0.5963473623231941,
)  # fmt: skip
"""The same of (z - 1)/(z + 1), where z is -v, from 0.3 to 3."""

EI_FAR_LEFT = (
    -0.0005995099694133872, 0.004975807478086981, -0.016995844096292755, 0.028499731105692514,
    -0.016792757462767417, -0.019142693665519628, 0.035115415447153374, -0.0018876423078008759,
    -0.036802885608248556, 0.02876233127766895, 0.003898749445908814, -0.011167827103076759,
    -0.005284330501402718, 0.014253189165497398, -0.010094463689470928, 0.006451131116270853,
    -0.007807336004181772, 0.009858106148349435, -0.010691289438304224, 0.011329997947102587,
    -0.012350770390940609, 0.013604693220712229, -0.015009240040909356, 0.01662717714765941,
    -0.018527463119569692, 0.020775782626778, -0.02346017274260025, 0.026701904249150636, -0.030667611016488797,
    0.03559137087964832, -0.0418110231751704, 0.04982949839848432, -0.06042397043302488, 0.07485245263605173,
    -0.09527764453486334, 0.12575353934280004, 0.9279135976670307,
)  # fmt: skip
"""The same of (z - 12)/(z + 12), from 3 on."""

SI_NEAR = (
    -1.2465253208934712e-14, 8.535034668454058e-13, -4.8820436536706355e-11, 2.294707477809517e-09,
    -8.669329640074211e-08, 2.562902980424153e-06, -5.729510043974918e-05, 0.000926043940588566,
    -0.010180919854579487, 0.06995436230262994, -0.26998630593421985, 0.6488924209268717,
)  # fmt: skip
"""Si(z)/z, of z^2/8 - 1, up to 4."""

CI_NEAR = (
    -3.750854655497162e-14, 2.3558809712444187e-12, -1.2261802782427702e-10, 5.19417924305832e-09,
    -1.7478633681168744e-07, 4.535777665967924e-06, -8.738341186863486e-05, 0.0011887255711436752,
    -0.010676245460890443, 0.058041367082519175, -0.18000156259038463,
)  # fmt: skip
"""(Ci(z) - log(z) - Euler's constant)/z^2, of z^2/8 - 1, up to 4."""

CI_ZERO = (
    -2.378299679577127e-12, 7.263256675675226e-12, -9.74679048138647e-12, 3.191158308770913e-11,
    -1.3245431386186088e-10, 4.1833676010213325e-10, -1.291572075593783e-09, 4.1380184576949226e-09,
    -1.3341998597868886e-08, 4.3124778562544795e-08, -1.4039845155097122e-07, 4.6008423457350984e-07,
    -1.4922448014314585e-06, 4.9468349644138425e-06, -1.9799120328179083e-05, 7.07921852266191e-05,
    -1.803326755921287e-05, -7.929918062173105e-05, -0.010071495211275242, 0.044134849235999536,
    0.04843532682987723, -0.3113895945389081,
)  # fmt: skip
"""Ci(z)/(z - z1), of z - 3, from 2 to 4, where z1 is a zero of Ci."""

SICI_COSINE = (
    5.925321570913439e-05, -0.0005324225566666088, 0.002103526714969102, -0.004740820479780557,
    0.0065806426463064895, -0.005669506850829782, 0.003209773205444879, -0.0025130595039932415,
    0.004378776769086028, -0.0064718829108468805, 0.00725618680269249, -0.007568224311661773,
    0.00846716959253233, -0.009922141021814396, 0.01159612059076158, -0.01350392045973508, 0.015828098136684166,
    -0.018706072759979757, 0.022266346103958036, -0.02668770757598565, 0.032203486299311475,
    -0.039093209159559966, 0.04766341419520254, -0.05818063918097452, 0.07068722042144776, -0.08457483311897024,
    0.0978326014882386, -0.10628772866152125, 0.10385871731015901, -0.08492004428459689, 0.048292531268759306,
    0.9870883480756537,
)  # fmt: skip
"""z*f(z), of (z - 12)/(z + 12), from 4 on: pi/2 - Si(z) is f(z)*cos(z) + g(z)*sin(z)."""

SICI_SINE = (
    -5.039846751957434e-05, 0.00045213970983585877, -0.0017819236775317017, 0.0039986557363605344,
    -0.0055010480612582395, 0.004629963334953621, -0.0024318742940657285, 0.0017352387389677993,
    -0.003195170775613708, 0.004788255804627029, -0.005189385451466106, 0.005100663425847114,
    -0.005395713746350302, 0.005996782051765449, -0.006545821599344844, 0.00695671576075766,
    -0.007239328070170327, 0.00729224396722104, -0.006895405096256478, 0.005700126665173,
    -0.0031381995421614155, -0.0017268717105875212, 0.010407003806395858, -0.02526074350994282,
    0.04968527455549721, -0.08739860043820541, 0.13898164358001108, -0.19508115642427748, 0.23151413034811605,
    -0.2165618546154091, 0.13321257555335747, 0.962942082441274,
)  # fmt: skip
"""z^2*g(z), of the same."""

SHI_NEAR = (
    1.7334751485847806e-16, 5.092088141451584e-14, 1.235335507942404e-11, 2.2774638212028345e-09,
    3.061924366228504e-07, 2.8344671201190556e-05, 0.0016666666666669099, 0.05555555555555552, 1.0,
)  # fmt: skip
"""Shi(z)/z, of z^2, up to 2."""

CHI_NEAR = (
    8.298594207598786e-13, 1.7395847927172014e-10, 2.7557329117610798e-08, 3.1001984092334914e-06,
    0.0002314814814820592, 0.010416666666666631, 0.25,
)  # fmt: skip
"""(Chi(z) - log(z) - Euler's constant)/z^2, of z^2, up to 1."""

FRESNELS_NEAR = (
    5.550273614985545e-15, -5.164474329187446e-13, 3.9470376015198595e-11, -2.426478286178582e-09,
    1.1679050206771268e-07, -4.253110363112501e-06, 0.00011200320088216769, -0.002003968640505868,
    0.02225087664875874, -0.13357751509286409, 0.3656500396479522,
)  # fmt: skip
"""fresnels(z)/z^3, of z^4/2 - 1, up to 2^0.5."""

FRESNELC_NEAR = (
    7.712631998960822e-14, -6.5142720613131685e-12, 4.471519428436189e-10, -2.4367980280156512e-08,
    1.0223242397383147e-06, -3.173155828869349e-05, 0.0006903084689888928, -0.009739190665216342,
    0.07904940576968494, -0.3032376366941342, 0.6072506796977235,
)  # fmt: skip
"""fresnelc(z)/z, of the same."""

FRESNEL_COSINE = (
    0.00013649303673149142, -0.001219688611396051, 0.004778111872393901, -0.010613538704503177,
    0.014308011880716608, -0.011435486973043155, 0.005043719000775323, -0.0029033427287549615,
    0.006648737251696282, -0.010620715994193449, 0.011244013140656437, -0.01054869057385635,
    0.010970718033076645, -0.012316706451143484, 0.013680382985493037, -0.014976980175278872,
    0.01647318052730374, -0.018272191332243528, 0.020391322720027118, -0.022886506881300277,
    0.02584737388950536, -0.029377033369912865, 0.03358708691834576, -0.03857979081653795, 0.04439320974008897,
    -0.05085658904430241, 0.057231479056437516, -0.0616022810863272, 0.060537479991830324, -0.05014164064535695,
    0.02885064037257755, 0.9922292229704947,
)  # fmt: skip
"""pi*z*f(z), of (z^2 - 6)/(z^2 + 6), from 2^0.5 on: 1/2 - fresnels(z) is f(z)*cos(pi/2*z^2) + g(z)*sin(pi/2*z^2)."""

FRESNEL_SINE = (
    3.392297239666257e-05, -0.0002945172645841314, 0.0011171957331651018, -0.0023912725616673227,
    0.0030818733991267167, -0.002320461909469244, 0.0009460289390345676, -0.0005875320965694742,
    0.0013614733813277977, -0.002008319710889234, 0.0019256829131248214, -0.0015983923376263441,
    0.0014339553491727651, -0.0013075317339136185, 0.0010073762404606858, -0.0004650958124270096,
    -0.0003779124884131648, 0.0016693887099294496, -0.0036542262739502696, 0.006706166098504887,
    -0.011413569931839998, 0.018719567062187827, -0.03011116574599212, 0.047891986957275826,
    -0.07545165975923122, 0.11596188924334044, -0.1661472364298538, 0.2066633230442044, -0.202903440248039,
    0.12913392166329718, 0.9633785825979169,
)  # fmt: skip
"""(pi*z)^2*z*g(z), of the same."""

ERFI_NEAR = (
    1.5041829075430488e-10, 1.054415639674487e-09, 1.51110363800718e-08, 1.6332272923357046e-07,
    1.6464598617737002e-06, 1.4925524753406664e-05, 0.00012055337315021062, 0.0008548326923494962,
    0.005223977626919875, 0.026866170645001394, 0.11283791670955719, 0.3761263890318374, 1.1283791670955126,
)  # fmt: skip
"""erfi(z)/z, of z^2, up to 1."""

DAWSON_FIRST = (
    2.7780129499396605e-12, 1.511462278116682e-11, -1.0455930996646805e-10, -1.6614963894431476e-10,
    2.270895251200053e-09, -1.9499611952617057e-09, -3.2087722364869275e-08, 9.980290858410035e-08,
    2.372439476680684e-07, -1.8493599588192319e-06, 1.0750884148398565e-06, 1.9040850073437732e-05,
    -5.247865594325544e-05, -7.393112473678479e-05, 0.0006233005354366396, -0.0007174821405760338,
    -0.0029442482560068026, 0.010475506843743735, -0.005248356322189193, -0.0363526709014136,
    0.0865191414948705, -0.05446804187891586, -0.06908374195701185, 0.6290137361755501,
)  # fmt: skip
"""z*D(z), of (z - 1.75)/0.75, from 1 to 2.5: D is Dawson's integral, sqrt(pi)/2*exp(-z^2)*erfi(z)."""

DAWSON_SECOND = (
    -3.5497744180120953e-11, 7.849987577145137e-11, 3.099021597066464e-10, -1.364984453289849e-09,
    8.194590280075923e-10, 7.238525883604832e-09, -2.5236119002513342e-08, 2.4384217198604558e-08,
    9.032392726470409e-08, -4.065077478235089e-07, 6.362829431176405e-07, 4.092138045401935e-07,
    -4.413872094064525e-06, 1.044947483777924e-05, -9.484117360849501e-06, -1.7049662765813617e-05,
    8.363338920432551e-05, -0.0001699770342223385, 0.00019594689751073973, -3.9522760470161525e-05,
    -0.00039623003127307855, 0.0011286348151308965, -0.0021414421501832356, 0.003547789671270862,
    -0.005773649258819356, 0.009584832747923001, -0.015474529970201567, 0.520144648475967,
)  # fmt: skip
"""The same of (z - 3.75)/1.25, up to 5."""

DAWSON_LAST = (
    -7.511565124058438e-07, 7.103022260345799e-06, -3.068980970656035e-05, 8.043097200986622e-05,
    -0.00014319519863246032, 0.00018380288883571204, -0.00017612992649665624, 0.00012867316277205,
    -7.252424164140759e-05, 3.17033982521201e-05, -1.0738806134089967e-05, 2.814291103752981e-06,
    -5.324029755075429e-07, 1.696694615433491e-07, 3.236034286510242e-07, 1.512689201714489e-06,
    8.399965097939184e-06, 6.000000107698205e-05, 0.0005999999999824749, 0.010000000000000113, 0.5,
)  # fmt: skip
"""The same of 25/z^2, from there on."""

EULER = 0.5772156649015329
GROWN = 485165195.4097903
"""exp(20), which an exponential beyond 700 is divided by on the way, so that it does not overflow before its quotient."""

# Exponential integrals.

RIGHT = (
    f"where(m < 10, {horner(EI_FIRST, '((m - 6)/(m + 6))')}, "
    f"where(m < 24, {horner(EI_SECOND, '((m - 15)/(m + 15))')}, {horner(EI_LAST, '(24/m)')}))"
)
LEFT = f"where(m < 3, {horner(EI_LEFT, '((m - 1)/(m + 1))')}, {horner(EI_FAR_LEFT, '((m - 12)/(m + 12))')})"


def exponential_integral(grown: str) -> str:
    """Ei(v): near its zero by the distance ``d`` to that; elsewhere of ``e``, which is exp(v) divided by ``grown``."""
    return (
        f"m = min(max(abs(v), 0.3), 1e17); small = {EULER} + log(abs(v)) + v*{horner(EI_SMALL, 'v')}; "
        f"t = v/2 - 1; zero = log1p(d/0.3725074107813666) + d*{horner(EI_ZERO, 't')}; "
        f"where(v > 4, e/m*{RIGHT}*{grown}, where(v > 0.15, zero, where(v > -0.3, small, e*{LEFT}/(-m))))"
    )


EI = (
    "v = x; d = (x - 0.3725074107813666) - 1.3140183414386028e-17; far = x > 700; e = exp(x - where(far, 20, 0)); "
    + exponential_integral(f"where(far, {GROWN}, 1)")
)
LI = (
    "v = log(x); d = log1p(((x - 1.451369234883381) + 4.82713642696033e-17)/1.451369234883381); e = x; "
    + exponential_integral("1")
)
E1 = (
    f"m = min(max(x, 0.3), 1e17); small = -{EULER} - log(x) + x*{horner(EI_SMALL, '(-x)')}; "
    f"where(x >= 0, where(x < 0.3, small, exp(-x)*{LEFT}/m), nan)"
)
EXP_QUOTIENT = f"where(x > 700, exp(x - 20)/min(x, 1000)*{GROWN}, exp(x)/x)"
SHI_SECOND = tuple([2 * k / math.factorial(2 * k + 1) for k in range(9, 0, -1)])
"""The second derivative of Shi, divided by x."""


def hyperbolic_integral(near: str, end: int, sign: str) -> str:
    """Shi or Chi of z, ``u``: half of what Ei is there and opposite, but for small operands."""
    return (
        f"h = min(max(z, 0.5), 1000); m = max(h, 40); u = where(z < {end}, {near}, "
        f"where(z < 40, (Ei(h) {sign} E1(h))/2, exp(m - 20)*{horner(EI_LAST, '(24/m)')}/m*{GROWN / 2}))"
    )


def hyperbolic_quotient(function: str) -> str:
    return f"where(z > 700, exp(z - 20)/min(z, 1000)*{GROWN / 2}, {function}(z)/z)"


# Sine, cosine and Fresnel integrals: far out two slow factors of a wave.

WAVE = (
    "b = max(z, 4); m = min(b, 1e17); q = (m - 12)/(m + 12); a = where(z == inf, 0, z); c = cos(a); s = sin(a); "
    f"f = {horner(SICI_COSINE, 'q')}/b; g = {horner(SICI_SINE, 'q')}/b/b"
)
"""Of Si and Ci; an infinite z has no sine."""
PHASE = (
    "m = min(abs(x), 2^54); k = 134217729*m; h = k - (k - m); l = m - h; a = h*h; b = 2*h*l; "
    "a4 = a - 4*round(a/4); b4 = b - 4*round(b/4); l4 = l*l - 4*round(l*l/4); "
    "s1 = a4 + b4; u1 = s1 - a4; s2 = s1 + l4; u2 = s2 - s1; "
    "less = ((a4 - (s1 - u1)) + (b4 - u1)) + ((s1 - (s2 - u2)) + (l4 - u2)); q = s2 - 4*round(s2/4); "
    "s = sin(pi/2*where(m < 1e-100, m*m, where(abs(q) > 1, (2*sign(q) - q) - less, q + less))); c = sin(pi/2*((1 - abs(q)) - sign(q)*less))"
)
"""The sine and cosine of pi/2*x^2: x is split into h + l, whose products are exact, and so are the errors of their sum.

T. J. Dekker, A floating-point technique for extending the available precision, Numer. Math. 18 (1971), 224-242.
From 2^54 on x is a multiple of 4.  Of tiny x the parts' products are subnormal, and its square alone is good.
"""
SPREAD = (
    f"z = min(abs(x), 1e100); y = z*z; v = max(y, 2); w = (v - 6)/(v + 6); "
    f"f = {horner(FRESNEL_COSINE, 'w')}/(pi*z); g = {horner(FRESNEL_SINE, 'w')}/(pi*z)/(pi*y)"
)
FRESNELS = (
    f"{PHASE}; {SPREAD}; t = y*y/2 - 1; "
    f"where(y < 2, x*y*{horner(FRESNELS_NEAR, 't')}, sign(x)*(0.5 - (f*c + g*s)))"
)
FRESNELC = (
    f"{PHASE}; {SPREAD}; t = y*y/2 - 1; "
    f"where(y < 2, x*{horner(FRESNELC_NEAR, 't')}, sign(x)*(0.5 + (f*s - g*c)))"
)

# The imaginary error function.

SQUARE = (
    "z = abs(x); m = min(z, 30); h = round(16*m)/16; e = exp(h*h/2); "
    f"f = {2 / math.sqrt(math.pi)!r}*exp((m - h)*(m + h))*e"
)
"""2/sqrt(pi)*exp(z^2) as e*f: h*h is exact; by halves nothing overflows before the result does."""
ERFI = (
    f"{SQUARE}; t = 25/max(z, 5)^2; dawson = where(z < 2.5, {horner(DAWSON_FIRST, '((m - 1.75)/0.75)')}, "
    f"where(z < 5, {horner(DAWSON_SECOND, '((m - 3.75)/1.25)')}, {horner(DAWSON_LAST, 't')})); "
    f"where(z < 1, x*{horner(ERFI_NEAR, '(z*z)')}, sign(x)*(f*(dawson/m)*e))"
)

# fmt: off
EXPONENTIAL: tuple[Op, ...] = (
    Op(
        "Ei", "x", (EXP_QUOTIENT,), "the exponential integral: the integral of exp(t)/t up to x", shown=("exp(x)/x",),
        seconds=(f"{EXP_QUOTIENT}*((x - 1)/x)",),
        value=EI, domain="x != 0", poles=(("x == 0", "-inf"),), latex=r"\operatorname{Ei}(x)", magnifies="growth",
        value_ulp=4.0, elsewhere="expi ExpIntegralEi eint",
    ),
    Op(
        "E1", "x", ("where(x >= 0, -exp(-x)/x, nan)",), "the exponential integral E_1: that of exp(-t)/t from x on",
        shown=("-exp(-x)/x",), value=E1, domain="x > 0", poles=(("x == 0", "inf"),), latex=r"\operatorname{E1}(x)",
        not_negative=True, value_ulp=4.0, elsewhere="exp1 expint_E1", monotone=-1,
    ),
    Op(
        "li", "x", ("1/log(x)",), "the logarithmic integral: the integral of 1/log(t) from 0 to x",
        value=LI, domain="(x >= 0)*(x != 1)", domain_words="x is not negative and not 1", poles=(("x == 1", "-inf"),),
        latex=r"\operatorname{li}(x)", value_ulp=4.5, elsewhere="LogIntegral logint",
    ),
    Op(
        "Shi", "x", (f"z = abs(x); where(z == 0, 1, {hyperbolic_quotient('sinh')})",),
        "the hyperbolic sine integral: the integral of sinh(t)/t from 0 to x", shown=("sinh(x)/x",),
        seconds=(
            f"z = abs(x); s = x*x; where(z < 1, x*{horner(SHI_SECOND, 's')}, "
            f"sign(x)*where(z > 700, exp(z - 20)/min(z, 1000)*{GROWN / 2}*((z - 1)/z), (cosh(z) - sinh(z)/z)/z))",
        ),
        value=f"z = abs(x); near = z*{horner(SHI_NEAR, '(z*z)')}; {hyperbolic_integral('near', 2, '+')}; where(x < 0, -u, u)",
        latex=r"\operatorname{Shi}(x)", magnifies="growth", value_ulp=4.0, elsewhere="sinhint SinhIntegral", monotone=1,
    ),
    Op(
        "Chi", "x", (f"z = abs(x); where(x >= 0, {hyperbolic_quotient('cosh')}, nan)",),
        "the hyperbolic cosine integral: Euler's constant, log(x) and the integral of (cosh(t) - 1)/t from 0 to x",
        shown=("cosh(x)/x",),
        value=f"z = x; near = {EULER} + log(x) + x*x*{horner(CHI_NEAR, '(x*x)')}; {hyperbolic_integral('near', 1, '-')}; where(x >= 0, u, nan)",
        domain="x > 0", poles=(("x == 0", "-inf"),), latex=r"\operatorname{Chi}(x)", magnifies="growth",
        value_ulp=4.0, value_abs=2e-16, second_abs=1e-15, elsewhere="coshint CoshIntegral",
    ),
)
WAVES: tuple[Op, ...] = (
    Op(
        "Si", "x", ("sinc(x)",), "the sine integral: the integral of sin(t)/t from 0 to x", shown=("sin(x)/x",),
        value=f"z = abs(x); {WAVE}; t = z*z/8 - 1; "
        f"where(z < 4, x*{horner(SI_NEAR, 't')}, sign(x)*(pi/2 - (f*c + g*s)))",
        latex=r"\operatorname{Si}(x)", value_ulp=3.0, elsewhere="sinint SinIntegral",
    ),
    Op(
        "Ci", "x", ("where(x >= 0, where(x == inf, 0, cos(x)/x), nan)",),
        "the cosine integral: Euler's constant, log(x) and the integral of (cos(t) - 1)/t from 0 to x",
        shown=("cos(x)/x",),
        value=f"z = x; {WAVE}; t = z*z/8 - 1; near = {EULER} + log(x) + z*z*{horner(CI_NEAR, 't')}; "
        f"zero = ((z - 3.3841804225511862) - 1.972125462363411e-16)*{horner(CI_ZERO, '(z - 3)')}; "
        "where(x >= 0, where(z < 2, near, where(z < 4, zero, f*s - g*c)), nan)",
        domain="x > 0", poles=(("x == 0", "-inf"),), latex=r"\operatorname{Ci}(x)", magnifies="period",
        value_ulp=4.0, value_abs=3e-16, second_abs=1e-15, elsewhere="cosint CosIntegral",
    ),
    Op(
        "fresnels", "x", (f"{PHASE}; where(abs(x) == inf, nan, s)",), "Fresnel's sine integral: the integral of sin(pi/2*t^2) from 0 to x",
        shown=("sin(pi/2*x^2)",), seconds=(f"{PHASE}; where(abs(x) == inf, nan, pi*x*c)",), value=FRESNELS, latex=r"\operatorname{S}(x)", magnifies="period",
        value_ulp=3.0, elsewhere="FresnelS fresnel_sin fresnel_s",
    ),
    Op(
        "fresnelc", "x", (f"{PHASE}; where(abs(x) == inf, nan, c)",), "Fresnel's cosine integral: the integral of cos(pi/2*t^2) from 0 to x",
        shown=("cos(pi/2*x^2)",), seconds=(f"{PHASE}; where(abs(x) == inf, nan, -pi*x*s)",), value=FRESNELC, latex=r"\operatorname{C}(x)", magnifies="period",
        value_ulp=3.0, elsewhere="FresnelC fresnel_cos fresnel_c",
    ),
)
IMAGINARY = Op(
    "erfi", "x", (f"{SQUARE}; f*e",), "the imaginary error function: 2/sqrt(pi) times the integral of exp(t^2) from 0 to x",
    shown=("2/sqrt(pi)*exp(x^2)",), seconds=(f"{SQUARE}; where(x == 0, 0, f*(2*x)*e)",),
    value=ERFI, latex=r"\operatorname{erfi}(x)", magnifies="growth", value_ulp=6.0, elsewhere="Erfi", monotone=1,
)
# fmt: on

ROWS: tuple[Op, ...] = (*EXPONENTIAL, *WAVES, IMAGINARY)
