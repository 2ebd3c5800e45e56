"""C99 and its mathematical library."""

from __future__ import annotations

from exprgrad.language.code.target import (
    ATOM,
    C_LIKE,
    SIGN,
    Form,
    FunctionLayout,
    Repeat,
    Target,
    functions_of_rows,
)

__all__ = ["C"]

RESERVED = """
    auto break case char const continue default do double else enum extern float for goto if inline
    int long register restrict return short signed sizeof static struct switch typedef union
    unsigned void volatile while _Bool _Complex _Imaginary bool true false complex imaginary I asm
    typeof linux unix i386 mips sparc sun alignas alignof constexpr nullptr static_assert thread_local
    NULL EOF errno assert main HUGE_VAL HUGE_VALF HUGE_VALL INFINITY NAN MAXFLOAT SNAN SNANF SNANL
    FP_INFINITE FP_NAN FP_NORMAL FP_SUBNORMAL FP_ZERO FP_ILOGB0 FP_ILOGBNAN FP_LLOGB0 FP_LLOGBNAN
    FP_INT_UPWARD FP_INT_DOWNWARD FP_INT_TOWARDZERO FP_INT_TONEAREST FP_INT_TONEARESTFROMZERO
    DOMAIN SING OVERFLOW UNDERFLOW TLOSS PLOSS X_TLOSS HUGE MATH_ERRNO MATH_ERREXCEPT math_errhandling
    fpclassify iscanonical iseqsig isfinite isinf isnan isnormal issignaling issubnormal iszero signbit
    isgreater isgreaterequal isless islessequal islessgreater isunordered fmod copysign
"""
"""Keywords, and what the headers define as macros."""
MATH_NUMBERS = "1_PI 2_PI 2_SQRTPI E LN10 LN2 LOG10E LOG2E PI PI_2 PI_4 SQRT1_2 SQRT2"
"""Numbers that ``<math.h>`` defines unless it is held to C99: ``M_PI``, ``M_E``…"""
FLOATS = ["", "f", "l", "f32", "f64", "f128", "f32x", "f64x"]
"""The endings of names of functions and numbers, by C's types."""
LIBRARY = """
    acos acosh asin asinh atan atan2 atanh canonicalize cbrt ceil copysign cos cosh drem erf erfc exp exp10
    exp2 expm1 fabs fdim finite floor fma fmax fmaximum fmaximum_mag fmaximum_mag_num fmaximum_num fmaxmag
    fmin fminimum fminimum_mag fminimum_mag_num fminimum_num fminmag fmod frexp fromfp fromfpx gamma
    getpayload hypot ilogb isinf isnan j0 j1 jn ldexp lgamma llogb llrint llround log log10 log1p log2 logb
    lrint lround modf nan nearbyint nextafter nextdown nexttoward nextup pow pow10 remainder remquo rint
    round roundeven scalb scalbln scalbn setpayload setpayloadsig significand sin sincos sinh sqrt tan tanh
    tgamma totalorder totalordermag trunc ufromfp ufromfpx y0 y1 yn
"""
"""Functions of ``<math.h>``; ``BUILT_IN`` has others that compilers know without a header.

A parameter may have one of these names, a function may not.
"""
BUILT_IN = """
    abort abs alloca calloc exit ffs free index labs lgamma_r lgammaf_r lgammal_r malloc memcpy memset
    printf putchar puts rindex signgam sprintf strcmp strlen fadd faddl daddl fsub fsubl dsubl fmul fmull
    dmull fdiv fdivl ddivl ffma ffmal dfmal fsqrt fsqrtl dsqrtl
"""
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
    layout=FunctionLayout(
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
    calls=functions_of_rows(
        "",
        "sqrt exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan atan2 sinh cosh tanh asinh "
        "acosh atanh cbrt hypot erf erfc pow abs=fabs floor ceil round=nearbyint trunc",
    ),
    constants={"inf": "INFINITY", "nan": "NAN"},
    reserved=frozenset(
        [*RESERVED.split(), *(f"M_{name}{end}" for name in MATH_NUMBERS.split() for end in FLOATS)]
    ),
    library=frozenset(
        [*BUILT_IN.split(), *(name + end for name in LIBRARY.split() for end in FLOATS)]
    ),
    about="C99; needs only <math.h> (link with -lm).",
    helpers=HELPERS,
    ascii=True,
)
