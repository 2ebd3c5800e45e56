"""What the page says of wrong numbers: where they begin, and what lies on either side of a kink."""

from __future__ import annotations

import math
from itertools import product
from random import Random
from typing import Any

import pytest

from exprgrad import Run, parse
from exprgrad.show.picture.cards import typeset_text
from scripts import as_json, ask
from strategies import FREQUENT, tree

AT = """
const at = (page, point) => {
  const data = forward(page, new Map(page.inputs.map(([, id], place) => [id, given(point[place])])));
  return [data, localDerivatives(page, data)];
};
"""
BLAME = AT + "return ARGS.map(point => blame(PAGE, ...at(PAGE, point)));"
SIDES = (
    AT
    + """return ARGS.map(point => {
  const [data, locals] = at(PAGE, point), {got} = simulate(PAGE, locals, ORDERS.right(PAGE));
  return PAGE.wrt.map(id => [sides(PAGE, data, id), sidesText(PAGE, data, id, got[id])]);
});"""
)


def asked(run: Run, body: str, points: list[tuple[float, ...]]) -> list[Any]:
    """What is said of a run's formula at some points."""
    (answer,) = ask([(run, body, [[*map(as_json, point)] for point in points])])
    return list(answer)


BLAMED: tuple[tuple[str, tuple[float, ...], tuple[str, ...]], ...] = (
    ("log(x)*y", (-1, 2), ("log(x) is nan: outside the domain, at x = −1; it is defined where x > 0",)),
    ("log(x)*y", (0, 2), ("log(x) is −inf: a pole, at x = 0",)),
    ("y/(x - 1) + x", (1, 2), ("y/(x − 1) is inf: a pole, at y = 2, x − 1 = 0",)),
    ("exp(x) - y", (800, 2), ("exp(x) is inf: overflow, at x = 800; the largest double is 1.8e+308",)),
    ("exp(x) - exp(y)", (800, 900),
     ("exp(x) is inf: overflow, at x = 800; the largest double is 1.8e+308",
      "exp(x) − exp(y) is nan: inf − inf, at exp(x) = inf, exp(y) = inf")),
    ("x + y", (math.inf, 1), ("x is inf, as given",)),
    ("sqrt(x) + y", (0, 1), ("the local derivative of sqrt(x) for x is inf, at x = 0",)),
    ("sqrt(x^2) + y", (0, 1),
     ("the local derivative of sqrt(x^2) for x^2 is inf, at x^2 = 0", "x^2 passes inf × 0 = nan to x")),
    ("1e200*(x*1e200) - y", (0, 1), ("x*1e+200 passes 1e+200 × 1e+200 = inf to x: overflow",)),
    ("where(x > 0, log(x), y)", (-1, 2), ()),
    ("k = log(x); y*2 + x*0", (-1, 2), ()),
    ("x*y", (1, 2), ()),
)  # fmt: skip


def test_the_first_to_blame() -> None:
    for text, point, told in BLAMED:
        run = parse(text).gradient(dict(zip(parse(text).graph.inputs, (1.5, 1.25), strict=True)))
        given = dict(zip(("x", "y"), point, strict=True))
        (found,) = asked(run, BLAME, [tuple(given[name] for name in run.inputs)])
        assert tuple(one["text"] for one in found) == told, text


@pytest.mark.slow
def test_numbers_that_are_not_finite_are_blamed_on_the_node_of_grad() -> None:
    """Random formulas at random points: the same node as in the diagnostics."""
    random, nodes = Random(11), []
    cases: list[Run] = []
    while len(cases) < 150:
        formula = parse(tree(random, ("x", "y", "z"), FREQUENT, 3))
        values = {
            name: random.choice((0.0, -1.0, 1e200, 800.0, 0.5)) for name in formula.graph.inputs
        }
        cases.append(formula.gradient(values))
    answers = ask([(run, BLAME, [[*map(as_json, run.inputs.values())]]) for run in cases])
    for run, (found,) in zip(cases, answers, strict=True):
        codes = ("nan", "infinity")
        told = [d for d in run.remarks if d.code in codes and d.severity == "warning"]
        nodes += told
        if told:
            assert found and found[0].get("node") == told[0].node, (run.text, run.inputs)
    assert len(nodes) > 20


SIDED = (
    "relu(x)*y + abs(x)", "abs(x)^3 + y", "max(x, y) + x*x", "abs(x - y)*exp(y)", "relu(x) - relu(-x) + y",
    "floor(x)*y", "sign(x)*y", "sqrt(x^2)*y", "where(x > 0, x, y)", "min(x, 0)*sin(y)", "leaky_relu(x*y)",
    "abs(abs(x) - y)", "round(x) + y",
)  # fmt: skip


def test_one_sided_slopes_are_those_of_grad() -> None:
    grid = [*product((0.0, 0.5, 1.0, 2.0), repeat=2)]
    seen = 0
    for text in SIDED:
        formula = parse(text)
        points = [tuple({"x": x, "y": y}[name] for name in formula.graph.inputs) for x, y in grid]
        start = formula.gradient(x=0.25, y=0.75)
        for (x, y), answers in zip(grid, asked(start, SIDES, points), strict=True):
            run = formula.gradient(x=x, y=y)
            for name, ((left, right), told) in zip(run.wrt or (), answers, strict=True):
                side = run.one_sided.get(name)
                if side is None:
                    assert not told["text"], (text, x, y, told)
                    continue
                for own, slope in ((left["slope"], side.left), (right["slope"], side.right)):
                    if own is not None and slope is not None:
                        # NEAR^2 times a third derivative, at most 4*e^2, is left, and three
                        # times some ulps of the slopes.
                        room = 2**-48 * max(1.0, abs(slope))
                        assert own == pytest.approx(slope, rel=0, abs=room), (text, x, y)
                        seen += 1
                if side.verdict == "jump":
                    assert "jump along" in told["text"], (text, x, y)
                if side.verdict == "kink":
                    assert "kink along" in told["text"], (text, x, y)
                if side.corrected and name not in run.true.digits:
                    assert "is wrong" in told["text"], (text, x, y)
    assert seen > 100


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("2*x^3", "2·x³"),
        ("y*x^(y - 1)", "y·xʸ⁻¹"),
        ("(a + b)^-2", "(a + b)⁻²"),
        ("1/(2*sqrt(x))", "1/(2·√x)"),
        ("sqrt(x^2)", "√(x²)"),
        ("abs(x) <= 1", "|x| ≤ 1"),
        ("x^2^3", "x^2³"),
        ("x^(y^2)", "x^(y²)"),
        ("x^-0.5", "x^-0.5"),
        ("x^sin(y)", "x^sin(y)"),
        ("2^x2", "2^x2"),
        ("2*pi*x", "2·π·x"),
        ("(x == out)/ties", "(x = out)/ties"),
    ],
)
def test_a_rule_as_mathematics(text: str, told: str) -> None:
    assert typeset_text(text) == told
