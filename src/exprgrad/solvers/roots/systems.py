"""A system of equations over boxes: its residuals, their slopes, and where it jumps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial, reduce
from typing import NamedTuple

from exprgrad.derive.build import GraphBuilder
from exprgrad.derive.rules import shown, template
from exprgrad.derive.sweeps.gradient import jacobian_entries
from exprgrad.derive.switches import find_nonsmooth_nodes, movable_nodes
from exprgrad.graph.graph import CONST, Graph, dependency_flags, dependent_flags
from exprgrad.graph.ops import BY_NAME, COMPARISONS
from exprgrad.run.balls.balls import Ball, import_flint, specials_met
from exprgrad.run.balls.intervals import Enclosure, Enclosures, exact_enclosure, interval_between

__all__ = ["PRECISION", "Box", "BoxView", "Sight", "System", "Vector", "ball_about"]

Box = list[Enclosure]
"""An interval for each unknown."""
Vector = list[Ball]
"""An exact number for each unknown."""
PRECISION = 256
"""The precision in which roots are sought, in bits."""
MOST_CASES = 32
"""The most cases of undecided steps and comparisons tried over one box."""
MOST_CHOICES = 8
"""The most values of one undecided step."""


class System(NamedTuple):
    """A system of residuals that should be 0, and its unknowns.

    ``graph``     over numbers
    ``outputs``   the nodes that are 0
    ``unknowns``  inputs of the graph, in order
    ``values``    by other input, its double, and its text if that is not its shortest one
    """

    graph: Graph
    outputs: tuple[int, ...]
    unknowns: tuple[str, ...]
    values: Mapping[str, tuple[float, str | None]]


# Residuals without denominators.

Fraction = tuple[int, int | None]
"""The nodes of a numerator and a denominator; None is 1."""


def numerator_of(
    builder: GraphBuilder, graph: Graph, images: Sequence[int], output: int
) -> int | None:
    """Return the numerator of an output that contains quotients; None without any.

    Where the output is defined no denominator is 0, so it is 0 where its numerator is, which has no
    poles at the output's poles.
    """
    wanted = dependency_flags(graph, output)
    fractions: list[Fraction] = []
    for node, image in enumerate(images):
        if wanted[node]:
            parts = [fractions[operand] for operand in graph.operands[node]]
            fractions.append(over_one_line(builder, graph, node, parts, image))
        else:
            fractions.append((image, None))
    above, below = fractions[output]
    return None if below is None else above


def over_one_line(
    builder: GraphBuilder, graph: Graph, node: int, parts: Sequence[Fraction], image: int
) -> Fraction:
    """Return a node as a fraction made of its operands'; else its ``image``."""
    op = BY_NAME.get(graph.kinds[node])
    if op is None:
        return image, None
    whole = all(below is None for _, below in parts)
    by_constant = graph.kinds[graph.operands[node][-1]] == CONST
    if op.signs and not whole:
        return add_fractions(builder, op.signs, parts)
    if op.powers and not (whole and by_constant):
        turned = [
            fraction if power > 0 else fraction[::-1]
            for power, fraction in zip(op.powers, parts, strict=True)
        ]
        above, below = (node_product(builder, *row) for row in zip(*turned, strict=True))
        return builder.constant(1.0) if above is None else above, below
    if op.poles and op.definition and whole:
        definition, inner = template(op.definition), list[Fraction]()
        given = dict(zip(op.fallback_names, parts, strict=True))
        made = builder.include(definition, {name: given[name][0] for name in definition.inputs})
        for at, each in enumerate(made):
            operands = [inner[operand] for operand in definition.operands[at]]
            inner.append(over_one_line(builder, definition, at, operands, each))
        return inner[definition.output]
    if op.quotient and whole:
        upper, lower = op.quotient
        return builder.apply(upper, parts[0][0]), builder.apply(lower, parts[0][0])
    return image, None


def node_product(builder: GraphBuilder, *factors: int | None) -> int | None:
    """Multiply nodes; None is 1."""
    nodes = [factor for factor in factors if factor is not None]
    return reduce(partial(builder.apply, "mul"), nodes) if nodes else None


def add_fractions(
    builder: GraphBuilder, signs: Sequence[int], terms: Sequence[Fraction]
) -> Fraction:
    """Add fractions over one line."""
    first, below = terms[0]
    above = builder.apply("neg", first) if signs[0] < 0 else first
    for sign, (over, under) in zip(signs[1:], terms[1:], strict=True):
        left = above if under is None else builder.apply("mul", above, under)
        right = over if below is None else builder.apply("mul", over, below)
        above = builder.apply("add" if sign > 0 else "sub", left, right)
        below = node_product(builder, below, under)
    return above, below


# What is seen of a system.


class BoxView(NamedTuple):
    """A system's residuals and slopes over a box.

    ``residuals``  each equation's values
    ``slopes``     their derivatives, a row for each equation; 0 where one doesn't depend on an unknown
    ``is_gone``    whether some residual is never 0 in it
    ``above``      the values of numerators, each with its derivatives
    """

    residuals: list[Enclosure]
    slopes: list[list[Enclosure]]
    is_gone: bool
    above: list[tuple[Enclosure, list[Enclosure]]]

    @property
    def is_finite(self) -> bool:
        """Whether residuals and slopes are finite."""
        return all(x.is_finite for row in (self.residuals, *self.slopes) for x in row)


class Sight:
    """A view of a system in ``PRECISION``, which must be the working precision."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.algebra = Enclosures()
        self.looks = self.work = 0
        graph, unknowns = system.graph, system.unknowns
        self.given = {
            name: exact_enclosure(self.algebra.decimals.read(text, value))
            for name, (value, text) in system.values.items()
        }
        builder = GraphBuilder(typed=True)
        images = builder.include(graph)
        found = [images[node] for node in system.outputs]
        above = [numerator_of(builder, graph, images, node) for node in system.outputs]
        self.numerators = [node for node in above if node is not None]
        outputs = [*found, *self.numerators]
        self.program, self.entries = jacobian_entries(builder.graph, outputs, unknowns, shown)
        moved = [graph.inputs[name] for name in unknowns]
        self.moving = movable_nodes(graph, moved)
        self.bent = find_nonsmooth_nodes(graph, dependent_flags(graph, moved))

    def inputs(self, box: Box) -> dict[str, Enclosure]:
        """Return every input's interval."""
        return {**self.given, **dict(zip(self.system.unknowns, box, strict=True))}

    def residuals(self, box: Box) -> list[Enclosure]:
        """Enclose the residuals over a box."""
        self.looks += 1
        self.work += len(self.system.graph)
        values = self.algebra.evaluate(self.system.graph, self.inputs(box))
        return [values[node] for node in self.system.outputs]

    def look(self, box: Box) -> BoxView:
        """Enclose residuals and slopes over a box."""
        self.looks += 1
        self.work += len(self.program.graph)
        inputs, count = self.inputs(box), len(self.system.outputs)
        values = self.algebra.evaluate(self.program.graph, inputs)
        outputs = [values[node] for node in self.program.outputs]
        zero = exact_enclosure(import_flint().arb(0))
        slopes = [
            [
                outputs[self.entries[row, column]] if (row, column) in self.entries else zero
                for column in range(len(box))
            ]
            for row in range(count + len(self.numerators))
        ]
        gone = self.is_gone(values)
        if not gone and self.algebra.undecided:
            gone = self.gone_in_all_cases(inputs)
        above = [*zip(outputs[count:], slopes[count:], strict=False)]
        return BoxView(outputs[:count], slopes[:count], gone, above)

    def is_gone(self, values: Sequence[Enclosure]) -> bool:
        """Whether some residual, or its numerator, is never 0."""
        tested = self.program.outputs[: len(self.system.outputs) + len(self.numerators)]
        return any(not values[node].has_zero for node in tested)

    def gone_in_all_cases(self, inputs: Mapping[str, Enclosure]) -> bool:
        """Whether some residual is never 0, whichever way undecided steps and comparisons go."""
        todo: list[dict[int, int]] = [{}]
        for _ in range(MOST_CASES):
            if not todo:
                return True
            self.algebra.chosen = chosen = todo.pop()
            self.work += len(self.program.graph)
            values = self.algebra.evaluate(self.program.graph, inputs)
            self.algebra.chosen = {}
            if self.is_gone(values):
                continue
            node, whole = next(iter(self.algebra.undecided.items()), (0, range(0)))
            if not 0 < whole.stop - whole.start <= MOST_CHOICES:
                return False
            todo += [{**chosen, node: number} for number in whole]
        return False

    def is_smooth(self, box: Box) -> bool:
        """Whether no operation jumps in a box, or has a kink all over it, where rules are conventions."""
        if not self.bent:
            return True
        graph = self.system.graph
        values = self.algebra.evaluate(graph, self.inputs(box))
        for kind, operands in zip(graph.kinds, graph.operands, strict=True):
            if kind in COMPARISONS and not all(values[operand].total for operand in operands):
                return False
        balls = [value.ball for value in values]
        return not any(
            is_met or (is_met is None and special.code == "jump")
            for node in self.bent
            for special, is_met in specials_met(graph, balls, node, self.moving).items()
        )

    def at(self, point: Vector) -> tuple[Vector, list[Vector]] | None:
        """Evaluate residuals and slopes at a point; None where some are not finite."""
        look = self.look([exact_enclosure(x) for x in point])
        if not look.is_finite:
            return None
        return [f.ball.mid() for f in look.residuals], [
            [e.ball.mid() for e in row] for row in look.slopes
        ]


def ball_about(middle: Ball, radius: Ball) -> Enclosure:
    """Return the ball of all numbers within a radius."""
    return interval_between((middle - radius).lower(), (middle + radius).upper())
