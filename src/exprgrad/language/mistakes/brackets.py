"""What to say about parentheses, lists, indices and settings that are not written as they should be."""

from __future__ import annotations

import re

from exprgrad.errors import LanguageError
from exprgrad.language.mistakes.call_text import arguments
from exprgrad.language.mistakes.hints import FUNCTIONS, WORD_HINTS
from exprgrad.language.mistakes.rewriting import new_axis_hint, rewritten
from exprgrad.language.read.lalr import END, Unexpected
from exprgrad.source import Source, Span

__all__ = ["OPERAND_ENDS", "comma_hint", "complaint", "is_index", "is_list", "unclosed_bracket"]

OPERAND_ENDS = frozenset({"NUMBER", "NAME", "RPAR", "RSQB", "TRANSPOSE"})
CLOSING = {"(": ")", "[": "]"}
OPENING = {"RPAR": "(", "RSQB": "["}
SETTING = r"[(,]\s*[^\W\d]\w*\s*=[\s\d,\[\]+-]*\w*\s*$"
"""What stands before a place in a setting: ``(…, axis=``, ``(…, axis=[0, ``."""
DATA = frozenset({"NUMBER", "SIGN", "NAME", "LSQB", "COLON", "COMMA", "RSQB", "RPAR"})
"""What an index or a setting is made of: where nothing else may stand, one of them is being read."""


def complaint(
    source: Source, unexpected: Unexpected, unclosed: Span | None
) -> LanguageError | None:
    """What is wrong with brackets or what stands in them; None if it is something else."""
    kind, span = unexpected.kind, unexpected.span
    last, _, last_end = unexpected.last
    text = source.text
    word = text[span[0] : span[1]]

    def error(
        message: str,
        help: str,
        place: Span = span,
        related: tuple[tuple[str, Span], ...] = (),
    ) -> LanguageError:
        return LanguageError(
            "syntax", message, source=source, span=place, help=help, related=related
        )

    if (
        kind == END
        and unclosed is not None
        and last not in ("SIGN", "FACTOR", "POWER", "COMPARISON")
    ):
        open_one = text[unclosed[0]]
        missing = f"a '{CLOSING[open_one]}'"
        if last in ("LPAR", "LSQB", "COMMA"):
            missing = f"{'an index' if is_index(text, unclosed) else 'an operand'} and {missing}"
        return error(f"this '{open_one}' is never closed", f"add {missing}", unclosed)
    if kind in OPENING and unclosed is None:
        partner = OPENING[kind]
        return error(
            f"there is no '{partner}' for this '{word}'", f"drop it, or add a '{partner}' before it"
        )
    if kind in OPENING and unclosed is not None and text[unclosed[0]] != OPENING[kind]:
        open_one = text[unclosed[0]]
        message = f"this '{word}' cannot close the '{open_one}'"
        return error(message, f"write '{CLOSING[open_one]}'", span, (("opened here", unclosed),))
    if kind == "RPAR" and last == "LPAR":
        place = unexpected.last[1], span[1]
        return error(
            "there is nothing inside these parentheses", "add an operand, or drop them", place
        )
    if kind == "COLON" and last in OPERAND_ENDS | {"COLON"}:
        return misplaced_colon(source, unexpected, unclosed)
    if unclosed is not None and unexpected.expected <= DATA:
        if is_index(text, unclosed):
            return wrong_index(source, unexpected, unclosed)
        if re.search(SETTING, text[: span[0]][-200:]):
            return wrong_setting(source, unexpected)
    if unclosed is None or text[unclosed[0]] != "[":
        return None
    if kind == "SEMICOLON" and last in OPERAND_ENDS:
        return error("a ';' cannot stand in a list", f"its rows are lists: {rows(text, unclosed)}")
    apart = kind in ("NUMBER", "NAME") and last in OPERAND_ENDS and span[0] > last_end
    if apart and is_list(text, unclosed) and word not in WORD_HINTS:
        return error("a ',' is missing between two elements of this list", row_hint(text, unclosed))
    return None


def misplaced_colon(
    source: Source, unexpected: Unexpected, unclosed: Span | None
) -> LanguageError | None:
    """A step in a slice, or a ':' where there is no slice."""
    text, span = source.text, unexpected.span
    if unclosed is not None and unexpected.expected <= DATA and is_index(text, unclosed):
        message, help = (
            "a slice has no step",
            "a slice is start:stop, and takes every index between",
        )
    elif text[span[1] : span[1] + 1] == "=":
        message, help = "':=' is not an operator", "a name is bound with ="
        span = span[0], span[1] + 1
    else:
        message = "a ':' stands in a slice, such as x[1:3], and there is none here"
        help = "a name is bound with =, and a choice is where(condition, x, y)"
        if unclosed is not None and is_list(text, unclosed):
            help = "the numbers of a list are written out: [1, 2, 3]"
    return LanguageError("syntax", message, source=source, span=span, help=help)


def wrong_index(source: Source, unexpected: Unexpected, unclosed: Span) -> LanguageError:
    """Something that is no index behind a '['."""
    text, (start, end) = source.text, unexpected.span
    kind, last, word = unexpected.kind, unexpected.last[0], text[start:end]
    owner = re.search(r"\w{1,20}\s*$", text[max(unclosed[0] - 24, 0) : unclosed[0]])
    name = owner[0].strip() if owner else "x"
    help = f"an index is written out, as in {name}[0], {name}[0, 1], {name}[1:3] or {name}[-1]"
    message = f"'{word}' cannot stand in an index"
    if kind == "RSQB" and last in ("LSQB", "COMMA"):
        message = "an index is missing before ']'"
        if last == "COMMA":
            help = "drop the ',' or add an index; ':' takes a whole axis"
    elif kind == "COMMA" and last in ("LSQB", "COMMA"):
        message, help = (
            "an index is missing before ','",
            "drop the ',' or add an index; ':' takes a whole axis",
        )
    elif kind == "LSQB":
        help = f"an index takes one place or a slice; for several write [{name}[0], {name}[2]]"
    elif re.match(r"(?:\w+\.)?(?:None|newaxis)\b", text[start : start + 20]):
        help = new_axis_hint(name, first=":" not in text[unclosed[0] : start])
    elif kind == "NAME" and re.match(r"\s*[<>=!]", text[end : end + 8]):
        help = f"to choose by a condition write where(condition, {name}, 0)"
    elif last == "NUMBER" and kind in ("SIGN", "FACTOR", "POWER"):
        help = "an index is one whole number: work it out"
    return LanguageError("syntax", message, source=source, span=(start, end), help=help)


def wrong_setting(source: Source, unexpected: Unexpected) -> LanguageError:
    """Something that is no setting behind a ``name =`` among operands."""
    text, span = source.text, unexpected.span
    word = text[span[0] : span[1]]
    help = "a setting is a whole number, a list of them, True or False"
    if unexpected.kind == "LPAR" and unexpected.last[0] != "NAME":
        group = re.match(r"\(([^()\[\]\r\n]{1,20})\)", text[span[0] : span[0] + 24])
        help = f"a list stands in square brackets: [{group[1].rstrip(', ') if group else '0, 1'}]"
    message = f"'{word}' cannot stand in a setting"
    if unexpected.kind in ("COMMA", "RPAR", "RSQB", "NEWLINE", "SEMICOLON"):
        message = f"a setting is missing before '{word}'"
    return LanguageError("syntax", message, source=source, span=span, help=help)


def comma_hint(text: str, unclosed: Span | None) -> str | None:
    """The mend for ``(2, 3)``: a list is written in square brackets."""
    if unclosed is None or text[unclosed[0]] != "(":
        return None
    word = re.search(r"([^\W\d]\w{0,20})\($", text[max(unclosed[0] - 22, 0) : unclosed[0]])
    given = arguments(text, unclosed[0] - 1) if word else None
    foreign = word and given and rewritten(word[1], *given, FUNCTIONS)
    if foreign:
        return foreign
    group = re.match(r"\(([^()\[\]\r\n]{1,40})[)\]]", text[unclosed[0] : unclosed[0] + 44])
    return f"a list stands in square brackets: [{group[1].rstrip(', ') if group else 'a, b'}]"


def rows(text: str, unclosed: Span) -> str:
    """A matrix whose rows are separated by ';' as we write it, if it is short and plain."""
    found = re.match(r"\[([\w.,; +-]{1,40})\]", text[unclosed[0] : unclosed[0] + 44])
    if not found:
        return "[[1, 2], [3, 4]]"
    listed = [spaced_row(row) for row in found[1].split(";") if row.strip()]
    return f"[{', '.join(f'[{row}]' for row in listed)}]"


def spaced_row(row: str) -> str:
    """Elements separated by blanks or commas, with commas."""
    return ", ".join(part for part in re.split(r"[\s,]+", row) if part)


def row_hint(text: str, unclosed: Span) -> str:
    """A list whose elements are separated by blanks as we write it, if it is short and plain."""
    if re.match(r"\[[\w.,; +-]{0,40};", text[unclosed[0] : unclosed[0] + 44]):
        return f"write {rows(text, unclosed)}"
    found = re.match(r"\[([\w.,\s-]{1,40})\]", text[unclosed[0] : unclosed[0] + 44])
    return f"write [{spaced_row(found[1])}]" if found else "write [a, b]"


def is_index(text: str, bracket: Span) -> bool:
    """Whether a '[' begins an index: it stands behind an operand."""
    if text[bracket[0]] != "[":
        return False
    before = text[: bracket[0]][-80:].rstrip()
    return bool(re.search(r"[\w)\].]$", before))


def is_list(text: str, bracket: Span) -> bool:
    """Whether a '[' begins a list."""
    return text[bracket[0]] == "[" and not is_index(text, bracket)


def unclosed_bracket(source: Source, end: int) -> Span | None:
    """The innermost '(' or '[' that is still open at an offset."""
    opened: list[int] = []
    in_comment = False
    for offset, character in enumerate(source.text[:end]):
        if character in "\r\n":
            in_comment = False
        elif character == "#":
            in_comment = True
        elif in_comment:
            continue
        elif character in "([":
            opened.append(offset)
        elif character in ")]" and opened:
            opened.pop()
    return (opened[-1], opened[-1] + 1) if opened else None
