"""Calls as cards: what is hidden, what a card passes on, and how it looks closed and opened.

The golden files in ``tests/cases/calls`` were looked at; see ``test_dot``.
"""

from __future__ import annotations

import json
import pickle
import random
import re
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from calls import Part, with_calls
from exprgrad.api import Expression, Run, parse
from exprgrad.errors import RequestError
from exprgrad.graph.graph import INPUT
from exprgrad.show.picture.dot import MOST_FRAMES
from golden import agree
from shell import command

SCHEMA = json.loads((Path(__file__).parents[2] / "docs/reference/schema.json").read_text("utf-8"))
F = "a*(2*x + 1) + tanh(2*b + 1)"
NESTED = (
    Part("g(x)", "2*x + 1", "x"),
    Part("g(b)", "2*b + 1", "b"),
    Part("f(x, b)", F, "x b"),
)
AT = {"a": 2, "x": 3, "b": 0.1}


def nested() -> Expression:
    """``g(t) = 2*t + 1; f(x, b) = a*g(x) + tanh(g(b)); y = f(x, b); y*x``, written out."""
    return with_calls(f"y = {F}; y*x", *NESTED)


def plain() -> Run:
    """The same without calls."""
    return Expression(f"y = {F}; y*x").gradient(AT)


OPENED = {"closed": [], "half": ["f"], "opened": ["f", "g"]}


@pytest.mark.parametrize("case", OPENED)
def test_tables_traces_and_pictures_show_calls_as_cards(case: str) -> None:
    run = (nested().expand(OPENED[case]) if OPENED[case] else nested()).gradient(AT)
    agree(f"calls/{case}.txt", f"{run}\n\n{run.trace()}\n")
    agree(f"calls/{case}.dot", run.dot())


def test_a_formula_alone_is_drawn_with_cards() -> None:
    agree("calls/formula.dot", nested().dot())


def test_what_is_not_shown_is_what_only_the_card_uses() -> None:
    run = nested().gradient(AT)
    assert [run.label(node) for node in run.shown] == ["a", "x", "b", "y", "y*x"]
    (closed,) = run.closed.values()
    assert closed.call.text == "f(x, b)" and run.operands(13) == closed.operands
    assert [run.names[node] for node in closed.operands] == ["x", "b", "a"]  # a is not an argument
    # 2*x is used outside of g(x), too, so it is seen; and so is what it is made of.
    shared = with_calls("2*x - 1 + 1", Part("g(x)", "2*x - 1", "x"))
    shared.graph.operands[6] = (4, 2)
    run = shared.gradient(x=1)
    assert [run.label(node) for node in run.shown] == ["2", "x", "2*x", "g(x)", "1", "g(x) + 2*x"]
    assert [run.label(node) for node in run.operands(4)] == ["x", "2*x"]


def test_every_number_shown_is_that_of_the_sweep() -> None:
    bare = plain()
    for names in OPENED.values():
        run = (nested().expand(names) if names else nested()).gradient(AT)
        assert run.values == bare.values
        assert [run.grad(node) for node in range(len(run.graph))] == [
            bare.grad(node) for node in range(len(bare.graph))
        ]


def test_a_local_derivative_of_a_card_is_that_of_the_call_alone() -> None:
    run = nested().gradient(AT)
    (closed,) = run.closed.values()
    alone = Expression(F).gradient(AT)
    slopes = {run.names[node]: slope for node, slope in run.slopes(closed).items()}
    assert slopes == pytest.approx(alone.gradient, rel=1e-15)


def test_cards_of_random_parts_pass_on_what_their_nodes_do() -> None:
    rng = random.Random(17)
    for _ in range(200):
        run = random_cards(rng)
        bare = {name: run.swept[name] for name in run.inputs}
        lines = run.trace(digits=17, all=True).splitlines()
        for name, grad in bare.items():
            (line,) = [
                line.split()
                for line in lines
                if line.startswith(f"visit  {name} ") and "input" in line
            ]
            assert float(line[-1].replace("−", "-")) == grad + 0.0
        for result, closed in run.closed.items():
            seed = run.grad(result)
            for operand, slope in run.slopes(closed).items():
                inside = {*closed.inside}
                passed = [
                    edge.contribution
                    for edge in run.edges
                    if edge.user in inside and edge.operand == operand
                ]
                assert slope is not None
                assert seed * slope == pytest.approx(sum(passed), rel=1e-12, abs=1e-12)


def random_cards(rng: random.Random) -> Run:
    """A random formula with some of its parts in calls, some of them opened."""
    parts: list[Part] = []
    text = rng.choice("xyz")
    for at in range(rng.randint(2, 6)):
        other = rng.choice(["x", "y", "2", "0.5", text])
        text = rng.choice([f"({text}*{other})", f"sin({text} + {other})", f"({text} - {other})"])
        if rng.random() < 0.6:
            parts.append(Part(f"f{at}(…)", text))
    whole = f"{text}*x + y*z + {text}" if len(text) < 200 else f"{text}*x + y*z"
    expression = with_calls(whole, *parts)
    if parts and rng.random() < 0.5:
        expression = expression.expand([rng.choice(parts).text.partition("(")[0]])
    return expression.gradient(x=rng.uniform(-2, 2), y=rng.uniform(-2, 2), z=1.5)


def test_every_node_is_in_one_place() -> None:
    """What is shown reads only what is shown; every other node is behind a card, or dead."""
    rng = random.Random(3)
    for _ in range(200):
        run = random_cards(rng)
        shown = {*run.shown}
        assert run.graph.output in shown and {*run.graph.inputs.values()} <= shown
        for node in run.shown:
            assert shown.issuperset(run.operands(node)), run.text
        hidden = [node for closed in run.closed.values() for node in closed.inside]
        assert len(hidden) == len({*hidden})
        assert shown & {*hidden} == {*run.closed}
        assert len(shown | {*hidden}) == len(run.graph)


def test_dead_branches_pass_nothing_through_a_card() -> None:
    run = with_calls(
        "where(x > 0, x*y, log(x)*z)*2", Part("f(x, y)", "where(x > 0, x*y, log(x)*z)", "x y")
    )
    swept = run.gradient(x=-2, y=3, z=5)
    (closed,) = swept.closed.values()
    slopes = {swept.names[node]: slope for node, slope in swept.slopes(closed).items()}
    assert slopes["z"] != slopes["z"] and "y" not in slopes  # nan: the log of −2
    y, z = swept.graph.inputs["y"], swept.graph.inputs["z"]
    assert re.search(rf"n{y}:e -> n8:s1:w .*dashed", swept.dot())
    assert re.search(rf"n{z}:e -> n8_2:w (?!.*dashed)", swept.dot())
    assert re.search(
        r"x \+= 2 × nan  +grad 0 → nan  +complete\n +y \+= 2 × 0  +passes", swept.trace()
    )


def test_a_call_that_comes_to_a_node_of_before_has_no_card() -> None:
    expression = with_calls("a + x*2", Part("f(a)", "x*2", "a"))
    (call,) = expression.graph.calls
    expression.graph.calls[0] = call._replace(result=expression.graph.inputs["a"])
    run = expression.gradient(a=1, x=2)
    assert len(run.shown) == len(run.graph) and not run.closed
    assert [node.name for node in run.nodes] == ["a", "x", None, None, None]


def test_tensors_are_cards_too() -> None:
    text = "sum(tanh(X @ w)*X[0, 0] + 1)"
    expression = with_calls(text, Part("h(X, w)", "tanh(X @ w)*X[0, 0] + 1", "X w"))
    run = expression.gradient(X=[[1, 2], [3, 4]], w=[0.1, 0.2])
    agree("calls/tensors.txt", f"{run}\n\n{run.trace()}\n")
    agree("calls/tensors.dot", run.dot())
    assert run.graph.implicit and len(run.shown) == 4


def test_documents_have_all_nodes_and_the_calls_that_they_were_made_in() -> None:
    bare = json.loads(plain().json())
    for run in (
        nested().gradient(AT),
        nested().evaluate(AT),
        nested().expand(["f"]).gradient(AT),
    ):
        told = json.loads(run.json())
        Draft202012Validator(SCHEMA).validate(told)
        calls = told.pop("calls")
        assert [call["text"] for call in calls] == ["g(x)", "g(b)", "f(x, b)"]
        assert calls[0] == {
            "kind": "function", "name": "g", "text": "g(x)", "span": [7, 14], "parent": 2,
            "operands": [2], "result": 5,
        }  # fmt: skip
        assert [call["parent"] for call in calls] == [2, 2, None]
        where = [node.pop("call", None) for node in told["nodes"]]
        assert where == [None, 0, None, 0, 0, 0, 2, 1, None, 1, 1, 1, 2, 2, None]
        names = [node["name"] for node in told["nodes"]]
        assert names == [node["name"] for node in bare["nodes"]]


def test_csv_has_the_text_of_a_nodes_call() -> None:
    from exprgrad.show.documents.runs import node_rows

    heading, *rows = node_rows(nested().gradient(AT))
    assert [*heading][-1] == "call"
    assert [row[-1] for row in map(list, rows)][:6] == ["", "g(x)", "", "g(x)", "g(x)", "g(x)"]
    assert "call" not in [*next(node_rows(plain()))]


def test_expand_opens_calls_by_name() -> None:
    expression = nested()
    assert expression.expand("f").text == expression.text
    assert [call.opened for call in expression.expand("f").graph.calls] == [False, False, True]
    assert all(call.opened for call in expression.expand(["g", "f"]).graph.calls)
    assert not any(call.opened for call in expression.graph.calls)
    with pytest.raises(RequestError, match="there is no operation 'k'"):
        expression.expand(["k"])
    with pytest.raises(RequestError) as caught:
        with_calls("x + 1", Part("force(x)", "x + 1")).expand(["forse"])
    assert caught.value.help == "did you mean 'force'?"


def test_terms_of_a_recurrence_open_by_its_name() -> None:
    text = "x0 = a; x1 = x0*2 + 1; x2 = x1*2 + 1; x2"
    steps = [Part(f"x[{k}]", f"x{k - 1}*2 + 1", f"x{k - 1}", "term", f"x[{k}]") for k in (1, 2)]
    run = with_calls(text, *steps).expand(["x"]).gradient(a=1)
    assert len(run.shown) == len(run.graph) and {*run.opened.values()} == {0, 1}


def test_turns_of_a_sum_are_no_names() -> None:
    text = "x^1/1 + x^2/2 + y"
    turns = [Part(f"k = {k}", f"x^{k}/{k}", "x", "index", "sum") for k in (1, 2)]
    run = with_calls(
        text, *turns, Part("sum(x^k/k for k in 1..2)", "x^1/1 + x^2/2", "x", "index", "sum")
    )
    closed, opened = run.gradient(x=2, y=1), run.expand(["sum"]).gradient(x=2, y=1)
    assert re.search(r"9  sum\(x\^k/k for k in 1..2\)  +sum ", str(closed))
    assert "k = 1" not in str(closed) + str(opened) and "x^2/2" in str(opened)
    assert 'label="k = 1"' in opened.dot()


def test_long_calls_are_called_by_number_in_the_trace() -> None:
    part = Part("acceleration(2*x + 1, exp(-y))", "x*y + 2")
    trace = with_calls("sin(x*y + 2)*3", part).gradient(x=1, y=2).trace()
    assert trace.startswith("#4 = acceleration(2*x + 1, exp(-y))\n")
    assert "visit  #4 = acceleration" in trace


def test_nodes_behind_cards_are_not_counted_for_a_picture() -> None:
    text = "+".join(["x"] * 600)
    with pytest.raises(RequestError, match="601 nodes"):
        Expression(f"{text} - x").dot()
    assert with_calls(f"{text} - x", Part("f(x)", text, "x")).dot().count("tooltip") < 20


def test_a_formula_has_inputs_in_calls_outside_of_them() -> None:
    run = nested().gradient(AT)
    assert all(node in run.shown for node, kind in enumerate(run.graph.kinds) if kind == INPUT)


# As they are read.

SHORT = "g(t) = 2*t + 1; f(x, b) = a*g(x) + tanh(g(b)); y = f(x, b); y*x"


def test_what_is_read_is_what_the_tests_above_write_out() -> None:
    read, made = parse(SHORT).gradient(AT), nested().gradient(AT)
    assert [read.label(node) for node in read.shown] == ["x", "b", "a", "y", "y*x"]
    assert sorted(read.values) == sorted(made.values) and read.gradient == made.gradient
    opened = parse(SHORT).expand("f").gradient(AT)
    assert str(opened).count("g(x)") == 3 and str(opened).count("function") == 2


def test_runs_with_opened_calls_are_pickled_as_they_are_seen() -> None:
    expression = parse(SHORT).expand(["g", "f"])
    run = expression.gradient(AT)
    assert str(pickle.loads(pickle.dumps(run))) == str(run)
    assert pickle.loads(pickle.dumps(expression)).dot() == expression.dot()
    assert expression.dot().startswith('digraph "g(t) = 2*t + 1; f(x, b)')


def test_a_long_recurrence_is_read_by_its_terms() -> None:
    text = "x[0] = a; x[k] = x[k-1] + h*x[k-1]*(1 - x[k-1]) for k in 1..2000; x[2000]"
    run = parse(text).gradient(a=0.1, h=1e-3)
    lines = str(run).splitlines()
    assert [line.split()[1:3] for line in lines[3:5]] == [["x[1]", "term"], ["x[2]", "term"]]
    assert "… 1,962 nodes left out; all=True shows them" in lines
    with pytest.raises(RequestError, match="a picture of 2,002 nodes is too large to read"):
        run.dot()
    trace = run.trace()
    assert "… 1,962 visits left out" in trace and "visit  x[1]     a += " in trace


def test_a_map_shows_calls_where_they_are_written() -> None:
    run = parse("f(x) = x^2*a; f(b) + f(3*b) + x + sum(k*q for k in 1..2)").gradient(
        a=2, x=3, b=0.1, q=1
    )
    told, marks, *_ = run.map().splitlines()
    assert told == "f(x) = x^2*a; f(b) + f(3*b) + x + sum(k*q for k in 1..2)"
    # Of what is written once for all calls only a is something outside of them.
    assert marks.index("▁") == told.index("a") and marks[: told.index("a")].strip() == ""
    assert marks[told.index("b)")] == "▇" and marks[told.index("q")] == "▅"


def test_what_has_no_such_calls_says_which_there_are() -> None:
    done = command("grad", SHORT, "a=2", "x=3", "b=0.1", "--expand", "kk")
    assert done.status == 2 and "there is no operation 'kk'" in done.err
    done = command("grad", "f(x) = 2*x; f(a)", "a=1", "--expand", "f", "--json")
    assert done.status == 0 and json.loads(done.out)["expression"] == "f(x) = 2*x; f(a)"
    assert (
        "nothing to take apart"
        in command("grad", "f(x) = 2*x; f(a)", "a=1", "--expand", "tanh").err
    )
    assert command("grad", "f(x) = 2*x; f(a)", "a=1", "--expand", "f").err == ""


def test_shapes_and_opened_calls_go_together() -> None:
    done = command("dot", "f(x) = tanh(x@w); f(X)", "--shape", "X=3x2,w=2", "--expand", "f")
    assert done.status == 0 and 'label="f(X)"' in done.out and "(3, 2)" in done.out


def test_frames_in_frames_have_an_end() -> None:
    functions = "; ".join(f"f{k}(x) = f{k - 1}(x)*a + 1" for k in range(1, 100))
    expression = parse(f"f0(x) = x + 1; {functions}; f99(b)")
    assert len(expression.gradient(a=2, b=1).shown) == 3
    dot = expression.expand("all").dot(wrap=False)
    assert len(re.findall(r"subgraph cluster_", dot)) == MOST_FRAMES and dot.count("tooltip=") > 300


def test_a_list_over_an_index_is_called_as_it_is_written() -> None:
    run = parse("sum([x^k for k in 0..2])").gradient(x=2)
    assert [run.label(node) for node in run.shown][1:3] == [
        "[x^k for k in 0..2]",
        "sum([x^k for k in 0..2])",
    ]
    assert "  list " in str(run) and "list of 4 operations" in run.dot()


def test_operations_are_taken_apart_within_their_calls() -> None:
    expression = parse("f(x, w) = tanh(w*x); L = f(f(a, -2), w) + sum(k*a for k in 1..2)")
    values = {"a": 0.5, "w": -1}
    closed = expression.expand("tanh").gradient(values)
    labels = [closed.label(node) for node in closed.shown]
    assert [x for x in labels if "(" in x] == [
        "f(a, -2)",
        "f(f(a, -2), w)",
        "sum(k*a for k in 1..2)",
    ]
    assert "tanh" not in closed.graph.kinds and "exp" in closed.graph.kinds
    assert closed.gradient == pytest.approx(expression.gradient(values).gradient, rel=1e-14)
    opened = expression.expand(["tanh", "f"]).gradient(values)
    assert "    t1 = exp(" in str(opened) and [c.call.name for c in opened.closed.values()] == [
        "sum"
    ]
    assert not expression.expand("all").gradient(values).closed


def test_what_holds_an_opened_call_is_opened_too() -> None:
    formula = parse("f(x) = x^2; g(x) = f(x)*2; h(x) = x + 1; g(a)*h(a)").expand(["f"])
    assert [call.word for call in formula.graph.calls if call.opened] == ["g", "f"]
