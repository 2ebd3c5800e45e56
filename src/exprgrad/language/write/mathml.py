r"""LaTeX to MathML Core, which browsers draw without fonts or scripts of ours.

It reads what ``latex.py`` writes and no other LaTeX, so how an operation looks stays said once, in its row.
  That is little: groups, scripts, fractions, roots, fences, words, letters, three environments.
A library for all of LaTeX would be a dependency, and the core takes on none for this.

MathML Core: https://www.w3.org/TR/mathml-core/ .  Every text is escaped.  An element that turns out to be
needed late (a base gets its ``<msup>`` when ``^`` is met) goes into an empty piece that was left for it;
what is open is kept on a stack: nothing recurses, and time is linear in the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from typing import NoReturn

from exprgrad.language.write.mathml_signs import (
    ENVIRONMENTS,
    FENCES,
    FUNCTIONS,
    LARGE,
    LETTERS,
    OPERATORS,
)

__all__ = ["mathml"]

TOKEN = re.compile(
    r"\s*(?:"
    r"(?P<edge>\\(?:begin|end))\{(?P<environment>\w+)\}"
    r"|\\(?P<font>operatorname|math(?:it|rm|tt)|text(?:it|rm|tt)?)"
    r"\{(?P<word>(?:[^{}]|\{[^{}]*\})*)\}"
    r"|(?P<side>\\(?:left|right))\s*(?P<fence>\\[A-Za-z]+|\\?.)"
    r"|\\sqrt\[(?P<degree>\d+)\]"
    r"|(?P<number>\d+(?:\.\d+)?)"
    r"|(?P<sign>\\[A-Za-z]+|\\.|.))",
    re.DOTALL,
)

NOTHING, OPERAND, OPERATOR, FUNCTION = range(4)
"""What a row ends with so far."""

CLOSING = {"(": ")", "[": "]"}
TAKERS = {r"\frac": ("mfrac", 2), r"\sqrt": ("msqrt", 1)}
"""Commands: the element, and how many groups it takes."""
BOTH = {"msub": "msubsup", "munder": "munderover"}
"""What an element becomes that gets a superscript, too."""

ITALIC, TYPED = ' style="font-style:italic"', ' mathvariant="normal" style="font-family:monospace"'
UPRIGHT = ' mathvariant="normal"'
FONTS = {"mathit": ITALIC, "textit": ITALIC, "mathtt": TYPED, "texttt": TYPED}
PREFIX, CLOSE = ' form="prefix"', ' lspace="0" rspace="0"'
THIN = '<mspace width="0.17em"/>'
APPLY = "<mo>\u2061</mo>"
NO_BREAK = "\u00a0"
"""A blank that is kept at the end of a text."""


@dataclass(slots=True)
class Row:
    """What is open: a row of atoms, or an element that waits for ``groups`` more groups.

    ``until`` is the token that ends a row; ``ends`` is written behind an element; ``opened`` is the piece
    that was left empty before a group.  Of the last atom ``at`` is the piece that was left empty before it,
    and ``script`` the element of scripts around it, if any.  ``cells`` and ``column`` are a table's.
    """

    until: str = ""
    ends: str = ""
    groups: int = 0
    opened: int = 0
    atoms: int = 0
    at: int = 0
    last: int = NOTHING
    script: str = ""
    cells: tuple[str, ...] = ()
    column: int = 0


def mathml(latex: str) -> str:
    """A ``<math>`` element for a text of ``language/write/latex.py``.

    Raises ``ValueError`` for LaTeX that this printer does not write.
    """
    out = ["<math>"]
    rows = [Row()]
    for token in TOKEN.finditer(latex.strip()):
        take(out, rows, token)
    if len(rows) > 1:
        refuse("its end")
    return "".join([*out, "</math>"])


def refuse(what: str) -> NoReturn:
    """Say what no printer of ours wrote."""
    raise ValueError(f"not LaTeX that exprgrad writes: {what!r}")


def take(out: list[str], rows: list[Row], token: re.Match[str]) -> None:
    """Write what one token says."""
    row, sign = rows[-1], token["sign"]
    if row.groups and sign != "{":
        refuse(token[0])
    if token["side"]:
        fence = f"<mo>{FENCES.get(token['fence']) or refuse(token[0])}</mo>"
        if token["side"] == r"\left":
            opened(out, rows, fence, r"\right")
        else:
            closed(out, rows, r"\right", fence)
    elif token["edge"]:
        table(out, rows, token["edge"], token["environment"])
    elif token["font"]:
        word(out, row, token["font"], spelled(token["word"]))
    elif token["degree"]:
        element(out, rows, "mroot", 1, f"<mn>{token['degree']}</mn>")
    elif token["number"]:
        atom(out, row, f"<mn>{token['number']}</mn>")
    elif sign in CLOSING:
        opened(out, rows, f'<mo stretchy="false">{sign}</mo>', CLOSING[sign])
    elif sign in CLOSING.values():
        closed(out, rows, sign, f'<mo stretchy="false">{sign}</mo>')
    elif sign in TAKERS:
        element(out, rows, *TAKERS[sign])
    elif sign in STRUCTURE:
        STRUCTURE[sign](out, rows, sign)
    else:
        symbol(out, row, sign)


def symbol(out: list[str], row: Row, sign: str) -> None:
    """A letter, an operator, a space, or a function by its command."""
    name = sign.removeprefix("\\")
    if sign == r"\,":
        out.append(THIN)
        row.atoms += 1
    elif sign in OPERATORS:
        is_prefix = sign in "+-" and row.last != OPERAND
        begin(out, row)
        row.last = OPERATOR
        form = PREFIX if is_prefix else CLOSE if sign == "/" else ""
        out.append(f"<mo{form}>{escape(OPERATORS[sign])}</mo>")
    elif sign in LARGE:
        atom(out, row, f"<mo>{LARGE[sign]}</mo>", OPERATOR)
    elif sign == ":":
        atom(out, row, f"<mo{CLOSE}>:</mo>")
    elif sign.isascii() and sign.isalpha():
        atom(out, row, f"<mi>{sign}</mi>")
    elif name != sign and name in LETTERS:
        upright = UPRIGHT * name[0].isupper()
        atom(out, row, f"<mi{upright}>{LETTERS[name]}</mi>")
    elif name != sign and name in FUNCTIONS:
        word(out, row, "operatorname", name)
    else:
        refuse(sign)


def spelled(text: str) -> str:
    r"""The letters of a word, where ``\_`` and ``{\alpha}`` are one each."""
    return re.sub(
        r"\{?\\([A-Za-z]+|_)\}?", lambda found: LETTERS.get(found[1]) or refuse(found[0]), text
    )


def word(out: list[str], row: Row, font: str, text: str) -> None:
    """A word in its font; that of a function will be applied to what follows it."""
    written = escape(text, quote=False)
    if font == "operatorname":
        if row.last == OPERAND:
            out.append(THIN)
            row.atoms += 1
        atom(out, row, f"<mi>{written}</mi>", FUNCTION)
    elif font == "text":
        atom(out, row, f"<mtext>{written.replace(' ', NO_BREAK)}</mtext>", OPERATOR)
    elif text:
        atom(out, row, f"<mi{FONTS.get(font, UPRIGHT * (len(text) == 1))}>{written}</mi>")


def begin(out: list[str], row: Row, *, enclosed: bool = False) -> None:
    """Leave an empty piece for an atom, ``enclosed`` in fences or not, and apply a function to it."""
    if row.last == FUNCTION:
        out.append(APPLY if enclosed else APPLY + THIN)
        row.atoms += 2
    row.at, row.script, row.last = len(out), "", OPERAND
    row.atoms += 1
    out.append("")


def atom(out: list[str], row: Row, text: str, kind: int = OPERAND) -> None:
    """One element without content of its own."""
    begin(out, row)
    out.append(text)
    row.last = kind


def element(out: list[str], rows: list[Row], name: str, groups: int, tail: str = "") -> None:
    """An element that takes the next groups."""
    begin(out, rows[-1])
    out.append(f"<{name}>")
    rows.append(Row(ends=f"{tail}</{name}>", groups=groups))


def script(out: list[str], rows: list[Row], sign: str) -> None:
    """A subscript or a superscript to the last atom, which takes the next group."""
    row = rows[-1]
    if not row.atoms:
        refuse(sign)
    if sign == "_":
        name = "munder" if row.last == OPERATOR else "msub"
        out[row.at] = f"<{name}>{out[row.at]}"
    elif row.script:
        name = BOTH[row.script]
        out[row.at] = out[row.at].replace(row.script, name, 1)
        out.pop()
    else:
        name = "msup"
        out[row.at] = f"<msup>{out[row.at]}"
    row.script = name
    rows.append(Row(ends=f"</{name}>", groups=1))


def group(out: list[str], rows: list[Row], sign: str) -> None:
    """The beginning of a group; it is a row if it does not turn out to be one atom."""
    if not rows[-1].groups:
        begin(out, rows[-1])
    rows.append(Row("}", opened=len(out)))
    out.append("")


def end_group(out: list[str], rows: list[Row], sign: str) -> None:
    """The end of a group, and of the element that has all its groups with it."""
    row = rows.pop()
    if row.until != sign:
        refuse(sign)
    if row.atoms != 1:
        out[row.opened] = f"<mrow>{out[row.opened]}"
        out.append("</mrow>")
    taker = rows[-1]
    if taker.groups:
        taker.groups -= 1
        if not taker.groups:
            out.append(taker.ends)
            rows.pop()


def opened(out: list[str], rows: list[Row], fence: str, until: str) -> None:
    """A fence that opens."""
    begin(out, rows[-1], enclosed=True)
    out.append(f"<mrow>{fence}")
    rows.append(Row(until))


def closed(out: list[str], rows: list[Row], sign: str, fence: str) -> None:
    """The fence that closes what was opened last."""
    if rows.pop().until != sign:
        refuse(sign)
    out.append(f"{fence}</mrow>")


def table(out: list[str], rows: list[Row], edge: str, name: str) -> None:
    """The beginning or the end of an environment."""
    if name not in ENVIRONMENTS:
        refuse(name)
    before, cells, after = ENVIRONMENTS[name]
    if edge == r"\begin":
        begin(out, rows[-1], enclosed=True)
        out.append(f"{before}<mtable><mtr>{cells[0]}")
        rows.append(Row(name, cells=cells))
    else:
        if rows.pop().until != name:
            refuse(name)
        out.append(f"</mtd></mtr></mtable>{after}")


def cell(out: list[str], rows: list[Row], sign: str) -> None:
    """The next cell of a table: in the same row or in the next one."""
    cells = rows[-1].cells
    if not cells:
        refuse(sign)
    column = rows[-1].column + 1 if sign == "&" else 0
    tag = cells[min(column, len(cells) - 1)]
    out.append(f"</mtd>{tag}" if sign == "&" else f"</mtd></mtr><mtr>{tag}")
    rows[-1] = Row(rows[-1].until, cells=cells, column=column)


STRUCTURE = {"{": group, "}": end_group, "^": script, "_": script, "&": cell, r"\\": cell}
"""What signs do that are not written themselves."""
