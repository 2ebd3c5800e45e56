"""Kinks and jumps on the active path: which nodes meet one, and what is said of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from exprgrad.derive.rules import slots
from exprgrad.errors import advice
from exprgrad.explain.limits import beyond_sides
from exprgrad.explain.places import live, where
from exprgrad.explain.sides.movement import met, movement, views
from exprgrad.graph.graph import dependencies, dependents
from exprgrad.graph.ops import BENT, BY_NAME
from exprgrad.run.evaluation import Diagnostic, Flag, Run, evaluator_for
from exprgrad.run.numbers.sweeps import Adjoints

__all__ = ["bends", "flagged", "inside", "special_points", "special_words"]


def special_words(code: str) -> tuple[str, str]:
    """What a node does at a kink or a jump, and help."""
    if code == "kink":
        help = "its derivatives from the two sides may differ; the answer is a convention"
        return "has a kink", help
    help = "there is no derivative at a jump; the answer is that of the side that has the value"
    return "jumps", help


def inside(run: Run) -> Iterator[Diagnostic]:
    """The kinks and jumps that derivatives inside of the formula meet: there they are conventions."""
    graph, values = run.graph, run.values
    needed, evaluator = dependencies(graph, graph.output), evaluator_for(graph)
    for call in graph.calls:
        for node in call.bends if needed[call.result] else ():
            op, operands = BY_NAME[graph.kinds[node]], graph.operands[node]
            seen = [values[operand] for operand in operands]
            for special in op.special:
                if op.variadic:
                    numbers = [[x, values[node], 1.0, 2.0] for x in seen]
                    met = sum(evaluator.holds(special.where, slots(op), one) for one in numbers) > 1
                else:
                    view = [*seen, values[node], *[1.0] * len(seen)]
                    met = evaluator.holds(special.where, slots(op), view)
                if met:
                    does, help = special_words(special.code)
                    name = run.texts[node] if node == call.result else run.label(node)
                    message = f"{name} {does} here, and {call.text} is taken there"
                    yield Diagnostic(special.code, "warning", message, call.result, call.span, help)


def flagged(run: Run, used: bytearray | None = None) -> list[int]:
    """The nodes that meet a kink or a jump and that the answer depends on, in the order of the visits.

    Those whose operands stay are left out: in ``relu(0*x)``, and below 0 in ``relu(relu(x)*y)``, the outer
    ``relu`` has an operand of 0, which no small step of x or y moves.  ``used`` are the nodes that the
    answer comes from, where they are known.
    """
    if run.adjoints is None or run.adjoints.quiet:
        return []
    found = [*run.adjoints.met]
    if isinstance(run.adjoints, Adjoints):
        graph, flags = run.graph, movement(run, found)
        moves = {node: [flags[operand] for operand in graph.operands[node]] for node in found}
        found = [
            node
            for node in found
            if met(BY_NAME[graph.kinds[node]], views(run, node, moves[node]), moves[node])
        ]
        if not found or run.adjoints.tape.gated is None:
            return found  # where no branch is left out, the answer depends on all that was visited
    used = live(run) if used is None else used
    return [node for node in found if used[node]]


def special_points(
    run: Run, used: bytearray, one_sided: Mapping[str, object] | None
) -> Iterator[Diagnostic]:
    """Every kink and jump on the active path; help comes with the first of its kind.

    Where derivatives from the sides were found, those say all that there is to help.
    """
    assert run.adjoints is not None
    helped = set()
    for node in flagged(run, used):
        for special, flags in run.adjoints.met[node]:
            verb, words = special_words(special.code)
            help = None if one_sided or special.code in helped else words
            helped.add(special.code)
            found = where(flags)
            place = f"at{found.counted().removeprefix(' for')}" if found and found.place else "here"
            message = f"{run.label(node)} {verb} {place}: {special.why}"
            yield Flag(special.code, "warning", message, node, run.graph.span(node), help)
    limit = beyond_sides(run) if helped and one_sided is not None else ""
    if limit:
        message = (
            f"derivatives from the two sides are found for {limit}, "
            "so kinks and jumps are only flagged"
        )
        node = run.graph.output
        help = "choose some: " + advice("--wrt a,b", "wrt=['a', 'b']")
        yield Diagnostic("many-inputs", "note", message, node, run.graph.span(node), help)


def bends(run: Run) -> Iterator[Diagnostic]:
    """Every kink of a derivative where the value has none, which concerns second derivatives alone."""
    graph, used = run.graph, live(run)
    moved = dependents(graph, [graph.inputs[name] for name in run.wrt or ()])
    help: str | None = "its derivatives from the two sides differ; the answer is a convention"
    for node, kind in enumerate(graph.kinds):
        if kind not in BENT or not (used[node] and moved[node]):
            continue
        bend = BY_NAME[kind].bend
        found = where(run.values[graph.operands[node][0]] == bend)
        if found is not None:
            place = f"at{found.counted().removeprefix(' for')}" if found.place else "here"
            message = (
                f"the derivative of {run.label(node)} has a kink {place}: its operand is {bend:g}"
            )
            yield Flag("kink", "warning", message, node, graph.span(node), help)
            help = None
