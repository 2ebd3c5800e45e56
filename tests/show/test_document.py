"""JSON documents piece by piece: where lines begin, and what is in brackets."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from exprgrad import parse
from exprgrad.show.documents.document import Apart, Lines, Quoted, Short, csv_line, json_document
from exprgrad.show.documents.runs import node_rows

HEAD = '{"schema": "exprgrad/1", "command": "c", "expression": "x"'
LAYOUTS: list[tuple[Any, str]] = [
    (1.0, ', "a": 1.0}'),
    (Apart(1.0), ',\n "a": 1.0}'),
    ({"p": Apart(1), "q": Apart(2), "r": 3}, ', "a": {"p": 1,\n  "q": 2, "r": 3}}'),
    ({}, ', "a": {}}'),
    (Lines([1, float("nan")]), ',\n "a": [\n  1,\n  "nan"]}'),
    (Lines([]), ',\n "a": []}'),
    (Lines({"p": 1, "q": [float("inf")]}.items(), "{}"), ',\n "a": {\n  "p": 1,\n  "q": ["inf"]}}'),
]


@pytest.mark.parametrize(("value", "written"), LAYOUTS)
def test_where_lines_begin(value: Any, written: str) -> None:
    """What is apart has a line of its own, unless it is the first in its brackets."""
    made = "".join(json_document("c", "x", [("a", value)]))
    assert made == f"{HEAD}{written}\n"
    assert [*json.loads(made)] == ["schema", "command", "expression", "a"]


def test_a_tensor_is_a_summary_unless_all_is_asked_for() -> None:
    many = Short(np.zeros((30, 40)))
    short, long = (
        "".join(json_document("c", "x", [("a", many)], whole=it)) for it in (False, True)
    )
    assert json.loads(short)["a"]["shape"] == [30, 40]
    assert json.loads(long)["a"] == np.zeros((30, 40)).tolist()


def test_only_a_text_that_may_be_empty_is_quoted_in_csv() -> None:
    """A group may be called ""; a node that is in no call has an empty cell there."""
    assert csv_line([Quoted(""), "", None, Quoted("a"), 1]) == '"",,,a,1\n'
    run = parse("f(x) = x*x; f(a) + b").gradient(a=1, b=2)
    lines = [csv_line(cells) for cells in node_rows(run)]
    assert [line.rstrip().rpartition(",")[2] for line in lines] == ["call", "", "f(a)", "", ""]
