"""Kinks and jumps on the active path: the nodes that meet one, their messages, and what moves at all.

A node need not move when its operand does: a comparison away from a tie does not, nor does ``relu``
below 0, nor 0 times what moves.  The rows tell, for a rule that is 0 and stays 0 passes no movement on.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache

from exprgrad.derive.rules import rule_slots, template
from exprgrad.errors import command_or_python
from exprgrad.explain.limits import side_limit_reason
from exprgrad.explain.places import first_place, live_nodes
from exprgrad.graph.graph import Algebra, Graph, dependency_flags, dependent_flags, interpret
from exprgrad.graph.ops import BENT, BY_NAME, NonsmoothPoint, Op
from exprgrad.run.evaluation import Diagnostic, Flag, SweptRun, adjoints_of, evaluator_for
from exprgrad.run.numbers.sweeps import (
    Adjoints,
    Template,
    companion_values,
    compile_template,
    functions,
    special_tests,
    template_number,
)

__all__ = [
    "SPECIAL_WORDS", "compile_local_derivative", "derivative_kink_diagnostics", "inner_derivative_kinks",
    "kink_diagnostics", "met_nonsmooth_point", "nonsmooth_nodes", "passes_movement", "template_moves",
]  # fmt: skip


SPECIAL_WORDS = {
    "kink": (
        "has a kink",
        "its derivatives from the two sides may differ; the answer is a convention",
    ),
    "jump": (
        "jumps",
        "there is no derivative at a jump; the answer is the slope on the side that has the value",
    ),
}
"""The message and help for a node at a kink or a jump."""


def inner_derivative_kinks(run: SweptRun) -> Iterator[Diagnostic]:
    """Yield the kinks and jumps met by derivatives inside the formula, where these are conventions."""
    graph, values = run.graph, run.values
    needed, evaluator = dependency_flags(graph, graph.output), evaluator_for(graph)
    for call in graph.calls:
        for node in call.bends if needed[call.result] else ():
            op, operands = BY_NAME[graph.kinds[node]], graph.operands[node]
            seen = [values[operand] for operand in operands]
            whole = [[*seen, values[node], *[1.0] * len(seen)]]
            views = [[x, values[node], 1.0, 2.0] for x in seen] if op.variadic else whole
            least = 2 if op.variadic else 1  # operands that tie
            for special in op.special:
                met = [evaluator.holds(special.where, rule_slots(op), view) for view in views]
                if sum(met) >= least:
                    does, help = SPECIAL_WORDS[special.code]
                    name = run.texts[node] if node == call.result else run.label(node)
                    message = f"{name} {does} here, and {call.text} is taken there"
                    yield Diagnostic(special.code, "warning", message, call.result, call.span, help)


def nonsmooth_nodes(run: SweptRun, used: bytearray | None = None) -> list[int]:
    """Return the nodes at a kink or a jump that the answer depends on, in the order of the visits.

    Nodes whose operands don't move are left out: in ``relu(0*x)``, and below 0 in ``relu(relu(x)*y)``, the
    outer ``relu`` has an operand of 0, which no small step of x or y moves.  ``used`` are the nodes that
    the answer depends on, where they are known.
    """
    if run.adjoints is None or run.adjoints.quiet:
        return []
    found = [*run.adjoints.met]
    if isinstance(run.adjoints, Adjoints):
        graph, flags = run.graph, moving_operands(run, found)
        moves = {node: [flags[operand] for operand in graph.operands[node]] for node in found}
        found = [
            node
            for node in found
            if met_nonsmooth_point(
                BY_NAME[graph.kinds[node]], rule_views(run, node, moves[node]), moves[node]
            )
        ]
        if not found or run.adjoints.tape.gated is None:
            return found  # where no branch is left out, the answer depends on all that was visited
    used = live_nodes(run) if used is None else used
    return [node for node in found if used[node]]


def kink_diagnostics(
    run: SweptRun, used: bytearray, one_sided: Mapping[str, object] | None
) -> Iterator[Diagnostic]:
    """Yield every kink and jump on the active path; the first of each kind has help.

    Where one-sided derivatives were found, they give the help.
    """
    helped, met = set(), adjoints_of(run, "kinks").met
    for node in nonsmooth_nodes(run, used):
        for special, flags in met[node]:
            verb, words = SPECIAL_WORDS[special.code]
            help = None if one_sided or special.code in helped else words
            helped.add(special.code)
            found = first_place(flags)
            place = f"at{found.counted().removeprefix(' for')}" if found and found.place else "here"
            message = f"{run.label(node)} {verb} {place}: {special.why}"
            yield Flag(special.code, "warning", message, node, run.graph.span(node), help)
    limit = side_limit_reason(run) if helped and one_sided is not None else ""
    if limit:
        message = (
            f"derivatives from the two sides are found for {limit}, "
            "so kinks and jumps are only flagged"
        )
        node = run.graph.output
        help = "choose some: " + command_or_python("--wrt a,b", "wrt=['a', 'b']")
        yield Diagnostic("many-inputs", "note", message, node, run.graph.span(node), help)


def derivative_kink_diagnostics(run: SweptRun) -> Iterator[Diagnostic]:
    """Yield every kink of a derivative where the value has none; it affects second derivatives alone."""
    graph, used = run.graph, live_nodes(run)
    moved = dependent_flags(graph, [graph.inputs[name] for name in run.wrt or ()])
    help: str | None = "its derivatives from the two sides differ; the answer is a convention"
    for node, kind in enumerate(graph.kinds):
        if kind not in BENT or not (used[node] and moved[node]):
            continue
        bend = BY_NAME[kind].derivative_kink_at
        found = first_place(run.values[graph.operands[node][0]] == bend)
        if found is not None:
            place = f"at{found.counted().removeprefix(' for')}" if found.place else "here"
            message = (
                f"the derivative of {run.label(node)} has a kink {place}: its operand is {bend:g}"
            )
            yield Flag("kink", "warning", message, node, graph.span(node), help)
            help = None


# Movement.

DEPTH = 2
"""How deep a rule's own rules are followed; beyond that, whatever might move counts as moving."""


@cache
def compile_local_derivative(name: str, position: int) -> Template:
    """Compile the local derivative of a row for the operand at a position, as a function of its slots."""
    op = BY_NAME[name]
    return compile_template(template(op.partial(position)), rule_slots(op))


def met_nonsmooth_point(
    op: Op, views: Sequence[Sequence[float]], moves: Sequence[bool]
) -> NonsmoothPoint | None:
    """Return the kink or jump that an operation meets, if an operand involved moves.

    ``views`` are the slots' values, by operand; their ``varies`` says which operands move.
    """
    for special, test in special_tests(op.name):
        if op.variadic:
            found = any(m and test(view) for view, m in zip(views, moves, strict=True))
        else:
            found = any(moves) and bool(test(views[0]))
        if found:
            return special
    return None


def moving_operands(run: SweptRun, nodes: Iterable[int]) -> Mapping[int, bool]:
    """Tell, by operand of some nodes, whether a small step of the differentiated inputs moves it.

    A node at a kink or a jump counts as moving if an operand moves.

    A moving operand never stops a node from moving.  So a node is settled early if it stays even
    when every operand that might move does, or if one operand is sure to move it.
    """
    graph, active = run.graph, adjoints_of(run, "kinks").active
    known = {node: bool(active[node]) for node in graph.inputs.values()}
    asked = [operand for node in nodes for operand in graph.operands[node]]
    while asked:
        node = asked[-1]
        if node in known or not active[node]:
            known.setdefault(asked.pop(), False)
            continue
        op, operands = BY_NAME[graph.kinds[node]], graph.operands[node]
        mobile = [bool(active[operand]) for operand in operands]
        seen = rule_views(run, node, mobile)
        kink = bool(op.special) and met_nonsmooth_point(op, seen, mobile) is not None
        might = [at for at, operand in enumerate(operands) if known.get(operand, active[operand])]
        sure = [at for at in might if kink or compile_local_derivative(op.name, at)(seen[at]) != 0]
        if any(operands[at] in known for at in sure):
            known[node] = True
            continue
        flags = [at in might for at in range(len(operands))]
        if not (sure or any(passes_movement(op, at, seen[at], flags) for at in might)):
            known[node] = False
            continue
        unknown = [operands[at] for at in sure or might if operands[at] not in known]
        if unknown:
            asked.append(unknown[0])
        else:
            known[node] = True
    return known


def rule_views(run: SweptRun, node: int, moves: Sequence[bool]) -> list[list[float]]:
    """Return the values that a node's rules see, operand by operand."""
    graph, values = run.graph, run.values
    arguments = [*[values[operand] for operand in graph.operands[node]], values[node]]
    return companion_values(BY_NAME[graph.kinds[node]], arguments, [float(m) for m in moves])


def passes_movement(
    op: Op, position: int, view: Sequence[float], moves: Sequence[bool], depth: int = DEPTH
) -> bool:
    """Whether a moving operand makes its user move, away from kinks and jumps.

    ``view`` has the values that the operand's rule sees.  Nothing moves through a rule that is the
    constant 0, through the branch that a ``where`` does not take, or through a rule that is 0 and stays 0.

    At an infinity that is a limit, many rules are 0 without being 0 on the way there, such as that of
    ``exp``.  The computed rule may have been cut off, so the rule that is shown decides, and its ``out`` is
    taken to move.  A step function jumps again and again on its way to an infinity.
    """
    rule = op.partial(position)
    if rule == "0":
        return math.isinf(view[position]) and math.isinf(view[len(op.names)])
    passes = compile_local_derivative(op.name, position)(view) != 0
    if passes or position in op.branches or not depth:
        return passes or position not in op.branches
    if rule in op.names:
        return moves[op.names.index(rule)]
    given = dict(zip(rule_slots(op), view, strict=True))
    moving = (
        {op.names[0]} if op.variadic else {n for n, m in zip(op.names, moves, strict=True) if m}
    )
    if any(math.isinf(given[name]) for name in moving):
        rule = op.display_partial(position)
        moving |= {"out"}
    return template_moves(template(rule), given, moving, depth - 1)


def template_moves(
    graph: Graph, given: Mapping[str, float], moving: Collection[str], depth: int = DEPTH
) -> bool:
    """Whether a template's value moves when some of its names do.

    ``out`` is taken to stay: if nothing but ``out`` could move the value, nothing does.  At a kink or a
    jump an operation of the template is taken to move.
    """

    algebra = Algebra(template_number, lambda _, node, seen: functions[graph.kinds[node]](*seen))
    values = interpret(graph, algebra, given)
    asked = live_nodes(SweptRun("", graph, {}, values))
    flags = [name in moving for name in graph.payloads]
    for node, operands in enumerate(graph.operands):
        moves = [flags[operand] for operand in operands]
        if asked[node] and any(moves):
            op = BY_NAME[graph.kinds[node]]
            seen = [values[operand] for operand in operands]
            views = companion_values(op, [*seen, values[node]], [float(m) for m in moves])
            flags[node] = met_nonsmooth_point(op, views, moves) is not None or any(
                moves[at] and passes_movement(op, 0 if op.variadic else at, view, moves, depth)
                for at, view in enumerate(views)
            )
    return flags[graph.output]
