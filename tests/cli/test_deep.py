"""Deep and long formulas: nothing recurses, nothing takes more than linear time or memory."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from exprgrad import parse
from shell import command


def formula_of(shape: str, size: int) -> tuple[str, float, float]:
    """A formula in x of about ``size`` operations, its value and derivative at x = 1."""
    steps = "".join(f"t{i} = t{i - 1} + x\n" for i in range(1, size))
    shapes = {
        "parentheses": ("(" * size + "x" + ")" * size, 1.0, 1.0),
        "signs": ("-" * size + "x", 1.0, 1.0),
        "sum": ("+".join(["x"] * size), size, size),
        "product": ("*".join(["x"] * size), 1.0, size),
        "powers": ("^".join(["x"] * size), 1.0, 1.0),
        "calls": ("sin(" * size + "0*x" + ")" * size, 0.0, 0.0),
        "nested sums": ("(x+" * size + "x" + ")" * size, size + 1, size + 1),
        "steps": ("t0 = 2*x\n" + steps, size + 1, size + 1),
        "operands": ("max(" + ",".join(f"{i}*x" for i in range(size)) + ")", size - 1, size - 1),
        "choices": ("where(x > 0, x, " * size + "0" + ")" * size, 1.0, 1.0),
    }
    return shapes[shape]


SHAPES = {
    "parentheses": 100_000, "signs": 20_000, "sum": 100_000, "product": 20_000, "powers": 20_000,
    "calls": 20_000, "nested sums": 10_000, "steps": 50_000, "operands": 5_000, "choices": 5_000,
}  # fmt: skip
FEW = 1_500
"""More than Python's stack would hold."""
sizes = pytest.mark.parametrize("most", [FEW, pytest.param(10**6, marks=pytest.mark.slow)])


@sizes
@pytest.mark.parametrize("shape", SHAPES)
def test_deep_and_long(shape: str, most: int) -> None:
    """The right answer through the library, the JSON and the table."""
    formula, value, slope = formula_of(shape, min(most, SHAPES[shape]))
    run = parse(formula).gradient(x=1)
    assert (run.value, run.gradient) == (value, {"x": slope})
    assert "nodes left out" in run.table() or len(run.nodes) < 50
    assert run.trace()
    status, out, err = command("grad", "-", "x=1", stdin=formula.encode())
    assert (status, err) == (0, "")
    assert out.splitlines()[-1].endswith(f"= {value:g}")
    assert len(out) < 30_000


@sizes
@pytest.mark.parametrize("shape", ["parentheses", "sum", "steps"])
def test_deep_json(shape: str, most: int) -> None:
    formula, value, slope = formula_of(shape, min(most, SHAPES[shape]))
    status, out, _ = command("grad", "--json", "-", "x=1", stdin=formula.encode())
    found = json.loads(out)
    assert (status, found["value"], found["gradient"]) == (0, value, {"x": slope})
    assert max(len(node["text"]) for node in found["nodes"]) <= 60


@sizes
@pytest.mark.parametrize("shape", ["parentheses", "calls", "steps", "choices"])
def test_printed_and_read_again(shape: str, most: int) -> None:
    formula, value, slope = formula_of(shape, min(most, SHAPES[shape]))
    again = parse(str(parse(formula))).gradient(x=1)
    assert (again.value, again.gradient) == (value, {"x": slope})


def test_a_picture_too_large_to_read_is_refused() -> None:
    status, out, err = command("dot", "+".join(["x"] * 10_001))
    assert (status, out) == (2, "")
    assert "too large to read" in err


WATCHED = """
import sys
from exprgrad.cli.main import main
status = main(sys.argv[1:])
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(status, int(peak.split()[1]) // 1024, file=sys.stderr)
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux's /proc")
@pytest.mark.parametrize("form", ["--json", "--csv", "-q", "--trace", "--digits=3"])
def test_a_million_tokens(form: str) -> None:
    """A sum of 500,000 terms, in less than 1.5 GB; in other forms of a fifth of that."""
    terms = 500_000 if form == "--csv" else 100_000
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, "grad", form, "-", "x=1"],
        input="+".join(["x"] * terms), capture_output=True, text=True, check=True,
    )  # fmt: skip
    status, megabytes = map(int, done.stderr.split())
    assert status == 0 and megabytes < 1500
    if form == "--json":
        assert json.loads(done.stdout)["gradient"] == {"x": 100_000.0}
    else:
        assert any(text in done.stdout for text in (str(terms), f"{terms:.0e}"))


@pytest.mark.slow
def test_two_hundred_thousand_terms() -> None:
    run = parse("+".join(["x"] * 200_000)).gradient(x=1)
    assert run.gradient == {"x": 200_000.0}
