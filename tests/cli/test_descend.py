"""``exprgrad descend``: what it prints, in every form, and its exit status."""

from __future__ import annotations

import json
import re

import pytest

import golden
from shell import command, on_terminal, process, spelled

REQUESTS = {
    "parabola": ["(x-3)^2", "x=0", "--max-steps", "8"],
    "two-inputs": [
        "f = (x-3)^2 + x*y^2", "x=0", "y=1",
        "--rate", "1/8", "--max-steps", "4", "--digits", "4",
    ],
    "converged": ["(x-3)^2", "x=0", "--rate", "0.5"],
    "oscillates": ["x^2", "x=3", "--rate", "1"],
    "diverged": ["x^2", "x=3", "--rate", "1.5", "--max-steps", "6", "--strict"],
    "nan": ["log(x)", "x=0.3", "--strict"],
    "nan-quiet": ["log(x)", "x=0.3", "-q"],
    "long": ["(x-3)^2", "x=0", "--rate", "0.01", "--max-steps", "100"],
    "five-inputs": ["a+b+c+d+e^2", "a=1", "b=1", "c=1", "d=1", "e=4", "--max-steps", "3"],
    "tensors": [
        "sum((X @ w - y)^2)", "X=[[1,2],[3,4]]", "w=[0,0]", "y=[1,2]", "--wrt", "w", "--rate", "0.01",
        "--max-steps", "3",
    ],
    "csv": ["(x-3)^2*a", "x=0", "a=1", "--wrt", "x", "--max-steps", "2", "--csv"],
    "quiet": ["(x-3)^2*a", "x=0", "a=1", "--rate", "-0.25", "--max-steps", "2", "-q"],
}  # fmt: skip


@pytest.mark.parametrize("name", REQUESTS)
def test_what_is_printed(name: str) -> None:
    argv = ["descend", *REQUESTS[name]]
    status, out, err = command(*argv)
    golden.agree(f"descend/{name}.txt", f"{spelled(argv)}\n{out}{err}exit status {status}\n")


@pytest.mark.parametrize("columns", [100, 60, 40])
def test_on_a_terminal(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    argv = ["descend", "(x-3)^2 + x*y^2", "x=0", "y=1", "--max-steps", "3"]
    shown = on_terminal([*argv, "--color", "never"], columns, monkeypatch)
    assert all(len(line) <= columns for line in shown.splitlines())
    headings = {100: "y.update", 60: "update", 40: "y"}
    assert shown.splitlines()[0].split()[-1] == headings[columns]
    assert "\x1b[" in on_terminal([*argv, "--color", "always"], columns, monkeypatch)


def test_updates_are_seen_in_eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tutorial speaks of them: where they don't fit beside each other, each input has a line."""
    argv = [
        "descend", "n = x1*w1 + x2*w2 + b; o = tanh(n); L = (o - y)^2", "x1=2", "w1=-3", "x2=0", "w2=1",
        "b=6.8813735870195432", "y=0.5", "--wrt", "w1,w2,b", "--max-steps", "5", "--color", "never",
    ]  # fmt: skip
    headings, _, *lines = on_terminal(argv, 80, monkeypatch).splitlines()
    assert headings.split() == ["step", "L", "input", "data", "grad", "update"]
    assert lines[0].split() == ["0", "0.0428932", "w1", "-3", "0.414214", "-0.0414214"]
    assert lines[2].split() == ["b", "6.88137", "0.207107", "-0.0207107"]
    assert lines[15].split() == ["5", "0.000188629", "w1", "-3.12543", "0.0404378"]


def test_where_the_encoding_has_no_bars() -> None:
    out = process(
        "descend", "x^2+y+z+w+v", "x=4", "y=0", "z=0", "w=0", "v=0", "--max-steps", "7",
        env={"PYTHONIOENCODING": "ascii"},
    ).out  # fmt: skip
    assert "\n#+-:..__  16 -> -2.09631\n" in out and "|grad|" in out and "?" not in out


def test_json_is_whole() -> None:
    found = json.loads(command("descend", "y = (x-3)^2", "x=0", "--max-steps", "100", "--json").out)
    assert len(found["steps"]) == 101 and found["output"]["name"] == "y"
    assert found["steps"][0] == {
        "step": 0, "value": 9.0, "inputs": {"x": 0.0}, "gradient": {"x": -6.0},
        "update": {"x": 0.6000000000000001},
    }  # fmt: skip
    assert found["final"] == found["steps"][-1]["inputs"] and found["value"] < 1e-17
    assert (found["verdict"], found["message"]) == ("steps", "not converged after 100 steps")
    nan = json.loads(command("descend", "log(x)", "x=0.3", "--json").out)
    assert nan["verdict"] == "nan" and nan["diagnostics"][0]["code"] == "nan"
    assert nan["steps"][-1]["value"] == "nan"


def test_strict_is_about_the_ending() -> None:
    for formula, rate, status in (
        ("abs(x)", "0.3", 0), ("x^2", "0.1", 0), ("x^2", "2", 1), ("sqrt(x)", "5", 1),
    ):  # fmt: skip
        argv = ["descend", formula, "x=1", "--rate", rate, "-q"]
        assert command(*argv, "--strict").status == status
        assert command(*argv).status == 0


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["x^2"], "input 'x' has no value"),
        (["x^2", "x=1", "--rate", "0"], "a rate of 0 leads nowhere"),
        (["x^2", "x=1", "--rate", "y"], "the value of '--rate' is not a constant"),
        (["x^2", "x=1", "--max-steps", "0"], "'0' is not a value for --max-steps"),
        (["x^2", "x=1", "--wrt", "z"], "'z' is not an input"),
        (["x^2", "x=1", "--csv", "-q"], "cannot be combined"),
        (["2+2"], "no inputs to move"),
        (["x*[1,2]", "x=1"], "descend needs an output that is a number"),
        (["X @ w", "X=[[1,2]]", "w=[1,2,3]"], "(1, 2)"),
    ],
)
def test_what_is_wrong_is_said(argv: list[str], words: str) -> None:
    status, out, err = command("descend", *argv)
    assert (status, out) == (2, "") and words in err


@pytest.mark.parametrize(
    ("formula", "at", "code"),
    [("-abs(x)", "x=0", "kink"), ("relu(x-1)+0", "x=1", "kink"), ("floor(x)", "x=1", "jump")],
)
def test_an_end_at_a_kink_or_a_jump_is_no_quiet_one(formula: str, at: str, code: str) -> None:
    argv = ["descend", formula, at]
    status, out, err = command(*argv, "--strict")
    assert status == 1 and "converged" in out and f"warning: {code} along x" in err
    assert f"warning: {code} along x" in command(*argv, "-q").err
    codes = [one["code"] for one in json.loads(command(*argv, "--json").out)["diagnostics"]]
    assert code in codes
    assert command(*argv).status == 0


def test_divergence_is_a_warning_in_every_form() -> None:
    argv = ["descend", "x^2", "x=3", "--rate", "2", "--max-steps", "6"]
    for form in ([], ["-q"], ["--csv"]):
        assert command(*argv, *form).err.count("warning: diverged: the value rose") == 1
    found = json.loads(command(*argv, "--json").out)["diagnostics"]
    assert [(one["code"], one["severity"]) for one in found] == [("diverged", "warning")]


@pytest.mark.parametrize(
    ("formula", "inputs", "headings"),
    [
        ("x", ["x=1"], ["step", "value", "x"]),
        ("value", ["value=1"], ["step", "the value", "value"]),
        ("step = y*2; step", ["y=1"], ["#", "step", "y"]),
        ("2*step", ["step=1"], ["#", "value", "step"]),
    ],
)
def test_headings_are_told_apart(formula: str, inputs: list[str], headings: list[str]) -> None:
    head = command("descend", formula, *inputs, "--max-steps", "1").out.splitlines()[0]
    assert [cell for cell in re.split(" {2,}", head) if cell][:3] == headings


def test_one_step_is_no_plural() -> None:
    assert (
        "not converged after 1 step\n" in command("descend", "x^2", "x=1", "--max-steps", "1").out
    )


def test_the_last_point_has_the_numbers_that_grad_prints() -> None:
    argv = ["(1-cos(x))/x^2", "x=1e-7"]
    found = json.loads(command("descend", *argv, "--rate", "1e-30", "--json").out)
    grad = json.loads(command("grad", *argv, "--json").out)
    for field in ("value", "gradient", "digits", "corrected_value", "corrected", "diagnostics"):
        assert found[field] == grad[field], field
    last = found["steps"][-1]
    assert (last["value"], last["gradient"]) == (grad["value"], grad["gradient"])
    csv = command("descend", *argv, "--rate", "1e-30", "--csv").out.splitlines()
    assert csv[-1] == f"0,{grad['value']!r},1e-07,{grad['gradient']['x']!r},"
    shown = command("descend", *argv, "--rate", "1e-30").out
    assert "value corrected: 0.5, where the sweep has 0.4996" in shown
    assert command("descend", *argv, "--rate", "1e-30", "--strict").status == 1
