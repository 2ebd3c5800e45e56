"""How a derivative comes about: every formula of every step against differences in mpmath."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amounts import many
from corpus import table
from counting import calls
from exprgrad.derive.simplify.formula import simplified_derivatives
from exprgrad.explain.derivations import DerivationStep, derivation_steps
from exprgrad.graph.graph import Graph
from exprgrad.graph.ops import OPS
from exprgrad.language.read.builder import CONSTANTS
from exprgrad.language.read.parse import parse_text
from exprgrad.language.write.infix import program_text
from oracles import Real, graph_of, mp, mpf
from slopes import Point
from strategies import tree
from together import together

GOLDEN = list(table("derivatives.txt"))
LONGEST = 1200
"""No text of a step of the generated formulas is longer, the answer aside."""


def hold_steps(
    found: list[DerivationStep], graph: Graph, wrt: str, point: Mapping[str, float]
) -> set[int]:
    """Hold every formula of every step at a point; which steps could be held."""
    held = set()
    with mp.workdps(80):
        at = Point(graph, wrt, point)
        for number, step in enumerate(found):
            for name, text, derivative in step.parts:
                at.define(name, text)
                if derivative:
                    close(at.read(derivative), at.slope(text), step)
            if step.name and step.name not in at.places[0]:
                at.define(step.name, step.of)
            if at.is_special(step.of):
                break
            true = at.slope(step.name or step.of)
            ok = [close(at.read(formula), true, step) for formula in step.formulas]
            if all(ok):
                held.add(number)
            for name, _, _ in step.parts:
                if not re.fullmatch(r"u[0-9]+", name):  # a letter is of one step only
                    at.forget(name)
    return held


def close(found: Real, true: Real, step: DerivationStep) -> bool:
    """Whether a formula could be compared; it must then be right."""
    if not (mp.isfinite(found) and mp.isfinite(true) and abs(true) < 10**15):
        return False
    assert abs(found - true) < mpf(10) ** -18 * (1 + abs(true)), (step, found, true)
    return True


def points(graph: Graph, random: Random) -> Iterator[dict[str, float]]:
    for low, high in ((0.1, 0.9), (-0.9, -0.1), (1.1, 3), (-2, 2)):
        yield {name: random.uniform(low, high) for name in graph.inputs}


def hold(text: str, wrt: str, random: Random) -> tuple[list[DerivationStep], set[int]]:
    """Steps whose formulas hold and that end in the answer; and which of them could be held."""
    graph = parse_text(text)
    found = derivation_steps(graph, wrt)
    assert found[-1].formulas[-1] == program_text(next(simplified_derivatives(graph, [wrt])))
    for step in found:
        assert step.rule
        assert len(set(step.formulas)) == len(step.formulas) > 0
        assert len({note for note in step.notes if note}) == len(step.notes)
    held = set()
    for point in points(graph, random):
        held |= hold_steps(found, graph, wrt, point)
    return found, held


@together(GOLDEN, every=3)
def test_every_step_of_the_golden_table(text: str, name: str, answer: str) -> None:
    found, held = hold(text, name, Random(text))
    assert found[-1].formulas[-1] == answer
    assert held == set(range(len(found)))


SHARED = {
    "a long part": "sin(a*b*c*d + a*b*c*x + a*b*d*x^2 + a*c*d*x^3 + b*c*d*x^4)*x",
    "a long constant": "exp(x*sqrt(a^2 + b^2 + c^2 + a*b + b*c + a*c + log(a*b*c + 2) + d^2 + d*a))",
    "letters in use": "u = x^2 + 1; v = sin(u); w = du1*u*v/(u1 + p); w^2*log(2 + cos(w))",
    "statements": "d1 = (log(S/K) + (r + v^2/2)*T)/(v*sqrt(T)); d2 = d1 - v*sqrt(T); "
    "S*(1 + erf(d1/sqrt(2)))/2 - K*exp(-r*T)*(1 + erf(d2/sqrt(2)))/2",
    "nested": "sin(sin(sin(sin(sin(sin(sin(sin(sin(sin(sin(sin(sin(sin(x))))))))))))))",
    "a long sum": " + ".join(f"sin({n}*x)/{n}" for n in range(1, 40)),
    "a long product": "*".join(f"cos(x/{n})" for n in range(1, 25)),
    "factors alike": "x*x*x*sin(x)*sin(x)",
    "operands alike": "max(x, x, 0 + x, y) + min(x, x) + hypot(x^2, x^2)",
    "many operands": "max(sin(x), cos(x), x^2, y, exp(x)*y, 0.3) + exp(min(x, 2*x, y^2))",
    "choices": "y = where(x > 0.5, x^3, exp(x)); where(y > 1, log(y), y*sin(y))*where(c, x, 2)",
    "steps inside": "x*floor(3*x)*sin(floor(x) + x)^(x < 1)",
    "the name of a constant": "pi = x^2; sin(pi)*pi",
    "a named number": "n = 3; k = 0.1; k*x^n",
    "a name for an input": "y = x; y^2*y",
    "differentials in use": "dx*sin(x*du)^2*u",
    "both": "(x^2 + 1)^sin(x) + (2*x)^(3*x)",
}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(n, marks=[pytest.mark.slow] * (n in ("a long sum", "a long product")))
        for n in SHARED
    ],
)
def test_every_step_of_special_formulas(name: str) -> None:
    text = SHARED[name]
    wrt = "S" if name == "statements" else "x"
    found, held = hold(text, wrt, Random(name))
    assert held == set(range(len(found)))


@pytest.mark.parametrize("wrt", ["S", "K", "r", "v", "T"])
def test_every_step_of_a_call_option(wrt: str) -> None:
    found, held = hold(SHARED["statements"], wrt, Random(wrt))
    assert held == set(range(len(found)))
    derived = [step.name for step in found if step.rule != "put together"]
    assert derived.count("d1") == (wrt in "SKrvT")
    assert derived.count("d2") == 1


@pytest.mark.parametrize(
    "inner", ["{0}", pytest.param("({0}/2 + {0}^2/3)", marks=pytest.mark.slow)]
)
def test_every_row_has_its_step(inner: str) -> None:
    """By each operand: the input itself, and something with a derivative of its own."""
    for op in OPS:
        count = 3 if op.variadic else len(op.names)
        plain = program_text(graph_of(op, count))
        for place in range(count):
            wrt = f"a{place}"
            text = re.sub(rf"\b{wrt}\b", inner.format(wrt), plain)
            found, held = hold(text, wrt, Random(op.name))
            assert held == set(range(len(found))), text


OFTEN = [op for op in OPS if op.infix in ("+", "-", "*", "/", "^")]
SOFT = [op for op in OPS if op.name not in ("mod", "expm1", "cosh", "sinh", "exp", "erf", "erfc")]


def formula(random: Random) -> str:
    """A formula, with a named statement or two."""
    leaves = ("x", "y", "x", "x", "2", "0.3", "3", "0.5", "pi")
    ops = (*SOFT, *(op for op in OFTEN for _ in range(5)))
    statements = []
    names: tuple[str, ...] = ()
    for number in range(random.choice((0, 0, 1, 2))):
        statements.append(f"k{number} = {tree(random, leaves + names, ops, random.randint(1, 5))}")
        names += (f"k{number}",) * 3
    return "; ".join([*statements, tree(random, leaves + names, ops, random.randint(1, 9))])


def generated(seed: int) -> None:
    random = Random(seed)
    text = formula(random)
    if "x" not in parse_text(text).inputs:
        return
    found, _ = hold(text, "x", random)
    for step in found:
        if step.rule != "put together":
            texts = (step.of, step.left, *step.formulas[:-1], *(part.text for part in step.parts))
            assert max(map(len, texts)) <= LONGEST
        assert len(step.rule) < 40


@settings(max_examples=12)
@given(st.integers(0, 2**32))
def test_every_step_of_generated_formulas(seed: int) -> None:
    generated(seed)


@pytest.mark.slow
@settings(max_examples=many(70))
@given(st.integers(0, 2**32))
def test_every_step_of_many_generated_formulas(seed: int) -> None:
    generated(seed)


def nested(pattern: str, times: int) -> str:
    text = "x"
    for _ in range(times):
        text = pattern.format(text)
    return text


@pytest.mark.parametrize(
    "pattern",
    ["sin({})", "where(x > 1, {}, x)"]
    + [pytest.param(p, marks=pytest.mark.slow) for p in ("tanh(w*{} + b)", "(x + 1/({}))")],
)
def test_deep_formulas_take_short_steps(pattern: str) -> None:
    """And four times as deep takes four times as many calls of functions."""
    short, called = calls(lambda: derivation_steps(parse_text(nested(pattern, 10)), "x"))
    found, often = calls(lambda: derivation_steps(parse_text(nested(pattern, 40)), "x"))
    assert often < 5 * called
    assert len(short) < len(found)
    assert 32 < len(found) < 88
    assert max(len(text) for step in found[:-1] for text in (*step.formulas, step.of)) < 200


@pytest.mark.parametrize("text", ["x", "y = x; 3", "floor(x)", "(x < 1) + round(x)", "z = x; y*2"])
def test_formulas_without_a_rule(text: str) -> None:
    (step,) = derivation_steps(parse_text(text), "x")
    assert step.formulas == (("1",) if text == "x" else ("0",))


def test_equal_parts_are_derived_once() -> None:
    found = derivation_steps(parse_text("sin(x^2)*cos(x^2)/(1 + x^2)"), "x")
    assert [step.of for step in found].count("x^2") == 1


def test_names_are_not_taken_from_the_formula() -> None:
    found = derivation_steps(parse_text(SHARED["letters in use"]), "x")
    taken = {"u", "v", "w", "du1", "u1", "p", "x", *CONSTANTS}
    assert not taken & {part.name for step in found for part in step.parts}


def test_letters_whose_differentials_are_inputs_are_left_out() -> None:
    assert [
        part.name
        for step in derivation_steps(parse_text("du + dv*sin(x^2)"), "x")
        for part in step.parts
    ] == ["w"]


def test_every_statement_is_derived_under_its_name() -> None:
    found = derivation_steps(parse_text("a = sin(x); b = sin(x); a/(1 + b)"), "x")
    assert [step.name for step in found if step.of == "sin(x)"] == ["a", "b"]


def test_a_condition_is_not_derived() -> None:
    text = "k = x/3; log(2 + where(k^0.5*x, k, 0.5))*where(x^2, sin(x), 2)"
    found, held = hold(text, "x", Random(1))
    assert not {"k^0.5*x", "x^2", "k^0.5"} & {step.of for step in found}
    assert held == set(range(len(found)))
    found, held = hold("where(sin(x), x*sin(x), 2)", "x", Random(1))
    assert [step.rule for step in found] == ["known derivative", "product rule", "branch by branch"]
    assert held == {0, 1, 2}
    assert found[-1].formulas[0] == "where(sin(x), du/dx, 0)"


def test_a_derivative_that_has_a_name_is_called_by_it() -> None:
    found = derivation_steps(parse_text("h = tanh(w*q); x*h + b"), "x")
    assert [step.formulas for step in found] == [("h",), ("tanh(w*q)",)]
    (step, *_) = derivation_steps(parse_text("h = tanh(w*q); (x*h)^2"), "x")
    assert step.formulas == ("2*u*du/dx", "2*(x*h)*h", "2*x*h^2")


def test_steps_of_a_long_formula_stay_as_the_rules_give_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Only the whole is simplified, so that ten thousand factors take seconds."""
    factors = [f"sin({number}*x)" for number in range(2, 40)]
    graph = parse_text("*".join(factors))
    assert derivation_steps(graph, "x")[0].formulas == ("cos(u)*du/dx", "cos(2*x)*2", "2*cos(2*x)")
    monkeypatch.setattr("exprgrad.explain.derivations.SIMPLIFIED", 100)
    found, called = calls(lambda: derivation_steps(graph, "x"))
    assert found[0].formulas == ("cos(u)*du/dx", "cos(2*x)*2")
    assert found[-1].formulas[-1] == program_text(next(simplified_derivatives(graph, ["x"])))
    hold_steps(found, graph, "x", {"x": 0.7})
    _, often = calls(lambda: derivation_steps(parse_text("*".join(factors * 3)), "x"))
    assert often < 3.3 * called
