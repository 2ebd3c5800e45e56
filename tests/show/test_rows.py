"""A picture wider than a page: it is cut into rows, and tags lead from one to another."""

from __future__ import annotations

import re

import pytest

from exprgrad import parse
from exprgrad.run.evaluation import SweptRun
from exprgrad.show.picture.dot import (
    PAGE,
    PictureRows,
    draw_sheet,
    single_row,
    split_into_rows,
    width_warning,
)
from shell import command

LONG = "+".join(f"x{i}*w{i}" for i in range(20))


def equal(text: str, *, wrap: bool = True, share: int = 10) -> tuple[dict[int, int], int]:
    """The rows of a formula whose cards and chips all have the same share of a page, and how many."""
    graph = parse(text).graph
    run = SweptRun(text, graph, {}, [])
    cards = dict.fromkeys(run.shown, PAGE / share)
    chips = {node: [PAGE / share] * len(run.operands(node)) for node in run.shown}
    rows = split_into_rows(run, cards, chips, wrap=wrap)
    return dict(rows.row), rows.total


def test_what_fits_a_page_stands_in_one_row() -> None:
    assert equal("a*b + c")[1] == 1
    assert equal(LONG, wrap=False)[1] == 1


@pytest.mark.parametrize(
    "text", [LONG, "u = a*b; v = tanh(u); w = v + u*2; " + LONG + "+ w + v", "a" + "+a" * 30]
)
def test_a_row_uses_only_those_before_it(text: str) -> None:
    graph = parse(text).graph
    row, total = equal(text)
    assert total > 1 and {*row.values()} == {*range(total)}
    for user, operands in enumerate(graph.operands):
        assert all(row[operand] <= row[user] for operand in operands)


def test_a_term_of_few_operations_stands_in_the_row_of_its_user() -> None:
    text = "+".join(f"tanh(x{i}*w{i})" for i in range(20))
    graph = parse(text).graph
    row, _ = equal(text)
    for user, operands in enumerate(graph.operands):
        for operand in operands:
            if graph.kinds[operand] != "add":
                assert row[operand] == row[user]


def test_rows_are_about_as_long_as_each_other() -> None:
    row, total = equal("tanh(" * 24 + "x" + ")" * 24, share=30)
    lengths = [[*row.values()].count(at) for at in range(total)]
    assert total == 3 and max(lengths) - min(lengths) <= 3


def test_an_operation_wider_than_a_page_is_a_row() -> None:
    """But the first few, which are never cut apart."""
    run = SweptRun("", parse("tanh(" * 7 + "x" + ")" * 7).graph, {}, [])
    wide = dict.fromkeys(run.shown, 2.0 * PAGE)
    rows = split_into_rows(run, wide, {node: [] for node in run.shown}, wrap=True)
    assert [*rows.row.values()].count(0) == 5 and rows.total == 4


def test_down_a_graph_is_as_wide_as_what_is_beside_each_other() -> None:
    run = SweptRun("", parse("max(a, b, c, d, e)").graph, {}, [])
    cards, chips = (
        dict.fromkeys(run.shown, 100.0),
        {n: [10.0] * len(run.operands(n)) for n in run.shown},
    )
    assert 500 < single_row(run, cards, chips).width < 700
    chips[5] = [1000.0] * 5
    assert single_row(run, cards, chips).width > 5000


def test_tags_lead_from_row_to_row() -> None:
    """A number stands where a wire ends, and where it goes on; a constant is drawn again instead."""
    values = {f"{letter}{i}": 1.0 for letter in "xw" for i in range(20)}
    dot = parse(f"u = tanh(x0); ({LONG})*2*u + 2").gradient(values).dot()
    assert (
        len(re.findall(r"subgraph cluster_row\d", dot))
        == dot.count("row 1 of") + dot.count(" of ") - 1
    )
    out = {*re.findall(r"^\t*o(\d+) \[", dot, re.MULTILINE)}
    back = {*re.findall(r"^\t*i\d+_(\d+) \[", dot, re.MULTILINE)}
    assert out and out <= back
    assert "ordering" not in dot


def test_every_wire_stays_in_its_row() -> None:
    dot = parse(LONG).dot()
    for strip in re.split(r"subgraph cluster_row\d+", dot)[1:]:
        defined = {*re.findall(r"^\t*(\w+) \[", strip, re.MULTILINE)}
        for start, end in re.findall(r"(\w+):\w -> (\w+)", strip):
            assert {start, end} <= defined


def test_without_a_wide_graph_nothing_is_said() -> None:
    assert draw_sheet(parse("a*b").graph).remark == ""
    assert draw_sheet(parse(LONG).graph, wrap=False).remark == ""
    assert "row" not in width_warning(PictureRows({}, 1, 2.0 * PAGE), across=True, wrap=True)
    assert "it is drawn in" in draw_sheet(parse(LONG).graph).remark
    wide = ", ".join(f"sin(x{i})" for i in range(60))
    assert "wider than a page\n" in draw_sheet(parse(f"max({wide})").graph, direction="TB").remark


def test_the_command_warns_on_stderr() -> None:
    done = command("dot", LONG)
    assert done.status == 0 and done.out.startswith("digraph")
    assert done.err.startswith(
        "warning: the picture would be wider than a page, so it is drawn in "
    )
    assert "--direction TB" in done.err and "--no-wrap" in done.err
    assert command("dot", LONG, "--no-wrap").err == ""
    assert command("dot", LONG, "--json").err == ""


def test_an_opened_call_has_a_frame_in_each_row() -> None:
    text = "f(x) = tanh(" + "+".join(f"x*w{i}" for i in range(20)) + "); f(a) + f(b)"
    dot = parse(text).expand(["f"]).dot()
    assert dot.count('label="f(a)"') > 1
    names = re.findall(r"subgraph (\S+) \{", dot)
    assert len({*names}) == len(names)
