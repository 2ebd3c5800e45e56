"""Paths and visit orders as people read them: golden files, and numbers that must add up."""

from __future__ import annotations

import re

import pytest

import golden
from exprgrad import parse
from exprgrad.show.documents.document import integer_text
from exprgrad.show.text.walks import count_words
from shell import command, on_terminal, spelled

NEURON = ["o = tanh(x1*w1 + x2*w2 + b)", "x1=2", "w1=-3", "x2=0", "w2=1", "b=6.8813735870195432"]
TWICE = ["t=a*b; y=t+t*a", "a=2", "b=-3"]
DIAMOND = ["b=a+1; c=a*3; d=b*c", "a=2"]
CHAIN = "; ".join(["t0 = x*1", *(f"t{i + 1} = t{i}/3 + t{i}*0.7" for i in range(200))])
SHORT = "; ".join(CHAIN.split("; ")[:5])
UNNAMED = ["sin(x*y + 1)*(x*y + 1)^2 + z", "x=1", "y=0.5", "z=3"]

PATHS = {
    "diamond": DIAMOND,
    "neuron": NEURON,
    "rest": [*TWICE, "-k", "1"],
    "counts": [*TWICE, "-k", "0"],
    "chain": [CHAIN, "x=0.3", "-k", "3"],
    "unnamed": UNNAMED,
    "none": ["t = x; where(y > 0, y, x)", "x=1", "y=2"],
    "kink": ["relu(x) - relu(-x)", "x=0"],
    "infinite": ["sqrt(x)*y + x", "x=0", "y=2"],
    "constant": ["2+2"],
    "wrt": [*NEURON, "--wrt", "w1", "--digits", "3"],
}
ORDERS = {
    "diamond": [*DIAMOND, "--order", "d,b,a,c"],
    "preorder": [*TWICE, "--order", "preorder"],
    "bfs": [*TWICE, "--order", "bfs"],
    "naive": [*TWICE, "--order", "naive"],
    "set": [*TWICE, "--accumulate", "set"],
    "naive-set": [*TWICE, "--order", "naive", "--accumulate", "set"],
    "right": [*TWICE, "--order", "y,3,t,b,a"],
    "unvisited": [*TWICE, "--order", "y,t"],
    "unnamed": [*UNNAMED, "--order", "preorder"],
    "chain": [CHAIN, "x=0.3", "--accumulate", "set"],
    "short": [SHORT, "x=0.3", "--order", "preorder"],
    "traced": [*DIAMOND, "--order", "d,b,a,c", "--trace"],
    "traced-set": [*TWICE, "--accumulate", "set", "--trace"],
    "traced-naive": [*TWICE, "--order", "naive", "--trace"],
    "traced-left-out": ["where(a > 0, a*b, b^2)", "a=2", "b=3", "--order", "7,6,5,a", "--trace"],
    "wrt": [*TWICE, "--wrt", "b", "--order", "y,a,t", "--trace"],
    "constant": ["2+2", "--order", "preorder"],
}


@pytest.mark.parametrize("name", PATHS)
def test_paths(name: str) -> None:
    argv = ["paths", *PATHS[name]]
    status, out, _ = command(*argv)
    assert status == 0
    golden.agree(f"paths/{name}.txt", f"{spelled(argv)}\n{out}")


@pytest.mark.parametrize("name", ORDERS)
def test_orders(name: str) -> None:
    argv = ["grad", *ORDERS[name]]
    status, out, _ = command(*argv)
    assert status == 0
    golden.agree(f"orders/{name}.txt", f"{spelled(argv)}\n{out}")


@pytest.mark.parametrize("columns", [80, 40])
def test_on_a_terminal(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    requests = [["paths", *UNNAMED], ["grad", *TWICE, "--accumulate", "set", "--trace"]]
    shown = ""
    for argv in requests:
        out = on_terminal(argv, columns, monkeypatch, NO_COLOR="1")
        assert max(map(len, out.splitlines())) <= columns
        shown += f"{spelled(argv)}\n{out}"
    golden.agree(f"orders/terminal-{columns}.txt", shown)


def test_products_are_coloured(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = command("paths", *DIAMOND).out
    colored = command("paths", *DIAMOND, "--color", "always").out
    assert "\x1b[33m9\x1b[0m" in colored
    assert re.sub("\x1b\\[[0-9]+m", "", colored) == plain
    assert on_terminal(["paths", *DIAMOND], 80, monkeypatch, TERM="xterm") == colored


def test_many_inputs_are_cut() -> None:
    text = "*".join(f"x{i}" for i in range(100))
    values = [f"x{i}=1" for i in range(100)]
    for argv in (["paths", "-k", "1"], ["grad", "--order", "preorder"]):
        out = command(argv[0], text, *values, *argv[1:]).out
        assert "… 60 inputs left out; --all shows them" in out
        assert not re.search(r"^x50\b", out, re.MULTILINE)
        whole = command(argv[0], text, *values, *argv[1:], "--all").out
        assert "left out" not in whole and re.search(r"^x50\b", whole, re.MULTILINE)


def test_a_long_path_is_cut() -> None:
    argv = ["paths", CHAIN, "x=1", "-k", "1"]
    assert "t199*0.7 → t199 → … 396 more … → t0*0.7 → t0 → x" in command(*argv).out
    assert "… " not in command(*argv, "--all").out.splitlines()[1]


def test_many_visits_are_cut() -> None:
    argv = ["grad", "; ".join(CHAIN.split("; ")[:31]), "x=1", "--order", "preorder"]
    assert re.search("more …", command(*argv).out)
    traced = command(*argv, "--trace").out
    assert re.search("… [0-9,]+ visits left out; --all shows them", traced)
    assert "visits left out" not in command(*argv, "--trace", "--all").out


def test_user_text_is_text() -> None:
    """Names cannot hold a terminal's commands, and wide ones are aligned by cells."""
    out = command("paths", "重み*入力*重み", "重み=2", "入力=3").out
    assert out.splitlines()[0] == "重み: 2 paths, gradient 12"


def test_counts_in_words() -> None:
    assert count_words(1) == "1 path"
    assert count_words(1234567) == "1,234,567 paths"
    assert count_words(2**200).startswith("1,606,938,044,")
    assert count_words(2**100_000) == "9.99002e+30102 paths"
    assert count_words(0, "other") == "0 others"
    assert integer_text(10**6000 + 7) == "1" + "0" * 5999 + "7"


def test_the_library_and_the_command_agree() -> None:
    run = parse(TWICE[0]).gradient(a=2, b=-3)
    assert command("grad", *TWICE, "--order", "naive", "-q").out == "".join(
        f"{name}={value!r}\n" for name, value in run.visited("naive").got.items()
    )


def test_paths_with_the_same_nodes_are_told_apart() -> None:
    out = command("paths", "x*x + x*2", "x=3").out
    assert "→ x*x → x (operand 1)  = 1 × 3" in out and "→ x (operand 2)  = 1 × 3" in out
    assert "→ x*2 → x              = 1 × 2" in out
    out = command("grad", "x*x", "x=3", "--accumulate", "set").out
    assert "x*x → x  overwritten at x by x*x\n" in out


def test_what_the_right_order_gets_where_the_gradient_is_corrected() -> None:
    out = command("grad", "relu(x) - relu(-x)", "x=0", "--order", "preorder").out
    assert "true grads" not in out
    assert "\ngradient corrected: x = 1, where the sweep has 0\n" in out
