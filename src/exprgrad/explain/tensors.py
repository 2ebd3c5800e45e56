"""Diagnostics of a run over tensors: as for numbers, with how many numbers each is about, and where."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from exprgrad.explain.blame import LARGEST, SMALLEST, domain_help, gradient_trouble, too_large
from exprgrad.explain.diagnostic import Diagnostic
from exprgrad.explain.diagnostics import unused_bindings
from exprgrad.explain.places import Found, held, where, written
from exprgrad.explain.tensor_points import special_points
from exprgrad.graph.graph import CONST, dependencies
from exprgrad.graph.literal import size
from exprgrad.graph.ops import BY_NAME
from exprgrad.language.write.infix import LIMIT, number
from exprgrad.run.arrays import measure
from exprgrad.run.numbers.templates import at_pole, holds
from exprgrad.run.result import Edge, Run
from exprgrad.source import cut

__all__ = ["diagnose_tensors"]


def diagnose_tensors(run: Run) -> list[Diagnostic]:
    """Everything worth knowing about a run, in the order in which it came about."""
    used = live(run)
    found = [*unused_bindings(run), *forward_trouble(run, used)]
    if run.adjoints is not None:
        found += special_points(run, used)
        found += reverse_trouble(run)
    return found


def live(run: Run) -> bytearray:
    """The nodes that the answer comes from: not those behind a branch that was taken nowhere."""
    graph = run.graph
    used = bytearray(len(graph))
    used[graph.output] = 1
    for node in range(graph.output, -1, -1):
        operands = graph.operands[node]
        if used[node] and operands:
            op = BY_NAME.get(graph.kinds[node])
            dead = None
            if op is not None and op.branches:
                taken, _ = measure.places(measure.is_true(run.values[operands[0]]))
                everywhere = size(measure.shape(run.values[operands[0]]))
                dead = {0: op.branches[0], everywhere: op.branches[1]}.get(taken)
            for position, operand in enumerate(operands):
                if position != dead:
                    used[operand] = 1
    return used


# Numbers that are not finite.


def forward_trouble(run: Run, used: bytearray) -> Iterator[Diagnostic]:
    """The first node with data that is not finite, and the first with nan if that came of an infinity."""
    values = run.values
    if all(map(measure.all_finite, values)):
        return
    needed = dependencies(run.graph, run.graph.output)
    for flags in (used, needed):
        bad = [n for n, value in enumerate(values) if flags[n] and not measure.all_finite(value)]
        made = [n for n in bad if is_made(run, n)] or bad
        if not made:
            continue
        is_fine = all(map(measure.all_finite, [run.value, *run.gradient.values()]))
        severity = "note" if flags is needed or is_fine else "warning"
        first, *others = made
        nans = where(measure.nans(values[first]))
        infinities = where(measure.infinities(values[first]))
        if nans:
            yield bad_values(run, first, nans, "nan", severity)
        if infinities:
            yield bad_values(run, first, infinities, "infinity", severity)
        if not nans:
            later = ((n, where(measure.nans(values[n]))) for n in others)
            node, found = next(((n, f) for n, f in later if f), (first, None))
            if found:
                yield bad_values(run, node, found, "nan", severity)
        return


def is_made(run: Run, node: int) -> bool:
    """Whether a node's data was not simply given."""
    is_operation = bool(run.graph.operands[node]) and node not in run.graph.implicit
    return is_operation or too_large(run, node)


def bad_values(run: Run, node: int, found: Found, code: str, severity: str) -> Diagnostic:
    """Why some of a node's numbers are nan or infinite, as far as its row and its operands tell."""
    graph = run.graph
    value = measure.at(run.values[node], found.place)
    label, span = run.label(node), graph.span(node)
    if too_large(run, node):
        label = cut(run.text[span[0] : span[1]], LIMIT)
    what = f"{found.numbers(label)} {number(value)}"
    if code == "infinity" and found.many > 1:
        what = f"{found.numbers(label)} infinite"
    labels = wrong_labels(run, node)
    if labels:
        return Diagnostic(code, severity, f"{what}: {labels}", node, span, None)
    why, help = reason(run, node, found.place, value)
    places = at_operands(run, node, found)
    return Diagnostic(code, severity, f"{what}{why}{places}", node, span, help)


def reason(run: Run, node: int, index: tuple[int, ...], value: float) -> tuple[str, str | None]:
    """What is wrong at a place, in words; and help."""
    kind, operands = run.graph.kinds[node], run.graph.operands[node]
    overflow = ": overflow", LARGEST if value > 0 else SMALLEST
    if not operands:
        return overflow if too_large(run, node) else (" as given", None)
    if kind not in BY_NAME:
        is_new = all(measure.all_finite(run.values[operand]) for operand in operands)
        return overflow if is_new and value == value else ("", None)
    op = BY_NAME[kind]
    arguments = [measure.at(run.values[operand], index) for operand in operands]
    if not all(map(measure.all_finite, arguments)):
        return "", None
    if at_pole(op, arguments):
        return ": a pole", domain_help(run, node)
    if op.domain and not holds(op.domain, op.names, arguments):
        return ": outside the domain", domain_help(run, node)
    return overflow


def at_operands(run: Run, node: int, found: Found) -> str:
    """Where it is, and what the operands are there: ``, the first at [2, 0], where X = -1.5``."""
    graph = run.graph
    named = [o for o in graph.operands[node] if graph.kinds[o] != CONST]
    if graph.kinds[node] not in BY_NAME:
        bad = next((o for o in named if not measure.all_finite(run.values[o])), None)
        return found.first() + (f"; {not_finite_words(run, bad)}" if bad is not None else "")
    pairs = [(written(run, o), number(measure.at(run.values[o], found.place))) for o in named]
    known = dict.fromkeys(f"{name} = {at}" for name, at in pairs[:4] if name != at)
    if not known:
        return found.first()
    return f"{found.first()}, {'where' if found.place else 'at'} {', '.join(known)}"


def not_finite_words(run: Run, node: int) -> str:
    """Which of a node's numbers are not finite: ``1 of 4 numbers of Z is nan, at [1, 1]``."""
    found = not_finite(run.values[node])
    assert found is not None
    value = number(measure.at(run.values[node], found.place))
    return f"{found.numbers(written(run, node))} {value}{found.first()}"


def wrong_labels(run: Run, node: int) -> str:
    """What is said of labels that are none, for operations that take labels."""
    graph, kind, operands = run.graph, run.graph.kinds[node], run.graph.operands[node]
    shapes, payload = graph.shapes, graph.payloads[node]
    assert shapes is not None
    if kind == "onehot" and isinstance(payload, tuple):
        labels, classes = operands[0], payload[0]
    elif kind == "cross_entropy" and len(shapes[operands[1]]) < len(shapes[operands[0]]):
        labels, classes = operands[1], shapes[operands[0]][-1]
    else:
        return ""
    names = ("y", "classes")
    given = [run.values[labels], float(classes)]
    found = where(measure.is_true(held("max(y != floor(y), y < 0, y >= classes)", names, given)))
    if found is None:
        return ""
    value = number(measure.at(run.values[labels], found.place))
    name = written(run, labels)
    if not found.place:
        return f"{name} = {value} is not a label from 0 to {classes - 1}"
    label = "labels" if found.many > 1 else "a label"
    return f"{found.numbers(name)} not {label} from 0 to {classes - 1}{found.first()}, where it is {value}"


# The reverse sweep.


def reverse_trouble(run: Run) -> Iterator[Diagnostic]:
    """The first edge at which the reverse sweep leaves the finite numbers, if the data did not."""
    if all(map(measure.all_finite, run.gradient.values())):
        return
    for user in run.order:
        grad = run.grad(user)
        if grad is None:
            continue
        found = not_finite(grad)
        if found is not None:
            value = measure.at(grad, found.place)
            message = (
                f"the contributions to the grad of {run.label(user)} add up to {number(value)}"
                f"{found.counted()}"
            )
            yield gradient_trouble(value, message, user, run.graph.span(user))
            return
        for edge in run.edges_of(user):
            found = not_finite(edge.contribution)
            if found is None:
                continue
            why = edge_message(run, edge, found)
            if why is not None:
                value = measure.at(edge.contribution, found.place)
                yield gradient_trouble(value, why, user, edge.span)
            return


def not_finite(value: Any) -> Found | None:
    """Where a grad or a contribution is nan or infinite; nan first."""
    return where(measure.nans(value)) or where(measure.infinities(value))


def edge_message(run: Run, edge: Edge, found: Found) -> str | None:
    """Why an edge passes on what is not finite; None if the data was not finite before."""
    user, operand, index = edge.user, edge.operand, found.place
    name, label = written(run, operand), run.label(user)
    if edge.local is None:
        finite = [
            measure.all_finite(run.values[node]) for node in (user, *run.graph.operands[user])
        ]
        value = number(measure.at(edge.contribution, index))
        message = f"the contribution of {label} to {name} is {value}{found.counted()}"
        return message if all(finite) else None
    local = measure.at(edge.local, index)
    data = [measure.at(run.values[node], index) for node in (user, operand)]
    if not measure.all_finite(local):
        if not all(map(measure.all_finite, data)):
            return None
        return (
            f"the local derivative of {label} for {name} is {number(local)}{found.counted()}, "
            f"{'where' if index else 'at'} {name} = {number(data[1])}"
        )
    grad = number(measure.at(run.grad(user), index))
    return f"the contribution of {label} to {name} overflows{found.counted()}: {grad} times {number(local)}"
