r"""Graph to LaTeX, as a paper would set it, for amsmath, KaTeX and MathJax.

A row's ``latex`` text is the operation's look: each operand's name marks the operand's place.  The signs
around a name decide which operands need parentheses there; those outside of brackets decide how tightly the
whole binds.  A setting of a structural row is a subscript, ``\sum_{\text{axis }1} x``; so are an index's
places, ``x_{0, 1{:}3}``.

Each text has one reading.  Only these share a spelling, and are equal for all numbers: signs that a paper
would move, exact in doubles, too (``-(a*b)`` and ``(-a)*b``, ``-(a/b)`` and ``(-a)/b``, ``a - b`` and
``a + (-b)``); a row and its definition (``log1p(x)`` is ``\ln(1 + x)``); ``3e20`` and ``3*10^20``;
``where(c, x, y)`` and ``where(c != 0, x, y)``.  A product of matrices looks like one of numbers; in a
formula that has both, elementwise products have a sign of their own.  A vector is a list in brackets, a
matrix is one in parentheses.

The name ``w12`` is ``w_{12}``, ``sigma_x`` is ``\sigma_{x}``, ``rate`` is ``\mathit{rate}``.  Names are
italic, functions upright: ``\mathit{sin}`` is an input, ``\sin x`` a sine.

Nothing recurses, and time is linear in the graph and the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from copy import copy
from functools import cache, lru_cache
from typing import Any, NamedTuple, cast

from exprgrad.graph.graph import Algebra, Graph, Literal, Settings, interpret, nested_list_text
from exprgrad.graph.ops import BY_INFIX, BY_NAME, is_root
from exprgrad.graph.structural import Parameter
from exprgrad.graph.tensors import STRUCTURAL, index_text
from exprgrad.language.read.parse import parse_text
from exprgrad.language.write.infix import number_text, unfold_items

__all__ = ["GREEK", "graph_latex", "latex_symbol", "node_latex", "symbols_of_names"]

# Names and numbers.

ALPHABET = "αβγδεζηθικλμνξοπρστυφχψω"
NAMES = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu "
    "nu xi omicron pi rho sigma tau upsilon phi chi psi omega"
)
CAPITALS = "AB  EZH IK MN O P T  X  "
"""The Latin capitals that look like Greek ones, which have no commands in TeX."""


MOST_COLUMNS = 10
"""The most columns of a matrix in amsmath, by default."""


def greek_letters() -> dict[str, str]:
    """Map Greek letters and a few related ones, by name and as characters, to their commands."""
    table = {name: rf"\{name}" for name in ("ell", "hbar", "varphi", "vartheta")}
    table |= {"ς": r"\varsigma", "ϵ": r"\epsilon", "ϕ": r"\phi", "ϑ": r"\vartheta", "µ": r"\mu"}
    table |= {"ℓ": r"\ell", "ħ": r"\hbar"}
    for letter, name, capital in zip(ALPHABET, NAMES.split(), CAPITALS, strict=True):
        small = {"epsilon": r"\varepsilon", "omicron": "o"}.get(name, rf"\{name}")
        large = rf"\{name.capitalize()}" if capital == " " else rf"\mathrm{{{capital}}}"
        table |= {name: small, letter: small, name.capitalize(): large, letter.upper(): large}
    return table


GREEK = greek_letters()


def latex_symbol(name: str) -> str:
    r"""Write a name in LaTeX; trailing digits and parts after ``_`` go below: ``x_{\mathrm{max}}``.

    Letters beyond ASCII and Greek are text, ``\textit{…}``: KaTeX, MathJax, XeLaTeX and LuaLaTeX set all
    of these, given a font that has them, pdfLaTeX the accented Latin ones.
    """
    first, *below = name.split("_")
    if not first or not all(below):
        return letter_by_letter(name, r"\mathit")
    split = re.fullmatch(r"(.*[^0-9])([0-9]+)", first)
    head, digits = split.groups() if split else (first, "")
    subscripts = [digits] * bool(digits) + [latex_word(part, r"\mathrm") for part in below]
    return latex_word(head, r"\mathit") + (f"_{{{', '.join(subscripts)}}}" if subscripts else "")


def latex_word(text: str, font: str) -> str:
    r"""Write a letter, a number or a word; a difference such as ``Δx`` is ``\Delta x``."""
    simple = short_symbol(text)
    if simple:
        return simple
    rest = text[1:]
    if text[0] in "Δδ" and (rest.isascii() or rest in GREEK):
        return f"{GREEK[text[0]]} {short_symbol(rest) or letter_by_letter(rest, font)}"
    return letter_by_letter(text, font)


def short_symbol(text: str) -> str:
    """Write a Greek letter, an ASCII letter or a number; "" for other words."""
    plain = text.isascii() and (len(text) == 1 or text.isdecimal())
    return GREEK.get(text) or (text if plain else "")


def letter_by_letter(name: str, font: str) -> str:
    """Write a name letter by letter in a font; as text, if math fonts lack a letter."""
    if all(letter.isascii() or letter in GREEK for letter in name):
        letters = [c if c.isascii() else f"{{{GREEK[c]}}}" for c in name]
        return f"{font}{{{''.join(letters)}}}".replace("_", r"\_")
    font = font.replace("math", "text")
    return f"{font}{{{name}}}".replace("_", rf"}}\_{font}{{")


def latex_numeral(text: str) -> str:
    """Write a number, in scientific notation if it has an exponent; other texts stay as they are."""
    sign, size = ("-", text[1:]) if text.startswith("-") else ("", text)
    mantissa, _, exponent = size.partition("e") if size[:1].isdecimal() else (size, "", "")
    if not exponent:
        return text
    power = f"10^{{{int(exponent)}}}"
    return sign + (power if mantissa == "1" else rf"{mantissa} \cdot {power}")


def latex_literal(value: Literal) -> str:
    """Write a literal tensor."""
    entries = [latex_numeral(number_text(entry)) for entry in value.numbers]
    if len(value.shape) == 2 and value.shape[1] <= MOST_COLUMNS:
        width = value.shape[1]
        lines = [" & ".join(entries[at : at + width]) for at in range(0, len(entries), width)]
        return r"\begin{pmatrix} " + r" \\ ".join(lines) + r" \end{pmatrix}"
    return nested_list_text(entries, value.shape)


# The looks of operations: the op table's texts, taken apart.

RELATION, WHOLE, SUM, QUOTIENT, PRODUCT, APPLIED, POWER, CALL, ATOM = range(9)
"""How tightly a text binds.  A relation that is a number is put in Iverson brackets."""

SIDES = {
    "+": (SUM, SUM, QUOTIENT),
    "-": (SUM, SUM, QUOTIENT),
    **dict.fromkeys((r"\cdot", r"\,"), (PRODUCT, PRODUCT, APPLIED)),
    **dict.fromkeys((r"\odot", r"\otimes"), (QUOTIENT, QUOTIENT, PRODUCT)),
    "/": (QUOTIENT, PRODUCT, APPLIED),
    r"\bmod": (WHOLE, APPLIED, APPLIED),
    "^": (POWER, CALL, WHOLE),
    "_": (ATOM, ATOM, WHOLE),
    **dict.fromkeys(("<", ">", "=", r"\le", r"\ge", r"\ne"), (RELATION, SUM, SUM)),
}
"""An operator of LaTeX → the level of the whole, of its left side, of its right side."""

TIMES = r" \cdot "
TOKEN = re.compile(
    r"(\\(?:operatorname|begin|end|text)\{[^}]*\}|\\[A-Za-z]+|\\.|[A-Za-z][A-Za-z0-9]*|.)(\s*)"
)
APPLICATION = re.compile(
    r"((?:\\operatorname\{\w+\}|\\[A-Za-z]+)(?:_\{(?:[^{}]|\{[^{}]*\})*\})?) \w+"
)


class Slot(NamedTuple):
    """An operand's place in a row's text."""

    position: int
    need: int  # the lowest level without parentheses
    signed: bool  # whether it may begin with a minus
    folds: bool  # whether the plus before it becomes its minus
    small: bool  # whether it is in an exponent or an index
    after: str  # what follows it
    condition: bool  # whether it is compared with 0, unless it is a relation itself
    entrywise: bool  # whether a product of matrices stands in parentheses


class LatexForm(NamedTuple):
    r"""A row's text, taken apart; ``head`` is the function of a text such as ``\sin x``."""

    parts: tuple[str | Slot, ...]
    slots: tuple[Slot, ...]
    level: int
    head: str
    divides: bool
    cases: bool
    below: bool  # whether it ends with a subscript
    joins: bool  # whether its factors stand side by side


ENTRYWISE = "entrywise"
"""The kind of an elementwise product of tensors, which has a sign of its own."""
HADAMARD = r"x \odot y"
OPERATOR = re.compile(r"\\(?:operatorname\{[^}]*\}|sum|prod|max|min)")


@cache
def latex_form(kind: str, count: int, small: bool, settings: Settings | None = None) -> LatexForm:
    """Make the form of an operation with ``count`` operands; a small one has a solidus, no fraction."""
    text, names, variadic = row_text(kind, settings)
    if variadic:
        names = tuple(f"x{position}" for position in range(count))
        text = re.sub(r"x, (y, )?\\ldots", ", ".join(names), text)
    if small:
        text = re.sub(r"\\frac\{(\w+)\}\{(\w+)\}", r"\1/\2", text)
    parts, level = parse_template(text, {name: position for position, name in enumerate(names)})
    applied = APPLICATION.fullmatch(text)
    divides, cases = text.startswith(r"\frac"), text.startswith(r"\begin")
    if applied or divides or cases:
        level = APPLIED if applied else POWER if divides else WHOLE
    elif kind == "dot":
        level = QUOTIENT  # its sign is there to see, and a number's product with it is not
    elif level == ATOM and text.endswith(")"):
        level = CALL
    if kind == "dot":
        parts = tuple([p._replace(entrywise=True) if isinstance(p, Slot) else p for p in parts])
    slots = tuple(part for part in parts if isinstance(part, Slot))
    ends_below = isinstance(parts[-1], str) and parts[-1].rpartition("_{")[1] == "_{"
    head = applied[1] if applied else ""
    return LatexForm(
        parts, slots, level, head, divides, cases, ends_below, kind == BY_INFIX["*"].name
    )


def row_text(kind: str, settings: Settings | None) -> tuple[str, tuple[str, ...], bool]:
    """Return a row's text, its operands' names, and whether it takes any number of them."""
    if kind == ENTRYWISE:
        return HADAMARD, ("x", "y"), False
    if kind in BY_NAME:
        op = BY_NAME[kind]
        return ROOTS.get(kind, op.latex), op.names, op.variadic
    row = STRUCTURAL[kind]
    return structural_text(kind, settings or ()), row.names, row.variadic


ROOTS: dict[str, str] = {}
"""The texts of roots' rows, each made of its equation at its first use."""


def parse_template(text: str, positions: dict[str, int]) -> tuple[tuple[str | Slot, ...], int]:
    """Split a text into literals and slots; find the level of its loosest operator outside of brackets."""
    tokens = [("", ""), *TOKEN.findall(text), ("", ""), ("", "")]
    parts: list[str | Slot] = [""]
    level, smalls = ATOM, [False]
    for place, (token, space) in enumerate(tokens[:-2]):
        before, after = tokens[place - 1][0], tokens[place + 1][0]
        if token in ("{", "("):
            smalls.append(smalls[-1] or before in ("^", "_"))
        elif token in ("}", ")"):
            smalls.pop()
        elif token in SIDES and len(smalls) == 1:
            level = min(level, SIDES[token][0])
        if token in positions:
            condition = (after, tokens[place + 2][0]) == (r"\ne", "0")
            parts += [slot_between(positions[token], before, after, smalls[-1], condition), space]
        else:
            parts[-1] = f"{parts[-1]}{token}{space}"
    return tuple(part for part in parts if part), level


def slot_between(position: int, before: str, after: str, small: bool, condition: bool) -> Slot:
    """Make the slot between two tokens."""
    left, right = SIDES.get(before), SIDES.get(after)
    need = max(left[2] if left else WHOLE, right[1] if right else WHOLE)
    folds = before == "+" and not right
    signed = folds or need <= SUM or (not left and need <= PRODUCT)
    entrywise = not {r"\odot", r"\otimes"}.isdisjoint((before, after))
    return Slot(position, need, signed, folds, small, after, condition, entrywise)


def own_letters(kind: str) -> set[str]:
    r"""Collect the letters and commands of a row's text other than its operands: ``e`` of ``exp``, say."""
    op = BY_NAME[kind]
    return {token for token, _ in TOKEN.findall(op.latex)} - {*op.names, "x", "y"}


def structural_text(kind: str, settings: Settings) -> str:
    """Write a structural row's text with the settings that differ from the defaults."""
    row = STRUCTURAL[kind]
    text = row.latex
    if kind == "index":
        return text.replace(subscript_text("at"), subscript_text(places_text(settings[0])))
    given = [setting_in_latex(parameter, value) for parameter, value in row.given(settings)]
    if not given:
        return text
    if kind == "transpose":
        return text.replace(r"\top", rf"\top{subscript_text(', '.join(given))}")
    if kind == "stack":
        text = r"\operatorname{stack}(x, \ldots)"
    operator = OPERATOR.match(text)
    place = operator.end() if operator else len(text)
    return text[:place] + subscript_text(", ".join(given)) + text[place:]


def subscript_text(text: str) -> str:
    """Write a subscript."""
    return f"_{{{text}}}"


def setting_in_latex(parameter: Parameter, value: Any) -> str:
    """Write a setting for a subscript."""
    if parameter.kind in SETTINGS:
        return SETTINGS[parameter.kind](parameter, value)
    if value is None:
        return r"\text{all axes}"
    axes = value if isinstance(value, tuple) else (value,)
    return rf"\text{{ax{'i' if len(axes) == 1 else 'e'}s }}{list_numbers(axes)}"


def list_numbers(value: Any) -> str:
    """Write a whole number, or several."""
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def places_text(listed: Any) -> str:
    """Write an index, axis by axis."""
    return ", ".join(index_text(place).replace(":", "{:}") for place in listed)


SETTINGS: dict[str, Callable[[Parameter, Any], str]] = {
    "flag": lambda parameter, value: rf"\text{{{parameter.name}}}",
    "order": lambda parameter, value: list_numbers(value),
    "places": lambda parameter, value: f"[{places_text(value)}]",
    "shape": lambda parameter, value: r" \times ".join(map(str, value)),
    "size": lambda parameter, value: list_numbers(value),
}
"""A kind of settings → what writes one; settings of axes are not here, and begin with a word."""

NUMBER, NAME, WORD, DELTA, FUNCTION, FRACTION, CALLED, OPEN, LIST, OTHER = range(10)
"""The beginnings and endings of texts that a product distinguishes."""


class OperandLook(NamedTuple):
    """The facts about an operand's text that the operation around it depends on."""

    level: int
    minus: bool
    tall: bool
    first: int
    last: int
    below: bool = False  # whether it has a subscript
    matrices: bool = False  # whether it is a product of matrices, side by side


def needs_parentheses(slot: Slot, look: OperandLook) -> bool:
    """Tell whether an operand needs parentheses, or brackets, in a slot."""
    if slot.condition and look.level == RELATION:
        return False
    if (slot.after == "_" and look.below) or (slot.entrywise and look.matrices):
        return True
    return look.level < slot.need or (look.minus and not slot.signed)


@lru_cache(1024)
def leaf_look(text: str) -> OperandLook:
    """Return the look of a name or a constant."""
    size = text.removeprefix("-")
    level, first = next((looks for begins, looks in LEAVES if re.match(begins, size)), (ATOM, NAME))
    tall, last = size.startswith(r"\begin"), first if level == ATOM and first != LIST else OTHER
    return OperandLook(level, size != text, tall, first, last, first != LIST and "_{" in size)


LEAVES = (
    (r"[0-9].* \\cdot ", (PRODUCT, NUMBER)),
    (r"[0-9].*\^", (POWER, NUMBER)),
    (r"[0-9]", (ATOM, NUMBER)),
    (r"\\math(it|tt|rm)|\\text", (ATOM, WORD)),
    (r"\\[Dd]elta$", (ATOM, DELTA)),
    (r"\\[Dd]elta ", (POWER, NAME)),
    (r"\\begin|\[", (ATOM, LIST)),
)
"""The beginning of a name or a constant → how tightly it binds, and its beginning for a product."""


@lru_cache(1024)
def combine_looks(
    kind: str, small: bool, looks: tuple[OperandLook, ...], settings: Settings | None = None
) -> OperandLook:
    """Work out the look of an operation from the looks of its operands."""
    shape = latex_form(kind, len(looks), small, settings)
    tall = shape.divides or shape.cases or any(inner.tall for inner in looks)
    if shape.head:
        tall = tall or shape.head.startswith((r"\sum", r"\prod"))
        return OperandLook(APPLIED, False, tall, FUNCTION, CALLED)
    outer, inner, begins = shape.slots[0], looks[0], shape.parts[0]
    apart = needs_parentheses(outer, inner)
    first = (
        FRACTION if shape.divides else operand_edges(outer, inner)[0] if begins == outer else OTHER
    )
    first = LIST if begins == r"\left[" else NUMBER if str(begins)[:1].isdigit() else first
    ends = shape.parts[-1] == shape.slots[-1]
    last = CALLED if shape.level == CALL else OTHER
    last = operand_edges(shape.slots[-1], looks[-1])[1] if ends else NAME if shape.below else last
    bare = [
        found
        for slot, found in zip(shape.slots, looks, strict=True)
        if not needs_parentheses(slot, found)
    ]
    matrices = kind == "matmul" or (shape.joins and any(found.matrices for found in bare))
    if begins == "-":
        level, matrices = CALL if apart else inner.level, inner.matrices and not apart
        return OperandLook(level, True, tall, first, last, matrices=matrices)
    leads = shape.divides or shape.level in (QUOTIENT, PRODUCT)
    is_minus = leads and inner.minus and not apart
    return OperandLook(shape.level, is_minus, tall, first, last, shape.below, matrices)


def operand_edges(outer: Slot, inner: OperandLook) -> tuple[int, int]:
    """Return an operand's beginning and ending, parentheses included."""
    return (OPEN, OTHER) if needs_parentheses(outer, inner) else (inner.first, inner.last)


def factor_separator(last: int, first: int) -> str:
    """Return the separator of two factors: a blank, where that has one reading."""
    call = first == OPEN and last in (NAME, WORD)
    if first in (NUMBER, LIST) or last == DELTA or call or (last, first) == (NUMBER, FRACTION):
        return TIMES
    called = last == CALLED and first not in (FUNCTION, OPEN)
    return r" \, " if called or WORD in (last, first) else " "


# A whole graph.

UNSIGNED, CLOSED, OPENED, CHAINED = 1, 2, 4, 8
"""Flags for writing a node: without its sign; before a factor; by its operation, not its name; as further
lines of the cases around it."""

CONSTANTS = {"pi": r"\pi", "inf": r"\infty", "nan": r"\mathrm{NaN}"}


class FormulaPage(NamedTuple):
    """A graph as people wrote it, its names in LaTeX, and each node's looks, large and small.

    Exponents and indices are small: quotients have a solidus there.
    """

    graph: Graph
    names: dict[int, str]
    looks: tuple[list[OperandLook], list[OperandLook]]


Unwritten = tuple[int, bool, int]
"""A node still to be written, whether it is small, and its flags."""
Item = str | Unwritten


def graph_latex(graph: Graph, left: str = "") -> str:
    """Write the whole graph: one formula, or its named statements and its output, a line each.

    ``left`` is the LaTeX name for an output without a name.
    """
    called, own = symbols_of_names(graph), graph.names()
    shown = lay_out_formula(graph, called)
    lines = []
    for name, node, _ in graph.bindings:
        text = latex_expression(shown, node, OPENED if own[node] == name else 0)
        lines.append(f"{called[name]} &= {text}")
    last = graph.bindings[-1] if graph.bindings else None
    if last is None or (last.node, last.name) != (graph.output, graph.output_name):
        text = latex_expression(shown, graph.output, 0)
        named = left or (r"\text{output}" if last else "")
        lines.append(f"{named} &= {text}" if named else text)
    if len(lines) == 1:
        return lines[0].replace("&=", "=", 1)
    return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"


def node_latex(graph: Graph, node: int) -> str:
    """Write one node in terms of the named ones: a partial derivative in a derived graph, say."""
    return latex_expression(lay_out_formula(graph, symbols_of_names(graph)), node, 0)


def symbols_of_names(graph: Graph) -> dict[str, str]:
    r"""Write the graph's names in LaTeX, each by its ``symbol`` unless that is taken.

    A symbol may be taken by an earlier name (``x1``, ``x_1``), by a constant or by a row (``e`` beside
    ``exp``).  The name is then written letter by letter, ``\mathtt{x\_1}``.
    """
    taken = {CONSTANTS[spelling] for spelling in graph.symbols.values()}
    for kind in BY_NAME.keys() & set(graph.kinds):
        taken |= own_letters(kind)
    names, base = graph.names(), graph.inputs.get("e")
    for kind, operands, payload in zip(graph.kinds, graph.operands, graph.payloads, strict=True):
        if kind == BY_INFIX["^"].name and operands[0] == base:
            taken |= own_letters("exp")
        if kind == "index" and operands[0] in names:
            (at,) = cast(Settings, payload)
            taken.add(latex_symbol(names[operands[0]]) + subscript_text(places_text(at)))
    called: dict[str, str] = {}
    for name in (*graph.inputs, *(binding.name for binding in graph.bindings)):
        text = latex_symbol(name)
        called[name] = letter_by_letter(name, r"\mathtt") if text in taken else text
        taken.add(text)
    return called


def lay_out_formula(graph: Graph, called: dict[str, str]) -> FormulaPage:
    """Work out the looks of every node, large and small, operands first."""
    names = {node: called[name] for node, name in graph.names().items()}
    for kind in {*graph.kinds} - ROOTS.keys():
        if is_root(kind):
            ROOTS[kind] = root_text(kind)
    shown = FormulaPage(as_written(graph), names, ([], []))
    for node, operands in enumerate(shown.graph.operands):
        leaf = not operands or node in names
        simple = leaf_look(names.get(node) or constant_text(graph, node)) if leaf else None
        for small, looks in enumerate(shown.looks):
            looks.append(simple or operand_look(shown, node, bool(small)))
    return shown


def root_text(kind: str) -> str:
    r"""Write the text of a root's row: ``\operatorname{root}_{E = start}(E - p1 \sin E - p0)``."""
    op = BY_NAME[kind]
    equation = op.equation
    assert equation is not None
    graph = parse_text(equation.residual)
    graph.bindings = []
    unknown = "x" if PARAMETER.fullmatch(equation.unknown) else equation.unknown
    graph.inputs[unknown] = graph.inputs.pop("out")
    body = PARAMETER.sub(r"p\1", node_latex(graph, graph.output))
    if "…" in equation.pattern:
        body = r"\ldots"
    where = r"low \le {} \le high" if equation.is_bracketed else "{} = start"
    return rf"\operatorname{{root}}{subscript_text(where.format(latex_symbol(unknown)))}({body})"


PARAMETER = re.compile(r"p(?:_\{)?(\d+)\}?")
"""An operand's name in the row of a root, plain or in LaTeX."""


def as_written(graph: Graph) -> Graph:
    """Return the graph as people wrote it, without the nodes of broadcasting.

    Beside products of matrices, elementwise products of possible tensors get the kind ``ENTRYWISE``.
    """
    found = copy(graph)
    found.operands = [
        tuple([graph.operands[o][0] if o in graph.implicit else o for o in operands])
        for operands in graph.operands
    ]
    if not {"matmul", "dot"}.isdisjoint(graph.kinds):
        numbers = known_numbers(found)
        found.kinds = [
            ENTRYWISE
            if kind == BY_INFIX["*"].name and not any(numbers[o] for o in operands)
            else kind
            for kind, operands in zip(graph.kinds, found.operands, strict=True)
        ]
    return found


def known_numbers(graph: Graph) -> list[bool]:
    """Tell for each node whether it is a number, by its shape or for any inputs."""
    shapes = dict(enumerate(graph.shapes))  # empty where the graph carries none

    def is_number(graph: Graph, node: int, operands: Sequence[bool]) -> bool:
        """Tell whether an operation makes a number, given whether its operands are numbers."""
        if shapes.get(node) == ():
            return True
        kind, settings = graph.kinds[node], cast(Settings, graph.payloads[node])
        return all(operands) if kind in BY_NAME else STRUCTURAL[kind].makes_number(settings)

    known = Algebra(lambda g, node: isinstance(g.payloads[node], float), is_number)
    inputs = {name: shapes.get(node) == () for name, node in graph.inputs.items()}
    return interpret(graph, known, inputs)


def form_in_formula(
    shown: FormulaPage, node: int, small: bool
) -> tuple[LatexForm, tuple[OperandLook, ...]]:
    """Return a node's form, and the looks of its operands in the form's slots."""
    graph, operands, looks = shown.graph, shown.graph.operands[node], shown.looks
    shape = latex_form(
        graph.kinds[node], len(operands), small, cast(Settings, graph.payloads[node])
    )
    return shape, tuple([looks[small or s.small][operands[s.position]] for s in shape.slots])


def operand_look(shown: FormulaPage, node: int, small: bool) -> OperandLook:
    """Work out the look of a node's operation."""
    if raised_exponent(shown, node):
        return shown.looks[small][shown.graph.operands[node][0]]
    kind, settings = shown.graph.kinds[node], cast(Settings, shown.graph.payloads[node])
    return combine_looks(kind, small, form_in_formula(shown, node, small)[1], settings)


def raised_exponent(shown: FormulaPage, node: int) -> str:
    r"""Return the exponent for a function's name, as in ``\sin^{2} x``: a whole number above 1, or ""."""
    graph, operands = shown.graph, shown.graph.operands[node]
    if graph.kinds[node] != BY_INFIX["^"].name or not shown.names.keys().isdisjoint(operands):
        return ""
    base, exponent = operands
    if not graph.operands[base] or graph.operands[exponent]:
        return ""
    if graph.kinds[base] not in BY_NAME:
        return ""
    text, head = constant_text(graph, exponent), latex_form(graph.kinds[base], 1, False).head
    return text if head and "_" not in head and text.isdecimal() and text not in "01" else ""


def constant_text(graph: Graph, node: int) -> str:
    """Write a constant: its name, or a number, in scientific notation if it is long."""
    value = graph.payloads[node]
    if isinstance(value, Literal):
        return latex_literal(value)
    assert isinstance(value, float)
    digits = graph.spelled.get(node, "")
    text = graph.symbols.get(node) or (digits if digits.isdecimal() else number_text(value))
    size = text.removeprefix("-")
    return "-" * (size != text) + CONSTANTS.get(size, latex_numeral(size))


def latex_expression(shown: FormulaPage, root: int, flags: int) -> str:
    """Write a formula, from left to right."""

    def written(part: Unwritten) -> list[Item]:
        """Split a node into texts and operands."""
        node, small, how = part
        if node in shown.names and not how & OPENED:
            return [shown.names[node]]
        if shown.graph.operands[node]:
            return latex_pieces(shown, node, small, how)
        text = constant_text(shown.graph, node)
        return [text.removeprefix("-") if how & UNSIGNED else text]

    whole: list[Item] = [(root, False, flags)]
    if shown.graph.operands[root] and (flags or root not in shown.names):
        outer = operand_look(shown, root, False)
        whole = bracket_operand(whole[0], outer) if outer.level == RELATION else whole
    return "".join(unfold_items(whole, written))


def bracket_operand(item: Item, inner: OperandLook) -> list[Item]:
    """Put an operand in parentheses; a relation in Iverson brackets."""
    left, right = "[]" if inner.level == RELATION else "()"
    return [rf"\left{left}", item, rf"\right{right}"] if inner.tall else [left, item, right]


def latex_pieces(shown: FormulaPage, node: int, small: bool, flags: int) -> list[Item]:
    """Split an operation into texts and operands; a function's lone symbol has no parentheses."""
    power = raised_exponent(shown, node)
    node = shown.graph.operands[node][0] if power else node
    operands = shown.graph.operands[node]
    shape, looks = form_in_formula(shown, node, small)
    if shape.head:
        head = f"{shape.head}^{{{power}}}" if power else shape.head
        loosest = ATOM if shown.graph.kinds[node] in BY_NAME else POWER  # after a sum's sign
        item, inner = (operands[0], small, 0), looks[0]
        is_bare = inner.level >= loosest and not inner.minus and not flags & CLOSED
        return [head, " ", item] if is_bare else [head, *bracket_operand(item, inner)]
    ends = [operand_edges(*pair) for pair in zip(shape.slots, looks, strict=True)]
    tall = any(inner.tall for inner in looks)
    items: list[Item] = ["-"] * (shape.divides and looks[0].minus and not flags & UNSIGNED)
    count, spare = 0, ""
    for part in shape.parts:
        if part == TIMES and shape.joins:
            items.append(factor_separator(ends[count - 1][1], ends[count][0]))
        elif isinstance(part, str):
            text = part.removeprefix(spare)
            text = text.replace("(", r"\left(").replace(")", r"\right)") if tall else text
            items.append("" if text == "-" and flags & UNSIGNED else text)
        else:
            inner, function = looks[count], ends[count + 1 : count + 2] == [(FUNCTION, CALLED)]
            how = operand_flags(shape, part, inner, flags, function)
            item = (operands[part.position], small or part.small, how)
            if part.folds and inner.minus:
                items.append(str(items.pop()).replace("+", "-"))
            items += bracket_operand(item, inner) if needs_parentheses(part, inner) else [item]
            spare = r" \ne 0" if part.condition and inner.level == RELATION else ""
            count += 1
    return flatten_cases(shown, node, items, flags) if shape.cases else items


def flatten_cases(shown: FormulaPage, node: int, items: list[Item], flags: int) -> list[Item]:
    """Make further lines of cases in the last of the cases."""
    beginning, last = items[0], items[-2]
    if isinstance(beginning, str) and flags & CHAINED:
        items[0] = beginning.removeprefix(r"\begin{cases} ")
    if isinstance(last, tuple) and last[0] not in shown.names:
        more = shown.graph.kinds[last[0]] == shown.graph.kinds[node]
        items[-2:] = [(*last[:2], CHAINED)] if more else items[-2:]
    return items


def operand_flags(
    shape: LatexForm, outer: Slot, inner: OperandLook, flags: int, function: bool
) -> int:
    """Choose an operand's flags: whether it loses its sign, and whether a factor follows it."""
    if needs_parentheses(outer, inner):
        return 0
    leads = outer == shape.slots[0] and (shape.divides or flags & UNSIGNED)
    unsigned = inner.minus and (leads or outer.folds)
    follows = outer.after in ("/", r"\bmod", r"\,", r"\odot", r"\otimes") or (
        outer.after == r"\cdot" and not function
    )
    closed = follows or (outer == shape.parts[-1] and flags & CLOSED)
    return UNSIGNED * bool(unsigned) | CLOSED * bool(closed)
