"""Ranges on a command line: every form of their answers."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from shell import command


def test_every_form_has_the_same_rows() -> None:
    """JSON, CSV and bare numbers."""
    argv = "grad", "x^y*z", "x=1:3:3", "y=0:2:2", "z=2", "--wrt", "x,y"
    document = json.loads(command(*argv, "--json")[1])
    assert document["inputs"] == {"z": 2.0}
    assert document["ranges"]["y"] == {"start": 0.0, "stop": 2.0, "count": 2, "log": False}
    lines = list(csv.reader(io.StringIO(command(*argv, "--csv")[1])))
    assert lines[0] == ["x", "y", "value", "d_x", "d_y"]
    quiet = command(*argv, "-q")[1].splitlines()
    assert len(document["rows"]) == len(quiet) == len(lines) - 1 == 6
    for row, line, text in zip(document["rows"], lines[1:], quiet, strict=True):
        numbers = [*row["inputs"].values(), row["value"], *row["gradient"].values()]
        assert [*map(float, line)] == numbers
        assert text == f"x={line[3]} y={line[4]}"


def test_bare_second_derivatives() -> None:
    """All of them, and nothing else: those of x^2*y + y^3, by hand."""
    quiet = command("hess", "x^2*y + y^3", "x=1:2:2", "y=2", "-q")[1].splitlines()
    assert quiet == [f"d_x_x=4.0 d_x_y={2 * x} d_y_y=12.0" for x in (1.0, 2.0)]
    quiet = command("hess", "x^2*y + y^3", "x=1:2:2", "y=2", "--wrt", "y", "-q")[1].splitlines()
    assert quiet == ["d_y_y=12.0"] * 2


def test_a_long_table_shows_its_ends() -> None:
    """The first and the last twenty rows, or all of them."""
    status, out, err = command("eval", "2*x", "x=0:99:100")
    lines = out.splitlines()
    assert (status, err, len(lines)) == (0, "", 42)
    assert lines[20:22] == ["19     38", "… 60 rows left out; --all shows them"]
    assert (lines[22].split(), lines[-1].split()) == (["80", "160"], ["99", "198"])
    assert len(command("eval", "2*x", "x=0:99:100", "--all")[1].splitlines()) == 101
    assert len(command("eval", "2*x", "x=0:59:60")[1].splitlines()) == 61
    assert len(command("eval", "2*x", "x=0:60:61")[1].splitlines()) == 42


@pytest.mark.parametrize(
    ("formula", "values", "status"),
    [("x^2", "x=0:1:3", 0), ("abs(x)", "x=-1:1:3", 1), ("log(x)", "x=0:1:3", 1)],
)
def test_strict(formula: str, values: str, status: int) -> None:
    """What there is to tell of a row makes the answer doubtful."""
    assert command("grad", formula, values, "--strict")[0] == status
    assert command("grad", formula, values)[0] == 0


def test_results_that_are_called_like_inputs() -> None:
    """Headings are told from each other."""
    assert command("grad", "value*d_value", "value=0:1:2", "d_value=1", "--csv")[1] == (
        "value,result_value,d_value,d_d_value\n0.0,0.0,1.0,0.0\n1.0,1.0,1.0,1.0\n"
    )


def test_where_ranges_come_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of values, -o, a formula that is taken apart, and tensors beside a range."""
    monkeypatch.chdir(tmp_path)
    Path("values.json").write_text('{"x": "0:1:2", "w": [1, 2]}', encoding="utf-8")
    assert command("grad", "sum(w*x)", "--inputs", "values.json", "-q")[1] == (
        "w=[0.0, 0.0] x=3.0\nw=[1.0, 1.0] x=3.0\n"
    )
    assert command("eval", "x", "x=0:1:2", "-o", "out.csv") == (0, "", "")
    assert Path("out.csv").read_text(encoding="utf-8") == "x,value\n0.0,0.0\n1.0,1.0\n"
    assert command("eval", "relu(x)", "x=-1:1:3", "--expand", "relu", "-q")[1] == "0.0\n0.0\n1.0\n"
    status, out, err = command("eval", "unused = 1; x", "x=0:1:2", "-q")
    assert (status, out) == (0, "0.0\n1.0\n")
    assert "unused" in err
