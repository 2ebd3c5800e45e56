"""The grammar's LALR tables: compiled by Lark when the package is built, or on first use.

``grammar/expression.lark`` is the one source of the language, and Lark the one tool that reads it.  A
command must not spend 100 ms on that, so the package ships the tables that Lark computed as plain
literals (``_tables.py``, written by ``hatch_build.py``), together with the grammar's text: where the
text in a checkout differs, the tables are stale and Lark compiles them anew.
"""

from __future__ import annotations

import os
from functools import lru_cache
from typing import Any, NamedTuple

__all__ = ["BRACKETS", "START", "Tables", "compile_grammar", "grammar_text", "lark_parser", "load"]

START = "start"
BRACKETS = {"LPAR": 1, "RPAR": -1, "LSQB": 1, "RSQB": -1}


class Tables(NamedTuple):
    """What a parser needs, as plain data.

    ``terminals``  (name, regular expression) pairs, in the order in which they are tried
    ``ignored``    names of the terminals that separate and mean nothing
    ``rules``      (origin, size, action): the action is None for a rule that only passes a value on
    ``states``     state → symbol → what to do: a state to go to, or ``-1 - rule`` to reduce
    ``initial``    the state to begin in
    """

    grammar: str
    terminals: list[tuple[str, str]]
    ignored: list[str]
    rules: list[tuple[str, int, str | None]]
    states: list[dict[str, int]]
    initial: int


def grammar_text() -> str:
    """The text of ``grammar/expression.lark``: a checkout's, or the copy in an installed package."""
    here, _, _ = __file__.rpartition(os.sep)
    for root in (f"{here}/../../../..", f"{here}/../.."):
        try:
            with open(f"{root}/grammar/expression.lark", encoding="utf-8") as file:  # noqa: PTH123
                return file.read()
        except FileNotFoundError:
            continue
    raise FileNotFoundError("grammar/expression.lark is not part of this installation")


@lru_cache(maxsize=1)
def load() -> Tables:
    """The shipped tables where they belong to the grammar at hand, else freshly compiled ones."""
    text = grammar_text()
    try:
        from exprgrad.language.read._tables import TABLES
    except ImportError:
        return compile_grammar(text)
    tables = Tables(*TABLES)
    return tables if tables.grammar == text else compile_grammar(text)


def compile_grammar(text: str) -> Tables:
    """Have Lark compute the LALR tables of a grammar."""
    lark = lark_parser(text)
    table = lark.parser.parser._parse_table
    rules = lark.parser.parser_conf.rules
    number = {rule: index for index, rule in enumerate(rules)}
    order = {state: index for index, state in enumerate(table.states)}
    states = [
        {
            str(symbol): order[target] if isinstance(target, int) else -1 - number[target]
            for symbol, (_, target) in row.items()
        }
        for row in table.states.values()
    ]
    return Tables(
        text,
        [(t.name, t.pattern.to_regexp()) for t in lark.parser.lexer.terminals],
        list(lark.ignore_tokens),
        [(str(rule.origin.name), len(rule.expansion), action_name(rule)) for rule in rules],
        states,
        order[table.start_states[START]],
    )


def action_name(rule: Any) -> str | None:
    """What a rule is called by: its alias, or its origin unless that begins with an underscore."""
    origin = str(rule.origin.name)
    return rule.alias or (None if origin.startswith("_") else origin)


def lark_parser(text: str) -> Any:
    """Lark's own parser for a grammar."""
    from lark import Lark

    return Lark(text, parser="lalr", lexer="basic", start=START)
