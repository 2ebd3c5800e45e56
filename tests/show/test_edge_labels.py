"""The label on an edge: a formula, a number, both, or the size of what is never formed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from exprgrad import parse
from exprgrad.run.evaluation import SweptRun
from exprgrad.show.picture.cards import Chip, DrawingOptions, Wire, chip_table, operand_wires


def labels(text: str, **values: Any) -> list[Wire]:
    """The wires into the output of a formula."""
    run = parse(text).gradient(values)
    return list(operand_wires(run, run.graph.output, DrawingOptions()))


def texts(text: str, **values: Any) -> list[tuple[str, str | None, bool]]:
    """Their texts, what of them is a formula, and whether a gradient can flow."""
    return [(c.text, c.formula, flows) for c, flows in labels(text, **values) if c is not None]


@pytest.mark.parametrize(
    ("formula", "values", "expected"),
    [
        ("a + b", {"a": 1, "b": 2}, [("1", None, True), ("1", None, True)]),
        ("a - b", {"a": 1, "b": 2}, [("1", None, True), ("−1", None, True)]),
        ("a*b", {"a": 3, "b": 0}, [("b = 0", "b = ", True), ("a = 3", "a = ", True)]),
        ("1/x", {"x": 0}, [("−1/x^2 = −inf", "−1/x^2 = ", True)]),
    ],
)
def test_a_number_stands_alone_where_the_rule_is_that_number(
    formula: str, values: dict[str, float], expected: list[tuple[str, str | None, bool]]
) -> None:
    assert texts(formula, **values)[: len(expected)] == expected


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("tanh(x*w1 + x*w2 + b*x)", "1 − out^2 = "),
        ("o = tanh(x*w1 + x*w2 + b*x)", "1 − o^2 = "),
        ("out = x*w1; tanh(out + x*w2 + b*w1*w2)", ""),  # "out" is another node's name
        ("sin(x*w1 + x*w2 + b*x + w1*w2)", ""),
    ],
)
def test_a_rule_is_never_cut_to_another_one(formula: str, expected: str) -> None:
    """What is too long is written by the node's own result, or left out; the number stays."""
    ((text, beginning, _),) = texts(formula, x=1, w1=0.5, w2=0.25, b=1)
    assert beginning == expected
    assert text.startswith(expected) and float(text.rpartition(" ")[2].replace("−", "-"))


def test_a_rule_of_tensors_is_never_cut() -> None:
    run = parse("tanh(X*first + X*second + X*third + X*fourth)").evaluate(
        X=[1, 2], first=1, second=2, third=3, fourth=4
    )
    ((chip, _),) = operand_wires(run, run.graph.output, DrawingOptions())
    assert chip is not None and chip.text == "diag(1 − out^2)"
    run = parse("sin(X*first + X*second + X*third + X*fourth)").evaluate(
        X=[1, 2], first=1, second=2, third=3, fourth=4
    )
    assert list(operand_wires(run, run.graph.output, DrawingOptions())) == [(None, True)]


def test_what_passes_nothing_on() -> None:
    """A branch that was not taken, of numbers and of tensors; one number that is taken is enough."""
    _, taken, left = labels("where(c, x, y)", c=1, x=2, y=3)
    assert taken[1] and not left[1]
    run = parse("where(c, x, y)").evaluate(c=[1, 1], x=[1, 2], y=[3, 4])
    assert len(list(operand_wires(run, run.graph.output, DrawingOptions()))) == 3
    run = parse("u = where(c, x, y); sum(u)").gradient(c=[1, 0], x=[1, 2], y=[3, 4])
    user = run.graph.operands[run.graph.output][0]
    assert [flows for _, flows in operand_wires(run, user, DrawingOptions())][1:] == [True, True]
    run = parse("u = where(c, x, y); sum(u)").gradient(c=[1, 1], x=[1, 2], y=[3, 4])
    assert [flows for _, flows in operand_wires(run, user, DrawingOptions())][1:] == [True, False]


def test_the_size_of_a_jacobian() -> None:
    """A number has none; a large one of tensors is noted if no diagonal stands for it."""
    run = parse("sin(x)").evaluate(x=1)
    ((chip, _),) = operand_wires(run, 1, DrawingOptions())
    assert chip is not None and (chip.note, chip.tooltip) == ("", " ")
    run = parse("X @ W").evaluate(X=np.ones((40, 30)), W=np.ones((30, 20)))
    (chip, _), _ = operand_wires(run, 2, DrawingOptions())
    assert chip is not None and chip.note == "never formed: 7.68 MB"
    assert chip.tooltip == "the Jacobian, 800 by 1,200, is never formed: it would be 7.68 MB"
    run = parse("sin(X)").evaluate(X=np.ones((40, 30)))
    ((chip, _),) = operand_wires(run, 1, DrawingOptions())
    assert chip is not None and not chip.note and "1,200 by 1,200" in chip.tooltip


def test_before_a_sweep_a_label_is_the_rule_if_that_is_known() -> None:
    """The rule of a structural edge depends on the shapes."""
    for text, expected in (("x*2", [(Chip("2"), True), (None, False)]), ("sum(x)", [(None, True)])):
        graph = parse(text).graph
        assert (
            list(operand_wires(SweptRun(text, graph, {}, []), graph.output, DrawingOptions()))
            == expected
        )


@pytest.mark.parametrize("all", [False, True])
def test_an_edge_that_passes_nothing_waits_if_it_may_pass_something(all: bool) -> None:
    """Only on the page, where the numbers change, has such an edge a chip."""
    for text, chip in (("u = 2*y", Chip("2")), ("u = y*y", Chip("y = –", formula="y = "))):
        run = parse(f"{text}; where(x > 0, x, u)").gradient(x=1, y=2)
        (node,) = [node.id for node in run.nodes if node.name == "u"]
        assert list(operand_wires(run, node, DrawingOptions(), all=all))[1] == (
            chip if all else None,
            False,
        )


def test_there_is_room_for_other_digits_beside_a_formula() -> None:
    chip = Chip("y = 3", formula="y = ")
    assert 'WIDTH="' in chip_table(chip, room=9) and 'WIDTH="' not in chip_table(chip)
    assert 'WIDTH="' not in chip_table(Chip("1"), room=9)
    assert chip_table(Chip("· @ W.T", "never formed: 2 kB")).count("<TR>") == 2
