"""NumPy: numbers and arrays of doubles; also the spellings that libraries like it share.

A structural row without a spelling is lowered by its own ``formula`` and becomes a function: a new row
needs no change here.
"""

from __future__ import annotations

from exprgrad.graph.structural import normalize_axes, normalize_axis, shape_text
from exprgrad.graph.tensors import axis_ranges, index_text
from exprgrad.language.code.target import (
    AND,
    ARITHMETIC,
    ATOM,
    MATMUL,
    OR,
    SIGN,
    ArrayTarget,
    Form,
    Repeat,
    Spelling,
    Structure,
    Target,
    application_form,
    functions_of_rows,
    operator_form,
)  # fmt: skip
from exprgrad.language.code.targets.python import LIBRARY, RESERVED, python_layout

__all__ = [
    "ABOUT", "FUNCTIONS", "ITSELF", "NUMPY", "broadcast_spelling", "elementwise_forms", "operands_alone",
    "padded_spelling", "reduction_spelling", "structural_spellings", "take_input",
]  # fmt: skip

FUNCTIONS = (
    "sqrt exp expm1 log log2 log10 sin cos tan tanh asin=arcsin acos=arccos atan=arctan "
    "asinh=arcsinh acosh=arccosh atan2=arctan2 cbrt hypot mod pow=power abs sign floor ceil round trunc "
    "min=minimum max=maximum logaddexp"
)
"""The functions that NumPy and libraries like it share: a row, or ``row=name``."""
ABOUT = "Inputs are numbers or arrays that broadcast; all that is returned has their common shape."
ITSELF = Form("{0}", ATOM, (ATOM,))
"""The form of an operation that changes nothing."""
NAMES = functions_of_rows(
    "",
    "dot outer trace diag sum mean prod reduce_max=max reduce_min=min transpose reshape "
    "broadcast=broadcast_to concat=concatenate stack cumsum cumprod flip",
)
"""NumPy's names of structural rows."""


def take_input(array: str, about: str) -> str:
    """Write the function that takes an input of a program of tensors."""
    return f'''def F_input(x, shape):
    """x as {about}."""
    x = {array}
    if x.shape != shape:
        raise ValueError(f"an input has shape {{tuple(x.shape)}}, and the program is for {{shape}}")
    return x
'''


def elementwise_forms(library: str, flag: Form) -> dict[str, Form]:
    """Operators and conditions on arrays, number by number."""
    return {
        **ARITHMETIC,
        "where": application_form(f"{library}.where", 3),
        "and": operator_form(" & ", AND, ATOM, ATOM),
        "or": operator_form(" | ", OR, ATOM, ATOM),
        "not": Form("~{0}", SIGN, (ATOM,)),
        "flag": flag,
    }


def structural_spellings(
    library: str, others: str = "", *, axis: str = "axis", keep: str = "keepdims"
) -> dict[str, Spelling]:
    """NumPy's spellings of structural rows, for a library like it.

    ``others`` are functions with other names there; ``axis`` and ``keep`` are the names of settings.
    """
    names = {**NAMES, **functions_of_rows("", others)}
    function = {row: f"{library}.{name}" for row, name in names.items()}
    reductions = ("sum", "mean", "prod", "reduce_max", "reduce_min")
    return {
        "matmul": lambda o: Form("{0} @ {1}", MATMUL, (MATMUL, SIGN)),
        "index": lambda o: (
            Form(f"{{0}}[{', '.join(map(index_text, o.settings[0]))}]", ATOM, (ATOM,))
            if o.settings[0]
            else ITSELF
        ),
        "transpose": transpose_spelling(function["transpose"]),
        "reshape": reshape_spelling(function["reshape"]),
        "broadcast": broadcast_spelling(function["broadcast"], f"{library}.full({{shape}}, {{0}})"),
        "place": padded_spelling(f"{library}.pad", function["reshape"]),
        **{row: operands_alone(function[row]) for row in ("dot", "outer", "trace", "diag")},
        "det": operands_alone(f"{library}.linalg.det"),
        "logdet": lambda o: Form(f"{library}.linalg.slogdet({{0}})[1]"),
        **{row: reduction_spelling(function[row], axis, keep) for row in reductions},
        **{
            row: running_spelling(function[row], function["flip"], axis)
            for row in ("cumsum", "cumprod")
        },
        **{row: side_by_side(function[row], axis) for row in ("concat", "stack")},
    }


def operands_alone(function: str) -> Spelling:
    """The spelling of a function without settings."""
    return lambda o: application_form(function, len(o.operands))


def transpose_spelling(function: str) -> Spelling:
    """The spelling of a transpose: a matrix's ``.T``, or the axes in their new order."""

    def spelled(o: Structure) -> Form:
        rank = len(o.shape)
        axes = range(rank)[::-1] if o.settings[0] is None else [a % rank for a in o.settings[0]]
        order = tuple(axes)
        return (
            Form("{0}.T", ATOM, (ATOM,)) if order == (1, 0) else Form(f"{function}({{0}}, {order})")
        )

    return spelled


def reshape_spelling(function: str, *, number: str = "") -> Spelling:
    """The spelling of a reshape; ``number`` makes a number of an array without axes."""
    return lambda o: Form(f"{function}({{0}}, {o.shape}){shape_text(o.shape, '', number)}")


def broadcast_spelling(function: str, full: str) -> Spelling:
    """The spelling of a broadcast; ``full`` is that of a literal number, which fills a new tensor."""

    def spelled(o: Structure) -> Form:
        text = full if o.literal else f"{function}({{0}}, {{shape}})"
        return Form(text.replace("{shape}", str(o.shape)))

    return spelled


def reduction_spelling(function: str, axis: str, keep: str) -> Spelling:
    """The spelling of a reduction, which names its axes unless it takes all and keeps none."""

    def spelled(o: Structure) -> Form:
        axes, kept = normalize_axes(o.settings[0], o.operands[0]), bool(o.settings[1])
        whole = len(axes) == len(o.operands[0]) and not kept
        along = "" if whole else f", {axis}={axes[0] if len(axes) == 1 else axes}"
        text = f"{function}({{0}}{along}{f', {keep}=True' if kept else ''})"
        return Form(text) if axes else ITSELF

    return spelled


def running_spelling(function: str, flip: str, axis: str) -> Spelling:
    """The spelling of a running sum or product; one from the end flips its operand and its result."""

    def spelled(o: Structure) -> Form:
        at, reverse = normalize_axis(o.settings[0] or 0, o.shape), o.settings[1]
        text = f"{function}({{0}}, {axis}={at})"
        if reverse:
            text = f"{flip}({text.replace('{0}', f'{flip}({{0}}, ({at},))')}, ({at},))"
        return Form(text)

    return spelled


def side_by_side(function: str, axis: str) -> Spelling:
    """The spelling of a join of operands along an axis."""

    def spelled(o: Structure) -> Form:
        at, count = normalize_axis(o.settings[0], o.shape), len(o.operands)
        listed = application_form("", count).text if count > 1 else "({0},)"
        return Form(f"{function}({listed}{f', {axis}={at}' if at else ''})")

    return spelled


def padded_spelling(function: str, reshaping: str, *, flat: bool = False) -> Spelling:
    """The spelling of zeros around an operand; ``flat``: in one list, the last axis first."""

    def spelled(o: Structure) -> Form:
        shape, places = o.settings
        ends = axis_ranges(shape, places)
        if o.shape == o.operands[0]:
            return ITSELF
        full = tuple([stop - start for start, stop in ends])
        zeros = [(start, length - stop) for (start, stop), length in zip(ends, shape, strict=True)]
        listed = tuple([z for pair in zeros[::-1] for z in pair]) if flat else tuple(zeros)
        inner = "{0}" if full == o.operands[0] else f"{reshaping}({{0}}, {full})"
        return Form(f"{function}({inner}, {listed})")

    return spelled


ARRAY_REPEAT = Repeat(
    "{name} = np.broadcast_to({text}, {first}.shape)",
    "while np.any({go}):",
    "{name} = np.where({go}, {text}, {name})",
    before="{operands} = np.broadcast_arrays({operands})",
)
"""A loop over whole arrays, which ends once every element is done."""
NUMPY = Target(
    name="numpy",
    title="NumPy",
    place=2,
    ending=".py",
    layout=python_layout("import numpy as np", '@np.errstate(all="ignore")\n', ARRAY_REPEAT),
    forms=elementwise_forms("np", Form("np.where({0}, 1.0, 0.0)")),
    calls=functions_of_rows("np.", f"{FUNCTIONS} exp2 log1p sinh cosh atanh=arctanh"),
    constants={"pi": "np.pi", "inf": "np.inf", "nan": "np.nan"},
    reserved=RESERVED,
    library=LIBRARY,
    about=ABOUT,
    helpers={
        "input": take_input("np.asarray(x, dtype=np.float64)[()]", "an array of doubles"),
        "solve": '''def F_solve(a, y):
    """The solution of a @ out = y: nan for a singular matrix, where NumPy raises."""
    if y.ndim == 1:
        return F_solve(a, y[:, None])[..., 0]
    shape = np.broadcast_shapes(a.shape[:-2], y.shape[:-2])
    a, y = (np.broadcast_to(x, shape + x.shape[-2:]) for x in (a, y))
    try:
        return np.linalg.solve(a, y)
    except np.linalg.LinAlgError:
        return np.stack([*map(F_solve, a, y)]) if shape else np.full(y.shape, np.nan)
''',
    },
    arrays=ArrayTarget(
        spellings={
            **structural_spellings("np"),
            "reshape": reshape_spelling("np.reshape", number="[()]"),
        },
        make="np.float64",
        broadcast="np.broadcast_to({text}, {shape})[()]",
        shapes="np.broadcast_shapes",
        literal="np.array({0})",
        range="np.arange({0}.0)",
        copy="np.copy({0})",
    ),
)
