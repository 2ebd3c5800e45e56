"""C99 and its mathematical library."""

from __future__ import annotations

from exprgrad.language.code.target import ATOM, C_LIKE, SIGN, Form, Layout, Repeat, Target, named

__all__ = ["C"]

RESERVED = """
    auto break case char const continue default do double else enum extern float for goto if inline
    int long register restrict return short signed sizeof static struct switch typedef union
    unsigned void volatile while _Bool _Complex _Imaginary bool true false complex imaginary I asm
    typeof linux unix NULL EOF errno assert main HUGE_VAL HUGE_VALF HUGE_VALL INFINITY NAN
    FP_INFINITE FP_NAN FP_NORMAL FP_SUBNORMAL FP_ZERO FP_ILOGB0 FP_ILOGBNAN MATH_ERRNO
    MATH_ERREXCEPT math_errhandling fpclassify isfinite isinf isnan isnormal signbit isgreater
    isgreaterequal isless islessequal islessgreater isunordered fmod copysign
"""
"""Keywords, and what the headers define as macros."""
LIBRARY = """
    abort abs alloca calloc exit fdim ffs floorf fma fmax fmin free frexp gamma index ilogb j0 j1 jn
    labs ldexp lgamma llrint llround logb lrint lround malloc memcpy memset modf nan nextafter
    nexttoward pow10 printf putchar puts remainder remquo rindex rint round scalb scalbln scalbn
    sincos significand sprintf strcmp strlen tgamma trunc y0 y1 yn acosf asinf atanf cosf expf logf
    powf sinf sqrtf tanf
"""
"""Functions that compilers know of themselves: parameters may bear these names, a function may not."""
HELPERS = {
    "mod": """/* the floor modulus, with the sign of y; nan where y is 0 */
static double F_mod(double x, double y)
{
    const double r = fmod(x, y);
    return r == 0.0 ? copysign(r, y) : (r < 0.0) == (y < 0.0) ? r : r + y;
}
""",
    "sign": """/* -1, 0 or 1; nan for nan */
static double F_sign(double x)
{
    return x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : x;
}
""",
    "gamma": """/* tgamma where x is positive, else nan */
static double F_gamma(double x)
{
    return x >= 0.0 ? tgamma(fabs(x)) : NAN;
}
""",
    "lgamma": """/* the library's lgamma where x is positive, else nan */
static double F_lgamma(double x)
{
    return x >= 0.0 ? lgamma(x) : NAN;
}
""",
    "max": """/* the greater; nan if either is nan, which fmax would ignore */
static double F_max(double x, double y)
{
    return x > y || x != x ? x : y;
}
""",
    "min": """/* the lesser; nan if either is nan, which fmin would ignore */
static double F_min(double x, double y)
{
    return x < y || x != x ? x : y;
}
""",
}

C = Target(
    name="c",
    title="C99",
    place=3,
    ending=".c",
    layout=Layout(
        file="{comment}\n#include <math.h>\n\n{helpers}{head}\n{{\n{body}\n}}\n",
        comment=("/* ", "   ", " */"),
        head=("double {name}(", ")"),
        parameter="double {name}",
        extra="double {name}{sizes}",
        none="void",
        helper="/* {about} */\nstatic double {name}({parameters})\n{{\n{body}\n}}\n",
        gaps=("", "\n"),
        define="const double {name} = {text};",
        define_condition="const int {name} = {text};",
        unused="(void){name};",
        answer="return {value};",
        result=("", "{place} = {text};", "return {value};"),
        procedure=("void {name}(", ")"),
        repeat=Repeat("double {name} = {text};", "while ({go}) {{", "{name} = {text};", "}}"),
        joined=False,
        returns="Returns {value}; stores its derivatives with respect to {wrt}, in {extra}.",
    ),
    forms={**C_LIKE, "flag": Form("(double){0}", SIGN, (ATOM,))},
    calls=named(
        "",
        "sqrt exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan atan2 sinh cosh tanh asinh "
        "acosh atanh cbrt hypot erf erfc pow abs=fabs floor ceil round=nearbyint trunc",
    ),
    constants={"inf": "INFINITY", "nan": "NAN"},
    reserved=frozenset(RESERVED.split()),
    library=frozenset(LIBRARY.split()),
    about="C99; needs only <math.h> (link with -lm).",
    helpers=HELPERS,
    ascii=True,
)
