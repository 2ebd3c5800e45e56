"""The source of an answer's true numbers, and what is to blame where digits are lost.

The formula is computed again in ball arithmetic, in ever higher precision until every number requested
has a tight enclosure: at the exact double inputs, and for the decimals as typed.

Numbers are requested by path.  Tensors are written out number by number: the path of a tensor's
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
    Judgement,
    TrueNumbers,
    enclose_outputs,
    find_rounded_decimals,
)
from exprgrad.explain.digits.losses import Evidence, LostDigits, locate_digit_loss
from exprgrad.explain.kinks_met import SPECIAL_WORDS
from exprgrad.explain.limits import LONGEST_LABEL
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
    has_balls,
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
"""Labels a number in messages, given its field and the names that lead to it, each with a place."""
GRADIENT = 3
"""About how many times as many nodes as its formula a gradient has."""
MOST_DERIVED = 2**17
"""The most nodes, about, of derived graphs for tensors' true numbers: these take seconds."""
MOST_EXPLAINED = 16
"""The most numbers whose losses are traced, each by a walk over the graph."""
MOST_TURNS = 10_000
"""The most nodes of a graph that is searched for kinks at the decimals as typed."""
BY_ONE = {"value", "gradient", "jacobian", "vjp"}
"""The fields of values and first derivatives, whose digits a rewrite may keep."""


class Blame(NamedTuple):
    """The node of the user's graph where a number loses digits, its span, and help.

    ``through``  the nodes that an error came through on its way to the number
    ``lost``     how many digits are lost there, and why; None where that is not known
    ``better``   a rewrite that keeps the digits
    """

    node: int
    span: Span
    help: str | None = None
    through: tuple[int, ...] = ()
    lost: LostDigits | None = None
    better: TriedFix | None = None


class DecimalKink(NamedTuple):
    """A kink or a jump, in words, and whether it matters where the answer is the same."""

    words: str
    is_kink: bool
    counts: bool


class AskedNumbers(NamedTuple):
    """An answer's numbers, as nodes: those that doubles compute, and those that balls do.

    ``computed``  the run in doubles; ``nodes`` are the numbers' nodes there, by path
    ``graph``     the graph by the rules of real arithmetic, with ``true_nodes``; what is left out
                  is always 0
    ``is_derived``  whether both are derived graphs; else they are the formula's, which two sweeps visit
    """

    computed: SweptRun
    nodes: Mapping[Path, int]
    graph: Graph
    true_nodes: Mapping[Path, int]
    is_derived: bool


class Truths:
    """The true numbers of an answer, for the doubles read and for the decimals as typed.

    ``run``      the formula's
    ``outputs``  the nodes whose values or derivatives are requested, by name
    ``label``    labels numbers in messages
    ``find``     finds some numbers, given the run over numbers and their paths there
    ``is_explained``  whether losses of digits are traced, which takes most of the time
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
        """Return the path of a number's tensor; its own path for a plain number."""
        is_unnamed = path[0] == "value" and "" in self.outputs
        return path[: 3 if path[0] in MATRICES else 1 if is_unnamed else 2]

    def split(self, path: Path) -> list[tuple[str, Shape, int]]:
        """Return the names that lead to a number, each with a place and a node of the run.

        The places are ``()`` for a tensor's path.
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
        """Return the path of a number in the run over numbers."""
        return path[0], *(element_name(name, place) for name, place, _ in self.split(path))

    def label(self, path: Path) -> str:
        """Label a number, or a tensor, for messages."""
        return self.label_number(path[0], [(name, place) for name, place, _ in self.split(path)])

    def count(self, tensor: Path) -> int:
        """Count a tensor's numbers."""
        return prod(shape_size(self.run.graph.shape(node)) for _, _, node in self.split(tensor))

    # The truth.

    def is_affordable(self, paths: Sequence[Path]) -> bool:
        """Whether some true numbers can be computed in a reasonable time; over numbers they can.

        Over tensors that depends on the size of their derived graph, about: a sweep for each
        row of a matrix.
        """
        if not self.over.origins:
            return True
        rows = {self.number(path)[:2] for path in paths if path[0] in MATRICES}
        sweeps = sum(GRADIENT if field == "hessian" else 1 for field, _ in rows)
        work = max(sweeps, 1) * len(self.over.run.graph)
        return len(paths) <= MOST_ELEMENTS and work <= MOST_DERIVED

    def seek(self, paths: Iterable[Path]) -> None:
        """Set the numbers requested: derived graphs find no others."""
        self.paths = [self.number(path) for path in paths]

    @cached_property
    def over(self) -> ScalarRun[SweptRun]:
        """The run over numbers.  Raises ``RequestError`` for tensors that are too large."""
        return to_scalar_run(self.run)

    @cached_property
    def asked(self) -> AskedNumbers:
        """The numbers requested."""
        return self.find(self.over, self.paths)

    @cached_property
    def decimals(self) -> list[str]:
        """The literals and inputs whose doubles are not exact."""
        run = self.asked.computed
        return find_rounded_decimals(self.over.run.graph, run.inputs, run.spelled)

    @property
    def true_outputs(self) -> list[int]:
        """The nodes that must be tight, without the gradient, which a sweep finds."""
        asked = self.asked
        found = asked.true_nodes.items()
        return [node for path, node in found if asked.is_derived or path[0] == "value"]

    @cached_property
    def doubles(self) -> TrueNumbers:
        """The true numbers for the doubles read."""
        return self.enclose()

    @cached_property
    def typed(self) -> TrueNumbers:
        """The true numbers for the decimals as typed."""
        if not self.decimals:
            return self.doubles
        return self.enclose(typed=self.asked.computed.spelled, bits=self.doubles.bits)

    def enclose(self, **reading: Any) -> TrueNumbers:
        """Enclose the numbers, by one reading."""
        run, graph = self.asked.computed, self.asked.graph
        outputs = self.true_outputs
        return enclose_outputs(graph, run.inputs, run.wrt, outputs=outputs, **reading)

    @property
    def bits(self) -> int:
        """The precision used."""
        return self.doubles.bits

    @cached_property
    def formula_balls(self) -> tuple[list[Ball], list[Ball]]:
        """The true data of the formula's nodes, for the doubles and for the decimals as typed."""
        if not self.asked.is_derived:
            return self.doubles.values, self.typed.values
        graph, run = self.over.run.graph, self.asked.computed
        doubles = enclose_nodes(graph, run.inputs, self.bits)
        if not self.decimals:
            return doubles, doubles
        return doubles, enclose_nodes(graph, run.inputs, self.bits, typed=run.spelled)

    def is_slope(self, path: Path) -> bool:
        """Whether a number is its node's grad."""
        return path[0] == "gradient" and not self.asked.is_derived

    def truth(self, path: Path) -> tuple[Ball, Ball]:
        """Return a true number for the doubles read, and for the decimals as typed."""
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
        """The numbers of derived graphs that are infinite in doubles, and true only at the point itself.

        A rule with a case for a pole, an edge or a jump gives that case there, and its derivative
        is that of the case, not of the formula.
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
        """Whether a number's outputs may have values, by one of the two readings."""
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
        """The first kink or jump that the typed decimals meet and the doubles do not.

        Those that the answer depends on come first, where a reverse sweep tells.
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
        """Whether some answer differs between the two sides of the typed decimals, however near."""
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
        """Select the nodes that are surely at kinks and jumps by rounding alone; none without balls."""
        if not has_balls():
            return set()
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
        """The doubles of the computed graph, beside the true numbers."""
        run = self.asked.computed
        if not self.asked.is_derived:
            return Evidence(run, self.doubles)
        values = enclose_nodes(run.graph, run.inputs, self.bits)
        return Evidence(run, TrueNumbers(values, None, self.bits))

    @cached_property
    def fixes(self) -> FixFinder:
        """The finder of known rewrites of the formula."""
        run = self.over.run
        return FixFinder(run, self.formula_balls[0][run.graph.output])

    def source(self, node: int) -> int:
        """Return the node, over numbers, that a node of the computed graph comes from."""
        if not self.asked.is_derived:
            return node
        graph = self.asked.computed.graph
        return graph.origins.get(node, self.over.run.graph.output) if graph.origins else node

    def place(self, path: Path) -> Blame:
        """Return a number's place: its output or input, or the node that it was last derived from."""
        if not self.asked.is_derived:
            node = self.split(path)[0][2]
            return Blame(node, self.run.graph.span(node))
        node = self.asked.nodes.get(self.number(path), self.asked.computed.graph.output)
        node = self.source(node)
        return Blame(self.over.origin(node), self.over.run.graph.span(node))

    def blame(self, path: Path, plain: Judgement) -> Blame:
        """Find where a number loses digits, and what would keep them; ``plain`` is the sweep's number."""
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
            better = self.fixes.better(name, sources, plain)
        advice = "" if better is None else f"; {better.advice}"
        help = f"{who} loses them: {lost.why}{advice}"
        span = over.run.graph.span(sources[0])
        place = over.origins[sources[0]].place if over.origins else None
        lost = lost._replace(node=through[0], span=span, place=place or ())
        return Blame(through[0], span, help, through, lost, better)

    def suspect(self, path: Path, least: int) -> tuple[int, str]:
        """Find the first node on the way to a tensor with too few digits by bounds, and its text.

        If there is none, return the tensor's node and no text.
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
    """Return the true value and gradient of a run, by two sweeps in doubles and in balls."""
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
    """Return the true numbers that derived graphs find at a point."""

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
    """Select numbers by path; a Hessian's stand on one side of its diagonal."""
    found = {}
    for path in paths:
        mirrored = (path[0], *reversed(path[1:])) if path[0] == "hessian" else path
        node = nodes.get(path, nodes.get(mirrored))
        if node is not None:
            found[path] = node
    return found


def expand_point_elements(point: Point, over: ScalarRun[SweptRun]) -> Point:
    """Return a point with tensors written out number by number."""

    def numbers(name: str, node: int) -> dict[str, int]:
        """The node of each number of a node, by its label."""
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
    """Return the path of a tensor's number; a plain number keeps its own."""
    return (*tensor, str([*place])) if place else tensor


def label_run_number(run: SweptRun, field: str, names: Sequence[tuple[str, Shape]]) -> str:
    """Label a run's number for messages: the output's text, or ``x.grad``, with the place."""
    ((name, place),) = names
    label = f"{name}.grad" if name else cut_text(run.label(run.graph.output), LONGEST_LABEL)
    is_text = place and not name
    if is_text and operand_level(run.graph, run.graph.output, run.names) != ATOM:
        label = f"({label})"
    return element_name(label, place)


def steps_around_inputs(inputs: Mapping[str, float], bits: int) -> dict[str, Ball]:
    """Return steps to both sides of every input, far shorter than to the next double."""
    with working_precision(bits):
        both = (undecided_ball() - exact_ball(1) / 2) * exact_ball(2) ** -bits
        return {name: both * exact_ball(abs(x) or TINY) for name, x in inputs.items()}


def find_first_poor_node(
    nodes: Iterable[int], values: Sequence[Any], errors: Sequence[Any], least: int
) -> int | None:
    """Find the first of some nodes with a number that has too few right digits by bounds."""
    for node in nodes:
        value = values[node]
        if value is not None and fewest_right_digits(value, errors[node]) < least:
            return node
    return None


def name_literals(graph: Graph) -> Graph:
    """Return the graph with names for literals that are not whole numbers.

    Formulas derived from it keep them as typed: 0.3 - 0.2 is the double 0.09999999999999998.
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
