"""Rows of the op table: special functions, and others that few formulas have.

What a row holds is told in ``op.py``, and what its texts may say in ``ops.py``.
"""

from __future__ import annotations

from exprgrad.graph.op import Family, Op, Special

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

FAMILIES: tuple[Family, ...] = ()
"""Families of rows with a whole-number setting."""
ROWS: tuple[Op, ...] = (*RECIPROCALS, *RECTIFIERS)
