"""Uncertain numbers: ``2.0±0.1``, ``2.0+-0.1``, ``2.00(10)`` and ``2±5%``, read and written; and what a run
knows about the uncertainties of its inputs.

An uncertainty is a standard uncertainty, one standard deviation: JCGM 100:2008 (GUM), section 2.3.1.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from itertools import combinations
from math import inf, isfinite
from typing import Any, ClassVar, NamedTuple

from exprgrad.errors import ExprgradError, InputError
from exprgrad.graph.graph import element_name, nested_list_text, shape_size, unravel_position
from exprgrad.run.values.inputs import (
    BRACKETED,
    as_number,
    as_value,
    constant_value,
    detach_value,
    has_parts,
    is_plain_number,
    is_uncertain,
    normal_name,
    outer_signs,
)
from exprgrad.source import Source, Span, trim_span

__all__ = [
    "Spread", "Uncertain", "UncertainNumbers", "as_uncertain", "concise_text", "number_names", "plus_minus",
    "split_uncertain", "to_two_digits", "two_digits", "typed_text", "uncertain",
]  # fmt: skip

SCALED = re.compile(r"\s*\((.*)\)\s*((?:[eE][-+]?[0-9]+)?)\s*")
"""``(1.2345 ± 0.0067)e-3``, as written below."""
LONGEST_FIXED = 6
"""Numbers of 10^6 and above are written with an exponent."""
PRECISE = 17
"""The significant digits of a double."""
HELP = "write {name}=2.0±0.1, {name}=2.0+-0.1, {name}=2.00(10) or {name}=2±5%"


@dataclass(frozen=True, slots=True, eq=False)
class Uncertain:
    """A value and its standard uncertainty: numbers, or tensors of the same shape."""

    value: Any
    uncertainty: Any
    is_uncertain: ClassVar[bool] = True

    def __str__(self) -> str:
        if isinstance(self.value, float):
            return plus_minus(self.value, self.uncertainty)
        return f"uncertain({self.value!r}, {self.uncertainty!r})"


class Spread(NamedTuple):
    """The uncertainties of inputs.

    ``deviations``    by input: its standard uncertainty, a number, or a tensor of its shape
    ``correlations``  by the names of two numbers, ``x`` or ``w[0]``: their coefficient, if it is not 0
    """

    deviations: dict[str, Any]
    correlations: dict[tuple[str, str], float]


class UncertainNumbers(NamedTuple):
    """Uncertain numbers by name, ``x`` or ``w[0]``: their deviations, and correlations of pairs."""

    deviations: dict[str, float]
    correlations: dict[tuple[str, str], float]

    def correlation(self, one: str, other: str) -> float:
        """Return the correlation coefficient of two numbers."""
        if one == other:
            return 1.0
        known = self.correlations
        return known.get((one, other), known.get((other, one), 0.0))


# What is given for inputs.


def uncertain(value: object, uncertainty: object = None) -> Uncertain:
    """Make an uncertain number: ``uncertain(2.0, 0.1)``, or ``uncertain("2.00(10)")``.

    The uncertainty is one standard deviation; 0 means none.  A tensor has a tensor of its shape, or one
    number for all.  Raises ``InputError`` for an uncertainty that is negative or not finite.
    """
    if uncertainty is not None:
        return uncertain_pair(
            as_value(value, "value"), as_value(uncertainty, "uncertainty"), "value"
        )
    given, text = as_uncertain(value, "value")
    return Uncertain(as_value(given, "value"), 0.0 if text is None else text)


def split_uncertain(given: Mapping[str, object]) -> tuple[dict[str, object], Spread]:
    """Split values from their uncertainties; text stays text, ``2.0`` for ``2.0±0.1``.

    The objects of the package ``uncertainties`` bring their correlations along.
    """
    values: dict[str, object] = {}
    deviations: dict[str, Any] = {}
    foreign: dict[str, Any] = {}
    for key, value in given.items():
        name = normal_name(key)
        values[name], deviation = as_uncertain(value, name, foreign)
        if deviation is not None:
            deviations[name] = deviation
    return values, Spread(deviations, correlations_of(foreign))


def as_uncertain(
    value: object, name: str, foreign: dict[str, Any] | None = None
) -> tuple[object, Any]:
    """Split a value from its uncertainty, None if there is none.

    Objects of the package ``uncertainties`` are kept in ``foreign``, by the names of their numbers.
    """
    kept = {} if foreign is None else foreign
    if isinstance(value, str):
        return text_parts(value, name) if is_uncertain(value) else (value, None)
    if isinstance(value, Uncertain):
        found = uncertain_pair(value.value, value.uncertainty, name)
        return found.value, found.uncertainty
    if hasattr(value, "nominal_value") and hasattr(value, "std_dev"):
        found = uncertain_pair(float(value.nominal_value), float(value.std_dev), name)
        kept[name] = value
        return found.value, found.uncertainty
    if has_parts(value):
        return tensor_parts(value, name, kept)
    return value, None


def tensor_parts(value: object, name: str, foreign: dict[str, Any]) -> tuple[object, Any]:
    """Split numbers in a list or an array: values, and uncertainties or None if all are exact."""
    from exprgrad.run.arrays.arrays import as_tensor

    deviations: list[float] = []
    uncertain_ones: list[bool] = []

    def number(part: object, label: str) -> float:
        centre, deviation = as_uncertain(part, label, foreign)
        deviations.append(0.0 if deviation is None else deviation)
        uncertain_ones.append(deviation is not None)
        return as_number(centre, label)

    found = as_tensor(detach_value(value), name, number)
    if not any(uncertain_ones):
        return value, None
    return found, found * 0.0 + as_tensor(deviations, name, as_number).reshape(found.shape)


def correlations_of(foreign: Mapping[str, Any]) -> dict[tuple[str, str], float]:
    """Return the correlations of objects of the package ``uncertainties``, which is imported already."""
    package = sys.modules.get("uncertainties")
    if len(foreign) < 2 or package is None:
        return {}
    names, matrix = list(foreign), package.covariance_matrix([*foreign.values()])
    found = {}
    for i, j in combinations(range(len(names)), 2):
        if matrix[i][j]:
            scale = float(foreign[names[i]].std_dev) * float(foreign[names[j]].std_dev)
            found[names[i], names[j]] = min(max(float(matrix[i][j]) / scale, -1.0), 1.0)
    return found


def number_names(name: str, value: Any) -> list[str]:
    """Name the numbers of an input, in row-major order: ``x``, or ``w[0]``, ``w[1]``."""
    shape = getattr(value, "shape", ())
    return [element_name(name, unravel_position(at, shape)) for at in range(shape_size(shape))]


def uncertain_pair(
    value: Any, uncertainty: Any, name: str, place: Notation | None = None
) -> Uncertain:
    """Check a value and its uncertainty; errors have their place in a text, if there is one."""

    def wrong(message: str, *, of_value: bool = False, help: str | None = None) -> InputError:
        error = InputError("bad-uncertainty", message, help=help)
        if place is None:
            return error
        return error.about(place.text, place.value_span if of_value else place.uncertainty_span)

    exact = "it is one standard deviation; 0 means exact"
    for number in getattr(uncertainty, "flat", [uncertainty]):
        if not 0 <= number < inf:
            what = "negative" if number < 0 else "not a finite number"
            raise wrong(f"the uncertainty of '{name}' is {what}", help=exact)
    if not all(map(isfinite, getattr(value, "flat", [value]))):
        raise wrong(
            f"the value of '{name}' is not finite, and can have no uncertainty", of_value=True
        )
    shape = getattr(value, "shape", ())
    if getattr(uncertainty, "shape", ()) not in ((), shape):
        raise wrong(f"the uncertainty of '{name}' has another shape than its value")
    return Uncertain(value, value * 0.0 + uncertainty)


# Texts.


class Notation(NamedTuple):
    """An uncertain number as text: two constant expressions, and their spans.

    With ``is_percent`` the second counts in hundredths of the first's magnitude.
    """

    text: str
    value: str
    uncertainty: str
    value_span: Span
    uncertainty_span: Span
    is_percent: bool = False


def text_parts(text: str, name: str) -> tuple[object, Any]:
    """Split a text into its value, a text or an array, and its uncertainty."""
    if text.lstrip().startswith("[") and not outer_signs(text):
        return list_parts(text, name)
    written = read_notation(text, name)
    centre = read_in_place(written.value, text, written.value_span, name)
    deviation = read_in_place(written.uncertainty, text, written.uncertainty_span, name)
    if written.is_percent:
        deviation = abs(centre) * deviation / 100
    found = uncertain_pair(centre, deviation, name, written)
    is_typed = isinstance(centre, float) and not written.value.startswith("@")
    return written.value if is_typed else found.value, found.uncertainty


def read_notation(text: str, name: str) -> Notation:
    """Parse an uncertain number.  Raises ``InputError`` for a missing or a surplus part."""
    if match := re.fullmatch(BRACKETED, text):
        number, digits, closing, exponent = match.groups()
        if not closing:
            raise miswritten_uncertainty(
                "the bracket is not closed", text, match.span(2), f"write {name}={number}({digits})"
            )
        power = int(exponent[1:]) if exponent else 0
        last = power if "." in digits else power - len(number.partition(".")[2])
        value = number.replace("−", "-") + exponent
        return Notation(text, value, f"{digits}e{last}", match.span(1), match.span(2))
    start, end, exponent = 0, len(text), ""
    if match := SCALED.fullmatch(text):
        (start, end), exponent = match.span(1), match[2]
    value_span, span = around_sign(text, start, end, name)
    is_percent = text[: span[1]].endswith("%")
    if is_percent:
        span = trim_span(text, span[0], span[1] - 1)
    value, uncertainty = text[slice(*value_span)], text[slice(*span)]
    uncertainty = uncertainty if is_percent else times_power(uncertainty, exponent)
    return Notation(text, times_power(value, exponent), uncertainty, value_span, span, is_percent)


def around_sign(text: str, start: int, end: int, name: str) -> tuple[Span, Span]:
    """Return the spans before and after the sign in a part of a text: value and uncertainty."""
    found = [(a + start, b + start) for a, b in outer_signs(text[start:end])]
    if not found:
        place = text.find("±")
        raise miswritten_uncertainty(
            "this is not an uncertain number",
            text,
            (0, len(text)) if place < 0 else (place, place + 1),
            f"an uncertainty follows the whole value: {name}=2.0±0.1",
        )
    if found[1:]:
        raise miswritten_uncertainty(
            f"the value of '{name}' has two uncertainties",
            text,
            found[1],
            "two independent ones combine into one: the root of the sum of their squares",
        )
    ((before, after),) = found
    sign, help = text[before:after], HELP.format(name=name)
    if not text[start:before].strip():
        raise miswritten_uncertainty(f"there is no value before the '{sign}'", text, found[0], help)
    if not text[after:end].strip(" %"):
        raise miswritten_uncertainty(
            f"there is no uncertainty after the '{sign}'", text, found[0], help
        )
    return trim_span(text, start, before), trim_span(text, after, end)


def miswritten_uncertainty(message: str, text: str, span: Span, help: str) -> InputError:
    """Return the error for a text that should be an uncertain number."""
    return InputError("bad-uncertainty", message, help=help).about(text, span)


def times_power(written: str, exponent: str) -> str:
    """Multiply a constant expression by a power of ten, ``e-3``."""
    if not exponent:
        return written
    return f"{written}{exponent}" if is_plain_number(written) else f"({written})*1{exponent}"


def read_in_place(written: str, text: str, span: Span, name: str) -> Any:
    """Evaluate a constant expression; an error shows its place in the whole text."""
    try:
        return constant_value(written, name)
    except ExprgradError as error:
        if error.source is not None and error.source.text == text[slice(*span)]:
            error.at(Source(text, is_expression=False), span[0])
        raise


def list_parts(text: str, name: str) -> tuple[object, Any]:
    """Read a list of numbers, some uncertain, as two arrays: values and uncertainties."""
    inner: list[list[Any]] = [[]]
    start = depth = 0
    for at, sign in enumerate(text):
        depth += {"(": 1, ")": -1}.get(sign, 0)
        if depth or sign not in "[],":
            continue
        if text[start:at].strip():
            span = trim_span(text, start, at)
            inner[-1].append(list_element(text, span, element_name(name, (len(inner[-1]),))))
        elif sign == "," and text[:at].rstrip()[-1:] != "]":
            raise InputError("bad-value", f"a number is missing in the list of '{name}'").about(
                text, (at, at + 1)
            )
        start = at + 1
        if sign == "[":
            inner.append([])
        elif sign == "]" and len(inner) > 1:
            inner[-2].append(inner.pop())
    if len(inner) > 1 or len(inner[0]) != 1 or text[start:].strip():
        raise InputError(
            "bad-value",
            f"the list of '{name}' is not closed, or goes on after its end",
            help=f"write {name}=[1±0.1, 2±0.2]",
        ).about(text)
    return tensor_parts(inner[0][0], name, {})


def list_element(text: str, span: Span, label: str) -> Uncertain:
    """Read a number in a list; an error shows its place in the list."""
    part = text[slice(*span)]
    try:
        value, deviation = as_uncertain(part, label)
        return Uncertain(as_number(value, label), 0.0 if deviation is None else deviation)
    except ExprgradError as error:
        if error.span is not None and error.source is not None and error.source.text == part:
            error.at(Source(text, is_expression=False), span[0])
        raise


# Rounding.


def plus_minus(value: float, uncertainty: float) -> str:
    """Write ``9.81 ± 0.12``: two digits of the uncertainty, and the value to the same place (GUM 7.2.6)."""
    found = to_two_digits(value, uncertainty)
    if found is None:
        return f"{value!r} ± {uncertainty:.2g}" if uncertainty else f"{value:.15g}"
    number, deviation, power = found
    text = f"{number:f} ± {deviation:f}"
    return f"({text})e{power}" if power else text


def concise_text(value: float, uncertainty: float) -> str:
    """Write ``9.81(12)``: the same, with the uncertainty in the value's last digits (GUM 7.2.2)."""
    found = to_two_digits(value, uncertainty)
    if found is None:
        return plus_minus(value, uncertainty).replace(" ", "")
    number, deviation, power = found
    _, digits, exponent = deviation.as_tuple()
    assert isinstance(exponent, int)
    count = f"{deviation:f}" if exponent >= 0 else "".join(map(str, digits)).lstrip("0")
    return f"{number:f}({count})" + (f"e{power}" if power else "")


def typed_text(value: Any, uncertainty: Any) -> str:
    """Write a value and its uncertainty with all digits: ``9.81±0.12``; tensors as lists."""
    if isinstance(value, float):
        return f"{value!r}±{uncertainty!r}"
    pairs = zip(value.ravel().tolist(), uncertainty.ravel().tolist(), strict=True)
    return nested_list_text([f"{y!r}±{u!r}" for y, u in pairs], value.shape)


def two_digits(value: float) -> str:
    """Write a number with two digits: ``0.0053``, ``-640``."""
    found = to_two_digits(0.0, abs(value))
    if found is None:
        return f"{value:g}"
    _, number, power = found
    return f"{'-' * (value < 0)}{number:f}" + (f"e{power}" if power else "")


def to_two_digits(value: float, uncertainty: float) -> tuple[Decimal, Decimal, int] | None:
    """Return a value and its uncertainty as decimals, and the power of ten that multiplies them.

    None if the uncertainty is 0 or not finite, or smaller than the spacing of doubles at the value.
    """
    if not (isfinite(value) and isfinite(uncertainty)) or not uncertainty:
        return None
    with localcontext(prec=PRECISE * 3, rounding=ROUND_HALF_EVEN):
        number, deviation = Decimal(value), Decimal(uncertainty)
        place = deviation.adjusted() - 1
        place = deviation.quantize(Decimal(1).scaleb(place)).adjusted() - 1
        if value and number.adjusted() - place >= PRECISE:
            return None
        last = Decimal(1).scaleb(place)
        number, deviation = number.quantize(last), deviation.quantize(last)
        number = number or abs(number)  # no zero is negative
        lead = max(part.adjusted() for part in (number, deviation) if part)
        power = 0 if -5 < lead < LONGEST_FIXED else lead
        return number.scaleb(-power), deviation.scaleb(-power), power
