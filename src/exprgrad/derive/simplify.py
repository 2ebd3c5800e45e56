"""Simplifying: a program read into normal forms, and written again as a person would write it."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from fractions import Fraction

from exprgrad.derive.algebra import Algebra
from exprgrad.derive.build import Builder
from exprgrad.derive.forms import ONE, Call, Forms, Leaf, Number, Product, Sum, is_decimal
from exprgrad.graph.graph import CONST, INPUT, Graph, Program

__all__ = ["formulas", "simplify"]

SUMS = ("add", "sub")
PRODUCTS = ("mul", "div", "neg")
SHORT = 8
"""The most operations of a shared sum that is taken apart by those who use it."""
MANY_FACTORS = 12
"""A product of more factors is not taken apart."""
WORTH_A_NAME = 2
"""What has more operations and a name stays whole."""
OPENED = 200
"""The most operations of any that is, so that the work stays linear."""


def simplify(program: Program, typed: Graph | None = None) -> Program:
    """The same numbers in real arithmetic, in fewer operations and in the usual order.

    ``typed`` is what a person wrote: its terms keep their order.  A subexpression that is used twice stays
    whole, so that the program as a whole is small.
    """
    forms, _ = forms_of(program.graph if typed is None else typed, share=True)
    found = read(forms, program.graph, program.outputs, 0)
    return write(forms, [found[output] for output in program.outputs], program.graph)[0]


def formulas(program: Program, typed: Graph) -> Iterator[tuple[Graph, dict[int, str]]]:
    """Each output as a formula of its own, with those of its nodes that the typed graph has names for."""
    forms, names = forms_of(typed)
    for output in program.outputs:
        form = read(forms, program.graph, (output,), SHORT)[output]
        written, nodes = write(forms, [form], program.graph)
        yield written.graph, {nodes[f]: name for f, name in names.items() if f in nodes}


def forms_of(typed: Graph, *, share: bool = False) -> tuple[Algebra, dict[int, str]]:
    """The forms of what a person wrote, and the names that were given to some of them."""
    numbers = [p for node, p in enumerate(typed.payloads) if node not in typed.symbols]
    forms = Algebra(decimals=any(map(is_fraction, numbers)), share=share)
    bound = [binding.node for binding in typed.bindings]
    found = read(forms, typed, (typed.output, *bound), SHORT, bound)
    forms.typed = len(forms.forms)
    forms.order = {forms.leaf(name, None): place for place, name in enumerate(typed.inputs)}
    return forms, {found[binding.node]: binding.name for binding in reversed(typed.bindings)}


def is_fraction(payload: object) -> bool:
    """Whether a payload is a number such as 0.5."""
    return isinstance(payload, float) and not payload.is_integer() and math.isfinite(payload)


def read(
    forms: Algebra,
    graph: Graph,
    outputs: tuple[int, ...],
    short: int,
    bound: Collection[int] = (),
) -> dict[int, int]:
    """By node that the outputs need: its form.

    A chain of sums or of products, each used once, is read as one sum or product.  The nodes
    ``bound`` have names.
    """
    uses = count_uses(graph, outputs)
    absorbed = find_absorbed(graph, uses)
    found: dict[int, int] = {}
    whole = set(forms.named)
    for node, kind in enumerate(graph.kinds):
        if not uses[node] or absorbed[node]:
            continue
        operands, payload = graph.operands[node], graph.payloads[node]
        if kind == INPUT:
            form = forms.leaf(str(payload), None)
        elif kind == CONST:
            assert isinstance(payload, float)
            form = forms.constant(payload, graph.symbols.get(node))
        elif kind in SUMS:
            leaves, _ = chain(graph, node, SUMS, absorbed)
            form = forms.sum([(found[leaf], sign) for leaf, sign in leaves], whole)
        elif kind in PRODUCTS:
            leaves, sign = chain(graph, node, PRODUCTS, absorbed)
            form = forms.product([(found[leaf], power) for leaf, power in leaves], sign, whole)
        elif kind == "pow":
            form = forms.power(found[operands[0]], found[operands[1]], whole)
        else:
            form = forms.call(kind, tuple([found[operand] for operand in operands]))
        found[node] = form
        if node in bound and forms.weights[form] > WORTH_A_NAME:
            forms.name(form)
            whole.add(form)
        elif is_long(forms, form, short if uses[node] > 1 else OPENED):
            whole.add(form)
    return found


def is_long(forms: Forms, form: int, short: int) -> bool:
    """Whether a form stays whole where it is used: a sum by its operations, a product by its factors."""
    found = forms.forms[form]
    if isinstance(found, Product) and not forms.share:
        return len(found.factors) > MANY_FACTORS
    return forms.weights[form] > short


def count_uses(graph: Graph, outputs: tuple[int, ...]) -> list[int]:
    """By node: how many edges and outputs lead to it, from what the outputs need."""
    uses = [0] * len(graph)
    for output in outputs:
        uses[output] += 1
    for user in range(len(graph) - 1, -1, -1):
        if uses[user]:
            for operand in graph.operands[user]:
                uses[operand] += 1
    return uses


def find_absorbed(graph: Graph, uses: list[int]) -> bytearray:
    """By node: whether it is a link in its only user's chain."""
    absorbed = bytearray(len(graph))
    for user, kind in enumerate(graph.kinds):
        group = SUMS if kind in SUMS else PRODUCTS if kind in PRODUCTS else ()
        for operand in graph.operands[user] if uses[user] else ():
            if uses[operand] == 1 and graph.kinds[operand] in group:
                absorbed[operand] = 1
    return absorbed


def chain(
    graph: Graph, root: int, kinds: tuple[str, ...], absorbed: bytearray
) -> tuple[list[tuple[int, Fraction]], Fraction]:
    """The leaves of a chain in order, each with its sign or its power, and the sign of the whole."""
    leaves: list[tuple[int, Fraction]] = []
    sign = ONE
    todo = [(root, ONE)]
    while todo:
        node, power = todo.pop()
        kind, operands = graph.kinds[node], graph.operands[node]
        if node != root and not absorbed[node]:
            leaves.append((node, power))
        elif kind == "neg":
            sign = -sign
            todo.append((operands[0], power))
        else:
            second = -power if kind in ("sub", "div") else power
            todo += [(operands[1], second), (operands[0], power)]
    return leaves, sign


def write(forms: Forms, outputs: list[int], inputs: Graph) -> tuple[Program, dict[int, int]]:
    """The program of some forms, with all of a graph's inputs; and the node of each form in it."""
    builder = Builder(plain=not forms.share)
    for name in inputs.inputs:
        builder.input(name)
    nodes: dict[int, int] = {}
    for form in needed(forms, outputs):
        nodes[form] = write_form(forms, builder, nodes, form)
    program, places = builder.pruned([nodes[output] for output in outputs])
    return program, {form: places[node] for form, node in nodes.items() if places[node] >= 0}


def needed(forms: Forms, outputs: list[int]) -> list[int]:
    """The forms that have to be written, ascending: operands come first."""
    flags = bytearray(len(forms.forms))
    for output in outputs:
        flags[output] = 1
    for user in range(len(flags) - 1, -1, -1):
        if flags[user]:
            for operand in parts(forms, user):
                flags[operand] = 1
    return [form for form, flag in enumerate(flags) if flag]


def parts(forms: Forms, form: int) -> list[int]:
    """The forms that one is written with."""
    found = forms.forms[form]
    if isinstance(found, Call):
        return list(found.operands)
    if isinstance(found, Product):
        return [base for base, _ in found.factors]
    if isinstance(found, Sum):
        return [part for term, c in found.terms for part in term_parts(forms, term, c)]
    return []


def term_parts(forms: Forms, term: int, coefficient: Fraction) -> list[int]:
    """The forms that a term is written with: a product's coefficient goes among its factors."""
    found = forms.forms[term]
    own = isinstance(found, Product) and found.coefficient == 1 and coefficient != 1
    return [term, *parts(forms, term)] if own else [term]


def write_form(forms: Forms, builder: Builder, nodes: dict[int, int], form: int) -> int:
    """Build one form, its parts being built."""
    found = forms.forms[form]
    if isinstance(found, Number):
        return write_number(forms, builder, found.value)
    if isinstance(found, Leaf):
        if found.value is None:
            return builder.input(found.name)
        symbol = found.name if math.isfinite(found.value) else None
        return builder.constant(found.value, symbol)
    if isinstance(found, Call):
        return builder.apply(found.kind, *[nodes[operand] for operand in found.operands])
    if isinstance(found, Product):
        return write_product(forms, builder, nodes, found.coefficient, found.factors)
    return write_sum(forms, builder, nodes, found)


def write_sum(forms: Forms, builder: Builder, nodes: dict[int, int], found: Sum) -> int:
    """A sum, beginning with a term that has no minus if there is one."""
    terms = list(found.terms)
    first = next((place for place, (_, c) in enumerate(terms) if c > 0), 0)
    terms.insert(0, terms.pop(first))
    written: int | None = None
    for term, coefficient in terms:
        sign = coefficient if written is None else abs(coefficient)
        node = write_term(forms, builder, nodes, term, sign)
        if written is None:
            written = node
        else:
            written = builder.apply("sub" if coefficient < 0 else "add", written, node)
    assert written is not None
    return written


def write_term(
    forms: Forms, builder: Builder, nodes: dict[int, int], term: int, coefficient: Fraction
) -> int:
    """A term with its coefficient."""
    found = forms.forms[term]
    if coefficient == 1:
        return nodes[term]
    if term == forms.one:
        return write_number(forms, builder, coefficient)
    if isinstance(found, Product) and found.coefficient == 1:
        return write_product(forms, builder, nodes, coefficient, found.factors)
    return write_product(forms, builder, nodes, coefficient, ((term, ONE),))


def write_number(forms: Forms, builder: Builder, value: Fraction) -> int:
    """A number: one constant, or a quotient of two."""
    if value.denominator == 1 or (forms.decimals and is_decimal(value)):
        return builder.constant(float(value))
    above = builder.constant(float(value.numerator))
    return builder.apply("div", above, builder.constant(float(value.denominator)))


def write_product(
    forms: Forms,
    builder: Builder,
    nodes: dict[int, int],
    coefficient: Fraction,
    factors: tuple[tuple[int, Fraction], ...],
) -> int:
    """A product as one fraction, its minus on the first factor above the line."""
    above: list[int] = []
    below: list[int] = []
    size = abs(coefficient)
    if forms.decimals and is_decimal(size):
        above += [builder.constant(float(size))] if size != 1 else []
    elif forms.decimals and is_decimal(1 / size):
        below.append(builder.constant(float(1 / size)))
    else:
        above += [builder.constant(float(size.numerator))] if size.numerator != 1 else []
        below += [builder.constant(float(size.denominator))] if size.denominator != 1 else []
    roots: dict[Fraction, list[int]] = {}
    for base, exponent in factors:
        side = above if exponent > 0 else below
        if abs(exponent) == Fraction(1, 2) and forms.is_positive(base):
            roots.setdefault(exponent, []).append(nodes[base])
        else:
            side.append(write_power(forms, builder, nodes[base], abs(exponent)))
    for exponent, constants in roots.items():  # sqrt(2)*sqrt(pi) is sqrt(2*pi)
        side = above if exponent > 0 else below
        side.append(builder.apply("sqrt", multiplied(builder, constants)))
    if coefficient < 0:
        above[:1] = [builder.apply("neg", above[0] if above else builder.constant(1.0))]
    top = multiplied(builder, above)
    return builder.apply("div", top, multiplied(builder, below)) if below else top


def write_power(forms: Forms, builder: Builder, base: int, exponent: Fraction) -> int:
    """A power with a positive number for its exponent."""
    if exponent == 1:
        return base
    if exponent == Fraction(1, 2):
        return builder.apply("sqrt", base)
    return builder.apply("pow", base, write_number(forms, builder, exponent))


def multiplied(builder: Builder, factors: list[int]) -> int:
    """The product of some nodes, from the left; 1 if there are none."""
    if not factors:
        return builder.constant(1.0)
    product = factors[0]
    for factor in factors[1:]:
        product = builder.apply("mul", product, factor)
    return product
