"""PyTorch: tensors of doubles, on the inputs' device."""

from __future__ import annotations

from exprgrad.graph.structural import normalize_axes
from exprgrad.language.code.target import (
    ATOM,
    LIKE,
    ArrayTarget,
    Form,
    Repeat,
    Structure,
    Target,
    functions_of_rows,
)
from exprgrad.language.code.targets.numpy import (
    ITSELF,
    broadcast_spelling,
    elementwise_forms,
    padded_spelling,
    structural_spellings,
    take_input,
)
from exprgrad.language.code.targets.python import LIBRARY, RESERVED, python_layout

__all__ = ["TORCH"]


def product_by_axes(o: Structure) -> Form:
    """The spelling of a product, which PyTorch takes along one axis at a time: the last first."""
    axes, kept = normalize_axes(o.settings[0], o.operands[0]), bool(o.settings[1])
    if len(axes) == len(o.operands[0]) and not kept:
        return Form("torch.prod({0})")
    if not axes:
        return ITSELF
    text = "{0}"
    for axis in reversed(axes):
        text = f"torch.prod({text}, dim={axis}{', keepdim=True' if kept else ''})"
    return Form(text)


REPEAT = Repeat(
    "{name} = torch.broadcast_to(torch.as_tensor({text}, dtype=torch.float64), {first}.shape)",
    "while torch.any({go} != 0.0):",
    "{name} = torch.where({go} != 0.0, {text}, {name})",
    before="{operands} = torch.broadcast_tensors("
    "*(torch.as_tensor(x, dtype=torch.float64) for x in ({operands})))",
)
"""A loop over whole tensors, which ends once every element is done."""

TORCH = Target(
    name="torch",
    title="PyTorch",
    place=6,
    ending=".py",
    layout=python_layout("import torch", repeat=REPEAT),
    forms=elementwise_forms("torch", Form("{0}.double()", ATOM, (ATOM,))),
    # torch.nn.functional.softplus is linear from 20 on, silu is 0 below -710, gelu below -9: lowered.
    calls={
        **functions_of_rows(
            "torch.",
            "sqrt exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan atan2 sinh cosh tanh "
            "asinh acosh atanh hypot erf erfc mod=remainder pow abs floor ceil round trunc min=minimum "
            "max=maximum xlogy logaddexp",
        ),
        **functions_of_rows("torch.nn.functional.", "elu selu logsigmoid"),
    },
    constants={"pi": "torch.pi", "inf": "torch.inf", "nan": "torch.nan"},
    reserved=RESERVED,
    library=LIBRARY,
    about="Inputs are numbers or tensors that broadcast; all that is returned is float64, of their shape.",
    helpers={
        "input": take_input(
            "torch.as_tensor(x, dtype=torch.float64).detach()",
            "a tensor of doubles, whose history autograd does not see",
        ),
        "tensor": '''def F_tensor(x):
    """x as a tensor of doubles."""
    return torch.as_tensor(x, dtype=torch.float64)
''',
        "solve": '''def F_solve(a, y):
    """The solution of a @ out = y: nan for a singular matrix, where torch.linalg.solve raises."""
    if y.ndim == 1:
        return F_solve(a, y[:, None])[..., 0]
    y = y.reshape((1,)*(a.ndim - y.ndim) + y.shape)  # else it may be a stack of vectors
    found, singular = torch.linalg.solve_ex(a, y)
    return torch.where((singular == 0)[..., None, None], found, torch.nan)
''',
        "sign": '''def F_sign(x):
    """-1, 0 or 1; nan for nan, where torch.sign gives 0."""
    return torch.where(x == x, torch.sign(x), x)
''',
    },
    arrays=ArrayTarget(
        spellings={
            **structural_spellings(
                "torch",
                "reduce_max=amax reduce_min=amin transpose=permute concat=cat",
                axis="dim",
                keep="keepdim",
            ),
            "prod": product_by_axes,
            "broadcast": broadcast_spelling(
                "torch.broadcast_to", f"{LIKE}.new_full({{shape}}, {{0}})"
            ),
            "place": padded_spelling("torch.nn.functional.pad", "torch.reshape", flat=True),
        },
        make="F_tensor",
        broadcast="torch.broadcast_to({text}, {shape})",
        shapes="torch.broadcast_shapes",
        literal=f"{LIKE}.new_tensor({{0}})",
        range=f"{LIKE}.new_tensor(range({{0}}))",
        copy="torch.clone({0})",
        number=f"{LIKE}.new_tensor({{0}})",
        about="All is float64, and nothing is recorded for autograd.",
        strict=True,
    ),
)
