"""``eval`` and ``grad`` with uncertain inputs, and ``grad --elastic``, in every form."""

from __future__ import annotations

import csv
import io
import json
import math
from pathlib import Path
from typing import Any

import pytest

import exprgrad
from shell import command
from together import together

PENDULUM = ("4*pi^2*L/T^2", "L=1.000(1)", "T=2.006±0.012")


def answer(*argv: str) -> Any:
    status, out, _ = command(*argv, "--json")
    assert status == 0
    return json.loads(out)


def test_eval() -> None:
    status, out, err = command("eval", *PENDULUM)
    assert (status, err) == (0, "")
    assert out.splitlines()[-5:] == [
        "input  value            derivative   share",
        "T      2.006 ± 0.012      -9.78131  99.3 %",
        "L      1.0000 ± 0.0010     9.81065   0.7 %",
        "",
        "4*pi^2*L/T^2 = 9.81 ± 0.12, or 9.81(12)",
    ]
    run = exprgrad.parse(PENDULUM[0]).evaluate(L="1.000(1)", T="2.006±0.012")
    found = answer("eval", *PENDULUM)
    assert found["inputs"] == {"L": 1.0, "T": 2.006}
    assert found["uncertainty"]["value"] == run.uncertainty.value
    assert found["uncertainty"]["shares"] == run.uncertainty.shares
    assert found["uncertainty"]["text"] == ["9.81 ± 0.12", "9.81(12)"]
    assert command("eval", "-q", *PENDULUM).out == f"{run.value!r}±{run.uncertainty.value!r}\n"


def test_what_is_printed_is_read() -> None:
    text = command("eval", "-q", *PENDULUM).out.strip()
    assert command("eval", "-q", "g", f"g={text}").out.strip() == text
    text = command("eval", "-q", "[a, a^2]", "a=2±0.1").out.strip()
    assert command("eval", "-q", "g", f"g={text}").out.strip() == text


def test_grad_keeps_its_lines() -> None:
    plain = command("grad", "-q", PENDULUM[0], "L=1.000", "T=2.006").out
    assert command("grad", "-q", *PENDULUM).out == plain
    assert "99.3 %" in command("grad", *PENDULUM).out
    assert "99.3 %" in command("grad", *PENDULUM, "--trace").out


def test_csv() -> None:
    rows = [*csv.DictReader(io.StringIO(command("eval", *PENDULUM, "--csv").out))]
    told = {row["text"]: (row["uncertainty"], row["share"]) for row in rows if row["uncertainty"]}
    assert [*told] == ["L", "T", PENDULUM[0]]
    of_length, of_period = 0.001, 2 * 0.012 / 2.006
    relative = math.hypot(of_length, of_period)
    assert told["T"][0] == "0.012"
    assert float(told["T"][1]) == pytest.approx((of_period / relative) ** 2, rel=1e-14)
    assert float(told[PENDULUM[0]][0]) == pytest.approx(
        4 * math.pi**2 / 2.006**2 * relative, rel=1e-14
    )


def test_what_was_typed_is_known() -> None:
    """The guard asks for the decimals of the value, and they are those before the sign."""
    exact = "x=0.30000000000000004"
    plain = answer("grad", "abs(x - 0.1 - 0.2)", exact)
    assert answer("grad", "abs(x - 0.1 - 0.2)", f"{exact}±0.1")["value"] == plain["value"]


def test_files_give_uncertainties(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("in.json").write_text('{"L": "1.000(1)", "T": 2, "w": ["1±0.1", 2]}', "utf-8")
    found = answer("eval", "L*T*sum(w)", "--inputs", "in.json")["uncertainty"]
    assert found["inputs"] == {"L": 0.001, "w": [0.1, 0.0]}
    Path("t.csv").write_text("t,s\n1,0.1\n2,0.2\n", "utf-8")
    found = answer("eval", "sum(t)", "t=@t.csv:t±@t.csv:s")
    assert found["uncertainty"]["inputs"] == {"t": [0.1, 0.2]}
    Path("c.csv").write_text("a,b\n0.01,0.002\n0.002,0.04\n", "utf-8")
    Path("n.csv").write_text(",a,b\na,0.01,0.002\nb,0.002,0.04\n", "utf-8")
    Path("c.json").write_text(
        '{"a": {"a": 0.01, "b": 0.002}, "b": {"a": 0.002, "b": "1/25"}}', "utf-8"
    )
    given = "eval", "a + b", "a=1", "b=2", "--covariance"
    for path in ("c.csv", "n.csv", "c.json"):
        found = answer(*given, path)["uncertainty"]
        assert found["value"] == pytest.approx(0.054**0.5, rel=1e-14), path
        assert found["correlations"] == [{"inputs": ["a", "b"], "value": pytest.approx(0.1)}]
    for name, text in (("x.csv", "a,b\n1,2\n"), ("x.json", "[1]"), ("y.csv", "a\nb\n")):
        Path(name).write_text(text, "utf-8")
        status, out, err = command(*given, name)
        assert status == 2 and out == "" and "error: " in err


def test_monte_carlo_beside_it() -> None:
    found = answer("eval", *PENDULUM, "--mc", "20000", "--seed", "5")["uncertainty"]["monte_carlo"]
    assert (found["draws"], found["seed"], found["without"]) == (20000, 5, 0)
    assert found["interval"][0] < 9.65 < 9.97 < found["interval"][1]
    lines = command("eval", *PENDULUM, "--mc", "20000").out.splitlines()
    assert lines[-1].startswith("Monte Carlo: 9.81 ± 0.12; 95 % from 9.5")
    assert lines[-1].endswith("(20,000 draws, seed 0)")


def test_warnings() -> None:
    status, out, err = command("eval", "1/x", "x=1.0±0.3", "--strict")
    assert status == 1 and "1.00 ± 0.30" in out
    assert err.startswith(
        "warning: linearising is not enough: terms of second order shift the value"
    )
    assert "--mc 1000000 samples it" in err
    assert command("eval", "1/x", "x=1.00±0.01", "--strict").status == 0


REFUSED = [
    (("eval", "x", "x=2±"), "there is no uncertainty after the '±'"),
    (("eval", "x", "x=2", "--mc", "100"), "no input is uncertain"),
    (("eval", "x", "x=2±1", "--seed", "1"), "--seed is only for --mc"),
    (("eval", "x", "x=2±1", "--mc", "1"), "'1' is not a value for --mc"),
    (("eval", "x*y", "x=2±1", "y=1±1", "--correlation", "x,y"), "this is not NAME,NAME=COEFFICIENT"),
    (("eval", "x*y", "x=2±1", "y=1", "--correlation", "x,y=1"), "'y' is not an uncertain number"),
    (("eval", "x*y", "x=2±1", "y=1±1", "--correlation", "x,y=1", "--correlation", "y,x=1"),
     "the correlation of 'y' and 'x' is given twice"),
    (("grad", "x", "x=2±1", "--trust"), "--trust cannot show uncertain inputs"),
    (("grad", "x*y", "x=2±1", "y=1", "--order", "bfs"), "--order cannot show uncertain inputs"),
    (("grad", "x", "x=2", "--elastic", "--trace"), "--elastic and --trace cannot be combined"),
    (("check", "x", "x=2±1"), "the value of 'x' is uncertain"),
    (("hess", "x", "x=2.0(1)"), "the value of 'x' is uncertain"),
    (("descend", "x", "x=2+-1"), "the value of 'x' is uncertain"),
    (("jvp", "x", "x=2", "--tangent", "x=1±1"), "the value of 'x' is uncertain"),
    (("diff", "x", "x=2±1"), "diff takes no values"),
    (("dot", "x", "x=2±5%"), "the value of 'x' is uncertain"),
]  # fmt: skip


@together(REFUSED)
def test_what_makes_no_sense_is_refused(argv: tuple[str, ...], message: str) -> None:
    status, out, err = command(*argv)
    assert (status, out) == (2, "") and err.startswith(f"error: {message}"), err


def test_elasticities() -> None:
    given = "grad", "a*exp(b*x) ", "a=2", "b=3", "x=0.5", "--elastic"
    status, out, err = command(*given)
    assert (status, err) == (0, "")
    assert out == (
        "input  data     grad  elasticity\n"
        "b         3  4.48169         1.5\n"
        "x       0.5  26.8901         1.5\n"
        "a         2  4.48169           1\n"
        "\noutput  a*exp(b*x) = 8.96338\n"
    )
    found = answer(*given)
    assert found["elasticity"] == {"b": 1.5, "x": 1.5, "a": 1.0}
    assert [*found["digits"]["elasticity"]] == ["a", "b", "x"]
    assert command(*given, "-q").out == "b=1.5\nx=1.5\na=1.0\n"
    assert command(*given, "--csv").out.splitlines()[0] == "name,data,grad,elasticity"
    assert "share" in command("grad", "x^2", "x=2±0.1", "--elastic").out


@together([
    (("x*y", "x=0", "y=2"), "the value is 0, and 0 has no percentages"),
    (("x + y", "x=0", "y=2"), "x is 0, which percentages do not move"),
    (("sum(x) + y", "x=[0,1,0]", "y=2"), "x has 2 zeros, which percentages do not move"),
])  # fmt: skip
def test_elasticities_of_nothing(argv: tuple[str, ...], message: str) -> None:
    status, _, err = command("grad", *argv, "--elastic")
    assert status == 0 and message in err
