"""The formula as a heat map: golden files that were looked at, and who owns which character."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings

import golden
from exprgrad import RequestError, parse
from exprgrad.language.read.parse import parse_text as graph_of
from exprgrad.show.text.grad_map import NONE, character_owners, grad_level
from exprgrad.source import display_width
from shell import command, on_terminal, spelled
from strategies import programs

LESSON = ["e = a*b; d = e + c; L = d*f", "a=2", "b=-3", "c=10", "f=-2"]
NEURON = [
    "n = x1*w1 + x2*w2 + b\no = tanh(n)",
    "x1=2",
    "w1=-3",
    "x2=0",
    "w2=1",
    "b=6.8813735870195432",
]
MANY = "+".join(f"x{i}*{i}" for i in range(40))

MAPS = {
    "lesson": LESSON,
    "neuron": NEURON,
    "trace": [*LESSON, "--trace"],
    "lines": [
        "# a loss\r\nt = a  # the same\n\n\ty = where(t > 0,\n\t\tsin(a)*b, 2)\ny^2 + exp(b)",
        "a=2", "b=3",
    ],
    "wide": ["重み*入力 + é*x", "重み=2", "入力=3", "é=4", "x=1"],
    "right-to-left": ["שלום*אב + x", "שלום=1", "אב=4", "x=1"],
    "infinite": ["log(x) + 0*y/0 + z", "x=0", "y=1", "z=2"],
    "long": [MANY, *(f"x{i}=1" for i in range(40))],
    "cut": ["+".join(["x*y"] * 500), "x=1", "y=2"],
    "wrt": [*NEURON, "--wrt", "w1,w2"],
    "expanded": ["tanh(x) - y", "x=1", "y=2", "--expand", "tanh"],
    "constant": ["2 + 2"],
    "zero": ["x*0*y", "x=1", "y=0"],
    "tensors": ["L = sum(relu(X @ w - y)^2)", "X=[[1,2],[3,4]]", "w=[1,-1]", "y=[-2,5]"],
}  # fmt: skip


@pytest.mark.parametrize("name", MAPS)
def test_maps(name: str) -> None:
    argv = ["grad", "--heatmap", *MAPS[name], "--digits", "4"]
    status, out, _ = command(*argv)
    assert status == 0
    above = re.split(r"\n\n(?= *#|seed)", out)[0]
    golden.agree(f"heat/{name}.txt", f"{spelled(argv)}\n{above}\n")


@pytest.mark.parametrize("columns", [80, 40])
def test_on_a_terminal(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = ""
    for argv in (["grad", *LESSON], ["grad", *MAPS["long"]]):
        out = on_terminal(argv, columns, monkeypatch, NO_COLOR="1").partition("\n\n")[0]
        assert max(map(display_width, out.splitlines())) <= columns
        shown += f"{spelled(argv)}\n{out}\n"
    golden.agree(f"heat/terminal-{columns}.txt", shown)


def test_colour_takes_the_place_of_marks(monkeypatch: pytest.MonkeyPatch) -> None:
    out = on_terminal(["grad", *LESSON], 80, monkeypatch, TERM="xterm")
    mapped, scale = out.splitlines()[:2]
    assert re.sub("\x1b\\[[0-9;]*m", "", mapped) == LESSON[0]
    assert "\x1b[1;37;41ma\x1b[0m\x1b[33m*\x1b[0m\x1b[30;43mb\x1b[0m" in mapped
    assert re.sub("\x1b\\[[0-9;]*m", "", scale) == "|grad|  to 1.5  to 3  to 4.5  to 6"
    assert command("grad", *LESSON, "--heatmap", "--color", "always").out.splitlines()[0] == mapped


def test_where_it_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a table on a terminal, and where it is asked for."""
    asked = command("grad", *LESSON, "--heatmap").out
    assert asked.endswith("\n\n" + command("grad", *LESSON).out)
    assert "|grad|" in on_terminal(["grad", *LESSON], 80, monkeypatch)
    for more in (["--trace"], ["--json"], ["--csv"], ["-q"], ["--order", "preorder"]):
        assert "|grad|" not in on_terminal(["grad", *LESSON, *more], 80, monkeypatch)
    assert "|grad|" in on_terminal(["grad", *LESSON, "--trace", "--heatmap"], 80, monkeypatch)
    assert "|grad|" not in on_terminal(["eval", *LESSON], 80, monkeypatch)


@pytest.mark.parametrize("more", [["--json"], ["--csv"], ["-q"], ["--trust"]])
def test_it_excludes_what_has_no_room(more: list[str]) -> None:
    status, out, err = command("grad", *LESSON, "--heatmap", *more)
    assert status == 2
    assert "--heatmap and --" in out + err and "cannot be combined" in out + err


@pytest.mark.parametrize("more", [["--order", "preorder"], ["--accumulate", "set"]])
def test_it_speaks_of_the_right_order(more: list[str]) -> None:
    status, _, err = command("grad", *LESSON, "--heatmap", *more)
    assert status == 2 and err.startswith("error: --heatmap applies only to the right order")


def test_the_library_and_the_command_agree() -> None:
    run = parse(LESSON[0]).gradient(a=2, b=-3, c=10, f=-2)
    assert command("grad", *LESSON, "--heatmap").out.startswith(run.map() + "\n\n")
    assert run.map(width=10).splitlines()[0] == "e = a*b; d"
    with pytest.raises(RequestError, match="has grads"):
        parse("a").evaluate(a=1).map()


@pytest.mark.parametrize(
    ("size", "found"),
    [(None, NONE), (0, 0), (5e-324, 1), (1, 1), (1.01, 2), (2, 2), (2.01, 3), (3, 3), (3.01, 4), (4, 4),
     (float("inf"), 5), (float("nan"), 5)],
)  # fmt: skip
def test_levels(size: float | None, found: int) -> None:
    assert grad_level(size, 4.0) == found


def test_extreme_sizes() -> None:
    run = parse("x*1e308*1.7 + y*1e-320").gradient(x=1, y=1)
    marks = run.map().splitlines()[1]
    assert marks[0] == "▇" and marks[14] == "▁"


@settings(derandomize=True, max_examples=60)
@given(programs())
def test_the_innermost_node_owns_a_character(text: str) -> None:
    graph = graph_of(text)
    claims = [(graph.span(graph.output), graph.output)]
    claims += [(graph.occurrence(user, position), node) for user, position, node in graph.edges()]
    for binding in graph.bindings:
        claims += [(binding.span, binding.node), (graph.span(binding.node), binding.node)]
    for at, owner in enumerate(character_owners(graph, text, len(text))):
        found = [(stop - start, node) for (start, stop), node in claims if start <= at < stop]
        if found:
            assert (min(found)[0], owner) in found, (text, at)
        elif owner >= 0:
            assert text[at].isidentifier() or text[at].isdecimal()


def test_another_name_for_a_node() -> None:
    text = "t = é*2; u = t  # t\nsin = é; u + sin(sin)"
    graph = graph_of(text)
    found = character_owners(graph, text, len(text))
    kinds = ["" if node < 0 else graph.kinds[node] for node in found]
    assert kinds[:14] == [
        "mul",
        "",
        "",
        "",
        "input",
        "mul",
        "const",
        "",
        "",
        "mul",
        "",
        "",
        "",
        "mul",
    ]
    assert kinds[14:29] == [""] * 6 + ["input"] * 3 + [""] * 3 + ["input"] + [""] * 2
    assert kinds[29:] == ["mul", *["add"] * 3, *["sin"] * 4, *["input"] * 3, "sin"]


@pytest.mark.parametrize("columns", [7, 20, 33])
def test_rows_fit_and_lose_nothing(columns: int) -> None:
    run = parse(MANY + " + 重み*重み").gradient({**{f"x{i}": 1 for i in range(40)}, "重み": 2})
    lines = run.map(width=columns, all=True).splitlines()
    rows = [line for line in lines if re.search("[x重*+]", line)]
    assert "".join(rows).replace(" ", "") == run.text.replace(" ", "")
    assert all(display_width(row) <= columns for row in rows)


@pytest.mark.parametrize("top", [1.0, 2.0, 0.97, 1.04, 9.96, 1e-300])
@pytest.mark.parametrize("digits", [1, 2, 17])
def test_the_legend_tells_quarters_apart(top: float, digits: int) -> None:
    said = parse("a*x").gradient(a=top, x=0).map(digits=digits).splitlines()[-1]
    numbers = [float(found) for found in re.findall("to ([^ ]+)", said)]
    assert len(numbers) == 4 and numbers == sorted(set(numbers))


def test_a_terminal_of_two_columns() -> None:
    assert "重" in parse("x + 重").gradient({"x": 1, "重": 1}).map(width=1)


def test_depth_costs_no_more_than_length() -> None:
    depth = 5_000
    run = parse("-(" * depth + "x" + ")" * depth).gradient(x=1)
    assert len(run.map().splitlines()) < 50
    assert len(run.map(all=True)) > 6 * depth
