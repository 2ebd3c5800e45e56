"""Where the truth about an answer's numbers comes from, and what is to blame where they lose digits.

The formula is worked out again in ball arithmetic, in ever higher precision until every number asked for
has a tight enclosure: at the exact double inputs, and for the decimals as typed.

Numbers are asked for by their paths.  Tensors are written out number by number: the path of a tensor's
number ends in its place there, as in ``("jacobian", "y", "X", "[0, 1]")``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property, partial
from math import prod
from typing import Any, NamedTuple

from exprgrad.derive.error_rules import TINY
from exprgrad.derive.rules import computed, exact_rule
from exprgrad.derive.sweeps.gradient import gradient
from exprgrad.explain.digits.judgements import (
    LONGEST_LABEL,
    Judgement,
    TrueNumbers,
    enclose_outputs,
    find_rounded_decimals,
)
from exprgrad.explain.digits.losses import Evidence, LostDigits, locate_digit_loss
from exprgrad.explain.kinks_met import SPECIAL_WORDS
from exprgrad.explain.places import ScalarRun, element_places, number_in_place, to_scalar_run
from exprgrad.explain.rewriting.rewrites import FixFinder, TriedFix
from exprgrad.graph.graph import (
    MOST_ELEMENTS,
    Graph,
    Shape,
    dependency_flags,
    element_name,
    shape_size,
    with_output,
)
from exprgrad.language.write.infix import ATOM, operand_level
from exprgrad.run.balls.balls import (
    Ball,
    enclose_nodes,
    exact_ball,
    specials_met,
    undecided_ball,
    undefined_ball,
    working_precision,
)
from exprgrad.run.evaluation import Path, SweptRun, evaluator_for, fewest_right_digits
from exprgrad.run.matrices import BY_OUTPUT, MATRICES, DerivativeKind, Point
from exprgrad.run.numbers.sweeps import forward_numbers
from exprgrad.source import Span, cut_text

__all__ = [
    "MOST_EXPLAINED", "Blame", "Label", "Truths", "element_path", "name_literals", "truths_of_question",
    "truths_of_run",
]  # fmt: skip

Label = Callable[[str, Sequence[tuple[str, Shape]]], str]
"""What messages call a number: by its field, then the names that lead to it, each with a place."""
GRADIENT = 3
"""How many times as many nodes as a formula its gradient has, about."""
MOST_DERIVED = 2**17
"""For how many nodes of derived graphs the truth about tensors is worked out, about: that takes seconds."""
MOST_EXPLAINED = 16
"""For how many numbers it is worked out where their digits are lost: each takes a walk over the graph."""
MOST_TURNS = 10_000
"""The most nodes of a graph whose kinks are looked for at the numbers as typed."""
BY_ONE = {"value", "gradient", "jacobian", "vjp"}
"""The fields of values and of first derivatives, whose digits a rewrite may keep."""


class Blame(NamedTuple):
    """The node of the user's graph that a number's digits are lost at, its span, and help.

    ``through``  the nodes that an error came through on its way to the number
    ``lost``     how many digits are lost there, and why; None where the number is all that is known
    ``better``   a rewrite that keeps them
    """

    node: int
    span: Span
    help: str | None = None
    through: tuple[int, ...] = ()
    lost: LostDigits | None = None
    better: TriedFix | None = None


class DecimalKink(NamedTuple):
    """A kink or a jump, in words; and whether it counts where the answer is the same."""

    words: str
    is_kink: bool
    counts: bool


class AskedNumbers(NamedTuple):
    """Numbers of an answer, over numbers: where doubles find them, and where balls do.

    ``computed``  the run of the doubles, and ``nodes`` the numbers there, by path
    ``graph``     by the rules for real arithmetic, and ``true_nodes`` the numbers there; what is left out
                  is always 0
    ``is_derived``  whether both are derived graphs; else they are the formula's, which two sweeps visit
    """

    computed: SweptRun
    nodes: Mapping[Path, int]
    graph: Graph
    true_nodes: Mapping[Path, int]
    is_derived: bool


class Truths:
    """The truth about an answer's numbers, for the doubles that were read and the decimals as typed.

    ``run``      the formula's
    ``outputs``  the nodes whose values, or whose derivatives, are asked for, by name
    ``label``    what messages call numbers
    ``find``     what finds some numbers, given the run over numbers and their paths there
    ``is_explained``  whether it is worked out where digits are lost, which takes most of the time
    """

    def __init__(
        self,
        run: SweptRun,
        outputs: Mapping[str, int],
        label: Label,
        find: Callable[[ScalarRun[SweptRun], Sequence[Path]], AskedNumbers],
        *,
        is_explained: bool = True,
    ) -> None:
        self.run = run
        self.outputs = outputs
        self.label_number = label
        self.find = find
        self.is_explained = is_explained
        self.paths: list[Path] = []

    # Paths.

    def whole(self, path: Path) -> Path:
        """The path of the tensor that a number is one of; its own if it is none's."""
        is_unnamed = path[0] == "value" and "" in self.outputs
        return path[: 3 if path[0] in MATRICES else 1 if is_unnamed else 2]

    def split(self, path: Path) -> list[tuple[str, Shape, int]]:
        """The names by which a number is found, each with a place and a node of the run.

        The places are ``()`` if it is the tensor's path.
        """
        field, *names = self.whole(path)
        rest = path[len(names) + 1 :]  # the place of a tensor's number, if it is one
        place = tuple(map(int, rest[0].strip("[]").split(", "))) if rest else ()
        found = []
        for position, name in enumerate(names or [""]):
            is_output = field in BY_OUTPUT and not position
            node = (self.outputs if is_output else self.run.graph.inputs)[name]
            rank = len(self.run.graph.shape(node))
            found.append((name, place[:rank], node))
            place = place[rank:]
        return found

    def number(self, path: Path) -> Path:
        """What the path of a number is over numbers."""
        return path[0], *(element_name(name, place) for name, place, _ in self.split(path))

    def label(self, path: Path) -> str:
        """What messages call a number, or a tensor."""
        return self.label_number(path[0], [(name, place) for name, place, _ in self.split(path)])

    def count(self, tensor: Path) -> int:
        """How many numbers a tensor has."""
        return prod(shape_size(self.run.graph.shape(node)) for _, _, node in self.split(tensor))

    # The truth.

    def is_affordable(self, paths: Sequence[Path]) -> bool:
        """Whether the truth about some numbers is worked out in a reasonable time: over numbers it is.

        Over tensors that depends on how many nodes a derived graph of them has, about: a sweep for each
        row of a matrix.
        """
        if not self.over.origins:
            return True
        rows = {self.number(path)[:2] for path in paths if path[0] in MATRICES}
        sweeps = sum(GRADIENT if field == "hessian" else 1 for field, _ in rows)
        work = max(sweeps, 1) * len(self.over.run.graph)
        return len(paths) <= MOST_ELEMENTS and work <= MOST_DERIVED

    def seek(self, paths: Iterable[Path]) -> None:
        """Say which numbers are asked for: derived graphs find no others."""
        self.paths = [self.number(path) for path in paths]

    @cached_property
    def over(self) -> ScalarRun[SweptRun]:
        """The run over numbers.  Raises ``RequestError`` for tensors that are too large."""
        return to_scalar_run(self.run)

    @cached_property
    def asked(self) -> AskedNumbers:
        """The numbers that are asked for."""
        return self.find(self.over, self.paths)

    @cached_property
    def decimals(self) -> list[str]:
        """The literals, and the inputs by their names, that doubles only come near."""
        run = self.asked.computed
        return find_rounded_decimals(self.over.run.graph, run.inputs, run.spelled)

    @property
    def true_outputs(self) -> list[int]:
        """The nodes that have to be tight; the gradient, which a sweep finds, aside."""
        asked = self.asked
        found = asked.true_nodes.items()
        return [node for path, node in found if asked.is_derived or path[0] == "value"]

    @cached_property
    def doubles(self) -> TrueNumbers:
        """The truth for the doubles that were read."""
        return self.enclose()

    @cached_property
    def typed(self) -> TrueNumbers:
        """The truth for the decimals as typed."""
        if not self.decimals:
            return self.doubles
        return self.enclose(typed=self.asked.computed.spelled, bits=self.doubles.bits)

    def enclose(self, **reading: Any) -> TrueNumbers:
        """The truth about the numbers by one reading."""
        run, graph = self.asked.computed, self.asked.graph
        outputs = self.true_outputs
        return enclose_outputs(graph, run.inputs, run.wrt, outputs=outputs, **reading)

    @property
    def bits(self) -> int:
        """The precision that it took."""
        return self.doubles.bits

    @cached_property
    def formula_balls(self) -> tuple[list[Ball], list[Ball]]:
        """The true data of the formula's own nodes, for the doubles and for the decimals as typed."""
        if not self.asked.is_derived:
            return self.doubles.values, self.typed.values
        graph, run = self.over.run.graph, self.asked.computed
        doubles = enclose_nodes(graph, run.inputs, self.bits)
        if not self.decimals:
            return doubles, doubles
        return doubles, enclose_nodes(graph, run.inputs, self.bits, typed=run.spelled)

    def is_slope(self, path: Path) -> bool:
        """Whether a number is the grad of its node."""
        return path[0] == "gradient" and not self.asked.is_derived

    def truth(self, path: Path) -> tuple[Ball, Ball]:
        """A number for the doubles that were read, and for the decimals as they are typed."""
        number = self.number(path)
        node = self.asked.true_nodes.get(number)
        if node is None:
            return exact_ball(0), exact_ball(0)
        if number in self.alone:
            return undefined_ball(), undefined_ball()
        if self.is_slope(path):
            return self.doubles.grad(node), self.typed.grad(node)
        return self.doubles.values[node], self.typed.values[node]

    @cached_property
    def alone(self) -> set[Path]:
        """The numbers of derived graphs that are infinite in doubles, and true at the point alone.

        A rule that has a case for a pole, an edge or a jump says there what the case is, and its derivative
        is that of the case: it is no derivative of the formula.
        """
        run, nodes = self.asked.computed, self.asked.true_nodes
        infinite = [
            path
            for path, node in self.asked.nodes.items()
            if path in nodes and self.asked.is_derived and not math.isfinite(run.values[node])
        ]
        if not infinite:
            return set()
        aside = steps_around_inputs(run.inputs, self.bits)
        beside = enclose_nodes(self.asked.graph, run.inputs, self.bits, aside=aside)
        return {path for path in infinite if not beside[nodes[path]].is_finite()}

    def has_value(self, path: Path) -> bool:
        """Whether the outputs that a number comes of may have values, by one of the two readings."""
        if path[0] in BY_OUTPUT:
            _, place, output = self.split(path)[0]
            nodes = [self.over.node(output, place)]
        else:
            outputs = self.outputs.values()
            nodes = [node for output in outputs for node in self.over.numbers(output).values()]
        doubles, typed = self.formula_balls
        return not any(doubles[node].is_nan() and typed[node].is_nan() for node in nodes)

    # Kinks and jumps.

    @cached_property
    def turn(self) -> DecimalKink | None:
        """The first kink or jump that the decimals as typed meet, and the doubles do not.

        Those come first that the answer depends on there, where a reverse sweep tells.
        """
        if not self.decimals or len(self.over.run.graph) > MOST_TURNS:
            return None
        with working_precision(self.bits):
            turns = list(self.turns())
        return next((turn for turn in turns if turn.counts), turns[0] if turns else None)

    def turns(self) -> Iterator[DecimalKink]:
        """Yield the kinks and jumps that the typed decimals hit exactly and their doubles miss."""
        run, graph = self.over.run, self.over.run.graph
        doubles, typed = self.formula_balls
        used = dependency_flags(graph, graph.output)
        for node, operands in enumerate(graph.operands):
            if not (operands and used[node]):
                continue
            known = specials_met(graph, typed, node, run.varying)
            for special in [special for special, is_met in known.items() if is_met]:
                if not specials_met(graph, doubles, node, run.varying)[special]:
                    words = f"{run.label(node)} {SPECIAL_WORDS[special.code][0]}: {special.why}"
                    is_kink = special.code == "kink"
                    yield DecimalKink(words, is_kink, is_kink or self.is_torn)

    @cached_property
    def is_torn(self) -> bool:
        """Whether some answer stays apart on both sides of the decimals as typed, however near."""
        asked, run, widths = self.asked, self.asked.computed, []
        graph: Graph = asked.graph
        outputs: Sequence[int] = self.true_outputs
        if run.wrt:
            graph, outputs = gradient(name_literals(graph), run.wrt, exact_rule)
        for bits in (self.bits, 2 * self.bits):
            aside = steps_around_inputs(run.inputs, bits)
            near = enclose_nodes(graph, run.inputs, 2 * bits, typed=run.spelled, aside=aside)
            widths.append([near[node].rad() for node in outputs])
        return any(bool(fine * 2 > wide) for wide, fine in zip(*widths, strict=True))

    def rounded_kinks(self, nodes: Iterable[int]) -> set[int]:
        """Of nodes at kinks and jumps those that are there by rounding alone, for certain."""
        graph, varying = self.over.run.graph, self.over.run.varying
        with working_precision(self.bits):
            return {
                node
                for node in nodes
                if all(
                    is_met is False
                    for values in self.formula_balls
                    for is_met in specials_met(graph, values, node, varying).values()
                )
            }

    # What is to blame.

    @cached_property
    def evidence(self) -> Evidence:
        """The doubles of the graph that is computed, beside what is true."""
        run = self.asked.computed
        if not self.asked.is_derived:
            return Evidence(run, self.doubles)
        values = enclose_nodes(run.graph, run.inputs, self.bits)
        return Evidence(run, TrueNumbers(values, None, self.bits))

    @cached_property
    def menders(self) -> FixFinder:
        """The known mends of the formula."""
        run = self.over.run
        return FixFinder(run, self.formula_balls[0][run.graph.output])

    def source(self, node: int) -> int:
        """The node, over numbers, that a node of the graph that is computed comes from."""
        if not self.asked.is_derived:
            return node
        graph = self.asked.computed.graph
        return graph.origins.get(node, self.over.run.graph.output) if graph.origins else node

    def place(self, path: Path) -> Blame:
        """Where a number stands: at its output or input, or at what it was derived from last."""
        if not self.asked.is_derived:
            node = self.split(path)[0][2]
            return Blame(node, self.run.graph.span(node))
        node = self.asked.nodes.get(self.number(path), self.asked.computed.graph.output)
        node = self.source(node)
        return Blame(self.over.origin(node), self.over.run.graph.span(node))

    def blame(self, path: Path, plain: Judgement) -> Blame:
        """Where a number's digits are lost, and what would keep them; ``plain`` is the sweep's number."""
        number, over, run = self.number(path), self.over, self.asked.computed
        node = self.asked.nodes.get(number)
        if node is None or not self.is_explained:
            return self.place(path)
        lost, nodes = locate_digit_loss(
            self.evidence, node, plain.digits, is_slope=self.is_slope(path)
        )
        sources = [self.source(node) for node in nodes]
        through = tuple([over.origin(node) for node in sources])
        if lost is None:
            return self.place(path)._replace(through=through)
        label, origin = run.label(lost.node), over.run.label(sources[0])
        who = label if label == origin else f"what is derived from {origin}"
        better = None
        if path[0] in BY_ONE and not over.origins:  # none is known for tensors that are written out
            name = number[-1] if path[0] != "value" else ""
            better = self.menders.better(name, sources, plain)
        advice = "" if better is None else f"; {better.advice}"
        help = f"{who} loses them: {lost.why}{advice}"
        span = over.run.graph.span(sources[0])
        place = over.origins[sources[0]].place if over.origins else None
        lost = lost._replace(node=through[0], span=span, place=place or ())
        return Blame(through[0], span, help, through, lost, better)

    def suspect(self, path: Path, least: int) -> tuple[int, str]:
        """The first node that has too few digits by bounds, on the way to a tensor, and its text.

        If there is none it is where the tensor stands, without a text.
        """
        run = self.run
        for output in self.outputs.values():
            view = with_output(run.graph, output)
            data = evaluator_for(view).errors(run.values, None)[0]
            used = dependency_flags(view, output)
            operations = (n for n, operands in enumerate(view.operands) if operands and used[n])
            if (node := find_first_poor_node(operations, run.values, data, least)) is not None:
                return node, run.label(node)
        if path[0] == "gradient" and run.adjoints is not None:
            node = find_first_poor_node(run.order, run.adjoints.grads, run.errors[1], least)
            if node is not None:
                return node, run.label(node)
        return self.split(path)[0][2], ""


def truths_of_run(run: SweptRun, *, is_explained: bool = True) -> Truths:
    """The truth about a run's value and gradient, which two sweeps find: in doubles, and in balls."""
    output = run.graph.output

    def find(over: ScalarRun[SweptRun], _: Sequence[Path]) -> AskedNumbers:
        mine = over.run
        values = over.numbers(output).items()
        nodes: dict[Path, int] = {
            ("value", element_name("", place)): node for place, node in values
        }
        nodes |= {("gradient", name): mine.graph.inputs[name] for name in mine.wrt or ()}
        return AskedNumbers(mine, nodes, mine.graph, nodes, is_derived=False)

    label = partial(label_run_number, run)
    return Truths(run, {"": output}, label, find, is_explained=is_explained)


def truths_of_question(run: SweptRun, point: Point, kind: DerivativeKind, label: Label) -> Truths:
    """The truth about what derived graphs find of a run's formula at a point."""

    def find(over: ScalarRun[SweptRun], paths: Sequence[Path]) -> AskedNumbers:
        asked = kind.question(point if over.run is run else expand_point_elements(point, over))
        wanted = paths if over.origins else None  # over numbers the evaluator keeps all
        graph, nodes = asked.derive(asked.graph, computed, wanted)
        data, spelled = forward_numbers(graph, asked.inputs), asked.spelled
        done = SweptRun(run.text, graph, asked.inputs, data, spelled=spelled)
        true, true_nodes = asked.derive(name_literals(asked.graph), exact_rule, paths)
        found, known = select_nodes(nodes, paths), select_nodes(true_nodes, paths)
        return AskedNumbers(done, found, true, known, is_derived=True)

    return Truths(run, point.outputs, label, find)


def select_nodes(nodes: Mapping[Path, int], paths: Iterable[Path]) -> dict[Path, int]:
    """Some numbers by path; those of a Hessian stand on one side of its diagonal."""
    found = {}
    for path in paths:
        mirrored = (path[0], *reversed(path[1:])) if path[0] == "hessian" else path
        node = nodes.get(path, nodes.get(mirrored))
        if node is not None:
            found[path] = node
    return found


def expand_point_elements(point: Point, over: ScalarRun[SweptRun]) -> Point:
    """Where a question about tensors is asked, by number."""

    def numbers(name: str, node: int) -> dict[str, int]:
        """By what each number of a node is called, its own node."""
        return {element_name(name, place): one for place, one in over.numbers(node).items()}

    outputs: dict[str, int] = {}
    for name, node in point.outputs.items():
        outputs |= numbers(name, node)
    inputs = point.evaluator.graph.inputs
    wrt = [each for name in point.wrt for each in numbers(name, inputs[name])]
    direction = {
        element_name(name, place): number_in_place(value, place)
        for name, value in point.direction.items()
        for place in element_places(value)
    }
    evaluator = evaluator_for(over.run.graph)
    return Point(evaluator, over.run.inputs, outputs, tuple(wrt), direction, point.spelled)


def element_path(tensor: Path, place: Shape) -> Path:
    """The path of a tensor's number; a number's is its own."""
    return (*tensor, str([*place])) if place else tensor


def label_run_number(run: SweptRun, field: str, names: Sequence[tuple[str, Shape]]) -> str:
    """What messages call a number of a run: the output's text, or ``x.grad``, with the place."""
    ((name, place),) = names
    label = f"{name}.grad" if name else cut_text(run.label(run.graph.output), LONGEST_LABEL)
    is_text = place and not name
    if is_text and operand_level(run.graph, run.graph.output, run.names) != ATOM:
        label = f"({label})"
    return element_name(label, place)


def steps_around_inputs(inputs: Mapping[str, float], bits: int) -> dict[str, Ball]:
    """A way to both sides of every input, shorter than that to the next double by far."""
    with working_precision(bits):
        both = (undecided_ball() - exact_ball(1) / 2) * exact_ball(2) ** -bits
        return {name: both * exact_ball(abs(x) or TINY) for name, x in inputs.items()}


def find_first_poor_node(
    nodes: Iterable[int], values: Sequence[Any], errors: Sequence[Any], least: int
) -> int | None:
    """The first of some nodes of which a number has too few right digits, as far as bounds tell."""
    for node in nodes:
        value = values[node]
        if value is not None and fewest_right_digits(value, errors[node]) < least:
            return node
    return None


def name_literals(graph: Graph) -> Graph:
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
