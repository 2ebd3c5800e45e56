"""JavaScript: ES2015, in browsers and Node."""

from __future__ import annotations

import json

from exprgrad.graph.ops import BY_NAME
from exprgrad.language.code.target import (
    C_LIKE,
    COMPARISON,
    SUM,
    Form,
    FunctionLayout,
    Repeat,
    Target,
    operator_form,
)  # fmt: skip

__all__ = ["JAVASCRIPT"]

RESERVED = """
    abstract arguments async await boolean break byte case catch char class const continue debugger
    default delete do double else enum eval export extends false final finally float for function
    get goto if implements import in instanceof int interface let long native new null of package
    private protected public return set short static super switch synchronized this throw throws
    transient true try typeof undefined var void volatile while with yield Infinity NaN Math Number
"""
MATH = """
    abs acos acosh asin asinh atan atan2 atanh cbrt ceil clz32 cos cosh exp expm1 floor fround hypot imul
    log log10 log1p log2 max min pow random round sign sin sinh sqrt tan tanh trunc
"""
"""The functions of ES2015's ``Math``."""
HELPERS = {
    "mod": """/** The floor modulus, with the sign of y; NaN where y is 0. */
function F_mod(x, y) {
  const r = x % y;
  if (r === 0) return y < 0 ? -0 : 0;
  return (r < 0) !== (y < 0) ? r + y : r;
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


def object_key(name: str) -> str:
    """Write a name as the key of an object."""
    if name == "__proto__":
        return '["__proto__"]'
    return name if name.isascii() else json.dumps(name, ensure_ascii=False)


JAVASCRIPT = Target(
    name="javascript",
    title="JavaScript",
    place=4,
    ending=".js",
    layout=FunctionLayout(
        file="{comment}\n{head} {{\n{body}\n}}\n{helpers}",
        comment=("/**\n * ", " * ", "\n */"),
        head=("function {name}(", ")"),
        helper="/** {about} */\nfunction {name}({parameters}) {{\n{body}\n}}\n",
        gaps=("\n", ""),
        define="const {name} = {text};",
        answer="return {value};",
        result=("return {{value: {value}, gradient: {{", "{key}: {text}", "}}}};"),
        table=("{", "{key}: {text}", "}"),
        several=("return {", "{part}: {name}", "};"),
        returns="Returns {{value, gradient}}: {value}, and by name its derivatives with respect to {wrt}.",
        indent="  ",
        key=object_key,
        repeat=Repeat("let {name} = {text};", "while ({go}) {{", "{name} = {text};", "}}"),
    ),
    forms={
        **C_LIKE,
        "eq": operator_form(" === ", COMPARISON, SUM, SUM),
        "ne": operator_form(" !== ", COMPARISON, SUM, SUM),
        "flag": Form("Number({0})"),
    },
    calls={
        word: f"Math.{word}" for word in MATH.split() if word in BY_NAME.keys() - HELPERS.keys()
    },
    constants={"pi": "Math.PI", "inf": "Infinity", "nan": "NaN"},
    reserved=frozenset(RESERVED.split()),
    about="ES2015, for browsers and Node.  Inputs are numbers.",
    helpers=HELPERS,
    point=False,
)
