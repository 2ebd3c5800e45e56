"""SQL for DuckDB, PostgreSQL and SQLite: a query that adds columns to a table.

Outside a function's domain the answer is NULL: databases order nan above all numbers, and PostgreSQL
raises there.
"""

from __future__ import annotations

import re

from exprgrad.language.code.target import (
    AND,
    ARITHMETIC,
    CHOICE,
    COMPARISON,
    OR,
    SUM,
    Form,
    FunctionLayout,
    Target,
    functions_of_rows,
    operator_form,
)  # fmt: skip

__all__ = ["SQL"]

KEYWORDS = """
    abort action add after all alter always analyse analyze and anti any array as asc asof asymmetric
    attach authorization autoincrement before begin between binary both by cascade case cast check
    collate collation column commit concurrently conflict constraint create cross current
    current_catalog current_date current_role current_schema current_time current_timestamp current_user
    database default deferrable deferred delete desc describe detach distinct do drop each else end
    escape except exclude exclusive exists explain fail false fetch filter first following for foreign
    freeze from full generated glob grant group groups having if ignore ilike immediate in index indexed
    initially inner insert instead intersect into is isnull join key lambda last lateral leading left
    like limit localtime localtimestamp match materialized natural no not nothing notnull null nulls of
    offset on only or order others outer over overlaps partition pivot placing plan positional pragma
    preceding primary qualify query raise range recursive references regexp reindex release rename
    replace restrict returning right rollback row rows savepoint select semi session_user show similar
    some summarize symmetric system_user table tablesample temp temporary then ties to trailing
    transaction trigger true unbounded union unique unpivot update user using vacuum values variadic
    verbose view virtual when where window with without
"""
"""Words that one of the three databases takes for a column only in quotes."""
QUOTED = frozenset(KEYWORDS.split())
UNQUOTED = re.compile(r"[a-z_][a-z0-9_]*")


def quote_column(name: str) -> str:
    """Write a column's name, in quotes if it is a keyword or has capitals or other signs."""
    return name if UNQUOTED.fullmatch(name) and name not in QUOTED else f'"{name}"'


def guard_domain(text: str, domain: str) -> Form:
    """The form of a function that is NULL outside its domain."""
    return Form(text.replace("{0}", f"CASE WHEN {domain} THEN {{0}} END"))


SQL = Target(
    name="sql",
    title="SQL",
    place=7,
    ending=".sql",
    layout=FunctionLayout(
        file="{comment}\nWITH {head}\n{body}\n",
        comment=("-- ", "-- ", ""),
        head=("{name} AS{once} (\n  SELECT {first}", "\n  FROM {table}\n)"),
        parameter="CAST({table}.{key} AS DOUBLE PRECISION) AS {name}",
        helper="",
        gaps=("", ""),
        indent="  ",
        define="{text} AS {name}",
        answer="CASE WHEN {known} THEN {value} END AS {key}",
        result=(
            "ROW_NUMBER() OVER () + {row} AS {row}, given.*",
            "{table} AS given CROSS JOIN (SELECT 0 AS {row}) AS zero",
            "SELECT {rows}.*{columns}\nFROM {rows} JOIN {out} ON {out}.{row} = {rows}.{row}\n"
            "ORDER BY {rows}.{row};",
        ),
        returns="Reads the table rows, numbers its rows in {row}, and adds the columns {columns}.",
        key=quote_column,
    ),
    forms={
        **ARITHMETIC,
        "eq": operator_form(" = ", COMPARISON, SUM, SUM),
        "ne": Form("({0} = {1}) IS NOT TRUE", COMPARISON, (SUM, SUM)),
        "where": Form("CASE WHEN {0} THEN {1} ELSE {2} END"),
        "and": operator_form(" AND ", AND, AND, COMPARISON),
        "or": operator_form(" OR ", OR, OR, AND),
        "not": Form("({0}) IS NOT TRUE", COMPARISON, (CHOICE,)),
        "flag": Form("CAST(CASE WHEN {0} THEN 1 ELSE 0 END AS DOUBLE PRECISION)"),
        "sign": Form("CAST(SIGN({0}) AS DOUBLE PRECISION)"),
        "max": Form("CASE WHEN {0} > {1} THEN {0} WHEN {0} <= {1} THEN {1} END"),
        "min": Form("CASE WHEN {0} < {1} THEN {0} WHEN {0} >= {1} THEN {1} END"),
        "exp": Form("CASE WHEN {0} < -745.2 THEN 0.0 ELSE EXP({0}) END"),
        "round": Form(
            "CASE WHEN ABS({0}) < 2251799813685248.0 "
            "THEN {0} + 6755399441055744.0 - 6755399441055744.0 ELSE {0} END"
        ),
        "mod": Form(
            "CASE WHEN SIGN(MOD({0}, {1}))*SIGN({1}) < 0 THEN MOD({0}, {1}) + {1} ELSE MOD({0}, {1}) END",
        ),
        "sqrt": Form("SQRT({0})"),
        "log": Form("LN({0})"),
        "pow": Form("POWER({0}, {1})"),
    },
    guarded={
        "div": Form(
            "{0}/NULLIF({1}, 0.0)", ARITHMETIC["div"].level, (ARITHMETIC["div"].level, CHOICE)
        ),
        "sqrt": guard_domain("SQRT({0})", "{0} >= 0.0"),
        "log": guard_domain("LN({0})", "{0} > 0.0"),
        "asin": guard_domain("ASIN({0})", "ABS({0}) <= 1.0"),
        "acos": guard_domain("ACOS({0})", "ABS({0}) <= 1.0"),
        "acosh": guard_domain("ACOSH({0})", "{0} >= 1.0"),
        "atanh": guard_domain("ATANH({0})", "ABS({0}) < 1.0"),
        "pow": guard_domain(
            "POWER({0}, {1})",
            "{0} > 0.0 OR {0} = 0.0 AND {1} >= 0.0 OR {0} < 0.0 AND {1} = FLOOR({1})",
        ),
    },
    calls=functions_of_rows(
        "",
        "abs=ABS floor=FLOOR ceil=CEIL trunc=TRUNC sin=SIN cos=COS tan=TAN asin=ASIN acos=ACOS atan=ATAN "
        "atan2=ATAN2 sinh=SINH cosh=COSH tanh=TANH asinh=ASINH acosh=ACOSH atanh=ATANH",
    ),
    constants={"pi": "PI()", "inf": "F_inf", "nan": "NULL"},
    reserved=frozenset(),
    about="For DuckDB, PostgreSQL and SQLite.  A row gives NULL where an input is not a finite number, "
    "or a step leaves its domain.",
    helpers={
        "known": "{0} - {0} = 0.0",
        "inf": "CASE WHEN CAST('Infinity' AS DOUBLE PRECISION) > 0.0 "
        "THEN CAST('Infinity' AS DOUBLE PRECISION) ELSE 9e307*10 END",
    },
    ascii=True,
    double="CAST({0} AS DOUBLE PRECISION)",
    columns=True,
)
