"""The page on speed, and what measures it: rows, ratios of rounds, the plot.  Nothing is timed here."""

from __future__ import annotations

import importlib
import itertools
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from programs import require

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "explanation" / "speed.md"
SVG = "{http://www.w3.org/2000/svg}"

ASKED = {
    "startup": ("≤", 1.3, 1.15),
    "parse": ("≥", 3, 4),
    "micrograd": ("≥", 10, 15),
    "sweeps": ("≤", 3.2, 2.6),
    **{
        f"value {graph} {state}": ("≤", 1.0, 0.8)
        for graph in ("neuron", "3-4-4-1", "3-16-16-1", "moons")
        for state in ("on", "off")
    },
    **{f"c {name}": ("≤", 1.15, 1.0) for name in ("neuron", "rosenbrock", "black_scholes")},
    "jax neuron": ("≤", 1.1, 0.95),
    "jax rosenbrock": ("≤", 0.7, 0.4),
    "jax black_scholes": ("≤", 0.4, 0.25),
    **{f"compile {name}": ("≤", 50, 15) for name in ("neuron", "rosenbrock", "black_scholes")},
    **{f"numpy {name}": ("≤", 0.6, 0.4) for name in ("neuron", "rosenbrock", "black_scholes")},
    **{
        f"{quantity} {stage}": ("≤", 2, 2)
        for quantity in ("time", "memory")
        for stage in ("parse", "sweep", "derive", "compile", "batch")
    },
}
"""What was promised: the bar and the goal of each regime."""
COLUMNS = {
    "columns sums": ("≤", 1.5, 1.4),
    "columns rows": ("≤", 1.3, 1.1),
    "columns csv": ("≤", 1.2, 1.0),
}
"""The same of columns in files."""
CALLS = {
    "function neuron": ("≤", 1.0, 0.9),
    "function rosenbrock": ("≤", 0.7, 0.5),
    "function black_scholes": ("≤", 1.4, 1.2),
    **{f"gradient {name}": ("≤", 20, 12) for name in ("neuron", "rosenbrock", "black_scholes")},
    **{f"vector {name}": ("≤", 0.3, 0.1) for name in ("neuron", "rosenbrock", "black_scholes")},
    "8192 neuron": ("≤", 1.4, 1.2),
    "8192 rosenbrock": ("≤", 2.0, 1.3),
    "8192 black_scholes": ("≤", 1.2, 1.1),
    **{f"100 {name}": ("≤", 5, 2) for name in ("neuron", "rosenbrock", "black_scholes")},
}
"""The same of calls."""
PARTS = (
    "startup", "parse", "gradient", "value", "sides", "batch", "compile", "growth", "derive", "tensor",
)  # fmt: skip


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The benchmarks' modules, by name."""
    monkeypatch.syspath_prepend(str(ROOT))
    return lambda name: importlib.import_module(f"benchmarks.{name}")


def table_of(text: str) -> dict[str, list[str]]:
    """The cells of a Markdown table, by the first of each line."""
    lines = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return {line[0]: line[1:] for line in lines[2:]}


def part(name: str) -> str:
    """What the benchmark wrote between two markers of the page."""
    found = re.search(
        rf"<!-- {name} -->\n(.*)<!-- end of {name} -->", PAGE.read_text("utf-8"), re.DOTALL
    )
    assert found is not None
    return found[1]


def test_the_regimes_are_those_that_were_asked_for(module: Any) -> None:
    for known, asked in ("REGIMES", ASKED), ("COLUMNS", COLUMNS), ("CALLS", CALLS):
        regimes = getattr(module("regimes"), known)
        assert {
            name: ("≥" if regime.least else "≤", regime.bar, regime.goal)
            for name, regime in regimes.items()
        } == asked


def test_every_regime_is_on_the_page(module: Any) -> None:
    rows = table_of(part("regimes"))
    assert [*rows] == [regime.words for regime in module("regimes").REGIMES.values()]
    for regime in module("regimes").REGIMES.values():
        bar, goal, median, _, reached = rows[regime.words]
        assert [bar, goal] == [regime.wanted(regime.bar), regime.wanted(regime.goal)]
        assert (reached == "—") == (median == "—")
        if median != "—":
            near = float(median.removesuffix(regime.unit))
            known = {regime.verdict(near * factor) for factor in (0.99, 1, 1.01)}
            assert reached in known


def test_the_page_has_every_part_and_no_path_of_the_machine() -> None:
    text = PAGE.read_text("utf-8") + (ROOT / "docs" / "images" / "growth.svg").read_text("utf-8")
    for name in (*PARTS, "machine", "regimes"):
        assert part(name).strip(), "run python -m benchmarks --write"
    assert not re.search(r"/(home|root|tmp|work|usr)\b", text)


@pytest.mark.parametrize("option", ["--quick", "--only=batch"])
def test_the_page_is_of_a_whole_run(module: Any, option: str) -> None:
    before = PAGE.read_bytes()
    result = CliRunner().invoke(module("__main__").main, ["--write", option])
    assert result.exit_code == 2 and "--write takes a whole run" in result.output
    assert PAGE.read_bytes() == before


def test_verdicts(module: Any) -> None:
    regimes, ratio = module("regimes"), module("measure").Ratio
    figures = {
        "startup": ratio(1.1, 1.0),
        "parse": ratio(3.5, 3.6),
        "compile neuron": ratio(60, 55),
    }
    table = table_of(regimes.summary(figures))
    rows = [*table.values()]
    assert rows[0] == ["≤ 1.3", "≤ 1.15", "1.10", "1.00", "goal"]
    assert rows[1] == ["≥ 3", "≥ 4", "3.50", "3.60", "bar"]
    assert rows[2] == ["≥ 10", "≥ 15", "—", "—", "—"]
    assert table["native compile: neuron"] == [
        "≤ 50 ms",
        "≤ 15 ms",
        "60.0 ms",
        "55.0 ms",
        "**neither**",
    ]


def test_turns_and_ratios(module: Any) -> None:
    measure = module("measure")
    clock = itertools.chain.from_iterable((0.0, took) for took in itertools.cycle((1.0, 2.0)))
    called: list[str] = []
    calls = {name: lambda name=name: called.append(name) for name in ("a", "b")}
    taken = measure.turns(calls, 8, 3, ("b",), clock=lambda: next(clock))
    assert [*taken["a"]] == [*range(1, 9)] and [*taken["b"]] == [1, 4, 8]
    assert called[:6] == ["a"] * 3 + ["b"] * 3
    taken = {"a": {1: 2.0, 2: 30.0, 3: 10.0}, "b": {1: 1.0, 2: 10.0, 3: 1.0}}
    assert measure.ratio(taken, "a", "b") == (3.0, 2.0)
    assert measure.medians(taken) == {"a": 10.0, "b": 1.0}


def test_whose_time_is_in_whose(module: Any) -> None:
    """Ours above, the peer's below."""
    batch, compiling, names = module("batch"), module("compile"), module("contestants")
    seconds = {names.NATIVE: 6.0, names.NUMPY: 24.0, names.C: 3.0, names.BY_JAX: 12.0}
    seconds |= {names.BY_NUMPY: 48.0, names.BY_HAND: 1.0}
    taken = {name: {1: x, 2: x} for name, x in seconds.items()}
    found = dict(batch.ratios({"neuron": taken, "rosenbrock": {names.C: {1: 1.0}}}))
    assert found == {"c neuron": (2, 2), "jax neuron": (0.5, 0.5), "numpy neuron": (0.5, 0.5)}
    taken = {names.NATIVE: {1: 0.009, 2: 0.011, 3: 0.01}, "gcc, all three": {1: 1.0}}
    assert compiling.figures({"neuron": taken}) == {"compile neuron": (10.0, 9.0)}


@pytest.mark.parametrize("name", ["derived", "by_hand", "c"])
def test_contestants_are_held_to_the_scalar_engine(module: Any, name: str) -> None:
    """C may be off by what ``-ffast-math`` takes; no contestant by more than ``agree`` allows."""
    problems = module("problems")
    if name == "c":
        require("c")
        make = module("peers.limit").by_hand
    else:
        make = getattr(module("peers.by_column"), name)
    if name == "by_hand":
        pytest.importorskip("scipy", reason="pip install scipy")
    for problem in problems.PROBLEMS:
        given = problems.columns(problem, 17)
        answer = make(problem, given)
        problems.agree(problem, given, name, answer)
        assert len({column.ctypes.data % 4096 for column in given.values()}) == len(given)
        for place in range(len(given) + 1):
            wrong = [np.array(column) for column in answer()]
            wrong[place][8] += 1e-6 * max(abs(column[8]) for column in wrong)
            with pytest.raises(ValueError, match="in row 8"):
                problems.agree(problem, given, "NumPy", lambda wrong=wrong: wrong)


def test_c_leaves_the_process_as_it_was(module: Any) -> None:
    """A library that is linked with ``-ffast-math`` makes subnormal numbers 0, for everybody."""
    require("c")
    module("peers.limit").library()
    tiny = float("1e-310")
    assert repr(tiny * float("0.5")) == "5e-311"


def test_the_textbooks_greeks_are_the_derivatives(module: Any) -> None:
    require("c")
    problems, limit = module("problems"), module("peers.limit")
    *others, call = problems.PROBLEMS
    given = problems.columns(call, 17)
    problems.agree(call, given, "greeks", limit.greeks(call, given))
    for problem in others:
        with pytest.raises(NotImplementedError):
            limit.greeks(problem, given)


def test_the_counter_sees_what_is_held_at_once(module: Any, tmp_path: Path) -> None:
    """100 kB for a list of numbers, 300 kB for three at a time, let go one after the other."""
    require("c")
    if sys.platform != "linux":
        pytest.skip("LD_PRELOAD is Linux's")
    growth, library = module("growth"), tmp_path / "heap.so"
    module("peers.limit").build(growth.HEAP, library, ("-O2",))
    program = """
import ctypes
this = ctypes.CDLL(None)
this.heap_reset.restype = this.heap_most.restype = ctypes.c_long
for lists in (1, 3):
    before = this.heap_reset()
    found = [bytearray(100_000) for _ in range(lists)]
    del found
    for _ in range(5):
        bytearray(100_000)
    print(this.heap_most() - before)
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "LD_PRELOAD": str(library), "PYTHONMALLOC": "malloc"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    one, three = map(int, done.stdout.split())
    assert 100_000 <= one < 110_000
    assert 300_000 <= three < 310_000


def test_stages_of_a_formula(module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    stages = module("stages")
    monkeypatch.setattr(stages.gc, "collect", lambda: 0)  # what all other tests left is not ours
    found = {name: seconds for name, seconds, _ in stages.stages(module("formulas").tree(60), 2)}
    assert [*found] == [*stages.STAGES]
    assert all(len(seconds) == 2 for seconds in found.values())


def test_growth_is_a_rise_from_a_size_to_a_larger_one(module: Any) -> None:
    growth = module("growth")
    median, least, memory = (3.0, 2.0, 4.0), (2.0, 1.0, 3.0), (8.0, 4.0, 2.0)
    found = {
        size: {stage: growth.Taken(*figures) for stage in module("stages").STAGES}
        for size, *figures in zip((1000, 10_000, 100_000), median, least, memory, strict=True)
    }
    report = growth.growth_report(found)
    assert report.figures["time sweep"] == (2.0, 3.0)
    assert report.figures["memory batch"] == (1.0, 1.0)
    assert table_of(report.text)["derive"] == ["8", "4", "2"]


def test_the_plot_is_svg_and_true_to_scale(module: Any) -> None:
    plot = module("plot")
    curves = {"parse": {10**3: 1.0, 10**6: 100.0}, "derive": {10**3: 10.0, 10**6: 10.0}}
    picture = ET.fromstring(plot.svg([plot.Panel("µs", curves), plot.Panel("bytes", {})]))
    assert [path.text for path in picture.iter(f"{SVG}title")] == ["µs"]
    lines = [line.attrib["points"].split() for line in picture.iter(f"{SVG}polyline")]
    (low, high), (left, right) = [[[*map(float, xy.split(","))] for xy in line] for line in lines]
    assert low[0] == left[0] < high[0] == right[0]
    assert left[1] == right[1] == pytest.approx((low[1] + high[1]) / 2, abs=0.1)
    assert low[1] > high[1]
    words = [word.text for word in picture.iter(f"{SVG}text")]
    assert {"10³", "10⁶", "parse", "derive", "nodes"} <= {*words}
