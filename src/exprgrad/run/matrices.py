"""Jacobians, Hessians and their products with vectors, at a point: derived programs, evaluated.

A derived program does not depend on the numbers, so it is worked out once and kept by the evaluator.  Over
numbers one program has an output for each entry of a matrix; over tensors a matrix is made along basis
directions (``arrays/basis.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeVar

from exprgrad.derive.rules import Rule, computed
from exprgrad.derive.sweeps import gradient as derive
from exprgrad.errors import RequestError
from exprgrad.graph.graph import CONST, Graph, Program, Shape, size
from exprgrad.run.evaluation import NOTHING, Evaluator, kept
from exprgrad.run.numbers.sweeps import forward
from exprgrad.source import bytes_text

__all__ = [
    "BY_OUTPUT", "HESSIAN", "JACOBIAN", "JVP", "MATRICES", "MOST_PROGRAMS", "VJP", "Derived", "Kind",
    "Matrix", "Point", "Question", "along", "blocks", "entry_data", "first", "hessian", "jacobian", "jvp",
    "moves", "pattern", "row_program", "second", "sweeps", "vjp", "weighted",
]  # fmt: skip

T = TypeVar("T")
Derived = tuple[Program, derive.Entries]
"""The derived program of a matrix, and which output each of its entries is."""

MOST_PROGRAMS = 64
"""How many derived programs an evaluator keeps."""
BY_OUTPUT = {"value", "jacobian", "jvp"}
"""The fields of answers whose numbers are those of an output, each."""
MATRICES = {"jacobian", "hessian"}
"""The fields of answers whose numbers are by two names."""
LARGEST = 50_000_000
"""The most numbers of a Jacobian or Hessian of tensors: 400 MB."""


class Matrix(NamedTuple):
    """Derivatives by row (an output, or an input) and column (an input), in blocks.

    A block has the shape of its row and then that of its column; that of two numbers is a float.  What
    ``entries`` leaves out is structurally 0: at every point.
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    entries: dict[tuple[int, int], Any]
    row_shapes: tuple[Shape, ...] = ()
    column_shapes: tuple[Shape, ...] = ()

    def block(self, row: int, column: int) -> Any:
        """One block, zeros filled in: among tensors none is left out."""
        return self.entries.get((row, column), 0.0)

    def row(self, row: int) -> dict[str, Any]:
        """One row by column, zeros filled in."""
        return {name: self.block(row, at) for at, name in enumerate(self.columns)}

    def whole(self) -> dict[str, dict[str, Any]]:
        """Every row, zeros filled in."""
        return {name: self.row(row) for row, name in enumerate(self.rows)}

    def listed(self) -> Iterator[tuple[str, str, Any]]:
        """What is not structurally 0, row by row: the row, the column, the block."""
        for row, column in sorted(self.entries):
            yield self.rows[row], self.columns[column], self.entries[row, column]


def is_zero(graph: Graph, node: int) -> bool:
    """Whether a node is the constant 0, stretched or not."""
    if graph.kinds[node] == "broadcast":
        (node,) = graph.operands[node]
    return graph.kinds[node] == CONST and graph.payloads[node] == 0


class Point(NamedTuple):
    """Where derivatives are asked for: of some outputs (name → node), with respect to some inputs.

    ``direction`` is the inputs' tangents, or the outputs' cotangents, where there are any; ``spelled`` is
    as in a run.
    """

    evaluator: Evaluator
    inputs: Mapping[str, Any]
    outputs: Mapping[str, int]
    wrt: tuple[str, ...]
    direction: Mapping[str, Any] = {}
    spelled: Mapping[str, str] = NOTHING


# Programs.


def derived(
    evaluator: Evaluator, make: Callable[..., T], graph: Graph, *arguments: Any, **settings: Any
) -> T:
    """What ``make`` derives from a graph, the evaluator's or one of it: now, if it is not there."""
    key = make, graph, *arguments, *settings.items()
    memory: dict[object, T] = evaluator.programs
    return kept(memory, key, lambda: make(graph, *arguments, **settings), MOST_PROGRAMS)


def first(evaluator: Evaluator, wrt: Sequence[str]) -> Program:
    """The program of the output and its gradient."""
    return derived(evaluator, derive.gradient, evaluator.graph, tuple(wrt))


def second(
    evaluator: Evaluator, wrt: Sequence[str], graph: Graph | None = None, rule: Rule = computed
) -> Derived:
    """The program of the second derivatives of numbers, and the position of each entry."""
    return derived(evaluator, derive.hessian, graph or evaluator.graph, tuple(wrt), rule)


def row_program(evaluator: Evaluator, wrt: Sequence[str], at_row: int) -> Program:
    """The program of a row of blocks of the Hessian, from the diagonal on: JVPs of the gradient."""
    graph, outputs = first(evaluator, wrt)
    nodes = outputs[1 + at_row :]
    return derived(evaluator, derive.jvp, graph, (wrt[at_row],), nodes, masked=True)


def along(
    evaluator: Evaluator,
    moving: tuple[str, ...],
    nodes: tuple[int, ...],
    graph: Graph | None = None,
    rule: Rule = computed,
    *,
    masked: bool,
    beside: tuple[int, ...] = (),
) -> Program:
    """The program of a JVP."""
    given = graph or evaluator.graph, moving, nodes, rule
    return derived(evaluator, derive.jvp, *given, masked=masked, beside=beside)


def weighted(
    evaluator: Evaluator,
    nodes: tuple[int, ...],
    wrt: Sequence[str],
    graph: Graph | None = None,
    rule: Rule = computed,
    *,
    masked: bool,
    beside: tuple[int, ...] = (),
) -> Program:
    """The program of a VJP."""
    given = graph or evaluator.graph, nodes, tuple(wrt), rule
    return derived(evaluator, derive.vjp, *given, masked=masked, beside=beside)


# Matrices.


def jacobian(point: Point) -> Matrix:
    """The derivatives of the outputs: a row for each."""
    evaluator, values, outputs, wrt, _, _ = point
    nodes = tuple(outputs.values())
    if evaluator.by_entries:
        program = derived(evaluator, derive.jacobian, evaluator.graph, nodes, wrt, computed)
        return matrix(evaluator, outputs, wrt, entries(evaluator, program, values))
    from exprgrad.run.arrays import basis

    if sweeps(evaluator.graph, outputs, wrt)[0] == "JVP":
        programs = (along(evaluator, (name,), nodes, masked=True) for name in wrt)
        blocks = basis.by_columns(evaluator, programs, values, nodes, wrt)
    else:
        programs = (weighted(evaluator, (node,), wrt, masked=True) for node in nodes)
        blocks = basis.by_rows(evaluator, programs, values, nodes, wrt)
    return matrix(evaluator, outputs, wrt, blocks)


def hessian(point: Point) -> Matrix:
    """The second derivatives of the output, a number, with respect to each two of ``wrt``; symmetric."""
    evaluator, values, wrt = point.evaluator, point.inputs, point.wrt
    nodes = {name: evaluator.graph.inputs[name] for name in wrt}
    if evaluator.by_entries:
        return matrix(evaluator, nodes, wrt, entries(evaluator, second(evaluator, wrt), values))
    from exprgrad.run.arrays.basis import symmetric

    refuse_large(sum(size(evaluator.graph.shape(node)) for node in nodes.values()) ** 2)
    programs = (row_program(evaluator, wrt, at) for at in range(len(wrt)))
    return matrix(evaluator, nodes, wrt, symmetric(evaluator, programs, values, wrt))


def entry_data(
    evaluator: Evaluator,
    values: Mapping[str, Any],
    wrt: Sequence[str],
    place: tuple[int, int],
    index: tuple[int, ...],
) -> tuple[Graph, int, list[Any]]:
    """What finds an entry of the Hessian: a graph, the entry's node there, and every node's data.

    ``index`` is the number's place in the input that is the row.
    """
    row, column = place
    if evaluator.by_entries:
        (graph, outputs), known = second(evaluator, wrt)
        return graph, outputs[known[place]], forward(graph, values)
    from exprgrad.run.arrays.basis import at_direction

    program = row_program(evaluator, wrt, row)
    data = at_direction(evaluator, program, values, wrt[row], index)
    return program.graph, program.outputs[column - row], data


def entries(
    evaluator: Evaluator, program: Derived, values: Mapping[str, Any]
) -> dict[tuple[int, int], Any]:
    """The entries of a program's matrix at a point."""
    numbers = evaluator.answers(program[0], values)
    return {place: numbers[at] for place, at in program[1].items()}


def matrix(
    evaluator: Evaluator,
    rows: Mapping[str, int],
    wrt: Sequence[str],
    found: dict[tuple[int, int], Any],
) -> Matrix:
    """Some blocks as a matrix, with the shapes of its rows and columns."""
    if evaluator.by_entries:
        return Matrix(tuple(rows), tuple(wrt), found, ((),) * len(rows), ((),) * len(wrt))
    shape, inputs = evaluator.graph.shape, evaluator.graph.inputs
    columns = tuple([shape(inputs[name]) for name in wrt])
    return Matrix(tuple(rows), tuple(wrt), found, tuple(map(shape, rows.values())), columns)


def pattern(evaluator: Evaluator, wrt: Sequence[str]) -> list[tuple[str, str]]:
    """The blocks of the Hessian, (row, column), that are not structurally 0, row by row."""
    if evaluator.by_entries:
        return [(wrt[row], wrt[column]) for row, column in sorted(second(evaluator, wrt)[1])]
    found = set()
    for at_row, row in enumerate(wrt):
        graph, outputs = row_program(evaluator, wrt, at_row)
        for column, output in zip(wrt[at_row:], outputs, strict=True):
            if not is_zero(graph, output):
                found |= {(row, column), (column, row)}
    return [(row, column) for row in wrt for column in wrt if (row, column) in found]


def sweeps(
    graph: Graph, outputs: Mapping[str, int], wrt: Sequence[str]
) -> tuple[Literal["JVP", "VJP"], int]:
    """Which products a Jacobian is made of, and how many: the fewer; VJPs, its rows, if they are equal."""
    rows = sum(size(graph.shape(node)) for node in outputs.values())
    columns = sum(size(graph.shape(graph.inputs[name])) for name in wrt)
    refuse_large(rows * columns)
    return ("JVP", columns) if columns < rows else ("VJP", rows)


def refuse_large(count: int) -> None:
    """Raise ``RequestError`` for a matrix that would fill the memory."""
    if count > LARGEST:
        message = f"that matrix would have {count:,} numbers, or {bytes_text(8 * count)}"
        help = "jvp and vjp give products with it, and never form it"
        raise RequestError("too-large", message, help=help)


# Vectors.


def gradient(point: Point) -> dict[str, Any]:
    """The gradient, of which the Hessian is the derivative; the program of numbers' Hessian has it."""
    evaluator, wrt = point.evaluator, point.wrt
    program = second(evaluator, wrt)[0] if evaluator.by_entries else first(evaluator, wrt)
    slopes = evaluator.answers(program, point.inputs)[1 : 1 + len(wrt)]
    return dict(zip(wrt, slopes, strict=True))


def jvp(point: Point) -> dict[str, Any]:
    """By output, the derivative along the direction.

    A number whose tangent is 0 is held fixed: its derivatives, which may be infinite, play no part.
    """
    evaluator, outputs = point.evaluator, point.outputs
    moving, masked = moving_inputs(point.direction)
    program = along(evaluator, tuple(moving), tuple(outputs.values()), masked=masked)
    given = {**point.inputs, **tangents_named(moving)}
    return dict(zip(outputs, evaluator.answers(program, given), strict=True))


def moving_inputs(tangents: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
    """The inputs that a direction moves, and whether the sweep is masked."""
    moving = {name: tangent for name, tangent in tangents.items() if moves(tangent)}
    return moving, not all(map(moves_everywhere, moving.values()))


def tangents_named(moving: Mapping[str, Any]) -> dict[str, Any]:
    """Tangents by what programs call them."""
    return {derive.tangent(name): tangent for name, tangent in moving.items()}


def vjp(point: Point) -> dict[str, Any]:
    """By input of ``wrt``, the derivative of the outputs' sum, weighted by their cotangents.

    A number whose cotangent is 0 is left out: its derivatives, which may be infinite, play no part.
    """
    evaluator, wrt = point.evaluator, point.wrt
    if not wrt:
        return {}
    weights, masked = weighed(point.outputs, point.direction)
    program = weighted(evaluator, tuple(weights), wrt, masked=masked)
    given = {**point.inputs, **weights_named(weights)}
    return dict(zip(wrt, evaluator.answers(program, given), strict=True))


def weighed(
    outputs: Mapping[str, int], cotangents: Mapping[str, Any]
) -> tuple[dict[int, Any], bool]:
    """By output's node, its weight if it has one; and whether the sweep is masked.

    Two names may stand for one node, which then weighs both.
    """
    weights: dict[int, Any] = {}
    for name, node in outputs.items():
        if moves(weight := cotangents[name]):
            weights[node] = weights[node] + weight if node in weights else weight
    return weights, not all(map(moves_everywhere, weights.values()))


def weights_named(weights: Mapping[int, Any]) -> dict[str, Any]:
    """Cotangents by what programs call them."""
    return {derive.cotangent(at): weight for at, weight in enumerate(weights.values())}


def moves(direction: Any) -> bool:
    """Whether a number, or any number of a tensor, is not 0."""
    return bool(direction) if isinstance(direction, float) else bool(direction.any())


def moves_everywhere(direction: Any) -> bool:
    """Whether a number, or every number of a tensor, is not 0."""
    return bool(direction) if isinstance(direction, float) else bool(direction.all())


# Questions: which nodes of a derived graph a command's numbers are.

Numbers = dict[tuple[str, ...], int]
"""Nodes by path: by the field of the answer, then the names by which a number is found there."""
Paths = Iterable[tuple[str, ...]] | None


class Question(NamedTuple):
    """Numbers of a command's answer, as nodes of a graph that is derived from the formula's.

    ``graph``   the formula's
    ``inputs``  its inputs' values, and those of the directions that the derived graph reads
    ``derive``  from the formula's graph, or one with the same nodes, by some rules: a derived graph, and
                the nodes there of all numbers, or of those at some paths; what is always 0 is left out
    ``outputs`` the formula's nodes that are differentiated, by name
    ``spelled`` the texts of inputs, as a run has them
    """

    graph: Graph
    inputs: Mapping[str, Any]
    derive: Callable[[Graph, Rule, Paths], tuple[Graph, Numbers]]
    outputs: Mapping[str, int]
    spelled: Mapping[str, str] = NOTHING


def question(
    point: Point,
    program: Callable[[Graph, Rule, Paths], tuple[Graph, Numbers]],
    directions: Mapping[str, Any] = NOTHING,
) -> Question:
    """What a program asks at a point; ``directions`` are further inputs of the derived graph."""
    inputs = {**point.inputs, **directions}
    return Question(point.evaluator.graph, inputs, program, point.outputs, point.spelled)


def jacobian_question(point: Point) -> Question:
    """The outputs, ``("value", y)``, and the entries of their Jacobian, ``("jacobian", y, x)``."""

    def program(graph: Graph, rule: Rule, paths: Paths) -> tuple[Graph, Numbers]:
        rows, columns = asked(point.outputs, paths, 1), asked(point.wrt, paths, 2)
        nodes = tuple([point.outputs[name] for name in rows])
        given = graph, nodes, columns, rule
        (made, found), known = derived(point.evaluator, derive.jacobian, *given)
        entries = {
            ("jacobian", rows[row], columns[column]): found[at]
            for (row, column), at in known.items()
        }
        return made, values_of(rows, found) | entries

    return question(point, program)


def hessian_question(point: Point) -> Question:
    """The output, its gradient, ``("gradient", x)``, and half its Hessian, ``("hessian", x, y)``."""

    def program(graph: Graph, rule: Rule, paths: Paths) -> tuple[Graph, Numbers]:
        names = asked(point.wrt, paths, 1, 2)
        (made, found), known = second(point.evaluator, names, graph, rule)
        nodes = values_of(point.outputs, found)
        nodes |= {("gradient", name): node for name, node in zip(names, found[1:], strict=False)}
        for (row, column), at in sorted(known.items()):
            if row <= column:
                nodes["hessian", names[row], names[column]] = found[at]
        return made, nodes

    return question(point, program)


def jvp_question(point: Point) -> Question:
    """The outputs, and their derivatives along a direction, ``("jvp", y)``."""
    moving, masked = moving_inputs(point.direction)

    def program(graph: Graph, rule: Rule, paths: Paths) -> tuple[Graph, Numbers]:
        names = asked(point.outputs, paths, 1)
        nodes = tuple([point.outputs[name] for name in names])
        given = point.evaluator, tuple(moving), nodes, graph, rule
        made, found = along(*given, masked=masked, beside=nodes)
        return made, slopes_of("jvp", names, names, found)

    return question(point, program, tangents_named(moving))


def vjp_question(point: Point) -> Question:
    """The outputs, and the inputs' derivatives of a weighted sum of them, ``("vjp", x)``."""
    weights, masked = weighed(point.outputs, point.direction)

    def program(graph: Graph, rule: Rule, paths: Paths) -> tuple[Graph, Numbers]:
        names, beside = asked(point.wrt, paths, 1), asked(point.outputs, paths, 1)
        nodes = tuple([point.outputs[name] for name in beside])
        if not names:
            return graph, values_of(beside, nodes)
        given = point.evaluator, tuple(weights), names, graph, rule
        made, found = weighted(*given, masked=masked, beside=nodes)
        return made, slopes_of("vjp", names, beside, found)

    return question(point, program, weights_named(weights))


class Kind(NamedTuple):
    """A kind of derivatives: what sweeps find of it at a point, by field of an answer, and the question."""

    sweep: Callable[[Point], dict[str, Matrix | dict[str, Any]]]
    question: Callable[[Point], Question]


JACOBIAN = Kind(lambda point: {"jacobian": jacobian(point)}, jacobian_question)
HESSIAN = Kind(
    lambda point: {"gradient": gradient(point), "hessian": hessian(point)}, hessian_question
)
JVP = Kind(lambda point: {"jvp": jvp(point)}, jvp_question)
VJP = Kind(lambda point: {"vjp": vjp(point)}, vjp_question)


def slopes_of(
    field: str, names: Sequence[str], outputs: Iterable[str], nodes: Sequence[int]
) -> Numbers:
    """Derivatives, which come first of some nodes, and the outputs behind them, by their paths."""
    slopes = {(field, name): node for name, node in zip(names, nodes, strict=False)}
    return values_of(outputs, nodes[len(names) :]) | slopes


def values_of(names: Iterable[str], nodes: Iterable[int]) -> Numbers:
    """Outputs, which come first of some nodes, by their paths."""
    return {("value", name): node for name, node in zip(names, nodes, strict=False)}


def blocks(fields: Mapping[str, Matrix | Mapping[str, Any]]) -> dict[tuple[str, ...], Any]:
    """Numbers and tensors by path; of a Hessian those from the diagonal on."""
    found: dict[tuple[str, ...], Any] = {}
    for field, answer in fields.items():
        if isinstance(answer, Matrix):
            is_half = field == "hessian"
            for (row, column), block in sorted(answer.entries.items()):
                if row <= column or not is_half:
                    found[field, answer.rows[row], answer.columns[column]] = block
        else:
            found |= {(field, name): value for name, value in answer.items()}
    return found


def asked(names: Iterable[str], paths: Paths, *places: int) -> tuple[str, ...]:
    """The names that stand at some places of the paths; all if no paths are given."""
    if paths is None:
        return tuple(names)
    wanted = {path[place] for path in paths for place in places if place < len(path)}
    return tuple([name for name in names if name in wanted])
