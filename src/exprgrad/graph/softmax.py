"""Softmax, log-sum-exp, and the loss that is made of them.

Sources: C. M. Bishop, Pattern Recognition and Machine Learning (2006), equations 4.106 (softmax) and 4.109
(cross-entropy of softmax); S. Boyd and L. Vandenberghe, Convex Optimization (2004), section 3.1.5, for
log-sum-exp.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from exprgrad.graph.literal import Settings, Shape, size
from exprgrad.graph.reductions import AXES, folding, reduction_shape, spread_back
from exprgrad.graph.shapes import axes_of, reduced, total
from exprgrad.graph.structural import Mismatch, Nodes, Numbers, Parameter, Pass, Structural

__all__ = ["SOFTMAX"]

LAST = (Parameter("axis", "axes", -1),)


def softmax_shape(shapes: Sequence[Shape], settings: Settings) -> Shape:
    axes_of(settings[0], shapes[0])
    return shapes[0]


def softmax_value(np: Any, operands: Sequence[Any], settings: Settings) -> Any:
    """exp(x)/sum(exp(x)), the greatest x taken off first."""
    (x,) = operands
    axes = axes_of(settings[0], np.shape(x))
    raised = np.exp(x - np.max(x, axis=axes, keepdims=True))
    return raised / np.sum(raised, axis=axes, keepdims=True)


def softmax_definition(b: Numbers, operands: Sequence[int], settings: Settings) -> int:
    """exp(x - log(sum(exp(x))))."""
    (x,) = operands
    return b.apply("exp", b.apply("sub", x, b.fold("logsumexp", x, (settings[0], True))))


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
    axes = axes_of(settings[0], np.shape(x))
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


def cross_entropy_labels(shapes: Sequence[Shape], settings: Settings) -> tuple[int, int] | None:
    """The targets, where they are labels."""
    x, y = shapes
    return (1, x[-1]) if is_labels(x, y) else None


def cross_entropy_value(np: Any, operands: Sequence[Any], settings: Settings) -> Any:
    """The mean over all rows of log(sum(exp(x))) - x at the label, or weighted by probabilities."""
    x, y = operands
    if is_labels(np.shape(x), np.shape(y)):
        y = onehot_value(np, [y], (np.shape(x)[-1],))
    top, excess = top_and_excess(np, x, (-1,))
    gaps = (top - x) + excess
    terms = np.where(y == 0, 0.0, y * gaps)
    return np.sum(terms) / (size(np.shape(x)) // np.shape(x)[-1])


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
        softmax_shape, softmax_value, softmax_pass, softmax_pass,
        parameters=LAST, latex=r"\operatorname{softmax}(x)", gate="competition",
        definition=softmax_definition,
    ),
    Structural(
        "reduce_logsumexp", "x", "log(sum(exp(x))) of all numbers, or along an axis",
        reduction_shape, logsumexp_value, logsumexp_pull, logsumexp_push,
        parameters=AXES, spelled="logsumexp", latex=r"\operatorname{logsumexp}(x)", gate="softmax router",
        definition=folding("logsumexp"),
    ),
    Structural(
        "cross_entropy", "x y",
        "of scores x: mean over rows of -log(softmax(x)) at the labels y, or weighted by probabilities y",
        cross_entropy_shape, cross_entropy_value, cross_entropy_pull, cross_entropy_push,
        latex=r"\operatorname{cross\_entropy}(x, y)", gate="softmax less the targets",
        definition=cross_entropy_definition, labels=cross_entropy_labels,
    ),
    Structural(
        "onehot", "y", "a row for each label from 0 up: 1 in the label's place, 0 elsewhere",
        onehot_shape, onehot_value, nothing, nothing,
        parameters=(Parameter("classes", "size", ...),), latex=r"\operatorname{onehot}(y)", gate="blocker",
        labels=lambda shapes, s: (0, s[0]),
    ),
)
# fmt: on
