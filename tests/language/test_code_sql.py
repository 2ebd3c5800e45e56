"""Programs in SQL: what DuckDB and SQLite answer, NULL, names of columns, and what is refused."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from amounts import many
from exprgrad import parse
from exprgrad.derive.lower.translate import translate_formula
from exprgrad.errors import RequestError
from exprgrad.language.code.targets.sql import guard_domain
from programs import Program, answered, connect
from shell import command

EVERYTHING = (
    "s = sin(x)*y + log(x) - sqrt(y); max(x, y, 2)%3 + where(x < y, erf(s), gamma(x)) + round(y/x)^3 "
    "+ atan2(x, y)*sigmoid(s) + hypot(x, 3)*expm1(y/100) + log1p(x)*cbrt(y) + x^y"
)


@pytest.fixture(params=["duckdb", "sqlite"])
def connection(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Each database in turn."""
    with connect(request.param) as connection:
        yield connection


def test_databases_find_value_and_gradient(connection: Any) -> None:
    f = parse(EVERYTHING)
    points = [(1.5, 2.25), (0.25, 7.5), (3.0, 0.125), (2.0, 2.0)]
    program = Program(f.code("sql"), "f", 2, points)
    (answers,) = answered(connection, [program])
    for point, answer in zip(points, answers, strict=True):
        run = f.gradient(dict(zip(f.inputs, point, strict=True)))
        wanted = [run.value, *(run.swept[name] for name in f.inputs)]
        assert [answer.value, *answer.gradient] == pytest.approx(wanted, rel=1e-13)


def test_null_gives_null_in_every_column_and_other_columns_stay(connection: Any) -> None:
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


def test_whole_numbers_divide_as_doubles(connection: Any) -> None:
    connection.execute("CREATE TABLE rows (a INTEGER, b INTEGER)")
    connection.execute("INSERT INTO rows VALUES (7, 2), (2000000000, 2000000000), (1, 0)")
    query = parse("a/b + sign(a)/(sign(b) + 1) + a*b").code("sql")
    values = [row[2:][-3] for row in connection.execute(query).fetchall()]
    assert values == [18.0, 4000000000000000001.5, None]


def test_names_that_are_keywords(connection: Any) -> None:
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


def test_several_outputs_and_the_hessian_are_columns(connection: Any) -> None:
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
    assert path.read_text("utf-8") == translate_formula(parse("a*b + c").graph, "sql")


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
    form = guard_domain("LN({0})", "{0} > 0.0")
    assert form.text.format("x") == "LN(CASE WHEN x > 0.0 THEN x END)"


# Names: a query does not see its table's columns, whatever they are called.

CLASHING = """
    x y z f_x F_Y f_z f_f_x f_t1 f_T2 f_known f_inf f_row F_ROW f_row_ f_rows f_0 f_1 f_2 f_out f_value g_x
    g_known g_row g_t1 known row rows out given zero t1 t2 value Value value_ d_x D_Y d_z d_f_x d_value
    d_x_y x_y order select from SELECT group Order user é ß f g F u v d_u_x
"""
UNREADABLE = ['a"b', '"x"', "f x", "f.x", "1", "x;y", "it's", "--", "*", "f_x ", "[x]", "`y`"]
"""Columns that no formula reads, beside others that one does."""
FORMULAS = (
    "{0}*{1}",
    "s = sin({0}*{1}); s^2*tanh(s) + {2}",
    "s = exp({0} - {1}); r = s*{2} + inf^(-s); r/(1 + r^2) + {0}",
    "sqrt({0}^2 + {1}^2 + 1)",
    "{0} + 2*{0}",
)


def in_quotes(name: str) -> str:
    """A column of any name."""
    return '"' + name.replace('"', '""') + '"'


def a_table(rng: random.Random) -> dict[str, float]:
    """A row of numbers: columns of names that a query might have for its own, and of odd ones."""
    names: dict[str, str] = {}
    for name in [*rng.sample(CLASHING.split(), 10), *rng.sample(UNREADABLE, 2)]:
        names.setdefault(name.lower(), name)
    columns = [*names.values()]
    rng.shuffle(columns)
    return {name: rng.randint(-40, 40) / 16 for name in columns}


def a_formula(rng: random.Random, columns: Mapping[str, float]) -> str:
    """A formula of some of the columns, not always spelled as they are."""
    readable = [name for name in columns if name not in UNREADABLE]
    is_other = [name.isascii() and rng.random() < 0.1 for name in readable]  # SQLite: as typed
    pairs = rng.sample([*zip(readable, is_other, strict=True)], 3)
    spelled = [name.swapcase() if other else name for name, other in pairs]
    return rng.choice(FORMULAS).format(*spelled)


def ask(
    connection: Any, columns: Mapping[str, float], query: str
) -> tuple[list[str], Sequence[Any]]:
    """The names and the numbers of a query's one row."""
    connection.execute("DROP TABLE IF EXISTS rows")
    declared = ", ".join(f"{in_quotes(name)} DOUBLE PRECISION" for name in columns)
    connection.execute(f"CREATE TABLE rows ({declared})")
    places = ", ".join("?" * len(columns))
    connection.execute(f"INSERT INTO rows VALUES ({places})", [*columns.values()])
    answer = connection.execute(query)
    names = [column[0] for column in answer.description]
    return names, answer.fetchall()[0]


def check_query(
    connection: Any, rng: random.Random, columns: dict[str, float], name: str
) -> dict[str, float] | None:
    """Query a table of one row: the columns that come out, or None where the database refuses."""
    text = a_formula(rng, columns)
    f, second = parse(text), rng.random() < 0.25
    query = f.code("sql", name=name, hessian=second)
    lowered = {given.lower(): value for given, value in columns.items()}
    inputs = {given: lowered[given.lower()] for given in f.inputs}
    run = f.gradient(inputs)
    wanted = [run.value, *(run.swept[given] for given in f.inputs)]
    if second:
        matrix = f.hessian(inputs)
        wanted += [matrix[one][other] for one in f.inputs for other in f.inputs]
    said = " ".join(line[3:] for line in query.split("\n") if line.startswith("--"))
    number, _, added = said.partition("numbers its rows in ")[2].partition(
        ", and adds the columns "
    )
    results = [column.strip('"') for column in added.partition(". ")[0].split(", ")]
    assert len({*map(str.lower, results)}) == len(wanted)
    is_clash = not lowered.keys().isdisjoint(map(str.lower, [number, *results]))
    try:
        names, row = ask(connection, columns, query)
    except Exception as error:  # each database has its own
        assert "ambiguous" in str(error).lower(), (text, columns, error)
        assert is_clash, (text, columns, error)
        return None
    assert not is_clash, (text, columns, "two of a name")
    assert [*row[-len(wanted) :]] == pytest.approx(wanted, rel=1e-13, abs=1e-300), (text, columns)
    assert names == [number, *columns, *results]
    assert row[: -len(wanted)] == (1, *columns.values()), (text, columns)
    return dict(zip(names, row, strict=True))


def run_clashes(connection: Any, seeds: range) -> tuple[int, int, int]:
    """Query tables with columns named as steps and results are, and what that answered once more.

    Returns how many were answered, how many of these once more, and how many were refused.
    """
    answered, again, refused = 0, 0, 0
    for seed in seeds:
        rng = random.Random(seed)
        stored = check_query(connection, rng, a_table(rng), rng.choice("fffgF"))
        if stored is None:
            refused += 1
            continue
        answered += 1
        finite = {name: value for name, value in stored.items() if value is not None}
        again += check_query(connection, rng, finite, rng.choice(["f", "g", "h"])) is not None
    return answered, again, refused


def test_a_table_may_have_columns_of_any_names(connection: Any) -> None:
    answered, again, refused = run_clashes(connection, range(60))
    assert answered > 20
    assert again
    assert refused


MANY = many(300)
"""3,000 were tried once."""


@pytest.mark.slow
def test_many_tables_with_columns_of_any_names(connection: Any) -> None:
    answered, again, refused = run_clashes(connection, range(MANY))
    print(f"answered: {answered}; once more: {again}; refused: {refused}")  # noqa: T201
    assert answered + refused == MANY


def test_a_column_named_as_a_step_is_not_read(connection: Any) -> None:
    names, row = ask(connection, {"x": 3, "y": 10, "f_x": 77}, parse("x*y").code("sql"))
    assert names == ["f_row", "x", "y", "f_x", "value", "d_x", "d_y"]
    assert row == (1, 3.0, 10.0, 77.0, 30.0, 10.0, 3.0)
    _, row = ask(connection, {"x": 3, "f_x": 77}, parse("x*f_x").code("sql"))
    assert row[-3:] == (231.0, 77.0, 3.0)


def test_a_query_reads_what_another_stored(connection: Any) -> None:
    connection.execute("CREATE TABLE rows (id INTEGER, x DOUBLE PRECISION, y DOUBLE PRECISION)")
    connection.executemany("INSERT INTO rows VALUES (?, ?, ?)", [(1, 0.5, 2.0), (2, 1.5, -1.0)])
    connection.execute(f"CREATE TABLE stored AS {parse('u = sin(x*y); u^2*tanh(u)').code('sql')}")
    connection.execute("DROP TABLE rows")
    connection.execute("ALTER TABLE stored RENAME TO rows")
    with pytest.raises(Exception, match=r"mbiguous.*f_row"):
        connection.execute(parse("cos(x*y)*x").code("sql"))
    with pytest.raises(Exception, match=r"mbiguous.*value"):
        connection.execute(parse("cos(x*y)*x").code("sql", name="g"))
    second = parse("w = cos(x*y)*value + d_y")
    with pytest.raises(Exception, match=r"mbiguous.*f_row"):
        connection.execute(second.code("sql", of=["w"]))
    answer = connection.execute(second.code("sql", name="g", of=["w"]))
    assert [column[0] for column in answer.description] == [
        "g_row", "f_row", "id", "x", "y", "value", "d_x", "d_y",
        "w", "d_w_x", "d_w_y", "d_w_value", "d_w_d_y",
    ]  # fmt: skip
    for _, _, _, x, y, value, d_x, d_y, *found in answer.fetchall():
        first = parse("u = sin(x*y); u^2*tanh(u)").gradient(x=x, y=y)
        assert (value, d_x, d_y) == pytest.approx(
            (first.value, *first.gradient.values()), rel=1e-14
        )
        run = second.gradient(x=x, y=y, value=value, d_y=d_y)
        assert found == pytest.approx([run.value, *run.gradient.values()], rel=1e-14)


def test_a_column_that_is_missing_is_an_error(connection: Any) -> None:
    with pytest.raises(Exception, match=r"(?i)x"):
        ask(connection, {"y": 1.0}, parse("X*y").code("sql"))


def test_results_of_one_name_are_told_apart(connection: Any) -> None:
    names, row = ask(
        connection, {"x": 2, "y": 3, "x_y": 5}, parse("x*y*x_y").code("sql", hessian=True)
    )
    assert len({*names}) == len(names)
    assert dict(zip(names, row, strict=True))["d_x_y"] == 6.0  # by x_y
    assert dict(zip(names, row, strict=True))["d_x_y_"] == 5.0  # by x and y


def test_a_query_s_name_may_be_in_upper_case(connection: Any) -> None:
    _, row = ask(
        connection,
        {"known": 2, "t1": 3},
        parse("sin(known*t1)^2*t1 + cos(known*t1)").code("sql", name="F"),
    )
    run = parse("sin(known*t1)^2*t1 + cos(known*t1)").gradient(known=2, t1=3)
    assert row[-3:] == pytest.approx((run.value, *run.gradient.values()), rel=1e-14)
