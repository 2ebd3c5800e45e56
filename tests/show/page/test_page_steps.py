"""What the page tells step by step, and what is known then."""

from __future__ import annotations

import math
from typing import Any

from exprgrad import Run, parse
from exprgrad.show.page.lessons import LESSONS
from exprgrad.show.text.lines import signed_number as number
from golden import agree
from scripts import ask

STEPS = """
const data = forward(PAGE), locals = localDerivatives(PAGE, data), [order, overwrite] = ARGS;
const visits = typeof order === "string" ? ORDERS[order](PAGE) : order;
const steps = timeline(PAGE, data, locals, visits, overwrite);
const result = simulate(PAGE, locals, visits, overwrite);
return {steps, lost: outcomes(PAGE, locals, visits, result, overwrite, 3)
  .flatMap(({losses}) => losses.map(path => lossText(PAGE, path)))};
"""
Point = tuple[str, dict[str, float]]
TWICE: Point = ("t = a*b; y = t + t*a", {"a": 2, "b": -3})
DIAMOND: Point = ("b = a + 1; c = a*3; d = b*c", {"a": 2})
SHOWN: tuple[tuple[str, dict[str, float], Any, bool], ...] = (
    *[
        (lesson.expression, lesson.values, "right", False)
        for lesson in LESSONS.values()
        if not lesson.parts
    ],
    (*DIAMOND, [5, 2, 0, 4], False),
    (*DIAMOND, "right", True),
    (*TWICE, "preorder", False),
    (*TWICE, "naive", False),
    (*TWICE, "naive", True),
    (*TWICE, [4, 0, 1], False),
    (*TWICE, [2, 4, 3], False),
    ("where(a > 0, a^2, log(-a))*(a - b)^-2 - (-a)", {"a": 3, "b": 4.5}, "right", False),
    ("max(a, b, 0) + min(a, b) - 2*3 + x*0", {"a": -1, "b": 1e-7, "x": math.inf}, "right", False),
    ("a", {"a": 5}, "right", False),
    ("t = x*y; u = y + 1; u*2", {"x": 1, "y": 2}, "right", False),
)


def run_of(text: str, values: dict[str, float]) -> Run:
    return parse(text).gradient(values)


def test_the_sentences() -> None:
    """LOOK at the golden file: it is what a learner reads."""
    runs = [run_of(text, values) for text, values, *_ in SHOWN]
    asked = [
        (run, STEPS, [order, over]) for run, (_, _, order, over) in zip(runs, SHOWN, strict=True)
    ]
    lines = []
    for (text, values, order, overwrite), answer in zip(SHOWN, ask(asked), strict=True):
        given = ", ".join(f"{name}={value:g}" for name, value in values.items())
        lines += [f"{text}   {given}   {order}{', with =' * overwrite}", ""]
        for step in answer["steps"]:
            lines += [f"  {step['text']}", *([f"      {step['why']}"] if step["why"] else [])]
        lines += [*(f"  lost: {loss}" for loss in answer["lost"]), ""]
    agree("page/steps.txt", "\n".join(lines))


STATES = """
const data = forward(PAGE), locals = localDerivatives(PAGE, data);
const steps = timeline(PAGE, data, locals, ORDERS.right(PAGE));
return Array.from({length: steps.length + 1}, (_, k) => {
  const {step, ...known} = state(PAGE, data, steps, k);
  return {...known, kind: step?.kind ?? null, phase: step?.phase ?? null};
});
"""


def test_what_is_known_after_each_step() -> None:
    run = run_of(*TWICE)
    (states,) = ask([(run, STATES, None)])
    blank = None
    assert states[0] == {
        "data": [2, -3, blank, blank, blank], "grads": [], "nodes": [], "wires": [], "done": False,
        "kind": None, "phase": None,
    }  # fmt: skip
    first, *_ = states[1:]
    assert (first["data"], first["grads"]) == ([2, -3, -6, blank, blank], [])
    assert (first["nodes"], first["wires"]) == ([2, 0, 1], ["2_0", "2_1"])
    kinds = [state["kind"] for state in states[1:]]
    assert kinds == ["value"] * 3 + ["seed"] + ["pass"] * 6 + ["read"] * 2
    assert [state["phase"] for state in states[1:]] == ["forward"] * 3 + ["reverse"] * 9
    seed, passed = states[4:6]
    assert seed["grads"] == [blank] * 4 + [1] and (seed["nodes"], seed["wires"]) == ([4], [])
    assert passed["grads"] == [blank, blank, 1, blank, 1]
    assert (passed["nodes"], passed["wires"]) == ([4, 2], ["4_0"])
    assert states[-1]["data"] == run.values
    assert states[-1]["grads"] == [run.grad(node) for node in range(5)]
    assert [state["done"] for state in states] == [False] * 12 + [True]


def test_at_the_end_all_is_as_in_the_table_of_nodes() -> None:
    """Nodes that no grad reached have 0, constants and what is not differentiated none."""
    run = parse("t = x*y; where(x > 0, x*2, exp(z)) + k*3").gradient(
        {"x": 1, "y": 2, "z": 3, "k": 4}, wrt=["x", "z"]
    )
    (states,) = ask([(run, STATES, None)])
    grads = [run.grad(node) for node in range(len(run.graph))]
    found = states[-1]["grads"]
    assert found + [None] * (len(grads) - len(found)) == grads
    assert states[-1]["data"][: run.graph.inputs["z"]] == run.values[: run.graph.inputs["z"]]


def test_a_sentence_has_the_numbers_of_its_step() -> None:
    text = "o = tanh(x1*w1 + x2*w2 + b); l = (o - 1)^2 / 3"
    run = run_of(text, {"x1": 2, "w1": -3, "x2": 0.5, "w2": 1, "b": 6.88})
    (answer,) = ask([(run, STEPS, ["right", False])])
    edges = iter(run.edges)
    steps = 0
    for step in answer["steps"]:
        if step["kind"] == "value":
            assert step["text"].endswith(f"= {number(run.values[step['node']], 6)}")
        elif step["kind"] == "read":
            grad = run.grad(step["node"])
            assert step["text"].endswith(f"complete: {number(grad, 6)}")
        elif step["kind"] == "pass":
            edge = next(edges)
            assert (step["node"], step["edge"]) == (edge.user, steps)
            grad, local, passed = (
                number(x, 6) for x in (run.grad(edge.user), edge.local, edge.contribution)
            )
            assert f" {grad} × " in step["text"] and f" × {local} = {passed} to " in step["text"]
            steps += 1
    assert steps == len(run.edges)


def test_hints() -> None:
    run = run_of("y = u*u - x/z; y + u", {"u": 3, "x": 1, "z": 2})
    body = """
      const by = tell => PAGE.nodes.map(({id}) => tell(PAGE, id));
      return {about: by(about), pattern: by(pattern), rule: PAGE.edges.map((_, edge) => rule(PAGE, edge))};
    """
    (answer,) = ask([(run, body, None)])
    about, patterns, rules = answer["about"], answer["pattern"], answer["rule"]
    assert about[:2] == ["", "x * y: the product"]
    assert patterns[0] == "used 3 times: what is passed to it adds up"
    assert (
        patterns[1] == "swap multiplier: it passes to each operand its grad times the other operand"
    )
    assert rules[-3:] == [
        "the local derivative of x / z for z is −x/z² (scaler)",
        "the local derivative of u * u for u is u (swap multiplier)",
        "the local derivative of u * u for u is u (swap multiplier)",
    ]


def test_where_one_user_overwrites_itself_nothing_is_lost() -> None:
    """A node that is visited again, with =, makes good what it passed before."""
    run = run_of("v0 = b*a; where(b > v0, v0, b)", {"a": 1e-8, "b": 355})
    naive, own = ask([(run, STEPS, ["naive", True]), (run, STEPS, ["right", True])])
    for answer in (naive, own):
        read = [step["text"] for step in answer["steps"] if step["kind"] == "read"]
        assert len(read) == 2 and all("complete" in text for text in read)
