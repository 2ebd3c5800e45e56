"""Structural operations that reduce tensors along axes.

Sources: Griewank and Walther, Evaluating Derivatives (2008), section 3.2, for sums and 3.3 for products;
S. Boyd and L. Vandenberghe, Convex Optimization (2004), appendix A.4, for norms.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from exprgrad.graph.graph import Settings, Shape
from exprgrad.graph.shapes import axes_of, kept, reduced, spread, volume
from exprgrad.graph.structural import (
    TINY,
    UNIT,
    Nodes,
    Numbers,
    Parameter,
    Pass,
    Structural,
    Tensors,
)

__all__ = ["AXES", "REDUCTIONS", "folding", "reduction_shape", "spread_back"]

AXES = (Parameter("axis", "axes"), Parameter("keepdims", "flag", False))


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


def part(b: Nodes, rows: int, start: int, stop: int) -> int:
    """A slice of the last axis."""
    whole = ((None, None),) * (len(b.shape(rows)) - 1)
    return b.apply("index", rows, settings=((*whole, (start, stop)),))


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
)
# fmt: on
