"""The row that the how-to adds is all it takes: the page's own text is put into the table."""

from __future__ import annotations

import ast
import math
import re
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from exprgrad import errors, parse
from exprgrad.cli.main import main
from exprgrad.graph.ops import BY_NAME, FUNCTIONS, Op
from exprgrad.graph.structural import Parameter, Structural, normalize_axis
from exprgrad.graph.tensors import STRUCTURAL, WORDS
from exprgrad.run.balls.balls import has_balls
from exprgrad.run.numbers.sweeps import refuse_uncomputable
from oracles import computed, mp, true_partial, true_value, ulps
from strategies import points

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "how-to" / "add-an-operation.md"


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
    for (x,) in points(Random(0), 1, 80):
        value, (partial,) = computed(row, (x,))
        assert ulps(value, true_value(row.name, x)) <= row.value_ulp, x
        true = true_partial(row.name, 0, (x,))
        assert ulps(partial, true) <= row.partial_ulp + 2.0**-10, (x, mp.nstr(true, 20))


def test_everything_follows_from_the_row(row: Op, capsys: pytest.CaptureFixture[str]) -> None:
    run = parse("y = versin(x)").gradient(x=0.5)
    assert run.edges[0].rule == "sin(x)"
    assert "y = versin(x)" in run.trace() and "versin" in run.dot()
    assert main(["ops", "versin"]) == 0
    assert "the versed sine" in capsys.readouterr().out
    assert main(["ops", "versin", "--lint"]) == 0


@pytest.mark.parametrize("order", range(1, 5))
def test_members_of_a_family_are_accurate(order: int) -> None:
    random, formula = Random(order), parse(f"polygamma({order}, x)")
    row = BY_NAME[formula.graph.kinds[-1]]
    tried = [10 ** random.uniform(-3, 8) for _ in range(40)]
    for x in tried:
        run = formula.gradient(x=x)
        for found, true, bound in (
            (run.value, mp.polygamma(order, x), row.value_ulp),
            (run.gradient["x"], mp.polygamma(order + 1, x), row.partial_ulp),
        ):
            assert ulps(found, true) <= bound, x
        if order == 1 and has_balls():
            assert run.digits["value"] >= 13


def test_a_chain_of_derivatives_closes() -> None:
    formula = parse("digamma(2*x)")
    for order in range(1, 5):
        formula = formula.derivative("x")
        assert formula.text == f"{2**order}*polygamma({order}, 2*x)"
    for target in ("python", "numpy", "c", "javascript", "jax", "torch"):
        assert "polygamma_1(" in parse("polygamma(1, x)").code(target), target
    assert parse("polygamma(2, x)").latex() == r"\psi^{(2)}(x)"
    named = parse("n = 2; polygamma(n, x)")
    assert named.evaluate(x=3).value == parse("polygamma(2, x)").evaluate(x=3).value
    run = parse("a*polygamma(3, b + a)").gradient(a=1, b=2)
    texts = [node.text for node in run.nodes]
    assert texts == ["a", "b", "b + a", "polygamma(3, b + a)", "a*polygamma(3, b + a)"]
    assert "polygamma(4, b + a)" in run.trace()
    assert parse("polygamma(0, x)").evaluate(x=3).value == parse("digamma(x)").evaluate(x=3).value
    for text in ("polygamma(x, 2)", "polygamma(-1, x)", "polygamma(1.5, x)", "polygamma(101, x)"):
        with pytest.raises(
            errors.LanguageError, match="polygamma needs a whole number from 1 to 100"
        ):
            parse(text)
    with pytest.raises(errors.LanguageError, match="a whole number and 1 operand, but is given 3"):
        parse("polygamma(2, x, y)")


@pytest.mark.parametrize("n", range(18))
def test_factorials_of_small_whole_numbers_are_exact(n: int) -> None:
    assert parse("factorial(n)").evaluate(n=n).value == math.factorial(n)
    assert parse("gamma(n + 1)").evaluate(n=n).value == math.factorial(n)


def test_a_row_that_nothing_computes_is_refused() -> None:
    with pytest.raises(ValueError, match="'digamma' needs a value or a formula"):
        refuse_uncomputable(Op("digamma", "x", ("1",), "no value", definition="x"))


@pytest.fixture
def structural_row(monkeypatch: pytest.MonkeyPatch) -> Structural:
    """The documented structural row, in the table for one test."""
    found = re.search(r"```python\n(def flip_shape.*?)\n```", PAGE.read_text("utf-8"), re.DOTALL)
    assert found is not None
    names: dict[str, Any] = {
        "Structural": Structural,
        "Parameter": Parameter,
        "normalize_axis": normalize_axis,
    }
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
    assert main(["ops", "flip", "--lint"]) == 0
    code = parse("flip(x, axis=1)", shapes={"x": (2, 3)}).code("numpy", value_only=True)
    names: dict[str, Any] = {}
    exec(code, names)
    assert names["f"](np.array([[1.0, 2, 3], [4, 5, 6]])).tolist() == [[3, 2, 1], [6, 5, 4]]
    assert main(["eval", "flip(2)"]) == 2
    assert "flip along an axis needs a tensor: 2 is a number" in capsys.readouterr().err
