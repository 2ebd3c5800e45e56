"""Our loop over the LALR tables against Lark's own parser, and the tables against the grammar."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lark import Lark

from exprgrad.language.read import lalr
from exprgrad.language.read.lalr import (
    START,
    Tables,
    compile_grammar,
    grammar_text,
    load_tables,
)
from strategies import programs
from together import together
from well_shaped import formulas

steady = settings(derandomize=True)
lark: Any = Lark(grammar_text(), parser="lalr", lexer="basic", start=START)


def without_inner_newlines(tokens: Any) -> Iterator[Any]:
    """Lark's tokens, a line's end inside parentheses dropped."""
    depth = 0
    for token in tokens:
        depth += {"LPAR": 1, "RPAR": -1, "LSQB": 1, "RSQB": -1}.get(token.type, 0)
        if token.type != "NEWLINE" or depth <= 0:
            yield token


def lark_says(text: str) -> tuple[str, int] | None:
    """None where Lark accepts a text; else the kind and the offset of the first wrong token."""
    from lark import UnexpectedCharacters, UnexpectedToken

    parser = lark.parse_interactive("")
    try:
        for token in without_inner_newlines(lark.lex(text)):
            parser.feed_token(token)
        parser.feed_eof()
    except UnexpectedCharacters as error:
        return lalr.UNKNOWN, int(error.pos_in_stream or 0)
    except UnexpectedToken as error:
        at_end = error.token.type == lalr.END
        return error.token.type, len(text) if at_end else error.token.start_pos
    return None


def we_say(text: str, parser: lalr.Parser | None = None) -> tuple[str, int] | None:
    try:
        grammar = parser or lalr.language_parser()
        lalr.run_parser(grammar, text, lalr.rules_with_actions(grammar, {}), None)
    except lalr.Unexpected as error:
        return error.kind, error.span[0]
    return None


def no_trailing_blanks(found: tuple[str, int] | None, text: str) -> tuple[str, int] | None:
    """Lark has no position for the end; ours is the end of the text, whatever is ignored before it."""
    return (lalr.END, len(text)) if found and found[0] == lalr.END else found


pieces = st.sampled_from(
    ("x", "y1", "2", ".5", "1e3", "1e", "2.", "+", "-", "*", "/", "^", "**", "%", "<", "<=", "==", "=",
     "!", "(", ")", ",", ";", "\n", "\r\n", " ", "\t", "# note", "sin(", "max(",
     "π", "²", "$", "&", "\\", "[", "]", "@", ":", ".T", ".t", "[1, 2]", "x[0]", "x[:, 1]", "axis=0")
)  # fmt: skip
soups = st.lists(pieces, max_size=16).map("".join)


@st.composite
def damaged(draw: st.DrawFn) -> str:
    """A valid program with one character or stretch cut out, doubled or replaced."""
    text = draw(programs())
    start = draw(st.integers(0, len(text)))
    end = min(len(text), start + draw(st.integers(0, 3)))
    return text[:start] + draw(pieces) * draw(st.integers(0, 2)) + text[end:]


@settings(steady, max_examples=100)
@given(soups | damaged() | programs())
def test_lark_and_we_accept_the_same_texts_and_stop_at_the_same_token(text: str) -> None:
    assert no_trailing_blanks(we_say(text), text) == lark_says(text)


@settings(steady, max_examples=60)
@given(programs() | formulas().map(lambda formula: formula.text))
def test_generated_programs_are_accepted(text: str) -> None:
    assert we_say(text) is None
    assert lark_says(text) is None


@together(
    [
        ("", (lalr.END, 0)),
        ("a b", ("NAME", 2)),
        ("(a\n+b)", None),
        ("a\n+b", None),
        ("a\n*b", ("FACTOR", 2)),
        ("(a", (lalr.END, 2)),
        ("a)", ("RPAR", 1)),
        ("a < b < c", ("COMPARISON", 6)),
        ("a & b", (lalr.UNKNOWN, 2)),
        ("\n;; a ;\n", None),
        ("a # note", None),
        ("[1,\n2]", None),
        ("x[0,\n1:]", None),
        ("x[1.5]", None),
        ("x[a]", None),
        ("f(x, y) = x\nf(1, 2)", None),
        ("for*in", None),
        ("x[0:1:2]", ("COLON", 5)),
        ("x.T", None),
        ("x.Ta", (lalr.UNKNOWN, 1)),
        ("x.T.T[0]", None),
        ("sum(x, axis=[0, 1])", None),
        ("sum(x, axis=0 + 1)", ("SIGN", 14)),
        ("a @ b * c", None),
    ]
)
def test_known_texts(text: str, expected: tuple[str, int] | None) -> None:
    assert we_say(text) == expected
    assert lark_says(text) == expected


def test_an_error_says_what_could_stand_there() -> None:
    with pytest.raises(lalr.Unexpected) as caught:
        lalr.run_parser(
            lalr.language_parser(),
            "a + )",
            lalr.rules_with_actions(lalr.language_parser(), {}),
            None,
        )
    assert caught.value.last == ("SIGN", 2, 3)
    assert caught.value.expected == {"NAME", "NUMBER", "LPAR", "LSQB", "SIGN", "ROOT", "BAR"}


def renumbered(one: Tables, other: Tables) -> bool:
    """Whether two tables are one automaton, whatever the numbers of its states and rules."""
    pairs = {one.initial: other.initial}
    todo = [one.initial]
    while todo:
        state = todo.pop()
        mine, theirs = one.states[state], other.states[pairs[state]]
        if mine.keys() != theirs.keys():
            return False
        for symbol, step in mine.items():
            target = theirs[symbol]
            if step < 0 or target < 0:
                if step >= 0 or target >= 0 or one.rules[-1 - step] != other.rules[-1 - target]:
                    return False
            elif step not in pairs:
                pairs[step] = target
                todo.append(step)
            elif pairs[step] != target:
                return False
    return len(pairs) == len(one.states) == len(other.states)


def test_the_shipped_tables_are_those_of_the_grammar() -> None:
    shipped = pytest.importorskip(
        "exprgrad.language.read._tables", reason="written by hatch_build.py"
    )
    fresh, tables = compile_grammar(grammar_text()), Tables(*shipped.TABLES)
    assert tables.grammar == grammar_text()
    assert (tables.terminals, tables.plain) == (fresh.terminals, fresh.plain)
    assert sorted(tables.ignored) == sorted(fresh.ignored)
    assert renumbered(tables, fresh)
    broken = tables._replace(
        states=[{} if n == tables.initial else row for n, row in enumerate(tables.states)]
    )
    assert not renumbered(broken, fresh)


PRINTED = """
from exprgrad.language.read.lalr import compile_grammar, grammar_text
print(compile_grammar(grammar_text()))
"""


def test_the_tables_are_the_same_each_time() -> None:
    """Whatever order Python's sets have, which depends on hashes and on where things lie in memory."""
    texts = set()
    for seed in ("0", "0", "1"):
        env = {**os.environ, "PYTHONHASHSEED": seed}
        line = [sys.executable, "-c", PRINTED]
        texts.add(subprocess.run(line, capture_output=True, check=True, env=env).stdout)
    assert len(texts) == 1 and texts.pop()


def test_ascii_texts_have_the_same_tokens_without_the_signs_that_they_lack() -> None:
    def tokens(text: str, *, is_ascii: bool) -> list[tuple[str | None, tuple[int, int]]]:
        found = lalr.language_parser().scan(is_ascii).finditer(text)
        return [(token.lastgroup, token.span(token.lastgroup or 0)) for token in found]

    signs = [chr(code) for code in range(128)]
    for text in ["".join(f"{one}{other} " for other in signs) for one in signs]:
        assert tokens(text, is_ascii=True) == tokens(text, is_ascii=False)
    assert tokens("a×b", is_ascii=True) != tokens("a×b", is_ascii=False)


def test_stale_tables_are_compiled_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    changed = grammar_text().replace("SEMICOLON: /;/", "SEMICOLON: /[;&]/")
    assert changed != grammar_text()
    monkeypatch.setattr(lalr, "grammar_text", lambda: changed)
    load_tables.cache_clear()
    try:
        tables = load_tables()
    finally:
        load_tables.cache_clear()
    assert tables.grammar == changed
    assert we_say("a & b", lalr.prepare_parser(tables)) is None
    assert we_say("a & b") == (lalr.UNKNOWN, 2)


def test_depth_does_not_recurse() -> None:
    depth = 20_000
    assert we_say("(" * depth + "x" + ")" * depth) is None
    assert we_say("(" * depth) == (lalr.END, depth)
    assert we_say("[" * depth + "x" + "]" * depth) is None
    assert we_say("x" + "[0]" * depth) is None
