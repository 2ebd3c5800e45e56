"""The page's arithmetic against the engine's, row by row and node by node.

Both sides are held to the truth by tests of their own: the scalar engine to a row's bounds, and the
JavaScript that is made of the table to twice those (``language/test_code``).  So they differ by three times
the row's bounds at most, which for no row is as much as 1e-12 of the number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from random import Random
from typing import Any

import pytest

from amounts import many
from exprgrad import Run, parse
from exprgrad.explain.diagnostics import diagnose_run
from exprgrad.graph.ops import BY_NAME, OPS, Op
from exprgrad.run.numbers.sweeps import Adjoints
from exprgrad.show.page.arithmetic import page_arithmetic, row_keys
from exprgrad.show.page.model import page_edges
from exprgrad.show.text.lines import true_minus
from scripts import as_json, ask
from strategies import FREQUENT, SPECIAL, points, tree

APART = 3
"""How far the two may be apart, in units of a row's bound: 1 for the engine, 2 for JavaScript."""
assert all(APART * max(op.value_ulp, op.partial_ulp) * 2.0**-52 < 1e-12 for op in OPS)

EVERYWHERE = """
return ARGS.map(point => {
  const edited = PAGE.inputs.map(([, id], at) => [id, given(point[at])]);
  const data = forward(PAGE, new Map(edited));
  return [data, localDerivatives(PAGE, data)];
});
"""
BY_NODE = """
const [data, out] = [ARGS.map(given), []];
for (const {id, row, operands} of PAGE.nodes)
  if (row) out[id] = OPS[row].value(...operands.map(operand => data[operand]));
return [out, localDerivatives(PAGE, data)];
"""


def alike(found: float, wanted: float, ulps: float, least: float) -> bool:
    """Whether two numbers are the same, nan and infinities too, but for what a row's bounds allow."""
    if math.isnan(found) or math.isnan(wanted):
        return math.isnan(found) and math.isnan(wanted)
    if found == wanted:
        return True
    if math.isinf(found) or math.isinf(wanted):
        # Beside the largest number a bound allows an overflow.
        return ulps > 0.5 and min(abs(found), abs(wanted)) > 1.797e308 and found * wanted > 0
    largest = max(abs(found), abs(wanted)) * (1 + 2.0**-40)
    return abs(found - wanted) <= APART * ulps * math.ulp(largest) + 2 * least


def edge_locals(run: Run) -> list[tuple[int, float | None]]:
    """By edge of the page: its user, and its local derivative; None where no gradient came."""
    assert isinstance(run.adjoints, Adjoints)
    known = run.adjoints.locals
    return [
        (user, (known[user] or {position: None})[position]) for user, position in page_edges(run)
    ]


def check(run: Run, data: Sequence[Any], locals_: Sequence[float], about: object) -> int:
    """Hold a page's numbers against a run's; returns how many were compared."""
    graph, compared = run.graph, 0
    for node, kind in enumerate(graph.kinds):
        if graph.operands[node]:
            op = BY_NAME[kind]
            assert alike(data[node], run.values[node], op.value_ulp, op.value_abs), (about, node)
            compared += 1
    for (user, wanted), local in zip(edge_locals(run), locals_, strict=True):
        if wanted is not None:
            op = BY_NAME[graph.kinds[user]]
            assert alike(local, wanted, op.partial_ulp, op.partial_abs), (
                about,
                user,
                local,
                wanted,
            )
            compared += 1
    return compared


def alone(op: Op, count: int) -> str:
    """A row as a formula of its own."""
    names = [f"a{position}" for position in range(count)]
    if op.prefix:
        return op.prefix + names[0]
    return op.infix.join(names) if op.infix else f"{op.name}({', '.join(names)})"


def check_at(texts: Sequence[str], places: Sequence[Sequence[Sequence[float]]]) -> None:
    """Each formula's page, made at its first point, at all of its points."""
    cases = []
    for text, listed in zip(texts, places, strict=True):
        f = parse(text)
        run = f.gradient(dict(zip(f.inputs, listed[0], strict=True)))
        cases.append((run, EVERYWHERE, [[*map(as_json, point)] for point in listed]))
    for text, listed, answers in zip(texts, places, ask(cases), strict=True):
        f = parse(text)
        for point, (data, locals_) in zip(listed, answers, strict=True):
            run = f.gradient(dict(zip(f.inputs, point, strict=True)))
            assert check(run, data, locals_, (text, point))


@pytest.mark.parametrize("count", [12, pytest.param(many(80), marks=pytest.mark.slow)])
def test_every_row(count: int) -> None:
    texts, places = [], []
    for op in OPS:
        arity = 3 if op.variadic else len(op.names)
        texts.append(alone(op, arity))
        places.append([*points(Random(f"{op.name} page"), arity, count)])
    check_at(texts, places)


def test_every_row_where_numbers_end_and_at_kinks() -> None:
    texts, places = [], []
    for op in OPS:
        arity = min(3, 2 if op.variadic else len(op.names))
        texts.append(alone(op, arity))
        grid = SPECIAL if arity < 2 else SPECIAL[:: 2 if arity < 3 else 4]
        places.append([*product(grid, repeat=arity)])
    check_at(texts, places)


KNOWN = (
    "a^2", "a^3", "a^-1", "a^0.5", "a^5", "a^0", "2^a", "(-2)^a", "0^a", "a^(1/3)", "a^pi",
    "max(a, 0)", "max(0, a)", "min(a, b, 1)", "max(a, a)", "clamp(a, -1, 1)", "clamp(0.5, a, 1)",
    "clamp(a, b, 1)", "max(1, 2)*a", "logsumexp(a, 1, 2)", "where(a > 1, a, 2)",
)  # fmt: skip


def test_rules_that_know_their_operands() -> None:
    grid = (*SPECIAL, -3.5, 0.1, 4.0, 1e-300, -1e-9)
    places = [[*product(grid, repeat=len(parse(text).inputs))] for text in KNOWN]
    check_at(KNOWN, places)


@pytest.mark.parametrize("count", [25, pytest.param(many(100), marks=pytest.mark.slow)])
def test_generated_formulas_node_by_node(count: int) -> None:
    """From the engine's own data each node and edge is worked out alike."""
    random = Random("page")
    runs = []
    for _ in range(count):
        f = parse(
            tree(
                random, ("x", "y", "z", "x", "y", "2", "0.5", "pi"), FREQUENT, random.randint(3, 25)
            )
        )
        values = {name: random.choice((random.uniform(-4, 4), 1.0, 0.0, 2.0)) for name in f.inputs}
        wrt = [name for name in f.inputs if random.random() < 0.8]
        if wrt:
            runs.append(f.gradient(values, wrt=wrt))
    answers = ask([(run, BY_NODE, [*map(as_json, run.values)]) for run in runs])
    compared = sum(
        check(run, data, locals_, run.text)
        for run, (data, locals_) in zip(runs, answers, strict=True)
    )
    assert compared > 10 * len(runs)


def test_only_what_is_used_is_written() -> None:
    run = parse("a*b + a*c").gradient(a=1, b=2, c=3)
    assert page_arithmetic(run) == (
        'const OPS = {\n"mul": {\nvalue: (x, y) => x*y,\npartials: (x, y, out) => [y, x]\n},\n'
        '"add": {\nvalue: (x, y) => x + y,\npartials: (x, y, out) => [1, 1]\n}\n};\n'
    )


def test_rows_are_told_apart_by_what_their_rules_know() -> None:
    run = parse("max(x, 0, y) + x^3 + x^y + 2^-1 + logsumexp(x, 1, 2) - tanh(x)").gradient(x=1, y=2)
    assert set(row_keys(run)) == {
        "", "max/x,0,x", "pow/x,3", "pow/x,x", "pow/2,-1", "neg", "logsumexp/3", "tanh", "add", "sub",
    }  # fmt: skip


def test_what_is_not_differentiated_is_not_worked_out() -> None:
    values = {"x": 2, "y": 3}
    power = parse("x^y")
    assert "Math.log(x)" in page_arithmetic(power.gradient(values))
    assert "Math.log(x)" not in page_arithmetic(power.gradient(values, wrt=["x"]))
    text = page_arithmetic(parse("x*y + exp(x)").gradient(values, wrt=["y"]))
    assert "partials: (x, y, out) => [0, x]" in text
    assert "partials" not in text.split('"exp"')[1].split('"add"')[0]


MET = "return ARGS.map(point => kinks(PAGE, ...at(PAGE, point)));"
AT = """
const at = (page, point) => {
  const data = forward(page, new Map(page.inputs.map(([, id], place) => [id, given(point[place])])));
  return [data, localDerivatives(page, data)];
};
"""
MEETING = (
    "relu(x) - relu(-x) + y", "abs(x*y)", "max(x, y) + min(x, 1)", "max(x, x, y)", "where(x > 0, y, x)",
    "where(x, abs(y), y)", "floor(x)*y", "relu(0*x) + y", "relu(relu(x)*y)", "relu(x > y)*y",
    "clamp(x, 0, y)", "x^y", "x^2 + 0^y", "xlogy(x, y)", "hypot(x, y)", "round(x/2) + x % y",
    "atan2(y, x)", "k = abs(x); y*2", "leaky_relu(x - y) + selu(y)", "relu(x^2)*y", "heaviside(x)*trunc(y)",
)  # fmt: skip


def test_kinks_and_jumps_are_those_of_grad() -> None:
    """At the point that the page was made for and at others, with the words of the diagnostics."""
    grid = [*product((-1.0, 0.0, 0.5, 1.0, 2.0), repeat=2)]
    runs = [parse(text).gradient(x=0.25, y=0.75) for text in MEETING]
    places = [[[{"x": x, "y": y}[name] for name in run.inputs] for x, y in grid] for run in runs]
    answers = ask([(run, AT + MET, listed) for run, listed in zip(runs, places, strict=True)])
    met = 0
    for text, listed in zip(MEETING, answers, strict=True):
        for (x, y), found in zip(grid, listed, strict=True):
            run = parse(text).gradient(x=x, y=y)
            told = [
                true_minus(d.message) for d in diagnose_run(run, {}) if d.code in ("kink", "jump")
            ]
            assert sorted(found) == sorted(told), (text, x, y)
            met += len(found)
    assert met > 100
