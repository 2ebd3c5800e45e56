"""What is written in short is what a person writes out by hand, node by node."""

from __future__ import annotations

import logging
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lark import Lark, logger

import exprgrad
from exprgrad.graph.graph import same_graph
from exprgrad.language.read.lalr import KEYWORDS, START, grammar_text, load_tables
from exprgrad.language.read.parse import parse_text
from invariants import check

BY_HAND = {
    # Functions.
    "f(x, y) = x*exp(-y); f(2, a) + f(a, b)": "2*exp(-a) + a*exp(-b)",
    "f(x) = x^2; g(x) = f(f(x)) + 1; g(y)": "(y^2)^2 + 1",
    "f(x) = x*a; f(1) + f(2)": "1*a + 2*a",
    "b = 3*a; f(x) = b*x; f(y)": "b = 3*a; b*y",
    "f(x) = x; f(x) + x": "x + x",
    "f(x) = [x, y]; f(a)[1]": "[a, y][1]",
    "f(e) = e^2; f(e)": "e^2",
    "f(k) = w[1]*k; f(w[2])": None,
    # Sums, products, lists.
    "sum(x^k/k for k in 1..3)": "x^1/1 + x^2/2 + x^3/3",
    "prod(x - k for k in -1..1)": "(x - -1)*(x - 0)*(x - 1)",
    "max(k*x for k in 1..3)": "max(1*x, 2*x, 3*x)",
    "min(k*x for k in 1..3)": "min(1*x, 2*x, 3*x)",
    "mean(k*x for k in 1..4)": "(1*x + 2*x + 3*x + 4*x)/4",
    "[x^k for k in 0..2]": "[x^0, x^1, x^2]",
    "[k for k in 0..3]": "[0, 1, 2, 3]",
    "[-k for k in 0..3]": "[-0, -1, -2, -3]",
    "[[j*x, k] for j in 1..2 for k in j..2]": "[[1*x, 1], [1*x, 2], [2*x, 2]]",
    "[[j*x for j in 0..1] for k in 0..1]": "[[0*x, 1*x], [0*x, 1*x]]",
    "sum(j*k*x for j in 1..2 for k in j..2)": "1*1*x + 1*2*x + 2*2*x",
    "sum(sum(x*j for j in 1..k - 1) for k in 1..3)": "0 + x*1 + (x*1 + x*2)",
    "n = 3; sum(w[k]*x^k for k in 0..n - 1)": "n = 3; w[0]*x^0 + w[1]*x^1 + w[2]*x^2",
    "sum(w[2*k - 1:2*k + 1] for k in 1..2)": "w[1:3] + w[3:5]",
    "sum(x for k in 1..0)": "0",
    "prod(x for k in 1..0)*y": "1*y",
    "sum(x for k in 1..1)": "x",
    "f(x, n) = sum(x^k for k in 0..n); f(y, 1)": None,
    # Recurrences.
    "x[0] = a; x[k] = x[k - 1]/2 for k in 1..2; x[2]": "p = a; q = a/2; r = q/2; r",
    "S[0] = s; I[0] = i; S[k+1] = S[k] - I[k] for k in 0..1; I[k+1] = I[k]*S[k+1] for k in 0..1; I[2]":
        "p = s; q = i; r = s - i; t = i*r; u = r - t; v = t*u; v",
    # Names.
    "for*in + d*root": "for*in + d*root",
    "sum(for for for in 1..2)": "1 + 2",
    "n = 2; x[n]": None,
}  # fmt: skip


@pytest.mark.parametrize("text", BY_HAND)
def test_what_is_short_is_what_is_written_out(text: str) -> None:
    graph = parse_text(text)
    check(graph)
    by_hand = BY_HAND[text]
    if by_hand is None:
        return
    other = parse_text(by_hand)
    assert graph.kinds == other.kinds
    assert graph.operands == other.operands
    assert [repr(p) for p in graph.payloads] == [repr(p) for p in other.payloads]
    assert [b.node for b in graph.bindings] == [b.node for b in other.bindings]
    assert graph.output == other.output


def test_every_node_knows_its_call() -> None:
    graph = parse_text("f(x) = sum(x^k for k in 1..2); f(a + 1)*b")
    assert [(c.kind, c.name, c.text, c.parent) for c in graph.calls] == [
        ("function", "f", "f(a + 1)", -1),
        ("index", "sum", "sum(x^k for k in 1..2)", 0),
        ("index", "sum", "k = 1", 1),
        ("index", "sum", "k = 2", 1),
    ]
    assert [graph.kinds[c.result] for c in graph.calls] == ["add", "add", "pow", "pow"]
    inside = [graph.called.get(node, -1) for node in range(len(graph))]
    assert [*zip(graph.kinds, inside, strict=True)] == [
        ("input", -1), ("const", -1), ("add", -1), ("const", 2), ("pow", 2), ("const", 3), ("pow", 3),
        ("add", 1), ("input", -1), ("mul", -1),
    ]  # fmt: skip


def test_a_recurrence_names_its_terms() -> None:
    graph = parse_text("E[0] = M; E[k] = M + e*sin(E[k-1]) for k in 1..2; E[2]")
    assert [b.name for b in graph.bindings] == ["E[0]", "E[1]", "E[2]"]
    assert graph.output_name == "E[2]"
    assert [(c.kind, c.name) for c in graph.calls] == [("term", "E[1]"), ("term", "E[2]")]
    again = "E[0] = M; E[1] = M + e*sin(M); E[2] = M + e*sin(E[1])"
    assert same_graph(parse_text(again), graph)


def test_placeholders() -> None:
    graph = parse_text("f(r) = d(r*a, r, 2); f(a) + root(E - e*sin(E) - M, E, 0, 4)")
    kinds = {kind: node for node, kind in enumerate(graph.kinds)}
    assert graph.operands[kinds["parameter"]] == (graph.inputs["a"],)
    body, variable = graph.operands[kinds["derivative"]]
    assert graph.operands[body] == (kinds["parameter"], graph.inputs["a"])
    assert variable == kinds["parameter"]
    assert graph.payloads[kinds["derivative"]] == (2,)
    assert graph.payloads[kinds["unknown"]] == "E"
    body, unknown, low, high = graph.operands[kinds["root"]]
    assert (unknown, graph.kinds[body]) == (kinds["unknown"], "sub")
    assert (graph.payloads[low], graph.payloads[high]) == (0.0, 4.0)


def test_the_grammar_has_no_conflicts(caplog: pytest.LogCaptureFixture) -> None:
    """Lark settles a conflict between shifting and reducing by itself, and says so only when asked."""
    level = logger.level
    logger.setLevel(logging.DEBUG)
    try:
        with caplog.at_level(logging.DEBUG, logger.name):
            Lark(grammar_text(), parser="lalr", lexer="basic", start=START, debug=True)
    finally:
        logger.setLevel(level)
    assert "onflict" not in caplog.text


def test_words_are_names_wherever_a_name_may_stand() -> None:
    for state in load_tables().states:
        assert "NAME" not in state or not state.keys() & set(KEYWORDS.values())


SIR = (
    "S[0] = s; I[0] = i; R[0] = 0; S[k] = S[k-1] - b*S[k-1]*I[k-1] for k in 1..{0}; "
    "I[k] = I[k-1] + b*S[k-1]*I[k-1] - g*I[k-1] for k in 1..{0}; R[k] = R[k-1] + g*I[k-1] for k in 1..{0}; "
    "I[{0}]"
)


def test_thousands_of_steps_are_read() -> None:
    graph = parse_text(SIR.format(2000))
    assert len(graph.calls) == 6000
    assert graph.output_name == "I[2000]"
    f = exprgrad.parse(SIR.format(2000))
    assert 0 < f.evaluate(s=0.99, i=0.01, b=0.3, g=0.1).value < 1


def test_terms_that_are_not_used_are_noted_once() -> None:
    run = exprgrad.parse(SIR.format(5)).evaluate(s=0.99, i=0.01, b=0.3, g=0.1)
    assert [d.message for d in run.diagnostics] == ["the output does not use 'R'"]


# Texts that hypothesis writes in short, and out: ``{k}`` stands for the index.

leaves = st.sampled_from(["{k}", "x", "y", "2", "w[0]"])
bodies = st.recursive(
    leaves,
    lambda inside: st.one_of(
        st.tuples(inside, st.sampled_from("+-*/^"), inside).map(lambda t: f"({' '.join(t)})"),
        inside.map(lambda text: f"sin({text})"),
        st.tuples(inside, inside).map(lambda t: f"max({t[0]}, {t[1]})"),
        inside.map(lambda text: f"-{text}"),
    ),
    max_leaves=6,
)


def written_out(body: str, numbers: range) -> list[str]:
    """A body at each number of a range, as a person writes it."""
    return [body.format(k=number if number >= 0 else f"({number})") for number in numbers]


@given(bodies, st.integers(-3, 3), st.integers(1, 4))
@settings(derandomize=True, deadline=None, max_examples=60)
def test_terms_over_an_index_are_those_written_by_hand(body: str, low: int, count: int) -> None:
    over = f"{body.format(k='k')} for k in {low}..{low + count - 1}"
    terms = written_out(body, range(low, low + count))
    chain = " + ".join(f"({term})" for term in terms)
    texts = {
        f"sum({over})": chain,
        f"prod({over})": "*".join(f"({term})" for term in terms),
        f"[{over}]": f"[{', '.join(terms)}]",
        f"f(x) = x + sum({over}); f(y)": re.sub(r"\bx\b", "y", f"y + ({chain})"),
    }
    if count > 1:
        texts[f"min({over})"] = f"min({', '.join(terms)})"
        texts[f"mean({over})"] = f"({chain})/{count}"
    for short, by_hand in texts.items():
        one, other = parse_text(short), parse_text(by_hand)
        check(one)
        assert same_graph(one, other), short


def of_x(text: str, index: object) -> str:
    """A text with an index behind each x that is a name."""
    return re.sub(r"\bx\b", f"x[{index}]", text)


@given(bodies, st.integers(0, 2), st.integers(1, 3))
@settings(derandomize=True, deadline=None, max_examples=40)
def test_a_recurrence_is_its_steps_written_by_hand(body: str, low: int, count: int) -> None:
    step = of_x(body.format(k="k"), "k")
    short = (
        f"x[{low}] = a; x[k + 1] = {step} for k in {low}..{low + count - 1}; x[{low + count}] + 1"
    )
    statements = [f"x[{low}] = a"]
    for at, text in enumerate(written_out(body, range(low, low + count)), low):
        statements.append(f"x[{at + 1}] = {of_x(text, at)}")
    assert same_graph(
        parse_text(short), parse_text("; ".join([*statements, f"x[{low + count}] + 1"]))
    )


def test_a_minus_that_no_keyboard_has_is_one_in_an_index() -> None:
    assert same_graph(parse_text("x[−1] + sum(y, axis=−1)"), parse_text("x[-1] + sum(y, axis=-1)"))
    assert same_graph(parse_text("sum(x for k in −1..1)"), parse_text("x + x + x"))
