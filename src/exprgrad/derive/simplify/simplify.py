"""Simplifying: a program read into normal forms, and written again as a person would write it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from exprgrad.derive.constant_folding import ONE, Exact
from exprgrad.derive.simplify.forms import DEEPEST, SHORT, Call, Forms, Product, Rules, Sum, read
from exprgrad.derive.simplify.identities import rewritten_call
from exprgrad.derive.simplify.structural_rules import rewritten
from exprgrad.derive.simplify.sums_and_products import (
    STEPS,
    gather_choices,
    gather_opposites,
    share_of_tie,
    shortest_sum,
)
from exprgrad.derive.simplify.write import needed, parts, write
from exprgrad.graph.graph import Binding, Graph, Program
from exprgrad.language.read.builder import CONSTANTS

__all__ = ["forms_of", "formulas", "simplify", "with_one_exponential"]

RULES = Rules(
    STEPS, share_of_tie, (gather_choices, gather_opposites), shortest_sum, rewritten, rewritten_call
)


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
