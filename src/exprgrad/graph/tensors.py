"""The structural rows of the op table, by name; here those that move numbers about.

Each of these is linear, and its transpose moves them back.  Sources: Griewank and Walther, Evaluating
Derivatives (2008), section 3.2: a statement that copies or adds is reversed by one that adds or copies; M.
Giles, An extended collection of matrix derivative results (2008), section 2.2, for transposes, traces and
diagonals.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from exprgrad.graph.graph import Literal, Settings, Shape, shape_size
from exprgrad.graph.linear_algebra import LINEAR_ALGEBRA
from exprgrad.graph.reductions import REDUCTIONS
from exprgrad.graph.structural import (
    NodeBuilder,
    Parameter,
    Propagation,
    ShapeMismatch,
    Structural,
    TensorBuilder,
    broadcast_shape,
    cite_source,
    normalize_axis,
    shape_text,
    sum_to_shape,
)

__all__ = ["STRUCTURAL", "WORDS", "axis_permutation", "axis_ranges", "index_text"]

AXIS_0 = Parameter("axis", "axis", 0)

# Shapes that stay full.


def axis_permutation(settings: Settings, shape: Shape) -> tuple[int, ...]:
    """Return the axes in their new order."""
    (axes,) = settings
    if axes is None:
        return tuple(range(len(shape)))[::-1]
    found = tuple([normalize_axis(axis, shape) for axis in axes])
    if sorted(found) != list(range(len(shape))):
        order = list(range(len(shape)))
        raise ShapeMismatch(
            "{op} needs each axis of {0} once, in a new order",
            f"the reverse order is axes={order[::-1]}" if order else "a number has no axes",
        )
    return found


def transpose_vjp(b: NodeBuilder, p: Propagation) -> int:
    """The inverse permutation: Giles (2008), section 2.2.1, for matrices."""
    if p.settings[0] is None:
        return b.apply("transpose", p.given, settings=(None,))
    order = axis_permutation(p.settings, b.shape(p.operand))
    inverse = tuple(sorted(range(len(order)), key=order.__getitem__))
    return b.apply("transpose", p.given, settings=(inverse,))


def reshape_shape(shapes: Sequence[Shape], settings: Settings) -> Shape:
    (x,), (wanted,) = shapes, settings
    count = shape_size(x)
    if wanted.count(-1) > 1:
        raise ShapeMismatch("{op} can work out one size only, and more than one is -1")
    if -1 in wanted:
        known = -shape_size(wanted)
        if known and count % known == 0:
            return tuple([count // known if length == -1 else length for length in wanted])
    if -1 in wanted or shape_size(wanted) != count:
        needed = f"a multiple of {-shape_size(wanted)}" if -1 in wanted else str(shape_size(wanted))
        numbers = "numbers" if needed != "1" else "number"
        raise ShapeMismatch(
            f"{{op}} to {list(wanted)} needs {needed} {numbers}, and {{0}} has {count}"
        )
    return tuple(wanted)


# Repeating and picking.


def broadcast_to_shape(shapes: Sequence[Shape], settings: Settings) -> Shape:
    (x,), (wanted,) = shapes, settings
    try:
        fits = broadcast_shape([x, wanted]) == wanted
    except ShapeMismatch:
        fits = False
    if not fits:
        raise ShapeMismatch(
            f"{{op}} cannot stretch {{0}} to {list(wanted)}",
            "sizes are matched from the last, and only a size 1 stretches",
        )
    return tuple(wanted)


def linspace_shape(shapes: Sequence[Shape], settings: Settings) -> Shape:
    for at, shape in enumerate(shapes):
        if shape:
            first = ", ".join("0" * len(shape))
            raise ShapeMismatch(
                "{op} needs numbers", f"one number of it is {{{at}}}[{first}]", (at,)
            )
    return (settings[0],)


def linspace_formula(b: TensorBuilder, operands: Sequence[int], settings: Settings) -> int:
    """Build a and b weighted by the way left and the way done, so that both ends are exact."""
    (start, end), (count,) = operands, settings
    steps = b.literal(Literal((count,), tuple(map(float, range(count)))))
    last = b.constant(float(max(count - 1, 1)))
    done = b.apply("div", steps, last)
    left = b.apply("div", b.apply("sub", last, steps), last)
    return b.apply("add", b.apply("mul", start, left), b.apply("mul", end, done))


def linspace_weights(b: NodeBuilder, p: Propagation) -> int:
    """Build an end's weight in each number: from 1 to 0 for the first end, from 0 to 1 for the second."""
    ends = [b.constant(float(at == p.position)) for at in (0, 1)]
    return b.apply("linspace", *ends, settings=p.settings)


Place = int | tuple[int | None, int | None]


def axis_range(place: Place, length: int, at: int) -> tuple[int, int]:
    """Return where an index or a slice begins and ends on an axis of a length."""
    if isinstance(place, int):
        if not -length <= place < length:
            last = f"0 to {length - 1}" if length > 1 else "0"
            end = f"-1 to {-length}" if length > 1 else "-1"
            raise ShapeMismatch(
                f"index {place} is beyond axis {at}, whose size is {length}",
                f"the indices there are {last}, or from the end {end}",
            )
        return place % length, place % length + 1
    start, stop, _ = slice(*place).indices(length)
    if stop <= start:
        raise ShapeMismatch(
            f"the slice {index_text(place)} holds nothing of axis {at}, whose size is {length}",
            "a slice begins at its first index, and ends before its second",
        )
    return start, stop


def index_text(place: Place) -> str:
    """Write an index or a slice."""
    if isinstance(place, int):
        return str(place)
    return ":".join("" if end is None else str(end) for end in place)


def axis_ranges(shape: Shape, places: Sequence[Place]) -> list[tuple[int, int]]:
    """Return the beginning and end on every axis; an axis without a place is taken whole."""
    if len(places) > len(shape):
        given = "1 index is" if len(places) == 1 else f"{len(places)} indices are"
        axes = "1 axis" if len(shape) == 1 else f"{len(shape)} axes"
        raise ShapeMismatch(
            shape_text(shape, f"{given} given for {axes}", "a number cannot be indexed")
        )
    found = [axis_range(place, shape[at], at) for at, place in enumerate(places)]
    return found + [(0, length) for length in shape[len(places) :]]


def index_shape(shapes: Sequence[Shape], settings: Settings) -> Shape:
    (x,), (places,) = shapes, settings
    ends = axis_ranges(x, places)
    alone = [isinstance(place, int) for place in places] + [False] * (len(x) - len(places))
    return tuple([stop - start for (start, stop), one in zip(ends, alone, strict=True) if not one])


def array_subscript(places: Sequence[Place]) -> tuple[int | slice, ...]:
    """Return the subscript that an array takes."""
    return tuple([place if isinstance(place, int) else slice(*place) for place in places])


def place_shape(shapes: Sequence[Shape], settings: Settings) -> Shape:
    shape, places = settings
    if index_shape([shape], (places,)) != shapes[0]:
        taken = index_shape([shape], (places,))
        at = str([list(place) if isinstance(place, tuple) else place for place in places])
        raise ShapeMismatch(f"{{op}} at={at} of shape={list(shape)} takes {shape_text(taken)}")
    return tuple(shape)


def place_value(np: Any, operands: Sequence[Any], settings: Settings) -> Any:
    """Return zeros with the operand at an index."""
    shape, places = settings
    found = np.zeros(shape)
    found[array_subscript(places)] = operands[0]
    return found


# Joining.


def resolve_join_axis(shapes: Sequence[Shape], axis: int) -> int:
    """Return the axis along which tensors are joined; raise unless their other sizes match."""
    numbers = tuple([position for position, shape in enumerate(shapes) if not shape])
    if numbers:
        alone = len(numbers) < len(shapes) or len(shapes) == 1
        listed = numbers[:1] if alone else numbers[:3]
        vector = ", ".join(f"{{{position}}}" for position in listed)
        more = ", …" if not alone and len(numbers) > len(listed) else ""
        raise ShapeMismatch("{op} needs tensors", f"to make a vector, write [{vector}{more}]")
    at = normalize_axis(axis, shapes[0])
    for position, shape in enumerate(shapes):
        both = 0, position
        if len(shape) != len(shapes[0]):
            raise ShapeMismatch("{op} needs operands with the same number of axes", None, both)
        if (*shape[:at], *shape[at + 1 :]) != (*shapes[0][:at], *shapes[0][at + 1 :]):
            apart = [
                at
                for at, sizes in enumerate(zip(shapes[0], shape, strict=True))
                if len({*sizes}) > 1
            ]
            raise ShapeMismatch(
                f"{{op}} along axis {axis} needs all other sizes to match",
                f"they can be joined along axis={apart[0]}" if len(apart) == 1 else None,
                both,
            )
    return at


def concat_shape(shapes: Sequence[Shape], settings: Settings) -> Shape:
    at = resolve_join_axis(shapes, settings[0])
    whole = sum(shape[at] for shape in shapes)
    return (*shapes[0][:at], whole, *shapes[0][at + 1 :])


def concat_vjp(b: NodeBuilder, p: Propagation) -> int:
    """Each operand gets its own part of the cotangent: Griewank and Walther (2008), section 3.2."""
    at = normalize_axis(p.settings[0], b.shape(p.given))
    start = sum(b.shape(operand)[at] for operand in p.operands[: p.position])
    whole: list[Place] = [(None, None)] * at
    place = (start, start + b.shape(p.operand)[at])
    return b.apply("index", p.given, settings=((*whole, place),))


def stack_shape(shapes: Sequence[Shape], settings: Settings) -> Shape:
    for position, shape in enumerate(shapes):
        if shape != shapes[0]:
            raise ShapeMismatch("{op} needs elements of one shape", None, (0, position))
    at = normalize_axis(settings[0], (*shapes[0], 1))
    return (*shapes[0][:at], len(shapes), *shapes[0][at:])


def stack_vjp(b: NodeBuilder, p: Propagation) -> int:
    """Each operand gets its own slice of the cotangent: Griewank and Walther (2008), section 3.2."""
    at = normalize_axis(p.settings[0], b.shape(p.given))
    whole: list[Place] = [(None, None)] * at
    return b.apply("index", p.given, settings=((*whole, p.position),))


# Diagonals.


def trace_shape(shapes: Sequence[Shape], settings: Settings) -> Shape:
    """Return a number's shape; refuse what is not a square matrix."""
    if len(shapes[0]) != 2 or shapes[0][0] != shapes[0][1]:
        raise ShapeMismatch("{op} needs a square matrix")
    return ()


def diag_shape(shapes: Sequence[Shape], settings: Settings) -> Shape:
    (x,) = shapes
    if len(x) == 1:
        return x * 2
    if len(x) != 2 or x[0] != x[1]:
        raise ShapeMismatch("{op} needs a vector or a square matrix")
    return x[:1]


# fmt: off
MOVES = (
    Structural(
        "transpose", "x", "the axes in reverse, or in the order given by axes; x.T is the same",
        lambda shapes, s: tuple(shapes[0][at] for at in axis_permutation(s, shapes[0])),
        lambda np, x, s: np.transpose(x[0], s[0]), transpose_vjp,
        parameters=(Parameter("axes", "order"),), latex=r"x^{\top}", gate="mover",
        moves=True, foreign_names="permute swapaxes",
    ),
    Structural(
        "reshape", "x", "the same numbers, row by row, in another shape; one size may be -1",
        reshape_shape, lambda np, x, s: np.reshape(x[0], s[0]),
        cite_source(
            "The operand's own shape again: moved back, as in Griewank and Walther (2008), section 3.2.",
            lambda b, p: b.apply("reshape", p.given, settings=(b.shape(p.operand),)),
        ),
        parameters=(Parameter("shape", "shape", ...),), latex=r"\operatorname{reshape}(x)", gate="mover",
        moves=True, foreign_names="view",
    ),
    Structural(
        "broadcast", "x", "x repeated to a shape, as NumPy broadcasts",
        broadcast_to_shape, lambda np, x, s: np.broadcast_to(x[0], s[0]),
        cite_source(
            "A copy passes its cotangent back, so copies add up: Griewank and Walther (2008), section 3.2.",
            lambda b, p: sum_to_shape(b, p.given, b.shape(p.operand)),
        ),
        parameters=(Parameter("shape", "shape", ...),), latex=r"\operatorname{broadcast}(x)", gate="copier",
        moves=True, foreign_names="broadcast_to expand",
    ),
    Structural(
        "linspace", "a b", "n numbers from a to b, equally far apart",
        linspace_shape, None,
        cite_source(
            "Weighted copies of the ends, reversed as in Griewank and Walther (2008), section 3.2.",
            lambda b, p: b.apply(
                "sum", b.apply("mul", p.given, linspace_weights(b, p)), settings=(None, False)
            ),
        ),
        lambda b, p: b.apply("mul", p.given, linspace_weights(b, p)),
        parameters=(Parameter("n", "size", ...),), latex=r"\operatorname{linspace}(a, b)",
        gate="distributor, scaled",
        fallback=linspace_formula,
    ),
    Structural(
        "index", "x", "the numbers at some places: x[0], x[0, 1], x[1:3], x[:, 0]",
        index_shape, lambda np, x, s: x[0][array_subscript(s[0])],
        cite_source(
            "Zeros, with the cotangent where it was taken from: Griewank and Walther (2008), section 3.2.",
            lambda b, p: b.apply("place", p.given, settings=(b.shape(p.operand), p.settings[0])),
        ),
        parameters=(Parameter("at", "places", ...),), latex=r"x_{at}", gate="picker",
        picks=True, moves=True,
    ),
    Structural(
        "place", "x", "zeros of a shape, with x at some places",
        place_shape, place_value,
        cite_source(
            "Take the part out again: Griewank and Walther (2008), section 3.2.",
            lambda b, p: b.apply("index", p.given, settings=(p.settings[1],)),
        ),
        parameters=(Parameter("shape", "shape", ...), Parameter("at", "places", ...)),
        latex=r"\operatorname{place}(x)", gate="mover",
    ),
    Structural(
        "concat", "x...", "tensors one after the other along an axis",
        concat_shape, lambda np, x, s: np.concatenate(x, s[0]), concat_vjp,
        parameters=(AXIS_0,), latex=r"\operatorname{concat}(x, \ldots)", gate="joiner",
        foreign_names="cat concatenate",
    ),
    Structural(
        "stack", "x...", "tensors of one shape side by side along a new axis; [x, y] is the same",
        stack_shape, lambda np, x, s: np.stack(x, s[0]), stack_vjp,
        parameters=(AXIS_0,), latex=r"\left[x, \ldots\right]", gate="joiner",
    ),
    Structural(
        "trace", "x", "the sum of a square matrix's diagonal",
        trace_shape, lambda np, x, s: np.trace(x[0]),
        cite_source(
            "The identity times the cotangent: Giles (2008), section 2.2, with C = tr(A).",
            lambda b, p: b.apply(
                "diag", b.apply("broadcast", p.given, settings=(b.shape(p.operand)[:1],)), settings=()
            ),
        ),
        latex=r"\operatorname{tr}(x)", gate="copier, to the diagonal", to_number=True,
        terms=lambda shapes, s: shapes[0][0], foreign_names="tr",
    ),
    Structural(
        "diag", "x", "the diagonal matrix of a vector; the diagonal of a square matrix",
        diag_shape, lambda np, x, s: np.diag(x[0]),
        cite_source(
            "A diagonal is read where it is written, and written where it is read: Giles (2008), "
            "section 2.2.",
            lambda b, p: b.apply("diag", p.given, settings=()),
        ),
        latex=r"\operatorname{diag}(x)", gate="mover", terms=lambda shapes, s: 1,
    ),
)
# fmt: on


# All rows.


STRUCTURAL: dict[str, Structural] = {
    row.name: row for row in (*LINEAR_ALGEBRA, *REDUCTIONS, *MOVES)
}
WORDS: dict[str, Structural] = {row.word: row for row in STRUCTURAL.values() if row.name != "index"}
"""The rows by the word that users write before the operands."""

for row in STRUCTURAL.values():
    if row.value is None and row.fallback is None:
        raise ValueError(f"the row '{row.name}' needs a value or a formula")
