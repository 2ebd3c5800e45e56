r"""Graph to LaTeX, as a paper would set it, for amsmath, KaTeX and MathJax.

How an operation looks is its row's ``latex`` text; how tightly it binds, and which operands need
parentheses, follow from the operators, braces and parentheses in that text.

What is written reads in one way only.  These alone share a spelling, and are equal for all numbers: signs
where a paper would move them, exact in doubles too (``-(a*b)`` and ``(-a)*b``, ``-(a/b)`` and
``(-a)/b``, ``a - b`` and ``a + (-b)``); a row and its definition (``log1p(x)`` is ``\ln(1 + x)``);
``3e20`` and ``3*10^20``; ``where(c, x, y)`` and ``where(c != 0, x, y)``.  A product of matrices looks
like one of numbers; in a formula that has both, products number by number have a
sign of their own.  A vector is a list in brackets, a matrix is one in parentheses.

Nothing recurses, and time is linear in the graph and the text.
"""

from __future__ import annotations

import re
from copy import copy
from typing import NamedTuple, cast

from exprgrad.graph.graph import CONST, INPUT, Graph, Literal, Settings
from exprgrad.graph.ops import BY_NAME
from exprgrad.graph.tensors import STRUCTURAL
from exprgrad.language.read.parse import parse
from exprgrad.language.write.infix import number
from exprgrad.language.write.latex_forms import (
    ATOM,
    CALLED,
    ENTRYWISE,
    FUNCTION,
    POWER,
    RELATION,
    ROOTS,
    TIMES,
    Form,
    Look,
    Slot,
    below,
    combined,
    edges,
    form,
    joint,
    leaf_look,
    letters,
    parenthesised,
    places_text,
)  # fmt: skip
from exprgrad.language.write.latex_names import lettered, literal, numeral, symbol

__all__ = ["latex", "node_latex", "symbol", "symbols"]

UNSIGNED, CLOSED, OPENED, CHAINED = 1, 2, 4, 8
"""How to write a node: its sign left out; with a factor to follow; for what it is, not by its name; as
further cases of the cases it is in."""

CONSTANTS = {"pi": r"\pi", "tau": r"\tau", "inf": r"\infty", "nan": r"\mathrm{NaN}"}


class Page(NamedTuple):
    """A graph as people wrote it, what its names are called, and how each node looks, large and small.

    Small is what stands in an exponent or an index: quotients have a solidus there.
    """

    graph: Graph
    names: dict[int, str]
    looks: tuple[list[Look], list[Look]]


Item = str | tuple[int, bool, int]
"""Text, or a node that is yet to be written, whether it is small, and how."""


def latex(graph: Graph, left: str = "") -> str:
    """The whole graph: one formula, or its named statements and its output, a line each.

    ``left`` is what an output without a name is called, in LaTeX.
    """
    called, own = symbols(graph), graph.names()
    shown = page(graph, called)
    lines = []
    for name, node, _ in graph.bindings:
        text = expression(shown, node, OPENED if own[node] == name else 0)
        lines.append(f"{called[name]} &= {text}")
    last = graph.bindings[-1] if graph.bindings else None
    if last is None or (last.node, last.name) != (graph.output, graph.output_name):
        text = expression(shown, graph.output, 0)
        named = left or (r"\text{output}" if last else "")
        lines.append(f"{named} &= {text}" if named else text)
    if len(lines) == 1:
        return lines[0].replace("&=", "=", 1)
    return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"


def node_latex(graph: Graph, node: int) -> str:
    """One node in terms of the named ones: a partial derivative in a derived graph, say."""
    return expression(page(graph, symbols(graph)), node, 0)


def symbols(graph: Graph) -> dict[str, str]:
    r"""Each of the graph's names in LaTeX: its ``symbol``, unless that is taken.

    A symbol is taken by an earlier name (``x1``, ``x_1``), by a constant or by a row (``e`` where there
    is an ``exp``, or a power of it).  The name is then written letter by letter, ``\mathtt{x\_1}``.
    """
    taken = {CONSTANTS[spelling] for spelling in graph.symbols.values()}
    for kind in BY_NAME.keys() & set(graph.kinds):
        taken |= letters(kind)
    names, base = graph.names(), graph.inputs.get("e")
    for kind, operands, payload in zip(graph.kinds, graph.operands, graph.payloads, strict=True):
        if kind == "pow" and operands[0] == base:
            taken |= letters("exp")
        if kind == "index" and operands[0] in names:
            (at,) = cast(Settings, payload)
            taken.add(symbol(names[operands[0]]) + below(places_text(at)))
    called: dict[str, str] = {}
    for name in (*graph.inputs, *(binding.name for binding in graph.bindings)):
        text = symbol(name)
        called[name] = lettered(name, r"\mathtt") if text in taken else text
        taken.add(text)
    return called


def page(graph: Graph, called: dict[str, str]) -> Page:
    """Look at every node, large and small, operands first."""
    names = {node: called[name] for node, name in graph.names().items()}
    for kind in {*graph.kinds} - ROOTS.keys():
        if kind in BY_NAME and BY_NAME[kind].equation is not None:
            ROOTS[kind] = root_text(kind)
    shown = Page(as_written(graph), names, ([], []))
    for node, operands in enumerate(shown.graph.operands):
        leaf = not operands or node in names
        simple = leaf_look(names.get(node) or constant_text(graph, node)) if leaf else None
        for small, looks in enumerate(shown.looks):
            looks.append(simple or look(shown, node, bool(small)))
    return shown


def root_text(kind: str) -> str:
    r"""A root as a row's text: ``\operatorname{root}_{E = start}(E - p1 \sin E - p0)``."""
    op = BY_NAME[kind]
    equation = op.equation
    assert equation is not None
    graph = parse(equation.residual)
    graph.bindings = []
    unknown = "x" if PARAMETER.fullmatch(equation.unknown) else equation.unknown
    graph.inputs[unknown] = graph.inputs.pop("out")
    body = PARAMETER.sub(r"p\1", node_latex(graph, graph.output))
    if "…" in equation.pattern:
        body = r"\ldots"
    where = r"low \le {} \le high" if equation.is_bracketed else "{} = start"
    return rf"\operatorname{{root}}{below(where.format(symbol(unknown)))}({body})"


PARAMETER = re.compile(r"p(?:_\{)?(\d+)\}?")
"""What the row of a root calls an operand, and how that looks in LaTeX."""


def as_written(graph: Graph) -> Graph:
    """The graph as people wrote it: what broadcasting put in leaves no trace.

    Beside products of matrices, those of what may be tensors are of another kind: ``ENTRYWISE``.
    """
    found = copy(graph)
    found.operands = [
        tuple([graph.operands[o][0] if o in graph.implicit else o for o in operands])
        for operands in graph.operands
    ]
    if not {"matmul", "dot"}.isdisjoint(graph.kinds):
        numbers = known_numbers(found)
        found.kinds = [
            ENTRYWISE if kind == "mul" and not any(numbers[o] for o in operands) else kind
            for kind, operands in zip(graph.kinds, found.operands, strict=True)
        ]
    return found


def known_numbers(graph: Graph) -> list[bool]:
    """By node: whether it is a number whatever the inputs are, or by the shapes if they are known."""
    if graph.shapes:
        return [not shape for shape in graph.shapes]
    found: list[bool] = []
    for kind, operands, payload in zip(graph.kinds, graph.operands, graph.payloads, strict=True):
        if kind in (INPUT, CONST):
            found.append(isinstance(payload, float))
        elif kind in BY_NAME:
            found.append(all(found[operand] for operand in operands))
        else:
            found.append(STRUCTURAL[kind].makes_number(cast(Settings, payload)))
    return found


def form_of(shown: Page, node: int, small: bool) -> tuple[Form, tuple[Look, ...]]:
    """How a node's operation is written, and how its operands look in its slots."""
    graph, operands, looks = shown.graph, shown.graph.operands[node], shown.looks
    shape = form(graph.kinds[node], len(operands), small, cast(Settings, graph.payloads[node]))
    return shape, tuple([looks[small or s.small][operands[s.position]] for s in shape.slots])


def look(shown: Page, node: int, small: bool) -> Look:
    """How an operation looks, given how its operands do."""
    if raised(shown, node):
        return shown.looks[small][shown.graph.operands[node][0]]
    kind, settings = shown.graph.kinds[node], cast(Settings, shown.graph.payloads[node])
    return combined(kind, small, form_of(shown, node, small)[1], settings)


def raised(shown: Page, node: int) -> str:
    r"""The exponent that goes to the function's name, as in ``\sin^{2} x``: a whole one from 2 up."""
    graph, operands = shown.graph, shown.graph.operands[node]
    if graph.kinds[node] != "pow" or not shown.names.keys().isdisjoint(operands):
        return ""
    base, exponent = operands
    if not graph.operands[base] or graph.operands[exponent]:
        return ""
    if graph.kinds[base] not in BY_NAME:
        return ""
    text, head = constant_text(graph, exponent), form(graph.kinds[base], 1, False).head
    return text if head and "_" not in head and text.isdecimal() and text not in "01" else ""


def constant_text(graph: Graph, node: int) -> str:
    """A constant: by its name, or as a number in scientific notation if it is long."""
    value = graph.payloads[node]
    if isinstance(value, Literal):
        return literal(value)
    assert isinstance(value, float)
    digits = graph.spelled.get(node, "")
    text = graph.symbols.get(node) or (digits if digits.isdecimal() else number(value))
    size = text.removeprefix("-")
    return "-" * (size != text) + CONSTANTS.get(size, numeral(size))


def expression(shown: Page, root: int, flags: int) -> str:
    """A formula, written from left to right."""
    texts: list[str] = []
    todo: list[Item] = [(root, False, flags)]
    if shown.graph.operands[root] and (flags or root not in shown.names):
        whole = look(shown, root, False)
        todo = bracketed(todo[0], whole)[::-1] if whole.level == RELATION else todo
    while todo:
        item = todo.pop()
        if isinstance(item, str):
            texts.append(item)
            continue
        node, small, flags = item
        if node in shown.names and not flags & OPENED:
            texts.append(shown.names[node])
        elif shown.graph.operands[node]:
            todo.extend(reversed(pieces(shown, node, small, flags)))
        else:
            text = constant_text(shown.graph, node)
            texts.append(text.removeprefix("-") if flags & UNSIGNED else text)
    return "".join(texts)


def bracketed(item: Item, inner: Look) -> list[Item]:
    """An operand in parentheses; a relation in Iverson brackets."""
    left, right = "[]" if inner.level == RELATION else "()"
    return [rf"\left{left}", item, rf"\right{right}"] if inner.tall else [left, item, right]


def pieces(shown: Page, node: int, small: bool, flags: int) -> list[Item]:
    """An operation as literals and operands."""
    power = raised(shown, node)
    node = shown.graph.operands[node][0] if power else node
    operands = shown.graph.operands[node]
    shape, looks = form_of(shown, node, small)
    if shape.head:
        head = f"{shape.head}^{{{power}}}" if power else shape.head
        loosest = ATOM if shown.graph.kinds[node] in BY_NAME else POWER
        return application(head, (operands[0], small, 0), looks[0], flags, loosest)
    ends = [edges(*pair) for pair in zip(shape.slots, looks, strict=True)]
    tall = any(inner.tall for inner in looks)
    items: list[Item] = ["-"] * (shape.divides and looks[0].minus and not flags & UNSIGNED)
    count, spare = 0, ""
    for part in shape.parts:
        if part == TIMES and shape.joins:
            items.append(joint(ends[count - 1][1], ends[count][0]))
        elif isinstance(part, str):
            text = part.removeprefix(spare)
            text = text.replace("(", r"\left(").replace(")", r"\right)") if tall else text
            items.append("" if text == "-" and flags & UNSIGNED else text)
        else:
            inner, function = looks[count], ends[count + 1 : count + 2] == [(FUNCTION, CALLED)]
            how = passed(shape, part, inner, flags, function)
            item = (operands[part.position], small or part.small, how)
            if part.folds and inner.minus:
                items.append(str(items.pop()).replace("+", "-"))
            items += bracketed(item, inner) if parenthesised(part, inner) else [item]
            spare = r" \ne 0" if part.condition and inner.level == RELATION else ""
            count += 1
    return cases(shown, node, items, flags) if shape.cases else items


def cases(shown: Page, node: int, items: list[Item], flags: int) -> list[Item]:
    """Cases in the last of the cases become further lines."""
    beginning, last = items[0], items[-2]
    if isinstance(beginning, str) and flags & CHAINED:
        items[0] = beginning.removeprefix(r"\begin{cases} ")
    if isinstance(last, tuple) and last[0] not in shown.names:
        more = shown.graph.kinds[last[0]] == shown.graph.kinds[node]
        items[-2:] = [(*last[:2], CHAINED)] if more else items[-2:]
    return items


def passed(shape: Form, outer: Slot, inner: Look, flags: int, function: bool) -> int:
    """How an operand is written: whether it loses its sign, and whether a factor follows it."""
    if parenthesised(outer, inner):
        return 0
    leads = outer == shape.slots[0] and (shape.divides or flags & UNSIGNED)
    unsigned = inner.minus and (leads or outer.folds)
    follows = outer.after in ("/", r"\bmod", r"\,", r"\odot", r"\otimes") or (
        outer.after == r"\cdot" and not function
    )
    closed = follows or (outer == shape.parts[-1] and flags & CLOSED)
    return UNSIGNED * bool(unsigned) | CLOSED * bool(closed)


def application(head: str, item: Item, inner: Look, flags: int, loosest: int) -> list[Item]:
    """A function of one operand; its parentheses are left out around a symbol, if no factor follows.

    ``loosest`` is the level that goes without them: a power, behind a sum's sign.
    """
    bare = inner.level >= loosest and not inner.minus and not flags & CLOSED
    return [head, " ", item] if bare else [head, *bracketed(item, inner)]
