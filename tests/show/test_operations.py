"""``exprgrad ops``: every row is there, and a row in full says all that the table says of it."""

from __future__ import annotations

import json

import pytest

import golden
from exprgrad.derive.rules import template
from exprgrad.errors import RequestError
from exprgrad.graph.ops import BY_NAME, OPS, Op
from exprgrad.graph.structural import Structural, shape_text
from exprgrad.graph.tensors import STRUCTURAL
from exprgrad.language.read.parse import parse_text
from exprgrad.show.text import operations
from exprgrad.show.text.operations import (
    example_cases,
    structural_overview,
)
from exprgrad.show.text.table import plain_table, rich_table
from together import together

SAMPLE = ["add", "mul", "pow", "neg", "lt", "where", "max", "abs", "sin", "log", "relu"]


def test_the_look_of_the_overview() -> None:
    """A sample, so that a new row of the table needs no new golden file."""
    golden.agree(
        "ops/overview.txt",
        plain_table(operations.operations_table([BY_NAME[n] for n in SAMPLE])) + "\n",
    )


@pytest.mark.parametrize("name", ["mul", "max", "clamp", "pow", "abs", "sin", "log"])
def test_the_look_of_one(name: str) -> None:
    golden.agree(f"ops/{name}.txt", operations.operation_details(BY_NAME[name]))


@pytest.mark.parametrize("name", ["matmul", "reduce_max", "index", "cross_entropy"])
def test_the_look_of_a_structural_one(name: str) -> None:
    golden.agree(f"ops/{name}.txt", operations.operation_details(STRUCTURAL[name]))


def test_the_look_of_the_structural_overview() -> None:
    rows = [STRUCTURAL[name] for name in ("matmul", "sum", "reshape", "index", "concat", "trace")]
    table = structural_overview(rows)
    golden.agree("ops/structural.txt", f"{operations.STRUCTURED}\n\n{plain_table(table)}\n")


@together(STRUCTURAL.values())
def test_every_structural_row_is_shown(row: Structural) -> None:
    table = structural_overview([row])
    assert table.rows[0][0] == operations.operation_usage(row)
    details = " ".join(operations.operation_details(row).split())
    for case in example_cases(row.name):
        assert case.written in details and f"gives {shape_text(case.result)}" in details
        for text in case.cotangents:
            assert text in details
    for parameter in row.parameters:
        assert (
            f"setting {parameter.name}" in details
            and parameter.name in operations.operation_usage(row)
        )
    assert row.about in details and row.gate in details and row.kink_words in details
    assert all(
        len(line) <= operations.WIDTH for line in operations.operation_details(row).splitlines()
    )


def test_a_word_of_two_rows_shows_both() -> None:
    for name in ("max", "min", "logsumexp"):
        assert operations.find_rows(name) == [BY_NAME[name], STRUCTURAL[f"reduce_{name}"]]
    assert operations.find_rows("reduce_max") == [STRUCTURAL["reduce_max"]]


@pytest.mark.parametrize(
    ("symbol", "name"), [("@", "matmul"), (".T", "transpose"), ("[]", "index"), ("sum", "sum")]
)
def test_a_structural_operation_by_its_symbol(symbol: str, name: str) -> None:
    assert operations.find_rows(symbol) == [STRUCTURAL[name]]


def test_a_structural_row_as_json() -> None:
    found = json.loads(json.dumps(operations.operations_fields(operations.find_rows("@"))))
    assert found["operations"] == []
    (row,) = found["structural"]
    assert row["cases"][0] == {
        "usage": "x @ y",
        "shapes": [[3, 4], [4, 2]],
        "result": [3, 2],
        "cotangents": ["g @ y.T", "x.T @ g"],
    }


@together(OPS)
def test_every_row_is_shown(op: Op) -> None:
    (row,) = operations.operations_table([op]).rows
    assert row[0] == operations.operation_usage(op)
    details = " ".join(operations.operation_details(op).split())
    for position in range(len(op.names)):
        assert op.display_partial(position) in row[1] and op.display_partial(position) in details
        for statement in op.partial(position).split("; "):
            assert statement in details
    for special in op.special:
        assert special.why in details and special.where in details
    assert op.about in details and op.gate in details and op.definition in details


@together(OPS)
def test_a_row_in_full_is_readable(op: Op) -> None:
    """No line is long, no statement is told twice, and every name that a rule uses is explained."""
    lines = operations.operation_details(op).splitlines()
    assert all(len(line) <= operations.WIDTH for line in lines)
    assigned = [line for line in lines if " = " in line]
    assert len(assigned) == len(set(assigned))
    labels = {line[2:].split("  ")[0] for line in lines}
    used = {name for partial in op.partials for name in template(partial).inputs}
    assert used - {*op.names, "out"} <= labels


def test_a_row_in_full_says_how_near_it_is() -> None:
    said = {
        "abs": "value and local derivatives exact",
        "mul": "value correctly rounded, local derivatives exact",
        "sqrt": "value correctly rounded, local derivatives within 5 ulp",
        "tanh": "value within 2.3 ulp, local derivatives within 5 ulp",
    }
    for name, words in said.items():
        assert f"accuracy  {words}" in operations.operation_details(BY_NAME[name]).replace(
            "    ", " "
        )


@pytest.mark.parametrize(
    ("width", "lines"),
    [
        (40, ["where(a, b)"]),
        (14, ["where(a == b,", "  c,", "  f(d + e)", "    + g)"]),
        (3, ["unbreakable"]),
    ],
)
def test_folded(width: int, lines: list[str]) -> None:
    assert operations.break_formula(" ".join(line.strip() for line in lines), width) == lines


def test_a_narrow_terminal_drops_the_domain_then_the_gate_and_never_the_name() -> None:
    table = operations.operations_table(OPS)
    heads = {
        w: rich_table(table, w, color=False).splitlines()[0].split() for w in (30, 40, 60, 80, 90)
    }
    assert heads[90] == ["operation", "local", "derivatives", "domain", "gate"]
    assert heads[80] == ["operation", "local", "derivatives", "gate"]
    assert heads[60] == heads[40] == ["operation", "local", "derivatives"]
    assert heads[30][0] == "operation"


def test_a_terminal_of_80_cells_shows_every_gate_whole() -> None:
    rows = [*STRUCTURAL.values()]
    for table in (operations.operations_table(OPS), operations.structural_overview(rows)):
        heading, _, *lines = rich_table(table, 80, color=False).splitlines()
        assert heading.split()[-1] == "gate"
        at = heading.index("gate")
        assert [line[at:].strip() for line in lines[: len(table.rows)]] == [
            r[-1] for r in table.rows
        ]


@together(OPS)
def test_usage_is_how_it_is_written(op: Op) -> None:
    text = operations.operation_usage(op).replace(", …", "")
    graph = parse_text(text)
    assert graph.kinds[graph.output] == op.name
    assert operations.find_rows(op.name)[0] == op


def test_an_operation_by_its_symbol() -> None:
    assert operations.find_rows("*")[0].name == "mul"
    assert operations.find_rows("**")[0].name == operations.find_rows("^")[0].name == "pow"


def test_all_of_them() -> None:
    rows = operations.find_rows(None)
    assert rows == (*OPS, *STRUCTURAL.values())
    found = json.loads(json.dumps(operations.operations_fields(rows)))
    assert len(found["operations"]) == len(OPS) and len(found["structural"]) == len(STRUCTURAL)


@pytest.mark.parametrize(
    ("wrong", "help"),
    [
        ("tahn", "'tanh'"),
        ("absloute", "'abs'"),
        ("pow2", "2^x"),
        ("resape", "'reshape'"),
        ("?", "exprgrad.OPS"),
    ],
)
def test_a_name_that_is_none(wrong: str, help: str) -> None:
    with pytest.raises(RequestError) as caught:
        operations.find_rows(wrong)
    assert caught.value.help is not None and help in caught.value.help


def test_what_is_written_in_short_is_told_and_reads() -> None:
    parts = operations.overview_parts(operations.find_rows(None))
    shown = "".join(part if isinstance(part, str) else plain_table(part) for part in parts)
    for form, about in operations.FORMS:
        assert form in shown and about in shown
        assert len(parse_text(form)) > 1
    with pytest.raises(RequestError) as caught:
        operations.find_rows("for")
    assert "sum(x^k for k in 1..10)" in str(caught.value.help)
