"""What people read of numbers that lose digits: warnings, corrections, marks in tables."""

from __future__ import annotations

import json

import pytest

import golden
from exprgrad import parse
from shell import command, on_terminal, spelled

FORMULAS = {
    "corrected": [
        ["(1-cos(x))/x^2", "x=1e-7"],
        ["sqrt(x*x+y*y)", "x=1e200", "y=1e200"],
        ["exp(x)-1-x", "x=1e-9"],
        ["exp(x)/(1+exp(x))", "x=710"],
        ["(a+b+c)-(c+a)-b", "a=1e16", "b=1", "c=3"],
        ["f = x^2-2*x*y+y^2", "x=1e8", "y=100000001"],
        ["(x+1e16)-1e16", "x=1", "--digits", "17"],
    ],
    "typed": [
        ["0.1+0.2-0.3"],
        ["abs(x*10-1)", "x=0.1"],
        ["sin(x*0.1)", "x=1e17"],
        ["floor(x*10)", "x=0.3"],
    ],
    "open": [["sqrt(a)^2-a", "a=3"], ["sin(pi)"], ["1/(sqrt(a)^2-a)", "a=3"]],
    "right": [
        ["log(1+x)", "x=1e-10"],
        ["log(1+x)", "x=1e-10", "--digits", "9"],
        ["(1-cos(x))/x^2", "x=1e-7", "--digits", "3"],
        ["tanh(x1*w1 + x2*w2 + b)", "x1=2", "w1=-3", "x2=0", "w2=1", "b=6.88"],
    ],
}  # fmt: skip


@pytest.mark.parametrize("group", FORMULAS)
def test_texts(group: str) -> None:
    pieces = []
    for arguments in FORMULAS[group]:
        argv = ["grad", "--strict", *arguments]
        status, out, err = command(*argv)
        pieces.append(f"{spelled(argv)}\n{out}{err}exit {status}\n")
        assert status == ("warning: " in err)
        helps = [line for line in err.splitlines() if line.startswith("  help") and "loses" in line]
        assert len(set(helps)) == len(helps)
    golden.agree(f"lost-digits/{group}.txt", "\n".join(pieces))


@pytest.mark.parametrize("color", ["never", "always"])
def test_marks_on_a_narrow_terminal(color: str, monkeypatch: pytest.MonkeyPatch) -> None:
    argv = ["grad", "(1-cos(x))/x^2", "x=1e-7", "--color", color]
    shown = on_terminal(argv, 40, monkeypatch)
    assert "7992.78~" in shown and "4.996e-15~" in shown and "1e+14~" not in shown
    assert "~ fewer right digits than shown" in shown


def test_many_numbers_share_a_warning() -> None:
    names = [f"x{at}" for at in range(30)]
    formula = f"({'+'.join(names)}) - ({'+'.join(names)})*c"
    found = command("grad", "-q", formula, "c=1.0000000000000002", *(f"{name}=1" for name in names))
    assert found.err.count("warning: ") <= 4 and found.err.count("  help: ") <= 4


def test_digits_are_each_numbers_own() -> None:
    found = json.loads(command("grad", "--json", "(1-cos(x))/x^2", "x=1e-7").out)
    assert [one["code"] for one in found["diagnostics"]] == ["lost-digits"]
    assert found["digits"] == {"value": 16, "gradient": {"x": 16}}
    assert found["corrected_value"]["sweep"] != found["value"]
    assert found["corrected"]["x"]["value"] == found["gradient"]["x"]


def test_an_answer_is_told_in_a_line() -> None:
    true = parse("x - 1").gradient(x=3).true
    assert repr(true) == (
        "Guarded(value=2.0, gradient={'x': 1.0}, digits={'value': 16, 'gradient': {'x': 16}})"
    )


def test_a_whole_number_may_be_rounded_too() -> None:
    """1e23 is no double: where the answer hangs on that, the sweep's number stays."""
    for formula, value in (("1e22*10 - 1e23", 0.0), ("sin(1e23 + 1)", None)):
        true = parse(formula).evaluate().true
        assert true.corrected_value is None and true.digits == {"value": 0}
        assert "hangs on how 1e+23 is rounded" in true.diagnostics[0].message
        assert value is None or true.value == value
