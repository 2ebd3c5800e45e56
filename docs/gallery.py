"""The gallery of the op table: each operation's curve above its derivative, as a small SVG.

``exprgrad plot`` finds the points and what is worth a mark; they are drawn here in few bytes, without
Matplotlib, and in colours that can be seen on light pages and on dark ones.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from exprgrad import Op, parse
from exprgrad.show.picture.curves import Plot
from exprgrad.show.text.lines import decimal_text
from exprgrad.solvers.curves.curve import Feature

__all__ = ["call_along", "curve_text", "draw_curve", "plot_operation"]

ENDS = {
    "asin": 1.5, "acos": 1.5, "atanh": 1.2, "erfinv": 1.2, "logit": 1.2, "norminv": 1.2, "asech": 1.2,
    "acoth": 3.0, "exp": 3.0, "exp2": 3.0, "expm1": 3.0, "relu6": 8.0,
}  # fmt: skip
"""The ends of a curve on both sides of 0, where they are not 4."""
FIXED = {"lo": -1.0, "hi": 1.0, "x": 1.0}
"""The other operands of a curve; those without a value here are 2."""

WIDTH, MARGIN = 240, 34
PANELS = ((8, 96), (112, 64))
"""Top and height of the panels of value and derivative."""
HEIGHT = 192
INK, DATA, GRAD = "#6e7681", "#12906a", "#d4600c"
CLOSEST = 0.2
"""The pixels by which a drawn line may be off."""

Point = tuple[float, float]


def call_along(op: Op) -> tuple[str, dict[str, float]]:
    """Return a call of the operation, and values for its operands but the first."""
    names = [*op.names, "y"][:2] if op.variadic else op.names
    call = f"{op.name}({', '.join(names)})"
    if op.infix:
        call = f"{names[0]} {op.infix} {names[1]}"
    elif op.prefix:
        call = f"{op.prefix}{names[0]}"
    return call, {name: FIXED.get(name, 2.0) for name in names[1:]}


def plot_operation(op: Op) -> Plot:
    """Return the curve along the first operand."""
    call, given = call_along(op)
    end = ENDS.get(op.name, 4.0)
    return parse(call).plot({op.names[0]: (-end, end), **given})


def curve_text(op: Op, plot: Plot) -> str:
    """Describe a curve in words, for screen readers."""
    call, given = call_along(op)
    others = "".join(f", {name} = {decimal_text(value, 3)}" for name, value in given.items())
    marks = [one for one in plot.features if one.kind in ("kink", "cusp", "jump", "pole")]
    found = "".join(f", a {one.kind} at {decimal_text(one.x, 3)}" for one in marks[:3])
    low, high = (decimal_text(end, 3) for end in (plot.curve.low, plot.curve.high))
    return f"{call} and its derivative for {op.names[0]} from {low} to {high}{others}{found}"


def draw_curve(op: Op, plot: Plot) -> str:
    """Return the SVG of an operation's curve."""
    panels = [part for order in (0, 1) for part in draw_panel(plot, order)]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
            f'viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="9" fill="none" '
            'stroke-linejoin="round">',
            f"<title>{escape(curve_text(op, plot))}</title>",
            *panels,
            "</svg>\n",
        ]
    )


def draw_panel(plot: Plot, order: int) -> Iterator[str]:
    """Draw the value, or the derivative: frame, numbers, poles, line, kinks and jumps."""
    found, (top, height) = plot.curve, PANELS[order]
    low, high = found.windows[order]
    right = WIDTH - 6

    def place(x: float, y: float) -> Point:
        across = (x - found.low) / (found.high - found.low)
        return MARGIN + across * (right - MARGIN), top + height * (high - y) / (high - low)

    zero = "" if not low < 0 < high else f"M{MARGIN} {place(0, 0)[1]:.1f}H{right}"
    yield f'<path stroke="{INK}" stroke-width=".6" d="M{MARGIN} {top}V{top + height}H{right}{zero}"/>'
    for y, at in ((high, top + 7), (low, top + height)):
        yield label(MARGIN - 3, at, y, "end")
    if order:
        yield label(MARGIN, top + height + 11, found.low, "start")
        yield label(right, top + height + 11, found.high, "end")
    poles = [place(one.x, high) for one in found.features if one.kind == "pole"]
    for x, _ in poles:
        yield f'<path stroke="{INK}" stroke-dasharray="2" d="M{x:.1f} {top}v{height}"/>'
    drawn = []
    for arc in found.arcs:
        points = zip(arc.x, (arc.value, arc.slope)[order], strict=True)
        pieces = unbroken(place(x, y) if low <= y <= high else None for x, y in points)
        drawn += [path_text(piece) for piece in pieces]
    yield f'<path stroke="{(DATA, GRAD)[order]}" stroke-width="1.6" d="{"".join(drawn)}"/>'
    if not order:
        for one in found.features:
            yield from (draw_mark(*place(one.x, end), end == one.value) for end in marked_ends(one))


def marked_ends(one: Feature) -> list[float]:
    """Return the values at which a kink has a dot, and a jump a dot or a ring."""
    return {"kink": [one.value], "cusp": [one.value], "jump": [one.left, one.right]}.get(
        one.kind, []
    )


def draw_mark(x: float, y: float, filled: bool) -> str:
    """Draw a dot, or a ring where the operation has another value."""
    fill = INK if filled else "none"
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{fill}" stroke="{INK}"/>'


def label(x: float, y: float, value: float, anchor: str) -> str:
    """Write a number beside an axis."""
    shown = decimal_text(value, 2).replace("-", "−")
    return f'<text x="{x}" y="{y}" fill="{INK}" text-anchor="{anchor}">{shown}</text>'


def unbroken(points: Iterable[Point | None]) -> Iterator[list[Point]]:
    """Part points where one is missing."""
    piece: list[Point] = []
    for one in [*points, None]:
        if one is None:
            if len(piece) > 1:
                yield piece
            piece = []
        else:
            piece.append(one)


def path_text(points: Sequence[Point]) -> str:
    """Return the commands of a line, leaving out points that are on it anyway."""
    kept = [0]
    last = len(points) - 1
    while kept[-1] < last:
        kept.append(farthest(points, kept[-1]))
    return "".join(f"{'L' if at else 'M'}{points[at][0]:.1f} {points[at][1]:.1f}" for at in kept)


def farthest(points: Sequence[Point], start: int) -> int:
    """Return the last point to which a straight line passes all between closely."""
    end = start + 1
    while end < len(points) - 1 and all(
        distance(points[at], points[start], points[end + 1]) < CLOSEST
        for at in range(start + 1, end + 1)
    ):
        end += 1
    return end


def distance(point: Point, start: Point, end: Point) -> float:
    """Return how far a point is from a line."""
    across, down = end[0] - start[0], end[1] - start[1]
    area = across * (start[1] - point[1]) - down * (start[0] - point[0])
    return abs(area) / (math.hypot(across, down) or 1.0)


def escape(text: str) -> str:
    """Return a text as it stands in SVG."""
    return text.replace("&", "&amp;").replace("<", "&lt;")
