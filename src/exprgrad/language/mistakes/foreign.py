"""What other tools call what is done with tensors here, and what has no name of its own here."""

from __future__ import annotations

__all__ = ["ABSENT", "MODULES", "OTHER_SPELLINGS", "SETTINGS", "WRITTEN", "attribute_hint"]

SPELLINGS = {
    "amax": "max", "amin": "min", "average": "mean", "broadcast_to": "broadcast",
    "cat": "concat", "concatenate": "concat", "crossentropy": "cross_entropy", "expand": "broadcast",
    "ger": "outer", "inner": "dot", "log_sum_exp": "logsumexp", "mm": "matmul", "mv": "matmul",
    "one_hot": "onehot", "permute": "transpose", "product": "prod", "swapaxes": "transpose", "tr": "trace",
    "vdot": "dot", "vecdot": "dot", "view": "reshape",
}  # fmt: skip
"""A function of tensors of another tool → the one that does the same here."""
OTHER_SPELLINGS = SPELLINGS | {
    "arccos": "acos", "arccosh": "acosh", "arcosh": "acosh", "arcsin": "asin", "arcsinh": "asinh",
    "arsinh": "asinh", "arctan": "atan", "arctan2": "atan2", "arctanh": "atanh", "artanh": "atanh",
    "absolute": "abs", "ceiling": "ceil", "clip": "clamp", "expit": "sigmoid", "fabs": "abs",
    "fix": "trunc", "fmax": "max", "fmin": "min", "int": "trunc", "leakyrelu": "leaky_relu", "lg": "log10",
    "ln": "log", "log_expit": "logsigmoid", "log_sigmoid": "logsigmoid", "logistic": "sigmoid",
    "maximum": "max", "minimum": "min", "rint": "round", "sgn": "sign", "signum": "sign",
    "step": "heaviside",
    "swish": "silu", "tg": "tan", "truncate": "trunc", "unit_step": "heaviside",
}  # fmt: skip
"""The same for all functions."""
WRITTEN = {
    "arange": "[0, 1, 2]", "array": "[1, 2]", "asarray": "[1, 2]", "column_stack": "stack(x, y, axis=1)",
    "expand_dims": "reshape(x, [-1, 1])", "eye": "diag(broadcast(1, shape=[3]))",
    "flatten": "reshape(x, -1)", "full": "broadcast(2, [3, 4])", "gather": "x[0]",
    "hstack": "concat(x, y, axis=1), for vectors concat(x, y)",
    "identity": "diag(broadcast(1, shape=[3]))", "index": "x[0]",
    "linspace": "[0, 0.5, 1]", "log_softmax": "x - logsumexp(x, axis=-1, keepdims=True)",
    "mae": "mean(abs(x - y))", "mse": "mean((x - y)^2)", "mse_loss": "mean((x - y)^2)",
    "ones": "broadcast(1, [3, 4])", "ravel": "reshape(x, -1)",
    "row_stack": "concat(x, y), for vectors [x, y]", "slice": "x[1:3]", "squeeze": "x[0] or x[:, 0]",
    "std": "sqrt(mean((x - mean(x))^2))", "take": "x[0]", "tensor": "[1, 2]",
    "unsqueeze": "reshape(x, [-1, 1])", "var": "mean((x - mean(x))^2)",
    "vstack": "concat(x, y), for vectors [x, y]", "zeros": "broadcast(0, [3, 4])",
}  # fmt: skip
"""A function of another tool → how that is written here."""
ABSENT = {
    "argmax": "the place of the greatest has no derivative; max(x) is the greatest itself",
    "argmin": "the place of the least has no derivative; min(x) is the least itself",
    "bmm": "@ multiplies one pair of matrices at a time: write X[0] @ Y[0]",
    "det": "there are no determinants",
    "einsum": "write it with @, sum, outer, trace and x.T",
    "inv": "there is no matrix inverse; of a number it is 1/x",
    "len": "sizes are not part of a formula; mean(x) is the sum over the count",
    "solve": "there is no solver of linear systems",
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
    "F", "Math", "autograd", "cmath", "jax", "jnp", "linalg", "math", "nn", "np", "numpy", "scipy",
    "sp", "special", "tf", "torch",
})  # fmt: skip
"""What stands before the dot of a function that is not a method."""
SIZES = frozenset({"dtype", "ndim", "numel", "shape", "size"})
NOTHING = frozenset({
    "clone", "contiguous", "copy", "cpu", "detach", "double", "float", "item", "numpy", "tolist",
})  # fmt: skip
"""Methods that leave the numbers as they are."""


def attribute_hint(owner: str, word: str, *, called: bool, empty: bool) -> str | None:
    """Our spelling of ``x.shape`` or ``x.t()``; None for what nobody would write.

    ``owner`` is the text before the dot; ``empty`` tells of parentheses behind it that hold nothing.
    """
    if word in ("H", "mH", "mT") or (word in ("t", "transpose") and (empty or not called)):
        return f"the transpose is written {owner}.T"
    if word in SIZES:
        return "shapes are not part of a formula; 'exprgrad eval' shows every node's"
    if word in NOTHING and empty:
        return f"write {owner} alone: all is a tensor of doubles"
    if word in ("backward", "grad"):
        return "'exprgrad grad' gives the gradient; write the formula alone"
    return None
