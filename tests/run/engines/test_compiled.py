"""``f.compile()``: engines, threads, blocks, and what is refused."""

from __future__ import annotations

import copy
import math
import pickle
import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from itertools import pairwise
from threading import Thread
from typing import Any, cast

import numpy as np
import pytest

from engines import each_engine, either
from exprgrad import ExprgradError, InputError, MissingExtraError, RequestError, parse
from exprgrad.errors import install_command
from exprgrad.run.engines import compiled as module
from exprgrad.run.engines import jax_engine, native
from exprgrad.run.engines.numpy_engine import LEAST_ROWS, MOST_ROWS

TEXT = "d = x*y + b; max(tanh(d), 0)*exp(-x^2) + where(y > b, x/y, erf(b))"
F = parse(TEXT)
LENGTHS = (
    0,
    1,
    2,
    7,
    8,
    63,
    64,
    65,
    LEAST_ROWS - 1,
    LEAST_ROWS,
    LEAST_ROWS + 1,
    1001,
    MOST_ROWS,
    MOST_ROWS + 1,
    2 * MOST_ROWS + 13,
)


def columns(rows: int) -> dict[str, Any]:
    random = np.random.default_rng(rows)
    return {name: random.uniform(-2, 2, rows) for name in F.inputs}


def same(one: Any, other: Any, rows: slice = slice(None)) -> bool:
    """Whether two answers are the same to the bit; ``rows`` are those of the first."""
    return one[0][rows].tobytes() == other[0].tobytes() and all(
        one[1][name][rows].tobytes() == other[1][name].tobytes() for name in other[1]
    )


@each_engine
def test_value_and_gradient_of_every_row(engine: str) -> None:
    given = columns(9)
    value, gradient = F.compile(engine)(given)
    assert value.dtype == np.float64 and value.shape == (9,)
    assert list(gradient) == ["x", "y", "b"]
    for at in range(9):
        run = F.gradient({name: column[at] for name, column in given.items()})
        assert value[at] == pytest.approx(run.value, rel=1e-13)
        for name in F.inputs:
            assert gradient[name][at] == pytest.approx(run.gradient[name], rel=1e-12, abs=1e-15)


@each_engine
def test_a_row_is_the_same_at_every_length_and_place(engine: str) -> None:
    """Blocks, tails and their neighbours do not show, to the last bit."""
    g = F.compile(engine, threads=1)
    whole = columns(LENGTHS[-1])
    expected = g(whole)
    for rows in LENGTHS if engine != "jax" else LENGTHS[:4]:
        for start in {0, LENGTHS[-1] - rows}:
            part = slice(start, start + rows)
            found = g({name: column[part] for name, column in whole.items()})
            assert len(found.value) == rows
            assert same(expected, found, part), rows


@either
def test_any_number_of_threads_gives_the_same(engine: str) -> None:
    g = F.compile(engine, threads=1)
    given = columns(3 * g.kernel.chunk + 5)
    expected = g(given)
    for threads in (None, 2, 5):
        assert same(F.compile(engine, threads=threads)(given), expected)


@either
def test_threads_may_call_at_once(engine: str) -> None:
    g = F.compile(engine, threads=1)
    given = columns(5000)
    expected, found = g(given), []

    def call() -> None:
        found.append([g(given) for _ in range(10)])

    threads = [Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert all(same(answer, expected) for answers in found for answer in answers)


def test_an_error_in_a_thread_is_the_callers() -> None:
    g = F.compile("numpy", threads=2)

    def fail(columns: Sequence[Any], outputs: Sequence[Any], start: int, stop: int) -> None:
        raise MemoryError

    g.kernel = Recorded(fail)
    with pytest.raises(MemoryError):
        g(columns(50))


class Recorded:
    """A kernel that threads share ten rows at a time, from a hundred operations on."""

    threads, chunk, work = 3, 10, 100

    def __init__(self, play: Callable[..., None]) -> None:
        self.play = play

    def __call__(  # noqa: D102
        self, columns: Sequence[Any], outputs: Sequence[Any], start: int, stop: int
    ) -> None:
        self.play(columns, outputs, start, stop)


@pytest.mark.parametrize(
    ("rows", "cores", "threads", "chunks"),
    [
        (9, 8, None, [(0, 9)]),
        (10, 8, None, [(0, 10)]),
        (25, 8, None, [(0, 10), (10, 20), (20, 25)]),
        (25, 1, None, [(0, 25)]),
        (25, 1, 2, [(0, 10), (10, 20), (20, 25)]),
        (25, 8, 1, [(0, 25)]),
    ],
)
def test_threads_share_what_pays(
    monkeypatch: pytest.MonkeyPatch,
    rows: int,
    cores: int,
    threads: int | None,
    chunks: list[tuple[int, int]],
) -> None:
    played = []
    monkeypatch.setattr(module, "count_cores", lambda: cores)
    g = F.compile("numpy", threads=threads)
    g.kernel = Recorded(lambda columns, outputs, start, stop: played.append((start, stop)))
    g(columns(rows))
    assert sorted(played) == chunks


@each_engine
def test_some_inputs_are_differentiated(engine: str) -> None:
    given = columns(5)
    g = F.compile(engine, wrt=["b", "x"])
    assert g.wrt == ("x", "b")
    value, gradient = g(given)
    whole = F.compile(engine)(given)
    assert list(gradient) == ["x", "b"]
    np.testing.assert_allclose(value, whole.value, rtol=1e-15)
    np.testing.assert_allclose(gradient["b"], whole.gradient["b"], rtol=1e-13)


@each_engine
@pytest.mark.parametrize("text", ["x", "2", "y = x; y", "x + 0*y", "where(x > 0, 1, 0)", "x > y"])
def test_answers_that_are_no_steps(engine: str, text: str) -> None:
    """Outputs that are inputs, constants, conditions, or each other."""
    f = parse(text)
    rows = [(1.0, 2.0), (-1.0, -2.0), (0.0, 0.0)]
    given = {name: np.array([row[at] for row in rows]) for at, name in enumerate("xy")}
    value, gradient = f.compile(engine)({name: given[name] for name in f.inputs})
    assert len(value) == (3 if f.inputs else 1)
    for at in range(len(value)):
        run = f.gradient({name: given[name][at] for name in f.inputs})
        assert value[at] == run.value
        assert {name: column[at] for name, column in gradient.items()} == run.swept


def test_answers_own_their_memory() -> None:
    g = parse("x + y").compile("numpy")
    x = np.ones(3)
    value, gradient = g({"x": x, "y": x})
    gradient["x"][:] = 7
    assert gradient["y"].tolist() == [1, 1, 1]
    value, gradient = parse("x").compile("numpy")({"x": x})
    value[:] = 5
    assert x.tolist() == [1, 1, 1]


# Choices.


def test_the_default_is_native_where_llvmlite_is(monkeypatch: pytest.MonkeyPatch) -> None:
    there = find_spec("llvmlite") is not None
    assert F.compile().engine == ("native" if there else "numpy")
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    assert F.compile().engine == "numpy"


def test_a_package_that_is_missing_is_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    jax_engine.import_jax.cache_clear()
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(MissingExtraError, match="the engine jax needs jax") as missing:
        F.compile("jax")
    assert missing.value.help == install_command("jax")


def test_what_is_too_large_for_native_code_is_run_by_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("llvmlite")
    monkeypatch.setattr(native, "MOST_LINES", 3)
    g = parse("x*y*sin(x)").compile("native")
    assert g.engine == "numpy"
    assert repr(g).endswith("engine numpy; too large for native code>")
    assert g({"x": [0.5], "y": [2]}).gradient["y"].tolist() == [0.5 * math.sin(0.5)]


def test_numpy_counts_threads_too() -> None:
    assert F.compile("numpy", threads=cast(int, np.int64(2))).threads == 2


@pytest.mark.parametrize("error", [OSError("no libLLVM"), MissingExtraError("a", "no libLLVM")])
def test_where_llvmlite_does_not_work_numpy_computes(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: Any, **options: Any) -> None:
        raise error

    monkeypatch.setattr(module, "find_spec", lambda name: True)
    monkeypatch.setattr(native, "build_native_kernel", fail)
    g = F.compile()
    assert (g.engine, g.note) == ("numpy", "llvmlite does not work: no libLLVM")
    with pytest.raises(type(error)):
        F.compile("native")


EXACT = (
    "sqrt(a*b - c*d)",
    "1/(a*b - c*d)",
    "-a*b + c*d",
    "where(a*b == c*d, a, 0) + b*(a*b - c*d)",
)


@each_engine
@pytest.mark.parametrize("text", EXACT)
def test_products_are_rounded_before_they_are_summed(engine: str, text: str) -> None:
    """XLA makes one operation of both, after which a*b - c*d is not 0 for equal numbers."""
    f = parse(text)
    random = np.random.default_rng(1)
    a, b = random.uniform(0, 1, 64), random.uniform(0, 1, 64)
    value, gradient = f.compile(engine)({"a": a, "b": b, "c": b, "d": a})
    for at in range(64):
        run = f.gradient(a=a[at], b=b[at], c=b[at], d=a[at])
        assert value[at] == run.value
        assert all(gradient[name][at] == run.swept[name] for name in "abcd")


@pytest.mark.slow
def test_jax_takes_small_numbers_on_the_way_for_0() -> None:
    """As ``docs/explanation/engines.md`` says."""
    pytest.importorskip("jax")
    point: dict[str, Any] = {"x": 1e-200, "y": 1e-120, "z": 1e200}
    f = parse("x*y*z")
    assert (f.compile("jax")(point).value, f.evaluate(point).value > 0) == (0.0, True)


def test_jax_takes_the_first_lengths_as_they_come() -> None:
    pytest.importorskip("jax")
    g = parse("x*y + x").compile("jax")
    lengths = [1000, 777, 1000, 1001, 5, 777, 1003, 999, 5]
    taken = [g.kernel.length(rows) for rows in lengths]  # type: ignore[attr-defined]
    assert taken == [1000, 777, 1000, 1001, 5, 777, 1024, 1024, 5]


@pytest.mark.parametrize(
    ("rows", "longer"), [(1, 1), (8, 8), (15, 15), (17, 18), (1003, 1024), (100_000, 106_496)]
)
def test_batches_are_filled_up_to_parts_of_a_power_of_two(rows: int, longer: int) -> None:
    assert jax_engine.padded_rows(rows) == longer


@pytest.mark.slow
def test_jax_compiles_for_a_few_lengths() -> None:
    pytest.importorskip("jax")
    g = parse("x*y + x").compile("jax")
    traced = []
    table = g.kernel.table  # type: ignore[attr-defined]

    def add(x: Any, y: Any) -> Any:
        traced.append(max(np.shape(x), np.shape(y)))
        return x + y

    table["add"] = add
    x = np.linspace(1, 2, 300)
    for rows in range(300):
        value, gradient = g({"x": x[:rows], "y": x[:rows]})
        assert value.tolist() == (x * x + x)[:rows].tolist()
        assert gradient["y"].tolist() == x[:rows].tolist()
    lengths = sorted({shape[0] for shape in traced})
    assert lengths[: jax_engine.FIRST] == [*range(jax_engine.FIRST)]
    assert len(lengths) <= 51
    assert all(big <= 1.15 * small + 1 for small, big in pairwise(lengths))


@each_engine
@pytest.mark.parametrize(
    "text",
    [
        "x/where(x > 0, -(1 - 1), 1)",
        "1/((-0.0)*(x > 0))",
        "1/where(x > 0, 0*-1, 1)",
        "1/max(0*-1, x < 0)",
        "1/min(0*-1, x < 0)",
        "1/(0*-1 + 0*-1*(x > 0))",
        "t = x < x; t % t",
        "z = x < x; u = z/z; where(u == 2, 0, u)",
    ],
)
def test_a_zero_with_a_sign_is_no_truth_value(engine: str, text: str) -> None:
    """But which of two equal zeros ``max`` and ``min`` give is no promise, unless they are precise."""
    run = parse(text).gradient(x=2.0)
    rows = parse(text).compile(engine)({"x": [2.0] * 9})
    if "max" not in text and "min" not in text:
        assert set(map(repr, rows.value.tolist())) == {repr(run.value)}
    if engine != "jax":
        precise = parse(text).compile(engine, precise=True)({"x": [2.0] * 9})
        assert set(map(repr, precise.value.tolist())) == {repr(run.value)}
        assert set(map(repr, precise.gradient["x"].tolist())) == {repr(run.swept["x"])}


def test_what_it_says_of_itself() -> None:
    assert repr(parse("x*y").compile("numpy")) == "<'x*y' compiled for columns: engine numpy>"
    g = parse("x" + " + x" * 99).compile("numpy", precise=True)
    assert repr(g) == f"<'{('x' + ' + x' * 99)[:59]}…' compiled for columns: engine numpy, precise>"
    assert (g.inputs, g.wrt, g.precise) == (("x",), ("x",), True)


@each_engine
def test_it_is_pickled_and_copied(engine: str) -> None:
    g = F.compile(engine, wrt="y")
    given = columns(3)
    for twin in (pickle.loads(pickle.dumps(g)), copy.deepcopy(g)):
        assert (twin.engine, twin.wrt) == (engine, ("y",))
        assert same(twin(given), g(given))


REFUSED: dict[str, tuple[dict[str, Any], type[ExprgradError], str, str]] = {
    "engine": ({"engine": "nativ"}, RequestError, "unknown-engine", "did you mean 'native'?"),
    "engine's kind": ({"engine": 3}, RequestError, "unknown-engine", "there is no engine '3'"),
    "engines": ({"engine": ["native"]}, RequestError, "unknown-engine", "there is no engine"),
    "true threads": ({"threads": True}, RequestError, "bad-threads", "True is not a number of"),
    "a number": ({"wrt": 5}, InputError, "unknown-input", "an input's name is a string, not int"),
    "no threads": ({"threads": 0}, RequestError, "bad-threads", "0 is not a number of threads"),
    "half a thread": (
        {"threads": 0.5},
        RequestError,
        "bad-threads",
        "0.5 is not a number of threads",
    ),
    "wrt": ({"wrt": ["z"]}, InputError, "unknown-input", "'z' is not an input of the expression"),
    "no wrt": ({"wrt": []}, InputError, "unknown-input", "no input is chosen"),
}


@pytest.mark.parametrize(
    ("options", "kind", "code", "message"), REFUSED.values(), ids=REFUSED.keys()
)
def test_a_wrong_request_is_refused(
    options: dict[str, Any], kind: type[ExprgradError], code: str, message: str
) -> None:
    with pytest.raises(kind) as refused:
        F.compile(**options)
    assert refused.value.code == code
    assert message in str(refused.value)


@pytest.mark.parametrize("text", ["sum(x)", "x*[1, 2]", "a = x + 1; a @ y"])
def test_tensors_are_refused(text: str) -> None:
    with pytest.raises(RequestError, match="a formula with tensors") as refused:
        parse(text).compile()
    assert refused.value.code == "no-tensors"
    assert refused.value.span is not None


def test_precise_is_not_for_jax() -> None:
    with pytest.raises(RequestError, match="the engine jax is not precise"):
        F.compile("jax", precise=True)
