"""Ranges for inputs: ``0:10:101``, ``1:1e6:log:61``, and intervals, ``low:high``.

Points are computed from the ends as typed and rounded once: ``0:1:11`` meets 0.3, the double
nearest to 3/10, and ``1:1e6:log:61`` meets 10.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from math import isfinite
from typing import NamedTuple

from exprgrad.derive.build import exact_result
from exprgrad.derive.parsed import parse_and_derive
from exprgrad.errors import ExprgradError, InputError, command_or_python
from exprgrad.graph.graph import Algebra, Graph, interpret
from exprgrad.graph.ops import BY_NAME
from exprgrad.run.values.inputs import as_number, between_colons, is_plain_number, refuse_bare_path
from exprgrad.source import Source, Span, trim_span

__all__ = ["Interval", "Range", "as_interval", "exact_ends", "range_in"]

LONGEST_DECIMAL = 400
"""The most characters of a decimal that is kept exactly; longer ones are their doubles."""
MOST_BITS = 8192
"""The most bits of results from decimals that are kept exactly."""
MOST_POINTS = 2**53
"""The most points of a range: up to here they are counted exactly."""
LOG_DIGITS = 50
"""The digits in which logarithmic ranges are computed."""
KEPT = Context(prec=40)
"""The digits kept, so that 10^23, halfway between two doubles, is met exactly."""
STRIDE = 1024
"""The points of a logarithmic range from one exponential to the next."""
ORDINARY = "write NAME=START:STOP:COUNT, such as {name}=0:10:101"
LOGARITHMIC = "write NAME=START:STOP:log:COUNT, such as {name}=1:1e6:log:61"
INTERVAL = "write NAME=LOW:HIGH, such as {name}=-1:1"


class Interval(NamedTuple):
    """An interval between two numbers, the lower first."""

    low: float
    high: float


class Range(NamedTuple):
    """``size`` numbers from ``start`` to ``stop``, equally far apart; or in equal ratio if ``by_ratio``.

    Both ends, exactly as typed, are among them; a range of size 1 has only its start.
    """

    start: Fraction
    stop: Fraction
    size: int
    by_ratio: bool = False

    def points(self, places: Iterable[int] | None = None) -> list[float]:
        """Return the numbers at some places, counted from 0, or all of them, each rounded once."""
        return (in_ratio if self.by_ratio else in_steps)(
            self, range(self.size) if places is None else places
        )


def in_steps(asked: Range, places: Iterable[int]) -> list[float]:
    """Compute points of an ordinary range.  Quotients of whole numbers of any length are rounded once."""
    start, stop = asked.start, asked.stop
    steps = max(asked.size - 1, 1)
    low = start.numerator * stop.denominator * steps
    step = stop.numerator * start.denominator - start.numerator * stop.denominator
    below = start.denominator * stop.denominator * steps
    return [(low + k * step) / below for k in places]


def in_ratio(asked: Range, places: Iterable[int]) -> list[float]:
    """Compute points of a logarithmic range: start·(stop/start)^(k/(size − 1))."""
    with localcontext(prec=LOG_DIGITS):
        start, rate, fine = logarithmic_growth(asked)
        bases: dict[int, Decimal] = {}
        found = []
        for k in places:
            block, rest = divmod(k, STRIDE)
            if block not in bases:
                bases[block] = start * (rate * (block * STRIDE)).exp()
            found.append(float(KEPT.plus(bases[block] * fine[rest])))
        return found


@lru_cache(maxsize=64)
def logarithmic_growth(asked: Range) -> tuple[Decimal, Decimal, list[Decimal]]:
    """Return a range's start, the logarithm of its ratio, and its first points over its start."""
    with localcontext(prec=LOG_DIGITS):
        start, stop = (
            Decimal(end.numerator) / end.denominator for end in (asked.start, asked.stop)
        )
        rate = (stop / start).ln() / max(asked.size - 1, 1)
        return start, rate, [(rate * k).exp() for k in range(min(STRIDE, asked.size))]


# Reading.


def as_interval(value: object, name: str, *, infinite: bool = False) -> Interval:
    """Read the interval for an input: a text ``low:high`` or a pair of numbers, the lower one first.

    With ``infinite`` its ends may be ``-inf`` and ``inf``.  Raises ``InputError`` or ``LanguageError``.
    """
    low, high = exact_ends(value, name, infinite=infinite)
    return Interval(low[0], high[0])


def exact_ends(
    value: object, name: str, *, infinite: bool = False
) -> list[tuple[float, Fraction | None]]:
    """Read both ends of such an interval: each end's double, and its exact number, if known."""
    if isinstance(value, str):
        return ends_in(value, name, infinite=infinite)
    if not (isinstance(value, Sequence) and len(value) == 2):
        raise InputError(
            "bad-range",
            f"the interval of '{name}' is neither a string nor a pair of numbers",
            help='such as "-1:1" or (-1, 1)',
        )
    low, high = (as_number(end, name) for end in value)
    if low < high and (infinite or (isfinite(low) and isfinite(high))):
        return [(x, exact_number(repr(x), x)) for x in (low, high)]
    raise InputError(
        "bad-range",
        f"the ends of the interval of '{name}' are {low!r} and {high!r}",
        help="the low end is below the high one" + ("" if infinite else ", and both are finite"),
    )


def ends_in(text: str, name: str, *, infinite: bool) -> list[tuple[float, Fraction | None]]:
    """Read the ends of the interval ``low:high``."""
    refuse_bare_path(text, name)
    parts = between_colons(text)
    if len(parts) != 2:
        start, stop = text[: parts[min(1, len(parts) - 1)][1]], text[slice(*parts[-1])].strip()
        if len(parts) == 1:
            message, help = f"the interval of '{name}' has one end", INTERVAL.format(name=name)
        else:
            message = f"the interval of '{name}' has two ends, and no more"
            help = f"without {stop}, the count of a range: {name}={start.strip()}"
        raise bad_range(text, None, message, help)
    ends = [end_in(text, part, name, INTERVAL, infinite=infinite) for part in parts]
    (low, _), (high, _) = ends
    if low < high:
        return ends
    lower, higher = (text[slice(*part)].strip() for part in parts)
    message = f"the low end of '{name}' is not below the high one"
    help = f"write {name}={higher}:{lower}"
    if low == high:
        message = f"the low and the high end of '{name}' are equal"
        help = INTERVAL.format(name=name)
    raise bad_range(text, None, message, help)


def range_in(text: str, name: str) -> Range:
    """Read the range ``start:stop:count`` or ``start:stop:log:count`` for an input.

    Raises ``InputError`` or ``LanguageError``, with a place in the text.
    """
    refuse_bare_path(text, name)
    parts = between_colons(text)
    is_logarithmic = len(parts) > 2 and text[slice(*parts[2])].strip().casefold() == "log"
    usage = LOGARITHMIC if is_logarithmic else ORDINARY
    if len(parts) != 3 + is_logarithmic:
        raise miscounted_parts(text, parts, name, usage)
    ends = (end_in(text, part, name, usage) for part in parts[:2])
    start, stop = (Fraction(value) if exact is None else exact for value, exact in ends)
    if is_logarithmic:
        refuse_zero(text, parts, (start, stop), name)
    return Range(start, stop, size_in(text, parts[-1], (start, stop), name), is_logarithmic)


def miscounted_parts(text: str, parts: Sequence[Span], name: str, usage: str) -> InputError:
    """Return the error for too few or too many parts."""
    if len(parts) < usage.partition(",")[0].count(":") + 1:
        written = text.strip() if all(text[slice(*part)].strip() for part in parts) else "0:10"
        message = f"the range of '{name}' does not say how many points"
        help = f"write {name}={written}:101 for 101 points, both ends among them"
        help += command_or_python("; plot and solve take LOW:HIGH", "")
        return bad_range(text, None, message, help)
    span, message = None, f"the range of '{name}' has {len(parts)} parts"
    if len(parts) == 4:
        span = parts[2]
        message = f"'{text[slice(*span)].strip()}' is not a kind of range: log is the only one"
        first, last, count, word = (text[slice(*part)].strip() for part in parts)
        if word == "log":
            return bad_range(text, span, message, f"write {name}={first}:{last}:log:{count}")
    return bad_range(text, span, message, usage.format(name=name))


def end_in(
    text: str, part: Span, name: str, usage: str, *, infinite: bool = False
) -> tuple[float, Fraction | None]:
    """Read an end, a number or a constant expression: its double, and its exact number, if known."""
    value, exact = number_in(text, part, name, usage)
    if value == value and (infinite or isfinite(value)):
        return value, exact
    what = "not finite" if value == value else "not a number"
    raise bad_range(text, part, f"this end for '{name}' is {what}", usage.format(name=name))


def number_in(text: str, part: Span, name: str, usage: str) -> tuple[float, Fraction | None]:
    """Read a part of a range: its double, and its exact number, if known."""
    start, stop = trim_span(text, *part)
    written = text[start:stop].strip()
    if written in ("", ":"):
        raise bad_range(text, part, f"a number is missing for '{name}'", usage.format(name=name))
    try:
        value = as_number(written, name)
    except ExprgradError as error:
        if error.span is None or error.source is None or error.source.text != written:
            error.span = 0, len(written)
        raise error.at(Source(text, is_expression=False), start) from None
    return value, exact_number(written, value)


def exact_number(written: str, value: float) -> Fraction | None:
    """Return the exact number of a text; None where it is not rational, or enormous."""
    if not isfinite(value):
        return Fraction(0)
    if is_plain_number(written):
        return Fraction(written if value and len(written) <= LONGEST_DECIMAL else value)
    graph = parse_and_derive(written, is_expression=False)
    return interpret(graph, RATIONAL, {})[graph.output]


def literal_fraction(graph: Graph, node: int) -> Fraction | None:
    """Return a literal as typed; None for a named constant, and for a tensor."""
    value = graph.payloads[node]
    if node in graph.symbols or not isinstance(value, float):
        return None
    return exact_number(graph.spelled.get(node, repr(value)), value) if isfinite(value) else None


def of_fractions(graph: Graph, node: int, operands: Sequence[Fraction | None]) -> Fraction | None:
    """Apply an operation to rational numbers; None where the result is not rational."""
    known = [operand for operand in operands if operand is not None]
    is_short = all((x.numerator * x.denominator).bit_length() < MOST_BITS for x in known)
    if graph.kinds[node] not in BY_NAME or len(known) < len(operands) or not is_short:
        return None
    exact = exact_result(graph.kinds[node], known)
    return None if exact is None else Fraction(exact)


RATIONAL: Algebra[Fraction | None] = Algebra(literal_fraction, of_fractions)


def refuse_zero(text: str, parts: Sequence[Span], ends: Sequence[Fraction], name: str) -> None:
    """Raise for a logarithmic range that would pass through 0, or begin or end there."""
    for part, end in zip(parts, ends, strict=False):
        if not end:
            raise bad_range(
                text,
                part,
                f"a logarithmic range has no end at 0, as that of '{name}' has",
                LOGARITHMIC.format(name=name),
            )
    if (ends[0] > 0) != (ends[1] > 0):
        raise bad_range(
            text,
            None,
            f"the ends of the logarithmic range of '{name}' have different signs",
            "it would pass through 0: leave out log, or stay on one side",
        )


def size_in(text: str, part: Span, ends: Sequence[Fraction], name: str) -> int:
    """Read the count of points: a whole number from 1 on."""
    value, exact = number_in(text, part, name, ORDINARY)
    if 1 <= value <= MOST_POINTS and value.is_integer():
        return int(value)
    message = f"the count of points for '{name}' is not a whole number from 1 on"
    help = "the last part says how many points there are, both ends among them"
    steps = abs((ends[1] - ends[0]) / exact) if exact else Fraction(1, 2)
    if value > MOST_POINTS:
        message = f"the range of '{name}' has more than 2^53 points"
    elif steps.denominator == 1 and steps < MOST_POINTS:
        step, head = text[slice(*part)].strip(), text[: part[0]].strip()
        help = f"with steps of {step} it has {steps + 1} points: {name}={head}{steps + 1}"
    raise bad_range(text, part, message, help)


def bad_range(text: str, span: Span | None, message: str, help: str) -> InputError:
    """Return an error with its place in a range."""
    place = None if span is None else trim_span(text, *span)
    return InputError("bad-range", message, help=help).about(text, place)
