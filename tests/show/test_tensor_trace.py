"""The trace over tensors: matrix forms, shapes, and the Jacobians that nobody forms."""

from __future__ import annotations

import re

import numpy as np
import pytest

import golden
from exprgrad import parse
from exprgrad.show.text.trace import trace_text
from exprgrad.source import bytes_text, display_width
from tensor_runs import RUNS

SWEPT = [name for name, run in RUNS.items() if run.adjoints is not None]
ESCAPES = re.compile("\x1b\\[[0-9]+m")


@pytest.mark.parametrize("name", SWEPT)
def test_traces(name: str) -> None:
    golden.agree(f"trace/tensors-{name}.txt", RUNS[name].trace() + "\n")


@pytest.mark.parametrize("width", [100, 80, 40])
def test_on_a_narrow_terminal_the_pieces_stand_under_each_other(width: int) -> None:
    run = RUNS["network"]
    narrow = trace_text(run, width=width)
    golden.agree(f"trace/tensors-network-{width}.txt", narrow + "\n")
    assert max(map(display_width, narrow.splitlines())) <= width
    assert trace_text(run, width=300) == run.trace()


def test_the_lessons_patterns() -> None:
    """dX = dY @ W.T and dW = X.T @ dY, shape by shape, and how large the Jacobians would have been."""
    text = re.sub(" {2,}", "  ", RUNS["network"].trace())
    assert "X.grad += (X @ W1).grad @ W1.T  (150, 4) += (150, 3) @ (3, 4)" in text
    assert "W1.grad += X.T @ (X @ W1).grad  (4, 3) += (4, 150) @ (150, 3)" in text
    assert "W2.grad += H.T @ (H @ W2).grad  (3, 3) += (3, 150) @ (150, 3)" in text
    assert "Jacobian of 450 × 600 never formed: would be 2.16 MB" in text
    run = parse("sum(X @ W)").gradient(X=np.ones((64, 512)), W=np.ones((512, 512)))
    assert "Jacobian of 32,768 × 262,144 never formed: would be 68.7 GB" in run.trace()


@pytest.mark.parametrize("name", SWEPT)
def test_every_visit_and_contribution_is_there(name: str) -> None:
    run = RUNS[name]
    lines = run.trace(all=True).splitlines()
    visits = [line for line in lines if line.startswith("visit")]
    assert len(visits) == len(run.order)
    passed = [line for line in lines if " += " in line and "passes nothing on" not in line]
    assert len(passed) >= sum(bool(np.any(edge.contribution)) for edge in run.edges)
    for name in run.gradient:
        if run.graph.inputs[name] in run.order:
            ends = [line for line in lines if line.startswith(f"    {name}.grad += ")]
            assert sum("complete" in line for line in ends) == 1


@pytest.mark.parametrize("name", SWEPT)
def test_shapes_fit(name: str) -> None:
    """Where a product is written shape by shape, the inner sizes match and the outer ones are the sum's."""
    for target, left, right in re.findall(
        r"\((\d+, \d+)\) \+= \((\d+, \d+)\) @ \((\d+, \d+)\)", RUNS[name].trace()
    ):
        rows, inner = left.split(", ")
        again, columns = right.split(", ")
        assert inner == again and target == f"{rows}, {columns}"


@pytest.mark.parametrize("width", [None, 60])
def test_grads_are_coloured_where_asked(width: int | None) -> None:
    run = RUNS["layer"]
    colored = trace_text(run, color=True, width=width)
    assert "\x1b[33mgrad 0 → [[9, 9], [21, 21]]\x1b[0m" in colored
    assert ESCAPES.sub("", colored) == trace_text(run, width=width)


def test_a_long_trace_says_what_it_left_out() -> None:
    run = parse(f"sum({'+'.join(['x'] * 70)})").gradient(x=[1, 2])
    assert f"… {len(run.order) - 40} visits left out; all=True shows them" in run.trace()
    assert "left out" not in run.trace(all=True)
    run = parse(f"sum(max({', '.join(f'x[{i}]*x' for i in range(62))}))").gradient(x=range(62))
    assert "… 22 contributions left out; all=True shows them" in run.trace()


def test_grads_accumulate() -> None:
    """What a grad was before a contribution is what the one before made of it."""
    text = parse("sum(x*x) + sum(x)").gradient(x=[1, 2]).trace()
    assert "x.grad += " in text and "grad 0 → [1, 1]" in text
    assert "grad [1, 1] → [2, 3]" in text and "grad [2, 3] → [3, 5]" in text


@pytest.mark.parametrize("name", SWEPT)
def test_the_total_is_that_of_the_jacobians_spoken_of(name: str) -> None:
    text = RUNS[name].trace(all=True)
    spoken = re.findall(r"Jacobian of ([\d,]+) × ([\d,]+) never formed", text)
    total = sum(
        8 * int(rows.replace(",", "")) * int(columns.replace(",", "")) for rows, columns in spoken
    )
    said = re.search(r"Jacobians, never formed, would take (.+)$", text, re.MULTILINE)
    assert (said[1] if said else "") == (bytes_text(total) if total else "")


def test_all_shows_tensors_whole() -> None:
    run = RUNS["network"]
    whole = run.trace(all=True)
    assert "norm" not in "".join(re.findall("→ .*", whole)) and len(whole) > 10 * len(run.trace())


def test_digits_are_never_fewer_than_asked() -> None:
    run = parse("sum(x*w)").gradient(x=[1, 2], w=[1 / 3, 2 / 3])
    for width in (None, 100, 80, 50):
        assert "0.333333333333, 0.666666666667" in trace_text(run, 12, width=width)
    assert "norm 0.7453559924999" in trace_text(run, 13, width=40)
