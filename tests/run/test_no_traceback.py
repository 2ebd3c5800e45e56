"""Formulas that once ended in a traceback, asked in every way."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from shell import command

COMMANDS = "eval", "grad", "hess", "check", "paths", "jac"
ROOTS = "s[0] = z/1e-308; s[k] = sqrt(prod(s[k-1] for j in 0..4)) for k in 1..5; s[1]"
CASES = {
    "cross_entropy(y, 0)": ("y=[1]",),
    ROOTS: ("z=0.1",),
    "cos(norm(softmax([0, y])))": ("y=64",),
    "(softmax([0, 3]) @ [j0(2), x/1])/inf": ("x=0",),
}


@pytest.mark.parametrize("text", CASES)
@pytest.mark.parametrize("name", COMMANDS)
def test_formulas_that_ended_in_a_traceback(name: str, text: str) -> None:
    assert command(name, text, *CASES[text]).status in (0, 1)


def test_help_never_speaks_of_a_term_as_if_it_were_an_input() -> None:
    text = "s[0] = z*1; s[k] = log(1 + exp(s[k-1])) for k in 1..2; s[2]"
    _, _, err = command("grad", text, "z=800")
    assert "softplus(z*1)" in err


@pytest.mark.slow
@pytest.mark.parametrize("text", ["logdet(A)", "det(A)"])
def test_large_determinants(text: str, tmp_path: Path) -> None:
    matrix = np.random.default_rng(0).normal(size=(1100, 1100))
    path = tmp_path / "a.json"
    path.write_text(json.dumps(matrix.tolist()), "utf-8")
    status, out, _ = command("eval", "--json", text, f"A=@{path}")
    sign, log = np.linalg.slogdet(matrix)
    expected = log if text == "logdet(A)" else sign * np.inf
    assert status == 0
    assert float(json.loads(out)["value"]) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("text", ["x^2*y", "max(x, y)", "x % y", "norm([x, y])", "hypot(x, y)"])
@pytest.mark.parametrize("x", ["inf", "-inf", "nan", "5e-324", "1e308"])
@pytest.mark.parametrize("name", COMMANDS)
def test_infinite_inputs(name: str, x: str, text: str) -> None:
    assert command(name, text, f"x={x}", "y=1").status in (0, 1)
