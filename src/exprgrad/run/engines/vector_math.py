"""The op table's primitives for many rows at a time: a line of vector code each, or a few.

A text is a list of steps, ``name = opcode operand…``, of which the last is the result; its operands are the
row's, ``x``, ``y`` and ``z``, names of steps before it, and numbers.  ``llvm_text.py`` writes the steps
in LLVM's language, and says what the opcodes are; an opcode may also be another text here.

An opcode ``library.row`` is a library's function.  ``LIBRARY`` are those of the C library that Python's
``math`` calls too.  They are called for each row on its own where answers must be the scalar engine's to
the bit, or where there is no vector library.

``exp`` and ``log`` are written out, so that no call interrupts the loop; libmvec's functions save no
registers, and branch at rare operands.  The argument is reduced as in P. T. P. Tang, Table-driven
implementation of the exponential function, ACM TOMS 15 (1989), 144-157, and of the logarithm, ACM TOMS 16
(1990), 378-400, but there is no table: one polynomial each, fitted for exprgrad in 60 digits to relative
errors of 4e-18 and 2e-18.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["EXACT", "FAST", "LIBRARY", "VECTOR_LIBRARY", "WRITTEN"]

LIBRARY = frozenset((
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cos", "cosh", "erf", "erfc", "exp",
    "exp2", "expm1", "log", "log10", "log1p", "log2", "pow", "sin", "sinh", "tan", "tanh",
))  # fmt: skip
"""Functions that Python's ``math`` takes from the C library as they are; its ``hypot`` is its own."""
VECTOR_LIBRARY = frozenset((
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "cbrt", "cos", "exp2", "hypot", "log10", "log2",
    "pow", "sin",
))  # fmt: skip
"""Functions that are taken from the vector library, where there is one; its tan is off by 4 ulp."""


def horner(coefficients: Sequence[float], name: str, result: str) -> str:
    """The steps of a polynomial, its coefficients from the lowest power up."""
    *rest, top = coefficients
    steps, last = [], repr(top)
    for coefficient in reversed(rest):
        steps.append(f"{result} = fma {last} {name} {coefficient!r}")
        last = result
    return "; ".join(steps)


SHIFT = 1.5 * 2.0**52
"""Added to a double that is not large, it leaves the nearest whole number in the last bits."""
ONE = 1023 << 52
"""The bits of 1.0: a whole number shifted by 52 is added to them for a power of 2."""
LN2, LN2_REST = 0.693147180559663, 2.8235290563031577e-13
"""The logarithm of 2 in two pieces; whole numbers up to 2^12 times the first are doubles."""

EXP_SERIES = (
    0.5000000000000013, 0.16666666666666696, 0.04166666666651531, 0.00833333333330913,
    0.0013888888947012287, 0.00019841269913407555, 2.480148996583031e-05, 2.7557219703200874e-06,
    2.7631267152391483e-07, 2.5116824547271418e-08,
)  # fmt: skip
LOG_SERIES = (
    0.6666666666666734, 0.39999999999414804, 0.28571428742329963, 0.22222198579833927, 0.1818356399856749,
    0.15314057745035803, 0.14795893415633726,
)  # fmt: skip

REDUCED = f"""
    high = gt x 710; below = select high 710 x; low = lt below -746; held = select low -746 below
    turned = fma held {1 / 0.6931471805599453!r} {SHIFT!r}; n = sub turned {SHIFT!r}
    more = fma n {-LN2!r} held; r = fma n {-LN2_REST!r} more; square = mul r r
    {horner(EXP_SERIES[::2], "square", "even")}
    {horner(EXP_SERIES[1::2], "square", "odd")}
    p = fma odd r even
    small = fma p square r
"""
"""``small`` is exp(r) - 1, where x = n*log(2) + r."""

EXP = f"{REDUCED}; value = add small 1; scale value n"
EXPM1 = f"""{REDUCED}
    minus = neg n; inverse = scale 1 minus; kept = sub 1 inverse
    scaled = add small kept; value = scale scaled n
    deep = lt n -60; least = select deep -1 value; copysign least x
"""
SCALE = f"""
    halved = fma y 0.5 {SHIFT!r}; half = sub halved {SHIFT!r}
    rest = sub y half; shifted = add rest {SHIFT!r}
    bits1 = bits halved; up1 = shl bits1 52; exponent1 = iadd up1 {ONE}; power1 = double exponent1
    bits2 = bits shifted; up2 = shl bits2 52; exponent2 = iadd up2 {ONE}; power2 = double exponent2
    most = mul x power1; mul most power2
"""
"""x*2^y for a whole number y up to 2000: in two steps, so that a subnormal result is rounded once."""

SQRT_HALF = 0x3FE6A09E667F3BCD
"""The bits of sqrt(1/2): the logarithm is that of a number from there to sqrt(2), and of a power of 2."""
LOG = f"""
    tiny = lt x {2.0**-1022!r}; larger = mul x {2.0**54!r}; normal = select tiny larger x
    all = bits normal; moved = iadd all {ONE - SQRT_HALF}; exponent = lshr moved 52
    whole = ior exponent {1075 << 52}; raised = double whole
    bias = select tiny {2.0**52 + 1077!r} {2.0**52 + 1023!r}; n = sub raised bias
    fraction = iand moved {(1 << 52) - 1}; bits = iadd fraction {SQRT_HALF}; m = double bits
    f = sub m 1; below = add m 1; s = div f below; z = mul s s
    {horner(LOG_SERIES, "z", "p")}
    series = mul z p; gap = sub f series; lost = mul s gap; minus = neg lost
    rest = fma n {LN2_REST!r} minus; sum = add f rest; value = fma n {LN2!r} sum
    above = gt x 0; finite = lt x inf; inside = and above finite
    negative = lt x 0; other = select negative nan x; zero = eq x 0; outside = select zero -inf other
    select inside value outside
"""
LOG1P = """
    u = add x 1; whole = log u
    large = gt x 1; over = sub u x; kept = sub 1 over; under = sub u 1; lost = sub x under
    c = select large kept lost
    q = div c u; sum = add whole q; value = copysign sum x
    above = gt u 0; finite = lt u inf; inside = and above finite; select inside value whole
"""

ARITHMETIC = {
    "add": "add x y", "sub": "sub x y", "mul": "mul x y", "div": "div x y", "neg": "neg x",
    "lt": "lt x y", "le": "le x y", "gt": "gt x y", "ge": "ge x y", "eq": "eq x y", "ne": "ne x y",
    "where": "select x y z", "mask": "ne x 0", "number": "select x 1 0", "and": "and x y", "or": "or x y",
    "not": "not x", "and-not": "no = not x; and no y", "or-not": "no = not x; or no y",
    "abs": "abs x", "sqrt": "sqrt x",
    "floor": "floor x", "ceil": "ceil x", "round": "round x", "trunc": "trunc x",
    "min": "less = lt y x; least = select less y x; bad = nan y y; select bad y least",
    "max": "more = gt y x; most = select more y x; bad = nan y y; select bad y most",
    "sign": "below = lt x 0; minus = select below -1 x; above = gt x 0; select above 1 minus",
    "mod": (
        "r = fmod x y; below = lt r 0; falling = lt y 0; apart = xor below falling; other = add r y; "
        "value = select apart other r; none = eq r 0; zero = copysign 0 y; select none zero value"
    ),
}  # fmt: skip
"""Rows whose answers are the scalar engine's to the bit, and the steps about masks (``truths.py``)."""
CBRT = (
    "root = library.cbrt x; square = mul root root; q = div x square; gap = sub root q; third = div gap 3; "
    "value = sub root third; size = abs root; some = gt size 0; finite = lt size inf; "
    "inside = and some finite; select inside value root"
)
"""The library's cube root, mended by one Newton step: see ``run/numbers/primitives.py``."""
WRITTEN = {"exp": EXP, "expm1": EXPM1, "log": LOG, "log1p": LOG1P}
"""Rows that are written out where the machine multiplies and adds in one step."""
EXACT = {**ARITHMETIC, "cbrt": CBRT}
"""With ``LIBRARY``, what the engine spells where it must match the scalar one to the bit."""
FAST = {**EXACT, **WRITTEN, "scale": SCALE}
"""With ``VECTOR_LIBRARY``, what it spells where 5 ulp will do; the rest is written out by its formula."""
