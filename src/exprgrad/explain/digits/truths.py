"""Where the truth about an answer's numbers comes from, and what is to blame where they lose digits."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property, partial
from itertools import product
from math import prod
from typing import Any, NamedTuple, Protocol

from exprgrad.derive.rules import computed, real
from exprgrad.explain.digits.lost import Evidence, find_lost
from exprgrad.explain.digits.trusted import (
    FIRST_BITS,
    Better,
    Enclosed,
    Lost,
    Trusted,
    derivative,
    enclosed,
)
from exprgrad.explain.kinks_met import special_words
from exprgrad.explain.places import at
from exprgrad.explain.rewriting.mending import Menders
from exprgrad.graph.graph import Graph, Shape, dependencies, element_name, seen_from, size
from exprgrad.language.write.infix import ATOM, operand_level
from exprgrad.run.balls.balls import Ball, Decimals, ball, either, enclose, undefined, working
from exprgrad.run.balls.sweep import met
from exprgrad.run.evaluation import Path, Run, evaluator_for
from exprgrad.run.matrices import BY_OUTPUT, MATRICES, Kind, Point, Question
from exprgrad.run.numbers.bounds import TINY
from exprgrad.run.numbers.sweeps import forward
from exprgrad.source import Span, cut

__all__ = [
    "Derived", "Label", "Place", "Source", "Spread", "Swept", "Unexplained", "Written", "hanging",
    "label_of", "places_in",
]  # fmt: skip

Label = Callable[[str, Sequence[tuple[str, Shape]]], str]
"""What messages call a number: by its field, then the names that lead to it, each with a place."""
LONGEST_LABEL = 40
"""Where the text of a formula is cut that a number is called by."""
GRADIENT = 3
"""How many times as many nodes as a formula its gradient has, about."""
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


class Source(Protocol):
    """What knows the truth about the numbers of an answer, by their paths.

    ``bits`` is the precision that it took, once it was told which numbers to ``seek``.
    """

    @property
    def bits(self) -> int:
        """The precision that it took."""

    @property
    def decimals(self) -> Sequence[str]:
        """The literals, and the inputs by their names, that doubles only come near."""

    @property
    def turn(self) -> Turn | None:
        """The kink or jump that the decimals as typed meet, and the doubles do not."""

    def seek(self, paths: Sequence[Path]) -> None:
        """Say which numbers will be asked for."""

    def truth(self, path: Path) -> tuple[Ball, Ball]:
        """The true number for the doubles that were read, and for the decimals as they are typed."""

    def has_value(self, path: Path) -> bool:
        """Whether what a number is the derivative of may have a value: else it is undefined, too."""

    def label(self, path: Path) -> str:
        """What messages call a number."""

    def place(self, path: Path) -> Place:
        """Where a number stands."""

    def whole(self, path: Path) -> Path:
        """The path of the tensor that a number is one of; its own if it is none's."""

    def count(self, tensor: Path) -> int:
        """How many numbers a tensor has."""

    def blamed(self, path: Path, plain: Trusted, true: Ball) -> Place:
        """Where its digits are lost, and what would keep them; ``plain`` is the sweep's number."""


def hanging(graph: Graph, inputs: Mapping[str, float], spelled: Mapping[str, str]) -> list[str]:
    """The literals, and the inputs by their names, that are not the numbers that they are typed as.

    ``spelled`` are texts of inputs, as a run has them.
    """
    literals = {
        graph.spelled.get(node) or repr(x): (graph.spelled.get(node), x)
        for node, x in enumerate(graph.payloads)
        if isinstance(x, float) and (node in graph.spelled or node not in graph.symbols)
    }
    given = {name: (spelled.get(name), x) for name, x in inputs.items()}
    with working(FIRST_BITS):
        decimals = Decimals()
        typed = {
            name: (decimals.read(*one), one[1]) for name, one in [*literals.items(), *given.items()]
        }
        return [
            cut(name, LONGEST_LABEL)
            for name, (number, x) in typed.items()
            if math.isfinite(x) != number.is_finite() or not bool(number == ball(x))
        ]


def told(
    place: Place, lost: Lost | None, through: Sequence[int], who: str, better: Better | None = None
) -> Place:
    """The first node of a walk, which lost digits, and help; the ``place`` of the number if none did."""
    if lost is None:
        return place._replace(through=tuple(through))
    advice = "" if better is None else f"; {better.advice}"
    return Place(through[0], lost.span, f"{who} loses them: {lost.why}{advice}", tuple(through))


def label_of(run: Run, path: Path) -> str:
    """What messages call a number, or a tensor: the output's text, or ``x.grad``."""
    return f"{path[1]}.grad" if path[1:] else cut(run.label(run.graph.output), LONGEST_LABEL)


def turn_of(
    run: Run,
    true: Sequence[Ball],
    typed: Sequence[Ball],
    grads: Sequence[Ball | None] | None = None,
) -> Turn | None:
    """The first kink or jump that is met where data are ``typed``, and not where they are ``true``.

    With ``grads`` those come first that the answer depends on there.
    """
    graph, turns = run.graph, []
    if len(graph) > MOST_TURNS:
        return None
    used = dependencies(graph, graph.output)
    for node, operands in enumerate(graph.operands):
        known = met(graph, typed, node, run.varying) if operands and used[node] else {}
        for special in [special for special, is_met in known.items() if is_met]:
            if not met(graph, true, node, run.varying)[special]:
                words = f"{run.label(node)} {special_words(special.code)[0]}: {special.why}"
                counts = special.code == "kink"
                if grads is not None:
                    grad = grads[node]
                    counts = grad is not None and not grad.is_zero()
                turns.append(Turn(words, is_kink=special.code == "kink", counts=counts))
    return next((turn for turn in turns if turn.counts), turns[0] if turns else None)


class Swept:
    """The truth about a run's value and gradient, which two sweeps find: in doubles, and in balls.

    ``outputs`` are the nodes whose data is asked for, if that is not the output's alone.
    """

    def __init__(self, run: Run, outputs: Sequence[int] | None = None) -> None:
        self.run = run
        self.outputs = outputs

    @cached_property
    def found(self) -> Enclosed:
        """What is true of the doubles."""
        return enclosed(self.run.graph, self.run.inputs, self.run.wrt, outputs=self.outputs)

    @cached_property
    def typed(self) -> Enclosed:
        """What is true of the decimals as typed."""
        run = self.run
        if not self.decimals:
            return self.found
        given, bits = (run.graph, run.inputs, run.wrt), self.bits
        return enclosed(*given, typed=run.spelled, outputs=self.outputs, bits=bits)

    @cached_property
    def evidence(self) -> Evidence:
        """The doubles beside what is true."""
        return Evidence(self.run, self.found)

    @cached_property
    def menders(self) -> Menders:
        """The known mends of the formula."""
        return Menders(self.run, self.found.values[self.run.graph.output])

    @property
    def bits(self) -> int:
        """The precision that it took."""
        return self.found.bits

    @cached_property
    def decimals(self) -> list[str]:
        """The literals, and the inputs by their names, that doubles only come near."""
        return hanging(self.run.graph, self.run.inputs, self.run.spelled)

    @cached_property
    def turn(self) -> Turn | None:
        """The kink or jump that the decimals as typed meet, and the doubles do not."""
        if not self.decimals:
            return None
        with working(self.bits):
            swept = self.typed.swept
            grads = None if swept is None else swept.grads
            return turn_of(self.run, self.found.values, self.typed.values, grads)

    def rounded_kinks(self, nodes: Iterable[int]) -> set[int]:
        """Of nodes at kinks and jumps those that are there by rounding alone, for certain."""
        graph, varying = self.run.graph, self.run.varying
        readings = [self.found.values, self.typed.values]
        with working(self.bits):
            return {
                node
                for node in nodes
                if all(
                    is_met is False
                    for values in readings
                    for is_met in met(graph, values, node, varying).values()
                )
            }

    def seek(self, paths: Iterable[Path]) -> None:
        """All numbers come of one sweep."""

    def truth(self, path: Path) -> tuple[Ball, Ball]:
        """A number for the doubles that were read, and for the decimals as they are typed."""
        graph = self.run.graph
        found = (
            derivative(one, graph, path[1]) if path[1:] else one.values[graph.output]
            for one in (self.found, self.typed)
        )
        return next(found), next(found)

    def has_value(self, path: Path) -> bool:
        """Whether the output may have a value, by the doubles or the decimals as they are typed."""
        output = self.run.graph.output
        return not all(one.values[output].is_nan() for one in (self.found, self.typed))

    def label(self, path: Path) -> str:
        """The output's text, or ``x.grad``."""
        return label_of(self.run, path)

    def place(self, path: Path) -> Place:
        """The output, or an input."""
        graph = self.run.graph
        node = graph.inputs[path[1]] if path[1:] else graph.output
        return Place(node, graph.span(node))

    def number(self, node: int, place: Shape, *, own: bool) -> int | None:
        """The node that has the truth about a number."""
        return node

    def whole(self, path: Path) -> Path:
        """A number is none's."""
        return path

    def count(self, tensor: Path) -> int:
        """Of a number there is one."""
        return 1

    def blamed(self, path: Path, plain: Trusted, true: Ball) -> Place:
        """The node that loses most digits, and the rewrite that keeps them, if one is known."""
        name = path[1] if path[1:] else ""
        lost, nodes = find_lost(self.evidence, name, plain.digits)
        better = self.menders.better(name, nodes, plain, true) if lost else None
        who = self.run.label(lost.node) if lost else ""
        return told(self.place(path), lost, nodes, who, better)


class Unexplained(Swept):
    """The truth alone: where digits are lost is not looked into, which takes most of the time."""

    def blamed(self, path: Path, plain: Trusted, true: Ball) -> Place:
        """Where the number stands."""
        return self.place(path)


class Written(Swept):
    """The truth about a run over tensors, which is written out number by number.

    The path of a tensor's number ends in its place: ``("gradient", "X", "[0, 1]")``.
    """

    def __init__(self, run: Run) -> None:
        from exprgrad.run.arrays.elements import elements

        self.tensors = run
        self.elements = elements(run)
        outputs = self.elements.nodes[run.graph.output]
        super().__init__(self.elements.run, [int(node) for node in outputs.flat])
        indices = product(*map(range, outputs.shape))
        self.places = {str([*place]): int(outputs[place]) for place in indices}

    def number(self, node: int, place: Shape, *, own: bool) -> int | None:
        """The node that has the truth about a tensor's number; if its ``own``, not one moved there."""
        number = int(self.elements.nodes[node][place])
        return None if own and self.elements.origins[number] != (node, place) else number

    def output(self, path: Path) -> int:
        """The node of one of the value's numbers."""
        return self.places[path[-1]] if path[1:] else self.run.graph.output

    def truth(self, path: Path) -> tuple[Ball, Ball]:
        """A number for the doubles that were read, and for the decimals as they are typed."""
        if path[0] == "gradient":
            return super().truth((path[0], "".join(path[1:])))
        node = self.output(path)
        return self.found.values[node], self.typed.values[node]

    def label(self, path: Path) -> str:
        """The output's text, or ``X.grad``, with the place."""
        names = 2 if path[0] == "gradient" else 1
        called, run = label_of(self.tensors, path[:names]), self.tensors
        if (
            names == 1
            and path[1:]
            and operand_level(run.graph, run.graph.output, run.names) != ATOM
        ):
            called = f"({called})"
        return called + "".join(path[names:])

    def place(self, path: Path) -> Place:
        """The output, or an input."""
        graph = self.tensors.graph
        node = graph.inputs[path[1]] if path[0] == "gradient" else graph.output
        return Place(node, graph.span(node))

    def whole(self, path: Path) -> Path:
        """The path of the tensor that a number is one of."""
        return path[: 2 if path[0] == "gradient" else 1]

    def count(self, tensor: Path) -> int:
        """How many numbers the output has, or an input."""
        return size(self.tensors.graph.shape(self.place(tensor).node))

    def blamed(self, path: Path, plain: Trusted, true: Ball) -> Place:
        """The node that loses most digits, and at which of its numbers."""
        if path[0] == "gradient":
            lost, nodes = find_lost(self.evidence, "".join(path[1:]), plain.digits)
        else:
            evidence = Evidence(self.run, self.found, self.output(path))
            lost, nodes = find_lost(evidence, "", plain.digits)
        through = [self.elements.origins[node].node for node in nodes]
        return told(self.place(path), lost, through, self.run.label(lost.node) if lost else "")


class Derived:
    """The truth about numbers that derived graphs find: a graph derived by rules for real arithmetic.

    ``run`` is what the graph that is computed found, and ``nodes`` are the numbers there.
    """

    def __init__(
        self,
        question: Question,
        run: Run,
        nodes: Mapping[Path, int],
        label: Label,
        *,
        has_mends: bool = True,
    ) -> None:
        self.has_mends = has_mends
        self.question = question
        self.run = run
        self.nodes = nodes
        self.called = label
        self.true: Mapping[Path, int] = {}

    def seek(self, paths: Sequence[Path]) -> None:
        """Work out the truth about some numbers."""
        question = self.question
        graph, self.true = question.derive(unfolded(question.graph), real, paths)
        outputs = [self.true[path] for path in paths if path in self.true]
        work_out = partial(enclosed, graph, question.inputs, None, outputs=outputs)
        self.found = work_out()
        self.typed = work_out(typed=question.spelled) if self.decimals else self.found
        self.alone = self.at_this_point_alone(graph)

    def at_this_point_alone(self, graph: Graph) -> set[Path]:
        """The numbers that are not finite in doubles, and true at the point alone, not beside it.

        A rule that has a case for a pole, an edge or a jump says there what the case is, and its derivative
        is that of the case: it is no derivative of the formula.
        """
        values = self.run.values
        infinite = [path for path, node in self.nodes.items() if not math.isfinite(values[node])]
        suspects = [path for path in infinite if path in self.true]
        if not suspects:
            return set()
        beside = enclose(graph, self.question.inputs, self.bits, aside=self.steps())
        return {path for path in suspects if not beside[self.true[path]].is_finite()}

    def steps(self) -> dict[str, Ball]:
        """A way to both sides of every input, shorter than that to the next double by far."""
        inputs = self.question.inputs
        with working(self.bits):
            both = (either() - ball(1) / 2) * ball(2) ** -self.bits
            return {name: both * ball(abs(x) or TINY) for name, x in inputs.items()}

    @cached_property
    def decimals(self) -> list[str]:
        """The literals, and the inputs by their names, that doubles only come near."""
        return hanging(self.question.graph, self.question.inputs, self.question.spelled)

    @cached_property
    def turn(self) -> Turn | None:
        """The kink or jump that the decimals as typed meet, and the doubles do not."""
        if not self.decimals:
            return None
        question = self.question
        work_out = partial(enclose, question.graph, question.inputs, self.bits)
        with working(self.bits):
            return turn_of(self.formula, work_out(), work_out(typed=question.spelled))

    @property
    def bits(self) -> int:
        """The precision that it took."""
        return self.found.bits

    def truth(self, path: Path) -> tuple[Ball, Ball]:
        """A number for the doubles that were read, and for the decimals as they are typed."""
        node = self.true.get(path)
        if node is None:
            return ball(0), ball(0)
        if path in self.alone:
            return undefined(), undefined()
        return self.found.values[node], self.typed.values[node]

    def has_value(self, path: Path) -> bool:
        """Whether the outputs that a number comes of may have values."""
        outputs = self.question.outputs
        nodes = [outputs[path[1]]] if path[0] in BY_OUTPUT else outputs.values()
        return not any(self.values[node].is_nan() for node in nodes)

    @cached_property
    def values(self) -> list[Ball]:
        """What is true of the formula's own nodes."""
        return enclose(self.question.graph, self.question.inputs, self.bits)

    def label(self, path: Path) -> str:
        """What messages call a number."""
        field, *names = path
        return self.called(field, [(name, ()) for name in names])

    def place(self, path: Path) -> Place:
        """The part of the formula that the number was derived from last."""
        node = self.origin(self.nodes.get(path, self.run.graph.output))
        return Place(node, self.question.graph.span(node))

    def whole(self, path: Path) -> Path:
        """A number is none's."""
        return path

    def count(self, tensor: Path) -> int:
        """Of a number there is one."""
        return 1

    def origin(self, node: int) -> int:
        """The formula's node that a node of the derived graph comes from."""
        origins = self.run.graph.origins
        return origins.get(node, self.question.graph.output) if origins else node

    @cached_property
    def enclosures(self) -> Enclosed:
        """What is true of the nodes of the graph that is computed."""
        run = self.run
        return Enclosed(enclose(run.graph, run.inputs, self.bits), None, self.bits)

    def blamed(self, path: Path, plain: Trusted, true: Ball) -> Place:
        """The node of the derived graph that loses most digits, and what it comes from."""
        run = self.run
        if path not in self.nodes:
            return self.place(path)
        view = Run(run.text, seen_from(run.graph, self.nodes[path]), run.inputs, run.values)
        lost, nodes = find_lost(Evidence(view, self.enclosures), "", plain.digits)
        through = [self.origin(node) for node in nodes]
        if lost is None:
            return told(self.place(path), None, through, "")
        label, origin = run.label(lost.node), self.formula.label(through[0])
        who = label if label == origin else f"what is derived from {origin}"
        lost = lost._replace(span=self.question.graph.span(through[0]))
        return told(self.place(path), lost, through, who, self.better(path, through, plain, true))

    def better(self, path: Path, nodes: Sequence[int], plain: Trusted, true: Ball) -> Better | None:
        """The rewrite that keeps the digits, if one is known."""
        if path[0] not in BY_ONE or not self.has_mends:
            return None
        name = path[-1] if path[0] != "value" else ""
        return self.menders.better(name, nodes, plain, true)

    @cached_property
    def menders(self) -> Menders:
        """The known mends of the formula."""
        return Menders(self.formula, self.values[self.question.graph.output])

    @cached_property
    def formula(self) -> Run:
        """The formula itself, of which nothing is worked out."""
        return Run(self.run.text, self.question.graph, self.question.inputs, [])


class Spread:
    """The truth about tensors that derived graphs find, which are written out number by number.

    A number's path is that of the block that it is one of, and then its place there:
    ``("jacobian", "y", "X", "[0, 1]")``.
    """

    def __init__(self, run: Run, point: Point, kind: Kind, label: Label) -> None:
        from exprgrad.run.arrays.elements import elements

        self.tensors = run
        self.elements = elements(run)
        graph = run.graph
        self.inputs = {name: graph.shape(graph.inputs[name]) for name in point.wrt}
        self.outputs = {name: graph.shape(node) for name, node in point.outputs.items()}
        self.point = self.written(point)
        question = kind.question(self.point)
        self.called = label
        self.numbers = Derived(question, self.elements.run, {}, label, has_mends=False)

    def written(self, point: Point) -> Point:
        """The same point, by number."""
        over, _, nodes = self.elements
        outputs = {
            element_name(name, place): int(nodes[node][place])
            for name, node in point.outputs.items()
            for place in places_in(nodes[node])
        }
        wrt = [
            element_name(name, place)
            for name in point.wrt
            for place in places_in(nodes[self.tensors.graph.inputs[name]])
        ]
        direction = {
            element_name(name, place): at(value, place)
            for name, value in point.direction.items()
            for place in places_in(value)
        }
        evaluator = evaluator_for(over.graph)
        return Point(evaluator, over.inputs, outputs, tuple(wrt), direction, point.spelled)

    def seek(self, paths: Sequence[Path]) -> None:
        """Work out the truth about some numbers, and what doubles make of them one by one."""
        mine, numbers = self.numbers, [self.by_number(path) for path in paths]
        inputs = mine.question.inputs
        graph, mine.nodes = mine.question.derive(mine.question.graph, computed, numbers)
        mine.run = Run(self.tensors.text, graph, inputs, forward(graph, inputs))
        mine.seek(numbers)

    def work(self, paths: Iterable[Path]) -> int:
        """About how many nodes a derived graph of some numbers has: a sweep for each row of a matrix."""
        fields: dict[str, set[str]] = {}
        for path in paths:
            if path[0] in MATRICES:
                fields.setdefault(path[0], set()).add(self.by_number(path)[1])
        sweeps = len(fields.get("jacobian", ())) + GRADIENT * len(fields.get("hessian", ()))
        return max(sweeps, 1) * len(self.elements.run.graph)

    @property
    def bits(self) -> int:
        """The precision that it took."""
        return self.numbers.bits

    @property
    def decimals(self) -> Sequence[str]:
        """The literals, and the inputs by their names, that doubles only come near."""
        return self.numbers.decimals

    @property
    def turn(self) -> Turn | None:
        """The kink or jump that the decimals as typed meet, and the doubles do not."""
        return self.numbers.turn

    def split(self, path: Path) -> list[tuple[str, Shape]]:
        """The names by which a number is found, each with a place; ``()`` if it is the tensor's path."""
        field, *names = self.whole(path)
        text = path[len(names) + 1 :]
        place = tuple(map(int, text[0].strip("[]").split(", "))) if text else ()
        found = []
        for at_name, name in enumerate(names):
            is_output = field in BY_OUTPUT and not at_name
            rank = len((self.outputs if is_output else self.inputs)[name])
            found.append((name, place[:rank]))
            place = place[rank:]
        return found

    def label(self, path: Path) -> str:
        """What messages call a number, or a block."""
        return self.called(path[0], self.split(path))

    def by_number(self, path: Path) -> Path:
        """What the path of a number is in the formula that is written out."""
        names = [element_name(*pair) for pair in self.split(path)]
        if path[0] == "hessian":
            names.sort(key=self.point.wrt.index)
        return path[0], *names

    def whole(self, path: Path) -> Path:
        """The path of the block that a number is one of."""
        return path[: 3 if path[0] in MATRICES else 2]

    def count(self, tensor: Path) -> int:
        """How many numbers a block has."""
        field, *names = tensor
        outputs = names[:1] if field in BY_OUTPUT else []
        shapes = [self.outputs[name] for name in outputs]
        shapes += [self.inputs[name] for name in names[len(outputs) :]]
        return prod(map(size, shapes))

    def truth(self, path: Path) -> tuple[Ball, Ball]:
        """A number for the doubles that were read, and for the decimals as they are typed."""
        return self.numbers.truth(self.by_number(path))

    def has_value(self, path: Path) -> bool:
        """Whether the outputs that a number comes of may have values."""
        return self.numbers.has_value(self.by_number(path))

    def place(self, path: Path) -> Place:
        """The part of the formula that the number was derived from last."""
        return self.over_tensors(self.numbers.place(self.by_number(path)))

    def blamed(self, path: Path, plain: Trusted, true: Ball) -> Place:
        """The node that loses most digits, and at which of its numbers."""
        return self.over_tensors(self.numbers.blamed(self.by_number(path), plain, true))

    def over_tensors(self, place: Place) -> Place:
        """The node over tensors that a number's node comes from."""
        origins = self.elements.origins
        through = tuple([origins[node].node for node in place.through])
        return place._replace(node=origins[place.node].node, through=through)


def places_in(value: Any) -> Iterator[Shape]:
    """The places of an array's numbers; the only one of a number is ``()``."""
    return product(*map(range, getattr(value, "shape", ())))


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
