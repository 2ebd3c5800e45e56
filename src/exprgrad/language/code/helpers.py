"""Helper functions of the targets, where a library's function would raise or differs from IEEE's.

``F_`` stands for the name of the program and an underscore.
"""

from __future__ import annotations

__all__ = ["JAVASCRIPT", "PYTHON", "TORCH", "C"]

OUTSIDE = {
    "sqrt": ("x >= 0.0", "math.nan"),
    "log": ("x > 0.0", "-math.inf if x == 0.0 else math.nan"),
    "log2": ("x > 0.0", "-math.inf if x == 0.0 else math.nan"),
    "log10": ("x > 0.0", "-math.inf if x == 0.0 else math.nan"),
    "log1p": ("x > -1.0", "-math.inf if x == -1.0 else math.nan"),
    "sin": ("math.isfinite(x)", "math.nan"),
    "cos": ("math.isfinite(x)", "math.nan"),
    "tan": ("math.isfinite(x)", "math.nan"),
    "asin": ("abs(x) <= 1.0", "math.nan"),
    "acos": ("abs(x) <= 1.0", "math.nan"),
    "acosh": ("x >= 1.0", "math.nan"),
    "atanh": ("abs(x) < 1.0", "x*math.inf if abs(x) == 1.0 else math.nan"),
}
"""Python's functions that raise outside their domain: the domain, and IEEE's answer elsewhere."""
OVERFLOWING = {
    "exp": "math.inf",
    "exp2": "math.inf",
    "expm1": "math.inf",
    "sinh": "math.copysign(math.inf, x)",
    "cosh": "math.inf",
}
"""Python's functions that raise where they overflow, and IEEE's answer there."""


def guarded(row: str, domain: str, other: str) -> str:
    """A function of Python's that has no domain errors."""
    return f'''def F_{row}(x):
    """math.{row}, with IEEE's answer outside its domain."""
    return math.{row}(x) if {domain} else {other}
'''


def overflowing(row: str, other: str) -> str:
    """A function of Python's that has no overflow errors."""
    return f'''def F_{row}(x):
    """math.{row}, infinite where it overflows."""
    try:
        return math.{row}(x)
    except OverflowError:
        return {other}
'''


def to_whole(row: str, function: str, about: str) -> str:
    """One of Python's roundings, for what is not finite too."""
    return f'''def F_{row}(x):
    """{about}."""
    return math.copysign({function}(x), x) if math.isfinite(x) else x
'''


PYTHON = {
    **{row: guarded(row, *texts) for row, texts in OUTSIDE.items()},
    **{row: overflowing(row, other) for row, other in OVERFLOWING.items()},
    "floor": to_whole("floor", "math.floor", "The greatest whole number not above x"),
    "ceil": to_whole("ceil", "math.ceil", "The least whole number not below x"),
    "round": to_whole("round", "round", "The nearest whole number; halves go to the even one"),
    "div": '''def F_div(x, y):
    """IEEE's x/y: infinite or nan where y is 0."""
    if y != 0.0:
        return x/y
    return math.nan if x == 0.0 or x != x else math.copysign(math.inf, x)*math.copysign(1.0, y)
''',
    "mod": '''def F_mod(x, y):
    """x % y, with the sign of y; nan where y is 0."""
    return x % y if y != 0.0 else math.nan
''',
    "pow": '''def F_pow(x, y):
    """IEEE's x to the power y."""
    try:
        return math.pow(x, y)
    except OverflowError:
        return -math.inf if x < 0.0 and y % 2.0 == 1.0 else math.inf
    except ValueError:
        if x != 0.0:
            return math.nan
        return math.copysign(math.inf, x) if y % 2.0 == 1.0 else math.inf
''',
    "sign": '''def F_sign(x):
    """-1, 0 or 1; nan for nan."""
    return math.copysign(1.0, x) if x != 0.0 and x == x else x
''',
    "max": '''def F_max(x, y):
    """The greater; nan if either is nan."""
    return x if x > y or x != x else y
''',
    "min": '''def F_min(x, y):
    """The lesser; nan if either is nan."""
    return x if x < y or x != x else y
''',
}

TORCH = {
    "tensor": '''def F_tensor(x):
    """x as a tensor of doubles."""
    return torch.as_tensor(x, dtype=torch.float64)
''',
    "sign": '''def F_sign(x):
    """-1, 0 or 1; nan for nan, where torch.sign gives 0."""
    return torch.where(x == x, torch.sign(x), x)
''',
}

C = {
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

JAVASCRIPT = {
    "mod": """/** The floor modulus, with the sign of y; NaN where y is 0. */
function F_mod(x, y) {
  const r = x % y;
  return r !== 0 && (r < 0) !== (y < 0) ? r + y : r;
}
""",
    "pow": """/** IEEE's x to the power y: unlike Math.pow, 1 for the bases 1, and -1 if y is infinite. */
function F_pow(x, y) {
  return x === 1 || (x === -1 && Math.abs(y) === Infinity) ? 1 : Math.pow(x, y);
}
""",
    "round": """/** The nearest whole number; halves go to the even one, unlike those of Math.round. */
function F_round(x) {
  const r = Math.round(x);
  return Math.abs(x - Math.trunc(x)) === 0.5 ? 2*Math.round(x/2) : r;
}
""",
}
