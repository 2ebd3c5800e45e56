"""``jac``, ``hess``, ``jvp`` and ``vjp`` of tensors: every form of an answer."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator

import golden
from exprgrad import parse
from shell import command, on_terminal, spelled

ROOT = Path(__file__).parents[2]
VALIDATOR = Draft202012Validator(
    json.loads((ROOT / "docs/reference/schema.json").read_text(encoding="utf-8"))
)
LAYER = ("y = tanh(x @ W + b)", "x=[1, -1/2]", "W=[[1, 2, 0], [2, 1, 3]]", "b=1")
LONG = ["x=broadcast([1, 2], [40, 2])"]
TABLES: dict[str, list[list[str]]] = {
    "tensor-jac": [
        ["jac", *LAYER], ["jac", *LAYER, "--wrt", "x"], ["jac", "x^2", "x=[1, 2, 3]"],
        ["jac", "h = X @ w; e = h - [1, 2]; dot(e, e)/2", "X=[[1, 2], [3, 4]]", "w=[1, 1]", "--of", "h,e"],
        ["jac", "sum(X @ X)", "X=[[1, 2], [3, 4]]"], ["jac", "outer(x, x)", "x=[1, 2]"],
        ["jac", "a*[[1, 2], [3, 4]]", "a=2"], ["jac", "[1, 2]"], ["jac", "sum(x)", "x=broadcast(1, [20])"],
        ["jac", "sin(x)", *LONG], ["jac", "y = 重み*x", "重み=2", "x=[3, 4]"],
        ["jac", "sqrt(x)", "x=[0, 1]"],
        ["jac", "sum(x^2, axis=1)", "x=broadcast(1/3, [2, 3, 4])", "--digits", "3"],
    ],
    "tensor-hess": [
        ["hess", "sum(x^3)*y", "x=[1, 2]", "y=3"], ["hess", "sum(x @ W)", "x=[1, 2]", "W=[[1, 2], [3, 4]]"],
        ["hess", "f = sum(x^1.5)", "x=[0, 1]"], ["hess", "sum([1, 2])"], ["hess", "sum(sin(x))", *LONG],
        ["hess", "f = sum(exp(X)*[1, 2])", "X=[[0, 1], [2, 3]]", "--digits", "3"],
    ],
    "tensor-products": [
        ["jvp", *LAYER, "--tangent", "x=[1, 0],W=0,b=0"],
        ["jvp", *LAYER, "--tangent", "x=1,W=1,b=1", "--of", "y"],
        ["jvp", "2*x", "x=[[1, 2], [3, 4]]", "--tangent", "x=1"],
        ["jvp", "sin(x)", *LONG, "--tangent", "x=1"],
        ["jvp", "abs(x)", "x=[0, 1]", "--tangent", "x=[0, 1]"],
        ["vjp", *LAYER, "--cotangent", "[1, 0, 0]"],
        ["vjp", *LAYER, "--cotangent", "y=[1, 2, 3]", "--wrt", "b"],
        ["vjp", "h = 2*x; sum(h)", "x=[1, 2]", "--of", "h", "--cotangent", "h=-1"],
        ["vjp", "sum(x)", "x=[1, 2]"],
        ["vjp", "sin(x)", *LONG], ["vjp", "[1, 2]"],
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_tables(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a pipe, and where a terminal is narrow."""
    pieces = []
    for argv in TABLES[name]:
        status, out, err = command(*argv)
        assert status == 0
        narrow = on_terminal(argv, 40, monkeypatch, NO_COLOR="1")
        pieces += [spelled(argv), out + err, "on 40 columns", narrow]
    golden.agree(f"matrices/{name}.txt", "\n".join(pieces))


def test_large_matrices_whole_where_that_is_asked_for() -> None:
    out = command("jac", "sin(x)", *LONG).out
    assert "6,400 numbers, norm" in out
    assert "--all shows them" in out
    whole = command("jac", "sin(x)", *LONG, "--all").out
    assert "--all" not in whole
    assert len(whole.splitlines()) == 2 + 6400 + 3 + 40  # the output, row by row
    products = command("vjp", "sin(x)", *LONG, "--all").out.splitlines()
    assert len(products) == 1 + 80 + 1 + 1 + 40 + 1
    assert products[-1].count("1") == 80


def test_quiet() -> None:
    """A line a tensor, which reads back."""
    assert command("jac", "-q", "x*y", "x=[1,2]", "y=3").out == (
        "x=[[3.0, 0.0], [0.0, 3.0]]\ny=[1.0, 2.0]\n"
    )
    assert command("jac", "-q", "h = x*y; sum(h)", "x=[1,2]", "y=3", "--of", "h").out == (
        "h x=[[3.0, 0.0], [0.0, 3.0]]\nh y=[1.0, 2.0]\n"
    )
    assert command("hess", "-q", "sum(x^2)*y", "x=[1,2]", "y=3").out == (
        "x x=[[6.0, 0.0], [0.0, 6.0]]\nx y=[2.0, 4.0]\ny x=[2.0, 4.0]\ny y=0.0\n"
    )
    assert command("jvp", "-q", "x/0", "x=[1,2]", "--tangent", "x=[1,0]").out == "[inf, 0.0]\n"
    assert command("jvp", "-q", "h = 2*x", "x=[1,2]", "--tangent", "x=1", "--of", "h").out == (
        "h=[2.0, 2.0]\n"
    )
    assert command("vjp", "-q", "x*y", "x=[1,2]", "y=3", "--cotangent", "[1,0]").out == (
        "x=[3.0, 0.0]\ny=1.0\n"
    )
    for name in ("jac", "hess", "vjp"):
        assert command(name, "-q", "sum([1, 2])") == (0, "", "")


def test_csv() -> None:
    """A line a number, with its places."""
    assert command("jac", "--csv", "h = x*y", "x=[1,2]", "y=3").out == (
        "output,output_index,input,input_index,value\n"
        "h,0,x,0,3.0\nh,0,x,1,0.0\nh,1,x,0,0.0\nh,1,x,1,3.0\nh,0,y,,1.0\nh,1,y,,2.0\n"
    )
    rows = list(csv.DictReader(io.StringIO(command("hess", "--csv", "sum(X)^2", "X=[[1,2]]").out)))
    assert list(rows[0]) == ["row", "row_index", "column", "column_index", "value"]
    assert [row["column_index"] for row in rows] == ["0 0", "0 1"] * 2
    assert command("vjp", "--csv", "x*y", "x=[1,2]", "y=3").out == (
        "name,index,value\nx,0,3.0\nx,1,3.0\ny,,3.0\n"
    )
    assert command("jvp", "--csv", "2*x", "x=[[1,2]]", "--tangent", "x=1").out == (
        "name,index,value\n2*x,0 0,2.0\n2*x,0 1,2.0\n"
    )


def document(*argv: str) -> Any:
    """A JSON document, held to the schema."""
    status, out, err = command(*argv, "--json")
    assert (status, err) == (0, "")
    found = json.loads(out)
    VALIDATOR.validate(found)
    return found


def test_json() -> None:
    found = document("jac", "h = x*y; sum(h)", "x=[1,2]", "y=3", "--of", "h")
    assert list(found) == [
        "schema", "command", "expression", "inputs", "value", "jacobian", "digits", "diagnostics",
    ]  # fmt: skip
    assert found["digits"] == {"value": {"h": 16}, "jacobian": {"h": {"x": 16, "y": 16}}}
    assert found["inputs"] == {"x": [1.0, 2.0], "y": 3.0}
    assert found["value"] == {"h": [3.0, 6.0]}
    assert found["jacobian"] == {"h": {"x": [[3.0, 0.0], [0.0, 3.0]], "y": [1.0, 2.0]}}
    found = document("jac", "1/x", "x=[0,2]")
    assert (found["value"], found["jacobian"]) == (
        ["inf", 0.5],
        {"x": [["-inf", 0.0], [0.0, -0.25]]},
    )

    found = document("hess", "sum(x^2)*y", "x=[1,2]", "y=3")
    assert (found["value"], found["gradient"]) == (15.0, {"x": [6.0, 12.0], "y": 5.0})
    assert found["hessian"] == {
        "x": {"x": [[6.0, 0.0], [0.0, 6.0]], "y": [2.0, 4.0]}, "y": {"x": [2.0, 4.0], "y": 0.0},
    }  # fmt: skip
    assert found["pattern"] == [["x", "x"], ["x", "y"], ["y", "x"]]

    found = document("jvp", "x*y", "x=[1,2]", "y=3", "--tangent", "x=1,y=0")
    assert (found["tangent"], found["jvp"]) == ({"x": [1.0, 1.0], "y": 0.0}, [3.0, 3.0])
    found = document("vjp", "h = x*y; sum(h)", "x=[1,2]", "y=3", "--of", "h")
    assert (found["cotangent"], found["vjp"]) == ({"h": [1.0, 1.0]}, {"x": [3.0, 3.0], "y": 3.0})
    for name in ("jac", "hess", "vjp", "jvp"):
        assert document(name, "sum([1, 2])")["value"] == 3.0


def test_large_inputs_are_described_and_large_answers_are_whole() -> None:
    argv = ["vjp", "sin(x)", "x=broadcast([3, 4], [501, 2])"]
    found = document(*argv)
    assert found["inputs"]["x"]["shape"] == [501, 2]
    assert np.shape(found["vjp"]["x"]) == (501, 2)
    whole = json.loads(command(argv[0], "--json", *argv[1:], "--all").out)
    assert np.shape(whole["inputs"]["x"]) == (501, 2)


def test_the_library_gives_the_same(tmp_path: Path) -> None:
    """Values, tangents and cotangents from files, and the same arrays in Python."""
    text = "h = tanh(X @ W); s = sum(h*h)"
    random = np.random.default_rng(3)
    values = {"X": random.normal(size=(3, 2)), "W": random.normal(size=(2, 4))}
    tangents = {"X": random.normal(size=(3, 2)), "W": random.normal(size=(2, 4))}
    weights: dict[str, Any] = {"h": random.normal(size=(3, 4)), "s": 0.5}
    for name, array in (
        *values.items(),
        *((f"d{k}", v) for k, v in tangents.items()),
        ("dh", weights["h"]),
    ):
        np.save(tmp_path / f"{name}.npy", array)
    f, argv = parse(text), [f"{name}=@{tmp_path}/{name}.npy" for name in values]
    assert nested(f.jacobian(values)) == document("jac", text, *argv)["jacobian"]
    assert (
        nested(f.jacobian(values, of=["h"]))
        == document("jac", text, *argv, "--of", "h")["jacobian"]
    )
    assert nested(f.hessian(values)) == document("hess", text, *argv)["hessian"]
    direction = ",".join(f"{name}=@{tmp_path}/d{name}.npy" for name in values)
    found = document("jvp", text, *argv, "--tangent", direction, "--of", "h,s")["jvp"]
    assert nested(f.jvp(values, tangent=tangents, of=["h", "s"])) == found
    found = document(
        "vjp", text, *argv, "--of", "h,s", "--cotangent", f"h=@{tmp_path}/dh.npy,s=1/2"
    )["vjp"]
    assert nested(f.vjp(values, cotangent=weights, of=["h", "s"])) == found


def nested(value: Any) -> Any:
    """Arrays as lists."""
    if isinstance(value, dict):
        return {name: nested(part) for name, part in value.items()}
    return value.tolist() if isinstance(value, np.ndarray) else value


def test_diagnostics() -> None:
    """As for numbers: what concerns the outputs that are asked about."""

    def codes(*argv: str) -> list[tuple[str, str]]:
        return [(d["code"], d["severity"]) for d in document(*argv)["diagnostics"]]

    kinks = ("y1 = abs(a); y2 = log(b); y3 = sum(a)", "a=[0, 1]", "b=[-1, 1]")
    assert codes("jac", *kinks, "--of", "y3") == []
    assert codes("jac", *kinks, "--of", "y1") == [("kink", "warning")]
    assert codes("jac", *kinks, "--of", "y1", "--wrt", "b") == []
    assert codes("jac", *kinks, "--of", "y2,y1") == [("kink", "warning"), ("nan", "warning")]
    assert codes("jac", *kinks) == [("unused", "note")] * 2
    assert codes("jvp", *kinks, "--of", "y1", "--tangent", "a=0,b=1") == []
    assert codes("jvp", *kinks, "--of", "y1", "--tangent", "a=[1,0],b=1") == [("kink", "warning")]
    weights = ["--of", "y1,y3", "--cotangent"]
    assert codes("vjp", *kinks, *weights, "y1=0,y3=1") == []
    assert codes("vjp", *kinks, *weights, "y1=1,y3=0") == [("kink", "warning")]
    assert codes("hess", "sum(x^1.5)", "x=[1, 0]") == [("infinite-hessian", "warning")]
    assert codes("hess", "sum(sqrt(x))", "x=[1, 0]") == [("infinite-gradient", "warning")]
    (found,) = document("hess", "y^2 + sum(x^1.5)", "x=[1, 0]", "y=1")["diagnostics"]
    assert found["span"] == [10, 15]
    assert found["message"] == "the second derivative with respect to x[1] is inf"
    assert command("jac", "abs(x)", "x=[0, 1]", "--strict").status == 1
    assert command("jac", "abs(x)", "x=[2, 1]", "--strict").status == 0


SCALAR = [
    ["eval", "a*b", "a=1", "b=2"], ["grad", "a*b", "a=1", "b=2", "--trace"], ["jac", "a*b", "a=1", "b=2"],
    ["hess", "a*b", "a=1", "b=2"], ["jvp", "a*b", "a=1", "b=2", "--tangent", "a=1,b=0"],
    ["vjp", "y = a*b", "a=1", "b=2", "--of", "y", "--json"], ["eval", "a", "--inputs", "a.json"],
]  # fmt: skip


def test_numbers_never_import_numpy(tmp_path: Path) -> None:
    """So that commands about numbers start as fast as they did before there were tensors."""
    (tmp_path / "a.json").write_text('{"a": "pi/2"}', encoding="utf-8")
    program = (
        "import sys\nfrom exprgrad.cli.main import main\n"
        f"assert [main(argv) for argv in {SCALAR!r}] == [0]*{len(SCALAR)}\n"
        "assert 'numpy' not in sys.modules, 'numpy was imported'\n"
        "assert main(['eval', 'x', 'x=[1,2]']) == 0 and 'numpy' in sys.modules\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


LOST = ("(1 - cos(x))/x^2", "x=[1e-7, 1]")


def test_lost_digits_are_corrected_and_said_once() -> None:
    """Of a value and its derivatives by one warning, in each of the four commands."""
    near = pytest.approx(-1e-7 / 12, rel=1e-14)
    for name, *more in (["jac"], ["jvp", "--tangent", "x=1"], ["vjp"], ["hess"]):
        formula = LOST[0] if name in ("jac", "jvp") else f"sum({LOST[0]})"
        done = command(name, "--json", "--strict", formula, LOST[1], *more)
        assert done.status == 1
        found = json.loads(done.out)
        VALIDATOR.validate(found)
        (warning,) = found["diagnostics"]
        assert warning["code"] == "lost-digits" and warning["span"][1] - warning["span"][0] == 10
        assert "corrected_value" in found
        if name == "jac":
            assert found["jacobian"]["x"][0] == [near, 0.0]
            assert found["corrected_jacobian"]["x"]["value"] == found["jacobian"]["x"]
            assert found["corrected_jacobian"]["x"]["sweep"][0][0] > 7000
            assert 6 <= found["digits"]["jacobian"]["x"] <= 16
        elif name == "hess":
            assert found["hessian"]["x"]["x"][0][0] == pytest.approx(-1 / 12)
            assert found["gradient"]["x"][0] == near
            assert set(found) > {"corrected", "corrected_hessian"}
        elif name == "jvp":
            assert found["jvp"][0] == near and "sweep" in found["corrected_jvp"]
        else:
            assert found["vjp"]["x"][0] == near and "sweep" in found["corrected_vjp"]["x"]


def test_blocks_of_a_hessian_are_mirrored() -> None:
    found = json.loads(
        command("hess", "--json", "sum((1 - cos(x))/x^2)*y", "y=2", "x=[1e-7,3]").out
    )
    assert found["hessian"]["x"]["y"] == found["hessian"]["y"]["x"]
    assert found["hessian"]["x"]["y"][0] == pytest.approx(-1e-7 / 12)
    assert found["corrected_hessian"]["x"]["y"] == found["corrected_hessian"]["y"]["x"]
    found = json.loads(
        command("hess", "--json", "sum((X @ w)^2)*(1 - cos(t))/t^2", "X=[[1,2,3],[4,5,6]]",
                "w=[1,2,1]", "t=1e-7").out
    )  # fmt: skip
    across, down = np.array(found["hessian"]["X"]["w"]), np.array(found["hessian"]["w"]["X"])
    assert across.shape == (2, 3, 3) and np.array_equal(across, np.moveaxis(down, 0, 2))


@pytest.mark.parametrize("form", ["-q", "--csv"])
def test_only_what_is_printed_is_guarded(form: str) -> None:
    """The value has lost its digits, and the derivatives have not."""
    for argv in (
        ["grad", "1e16 + x - 1e16", "x=1.5"],
        ["jac", "1e16 + x - 1e16", "x=[1.5, 0.25]"],
        ["jac", "1e16 + x - 1e16", "x=1.5"],
        ["vjp", "sum(1e16 + x) - 2e16", "x=[1.5, 0.25]"],
        ["jvp", "1e16 + x - 1e16", "x=[1.5, 0.25]", "--tangent", "x=1"],
        ["hess", "1e16 + x^2 - 1e16", "x=1.5"],
    ):
        done = command(*argv, form, "--strict")
        is_table = argv[0] == "grad" and form == "--csv"  # the nodes, the output among them
        assert (done.status, "right digit" in done.err) == (is_table, is_table), argv
        done = command(*argv, "--strict")
        assert done.status == 1 and "right digit" in done.err, argv


def test_a_large_formula_is_told_of_by_bounds() -> None:
    x = np.linspace(1e-8, 1, 4000)
    found = parse("sum((1 - cos(x))/x^2)")
    assert found.vjp(x=x)["x"].shape == (4000,)
    done = command("vjp", "--json", "sum((1 - cos(x))/x^2)", "x=broadcast(1e-7, [4000])")
    told = [one for one in json.loads(done.out)["diagnostics"] if one["code"] == "lost-digits"]
    assert "may have" in told[0]["message"] and "as far as bounds tell" in told[0]["message"]
    assert "up to 4,096 elements" in told[0]["help"]
    assert sum("4,096" in (one["help"] or "") for one in told) == 1


def test_what_would_take_too_long_is_told_of_by_bounds() -> None:
    """The formula is small enough to be written out, and its Jacobian has 40,000 numbers."""
    done = command("jac", "--json", "(1 - cos(x))/x^2*sum(x)", "x=broadcast(1e-7, [200])")
    told = json.loads(done.out)["diagnostics"]
    assert ["may have" in one["message"] for one in told] == [True, True]
    assert "the truth about 40,200 numbers would take too long" in told[0]["help"]
    assert "would take too long" not in told[1]["help"]
    done = command("jac", "-q", "(1 - cos(x))/x^2*sum(x)", "x=broadcast(1e-7, [20])")
    assert "is corrected to" in done.err


def test_a_jump_through_a_pole_is_told_of_each_output() -> None:
    """The derivatives are finite, and from the two sides of the pole lead to different places."""
    for argv, along in (
        (["vjp", "sum(sign(1/x))", "x=[0, 1]"], ["x[0]"]),
        (["jac", "sign(1/x)", "x=[0, 1, 0]"], ["x[0]", "x[2]"]),
        (["jac", "x/x^2", "x=[1, 2]"], []),
    ):
        found = json.loads(command(argv[0], "--json", *argv[1:]).out)["diagnostics"]
        told = [one["message"] for one in found if one["code"] == "jump"]
        assert [message.split(":")[0] for message in told] == [f"jump along {x}" for x in along]
