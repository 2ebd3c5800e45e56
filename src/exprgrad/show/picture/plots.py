"""Plots: over axes with round numbers, in files by Matplotlib and on a terminal in braille.

A file is frames below each other, which share their horizontal axis; a frame has layers, lines, dots and
bands, from back to front.  All of it is plain data, and the same data make the same bytes.  In an SVG texts
are texts, and the colours are those of the page that it stands on, unless a theme is chosen.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from html import escape
from typing import Any, NamedTuple

from exprgrad.errors import MissingExtraError, RequestError, install_command
from exprgrad.show.picture.theme import (
    CARD,
    DARK,
    DATA,
    FONT,
    GRAD,
    INK,
    LINE,
    MUTED,
    WRONG,
    style_block,
)
from exprgrad.show.text.lines import color_text, true_minus

__all__ = [
    "FAINT", "LOOKS", "Axis", "Canvas", "Frame", "Layer", "Note", "arrow_layer", "band_layer", "dot_layer",
    "frame_canvas", "heat_layer", "import_matplotlib", "line_layer", "make_axis", "plot_frames",
    "round_ticks", "rule_layer",
]  # fmt: skip

# Axes.


ROUND = (1, 2, 5, 10)
"""The distances of two ticks, times a power of ten."""
LONGEST_NUMBER = 8
"""The most digits of a large number that is written out."""
LARGEST, SMALLEST = 1e6, 1e-4
"""Ticks that are larger or smaller than these are written with a power of ten."""


class Axis(NamedTuple):
    """An axis from ``low`` to ``high``: where its ticks are, and what is written at each."""

    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]

    def part(self, value: float) -> float:
        """The part of the axis below a value: 0 at the low end, 1 at the high one."""
        return (value / 2 - self.low / 2) / (self.high / 2 - self.low / 2)

    def middle(self, cell: int, cells: int) -> float:
        """The value in the middle of a cell, one of ``cells`` along the axis."""
        part = (cell + 0.5) / cells
        return self.low * (1 - part) + self.high * part


def round_ticks(low: float, high: float, most: int) -> tuple[tuple[float, str], ...]:
    """Round numbers between two others, ``most`` of them or fewer, each with its text."""
    span = high / 2 - low / 2
    if not (0 < span < math.inf) or most < 1:
        return ()
    rounding = Fraction(span) / 10**9
    start, stop = Fraction(low) - rounding, Fraction(high) + rounding
    power = math.floor(math.log10(span)) - 1
    while True:
        for factor in ROUND[:3]:
            step = factor * Fraction(10) ** power
            first, last = math.ceil(start / step), math.floor(stop / step)
            if last - first < most:
                numbers = [k * step for k in range(first, last + 1)]
                return tuple(zip(map(float, numbers), tick_texts(numbers, power), strict=True))
        power += 1


def tick_texts(numbers: Sequence[Fraction], power: int) -> list[str]:
    """Multiples of a power of ten, all with as many decimals."""
    largest = max(map(abs, numbers), default=Fraction(0))
    length = len(str(math.floor(largest))) + max(0, -power)
    if (largest < LARGEST or length <= LONGEST_NUMBER) and 10.0**power >= SMALLEST:
        return [f"{float(x):.{max(0, -power)}f}" if x else "0" for x in numbers]
    found = []
    for x in numbers:
        digits = 2
        if x and abs(power) < 300:
            digits = max(0, math.floor(math.log10(abs(float(x)))) - power)
        mantissa, _, exponent = f"{float(x):.{digits}e}".partition("e")
        found.append(f"{mantissa}e{int(exponent)}" if x else "0")
    return found


def make_axis(low: float, high: float, most: int, *, margin: float = 0.0) -> Axis:
    """An axis with ``most`` ticks or fewer; a ``margin`` is a part of it that is added at both ends."""
    more = margin * (high / 2 - low / 2) * 2
    low, high = low - more, high + more
    return Axis(low, high, round_ticks(low, high, most))


# Files, by Matplotlib.


LOOKS = ("light", "dark")
"""The backgrounds of a plot."""
WIDTH, HEIGHT = 7.2, 2.7
"""Inches: of a picture, and of a frame whose share is 1."""
DPI = 160
MOST_TICKS = 8
"""The most ticks of an axis; a lower frame has fewer."""
MEASURED = "DejaVu Sans"
"""The family that texts are measured in: it comes with Matplotlib, and is wider than those of an SVG."""
SMALL, LARGE = 8.5, 10.0
"""Sizes of letters, in points."""
AROUND = 2.0
"""The least distance of a note to what it must not touch, in points."""
PLACES = ((0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1), (1, 0), (-1, 0))
"""The places tried for a note: right of its point and above it, in the note's own widths and heights."""
OFFSETS = (7.0, 14.0, 24.0)
"""The distances of a note from its point, in typographic points."""
MOST_SHADE = 0.55
"""The opacity of the area with the greatest values."""
SUPERSCRIPT_DIGITS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
ROLES = {
    "data": DATA, "grad": GRAD, "wrong": WRONG, "ink": INK, "muted": MUTED, "line": LINE, "card": CARD,
}  # fmt: skip
"""Roles and their colours on a light page."""


Paint = Callable[[Any, Mapping[str, str], float], None]
"""A function that draws on axes, in the colours of ``ROLES``, at a depth: higher is further in front."""


class Layer(NamedTuple):
    """Something drawn over a frame's axes, by one of the functions below.

    ``x``, ``y``    points that notes must not cover
    ``size``        how large each point is; None for a line through them
    ``label``       what the legend calls it
    ``is_ground``   whether it is drawn all over the frame, so that notes need a ground of their own
    """

    paint: Paint
    x: Sequence[float] = ()
    y: Sequence[float] = ()
    size: float | None = None
    label: str = ""
    is_ground: bool = False


class Note(NamedTuple):
    """A short text beside a point: it is placed where it covers nothing, or left out."""

    x: float
    y: float
    text: str


def line_layer(
    x: Sequence[float],
    y: Sequence[float],
    role: str = "data",
    dashes: str = "-",
    width: float = 1.6,
    label: str = "",
) -> Layer:
    """A line through points; where one is nan it is broken.  ``dashes`` as Matplotlib has them."""

    def paint(axes: Any, colors: Mapping[str, str], depth: float) -> None:
        axes.plot(
            x, y, color=colors[role], linestyle=dashes, linewidth=width, zorder=depth,
            label=label or None, solid_joinstyle="round", solid_capstyle="round",
        )  # fmt: skip

    return Layer(paint, x, y, label=label)


def dot_layer(
    x: Sequence[float],
    y: Sequence[float],
    role: str = "data",
    shape: str = "o",
    filled: bool = True,
    size: float = 5.0,
    errors: Sequence[float] | None = None,
    label: str = "",
) -> Layer:
    """Points, and how much each may be off, if that is known; ``filled`` or as rings."""

    def paint(axes: Any, colors: Mapping[str, str], depth: float) -> None:
        color = colors[role]
        if errors is not None:
            axes.errorbar(
                x, y, yerr=errors, fmt="none", ecolor=color, elinewidth=0.9, alpha=0.6, zorder=depth
            )  # fmt: skip
        axes.plot(
            x, y, linestyle="none", marker=shape, markersize=size, color=color, zorder=depth,
            markerfacecolor=color if filled else colors["card"], markeredgewidth=1.1,
            label=label or None,
        )  # fmt: skip

    return Layer(paint, x, y, size, label)


def band_layer(
    x: Sequence[float],
    low: Sequence[float],
    high: Sequence[float],
    label: str = "",
) -> Layer:
    """The area between two lines."""

    def paint(axes: Any, colors: Mapping[str, str], depth: float) -> None:
        axes.fill_between(
            x, low, high, color=colors["data"], alpha=0.18, linewidth=0, zorder=depth, label=label or None
        )  # fmt: skip

    return Layer(paint, label=label)


def rule_layer(x: float | None = None, y: float | None = None, dashes: str = "-") -> Layer:
    """A thin line across the frame: vertical at ``x``, or horizontal at ``y``."""

    def paint(axes: Any, colors: Mapping[str, str], depth: float) -> None:
        across, at = (axes.axvline, x) if x is not None else (axes.axhline, y)
        across(at, color=colors["muted"], linewidth=0.8, linestyle=dashes, zorder=1.5)

    return Layer(paint)


def heat_layer(
    x: Sequence[float],
    y: Sequence[float],
    values: Sequence[Sequence[float]],
    levels: Sequence[float],
) -> Layer:
    """Values on a grid, from below to above: areas between levels, and lines at these."""

    def paint(axes: Any, colors: Mapping[str, str], depth: float) -> None:
        color = colors["data"]
        steps = [(color, MOST_SHADE * at / len(levels)) for at in range(len(levels) + 1)]
        axes.contourf(x, y, values, levels=levels, colors=steps, zorder=1, extend="both")
        axes.contour(
            x, y, values, levels=levels, colors=[color], linewidths=0.7, linestyles="solid", zorder=1.1
        )  # fmt: skip

    return Layer(paint)


def arrow_layer(
    x: Sequence[float], y: Sequence[float], u: Sequence[float], v: Sequence[float]
) -> Layer:
    """Arrows of one length at points, along (``u``, ``v``)."""

    def paint(axes: Any, colors: Mapping[str, str], depth: float) -> None:
        axes.quiver(
            x, y, u, v, color=colors["grad"], angles="xy", pivot="mid", zorder=depth,
            scale=28, width=0.0022,
        )  # fmt: skip

    return Layer(paint, is_ground=True)


class Frame(NamedTuple):
    """Axes and what is drawn over them; a ``share`` of 1 is ``HEIGHT`` high.

    ``x_range``, ``y_range``  what is shown: None for whatever the layers take
    ``logarithmic``           whether the vertical axis is
    ``counted``               whether the horizontal axis has whole numbers alone
    ``even``                  whether a unit is as long up as across
    """

    layers: Sequence[Layer | Note]
    title: str = ""
    x_label: str = ""
    y_label: str = ""
    x_range: tuple[float, float] | None = None
    y_range: tuple[float, float] | None = None
    share: float = 1.0
    role: str = "ink"
    logarithmic: bool = False
    counted: bool = False
    even: bool = False


@cache
def import_matplotlib() -> Any:
    """The package, with the parts that are used.  Raises ``MissingExtraError`` where it is missing.

    Silences what it logs while loading, about its cache of fonts.
    """
    import logging

    log = logging.getLogger("matplotlib")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        import matplotlib as package
        import matplotlib.backends.backend_agg
        import matplotlib.figure
        import matplotlib.ticker
    except ImportError:
        raise MissingExtraError(
            "missing-matplotlib",
            "a plot as a file needs Matplotlib",
            help=install_command("matplotlib"),
        ) from None
    finally:
        log.setLevel(level)
    return package


def plot_frames(frames: Sequence[Frame], format: str, look: str | None = None) -> bytes:
    """The picture of some frames as the bytes of an ``svg``, ``png`` or ``pdf`` file.

    ``look`` is ``light`` or ``dark``; None follows the page in an SVG, and is light elsewhere.
    Raises ``RequestError`` for another look.
    """
    if look not in (None, *LOOKS):
        raise RequestError(
            "usage", f"there is no look {look!r}", help=f"it is {' or '.join(LOOKS)}"
        )
    package = import_matplotlib()
    colors = {role: DARK[light] if look == "dark" else light for role, light in ROLES.items()}
    settings = {
        "svg.fonttype": "none", "svg.hashsalt": "exprgrad", "pdf.fonttype": 42, "font.family": MEASURED,
        "font.size": SMALL, "axes.unicode_minus": True, "path.simplify": True,
        "axes.formatter.useoffset": False, "axes.formatter.limits": (-4, 6),
        "axes.formatter.use_mathtext": False, "text.parse_math": False,
    }  # fmt: skip
    with package.rc_context(settings):
        figure = draw_figure(package, frames, colors, is_clear=format == "svg" and look is None)
        return save_figure(figure, format, frames[0].title, follows=look is None)


def draw_figure(
    package: Any, frames: Sequence[Frame], colors: Mapping[str, str], *, is_clear: bool
) -> Any:
    """The figure: frames below each other, the numbers of the horizontal axis below the last."""
    shares = [frame.share for frame in frames]
    height = HEIGHT * sum(shares) + 0.4 * len(frames)
    figure = package.figure.Figure(figsize=(WIDTH, height), dpi=DPI, layout="constrained")
    package.backends.backend_agg.FigureCanvasAgg(figure)  # which measures texts
    figure.patch.set_facecolor("none" if is_clear else colors["card"])
    axes = figure.subplots(len(frames), 1, sharex=True, squeeze=False, height_ratios=shares)[:, 0]
    for frame, one in zip(frames, axes, strict=True):
        paint_frame(package, one, frame, colors)
    figure.align_ylabels()
    figure.canvas.draw()
    for frame, one in zip(frames, axes, strict=True):
        place_notes(figure, one, frame, colors)
    return figure


def paint_frame(package: Any, axes: Any, frame: Frame, colors: Mapping[str, str]) -> None:
    """One frame's layers and axes."""
    axes.set_facecolor("none")
    for side, spine in axes.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(colors["line"])
    axes.tick_params(colors=colors["line"], labelcolor=colors["muted"], length=3, width=0.8)
    axes.grid(color=colors["line"], alpha=0.35, linewidth=0.6)
    axes.set_axisbelow(True)
    for depth, layer in enumerate(frame.layers):
        if isinstance(layer, Layer):
            layer.paint(axes, colors, 2 + depth / 100)
    if frame.logarithmic:
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(package.ticker.FuncFormatter(power_of_ten))
        axes.yaxis.set_minor_formatter(package.ticker.NullFormatter())
    if frame.counted:
        axes.xaxis.set_major_locator(package.ticker.MaxNLocator(integer=True))
    if frame.x_range is not None:
        axes.set_xlim(*frame.x_range)
        part = 1.0
        if frame.even and frame.y_range is not None:
            widths = [high - low for low, high in (frame.x_range, frame.y_range)]
            part = min(widths[0] / widths[1], 1.0)
        axes.set_xticks(*tick_labels(frame.x_range, math.ceil(MOST_TICKS * part)))
    if frame.even:
        axes.set_aspect("equal", anchor="W")
    if frame.y_range is not None:
        axes.set_ylim(*frame.y_range)
        axes.set_yticks(*tick_labels(frame.y_range, math.ceil(MOST_TICKS * min(frame.share, 1.0))))
    title = axes.set_title(frame.title, loc="left", fontsize=LARGE, color=colors[frame.role])
    title.set_parse_math(False)
    for label, write in ((frame.x_label, axes.set_xlabel), (frame.y_label, axes.set_ylabel)):
        if label:
            write(label, color=colors["muted"]).set_parse_math(False)
    if any(isinstance(layer, Layer) and layer.label for layer in frame.layers):
        legend = axes.legend(frameon=False, fontsize=SMALL, labelcolor=colors["ink"])
        legend.set_zorder(5)


def tick_labels(ends: tuple[float, float], most: int) -> tuple[list[float], list[str]]:
    """The ticks of an axis, and what is written at them."""
    found = round_ticks(*ends, most)
    return [value for value, _ in found], [true_minus(text) for _, text in found]


def power_of_ten(value: float, place: int | None = None) -> str:
    """A tick of a logarithmic axis."""
    exponent = round(math.log10(value))
    if -4 < exponent < 6:
        return f"{value:g}"
    return "10" + str(exponent).translate(SUPERSCRIPT_DIGITS)


def place_notes(figure: Any, axes: Any, frame: Frame, colors: Mapping[str, str]) -> None:
    """The notes of a frame, each nearest to its own point, and where it covers nothing."""
    from matplotlib.transforms import Bbox

    notes = [layer for layer in frame.layers if isinstance(layer, Note)]
    if not notes:
        return
    renderer = figure.canvas.get_renderer()
    unit = figure.dpi / 72
    inside = axes.get_window_extent(renderer)
    taken = [*obstacle_boxes(axes, frame, unit)]
    covered = any(isinstance(one, Layer) and one.is_ground for one in frame.layers)
    places = [(one.x, one.y) for one in notes]
    dots = [one for one in frame.layers if isinstance(one, Layer) and one.size]
    places += [(one.x[0], one.y[0]) for one in dots if len(one.x) == 1]
    points = axes.transData.transform(places)
    for one in notes:
        ground = {"facecolor": colors["card"], "edgecolor": "none", "alpha": 0.7, "pad": 1}
        text = axes.text(
            one.x, one.y, one.text, color=colors["ink"], fontsize=SMALL, zorder=6,
            bbox=ground if covered else None,
        )  # fmt: skip
        text.set_parse_math(False)
        box = text.get_window_extent(renderer)
        at = axes.transData.transform((one.x, one.y))
        for right, up, off in ((r, u, off) for off in OFFSETS for r, u in PLACES):
            x = at[0] + off * unit * right - box.width * (1 - right) / 2
            y = at[1] + off * unit * up - box.height * (1 - up) / 2
            spot = Bbox.from_bounds(x, y, box.width, box.height).padded(AROUND * unit)
            is_inside = inside.x0 <= spot.x0 and spot.x1 <= inside.x1 and inside.y0 <= spot.y0
            is_free = is_inside and spot.y1 <= inside.y1 and not spot.count_overlaps(taken)
            if is_free and distance_to_box(spot, at) <= min(
                distance_to_box(spot, point) for point in points
            ):
                text.set_position(axes.transData.inverted().transform((x, y)))
                taken.append(spot)
                break
        else:
            text.remove()


def distance_to_box(box: Any, point: Sequence[float]) -> float:
    """The distance of a box from a point, in pixels."""
    x, y = point
    return math.hypot(max(box.x0 - x, x - box.x1, 0), max(box.y0 - y, y - box.y1, 0))


def obstacle_boxes(axes: Any, frame: Frame, unit: float) -> Iterator[Any]:
    """The boxes that notes must not cover, in pixels: small ones along lines, and one for each dot."""
    from matplotlib.transforms import Bbox

    for layer in frame.layers:
        if isinstance(layer, Layer) and len(layer.x):
            points = axes.transData.transform(list(zip(layer.x, layer.y, strict=True)))
            reach = (1.0 if layer.size is None else layer.size / 2) * unit
            stops = subdivide_line(points, 4 * unit) if layer.size is None else points
            for x, y in stops:
                if abs(x) < 1e6 and abs(y) < 1e6:
                    yield Bbox.from_extents(x - reach, y - reach, x + reach, y + reach)


def subdivide_line(points: Any, step: float) -> Iterator[tuple[float, float]]:
    """Points along a line, no further apart than a step; long gaps are left as they are."""
    before = None
    for x, y in points:
        if before is not None:
            apart = max(abs(x - before[0]), abs(y - before[1]))
            count = int(apart / step) if apart < 1e4 else 0
            for at in range(1, count):
                part = at / count
                yield before[0] + part * (x - before[0]), before[1] + part * (y - before[1])
        yield x, y
        before = x, y


# What Matplotlib wrote, as our other pictures are.

MARKER = re.compile(r'(<path id="m[0-9a-f]+"[^>]*?) stroke="#[0-9a-f]+"')
"""A marker with a colour of its own, which no page's style reaches where the marker is used."""
PLACED = re.compile(r' (?:d|x|y|transform|points)="[^"]*"')
"""An attribute of coordinates, which are shortened to a hundredth of a point."""
COORDINATE = re.compile(r"-?\d+\.\d{3,}")
INLINE = re.compile(r' style="([^"]*)"')


def save_figure(figure: Any, format: str, name: str, *, follows: bool) -> bytes:
    """The bytes of a file; an SVG has a name, and follows the page if it should."""
    from io import BytesIO

    file = BytesIO()
    metadata = {"svg": {"Date": None}, "png": {"Software": None}, "pdf": {"CreationDate": None}}
    figure.savefig(file, format=format, metadata=metadata[format])
    made = file.getvalue()
    return normalise_svg(made.decode(), name, follows=follows).encode() if format == "svg" else made


def normalise_svg(svg: str, name: str, *, follows: bool) -> str:
    """Matplotlib's SVG as our others are: attributes in place of styles, so that a page's styles rule."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"\s*<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'<defs>\s*<style type="text/css">.*?</style>\s*</defs>', "", svg, flags=re.DOTALL)
    svg = INLINE.sub(lambda found: style_attributes(found[1]), svg)
    svg = MARKER.sub(r"\1", svg)
    svg = PLACED.sub(lambda found: COORDINATE.sub(lambda x: f"{float(x[0]):.2f}", found[0]), svg)
    head, body = svg.removeprefix("<svg").split(">", 1)
    sheet, title = style_block() if follows else "", f"<title>{escape(name)}</title>\n"
    joins = 'stroke-linejoin="round" stroke-linecap="butt"'
    return f'<svg class="exprgrad" role="img" {joins}{head}>\n{title}{sheet}{body}'


def style_attributes(text: str) -> str:
    """The attributes that stand for a style."""
    pairs = [part.partition(":") for part in text.split(";") if ":" in part]
    said = {name.strip(): value.strip() for name, _, value in pairs}
    if "font" in said:
        size, _, _ = said.pop("font").partition(" ")
        said |= {"font-size": size, "font-family": FONT}
    elif "font-size" in said:
        said["font-family"] = FONT
    return "".join(f' {name}="{value}"' for name, value in said.items())


# On a terminal, in braille: eight dots to a cell.


DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""The bits of a braille cell's dots, by row and column."""
BRAILLE = 0x2800
BEYOND = 4.0
"""The number of canvases beyond this one up to which a line is followed."""
RESET = "\x1b[0m"
FAINT = "2"
"""The terminal's code for axes."""
LETTERS_UNDER_CURVE = frozenset("┈┊╌")
"""Letters that give way to a curve."""


class Canvas:
    """Cells of braille, so many ``columns`` and ``rows``, with letters over them, between two axes."""

    def __init__(self, columns: int, rows: int, x: Axis, y: Axis) -> None:
        self.columns, self.rows = columns, rows
        self.x, self.y = x, y
        self.dots = [[0] * columns for _ in range(rows)]
        self.letters: dict[tuple[int, int], str] = {}

    def dot(self, x: int, y: int) -> None:
        """A dot, counted from the left and from the top."""
        if 0 <= x < 2 * self.columns and 0 <= y < 4 * self.rows:
            self.dots[y // 4][x // 2] |= DOTS[y % 4][x % 2]

    def cell(self, x: float, y: float) -> tuple[int, int]:
        """The row and the column of a point."""
        return (
            min(int((1 - self.y.part(y)) * self.rows), self.rows - 1),
            min(int(self.x.part(x) * self.columns), self.columns - 1),
        )

    def line(self, points: Iterable[tuple[float, float]]) -> None:
        """A line through points, broken where one is not finite."""
        before: tuple[float, float] | None = None
        for point in points:
            if not math.isfinite(point[1]):
                before = None
                continue
            x, y = self.x.part(point[0]), self.y.part(point[1])
            across, up = (min(max(part, -BEYOND), 1 + BEYOND) for part in (x, y))
            here = across * (2 * self.columns - 1), (1 - up) * (4 * self.rows - 1)
            if before is not None:
                self.stretch(before, here)
            elif 0 <= y <= 1:
                self.dot(round(here[0]), round(here[1]))
            before = here

    def stretch(self, start: tuple[float, float], stop: tuple[float, float]) -> None:
        """The dots of a straight line, given in dots."""
        count = max(math.ceil(max(abs(stop[0] - start[0]), abs(stop[1] - start[1]))), 1)
        for at in range(count + 1):
            part = at / count
            x, y = (one + part * (other - one) for one, other in zip(start, stop, strict=True))
            self.dot(round(x), round(y))

    def letter(self, x: float, y: float, letter: str) -> None:
        """A letter in the cell of a point."""
        if 0 <= self.x.part(x) <= 1 and 0 <= self.y.part(y) <= 1:
            self.letters[self.cell(x, y)] = letter

    def row(self, at: int, color: str, marks: Mapping[str, str]) -> str:
        """A row as text; ``color`` is that of braille, ``marks`` those of letters."""
        pieces = []
        for column, bits in enumerate(self.dots[at]):
            letter = self.letters.get((at, column))
            if letter is not None and (bits == 0 or letter not in LETTERS_UNDER_CURVE):
                pieces.append((letter, marks.get(letter, "")))
            else:
                pieces.append((chr(BRAILLE + bits), color) if bits else (" ", ""))
        text, now = "", ""
        for letter, wanted in [*pieces, ("", "")]:
            if wanted != now:
                text += (RESET if now else "") + (f"\x1b[{wanted}m" if wanted else "")
                now = wanted
            text += letter
        return text


def frame_canvas(
    title: str, canvas: Canvas, margin: int, color: str, marks: Mapping[str, str], *, numbers: bool
) -> list[str]:
    """The lines of a canvas and its title, ``margin`` cells before it; the axis below may have ``numbers``.

    Without a ``color`` nothing is coloured, ``marks`` neither.
    """
    x, y = canvas.x, canvas.y
    faint, marks = (FAINT, marks) if color else ("", {})
    at_row = {canvas.cell(x.low, value)[0]: text for value, text in reversed(y.ticks)}
    at_column = {canvas.cell(value, y.low)[1]: text for value, text in x.ticks}
    lines = [color_text(title, color)]
    for row in range(canvas.rows):
        text = at_row.get(row)
        edge = f"{text or '':>{margin}} {'┤' if text else '│'}"
        lines.append((color_text(edge, faint) + canvas.row(row, color, marks)).rstrip())
    rule = "".join("┬" if column in at_column else "─" for column in range(canvas.columns))
    lines.append(color_text(f"{'':>{margin}} └{rule}", faint))
    if numbers:
        lines.append(color_text(tick_row(at_column, margin + 2, canvas.columns), faint))
    return lines


def tick_row(at_column: Mapping[int, str], margin: int, columns: int) -> str:
    """The numbers below an axis, each in the middle of its tick, as far as there is room."""
    line = [" "] * (margin + columns)
    end = -1
    for column, text in sorted(at_column.items()):
        start = min(margin + column - len(text) // 2, len(line) - len(text))
        if start > end:
            line[start : start + len(text)] = text
            end = start + len(text)
    return "".join(line).rstrip()
