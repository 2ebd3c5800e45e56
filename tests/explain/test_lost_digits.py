"""What people read of numbers that lose digits: warnings, corrections, marks in tables."""

from __future__ import annotations

import json
import pickle

import pytest

import golden
from digits import is_right
from exprgrad import parse
from oracles import mpf
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
        ["0.3 - 0.1 - 0.2"],
        ["asin(x*10)", "x=0.1"],
        ["sqrt(0.3 - 0.1 - 0.2)"],
        ["max(x+0.2, 0.3)", "x=0.1"],
        ["where(x*3==0.3, 1, x)", "x=0.1"],
        ["relu(0.3-0.2-x)", "x=0.1"],
        ["1 + cos(3.14159265358979323846)"],
        ["1 + cos(x)", "x=3.14159265358979323846"],
        ["sin(x)", "x=pi"],
        ["x*3 - 1", "x=1/3"],
        ["1e-400*1e300"],
        ["x*1e300", "x=1e-400"],
        ["x/1e300", "x=1e400"],
    ],
    "open": [["sqrt(a)^2-a", "a=3"], ["sin(pi)"], ["1/(sqrt(a)^2-a)", "a=3"]],
    "blame": [
        ["cos(2*pi*x)", "x=1e15"],
        ["x%pi", "x=1e22"],
        ["(x*3)%1", "x=1234567890123456.7"],
        ["(1+x)^n", "x=1e-12", "n=1e14"],
        ["log(x^2)/2", "x=-1e-200"],
        ["log(x + sqrt(x^2 + 1))", "x=-1e8"],
    ],
    "zeros": [["exp(x)*exp(-x)-1", "x=1e18"], ["1/(1+exp(-x))", "x=-800"]],
    "rounded": [
        ["max(1 - cos(x), 0)/x^2", "x=1e-8"],
        ["where(x + 1 > 1, log(x + 1)/x, 1)", "x=1e-16"],
        ["(abs(x-y)+x)*(1-cos(z))/z^2", "x=1", "y=1", "z=1e-7"],
    ],
    "right": [
        ["log(1+x)", "x=1e-10"],
        ["log(1+x)", "x=1e-10", "--digits", "9"],
        ["(1-cos(x))/x^2", "x=1e-7", "--digits", "3"],
        ["x - 0.3", "x=0.3"],
        ["x - y", "x=0.3", "y=0.29999"],
        ["1 + 1e-400"],
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


@pytest.mark.parametrize("name", ["jac", "hess", "jvp", "vjp"])
def test_what_has_no_value_has_no_derivative(name: str) -> None:
    """No digits are claimed of it."""
    tangent = ["--tangent", "x=1"] if name == "jvp" else []
    found = command(name, "--json", "x^2 % 2 + nan", "x=0.7", *tangent)
    digits = json.dumps(json.loads(found.out)["digits"])
    assert set(filter(str.isdecimal, digits)) == {"0"}, digits


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


@pytest.mark.parametrize(
    ("formula", "inputs", "names"),
    [
        ("sin(x)", {"x": "pi"}, "x"),
        ("sin(x)", {"x": 3.141592653589793}, "x"),
        ("x - 1/y", {"x": "1/3", "y": 3}, "x"),
        ("x - y", {"x": "2/8", "y": 0.125}, ""),
        ("x - 1", {"x": "1.00000000000000000001"}, "x"),
        ("1.00000000000000000001 - x", {"x": 1}, "1.00000000000000000001"),
        ("x - 0.1*3", {"x": 0.3}, "0.1 and x"),
        ("x - 0.1", {"x": 0.1000001}, ""),
        ("x - 0.1", {"x": "1/0"}, ""),
        ("x - 0.1", {"x": "-1e999999999"}, ""),
        ("x - 0.1", {"x": "1e-999999999"}, ""),
        ("x*1e300", {"x": "exp(-1000)"}, "1e+300 and x"),
        ("x", {"x": "log(-1)"}, ""),
    ],
)
def test_numbers_are_read_as_they_are_typed(
    formula: str, inputs: dict[str, object], names: str
) -> None:
    told = [one.message for one in parse(formula).gradient(inputs).true.diagnostics]
    assert any(f"how {names} " in message for message in told) if names else not told


@pytest.mark.parametrize("name", ["eval", "grad", "jac", "hess", "vjp"])
def test_all_commands_tell_what_underflows(name: str) -> None:
    found = command(name, "-q", "x*y + 1e-350", "x=1e-400", "y=2")
    assert "note: x = 1e-400 is read as 0: underflow" in found.err
    assert "note: 1e-350 is read as 0: underflow" in found.err


def test_a_run_keeps_the_texts_of_its_inputs() -> None:
    run = parse("sin(x) + y").gradient(x="pi", y="2.5")
    assert run.spelled == pickle.loads(pickle.dumps(run)).spelled == {"x": "pi"}


def test_a_kink_of_the_decimals_alone_is_told_by_all_commands() -> None:
    for name in ("grad", "jac", "vjp"):
        found = command(name, "-q", "max(x+0.2, 0.3)", "x=0.1")
        assert "max(x + 0.2, 0.3) has a kink: operands tie" in found.err


@pytest.mark.parametrize(
    ("formula", "inputs", "name", "slope"),
    [
        ("((x + h)^3 - x^3)/h", {"x": 3.0, "h": 1e-308}, "x", 18.0),
        ("(relu(u) - relu(-u))*(1 - cos(v))/v^2", {"u": 0.0, "v": 1e-7}, "u", 0.5),
        ("(relu(u) - relu(-u))*(0.1 + v)", {"u": 0.0, "v": 0.2}, "u", 0.1 + 0.2),
        ("relu(x - y) - relu(y - x)", {"x": 1.0, "y": 1.0}, "x", 1.0),
    ],
)
def test_what_one_side_has_found_is_checked(
    formula: str, inputs: dict[str, float], name: str, slope: float
) -> None:
    run = parse(formula).gradient(inputs)
    assert is_right(run.true.gradient[name], mpf(slope), 15)
    assert run.true.digits["gradient"][name] >= 15
    lost = any(f"{name}.grad has" in one.message for one in run.diagnostics)
    assert lost == (not is_right(run.gradient[name], mpf(slope), 6))
    assert lost != any(f"along {name} exists" in one.message for one in run.diagnostics)


def test_a_number_of_a_tensor_is_called_by_its_place() -> None:
    found = command("eval", "-q", "(1 - cos(w))/w^2", "w=[1e-7,2,3]")
    assert found.err.startswith("warning: ((1 - cos(w))/w^2)[0] has 3 right digits")


def test_a_whole_number_may_be_rounded_too() -> None:
    """1e23 is no double: where the answer depends on that, the sweep's number stays."""
    for formula, value in (("1e22*10 - 1e23", 0.0), ("sin(1e23 + 1)", None)):
        true = parse(formula).evaluate().true
        assert true.corrected_value is None and true.digits == {"value": 0}
        assert "depends on how 1e+23 is rounded" in true.diagnostics[0].message
        assert value is None or true.value == value


def test_a_derivative_that_exists_is_not_corrected_to_nan() -> None:
    """Balls have 0 times infinity at the root of 0, where both sides say that ``cbrt(x*0)`` is flat."""
    true = parse("cbrt(x*y)").gradient(x=1, y=0).true
    assert true.gradient["x"] == 0
    assert true.digits["gradient"]["x"] == 16


def test_a_long_recurrence_is_known_to_be_right() -> None:
    """Each step takes 1.6 bits of the balls, which know nothing of what cancels."""
    run = parse("x[0] = a; x[k] = x[k-1] + h*(1 - x[k-1]) for k in 1..1500; x[1500]").gradient(
        a=0.5, h=1.999
    )
    assert run.digits == {"value": 14, "gradient": {"a": 14, "h": 13}}
    assert "lost-digits" not in {one.code for one in run.diagnostics}
