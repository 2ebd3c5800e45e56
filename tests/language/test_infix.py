"""Printing: what is written parses back to the same graph, with no parenthesis too many."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exprgrad.derive.rules import template
from exprgrad.errors import LanguageError
from exprgrad.graph.graph import CONST, Graph, check, same
from exprgrad.graph.ops import BY_NAME
from exprgrad.language.infix import label, number, program, rule_text, texts
from exprgrad.language.parse import parse
from strategies import INPUTS, NUMBERS, programs

steady = settings(derandomize=True, deadline=None)
letters = st.characters(categories=("L", "N", "Mn", "Pc"))
tokens = st.sampled_from(
    (
        *INPUTS[:4],
        *NUMBERS[:6],
        *"+-*/%^()+-*^",
        "**",
        "<",
        ">=",
        "==",
        "sin(",
        "max(",
        ",",
        "x",
        ")",
    )
)


def pairs(text: str) -> list[tuple[int, int]]:
    """The offsets of matching parentheses."""
    found, open_ones = [], []
    for offset, character in enumerate(text):
        if character == "(":
            open_ones.append(offset)
        elif character == ")":
            found.append((open_ones.pop(), offset))
    return found


def without(text: str, pair: tuple[int, int]) -> str:
    left, right = pair
    return text[:left] + text[left + 1 : right] + text[right + 1 :]


def accepts(text: str) -> Graph | None:
    try:
        return parse(text)
    except LanguageError:
        return None


@settings(steady, max_examples=400)
@given(programs())
def test_parse_print_parse_is_the_identity(text: str) -> None:
    graph = parse(text)
    check(graph)
    written = program(graph)
    again = parse(written)
    check(again)
    assert same(graph, again), written
    assert program(again) == written


@settings(steady, max_examples=300)
@given(programs())
def test_no_parentheses_are_spare(text: str) -> None:
    graph = parse(text)
    written = program(graph)
    for pair in pairs(written):
        less = accepts(without(written, pair))
        assert less is None or not same(graph, less), (written, pair)


@settings(steady, max_examples=1500)
@given(st.lists(tokens, max_size=14).map(" ".join))
def test_text_as_it_comes_is_refused_or_survives_printing(text: str) -> None:
    graph = accepts(text)
    if graph is None:
        with pytest.raises(LanguageError):
            parse(text)
    else:
        assert same(graph, parse(program(graph)))


@settings(steady, max_examples=300)
@given(st.text(letters, min_size=1, max_size=6))
def test_every_identifier_is_a_name_that_survives_printing(name: str) -> None:
    import unicodedata

    normal = unicodedata.normalize("NFC", name)
    graph = accepts(name)
    if not normal.isidentifier():
        assert graph is None or graph.kinds == [CONST]
    elif normal not in ("pi", "tau", "inf", "nan"):
        assert graph is not None and list(graph.inputs) == [normal]
        assert program(graph) == normal
        assert program(parse(f"{name} = 2; {name}^2")) == f"{normal} = 2; {normal}^2"


@settings(steady, max_examples=300)
@given(st.floats(min_value=0, allow_infinity=False))
def test_numbers_read_back_as_the_same_double(value: float) -> None:
    graph = parse(number(value))
    assert graph.payloads == [value]
    assert not number(value).endswith(".0")


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("((a))+(b*c)", "a + b*c"),
        ("(a+b)*c", "(a + b)*c"),
        ("a-(b-c)", "a - (b - c)"),
        ("(a-b)-c", "a - b - c"),
        ("a/(b*c)", "a/(b*c)"),
        ("a/b*c", "a/b*c"),
        ("(-2)^2", "(-2)^2"),
        ("-2^2", "-2^2"),
        ("2^-1", "2^-1"),
        ("2^(3^2)", "2^3^2"),
        ("(2**3)**2", "(2^3)^2"),
        ("-(a*b)", "-(a*b)"),
        ("-a*b", "-a*b"),
        ("a*-b", "a*-b"),
        ("--a", "--a"),
        ("+a", "a"),
        ("(a<b)+1", "(a < b) + 1"),
        ("a<b+1", "a < b + 1"),
        ("(a<b)<c", "(a < b) < c"),
        ("max((a), (b<c))", "max(a, b < c)"),
        ("t=a+b\nt*t", "t = a + b; t*t"),
        ("t=a", "t = a"),
        ("t=a;u=t;u+t", "t = a; u = a; a + a"),
        ("t=a+b;u=t;u*2", "t = a + b; u = t; t*2"),
        ("2*pi", "2*pi"),
        ("1e999", "inf"),
        ("1e400*x", "inf*x"),
    ],
)
def test_spelling(text: str, written: str) -> None:
    assert program(parse(text)) == written
    assert same(parse(text), parse(written))


def test_texts_are_cut_at_the_limit() -> None:
    graph = parse("+".join(["x"] * 100))
    written = texts(graph, graph.names())
    assert max(map(len, written)) == 60
    assert written[-1].endswith("…")
    assert written[1] == "x + x"


def test_texts_call_named_operands_by_name() -> None:
    graph = parse("t = a + b; t*t")
    written = texts(graph, graph.names())
    assert written == ["a", "b", "a + b", "t*t"]
    assert [label(graph, node, graph.names(), written)[0] for node in (2, 3)] == ["t", "t*t"]


@pytest.mark.parametrize(
    ("kind", "position", "values", "written"),
    [
        ("mul", 0, {"y": "a + b"}, "a + b"),
        ("div", 0, {"y": "a + b"}, "1/(a + b)"),
        ("div", 1, {"x": "a", "y": "b*c"}, "-a/(b*c)^2"),
        ("tanh", 0, {"out": "t"}, "1 - t^2"),
        ("sin", 0, {"x": "2*x"}, "cos(2*x)"),
    ],
)
def test_rules_are_written_with_the_operands_names(
    kind: str, position: int, values: dict[str, str], written: str
) -> None:
    given_texts = {}
    for name, text in values.items():
        graph = parse(text)
        given_texts[name] = label(graph, graph.output, {}, texts(graph, {}))
    assert rule_text(template(BY_NAME[kind].shown_partial(position)), given_texts)[0] == written


def test_depth_does_not_recurse() -> None:
    depth = 30_000
    graph = parse("(" * depth + "x" + "+1)" * depth)
    written = program(graph)
    assert written == "x" + " + 1" * depth
    nested = parse("sin(" * depth + "x" + ")" * depth)
    assert same(parse(program(nested)), nested)
