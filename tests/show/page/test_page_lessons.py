"""Every number that a lesson names is one that the library finds."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from exprgrad import Value
from exprgrad.api import Run, parse
from exprgrad.errors import RequestError
from exprgrad.show.page.lessons import (
    LESSONS,
    POINT_SETS,
    Lesson,
    Task,
    all_tasks,
    read_lesson,
    set_columns,
)
from exprgrad.show.page.page import tensors_as_lists
from exprgrad.show.text.lines import signed_number as number
from networks import names_of_weights, trained

NUMBER = re.compile(r"(?<![\w^])−?\d+(?:\.\d+)?")
SEARCH = files("exprgrad.show.page").joinpath("assets", "live-search.js")
"""The program that a lesson shows to find an order, in a list of texts."""
FORMULA = re.compile(r"o\^2")


def run(name: str, **changed: float) -> Run:
    """A lesson's run, with some inputs changed."""
    lesson = LESSONS[name]
    return parse(lesson.expression).gradient({**lesson.values, **changed})


def data(found: Run, name: str) -> float:
    """A named node's data."""
    return float(next(node.data for node in found.nodes if node.name == name))


def grad(found: Run, name: str) -> float:
    """A named node's grad."""
    return float(next(node.grad for node in found.nodes if node.name == name))


def local(found: Run, operand: str, user: str, position: int = 0) -> float:
    """The local derivative of an edge between nodes, each by its name or its text."""
    names = {node.id: node.name or node.text for node in found.nodes}
    edges = [e for e in found.edges if (names[e.operand], names[e.user]) == (operand, user)]
    return float(edges[position].local)


def graph_claims() -> Iterator[tuple[int, list[float]]]:
    """What the tasks of ``graph`` say, task by task."""
    here, moved = run("graph"), run("graph", b=-2.999)
    yield 0, [here.value, grad(here, "L"), grad(here, "a"), grad(here, "b")]
    assert local(here, "d", "L") == here.inputs["f"]
    yield 1, [local(here, "d", "L")]
    # b, a*b and the sum are rounded, and then doubled at least: less than 2 ulp of L together.
    slope = pytest.approx(grad(here, "b") * 0.001, rel=0, abs=2 * math.ulp(here.value))
    assert moved.value - here.value == slope
    yield 2, [-2.999, here.value, moved.value, grad(here, "b"), 0.001]
    got = here.visited(["L", "f", "e", "d", "c", "b", "a"]).got
    assert got == {"a": 0, "b": 0, "c": -2, "f": 4}
    yield 3, [got["a"]]
    yield 4, []


def neuron_claims() -> Iterator[tuple[int, list[float]]]:
    """What the tasks of ``neuron`` say, task by task."""
    here = run("neuron")
    yield 0, [data(here, "n"), here.value, *(grad(here, name) for name in ("x1", "w1", "w2"))]
    assert local(here, "n", "o") == pytest.approx(1 - here.value**2, rel=1e-15)
    yield 1, [1, local(here, "n", "o")]
    assert local(here, "w2", "x2*w2") == here.inputs["x2"] and grad(run("neuron", x2=1), "w2") > 0
    yield 2, [grad(here, "w2"), here.inputs["x2"], 1]
    flat, steep = run("neuron", b=10), run("neuron", b=6)
    assert max(map(abs, flat.gradient.values())) < 0.005
    assert all(abs(grad(steep, "n")) > abs(grad(run("neuron", b=b), "n")) for b in (5.9, 6.1))
    yield 3, [10, data(flat, "n"), 0.005, 6, data(steep, "n"), grad(steep, "w1")]
    assert all(here.visited(order).got == here.gradient for order in ("preorder", "bfs", "naive"))
    users = [sum(i in node.operands for node in here.nodes) for i in range(len(here.nodes))]
    assert max(users) == 1
    yield 4, []


def square_claims() -> Iterator[tuple[int, list[float]]]:
    """What the tasks of ``square`` say, task by task."""
    here = run("square")
    shares = [local(here, "u", "y", position) for position in (0, 1)]
    assert sum(shares) == grad(here, "u") == 2 * data(here, "u")
    yield 0, [*shares, grad(here, "u"), 2]
    half, double = here.visited(accumulate="set"), here.visited("naive")
    assert half.got == {"a": 3, "b": 3} and half.true == {"a": 6, "b": 6}
    yield 1, [shares[1], half.got["a"], half.true["a"]]
    assert double.got == {"a": 12, "b": 12}
    yield 2, [double.got["a"], double.true["a"]]
    bottom = run("square", b=-2)
    assert bottom.gradient == {"a": 0, "b": 0}
    yield 3, [-2, data(bottom, "u")]
    yield 4, []


def diamond_claims() -> Iterator[tuple[int, list[float]]]:
    """What the tasks of ``diamond`` say, task by task."""
    here = run("diamond")
    arrived = [edge.contribution for edge in here.edges if edge.operand == here.graph.inputs["a"]]
    assert arrived == [9, 6] and grad(here, "a") == 15
    yield 0, [arrived[0], sum(arrived)]
    through_c, through_b = here.paths()["a"].listed
    assert [through_c.product, through_b.product] == [9, 6]
    yield 1, [*through_c.factors, through_c.product, *through_b.factors, through_b.product]
    wrong = here.visited(["d", "b", "a", "c"])
    assert [path.path.product for path in wrong.inputs["a"].listed] == [9]
    yield 2, [wrong.got["a"], wrong.true["a"], wrong.inputs["a"].lost.sum]
    assert here.visited(accumulate="set").got == {"a": 6}
    yield 3, [6, 9]
    even = run("diamond", a=-0.5)
    assert even.gradient == {"a": 0}
    yield 4, [-0.5, *[path.product for path in even.paths()["a"].listed], even.gradient["a"]]


CLAIMS = {
    "graph": graph_claims,
    "neuron": neuron_claims,
    "square": square_claims,
    "diamond": diamond_claims,
}


def of(name: str, at: int = 0, **changed: float) -> Run:
    """A formula of a lesson on several, with some inputs changed."""
    formula = LESSONS[name].formulas[at]
    expression = parse(formula.expression)
    opened = expression.expand(formula.expand) if formula.expand else expression
    return opened.gradient({**formula.values, **changed})


def start_numbers() -> list[float]:
    """Those that the answers of ``start`` name, as for the lessons below."""
    product, moved, square, diamond = (
        of("start"),
        of("start", a=2.1),
        of("start", 2),
        of("start", 3),
    )
    early = diamond.visited(["d", "b", "a", "c"])
    assert moved.value - product.value == pytest.approx(product.gradient["a"] * 0.1)
    assert product.gradient["a"] == product.gradient["b"] == early.got["a"] + 4
    neuron, half = of("start", 1), square.visited(accumulate="set").got["a"]
    assert grad(neuron, "w1") == pytest.approx(1) and grad(neuron, "w2") == neuron.inputs["x2"] == 0
    lost = early.inputs["a"].lost.sum
    assert half == grad(square, "a") / 2
    return [
        *product.gradient.values(), product.value, moved.value, 0.1, 1, 0, grad(square, "a"), half,
        2, early.got["a"], early.true["a"], lost, len(LESSONS["start"].formulas),
    ]  # fmt: skip


def chain_numbers() -> list[float]:
    here, near = run("chain"), run("chain", x=2.01)
    locals_ = [local(here, *ends) for ends in (("x", "u"), ("u", "v"), ("v", "y"))]
    fallen = here.value - near.value
    assert grad(run("chain", x=0), "x") == 0 and grad(run("chain", x=-2), "x") == 36
    grads = [grad(here, name) for name in "xuv"]
    return [
        *locals_,
        *grads,
        grad(here, "u"),
        here.value,
        near.value,
        fallen,
        0.36,
        2,
        0,
        -2,
        0.9**50,
        1.1**50,
        1,
        50,
        0.9,
        1.1,
        5,
        3 * 5,
        data(here, "u"),
        data(here, "v"),
        grad(here, "x") * 0.01,
        near.value - here.value,
        100 * 0.9**50,
    ]


def paths_numbers() -> list[float]:
    here = run("paths")
    count, (forward, back) = here.paths()["a"].count, sweep_costs(here)
    walked = count * sum(forward), count
    work = [count**n * (4 * n + 1) / 1e9 for n in (10, 11)]
    hours, days = int(work[0] / 3600), int(work[1] / 86400)
    assert grad(here, "a") == count and local(here, "a", "b") == 1 and (hours, days) == (12, 9)
    assert back == (2 * forward[0], 2 * forward[0])
    grads = [grad(here, name) for name in "ydcba"]
    return [
        *grads, *forward, *back, *walked, sum(walked), sum(back), 2, 10, 11, hours, days,
        10 - 2, 10 - 1, 100, (10 - 1) * 100 * 100,
    ]  # fmt: skip


Cost = tuple[int, int]
"""How many × a sweep takes, and how many +."""


def sweep_costs(found: Run) -> tuple[Cost, Cost]:
    """The costs of both sweeps over sums and products: one operation for a node, × and + for an edge."""
    rows = [found.graph.kinds[node.id] for node in found.nodes if node.operands]
    assert {*rows} <= {"mul", "add"}
    return (rows.count("mul"), rows.count("add")), (len(found.edges), len(found.edges))


def order_numbers() -> list[float]:
    here, early = run("order"), run("order").visited(["y", "b", "c", "a"])
    assert here.visited("preorder").got == early.got and run("order", a=-1).gradient == {"a": 0}
    assert here.visited("bfs").got == early.got
    lines = re.findall(r'(?m)^  ("[^\n]*"),$', SEARCH.read_text("utf-8"))
    return [
        early.got["a"],
        early.true["a"],
        local(here, "b", "y"),
        here.visited("naive").got["a"],
        0,
        here.paths()["a"].count,
        lines.index('"visit(output)"') + 1 - lines.count('""'),
    ]


def accumulate_numbers() -> list[float]:
    here, even = run("accumulate"), run("accumulate", a=0)
    arrived = [edge.contribution for edge in here.edges if edge.operand == here.graph.inputs["a"]]
    assert sum(arrived) == grad(here, "a") and even.visited(accumulate="set").got == even.gradient
    return [*arrived, grad(here, "a"), grad(even, "a"), 0, 64, 0.5, 64 * 0.5, 3]


def gates_numbers() -> list[float]:
    here, switched, lost, large = (
        run("gates", **c) for c in ({}, {"d": 13}, {"c": -4}, {"c": 4000})
    )
    assert [grad(here, name) for name in "ympsdcab"] == [1, 1, 1, 5, 0, 3, 5, 5]
    assert [grad(switched, name) for name in "dcs"] == [1, 0, 1] and grad(lost, "c") == 0
    given = [data(here, name) for name in "sp"]
    return [*given, 0, 1, 4, 5, 13, data(lost, "p"), grad(large, "a"), grad(large, "c")]


def tanh_numbers() -> list[float]:
    whole, parts = of("tanh"), of("tanh", 1)
    assert whole.gradient == pytest.approx(parts.gradient, rel=1e-15)
    assert math.isnan(of("tanh", 1, b=400).value) and of("tanh", b=400).gradient == dict.fromkeys(
        "xwb", 0
    )
    shares = [edge.contribution for edge in parts.edges if edge.operand == 7]
    return [
        len(parts.graph) - len(whole.graph) + 1, *whole.gradient.values(), whole.value, *shares,
        grad(parts, "t1"), 1, 788, 0, of("tanh", b=400).value,
        parse("softplus(x)").gradient(x=1).gradient["x"],
    ]  # fmt: skip


def check_numbers() -> list[float]:
    assert grad(of("check"), "x") == 12
    neuron = of("check", 1)
    parse_, due = parse(LESSONS["check"].formulas[1].expression), grad(neuron, "x")

    def off(h: float, both: bool) -> float:
        low, high = (
            parse_.evaluate({**neuron.inputs, "x": 2 + d}).value for d in (-h if both else 0, h)
        )
        return abs(float(high - low) / (2 * h if both else h) - due)

    best = [min(range(1, 16), key=lambda n: off(10.0**-n, both)) for both in (False, True)]
    assert abs(best[0] - 8) <= 1 and abs(best[1] - 5) <= 1 and 2 + 1e-16 == 2
    sides = [of("check", 2, x=x).gradient["x"] for x in (1, -1)]
    return [10, 8, 5, 0, 4, 0.001, grad(of("check"), "x"), 16, *sides]


def vanish_numbers() -> list[float]:
    half, one, three = (of("vanish", w=w) for w in (0.5, 1.0, 3.0))
    straight = [grad(of("vanish", 1, w=w), "x") for w in (1.0, 2.0)]
    found = [float(f"{grad(each, 'x'):.3g}") for each in (half, one, three)]
    assert all(0.45 < grad(half, f"h{n}") / grad(half, f"h{n + 1}") < 0.55 for n in range(1, 4))
    narrow, wide = layer_terms(half), layer_terms(three)
    lost = round(wide[3] / wide[4], 2)
    ends = round(min(narrow), 3), round(max(narrow), 3)
    return [
        *found,
        *straight,
        *ends,
        wide[4],
        grad(three, "w"),
        lost,
        0.5,
        1,
        3,
        2,
        len(narrow),
        len(narrow) - 1,
        0,
    ]


def layer_terms(run: Run) -> list[float]:
    """What each layer of ``vanish`` adds to the grad of w, the front one first."""
    found = [edge.contribution for edge in run.edges if edge.operand == run.graph.inputs["w"]]
    assert sum(found) == pytest.approx(grad(run, "w"))
    return found[::-1]


def descent_numbers() -> list[float]:
    def verdict(at: int, rate: float) -> str:
        formula = LESSONS["descent"].formulas[at]
        return str(parse(formula.expression).descend(formula.values, rate=rate, steps=300).verdict)

    assert [verdict(0, rate) for rate in (0.1, 0.5, 0.9)] == [
        "converged",
        "converged",
        "oscillates",
    ]
    assert verdict(0, 1.1) == verdict(1, 0.0101) == "diverged" != verdict(1, 0.0099)
    _, valley = LESSONS["descent"].formulas
    before, after = parse(valley.expression).descend(valley.values, rate=0.009, steps=1).steps
    left = [after.inputs[name] / before.inputs[name] for name in "uv"]
    assert of("descent", 1).gradient["v"] == 200 and left[1] == pytest.approx(1 - 200 * 0.009)
    (landed,) = parse(valley.expression).descend(valley.values, rate=0.005, steps=1).steps[1:]
    assert landed.inputs["v"] == 0 and verdict(1, 0.009) != "diverged"
    rest = parse("(x - 1)^2").descend({"x": -2}, rate=0.1, steps=100).steps[-1].inputs["x"]
    return [
        round(rest, 4), -1, 0, 0.1, 0.5, 0.9, 1.1, 0.01, 0.009, 200, *left, abs(left[1]), 0.009 * -200,
    ]  # fmt: skip


def kink_numbers() -> list[float]:
    corner, roof = LESSONS["kink"].formulas
    ends = parse(corner.expression).descend(corner.values, rate=0.4, steps=20).steps[-2:]
    found = [round(step.inputs["x"], 9) for step in ends]
    landed = parse(corner.expression).descend(corner.values, rate=3, steps=20).steps[-1]
    assert found == [0.8, 1.2] and landed.inputs == {"x": 1} and landed.gradient == {"x": 0}
    steep, flat = (abs(of("kink", 1).gradient[name]) for name in "vu")
    crossed = parse(roof.expression).descend(roof.values, rate=0.2, steps=5).steps[1:]
    assert [step.inputs["v"] > 0 for step in crossed] == [True, False, True, False, True]
    corner_slopes = [of("kink", x=x).gradient["x"] for x in (0, 2)]
    return [*found, 0.4, 3, 0, steep, steep * 0.2, flat * 0.2, *corner_slopes]


def network_numbers() -> list[float]:
    here, lesson = run("network"), LESSONS["network"]
    sizes = {name: abs(grad(here, name)) for name in [f"w{n}" for n in range(1, 7)]}
    assert max(sizes, key=lambda name: sizes[name]) == "w3"
    outputs = {
        node.name: abs(node.data) for node in here.nodes if (node.name or "").startswith("h")
    }
    assert max(outputs, key=lambda name: outputs[name]) == "h3" and len(outputs) == 6
    still = run("network", **dict.fromkeys(sizes, 0))
    assert all(still.gradient[name] == 0 for name in ("u1", "v2", "b6")) and grad(still, "c")
    circles, moons, spiral = (
        trained(lesson.values, set_columns(name), 0.5, 200) for name in POINT_SETS
    )
    assert circles.reached and moons.reached and spiral.reached
    neurons, weights = len(outputs), len(names_of_weights(len(outputs)))
    return [sizes["w3"], 0.5, moons.reached, spiral.reached, 0, neurons, neurons + 1, weights]


def tensors_numbers() -> list[float]:
    """Those of ``tensors``: places in the tensors, and how large a Jacobian is."""
    product, mask, softmax = (of("tensors", at) for at in range(3))
    assert np.array_equal(mask.gradient["Z"], mask.inputs["C"] * (mask.inputs["Z"] > 0))
    assert np.allclose(product.gradient["b"], product.grad(named(product, "Y")).sum(axis=0))
    shares = softmax.values[named(softmax, "P")]
    assert np.allclose(softmax.gradient["Z"], shares - softmax.inputs["T"])
    assert np.allclose(softmax.gradient["Z"].sum(axis=1), 0)
    given = product.inputs
    jacobian = np.kron(np.eye(len(given["X"])), given["W"].T)
    data = product.values[named(product, "H")]
    assert np.allclose(jacobian @ given["X"].ravel(), data.ravel())
    never = np.kron(np.eye(2), np.ones((2, 3))) == 0
    masked = mask.gradient["Z"] == 0
    rows = [
        edge.contribution for edge in product.edges if edge.operand == product.graph.inputs["b"]
    ]
    assert rows[0].shape == (len(given["b"]),) and never.mean() == 0.5
    return [
        0, 1, *jacobian.shape, jacobian.size, never.sum(), masked.sum(), len(given["X"]),
        *product.gradient["W"].shape,
    ]  # fmt: skip


def dead_numbers() -> list[float]:
    here, open_, alive = run("dead"), run("dead", x=4), run("dead", x=2, b=1)
    assert grad(here, "o") == 2 * (here.value**0.5 * -1) and here.gradient["b"] == 0
    assert all(here.gradient[name] == 0 for name in "wx") and open_.gradient["b"] == -2
    threshold = -here.inputs["b"] / here.inputs["w"]
    stepped = {
        rate: run("dead", x=2, **{n: alive.inputs[n] - rate * alive.gradient[n] for n in "wb"})
        for rate in (1, 0.1)
    }
    far, near = stepped[1], stepped[0.1]
    assert data(near, "n") == pytest.approx(near.inputs["y"])
    leaky = parse(LESSONS["dead"].expression.replace("relu", "leaky_relu")).gradient(here.inputs)
    return [
        *(grad(here, name) for name in "obL"), data(here, "n"), data(here, "o"), data(open_, "n"),
        open_.gradient["w"], open_.gradient["b"], threshold, data(alive, "n"), data(far, "n"),
        *far.inputs.values(), *near.inputs.values(), data(near, "n"), alive.gradient["w"], 2, 0.1,
        data(leaky, "o"), grad(leaky, "o"), leaky.gradient["b"], local(leaky, "n", "o"),
        here.value**0.5 * -1, 200, 60, 50, 200 - 60,
    ]  # fmt: skip


def matrix_numbers() -> list[float]:
    here = run("matrix")
    x, w, c = (np.asarray(here.inputs[name]) for name in "XWC")
    own, other = here.gradient["W"], here.gradient["X"]
    assert np.array_equal(own, x.T @ c) and np.array_equal(other, c @ w.T)
    down, across = x[:, 0] * c[:, 1], c[1] * w[1]
    assert (own[0, 1], other[1, 1]) == (sum(down), sum(across)) == (7, -7)
    wrong = [*(7 - down), x[:, 0].sum(), *(-7 - across), c[0] @ w[1]]
    told = {
        *map(
            float,
            [
                *LESSONS["matrix"].parts[1].tasks[0].wrong,
                *LESSONS["matrix"].parts[1].tasks[1].wrong,
            ],
        )
    }
    assert told == {*map(float, wrong)} and (c @ x.T).shape == (len(x), len(x))
    return [0, 1, 2, *x.ravel(), *c[:, 1], 7, -7, len(x), 784, 100, 64, 784 * 100]


def variance_numbers() -> list[float]:
    """That a layer multiplies by r·n·s is seen from random numbers; the rest is the formula."""
    chance = np.random.default_rng(1)
    drawn = chance.normal(0, 0.02**0.5, (200, 100)) @ chance.normal(0, 1, (100, 1000))
    assert np.mean(drawn**2) == pytest.approx(data(run("variance"), "v1"), rel=0.1)
    assert np.mean(np.maximum(drawn, 0) ** 2) == pytest.approx(0.5 * np.mean(drawn**2), rel=0.1)
    here, less = run("variance"), run("variance", s=0.005)
    kept = [{"s": 0.01}, {"n": 400, "s": 0.0025}, {"s": 0.02, "r": 0.5}]
    assert all(run("variance", **changed).value == pytest.approx(1) for changed in kept)
    assert run("variance", s=0.01, r=0.5).value == less.value
    assert (round(math.log10(2**30)), round(math.log10(2**50))) == (9, 15)
    assert (0.01**0.5, 0.0025**0.5) == (0.1, 0.05) and here.value == 8
    found = [data(one, name) for one in (here, less) for name in ("v1", "v2", "v3")]
    return [*found, 0, 1, 2, 4, 30, 0.1, 0.05, 0.02, 50, 512, 0.5, 3]


def momentum_numbers() -> list[float]:
    """Those of the formula, which are those of ``descend`` with momentum and with Adam."""
    here, second = run("momentum"), run("momentum", x=2.4, m=6)
    steps = [
        [step.inputs["x"] for step in parse(text).descend({"x": 3}, rate=0.1, steps=2, **how).steps]
        for text, how in (("x^2", {"momentum": 0.9}), ("x^2", {"adam": True}), ("100*x^2", {"adam": True}))
    ]  # fmt: skip
    assert [here.value, second.value] == pytest.approx(steps[0][1:])
    first = run("momentum", v=36)
    assert [first.value, first.value] == pytest.approx([steps[1][1], steps[2][1]])
    assert run("momentum", c=200, v=360000).value == pytest.approx(first.value)
    plain = 2.4 - 0.1 * data(second, "g")
    agree, turn = (sum((sign * 0.9) ** n for n in range(400)) for sign in (1, -1))
    assert turn == pytest.approx(1 / 1.9)
    return [
        here.value, data(here, "m1"), data(here, "g"), second.value, data(second, "m1"), data(second, "g"),
        plain, agree, round(turn, 3), 1.9, first.value, 0.1, 1, -1, 2, 3, 0, 600, 1000, 0.001,
    ]  # fmt: skip


def batch_numbers() -> list[float]:
    here = run("batch")
    own = [2 * data(here, f"e{n}") * here.inputs[f"x{n}"] for n in (1, 2, 3)]
    assert sum(own) / 3 == pytest.approx(here.gradient["w"])
    pairs = [(own[a] + own[b]) / 2 for a, b in ((0, 1), (0, 2), (1, 2))]
    assert sum(pairs) / 3 == pytest.approx(sum(own) / 3)
    silent = run("batch", x3=0)
    return [
        *own, sum(own), 2 * sum(own), here.gradient["w"], *pairs, silent.gradient["w"],
        data(here, "e3"), 3, 2, 6, 0, 64, 4, 64 / 4, 10, 1,
    ]  # fmt: skip


BLANKS = (
    "out.grad", "out.grad", "other.data * out.grad", "self.data * out.grad", "1", "reversed(order)"
)  # fmt: skip
"""What belongs in the blanks of the program in ``backward``, in order."""
SLIPS = {
    "12": ("+=", "="),
    "28": ("visited.add(node)", "visited.add(node); order.append(node)"),
    "64": ("if node in visited", "if False"),
    "88": ("self.grad += other.data *", "self.grad += self.data *"),
    "19": ("other.data * out.grad", "other.data"),
    "0": ("self.grad = 1", "self.grad = 0"),
}
"""By what the program prints with a mistake, the mistake: what stands instead of what."""


def run_own_backward(slip: str = "", times: int = 1) -> list[float]:
    """The grads of a and b by the program in ``backward``, filled in, with a slip, swept some times."""
    first, second, *_ = LESSONS["backward"].parts
    program, given = f"{first.code.rstrip()}\n\n{second.code.strip(chr(10))}".split("\na, b = ")
    for blank in BLANKS:
        program = program.replace("______", blank, 1)
    assert "____" not in program
    for right, wrong in [SLIPS[slip]] if slip else ():
        assert right in program
        program = program.replace(right, wrong)
    if slip == "28":
        program = program.replace("            order.append(node)\n", "").replace(
            "reversed(order)", "order"
        )
    if slip in ("19", "88"):
        program = program.replace("other.grad += self.data * out.grad", {
            "19": "other.grad += self.data", "88": "other.grad += other.data * out.grad"
        }[slip])  # fmt: skip
    known: dict[str, Any] = {}
    lines = given.replace("y.backward()", "\n".join(["y.backward()"] * times)).rsplit("\n", 1)[0]
    exec(f"{program}\na, b = {lines}", known)
    return [known[name].grad for name in "ab"]


def backward_numbers() -> list[float]:
    """Those of the lesson's own program, right and with each slip, and of ours."""
    here = run("backward")
    assert run_own_backward() == [grad(here, name) for name in "ab"]
    printed = {slip: run_own_backward(slip)[0] for slip in SLIPS}
    assert printed == {slip: float(slip) for slip in SLIPS}
    twice = Value(3.0), Value(1.0)
    total = twice[0] + twice[1]
    product = total * (twice[0] * total)
    product.backward()
    product.backward()
    assert twice[0].grad == 2 * grad(here, "a")
    own = parse("n = a*b; o = tanh(n)").gradient(a=0.5, b=2)
    slope = 1 - own.value**2
    return [
        grad(here, "a"), *printed.values(), here.value, *run_own_backward(times=2), twice[0].grad, 30, 1, 2,
        0, 0.5, own.gradient["a"], slope, own.value, 2 * (1 - own.value),
    ]  # fmt: skip


def jacobian_numbers() -> list[float]:
    here = run("jacobian")
    w, x, c = (np.asarray(here.inputs[name]) for name in ("W", "x", "c"))
    above, step = np.asarray(here.grad(named(here, "h"))), np.array([1, 1, 0])
    back, moved = above @ w, w @ step
    assert np.array_equal(back, here.gradient["x"]) and np.array_equal(above, 2 * (w @ x) * c)
    assert above @ moved == back @ step
    terms = above * w[:, 1]
    assert {str(int(term)) for term in terms} == {"12", "10"} and w[:, 1].sum() == 1
    n = 100
    left, matrices = 2 * n**2, n**3
    return [
        *w.shape, w.shape[0] ** 2, *w[:, 1], *(w @ x), *c, *above, *back, *terms, *moved, above @ moved,
        *(above * moved), above @ abs(moved), n, left, matrices // left, 1000, 0, 2, 3, 1,
    ]  # fmt: skip


def named(run: Run, name: str) -> int:
    """The node with a name."""
    return next(node for node, own in run.names.items() if own == name)


ANSWERS = {
    "start": start_numbers, "chain": chain_numbers, "paths": paths_numbers, "order": order_numbers,
    "accumulate": accumulate_numbers, "gates": gates_numbers, "tanh": tanh_numbers, "check": check_numbers,
    "vanish": vanish_numbers, "descent": descent_numbers, "kink": kink_numbers, "tensors": tensors_numbers,
    "network": network_numbers, "dead": dead_numbers, "matrix": matrix_numbers,
    "variance": variance_numbers, "momentum": momentum_numbers, "batch": batch_numbers,
    "backward": backward_numbers, "jacobian": jacobian_numbers,
}  # fmt: skip
"""By lesson with prose, the numbers that its answers may name: each as the library finds it."""
NAMED = re.compile(r"(?<![\w^.])[−-]?\d[\d,]*(?:\.\d+)?(?:e[+−]\d+)?(?!\w)")
POWERS = re.compile(r"10\^−?\d+|0\.9\^50|1\.1\^50")
WORDS = {
    "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "twelve": 12,
    "sixteen": 16, "fifty": 50, "sixty": 60, "eighty": 80,
}  # fmt: skip
"""Numbers that a lesson may write in words, from three on."""


def told_numbers(text: str) -> set[str]:
    """The numbers that a text names, in digits or in words."""
    words = {str(WORDS[word]) for word in re.findall(r"\w+", text.lower()) if word in WORDS}
    digits = NAMED.findall(POWERS.sub("", text))
    return words | {one.rstrip(",").replace(",", "").replace("-", "−") for one in digits}


def lesson_texts(lesson: Lesson) -> Iterator[str]:
    """All that a lesson says, but for its programs and the numbers of its parts."""
    yield from (lesson.title, lesson.question, lesson.about)
    for part in lesson.parts:
        yield from (part.title.split(".", 1)[-1], part.text)
    for task in all_tasks(lesson):
        yield from (task.text, task.seen, *task.wrong.values())
        yield "" if task.answer is None else str(task.answer)


def given_numbers(lesson: Lesson) -> Iterator[float]:
    """The numbers of a lesson's inputs, as they are, and as its goals have them set."""
    for formula in lesson.formulas or (lesson,):
        yield from (value for value in formula.values.values() if isinstance(value, float))
    for task in all_tasks(lesson):
        for goal in task.goals:
            yield from goal.get("inputs", {}).values()


@pytest.mark.filterwarnings("ignore::exprgrad.DigitsWarning")
@pytest.mark.parametrize("name", LESSONS)
def test_every_number_in_a_lesson_is_found(name: str) -> None:
    """In its prose, its tasks, their answers and what is said to wrong ones: computed, or an input's."""
    lesson = LESSONS[name]
    computed = (
        ANSWERS[name]() if name in ANSWERS else [x for _, some in CLAIMS[name]() for x in some]
    )
    known = [*computed, *given_numbers(lesson)]
    found = {number(value, digits) for value in known for digits in (1, 3, 6)}
    for text in lesson_texts(lesson):
        assert told_numbers(text) <= found, text


COSTS = re.compile(r"(\d+) × and (\d+) \+")
"""A cost as lessons and pages state it."""
TUTORIAL = Path(__file__).parents[3] / "docs" / "tutorial" / "the-chain-rule.md"


@pytest.mark.parametrize(
    ("text", "formula", "walked"),
    [
        (
            TUTORIAL.read_text("utf-8").split("## What it costs")[1].split("> **")[0],
            "d = b*c",
            False,
        ),
        (
            TUTORIAL.read_text("utf-8").split("> and how many paths")[1],
            "b = a*a; c = b*b; y = c*c",
            False,
        ),
        (LESSONS["paths"].parts[1].tasks[0].seen, LESSONS["paths"].expression, True),
    ],
    ids=["a product", "three squares", "the lesson"],
)
def test_the_cost_of_a_sweep_is_counted_in_one_way(text: str, formula: str, walked: bool) -> None:
    """Forward, in reverse, and where they are walked along all paths: × and +, as the trace counts them."""
    found = parse(formula).gradient(dict.fromkeys(parse(formula).graph.inputs, 1.0))
    forward, back = sweep_costs(found)
    told = [(int(times), int(plus)) for times, plus in COSTS.findall(text)]
    assert told[:2] == [forward, back]
    for sweep, (times, plus) in (("forward", forward), ("reverse", back)):
        assert re.search(rf"{sweep} sweep  .*: {times} ×, {plus} \+, 0 ", found.trace())
    if walked:
        count = found.paths()["a"].count
        assert told[2:] == [(count * sum(forward), count)]


@pytest.mark.parametrize("name", CLAIMS)
def test_every_number_in_a_task_is_found(name: str) -> None:
    tasks = all_tasks(LESSONS[name])
    found = dict(CLAIMS[name]())
    assert sorted(found) == list(range(len(tasks)))
    for task, claimed in found.items():
        told = f"{tasks[task].text} {tasks[task].seen}"
        named = set(NUMBER.findall(FORMULA.sub("", told)))
        assert named == {number(value, 6) for value in claimed}, told


def test_the_lessons() -> None:
    assert {*LESSONS} == {*CLAIMS, *ANSWERS}
    for name, lesson in LESSONS.items():
        assert lesson.name == name
        assert 3 <= len(all_tasks(lesson)) <= (7 if lesson.parts else 5)
        assert tensors_as_lists(run(name).inputs) == lesson.values and run(name).diagnostics == []
        told = [text for task in all_tasks(lesson) for text in (task.text, task.seen)]
        texts = [lesson.title, lesson.about, lesson.question, *told]
        assert all("  " not in text and "-" not in text for text in texts)


@pytest.mark.parametrize("name", ANSWERS)
def test_a_lesson_with_prose(name: str) -> None:
    """5 to 10 minutes: at most 600 words.  It ends in a question that transfers, and answers it."""
    lesson = LESSONS[name]
    texts = [text for part in lesson.parts for text in (part.title, part.text)]
    texts += [text for task in all_tasks(lesson) for text in (task.text, task.seen)]
    assert 250 <= sum(len(text.split()) for text in texts) <= 600
    last = lesson.parts[-1].tasks[-1]
    assert last.text.endswith("?") and last.seen and not last.goals
    prose = [re.sub("`[^`]*`", "code", text) for text in texts]
    assert not [text for text in prose if re.search(r"-\d| -|  ", text)], "a minus is a −"
    tried = [task for part in lesson.parts[:2] for task in part.tasks]
    assert all(task.goals or task.answer is not None for task in tried)


GOOD = """
title = "A gate that closes"
expression = "y = relu(w*x)"
values = {w = 2, x = -1}
tasks = [{text = "Set x to 1.", goals = [{inputs = {x = 1}}]}]
"""
BAD = {
    "title": "is not TOML",
    GOOD.replace("title", "titel"): "has no field 'titel'",
    'tools = ["abacus"]\n'
    + GOOD: "the 'tools' of the lesson is not a list of some of orders, code",
    'tools = ["code"]\n'
    + GOOD.replace("inputs = {x = 1}", 'sign = "="'): "'tools' has no 'orders'",
    GOOD.replace("values = {w = 2, x = -1}", ""): "has no 'values'",
    GOOD.replace("= -1", "= 'one'"): "the 'values' of the lesson is not a table of numbers",
    GOOD.replace("text =", "txt ="): "task 1 has no field 'txt'",
    GOOD.replace("inputs =", "given ="): "a goal of task 1 has no field 'given'",
    GOOD.replace("inputs = {x = 1}", "step = 3"): "the 'step' of a goal of task 1 is not 'end'",
    GOOD.replace(
        "text =", "answer = [1], text ="
    ): "the 'answer' of task 1 is not a number, or one of",
}


NO_CHOICE = (
    "answer = 'w'",
    "answer = ''",
    "choices = ['w', 'x']",
    "choices = ['w', 'x'], answer = 1",
)
BAD |= {
    GOOD.replace("text", f"{one}, text"): "'answer' of task 1 is not one of its"
    for one in NO_CHOICE
}


def test_a_lesson_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "relu.toml"
    path.write_text(GOOD, encoding="utf-8")
    lesson = read_lesson(path)
    assert lesson.name == "relu" and lesson.values == {"w": 2.0, "x": -1.0}
    (task,) = all_tasks(lesson)
    assert task.goals == ({"inputs": {"x": 1}},) and not lesson.question
    for text, message in BAD.items():
        path.write_text(text, encoding="utf-8")
        with pytest.raises(RequestError, match=re.escape(message)):
            read_lesson(path)
    with pytest.raises(RequestError, match="cannot be read"):
        read_lesson(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("sets", "is_good"), [(["moons"], True), ([*POINT_SETS], True), ([], False)]
)
def test_one_set_of_points_is_enough_to_train_on(
    sets: list[str], is_good: bool, tmp_path: Path
) -> None:
    path = tmp_path / "network.toml"
    lesson = files("exprgrad.show.page").joinpath("assets", "lessons", "network.toml")
    text = re.sub(r"(?m)^sets = .*$", f"sets = {sets!r}", lesson.read_text(encoding="utf-8"))
    path.write_text(text, encoding="utf-8")
    if is_good:
        assert [part.sets for part in read_lesson(path).parts if part.sets] == [sets]
    else:
        with pytest.raises(RequestError, match="the 'sets' of part 2 is not a list of some of"):
            read_lesson(path)


def test_a_task_speaks_of_nodes_that_there_are(tmp_path: Path) -> None:
    path = tmp_path / "relu.toml"
    path.write_text(GOOD.replace("inputs = {x = 1}", 'node = "z"'), encoding="utf-8")
    lesson = read_lesson(path)
    run_of = parse(lesson.expression).gradient(lesson.values)
    with pytest.raises(RequestError, match="'z', of which task 1 speaks, is not a node"):
        run_of.explore(lesson=lesson)


ANSWERED = [
    (lesson.name, task) for lesson in LESSONS.values() for task in all_tasks(lesson) if task.grad
]
"""The tasks that ask for a grad."""


@pytest.mark.parametrize(
    ("name", "task"), ANSWERED, ids=lambda one: one if isinstance(one, str) else one.grad
)
def test_an_answer_that_is_a_grad_is_the_library_s(name: str, task: Task) -> None:
    lesson = LESSONS[name]
    formulas = {"": (lesson.expression, lesson.values)}
    formulas |= {one.name: (one.expression, one.values) for one in lesson.formulas}
    own = [part.formula for part in lesson.parts if task in part.tasks] or [""]
    run = parse(formulas[own[0]][0]).gradient(formulas[own[0]][1])
    (found,) = [run.grad(node) for node, called in run.graph.names().items() if called == task.grad]
    assert f"{found:.6g}" == f"{task.answer:.6g}"


def test_every_task_has_an_answer() -> None:
    """Typed or chosen, with wrong ones explained; or the numbers are typed under Ask me."""
    for lesson in LESSONS.values():
        for task in all_tasks(lesson):
            assert task.wrong or task.grad or any("found" in goal for goal in task.goals), task
            assert task.answer is None or str(task.answer) not in task.wrong
            assert not task.choices or {*task.wrong} <= {*task.choices}
