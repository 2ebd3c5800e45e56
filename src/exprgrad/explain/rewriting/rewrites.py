"""Formulas that are right on paper and go wrong in doubles, and what to write instead.

``REWRITES`` is a table of patterns, which ``rewrites_at_node`` finds in a formula.  A rewrite is suggested
only if a trial at the point shows that it is finite, or keeps digits.  Sources: Kahan, Branch Cuts for
Complex Elementary Functions (1987); Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed. (2002),
sections 1.7 to 1.14; Goldberg, What Every Computer Scientist Should Know About Floating-Point Arithmetic
(1991); Mächler, Accurately Computing log(1 - exp(-|a|)) (2012); Blanchard, D. Higham and N. Higham,
Accurately computing the log-sum-exp and softmax functions (2021).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import islice
from typing import NamedTuple

from exprgrad.derive.parsed import parse_and_derive
from exprgrad.derive.rules import operation_count, template
from exprgrad.explain.digits.judgements import (
    FIRST_BITS,
    MOST_WORK,
    Judgement,
    enclose_outputs,
    judge_number,
)
from exprgrad.explain.places import live_nodes
from exprgrad.explain.rewriting.matching import Match, Reading, Terms, match_pattern
from exprgrad.graph.graph import (
    CONST,
    INPUT,
    Algebra,
    Graph,
    dependency_flags,
    interpret,
    splice_graph,
    transform_graph,
    with_output,
)
from exprgrad.graph.ops import BY_INFIX, BY_NAME, BY_SIGNS, PRODUCTS, SUMS
from exprgrad.language.write.infix import LIMIT, binding_level, expression_text, operand_level
from exprgrad.run.balls.balls import Ball
from exprgrad.run.evaluation import SweptRun
from exprgrad.run.numbers.sweeps import forward_numbers, reverse_sweep
from exprgrad.source import Span, cut_text

__all__ = [
    "EXTENSIONS", "REWRITES", "Fix", "FixFinder", "Rewrite", "TriedFix", "apply_fix", "condition_text",
    "replace_node", "rewrite_advice", "rewrite_conditions", "rewrites_at_node",
]  # fmt: skip


class Rewrite(NamedTuple):
    """A pattern and a better formula for it, both in our language.

    ``why``      what goes wrong with the pattern
    ``at``       a point at which it does: ``x=1e-10 y=2``
    ``where``    the condition under which both are equal, at least in the limit; always if empty
    ``repeats``  the name whose term of a sum may occur any number of times
    """

    pattern: str
    better: str
    why: str
    at: str
    where: str = ""
    repeats: str = ""


class Fix(NamedTuple):
    """A rewrite of one part of a formula.

    ``node``   the node that the pattern matches
    ``span``   its place in the text
    ``was``    its text
    ``text``   the text to write instead
    ``loose``  whether that binds less tightly than the operation before
    ``where``  the rewrite's conditions, on the user's operands
    """

    node: int
    span: Span
    was: str
    text: str
    rewrite: Rewrite
    loose: bool = False
    where: tuple[str, ...] = ()


class TriedFix(NamedTuple):
    """A fix that was tried at the point: ``text`` instead of ``was``, and the number that results.

    ``where`` says for which inputs the two are equal; None if they always are.
    """

    span: Span
    was: str
    text: str
    where: str | None
    expression: str
    value: float
    digits: int
    verdict: str

    @property
    def advice(self) -> str:
        """The text to write instead, and where it is equal."""
        where = f" where {self.where}" if self.where else ""
        return f"write {self.text} instead of {self.was}{where}"


SATURATES = "sigmoid(x) is 1 in doubles before its logarithm is 0"
OVERFLOW = "a part overflows where the whole does not"
CANCELS = "the difference of nearly equal numbers keeps few digits"
ABSORBED = "a small number is lost beside a large one"
UNDEFINED = "0 meets an infinity, or 0 is divided by 0"

# fmt: off
REWRITES: tuple[Rewrite, ...] = (
    # Exponentials in fractions.
    Rewrite("x/(1 + exp(-x))", "silu(x)", OVERFLOW, "x=-800"),
    Rewrite("y/(1 + exp(-x))", "y*sigmoid(x)", OVERFLOW, "x=-800 y=1"),
    Rewrite("y/(1 + exp(x))", "y*sigmoid(-x)", OVERFLOW, "x=800 y=1"),
    Rewrite("y*exp(x)/(1 + exp(x))", "y*sigmoid(x)", OVERFLOW, "x=800 y=3"),
    Rewrite("exp(x)/(1 + exp(x))^2", "sigmoid(x)*sigmoid(-x)", OVERFLOW, "x=800"),
    Rewrite("y/(1 + exp(x))^2", "y*sigmoid(-x)^2", OVERFLOW, "x=800 y=1"),
    Rewrite("exp(x)/(1 + exp(x))", "sigmoid(x)", OVERFLOW, "x=800"),
    Rewrite("exp(x)/(exp(x) + exp(y))", "sigmoid(x - y)", OVERFLOW, "x=800 y=799"),
    Rewrite("exp(x)/(exp(x) + exp(y))", "exp(x - logsumexp(x, y))", OVERFLOW, "x=800 y=799", repeats="y"),
    Rewrite("(exp(x) - exp(-x))/(exp(x) + exp(-x))", "tanh(x)", OVERFLOW, "x=800"),
    Rewrite("(exp(2*x) - 1)/(exp(2*x) + 1)", "tanh(x)", OVERFLOW, "x=400"),
    Rewrite("(exp(x) - 1)/(exp(x) + 1)", "tanh(x/2)", OVERFLOW, "x=800"),
    Rewrite("(1 - exp(-2*x))/(1 + exp(-2*x))", "tanh(x)", OVERFLOW, "x=-400"),
    Rewrite("(1 - exp(x))/(1 + exp(x))", "tanh(-x/2)", OVERFLOW, "x=800"),
    Rewrite("(exp(x) - exp(-x))/2", "sinh(x)", CANCELS, "x=1e-9"),
    Rewrite("(exp(x) + exp(-x))/2", "cosh(x)", OVERFLOW, "x=710"),
    Rewrite("sinh(x)/cosh(x)", "tanh(x)", OVERFLOW, "x=800"),
    Rewrite("1/cosh(x)^2", "4*sigmoid(2*x)*sigmoid(-2*x)", OVERFLOW, "x=800"),
    Rewrite("y/cosh(x)", "2*y*exp(-abs(x))*sigmoid(2*abs(x))", OVERFLOW, "x=800 y=1"),
    Rewrite("exp(x)*exp(y)", "exp(x + y)", OVERFLOW, "x=800 y=-799"),
    Rewrite("exp(x)/exp(y)", "exp(x - y)", OVERFLOW, "x=800 y=799"),
    Rewrite("y/exp(x)", "y*exp(-x)", OVERFLOW, "x=720 y=1"),
    Rewrite("exp(x)^y", "exp(x*y)", OVERFLOW, "x=800 y=0.5"),
    Rewrite("x^y*exp(z)", "exp(y*log(x) + z)", OVERFLOW, "x=500 y=150 z=-500", "x > 0"),
    Rewrite("sqrt(exp(x))", "exp(x/2)", OVERFLOW, "x=800"),
    # Logarithms.
    Rewrite("log(1 + exp(x))", "softplus(x)", OVERFLOW, "x=800"),
    Rewrite("log1p(exp(x))", "softplus(x)", OVERFLOW, "x=800"),
    Rewrite("log(1 + exp(x) + exp(y))", "logsumexp(0, x, y)", OVERFLOW, "x=800 y=799", repeats="y"),
    Rewrite("log(exp(x) + exp(y))", "logsumexp(x, y)", OVERFLOW, "x=800 y=799", repeats="y"),
    Rewrite("log(y + exp(x))", "logsumexp(log(y), x)", OVERFLOW, "x=800 y=3", "y > 0"),
    Rewrite("log(exp(x)/(exp(x) + exp(y)))", "x - logsumexp(x, y)", OVERFLOW, "x=800 y=1", repeats="y"),
    Rewrite("log(1/(1 + exp(x)))", "logsigmoid(-x)", OVERFLOW, "x=800"),
    Rewrite("log(sigmoid(x))", "logsigmoid(x)", SATURATES, "x=40"),
    Rewrite("log(1 - sigmoid(x))", "logsigmoid(-x)", CANCELS, "x=40"),
    Rewrite("log(exp(x) - 1)", "x + log(-expm1(-x))", OVERFLOW, "x=800", "x > 0"),
    Rewrite("log(1 - exp(x))", "log(-expm1(x))", CANCELS, "x=-1e-10", "x < 0"),
    Rewrite("log(cosh(x))", "logsumexp(x, -x) - log(2)", OVERFLOW, "x=800"),
    Rewrite("log(y*exp(x))", "log(y) + x", OVERFLOW, "x=800 y=2", "y > 0"),
    Rewrite("log(exp(x))", "x", OVERFLOW, "x=800"),
    Rewrite("log(1 + x)", "log1p(x)", ABSORBED, "x=1e-10", "x > -1"),
    Rewrite("log(x^y)", "y*log(x)", OVERFLOW, "x=1e200 y=3", "x > 0"),
    Rewrite("log(x*y)", "log(x) + log(y)", OVERFLOW, "x=1e200 y=1e200", "(x > 0)*(y > 0)"),
    Rewrite("log(x/y)", "log(x) - log(y)", OVERFLOW, "x=1e200 y=1e-200", "(x > 0)*(y > 0)"),
    Rewrite("log(x) - log(y)", "log1p((x - y)/y)", CANCELS, "x=1e15 y=999999999999999", "(x > 0)*(y > 0)"),
    Rewrite("log((1 + x)/(1 - x))", "2*atanh(x)", ABSORBED, "x=1e-10", "abs(x) < 1"),
    Rewrite("log(x + sqrt(x^2 + 1))", "asinh(x)", CANCELS, "x=-1e10"),
    Rewrite("log(x + sqrt(x^2 - 1))", "acosh(x)", OVERFLOW, "x=1e200", "x >= 1"),
    # Roots and powers.
    Rewrite(
        "sqrt(w^2 + x^2 + y^2 + z^2)", "hypot(hypot(w, x), hypot(y, z))",
        OVERFLOW, "w=1e200 x=2e200 y=4e200 z=6e200",
    ),
    Rewrite("sqrt(x^2 + y^2 + z^2)", "hypot(hypot(x, y), z)", OVERFLOW, "x=1e200 y=2e200 z=3e200"),
    Rewrite("sqrt(x^2 + y^2)", "hypot(x, y)", OVERFLOW, "x=3e200 y=4e200"),
    Rewrite("sqrt(1 + x^2)", "hypot(1, x)", OVERFLOW, "x=1e200"),
    Rewrite("sqrt(x^2)", "abs(x)", OVERFLOW, "x=1e200"),
    Rewrite("sqrt(x*y)", "sqrt(x)*sqrt(y)", OVERFLOW, "x=1e200 y=4e200", "(x >= 0)*(y >= 0)"),
    Rewrite(
        "sqrt(x) - sqrt(y)", "(x - y)/(sqrt(x) + sqrt(y))",
        CANCELS, "x=1e15 y=999999999999999", "(x > 0)*(y > 0)",
    ),
    Rewrite("sqrt(1 + x) - 1", "x/(sqrt(1 + x) + 1)", CANCELS, "x=1e-10", "x >= -1"),
    Rewrite(
        "sqrt(y^2 + x) - y", "x/(sqrt(y^2 + x) + y)",
        CANCELS, "x=1 y=100000000", "(y^2 + x >= 0)*(y > 0)",
    ),
    Rewrite(
        "sqrt(y^2 + x) + y", "x/(sqrt(y^2 + x) - y)",
        CANCELS, "x=1 y=-100000000", "(y^2 + x >= 0)*(y < 0)",
    ),
    Rewrite(
        "cbrt(x) - cbrt(y)", "(x - y)/(cbrt(x)^2 + cbrt(x)*cbrt(y) + cbrt(y)^2)",
        CANCELS, "x=1e15 y=999999999999999", "x*y > 0",
    ),
    Rewrite("x^2 - y^2", "(x - y)*(x + y)", CANCELS, "x=100000001 y=100000000"),
    Rewrite("1 - x^2", "(1 - x)*(1 + x)", CANCELS, "x=1.0000000001"),
    Rewrite("x^2 - 1", "(x - 1)*(x + 1)", CANCELS, "x=1.0000000001"),
    Rewrite("x^y - 1", "expm1(y*log(x))", CANCELS, "x=1.5 y=1e-10", "x > 0"),
    Rewrite("1/x - 1/y", "(y - x)/(x*y)", CANCELS, "x=100000000 y=100000001", "(x != 0)*(y != 0)"),
    # Differences of functions.
    Rewrite("exp(x) - 1", "expm1(x)", CANCELS, "x=1e-10"),
    Rewrite("exp(x) - exp(y)", "exp(y)*expm1(x - y)", CANCELS, "x=2.0000000001 y=2"),
    Rewrite("1 - 1/(1 + exp(-x))", "sigmoid(-x)", CANCELS, "x=40"),
    Rewrite("1 - sigmoid(x)", "sigmoid(-x)", CANCELS, "x=40"),
    Rewrite("1 - tanh(x)^2", "4*sigmoid(2*x)*sigmoid(-2*x)", CANCELS, "x=20"),
    Rewrite("softplus(x) - x", "softplus(-x)", CANCELS, "x=40"),
    Rewrite("logsumexp(x, y) - x", "softplus(y - x)", CANCELS, "x=40 y=0"),
    Rewrite("1 - tanh(x)", "2*sigmoid(-2*x)", CANCELS, "x=20"),
    Rewrite("1 + tanh(x)", "2*sigmoid(2*x)", CANCELS, "x=-20"),
    Rewrite("1 - erf(x)", "erfc(x)", CANCELS, "x=6"),
    Rewrite("x*(1 + erf(x/sqrt(2)))/2", "gelu(x)", CANCELS, "x=-8"),
    Rewrite("1 + erf(x)", "erfc(-x)", CANCELS, "x=-6"),
    Rewrite("1 - erfc(x)", "erf(x)", CANCELS, "x=1e-10"),
    Rewrite("erf(x) - erf(y)", "erfc(y) - erfc(x)", CANCELS, "x=6 y=5"),
    Rewrite("1 - cos(x)", "2*sin(x/2)^2", CANCELS, "x=1e-5"),
    Rewrite("1 - sin(x)^2", "cos(x)^2", CANCELS, "x=1.5707963"),
    Rewrite("1 - cos(x)^2", "sin(x)^2", CANCELS, "x=1e-5"),
    Rewrite("sin(x) - sin(y)", "2*cos((x + y)/2)*sin((x - y)/2)", CANCELS, "x=1.0000000001 y=1"),
    Rewrite("cos(x) - cos(y)", "2*sin((y + x)/2)*sin((y - x)/2)", CANCELS, "x=1.0000000001 y=1"),
    Rewrite("tan(x) - sin(x)", "2*tan(x)*sin(x/2)^2", CANCELS, "x=1e-5"),
    Rewrite("tan(x) - tan(y)", "sin(x - y)/(cos(x)*cos(y))", CANCELS, "x=1.0000000001 y=1"),
    Rewrite("atan(x) - atan(y)", "atan2(x - y, 1 + x*y)", CANCELS, "x=100000001 y=100000000", "x*y > -1"),
    Rewrite("acos(1 - x)", "2*asin(sqrt(x/2))", ABSORBED, "x=1e-10", "(0 <= x)*(x <= 2)"),
    Rewrite("acosh(1 + x)", "2*asinh(sqrt(x/2))", ABSORBED, "x=1e-10", "x >= 0"),
    # Quotients at 0.
    Rewrite("atan(y/x)", "atan2(y, x)", UNDEFINED, "x=0 y=1", "x >= 0"),
    Rewrite("sin(x)/x", "sinc(x)", UNDEFINED, "x=0"),
    Rewrite("y*sin(x)/x", "y*sinc(x)", UNDEFINED, "x=0 y=2"),
    Rewrite("tan(x)/x", "sinc(x)/cos(x)", UNDEFINED, "x=0"),
    Rewrite("(1 - cos(x))/x^2", "sinc(x/2)^2/2", UNDEFINED, "x=0"),
    Rewrite("x*log(y)", "xlogy(x, y)", UNDEFINED, "x=0 y=0", "y >= 0"),
    Rewrite("exp(y*log(x))", "x^y", UNDEFINED, "x=0 y=2", "x >= 0"),
    Rewrite("exp(log(x))", "x", UNDEFINED, "x=0", "x >= 0"),
    Rewrite("sqrt(x)^2", "x", UNDEFINED, "x=0", "x >= 0"),
    Rewrite("x/sqrt(x)", "sqrt(x)", UNDEFINED, "x=0", "x >= 0"),
)
# fmt: on

EXTENSIONS = (
    Rewrite("x^(1/3)", "cbrt(x)", "the real cube root", "x=-8", "x >= 0"),
    Rewrite("x^y", "abs(x)^y", "the power of the absolute value", "x=-8 y=0.5", "x >= 0"),
)
"""Formulas that are also defined outside a pattern's domain; ``why`` says what they are there."""

REACH = 6
"""The most operations from a node up to the root of its pattern; a run of sums counts as one."""
DELIMITERS = ("", "(", ")", ",", "=", ";", "#", "\n", "\r")
"""The characters between which a part of a formula needs no parentheses."""
LARGEST_WHOLE = 2.0**40
"""Smaller whole numbers in one sum are added up."""
CANDIDATES = 200
"""The most nodes above a node at which patterns are tried."""


def rewrites_at_node(
    graph: Graph, texts: Sequence[str], node: int, table: Sequence[Rewrite] = REWRITES
) -> Iterator[Fix]:
    """Yield a fix for every pattern that has a node as one of its operations, larger patterns first.

    ``texts`` are the nodes' texts.  There are no fixes for tensors, even if they are written out number by
    number: their text would have ``X[0]`` in it, which is not an input.
    """
    if graph.shapes or not all(map(str.isidentifier, graph.inputs)):
        return
    # A term of a recurrence, s[1], would be read as a number of a tensor.
    names = {at: name for at, name in graph.names().items() if name.isidentifier()}
    reading = Reading(graph, names)
    roots = users_within_reach(graph, node)
    for rewrite in sorted(table, key=lambda one: -operation_count(one.pattern)):
        pattern = template(rewrite.pattern)
        done: set[int] = set()
        for root in roots:
            if not done.isdisjoint(graph.operands[root]):
                done.add(root)  # the same again, as a part of a longer sum
                continue
            for match in match_pattern(reading, pattern, rewrite.repeats, root):
                if node not in match.inside:
                    continue
                done.add(root)
                better = build_rewrite(reading, template(rewrite.better), match, rewrite.repeats)
                text = expression_text(reading.graph, better, names, None)
                loose = operand_level(reading.graph, better, names) < binding_level(
                    graph.kinds[root]
                )
                plain = match._replace(sign=1, rest=(), more=())
                where = [
                    build_rewrite(reading, template(w), plain, "")
                    for w in rewrite_conditions(rewrite)
                ]
                said = tuple([expression_text(reading.graph, one, names, None) for one in where])
                yield Fix(root, graph.span(root), texts[root], text, rewrite, loose, said)
                break


@cache
def rewrite_conditions(rewrite: Rewrite) -> tuple[str, ...]:
    """Return the conditions of a rewrite, all of which must hold, as texts."""
    if not rewrite.where:
        return ()
    graph = template(rewrite.where)
    found, parts = [graph.output], list[int]()
    while found:
        node = found.pop()
        if BY_NAME[graph.kinds[node]].logic == "and":
            found += reversed(graph.operands[node])
        else:
            parts.append(node)
    return tuple([expression_text(graph, part, {}, None) for part in parts])


def users_within_reach(graph: Graph, node: int) -> list[int]:
    """List a node and its direct and indirect users within reach of a pattern, in order."""
    if graph.kinds[node] in (INPUT, CONST):
        return []
    distance = {node: 0}
    for user in range(node + 1, len(graph)):
        near = [o for o in graph.operands[user] if o in distance]
        if not near:
            continue
        adds = graph.kinds[user] in SUMS
        far = min(distance[o] + (not (adds and graph.kinds[o] in SUMS)) for o in near)
        if far <= REACH and graph.kinds[user] in BY_NAME:
            distance[user] = far
            if len(distance) == CANDIDATES:
                break
    return list(distance)


def apply_fix(text: str, fix: Fix) -> str:
    """Return the whole formula's text with a fix in it; its statements keep their names."""
    start, end = fix.span
    before, behind = text[:start], text[end:]
    alone = before.rstrip(" ")[-1:] in DELIMITERS and behind.lstrip(" ")[:1] in DELIMITERS
    written = f"({fix.text})" if fix.loose and not alone else fix.text
    return before + written + behind


# Written with the user's operands.


def build_rewrite(reading: Reading, better: Graph, match: Match, repeats: str) -> int:
    """Build the better formula on the user's operands, simplified for the reader.

    Signs move to the front, terms that cancel are left out, and so are factors of 1: ``(x - y)/…`` with
    ``t + 1`` for x and ``t`` for y becomes ``1/…``.
    """

    def given(terms: Terms) -> Terms:
        """A part of the user's formula as a sum with its signs in front; a named part is one term."""
        whole = len(terms) == 1 and terms[0][1] in reading.names
        return tuple(
            (-sign, reading.negated(part)) if reading.is_negative(part) else (sign, part)
            for sign, part in (terms if whole else reading.spread(terms)[0])
        )

    def constant(graph: Graph, node: int) -> Terms:
        number = reading.append(CONST, (), graph.payloads[node])
        if node in graph.symbols:
            reading.graph.symbols[number] = graph.symbols[node]
        return ((1, number),)

    def apply(graph: Graph, node: int, operands: Sequence[Terms]) -> Terms:
        last = graph.payloads[graph.operands[node][-1]]
        more = match.more if last == repeats and len(operands) > 1 else ()
        return build_on_sums(reading, graph.kinds[node], [*operands, *map(given, more)])

    bound = {name: given(terms) for name, terms in match.bound.items()}
    found = interpret(better, Algebra(constant, apply), bound)[better.output]
    found = tuple([(match.sign * sign, node) for sign, node in found])
    if match.rest:
        found = cancel_terms(reading, (*given(match.rest), *found))
    return build_sum_node(reading, found)


def build_on_sums(reading: Reading, kind: str, operands: Sequence[Terms]) -> Terms:
    """Build an operation on sums."""
    if kind in SUMS:
        signs = zip(BY_NAME[kind].signs, operands, strict=True)
        return cancel_terms(
            reading, [(by * own, node) for by, terms in signs for own, node in terms]
        )
    if kind not in PRODUCTS:
        return (
            (
                1,
                reading.append(kind, tuple([build_sum_node(reading, terms) for terms in operands])),
            ),
        )
    one, other = operands
    (sign, first), (by, second) = (
        terms[0] if len(terms) == 1 else (1, build_sum_node(reading, terms)) for terms in operands
    )
    if reading.value(second) == 1:
        return tuple([(by * own, node) for own, node in one])
    if reading.value(first) == 1 and BY_NAME[kind].commutes:
        return tuple([(sign * own, node) for own, node in other])
    return ((sign * by, reading.append(kind, (first, second))),)


def cancel_terms(reading: Reading, found: Sequence[tuple[int, int]]) -> Terms:
    """Return a sum without pairs of terms that cancel, with its whole numbers added up."""
    kept: list[tuple[int, int]] = []
    total = 0.0
    for sign, node in found:
        value = reading.value(node)
        if value is not None and value.is_integer() and abs(value) < LARGEST_WHOLE:
            total += sign * value
            continue
        opposite = reading.term_key((-sign, node))
        place = next((p for p, term in enumerate(kept) if reading.term_key(term) == opposite), None)
        if place is None:
            kept.append((sign, node))
        else:
            del kept[place]
    if not total:
        return tuple(kept)
    constant = 1 if total > 0 else -1, reading.append(CONST, (), abs(total))
    is_first = reading.value(found[0][1]) is not None
    return (constant, *kept) if is_first else (*kept, constant)


def build_sum_node(reading: Reading, terms: Terms) -> int:
    """Build a sum as one node; a term without a minus comes first, if there is one."""
    if not terms:
        return reading.append(CONST, (), 0.0)
    (sign, found), *others = sorted(terms, key=lambda term: -term[0]) if terms[0][0] < 0 else terms
    if sign < 0:
        found = reading.negated(found)
    for sign, node in others:
        found = reading.append(BY_SIGNS[1, sign], (found, node))
    return found


# Tried at a point: to be finite.

SOUND = 2
TRIED = 8
"""The most rewrites tried at a node."""
MOST_TRIED = 12
"""The most fixes tried for a number."""
MOST_SEARCHED = 8
"""The most nodes at which fixes are sought."""
SMALL = 2000
"""The most nodes of a graph, times the nodes at which fixes are sought in it."""


def rewrite_advice(run: SweptRun, node: int) -> str | None:
    """Advise a rewrite of a pattern around a node, if it is finite at the point."""
    for table in (REWRITES, EXTENSIONS):
        if fix := verified_rewrite(run, node, table):
            where = condition_text(fix)
            note = f" where {where}" if where else ""
            if table is EXTENSIONS:
                note = f" for {fix.rewrite.why}"
            return f"write {cut_text(fix.text, LIMIT)} instead of {fix.was}{note}"
    return None


def condition_text(fix: Fix) -> str:
    """Write the conditions of a fix that do not always hold: ``x > 0 and y > 0``."""
    return " and ".join(text for text in fix.where if not is_always_true(parse_and_derive(text)))


def is_always_true(condition: Graph) -> bool:
    """Whether a condition that holds at the point always holds: without inputs, or as ``x^2 >= 0``."""
    if not condition.inputs:
        return True
    operands = condition.operands[condition.output]
    if (
        condition.kinds[condition.output] != BY_INFIX[">="].name
        or condition.payloads[operands[1]] != 0
    ):
        return False
    kind, (*_, last) = condition.kinds[operands[0]], condition.operands[operands[0]] or (0,)
    power = condition.payloads[last]
    if kind not in BY_NAME:
        return False
    is_even = BY_NAME[kind].gate == "power" and isinstance(power, float) and power % 2 == 0
    return is_even or BY_NAME[kind].not_negative


def verified_rewrite(run: SweptRun, node: int, table: Sequence[Rewrite]) -> Fix | None:
    """Return the first fix at a node that makes the answer finite.

    Failing that, return one that makes its own part more finite and the answer independent of the node.
    """
    held = None
    for fix in islice(rewrites_at_node(run.graph, run.texts, node, table), TRIED):
        if table is REWRITES and not is_valid_at_point(run, fix):
            continue
        graph, images = replace_node(run.graph, fix.node, fix.text)
        if rank_finiteness(run, graph, graph.output) == SOUND:
            return fix
        if node != fix.node and dependency_flags(graph, graph.output)[images[node]]:
            continue
        before, now = (
            rank_finiteness(run, run.graph, fix.node),
            rank_finiteness(run, graph, images[fix.node]),
        )
        if before < now == SOUND:
            return fix  # what else is wrong is wrong elsewhere
        if held is None and before < now:
            held = fix
    return held


def is_valid_at_point(run: SweptRun, fix: Fix) -> bool:
    """Whether the conditions of a fix hold at the run's inputs."""
    if not fix.where:
        return True
    where = "*".join(f"({one})" for one in fix.where)
    graph, images = replace_node(run.graph, fix.node, where)
    return bool(forward_numbers(graph, run.inputs)[images[fix.node]])


def rank_finiteness(run: SweptRun, graph: Graph, output: int) -> int:
    """Rank how finite a node is at the run's inputs.

    The rank is ``SOUND`` if its value, its gradient and everything that it is computed from are finite, 1
    if its value is finite and no derivative is nan, else 0.
    """
    view = with_output(graph, output)
    values = forward_numbers(view, run.inputs)
    wrt = tuple([name for name in run.wrt or () if name in view.inputs])
    adjoints = None
    if run.adjoints is not None:
        adjoints = reverse_sweep(view, values, [view.inputs[name] for name in wrt])
    found = SweptRun("", view, run.inputs, values, adjoints, wrt)
    used = live_nodes(found)
    parts = [value for value, flag in zip(values, used, strict=True) if flag]
    gradient = [*found.swept.values()]
    if all(map(math.isfinite, [*parts, *gradient])):
        return SOUND
    return int(math.isfinite(found.value) and not any(map(math.isnan, gradient)))


def replace_node(graph: Graph, place: int, text: str) -> tuple[Graph, list[int]]:
    """Replace a node by a formula; return the new graph, and each old node's new one."""
    known = {name: node for name, node, _ in graph.bindings} | graph.inputs

    def rule(made: Graph, node: int, images: Sequence[int]) -> int | None:
        if node != place:
            return None
        part = parse_and_derive(text)
        given = {name: images[at] for name, at in known.items() if at < node}
        return splice_graph(made, part, given)[part.output]

    return transform_graph(graph, rule)


# Tried at a point: to keep digits.


class FixFinder:
    """A finder of the known fixes of a formula, which searches a limited number of nodes, each once.

    ``value`` is the formula's true value, which a fix must keep.
    """

    def __init__(self, run: SweptRun, value: Ball) -> None:
        self.run = run
        self.value = value
        self.found: dict[int, list[Fix]] = {}
        self.most = max(1, min(MOST_SEARCHED, SMALL // len(run.graph)))
        self.most_tried = min(MOST_TRIED, MOST_WORK // (FIRST_BITS * len(run.graph)))

    def at(self, node: int) -> list[Fix]:
        """Return the fixes whose patterns have a node as an operation."""
        if node not in self.found:
            if len(self.found) >= self.most:
                return []
            self.found[node] = list(rewrites_at_node(self.run.graph, self.run.texts, node))
        return self.found[node]

    def better(self, name: str, nodes: Iterable[int], plain: Judgement) -> TriedFix | None:
        """Return the first fix at some nodes with which a number has more right digits than ``plain``.

        The number is the derivative with respect to the input ``name``; the value if that is empty.
        """
        seen: set[str] = set()
        for node in nodes:
            for fix in self.at(node):
                text = apply_fix(self.run.text, fix)
                if text in seen or len(seen) >= self.most_tried:
                    continue
                seen.add(text)
                if not is_valid_at_point(self.run, fix):
                    continue
                tried = self.tried_with(name, text, plain.true)
                # It has more right digits, or is the nearest double, which the other is not.
                if tried is not None and (
                    tried.digits > plain.digits
                    or (tried.verdict == "nearest" and tried.value != plain.value)
                ):
                    value, digits, verdict = tried.value, tried.digits, tried.word
                    where = condition_text(fix) or None
                    return TriedFix(
                        fix.span, fix.was, fix.text, where, text, value, digits, verdict
                    )
        return None

    def tried_with(self, name: str, text: str, true: Ball) -> Judgement | None:
        """Judge the number of another formula; None if the two formulas seem to differ."""
        graph = parse_and_derive(text)
        if {*graph.kinds} - {INPUT, CONST, *BY_NAME} or (name and name not in graph.inputs):
            return None  # over tensors, as a formula is whose numbers were written out
        inputs = {read: self.run.inputs[read] for read in graph.inputs}
        values = forward_numbers(graph, inputs)
        found = enclose_outputs(graph, inputs, [name] if name else None)
        number, other = values[graph.output], found.values[graph.output]
        is_nan = other.is_nan()
        if is_nan != self.value.is_nan() or not (is_nan or other.overlaps(self.value)):
            return None
        if name:
            node = graph.inputs[name]
            number, other = (
                reverse_sweep(graph, values, [node]).grads[node] or 0.0,
                found.grad(node),
            )
        is_same = other.is_finite() and other.overlaps(true)
        return judge_number(number, other, found.bits) if is_same else None
