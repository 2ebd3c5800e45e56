"""What to say about a text that is not in the language: where it goes wrong, why, and the mend."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from exprgrad.errors import LanguageError
from exprgrad.language.mistakes.foreign import (
    ABSENT,
    FUNCTION_WORDS,
    NAMES_HERE,
    arguments,
    new_axis_hint,
    owner_before,
    spelled_here,
    translated,
)
from exprgrad.language.mistakes.hints import (
    COMPOUNDS,
    WORD_HINTS,
    character_hint,
    operation_meant,
)
from exprgrad.language.read.lalr import END, UNKNOWN, Unexpected
from exprgrad.source import Span, depths, display_width

__all__ = ["bad_name", "complaint", "unknown_function"]

OPERAND_ENDS = frozenset({"NUMBER", "NAME", "RPAR", "RSQB", "TRANSPOSE"})
OPERATORS = frozenset({"SIGN", "FACTOR", "POWER", "COMPARISON"})
SEPARATORS = frozenset({"NEWLINE", "SEMICOLON"})
CLOSING = {"(": ")", "[": "]"}
OPENING = {"RPAR": "(", "RSQB": "["}
DATA = frozenset({"NUMBER", "SIGN", "NAME", "LSQB", "COLON", "COMMA", "RSQB", "RPAR"})
"""What an index or a setting is made of: where nothing else may stand, one of them is being read."""
SETTING = r"[(,]\s*[^\W\d]\w*\s*=[\s\d,\[\]+-]*\w*\s*$"
"""What stands before a place in a setting: ``(…, axis=``, ``(…, axis=[0, ``."""


class Wrong(NamedTuple):
    """The first token that cannot stand where it stands, and what is around it.

    ``kind``, ``span``, ``word``  the token: its terminal, its place and its text
    ``last``, ``place``, ``before``  the same of the token before it
    ``bracket``   the innermost bracket that is open there, and ``opened`` its place, if there is one
    ``expected``  the terminals that could have stood there
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

    @property
    def is_index(self) -> bool:
        """Whether the bracket is a '[' that stands behind an operand."""
        return self.bracket == "[" and bool(
            re.search(r"[\w)\].]\s*$", self.text[max(self.opened[0] - 80, 0) : self.opened[0]])
        )

    @property
    def is_adjacent(self) -> bool:
        """Whether nothing, not even a blank, parts the two tokens."""
        return self.span[0] == self.place[1]

    @property
    def inside(self) -> str:
        """The beginning of what is written from the bracket on."""
        return self.text[self.opened[0] : self.opened[0] + 44]

    @property
    def rest(self) -> str:
        """What follows the token, or some of it."""
        return self.text[self.span[1] : self.span[1] + 40]

    def error(
        self,
        message: str,
        help: str | None,
        span: Span | None = None,
        related: tuple[tuple[str, Span], ...] = (),
    ) -> LanguageError:
        """The error at the token, or elsewhere."""
        return syntax(message, help, span or self.span, related)


def syntax(
    message: str, help: str | None, span: Span, related: tuple[tuple[str, Span], ...] = ()
) -> LanguageError:
    """The error for what the grammar does not have."""
    return LanguageError("syntax", message, span=span, help=help, related=related)


def complaint(text: str, unexpected: Unexpected) -> LanguageError:
    """The error for the first token that cannot stand where it stands."""
    (start, end), (last, last_start, last_end) = unexpected.span, unexpected.last
    bracket = open_bracket(text, start)
    wrong = Wrong(
        text,
        unexpected.kind,
        (start, end),
        text[start:end],
        last,
        (last_start, last_end),
        text[last_start:last_end],
        "" if bracket is None else text[bracket],
        (0, 0) if bracket is None else (bracket, bracket + 1),
        unexpected.expected,
    )
    return next(error for check in CHECKS if (error := check(wrong)) is not None)


def open_bracket(text: str, end: int) -> int | None:
    """Where the innermost bracket stands that is still open at an offset."""
    read = re.sub(r"#[^\r\n]*", lambda comment: " " * len(comment.group()), text[:end]) + " "
    deep = depths(read)
    within = deep[-1] - 1
    return next((at for at in range(end, -1, -1) if read[at] in "([" and deep[at] == within), None)


# Calls and names.


def unknown_function(text: str, name: str, span: Span, names: Iterable[str]) -> LanguageError:
    """A call of something that is not a function; ``names`` are the names that stand for nodes."""
    given = arguments(text, span[1])
    foreign = given and name not in names and translated(name, *given)
    only = given and f"write {NAMES_HERE.get(name)}({', '.join(given[0])})"
    if foreign and foreign != only:
        help = foreign
    elif name in NAMES_HERE and name not in names:
        help = f"here it is called '{NAMES_HERE[name]}'"
    elif spelled_here(name):
        help = f"here that is written {spelled_here(name)}"
    elif name in ABSENT and name not in names:
        help = ABSENT[name]
    elif name in names or len(name) == 1:
        help = f"for a product write {name}*{short_group(text, span[1]) or '(…)'}"
    else:
        help = operation_meant(name, FUNCTION_WORDS, "'exprgrad ops' lists the functions")
    return LanguageError("unknown-function", f"unknown function '{name}'", span=span, help=help)


def short_group(text: str, start: int) -> str:
    """The parentheses that begin here, blanks before them aside, if they are short and hold no others."""
    group = re.compile(r"[ \t]*(\([^()\r\n]{1,20}\))").match(text, start)
    return group[1] if group else ""


def bad_name(text: str, name: str, span: Span) -> LanguageError:
    """A word with a character that no name may hold, blamed on that character."""
    import unicodedata

    def valid(end: int) -> bool:
        return unicodedata.normalize("NFC", name[:end]).isidentifier()

    length = next(end for end in range(len(name)) if not valid(end + 1))
    return bad_character(text, (span[0] + length, span[0] + length + 1))


def bad_character(text: str, span: Span) -> LanguageError:
    """A character that is not part of the language."""
    character = text[span[0]]
    alone = character.isprintable() and display_width(character)
    name = f"'{character}'" if alone else f"U+{ord(character):04X}"
    message = f"the character {name} is not part of the language"
    return syntax(message, character_hint(text, span), span)


# Each check says what is wrong, or None if it is something else; the order counts.


def unreadable(wrong: Wrong) -> LanguageError | None:
    """A character or a name that is none, however it came to stand there."""
    if wrong.kind == UNKNOWN:
        return bad_character(wrong.text, wrong.span)
    if wrong.kind != "NAME" or wrong.word.isascii():
        return None
    import unicodedata

    if unicodedata.normalize("NFC", wrong.word).isidentifier():
        return None
    return bad_name(wrong.text, wrong.word, wrong.span)


def nothing(wrong: Wrong) -> LanguageError | None:
    """A text without an expression."""
    if wrong.kind != END or (wrong.last and wrong.last not in SEPARATORS):
        return None
    help = "type a formula, such as (a+b)*c"
    return wrong.error("there is no expression", help, (0, len(wrong.text)))


def compound(wrong: Wrong) -> LanguageError | None:
    """Two signs that are one operator elsewhere."""
    both = wrong.before + wrong.word
    if not wrong.is_adjacent or both not in COMPOUNDS:
        return None
    place = wrong.place[0], wrong.span[1]
    return wrong.error(f"'{both}' is not an operator", COMPOUNDS[both], place)


def unpaired(wrong: Wrong) -> LanguageError | None:
    """A bracket without its partner, or parentheses around nothing."""
    kind, last, word, bracket = wrong.kind, wrong.last, wrong.word, wrong.bracket
    if kind == END and bracket and last not in OPERATORS:
        missing = f"a '{CLOSING[bracket]}'"
        if last in ("LPAR", "LSQB", "COMMA"):
            missing = f"{'an index' if wrong.is_index else 'an operand'} and {missing}"
        return wrong.error(f"this '{bracket}' is never closed", f"add {missing}", wrong.opened)
    partner = OPENING.get(kind)
    if partner and not bracket:
        help = f"drop it, or add a '{partner}' before it"
        return wrong.error(f"there is no '{partner}' for this '{word}'", help)
    if partner and bracket != partner:
        message, help = f"this '{word}' cannot close the '{bracket}'", f"write '{CLOSING[bracket]}'"
        return wrong.error(message, help, related=(("opened here", wrong.opened),))
    if kind == "RPAR" and last == "LPAR":
        place = wrong.place[0], wrong.span[1]
        message = "there is nothing inside these parentheses"
        return wrong.error(message, "add an operand, or drop them", place)
    return None


def misplaced_colon(wrong: Wrong) -> LanguageError | None:
    """A step in a slice, or a ':' where there is no slice."""
    if wrong.kind != "COLON" or wrong.last not in OPERAND_ENDS | {"COLON"}:
        return None
    if wrong.expected <= DATA and wrong.is_index:
        help = "a slice is start:stop, and takes every index between"
        return wrong.error("a slice has no step", help)
    if wrong.rest[:1] == "=":
        place = wrong.span[0], wrong.span[1] + 1
        return wrong.error("':=' is not an operator", "a name is bound with =", place)
    help = "a name is bound with =, and a choice is where(condition, x, y)"
    if wrong.bracket == "[" and not wrong.is_index:
        help = "the numbers of a list are written out: [1, 2, 3]"
    return wrong.error("a ':' belongs in a slice, such as x[1:3], and there is no slice here", help)


def not_data(wrong: Wrong) -> LanguageError | None:
    """Something in an index or a setting that is not plain data."""
    if not wrong.bracket or not wrong.expected <= DATA:
        return None
    if wrong.is_index:
        return wrong_index(wrong)
    if not re.search(SETTING, wrong.text[: wrong.span[0]][-200:]):
        return None
    help = "a setting is a whole number, a list of them, True or False"
    if wrong.kind == "LPAR" and wrong.last != "NAME":
        group = re.match(r"\(([^()\[\]\r\n]{1,20})\)", wrong.word + wrong.rest[:23])
        help = f"write a list in square brackets: [{group[1].rstrip(', ') if group else '0, 1'}]"
    message = f"'{wrong.word}' cannot stand in a setting"
    if wrong.kind in {"COMMA", "RPAR", "RSQB"} | SEPARATORS:
        message = f"a setting is missing before '{wrong.word}'"
    return wrong.error(message, help)


def wrong_index(wrong: Wrong) -> LanguageError:
    """Something that is no index behind a '['."""
    kind, last, text, bracket = wrong.kind, wrong.last, wrong.text, wrong.opened[0]
    owner = re.search(r"\w{1,20}\s*$", text[max(bracket - 24, 0) : bracket])
    name = owner[0].strip() if owner else "x"
    help = f"an index is written out, as in {name}[0], {name}[0, 1], {name}[1:3] or {name}[-1]"
    message = f"'{wrong.word}' cannot stand in an index"
    if kind in ("RSQB", "COMMA") and last in ("LSQB", "COMMA"):
        message = f"an index is missing before '{wrong.word}'"
        if kind == "COMMA" or last == "COMMA":
            help = "drop the ',' or add an index; ':' takes a whole axis"
    elif kind == "LSQB":
        help = f"an index takes one place or a slice; for several write [{name}[0], {name}[2]]"
    elif re.match(r"(?:\w+\.)?(?:None|newaxis)\b", text[wrong.span[0] : wrong.span[0] + 20]):
        help = new_axis_hint(name, first=":" not in text[bracket : wrong.span[0]])
    elif kind == "NAME" and re.match(r"\s*[<>=!]", wrong.rest[:8]):
        help = f"to choose by a condition write where(condition, {name}, 0)"
    elif last == "NUMBER" and kind in ("SIGN", "FACTOR", "POWER"):
        help = "an index is one whole number: work it out"
    return wrong.error(message, help)


def apart(wrong: Wrong) -> LanguageError | None:
    """Rows or elements of a list that other signs part than commas."""
    if wrong.bracket != "[" or wrong.last not in OPERAND_ENDS:
        return None
    if wrong.kind == "SEMICOLON":
        return wrong.error("a ';' cannot stand in a list", f"its rows are lists: {rows(wrong)}")
    is_element = wrong.kind in ("NUMBER", "NAME") and wrong.word not in WORD_HINTS
    if not is_element or wrong.is_adjacent or wrong.is_index:
        return None
    found = re.match(r"\[([\w.,\s-]{1,40})\]", wrong.inside)
    help = f"write [{spaced(found[1])}]" if found else "write [a, b]"
    if re.match(r"\[[\w.,; +-]{0,40};", wrong.inside):
        help = f"write {rows(wrong)}"
    return wrong.error("a ',' is missing between two elements of this list", help)


def rows(wrong: Wrong) -> str:
    """A matrix whose rows are separated by ';' as we write it, if it is short and plain."""
    found = re.match(r"\[([\w.,; +-]{1,40})\]", wrong.inside)
    listed = (
        [spaced(row) for row in found[1].split(";") if row.strip()] if found else ["1, 2", "3, 4"]
    )
    return f"[{', '.join(f'[{row}]' for row in listed)}]"


def spaced(row: str) -> str:
    """Elements separated by blanks or commas, with commas."""
    return ", ".join(part for part in re.split(r"[\s,]+", row) if part)


def juxtaposed(wrong: Wrong) -> LanguageError | None:
    """Two operands with no operator between them: ``2x``, ``2(a+b)``, ``a b``, ``x if y``."""
    kind, word, last, before = wrong.kind, wrong.word, wrong.last, wrong.before
    if kind not in ("NUMBER", "NAME", "LPAR") or last not in OPERAND_ENDS:
        return None
    for hinted, place in ((word, wrong.span), (before, wrong.place)):
        if hinted in WORD_HINTS:
            return wrong.error(f"'{hinted}' has no meaning here", WORD_HINTS[hinted], place)
    group = short_group(wrong.text, wrong.span[0] if kind == "LPAR" else wrong.span[1])
    right = group or "(…)" if kind == "LPAR" else word + (group if word in FUNCTION_WORDS else "")
    message = f"an operator is missing between '{before}' and '{word}'"
    if last == "NAME" and before in FUNCTION_WORDS:
        help = f"put a function's operand in parentheses: write {before}({word})"
        return wrong.error(message, help)
    if kind == "NAME" and re.match(r"\s*=(?!=)", wrong.rest) and wrong.bracket == "(":
        return wrong.error(f"a ',' is missing before '{word}'", f"write {before}, {word}=…")
    left = {"RPAR": "(…)", "RSQB": "[…]", "TRANSPOSE": "….T"}.get(last, before)
    product = f"{left}*{right}"
    mend = called_hint(wrong, right) if kind == "LPAR" else number_hint(wrong, product)
    return wrong.error(message, mend or f"for a product write {product}")


def called_hint(wrong: Wrong, right: str) -> str | None:
    """The mend for parentheses behind ``x.T`` or behind the power of a function, as in ``sin^2(x)``."""
    text, start = wrong.text, wrong.place[0]
    if wrong.last == "TRANSPOSE" and re.match(r"\s*\)", wrong.rest):
        return f"the transpose is written {owner_before(text, start)}.T, without parentheses"
    found = re.search(r"([^\W\d]\w{0,20})\s*(?:\^|\*\*)\s*$", text[max(start - 30, 0) : start])
    if found and found[1] in FUNCTION_WORDS:
        return f"a power of a function is written {found[1]}{right}^{wrong.before}"
    return None


def number_hint(wrong: Wrong, product: str) -> str | None:
    """The mend for a number that is not written as numbers are here."""
    word, before = wrong.word, wrong.before
    if wrong.last != "NUMBER":
        return None
    if wrong.kind == "NUMBER":
        if wrong.is_adjacent:
            return "a number has one decimal point"
        joined = f"{before}{word}"
        whole = re.fullmatch(r"[0-9]+", joined)
        return f"for one number write {joined}, for a product {product}" if whole else None
    if re.fullmatch(r"(?:_[0-9]+)+", word):
        return f"write {before}{word.replace('_', '')}"
    if wrong.is_adjacent and re.fullmatch(r"_\w*|[eEjJ]", word):
        return f"numbers are written like 2, 2.5 or 1e-3; for a product write {product}"
    if before == "0" and re.fullmatch(r"[xXoObB][0-9A-Fa-f]+", word):
        return "numbers are decimal, like 2, 2.5 or 1e-3"
    return None


def misplaced_equals(wrong: Wrong) -> LanguageError | None:
    """An '=' that binds nothing."""
    if wrong.kind != "EQUALS":
        return None
    (start, end), last, after = wrong.span, wrong.last, wrong.rest[:1]
    if last in OPERAND_ENDS and after in ("<", ">"):
        return wrong.error(f"'={after}' is not an operator", f"write {after}=", (start, end + 1))
    if last == "NAME" and wrong.bracket:
        message = "'=' binds a name and cannot stand inside a formula"
        return wrong.error(message, "to compare, write ==")
    if last in OPERAND_ENDS:
        head = r"(?:^|[;\r\n])\s*[^\W\d]\w*\s*\([^()]{0,80}\)\s*$"
        if re.search(head, wrong.text[:start][-200:]):
            help = "write the formula alone: its names are its inputs"
            return wrong.error("functions cannot be defined", help)
        message = "only a name at the beginning of a statement can stand before '='"
        return wrong.error(message, "to compare, write ==")
    if last in OPERATORS - {"COMPARISON"}:
        message, help = f"'{wrong.before}=' is not an operator", f"y = x {wrong.before} …"
        return wrong.error(message, f"name the result: {help}", (wrong.place[0], end))
    if last == "EQUALS":
        return wrong.error("an expression is missing before '='", "to compare, write ==")
    help = "to bind a node's name, write name = expression"
    return wrong.error("there is no name before '='", help)


def chained(wrong: Wrong) -> LanguageError | None:
    """A comparison of a comparison; the mend has the user's own operands where they are single words."""
    if wrong.kind != "COMPARISON" or wrong.last not in OPERAND_ENDS:
        return None
    word, product = r"([^\W_][\w.]{0,20})", "(a < b)*(b < c)"
    head = rf"(?:^|[;=(,\n])\s*{word}\s*([<>]=?|[=!]=)\s*{word}\s*$"
    left = re.search(head, wrong.text[: wrong.span[0]][-80:])
    right = re.match(rf"\s*{word}\s*(?:$|[;),\r\n])", wrong.rest)
    if left and right:
        first, symbol, second = left.groups()
        product = f"({first} {symbol} {second})*({second} {wrong.word} {right[1]})"
    return wrong.error("comparisons do not chain", f"write {product}")


def separated(wrong: Wrong) -> LanguageError | None:
    """A ';' inside parentheses, or a ',' outside of a function's."""
    if wrong.last not in OPERAND_ENDS:
        return None
    if wrong.kind in SEPARATORS and wrong.bracket:
        return wrong.error("this '(' is never closed", "add a ')' before the ';'", wrong.opened)
    if wrong.kind != "COMMA":
        return None
    more = re.match(r"((?:,[0-9]{3}){1,9})(?![0-9])", wrong.word + wrong.rest[:39])
    if more and re.fullmatch(r"[0-9]{1,3}", wrong.before):
        help = f"write {wrong.before}{more[1].replace(',', '')}; a decimal point is '.'"
    elif wrong.bracket == "(":
        help = tuple_hint(wrong)
    else:
        help = "a decimal point is '.', and statements are separated by ';'"
    return wrong.error(
        "a ',' separates the operands of a function, and there is no function here", help
    )


def tuple_hint(wrong: Wrong) -> str:
    """The mend for ``(2, 3)``: a list is written in square brackets."""
    text, bracket = wrong.text, wrong.opened[0]
    word = re.search(r"([^\W\d]\w{0,20})\($", text[max(bracket - 22, 0) : bracket])
    given = arguments(text, bracket - 1) if word else None
    foreign = word and given and translated(word[1], *given)
    group = re.match(r"\(([^()\[\]\r\n]{1,40})[)\]]", wrong.inside)
    listed = group[1].rstrip(", ") if group else "a, b"
    return foreign or f"write a list in square brackets: [{listed}]"


def missing_operand(wrong: Wrong) -> LanguageError | None:
    """An operator with nothing, or another operator, behind it."""
    if wrong.last not in OPERATORS:
        return None
    help = f"add an operand after '{wrong.before}', or drop it"
    if wrong.kind in OPERATORS:
        message = f"an operand is missing between '{wrong.before}' and '{wrong.word}'"
        return wrong.error(message, help)
    if wrong.kind == "NEWLINE":
        help = "put a formula that spans lines in parentheses"
    return wrong.error(f"an operand is missing after '{wrong.before}'", help, wrong.place)


def missing(wrong: Wrong) -> LanguageError:
    """Something that nothing stands before."""
    ends = {END: "the end of the text", "NEWLINE": "the end of the line"}
    what = ends.get(wrong.kind, f"'{wrong.word}'")
    if wrong.last == "COMMA" or (wrong.last == "LPAR" and wrong.kind == "COMMA"):
        message, help = f"an operand is missing before {what}", "drop the ',' or add an operand"
    elif wrong.last == "EQUALS":
        message, help = f"an expression is missing before {what}", "write name = expression"
    else:
        message, help = f"there is no operand before {what}", f"put an operand before {what}"
    return wrong.error(message, help)


CHECKS: tuple[Callable[[Wrong], LanguageError | None], ...] = (
    unreadable, nothing, compound, unpaired, misplaced_colon, not_data, apart, juxtaposed,
    misplaced_equals, chained, separated, missing_operand, missing,
)  # fmt: skip
