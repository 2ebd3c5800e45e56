"""Words that cannot be names in the targets, or that name something else there."""

from __future__ import annotations

import keyword

__all__ = ["C_LIBRARY", "JAVASCRIPT", "PYTHON", "C"]


def words(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


PYTHON = frozenset(keyword.kwlist) | {"abs", "float", "map", "round"}

C = words(
    """auto break case char const continue default do double else enum extern float for goto if inline int
    long register restrict return short signed sizeof static struct switch typedef union unsigned void
    volatile while _Bool _Complex _Imaginary bool true false complex imaginary I asm typeof linux unix
    NULL EOF errno assert main HUGE_VAL HUGE_VALF HUGE_VALL INFINITY NAN FP_INFINITE FP_NAN FP_NORMAL
    FP_SUBNORMAL FP_ZERO FP_ILOGB0 FP_ILOGBNAN MATH_ERRNO MATH_ERREXCEPT math_errhandling fpclassify
    isfinite isinf isnan isnormal signbit isgreater isgreaterequal isless islessequal islessgreater
    isunordered fmod copysign"""
)
"""Keywords, and what the headers define as macros."""

C_LIBRARY = words(
    """abort abs alloca calloc exit fdim ffs floorf fma fmax fmin free frexp gamma index ilogb j0 j1 jn labs
    ldexp lgamma llrint llround logb lrint lround malloc memcpy memset modf nan nextafter nexttoward pow10
    printf putchar puts remainder remquo rindex rint round scalb scalbln scalbn sincos significand
    sprintf strcmp strlen tgamma trunc y0 y1 yn acosf asinf atanf cosf expf logf powf sinf sqrtf tanf"""
)
"""Functions that compilers know of themselves: parameters may bear these names, a function may not."""

JAVASCRIPT = words(
    """abstract arguments async await boolean break byte case catch char class const continue debugger
    default delete do double else enum eval export extends false final finally float for function get goto
    if implements import in instanceof int interface let long native new null of package private protected
    public return set short static super switch synchronized this throw throws transient true try typeof
    undefined var void volatile while with yield Infinity NaN Math Number"""
)
