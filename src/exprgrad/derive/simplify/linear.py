"""What holds for many structural operations on forms: numbers go in front, repetition is counted."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from exprgrad.derive.simplify.normal_form import ONE, Call, Number, Product
from exprgrad.graph.literal import Settings, Shape
from exprgrad.graph.shapes import axes_of, volume

if TYPE_CHECKING:
    from exprgrad.derive.simplify.algebra import Algebra

__all__ = ["Operand", "factor_by_factor", "fewest", "in_front", "repeated"]

Operand = tuple[int, Shape]
"""A form, and the shape of what it stands for: a form may be smaller, and then is repeated."""
Split = tuple[Fraction, list[tuple[int, Fraction]], int]
"""A coefficient, factors that go in front, and the rest: 1 if that is nothing."""


def in_front(
    forms: Algebra, kind: str, operands: tuple[Operand, ...], settings: Settings
) -> int | None:
    """An operation that is linear in each operand, in front of it the factors that it leaves alone."""
    parts = [split(forms, kind, operand, settings) for operand in operands]
    if all(coefficient == 1 and not outer for coefficient, outer, _ in parts):
        return None
    rest = [(form, shape) for (_, _, form), (_, shape) in zip(parts, operands, strict=True)]
    coefficient, factors = ONE, [(forms.structural(kind, tuple(rest), settings), ONE)]
    for number, outer, _ in parts:
        coefficient *= number
        factors = outer + factors
    return forms.product(factors, coefficient)


def split(forms: Algebra, kind: str, operand: Operand, settings: Settings) -> Split:
    """A tensor as a coefficient, factors that an operation leaves alone, and the rest."""
    form, shape = operand
    found = forms.forms[form]
    if not shape or form in forms.named:
        return ONE, [], form
    if isinstance(found, Number):
        return found.value, [], forms.one
    if stays(kind, forms.shape(form), shape, settings):
        return ONE, [(form, ONE)], forms.one
    if isinstance(found, Call) and found.kind == "where":
        return split_choice(forms, found, form, shape)
    if not isinstance(found, Product):
        return ONE, [], form
    outer = [item for item in found.factors if stays(kind, forms.shape(item[0]), shape, settings)]
    rest = [item for item in found.factors if item not in outer]
    if found.coefficient == 1 and not outer:
        return ONE, [], form
    return found.coefficient, outer, forms.product(rest)


def stays(kind: str, own: Shape, shape: Shape, settings: Settings) -> bool:
    """Whether a factor may go in front: a number, or one that is alike along the axes that are summed."""
    if not own or kind not in ("mean", "sum"):
        return not own
    axis, keepdims = settings
    gone, lead = axes_of(axis, shape), len(shape) - len(own)
    if keepdims:
        return all(at < lead or own[at - lead] == 1 for at in gone)
    return gone == tuple(range(len(gone))) and len(own) <= len(shape) - len(gone)


def split_choice(forms: Algebra, found: Call, form: int, shape: Shape) -> Split:
    """A choice between something and 0: the number in front of something goes in front of the choice."""
    condition, x, y = found.operands
    if forms.zero not in (x, y):
        return ONE, [], form
    branch = forms.forms[y if x == forms.zero else x]
    if not isinstance(branch, Number | Product):
        return ONE, [], form
    number = branch.value if isinstance(branch, Number) else branch.coefficient
    if number == 1:
        return ONE, [], form
    rest = forms.one if isinstance(branch, Number) else forms.product(branch.factors)
    both = (forms.zero, rest) if x == forms.zero else (rest, forms.zero)
    return number, [], forms.where(condition, *both)


def fewest(settings: Settings, shape: Shape) -> Settings:
    """A reduction's settings in the shortest way; the first axes need not be kept, as shapes align."""
    axis, keepdims = settings
    gone = axes_of(axis, shape)
    if isinstance(axis, tuple) and len(gone) == 1:
        axis = gone[0]
    return None if len(gone) == len(shape) else axis, keepdims and gone != tuple(range(len(gone)))


def factor_by_factor(forms: Algebra, kind: str, operand: Operand, settings: Settings) -> int | None:
    """A product whose factors are moved one by one, where that leaves nothing to move."""
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


def repeated(forms: Algebra, kind: str, operand: Operand, settings: Settings) -> int | None:
    """A reduction along axes on which a form was but repeated: once, times how often."""
    form, shape = operand
    axis, keepdims = settings
    own = forms.shape(form)
    lead = len(shape) - len(own)
    gone = axes_of(axis, shape)
    along = [at for at in gone if at < lead]
    if not along:
        return None
    times = volume(shape, tuple(along)) if kind == "sum" else 1
    rest = tuple([at - lead for at in gone if at >= lead])
    if rest:
        whole = len(rest) == len(own)
        narrow = None if whole else rest if len(rest) > 1 else rest[0]
        form = forms.structural(kind, ((form, shape[lead:]),), (narrow, keepdims))
    return forms.product([(form, ONE)], Fraction(times))
