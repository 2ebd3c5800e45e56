"""Where the truth about an answer's numbers comes from, and what is to blame where they lose digits.

The formula is worked out again in ball arithmetic at the exact double inputs, in ever higher precision
until every number asked for has a tight enclosure.

Numbers are asked for by their paths.  Tensors are written out number by number: the path of a tensor's
number ends in its place there, as in ``("jacobian", "y", "X", "[0, 1]")``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property, partial
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

from exprgrad.derive.rules import computed, real
from exprgrad.derive.sweeps.gradient import gradient
from exprgrad.explain.digits.trusted import (
    LONGEST_LABEL,
    Better,
    Enclosed,
    Evidence,
    Lost,
    Trust,
    Trusted,
    derivative,
    enclosed,
    find_lost,
    hanging,
    judged,
)
from exprgrad.explain.kinks_met import SPECIAL_WORDS, flagged
from exprgrad.explain.places import Numbers, at, in_numbers, places_in
from exprgrad.explain.rewriting.rewrites import Menders
from exprgrad.graph.graph import (
    MOST_ELEMENTS,
    Graph,
    Shape,
    dependencies,
    dependents,
    element_name,
    nested,
    size,
)
from exprgrad.language.write.infix import ATOM, operand_level
from exprgrad.run.balls.balls import (
    Ball,
    ball,
    either,
    enclose,
    specials_met,
    undefined,
    working,
)
from exprgrad.run.evaluation import Path, Run, evaluator_for
from exprgrad.run.matrices import BY_OUTPUT, MATRICES, Kind, Point, Question
from exprgrad.run.numbers.bounds import TINY
from exprgrad.run.numbers.sweeps import forward
from exprgrad.source import Span, cut

if TYPE_CHECKING:
    from exprgrad.explain.sides.kinks import OneSided

__all__ = [
    "MOST_EXPLAINED", "Derived", "Label", "Place", "Source", "Swept", "Unexplained", "label_of",
    "trust", "unfolded",
]  # fmt: skip

Label = Callable[[str, Sequence[tuple[str, Shape]]], str]
"""What messages call a number: by its field, then the names that lead to it, each with a place."""
GRADIENT = 3
"""How many times as many nodes as a formula its gradient has, about."""
MOST_EXPLAINED = 16
"""For how many numbers it is worked out where their digits are lost: each takes a walk over the graph."""
MOST_DERIVED = 2**17
"""For how many nodes of derived graphs the truth about tensors is worked out, about: that takes seconds."""
MOST_TURNS = 10_000
"""Up to so many nodes it is asked which kinks what was typed meets."""
BY_ONE = {"value", "gradient", "jacobian", "vjp"}
"""The fields of values and of first derivatives, whose digits a rewrite may keep."""


class Place(NamedTuple):
    """A node of the user's graph, its place in the text, and help.

    ``through`` are the nodes that an error came through on its way to a number.
    """

    node: int
    span: Span
    help: str | None = None
    through: tuple[int, ...] = ()


class Turn(NamedTuple):
    """A kink or a jump, in words; and whether it counts where the answer is the same."""

    words: str
    is_kink: bool
    counts: bool


def label_of(run: Run, path: Path) -> str:
    """What messages call a number, or a tensor: the output's text, or ``x.grad``."""
    return f"{path[1]}.grad" if path[1:] else cut(run.label(run.graph.output), LONGEST_LABEL)


def place_in(path: Path, names: int) -> Shape:
    """The place at the end of the path of a tensor's number, after the names; ``()`` without one."""
    text = path[names + 1 :]
    return tuple(map(int, text[0].strip("[]").split(", "))) if text else ()


class Known:
    """What is known of a formula whose numbers are asked for: what ``Swept`` and ``Derived`` share.

    ``run``      the formula's
    ``doubles``  what is true of the formula's nodes for the doubles that were read
    ``typed``    the same for the decimals as typed
    ``bits``     the precision that it took
    """

    answering: Any

    def __init__(self, run: Run) -> None:
        self.run = run

    @cached_property
    def over(self) -> Numbers[Run]:
        """The run over numbers.  Raises ``RequestError`` for tensors that are too large."""
        return in_numbers(self.run)

    @cached_property
    def formula(self) -> Run:
        """The run over numbers, or what else their doubles and decimals are asked of."""
        return self.over.run

    @property
    def bits(self) -> int:
        """The precision that it took."""
        return self.doubles.bits

    @cached_property
    def doubles(self) -> Enclosed:
        """What is true of the formula's own nodes."""
        formula = self.formula
        return Enclosed(enclose(formula.graph, formula.inputs, self.bits), None, self.bits)

    @cached_property
    def typed(self) -> Enclosed:
        """The same for the decimals as typed."""
        formula, typed = self.formula, self.formula.spelled
        values = enclose(formula.graph, formula.inputs, self.bits, typed=typed)
        return Enclosed(values, None, self.bits)

    @cached_property
    def decimals(self) -> list[str]:
        """The literals, and the inputs by their names, that doubles only come near."""
        return hanging(self.formula.graph, self.formula.inputs, self.formula.spelled)

    @cached_property
    def turn(self) -> Turn | None:
        """The first kink or jump that the decimals as typed meet, and the doubles do not.

        Those come first that the answer depends on there, where a reverse sweep tells.
        """
        if not self.decimals or len(self.formula.graph) > MOST_TURNS:
            return None
        with working(self.bits):
            turns = list(self.turns())
        return next((turn for turn in turns if turn.counts), turns[0] if turns else None)

    def turns(self) -> Iterator[Turn]:
        """The kinks and jumps that the decimals as typed meet, and the doubles do not."""
        run, graph = self.formula, self.formula.graph
        used = dependencies(graph, graph.output)
        for node, operands in enumerate(graph.operands):
            if not (operands and used[node]):
                continue
            known = specials_met(graph, self.typed.values, node, run.varying)
            for special in [special for special, is_met in known.items() if is_met]:
                if not specials_met(graph, self.doubles.values, node, run.varying)[special]:
                    words = f"{run.label(node)} {SPECIAL_WORDS[special.code][0]}: {special.why}"
                    is_kink = special.code == "kink"
                    yield Turn(words, is_kink, is_kink or self.is_torn)

    @cached_property
    def is_torn(self) -> bool:
        """Whether some answer stays apart on both sides of the decimals as typed, however near."""
        (graph, outputs), run, widths = self.answering, self.formula, []
        for bits in (self.bits, 2 * self.bits):
            aside = steps_around(run.inputs, bits)
            near = enclose(graph, run.inputs, 2 * bits, typed=run.spelled, aside=aside)
            widths.append([near[node].rad() for node in outputs])
        return any(bool(fine * 2 > wide) for wide, fine in zip(*widths, strict=True))

    @cached_property
    def menders(self) -> Menders:
        """The known mends of the formula."""
        return Menders(self.formula, self.doubles.values[self.formula.graph.output])

    def better(self, name: str, nodes: Sequence[int], plain: Trusted, true: Ball) -> Better | None:
        """The rewrite that keeps the digits of the value, or of the derivative by ``name``.

        None is known for tensors that are written out.
        """
        return None if self.over.origins else self.menders.better(name, nodes, plain, true)

    def loser(self, lost: Lost, through: Sequence[int], who: str, better: Better | None) -> Place:
        """The node that lost a number's digits, the first that they came ``through``, and help."""
        advice = "" if better is None else f"; {better.advice}"
        nodes = self.origins(through)
        return Place(nodes[0], lost.span, f"{who} loses them: {lost.why}{advice}", nodes)

    def origins(self, nodes: Iterable[int]) -> tuple[int, ...]:
        """What nodes come from."""
        return tuple([self.over.origin(node) for node in nodes])


class Swept(Known):
    """The truth about a run's value and gradient, which two sweeps find: in doubles, and in balls."""

    @cached_property
    def outputs(self) -> list[int]:
        """The nodes of the value's numbers."""
        output = self.run.graph.output
        return [self.over.node(output, place) for place in places_in(self.over.nodes[output])]

    @cached_property
    def doubles(self) -> Enclosed:
        """What is true for the doubles that were read."""
        run = self.formula
        return enclosed(run.graph, run.inputs, run.wrt, outputs=self.outputs)

    @cached_property
    def typed(self) -> Enclosed:
        """What is true for the decimals as typed."""
        if not self.decimals:
            return self.doubles
        run = self.formula
        given = (run.graph, run.inputs, run.wrt)
        return enclosed(*given, typed=run.spelled, outputs=self.outputs, bits=self.bits)

    @cached_property
    def answering(self) -> tuple[Graph, Sequence[int]]:
        """The graph of the value and the gradient, by the rules for real arithmetic, and their nodes."""
        run = self.formula
        value = run.graph, self.outputs
        return gradient(unfolded(run.graph), run.wrt, real) if run.wrt else value

    @cached_property
    def evidence(self) -> Evidence:
        """The doubles beside what is true."""
        return Evidence(self.formula, self.doubles)

    def rounded_kinks(self, nodes: Iterable[int]) -> set[int]:
        """Of nodes at kinks and jumps those that are there by rounding alone, for certain."""
        run = self.formula
        readings = [self.doubles.values, self.typed.values]
        with working(self.bits):
            return {
                node
                for node in nodes
                if all(
                    is_met is False
                    for values in readings
                    for is_met in specials_met(run.graph, values, node, run.varying).values()
                )
            }

    def seek(self, paths: Iterable[Path]) -> None:
        """All numbers come of one sweep."""

    def is_affordable(self, paths: Iterable[Path]) -> bool:
        """Whether the truth about some numbers is worked out in a reasonable time."""
        return True

    def input(self, path: Path) -> str:
        """The input, over numbers, that a number is the derivative by; empty for a value."""
        return "".join(path[1:]) if path[0] == "gradient" else ""

    def number(self, path: Path) -> int:
        """The node of a number of the value, or of the input that a derivative is by."""
        if name := self.input(path):
            return self.formula.graph.inputs[name]
        return self.over.node(self.run.graph.output, place_in(path, 0))

    def truth(self, path: Path) -> tuple[Ball, Ball]:
        """A number for the doubles that were read, and for the decimals as they are typed."""
        return self.true(self.doubles, path), self.true(self.typed, path)

    def true(self, found: Enclosed, path: Path) -> Ball:
        """A number by one of the two readings."""
        if name := self.input(path):
            return derivative(found, self.formula.graph, name)
        return found.values[self.number(path)]

    def has_value(self, path: Path) -> bool:
        """Whether the output may have a value, by the doubles or the decimals as they are typed."""
        output = self.formula.graph.output
        return not all(one.values[output].is_nan() for one in (self.doubles, self.typed))

    def label(self, path: Path) -> str:
        """The output's text, or ``x.grad``, with the place."""
        run = self.run
        names = len(self.whole(path))
        called = label_of(run, path[:names])
        place = "".join(path[names:])
        is_text = place and path[0] == "value"
        if is_text and operand_level(run.graph, run.graph.output, run.names) != ATOM:
            called = f"({called})"
        return called + place

    def place(self, path: Path) -> Place:
        """The output, or an input."""
        graph = self.run.graph
        node = graph.inputs[path[1]] if path[0] == "gradient" else graph.output
        return Place(node, graph.span(node))

    def whole(self, path: Path) -> Path:
        """The path of the tensor that a number is one of; its own if it is none's."""
        return path[: 2 if path[0] == "gradient" else 1]

    def count(self, tensor: Path) -> int:
        """How many numbers the output has, or an input."""
        return size(self.run.graph.shape(self.place(tensor).node))

    def blamed(self, path: Path, plain: Trusted, true: Ball) -> Place:
        """Where a number's digits are lost, and what would keep them; ``plain`` is the sweep's number."""
        lost, nodes, better = self.explained(path, plain, true)
        if lost is None:
            return self.place(path)._replace(through=self.origins(nodes))
        return self.loser(lost, nodes, self.formula.label(lost.node), better)

    def suspect(self, path: Path, least: int) -> tuple[int, str]:
        """The first node that has too few digits by bounds, on the way to a tensor, and its text."""
        run, (data, grads) = self.run, self.run.errors
        node = first_poor(run, data, dependencies(run.graph, run.graph.output), least)
        if node is None and path[0] == "gradient" and run.adjoints is not None:
            found, order = run.adjoints.grads, run.order
            node = next((n for n in order if is_poor(run, found[n], grads[n], least)), None)
        node = self.place(path).node if node is None else node
        return node, run.label(node)

    def explained(
        self, path: Path, plain: Trusted, true: Ball
    ) -> tuple[Lost | None, list[int], Better | None]:
        """The node that loses most digits, those that the error came through, and a better rewrite."""
        name = self.input(path)
        lost, nodes = find_lost(self.evidence, self.number(path), plain.digits, is_slope=bool(name))
        return lost, nodes, self.better(name, nodes, plain, true) if lost else None


class Unexplained(Swept):
    """The truth alone: where digits are lost is not looked into, which takes most of the time."""

    def blamed(self, path: Path, plain: Trusted, true: Ball) -> Place:
        """Where the number stands."""
        return self.place(path)


class Derived(Known):
    """The truth about numbers that derived graphs find: a graph derived by rules for real arithmetic.

    ``asked`` are the paths, over numbers, that are sought, ``derived`` is what the graph that is computed
    found, and ``nodes`` are the numbers there.
    """

    def __init__(self, run: Run, point: Point, kind: Kind, label: Label) -> None:
        super().__init__(run)
        shape = run.graph.shape
        self.inputs = {name: shape(run.graph.inputs[name]) for name in point.wrt}
        self.outputs = {name: shape(node) for name, node in point.outputs.items()}
        self.kind = kind
        self.given = point
        self.called = label

    @cached_property
    def question(self) -> Question:
        """What is asked, over numbers."""
        return self.kind.question(self.point)

    @cached_property
    def formula(self) -> Run:
        """The formula, whose inputs are also those of the derived graph; its nodes are not worked out."""
        graph, inputs, *_, spelled = self.question
        return Run(self.run.text, graph, inputs, [], spelled=spelled)

    @cached_property
    def point(self) -> Point:
        """Where the question is asked, by number."""
        point, over, graph = self.given, self.over.run, self.run.graph
        if over is self.run:
            return point

        def numbers(name: str, node: int) -> dict[str, int]:
            """By what each number of a node is called, its own node."""
            places = places_in(self.over.nodes[node])
            return {element_name(name, place): self.over.node(node, place) for place in places}

        outputs: dict[str, int] = {}
        for name, node in point.outputs.items():
            outputs |= numbers(name, node)
        wrt = [each for name in point.wrt for each in numbers(name, graph.inputs[name])]
        direction = {
            element_name(name, place): at(value, place)
            for name, value in point.direction.items()
            for place in places_in(value)
        }
        evaluator = evaluator_for(over.graph)
        return Point(evaluator, over.inputs, outputs, tuple(wrt), direction, point.spelled)

    def seek(self, paths: Iterable[Path]) -> None:
        """Work out what doubles make of some numbers."""
        question = self.question
        self.asked = [self.number(path) for path in paths]
        wanted = self.asked if self.over.origins else None  # over numbers the evaluator keeps all
        graph, self.nodes = question.derive(question.graph, computed, wanted)
        self.derived = Run(self.run.text, graph, question.inputs, forward(graph, question.inputs))

    @cached_property
    def true(self) -> tuple[Graph, Mapping[Path, int]]:
        """The graph that is derived by the rules for real arithmetic, and the numbers there."""
        return self.question.derive(unfolded(self.question.graph), real, self.asked)

    @property
    def answering(self) -> tuple[Graph, Sequence[int]]:
        """The same graph, and the numbers' nodes alone."""
        graph, nodes = self.true
        return graph, [nodes[path] for path in self.asked if path in nodes]

    @cached_property
    def answers(self) -> tuple[Enclosed, Enclosed]:
        """What is true there for the doubles that were read, and for the decimals as typed."""
        (graph, outputs), question = self.answering, self.question
        work_out = partial(enclosed, graph, question.inputs, None, outputs=outputs)
        doubles = work_out()
        return doubles, work_out(typed=question.spelled) if self.decimals else doubles

    @property
    def bits(self) -> int:
        """The precision that it took."""
        return self.answers[0].bits

    def is_affordable(self, paths: Sequence[Path]) -> bool:
        """Whether the truth about some numbers is worked out in a reasonable time: over numbers it is.

        Over tensors that depends on how many nodes a derived graph of them has, about: a sweep for each
        row of a matrix.
        """
        if not self.over.origins:
            return True
        fields: dict[str, set[str]] = {}
        for path in paths:
            if path[0] in MATRICES:
                fields.setdefault(path[0], set()).add(self.number(path)[1])
        sweeps = len(fields.get("jacobian", ())) + GRADIENT * len(fields.get("hessian", ()))
        work = max(sweeps, 1) * len(self.over.run.graph)
        return len(paths) <= MOST_ELEMENTS and work <= MOST_DERIVED

    @cached_property
    def alone(self) -> set[Path]:
        """The numbers that are not finite in doubles, and true at the point alone, not beside it.

        A rule that has a case for a pole, an edge or a jump says there what the case is, and its derivative
        is that of the case: it is no derivative of the formula.
        """
        graph, nodes = self.true
        values = self.derived.values
        infinite = [path for path, node in self.nodes.items() if not math.isfinite(values[node])]
        suspects = [path for path in infinite if path in nodes]
        if not suspects:
            return set()
        inputs = self.question.inputs
        beside = enclose(graph, inputs, self.bits, aside=steps_around(inputs, self.bits))
        return {path for path in suspects if not beside[nodes[path]].is_finite()}

    def truth(self, path: Path) -> tuple[Ball, Ball]:
        """A number for the doubles that were read, and for the decimals as they are typed."""
        path = self.number(path)
        node = self.true[1].get(path)
        if node is None:
            return ball(0), ball(0)
        if path in self.alone:
            return undefined(), undefined()
        doubles, typed = self.answers
        return doubles.values[node], typed.values[node]

    def has_value(self, path: Path) -> bool:
        """Whether the outputs that a number comes of may have values."""
        outputs, names = self.question.outputs, self.number(path)
        nodes = [outputs[names[1]]] if path[0] in BY_OUTPUT else outputs.values()
        return not any(self.doubles.values[node].is_nan() for node in nodes)

    def split(self, path: Path) -> list[tuple[str, Shape]]:
        """The names by which a number is found, each with a place; ``()`` if it is the tensor's path."""
        field, *names = self.whole(path)
        place = place_in(path, len(names))
        found = []
        for at_name, name in enumerate(names):
            is_output = field in BY_OUTPUT and not at_name
            rank = len((self.outputs if is_output else self.inputs)[name])
            found.append((name, place[:rank]))
            place = place[rank:]
        return found

    def number(self, path: Path) -> Path:
        """What the path of a number is in the formula over numbers."""
        names = [element_name(*pair) for pair in self.split(path)]
        if path[0] == "hessian":
            names.sort(key=self.point.wrt.index)
        return path[0], *names

    def label(self, path: Path) -> str:
        """What messages call a number, or a block."""
        return self.called(path[0], self.split(path))

    def whole(self, path: Path) -> Path:
        """The path of the block that a number is one of; its own if it is none's."""
        return path[: 3 if path[0] in MATRICES else 2]

    def count(self, tensor: Path) -> int:
        """How many numbers a block has."""
        field, *names = tensor
        outputs = names[:1] if field in BY_OUTPUT else []
        shapes = [self.outputs[name] for name in outputs]
        shapes += [self.inputs[name] for name in names[len(outputs) :]]
        return prod(map(size, shapes))

    def place(self, path: Path) -> Place:
        """The part of the formula that the number was derived from last."""
        node = self.source(self.nodes.get(self.number(path), self.derived.graph.output))
        return Place(self.over.origin(node), self.question.graph.span(node))

    def source(self, node: int) -> int:
        """The formula's node that a node of the derived graph comes from."""
        origins = self.derived.graph.origins
        return origins.get(node, self.question.graph.output) if origins else node

    @cached_property
    def evidence(self) -> Evidence:
        """The doubles of the graph that is computed, beside what is true."""
        values = enclose(self.derived.graph, self.derived.inputs, self.bits)
        return Evidence(self.derived, Enclosed(values, None, self.bits))

    def blamed(self, path: Path, plain: Trusted, true: Ball) -> Place:
        """The node of the derived graph that loses most digits, and what it comes from."""
        node = self.nodes.get(self.number(path))
        if node is None:
            return self.place(path)
        lost, nodes = find_lost(self.evidence, node, plain.digits)
        through = [self.source(node) for node in nodes]
        if lost is None:
            return self.place(path)._replace(through=self.origins(through))
        label = self.derived.label(lost.node)
        origin = self.formula.label(through[0])
        who = label if label == origin else f"what is derived from {origin}"
        lost = lost._replace(span=self.question.graph.span(through[0]))
        name = path[-1] if path[0] != "value" else ""
        better = self.better(name, through, plain, true) if path[0] in BY_ONE else None
        return self.loser(lost, through, who, better)

    def suspect(self, path: Path, least: int) -> tuple[int, str]:
        """The first node that has too few digits by bounds, and its text; else an output or an input."""
        from exprgrad.run.arrays.bounds import data_errors

        graph, outputs = self.run.graph, self.given.outputs
        data = data_errors(graph, self.run.values, outputs.values())
        node = first_poor(self.run, data, dependencies(graph, *outputs.values()), least)
        if node is not None:
            return node, self.run.label(node)
        return (outputs if path[0] in BY_OUTPUT else graph.inputs)[path[1]], ""


Source = Swept | Derived
"""What knows the truth about the numbers of an answer, by their paths.

It is first told which numbers to ``seek``, if that ``is_affordable``.
"""


def steps_around(inputs: Mapping[str, float], bits: int) -> dict[str, Ball]:
    """A way to both sides of every input, shorter than that to the next double by far."""
    with working(bits):
        both = (either() - ball(1) / 2) * ball(2) ** -bits
        return {name: both * ball(abs(x) or TINY) for name, x in inputs.items()}


def first_poor(run: Run, errors: Sequence[Any], used: Sequence[int], least: int) -> int | None:
    """The first operation, of those in use, whose data has too few digits for certain."""
    for node, operands in enumerate(run.graph.operands):
        if operands and used[node] and is_poor(run, run.values[node], errors[node], least):
            return node
    return None


def is_poor(run: Run, value: Any, error: Any, least: int) -> bool:
    """Whether a node's number, or one of a tensor's, has too few right digits as far as bounds tell."""
    return value is not None and evaluator_for(run.graph).right_digits(value, error) < least


def unfolded(graph: Graph) -> Graph:
    """The same graph with names for literals that are no whole numbers.

    What is derived from it keeps them as they are typed: 0.3 - 0.2 is the double 0.09999999999999998.
    """
    view = copy(graph)
    literals = {
        node: graph.spelled.get(node) or repr(payload)
        for node, payload in enumerate(graph.payloads)
        if isinstance(payload, float)
        and (node in graph.spelled or (math.isfinite(payload) and not payload.is_integer()))
    }
    view.symbols = literals | graph.symbols
    return view


# How far a run's numbers can be trusted.

MOST_LEFT = 13
"""Digits count as lost where no more than these are left: rounding alone takes two or three."""
BEST = ("exact", "rounded", "pole", "undefined")
"""Verdicts on numbers that lost nothing."""


def trust(run: Run, gradient: Mapping[str, Any], sides: Mapping[str, OneSided]) -> Trust:
    """How far a run's numbers can be trusted, where their digits are lost, and what would keep them.

    ``sides`` are the derivatives from the sides, which may have corrected the ``gradient``.  Raises
    ``MissingExtraError`` without python-flint, ``RequestError`` for tensors too large to be written out.
    """
    source = Swept(run)
    found, over = source.doubles, source.formula
    special = conventional(over, sides)
    corrected = {name for name, side in sides.items() if side.corrected}
    explained: list[Path] = []

    def measured(path: Path, value: float, true: Ball) -> Trusted:
        name = source.input(path)
        if name in corrected:
            return Trusted(value, 0, False, "corrected", None, None, None, True, None, None)
        plain = judged(value, true, found.bits)._replace(convention=name in special)
        if (
            plain.verdict in BEST
            or plain.digits > MOST_LEFT
            or (plain.verdict == "zero" and value == 0)
        ):
            return plain
        explained.append(path)
        if len(explained) > MOST_EXPLAINED:
            return plain
        lost, better = source.explained(path, plain, true)[::2]
        if lost is not None and source.over.origins:
            node, place = source.over.origins[lost.node]
            lost = lost._replace(node=node, place=place or ())
        if plain.verdict == "undecided":
            better = None  # an undecided ball meets any other
        return plain._replace(lost=lost, rewrite=better)

    def slope(name: str, place: Shape) -> Trusted:
        path = "gradient", element_name(name, place)
        has_value = not found.values[over.graph.output].is_nan()
        true = source.true(found, path) if has_value else undefined()
        return measured(path, at(gradient[name], place), true)

    value = measured(("value",), run.value, found.values[over.graph.output])
    slopes = {}
    for name in gradient:
        shape = run.graph.shape(run.graph.inputs[name])
        entries = [slope(name, place) for place in product(*map(range, shape))]
        slopes[name] = nested(entries, shape, list)
    return Trust(value, slopes, found.bits)


def conventional(run: Run, sides: Mapping[str, OneSided]) -> set[str]:
    """The inputs whose derivative is a convention at this point."""
    unsure = [name for name, side in sides.items() if side.verdict != "exists"]
    bent = flagged(run) if unsure else []
    moved = {name: dependents(run.graph, [run.graph.inputs[name]]) for name in unsure}
    return {name for name in unsure if any(moved[name][node] for node in bent)}
