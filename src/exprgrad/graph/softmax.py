"""Softmax, log-sum-exp, and the loss that is made of them.

Sources: C. M. Bishop, Pattern Recognition and Machine Learning (2006), equations 4.106 (softmax) and 4.109
(cross-entropy of softmax); S. Boyd and L. Vandenberghe, Convex Optimization (2004), section 3.1.5, for
log-sum-exp.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from exprgrad.graph.graph import Literal, Settings, Shape, size
from exprgrad.graph.reductions import AXES, folding, reduction_shape, spread_back
from exprgrad.graph.shapes import axes_of, reduced, total, volume
from exprgrad.graph.structural import (
    TINY,
    UNIT,
    Mismatch,
    Nodes,
    Numbers,
    Parameter,
    Pass,
    Structural,
    Tensors,
)

__all__ = ["SOFTMAX"]

LAST = (Parameter("axis", "axes", -1),)


def softmax_shape(shapes: Sequence[Shape], settings: Settings) -> Shape:
    axes_of(settings[0], shapes[0])
    return shapes[0]


def softmax_formula(b: Tensors, operands: Sequence[int], settings: Settings) -> int:
    """exp(x)/sum(exp(x)), the greatest x taken off first."""
    (x,) = operands
    along = axes_of(settings[0], b.shape(x)), True
    excess = b.apply("sub", x, b.apply("reduce_max", x, settings=along))
    raised = b.apply("exp", excess)
    return b.apply("div", raised, b.apply("sum", raised, settings=along))


def softmax_definition(b: Numbers, operands: Sequence[int], settings: Settings) -> int:
    """exp(x - log(sum(exp(x))))."""
    (x,) = operands
    return b.apply("exp", b.apply("sub", x, b.fold("logsumexp", x, (settings[0], True))))


class Parts(NamedTuple):
    """What log-sum-exp is made of along some axes, and what rounding may have done to it.

    ``top``      the greatest number, and ``is_top`` where it stands; 0 if it is not finite
    ``total``    the sum of exp(x - top), and ``more``, by how much that is above 1
    ``weights``  how much of it each number makes
    ``carried``  by number: its weight times what it is off by, or more where that is much
    ``own``      what log1p(more) may have rounded away
    """

    top: Any
    is_top: Any
    total: Any
    more: Any
    weights: Any
    carried: Any
    own: Any


def parts(np: Any, x: Any, off: Any, axes: Any) -> Parts:
    """The parts of log-sum-exp: a weight changes by a factor of exp(2*d) where numbers are off by d."""
    along = {"axis": axes_of(axes, np.shape(x)), "keepdims": True}
    top = np.max(x, **along)
    top = np.where(abs(top) < math.inf, top, 0.0)
    is_top = x == top
    raised = np.exp(x - top)
    others = np.where(is_top, 0.0, raised)
    more = np.sum(others, **along) + (np.sum(is_top, **along) - 1.0)
    total = 1.0 + more
    weights = raised / total
    carried = weights * off * np.exp(2 * np.max(off, **along))
    steps = np.where(others > 0, abs(x - top), 0.0) + volume(np.shape(x), axes) + 4
    own = UNIT * (np.sum(others * steps, **along) + 3 * np.log1p(more))
    return Parts(top, is_top, total, more, weights, carried, own)


def softmax_bound(
    np: Any, operands: Sequence[Any], errors: Sequence[Any], out: Any, settings: Settings
) -> Any:
    """Relative errors: those of exp(x), and of the sum."""
    (x,), (off,) = operands, errors
    along = {"axis": axes_of(settings[0], np.shape(x)), "keepdims": True}
    found = parts(np, x, off, settings[0])
    carried = np.minimum(np.sum(found.carried, **along), np.max(off, **along))
    below = np.where(out > 0, abs(x - found.top), 0.0)
    relative = off + carried + UNIT * (below + 2 * volume(np.shape(x), settings[0]) + 8)
    vanished = np.where(out == 0, np.exp(x - found.top + relative), 0.0)
    return out * np.expm1(relative) + vanished + TINY


def softmax_pass(b: Nodes, p: Pass) -> int:
    """Bishop (2006), equation 4.106: the Jacobian diag(out) - out out^T is symmetric."""
    weighted = b.apply("mul", p.out, p.given)
    mean = b.apply("sum", weighted, settings=(p.settings[0], True))
    return b.apply("mul", p.out, b.apply("sub", p.given, mean))


def logsumexp_formula(b: Tensors, operands: Sequence[int], settings: Settings) -> int:
    """log(sum(exp(x))), the greatest x taken off first."""
    (x,) = operands
    whole = b.apply("add", *top_and_excess(b, x, settings))
    return b.apply("reshape", whole, settings=(reduced(b.shape(x), *settings),))


def top_and_excess(b: Tensors, x: int, settings: Settings) -> tuple[int, int]:
    """The greatest number along some axes, and by how much log(sum(exp(x))) is greater.

    The greatest itself is left out of the sum, so that an excess keeps its digits however small it is.
    """
    along, zero = (axes_of(settings[0], b.shape(x)), True), b.constant(0.0)
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
    """The numbers' errors, weighted by softmax(x), and what the sum and its logarithm round away."""
    (x,), (off,) = operands, errors
    along = {"axis": axes_of(settings[0], np.shape(x)), "keepdims": True}
    found = parts(np, x, off, settings[0])
    carried = np.minimum(np.sum(found.carried, **along), np.max(off, **along))
    return np.reshape(carried + found.own, np.shape(out)) + UNIT * abs(out)


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


def onehot_formula(b: Tensors, operands: Sequence[int], settings: Settings) -> int:
    """1 in the place of each label, 0 elsewhere; nan for what is not a label."""
    (y,), (classes,) = operands, settings
    labels = b.apply("reshape", y, settings=((*b.shape(y), 1),))
    known = b.apply("eq", labels, b.apply("floor", labels))
    known = b.apply("mul", known, b.apply("ge", labels, b.constant(0.0)))
    known = b.apply("mul", known, b.apply("lt", labels, b.constant(float(classes))))
    each = b.literal(Literal((classes,), tuple(map(float, range(classes)))))
    return b.apply("where", known, b.apply("eq", labels, each), b.constant(math.nan))


def onehot_bound(
    np: Any, operands: Sequence[Any], errors: Sequence[Any], out: Any, settings: Settings
) -> Any:
    """A label that is off may be another one."""
    return np.where(errors[0][..., None] == 0, 0.0 * out, 1.0)


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


def cross_entropy_labels(shapes: Sequence[Shape], settings: Settings) -> tuple[int, int] | None:
    """The targets, where they are labels."""
    x, y = shapes
    return (1, x[-1]) if is_labels(x, y) else None


def cross_entropy_formula(b: Tensors, operands: Sequence[int], settings: Settings) -> int:
    """The mean over all rows of log(sum(exp(x))) - x at the label, or weighted by probabilities."""
    x, y = operands
    shape, zero = b.shape(x), b.constant(0.0)
    if is_labels(shape, b.shape(y)):
        y = onehot_formula(b, [y], (shape[-1],))
    top, excess = top_and_excess(b, x, (-1,))
    gaps = b.apply("add", b.apply("sub", top, x), excess)
    terms = b.apply("where", b.apply("eq", y, zero), zero, b.apply("mul", y, gaps))
    rows = b.constant(float(size(shape) // shape[-1]))
    return b.apply("div", b.apply("sum", terms, settings=(None, False)), rows)


def cross_entropy_bound(
    np: Any, operands: Sequence[Any], errors: Sequence[Any], out: Any, settings: Settings
) -> Any:
    """What each gap log(sum(exp(x))) - x is off by, weighted as the gaps are, and the rounding of the sum.

    A gap does not change with the score that stands for nearly all of the sum, which is then the same.
    """
    (x, y), (off, y_off) = operands, errors
    classes = np.shape(x)[-1]
    if is_labels(np.shape(x), np.shape(y)):
        y, y_off = 1.0 * (np.asarray(y)[..., None] == np.arange(classes)), np.zeros(np.shape(x))
    found, whole = parts(np, x, off, -1), {"axis": -1, "keepdims": True}
    gaps = (found.top - x) + np.log1p(found.more)
    is_alone = found.is_top & (np.sum(found.is_top, **whole) == 1)
    others = np.sum(np.where(is_alone, 0.0, found.carried), **whole)
    carried = np.where(
        is_alone, others + found.more / found.total * off, np.sum(found.carried, **whole) + off
    )
    each = carried + found.own + UNIT * (2 * abs(found.top - x) + abs(gaps))
    terms = np.where(y == 0, 0.0, abs(y * gaps))
    error = np.where(y == 0, 0.0, abs(y) * each) + np.where(y_off == 0, 0.0, abs(gaps) * y_off)
    rows = size(np.shape(x)) // classes
    return np.sum(error + UNIT * (size(np.shape(x)) + 2) * terms) / rows + 2 * UNIT * abs(out)


def cross_entropy_definition(b: Numbers, operands: Sequence[int], settings: Settings) -> int:
    """The gaps at the labels, or weighted by probabilities, added up and divided by the number of rows."""
    x, y = operands
    shape = b.shape(x)
    gaps = b.apply("sub", b.fold("logsumexp", x, (-1, True)), x)
    if is_labels(shape, b.shape(y)):
        label = b.apply("onehot", y, settings=(shape[-1],))
        terms = b.apply("where", label, gaps, b.constant(0.0))
    else:
        terms = b.apply("mul", y, gaps)
    rows = b.constant(float(size(shape) // shape[-1]))
    return b.apply("div", b.fold("add", terms, (None, False)), rows)


def cross_entropy_slope(b: Nodes, p: Pass) -> int | None:
    """The derivative of a mean cross-entropy with respect to its scores, or to its probabilities.

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
SOFTMAX = (
    Structural(
        "softmax", "x", "exp(x)/sum(exp(x)) along an axis, the last by default",
        softmax_shape, None, softmax_pass, softmax_pass,
        parameters=LAST, latex=r"\operatorname{softmax}(x)", gate="competition",
        definition=softmax_definition, formula=softmax_formula, bound=softmax_bound,
    ),
    Structural(
        "reduce_logsumexp", "x", "log(sum(exp(x))) of all numbers, or along an axis",
        reduction_shape, None, logsumexp_pull, logsumexp_push,
        parameters=AXES, spelled="logsumexp", latex=r"\operatorname{logsumexp}(x)", gate="softmax router",
        definition=folding("logsumexp"), formula=logsumexp_formula, bound=logsumexp_bound,
        elsewhere="log_sum_exp",
    ),
    Structural(
        "cross_entropy", "x y",
        "of scores x: mean over rows of -log(softmax(x)) at the labels y, or weighted by probabilities y",
        cross_entropy_shape, None, cross_entropy_pull, cross_entropy_push,
        latex=r"\operatorname{cross\_entropy}(x, y)", gate="softmax less the targets",
        definition=cross_entropy_definition, labels=cross_entropy_labels, formula=cross_entropy_formula,
        bound=cross_entropy_bound,
        to_number=True, elsewhere="crossentropy",
    ),
    Structural(
        "onehot", "y", "a row for each label from 0 up: 1 in the label's place, 0 elsewhere",
        onehot_shape, None, nothing, nothing,
        parameters=(Parameter("classes", "size", ...),), latex=r"\operatorname{onehot}(y)", gate="blocker",
        labels=lambda shapes, s: (0, s[0]), formula=onehot_formula, bound=onehot_bound, elsewhere="one_hot",
    ),
)
# fmt: on
