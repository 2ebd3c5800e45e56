"""Rows of the op table: functions of neural networks and statistics.

What a row holds is told in ``op.py``, and what its texts may say in ``ops.py``, which gathers them.
"""

from __future__ import annotations

from exprgrad.graph.error_function import ERF, ERF_JOINT, ERFC, ERFC_JOINT, GELU_JOINT
from exprgrad.graph.op import Family, Op, Special

__all__ = ["NETWORKS", "SPECIAL_FUNCTIONS"]

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
    "h = round(1024*x)/1024; s = where(x < -37, 40, 0); p = x/sqrt(tau)*exp(s - h*h/2); "
    "where(abs(x) > 39, x > 0, erfc(-x/sqrt(2))/2 + (p + p*expm1((h - x)*(h + x)/2))*exp(-s))"
)
"""The derivative of gelu: the normal distribution, and x times its density, whose exponent is split in two.

On the far left the exponential is scaled up by exp(s), so that it is not subnormal.
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

SHARE = (
    "d = where(x == out, 0, x - out); b = d - x; "
    "e = where(abs(b) < inf, (x - (d - b)) - (out + b), 0); exp(d)*(1 + e)"
)
"""exp(x - out) with what the difference loses to rounding put back: e, as above.

The shares of all operands are divided by their sum, which takes out the error of ``out`` itself.
"""

# fmt: off
NETWORKS: tuple[Op, ...] = (
    Op(
        "relu", "x", ("where(x > 0, 1, 0)",), "max(x, 0)", value="max(x, 0)", definition="max(x, 0)",
        latex=r"\operatorname{relu}(x)", gate="gate",
        special=(Special("x == 0", "kink", "its operand is 0", slope="max(dx, 0)"),),
        value_ulp=0.0, partial_ulp=0.0, not_negative=True,
    ),
    Op(
        "leaky_relu", "x", ("where(x > 0, 1, where(x <= 0, 1/100, nan))",),
        "the rectifier that leaks: x, or x/100 where x is negative",
        shown=("where(x > 0, 1, 1/100)",), value="where(x > 0, x, x/100)", definition="max(x, x/100)",
        latex=r"\operatorname{leaky\_relu}(x)", gate="leaky gate",
        special=(Special("x == 0", "kink", "its operand is 0", slope="max(dx, dx/100)"),),
        value_ulp=0.5, partial_ulp=0.5, elsewhere="leakyrelu",
    ),
    Op(
        "elu", "x", ("where(x > 0, 1, exp(x))",),
        "the exponential linear unit: x, or exp(x) - 1 where x is negative",
        value="where(x > 0, x, expm1(x))", definition="where(x > 0, x, exp(x) - 1)",
        latex=r"\operatorname{elu}(x)", gate="soft gate",
    ),
    # Klambauer, Unterthiner, Mayr and Hochreiter, Self-normalizing neural networks (2017), in doubles.
    Op(
        "selu", "x", ("where(x >= 0, selu(1), -selu(-inf)*exp(x))",),
        "the self-normalizing unit: 1.0507 times x, or times 1.6733*(exp(x) - 1) where x is negative",
        shown=("where(x >= 0, selu(1), out - selu(-inf))",),
        value="1.0507009873554805*where(x > 0, x, 1.6732632423543772*expm1(x))",
        definition="1.0507009873554805*where(x > 0, x, 1.6732632423543772*(exp(x) - 1))",
        latex=r"\operatorname{selu}(x)", gate="soft gate",
        special=(
            Special(
                "x == 0", "kink", "its operand is 0",
                slope="1.0507009873554805*where(dx > 0, dx, 1.6732632423543772*dx)",
            ),
        ),
    ),
    Op(
        "sigmoid", "x", ("out*sigmoid(-x)",), "1/(1 + exp(-x))", shown=("out*(1 - out)",),
        value="e = exp(-abs(x)); where(x >= 0, 1/(1 + e), e - e*e/(1 + e))", definition="1/(1 + exp(-x))",
        joint=SIGMOID_JOINT, latex=r"\sigma(x)", not_negative=True, elsewhere="expit logistic",
    ),
    Op(
        "silu", "x", (SILU_SLOPE,), "the sigmoid linear unit x*sigmoid(x), also known as swish",
        shown=("out + sigmoid(x)*(1 - out)",),
        value="z = max(x, -1000); where(x > -700, x/(1 + exp(-x)), z*exp(z + 70)*exp(-70))",
        definition="x/(1 + exp(-x))", joint=SILU_JOINT,
        latex=r"\operatorname{silu}(x)", gate="soft gate", elsewhere="swish",
    ),
    Op(
        "gelu", "x", (GELU_SLOPE,),
        "the Gaussian error linear unit: x times the normal distribution at x; exact, not by tanh",
        shown=("(1 + erf(x/sqrt(2)))/2 + x*exp(-x^2/2)/sqrt(2*pi)",), value=GELU,
        definition="x*(1 + erf(x/sqrt(2)))/2", joint=GELU_JOINT,
        latex=r"\operatorname{gelu}(x)", gate="soft gate",
        value_ulp=4.5, value_abs=1e-322, partial_abs=1.4e-16,
    ),
    Op(
        "logsigmoid", "x", ("sigmoid(-x)",), "the logarithm of sigmoid(x)",
        value="min(x, 0) - log1p(exp(-abs(x)))", definition="-log(1 + exp(-x))",
        latex=r"\operatorname{logsigmoid}(x)", elsewhere="log_expit log_sigmoid",
    ),
    Op(
        "softplus", "x", ("sigmoid(x)",), "log(1 + exp(x))", value="max(x, 0) + log1p(exp(-abs(x)))",
        definition="log(1 + exp(x))", latex=r"\operatorname{softplus}(x)", not_negative=True,
    ),
    Op(
        "logaddexp", "x y",
        (f"{SPLIT}; sigmoid(d)*(1 + e*sigmoid(-d))", f"{SPLIT}; sigmoid(-d)*(1 - e*sigmoid(d))"),
        "the logarithm of exp(x) + exp(y), safe from overflow", shown=("exp(x - out)", "exp(y - out)"),
        value="where(x == y, x + log(2), max(x, y) + log1p(exp(-abs(x - y))))",
        definition="log(exp(x) + exp(y))",
        latex=r"\ln(e^{x} + e^{y})", gate="softmax router", value_abs=2.0**-51,
    ),
    # Beside a zero, 2.3e-16 at most was measured, with two to four operands.
    Op(
        "logsumexp", "x...", (f"{SHARE}/ties",), "log(exp(x) + exp(y) + …), safe from overflow",
        shown=("exp(x - out)",), ties=SHARE,
        ties_words="what the shares exp(x - out) of all operands add up to, 1 but for rounding",
        formula="logaddexp(x, y)", definition="log(exp(x) + exp(y))",
        latex=r"\operatorname{logsumexp}(x, y, \ldots)", gate="softmax router", value_abs=2.0**-51,
    ),
    Op(
        "erf", "x",
        ("h = round(16*x)/16; where(abs(x) > 28, 0, 2/sqrt(pi)*exp(-h*h)*exp(-(x - h)*(x + h)))",),
        "the error function", shown=("2/sqrt(pi)*exp(-x^2)",), formula=ERF, joint=ERF_JOINT,
        latex=r"\operatorname{erf}(x)",
    ),
    Op(
        "erfc", "x",
        ("h = round(16*x)/16; where(abs(x) > 28, 0, -2/sqrt(pi)*exp(-h*h)*exp(-(x - h)*(x + h)))",),
        "1 - erf(x), exact in the tail", shown=("-2/sqrt(pi)*exp(-x^2)",), formula=ERFC,
        joint=ERFC_JOINT, latex=r"\operatorname{erfc}(x)", value_ulp=5.3, not_negative=True,
    ),
)
# fmt: on

SPECIAL_FUNCTIONS: tuple[Family, ...] = ()
"""Families of rows with a whole-number setting."""
