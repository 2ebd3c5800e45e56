"""The chips on a picture's edges: what each says, and along which edges a gradient can flow."""

from __future__ import annotations

from typing import Any

import pytest

from exprgrad.api import parse
from exprgrad.draw.picture.edge_labels import Chip, boxed, wires
from exprgrad.run.result import Run


def before(text: str, **shapes: tuple[int, ...]) -> list[tuple[Chip | None, bool]]:
    """The wires to the output of a formula, before any sweep."""
    graph = parse(text, shapes=shapes).typed if shapes else parse(text).graph
    return list(wires(Run(text, graph, {}, []), graph.output, 6))


def after(text: str, *, all: bool = False, **values: Any) -> list[tuple[Chip | None, bool]]:
    """The wires to the output of a run."""
    run = parse(text).gradient(values)
    return list(wires(run, run.graph.output, 6, all=all))


def test_before_a_sweep_a_chip_is_the_rule() -> None:
    assert before("x*y") == [(Chip("y"), True), (Chip("x"), True)]
    assert before("x*2") == [(Chip("2"), True), (None, False)]


def test_the_rule_of_a_structural_edge_depends_on_the_shapes() -> None:
    assert before("sum(x)") == [(None, True)]
    ((chip, flows),) = before("sum(x)", x=(3,))
    assert flows and chip is not None
    assert chip.text == "broadcast(·, shape=[3])" and "1 by 3" in chip.tooltip


def test_after_a_sweep_a_chip_has_its_number() -> None:
    assert after("x*y", x=2, y=3) == [
        (Chip("y = 3", formula="y = "), True),
        (Chip("x = 2", formula="x = "), True),
    ]
    assert after("x - y", x=2, y=3) == [(Chip("1"), True), (Chip("−1"), True)]


def test_the_branch_that_is_not_taken_is_dashed_with_its_zero() -> None:
    _, taken, other = after("where(x > 0, x*x, y*y)", x=1, y=2)
    assert taken == (Chip("where(x > 0, 1, 0) = 1", formula="where(x > 0, 1, 0) = "), True)
    assert other == (Chip("where(x > 0, 0, 1) = 0", formula="where(x > 0, 0, 1) = "), False)


@pytest.mark.parametrize("all", [False, True])
def test_an_edge_that_passes_nothing_waits_if_it_may_pass_something(all: bool) -> None:
    """Only on the page, where the numbers change, has such an edge a chip."""
    run = parse("u = 2*y; where(x > 0, x, u)").gradient(x=1, y=2)
    (product,) = [node.id for node in run.nodes if node.name == "u"]
    assert list(wires(run, product, 6, all=all)) == [
        (None, False),
        (Chip("2") if all else None, False),
    ]
    run = parse("u = y*y; where(x > 0, x, u)").gradient(x=1, y=2)
    (square,) = [node.id for node in run.nodes if node.name == "u"]
    waiting = Chip("y = –", formula="y = ") if all else None
    assert list(wires(run, square, 6, all=all)) == [(waiting, False)] * 2


def test_a_diagonal_needs_no_size() -> None:
    ((chip, _),) = list(
        wires(run := parse("sum(tanh(x))").gradient(x=[0.0] * 200), run.graph.output - 1, 6)
    )
    assert chip is not None and chip.note == "" and chip.text.startswith("diag(")


def test_a_jacobian_that_is_not_formed_says_its_size_from_1_kb_on() -> None:
    ((small, _),) = after("sum(x)", x=[1.0] * 124)
    ((large, _),) = after("sum(x)", x=[1.0] * 125)
    assert small is not None and small.note == "" and "992 bytes" in small.tooltip
    assert large is not None and large.note == "never formed: 1 kB"


def test_there_is_room_for_other_digits_beside_a_formula() -> None:
    chip = Chip("y = 3", formula="y = ")
    assert 'WIDTH="' in boxed(chip, room=9) and 'WIDTH="' not in boxed(chip)
    assert 'WIDTH="' not in boxed(Chip("1"), room=9)
    assert boxed(Chip("· @ W.T", "never formed: 2 kB")).count("<TR>") == 2
