"""What the page's script is told of a run."""

from __future__ import annotations

import json
import math

from exprgrad import parse
from exprgrad.show.page.model import page_model


def test_a_model() -> None:
    found = page_model(
        parse("b = a^2 - 1; c = b*k").gradient({"a": 2, "k": 3}, wrt=["a"]), digits=4
    )
    assert found["nodes"] == [
        {"id": 0, "kind": "input", "label": "a", "short": "a", "data": 2.0, "active": 1},
        {"id": 1, "kind": "const", "label": "2", "short": "2", "data": 2.0},
        {"id": 2, "kind": "op", "label": "a ^ 2", "short": "a^2", "operands": (0, 1), "row": "pow/x,2",
         "active": 1},
        {"id": 3, "kind": "const", "label": "1", "short": "1", "data": 1.0},
        {"id": 4, "kind": "op", "label": "b = a^2 − 1", "short": "b", "operands": (2, 3), "row": "sub",
         "active": 1},
        {"id": 5, "kind": "input", "label": "k", "short": "k", "data": 3.0},
        {"id": 6, "kind": "op", "label": "c = b * k", "short": "c", "operands": (4, 5), "row": "mul",
         "active": 1},
    ]  # fmt: skip
    math_ = "<math><mn>2</mn><mi>a</mi></math>"
    assert found["edges"] == [
        {"user": 6, "position": 0, "operand": 4, "rule": "k"},
        {"user": 4, "position": 0, "operand": 2, "rule": "1"},
        {"user": 2, "position": 0, "operand": 0, "rule": "2·a", "math": math_},
    ]
    assert found["rows"]["pow/x,2"] == {
        "about": "x ^ y: x to the power y; 0^0 is 1",
        "gate": "power",
        "pattern": "it passes its grad on times the slope of the power",
        "form": ["", " ^ ", ""],
        "signs": [1, 0],
        "domain": [
            "the base is positive, or 0 with an exponent from 0 up, or negative with a whole exponent"
        ],
    }
    assert found["rows"]["sub"]["signs"] == [0, 1]
    assert found["rows"]["mul"]["form"] == ["", " × ", ""]
    assert "signs" not in found["rows"]["mul"]
    assert (found["output"], found["digits"], found["inputs"], found["wrt"], found["notes"]) == (
        6, 4, [("a", 0), ("k", 5)], [0], [],
    )  # fmt: skip


def test_edges_are_those_of_json_and_of_branches_not_taken() -> None:
    run = parse("where(x > 0, x*y, exp(x) + y)").gradient(x=1, y=2)
    found = [(edge["user"], edge["position"]) for edge in page_model(run)["edges"]]
    listed = [(edge.user, edge.position) for edge in run.edges]
    assert [edge for edge in found if edge in listed] == listed
    assert len(found) == len(listed) + 4
    assert found == sorted(found, key=lambda edge: (-edge[0], edge[1]))
    assert [
        edge["gated"] for edge in page_model(run)["edges"] if edge["user"] == run.graph.output
    ] == [1] * 3


def test_names_tell_nodes_apart() -> None:
    run = parse("a*a + a*a*sin(a + a*a*a*a*a*a*a*a*a*a) - tanh(a*a*a*a*a*a*a*a*a*a*a*a)").gradient(
        a=1
    )
    shorts = [node["short"] for node in page_model(run)["nodes"]]
    assert len(set(shorts)) == len(shorts)
    assert max(map(len, shorts)) <= 24 + len(" (#00)")
    assert shorts[:3] == ["a", "a*a (#1)", "a*a (#2)"]
    long = "a_rather_long_name_for_an_input"
    named = page_model(parse(f"{long}1*{long}2").gradient({f"{long}1": 1, f"{long}2": 2}))["nodes"]
    assert [node["short"] for node in named[:2]] == [f"{long[:23]}… (#0)", f"{long[:23]}… (#1)"]


def test_numbers_that_json_lacks() -> None:
    found = page_model(parse("x*inf + nan*y").gradient(x=-math.inf, y=-0.0))
    numbers = [node["data"] for node in found["nodes"] if "data" in node]
    assert numbers == ["-inf", "inf", "nan", 0.0]
    assert math.copysign(1, numbers[-1]) == -1
    assert '"data": -0.0' in json.dumps(found, allow_nan=False)


def test_notes() -> None:
    (note,) = page_model(parse("abs(x)").gradient(x=0))["notes"][:1]
    assert note["severity"] == "warning" and "kink" in note["message"]


def test_texts_stay_as_they_are() -> None:
    run = parse("𝒳 = ключ*2; naïve = 𝒳 - 1").gradient({"ключ": 1})
    assert [node["short"] for node in page_model(run)["nodes"]] == ["ключ", "2", "𝒳", "1", "naïve"]


def test_a_derivative_that_is_not_the_sweep_s() -> None:
    found = page_model(parse("y + relu(x) - relu(-x)").gradient(x=0, y=2))
    assert found["corrected"] == [(1, 1.0)]
    assert "corrected" not in page_model(parse("relu(x)").gradient(x=0))


def test_where_digits_are_lost() -> None:
    found = page_model(parse("y + (1 - cos(x))/x^2").gradient(x=1e-7, y=1))
    labels = [node["label"] for node in found["nodes"]]
    ((blamed, text),) = [(one["node"], one["text"]) for one in found["losses"]]
    assert labels[blamed] == "1 − cos(x)" and "right digits in doubles" in text
    assert labels.index("x") in found["vague"]["grad"] and blamed in found["vague"]["data"]
    assert [place for place, _ in found["corrected"]] == [labels.index("x")]
    assert not {"losses", "vague"} & {*page_model(parse("x*y").gradient(x=1, y=2))}


def test_where_an_operation_is_defined() -> None:
    rows = page_model(parse("log(x)/y*sqrt(x) + asin(y) + x").gradient(x=0.5, y=0.25))["rows"]
    assert rows["log"]["domain"] == [0, " > 0"] and rows["div"]["domain"] == [1, " ≠ 0"]
    assert rows["asin"]["domain"] == ["|", 0, "| ≤ 1"] and "domain" not in rows["add"]


def test_what_no_small_step_can_move() -> None:
    nodes = page_model(parse("where(x > 0, x, 2*3)").gradient(x=1))["nodes"]
    assert [node["label"] for node in nodes if node.get("still")] == ["x > 0", "2 * 3"]
