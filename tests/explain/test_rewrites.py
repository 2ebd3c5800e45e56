"""The table of rewrites: true, better where it says so, and found however a formula is spelled."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from itertools import product
from random import Random

import pytest
from hypothesis import given, settings
from mpmath import mp, mpf

import oracles
import strategies
from exprgrad import parse
from exprgrad.explain.rewriting.rewrites import (
    EXTENSIONS,
    REWRITES,
    UNDEFINED,
    Fix,
    Rewrite,
    apply_fix,
    condition_text,
    replace_node,
    rewrites_at_node,
)
from exprgrad.graph.graph import CONST, INPUT, Graph
from exprgrad.graph.ops import BY_NAME
from exprgrad.language.write.infix import node_texts, program_text
from together import together

ROWS = [*REWRITES, *EXTENSIONS]
USERS = {"w": "r_1", "x": "pi*p - q", "y": "sqrt(q)*r", "z": "(s + p)^2"}
"""What stands for the names of a pattern in a user's formula."""


def title(rewrite: Rewrite) -> str:
    return f"{rewrite.pattern} to {rewrite.better}"


def point(rewrite: Rewrite) -> dict[str, float]:
    pairs = (part.split("=") for part in rewrite.at.split())
    return {name: float(value) for name, value in pairs}


def sampled(rewrite: Rewrite, count: int) -> Iterator[dict[str, float]]:
    """Moderate points of the domain; both signs, and values on either side of 1."""
    random = Random(rewrite.pattern)
    names = tuple(parse(rewrite.pattern).inputs)
    while count:
        values = [
            random.choice((-1, 1)) * random.choice((random.uniform(0, 1), random.uniform(1, 9)))
            for _ in names
        ]
        given = dict(zip(names, values, strict=True))
        condition = parse(rewrite.where or "1")
        if (
            all(name in given for name in condition.inputs)
            and condition.evaluate({name: given[name] for name in condition.inputs}).value
        ):
            count -= 1
            yield given


def exactly(text: str, given: dict[str, float]) -> oracles.Real:
    """The value of a formula, in mpmath."""
    graph = read(text)
    return oracles.evaluate(graph, given)[graph.output]


@cache
def read(text: str) -> Graph:
    return parse(text).graph


@together(ROWS)
def test_both_sides_are_equal(rewrite: Rewrite) -> None:
    """In mpmath, with 200 digits: what cancels at these points is far fewer than half of them."""
    with mp.workdps(200):
        for given in sampled(rewrite, 20):
            one, other = exactly(rewrite.pattern, given), exactly(rewrite.better, given)
            assert mp.isfinite(one) and abs(one - other) <= mpf(10) ** -100 * abs(one), given


def worst(text: str, given: dict[str, float]) -> float:
    """The largest error of value and gradient, in ulps."""
    run = parse(text).gradient(given)
    with mp.workdps(1200):
        errors = [oracles.ulps(run.value, exactly(text, given))]
    truths = oracles.gradient(run.graph, given, 300)
    return max(errors + [oracles.ulps(run.gradient[name], truths[name]) for name in given])


@together([r for r in REWRITES if r.why != UNDEFINED])
def test_it_is_better_where_it_says(rewrite: Rewrite) -> None:
    """There the pattern has lost at least 16 bits, and what is written instead at most 9.

    The 9 are those of exp between 512 and 1024: half an ulp of its operand is 2^-44, which is 2^9 ulp
    of the result.
    """
    at = point(rewrite)
    assert worst(rewrite.pattern, at) > 2.0**16
    assert worst(rewrite.better, at) <= 2.0**9


@pytest.mark.parametrize(
    "rewrite", [r for r in ROWS if r.why == UNDEFINED or r in EXTENSIONS], ids=title
)
def test_it_is_defined_where_it_says(rewrite: Rewrite) -> None:
    """The pattern's value or gradient is nan there; the rewrite's value is the limit, no derivative nan."""
    at = point(rewrite)
    bad, good = parse(rewrite.pattern).gradient(at), parse(rewrite.better).gradient(at)
    assert any(map(math.isnan, [bad.value, *bad.gradient.values()]))
    assert not any(map(math.isnan, [good.value, *good.gradient.values()]))
    if rewrite.why == UNDEFINED:
        with mp.workdps(800):
            near = {name: mpf(value) + mpf(10) ** -200 for name, value in at.items()}
            assert abs(exactly(rewrite.pattern, near) - good.value) < 1e-15


# Finding them.


def with_others(text: str) -> str:
    """A row's formula with the users' parts for its names."""
    graph = parse(text).graph
    names = {node: f"({USERS[name]})" for name, node in graph.inputs.items()}
    return written(graph, names, swapped=False)


def written(graph: Graph, names: dict[int, str], *, swapped: bool) -> str:
    """A formula in parentheses throughout; ``swapped``: sums and products the other way round."""
    found: list[str] = []
    for node, kind in enumerate(graph.kinds):
        operands = [found[operand] for operand in graph.operands[node]]
        if kind in (INPUT, CONST):
            found.append(names.get(node) or program_of(graph, node))
        elif swapped and kind == "sub":
            found.append(f"(-{operands[1]} + {operands[0]})")
        else:
            swaps = swapped and kind in ("add", "mul")
            found.append(strategies.apply(BY_NAME[kind], operands[::-1] if swaps else operands))
    return found[graph.output]


def program_of(graph: Graph, node: int) -> str:
    return graph.symbols.get(node) or repr(graph.payloads[node])


def found_in(text: str, rewrite: Rewrite) -> list[Fix]:
    """The mends by one row at any node of a formula."""
    graph = parse(text).graph
    shown = node_texts(graph, graph.names())
    every = (
        mend
        for node in range(len(graph))
        for mend in rewrites_at_node(graph, shown, node, [rewrite])
    )
    return list(dict.fromkeys(every))


FORMS = {
    "as it is": "{}",
    "in others": "tanh(3*{} - p)/q",
    "a term": "p*q + {} - sin(s)",
    "named": "inner = {}; inner*inner - p",
}  # fmt: skip


@together(product(ROWS, FORMS), every=5)
def test_it_is_found(rewrite: Rewrite, form: str) -> None:
    """With the users' own parts, inside other operations, either way round; and the result is equal."""
    graph = parse(rewrite.pattern).graph
    names = {node: f"({USERS[name]})" for name, node in graph.inputs.items()}
    for swapped in (False, True):
        text = FORMS[form].format(written(graph, names, swapped=swapped))
        listed = found_in(text, rewrite)
        assert listed, text
        for mend in listed[:1]:
            result = apply_fix(text, mend)
            assert result.count(";") == text.count(";")
            check_equal(text, result, rewrite)


def check_equal(text: str, other: str, rewrite: Rewrite) -> None:
    """Two formulas have the same value in mpmath, at points that the row allows."""
    random = Random(text)
    condition = with_others(rewrite.where) if rewrite.where else "1"
    checked = tried = 0
    while checked < 1 and tried < 400:
        tried += 1
        given = {name: random.uniform(0.1, 1.6) for name in ("p", "q", "r_1", "s")}
        given["r"] = random.uniform(-1.6, 1.6)
        with mp.workdps(200):
            if not exactly(condition, given):
                continue
            one, two = exactly(text, given), exactly(other, given)
            assert mp.isfinite(one)
            assert abs(one - two) <= mpf(10) ** -100 * max(abs(one), 1), (text, other, given)
        checked += 1
    assert checked, f"no point for {text}"


CONTEXTS = (
    "p^{}", "{}^p", "-{}", "p - {}", "{} - p", "p/{}", "{}/p", "p*{}", "{} % p", "p < {}", "max({}, p)",
    "({})", "-{}^2",
)  # fmt: skip


@pytest.mark.parametrize("context", CONTEXTS)
def test_parentheses(context: str) -> None:
    """Put in its place in a text, a mend means what it means there: the same graph as in parentheses.

    Each context takes every third row, and each row meets at least four contexts.
    """
    for rewrite in ROWS[CONTEXTS.index(context) % 3 :: 3]:
        text = program_text(parse(context.format(f"({rewrite.pattern})")).graph)
        for mend in found_in(text, rewrite):
            held, _ = replace_node(parse(text).graph, mend.node, mend.text)
            assert program_text(parse(apply_fix(text, mend)).graph) == program_text(held), text


def test_conditions_are_in_the_users_operands() -> None:
    (mend,) = found_in("2*log(a*(b - 1))", next(r for r in REWRITES if r.pattern == "log(x*y)"))
    assert mend.where == ("a > 0", "b - 1 > 0")
    assert condition_text(mend) == "a > 0 and b - 1 > 0"


@pytest.mark.parametrize(
    ("formula", "values", "words"),
    [
        ("log(x*y)", {"x": 1e-200, "y": 1e-200}, " where x > 0 and y > 0"),
        ("log(2*x)", {"x": 1e308}, " where x > 0"),
        ("acos(1 - x)", {"x": 1e-12}, " where 0 <= x and x <= 2"),
        ("acosh(1 + x^2)", {"x": 1e-9}, ""),
        ("sqrt(x^2)", {"x": 0.0}, ""),
        ("log(1 + exp(x))", {"x": 1000.0}, ""),
    ],
)
def test_advice_says_where_it_holds(formula: str, values: dict[str, float], words: str) -> None:
    """Of conditions that always hold nothing is said: 2 > 0, and x^2 >= 0."""
    helps = [d.help or "" for d in parse(formula).gradient(values).diagnostics]
    told = [help.partition("write ")[2].partition(": ")[0] for help in helps if "write " in help]
    assert told and all(one.endswith(f" instead of {formula}{words}") for one in told), told


@settings(max_examples=20)
@given(strategies.programs())
def test_any_formula_can_be_asked(text: str) -> None:
    """Nothing raises, whatever the formula; and what is written reads back."""
    graph = parse(text).graph
    for mend in all_mends(text):
        parse(apply_fix(text, mend))
        assert graph.span(mend.node) == mend.span


SPELLINGS = {
    "1/(1 + exp(-k*(t - t0)))": "sigmoid(k*(t - t0))",
    "L/(exp(-k*t) + 1)": "L*sigmoid(k*t)",
    "d = 1 + exp(-u); p = 1/d; p*p": "d = 1 + exp(-u); p = sigmoid(u); p*p",
    "log(1 + a + b)": "log1p(a + b)",
    "log(a + 1)^2": "log1p(a)^2",
    "log(1 - a)": "log1p(-a)",
    "log(sigmoid(a))^2": "logsigmoid(a)^2",
    "c - log(1/(1 + exp(a)))": "c - logsigmoid(-a)",
    "exp(b)*log(exp(a))": "exp(b)*a",
    "log(exp(a) + exp(b) + exp(2*c))": "logsumexp(a, b, 2*c)",
    "log(exp(a) + 1 + exp(b))": "logsumexp(0, a, b)",
    "exp(a)/(exp(a) + exp(b) + exp(c))": "exp(a - logsumexp(a, b, c))",
    "exp(b)/(exp(a) + exp(b))": "sigmoid(b - a)",
    "exp(a)*exp(-a - b)": "exp(-b)",
    "(exp(-z) - exp(z))*0.5": "sinh(-z)",
    "(1 - exp(-2*x))/(1 + exp(-2*x))": "tanh(x)",
    "cos(a) - 1": "-2*sin(a/2)^2",
    "b + 1 - cos(a)": "b + 2*sin(a/2)^2",
    "b - (1 - cos(a))": "b - 2*sin(a/2)^2",
    "b/(1 - cos(a*c))": "b/(2*sin(a*c/2)^2)",
    "sqrt(t + 1) - sqrt(t)": "1/(sqrt(t + 1) + sqrt(t))",
    "1 - sqrt(1 - t)": "t/(sqrt(1 - t) + 1)",
    "(-b + sqrt(b^2 - 4*a*c))/(2*a)": "(-4*a*c/(sqrt(b^2 - 4*a*c) + b))/(2*a)",
    "(-b - sqrt(b^2 - 4*a*c))/(2*a)": "(4*a*c/(sqrt(b^2 - 4*a*c) - b))/(2*a)",
    "1/x - 1/(x + 1)": "1/(x*(x + 1))",
    "log(x + h) - log(x)": "log1p(h/x)",
    "sin(x + h) - sin(x)": "2*cos((x + h + x)/2)*sin(h/2)",
    "(a*a + b^2)^0.5": "hypot(a, b)",
    "(a*a + b^2)^(1/2)": "hypot(a, b)",
    "sqrt((a - b)^2 + (c - d)^2)": "hypot(a - b, c - d)",
    "sqrt((a - b)*(a - b))": "abs(a - b)",
    "exp(a*b)/(1 + exp(b*a))": "sigmoid(a*b)",
    "(exp(a*b) - exp(a*(-b)))/2": "sinh(a*b)",
    "exp((c - a*(-b))*d)/(1 + exp((c + a*b)*d))": "sigmoid((c - a*-b)*d)",
    "1 - erf(a % b)": "erfc(a%b)",
    "1 + tanh(-(a % b))": "2*sigmoid(-2*(a%b))",
    "m = a + b; log(1 + m)": "m = a + b; log1p(m)",
    "log(1 + exp(x)) # ends": "softplus(x) # ends",
    "y = (1 - cos(x)); 2*y": "y = (2*sin(x/2)^2); 2*y",
}
"""A formula, and what the first mend of its output makes of it: by hand."""


@together(SPELLINGS)
def test_what_is_written(text: str) -> None:
    """Operands as the user wrote them, parentheses where they are needed, and no more."""
    graph = parse(text).graph
    shown = node_texts(graph, graph.names())
    found = all_mends(text)
    results = [apply_fix(text, mend) for mend in found]
    assert SPELLINGS[text] in results, results
    assert {mend.was for mend in found} <= set(shown)


def all_mends(text: str) -> list[Fix]:
    graph = parse(text).graph
    shown = node_texts(graph, graph.names())
    every = (mend for node in range(len(graph)) for mend in rewrites_at_node(graph, shown, node))
    return list(dict.fromkeys(every))


@pytest.mark.parametrize(
    "text",
    [
        "1/(2 + exp(-x))", "exp(x) + 1", "exp(x) - 2", "1 + cos(x)", "cos(x)",
        "exp(x)/(exp(y) + exp(z))", "(exp(x) - 3*exp(-x))/2", "sin(x)/y", "x^2 + y^2", "sqrt(x^3 + y^2)",
        "sqrt(x^2 - y)", "1 + tanh(x)^2", "x*exp(x)", "log(x)", "1/x + 1/y", "tan(x) - sin(y)",
        "(x - y)*(x + y)", "hypot(x, y)", "softplus(x)",
    ],
)  # fmt: skip
def test_what_is_no_such_pattern(text: str) -> None:
    """Other constants, other signs, two parts where the pattern has one twice, or nothing to mend."""
    assert all_mends(text) == []


def test_a_node_takes_part_that_the_pattern_speaks_of() -> None:
    """Not what stands for one of its names, and not a constant or an input."""
    graph = parse("log(1 + exp(a*b)) + a").graph
    shown = node_texts(graph, graph.names())
    takes_part = [node for node in range(len(graph)) if any(rewrites_at_node(graph, shown, node))]
    assert [shown[node] for node in takes_part] == ["exp(a*b)", "1 + exp(a*b)", "log(1 + exp(a*b))"]


def test_large_formulas_take_linear_time_and_no_recursion() -> None:
    """A node of a sum of 4,000 terms, and one under 4,000 functions."""
    for text in ("+".join(["exp(x)"] * 4_000), "sin(" * 4_000 + "1 - cos(x)" + ")" * 4_000):
        graph = parse(text).graph
        node = graph.kinds.index("exp" if "exp" in graph.kinds else "cos")
        found = list(rewrites_at_node(graph, [""] * len(graph), node))
        assert len(found) == ("cos" in text)
    terms = [f"exp(x{number})" for number in range(60)]
    graph = parse(f"log({' + '.join(terms)})").graph
    mend = next(rewrites_at_node(graph, node_texts(graph, graph.names()), graph.kinds.index("exp")))
    assert mend.text == f"logsumexp({', '.join(f'x{number}' for number in range(60))})"
