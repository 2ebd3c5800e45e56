"""Requests for fits that cannot be met: each is an error that says what, where and what to do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import exprgrad
import golden
from exprgrad.data import fits
from shell import command

pytest.importorskip("scipy", reason="pip install 'exprgrad[fit]'")
pytest.importorskip("pyarrow", reason="pip install 'exprgrad[data]'")

FILES = {
    "rows.csv": "x,y,s,w,text,gap\n1,1.1,0.1,1,a,1\n2,2.3,0.1,2,b,\n3,2.9,0.2,0,c,3\n4,4.2,0.2,1,d,4\n",
    "one.csv": "x,y\n1,2\n",
    "none.csv": "x,y\n",
    "nans.csv": "x,y\n1,2\n2,nan\n3,4\n",
    "infs.csv": "x,y\n1,2\n2,inf\n3,4\n",
    "other.csv": "u,v\n1,2\n2,3\n3,4\n",
}
LINE = "y ~ a + b*x|--data|rows.csv|a=1|b=1"
WRONG = [
    "y ~ a + b*x|--data|rows.csv",
    "y ~ a + b*x|--data|rows.csv|a=1",
    f"{LINE}|c=1",
    "y ~ a + b*x|a=1|b=1",
    "a + b*x|--data|rows.csv|a=1|b=1",
    "y = a + b*x|--data|rows.csv|a=1|b=1",
    "y ~ a ~ x|--data|rows.csv|a=1",
    "y ~|--data|rows.csv|a=1",
    "~ a*x|--data|rows.csv|a=1",
    "y ~ a + b*z|--data|rows.csv|a=1|b=1",
    "y ~ a + b*X|--data|rows.csv|a=1|b=1",
    "p ~ a + b*q|--data|rows.csv|a=1|b=1",
    "y ~ a + b*x + 0*c|--data|rows.csv|a=1|b=1|c=1",
    "y ~ a + b*x + c*x^2 + d*x^3 + e*x^4|--data|rows.csv|a=1|b=1|c=1|d=1|e=1",
    "y ~ a + b*x|--data|one.csv|a=1|b=1",
    "y ~ a + b*x|--data|none.csv|a=1|b=1",
    "y ~ a + b*x|--data|nans.csv|a=1|b=1",
    "y ~ a + b*x|--data|infs.csv|a=1|b=1",
    "y ~ a + b*gap|--data|rows.csv|a=1|b=1",
    "y ~ a + b*text|--data|rows.csv|a=1|b=1",
    "y ~ a + b*x|--data|missing.csv|a=1|b=1",
    "y ~ a + b*x|--data|rows.xls|a=1|b=1",
    f"{LINE}|--where|x > 10",
    f"{LINE}|--where|x = 1",
    f"{LINE}|--where|a > 1",
    f"{LINE}|--where|q > 1",
    "y ~ a + b*x|--data|rows.csv|a=nan|b=1",
    "y ~ a + b*x|--data|rows.csv|a=inf|b=1",
    "y ~ a + b*x|--data|rows.csv|a=[1,2]|b=1",
    "y ~ a + b*x|--data|rows.csv|a=0:1:5|b=1",
    "y ~ a + b*x|--data|rows.csv|a=one|b=1",
    "y ~ a + b*x|--data|rows.csv|a=1|a=2|b=1",
    f"{LINE}|x=3",
    f"{LINE}|--fix|a,b",
    "y ~ a + b*x|--data|rows.csv|b=1|--fix|a",
    f"{LINE}|--fix|c=1",
    f"{LINE}|--fix|",
    f"{LINE}|--fix|a=z",
    f"{LINE}|--bounds|a=2:3",
    f"{LINE}|--bounds|a=3:2",
    f"{LINE}|--bounds|a=3",
    f"{LINE}|--bounds|a",
    f"{LINE}|--bounds|c=0:1",
    f"{LINE}|--bounds|x=0:1",
    f"{LINE}|--bounds|a=0:1|--fix|a",
    f"{LINE}|--sigma|q",
    f"{LINE}|--sigma|w",
    f"{LINE}|--weights|w",
    f"{LINE}|--sigma|s|--weights|w",
    f"{LINE}|--sigma|text",
    f"{LINE}|--loss|hubert",
    f"{LINE}|--loss|huber|--loss-scale|0",
    f"{LINE}|--loss-scale|x",
    f"{LINE}|--starts|0",
    f"{LINE}|--seed|-1",
    f"{LINE}|--level|95",
    f"{LINE}|--level|0",
    f"{LINE}|--map|x=q",
    f"{LINE}|--map|z=x",
    f"{LINE}|--map|a=w",
    "y ~ a*log(x - b)|--data|rows.csv|a=1|b=2",
    "y ~ a*sqrt(b)*x|--data|rows.csv|a=1|b=0",
    "y ~ a*exp(b*x)|--data|rows.csv|a=1|b=1000",
    "y ~ a*x/b|--data|rows.csv|a=1|b=0",
    "y ~ a*sum([x, 1])|--data|rows.csv|a=1",
    f"{LINE}|--json|--csv",
    f"{LINE}|--look|dark",
    f"{LINE}|--sigmas|s",
    "y ~ a + b*x; 2*a|--data|rows.csv|a=1|b=1",
    "y ~ a + b*x; y ~ b*x|--data|rows.csv|a=1|b=1",
    "y ~ 2x|--data|rows.csv",
    "y ~ tahn(a*x)|--data|rows.csv|a=1",
    "y ~ 3*x|--data|rows.csv",
    "y ~ a + b*x|--data|rows.csv|--data|other.csv|a=1|b=1",
    "y ~ a + b*x|--data|rows.csv|--data|rows.csv|a=1|b=1",
    f"{LINE}|--loss|huber|--profile",
    "y ~ a + b*pi|--data|rows.csv|a=1|b=1|pi=3",
    "y ~ k*x; k = 2|--data|rows.csv",
    "k = a*x; y ~ k|--data|rows.csv|a=1|k=2",
]
"""A command line each, its arguments apart."""


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, "utf-8")


def test_what_is_said(files: None) -> None:
    told = []
    for line in WRONG:
        status, out, err = command("fit", *line.split("|"))
        assert status == 2, line
        told.append(f"$ fit {line}\n{out}{err}")
    golden.agree("fits/wrong.txt", "\n".join(told))


def test_rows_that_miss_a_number_may_be_left_out(files: None) -> None:
    status, out, _ = command("fit", *f"{LINE}|--bad-rows|drop".replace("*x", "*gap").split("|"))
    assert status == 0 and "3 rows, 1 degree of freedom, 1 left out" in out


@pytest.mark.parametrize(
    ("cell", "kind"),
    [
        ("True", "truth"), ("1e-400", "underflow"), ("9007199254740993", "rounded"), ("0", ""),
        ("9007199254740994", ""),
    ],
)  # fmt: skip
@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_cells_that_are_read_as_other_numbers_are_said(
    cell: str, kind: str, form: str, tmp_path: Path
) -> None:
    path = tmp_path / f"rows.{form}"
    cells = ["3", cell, "5"]
    if form == "jsonl":
        cell = f'"{cell}"' if cell == "True" else cell
        path.write_text("".join(f'{{"x": {one}, "y": 1}}\n' for one in ["3", cell, "5"]))
    else:
        path.write_text("x,y\n" + "".join(f"{one},1\n" for one in cells))
    argv = ["y ~ a + 0*x", "--data", str(path), "a=1"]
    status, out, err = command("fit", *argv, "--json", "--strict")
    assert (status, json.loads(out)["converted"]) == ((1, {kind: 1}) if kind else (0, {}))
    assert ("warning: 1 row with a" in err or "warning: 1 row with true" in err) == bool(kind)
    assert exprgrad.fit(argv[0], str(path), a=1).converted == ({kind: 1} if kind else {})


def test_a_part_without_a_usable_row_counts(tmp_path: Path) -> None:
    """Rows are read some at a time; the first of these may all be left out."""
    path = tmp_path / "rows.csv"
    rows = ["x,y", *[",1e-400"] * 200_000, "1,2", "2,3"]
    path.write_text("\n".join(rows) + "\n")
    found = exprgrad.fit("y ~ a*x", str(path), a=1, bad_rows="drop")
    assert (found.rows, found.left_out) == (2, 200_000)
    assert found.converted == {"underflow": 200_000}


def test_what_a_fit_does_not_reach_is_no_error(files: None) -> None:
    """It is an answer; under --strict the exit status says no."""
    line = ["y ~ a*b*x", "--data", "rows.csv", "a=1", "b=1"]
    assert command("fit", *line).status == 0
    assert command("fit", *line, "--strict").status == 1
    quiet = command("fit", *line, "-q")
    assert quiet.err.startswith("warning: not converged: the data do not determine a and b")


def test_what_is_read_again_for_each_point_comes_to_the_same(
    files: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows that find no room in memory, from several files, some left out, with weights."""
    for name in ("a.csv", "b.csv"):
        shift = 0.1 * (name == "a.csv")
        rows = [f"{x},{3 * 2 ** -(x / 4) + shift},{1 + x % 3}" for x in range(12)]
        Path(name).write_text("\n".join(["x,y,w", *rows, "12,,1", ""]), "utf-8")
    line = "y ~ a*exp(-k*x)|--data|a.csv|--data|b.csv|a=1|k=0.1|--weights|w|--where|x > 2|--bad-rows|drop"
    found = [json.loads(command("fit", *line.split("|"), "--json").out)]
    monkeypatch.setattr(fits, "MOST_NUMBERS", 0)
    found += [json.loads(command("fit", *line.split("|"), "--json").out)]
    argv = ["fit", *line.replace("a.csv", "-").split("|"), "--json"]
    found += [json.loads(command(*argv, stdin=Path("a.csv").read_bytes()).out)]
    for one in found:
        assert (one["rows"], one["left_out"]) == (18, 2)
        for name in ("a", "k"):
            value, error = (found[0]["parameters"][name][field] for field in ("value", "error"))
            assert one["parameters"][name]["value"] == pytest.approx(value, rel=1e-13)
            assert one["parameters"][name]["error"] == pytest.approx(error, rel=1e-12)
