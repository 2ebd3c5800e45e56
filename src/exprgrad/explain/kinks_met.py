"""Kinks and jumps on the active path: which nodes meet one, and what is said of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from exprgrad.derive.rules import template
from exprgrad.explain.diagnostic import Diagnostic, Flag, special_words
from exprgrad.explain.limits import beyond_sides
from exprgrad.explain.places import live, where
from exprgrad.explain.sides.movement import local_rule, met, stirs_edge
from exprgrad.graph.op import Op
from exprgrad.graph.ops import BY_NAME
from exprgrad.run.numbers.sweeps import Adjoints
from exprgrad.run.numbers.templates import sides
from exprgrad.run.result import Run

__all__ = ["flagged", "special_points"]


def flagged(run: Run, used: bytearray | None = None) -> list[int]:
    """The nodes that meet a kink or a jump and that the answer depends on, in the order of the visits.

    ``used`` are the nodes that the answer comes from, where they are known.
    """
    if run.adjoints is None or run.adjoints.quiet:
        return []
    found = [*run.adjoints.met]
    if isinstance(run.adjoints, Adjoints):
        moving = Moving(run)
        found = [node for node in found if moving.meets(node)]
    used = live(run) if used is None else used
    return [node for node in found if used[node]]


class Moving:
    """Which nodes a small step of the differentiated inputs moves, asked of as few nodes as will do.

    In ``relu(0*x)``, and below 0 in ``relu(relu(x)*y)``, the outer ``relu`` has an operand of 0, which
    stays: that is no kink.  A node that meets a kink or a jump is taken to move.
    """

    def __init__(self, run: Run) -> None:
        assert run.adjoints is not None
        self.run, self.active = run, run.adjoints.active
        self.known: dict[int, bool] = {}

    def meets(self, node: int) -> bool:
        """Whether a node meets a kink or a jump with an operand that moves."""
        operands = self.run.graph.operands[node]
        moves = [self.moves(operand) for operand in operands]
        op = BY_NAME[self.run.graph.kinds[node]]
        return met(op, self.views(node, moves), moves) is not None

    def views(self, node: int, moves: Sequence[bool]) -> list[list[float]]:
        """What the rules of a node see, operand by operand."""
        graph, values = self.run.graph, self.run.values
        arguments = [*[values[operand] for operand in graph.operands[node]], values[node]]
        return sides(BY_NAME[graph.kinds[node]], arguments, [float(m) for m in moves])

    def moves(self, node: int) -> bool:
        """Whether a node moves; its own stack keeps what is asked in between."""
        asked = [node]
        while asked:
            missing = self.ask(asked[-1])
            if missing is None:
                asked.pop()
            else:
                asked.append(missing)
        return self.known[node]

    def ask(self, node: int) -> int | None:
        """Settle a node, or name an operand to be settled before."""
        if node in self.known:
            return None
        operands = self.run.graph.operands[node]
        if not operands or not self.active[node]:
            self.known[node] = bool(self.active[node])
            return None
        op = BY_NAME[self.run.graph.kinds[node]]
        mobile = [bool(self.active[operand]) for operand in operands]
        views = self.views(node, mobile)
        if op.special and met(op, views, mobile) is not None:
            return self.settle(node, [o for o, m in zip(operands, mobile, strict=True) if m])
        locals_ = [
            local_rule(op.name, position)(view) if moves else 0.0
            for position, (view, moves) in enumerate(zip(views, mobile, strict=True))
        ]
        passing: list[int] = []
        for position, (operand, view) in enumerate(zip(operands, views, strict=True)):
            if not mobile[position]:
                continue
            if not locals_[position]:
                finite = all(map(math.isfinite, view))
                if finite and not stirs_edge(op, position, view, mobile):
                    continue  # not even if all of them move
                named = named_in(op.name, position)
                if finite and len(named) == 1 and locals_[named[0]] and is_name(op, position):
                    continue  # then the node moves with the operand that the rule is
                asked = [operands[at] for at in named]
                unknown = [o for o in asked if self.active[o] and o not in self.known]
                if unknown and position not in op.branches:
                    return unknown[0]
                settled = [self.known.get(o, m) for o, m in zip(operands, mobile, strict=True)]
                if not stirs_edge(op, position, view, settled):
                    continue
            passing.append(operand)
        return self.settle(node, passing)

    def settle(self, node: int, passing: Sequence[int]) -> int | None:
        """A node moves if one of those operands does that pass their movement on."""
        missing = None
        for operand in passing:
            if self.known.get(operand) or not self.run.graph.operands[operand]:
                self.known[node] = True
                return None
            if operand not in self.known and missing is None:
                missing = operand
        if missing is None:
            self.known[node] = False
        return missing


@cache
def named_in(name: str, position: int) -> tuple[int, ...]:
    """The operands, by position, that a row's rule for one of them speaks of; none if it is variadic."""
    op = BY_NAME[name]
    names = template(op.partial(position)).inputs
    return () if op.variadic else tuple(at for at, n in enumerate(op.names) if n in names)


def is_name(op: Op, position: int) -> bool:
    """Whether a row's rule for an operand is another operand, as in x*y."""
    return op.partial(position) in op.names


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
        help = "choose some: --wrt on the command line, wrt= in Python"
        yield Diagnostic("many-inputs", "note", message, node, run.graph.span(node), help)
