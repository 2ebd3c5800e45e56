"""The command ``diff``: its lines, what scripts read, and that its answers are in the language."""

from __future__ import annotations

import json
import re
from random import Random

import pytest

import golden
from corpus import table
from exprgrad.language.read.parse import parse_text
from oracles import evaluate, gradient, mp, mpf
from shell import command, process, spelled
from together import together

SHOWN: list[list[str]] = [
    ["diff", "x^3"],
    ["diff", "(a+b)*c"],
    ["diff", "o = tanh(x1*w1 + x2*w2 + b)", "--wrt", "w1,w2"],
    ["diff", "exp(-x^2/2)/sqrt(2*pi)", "--order", "3"],
    ["diff", "x^2*sin(y)", "--order", "2"],
    ["diff", "where(x > 0, x^2, -x)"],
    ["diff", "max(x, y)", "--wrt", "x"],
    ["diff", "relu(w*x + b)"],
    ["diff", "d1 = (log(S/K) + (r + s^2/2)*T)/(s*sqrt(T)); d2 = d1 - s*sqrt(T); "
     "S*(1 + erf(d1/sqrt(2)))/2 - K*exp(-r*T)*(1 + erf(d2/sqrt(2)))/2", "--wrt", "S,s"],
    ["diff", "u = sin(x)^2 + cos(y)^2 + x*y; exp(u)/u + log(u)"],
    ["diff", "u = x^2 + 1; v = sin(u); u*v"],
    ["diff", "--csv", "x/(x^2 + 1)*y"],
    ["diff", "--steps", "x/(x^2 + 1)"],
    ["diff", "-q", "x^3"],
    ["diff", "-q", "(a+b)*c"],
    ["diff", "-q", "x^2*y", "--order", "2"],
    ["diff", "--to", "latex", "o = tanh(x_1*w_1 + beta)"],
    ["diff", "--to", "latex", "x^2*sin(y)", "--order", "2"],
    ["diff", "--to", "latex", "-q", "x/(x^2 + 1)"],
    ["diff", "--json", "x^2*y", "--order", "2"],
    ["diff", "--json", "--to", "latex", "x/2"],
]  # fmt: skip


TENSORS: list[list[str]] = [
    ["diff", "sum((X@w - y)^2)", "--shape", "X=150x4,w=4,y=150"],
    ["diff", "cross_entropy(X@W + b, y)", "--shape", "X=150x4,W=4x3,b=3,y=150", "--wrt", "W,b"],
    ["diff", "x@A@x", "--shape", "x=3,A=3x3"],
    ["diff", "mean((tanh(X@W1 + b1)@W2 + b2 - y)^2)", "--wrt", "W1",
     "--shape", "X=150x4,W1=4x8,b1=8,W2=8x1,b2=1,y=150x1"],
    ["diff", "o = c^2*norm(x)", "--shape", "x=(3,)"],
    ["diff", "exp(c*k)*sum(x)", "--shape", "x=3", "--order", "2", "--wrt", "c,k"],
    ["diff", "max(x)", "--shape", "x=3", "-q"],
    ["diff", "sum(W)", "--shape", "W=4x3", "--csv"],
    ["diff", "sum(X@w)", "--shape", "X=2x3,w=3", "--json"],
    ["diff", "sum([a, b]^2)"],
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "shown"), [("shown", SHOWN), ("tensors", TENSORS)], ids=lambda cell: str(cell)[:10]
)
def test_what_is_printed(name: str, shown: list[list[str]]) -> None:
    printed = []
    for argv in shown:
        status, out, err = command(*argv)
        assert (status, err) == (0, "")
        printed.append(f"{spelled(argv)}\n{out}")
    golden.agree(f"diff/{name}.txt", "\n".join(printed))


@pytest.mark.parametrize(
    "shape", ["X=2x3,w=3", " X = 2 x 3 , w = 3 ", "X=(2, 3),w=(3,)", "X=[2,3],w=[3]", "w=3,X=2×3"]
)
def test_how_shapes_are_written(shape: str) -> None:
    found = command("diff", "-q", "sum(X@w)", "--shape", shape)
    assert found == (0, "X=broadcast(w, shape=[2, 3])\nw=sum(X, axis=0)\n", "")


def test_tensors_in_latex() -> None:
    found = command(
        "diff", "-q", "sum((X@w)^2)", "--shape", "X=2x3,w=3", "--wrt", "w", "--to", "latex"
    )
    assert found.status == 0 and r"X^{\top}" in found.out


def test_a_note_where_a_shape_may_be_missing() -> None:
    found = command("diff", "c*sum(x^2)")
    assert (found.status, found.out) == (0, "d/dc = x^2\nd/dx = 2*c*x\n")
    note = "note: x counts as a number; for a tensor give its shape: --shape x=150x4\n"
    assert found.err == note
    assert command("code", "c*sum(x^2)", "--to", "numpy").err == note
    assert command("diff", "c*sum(x^2)", "--shape", "x=()").err == ""


def test_a_formula_without_inputs() -> None:
    note = "note: the formula has no inputs to differentiate with respect to\n"
    assert command("diff", "2 + 2") == (0, "", note)


def test_the_contract_s_example() -> None:
    found = json.loads(command("diff", "(a+b)*c", "--json").out)
    assert found["derivatives"] == {"a": "c", "b": "c", "c": "a + b"}
    found = json.loads(command("diff", "a^3", "--json", "--order", "2").out)
    assert found["derivatives"] == {"a": {"a": "6*a"}}


def test_mixed_derivatives_are_found_in_any_order() -> None:
    found = json.loads(command("diff", "x^2*y^3*z", "--json", "--order", "3").out)["derivatives"]
    assert found["x"]["y"]["z"] == found["z"]["y"]["x"] == found["y"]["z"]["x"] == "6*x*y^2"


def whole(text: str) -> bool:
    """Whether a formula has no decimals, which simplification and differences take for two things."""
    return all(not isinstance(p, float) or p.is_integer() for p in parse_text(text).payloads)


WHOLE = [text for _, text in table("corpus.txt") if whole(text)]


@together(WHOLE[::4], every=3)
def test_answers_are_read_back(text: str) -> None:
    """Each derivative is read as it was printed, and is the difference quotient to 20 digits."""
    random = Random(text)
    graph = parse_text(text)
    inputs = {name: random.uniform(0.2, 1.8) for name in graph.inputs}
    derivatives = json.loads(command("diff", "--json", text).out)["derivatives"]
    assert list(derivatives) == list(graph.inputs)
    true = gradient(graph, inputs)
    for name, formula in derivatives.items():
        read = parse_text(formula)
        given = {used: inputs[used] for used in read.inputs}
        arguments = [f"{used}={value!r}" for used, value in given.items()]
        assert command("eval", "-q", formula, *arguments).status == 0
        with mp.workdps(60):
            found = evaluate(read, given)[read.output]
            if mp.isfinite(true[name]):
                assert abs(found - true[name]) <= mpf(10) ** -20 * max(1, abs(true[name])), name


def test_a_formula_from_a_file_and_from_a_pipe(tmp_path: object) -> None:
    assert command("diff", "-", "-q", stdin=b"x^2").out == "2*x\n"


def test_no_letter_is_lost() -> None:
    """A formula with a letter less is another formula: an error, where the stream cannot hold it."""
    found = process("diff", "-q", "x*θ", "--wrt", "x", env={"PYTHONIOENCODING": "ascii"})
    assert (found.status, found.out) == (2, "")
    assert "U+03B8" in found.err and "--json" in found.err
    found = process("code", "θ^2", "--to", "javascript", env={"PYTHONIOENCODING": "ascii"})
    assert (found.status, found.out) == (2, "")


def test_a_deep_formula() -> None:
    depth = 20_000
    status, out, _ = command("diff", "-q", "(" * depth + "x^2" + ")" * depth)
    assert (status, out) == (0, "2*x\n")
    chain = "sin(" * 1_200 + "x" + ")" * 1_200
    status, out, _ = command("diff", "-q", chain)
    assert status == 0 and "t1 = " in out


def test_a_long_sum_and_a_long_product() -> None:
    names = [f"x{i}" for i in range(1_500)]
    status, out, _ = command("diff", "-q", "+".join(names), "--wrt", "x7")
    assert (status, out) == (0, "1\n")
    status, out, _ = command("diff", "-q", "*".join(names), "--wrt", "x7")
    assert (status, out) == (0, "*".join(name for name in names if name != "x7") + "\n")


def test_a_long_formula_is_announced() -> None:
    """In the form that people read, before it is printed, unless it goes into a file."""
    formula = "x^x*sin(x)"
    status, out, err = command("diff", formula, "--order", "20")
    size = len("; ".join(line.strip() for line in out.splitlines()[1:]))
    assert status == 0
    assert size > 4000
    assert err == (
        f"note: d^20/dx^20 has {size:,} characters\n"
        "  help: -o FILE.txt writes it to a file; a lower --order is shorter\n"
    )
    assert command("diff", "-q", formula, "--order", "20")[2] == ""
    assert command("diff", formula, "--order", "3")[2] == ""


@pytest.mark.parametrize(
    ("text", "derivative"),
    [
        ("9007199254740993*x", "9007199254740993"),
        ("x^9007199254740993", "9007199254740993*x^(9007199254740993 - 1)"),
        ("x/9007199254740993", "1/9007199254740993"),
        ("9007199254740992*x", "9007199254740992"),
    ],
)
def test_whole_numbers_beyond_the_doubles_keep_their_digits(text: str, derivative: str) -> None:
    """In ``diff`` literals are the decimals that were typed."""
    assert command("diff", "-q", text).out.strip() == derivative
    found = json.loads(command("diff", "--json", text).out)["derivatives"]["x"]
    assert set(re.findall(r"\d{16,}", found)) == set(re.findall(r"\d{16,}", text))
