"""Local derivatives as nodes: a rule of which numbers are known already is the same rule."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Sequence
from itertools import product
from random import Random

import pytest

from exprgrad.derive.build import GraphBuilder
from exprgrad.derive.rules import template
from exprgrad.derive.sweeps.walks import LONG, specialise_rule
from exprgrad.graph.ops import BY_NAME, OPS
from exprgrad.run.numbers.sweeps import forward_numbers

RULES = [
    (op.name, rule)
    for op in OPS
    for rule in dict.fromkeys(op.partials)
    if len(template(rule)) > LONG
]
NUMBERS = (2.0, 5.0, -0.0, 0.5, -3.0, math.inf, math.nan)
POINTS = (-2.5, -0.0, 0.7, 3.0, math.inf)


def bits(x: float) -> bytes:
    return b"nan" if math.isnan(x) else struct.pack("<d", x)


def drawn(names: Sequence[str]) -> Iterator[list[float]]:
    """Some points for many names."""
    random = Random(len(names))
    return ([random.choice(POINTS) for _ in names] for _ in range(100))


def test_there_are_long_rules() -> None:
    assert {"pow"} < {name for name, _ in RULES}


@pytest.mark.parametrize(("name", "rule"), RULES)
def test_a_rule_with_numbers_is_the_rule(name: str, rule: str) -> None:
    names = list(template(rule).inputs)
    for known in names:
        flag = known.startswith(("varies", "ties"))
        for number in (0.0, 1.0) if flag else NUMBERS:
            whole, short = GraphBuilder(), GraphBuilder()
            given = {n: whole.constant(number) if n == known else whole.input(n) for n in names}
            graph = template(rule)
            output = whole.include(graph, given)[graph.output]
            part = specialise_rule(rule, ((known, number.hex()),))
            given = {n: short.constant(number) if n == known else short.input(n) for n in names}
            other = short.include(part, given)[part.output]
            others = [n for n in names if n != known]
            for point in product(POINTS, repeat=len(others)) if len(others) < 4 else drawn(others):
                at = dict(zip(others, point, strict=True)) | {known: number}
                one = forward_numbers(whole.graph, at)[output]
                assert bits(forward_numbers(short.graph, at)[other]) == bits(one), (
                    known,
                    number,
                    at,
                )


def test_what_a_power_becomes() -> None:
    """x^3 has 3*x^2, and x^2 has 2*x: what is for other exponents is gone before it is built."""
    rule = BY_NAME["pow"].partials[0]
    for exponent, operations in ((2.0, 1), (3.0, 2)):
        found = specialise_rule(rule, (("y", exponent.hex()), ("varies_y", (0.0).hex())))
        assert sum(map(bool, found.operands)) == operations
