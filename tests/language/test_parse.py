"""What the language means: precedence, names, statements, blanks, and where each node is written."""

from __future__ import annotations

import keyword
from itertools import product

import pytest

from exprgrad import LanguageError
from exprgrad.graph.ops import FUNCTIONS, OPS
from exprgrad.graph.tensors import WORDS
from exprgrad.language.read.builder import CONSTANTS
from exprgrad.language.read.parse import parse_text
from invariants import check
from together import together


def shape(text: str) -> str:
    """The graph of a text, every operation as a call: what was read, whatever it was written like."""
    graph = parse_text(text)
    check(graph)
    written: list[str] = []
    for node, kind in enumerate(graph.kinds):
        operands = ", ".join(written[i] for i in graph.operands[node])
        leaf = graph.symbols.get(node) or str(graph.payloads[node]).removesuffix(".0")
        written.append(f"{kind}({operands})" if operands else leaf)
    return written[graph.output]


@together([
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
        ("2.", "2"), ("6.02E23", "6.02e+23"), ("1e-3", "0.001"), ("pi*inf", "mul(pi, inf)"),
        ("inf", "inf"), ("e", "e"), ("lambda*N", "mul(lambda, N)"), ("sin*x", "mul(sin, x)"),
        ("a=1;a", "1"), ("a = b\nc = a\nc", "b"), ("x\n", "x"), ("\n;\nx;\n;", "x"),
        ("a = 2 # b\na", "2"), ("(a\n+\nb)", "add(a, b)"), ("max(a,\r\n b)", "max(a, b)"),
        ("( # comment\na)", "a"), ("a\u00a0+\tb", "add(a, b)"), ("#\n#\nx", "x"),
        ("pi = 3; pi", "3"), ("sin = 2; sin(sin)", "sin(2)"),
    ])  # fmt: skip
def test_meaning(text: str, meaning: str) -> None:
    assert shape(text) == meaning


@together([
        ("x@y*z", "mul(matmul(x, y), z)"), ("x*y@z", "matmul(mul(x, y), z)"),
        ("-x@y", "matmul(neg(x), y)"), ("x@-y", "matmul(x, neg(y))"), ("x@y^2", "matmul(x, pow(y, 2))"),
        ("a+x@y", "add(a, matmul(x, y))"), ("x@y@z", "matmul(matmul(x, y), z)"),
        ("-x[0]^2", "neg(pow(index(x), 2))"), ("-x.T", "neg(transpose(x))"), ("2^x[0]", "pow(2, index(x))"),
        ("x.T[0].T", "transpose(index(transpose(x)))"), ("x\u00a0.T", "transpose(x)"),
        ("[x, 1]", "stack(x, 1)"), ("[[x], [1]]", "stack(stack(x), Literal(shape=(1,), numbers=(1.0,)))"),
        ("[1, -2]", "Literal(shape=(2,), numbers=(1.0, -2.0))"),
        ("[-0]", "Literal(shape=(1,), numbers=(-0.0,))"),
        ("[[1, 2],\n [3, 4], # rows\n [5, 6]]",
         "Literal(shape=(3, 2), numbers=(1.0, 2.0, 3.0, 4.0, 5.0, 6.0))"),
        ("[pi]", "stack(pi)"), ("[1e999]", "stack(inf)"), ("[1 + 1]", "stack(add(1, 1))"),
        ("max(x)", "reduce_max(x)"), ("max(x, y)", "max(x, y)"), ("logsumexp(x)", "reduce_logsumexp(x)"),
        ("max(x, axis=1)", "reduce_max(x)"), ("stack(x)", "stack(x)"),
        ("concat(x, y, z)", "concat(x, y, z)"),
        ("sum = 2; sum(sum)", "sum(2)"), ("T = 2; x.T", "transpose(x)"),
    ])  # fmt: skip
def test_meaning_of_tensors(text: str, meaning: str) -> None:
    assert shape(text) == meaning


@together([
        ("x[0]", ((0,),)), ("x[-1, 2:]", ((-1, (2, None)),)),
        ("x[:, :3, 1:-1]", (((None, None), (None, 3), (1, -1)),)),
        ("x[+1]", ((1,),)), ("x[\n0,\n1]", ((0, 1),)), ("x.T", (None,)), ("transpose(x)", (None,)),
        ("transpose(x, [1, 0])", ((1, 0),)), ("transpose(x, axes=[1, 0])", ((1, 0),)),
        ("sum(x)", (None, False)), ("sum(x, 1)", (1, False)), ("sum(x, -1)", (-1, False)),
        ("sum(x, axis=[0, 1])", ((0, 1), False)), ("sum(x, [0, 1])", ((0, 1), False)),
        ("sum(x, keepdims=TRUE)", (None, True)), ("sum(x, keepdims=1)", (None, True)),
        ("sum(x, axis=0, keepdims=True)", (0, True)), ("sum(x, keepdims=True, axis=0)", (0, True)),
        ("sum(axis=0, x)", (0, False)), ("softmax(x)", (-1,)), ("softmax(x, None)", None),
        ("softmax(x, axis=None)", (None,)), ("reshape(x, 6)", ((6,),)), ("reshape(x, [2, -1])", ((2, -1),)),
        ("concat(x, y, axis=1)", (1,)), ("[x, y]", (0,)), ("onehot(x, 3)", (3,)), ("x @ y", ()),
        ("place(x, [4], [1])", ((4,), (1,))), ("place(x, shape=[4], at=[[None, 2]])", ((4,), ((None, 2),))),
    ])  # fmt: skip
def test_settings_are_plain_data(text: str, settings: tuple[object, ...] | None) -> None:
    """They are no nodes; a name is none."""
    if settings is None:
        with pytest.raises(LanguageError):
            parse_text(text)
        return
    graph = parse_text(text)
    check(graph)
    assert graph.payloads[graph.output] == settings
    assert set(graph.kinds[: graph.output]) == {"input"}


def test_spans_of_tensors() -> None:
    text = "sum( ( a @ b )[0].T , axis=1) + [1,\n 2]"
    graph = parse_text(text)
    written = {kind: text[slice(*graph.span(node))] for node, kind in enumerate(graph.kinds)}
    assert written == {
        "input": "b", "matmul": "a @ b", "index": "( a @ b )[0]", "transpose": "( a @ b )[0].T",
        "sum": "sum( ( a @ b )[0].T , axis=1)", "const": "[1,\n 2]", "add": text,
    }  # fmt: skip
    assert text[slice(*graph.occurrence(graph.kinds.index("index"), 0))] == "a @ b"
    assert text[slice(*graph.occurrence(graph.kinds.index("sum"), 0))] == "( a @ b )[0].T"


def test_a_list_of_numbers_is_one_node() -> None:
    """Unless something in it is no number as it stands there."""
    assert parse_text("[[1, 2], [3, 4]]").kinds == ["const"]
    assert parse_text("t = 1; [t, 2]").kinds == ["const", "const", "stack"]
    assert parse_text("[[1, 2], [3]]").kinds == ["const", "const", "stack"]
    assert parse_text("x + [1, [2]]").kinds == ["input", "const", "const", "stack", "add"]


@together(product(sorted(WORDS), range(6)))
def test_every_structural_function_s_arity(word: str, count: int) -> None:
    """Either it parses, or the whole call is blamed; settings that must be given are asked for."""
    row = WORDS[word]
    text = f"{word}({', '.join(['x'] * count)})"
    fits = count >= 1 if row.variadic else count == len(row.names)
    needed = [parameter.name for parameter in row.parameters if parameter.default is ...]
    if word in FUNCTIONS and count > 1:
        assert parse_text(text).kinds[-1] == word
    elif fits and not needed:
        assert parse_text(text).kinds[-1] == row.name
    else:
        with pytest.raises(LanguageError) as caught:
            parse_text(text)
        assert caught.value.code in ("arity", "bad-setting")
        assert caught.value.help


def test_one_node_per_operator_literal_and_input() -> None:
    """The graph is the expression as written: equal parts are not merged, equal names are one node."""
    graph = parse_text("x*x + x*x + 2 + 2")
    assert graph.kinds.count("mul") == 2 and graph.kinds.count("const") == 2
    assert graph.kinds.count("input") == 1
    assert graph.operands[1] == (0, 0)


def test_ids_are_in_the_order_of_parsing() -> None:
    graph = parse_text("(a+b)*c")
    assert graph.kinds == ["input", "input", "add", "input", "mul"]
    assert graph.output == 4 and list(graph.inputs) == ["a", "b", "c"]


def test_spans() -> None:
    text = " -( a + b ) * max(c,\n d)"
    graph = parse_text(text)
    written = {kind: text[slice(*graph.span(node))] for node, kind in enumerate(graph.kinds)}
    assert written == {
        "input": "d", "add": "a + b", "neg": "-( a + b )", "max": "max(c,\n d)",
        "mul": "-( a + b ) * max(c,\n d)",
    }  # fmt: skip
    assert text[slice(*graph.occurrence(graph.kinds.index("neg"), 0))] == "a + b"


@together(sorted({*keyword.kwlist, "e", "N", "gamma", "_", "x1", "é", "長い", "ж", *FUNCTIONS}))
def test_any_identifier_is_a_name(name: str) -> None:
    graph = parse_text(f"{name} + 1")
    assert list(graph.inputs) == [name]
    assert parse_text(f"{name} = 2\n{name}*{name}").output_name is None


def test_names_are_nfc() -> None:
    graph = parse_text("e\u0301 + \u00e9")
    assert list(graph.inputs) == ["\u00e9"]
    assert parse_text("e\u0301 = 1; \u00e9").output_name == "\u00e9"


def test_the_output_s_name() -> None:
    assert parse_text("a = b").output_name == "a"
    assert parse_text("a = 2*b; a").output_name == "a"
    assert parse_text("a = 2*b; a + 1").output_name is None
    assert parse_text("a = 2*b; c = a").output_name == "c"


def test_functions_are_the_table_s_calls() -> None:
    named = {op.name for op in OPS if not op.infix and not op.prefix}
    assert set(FUNCTIONS) == named | {word for op in OPS for word in op.spellings.split()}
    assert set(CONSTANTS) == {"pi", "inf", "nan"}
    assert "e" not in CONSTANTS


@together(product(sorted(FUNCTIONS), range(5)))
def test_every_function_s_arity(name: str, count: int) -> None:
    op = FUNCTIONS[name]
    text = f"{name}({', '.join(['x'] * count)})"
    if count >= 2 if op.variadic else count == len(op.names):
        assert parse_text(text).kinds[-1] == op.name
    elif op.binary_expansion and count == 2:
        assert parse_text(text).kinds[-1] == parse_text(op.binary_expansion).kinds[-1]
    elif count == 1 and name in WORDS:
        assert parse_text(text).kinds[-1] == f"reduce_{name}"
    else:
        with pytest.raises(LanguageError) as caught:
            parse_text(text)
        assert caught.value.code == "arity" and caught.value.span == (0, len(text))


def test_reading_twice_gives_the_same() -> None:
    one, other = parse_text("a = x + 1; a*a"), parse_text("a = x + 1; a*a")
    assert (one.kinds, one.operands, one.payloads) == (other.kinds, other.operands, other.payloads)


@pytest.mark.parametrize("text", ["y = sin(x)\n+ cos(x)", "a = x\r\n-b", "a = 1; b = a*x\n\n+a"])
def test_a_formula_pasted_over_two_lines_is_not_read_as_two(text: str) -> None:
    with pytest.raises(LanguageError) as caught:
        parse_text(text)
    assert caught.value.code == "unused-statement"
    start, end = caught.value.span or (0, 0)
    assert text[start:end] in ("+", "-") and end == start + 1


@pytest.mark.parametrize(
    "text", ["y = sin(x)\n-y", "y = sin(x); -x", "t = 2\n(+x)", "y = (sin(x)\n+ x)"]
)
def test_a_signed_output_is_not_taken_for_a_broken_line(text: str) -> None:
    check(parse_text(text))
