"""What people type first means what they mean, or is refused with a help that leads there.

``tests/cases/meant.txt`` holds the texts, and beside each what it means.  A help is read as it is printed,
and each formula that it shows is put where a reader would put it, letter by letter.  The meaning is
evaluated by Python over mpmath, which knows nothing of our language.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest
from mpmath import mp

import exprgrad
from corpus import table
from exprgrad.errors import ExprgradError
from exprgrad.source import bracket_depths

MOST_HELPS = 5
POINTS = ((0.31, 0.083), (0.57, 0.046))
"""Where a text and its meaning are compared: the first input's value, and the step to the next one's."""
WRITE = re.compile(r"(?:^|[;,:.?] )(for [^;]*?)?[^;:,]*\bwrite (?=([^;]+))|\bwritten (?=([^;]+))")
AFTERWARDS = re.compile(r", without |, for | and | for (?!\w+ in )| on | here$| to |\? |: ")
MEANT = re.compile(r"did you mean '([^']+)'\?|here it is called '([^']+)'")
NAMES = """
acos acosh acot asin asinh atan atan2 atanh besseli besselj besselk bessely beta binomial
cbrt ceil cos cosh cot csc digamma ellipe ellipk erf erfc erfi erfinv exp expm1 factorial
floor fresnelc fresnels gamma hypot li log log10 log1p sec sech sign sin sinh sqrt tan
tanh zeta
"""
"""Functions that mpmath calls as the meanings do."""
MEANINGS: dict[str, Callable[..., Any]] = {
    **{name: getattr(mp, name) for name in NAMES.split()},
    "E1": mp.e1,
    "Ei": mp.ei,
    "abs": abs,
    "clamp": lambda x, low, high: min(max(x, low), high),
    "deg": mp.degrees,
    "gelu": lambda x: x * mp.ncdf(x),
    "heaviside": lambda x: (1 + mp.sign(x)) / 2,
    "lambertw": mp.lambertw,
    "lgamma": mp.loggamma,
    "log2": lambda x: mp.log(x, 2),
    "max": max,
    "min": min,
    "norminv": lambda p: mp.sqrt(2) * mp.erfinv(2 * p - 1),
    "normcdf": mp.ncdf,
    "normpdf": mp.npdf,
    "polygamma": mp.polygamma,
    "rad": mp.radians,
    "relu": lambda x: max(x, 0),
    "round": mp.nint,
    "sigmoid": lambda x: 1 / (1 + mp.exp(-x)),
    "silu": lambda x: x / (1 + mp.exp(-x)),
    "sinc": lambda x: mp.sin(x) / x,
    "softplus": lambda x: mp.log(1 + mp.exp(x)),
    "trunc": lambda x: mp.sign(x) * mp.floor(abs(x)),
    "where": lambda condition, x, y: x if condition else y,
    "xlogy": lambda x, y: x * mp.log(y),
}


class Suggestion(NamedTuple):
    """A formula of a help: the texts that a reader may make of it, and whether a condition precedes it."""

    texts: tuple[str, ...]
    is_conditional: bool


def names_in(meaning: str) -> list[str]:
    """The inputs of a meaning."""
    return sorted({*re.findall(r"(?<![\w.])[^\W\d]\w*\b(?!\()", meaning)} - {"pi", "or"})


def values_of(names: list[str]) -> Iterator[dict[str, float]]:
    """Values of inputs, at each of the points."""
    for first, step in POINTS:
        yield {name: first + step * place for place, name in enumerate(names)}


def meaning_of(meaning: str, values: dict[str, float]) -> Any:
    """What was meant, evaluated by Python."""
    numbers = {name: mp.mpf(value) for name, value in values.items()}
    return eval(meaning.replace("^", "**"), {**MEANINGS, "pi": mp.pi, **numbers})


def agrees(text: str, meaning: str, names: list[str]) -> bool:
    """Whether a text has its meaning's value at each point; raises the error of one that can't be read."""
    found = [
        (float(exprgrad.parse(text).evaluate(values).value), values) for values in values_of(names)
    ]
    return meaning != "-" and all(
        mp.almosteq(value, meaning_of(meaning, values), 2**-44, 2**-44) for value, values in found
    )


def is_formula(text: str) -> bool:
    """Whether a piece of a help is a formula, and more than a name."""
    try:
        exprgrad.parse(text)
    except ExprgradError:
        return False
    return not text.isidentifier()


def call_end(text: str, end: int) -> int:
    """Where the call ends whose name ends at an offset; the offset itself where there is none."""
    if text[end : end + 1] not in ("(", "["):
        return end
    levels = bracket_depths(text)
    closed = (at + 1 for at in range(end + 1, len(text)) if levels[at] == levels[end - 1])
    return next(closed, len(text))


def placed(text: str, span: tuple[int, int], ours: str) -> tuple[str, ...]:
    """A formula of a help in the place of what the caret marks, beside what it repeats, and by itself."""
    before, after = text[: span[0]], text[call_end(text, span[1]) :]
    bare = before.rstrip()
    repeated = max(k for k in range(len(ours)) if bare.endswith(ours[:k]))
    overlapping = bare[: len(bare) - repeated] + ours + after  # 2*e for 2 e, with the caret at e
    return before + ours + after, overlapping, ours


def suggested(text: str, error: ExprgradError) -> Iterator[Suggestion]:
    """The formulas that a help shows."""
    help, span = error.help or "", error.span or (0, len(text))
    said, _, whole = help.partition("mended: ")
    if whole:  # then what else is written is a part of it
        yield Suggestion((whole,), False)
        return
    for one, other in MEANT.findall(said):
        yield Suggestion((text[: span[0]] + (one or other) + text[span[1] :],), False)
    for condition, first, second in WRITE.findall(said):
        phrases = AFTERWARDS.split(first or second)[0].split(" or ")
        for ours in filter(is_formula, map(str.strip, phrases)):
            yield Suggestion(placed(text, span, ours), bool(condition) or len(phrases) > 1)


def leads_there(text: str, meaning: str, names: list[str], helps: int = 0) -> bool | None:
    """Whether a text means what was meant, or leads there by its helps; None where they name no formula."""
    try:
        return any(agrees(text, each, names) for each in meaning.split(" or "))
    except ExprgradError as error:
        found = [*suggested(text, error)] if helps < MOST_HELPS else []
    ends = [
        (each.is_conditional, [leads_there(t, meaning, names, helps + 1) for t in each.texts])
        for each in found
    ]
    sure = [any(e) or (helps == 0 and {*e} == {None}) for conditional, e in ends if not conditional]
    if meaning == "-":  # a formula with its condition says itself what it means
        return (
            False if False in [x for conditional, e in ends if not conditional for x in e] else None
        )
    if not ends:
        return None if helps == 0 else False
    return all(sure) and (bool(sure) or any(True in e for _, e in ends))


ROWS = [(*row, *[""] * (3 - len(row))) for row in table("meant.txt")]


@pytest.mark.parametrize(("text", "meant", "when"), ROWS, ids=[row[0] for row in ROWS])
def test_a_text_or_its_help_means_what_was_meant(text: str, meant: str, when: str) -> None:
    assert leads_there(text, meant, names_in(meant)) is not False
