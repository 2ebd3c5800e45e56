"""Deep and long formulas: nothing recurses, nothing takes more than linear time or memory."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from exprgrad import parse
from shell import command

STEPS = "".join(f"t{i} = t{i - 1} + x\n" for i in range(1, 50_000))
SHAPES: dict[str, tuple[str, float, float]] = {
    # name: formula in x, its value and derivative at x = 1
    "parentheses": ("(" * 100_000 + "x" + ")" * 100_000, 1.0, 1.0),
    "signs": ("-" * 20_000 + "x", 1.0, 1.0),
    "sum": ("+".join(["x"] * 100_000), 100_000.0, 100_000.0),
    "product": ("*".join(["x"] * 20_000), 1.0, 20_000.0),
    "powers": ("^".join(["x"] * 20_000), 1.0, 1.0),
    "calls": ("sin(" * 20_000 + "0*x" + ")" * 20_000, 0.0, 0.0),
    "nested sums": ("(x+" * 10_000 + "x" + ")" * 10_000, 10_001.0, 10_001.0),
    "steps": ("t0 = 2*x\n" + STEPS, 50_001.0, 50_001.0),
    "operands": ("max(" + ",".join(f"{i}*x" for i in range(5_000)) + ")", 4_999.0, 4_999.0),
    "choices": ("where(x > 0, x, " * 5_000 + "0" + ")" * 5_000, 1.0, 1.0),
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_deep_and_long(shape: str) -> None:
    """The right answer through the library, the JSON and the table."""
    formula, value, slope = SHAPES[shape]
    run = parse(formula).gradient(x=1)
    assert (run.value, run.gradient) == (value, {"x": slope})
    assert "nodes left out" in run.table() or len(run.nodes) < 50
    assert run.trace()
    status, out, err = command("grad", "-", "x=1", stdin=formula.encode())
    assert (status, err) == (0, "")
    assert out.splitlines()[-1].endswith(f"= {value:g}")
    assert len(out) < 30_000


@pytest.mark.parametrize("shape", ["parentheses", "sum", "steps"])
def test_deep_json(shape: str) -> None:
    formula, value, slope = SHAPES[shape]
    status, out, _ = command("grad", "--json", "-", "x=1", stdin=formula.encode())
    found = json.loads(out)
    assert (status, found["value"], found["gradient"]) == (0, value, {"x": slope})
    assert max(len(node["text"]) for node in found["nodes"]) <= 60


@pytest.mark.parametrize("shape", ["parentheses", "calls", "steps", "choices"])
def test_printed_and_read_again(shape: str) -> None:
    formula, value, slope = SHAPES[shape]
    again = parse(str(parse(formula))).gradient(x=1)
    assert (again.value, again.gradient) == (value, {"x": slope})


def test_a_picture_too_large_to_read_is_refused() -> None:
    status, out, err = command("dot", SHAPES["sum"][0][:20_001])
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
@pytest.mark.parametrize("form", ["--json", "--csv", "-q", "--trace", "--digits=3"])
def test_a_million_tokens(form: str) -> None:
    """A sum of 500,000 terms, in less than 1.5 GB."""
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, "grad", form, "-", "x=1"],
        input="+".join(["x"] * 500_000), capture_output=True, text=True, check=True,
    )  # fmt: skip
    status, megabytes = map(int, done.stderr.split())
    assert status == 0 and megabytes < 1500
    if form == "--json":
        assert json.loads(done.stdout)["gradient"] == {"x": 500_000.0}
    else:
        assert "500000" in done.stdout or "5e+05" in done.stdout


@pytest.mark.slow
def test_a_million_terms() -> None:
    run = parse("+".join(["x"] * 1_000_000)).gradient(x=1)
    assert run.gradient == {"x": 1_000_000.0}
