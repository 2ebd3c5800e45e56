"""What to suggest: the spellings of other languages, characters that look like ours, near misses."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable
from itertools import islice

from exprgrad.errors import advice
from exprgrad.graph.ops import BY_NAME, FUNCTIONS
from exprgrad.language.mistakes.foreign import (
    DERIVATIVES,
    FUNCTION_WORDS,
    MODULES,
    NAMES_HERE,
    arguments,
    attribute_hint,
    owner_before,
    second_hint,
    spelled_here,
    spreadsheet,
    translated,
)
from exprgrad.language.read.names import LOOK_ALIKES
from exprgrad.source import Span

__all__ = [
    "CHARACTERS", "COMPARED", "COMPOUNDS", "SPOKEN", "WORD_HINTS", "all_listed", "arity_hint",
    "character_hint", "guess", "meant", "nearest", "operation_meant", "synonym", "value_hint",
]  # fmt: skip

Hints = dict[str, str | Callable[[re.Match[str]], str]]
"""Patterns, and what to say where one fits; the first counts."""
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
CHARACTERS = {
    "•": "*", "∕": "/", "⁄": "/", "–": "-", "—": "-", "＋": "+", "－": "-", "＊": "*", "／": "/",
    "＾": "^", "（": "(", "）": ")", "，": ",", "；": ";", "＝": "=", "∞": "inf", "½": "(1/2)",
    "⅓": "(1/3)", "¼": "(1/4)", "¾": "(3/4)", "⊙": "*", "{": "(", "}": ")", "°": "*pi/180",
}  # fmt: skip
"""A character that is not part of the language → how it is written here."""
CHARACTER_HINTS = {
    **{character: f"write {ours}" for character, ours in CHARACTERS.items()},
    "&": WORD_HINTS["and"].replace("a and b", "a & b"),
    "!": "'not equal' is !=; the factorial of x is factorial(x)",
    "?": WHERE,
    **dict.fromkeys('"`“”', "write names and numbers without quotes"),
    **dict.fromkeys("'‘’", "write names and numbers without quotes"),
    "~": "where x is 0 or 1, write 1 - x; the negative is -x",
    "‖": "the norm is norm(x)",
    "⌊": "the whole part is floor(x)",
    "⌈": "the next whole number is ceil(x)",
    "±": "a formula has one value: write + or -",
    "∂": DERIVATIVES,
    "∫": "there are no integrals",
    "$": "write the formula without '$'",
    "∑": "a sum is sum(x), over an index sum(… for k in 1..10)",
    "∏": "a product of all is prod(x), over an index prod(… for k in 1..10)",
    **dict.fromkeys("↦→", FORMULA_ALONE),
    "∧": WORD_HINTS["and"].replace("a and b", "a ∧ b"),
    "∨": WORD_HINTS["or"].replace("a or b", "a ∨ b"),
    "¬": "where x is 0 or 1, write 1 - x",
    "∈": "sets are not part of the language",
    **dict.fromkeys("≈∝≡", "write an equality, name = formula"),
    "⊗": "the outer product is outer(x, y)",
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


def character_hint(text: str, span: Span) -> str | None:
    """Our spelling of what a foreign character begins, as far as one can guess."""
    character = text[span[0]]
    if character == ".":
        return dot_hint(text, span)
    begun = first_that_fits(BEGINNINGS, text, span[0])
    if character in LOOK_ALIKES:
        return f"it only looks like {LOOK_ALIKES[character]}"
    if begun or character in CHARACTER_HINTS:
        return begun or CHARACTER_HINTS[character]
    if unicodedata.digit(character, None) is not None:
        return f"digits are 0 to 9: write {unicodedata.digit(character)}"
    if "\udc80" <= character <= "\udcff":
        return "the text is not UTF-8 here"
    return (
        "names are letters, digits and _"
        if character.isprintable()
        else "it does not print: delete it"
    )


def first_that_fits(hints: Hints, text: str, start: int) -> str | None:
    """What a table says of the text from an offset on."""
    for pattern, help in hints.items():
        found = re.compile(pattern).match(text, start)
        if found:
            return help(found) if callable(help) else help.format(*found.groups())
    return None


def before(found: re.Match[str], pattern: str, room: int) -> str:
    """What stands before something, if a pattern fits it."""
    owner = re.search(
        rf"(?:{pattern})$", found.string[max(found.start() - room, 0) : found.start()]
    )
    return owner[0] if owner else ""


def root_hint(sign: re.Match[str]) -> str:
    """A cube root as a call."""
    return f"write cbrt({sign[1] or sign[2] or '…'})"


def transpose_hint(mark: re.Match[str]) -> str:
    """A transpose, rather than a derivative."""
    name = before(mark, r"\w{1,20}", 20) or "x"
    return f"the transpose is written {name}.T; a derivative has no sign of its own"


BEGINNINGS: Hints = {
    "[ᵀᵗ]": "the transpose is written .T, a power ^t",
    "[ⁱʲᵏᵐⁿᵖˣʸᶻ]": "a power is written ^",
    r"(?<![_^])\{[^{}]*,[^{}]*\}": "a list stands in square brackets: [1, 2]",
    r"[₀-₉]+": "a number below the line is written behind _",
    r"∛(?:\s*(?:(\w{1,20})|\(([^()]{1,20})\)))?": root_hint,
    "~=": "'not equal' is !=",
    r"(?<=[\w)\]])(?:'[(']|[′″])": "a derivative has no sign of its own; name a node, say, dx",
    r"(?<=[\w)\]])['’]": transpose_hint,
    r"\\[A-Za-z]{2,}": "this is LaTeX",
    r"\\\[([A-Z][a-z]+)\]": lambda letter: f"write {letter[1].lower()}",
    r"(?:(?<=[\w)\]])|(?<=[\w)\]] ))\\(?=\s*[\w(])": "the solution of A x = b is written solve(A, b)",
    r"\\": "a backslash means nothing here",
}
"""What begins with a foreign character, and the mend."""


def dot_hint(text: str, span: Span) -> str:
    """Our spelling of ``np.exp(x)`` or ``x.sum()``, or what a lone dot should be."""
    if text[span[0] : span[0] + 3] == "..." and re.search(r"\bin\b[^;()]*$", text[: span[0]]):
        return "a range has two dots: 1..10"
    if text[span[0] : span[0] + 3] == "...":
        return "there is no ellipsis: in an index write : for each axis"
    if (call := spreadsheet(text, span[0])) is not None:
        return f"write {call[2]}"
    owner = owner_before(text, span[0])
    after = re.match(r"((?:[^\W\d]\w*\.)*)([^\W\d]\w*)", text[span[1] : span[1] + 90])
    if not owner or not after:
        return "a number needs a digit beside its point"
    end = span[1] + after.end()
    word, called, given = after[2], text[end : end + 1] == "(", arguments(text, end)
    name, operands, settings = plain_name(word), *(given or (["…"], {}))
    row = BY_NAME.get(name)
    full = row is not None and not row.variadic and len(operands) == len(row.names)
    is_module = bool(after[1]) or owner in MODULES or (full and called)
    if not is_module:
        hint = attribute_hint(owner, word, called=called, empty=given == ([], {}))
        if hint is not None:
            return hint
    prefix = f"{owner}.{after[1]}"
    if called and owner != "Math":
        hint = translated(word, operands if is_module else [owner, *operands], settings)
        if hint is not None:
            only = is_module and hint == f"write {name}({', '.join(operands)})"
            return f"{hint}, without '{prefix}'" if only else hint
    if spelled_here(word):
        return f"here that is written {spelled_here(word)}"
    if name in FUNCTION_WORDS or name in ("pi", "tau", "inf", "nan"):
        listed = "" if prefix.endswith("nn.") else ", ".join(operands)  # nn.SiLU() makes a function
        inside = f"({listed or '…'})" if called else ""
        return f"write {name}{inside}, without '{prefix}'"
    if word == "e":
        return "write exp(1)"
    if called:
        return f"write functions without a prefix; {all_listed('functions')}"
    return f"names hold no dots: write {owner}_{after[1].replace('.', '_')}{word}"


def plain_name(word: str) -> str:
    """Our name for a function of another tool, which may be a class, such as ``SiLU``; else the word."""
    lower = NAMES_HERE.get(word.casefold(), word.casefold())
    return NAMES_HERE.get(word, lower if lower in FUNCTION_WORDS else word)


def arity_hint(name: str, count: int, signature: str) -> str:
    """How a function that was given ``count`` operands is written."""
    return (second_hint(name) if count == 2 else None) or f"write {name}({signature})"


def value_hint(name: str) -> str | None:
    """What a name that reads as an input was probably meant to be."""
    if name in FUNCTION_WORDS or (name[:1].isupper() and name.lower() in FUNCTION_WORDS):
        return f"to call the function, write {name if name in FUNCTION_WORDS else name.lower()}(…)"
    return first_that_fits(VALUES, name, 0)


VALUES: Hints = {
    "e$": "there is no constant e: for a power of it write exp(x)",
    "E$": "there is no constant E: for a power of e write exp(x)",
    "i$|I$": "there is no imaginary unit: numbers are real",
    "Pi$|PI$|M_PI$|Π$": "the constant is written pi",
    "Inf$|infinity$|Infinity$|INF$": "infinity is written inf",
}
"""What names look like that cannot be inputs, and what to say of them."""
