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
from exprgrad.graph.ops import BY_NAME
from exprgrad.run.numbers.sweeps import Adjoints
from exprgrad.run.numbers.templates import Template, sides
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
        operands = self.run.graph.operands[node]
        if node in self.known:
            return None
        if not operands or not self.active[node]:
            self.known[node] = bool(self.active[node])
            return None
        mobile = [bool(self.active[operand]) for operand in operands]
        views = self.views(node, mobile)
        passing = self.passing(node, mobile, views[0])
        if passing is None:
            return self.ask_rules(node, mobile, views)
        return self.settle(node, passing)

    def passing(self, node: int, mobile: Sequence[bool], view: Sequence[float]) -> list[int] | None:
        """The operands that a smooth operation moves with; None where that takes a closer look.

        In x*y with x at 0, the rule for y is x, and is 0 until x moves: but then the product moves anyway.
        """
        operands, kind = self.run.graph.operands[node], self.run.graph.kinds[node]
        rules = smooth(kind)
        if rules is None:
            return None
        passes = [moves and rule(view) != 0 for moves, rule in zip(mobile, rules, strict=True)]
        for position, passed in enumerate(passes):
            if mobile[position] and not passed:
                other = named_alone(kind, position)
                if other is None or not (passes[other] and all(map(math.isfinite, view))):
                    return None
        return [operand for operand, passed in zip(operands, passes, strict=True) if passed]

    def ask_rules(
        self, node: int, mobile: Sequence[bool], views: Sequence[Sequence[float]]
    ) -> int | None:
        """The same of an operation that meets a kink, perhaps, or passes nothing on, perhaps."""
        operands = self.run.graph.operands[node]
        op = BY_NAME[self.run.graph.kinds[node]]
        if op.special and met(op, views, mobile) is not None:
            return self.settle(node, [o for o, m in zip(operands, mobile, strict=True) if m])
        passing: list[int] = []
        for position, (operand, view) in enumerate(zip(operands, views, strict=True)):
            if not mobile[position]:
                continue
            if not local_rule(op.name, position)(view):
                finite = all(map(math.isfinite, view))
                if finite and not stirs_edge(op, position, view, mobile):
                    continue  # not even if all of them move
                named = [operands[at] for at in named_in(op.name, position)]
                unknown = [o for o in named if self.active[o] and o not in self.known]
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
def smooth(name: str) -> tuple[Template, ...] | None:
    """The rules of a row without kinks and jumps, as functions of its slots; None of any other."""
    op = BY_NAME[name]
    if op.special or op.variadic or op.branches:
        return None
    return tuple([local_rule(name, position) for position in range(len(op.names))])


@cache
def named_alone(name: str, position: int) -> int | None:
    """The operand, by position, that is a row's rule for another; None where the rule is no such name."""
    op = BY_NAME[name]
    rule = op.partial(position)
    return op.names.index(rule) if rule in op.names else None


@cache
def named_in(name: str, position: int) -> tuple[int, ...]:
    """The operands, by position, that a row's rule for one of them speaks of; none if it is variadic."""
    op = BY_NAME[name]
    names = template(op.partial(position)).inputs
    return () if op.variadic else tuple(at for at, n in enumerate(op.names) if n in names)


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
