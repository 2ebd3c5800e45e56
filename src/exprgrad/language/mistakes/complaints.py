"""What to say about a text that is not in the language: where it goes wrong, why, and the mend."""

from __future__ import annotations

import re
from collections.abc import Iterable

from exprgrad.errors import LanguageError
from exprgrad.language.mistakes import brackets
from exprgrad.language.mistakes.brackets import OPERAND_ENDS, comma_hint, unclosed_bracket
from exprgrad.language.mistakes.call_text import arguments, owner_before
from exprgrad.language.mistakes.foreign import ABSENT, OTHER_SPELLINGS
from exprgrad.language.mistakes.hints import (
    COMPOUNDS,
    FUNCTIONS,
    OPERATOR_WORDS,
    WORD_HINTS,
    character_hint,
    nearest_operation,
)
from exprgrad.language.mistakes.rewriting import rewritten
from exprgrad.language.read.lalr import END, UNKNOWN, Unexpected
from exprgrad.source import Source, Span, display_width

__all__ = ["bad_name", "complaint", "unknown_function"]

OPERATORS = frozenset({"SIGN", "FACTOR", "POWER", "COMPARISON"})
SEPARATORS = frozenset({"NEWLINE", "SEMICOLON"})


def unknown_function(source: Source, name: str, span: Span, names: Iterable[str]) -> LanguageError:
    """A call of something that is not a function; ``names`` are the names that stand for nodes."""
    given = arguments(source.text, span[1])
    foreign = given and name not in names and rewritten(name, *given, FUNCTIONS)
    only = given and f"write {OTHER_SPELLINGS.get(name)}({', '.join(given[0])})"
    if foreign and foreign != only:
        help = foreign
    elif name in OTHER_SPELLINGS and name not in names:
        help = f"here it is called '{OTHER_SPELLINGS[name]}'"
    elif name in OPERATOR_WORDS:
        help = f"here that is written {OPERATOR_WORDS[name]}"
    elif name in ABSENT and name not in names:
        help = ABSENT[name]
    elif name in names or len(name) == 1:
        group = short_group(source.text, span[1])
        help = f"for a product write {name}*{group or '(…)'}"
    else:
        known = nearest_operation(name)
        help = f"did you mean '{known}'?" if known else "'exprgrad ops' lists the functions"
    message = f"unknown function '{name}'"
    return LanguageError("unknown-function", message, source=source, span=span, help=help)


def short_group(text: str, start: int) -> str:
    """The parentheses that begin here, blanks before them aside, if they are short and hold no others."""
    group = re.compile(r"[ \t]*(\([^()\r\n]{1,20}\))").match(text, start)
    return group[1] if group else ""


def bad_name(source: Source, text: str, span: Span) -> LanguageError:
    """A word with a character that no name may hold, blamed on that character."""
    import unicodedata

    def valid(end: int) -> bool:
        return unicodedata.normalize("NFC", text[:end]).isidentifier()

    length = next(end for end in range(len(text)) if not valid(end + 1))
    place = span[0] + length, span[0] + length + 1
    return bad_character(source, text[length], place)


def bad_character(source: Source, character: str, span: Span) -> LanguageError:
    """A character that is not part of the language."""
    alone = character.isprintable() and display_width(character)
    name = f"'{character}'" if alone else f"U+{ord(character):04X}"
    message = f"the character {name} is not part of the language"
    help = character_hint(source.text, span)
    return LanguageError("syntax", message, source=source, span=span, help=help)


def complaint(source: Source, unexpected: Unexpected) -> LanguageError:
    """The error for the first token that cannot stand where it stands."""
    kind, span = unexpected.kind, unexpected.span
    last, last_start, last_end = unexpected.last
    text = source.text
    word, before = text[span[0] : span[1]], text[last_start:last_end]

    def error(message: str, help: str | None = None, place: Span = span) -> LanguageError:
        return LanguageError("syntax", message, source=source, span=place, help=help)

    if kind == UNKNOWN:
        return bad_character(source, word, span)
    if kind == "NAME" and not word.isascii():
        wrong = wrong_name(source, word, span)
        if wrong is not None:
            return wrong
    if kind == END and (not last or last in SEPARATORS):
        return error("there is no expression", "type a formula, such as (a+b)*c", (0, len(text)))
    if span[0] == last_end and before + word in COMPOUNDS:
        message = f"'{before}{word}' is not an operator"
        return error(message, COMPOUNDS[before + word], (last_start, span[1]))
    unclosed = unclosed_bracket(source, span[0])
    in_brackets = brackets.complaint(source, unexpected, unclosed)
    if in_brackets is not None:
        return in_brackets
    if kind in ("NUMBER", "NAME", "LPAR") and last in OPERAND_ENDS:
        return juxtaposed(source, unexpected)
    if kind == "EQUALS":
        return misplaced_equals(source, unexpected, nested=unclosed is not None)
    if kind == "COMPARISON" and last in OPERAND_ENDS:
        return error("comparisons do not chain", f"write {unchained(text, span)}")
    if kind in SEPARATORS and unclosed is not None and last in OPERAND_ENDS:
        return error("this '(' is never closed", "add a ')' before the ';'", unclosed)
    if kind == "COMMA" and last in OPERAND_ENDS:
        help = (
            comma_hint(text, unclosed)
            or "a decimal point is '.', and statements are separated by ';'"
        )
        more = re.match(r"((?:,[0-9]{3}){1,9})(?![0-9])", text[span[0] : span[0] + 40])
        if more and re.fullmatch(r"[0-9]{1,3}", before):
            help = f"write {before}{more[1].replace(',', '')}; a decimal point is '.'"
        return error("a ',' separates the operands of a function, and there is none here", help)
    if last in OPERATORS:
        return missing_operand(source, unexpected)
    what = {END: "the end of the text", "NEWLINE": "the end of the line"}.get(kind, f"'{word}'")
    if last == "COMMA" or (last == "LPAR" and kind == "COMMA"):
        return error(f"an operand is missing before {what}", "drop the ',' or add an operand")
    if last == "EQUALS":
        return error(f"an expression is missing before {what}", "write name = expression")
    return error(f"there is no operand before {what}", f"put an operand before {what}")


def misplaced_equals(source: Source, unexpected: Unexpected, *, nested: bool) -> LanguageError:
    """An '=' that binds nothing."""
    span = unexpected.span
    last, last_start, last_end = unexpected.last
    before = source.text[last_start:last_end]
    help = "to compare, write =="
    after = source.text[span[1] : span[1] + 1]
    if last in OPERAND_ENDS and after in ("<", ">"):
        message, span = f"'={after}' is not an operator", (span[0], span[1] + 1)
        help = f"write {after}="
    elif last == "NAME" and nested:
        message = "'=' binds a name and cannot stand inside a formula"
    elif last in OPERAND_ENDS:
        message = "only a name at the beginning of a statement can stand before '='"
        if re.search(
            r"(?:^|[;\r\n])\s*[^\W\d]\w*\s*\([^()]{0,80}\)\s*$", source.text[: span[0]][-200:]
        ):
            message = "functions cannot be defined"
            help = "write the formula alone: its names are its inputs"
    elif before in ("+", "-", "*", "/", "%", "^", "**", "@"):
        message, span = f"'{before}=' is not an operator", (last_start, span[1])
        help = f"name the result: y = x {before} …"
    elif last == "EQUALS":
        message = "an expression is missing before '='"
    else:
        message = "there is no name before '='"
        help = "to bind a node's name, write name = expression"
    return LanguageError("syntax", message, source=source, span=span, help=help)


def unchained(text: str, span: Span) -> str:
    """Two comparisons as a product, with the user's own operands where they are single words."""
    word = r"([^\W_][\w.]{0,20})"
    left = re.search(
        rf"(?:^|[;=(,\n])\s*{word}\s*([<>]=?|[=!]=)\s*{word}\s*$", text[: span[0]][-80:]
    )
    right = re.match(rf"\s*{word}\s*(?:$|[;),\r\n])", text[span[1] : span[1] + 40])
    if not left or not right:
        return "(a < b)*(b < c)"
    first, symbol, second = left.groups()
    return f"({first} {symbol} {second})*({second} {text[span[0] : span[1]]} {right[1]})"


def wrong_name(source: Source, word: str, span: Span) -> LanguageError | None:
    """An error if a word is not a name, however it came to stand there."""
    import unicodedata

    if unicodedata.normalize("NFC", word).isidentifier():
        return None
    return bad_name(source, word, span)


def missing_operand(source: Source, unexpected: Unexpected) -> LanguageError:
    """An operator with nothing, or another operator, behind it."""
    kind, span = unexpected.kind, unexpected.span
    _, last_start, last_end = unexpected.last
    before, word = source.text[last_start:last_end], source.text[span[0] : span[1]]
    help = f"add an operand after '{before}', or drop it"
    place = last_start, last_end
    if kind in OPERATORS:
        message = f"an operand is missing between '{before}' and '{word}'"
        place = span
    else:
        message = f"an operand is missing after '{before}'"
        if kind == "NEWLINE":
            help = "a formula that spans lines stands in parentheses"
    return LanguageError("syntax", message, source=source, span=place, help=help)


def juxtaposed(source: Source, unexpected: Unexpected) -> LanguageError:
    """Two operands with no operator between them: ``2x``, ``2(a+b)``, ``a b``, ``x if y``."""
    kind, span = unexpected.kind, unexpected.span
    last, last_start, last_end = unexpected.last
    text = source.text
    before, word = text[last_start:last_end], text[span[0] : span[1]]
    adjacent = span[0] == last_end
    for hinted, place in ((word, span), (before, (last_start, last_end))):
        if hinted in WORD_HINTS:
            message = f"'{hinted}' has no meaning here"
            return LanguageError(
                "syntax", message, source=source, span=place, help=WORD_HINTS[hinted]
            )
    group = short_group(text, span[0] if kind == "LPAR" else span[1])
    right = group or "(…)" if kind == "LPAR" else word + (group if word in FUNCTIONS else "")
    left = {"RPAR": "(…)", "RSQB": "[…]", "TRANSPOSE": "….T"}.get(last, before)
    product = f"{left}*{right}"
    help = f"for a product write {product}"
    if before in FUNCTIONS and last == "NAME":
        help = f"a function's operand stands in parentheses: write {before}({word})"
    elif kind == "LPAR" and last == "TRANSPOSE" and re.match(r"\(\s*\)", text[span[0] :][:20]):
        owner = owner_before(text, last_start)
        help = f"the transpose is written {owner}.T, without parentheses"
    elif kind == "NAME" and re.match(r"\s*=(?!=)", text[span[1] :][:20]) and opened(source, span):
        message = f"a ',' is missing before '{word}'"
        help = f"write {before}, {word}=…"
        return LanguageError("syntax", message, source=source, span=span, help=help)
    elif kind == "LPAR" and powered_function(text, last_start):
        name = powered_function(text, last_start)
        help = f"a power of a function is written {name}{right}^{before}"
    elif last == "NUMBER" and kind == "NUMBER":
        joined = f"{before}{word}"
        if adjacent:
            help = "a number has one decimal point"
        elif re.fullmatch(r"[0-9]+", joined):
            help = f"for one number write {joined}, for a product {product}"
    elif last == "NUMBER" and re.fullmatch(r"(?:_[0-9]+)+", word):
        help = f"write {before}{word.replace('_', '')}"
    elif last == "NUMBER" and adjacent and re.fullmatch(r"_\w*|[eEjJ]", word):
        help = f"numbers are written like 2, 2.5 or 1e-3; for a product write {product}"
    elif before == "0" and re.fullmatch(r"[xXoObB][0-9A-Fa-f]+", word):
        help = "numbers are decimal, like 2, 2.5 or 1e-3"
    message = f"an operator is missing between '{before}' and '{word}'"
    return LanguageError("syntax", message, source=source, span=span, help=help)


def opened(source: Source, span: Span) -> bool:
    """Whether a place is inside parentheses."""
    bracket = unclosed_bracket(source, span[0])
    return bracket is not None and source.text[bracket[0]] == "("


def powered_function(text: str, start: int) -> str:
    """The function's name in ``sin^2(x)``, where the exponent starts at an offset."""
    found = re.search(r"([^\W\d]\w{0,20})\s*(?:\^|\*\*)\s*$", text[max(start - 30, 0) : start])
    return found[1] if found and found[1] in FUNCTIONS else ""
