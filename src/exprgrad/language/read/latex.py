r"""LaTeX to our text: a formula as papers write it, ``\frac{1}{2} m v^2``, as ``(1/2)*m*v^2``.

One pass over the tokens keeps a stack of open groups; what a group says is worked out when it closes, so
nothing recurses.  Factors that stand side by side are multiplied; a letter is a name, a word in a font too;
``e^{x}`` is ``exp(x)``.  What has two meanings, or none here, is refused where it stands.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from typing import NamedTuple

from exprgrad.errors import LanguageError, advice
from exprgrad.graph.graph import CONST, PLACEHOLDERS
from exprgrad.graph.ops import FAMILIES, IN_OTHER_WORDS, OPS, is_function
from exprgrad.graph.tensors import WORDS
from exprgrad.language.read.parse import parse
from exprgrad.language.read.relations import related
from exprgrad.language.read.shaping import product_sign
from exprgrad.language.write.infix import program
from exprgrad.language.write.latex import GREEK
from exprgrad.source import Source, Span

__all__ = ["equations_from_latex", "from_latex", "is_latex", "with_elements", "with_reading"]

COMMAND = re.compile(r"\\[A-Za-z]{2}|\\\(|\\\[(?![A-Z][a-z]+\])")
"""What only LaTeX has: a command, or a formula's delimiter."""
LONGEST_SHOWN = 160
"""The longest text that help shows as it is written here, in characters."""
LONGEST_PRODUCT = 3
"""The most letters side by side that are read as a product: ``mgh`` is one, ``rate`` may be."""
IGNORED = (
    "quad qquad displaystyle textstyle limits nolimits nonumber notag middle mathopen mathclose mathord "
    "big bigl bigr bigm Big Bigl Bigr Bigm bigg biggl biggr biggm Bigg Biggl Biggr Biggm"
)
"""Commands that change the look alone."""
TOKEN = re.compile(
    rf"(?P<skip>\s+|%[^\n]*|\\[,;:!> ]|~|\\(?:{IGNORED.replace(' ', '|')})(?![A-Za-z])"
    r"|\\(?:label|tag)\{[^{}]*\})"
    r"|(?P<command>\\(?:[A-Za-z]+|.))"
    r"|(?P<number>[0-9]+(?:\{,\}[0-9]{3})*(?:\.[0-9]+)?|\.[0-9]+)|(?P<other>.)",
    re.DOTALL,
)
DELIMITERS = re.compile(r"\s*(\$\$?|\\\[|\\\()(.*?)(\$\$?|\\\]|\\\))[.,]?\s*", re.DOTALL)
OPENING = {
    "(": ")", "[": "]", "{": "}", "|": "|", r"\{": r"\}", r"\|": r"\|", r"\lfloor": r"\rfloor",
    r"\lceil": r"\rceil", r"\lvert": r"\rvert", r"\lVert": r"\rVert",
}  # fmt: skip
CLOSING = set(OPENING.values()) - {"|", r"\|"}
AROUND = {
    "|": "abs", r"\lvert": "abs", r"\|": "norm", r"\lVert": "norm", r"\lfloor": "floor",
    r"\lceil": "ceil",
}  # fmt: skip
"""A bracket → the function that it stands for."""
OPERATORS = {
    "+": "+", "-": "-", "−": "-", "*": "*", "/": "/", "·": "·", "≤": "<=", "≥": ">=", r"\cdot": "·",
    r"\times": "×", r"\ast": "*", r"\odot": "*", r"\div": "/", r"\bmod": "%", r"\mod": "%", "<": "<",
    ">": ">", r"\lt": "<", r"\gt": ">", r"\le": "<=", r"\leq": "<=", r"\leqslant": "<=", r"\ge": ">=",
    r"\geq": ">=", r"\geqslant": ">=", r"\ne": "!=", r"\neq": "!=",
}  # fmt: skip
FUNCTION_COMMANDS = {
    sign[1]: word
    for word, latex in [
        *[(op.name, op.latex) for op in OPS],
        *[(word, row.latex) for word, row in WORDS.items()],
    ]
    if (sign := re.fullmatch(r"\\([a-z]+) x", latex))
} | {"det": "det", "exp": "exp", "log": "log", "tg": "tan", "tr": "trace"}
"""A command without its backslash → the function: what the rows are written with, and what others write."""
FONTS = {
    r"\mathrm", r"\mathit", r"\mathtt", r"\mathbf", r"\mathsf", r"\mathcal", r"\mathbb", r"\boldsymbol",
    r"\bm", r"\text", r"\textit", r"\textrm", r"\textbf", r"\texttt",
}  # fmt: skip
UPRIGHT = {r"\mathrm", r"\text", r"\textrm", r"\mathsf"}
"""Fonts in which a function is set, and a name is not."""
ACCENTS = {rf"\{name}": name for name in ("hat", "bar", "tilde", "vec", "dot", "ddot")}
ACCENTS |= {r"\widehat": "hat", r"\overline": "bar", r"\widetilde": "tilde"}
BINOMIALS = frozenset((r"\binom", r"\dbinom", r"\tbinom"))
MACROS = BINOMIALS | {r"\frac", r"\dfrac", r"\tfrac", r"\cfrac", r"\sqrt", *ACCENTS}
MARKS = {
    "^": "above", "_": "below", ",": "comma", "&": "cell", r"\\": "row", "=": "equals", "!": "factorial",
    **dict.fromkeys((r"\top", r"\intercal", r"\degree"), "mark"), **dict.fromkeys(MACROS, "macro"),
}  # fmt: skip
"""A sign or a command that is an item as it is → its kind."""
CONSTANT_COMMANDS = {r"\pi": "pi", r"\infty": "inf", "∞": "inf", "π": "pi"}
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
"""What is refused, and why."""
MAY_BE_FUNCTIONS = frozenset({*"fghFGH", "Gamma", "Beta", "Phi", "Psi", "zeta"})
BESSEL = {letter: f"bessel{letter.lower()}" for letter in "JYIK"}
"""The letters of the functions whose order stands below the line."""
POLYGAMMA = "polygamma"
"""The function whose order stands above it, in parentheses."""
BEFORE_GROUP = re.compile(r"\s*(?:\\left\s*)?\(")
ORDER_BELOW = re.compile(
    r"\s*_\s*\{?\s*(\w+)\s*\}?\s*(?:\^\s*(?:\w|\{[^{}]*\})\s*)?(?:\\left\s*)?\("
)
ORDER_ABOVE = re.compile(r"\s*\^\s*\{\s*\([^(){}]*\)\s*\}\s*(?:\\left\s*)?\(")
MEANT = {
    "B": r"the beta function is \mathrm{B}(x, y); for a product write \cdot",
    "Phi": r"the normal distribution's is \operatorname{normcdf}(x); for a product write \cdot",
    **{
        letter: rf"a Bessel function has a whole order, {letter}_{{2}}(x); for a product write \cdot"
        for letter in BESSEL
    },
}
"""What may be a function by its letter, and what to write of it."""
SEVERAL_TERMS = re.compile(r"\S [+-] ")
"""What only a factor has in its parentheses: nobody writes ``a(b)`` for a product."""
LETTERS = {
    command[1:]: name for name, command in GREEK.items() if command[1:].isalpha() and name.isascii()
} | {"epsilon": "epsilon"}
"""A command without its backslash → the letter's name."""
BELOW = LETTERS | FUNCTION_COMMANDS
"""The same below the line, where ``\\max`` is a word."""
ITEMS = {
    **{rf"\{name}": ("name", letter) for name, letter in LETTERS.items()},
    **{rf"\{name}": ("function", function) for name, function in FUNCTION_COMMANDS.items()},
    **{sign: ("operand", name) for sign, name in CONSTANT_COMMANDS.items()},
    **{sign: ("operator", ours) for sign, ours in OPERATORS.items()},
    **{sign: (kind, sign) for sign, kind in MARKS.items()},
}
"""A sign or a command that is an item by itself → its kind, and our text."""
WORDS_BETWEEN = frozenset({"if", "otherwise", "for", "else", "and", "or", "when", "output"})
MATRICES = frozenset({"matrix", "pmatrix", "bmatrix", "smallmatrix"})
LINES = frozenset({"aligned", "align", "equation", "gather", "gathered", "split"})


class Item(NamedTuple):
    """A piece of a group: its kind, our text, and its place.

    The kinds are ``number``, ``name``, ``operand`` (text that binds as tightly), ``paren`` (the inside of
    parentheses), ``brace``, ``function``, ``operator``, ``equals``, ``comma``, ``above`` and ``below`` (the
    signs), ``factorial``, ``raw`` (braces below the line), ``mark`` (of a transpose or an angle),
    ``words``, ``cell`` and ``row``, and ``macro`` for a command that takes what follows.
    """

    kind: str
    text: str
    start: int
    end: int

    @property
    def place(self) -> Span:
        """Where it stands."""
        return self.start, self.end


class Open(NamedTuple):
    """An open group: what opened it, what closes it, and its items so far."""

    bracket: str
    closing: str
    items: list[Item]
    start: int


def is_latex(text: str) -> bool:
    """Whether a text has a command that only LaTeX has."""
    return COMMAND.search(text) is not None


def wrong(message: str, help: str, span: Span) -> LanguageError:
    """What cannot be read, with its place."""
    return LanguageError("syntax", message, span=span, help=help)


def from_latex(text: str) -> str:
    """The formula as we write it; raises ``LanguageError`` for what cannot be read."""
    with located(text):
        ours = formula(text)
    return tidied(ours)


def tidied(ours: str) -> str:
    """A formula in our language without the parentheses that it does not need.

    Products of what may be vectors keep their sign, which has two readings there.
    """
    graph = parse(ours)
    for node in range(len(graph.kinds)):
        sign = product_sign(graph, ours, node)
        if sign and CONST not in [graph.kinds[operand] for operand in graph.operands[node]]:
            graph.spelled[node] = sign
    is_plain = PLACEHOLDERS.isdisjoint(graph.kinds) and not graph.calls
    return program(graph) if is_plain else ours


def equations_from_latex(text: str, sign: str = "=") -> str:
    r"""Equations as we write them: each side is a formula, and ``;`` or ``\\`` stands between equations.

    With the sign ``~``, or ``\sim``, they may be models, too.  Raises ``LanguageError`` for what cannot be
    read.
    """
    ends = [token.start() for token in TOKEN.finditer(text) if token[0] == ";"]
    starts = [0, *(end + 1 for end in ends)]
    parts = [text[start:end] for start, end in zip(starts, [*ends, len(text)], strict=True)]
    return "; ".join(line for part in parts for line in equations(part, sign))


def equations(text: str, sign: str) -> Iterator[str]:
    """The lines of a text, sides and all."""
    with located(text):
        for line in filter(None, parted(items_of(text, sign), "row")):
            first, *others = parted(line, "equals")
            if not (first and all(others)):
                raise wrong("a side of the equation is empty", "write both sides", span_of(line))
            signs = [item.text for item in line if item.kind == "equals"]
            pieces = [tidied(row(text, first, span_of(first)))]
            for between, side in zip(signs, others, strict=True):
                pieces.append(f" {between} {tidied(row(text, side, span_of(side)))}")
            yield "".join(pieces)


def with_reading(help: str | None, text: str) -> str | None:
    """Help for a text that is not in our language; of LaTeX how it is written here, and what reads it."""
    if not is_latex(text):
        return help
    with suppress(LanguageError):
        if len(text) <= LONGEST_SHOWN:
            help = f"this is LaTeX: write {from_latex(text)}"
    reader = advice("--from latex", "exprgrad.from_latex(r'…')")
    return f"{help}; {reader} reads LaTeX"


@contextmanager
def located(text: str) -> Iterator[None]:
    """What is wrong with a text is shown in it."""
    try:
        yield
    except LanguageError as error:
        raise error.at(Source(text)) from None


def formula(text: str) -> str:
    """A formula as we write it, with parentheses that it may not need."""
    return statements(text, items_of(text))


def items_of(text: str, sign: str = "=") -> list[Item]:
    """The items of a text outside of all groups; ``~`` is a blank, or the sign of a model."""
    whole = DELIMITERS.fullmatch(text)
    start, end = whole.span(2) if whole else (0, len(text))
    while text[start:end].rstrip().endswith((".", ",")):
        end = start + len(text[start:end].rstrip()) - 1
    stack = [Open("", "", [], 0)]
    at = start
    while at < end:
        token = TOKEN.match(text, at, end)
        assert token is not None
        if sign == "~" and token[0] in ("~", r"\sim"):
            stack[-1].items.append(Item("equals", sign, *token.span()))
            at = token.end()
            continue
        at = token.end() if token.lastgroup == "skip" else past_token(text, token, stack)
    if len(stack) > 1:
        last = stack[-1]
        raise wrong(
            f"this '{last.bracket}' is never closed",
            f"add a '{last.closing}'",
            (last.start, last.start + 1),
        )
    return stack[0].items


def past_token(text: str, token: re.Match[str], stack: list[Open]) -> int:
    """Put one token where it belongs; the offset after it."""
    word, (start, end) = token[0], token.span()
    items = stack[-1].items
    if word in (r"\left", r"\right"):
        bracket = TOKEN.match(text, re.compile(r"\s*").match(text, end).end())  # type: ignore[union-attr]
        if bracket is None or bracket[0] == ".":
            raise wrong(f"'{word}' has no bracket", "write the whole formula", (start, end))
        if word == r"\left":
            open_group(bracket, stack, start)
        else:
            close_group(bracket[0], text, stack, bracket.span())
        return bracket.end()
    if word in (r"\begin", r"\end"):
        name = re.compile(r"\s*\{(\w+\*?)\}(?:\{[^{}]*\})?").match(text, end)
        if name is None:
            raise wrong(
                f"'{word}' needs a name", r"write \begin{cases} … \end{cases}", (start, end)
            )
        if word == r"\begin":
            stack.append(Open(rf"\begin{{{name[1]}}}", rf"\end{{{name[1]}}}", [], start))
        else:
            close_group(rf"\end{{{name[1]}}}", text, stack, (start, name.end()))
        return name.end()
    if word == "{" and items and items[-1].kind == "below":
        return raw_group(text, start, items)
    if word == "[" and items and items[-1][:2] == ("macro", r"\sqrt"):
        stack.append(Open("[", "]", [], start))
    elif word in ("|", r"\|") and stack[-1].bracket == word and is_operand(items):
        close_group(word, text, stack, (start, end))
    elif word in OPENING:
        open_group(token, stack, start)
    elif word in CLOSING:
        close_group(word, text, stack, (start, end))
    elif word in FONTS or word == r"\operatorname":
        return font(text, word, start, end, items)
    else:
        item = simple(text, word, start, end)
        refuse_second_mark(text, items, item)
        items.append(item)
    return end


def raw_group(text: str, start: int, items: list[Item]) -> int:
    """A subscript in braces, as it is written, and the offset after it."""
    depth = 0
    for at in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if not depth:
            items.append(Item("raw", text[start + 1 : at], start, at + 1))
            return at + 1
    raise wrong("this '{' is never closed", "add a '}'", (start, start + 1))


OPERAND_KINDS = frozenset({"number", "name", "operand", "paren", "brace", "factorial"})


def is_operand(items: Sequence[Item]) -> bool:
    """Whether an operand has just ended."""
    return bool(items) and items[-1].kind in OPERAND_KINDS


def open_group(bracket: re.Match[str], stack: list[Open], start: int) -> None:
    """A group begins."""
    if bracket[0] not in OPENING:
        raise wrong(
            f"'{bracket[0]}' opens nothing that is known", "write parentheses", bracket.span()
        )
    stack.append(Open(bracket[0], OPENING[bracket[0]], [], start))


def close_group(bracket: str, text: str, stack: list[Open], span: Span) -> None:
    """A group ends: what it says is one item of the group around it."""
    group = stack[-1]
    if group.closing != bracket or len(stack) == 1:
        known = f"'{group.bracket}' is open" if len(stack) > 1 else "nothing is open"
        raise wrong(f"this '{bracket}' closes nothing: {known}", "check the brackets", span)
    stack.pop()
    items = stack[-1].items
    start, end = group.start, span[1]
    if group.bracket.startswith(r"\begin"):
        items.append(Item("operand", environment(text, group, span), start, end))
        return
    held = as_condition(group.items) if group.bracket == "[" else group.items
    if group.bracket == "{" and len(held) == 1 and held[0].kind == "mark":
        items.append(held[0]._replace(start=start, end=end))
        return
    inside = "" if group.bracket == "{" and not held else row(text, held, (start, end))
    if group.bracket in AROUND:
        items.append(Item("operand", f"{AROUND[group.bracket]}({inside})", start, end))
    elif group.bracket == "{":
        items.append(Item("brace", inside, start, end))
    elif group.bracket == "[" and any(item.kind == "comma" for item in group.items):
        items.append(Item("operand", f"[{inside}]", start, end))
    else:
        items.append(Item("paren", inside, start, end))


def as_condition(items: Sequence[Item]) -> list[Item]:
    """Items of a condition, where ``=`` compares."""
    return [
        item._replace(kind="operator", text="==") if item.kind == "equals" else item
        for item in items
    ]


def font(text: str, word: str, start: int, end: int, items: list[Item]) -> int:
    r"""``\mathrm{name}`` is a name, ``\operatorname{name}`` a function, ``\text{if }`` a word between."""
    group = re.compile(r"\*?\s*\{((?:[^{}]|\{[^{}]*\})*)\}").match(text, end)
    if group is None:
        raise wrong(f"'{word}' needs a word", f"write {word}{{name}}", (start, end))
    inside = re.sub(
        r"\{?\\([A-Za-z]+)\}?",
        lambda greek: LETTERS.get(greek[1], greek[0]),
        group[1].replace(r"\_", "_"),
    )
    name = inside.strip()
    called = name if is_function(name) or name in WORDS else name.lower()
    upright = word in UPRIGHT and len(name) > 1 and (is_function(called) or called in WORDS)
    before_group = BEFORE_GROUP.match(text, group.end())
    if name == "Li":
        raise wrong(
            "there is no function 'Li'",
            "the offset logarithmic integral is li(x) - li(2)",
            (start, group.end()),
        )
    upright = upright or (word in UPRIGHT and name in BESSEL and has_order(text, group.end()))
    if name == "B" and before_group and word in (*UPRIGHT, r"\operatorname"):
        items.append(Item("function", "beta", start, group.end()))
    elif word == r"\operatorname" or upright or (is_function(name) and before_group):
        function = FUNCTION_COMMANDS.get(name) or functions_by_sign().get(name, called)
        function = BESSEL.get(name, function)
        items.append(Item("function", function, start, group.end()))
    elif name == "d" and word in UPRIGHT:
        raise wrong(
            "this is the sign of a differential",
            "a derivative is \\frac{d}{dx}\\left(…\\right); no integral is taken",
            (start, group.end()),
        )
    elif name == "NaN":
        items.append(Item("operand", "nan", start, group.end()))
    elif word == r"\mathtt":  # a name letter by letter: no e is a base there
        items.append(Item("operand", name, start, group.end()))
    elif name in WORDS_BETWEEN or (word.startswith(r"\text") and not name.isidentifier()):
        items.append(Item("words", name, start, group.end()))
    else:
        items.append(Item("name", name, start, group.end()))
    return group.end()


@cache
def functions_by_sign() -> dict[str, str]:
    r"""What a function is called in LaTeX, where that is not its name: ``\operatorname{S}`` is fresnels."""
    signs = ((re.match(r"\\operatorname\{(\w+)\}", op.latex), op.name) for op in OPS)
    return {sign[1]: name for sign, name in signs if sign and not is_function(sign[1])}


def has_order(text: str, end: int) -> bool:
    """Whether an order and a parenthesis follow a letter: a whole number, or the index of a sum."""
    below = ORDER_BELOW.match(text, end)
    return below is not None and (
        below[1].isdecimal() or below[1] in (index for index, _ in INDICES.findall(text))
    )


def refuse_word(text: str, start: int) -> None:
    """A word without a font, which LaTeX would set as a product of letters."""
    if text[start - 1 : start].isalpha():
        return
    word = re.compile(r"[A-Za-z]+").match(text, start)
    if word is None:
        return
    if is_function(word[0]) and len(word[0]) > 1:
        raise wrong(
            f"'{word[0]}' is a product of letters in LaTeX", rf"write \{word[0]}", word.span()
        )
    if len(word[0]) > LONGEST_PRODUCT:
        raise wrong(
            f"is '{word[0]}' one name, or a product of letters?",
            rf"for a name write \mathrm{{{word[0]}}}",
            word.span(),
        )


ARROW_BEFORE = re.compile(r"\\vec\s*(?:\{[^{}]*\}|\w)\s*$")
ARROW_BEHIND = re.compile(r"\s*\\vec(?![A-Za-z])")


def refuse_arrows(text: str, word: str, start: int, end: int) -> None:
    """A product of two vectors, which is none number by number."""
    between = ARROW_BEFORE.search(text, max(start - 80, 0), start) and ARROW_BEHIND.match(text, end)
    if between and word in (r"\cdot", r"\times"):
        help = "write dot(v, w) in our language"
        if word == r"\times":
            help = "the cross product is written out, element by element"
        raise wrong(f"'{word}' stands between vectors", help, (start, end))


def simple(text: str, word: str, start: int, end: int) -> Item:
    """A token that is an item by itself."""
    if word in (r"\cdot", r"\times"):
        refuse_arrows(text, word, start, end)
    elif word == "!" and text[end : end + 1] in ("!", "="):
        raise wrong(
            f"'!{text[end]}' cannot be read",
            r"for 'not equal' write \ne; there is no double factorial",
            (start, end + 1),
        )
    elif word in FUNCTION_LETTERS and BEFORE_GROUP.match(text, end):
        if word == r"\psi":
            refuse_alone(text, "psi", (start, end))
        return Item("function", FUNCTION_LETTERS[word], start, end)
    elif word == r"\psi" and ORDER_ABOVE.match(text, end):
        return Item("function", POLYGAMMA, start, end)
    elif word in BESSEL and has_order(text, end):
        return Item("function", BESSEL[word], start, end)
    elif word == r"\circ" and "^" in text[max(start - 3, 0) : start]:
        return Item("mark", word, start, end)
    if word in ITEMS:
        return Item(*ITEMS[word], start, end)
    if word[0].isdigit() or word[0] == ".":
        return Item("number", word.replace("{,}", ""), start, end)
    if word.isalpha():
        refuse_word(text, start)
        return Item("name", word, start, end)
    if word in REFUSED:
        raise wrong(f"'{word}' cannot be read", REFUSED[word], (start, end))
    raise wrong(f"'{word}' is not known", "write this part in our language", (start, end))


FUNCTION_LETTERS = {r"\Gamma": "gamma", r"\psi": "digamma"}
"""A letter → the function that it is before parentheses."""


ALONE = {
    "psi": re.compile(r"\\psi(?![A-Za-z_]|\s*\^\s*\{\s*\(|\s*(?:\\left\s*)?\()"),
    "sigma": re.compile(r"\\sigma(?![A-Za-z_]|\s*(?:\\left\s*)?\()"),
}
"""A letter that is a function before parentheses, where it stands without them."""


def refuse_alone(text: str, letter: str, place: Span) -> None:
    """A letter that is a function here stands without parentheses elsewhere."""
    if ALONE[letter].search(text):
        raise wrong(
            f"is '{letter}' a function here, or a factor?",
            r"it is also written without parentheses; for a product write \cdot",
            place,
        )


# What a group says.

SIMPLE = re.compile(r"\w+|[0-9.]+")
ENDING_ITEMS = frozenset({"operator", "comma"})
"""What ends the operand of a function without parentheses."""


def row(text: str, items: Sequence[Item], span: Span) -> str:
    """The items of a group as our text."""
    return Row(text, items).written(span)


class Row:
    """The items of a group, which are read from left to right: ``at`` is the place of the next."""

    def __init__(self, text: str, items: Sequence[Item]) -> None:
        self.text = text
        self.items = items
        self.at = 0

    def next(self) -> Item | None:
        """The item that comes next."""
        return self.items[self.at] if self.at < len(self.items) else None

    def take(self, *kinds: str) -> Item | None:
        """The item that comes next, if it is of one of these kinds, or of any; and go on after it."""
        item = self.next()
        if item is None or (kinds and item.kind not in kinds):
            return None
        self.at += 1
        return item

    def written(self, span: Span) -> str:
        """All items as our text."""
        pieces: list[str] = []
        closers: list[str] = []  # of functions whose operand has no parentheses
        ended, divides = False, ""  # whether an operand has just ended; the '/' or '%' before it
        while item := self.next():
            if closers and (item.kind in ENDING_ITEMS or (ended and item.kind == "function")):
                if item.kind in ENDING_ITEMS:
                    refuse_function(item, ended)
                goes_on = item.kind == "function" or item.text in "*·×"  # in the last sum
                sums = (at for at, c in enumerate(closers, 1) if goes_on and c.startswith(FOR))
                kept = max(sums, default=0)
                pieces += reversed(closers[kept:])
                del closers[kept:]
            if self.take(*ENDING_ITEMS):
                before = " " if ended and item.kind == "operator" else ""
                after = " " if ended or item.kind == "comma" else ""
                pieces.append(f"{before}{item.text}{after}")
                ended = False
                divides = item.text if item.text in ("/", "%") else ""
                continue
            if ended:
                refuse_neighbours(self.text, self.operand_before(), item, divides=divides)
                pieces.append("*")
            if self.take("function"):
                opened, closer = self.function(item)
                ended = not closer
                called = item._replace(kind="operand", text=opened)
                pieces.append(self.suffixed(called) if ended else opened)
                if closer:
                    closers.append(closer)
            else:
                pieces.append(self.operand())
                ended = True
        if not ended:
            raise wrong("an operand is missing here", "write the whole formula", span)
        return "".join(pieces + closers[::-1])

    def operand_before(self) -> Sequence[Item]:
        """The operand that ends here, with what stands above and below it."""
        at = self.at - 1
        while at > 1 and self.items[at - 1].kind in ("below", "above"):
            at -= 2
        return self.items[max(at, 0) : self.at]

    def operand(self) -> str:
        """An operand with what stands above and below it."""
        item = self.items[self.at]
        self.at += 1
        if item.kind == "macro":
            kind = "name" if item.text in ACCENTS else "operand"
            item = item._replace(kind=kind, text=self.macro(item))
        elif item.kind in ("paren", "brace"):
            if not item.text:
                raise wrong("there is nothing inside", "write the whole formula", item.place)
            if item.kind == "paren" or not SIMPLE.fullmatch(item.text):
                item = item._replace(text=f"({item.text})")
        elif item.kind not in ("number", "name", "operand"):
            raise wrong(f"'{item.text}' cannot be read here", "write the whole formula", item.place)
        elif item.kind == "name" and item.text in DIFFERENCES and (behind := self.take("name")):
            item = item._replace(text=f"{DIFFERENCES[item.text]}{behind.text}")
        if item.text == "sigma" and (inside := self.take("paren")):
            refuse_alone(self.text, "sigma", (item.start, inside.end))
            item = item._replace(kind="operand", text=f"sigmoid({inside.text})")
        return self.suffixed(item)

    def suffixed(self, item: Item) -> str:
        """An operand with what stands below and above it."""
        while mark := self.take("below", "above", "factorial"):
            if mark.kind == "factorial":
                if self.at > 2 and self.items[self.at - 3].kind == "above":
                    raise wrong(
                        "is this the factorial of the power?",
                        "put what the '!' belongs to in parentheses",
                        mark.place,
                    )
                item = item._replace(kind="operand", text=f"factorial({item.text})")
            elif mark.kind == "above":
                sign = self.take("mark")
                over = sign.text if sign else self.argument(mark, "^")
                power = raised(item, over, mark.place)
                item = item._replace(kind="operand", text=power)
            elif item.kind != "name":
                raise wrong("only a name can have a subscript", "write a name", mark.place)
            elif part := element(self.text, item.text, mark, self.next()):
                item = item._replace(kind="operand", text=part)
                self.at += 1
            else:
                item = item._replace(text=below_name(self.text, item.text, self.subscript(mark)))
        if item.kind == "name" and not item.text.isidentifier():
            raise wrong(
                f"'{item.text}' is not a name", "names are letters, digits and _", item.place
            )
        return item.text

    def subscript(self, mark: Item) -> str:
        """What stands below a name, as a part of the name."""
        item = self.take()
        if item is None:
            raise wrong("this subscript is empty", "write x_1", mark.place)
        if item.kind == "number" and len(item.text) > 1:
            raise wrong(
                f"'_{item.text}' puts only the first digit in the subscript",
                f"write _{{{item.text}}}",
                (mark.start, item.end),
            )
        raw = item.text
        if item.kind == "raw":
            raw = FONT_BELOW.sub(r" \1 ", raw).replace(r"\_", "_")
            raw = re.sub(r"\\([A-Za-z]+)", lambda word: BELOW.get(word[1], word[0]), raw)
        parts = re.findall(r"\w+", raw)
        if not parts or re.search(r"[^\w\s,]", raw):
            raise wrong(
                "this index has no meaning here",
                "a subscript is part of the name: letters and digits",
                item.place,
            )
        return "_".join(parts)

    def argument(self, mark: Item, of: str, *, splits: bool = False) -> str:
        """The one item that a sign or a command takes, without its braces.

        It takes one digit of a number; only what ``splits`` the number itself is given all of it.
        """
        item = self.next()
        if item is None or (item.kind == "brace" and not item.text):
            place = mark.start, item.end if item else mark.end
            raise wrong(f"nothing follows this '{of}'", "write the whole formula", place)
        place = mark.start, item.end
        if item.kind == "number" and len(item.text) > 1 and not splits:
            raise wrong(
                f"'{of}' takes only the first digit of {item.text}", f"write {{{item.text}}}", place
            )
        if item.kind not in ("brace", "number", "name", "operand"):
            raise wrong(
                f"'{of}' takes one letter or digit, or what is in braces", "put it in braces", place
            )
        self.at += 1
        return item.text

    def macro(self, command: Item) -> str:
        r"""``\frac``, ``\binom``, ``\sqrt`` and accents, with what they take."""
        word = command.text
        if word in ACCENTS:
            return f"{self.argument(command, word)}_{ACCENTS[word]}"
        following = self.next()
        if word == r"\sqrt":
            root = "2"
            if following and following.kind == "paren" and self.text[following.start] == "[":
                root, command = following.text, following
                self.at += 1
            inside = self.argument(command, word)
            named = {"2": f"sqrt({inside})", "3": f"cbrt({inside})"}
            return named.get(root, f"({inside})^(1/({root}))")
        above = self.argument(command, word, splits=True)
        if following and following.kind == "number" and len(above) > 1:  # \frac12
            above, below = above[0], above[1:]
            if len(below) > 1:
                raise wrong(
                    f"'{word}' takes one digit each", f"write {word}{{…}}{{…}}", command.place
                )
        else:
            below = self.argument(self.items[self.at - 1], word)
        if word in BINOMIALS:
            return f"binomial({above}, {below})"
        if DIFFERENTIAL.match(above) and below.startswith("d*"):
            return self.derivative(above, below, command.place)
        return f"({wrapped(above)}/{wrapped(below)})"

    def derivative(self, above: str, below: str, place: Span) -> str:
        """A derivative of what stands in parentheses here; others say too little of what they are of."""
        order, by = DIFFERENTIAL.fullmatch(above), BY.fullmatch(below)
        inside = self.take("paren", "brace")
        if not order or not by or order["order"] != by["order"] or inside is None:
            raise wrong(
                "put what is differentiated in parentheses",
                r"write \frac{d}{dx}\left(…\right), or d(…, x) in our own language",
                place,
            )
        times = f", {by['order']}" if by["order"] else ""
        return f"d({inside.text}, {by['name']}{times})"

    def function(self, item: Item) -> tuple[str, str]:
        """A function's call; where its operand has no parentheses, what opens it and what closes it."""
        name, outer = item.text, self.items[: self.at - 1]
        if name == ROOT:
            return self.root(item), ""
        if name in FAMILIES:
            return self.member(item), ""
        if not is_function(name) and name not in WORDS and name not in IN_OTHER_WORDS:
            from exprgrad.language.mistakes.hints import all_listed

            raise wrong(f"there is no function '{name}'", all_listed("functions"), item.place)
        ending, power, index = ")", "", None
        while mark := self.take("below", "above"):
            if mark.kind == "above":
                power = self.argument(mark, "^")
                continue
            below = self.next()
            if name in OVER_INDEX and below:
                index = index or INDEX.fullmatch(below.text)
            if not index or not below:
                part = subscript_of(mark, below or mark, name)
                name, ending = (part, ")") if is_function(part) else (name, part)
            self.at += 1
        if index:
            low, known = re.sub(r"([0-9])\s*(?=[A-Za-z])", r"\1*", index[2]), indices_around(outer)
            if not (is_bound(low, known) and is_bound(power, known)):
                raise wrong(NO_INDEX, AN_INDEX, item.place)
            return f"{name}(", f"{FOR}{index[1]} in {low}..{power})"
        if power == "-1":
            if not is_function(f"a{name}"):
                raise wrong(
                    "is this the inverse, or the reciprocal?", f"write 1/{name}(…)", item.place
                )
            name, power = f"a{name}", ""
        ending += f"^{wrapped(power)}" if power else ""
        inside = self.take("paren", "brace")
        if inside is None:
            return f"{name}(", ending
        over = self.take("above") if name in OVER_INDEX else None
        if over is None:
            return f"{name}({inside.text}{ending}", ""
        exponent = self.argument(over, "^")  # of what is added, not of the sum
        return f"{name}(({inside.text})^{wrapped(exponent)}{ending}", ""

    def member(self, item: Item) -> str:
        """A function of a family: its order stands below, or in parentheses above."""
        outer, order, power = self.items[: self.at - 1], "", ""
        while mark := self.take("below", "above"):
            if mark.kind == "below":
                order = self.subscript(mark)
                continue
            power = self.argument(mark, "^")
            if item.text == POLYGAMMA:
                order, power = power[1:-1], ""
        place = item.start, self.items[self.at - 1].end
        if not is_bound(order, indices_around(outer)):
            raise wrong(
                "the order of this function is a whole number",
                r"such as J_{2}(x) or \psi^{(1)}(x)",
                place,
            )
        inside = self.take("paren")
        if inside is None:
            raise wrong("this function has no operand", "put its operand in parentheses", place)
        called = f"{item.text}({order}, {inside.text})"
        return f"{called}^{wrapped(power)}" if power else called

    def root(self, item: Item) -> str:
        """A root, as we write it in LaTeX, with its unknown and where that is searched for below."""
        below, inside = [*self.items[self.at + 1 : self.at + 3], None, None][:2]
        found = below and SEARCHED.fullmatch(below.text)
        if not found or inside is None or inside.kind != "paren":
            raise wrong(
                "a root needs its unknown, and where it is searched for",
                r"a root is \operatorname{root}_{x = 1}(x^2 - 2), or _{0 \le x \le 2}",
                item.place,
            )
        self.at += 3
        ends = [end for end in (found["start"], found["low"], found["high"]) if end]
        unknown, *ends = (formula(part) for part in (found["one"] or found["other"], *ends))
        return f"{ROOT}({', '.join([inside.text, unknown, *ends])})"


ROOT = "root"
"""What is searched for stands below it: ``E = 1``, or ``0 \\le E \\le 2``."""
OVER_INDEX = ("sum", "prod")
NO_INDEX = "an index runs from one whole number up to another"
AN_INDEX = r"such as \sum_{k=1}^{10}; a sum over all of a vector has no subscript"
DIFFERENCES = {"Delta": "Δ", "delta": "δ"}
"""A letter before a name → the sign that it is there."""
FONT_BELOW = re.compile(r"\\(?:math|text)(?:rm|it|tt|bf)?\s*\{([^{}]*)\}")
DIFFERENTIAL = re.compile(r"d(?:\^(?P<order>[1-9]))?(?:\*|$)")
"""What stands above the line in a derivative."""
BY = re.compile(r"d\*(?P<name>[^\W\d]\w*)(?:\^(?P<order>[1-9]))?")
"""What stands below it."""
SEARCHED = re.compile(
    r"(?P<one>[^=<]+)=(?P<start>.+)|(?P<low>.+?)\\le(?![a-z])(?P<other>.+)\\le(?![a-z])(?P<high>.+)"
)


def refuse_function(item: Item, ended: bool) -> None:
    """What cannot follow a function without parentheses."""
    place = item.place
    if not ended:
        raise wrong("this function has no operand", "put its operand in parentheses", place)
    if item.text == "/":
        raise wrong(
            "does the '/' divide the function, or its operand?",
            "put the function's operand in parentheses",
            place,
        )


def refuse_second_mark(text: str, items: Sequence[Item], mark: Item) -> None:
    """Two powers, or two subscripts, of one thing: LaTeX refuses them, too."""
    kinds = ["", "", "", "", "", *[item.kind for item in items[-5:]]]
    at = -4 if kinds[-2] in MARKED and kinds[-2] != mark.kind else -2
    begin = at - 3 if kinds[at - 2] in MARKED else at - 1
    if mark.kind in MARKED and kinds[at] == mark.kind and len(items) >= -begin:
        base, first = text[items[begin].start : items[at].start], text[slice(*items[at + 1].place)]
        first = first.strip("{}")
        if mark.kind == "below":
            raise wrong("a name has one subscript", f"write {base}_{{{first},…}}", mark.place)
        raise wrong(
            "a power of a power has two readings",
            f"write ({base}^{{{first}}})^{{…}} or {base}^{{{first}^{{…}}}}",
            mark.place,
        )


MARKED = ("above", "below")
"""The signs of a power and of a subscript."""
MIXED = re.compile(r"[{\s]*\\[dtc]?frac" + 2 * r"\s*(?:\{\s*([0-9]+)\s*\}|([0-9]))")
"""A fraction of whole numbers."""


def refuse_neighbours(text: str, left: Sequence[Item], right: Item, *, divides: str) -> None:
    """Two operands side by side that may be no product, or follow a '/' or a modulus."""
    place, base = (right.start, right.end), left[0]
    mixed = MIXED.match(text, right.start)
    above, below = [int(n) for n in mixed.groups() if n] if mixed else (1, 1)
    if mixed and base.text.isdecimal() and len(left) == 1 and above < below:
        fraction = rf"\frac{{{above}}}{{{below}}}"
        raise wrong(
            "is this a product, or a mixed number?",
            rf"write {base.text} \cdot {fraction} or ({base.text} + {fraction})",
            (base.start, mixed.end()),
        )
    if divides == "%":
        raise wrong("is this part of the modulus, too?", "write parentheses", place)
    if divides:
        raise wrong(
            "does the '/' divide by this, too?", r"write \frac{…}{…}, or parentheses", place
        )
    if right.kind == "number":
        raise wrong(
            "a number follows an operand", r"for a product write \cdot, for a power ^", place
        )
    if right.kind == "paren" and base.kind == "name":
        known = base.text in MAY_BE_FUNCTIONS or not SEVERAL_TERMS.search(right.text)
        if known:
            help = MEANT.get(base.text, r"for a product write \cdot before the parentheses")
            what = " ".join(text[base.start : left[-1].end].split())
            raise wrong(f"is '{what}' a function here, or a factor?", help, (base.start, right.end))
    if right.kind in ("words", "equals", "cell", "row", "mark"):
        raise wrong(f"'{right.text}' cannot be read here", "write one formula", place)


def below_name(text: str, name: str, below: str) -> str:
    """A name with what stands below it: ``x_1``, or ``x1`` where ``x_1`` is written letter by letter."""
    joined = f"{name}_{below}"
    escaped = joined.replace("_", r"\_")
    return f"{name}{below}" if rf"\mathtt{{{escaped}}}" in text else joined


def raised(item: Item, power: str, place: Span) -> str:
    """A power; the transpose, an angle in degrees, a power of e."""
    is_base = item.text == "e" and item.kind == "name"
    if power in (r"\top", r"\intercal") or (power == "T" and item.kind == "name" and not is_base):
        return f"{item.text}.T"
    if power in (r"\circ", r"\degree"):
        return f"({item.text}*pi/180)"
    if is_base:
        return f"exp({power})"
    if item.kind == "name" and ABOVE_A_NAME.fullmatch(power):
        raise wrong(
            f"'^{{{power}}}' may count something",
            "a power is written without parentheses; what counts steps or samples is a subscript",
            place,
        )
    return f"{item.text}^{wrapped(power)}"


ABOVE_A_NAME = re.compile(r"\(\w+(?: [+-] \w+)?\)")
"""What says a step, a sample or a derivative above a name: ``x^{(k + 1)}``."""


def wrapped(text: str) -> str:
    """Text in parentheses, unless it is one name or number."""
    return text if SIMPLE.fullmatch(text) else f"({text})"


def indices_around(items: Sequence[Item]) -> set[str]:
    """The indices of the sums and products that what stands behind some items is in."""
    found: set[str] = set()
    for mark, below in zip(reversed(items[:-1]), reversed(items), strict=False):
        if below.text in ("+", "-", "="):  # a sum ends there
            break
        if mark.kind == "below" and (index := INDEX.fullmatch(below.text)):
            found.add(index[1])
    return found


def is_bound(text: str, known: set[str]) -> bool:
    """Whether a text is a whole number that is known when it is read: of numbers and indices around it."""
    return BOUND.fullmatch(text) is not None and known.issuperset(re.findall("[A-Za-z]+", text))


FOR = " for "
INDEX = re.compile(r"\s*([A-Za-z])\s*=\s*(-?[0-9A-Za-z][0-9A-Za-z+\-\s]*?)\s*")
BOUND = re.compile(r"-?\w+(?:\s*[-+*]\s*\w+)*")
INDICES = re.compile(
    r"\\(?:sum|prod)(?![A-Za-z])\s*(?:\\limits\s*)?(?:\^\s*(?:\{[^{}]*\}|\w)\s*)?_\s*\{\s*([A-Za-z])\s*=\s*([-\w]+)"
)
"""An index of a sum or a product, and where it begins."""


PLACE = re.compile(r"([A-Za-z])([+-][0-9]+)?")
"""An index of an element, and what is added to it."""


def element(text: str, name: str, mark: Item, below: Item | None) -> str | None:
    """``a_k`` in a sum over k: elements are counted from where the sums of the formula begin, 0 or 1."""
    if below is None:
        return None
    lows, several = dict(INDICES.findall(text)), "".join(below.text.split())
    parts = [*several] if {*several} <= lows.keys() else several.split(",")
    if lows.keys().isdisjoint(re.findall(r"[A-Za-z]", several)):
        return None
    places, first = [PLACE.fullmatch(part) for part in parts], int("0" not in lows.values())
    steps = [(place[1], int(place[2] or 0) - first) for place in places if place]
    is_before = any(
        re.fullmatch("-?[0-9]+", lows.get(k, "")) and int(lows[k]) + step < 0 for k, step in steps
    )
    if not all(places) or {"0", "1"} <= {*lows.values()} or is_before:
        raise wrong(
            f"which element is '{name}' here?",
            f"the first element is {name}[0] in our own language: write {name}[…] there",
            (mark.start, below.end),
        )
    written = [f"{k} {'-' if step < 0 else '+'} {abs(step)}" if step else k for k, step in steps]
    return f"{name}[{', '.join(written)}]"


def with_elements(ours: str, given: Collection[str], sign: str = "=") -> str:
    """A formula whose vectors are lists of numbers, where those have values: ``x = [x_1, x_2]; …``.

    An element that is not read is 0.  ``sign`` stands between two sides, if there are two.
    """
    names = [
        vector
        for vector in dict.fromkeys(re.findall(r"(?<![\w.])([^\W\d]\w*)\[", ours))
        if vector not in given and any(name.startswith(f"{vector}_") for name in given)
    ]
    if not names:
        return ours
    graph, first = related(ours, sign).graph, int(" in 0.." not in ours)
    read = [
        (graph.payloads[operands[0]], *place[0])
        for kind, operands, place in zip(graph.kinds, graph.operands, graph.payloads, strict=True)
        if kind == "index" and isinstance(place, tuple)
    ]
    for name in reversed(names):
        last = max((places[0] for vector, *places in read if vector == name), default=-1)
        listed = [f"{name}_{first + k}" if (name, k) in read else "0" for k in range(last + 1)]
        if {*listed} - {"0"}:
            ours = f"{name} = [{', '.join(listed)}]; {ours}"
    return ours


def subscript_of(mark: Item, below: Item, name: str) -> str:
    """What stands below a function: a logarithm's base, or the axes of a sum."""
    place = mark.start, below.end
    if name == "log" and below.kind in ("number", "name", "raw"):
        base = below.text.strip()
        if base in ("2", "10"):
            return f"log{base}"
        if re.fullmatch(r"\w+", base):
            return ")" if base == "e" else f", {base})"
    axes = re.fullmatch(r"\\text\{ax[ie]s \}\s*([-0-9, ]+)((?:, \\text\{keepdims\})?)", below.text)
    if name in WORDS and axes:
        several = "," in axes[1]
        settings = f"axis=[{axes[1]}]" if several else f"axis={axes[1]}"
        return f", {settings}{', keepdims=True' if axes[2] else ''})"
    if "=" in below.text or name in OVER_INDEX:
        raise wrong(NO_INDEX, AN_INDEX, place)
    raise wrong(f"the subscript of '{name}' has no meaning here", "write the function alone", place)


# Environments and statements.

CONDITION = re.compile(r"([^<>=!]+) (<=|>=|==|!=|<|>) ([^<>=!]+)")
ORDERS = {"<": "<", ">": ">", "==": "=", "<=": "<=", ">=": ">=", "!=": "<>"}
"""A comparison → the orders of its two sides for which it holds."""


def parted(items: Sequence[Item], kind: str) -> list[list[Item]]:
    """Items between those of a kind."""
    parts: list[list[Item]] = [[]]
    for item in items:
        if item.kind == kind:
            parts.append([])
        else:
            parts[-1].append(item)
    return parts


def environment(text: str, group: Open, span: Span) -> str:
    """A matrix as lists, cases as ``where``, lines as statements."""
    name = group.bracket[7:-1].removesuffix("*")
    rows = [line for line in parted(group.items, "row") if line]
    whole = group.start, span[1]
    if name in LINES:
        return statements(text, [item for item in group.items if item.kind != "cell"])
    if name in MATRICES:
        lines = [[row(text, cell, whole) for cell in parted(line, "cell")] for line in rows]
        listed = [f"[{', '.join(line)}]" for line in lines]
        return f"[{', '.join(listed)}]"
    if name == "cases" and not rows:
        raise wrong("there is nothing inside", "write the whole formula", whole)
    if name != "cases":
        raise wrong(f"the environment '{name}' is not known", "write the formula alone", whole)
    values, conditions = [], []
    for line in rows:
        value, *more = parted([item for item in line if item.kind != "comma"], "cell")
        condition = as_condition([item for part in more for item in part if item.kind != "words"])
        values.append(row(text, value, whole))
        conditions.append(row(text, condition, whole) if condition else "")
    if "" in conditions[:-1]:
        raise wrong("a case has no condition", "write the condition after '&'", whole)
    if conditions[-1] and not leaves_nothing(conditions):
        conditions.append("")
        values.append("nan")
    opened = "".join(f"where({c}, {v}, " for c, v in zip(conditions[:-1], values[:-1], strict=True))
    return f"{opened}{values[-1]}{')' * (len(values) - 1)}"


def leaves_nothing(conditions: Sequence[str]) -> bool:
    """Whether conditions compare the same two sides in all ways, so that one of them always holds."""
    found = [CONDITION.fullmatch(condition) for condition in conditions]
    sides = {(match[1], match[3]) for match in found if match}
    ways = {way for match in found if match for way in ORDERS[match[2]]}
    return None not in found and len(sides) == 1 and len(ways) == 3


def statements(text: str, items: Sequence[Item]) -> str:
    """The lines of a text as statements; ``f(x) = …`` names its value."""
    return "; ".join(statement(text, line) for line in parted(items, "row") if line)


def span_of(items: Sequence[Item]) -> Span:
    """Where some items stand."""
    return items[0].start, items[-1].end


def statement(text: str, items: Sequence[Item]) -> str:
    """One line."""
    span = span_of(items)
    sides = parted(items, "equals")
    if len(sides) == 1:
        return row(text, items, span)
    if len(sides) > 2:
        raise wrong("there is more than one '='", "write one equation", span)
    left, right = sides
    if not left or not right:
        raise wrong("a side of the equation is empty", "write name = formula", span)
    formula = row(text, right, span)
    if left[0].kind == "words":
        return formula
    called = left[:-1] if left[-1].kind == "paren" and len(left) > 1 else left
    reader = Row(text, called)
    name = reader.operand()
    if reader.next() or not name.isidentifier():
        raise wrong(
            "only a name can come before '='",
            "write the formula alone",
            span_of(left),
        )
    return f"{name} = {formula}"
