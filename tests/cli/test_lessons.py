"""``paths`` and ``grad --order``: every form of their answers, and requests that are wrong."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import golden
from shell import command, spelled

TWICE = ("t=a*b; y=t+t*a", "a=2", "b=-3")
CHAIN = "; ".join(["t0 = x*1", *(f"t{i + 1} = t{i} - t{i}" for i in range(15_000))])
SHORT = "; ".join(CHAIN.split("; ")[:41])
WRONG = [
    ["grad", *TWICE, "--order", "y,tt,a"],
    ["grad", *TWICE, "--order", "y,t*b,t"],
    ["grad", *TWICE, "--order", "y,7"],
    ["grad", *TWICE, "--order", "y,t,y"],
    ["grad", *TWICE, "--order", "y,t,4"],
    ["grad", *TWICE, "--order", "y,,t"],
    ["grad", *TWICE, "--order", ""],
    ["grad", *TWICE, "--order", "inorder"],
    ["grad", *TWICE, "--order", "Bfs"],
    ["grad", *TWICE, "--order", "y", "--order", "t"],
    ["grad", *TWICE, "--order"],
    ["grad", *TWICE, "--order", "y,t", "--trust"],
    ["grad", *TWICE, "--accumulate", "sub"],
    ["grad", "2*pi*x", "x=1", "--order", "pi"],
    ["grad", CHAIN, "x=1", "--order", "naive"],
    ["grad", "sum(x)", "x=[1,2]", "--order", "x"],
    ["grad", "sum(x*y)", "x=2", f"y={[1] * 2048}", "--accumulate", "set"],
    ["paths", "sum(x*y)", "x=2", f"y={[1] * 2048}"],
    ["paths", *TWICE, "-k", "two"],
    ["paths", *TWICE, "-k", "-1"],
    ["paths", *TWICE, "--most", "1.5"],
    ["paths", *TWICE, "--wrt", "c"],
    ["paths", *TWICE, "--trace"],
    ["paths", *TWICE, "-q", "--csv"],
    ["path", *TWICE],
]


def test_wrong_requests() -> None:
    shown = []
    for argv in WRONG:
        status, out, err = command(*argv)
        assert (status, out) == (2, "")
        shown.append(f"{spelled(argv)}\n{err}")
    golden.agree("requests/lessons.txt", "\n".join(shown))


def document(*argv: str) -> Any:
    status, out, err = command(argv[0], "--json", *argv[1:])
    assert (status, err) == (0, "")
    return json.loads(out)


def test_the_contract_s_example_of_paths() -> None:
    found = document("paths", *TWICE, "-k", "2")
    assert found["paths"] == {
        "a": {
            "count": 3,
            "gradient": -15.0,
            "listed": [
                {"nodes": [4, 3, 2, 0], "product": -6.0},
                {"nodes": [4, 3, 0], "product": -6.0},
            ],
            "rest": -3.0,
        },
        "b": {
            "count": 2,
            "gradient": 6.0,
            "listed": [
                {"nodes": [4, 3, 2, 1], "product": 4.0},
                {"nodes": [4, 2, 1], "product": 2.0},
            ],
            "rest": 0.0,
        },
    }
    fields = [
        "schema", "command", "expression", "inputs", "output", "value", "visited", "paths", "nodes",
        "diagnostics",
    ]  # fmt: skip
    assert list(found) == fields
    assert (found["visited"], found["value"]) == (5, -18.0)
    assert found["nodes"] == document("grad", *TWICE)["nodes"]


def test_the_visit_order_in_json() -> None:
    """The document is that of grad, its gradient the true one; order is the order that was asked for."""
    found = document("grad", "b=a+1; c=a*3; d=b*c", "a=2", "--order", "d,b,a,c")
    plain = document("grad", "b=a+1; c=a*3; d=b*c", "a=2")
    lesson = found.pop("visit_order")
    assert found == {**plain, "order": [5, 2, 0, 4]}
    assert (lesson["rule"], lesson["accumulate"]) == (None, "add")
    assert lesson["inputs"] == {
        "a": {
            "got": 6.0,
            "true": 15.0,
            "counted": {"paths": 1, "sum": 6.0},
            "lost": {
                "paths": 1,
                "sum": 9.0,
                "listed": [{"nodes": [5, 4, 0], "product": 9.0, "at": 1, "why": "late", "by": 0}],
                "rest": 0.0,
            },
            "again": {"times": 0, "sum": 0.0, "listed": []},
        }
    }
    assert [(p["user"], p["operand"], p["after"], p["late"]) for p in lesson["contributions"]] == [
        (5, 2, 6.0, False),
        (5, 4, 3.0, False),
        (2, 0, 6.0, False),
        (4, 0, 15.0, True),
    ]


def test_quiet() -> None:
    assert command("paths", "-q", *TWICE) == (0, "a=3\nb=2\n", "")
    wrong = "warning: the grads of a, b are wrong\n"
    assert command("grad", "-q", *TWICE, "--order", "naive") == (0, "a=-18.0\nb=8.0\n", wrong)
    assert command("grad", "-q", *TWICE, "--accumulate=set") == (0, "a=-6.0\nb=4.0\n", wrong)
    assert command("grad", "-q", *TWICE, "--accumulate=add") == (0, "a=-15.0\nb=6.0\n", "")


def rows(*argv: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(command(argv[0], "--csv", *argv[1:]).out)))


def test_csv() -> None:
    listed = rows("paths", *TWICE, "-k", "1")
    assert [(row["input"], row["paths"], row["nodes"]) for row in listed] == [
        ("a", "1", "4 3 2 0"),
        ("a", "2", ""),
        ("b", "1", "4 3 2 1"),
        ("b", "1", ""),
    ]
    assert sum(float(row["product"]) for row in listed if row["input"] == "a") == -15
    lost = rows("grad", *TWICE, "--order", "preorder")
    assert [list(row.values()) for row in lost] == [
        ["a", "-9.0", "-15.0", "2", "1", "-6.0", "0", "0.0"],
        ["b", "2.0", "6.0", "1", "1", "4.0", "0", "0.0"],
    ]
    traced = rows("grad", *TWICE, "--order", "preorder", "--trace")
    assert [row["late"] for row in traced] == ["0", "0", "0", "0", "1", "0"]
    assert [row["rule"] for row in traced] == ["1", "1", "b", "a", "a", "t"]


def test_a_wrong_order_is_a_lesson_and_strictly_an_error() -> None:
    for order, status in (("y,3,t", 0), ("y,t,3", 1), ("naive", 1)):
        assert command("grad", *TWICE, "--order", order)[0] == 0
        assert command("grad", *TWICE, "--order", order, "--strict")[0] == status
    assert command("paths", "abs(x)", "x=0")[0] == 0
    assert command("paths", "abs(x)", "x=0", "--strict")[0] == 1


def test_warnings_are_shown() -> None:
    assert "warning: " in command("paths", "abs(x)", "x=0").err
    assert "warning: " in command("grad", "abs(x)", "x=0", "--order", "bfs").err


@pytest.fixture
def few_digits() -> Iterator[None]:
    """Python turns no longer a number into text than it has to: 640 digits, rather than 4300."""
    usual = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(640)
    yield
    sys.set_int_max_str_digits(usual)


@pytest.mark.usefixtures("few_digits")
def test_a_count_of_many_digits() -> None:
    """More than Python turns into text by itself: 2^2200 has 663 digits."""
    chain = "; ".join(CHAIN.split("; ")[:2201])
    out = command("paths", chain, "x=1", "-k", "0", "--json").out
    digits = out.split('"count": ')[1].split(",")[0]
    assert len(digits) == 663 and digits.endswith(str(pow(2, 2200, 10**40)))
    assert command("paths", chain, "x=1", "-q").out == f"x={digits}\n"
    assert "1.84497e+662 paths" in command("paths", chain, "x=1", "-k", "1").out
    shown = command("grad", chain, "x=1", "--accumulate", "set").out
    assert "of 1.84497e+662 paths" in shown
    lost = document("grad", SHORT, "x=1", "--order", "x")["visit_order"]["inputs"]["x"]
    assert lost["lost"]["paths"] == 2**40


def test_paths_of_what_was_taken_apart() -> None:
    plain = document("paths", "tanh(x)", "x=1")["paths"]["x"]
    apart = document("paths", "tanh(x)", "x=1", "--expand", "tanh")["paths"]["x"]
    assert (plain["count"], apart["count"] > 1) == (1, True)
    assert apart["gradient"] == pytest.approx(plain["gradient"], rel=1e-14)


def test_order_of_what_was_taken_apart() -> None:
    """Ids are those of the larger graph."""
    found = document("grad", "tanh(x)", "x=1", "--expand", "tanh", "--order", "bfs")
    assert len(found["order"]) > 1


def test_how_many_paths_are_listed_at_most() -> None:
    status, _, err = command("paths", "x", "x=1", "-k", "100001")
    assert status == 2 and "100,001 paths" in err and "100,000 at most" in err


def test_the_name_of_an_order_among_nodes() -> None:
    status, _, err = command("grad", "a*b", "a=1", "b=2", "--order", "naive,a")
    assert status == 2 and "'naive' is an order, not a node" in err and "did you mean" not in err


def test_the_page_of_a_lesson_in_a_file_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its folder is none of the new one."""
    from exprgrad.cli.commands import dot_explore_plot

    folder = tmp_path / "lessons"
    folder.mkdir()
    text = 'title = "Mine"\nexpression = "a*b"\n[values]\na = 2\nb = 3\n'
    (folder / "mine.toml").write_text(text, encoding="utf-8")
    monkeypatch.setattr(dot_explore_plot, "open_in_browser", lambda path: None)
    status, out, _ = command("explore", "--lesson", str(folder / "mine.toml"), "--open", "--json")
    assert status == 0 and Path(json.loads(out)["file"]).name == "mine.html"
