"""Structural operations that add or multiply along axes, or compare: all at once, or running.

Sources: Griewank and Walther, Evaluating Derivatives (2008), section 3.2, for sums and 3.3 for products;
S. Boyd and L. Vandenberghe, Convex Optimization (2004), appendix A.4, for norms and section 3.1.5 for
log-sum-exp; C. M. Bishop, Pattern Recognition and Machine Learning (2006), equations 4.106 (softmax) and
4.109 (cross-entropy of softmax).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from exprgrad.graph.graph import Literal, Settings, Shape, shape_size
from exprgrad.graph.structural import (
    TINY,
    UNIT,
    NodeBuilder,
    NumberBuilder,
    Parameter,
    Propagation,
    ShapeMismatch,
    Structural,
    TensorBuilder,
    cite_source,
    count_reduced_elements,
    keepdims_shape,
    normalize_axes,
    normalize_axis,
    passes_from_partial,
    reduce_shape,
    spread_back_reduction,
)

__all__ = ["REDUCTIONS"]

AXES = (Parameter("axis", "axes"), Parameter("keepdims", "flag", False))
LAST = (Parameter("axis", "axes", -1),)
RUNNING = (Parameter("axis", "axis"), Parameter("reverse", "flag", False))


LARGEST_EXPONENT = 1023.0
"""The exponent of the greatest power of 2 that is a double."""


Value = Callable[[Any, Sequence[Any], Settings], Any]
"""Computes a result, given an array library, the operands and the settings."""


def reduction_shape(shapes: Sequence[Shape], settings: Settings) -> Shape:
    """Return the operand's shape without the axes, or with size 1 in their places."""
    return reduce_shape(shapes[0], *settings)


def library_reduction(name: str) -> Value:
    """Return a reduction by the array library's own function."""

    def value(np: Any, operands: Sequence[Any], settings: Settings) -> Any:
        (x,), (_, keepdims) = operands, settings
        axes = normalize_axes(settings[0], np.shape(x))
        return getattr(np, name)(x, axis=axes, keepdims=bool(keepdims))

    return value


def fold_definition(kind: str) -> Callable[[NumberBuilder, Sequence[int], Settings], int]:
    """Return a definition that applies an elementwise row over all numbers."""
    return lambda b, operands, settings: b.fold(kind, operands[0], settings)


def spread_back(b: NodeBuilder, p: Propagation, reduction: int) -> int:
    """Spread a node of the result's shape back over the operand's shape."""
    return spread_back_reduction(b, reduction, b.shape(p.operand), p.settings[0])


# Sums.


def mean_vjp(b: NodeBuilder, p: Propagation) -> int:
    """A sum's, over the number of terms: Griewank and Walther (2008), section 3.2."""
    count = count_reduced_elements(b.shape(p.operand), p.settings[0])
    return spread_back(b, p, b.apply("div", p.given, b.constant(float(count))))


# Products.


def product_bound(
    product: Value, count_of: Callable[[Shape, Settings], int]
) -> Callable[[Any, Sequence[Any], Sequence[Any], Any, Settings], Any]:
    """Return the bound of a product: its growth with the errors, and a rounding for each number.

    A partial product that underflows has an absolute bound, times all others.  ``count_of`` says how
    many numbers ``product`` multiplies at most.
    """

    def bound(
        np: Any, operands: Sequence[Any], errors: Sequence[Any], out: Any, settings: Settings
    ) -> Any:
        (x,), (off,) = operands, errors
        sizes, count = np.abs(x), count_of(np.shape(x), settings)
        is_fine = (sizes == 0) & (off == 0)
        most = product(np, [sizes + off], settings)
        others = product(np, [np.where(is_fine, 0.0, np.maximum(sizes + off, 1.0))], settings)
        rounded = count * (2 * UNIT * most + TINY * others) if count > 1 else 0.0
        return most - np.abs(out) + rounded

    return bound


def prod_slope(b: NodeBuilder, p: Propagation) -> int:
    """The product of the other numbers, without division, so that zeros do no harm.

    Products of pairs are made level by level and handed down again, as in Griewank and Walther
    (2008), section 3.3 (Speelpenning's product).
    """
    x, axes, shape = p.operand, p.settings[0], b.shape(p.operand)
    gone = normalize_axes(axes, shape)
    stay = tuple([at for at in range(len(shape)) if at not in gone])
    order = stay + gone
    moved = tuple([shape[at] for at in order])
    count = count_reduced_elements(shape, axes)
    flat = (*[shape[at] for at in stay], count)
    if not count > 1:
        return b.apply("broadcast", b.constant(1.0), settings=(shape,))
    rows = b.apply("reshape", b.apply("transpose", x, settings=(order,)), settings=(flat,))
    found = b.apply("reshape", row_products_of_others(b, rows), settings=(moved,))
    inverse = tuple(sorted(range(len(order)), key=order.__getitem__))
    return b.apply("transpose", found, settings=(inverse,))


def row_products_of_others(b: NodeBuilder, rows: int) -> int:
    """Build the products of the other numbers along the last axis, by halves."""
    levels = [rows]
    while b.shape(levels[-1])[-1] > 2:
        first, second = halve_axis(b, levels[-1])
        levels.append(b.apply("mul", first, second))
    first, second = halve_axis(b, levels.pop())
    found = b.apply("concat", second, first, settings=(-1,))
    while levels:
        level = levels.pop()
        first, second = halve_axis(b, level)
        found = b.apply(
            "concat", b.apply("mul", found, second), b.apply("mul", found, first), settings=(-1,)
        )
        length = b.shape(level)[-1]
        if length % 2:
            found = slice_axis(b, found, 0, length)
    return found


def halve_axis(b: NodeBuilder, rows: int) -> tuple[int, int]:
    """Split the last axis into halves; an odd second half is filled up with a 1."""
    length = b.shape(rows)[-1]
    half = (length + 1) // 2
    second = slice_axis(b, rows, half, length)
    if length % 2:
        filler = b.apply("broadcast", b.constant(1.0), settings=((*b.shape(rows)[:-1], 1),))
        second = b.apply("concat", second, filler, settings=(-1,))
    return slice_axis(b, rows, 0, half), second


def slice_axis(b: NodeBuilder, x: int, start: int, stop: int, axis: int = -1) -> int:
    """Take a slice of an axis, the last by default."""
    whole = ((None, None),) * normalize_axis(axis, b.shape(x))
    return b.apply("index", x, settings=((*whole, (start, stop)),))


# Extrema.


def extremum_slope(b: NodeBuilder, p: Propagation) -> int:
    """The gradient goes to the greatest (or least) number; ties share it equally.

    On pointwise maxima: Boyd and Vandenberghe (2004), section 3.2.3.
    """
    ties = b.apply("eq", p.operand, spread_back(b, p, p.out))
    count = b.apply("sum", ties, settings=p.settings)
    return b.apply("div", ties, spread_back(b, p, count))


def extremum_kink(np: Any, operands: Sequence[Any], out: Any, settings: Settings) -> Any:
    """Tell where several numbers equal the result."""
    (x,) = operands
    axes = normalize_axes(settings[0], np.shape(x))
    ties = np.sum(x == np.reshape(out, keepdims_shape(np.shape(x), settings[0])), axis=axes)
    return ties > 1


def maximum_bound(
    np: Any, operands: Sequence[Any], errors: Sequence[Any], out: Any, settings: Settings
) -> Any:
    """Return the greatest error of the numbers that may be the greatest."""
    (x,), (off,), (axes, keepdims) = operands, errors, settings
    along = normalize_axes(axes, np.shape(x))
    is_known = np.isfinite(off)
    least = np.max(np.where(is_known, x - off, -np.inf), axis=along, keepdims=True)
    may_be = ~is_known | (x + off >= least)
    return np.max(np.where(may_be, off, 0.0), axis=along, keepdims=bool(keepdims))


# Running sums and products.


def scan_axis(axis: int | None, shape: Shape) -> int:
    """Return the axis of a running sum or product; a vector has only one."""
    if axis is None and len(shape) > 1:
        raise ShapeMismatch(
            "{op} needs an axis",
            "axis=0 goes down the columns of a matrix, axis=1 along its rows",
        )
    return normalize_axis(0 if axis is None else axis, shape)


def scan_shape(shapes: Sequence[Shape], settings: Settings) -> Shape:
    scan_axis(settings[0], shapes[0])
    return shapes[0]


def library_scan(name: str) -> Value:
    """Return a running sum or product by the array library's own function."""

    def value(np: Any, operands: Sequence[Any], settings: Settings) -> Any:
        (x,), (axis, reverse) = operands, settings
        at, function = scan_axis(axis, np.shape(x)), getattr(np, name)
        return np.flip(function(np.flip(x, at), at), at) if reverse else function(x, at)

    return value


def cumprod_vjp(b: NodeBuilder, p: Propagation) -> int:
    """Griewank and Walther (2008), section 3.3: without division, so that zeros do no harm."""
    # What later products pass to a number is the cotangent here and, times the next number, what they pass
    # to that; the product of those before is a factor of it all.
    axis, reverse = p.settings
    axis = scan_axis(axis, b.shape(p.operand))
    later = shift_axis(b, p.operand, axis, reverse=not reverse)
    passed = linear_recurrence(b, later, p.given, axis, reverse=not reverse)
    return b.apply("mul", passed, shift_axis(b, p.out, axis, reverse=reverse))


def cumprod_jvp(b: NodeBuilder, p: Propagation) -> int:
    """The product rule step by step: the tangent so far times the next number, plus its own tangent."""
    axis, reverse = p.settings
    axis = scan_axis(axis, b.shape(p.operand))
    own = b.apply("mul", p.given, shift_axis(b, p.out, axis, reverse=reverse))
    return linear_recurrence(b, p.operand, own, axis, reverse=reverse)


def cumprod_vjp_quotient(b: NodeBuilder, p: Propagation) -> int:
    """The cotangent times the results, summed, over the number itself."""
    axis, reverse = p.settings
    reached = b.apply("mul", p.given, p.out)
    whole = b.apply("cumsum", reached, settings=(axis, not reverse))
    return b.apply("div", whole, p.operand)


def join_axis(b: NodeBuilder, first: int, rest: int, axis: int, *, reverse: bool) -> int:
    """Join a first part and the rest along an axis; the other way round if ``reverse``."""
    pair = (rest, first) if reverse else (first, rest)
    return b.apply("concat", *pair, settings=(axis,))


def shift_axis(b: NodeBuilder, x: int, axis: int, *, reverse: bool) -> int:
    """Shift numbers one place later along an axis and put 1 first; one place earlier if ``reverse``."""
    shape = b.shape(x)
    one = b.apply("broadcast", b.constant(1.0), settings=(keepdims_shape(shape, axis),))
    length = shape[axis]
    if length == 1:
        return one
    rest = slice_axis(b, x, 1, length, axis) if reverse else slice_axis(b, x, 0, length - 1, axis)
    return join_axis(b, one, rest, axis, reverse=reverse)


def linear_recurrence(b: NodeBuilder, x: int, y: int, axis: int, *, reverse: bool) -> int:
    """Build out[i] = x[i]*out[i - 1] + y[i] along an axis, out[0] being y[0]; from its end if ``reverse``.

    Two steps become one, then four: W. D. Hillis and G. L. Steele, Data parallel algorithms (1986).
    """
    length, step = b.shape(y)[axis], 1
    while step < length:
        here, before, edge = (step, length), (0, length - step), (0, step)
        if reverse:
            here, before, edge = before, here, (length - step, length)
        factor = slice_axis(b, x, *here, axis)
        change = b.apply("mul", factor, slice_axis(b, y, *before, axis))
        found = b.apply("add", slice_axis(b, y, *here, axis), change)
        factors = b.apply("mul", factor, slice_axis(b, x, *before, axis))
        first, second = (slice_axis(b, node, *edge, axis) for node in (x, y))
        x = join_axis(b, first, factors, axis, reverse=reverse)
        y = join_axis(b, second, found, axis, reverse=reverse)
        step *= 2
    return y


# Norms.


def norm_formula(b: TensorBuilder, operands: Sequence[int], settings: Settings) -> int:
    """Build the root of the sum of squares, scaled by a power of 2 so that no square overflows."""
    (x,) = operands
    along = normalize_axes(settings[0], b.shape(x)), True
    scale = b.apply("reduce_max", b.apply("abs", x), settings=along)
    is_positive = b.apply("gt", scale, b.constant(0.0))
    is_finite = b.apply("lt", b.apply("abs", scale), b.constant(math.inf))
    exponent = b.apply(
        "min", b.apply("floor", b.apply("log2", scale)), b.constant(LARGEST_EXPONENT)
    )
    power = b.apply("pow", b.constant(2.0), exponent)
    safe = b.apply("where", b.apply("mul", is_positive, is_finite), power, b.constant(1.0))
    square = b.apply("pow", b.apply("div", x, safe), b.constant(2.0))
    root = b.apply("mul", safe, b.apply("sqrt", b.apply("sum", square, settings=along)))
    return b.apply("reshape", root, settings=(reduce_shape(b.shape(x), *settings),))


def norm_definition(b: NumberBuilder, operands: Sequence[int], settings: Settings) -> int:
    """Fold hypot over the numbers; for one number take its absolute value."""
    (x,) = operands
    sizes = b.apply("abs", x) if count_reduced_elements(b.shape(x), settings[0]) == 1 else x
    return b.fold("hypot", sizes, settings)


def norm_bound(
    np: Any, operands: Sequence[Any], errors: Sequence[Any], out: Any, settings: Settings
) -> Any:
    """Bound the norm by the norm of the errors (triangle inequality) and a rounding for each number."""
    (x,), (off,), (axes, keepdims) = operands, errors, settings
    along = {"axis": normalize_axes(axes, np.shape(x)), "keepdims": bool(keepdims)}
    count, most = (
        count_reduced_elements(np.shape(x), axes),
        np.max(off, axis=along["axis"], keepdims=True),
    )
    scaled = np.where(most > 0, off / np.where(most > 0, most, 1.0), 0.0)
    carried = np.sqrt(np.sum(scaled * scaled, **along)) * np.reshape(most, np.shape(out))
    return carried + (count / 2 + 4) * UNIT * out if count > 1 else carried


def norm_slope(b: NodeBuilder, p: Propagation) -> int:
    """Boyd and Vandenberghe (2004), appendix A.4: x/norm(x); at 0 the least subgradient, 0."""
    out = spread_back(b, p, p.out)
    zero = b.apply("eq", out, b.constant(0.0))
    return b.apply("where", zero, b.constant(0.0), b.apply("div", p.operand, out))


# Softmax, log-sum-exp, and the loss that is made of them.


def softmax_shape(shapes: Sequence[Shape], settings: Settings) -> Shape:
    normalize_axes(settings[0], shapes[0])
    return shapes[0]


def softmax_formula(b: TensorBuilder, operands: Sequence[int], settings: Settings) -> int:
    """Build exp(x)/sum(exp(x)), with the greatest x subtracted first, also where that is infinite."""
    (x,) = operands
    along = normalize_axes(settings[0], b.shape(x)), True
    top = b.apply("reduce_max", x, settings=along)
    is_top, below = b.apply("eq", x, top), b.apply("sub", x, top)
    raised = b.apply("exp", b.apply("where", is_top, b.constant(0.0), below))
    return b.apply("div", raised, b.apply("sum", raised, settings=along))


class LogSumExpParts(NamedTuple):
    """The parts of log-sum-exp along some axes, and their rounding errors.

    ``top``      the greatest number, 0 if it is not finite; ``is_top`` tells where it is
    ``total``    the sum of exp(x - top); ``more`` is that less 1
    ``weights``  the share of each number in it
    ``carried``  by number, its weight times its error, or more where the error is large
    ``own``      the rounding error of log1p(more)
    """

    top: Any
    is_top: Any
    total: Any
    more: Any
    weights: Any
    carried: Any
    own: Any


def logsumexp_parts(np: Any, x: Any, off: Any, axes: Any) -> LogSumExpParts:
    """Compute the parts of log-sum-exp; errors of d change a weight by a factor of exp(2*d)."""
    along = {"axis": normalize_axes(axes, np.shape(x)), "keepdims": True}
    top = np.max(x, **along)
    top = np.where(abs(top) < math.inf, top, 0.0)
    is_top = x == top
    raised = np.exp(x - top)
    others = np.where(is_top, 0.0, raised)
    more = np.sum(others, **along) + (np.sum(is_top, **along) - 1.0)
    total = 1.0 + more
    weights = raised / total
    carried = weights * off * np.exp(2 * np.max(off, **along))
    steps = np.where(others > 0, abs(x - top), 0.0) + count_reduced_elements(np.shape(x), axes) + 4
    own = UNIT * (np.sum(others * steps, **along) + 3 * np.log1p(more))
    return LogSumExpParts(top, is_top, total, more, weights, carried, own)


def logsumexp_error(np: Any, found: LogSumExpParts, off: Any, along: Mapping[str, Any]) -> Any:
    """Bound the error that log-sum-exp takes from its numbers: never more than the greatest of theirs."""
    return np.minimum(np.sum(found.carried, **along), np.max(off, **along))


def softmax_bound(
    np: Any, operands: Sequence[Any], errors: Sequence[Any], out: Any, settings: Settings
) -> Any:
    """Bound softmax by relative errors: those of exp(x), and of the sum."""
    (x,), (off,) = operands, errors
    along = {"axis": normalize_axes(settings[0], np.shape(x)), "keepdims": True}
    found = logsumexp_parts(np, x, off, settings[0])
    below = np.where(out > 0, abs(x - found.top), 0.0)
    relative = (
        off
        + logsumexp_error(np, found, off, along)
        + UNIT * (below + 2 * count_reduced_elements(np.shape(x), settings[0]) + 8)
    )
    vanished = np.where(out == 0, np.exp(x - found.top + relative), 0.0)
    return out * np.expm1(relative) + vanished + TINY


def apply_softmax_jacobian(b: NodeBuilder, p: Propagation) -> int:
    """Bishop (2006), equation 4.106: the Jacobian diag(out) - out out^T is symmetric."""
    weighted = b.apply("mul", p.out, p.given)
    mean = b.apply("sum", weighted, settings=(p.settings[0], True))
    return b.apply("mul", p.out, b.apply("sub", p.given, mean))


def logsumexp_formula(b: TensorBuilder, operands: Sequence[int], settings: Settings) -> int:
    """Build log(sum(exp(x))), with the greatest x subtracted first."""
    (x,) = operands
    whole = b.apply("add", *maximum_and_excess(b, x, settings))
    return b.apply("reshape", whole, settings=(reduce_shape(b.shape(x), *settings),))


def maximum_and_excess(b: TensorBuilder, x: int, settings: Settings) -> tuple[int, int]:
    """Build the greatest number along some axes, and the excess of log(sum(exp(x))) over it.

    The sum leaves the greatest number out, so that a small excess keeps its digits.
    """
    along, zero = (normalize_axes(settings[0], b.shape(x)), True), b.constant(0.0)
    top = b.apply("reduce_max", x, settings=along)
    is_finite = b.apply("lt", b.apply("abs", top), b.constant(math.inf))
    top = b.apply("where", is_finite, top, zero)
    is_top = b.apply("eq", x, top)
    raised = b.apply("exp", b.apply("sub", x, top))
    others = b.apply("sum", b.apply("where", is_top, zero, raised), settings=along)
    ties = b.apply("sum", is_top, settings=along)
    more = b.apply("add", others, b.apply("sub", ties, b.constant(1.0)))
    return top, b.apply("log1p", more)


def logsumexp_bound(
    np: Any, operands: Sequence[Any], errors: Sequence[Any], out: Any, settings: Settings
) -> Any:
    """Bound log-sum-exp: the errors weighted by softmax(x), and the rounding of sum and logarithm."""
    (x,), (off,) = operands, errors
    along = {"axis": normalize_axes(settings[0], np.shape(x)), "keepdims": True}
    found = logsumexp_parts(np, x, off, settings[0])
    return np.reshape(
        logsumexp_error(np, found, off, along) + found.own, np.shape(out)
    ) + UNIT * abs(out)


def onehot_formula(b: TensorBuilder, operands: Sequence[int], settings: Settings) -> int:
    """Build 1 at the place of each label, 0 elsewhere; nan for an invalid label."""
    (y,), (classes,) = operands, settings
    labels = b.apply("reshape", y, settings=((*b.shape(y), 1),))
    known = b.apply("eq", labels, b.apply("floor", labels))
    known = b.apply("mul", known, b.apply("ge", labels, b.constant(0.0)))
    known = b.apply("mul", known, b.apply("lt", labels, b.constant(float(classes))))
    each = b.literal(Literal((classes,), tuple(map(float, range(classes)))))
    return b.apply("where", known, b.apply("eq", labels, each), b.constant(math.nan))


def pass_nothing(b: NodeBuilder, p: Propagation) -> None:
    """A label is a choice: no derivative passes."""


def has_label_targets(logits: Shape, targets: Shape) -> bool:
    """Whether targets are a label for each row of logits, not probabilities."""
    return len(targets) < len(logits)


def cross_entropy_shape(shapes: Sequence[Shape], settings: Settings) -> Shape:
    x, y = shapes
    if not x:
        raise ShapeMismatch("{op} needs a score for each class", "scores stand along an axis")
    if y not in (x, x[:-1]):
        labels = f"labels of shape {x[:-1]}" if len(x) > 1 else "one label"
        column = len(x) > 1 and y == (*x[:-1], 1)
        raise ShapeMismatch(
            f"{{op}} needs {labels}, or probabilities of shape {x}",
            f"for labels write reshape({{1}}, {list(x[:-1])})" if column else None,
        )
    return ()


def cross_entropy_formula(b: TensorBuilder, operands: Sequence[int], settings: Settings) -> int:
    """Build the mean over all rows of log(sum(exp(x))) - x at the label, or weighted by probabilities."""
    x, y = operands
    shape, zero = b.shape(x), b.constant(0.0)
    if has_label_targets(shape, b.shape(y)):
        y = onehot_formula(b, [y], (shape[-1],))
    top, excess = maximum_and_excess(b, x, (-1,))
    gaps = b.apply("add", b.apply("sub", top, x), excess)
    terms = b.apply("where", b.apply("eq", y, zero), zero, b.apply("mul", y, gaps))
    rows = b.constant(float(shape_size(shape) // shape[-1]))
    return b.apply("div", b.apply("sum", terms, settings=(None, False)), rows)


def cross_entropy_bound(
    np: Any, operands: Sequence[Any], errors: Sequence[Any], out: Any, settings: Settings
) -> Any:
    """Bound the mean by the errors of the gaps log(sum(exp(x))) - x, weighted, and the sum's rounding.

    A score that makes nearly all of the sum hardly changes its gap, for the sum changes with it.
    """
    (x, y), (off, y_off) = operands, errors
    classes = np.shape(x)[-1]
    if has_label_targets(np.shape(x), np.shape(y)):
        y, y_off = 1.0 * (np.asarray(y)[..., None] == np.arange(classes)), np.zeros(np.shape(x))
    found, whole = logsumexp_parts(np, x, off, -1), {"axis": -1, "keepdims": True}
    gaps = (found.top - x) + np.log1p(found.more)
    is_alone = found.is_top & (np.sum(found.is_top, **whole) == 1)
    others = np.sum(np.where(is_alone, 0.0, found.carried), **whole)
    carried = np.where(
        is_alone, others + found.more / found.total * off, np.sum(found.carried, **whole) + off
    )
    each = carried + found.own + UNIT * (2 * abs(found.top - x) + abs(gaps))
    terms = np.where(y == 0, 0.0, abs(y * gaps))
    error = np.where(y == 0, 0.0, abs(y) * each) + np.where(y_off == 0, 0.0, abs(gaps) * y_off)
    rows = shape_size(np.shape(x)) // classes
    return np.sum(error + UNIT * (shape_size(np.shape(x)) + 2) * terms) / rows + 2 * UNIT * abs(out)


def cross_entropy_definition(b: NumberBuilder, operands: Sequence[int], settings: Settings) -> int:
    """Build the sum of the gaps at the labels, or weighted by probabilities, over the number of rows."""
    x, y = operands
    shape = b.shape(x)
    gaps = b.apply("sub", b.fold("logsumexp", x, (-1, True)), x)
    if has_label_targets(shape, b.shape(y)):
        label = b.apply("onehot", y, settings=(shape[-1],))
        terms = b.apply("where", label, gaps, b.constant(0.0))
    else:
        terms = b.apply("mul", y, gaps)
    rows = b.constant(float(shape_size(shape) // shape[-1]))
    return b.apply("div", b.fold("add", terms, (None, False)), rows)


def cross_entropy_slope(b: NodeBuilder, p: Propagation) -> int | None:
    """Bishop (2006), equation 4.109, times the cotangent."""
    x, y = p.operands
    shape = b.shape(x)
    # The slope of a mean: softmax(x) less the targets, over the number of rows.
    rows = b.constant(float(shape_size(shape) // shape[-1]))
    labels = has_label_targets(shape, b.shape(y))
    if p.position == 1:
        if labels:
            return None
        whole = b.apply("reduce_logsumexp", x, settings=(-1, True))
        return b.apply("div", b.apply("sub", whole, x), rows)
    weights = b.apply("softmax", x, settings=(-1,))
    if labels:
        targets = b.apply("onehot", y, settings=(shape[-1],))
    else:
        targets = y
        weights = b.apply("mul", weights, b.apply("sum", y, settings=(-1, True)))
    return b.apply("div", b.apply("sub", weights, targets), rows)


# fmt: off
REDUCTIONS = (
    Structural(
        "sum", "x", "the sum of all numbers, or along an axis",
        reduction_shape, library_reduction("sum"),
        cite_source(
            "A sum passes its cotangent to every term: Griewank and Walther (2008), section 3.2.",
            lambda b, p: spread_back(b, p, p.given),
        ),
        parameters=AXES, latex=r"\sum x", gate="distributor",
    ),
    Structural(
        "mean", "x", "the mean of all numbers, or along an axis",
        reduction_shape, library_reduction("mean"), mean_vjp,
        parameters=AXES, latex=r"\operatorname{mean}(x)", gate="distributor, scaled",
        averages=True, foreign_names="average",
    ),
    Structural(
        "prod", "x", "the product of all numbers, or along an axis",
        reduction_shape, library_reduction("prod"), **passes_from_partial(
            prod_slope, lambda b, p: b.apply("div", spread_back(b, p, p.out), p.operand)
        ),
        bound=product_bound(
            library_reduction("prod"), lambda shape, s: count_reduced_elements(shape, s[0])
        ),
        parameters=AXES, latex=r"\prod x", gate="swap multiplier", foreign_names="product",
    ),
    Structural(
        "reduce_max", "x", "the greatest of all numbers, or along an axis",
        reduction_shape, library_reduction("max"), **passes_from_partial(extremum_slope),
        parameters=AXES, spelled="max", latex=r"\max x", gate="router",
        kink=extremum_kink, kink_words="several numbers are the greatest", averages=True,
        definition=fold_definition("max"), bound=maximum_bound, foreign_names="amax",
    ),
    Structural(
        "reduce_min", "x", "the least of all numbers, or along an axis",
        reduction_shape, library_reduction("min"), **passes_from_partial(extremum_slope),
        parameters=AXES, spelled="min", latex=r"\min x", gate="router",
        kink=extremum_kink, kink_words="several numbers are the least", averages=True,
        definition=fold_definition("min"), foreign_names="amin",
        bound=lambda np, x, off, out, s: maximum_bound(np, [-x[0]], off, out, s),
    ),
    Structural(
        "norm", "x", "the root of the sum of squares, of all numbers or along an axis",
        reduction_shape, None, **passes_from_partial(
            norm_slope, lambda b, p: b.apply("div", p.operand, spread_back(b, p, p.out))
        ),
        parameters=AXES, latex=r"\left\|x\right\|", gate="scaler, to unit length",
        kink=lambda np, x, out, s: out == 0, kink_words="all its numbers are 0",
        definition=norm_definition, fallback=norm_formula, bound=norm_bound,
    ),
    Structural(
        "cumsum", "x", "the sum so far, number by number along an axis; from its end if reverse",
        scan_shape, library_scan("cumsum"),
        cite_source(
            "Each number gets the sum over the results that contain it: Griewank and Walther (2008), 3.2.",
            lambda b, p: b.apply("cumsum", p.given, settings=(p.settings[0], not p.settings[1])),
        ),
        parameters=RUNNING, latex=r"\operatorname{cumsum}(x)", gate="distributor",
        terms=lambda shapes, s: shapes[0][scan_axis(s[0], shapes[0])],
        foreign_names="Accumulate cumulative_sum",
    ),
    Structural(
        "cumprod", "x", "the product so far, number by number along an axis; from its end if reverse",
        scan_shape, library_scan("cumprod"), cumprod_vjp, cumprod_jvp, cumprod_vjp_quotient,
        parameters=RUNNING, latex=r"\operatorname{cumprod}(x)", gate="swap multiplier",
        bound=product_bound(library_scan("cumprod"), lambda shape, s: shape[scan_axis(s[0], shape)]),
        foreign_names="cumulative_prod",
    ),
    Structural(
        "softmax", "x", "exp(x)/sum(exp(x)) along an axis, the last by default",
        softmax_shape, None, apply_softmax_jacobian, apply_softmax_jacobian,
        parameters=LAST, latex=r"\operatorname{softmax}(x)", gate="competition",
        definition=lambda b, x, s: b.apply(
            "exp", b.apply("sub", x[0], b.fold("logsumexp", x[0], (s[0], True)))
        ),
        fallback=softmax_formula, bound=softmax_bound,
    ),
    Structural(
        "reduce_logsumexp", "x", "log(sum(exp(x))) of all numbers, or along an axis",
        reduction_shape, None, **passes_from_partial(cite_source(
            "Boyd and Vandenberghe (2004), section 3.1.5: the gradient is softmax(x).",
            lambda b, p: b.apply("softmax", p.operand, settings=p.settings[:1]),
        )),
        parameters=AXES, spelled="logsumexp", latex=r"\operatorname{logsumexp}(x)", gate="softmax router",
        definition=fold_definition("logsumexp"), fallback=logsumexp_formula, bound=logsumexp_bound,
        foreign_names="log_sum_exp",
    ),
    Structural(
        "cross_entropy", "x y",
        "of scores x: mean over rows of -log(softmax(x)) at the labels y, or weighted by probabilities y",
        cross_entropy_shape, None,
        **passes_from_partial(cross_entropy_slope, along=lambda *_: (None, False)),
        latex=r"\operatorname{cross\_entropy}(x, y)", gate="softmax less the targets",
        definition=cross_entropy_definition, fallback=cross_entropy_formula, bound=cross_entropy_bound,
        labels=lambda shapes, s: (1, shapes[0][-1]) if has_label_targets(*shapes) else None,
        to_number=True, foreign_names="crossentropy",
    ),
    Structural(
        "onehot", "y", "a row for each label from 0 up: 1 in the label's place, 0 elsewhere",
        lambda shapes, s: (*shapes[0], s[0]), None, pass_nothing, pass_nothing,
        parameters=(Parameter("classes", "size", ...),), latex=r"\operatorname{onehot}(y)", gate="blocker",
        labels=lambda shapes, s: (0, s[0]), fallback=onehot_formula,
        # where a label has an error it may be another one
        bound=lambda np, y, off, out, s: np.where(off[0][..., None] == 0, 0.0 * out, 1.0),
        foreign_names="one_hot",
    ),
)
# fmt: on
