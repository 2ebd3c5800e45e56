"""A formula's curve over a range: its points, its breaks, and the points to mark."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from exprgrad.errors import InputError, RequestError, command_or_python
from exprgrad.explain.descent import Descent
from exprgrad.graph.graph import Graph, refuse_tensors
from exprgrad.language.write.infix import number_text
from exprgrad.run.values.inputs import as_number, is_range, missing_values, resolve_inputs
from exprgrad.run.values.ranges import Interval, as_interval
from exprgrad.solvers.curves.breaks import (
    BREAKS,
    ENDS,
    Brackets,
    Break,
    brackets_of_changes,
    break_of_curve,
    halve_brackets,
    is_continuous,
    simplest_number,
)  # fmt: skip
from exprgrad.solvers.curves.sampling import (
    FIRST_POINTS,
    JET_BITS,
    LONGEST_AXIS,
    ORDERS,
    SEEN,
    UNSEEN_RISE,
    Jets,
    Plane,
    Samples,
    blurred_values,
    first_points,
    jets_of,
    legible_jets,
    merge_samples,
    overlapping_intervals,
    refine_samples,
    rough_parts,
    sample_plane,
    uneven_parts,
    value_window,
)  # fmt: skip

__all__ = [
    "Arc", "Curve", "Feature", "Tangent", "curve_or_plane", "plane_with_descent", "trace_curve",
]  # fmt: skip

USUAL = Interval(-10.0, 10.0)
"""The default range of a single input."""
MOST_BREAKS = 256
"""The most places examined for breaks; more could not be seen."""
DENSE = 12
"""A curve that is unresolved in this many parts in a row oscillates."""
LEAST_WIDTH = 1e-300
"""The least width of a range."""
TOUCHING = 0.01
"""Parts nearer to each other than this part of the range are joined."""
SMOOTH = 1e-3
"""The part that remains of a bracket's rise between two adjacent doubles, if the curve is smooth there."""
QUICK_PROOFS = 4
"""The parts in which a bracket is proved smooth; else it counts as a break."""
DOUBTFUL = 1e-9
"""Values below this part of most others may be rounding: balls decide."""
LEVEL = 1e-12
"""A curve that rises by less than this part of itself is level up to rounding."""
SAME = 16
"""Points fewer ulps apart are the same."""
TANGENT_STEP = 1e-9
"""The relative step to both sides of a point, for the slopes there."""
APART = 1e-3
"""The difference of these slopes that excludes a tangent."""


CROSSINGS = (("root",), ("minimum", "maximum"), ("inflection",))
"""The features where the value, the slope or the second derivative crosses 0."""


class Feature(NamedTuple):
    """A point of a curve that deserves a mark.

    ``kind``             ``root``, ``minimum``, ``maximum``, ``inflection``, ``kink``, ``cusp``, ``jump``,
                         ``pole``, ``hole`` or ``edge`` (the formula is defined on one side alone)
    ``x``, ``value``     the place, and the formula's value there
    ``left``, ``right``  the limits on both sides: of the value at poles, jumps and holes, else of the slope
    """

    kind: str
    x: float
    value: float
    left: float
    right: float


class Arc(NamedTuple):
    """A part of a curve without breaks: points from left to right, with value and derivatives."""

    x: list[float]
    value: list[float]
    slope: list[float]
    second: list[float]


class Tangent(NamedTuple):
    """The tangent at a point: through the ``value`` there, with that ``slope``."""

    x: float
    value: float
    slope: float

    def at(self, x: float) -> float:
        """Return the height of the line."""
        return self.value + self.slope * (x - self.x)


class Curve(NamedTuple):
    """A formula along one input, from ``low`` to ``high``, the others being as ``given``.

    ``arcs``      parts drawn one by one; neighbours may meet
    ``windows``   the least and greatest shown, of the value and each derivative
    ``features``  the points to mark, from left to right
    ``dense``     where the curve turns or breaks too often to show; nothing is marked there
    ``tangent``   the requested tangent
    ``is_sparse`` whether points take so long that only few were sampled
    ``lost``      at how many of the ``points`` the value and each derivative are left out because
                  their lost digits made them impossible to place
    """

    text: str
    name: str
    low: float
    high: float
    given: dict[str, float]
    arcs: list[Arc]
    windows: list[tuple[float, float]]
    features: list[Feature]
    dense: list[tuple[float, float]]
    tangent: Tangent | None = None
    is_sparse: bool = False
    lost: tuple[int, ...] = (0,) * ORDERS
    points: int = 0


@np.errstate(all="ignore")  # a range may be as wide as all doubles, or as narrow as the least
def trace_curve(
    text: str,
    graph: Graph,
    name: str,
    low: float,
    high: float,
    given: Mapping[str, float],
    shown: tuple[float, float] | None = None,
    tangent_at: float | None = None,
) -> Curve:
    """Trace the curve of a formula of numbers over the range of an input.

    ``shown`` is the range of values to show; ``tangent_at`` is the place of a requested tangent.
    """
    jets = jets_of(graph, (name,), given)
    start, first, windows, (lost, noisy) = first_samples(jets, low, high, shown)
    samples = true_signs(jets, refine_samples(jets, start, windows[:2], lost=lost[1]))
    is_seen = ~overlapping_intervals(samples.x[:-1], samples.x[1:], lost[1])
    dense = long_runs(samples, rough_parts(samples, 0, windows[0]) & is_seen)
    brackets = eventful_parts(samples, windows, dense, lost, noisy)
    if len(brackets.sort) > jets.affordable:
        more = [(start, stop) for start, stop in brackets.first.T.tolist()]
        dense = join_close_parts(sorted([*dense, *more]), low, high)
        brackets = eventful_parts(samples, windows, dense, lost, noisy)
    narrow = halve_brackets(jets, brackets)
    found = [classify_bracket(jets, narrow, at) for at in range(len(narrow.sort))]
    breaks, more = breaks_at(jets, narrow, [at for at, one in enumerate(found) if one is BROKEN])
    dense = join_close_parts(sorted([*dense, *more]), low, high)
    smooth = [one for one in found if isinstance(one, Feature)]
    for order in (1, 0):
        smooth += between_turns(jets, samples, order, smooth)
    features = distinct_features(jets, smooth, breaks, dense)
    steep = [tuple(one) for at, one in enumerate(narrow.first.T.tolist()) if found[at] is STEEP]
    windows = value_windows(first, features, shown, is_dense=bool(dense))
    places = {one.x for one in features} - {one.x for one in breaks}
    samples = merge_samples(jets, samples, np.array(sorted(places)))
    joined = join_close_parts(sorted(steep), low, high, 0.0)
    samples = refine_samples(jets, samples, windows[:2], joined, lost[1])
    features = sorted([*features, *at_ends(samples, features)], key=attrgetter("x", "kind"))
    samples, gaps, counts = drop_unplaceable_samples(
        jets, samples, windows, [one.x for one in breaks]
    )
    breaks = [*gaps, *(one for one in breaks if one.kind or not all(one.joined))]
    drawn = [*curve_arcs(samples, sorted(breaks, key=attrgetter("x")))]
    line = None if tangent_at is None else tangent_line(jets, tangent_at)
    return Curve(
        text, name, low, high, dict(given), drawn, windows, features, dense, line,
        jets.most < 2 * FIRST_POINTS, counts, len(samples.x),
    )  # fmt: skip


def tangent_line(jets: Jets, x: float) -> Tangent:
    """Return the tangent at a point.  Raises ``RequestError`` where there is none."""
    value, slope, _ = jets([x])[:, 0].tolist()
    sides = [jets.beside(x, sign * TANGENT_STEP * max(abs(x), TANGENT_STEP)) for sign in (-1, 1)]
    if not (math.isfinite(value) and math.isfinite(slope)):
        raise RequestError(
            "no-tangent",
            f"there is no tangent at {jets.names[0]} = {number_text(x)}: "
            f"the value is {number_text(value)}, the derivative {number_text(slope)}",
        )
    slopes = [side[1] for side in sides]
    if abs(slopes[0] - slopes[1]) > APART * max(abs(slopes[0]), abs(slopes[1]), abs(slope)):
        raise RequestError(
            "no-tangent",
            f"there is no tangent at {jets.names[0]} = {number_text(x)}: the slopes are "
            f"{number_text(slopes[0])} on the left and {number_text(slopes[1])} on the right",
        )
    return Tangent(x, value, slope)


def value_windows(
    samples: Samples,
    features: Sequence[Feature] = (),
    shown: tuple[float, float] | None = None,
    *,
    is_dense: bool = False,
) -> list[tuple[float, float]]:
    """Return the window of the value, ``shown`` if chosen, and of each derivative.

    Features within reach are in it.
    """
    found: list[tuple[float, float]] = []
    size = 0.0
    span = float(samples.x[-1] - samples.x[0])
    runs_off = is_dense or any(one.kind in ("pole", "cusp") for one in features)
    heights = [one.value for one in features if math.isfinite(one.value) and one.kind != "pole"]
    slopes = [
        one.right for one in features if one.kind == "inflection" and math.isfinite(one.right)
    ]
    for order, (values, kept) in enumerate(zip(samples.jets, (heights, slopes, []), strict=True)):
        low, high = value_window(values, kept, runs_off=runs_off)
        size = max(size, abs(low), abs(high))
        least = divide_by_power(LEVEL * size, span, order)
        if not high - low > least + LEVEL * max(abs(low), abs(high)):
            middle = low / 2 + high / 2
            half = abs(middle) / 2 if abs(middle) > least else 1.0
            low, high = middle - half, middle + half
        found.append((max(low, -LONGEST_AXIS), min(high, LONGEST_AXIS)))
    return found if shown is None else [shown, *found[1:]]


Parts = list[list[tuple[float, float]]]
"""Parts of a range, by order."""


def first_samples(
    jets: Jets, low: float, high: float, shown: tuple[float, float] | None
) -> tuple[Samples, Samples, list[tuple[float, float]], list[Parts]]:
    """Return a curve's first samples, the same without illegible numbers, and the windows of the latter.

    Last come, by order, the parts of the range in which rounding is visible, and those in which it may
    look like a rise.
    """
    x = first_points(low, high, jets.most // 2)
    found = jets(x)
    off = jets.errors(found, x)
    first = Samples(
        x, legible_jets(found, off, lambda kept: value_windows(Samples(x, kept), shown=shown))
    )
    windows, start = value_windows(first, shown=shown), Samples(x, found)
    parts = []
    for part in (SEEN, UNSEEN_RISE):  # of a window's height
        lost = [blurred_values(*one, part) for one in zip(found, off, windows, strict=True)]
        # Where a number is off, those of higher orders count as off, too.
        rows = np.logical_or.accumulate(lost)
        parts.append([long_runs(start, row[:-1] | row[1:]) for row in rows])
    return start, first, windows, parts


def drop_unplaceable_samples(
    jets: Jets,
    samples: Samples,
    windows: Sequence[tuple[float, float]],
    known: Sequence[float],
) -> tuple[Samples, list[Break], tuple[int, ...]]:
    """Drop the numbers that cannot be placed; return the samples, the breaks that this makes, and counts.

    Beside ``known`` breaks the limits are drawn.
    """
    lost = np.array(
        [*map(blurred_values, samples.jets, jets.errors(samples.jets, samples.x), windows)]
    )
    for x in known:
        lost[:, np.abs(samples.x - x) <= SAME * np.spacing(abs(x))] = False
    starts = samples.x[lost[0] & ~np.concatenate([[False], lost[0, :-1]])].tolist()
    nothing = (math.nan,) * ORDERS
    gaps = [Break(x, nothing, nothing, math.nan, ()) for x in starts]
    left = Samples(samples.x, np.where(lost, math.nan, samples.jets))
    return left, gaps, tuple(np.count_nonzero(lost, axis=1).tolist())


def divide_by_power(size: float, span: float, order: int) -> float:
    """Divide a size by a power of a span, which may be beyond the doubles."""
    for _ in range(order):
        size /= span
    return size


def true_signs(jets: Jets, samples: Samples) -> Samples:
    """Replace samples that may be rounding by their true numbers."""
    x, found = samples
    sizes = [
        float(np.median(np.abs(row[np.isfinite(row)]))) if np.isfinite(row).any() else 0.0
        for row in found
    ]
    span = float(x[-1] - x[0])
    doubtful = np.zeros(len(x), dtype=bool)
    for order, row in enumerate(found):
        if row.any():
            doubtful |= np.abs(row) <= max(
                DOUBTFUL * sizes[order], divide_by_power(LEVEL * sizes[0], span, order)
            )
    found = found.copy()
    for at in np.nonzero(doubtful)[0][: jets.balls]:
        found[:, at] = jets.beside(float(x[at]), 0.0)
    return Samples(x, found)


def long_runs(samples: Samples, marked: Any) -> list[tuple[float, float]]:
    """Find where many parts in a row are marked."""
    places = np.nonzero(marked)[0]
    runs = np.split(places, np.nonzero(np.diff(places) > 2)[0] + 1)
    return [
        (float(samples.x[run[0]]), float(samples.x[run[-1] + 1]))
        for run in runs
        if len(run) >= DENSE
    ]


def join_close_parts(
    parts: Sequence[tuple[float, float]], low: float, high: float, close: float = TOUCHING
) -> list[tuple[float, float]]:
    """Join parts that are close to each other, or overlap, from left to right."""
    found: list[tuple[float, float]] = []
    for start, stop in parts:
        if found and start - found[-1][1] <= close * (high - low):
            start, stop = found[-1][0], max(stop, found[-1][1])
            found.pop()
        found.append((start, stop))
    return found


def eventful_parts(
    samples: Samples,
    windows: Sequence[tuple[float, float]],
    dense: Sequence[tuple[float, float]],
    lost: Sequence[Sequence[tuple[float, float]]],
    noisy: Sequence[Sequence[tuple[float, float]]],
) -> Brackets:
    """Return the brackets in which something happens, outside dense parts.

    Where digits are ``lost`` nothing is detected; where they are ``noisy`` no rise is odd.
    """
    x, found = samples
    clear, calm = (
        np.array([~overlapping_intervals(x[:-1], x[1:], parts) for parts in orders])
        for orders in (lost, noisy)
    )
    free = ~overlapping_intervals(x[:-1], x[1:], join_close_parts(dense, x[0], x[-1]))
    finite = np.isfinite(found)
    both, sides = finite[:, :-1] & finite[:, 1:], found >= 0
    changing = both & clear & (sides[:, :-1] != sides[:, 1:])
    events = [*changing, finite[0, :-1] != finite[0, 1:]]  # by the sort of a bracket
    for order, (low, high) in enumerate(windows[: ORDERS - 1]):
        odd = uneven_parts(samples, order, high - low) & calm[order + 1]
        bent = odd | rough_parts(samples, order, (low, high))
        events.append(bent & both[order] & both[order + 1] & clear[order + 1])
    parts = [
        brackets_of_changes(samples, sort, np.nonzero(happens & free)[0])
        for sort, happens in enumerate(events)
    ]
    return Brackets(*(np.concatenate(columns, axis=-1) for columns in zip(*parts, strict=True)))


def between_turns(
    jets: Jets, samples: Samples, order: int, smooth: Sequence[Feature]
) -> list[Feature]:
    """Find the roots, or extrema, that come in pairs between two samples, around a turn.

    They are where the value, or the derivative of ``order``, changes sign beside the turn.
    """
    turns = [one.x for one in smooth if one.kind in CROSSINGS[order + 1]]
    merged = merge_samples(jets, samples, np.array(turns))
    is_turn = np.isin(merged.x, np.setdiff1d(turns, samples.x))
    sides, finite = merged.jets[order] >= 0, np.isfinite(merged.jets[order])
    crossed = (sides[:-1] != sides[1:]) & finite[:-1] & finite[1:] & (is_turn[:-1] | is_turn[1:])
    narrow = halve_brackets(jets, brackets_of_changes(merged, order, np.nonzero(crossed)[0]))
    found = [classify_bracket(jets, narrow, at) for at in range(len(narrow.sort))]
    return [one for one in found if isinstance(one, Feature)]


BROKEN = "broken"
"""The content of a bracket that holds a break."""
STEEP = "steep"
"""The content of a bracket in which the curve is only steep."""


def classify_bracket(jets: Jets, narrow: Brackets, at: int) -> Feature | str:
    """Classify what a narrowed bracket holds; an empty text for nothing."""
    sort = int(narrow.sort[at])
    order = 0 if sort == ENDS else sort - BREAKS if sort > ENDS else sort
    least, most = float(narrow.least[order, at]), float(narrow.most[order, at])
    first, last = (float(x) for x in narrow.first[:, at])
    before, after = jets([first, last])[order].tolist()
    rise = abs(after - before) if sort > ENDS else max(abs(before), abs(after))
    ends = float(narrow.low[at]), float(narrow.high[at])
    is_smooth = abs(most - least) <= SMOOTH * rise
    if sort < ENDS and not is_smooth:  # which rounding may make of what is smooth
        around = max(ends[1] - ends[0], math.ulp(ends[0]))
        is_smooth = is_continuous(jets, order, ends[0], around, QUICK_PROOFS)
    if sort == ENDS or not is_smooth:
        return BROKEN
    return STEEP if sort > ENDS else crossing_feature(jets, order, first, last, ends)


def breaks_at(
    jets: Jets, narrow: Brackets, suspects: Sequence[int]
) -> tuple[list[Break], list[tuple[float, float]]]:
    """Find the breaks among narrowed brackets, from left to right; or, if too many, the part with them."""
    span = float(np.ptp(narrow.first)) if len(suspects) else 0.0
    places: dict[float, int] = {}
    for at in suspects:
        ends = [simplest_number(float(x), span) for x in (narrow.low[at], narrow.high[at])]
        places.setdefault(min(ends, key=lambda x: len(repr(x))), at)
    if len(places) > MOST_BREAKS:
        return [], [(min(places), max(places))]
    breaks: list[Break] = []
    for x, at in sorted(places.items()):
        if breaks and x - breaks[-1].x <= SAME * math.ulp(x):
            continue
        jets_there = narrow.least[:, at].tolist(), narrow.most[:, at].tolist()
        reach = float(narrow.first[1, at] - narrow.first[0, at])
        low, high = float(narrow.low[at]), float(narrow.high[at])
        breaks.append(break_of_curve(jets, x, low, high, jets_there, reach))
    return breaks, []


def distinct_features(
    jets: Jets,
    smooth: Sequence[Feature],
    breaks: Sequence[Break],
    dense: Sequence[tuple[float, float]],
) -> list[Feature]:
    """Return the features of a curve, each once: smooth ones, breaks, and places where it touches 0."""
    found = {(one.kind, one.x): one for one in smooth}
    for each in breaks:
        for kind, x in [*found]:
            if kind != "root" and abs(x - each.x) <= SAME * math.ulp(x):
                del found[kind, x]
        found |= {(one.kind, one.x): one for one in break_features(each)}
    found = {(one.kind, one.x): one for one in touching_roots(jets, [*found.values()])} | found
    return [one for one in found.values() if not any(low < one.x < high for low, high in dense)]


def crossing_feature(
    jets: Jets, order: int, first: float, last: float, ends: tuple[float, float]
) -> Feature | str:
    """Return the feature where the value or a derivative crosses 0 smoothly: root, extremum or inflection.

    Balls check the ``ends`` found in doubles, and halve the bracket anew where much cancels.
    """
    signs = [true_sign(jets, order, x) for x in (first, last)]
    if signs[0] * signs[1] >= 0:
        return ""
    if true_sign(jets, order, ends[0]) == signs[1] or true_sign(jets, order, ends[1]) == signs[0]:
        ends = bracket_true_sign_change(jets, order, first, last, ends, signs[0])
    sizes = [abs(float(jets.truly(x)[order].mid())) for x in ends]
    x = simplest_number(float(ends[0] if sizes[0] < sizes[1] else ends[1]), last - first)
    if abs(x) < LEVEL * (last - first) and jets.truly(0.0)[order].contains(0):
        x = 0.0
    value, slope, second = jets.beside(x, 0.0)
    value, slope = level_at_zero(value, slope, x), level_at_zero(slope, second, x)
    kind = ("root", "minimum" if signs[0] < 0 else "maximum", "inflection")[order]
    return Feature(kind, x, value if order else 0.0, slope, slope)


def level_at_zero(value: float, slope: float, x: float) -> float:
    """Return 0 for a value that is 0 within the accuracy of its point."""
    return 0.0 if abs(value) <= 2 * math.ulp(x) * abs(slope) else value


def true_sign(jets: Jets, order: int, x: float) -> int:
    """Return the sign of the value or a derivative, as far as balls tell it; else 0."""
    for bits in (JET_BITS, 16 * JET_BITS):
        true = jets.truly(x, bits=bits)[order]
        if true > 0 or true < 0 or true.is_zero():
            return 1 if true > 0 else -1 if true < 0 else 0
    return 0


def bracket_true_sign_change(
    jets: Jets, order: int, first: float, last: float, ends: tuple[float, float], sign: int
) -> tuple[float, float]:
    """Find two adjacent doubles between which the value or a derivative truly changes sign.

    The search begins at the ``ends`` found in doubles, in growing steps; ``sign`` is that at ``first``.
    """
    low, high = ends
    start = max(high - low, math.ulp(low))
    step = start
    while low > first and true_sign(jets, order, low) != sign:
        low, high, step = max(low - step, first), low, 2 * step
    step = start
    while high < last and true_sign(jets, order, high) == sign:
        low, high, step = high, min(high + step, last), 2 * step
    while low < (middle := low / 2 + high / 2) < high:
        if true_sign(jets, order, middle) == sign:
            low = middle
        else:
            high = middle
    return low, high


def break_features(one: Break) -> Iterator[Feature]:
    """Yield the features at a break."""
    value = one.value
    if one.joined[0] and math.isfinite(value) and math.isfinite(one.left[0]):
        left, right = one.left[1], one.right[1]
        before, after = left or -one.left[2], right or one.right[2]
        if before * after < 0:
            yield Feature("minimum" if before < 0 else "maximum", one.x, value, left, right)
        if value == 0 or one.left[0] * one.right[0] < 0:
            yield Feature("root", one.x, 0.0, left, right)
        if one.kind == "" and one.left[2] * one.right[2] < 0:
            yield Feature("inflection", one.x, value, left, right)
    value = one.left[0] if one.kind == "hole" else value
    order = 1 if one.kind in ("kink", "cusp", "edge") else 0
    if one.kind:
        yield Feature(one.kind, one.x, value, one.left[order], one.right[order])


def touching_roots(jets: Jets, features: Sequence[Feature]) -> Iterator[Feature]:
    """Yield the roots where a curve touches 0: extrema whose value may be 0 by balls."""
    for one in features:
        if one.kind in ("minimum", "maximum"):
            value = jets.enclosed(one.x, 2 * math.ulp(one.x))[jets.outputs[0] or 0]
            if value.contains(0):
                yield Feature("root", one.x, 0.0, one.left, one.right)


def at_ends(samples: Samples, features: Sequence[Feature]) -> Iterator[Feature]:
    """Yield the roots at the ends of the range, as far as doubles show them."""
    for at in (0, -1):
        x = float(samples.x[at])
        value, slope = samples.jets[:2, at].tolist()
        is_root = 0 < abs(slope) < math.inf and abs(value) <= 4 * math.ulp(x) * abs(slope)
        roots = [one.x for one in features if one.kind == "root"]
        if is_root and all(abs(root - x) > SAME * math.ulp(x) for root in roots):
            yield Feature("root", x, 0.0, slope, slope)


def curve_arcs(samples: Samples, breaks: Sequence[Break]) -> Iterator[Arc]:
    """Yield the samples between breaks, with the limits at their ends."""
    points = np.vstack([samples.x, samples.jets]).T
    for start, stop in zip([None, *breaks], [*breaks, None], strict=True):
        low = -math.inf if start is None else start.x
        high = math.inf if stop is None else stop.x
        inside = points[(samples.x > low) & (samples.x < high)].tolist()
        before = [] if start is None else [(start.x, *start.right)]
        after = [] if stop is None else [(stop.x, *stop.left)]
        rows = [row for row in (*before, *inside, *after) if math.isfinite(row[1])]
        if rows:
            yield Arc(*map(list, zip(*rows, strict=True)))


# What a request asks.


def curve_or_plane(
    graph: Graph,
    text: str,
    given: Mapping[str, object],
    shown: object = None,
    tangent_at: object = None,
) -> Curve | Plane:
    """Trace the curve over the one range among some values, or the plane over two.

    Raises ``InputError`` for values that do not fit, ``RequestError`` for a formula of tensors.
    """
    refuse_tensors(
        graph,
        text,
        "a formula with tensors has no curve to draw",
        help="write the formula with numbers in place of tensors",
    )
    ranges = {
        name: value
        for name, value in given.items()
        if is_range(value) or (isinstance(value, tuple | list) and len(value) == 2)
    }
    values = {name: value for name, value in given.items() if name not in ranges}
    fixed = resolve_inputs(graph, text, {**values, **dict.fromkeys(ranges, 0.0)}, partly=True)
    spans = {name: as_interval(value, name) for name, value in ranges.items()}
    missing = [name for name in graph.inputs if name not in fixed]
    if not spans and len(missing) == 1:
        spans = {missing.pop(): USUAL}
    refuse_undrawable(graph, spans)
    if missing:
        raise missing_values(graph, text, missing)
    others = {name: value for name, value in fixed.items() if name not in spans}
    for name, value in others.items():
        if not isinstance(value, float):
            raise InputError(
                "bad-value",
                f"the value of '{name}' is not a number but a tensor",
                help="a plot takes numbers, and ranges for one input or two",
            )
    window = None if shown is None else as_interval(shown, command_or_python("--y", "shown"))
    if len(spans) == 2:
        if tangent_at is not None:
            raise RequestError("usage", "a tangent is for a curve, over the range of one input")
        return sample_plane(text, graph, spans, others, window)
    at = None if tangent_at is None else as_number(tangent_at, "tangent")
    ((name, (low, high)),) = spans.items()
    return trace_curve(text, graph, name, low, high, others, window, at)


def refuse_undrawable(graph: Graph, spans: Mapping[str, Interval]) -> None:
    """Raise for a range that overflows or underflows in a picture, for none, and for more than two."""
    for name, (low, high) in spans.items():
        if max(-low, high) > LONGEST_AXIS or high - low < LEAST_WIDTH:
            raise InputError(
                "bad-range",
                f"the range of '{name}' is too {'wide' if high > low + 1 else 'narrow'} to draw",
                help=f"up to {number_text(LONGEST_AXIS)} on both sides of 0, "
                f"and {number_text(LEAST_WIDTH)} wide at least",
            )
    if not graph.inputs:
        raise InputError("bad-range", "the formula reads no input that could have a range")
    if not spans:
        first = next(iter(graph.inputs))
        raise InputError(
            "bad-range",
            "no input has a range to draw the curve over",
            help=f"write {first}=LOW:HIGH, such as {first}=-5:5",
        )
    if len(spans) > 2:
        raise InputError(
            "bad-range",
            f"{len(spans)} inputs have ranges: {', '.join(spans)}",
            help="only one or two may have one; give the others values",
        )


def plane_with_descent(found: Plane, course: Descent[Any]) -> Plane:
    """Return the plane with the points of a descent."""
    first, second = found.names
    path = [(step.inputs[first], step.inputs[second]) for step in course.steps]
    word = "" if course.verdict == "steps" else f"{course.verdict}: "
    return found._replace(path=path, ending=word + course.message)
