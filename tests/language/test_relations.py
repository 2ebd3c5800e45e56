"""Texts that relate two sides: which statements do, what they are in the graph, and where errors point."""

from __future__ import annotations

import math

import pytest

import exprgrad
from exprgrad.errors import LanguageError
from exprgrad.graph.graph import same_graph, with_output
from exprgrad.graph.ops import FUNCTIONS
from exprgrad.language.read.parse import parse_text
from exprgrad.language.read.relations import read_relations
from shell import command
from together import together

# A text, its unknowns, and the statements that are equations.
EQUATIONS = [
    ("x = cos(x)", "x", ["x = cos(x)"]),
    ("a = 3; x^2 = a", "x", ["x^2 = a"]),
    ("y = x^2; y = 2*x", "xy", ["y = x^2", "y = 2*x"]),
    ("x*y = 1\nx + y = 3 # both", "xy", ["x*y = 1", "x + y = 3"]),
    ("x^2 - 2", "x", ["x^2 - 2"]),
    ("x^2 + y^2 - 1; x - y", "xy", ["x^2 + y^2 - 1", "x - y"]),
    ("(x - y); -x = 2", "xy", ["(x - y)", "-x = 2"]),
    ("sin(x) = 1/2", "x", ["sin(x) = 1/2"]),
    ("f(t) = t^2; f(x) = 3", "x", ["f(x) = 3"]),
    ("(x\n= 2)^2", "x", None),
    ("sum(x, axis=0) = 1", "x", ["sum(x, axis=0) = 1"]),
    ("where(x <= 1, x, 1) = 0.5", "x", ["where(x <= 1, x, 1) = 0.5"]),
    ("(x == 1) = 0", "x", ["(x == 1) = 0"]),
    ("x[0] = x[1]; x[1] = 3", "x", ["x[0] = x[1]", "x[1] = 3"]),
    ("t[0] = 1; t[k] = t[k - 1]*x for k in 1..3; 8 = t[3]", "x", ["8 = t[3]"]),
    ("sum(x^k for k in 0..3) = 2", "x", ["sum(x^k for k in 0..3) = 2"]),
    ("|x| = √2", "x", ["|x| = √2"]),
    ("e\u0301 = cos(\u00e9)", "\u00e9", ["e\u0301 = cos(\u00e9)"]),
    ("x = 3", "", []),
]


@together(EQUATIONS)
def test_which_statements_are_equations(
    text: str, unknowns: str, expected: list[str] | None
) -> None:
    if expected is None:
        with pytest.raises(LanguageError):
            read_relations(text, unknowns=unknowns)
        return
    found = read_relations(text, unknowns=unknowns).relations
    assert [text[slice(*one.span)] for one in found] == expected


def test_an_equation_is_the_difference_of_its_sides() -> None:
    found = read_relations("a = 2; b - 3*x = c + sin(x)", unknowns="x")
    difference = parse_text("a = 2; (b - 3*x) - (c + sin(x))")
    assert same_graph(found.graph, difference)
    (one,) = found.relations
    assert found.graph.operands[one.node] == (one.left, one.right)
    assert [found.graph.kinds[side] for side in found.graph.operands[one.node]] == ["sub", "add"]


def test_a_model_binds_with_an_equals_sign() -> None:
    found = read_relations("k = b1*x; log(y) ~ k - b2", "~")
    (one,) = found.relations
    assert one.right is not None
    model = with_output(found.graph, one.right)
    assert (found.graph.kinds[one.left], found.graph.kinds[one.right]) == ("log", "sub")
    assert model.output == one.right
    assert [binding.name for binding in found.graph.bindings] == ["k"]
    assert list(found.graph.inputs) == ["b1", "x", "y", "b2"]


def test_decimals_stay_as_they_are_typed() -> None:
    graph = read_relations("x = 0.1000000000000000000001", unknowns="x").graph
    assert list(graph.spelled.values()) == ["0.1000000000000000000001"]


# A text, its sign, the code of its error, and the text under the carets.
WRONG = [
    ("x = tahn(x)", "=", "unknown-function", "tahn"),
    ("x^2 = 3 + 2x", "=", "syntax", "x"),
    ("x^2 =", "=", "syntax", "="),
    (" = 3", "=", "syntax", "="),
    ("x = y = 3", "=", "syntax", "="),
    ("x = = 3", "=", "syntax", "="),
    ("x = y < 3", "=", "syntax", "<"),
    ("x^2 + = 3", "=", "syntax", "+ ="),
    ("(x = 3)", "=", "syntax", "="),
    ("y ~ a*x +", "~", "syntax", "+"),
    ("z = y ~ x", "~", "syntax", "="),
    ("y ~", "~", "syntax", "~"),
    ("y ~ b*(x ~ 3)", "~", "syntax", "~"),
    ("x^2 = 1\n- y = 3", "=", "unused-statement", "-"),
    ("y = 2*x; y = 3; y*x = 1", "=", "bound-twice", "y"),
]


@together(WRONG)
def test_errors_point_into_the_text_as_typed(text: str, sign: str, code: str, marked: str) -> None:
    with pytest.raises(LanguageError) as caught:
        read_relations(text, sign, "x")
    error = caught.value
    assert error.source is not None and error.span is not None
    assert (error.code, error.source.text) == (code, text)
    assert text[slice(*error.span)] == marked
    assert "<" not in f"{error.message}{error.help}" or "<" in text


def test_a_formula_of_one_statement_is_still_one() -> None:
    with pytest.raises(LanguageError) as caught:
        parse_text("x + y\nx - y")
    assert caught.value.code == "unused-statement"


def test_nothing_recurses() -> None:
    deep = "(" * 20_000 + "x" + ")" * 20_000
    assert len(read_relations(f"{deep} = 1; {deep} = 2").relations) == 2
    assert len(read_relations("; ".join(f"x*{k} = {k}" for k in range(3000))).relations) == 3000


def test_a_function_of_ones_own_wins_over_a_newer_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """Formulas written for version 0.1 keep their meaning when the table grows, and a note says so."""
    text = "erfcx(t) = t^2; erfcx(x) + 1"
    with pytest.raises(LanguageError, match="'erfcx' is a function already"):
        exprgrad.parse(text)
    monkeypatch.setitem(FUNCTIONS, "erfcx", FUNCTIONS["erfcx"]._replace(since="0.2"))
    run = exprgrad.parse(text).gradient(x=3)
    assert (run.value, run.gradient) == (10.0, {"x": 6.0})
    assert [(d.code, d.severity, d.span) for d in run.diagnostics] == [
        ("own-function", "note", (16, 24))
    ]
    assert "since version 0.2" in (run.diagnostics[0].help or "")
    assert exprgrad.parse("erfcx(x)").evaluate(x=0).diagnostics == []
    for argv in (["diff", text], ["code", text, "--to", "c"]):
        assert "note: 'erfcx' is the formula's own function" in command(*argv).err
    text, newer = "", ["expm1", "log1p", "sinc", "relu", "sech", "erfc"]
    for name in newer:
        monkeypatch.setitem(FUNCTIONS, name, FUNCTIONS[name]._replace(since="0.2"))
        text += f"{name}(t) = t^2; "
    run = exprgrad.parse(text + " + ".join(f"{name}(x)" for name in newer)).evaluate(x=1)
    assert [
        d.message.split("'")[1] for d in run.diagnostics
    ] == newer  # in the order of their calls
    own = exprgrad.solve("erfcx(x) = x^2; erfcx(x) = 4", x=1).roots[0].point["x"]
    theirs = exprgrad.solve("erfcx(x) = 0.5", x=1).roots[0].point["x"]
    assert own == 2.0 and math.exp(theirs**2) * math.erfc(theirs) == pytest.approx(0.5)
