"""A package that was installed with this one, and is gone: one line says so, and what brings it back."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

HIDDEN = """
import sys
sys.modules[sys.argv.pop(1)] = None
from exprgrad.cli.main import run
run()
"""
"""The command, where one package cannot be imported."""
DATA = "x,y\n1,2\n2,4.1\n3,5.9\n"
NEEDED = [
    ("click", ["eval", "a*b", "a=1", "b=2"]),
    ("click", ["--help"]),
    ("rich", ["grad", "a*b", "a=1", "b=2", "--color", "always"]),
    ("numpy", ["grad", "sum([a,b]*[1,2])", "a=1", "b=2"]),
    ("numpy", ["minimize", "(x-1)^2", "x=0"]),
    ("numpy", ["batch", "x*y", "--data", "d.csv"]),
    ("numpy", ["fit", "y ~ k*x", "--data", "d.csv", "k=1"]),
    ("graphviz", ["dot", "a*b", "a=1", "b=2"]),
    ("graphviz", ["explore", "a*b", "a=1", "b=2", "-o", "page.html"]),
]
BALLS = [
    ["grad", "(a+b)*c", "a=2", "b=-3", "c=10", "-q"],
    ["eval", "1e16 + x - 1e16", "x=1"],
    ["hess", "x*y^2", "x=1", "y=2"],
    ["check", "x^2*sin(y)", "x=1", "y=2"],
    ["minimize", "abs(x) + x^2", "x=1"],
]
"""What needs no proof."""
PROOFS = [
    ["solve", "x^2=2", "x=0:2"],
    ["check", "exp(x)", "x=1", "--claim", "x=exp(x)"],
    ["plot", "x^2", "x=-1:1"],
    ["grad", "x^2", "x=1", "--trust"],
]
"""What is nothing without one."""


def without(package: str, line: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """What a command does where a package is missing."""
    (folder / "d.csv").write_text(DATA, encoding="utf-8")
    program = [sys.executable, "-c", HIDDEN, package, *line]
    done = subprocess.run(program, capture_output=True, text=True, check=False, cwd=folder)
    assert "Traceback" not in done.stdout + done.stderr
    return done


@pytest.mark.parametrize("package, line", NEEDED)
def test_one_line_names_it(package: str, line: list[str], tmp_path: Path) -> None:
    done = without(package, line, tmp_path)
    (said,) = re.sub(r"\x1b\[[0-9;]*m", "", done.stderr).splitlines()
    assert said.startswith(f"error: {package} is not installed: ") and said.endswith(f" {package}")
    assert (done.returncode, done.stdout) == (2, "")


def test_a_document_names_it(tmp_path: Path) -> None:
    done = without("numpy", ["minimize", "x^2", "x=1", "--json"], tmp_path)
    error = json.loads(done.stdout)["error"]
    assert error["code"] == "missing-numpy"
    assert error["message"].startswith("numpy is not installed: ")
    assert done.returncode == 2


def test_a_missing_module_of_our_own_is_no_package(tmp_path: Path) -> None:
    """A fault of ours keeps its traceback."""
    program = [sys.executable, "-c", HIDDEN, "exprgrad.api", "grad", "a*b", "a=1", "b=2"]
    done = subprocess.run(program, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert "Traceback" in done.stderr and "exprgrad.api" in done.stderr


@pytest.mark.parametrize("line", BALLS)
def test_what_needs_no_proof_is_computed_without_python_flint(
    line: list[str], tmp_path: Path
) -> None:
    done = without("flint", line, tmp_path)
    assert done.returncode == 0 and done.stdout


@pytest.mark.parametrize("line", PROOFS)
def test_what_is_proved_says_that_it_needs_python_flint(line: list[str], tmp_path: Path) -> None:
    done = without("flint", line, tmp_path)
    said, help = done.stderr.splitlines()
    assert said.startswith("error: ") and "python-flint" in said
    assert help.startswith("  help: ") and help.endswith("python-flint")
    assert (done.returncode, done.stdout) == (2, "")
