"""Printing: what is written parses back to the same graph, with no parenthesis too many."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exprgrad.derive.rules import template
from exprgrad.errors import LanguageError
from exprgrad.graph.graph import Graph, Literal, same_graph
from exprgrad.graph.ops import BY_NAME
from exprgrad.language.read.names import LOOK_ALIKES
from exprgrad.language.read.parse import parse_text
from exprgrad.language.read.shaping import infer_shapes
from exprgrad.language.write.infix import (
    literal_text,
    node_texts,
    number_text,
    operand_label,
    program_text,
    rule_text,
)
from invariants import check
from strategies import INPUTS, NUMBERS, programs
from together import together
from well_shaped import Formula, formulas

steady = settings(derandomize=True)
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
tensor_tokens = st.sampled_from(
    ("x", "y", "2", "-3", "1e3", ".5", "[", "]", "[1, -2]", "[[1], [2]]", "[0]", "[-1, :]", "[1:]",
     "[:2]", ".T", "@", "@", "*", "/", "-", "+", "^", "(", ")", ",", "sum(", "max(", "concat(", "stack(",
     "reshape(x, [2, -1])", "axis=0)", ", axis=[0, -1], keepdims=True)", ", 1)", "transpose(",
     "axes=[1, 0])")
)  # fmt: skip


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
        return parse_text(text)
    except LanguageError:
        return None


@settings(steady, max_examples=100)
@given(programs())
def test_parse_print_parse_is_the_identity(text: str) -> None:
    graph = parse_text(text)
    check(graph)
    written = program_text(graph)
    again = parse_text(written)
    check(again)
    assert same_graph(graph, again), written
    assert program_text(again) == written


@settings(steady, max_examples=100)
@given(programs())
def test_no_parentheses_are_spare(text: str) -> None:
    graph = parse_text(text)
    written = program_text(graph)
    for pair in pairs(written):
        less = accepts(without(written, pair))
        assert less is None or not same_graph(graph, less), (written, pair)


@settings(steady, max_examples=120)
@given(st.lists(tokens, max_size=14).map(" ".join))
def test_text_as_it_comes_is_refused_or_survives_printing(text: str) -> None:
    graph = accepts(text)
    if graph is None:
        with pytest.raises(LanguageError):
            parse_text(text)
    else:
        assert same_graph(graph, parse_text(program_text(graph)))


@settings(steady, max_examples=100)
@given(formulas(10))
def test_formulas_of_tensors_survive_printing(formula: Formula) -> None:
    graph = parse_text(formula.text)
    written = program_text(graph)
    again = parse_text(written)
    check(again)
    assert same_graph(graph, again), written
    assert program_text(again) == written
    assert max(map(len, node_texts(graph, graph.names()))) <= 60


@settings(steady, max_examples=100)
@given(st.lists(tensor_tokens, max_size=12).map(" ".join))
def test_soups_of_brackets_are_refused_or_survive_printing(text: str) -> None:
    graph = accepts(text)
    if graph is not None:
        assert same_graph(graph, parse_text(program_text(graph))), program_text(graph)


@settings(steady, max_examples=100)
@given(st.text(letters, min_size=1, max_size=6))
def test_every_identifier_is_a_name_that_survives_printing(name: str) -> None:
    import unicodedata

    normal = unicodedata.normalize("NFC", name)
    graph = accepts(name)
    foreign = any(
        c in LOOK_ALIKES or unicodedata.decomposition(c).startswith("<super>") for c in normal
    )
    if not normal.isidentifier() or foreign or normal[0] == "π":
        assert graph is None or normal not in graph.inputs
    elif normal not in ("pi", "inf", "nan"):
        assert graph is not None and list(graph.inputs) == [normal]
        assert program_text(graph) == normal
        assert program_text(parse_text(f"{name} = 2; {name}^2")) == f"{normal} = 2; {normal}^2"


@settings(steady, max_examples=100)
@given(st.floats(min_value=0, allow_infinity=False))
def test_numbers_read_back_as_the_same_double(value: float) -> None:
    graph = parse_text(number_text(value))
    assert graph.payloads == [value]
    assert not number_text(value).endswith(".0")


@together(
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
        ("[1,2]", "[1, 2]"),
        ("[[1,-2],[3,4]]", "[[1, -2], [3, 4]]"),
        ("[-1, +2, (3), -(4)]", "[-1, 2, 3, -4]"),
        ("[--1, 2]", "[--1, 2]"),
        ("-[1, 2]", "-[1, 2]"),
        ("[-[1], [2]]", "[-[1], [2]]"),
        ("[1e999, -inf, pi]", "[inf, -inf, pi]"),
        ("[0.1, -0, 1e-300]", "[0.1, -0, 1e-300]"),
        ("[x, 1]", "[x, 1]"),
        ("[1, [2, 3]]", "[1, [2, 3]]"),
        ("stack(x, y)", "[x, y]"),
        ("stack(x, y, axis=1)", "stack(x, y, axis=1)"),
        ("t = [1, 2]; [t, t]", "t = [1, 2]; [t, t]"),
        ("t = 1; [t, 2]", "t = 1; [t, 2]"),
        ("x[0]", "x[0]"),
        ("x [ 0 , - 1 , : , 1 : , : -1 ]", "x[0, -1, :, 1:, :-1]"),
        ("(x+y)[0]", "(x + y)[0]"),
        ("(-x)[0]", "(-x)[0]"),
        ("-x[0]", "-x[0]"),
        ("x[0]^2", "x[0]^2"),
        ("(x^2)[0]", "(x^2)[0]"),
        ("2^x[0]", "2^x[0]"),
        ("sum(x)[0][1]", "sum(x)[0][1]"),
        ("[1, 2][0]", "[1, 2][0]"),
        ("x.T", "x.T"),
        ("(x + y).T.T", "(x + y).T.T"),
        ("(x @ y).T", "(x @ y).T"),
        ("x @ y.T", "x @ y.T"),
        ("-x.T", "-x.T"),
        ("(-x).T", "(-x).T"),
        ("x.T^2", "x.T^2"),
        ("(2).T", "(2).T"),
        ("(2.5).T", "2.5.T"),
        ("x[0].T[1]", "x[0].T[1]"),
        ("transpose(x)", "x.T"),
        ("transpose(x, [1, 0])", "transpose(x, axes=[1, 0])"),
        ("matmul(x, y)", "x @ y"),
        ("x@y@z", "x @ y @ z"),
        ("x@(y@z)", "x @ (y @ z)"),
        ("x@y*z", "(x @ y)*z"),
        ("x@(y*z)", "x @ (y*z)"),
        ("x*y@z", "x*y @ z"),
        ("x*(y@z)", "x*(y @ z)"),
        ("x@y/2", "(x @ y)/2"),
        ("-x@y", "-x @ y"),
        ("-(x@y)", "-(x @ y)"),
        ("x@-y", "x @ -y"),
        ("x@y^2", "x @ y^2"),
        ("(x@y)^2", "(x @ y)^2"),
        ("x@y + b", "x @ y + b"),
        ("a - x@y", "a - x @ y"),
        ("sum(x, 1)", "sum(x, axis=1)"),
        ("sum(x, axis=1, keepdims=False)", "sum(x, axis=1)"),
        ("sum(x, keepdims=true, axis=-1)", "sum(x, axis=-1, keepdims=True)"),
        ("sum(x, axis=None)", "sum(x)"),
        ("sum(x, [0, -1])", "sum(x, axis=[0, -1])"),
        ("sum(x, 0, 1)", "sum(x, axis=0, keepdims=True)"),
        ("max(x)", "max(x)"),
        ("max(x, 1)", "max(x, 1)"),
        ("max(x, axis=1)", "max(x, axis=1)"),
        ("softmax(x)", "softmax(x)"),
        ("softmax(x, axis=None)", "softmax(x, axis=None)"),
        ("reshape(x, 6)", "reshape(x, shape=[6])"),
        ("reshape(x, [2, -1])", "reshape(x, shape=[2, -1])"),
        ("place(x, [4], at=[[1, None]])", "place(x, shape=[4], at=[[1, None]])"),
    ]
)
def test_spelling(text: str, written: str) -> None:
    assert program_text(parse_text(text)) == written
    assert same_graph(parse_text(text), parse_text(written))


def test_texts_are_cut_at_the_limit() -> None:
    graph = parse_text("+".join(["x"] * 100))
    written = node_texts(graph, graph.names())
    assert max(map(len, written)) == 60
    assert written[-1].endswith("…")
    assert written[1] == "x + x"


def test_texts_call_named_operands_by_name() -> None:
    graph = parse_text("t = a + b; t*t")
    written = node_texts(graph, graph.names())
    assert written == ["a", "b", "a + b", "t*t"]
    assert [operand_label(graph, node, graph.names(), written)[0] for node in (2, 3)] == [
        "t",
        "t*t",
    ]


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
        graph = parse_text(text)
        given_texts[name] = operand_label(graph, graph.output, {}, node_texts(graph, {}))
    assert rule_text(template(BY_NAME[kind].display_partial(position)), given_texts)[0] == written


def test_depth_does_not_recurse() -> None:
    depth = 5_000
    graph = parse_text("(" * depth + "x" + "+1)" * depth)
    written = program_text(graph)
    assert written == "x" + " + 1" * depth
    nested = parse_text("sin(" * depth + "x" + ")" * depth)
    assert same_graph(parse_text(program_text(nested)), nested)


@pytest.mark.parametrize("depth", [2_500, pytest.param(100_000, marks=pytest.mark.slow)])
def test_lists_of_any_size_and_depth(depth: int) -> None:
    """Neither parsing nor printing recurses, and a node's text is not made longer than it is shown."""
    for inner in ("x", "1", "-1"):
        text = "[" * depth + inner + "]" * depth
        assert program_text(parse_text(text)) == text
    many = f"[{', '.join(map(str, range(20_000)))}]"
    graph = parse_text(many)
    assert program_text(graph) == many
    assert node_texts(graph, {})[0] == many[:59] + "…"
    pairs = f"[{', '.join(f'[{i}, -{i}.5]' for i in range(2_000))}]"
    assert program_text(parse_text(pairs)) == pairs
    assert literal_text(Literal((2, 1, 2), (1.0, 2.0, 3.0, 4.0))) == "[[[1, 2]], [[3, 4]]]"
    assert [literal_text(Literal((2, 2), (1.0, 2.0, 3.0, 4.0)), room) for room in (1, 5, 60)] == [
        "[", "[[1, ", "[[1, 2], [3, 4]]"
    ]  # fmt: skip


def test_a_long_list_that_is_used_often_is_not_written_out_for_each_use() -> None:
    numbers = ", ".join(["0.123456789"] * 5_000)
    text = f"c = [{numbers}]; " + "; ".join(f"y{i} = c*{i}" for i in range(500)) + "; y1"
    graph = parse_text(text)
    assert node_texts(graph, {})[2].startswith("[0.123456789, 0.12")


def test_broadcasting_leaves_no_trace_in_a_text() -> None:
    text = "(x + y)*2"
    graph = infer_shapes(parse_text(text), text, {"x": (2, 3), "y": (3,)})
    assert "broadcast" in graph.kinds and program_text(graph) == text
    assert node_texts(graph, graph.names())[-1] == text


@pytest.mark.parametrize("text", ["1e-400*x", "3.14159265358979323846*x", "x + 4.9e-324"])
def test_a_literal_is_written_as_it_was_typed(text: str) -> None:
    graph = parse_text(text)
    assert program_text(graph) == text
    assert parse_text(program_text(graph)).spelled == graph.spelled
