"""A compiled formula called again with the arrays of the last call, which are looked at but once."""

from __future__ import annotations

import gc
import pickle
import weakref
from typing import Any

import numpy as np
import pytest

import exprgrad
from exprgrad.run.engines import compiled as compiled_module

pytest.importorskip("llvmlite")

TEXT = "a*x^2 + sin(y)"
ROWS = [1, 3, 100, 8192]


def columns_of(rows: int, seed: int = 0) -> dict[str, Any]:
    """Columns of the formula, not in its order."""
    random = np.random.default_rng(seed)
    return {name: random.normal(size=rows) for name in ("x", "y", "a")}


def assert_right(columns: dict[str, Any], answer: Any) -> None:
    """The answer is that of the columns' numbers."""
    a, x, y = (np.asarray(columns[name]) for name in ("a", "x", "y"))
    found = {"a": x * x, "x": 2 * a * x, "y": np.cos(y)}
    assert np.allclose(answer.value, a * x * x + np.sin(y), rtol=1e-13, atol=1e-15)
    for name, column in found.items():
        assert np.allclose(answer.gradient[name], column, rtol=1e-13, atol=1e-15), name


def called_twice(rows: int) -> tuple[compiled_module.Compiled, dict[str, Any], Any]:
    """A formula that has been called with an earlier answer's memory."""
    g = exprgrad.parse(TEXT).compile("native")
    columns = columns_of(rows)
    answer = g(columns)
    return g, columns, g(columns, out=answer)


@pytest.mark.parametrize("rows", ROWS)
def test_the_same_arrays_are_computed_anew(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    g, columns, answer = called_twice(rows)
    assert_right(columns, answer)
    monkeypatch.setattr(compiled_module, "take_columns", None)  # nobody looks again
    for seed in (1, 2):
        for name, column in columns_of(rows, seed).items():
            columns[name][:] = column
        for out in (answer, tuple(answer)):
            again = g(columns, out=out)
            assert (again is answer) == (out is answer)
            assert again.value is answer.value
            assert again.notes == ()
            assert_right(columns, again)


@pytest.mark.parametrize("rows", ROWS)
def test_other_arrays_are_looked_at(rows: int) -> None:
    g, columns, answer = called_twice(rows)
    swapped = {"x": columns["y"], "y": columns["x"], "a": columns["a"]}
    assert_right(swapped, g(swapped, out=answer))
    assert_right(columns, g(columns, out=answer))
    columns["x"] = columns["x"] + 1
    assert_right(columns, g(columns, out=answer))
    one = columns | {"a": 2.0}
    assert_right(one, g(one, out=answer))
    listed = columns | {"a": columns["a"].tolist()}
    again = [g(listed, out=answer) for _ in range(2)][1]
    assert_right(listed, again)
    assert [note.column for note in again.notes] == ["a"]
    assert_right(columns, g(columns))


def test_another_answer_is_looked_at() -> None:
    g, columns, answer = called_twice(100)
    value, gradient = answer
    crossed = exprgrad_answer(value, {"x": gradient["a"], "a": gradient["x"], "y": gradient["y"]})
    assert_right(columns, g(columns, out=crossed))
    g(columns, out=answer)
    answer.gradient["x"] = np.empty(100)
    assert_right(columns, g(columns, out=answer))
    answer.gradient["x"] = np.empty(99)
    with pytest.raises(exprgrad.RequestError, match="99 rows"):
        g(columns, out=answer)
    others: tuple[Any, ...] = ((), [], (answer.value, None))
    for no_answer in others:
        with pytest.raises(exprgrad.RequestError, match="earlier answer"):
            g(columns, out=no_answer)
    del answer.gradient["x"]
    with pytest.raises(exprgrad.RequestError, match="earlier answer"):
        g(columns, out=answer)


def exprgrad_answer(value: Any, gradient: dict[str, Any]) -> Any:
    """An answer put together by hand."""
    return compiled_module.ColumnsAnswer(value, gradient)


def test_a_name_too_many_is_refused() -> None:
    g, columns, answer = called_twice(100)
    columns["z"] = columns["x"]
    with pytest.raises(exprgrad.InputError, match="does not read 'z'"):
        g(columns, out=answer)


def test_no_array_is_moved_or_held_longer_than_the_answer() -> None:
    g, columns, answer = called_twice(100)
    assert g.kept is not None
    with pytest.raises(ValueError, match="cannot resize"):
        columns["x"].resize(100_000, refcheck=False)
    column = weakref.ref(columns.pop("x"))
    columns.clear()
    del answer
    gc.collect()
    assert g.kept is None
    assert column() is None


def test_what_is_kept_is_not_pickled() -> None:
    g, columns, answer = called_twice(100)
    again = pickle.loads(pickle.dumps(g))
    assert again.kept is None
    assert_right(columns, again(columns, out=answer))
