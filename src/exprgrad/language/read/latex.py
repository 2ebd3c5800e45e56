r"""LaTeX to our text: a formula as papers write it, ``\frac{1}{2} m v^2``, as ``(1/2)*m*v^2``.

One pass over the tokens keeps a stack of open groups; a group is translated when it closes, so nothing
recurses.  Adjacent factors are multiplied; a letter is a name, and so is a word in a font; ``e^{x}`` is
``exp(x)``.  Text with two meanings, or none here, is refused where it stands.

The rules are tables: ``READERS`` has the readers of signs, ``ITEMS`` in ``latex_signs.py`` the items of
signs, ``MACRO_READERS`` the readers of commands with arguments, ``ENVIRONMENTS`` what translates an
environment.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple

from exprgrad.errors import LanguageError, command_or_python
from exprgrad.graph.graph import CONST, PLACEHOLDERS
from exprgrad.graph.ops import FAMILIES, IN_OTHER_WORDS, is_function
from exprgrad.graph.tensors import WORDS
from exprgrad.language.read.latex_refusals import (
    AN_INDEX,
    NO_INDEX,
    REFUSED,
    refuse_alone,
    refuse_arrows,
    refuse_first,
    refuse_neighbours,
    refuse_second_mark,
    refuse_word,
    syntax_error,
)
from exprgrad.language.read.latex_signs import (
    ABOVE_A_NAME,
    ACCENTS,
    AROUND,
    BEFORE_GROUP,
    BELOW,
    BESSEL,
    BINOMIALS,
    BOUND,
    BY,
    CLOSING,
    COMMAND,
    CONDITION,
    DELIMITERS,
    DIFFERENCES,
    DIFFERENTIAL,
    ENDING_ITEMS,
    FONT_BELOW,
    FONTS,
    FRACTIONS,
    FUNCTION_COMMANDS,
    FUNCTION_LETTERS,
    INDEX,
    INDICES,
    ITEMS,
    LETTERS,
    LINES,
    MATRICES,
    OPENING,
    OPERAND_KINDS,
    ORDER_ABOVE,
    ORDER_BELOW,
    ORDERS,
    OVER_INDEX,
    PLACE,
    POLYGAMMA,
    ROOT,
    SEARCHED,
    SIMPLE,
    TOKEN,
    UPRIGHT,
    WORDS_BETWEEN,
    Item,
    signs_of_functions,
)
from exprgrad.language.read.parse import parse_text
from exprgrad.language.read.relations import read_relations
from exprgrad.language.read.shaping import product_sign
from exprgrad.language.write.infix import program_text
from exprgrad.source import Source, Span

__all__ = [
    "equations_from_latex", "formula_from_latex", "is_latex", "with_elements", "with_reading",
]  # fmt: skip

LONGEST_SHOWN = 160
"""The longest text that a help translates, in characters."""


class Open(NamedTuple):
    """An open group: its opening and its closing bracket, and its items so far."""

    bracket: str
    closing: str
    items: list[Item]
    start: int


def is_latex(text: str) -> bool:
    """Tell whether a text has a command of LaTeX."""
    return COMMAND.search(text) is not None


def formula_from_latex(text: str) -> str:
    """Translate a formula into our language; raises ``LanguageError`` at the first mistake."""
    with show_errors_in(text):
        ours = write_formula(text)
    return drop_parentheses(ours)


def drop_parentheses(ours: str) -> str:
    """Drop the parentheses that a formula in our language does not need.

    Products of possible vectors keep their sign, which has two readings there.
    """
    graph = parse_text(ours)
    for node in range(len(graph.kinds)):
        sign = product_sign(graph, ours, node)
        if sign and CONST not in [graph.kinds[operand] for operand in graph.operands[node]]:
            graph.spelled[node] = sign
    is_plain = PLACEHOLDERS.isdisjoint(graph.kinds) and not graph.calls
    return program_text(graph) if is_plain else ours


def equations_from_latex(text: str, sign: str = "=") -> str:
    r"""Translate equations into our language; ``;`` or ``\\`` separates them.

    With the sign ``~``, or ``\sim``, they may be models, too.  Raises ``LanguageError`` at the first
    mistake.
    """
    ends = [token.start() for token in TOKEN.finditer(text) if token[0] == ";"]
    starts = [0, *(end + 1 for end in ends)]
    parts = [text[start:end] for start, end in zip(starts, [*ends, len(text)], strict=True)]
    return "; ".join(line for part in parts for line in write_equations(part, sign))


def write_equations(text: str, sign: str) -> Iterator[str]:
    """Translate the equations of a text, one by one."""
    with show_errors_in(text):
        for line in filter(None, split_items(read_items(text, sign), "row")):
            first, *others = split_items(line, "equals")
            if not (first and all(others)):
                raise syntax_error(
                    "a side of the equation is empty", "write both sides", span_of(line)
                )
            signs = [item.text for item in line if item.kind == "equals"]
            pieces = [drop_parentheses(write_row(text, first, span_of(first)))]
            for between, side in zip(signs, others, strict=True):
                pieces.append(
                    f" {between} {drop_parentheses(write_row(text, side, span_of(side)))}"
                )
            yield "".join(pieces)


def with_reading(help: str | None, text: str) -> str | None:
    """Add to the help for LaTeX its translation, and the option that reads it."""
    if not is_latex(text):
        return help
    with suppress(LanguageError):
        if len(text) <= LONGEST_SHOWN:
            help = f"this is LaTeX: write {formula_from_latex(text)}"
    reader = command_or_python("--from latex", "exprgrad.from_latex(r'…')")
    return f"{help}; {reader} reads LaTeX"


@contextmanager
def show_errors_in(text: str) -> Iterator[None]:
    """Add the text to an error, for the excerpt."""
    try:
        yield
    except LanguageError as error:
        raise error.at(Source(text)) from None


def write_formula(text: str) -> str:
    """Translate a formula, with parentheses that it may not need."""
    return write_statements(text, read_items(text))


def read_items(text: str, sign: str = "=") -> list[Item]:
    """Read a text's items outside of all groups; ``~`` is a blank, or the sign of a model."""
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
        at = token.end() if token.lastgroup == "skip" else read_token(text, token, stack)
    if len(stack) > 1:
        last = stack[-1]
        raise syntax_error(
            f"this '{last.bracket}' is never closed",
            f"add a '{last.closing}'",
            (last.start, last.start + 1),
        )
    return stack[0].items


def read_token(text: str, token: re.Match[str], stack: list[Open]) -> int:
    """Read one token; return the offset after it."""
    if read := READERS.get(token[0]):
        return read(text, token, stack)
    items = stack[-1].items
    item = read_symbol(text, token[0], *token.span())
    refuse_second_mark(text, items, item)
    items.append(item)
    return token.end()


def read_sized_bracket(text: str, token: re.Match[str], stack: list[Open]) -> int:
    r"""Open a group at ``\left`` and its bracket, or close one at ``\right``."""
    bracket = TOKEN.match(text, re.compile(r"\s*").match(text, token.end()).end())  # type: ignore[union-attr]
    if bracket is None or bracket[0] == ".":
        raise syntax_error(f"'{token[0]}' has no bracket", "write the whole formula", token.span())
    if token[0] == r"\left":
        open_group(bracket, stack, token.start())
    else:
        close_group(bracket[0], text, stack, bracket.span())
    return bracket.end()


def read_environment(text: str, token: re.Match[str], stack: list[Open]) -> int:
    r"""Open a group at ``\begin{name}``, or close one at ``\end{name}``."""
    start, end = token.span()
    name = re.compile(r"\s*\{(\w+\*?)\}(?:\{[^{}]*\})?").match(text, end)
    if name is None:
        raise syntax_error(
            f"'{token[0]}' needs a name", r"write \begin{cases} … \end{cases}", (start, end)
        )
    if token[0] == r"\begin":
        stack.append(Open(rf"\begin{{{name[1]}}}", rf"\end{{{name[1]}}}", [], start))
    else:
        close_group(rf"\end{{{name[1]}}}", text, stack, (start, name.end()))
    return name.end()


def read_bracket(text: str, token: re.Match[str], stack: list[Open]) -> int:
    """Open or close a group; a bar closes one only behind an operand."""
    word, items = token[0], stack[-1].items
    if word == "{" and items and items[-1].kind == "below":
        return read_raw_group(text, token.start(), items)
    ends_operand = bool(items) and items[-1].kind in OPERAND_KINDS
    is_bar = word in ("|", r"\|") and stack[-1].bracket == word and ends_operand
    if word in CLOSING or is_bar:
        close_group(word, text, stack, token.span())
    else:
        open_group(token, stack, token.start())
    return token.end()


def read_raw_group(text: str, start: int, items: list[Item]) -> int:
    """Read a subscript in braces, as it is written; return the offset after it."""
    depth = 0
    for at in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if not depth:
            items.append(Item("raw", text[start + 1 : at], start, at + 1))
            return at + 1
    raise syntax_error("this '{' is never closed", "add a '}'", (start, start + 1))


def open_group(bracket: re.Match[str], stack: list[Open], start: int) -> None:
    """Open a group."""
    if bracket[0] not in OPENING:
        raise syntax_error(
            f"'{bracket[0]}' opens nothing that is known", "write parentheses", bracket.span()
        )
    stack.append(Open(bracket[0], OPENING[bracket[0]], [], start))


def close_group(bracket: str, text: str, stack: list[Open], span: Span) -> None:
    """Close a group, and add its text to the group around it, as one item."""
    group = stack[-1]
    if group.closing != bracket or len(stack) == 1:
        known = f"'{group.bracket}' is open" if len(stack) > 1 else "nothing is open"
        raise syntax_error(f"this '{bracket}' closes nothing: {known}", "check the brackets", span)
    stack.pop()
    items = stack[-1].items
    start, end = group.start, span[1]
    if group.bracket.startswith(r"\begin"):
        name = group.bracket[7:-1].removesuffix("*")
        if name not in ENVIRONMENTS:
            raise syntax_error(
                f"the environment '{name}' is not known", "write the formula alone", (start, end)
            )
        ours = ENVIRONMENTS[name](text, group.items, (start, end))
        items.append(Item("operand", ours, start, end))
        return
    held = as_condition(group.items) if group.bracket == "[" else group.items
    if group.bracket == "{" and len(held) == 1 and held[0].kind == "mark":
        items.append(held[0]._replace(start=start, end=end))
        return
    inside = "" if group.bracket == "{" and not held else write_row(text, held, (start, end))
    if group.bracket in AROUND:
        items.append(Item("operand", f"{AROUND[group.bracket]}({inside})", start, end))
    elif group.bracket == "{":
        items.append(Item("brace", inside, start, end))
    elif group.bracket == "[" and any(item.kind == "comma" for item in group.items):
        items.append(Item("operand", f"[{inside}]", start, end))
    else:
        items.append(Item("paren", inside, start, end))


def as_condition(items: Sequence[Item]) -> list[Item]:
    """Return the items of a condition, in which ``=`` compares."""
    return [
        item._replace(kind="operator", text="==") if item.kind == "equals" else item
        for item in items
    ]


def read_font(text: str, token: re.Match[str], stack: list[Open]) -> int:
    r"""Read a name ``\mathrm{name}``, a function ``\operatorname{name}`` or a word ``\text{if }``."""
    word, (start, end), items = token[0], token.span(), stack[-1].items
    group = re.compile(r"\*?\s*\{((?:[^{}]|\{[^{}]*\})*)\}").match(text, end)
    if group is None:
        raise syntax_error(f"'{word}' needs a word", f"write {word}{{name}}", (start, end))
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
        raise syntax_error(
            "there is no function 'Li'",
            "the offset logarithmic integral is li(x) - li(2)",
            (start, group.end()),
        )
    upright = upright or (word in UPRIGHT and name in BESSEL and has_order(text, group.end()))
    if name == "B" and before_group and word in (*UPRIGHT, r"\operatorname"):
        items.append(Item("function", "beta", start, group.end()))
    elif word == r"\operatorname" or upright or (is_function(name) and before_group):
        function = FUNCTION_COMMANDS.get(name) or signs_of_functions().get(name, called)
        function = BESSEL.get(name, function)
        items.append(Item("function", function, start, group.end()))
    elif name == "d" and word in UPRIGHT:
        raise syntax_error(
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


READERS = {
    **dict.fromkeys((r"\left", r"\right"), read_sized_bracket),
    **dict.fromkeys((r"\begin", r"\end"), read_environment),
    **dict.fromkeys((*FONTS, r"\operatorname"), read_font),
    **dict.fromkeys((*OPENING, *CLOSING), read_bracket),
}
"""A sign or a command → its reader; all others are items by themselves."""


def has_order(text: str, end: int) -> bool:
    """Tell whether an order, a whole number or a sum's index, and a parenthesis follow a letter."""
    below = ORDER_BELOW.match(text, end)
    return below is not None and (
        below[1].isdecimal() or below[1] in (index for index, _ in INDICES.findall(text))
    )


def read_symbol(text: str, word: str, start: int, end: int) -> Item:
    """Read a token that is an item by itself."""
    if word in (r"\cdot", r"\times"):
        refuse_arrows(text, word, start, end)
    elif word == "!" and text[end : end + 1] in ("!", "="):
        raise syntax_error(
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
        raise syntax_error(f"'{word}' cannot be read", REFUSED[word], (start, end))
    raise syntax_error(f"'{word}' is not known", "write this part in our language", (start, end))


# The text of a group.


def write_row(text: str, items: Sequence[Item], span: Span) -> str:
    """Translate the items of a group."""
    return LatexRow(text, items).written(span)


class LatexRow:
    """A reader of a group's items, from left to right: ``at`` is the index of the next."""

    def __init__(self, text: str, items: Sequence[Item]) -> None:
        self.text = text
        self.items = items
        self.at = 0

    def next(self) -> Item | None:
        """Return the next item, or None."""
        return self.items[self.at] if self.at < len(self.items) else None

    def take(self, *kinds: str) -> Item | None:
        """Take the next item, if it is of one of these kinds, or of any; else return None."""
        item = self.next()
        if item is None or (kinds and item.kind not in kinds):
            return None
        self.at += 1
        return item

    def written(self, span: Span) -> str:
        """Translate all items."""
        pieces: list[str] = []
        closers: list[str] = []  # of functions whose operand has no parentheses
        ended, divides = False, ""  # whether an operand has just ended; the '/' or '%' before it
        while item := self.next():
            if closers and (item.kind in ENDING_ITEMS or (ended and item.kind == "function")):
                if item.kind in ENDING_ITEMS:
                    refuse_first(
                        (
                            not ended,
                            "this function has no operand",
                            "put its operand in parentheses",
                            item.place,
                        ),
                        (
                            item.text == "/",
                            "does the '/' divide the function, or its operand?",
                            "put the function's operand in parentheses",
                            item.place,
                        ),
                    )
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
            raise syntax_error("an operand is missing here", "write the whole formula", span)
        return "".join(pieces + closers[::-1])

    def operand_before(self) -> Sequence[Item]:
        """Return the last operand, with its superscript and subscript."""
        at = self.at - 1
        while at > 1 and self.items[at - 1].kind in ("below", "above"):
            at -= 2
        return self.items[max(at, 0) : self.at]

    def operand(self) -> str:
        """Read an operand, with its superscript and subscript."""
        item = self.items[self.at]
        self.at += 1
        if item.kind == "macro":
            kind = "name" if item.text in ACCENTS else "operand"
            item = item._replace(kind=kind, text=MACRO_READERS[item.text](self, item))
        elif item.kind in ("paren", "brace"):
            if not item.text:
                raise syntax_error("there is nothing inside", "write the whole formula", item.place)
            if item.kind == "paren" or not SIMPLE.fullmatch(item.text):
                item = item._replace(text=f"({item.text})")
        elif item.kind not in ("number", "name", "operand"):
            raise syntax_error(
                f"'{item.text}' cannot be read here", "write the whole formula", item.place
            )
        elif item.kind == "name" and item.text in DIFFERENCES and (behind := self.take("name")):
            item = item._replace(text=f"{DIFFERENCES[item.text]}{behind.text}")
        if item.text == "sigma" and (inside := self.take("paren")):
            refuse_alone(self.text, "sigma", (item.start, inside.end))
            item = item._replace(kind="operand", text=f"sigmoid({inside.text})")
        return self.suffixed(item)

    def suffixed(self, item: Item) -> str:
        """Read the subscript and the superscript of an operand."""
        while mark := self.take("below", "above", "factorial"):
            if mark.kind == "factorial":
                if self.at > 2 and self.items[self.at - 3].kind == "above":
                    raise syntax_error(
                        "is this the factorial of the power?",
                        "put what the '!' belongs to in parentheses",
                        mark.place,
                    )
                item = item._replace(kind="operand", text=f"factorial({item.text})")
            elif mark.kind == "above":
                sign = self.take("mark")
                over = sign.text if sign else self.argument(mark, "^")
                power = raise_to(item, over, mark.place)
                item = item._replace(kind="operand", text=power)
            elif item.kind != "name":
                raise syntax_error("only a name can have a subscript", "write a name", mark.place)
            elif part := write_element(self.text, item.text, mark, self.next()):
                item = item._replace(kind="operand", text=part)
                self.at += 1
            else:
                below = self.subscript(mark)
                joined = f"{item.text}_{below}"
                escaped = joined.replace("_", r"\_")
                is_spelled = rf"\mathtt{{{escaped}}}" in self.text  # x_1 is another name: x1
                item = item._replace(text=f"{item.text}{below}" if is_spelled else joined)
        if item.kind == "name" and not item.text.isidentifier():
            raise syntax_error(
                f"'{item.text}' is not a name", "names are letters, digits and _", item.place
            )
        return item.text

    def subscript(self, mark: Item) -> str:
        """Read a subscript, as a part of a name."""
        item = self.take()
        if item is None:
            raise syntax_error("this subscript is empty", "write x_1", mark.place)
        if item.kind == "number" and len(item.text) > 1:
            raise syntax_error(
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
            raise syntax_error(
                "this index has no meaning here",
                "a subscript is part of the name: letters and digits",
                item.place,
            )
        return "_".join(parts)

    def argument(self, mark: Item, of: str, *, splits: bool = False) -> str:
        """Read the one item that a sign or a command takes, without its braces.

        It takes one digit of a number; a command that ``splits`` numbers itself gets all digits.
        """
        item = self.next()
        if item is None or (item.kind == "brace" and not item.text):
            place = mark.start, item.end if item else mark.end
            raise syntax_error(f"nothing follows this '{of}'", "write the whole formula", place)
        refuse_first(
            (
                item.kind == "number" and len(item.text) > 1 and not splits,
                f"'{of}' takes only the first digit of {item.text}",
                f"write {{{item.text}}}",
                (mark.start, item.end),
            ),
            (
                item.kind not in ("brace", "number", "name", "operand"),
                f"'{of}' takes one letter or digit, or what is in braces",
                "put it in braces",
                (mark.start, item.end),
            ),
        )
        self.at += 1
        return item.text

    def read_accent(self, command: Item) -> str:
        r"""Read ``\hat{x}`` and the like, as a part of the name."""
        return f"{self.argument(command, command.text)}_{ACCENTS[command.text]}"

    def read_radical(self, command: Item) -> str:
        r"""Read ``\sqrt``, perhaps with another root in brackets."""
        following, root, mark = self.next(), "2", command
        if following and following.kind == "paren" and self.text[following.start] == "[":
            root, mark = following.text, following
            self.at += 1
        inside = self.argument(mark, command.text)
        named = {"2": f"sqrt({inside})", "3": f"cbrt({inside})"}
        return named.get(root, f"({inside})^(1/({root}))")

    def read_fraction(self, command: Item) -> str:
        r"""Read ``\frac`` or ``\binom``, each with two arguments; ``\frac12`` takes a digit each."""
        word, following = command.text, self.next()
        above = self.argument(command, word, splits=True)
        if following and following.kind == "number" and len(above) > 1:
            above, below = above[0], above[1:]
            if len(below) > 1:
                raise syntax_error(
                    f"'{word}' takes one digit each", f"write {word}{{…}}{{…}}", command.place
                )
        else:
            below = self.argument(self.items[self.at - 1], word)
        if word in BINOMIALS:
            return f"binomial({above}, {below})"
        if DIFFERENTIAL.match(above) and below.startswith("d*"):
            return self.derivative(above, below, command.place)
        return f"({add_parentheses(above)}/{add_parentheses(below)})"

    def derivative(self, above: str, below: str, place: Span) -> str:
        """Read a derivative; its operand has to be in parentheses."""
        order, by = DIFFERENTIAL.fullmatch(above), BY.fullmatch(below)
        inside = self.take("paren", "brace")
        if not order or not by or order["order"] != by["order"] or inside is None:
            raise syntax_error(
                "put what is differentiated in parentheses",
                r"write \frac{d}{dx}\left(…\right), or d(…, x) in our own language",
                place,
            )
        times = f", {by['order']}" if by["order"] else ""
        return f"d({inside.text}, {by['name']}{times})"

    def function(self, item: Item) -> tuple[str, str]:
        """Read a function: its call and "", or without parentheses the call's opening and closing text."""
        name, outer = item.text, self.items[: self.at - 1]
        if name == ROOT:
            return self.root(item), ""
        if name in FAMILIES:
            return self.member(item), ""
        if not is_function(name) and name not in WORDS and name not in IN_OTHER_WORDS:
            from exprgrad.language.mistakes.hints import listing_command_hint

            raise syntax_error(
                f"there is no function '{name}'", listing_command_hint("functions"), item.place
            )
        ending, power, index = ")", "", None
        while mark := self.take("below", "above"):
            if mark.kind == "above":
                power = self.argument(mark, "^")
                continue
            below = self.next()
            if name in OVER_INDEX and below:
                index = index or INDEX.fullmatch(below.text)
            if not index or not below:
                part = read_function_subscript(mark, below or mark, name)
                name, ending = (part, ")") if is_function(part) else (name, part)
            self.at += 1
        if index:
            low, known = (
                re.sub(r"([0-9])\s*(?=[A-Za-z])", r"\1*", index[2]),
                enclosing_indices(outer),
            )
            if not (is_bound(low, known) and is_bound(power, known)):
                raise syntax_error(NO_INDEX, AN_INDEX, item.place)
            return f"{name}(", f"{FOR}{index[1]} in {low}..{power})"
        if power == "-1":
            if not is_function(f"a{name}"):
                raise syntax_error(
                    "is this the inverse, or the reciprocal?", f"write 1/{name}(…)", item.place
                )
            name, power = f"a{name}", ""
        ending += f"^{add_parentheses(power)}" if power else ""
        inside = self.take("paren", "brace")
        if inside is None:
            return f"{name}(", ending
        over = self.take("above") if name in OVER_INDEX else None
        if over is None:
            return f"{name}({inside.text}{ending}", ""
        exponent = self.argument(over, "^")  # of what is added, not of the sum
        return f"{name}(({inside.text})^{add_parentheses(exponent)}{ending}", ""

    def member(self, item: Item) -> str:
        """Read a function of a family, whose order is a subscript, or a superscript in parentheses."""
        outer, order, power = self.items[: self.at - 1], "", ""
        while mark := self.take("below", "above"):
            if mark.kind == "below":
                order = self.subscript(mark)
                continue
            power = self.argument(mark, "^")
            if item.text == POLYGAMMA:
                order, power = power[1:-1], ""
        place = item.start, self.items[self.at - 1].end
        if not is_bound(order, enclosing_indices(outer)):
            raise syntax_error(
                "the order of this function is a whole number",
                r"such as J_{2}(x) or \psi^{(1)}(x)",
                place,
            )
        inside = self.take("paren")
        if inside is None:
            raise syntax_error(
                "this function has no operand", "put its operand in parentheses", place
            )
        called = f"{item.text}({order}, {inside.text})"
        return f"{called}^{add_parentheses(power)}" if power else called

    def root(self, item: Item) -> str:
        """Read a root, as we write it in LaTeX: its unknown and the search's start or ends are below."""
        below, inside = [*self.items[self.at + 1 : self.at + 3], None, None][:2]
        found = below and SEARCHED.fullmatch(below.text)
        if not found or inside is None or inside.kind != "paren":
            raise syntax_error(
                "a root needs its unknown, and where it is searched for",
                r"a root is \operatorname{root}_{x = 1}(x^2 - 2), or _{0 \le x \le 2}",
                item.place,
            )
        self.at += 3
        ends = [end for end in (found["start"], found["low"], found["high"]) if end]
        unknown, *ends = (write_formula(part) for part in (found["one"] or found["other"], *ends))
        return f"{ROOT}({', '.join([inside.text, unknown, *ends])})"


MACRO_READERS = {
    r"\sqrt": LatexRow.read_radical,
    **dict.fromkeys(ACCENTS, LatexRow.read_accent),
    **dict.fromkeys(FRACTIONS, LatexRow.read_fraction),
}
"""A command with arguments → its reader."""


def raise_to(item: Item, power: str, place: Span) -> str:
    """Write a power, a transpose, an angle in degrees or a power of e."""
    is_base = item.text == "e" and item.kind == "name"
    if power in (r"\top", r"\intercal") or (power == "T" and item.kind == "name" and not is_base):
        return f"{item.text}.T"
    if power in (r"\circ", r"\degree"):
        return f"({item.text}*pi/180)"
    if is_base:
        return f"exp({power})"
    if item.kind == "name" and ABOVE_A_NAME.fullmatch(power):
        raise syntax_error(
            f"'^{{{power}}}' may count something",
            "a power is written without parentheses; what counts steps or samples is a subscript",
            place,
        )
    return f"{item.text}^{add_parentheses(power)}"


def add_parentheses(text: str) -> str:
    """Put text in parentheses, unless it is one name or number."""
    return text if SIMPLE.fullmatch(text) else f"({text})"


def enclosing_indices(items: Sequence[Item]) -> set[str]:
    """Find the indices of the sums and products around the text behind some items."""
    found: set[str] = set()
    for mark, below in zip(reversed(items[:-1]), reversed(items), strict=False):
        if below.text in ("+", "-", "="):  # a sum ends there
            break
        if mark.kind == "below" and (index := INDEX.fullmatch(below.text)):
            found.add(index[1])
    return found


def is_bound(text: str, known: set[str]) -> bool:
    """Tell whether a text is a bound, made of whole numbers and the ``known`` indices."""
    return BOUND.fullmatch(text) is not None and known.issuperset(re.findall("[A-Za-z]+", text))


FOR = " for "


def write_element(text: str, name: str, mark: Item, below: Item | None) -> str | None:
    """Write ``a_k`` in a sum over k as an element; the sums of the formula begin at 0 or 1."""
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
        raise syntax_error(
            f"which element is '{name}' here?",
            f"the first element is {name}[0] in our own language: write {name}[…] there",
            (mark.start, below.end),
        )
    written = [f"{k} {'-' if step < 0 else '+'} {abs(step)}" if step else k for k, step in steps]
    return f"{name}[{', '.join(written)}]"


def with_elements(ours: str, given: Collection[str], sign: str = "=") -> str:
    """Bind vectors to lists of the inputs that have values: ``x = [x_1, x_2]; …``.

    An unused element is 0.  ``sign`` is that between two sides, if there are two.
    """
    names = [
        vector
        for vector in dict.fromkeys(re.findall(r"(?<![\w.])([^\W\d]\w*)\[", ours))
        if vector not in given and any(name.startswith(f"{vector}_") for name in given)
    ]
    if not names:
        return ours
    graph, first = read_relations(ours, sign).graph, int(" in 0.." not in ours)
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


def read_function_subscript(mark: Item, below: Item, name: str) -> str:
    """Translate a function's subscript: a logarithm's base, or the axes of a sum."""
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
    refuse_first(("=" in below.text or name in OVER_INDEX, NO_INDEX, AN_INDEX, place))
    raise syntax_error(
        f"the subscript of '{name}' has no meaning here", "write the function alone", place
    )


# Environments and statements.


def split_items(items: Sequence[Item], kind: str) -> list[list[Item]]:
    """Split items at those of a kind."""
    parts: list[list[Item]] = [[]]
    for item in items:
        if item.kind == kind:
            parts.append([])
        else:
            parts[-1].append(item)
    return parts


def write_matrix(text: str, items: Sequence[Item], whole: Span) -> str:
    """Translate a matrix into lists."""
    rows = [line for line in split_items(items, "row") if line]
    lines = [[write_row(text, cell, whole) for cell in split_items(line, "cell")] for line in rows]
    listed = [f"[{', '.join(line)}]" for line in lines]
    return f"[{', '.join(listed)}]"


def write_cases(text: str, items: Sequence[Item], whole: Span) -> str:
    """Translate cases into ``where``; outside of all cases the value is ``nan``."""
    values, conditions = [], []
    for line in filter(None, split_items(items, "row")):
        value, *more = split_items([item for item in line if item.kind != "comma"], "cell")
        condition = as_condition([item for part in more for item in part if item.kind != "words"])
        values.append(write_row(text, value, whole))
        conditions.append(write_row(text, condition, whole) if condition else "")
    no_condition = "a case has no condition"
    refuse_first(
        (not values, "there is nothing inside", "write the whole formula", whole),
        ("" in conditions[:-1], no_condition, "write the condition after '&'", whole),
    )
    if conditions[-1] and not leaves_nothing(conditions):
        conditions.append("")
        values.append("nan")
    opened = "".join(f"where({c}, {v}, " for c, v in zip(conditions[:-1], values[:-1], strict=True))
    return f"{opened}{values[-1]}{')' * (len(values) - 1)}"


ENVIRONMENTS: dict[str, Callable[[str, Sequence[Item], Span], str]] = {
    "cases": write_cases,
    **dict.fromkeys(MATRICES, write_matrix),
    **dict.fromkeys(
        LINES,
        lambda text, items, whole: write_statements(text, [i for i in items if i.kind != "cell"]),
    ),
}
"""An environment → what translates it."""


def leaves_nothing(conditions: Sequence[str]) -> bool:
    """Tell whether conditions compare two sides in all ways, so that one always holds."""
    found = [CONDITION.fullmatch(condition) for condition in conditions]
    sides = {(match[1], match[3]) for match in found if match}
    ways = {way for match in found if match for way in ORDERS[match[2]]}
    return None not in found and len(sides) == 1 and len(ways) == 3


def write_statements(text: str, items: Sequence[Item]) -> str:
    """Translate the lines of a text into statements; ``f(x) = …`` names its value."""
    return "; ".join(write_statement(text, line) for line in split_items(items, "row") if line)


def span_of(items: Sequence[Item]) -> Span:
    """Return the span of some items."""
    return items[0].start, items[-1].end


def write_statement(text: str, items: Sequence[Item]) -> str:
    """Translate one line."""
    span = span_of(items)
    sides = split_items(items, "equals")
    if len(sides) == 1:
        return write_row(text, items, span)
    refuse_first(
        (len(sides) > 2, "there is more than one '='", "write one equation", span),
        (not all(sides), "a side of the equation is empty", "write name = formula", span),
    )
    left, right = sides
    formula = write_row(text, right, span)
    if left[0].kind == "words":
        return formula
    called = left[:-1] if left[-1].kind == "paren" and len(left) > 1 else left
    reader = LatexRow(text, called)
    name = reader.operand()
    if reader.next() or not name.isidentifier():
        raise syntax_error(
            "only a name can come before '='",
            "write the formula alone",
            span_of(left),
        )
    return f"{name} = {formula}"
