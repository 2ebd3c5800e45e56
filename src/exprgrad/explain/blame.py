"""Numbers that are not finite: which node made the first, from what, on which way it came to the answer.

Loaded when there is such a number, and only then.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

from exprgrad.derive.rules import template
from exprgrad.explain.diagnostic import Diagnostic
from exprgrad.explain.rewriting.rewrites import EXTENSIONS
from exprgrad.graph.graph import CONST, dependencies, dependents
from exprgrad.graph.ops import BY_NAME
from exprgrad.language.write.infix import ATOM, LIMIT, label, number, operation_text, rule_text
from exprgrad.run.numbers.templates import at_pole, holds
from exprgrad.run.result import Edge, Run
from exprgrad.source import Span, cut

__all__ = [
    "LARGEST", "SMALLEST", "domain_help", "forward_trouble", "gradient_trouble", "reverse_trouble",
    "too_large",
]  # fmt: skip

LARGEST = "the largest double is 1.8e308"
SMALLEST = "the least double is -1.8e308"
WORD = re.compile(r"\w+")
STEP = 30
"""The longest text of a node on a path."""


# The forward sweep.


def forward_trouble(run: Run, used: bytearray) -> Iterator[Diagnostic]:
    """The first node whose data is not finite, and the first nan if that came of an infinity."""
    values, finite = run.values, math.isfinite
    needed = dependencies(run.graph, run.graph.output)
    for flags in (used, needed):
        bad = [node for node, value in enumerate(values) if flags[node] and not finite(value)]
        made = [node for node in bad if run.graph.operands[node] or too_large(run, node)] or bad
        if not made:
            continue
        answer = [run.value, *run.swept.values()]
        severity = "note" if flags is needed or all(map(finite, answer)) else "warning"
        first, then = made[0], "" if flags is needed else what_the_sweep_meets(run)
        nans = [node for node in made if values[node] != values[node]]
        for node in dict.fromkeys(
            [first, *nans[:1]] if values[first] == values[first] else [first]
        ):
            found = bad_value(run, node, severity)
            if node == first:
                found = found._replace(message=found.message + then)
            if flags is used:
                help = with_advice(run, node, found.help)
                found = found._replace(help=help, path=path(run, node, used))
            yield found
        return


def bad_value(run: Run, node: int, severity: str) -> Diagnostic:
    """Why a node's data is nan or infinite, as far as its row and its operands tell."""
    graph, value, span = run.graph, run.values[node], run.graph.span(node)
    code = "nan" if value != value else "infinity"
    what = f"{name_of(run, node)} is {number(value)}"
    if too_large(run, node):
        return Diagnostic(code, severity, f"{what}: overflow", node, span, LARGEST)
    if not graph.operands[node]:
        return Diagnostic(code, severity, f"{what} as given", node, span, None)
    why, help = reason(run, node)
    return Diagnostic(code, severity, f"{what}{why}{at_operands(run, node)}", node, span, help)


def reason(run: Run, node: int) -> tuple[str, str | None]:
    """What is wrong with an operation at its operands, in words; and help."""
    op, value = BY_NAME[run.graph.kinds[node]], run.values[node]
    arguments = [run.values[operand] for operand in run.graph.operands[node]]
    if any(argument != argument for argument in arguments):
        return "", None
    is_finite = all(map(math.isfinite, arguments))
    if is_finite and at_pole(op, arguments):
        return ": a pole", domain_help(run, node)
    form = ""
    if (
        op.infix
        and value != value
        and not any(argument and abs(argument) < math.inf for argument in arguments)
    ):
        form = operation_text(op.name, [(number(abs(argument)), ATOM) for argument in arguments])
        form = f": {form}"
    if value != value and op.domain and not holds(op.domain, op.names, arguments):
        return f"{form}{',' if form else ':'} outside the domain", domain_help(run, node)
    if not is_finite:
        return form, None
    return ": overflow", LARGEST if value > 0 else SMALLEST


def at_operands(run: Run, node: int) -> str:
    """The operands' values: ``, at x = -1``."""
    named = [o for o in run.graph.operands[node] if run.graph.kinds[o] != CONST]
    pairs = [(run.label(o), number(run.values[o])) for o in named]
    places = dict.fromkeys(f"{name} = {at}" for name, at in pairs[:4] if name != at)
    return f", at {', '.join(places)}" if places else ""


def too_large(run: Run, node: int) -> bool:
    """Whether a node is a literal beyond the doubles, such as ``1e400``."""
    start, end = run.graph.span(node)
    symbol = run.graph.symbols.get(node)
    return run.graph.kinds[node] == CONST and symbol == "inf" and run.text[start:end] != symbol


def name_of(run: Run, node: int) -> str:
    """What a node is called; a literal beyond the doubles as it is written."""
    if too_large(run, node):
        return cut(run.text[slice(*run.graph.span(node))], LIMIT)
    return run.label(node)


def domain_help(run: Run, node: int) -> str | None:
    """Where a node's operation is defined: in its operands, or in the row's names if that is on numbers."""
    graph = run.graph
    op = BY_NAME[graph.kinds[node]]
    if not op.domain:
        return None
    operands = dict(zip(op.names, graph.operands[node], strict=True))
    varying = dependents(graph, graph.inputs.values())
    if any(varying[operands[name]] for name in template(op.domain).inputs):
        called = {n: label(graph, o, run.names, run.texts) for n, o in operands.items()}
    else:
        called = {name: (name, ATOM) for name in op.names}
    where = rule_text(template(op.domain), called)[0]
    if op.domain_words:
        where = WORD.sub(lambda found: called.get(found[0], (found[0], ATOM))[0], op.domain_words)
    return f"{operation_text(op.name, list(called.values()))} is defined where {where}"


def with_advice(run: Run, node: int, help: str | None) -> str | None:
    """The help, after what to write instead where something is known that is finite here."""
    from exprgrad.explain.rewriting.mending import advice

    found = advice(run, node) or advice(run, node, EXTENSIONS)
    return ": ".join(part for part in (found, help) if part) or None


# The way to the answer.


def path(run: Run, node: int, flags: Sequence[int]) -> str | None:
    """The nodes by which one reaches the output, along what is not finite if that leads there."""
    graph = run.graph
    users: dict[int, int] = {}
    for user in range(graph.output, node, -1):
        if flags[user]:
            for operand in graph.operands[user]:
                held = users.get(operand)
                if (
                    held is None
                    or not math.isfinite(run.values[user])
                    or math.isfinite(run.values[held])
                ):
                    users[operand] = user
    nodes = [node]
    while nodes[-1] != graph.output:
        nodes.append(users[nodes[-1]])
    if len(nodes) == 1:
        return None
    shown = nodes[:3] + nodes[3:][-1:]
    labels = [cut(run.label(step) if step != node else name_of(run, node), STEP) for step in shown]
    if len(nodes) > 4:
        labels[2] = "…"
    return " → ".join(labels)


# The reverse sweep.


def reverse_trouble(run: Run, used: bytearray) -> Iterator[Diagnostic]:
    """The first edge at which the reverse sweep leaves the finite numbers, if the data did not."""
    for user, edge in first_lost(run):
        if edge is None:
            grad = run.grad(user)
            message = f"the contributions to the grad of {run.label(user)} add up to {number(grad)}"
            found = gradient_trouble(grad, message, user, run.graph.span(user))
        else:
            why = edge_message(run, edge)
            if why is None:
                return
            found = gradient_trouble(edge.contribution, why, user, edge.span)
        if all(map(math.isfinite, run.swept.values())):
            found = found._replace(severity="note")
        then = "" if edge is not None and edge.local != edge.local else what_the_sweep_meets(run)
        yield found._replace(
            message=found.message + then,
            help=with_advice(run, user, None),
            path=path(run, user, used),
        )


def first_lost(run: Run) -> Iterator[tuple[int, Edge | None]]:
    """At most one: the first node whose grad is not finite, or edge whose contribution is not."""
    for user in run.order:
        grad = run.grad(user)
        if grad is not None and not math.isfinite(grad):
            yield user, None
            return
        for edge in run.edges_of(user):
            if not math.isfinite(edge.contribution):
                yield user, edge
                return


def edge_message(run: Run, edge: Edge) -> str | None:
    """Why an edge passes on what is not finite; None if the data was not finite before."""
    user, operand = edge.user, edge.operand
    name, at = run.label(operand), number(run.values[operand])
    if math.isfinite(edge.local):
        grad = number(run.grad(user))
        return (
            f"the contribution of {run.label(user)} to {name} overflows: "
            f"{grad} times {number(edge.local)}"
        )
    if not (math.isfinite(run.values[user]) and math.isfinite(run.values[operand])):
        return None
    local = f"the local derivative of {run.label(user)} for {name} is {number(edge.local)}"
    return f"{local} at {name} = {at}"


def what_the_sweep_meets(run: Run) -> str:
    """Where the gradient becomes nan, if that is by 0 times infinity or only because of the data."""
    edge = first_nan(run)
    if edge is None:
        return ""
    between = f"between {run.label(edge.user)} and {run.label(edge.operand)}"
    if edge.local == edge.local:
        return f"; the reverse sweep then meets 0 times infinity {between}"
    return f"; the local derivative {between} is then nan" if math.isfinite(run.value) else ""


def first_nan(run: Run) -> Edge | None:
    """The first edge that makes a gradient nan, of grads that are not."""
    if not any(map(math.isnan, run.swept.values())):
        return None
    for user in run.order:
        grad = run.grad(user)
        if grad is not None and grad != grad:
            return None
        for edge in run.edges_of(user):
            if edge.contribution != edge.contribution:
                return edge
    return None


def gradient_trouble(value: float, message: str, node: int, span: Span) -> Diagnostic:
    """The diagnostic for a gradient that is not finite."""
    code = "nan-gradient" if value != value else "infinite-gradient"
    return Diagnostic(code, "warning", message, node, span, None)
