"""The two sweeps over numbers: forward for every node's data, in reverse for every node's grad.

Both are plain loops over the graph's arrays in index order, which is topological; neither recurses.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from exprgrad.derive.rules import slots, template
from exprgrad.graph.graph import INPUT, Graph, dependencies, dependents
from exprgrad.graph.ops import BY_NAME, Op
from exprgrad.run.primitives import functions
from exprgrad.run.templates import Template, compile_template

__all__ = ["Adjoints", "Locals", "forward", "passes", "reverse", "sides"]

Locals = tuple[float | None, ...]
"""A node's local derivative for each operand; None for an operand that is not active."""


def forward(graph: Graph, inputs: Mapping[str, float]) -> list[float]:
    """Every node's data, given every input's."""
    values: list[float] = []
    push = values.append
    for kind, operands, payload in zip(graph.kinds, graph.operands, graph.payloads, strict=True):
        if len(operands) == 2:
            push(functions[kind](values[operands[0]], values[operands[1]]))
        elif operands:
            push(functions[kind](*[values[operand] for operand in operands]))
        elif kind == INPUT:
            push(inputs[payload])  # type: ignore[index]
        else:
            push(payload)  # type: ignore[arg-type]
    return values


class Adjoints(NamedTuple):
    """What a reverse sweep finds.

    ``order``   the nodes that the output depends on, in the order of the visits
    ``grads``   by node; None for a node that no gradient reached
    ``locals``  by node: the local derivatives; None for a node that passed nothing on
    ``active``  by node: whether it depends on a differentiated input
    """

    order: list[int]
    grads: list[float | None]
    locals: list[Locals | None]
    active: bytearray


class Rules(NamedTuple):
    """A row's local derivatives, ready to be evaluated on the operands' values and the node's own.

    ``one``      a function for each operand; none where the rules need companions
    ``all``      all at once: a tuple where they are constants, else a function
    ``careful``  whether the row needs companions, or may pass nothing to an active operand
    """

    one: tuple[Template, ...]
    all: Locals | Callable[[Sequence[float]], Locals]
    careful: bool


def make_rules(op: Op) -> Rules:
    """The rules of one row."""
    texts = [op.partial(position) for position in range(len(op.names))]
    names = (*op.names, "out")
    if not {name for text in texts for name in template(text).inputs} <= {*names}:
        return Rules((), (), careful=True)
    one = tuple(compile_template(template(text), names) for text in texts)
    careful = bool(op.branches) or "0" in texts
    if not any(template(text).inputs for text in texts):
        return Rules(one, tuple(rule(()) for rule in one), careful)
    if len(texts) > 1 and all(text in names for text in texts):
        return Rules(one, itemgetter(*map(names.index, texts)), careful)
    if len(one) == 2:
        first, second = one
        return Rules(one, lambda arguments: (first(arguments), second(arguments)), careful)
    return Rules(one, lambda arguments: tuple([rule(arguments) for rule in one]), careful)


class RuleTable(dict[str, Rules]):
    """Row name → rules, made on first use."""

    def __missing__(self, kind: str) -> Rules:
        self[kind] = made = make_rules(BY_NAME[kind])
        return made


rules = RuleTable()


def passes(op: Op, position: int, local: float) -> bool:
    """Whether an edge passes its user's grad on at all.

    A rule that is the constant 0, and a branch that a ``where`` did not take, pass nothing, not even
    0 times infinity.
    """
    return op.partial(position) != "0" and (local != 0 or position not in op.branches)


def reverse(graph: Graph, values: Sequence[float], wrt: Collection[int]) -> Adjoints:
    """Visit the nodes in descending order and pass each node's grad on to its operands.

    ``wrt`` are the inputs to differentiate; no local derivative is computed for an operand that
    depends on none of them.  The plain case, a binary operation whose operands are both active, is
    written out: it is most of the work.
    """
    active = dependents(graph, wrt)
    inputs = graph.inputs.values()
    varying = active if len(wrt) == len(inputs) else dependents(graph, inputs)
    grads: list[float | None] = [None] * len(graph)
    locals_: list[Locals | None] = [None] * len(graph)
    grads[graph.output] = 1.0
    kinds, all_operands = graph.kinds, graph.operands
    plain = all(active)
    for node in range(graph.output, -1, -1):
        grad = grads[node]
        operands = all_operands[node]
        if grad is None or not operands or not active[node]:
            continue
        row = rules[kinds[node]]
        if plain and len(operands) == 2 and not row.careful:
            first, second = operands
            local: Any = row.all
            if local.__class__ is not tuple:
                local = local((values[first], values[second], values[node]))
            left, right = local
            before = grads[first]
            grads[first] = grad * left if before is None else before + grad * left
            before = grads[second]
            grads[second] = grad * right if before is None else before + grad * right
        else:
            local = locals_of(graph, node, values, active, varying)
            op = BY_NAME[kinds[node]]
            for position, operand in enumerate(operands):
                factor = local[position]
                if factor is not None and passes(op, position, factor):
                    before = grads[operand]
                    grads[operand] = grad * factor if before is None else before + grad * factor
        locals_[node] = local
    needed = dependencies(graph, graph.output)
    order = [node for node in range(graph.output, -1, -1) if needed[node]]
    return Adjoints(order, grads, locals_, active)


def locals_of(
    graph: Graph, node: int, values: Sequence[float], active: bytearray, varying: bytearray
) -> Locals:
    """A node's local derivatives, for its active operands only."""
    op = BY_NAME[graph.kinds[node]]
    operands = graph.operands[node]
    arguments = [*[values[operand] for operand in operands], values[node]]
    one = rules[op.name].one
    if one:
        return tuple([one[p](arguments) if active[o] else None for p, o in enumerate(operands)])
    varies = [float(varying[operand]) for operand in operands]
    parts = zip(op.partials * len(operands), sides(op, arguments, varies), operands, strict=False)
    names = slots(op)
    return tuple(
        [compile_template(template(t), names)(side) if active[o] else None for t, side, o in parts]
    )


def sides(op: Op, arguments: list[float], varies: list[float]) -> list[list[float]]:
    """For each operand, the values that a rule with companions sees, as ``derive.rules.slots`` says."""
    if not op.variadic:
        return [[*arguments, *varies]] * len(varies)
    tie = compile_template(template(op.ties), slots(op))
    *operands, out = arguments
    found = [[x, out, v, 0.0] for x, v in zip(operands, varies, strict=True)]
    ties = sum(map(tie, found))
    return [[*side[:3], ties] for side in found]
