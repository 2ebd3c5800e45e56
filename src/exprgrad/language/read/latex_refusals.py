r"""The refusals of the reader of LaTeX, with their fixes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from exprgrad.errors import LanguageError
from exprgrad.graph.ops import is_function
from exprgrad.language.read.latex_signs import ALONE, BESSEL, MARKED, Item
from exprgrad.source import Span

__all__ = [
    "AN_INDEX",
    "NO_INDEX",
    "REFUSED",
    "refuse_alone",
    "refuse_arrows",
    "refuse_first",
    "refuse_function",
    "refuse_neighbours",
    "refuse_second_mark",
    "refuse_word",
    "syntax_error",
]  # fmt: skip

REFUSED = {
    **dict.fromkeys((r"\partial", r"\nabla"), r"write a derivative as \frac{d}{dx}\left(…\right)"),
    **dict.fromkeys((r"\ldots", r"\dots", r"\cdots"), "write out what is left out"),
    **dict.fromkeys(("'", r"\prime"), "a derivative has no sign of its own"),
    **dict.fromkeys((r"\approx", r"\sim", r"\propto", r"\equiv"), "write an equality"),
    **dict.fromkeys((r"\pm", r"\mp"), "a formula has one value: write + or -"),
    r"\int": "there are no integrals", r"\lim": "there are no limits",
    r"\in": "sets are not part of the language", ":": "a choice is written as cases",
    ";": "write one formula at a time", r"\circ": "write one function of the other",
    r"\langle": "write dot(x, y) in our language",
    r"\choose": r"write \binom{n}{k}", r"\over": r"write \frac{a}{b}", r"\pmod": r"write \bmod",
    r"\%": "a percentage is a quotient: write 5/100", r"\to": "there are no limits",
}  # fmt: skip
"""A command that is refused → the fix, or the reason."""
LONGEST_PRODUCT = 3
"""The most adjacent letters that are read as a product: ``mgh`` is one, ``rate`` may be a name."""
MAY_BE_FUNCTIONS = frozenset({*"fghFGH", "Gamma", "Beta", "Phi", "Psi", "zeta"})
MEANT = {
    "B": r"the beta function is \mathrm{B}(x, y); for a product write \cdot",
    "Phi": r"the normal distribution's is \operatorname{normcdf}(x); for a product write \cdot",
    **{
        letter: rf"a Bessel function has a whole order, {letter}_{{2}}(x); for a product write \cdot"
        for letter in BESSEL
    },
}
"""A letter that may name a function → its spelling."""
SEVERAL_TERMS = re.compile(r"\S [+-] ")
"""Signs in parentheses that make them a factor: ``a(b)`` is rarely a product."""
NO_INDEX = "an index runs from one whole number up to another"
AN_INDEX = r"such as \sum_{k=1}^{10}; a sum over all of a vector has no subscript"
ARROW_BEFORE = re.compile(r"\\vec\s*(?:\{[^{}]*\}|\w)\s*$")
ARROW_BEHIND = re.compile(r"\s*\\vec(?![A-Za-z])")
WHOLE_FRACTION = re.compile(r"[{\s]*\\[dtc]?frac" + 2 * r"\s*(?:\{\s*([0-9]+)\s*\}|([0-9]))")
"""A fraction of whole numbers."""


def syntax_error(message: str, help: str, span: Span) -> LanguageError:
    """The error for text that cannot be read."""
    return LanguageError("syntax", message, span=span, help=help)


Refusal = tuple[object, str, str, Span]
"""A condition for a refusal, its message, the fix, and the span."""


def refuse_first(*refusals: Refusal) -> None:
    """Raise the first refusal that applies, if one does."""
    for applies, message, help, place in refusals:
        if applies:
            raise syntax_error(message, help, place)


def refuse_word(text: str, start: int) -> None:
    """Refuse a word without a font, which LaTeX sets as a product of letters."""
    word = re.compile(r"(?<![^\W\d_])[A-Za-z]+").match(text, start)
    if word is None:
        return
    refuse_first(
        (
            is_function(word[0]) and len(word[0]) > 1,
            f"'{word[0]}' is a product of letters in LaTeX",
            rf"write \{word[0]}",
            word.span(),
        ),
        (
            len(word[0]) > LONGEST_PRODUCT,
            f"is '{word[0]}' one name, or a product of letters?",
            rf"for a name write \mathrm{{{word[0]}}}",
            word.span(),
        ),
    )


def refuse_arrows(text: str, word: str, start: int, end: int) -> None:
    """Refuse an inner or a cross product of two vectors."""
    between = ARROW_BEFORE.search(text, max(start - 80, 0), start) and ARROW_BEHIND.match(text, end)
    message = f"'{word}' stands between vectors"
    cross = "the cross product is written out, element by element"
    refuse_first(
        (between and word == r"\times", message, cross, (start, end)),
        (between and word == r"\cdot", message, "write dot(v, w) in our language", (start, end)),
    )


def refuse_alone(text: str, letter: str, place: Span) -> None:
    """Refuse a letter that is a function here and stands without parentheses elsewhere."""
    if ALONE[letter].search(text):
        raise syntax_error(
            f"is '{letter}' a function here, or a factor?",
            r"it is also written without parentheses; for a product write \cdot",
            place,
        )


def refuse_function(item: Item, ended: bool) -> None:
    """Refuse what cannot follow a function without parentheses."""
    refuse_first(
        (not ended, "this function has no operand", "put its operand in parentheses", item.place),
        (
            item.text == "/",
            "does the '/' divide the function, or its operand?",
            "put the function's operand in parentheses",
            item.place,
        ),
    )


def refuse_second_mark(text: str, items: Sequence[Item], mark: Item) -> None:
    """Refuse two powers, or two subscripts, of one operand, as LaTeX does."""
    kinds = ["", "", "", "", "", *[item.kind for item in items[-5:]]]
    at = -4 if kinds[-2] in MARKED and kinds[-2] != mark.kind else -2
    begin = at - 3 if kinds[at - 2] in MARKED else at - 1
    if mark.kind in MARKED and kinds[at] == mark.kind and len(items) >= -begin:
        base, first = text[items[begin].start : items[at].start], text[slice(*items[at + 1].place)]
        first = first.strip("{}")
        powers = f"write ({base}^{{{first}}})^{{…}} or {base}^{{{first}^{{…}}}}"
        refuse_first(
            (
                mark.kind == "below",
                "a name has one subscript",
                f"write {base}_{{{first},…}}",
                mark.place,
            ),
            (True, "a power of a power has two readings", powers, mark.place),
        )


def refuse_neighbours(text: str, left: Sequence[Item], right: Item, *, divides: str) -> None:
    """Refuse two adjacent operands that may be no product, or follow a '/' or a modulus."""
    place, base = (right.start, right.end), left[0]
    mixed = WHOLE_FRACTION.match(text, right.start)
    above, below = [int(n) for n in mixed.groups() if n] if mixed else (1, 1)
    fraction = rf"\frac{{{above}}}{{{below}}}"
    what = " ".join(text[base.start : left[-1].end].split())
    refuse_first(
        (
            mixed and base.text.isdecimal() and len(left) == 1 and above < below,
            "is this a product, or a mixed number?",
            rf"write {base.text} \cdot {fraction} or ({base.text} + {fraction})",
            (base.start, mixed.end() if mixed else 0),
        ),
        (divides == "%", "is this part of the modulus, too?", "write parentheses", place),
        (divides, "does the '/' divide by this, too?", r"write \frac{…}{…}, or parentheses", place),
        (
            right.kind == "number",
            "a number follows an operand",
            r"for a product write \cdot, for a power ^",
            place,
        ),
        (
            right.kind == "paren"
            and base.kind == "name"
            and (base.text in MAY_BE_FUNCTIONS or not SEVERAL_TERMS.search(right.text)),
            f"is '{what}' a function here, or a factor?",
            MEANT.get(base.text, r"for a product write \cdot before the parentheses"),
            (base.start, right.end),
        ),
        (
            right.kind in ("words", "equals", "cell", "row", "mark"),
            f"'{right.text}' cannot be read here",
            "write one formula",
            place,
        ),
    )
