"""The page's numbers as people read and type them, against Python's."""

from __future__ import annotations

import math
from random import Random

from exprgrad.show.text.lines import signed_number as number
from scripts import as_json, ask
from strategies import double

EDGES = (
    0.0, -0.0, 1.0, -1.0, 1e21, -1e21, 1e-7, 9.5, 0.5, 1.5, 2.5, 0.25, 0.125, 0.375, 1234565.0, 1234575.0,
    999999.5, 9999995.0, 999999.4999, 0.0001, 0.00001, 0.00012345650, 100000.0, 1e5, 1e6, 1e16, 1e22, 1e300,
    5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 2.0**52 + 0.5, 2.0**-1074 * 3, 8.5, 9.995,
    99.5, 0.1, 1 / 3, 123456789.0, math.pi, -math.e, math.inf, -math.inf, math.nan,
)  # fmt: skip


def test_numbers_are_written_as_python_writes_them() -> None:
    random = Random("written")
    found = [(x, digits) for x in EDGES for digits in (1, 2, 3, 4, 5, 6, 7, 12, 16, 17)]
    found += [(double(random), random.choice((1, 2, 3, 6, 6, 10, 15, 17))) for _ in range(4000)]
    # Ties: odd multiples of half a unit in the last place that is shown.
    for _ in range(2000):
        digits = random.randint(1, 15)
        tie = random.randrange(10 ** (digits - 1), 10**digits) + 0.5
        found.append((tie * 2.0 ** random.choice((0, 0, -1, -3, 1)), digits))
    body = "return ARGS.map(([x, digits]) => number(given(x), digits));"
    (answers,) = ask([(None, body, [(as_json(x), digits) for x, digits in found])])
    for (x, digits), answer in zip(found, answers, strict=True):
        assert answer == number(x, digits), (x, digits)


TYPED: dict[str, float | None] = {
    "2": 2.0, " 2.5 ": 2.5, "-3": -3.0, "−3": -3.0, "+4": 4.0, ".5": 0.5, "2.": 2.0, "1e-3": 1e-3,
    "6.02E23": 6.02e23, "1e−05": 1e-5, "1/3": 1 / 3, "-2*pi": -2 * math.pi, "2 × pi / 4": 2 * math.pi / 4,
    "-inf": -math.inf, "inf": math.inf, "nan": math.nan, "1/0": math.inf, "3/-2": -1.5,
    "−0": -0.0, "1e-07": 1e-7, "5e-324": 5e-324, "1e999": math.inf, "1,5": 1.5, "0,125": 0.125,
    "": None, " ": None, "1,500": None, "1,5,2": None, "1.5.2": None, "a": None,
    "2*": None, "*2": None, "--2": None,
    "1 2": None, "2pi": None, "1e": None, "0x10": None, "Infinity": None, "alert(1)": None, "1+1": None,
    "π": None, "1_000": None, "١": None,
}  # fmt: skip


def test_numbers_that_people_type() -> None:
    (answers,) = ask([(None, "return ARGS.map(parse);", [*TYPED])])
    for (text, value), answer in zip(TYPED.items(), answers, strict=True):
        if value is None or answer is None:
            assert answer is value, text
        elif math.isnan(value):
            assert math.isnan(answer), text
        else:
            assert (answer, math.copysign(1, answer)) == (value, math.copysign(1, value)), text


def test_what_is_written_reads_back() -> None:
    random = Random("read back")
    numbers = [double(random) for _ in range(500)]
    body = "return ARGS.map(x => parse(number(x, 17)));"
    assert ask([(None, body, numbers)]) == [numbers]
