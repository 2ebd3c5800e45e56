"""What to say about a text that is not in the language: where it goes wrong, why, and the mend.

The mistakes are a table, ``MISTAKES``: a row says what stands where a mistake shows, and what to say of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from exprgrad.errors import LanguageError
from exprgrad.language.mistakes.foreign import (
    ABSENT,
    FUNCTION_WORDS,
    NAMES_HERE,
    ONLY_A_FORMULA,
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

BEGINNING = "BEGINNING"
"""What stands before the first token, as a kind of token."""
OPERAND_ENDS = "NUMBER NAME RPAR RSQB TRANSPOSE"
OPERATORS = "SIGN FACTOR POWER COMPARISON"
SEPARATORS = "NEWLINE SEMICOLON"
CLOSING = {"(": ")", "[": "]"}
OPENING = {"RPAR": "(", "RSQB": "["}
DATA = frozenset({"NUMBER", "SIGN", "NAME", "LSQB", "COLON", "COMMA", "RSQB", "RPAR"})
"""What an index or a setting is made of: where nothing else may stand, one of them is being read."""
SETTING = r"[(,]\s*[^\W\d]\w*\s*=[\s\d,\[\]+-]*\w*\s*$"
"""What stands before a place in a setting: ``(…, axis=``, ``(…, axis=[0, ``."""
DEFINITION = r"(?:^|[;\r\n])\s*[^\W\d]\w*\s*\([^()]{0,80}\)\s*$"
"""What stands before the ``=`` of a function's definition."""


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
    def in_index(self) -> bool:
        """Whether an index is being read."""
        return self.is_index and self.expected <= DATA

    @property
    def in_setting(self) -> bool:
        """Whether a setting is being read."""
        inside = self.bracket and not self.is_index and self.expected <= DATA
        return bool(inside and re.search(SETTING, self.text[: self.span[0]][-200:]))

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

    @property
    def both(self) -> Span:
        """The place of the two tokens."""
        return self.place[0], self.span[1]

    @property
    def longer(self) -> Span:
        """The place of the token and the character behind it."""
        return self.span[0], self.span[1] + 1

    @property
    def whole(self) -> Span:
        """The place of the whole text."""
        return 0, len(self.text)

    def follows(self, pattern: str) -> re.Match[str] | None:
        """What follows the token at once, if a pattern fits it."""
        return re.match(pattern, self.rest)

    def words(self) -> dict[str, str]:
        """What a message may mention."""
        ends = {END: "the end of the text", "NEWLINE": "the end of the line"}
        return {
            "word": self.word,
            "before": self.before,
            "next": self.rest[:1],
            "what": ends.get(self.kind, f"'{self.word}'"),
            "bracket": self.bracket,
            "closing": CLOSING.get(self.bracket, ""),
            "partner": OPENING.get(self.kind, ""),
            "indexed": indexed(self),
            "product": product(self),
        }


Help = str | Callable[[Wrong], str]


class Mistake(NamedTuple):
    """A mistake: the token where it shows, the one before it, and what is said of it.

    ``message``, ``help``  texts in which a word in braces stands for one of ``Wrong.words``
    ``kind``, ``last``   the terminals that the two tokens may be, separated by blanks; all if it is empty
    ``bracket``  the innermost open bracket, if it matters
    ``when``     what else must hold
    ``place``    what the carets mark: the name of a span of ``Wrong``
    ``opened``   what is said of the open bracket, which is shown too
    """

    message: str
    help: Help
    kind: str = ""
    last: str = ""
    bracket: str = ""
    when: Callable[[Wrong], object] | None = None
    place: str = "span"
    opened: str = ""

    def fits(self, wrong: Wrong) -> bool:
        """Whether this is the mistake."""
        return (
            (not self.kind or wrong.kind in self.kind.split())
            and (not self.last or wrong.last in self.last.split())
            and (not self.bracket or wrong.bracket == self.bracket)
            and (self.when is None or bool(self.when(wrong)))
        )


def syntax(
    message: str, help: str | None, span: Span, related: tuple[tuple[str, Span], ...] = ()
) -> LanguageError:
    """The error for what the grammar does not have."""
    return LanguageError("syntax", message, span=span, help=help, related=related)


def complaint(text: str, unexpected: Unexpected) -> LanguageError:
    """The error for the first token that cannot stand where it stands."""
    (start, end), (last, last_start, last_end) = unexpected.span, unexpected.last
    if unexpected.kind == UNKNOWN:
        return bad_character(text, (start, end))
    if unexpected.kind == "NAME" and not is_name(text[start:end]):
        return bad_name(text, text[start:end], (start, end))
    bracket = open_bracket(text, start)
    wrong = Wrong(
        text,
        unexpected.kind,
        (start, end),
        text[start:end],
        last or BEGINNING,
        (last_start, last_end),
        text[last_start:last_end],
        "" if bracket is None else text[bracket],
        (0, 0) if bracket is None else (bracket, bracket + 1),
        unexpected.expected,
    )
    mistake = next(row for row in MISTAKES if row.fits(wrong))
    words, said = wrong.words(), mistake.help
    return syntax(
        mistake.message.format_map(words),
        said.format_map(words) if isinstance(said, str) else said(wrong),
        getattr(wrong, mistake.place),
        ((mistake.opened, wrong.opened),) if mistake.opened else (),
    )


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


def is_name(text: str) -> bool:
    """Whether no character of a name is one that names may not hold."""
    import unicodedata

    return text.isascii() or unicodedata.normalize("NFC", text).isidentifier()


def bad_name(text: str, name: str, span: Span) -> LanguageError:
    """A word with a character that no name may hold, blamed on that character."""
    length = next(end for end in range(len(name)) if not is_name(name[: end + 1]))
    return bad_character(text, (span[0] + length, span[0] + length + 1))


def bad_character(text: str, span: Span) -> LanguageError:
    """A character that is not part of the language."""
    character = text[span[0]]
    alone = character.isprintable() and display_width(character)
    name = f"'{character}'" if alone else f"U+{ord(character):04X}"
    message = f"the character {name} is not part of the language"
    return syntax(message, character_hint(text, span), span)


# Mends that repeat some of what was typed.


def indexed(wrong: Wrong) -> str:
    """What stands before a bracket, if it is a short name."""
    bracket = wrong.opened[0]
    owner = re.search(r"\w{1,20}\s*$", wrong.text[max(bracket - 24, 0) : bracket])
    return owner[0].strip() if owner else "x"


def new_axis(wrong: Wrong) -> str:
    """The mend for ``x[None]``."""
    first = ":" not in wrong.text[wrong.opened[0] : wrong.span[0]]
    return new_axis_hint(indexed(wrong), first=first)


def listed_setting(wrong: Wrong) -> str:
    """The mend for a setting in parentheses."""
    group = re.match(r"\(([^()\[\]\r\n]{1,20})\)", wrong.word + wrong.rest[:23])
    return f"write a list in square brackets: [{group[1].rstrip(', ') if group else '0, 1'}]"


def listed_elements(wrong: Wrong) -> str:
    """The mend for a list whose elements blanks part; or a matrix whose rows semicolons part."""
    if re.match(r"\[[\w.,; +-]{0,40};", wrong.inside):
        return f"write {rows(wrong)}"
    found = re.match(r"\[([\w.,\s-]{1,40})\]", wrong.inside)
    return f"write [{spaced(found[1])}]" if found else "write [a, b]"


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


def product(wrong: Wrong) -> str:
    """The product of the two tokens, as far as it is short."""
    left = {"RPAR": "(…)", "RSQB": "[…]", "TRANSPOSE": "….T"}.get(wrong.last, wrong.before)
    return f"{left}*{right_of(wrong)}"


def right_of(wrong: Wrong) -> str:
    """The operand that begins with the token, as far as it is a number, a word, a call or a short group."""
    if wrong.kind == "LPAR":
        return short_group(wrong.text, wrong.span[0]) or "(…)"
    called = wrong.word in FUNCTION_WORDS
    return wrong.word + short_group(wrong.text, wrong.span[1]) * called


def raised_function(wrong: Wrong) -> re.Match[str] | None:
    """The function whose power stands before the token, as in ``sin^2(x)``."""
    start = wrong.place[0]
    before = wrong.text[max(start - 30, 0) : start]
    found = re.search(r"([^\W\d]\w{0,20})\s*(?:\^|\*\*)\s*$", before)
    return found if found and found[1] in FUNCTION_WORDS else None


def power_of_call(wrong: Wrong) -> str:
    """The mend for ``sin^2(x)``."""
    function = raised_function(wrong)
    assert function is not None
    return f"a power of a function is written {function[1]}{right_of(wrong)}^{wrong.before}"


def both_comparisons(wrong: Wrong) -> str:
    """The mend for a chain of comparisons, with the user's own operands where they are single words."""
    word, product = r"([^\W_][\w.]{0,20})", "(a < b)*(b < c)"
    head = rf"(?:^|[;=(,\n])\s*{word}\s*([<>]=?|[=!]=)\s*{word}\s*$"
    left = re.search(head, wrong.text[: wrong.span[0]][-80:])
    right = wrong.follows(rf"\s*{word}\s*(?:$|[;),\r\n])")
    if left and right:
        first, symbol, second = left.groups()
        product = f"({first} {symbol} {second})*({second} {wrong.word} {right[1]})"
    return f"write {product}"


def without_comma(wrong: Wrong) -> str:
    """The mend for a ',' that separates thousands, a number's decimals, or what is no call's operands."""
    more = re.match(r"((?:,[0-9]{3}){1,9})(?![0-9])", wrong.word + wrong.rest[:39])
    if more and re.fullmatch(r"[0-9]{1,3}", wrong.before):
        return f"write {wrong.before}{more[1].replace(',', '')}; a decimal point is '.'"
    if wrong.bracket != "(":
        return "a decimal point is '.', and statements are separated by ';'"
    text, bracket = wrong.text, wrong.opened[0]
    word = re.search(r"([^\W\d]\w{0,20})\($", text[max(bracket - 22, 0) : bracket])
    given = arguments(text, bracket - 1) if word else None
    foreign = word and given and translated(word[1], *given)
    group = re.match(r"\(([^()\[\]\r\n]{1,40})[)\]]", wrong.inside)
    listed = group[1].rstrip(", ") if group else "a, b"
    return foreign or f"write a list in square brackets: [{listed}]"


# The table.

NEVER_CLOSED = "this '{bracket}' is never closed"
NO_SLICE = "a ':' belongs in a slice, such as x[1:3], and there is no slice here"
NOT_AN_INDEX = "'{word}' cannot stand in an index"
NO_INDEX = "an index is missing before '{word}'"
AN_INDEX = (
    "an index is written out, as in {indexed}[0], {indexed}[0, 1], {indexed}[1:3] or {indexed}[-1]"
)
LESS_OR_MORE = "drop the ',' or add an index; ':' takes a whole axis"
NOT_A_SETTING = "'{word}' cannot stand in a setting"
A_SETTING = "a setting is a whole number, a list of them, True or False"
NO_OPERATOR = "an operator is missing between '{before}' and '{word}'"
OPERANDS = "NUMBER NAME LPAR"

MISTAKES = (
    Mistake(
        "there is no expression", "type a formula, such as (a+b)*c",
        kind=END, last=f"{BEGINNING} {SEPARATORS}", place="whole",
    ),
    Mistake(
        "'{before}{word}' is not an operator", lambda wrong: COMPOUNDS[wrong.before + wrong.word],
        when=lambda wrong: wrong.is_adjacent and wrong.before + wrong.word in COMPOUNDS, place="both",
    ),
    # Brackets.
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
    # Colons.
    Mistake(
        "a slice has no step", "a slice is start:stop, and takes every index between",
        kind="COLON", last=f"{OPERAND_ENDS} COLON", when=lambda wrong: wrong.in_index,
    ),
    Mistake(
        "':=' is not an operator", "a name is bound with =",
        kind="COLON", last=f"{OPERAND_ENDS} COLON", when=lambda wrong: wrong.follows("="), place="longer",
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
        NO_INDEX, LESS_OR_MORE,
        kind="COMMA", last="LSQB COMMA", when=lambda wrong: wrong.in_index,
    ),
    Mistake(NO_INDEX, LESS_OR_MORE, kind="RSQB", last="COMMA", when=lambda wrong: wrong.in_index),
    Mistake(NO_INDEX, AN_INDEX, kind="RSQB", last="LSQB", when=lambda wrong: wrong.in_index),
    Mistake(
        NOT_AN_INDEX, "an index takes one place or a slice; for several write [{indexed}[0], {indexed}[2]]",
        kind="LSQB", when=lambda wrong: wrong.in_index,
    ),
    Mistake(
        NOT_AN_INDEX, new_axis,
        when=lambda wrong: wrong.in_index
        and re.match(r"(?:\w+\.)?(?:None|newaxis)\b", (wrong.word + wrong.rest)[:20]),
    ),
    Mistake(
        NOT_AN_INDEX, "to choose by a condition write where(condition, {indexed}, 0)",
        kind="NAME", when=lambda wrong: wrong.in_index and re.match(r"\s*[<>=!]", wrong.rest[:8]),
    ),
    Mistake(
        NOT_AN_INDEX, "an index is one whole number: work it out",
        kind="SIGN FACTOR POWER", last="NUMBER", when=lambda wrong: wrong.in_index,
    ),
    Mistake(NOT_AN_INDEX, AN_INDEX, when=lambda wrong: wrong.in_index),
    Mistake(
        NOT_A_SETTING, listed_setting,
        kind="LPAR", when=lambda wrong: wrong.in_setting and wrong.last != "NAME",
    ),
    Mistake(
        "a setting is missing before '{word}'", A_SETTING,
        kind=f"COMMA RPAR RSQB {SEPARATORS}", when=lambda wrong: wrong.in_setting,
    ),
    Mistake(NOT_A_SETTING, A_SETTING, when=lambda wrong: wrong.in_setting),
    # Lists.
    Mistake(
        "a ';' cannot stand in a list", lambda wrong: f"its rows are lists: {rows(wrong)}",
        kind="SEMICOLON", last=OPERAND_ENDS, bracket="[",
    ),
    Mistake(
        "a ',' is missing between two elements of this list", listed_elements,
        kind="NUMBER NAME", last=OPERAND_ENDS, bracket="[",
        when=lambda wrong: not (wrong.is_adjacent or wrong.is_index or wrong.word in WORD_HINTS),
    ),
    # Two operands with no operator between them: 2x, 2(a+b), a b, x if y.
    Mistake(
        "'{word}' has no meaning here", lambda wrong: WORD_HINTS[wrong.word],
        kind=OPERANDS, last=OPERAND_ENDS, when=lambda wrong: wrong.word in WORD_HINTS,
    ),
    Mistake(
        "'{before}' has no meaning here", lambda wrong: WORD_HINTS[wrong.before],
        kind=OPERANDS, last=OPERAND_ENDS, when=lambda wrong: wrong.before in WORD_HINTS, place="place",
    ),
    Mistake(
        NO_OPERATOR, "put a function's operand in parentheses: write {before}({word})",
        kind=OPERANDS, last="NAME", when=lambda wrong: wrong.before in FUNCTION_WORDS,
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
        NO_OPERATOR, "for one number write {before}{word}, for a product {product}",
        kind="NUMBER", last="NUMBER", when=lambda wrong: re.fullmatch("[0-9]+", wrong.before + wrong.word),
    ),
    Mistake(
        NO_OPERATOR, lambda wrong: f"write {wrong.before}{wrong.word.replace('_', '')}",
        kind="NAME", last="NUMBER", when=lambda wrong: re.fullmatch("(?:_[0-9]+)+", wrong.word),
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
        NO_OPERATOR, ONLY_A_FORMULA, kind=OPERANDS, last="NAME RPAR",
        when=lambda w: re.match(r"\s*d\s*/\s*d\w|(?i:derivative|gradient|diff)\b", w.text),
    ),
    Mistake(NO_OPERATOR, power_of_call, kind="LPAR", last=OPERAND_ENDS, when=raised_function),
    Mistake(NO_OPERATOR, "for a product write {product}", kind=OPERANDS, last=OPERAND_ENDS),
    # An = that binds nothing.
    Mistake(
        "'={next}' is not an operator", "write {next}=",
        kind="EQUALS", last=OPERAND_ENDS, when=lambda wrong: wrong.follows("[<>]"), place="longer",
    ),
    Mistake(
        "'=' binds a name and cannot stand inside a formula", "to compare, write ==",
        kind="EQUALS", last="NAME", when=lambda wrong: wrong.bracket,
    ),
    Mistake(
        "functions cannot be defined", "write the formula alone: its names are its inputs",
        kind="EQUALS", last=OPERAND_ENDS,
        when=lambda wrong: re.search(DEFINITION, wrong.text[: wrong.span[0]][-200:]),
    ),
    Mistake(
        "only a name at the beginning of a statement can stand before '='", "to compare, write ==",
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
        "there is no name before '='", "to bind a node's name, write name = expression",
        kind="EQUALS",
    ),
    # Chains, and what separates.
    Mistake("comparisons do not chain", both_comparisons, kind="COMPARISON", last=OPERAND_ENDS),
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
"""What can be wrong with a text; of the rows that fit, the first counts."""
