"""Programs for several outputs and their Jacobian, and for the Hessian: what they find, how they read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from exprgrad import parse
from exprgrad.errors import ExprgradError
from exprgrad.language.code.targets import TARGETS
from golden import agree
from programs import Program, flat, function, near, require, run_matrices
from shell import command

each_target = pytest.mark.parametrize("target", TARGETS)
ENDINGS = {"numpy": ".np.py", "jax": ".jax.py", "torch": ".pt.py"}
POLAR = "r = sqrt(x^2 + y^2); u = x/r; v = atan2(y, x)/u; v + r"
LAYER = "p = X @ w + b; loss = sum((p - y)^2); least = min(w); loss"
SAMPLES: dict[str, tuple[str, list[str], list[float]]] = {
    "polar": (POLAR, ["r", "u", "v"], [1.5, -0.5]),
    "short": ("u = x*y^2; v = exp(x)/y; u*v", ["u", "v"], [1.5, -0.5]),
    "alone": ("a = x^3", ["a"], [2.0]),
    "linear": ("a = x + 2*y; b = 3; c = y; a + c", ["a", "b", "c"], [1.0, 2.0]),
    "names": ("c = value*gradient^2 + erf(hessian/jacobian); d = where(value > 0, c, -c); c*d", ["c", "d"],
              [0.5, 2.0, -1.5, 3.0]),
    "wide": ("a = " + " + ".join(f"x{i}^2*sin(x{i + 1})*exp(x{i + 2}/7)" for i in range(9)), ["a"],
             [0.1 * i for i in range(11)]),
}  # fmt: skip


def source(target: str, sample: str, *, second: bool) -> str:
    text, of, _ = SAMPLES[sample]
    return parse(text).code(target, of=None if second else of, hessian=second, name=f"{sample}_f")


def truth(sample: str, *, second: bool) -> list[Any]:
    """The parts that a program returns, as ``jac`` and ``hess`` find them."""
    text, of, point = SAMPLES[sample]
    given = [f"{name}={x}" for name, x in zip(parse(text).inputs, point, strict=True)]
    question = ["hess", text] if second else ["jac", text, "--of", ",".join(of)]
    found = json.loads(command(*question, *given, "--json").out)
    names = ("value", "gradient", "hessian") if second else ("value", "jacobian")
    return [found[name] for name in names]


def size(part: Any) -> tuple[int, ...]:
    """How many numbers there are along each axis."""
    if not isinstance(part, dict):
        return ()
    return (len(part), *size(next(iter(part.values()))))


@each_target
@pytest.mark.parametrize("second", [False, True])
@pytest.mark.parametrize("sample", SAMPLES)
def test_they_find_what_jac_and_hess_find(
    target: str, sample: str, second: bool, tmp_path: Path
) -> None:
    name, wanted = f"{sample}_f", truth(sample, second=second)
    program = Program(source(target, sample, second=second), name, None, [SAMPLES[sample][2]])
    found = run_matrices(target, program, [size(part) for part in wanted], tmp_path)
    assert near(np.array(found), np.array([*flat(wanted)]))


@pytest.mark.parametrize("second", [False, True])
def test_columns_in_numpy(second: bool) -> None:
    """Each number is a column, those that depend on nothing too."""
    text = source("numpy", "linear", second=second)
    found = function(Program(text, "linear_f", None, ()))(np.arange(5.0), 2.0)
    leaves = [found]
    while any(isinstance(leaf, tuple) for leaf in leaves):
        leaves = [x for leaf in leaves for x in (leaf if isinstance(leaf, tuple) else (leaf,))]
    assert {np.shape(leaf) for leaf in leaves} == {(5,)}


@each_target
@pytest.mark.parametrize("second", [False, True])
def test_they_read_as_they_did(target: str, second: bool) -> None:
    written = source(target, "short", second=second)
    ending = ENDINGS.get(target, TARGETS[target].ending)
    agree(f"code/{'hessian' if second else 'jacobian'}{ending}", written)
    assert max(map(len, source(target, "wide", second=second).splitlines())) <= 100


@each_target
def test_values_alone(target: str) -> None:
    text, of, _ = SAMPLES["polar"]
    written = parse(text).code(target, of=of, value_only=True)
    said = "the columns r, u, v." if target == "sql" else "the values of r, u, v"
    assert "jacobian" not in written.lower() and said in written


def test_from_the_command_line() -> None:
    status, out, _ = command("code", POLAR, "--to", "c", "--of", "r,u", "--wrt", "x", "--json")
    found = json.loads(out)
    assert (status, found["of"], found["wrt"]) == (0, ["r", "u"], ["x"])
    assert "value[2], double jacobian[2][1]" in found["code"]
    status, out, _ = command("code", POLAR, "--to", "c", "--hessian", "--json")
    assert json.loads(out)["hessian"] is True
    assert json.loads(out)["code"].split("{")[1].count("sqrt(") == 1, (
        "what the derivatives share is written once"
    )


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        ([POLAR, "--of", "q"], "no statement is named 'q'"),
        ([POLAR, "--of", "x"], "'x' is an input"),
        ([POLAR, "--of", "r", "--hessian"], "--of and --hessian cannot be combined"),
        ([POLAR, "--value-only", "--hessian"], "--value-only and --hessian cannot be combined"),
        (
            ["a = x*y; a", "--of", "a", "--to", "numpy", "--shape", "x=3"],
            "a row for each number, and 'a' is (3,)",
        ),
        (["sum(x)", "--hessian", "--to", "numpy", "--shape", "x=3"], "computes with numbers, not"),
    ],
)
def test_what_cannot_be_written(argv: list[str], message: str) -> None:
    target = [] if "--to" in argv else ["--to", "c"]
    status, _, err = command("code", *argv, *target)
    assert status == 2 and message in err


@pytest.mark.parametrize("target", ["numpy", "jax", "torch"])
def test_the_jacobian_of_numbers_in_tensors(target: str) -> None:
    """A row for each output, each entry of the shape of its input, zeros too."""
    require(target)
    f = parse(LAYER, shapes={"X": (4, 2), "w": (2,), "y": (4,)})
    rng = np.random.default_rng(1)
    given = [rng.normal(size=f.shapes.get(name, ())) for name in f.inputs]
    of = ["loss", "least"]
    value, jacobian = function(Program(f.code(target, of=of), "f", None, ()))(*given)
    wanted = f.jacobian(dict(zip(f.inputs, given, strict=True)), of=of)
    assert len(value) == 2
    for name, row in zip(of, jacobian, strict=True):
        for column, entry in zip(f.inputs, row, strict=True):
            assert np.shape(entry) == np.shape(wanted[name][column])
            assert near(np.asarray(entry), np.asarray(wanted[name][column]))


def test_an_output_is_named() -> None:
    with pytest.raises(ExprgradError, match="no output is chosen"):
        parse(POLAR).code("c", of=[])
