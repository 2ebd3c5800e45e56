"""``Value``: what micrograd and its lesson do, beside micrograd itself, PyTorch and mpmath."""

from __future__ import annotations

import copy
import gc
import inspect
import math
import operator
import pickle
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from random import Random
from types import ModuleType
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import exprgrad
from exprgrad import InputError, Value, parse
from exprgrad.api.value import graph_of_values, of_micrograd, values_reached
from exprgrad.graph.graph import CONST, INPUT, Graph
from exprgrad.graph.ops import BY_NAME, COMPARISONS, OPS
from exprgrad.language.write.infix import program_text
from invariants import check
from oracles import mp
from programs import require
from rounding import bounds
from strategies import FREQUENT, SPECIAL, everyday, points, seeds, smooth, tree
from together import together

OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv,
    "mod": operator.mod, "pow": operator.pow,
}  # fmt: skip


def engine() -> Any:
    """micrograd's own ``Value``."""
    return pytest.importorskip("micrograd.engine", reason="pip install micrograd").Value


# The lesson, as it is typed.


def test_the_readme_s_example() -> None:
    """github.com/karpathy/micrograd, README: the numbers in its comments."""
    a = Value(-4.0)
    b = Value(2.0)
    c = a + b
    d = a * b + b**3
    c += c + 1
    c += 1 + c + (-a)
    d += d * 2 + (b + a).relu()
    d += 3 * d + (b - a).relu()
    e = c - d
    f = e**2
    g = f / 2.0
    g += 10.0 / f
    assert f"{g.data:.4f}" == "24.7041"
    g.backward()
    assert f"{a.grad:.4f}" == "138.8338"
    assert f"{b.grad:.4f}" == "645.5773"


def neuron() -> dict[str, Value]:
    """The lesson's neuron: inputs, weights, a bias, and every step with its label."""
    x1, x2 = Value(2.0, label="x1"), Value(0.0, label="x2")
    w1, w2 = Value(-3.0, label="w1"), Value(1.0, label="w2")
    b = Value(6.8813735870195432, label="b")
    x1w1 = x1 * w1
    x1w1.label = "x1*w1"
    x2w2 = x2 * w2
    x2w2.label = "x2*w2"
    x1w1x2w2 = x1w1 + x2w2
    x1w1x2w2.label = "x1*w1 + x2*w2"
    n = x1w1x2w2 + b
    n.label = "n"
    o = n.tanh()
    o.label = "o"
    return locals()


GRADS = {"x1": -1.5, "w1": 1.0, "x2": 0.5, "w2": 0.0, "b": 0.5, "n": 0.5, "x1w1": 0.5, "o": 1.0}
"""What the lesson finds on paper."""


def rounded(values: dict[str, Value]) -> dict[str, float]:
    return {name: round(values[name].grad, 12) for name in GRADS}


def test_the_neuron() -> None:
    values = neuron()
    values["o"].backward()
    assert rounded(values) == GRADS
    run = values["o"].run()
    assert run.text == "n = x1*w1 + x2*w2 + b; o = tanh(n)"
    assert run.gradient == {name: values[name].grad for name in ("x1", "w1", "x2", "w2", "b")}
    assert (run.value, run.graph.output_name) == (values["o"].data, "o")


def test_the_neuron_by_hand() -> None:
    """One ``_backward()`` after the other, from the output."""
    values = neuron()
    values["o"].grad = 1.0
    for name in ("o", "n", "b", "x1w1x2w2", "x1w1", "x2w2"):
        values[name]._backward()
    assert rounded(values) == GRADS
    again = neuron()
    order: list[Value] = []
    seen = set()

    def build(value: Value) -> None:
        if value not in seen:
            seen.add(value)
            for child in value._prev:
                build(child)
            order.append(value)

    build(again["o"])
    again["o"].grad = 1
    for value in reversed(order):
        value._backward()
    assert rounded(again) == GRADS


def test_tanh_of_smaller_pieces() -> None:
    values = neuron()
    e = (2 * values["n"]).exp()
    o = (e - 1) / (e + 1)
    o.backward()
    assert rounded({**values, "o": o}) == GRADS
    assert o.expression().text.endswith("t1 = exp(2*n); (t1 - 1)/(t1 + 1)")


def test_a_drawing_of_one_s_own() -> None:
    """The lesson draws with ``_prev``, ``_op``, ``label``, ``data`` and ``grad`` alone."""
    from graphviz import Digraph

    values = neuron()
    values["o"].backward()
    nodes, edges = set(), set()
    todo = [values["o"]]
    while todo:
        value = todo.pop()
        nodes.add(value)
        for child in value._prev:
            edges.add((child, value))
            todo.append(child)
    dot = Digraph(format="svg", graph_attr={"rankdir": "LR"})
    for n in nodes:
        uid = str(id(n))
        dot.node(uid, f"{{ {n.label} | data {n.data:.4f} | grad {n.grad:.4f} }}", shape="record")
        if n._op:
            dot.node(uid + n._op, n._op)
            dot.edge(uid + n._op, uid)
    for one, other in edges:
        dot.edge(str(id(one)), str(id(other)) + other._op)
    assert len(nodes) == 10 and len(edges) == 9
    assert "{ w1 | data -3.0000 | grad 1.0000 }" in dot.source
    assert sorted(n._op for n in nodes if n._op) == ["*", "*", "+", "+", "tanh"]


def test_a_result_may_be_nudged() -> None:
    """The lesson adds h to a result and builds what follows: the slope from there."""
    h = 0.0001

    def loss(nudge: float) -> float:
        a, b, c, f = Value(2.0), Value(-3.0), Value(10.0), Value(-2.0)
        e = a * b
        e.data += nudge
        return ((e + c) * f).data

    assert round((loss(h) - loss(0)) / h, 6) == -2


def test_tables_traces_and_paths() -> None:
    """A value is a formula like any other."""
    run = neuron()["o"].run()
    assert "o = tanh(n)" in run.table() and run.trace().count("visit") >= 10
    found = run.paths()
    assert {name: paths.count for name, paths in found.items()} == dict.fromkeys(run.inputs, 1)


def test_a_picture() -> None:
    o = neuron()["o"]
    picture = exprgrad.draw(o)
    assert str(picture) == picture.source == o.run().dot()
    assert exprgrad.draw(parse("a*b")).source == parse("a*b").dot()
    assert exprgrad.draw(o, digits=2).source == o.run().dot(digits=2)
    assert repr(picture).startswith("<Picture: ") and "label" not in repr(picture)
    assert picture._repr_mimebundle_()["text/plain"] == repr(picture)


def test_a_picture_in_a_file(tmp_path: Any) -> None:
    picture = exprgrad.draw(neuron()["o"])
    picture.save(tmp_path / "o.dot")
    assert (tmp_path / "o.dot").read_text("utf-8") == picture.source
    pytest.importorskip("pygraphviz", reason="pip install 'exprgrad[draw]'")
    assert picture.svg().lstrip().startswith("<") and picture._repr_svg_() == picture.svg()


def test_a_picture_as_micrograd_draws_it() -> None:
    """The lesson's numbers: its difference is a sum, its quotient a product with a power."""
    e = (2 * neuron()["n"]).exp()
    e.label = "e"
    o = (e - 1) / (e + 1)
    o.label = "o"
    dot = exprgrad.draw(o, digits=5, micrograd=True).source
    titles = re.findall(r"<B>([^<]*)</B>", dot)
    assert titles.count("e + −1") == titles.count("e + 1") == 1 and "(e + 1) ^ −1" in titles
    numbers = re.findall(r">(−?[0-9.]+)<", dot)
    assert {"4.8284", "0.14645", "−0.10355", "0.70711"} <= {*numbers}
    assert ">−1<" in dot and "e − 1" not in dot
    assert "e - 1" in o.dot().replace("−", "-")


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (lambda a, b: a - b, "a + b*-1"), (lambda a, b: a / b, "a*b^-1"), (lambda a, b: -a, "a*-1"),
        (lambda a, b: a / 4, "a*0.25"), (lambda a, b: 2 - a, "2 + a*-1"), (lambda a, b: a * b, "a*b"),
        (lambda a, b: (a - 3).tanh(), "tanh(a + -3)"),
    ],
)  # fmt: skip
def test_what_micrograd_makes_of_it(made: Callable[[Value, Value], Value], text: str) -> None:
    values = values_reached(made(Value(3.0, label="a"), Value(2.0, label="b")))
    graph = of_micrograd(graph_of_values(values, {v: v.label for v in values if v.label}))
    assert program_text(graph) == text
    check(graph)


# Made by hand.


def by_hand(x: Value) -> Value:
    """The lesson's exercise: an operation of one's own, as a value and what goes back."""
    t = (math.exp(2 * x.data) - 1) / (math.exp(2 * x.data) + 1)
    out = Value(t, (x,), "tanh")

    def back() -> None:
        x.grad += (1 - t**2) * out.grad

    out._backward = back
    return out


def test_an_operation_of_one_s_own() -> None:
    a, b = Value(0.5, label="a"), Value(-2.0, label="b")
    out = by_hand(a * b + 0.25)
    out.label = "o"
    (out * 3).backward()
    ours = (a * b + 0.25).tanh()
    expected = ours.run()
    assert (out._op, {*out._prev}) == ("tanh", {*out.operands})
    assert math.isclose(out.data, ours.data) and out.grad == 3
    for value in (a, b):
        assert math.isclose(value.grad, 3 * expected.gradient[value.label], rel_tol=1e-14)
    assert out.expression().text == "o = tanh(a*b + 0.25)"
    a.data = 2.0
    (out * 3).backward()
    assert out.data != (a * b + 0.25).tanh().data  # it keeps its data
    with pytest.raises(TypeError, match="_backward is a function, not int"):
        out._backward = 3  # type: ignore[assignment]


def test_whole_classes_made_by_hand() -> None:
    """The notebook's operators, each a value made by hand, on a subclass."""

    class Mine(Value):
        __slots__ = ()

        def __add__(self, other: Any) -> Mine:
            out = Mine(self.data + other.data, (self, other), "+")

            def back() -> None:
                self.grad += out.grad
                other.grad += out.grad

            out._backward = back
            return out

        def __mul__(self, other: Any) -> Mine:
            out = Mine(self.data * other.data, (self, other), "*")

            def back() -> None:
                self.grad += other.data * out.grad
                other.grad += self.data * out.grad

            out._backward = back
            return out

    a, b, c, f = Mine(2.0, label="a"), Mine(-3.0, (), "", "b"), Mine(10.0), Mine(-2.0)
    e = a * b
    d = e + c
    loss = d * f
    loss.backward()
    assert [v.grad for v in (a, b, c, f, d, e)] == [6, -4, -2, 4, -2, -2]
    for made in (a - 1, 2 - a, a.tanh(), a.max(1, b), -a, 1 / a, abs(a)):
        assert type(made) is Mine
    square = a + a
    a.grad = 0
    square.backward()
    assert a.grad == 2


@pytest.mark.parametrize(
    ("count", "word", "text"),
    [
        (2, "+", "v1 + v2"), (1, "**2", "v1^2"), (2, "**", "v1^v2"), (1, "**-1", "v1^-1"),
        (1, "ReLU", "relu(v1)"), (1, "-", "-v1"), (2, "-", "v1 - v2"),
        (3, "max", "max(v1, v2, v3)"), (1, "exp", "exp(v1)"),
    ],
)  # fmt: skip
def test_the_formula_of_what_is_made_by_hand(count: int, word: str, text: str) -> None:
    made = Value(7.0, [Value(float(at)) for at in range(count)], word)
    assert made.expression().text == text and made._op == word
    made.backward()
    assert [operand.grad for operand in made.operands] == [0.0] * count


@pytest.mark.parametrize(
    ("count", "word"), [(1, "mystery"), (1, ""), (2, "tanh"), (0, "+"), (1, "max")]
)
def test_what_has_no_formula(count: int, word: str) -> None:
    made = Value(7.0, [Value(float(at)) for at in range(count)], word)
    with pytest.raises(
        exprgrad.RequestError, match=f"made by hand, '{re.escape(word)}' of {count}, has no"
    ):
        made.expression()


def test_it_is_written_as_a_number_is() -> None:
    a = Value(0.53125, label="a")
    assert f"{a:.3f}|{a:8.2e}|{a}" == "0.531|5.31e-01|Value(data=0.53125, grad=0.0)"
    assert (float(a), int(a * 5), round(a, 2), math.exp(a)) == (0.53125, 2, 0.53, math.exp(0.53125))
    assert a.name == "a"
    a.name = "weight"
    assert a.label == "weight"


def test_copies() -> None:
    a, b = Value(2.0, label="a"), Value(-3.0)
    out = a**3 + a.max(b, 1) * b
    out.backward()
    for twin in (copy.deepcopy(out), pickle.loads(pickle.dumps(out))):
        assert repr(twin) == repr(out) and twin.expression().text == out.expression().text
        leaf = next(v for v in ancestors(twin) if v.label == "a")
        assert leaf is not a and leaf.grad == a.grad
        leaf.grad = 0
        twin.backward()
        assert leaf.grad == a.grad
        leaf.data = 1.0
        twin.backward()
        assert twin.data == -2


def ancestors(value: Value) -> Iterator[Value]:
    yield value
    for operand in value.operands:
        yield from ancestors(operand)


# Data and grads.


def test_what_is_shown() -> None:
    a = Value(2, label="a")
    assert repr(a) == "Value(data=2.0, grad=0.0)"
    assert (a.data, a.grad, a.label, a._op, a._prev) == (2.0, 0.0, "a", "", set())
    b = -(a**2) % 3
    assert b._op == "%" and {child._op for child in b._prev} == {"-", ""}
    assert (a**2)._op == "**" and a.relu()._op == "relu" and (a < 3) is True


def test_backward_twice_adds_the_gradient_once_more() -> None:
    a = Value(3.0)
    b = a * a
    c = b + 1
    for times in (1, 2, 3):
        c.backward()
        assert (a.grad, b.grad, c.grad) == (6.0 * times, 1.0, 1.0)
    a.grad = 0
    c.backward()
    assert a.grad == 6
    (b * 2).backward()
    assert (a.grad, b.grad) == (18, 2)
    a.backward()
    assert a.grad == 19


def test_backward_takes_the_data_of_now() -> None:
    p = Value(3.0)
    loss = (p - 1) ** 2
    seen = []
    for _ in range(4):
        p.grad = 0.0
        loss.backward()
        seen.append((p.data, loss.data, p.grad))
        p.data += -0.25 * p.grad
    assert seen == [(3, 4, 4), (2, 1, 2), (1.5, 0.25, 1), (1.25, 0.0625, 0.5)]


def test_a_result_that_was_set_stays() -> None:
    a = Value(2.0)
    e = a * 3
    e.data = 10
    out = e * e
    out.backward()
    assert (e.data, out.data, e.grad, a.grad) == (10, 100, 20, 60)


def test_a_number_is_a_constant() -> None:
    x = Value(-2.0)
    cube = x**3
    cube.backward()
    assert x.grad == 12
    assert [child.grad for child in cube._prev if child is not x] == [0]
    assert cube.run().nodes[1].op == "const"


def test_zeros_keep_their_signs() -> None:
    for zero in (0.0, -0.0, 0.0):
        x = Value(2.0)
        (x / zero).backward()
        assert math.copysign(1, x.grad) == math.copysign(1, zero) and math.isinf(x.grad)


def test_branches_not_taken_pass_nothing() -> None:
    x = Value(0.0)
    y = (Value(-1.0)).where(x, x.log())
    y.backward()
    assert (y.data, x.grad) == (0, 1)
    y.grad, x.grad = 1.0, 0.0
    y._backward()
    assert x.grad == 1


def test_depth_is_no_limit() -> None:
    a = Value(0.5, label="a")
    x = a
    for _ in range(6_000):
        x = x + a
    x.backward()
    assert (x.data, a.grad) == (3_000.5, 6_001)
    run = x.run()
    assert len(run.graph) == 6_001 and run.gradient == {"a": 6_001}
    del x, run
    gc.collect()


@together([op for op in OPS if not op.infix])
def test_every_function_is_a_method(op: Any) -> None:
    count = 3 if op.variadic else len(op.names)
    for args in points(Random(f"{op.name} method"), count, 20):
        values = [Value(x) for x in args]
        made = -values[0] if op.prefix else getattr(values[0], op.name)(*values[1:])
        made.backward()
        names = [f"v{place}" for place in range(1, count + 1)]
        text = f"-{names[0]}" if op.prefix else f"{op.name}({', '.join(names)})"
        run = parse(text).gradient(dict(zip(names, args, strict=True)))
        assert repr(made.data) == repr(run.value)
        found = [value.grad + 0.0 for value in values]
        assert str(found) == str([run.grad(run.graph.inputs[n]) + 0.0 for n in names])
        assert made.expression().text == text


def test_methods_are_told_about() -> None:
    for name, member in vars(Value).items():
        if inspect.isfunction(member) and not name.startswith("__"):
            assert member.__doc__, name
    assert vars(Value)["tanh"].__doc__ == "The hyperbolic tangent."
    own = {name for name in dir(Value(1.0)) if not name.startswith("_")} - set(BY_NAME)
    assert own == {
        "backward", "data", "dot", "explore", "expression", "grad", "held", "kind", "label", "name",
        "operands", "run",
    }  # fmt: skip


def test_python_s_own_functions() -> None:
    a, b = Value(-2.5), Value(4.0)
    assert abs(a).data == 2.5 and (+a) is a and (2**b).data == 16 and (7 % b).data == 3
    assert max(a, b) is b and sorted([b, a])[0] is a and sum([b], a).data == 1.5
    assert a <= -2.5 and b >= a and not a > b and b > 3 and a in {a} and a != Value(-2.5)
    numpy = pytest.importorskip("numpy")
    assert (numpy.float64(2) * b).data == 8 and (numpy.int64(2) - b).data == -2
    assert Value(numpy.float32(0.5)).data == 0.5


@pytest.mark.parametrize(
    ("wrong", "error", "words"),
    [
        (lambda v: v + "x", TypeError, "unsupported operand"),
        (lambda v: v < "x", TypeError, "not supported"),
        (lambda v: [] * v, TypeError, "multiply sequence"),
        (lambda v: v.tanh(1), TypeError, "tanh takes 1 operand"),
        (lambda v: v.max(), TypeError, "max takes two or more operands"),
        (lambda v: v.hypot("x"), TypeError, "hypot takes numbers and values, not str"),
        (lambda v: v.softmax(), AttributeError, "softmax"),
        (lambda v: Value([1, 2]), InputError, "a Value is one number, not list"),
        (lambda v: Value(None), InputError, "not a number"),
        (lambda v: setattr(v, "data", "x"), InputError, "the value of 'v'"),
        (lambda v: setattr(v, "grad", None), InputError, "not a number"),
        (lambda v: setattr(v, "gradient", 1), AttributeError, "gradient"),
    ],
)
def test_what_is_wrong_is_said(
    wrong: Callable[[Value], Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        wrong(Value(2.0, label="v"))


# Names.


def test_labels_become_names() -> None:
    a, b = Value(1.0, label="lambda"), Value(2.0, label="pi")
    c, d = Value(3.0, label="t1"), Value(4.0, label="a; evil = 1")
    e, f = Value(5.0, label="lambda"), Value(6.0, label="e\u0301")  # in NFC one letter
    total = a * b + c * d + e * f
    total.label = "lambda"
    shared = total.exp()
    out = shared * shared + (a + 1) ** 2
    out.label = "inf"
    assert out.expression().text == ("t2 = exp(lambda*v1 + t1*v2 + v3*é); t2*t2 + (lambda + 1)^2")
    assert out.run().inputs == {"lambda": 1, "v1": 2, "t1": 3, "v2": 4, "v3": 5, "é": 6}
    assert Value(2.0, label="x").expression().text == "x"
    assert Value(2.0).run().gradient == {"v1": 1}
    named = Value(2.0, label="x") * 2
    named.label = "y"
    assert named.expression().text == "y = x*2"


def test_the_formula_is_the_graph() -> None:
    """Node by node: written out and read again, in the same order."""
    x, y = Value(0.5, label="x"), Value(3.0, label="y")
    u = x * y + y.sin()
    u.label = "u"
    out = (u - 2) * u.max(x, 1) / u
    graph = out.expression().graph
    assert graph.kinds == [
        INPUT, INPUT, "mul", "sin", "add", CONST, "sub", CONST, "max", "mul", "div",
    ]  # fmt: skip
    assert out.run().value == out.data


def test_it_loads_on_first_use() -> None:
    code = (
        "import sys, exprgrad\n"
        "assert not [n for n in sys.modules if n.startswith('exprgrad.') and n != 'exprgrad.errors' "
        "and n != 'exprgrad.source'], sorted(sys.modules)\n"
        "v = exprgrad.Value(2.0)\n"
        "(v*v).backward()\n"
        "assert v.grad == 4 and 'numpy' not in sys.modules and 'exprgrad.draw' not in sys.modules\n"
        "assert 'digraph' in str(exprgrad.draw(v)) and 'digraph' in str(exprgrad.draw(v*v))\n"
        "import exprgrad.show.text.table\n"
        "assert exprgrad.show.text.table.Table and callable(exprgrad.draw)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# Beside others.


METHODS = tuple(op for op in FREQUENT if op.name not in COMPARISONS)
"""What a value has as an operator or a method; the operators more often."""


@settings(max_examples=200)
@given(seeds, st.integers(1, 12))
def test_the_gradient_is_the_sweep_s(random: Random, size: int) -> None:
    """Bit for bit, of any formula, at its kinks and poles too; also where data was set in between."""
    text = tree(random, ("x", "y", "z", "x", "y", "2", "-0.5"), METHODS, size)
    graph = parse(text).graph
    assume(all(any(g in varies(graph) for g in o) for o in graph.operands if o))
    at = {name: random.choice(SPECIAL) for name in graph.inputs}
    leaves = {name: Value(random.uniform(-2, 2), label=name) for name in at}
    out = walked(graph, leaves)
    assume(leaves and isinstance(out, Value))
    for name, x in at.items():
        leaves[name].data = x
    out.backward()
    run = parse(text).gradient(at)
    assert repr(out.data + 0.0) == repr(run.value + 0.0)
    for name, leaf in leaves.items():
        assert repr(leaf.grad) == repr(run.swept[name] + 0.0)


def exact_program(random: Random, size: int) -> Iterator[tuple[str, int, Any]]:
    """Steps whose every number, forward and back, is a whole number or half of one: no rounding at all."""
    for step in range(size):
        kind = random.choice(
            ("add", "sub", "mul", "mul", "neg", "relu", "square", "half", "number")
        )
        second = (
            random.randrange(step + 2) if kind in ("add", "sub", "mul") else random.randint(-3, 3)
        )
        yield kind, random.randrange(step + 2), second


def played(kind: str, x: Any, other: Any) -> Any:
    if kind in OPERATORS:
        return OPERATORS[kind](x, other)
    if kind == "neg":
        return -x
    if kind == "relu":
        return x.relu()
    if kind == "square":
        return x**2
    return x / 2 if kind == "half" else other * x + 1 - x * other


@settings(max_examples=60)
@given(st.integers(0, 2**32), st.integers(1, 12))
def test_micrograd_finds_the_same(seed: int, size: int) -> None:
    """Bit for bit, where nothing is rounded; every node's grad, too."""
    theirs_value = engine()
    program = list(exact_program(Random(seed), size))
    ours, theirs = [Value(3.0), Value(-2.0)], [theirs_value(3.0), theirs_value(-2.0)]
    for kind, first, second in program:
        ours.append(played(kind, ours[first], ours[second] if kind in OPERATORS else second))
        assume(abs(ours[-1].data) < 2**20)
        theirs.append(played(kind, theirs[first], theirs[second] if kind in OPERATORS else second))
    ours[-1].backward()
    theirs[-1].backward()
    assume(all(abs(value.grad) < 2**20 for value in ours))
    assert [value.data for value in ours] == [value.data for value in theirs]
    needed = {*reach(theirs[-1])}
    for one, other in zip(ours, theirs, strict=True):
        if other in needed:
            assert one.grad == other.grad, program


def reach(root: Any) -> Iterator[Any]:
    todo, seen = [root], {root}
    while todo:
        value = todo.pop()
        yield value
        fresh = value._prev - seen
        seen |= fresh
        todo += fresh


def test_what_micrograd_does_otherwise() -> None:
    """The table in ``docs/how-to/from-micrograd.md``: what is said of micrograd is so."""
    theirs = engine()
    a = theirs(3.0)
    c = a * a + 1
    c.backward()
    c.backward()
    assert a.grad == 6 + 12
    x = y = theirs(0.5)
    for _ in range(2_000):
        x = x + y
    with pytest.raises(RecursionError):
        x.backward()
    two = a * 2
    two.backward()
    assert sorted(child.grad for child in two._prev if child is not a) == [3]
    with pytest.raises(AssertionError):
        _ = a**a
    with pytest.raises(TypeError):
        _ = 2**a
    with pytest.raises(OverflowError):
        _ = theirs(1e200) ** 3
    assert (Value(1e200) ** 3).data == math.inf


def test_micrograd_s_network_learns(monkeypatch: pytest.MonkeyPatch) -> None:
    """``micrograd.nn`` as it is, on this ``Value`` and on its own: the same grads at every step.

    Weights and data are multiples of 1/8, so that nothing is rounded.
    """
    nn: ModuleType = pytest.importorskip("micrograd.nn", reason="pip install micrograd")
    data = [([1.0, -2.0, 0.5], 1.0), ([3.0, 0.5, -1.0], -1.0), ([0.5, 1.0, 1.0], 1.0)]

    def learn(kind: Any) -> list[list[float]]:
        monkeypatch.setattr(nn, "Value", kind)
        random = Random(1)
        model = nn.MLP(3, [4, 4, 1])
        for p in model.parameters():
            p.data = random.randint(-8, 8) / 8
        seen = []
        for _ in range(5):
            scores = [model([kind(x) for x in row]) for row, _ in data]
            loss = sum((score - y) ** 2 for score, (_, y) in zip(scores, data, strict=True))
            model.zero_grad()
            loss.backward()
            seen.append([loss.data, *(p.grad for p in model.parameters())])
            for p in model.parameters():
                p.data += -0.0625 * p.grad
                p.data = math.floor(8 * p.data) / 8
        return seen

    ours, theirs = learn(Value), learn(engine())
    assert ours == theirs
    assert len({losses[0] for losses in ours}) > 1


def walked(graph: Graph, leaves: dict[str, Any]) -> Any:
    """A graph's output, made again of some library's numbers by operators and methods."""
    made: list[Any] = []
    for node, kind in enumerate(graph.kinds):
        operands = [made[operand] for operand in graph.operands[node]]
        if kind == INPUT:
            made.append(leaves[str(graph.payloads[node])])
        elif kind == CONST:
            made.append(graph.payloads[node])
        elif kind in OPERATORS:
            made.append(OPERATORS[kind](*operands))
        else:
            if kind != "neg" and isinstance(operands[0], float):
                assume(False)  # which only properties may call
            made.append(
                -operands[0] if kind == "neg" else getattr(operands[0], kind)(*operands[1:])
            )
    return made[graph.output]


@settings(max_examples=60)
@given(smooth("add sub mul div sin cos exp atan sqrt log"), st.tuples(everyday, everyday, everyday))
def test_the_truth_is_within_the_rounding_bound(
    text: str, point: tuple[float, float, float]
) -> None:
    """Against mpmath, of any smooth formula."""
    graph = parse(text).graph
    assume(all(any(g in varies(graph) for g in o) for o in graph.operands if o))
    at = {name: x for name, x in zip("xyz", point, strict=True) if name in graph.inputs}
    leaves = {name: Value(x, label=name) for name, x in at.items()}
    found = bounds(graph, at)
    assume(leaves and all(map(mp.isfinite, [*found.values, *found.gradient.values()])))
    small = [(abs(x), e) for x, e in zip(found.values, found.errors, strict=True)]
    assume(all(e <= x * 2.0**-30 and (x == 0 or 2.0**-500 < x < 2.0**500) for x, e in small))
    out = walked(graph, leaves)
    out.backward()
    assert abs(out.data - found.values[graph.output]) <= found.errors[graph.output]
    for name, leaf in leaves.items():
        assert abs(leaf.grad - found.gradient[name]) <= found.gradient_errors[name], name


def varies(graph: Graph) -> set[int]:
    """The nodes that depend on an input: where all operands are numbers, Python works them out itself."""
    from exprgrad.graph.graph import dependent_flags

    return {node for node, flag in enumerate(dependent_flags(graph, graph.inputs.values())) if flag}


def test_pytorch_finds_the_same() -> None:
    """A network of tanh, twice as deep as the lesson's: within twice the derived bound."""
    require("torch")
    import torch

    random = Random(3)
    text = "tanh(tanh(x*a + y*b + c)*d + tanh(x*e - y*a)*f + b)*exp(-d*f) / (1 + c*c)"
    at = {name: random.uniform(-1, 1) for name in parse(text).inputs}
    graph = parse(text).graph
    leaves = {name: Value(x) for name, x in at.items()}
    tensors = {n: torch.tensor(x, dtype=torch.float64, requires_grad=True) for n, x in at.items()}
    walked(graph, leaves).backward()
    walked(graph, tensors).backward()
    errors = bounds(graph, at).gradient_errors
    for name, leaf in leaves.items():
        theirs = float(tensors[name].grad)
        assert abs(leaf.grad - theirs) <= 2 * float(errors[name])


def test_a_label_is_a_text() -> None:
    value = Value(2.0, label="x")
    with pytest.raises(TypeError, match="a label is a string, not int"):
        Value(2.0, label=3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="not NoneType"):
        value.label = None  # type: ignore[assignment]
    assert value.label == "x"


def test_what_can_be_drawn() -> None:
    """A text is a formula; what is no formula is refused in words."""
    assert str(exprgrad.draw("a*b")) == parse("a*b").dot()
    with pytest.raises(exprgrad.LanguageError):
        exprgrad.draw("a*")
    with pytest.raises(TypeError, match="a formula, a run or a Value, not int"):
        exprgrad.draw(3)  # type: ignore[arg-type]
