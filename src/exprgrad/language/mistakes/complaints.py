"""Errors for a text that is not in the language: where it goes wrong, why, and the fix.

The mistakes are a table, ``MISTAKES``: a row has the tokens that show a mistake, and the words for it.
A fix is an edit of the text.  The text is read again after each edit, until it has no mistake left, or one
without a certain fix.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from itertools import takewhile
from typing import NamedTuple

from exprgrad.errors import LanguageError
from exprgrad.graph.ops import BY_NAME, OPS
from exprgrad.graph.tensors import WORDS
from exprgrad.language.mistakes.foreign import (
    ABSENT,
    CALLS,
    DERIVATIVES,
    MODULE_CONSTANTS,
    MODULES,
    OVER_RANGES,
)
from exprgrad.language.mistakes.hints import (
    FUNCTION_WORDS,
    NAMES_HERE,
    arguments_at,
    attribute_hint,
    closing_bracket,
    factor_text,
    has_room,
    is_enclosed,
    known_word,
    listing_command_hint,
    new_axis_hint,
    operation_meant,
    owner_before,
    probable_call,
    spreadsheet_call,
    suggest_function_spelling,
    translate_brackets,
    translate_call,
    without_parentheses,
)
from exprgrad.language.read.lalr import END, UNKNOWN, Unexpected
from exprgrad.language.read.names import (
    INVISIBLE,
    LOOK_ALIKES,
    SUPERSCRIPTS,
    begins_with_pi,
    plain_name,
)
from exprgrad.source import Span, bracket_depths, display_width

__all__ = ["bad_name", "explain_mistake", "not_whole", "unknown_function"]

BEGINNING = "BEGINNING"
"""The beginning of the text, as a kind of token."""
OPERAND_ENDS = "NUMBER NAME RPAR RSQB TRANSPOSE SUPERSCRIPT BAR"
OPERATORS = "SIGN FACTOR POWER COMPARISON ROOT"
SEPARATORS = "NEWLINE SEMICOLON"
CLOSING = {"(": ")", "[": "]"}
OPENING = {"RPAR": "(", "RSQB": "["}
DATA = frozenset({"NUMBER", "SIGN", "NAME", "LSQB", "COLON", "COMMA", "RSQB", "RPAR"})
"""The tokens of an index or a setting: one is being read where no other token may follow."""
WHOLE = DATA | {"FACTOR", "LPAR", "RANGE", "FOR", "NEWLINE", "SEMICOLON", END}
"""The tokens of an index, which is read as a bound is: also what may follow a bound."""
SETTING = r"[(,]\s*[^\W\d]\w*\s*=[\s\d,\[\]+-]*\w*\s*$"
"""The text before a setting's value: ``(…, axis=``, ``(…, axis=[0, ``."""


WHERE = "a choice is where(condition, x, y)"
FORMULA_ALONE = "write the formula alone: its names are its inputs"
SPOKEN = {
    "minus": ("a difference", "-"),
    "mod": ("the modulus", "%"),
    "plus": ("a sum", "+"),
    "squared": ("a square", "^2"),
    "times": ("a product", "*"),
    "cdot": ("a product", "*"),
    "cubed": ("a cube", "^3"),
    "over": ("a quotient", "/"),
}
"""A word for an operator → its result in words, and the operator."""
WORD_HINTS = {
    "and": "for 'a and b' write a*b on comparisons: (x > 0)*(y > 0)",
    "or": "for 'a or b' write max(a, b) on comparisons: max(x > 0, y > 0)",
    "not": "for 'not a' write a == 0",
    "if": WHERE,
    "then": WHERE,
    "else": WHERE,
    "div": "the whole part of a quotient is floor(a/b)",
    "for": "an index is counted in sum(k^2 for k in 1..10), in a list, or after x[k] = …",
    "lambda": FORMULA_ALONE,
    "def": FORMULA_ALONE,
    "return": FORMULA_ALONE,
    "rem": "of numbers above 0 the remainder is x % y",
    **dict.fromkeys(
        ("cube", "divided", "of", "square", "the", "to"),
        "write signs and calls: x^2 is a power, sqrt(x) a root, x/y a quotient",
    ),
    **{word: f"{what} is written {sign}" for word, (what, sign) in SPOKEN.items()},
}
SIGNS = {
    "%%": ("the modulus is", "%"),
    "<>": ("'not equal' is", "!="),
    "===": ("to compare, write", "=="),
    "!==": ("'not equal' is", "!="),
    "=<": ("'at most' is", "<="),
}
"""A foreign sign → its help, which our sign follows, and our sign."""
COMPOUNDS = {
    **{elsewhere: f"{what} {ours}" for elsewhere, (what, ours) in SIGNS.items()},
    "//": "the whole part of a quotient is floor(a/b)",
    "=>": "'at least' is >=; of a function write the formula alone: its names are its inputs",
    "->": FORMULA_ALONE,
}


class Wrong(NamedTuple):
    """The first token that cannot follow those before it, and its surroundings.

    ``kind``, ``span``, ``word``  the token: its terminal, its place and its text
    ``last``, ``place``, ``before``  the terminal, place and text of the token before it
    ``bracket``, ``opened``  the innermost open bracket, if there is one, and its place
    ``expected``  the terminals that could have followed
    ``is_index``  whether the bracket is a '[' that follows an operand
    ``in_index``, ``in_setting``  whether an index, or a setting, is being read
    ``is_adjacent``  whether the two tokens touch
    ``inside``    the beginning of the text from the bracket on
    ``rest``      the beginning of the text after the token
    """

    text: str
    kind: str
    span: Span
    word: str
    last: str
    place: Span
    before: str
    bracket: str
    opened: Span
    expected: frozenset[str]
    is_index: bool
    in_index: bool
    in_setting: bool
    is_adjacent: bool
    inside: str
    rest: str

    def places(self) -> dict[str, Span]:
        """The places that carets may mark."""
        return {
            "span": self.span,
            "place": self.place,
            "opened": self.opened,
            "both": (self.place[0], self.span[1]),
            "longer": (self.span[0], self.span[1] + 1),
            "whole": (0, len(self.text)),
            "bar": open_bar(self.text[: self.span[0]]) or self.span,
        }

    def follows(self, pattern: str) -> re.Match[str] | None:
        """Match a pattern right behind the token."""
        return re.match(pattern, self.rest)

    def words(self) -> dict[str, str]:
        """The words that a message may mention; a product's operands are shown as far as they are short."""
        ends = {END: "the end of the text", "NEWLINE": "the end of the line"}
        cut = {"RPAR": "(…)", "RSQB": "[…]", "TRANSPOSE": "….T", "BAR": "|…|"}
        left = cut.get(self.last, "…" * (self.last == "SUPERSCRIPT") + self.before)
        readings = (bare_call(self) or right_of(self)).split(" or ")
        return {
            "word": self.word,
            "before": self.before,
            "next": self.rest[:1],
            "what": ends.get(self.kind, f"'{self.word}'"),
            "bracket": self.bracket,
            "closing": CLOSING.get(self.bracket, ""),
            "partner": OPENING.get(self.kind, ""),
            "indexed": indexed_name(self),
            "product": " or ".join(f"{left}*{reading}" for reading in readings),
        }


Edit = tuple[int, int, str]
"""A fix: the start and the end of what it replaces, and the new text."""
Help = str | Callable[[Wrong], str]


class ForeignSpelling:
    """A foreign spelling as a pattern, and ours, which its groups fill."""

    def __init__(self, pattern: str, ours: str) -> None:
        self.pattern, self.ours = pattern, ours

    def __call__(self, at: Wrong | re.Match[str]) -> Edit | None:
        """The fix for the spelling at a mistake, or at a character."""
        if isinstance(at, Wrong):
            return self.within(at.text, (at.place[0], at.span[0]))
        return self.within(at.string, at.span())

    def within(self, text: str, place: Span) -> Edit | None:
        """Return the fix for a foreign spelling that touches ``place``, or None."""
        for found in re.finditer(self.pattern, text):
            if found.start() <= place[1] and place[0] <= found.end():
                return *found.span(), self.ours.format(*found.groups())
        return None


class Mistake(NamedTuple):
    """A mistake: the token where it shows, the one before it, and the words for it.

    ``message``, ``help``  texts; a word in braces is one of ``Wrong.words``
    ``kind``, ``last``   the terminals that the two tokens may be, separated by blanks; empty for all
    ``bracket``  the innermost open bracket, if it matters
    ``when``     a further condition
    ``place``    the place that carets mark: one of ``Wrong.places``
    ``opened``   the words for the open bracket, which is marked too
    ``mend``     the fix, where it is certain: ``{mend}`` in the help is its new text
    ``otherwise``  the help without a certain fix
    """

    message: str
    help: Help
    kind: str = ""
    last: str = ""
    bracket: str = ""
    when: Callable[[Wrong], object] | None = None
    place: str = "span"
    opened: str = ""
    mend: Callable[[Wrong], Edit | None] | None = None
    otherwise: Help = ""

    def fits(self, wrong: Wrong) -> bool:
        """Tell whether the tokens show this mistake."""
        return (
            (not self.kind or wrong.kind in self.kind.split())
            and (not self.last or wrong.last in self.last.split())
            and (not self.bracket or wrong.bracket == self.bracket)
            and (self.when is None or bool(self.when(wrong)))
        )


def not_whole(text: str, name: str, span: Span, *, is_known: bool) -> LanguageError:
    """The error for a name in an index or a bound that does not stand for a known whole number."""
    bracket = outer = open_bracket(text, span[0])
    for _ in range(4):  # Exp[-(x - m)^2]
        if outer is not None and text[outer] == "(":
            outer = open_bracket(text, outer)
    if outer != bracket and (call := bracketed_edit(text, outer)) is not None:
        return grammar_error("a call has parentheses", f"write {call[2]}", call[:2]).mended_by(call)
    if bracket is not None and text[bracket] == "[":
        place = "LSQB", bracket, bracket + 1
        error = token_complaint(
            text, Unexpected("NAME", span, frozenset({"NUMBER", "NAME"}), place)
        )
        if "index" not in error.message or not is_known:
            return error
    what = "is not a whole number" if is_known else "is not known when the formula is read"
    help = f"write the number, or bind it before: {name} = 10; a value from outside comes too late"
    if is_known:
        help = "it is a whole number, an index of a 'for', or a name bound to a whole number"
    return LanguageError("not-whole", f"'{name}' {what}", span=span, help=help)


def grammar_error(
    message: str, help: str | None, span: Span, related: tuple[tuple[str, Span], ...] = ()
) -> LanguageError:
    """Return a syntax error."""
    return LanguageError("syntax", message, span=span, help=help, related=related)


def token_complaint(text: str, unexpected: Unexpected) -> LanguageError:
    """The error for the first token that cannot follow those before it."""
    (start, end), (last, last_start, last_end) = unexpected.span, unexpected.last
    if unexpected.kind == UNKNOWN:
        if text.startswith(".newaxis", start):
            return not_whole(text, "", (last_start, last_end), is_known=False)
        return bad_character(text, (start, end))
    for kind, word in ((last, (last_start, last_end)), (unexpected.kind, (start, end))):
        if kind == "NAME" and plain_name(text[slice(*word)]) is None:
            return bad_name(text, text[slice(*word)], word)
    bracket, expected = open_bracket(text, start), unexpected.expected
    opened = (0, 0) if bracket is None else (bracket, bracket + 1)
    owner = text[max(opened[0] - 80, 0) : opened[0]]
    is_index = text[slice(*opened)] == "[" and bool(re.search(r"[\w)\].]\s*$", owner))
    names_setting = bool(re.search(SETTING, text[:start][-200:]))
    wrong = Wrong(
        text,
        unexpected.kind,
        (start, end),
        text[start:end],
        last or BEGINNING,
        (last_start, last_end),
        text[last_start:last_end],
        text[slice(*opened)],
        opened,
        expected,
        is_index,
        in_index=is_index and expected <= WHOLE,
        in_setting=names_setting and bracket is not None and not is_index and expected <= DATA,
        is_adjacent=start == last_end,
        inside=text[opened[0] : opened[0] + 44],
        rest=text[end : end + 40],
    )
    mistake = next(row for row in MISTAKES if row.fits(wrong))
    mend = mistake.mend and mistake.mend(wrong)
    words = wrong.words() | {"mend": mend[2].strip() if mend else ""}
    said = mistake.help if mend else mistake.otherwise or mistake.help
    return grammar_error(
        mistake.message.format_map(words),
        said.format_map(words) if isinstance(said, str) else said(wrong),
        wrong.places()[mistake.place],
        ((mistake.opened, wrong.opened),) if mistake.opened else (),
    ).mended_by(mend)


def open_bracket(text: str, end: int) -> int | None:
    """Find the innermost bracket that is still open at an offset."""
    read = re.sub(r"#[^\r\n]*", lambda comment: " " * len(comment.group()), text[:end]) + " "
    deep = bracket_depths(read)
    within = deep[-1] - 1
    return next((at for at in range(end, -1, -1) if read[at] in "([" and deep[at] == within), None)


ENCLOSED = re.compile(
    r"#[^\r\n]*|\([^()|]*\)|\[[^\[\]|]*\]|(?:(?<![\s\S])|(?<=[-+*/^%@(\[,=;<>|\s]))\|[^|()\[\]]*[\w)\].]\s*\|"
)
"""A comment, or the innermost text in brackets or bars."""


def open_bar(text: str) -> Span | None:
    """Find the innermost open '|' of a text, if no bracket behind it is open."""
    while (found := ENCLOSED.search(text)) is not None:
        text = text[: found.start()] + "x" * len(found[0]) + text[found.end() :]
    at = text.rfind("|")
    return (at, at + 1) if at > max(map(text.rfind, "([;")) else None


# Calls and names.


def unknown_function(text: str, name: str, span: Span, names: Iterable[str]) -> LanguageError:
    """The error for a call of an unknown function; ``names`` are the names of nodes."""
    for message, rewrite in NO_CALLS.items():
        if (mend := rewrite.within(text, span)) is not None:
            return grammar_error(message, f"write {mend[2]}", mend[:2]).mended_by(mend)
    is_value, given = name in names, arguments_at(text, span[1])
    operands, settings = given or ([], {})
    words = [name, *({name.lower()} & CALLS.keys())] if given and not is_value else []
    meanings = (translate_call(word, operands, settings) for word in words)
    foreign = next(filter(None, meanings), None)
    renamed = foreign == f"write {NAMES_HERE.get(name)}({', '.join(operands)})"
    edit, ours = call_edit(text, span, foreign or ""), suggest_function_spelling(name)
    also = "; diff gives the formula's own" if ABSENT.get(name) == DERIVATIVES else ""
    known, second = known_word(name), known_word(name[1:])
    is_joined = name[:1] in names and not is_value and second  # xsin(x)
    product = f"{name[0]}*{second}" if is_joined else ""
    answers: tuple[tuple[object, str | None, Edit | None], ...] = (
        (foreign and not renamed, f"write {edit[2]}{also}" if edit else foreign, edit),
        (
            name in NAMES_HERE and not is_value,
            f"here it is called '{NAMES_HERE.get(name)}'",
            (*span, NAMES_HERE.get(name, "")),
        ),
        (ours, f"here that is written {ours}", None),
        (name in ABSENT and not is_value, ABSENT.get(name), None),
        (given == ([], {}) and is_value, f"write {name} without parentheses", None),
        (given == ([], {}), listing_command_hint("functions"), None),
        (is_value and operands[1:], f"{name} has a value, and takes no operands", None),
        (product, f"for a product write {product}(…)", (*span, product)),
        (
            is_value or len(name) == 1,
            product_or_function(text, name, span[1], operands, is_value=is_value),
            (span[1], span[1], "*") if is_value else None,
        ),
    )
    help, mend = next((answer[1:] for answer in answers if answer[0]), (None, None))
    if help is None:
        help = operation_meant(name, FUNCTION_WORDS, "functions", len(operands))
        mend = (*span, known) if known and has_room(known, len(operands)) else None
    if known and second and name.istitle():  # Acos(x)
        help = f"for the function write {known}(…), for a product {name[0]}*{second}(…)"
        mend = None
    return LanguageError(
        "unknown-function", f"unknown function '{name}'", span=span, help=help
    ).mended_by(mend)


def product_or_function(
    text: str, name: str, end: int, operands: Sequence[str], *, is_value: bool
) -> str:
    """Help for the call of a name that may be a factor, or a function that is still to be defined."""
    inside = ("s, t" if name in ("x", "y") else "x, y")[: None if operands[1:] else 1]
    own = f"a function of your own is defined first: {name}({inside}) = …"
    product = f"for a product write {name}*{short_group(text, end) or '(…)'}"
    return product if is_value else own if operands[1:] else f"{product}; {own}"


def call_edit(text: str, name: Span, hint: str) -> Edit | None:
    """Make an edit of a hint: the text after its ``write`` replaces a call."""
    end = closing_bracket(text[name[1] :])
    if end is None or not hint.startswith("write ") or ";" in hint or "…" in hint:
        return None
    return replace_call(text, (name[0], name[1] + end + 1), hint.removeprefix("write "))


def replace_call(text: str, place: Span, ours: str) -> Edit:
    """Make an edit, in parentheses if an operator beside it would bind tighter."""
    joins = re.search(r"[\^*/+\-%√]\s*$", text[: place[0]]) or re.match(
        r"\s*[\^*/+\-%<>=⁰-⁹²³¹.\[]", text[place[1] :]
    )
    return *place, factor_text(ours) if joins else ours


def short_group(text: str, start: int) -> str:
    """Return the parentheses at an offset, if they are short and hold no others; else ""."""
    group = re.compile(r"[ \t]*(\([^()\r\n]{1,20}\))").match(text, start)
    return group[1] if group else ""


def bad_name(text: str, name: str, span: Span) -> LanguageError:
    """The error for a name with a character that no name may have."""
    length = next(end for end in range(len(name)) if plain_name(name[: end + 1]) is None)
    if begins_with_pi(name):
        return grammar_error(
            f"'{name}' could be a name or a product", f"write pi*{name[1:]}", span
        ).mended_by((*span, f"pi*{name[1:]}"))
    function = unicodedata.normalize("NFKC", name)
    if function in FUNCTION_WORDS:  # log₂
        message = f"unknown function '{name}'"
        help, mend = f"write {function}(x)", (*span, function)
        return LanguageError("unknown-function", message, span=span, help=help).mended_by(mend)
    return bad_character(text, (span[0] + length, span[0] + length + 1))


# Mends that repeat some of what was typed.


def indexed_name(wrong: Wrong) -> str:
    """Return the name before the bracket, if it is short; else ``x``."""
    bracket = wrong.opened[0]
    owner = re.search(r"\w{1,20}\s*$", wrong.text[max(bracket - 24, 0) : bracket])
    return owner[0].strip() if owner else "x"


def list_elements(wrong: Wrong) -> str:
    """Respell a short list with blanks for commas, or a matrix with ';' between rows."""
    found = re.match(r"\[([\w.,;\s+-]{1,40})\]", wrong.inside)
    example = {"SEMICOLON": "1, 2; 3, 4"}.get(wrong.kind, "a, b")
    inside = found[1] if found else example
    elements = [re.findall(r"[^\s,]+", row) for row in inside.split(";")]
    rows = [f"[{', '.join(row)}]" for row in elements if row]
    return f"[{', '.join(rows)}]" if ";" in inside else rows[0]


def bare_call(wrong: Wrong) -> str:
    """Write ``sinx`` as a call, unless it is one already: ``sinh(x)``."""
    return "" if wrong.follows(r"\s*\(") else probable_call(wrong.word)


def root_of(wrong: Wrong) -> tuple[str, str]:
    """Write both meanings of a root's power."""
    short = re.search(r"√\s*(\w{1,20}|\([^()]{1,20}\))\s*$", wrong.text[: wrong.span[0]])
    x = without_parentheses(short[1]) if short else "x"
    exponent = wrong.follows(r"\s*(\w{1,20})") if wrong.kind == "POWER" else None
    power = exponent[1] if exponent else wrong.word.translate(SUPERSCRIPTS).strip("^*") or "n"
    return f"sqrt({x})^{power}", f"sqrt({factor_text(x)}^{power})"


def right_of(wrong: Wrong) -> str:
    """Return the operand that begins with the token: a number, a word, a call or a short group."""
    if wrong.kind == "LPAR":
        return short_group(wrong.text, wrong.span[0]) or "(…)"
    if wrong.kind in ("BAR", "ROOT"):
        return {"BAR": "|…|", "ROOT": "√…"}[wrong.kind]
    group = short_group(wrong.text, wrong.span[1]) or "(…)"
    return wrong.word + group * (wrong.word in FUNCTION_WORDS)


RAISED = re.compile(
    r"([^\W\d][^\W⁰¹²³⁴-⁹]{0,20})\s*(?:(?:\^|\*\*)\s*[({]?\s*([-−]?[0-9]+)\s*[)}]?|([⁺⁻]?[⁰¹²³⁴-⁹]+))\s*$"
)
"""A function and its power: ``sin^2``, ``sin^(-1)``, ``sin²``."""


def raised_function(wrong: Wrong) -> re.Match[str] | None:
    """Match a function and its power before the token, as in ``sin^2(x)``."""
    raised = RAISED.search(wrong.text[max(wrong.span[0] - 40, 0) : wrong.span[0]])
    return raised if raised and raised[1] in FUNCTION_WORDS else None


# Mends as edits.

ALONE = re.compile(r"\s*(?:$|[-+−=;,)\]<>≤≥|])")
"""The text after an operand that a function without parentheses clearly ends with."""
HEADLESS = ForeignSpelling(
    r"^\s*(?:(?:lambda|λ)\s*[\w\s,]*[:.]|@\([\w\s,]*\)|def\s+\w+\([\w\s,]*\)\s*:\s*return\b"
    r"|function\s*\([\w\s,]*\)|\w+\s*(?:->|↦|→|\|->)|\([\w\s,]*\)\s*(?:->|=>|↦|→)"
    r"|(?:return|let|var|const|double)\b)\s*",
    "",
)
"""The words of other languages before a function's formula."""


def insert_times(wrong: Wrong) -> Edit | None:
    """Insert ``*`` between two operands, unless one may be a word, a number's suffix or a lost power."""
    words = wrong.kind == wrong.last == "NAME" and max(len(wrong.before), len(wrong.word)) > 3
    below = wrong.last == "NUMBER" and wrong.text[: wrong.place[0]].rstrip().endswith("/")  # 1/2x
    ending = (
        wrong.last == "NUMBER" and wrong.is_adjacent and re.fullmatch("[fFlLuUiIjJ]", wrong.word)
    )
    barred = wrong.last == "BAR" != wrong.kind and "|" in wrong.text[wrong.span[1] :]
    if words or below or ending or barred or wrong.kind == "NUMBER":
        return None
    called = bare_call(wrong)
    if " or " in called:
        return None
    return wrong.place[1], wrong.span[1 if called else 0], f"*{called}"


def raised_call(wrong: Wrong) -> tuple[str, Edit | None]:
    """Write ``sin^2(x)`` as a power of a call, ``sin^-1(x)`` as the inverse; and a certain edit."""
    raised, start = raised_function(wrong), wrong.span[0]
    assert raised is not None
    end = closing_bracket(wrong.text[start:]) if wrong.kind == "LPAR" else len(wrong.word) - 1
    operand = right_of(wrong) if end is None else wrong.text[start : start + end + 1]
    is_part = wrong.kind == "NUMBER" and not ALONE.match(wrong.rest)  # sin^2 3x
    operand = operand if wrong.kind == "LPAR" else "(…)" if is_part else f"({right_of(wrong)})"
    power = (raised[2] or raised[3].translate(SUPERSCRIPTS)).replace("−", "-")
    inverse = next((op.name for op in OPS if op.inverse == raised[1]), f"a{raised[1]}")
    is_inverse = power == "-1" and inverse in FUNCTION_WORDS
    ours = f"{inverse}{operand}" if is_inverse else f"{raised[1]}{operand}^{power}"
    sure = end is not None and (wrong.kind == "LPAR" or ALONE.match(wrong.rest))
    if end is None or not sure or ours.endswith("^-1"):
        return ours, None
    return ours, (start - len(raised[0]), start + end + 1, ours)


EULER = re.compile(
    r"([^\W\d_]?)e\s*(?:\^|\*\*)\s*(?:[({]([^(){}]{1,60})[)}]|([-−]?[^\W\d]\w*))(?![\w.(\[{]|\s*(?:\^|\*\*))"
)
"""A power of e, and a letter before it: ``e^x``, ``xe^(-x)``."""


def power_of_e(wrong: Wrong) -> Edit | None:
    """Write ``xe^x`` after a number as ``*x*exp(x)``."""
    found = EULER.match(wrong.text, wrong.span[0])
    if found is None or wrong.text[: wrong.place[0]].rstrip().endswith("/"):  # 1/2e^x
        return None
    letter, inside, word = found.groups("")
    factor = f"{letter}*" if letter else ""
    return wrong.place[1], found.end(), f"*{factor}exp({inside or word})"


PERCENT = "'%' is the modulus"
PERCENTAGE = ForeignSpelling(r"(?<![\w.])([0-9.]{1,20})\s*%", "({0}/100)")
PART = ForeignSpelling(r"(?<![\w.])([0-9.]{1,20})\s*%\s*of\s*(?=[\w(])", "({0}/100)*")
"""``50% of x``."""
BESIDE_IT = r"\s*([<>]=?|[=!]=|[≤≥≠])\s*([^\W_][\w.]{0,20})"
"""A comparison's sign and its right side, a single word."""
CHAIN = ForeignSpelling(
    rf"(?<![\w.)\]*/^+%@-])(?<![\w.)\]*/^+%@-]\s)([^\W_][\w.]{{0,20}}){BESIDE_IT}{BESIDE_IT}(?=\s*(?:$|[;),\r\n]))",
    "({0} {1} {2})*({2} {3} {4})",
)
"""A chain of comparisons whose sides are single words."""


NAMED_FUNCTION = re.compile(r"\b(\w+)\s*=\s*(?:lambda|λ)\s+([\w\s,]{1,60})[:.]\s*")
"""A named function in one line of Python."""
BOUNDS = (
    r"\s*_\s*\{?\s*(\w+)\s*=\s*(-?\w+)\s*\}?\s*\^\s*\{?\s*(-?\w+)\s*\}?"
    r"\s*([^\s{}\[\]+=<>;,−-][^{}\[\]+=<>;,−-]*?)\s*$"
)
"""An index with its bounds, below and above, and the single term that follows."""
CHOICES = (
    r"(?P<x>.+?)\s+if\s+(?P<c>.+?)\s+else\s+(?P<y>.+)",
    r"if\s+(?P<c>.+?)\s+then\s+(?P<x>.+?)\s+else\s+(?P<y>.+)",
    r"(?P<c>.+?)\s*\?\s*(?P<x>.+?)\s*:\s*(?P<y>.+)",
)
"""Choices between two values in other languages."""


def word_edit(wrong: Wrong) -> Edit | None:
    """Rewrite ``lambda x:`` as a definition, ``x mod y`` with our sign, ``x if c else y`` as ``where``."""
    for function in NAMED_FUNCTION.finditer(wrong.text):
        if function.start() <= wrong.place[0] < function.end():
            behind = wrong.text[function.end() :]
            is_called = re.search(rf"[;\n].*\b{function[1]}\(", behind, re.DOTALL)
            head = f"{function[1]}({function[2].strip()})" if is_called else function[1]
            return *function.span(), f"{head} = "
    if wrong.word in SPOKEN:
        return *wrong.span, SPOKEN[wrong.word][1]
    return choice_edit(wrong.text)


def choice_edit(text: str) -> Edit | None:
    """Rewrite a text's only choice as ``where``."""
    alone = len(re.findall(r"\bif\b|\?", text)) == 1
    choice = alone and next(
        filter(None, (re.fullmatch(f"\\s*{c}\\s*", text) for c in CHOICES)), None
    )
    if not choice:
        return None
    condition, x, y = map(without_parentheses, choice.group("c", "x", "y"))
    return 0, len(text), f"where({condition}, {x}, {y})"


INSIDE = r"\(\s*((?:[^()]|\((?:[^()]|\([^()]*\))*\)){1,80}?)\s*\)"
"""Parentheses with at most two levels of others inside."""
BASED_LOGARITHM = ForeignSpelling(rf"\blog\[(\w{{1,20}})\]{INSIDE}", "log({1}, {0})")
"""``log[2](x)`` of Maple."""
NO_CALLS = {
    PERCENT: PART,
    "pi is not a function": ForeignSpelling(r"\b[Pp][Ii]\s*\(\s*\)", "pi"),
    "a derivative is not a quotient": ForeignSpelling(
        rf"(?<!\w)d\s*/\s*d([^\W\d]\w*)\s*{INSIDE}", "d({1}, {0})"
    ),
}
"""The message for a text that only looks like a call → its spelling here."""
DEGREES = ForeignSpelling(r"(?<![\w.])([0-9.]{1,20})\s*deg(?:ree)?s?\b(?!\s*\()", "rad({0})")


def bracketed_edit(text: str, bracket: int | None) -> Edit | None:
    """Rewrite ``Sin[x]`` and other calls of Mathematica."""
    word = re.search(r"([^\W\d]\w{0,20}|[∑∏])\s*$", text[max((bracket or 0) - 24, 0) : bracket])
    if (
        bracket is None
        or word is None
        or (text[bracket] == "(" and word[1] not in (*OVER_RANGES, "Piecewise"))
    ):
        return None
    end = closing_bracket(text[bracket:])
    ours = None if end is None else translate_brackets(word[1], text[bracket + 1 : bracket + end])
    if end is None or ours is None:
        return None
    return replace_call(text, (bracket - len(word[0]), bracket + end + 1), ours)


def bracketed_call(wrong: Wrong) -> Edit | None:
    """Rewrite the call of Mathematica in which a mistake shows."""
    return bracketed_edit(wrong.text, wrong.opened[0] if wrong.bracket else None)


def ranged_call(wrong: Wrong) -> Edit | None:
    """Rewrite ``Sum(x**k, (k, 1, 10))`` of SymPy and ``sum(x^k, k=1..10)`` of Maple."""
    if wrong.bracket != "(":
        return None
    outer = open_bracket(wrong.text, wrong.opened[0]) if wrong.kind == "COMMA" else None
    return bracketed_edit(wrong.text, wrong.opened[0] if outer is None else outer)


def absent_function(word: str) -> str:
    """Advice for a function of Mathematica that is not here; else ""."""
    return ABSENT.get(word) or ABSENT.get(word.lower(), "") if word[:1].isupper() else ""


def without_comma(wrong: Wrong) -> str:
    """Help for a ',' outside of a call: between thousands, before decimals, or between statements."""
    text, bracket = wrong.text, wrong.opened[0]
    more = re.match(r"((?:,[0-9]{3}){1,9}(?:\.[0-9]+)?)(?![0-9])", wrong.word + wrong.rest[:39])
    if more and re.fullmatch(r"[0-9]{1,3}", wrong.before):
        return f"write {wrong.before}{more[1].replace(',', '')}; a decimal point is '.'"
    if wrong.bracket != "(":
        return "a decimal point is '.', and statements are separated by ';'"
    word = re.search(r"([^\W\d]\w{0,20})\($", text[max(bracket - 22, 0) : bracket])
    given = arguments_at(text, bracket - 1) if word else None
    foreign = word and given and translate_call(word[1], *given)
    caller = re.search(r"([^\W\d]\w*)$", text[: open_bracket(text, bracket) or 0])
    if caller and not foreign and caller[1] not in FUNCTION_WORDS:
        return ABSENT.get(caller[1]) or f"there is no function '{caller[1]}'"
    group = re.match(r"\(([^()\[\]\r\n]{1,40})[)\]]", wrong.inside)
    listed = group[1].rstrip(", ") if group else "a, b"
    return foreign or f"write a list in square brackets: [{listed}]"


# Characters that are not part of the language.


COUNTED = "sum(x^k for k in 1..3)"
"""An example of a range."""
CHARACTERS = {
    "•": "*", "∕": "/", "⁄": "/", "–": "-", "—": "-", "＋": "+", "－": "-", "＊": "*", "／": "/",
    "＾": "^", "（": "(", "）": ")", "，": ",", "；": ";", "＝": "=", "∞": "inf", "½": "(1/2)",
    "⅓": "(1/3)", "¼": "(1/4)", "¾": "(3/4)", "⊙": "*", "}": ")", "°": "*pi/180", "≦": "<=", "≧": ">=",
}  # fmt: skip
"""A character that is not part of the language → how it is written here."""
CHARACTER_HINTS = {
    **{character: f"write {ours}" for character, ours in CHARACTERS.items()},
    "{": "write (",
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
    **dict.fromkeys("∂∇", DERIVATIVES),
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


class Begun(NamedTuple):
    """A pattern that begins with a foreign character, its help and its fix.

    A fix that is a text is filled with the pattern's groups.
    """

    pattern: str
    help: str | Callable[[re.Match[str]], str | None] = ""
    mend: str | Callable[[re.Match[str]], Edit | None] | None = None


def bad_character(text: str, span: Span) -> LanguageError:
    """The error for a character that is not part of the language."""
    character = text[span[0]]
    alone = is_visible(character) and display_width(character)
    name = f"'{character}'" if alone else f"U+{ord(character):04X}"
    message = f"the character {name} is not part of the language"
    patterns = [(row, re.compile(row.pattern).match(text, span[0])) for row in BEGINNINGS]
    fitting = [(row, found) for row, found in patterns if found]
    helps = (row.help(found) if callable(row.help) else row.help for row, found in fitting)
    mends = (
        row.mend(found) if callable(row.mend) else (*found.span(), row.mend.format(*found.groups()))
        for row, found in fitting
        if row.mend is not None
    )
    digit = unicodedata.digit(character, None)
    means_nothing = (
        (character in LOOK_ALIKES, f"it only looks like {LOOK_ALIKES.get(character)}"),
        (digit is not None, f"digits are 0 to 9: write {digit}"),
        ("\udc80" <= character <= "\udcff", "the text is not UTF-8 here"),
        (is_visible(character), "names are letters, digits and _"),
        (True, "it does not print: delete it"),
    )
    said = next(filter(None, helps), None) or CHARACTER_HINTS.get(character)
    said = said or next(help for applies, help in means_nothing if applies)
    mend = next(filter(None, mends), None) or same_character(text, span)
    return grammar_error(message, said, span).mended_by(mend)


def is_visible(character: str) -> bool:
    """Tell whether a character is visible."""
    return character.isprintable() and not INVISIBLE.match(character)


def same_character(text: str, span: Span) -> Edit | None:
    """Respell a character: a look-alike, or superscripts as a power."""
    start, character = span[0], text[span[0]]
    kinds = (unicodedata.decomposition(character).partition(" ")[0] for character in text[start:])
    above = start + sum(1 for _ in takewhile("<super>".__eq__, kinds))
    if above > start:
        power = unicodedata.normalize("NFKC", text[start:above]).replace("−", "-")
        return None if power in ("T", "t") else (start, above, f"^{factor_text(power)}")
    same = unicodedata.normalize("NFKC", character)
    plain_form = same if same != character and same.isascii() and same.isprintable() else None
    sign = CHARACTERS.get(character) or LOOK_ALIKES.get(character) or plain_form
    if sign is None:
        return None
    joins = sign[0].isalpha() and text[:start][-1:].isalnum()  # x∞ is not the name xinf
    return *span, f"*{sign}" if joins else sign


def factorial_edit(text: str, at: int) -> Edit | None:
    """Rewrite ``n!`` as a call, where its operand is certain."""
    operand = owner_before(text, at)
    start = at - len(operand)
    is_part = text[:start][-1:] == "." or (operand[:1].isdigit() and not operand.isdigit())
    if operand in ("", "(…)") or is_part or text[at + 1 : at + 2] in ("!", "="):
        return None
    inside = operand[1:-1] if is_enclosed(operand) else operand
    return start, at + 1, f"factorial({inside})"


IN_RANGE = re.compile(r"\bin\b[^;()]*$")
"""A text that ends in an index's bounds."""
BEGINNINGS = (
    Begun(
        r"\.{3}",
        lambda m: "a range has two dots: 1..10"
        if IN_RANGE.search(m.string[: m.start()])
        else "there is no ellipsis: in an index write : for each axis",
        lambda m: (*m.span(), "..") if IN_RANGE.search(m.string[: m.start()]) else None,
    ),
    Begun(
        r"(?:(?<=[\w)\]'])|(?<=[\w)\]'] ))\.(?=[*^/(])",
        "operators and functions go element by element, without a dot", "",
    ),
    Begun(
        r"\.",
        lambda m: f"write {call[2]}" if (call := spreadsheet_call(m.string, m.start())) else None,
        lambda m: spreadsheet_call(m.string, m.start()),
    ),
    Begun(
        r"\.",
        lambda m: dot_hint(m.string, m.start()),
        lambda m: dot_edit(m.string, m.start()),
    ),
    Begun(r"(?:(?<=\bsum_)|(?<=\bprod_)|(?<=[ΣΠ∑∏]_))\{", f"over an index write {COUNTED}"),
    Begun(r"\{", mend=lambda m: bracketed_edit(m.string, open_bracket(m.string, m.start()))),
    Begun(r"∑(?=\()", mend="sum"),
    Begun(r"∏(?=\()", mend="prod"),
    Begun(r"\{[^{}]*:", "a value is given beside the formula, as in x=2"),
    Begun("[{∑∏]", mend=ForeignSpelling(f"(?:Σ|∑|sum){BOUNDS}", "sum({3} for {0} in {1}..{2})")),
    Begun("[{∑∏]", mend=ForeignSpelling(f"(?:Π|∏|prod){BOUNDS}", "prod({3} for {0} in {1}..{2})")),
    Begun("[↦→]", mend=HEADLESS),
    Begun(r"\?", mend=lambda mark: choice_edit(mark.string)),
    Begun(r"(?<![\w)\]!])!(?=\s*[\w(])", CHARACTER_HINTS["¬"]),
    Begun("!", mend=lambda mark: factorial_edit(mark.string, mark.start())),
    Begun("[ᵀᵗ]", "the transpose is written .T, a power ^t"),
    Begun("[ⁱʲᵏᵐⁿᵖˣʸᶻ]", "a power is written ^"),
    Begun(
        r"(?<=\bexp\^)\{([^{}]*)\}", "a function's operand is in parentheses",
        lambda brace: (brace.start() - 1, brace.end(), f"({brace[1]})"),
    ),
    Begun(r"(?<![_^])\{([^{}]*,[^{}]*)\}", "a list goes in square brackets: [1, 2]", "[{}]"),
    Begun(r"(?<=[IJKY]_)\{[^\W\d]+\}(?=\()", ABSENT["J_n"]),
    Begun(r"(?<=_)\{[i-n]{2}\}", "a subscript has no braces; an element of a matrix is a[i, j]"),
    Begun(r"(?<=_)\{(\w{1,20})\}", "a subscript has no braces", "{}"),
    Begun(r"(?<=_)\{[^{}]*\}", "an element is written in square brackets, as in x[k - 1] or a[i, j]"),
    Begun(
        r"(?<=\^)\{[^{}]*\}\s*(?=\^)",
        "a power of a power has two readings: write (x^2)^3 or x^(2^3)",
    ),
    Begun(r"(?<![_^])\{|(?<=\^)\{(?![^{}]*\}\s*\^)", mend="("),
    Begun(r"⌊([^⌊⌋]{1,60})⌋", mend="floor({})"),
    Begun(r"⌈([^⌈⌉]{1,60})⌉", mend="ceil({})"),
    Begun(r"(?<=[a-z])\$(?=[1-9]\))", mend=", "),  # diff(f, x$2)
    Begun(r"\$\$?([^$]{1,100})\$\$?$", mend="{}"),
    Begun(r"(?<![\s\S])[\"'`]([^\"'`]{1,100})[\"'`]$", mend="{}"),
    Begun(
        r"[₀-₉]++(?=[^\W\d_⁰¹²³⁴-⁹])", "a subscript is written after _",
        lambda digits: (*digits.span(), f"_{unicodedata.normalize('NFKC', digits[0])}*"),
    ),
    Begun(
        r"[₀-₉]+", "a subscript is written after _",
        lambda digits: (*digits.span(), f"_{unicodedata.normalize('NFKC', digits[0])}"),
    ),
    Begun(
        r"∛(?:\s*(?:(\w{1,20})|\(([^()]{1,20})\)))?",
        lambda sign: f"write cbrt({sign[1] or sign[2] or '…'})",
    ),
    Begun(
        r"∛\s*(?:(\w{1,20})|\(([^()]{1,40})\))(?!\s*[\^*⁰-⁹(\[]|²|³|¹)",
        mend=lambda sign: (*sign.span(), f"cbrt({sign[1] or sign[2]})"),
    ),
    Begun("~=", "'not equal' is !=", "!="),
    Begun(
        r"(?<=[\w)\]])(?:'[(']|[′″])", "a derivative has no sign of its own; name a node, say, dx"
    ),
    Begun(
        r"(?<=[\w)\]])['’]",
        lambda mark: f"the transpose is written {owner_before(mark.string, mark.start()) or 'x'}.T, "
        "a product of matrices with @; derivatives have no sign",
    ),
    Begun(r"\\[A-Za-z]{2,}", "this is LaTeX"),
    Begun(
        r"\\\[([A-Z][a-z]+)\]",
        lambda letter: f"write {letter[1].lower()}",
        lambda letter: (*letter.span(), letter[1].lower()),
    ),
    Begun(
        r"(?:(?<=[\w)\]])|(?<=[\w)\]] ))\\(?=\s*[\w(])",
        "the solution of A x = b is written solve(A, b)",
    ),
    Begun(r"\\", "a backslash means nothing here"),
)  # fmt: skip
"""Patterns that begin with a foreign character: the first help and the first fix that fit count."""


def dot_hint(text: str, start: int) -> str:
    """Help for a dot: our spelling of ``np.exp(x)`` or ``x.sum()``."""
    owner = owner_before(text, start)
    after = re.match(r"((?:[^\W\d]\w*\.)*)([^\W\d]\w*)", text[start + 1 : start + 91])
    if not owner or not after:
        return "a number needs a digit beside its point"
    end = start + 1 + after.end()
    word, called, given = after[2], text[end : end + 1] == "(", arguments_at(text, end)
    lower = NAMES_HERE.get(word.casefold(), word.casefold())  # a class, such as SiLU
    name = NAMES_HERE.get(word, lower if lower in FUNCTION_WORDS else word)
    operands, settings = given or (["…"], {})
    row = BY_NAME.get(name)
    full = row is not None and not row.variadic and len(operands) == len(row.names)
    is_module = bool(after[1]) or owner in MODULES or (full and called and owner.isidentifier())
    prefix, inside = f"{owner}.{after[1]}", f"({', '.join(operands)})" if called else ""
    operands_here = operands if is_module else [owner, *operands]
    hint = called and owner != "Math" and translate_call(word, operands_here, settings)
    needs = name in WORDS and any(setting.default is ... for setting in WORDS[name].parameters)
    is_ours = (name in FUNCTION_WORDS and not needs) or MODULE_CONSTANTS.get(name) == name
    if prefix.endswith("nn."):  # nn.SiLU() makes a function
        inside = "(…)"
    where = "there are no methods" if owner[-1] in ")]" else "write functions without a prefix"
    alternatives = (
        not is_module and attribute_hint(owner, word, called=called, empty=given == ([], {})),
        hint == f"write {name}({', '.join(operands)})"
        and is_module
        and f"{hint}, without '{prefix}'",
        hint,
        suggest_function_spelling(word)
        and f"here that is written {suggest_function_spelling(word)}",
        is_ours and not (called or is_module) and f"write {name}({owner})",
        is_ours and f"write {name}{inside or '(…)' * called}, without '{prefix}'",
        word in MODULE_CONSTANTS and f"write {MODULE_CONSTANTS[word]}",
        called and f"{where}; {listing_command_hint('functions')}",
        f"names hold no dots: write {owner}_{after[1].replace('.', '_')}{word}",
    )
    return next(said for said in alternatives if isinstance(said, str) and said)


MODULE_BEFORE = re.compile(
    rf"(?<!\w)(?:(?:{'|'.join(sorted(MODULES))})\.)*(?:{'|'.join(sorted(MODULES))})$"
)


def dot_edit(text: str, start: int) -> Edit | None:
    """Rewrite ``np.exp`` without its module, and ``x.sum()`` as a call."""
    module = MODULE_BEFORE.search(text[:start])
    owner = module[0] if module else owner_before(text, start)
    found = re.compile(r"\.([^\W\d]\w*)").match(text, start)
    if found is None or owner in ("", "(…)") or not text.endswith(owner, 0, start):
        return None
    begin, given = start - len(owner), arguments_at(text, found.end())
    is_called = text.startswith("(", found.end())
    if not is_called and found[1] in MODULE_CONSTANTS and (module or owner == "S"):
        return begin, found.end(), MODULE_CONSTANTS[found[1]]
    operands, settings = given or ([], {})
    hint = None
    if is_called and owner != "Math":
        hint = translate_call(found[1], operands if module else [owner, *operands], settings)
    if hint is None:
        return (begin, start + 1, "") if module else None
    mend = call_edit(text, (start, found.end()), hint)
    return mend and (begin, *mend[1:])


# Ranges.

BESIDE = {
    "if": "there is no 'if' beside a 'for': write where(condition, x, 0) as what is added",
    ",": "there is no setting beside a 'for': what it joins are numbers, or tensors element by element",
}


def range_edit(wrong: Wrong) -> Edit | None:
    """Rewrite ``x[1..3]`` as a slice, and ``[1..3]`` as a list."""
    ends = re.match(r"\[\s*([0-9]{1,9})\s*\.\.\s*([0-9]{1,9})\s*\]", wrong.inside)
    if ends is None:
        return None
    low, high = ends.groups()
    ours = f"[{low}:{int(high) + 1}]" if wrong.is_index else f"[k for k in {low}..{high}]"
    return wrong.opened[0], wrong.opened[0] + len(ends[0]), ours


RANGE_CALL = re.compile(r"(?<=\bin)\s+range\(\s*(?:([\w+\-* ]{1,20}),\s*)?([\w+\-* ]{1,20})\)")
"""Python's ``range(1, 11)``, which ends before its end."""


def python_range(wrong: Wrong) -> Edit | None:
    """Rewrite Python's ``range``."""
    called = RANGE_CALL.search(wrong.text)
    if not called or called.start() > wrong.span[0]:
        return None
    low, high = (called[1] or "0").strip(), called[2].strip()
    plus = re.fullmatch(r"(.+?)\s*\+\s*1", high)
    last = str(int(high) - 1) if high.isdecimal() else plus[1] if plus else f"{high} - 1"
    return *called.span(), f" {low}..{last}"


# The table.

NEVER_CLOSED = "this '{bracket}' is never closed"
NO_SLICE = "a ':' belongs in a slice, such as x[1:3], and there is no slice here"
NOT_AN_INDEX = "'{word}' does not belong in an index"
NO_INDEX = "an index is missing before '{word}'"
AN_INDEX = (
    "an index is written out, as in {indexed}[0], {indexed}[0, 1], {indexed}[1:3] or {indexed}[-1]"
)
LESS_OR_MORE = "drop the ',' or add an index; ':' takes a whole axis"
NOT_A_SETTING = "'{word}' does not belong in a setting"
A_SETTING = "a setting is a whole number, a list of them, True or False"
OVER = {"Σ": "sum", "Π": "prod"}
"""The Greek capitals of a sum and a product."""
MIXED = r"\s*/\s*[0-9]+(?![\w.])"
NO_OPERATOR = "an operator is missing between '{before}' and '{word}'"
OPERANDS = "NUMBER NAME LPAR"

MISTAKES = (
    Mistake(
        "there is no expression", "type a formula, such as (a+b)*c",
        kind=END, last=f"{BEGINNING} {SEPARATORS}", place="whole",
    ),
    Mistake(
        "there is more than a formula here", "write the formula alone: its names are its inputs",
        when=HEADLESS, mend=HEADLESS,
    ),
    Mistake(
        "'||' is not an operator", WORD_HINTS["or"].replace("a or b", "a || b"),
        kind="BAR", last="NUMBER NAME RPAR RSQB TRANSPOSE SUPERSCRIPT",
        when=lambda wrong: wrong.follows(r"\|"), place="longer",
    ),
    Mistake(
        "'|>' is not an operator", "write {mend}", otherwise="a call is written f(x)",
        kind="BAR", when=lambda wrong: wrong.follows(">"), place="longer",
        mend=ForeignSpelling(r"^\s*(.+?)\s*\|>\s*(\w+)\s*$", "{1}({0})"),
    ),
    Mistake(
        "'{before}{word}' is not an operator", lambda wrong: COMPOUNDS[wrong.before + wrong.word],
        when=lambda wrong: wrong.is_adjacent and wrong.before + wrong.word in COMPOUNDS, place="both",
        mend=lambda wrong: (wrong.place[0], wrong.span[1], SIGNS[wrong.before + wrong.word][1])
        if wrong.before + wrong.word in SIGNS
        else None,
    ),
    # Brackets.
    Mistake(
        "this '|' is never closed", "add a '|'",
        kind=f"{END} RPAR RSQB COMMA {SEPARATORS}", last=OPERAND_ENDS, place="bar",
        when=lambda wrong: open_bar(wrong.text[: wrong.span[0]]) and (
            wrong.kind in (END, "RPAR", "RSQB") or "|" not in wrong.text[wrong.span[1] :]
        ),
    ),
    Mistake(
        NEVER_CLOSED, "add an index and a '{closing}'",
        kind=END, last="LSQB COMMA LPAR", when=lambda wrong: wrong.is_index, place="opened",
    ),
    Mistake(
        NEVER_CLOSED, "add an operand and a '{closing}'",
        kind=END, last="LSQB COMMA LPAR", when=lambda wrong: wrong.bracket, place="opened",
    ),
    Mistake(
        NEVER_CLOSED, "add a '{closing}'", kind=END,
        when=lambda wrong: wrong.bracket and wrong.last not in OPERATORS.split(), place="opened",
    ),
    Mistake(
        "there is no '{partner}' for this '{word}'", "drop it, or add a '{partner}' before it",
        kind="RPAR RSQB", when=lambda wrong: not wrong.bracket,
    ),
    Mistake(
        "this '{word}' cannot close the '{bracket}'", "write '{closing}'",
        kind="RPAR RSQB", when=lambda wrong: wrong.bracket != OPENING[wrong.kind], opened="opened here",
    ),
    Mistake(
        "there is nothing inside these parentheses", "add an operand, or drop them",
        kind="RPAR", last="LPAR", place="both",
    ),
    Mistake(
        "'choose' is not an operator", "n choose k is written binomial(n, k)",
        kind="NAME", last="NUMBER NAME", when=lambda wrong: wrong.word in ("choose", "nCr"),
    ),
    # Ranges as others write them.
    Mistake(
        "a range is written with '..'", "write {before}..10, which includes its end",
        kind="COLON", last="NUMBER NAME", when=lambda wrong: "RANGE" in wrong.expected,
        mend=lambda wrong: (*wrong.span, ".."),
    ),
    Mistake(
        "an index is chosen with 'in'", "write for {before} in 1..10",
        kind="EQUALS", last="NAME", when=lambda w: re.search(r"\bfor\s+\w+\s*$", w.text[: w.span[0]]),
        mend=lambda wrong: (*wrong.span, " in "),
    ),
    # Colons.
    Mistake(
        "a slice has no step", "a slice is start:stop, and takes every index between",
        kind="COLON", last=f"{OPERAND_ENDS} COLON", when=lambda wrong: wrong.in_index,
    ),
    Mistake(
        "':=' is not an operator", "a name is bound with =",
        kind="COLON", last=f"{OPERAND_ENDS} COLON", when=lambda wrong: wrong.follows("="), place="longer",
        mend=lambda wrong: (*wrong.places()["longer"], "="),
    ),
    Mistake(
        NO_SLICE, "the numbers of a list are written out: [1, 2, 3]",
        kind="COLON", last=f"{OPERAND_ENDS} COLON", bracket="[", when=lambda wrong: not wrong.is_index,
    ),
    Mistake(
        NO_SLICE, "a name is bound with =, and a choice is where(condition, x, y)",
        kind="COLON", last=f"{OPERAND_ENDS} COLON",
    ),
    # Indices and settings.
    Mistake(
        "a call has parentheses", "write {mend}",
        otherwise=lambda w: f"write {known_word(indexed_name(w))}(…)"
        if known_word(indexed_name(w))
        else absent_function(indexed_name(w)),
        when=lambda w: w.in_index
        and (known_word(indexed_name(w)) or bracketed_call(w) or absent_function(indexed_name(w))),
        place="opened", mend=bracketed_call,
    ),
    Mistake(
        NO_INDEX, LESS_OR_MORE,
        kind="COMMA", last="LSQB COMMA", when=lambda wrong: wrong.in_index,
    ),
    Mistake(NO_INDEX, LESS_OR_MORE, kind="RSQB", last="COMMA", when=lambda wrong: wrong.in_index),
    Mistake(NO_INDEX, AN_INDEX, kind="RSQB", last="LSQB", when=lambda wrong: wrong.in_index),
    Mistake(
        NOT_AN_INDEX, "an index takes one place or a slice; for several write [{indexed}[0], {indexed}[2]]",
        kind="LSQB", last="LSQB COMMA", when=lambda wrong: wrong.in_index,
    ),
    Mistake(
        NOT_AN_INDEX,
        lambda w: new_axis_hint(indexed_name(w), first=":" not in w.text[w.opened[0] : w.span[0]]),
        when=lambda wrong: wrong.in_index
        and re.match(r"(?:\w+\.)?(?:None|newaxis)\b", (wrong.word + wrong.rest)[:20]),
    ),
    Mistake(
        NOT_AN_INDEX, "to choose by a condition write where(condition, {indexed}, 0)",
        kind="COMPARISON EQUALS", last="NAME", when=lambda wrong: wrong.in_index,
    ),
    Mistake(
        NOT_AN_INDEX, "an index is one whole number: work it out",
        kind="SIGN FACTOR POWER", last="NUMBER", when=lambda wrong: wrong.in_index,
    ),
    Mistake(
        "a slice is written with ':'", "write {indexed}{mend}: a slice ends before its end",
        kind="RANGE", when=lambda wrong: wrong.in_index and range_edit(wrong), mend=range_edit,
    ),
    Mistake(NOT_AN_INDEX, AN_INDEX, when=lambda wrong: wrong.in_index),
    Mistake(
        "a choice has no tuples", "write {mend}",
        kind="COMMA", when=lambda wrong: "Piecewise" in wrong.text and ranged_call(wrong), mend=ranged_call,
    ),
    Mistake(
        "an index comes after 'for'", "write {mend}",
        kind="COMMA RANGE", when=ranged_call, mend=ranged_call,
    ),
    Mistake(
        NOT_A_SETTING, "write a list in square brackets: {mend}",
        otherwise="write a list in square brackets: [0, 1]",
        kind="LPAR", when=lambda wrong: wrong.in_setting and wrong.last != "NAME",
        mend=ForeignSpelling(r"(?<==)\s*\(([^()\[\]\r\n]{1,20}?)[, ]*\)", "[{}]"),
    ),
    Mistake(
        "a setting is missing before '{word}'", A_SETTING,
        kind=f"COMMA RPAR RSQB {SEPARATORS}", when=lambda wrong: wrong.in_setting,
    ),
    Mistake(NOT_A_SETTING, A_SETTING, when=lambda wrong: wrong.in_setting),
    # Ranges.
    Mistake(
        "a range can only follow 'for … in'", "write {mend}", otherwise=f"write {COUNTED}",
        kind="RANGE", bracket="[", when=lambda wrong: not wrong.is_index, mend=range_edit,
    ),
    Mistake(
        "a range can only follow 'for … in'", "a number has one decimal point",
        kind="RANGE", last="NUMBER", when=lambda wrong: re.fullmatch("[0-9]", wrong.rest[:1]),
    ),
    Mistake("a range can only follow 'for … in'", f"write {COUNTED}", kind="RANGE"),
    Mistake(
        "nothing else can go beside a 'for'",
        lambda w: BESIDE.get(w.word, "close the call after the range"),
        last=OPERAND_ENDS,
        when=lambda w: w.expected <= WHOLE
        and re.search(
            r"\bfor\s+\w+\s+in\b[^()\[\]]*\.\.[^()\[\]]*$", w.text[w.opened[0] : w.span[0]][-80:]
        ),
    ),
    Mistake(
        "an index runs from one whole number up to another",
        "write {mend}", otherwise="write for k in 1..10",
        when=lambda wrong: "RANGE" in wrong.expected and not wrong.is_index and wrong.last != "FOR",
        mend=python_range,
    ),
    # Lists.
    Mistake(
        "a ';' does not belong in a list", lambda wrong: f"its rows are lists: {list_elements(wrong)}",
        kind="SEMICOLON", last=OPERAND_ENDS, bracket="[",
    ),
    Mistake(
        "a ',' is missing between two elements of this list", lambda wrong: f"write {list_elements(wrong)}",
        kind="NUMBER NAME", last=OPERAND_ENDS, bracket="[",
        when=lambda wrong: not (wrong.is_adjacent or wrong.is_index or wrong.word in WORD_HINTS),
    ),
    Mistake(
        PERCENT, "a percentage is a quotient: write {mend}{word}",
        kind=OPERANDS, last="NAME", when=lambda wrong: wrong.before == "of" and PART(wrong), mend=PART,
    ),
    # Two operands with no operator between them: 2x, 2(a+b), a b, x if y.
    Mistake(
        NO_OPERATOR, DERIVATIVES, kind=OPERANDS, last="NAME RPAR",
        when=lambda w: re.match(r"\s*d\s*/\s*d\w|(?i:derivative|gradient|diff)\b", w.text),
    ),
    Mistake(
        "'{word}' has no meaning here", lambda wrong: WORD_HINTS[wrong.word],
        kind=OPERANDS, last=OPERAND_ENDS, when=lambda wrong: wrong.word in WORD_HINTS, mend=word_edit,
    ),
    Mistake(
        "'{before}' has no meaning here", lambda wrong: WORD_HINTS[wrong.before],
        kind=OPERANDS, last=OPERAND_ENDS, when=lambda wrong: wrong.before in WORD_HINTS, place="place",
        mend=word_edit,
    ),
    Mistake(
        NO_OPERATOR,
        lambda w: f"{'the inverse' if raised_call(w)[0][-1] == ')' else 'a power of a'} function "
        f"is written {raised_call(w)[0]}",
        kind=OPERANDS, when=raised_function, mend=lambda w: raised_call(w)[1],
    ),
    Mistake(
        NO_OPERATOR, "put a function's operand in parentheses: write {before}(|…|)",
        kind="BAR", last="NAME", when=lambda w: known_word(w.before),
        mend=lambda w: (bars := re.compile(r"\|[^|]{1,60}\|").match(w.text, w.span[0]))
        and (w.place[1], bars.end(), f"({bars[0]})"),
    ),
    Mistake(
        NO_OPERATOR, "angles are in radians: write {mend}", kind="NAME", last="NUMBER", when=DEGREES,
        mend=DEGREES,
    ),
    Mistake(NO_OPERATOR, ABSENT["lg"], kind=OPERANDS, last="NAME", when=lambda w: w.before == "lg"),
    Mistake(
        NO_OPERATOR, "put a function's operand in parentheses: write {before}{mend}",
        otherwise="put a function's operand in parentheses: write {before}(…)",
        kind=OPERANDS, last="NAME", when=lambda w: known_word(w.before),
        mend=lambda w: None
        if w.kind == "LPAR" or not ALONE.match(w.rest) or w.word in FUNCTION_WORDS
        else (w.place[1], w.span[1], f"({w.word})"),
    ),
    Mistake(
        "a ',' is missing before '{word}'", "write {before}, {word}=…",
        kind="NAME", last=OPERAND_ENDS, bracket="(", when=lambda wrong: wrong.follows(r"\s*=(?!=)"),
    ),
    Mistake(
        NO_OPERATOR, "a number has one decimal point",
        kind="NUMBER", last="NUMBER", when=lambda wrong: wrong.is_adjacent,
    ),
    Mistake(
        NO_OPERATOR, lambda w: f"write ({w.before} + {w.word}{w.follows(MIXED)[0]})",  # type: ignore[index]
        kind="NUMBER", last="NUMBER", when=lambda wrong: wrong.follows(MIXED),
    ),
    Mistake(
        NO_OPERATOR, "for one number write {before}{word}, for a product {product}",
        kind="NUMBER", last="NUMBER", when=lambda wrong: re.fullmatch("[0-9]+", wrong.before + wrong.word),
    ),
    Mistake(
        NO_OPERATOR, lambda wrong: f"write {wrong.before}{wrong.word.replace('_', '')}",
        kind="NAME", last="NUMBER", when=lambda wrong: re.fullmatch("(?:_[0-9]+)+", wrong.word),
    ),
    Mistake(
        NO_OPERATOR, "there is no constant e: write {before}{mend}",
        kind="NAME", last="NUMBER", when=power_of_e, mend=power_of_e,
    ),
    Mistake(
        NO_OPERATOR, "numbers are written like 2, 2.5 or 1e-3; for a product write {product}",
        kind="NAME", last="NUMBER",
        when=lambda wrong: wrong.is_adjacent and re.fullmatch(r"_\w*|[eEjJ]", wrong.word),
    ),
    Mistake(
        NO_OPERATOR, "numbers are decimal, like 2, 2.5 or 1e-3", kind="NAME", last="NUMBER",
        when=lambda wrong: wrong.before == "0" and re.fullmatch("[xXoObB][0-9A-Fa-f]+", wrong.word),
    ),
    Mistake(
        NO_OPERATOR,
        lambda w: f"the transpose is written {owner_before(w.text, w.place[0])}.T, without parentheses",
        kind="LPAR", last="TRANSPOSE", when=lambda wrong: wrong.follows(r"\s*\)"),
    ),
    Mistake(
        NO_OPERATOR, "give values apart from the formula: x=3",
        kind="NAME", last=OPERAND_ENDS, when=lambda w: w.word in ("at", "where"),
    ),
    Mistake(
        "the base of a logarithm comes after its operand", "write log(x, b)",
        kind="LPAR", last="RSQB", when=BASED_LOGARITHM, mend=BASED_LOGARITHM,
    ),
    Mistake(
        NO_OPERATOR, lambda wrong: f"over an index, write {OVER[wrong.before]}(… for k in 1..10)",
        kind=OPERANDS, last="NAME", when=lambda wrong: wrong.before in OVER,
    ),
    Mistake(
        "'|' has two meanings here", "write abs(…) for absolute values side by side",
        kind=OPERANDS, last="BAR", when=lambda wrong: "|" in wrong.text[wrong.span[1] :],
    ),
    Mistake(
        NO_OPERATOR, "for a product write {product}",
        kind=f"{OPERANDS} BAR ROOT", last=OPERAND_ENDS, mend=insert_times,
    ),
    # An = that binds nothing.
    Mistake(
        "'={next}' is not an operator", "write {next}=",
        kind="EQUALS", last=OPERAND_ENDS, when=lambda wrong: wrong.follows("[<>]"), place="longer",
    ),
    Mistake(
        "'=' binds a name, and does not belong inside a formula", "to compare, write ==",
        kind="EQUALS", last="NAME", when=lambda wrong: wrong.bracket,
    ),
    Mistake(
        "only a name at the beginning of a statement can come before '='", "to compare, write ==",
        kind="EQUALS", last=OPERAND_ENDS,
    ),
    Mistake(
        "'{before}=' is not an operator", "name the result: y = x {before} …",
        kind="EQUALS", last="SIGN FACTOR POWER", place="both",
    ),
    Mistake(
        "an expression is missing before '='", "to compare, write ==",
        kind="EQUALS", last="EQUALS",
    ),
    Mistake(
        "there is no name before '='", "drop it, or write a name before it",
        kind="EQUALS", mend=lambda wrong: (*wrong.span, "") if wrong.last == BEGINNING else None,
    ),
    # Chains, and what separates.
    Mistake(
        "comparisons do not chain", "write {mend}", otherwise="write (a < b)*(b < c)",
        kind="COMPARISON", last=OPERAND_ENDS, mend=CHAIN,
    ),
    Mistake(
        "a ';' does not belong in a call", "operands are separated by ','",
        kind="SEMICOLON", last=OPERAND_ENDS, bracket="(", mend=lambda wrong: (*wrong.span, ","),
        when=lambda w: re.search(r"\w\s*$", w.text[: w.opened[0]])
        and closing_bracket(w.text[w.opened[0] :]) is not None,
    ),
    Mistake(
        "this '(' is never closed", "add a ')' before the ';'",
        kind=SEPARATORS, last=OPERAND_ENDS, when=lambda wrong: wrong.bracket, place="opened",
    ),
    Mistake(
        "a ',' separates the operands of a function, and there is no function here", without_comma,
        kind="COMMA", last=OPERAND_ENDS,
    ),
    # Nothing where something must stand.
    Mistake(
        "the power of a root has two meanings",
        lambda wrong: f"write {root_of(wrong)[0]} or {root_of(wrong)[1]}",
        kind="POWER SUPERSCRIPT", last="NUMBER NAME RPAR RSQB TRANSPOSE BAR",
    ),
    Mistake(
        "a power of a power needs parentheses", "write (x²)^3 or x^(2^3)",
        kind="POWER SUPERSCRIPT", last="SUPERSCRIPT",
    ),
    Mistake(
        PERCENT, "a percentage is a quotient: write {mend}",
        kind=f"{OPERATORS} {SEPARATORS} {END} RPAR COMMA", last="FACTOR", when=PERCENTAGE,
        mend=PERCENTAGE,
    ),
    Mistake(
        "an operand is missing between '{before}' and '{word}'",
        "add an operand after '{before}', or drop it",
        kind=OPERATORS, last=OPERATORS,
    ),
    Mistake(
        "an operand is missing after '{before}'", "put a formula that spans lines in parentheses",
        kind="NEWLINE", last=OPERATORS, place="place",
    ),
    Mistake(
        "an operand is missing after '{before}'", "add an operand after '{before}', or drop it",
        last=OPERATORS, place="place",
    ),
    Mistake("an operand is missing before {what}", "drop the ',' or add an operand", last="COMMA"),
    Mistake(
        "an operand is missing before {what}", "drop the ',' or add an operand",
        kind="COMMA", last="LPAR",
    ),
    Mistake(
        "an expression is missing before {what}", "write name = expression", last="EQUALS",
    ),
    Mistake("there is no operand before {what}", "put an operand before {what}"),
)  # fmt: skip
"""The mistakes; of the rows that fit, the first counts."""


# The whole text mended.

LONGEST = 160
"""The longest text that is mended as a whole, in characters."""
MOST_MENDS = 40


Reader = Callable[[str], object]
"""A function that reads a text, or raises its first mistake."""


def explain_mistake(text: str, wrong: Unexpected | LanguageError, read: Reader) -> LanguageError:
    """The error for a text's first mistake; its help ends with the whole text mended, if that says more."""
    error = locate_mistake(text, wrong)
    whole = mend_text(text, error, read)
    if whole is not None and whole not in (error.help or ""):
        hint = error.help or ""
        error.help = f"{hint}{'' if hint.endswith('?') else ';'} mended: {whole}"
    return error


def mend_text(text: str, error: LanguageError, read: Reader) -> str | None:
    """Mend this mistake and all others; None where a fix is not certain."""
    if len(text) > LONGEST or "\n" in text or re.search(r"(?<![\w.])solve\(", text):
        return None  # elsewhere solve takes an equation
    for _ in range(MOST_MENDS):
        if error.mend is None:
            return None
        start, end, new = error.mend
        text = (text[:start] + new + text[end:]).strip()
        try:
            read(text)
        except (Unexpected, LanguageError) as wrong:
            error = locate_mistake(text, wrong)
        else:
            return text[1:-1] if text[0] == "(" and is_enclosed(text) else text
    return None


def locate_mistake(text: str, wrong: Unexpected | LanguageError) -> LanguageError:
    """The error for a mistake: an unexpected token becomes a complaint."""
    return wrong if isinstance(wrong, LanguageError) else token_complaint(text, wrong)
