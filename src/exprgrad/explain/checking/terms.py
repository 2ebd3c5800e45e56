"""What two formulas differ by, where it can be told: a sign, a factor, a term, a factor of a term.

Formulas are compared by their values at sampled points, in balls: a sum is taken apart into terms and each
is looked for among those of the other, a product into factors.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple

from exprgrad.explain.checking.verdicts import decimal
from exprgrad.graph.graph import Graph
from exprgrad.graph.ops import BY_NAME
from exprgrad.language.write.infix import ATOM, PRODUCT, SUM, operand_level, texts
from exprgrad.run.balls.balls import Ball, ball
from exprgrad.source import Span

__all__ = ["Found", "Side", "difference"]

LARGEST_DENOMINATOR = 64
"""The largest denominator of a factor that is called by its fraction: people err by such."""
MOST_PARTS = 100
"""The most terms, or factors, that are compared each with each: more of them nobody reads."""
ENOUGH_POINTS = 3
"""The fewest points at which what is the same at all of them is no accident."""


class Side(NamedTuple):
    """A formula, what is claimed or what is true, and by point every node's value, in balls."""

    graph: Graph
    points: list[list[Ball]]

    def values(self, node: int) -> list[Ball]:
        """A node's value at each point."""
        return [values[node] for values in self.points]


class Found(NamedTuple):
    """What the claim has wrong, and where in its text."""

    message: str
    span: Span | None = None


class Piece(NamedTuple):
    """A term or a factor: its text, value at each point, place and node, and how often it is there."""

    text: str
    values: list[Ball]
    span: Span
    node: int
    times: int


def difference(claim: Side, formula: Side) -> Found | None:
    """What a claim that is wrong has wrong; None where it cannot be told."""
    said, true = (side.values(side.graph.output) for side in (claim, formula))
    if len(said) < ENOUGH_POINTS or not all(value.is_finite() for value in said):
        return None
    if all(value.is_zero() for value in true):
        return Found("the derivative is 0 everywhere")
    ratio = constant_ratio(said, true)
    if ratio is not None:
        return Found(f"the claim is {ratio}")
    terms = differing(*(pieces_of(s, s.graph.output, terms=True) for s in (claim, formula)))
    if terms is None:
        return None
    extra, missing = terms
    if len(extra) == len(missing) == 1:
        return one_term(claim, formula, extra[0], missing[0])
    if extra and not missing:
        return Found(f"its term {extra[0].text} is not in the derivative", extra[0].span)
    if missing and not extra:
        return Found(f"it lacks the term {missing[0].text}")
    listed = ", ".join(part.text for part in missing[:3])
    return Found(f"its term {extra[0].text} is not among the terms {listed}", extra[0].span)


def one_term(claim: Side, formula: Side, extra: Piece, missing: Piece) -> Found:
    """The one term that differs, and how."""
    whole = extra.span == claim.graph.span(claim.graph.output)
    what = "it" if whole else f"its term {extra.text}"
    ratio = constant_ratio(extra.values, missing.values)
    if ratio is not None:
        return Found(f"{what} is {ratio.replace('the derivative', missing.text)}", extra.span)
    factors = differing(factors_of(claim, extra), factors_of(formula, missing))
    wrong, right = factors or ([], [])
    if len(wrong) == len(right) == 1 and wrong[0].text != extra.text:
        return Found(f"its factor {wrong[0].text} should be {right[0].text}", wrong[0].span)
    if len(right) == 1 and not wrong:
        return Found(f"{what} lacks the factor {right[0].text}", extra.span)
    if len(wrong) == 1 and not right:
        return Found(f"its factor {wrong[0].text} does not belong there", wrong[0].span)
    return Found(f"{what} should be {missing.text}", extra.span)


def constant_ratio(said: Sequence[Ball], true: Sequence[Ball]) -> str | None:
    """How many times the one is the other, if that is the same at all points; the rest of a sentence."""
    base = next((place for place, value in enumerate(true) if not value.contains(0)), None)
    if base is None or len(said) < ENOUGH_POINTS:
        return None
    pairs = list(zip(said, true, strict=True))
    if not all((one * true[base]).overlaps(said[base] * other) for one, other in pairs):
        return None
    ratio = said[base] / true[base]
    if ratio.contains(0):
        return "0 everywhere"
    fraction = Fraction(float(ratio)).limit_denominator(LARGEST_DENOMINATOR)
    top, bottom = fraction.numerator, fraction.denominator
    if all((one * bottom).overlaps(other * top) for one, other in pairs):
        if fraction == -1:
            return "-1 times the derivative: a sign"
        return f"{fraction} times the derivative: a factor"
    shown = decimal(ratio)
    if shown == "1":  # a factor that rounds to 1 is told by what sets it apart
        sign = "+" if ratio > 1 else "-"
        return f"1 {sign} {decimal(abs(ratio - 1))} times the derivative everywhere: a factor"
    return f"{shown} times the derivative everywhere: a factor"


def counts(kind: str, *, terms: bool) -> tuple[int, ...]:
    """How often each operand of a sum is a term, or of a product a factor; a minus is not a factor."""
    row = BY_NAME.get(kind)
    if row is None:
        return ()
    return row.signs if terms else row.powers or (1,) * (row.signs == (-1,))


def pieces_of(side: Side, root: int, *, terms: bool) -> list[Piece]:
    """The terms or factors of a node, in the graph's order: each once, with how often it is there.

    A node with more than ``MOST_PARTS`` of them is one part.
    """
    graph = side.graph
    times = multiplicities(graph, root, terms=terms)
    if sum(map(abs, times.values())) > MOST_PARTS:
        times = {root: 1}
    written = texts(graph, graph.names())
    found = []
    for node, count in sorted(times.items()):
        is_sum = graph.kinds[node] == "mod"  # for -x%y is (-x)%y
        bound = written[node], SUM if is_sum else operand_level(graph, node, {})
        text = as_multiple(*bound, count) if terms else as_power(*bound, count)
        at = [value * count if terms else value**count for value in side.values(node)]
        found.append(Piece(text, at, graph.span(node), node, count))
    return found


def multiplicities(graph: Graph, root: int, *, terms: bool) -> dict[int, int]:
    """By node that is no sum (or product) itself: how often it is a term (or factor) of another.

    One sweep from the root down, for a node may be reached on more ways than can be counted one by one.
    """
    times, found = {root: 1}, {}
    for node in range(root, -1, -1):
        count = times.pop(node, 0)
        if not count:
            continue
        signs = counts(graph.kinds[node], terms=terms)
        if not signs:
            found[node] = count
            continue
        for operand, sign in zip(graph.operands[node], signs, strict=True):
            times[operand] = times.get(operand, 0) + sign * count
    return found


def as_multiple(text: str, binds: int, count: int) -> str:
    """A term that is there so many times."""
    if count == 1:
        return text
    text = f"({text})" if binds < PRODUCT else text
    return f"-{text}" if count == -1 else f"{count}*{text}"


def as_power(text: str, binds: int, count: int) -> str:
    """A factor that is there so many times, fewer than 0 of them below the line."""
    if count == 1:
        return text
    if count == -1:
        return f"1/({text})" if binds <= PRODUCT else f"1/{text}"
    text = f"({text})" if binds < ATOM else text
    return f"{'1/' * (count < 0)}{text}^{abs(count)}"


def factors_of(side: Side, term: Piece) -> list[Piece]:
    """The factors of a term; how often it is there is one of them."""
    found, count = pieces_of(side, term.node, terms=False), abs(term.times)
    if count == 1:
        return found
    return [Piece(str(count), [ball(count)] * len(term.values), term.span, term.node, 1), *found]


def differing(
    said: Iterable[Piece], true: Iterable[Piece]
) -> tuple[list[Piece], list[Piece]] | None:
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


def equal(one: Piece, other: Piece) -> bool:
    """Whether two parts are equal at all points."""
    return all(a.overlaps(b) for a, b in zip(one.values, other.values, strict=True))
