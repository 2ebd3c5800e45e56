"""What two formulas differ by, where it can be told: a sign, a factor, a term, a factor of a term.

Formulas are compared by their values at sampled points, in balls: a sum is taken apart into terms and each
is looked for among those of the other, a product into factors.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple

from exprgrad.graph.graph import Graph
from exprgrad.language.infix import texts
from exprgrad.run.balls import Ball
from exprgrad.source import Span

__all__ = ["Compared", "Found", "difference"]

LARGEST = 64
"""The largest denominator of a factor that is called by its fraction."""
ENOUGH = 3
"""The fewest points at which what is the same at all of them is no accident."""


class Compared(NamedTuple):
    """A claim and the true formula, and by point every node of each, in balls."""

    claim: Graph
    formula: Graph
    said: list[list[Ball]]
    true: list[list[Ball]]


class Found(NamedTuple):
    """What the claim has wrong, and where in its text."""

    message: str
    span: Span | None = None


class Part(NamedTuple):
    """A term or a factor: its text, its value at each point, and its place."""

    text: str
    values: list[Ball]
    span: Span


def difference(compared: Compared) -> Found | None:
    """What a claim that is wrong has wrong; None where it cannot be told."""
    said = [values[compared.claim.output] for values in compared.said]
    true = [values[compared.formula.output] for values in compared.true]
    if len(said) < ENOUGH or not all(value.is_finite() for value in said):
        return None
    if all(value.is_zero() for value in true):
        return Found("the derivative is 0 everywhere: the formula does not depend on it")
    ratio = constant_ratio(said, true)
    if ratio is not None:
        return Found(f"the claim is {ratio}")
    terms = differing(
        parts(compared.claim, compared.said, SUM), parts(compared.formula, compared.true, SUM)
    )
    if terms is None:
        return None
    extra, missing = terms
    if len(extra) == len(missing) == 1:
        return one_term(compared, extra[0], missing[0])
    if extra and not missing:
        return Found(f"its term {extra[0].text} is not in the derivative", extra[0].span)
    if missing and not extra:
        return Found(f"it lacks the term {missing[0].text}")
    listed = ", ".join(part.text for part in missing[:3])
    return Found(f"its term {extra[0].text} is not among the terms {listed}", extra[0].span)


def one_term(compared: Compared, extra: Part, missing: Part) -> Found:
    """The one term that differs, and what of it."""
    whole = extra.span == compared.claim.span(compared.claim.output)
    what = "it" if whole else f"its term {extra.text}"
    ratio = constant_ratio(extra.values, missing.values)
    if ratio is not None:
        return Found(f"{what} is {ratio.replace('the derivative', missing.text)}", extra.span)
    said = factors_of(compared.claim, compared.said, extra)
    factors = differing(said, factors_of(compared.formula, compared.true, missing))
    if factors is not None and len(factors[0]) == len(factors[1]) == 1:
        (wrong,), (right,) = factors
        if wrong.text != extra.text:
            return Found(f"its factor {wrong.text} should be {right.text}", wrong.span)
    if factors is not None and not factors[0] and len(factors[1]) == 1:
        return Found(f"{what} lacks the factor {factors[1][0].text}", extra.span)
    if factors is not None and len(factors[0]) == 1 and not factors[1]:
        return Found(f"its factor {factors[0][0].text} does not belong there", factors[0][0].span)
    return Found(f"{what} should be {missing.text}", extra.span)


def constant_ratio(said: Sequence[Ball], true: Sequence[Ball]) -> str | None:
    """How many times the one is the other, if that is the same at all points; the rest of a sentence."""
    base = next((place for place, value in enumerate(true) if not value.contains(0)), None)
    if base is None or len(said) < ENOUGH:
        return None
    pairs = list(zip(said, true, strict=True))
    if not all((one * true[base]).overlaps(said[base] * other) for one, other in pairs):
        return None
    ratio = said[base] / true[base]
    if ratio.contains(0):
        return "0 everywhere"
    fraction = Fraction(float(ratio)).limit_denominator(LARGEST)
    top, bottom = fraction.numerator, fraction.denominator
    if all((one * bottom).overlaps(other * top) for one, other in pairs):
        if fraction == -1:
            return "−1 times the derivative: a sign"
        return f"{str(fraction).replace('-', '−')} times the derivative: a factor"
    written = ratio.mid().str(6, radius=False).replace("-", "−")
    return f"{written} times the derivative everywhere: a factor"


SUM = {"add": (1, 1), "sub": (1, -1), "neg": (-1,)}
PRODUCT = {"mul": (1, 1), "div": (1, -1), "neg": (1,)}
"""What takes a sum or a product apart: for each operand its sign, or its power."""


def parts(
    graph: Graph, values: list[list[Ball]], kinds: dict[str, tuple[int, ...]], root: int = -1
) -> list[Part]:
    """The terms or factors of a node, by default of the output, from left to right."""
    names = graph.names()
    written = texts(graph, names)
    found = []
    todo = [(graph.output if root < 0 else root, 1)]
    while todo:
        node, sign = todo.pop()
        kind = graph.kinds[node]
        if kind in kinds:
            signs = kinds[kind]
            operands = list(zip(graph.operands[node], signs, strict=True))
            todo += [(operand, sign * own) for operand, own in reversed(operands)]
            continue
        at = [point[node] for point in values]
        text = written[node]
        if sign < 0 and kinds is SUM:
            text, at = f"−{text}", [-value for value in at]
        elif sign < 0:
            text, at = f"1/{text}", [1 / value for value in at]
        found.append(Part(text, at, graph.span(node)))
    return found


def factors_of(graph: Graph, values: list[list[Ball]], term: Part) -> list[Part]:
    """The factors of a term, which is found again by its values and place."""
    for node in range(len(graph) - 1, -1, -1):
        at = [point[node] for point in values]
        if graph.span(node) == term.span and all(map(equal_size, at, term.values)):
            return parts(graph, values, PRODUCT, node)
    return [term]


def equal_size(one: Ball, other: Ball) -> bool:
    """Whether two numbers are equal but for their sign."""
    return bool(abs(one).overlaps(abs(other)))


def differing(said: Iterable[Part], true: Iterable[Part]) -> tuple[list[Part], list[Part]] | None:
    """The parts of each side that are not on the other; None if that are all of several."""
    extra, missing = list(said), list(true)
    before = len(extra), len(missing)
    for part in list(extra):
        same = next((other for other in missing if equal(part, other)), None)
        if same is not None:
            extra.remove(part)
            missing.remove(same)
    if (len(extra), len(missing)) == before and before != (1, 1):
        return None
    return extra, missing


def equal(one: Part, other: Part) -> bool:
    """Whether two parts are equal at all points."""
    return all(a.overlaps(b) for a, b in zip(one.values, other.values, strict=True))
