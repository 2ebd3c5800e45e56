"""The sweeps against a plain textbook sweep, against mpmath within a derived bound, and PyTorch."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import exprgrad
from exprgrad.derive.rules import rule_slots, template
from exprgrad.graph.graph import CONST, INPUT, Graph
from exprgrad.graph.ops import BY_NAME
from exprgrad.language.read.parse import parse_text
from exprgrad.run.numbers.sweeps import (
    Adjoints,
    compile_template,
    forward_numbers,
    functions,
    play_tape,
    record_tape,
    reverse_sweep,
)
from oracles import evaluate, gradient, holds, mp, mpf
from rounding import Bounds, bounds
from strategies import everyday, expressions, smooth

steady = settings(derandomize=True)
some_doubles = st.sampled_from((0.0, 1.0, -1.0, 2.0, 0.5, -2.5, 1e-300, 1e200, 3.0)) | everyday


def sweep(
    text: str, inputs: Mapping[str, float], wrt: Collection[str] | None = None
) -> tuple[Graph, Adjoints]:
    graph = parse_text(text)
    chosen = graph.inputs if wrt is None else wrt
    values = forward_numbers(graph, inputs)
    return graph, reverse_sweep(graph, values, [graph.inputs[name] for name in chosen])


def grads(
    text: str, inputs: Mapping[str, float], wrt: Collection[str] | None = None
) -> dict[str, float]:
    graph, adjoints = sweep(text, inputs, wrt)
    return {name: adjoints.grads[graph.inputs[name]] or 0.0 for name in wrt or graph.inputs}


class Value:
    """The object of the lessons: data, grad, and what it was made of."""

    def __init__(self, data: float, kind: str, operands: list[Value], wanted: bool) -> None:
        self.data, self.kind, self.operands = data, kind, operands
        self.grad: float | None = None
        self.wanted: bool = wanted or any(operand.wanted for operand in operands)
        self.varies: bool = kind == INPUT or any(operand.varies for operand in operands)

    def add(self, amount: float) -> None:
        """Accumulate."""
        self.grad = amount if self.grad is None else self.grad + amount

    def local(self, position: int) -> float:
        """The local derivative for an operand."""
        op = BY_NAME[self.kind]
        named = dict(zip(op.names, [operand.data for operand in self.operands], strict=False))
        for name, operand in zip(op.names, self.operands, strict=False):
            named[f"varies_{name}"] = float(operand.varies)
        if op.variadic:
            side = self.operands[position]
            tied = [operand for operand in self.operands if operand.data == self.data]
            ties = sum(1.0 if operand.varies else math.inf for operand in tied)
            if not op.special:  # not a choice among its operands: the row says what is added up
                tie = compile_template(template(op.ties), rule_slots(op))
                ties = sum(tie([operand.data, self.data, 1.0, 0.0]) for operand in self.operands)
            named = {"x": side.data, "varies": float(side.varies), "ties": ties}
        named["out"] = self.data
        rule = compile_template(template(op.partial(position)), rule_slots(op))
        return rule([named.get(name, math.nan) for name in rule_slots(op)])

    def passes_on(self) -> None:
        """Give each operand its contribution."""
        if not self.operands:
            return
        op = BY_NAME[self.kind]
        for position, operand in enumerate(self.operands):
            if self.grad is None or not operand.wanted or op.partial(position) == "0":
                continue
            local = self.local(position)
            if local == 0 and position in op.branches:
                continue
            operand.add(self.grad * local)


def textbook(graph: Graph, inputs: Mapping[str, float], wrt: Collection[str]) -> list[Value]:
    """Build the values, then visit them from the last to the first."""
    made: list[Value] = []
    for node, kind in enumerate(graph.kinds):
        payload = graph.payloads[node]
        operands = [made[operand] for operand in graph.operands[node]]
        if kind == INPUT:
            made.append(Value(inputs[str(payload)], kind, [], payload in wrt))
        elif kind == CONST:
            assert isinstance(payload, float)
            made.append(Value(payload, kind, [], False))
        else:
            data = functions[kind](*[operand.data for operand in operands])
            made.append(Value(data, kind, operands, False))
    made[graph.output].grad = 1.0
    for value in reversed(made[: graph.output + 1]):
        value.passes_on()
    return made


def identical(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return one == other or (math.isnan(one) and math.isnan(other))


@settings(steady, max_examples=120)
@given(
    expressions(("x", "y", "z", "x", "y", "0", "2", "0.5", "1")),
    st.tuples(some_doubles, some_doubles, some_doubles),
    st.sets(st.sampled_from("xyz"), min_size=1),
)
def test_the_sweep_is_the_textbook_sweep_bit_for_bit(
    text: str, point: tuple[float, float, float], chosen: set[str]
) -> None:
    graph = parse_text(text)
    inputs = dict(zip("xyz", point, strict=True))
    wrt = sorted(chosen & graph.inputs.keys())
    values = forward_numbers(graph, inputs)
    found = reverse_sweep(graph, values, [graph.inputs[name] for name in wrt])
    expected = textbook(graph, inputs, wrt)
    assert all(identical(v, e.data) for v, e in zip(values, expected, strict=True))
    assert all(identical(g, e.grad) for g, e in zip(found.grads, expected, strict=True)), text


def ordinary(graph: Graph, inputs: Mapping[str, float]) -> bool:
    """Whether every node's data is neither huge nor tiny: mpmath would carry exp(exp(exp(x))) exactly."""
    return all(v == 0 or 1e-60 < abs(v) < 1e60 for v in forward_numbers(graph, inputs))


def well_behaved(graph: Graph, found: Bounds) -> bool:
    """Whether a first-order bound means something: finite, well conditioned, and away from kinks."""
    for true, error in zip(found.values, found.errors, strict=True):
        if not mp.isfinite(true) or error > mp.ldexp(abs(true), -24):
            return False
    for node, operands in enumerate(graph.operands):
        if not operands or not BY_NAME[graph.kinds[node]].special:
            continue
        op = BY_NAME[graph.kinds[node]]
        exact = [found.values[operand] for operand in operands]
        companions = [mpf(1)] * len(exact)
        if any(
            holds(special.where, rule_slots(op), [*exact, found.values[node], *companions])
            for special in op.special
        ):
            return False
    return all(mp.isfinite(error) for error in found.gradient_errors.values())


@settings(steady, max_examples=120)
@given(smooth(), st.tuples(everyday, everyday, everyday))
def test_values_and_gradient_are_within_the_rounding_bound(
    text: str, point: tuple[float, float, float]
) -> None:
    graph = parse_text(text)
    inputs = {name: x for name, x in zip("xyz", point, strict=True) if name in graph.inputs}
    assume(graph.inputs and ordinary(graph, inputs))
    found = bounds(graph, inputs)
    assume(well_behaved(graph, found))
    values = forward_numbers(graph, inputs)
    with mp.workprec(800):
        true_gradient = gradient(graph, inputs)
        for value, true, error in zip(values, found.values, found.errors, strict=True):
            assert abs(value - true) <= error, text
        for name, true in true_gradient.items():
            truncated = mp.ldexp(abs(true) + 1, -200)
            assert abs(found.gradient[name] - true) <= truncated, text
            wrong = abs(grads(text, inputs)[name] - true)
            assert wrong <= found.gradient_errors[name] + truncated, (text, name)


@settings(steady, max_examples=60)
@given(
    smooth("add sub mul div sin cos exp atan sqrt log hypot"),
    st.tuples(everyday, everyday, everyday),
)
def test_pytorch_finds_the_same_gradient(text: str, point: tuple[float, float, float]) -> None:
    torch = pytest.importorskip("torch")
    graph = parse_text(text)
    inputs = {name: x for name, x in zip("xyz", point, strict=True) if name in graph.inputs}
    assume(graph.inputs and ordinary(graph, inputs))
    found = bounds(graph, inputs)
    assume(well_behaved(graph, found))
    spelled = {"add": "add", "sub": "sub", "mul": "mul", "div": "div"}
    tensors = {
        n: torch.tensor(x, dtype=torch.float64, requires_grad=True) for n, x in inputs.items()
    }
    made = []
    for node, kind in enumerate(graph.kinds):
        payload = graph.payloads[node]
        if kind == INPUT:
            made.append(tensors[str(payload)])
        elif kind == CONST:
            made.append(torch.tensor(payload, dtype=torch.float64))
        else:
            made.append(
                getattr(torch, spelled.get(kind, kind))(*[made[o] for o in graph.operands[node]])
            )
    made[graph.output].backward()
    ours = grads(text, inputs)
    for name, tensor in tensors.items():
        theirs = 0.0 if tensor.grad is None else float(tensor.grad)
        assert abs(ours[name] - theirs) <= 2 * float(found.gradient_errors[name]), (text, name)


@pytest.mark.parametrize(
    ("text", "inputs", "expected"),
    [
        ("where(x > 0, log(x), 0)", {"x": -1}, {"x": 0}),
        ("where(x > 0, sqrt(x), 0*x)", {"x": 0}, {"x": 0}),
        ("where(x > 0, log(x), x^2)", {"x": -3}, {"x": -6}),
        ("where(x > 0, 1/x, x)", {"x": 0}, {"x": 1}),
        ("x^3", {"x": -2}, {"x": 12}),
        ("2^x", {"x": 0}, {"x": math.log(2)}),
        ("(0-2)^2*x", {"x": 3}, {"x": 4}),
        ("x*x", {"x": 3}, {"x": 6}),
        ("d = x*y; d*d + d", {"x": 2, "y": 3}, {"x": 39, "y": 26}),
        ("u = x*5; x + 1", {"x": 1}, {"x": 1}),
        ("x", {"x": 7}, {"x": 1}),
        ("x - x", {"x": 7}, {"x": 0}),
        ("t = x*y; x", {"x": 1, "y": 2}, {"x": 1, "y": 0}),
    ],
)
def test_small_cases(text: str, inputs: dict[str, float], expected: dict[str, float]) -> None:
    assert grads(text, inputs) == expected


def test_inactive_operands_are_never_evaluated() -> None:
    graph, adjoints = sweep("x^3", {"x": -2})
    assert adjoints.locals[graph.output] == (12.0, None)
    graph, adjoints = sweep("x*log(y)", {"x": 2, "y": 0}, ["x"])
    assert adjoints.locals[graph.output] == (-math.inf, None)
    assert adjoints.grads[graph.inputs["y"]] is None


def test_a_subset_of_the_inputs_has_the_same_grads() -> None:
    text, inputs = "x*y + sin(x*z) + z/y", {"x": 1.5, "y": -2.0, "z": 0.5}
    whole = grads(text, inputs)
    for name in inputs:
        assert grads(text, inputs, [name]) == {name: whole[name]}


def test_constants_and_unused_statements_get_no_grad() -> None:
    graph, adjoints = sweep("u = sin(x); 2*x", {"x": 1})
    assert adjoints.grads[graph.bindings[0].node] is None
    assert (
        adjoints.grads[graph.kinds.index(CONST)] is None
        or not adjoints.active[graph.kinds.index(CONST)]
    )
    order = exprgrad.parse("u = sin(x); 2*x").gradient(x=1).order
    assert graph.bindings[0].node not in order
    assert order == sorted(order, reverse=True)


def test_the_order_descends_from_the_output() -> None:
    run = exprgrad.parse("a = x*y; b = a + x; b*2").gradient(x=1, y=2)
    assert run.order == [5, 4, 3, 2, 1, 0]
    assert run.order[0] == run.graph.output


def test_a_deep_chain_does_not_recurse() -> None:
    depth = 10_000
    text = "sin(" * depth + "x" + ")" * depth
    graph, adjoints = sweep(text, {"x": 0.5})
    assert len(graph) == depth + 1
    data = forward_numbers(graph, {"x": 0.5})
    expected = 1.0
    for value in reversed(data[:-1]):
        expected *= math.cos(value)
    assert adjoints.grads[0] == expected


def test_a_long_sum_accumulates() -> None:
    graph, adjoints = sweep(" + ".join(["x"] * 10_000), {"x": 1})
    assert (adjoints.grads[0], len(graph)) == (10_000, 10_000)


def test_evaluation_in_mpmath_reads_the_same_graph() -> None:
    graph = parse_text("t = x*y; t^2 + where(x > 0, t, 0)")
    assert [float(v) for v in evaluate(graph, {"x": 2, "y": 3})] == forward_numbers(
        graph, {"x": 2, "y": 3}
    )


def test_what_a_sum_passes_on_is_not_worked_out_again() -> None:
    """A grad that is another's takes no edge of the sweep; every node has its own all the same."""
    graph = parse_text("t = a*b; t + c + (d + a)")
    tape = record_tape(graph, graph.inputs.values())
    names = {node: name for name, node in graph.inputs.items()}
    passed = {names.get(node, graph.kinds[node]) for node in tape.passed[0]}
    assert passed == {"mul", "c", "d", "add"}
    assert set(tape.passed[1]) == {graph.output}
    edges = [*zip(tape.visits.firsts, tape.visits.first_sources, strict=True)]
    edges += zip(tape.visits.seconds, tape.visits.second_sources, strict=True)
    assert sorted(names[node] for node, _ in edges if node in names) == ["a", "a", "b"]
    found = play_tape(tape, forward_numbers(graph, {"a": 2.0, "b": 3.0, "c": 5.0, "d": 7.0}))
    assert found.grads[graph.inputs["a"]] == 4.0
    assert [found.grads[graph.inputs[name]] for name in "bcd"] == [2.0, 1.0, 1.0]
    assert found.locals[graph.output] == (1.0, 1.0)
