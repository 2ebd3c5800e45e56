"""Rows of the op table: functions of neural networks and statistics.

See ``op.py`` for a row's fields and ``ops.py``, which gathers the rows, for the language of its texts.
"""

from __future__ import annotations

import math

from exprgrad.graph.op import NonsmoothPoint, Op, bell_text, horner_text

__all__ = ["DENSITY", "FAR", "NORMAL", "ROWS", "WHOLE"]

SILU_SLOPE = (
    "t = x + 1.2784645427610737 + 1.0946994183093437e-16; w = 0.2784645427610738 - 1.552360632e-18; "
    "s = sigmoid(x); c = sigmoid(-x); "
    "where(abs(x) > 800, x > 0, where(x >= 0, s*(1 + x*c), where(x > -700, s*c*(t + w*expm1(t)), "
    "(1 + x)*exp(x + 70)*exp(-70))))"
)
"""The derivative of x*sigmoid(x), which loses no digits beside its zero.

It is s*c*(1 + x + exp(x)).  The sum is 0 at x0 = -1 - w, where exp(x0) = w, so w = W(1/e) with Lambert's W.
Taking 1 + x0 + exp(x0) from it leaves t + w*(exp(t) - 1) with t = x - x0: two terms of one sign.  On the
far left exp(x) is scaled up until the end, so that no factor is subnormal.
"""

SILU_SECOND = (
    "far = abs(x) > 700; e = exp(where(far, 70, 0) - abs(x)); "
    "where(abs(x) > 900, 0, e/(1 + e)^2*(2 - x*tanh(x/2))*where(far, exp(-70), 1))"
)
"""The second derivative of x*sigmoid(x), which is even; far out it is scaled up, as the first one is."""

GELU = (
    "z = max(x, -40); t = -z/sqrt(2); a = round(2^20*t)/2^20; b = t - a; "
    "h = round(2^20*z)/2^20; k = z - h; d = (a*a - h*h/2) + (2*a*b - h*k) + (b*b - k*k/2); "
    "where(x < 0, z*erfc(t)/2*(1 + d), x/2*(1 + erf(x/sqrt(2))))"
)
"""x*(1 + erf(x/sqrt(2)))/2, and for x < 0 the same as x*erfc(-x/sqrt(2))/2.

There a change of t by a part in 2^53, which rounding is, changes erfc(t) by up to 1,400 such parts, as
exp(-t^2) does.  So it is multiplied by 1 + d, where d = t^2 - x^2/2, with both squares taken in two pieces
(T. J. Dekker, A floating-point technique for extending the available precision, Numer. Math. 18 (1971),
224-242).  Measured against mpmath at 60,000 points: 3.9 ulp.
"""

GELU_SLOPE = (
    "h = round(1024*x)/1024; s = where(x < -37, 40, 0); p = x/sqrt(2*pi)*exp(s - h*h/2); "
    "where(abs(x) > 39, x > 0, erfc(-x/sqrt(2))/2 + (p + p*expm1((h - x)*(h + x)/2))*exp(-s))"
)
"""The derivative of gelu: the normal distribution, and x times its density, whose exponent is split in two.

On the far left the exponential is scaled up by exp(s), so that it is not subnormal.
"""

GELU_SECOND = (
    "h = round(1024*x)/1024; s = where(abs(x) > 37, 40, 0); "
    "density = exp(s - h*h/2)*exp((h - x)*(h + x)/2)/sqrt(2*pi); "
    "less = sqrt(2) - abs(x) - 9.667293313452913e-17; "
    "where(abs(x) > 39, 0, density*less*(sqrt(2) + abs(x))*exp(-s))"
)
"""The second derivative of gelu: 2 - x^2 times the density, which is split as above.

The square root of 2 is 9.667293313452913e-17 less than the double nearest to it.
"""

# The error function as a formula, for targets whose library has none.
#
# Near 0, erf(x) = x + x*R(x^2).  Beyond, erfc(x) = exp(-x^2)*S(1/(1 + x))/(1 + x), with the exponential
# split in two, for x^2 rounded is too far off.  That is the scheme of W. J. Cody, Rational Chebyshev
# approximations for the error function, Math. Comp. 23 (1969), 631-637.  R and S are rational functions
# fitted for exprgrad by weighted least squares in 120 digits, with relative errors of 4e-18 and 8e-18; all
# coefficients of S have one sign, so its sums lose no digits.
#
# Measured against mpmath at 75,000 points, with glibc's exp: erf 1.7 ulp, erfc 6.6 ulp.

NEAR_ABOVE = (
    -3.307424347149491e-06, -9.968500709461738e-05, -0.0062597805658704845, -0.03169064187892366,
    -0.3237433226739001, 0.12837916709551256,
)  # fmt: skip
NEAR_BELOW = (
    0.00022238327327855578, 0.005984657255496839, 0.06966706841428245, 0.4080340100583768, 1.0,
)  # fmt: skip
TAIL_ABOVE = (
    284.04142154259205, 642.972766837198, 785.7516489763349, 658.295586127321, 406.0411903399069,
    193.98371875146682, 69.23568240193875, 19.85205737674614, 3.578449132731795,
    0.5641895835477563,
)  # fmt: skip
TAIL_BELOW = (
    56.762352926424576, 254.15963530869197, 541.7273827281094, 716.301218455881,
    672.7888471577957, 453.8140329711412, 241.87488322917187, 91.201514319532, 29.344219600236848,
    5.342635945579957, 1.0,
)  # fmt: skip

NEAR = f"s = x*x; more = x*{horner_text(NEAR_ABOVE, 's')}/{horner_text(NEAR_BELOW, 's')}"
"""erf(x) - x, up to 0.84375."""
TAIL = (
    "z = min(abs(x), 28); h = round(16*z)/16; w = z + 1; t = 1/w; "
    f"scaled = {horner_text(TAIL_ABOVE, 't')}/{horner_text(TAIL_BELOW, 't')}/w; "
    "tail = scaled*exp(-h*h)*exp((h - z)*(h + z))"
)
"""erfc(abs(x)), from 0.84375 on; beyond 28 it is 0."""

ERF = f"{NEAR}; {TAIL}; where(abs(x) < 0.84375, x + more, where(x < 0, tail - 1, 1 - tail))"
ERFC = (
    f"{NEAR}; {TAIL}; where(abs(x) < 0.84375, 0.5 - (x - 0.5 + more), where(x < 0, 2 - tail, tail))"
)

WHOLE_TAIL = (
    -1.265788561390124e-09, -7.872387888963373e-09, -9.512993248758232e-09, 3.332383788647056e-08,
    1.0193050005187481e-07, 2.7356293306160083e-08, -3.0934216501593884e-07, -5.957973465458007e-07,
    -1.2097638404331208e-08, 2.0153045278374115e-06, 3.65199773520739e-06, -1.1307261447011008e-06,
    -1.61240070263967e-05, -2.1694772831967068e-05, 3.414965943258036e-05, 0.00014447045741897762,
    3.4371314449246115e-05, -0.0006630734654838555, -0.000837296050474828, 0.003090612055799492,
    0.006479185067070258, -0.02151066188932844, -0.03644223150686152, 0.27947209255605154,
    -0.6871606844138107, 1.021582705242023,
)  # fmt: skip
WHOLE = f"whole = {horner_text(WHOLE_TAIL, 'u')}"
"""(z + 2)*exp(z^2)*erfc(z) from 0 on, where u is (z - 2)/(z + 2)."""


ERF_SLOPE = "h = round(16*x)/16; where(abs(x) > 28, 0, exp(46 - h*h)*exp((h - x)*(x + h))"
"""exp(46 - x^2) from two exponentials: h has so few digits that its square is exact.

No factor is subnormal, so that a product that is one is rounded once; and the double nearest to
2*exp(-46)/sqrt(pi), which is the last factor, happens to be near indeed.
"""

BELL = bell_text(28, "")
SLOPE = f"{BELL}; {2 / math.sqrt(math.pi)!r}*bell"
JOINED = f"{BELL}; q = 1/(z + 2); u = (z - 2)*q; {WHOLE}; tail = whole*q*bell"

ERF_JOINT = (
    f"{NEAR}; {JOINED}; where(abs(x) < 0.84375, x + more, where(x < 0, tail - 1, 1 - tail))",
    SLOPE,
)
ERFC_JOINT = (
    f"{JOINED}; where(x < 0, 2 - tail, tail)",
    f"{BELL}; {-2 / math.sqrt(math.pi)!r}*bell",
)
"""Value and partial that share the exponential.

(z + 2)*exp(z^2)*erfc(z) is a polynomial of (z - 2)/(z + 2), as in M. M. Shepherd and J. G. Laframboise,
Chebyshev approximation of (1 + 2x)exp(x^2)erfc x in 0 <= x < inf, Math. Comp. 36 (1981), 249-253; this one
was fitted for exprgrad in 60 digits, from 0 to 28.3, each coefficient after those before it were rounded:
its relative error is 1.7e-17.  Measured against mpmath, climbing from 12,000 points: erfc 4.8 ulp.
"""
FAR = "far = abs(x) > 37; last = where(far, exp(-40), 1)"
NORMAL = (
    f"{FAR}; {bell_text(40, '/2', 'where(far, 40, 0) ')}; "
    f"y = z*{math.sqrt(0.5)!r}; w = y + 2; u = (y - 2)/w; "
    f"{WHOLE}; share = whole/w/2"
)
HALF, DENSITY = math.sqrt(1 / 8), 1 / math.sqrt(math.tau)
RISING = (
    f"s = z*z/2; ratio = {horner_text(NEAR_ABOVE, 's')}/{horner_text(NEAR_BELOW, 's')}; "
    f"near = 0.5 - z*({HALF!r} + {HALF!r}*ratio + {DENSITY!r}*bell)"
)
GELU_JOINT = (
    f"{NORMAL}; less = share*bell; where(x < 0, -z*less*last, x*(1 - less*last))",
    f"{NORMAL}; {RISING}; gap = where(z < 0.52, near, (share - {DENSITY!r}*z)*bell*last); "
    "where(x < 0, gap, 1 - gap)",
)
"""x times the normal distribution, and its partial: the part of x below is ``less``, or all but that.

On the far left the exponential is scaled up until the end, so that no factor is subnormal.  Near 0 the
partial is what x adds to 1/2.  Beside its zero it is a difference of two numbers of 0.23, whose last digits
are 2.8e-17: 1.33e-16 was measured at 240,000 points.
"""

SIGMOID_JOINED = "e = exp(-abs(x)); q = 1/(1 + e)"
SIGMOID_JOINT = (f"{SIGMOID_JOINED}; where(x >= 0, q, e*q)", "e = exp(-abs(x)); e/(1 + e*(2 + e))")
SILU_JOINED = (
    "far = x < -700; e = exp(where(far, 70, 0) - abs(x)); q = 1/(1 + e); "
    "last = where(far, exp(-70), 1)"
)
SILU_JOINT = (
    f"{SILU_JOINED}; where(x >= 0, x*q, max(x, -1000)*e*q*last)",
    f"{SILU_JOINED}; t = x + 1.2784645427610737 + 1.0946994183093437e-16; "
    "w = 0.2784645427610738 - 1.552360632e-18; above = where(x >= 0, 1 + e*(1 + x), e*(t + w*expm1(t))); "
    "where(abs(x) > 800, x > 0, above/(1 + e*(2 + e))*last)",
)
"""Value and partial that share an exponential; the partial beside its zero as above.

(1 + e)^2 is 1 + e*(2 + e), of which only the last rounding counts where e is small; the error of 1 + e
would count twice, and so would that of its reciprocal.
"""

SPLIT = (
    "d = where(x == y, 0, x - y); b = d - x; e = where(abs(b) < inf, (x - (d - b)) - (y + b), 0)"
)
"""x - y as d + e, where e is what the difference loses to rounding: Knuth's TwoSum."""
BOTH = f"{SPLIT}; sigmoid(d)*sigmoid(-d)*(1 - e*tanh(d/2))"
"""The product of both shares of exp(x) + exp(y), to first order in e."""

SHARE = (
    "d = where(x == out, 0, x - out); b = d - x; "
    "e = where(abs(b) < inf, (x - (d - b)) - (out + b), 0); exp(d)*(1 + e)"
)
"""exp(x - out) with what the difference loses to rounding put back: e, as above.

The shares of all operands are divided by their sum, which takes out the error of ``out`` itself.
"""

# fmt: off
ROWS: tuple[Op, ...] = (
    Op(
        "relu", "x", ("where(x > 0, 1, 0)",), "max(x, 0)", value="max(x, 0)", definition="max(x, 0)",
        latex=r"\operatorname{relu}(x)", gate="gate",
        special=(NonsmoothPoint("x == 0", "kink", "its operand is 0", slope="max(dx, 0)"),),
        value_ulp=0.0, partial_ulp=0.0, not_negative=True, monotone=1,
    ),
    Op(
        "leaky_relu", "x", ("where(x > 0, 1, where(x <= 0, 1/100, nan))",),
        "the rectifier that leaks: x, or x/100 where x is negative",
        display_partials=("where(x > 0, 1, 1/100)",), value="where(x > 0, x, x/100)",
        definition="max(x, x/100)",
        latex=r"\operatorname{leaky\_relu}(x)", gate="leaky gate",
        special=(NonsmoothPoint("x == 0", "kink", "its operand is 0", slope="max(dx, dx/100)"),),
        value_ulp=0.5, partial_ulp=0.5, foreign_names="leakyrelu", monotone=1,
    ),
    Op(
        "elu", "x", ("where(x > 0, 1, exp(x))",),
        "the exponential linear unit: x, or exp(x) - 1 where x is negative",
        value="where(x > 0, x, expm1(x))", definition="where(x > 0, x, exp(x) - 1)",
        latex=r"\operatorname{elu}(x)", gate="soft gate", derivative_kink_at=0.0, monotone=1,
    ),
    # Klambauer, Unterthiner, Mayr and Hochreiter, Self-normalizing neural networks (2017), in doubles.
    Op(
        "selu", "x", ("where(x >= 0, selu(1), -selu(-inf)*exp(x))",),
        "the self-normalizing unit: 1.0507 times x, or times 1.6733*(exp(x) - 1) where x is negative",
        display_partials=("where(x >= 0, selu(1), out - selu(-inf))",),
        value="1.0507009873554805*where(x > 0, x, 1.6732632423543772*expm1(x))",
        definition="1.0507009873554805*where(x > 0, x, 1.6732632423543772*(exp(x) - 1))",
        latex=r"\operatorname{selu}(x)", gate="soft gate",
        special=(
            NonsmoothPoint(
                "x == 0", "kink", "its operand is 0",
                slope="1.0507009873554805*where(dx > 0, dx, 1.6732632423543772*dx)",
            ),
        ), monotone=1,
    ),
    Op(
        "sigmoid", "x", ("out*sigmoid(-x)",), "1/(1 + exp(-x))", display_partials=("out*(1 - out)",),
        seconds=("out*sigmoid(-x)*tanh(-x/2)",),
        value="e = exp(-abs(x)); where(x >= 0, 1/(1 + e), e - e*e/(1 + e))", definition="1/(1 + exp(-x))",
        fused_partials=SIGMOID_JOINT, latex=r"\sigma(x)", not_negative=True, inverse="logit",
        foreign_names="expit logistic", monotone=1,
    ),
    Op(
        "silu", "x", (SILU_SLOPE,), "the sigmoid linear unit x*sigmoid(x), also known as swish",
        seconds=(SILU_SECOND,), second_abs=1e-16,
        display_partials=("sigmoid(x)*(1 + x*sigmoid(-x))",),
        value="z = max(x, -1000); where(x > -700, x/(1 + exp(-x)), z*exp(z + 70)*exp(-70))",
        definition="x/(1 + exp(-x))", fused_partials=SILU_JOINT,
        latex=r"\operatorname{silu}(x)", gate="soft gate", foreign_names="swish",
    ),
    Op(
        "gelu", "x", (GELU_SLOPE,),
        "the Gaussian error linear unit: x times the normal distribution at x; exact, not by tanh",
        seconds=(GELU_SECOND,),
        display_partials=("(1 + erf(x/sqrt(2)))/2 + x*exp(-x^2/2)/sqrt(2*pi)",), value=GELU,
        definition="x*(1 + erf(x/sqrt(2)))/2", fused_partials=GELU_JOINT,
        latex=r"\operatorname{gelu}(x)", gate="soft gate",
        value_ulp=4.5, value_abs=1e-322, partial_abs=1.4e-16,
        away_from_zeros=("(x <= -1.3) + (x >= -0.4)", 40.0),
    ),
    Op(
        "logsigmoid", "x", ("sigmoid(-x)",), "the logarithm of sigmoid(x)",
        value="min(x, 0) - log1p(exp(-abs(x)))", definition="-log(1 + exp(-x))",
        latex=r"\operatorname{logsigmoid}(x)", foreign_names="log_expit log_sigmoid", monotone=1,
    ),
    Op(
        "softplus", "x", ("sigmoid(x)",), "log(1 + exp(x))", value="max(x, 0) + log1p(exp(-abs(x)))",
        definition="log(1 + exp(x))", arb=lambda x: x.exp().log1p(),
        latex=r"\operatorname{softplus}(x)", not_negative=True, monotone=1,
    ),
    Op(
        "logaddexp", "x y",
        (f"{SPLIT}; sigmoid(d)*(1 + e*sigmoid(-d))", f"{SPLIT}; sigmoid(-d)*(1 - e*sigmoid(d))"),
        "the logarithm of exp(x) + exp(y), safe from overflow",
        seconds=(BOTH, f"{SPLIT}; -sigmoid(d)*sigmoid(-d)*(1 - e*tanh(d/2))", BOTH),
        display_partials=("exp(x - out)", "exp(y - out)"),
        value="where(x == y, x + log(2), max(x, y) + log1p(exp(-abs(x - y))))",
        definition="log(exp(x) + exp(y))",
        latex=r"\ln(e^{x} + e^{y})", gate="softmax router", value_abs=2.0**-51,
    ),
    # Beside a zero, 2.3e-16 at most was measured, with two to four operands.
    Op(
        "logsumexp", "x...", (f"{SHARE}/ties",), "log(exp(x) + exp(y) + …), safe from overflow",
        display_partials=("exp(x - out)",), ties=SHARE,
        ties_words="the sum of all operands' shares exp(x - out), which is 1 up to rounding",
        fallback="logaddexp(x, y)", definition="log(exp(x) + exp(y))",
        latex=r"\operatorname{logsumexp}(x, y, \ldots)", gate="softmax router", value_abs=2.0**-51,
    ),
    Op(
        "erf", "x",
        (f"{ERF_SLOPE}*(2/sqrt(pi)*exp(-46)))",),
        "the error function", display_partials=("2/sqrt(pi)*exp(-x^2)",), fallback=ERF,
        fused_partials=ERF_JOINT,
        seconds=(f"{ERF_SLOPE}*x*(-4/sqrt(pi)*exp(-46)))",),
        latex=r"\operatorname{erf}(x)", monotone=1,
    ),
    Op(
        "erfc", "x",
        (f"{ERF_SLOPE}*(-2/sqrt(pi)*exp(-46)))",),
        "1 - erf(x), exact in the tail", display_partials=("-2/sqrt(pi)*exp(-x^2)",), fallback=ERFC,
        fused_partials=ERFC_JOINT, seconds=(f"{ERF_SLOPE}*x*(4/sqrt(pi)*exp(-46)))",),
        latex=r"\operatorname{erfc}(x)", value_ulp=5.3, not_negative=True, monotone=-1,
    ),
)
# fmt: on
