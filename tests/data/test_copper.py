"""A file of measurements, from CSV to Parquet: each row's value and gradient against mpmath."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from exprgrad import parse
from oracles import mpf
from rounding import bounds
from shell import command

parquet = pytest.importorskip("pyarrow.parquet", reason="pip install 'exprgrad[data]'")

COPPER = Path(__file__).parent / "copper.csv"
MODEL = "expansion - (b1 + b2*x + b3*x^2 + b4*x^3)/(1 + b5*x + b6*x^2 + b7*x^3)"
FITTED = {
    "b1": 1.0776351733, "b2": -1.2269296921e-1, "b3": 4.0863750610e-3, "b4": -1.4262662514e-6,
    "b5": -5.7609940901e-3, "b6": 2.4053735503e-4, "b7": -1.2314450199e-7,
}  # fmt: skip
"""The certified optimum: https://www.itl.nist.gov/div898/strd/nls/data/hahn1.shtml."""
CERTIFIED = 1.5324382854
"""The residual sum of squares there."""
ENGINE_ULP = 5.0
"""What an engine over columns may be off by, in each primitive: DESIGN, section 5."""


def given() -> list[str]:
    return [f"{name}={value!r}" for name, value in FITTED.items()]


def test_every_row_is_within_the_rounding_bound(tmp_path: Path) -> None:
    out = tmp_path / "residuals.parquet"
    asked = [MODEL, "--data", str(COPPER), "--map", "x=temperature", "-o", str(out), *given()]
    assert command("batch", *asked) == (0, "", "")
    rows = parquet.read_table(out).to_pylist()
    f = parse(MODEL)
    assert len(rows) == 236 == len(COPPER.read_text("utf-8").splitlines()) - 1
    assert {*rows[0]} == {"temperature", "expansion", "value", *(f"d_{x}" for x in f.inputs)}
    for row in rows:
        inputs = {"x": row["temperature"], "expansion": row["expansion"], **FITTED}
        truth = bounds(f.graph, inputs, ENGINE_ULP)
        output = f.graph.output
        assert abs(mpf(row["value"]) - truth.values[output]) <= truth.errors[output]
        for name, true in truth.gradient.items():
            assert abs(mpf(row[f"d_{name}"]) - true) <= truth.gradient_errors[name], (name, row)


def test_the_sum_of_squares_is_the_certified_one() -> None:
    asked = [f"({MODEL})^2", "--data", str(COPPER), "--map", "x=temperature", "--reduce", "sum"]
    status, out, err = command("batch", *asked, "--json", *given())
    found = json.loads(out)
    assert (status, err, found["rows"], found["bad"]) == (0, "", 236, {})
    assert round(found["value"], 10) == CERTIFIED
