"""The picture's DOT source: what it says of nodes and edges, and that it says it safely.

The golden files in ``tests/cases/dot`` were looked at as pictures.  After a change that is meant to
be seen, write them anew with ``EXPRGRAD_UPDATE=1`` and look again.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

import exprgrad
from exprgrad import parse as parse_expression
from exprgrad.errors import RequestError
from exprgrad.graph.graph import INPUT, Graph
from exprgrad.language.read.parse import parse_text
from exprgrad.run.evaluation import SweptRun
from exprgrad.run.numbers.sweeps import forward_numbers, reverse_sweep
from exprgrad.show.picture.cards import card_text
from exprgrad.show.picture.dot import LARGEST, dot_source
from exprgrad.show.text.lines import signed_number as number
from exprgrad.source import bytes_text
from golden import agree


def evaluated(text: str, **inputs: float) -> SweptRun:
    """A run with both sweeps."""
    graph = parse_text(text)
    inputs = {name: float(value) for name, value in inputs.items()}
    values = forward_numbers(graph, inputs)
    adjoints = reverse_sweep(graph, values, list(graph.inputs.values()))
    return SweptRun(text, graph, inputs, values, adjoints, tuple(graph.inputs))


def drawn(text: str, **inputs: float) -> str:
    """The DOT of a run with both sweeps."""
    run = evaluated(text, **inputs)
    return dot_source(run.graph, run)


def statement(dot: str, start: str) -> str:
    """The only line of the DOT that begins like this."""
    (line,) = [line for line in dot.splitlines() if line.strip().startswith(start)]
    return line


def words(line: str) -> list[str]:
    """The texts in a label, in order."""
    return [word for word in re.split(r"<[^<>]*>", line.split("[label=<", 1)[1])[1:-1] if word]


CASES: dict[str, tuple[str, dict[str, float] | None]] = {
    "product": ("(a+b)*c", {"a": 2, "b": -3, "c": 10}),
    "formula": ("(a+b)*c", None),
    "lesson": ("e=a*b; d=e+c; L=d*f", {"a": 2, "b": -3, "c": 10, "f": -2}),
    "neuron": (
        "o = tanh(x1*w1 + x2*w2 + b)",
        {"x1": 2, "w1": -3, "x2": 0, "w2": 1, "b": 6.8813735870195432},
    ),
    "square": ("a*a", {"a": 3}),
    "constants": ("max(a,b,c)+2*pi", {"a": 1, "b": 5, "c": 3}),
    "branch": ("where(x>0, x^2, sin(x))", {"x": -2}),
    "names": (
        "λ = node*graph; unused = λ - edge; שלום - λ",
        {"node": 1, "graph": 2, "edge": 3, "שלום": 4},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_golden(case: str) -> None:
    text, inputs = CASES[case]
    made = dot_source(parse_text(text)) if inputs is None else drawn(text, **inputs)
    agree(f"dot/{case}.dot", made)


def test_a_card_says_name_operation_data_and_grad() -> None:
    dot = drawn("e = a*b; e + c", a=2, b=-3, c=10)
    assert words(statement(dot, "n2 [")) == ["e", "\u00a0= a * b", "data", "−6", "grad", "1"]
    assert words(statement(dot, "n0 [")) == ["a", "data", "2", "grad", "−3"]


def test_data_stands_above_a_hairline_and_grad_below() -> None:
    card = statement(drawn("a + b", a=2, b=3), "n2 [")
    assert card.index("data") < card.index("<HR/>") < card.index("grad")
    assert '<FONT COLOR="#00694a">5</FONT>' in card
    assert '<FONT COLOR="#a63c00">1</FONT>' in card


@pytest.mark.parametrize("text", ["a*b", "a", "2"])
def test_the_output_is_marked_in_words_and_by_its_border(text: str) -> None:
    run = evaluated(text, **dict.fromkeys(parse_text(text).inputs, 1.0))
    marked = [line for line in dot_source(run.graph, run).splitlines() if ">output<" in line]
    assert [line.split()[0] for line in marked] == [f"n{run.graph.output}"]
    assert 'BORDER="2.5"' in marked[0]


def test_a_constant_has_neither_data_nor_grad() -> None:
    assert words(statement(drawn("2*pi*x", x=1), "n0 [")) == ["2"]
    assert words(statement(drawn("2*pi*x", x=1), "n1 [")) == ["pi"]


def test_what_depends_on_no_input_has_no_grad() -> None:
    assert words(statement(drawn("2*pi*x", x=1), "n2 [")) == [
        "2 * pi",
        "data",
        "6.28319",
        "grad",
        "–",
    ]


def test_a_chip_says_the_local_derivative_as_formula_and_number() -> None:
    dot = drawn("(a+b)*c", a=2, b=-3, c=10)
    assert words(statement(dot, "n4_0 [")) == ["c = 10"]
    assert words(statement(dot, "n4_1 [")) == ["a + b = −1"]
    assert words(statement(dot, "n2_0 [")) == ["1"]


def test_a_chip_is_on_its_wire() -> None:
    dot = drawn("a - b", a=2, b=3)
    assert "n1:e -> n2_1:w [arrowhead=none]" in dot
    assert re.search(r"^\tn2_1:e -> n2:s1:w$", dot, re.MULTILINE)


def test_a_square_has_two_edges() -> None:
    dot = drawn("a*a", a=3)
    assert words(statement(dot, "n1_0 [")) == words(statement(dot, "n1_1 [")) == ["a = 3"]
    assert dot.count("n0:e -> ") == 2


def test_a_formula_alone_shows_rules_and_no_numbers() -> None:
    dot = dot_source(parse_text("a*b + 2"))
    assert words(statement(dot, "n2 [")) == ["a * b"]
    assert words(statement(dot, "n2_0 [")) == ["b"]
    assert "data" not in dot and "grad" not in dot
    assert "style=dashed" in statement(dot, "n3:e ->")


def test_a_forward_sweep_shows_data_and_rules() -> None:
    graph = parse_text("a*b")
    inputs = {"a": 2.0, "b": 3.0}
    dot = dot_source(graph, SweptRun("a*b", graph, inputs, forward_numbers(graph, inputs)))
    assert words(statement(dot, "n2 [")) == ["output", "a * b", "data", "6"]
    assert words(statement(dot, "n2_0 [")) == ["b"]


def test_an_inactive_edge_is_dashed_and_has_no_chip() -> None:
    dot = drawn("x^2", x=3)
    assert "style=dashed" in statement(dot, "n1:e -> n2:s1:w")
    assert "n2_1" not in dot


def test_an_untaken_branch_is_dashed_with_its_zero() -> None:
    dot = drawn("where(x > 0, x*1, x*2)", x=1)
    user = parse_text("where(x > 0, x*1, x*2)").output
    assert "style=dashed" not in statement(dot, f"n{user}_1:e ->")
    assert "style=dashed" in statement(dot, f"n{user}_2:e ->")
    assert words(statement(dot, f"n{user}_2 [")) == ["where(x &gt; 0, 0, 1) = 0"]


def test_a_named_statement_that_is_not_used_is_shown() -> None:
    dot = drawn("n = a*b; a + b", a=2, b=3)
    assert words(statement(dot, "n2 [")) == ["n", "\u00a0= a * b", "data", "6", "grad", "0"]
    assert words(statement(dot, "n3 ["))[0] == "output"


def test_digits() -> None:
    run = evaluated("a/b", a=1, b=3)
    assert ">0.333<" in dot_source(run.graph, run, digits=3)
    assert ">0.33333333<" in dot_source(run.graph, run, digits=8)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (-2.0, "−2"),
        (1.5e-300, "1.5e−300"),
        (float("-inf"), "−inf"),
        (float("nan"), "nan"),
        (0.1 + 0.2, "0.3"),
    ],
)
def test_number(value: float, text: str) -> None:
    assert number(value, 6) == text


def test_long_operations_keep_their_symbol_and_long_names_are_cut() -> None:
    long = "n" * 60
    dot = drawn(f"exp(a + b + c + d)*exp({long} + a)", a=0, b=0, c=0, d=0, **{long: 0.0})
    graph = parse_text(f"exp(a + b + c + d)*exp({long} + a)")
    assert words(statement(dot, f"n{graph.output} ["))[1] == "… * …"
    assert words(statement(dot, f"n{graph.inputs[long]} ["))[:2] == ["n" * 39, "n" * 21]


def test_long_names_leave_room_for_the_operation() -> None:
    one, other = "temperature_of_the_outer_reservoir", "efficiency_of_the_heat_engine"
    dot = drawn(f"{one}*{other} + a*max({one}, a)", a=1, **{one: 2.0, other: 3.0})
    assert words(statement(dot, "n0 ["))[0] == one
    assert words(statement(dot, "n2 ["))[0] == "temperature_of… * efficiency_of_…"
    assert words(statement(dot, "n4 ["))[0] == "max(temperature_of_the_outer_…, a)"


def test_a_long_name_is_whole_on_its_card_and_keeps_both_ends_elsewhere() -> None:
    """Long names often differ at their ends."""
    one, other = (
        f"{'temperature_of_the_reservoir_' * 3}{place}" for place in ("inside", "outside")
    )
    dot = drawn(f"{one} - {other}*2", **{one: 1.0, other: 2.0})
    for node, name in ((0, one), (1, other)):
        heading = words(statement(dot, f"n{node} ["))[:3]
        assert "".join(heading) == name and all(len(line) <= 40 for line in heading)
    assert words(statement(dot, "n3 ["))[0] == "temperature_of_the_…ir_outside * 2"
    assert words(statement(dot, "n3_0 [")) == ["2"]
    assert f"tooltip={'x' * 400}" in drawn("x" * 400, **{"x" * 400: 1.0})
    assert words(statement(drawn("x" * 400, **{"x" * 400: 1.0}), "n0 ["))[1] == "x" * 39


@pytest.mark.parametrize(
    ("direction", "leave", "arrive"),
    [("LR", "e", "w"), ("TB", "s", "n"), ("RL", "w", "e"), ("BT", "n", "s")],
)
def test_wires_leave_and_arrive_as_the_graph_runs(direction: str, leave: str, arrive: str) -> None:
    dot = parse_expression("a*b").gradient(a=2, b=3).dot(direction=direction)
    assert f"rankdir={direction}" in dot
    assert f"n0:{leave} -> n2_0:{arrive} [" in dot and f"n2_1:{leave} -> n2:s1:{arrive}" in dot


def test_an_unknown_direction_is_refused() -> None:
    with pytest.raises(RequestError, match="'down' is not a direction") as caught:
        parse_expression("a*b").dot(direction="down")
    assert caught.value.help == "it is one of LR, TB, RL, BT"


def test_gates_say_what_an_operation_does_with_its_grad() -> None:
    dot = parse_expression("max(a, b)*sum(X)").gradient(a=1, b=2, X=[1, 2]).dot(gates=True)
    for node, gate in (("max(a, b)", "router"), ("sum(X)", "distributor")):
        assert words(statement(dot, f"{named(dot, node)} ["))[1] == gate
    assert "swap multiplier: it passes to each operand its grad times the other" in dot
    assert "router" not in parse_expression("max(a, b)").dot()


def test_contributions_are_grad_times_local_derivative() -> None:
    """A branch that was not taken adds nothing; a tensor's contribution stands as it is."""
    dot = parse_expression("w*x + w").gradient(w=2, x=-3).dot(contributions=True)
    assert words(statement(dot, "n2_0 [")) == ["x = −3", "1 × −3 = −3"]
    dot = parse_expression("f(x) = x^2; 2*f(a)").gradient(a=3).dot(contributions=True)
    assert [words(line)[-1] for line in dot.splitlines() if "×" in line] == [
        "2 × 6 = 12",
        "1 × 2 = 2",
    ]
    dot = parse_expression("where(x > 0, x, y)").gradient(x=1, y=2).dot(contributions=True)
    assert words(statement(dot, "n4_1 [")) == ["where(x &gt; 0, 1, 0) = 1", "1 × 1 = 1"]
    assert words(statement(dot, "n4_2 [")) == ["where(x &gt; 0, 0, 1) = 0"]
    dot = parse_expression("sum(X*X)").gradient(X=[1, 2]).dot(contributions=True)
    assert dot.count("+= [1, 2]") == 2 and dot.count("+= [1, 1]") == 1


def test_contributions_need_a_gradient() -> None:
    with pytest.raises(RequestError, match="without a gradient"):
        parse_expression("a*b").evaluate(a=1, b=2).dot(contributions=True)


def test_kinks_are_marked_and_what_they_come_to() -> None:
    dot = parse_expression("relu(x)*y").gradient(x=0, y=2).dot()
    assert words(statement(dot, f"{named(dot, 'kink')} ["))[:2] == ["kink", "relu(x)"]
    assert words(statement(dot, "n0 ["))[:3] == ["kink along x", "left 0, right 2", "x"]
    assert "relu(x) has a kink here: its operand is 0" in dot
    assert "returned 0" in statement(dot, "n0 [") and 'COLOR="#b3123c"' in dot
    assert "kink" not in parse_expression("relu(x)*y").gradient(x=1, y=2).dot()


def test_a_closed_call_is_marked_for_what_is_in_it() -> None:
    run = parse_expression("f(x) = relu(x)*2 + 1; f(a)").gradient(a=0)
    assert words(statement(run.dot(), f"n{run.graph.output} ["))[:3] == ["output", "kink", "f(a)"]


@pytest.mark.parametrize(
    ("text", "values", "node", "marks"),
    [
        ("relu(x) - relu(-x)", {"x": 0}, "n0", ["corrected: 1"]),
        (
            "floor(x)*y",
            {"x": 2, "y": 3},
            "n0",
            ["jump along x", "the value is 6", "its limit from the left is 3"],
        ),
        ("log(x)*y", {"x": -1, "y": 1}, "n1", ["not a number"]),
        ("1/x", {"x": 0}, "n2", ["output", "infinite"]),
        ("sum(relu(X))", {"X": [0, 1, 0]}, "n0", ["kink along X[0]", "left 0, right 1"]),
    ],
)
def test_what_is_wrong_is_marked(
    text: str, values: dict[str, Any], node: str, marks: list[str]
) -> None:
    dot = parse_expression(text).gradient(values).dot()
    assert words(statement(dot, f"{node} ["))[: len(marks)] == marks


def test_every_minus_that_is_shown_is_a_true_one() -> None:
    for dot in (
        drawn("-a - b/c - tanh(b)", a=1, b=-2, c=3),
        dot_source(parse_text("-a - b/c - tanh(b)")),
    ):
        labels = [line for line in dot.splitlines() if "[label=<" in line]
        shown_there = [word for line in labels for word in words(line)]
        assert any("−" in word for word in shown_there)
        assert not any("-" in word for word in shown_there)


def test_the_same_run_gives_the_same_source() -> None:
    assert drawn("sin(a)*a", a=1) == drawn("sin(a)*a", a=1)


NASTY = ['<b>&amp;"q"', "it's ]]> \\N \\", "-->", "a\nb\x1b[0m", "&lt;&#92;", "subgraph", "λ"]


def nasty() -> Graph:
    """A graph whose names are whatever might break DOT or SVG."""
    graph = Graph()
    for name in NASTY:
        graph.inputs[name] = graph.append(INPUT, (), name, (0, 1))
    count = len(NASTY)
    graph.output = graph.append("max", tuple(range(count)), None, (0, 1), ((0, 1),) * count)
    return graph


def test_names_cannot_leave_their_label() -> None:
    dot = dot_source(nasty())
    assert "<b>" not in dot and "-->" not in dot.replace("--&gt;", "") and "\x1b" not in dot
    assert words(statement(dot, "n0 [")) == ["&lt;b&gt;&amp;amp;&quot;q&quot;"]
    assert words(statement(dot, "n1 [")) == ["it&#x27;s ]]&gt; &#92;\u2060N &#92;\u2060"]
    assert len(re.findall(r"^\tn\d+ \[", dot, re.MULTILINE)) == len(NASTY) + 1


def test_formulas_read_from_left_to_right() -> None:
    assert card_text("a - b", 20) == "a − b"
    assert card_text("λ - b", 20) == "λ − b"
    assert card_text("שלום - שנה", 20) == "\u200eשלום\u200e − שנה\u200e"


# Tensors.

LAYER = "Y = X@W + b; L = sum(Y^2)"
VALUES = {"X": [[1, 2, 3], [4, 5, 6]], "W": [[1, 0], [0, 1], [1, 1]], "b": [0.5, -0.5]}
NETWORK = "h = relu(X@W1 + b1); cross_entropy(h@W2 + b2, y)"
SHAPES = {"X": (64, 784), "W1": (784, 256), "b1": (256,), "W2": (256, 10), "b2": (10,), "y": (64,)}


def layer() -> str:
    """The DOT of a layer with both sweeps."""
    return exprgrad.parse(LAYER).gradient(VALUES).dot()


def named(dot: str, *texts: str) -> str:
    """The node whose label begins with these texts."""
    found = [line for line in dot.splitlines() if "[label=<" in line]
    (line,) = [line for line in found if tuple(words(line)[: len(texts)]) == texts]
    return line.split()[0]


@pytest.mark.parametrize("case", ["layer", "network", "unknown"])
def test_golden_of_tensors(case: str) -> None:
    made = {
        "layer": layer(),
        "network": exprgrad.parse(NETWORK, shapes=SHAPES).dot(),
        "unknown": exprgrad.parse(NETWORK).dot(),
    }
    agree(f"dot/{case}.dot", made[case])


def test_a_tensor_has_its_shape_and_its_numbers_or_their_norm() -> None:
    dot = layer()
    b, x = named(dot, "b"), named(dot, "X")
    assert words(statement(dot, f"{b} [")) == [
        "b", "(2,)", "data", "[0.5, −0.5]", "grad", "[30, 30]",
    ]  # fmt: skip
    assert words(statement(dot, f"{x} [")) == [
        "X", "(2, 3)", "data", "norm 9.53939", "grad", "norm 55.9643",
    ]  # fmt: skip


def test_a_chip_says_how_a_cotangent_goes_back() -> None:
    dot = layer()
    product = named(dot, "X @ W")
    assert words(statement(dot, f"{product}_0 [")) == ["· @ W.T"]
    assert words(statement(dot, f"{product}_1 [")) == ["X.T @ ·"]
    assert "4 by 6, is never formed" in statement(dot, f"{product}_0 [")


def test_a_broadcast_that_nobody_wrote_is_quiet() -> None:
    dot = layer()
    quiet = named(dot, "b as (2, 2)")
    assert words(statement(dot, f"{quiet}_0 [")) == ["sum(·, axis=0)"]
    assert "data" not in statement(dot, f"{quiet} [")


def test_a_large_jacobian_says_its_size() -> None:
    dot = exprgrad.parse("X@W", shapes={"X": (64, 4096), "W": (4096, 4096)}).dot()
    product = named(dot, "output")
    assert words(statement(dot, f"{product}_0 [")) == ["· @ W.T", "never formed: 550 GB"]
    assert words(statement(dot, f"{product}_1 [")) == ["X.T @ ·", "never formed: 35.2 TB"]


def test_where_no_derivative_passes_the_wire_is_dashed() -> None:
    for expression in (
        exprgrad.parse("cross_entropy(x, y)", shapes={"x": (3,), "y": ()}).dot(),
        exprgrad.parse("cross_entropy(x, y)").gradient(x=[1, 2, 3], y=1).dot(),
    ):
        node = named(expression, "output")
        assert "style=dashed" in statement(expression, f"{named(expression, 'y')}:e -> {node}:s1:w")


def test_an_output_that_is_a_tensor_is_drawn_without_grads() -> None:
    run = exprgrad.parse("2*x").evaluate(x=[1, 2])
    assert words(statement(run.dot(), f"n{run.graph.output} ["))[-2:] == ["data", "[2, 4]"]


def test_shapes_that_are_not_known_need_no_chip() -> None:
    dot = exprgrad.parse("sum(x^2)@y").dot()
    assert words(statement(dot, "n2_0 [")) == ["2*x"]
    assert "n3_0 [" not in dot and "n2:e -> n3:w" in dot


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (8, "8 bytes"),
        (999, "999 bytes"),
        (1000, "1 kB"),
        (999_600, "1 MB"),
        (31_440_000_000, "31.4 GB"),
    ],
)
def test_bytes(count: int, text: str) -> None:
    assert bytes_text(count) == text


def test_a_large_graph_is_refused_unless_asked_for() -> None:
    graph = parse_text("+".join(["a"] * (LARGEST + 1)))
    with pytest.raises(RequestError) as caught:
        dot_source(graph)
    assert caught.value.code == "too-large"
    assert str(len(graph)) in caught.value.message
    assert "all=True" in (caught.value.help or "")
    assert f"n{len(graph) - 1} [" in dot_source(graph, all=True)


def test_the_limit_itself_is_drawn() -> None:
    graph = parse_text("+".join(["a"] * LARGEST))
    assert len(graph) == LARGEST
    assert dot_source(graph).startswith("digraph")
