"""Python: floats and ``math``, whose errors become IEEE's answers."""

from __future__ import annotations

import keyword
import re

from exprgrad.graph.ops import BY_NAME, IN_MATH
from exprgrad.language.code.target import (
    AND,
    ARITHMETIC,
    ATOM,
    CHOICE,
    COMPARISON,
    OR,
    PRODUCT,
    SIGN,
    Form,
    FunctionLayout,
    Repeat,
    Target,
    operator_form,
)  # fmt: skip

__all__ = [
    "BARE",
    "CAREFUL",
    "IMPORTED",
    "LIBRARY",
    "PYTHON",
    "RESERVED",
    "SHARED",
    "python_layout",
]

REPEAT = Repeat("{name} = {text}", "while {go}:", "{name} = {text}")
RESERVED = frozenset(keyword.kwlist) | {"__debug__", "abs", "float", "map", "round"}
LIBRARY = frozenset(["OverflowError", "ValueError", "tuple"])
"""The names that helpers use: a parameter may have one of them, a function may not."""


def python_layout(imports: str, decorator: str = "", repeat: Repeat = REPEAT) -> FunctionLayout:
    """The layout of a function in Python."""
    return FunctionLayout(
        file=f"{imports}\n\n\n{decorator}{{head}}\n{{comment}}\n{{body}}\n{{helpers}}",
        comment=('    """', "    ", '\n    """'),
        head=("def {name}(", "):"),
        helper='def {name}({parameters}):\n    """{about}."""\n{body}\n',
        gaps=("\n\n", ""),
        define="{name} = {text}",
        answer="return {value}",
        result=("return {value}, (", "{text}", ")"),
        lone=",",
        table=("(", "{text}", ")"),
        several=("return ", "{name}", ""),
        returns="Returns {value} and the tuple of its derivatives with respect to {wrt}.",
        repeat=repeat,
    )


def rule_in_python(rule: str) -> str:
    """Write a short rule of the op table in Python."""
    text = re.sub("[0-9]+", r"\g<0>.0", rule.replace("abs(x) < inf", "math.isfinite(x)"))
    return re.sub(r"\binf\b", "math.inf", text)


OUTSIDE = {
    row: "".join(
        f"{rule_in_python(pole)} if {rule_in_python(where)} else "
        for where, pole in BY_NAME[row].poles
    )
    + "math.nan"
    for row in BY_NAME
    if row in IN_MATH and BY_NAME[row].domain and len(BY_NAME[row].names) == 1
}
"""A function that raises outside its domain → IEEE's answer there."""
OVERFLOWING = {
    "exp": "math.inf",
    "exp2": "math.inf",
    "expm1": "math.inf",
    "sinh": "math.copysign(math.inf, x)",
    "cosh": "math.inf",
}
"""A function that raises where it overflows → IEEE's answer there."""
ROUNDINGS = {
    "floor": ("math.floor", "The greatest whole number not above x"),
    "ceil": ("math.ceil", "The least whole number not below x"),
    "round": ("round", "The nearest whole number; halves go to the even one"),
}
"""A rounding → its function, which raises for infinity and nan and loses the sign of 0, and its title."""
HELPERS = {
    **{
        row: f'''def F_{row}(x):
    """math.{row}, with IEEE's answer outside its domain."""
    return math.{row}(x) if {rule_in_python(BY_NAME[row].domain)} else {other}
'''
        for row, other in OUTSIDE.items()
    },
    **{
        row: f'''def F_{row}(x):
    """math.{row}, infinite where it overflows."""
    try:
        return math.{row}(x)
    except OverflowError:
        return {other}
'''
        for row, other in OVERFLOWING.items()
    },
    **{
        row: f'''def F_{row}(x):
    """{about}."""
    return math.copysign({function}(x), x) if math.isfinite(x) else x
'''
        for row, (function, about) in ROUNDINGS.items()
    },
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
    if y == 2.0:
        return x*x
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
    "normpdf": '''def F_normpdf(x):
    """The normal density, by a number whose square is exact and what x is beyond it."""
    if not -39.0 < x < 39.0:
        return x*0.0 if x != x else 0.0
    high = 134217729.0*x
    high -= high - x
    rest = 0.5*(high - x)*(high + x)
    bell = math.exp(-0.5*high*high)
    return 0.3989422804014327*(bell + bell*(rest*(1.0 + rest*(0.5 + rest*0.16666666666666666))))
''',
    "normcdf": '''def F_normcdf(x):
    """The normal distribution, on the left corrected for the rounding of t."""
    t = -0.7071067811865476*x
    if not -39.0 < x < 0.0:
        return 0.5*math.erfc(t)
    high = 134217729.0*x
    high -= high - x
    gap = (high*0.7071067839860916 + t) + (high*-2.799544089368687e-09 + (x - high)*0.7071067811865476)
    return math.erfc(t)*(0.5 + t*gap)
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

PYTHON = Target(
    name="python",
    title="Python",
    place=1,
    ending=".py",
    layout=python_layout("import math"),
    forms={
        **ARITHMETIC,
        "where": Form("{1} if {0} else {2}", CHOICE, (OR, OR, CHOICE)),
        "and": operator_form(" and ", AND, AND, COMPARISON),
        "or": operator_form(" or ", OR, OR, AND),
        "not": Form("not {0}", AND, (ATOM,)),
        "flag": Form("float({0})"),
    },
    calls={
        "abs": "abs",
        **{row: f"math.{row}" for row in (*(IN_MATH - HELPERS.keys()), "erf", "erfc")},
    },
    constants={"pi": "math.pi", "inf": "math.inf", "nan": "math.nan"},
    reserved=RESERVED,
    library=LIBRARY,
    about="Python 3.11 or later.  Inputs are floats.  IEEE answers (inf, nan), never an exception.",
    helpers=HELPERS,
)

# The target that ``f.function()`` compiles: not for people, so without the user's names and comments.

SHARED = ("cbrt",)
"""The rows that call the sweep's own functions."""
CAREFUL = PYTHON._replace(
    layout=PYTHON.layout._replace(
        file="{head}\n{body}\n{helpers}", helper="def {name}({parameters}):\n{body}\n"
    ),
    calls={**PYTHON.calls, **{row: row for row in SHARED}},
    numbered=True,
)
"""Python with the sweep's numbers, bit for bit."""
INLINE = {
    "div": operator_form("/", PRODUCT, PRODUCT, SIGN),
    "mod": operator_form(" % ", PRODUCT, PRODUCT, SIGN),
    "pow": Form("({0}*{0} if {1} == 2.0 else math.pow({0}, {1}))", ATOM, (ATOM, ATOM)),
    "max": Form("({0} if {0} > {1} or {0} != {0} else {1})", ATOM, (ATOM, ATOM)),
    "min": Form("({0} if {0} < {1} or {0} != {0} else {1})", ATOM, (ATOM, ATOM)),
    **{
        row: Form(f"math.copysign({rounding[0]}({{0}}), {{0}})")
        for row, rounding in ROUNDINGS.items()
    },
}
IMPORTED = "f_"
"""What a function of ``math`` is called by in the bare text, which need not look it up in its module."""
BARE = CAREFUL._replace(
    forms={**PYTHON.forms, **INLINE},
    calls={
        **{row: text.replace("math.", IMPORTED) for row, text in CAREFUL.calls.items()},
        **{row: f"{IMPORTED}{row}" for row in (*OUTSIDE, *OVERFLOWING)},
    },
    helpers={row: HELPERS[row] for row in ("sign", "normpdf", "normcdf")},
)
"""The same without helpers: an exception is raised where IEEE's answer differs from that of ``math``."""
