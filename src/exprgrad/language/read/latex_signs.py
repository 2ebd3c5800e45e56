r"""The signs and commands of LaTeX: tables for its reader.

Brackets, symbols, functions, fonts, and the items of a text; refusals are in ``latex_refusals.py``.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from exprgrad.graph.ops import OPS, is_function
from exprgrad.graph.tensors import WORDS
from exprgrad.language.write.latex import GREEK
from exprgrad.source import Span

__all__ = [
    "ABOVE_A_NAME", "ACCENTS", "ALONE", "AROUND", "BEFORE_GROUP", "BELOW", "BESSEL", "BINOMIALS",
    "BOUND", "BY", "CLOSING", "COMMAND", "CONDITION", "DELIMITERS", "DIFFERENCES", "DIFFERENTIAL",
    "ENDING_ITEMS", "FONTS", "FONT_BELOW", "FRACTIONS", "FUNCTION_COMMANDS", "FUNCTION_LETTERS",
    "INDEX", "INDICES", "ITEMS", "LETTERS", "LINES", "MARKED", "MATRICES", "OPENING",
    "OPERAND_KINDS", "ORDERS", "ORDER_ABOVE", "ORDER_BELOW", "OVER_INDEX", "PLACE", "POLYGAMMA",
    "ROOT", "SEARCHED", "SIMPLE", "TOKEN", "UPRIGHT", "WORDS_BETWEEN", "Item", "signs_of_functions",
]  # fmt: skip


# Tokens.

COMMAND = re.compile(r"\\[A-Za-z]{2}|\\\(|\\\[(?![A-Z][a-z]+\])")
"""A command of LaTeX, or a formula's delimiter."""
IGNORED = (
    "quad qquad displaystyle textstyle limits nolimits nonumber notag middle mathopen mathclose mathord "
    "big bigl bigr bigm Big Bigl Bigr Bigm bigg biggl biggr biggm Bigg Biggl Biggr Biggm"
)
"""Commands that change only the look."""
TOKEN = re.compile(
    rf"(?P<skip>\s+|%[^\n]*|\\[,;:!> ]|~|\\(?:{IGNORED.replace(' ', '|')})(?![A-Za-z])"
    r"|\\(?:label|tag)\{[^{}]*\})"
    r"|(?P<command>\\(?:[A-Za-z]+|.))"
    r"|(?P<number>[0-9]+(?:\{,\}[0-9]{3})*(?:\.[0-9]+)?|\.[0-9]+)|(?P<other>.)",
    re.DOTALL,
)
DELIMITERS = re.compile(r"\s*(\$\$?|\\\[|\\\()(.*?)(\$\$?|\\\]|\\\))[.,]?\s*", re.DOTALL)

# Brackets.

OPENING = {
    "(": ")", "[": "]", "{": "}", "|": "|", r"\{": r"\}", r"\|": r"\|", r"\lfloor": r"\rfloor",
    r"\lceil": r"\rceil", r"\lvert": r"\rvert", r"\lVert": r"\rVert",
}  # fmt: skip
CLOSING = set(OPENING.values()) - {"|", r"\|"}
AROUND = {
    **dict.fromkeys(("|", r"\lvert"), "abs"), **dict.fromkeys((r"\|", r"\lVert"), "norm"),
    r"\lfloor": "floor", r"\lceil": "ceil",
}  # fmt: skip
"""A bracket → its function."""
MATRICES = frozenset({"matrix", "pmatrix", "bmatrix", "smallmatrix"})
LINES = frozenset({"aligned", "align", "equation", "gather", "gathered", "split"})

# Symbols.

OPERATORS = {
    "+": "+", "-": "-", "−": "-", "*": "*", "/": "/", "·": "·", "≤": "<=", "≥": ">=", r"\cdot": "·",
    r"\times": "×", r"\ast": "*", r"\odot": "*", r"\div": "/", r"\bmod": "%", r"\mod": "%", "<": "<",
    ">": ">", r"\lt": "<", r"\gt": ">", r"\le": "<=", r"\leq": "<=", r"\leqslant": "<=", r"\ge": ">=",
    r"\geq": ">=", r"\geqslant": ">=", r"\ne": "!=", r"\neq": "!=",
}  # fmt: skip
CONSTANT_COMMANDS = {r"\pi": "pi", r"\infty": "inf", "∞": "inf", "π": "pi"}
LETTERS = {
    command[1:]: name for name, command in GREEK.items() if command[1:].isalpha() and name.isascii()
} | {"epsilon": "epsilon"}
"""A command without its backslash → the name of its letter."""

# Functions.

FUNCTION_COMMANDS = {
    sign[1]: word
    for word, latex in [
        *[(op.name, op.latex) for op in OPS],
        *[(word, row.latex) for word, row in WORDS.items()],
    ]
    if (sign := re.fullmatch(r"\\([a-z]+) x", latex))
} | {"tg": "tan", "tr": "trace", **{word: word for word in ("det", "exp", "log")}}
"""A command without its backslash → its function: commands of rows, and other spellings."""


@cache
def signs_of_functions() -> dict[str, str]:
    r"""Map the names of functions in LaTeX that differ from ours: ``\operatorname{S}`` is fresnels."""
    return {
        sign[1]: op.name
        for op in OPS
        if (sign := re.match(r"\\operatorname\{(\w+)\}", op.latex)) and not is_function(sign[1])
    }


BESSEL = {letter: f"bessel{letter.lower()}" for letter in "JYIK"}
"""A letter whose order is a subscript → its family of functions."""
POLYGAMMA = "polygamma"
"""The family whose order is a superscript, in parentheses."""
FUNCTION_LETTERS = {r"\Gamma": "gamma", r"\psi": "digamma"}
"""A letter → its function before parentheses."""
ROOT = "root"
"""The command for a root; its subscript is ``E = 1`` or ``0 \\le E \\le 2``."""
OVER_INDEX = ("sum", "prod")

# Fonts, accents, and commands that take what follows.

FONTS = {
    r"\mathrm", r"\mathit", r"\mathtt", r"\mathbf", r"\mathsf", r"\mathcal", r"\mathbb", r"\boldsymbol",
    r"\bm", r"\text", r"\textit", r"\textrm", r"\textbf", r"\texttt",
}  # fmt: skip
UPRIGHT = {r"\mathrm", r"\text", r"\textrm", r"\mathsf"}
"""The fonts of functions, which names do not have."""
FONT_BELOW = re.compile(r"\\(?:math|text)(?:rm|it|tt|bf)?\s*\{([^{}]*)\}")
WORDS_BETWEEN = frozenset({"if", "otherwise", "for", "else", "and", "or", "when", "output"})
BELOW = LETTERS | FUNCTION_COMMANDS
"""Letters and functions in subscripts, where ``\\max`` is a word."""
ACCENTS = {rf"\{name}": name for name in ("hat", "bar", "tilde", "vec", "dot", "ddot")}
ACCENTS |= {r"\widehat": "hat", r"\overline": "bar", r"\widetilde": "tilde"}
BINOMIALS = frozenset((r"\binom", r"\dbinom", r"\tbinom"))
FRACTIONS = BINOMIALS | {r"\frac", r"\dfrac", r"\tfrac", r"\cfrac"}
DIFFERENCES = {"Delta": "Δ", "delta": "δ"}
"""A letter before a name → the sign of a difference."""

# Items.

MARKS = {
    "^": "above", "_": "below", ",": "comma", "&": "cell", r"\\": "row", "=": "equals", "!": "factorial",
    **dict.fromkeys((r"\top", r"\intercal", r"\degree"), "mark"),
    **dict.fromkeys((*ACCENTS, *FRACTIONS, r"\sqrt"), "macro"),
}  # fmt: skip
"""A sign or a command that is an item by itself → its kind."""
ITEMS = {
    **{rf"\{name}": ("name", letter) for name, letter in LETTERS.items()},
    **{rf"\{name}": ("function", function) for name, function in FUNCTION_COMMANDS.items()},
    **{sign: ("operand", name) for sign, name in CONSTANT_COMMANDS.items()},
    **{sign: ("operator", ours) for sign, ours in OPERATORS.items()},
    **{sign: (kind, sign) for sign, kind in MARKS.items()},
}
"""A sign or a command that is an item → its kind, and our text."""


class Item(NamedTuple):
    """A piece of a group: its kind, our text, and its place.

    The kinds are ``number``, ``name``, ``operand`` (text that binds as tightly), ``paren`` (the inside of
    parentheses), ``brace``, ``function``, ``operator``, ``equals``, ``comma``, ``above`` and ``below`` (the
    signs), ``factorial``, ``raw`` (a subscript in braces), ``mark`` (of a transpose or an angle),
    ``words``, ``cell``, ``row``, and ``macro`` for a command with arguments.
    """

    kind: str
    text: str
    start: int
    end: int

    @property
    def place(self) -> Span:
        """The item's span."""
        return self.start, self.end


OPERAND_KINDS = frozenset({"number", "name", "operand", "paren", "brace", "factorial"})
ENDING_ITEMS = frozenset({"operator", "comma"})
"""The kinds that end the operand of a function without parentheses."""
MARKED = ("above", "below")
"""The signs of a power and of a subscript."""

# Patterns of functions, subscripts and powers.

BEFORE_GROUP = re.compile(r"\s*(?:\\left\s*)?\(")
ORDER_BELOW = re.compile(
    r"\s*_\s*\{?\s*(\w+)\s*\}?\s*(?:\^\s*(?:\w|\{[^{}]*\})\s*)?(?:\\left\s*)?\("
)
ORDER_ABOVE = re.compile(r"\s*\^\s*\{\s*\([^(){}]*\)\s*\}\s*(?:\\left\s*)?\(")
ALONE = {
    "psi": re.compile(r"\\psi(?![A-Za-z_]|\s*\^\s*\{\s*\(|\s*(?:\\left\s*)?\()"),
    "sigma": re.compile(r"\\sigma(?![A-Za-z_]|\s*(?:\\left\s*)?\()"),
}
"""A letter that is a function before parentheses → its pattern without them."""
SIMPLE = re.compile(r"\w+|[0-9.]+")
INDEX = re.compile(r"\s*([A-Za-z])\s*=\s*(-?[0-9A-Za-z][0-9A-Za-z+\-\s]*?)\s*")
BOUND = re.compile(r"-?\w+(?:\s*[-+*]\s*\w+)*")
INDICES = re.compile(
    r"\\(?:sum|prod)(?![A-Za-z])\s*(?:\\limits\s*)?(?:\^\s*(?:\{[^{}]*\}|\w)\s*)?_\s*\{\s*([A-Za-z])\s*=\s*([-\w]+)"
)
"""An index of a sum or a product, and its first value."""
PLACE = re.compile(r"([A-Za-z])([+-][0-9]+)?")
"""An index of an element, and the number added to it."""
DIFFERENTIAL = re.compile(r"d(?:\^(?P<order>[1-9]))?(?:\*|$)")
"""The numerator of a derivative: ``d``, with its order."""
BY = re.compile(r"d\*(?P<name>[^\W\d]\w*)(?:\^(?P<order>[1-9]))?")
"""The denominator of a derivative: the input, with the order."""
SEARCHED = re.compile(
    r"(?P<one>[^=<]+)=(?P<start>.+)|(?P<low>.+?)\\le(?![a-z])(?P<other>.+)\\le(?![a-z])(?P<high>.+)"
)
ABOVE_A_NAME = re.compile(r"\(\w+(?: [+-] \w+)?\)")
"""A count of steps, samples or derivatives above a name: ``x^{(k + 1)}``."""
CONDITION = re.compile(r"([^<>=!]+) (<=|>=|==|!=|<|>) ([^<>=!]+)")
ORDERS = {"<": "<", ">": ">", "==": "=", "<=": "<=", ">=": ">=", "!=": "<>"}
"""A comparison → the orders of its sides for which it holds."""
