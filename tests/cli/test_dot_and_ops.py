"""``exprgrad dot`` and ``exprgrad ops`` where tensors are about."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest

from exprgrad.graph.tensors import STRUCTURAL
from shell import command


def test_a_formula_is_drawn_with_the_shapes_that_are_said() -> None:
    done = command("dot", "X@W", "--shape", "X=64x4096,W=4096x4096")
    assert done.status == 0
    assert "never formed: 35.2 TB" in done.out and "(64, 4096)" in done.out
    assert "never formed" not in command("dot", "X@W").out


def test_values_have_shapes_of_their_own() -> None:
    done = command("dot", "X@w", "X=[[1,2]]", "w=[1,2]", "--shape", "X=1x2")
    assert done.status == 2
    assert "leave out --shape" in done.err


def test_an_output_that_is_a_tensor_is_drawn_without_grads() -> None:
    done = command("dot", "2*x", "x=[1,2]")
    assert done.status == 0
    assert ">[2, 4]<" in done.out and "grad" not in done.out


@pytest.mark.parametrize(
    "request_line",
    ["sum(x)|x=[[1,2],[3]]", "x@y|x=[1,2]|y=[1,2,3]", "X@W|--shape|X=3x4,W=3x4", "x|--shape|z=3"],
)
def test_what_does_not_fit_is_said_and_nothing_is_written(
    request_line: str, tmp_path: Path
) -> None:
    path = tmp_path / "graph.dot"
    done = command("dot", *request_line.split("|"), "-o", str(path))
    assert done.status == 2 and done.err.startswith("error: ")
    assert not path.exists()


def test_ops_shows_both_sorts_under_their_titles() -> None:
    out = command("ops").out
    first, second = out.index("Elementwise: "), out.index("Structural: ")
    assert first < out.index("tanh(x)") < second < out.index("x @ y")


def test_a_word_of_two_operations_shows_both() -> None:
    out = command("ops", "max").out
    assert "max(x, y, …): " in out and "max(x, axis=None, keepdims=False): " in out
    found = json.loads(command("ops", "max", "--json").out)
    assert [row["name"] for row in found["operations"] + found["structural"]] == [
        "max",
        "reduce_max",
    ]


@pytest.mark.parametrize("name", [None, "max"])
def test_a_file_holds_what_stdout_shows(name: str | None, tmp_path: Path) -> None:
    """Its ending says the form."""
    for ending, option in ((".json", ["--json"]), (".csv", ["--csv"]), (".txt", [])):
        path, asked = tmp_path / f"ops{ending}", [name] if name else []
        assert command("ops", *asked, "-o", str(path)) == (0, "", "")
        assert path.read_text(encoding="utf-8") == command("ops", *asked, *option).out
    rows = [*csv.DictReader((tmp_path / "ops.csv").read_text("utf-8").splitlines())]
    assert [row["name"] for row in rows][-1] == ("reduce_max" if name else [*STRUCTURAL][-1])
    assert all(row["derivatives"] and row["about"] for row in rows)


@pytest.mark.parametrize("name", ["besselj_2", "besselj(2, x)", " besselj ( 2 , x ) "])
def test_a_familys_member_is_asked_for_by_name_or_by_call(name: str) -> None:
    assert command("ops", name).out.startswith(
        "besselj(2, x): the Bessel function of the first kind"
    )


def test_a_call_shows_its_operation() -> None:
    assert command("ops", "tanh(a + b)").out == command("ops", "tanh").out
    done = command("ops", "besselj_99")
    assert done.status == 2 and "from 0 to 40" in done.err


def test_what_stands_for_a_formula_says_so() -> None:
    assert command("ops", "erf2").out == "erf2(x, y): stands for erf(y) - erf(x)\n"
    assert command("ops", "erf2(5, 6)").out == command("ops", "erf2").out
    assert "erf2(x, y) stands for erf(y) - erf(x)" in command("ops", "erf2", "--json").out
    assert "erf2(x, y)" in command("ops").out


def test_ops_looks_for_a_word_in_descriptions_and_foreign_names() -> None:
    for word, found in (
        ("cdf", "normcdf"),
        ("signum", "sign"),
        ("bessel", "j0"),
        ("hyperbolic", "tanh"),
    ):
        status, out, err = command("ops", word)
        assert (status, err) == (0, ""), word
        assert re.search(rf"^{found}\(", out, re.MULTILINE) and out.endswith("\n"), out
