"""NumPy: numbers and arrays of doubles."""

from __future__ import annotations

from exprgrad.language.code.arrays import elementwise, in_all_places, reshape, structural, taking
from exprgrad.language.code.target import Arrays, Form, Target, named
from exprgrad.language.code.targets.python import RESERVED, layout

__all__ = ["ABOUT", "FUNCTIONS", "NUMPY"]

FUNCTIONS = (
    "sqrt exp expm1 log log2 log10 log1p sin cos tan tanh asin=arcsin acos=arccos atan=arctan "
    "asinh=arcsinh acosh=arccosh atan2=arctan2 cbrt hypot mod pow=power abs sign floor ceil round trunc "
    "min=minimum max=maximum logaddexp"
)
"""Rows that NumPy and what follows it have, by their names there."""
ABOUT = "Inputs are numbers or arrays that broadcast; all that is returned has their common shape."

NUMPY = Target(
    name="numpy",
    title="NumPy",
    place=2,
    ending=".py",
    layout=layout("import numpy as np", '@np.errstate(all="ignore")\n', in_all_places("np", "any")),
    forms=elementwise("np", Form("np.where({0}, 1.0, 0.0)")),
    calls=named("np.", f"{FUNCTIONS} exp2 sinh cosh atanh=arctanh"),
    constants={"pi": "np.pi", "inf": "np.inf", "nan": "np.nan"},
    reserved=RESERVED,
    about=ABOUT,
    helpers={
        "input": taking("np.asarray(x, dtype=np.float64)[()]", "an array of doubles"),
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
    arrays=Arrays(
        spellings={**structural("np"), "reshape": reshape("np.reshape", number="[()]")},
        make="np.float64",
        broadcast="np.broadcast_to({text}, {shape})[()]",
        shapes="np.broadcast_shapes",
        literal="np.array({0})",
        range="np.arange({0}.0)",
        copy="np.copy({0})",
    ),
)
