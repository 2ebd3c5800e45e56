"""What to suggest: the spellings of other languages, characters that look like ours, near misses."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import islice

from exprgrad.errors import advice
from exprgrad.graph.ops import FUNCTIONS
from exprgrad.language.mistakes.foreign import (
    FUNCTION_WORDS,
    NAMES_HERE,
)

__all__ = [
    "COMPARED", "COMPOUNDS", "FORMULA_ALONE", "SPOKEN", "WHERE", "WORD_HINTS", "all_listed",
    "guess", "meant", "nearest", "operation_meant", "synonym", "value_hint",
]  # fmt: skip

WHERE = "a choice is where(condition, x, y)"
FORMULA_ALONE = "write the formula alone: its names are its inputs"
SPOKEN = {
    "minus": ("a difference", "-"),
    "mod": ("the modulus", "%"),
    "plus": ("a sum", "+"),
    "squared": ("a square", "^2"),
    "times": ("a product", "*"),
}
"""A word for an operator → what it makes, and the operator."""
WORD_HINTS = {
    "and": "for 'a and b' write a*b on comparisons: (x > 0)*(y > 0)",
    "or": "for 'a or b' write max(a, b) on comparisons: max(x > 0, y > 0)",
    "not": "for 'not a' write a == 0",
    "if": WHERE,
    "then": WHERE,
    "else": WHERE,
    "div": "the whole part of a quotient is floor(a/b)",
    "for": "an index is counted in sum(k^2 for k in 1..10), in a list, or behind x[k] = …",
    "lambda": FORMULA_ALONE,
    "def": FORMULA_ALONE,
    "return": FORMULA_ALONE,
    **{word: f"{what} is written {sign}" for word, (what, sign) in SPOKEN.items()},
}
COMPARED = {
    "<>": ("'not equal' is", "!="),
    "===": ("to compare, write", "=="),
    "!==": ("'not equal' is", "!="),
    "=<": ("'at most' is", "<="),
}
"""A comparison elsewhere → what to say of it, and ours."""
COMPOUNDS = {
    **{elsewhere: f"{what} {ours}" for elsewhere, (what, ours) in COMPARED.items()},
    "//": "the whole part of a quotient is floor(a/b)",
    "=>": "'at least' is >=; of a function write the formula alone: its names are its inputs",
    "->": FORMULA_ALONE,
}
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
    "descend": "train optimize optimise minimize minimise minimum min gd sgd descent gradient-descent fit",
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
    "steps": "n iterations iters iter epochs max-iter maxiter num-steps count",
    "wrt": "var vars variable variables by respect with-respect-to dx param params inputs",
    "tangent": "direction vector v seed",
    "cotangent": "weights vector v seed grad-output",
    "trace": "t v verbose visits",
    "all": "v verbose full everything no-limit",
    "to": "format lang language target type",
    "digits": "d precision prec decimals places round",
    "quiet": "silent short raw plain value",
    "output": "out save save-as write to-file outfile file",
    "h": "eps epsilon delta bump step",
    "of": "outputs",
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


def nearest(word: str, candidates: Iterable[str]) -> str | None:
    """The candidate that a misspelled word most likely means, or None.

    Of those equally near, one with the same letters comes first, then the shortest.  Only so many
    candidates are compared that the answer comes at once.
    """
    word = word[:40]
    limit = max(len(word) // 3, 1)
    ranked = [
        (edits(word.casefold(), c.casefold()), sorted(c) != sorted(word), len(c), c)
        for c in islice(candidates, 2_000)
        if abs(len(c) - len(word)) <= limit
    ]
    distance, *_, best = min(ranked, default=(len(word), ""))
    return best if distance <= limit and distance < len(word) else None


def synonym(word: str, candidates: Collection[str]) -> str | None:
    """The candidate that other tools call so, or that lacks nothing but its dashes; or None."""
    bare = word.lstrip("-")
    key, dashes = bare.casefold().replace("_", "-"), "--" if bare != word else ""
    for ours in [key, *(ours for ours, others in ELSEWHERE.items() if key in others.split())]:
        if dashes + ours.partition(" ")[0] in candidates:
            return dashes + ours
    return None


def guess(word: str, candidates: Collection[str]) -> str | None:
    """The candidate that a word most likely means: a synonym, or the nearest."""
    return synonym(word, candidates) or nearest(word, candidates)


def meant(word: str, candidates: Collection[str], otherwise: str, *, also: bool = False) -> str:
    """The candidate that was probably meant, as help; where there is none, or ``also``, another help."""
    known = guess(word, candidates)
    if known is None:
        return otherwise
    return f"did you mean '{known}'?{f' {otherwise}' if also else ''}"


def operation_meant(word: str, names: Iterable[str], what: str) -> str:
    """The operation that was probably meant, other tools' spellings included; or where all are listed."""
    known = nearest(word, dict.fromkeys([*names, *FUNCTIONS, *NAMES_HERE]))
    return f"did you mean '{NAMES_HERE.get(known, known)}'?" if known else all_listed(what)


def all_listed(what: str) -> str:
    """Where functions, or operations, are listed."""
    return advice("'exprgrad ops'", "[op.name for op in exprgrad.OPS]") + f" lists the {what}"


def edits(one: str, other: str) -> int:
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
    return VALUES.get(name)


VALUES = {
    "e": "there is no constant e: for a power of it write exp(x)",
    "E": "there is no constant E: for a power of e write exp(x)",
    **dict.fromkeys("iI", "there is no imaginary unit: numbers are real"),
    **dict.fromkeys(("Pi", "PI", "M_PI", "Π"), "the constant is written pi"),
    **dict.fromkeys(("Inf", "infinity", "Infinity", "INF"), "infinity is written inf"),
}
"""What names look like that cannot be inputs, and what to say of them."""
