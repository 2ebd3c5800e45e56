"""The grammar's LALR tables, and the loop over them: tokens in, the value of the start rule out.

``grammar/expression.lark`` is the one source of the language, and Lark the one tool that reads it.  A
command must not spend 100 ms on that, so the package ships the tables that Lark computed as plain
literals (``_tables.py``, written by ``hatch_build.py``), together with the grammar's text: where the
text in a checkout differs, the tables are stale and Lark compiles them anew.

The loop does what Lark's own does, about three times as fast: one regular expression finds the tokens,
no token objects are made, and chains of reductions that only pass a value on are followed once and
remembered.  Nothing here recurses, so 100,000 nested parentheses are just a longer stack.
"""

# Without ``from __future__ import annotations``: typing would compile each field's text at every start.

import os
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple

__all__ = [
    "BRACKETS", "END", "KEYWORDS", "START", "UNKNOWN", "Parser", "Tables", "Unexpected", "compile_grammar",
    "grammar_text", "language_parser", "load_tables", "rules_with_actions",
]  # fmt: skip

START = "start"
KEYWORDS = {"for": "FOR", "in": "IN"}
"""Keyword → its terminal.  Where a name may stand, the keyword is a name."""
BRACKETS = {"LPAR": 1, "RPAR": -1, "LSQB": 1, "RSQB": -1}


class Tables(NamedTuple):
    """What a parser needs, as plain data.

    ``terminals``  (name, regular expression) pairs, in the order in which they are tried
    ``ignored``    names of the terminals that separate and mean nothing
    ``rules``      (origin, size, action): the action is None for a rule that only passes a value on
    ``states``     state → symbol → what to do: a state to go to, or ``-1 - rule`` to reduce
    ``initial``    the state to begin in
    ``plain``      the terminals as texts in ASCII need them, which are quicker to compile
    """

    grammar: str
    terminals: list[tuple[str, str]]
    ignored: list[str]
    rules: list[tuple[str, int, str | None]]
    states: list[dict[str, int]]
    initial: int
    plain: list[tuple[str, str]]


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
def load_tables() -> Tables:
    """Load the shipped tables if they belong to the grammar at hand; else compile them."""
    text = grammar_text()
    try:
        from exprgrad.language.read._tables import TABLES
    except ImportError:
        return compile_grammar(text)
    is_fresh = TABLES[0] == text and len(TABLES) == len(Tables._fields)
    return Tables(*TABLES) if is_fresh else compile_grammar(text)


def compile_grammar(text: str) -> Tables:
    """Have Lark compute the LALR tables of a grammar: the same ones each time.

    Lark's numbers of states depend on addresses in memory; here states are numbered as they are reached
    from the first one.  A rule is called by its alias, or by its origin unless that begins with an
    underscore.
    """
    from lark import Lark

    lark = Lark(text, parser="lalr", lexer="basic", start=START)
    table = lark.parser.parser._parse_table
    rules = lark.parser.parser_conf.rules
    number = {rule: index for index, rule in enumerate(rules)}
    rows = {
        state: sorted((str(s), to) for s, (_, to) in table.states[state].items())
        for state in table.states
    }
    reached = [table.start_states[START]]
    for state in reached:
        reached += [to for _, to in rows[state] if isinstance(to, int) and to not in reached]
    order = {state: index for index, state in enumerate(reached)}
    states = [
        {
            symbol: order[target] if isinstance(target, int) else -1 - number[target]
            for symbol, target in rows[state]
        }
        for state in reached
    ]
    terminals = [(t.name, t.pattern.to_regexp()) for t in lark.parser.lexer.terminals]
    # In ASCII ``[*×]`` becomes ``[*]``, and ``=|[≤-≥]`` becomes ``=``.
    ascii = [re.sub(r"[^\x00-\x7f](-[^\x00-\x7f])?", "", regex) for _, regex in terminals]
    plain = [re.sub(r"\|?\[\][?*+]*", "", regex) for regex in ascii]
    origins = [str(rule.origin.name) for rule in rules]
    aliases = [rule.alias for rule in rules]
    return Tables(
        text,
        terminals,
        list(lark.ignore_tokens),
        [
            (origin, len(rule.expansion), alias or (None if origin.startswith("_") else origin))
            for rule, origin, alias in zip(rules, origins, aliases, strict=True)
        ],
        states,
        0,
        [(name, regex) for (name, _), regex in zip(terminals, plain, strict=True) if regex],
    )


# The loop.

Action = Callable[..., Any]
Production = tuple[str, int, Action | None]
"""A rule: what it makes, the number of its symbols, and its action; None where it passes a value on."""
END = "$END"
UNKNOWN = "UNKNOWN"


class Unexpected(Exception):
    """The first token that cannot follow those before it.

    ``kind`` is a terminal's name, ``$END`` or ``UNKNOWN``; ``expected`` holds the terminals that could
    have stood there; ``last`` is the kind and span of the token before it.
    """

    def __init__(
        self, kind: str, span: tuple[int, int], expected: frozenset[str], last: tuple[str, int, int]
    ) -> None:
        super().__init__(kind)
        self.kind = kind
        self.span = span
        self.expected = expected
        self.last = last


class Parser(NamedTuple):
    """LALR tables, ready to run: ``scan`` compiles token patterns; ``settled`` remembers reductions."""

    scan: Callable[[bool], re.Pattern[str]]
    states: list[dict[str, int]]
    rules: list[tuple[str, int, str | None]]
    initial: int
    settled: dict[tuple[int, str, str], int]


@lru_cache(maxsize=1)
def language_parser() -> Parser:
    """The parser of the language."""
    return prepare_parser(load_tables())


def prepare_parser(tables: Tables) -> Parser:
    """Make a parser of tables; its token pattern skips ignored text ahead of each token."""

    @cache
    def scan(is_ascii: bool) -> re.Pattern[str]:
        terminals = tables.plain if is_ascii else tables.terminals
        ignored = "|".join(regex for name, regex in terminals if name in tables.ignored)
        tokens = "|".join(
            f"(?P<{name}>{regex})" for name, regex in terminals if name not in tables.ignored
        )
        return re.compile(rf"(?:{ignored})*+(?:{tokens}|(?P<END>\Z)|(?P<{UNKNOWN}>[\s\S]))")

    return Parser(scan, tables.states, tables.rules, tables.initial, {})


def rules_with_actions(grammar: Parser, actions: Mapping[str, Action]) -> list[Production]:
    """The rules of a grammar with their actions, for ``run_parser``."""
    return [(origin, size, actions.get(name or "")) for origin, size, name in grammar.rules]


def run_parser(grammar: Parser, text: str, rules: Sequence[Production], builder: Any) -> Any:
    """Parse a text.  An action gets the builder and the values of its symbols; a token's is its span."""
    states, settled, initial = grammar.states, grammar.settled, grammar.initial
    stack = [initial]
    values: list[Any] = []
    state, depth, last, place = initial, 0, "", (0, 0)
    for token in grammar.scan(text.isascii()).finditer(text):
        kind: str = token.lastgroup or UNKNOWN
        span = token.span(kind)
        if kind == "END":
            kind = END
        elif kind in BRACKETS:
            depth += BRACKETS[kind]
        elif kind == "NEWLINE" and depth > 0:
            continue
        while True:
            step = states[state].get(kind)
            if step is None:
                word = KEYWORDS.get(text[slice(*span)]) if kind == "NAME" else None
                if word in states[state]:
                    kind = str(word)
                    continue
                raise refuse_token(states[state], kind, span, (last, *place))
            if step >= 0:
                stack.append(step)
                values.append(span)
                state = step
                break
            origin, size, action = rules[-1 - step]
            if size == 1:
                if action is not None:
                    values[-1] = action(builder, values[-1])
                stack.pop()
            else:
                made = None if action is None else action(builder, *values[-size:])
                values[-size:] = (made,)
                del stack[-size:]
            if origin == START:
                return values[-1]
            key = (stack[-1], origin, kind)
            found = settled.get(key)
            if found is None:
                found = settled[key] = settle_state(grammar, key)
            state = found
            stack.append(state)
        last, place = kind, span
    raise AssertionError("the tokens ended without an end")


def refuse_token(
    state: Mapping[str, int], kind: str, span: tuple[int, int], last: tuple[str, int, int]
) -> Unexpected:
    """The error for a token that cannot follow; a keyword counts as a name."""
    expected = frozenset(symbol for symbol in state if symbol.isupper() or symbol == END)
    return Unexpected("NAME" if kind in KEYWORDS.values() else kind, span, expected, last)


def settle_state(grammar: Parser, key: tuple[int, str, str]) -> int:
    """Find the state after a reduction and the reductions behind it that only pass its value on."""
    below, origin, kind = key
    while True:
        state = grammar.states[below][origin]
        step = grammar.states[state].get(kind, 0)
        if step >= 0:
            return state
        rule_origin, size, action = grammar.rules[-1 - step]
        if size != 1 or action is not None:
            return state
        origin = rule_origin
