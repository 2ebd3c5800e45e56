"""What other tools call what is done with tensors here, and what has no name of its own here."""

from __future__ import annotations

import re

__all__ = ["ABSENT", "MODULES", "SETTINGS", "SPELLINGS", "WRITTEN", "attribute_hint"]

SPELLINGS = {
    "amax": "max", "amin": "min", "average": "mean", "bmm": "matmul", "broadcast_to": "broadcast",
    "cat": "concat", "concatenate": "concat", "crossentropy": "cross_entropy", "expand": "broadcast",
    "ger": "outer", "inner": "dot", "log_sum_exp": "logsumexp", "mm": "matmul", "mv": "matmul",
    "one_hot": "onehot", "permute": "transpose", "product": "prod", "swapaxes": "transpose", "tr": "trace",
    "vdot": "dot", "vecdot": "dot", "view": "reshape",
}  # fmt: skip
"""A function of another tool → the one that does the same here."""
WRITTEN = {
    "arange": "[0, 1, 2]", "array": "[1, 2]", "asarray": "[1, 2]", "column_stack": "stack(x, y, axis=1)",
    "expand_dims": "reshape(x, [3, 1])", "eye": "diag([1, 1])", "flatten": "reshape(x, -1)",
    "full": "broadcast(2, [3, 4])", "gather": "x[0]",
    "hstack": "concat(x, y, axis=1), of vectors concat(x, y)", "identity": "diag([1, 1])", "index": "x[0]",
    "linspace": "[0, 0.5, 1]", "log_softmax": "x - logsumexp(x, axis=-1, keepdims=True)",
    "mae": "mean(abs(x - y))", "mse": "mean((x - y)^2)", "mse_loss": "mean((x - y)^2)",
    "ones": "broadcast(1, [3, 4])", "ravel": "reshape(x, -1)",
    "row_stack": "concat(x, y), of vectors [x, y]", "slice": "x[1:3]", "squeeze": "x[0] or x[:, 0]",
    "std": "sqrt(mean((x - mean(x))^2))", "take": "x[0]", "tensor": "[1, 2]",
    "unsqueeze": "reshape(x, [3, 1])", "var": "mean((x - mean(x))^2)",
    "vstack": "concat(x, y), of vectors [x, y]", "zeros": "broadcast(0, [3, 4])",
}  # fmt: skip
"""A function of another tool → how that is written here."""
ABSENT = {
    "argmax": "the place of the greatest has no derivative; max(x) is the greatest itself",
    "argmin": "the place of the least has no derivative; min(x) is the least itself",
    "einsum": "write it with @, sum, outer, trace and x.T",
    "tensordot": "write it with @, sum, outer, trace and x.T",
    "t": "the transpose is written x.T; for a product write t*(…)",
}
"""A function that is not here, and what to do."""
SETTINGS = {
    "axes": "axis", "depth": "classes", "dim": "axis", "dims": "axis", "keep_dims": "keepdims",
    "keepdim": "keepdims", "newshape": "shape", "num_classes": "classes", "perm": "axes", "size": "shape",
}  # fmt: skip
"""A setting of another tool → ours."""
MODULES = frozenset({
    "F", "autograd", "cmath", "jax", "jnp", "linalg", "math", "nn", "np", "numpy", "scipy", "special",
    "sp", "tf", "torch",
})  # fmt: skip
"""What stands before the dot of a function that is not a method."""
SIZES = frozenset({"dtype", "ndim", "numel", "shape", "size"})
PRODUCTS = frozenset({"bmm", "dot", "matmul", "mm", "mv"})


def attribute_hint(
    owner: str, word: str, call: str | None, functions: frozenset[str]
) -> str | None:
    """Our spelling of ``x.sum()``, ``X.dot(W)``, ``x.shape``; None for what nobody would write.

    ``owner`` is the text before the dot, ``call`` the parentheses behind the word, if there are any.
    """
    name = SPELLINGS.get(word, word)
    inside = (call or "()")[1:-1].strip()
    if word == "mT" or (word in ("t", "transpose") and not inside):
        return f"the transpose is written {owner}.T"
    if word in SIZES:
        return "shapes are no part of a formula; 'exprgrad eval' shows every node's"
    if call is None:
        return None
    if word in PRODUCTS:
        return f"write {owner} @ {inside or '…'}"
    if word in WRITTEN:
        return f"here that is written {WRITTEN[word].replace('x', owner)}"
    if word in ABSENT:
        return ABSENT[word]
    if name not in functions:
        return None
    if name in ("reshape", "broadcast", "transpose") and re.fullmatch(
        r"-?\d+(?:\s*,\s*-?\d+)*", inside
    ):
        inside = f"axes=[{inside}]" if name == "transpose" else f"[{inside}]"
    operand = "…" if owner == "(…)" else owner
    return f"write {name}({operand}{', ' if inside else ''}{inside})"
