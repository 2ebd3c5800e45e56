"""Simplifying: a program read into normal forms, and written again as a person would write it."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence, Set

from exprgrad.derive.constant_folding import ONE, Exact
from exprgrad.derive.simplify.forms import DEEPEST, Call, Forms, Product, Rules, Sum
from exprgrad.derive.simplify.identities import rewritten_call
from exprgrad.derive.simplify.structural_rules import rewritten
from exprgrad.derive.simplify.sums_and_products import (
    MOST_FACTORS,
    STEPS,
    gather_choices,
    gather_opposites,
    share_of_tie,
    shortest_sum,
)
from exprgrad.derive.simplify.write import needed, parts, write
from exprgrad.graph.graph import INPUT, Binding, Graph, Literal, Program
from exprgrad.graph.ops import BY_NAME, PRODUCTS, SUMS
from exprgrad.language.read.builder import CONSTANTS

__all__ = ["SHORT", "forms_of", "formulas", "read", "simplify", "with_one_exponential"]

RULES = Rules(
    STEPS, share_of_tie, (gather_choices, gather_opposites), shortest_sum, rewritten, rewritten_call
)
NEGATIVES = frozenset(kind for kind in SUMS if BY_NAME[kind].signs == (-1,))
CHAINS = {
    **dict.fromkeys(PRODUCTS | NEGATIVES, "product"),
    **dict.fromkeys(SUMS - NEGATIVES, "sum"),
}
"""Which chain a row is a link of: a negative is a factor -1."""
LINKS = {
    kind: (1,) if kind in NEGATIVES else row.signs or row.powers for kind, row in BY_NAME.items()
}
"""What becomes of each operand there: its sign, or its power."""
SHORT = 8
"""The most operations of a shared sum that is taken apart by those who use it."""
WORTH_A_NAME = 2
"""What has more operations and a name stays whole."""
OPENED = 200
"""The most operations of any that is, so that the work stays linear."""


def simplify(program: Program, typed: Graph | None = None) -> Program:
    """The same numbers in real arithmetic, in fewer operations and in the usual order.

    ``typed`` is what a person wrote: its terms keep their order.  A subexpression that is used twice stays
    whole, so that the program as a whole is small.
    """
    typed = program.graph if typed is None else typed
    forms, _ = forms_of(typed, typed.bindings, share=True)
    found = read(forms, program.graph, program.outputs, 0)
    return write(forms, [found[output] for output in program.outputs], program.graph.inputs)[0]


def formulas(
    program: Program,
    typed: Graph,
    bindings: Sequence[Binding] | None = None,
    *,
    by_hand: bool = True,
    all_inputs: bool = True,
) -> Iterator[tuple[Graph, dict[int, str]]]:
    """Each output as a formula of its own, with those of its nodes that the typed graph has names for.

    Only the names of ``bindings`` count, if given; what has another is written out.  Unless ``by_hand``,
    the formulas stay closer to what the rules give: no identity is used.  Unless ``all_inputs``,
    each has only those that are in it: where there are many, it takes long to list them for each formula.
    """
    bindings = typed.bindings if bindings is None else bindings
    forms, names = forms_of(typed, bindings, by_hand=by_hand)
    forms.several = len(program.outputs) > 1
    inputs = program.graph.inputs if all_inputs else ()
    for output in program.outputs:
        form = read(forms, program.graph, (output,), SHORT)[output]
        form = with_one_exponential(forms, form) if by_hand else form
        form = forms.stretched(form, program.graph.shape(output))
        written, nodes = write(forms, [form], inputs)
        yield written.graph, {nodes[f]: name for f, name in names.items() if f in nodes}


def with_one_exponential(forms: Forms, root: int) -> int:
    """A form in which each product has one exponential: ``exp(a*x)*exp(b*x)`` is ``exp(a*x + b*x)``.

    This comes last, as a sum's terms have a factor in common that is no longer one then.
    """
    used = needed(forms, [root])
    products = [form for form in used if isinstance(forms.forms[form], Product)]
    apart = {form: found for form in products if len(found := exponentials(forms, form)) > 1}
    images: dict[int, int] = {}
    attempts, forms.attempts = forms.attempts, DEEPEST  # it is short already
    for form in used if apart else ():
        images[form] = with_parts(forms, form, images)
        if form in apart and images[form] == form:
            exponent = forms.sum([(operand, q) for _, operand, q in apart[form]])
            gone = {base for base, _, _ in apart[form]}
            rest = [item for item in forms.factors_of(form).items() if item[0] not in gone]
            whole = (forms.call("exp", (exponent,)), ONE)
            images[form] = forms.product([*rest, whole], forms.split(form)[1])
    forms.attempts = attempts
    return images.get(root, root)


def exponentials(forms: Forms, form: int) -> list[tuple[int, int, Exact]]:
    """A product's exponentials, if one is above the line: each factor, what it is of, and its power."""
    found = [
        (base, call.operands[0], q)
        for base, q in forms.factors_of(form).items()
        if isinstance(call := forms.forms[base], Call) and call.kind == "exp"
    ]
    return sorted(found, key=lambda each: each[2] < 0) if any(q > 0 for _, _, q in found) else []


def with_parts(forms: Forms, form: int, images: Mapping[int, int]) -> int:
    """A form made again of what has become of its parts; the form itself if nothing has."""
    found = forms.forms[form]
    if all(part == images[part] for part in parts(forms, form)):
        return form
    match found:
        case Product(coefficient, factors):
            return forms.product([(images[base], q) for base, q in factors], coefficient)
        case Sum(terms):
            items = [(images[term], c) for term, c in terms]
            return forms.sum(items, whole={term for term, _ in items})
        case Call(kind, operands, None):
            given = [images[operand] for operand in operands]
            return (
                forms.power(given[0], given[1]) if kind == "pow" else forms.call(kind, tuple(given))
            )
        case Call(kind, operands, tuple(settings)):
            whole = tuple([(images[operand], forms.shape(operand)) for operand in operands])
            return forms.structural(kind, whole, settings)
    return form


def forms_of(
    typed: Graph, bindings: Sequence[Binding], *, share: bool = False, by_hand: bool = False
) -> tuple[Forms, dict[int, str]]:
    """The forms of what a person wrote, and the names that were given to some of them.

    A statement that is named like a constant loses its name: a rule may bring in the constant.
    """
    numbers = [p for node, p in enumerate(typed.payloads) if node not in typed.symbols]
    decimals = any(map(is_fraction, numbers))
    forms = Forms(RULES, decimals=decimals, share=share, by_hand=by_hand)
    forms.inputs = {name: typed.shape(node) for name, node in typed.inputs.items()}
    bound = [binding.node for binding in bindings]
    found = read(forms, typed, (typed.output, *bound), SHORT, bound)
    forms.typed = len(forms.forms)
    forms.order = {forms.leaf(name, None): place for place, name in enumerate(typed.inputs)}
    kept = [binding for binding in bindings if binding.name not in CONSTANTS]
    return forms, {found[binding.node]: binding.name for binding in reversed(kept)}


def is_fraction(payload: object) -> bool:
    """Whether a payload is a number such as 0.5."""
    return isinstance(payload, float) and not payload.is_integer() and math.isfinite(payload)


def read(
    forms: Forms,
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
    images: dict[int, int] = {}
    whole, bound = set(forms.named), frozenset(bound)
    for node in sorted(uses.keys() - absorbed):
        images[node] = form = form_of(forms, graph, node, images, absorbed, whole)
        if forms.share:
            forms.remember(form)
        if node in bound and forms.weights[form] > WORTH_A_NAME:
            forms.name(form)
            whole.add(form)
        elif is_long(forms, form, short if uses[node] > 1 else OPENED):
            whole.add(form)
    return images


def form_of(
    forms: Forms,
    graph: Graph,
    node: int,
    images: Mapping[int, int],
    absorbed: Set[int],
    whole: Collection[int],
) -> int:
    """The form of one node; the forms in ``whole`` are not taken apart."""
    kind, payload = graph.kinds[node], graph.payloads[node]
    if kind == INPUT:
        return forms.leaf(str(payload), None)
    link = CHAINS.get(kind)
    if link is not None:
        leaves, sign = chain(graph, node, absorbed)
        items = [(images[leaf], power) for leaf, power in leaves]
        return form_of_chain(forms, link, items, sign, whole)
    if isinstance(payload, Literal):
        return forms.literal(payload)
    if isinstance(payload, float):
        return forms.constant(payload, graph.symbols.get(node))
    operands = tuple([images[operand] for operand in graph.operands[node]])
    if kind == "pow":
        return forms.power(operands[0], operands[1], whole)
    if isinstance(payload, tuple):
        shapes = [graph.shape(operand) for operand in graph.operands[node]]
        return forms.structural(kind, tuple(zip(operands, shapes, strict=True)), payload)
    return forms.call(kind, operands)


def form_of_chain(
    forms: Forms,
    link: str,
    items: list[tuple[int, Exact]],
    sign: Exact,
    whole: Collection[int],
) -> int:
    """A sum or a product of what was read; one that another derivative has too is looked up."""
    is_kept = forms.several and forms.order is not None and not forms.share
    key = (link, sign, *items, *[form for form, _ in items if form in whole]) if is_kept else ()
    found = forms.readings.get(key)
    if found is None:
        found = forms.sum(items, whole) if link == "sum" else forms.product(items, sign, whole)
        if is_kept:
            forms.readings[key] = found
    return found


def is_long(forms: Forms, form: int, short: int) -> bool:
    """Whether a form stays whole where it is used: a sum by its operations, a product by its factors."""
    found = forms.forms[form]
    if isinstance(found, Product) and not forms.share:
        return len(found.factors) > MOST_FACTORS
    return forms.weights[form] > short


def count_uses(graph: Graph, outputs: tuple[int, ...]) -> dict[int, int]:
    """By node that the outputs need: how many edges and outputs lead to it.

    No other node is looked at, for of a formula of many inputs each derivative may need few.
    """
    uses: dict[int, int] = {}
    for output in outputs:
        uses[output] = uses.get(output, 0) + 1
    todo = [*uses]
    while todo:
        for operand in graph.operands[todo.pop()]:
            if operand in uses:
                uses[operand] += 1
            else:
                uses[operand] = 1
                todo.append(operand)
    return uses


def find_absorbed(graph: Graph, uses: Mapping[int, int]) -> set[int]:
    """The nodes that are links in their only user's chain."""
    kinds, absorbed = graph.kinds, set[int]()
    for user in uses:
        link = CHAINS.get(kinds[user])
        if link is not None:
            for operand in graph.operands[user]:
                if uses[operand] == 1 and CHAINS.get(kinds[operand]) == link:
                    absorbed.add(operand)
    return absorbed


def chain(graph: Graph, root: int, absorbed: Set[int]) -> tuple[list[tuple[int, Exact]], Exact]:
    """The leaves of a chain in order, each with its sign or its power, and the sign of the whole."""
    kinds, operands = graph.kinds, graph.operands
    sign: Exact = -ONE if kinds[root] in NEGATIVES else ONE
    links = zip(operands[root], LINKS[kinds[root]], strict=True)
    if absorbed.isdisjoint(operands[root]):
        return [*links], sign
    leaves: list[tuple[int, Exact]] = []
    todo = [*links][::-1]
    while todo:
        node, power = todo.pop()
        if node not in absorbed:
            leaves.append((node, power))
            continue
        if kinds[node] in NEGATIVES:
            sign = -sign
        links = zip(operands[node], LINKS[kinds[node]], strict=True)
        todo += [(operand, own * power) for operand, own in links][::-1]
    return leaves, sign
