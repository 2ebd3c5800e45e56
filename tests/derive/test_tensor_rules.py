"""Structural rows: values, cotangents, tangents and second derivatives, against mpmath, PyTorch and JAX.

Shapes and settings are drawn for every row of the table; a row that nothing draws for fails.

Bounds.  A rule is a chain of at most a dozen operations, each within 5 ulp, and sums of at most 64 numbers:
together fewer than 2^7 roundings, each of at most 2^-53 of the largest number in the chain.  Those are
products of cotangents, tangents, operands, results and derivatives, whose magnitudes come from the truth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exprgrad import parse
from exprgrad.derive.build import GraphBuilder
from exprgrad.derive.sweeps import gradient as derive
from exprgrad.graph.graph import Graph, Program
from exprgrad.graph.tensors import STRUCTURAL
from exprgrad.run.arrays import arrays
from invariants import check
from oracles import Real, mp, mpf
from programs import require
from structures import PLAIN, SAMPLERS, TORCH, Case, case_of, exact, graph_of, narrower, shapes

Array = Any

ROUNDINGS = 2.0**7
STEP = 10.0**-20
"""Of the central differences: their error is of the order of its square, and 80 digits are carried."""

each_row = pytest.mark.parametrize("name", STRUCTURAL)
some = settings(max_examples=12)


def most(*found: Array) -> float:
    """The greatest magnitude, 1 at least."""
    return max([1.0, *[float(np.max(np.abs(x))) for x in found if np.size(x)]])


def close(found: Array, true: Array, scale: float) -> None:
    """Hold an array to the truth: see the bounds above."""
    assert np.shape(found) == np.shape(true)
    apart = np.abs(np.asarray(found, dtype=float) - np.asarray(true, dtype=float))
    assert np.all(apart <= ROUNDINGS * 2.0**-53 * scale), (found, true)


def played(program: Program, values: dict[str, Array]) -> list[Array]:
    """A program's outputs."""
    check(program.graph)
    found = arrays.forward_arrays(program.graph, values, program.outputs)
    return [found[output] for output in program.outputs]


def named(case: Case) -> dict[str, Array]:
    return {f"a{at}": x for at, x in enumerate(case.operands)}


def true_value(case: Case, operands: Sequence[Array]) -> Array:
    """What the row computes, in mpmath."""
    return np.asarray(PLAIN[case.name](*operands, *case.settings), dtype=object)


def directions(case: Case) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Every number of every operand by which there is a derivative."""
    for position in case.smooth:
        for at in np.ndindex(np.shape(case.operands[position])):
            yield position, at


def moved(operands: Sequence[Array], position: int, at: tuple[int, ...], by: Real) -> list[Array]:
    """The operands with one number changed."""
    found = [*operands]
    found[position] = np.array(found[position], dtype=object)
    found[position][at] += by
    return found


def true_jacobian(case: Case) -> list[Array]:
    """By operand: its shape, then the result's, of derivatives by central differences."""
    with mp.workdps(80):
        operands, step = [exact(x) for x in case.operands], mpf(STEP)
        out = np.shape(true_value(case, operands))
        found = [np.zeros(np.shape(x) + out) for x in case.operands]
        for position, at in directions(case):
            right = true_value(case, moved(operands, position, at, step))
            left = true_value(case, moved(operands, position, at, -step))
            found[position][at] = np.asarray((right - left) / (2 * step), dtype=float)
    return found


def test_every_row_is_drawn_for_and_has_a_truth() -> None:
    assert set(SAMPLERS) == set(PLAIN) == set(STRUCTURAL)
    assert set(TORCH) == set(STRUCTURAL) - {"onehot"}


@each_row
@some
@given(st.data())
def test_values_and_first_derivatives(name: str, data: st.DataObject) -> None:
    """Value, VJP and JVP against mpmath; the two products agree as transposes do."""
    case = data.draw(case_of(name))
    graph = graph_of(case)
    with mp.workdps(40):
        true = np.asarray(true_value(case, [*map(exact, case.operands)]), dtype=float)
    (value,) = played(Program(graph, (graph.output,)), named(case))
    close(value, true, most(true, *case.operands))

    rng = np.random.default_rng(len(true.shape))
    cotangent = rng.uniform(-1, 1, true.shape)
    wrt = [f"a{position}" for position in case.smooth]
    if not wrt:
        return
    jacobian = true_jacobian(case)
    scale = most(true, *jacobian, *case.operands)
    seeded = {**named(case), derive.cotangent_name(0): cotangent}
    pulled = played(derive.vjp(graph, [graph.output], wrt), seeded)
    for position, found in zip(case.smooth, pulled, strict=True):
        expected = np.tensordot(jacobian[position], cotangent, cotangent.ndim)
        close(found, expected, scale * max(1.0, np.sum(abs(cotangent))))

    tangents = {at: rng.uniform(-1, 1, case.operands[at].shape) for at in case.smooth}
    moving = {derive.tangent_name(f"a{at}"): tangent for at, tangent in tangents.items()}
    (pushed,) = played(derive.jvp(graph, wrt, [graph.output]), {**named(case), **moving})
    terms = [np.tensordot(t, jacobian[at], t.ndim) for at, t in tangents.items()]
    length = sum(np.sum(abs(t)) for t in tangents.values())
    close(pushed, sum(terms), scale * max(1.0, length))
    one = np.sum(pushed * cotangent)
    other = sum(np.sum(g * t) for g, t in zip(pulled, tangents.values(), strict=True))
    close(one, other, scale * max(1.0, length) * max(1.0, np.sum(abs(cotangent))))


def squared(graph: Graph) -> tuple[Graph, list[str]]:
    """sum(out*out*weights) of an operation, so that a linear one is bent too."""
    builder = GraphBuilder(Graph([]))
    out = builder.include(graph)[graph.output]
    weights = builder.input("weights", builder.shape(out))
    bent = builder.apply("mul", builder.apply("mul", out, out), weights)
    return builder.program([builder.apply("sum", bent, settings=(None, False))]).graph, [
        *graph.inputs
    ]


@each_row
@settings(max_examples=6)
@given(st.data())
def test_second_derivatives(name: str, data: st.DataObject) -> None:
    """Forward over reverse against mixed central differences."""
    case = data.draw(case_of(name).filter(lambda c: sum(map(np.size, c.operands)) <= 16))
    if not case.smooth:
        return
    whole, names = squared(graph_of(case))
    wrt = [names[position] for position in case.smooth]
    first = derive.gradient(whole, wrt)
    second = derive.jvp(first.graph, wrt, first.outputs[1:])
    rng = np.random.default_rng(7)
    weights = rng.uniform(-1, 1, np.shape(PLAIN[name](*map(exact, case.operands), *case.settings)))
    along = [
        rng.uniform(-1, 1, np.shape(x)) * (at in case.smooth) for at, x in enumerate(case.operands)
    ]
    given = {**named(case), "weights": weights}
    given |= {derive.tangent_name(names[at]): along[at] for at in case.smooth}
    found = played(second, given)
    with mp.workdps(80):
        step, exact_weights = mpf(STEP), exact(weights)
        ahead, behind = (
            [exact(x) + sign * step * exact(t) for x, t in zip(case.operands, along, strict=True)]
            for sign in (1, -1)
        )

        def total(operands: Sequence[Array]) -> Real:
            return np.sum(true_value(case, operands) ** 2 * exact_weights)

        true = [np.zeros(np.shape(x)) for x in case.operands]
        for position, at in directions(case):
            corners = [
                sign * total(moved(operands, position, at, shift * step))
                for operands, sign in ((ahead, 1), (behind, -1))
                for shift in (1, -1)
            ]
            mixed = corners[0] - corners[1] + corners[2] - corners[3]
            true[position][at] = float(mixed / (4 * step * step))
    jacobian = true_jacobian(case)
    scale = most(*jacobian, *case.operands, *true) ** 2 * most(*[np.sum(abs(t)) for t in along])
    for position, numbers in zip(case.smooth, found, strict=True):
        close(numbers, true[position], scale * max(1.0, np.sum(abs(weights))))


@pytest.mark.parametrize("name", TORCH)
@settings(max_examples=20)
@given(data=st.data())
def test_as_in_torch(name: str, data: st.DataObject) -> None:
    require("torch")
    import torch

    case = data.draw(case_of(name))
    graph = graph_of(case)
    leaves = [
        torch.tensor(x, dtype=torch.float64, requires_grad=at in case.smooth)
        for at, x in enumerate(case.operands)
    ]
    out = TORCH[name](*leaves, *case.settings)
    cotangent = np.random.default_rng(1).uniform(-1, 1, tuple(out.shape))
    out.backward(torch.tensor(cotangent, dtype=torch.float64))
    values = {**named(case), derive.cotangent_name(0): cotangent}
    wrt = [f"a{position}" for position in case.smooth]
    (value,) = played(Program(graph, (graph.output,)), values)
    expected = out.detach().numpy()
    close(value, expected, most(expected, *case.operands))
    pulled = played(derive.vjp(graph, [graph.output], wrt), values)
    grads = [leaves[position].grad.numpy() for position in case.smooth]
    for found, grad in zip(pulled, grads, strict=True):
        scale = most(grad, expected, *case.operands)
        close(found, grad, scale * scale * max(1.0, np.sum(abs(cotangent))))


# Broadcasting.


@settings(max_examples=60)
@given(st.data())
def test_broadcast_operands_are_summed_back(data: st.DataObject) -> None:
    """x*y + sin(z)*x, of shapes that broadcast, against the formula's own derivatives in NumPy."""
    wide = data.draw(shapes())
    given_shapes = [data.draw(narrower(wide)) for _ in range(3)]
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    x, y, z = (rng.uniform(-2, 2, shape) for shape in given_shapes)
    run = parse("sum((x*y + sin(z)*x)*(x - y))").gradient(x=x, y=y, z=z)
    bulk = np.broadcast_arrays(x, y, z)
    a, b, c = bulk
    inner = a * b + np.sin(c) * a
    slopes = {
        "x": (b + np.sin(c)) * (a - b) + inner,
        "y": a * (a - b) - inner,
        "z": np.cos(c) * a * (a - b),
    }
    for name, array in {"x": x, "y": y, "z": z}.items():
        expected = summed_to(slopes[name], array.shape)
        close(run.gradient[name], expected, 16.0 * a.size)


def summed_to(wide: Array, shape: tuple[int, ...]) -> Array:
    """A wide array, summed over the axes along which a shape is stretched to it."""
    lead = wide.ndim - len(shape)
    narrow = np.sum(wide, axis=tuple(range(lead)))
    stretched = tuple([at for at, length in enumerate(shape) if length == 1])
    return np.sum(narrow, axis=stretched, keepdims=True).reshape(shape)


# Whole formulas against JAX: second derivatives too.

FORMULAS: dict[str, Callable[..., Any]] = {
    "sum(tanh(w @ x + y)^2)": lambda j, w, x, y: j.sum(j.tanh(w @ x + y) ** 2),
    "logsumexp(w*x)*norm(y)": lambda j, w, x, y: j.log(j.sum(j.exp(w * x))) * j.sqrt(j.sum(y * y)),
    "prod(x)*sum(softmax(w, axis=0) @ x*y)": lambda j, w, x, y: (
        j.prod(x) * j.sum((j.exp(w) / j.sum(j.exp(w), axis=0)) @ x * y)
    ),
    "trace(outer(y, x) @ w.T)*max(x) + mean(w[0:2, -1])^2": lambda j, w, x, y: (
        j.trace(j.outer(y, x) @ w.T) * j.max(x) + j.mean(w[0:2, -1]) ** 2
    ),
    "sum(concat(x, y)*[1, 2, 3, 4, 5]*x[0])*dot(y, w[:, 1])": lambda j, w, x, y: (
        j.sum(j.concatenate([x, y]) * j.arange(1.0, 6.0) * x[0]) * j.dot(y, w[:, 1])
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("text", FORMULAS)
def test_as_in_jax(text: str) -> None:
    require("jax")
    import jax

    jax.config.update("jax_enable_x64", True)
    rng = np.random.default_rng(3)
    values = {"w": rng.normal(size=(3, 2)), "x": rng.normal(size=2), "y": rng.normal(size=3)}
    f = parse(text)
    names = list(f.inputs)

    def theirs(given: dict[str, Any]) -> Any:
        return FORMULAS[text](jax.numpy, **given)

    expected, slopes = jax.value_and_grad(theirs)(values)
    run = f.gradient({name: values[name] for name in names})
    close(run.value, expected, most(expected))
    for name in names:
        close(run.gradient[name], slopes[name], most(slopes[name]))
    bends = jax.hessian(theirs)(values)
    found = f.hessian({name: values[name] for name in names})
    for row in names:
        for column in names:
            close(found[row][column], bends[row][column], most(bends[row][column]))
