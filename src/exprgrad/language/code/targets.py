"""The languages that programs are written in: a table of spellings each.

A row of the op table is spelled as a form (an operator), as a call of a library function, or as a call of a
helper, which is written out where it is used.  What a target does not spell is lowered to what it does
(``derive/lower/lower.py``), so a new row needs no change here.
"""

from __future__ import annotations

from exprgrad.language.code import helpers, reserved
from exprgrad.language.code.target import (
    AND,
    ATOM,
    CHOICE,
    COMPARISON,
    MATMUL,
    OR,
    PRODUCT,
    SIGN,
    SUM,
    Form,
    Layout,
    Target,
)  # fmt: skip

__all__ = ["TARGETS"]


def infix(symbol: str, level: int, left: int, right: int) -> Form:
    """An operator between its operands."""
    return Form(f"{{0}}{symbol}{{1}}", level, (left, right))


OPERATORS = {
    "add": infix(" + ", SUM, SUM, MATMUL),
    "sub": infix(" - ", SUM, SUM, MATMUL),
    "mul": infix("*", PRODUCT, PRODUCT, SIGN),
    "div": infix("/", PRODUCT, PRODUCT, SIGN),
    "neg": Form("-{0}", SIGN, (ATOM,)),
    "lt": infix(" < ", COMPARISON, SUM, SUM),
    "le": infix(" <= ", COMPARISON, SUM, SUM),
    "gt": infix(" > ", COMPARISON, SUM, SUM),
    "ge": infix(" >= ", COMPARISON, SUM, SUM),
    "eq": infix(" == ", COMPARISON, SUM, SUM),
    "ne": infix(" != ", COMPARISON, SUM, SUM),
}
C_LIKE = {
    **OPERATORS,
    "where": Form("{0} ? {1} : {2}", CHOICE, (OR, OR, CHOICE)),
    "and": infix(" && ", AND, AND, COMPARISON),
    "or": infix(" || ", OR, COMPARISON, COMPARISON),
    "not": Form("!{0}", SIGN, (ATOM,)),
}


def array_forms(where: str, flag: Form) -> dict[str, Form]:
    """Conditions on arrays, element by element."""
    return {
        **OPERATORS,
        "where": Form(where + "({0}, {1}, {2})", ATOM, (CHOICE, CHOICE, CHOICE)),
        "and": infix(" & ", AND, ATOM, ATOM),
        "or": infix(" | ", OR, ATOM, ATOM),
        "not": Form("~{0}", SIGN, (ATOM,)),
        "flag": flag,
    }


def functions(prefix: str, rows: str) -> dict[str, str]:
    """Rows whose functions bear their names, behind a prefix; ``row=name`` for others."""
    pairs = [row.partition("=") for row in rows.split()]
    return {row: prefix + (name or row) for row, _, name in pairs}


def python_layout(imports: str, decorator: str = "") -> Layout:
    """A function in Python."""
    return Layout(
        file=f"{imports}\n\n\n{decorator}{{head}}\n{{comment}}\n{{body}}\n{{helpers}}",
        comment=('    """', "    ", '\n    """'),
        head=("def {name}(", "):"),
        helper='def {name}({parameters}):\n    """{about}."""\n{body}\n',
        gaps=("\n\n", ""),
        define="{name} = {text}",
        answer="return {value}",
        result=("return {value}, (", "{text}", ")"),
        lone=",",
        returns="Returns {value} and the tuple of its derivatives with respect to {wrt}.",
    )


UNARY = "sqrt exp expm1 log log2 log10 log1p sin cos tan tanh"
ARCS = "asin=arcsin acos=arccos atan=arctan asinh=arcsinh acosh=arccosh atan2=arctan2"
ARRAYS = (
    f"{UNARY} {ARCS} cbrt hypot mod pow=power abs sign floor ceil round trunc min=minimum max=maximum "
    "logaddexp"
)

PYTHON = Target(
    name="python",
    title="Python",
    layout=python_layout("import math"),
    forms={
        **OPERATORS,
        "where": Form("{1} if {0} else {2}", CHOICE, (OR, OR, CHOICE)),
        "and": infix(" and ", AND, AND, COMPARISON),
        "or": infix(" or ", OR, OR, AND),
        "not": Form("not {0}", AND, (ATOM,)),
        "flag": Form("float({0})", ATOM, (CHOICE,)),
    },
    calls={"abs": "abs", **functions("math.", "tanh atan asinh hypot atan2 cbrt erf erfc")},
    constants={"pi": "math.pi", "tau": "math.tau", "inf": "math.inf", "nan": "math.nan"},
    reserved=reserved.PYTHON,
    about="Python 3.11 or later.  Inputs are floats.  IEEE answers (inf, nan), never an exception.",
    helpers=helpers.PYTHON,
)

NUMPY = Target(
    name="numpy",
    title="NumPy",
    layout=python_layout("import numpy as np", '@np.errstate(all="ignore")\n'),
    forms=array_forms("np.where", Form("np.where({0}, 1.0, 0.0)", ATOM, (CHOICE,))),
    calls=functions("np.", f"{ARRAYS} exp2 sinh cosh atanh=arctanh"),
    constants={"pi": "np.pi", "inf": "np.inf", "nan": "np.nan"},
    reserved=reserved.PYTHON,
    about="Inputs are numbers or arrays that broadcast; all that is returned has their common shape.",
    helpers={},
    array="np.float64",
    broadcast="np.broadcast_to({text}, {shape})[()]",
    shapes="np.broadcast_shapes",
)

JAX = Target(
    name="jax",
    title="JAX",
    layout=python_layout(
        "import jax\nimport jax.numpy as jnp\n\n"
        'jax.config.update("jax_enable_x64", True)  # doubles; else JAX has single precision'
    ),
    forms=array_forms("jnp.where", Form("jnp.where({0}, 1.0, 0.0)", ATOM, (CHOICE,))),
    # jnp.exp2 is off by up to 680 ulp, jnp.sinh and jnp.cosh by 500, jax.lax.erfc by 360, jnp.arctanh by
    # 60, jax.nn.gelu by 1,300, elu and selu by 3 and 4: lowered.
    calls={**functions("jnp.", ARRAYS), "erf": "jax.lax.erf", "xlogy": "jax.scipy.special.xlogy"},
    constants={"pi": "jnp.pi", "inf": "jnp.inf", "nan": "jnp.nan"},
    reserved=reserved.PYTHON,
    about="Inputs are numbers or arrays that broadcast; all that is returned has their common shape.",
    helpers={},
    array="jnp.float64",
    broadcast="jnp.broadcast_to({text}, {shape})",
    shapes="jnp.broadcast_shapes",
)

TORCH = Target(
    name="torch",
    title="PyTorch",
    layout=python_layout("import torch"),
    forms=array_forms("torch.where", Form("{0}.double()", ATOM, (ATOM,))),
    # torch.nn.functional.softplus is linear from 20 on, silu is 0 below -710, gelu below -9: lowered.
    calls={
        **functions(
            "torch.",
            f"{UNARY} exp2 asin acos atan asinh acosh atanh atan2 sinh cosh hypot erf erfc mod=remainder "
            "pow abs floor ceil round trunc min=minimum max=maximum xlogy logaddexp",
        ),
        **functions("torch.nn.functional.", "elu selu logsigmoid"),
    },
    constants={"pi": "torch.pi", "inf": "torch.inf", "nan": "torch.nan"},
    reserved=reserved.PYTHON,
    about="Inputs are numbers or tensors that broadcast; all that is returned is float64, of their shape.",
    helpers=helpers.TORCH,
    array="F_tensor",
    broadcast="torch.broadcast_to({text}, {shape})",
    shapes="torch.broadcast_shapes",
    strict=True,
)

C = Target(
    name="c",
    title="C99",
    layout=Layout(
        file="{comment}\n#include <math.h>\n\n{helpers}{head}\n{{\n{body}\n}}\n",
        comment=("/* ", "   ", " */"),
        head=("double {name}(", ")"),
        parameter="double {name}",
        extra="double {name}[{count}]",
        none="void",
        helper="/* {about} */\nstatic double {name}({parameters})\n{{\n{body}\n}}\n",
        gaps=("", "\n"),
        define="const double {name} = {text};",
        define_condition="const int {name} = {text};",
        unused="(void){name};",
        answer="return {value};",
        result=("", "{extra}[{index}] = {text};", "return {value};"),
        joined=False,
        returns="Returns {value}; stores its derivatives with respect to {wrt}, in {extra}.",
    ),
    forms={**C_LIKE, "flag": Form("(double){0}", SIGN, (ATOM,))},
    calls=functions(
        "",
        f"{UNARY} exp2 asin acos atan atan2 sinh cosh asinh acosh atanh cbrt hypot erf erfc pow "
        "abs=fabs floor ceil round=nearbyint trunc",
    ),
    constants={"inf": "INFINITY", "nan": "NAN"},
    reserved=reserved.C,
    library=reserved.C_LIBRARY,
    about="C99; needs only <math.h> (link with -lm).",
    helpers=helpers.C,
    ascii=True,
)

JAVASCRIPT = Target(
    name="javascript",
    title="JavaScript",
    layout=Layout(
        file="{comment}\n{head} {{\n{body}\n}}\n{helpers}",
        comment=("/**\n * ", " * ", "\n */"),
        head=("function {name}(", ")"),
        helper="/** {about} */\nfunction {name}({parameters}) {{\n{body}\n}}\n",
        gaps=("\n", ""),
        define="const {name} = {text};",
        answer="return {value};",
        result=("return {{value: {value}, gradient: {{", "{key}: {text}", "}}}};"),
        returns="Returns {{value, gradient}}: {value}, and by name its derivatives with respect to {wrt}.",
        indent="  ",
    ),
    forms={
        **C_LIKE,
        "eq": infix(" === ", COMPARISON, SUM, SUM),
        "ne": infix(" !== ", COMPARISON, SUM, SUM),
        "flag": Form("Number({0})", ATOM, (CHOICE,)),
    },
    calls=functions(
        "Math.",
        f"{UNARY} asin acos atan atan2 sinh cosh asinh acosh atanh cbrt hypot abs sign floor ceil trunc "
        "min max",
    ),
    constants={"pi": "Math.PI", "inf": "Infinity", "nan": "NaN"},
    reserved=reserved.JAVASCRIPT,
    about="ES2015, for browsers and Node.  Inputs are numbers.",
    helpers=helpers.JAVASCRIPT,
    point=False,
)

TARGETS = {target.name: target for target in (PYTHON, NUMPY, C, JAVASCRIPT, JAX, TORCH)}
