"""The row that the how-to adds is all it takes: the page's own text is put into the table."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from random import Random
from typing import Any

import pytest

from exprgrad import parse
from exprgrad.cli.main import main
from exprgrad.graph.ops import BY_NAME, Op
from exprgrad.graph.shapes import axis_of
from exprgrad.graph.structural import Parameter, Structural
from exprgrad.graph.tensors import STRUCTURAL, WORDS
from exprgrad.language.read.parse import FUNCTIONS
from oracles import computed, mp, true_partial, true_value, ulps
from strategies import points

PAGE = Path(__file__).parents[1] / "docs" / "how-to" / "add-an-operation.md"


def documented_row() -> Op:
    """The row in the page's first block, read as literals."""
    found = re.search(r"```text\n(Op\(.*?\)),\n```", PAGE.read_text("utf-8"), re.DOTALL)
    assert found is not None
    call = ast.parse(found[1], mode="eval").body
    assert isinstance(call, ast.Call)
    options = {keyword.arg or "": ast.literal_eval(keyword.value) for keyword in call.keywords}
    return Op(*map(ast.literal_eval, call.args), **options)


@pytest.fixture
def row(monkeypatch: pytest.MonkeyPatch) -> Op:
    """The documented row, in the table for one test."""
    op = documented_row()
    assert op.name not in BY_NAME
    monkeypatch.setitem(BY_NAME, op.name, op)
    monkeypatch.setitem(FUNCTIONS, op.name, op)
    return op


def test_the_documented_row_is_accurate(row: Op) -> None:
    for (x,) in points(Random(0), 1, 300):
        value, (partial,) = computed(row, (x,))
        assert ulps(value, true_value(row.name, x)) <= row.value_ulp, x
        true = true_partial(row.name, 0, (x,))
        assert ulps(partial, true) <= row.partial_ulp + 2.0**-10, (x, mp.nstr(true, 20))


def test_everything_follows_from_the_row(row: Op, capsys: pytest.CaptureFixture[str]) -> None:
    run = parse("y = sech(x)").gradient(x=0.5)
    assert run.edges[0].rule == "-y*tanh(x)"
    assert "y = sech(x)" in run.trace() and "sech" in run.dot()
    assert main(["ops", "sech"]) == 0
    assert "the hyperbolic secant" in capsys.readouterr().out


@pytest.fixture
def structural_row(monkeypatch: pytest.MonkeyPatch) -> Structural:
    """The documented structural row, in the table for one test."""
    found = re.search(r"```python\n(def flip_shape.*?)\n```", PAGE.read_text("utf-8"), re.DOTALL)
    assert found is not None
    names: dict[str, Any] = {"Structural": Structural, "Parameter": Parameter, "axis_of": axis_of}
    exec(found[1], names)
    row: Structural = names["ROW"]
    assert row.name not in STRUCTURAL
    monkeypatch.setitem(STRUCTURAL, row.name, row)
    monkeypatch.setitem(WORDS, row.word, row)
    return row


def test_everything_follows_from_the_structural_row(
    structural_row: Structural, capsys: pytest.CaptureFixture[str]
) -> None:
    formula = parse("sum(flip(x, axis=1)*[[1, 2], [3, 4]])")
    run = formula.gradient(x=[[5, 6], [7, 8]])
    assert run.value == 6 * 1 + 5 * 2 + 8 * 3 + 7 * 4
    assert run.gradient["x"].tolist() == [[2, 1], [4, 3]]
    assert "flip(·, axis=1)" in run.dot() and "flip" in run.trace()
    assert formula.jvp(x=[[5, 6], [7, 8]], tangent={"x": [[1, 0], [0, 0]]}) == 2
    assert parse("flip(x, axis=1)").latex() == r"\operatorname{flip}_{\text{axis }1}(x)"
    assert main(["ops", "flip"]) == 0
    assert "for x" in capsys.readouterr().out
    assert main(["eval", "flip(2)"]) == 2
    assert "flip along an axis needs a tensor: 2 is a number" in capsys.readouterr().err
