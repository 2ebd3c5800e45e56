"""``grad --trust`` as people and programs read it, and its exit status."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys

import pytest

import golden
from oracles import mp, mpf
from shell import command, on_terminal, process, spelled

CASES: dict[str, list[str]] = {
    "right": [
        "(a + b)*c|a=2|b=-3|c=10",
        "tanh(x1*w1 + x2*w2 + b)|x1=2|w1=-3|x2=0|w2=1|b=6.88",
        "2 + 2",
    ],
    "cancellation": [
        "1 - cos(x)|x=1e-8",
        "sqrt(x + 1) - sqrt(x)|x=1e15",
        "(1 - cos(x))/x^2|x=1e-8",
        "a*x^2 + b*x + c|a=1|b=-200000.00001|c=2|x=1e-5",
        "d = x^2 - y^2\nd*z|x=100000001|y=100000000|z=0.5",
    ],
    "range": [
        "exp(x)|x=1000",
        "exp(-x^2)|x=40",
        "exp(x)/(1 + exp(x))|x=1000",
        "log(1 + exp(x))|x=800",
        "1/x|x=0",
    ],
    "sensitive": [
        "log(1 + x)|x=1e-10",
        "sin(x*y)|x=1e10|y=1000000.1",
        "floor(x*10)|x=0.3",
    ],
    "open": [
        "sin(x)^2 + cos(x)^2|x=1",
        "sqrt(2)^2 - 2 + 0*x|x=1",
        "max(sin(x)^2 + cos(x)^2, 1)|x=1",
        "exp(exp(exp(x)))|x=100",
        "relu(x) - relu(-x)|x=0",
        "relu(x)*y|x=0|y=3",
        "log(x)|x=-1",
    ],
    "tensors": [
        "sum(x)|x=[1,2]",
        "sum(log(1 + x) - x)|x=[1e-9,2,1e-12]",
        "h = X @ w; sum((h - 1)^2)|X=[[1,2],[3,1e-9]]|w=[1,1e-17]",
        "sum(relu(x) - relu(-x))|x=[0,1]",
        "cross_entropy(Z, y)|Z=[[1,2],[300,-4]]|y=[1,0]|-q",
        "norm(x)*b|x=[1e200,1]|b=0.1|--csv",
        "sum(sin(x))|x=[1e22,1]|--json",
    ],
    "refused": [
        "sum(broadcast(x, shape=[4096]))|x=1",
        "x|x=1|--trace",
        "x*y|x=1|y=2|--order|2,1,0",
        "x*y|x=1|y=2|--digits|9",
        "x*y|x=1",
        "x|x=1|--json|--csv",
    ],
}


@pytest.mark.parametrize("group", CASES)
def test_what_is_printed(group: str) -> None:
    pieces = []
    for line in CASES[group]:
        argv = ["grad", "--trust", "--strict", *line.split("|")]
        status, out, err = command(*argv)
        pieces.append(f"{spelled(argv)}\n{out}{err}exit {status}\n")
    golden.agree(f"trust/{group}.txt", "\n".join(pieces))


def test_on_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    argv = ["grad", "--trust", "(1 - cos(x))/x^2", "x=1e-8"]
    for columns in (40, 80):
        shown = on_terminal(argv, columns, monkeypatch, NO_COLOR="1")
        golden.agree(f"trust/{columns}_columns.txt", shown)


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("x*0.1|x=3", 0),
        ("log(1 + x)|x=1e-5", 0),
        ("log(1 + x)|x=1e-10", 1),
        ("1 - cos(x)|x=1e-8", 1),
        ("exp(x)|x=-1000", 0),
        ("sin(x)^2 + cos(x)^2|x=1", 0),
        ("sqrt(2)^2 - 2 + 0*x|x=1", 1),
        ("relu(x)|x=0", 1),
    ],
)
def test_strict_minds_numbers_that_lost_half_their_digits(line: str, status: int) -> None:
    """And warnings, as everywhere; nothing of it without --strict."""
    argv = ["grad", "--trust", *line.split("|")]
    assert command(*argv).status == 0
    assert command(*argv, "--strict").status == status


def test_quiet_is_the_counts_alone() -> None:
    assert (
        command("grad", "--trust", "-q", "log(1 + x)*y", "x=1e-10", "y=2").out == "7\nx=17\ny=7\n"
    )


def test_csv_has_a_line_for_each_number() -> None:
    rows = list(
        csv.DictReader(io.StringIO(command("grad", "--trust", "--csv", "log(1+x)", "x=1e-10").out))
    )
    assert [row["name"] for row in rows] == ["", "x"]
    assert (rows[0]["digits"], rows[0]["verdict"], rows[0]["text"]) == ("7", "right", "log(1 + x)")
    assert rows[1]["verdict"] == "rounded" and rows[1]["node"] == ""


def test_json_every_field() -> None:
    """log(1 + x) at 1e-10 has 7 right digits: 1 + x keeps 16 digits, 10 of which are before x's first."""
    found = json.loads(command("grad", "--trust", "--json", "log(1+x)", "x=1e-10").out)["trust"]
    assert set(found) == {"value", "gradient"} and set(found["gradient"]) == {"x"}
    value = found["value"]
    with mp.workdps(50):
        assert mpf(value.pop("low")) < mp.log1p(mpf(1e-10)) < mpf(value.pop("high"))
    lost, rewrite = value.pop("lost"), value.pop("rewrite")
    assert value == {
        "value": 1.000000082690371e-10,
        "digits": 7,
        "exact": False,
        "verdict": "right",
        "true": "9.9999999995000004e-11",
        "convention": False,
    }
    assert "near its zero" in lost.pop("why")
    assert lost == {"node": 3, "span": [0, 8], "before": 16, "after": 7}
    assert rewrite == {
        "span": [0, 8],
        "was": "log(1 + x)",
        "text": "log1p(x)",
        "where": "x > -1",
        "expression": "log1p(x)",
        "value": 9.999999999500001e-11,
        "digits": 16,
        "verdict": "rounded",
    }


def test_without_trust_nothing_is_imported() -> None:
    script = (
        "import sys; from exprgrad.cli.main import main; main(['grad', 'log(1 + x)', 'x=10']); "
        "unwanted = {'flint', 'exprgrad.explain.digits.truths', 'exprgrad.run.balls.balls'}; "
        "assert not unwanted & {*sys.modules}"
    )
    assert (
        subprocess.run([sys.executable, "-c", script], check=False, capture_output=True).returncode
        == 0
    )
    assert process("grad", "--trust", "x", "x=1").status == 0


def test_many_numbers_are_left_out_unless_all() -> None:
    argv = [
        "grad",
        "--trust",
        " + ".join(f"x{k}" for k in range(80)),
        *(f"x{k}=1" for k in range(80)),
    ]
    assert "41 numbers left out; --all shows them" in command(*argv).out
    assert "x40.grad" in command(*argv, "--all").out


@pytest.mark.parametrize(
    ("formula", "x", "lines"),
    [
        ("relu(x) - relu(-x)", "0", ["17", "x=corrected"]),
        ("1/x", "0", ["pole", "x=pole"]),
        ("log(x)", "-1", ["undefined", "x=undefined"]),
        ("x*x", "3", ["17", "x=17"]),
    ],
)
def test_quiet_says_in_a_word_what_has_no_digits(formula: str, x: str, lines: list[str]) -> None:
    assert command("grad", "--trust", "-q", formula, f"x={x}").out.splitlines() == lines


def test_the_sentence_and_the_table_agree() -> None:
    """A partial sum may have fewer right digits than the number in the end."""
    out = command("grad", "--trust", "t = 1 + x; y = (t - 1) + 1e-4", "x=1e-9").out
    assert out.splitlines()[1].split()[-1] == "12"
    assert "at t - 1: from 16 right ones to 7 there\n" in out


def test_a_true_number_that_is_infinite() -> None:
    """It is enclosed by an infinity on both sides, and has no digits to round."""
    found = command("grad", "--trust", "sum(softmax(X)*Y)", "X=[800, 1e200]", "Y=[800, inf]")
    assert found.status == 0
    (row,) = [line for line in found.out.splitlines() if line.startswith("X[0].grad  ")]
    assert row.split() == ["X[0].grad", "nan", "-inf", "none"]


@pytest.mark.parametrize("line", ["grad --trust", "grad --trust --json", "grad", "hess", "check"])
@pytest.mark.parametrize(
    "formula",
    [
        "exp(exp(x))",
        "-exp(exp(x))",
        "exp(-exp(x))",
        "1/exp(exp(exp(x)))",
        "sin(exp(exp(x)))",
        "x^x^x",
    ],
)
@pytest.mark.parametrize("x", ["15e3", "1e18", "-1e18"])
def test_numbers_that_no_one_could_write_out(line: str, formula: str, x: str) -> None:
    """True numbers with exponents of thousands of digits: neither a traceback nor the digits."""
    status, out, err = command(*line.split(), formula, f"x={x}")
    assert status in (0, 1) and out
    assert not re.search(r"\d{30}|e[+-]?\d{12}", out + err)
