"""The record of what PyTorch and JAX return at critical points, and how ``exprgrad ops`` shows it."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import pytest

import golden
from exprgrad.graph.ops import BY_NAME, OPS, Op
from exprgrad.show.documents.document import encode_nonfinite
from exprgrad.show.text import operations
from exprgrad.show.text.operations import (
    LIBRARIES,
    convention_fields,
    convention_lines,
    convention_record,
    critical_points_of_row,
)
from programs import require
from together import together

ROOT = Path(__file__).parents[2]
REMEDY = "run python -m benchmarks.conventions where torch and jax are installed"


@together(OPS)
def test_every_critical_point_is_in_the_record(op: Op) -> None:
    points = [[encode_nonfinite(x) for x in point.operands] for point in critical_points_of_row(op)]
    if points and op.name not in convention_record()["operations"]:
        for library in LIBRARIES:
            require(library)  # who has both can record the row
    row = convention_record()["operations"].get(op.name, {"points": []})
    assert json.dumps(row["points"]) == json.dumps(points), REMEDY
    for library in LIBRARIES:
        if library in row:
            assert [len(partials) for _, partials in row[library]["answers"]] == [
                len(op.fallback_names)
            ] * len(points)


def test_the_record_is_of_rows_that_are_there() -> None:
    assert {*convention_record()["operations"]} <= {*BY_NAME}, REMEDY


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_record_is_what_the_libraries_return(
    library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every answer, bit for bit, in the versions that were recorded."""
    for name in LIBRARIES:
        require(name)
    monkeypatch.syspath_prepend(str(ROOT))
    found = importlib.import_module("benchmarks.conventions").record()
    if found["versions"][library] != convention_record()["versions"][library]:
        pytest.skip(f"the record is of {library} {convention_record()['versions'][library]}")
    known = {name: row.get(library) for name, row in convention_record()["operations"].items()}
    for name, row in found["operations"].items():
        assert json.dumps(row.get(library)) == json.dumps(known[name]), (name, REMEDY)


def test_what_is_known_of_the_libraries() -> None:
    """By their own documentation: PyTorch takes the subgradient of least norm."""
    answers = {
        (name, library): convention_record()["operations"][name][library]["answers"][0]
        for name in ("relu", "max", "log", "abs")
        for library in LIBRARIES
    }
    assert answers["relu", "torch"] == answers["relu", "jax"] == [0.0, [0.0]]
    assert answers["max", "torch"] == answers["max", "jax"] == [0.0, [0.5, 0.5]]
    assert answers["log", "torch"] == answers["log", "jax"] == ["-inf", ["inf"]]
    assert answers["abs", "torch"] == [0.0, [0.0]]
    assert "torch" not in convention_record()["operations"]["cbrt"]  # there is no torch.cbrt


@together(OPS)
def test_the_points_are_shown_in_few_columns(op: Op) -> None:
    lines = [*convention_lines(op)]
    assert all(len(line) <= 64 for line in lines)
    numbers = [line for line in lines if line.startswith("    ")]
    assert all(len(line) <= 41 for line in numbers)
    assert bool(lines) == bool(critical_points_of_row(op))
    assert "?" not in "".join(lines)
    details = operations.operation_details(op)
    assert details.endswith("\n".join(["", *lines, ""])) if lines else "PyTorch" not in details


def test_the_look_of_them() -> None:
    names = ("hypot", "cbrt", "log", "where", "div")
    golden.agree(
        "ops/conventions.txt",
        "\n".join(
            f"{name}\n" + "\n".join(convention_lines(BY_NAME[name])) + "\n" for name in names
        ),
    )


def test_a_row_that_is_not_in_the_record_shows_our_own_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(operations, "convention_record", lambda: {"versions": {}, "operations": {}})
    assert [*convention_lines(BY_NAME["abs"])] == [
        "           exprgrad",
        "  at x = 0, a kink",
        "    value         0",
        "    for x         0",
        "  PyTorch: not recorded",
        "  JAX: not recorded",
    ]


def test_the_fields() -> None:
    (field,) = convention_fields(BY_NAME["hypot"])
    assert field["at"] == {"x": 0.0, "y": 0.0} and field["what"] == "a kink"
    assert field["exprgrad"] == {"value": 0.0, "partials": [0.0, 0.0]}
    assert {*field} == {"at", "what", "exprgrad", "torch", "jax"}
    assert convention_fields(BY_NAME["cbrt"])[0]["torch"] is None
    assert convention_fields(BY_NAME["lt"])[0]["torch"]["partials"] == [None, None]
