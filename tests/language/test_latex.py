"""LaTeX: what is held was looked at in print; the rest is that it is sound and reads in one way."""

from __future__ import annotations

import itertools
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import exprgrad
from exprgrad.graph.graph import CONST, INPUT, Graph, Settings
from exprgrad.graph.ops import BY_NAME, OPS
from exprgrad.graph.tensors import STRUCTURAL
from exprgrad.language.read.parse import parse_text
from exprgrad.language.write.latex import (
    graph_latex,
    latex_expression,
    latex_symbol,
    lay_out_formula,
    node_latex,
    symbols_of_names,
)
from golden import agree
from latex_formulas import listed
from strategies import programs

steady = settings(derandomize=True)

NAMES = """
x X x1 w12 x01 x_1 x1_2 x_max v_x x_max_2 v_rel_x rate rate2 learning_rate h2o a1b N E3 x_a1 _ __ _x x_ a__b
alpha Gamma Alpha epsilon omicron lambda theta_1 theta1 sigma_x x_alpha varphi phi pi tau inf sin log2 ell
α Ω β2 ϵ π µ αβ Δx δt Δx_max Δrate ΔΔ naïve é 变量 変_数
"""


def tokens(text: str) -> tuple[str, ...]:
    """What is seen in print: spaces and the sizes of parentheses make no difference."""
    found = re.findall(r"\\[A-Za-z]+|\\.|\d+|\S", text)
    return tuple(token for token in found if token not in (r"\,", r"\left", r"\right"))


ALIGNED = {r"\end{cases}", r"\end{aligned}", r"\end{pmatrix}"}


def complaint(text: str) -> str:
    """What is wrong with a text's braces, parentheses, environments and special characters."""
    closing = {"{": "}", r"\left": r"\right", "(": ")", "[": "]"}
    stack: list[str] = []
    found = re.findall(r"\\(?:begin|end)\{\w+\}|\\[A-Za-z]+|\\.|.", text, re.DOTALL)
    for before, token in zip(["", *found], found, strict=False):
        if before in (r"\left", r"\right"):
            continue
        if token.startswith(r"\begin"):
            stack.append(token.replace("begin", "end"))
        elif token in closing:
            stack.append(closing[token])
        elif token in closing.values() or token.startswith(r"\end"):
            if not stack or stack.pop() != token:
                return f"{token} closes nothing"
        elif token in ("#", "%", "$", "~", '"', "'"):
            return f"{token} is not escaped"
        elif token == "&" and not ALIGNED & set(stack):
            return "& is outside of an environment"
    return f"{stack} are left open" if stack else ""


def test_the_formulas_are_as_they_were_looked_at() -> None:
    agree(
        "latex/formulas.txt",
        "\n".join(f"{text}\n{graph_latex(parse_text(text))}\n" for text in listed()),
    )


def test_the_names_are_as_they_were_looked_at() -> None:
    agree("latex/names.txt", "".join(f"{name}  {latex_symbol(name)}\n" for name in NAMES.split()))


@settings(steady, max_examples=100)
@given(programs())
def test_every_formula_is_sound(text: str) -> None:
    graph = parse_text(text)
    written = graph_latex(graph)
    assert not complaint(written), written
    assert written == graph_latex(parse_text(text))
    unset = re.sub(r"\\text\w*\{[^}]*\}", "", written)
    assert unset.isascii()


letters = st.characters(categories=("L", "N", "Mn", "Pc"))


@settings(steady, max_examples=100)
@given(st.text(letters, min_size=1, max_size=8).filter(str.isidentifier))
@example("_" * 5)
@example("Δ" * 9)
def test_no_name_breaks_out(name: str) -> None:
    written = latex_symbol(name)
    assert not complaint(written), written
    assert not complaint(f"{written}^{{2}}")
    assert re.sub(r"\\text\w*\{[^}]*\}", "", written).isascii()
    assert not re.search(r"(?<!\\)_[^{]", written), written


def test_names_stay_apart() -> None:
    graph = parse_text("x1 + x_1 + alpha + α + e + σ + _x*exp(pi)*sigmoid(ψ)")
    called = symbols_of_names(graph)
    assert len(set(called.values())) == len(called)
    assert called["x1"] == "x_{1}"
    assert called["x_1"] == r"\mathtt{x\_1}"
    assert called["e"] == r"\mathtt{e}"
    assert called["σ"] == r"\mathtt{{\sigma}}"
    assert called["ψ"] == r"\psi"
    assert symbols_of_names(parse_text("d = a*b; e = d + c"))["e"] == "e"


def test_a_formula_names_what_is_named() -> None:
    graph = parse_text("t = a + b; sin(t)/2 + t")
    assert node_latex(graph, graph.output) == r"\frac{\sin t}{2} + t"
    assert node_latex(graph, graph.bindings[0].node) == "t"
    assert node_latex(graph, graph.inputs["a"]) == "a"


@pytest.mark.parametrize(
    ("value", "place", "written"),
    [
        (-2.0, "x + c", "x - 2"),
        (-2.0, "x - c", "x - (-2)"),
        (-2.0, "x*c", r"x \cdot (-2)"),
        (-2.0, "c*x", "-2 x"),
        (-2.0, "c^x", "(-2)^{x}"),
        (-2.0, "x^c", "x^{-2}"),
        (-2.0, "c/x", r"-\frac{2}{x}"),
        (-2.0, "exp(c/x)", "e^{-2/x}"),
        (-2.0, "sin(c)", r"\sin(-2)"),
        (-2.0, "-c", "-(-2)"),
        (-1e30, "x*c", r"x \cdot (-10^{30})"),
        (1e30, "x/exp(x/c)", r"\frac{x}{e^{x/10^{30}}}"),
        (2e30, "exp(x/c)", r"e^{x/(2 \cdot 10^{30})}"),
        (float("-inf"), "x + c", r"x - \infty"),
        (-0.0, "x*c", r"x \cdot (-0)"),
    ],
)
def test_constants_of_derived_graphs(value: float, place: str, written: str) -> None:
    graph = parse_text(place)
    node = graph.inputs.pop("c")
    graph.kinds[node], graph.payloads[node] = CONST, value
    assert graph_latex(graph) == written


@pytest.mark.parametrize(
    ("opening", "closing"),
    [
        ("sin(", ")"), ("(", "+1)"), ("-(", ")"), ("1/(", "+1)"), ("x^(", ")"), ("(", ")^2"),
        ("x*(", ")"), ("(", "*x)"), ("(", "/2)"), ("where(x < 0, 1, ", ")"), ("max(1, ", ")"),
        ("max(x", ", x)"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("depth", [1_500, pytest.param(20_000, marks=pytest.mark.slow)])
def test_depth_does_not_recurse(opening: str, closing: str, depth: int) -> None:
    text = opening + ", x" * depth + ")" if closing == ", x)" else ""
    written = graph_latex(parse_text(text or opening * depth + "x" + closing * depth))
    assert len(written) < 100 * depth
    assert written.count("{") == written.count("}")


# Different expressions look different.

Tree = str | tuple["Tree", ...]
TABLE = tuple(op.name for op in OPS)
CHOSEN = ("add", "sub", "mul", "div", "pow", "neg", "sin", "exp")


def trees(size: int, kinds: tuple[str, ...], leaves: tuple[str, ...]) -> list[Tree]:
    """All expressions of so many operations."""

    @cache
    def of(count: int) -> tuple[Tree, ...]:
        return tuple(made(count)) if count else leaves

    def made(count: int) -> Iterator[Tree]:
        for kind in kinds:
            arity = 2 if BY_NAME[kind].variadic else len(BY_NAME[kind].names)
            for shares in itertools.product(range(count), repeat=arity):
                if sum(shares) == count - 1:
                    for operands in itertools.product(*map(of, shares)):
                        yield (kind, *operands)

    return [tree for count in range(size + 1) for tree in of(count)]


def written_all(all_trees: list[Tree]) -> dict[Tree, str]:
    """Each tree in LaTeX; they share one graph, so that it is looked at once."""
    graph, nodes = Graph(), dict[Tree, int]()
    for tree in all_trees:
        if isinstance(tree, str):
            number = tree.isdecimal()
            payload = float(tree) if number else tree
            nodes[tree] = graph.append(CONST if number else INPUT, (), payload, (0, 0))
            if not number:
                graph.inputs[tree] = nodes[tree]
        else:
            operands = tuple(nodes[operand] for operand in tree[1:])
            nodes[tree] = graph.append(
                str(tree[0]), operands, None, (0, 0), ((0, 0),) * len(operands)
            )
    graph.output = len(graph) - 1
    shown = lay_out_formula(graph, symbols_of_names(graph))
    return {tree: latex_expression(shown, node, 0) for tree, node in nodes.items()}


def meant(tree: Tree) -> Tree:
    """The expression up to what may share a spelling: moved signs, and rows that are definitions."""
    if isinstance(tree, str):
        return tree
    kind, *operands = (meant(part) for part in tree)
    first, last = operands[0], operands[-1]
    if kind in ("mul", "div") and first[0] == "neg":
        return "neg", (kind, first[1], last)
    if kind == "add" and last[0] == "neg":
        return "sub", first, last[1]
    if kind == "exp2":
        return "pow", "2", first
    if kind == "logaddexp":
        return "log", ("add", ("exp", first), ("exp", last))
    if kind == "expm1":
        return "sub", ("exp", first), "1"
    if kind == "log1p":
        return ("log", ("sub", "1", first[1]) if first[0] == "neg" else ("add", "1", first))
    return (kind, *operands)


@pytest.mark.parametrize(
    ("size", "kinds", "leaves", "least"),
    [
        (2, TABLE, ("x", "2"), 10_000),
        pytest.param(2, TABLE, ("x", "1", "2"), 30_000, marks=pytest.mark.slow),
        pytest.param(3, CHOSEN, ("x", "y", "2"), 30_000, marks=pytest.mark.slow),
    ],
    ids=["the table", "the table, two numbers", "three operations"],
)
def test_what_differs_looks_different(
    size: int, kinds: tuple[str, ...], leaves: tuple[str, ...], least: int
) -> None:
    written = written_all(trees(size, kinds, leaves))
    assert len(written) > least
    seen: dict[tuple[str, ...], Tree] = {}
    for tree, text in written.items():
        other = seen.setdefault(tokens(text), tree)
        assert meant(other) == meant(tree), text


STRUCTURAL_SORTS: dict[tuple[str, Settings | None], int] = {
    ("matmul", ()): 2, ("dot", ()): 2, ("outer", ()): 2, ("mul", None): 2, ("add", None): 2,
    ("stack", (0,)): 2, ("transpose", (None,)): 1, ("index", ((1,),)): 1, ("index", ((0, 1),)): 1,
    ("sum", (None, False)): 1, ("sum", (0, False)): 1, ("sum", (0, True)): 1, ("norm", (None, False)): 1,
    ("sin", None): 1, ("softmax", (-1,)): 1,
}  # fmt: skip


def test_what_differs_in_tensors_looks_different() -> None:
    graph = Graph()
    names = ("x", "x1", "y")
    for name in names:
        graph.inputs[name] = graph.append(INPUT, (), name, (0, 0))
    small = list(range(len(names)))
    numbers: set[int] = set()  # products of these with vectors and matrices are not formulas
    for size in (1, 2):
        for (kind, chosen), arity in STRUCTURAL_SORTS.items():
            for operands in itertools.product(small, repeat=arity):
                if size == 2 and operands[0] < len(names):
                    continue
                if kind in STRUCTURAL and numbers.intersection(operands):
                    continue
                node = graph.append(kind, operands, chosen, (0, 0), ((0, 0),) * arity)
                if kind == "dot" or chosen == (None, False):
                    numbers.add(node)
        small = [0, 1, *range(len(names), len(graph), 5)]
    graph.output = len(graph) - 1
    shown = lay_out_formula(graph, symbols_of_names(graph))
    seen: dict[tuple[str, ...], int] = {}
    for node in range(len(graph)):
        text = latex_expression(shown, node, 0)
        assert not complaint(text), text
        assert seen.setdefault(tokens(text), node) == node, text


def test_shapes_tell_numbers_from_tensors() -> None:
    """A number times a tensor needs no sign, and broadcasting leaves no trace."""
    formula = exprgrad.parse("c*(X@w) + b", shapes={"X": (3, 2), "w": (2,)})
    assert formula.latex() == r"c \cdot (X \, w) + b"
    assert exprgrad.parse("c*(X@w) + b").latex() == r"c \odot (X \, w) + b"


def test_a_wide_matrix_is_a_list_of_lists() -> None:
    row = ", ".join("1" * 11)
    assert graph_latex(parse_text(f"[[{row}], [{row}]]@x")).startswith("[[1, 1, ")


# In print.


def typeset(folder: Path, formulas: list[str]) -> str:
    """Set formulas with pdfLaTeX and return its log, or skip where there is none."""
    program = shutil.which("pdflatex")
    if program is None:
        reason = "pdflatex is not installed"
        if os.environ.get("EXPRGRAD_LATEX") == "require":
            pytest.fail(reason)
        pytest.skip(reason)
    body = "\n".join(rf"\[ {text} \]" for text in formulas)
    preamble = r"\documentclass{article}\usepackage{amsmath}\setlength{\textwidth}{20cm}"
    document = f"{preamble}\n\\begin{{document}}\n{body}\n\\end{{document}}\n"
    (folder / "formulas.tex").write_text(document, encoding="utf-8")
    command = [
        program,
        "-halt-on-error",
        "-interaction=nonstopmode",
        "-no-shell-escape",
        "formulas",
    ]
    done = subprocess.run(command, cwd=folder, capture_output=True, timeout=120, check=False)
    log = (folder / "formulas.log").read_text(encoding="utf-8", errors="replace")
    assert done.returncode == 0, log[-3000:]
    return log


def test_pdflatex_sets_every_formula(tmp_path: Path) -> None:
    names = [
        f"{latex_symbol(name)}^{{2}}" for name in NAMES.split() if not re.search("[变変]", name)
    ]
    log = typeset(tmp_path, [*(graph_latex(parse_text(text)) for text in listed()), *names])
    complaints = [
        line for line in log.split("\n") if re.search("Overfull|[Uu]ndefined|Warning", line)
    ]
    assert not complaints
