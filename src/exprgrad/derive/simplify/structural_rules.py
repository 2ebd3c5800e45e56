"""Structural operations on normal forms: what they come to, row by row.

A form broadcasts as NumPy does, so the sums, products and powers of ``algebra`` hold for tensors, number by
number, and no form is stretched for their sake.  A form may be smaller than the node that it was read from
(``x - x`` is the number 0); a structural operation, which sees shapes, is given it stretched to the
node's.  Every rewrite is exact in real arithmetic; what a person wrote stays as it was written.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

from exprgrad.derive.simplify.linear import Operand, factor_by_factor, fewest, in_front, repeated
from exprgrad.derive.simplify.normal_form import Call, Sum
from exprgrad.graph.literal import Settings, Shape
from exprgrad.graph.shapes import axes_of, axis_of, kept, volume

if TYPE_CHECKING:
    from exprgrad.derive.simplify.algebra import Algebra

__all__ = ["canonical", "rewritten"]

Operands = tuple[Operand, ...]
REDUCTIONS = {"mean", "norm", "prod", "reduce_logsumexp", "reduce_max", "reduce_min", "sum"}
"""The rows with the settings ``axis`` and ``keepdims``."""
REPEATABLE = {"mean", "reduce_max", "reduce_min", "sum"}
"""The reductions that take a number met several times as they take it once, but for a factor."""
MOVES = {"index", "reshape", "transpose"}
"""The rows that go through products and powers, factor by factor."""
LINEAR = {"diag", "dot", "matmul", "mean", "outer", "place", "sum", "trace", *MOVES}
"""The rows that are linear in each of their operands."""
UNMOVED = {"mean", "reduce_max", "reduce_min", *MOVES}
"""The rows that give, of a tensor whose numbers are all one, that number again."""
LONG = 60
"""The most operations of a product that is transposed factor by factor: a long one is not walked down."""


def canonical(kind: str, settings: Settings, shape: Shape) -> Settings:
    """Settings that say the same are one: ``axis=-1`` of a vector is all its axes."""
    if kind in REDUCTIONS or kind == "softmax":
        return axes_of(settings[0], shape), *settings[1:]
    return settings


def rewritten(forms: Algebra, kind: str, operands: Operands, settings: Settings) -> int | None:
    """A shorter form of an operation, if there is one."""
    found = in_front(forms, kind, operands, settings) if kind in LINEAR else None
    if found is not None:
        return found
    form, shape = operands[0]
    if kind in UNMOVED and shape and forms.shape(form) == ():
        return form
    if kind in REDUCTIONS:
        plain = fewest(settings, shape)
        if plain != settings:
            return forms.structural(kind, operands, plain)
    if kind in RULES:
        found = RULES[kind](forms, operands, settings)
    if found is None and kind in REPEATABLE:
        found = repeated(forms, kind, operands[0], settings)
    if found is None and kind in MOVES:
        found = factor_by_factor(forms, kind, operands[0], settings)
    return found


def call_of(forms: Algebra, operand: Operand, *kinds: str) -> Call | None:
    """The operation that an operand is, if it is one of some kinds, not repeated and without a name."""
    form, shape = operand
    found = forms.forms[form]
    if not isinstance(found, Call) or found.kind not in kinds or form in forms.named:
        return None
    return found if forms.shape(form) == shape else None


def unstretched(forms: Algebra, form: int) -> int:
    """What a form repeats, if it is stretched."""
    found = forms.forms[form]
    return found.operands[0] if isinstance(found, Call) and found.kind == "broadcast" else form


def inner(forms: Algebra, found: Call) -> Operand:
    """The operand of an operation that takes one."""
    (form,) = found.operands
    return unstretched(forms, form), forms.shape(form)


def untransposed(forms: Algebra, operand: Operand) -> Operand | None:
    """What an operand is the transpose of, if it is one."""
    found = call_of(forms, operand, "transpose")
    return inner(forms, found) if found is not None and found.settings == (None,) else None


# Rules: what an operation on some operands comes to; None where there is nothing to say.


def of_matmul(forms: Algebra, operands: Operands, settings: Settings) -> int | None:
    """A vector of ones sums the other operand, an identity is left out; ``v @ A.T`` is ``A @ v``."""
    x, y = operands
    if is_identity(forms, x) or is_identity(forms, y):
        return y[0] if is_identity(forms, x) else x[0]
    for one, other, axis in ((y, x, len(x[1]) - 1), (x, y, 0)):
        if one[0] == forms.one and len(one[1]) == 1:
            return summed(forms, other, axis)
    flipped = untransposed(forms, y) if len(x[1]) == 1 else None
    return forms.structural("matmul", (flipped, x), ()) if flipped is not None else None


def is_identity(forms: Algebra, operand: Operand) -> bool:
    """Whether an operand is a diagonal matrix of ones."""
    found = call_of(forms, operand, "diag")
    return found is not None and len(operand[1]) == 2 and inner(forms, found)[0] == forms.one


def summed(forms: Algebra, operand: Operand, axis: int) -> int:
    """The sums along an axis of a vector or a matrix."""
    if len(operand[1]) == 1:
        return forms.structural("sum", (operand,), (None, False))
    flipped = untransposed(forms, operand)
    if flipped is not None:
        operand, axis = flipped, 1 - axis
    return forms.structural("sum", (operand,), (axis, False))


def of_diag(forms: Algebra, operands: Operands, settings: Settings) -> int | None:
    """The diagonal of a matrix of ones, and of a diagonal matrix."""
    if len(operands[0][1]) == 1:
        return None
    found = call_of(forms, operands[0], "diag")
    return operands[0][0] if operands[0][0] == forms.one else found and inner(forms, found)[0]


def of_dot(forms: Algebra, operands: Operands, settings: Settings) -> int | None:
    """A vector of ones sums the other."""
    for one, other in (operands, operands[::-1]):
        if one[0] == forms.one:
            return summed(forms, other, 0)
    return None


def of_outer(forms: Algebra, operands: Operands, settings: Settings) -> int | None:
    """With a column of ones, every row is the other vector."""
    return operands[1][0] if operands[0][0] == forms.one else None


def of_trace(forms: Algebra, operands: Operands, settings: Settings) -> int | None:
    """The trace of a matrix of ones."""
    form, shape = operands[0]
    return forms.number(Fraction(shape[0])) if form == forms.one else None


def of_softmax(forms: Algebra, operands: Operands, settings: Settings) -> int | None:
    """Equal scores share equally; the setting of a vector's only axis is left out."""
    form, shape = operands[0]
    if forms.shape(form) == ():
        return forms.number(Fraction(1, volume(shape, settings[0])))
    if len(shape) == 1 and settings != (-1,):
        return forms.structural("softmax", operands, (-1,))
    return None


def of_index(forms: Algebra, operands: Operands, settings: Settings) -> int | None:
    """What was joined is taken apart again; what was but repeated is picked from once."""
    (form, shape), (places,) = operands[0], settings
    own = forms.shape(form)
    lead = len(shape) - len(own)
    if lead and own == shape[lead:]:
        rest = ((form, own),), (places[lead:],)
        return forms.structural("index", *rest) if places[lead:] else form
    found = call_of(forms, operands[0], "concat", "stack")
    if found is None or found.settings is None or not places:
        return None
    at, place = len(places) - 1, places[-1]
    if axis_of(found.settings[0], shape) != at or {*places[:-1]} - {(None, None)}:
        return None
    start = 0
    for position, operand in enumerate(found.operands):
        length = forms.shape(operand)[at] if found.kind == "concat" else 1
        if place == (position if found.kind == "stack" else (start, start + length)):
            return unstretched(forms, operand)
        start += length
    return None


def of_transpose(forms: Algebra, operands: Operands, settings: Settings) -> int | None:
    """A transpose of a transpose; ``(A @ B.T).T`` is ``B @ A.T``."""
    if settings != (None,):
        return None
    back = untransposed(forms, operands[0])
    if back is not None:
        return back[0]
    found = call_of(forms, operands[0], "matmul")
    if found is None or len(operands[0][1]) < 2 or forms.weights[operands[0][0]] > LONG:
        return None
    pair = [(operand, forms.shape(operand)) for operand in found.operands]
    backs = [untransposed(forms, operand) for operand in pair]
    if backs == [None, None]:
        return None
    turned = [
        back or transposed(forms, *operand) for back, operand in zip(backs, pair, strict=True)
    ]
    return forms.structural("matmul", (turned[1], turned[0]), ())


def transposed(forms: Algebra, form: int, shape: Shape) -> Operand:
    """An operand's transpose."""
    operand = unstretched(forms, form), shape
    return forms.structural("transpose", (operand,), (None,)), shape[::-1]


def of_reshape(forms: Algebra, operands: Operands, settings: Settings) -> int | None:
    """A reshape that puts a reduction's axes back keeps them; of two reshapes the last counts."""
    (form, shape), (wanted,) = operands[0], settings
    if wanted == shape:
        return form
    if not wanted:
        return forms.structural("sum", operands, (None, False))
    found = call_of(forms, operands[0], "reshape", *REDUCTIONS)
    if found is None or found.settings is None:
        return None
    before = inner(forms, found)
    if found.kind == "reshape":
        return forms.structural("reshape", (before,), settings)
    if wanted == kept(before[1], found.settings[0]):
        return forms.structural(found.kind, (before,), (found.settings[0], True))
    return None


def of_sum(forms: Algebra, operands: Operands, settings: Settings) -> int | None:
    """The sum of ones is their number; the differences from a mean add up to 0."""
    form, shape = operands[0]
    if form == forms.one:
        return forms.number(Fraction(volume(shape, settings[0])))
    gone = axes_of(settings[0], shape)
    terms = dict(found.terms) if isinstance(found := forms.forms[form], Sum) else {}
    for term, coefficient in terms.items():
        mean = forms.forms[term]
        if not isinstance(mean, Call) or mean.kind != "mean" or mean.settings is None:
            continue
        whole = inner(forms, mean)
        aligned = mean.settings[1] or gone == tuple(range(len(gone)))
        same = whole[1] == shape and axes_of(mean.settings[0], shape) == gone
        if aligned and same and terms.get(whole[0]) == -coefficient:
            rest = [item for item in terms.items() if item[0] not in (term, whole[0])]
            return forms.structural("sum", ((forms.sum(rest), shape),), settings)
    return None


Rule = Callable[["Algebra", Operands, Settings], int | None]
RULES: dict[str, Rule] = {
    "diag": of_diag,
    "dot": of_dot,
    "index": of_index,
    "matmul": of_matmul,
    "outer": of_outer,
    "reshape": of_reshape,
    "softmax": of_softmax,
    "sum": of_sum,
    "trace": of_trace,
    "transpose": of_transpose,
}
