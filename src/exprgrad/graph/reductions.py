"""Structural operations that reduce tensors along axes, and the losses made of them.

Sources: Griewank and Walther, Evaluating Derivatives (2008), section 3.2, for sums; C. M. Bishop, Pattern
Recognition and Machine Learning (2006), equations 4.106 (softmax) and 4.109 (cross-entropy of
softmax); S. Boyd and L. Vandenberghe, Convex Optimization (2004), section 3.1.5, for log-sum-exp.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from exprgrad.graph.shapes import axes_of, kept, reduced, spread, total, volume
from exprgrad.graph.structural import (
    Mismatch,
    Nodes,
    Parameter,
    Pass,
    Settings,
    Shape,
    Structural,
    size,
)

__all__ = ["REDUCTIONS"]

AXES = (Parameter("axis", "axes"), Parameter("keepdims", "flag", False))
LAST = (Parameter("axis", "axes", -1),)


def reduction_shape(shapes: Sequence[Shape], settings: Settings) -> Shape:
    return reduced(shapes[0], *settings)


def numpy_axes(settings: Settings, shape: Shape) -> tuple[int, ...]:
    """The axes of a reduction as NumPy takes them."""
    return axes_of(settings[0], shape)


def reducing(name: str) -> Callable[[Any, Sequence[Any], Settings], Any]:
    """A reduction by the array library's own function."""

    def value(np: Any, operands: Sequence[Any], settings: Settings) -> Any:
        (x,), (_, keepdims) = operands, settings
        axes = numpy_axes(settings, np.shape(x))
        return getattr(np, name)(x, axis=axes, keepdims=bool(keepdims))

    return value


def spread_back(b: Nodes, p: Pass, reduction: int) -> int:
    """Something of the result's shape at every place of the operand."""
    return spread(b, reduction, b.shape(p.operand), p.settings[0])


# Sums.


def sum_pull(b: Nodes, p: Pass) -> int:
    """A sum passes its cotangent to every term: Griewank and Walther (2008), section 3.2."""
    return spread_back(b, p, p.given)


def mean_pull(b: Nodes, p: Pass) -> int:
    """A sum's, over the number of terms: Griewank and Walther (2008), section 3.2."""
    count = volume(b.shape(p.operand), p.settings[0])
    return spread_back(b, p, b.apply("div", p.given, b.constant(float(count))))


# Products.


def prod_pull(b: Nodes, p: Pass) -> int:
    """The product of the others, without division, so that zeros do no harm.

    Products of pairs are made level by level and handed down again, as in Griewank and Walther
    (2008), section 3.3 (Speelpenning's product).
    """
    return b.apply("mul", spread_back(b, p, p.given), others(b, p.operand, p.settings[0]))


def prod_push(b: Nodes, p: Pass) -> int:
    """The sum of every number's change times the product of the others."""
    changes = b.apply("mul", p.given, others(b, p.operand, p.settings[0]))
    return b.apply("sum", changes, settings=p.settings)


def prod_shown(b: Nodes, p: Pass) -> int:
    """The product of the others, as a quotient."""
    whole = b.apply("div", spread_back(b, p, p.out), p.operand)
    return b.apply("mul", spread_back(b, p, p.given), whole)


def others(b: Nodes, x: int, axes: Any) -> int:
    """At every place the product of the other numbers along some axes."""
    shape = b.shape(x)
    gone = axes_of(axes, shape)
    stay = tuple([at for at in range(len(shape)) if at not in gone])
    order = stay + gone
    moved = tuple([shape[at] for at in order])
    count = volume(shape, axes)
    flat = (*[shape[at] for at in stay], count)
    if not count > 1:
        return b.apply("broadcast", b.constant(1.0), settings=(shape,))
    rows = b.apply("reshape", b.apply("transpose", x, settings=(order,)), settings=(flat,))
    found = b.apply("reshape", others_of_rows(b, rows), settings=(moved,))
    inverse = tuple(sorted(range(len(order)), key=order.__getitem__))
    return b.apply("transpose", found, settings=(inverse,))


def others_of_rows(b: Nodes, rows: int) -> int:
    """The products of the others along the last axis, by halves."""
    levels = [rows]
    while b.shape(levels[-1])[-1] > 2:
        first, second = halves(b, levels[-1])
        levels.append(b.apply("mul", first, second))
    first, second = halves(b, levels.pop())
    found = b.apply("concat", second, first, settings=(-1,))
    while levels:
        level = levels.pop()
        first, second = halves(b, level)
        found = b.apply(
            "concat", b.apply("mul", found, second), b.apply("mul", found, first), settings=(-1,)
        )
        length = b.shape(level)[-1]
        if length % 2:
            found = part(b, found, 0, length)
    return found


def halves(b: Nodes, rows: int) -> tuple[int, int]:
    """The two halves of the last axis; an odd second one is filled up with a 1."""
    length = b.shape(rows)[-1]
    half = (length + 1) // 2
    second = part(b, rows, half, length)
    if length % 2:
        filler = b.apply("broadcast", b.constant(1.0), settings=((*b.shape(rows)[:-1], 1),))
        second = b.apply("concat", second, filler, settings=(-1,))
    return part(b, rows, 0, half), second


def part(b: Nodes, rows: int, start: int, stop: int) -> int:
    """A slice of the last axis."""
    whole = ((None, None),) * (len(b.shape(rows)) - 1)
    return b.apply("index", rows, settings=((*whole, (start, stop)),))


# Extrema.


def shares(b: Nodes, p: Pass) -> int:
    """1 over the number of ties where the operand equals the result, 0 elsewhere."""
    ties = b.apply("eq", p.operand, spread_back(b, p, p.out))
    count = b.apply("sum", ties, settings=p.settings)
    return b.apply("div", ties, spread_back(b, p, count))


def extremum_pull(b: Nodes, p: Pass) -> int:
    """To the greatest (or least) number; those that tie share equally.

    On pointwise maxima: Boyd and Vandenberghe (2004), section 3.2.3.
    """
    return b.apply("mul", spread_back(b, p, p.given), shares(b, p))


def extremum_push(b: Nodes, p: Pass) -> int:
    """The mean change of those that tie."""
    return b.apply("sum", b.apply("mul", p.given, shares(b, p)), settings=p.settings)


def extremum_kink(np: Any, operands: Sequence[Any], out: Any, settings: Settings) -> Any:
    """Whether several numbers equal the result."""
    (x,) = operands
    axes = numpy_axes(settings, np.shape(x))
    ties = np.sum(x == np.reshape(out, kept(np.shape(x), settings[0])), axis=axes)
    return ties > 1


# Norms.


def norm_value(np: Any, operands: Sequence[Any], settings: Settings) -> Any:
    """The root of the sum of squares, scaled by a power of 2 so that no square overflows."""
    (x,) = operands
    axes = numpy_axes(settings, np.shape(x))
    scale = np.max(np.abs(x), axis=axes, keepdims=True)
    safe = np.where((scale > 0) & np.isfinite(scale), np.ldexp(0.5, np.frexp(scale)[1]), 1.0)
    root = safe * np.sqrt(np.sum((x / safe) ** 2, axis=axes, keepdims=True))
    return np.reshape(root, reduced(np.shape(x), *settings))


def unit(b: Nodes, p: Pass) -> int:
    """The operand over its norm; 0 where the norm is."""
    out = spread_back(b, p, p.out)
    zero = b.apply("eq", out, b.constant(0.0))
    return b.apply("where", zero, b.constant(0.0), b.apply("div", p.operand, out))


def norm_pull(b: Nodes, p: Pass) -> int:
    """Boyd and Vandenberghe (2004), appendix A.4: x/norm(x); at 0 the least subgradient, 0."""
    return b.apply("mul", spread_back(b, p, p.given), unit(b, p))


def norm_push(b: Nodes, p: Pass) -> int:
    """The change along the operand's direction."""
    return b.apply("sum", b.apply("mul", p.given, unit(b, p)), settings=p.settings)


def norm_shown(b: Nodes, p: Pass) -> int:
    """x/norm(x)."""
    ratio = b.apply("div", p.operand, spread_back(b, p, p.out))
    return b.apply("mul", spread_back(b, p, p.given), ratio)


# Softmax and what is made of it.


def softmax_shape(shapes: Sequence[Shape], settings: Settings) -> Shape:
    axes_of(settings[0], shapes[0])
    return shapes[0]


def softmax_value(np: Any, operands: Sequence[Any], settings: Settings) -> Any:
    """exp(x)/sum(exp(x)), the greatest x taken off first."""
    (x,) = operands
    axes = numpy_axes(settings, np.shape(x))
    raised = np.exp(x - np.max(x, axis=axes, keepdims=True))
    return raised / np.sum(raised, axis=axes, keepdims=True)


def softmax_pass(b: Nodes, p: Pass) -> int:
    """Bishop (2006), equation 4.106: the Jacobian diag(out) - out out^T is symmetric."""
    weighted = b.apply("mul", p.out, p.given)
    mean = b.apply("sum", weighted, settings=(p.settings[0], True))
    return b.apply("mul", p.out, b.apply("sub", p.given, mean))


def logsumexp_value(np: Any, operands: Sequence[Any], settings: Settings) -> Any:
    """log(sum(exp(x))), the greatest x taken off first."""
    (x,) = operands
    top, excess = top_and_excess(np, x, settings)
    return np.reshape(top + excess, reduced(np.shape(x), *settings))


def top_and_excess(np: Any, x: Any, settings: Settings) -> tuple[Any, Any]:
    """The greatest number along some axes, and by how much log(sum(exp(x))) is greater.

    The greatest itself is left out of the sum, so that an excess keeps its digits however small it is.
    """
    axes = numpy_axes(settings, np.shape(x))
    top = np.max(x, axis=axes, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    is_top = x == top
    others = np.sum(np.where(is_top, 0.0, np.exp(x - top)), axis=axes, keepdims=True)
    ties = np.sum(is_top, axis=axes, keepdims=True)
    return top, np.log1p(others + (ties - 1.0))


def logsumexp_pull(b: Nodes, p: Pass) -> int:
    """Boyd and Vandenberghe (2004), section 3.1.5: the gradient is softmax(x)."""
    weights = b.apply("softmax", p.operand, settings=p.settings[:1])
    return b.apply("mul", spread_back(b, p, p.given), weights)


def logsumexp_push(b: Nodes, p: Pass) -> int:
    """The mean change, weighted by softmax(x)."""
    weights = b.apply("softmax", p.operand, settings=p.settings[:1])
    return b.apply("sum", b.apply("mul", p.given, weights), settings=p.settings)


def onehot_shape(shapes: Sequence[Shape], settings: Settings) -> Shape:
    return (*shapes[0], settings[0])


def onehot_value(np: Any, operands: Sequence[Any], settings: Settings) -> Any:
    """1 in the place of each label, 0 elsewhere; nan for what is no label."""
    (y,), (classes,) = operands, settings
    labels = np.reshape(y, (*np.shape(y), 1))
    known = (labels == np.floor(labels)) & (labels >= 0) & (labels < classes)
    return np.where(known, 1.0 * (labels == np.arange(classes)), np.nan)


def nothing(b: Nodes, p: Pass) -> None:
    """A label is a choice: no derivative passes."""


def is_labels(logits: Shape, targets: Shape) -> bool:
    """Whether targets are a label for each row of logits, and no probabilities."""
    return len(targets) < len(logits)


def cross_entropy_shape(shapes: Sequence[Shape], settings: Settings) -> Shape:
    x, y = shapes
    if not x:
        raise Mismatch("{op} needs a score for each class", "scores stand along an axis")
    if y not in (x, x[:-1]):
        labels = f"labels of shape {x[:-1]}" if len(x) > 1 else "one label"
        column = len(x) > 1 and y == (*x[:-1], 1)
        help = f"for labels write reshape({{1}}, {list(x[:-1])})" if column else None
        raise Mismatch(f"{{op}} needs {labels}, or probabilities of shape {x}", help)
    return ()


def cross_entropy_value(np: Any, operands: Sequence[Any], settings: Settings) -> Any:
    """The mean over all rows of log(sum(exp(x))) - x at the label, or weighted by probabilities."""
    x, y = operands
    if is_labels(np.shape(x), np.shape(y)):
        y = onehot_value(np, [y], (np.shape(x)[-1],))
    top, excess = top_and_excess(np, x, (-1,))
    gaps = (top - x) + excess
    terms = np.where(y == 0, 0.0, y * gaps)
    return np.sum(terms) / (size(np.shape(x)) // np.shape(x)[-1])


def cross_entropy_slope(b: Nodes, p: Pass) -> int | None:
    """The derivative of a mean cross-entropy by its scores, or by its probabilities.

    Bishop (2006), equation 4.109: softmax(x) less the targets, here over the number of rows.
    """
    x, y = p.operands
    shape = b.shape(x)
    rows = b.constant(float(size(shape) // shape[-1]))
    labels = is_labels(shape, b.shape(y))
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


def cross_entropy_pull(b: Nodes, p: Pass) -> int | None:
    """Bishop (2006), equation 4.109, times the cotangent."""
    slope = cross_entropy_slope(b, p)
    return None if slope is None else b.apply("mul", p.given, slope)


def cross_entropy_push(b: Nodes, p: Pass) -> int | None:
    """The slopes times the changes, summed."""
    slope = cross_entropy_slope(b, p)
    return None if slope is None else total(b, slope, p.given)


# fmt: off
REDUCTIONS = (
    Structural(
        "sum", "x", "the sum of all numbers, or along an axis",
        reduction_shape, reducing("sum"), sum_pull,
        parameters=AXES, latex=r"\sum x", gate="distributor",
    ),
    Structural(
        "mean", "x", "the mean of all numbers, or along an axis",
        reduction_shape, reducing("mean"), mean_pull,
        parameters=AXES, latex=r"\operatorname{mean}(x)", gate="distributor, scaled",
    ),
    Structural(
        "prod", "x", "the product of all numbers, or along an axis",
        reduction_shape, reducing("prod"), prod_pull, prod_push, prod_shown,
        parameters=AXES, latex=r"\prod x", gate="swap multiplier",
    ),
    Structural(
        "reduce_max", "x", "the greatest of all numbers, or along an axis",
        reduction_shape, reducing("max"), extremum_pull, extremum_push,
        parameters=AXES, spelled="max", latex=r"\max x", gate="router",
        kink=extremum_kink, kink_words="several numbers are the greatest",
    ),
    Structural(
        "reduce_min", "x", "the least of all numbers, or along an axis",
        reduction_shape, reducing("min"), extremum_pull, extremum_push,
        parameters=AXES, spelled="min", latex=r"\min x", gate="router",
        kink=extremum_kink, kink_words="several numbers are the least",
    ),
    Structural(
        "norm", "x", "the root of the sum of squares, of all numbers or along an axis",
        reduction_shape, norm_value, norm_pull, norm_push, norm_shown,
        parameters=AXES, latex=r"\left\|x\right\|", gate="scaler, to unit length",
        kink=lambda np, x, out, s: out == 0, kink_words="all its numbers are 0",
    ),
    Structural(
        "softmax", "x", "exp(x)/sum(exp(x)) along an axis, the last by default",
        softmax_shape, softmax_value, softmax_pass, softmax_pass,
        parameters=LAST, latex=r"\operatorname{softmax}(x)", gate="competition",
    ),
    Structural(
        "reduce_logsumexp", "x", "log(sum(exp(x))) of all numbers, or along an axis",
        reduction_shape, logsumexp_value, logsumexp_pull, logsumexp_push,
        parameters=AXES, spelled="logsumexp", latex=r"\operatorname{logsumexp}(x)", gate="softmax router",
    ),
    Structural(
        "cross_entropy", "x y",
        "of scores x: mean over rows of -log(softmax(x)) at the labels y, or weighted by probabilities y",
        cross_entropy_shape, cross_entropy_value, cross_entropy_pull, cross_entropy_push,
        latex=r"\operatorname{cross\_entropy}(x, y)", gate="softmax less the targets",
    ),
    Structural(
        "onehot", "y", "a row for each label from 0 up: 1 in the label's place, 0 elsewhere",
        onehot_shape, onehot_value, nothing, nothing,
        parameters=(Parameter("classes", "size", ...),), latex=r"\operatorname{onehot}(y)", gate="blocker",
    ),
)
# fmt: on
