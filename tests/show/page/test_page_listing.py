"""The code beside a formula is run, in each library that is here: it gives grad's numbers."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import redirect_stdout
from math import isclose
from typing import Any

import numpy as np
import pytest

from exprgrad import parse
from exprgrad.graph.ops import BY_NAME
from exprgrad.show.page.lessons import LESSONS
from exprgrad.show.page.listing import (
    ARRAY_LIBRARIES,
    LIBRARIES,
    OF_NUMBERS,
    Library,
    highlight_data,
)
from pages import code_of, listing

MODULES = {"micrograd": "micrograd.engine", "PyTorch": "torch", "JAX": "jax"}
POINT = {"x": 0.4, "y": 0.7, "z": 0.9, "w": 0.8, "lambda": 2, "max": 3, "t1": 2, "f": 1.5, "α": 0.3}
FORMULAS = [
    "tanh(x*w + y)",
    "(x + 2*3)*max(x, 0, 2) + 2^-1*x",
    "x^2 + 2^x + x^y - x/(1 + y)",
    "f(x) = x^2*tanh(x); f(x) + f(y)*sum(x^k for k in 1..3)",
    "f = lambda*max; abs = f + 1; abs*t1 + max(f, 0)",
    "sin(pi*x) + tanh(2)*x - cos(-α)",
    "f*x + sigmoid(z) - relu(f) + softplus(x)",
    "where(x > y, x^2, y)*(x <= y) + (x > 0)",
    "x",
]
ACCURACY = 1e-12
"""Relative: a library's own functions are off by a few hundred ulp at the most."""
BEYOND = {
    "exp2",
    "sinh",
    "cosh",
    "atanh",
    "erfc",
    "acoth",
    "acosh",
    "asec",
    "acsc",
    "asech",
    "expint",
}


def formulas_of_rows() -> Iterator[str]:
    """A formula for each row: of products, so that grads flow on."""
    for op in [*BY_NAME.values()]:
        names = ["x", "y", "z"][: 2 if op.variadic else len(op.names)]
        first, *others = [f"{names[0]}*w", *names[1:]]
        if op.prefix:
            yield f"{op.prefix}({first})"
        elif op.infix:
            yield f"({first}) {op.infix} {others[0]}"
        elif op.equation is None and not op.setting:
            yield f"{op.name}({', '.join([first, *others])})"


def grads_of(text: str, title: str) -> list[tuple[str, float, float]]:
    """By input what the code finds in a library, and what is true; nothing where it cannot be written."""
    formula = parse(text)
    run = formula.gradient({name: POINT[name] for name in formula.inputs})
    told = code_of(run)
    places = [library.title for library in LIBRARIES]
    if not told or len(told["libraries"][places.index(title)]) == 2 or run.diagnostics:
        return []
    space: dict[str, Any] = {}
    with redirect_stdout(io.StringIO()) as printed:
        exec(listing(run, title), space)
    names = dict(told["given"])
    if title == "JAX":
        found = [float(text) for text in printed.getvalue().split()]
    else:
        values = [space[names[run.graph.inputs[name]]] for name in run.gradient]
        found = [0.0 if value.grad is None else float(value.grad) for value in values]
    return [
        (name, mine, true) for (name, true), mine in zip(run.gradient.items(), found, strict=True)
    ]


def check(text: str, title: str) -> int:
    """Hold the code of a formula to its grads; how many there were."""
    if title in MODULES:
        pytest.importorskip(MODULES[title], reason=f"pip install {MODULES[title].split('.')[0]}")
    found = grads_of(text, title)
    for name, mine, true in found:
        assert isclose(mine, true, rel_tol=ACCURACY, abs_tol=ACCURACY), (text, title, name)
    return len(found)


@pytest.mark.parametrize("title", [library.title for library in LIBRARIES])
def test_the_code_gives_the_grads(title: str) -> None:
    assert sum(check(text, title) for text in FORMULAS) > 15


@pytest.mark.parametrize("title", [library.title for library in LIBRARIES])
def test_every_row_that_is_written_gives_its_grads(title: str) -> None:
    assert sum(check(text, title) > 0 for text in formulas_of_rows()) > 30


@pytest.mark.parametrize("name", LESSONS)
def test_every_lesson_has_code_in_all_libraries(name: str) -> None:
    lesson = LESSONS[name]
    run = parse(lesson.expression).gradient(lesson.values)
    told = code_of(run)
    assert [len(row) for row in told["libraries"]] == [6] * (3 if any(run.graph.shapes) else 4)


TENSORS = {
    "X": [[1.0, 2.0, -0.5], [3.0, -4.0, 0.3]], "W": [[1.0, -1.0], [0.5, 2.0], [2.0, 0.7]], "b": [0.5, -1.0],
    "T": [[0.0, 1.0], [1.0, 0.0]], "y": [1.0, 0.0], "c": 1.5,
}  # fmt: skip
OF_TENSORS = [
    "h = relu(X @ W + b); sum(h^2)*c",
    "H = X @ W; P = softmax(H + b, axis=1); -sum(T*log(P)) + sum(relu(H), axis=0)[0]",
    "max(X @ W) + sum(max(X @ W, [[1.1, 2.1], [3.1, 4]]))",
    "norm(X) + logsumexp(X) + mean(tanh(W) @ b) + sum(cumsum(b)*c)",
    "cross_entropy(X @ W, y) + sum(inv(T + X @ W)) + det(X @ W) + sum(softplus(b)) + sum(max(b, 0, c))",
    "sum(concat(b, [1, 2])^3) + sum(stack(b, b*c)) + sum(b^[2, 3]*exp([0, 1])) + sum(sinc(X))",
]


@pytest.mark.parametrize("library", ARRAY_LIBRARIES, ids=lambda library: library.title)
def test_the_code_gives_the_grads_of_tensors(library: Library) -> None:
    if library.title in MODULES:
        pytest.importorskip(MODULES[library.title])
    written = 0
    for text in OF_TENSORS:
        formula = parse(text)
        run = formula.gradient({name: TENSORS[name] for name in formula.inputs})
        told = next(row for row in code_of(run)["libraries"] if row[0] == library.title)
        if len(told) == 2:
            assert (library.title, told[1]) == ("JAX", "cross_entropy")
            continue
        written += 1
        space: dict[str, Any] = {}
        with redirect_stdout(io.StringIO()):
            exec(listing(run, library.title), space)
        names = dict(code_of(run)["given"])
        inputs = [names[run.graph.inputs[name]] for name in run.gradient]
        if library.title == "PyTorch":
            found = [space[name].grad for name in inputs]
        elif library.title == "JAX":
            places = tuple(range(len(inputs)))
            found = space["jax"].grad(space["f"], places)(*[space[name] for name in inputs])
        else:
            found = [space["run"].gradient[name] for name in inputs]
        for name, mine in zip(run.gradient, found, strict=True):
            true = run.gradient[name]
            assert mine is None or np.allclose(mine, true, rtol=ACCURACY, atol=ACCURACY), (
                text,
                name,
            )
    assert written > 4


def test_what_it_looks_like() -> None:
    run = parse("e = a*b; tanh(e + 1)").gradient(a=2, b=-3)
    assert listing(run, "exprgrad").splitlines() == [
        "from exprgrad import Value",
        "a = Value(2.0)",
        "b = Value(-3.0)",
        "e = a * b",
        "t1 = e + 1",
        "t2 = t1.tanh()",
        "t2.backward()",
        "print(a.grad, b.grad)",
    ]
    assert (
        "        x.grad += (1 - out.data**2) * out.grad" in listing(run, "micrograd").splitlines()
    )
    assert "t2 = torch.tanh(t1)" in listing(run, "PyTorch").splitlines()
    assert listing(run, "JAX").splitlines()[5:] == [
        "def f(a, b):",
        "    e = a * b",
        "    t1 = e + 1",
        "    t2 = jnp.tanh(t1)",
        "    return t2",
        "print(*jax.grad(f, (0, 1))(a, b))",
    ]


def test_what_a_library_lacks_is_said() -> None:
    told = code_of(parse("Si(x)").gradient(x=1))["libraries"]
    assert [row for row in told if len(row) == 2] == [[title, "Si"] for title in MODULES]


def test_where_nodes_are_written() -> None:
    """Every place of a name, however lines end; a card that is closed where it is called."""
    run = parse("\n  e = a*b\r\n e + a").gradient(a=2, b=-3)
    text = "e = a*b\n e + a"
    spans = highlight_data(run, {node: node for node in run.shown}, OF_NUMBERS)["spans"]
    assert [
        [text[low:high] for low, high in zip(one[::2], one[1::2], strict=True)] for one in spans
    ] == [["a", "a"], ["b"], ["e", "a*b", "e"], ["e + a"]]
    closed = parse("f(x) = x^2; f(a) + b").gradient(a=2, b=-3)
    places = {node: place for place, node in enumerate(closed.shown)}
    told = highlight_data(closed, places, OF_NUMBERS)
    (call,) = closed.closed
    assert told["spans"][places[call]] == [12, 16]
    assert told["code"]["lines"][0][0] == places[call]
