"""Softmax, log-sum-exp, and the loss that is made of them.

Sources: C. M. Bishop, Pattern Recognition and Machine Learning (2006), equations 4.106 (softmax) and 4.109
(cross-entropy of softmax); S. Boyd and L. Vandenberghe, Convex Optimization (2004), section 3.1.5, for
log-sum-exp.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from exprgrad.graph.graph import Literal, Settings, Shape, size
from exprgrad.graph.reductions import AXES, folding, reduction_shape, spread_back
from exprgrad.graph.shapes import axes_of, reduced, total
from exprgrad.graph.structural import Mismatch, Nodes, Numbers, Parameter, Pass, Structural, Tensors

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
        definition=softmax_definition, formula=softmax_formula,
    ),
    Structural(
        "reduce_logsumexp", "x", "log(sum(exp(x))) of all numbers, or along an axis",
        reduction_shape, None, logsumexp_pull, logsumexp_push,
        parameters=AXES, spelled="logsumexp", latex=r"\operatorname{logsumexp}(x)", gate="softmax router",
        definition=folding("logsumexp"), formula=logsumexp_formula, elsewhere="log_sum_exp",
    ),
    Structural(
        "cross_entropy", "x y",
        "of scores x: mean over rows of -log(softmax(x)) at the labels y, or weighted by probabilities y",
        cross_entropy_shape, None, cross_entropy_pull, cross_entropy_push,
        latex=r"\operatorname{cross\_entropy}(x, y)", gate="softmax less the targets",
        definition=cross_entropy_definition, labels=cross_entropy_labels, formula=cross_entropy_formula,
        to_number=True, elsewhere="crossentropy",
    ),
    Structural(
        "onehot", "y", "a row for each label from 0 up: 1 in the label's place, 0 elsewhere",
        onehot_shape, None, nothing, nothing,
        parameters=(Parameter("classes", "size", ...),), latex=r"\operatorname{onehot}(y)", gate="blocker",
        labels=lambda shapes, s: (0, s[0]), formula=onehot_formula, elsewhere="one_hot",
    ),
)
# fmt: on
