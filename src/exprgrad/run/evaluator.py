"""What evaluates a graph, with all that is worked out only once: floats, or NumPy's arrays.

A number is a tensor of shape ``()``.  That a graph of nothing but numbers is swept by a flat plan and a
tape over Python's floats, for which NumPy is never imported, is known here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from exprgrad.graph.graph import Graph, Program, Shape, is_scalar
from exprgrad.run.numbers.sweeps import Adjoints, Plan, follow, forward, plan, play
from exprgrad.run.numbers.tape import Tape, record

if TYPE_CHECKING:
    from exprgrad.run.arrays import sweeps as over_arrays

__all__ = ["Evaluator", "evaluator_at", "evaluator_for", "kept", "shapes_of"]

MOST_SWEEPS = 8
"""For how many choices of inputs reverse sweeps are kept."""

V = TypeVar("V")


def evaluator_for(graph: Graph) -> Evaluator:
    """What evaluates a graph: arrays where it carries shapes, else floats."""
    return Floats(graph) if graph.shapes is None else Arrays(graph)


def shapes_of(values: Mapping[str, Any]) -> dict[str, Shape]:
    """The shapes of inputs, given their values."""
    return {name: getattr(value, "shape", ()) for name, value in values.items()}


def evaluator_at(
    graph: Graph, text: str, shapes: Mapping[str, Shape], origins: Mapping[str, str] | None = None
) -> Evaluator:
    """What evaluates the graph of a text at inputs of some shapes; ``ShapeError`` if they do not fit.

    ``origins`` says where an input came from, such as a file.
    """
    if is_scalar(graph) and not any(shapes.values()):
        return Floats(graph)
    from exprgrad.language.read.shaping import shaped

    return Arrays(shaped(graph, text, shapes, origins))


def kept(memory: dict[Any, V], key: object, make: Callable[[], V], most: int) -> V:
    """What is remembered under a key, made now if it is not there; of ``most`` the oldest goes."""
    found = memory.get(key)
    if found is None:
        while len(memory) >= most:
            del memory[next(iter(memory))]
        found = memory[key] = make()
    return found


class Floats:
    """The evaluator of a graph of numbers: a plan forward, a tape in reverse."""

    by_entries = True

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.programs: dict[tuple[object, ...], Any] = {}
        self.tapes: dict[tuple[str, ...], Tape] = {}

    @cached_property
    def plan(self) -> Plan:
        """The forward sweep, worked out once."""
        return plan(self.graph)

    def tape(self, wrt: tuple[str, ...]) -> Tape:
        """The reverse sweep for some inputs, worked out once."""
        nodes = self.graph.inputs
        return kept(
            self.tapes, wrt, lambda: record(self.graph, [nodes[name] for name in wrt]), MOST_SWEEPS
        )

    def forward(self, inputs: Mapping[str, Any]) -> list[Any]:
        """Every node's data."""
        return follow(self.plan, inputs)

    def gradient(
        self, inputs: Mapping[str, Any], wrt: tuple[str, ...]
    ) -> tuple[list[Any], Adjoints]:
        """Every node's data and grad."""
        data = follow(self.plan, inputs)
        return data, play(self.tapes.get(wrt) or self.tape(wrt), data)

    def answers(self, program: Program, inputs: Mapping[str, Any]) -> list[Any]:
        """The outputs of a derived program."""
        numbers = forward(program.graph, inputs)
        return [numbers[output] for output in program.outputs]


class Arrays:
    """The evaluator of a graph with shapes: NumPy, which is imported here and not before."""

    by_entries = False

    def __init__(self, graph: Graph) -> None:
        from exprgrad.run.arrays import sweeps

        self.graph = graph
        self.programs: dict[tuple[object, ...], Any] = {}
        self.recorded: dict[tuple[str, ...], Any] = {}
        self.sweeps = sweeps

    def forward(self, inputs: Mapping[str, Any]) -> list[Any]:
        """Every node's data."""
        return self.sweeps.forward(self.graph, inputs)

    def gradient(
        self, inputs: Mapping[str, Any], wrt: tuple[str, ...]
    ) -> tuple[list[Any], over_arrays.Adjoints]:
        """Every node's data and grad."""
        sweep = kept(self.recorded, wrt, lambda: self.sweeps.record(self.graph, wrt), MOST_SWEEPS)
        return self.sweeps.play(self.graph, inputs, wrt, sweep)

    def answers(self, program: Program, inputs: Mapping[str, Any]) -> list[Any]:
        """The outputs of a derived program; none of them shares memory with an input."""
        return self.sweeps.answers(program, inputs)


Evaluator = Floats | Arrays
"""A graph, ready to be evaluated at many points, in one of two ways that answer alike.

``programs`` is what was derived from the graph, by what it answers.  ``by_entries`` says whether a
matrix of derivatives is one program with an output for each entry; else it is made along basis directions.
"""
