"""Source text: positions, what may be printed, widths in terminal cells, excerpts with carets."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exprgrad.errors import ExprgradError, LanguageError, render_error
from exprgrad.source import (
    Source,
    bracket_depths,
    cut_text,
    display_width,
    excerpt_lines,
    line_and_column,
    printable_text,
)

quick = settings(derandomize=True, max_examples=80)
texts = st.text(st.sampled_from("ab é長\u0301\t\r\n\x1b\u202e\ud800#"), max_size=30)


@pytest.mark.parametrize(
    ("text", "offset", "place"),
    [
        ("", 0, (1, 1)), ("abc", 0, (1, 1)), ("abc", 3, (1, 4)), ("a\nb", 1, (1, 2)),
        ("a\nb", 2, (2, 1)), ("a\r\nb", 3, (2, 1)), ("a\r\nb", 1, (1, 2)), ("a\r\nb", 2, (1, 3)),
        ("a\rb", 2, (2, 1)), ("\n\n\n", 3, (4, 1)), ("\r\nb", 1, (1, 2)), ("a\n\rb", 3, (3, 1)),
        ("長長x", 2, (1, 3)),
    ],
)  # fmt: skip
def test_position(text: str, offset: int, place: tuple[int, int]) -> None:
    assert line_and_column(text, offset) == place


@quick
@given(texts, st.integers(0, 30))
def test_positions_are_those_of_splitlines(text: str, offset: int) -> None:
    r"""Among \n, \r\n and \r, a line is what ``str.splitlines`` says."""
    offset = min(offset, len(text))
    if text[offset - 1 : offset + 1] == "\r\n":
        return
    lines = (text[:offset] + "|").splitlines()
    assert line_and_column(text, offset) == (len(lines), len(lines[-1]))


@quick
@given(texts)
def test_printable_keeps_length_and_hides_what_a_terminal_obeys(text: str) -> None:
    shown = printable_text(text)
    assert len(shown) == len(text)
    assert printable_text(shown) == shown
    assert not set(shown) & set("\t\r\n\x1b\u202e\ud800")


@pytest.mark.parametrize(
    ("text", "width"),
    [("", 0), ("abc", 3), ("é", 1), ("e\u0301", 1), ("長い", 4), ("ｘ", 2), ("😀", 2), ("�", 1)],
)
def test_display_width(text: str, width: int) -> None:
    assert display_width(text) == width


def test_cut() -> None:
    assert cut_text("abc", 3) == "abc"
    assert cut_text("abcd", 3) == "ab…"


def test_excerpt() -> None:
    assert excerpt_lines(Source("a + 長$ + b"), (5, 6)) == ["  1 │ a + 長$ + b", "    │       ^"]
    assert excerpt_lines(Source("a=2x", False), (3, 4)) == ["    │ a=2x", "    │    ^"]
    assert excerpt_lines(Source("a\n" * 99 + "b"), (198, 199), "here") == [
        "  100 │ b",
        "      │ ^ here",
    ]


def test_a_span_over_lines_is_underlined_to_the_end_of_its_first() -> None:
    assert excerpt_lines(Source("(a +\n b)"), (0, 8)) == ["  1 │ (a +", "    │ ^^^^"]


@quick
@given(st.integers(0, 500), st.integers(1, 300), st.integers(24, 120))
def test_a_long_line_is_a_window(start: int, length: int, width: int) -> None:
    """It is never wider than asked, and shows the span's beginning."""
    text = "".join(chr(ord("a") + i % 26) for i in range(800))
    line, carets = excerpt_lines(Source(text), (start, start + length), width=width)
    assert len(line) <= width and len(carets) <= width
    first = carets.index("^")
    assert line[first] in (text[start], "…")


@quick
@given(texts, st.integers(0, 30), st.integers(0, 10))
def test_any_span_of_any_text_can_be_shown(text: str, start: int, length: int) -> None:
    start = min(start, len(text))
    error = ExprgradError(
        "x", "m", source=Source(text), span=(start, min(start + length, len(text)))
    )
    lines = render_error(error).split("\n")
    assert len(lines) == 3 and "^" in lines[2]


def test_messages_and_help_cannot_command_a_terminal() -> None:
    error = ExprgradError("x", "a\x1b[31mb\nc", help="d\x07e\u202e")
    assert render_error(error) == "error: a�[31mb c\n  help: d�e�"
    assert len(ExprgradError("x", "a" * 1000).message) < 300


def test_the_error_as_a_value() -> None:
    error = ExprgradError("code", "message", source=Source("a\nbc"), span=(3, 4), help="help")
    assert error.as_json() == {
        "code": "code", "message": "message", "span": [3, 4], "line": 2, "column": 2, "help": "help",
    }  # fmt: skip
    assert str(error) == "message\n  2 │ bc\n    │  ^\n  help: help"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("a(b[c]d)e", [0, 0, 1, 1, 2, 1, 1, 0, 0]),
        ("a)(b", [0, 0, 0, 1]),
        ("(]", [0, 0]),
        ("((", [0, 1]),
    ],
)
def test_depths(text: str, expected: list[int]) -> None:
    assert bracket_depths(text) == expected


def test_an_error_gets_its_place() -> None:
    def error() -> LanguageError:
        return LanguageError("syntax", "wrong", span=(1, 2), related=(("here", (0, 1)),))

    argument = Source("x=a$", is_expression=False)
    placed = error().at(argument, 2)
    assert (placed.source, placed.span, placed.related) == (argument, (3, 4), (("here", (2, 3)),))
    assert error().at(Source("a$")).span == (1, 2)
    assert error().at("x.json").message == "wrong, in 'x.json'"
