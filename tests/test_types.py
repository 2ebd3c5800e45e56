"""What a user writes, as ``mypy --strict`` reads it: the types are those that are found.

The checker is run over the tests like all else.  What it must refuse is marked, and a mark that is not
needed is an error, too.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, assert_type

import pytest

import exprgrad
from exprgrad import (
    Check,
    Diagnostic,
    Edge,
    Expression,
    LanguageError,
    Node,
    Op,
    Page,
    Picture,
    Run,
    Value,
)

FORMULA = exprgrad.parse("(a+b)*c")
AT = {"a": 2, "b": -3, "c": 10}


def test_formulas() -> None:
    assert_type(FORMULA, Expression)
    assert_type(FORMULA.derivative("a").diff("b", 2), Expression)
    assert_type(exprgrad.diff("x^2"), Expression)
    assert_type(FORMULA.inputs, tuple[str, ...])
    assert_type(FORMULA.grad(AT), dict[str, Any])
    assert_type(exprgrad.grad("x^2", x=2), dict[str, Any])
    assert_type(FORMULA.check(AT), list[Check])
    assert_type(FORMULA.check(AT)[0].verdict, str)
    assert_type(exprgrad.hessian("x^2", x=2), dict[str, dict[str, Any]])
    assert_type(FORMULA.hessian(AT).true, dict[str, Any])
    assert_type(FORMULA.latex(), str)
    assert_type(FORMULA.steps("a"), str)
    assert_type(exprgrad.parse("a") == FORMULA, bool)
    course = FORMULA.descend(AT, rate=0.5, steps=2)
    assert_type(course.run, Run)
    assert_type(course.steps[0].value, float)
    value, gradient = FORMULA.compile()({"a": [1, 2], "b": 1, "c": 3})
    assert list(value) == [6, 9] and assert_type(gradient, dict[str, Any])


def test_runs() -> None:
    run = FORMULA.gradient(AT, wrt=["a", "b"])
    assert_type(run, Run)
    assert_type(run.gradient, dict[str, Any])
    assert_type(run.nodes, list[Node])
    assert_type(run.edges, list[Edge])
    assert_type(run.diagnostics, list[Diagnostic])
    assert_type(float(run), float)
    assert_type(run.table(), str)
    assert_type(run.explore(), Page)
    assert_type(exprgrad.draw(run), Picture)
    assert_type(exprgrad.OPS, tuple[Op, ...])
    assert {name: paths.count for name, paths in run.paths().items()} == {"a": 1, "b": 1}


def test_values() -> None:
    a, b = Value(2.0, label="a"), Value(-1.0)
    c = (a * 2 + 1 - b / 3) ** 2 + 1 / a + a.max(b, 1).hypot(2) - (-a).relu().clamp(0, b)
    assert_type(c, Value)
    assert_type(c.tanh(), Value)
    assert_type(a < b, bool)
    assert_type(a.grad, float)
    assert_type(sum([a, b], Value(0.0)), Value)
    c.backward()
    a.data -= 0.1 * a.grad
    made = Value(1.0, (a,), "tanh")

    def back() -> None:
        a.grad += made.grad

    made._backward = back
    assert_type(made.run(), Run)


def test_what_is_not_there_is_refused() -> None:
    wrong: Sequence[Any] = [
        lambda: exprgrad.nothing,  # type: ignore[attr-defined]
        lambda: FORMULA.gradeint(AT),  # type: ignore[attr-defined]
        lambda: FORMULA.gradient(AT).grads,  # type: ignore[attr-defined]
        lambda: Value(1.0).tahn(),  # type: ignore[attr-defined]
        lambda: Value(1.0).tanh(2),  # type: ignore[call-arg]
        lambda: Value(1.0) + "x",  # type: ignore[operator]
        lambda: FORMULA + "x",  # type: ignore[arg-type]
        lambda: exprgrad.parse(3),  # type: ignore[arg-type]
    ]
    for ask in wrong:
        with pytest.raises((AttributeError, TypeError)):
            ask()
    with pytest.raises(LanguageError) as caught:
        exprgrad.parse("tahn(x)")
    assert_type(caught.value.code, str)
    assert_type(caught.value.help, str | None)


@pytest.mark.slow
def test_a_script_elsewhere(tmp_path: Path) -> None:
    """With nothing but the installed package, which says that it is typed."""
    pytest.importorskip("mypy", reason="pip install mypy")
    lines = ["run = exprgrad.parse('x^2').gradient(x=1)", "reveal_type(run)", "x: str = run.order"]
    script = tmp_path / "script.py"
    script.write_text("\n".join(["import exprgrad", *lines, ""]), "utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path), str(script)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert 'Revealed type is "exprgrad.api.expression.Run"' in done.stdout, done.stdout
    assert 'expression has type "list[int]"' in done.stdout and "Found 1 error" in done.stdout
