"""What the language means: precedence, names, statements, blanks, and where each node is written."""

from __future__ import annotations

import keyword

import pytest

from exprgrad import LanguageError
from exprgrad.graph.graph import check
from exprgrad.graph.ops import OPS
from exprgrad.language.parse import CONSTANTS, FUNCTIONS, parse


def shape(text: str) -> str:
    """The graph of a text, every operation as a call: what was read, whatever it was written like."""
    graph = parse(text)
    check(graph)
    written: list[str] = []
    for node, kind in enumerate(graph.kinds):
        operands = ", ".join(written[i] for i in graph.operands[node])
        leaf = graph.symbols.get(node) or str(graph.payloads[node]).removesuffix(".0")
        written.append(f"{kind}({operands})" if operands else leaf)
    return written[graph.output]


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("a+b*c", "add(a, mul(b, c))"), ("a-b-c", "sub(sub(a, b), c)"),
        ("a/b/c", "div(div(a, b), c)"), ("a/b*c", "mul(div(a, b), c)"),
        ("a%b*c", "mul(mod(a, b), c)"), ("-a*b", "mul(neg(a), b)"), ("-a^b", "neg(pow(a, b))"),
        ("a^-b", "pow(a, neg(b))"), ("a^b^c", "pow(a, pow(b, c))"),
        ("-a^-b^-c", "neg(pow(a, neg(pow(b, neg(c)))))"), ("a**b", "pow(a, b)"),
        ("2*-x", "mul(2, neg(x))"), ("a - -b", "sub(a, neg(b))"), ("+a", "a"),
        ("-+-a", "neg(neg(a))"), ("a + +b", "add(a, b)"), ("a < b + c", "lt(a, add(b, c))"),
        ("a+b == c*d", "eq(add(a, b), mul(c, d))"), ("(a<b)+1", "add(lt(a, b), 1)"),
        ("(a < b) < c", "lt(lt(a, b), c)"), ("a<=b", "le(a, b)"), ("a>=b", "ge(a, b)"),
        ("a!=b", "ne(a, b)"), ("sin(x)^2", "pow(sin(x), 2)"), ("sin (x)", "sin(x)"),
        ("max(a, b < c, -d)", "max(a, lt(b, c), neg(d))"), ("((a))", "a"),
        ("2^-1", "pow(2, neg(1))"), ("1e3x1" .replace("x1", "*x1"), "mul(1000, x1)"), (".5", "0.5"),
        ("2.", "2"), ("6.02E23", "6.02e+23"), ("1e-3", "0.001"), ("pi*tau", "mul(pi, tau)"),
        ("inf", "inf"), ("e", "e"), ("lambda*N", "mul(lambda, N)"), ("sin*x", "mul(sin, x)"),
        ("a=1;a", "1"), ("a = b\nc = a\nc", "b"), ("x\n", "x"), ("\n;\nx;\n;", "x"),
        ("a = 2 # b\na", "2"), ("(a\n+\nb)", "add(a, b)"), ("max(a,\r\n b)", "max(a, b)"),
        ("( # comment\na)", "a"), ("a\u00a0+\tb", "add(a, b)"), ("#\n#\nx", "x"),
        ("pi = 3; pi", "3"), ("sin = 2; sin(sin)", "sin(2)"),
    ],
)  # fmt: skip
def test_meaning(text: str, meaning: str) -> None:
    assert shape(text) == meaning


def test_one_node_per_operator_literal_and_input() -> None:
    """The graph is the expression as written: equal parts are not merged, equal names are one node."""
    graph = parse("x*x + x*x + 2 + 2")
    assert graph.kinds.count("mul") == 2 and graph.kinds.count("const") == 2
    assert graph.kinds.count("input") == 1
    assert graph.operands[1] == (0, 0)


def test_ids_are_in_the_order_of_parsing() -> None:
    graph = parse("(a+b)*c")
    assert graph.kinds == ["input", "input", "add", "input", "mul"]
    assert graph.output == 4 and list(graph.inputs) == ["a", "b", "c"]


def test_spans() -> None:
    text = " -( a + b ) * max(c,\n d)"
    graph = parse(text)
    written = {kind: text[slice(*graph.span(node))] for node, kind in enumerate(graph.kinds)}
    assert written == {
        "input": "d", "add": "a + b", "neg": "-( a + b )", "max": "max(c,\n d)",
        "mul": "-( a + b ) * max(c,\n d)",
    }  # fmt: skip
    assert text[slice(*graph.occurrence(graph.kinds.index("neg"), 0))] == "a + b"


@pytest.mark.parametrize(
    "name", sorted({*keyword.kwlist, "e", "N", "gamma", "_", "x1", "é", "長い", "ж", *FUNCTIONS})
)
def test_any_identifier_is_a_name(name: str) -> None:
    graph = parse(f"{name} + 1")
    assert list(graph.inputs) == [name]
    assert parse(f"{name} = 2\n{name}*{name}").output_name is None


def test_names_are_nfc() -> None:
    graph = parse("e\u0301 + \u00e9")
    assert list(graph.inputs) == ["\u00e9"]
    assert parse("e\u0301 = 1; \u00e9").output_name == "\u00e9"


def test_the_output_s_name() -> None:
    assert parse("a = b").output_name == "a"
    assert parse("a = 2*b; a").output_name == "a"
    assert parse("a = 2*b; a + 1").output_name is None
    assert parse("a = 2*b; c = a").output_name == "c"


def test_functions_are_the_table_s_calls() -> None:
    assert set(FUNCTIONS) == {op.name for op in OPS if not op.infix and not op.prefix}
    assert set(CONSTANTS) == {"pi", "tau", "inf", "nan"}
    assert "e" not in CONSTANTS


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
@pytest.mark.parametrize("count", range(5))
def test_every_function_s_arity(name: str, count: int) -> None:
    op = FUNCTIONS[name]
    text = f"{name}({', '.join(['x'] * count)})"
    if count >= 2 if op.variadic else count == len(op.names):
        assert parse(text).kinds[-1] == name
    else:
        with pytest.raises(LanguageError) as caught:
            parse(text)
        assert caught.value.code == "arity" and caught.value.span == (0, len(text))


def test_reading_twice_gives_the_same() -> None:
    one, other = parse("a = x + 1; a*a"), parse("a = x + 1; a*a")
    assert (one.kinds, one.operands, one.payloads) == (other.kinds, other.operands, other.payloads)


@pytest.mark.parametrize("text", ["y = sin(x)\n+ cos(x)", "a = x\r\n-b", "a = 1; b = a*x\n\n+a"])
def test_a_formula_pasted_over_two_lines_is_not_read_as_two(text: str) -> None:
    with pytest.raises(LanguageError) as caught:
        parse(text)
    assert caught.value.code == "unused-statement"
    start, end = caught.value.span or (0, 0)
    assert text[start:end] in ("+", "-") and end == start + 1


@pytest.mark.parametrize(
    "text", ["y = sin(x)\n-y", "y = sin(x); -x", "t = 2\n(+x)", "y = (sin(x)\n+ x)"]
)
def test_a_signed_output_is_not_taken_for_a_broken_line(text: str) -> None:
    check(parse(text))
