"""Known answers, and every form in which a command gives them."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf

from oracles import ulps
from shell import command
from together import together

PRODUCT = ("(a+b)*c", "a=2", "b=-3", "c=10")
NEURON = ("o = tanh(x1*w1 + x2*w2 + b); o", "x1=2", "w1=-3", "x2=0", "w2=1", "b=6.8813735870195432")


def grad(*argv: str) -> Any:
    status, out, err = command("grad", "--json", *argv)
    assert (status, err) == (0, "")
    return json.loads(out)


def test_product() -> None:
    found = grad(*PRODUCT)
    assert found["value"] == -10
    assert found["gradient"] == {"a": 10, "b": 10, "c": -1}


def test_neuron() -> None:
    """tanh's argument is 0.8813735870195432: the value is √½ to within the input's last digit."""
    found = grad(*NEURON)
    with mp.workdps(60):
        n = mpf(6.8813735870195432) - 6
        value, slope = mp.tanh(n), 1 - mp.tanh(n) ** 2
        assert ulps(found["value"], value) <= 2
        truth = {"x1": -3 * slope, "w1": 2 * slope, "x2": slope, "w2": 0 * slope, "b": slope}
        for name, true in truth.items():
            assert ulps(found["gradient"][name], true) <= 5, name
    assert f"{found['value']:.8f}" == "0.70710678"
    assert f"{found['gradient']['w1']:.12f}" == "1.000000000000"


def test_shared_node() -> None:
    found = grad("b=a+1; c=a*3; d=b*c", "a=2")
    assert found["gradient"] == {"a": 15}
    assert found["output"] == {"node": 5, "name": "d"}


def test_one_node_used_twice() -> None:
    assert grad("a*a", "a=3")["gradient"] == {"a": 6}
    assert grad("a + a", "a=3")["gradient"] == {"a": 2}


@together([
        ("-2^2", -4), ("2^3^2", 512), ("2^-1", 0.5), ("2**3", 8), ("-7 % 3", 2), ("7 % -3", -2),
        ("round(2.5)", 2), ("0^0", 1), ("1 < 2", 1), ("2 <= 1", 0), ("max(1, 3, 2)", 3),
        ("6.02E23", 6.02e23), (".5 + 2.", 2.5), ("(1 +\n 2)*3", 9), ("a = 2 # two\na^2", 4),
        ("+3", 3), ("--3", 3), ("2--3", 5), ("-(-2)^2", -4), ("1e400", float("inf")),
        ("lambda = 2; lambda*3", 6), ("sin = 2; sin*sin", 4), ("pi = 3; pi", 3),
    ])  # fmt: skip
def test_the_language_s_values(formula: str, value: float) -> None:
    status, out, _ = command("eval", "-q", "--", formula)
    assert (status, out) == (0, f"{float(value)!r}\n")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1/3", 1 / 3), ("-2*pi", -6.283185307179586), ("inf", float("inf")),
        ("-inf", float("-inf")), ("1e-3", 1e-3), ("+5", 5.0), ("2^10", 1024.0),
        ("exp(1)", 2.718281828459045), (" 7 ", 7.0), (".5", 0.5), ("5.", 5.0), ("-0.0", -0.0),
        ("1e999", float("inf")), ("0.1", 0.1), ("a = 2; a*a", 4.0),
    ],
)  # fmt: skip
def test_values_are_constant_expressions(text: str, value: float) -> None:
    assert command("eval", "-q", "x", f"x={text}")[:2] == (0, f"{value!r}\n")


def test_quiet() -> None:
    assert command("eval", "-q", *PRODUCT) == (0, "-10.0\n", "")
    assert command("grad", "-q", *PRODUCT) == (0, "a=10.0\nb=10.0\nc=-1.0\n", "")
    assert command("grad", "--quiet", *PRODUCT, "--wrt", "c,a").out == "a=10.0\nc=-1.0\n"
    assert command("grad", "-q", "2+2") == (0, "", "")
    assert command("eval", "-q", "1/3").out == "0.3333333333333333\n"


def test_csv_reads_back() -> None:
    argv = ("x = sin(a)/3; y = x*b", "a=0.1", "b=1e-300")
    rows = list(csv.DictReader(io.StringIO(command("grad", "--csv", *argv).out)))
    found = grad(*argv)
    assert list(rows[0]) == ["id", "name", "op", "operands", "text", "data", "grad"]
    for row, node in zip(rows, found["nodes"], strict=True):
        assert float(row["data"]) == node["data"]
        assert (float(row["grad"]) if row["grad"] else None) == node["grad"]
        assert (int(row["id"]), row["op"], row["text"]) == (node["id"], node["op"], node["text"])
        assert row["name"] == (node["name"] or "")
        assert [int(i) for i in row["operands"].split()] == node["operands"]


def test_csv_of_texts_with_commas() -> None:
    rows = list(csv.reader(io.StringIO(command("eval", "--csv", "max(a, b)", "a=1", "b=2").out)))
    assert [row[4] for row in rows] == ["text", "a", "b", "max(a, b)"]


def test_csv_of_the_trace() -> None:
    rows = list(csv.DictReader(io.StringIO(command("grad", "--trace", "--csv", *PRODUCT).out)))
    assert [(row["user"], row["operand"], row["contribution"]) for row in rows] == [
        ("4", "2", "10.0"), ("4", "3", "-1.0"), ("2", "0", "10.0"), ("2", "1", "10.0"),
    ]  # fmt: skip


def test_digits() -> None:
    out = command("eval", "x/3", "x=1").out
    assert "0.333333\n" in out
    assert "0.33333333333333331" in command("eval", "x/3", "x=1", "--digits", "17").out
    assert " 0.3\n" in command("eval", "x/3", "x=1", "--digits=1").out


def test_inputs_file(tmp_path: Any) -> None:
    """Values from a file; an argument goes before it."""
    file = tmp_path / "values.json"
    file.write_text('{"a": 2, "b": "-3*pi", "c": 1e1}', encoding="utf-8-sig")
    argv = ("eval", "-q", "(a+b/pi)*c", "--inputs", str(file))
    assert command(*argv).out == "-10.0\n"
    assert command(*argv, "a=13").out == "100.0\n"


def test_formula_from_a_file_or_standard_input(tmp_path: Any) -> None:
    file = tmp_path / "formula"
    file.write_bytes(b"\xef\xbb\xbfe = a + b\r\n# a comment\r\ne*c\r\n")
    assert command("grad", "-q", "-f", str(file), *PRODUCT[1:]).out == "a=10.0\nb=10.0\nc=-1.0\n"
    assert (
        command("grad", "--file", str(file), *PRODUCT[1:], "-q").out == "a=10.0\nb=10.0\nc=-1.0\n"
    )
    assert command("eval", "-q", "-", *PRODUCT[1:], stdin=b"(a+b)*c\n").out == "-10.0\n"


@pytest.mark.parametrize(
    ("argv", "value"),
    [
        (["-a*b", "a=2", "b=3"], -6), (["-f*f", "f=3"], -9), (["-q*2", "q=4"], -8),
        (["--x", "x=3"], 3), (["-x", "x=3"], -3), (["-2"], -2), (["--", "-q", "q=1"], -1),
        (["-n", "n=1"], -1), (["--", "-o", "o=1"], -1), (["-o*1", "o=1"], -1),
        (["-h+1", "h=1"], 0), (["--wrt_x", "wrt_x=2"], 2), (["-.5"], -0.5),
        (["-(a)", "a=1"], -1),
    ],
)  # fmt: skip
def test_a_formula_may_begin_with_a_minus(argv: list[str], value: float) -> None:
    assert command("grad", *argv)[0] == 0
    found = json.loads(command("eval", "--json", *argv).out)
    assert found["value"] == value
    assert found["expression"] == argv[argv[0] == "--"]


def test_names_are_compared_in_nfc() -> None:
    assert command("eval", "-q", "e\u0301 + \u00e9", "e\u0301=2").out == "4.0\n"
    assert command("grad", "-q", "\u00e9", "\u00e9=2", "--wrt", "e\u0301").out == "\u00e9=1.0\n"


def test_a_network_of_two_layers() -> None:
    """The loss and its gradients, written out by hand as the lessons do."""
    draw = np.random.default_rng(11)
    shapes = {"X": (5, 4), "W1": (4, 3), "b1": (3,), "W2": (3, 2), "b2": (2,)}
    values = {name: draw.normal(size=shape) for name, shape in shapes.items()}
    x, w1, b1, w2, b2 = values.values()
    labels = np.array([0, 1, 1, 0, 1])
    hidden = np.maximum(x @ w1 + b1, 0)
    raised = np.exp(hidden @ w2 + b2)
    shares = raised / raised.sum(axis=1, keepdims=True)
    loss = -np.log(shares[np.arange(5), labels]).mean()
    dz = (shares - np.eye(2)[labels]) / 5
    dh = (dz @ w2.T) * (hidden > 0)
    truth = {
        "X": dh @ w1.T, "W1": x.T @ dh, "b1": dh.sum(axis=0), "W2": hidden.T @ dz, "b2": dz.sum(axis=0),
        "y": np.zeros(5),
    }  # fmt: skip
    formula = "h = relu(X @ W1 + b1); cross_entropy(h @ W2 + b2, y)"
    given = {**values, "y": labels}
    found = grad(formula, *(f"{name}={value.tolist()}" for name, value in given.items()))
    assert abs(found["value"] - loss) <= 1e-14 * loss
    assert found["gradient"].keys() == truth.keys()
    for name, true in truth.items():
        gap = np.linalg.norm(np.array(found["gradient"][name]) - true)
        assert gap <= 1e-13 * np.linalg.norm(true), name


def test_quiet_lists() -> None:
    assert command("eval", "-q", "A.T", "A=[[1,2],[3,4]]").out == "[[1.0, 3.0], [2.0, 4.0]]\n"
    assert command("eval", "-q", "[nan, -inf, 1/3]").out == "[nan, -inf, 0.3333333333333333]\n"
    assert command("grad", "-q", "c*sum(x)", "x=[1,2]", "c=3").out == "c=3.0\nx=[3.0, 3.0]\n"


def test_a_correction_is_shown_however_many_kinks_there_are() -> None:
    """Nodes that meet a kink are folded first: what becomes of the gradient is never cut."""
    formula = " + ".join(f"relu(x - {n} + {n}) - relu(-x + {n} - {n})" for n in range(30))
    for form in ([], ["-q"], ["--csv"]):
        err = command("grad", formula, "x=0", *form).err
        assert "the partial derivative along x exists and is 30" in err
        assert err.endswith("\n… 41 more nodes have a kink here; --json lists them\n")
        assert err.count("warning: ") == 20
    inputs = [f"x{n}" for n in range(80)]
    many = " + ".join(f"abs({name})" for name in inputs)
    err = command("grad", many, *[f"{name}=0" for name in inputs], "-q").err
    assert "kinks and jumps are only flagged" in err and "… 61 more nodes have a kink here" in err
    jumps = " + ".join(["floor(x)"] * 21 + ["sign(x)"])
    err = command("grad", jumps, "x=0", "-q").err
    assert "jump along x" in err and err.endswith("… 3 more nodes jump here; --json lists them\n")


@pytest.mark.parametrize(
    "argv",
    [
        ["eval", *PRODUCT], ["grad", "relu(x)", "x=0"], ["grad", "--trace", *PRODUCT],
        ["grad", "--order", "preorder", *NEURON], ["grad", "--trust", *PRODUCT], ["paths", *PRODUCT],
        ["descend", "x^2", "x=1", "--max-steps", "3"], ["check", "abs(x)", "x=0"], ["jac", *PRODUCT],
        ["hess", *PRODUCT], ["jvp", "x^2", "x=1", "--tangent", "x=1"], ["vjp", "größe^2", "größe=[1,2]"],
        ["diff", "größe^2"], ["x^2", "x=3"],
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    ("ending", "flags"),
    [(".json", ["--json"]), (".csv", ["--csv"]), (".txt", []), (".TXT", ["-q"])],
)
def test_a_file_has_what_stdout_would_have(
    argv: list[str], ending: str, flags: list[str], tmp_path: Path
) -> None:
    """As UTF-8; what else there is to say is on stderr."""
    path = tmp_path / f"answer{ending}"
    told = command(*argv, *flags)
    given = flags if ending == ".TXT" else []
    status, out, err = command(*argv, *given, "-o", str(path), encoding="ascii")
    assert (status, out) == (told.status, "")
    assert path.read_bytes().decode() == told.out
    if ending != ".json":
        assert err == command(*argv, *flags, "-o", str(path), encoding="ascii").err
        assert bool(err) == bool(told.err)
    assert command(*argv, "--output", str(path), *flags).status == told.status


def test_an_answer_that_cannot_be_found_leaves_its_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "answer.json"
    path.write_text("before", encoding="utf-8")
    assert command("grad", "x^", "x=1", "-o", str(path)).status == 2
    assert command("hess", "x", "x=broadcast(1, [10000])", "-o", str(path)).status == 2
    assert path.read_text(encoding="utf-8") == "before"


def test_the_ending_says_the_language(tmp_path: Path) -> None:
    for ending, target in ((".c", "c"), (".js", "javascript"), (".JS", "javascript")):
        path = tmp_path / f"square{ending}"
        assert command("code", "x^2", "-o", str(path)) == (0, "", "")
        assert path.read_text(encoding="utf-8") == command("code", "x^2", "--to", target).out
    for name in ("square.py", "square.txt", "square"):
        path = tmp_path / name
        assert command("code", "x^2", "--to", "jax", "-o", str(path)) == (0, "", "")
        assert path.read_text(encoding="utf-8") == command("code", "x^2", "--to", "jax").out


def test_roots_as_csv_and_alone() -> None:
    line = ("solve", "x^2 = 4", "x=-5:5")
    assert command(*line, "--csv").out.splitlines() == [
        "x,proved,x.low,x.high",
        "-2.0,true,-2.0,-2.0",
        "2.0,true,2.0,2.0",
    ]
    assert command(*line, "-q").out == "x=-2.0\nx=2.0\n"
    assert "every point there is a root with x in [0, 1]" in command("solve", "x = x", "x=0:1").out


def test_a_minimum_as_csv_and_step_by_step() -> None:
    line = ("minimize", "(x - 3)^2", "x=1")
    assert command(*line, "--csv").out.splitlines() == ["input,start,value,grad", "x,1.0,3.0,0.0"]
    head, *steps = (
        row.split() for row in command(*line, "--trace").out.partition("\n\n")[0].splitlines()
    )
    assert head == ["step", "value", "‖grad‖", "‖update‖", "x"]
    assert steps[0] == ["0", "4", "4", "0", "1"]
    assert steps[-1][1:3] == ["0", "0"] and steps[-1][-1] == "3"
