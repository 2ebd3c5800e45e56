"""Our own scripts and styles without what only their readers need: comments, indentation, idle blanks.

Names stay, so that the page's source can be read.  It is for the assets, not for any script there is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["squeezed_script", "squeezed_style"]

TOKEN = re.compile(
    r"""
    (?P<gap>(?: \s | //[^\n]* | /\*.*?\*/ )+)
  | (?P<string>"(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*')
  | (?P<word>[\w$]+)
  | (?P<sign>.)
    """,
    re.VERBOSE | re.DOTALL,
)
TEMPLATE = re.compile(r"(?:[^`\\$]|\\.|\$(?!\{))*(?:`|\$\{)", re.DOTALL)
"""The text of a template up to its end, or to where it is left for an expression."""
PATTERN = re.compile(r"/(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/\w*")
"""A regular expression."""
BEFORE_PATTERN = "(,=:[!&|?{};>"
"""What ends before a regular expression, where a quotient cannot begin."""

OPEN_ENDS, OPEN_STARTS = "{([,;:?=&|<>*", ")]},;:?.=&|<>*"
"""At these characters no statement ends, or begins, so that a line may be joined there."""
OPENING, CLOSING = ("(", "[", "{"), (")", "]", "}")
HEADS = (["if"], ["for"], ["while"])


@dataclass
class Bracket:
    """An open bracket, or the whole script: what has been read in it.

    ``is_head``    it is that of an ``if``, ``for`` or ``while``, behind which a statement may be empty
    ``statement``  the word with which the statement begins; empty: it has not begun
    ``before``     that of the statement before
    """

    is_head: bool = False
    statement: str = ""
    before: str = ""


def squeezed_script(script: str) -> str:
    """A script with no more than keeps its tokens and statements apart; declarations in a row are one.

    A ``const`` is a ``let`` there: it held while the script was written.
    """
    pieces: list[str] = []
    last, gap = ";", ""
    inside, head_end = [Bracket()], -1
    for token, is_gap in tokens(script):
        if is_gap:
            gap = "\n" if "\n" in token else " "
            continue
        token = "let" if token == "const" else token
        first, here = token[0], inside[-1]
        ends = gap == "\n" and last not in OPEN_ENDS and first not in OPEN_STARTS
        joins = (is_word(last) and is_word(first)) or (last == first and first in "+-")
        if ends or token == ";":
            here.before, here.statement = here.statement, ""
        if ends or (gap and joins):
            pieces.append(gap)
        elif token in CLOSING and is_idle(pieces, head_end):
            pieces.pop()
        gap = ""
        if not here.statement and token != ";":
            here.statement = token
            if token == here.before == "let":
                pieces[-1] = last = ","
                continue
        if token in OPENING:
            inside.append(Bracket(is_head=pieces[-1:] in HEADS))
        elif token in CLOSING and inside.pop().is_head:
            head_end = len(pieces)
        pieces.append(token)
        last = token[-1]
    return "".join(pieces)


def is_idle(pieces: list[str], head_end: int) -> bool:
    """Whether the last piece says nothing before a closing bracket: a list's comma, a block's semicolon."""
    end = len(pieces) - 2  # the piece before the last one
    if end < 0 or pieces[-1] not in ",;" or pieces[end] in (",", ";", "[", "{", "("):
        return False
    return pieces[-1] == "," or end != head_end


def is_word(character: str) -> bool:
    """Whether a character would be read as part of a word beside it."""
    return character.isalnum() or character in "_$"


def tokens(script: str) -> Iterator[tuple[str, bool]]:
    """The tokens, and whether each is a gap; templates and regular expressions are left as they are."""
    at, last = 0, ";"
    inside: list[
        int
    ] = []  # by template that is left for an expression: how many braces are open in it
    while at < len(script):
        back = bool(inside) and inside[-1] == 0 and script[at] == "}"
        if script[at] == "`" or back:
            if back:
                inside.pop()
            found = TEMPLATE.match(script, at + 1)
            assert found, "a template ends"
            if found.group().endswith("${"):
                inside.append(0)
            token, is_gap = script[at : found.end()], False
        else:
            pattern = PATTERN.match(script, at) if last in BEFORE_PATTERN else None
            comment = script.startswith(("//", "/*"), at)
            found = pattern if pattern and not comment else TOKEN.match(script, at)
            assert found, "every character is some token"
            token, is_gap = found.group(), found.lastgroup == "gap"
            if inside and token in "{}":
                inside[-1] += 1 if token == "{" else -1
        yield token, is_gap
        at += len(token)
        last = last if is_gap else token[-1]


def squeezed_style(style: str) -> str:
    """A style sheet without comments and idle blanks."""
    style = re.sub(r"/\*.*?\*/", "", style, flags=re.DOTALL)
    style = re.sub(r"\s+", " ", style).strip()
    style = re.sub(r" ?([{};,>!]) ?", r"\1", style)
    return re.sub(r"(?<=[\w-]): ", ":", style).replace(";}", "}")
