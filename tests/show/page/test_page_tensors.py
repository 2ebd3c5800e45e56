"""The page's sweeps over tensors against the library's; Jacobians, and where a number comes from."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np
import pytest

from exprgrad import Lesson, Run, parse
from exprgrad.errors import RequestError
from exprgrad.show.page.arithmetic import selector_inputs
from exprgrad.show.page.lessons import LessonPart
from exprgrad.show.page.model import page_edges
from scripts import ask
from tensor_formulas import SHAPES, drawn

SWEPT = """
const data = forward(PAGE, new Map(ARGS.map(([id, numbers, shape]) => [id, tensor(numbers, shape)])));
const {grads} = simulate(PAGE, localDerivatives(PAGE, data), ORDERS.right(PAGE));
const listed = found => PAGE.nodes.map((_, id) => id in found ? [...numbersOf(found[id])] : null);
return [data, grads].map(listed);
"""
JACOBIANS = """
const entryOf = (row, at) => row.find(([to]) => to === at)?.[1] ?? 0;
const whole = (row, width) => Array.from({length: width}, (_, at) => entryOf(row, at));
const locals = localDerivatives(PAGE, forward(PAGE));
return locals.map(({slopes, width}) => slopes.map(row => whole(row, width)));
"""
FACTORS = """
const data = forward(PAGE), {user, position} = PAGE.edges[ARGS.edge], node = PAGE.nodes[user];
const found = factors(TENSORS[node.row], node.operands.map(id => data[id]), ARGS.to, [position, ARGS.from]);
return [...found].sort();
"""


def swept(runs: Sequence[tuple[Run, Run]]) -> None:
    """Hold the page of each first run, edited to the inputs of the second, against that."""

    def edits(run: Run, other: Run) -> list[Any]:
        places = {node: place for place, node in enumerate(run.shown)}
        return [
            [places[node], np.ravel(other.inputs[name]).tolist(), list(run.graph.shape(node))]
            for name, node in run.graph.inputs.items()
        ]

    answers = ask([(run, SWEPT, edits(run, other)) for run, other in runs])
    for (run, other), (data, grads) in zip(runs, answers, strict=True):
        assert run.adjoints is not None
        for place, node in enumerate(run.shown):
            due = np.ravel(other.values[node])
            scale = np.max(np.abs(due), initial=1.0)
            assert np.allclose(data[place], due, rtol=1e-12, atol=1e-13 * scale), (run.text, node)
            grad = other.grad(node)
            if grad is not None and grads[place] is not None:
                scale = np.max(np.abs(grad), initial=1.0)
                own = np.broadcast_to(grads[place], np.ravel(grad).shape)
                assert np.allclose(own, np.ravel(grad), rtol=1e-11, atol=1e-12 * scale), run.text


def at(random: Random) -> dict[str, Any]:
    """Inputs, away from 0."""
    return {
        name: np.array([random.choice([-1, 1]) * random.uniform(0.3, 2) for _ in range(n)]).reshape(
            s
        )
        if s
        else random.uniform(0.3, 2)
        for name, s in SHAPES.items()
        for n in [int(np.prod(s))]
    }


def many(count: int, seed: int) -> list[tuple[Run, Run]]:
    """Runs of formulas, at two points."""
    found: list[tuple[Run, Run]] = []
    random = Random(seed)
    while len(found) < count:
        expression = parse(drawn(random))
        one, other = (
            {name: value for name, value in at(random).items() if name in expression.inputs}
            for _ in range(2)
        )
        if not expression.inputs:
            continue
        run = expression.gradient(one)
        if not run.graph.shapes or selector_inputs(run):
            continue
        found.append((run, expression.gradient(other)))
    return found


def test_sweeps_over_tensors() -> None:
    swept(many(40, 1))


@pytest.mark.slow
def test_many_sweeps_over_tensors() -> None:
    swept(many(120, 2))


TIES = (
    "sum(max(x, [1, 2, 5]))", "sum(min([1, 2, 5], x))", "sum(max(x, [1, 1, 1]))", "sum(max(x, 1))",
    "sum(max(x, [[1, 2, 5], [1, 1, 1]]))", "sum(max(x*x, exp([0, 2, 1])))", "sum(x^[2, 3, 0])",
    "sum(clamp(x, [1, 0, 3], [2, 2, 4]))", "sum(max(x, s))", "sum(max(x, s*[1, 2, 3]))",
)  # fmt: skip


def test_a_tie_with_a_constant_is_that_of_grad() -> None:
    """A constant takes all of a tie, an input its share: also where the constant's numbers differ."""
    inputs = {"x": [1.0, 2.0, 3.0], "s": 1.0}
    runs = []
    for expression in map(parse, TIES):
        run = expression.gradient({name: inputs[name] for name in expression.inputs})
        runs.append((run, run))
    swept(runs)


X, W = [[1.0, 2.0], [3.0, -4.0]], [[1.0, 0.5, 2.0], [2.0, -1.0, 1.0]]


@pytest.mark.parametrize(
    ("text", "inputs"),
    [
        ("sum(X @ W)", {"X": X, "W": W}),
        ("sum(relu(X))", {"X": X}),
        ("sum(softmax(X))", {"X": X}),
        ("sum(X + b)", {"X": X, "b": [0.1, 0.2]}),
        ("sum(cumsum(X, axis=0) * X.T)", {"X": X}),
    ],
)
def test_a_grad_times_a_jacobian_is_the_contribution(text: str, inputs: dict[str, Any]) -> None:
    """A grad times the script's Jacobian is what the edge passes on, for every edge."""
    run = parse(text).gradient(inputs)
    (locals_,) = ask([(run, JACOBIANS, None)])
    adjoints = run.adjoints
    assert adjoints is not None
    for (user, position), matrix in zip(page_edges(run), locals_, strict=True):
        operand = run.operands(user)[position]
        grad = np.ravel(run.grad(user)) @ np.array(matrix)
        passed = {p: found for p, _, found in adjoints.passed(user)}
        assert np.allclose(grad, np.ravel(passed[position])), (text, user)
        assert len(matrix[0]) == np.size(run.values[operand])


def test_a_slope_of_a_product_comes_from_the_other_factor() -> None:
    """Entry (0, 1) of X is passed the grad of entry (0, 2) of X @ W times W[1, 2]."""
    run = parse("sum(X @ W)").gradient({"X": X, "W": W})
    (found,) = ask([(run, FACTORS, {"edge": 1, "to": 2, "from": 1})])
    assert found == ["1 5"]
    power = parse("sum(X^3)").gradient({"X": X})
    (own,) = ask([(power, FACTORS, {"edge": 1, "to": 3, "from": 3})])
    assert own == ["0 3", "1 0"]


def test_labels_cannot_be_edited() -> None:
    run = parse("cross_entropy(X, y)").gradient({"X": X, "y": [0.0, 1.0]})
    assert selector_inputs(run) == {run.graph.inputs["y"]}
    assert not selector_inputs(parse("sum(softmax(X)*T)").gradient({"X": X, "T": X}))


def test_what_moves_is_for_numbers() -> None:
    part = LessonPart("1. Down", live="descent")
    lesson = Lesson("down", "Down", "sum(x*x)", {"x": [1, 2]}, "", (), parts=(part,))
    run = parse(lesson.expression).gradient(lesson.values)
    with pytest.raises(RequestError, match="tensors"):
        run.explore(lesson=lesson)
    assert "TENSORS" in run.explore(lesson=lesson._replace(parts=())).html
