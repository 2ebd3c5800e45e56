"""Every number that a lesson names is one that the library finds."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from exprgrad.api import Run, parse
from exprgrad.errors import RequestError
from exprgrad.show.page.lessons import LESSONS, read_lesson, tasks_of
from exprgrad.show.text.views import signed as number

NUMBER = re.compile(r"(?<![\w^])−?\d+(?:\.\d+)?")
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


@pytest.mark.parametrize("name", LESSONS)
def test_every_number_in_a_task_is_found(name: str) -> None:
    tasks = tasks_of(LESSONS[name])
    found = dict(CLAIMS[name]())
    assert sorted(found) == list(range(len(tasks)))
    for task, claimed in found.items():
        told = f"{tasks[task].text} {tasks[task].seen}"
        named = set(NUMBER.findall(FORMULA.sub("", told)))
        assert named == {number(value, 6) for value in claimed}, told


def test_the_lessons() -> None:
    assert list(LESSONS) == ["graph", "neuron", "square", "diamond"]
    for name, lesson in LESSONS.items():
        assert lesson.name == name
        assert 3 <= len(lesson.tasks) <= 5
        assert run(name).inputs == lesson.values and run(name).diagnostics == []
        told = [text for task in tasks_of(lesson) for text in (task.text, task.seen)]
        texts = [lesson.title, lesson.about, lesson.question, *told]
        assert all("  " not in text and "-" not in text for text in texts)


GOOD = """
title = "A gate that closes"
expression = "y = relu(w*x)"
values = {w = 2, x = -1}
tasks = [{text = "Set x to 1.", goals = [{inputs = {x = 1}}]}]
"""
BAD = {
    "title": "is not TOML",
    GOOD.replace("title", "titel"): "has no field 'titel'",
    GOOD.replace("values = {w = 2, x = -1}", ""): "has no 'values'",
    GOOD.replace("= -1", "= 'one'"): "the 'values' of the lesson is not a table of numbers",
    GOOD.replace("text =", "txt ="): "task 1 has no field 'txt'",
    GOOD.replace("inputs =", "given ="): "a goal of task 1 has no field 'given'",
    GOOD.replace("inputs = {x = 1}", "step = 3"): "the 'step' of a goal of task 1 is not 'end'",
}


def test_a_lesson_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "relu.toml"
    path.write_text(GOOD, encoding="utf-8")
    lesson = read_lesson(path)
    assert lesson.name == "relu" and lesson.values == {"w": 2.0, "x": -1.0}
    (task,) = tasks_of(lesson)
    assert task.goals == ({"inputs": {"x": 1}},) and not lesson.question
    for text, message in BAD.items():
        path.write_text(text, encoding="utf-8")
        with pytest.raises(RequestError, match=re.escape(message)):
            read_lesson(path)
    with pytest.raises(RequestError, match="cannot be read"):
        read_lesson(tmp_path / "none.toml")


def test_a_task_speaks_of_nodes_that_there_are(tmp_path: Path) -> None:
    path = tmp_path / "relu.toml"
    path.write_text(GOOD.replace("inputs = {x = 1}", 'node = "z"'), encoding="utf-8")
    lesson = read_lesson(path)
    run_of = parse(lesson.expression).gradient(lesson.values)
    with pytest.raises(RequestError, match="'z', of which task 1 speaks, is not a node"):
        run_of.explore(lesson=lesson)
