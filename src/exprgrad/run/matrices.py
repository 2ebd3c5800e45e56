"""Jacobians, Hessians and their products with vectors, at a point: derived programs, evaluated.

A derived program does not depend on the numbers, so it is made once and kept by the evaluator.  Over
numbers one program has an output for each entry of a matrix; over tensors a matrix is made along basis
directions: rows by VJPs, or columns by JVPs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeVar

from exprgrad.derive.rules import Rule, computed
from exprgrad.derive.sweeps import gradient as derive
from exprgrad.errors import RequestError
from exprgrad.graph.graph import CONST, Graph, Program, Shape, shape_size
from exprgrad.run.evaluation import NOTHING, Evaluator, remember
from exprgrad.run.numbers.sweeps import forward_numbers
from exprgrad.source import bytes_text

__all__ = [
    "BY_OUTPUT", "HESSIAN", "JACOBIAN", "JVP", "MATRICES", "MOST_PROGRAMS", "VJP", "DerivativeKind",
    "Derived", "Matrix", "Point", "Question", "blocks_by_path", "cheaper_products", "derive_once",
    "entry_data", "fill_matrices", "gradient_program", "has_motion", "hessian_at", "hessian_program",
    "jacobian_at", "jvp_at", "nonzero_blocks",
]  # fmt: skip

T = TypeVar("T")
Derived = tuple[Program, derive.Entries]
"""The derived program of a matrix, and the output of each entry."""

MOST_PROGRAMS = 64
"""The most derived programs that an evaluator keeps."""
BY_OUTPUT = {"value", "jacobian", "jvp"}
"""The fields of answers with numbers for each output."""
MATRICES = {"jacobian", "hessian"}
"""The fields of answers whose numbers have two names."""
LARGEST = 50_000_000
"""The most numbers of a Jacobian or Hessian of tensors: 400 MB."""


class Matrix(NamedTuple):
    """Derivatives by row (an output, or an input) and column (an input), in blocks.

    A block has the shape of its row and then that of its column; that of two numbers is a float.  What
    ``entries`` leaves out is structurally 0, at every point.
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    entries: dict[tuple[int, int], Any]
    row_shapes: tuple[Shape, ...] = ()
    column_shapes: tuple[Shape, ...] = ()

    def block(self, row: int, column: int) -> Any:
        """Return one block, zeros filled in; among tensors none is left out."""
        return self.entries.get((row, column), 0.0)

    def row(self, row: int) -> dict[str, Any]:
        """Return one row by column, zeros filled in."""
        return {name: self.block(row, at) for at, name in enumerate(self.columns)}

    def whole(self) -> dict[str, dict[str, Any]]:
        """Return every row, zeros filled in."""
        return {name: self.row(row) for row, name in enumerate(self.rows)}

    def listed(self) -> Iterator[tuple[str, str, Any]]:
        """Yield the blocks that are not structurally 0, row by row: the row, the column, the block."""
        for row, column in sorted(self.entries):
            yield self.rows[row], self.columns[column], self.entries[row, column]


class Point(NamedTuple):
    """A point for derivatives of some outputs (name → node), with respect to some inputs.

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


def derive_once(
    evaluator: Evaluator, make: Callable[..., T], graph: Graph, *arguments: Any, **settings: Any
) -> T:
    """Return what ``make`` derives from a graph, the evaluator's or one of its own, deriving it once."""
    key = make, graph, *arguments, *settings.items()
    memory: dict[object, T] = evaluator.programs
    return remember(memory, key, lambda: make(graph, *arguments, **settings), MOST_PROGRAMS)


def gradient_program(evaluator: Evaluator, wrt: Sequence[str], rule: Rule = computed) -> Program:
    """Derive the program of the output and its gradient."""
    return derive_once(evaluator, derive.gradient, evaluator.graph, tuple(wrt), rule)


def hessian_program(
    evaluator: Evaluator, wrt: Sequence[str], graph: Graph | None = None, rule: Rule = computed
) -> Derived:
    """Derive the program of the second derivatives of numbers, and the position of each entry."""
    return derive_once(
        evaluator, derive.hessian_entries, graph or evaluator.graph, tuple(wrt), rule
    )


def row_program(evaluator: Evaluator, wrt: Sequence[str], at_row: int) -> Program:
    """Derive the program of a row of the Hessian's blocks, from the diagonal on: JVPs of the gradient."""
    graph, outputs = gradient_program(evaluator, wrt)
    nodes = outputs[1 + at_row :]
    return derive_once(evaluator, derive.jvp, graph, (wrt[at_row],), nodes, masked=True)


# Matrices.


def jacobian_at(point: Point) -> Matrix:
    """Compute the derivatives of the outputs, a row for each."""
    evaluator, values, outputs, wrt, _, _ = point
    graph, nodes = evaluator.graph, tuple(outputs.values())
    if evaluator.by_entries:
        made = derive_once(evaluator, derive.jacobian_entries, graph, nodes, wrt, computed)
        return assemble_matrix(evaluator, outputs, wrt, matrix_entries(evaluator, made, values))
    way, _ = cheaper_products(graph, outputs, wrt)
    blocks, shape = zero_blocks(graph, nodes, wrt), graph.shape
    if way == "JVP":
        for column, name in enumerate(wrt):
            program = derive_once(evaluator, derive.jvp, graph, (name,), nodes, masked=True)
            columns = [blocks[row, column].T for row in range(len(nodes))]
            fill_matrices(
                evaluator,
                program,
                values,
                (derive.tangent_name(name), shape(graph.inputs[name])),
                columns,
            )
    else:
        for row, node in enumerate(nodes):
            program = derive_once(evaluator, derive.vjp, graph, (node,), wrt, masked=True)
            rows = [blocks[row, column] for column in range(len(wrt))]
            fill_matrices(evaluator, program, values, (derive.cotangent_name(0), shape(node)), rows)
    return assemble_matrix(evaluator, outputs, wrt, blocks)


def hessian_at(point: Point) -> Matrix:
    """Compute the second derivatives of the output, a number, for each two of ``wrt``; symmetric."""
    evaluator, values, wrt = point.evaluator, point.inputs, point.wrt
    graph = evaluator.graph
    nodes = {name: graph.inputs[name] for name in wrt}
    if evaluator.by_entries:
        return assemble_matrix(
            evaluator,
            nodes,
            wrt,
            matrix_entries(evaluator, hessian_program(evaluator, wrt), values),
        )
    import numpy as np

    refuse_large(sum(shape_size(graph.shape(node)) for node in nodes.values()) ** 2)
    blocks = zero_blocks(graph, nodes.values(), wrt)
    for row, name in enumerate(wrt):
        program = row_program(evaluator, wrt, row)
        rows = [blocks[row, column] for column in range(row, len(wrt))]
        fill_matrices(
            evaluator, program, values, (derive.tangent_name(name), graph.shape(nodes[name])), rows
        )
        blocks[row, row] = np.triu(blocks[row, row]) + np.triu(blocks[row, row], 1).T
        for column in range(row + 1, len(wrt)):
            blocks[column, row] = blocks[row, column].T.copy()
    return assemble_matrix(evaluator, nodes, wrt, blocks)


def zero_blocks(
    graph: Graph, nodes: Iterable[int], wrt: Sequence[str]
) -> dict[tuple[int, int], Any]:
    """Make matrices of zeros: a row for each number of a node, a column for each of an input."""
    from exprgrad.run.arrays.arrays import zero_tensor

    columns = [shape_size(graph.shape(graph.inputs[name])) for name in wrt]
    return {
        (row, column): zero_tensor((shape_size(graph.shape(node)), length))
        for row, node in enumerate(nodes)
        for column, length in enumerate(columns)
    }


def fill_matrices(
    evaluator: Evaluator,
    program: Program,
    values: Mapping[str, Any],
    seed: tuple[str, Shape],
    matrices: Sequence[Any],
) -> None:
    """Fill the rows of matrices with a program's answers, a row for each direction along an axis.

    ``seed`` is the program's name of the direction, and its shape.
    """
    from exprgrad.run.arrays.arrays import zero_tensor

    name, shape = seed
    direction = zero_tensor(shape)
    flat = direction.reshape(-1)
    for at in range(flat.size):
        flat[at] = 1.0
        answers = evaluator.answers(program, {**values, name: direction})
        for found, answer in zip(matrices, answers, strict=True):
            found[at] = getattr(answer, "flat", answer)
        flat[at] = 0.0


def entry_data(
    evaluator: Evaluator,
    values: Mapping[str, Any],
    wrt: Sequence[str],
    place: tuple[int, int],
    index: tuple[int, ...],
) -> tuple[Graph, int, list[Any]]:
    """Return a graph that finds an entry of the Hessian, the entry's node, and every node's data.

    ``index`` is the number's place in the input that is the row.
    """
    row, column = place
    if evaluator.by_entries:
        (graph, outputs), known = hessian_program(evaluator, wrt)
        return graph, outputs[known[place]], forward_numbers(graph, values)
    from exprgrad.run.arrays import arrays

    graph, outputs = row_program(evaluator, wrt, row)
    direction = arrays.zero_tensor(evaluator.graph.shape(evaluator.graph.inputs[wrt[row]]))
    direction[index] = 1.0
    data = arrays.node_data(graph, {**values, derive.tangent_name(wrt[row]): direction})
    return graph, outputs[column - row], data


def matrix_entries(
    evaluator: Evaluator, program: Derived, values: Mapping[str, Any]
) -> dict[tuple[int, int], Any]:
    """Compute the entries of a program's matrix at a point."""
    numbers = evaluator.answers(program[0], values)
    return {place: numbers[at] for place, at in program[1].items()}


def assemble_matrix(
    evaluator: Evaluator,
    rows: Mapping[str, int],
    wrt: Sequence[str],
    found: dict[tuple[int, int], Any],
) -> Matrix:
    """Assemble blocks to a matrix, in the shapes of its rows and columns."""
    shape, inputs = evaluator.graph.shape, evaluator.graph.inputs
    above, beside = [*map(shape, rows.values())], [shape(inputs[name]) for name in wrt]
    if not evaluator.by_entries:
        from exprgrad.run.arrays.arrays import float_or_array

        found = {
            (row, column): float_or_array(block.reshape(above[row] + beside[column]))
            for (row, column), block in found.items()
        }
    return Matrix(tuple(rows), tuple(wrt), found, tuple(above), tuple(beside))


def nonzero_blocks(evaluator: Evaluator, wrt: Sequence[str]) -> list[tuple[str, str]]:
    """List the blocks of the Hessian, (row, column), that are not structurally 0, row by row."""
    if evaluator.by_entries:
        return [
            (wrt[row], wrt[column]) for row, column in sorted(hessian_program(evaluator, wrt)[1])
        ]
    found = set()
    for at_row, row in enumerate(wrt):
        graph, outputs = row_program(evaluator, wrt, at_row)
        for column, output in zip(wrt[at_row:], outputs, strict=True):
            bare = graph.operands[output][0] if graph.kinds[output] == "broadcast" else output
            if graph.kinds[bare] != CONST or graph.payloads[bare] != 0:
                found |= {(row, column), (column, row)}
    return [(row, column) for row in wrt for column in wrt if (row, column) in found]


def cheaper_products(
    graph: Graph, outputs: Mapping[str, int], wrt: Sequence[str]
) -> tuple[Literal["JVP", "VJP"], int]:
    """Choose the products to make a Jacobian of, and count them: the fewer; VJPs if they are equal."""
    rows = sum(shape_size(graph.shape(node)) for node in outputs.values())
    columns = sum(shape_size(graph.shape(graph.inputs[name])) for name in wrt)
    refuse_large(rows * columns)
    return ("JVP", columns) if columns < rows else ("VJP", rows)


def refuse_large(count: int) -> None:
    """Raise ``RequestError`` for a matrix that would fill the memory."""
    if count > LARGEST:
        raise RequestError(
            "too-large",
            f"that matrix would have {count:,} numbers, or {bytes_text(8 * count)}",
            help="jvp and vjp give products with it, and never form it",
        )


# Vectors.


def gradient_at(point: Point) -> dict[str, Any]:
    """Compute the gradient; over numbers the Hessian's program has it."""
    evaluator, wrt = point.evaluator, point.wrt
    program = (
        hessian_program(evaluator, wrt)[0]
        if evaluator.by_entries
        else gradient_program(evaluator, wrt)
    )
    return dict(zip(wrt, evaluator.answers(program, point.inputs)[1 : 1 + len(wrt)], strict=True))


def jvp_at(point: Point) -> dict[str, Any]:
    """Compute the derivative of each output along the direction.

    A number whose tangent is 0 is held fixed: its derivatives, maybe infinite, play no part.
    """
    return ask_products(point, "jvp", point.outputs, jvp_question(point))


def ask_products(
    point: Point, field: str, names: Iterable[str], question: Question
) -> dict[str, Any]:
    """Return a question's answers under a field, by name."""
    paths = [(field, name) for name in names]
    graph, nodes = question.derive(question.graph, computed, paths)
    program = Program(graph, tuple([nodes[path] for path in paths]))
    answers = point.evaluator.answers(program, question.inputs)
    return {name: answer for (_, name), answer in zip(paths, answers, strict=True)}


def is_masked(directions: Iterable[Any]) -> bool:
    """Whether a moving tensor has a number that does not move: see ``derive.jvp``."""
    return not all(bool(one) if isinstance(one, float) else bool(one.all()) for one in directions)


def has_motion(direction: Any) -> bool:
    """Whether a number, or any number of a tensor, is not 0."""
    return bool(direction) if isinstance(direction, float) else bool(direction.any())


# Questions: which nodes of a derived graph a command's numbers are.

NodesByPath = dict[tuple[str, ...], int]
"""Nodes by path: the field of the answer, then the names that lead to a number."""
Paths = Iterable[tuple[str, ...]] | None


class Question(NamedTuple):
    """A command's answer, as nodes of a graph derived from the formula's.

    ``graph``   the formula's
    ``inputs``  its inputs' values, and those of the directions that the derived graph reads
    ``derive``  makes from the formula's graph, or one with the same nodes, by rules: a derived graph, and
                the nodes of all numbers there, or of those at some paths; what is always 0 is left out
    ``outputs`` the differentiated nodes of the formula, by name
    ``spelled`` the texts of inputs, as a run has them
    """

    graph: Graph
    inputs: Mapping[str, Any]
    derive: Callable[[Graph, Rule, Paths], tuple[Graph, NodesByPath]]
    outputs: Mapping[str, int]
    spelled: Mapping[str, str] = NOTHING


def ask_program(
    point: Point,
    program: Callable[[Graph, Rule, Paths], tuple[Graph, NodesByPath]],
    directions: Mapping[str, Any] = NOTHING,
) -> Question:
    """Make the question of a program at a point; ``directions`` are further inputs of the derived graph."""
    inputs = {**point.inputs, **directions}
    return Question(point.evaluator.graph, inputs, program, point.outputs, point.spelled)


def jacobian_question(point: Point) -> Question:
    """The outputs, ``("value", y)``, and the entries of their Jacobian, ``("jacobian", y, x)``."""

    def program(graph: Graph, rule: Rule, paths: Paths) -> tuple[Graph, NodesByPath]:
        rows, columns = names_asked(point.outputs, paths, 1), names_asked(point.wrt, paths, 2)
        given = graph, tuple([point.outputs[name] for name in rows]), columns, rule
        (made, found), known = derive_once(point.evaluator, derive.jacobian_entries, *given)
        entries = {
            ("jacobian", rows[row], columns[column]): found[at]
            for (row, column), at in known.items()
        }
        return made, paths_of_values(rows, found) | entries

    return ask_program(point, program)


def hessian_question(point: Point) -> Question:
    """The output, its gradient, ``("gradient", x)``, and half its Hessian, ``("hessian", x, y)``."""

    def program(graph: Graph, rule: Rule, paths: Paths) -> tuple[Graph, NodesByPath]:
        names = names_asked(point.wrt, paths, 1, 2)
        (made, found), known = hessian_program(point.evaluator, names, graph, rule)
        nodes = paths_of_values(point.outputs, found)
        nodes |= {("gradient", name): node for name, node in zip(names, found[1:], strict=False)}
        for (row, column), at in sorted(known.items()):
            if row <= column:
                nodes["hessian", names[row], names[column]] = found[at]
        return made, nodes

    return ask_program(point, program)


def jvp_question(point: Point) -> Question:
    """The outputs, and their derivatives along a direction, ``("jvp", y)``."""
    moving = {name: tangent for name, tangent in point.direction.items() if has_motion(tangent)}
    given = {derive.tangent_name(name): tangent for name, tangent in moving.items()}

    def program(graph: Graph, rule: Rule, paths: Paths) -> tuple[Graph, NodesByPath]:
        names = names_asked(point.outputs, paths, 1)
        nodes = tuple([point.outputs[name] for name in names])
        is_asked = paths is None or any(path[0] == "value" for path in paths)
        made, found = derive_once(
            point.evaluator, derive.jvp, graph, tuple(moving), nodes, rule,
            masked=is_masked(moving.values()), beside=nodes if is_asked else (),
        )  # fmt: skip
        return made, paths_of_slopes("jvp", names, names, found)

    return ask_program(point, program, given)


def vjp_question(point: Point) -> Question:
    """The outputs, and the inputs' derivatives of their sum weighted by cotangents, ``("vjp", x)``.

    A number whose cotangent is 0 is left out: its derivatives, maybe infinite, play no part.
    """
    weights: dict[int, Any] = {}  # by node: two names may stand for one, which then weighs both
    for name, node in point.outputs.items():
        if has_motion(weight := point.direction[name]):
            weights[node] = weights[node] + weight if node in weights else weight
    given = {derive.cotangent_name(at): weight for at, weight in enumerate(weights.values())}

    def program(graph: Graph, rule: Rule, paths: Paths) -> tuple[Graph, NodesByPath]:
        names, beside = names_asked(point.wrt, paths, 1), names_asked(point.outputs, paths, 1)
        nodes = tuple([point.outputs[name] for name in beside])
        if not names:
            return graph, paths_of_values(beside, nodes)
        made, found = derive_once(
            point.evaluator, derive.vjp, graph, tuple(weights), names, rule,
            masked=is_masked(weights.values()), beside=nodes,
        )  # fmt: skip
        return made, paths_of_slopes("vjp", names, beside, found)

    return ask_program(point, program, given)


class DerivativeKind(NamedTuple):
    """A kind of derivatives: its name, the functions that find an answer's fields, and its question."""

    name: str
    fields: Mapping[str, Callable[[Point], Any]]
    question: Callable[[Point], Question]

    def sweep(self, point: Point, unseen: Collection[str] = ()) -> dict[str, Any]:
        """Run the sweeps; return matrices, or numbers by name, by field."""
        return {field: find(point) for field, find in self.fields.items() if field not in unseen}


JACOBIAN = DerivativeKind("jacobian", {"jacobian": jacobian_at}, jacobian_question)
HESSIAN = DerivativeKind(
    "hessian", {"gradient": gradient_at, "hessian": hessian_at}, hessian_question
)
JVP = DerivativeKind("jvp", {"jvp": jvp_at}, jvp_question)
VJP = DerivativeKind(
    "vjp",
    {"vjp": lambda point: ask_products(point, "vjp", point.wrt, vjp_question(point))},
    vjp_question,
)


def paths_of_slopes(
    field: str, names: Sequence[str], outputs: Iterable[str], nodes: Sequence[int]
) -> NodesByPath:
    """Return the paths of nodes: derivatives come first, then the outputs."""
    slopes = {(field, name): node for name, node in zip(names, nodes, strict=False)}
    return paths_of_values(outputs, nodes[len(names) :]) | slopes


def paths_of_values(names: Iterable[str], nodes: Iterable[int]) -> NodesByPath:
    """Return the paths of nodes that begin with the outputs."""
    return {("value", name): node for name, node in zip(names, nodes, strict=False)}


def blocks_by_path(fields: Mapping[str, Matrix | Mapping[str, Any]]) -> dict[tuple[str, ...], Any]:
    """Return numbers and tensors by path; a Hessian's from the diagonal on."""
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


def names_asked(names: Iterable[str], paths: Paths, *places: int) -> tuple[str, ...]:
    """Return the names at some positions of the paths; all if no paths are given."""
    if paths is None:
        return tuple(names)
    wanted = {path[place] for path in paths for place in places if place < len(path)}
    return tuple([name for name in names if name in wanted])
