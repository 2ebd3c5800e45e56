"""What a word is here that other languages and libraries use, or that is misspelled.

Of foreign calls there is one table: a row says how a call is written here, by another name, as a form that
the call's operands fill, or that it is not here and what to do instead.  A call is never parsed: its
operands and settings are texts.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import islice

from exprgrad.errors import command_or_python
from exprgrad.graph.graph import INPUT, Graph
from exprgrad.graph.ops import BY_INFIX, BY_NAME, COMMON, FAMILIES, FUNCTIONS, IN_OTHER_WORDS, OPS
from exprgrad.graph.tensors import STRUCTURAL, WORDS
from exprgrad.source import bracket_depths, comma_parts

__all__ = [
    "ABSENT", "BY_COUNT", "DERIVATIVES", "FORMS", "FUNCTION_WORDS", "MODULES", "NAMES_HERE", "OVER_RANGES",
    "ROOTS", "SETTINGS", "arguments_at", "attribute_hint", "called_word", "closing_bracket",
    "constant_hint", "did_you_mean", "factor_text", "find_synonym", "guess_word", "has_room", "is_enclosed",
    "is_reserved", "known_word", "listing_command_hint", "nearest_word", "new_axis_hint", "norm_hint",
    "operation_meant", "owner_before", "probable_call", "spreadsheet_call", "suggest_function_spelling",
    "swap_hint", "translate_brackets", "translate_call", "value_hint", "without_parentheses",
]  # fmt: skip

FUNCTION_WORDS = frozenset(FUNCTIONS) | FAMILIES.keys() | IN_OTHER_WORDS.keys() | WORDS.keys()
"""Every word that is a function before parentheses."""
ENGLISH = frozenset(
    ("cost", "cosy", "expo", "logo", "sect", "sine", "sing", "sink", "tang", "tank")
)
"""Names that are words, and no function with its operand behind it."""
ELEMENTWISE = {word: op.name for op in OPS for word in op.foreign_names.split()}
NAMES_HERE = ELEMENTWISE | {
    word: row.word for row in STRUCTURAL.values() for word in row.foreign_names.split()
}
"""A function elsewhere → the one that does the same here."""
FORMS = {
    **{BY_INFIX[sign].name: f"{{x_term}} {sign} {{y_term}}" for sign in "+-"},
    **{BY_INFIX[sign].name: f"{{x_factor}}{sign}{{y_factor}}" for sign in "*/%^"},
    "adjugate": "cofactors({x}).T",
    **dict.fromkeys(("and", "logical_and"), "{both}"),
    "array": "{x_list}",
    **dict.fromkeys(
        ("binom", "choose", "comb", "combin", "nCr", "nchoosek", "ncr"), "binomial({x}, {y})"
    ),
    "asarray": "{x_list}",
    **{f"{word}d": f"{word}(rad({{x}}))" for word in ("cos", "cot", "csc", "sec", "sin", "tan")},
    **{f"{word}d": f"deg({word}({{x}}))" for word in ("acos", "asin", "atan")},
    "atan2d": "deg(atan2({x}, {y}))",
    "cdf": "for the standard normal distribution write normcdf({x})",
    "column_stack": "for vectors write stack({all}, axis=1)",
    "cov": "mean(({x_term} - mean({x}))*({y_term} - mean({y}))); that is the population's covariance",
    "cube": "{x_factor}^3",
    BY_INFIX[
        "/"
    ].name: "for a quotient write {x_factor}/{y_factor}, for its whole part floor({x_factor}/{y_factor})",
    "divide": "{x_factor}/{y_factor}",
    "dot": "{x_factor} @ {y_factor}",
    "erfcinv": "-norminv({x_factor}/2)/sqrt(2)",
    "eye": "diag(broadcast(1, shape=[{size}]))",
    "flatten": "reshape({x}, -1)",
    "fmod": "{x_term} - {y_factor}*trunc({x_factor}/{y_factor})",  # the sign of x, where % has that of y
    **{f"Bessel{kind}": f"bessel{kind.lower()}({{x}}, {{y_term}})" for kind in "IJKY"},
    **{f"{kind}v": f"bessel{kind}({{x}}, {{y_term}})" for kind in "ijky"},
    **{f"{kind}{n}": f"bessel{kind}({n}, {{x}})" for kind in "iky" for n in (0, 1)},
    **{
        f"{kind}{mark}{n}": f"bessel{kind.lower()}({n}, {{x}})"
        for kind in "IJKY"
        for mark in ("", "_")
        for n in range(10)
    },
    "exp10": "10^{x_factor}",
    **dict.fromkeys(("frac", "fract"), "{x_term} - floor({x})"),
    "full": "broadcast({fill}, shape=[{x_sizes}])",
    "ellipke": "elliptic_k({x})",
    **{
        letter: f"for the complete elliptic integral write {ours}({{x}}), for a product {letter}*({{x}})"
        for letter, ours in (("E", "elliptic_e"), ("K", "elliptic_k"))
    },
    "Eq": "{x_term} == {y_term}",
    "Ne": "{x_term} != {y_term}",
    "hstack": "for vectors write concat({all}), for matrices concat({all}, axis=1)",
    "identity": "diag(broadcast(1, shape=[{size}]))",
    **dict.fromkeys(("Float", "Integer"), "{x}"),
    **dict.fromkeys(("inversesqrt", "rsqrt"), "1/sqrt({x})"),
    "lchoose": "log(binomial({x}, {y}))",
    **dict.fromkeys(("lerp", "mix"), "{x_term} + ({y_term} - {x_factor})*{z_factor}"),
    **{f"log_{base}": f"log({{x}}, {base})" for base in "abn"},
    "log_softmax": "{x_term} - logsumexp({x}, axis={last}, keepdims=True)",
    "Li": "li({x}) - li(2)",
    "lstsq": "for full rank write solve({x_factor}.T @ {x_factor}, {x_factor}.T @ {y_factor})",
    "mae": "mean(abs({x_term} - {y_term}))",
    "matmul": "{x_factor} @ {y_factor}",
    "minus": "{x_term} - {y_term}",
    "bmm": "{x_factor} @ {y_factor}",
    "mm": "{x_factor} @ {y_factor}",
    "mse": "mean(({x_term} - {y_term})^2)",
    "mse_loss": "mean(({x_term} - {y_term})^2)",
    "multiply": "{x_factor}*{y_factor}",
    "N": "for the normal distribution write normcdf({x}), for a product N*({x})",
    "mv": "{x_factor} @ {y_factor}",
    **dict.fromkeys(("nthroot", "surd"), "{x_factor}^(1/{y_factor})"),
    **dict.fromkeys(("not", "logical_not"), "{x_term} == 0"),
    **dict.fromkeys(("or", "logical_or"), "max({either})"),
    "ones": "broadcast(1, shape=[{sizes}])",
    "ones_like": "0*{x_factor} + 1",
    "pinv": "for full rank write solve({x_factor}.T @ {x_factor}, {x_factor}.T)",
    "pdf": "for the standard normal distribution write normpdf({x})",
    **dict.fromkeys(
        ("PERMUT", "nPr", "perm", "permutations"), "factorial({x})/factorial({x_term} - {y_factor})"
    ),
    **dict.fromkeys(("phi", "φ"), "for the standard normal density write normpdf({x})"),
    **dict.fromkeys(("Phi", "Φ"), "for the standard normal distribution write normcdf({x})"),
    "plus": "{x_term} + {y_term}",
    "pow2": "2^{x_factor}",
    "power": "{x_factor}^{y_factor}",
    "Rational": "{x_factor}/{y_factor}",
    "S": "for SymPy's number write {x}, for a product S*({x})",
    "ravel": "reshape({x}, -1)",
    "rdivide": "{x_factor}/{y_factor}",
    **dict.fromkeys(("recip", "reciprocal"), "1/{x_factor}"),
    "rem": "{x_term} - {y_factor}*trunc({x_factor}/{y_factor})",
    **{f"reduce_{word}": f"{word}({{x}})" for word in ("max", "mean", "min", "prod", "sum")},
    "row_stack": "for vectors write [{all}], for matrices concat({all})",
    "sinc": "sinc(pi*{x_factor})",  # elsewhere the zeros are the whole numbers
    **{f"{word}pi": f"{word}(pi*{{x_factor}})" for word in ("cos", "sin", "tan")},
    **dict.fromkeys(
        ("sd", "stdev"), "for n numbers write sqrt(sum(({x_term} - mean({x}))^2)/(n - 1))"
    ),
    **dict.fromkeys(("inv_logit", "invlogit", "plogis", "sigm"), "sigmoid({x})"),
    "qlogis": "logit({x})",
    "sqr": "{x_factor}^2",
    "square": "{x_factor}^2",
    "sqrtpi": "sqrt(pi*{x_factor})",
    "std": "sqrt(mean(({x_term} - mean({x}{kept}))^2{axis})); that is the population's deviation, and "
    "PyTorch's divides by n - 1",
    "subtract": "{x_term} - {y_term}",
    "sumproduct": "sum({x_factor}*{y_factor})",
    "sumsq": "sum([{all}]^2)",
    "tensor": "{x_list}",
    "times": "{x_factor}*{y_factor}",
    "trigamma": "polygamma(1, {x})",
    "var": "mean(({x_term} - mean({x}{kept}))^2{axis}); that is the population's variance, and "
    "PyTorch's divides by n - 1",
    "vstack": "for vectors write [{all}], for matrices concat({all})",
    "W": "for Lambert's function write lambertw({x}), for a product W*({x})",
    "xlogx": "xlogy({x}, {x})",
    **{
        sign: f"for a {what} write {word}({{x}}), for a product {sign}*({{x}})"
        for sign, what, word in (("Σ", "sum", "sum"), ("Π", "product of all", "prod"))
    },
    "zeros": "broadcast(0, shape=[{sizes}])",
    "zeros_like": "0*{x_factor}",
}
"""A function elsewhere → what its call becomes that is no call of one here; ``form_slots`` fills it."""
EXAMPLES = {
    "arange": "[0, 1, 2]", "array": "[1, 2]", "asarray": "[1, 2]", "column_stack": "stack(x, y, axis=1)",
    **{op.name: f"x {op.infix} y" for op in COMMON if op.opposite},
    **{op.name: f"{op.prefix}x" for op in COMMON if op.prefix},
    "expand_dims": "reshape(x, [-1, 1])", "full": "broadcast(2, shape=[3, 4])", "gather": "x[0]",
    "hstack": "concat(x, y, axis=1), for vectors concat(x, y)", "index": "x[0]",
    "piecewise": "where(condition, x, y)", "row_stack": "concat(x, y), for vectors [x, y]",
    "slice": "x[1:3]", "squeeze": "x[0] or x[:, 0]", "take": "x[0]", "tensor": "[1, 2]",
    "unsqueeze": "reshape(x, [-1, 1])", "vstack": "concat(x, y), for vectors [x, y]",
}  # fmt: skip
"""A function elsewhere → how what it does is written here, where its operands are not told."""
DERIVATIVES = (
    "inside a formula a derivative is d(x^3, x), the second one d(x^3, x, 2); "
    "diff gives the formula's own"
)
ROOTS = "a root is root(x^2 - 2, x, 1), searched for from 1, or root(x^2 - 2, x, 0, 2), between two ends"
ABSENT = {
    "ATAN2": "a spreadsheet's ATAN2(x, y) is atan2(y, x) here",
    **dict.fromkeys(("Im", "Re", "arg", "conj", "conjugate", "im", "re"), "numbers are real"),
    **{
        f"{kind}_{order}": "a Bessel function's order is a whole number, as in besselj(0, x)"
        for kind in "IJKY"
        for order in ("n", "m", "k", "l", "nu", "ν", "alpha", "α")
    },
    **dict.fromkeys(
        ("hermite", "laguerre", "legendre"), "polynomials are written out, power by power"
    ),
    **dict.fromkeys(("jn", "yn"), "spherical Bessel functions are not here"),
    **dict.fromkeys(
        ("gammainc", "gammaincc", "igamma", "lowergamma", "uppergamma"),
        "there is no incomplete gamma function",
    ),
    **dict.fromkeys(("betainc", "btdtr"), "there is no incomplete beta function"),
    **dict.fromkeys(
        ("ellipeinc", "ellipf", "ellipkinc", "elliptic_f", "elliptic_pi", "ellippi"),
        "there are no incomplete elliptic integrals; the complete ones are elliptic_k and elliptic_e",
    ),
    **dict.fromkeys(
        ("Li2", "Li_2", "Li_s", "dilog", "polylog", "spence", "zeta"),
        "there are no zeta functions and polylogarithms",
    ),
    **dict.fromkeys(
        ("voigt", "voigt_profile", "wofz"),
        "there is no Voigt profile; near it is the pseudo-Voigt, "
        "f/pi*g/(x^2 + g^2) + (1 - f)*sqrt(log(2)/pi)/g*exp(-log(2)*x^2/g^2)",
    ),
    **dict.fromkeys(("interp", "interp1", "spline"), "formulas have no tables of data"),
    **dict.fromkeys(("expint", "expn"), "the exponential integrals here are E1(x) and Ei(x)"),
    "CDF": "that of the standard normal distribution is normcdf(x)",
    "PDF": "that of the standard normal distribution is normpdf(x)",
    "DiracDelta": "it is no function; heaviside(x) is its integral",
    "softmax_cross_entropy": "write cross_entropy of classes and logits; 'exprgrad ops' shows how",
    "argmax": "the place of the greatest has no derivative; max(x) is the greatest itself",
    "argmin": "the place of the least has no derivative; min(x) is the least itself",
    **dict.fromkeys(
        ("D", "Derivative", "Diff", "derivative", "diff", "grad", "gradient"), DERIVATIVES
    ),
    **dict.fromkeys(
        (
            "FindRoot",
            "brentq",
            "find_root",
            "findroot",
            "fsolve",
            "fzero",
            "newton",
            "nsolve",
            "uniroot",
        ),
        ROOTS,
    ),
    **dict.fromkeys(("double", "float"), "numbers are doubles: leave it out"),
    **dict.fromkeys(
        ("cholesky", "eig", "eigh", "eigvals", "eigvalsh", "lu", "qr", "svd"),
        "matrices are not factorized here: solve, inv, det and logdet take them whole",
    ),
    **dict.fromkeys(
        ("expm", "logm", "sqrtm"),
        "functions go element by element, and matrices have none of their own",
    ),
    **dict.fromkeys(
        ("Int", "Integral", "NIntegrate", "integral", "integrate", "quad"),
        "there are no integrals",
    ),
    **dict.fromkeys(
        ("Limit", "lim", "limit"), "there are no limits; beside a kink grad says both slopes"
    ),
    "einsum": "write it with @, sum, outer, trace and x.T",
    "lg": "lg is log10(x) to some and log2(x) to others: write the one that is meant",
    **dict.fromkeys(("rand", "randn", "random", "rnd"), "formulas have no random numbers"),
    "len": "sizes are not part of a formula; mean(x) is the sum over the count",
    "slogdet": "the second of what it gives is logdet(x), log|det(x)|",
    "tensordot": "write it with @, sum, outer, trace and x.T",
    "t": "the transpose is written x.T; for a product write t*(…)",
}
"""A function that is not here, and what to do."""
SETTINGS = {
    "axes": "axis", "depth": "classes", "dim": "axis", "dims": "axis", "keep_dims": "keepdims",
    "keepdim": "keepdims", "newshape": "shape", "num": "n", "num_classes": "classes", "perm": "axes",
    "size": "shape", "steps": "n",
}  # fmt: skip
"""A setting of another tool → ours."""
MODULES = frozenset({
    "F", "Math", "autograd", "cmath", "jax", "jnp", "linalg", "math", "nn", "norm", "np", "numpy",
    "scipy", "sp", "special", "stats", "sympy", "tf", "torch",
})  # fmt: skip
"""Owners of a function that is not a method: the word before its dot."""
TRANSPOSE = "the transpose is written {0}.T"
OF_MANY = TRANSPOSE + ", of a stack of matrices transpose({0}, axes=[0, 2, 1])"
SHAPES = "shapes are not part of a formula; {eval} shows every node's"
GRADIENT = "{grad} gives the gradient; write the formula alone"
DOUBLES = "write {0} alone: all is a tensor of doubles"
ATTRIBUTES = {
    "H": TRANSPOSE, "I": "the inverse is written inv({0})", "backward": GRADIENT, "dtype": SHAPES,
    "grad": GRADIENT, "mH": OF_MANY, "mT": OF_MANY, "ndim": SHAPES, "numel": SHAPES, "shape": SHAPES,
    "size": SHAPES,
}  # fmt: skip
"""Attribute elsewhere → how to write it here, given the text before the dot."""
METHODS = {
    "clone": DOUBLES, "contiguous": DOUBLES, "copy": DOUBLES, "cpu": DOUBLES, "detach": DOUBLES,
    "double": DOUBLES, "float": DOUBLES, "item": DOUBLES, "numpy": DOUBLES, "t": TRANSPOSE,
    "tolist": DOUBLES, "transpose": TRANSPOSE,
}  # fmt: skip
"""The same of methods that are called without operands."""


BRACKETED = {
    ("ArcTan", 2): "atan2({y}, {x})",
    ("CatalanNumber", 1): "catalan({x})",
    ("Clip", 1): "clamp({x}, -1, 1)",
    ("Clip", 2): "clamp({x}, {y_inside})",
    ("CubeRoot", 1): "cbrt({x})",
    ("D", 2): "d({x}, {y_inside})",
    ("Erf", 2): "erf2({x}, {y})",
    ("ExpIntegralE", 2): "E{x}({y})",
    ("HeavisideTheta", 1): "heaviside({x})",
    ("InverseErf", 1): "erfinv({x})",
    ("Log", 2): "log({y}, {x})",
    ("LogisticSigmoid", 1): "sigmoid({x})",
    ("PolyGamma", 1): "digamma({x})",
    ("Ramp", 1): "relu({x})",
    ("Sinc", 1): "sinc({x})",
    ("Total", 1): "sum({x})",
    ("Tr", 1): "trace({x})",
    ("UnitStep", 1): "{x_term} >= 0",
}
"""A call of Mathematica by its word and the count of its operands, where another name is not all."""
BY_COUNT = {
    ("C", 2): "binomial({x}, {y})",
    ("B", 2): "beta({x}, {y})",
    ("Β", 2): "beta({x}, {y})",  # the Greek capital
    ("LOG", 1): "log10({x})",
    ("LOG", 2): "log({x}, {y})",
    **dict.fromkeys(
        [(word, 2) for word in ("atan", *BY_NAME["atan"].spellings.split())],
        "the angle of the point (x, y) is atan2(y, x)",
    ),
    **dict.fromkeys([("expand", 1), ("factor", 1), ("simplify", 1)], "{x}"),
    **dict.fromkeys([("Psi", 2), ("psi", 2), ("ψ", 2)], "polygamma({x}, {y})"),
    **dict.fromkeys(
        [("NORMDIST", 4), ("normdist", 4)],
        "for TRUE write normcdf(({x_term} - {y_factor})/{z_factor}), "
        "for FALSE normpdf(({x_term} - {y_factor})/{z_factor})/{z_factor}",
    ),
    ("elu", 2): "where({x_factor} > 0, {x_factor}, {y_factor}*expm1({x_factor}))",
    **dict.fromkeys(
        [("ellipe", 2), ("elliptic_e", 2), ("ellipk", 2), ("elliptic_k", 2), ("ellint_2", 2)],
        ABSENT["elliptic_f"],
    ),
    ("gamma", 2): ABSENT["gammainc"],
    ("expint", 1): "E1({x})",
    ("heaviside", 2): "where({x_factor} == 0, {y_factor}, {x_factor} > 0)",
    ("leaky_relu", 2): "where({x_factor} > 0, {x_factor}, {y_factor}*{x_factor})",
    **dict.fromkeys(
        [("cdf", 3), ("normcdf", 3), ("normalcdf", 3), ("pnorm", 3), ("NORM.DIST TRUE", 3)],
        "normcdf(({x_term} - {y_factor})/{z_factor})",
    ),
    **dict.fromkeys(
        [("pdf", 3), ("normpdf", 3), ("normalpdf", 3), ("dnorm", 3), ("NORM.DIST FALSE", 3)],
        "normpdf(({x_term} - {y_factor})/{z_factor})/{z_factor}",
    ),
    **dict.fromkeys(
        [("ppf", 3), ("qnorm", 3), ("NORM.INV", 3)], "{y_term} + {z_factor}*norminv({x})"
    ),
    **{
        (f"{word}{kind}", 2): f"bessel{kind.lower()}({{y}}, {{x}})"
        for kind in "JYIK"
        for word in ("bessel", "BESSEL")
    },
    ("Rational", 1): "{x}",
    ("dnorm", 1): "normpdf({x})",
    ("NORM.S.DIST FALSE", 1): "normpdf({x})",
    ("NORM.S.DIST TRUE", 1): "normcdf({x})",
    ("NORM.S.INV", 1): "norminv({x})",
    ("ERF.PRECISE", 1): "erf({x})",
    ("ERFC.PRECISE", 1): "erfc({x})",
    ("GAMMALN.PRECISE", 1): "lgamma({x})",
    ("piecewise", 3): "where({all})",
    **dict.fromkeys(
        [("ROUND", 2), ("round", 2)], "round({x_factor}*10^{y_factor})/10^{y_factor}"
    ),  # to digits
    ("psigamma", 2): "polygamma({y}, {x})",
    **dict.fromkeys([("Gamma", 2), ("Γ", 2)], "there is no incomplete gamma function"),
    (
        "dbinom",
        3,
    ): "binomial({y}, {x})*{z_factor}^{x_factor}*(1 - {z_factor})^({y_term} - {x_factor})",
    ("dexp", 2): "{y_factor}*exp(-{y_factor}*{x_factor})",
    ("dpois", 2): "exp(-{y_factor})*{y_factor}^{x_factor}/factorial({x})",
    **dict.fromkeys(
        [("gauss", 3), ("gaussian", 3)],
        "for a density write normpdf(({x_term} - {y_factor})/{z_factor})/{z_factor}, "
        "for the height 1 exp(-(({x_term} - {y_factor})/{z_factor})^2/2)",
    ),
    **dict.fromkeys(
        [("lorentz", 3), ("lorentzian", 3)],
        "for a density write {z_factor}/pi/(({x_term} - {y_factor})^2 + {z_factor}^2), "
        "for the height 1 1/(1 + (({x_term} - {y_factor})/{z_factor})^2)",
    ),
    ("FV", 3): "-{z_factor}*((1 + {x_factor})^{y_factor} - 1)/{x_factor}",
    ("PMT", 3): "-{z_factor}*{x_factor}/(1 - (1 + {x_factor})^(-{y_factor}))",
    ("PV", 3): "-{z_factor}*(1 - (1 + {x_factor})^(-{y_factor}))/{x_factor}",
}
"""A call elsewhere by its word and how many operands and settings it has → how it is written here.

A spreadsheet's word has the TRUE or FALSE that says whether it accumulates.
"""
OVER_RANGES = {
    **dict.fromkeys(("Sum", "sum", "summation", "Σ", "∑", "add"), "sum({})"),
    **dict.fromkeys(("Product", "product", "prod", "Π", "∏", "mul"), "prod({})"),
    **dict.fromkeys(("Table", "seq"), "[{}]"),
}
"""What Mathematica, SymPy and Maple count with an index → how it is written here."""


# The texts of a call.

LONGEST_CALL = 80
"""The longest parentheses that are read, in characters."""
Arguments = tuple[list[str], dict[str, str]]
"""The texts of a call's operands, and of its settings by name."""
WHOLE_NUMBER = re.compile(r"[+-]?[0-9]+")


def arguments_at(text: str, start: int) -> Arguments | None:
    """The contents of the parentheses at an offset; None if there are none, or too long ones."""
    end = closing_bracket(text[start : start + LONGEST_CALL])
    if end is None or text[start] != "(":
        return None
    operands, settings = [], {}
    for part in part_texts(text[start + 1 : start + end]):
        keyword = re.match(r"([^\W\d]\w*)\s*=(?!=)\s*", part)
        if keyword:
            settings[keyword[1]] = part[keyword.end() :]
        else:
            operands.append(part)
    return operands, settings


def closing_bracket(text: str) -> int | None:
    """Where the bracket is closed that a text begins with; None if it begins with none, or never is."""
    if text[:1] not in ("(", "["):
        return None
    return next((at for at, depth in enumerate(bracket_depths(text)) if at and not depth), None)


def part_texts(inside: str) -> list[str]:
    """The parts between commas, blanks folded."""
    found = [" ".join(inside[start:end].split()) for start, end in comma_parts(inside)]
    return [part for part in found if part]


def elements_of_list(text: str) -> list[str] | None:
    """What ``[a, b]`` or ``(a, b)`` lists; None for anything else."""
    if not is_enclosed(text) or (text[0] == "(" and "," not in text):
        return None
    return part_texts(text[1:-1])


def is_enclosed(text: str) -> bool:
    """Tell whether one pair of brackets holds all of a text."""
    return closing_bracket(text) == len(text) - 1


def owner_before(text: str, end: int) -> str:
    """The operand before a dot: ``X``, ``X.T``, ``f(x)[0]``, ``(a + b)``; "" if there is none."""
    least = max(end - LONGEST_CALL, 0)
    seen = text[least:end]
    deep, at = bracket_depths(seen), len(seen)
    while at:
        if seen[at - 1] in ")]":
            at = next((i for i in range(at - 2, -1, -1) if deep[i] <= deep[at - 1]), -1)
            if at < 0 or seen[at] not in "([":
                return "(…)"
            if at and (seen[at - 1].isidentifier() or seen[at - 1] in "0123456789)]"):
                continue
            break
        while at and ("_" + seen[at - 1]).isidentifier():
            at -= 1
        if not at or seen[at - 1] != "." or seen[at : at + 1] != "T":
            break
        at -= 1
    owner = " ".join(seen[at:].split())
    return "" if owner[:1].isdigit() else owner


def factor_text(text: str) -> str:
    """An operand before ``.T``, ``@`` or ``^``: in parentheses if an operator would tear it apart."""
    called = re.match(r"\w+(?:\.T)?(?=[(\[])", text)
    whole = re.fullmatch(r"[\w.]+|…", text) or is_enclosed(text[called.end() :] if called else text)
    return text if whole else f"({text})"


def term_text(text: str) -> str:
    """An operand of a sum or a difference."""
    return factor_text(text) if re.search(r"[+\-<>=]", text) else text


def without_parentheses(text: str) -> str:
    """An operand of a function, without parentheses of its own."""
    return text[1:-1] if text[:1] == "(" and is_enclosed(text) and "," not in text else text


def square_brackets(text: str) -> str:
    """A setting: a tuple as a list."""
    listed = elements_of_list(text)
    return text if listed is None else f"[{', '.join(listed)}]"


def whole_numbers(texts: Sequence[str]) -> list[str] | None:
    """Sizes or axes, as in ``2, 3`` or ``(2, 3)``; None if something else is among them."""
    listed = [
        part for text in texts for part in elements_of_list(text) or [without_parentheses(text)]
    ]
    return listed if listed and all(map(WHOLE_NUMBER.fullmatch, listed)) else None


# How a call is written here.


def translate_call(word: str, operands: Sequence[str], settings: Mapping[str, str]) -> str | None:
    """How a foreign call is written here, or what to do instead; None if the table does not know it.

    The operands of a method begin with what it belongs to.
    """
    if not operands:
        return None
    if word == "int" and operands[1:]:
        return ABSENT["integral"]
    if ABSENT.get(word) == DERIVATIVES and (derivative := derivative_call(operands)):
        return f"write {derivative}"
    listed = [*operands, *settings.values()]
    if (word, len(listed)) in BY_COUNT:
        return fill_form(BY_COUNT[word, len(listed)], listed, {})
    if word in ABSENT:
        return ABSENT[word]
    name = NAMES_HERE.get(word, word)
    filled = {
        *re.findall(r"\{(\w)", FORMS.get(word, ""))
    }  # by operands x, y, z, or by all that there are
    if word in FORMS and (filled - {*"xyz"} or len(operands) <= max(len(filled), 1)):
        return fill_form(FORMS[word], operands, settings)
    if name in PECULIAR:
        return PECULIAR[name](operands, settings)
    if name not in FUNCTION_WORDS:
        return None
    row = WORDS.get(name)
    kind = row.parameters[0].kind if row is not None and row.parameters else ""
    operands, settings = list(operands), dict(settings)
    if kind == "axis" and len(operands) <= 2:
        given = elements_of_list(operands[0])
        if given is not None:
            settings = ({"axis": operands[1]} if len(operands) > 1 else {}) | settings
            operands = given
    elif word in ("swapaxes", "transpose") and len(operands) == 3:
        return swap_hint(operands[0], operands[1:])
    elif row is not None and len(row.parameters) == 1 and kind in ("order", "shape"):
        numbers = whole_numbers(operands[1:])
        if numbers:
            setting = "axes=" if kind == "order" else ""
            return (
                f"write {name}({without_parentheses(operands[0])}, {setting}[{', '.join(numbers)}])"
            )
        if kind == "shape" and "shape" not in {SETTINGS.get(key, key) for key in settings}:
            return None
    elif row is not None and row.along_axes and word not in ELEMENTWISE and len(operands) > 1:
        operands, settings = reduced_along(operands, settings)
    return f"write {call_text(name, operands, settings)}"


def fill_form(form: str, operands: Sequence[str], settings: Mapping[str, str]) -> str:
    """A form with operands in it, as help; a sentence is one by itself."""
    text = form.format_map(form_slots(operands, settings))
    return text if text.startswith(("for ", "the ", "there ")) else f"write {text}"


def translate_brackets(word: str, inside: str) -> str | None:
    """How ``word[inside]`` of Mathematica is written here; None where that is not certain."""
    operands = part_texts(inside.translate(LISTS))
    if word in OVER_RANGES:
        return sum_over_ranges(word, operands)
    if word == "Piecewise":
        return translate_piecewise(operands)
    form = BRACKETED.get((word, len(operands)))
    if form is not None:
        return form.format_map(form_slots(operands, {}))
    name = known_word(word)
    if name in FUNCTION_WORDS:
        return f"{name}({', '.join(operands)})" if operands else None
    hint = translate_call(word.lower(), operands, {}) or ""
    is_form = word.lower() in FORMS and hint.startswith("write ") and ";" not in hint
    return hint.removeprefix("write ") if is_form else None


DOTTED = re.compile(r"(?<!\w)[A-Z]{3,7}(?:\.[A-Z]{1,7}){1,2}(?=\()")


def spreadsheet_call(text: str, dot: int) -> tuple[int, int, str] | None:
    """The call with dots in its name that a dot belongs to: its place, and how it is written here."""
    name = next((m for m in DOTTED.finditer(text) if m.start() < dot < m.end()), None)
    given = name and arguments_at(text, name.end())
    if not (name and given and given[0]):
        return None
    operands, word = given[0], name[0]
    if operands[-1].upper() in ("TRUE", "FALSE"):
        word += f" {operands.pop().upper()}"
    form = BY_COUNT.get((word, len(operands)), "").format_map(form_slots(operands, {}))
    end = name.end() + (closing_bracket(text[name.end() :]) or 0) + 1
    return (name.start(), end, form) if form else None


ENDLESS = re.compile(r"\b(?:oo|[Ii]nf(?:inity)?)\b|∞")
"""A bound of what has no end."""
LISTS = str.maketrans("{}", "[]")


def sum_over_ranges(word: str, operands: Sequence[str]) -> str | None:
    """``Sum[x^k, {k, 1, 10}]``; a step becomes a factor of the index."""
    body, *ranges = operands or [""]
    clauses = ""
    for range_ in ranges:
        bounds = re.fullmatch(r"(\w+)\s*=\s*([^.]+?)\s*\.\.\s*([^.]+)", range_)
        index, *ends = bounds.groups() if bounds else elements_of_list(range_) or [""]
        if not index.isidentifier() or not 1 <= len(ends) <= 3 or ENDLESS.search(range_):
            return None
        low, high = ["1", *ends][:2] if len(ends) == 1 else ends[:2]
        if len(ends) == 3:
            if not all(map(WHOLE_NUMBER.fullmatch, ends)) or ends[2][:1] in "-0":
                return None
            start, step = int(low), int(ends[2])
            moved = f"({start} + {step}*{index})" if start else f"({step}*{index})"
            body = re.sub(rf"\b{index}\b", moved, body)
            low, high = "0", str((int(high) - start) // step)
        clauses += f" for {index} in {low}..{high}"
    return OVER_RANGES[word].format(body + clauses) if clauses else None


def translate_piecewise(operands: Sequence[str]) -> str | None:
    """``Piecewise[{{x, x > 0}, …}, y]``, where the rest is 0; ``Piecewise((x, x > 0), (y, True))``."""
    listed, otherwise = [*operands, "0"][:2] if operands else ("", "")
    cases = [elements_of_list(case) or [] for case in elements_of_list(listed) or []]
    if not all(cases):
        cases = [elements_of_list(case) or [] for case in operands]
        otherwise = cases.pop()[0] if cases[-1][1:] == ["True"] else "nan"
    if not cases or any(len(case) != 2 for case in cases):
        return None
    opened = "".join(f"where({condition}, {value}, " for value, condition in cases)
    return f"{opened}{otherwise}{')' * len(cases)}"


def known_word(name: str) -> str:
    """The function that a word names, also in other letter cases, as ``SQRT`` and ``ArcSin``; or ""."""
    lower = name.lower()
    if name in ("ATAN2", "LOG"):  # a spreadsheet's has its operands the other way, or is to base 10
        return ""
    return lower if lower in FUNCTION_WORDS else NAMES_HERE.get(name) or NAMES_HERE.get(lower, "")


def derivative_call(operands: Sequence[str]) -> str:
    """``diff(f, x)``, ``diff(f, x, x)`` and ``diff(f, x, 2)`` as we write them; "" for others."""
    if len(operands) < 2 or not operands[1].isidentifier():
        return ""
    body, name, *more = operands
    order = str(len(more) + 1) if set(more) <= {name} else more[0] if len(more) == 1 else ""
    after = f", {order}" if order != "1" else ""
    return f"d({without_parentheses(body)}, {name}{after})" if order.isdecimal() else ""


def form_slots(operands: Sequence[str], settings: Mapping[str, str]) -> dict[str, str]:
    """Texts for the slots of a form: operands as each slot takes them, and what the settings give."""
    x, y, z = [*operands, "…", "…", "…"][:3]
    axis = operands[1] if len(operands) > 1 else settings.get("axis", settings.get("dim", "None"))
    along_one = whole_numbers([axis]) is not None
    listed = elements_of_list(x) if len(operands) == 1 else None
    conditions = [
        each if re.search("[<>=≤≥≠]", each) else f"{term_text(each)} != 0" for each in operands
    ]
    return {
        "x": without_parentheses(x),
        "x_factor": factor_text(x),
        "x_term": term_text(x),
        "x_list": square_brackets(x),
        "x_sizes": ", ".join(whole_numbers([x]) or ["…"]),
        "y": without_parentheses(y),
        "y_inside": y[1:-1] if y[:1] == "[" and is_enclosed(y) else y,
        "y_factor": factor_text(y),
        "y_term": term_text(y),
        "z_factor": factor_text(z),
        "all": ", ".join(map(without_parentheses, listed or operands)),
        "both": "*".join(map(factor_text, conditions)),
        "either": ", ".join(map(without_parentheses, conditions)),
        "axis": f", axis={square_brackets(axis)}" if along_one else "",
        "kept": f", axis={square_brackets(axis)}, keepdims=True" if along_one else "",
        "last": square_brackets(axis) if along_one else "-1",
        "fill": without_parentheses(y if len(operands) > 1 else settings.get("fill_value", "1")),
        "size": x if WHOLE_NUMBER.fullmatch(x) else "…",
        "sizes": ", ".join(whole_numbers(operands) or ["…"]),
    }


def suggest_function_spelling(word: str) -> str | None:
    """How a foreign function is written where its operands are not told; None where another name does."""
    form = FORMS.get(word, "for ")
    if word in EXAMPLES or word in FUNCTION_WORDS or word in NAMES_HERE or form[:4] == "for ":
        return EXAMPLES.get(word)
    return form.format_map(form_slots(["x", "y"], {"axis": "None"})).partition(";")[0]


def call_text(word: str, operands: Sequence[str], settings: Mapping[str, str]) -> str:
    """A call as it is written here; settings that the operation lacks are left out."""
    known = [parameter.name for parameter in WORDS[word].parameters] if word in WORDS else []
    ours = {name if name in known else SETTINGS.get(name): settings[name] for name in settings}
    given = [
        square_brackets(text) if text[:1] == "(" else text
        for text in map(without_parentheses, operands)
    ]
    named = [f"{name}={square_brackets(ours[name])}" for name in known if name in ours]
    return f"{word}({', '.join([*given, *named])})"


def reduced_along(
    operands: Sequence[str], settings: Mapping[str, str]
) -> tuple[list[str], dict[str, str]]:
    """The operands and the settings of a reduction whose second operand is an axis."""
    first, second, *more = operands
    if whole_numbers([second]) is None and second != "None":
        return list(operands), dict(settings)
    found = {} if second == "None" else {"axis": without_parentheses(second)}
    if more and more[0].casefold() in ("true", "false"):
        found["keepdims"] = more[0]
    return [first], found | dict(settings)


def norm_hint(operands: Sequence[str], settings: Mapping[str, str]) -> str:
    """``norm(x, 1)``: the second operand of other tools is an order, and not an axis."""
    if len(operands) > 2 and whole_numbers(operands[2:3]):
        settings = {"axis": operands[2], **settings}
    order = operands[1] if len(operands) > 1 else settings.get("ord", settings.get("p"))
    if order is None or order in ("2", "None") or order[:1] in "'\"":
        note = "; of a matrix that is over all its numbers" if order == "2" else ""
        return f"write {call_text('norm', operands[:1], settings)}{note if 'axis' not in settings else ''}"
    x = without_parentheses(operands[0])
    other = f"the 1-norm of a vector is sum(abs({x}))"
    if order in ("inf", "np.inf", "torch.inf", "math.inf", "float('inf')"):
        other = f"the greatest of absolutes is max(abs({x}))"
    return f"norm({x}) is the 2-norm, of all numbers; {other}; an axis is given as axis=…"


def swap_hint(x: str, axes: Sequence[str]) -> str | None:
    """``transpose(X, 0, 1)``: a swap of two axes; a new order of all of them is written here."""
    if not all(map(WHOLE_NUMBER.fullmatch, axes)):
        return None
    one, other = sorted(map(int, axes))
    if (one, other) in ((0, 1), (-2, -1)):
        bare = without_parentheses(x)
        return f"the transpose of a matrix is {factor_text(x)}.T, or transpose({bare}, axes=[1, 0])"
    if one < 0 or one == other:
        return "its setting is the new order of all axes, such as axes=[0, 2, 1]"
    order = list(range(other + 1))
    order[one], order[other] = other, one
    return f"write transpose({without_parentheses(x)}, axes={order})"


def clamp_hint(operands: Sequence[str], settings: Mapping[str, str]) -> str:
    """``x.clip(0, 1)``, ``torch.clamp(x, min=0)``."""
    named = [settings.get(name, settings.get(f"a_{name}", "None")) for name in ("min", "max")]
    x, low, high = map(without_parentheses, [*operands[:3], *named[len(operands) - 1 :]][:3])
    if low == high == "None":
        return f"write clamp({x}, 0, 1)"
    ours = {low: f"min({x}, {high})", high: f"max({x}, {low})"}
    return f"write {ours.get('None', f'clamp({x}, {low}, {high})')}"


def new_axis_hint(x: str, *, first: bool) -> str:
    """``x[None]`` and ``x[:, None]``."""
    what, shape = ("row", "1, -1") if first else ("column", "-1, 1")
    return f"to make a {what} of a vector write reshape({x}, [{shape}])"


PECULIAR: dict[str, Callable[[Sequence[str], Mapping[str, str]], str]] = {
    "clamp": clamp_hint,
    "norm": norm_hint,
    **dict.fromkeys(
        ("expand_dims", "unsqueeze"),
        lambda operands, settings: new_axis_hint(
            without_parentheses(operands[0]),
            first=form_slots(operands, settings)["last"] in ("0", "-2"),
        ),
    ),
}
"""Calls whose operands mean something else elsewhere."""


def attribute_hint(owner: str, word: str, *, called: bool, empty: bool) -> str | None:
    """Our spelling of ``x.shape`` or ``x.t()``; None for an unlikely one.

    ``owner`` is the text before the dot; ``empty`` says that parentheses after it hold nothing.
    """
    form = ATTRIBUTES.get(word)
    if form is None and (empty or (not called and METHODS.get(word) == TRANSPOSE)):
        form = METHODS.get(word)
    if form is None:
        return None
    grad, eval = (
        command_or_python("'exprgrad grad'", "f.grad(…)"),
        command_or_python("'exprgrad eval'", "f.evaluate(…)"),
    )
    return form.format(owner, grad=grad, eval=eval)


# Words that are nearly right, or that other tools have on their command lines.

ELSEWHERE = {
    # Commands.
    "grad": "gradient backward backprop backpropagate backpropagation autograd autodiff ad nabla slope",
    "grad --trace": "trace steps explain",
    "grad --trust": "trust digits precision accuracy",
    "eval": "table evaluate value val calc calculate calculator compute run forward print bc",
    "diff": "derivative derivatives derive deriv differentiate symbolic formula d dx",
    "diff --to latex": "latex tex",
    "diff --steps": "worksheet byhand",
    "dot": "draw graph graphviz picture image svg png pdf diagram tree show view render visualize",
    "explore": "page html web browser interactive step debug learn teach tutorial demo gui",
    "explore --lesson": "lesson lessons example examples course",
    "descend": "train gd sgd descent gradient-descent",
    "minimize": "optimize optimise minimise minimum min fmin argmin",
    "solve": "root roots zero zeros fsolve",
    "fit": "curve-fit curvefit regress regression",
    "check": "verify test validate gradcheck numeric numerical finite-difference claim prove",
    "jac": "jacobian jacobi",
    "hess": "hessian",
    "jvp": "pushforward tangent directional",
    "vjp": "pullback cotangent",
    "code": "compile export codegen generate translate convert transpile c cpp python numpy js javascript",
    "ops": "list functions function funcs operations operators rules",
    # Options.
    "rate": "lr learning-rate step-size stepsize alpha eta gamma",
    "version": "v ver",
    "order": "n degree nth derivative",
    "max-steps": "steps n iterations iters iter epochs max-iter maxiter num-steps count",
    "wrt": "var vars variable variables by respect with-respect-to dx param params inputs",
    "tangent": "direction vector v seed",
    "tangent-at": "tangent",
    "descend-from": "descend start from path",
    "heatmap": "map heat",
    "cotangent": "weights vector v seed grad-output",
    "trace": "t v verbose visits",
    "all": "v verbose full everything no-limit",
    "to": "format lang language target type",
    "digits": "d precision prec decimals places round",
    "quiet": "silent short raw plain value",
    "output": "out save save-as write to-file outfile file",
    "h": "eps epsilon delta bump step",
    "of": "outputs",
    "by": "group groupby group-by",
    "delimiter": "sep separator",
    "value-only": "no-grad no-gradient forward",
    "file": "formula expr expression e input",
    "inputs": "data values params",
    "color": "colour",
    "open": "browser show view",
    "most": "top max limit",
    "shape": "shapes size sizes",
    "strict": "werror fail",
    # Values.
    "javascript": "js node nodejs ecmascript typescript ts es6",
    "python": "py python3",
    "numpy": "np",
    "c": "c99 cpp c++ clang gcc",
    "torch": "pytorch",
    "latex": "tex",
    "infix": "text plain string exprgrad",
    "never": "no none off false no-color no-colour",
    "always": "yes on true force",
    "set": "= assign overwrite replace",
    "add": "+= sum plus accumulate",
}  # fmt: skip
"""A word of the command line → what else people call it, which several may share."""


def nearest_word(word: str, candidates: Iterable[str], most: int = 40) -> str | None:
    """The candidate that a misspelled word most likely means, or None; at ``most`` so many slips away.

    Of those equally near, one with the same letters comes first, then the shortest.  Only so many
    candidates are compared that the answer comes at once.
    """
    word = word[:40]
    limit = min(max(len(word) // 3, 1), most)
    ranked = [
        (edit_distance(word.casefold(), c.casefold()), sorted(c) != sorted(word), len(c), c)
        for c in islice(candidates, 2_000)
        if abs(len(c) - len(word)) <= limit
    ]
    distance, *_, best = min(ranked, default=(len(word), ""))
    return best if distance <= limit and distance < len(word) else None


def find_synonym(word: str, candidates: Collection[str]) -> str | None:
    """The candidate that other tools call so, or that lacks nothing but its dashes; or None."""
    bare = word.lstrip("-")
    key, dashes = bare.casefold().replace("_", "-"), "--" if bare != word else ""
    for ours in [key, *(ours for ours, others in ELSEWHERE.items() if key in others.split())]:
        if dashes + ours.partition(" ")[0] in candidates:
            return dashes + ours
    return None


def guess_word(word: str, candidates: Collection[str]) -> str | None:
    """The candidate that a word most likely means: a synonym, the letter of that name, or the nearest."""
    called = (c for c in candidates if spell_letter(c) == spell_letter(word))
    return find_synonym(word, candidates) or next(called, None) or nearest_word(word, candidates)


def spell_letter(word: str) -> str:
    """``tau`` for ``τ``, and so for each Greek letter; any other word as it stands, in small letters."""
    name = unicodedata.name(word, "") if len(word) == 1 else ""
    script, _, letter = name.rpartition(" LETTER ")
    letter = letter.lower().replace("lamda", "lambda")
    return letter if script.startswith("GREEK") else word.casefold()


def did_you_mean(
    word: str, candidates: Collection[str], otherwise: str, *, also: bool = False
) -> str:
    """The candidate that was probably meant, as help; where there is none, or ``also``, another help."""
    known = guess_word(word, candidates)
    if known is None:
        return otherwise
    return f"did you mean '{known}'?{f' {otherwise}' if also else ''}"


def operation_meant(word: str, names: Iterable[str], what: str, operands: int = 0) -> str:
    """The operation that was probably meant, other tools' spellings included; or where all are listed.

    It has room for so many operands.
    """
    common, most = [op.name for op in COMMON if op.name in FUNCTIONS], int(len(word) > 2)
    foreign = NAMES_HERE if len(word) > 6 else ()  # exp10 is not exp1 misspelled
    known = None
    for listed in (common, [*names, *FUNCTIONS, *foreign]):
        fitting = [one for one in listed if has_room(one, operands)]
        known = known or nearest_word(word, fitting, most)
    return (
        f"did you mean '{NAMES_HERE.get(known, known)}'?" if known else listing_command_hint(what)
    )


def has_room(word: str, operands: int) -> bool:
    """Whether a function takes so many operands, if that is known of it."""
    row = BY_NAME.get(NAMES_HERE.get(word, word))
    return row is None or row.variadic or operands <= len(row.names) + bool(row.binary_expansion)


def listing_command_hint(what: str) -> str:
    """Where functions, or operations, are listed."""
    return (
        command_or_python("'exprgrad ops'", "[op.name for op in exprgrad.OPS]")
        + f" lists the {what}"
    )


def edit_distance(one: str, other: str) -> int:
    """How many insertions, deletions, replacements and swaps of neighbours turn one into the other.

    Optimal string alignment; see L. Boytsov, "Indexing methods for approximate dictionary searching"
    (ACM JEA 16, 2011), section 2.
    """
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        above_before, before, row = before, row, [i]
        for j, b in enumerate(other, 1):
            best = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                best = min(best, above_before[j - 2] + 1)
            row.append(best)
    return row[-1]


def value_hint(name: str) -> str | None:
    """What a name that reads as an input was probably meant to be."""
    if name in FUNCTION_WORDS or (name[:1].isupper() and name.lower() in FUNCTION_WORDS):
        return f"to call the function, write {name if name in FUNCTION_WORDS else name.lower()}(…)"
    called = probable_call(name)
    return NOT_INPUTS.get(name) or (f"to call the function, write {called}" if called else None)


def probable_call(name: str) -> str:
    """A name that reads as a function of one letter, as ``sinx`` and ``sin2x``, as a call; or ""."""
    if not name.isidentifier() or name in ENGLISH or known_word(name):
        return ""
    called = called_word(name, {*name[-1].strip("s0123456789_")})  # steps, gamma1 are names
    return called if "(" in called else ""


def is_reserved(word: str) -> bool:
    """Whether no formula may define a function of this name: rows newer than 0.1 give way."""
    return word in FUNCTION_WORDS and getattr(FUNCTIONS.get(word), "since", "0.1") == "0.1"


def called_word(word: str, inputs: Collection[str]) -> str:
    """``sin2x`` as a call and ``xy`` as a product, of inputs that have values; "" where it is neither."""
    for at in range(len(word) - 1, 1, -1):
        row, rest = FUNCTIONS.get(known_word(word[:at])), word[at:].lstrip("0123456789")
        number, operand = word[at : len(word) - len(rest)], as_product(rest, inputs)
        if row and operand and len(row.names) == 1 and not row.variadic:
            return f"{known_word(word[:at])}({f'{number}*' if number else ''}{operand})"
    return as_product(word, inputs)


def as_product(word: str, inputs: Collection[str]) -> str:
    """A word as the product of inputs whose names follow one another in it; "" where it is none."""
    found = {0: ""}
    for end in range(1, len(word) + 1):
        for start in [start for start in found if word[start:end] in inputs]:
            found[end] = f"{found[start]}*{word[start:end]}".lstrip("*")
    return found.get(len(word), "")


def constant_hint(graph: Graph, text: str, names: Collection[str]) -> str | None:
    """What names without a value were probably meant to be, ``e`` in its formula; or None."""
    ours = without_e(graph, text) if {"e", "E"} & set(names) else ""
    power = re.search(r"([^\W\d]\w{0,20})\s*(?:\^|\*\*)\s*T\b", text) if "T" in names else None
    hints = (
        f"the transpose is written {power[1]}.T" if power else "",
        f"there is no constant e: write {ours}" if ours else "",
        *map(value_hint, names),
    )
    return next(filter(None, hints), None)


def without_e(graph: Graph, text: str) -> str:
    """A text in which powers of e are calls of ``exp``; "" where that is not certain."""
    edits: list[tuple[int, int, str]] = []
    for user, operands in enumerate(graph.operands if len(text) <= LONGEST_CALL else ()):
        for place, operand in enumerate(operands):
            if graph.kinds[operand] != INPUT or graph.payloads[operand] not in ("e", "E"):
                continue
            (start, end), (first, last) = graph.occurrence(user, place), graph.span(user)
            if graph.kinds[user] == BY_INFIX["^"].name and not place:
                inside = graph.occurrence(user, 1)
                edits += [(first, inside[0], "exp("), (inside[1], last, ")")]
            else:
                edits.append((start, end, "exp(1)"))
    for start, end, ours in sorted(edits, reverse=True):
        text = text[:start] + ours + text[end:]
    return text if edits and not graph.calls else ""


NOT_INPUTS = {
    **dict.fromkeys("eE", "there is no constant e: exp(1), or exp(x) for e^x"),
    **dict.fromkeys("iI", "there is no imaginary unit: numbers are real"),
    **dict.fromkeys(("Pi", "PI", "M_PI", "Π"), "the constant is written pi"),
    **dict.fromkeys(("Inf", "infinity", "Infinity", "INF"), "infinity is written inf"),
    **dict.fromkeys(("tau", "τ"), "if you mean 2*pi, write 2*pi"),
}
"""What names look like that cannot be inputs, and what to say of them."""
