"""Diagnostics of runs over tensors: what, how many of the numbers, and where."""

from __future__ import annotations

import json
from itertools import chain
from typing import Any

import numpy as np
import pytest

import golden
from exprgrad import parse
from exprgrad.explain.limits import side_limit_reason
from exprgrad.run.arrays.arrays import record_arrays
from shell import command, spelled

# Each: the formula, its values, and the diagnostics as "code" or "code?" for a note.
CASES: dict[str, list[tuple[str, str, str]]] = {
    "values": [
        ("sum(log(X))", "X=[[1,-2],[0,-3]]", "nan infinity undecided"),
        ("sum(log(x))", "x=[1,2,-3]", "nan"),
        ("sum(log(x))", "x=[-1,-2]", "nan"),
        ("sum(x/b)", "x=[[1,2],[3,4]] b=[1,0]", "infinity"),
        ("sum(exp(x)@W)", "x=[1,1000] W=[[1,2],[3,4]]", "infinity"),
        ("norm(A@x)", "A=[[1e200,2],[3,4]] x=[1e200,1]", "lost-digits"),
        ("y = exp(x); sum(y - y)", "x=[1,1000]", "lost-digits"),
        ("sum(x*b)", "x=[[1,2],[3,4]] b=[1,nan]", "nan"),
        ("sum(x)", "x=[inf,1]", "infinity"),
        ("sum(x)*log(c)", "x=[1,2] c=-1", "nan"),
        ("sum(x) + 1e400", "x=[1,2]", "infinity"),
        ("sum(where(x > 0, log(x), 0))", "x=[1,-2,3]", "nan?"),
        ("sum(where(x > 0, log(x), 0))", "x=[-1,-2]", "nan?"),
        ("t = log(x); sum(x)", "x=[-1,2]", "unused?"),
    ],
    "labels": [
        ("cross_entropy(Z, y)", "Z=[[1,2],[3,4],[5,6]] y=[0,2,1.5]", "nan lost-digits"),
        ("cross_entropy(z, y)", "z=[1,2,3] y=3", "nan"),
        ("sum(onehot(y, 3) @ w)", "w=[1,2,3] y=[0,3]", "nan"),
        ("cross_entropy(Z, y)", "Z=[[1,2],[3,nan]] y=[0,1]", "nan lost-digits"),
        ("cross_entropy(Z, y)", "Z=[[1,2],[3,4]] y=[0,1]", ""),
    ],
    "matrices": [
        ("sum(inv(A))", "A=[[1,2],[2,4]]", "nan"),
        ("sum(inv(A))", "A=[[1,2,3],[4,5,6],[7,8,9]]", "nan"),
        ("solve(A, b)[0]", "A=[[1,2],[2,4]] b=[1,0]", "nan"),
        ("sum(solve(A, b))", "A=[[[1,2],[2,4]],[[1,0],[0,1]]] b=[1,2]", "nan"),
        ("logdet(A)", "A=[[1,2],[2,4]]", "infinity"),
        ("det(A)", "A=[[1,2],[2,4]]", ""),
        ("sum(inv(A))", "A=[[1,2],[nan,4]]", "nan"),
        ("det(A)", "A=[[1e200,2],[3,1e200]]", "infinity"),
        ("sum(inv(A))*0.1", "A=[[1,2,3],[4,5,6],[7,8,9.000001]]", "lost-digits lost-digits"),
        ("A[0,0]*det(A)*logdet(A)", "A=[[1,2],[3,4]]", ""),
    ],
    "gradients": [
        ("sum(sqrt(x))", "x=[1,0,4]", "infinite-gradient"),
        ("norm(sqrt(x)*[0,1])", "x=[0,1]", "nan-gradient kink"),
        ("sum((x@W*1e-300)*1e300*1e10)", "x=[1e200,1] W=[[1,2],[3,4]]",
         "infinite-gradient corrected corrected"),
        ("sum((x*1e200) @ W)*1e150", "x=[1e-300,1e-300] W=[[1,2],[3,4]]", "infinite-gradient"),
        ("sum(1e200*(W @ x))", "x=[1e-300,1e-300] W=[[1e200,2],[3,4]]", "infinite-gradient"),
    ],
    "kinks": [
        ("sum(relu(Z))", "Z=[[1,0,2],[0,-1,0]]", "kink kink"),
        ("sum(abs(x - 1))", "x=[1,2]", "kink kink"),
        ("max(X)", "X=[[1,2],[2,0]]", "kink kink"),
        ("sum(max(X, axis=0))", "X=[[1,2],[2,2]]", "kink kink"),
        ("sum(min(X, axis=1))", "X=[[1,2],[0,2]]", ""),
        ("norm(x)", "x=[0,0]", "kink kink"),
        ("sum(norm(X, axis=1))", "X=[[0,0],[1,0],[0,0]]", "kink kink"),
        ("sum(max(x, y, 0))", "x=[1,0,3] y=[1,-1,2]", "kink kink kink"),
        ("sum(max(x, 1))", "x=[1,0,3]", "kink kink"),
        ("sum(abs([0, 1])*x)", "x=[1,2]", ""),
        ("sum(where(c, abs(x), x))", "x=[0,1] c=[0,0]", "jump exists? exists?"),
        ("sum(x*onehot(y, 2))", "x=[1,2] y=1", ""),
        ("sum(x) + abs(c - 2)", "x=[1,2] c=2", "kink kink"),
        ("max(x > 0)*sum(x)", "x=[1,2]", ""),
    ],
    "jumps": [
        ("sum(floor(x))", "x=[1,2.5,3]", "jump jump"),
        ("sum((x > 1)*x)", "x=[1,0.5]", "jump jump"),
        ("sum(x % 3)", "x=[6,7]", "jump jump"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("group", CASES)
def test_diagnostics(group: str) -> None:
    """The codes are as listed; --strict exits with 1 exactly if there is a warning."""
    pieces = []
    for formula, values, expected in CASES[group]:
        argv = ["grad", "--strict", formula, *values.split()]
        status, out, err = command(*argv)
        assert out, (argv, err)
        found = json.loads(command("grad", "--json", formula, *values.split()).out)["diagnostics"]
        marks = {"warning": "", "note": "?"}
        assert " ".join(d["code"] + marks[d["severity"]] for d in found) == expected, argv
        assert status == int(any(d["severity"] == "warning" for d in found)), argv
        for diagnostic in found:
            assert diagnostic["message"] in err
            start, end = diagnostic["span"]
            assert 0 <= start < end <= len(formula)
        if found:
            pieces.append(f"{spelled(argv)}\n{err}exit {status}\n")
    golden.agree(f"diagnostics/tensors-{group}.txt", "\n".join(pieces))


def first(formula: str, **values: Any) -> str:
    """The message of the only diagnostic, aside of the note that a tensor is too large for verdicts."""
    found, *others = parse(formula).gradient(values).diagnostics
    assert [one.code for one in others] in ([], ["many-inputs"])
    return found.message


def test_counts_are_numpys() -> None:
    """How many and where, as NumPy counts them, on numbers drawn at random."""
    data = np.random.default_rng(3).normal(size=(15, 30))
    bad = data <= 0
    row, column = np.argwhere(bad)[0]
    message = first("sum(log(X))", X=data)
    assert message.startswith(f"{bad.sum()} of 450 numbers of log(X) are nan: outside the domain")
    assert f"the first at [{row}, {column}], where X = {float(data[row, column])!r}" in message
    data[bad] = 0
    assert f"kink at {bad.sum()} of 450 numbers, the first at [{row}, {column}]" in first(
        "sum(relu(X))", X=data
    )


def test_only_chosen_inputs_have_kinks() -> None:
    f = parse("sum(abs(a) + b*b)")
    assert f.gradient(a=[0, 1], b=1, wrt=["b"]).diagnostics == []
    assert [d.code for d in f.gradient(a=[0, 1], b=1, wrt=["a"]).diagnostics] == ["kink", "kink"]
    assert f.evaluate(a=[0, 1], b=1).diagnostics == []


def test_a_clean_network_has_nothing_to_say() -> None:
    run = parse("h = relu(X @ W + b); cross_entropy(h, y)").gradient(
        X=[[1, 2], [3, -1]], W=[[1, -1], [0.5, 1]], b=[0.1, 0.2], y=[0, 1]
    )
    assert run.diagnostics == []


def test_verdicts_are_those_of_the_formula_written_out() -> None:
    """Number by number, a tensor's derivatives from the sides are those of the same formula of numbers."""
    run = parse("sum(relu(x) - relu(-x)*y) + max(x)").gradient(x=[0, 1, 0], y=[1, 2, 3])
    same = parse(
        "(relu(a) - relu(-a)*p) + (relu(b) - relu(-b)*q) + (relu(c) - relu(-c)*r) + max(a, b, c)"
    ).gradient(a=0, b=1, c=0, p=1, q=2, r=3)
    names = {"x[0]": "a", "x[1]": "b", "x[2]": "c", "y[0]": "p", "y[1]": "q", "y[2]": "r"}
    for name, other in names.items():
        mine, theirs = run.one_sided.get(name), same.one_sided.get(other)
        assert (mine is None) == (theirs is None), name
        if mine is not None and theirs is not None:
            assert (mine.left, mine.right, mine.verdict) == (
                theirs.left,
                theirs.right,
                theirs.verdict,
            )


def test_a_gradient_is_corrected_number_by_number() -> None:
    run = parse("sum(relu(x) - relu(-x))").gradient(x=[0, 1, 0])
    assert run.swept["x"].tolist() == [0, 1, 0]
    assert run.gradient["x"].tolist() == [1, 1, 1]
    sweep, value = run.corrected["x"]
    assert (sweep.tolist(), value.tolist()) == ([0, 1, 0], [1, 1, 1])
    assert "gradient corrected: x = [1, 1, 1], where the sweep has [0, 1, 0]" in run.table()
    assert '"corrected": {"x": {"sweep": [0.0, 1.0, 0.0], "value": [1.0, 1.0, 1.0]}}' in run.json()


@pytest.mark.parametrize(
    ("text", "suspected"),
    [("sum(tanh(x @ W)^2)", []), ("sum(relu(x @ W)) + max(x)", ["reduce_max", "relu"])],
)
def test_which_nodes_may_meet_a_kink_is_known_beforehand(text: str, suspected: list[str]) -> None:
    graph = parse(text).gradient(x=[1, 2], W=[[1], [1]]).graph
    found = record_arrays(graph, list(graph.inputs)).suspects
    nodes = [] if found is None else [*found.others, *chain(*[s.owners for s in found.screens])]
    assert [graph.kinds[node] for node in sorted({*nodes}, reverse=True)] == suspected


def test_a_large_tensor_is_only_flagged() -> None:
    """Above 64 differentiated numbers nothing is written out, and the gradient is the sweep's."""
    run = parse("sum(relu(x) - relu(-x))").gradient(x=[0] * 65)
    assert run.one_sided == {} and run.gradient["x"].tolist() == [0] * 65
    note = run.diagnostics[-1]
    assert note.code == "many-inputs" and "up to 64 inputs; this one has 65 inputs" in note.message


def test_one_input_is_one_in_words() -> None:
    run = parse("relu(x)").gradient(x=1)
    assert "this one has 1 input and 2 nodes" in side_limit_reason(run, runs=10**9)


def test_what_is_too_large_to_be_written_out_is_only_flagged() -> None:
    """One differentiated input, and too many elements; or few elements, and too many nodes."""
    wide = parse("sum(relu(b*X))").gradient(X=np.zeros(5000), b=1, wrt=["b"])
    assert wide.gradient == {"b": 0.0}
    wide = parse("sum(relu(b + X))").gradient(X=np.full(5000, -1.0), b=1, wrt=["b"])
    assert wide.gradient == {"b": 0.0} and wide.one_sided == {}
    note = wide.diagnostics[-1]
    assert note.code == "many-inputs" and "up to 4,096 elements over all nodes" in note.message
    deep = parse("sum(relu(A @ A - A @ A) + b[0])").gradient(
        A=np.eye(25), b=np.ones(10), wrt=["b", "A"]
    )
    assert deep.one_sided == {} and deep.gradient["b"].tolist()[:2] == [625, 0]


def test_what_is_not_finite_behind_a_branch_not_taken_has_no_way() -> None:
    run = parse("where(c > 0, sum(x), tanh(sin(prod(exp(x)))))").gradient(c=1, x=[-1e6, 1e6])
    assert run.gradient["x"].tolist() == [1, 1]
    assert {one.severity for one in run.diagnostics} <= {"note"}
    assert not any(one.path for one in run.diagnostics)
