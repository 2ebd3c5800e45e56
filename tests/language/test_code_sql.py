"""Programs in SQL: what DuckDB and SQLite answer, NULL, names of columns, and what is refused."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from exprgrad import parse
from exprgrad.derive.lower.translate import translate
from exprgrad.errors import RequestError
from exprgrad.language.code.targets.sql import guard
from programs import Program, answered, connect
from shell import command

EVERYTHING = (
    "s = sin(x)*y + log(x) - sqrt(y); max(x, y, 2)%3 + where(x < y, erf(s), gamma(x)) + round(y/x)^3 "
    "+ atan2(x, y)*sigmoid(s) + hypot(x, 3)*expm1(y/100) + log1p(x)*cbrt(y) + x^y"
)


each_database = pytest.mark.parametrize("database", ["duckdb", "sqlite"])


@each_database
def test_databases_find_value_and_gradient(database: str) -> None:
    f = parse(EVERYTHING)
    points = [(1.5, 2.25), (0.25, 7.5), (3.0, 0.125), (2.0, 2.0)]
    program = Program(f.code("sql"), "f", 2, points)
    (answers,) = answered(connect(database), [program])
    for point, answer in zip(points, answers, strict=True):
        run = f.gradient(dict(zip(f.inputs, point, strict=True)))
        wanted = [run.value, *(run.swept[name] for name in f.inputs)]
        assert [answer.value, *answer.gradient] == pytest.approx(wanted, rel=1e-13)


@each_database
def test_null_gives_null_in_every_column_and_other_columns_stay(database: str) -> None:
    connection = connect(database)
    connection.execute("CREATE TABLE rows (id INTEGER, a DOUBLE PRECISION, b INTEGER, t1 INTEGER)")
    rows = [
        (1, 0.5, 3, 7),
        (2, None, 3, 7),
        (3, 0.5, None, 7),
        (4, math.inf, 3, 7),
        (5, -1.0, 2, 7),
    ]
    connection.executemany("INSERT INTO rows VALUES (?, ?, ?, ?)", rows)
    connection.execute(f"CREATE VIEW found AS {parse('relu(a) + 3*b + 1/2').code('sql')}")
    found = connection.execute("SELECT id, t1, value, d_a, d_b FROM found ORDER BY id").fetchall()
    assert found == [
        (1, 7, 10.0, 1.0, 3.0), (2, 7, None, None, None), (3, 7, None, None, None),
        (4, 7, None, None, None), (5, 7, 6.5, 0.0, 3.0),
    ]  # fmt: skip


@each_database
def test_whole_numbers_divide_as_doubles(database: str) -> None:
    connection = connect(database)
    connection.execute("CREATE TABLE rows (a INTEGER, b INTEGER)")
    connection.execute("INSERT INTO rows VALUES (7, 2), (2000000000, 2000000000), (1, 0)")
    query = parse("a/b + sign(a)/(sign(b) + 1) + a*b").code("sql")
    values = [row[2:][-3] for row in connection.execute(query).fetchall()]
    assert values == [18.0, 4000000000000000001.5, None]


@each_database
def test_names_that_are_keywords(database: str) -> None:
    connection = connect(database)
    names = [
        "order",
        "select",
        "value",
        "t1",
        "lambda",
        "from_",
        "Group",
        "ψ",
        "naïve",
        "f_x",
        "known",
    ]
    columns = ", ".join(f'"{name}" DOUBLE PRECISION' for name in names)
    connection.execute(f"CREATE TABLE rows ({columns})")
    connection.execute(
        f"INSERT INTO rows VALUES ({', '.join('?' * len(names))})", [2.0] * len(names)
    )
    f = parse(" + ".join(f"{at}*sin({name})" for at, name in enumerate(names, 1)))
    (row,) = connection.execute(f.code("sql")).fetchall()
    run = f.gradient(dict.fromkeys(names, 2.0))
    wanted = [run.value, *run.gradient.values()]
    assert [*row[-len(wanted) :]] == pytest.approx(wanted, rel=1e-14)


@each_database
def test_several_outputs_and_the_hessian_are_columns(database: str) -> None:
    connection = connect(database)
    connection.execute("CREATE TABLE rows (x DOUBLE PRECISION, y DOUBLE PRECISION)")
    connection.execute("INSERT INTO rows VALUES (2.0, 3.0)")
    several = parse("u = x*y^2; v = x/y").code("sql", of=["u", "v"])
    answer = connection.execute(several)
    assert [column[0] for column in answer.description][-6:] == [
        "u", "v", "d_u_x", "d_u_y", "d_v_x", "d_v_y",
    ]  # fmt: skip
    assert answer.fetchall()[0][-6:] == (18.0, 2 / 3, 9.0, 12.0, 1 / 3, -2 / 9)
    answer = connection.execute(parse("x*y^2").code("sql", hessian=True))
    assert [column[0] for column in answer.description][-7:] == [
        "value", "d_x", "d_y", "d_x_x", "d_x_y", "d_y_x", "d_y_y",
    ]  # fmt: skip
    assert answer.fetchall()[0][-7:] == (18.0, 9.0, 12.0, 0.0, 6.0, 6.0, 4.0)


def test_the_ending_says_it_and_the_query_reads_well(tmp_path: Path) -> None:
    path = tmp_path / "gradient.sql"
    assert command("code", "a*b + c", "-o", str(path)) == (0, "", "")
    assert path.read_text("utf-8") == translate(parse("a*b + c").graph, "sql")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("root(x^3 - a, x, 0, a + 1)", "no-spelling"),
        ("dot([a, b], [b, a])", "no-tensors"),
        ("x*X", "bad-name"),
    ],
)
def test_what_a_query_cannot_say_is_refused(text: str, code: str) -> None:
    with pytest.raises(RequestError) as caught:
        parse(text).code("sql")
    assert caught.value.code == code


def test_a_guarded_function_sees_its_operand_only_within_its_domain() -> None:
    form = guard("LN({0})", "{0} > 0.0")
    assert form.text.format("x") == "LN(CASE WHEN x > 0.0 THEN x END)"
