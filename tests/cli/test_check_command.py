"""The command ``check``: its forms, exit statuses, and what it costs where nobody asks."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys

import pytest

from shell import command, on_terminal


def test_csv_reads_back() -> None:
    out = command("check", "--csv", "x^2*y + abs(z)", "x=3", "y=2", "z=0").out
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [row["input"] for row in rows] == ["x", "y", "z"]
    assert float(rows[0]["analytic"]) == float(rows[0]["numeric"]) == 12
    assert (rows[2]["left"], rows[2]["right"], rows[2]["verdict"]) == ("-1.0", "1.0", "kink")


def test_json_has_the_contract_s_fields() -> None:
    found = json.loads(command("check", "--json", "x^2", "x=3").out)
    assert list(found) == [
        "schema",
        "command",
        "expression",
        "inputs",
        "value",
        "checks",
        "diagnostics",
    ]
    fields = ["input", "analytic", "numeric", "error", "left", "right", "verdict", "message"]
    assert [list(check) for check in found["checks"]] == [fields]
    found = json.loads(command("check", "--json", "e = x^2; e", "x=3", "--node", "e").out)
    assert list(found["checks"][0]) == [*fields, "node"]
    found = json.loads(command("check", "--json", "x^2", "--claim", "x=2*x").out)
    assert list(found["checks"][0]) == [*fields, "claim", "point", "sampled", "proof", "width"]
    assert "value" not in found


def test_exit_statuses() -> None:
    assert command("check", "abs(x)", "x=0").status == 0
    assert command("check", "--strict", "abs(x)", "x=0").status == 1
    assert command("check", "--strict", "x^2", "x=1").status == 0
    assert command("check", "x^2", "--claim", "x=3*x").status == 1
    assert command("check", "x^2").status == 2
    assert command("check", "x^2", "x=1", "--node", "z").status == 2


def test_json_keeps_stderr_clean() -> None:
    for argv in (["abs(x)", "x=0"], ["2+2"], ["x^2", "--claim", "x=x"]):
        status, out, err = command("check", "--json", *argv)
        assert (err, json.loads(out)["command"]) == ("", "check"), status


def test_a_formula_without_inputs() -> None:
    status, out, err = command("check", "2+2")
    assert (status, err) == (0, "note: the formula has no inputs to check\n")
    assert "0 of 0 agree" in out


def test_a_narrow_terminal_keeps_the_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    argv = ["check", "abs(x)*y + (1-cos(z))/z^2", "x=0", "y=2", "z=1e-7"]
    shown = on_terminal(argv, 40, monkeypatch, NO_COLOR="1")
    assert max(map(len, shown.splitlines())) <= 40
    assert "cancellation" in shown and "kink: left" in shown


def test_a_narrow_terminal_drops_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    argv = ["check", "tanh(x1*w1 + x2*w2)", "x1=2", "w1=-3", "x2=0.25", "w2=1"]
    for width in (40, 60, 100):
        shown = on_terminal(argv, width, monkeypatch, NO_COLOR="1")
        assert max(map(len, shown.splitlines())) <= width
        for number in ("analytic", "numeric", "error", "-0.000121559", "8.5e-22"):
            assert number in shown, width


def test_functions_are_taken_apart() -> None:
    found = json.loads(
        command("check", "--json", "tanh(x)*y", "x=1", "y=2", "--expand", "tanh").out
    )
    assert "tanh" not in found["expression"]
    assert [check["verdict"] for check in found["checks"]] == ["agrees", "agrees"]
    claim = ["check", "tanh(x)", "--claim", "x=1 - tanh(x)^2", "--expand", "all", "-q"]
    assert command(*claim).out == "x=agrees\n"


def test_a_long_table_is_cut() -> None:
    formula = "+".join(f"x{i}" for i in range(80))
    argv = ["check", formula, *[f"x{i}={i}" for i in range(80)]]
    assert "40 checks left out; --all shows them" in command(*argv).out
    assert "left out" not in command(*argv, "--all").out


@pytest.mark.parametrize(
    ("argv", "absent"),
    [
        (["grad", "x^2", "x=1"], "exprgrad.explain.checking.check"),
        (["grad", "x^2", "x=1"], "flint"),
        (["check", "x^2", "x=1"], "numpy"),
    ],
)
def test_what_is_not_needed_is_not_imported(argv: list[str], absent: str) -> None:
    """Start-up is a feature."""
    code = f"import sys; from exprgrad.cli.main import main; main({argv}); "
    code += f"assert {absent!r} not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_brackets_are_not_markup() -> None:
    out = command("check", "sum(X)*y", "X=[1,2]", "y=3", "--color", "always").out
    assert "X[0]" in out and "X[1]" in out
