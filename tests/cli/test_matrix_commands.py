"""``jac``, ``hess``, ``jvp`` and ``vjp``: every form of an answer."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import golden
from exprgrad import parse
from exprgrad.derive.rules import Rule
from exprgrad.derive.sweeps import gradient as derive
from exprgrad.graph.graph import Graph, Program
from exprgrad.source import display_width
from shell import command, on_terminal, spelled

POLAR = ("x = r*cos(phi); y = r*sin(phi); z = r^2", "r=2", "phi=pi/6")
CHAIN = " + ".join(f"100*(x{i + 1} - x{i}^2)^2 + (1 - x{i})^2" for i in range(24))
CHAIN_AT = [f"x{i}={(-1) ** i * (1 + i / 7)}" for i in range(25)]
LONG = "a_rather_long_name_of_a_thing"
TABLES: dict[str, list[list[str]]] = {
    "jac": [
        ["jac", "(a+b)*c", "a=2", "b=-3", "c=10"], ["jac", *POLAR, "--of", "x,y,z"],
        ["jac", *POLAR, "--of", "z,x", "--wrt", "phi"], ["jac", "2+2"],
        ["jac", f"y = 重み*入力 + {LONG}^2; {LONG}s = 1/入力", "重み=2", "入力=3", f"{LONG}=-1.5",
         "--of", f"y,{LONG}s"],
        ["jac", "; ".join(f"y{i} = x^{i}" for i in range(14)), "x=2", "--of",
         ",".join(f"y{i}" for i in range(14))],
        ["jac", "+".join(f"x{i}*{i}" for i in range(13)), *[f"x{i}=1" for i in range(13)]],
    ],
    "hess": [
        ["hess", "x^2*y + sin(z)", "x=1", "y=2", "z=3"], ["hess", "x^1.5*y", "x=0", "y=1"],
        ["hess", "x*y", "x=1.23456789e-200", "y=-9.87654321e100", "--digits", "9"],
        ["hess", "x*y*z", "x=1", "y=2", "z=3", "--wrt", "z,x"], ["hess", "a - b", "a=1", "b=1"],
        ["hess", "2+2"], ["hess", "+".join(f"x{i}*x{i + 1}" for i in range(5)),
                          *[f"x{i}={i}/3" for i in range(6)]],
    ],
    "long": [["hess", CHAIN, *CHAIN_AT]],
    "jvp": [
        ["jvp", "x^2*y", "x=1", "y=2", "--tangent", "x=1,y=0"],
        ["jvp", *POLAR, "--of", "x,y,z", "--tangent", "r = 1/3, phi = max(1, 2)"],
        ["jvp", "sqrt(x) + y", "x=0", "y=2", "--tangent", "x=0,y=1"], ["jvp", "2+2"],
    ],
    "vjp": [
        ["vjp", "x^2*y", "x=1", "y=2"], ["vjp", "x^2*y", "x=1", "y=2", "--cotangent", "-1/3"],
        ["vjp", *POLAR, "--of", "x,y", "--cotangent", "x=1,y=-2", "--wrt", "phi"],
        ["vjp", "y = x^2", "x=3", "--cotangent", "y=2"], ["vjp", "2+2"],
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_tables(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a pipe, on 80 and 40 columns, and in colour; everything fits where numbers leave room."""
    pieces = []
    for argv in TABLES[name]:
        status, out, err = command(*argv)
        assert status == 0
        pieces += [spelled(argv), out + err]
        for columns in (80, 40):
            shown = on_terminal(argv, columns, monkeypatch, NO_COLOR="1")
            assert not re.search(r"\x1b\[[34]\d", shown)
            plain = re.sub(r"\x1b\[[0-9;]*m", "", shown)
            assert max(map(display_width, plain.split("\n\n")[0].splitlines())) <= columns
            pieces += [f"on {columns} columns", plain]
    golden.agree(f"matrices/{name}.txt", "\n".join(pieces))


def test_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same cells, coloured where it is asked for and on a terminal without NO_COLOR."""
    for argv in (TABLES["jac"][1], TABLES["hess"][0], TABLES["jvp"][1], TABLES["vjp"][2]):
        plain = command(*argv).out
        for out in (command(*argv, "--color", "always").out, on_terminal(argv, 80, monkeypatch)):
            assert "\x1b[33m" in out
            cells = re.sub(r"\x1b\[[0-9;]*m|─", "", out).split()
            assert cells == plain.split()
        assert "\x1b" not in plain + command(*argv, "--color", "never").out
        assert "\x1b" not in command(*argv, "--color", "always", "-q").out


def test_everything_is_listed_where_that_is_asked_for() -> None:
    argv = TABLES["long"][0]
    out = command(*argv).out
    assert "33 entries left out; --all shows them" in out
    whole = command(*argv, "--all").out
    assert len(whole.splitlines()) == 1 + 73 + 3
    assert "73 of 625 entries are not structurally 0" in whole


def test_quiet() -> None:
    """A line a number, every number, whatever is structurally 0."""
    assert command("jac", "-q", "(a+b)*c", "a=2", "b=-3", "c=10").out == "a=10.0\nb=10.0\nc=-1.0\n"
    assert command("jac", "-q", "y = 2*a; z = b", "a=1", "b=2", "--of", "y,z").out == (
        "y a=2.0\ny b=0.0\nz a=0.0\nz b=1.0\n"
    )
    assert command("jac", "-q", "y = 2*a; z = b", "a=1", "b=2", "--of", "z").out == (
        "z a=0.0\nz b=1.0\n"
    )
    assert command("hess", "-q", "a^2*b", "a=1", "b=2").out == (
        "a a=4.0\na b=2.0\nb a=2.0\nb b=0.0\n"
    )
    assert command("jvp", "-q", "a*b", "a=1", "b=2", "--tangent", "a=1,b=1/2").out == "2.5\n"
    assert command("jvp", "-q", "y = a*b", "a=1", "b=2", "--tangent=a=1,b=0", "--of=y").out == (
        "y=2.0\n"
    )
    assert command("vjp", "-q", "a*b", "a=1", "b=2").out == "a=2.0\nb=1.0\n"
    assert command("vjp", "-q", "a*b", "a=1", "b=2", "--cotangent", "-2").out == "a=-4.0\nb=-2.0\n"
    for name in ("jac", "hess", "vjp"):
        assert command(name, "-q", "2+2") == (0, "", "")
    assert command("jvp", "-q", "2+2") == (0, "0.0\n", "")


def test_csv() -> None:
    """A matrix with its names; products as name,value."""
    rows = list(csv.reader(io.StringIO(command("jac", "--csv", *POLAR, "--of", "x,y,z").out)))
    assert rows[0] == ["", "r", "phi"] and [row[0] for row in rows[1:]] == ["x", "y", "z"]
    found = parse(POLAR[0]).jacobian(r=2, phi="pi/6", of=["x", "y", "z"])
    assert [list(map(float, row[1:])) for row in rows[1:]] == [
        list(row.values()) for row in found.values()
    ]
    assert (
        command("hess", "--csv", "max(a, b)*b", "a=1", "b=2").out == ",a,b\na,0.0,0.0\nb,0.0,2.0\n"
    )
    assert command("jac", "--csv", "max(a, b)", "a=1", "b=2").out == ',a,b\n"max(a, b)",0.0,1.0\n'
    assert command("vjp", "--csv", "a*b", "a=1", "b=2").out == "name,value\na,2.0\nb,1.0\n"
    assert command("jvp", "--csv", "y = a*b", "a=1", "b=2", "--tangent", "a=1,b=1").out == (
        "name,value\ny,3.0\n"
    )


def document(*argv: str) -> Any:
    status, out, err = command(*argv, "--json")
    assert (status, err) == (0, "")
    return json.loads(out)


def test_json() -> None:
    found = document("jac", "y1 = a*b; y2 = a", "a=2", "b=3", "--of", "y2,y1")
    assert list(found) == [
        "schema", "command", "expression", "inputs", "value", "jacobian", "digits", "diagnostics",
    ]  # fmt: skip
    assert found["value"] == {"y1": 6.0, "y2": 2.0}
    assert found["jacobian"] == {"y1": {"a": 3.0, "b": 2.0}, "y2": {"a": 1.0, "b": 0.0}}
    one = document("jac", "y1 = a*b; y2 = a", "a=2", "b=3", "--of", "y1", "--wrt", "b")
    assert (one["value"], one["jacobian"]) == ({"y1": 6.0}, {"y1": {"b": 2.0}})
    own = document("jac", "a*b", "a=2", "b=3")
    assert (own["value"], own["jacobian"]) == (6.0, {"a": 3.0, "b": 2.0})

    found = document("hess", "a^2*b + c", "a=2", "b=3", "c=1")
    assert (found["value"], found["gradient"]) == (13.0, {"a": 12.0, "b": 4.0, "c": 1.0})
    assert found["hessian"] == {
        "a": {"a": 6.0, "b": 4.0, "c": 0.0},
        "b": {"a": 4.0, "b": 0.0, "c": 0.0},
        "c": {"a": 0.0, "b": 0.0, "c": 0.0},
    }
    assert found["pattern"] == [["a", "a"], ["a", "b"], ["b", "a"]]

    found = document("jvp", "a*b", "a=2", "b=3", "--tangent", "b=1,a=-2/4")
    assert list(found["tangent"].items()) == [("a", -0.5), ("b", 1.0)]
    assert (found["value"], found["jvp"]) == (6.0, 0.5)
    found = document("jvp", "y = a*b", "a=2", "b=3", "--tangent", "b=0,a=1", "--of", "y")
    assert (found["value"], found["jvp"]) == ({"y": 6.0}, {"y": 3.0})

    found = document("vjp", "y = a*b", "a=2", "b=3", "--cotangent", "y=2")
    assert (found["value"], found["cotangent"], found["vjp"]) == (6.0, 2.0, {"a": 6.0, "b": 4.0})
    found = document("vjp", "y = a*b", "a=2", "b=3", "--of", "y")
    assert (found["cotangent"], found["vjp"]) == ({"y": 1.0}, {"a": 3.0, "b": 2.0})


def test_what_has_a_line_of_its_own_in_json() -> None:
    """Rows of numbers, lists and diagnostics; among tensors each field has one line instead."""
    text = command("jac", "u = x*y; v = abs(x)", "x=0", "y=2", "--of", "u,v", "--json").out
    found = json.loads(text)
    kink = json.dumps(found["diagnostics"][0])
    assert text.splitlines()[1:] == [
        ' "jacobian": {', '  "u": {"x": 2.0, "y": 0.0},', '  "v": {"x": 0.0, "y": 0.0}},',
        f' "digits": {json.dumps(found["digits"])},', ' "diagnostics": [', f"  {kink}]}}",
    ]  # fmt: skip
    text = command("jac", "u = X*y; v = abs(X)", "X=[0, 1]", "y=2", "--of", "u,v", "--json").out
    lines = text.splitlines()
    assert len(json.loads(text)["diagnostics"]) == 1
    assert len(lines) == len(json.loads(text))
    assert [line.split('"')[1] for line in lines] == list(json.loads(text))


@pytest.mark.parametrize("name", ["jac", "hess", "vjp", "jvp"])
def test_the_library_gives_the_same(name: str) -> None:
    text, at = "y = tanh(u*v)/w; y*u^v", {"u": 1.5, "v": 0.3, "w": -2.0}
    f, argv = parse(text), [f"{k}={v}" for k, v in at.items()]
    if name == "hess":
        assert document(name, text, *argv)["hessian"] == f.hessian(at)
        assert document(name, text, *argv)["pattern"] == list(map(list, f.hessian_pattern()))
        return
    field = {"jac": "jacobian"}.get(name, name)
    more = {"tangent": {"u": 1, "v": 2, "w": 3}} if name == "jvp" else {}
    options = ["--tangent", "u=1,v=2,w=3"] if name == "jvp" else []
    method = getattr(f, field)
    assert document(name, text, *argv, *options)[field] == method(at, **more)
    assert document(name, text, *argv, *options, "--of", "y")[field] == method(at, of="y", **more)


def test_diagnostics() -> None:
    """What concerns the outputs that are asked about, once; and second derivatives."""
    kinks = ("y1 = abs(a); y2 = 2*abs(a); y3 = log(b); y4 = 1", "a=0", "b=-1")

    def codes(*argv: str) -> list[tuple[str, str]]:
        return [(d["code"], d["severity"]) for d in document(*argv)["diagnostics"]]

    assert codes("jac", *kinks, "--of", "y4") == []
    assert codes("jac", *kinks, "--of", "y1,y2") == [("kink", "warning")] * 2
    assert codes("jac", *kinks, "--of", "y1", "--wrt", "b") == []
    assert codes("jac", *kinks, "--of", "y1,y3") == [("kink", "warning"), ("nan", "warning")]
    assert codes("jac", *kinks) == [("unused", "note")] * 3
    assert codes("jvp", *kinks, "--of", "y1", "--tangent", "a=0,b=1") == []
    assert codes("jvp", *kinks, "--of", "y1", "--tangent", "a=1,b=1") == [("kink", "warning")]
    weights = ["--of", "y1,y4", "--cotangent"]
    assert codes("vjp", *kinks, *weights, "y1=0,y4=1") == []
    assert codes("vjp", *kinks, *weights, "y1=1,y4=0") == [("kink", "warning")]
    assert codes("hess", "x^1.5*y", "x=0", "y=1") == [("infinite-hessian", "warning")]
    assert codes("hess", "sqrt(x)", "x=0") == [("infinite-gradient", "warning")]
    assert codes("hess", "where(x < 1, x, (x - 5)^1.5)", "x=0") == [("nan", "note")]
    (found,) = document("hess", "y^2 + x^1.5", "x=0", "y=1")["diagnostics"]
    assert (found["span"], found["node"]) == ([6, 11], 5)
    assert found["message"] == "the second derivative with respect to x is inf"


def test_strict() -> None:
    assert command("jac", "abs(a)", "a=0").status == 0
    for argv in (["jac"], ["hess"], ["vjp"], ["jvp", "--tangent", "a=1"]):
        assert command(*argv, "abs(a)", "a=0", "--strict").status == 1
        assert command(*argv, "abs(a)", "a=1", "--strict").status == 0
    assert command("hess", "x^1.5", "x=0", "--strict", "-q").status == 1


def test_a_formula_from_a_file_and_values_from_json(tmp_path: Path) -> None:
    formula, values = tmp_path / "formula", tmp_path / "values.json"
    formula.write_text("y = a*b\ny^2\n", encoding="utf-8")
    values.write_text('{"a": 2, "b": "1/2"}', encoding="utf-8")
    argv = ["-f", str(formula), "--inputs", str(values), "-q"]
    assert command("jac", *argv).out == "a=1.0\nb=4.0\n"
    assert command("jac", *argv, "--of", "y").out == "y a=0.5\ny b=2.0\n"
    assert command("jvp", "-", "-q", "a=2", "--tangent", "a=1", stdin=b"-a*a").out == "-4.0\n"


def test_the_program_of_a_hessian_has_the_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The formula is differentiated once, not once more for what JSON says of the gradient."""
    sweeps = []

    def counted(graph: Graph, wrt: Sequence[str], rule: Rule) -> Program:
        sweeps.append(wrt)
        return found(graph, wrt, rule)

    found = derive.gradient
    monkeypatch.setattr(derive, "gradient", counted)
    shown = json.loads(command("hess", "x^2*y", "x=3", "y=2", "--wrt", "y,x", "--json").out)
    assert shown["gradient"] == {"y": 9.0, "x": 12.0}
    assert shown["hessian"] == {"y": {"y": 0.0, "x": 6.0}, "x": {"y": 6.0, "x": 4.0}}
    assert len(sweeps) == 1


# Digits: numbers that lose them are corrected, and a warning says so.

FAR = ("y = sqrt(a*a + b*b); z = a - b", "a=1e200", "b=1e200")
NEAR = ("(1-cos(x))/x^2*y", "x=1e-5", "y=2")


def test_digits_mirror_the_answer() -> None:
    found = document("jac", "y1 = a*b; y2 = a", "a=2", "b=3", "--of", "y2,y1")
    assert found["digits"] == {
        "value": {"y1": 16, "y2": 16},
        "jacobian": {"y1": {"a": 16, "b": 16}, "y2": {"a": 16, "b": 16}},
    }
    assert document("jac", "a/b", "a=1", "b=3")["digits"] == {
        "value": 15, "jacobian": {"a": 15, "b": 15},
    }  # fmt: skip
    assert document("hess", "2+2")["digits"] == {"value": 16, "gradient": {}, "hessian": {}}
    found = document("hess", "a^2*b", "a=2", "b=3")
    assert found["digits"]["hessian"] == {"a": {"a": 16, "b": 16}, "b": {"a": 16, "b": 16}}
    found = document("jvp", "a/b", "a=1", "b=3", "--tangent", "a=1,b=0")
    assert found["digits"] == {"value": 15, "jvp": 15}
    found = document("vjp", "y = a/b", "a=1", "b=3", "--of", "y", "--wrt", "b")
    assert found["digits"] == {"value": {"y": 15}, "vjp": {"b": 15}}


def test_what_is_corrected_mirrors_the_answer() -> None:
    half = 0.7071067811865476
    found = document("jac", *FAR, "--of", "y,z")
    assert found["jacobian"] == {"y": {"a": half, "b": half}, "z": {"a": 1.0, "b": -1.0}}
    assert found["corrected_value"] == {"y": {"sweep": "inf", "value": 1.414213562373095e200}}
    slope = {"sweep": 0.0, "value": half}
    assert found["corrected_jacobian"] == {"y": {"a": slope, "b": slope}}
    found = document("jvp", *FAR, "--of", "y", "--tangent", "a=1,b=2")
    assert found["corrected_jvp"] == {"y": {"sweep": 0.0, "value": 2.1213203435596424}}
    found = document("vjp", *FAR, "--of", "y", "--cotangent", "y=2", "--wrt", "b")
    assert found["corrected_vjp"] == {"b": {"sweep": 0.0, "value": 2 * half}}
    assert found["vjp"] == {"b": 2 * half}

    found = document("hess", *NEAR)
    assert found["hessian"]["x"] == {"x": -0.16666666666333332, "y": -8.333333333277779e-07}
    assert found["hessian"]["y"]["x"] == found["gradient"]["x"] / 2
    assert list(found["corrected"]) == ["x"]
    corrected = found["corrected_hessian"]
    assert {row: [*columns] for row, columns in corrected.items()} == {"x": ["x", "y"], "y": ["x"]}
    for row, columns in corrected.items():
        for column, pair in columns.items():
            assert pair["value"] == found["hessian"][row][column] != pair["sweep"]


@pytest.mark.parametrize("x", [300, 350, 711, 800, 1000])
def test_the_second_derivative_of_tanh_far_out(x: int) -> None:
    """It is -8*exp(-2*x), half of which, and nan, the sweep once had."""
    done = command("hess", "-q", "tanh(x)", f"x={x}")
    true = -8 * math.exp(-x) * math.exp(-x)
    assert math.isclose(float(done.out.partition("=")[2]), true, rel_tol=1e-13, abs_tol=1e-323)


def test_the_second_derivative_of_sinc_at_0_stays() -> None:
    """What people read has a case for 0 alone, of which nothing can be derived."""
    done = command("hess", "sinc(x - y)", "x=3", "y=3", "--json", "--strict")
    assert done.status == 0
    slope = json.loads(done.out)["hessian"]["x"]
    assert slope["x"] == pytest.approx(-1 / 3) and slope["y"] == pytest.approx(1 / 3)


def test_tables_say_what_is_corrected() -> None:
    done = command("hess", *NEAR)
    assert "\nhessian corrected: x x = -0.166667, where the sweep has 4964.76; x y = -8" in done.out
    assert "d² ((1 - cos(x))/x^2*y) / d x d y have no right digit in doubles: 4964.76" in done.err
    assert "1 - cos(x) loses them: the difference of nearly equal numbers" in done.err
    done = command("jac", *NEAR)
    assert "\njacobian corrected: x = -1.66667e-06, where the sweep has -0.0165514" in done.out
    assert "write sinc(x/2)^2/2 instead of (1 - cos(x))/x^2" in done.err
    done = command("jvp", *FAR, "--of", "y", "--tangent", "a=1,b=2")
    assert "\njvp corrected: y = 2.12132, where the sweep has 0\n" in done.out
    assert "y and y.jvp have no right digit in doubles" in done.err
    assert "inf is corrected to 1.41421e+200, 0 to 2.12132" in done.err
    done = command("vjp", *FAR, "--of", "y")
    assert "\nvjp corrected: a = 0.707107, where the sweep has 0; b = 0.707107," in done.out


def test_lost_digits_are_strict() -> None:
    for request in (["hess", *NEAR], ["jac", *NEAR], ["vjp", *FAR, "--of", "y"]):
        assert command(*request).status == 0
        assert command(*request, "--strict").status == 1
    assert command("hess", "x^2*y", "x=1", "y=2", "--strict").status == 0


def test_the_product_of_two_zeros_that_are_off() -> None:
    """Each is off by less than a double tells, and their product is all error."""
    found = document("jac", "(1 - cos(x))*(1 - cos(y))", "x=1e-9", "y=1e-9")
    assert math.isclose(found["value"], 2.5e-37, rel_tol=1e-12)
    assert math.isclose(found["jacobian"]["x"], 5e-28, rel_tol=1e-12)
    found = document("hess", "(1/(1 + x*(1 - cos(y))))^2", "x=1e-9", "y=1e-9", "--wrt", "x")
    assert math.isclose(found["hessian"]["x"]["x"], 1.5e-36, rel_tol=1e-12)


def test_more_digits_are_asked_of_a_table() -> None:
    request = ["hess", "(1 - cos(x))*y", "x=0.01", "y=1"]
    assert not command(*request).err
    assert "has 12 right digits in doubles" in command(*request, "--digits", "15").err


def test_two_readings_that_differ_are_both_told() -> None:
    done = command("jac", "-q", "(x*10 - 1)^2", "x=0.1")
    assert done.out == "x=0.0\n"
    assert "the answer depends on how x is rounded" in done.err
    done = command("hess", "-q", "(0.1 + 0.2 - 0.3)*x^2", "x=1")
    assert "as typed, 0; the answer" in done.err


def test_conventions_at_kinks_are_not_lost_digits() -> None:
    for formula in ("abs(x)", "relu(x)", "max(x, 0)^2", "x*abs(x)", "sign(x)", "clamp(x, 0, 1)"):
        for name in ("jac", "hess"):
            assert "lost-digits" not in command(name, "--json", formula, "x=0").out
    assert "lost-digits" not in command("jac", "--json", "max(sin(x), cos(x), sin(x))", "x=2").out


def test_bounds_alone_speak_without_balls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exprgrad.explain.digits.guard.has_balls", lambda: False)
    done = command("hess", "-q", *NEAR)
    assert "d² ((1 - cos(x))/x^2*y) / d x d x may have no right digit, as far as" in done.err


@pytest.mark.parametrize(
    ("formula", "point"),
    [
        ("xlogy(x, y)", ("x=3", "y=0")),
        ("xlogy(x, y)", ("x=0", "y=0")),
        ("xlogy(x, y)", ("x=0", "y=-1")),
        ("x^y", ("x=0", "y=1")),
        ("(x - y)^(y - 2)", ("x=3", "y=3")),
    ],
)
def test_what_is_true_of_a_point_alone_corrects_no_infinity(
    formula: str, point: tuple[str, str]
) -> None:
    """A rule's case for a pole or an edge has a derivative of its own, which the formula has not."""
    found = json.loads(command("hess", formula, *point, "--json").out)
    assert "corrected_hessian" not in found


def test_what_is_true_beside_the_point_too_corrects_an_infinity() -> None:
    found = json.loads(command("hess", "sqrt(x*x + y*y)", "x=1e200", "y=1e200", "--json").out)
    assert found["hessian"]["x"]["x"] == 3.5355339059327375e-201  # 1/sqrt(8)/1e200
