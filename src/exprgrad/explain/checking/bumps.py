"""Bumping a node as the lesson does: L1, the node's data and h more, L2, (L2 - L1)/h beside its grad.

Source: A. Karpathy, The spelled-out intro to neural networks and backpropagation: building micrograd
(2022).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from typing import Any

from exprgrad.errors import RequestError
from exprgrad.explain.checking.quotients import SCALE, STEP, quotients
from exprgrad.explain.checking.verdicts import Verdict, agreement, digits_of, short
from exprgrad.graph.graph import CONST
from exprgrad.language.infix import number
from exprgrad.run.result import Run
from exprgrad.run.sweeps import forward
from exprgrad.source import Source

__all__ = ["at_step", "find_nodes"]

LISTED = "the table of grad lists the nodes"


def find_nodes(run: Run, wanted: Iterable[str | int] | str | int) -> dict[str, int]:
    """Nodes by what they are called: a statement's name, an input, a node's number, or its text.

    Two that read the same get their numbers too.

    Raises ``RequestError`` for what is none of these, or more than one, or a node without a grad.
    """
    listed = [wanted] if isinstance(wanted, str | int) else wanted
    found = dict.fromkeys(find_node(run, each) for each in listed)
    labels = Counter(map(run.label, found))
    return {
        run.label(node) if labels[run.label(node)] == 1 else f"{run.label(node)} #{node}": node
        for node in found
    }


def find_node(run: Run, wanted: str | int) -> int:
    """One node."""
    asked = str(wanted).strip()
    names = {name: node for node, name in run.names.items()}
    names |= {binding.name: binding.node for binding in run.graph.bindings}
    node = names.get(asked)
    if node is None and asked.isascii() and asked.isdigit() and int(asked) < len(run.graph):
        node = int(asked)
    if node is None:
        node = by_text(run, asked, names)
    if run.graph.kinds[node] == CONST or run.grad(node) is None:
        message = f"node {node} '{run.texts[node]}' depends on no input and has no grad"
        raise RequestError("no-grad", message, **place(asked, "the table of grad lists the others"))
    return node


def by_text(run: Run, asked: str, names: dict[str, int]) -> int:
    """The one node that reads so, blanks aside."""
    bare = asked.replace(" ", "")
    found = [node for node, text in enumerate(run.texts) if text.replace(" ", "") == bare]
    if len(found) == 1:
        return found[0]
    if found:
        listed = ", ".join(map(str, found[:8]))
        message = f"'{asked}' is {len(found)} nodes: {listed}{', …' if found[8:] else ''}"
        raise RequestError("ambiguous-node", message, **place(asked, f"say which, as {found[0]}"))
    if asked.isdigit():
        message = f"there is no node {asked}: the last is {len(run.graph) - 1}"
        raise RequestError("unknown-node", message, **place(asked, LISTED))
    from exprgrad.language.hints import nearest

    known = nearest(asked, [*names, *run.texts[:1000]])
    help = f"did you mean '{known}'?" if known else LISTED
    message = f"no node is called or reads '{asked}'"
    raise RequestError("unknown-node", message, **place(asked, help))


def place(asked: str, help: str) -> dict[str, Any]:
    """The rest of an error about a node that was asked for."""
    source = Source(asked, is_expression=False)
    return {"source": source, "span": (0, len(asked)), "help": help}


def at_step(run: Run, node: int, analytic: float, step: float, best: Verdict) -> Verdict:
    """The verdict with the lesson's numbers: (L2 - L1)/h, and how far that is from the ``best``.

    Raises ``RequestError`` for a step that is 0 or not finite, or too small to change the node's data.
    """
    data = run.values[node]
    if not math.isfinite(step) or step == 0 or (math.isfinite(data) and data + step == data):
        message = f"a step of {number(step)} leads nowhere"
        if math.isfinite(step) and step:
            message = f"a step of {number(step)} is lost: {number(data)} stays as it is"
        raise RequestError("bad-step", message, help="the lesson takes h = 0.001")
    found = quotients(run.graph, node)
    values = forward(found.graph, {**run.inputs, STEP: step, SCALE: 1.0})
    rise = values[found.graph.operands[found.right][0]]
    numeric, central = rise / step, values[found.center]
    error = None if best.numeric is None else abs(numeric - best.numeric)
    if best.verdict != "agrees" or not (math.isfinite(numeric) and math.isfinite(central)):
        message = (
            f"{best.message}; at h = {number(step)}, (L2 − L1)/h is {short(numeric)} and the central "
            f"difference {short(central)}"
        )
        return best._replace(message=message, numeric=numeric, error=error)
    first, second = (digits_of(abs(each - analytic), abs(analytic)) for each in (numeric, central))
    most = best.message.removeprefix("agrees to ").replace(" digits", "").replace(" digit", "")
    message = (
        f"{agreement(first)} at h = {number(step)}, {second} by the central difference, {most} by a "
        "better step"
    )
    if not analytic:
        message = f"{best.message}; at h = {number(step)}, (L2 − L1)/h is {short(numeric)}"
    return best._replace(message=message, numeric=numeric, error=error)
