r"""LaTeX to MathML Core, which browsers draw without fonts or scripts of ours.

Only LaTeX from ``latex.py`` is read, so that an operation's look is stated once, in its row: groups,
scripts, fractions, roots, fences, words, letters, three environments.  That takes no library for all of
LaTeX.

MathML Core: https://www.w3.org/TR/mathml-core/ .  Every text is escaped.  Open rows are on a stack, and
elements are written at the end: nothing recurses, and time is linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from html import escape
from string import ascii_letters
from typing import NoReturn

from exprgrad.graph.ops import BY_NAME
from exprgrad.graph.tensors import STRUCTURAL
from exprgrad.language.write.infix import unfold_items
from exprgrad.language.write.latex import GREEK

__all__ = ["mathml_of_latex"]

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
"""The kinds of a row's last token."""

ITALIC, TYPED = ' style="font-style:italic"', ' mathvariant="normal" style="font-family:monospace"'
UPRIGHT = ' mathvariant="normal"'
FONTS = {"mathit": ITALIC, "textit": ITALIC, "mathtt": TYPED, "texttt": TYPED}
CLOSE = ' lspace="0" rspace="0"'
THIN = '<mspace width="0.17em"/>'
APPLY = "<mo>\u2061</mo>"
NO_BREAK = "\u00a0"
"""A blank that browsers keep at the end of a text."""

LETTERS = {
    command: letter
    for letter, command in GREEK.items()
    if len(letter) == 1 and command[1:].isalpha()
} | {r"\phi": "ϕ", r"\varphi": "φ", r"\mu": "μ", r"\infty": "∞", r"\top": "⊤", r"\_": "_"}
"""Letters by their commands."""
OPERATORS = {
    "+": "+", "-": "−", "=": "=", "<": "<", ">": ">", ",": ",", r"\le": "≤", r"\ge": "≥", r"\ne": "≠",
    r"\cdot": "⋅", r"\times": "×", r"\odot": "⊙", r"\otimes": "⊗", r"\bmod": "mod", r"\sum": "∑",
    r"\prod": "∏",
}  # fmt: skip
SIGNS = {
    **{letter: (f"<mi>{letter}</mi>", OPERAND) for letter in ascii_letters},
    **{
        command: (f"<mi{UPRIGHT * command[1].isupper()}>{letter}</mi>", OPERAND)
        for command, letter in LETTERS.items()
    },
    **{sign: (f"<mo>{escape(text)}</mo>", OPERATOR) for sign, text in OPERATORS.items()},
    "/": (f"<mo{CLOSE}>/</mo>", OPERATOR),
    ":": (f"<mo{CLOSE}>:</mo>", OPERAND),
}
"""Command → its element, and its kind."""
SIGNED = {sign: f'<mo form="prefix">{OPERATORS[sign]}</mo>' for sign in "+-"}
"""Signs before an operand."""
FENCES = {
    r"\lfloor": "⌊", r"\rfloor": "⌋", r"\lceil": "⌈", r"\rceil": "⌉", r"\|": "‖",
    **{fence: fence for fence in "()[]|"},
}  # fmt: skip
CLOSING = {"(": ")", "[": "]"}
TAKERS = {r"\frac": ("mfrac", 2), r"\sqrt": ("msqrt", 1)}
"""Command → its element, and the number of its groups."""
LEFT, RIGHT = (
    'mtd style="text-align:left"',
    'mtd style="text-align:right;text-align:-webkit-right;padding-right:0"',
)
ENVIRONMENTS = {
    "cases": ("<mo>{</mo>", (LEFT,), ""),
    "aligned": ("", (RIGHT, LEFT), ""),
    "pmatrix": ("<mo>(</mo>", ("mtd",), "<mo>)</mo>"),
}
"""Environment → the text before its table, the tags of cells by column, the text after it."""


@dataclass(slots=True)
class Element:
    """An element: its tag with attributes, and the number of ``missing`` groups, which go to ``place``."""

    tag: str
    children: list[str | Element]
    missing: int = 0
    place: int = 0

    def written(self) -> list[str | Element]:
        """Return its tags, with its children between them."""
        return [f"<{self.tag}>", *self.children, f"</{self.tag.partition(' ')[0]}>"]


@dataclass(slots=True)
class MathmlRow:
    """An open row: ``until`` is the token that ends it, ``last`` the kind of its last token.

    For a table's cell, ``lines`` are the table's rows, and ``cells`` the tags of its columns.
    """

    until: str = ""
    children: list[str | Element] = field(default_factory=list)
    last: int = NOTHING
    cells: tuple[str, ...] = ()
    lines: list[str | Element] = field(default_factory=list)

    def taker(self) -> Element | None:
        """Return the last element, if it waits for a group."""
        last = self.children[-1] if self.children else ""
        return last if isinstance(last, Element) and last.missing else None

    def add(self, *content: str | Element, kind: int = OPERAND, enclosed: bool = False) -> None:
        """Add an atom, ``enclosed`` in fences or not; a function before it is applied to it."""
        if self.last == FUNCTION:
            self.children += [APPLY] if enclosed else [APPLY, THIN]
        self.children += content
        self.last = kind


def mathml_of_latex(latex: str) -> str:
    """Write a ``<math>`` element for a text of ``language/write/latex.py``.

    Raises ``ValueError`` for LaTeX that this printer does not write.
    """
    rows = [MathmlRow()]
    for token in TOKEN.finditer(latex.strip()):
        take_token(rows, token)
    if len(rows) > 1 or rows[0].taker():
        refuse_latex("its end")
    return "".join(unfold_items([Element("math", rows[0].children)], Element.written))


def refuse_latex(what: str) -> NoReturn:
    """Raise ``ValueError`` for LaTeX that is not ours."""
    raise ValueError(f"not LaTeX that exprgrad writes: {what!r}")


def take_token(rows: list[MathmlRow], token: re.Match[str]) -> None:
    """Read one token."""
    row, sign = rows[-1], token["sign"]
    if row.taker() and sign != "{":
        refuse_latex(token[0])
    if token["side"]:
        fence = f"<mo>{FENCES.get(token['fence']) or refuse_latex(token[0])}</mo>"
        if token["side"] == r"\left":
            rows.append(MathmlRow(r"\right", [fence]))
        else:
            close_fence(rows, r"\right", fence)
    elif token["edge"] == r"\begin":
        name = token["environment"]
        _, cells, _ = ENVIRONMENTS.get(name) or refuse_latex(name)
        rows.append(MathmlRow(name, cells=cells, lines=[Element("mtr", [])]))
    elif token["edge"]:
        end_table(rows, token["environment"])
    elif token["font"]:
        mathml_word(
            row,
            token["font"],
            re.sub(
                r"\{?(\\(?:[A-Za-z]+|_))\}?",
                lambda m: LETTERS.get(m[1]) or refuse_latex(m[0]),
                token["word"],
            ),
        )
    elif token["degree"]:
        row.add(Element("mroot", [f"<mn>{token['degree']}</mn>"], missing=1))
    elif token["number"]:
        row.add(f"<mn>{token['number']}</mn>")
    else:
        take_sign(rows, row, sign)


def take_sign(rows: list[MathmlRow], row: MathmlRow, sign: str) -> None:
    """Read a single character, or a command without arguments of its own."""
    if sign in STEPS:
        STEPS[sign](rows, sign)
    elif sign in TAKERS:
        name, count = TAKERS[sign]
        row.add(Element(name, [], missing=count))
    elif sign in SIGNED and row.last != OPERAND:
        row.add(SIGNED[sign], kind=OPERATOR)
    elif sign in SIGNS:
        row.add(SIGNS[sign][0], kind=SIGNS[sign][1])
    elif sign in function_commands(len(BY_NAME)):
        mathml_word(row, "operatorname", sign[1:])
    else:
        refuse_latex(sign)


@cache
def function_commands(rows: int) -> frozenset[str]:
    """Collect the commands in the texts of all ``rows``; one that is not a sign is a function's name."""
    texts = [op.latex for op in BY_NAME.values()] + [row.latex for row in STRUCTURAL.values()]
    return frozenset(command for text in texts for command in re.findall(r"\\[a-z]+", text))


def mathml_word(row: MathmlRow, font: str, text: str) -> None:
    """Add a word in its font; a function is applied to the next atom."""
    shown = escape(text, quote=False)
    if font == "operatorname":
        row.children += [THIN] * (row.last == OPERAND)
        row.add(f"<mi>{shown}</mi>", kind=FUNCTION)
    elif font == "text":
        row.add(f"<mtext>{shown.replace(' ', NO_BREAK)}</mtext>", kind=OPERATOR)
    elif text:
        row.add(f"<mi{FONTS.get(font, UPRIGHT * (len(text) == 1))}>{shown}</mi>")


def mathml_bracket(rows: list[MathmlRow], sign: str) -> None:
    """Open or close parentheses or brackets."""
    fence = f'<mo stretchy="false">{sign}</mo>'
    if sign in CLOSING:
        rows.append(MathmlRow(CLOSING[sign], [fence]))
    else:
        close_fence(rows, sign, fence)


def mathml_script(rows: list[MathmlRow], sign: str) -> None:
    """Begin a subscript or a superscript of the last atom; the next group is its text."""
    row = rows[-1]
    if not row.children:
        refuse_latex(sign)
    base = row.children.pop()
    below = "munder" if row.last == OPERATOR else "msub"
    if sign == "^" and isinstance(base, Element) and base.tag in ("msub", "munder"):
        both = Element({"msub": "msubsup", "munder": "munderover"}[base.tag], base.children, 1, 2)
        row.children.append(both)
    else:
        row.children.append(Element(below if sign == "_" else "msup", [base], 1, 1))


def end_group(rows: list[MathmlRow], sign: str) -> None:
    """End a group, a row unless it is one atom, and add it to the element that waits for it."""
    row = rows.pop()
    if row.until != "}" or row.taker():
        refuse_latex(sign)
    content = row.children[0] if len(row.children) == 1 else Element("mrow", row.children)
    taker = rows[-1].taker()
    if taker is None:
        rows[-1].add(content)
    else:
        taker.children.insert(taker.place, content)
        taker.place += 1
        taker.missing -= 1


def close_fence(rows: list[MathmlRow], sign: str, fence: str) -> None:
    """Close the row that was opened last."""
    row = rows.pop()
    if row.until != sign:
        refuse_latex(sign)
    rows[-1].add(Element("mrow", [*row.children, fence]), enclosed=True)


def end_cell(rows: list[MathmlRow], sign: str) -> None:
    """End a table's cell, and perhaps its line."""
    row = rows[-1]
    line = row.lines[-1] if row.lines else refuse_latex(sign)
    assert isinstance(line, Element)
    column = min(len(line.children), len(row.cells) - 1)
    line.children.append(Element(row.cells[column], row.children))
    row.children, row.last = [], NOTHING
    row.lines += [Element("mtr", [])] if sign == r"\\" else []


def end_table(rows: list[MathmlRow], name: str) -> None:
    """End an environment."""
    if rows[-1].until != name or not rows[-1].lines:
        refuse_latex(name)
    end_cell(rows, name)
    row = rows.pop()
    before, _, after = ENVIRONMENTS[name]
    table = Element("mtable", row.lines)
    rows[-1].add(Element("mrow", [before, table, after]) if before else table, enclosed=True)


STEPS: dict[str, Callable[[list[MathmlRow], str], None]] = {
    "{": lambda rows, sign: rows.append(MathmlRow("}")),
    "}": end_group,
    r"\,": lambda rows, sign: rows[-1].children.append(THIN),
    **dict.fromkeys("()[]", mathml_bracket),
    **dict.fromkeys("^_", mathml_script),
    **dict.fromkeys(("&", r"\\"), end_cell),
}
"""A sign that opens, closes or separates → its effect on the open rows."""
