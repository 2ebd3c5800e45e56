"""Documents of runs over tensors: the schema, whole and summed up, and text that reads back."""

from __future__ import annotations

import copy
import csv
import io
import json
import pickle
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from exprgrad import Run, parse
from exprgrad.cli.answer import bare_line
from exprgrad.show.documents.document import LARGEST_SHOWN, csv_line, nested_lists
from exprgrad.show.documents.document import json_document as written
from exprgrad.show.documents.runs import node_rows, run_fields, trace_rows
from shell import command
from tensor_runs import NETWORK, RUNS, network

ROOT = Path(__file__).parents[2]
VALIDATOR = Draft202012Validator(
    json.loads((ROOT / "docs/reference/schema.json").read_text("utf-8"))
)


def document(run: Run, **options: Any) -> Any:
    """A run as JSON, held to the schema."""
    found = json.loads(
        run.json(**options), parse_constant=lambda name: pytest.fail(f"{name} is not JSON")
    )
    VALIDATOR.validate(found)
    return found


def numbers(value: Any) -> Any:
    """A tensor of a document as an array."""
    return np.array(value, dtype=float)


@pytest.mark.parametrize("name", RUNS)
def test_every_document_is_as_the_schema_says(name: str) -> None:
    """And says what the run says, number by number."""
    run = network(10) if name == "network" else RUNS[name]
    found = document(run)
    assert np.array_equal(numbers(found["value"]), run.true.value, equal_nan=True)
    for node, item in zip(run.nodes, found["nodes"], strict=True):
        assert tuple(item["shape"]) == np.shape(node.data) == node.shape
        assert list(item)[:6] == ["id", "name", "op", "operands", "text", "span"]
        if not isinstance(item["data"], dict):
            assert np.array_equal(numbers(item["data"]), node.data, equal_nan=True)
    for edge, item in zip(run.edges, found.get("edges", []), strict=True):
        user, operand = found["nodes"][edge.user], found["nodes"][edge.operand]
        assert item["jacobian"]["shape"] == [user["shape"], operand["shape"]]
        wanted = 8 * np.prod(user["shape"], dtype=int) * np.prod(operand["shape"], dtype=int)
        assert item["jacobian"]["bytes"] == wanted
        assert (item["local"] is None) == (edge.local is None)
        if isinstance(item["contribution"], list):
            assert np.array_equal(numbers(item["contribution"]), edge.contribution, equal_nan=True)
        if isinstance(item["local"], list):
            assert np.shape(item["local"]) == tuple(user["shape"])
    for input_name, grad in run.true.gradient.items():
        assert np.array_equal(numbers(found["gradient"][input_name]), grad, equal_nan=True)


def test_schema_is_strict_about_tensors() -> None:
    found = document(RUNS["layer"])
    node, edge = found["nodes"][0], found["edges"][0]
    bare = {name: value for name, value in edge.items() if name != "jacobian"}
    changes: list[dict[str, Any]] = [
        {"value": []},
        {"value": {"shape": [2], "norm": 1, "min": 0, "max": 1}},
        {"gradient": {"X": {"shape": [2], "norm": 1, "min": 0, "max": 1}}},
        {"gradient": {"X": [1, None]}},
        {"gradient": {"X": [[1, "NaN"]]}},
        {"nodes": [{**node, "shape": 2}]},
        {"nodes": [{**node, "shape": [0]}]},
        {"nodes": [{name: value for name, value in node.items() if name != "shape"}]},
        {"nodes": [{**node, "data": {"norm": 1}}]},
        {"edges": [{**bare, "local": None}]},
        {"edges": [{**edge, "jacobian": {"shape": [[2]], "bytes": 8}}]},
        {"edges": [{**edge, "contribution": None}]},
    ]
    for change in changes:
        assert not VALIDATOR.is_valid({**found, **change}), change


def test_large_tensors_are_summed_up_where_they_are_not_the_answer() -> None:
    run = network(400)
    found, whole = json.loads(run.json()), json.loads(run.json(all=True))
    assert VALIDATOR.is_valid({**found, "gradient": {}})
    data = run.inputs["X"]
    said = found["inputs"]["X"]
    assert said == found["nodes"][0]["data"]
    assert (said["shape"], said["min"], said["max"]) == ([400, 4], data.min(), data.max())
    assert said["norm"] == pytest.approx(np.linalg.norm(data), rel=1e-14)
    assert np.shape(found["gradient"]["X"]) == (400, 4)
    (product,) = [e for e in found["edges"] if e["rule"] == "diag(where(X @ W1 + b1 > 0, 1, 0))"]
    assert set(product["local"]) == set(product["contribution"]) == {"shape", "norm", "min", "max"}
    assert np.array_equal(numbers(whole["inputs"]["X"]), data)
    assert '"norm"' not in run.json(all=True)
    assert whole["gradient"] == found["gradient"]


def test_the_bound_is_a_thousand_numbers() -> None:
    at, above = (parse("sum(x)").gradient(x=np.ones(LARGEST_SHOWN + more)) for more in (0, 1))
    assert isinstance(document(at)["inputs"]["x"], list)
    assert isinstance(document(above)["inputs"]["x"], dict)
    holes = np.full(2000, np.nan)
    holes[:3] = [np.inf, 2, -1]
    said = document(parse("sum(x)").gradient(x=holes))["inputs"]["x"]
    assert said == {"shape": [2000], "norm": "nan", "min": -1.0, "max": "inf"}


def test_numbers_that_are_not_finite_are_strings() -> None:
    found = document(parse("sum(log(x))").gradient(x=[0, -1, float("inf")]))
    assert found["inputs"] == {"x": [0.0, -1.0, "inf"]}
    assert found["nodes"][1]["data"] == ["-inf", "nan", "inf"]
    assert found["value"] == "nan"


@pytest.mark.parametrize("shape", [(1,), (5,), (4097,), (2, 3), (1, 1, 1), (2, 1, 3, 2), (3, 5000)])
def test_lists_are_pythons(shape: tuple[int, ...]) -> None:
    """Written row by row, and the same to the letter as Python's nested lists."""
    value = np.random.default_rng(5).normal(size=shape)
    assert "".join(nested_lists(value, repr)) == repr(value.tolist())
    assert "".join(nested_lists(value, json.dumps)) == json.dumps(value.tolist())
    assert "".join(nested_lists(value.T, repr)) == repr(value.T.tolist())
    assert "".join(bare_line("W", value)) == f"W={value.tolist()}\n"


def test_a_large_gradient_is_written_in_little_memory() -> None:
    """A matrix of 90,000 numbers takes 0.7 MB; as nested lists it would take 3 MB, as text 1.6 MB.

    How many digits are right is worked out before: the error bounds are arrays of that size, too.
    """
    run = parse("sum(A*A)").gradient(A=np.random.default_rng(6).normal(size=(300, 300)))
    assert run.digits["gradient"]["A"] >= 15
    pieces = written("grad", run.text, run_fields(run, []))
    tracemalloc.start()
    length = sum(map(len, pieces))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert length > 1_600_000
    assert peak < 2 * 720_000


def test_csv_reads_back() -> None:
    for name in ("layer", "list", "holes"):
        run = RUNS[name]
        rows = list(csv.DictReader(io.StringIO("".join(map(csv_line, node_rows(run))))))
        for row, node in zip(rows, run.nodes, strict=True):
            assert (int(row["id"]), row["op"], row["text"]) == (node.id, node.op, node.text)
            assert tuple(json.loads(row["shape"])) == node.shape
            value = float(row["data"]) if node.shape == () else numbers(json.loads(row["data"]))
            data = run.true.value if node.id == run.graph.output else node.data
            assert np.array_equal(value, data, equal_nan=True)
            if node.grad is None:
                assert not row.get("grad")
    rows = list(csv.DictReader(io.StringIO("".join(map(csv_line, trace_rows(RUNS["layer"]))))))
    matrix = next(row for row in rows if row["rule"] == "X.T @ ·")
    assert matrix["local"] == "" and matrix["jacobian"] == "[[2, 2], [3, 2]]"
    assert json.loads(matrix["contribution"]) == [[93, 93], [123, 123], [153, 153]]


def test_csv_of_large_tensors() -> None:
    run = network(400)
    short, whole = (
        "".join(csv_line(cells, whole=whole) for cells in node_rows(run)) for whole in (False, True)
    )
    first = next(csv.DictReader(io.StringIO(short)))
    assert json.loads(first["data"])["shape"] == [400, 4]
    first = next(csv.DictReader(io.StringIO(whole)))
    assert np.array_equal(numbers(json.loads(first["data"])), run.inputs["X"])


def test_quiet_answers_read_back() -> None:
    """What -q prints is what a value is given as."""
    argv = ("A @ B", "A=[[0.1,1e-300],[1/3,-2]]", "B=[[1,inf],[3,0.7]]")
    out = command("eval", "-q", *argv).out
    again = command("eval", "-q", "C", f"C={out.strip()}").out
    assert again == out and out.count("\n") == 1
    out = command("grad", "-q", "sum((A @ B)^2)", argv[1], "B=[[1,2],[3,0.7]]").out
    lines = out.splitlines()
    assert [line.split("=")[0] for line in lines] == ["A", "B"]
    run = parse("A*B").evaluate(dict(line.split("=") for line in lines))
    assert np.array_equal(run.inputs["A"], json.loads(lines[0][2:]))
    assert command("eval", "-q", "x @ x", "x=[1,2]").out == "5.0\n"


@pytest.mark.parametrize("name", ["layer", "forward", "wrt"])
def test_runs_are_copied_and_pickled(name: str) -> None:
    run = RUNS[name]
    for other in (copy.copy(run), copy.deepcopy(run), pickle.loads(pickle.dumps(run))):
        assert str(other) == str(run) and other.wrt == run.wrt
        assert np.array_equal(other.value, run.value)
        for input_name, grad in run.gradient.items():
            assert np.array_equal(other.gradient[input_name], grad)


def test_a_network_from_the_shell() -> None:
    """Two layers and a loss, by one command, in every form."""
    run = network(6)
    values = [f"{name}={np.asarray(value).tolist()}" for name, value in run.inputs.items()]
    status, out, err = command("grad", NETWORK, *values)
    assert (status, err) == (0, "") and out == f"{run}\n"
    assert command("grad", "--trace", NETWORK, *values).out == f"{run.trace()}\n"
    assert command("grad", "--json", NETWORK, *values).out == run.json()
    assert command("grad", "--csv", NETWORK, *values).out == "".join(map(csv_line, node_rows(run)))
    assert command("grad", "--csv", "--trace", NETWORK, *values).out == "".join(
        map(csv_line, trace_rows(run))
    )
    assert json.loads(command("eval", "--json", NETWORK, *values).out)["value"] == run.value
    assert command("grad", "--strict", NETWORK, *values).status == 0
