"""Numbers that are not finite: the node that made the first, its cause, and its way to the answer.

Loaded when there is such a number, and only then.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

from exprgrad.derive.rules import template
from exprgrad.derive.search import OUT
from exprgrad.explain.places import (
    Occurrences,
    find_nan,
    find_nonfinite,
    first_place,
    number_in_place,
)
from exprgrad.explain.rewriting.rewrites import rewrite_advice
from exprgrad.graph.graph import CONST, Shape, dependency_flags, dependent_flags
from exprgrad.graph.ops import BY_NAME, Op
from exprgrad.graph.tensors import STRUCTURAL
from exprgrad.language.read.builder import has_digits
from exprgrad.language.write.infix import (
    ATOM,
    LIMIT,
    number_text,
    operand_label,
    operation_text,
    rule_text,
)
from exprgrad.run.balls.balls import enclose_nodes, has_balls
from exprgrad.run.edge_texts import label_in_product
from exprgrad.run.evaluation import Diagnostic, Edge, SweptRun, is_finite
from exprgrad.run.numbers.sweeps import at_pole, compile_template, condition_holds
from exprgrad.run.values.inputs import is_plain_number
from exprgrad.source import cut_text

__all__ = ["diagnose_forward_sweep", "diagnose_reverse_sweep", "underflowing_literal_notes"]

LEAST_ABOVE = "the least double above 0 is 5e-324"
WORD = re.compile(r"\w+")
LARGEST_ENCLOSED, BITS = 10_000, 256
"""The most nodes that are enclosed to explain such a number, and the precision."""
LONGEST_STEP = 30
"""The longest text of a node on a path."""


# The forward sweep.


def diagnose_forward_sweep(run: SweptRun, used: bytearray) -> Iterator[Diagnostic]:
    """Diagnose the first node whose data is not finite, and the first nan if an infinity caused it."""
    values = run.values
    needed = dependency_flags(run.graph, run.graph.output)
    for flags in (used, needed):
        bad = [node for node, flag in enumerate(flags) if flag and not is_finite(values[node])]
        made = [
            node
            for node in bad
            if (run.graph.operands[node] and node not in run.graph.implicit)
            or is_plain_number(run.spelling(node))  # such as 1e400
        ] or bad
        if flags is needed:  # a constant in a branch that is not taken is no trouble
            made = [node for node in made if run.graph.kinds[node] != CONST]
        if not made:
            continue
        is_fine = all(map(is_finite, [run.value, *run.swept.values()]))
        severity = "note" if flags is needed or is_fine else "warning"
        troubles = first_nonfinite_nodes(run, made)
        for place, (node, found) in enumerate(troubles):
            trouble = diagnose_nonfinite_data(run, node, found, severity)
            if flags is used:
                then = explain_nan_gradient(run) if not place else ""
                advice = [part for part in (rewrite_advice(run, node), trouble.help) if part]
                trouble = trouble._replace(
                    message=trouble.message + then,
                    help=": ".join(advice) or None,
                    path=path_to_output(run, node, used),
                )
            yield trouble
        return


def first_nonfinite_nodes(run: SweptRun, made: Sequence[int]) -> list[tuple[int, Occurrences]]:
    """Return the first node's nan and infinities; if it has no nan, the first nan after it."""
    first = made[0]
    own = find_nan(run.values[first]), first_place(abs(run.values[first]) == math.inf)
    listed = [(first, found) for found in own if found is not None]
    if own[0] is None:
        later = ((node, find_nan(run.values[node])) for node in made[1:])
        listed += list(islice(((node, found) for node, found in later if found is not None), 1))
    return listed


def diagnose_nonfinite_data(
    run: SweptRun, node: int, found: Occurrences, severity: str
) -> Diagnostic:
    """Diagnose why some of a node's numbers are nan or infinite, from its row and its operands."""
    value, span = number_in_place(run.values[node], found.place), run.graph.span(node)
    code = "nan" if value != value else "infinity"
    shown = "infinite" if code == "infinity" and found.many > 1 else number_text(value)
    what = f"{found.numbers(label_or_literal(run, node))} {shown}"
    labels = invalid_label_remark(run, node)
    if labels:
        return Diagnostic(code, severity, f"{what}: {labels}", node, span, None)
    why, help = explain_nonfinite(run, node, found.place, value)
    return Diagnostic(
        code, severity, f"{what}{why}{format_operands_place(run, node, found)}", node, span, help
    )


def explain_nonfinite(
    run: SweptRun, node: int, place: Shape, value: float
) -> tuple[str, str | None]:
    """Explain in words what is wrong with an operation at a place, and add help."""
    kind, operands = run.graph.kinds[node], run.graph.operands[node]
    end = "the largest double is 1.8e308" if value > 0 else "the least double is -1.8e308"
    overflow = ": overflow", end
    if not operands:
        return overflow if is_plain_number(run.spelling(node)) else (" as given", None)
    op = BY_NAME.get(kind)
    if op is None:
        if not all(is_finite(run.values[operand]) for operand in operands):
            return "", None
        why = STRUCTURAL[kind].undefined.get(number_text(value))
        return (f": {why}", None) if why else overflow if value == value else ("", None)
    arguments = [number_in_place(run.values[operand], place) for operand in operands]
    if any(argument != argument for argument in arguments):
        return "", None
    finite = all(map(math.isfinite, arguments))
    if op.equation is not None:
        return explain_missing_root(op, arguments)
    if finite and at_pole(op, arguments):
        return ": a pole", domain_help(run, node)
    form = ""
    if op.infix and value != value and not any(x and abs(x) < math.inf for x in arguments):
        form = operation_text(kind, [(number_text(abs(x)), ATOM) for x in arguments])
        form = f": {form}"
    if value != value and op.domain and not condition_holds(op.domain, op.names, arguments):
        return f"{form}{',' if form else ':'} outside the domain", domain_help(run, node)
    return overflow if finite else (form, None)


def explain_missing_root(op: Op, operands: Sequence[float]) -> tuple[str, str]:
    """Say why a root is not found; return message and help."""
    equation = op.equation
    assert equation is not None
    residual = compile_template(template(equation.residual), (*op.names, OUT))
    name, said = equation.unknown, ": the root is not found: "
    ends = [(end, residual((*operands, end))) for end in operands[-1 - equation.is_bracketed :]]
    places = [f"{number_text(value)} at {name} = {number_text(end)}" for end, value in ends]
    for place, (_, value) in zip(places, ends, strict=True):
        if value != value:
            return f"{said}its formula is {place}", "start where the formula is a number"
    if not equation.is_bracketed:
        help = f"start nearer, or between two signs of the formula: root(…, {name}, low, high)"
        return (
            f"{said}Newton's method does not converge from {name} = {number_text(ends[0][0])}",
            help,
        )
    if (ends[0][1] > 0) == (ends[1][1] > 0):
        help = "the formula needs one sign at the one end and the other at the other"
        return f"{said}its formula is {' and '.join(places)}", help
    help = f"it is {' and '.join(places)}: look for the {name} between, or take other ends"
    return f"{said}where its formula changes its sign, it jumps or has a pole", help


def format_operands_place(run: SweptRun, node: int, found: Occurrences) -> str:
    """Write the place, and the operands there: ``, the first at [2, 0], where X = -1.5``."""
    graph = run.graph
    named = [o for o in graph.operands[node] if graph.kinds[o] != CONST]
    if graph.kinds[node] not in BY_NAME:
        met = ((operand, find_nonfinite(run.values[operand])) for operand in named)
        bad, at = next(((one, at) for one, at in met if at is not None), (node, None))
        if at is None:
            return found.first()
        value = number_text(number_in_place(run.values[bad], at.place))
        return f"{found.first()}; {at.numbers(label_in_product(run, bad))} {value}{at.first()}"
    pairs = [(label_in_product(run, o), format_number_in_place(run, o, found.place)) for o in named]
    known = dict.fromkeys(f"{name} = {shown}" for name, shown in pairs[:4] if name != shown)
    if not known:
        return found.first()
    return f"{found.first()}, {'where' if found.place else 'at'} {', '.join(known)}"


def format_number_in_place(run: SweptRun, node: int, place: Shape) -> str:
    """Write a node's number; for a 0 that is another number rounded, say so."""
    value, graph = number_in_place(run.values[node], place), run.graph
    is_asked = value == 0 and not graph.shapes and len(graph) <= LARGEST_ENCLOSED and has_balls()
    is_rounded = (
        is_asked and run.errors[0][node] and enclose_nodes(graph, run.inputs, BITS)[node] != 0
    )
    return f"{number_text(value)}{' after rounding' if is_rounded else ''}"


def invalid_label_remark(run: SweptRun, node: int) -> str:
    """Remark on invalid labels, for operations that take labels."""
    graph, settings = run.graph, run.graph.payloads[node]
    if not isinstance(settings, tuple):
        return ""
    from exprgrad.run.arrays.arrays import condition_on_arrays

    operands = graph.operands[node]
    row, shapes = STRUCTURAL[graph.kinds[node]], [graph.shape(operand) for operand in operands]
    labels = row.labels(shapes, settings) if row.labels else None
    if labels is None:
        return ""
    position, classes = labels
    given = run.values[operands[position]]
    none = "max(y != floor(y), y < 0, y >= classes)"
    found = first_place(condition_on_arrays(none, ("y", "classes"), (given, float(classes))) != 0)
    if found is None:
        return ""
    name, value = (
        label_in_product(run, operands[position]),
        number_text(number_in_place(given, found.place)),
    )
    if not found.place:
        return f"{name} = {value} is not a label from 0 to {classes - 1}"
    label = "labels" if found.many > 1 else "a label"
    return f"{found.numbers(name)} not {label} from 0 to {classes - 1}{found.first()}, where it is {value}"


def label_or_literal(run: SweptRun, node: int) -> str:
    """Return a node's label; for a literal beyond the doubles its text."""
    text = run.spelling(node) if run.graph.kinds[node] == CONST else ""
    return cut_text(text, LIMIT) if text else run.label(node)


def underflowing_literal_notes(run: SweptRun) -> Iterator[Diagnostic]:
    """Note typed numbers that are not 0 but below all doubles."""
    graph = run.graph
    given = (graph.inputs[name] for name in run.spelled if name in graph.inputs)
    for node in sorted([*graph.spelled, *given]):
        text = run.spelling(node)
        if (
            not graph.shape(node)
            and run.values[node] == 0
            and is_plain_number(text)
            and has_digits(text)
        ):
            name = "" if node in graph.spelled else f"{run.label(node)} = "
            message = f"{name}{cut_text(text, LIMIT)} is read as 0: underflow"
            yield Diagnostic("lost-digits", "note", message, node, graph.span(node), LEAST_ABOVE)


def domain_help(run: SweptRun, node: int) -> str | None:
    """Say where a node's operation is defined, in its operands, or in the row's names."""
    graph = run.graph
    op = BY_NAME[graph.kinds[node]]
    if not op.domain:
        return None
    operands = dict(zip(op.names, graph.operands[node], strict=True))
    varying = dependent_flags(graph, graph.inputs.values())
    if any(varying[operands[name]] for name in template(op.domain).inputs):
        called = {n: operand_label(graph, o, run.names, run.texts) for n, o in operands.items()}
    else:
        called = {name: (name, ATOM) for name in op.names}
    where = rule_text(template(op.domain), called)[0]
    if op.domain_words:
        where = WORD.sub(lambda found: called.get(found[0], (found[0], ATOM))[0], op.domain_words)
    return f"{operation_text(op.name, list(called.values()))} is defined where {where}"


# The way to the answer.


def path_to_output(run: SweptRun, node: int, flags: Sequence[int]) -> str | None:
    """List the nodes that lead to the output, along numbers that are not finite if they lead there."""
    graph = run.graph
    users: dict[int, int] = {}
    for user in range(graph.output, node, -1):
        if flags[user]:
            for operand in graph.operands[user]:
                held = users.get(operand)
                if held is None or not is_finite(run.values[user]) or is_finite(run.values[held]):
                    users[operand] = user
    nodes = [node]
    while nodes[-1] != graph.output:
        nodes.append(users[nodes[-1]])
    nodes = [step for step in nodes if step not in graph.implicit]
    if len(nodes) <= 1:
        return None
    shown = nodes[:3] + nodes[3:][-1:]
    labels = [cut_text(label_or_literal(run, step), LONGEST_STEP) for step in shown]
    if len(nodes) > 4:
        labels[2] = "…"
    return " → ".join(labels)


# The reverse sweep.


def diagnose_reverse_sweep(run: SweptRun, used: bytearray) -> Iterator[Diagnostic]:
    """Diagnose the first grad or contribution that is not finite, unless the data explain it."""
    lost = find_bad_grad(run, find_nonfinite)
    if lost is None:
        return
    user, edge, value, found = lost
    if edge is None:
        why: str | None = (
            f"the contributions to the grad of {run.label(user)} add up to "
            f"{number_text(number_in_place(value, found.place))}{found.counted()}"
        )
    else:
        why = edge_message(run, edge, found)
    if why is None:
        return
    if not has_nan_local(edge, found.place):
        why += explain_nan_gradient(run)
    code = (
        "nan-gradient"
        if number_in_place(value, found.place) != number_in_place(value, found.place)
        else "infinite-gradient"
    )
    severity = "note" if all(map(is_finite, run.swept.values())) else "warning"
    span = run.graph.span(user) if edge is None else edge.span
    way = (
        path_to_output(run, user, used) if used[user] else None
    )  # a branch not taken leads nowhere
    yield Diagnostic(code, severity, why, user, span, rewrite_advice(run, user), way)


def find_bad_grad(
    run: SweptRun, bad: Callable[[Any], Occurrences | None]
) -> tuple[int, Edge | None, Any, Occurrences] | None:
    """Find the first visited node whose grad is bad, or edge whose contribution is, and where."""
    for user in run.order:
        grad = run.grad(user)
        if grad is None:
            continue
        if found := bad(grad):
            return user, None, grad, found
        for edge in run.edges_of(user):
            if found := bad(edge.contribution):
                return user, edge, edge.contribution, found
    return None


def has_nan_local(edge: Edge | None, place: Shape) -> bool:
    """Whether an edge's local derivative is nan."""
    return (
        edge is not None
        and edge.local is not None
        and math.isnan(number_in_place(edge.local, place))
    )


def edge_message(run: SweptRun, edge: Edge, found: Occurrences) -> str | None:
    """Say why an edge passes on a number that is not finite; None if the data was not finite before."""
    user, operand, place = edge.user, edge.operand, found.place
    name, label = label_in_product(run, operand), run.label(user)
    if edge.local is None:
        value = number_text(number_in_place(edge.contribution, place))
        data = [run.values[node] for node in (user, *run.graph.operands[user])]
        message = f"the contribution of {label} to {name} is {value}{found.counted()}"
        return message if all(map(is_finite, data)) else None
    local = number_in_place(edge.local, place)
    if math.isfinite(local):
        grad = number_text(number_in_place(run.grad(user), place))
        message = f"the contribution of {label} to {name} overflows{found.counted()}"
        return f"{message}: {grad} times {number_text(local)}"
    if not all(math.isfinite(number_in_place(run.values[node], place)) for node in (user, operand)):
        return None
    here = f"{name} = {format_number_in_place(run, operand, place)}"
    if flat := explain_flat_root(run, user, place):
        return f"{label} has no derivative for {name}: {flat}{found.counted()}"
    where_words = f"{found.counted()}, where" if place else " at"
    return f"the local derivative of {label} for {name} is {number_text(local)}{where_words} {here}"


def explain_flat_root(run: SweptRun, node: int, place: Shape) -> str:
    """Say that a root's equation has slope 0 at the root, if it has."""
    graph = run.graph
    op = BY_NAME.get(graph.kinds[node])
    if op is None or op.equation is None:
        return ""
    data = [number_in_place(run.values[one], place) for one in (*graph.operands[node], node)]
    if compile_template(template(op.equation.slope), (*op.names, OUT))(data):
        return ""
    root = f"{op.equation.unknown} = {number_text(data[-1])}"
    return f"the slope of its equation is 0 at the root, {root}"


def explain_nan_gradient(run: SweptRun) -> str:
    """Say where the gradient becomes nan, if by 0 times infinity or only because of the data."""
    met = find_bad_grad(run, find_nan) if any(map(find_nan, run.swept.values())) else None
    if met is None or (edge := met[1]) is None:
        return ""
    between = f"between {run.label(edge.user)} and {label_in_product(run, edge.operand)}"
    if edge.local is not None and not has_nan_local(edge, met[3].place):
        return f"; the reverse sweep then meets 0 times infinity {between}"
    return f"; the local derivative {between} is then nan" if is_finite(run.value) else ""
