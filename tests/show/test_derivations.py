"""Derivations as people read them: golden files, widths, and the JSON fields."""

from __future__ import annotations

import json
import re
from functools import cache

import pytest

import golden
from counting import calls
from exprgrad.derive.simplify.formula import simplified_derivatives
from exprgrad.explain.derivations import DerivationStep, derivation_steps
from exprgrad.graph.graph import Graph
from exprgrad.language.read.parse import parse_text
from exprgrad.show.text.formulas import (
    derivative_lines,
    named_formula_lines,
    step_lines,
    step_records,
)
from exprgrad.source import display_width

OPTION = (
    "d1 = (log(S/K) + (r + sigma^2/2)*T)/(sigma*sqrt(T)); d2 = d1 - sigma*sqrt(T); "
    "c = S*(1 + erf(d1/sqrt(2)))/2 - K*exp(-r*T)*(1 + erf(d2/sqrt(2)))/2"
)
LAYERS = (
    "h1 = tanh(w1*x + b1); h2 = tanh(w2*h1 + b2); y = sigmoid(w3*h2 + b3); loss = (y - target)^2"
)
CASES = {
    "power": ("x^3", "x"),
    "polynomial": ("5*x^4 - 3*x^2 + 7*x - 2", "x"),
    "product": ("sin(x)*cos(x)", "x"),
    "bell": ("exp(-x^2/2)", "x"),
    "neuron": ("tanh(x*w + b)", "w"),
    "logarithm": ("log(x^2 + 1)", "x"),
    "quotient": ("x/(x^2 + 1)", "x"),
    "fraction": ("(a*x + b)/(c*x + d)", "x"),
    "layers": (LAYERS, "w1"),
    "option": (OPTION, "S"),
    "volatility": (OPTION, "sigma"),
    "power-tower": ("x^x", "x"),
    "huber": ("where(abs(r) <= d, r^2/2, d*(abs(r) - d/2))", "r"),
    "choices": ("max(x^2, y, 3)*clamp(x, 0, 1) + x*floor(x)", "x"),
    "long": ("sin(" * 12 + "a*x" + ")" * 12, "x"),
    "wide": ("重み*sin(入力*重み)", "重み"),
    "constant": ("y = x^2; floor(x) + (x < 2)", "x"),
    "three": ("x*exp(x)*sin(x)", "x"),
}


@cache
def given(text: str, wrt: str) -> tuple[Graph, list[DerivationStep]]:
    """A formula, and its steps, found once for all tests."""
    graph = parse_text(text)
    return graph, derivation_steps(graph, wrt)


def drawn(text: str, wrt: str, width: int | None = None, *, color: bool = False) -> str:
    graph, found = given(text, wrt)
    return "\n".join(step_lines(graph, wrt, found, width=width, color=color)) + "\n"


@pytest.mark.parametrize("width", [80, 40])
@pytest.mark.parametrize("name", CASES)
def test_derivations(name: str, width: int) -> None:
    text = drawn(*CASES[name], width)
    golden.agree(f"steps/{name}-{width}.txt", text)
    assert max(map(display_width, text.splitlines())) <= width


@pytest.mark.parametrize("name", CASES)
def test_the_same_words_at_every_width(name: str) -> None:
    """Broken lines and coloured ones say what one long line says."""
    whole = drawn(*CASES[name])
    for width in (20, 40, 60, 80, 200):
        assert "".join(drawn(*CASES[name], width).split()) == "".join(whole.split())
    colored = drawn(*CASES[name], color=True)
    assert re.sub("\x1b\\[[0-9]*m", "", colored) == whole != colored


@pytest.mark.parametrize("name", CASES)
def test_the_last_lines_are_the_answer(name: str) -> None:
    text, wrt = CASES[name]
    answer = given(text, wrt)[1][-1].formulas[-1]
    *_, last = drawn(text, wrt).rstrip().split("\n\n")
    head, *rest = last.split("\n")
    found = "; ".join(line.strip() for line in rest) if rest else head.split(" = ", 1)[1]
    assert found == answer


@pytest.mark.parametrize("name", CASES)
def test_the_fields_are_the_steps(name: str) -> None:
    text, wrt = CASES[name]
    _, found = given(text, wrt)
    written = json.loads(json.dumps(step_records(found)))
    assert [entry["formulas"] for entry in written] == [list(step.formulas) for step in found]
    for entry, step in zip(written, found, strict=True):
        assert entry["rule"] and (entry["name"] or "") == step.name
        assert [part["name"] for part in entry["parts"]] == [part.name for part in step.parts]
        start, end = entry["span"]
        assert 0 <= start < end <= len(text)
        assert all(isinstance(note, str) for note in entry["notes"])


def test_the_fields_of_one_step() -> None:
    (entry,) = step_records(derivation_steps(parse_text("exp(2*x)"), "x"))
    assert entry == {
        "rule": "chain rule",
        "notes": [
            "the outer derivative times the inner one",
            "exp(x) is e to the power x",
            "the derivative of exp(u) is exp(u)",
        ],
        "of": "exp(2*x)",
        "name": None,
        "left": "d/dx exp(2*x)",
        "formulas": ["exp(u)*du/dx", "exp(2*x)*2", "2*exp(2*x)"],
        "parts": [{"name": "u", "text": "2*x", "derivative": "2"}],
        "node": 3,
        "span": [0, 8],
    }


def test_a_derivative_fits_a_narrow_terminal() -> None:
    graph = parse_text("(x^3 + 2*x)/(1 + x^2)*exp(-x)*sin(y*x)")
    (found,) = simplified_derivatives(graph, ["x"])
    (whole,) = derivative_lines(graph, ("x",), found, "infix", None, None)
    lines = [*derivative_lines(graph, ("x",), found, "infix", None, 40)]
    assert max(map(display_width, lines)) <= 40 and len(lines) == 6
    assert "".join(whole.split()) == "".join("".join(lines).split())


def test_letters_are_parted_where_one_ends() -> None:
    assert "with u = (x^3 + 2*x)/(1 + x^2);\n            v = exp(-x)" in drawn(
        "(x^3 + 2*x)/(1 + x^2)*exp(-x)", "x", 40
    )


def test_a_long_formula_is_broken_in_linear_work() -> None:
    def work(terms: int) -> int:
        text = " + ".join(["sin(x)"] * terms)
        return calls(lambda: [*named_formula_lines("d/dx", text, 40)])[1]

    assert work(2000) < 2.2 * work(1000)
