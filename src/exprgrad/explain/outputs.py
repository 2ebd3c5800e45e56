"""Diagnostics of answers about several outputs, and of second derivatives."""

from __future__ import annotations

import copy
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from exprgrad.explain.diagnostic import Diagnostic
from exprgrad.explain.diagnostics import diagnose
from exprgrad.explain.live import live
from exprgrad.graph.graph import Graph
from exprgrad.language.write.infix import number
from exprgrad.run.matrices import Derived
from exprgrad.run.numbers.sweeps import forward, reverse
from exprgrad.run.result import Run

__all__ = ["NOT_FINITE", "diagnose_hessian", "diagnose_outputs", "merged", "seen_from"]

NOT_FINITE = {"nan", "infinity", "nan-gradient", "infinite-gradient"}
"""The codes that explain by themselves why a second derivative is not finite."""


def diagnose_outputs(
    text: str,
    graph: Graph,
    inputs: Mapping[str, float],
    outputs: Mapping[str, int],
    wrt: Sequence[str],
    swept: Collection[str] | None = None,
    *,
    unused: bool = True,
) -> list[Diagnostic]:
    """What is worth knowing about some outputs (name → node) and their derivatives in ``wrt``.

    ``swept`` are the outputs that are differentiated, all by default.  What concerns several is said
    once, as a warning if it is one for any of them.  ``unused`` statements are left out where outputs
    are chosen: the others are not there by mistake.
    """
    nodes = [graph.inputs[name] for name in wrt]
    values = forward(graph, inputs)

    def found() -> Iterator[Diagnostic]:
        """Output by output."""
        for name, output in outputs.items():
            view = seen_from(graph, output)
            run = Run(text, view, inputs, values)
            if swept is None or name in swept:
                run = Run(text, view, inputs, values, reverse(view, values, nodes), tuple(wrt))
            yield from diagnose(run)

    return merged(found(), unused=unused)


def merged(found: Iterable[Diagnostic], *, unused: bool) -> list[Diagnostic]:
    """Each diagnostic once, as a warning if it is one for any output."""
    once: dict[tuple[str, int, str], Diagnostic] = {}
    for diagnostic in found:
        key = (diagnostic.code, diagnostic.node, diagnostic.message)
        if key not in once or diagnostic.severity == "warning":
            once[key] = diagnostic
    return [d for d in once.values() if unused or d.code != "unused"]


def seen_from(graph: Graph, output: int) -> Graph:
    """The same graph with another output."""
    if output == graph.output:
        return graph
    view = copy.copy(graph)
    view.output = output
    return view


def diagnose_hessian(
    text: str,
    graph: Graph,
    inputs: Mapping[str, float],
    derived: Derived,
    wrt: Sequence[str],
) -> list[Diagnostic]:
    """What is worth knowing about the output, its gradient and its second derivatives.

    Of second derivatives that are not finite the first is named, if all before them was finite.
    """
    listed = diagnose_outputs(text, graph, inputs, {"": graph.output}, wrt)
    program, entries = derived
    numbers = forward(program.graph, inputs)
    if any(diagnostic.code in NOT_FINITE for diagnostic in listed):
        return listed
    for row, column in sorted(entries):
        node = program.outputs[entries[row, column]]
        if not math.isfinite(numbers[node]):
            used = live(Run(text, seen_from(program.graph, node), {}, numbers))
            bad = (n for n in range(node) if used[n] and not math.isfinite(numbers[n]))
            span = program.graph.span(next(bad, node))
            places = [at for at in range(len(graph)) if graph.span(at) == span]
            by = f"{wrt[row]} and {wrt[column]}" if row != column else wrt[row]
            message = f"the second derivative with respect to {by} is {number(numbers[node])}"
            code = "nan-hessian" if numbers[node] != numbers[node] else "infinite-hessian"
            at = places[0] if places else graph.output
            return [*listed, Diagnostic(code, "warning", message, at, graph.span(at), None)]
    return listed
