"""Structural operations that add or multiply along axes, or compare: all at once, or running.

Sources: Griewank and Walther, Evaluating Derivatives (2008), section 3.2, for sums and 3.3 for products;
S. Boyd and L. Vandenberghe, Convex Optimization (2004), appendix A.4, for norms.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from exprgrad.graph.graph import Settings, Shape
from exprgrad.graph.shapes import axes_of, axis_of, kept, reduced, spread, volume
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

__all__ = ["AXES", "REDUCTIONS", "folding", "reduction_shape", "spread_back"]

AXES = (Parameter("axis", "axes"), Parameter("keepdims", "flag", False))
RUNNING = (Parameter("axis", "axis"), Parameter("reverse", "flag", False))


LARGEST_EXPONENT = 1023.0
"""That of the greatest power of 2 that is a double."""
Slope = Callable[[Nodes, Pass], int]
"""Builds a result's derivative with respect to each number of the operand."""


def reduction_shape(shapes: Sequence[Shape], settings: Settings) -> Shape:
    """The operand's shape without the axes, or with size 1 in their places."""
    return reduced(shapes[0], *settings)


def reducing(name: str) -> Callable[[Any, Sequence[Any], Settings], Any]:
    """A reduction by the array library's own function."""

    def value(np: Any, operands: Sequence[Any], settings: Settings) -> Any:
        (x,), (_, keepdims) = operands, settings
        axes = axes_of(settings[0], np.shape(x))
        return getattr(np, name)(x, axis=axes, keepdims=bool(keepdims))

    return value


def folding(kind: str) -> Callable[[Numbers, Sequence[int], Settings], int]:
    """A reduction as an elementwise row over all its numbers."""
    return lambda b, operands, settings: b.fold(kind, operands[0], settings)


def spread_back(b: Nodes, p: Pass, reduction: int) -> int:
    """Something of the result's shape at every place of the operand."""
    return spread(b, reduction, b.shape(p.operand), p.settings[0])


def by_slope(slope: Slope, shown: Slope | None = None) -> dict[str, Any]:
    """What a reduction passes back and forward, given its derivative with respect to each number."""

    def pull(b: Nodes, p: Pass, slope: Slope = slope) -> int:
        return b.apply("mul", spread_back(b, p, p.given), slope(b, p))

    def push(b: Nodes, p: Pass) -> int:
        return b.apply("sum", b.apply("mul", p.given, slope(b, p)), settings=p.settings)

    pull.__doc__ = slope.__doc__
    shown_pull = shown and partial(pull, slope=shown)
    return {"pull": pull, "push": push, "shown_pull": shown_pull}


# Sums.


def sum_pull(b: Nodes, p: Pass) -> int:
    """A sum passes its cotangent to every term: Griewank and Walther (2008), section 3.2."""
    return spread_back(b, p, p.given)


def mean_pull(b: Nodes, p: Pass) -> int:
    """A sum's, over the number of terms: Griewank and Walther (2008), section 3.2."""
    count = volume(b.shape(p.operand), p.settings[0])
    return spread_back(b, p, b.apply("div", p.given, b.constant(float(count))))


# Products.


def prod_slope(b: Nodes, p: Pass) -> int:
    """The product of the others, without division, so that zeros do no harm.

    Products of pairs are made level by level and handed down again, as in Griewank and Walther
    (2008), section 3.3 (Speelpenning's product).
    """
    return others(b, p.operand, p.settings[0])


def prod_bound(
    np: Any, operands: Sequence[Any], errors: Sequence[Any], out: Any, settings: Settings
) -> Any:
    """By how much the product of the sizes grows with the errors, and a rounding for each number.

    A product of some that underflows is off by an absolute bound, times all others.
    """
    (x,), (off,), (axes, keepdims) = operands, errors, settings
    along = {"axis": axes_of(axes, np.shape(x)), "keepdims": bool(keepdims)}
    sizes, count = np.abs(x), volume(np.shape(x), axes)
    most = np.prod(sizes + off, **along)
    others = np.prod(
        np.where((sizes == 0) & (off == 0), 0.0, np.maximum(sizes + off, 1.0)), **along
    )
    rounded = count * (2 * UNIT * most + TINY * others) if count > 1 else 0.0
    return most - np.abs(out) + rounded


def quotient(b: Nodes, p: Pass) -> int:
    """The product of the others, as a quotient."""
    return b.apply("div", spread_back(b, p, p.out), p.operand)


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


def part(b: Nodes, x: int, start: int, stop: int, axis: int = -1) -> int:
    """A slice of an axis, the last by default."""
    whole = ((None, None),) * axis_of(axis, b.shape(x))
    return b.apply("index", x, settings=((*whole, (start, stop)),))


# Extrema.


def extremum_slope(b: Nodes, p: Pass) -> int:
    """To the greatest (or least) number; those that tie share equally.

    On pointwise maxima: Boyd and Vandenberghe (2004), section 3.2.3.
    """
    ties = b.apply("eq", p.operand, spread_back(b, p, p.out))
    count = b.apply("sum", ties, settings=p.settings)
    return b.apply("div", ties, spread_back(b, p, count))


def extremum_kink(np: Any, operands: Sequence[Any], out: Any, settings: Settings) -> Any:
    """Whether several numbers equal the result."""
    (x,) = operands
    axes = axes_of(settings[0], np.shape(x))
    ties = np.sum(x == np.reshape(out, kept(np.shape(x), settings[0])), axis=axes)
    return ties > 1


def greatest_bound(
    np: Any, operands: Sequence[Any], errors: Sequence[Any], out: Any, settings: Settings
) -> Any:
    """The greatest error of the numbers that may be the greatest."""
    (x,), (off,), (axes, keepdims) = operands, errors, settings
    along = axes_of(axes, np.shape(x))
    is_known = np.isfinite(off)
    least = np.max(np.where(is_known, x - off, -np.inf), axis=along, keepdims=True)
    may_be = ~is_known | (x + off >= least)
    return np.max(np.where(may_be, off, 0.0), axis=along, keepdims=bool(keepdims))


def least_bound(
    np: Any, operands: Sequence[Any], errors: Sequence[Any], out: Any, settings: Settings
) -> Any:
    """The greatest error of the numbers that may be the least."""
    return greatest_bound(np, [-operands[0]], errors, out, settings)


# Running sums and products.


def running_axis(axis: int | None, shape: Shape) -> int:
    """The axis along which something runs; a vector has but one."""
    if axis is None and len(shape) > 1:
        help = "axis=0 goes down the columns of a matrix, axis=1 along its rows"
        raise Mismatch("{op} needs to be told the axis", help)
    return axis_of(0 if axis is None else axis, shape)


def running_shape(shapes: Sequence[Shape], settings: Settings) -> Shape:
    running_axis(settings[0], shapes[0])
    return shapes[0]


def running(name: str) -> Callable[[Any, Sequence[Any], Settings], Any]:
    """What an array library's own function finds on its way along an axis."""

    def value(np: Any, operands: Sequence[Any], settings: Settings) -> Any:
        (x,), (axis, reverse) = operands, settings
        at, function = running_axis(axis, np.shape(x)), getattr(np, name)
        return np.flip(function(np.flip(x, at), at), at) if reverse else function(x, at)

    return value


def cumsum_pull(b: Nodes, p: Pass) -> int:
    """To each number, the sum of what it is in: Griewank and Walther (2008), section 3.2."""
    axis, reverse = p.settings
    return b.apply("cumsum", p.given, settings=(axis, not reverse))


def cumprod_pull(b: Nodes, p: Pass) -> int:
    """Griewank and Walther (2008), section 3.3: without division, so that zeros do no harm."""
    # What later products pass to a number is the cotangent here and, times the next number, what they pass
    # to that; the product of those before is a factor of it all.
    axis, reverse = p.settings
    axis = running_axis(axis, b.shape(p.operand))
    later = shifted(b, p.operand, axis, reverse=not reverse)
    passed = recurrence(b, later, p.given, axis, reverse=not reverse)
    return b.apply("mul", passed, shifted(b, p.out, axis, reverse=reverse))


def cumprod_push(b: Nodes, p: Pass) -> int:
    """The product rule, step by step: the change so far times the next number, and that one's own."""
    axis, reverse = p.settings
    axis = running_axis(axis, b.shape(p.operand))
    own = b.apply("mul", p.given, shifted(b, p.out, axis, reverse=reverse))
    return recurrence(b, p.operand, own, axis, reverse=reverse)


def cumprod_bound(
    np: Any, operands: Sequence[Any], errors: Sequence[Any], out: Any, settings: Settings
) -> Any:
    """As of a product: ``prod_bound``, for every number on the way."""
    (x,), (off,) = operands, errors
    product, sizes = running("cumprod"), np.abs(x)
    is_fine = (sizes == 0) & (off == 0)
    others = product(np, [np.where(is_fine, 0.0, np.maximum(sizes + off, 1.0))], settings)
    most = product(np, [sizes + off], settings)
    count = np.shape(x)[running_axis(settings[0], np.shape(x))]
    return most - np.abs(out) + (count * (2 * UNIT * most + TINY * others) if count > 1 else 0.0)


def cumprod_quotient(b: Nodes, p: Pass) -> int:
    """What reaches a number over the number itself."""
    axis, reverse = p.settings
    reached = b.apply("mul", p.given, p.out)
    whole = b.apply("cumsum", reached, settings=(axis, not reverse))
    return b.apply("div", whole, p.operand)


def joined(b: Nodes, first: int, rest: int, axis: int, *, reverse: bool) -> int:
    """What comes first along an axis, and the rest; the other way round if ``reverse``."""
    pair = (rest, first) if reverse else (first, rest)
    return b.apply("concat", *pair, settings=(axis,))


def shifted(b: Nodes, x: int, axis: int, *, reverse: bool) -> int:
    """The numbers one place later along an axis, a 1 before them all; one place earlier if ``reverse``."""
    shape = b.shape(x)
    one = b.apply("broadcast", b.constant(1.0), settings=(kept(shape, axis),))
    length = shape[axis]
    if length == 1:
        return one
    rest = part(b, x, 1, length, axis) if reverse else part(b, x, 0, length - 1, axis)
    return joined(b, one, rest, axis, reverse=reverse)


def recurrence(b: Nodes, x: int, y: int, axis: int, *, reverse: bool) -> int:
    """out[i] = x[i]*out[i - 1] + y[i] along an axis, out[0] being y[0]; from its end if ``reverse``.

    Steps are made one of two, then of four: W. D. Hillis and G. L. Steele, Data parallel algorithms (1986).
    """
    length, step = b.shape(y)[axis], 1
    while step < length:
        here, before, edge = (step, length), (0, length - step), (0, step)
        if reverse:
            here, before, edge = before, here, (length - step, length)
        factor = part(b, x, *here, axis)
        change = b.apply("mul", factor, part(b, y, *before, axis))
        found = b.apply("add", part(b, y, *here, axis), change)
        factors = b.apply("mul", factor, part(b, x, *before, axis))
        first, second = (part(b, node, *edge, axis) for node in (x, y))
        x = joined(b, first, factors, axis, reverse=reverse)
        y = joined(b, second, found, axis, reverse=reverse)
        step *= 2
    return y


# Norms.


def norm_formula(b: Tensors, operands: Sequence[int], settings: Settings) -> int:
    """The root of the sum of squares, scaled by a power of 2 so that no square overflows."""
    (x,) = operands
    along = axes_of(settings[0], b.shape(x)), True
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
    return b.apply("reshape", root, settings=(reduced(b.shape(x), *settings),))


def norm_definition(b: Numbers, operands: Sequence[int], settings: Settings) -> int:
    """The length in two dimensions again and again; of one number, its size."""
    (x,) = operands
    sizes = b.apply("abs", x) if volume(b.shape(x), settings[0]) == 1 else x
    return b.fold("hypot", sizes, settings)


def norm_bound(
    np: Any, operands: Sequence[Any], errors: Sequence[Any], out: Any, settings: Settings
) -> Any:
    """The norm of the errors, by the triangle inequality, and a rounding for each number."""
    (x,), (off,), (axes, keepdims) = operands, errors, settings
    along = {"axis": axes_of(axes, np.shape(x)), "keepdims": bool(keepdims)}
    count, most = volume(np.shape(x), axes), np.max(off, axis=along["axis"], keepdims=True)
    scaled = np.where(most > 0, off / np.where(most > 0, most, 1.0), 0.0)
    carried = np.sqrt(np.sum(scaled * scaled, **along)) * np.reshape(most, np.shape(out))
    return carried + (count / 2 + 4) * UNIT * out if count > 1 else carried


def norm_slope(b: Nodes, p: Pass) -> int:
    """Boyd and Vandenberghe (2004), appendix A.4: x/norm(x); at 0 the least subgradient, 0."""
    out = spread_back(b, p, p.out)
    zero = b.apply("eq", out, b.constant(0.0))
    return b.apply("where", zero, b.constant(0.0), b.apply("div", p.operand, out))


def unit(b: Nodes, p: Pass) -> int:
    """x/norm(x)."""
    return b.apply("div", p.operand, spread_back(b, p, p.out))


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
        averages=True, elsewhere="average",
    ),
    Structural(
        "prod", "x", "the product of all numbers, or along an axis",
        reduction_shape, reducing("prod"), **by_slope(prod_slope, quotient),
        bound=prod_bound, parameters=AXES, latex=r"\prod x", gate="swap multiplier", elsewhere="product",
    ),
    Structural(
        "reduce_max", "x", "the greatest of all numbers, or along an axis",
        reduction_shape, reducing("max"), **by_slope(extremum_slope),
        parameters=AXES, spelled="max", latex=r"\max x", gate="router",
        kink=extremum_kink, kink_words="several numbers are the greatest", averages=True,
        definition=folding("max"), bound=greatest_bound, elsewhere="amax",
    ),
    Structural(
        "reduce_min", "x", "the least of all numbers, or along an axis",
        reduction_shape, reducing("min"), **by_slope(extremum_slope),
        parameters=AXES, spelled="min", latex=r"\min x", gate="router",
        kink=extremum_kink, kink_words="several numbers are the least", averages=True,
        definition=folding("min"), bound=least_bound, elsewhere="amin",
    ),
    Structural(
        "norm", "x", "the root of the sum of squares, of all numbers or along an axis",
        reduction_shape, None, **by_slope(norm_slope, unit),
        parameters=AXES, latex=r"\left\|x\right\|", gate="scaler, to unit length",
        kink=lambda np, x, out, s: out == 0, kink_words="all its numbers are 0",
        definition=norm_definition, formula=norm_formula, bound=norm_bound,
    ),
    Structural(
        "cumsum", "x", "the sum so far, number by number along an axis; from its end if reverse",
        running_shape, running("cumsum"), cumsum_pull,
        parameters=RUNNING, latex=r"\operatorname{cumsum}(x)", gate="distributor",
        terms=lambda shapes, s: shapes[0][running_axis(s[0], shapes[0])],
        elsewhere="Accumulate cumulative_sum",
    ),
    Structural(
        "cumprod", "x", "the product so far, number by number along an axis; from its end if reverse",
        running_shape, running("cumprod"), cumprod_pull, cumprod_push, cumprod_quotient,
        parameters=RUNNING, latex=r"\operatorname{cumprod}(x)", gate="swap multiplier",
        bound=cumprod_bound, elsewhere="cumulative_prod",
    ),
)
# fmt: on
