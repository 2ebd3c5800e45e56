"""A rewrite that helps at a point: tried there before it is suggested."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import islice

from exprgrad.explain.places import live
from exprgrad.explain.rewriting.rewrites import REWRITES, Mend, Rewrite, mends
from exprgrad.graph.graph import INPUT, Graph, dependencies, seen_from
from exprgrad.graph.transform import copies, transform
from exprgrad.language.read.parse import parse
from exprgrad.language.write.infix import LIMIT
from exprgrad.run.numbers.sweeps import forward, reverse
from exprgrad.run.result import Run
from exprgrad.source import cut

__all__ = ["advice", "is_true", "replaced", "verified"]

SOUND = 2
TRIED = 8
"""The most rewrites that are tried at a node."""


def advice(run: Run, node: int, table: Sequence[Rewrite] = REWRITES) -> str | None:
    """What to write instead of the pattern that a node is part of, if that is finite here."""
    mend = verified(run, node, table)
    if mend is None:
        return None
    for_what = f" for {mend.rewrite.why}" if table is not REWRITES else ""
    return f"write {cut(mend.text, LIMIT)} instead of {mend.was}{for_what}"


def verified(run: Run, node: int, table: Sequence[Rewrite] = REWRITES) -> Mend | None:
    """The first mend at a node that makes the answer finite.

    Else one that helps in its own part, if the answer then no longer depends on the node.
    """
    if run.shapes is not None:
        return None
    held = None
    for mend in islice(mends(run.graph, run.texts, node, table), TRIED):
        if table is REWRITES and not is_true(run, mend):
            continue
        graph, images = replaced(run.graph, mend.node, mend.text)
        if health(run, graph, graph.output) == SOUND:
            return mend
        if node != mend.node and dependencies(graph, graph.output)[images[node]]:
            continue
        before, now = health(run, run.graph, mend.node), health(run, graph, images[mend.node])
        if before < now == SOUND:
            return mend  # what else is wrong is wrong elsewhere
        if held is None and before < now:
            held = mend
    return held


def is_true(run: Run, mend: Mend) -> bool:
    """Whether a rewrite is the same as what it replaces, where the run was made."""
    if not mend.where:
        return True
    graph, images = replaced(run.graph, mend.node, mend.where)
    return bool(forward(graph, run.inputs)[images[mend.node]])


def health(run: Run, graph: Graph, output: int) -> int:
    """How finite a node is at the run's inputs.

    It is 1 if its value is and no derivative is nan, and ``SOUND`` if all that it is made of is finite, and
    its gradient too.
    """
    view = seen_from(graph, output)
    values = forward(view, run.inputs)
    wrt = tuple([name for name in run.wrt or () if name in view.inputs])
    adjoints = None
    if run.adjoints is not None:
        adjoints = reverse(view, values, [view.inputs[name] for name in wrt])
    found = Run("", view, run.inputs, values, adjoints, wrt)
    used = live(found)
    parts = [value for value, flag in zip(values, used, strict=True) if flag]
    gradient = [*found.swept.values()]
    if all(map(math.isfinite, [*parts, *gradient])):
        return SOUND
    return int(math.isfinite(found.value) and not any(map(math.isnan, gradient)))


def replaced(graph: Graph, place: int, text: str) -> tuple[Graph, list[int]]:
    """The graph with a formula in place of a node; and by node what stands in its place now."""
    known = {name: node for name, node, _ in graph.bindings} | graph.inputs

    def rule(made: Graph, node: int, images: Sequence[int]) -> int | None:
        if node != place:
            return None
        return spliced(made, parse(text), {n: images[known[n]] for n in known if known[n] < node})

    return transform(graph, rule)


def spliced(made: Graph, part: Graph, known: dict[str, int]) -> int:
    """Another graph's nodes put in, its inputs being known nodes; its output's image."""

    def rule(node: int, images: Sequence[int]) -> int | None:
        name = part.payloads[node] if part.kinds[node] == INPUT else part.symbols.get(node)
        return known.get(str(name))  # it may be pi, which a statement has bound

    return copies(made, part, rule)[part.output]
