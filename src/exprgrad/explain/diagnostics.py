"""Diagnostics of a run: the first node to become nan or infinite, and every kink or jump met."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from exprgrad.derive.rules import slots, template
from exprgrad.graph.graph import CONST, INPUT, Graph, dependencies, dependents
from exprgrad.graph.ops import BY_NAME, Op
from exprgrad.language.infix import ATOM, LIMIT, label, number, operation_text, rule_text
from exprgrad.run.result import Run
from exprgrad.run.sweeps import sides
from exprgrad.run.templates import compile_template
from exprgrad.source import Span, cut

__all__ = [
    "LARGEST", "SMALLEST", "Diagnostic", "diagnose", "domain_help", "gradient_trouble", "live",
    "special_words", "too_large", "unused_bindings",
]  # fmt: skip

LARGEST = "the true value is above 1.8e308, the largest double"
SMALLEST = "the true value is below -1.8e308, the least double"


class Diagnostic(NamedTuple):
    """Something worth knowing about a run.

    ``code`` is ``nan`` or ``infinity`` (of a node's data), ``nan-gradient`` or ``infinite-gradient``,
    ``kink``, ``jump``, or ``unused`` (a named statement); ``severity`` is ``warning``, or ``note``
    where the answer does not depend on it.
    """

    code: str
    severity: str
    message: str
    node: int
    span: Span
    help: str | None


def diagnose(run: Run) -> list[Diagnostic]:
    """Everything worth knowing about a run, in the order in which it came about."""
    used = live(run)
    found = [*unused_bindings(run), *forward_trouble(run, used)]
    if run.adjoints is not None:
        found += special_points(run, used)
        found += reverse_trouble(run)
    return found


def live(run: Run) -> bytearray:
    """The nodes that the answer comes from: not those behind a branch that was not taken."""
    graph = run.graph
    if not any(BY_NAME[kind].branches for kind in set(graph.kinds) - {INPUT, CONST}):
        return dependencies(graph, graph.output)
    used = bytearray(len(graph))
    used[graph.output] = 1
    for node in range(graph.output, -1, -1):
        operands = graph.operands[node]
        if used[node] and operands:
            branches = BY_NAME[graph.kinds[node]].branches
            taken = branches and branches[0 if run.values[operands[0]] else 1]
            for position, operand in enumerate(operands):
                if position == taken or position not in branches:
                    used[operand] = 1
    return used


def unused_bindings(run: Run) -> Iterator[Diagnostic]:
    """The named statements that the output does not depend on."""
    if not run.graph.bindings:
        return
    needed = dependencies(run.graph, run.graph.output)
    for name, node, span in run.graph.bindings:
        if not needed[node]:
            yield Diagnostic(
                "unused", "note", f"the output does not use '{name}'", node, span, None
            )


# Numbers that are not finite.


def forward_trouble(run: Run, used: bytearray) -> Iterator[Diagnostic]:
    """The first node whose data is not finite, and the first nan if that came of an infinity."""
    values, finite = run.values, math.isfinite
    if all(map(finite, values)):
        return
    needed = dependencies(run.graph, run.graph.output)
    for flags in (used, needed):
        bad = [node for node, value in enumerate(values) if flags[node] and not finite(value)]
        made = [node for node in bad if run.graph.operands[node] or too_large(run, node)] or bad
        if made:
            answer = [run.value, *run.gradient.values()]
            severity = "note" if flags is needed or all(map(finite, answer)) else "warning"
            first = made[0]
            yield bad_value(run, first, severity)
            nans = [node for node in made if values[node] != values[node]]
            if nans and nans[0] != first and values[first] == values[first]:
                yield bad_value(run, nans[0], severity)
            return


def bad_value(run: Run, node: int, severity: str) -> Diagnostic:
    """Why a node's data is nan or infinite, as far as its row and its operands tell."""
    graph, value = run.graph, run.values[node]
    operands = graph.operands[node]
    code = "nan" if value != value else "infinity"
    what = f"{run.label(node)} is {number(value)}"
    if too_large(run, node):
        start, end = graph.span(node)
        what = f"{cut(run.text[start:end], LIMIT)} is {number(value)}"
        return Diagnostic(code, severity, f"{what}: overflow", node, (start, end), LARGEST)
    if not operands:
        return Diagnostic(code, severity, f"{what} as given", node, graph.span(node), None)
    op = BY_NAME[graph.kinds[node]]
    arguments = [run.values[operand] for operand in operands]
    named = [o for o in operands if graph.kinds[o] != CONST]
    pairs = [(run.label(o), number(run.values[o])) for o in named]
    places = dict.fromkeys(f"{name} = {at}" for name, at in pairs[:4] if name != at)
    where = f", at {', '.join(places)}" if places else ""
    if not all(map(math.isfinite, arguments)):
        return Diagnostic(code, severity, f"{what}{where}", node, graph.span(node), None)
    help = domain_help(run, node)
    if any(holds(pole, op.names, arguments) for pole, _ in op.poles):
        return Diagnostic(code, severity, f"{what}: a pole{where}", node, graph.span(node), help)
    if op.domain and not holds(op.domain, op.names, arguments):
        message = f"{what}: outside the domain{where}"
        return Diagnostic(code, severity, message, node, graph.span(node), help)
    message = f"{what}: overflow{where}"
    help = LARGEST if value > 0 else SMALLEST
    return Diagnostic(code, severity, message, node, graph.span(node), help)


def too_large(run: Run, node: int) -> bool:
    """Whether a node is a literal beyond the doubles, such as ``1e400``."""
    start, end = run.graph.span(node)
    symbol = run.graph.symbols.get(node)
    return run.graph.kinds[node] == CONST and symbol == "inf" and run.text[start:end] != symbol


def domain_help(run: Run, node: int) -> str | None:
    """Where a node's operation is defined: in its operands, or in its own names if one is a number."""
    graph = run.graph
    op = BY_NAME[graph.kinds[node]]
    operands = graph.operands[node]
    if not op.domain:
        return None
    varying = dependents(graph, graph.inputs.values())
    if op.domain_words or not all(varying[operand] for operand in operands):
        written = operation_text(op.name, [(name, ATOM) for name in op.names])
        return f"{written} is defined where {op.domain_words or op.domain}"
    called = {
        name: label(graph, operand, run.names, run.texts)
        for name, operand in zip(op.names, operands, strict=True)
    }
    return f"{op.infix or op.name} is defined where {rule_text(template(op.domain), called)[0]}"


def holds(text: str, names: tuple[str, ...], arguments: list[float]) -> bool:
    """Whether a condition of a row holds at some values."""
    return bool(compile_template(template(text), names)(arguments))


def reverse_trouble(run: Run) -> Iterator[Diagnostic]:
    """The first edge at which the reverse sweep leaves the finite numbers, if the data did not."""
    if all(math.isfinite(grad) for grad in run.gradient.values()):
        return
    for user in run.order:
        grad = run.grad(user)
        if grad is not None and not math.isfinite(grad):
            message = f"the contributions to the grad of {run.label(user)} add up to {number(grad)}"
            yield gradient_trouble(grad, message, user, run.graph.span(user))
            return
        for edge in run.edges_of(user):
            if math.isfinite(edge.contribution):
                continue
            name, at = run.label(edge.operand), number(run.values[edge.operand])
            if not math.isfinite(edge.local):
                if not (
                    math.isfinite(run.values[user]) and math.isfinite(run.values[edge.operand])
                ):
                    return
                message = (
                    f"the local derivative of {run.label(user)} for {name} is {number(edge.local)} "
                    f"at {name} = {at}"
                )
            else:
                message = (
                    f"the contribution of {run.label(user)} to {name} overflows: "
                    f"{number(grad or 0.0)} times {number(edge.local)}"
                )
            yield gradient_trouble(edge.contribution, message, user, edge.span)
            return


def gradient_trouble(value: float, message: str, node: int, span: Span) -> Diagnostic:
    """The diagnostic for a gradient that is not finite."""
    code = "nan-gradient" if value != value else "infinite-gradient"
    return Diagnostic(code, "warning", message, node, span, None)


# Points at which a derivative is a convention.


@cache
def has_special_points(kind: str) -> bool:
    """Whether a row states kinks or jumps."""
    return kind in BY_NAME and bool(BY_NAME[kind].special)


def special_points(run: Run, used: bytearray) -> Iterator[Diagnostic]:
    """Every kink and jump on the active path, in the order of the visits."""
    graph, adjoints = run.graph, run.adjoints
    suspects = [node for node, kind in enumerate(graph.kinds) if has_special_points(kind)]
    if not suspects or adjoints is None:
        return
    moving = movable(graph)
    for node in reversed(suspects):
        if used[node] and adjoints.active[node]:
            yield from special_at(run, node, adjoints.active, moving)


def movable(graph: Graph) -> bytearray:
    """The nodes that a small step of an input can move: not comparisons and other steps."""
    flags = bytearray(len(graph))
    for node, operands in enumerate(graph.operands):
        kind = graph.kinds[node]
        if kind == INPUT:
            flags[node] = 1
        for position, operand in enumerate(operands):
            if flags[operand] and BY_NAME[kind].partial(position) != "0":
                flags[node] = 1
    return flags


def special_at(
    run: Run, node: int, active: Sequence[int], moving: Sequence[int]
) -> Iterator[Diagnostic]:
    """The kinks and jumps that one node meets."""
    graph: Graph = run.graph
    op: Op = BY_NAME[graph.kinds[node]]
    operands = graph.operands[node]
    arguments = [*[run.values[operand] for operand in operands], run.values[node]]
    seen = sides(op, arguments, [float(moving[operand]) for operand in operands])
    mine = [side for side, operand in zip(seen, operands, strict=True) if active[operand]]
    for special in op.special:
        test = compile_template(template(special.where), slots(op))
        if any(test(side) for side in mine):
            verb, help = special_words(special.code)
            message = f"{run.label(node)} {verb} here: {special.why}"
            yield Diagnostic(special.code, "warning", message, node, graph.span(node), help)


def special_words(code: str) -> tuple[str, str]:
    """What a node does at a kink or a jump, and help."""
    if code == "kink":
        help = "its derivatives from the two sides may differ; the answer is a convention"
        return "has a kink", help
    help = "there is no derivative at a jump; the answer is that of the side that has the value"
    return "jumps", help
