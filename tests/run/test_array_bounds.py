"""Error bounds over tensors, against balls: no number is farther from the truth than its bound."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from random import Random
from typing import Any, NamedTuple

import numpy as np
import pytest

from amounts import many
from exprgrad import parse
from exprgrad.graph.structural import Parameter, Structural
from exprgrad.graph.tensors import STRUCTURAL
from exprgrad.run.arrays.bounds import array_data_errors, of_kind
from exprgrad.run.arrays.elements import expand_elements
from exprgrad.run.balls.balls import Ball, enclose_nodes, exact_ball, working_precision
from exprgrad.run.balls.sweep import sweep_balls
from exprgrad.run.evaluation import evaluator_for, right_digits
from shell import command
from tensor_formulas import SHAPES, drawn

inf = math.inf
BITS = 256
KNOWN_BITS = 60
"""An enclosure with fewer bits is one of a number at a tie, which balls do not decide."""
ROUNDING = 1 + 2.0**-20
"""Room for what a bound rounds itself."""


class Measured(NamedTuple):
    """A number of a run, its bound, and how far it is from the truth."""

    name: str
    value: float
    error: float
    off: float


def measured(formula: str, values: dict[str, Any]) -> Iterator[Measured]:
    """All numbers of a run, data and gradient, whose truth is known."""
    run = parse(formula).gradient(values)
    data, grads = evaluator_for(run.graph).errors(run.values, run.adjoints)
    over, _, nodes = expand_elements(run)
    true = enclose_nodes(over.graph, over.inputs, BITS)
    swept = sweep_balls(over.graph, true, over.graph.inputs.values(), BITS)

    def of(name: str, value: Any, error: Any, truth: list[Ball | None], node: int) -> Any:
        error = np.broadcast_to(error, np.shape(value))
        for place, at in np.ndenumerate(nodes[node]):
            known = truth[int(at)]
            known = exact_ball(0) if known is None else known
            number, bound = float(np.asarray(value)[place]), float(error[place])
            if not (math.isfinite(number) and known.is_finite()):
                continue
            if known.is_exact() or known.rel_accuracy_bits() >= KNOWN_BITS:
                with working_precision(BITS):
                    off = float(abs(exact_ball(number) - known).abs_upper())
                yield Measured(f"{name}{[*place]}", number, bound, off)

    for node in range(len(run.graph)):
        yield from of(run.label(node), run.values[node], data[node], [*true], node)
    for name, grad in run.swept.items():
        node = run.graph.inputs[name]
        yield from of(f"{name}.grad", grad, grads[node], swept.grads, node)


def held(formula: str, values: dict[str, Any]) -> int:
    """How many numbers are within their bounds; an error if one is not."""
    count = 0
    for one in measured(formula, values):
        assert one.error != one.error or one.off <= one.error * ROUNDING, (formula, one)
        count += 1
    return count


def drawn_values(formula: str, random: Random, scale: float = 1.0) -> dict[str, Any]:
    """Values for a formula's inputs."""
    draw = np.random.default_rng(random.randrange(2**32))
    return {name: scale * draw.normal(size=SHAPES[name]) for name in parse(formula).inputs}


@pytest.mark.parametrize("seed", range(8))
def test_bounds_of_drawn_formulas(seed: int) -> None:
    check_drawn(seed, 25)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 100 + many(8)))
def test_bounds_of_many_drawn_formulas(seed: int) -> None:
    check_drawn(seed, 100)


def check_drawn(seed: int, formulas: int) -> None:
    random = Random(seed)
    count = 0
    for _ in range(formulas):
        formula = drawn(random)
        if parse(formula).inputs:
            count += held(formula, drawn_values(formula, random, random.choice([1, 1, 1e-3, 30])))
    assert count > 10 * formulas


X, W = np.random.default_rng(5).normal(size=(2, 4, 3)) * 10
ROWS = [
    ("prod(exp(X)*1.1)", 1.0), ("sum(prod(X - 1.1, axis=1))", 1.0), ("prod(X*1e-80)", 1.0),
    ("sum(softmax(30*exp(X/10))*X)", 1.0), ("logsumexp(X*7.3) + sum(logsumexp(X/3, axis=0))", 1.0),
    ("cross_entropy(X*3.1, [0, 2, 1, 1])", 1.0), ("cross_entropy(X/3, softmax(W))", 1.0),
    ("norm(X*1.1) + sum(norm(X*1e200, axis=1))*1e-200", 1.0), ("max(X*1.1) - min(sin(X))", 1.0),
    ("trace(X.T @ W) + sum(diag(X[0]) @ W.T) + sum(diag(X.T @ W))", 1.0),
    ("sum(outer(X[0]/3, W[1]/7)) + dot(X[0], W[0]*1.1)", 1.0),
    ("sum(concat(X/3, W/7)) - mean(stack(X/3, W/3))", 1.0),
    ("sum(cumsum(X/3, axis=0)*W) + sum(cumsum(X, axis=1, reverse=True)/7)", 1.0),
    ("sum(cumprod(exp(X)*1.1, axis=0)*W)", 0.1), ("sum(cumprod(X - 1.1, axis=1, reverse=True))", 1.0),
    ("sum(linspace(X[0, 0]/3, W[1, 1]/7, 6)*linspace(0, 1, 6))", 1.0),
    ("sum(reshape(X, [2, 2, 3]) @ W.T/3)", 1.0),
    ("P = X.T @ X/9; det(P) + logdet(P) + sum(inv(P)) + solve(P, W[0]/3)[1]", 1.0),
    ("det(X[0:3]/7)*logdet(W[1:4]/3) + sum(cofactors(X[:3]/3)*W[:3])", 1.0),
    ("P = reshape(X, [3, 2, 2])/3; sum(solve(P, [[1, 2], [3, 4]])) + det(P) @ logdet(P)", 1.0),
    ("sum(abs(X/3) + max(X/3, W/7, 0.1) + clamp(X/7, -1, 1))", 1.0),
    ("sum(X % (W*W + 0.3)) + sum(floor(X*1.7)*W)", 1.0),
    ("sum(where(X/3 > W/7, X^2.2, W*X))", 0.05), ("sum(gelu(X) + silu(W) + erf(X/9))", 1.0),
    ("sum(sigmoid(X)*logaddexp(X, W)) + sum(hypot(X, W))", 1.0),
    ("sum(onehot([0, 2, 1, 1], 3)*X/3)", 1.0),
    ("sum(X[1:3]/7) + sum(place(X[0]/3, shape=[2, 3], at=[1])) + sum(reshape(X/3, [12])[2:5])", 1.0),
]  # fmt: skip


@pytest.mark.parametrize(("formula", "scale"), ROWS)
def test_bounds_of_rows(formula: str, scale: float) -> None:
    values = {name: scale * {"X": X, "W": W}[name] for name in parse(formula).inputs}
    assert held(formula, values) > 10
    found = parse(formula).gradient(values)
    assert found.digits["value"] >= 6 and not [
        d for d in found.diagnostics if d.code == "lost-digits"
    ]


def test_every_structural_row_is_tried() -> None:
    """The formulas above hold a node of each row; a new one needs a formula there."""
    met = {"mean", "broadcast"}
    for formula, _ in ROWS:
        given = {name: {"X": X, "W": W}[name] for name in parse(formula).inputs}
        met.update(parse(formula).evaluate(given).graph.kinds)
    assert set(STRUCTURAL) <= met


def test_a_row_that_is_not_linear_and_states_nothing_is_unbounded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A new row is never trusted by mistake; one that only moves numbers needs no word."""
    flip = Structural("flip", "x", "", lambda s, _: s[0], lambda np, x, s: np.flip(x[0], s[0]),
                      lambda b, p: None, parameters=(Parameter("axis", "axis", 0),))  # fmt: skip
    square = Structural("square", "x", "", lambda s, _: s[0], lambda np, x, s: x[0] * x[0],
                        lambda b, p: None, jvp=lambda b, p: None)  # fmt: skip
    monkeypatch.setitem(STRUCTURAL, "flip", flip)
    monkeypatch.setitem(STRUCTURAL, "square", square)
    x, off = np.array([1.1, 2.2]), np.array([1e-16, 2e-16])
    assert of_kind("flip", (0,), x[::-1], [x], [off]).tolist() == [2e-16, 1e-16]
    assert of_kind("square", (), x * x, [x], [0.0]) == inf


def test_whole_numbers_are_exact() -> None:
    run = parse("sum(A @ x) + max(x)*prod(x) + mean(A)").evaluate(A=[[1, 2], [3, 6]], x=[5, 6])
    assert run.digits == {"value": 15}  # prod may have been rounded, as far as it knows
    run = parse("sum(A @ x) + max(x) + trace(A) + mean(A)").gradient(A=[[1, 2], [3, 6]], x=[5, 6])
    assert run.digits["value"] == 16
    assert run.digits["gradient"]["x"] == 16


def test_a_root_that_is_rounded_to_a_whole_number() -> None:
    run = parse("sqrt(x*x + 1) - x").evaluate(x=[9e7, 8e7])
    assert not np.any(run.value)
    data, _ = evaluator_for(run.graph).errors(run.values, None)
    assert np.all(data[run.graph.output] > 1e-9)


def test_right_digits_of_arrays() -> None:
    values = np.array([1.0, 1.0, 1.0, 0.0, 0.0, inf, 2.0, 3.0])
    errors = np.array([0.0, 1e-6, 2.0, 0.0, 1e-323, inf, math.nan, inf])
    assert right_digits(values, errors).tolist() == [16, 5, 0, 16, 16, 0, 0, 0]
    assert right_digits(0.0, 1e-310) == 0
    assert right_digits(1.5, 0.0) == 16


def test_right_digits_of_numbers_and_arrays_are_the_same_and_never_too_many() -> None:
    """Worked out again in fractions: the error is at most 10^-N of the least that the number may be."""
    random = Random(31)
    pairs = [
        (
            random.choice((1, -1)) * 2.0 ** random.randint(-1074, 1023),
            2.0 ** random.randint(-1074, 900),
        )
        for _ in range(3000)
    ]
    pairs += [(x, abs(x) * random.random() * 10.0 ** -random.randint(0, 17)) for x, _ in pairs]
    pairs += [(k * 5e-324, j * 5e-324) for k in range(40) for j in range(4)]
    counts = [right_digits(x, error) for x, error in pairs]
    assert right_digits(*np.array(pairs).T).tolist() == counts
    for (x, error), count in zip(pairs, counts, strict=True):
        least = abs(Fraction(x)) - Fraction(error)
        if x and error:
            assert not count or Fraction(error) * 10**count <= least, (x, error)
            is_short = count < 16 and Fraction(error) * 10 ** (count + 1) < least * Fraction(
                999, 1000
            )
            assert not is_short or least < Fraction(1e-290), (x, error)


def test_a_constant_is_rounded() -> None:
    graph = parse("sum(pi*x)").evaluate(x=[1, 2]).graph
    errors = array_data_errors(graph, parse("sum(pi*x)").evaluate(x=[1, 2]).values, [graph.output])
    assert errors[graph.output] > 0


@pytest.mark.parametrize(
    "formula",
    ["abs(x*y)", "relu(x*y)", "(x*y)^2", "(x*y)^y", "where(x - y, x*y, x)", "(x*y) % 0.1", "floor(9*x*y)",
     "clamp(x*y, 0, 1)", "hypot(x*y, y)", "relu(x*y - 0.21)", "heaviside(x*y - 0.21)", "tanh(x*y)"],
)  # fmt: skip
def test_rows_are_bounded_as_over_numbers(formula: str) -> None:
    """Where a kink is within reach of some numbers of a tensor, the others are as good as smooth."""
    points = [(0.3, 0.7), (-0.6, 0.4), (1.7, 0.9)]
    over_numbers = [parse(formula).evaluate(x=x, y=y).errors[0][-1] for x, y in points]
    xs, ys = (list(column) for column in zip(*points, strict=True))
    found = parse(formula).evaluate(x=xs, y=ys).errors[0][-1]
    found = np.where(np.isnan(found), inf, found)
    assert np.broadcast_to(found, 3) == pytest.approx(over_numbers, rel=0.8, abs=1e-300)


def test_what_underflows_is_seen() -> None:
    """Half the least double is 0, and no bound: a product or a slope that is 0 may not be."""
    argv = ["sum(prod(x)/prod(y))*c", "x=[0.5, 5e199]", "y=[0.5, 5e199]", "c=2e-160"]
    done = command("grad", "-q", *argv)
    assert done.out.startswith("x=[4e-160, 0.0]")
    assert "0 is corrected to 4e-160" in done.err
    done = command("grad", "-q", "x*1e-200*1e-200*sum(y)*1e300", "x=2", "y=[1, 2]")
    assert "y=[2e-100, 2e-100]" in done.out and "0 is corrected to 2e-100" in done.err
    argv = ["log(sum((log(sum(exp(x))))^2))", "x=[595.9451291027563, -411]"]
    done = command("hess", "-q", *argv)
    assert done.out.startswith("x x=[[-5.63") and "0.00335" in done.err


@pytest.mark.parametrize("count", [3, 9, 11])
def test_a_singular_matrix_has_its_determinant(count: int) -> None:
    """Where elimination finds no pivot, the truth is found without division."""
    matrix = np.add.outer(np.arange(count), 3.0 * np.arange(count))  # of rank 2
    over, *_ = expand_elements(parse("det(A)").evaluate(A=matrix))
    true = enclose_nodes(over.graph, over.inputs, BITS)[over.graph.output]
    assert true.is_finite() and abs(true).abs_upper() < 1e-60
    assert parse("det(A)").evaluate(A=matrix + np.eye(count)).digits["value"] > 6


@pytest.mark.parametrize("count", [2, 30, 1000])
def test_a_dot_product_s_bound_is_the_known_one(count: int) -> None:
    """It holds, and is no wider than that of Higham (2002), equation 3.5: nu/(1 - nu) times the sizes."""
    draw = np.random.default_rng(count)
    a, b = draw.normal(size=(2, count))
    run = parse("dot(a, b)").evaluate(a=a, b=b)
    output = run.graph.output
    bound = float(array_data_errors(run.graph, run.values, [output])[output])
    rounded = count * 2.0**-53
    known = rounded / (1 - rounded) * math.fsum(abs(a * b))
    true = sum(Fraction(x) * Fraction(y) for x, y in zip(a.tolist(), b.tolist(), strict=True))
    assert abs(Fraction(float(run.value)) - true) <= bound <= 1.01 * known


def test_sums_of_zeros_are_exact() -> None:
    run = parse("sum(relu(b + X))").gradient(X=np.full(5000, -1.0), b=1, wrt=["b"])
    assert run.digits == {"value": 16, "gradient": {"b": 16}}


@pytest.mark.parametrize("word", ["max", "min"])
def test_an_extremum_beside_what_may_be_anything_may_be_anything(word: str) -> None:
    """Bounds that are nan or infinite are no numbers to compare."""
    row, x = STRUCTURAL[f"reduce_{word}"], np.array([1.0, 2.0, 3.0])
    assert row.bound is not None
    for off in (math.nan, inf):
        errors = [np.array([0.5, 0.25, 0.125]), np.array([0.0, off, 0.0])]
        found = [row.bound(np, [x], [error], 1.0, (None, False)) for error in errors]
        assert found[0] == (0.125 if word == "max" else 0.5) and not found[1] < inf


@pytest.mark.parametrize(
    "row", ["normpdf({})", "tanh({})", "atan2(1, {})", "relu6({})", "gelu({})"]
)
def test_a_hump_between_two_ends_that_are_flat(row: str) -> None:
    """``x + 1e20`` is off by 8,000: a row is flat where the sweep finds it, and may be anywhere."""
    formula = f"sum({row.format('(x + 1e20 - 1e20 - 6400)')})"
    run = parse(formula).gradient(x=[6401, 2])
    assert min(run.errors[1][run.graph.inputs["x"]]) > 0.1
