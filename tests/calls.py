"""Graphs with calls, made from a formula that is written out: which of its parts were calls."""

from __future__ import annotations

from typing import NamedTuple

from exprgrad.api import Expression
from exprgrad.graph.graph import INPUT, Call
from exprgrad.language.read.parse import parse_text


class Part(NamedTuple):
    """A call, and the part of the written-out formula that it stands for, the first from ``after`` on."""

    text: str
    part: str
    operands: str = ""
    kind: str = "function"
    name: str = ""
    after: int = 0


def with_calls(text: str, *parts: Part, shown: str | None = None) -> Expression:
    """A formula in which some parts are calls; inner ones come first.

    ``operands`` are texts of nodes, between blanks; ``shown`` is what was typed.
    """
    graph = parse_text(text)
    spans = []
    for part in parts:
        start = text.index(part.part, part.after)
        spans.append((start, start + len(part.part)))
    for at, (part, (start, stop)) in enumerate(zip(parts, spans, strict=True)):
        inside = [
            node
            for node, kind in enumerate(graph.kinds)
            if kind != INPUT and start <= graph.starts[node] and graph.ends[node] <= stop
        ]
        for node in inside:
            graph.called.setdefault(node, at)
        parent = next(
            (k for k in range(at + 1, len(parts)) if spans[k][0] <= start and stop <= spans[k][1]),
            -1,
        )
        named = {b.name: b.node for b in graph.bindings} | graph.inputs
        operands = tuple(named[name] for name in part.operands.split())
        name = part.name or part.text.partition("(")[0]
        graph.calls.append(
            Call(part.kind, name, part.text, (start, stop), parent, operands, max(inside))
        )
    return Expression(shown or text, graph)
