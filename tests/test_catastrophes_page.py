"""The page on twenty catastrophes: its formulas are those of the collection, and our numbers are true.

What it says of other libraries is measured by ``benchmarks/catastrophes.py``.
"""

from __future__ import annotations

import re
from pathlib import Path

from corpus import table
from exprgrad import parse
from together import together

PAGE = Path(__file__).parents[1] / "docs" / "explanation" / "catastrophes.md"
REMEDY = "run python -m benchmarks.catastrophes"
POINTS = {(formula, where) for formula, where, _ in table("catastrophes.txt")}


def part(name: str) -> list[list[str]]:
    """The cells of what the benchmark wrote between two markers, line by line."""
    found = re.search(
        rf"<!-- {name} -->\n(.*)<!-- end of {name} -->", PAGE.read_text("utf-8"), re.DOTALL
    )
    assert found is not None
    return [line.strip("| ").split(" | ") for line in found[1].splitlines() if "`" in line]


def test_twenty_formulas_each_with_its_value_and_its_derivative() -> None:
    values, derivatives = part("values"), part("derivatives")
    assert len(values) == 20
    assert [line[0] for line in values] == [line[0] for line in derivatives], REMEDY


@together([*zip(part("values"), part("derivatives"), strict=True)])
def test_our_numbers_are_those_on_the_page(value: list[str], derivative: list[str]) -> None:
    formula, where = value[0].removeprefix("`").split("`, ")
    point = {name: float(x) for name, x in (pair.split("=") for pair in where.split())}
    numbers = {
        (f, tuple(float(pair.split("=")[1]) for pair in inputs.split()))
        for f, inputs in POINTS
        if f == formula
    }
    assert (formula, tuple(point.values())) in numbers
    true = parse(formula).gradient(point).true
    for line, number in ((value, true.value), (derivative, true.gradient[next(iter(point))])):
        assert line[1] == line[2], REMEDY
        assert abs(float(line[2]) - number) <= 1e-5 * abs(number), REMEDY
