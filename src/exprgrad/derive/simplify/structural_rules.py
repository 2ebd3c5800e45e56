"""Shorter forms of structural operations, row by row.

A form broadcasts as NumPy does, so the sums, products and powers of ``forms`` hold for tensors, number by
number, and no form is stretched for their sake.  A form may be smaller than the node that it was read from
(``x - x`` is the number 0); a structural operation, which sees shapes, is given it stretched to the
node's.  Every rewrite is exact in real arithmetic; what a person wrote stays as it was written.
"""

from __future__ import annotations

from collections.abc import Callable

from exprgrad.derive.build import ONE, Exact, exact_ratio
from exprgrad.derive.simplify.forms import CallForm, Forms, NumberForm, Operand, Product, Sum
from exprgrad.graph.graph import Settings, Shape
from exprgrad.graph.structural import (
    Structural,
    count_reduced_elements,
    keepdims_shape,
    normalize_axes,
    normalize_axis,
)
from exprgrad.graph.tensors import STRUCTURAL

__all__ = ["rewrite_structural"]

Operands = tuple[Operand, ...]
REDUCTIONS = [row.name for row in STRUCTURAL.values() if row.reduces]
Split = tuple[Exact, list[tuple[int, Exact]], int]
"""A coefficient, the factors that go in front, and the rest, which is 1 if nothing is left."""
LONG = 60
"""The most operations of a product that is transposed factor by factor."""


def rewrite_structural(
    forms: Forms, kind: str, operands: Operands, settings: Settings
) -> int | None:
    """Return a shorter form of an operation, if there is one."""
    row = STRUCTURAL[kind]
    found = pull_factors_out(forms, row, operands, settings) if row.linear else None
    if found is not None:
        return found
    form, shape = operands[0]
    if (row.moves or row.averages) and shape and forms.shape(form) == ():
        return form
    if row.reduces:
        plain = shortest_axis_settings(settings, shape)
        if plain != settings:
            return forms.structural(kind, operands, plain)
    if kind in STRUCTURAL_RULES:
        found = STRUCTURAL_RULES[kind](forms, operands, settings)
    if found is None and row.reduces and (row.linear or row.averages):
        found = reduce_repeated(forms, row, operands[0], settings)
    if found is None and row.moves:
        found = move_factors(forms, kind, operands[0], settings)
    return found


# What holds for many rows: numbers go in front, repetition is counted.


def pull_factors_out(
    forms: Forms, row: Structural, operands: Operands, settings: Settings
) -> int | None:
    """Pull factors that a linear operation leaves alone in front of it."""
    parts = [split_operand(forms, row, operand, settings) for operand in operands]
    if all(coefficient == 1 and not outer for coefficient, outer, _ in parts):
        return None
    rest = [(form, shape) for (_, _, form), (_, shape) in zip(parts, operands, strict=True)]
    coefficient, factors = ONE, [(forms.structural(row.name, tuple(rest), settings), ONE)]
    for number, outer, _ in parts:
        coefficient *= number
        factors = outer + factors
    return forms.product(factors, coefficient)


def split_operand(forms: Forms, row: Structural, operand: Operand, settings: Settings) -> Split:
    """Split an operand into a coefficient, the factors that can be pulled out, and the rest."""
    form, shape = operand
    found = forms.forms[form]
    if not shape or form in forms.named:
        return ONE, [], form
    if isinstance(found, NumberForm):
        return found.value, [], forms.one
    if can_pull_out(row, forms.shape(form), shape, settings):
        return ONE, [(form, ONE)], forms.one
    if isinstance(found, CallForm) and found.kind == "where":
        return split_choice_factor(forms, found, form, shape)
    if not isinstance(found, Product):
        return ONE, [], form
    outer = [
        item for item in found.factors if can_pull_out(row, forms.shape(item[0]), shape, settings)
    ]
    rest = [item for item in found.factors if item not in outer]
    if found.coefficient == 1 and not outer:
        return ONE, [], form
    return found.coefficient, outer, forms.product(rest)


def can_pull_out(row: Structural, own: Shape, shape: Shape, settings: Settings) -> bool:
    """Whether a factor can be pulled out: a number, or one that is constant along the summed axes."""
    if not own or not row.reduces:
        return not own
    axis, keepdims = settings
    gone, lead = normalize_axes(axis, shape), len(shape) - len(own)
    if keepdims:
        return all(at < lead or own[at - lead] == 1 for at in gone)
    return gone == tuple(range(len(gone))) and len(own) <= len(shape) - len(gone)


def split_choice_factor(forms: Forms, found: CallForm, form: int, shape: Shape) -> Split:
    """Pull the number in front of a branch out of a choice whose other branch is 0."""
    condition, x, y = found.operands
    if forms.zero not in (x, y):
        return ONE, [], form
    branch = forms.forms[y if x == forms.zero else x]
    if not isinstance(branch, NumberForm | Product):
        return ONE, [], form
    rest, number = forms.split(y if x == forms.zero else x)
    if number == 1:
        return ONE, [], form
    both = (forms.zero, rest) if x == forms.zero else (rest, forms.zero)
    return number, [], forms.where(condition, *both)


def shortest_axis_settings(settings: Settings, shape: Shape) -> Settings:
    """Return a reduction's shortest settings; shapes align at the last axis, so first ones are dropped."""
    axis, keepdims = settings
    gone = normalize_axes(axis, shape)
    if isinstance(axis, tuple) and len(gone) == 1:
        axis = gone[0]
    return None if len(gone) == len(shape) else axis, keepdims and gone != tuple(range(len(gone)))


def move_factors(forms: Forms, kind: str, operand: Operand, settings: Settings) -> int | None:
    """Move a product's factors one by one, if no move remains as an operation."""
    form, shape = operand
    found = forms.forms[form]
    if not isinstance(found, Product) or any(
        forms.shape(base) != shape for base, _ in found.factors
    ):
        return None
    moved = []
    for base, power in found.factors:
        inner = forms.structural(kind, ((base, shape),), settings)
        if forms.weights[inner] > forms.weights[base]:
            return None
        moved.append((inner, power))
    return forms.product(moved, found.coefficient)


def reduce_repeated(
    forms: Forms, row: Structural, operand: Operand, settings: Settings
) -> int | None:
    """Reduce a form along axes on which it only repeats: a sum of n equal numbers is n times one."""
    form, shape = operand
    axis, keepdims = settings
    own = forms.shape(form)
    lead = len(shape) - len(own)
    gone = normalize_axes(axis, shape)
    along = [at for at in gone if at < lead]
    if not along:
        return None
    times = 1 if row.averages else count_reduced_elements(shape, tuple(along))
    rest = tuple([at - lead for at in gone if at >= lead])
    if rest:
        whole = len(rest) == len(own)
        narrow = None if whole else rest if len(rest) > 1 else rest[0]
        form = forms.structural(row.name, ((form, shape[lead:]),), (narrow, keepdims))
    return forms.product([(form, ONE)], times)


def plain_call(forms: Forms, operand: Operand, *kinds: str) -> CallForm | None:
    """Return an operand's operation, if it is of some kinds, not repeated and without a name."""
    form, shape = operand
    found = forms.forms[form]
    if not isinstance(found, CallForm) or found.kind not in kinds or form in forms.named:
        return None
    return found if forms.shape(form) == shape else None


def unstretched_form(forms: Forms, form: int) -> int:
    """Return the form that a stretched form repeats; another form as it is."""
    found = forms.forms[form]
    return found.operands[0] if isinstance(found, CallForm) and found.kind == "broadcast" else form


def inner_operand(forms: Forms, found: CallForm) -> Operand:
    """Return the operand of an operation that takes one."""
    (form,) = found.operands
    return unstretched_form(forms, form), forms.shape(form)


def untransposed_operand(forms: Forms, operand: Operand) -> Operand | None:
    """Return the form that an operand is the transpose of, if it is a transpose."""
    found = plain_call(forms, operand, "transpose")
    return inner_operand(forms, found) if found is not None and found.settings == (None,) else None


# Rules: what an operation on some operands comes to; None where there is nothing to say.


def simplify_matmul(forms: Forms, operands: Operands, settings: Settings) -> int | None:
    """Simplify a product: with ones it is a sum, an identity is dropped, and ``v @ A.T`` is ``A @ v``."""
    x, y = operands
    if is_identity(forms, x) or is_identity(forms, y):
        return y[0] if is_identity(forms, x) else x[0]
    for one, other, axis in ((y, x, len(x[1]) - 1), (x, y, max(len(y[1]) - 2, 0))):
        if one[0] == forms.one and len(one[1]) == 1:
            return axis_sums(forms, other, axis)
    flipped = untransposed_operand(forms, y) if (len(x[1]), len(y[1])) == (1, 2) else None
    return forms.structural("matmul", (flipped, x), ()) if flipped is not None else None


def is_identity(forms: Forms, operand: Operand) -> bool:
    """Whether an operand is a diagonal matrix of ones."""
    found = plain_call(forms, operand, "diag")
    return (
        found is not None and len(operand[1]) == 2 and inner_operand(forms, found)[0] == forms.one
    )


def axis_sums(forms: Forms, operand: Operand, axis: int) -> int:
    """Build the sums along an axis of a vector, or of matrices."""
    if len(operand[1]) == 1:
        return forms.structural("sum", (operand,), (None, False))
    flipped = untransposed_operand(forms, operand) if len(operand[1]) == 2 else None
    if flipped is not None:
        operand, axis = flipped, 1 - axis
    return forms.structural("sum", (operand,), (axis, False))


def simplify_diag(forms: Forms, operands: Operands, settings: Settings) -> int | None:
    """Simplify the diagonal of a matrix of ones, or of a diagonal matrix."""
    if len(operands[0][1]) == 1:
        return None
    found = plain_call(forms, operands[0], "diag")
    return (
        operands[0][0] if operands[0][0] == forms.one else found and inner_operand(forms, found)[0]
    )


def simplify_dot(forms: Forms, operands: Operands, settings: Settings) -> int | None:
    """Simplify a dot product with a vector of ones to the other vector's sum."""
    for one, other in (operands, operands[::-1]):
        if one[0] == forms.one:
            return axis_sums(forms, other, 0)
    return None


def simplify_softmax(forms: Forms, operands: Operands, settings: Settings) -> int | None:
    """Simplify a softmax of equal scores to equal shares, and drop the setting of a vector's only axis."""
    form, shape = operands[0]
    if forms.shape(form) == ():
        return forms.number(exact_ratio(ONE, count_reduced_elements(shape, settings[0])))
    if len(shape) == 1 and settings != (-1,):
        return forms.structural("softmax", operands, (-1,))
    return None


def simplify_index(forms: Forms, operands: Operands, settings: Settings) -> int | None:
    """Simplify an index: into joined parts to its part, into a repeated operand to the operand."""
    (form, shape), (places,) = operands[0], settings
    own = forms.shape(form)
    lead = len(shape) - len(own)
    if lead and own == shape[lead:]:
        rest = ((form, own),), (places[lead:],)
        return forms.structural("index", *rest) if places[lead:] else form
    found = plain_call(forms, operands[0], "concat", "stack")
    if found is None or found.settings is None or not places:
        return None
    at, place = len(places) - 1, places[-1]
    if normalize_axis(found.settings[0], shape) != at or {*places[:-1]} - {(None, None)}:
        return None
    start = 0
    for position, operand in enumerate(found.operands):
        length = forms.shape(operand)[at] if found.kind == "concat" else 1
        if place == (position if found.kind == "stack" else (start, start + length)):
            return unstretched_form(forms, operand)
        start += length
    return None


def simplify_transpose(forms: Forms, operands: Operands, settings: Settings) -> int | None:
    """Simplify a transpose of a transpose, and ``(A @ B.T).T`` to ``B @ A.T``."""
    if settings != (None,):
        return None
    back = untransposed_operand(forms, operands[0])
    if back is not None:
        return back[0]
    found = plain_call(forms, operands[0], "matmul")
    if found is None or len(operands[0][1]) != 2 or forms.weights[operands[0][0]] > LONG:
        return None
    pair = [(operand, forms.shape(operand)) for operand in found.operands]
    backs = [untransposed_operand(forms, operand) for operand in pair]
    if backs == [None, None]:
        return None
    turned = [
        back
        or (
            forms.structural("transpose", ((unstretched_form(forms, form), shape),), (None,)),
            shape[::-1],
        )
        for back, (form, shape) in zip(backs, pair, strict=True)
    ]
    return forms.structural("matmul", (turned[1], turned[0]), ())


def simplify_reshape(forms: Forms, operands: Operands, settings: Settings) -> int | None:
    """Simplify a reshape: one of a reduction to kept axes, and one of another reshape to the last."""
    (form, shape), (wanted,) = operands[0], settings
    if wanted == shape:
        return form
    if not wanted:
        return forms.structural("sum", operands, (None, False))
    found = plain_call(forms, operands[0], "reshape", *REDUCTIONS)
    if found is None or found.settings is None:
        return None
    before = inner_operand(forms, found)
    if found.kind == "reshape":
        return forms.structural("reshape", (before,), settings)
    if wanted == keepdims_shape(before[1], found.settings[0]):
        return forms.structural(found.kind, (before,), (found.settings[0], True))
    return None


def simplify_sum(forms: Forms, operands: Operands, settings: Settings) -> int | None:
    """Simplify a sum of ones to their count, and a sum of differences from a mean to 0."""
    form, shape = operands[0]
    if form == forms.one:
        return forms.number(count_reduced_elements(shape, settings[0]))
    gone = normalize_axes(settings[0], shape)
    terms = dict(found.terms) if isinstance(found := forms.forms[form], Sum) else {}
    for term, coefficient in terms.items():
        mean = forms.forms[term]
        if not isinstance(mean, CallForm) or mean.kind != "mean" or mean.settings is None:
            continue
        whole = inner_operand(forms, mean)
        aligned = mean.settings[1] or gone == tuple(range(len(gone)))
        same = whole[1] == shape and normalize_axes(mean.settings[0], shape) == gone
        if aligned and same and terms.get(whole[0]) == -coefficient:
            rest = [item for item in terms.items() if item[0] not in (term, whole[0])]
            return forms.structural("sum", ((forms.sum(rest), shape),), settings)
    return None


STRUCTURAL_RULES: dict[str, Callable[[Forms, Operands, Settings], int | None]] = {
    "diag": simplify_diag,
    "dot": simplify_dot,
    "index": simplify_index,
    "matmul": simplify_matmul,
    # with a column of ones every row is the other vector
    "outer": lambda forms, operands, _: operands[1][0] if operands[0][0] == forms.one else None,
    "reshape": simplify_reshape,
    "softmax": simplify_softmax,
    "sum": simplify_sum,
    "trace": lambda forms, operands, _: (
        forms.number(operands[0][1][0]) if operands[0][0] == forms.one else None
    ),
    "transpose": simplify_transpose,
}
