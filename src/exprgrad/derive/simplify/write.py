"""Normal forms written as graphs, as a person would write them: one fraction, its minus in front."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import chain

from exprgrad.derive.build import (
    EXACT_BELOW,
    HALF,
    ONE,
    Exact,
    GraphBuilder,
    exact_magnitude,
    exact_ratio,
    shortest_double,
)
from exprgrad.derive.simplify.forms import (
    CallForm,
    Form,
    Forms,
    Leaf,
    NumberForm,
    Product,
    Sum,
)
from exprgrad.graph.graph import Literal, Program
from exprgrad.graph.ops import BY_NAME

__all__ = ["form_length", "form_parts", "needed_forms", "write_forms"]

LARGE = 10**300
"""A number beyond the doubles is written as a product with this."""


def write_forms(
    forms: Forms, outputs: list[int], inputs: Iterable[str]
) -> tuple[Program, dict[int, int]]:
    """Build a program of forms, with all ``inputs``, and return it with each form's node."""
    builder = GraphBuilder(plain=not forms.share, typed=True)
    for name in inputs:
        builder.input(name)
    nodes: dict[int, int] = {}
    for form in needed_forms(forms, outputs, written=True):
        nodes[form] = write_form(forms, builder, nodes, forms.forms[form])
    program, places = builder.pruned([nodes[output] for output in outputs])
    return program, {form: places[node] for form, node in nodes.items() if places[node] >= 0}


def needed_forms(forms: Forms, outputs: list[int], *, written: bool = False) -> list[int]:
    """Return the forms that others are made of, operands first.

    If they are to be ``written``, a product that is written with a coefficient is left out.
    """
    found, todo = set(outputs), [*outputs]
    while todo:
        for operand in form_parts(forms, forms.forms[todo.pop()], written=written):
            if operand not in found:
                found.add(operand)
                todo.append(operand)
    return sorted(found)


def form_parts(forms: Forms, form: Form, *, written: bool = False) -> Sequence[int]:
    """Return the forms that one is made of; or those that it is written with."""
    match form:
        case CallForm(_, operands):
            return operands
        case Product(_, factors):
            return [base for base, _ in factors]
        case Sum(terms) if not written:
            return [term for term, _ in terms]
        case Sum(terms):
            own = [term for term, c in terms if abs(c) == 1]
            rest = [scaled_form(forms, term, c) for term, c in terms if abs(c) != 1]
            return [*own, *chain.from_iterable(form_parts(forms, form) for form in rest)]
    return ()


def scaled_form(forms: Forms, term: int, coefficient: Exact) -> Form:
    """Return a term with its coefficient, as it is written: a product has it among its factors."""
    match forms.forms[term]:
        case NumberForm(value):
            return NumberForm(coefficient * value)
        case Product(1, factors):
            return Product(coefficient, factors)
    return Product(coefficient, ((term, ONE),))


def write_form(forms: Forms, builder: GraphBuilder, nodes: dict[int, int], form: Form) -> int:
    """Build one form, its parts being built."""
    match form:
        case Product(coefficient, factors):
            return write_product(forms, builder, nodes, coefficient, factors)
        case CallForm(kind, operands, None):
            return builder.apply(kind, *[nodes[operand] for operand in operands])
        case NumberForm(value):
            return write_number(forms, builder, value)
        case Leaf(name, None):
            return builder.input(name)
        case Leaf(name, float(constant)):
            return builder.constant(constant, name if math.isfinite(constant) else None)
        case Literal() as literal:
            return builder.literal(literal)
        case CallForm(kind, operands, settings):
            return builder.append(kind, tuple([nodes[o] for o in operands]), settings, ())
        case Sum(terms):
            return write_sum(forms, builder, nodes, terms)
    raise AssertionError("every form is written")


def write_sum(
    forms: Forms, builder: GraphBuilder, nodes: dict[int, int], terms: tuple[tuple[int, Exact], ...]
) -> int:
    """Build a sum, beginning with a term without a minus if there is one."""
    first = next((place for place, (_, c) in enumerate(terms) if c > 0), 0)
    written = write_term(forms, builder, nodes, *terms[first])
    for term, coefficient in (*terms[:first], *terms[first + 1 :]):
        node = write_term(forms, builder, nodes, term, exact_magnitude(coefficient))
        written = builder.apply("sub" if coefficient < 0 else "add", written, node)
    return written


def write_term(
    forms: Forms, builder: GraphBuilder, nodes: dict[int, int], term: int, coefficient: Exact
) -> int:
    """Build a term with its coefficient."""
    if coefficient == 1:
        return nodes[term]
    return write_form(forms, builder, nodes, scaled_form(forms, term, coefficient))


def write_number(forms: Forms, builder: GraphBuilder, value: Exact) -> int:
    """Build a number: one constant, or a quotient of two."""
    top, bottom = printed_fraction(forms, value)
    above = constant_node(builder, top)
    return above if bottom == 1 else builder.apply("div", above, constant_node(builder, bottom))


def printed_fraction(forms: Forms, value: Exact) -> tuple[Exact, Exact]:
    """Return a number's numerator and denominator as written: a decimal over 1, or two whole numbers.

    A number with more digits than doubles hold is rounded to the nearest double.
    """
    if isinstance(value, int) and -EXACT_BELOW <= value <= EXACT_BELOW:
        return value, ONE
    parts = value.as_integer_ratio()
    if forms.decimals and shortest_double(value) is not None:
        return value, ONE
    is_rounded = (
        None in map(shortest_double, parts) and 1 <= exact_magnitude(value) * LARGE <= LARGE**2
    )
    return (value, ONE) if is_rounded else parts


def constant_node(builder: GraphBuilder, value: Exact) -> int:
    """Build a constant, or a product of several if it is too large for a double."""
    if exact_magnitude(value) <= LARGE:
        is_long = (
            isinstance(value, int) and abs(value) > EXACT_BELOW and shortest_double(value) is None
        )
        return builder.constant(float(value), text=str(value) if is_long else None)
    rest = constant_node(builder, exact_ratio(value, LARGE))
    return builder.product([rest, builder.constant(float(LARGE))])


def write_product(
    forms: Forms,
    builder: GraphBuilder,
    nodes: dict[int, int],
    coefficient: Exact,
    factors: tuple[tuple[int, Exact], ...],
) -> int:
    """Build a product as one fraction, its minus on the numerator's first factor."""
    size = exact_magnitude(coefficient)
    top, bottom = printed_fraction(forms, size)
    if bottom != 1 and forms.decimals and shortest_double(exact_ratio(ONE, size)) is not None:
        top, bottom = ONE, exact_ratio(ONE, size)
    above, below = (
        [constant_node(builder, number)] if number != 1 else [] for number in (top, bottom)
    )
    roots: dict[Exact, list[int]] = {}
    is_lone = forms.decimals and above and not below and len(factors) == 1
    for base, exponent in factors:
        side = above if exponent > 0 else below
        if exponent == 1:
            above.append(nodes[base])
        elif exact_magnitude(exponent) == HALF and forms.is_positive(base):
            roots.setdefault(exponent, []).append(nodes[base])
        elif is_lone and exponent < 0 and exponent.denominator > 2 and shortest_double(exponent):
            # as the power rule has it: 0.1*x^-0.9; whole and half exponents go below the line
            above.append(write_power(forms, builder, nodes[base], exponent))
        else:
            side.append(write_power(forms, builder, nodes[base], exact_magnitude(exponent)))
    for exponent, constants in roots.items():  # sqrt(2)*sqrt(pi) is sqrt(2*pi)
        side = above if exponent > 0 else below
        side.append(builder.apply("sqrt", builder.product(constants)))
    if coefficient < 0:
        above[:1] = [builder.apply("neg", above[0] if above else builder.constant(1.0))]
    whole = builder.product(above)
    return builder.apply("div", whole, builder.product(below)) if below else whole


def write_power(forms: Forms, builder: GraphBuilder, base: int, exponent: Exact) -> int:
    """Build a power whose exponent is a number."""
    if exponent == 1:
        return base
    if exponent == HALF:
        return builder.apply("sqrt", base)
    power = write_number(forms, builder, exact_magnitude(exponent))
    return builder.apply("pow", base, power if exponent > 0 else builder.apply("neg", power))


# How long that gets.


def form_length(forms: Forms, form: int) -> int:
    """Count the names, numbers, signs and brackets of a form as it is written."""
    for each in range(len(forms.lengths), form + 1):
        is_named = each in forms.named
        forms.lengths.append(1 if is_named else compute_form_length(forms, forms.forms[each]))
    return forms.lengths[form]


def compute_form_length(forms: Forms, form: Form) -> int:
    """Return the length of a form without a name, given those of its parts."""
    match form:
        case NumberForm(value):  # such as -1/2
            return 1 + (value < 0) + 2 * (printed_fraction(forms, exact_magnitude(value))[1] != 1)
        case CallForm("pow", (base, exponent)):
            is_product = isinstance(forms.forms[exponent], Product) and exponent not in forms.named
            above = forms.lengths[exponent] + 2 * (
                needs_brackets(forms, exponent, ONE) or is_product
            )
            return forms.lengths[base] + 2 * needs_brackets(forms, base, HALF) + 1 + above
        case CallForm(kind, operands):
            within = sum(forms.lengths[operand] for operand in operands)
            is_infix = kind in BY_NAME and BY_NAME[kind].infix
            return within + (1 if is_infix else 2 + len(operands))
        case Product(coefficient, factors):
            return product_length(forms, coefficient, factors)
        case Sum(terms):
            signs = len(terms) - any(c > 0 for _, c in terms)
            return signs + sum(
                forms.lengths[term]
                if abs(c) == 1
                else compute_form_length(forms, scaled_form(forms, term, exact_magnitude(c)))
                for term, c in terms
            )
    return 1


def product_length(forms: Forms, coefficient: Exact, factors: tuple[tuple[int, Exact], ...]) -> int:
    """Return the length of a product as one fraction."""
    above, below = [
        [1] if number != 1 else []
        for number in printed_fraction(forms, exact_magnitude(coefficient))
    ]
    roots: set[Exact] = set()
    for base, exponent in factors:
        side = above if exponent > 0 else below
        if exponent in roots and forms.is_positive(base):
            side[-1] += 1 + forms.lengths[base]
            continue
        side.append(power_length(forms, base, exact_magnitude(exponent)))
        if exact_magnitude(exponent) == HALF and forms.is_positive(base):
            roots.add(exponent)
    top = sum(above) + len(above) - 1 if above else 1
    bottom = sum(below) + len(below) + 2 * (len(below) > 1)
    return top + bottom + (coefficient < 0)


def power_length(forms: Forms, base: int, exponent: Exact) -> int:
    """Return the length of a factor, with the brackets that it needs."""
    inside = forms.lengths[base]
    if exponent == 1:
        return inside + 2 * needs_brackets(forms, base, exponent)
    if exponent == HALF:
        return inside + 3
    inside += 2 * needs_brackets(forms, base, exponent)
    return inside + (2 if printed_fraction(forms, exponent)[1] == 1 else 6)


def needs_brackets(forms: Forms, form: int, exponent: Exact) -> bool:
    """Whether a form needs brackets as a factor, or, with an exponent, as the base of a power."""
    found = forms.forms[form]
    if form in forms.named:
        return False
    if isinstance(found, CallForm) and found.kind in BY_NAME:
        row = BY_NAME[found.kind]
        return bool(row.infix) and (exponent != 1 or found.kind != "pow")
    return isinstance(found, Sum) or (exponent != 1 and isinstance(found, Product))
