"""Textbook derivatives: as short as SymPy's, the same in value, and named or not.

``tests/cases/textbook.txt`` holds what SymPy has found, in our notation.  Length is counted in names,
numbers, signs and brackets, alike for both.
"""

from __future__ import annotations

from random import Random

import pytest
from benchmarks.lengths import theirs
from benchmarks.symbols import sympy_read

from corpus import table
from exprgrad.derive.rules import shown
from exprgrad.derive.simplify.formula import simplified_derivatives
from exprgrad.derive.sweeps.gradient import gradient
from exprgrad.language.read.parse import parse_text
from exprgrad.language.write.infix import count_tokens, program_text
from oracles import evaluate, mp, mpf
from together import together

BOOK = list(table("textbook.txt"))
POINTS = 6
VERSION = "1.14.0"
"""SymPy's, of which the table is."""


def derivative(text: str, name: str) -> str:
    return program_text(next(simplified_derivatives(parse_text(text), [name])))


def test_as_short_as_sympys() -> None:
    assert len(BOOK) >= 200
    found = [count_tokens(derivative(text, name)) for text, name, *_ in BOOK]
    for column, least in ((2, 0.95), (3, 0.85)):
        others = [count_tokens(line[column]) for line in BOOK]
        short = [mine <= other for mine, other in zip(found, others, strict=True)]
        assert sum(short) >= least * len(BOOK), column


@together(BOOK, every=5)
def test_the_same_in_value(text: str, name: str, diff: str, simplified: str) -> None:
    """At six points where the rules' own derivative is defined; SymPy's texts, as they were read, too."""
    graph = parse_text(text)
    raw = gradient(graph, [name], shown)
    others = [parse_text(each) for each in (derivative(text, name), diff, simplified)]
    random, compared = Random(text), 0
    with mp.workdps(50):
        for attempt in range(20 * POINTS):
            low = 0.1 if attempt % 2 else -2.5
            point = {each: random.uniform(low, 2.5) for each in graph.inputs}
            true = evaluate(raw.graph, point)[raw.outputs[1]]
            if not mp.isfinite(true):
                continue
            for other in others:
                inputs = {each: point[each] for each in other.inputs}
                value = evaluate(other, inputs)[other.output]
                assert abs(value - true) <= max(1, abs(true)) * mpf(10) ** -30, (
                    point,
                    program_text(other),
                )
            compared += 1
            if compared == POINTS:
                return
    raise AssertionError(f"{compared} points inside the domain")


@together(BOOK, every=3)
def test_no_longer_when_named(text: str, name: str, *_: str) -> None:
    assert derivative(f"whole = {text}", name) == derivative(text, name)


@pytest.mark.slow
@together(BOOK)
def test_what_sympy_finds(text: str, name: str, *held: str) -> None:
    sympy = pytest.importorskip("sympy")
    if sympy.__version__ != VERSION:
        pytest.skip(f"the table is of SymPy {VERSION}")
    graph = parse_text(text)
    output, inputs = sympy_read(sympy, graph)
    x = inputs[list(graph.inputs).index(name)]
    found = [theirs(output, x), theirs(output, x, sympy.simplify)]
    assert [count_tokens(each) for each in found if "Piecewise" not in each] == [
        count_tokens(each)
        for each, other in zip(held, found, strict=True)
        if "Piecewise" not in other
    ]
