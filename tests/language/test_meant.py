"""What people type first means what they mean, or is refused with a help that leads there.

``tests/cases/meant.txt`` holds the texts.  A help's formula is applied as a reader would: the whole formula
that it shows, or the call or the name that it suggests in the place of what the caret marks.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

import pytest

import exprgrad
from corpus import table
from exprgrad.errors import ExprgradError
from exprgrad.source import depths

MOST_HELPS = 4
WRITE = re.compile(r"\b(?:write|written|is|are) (?=([^;]+))")
AFTERWARDS = re.compile(r", without |, for |, or | and | for (?!\w+ in )| here$| to |\? ")
MEANT = re.compile(r"did you mean '([^']+)'\?|here it is called '([^']+)'")


def value_of(text: str, names: list[str]) -> float:
    """What a formula gives where each name has a number of its own."""
    values = {name: 0.31 + 0.083 * place for place, name in enumerate(sorted(names))}
    return float(exprgrad.parse(text).evaluate(values).value)


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
    levels = depths(text + " ")
    return next(at for at in range(end + 1, len(text) + 1) if levels[at] == levels[end - 1])


def suggested(text: str, error: ExprgradError) -> Iterator[str]:
    """The texts that a reader makes of a help."""
    help, span = error.help or "", error.span or (0, len(text))
    whole = help.partition("mended: ")[2]
    if whole:
        yield whole
        return
    for one, other in MEANT.findall(help):
        yield text[: span[0]] + (one or other) + text[span[1] :]
    for phrase in WRITE.findall(help):
        ours = AFTERWARDS.split(phrase)[0]
        if is_formula(ours):
            before, after = text[: span[0]], text[call_end(text, span[1]) :]
            repeated = max(k for k in range(len(ours)) if before.endswith(ours[:k]))
            yield f"{before}({ours}){after}"
            yield before[: len(before) - repeated] + ours + after  # 2*e for 2e, with the caret at e
            yield ours


def outcomes(text: str, names: list[str]) -> Iterator[float | ExprgradError]:
    """The value of a text, or of what its helps make of it, or the last error that helps no further."""
    texts = [text]
    for _ in range(MOST_HELPS):
        later: list[str] = []
        for each in texts:
            try:
                yield value_of(each, names)
            except ExprgradError as error:
                given = list(suggested(each, error))
                if not given:
                    yield error
                later += given
        texts = later


ROWS = [(*row, *[""] * (3 - len(row))) for row in table("meant.txt")]


@pytest.mark.parametrize(("text", "meant", "when"), ROWS, ids=[row[0] for row in ROWS])
def test_a_text_or_its_help_means_what_was_meant(text: str, meant: str, when: str) -> None:
    names = list(exprgrad.parse(meant.split(" or ")[0]).inputs) if meant != "-" else []
    found = list(outcomes(text, names))
    numbers = [each for each in found if isinstance(each, float)]
    if meant == "-":
        assert not numbers, numbers
        return
    expected = [value_of(each, names) for each in meant.split(" or ")]
    near = [math.isclose(x, y, rel_tol=2**-45) for x in numbers for y in expected]
    assert any(near) or not numbers, (found, expected)
