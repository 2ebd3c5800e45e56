"""Products of vectors and matrices, linear systems, inverses and determinants.

Source: M. Giles, An extended collection of matrix derivative results for forward and reverse mode
algorithmic differentiation (2008): section 2.2.2 for products, 2.2.3 for inverses, 2.2.4 for determinants
and 2.3.1 for linear systems.  Vectors are matrices of one row or column.  What has more than two axes is a
stack of matrices, the last two being theirs; the others broadcast.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations, product
from typing import Any, NamedTuple, TypeVar

from exprgrad.graph.graph import Settings, Shape, shape_size
from exprgrad.graph.structural import (
    TINY,
    UNIT,
    NodeBuilder,
    NumberBuilder,
    Propagation,
    ShapeMismatch,
    Structural,
    TensorBuilder,
    broadcast_shape,
    cite_source,
    passes_from_partial,
    shape_text,
    spread_back_reduction,
    sum_to_shape,
)

__all__ = ["LINEAR_ALGEBRA"]

BY_MINORS = 8
"""The largest matrices whose cofactors are determinants of minors, also where they are singular."""
BY_PRODUCTS = 4
"""The largest matrices whose determinants are computed as sums of products."""
MOST_LEFT = 20
"""The most rows that may be left without a pivot."""
NO_PIVOT = 1e-12
"""A pivot below this part of its matrix's greatest number may be 0."""
SINGULAR = "the matrix is singular"
Entry = TypeVar("Entry")


def wrong_rank_error(needed: str, shape: Shape, help: str) -> ShapeMismatch:
    """Return the error for an operand of the wrong rank; ``help`` is for a tensor."""
    return ShapeMismatch(
        f"{{op}} needs {needed}", shape_text(shape, help, "a product with a number is written *")
    )


def matmul_shape(shapes: Sequence[Shape], settings: Settings) -> Shape:
    x, y = shapes
    if () in shapes:
        raise wrong_rank_error("vectors or matrices", (), "")
    if x[-1] != y[-2:][0]:
        raise ShapeMismatch("{op} needs inner sizes to match", suggest_transpose(x, y))
    return (*broadcast_leading_shape(x, y), *x[-2:-1], *y[-2:][1:])


def broadcast_leading_shape(x: Shape, y: Shape) -> Shape:
    """Broadcast the axes of two operands before their last two."""
    try:
        return broadcast_shape([x[:-2], y[:-2]])
    except ShapeMismatch:
        raise ShapeMismatch(
            "{op} needs leading sizes that broadcast",
            "all but the last two are matched from the right: they must be equal, or one of them 1",
        ) from None


def suggest_transpose(x: Shape, y: Shape) -> str | None:
    """Suggest the operand to transpose so that the inner sizes match."""
    if len(y) == 2 and x[-1] == y[-1]:
        return "did you mean {0} @ {1}.T?"
    if len(x) == 2 and x[0] == y[-2:][0]:
        return "did you mean {0}.T @ {1}?"
    if len(x) <= 2 and len(y) <= 2 and y[-1] == x[0]:
        return "did you mean {1} @ {0}?"
    return None


def transpose_matrices(b: NodeBuilder, node: int) -> int:
    """Transpose matrices; leave a vector as it is."""
    rank = len(b.shape(node))
    if rank < 2:
        return node
    order = None if rank == 2 else (*range(rank - 2), rank - 1, rank - 2)
    return b.apply("transpose", node, settings=(order,))


def matmul_vjp(b: NodeBuilder, p: Propagation) -> int:
    """Giles (2008), section 2.2.2: the cotangent times y^T, or x^T times the cotangent."""
    x, y = p.operands
    ranks = len(b.shape(x)), len(b.shape(y))
    if ranks == (1, 1):
        return b.apply("mul", p.given, y if p.position == 0 else x)
    if max(ranks) > 2:
        return batched_matmul_vjp(b, p)
    pair = (
        (transpose_matrices(b, x), p.given) if p.position else (p.given, transpose_matrices(b, y))
    )
    return b.apply("outer" if ranks[1 - p.position] == 1 else "matmul", *pair)


def batched_matmul_vjp(b: NodeBuilder, p: Propagation) -> int:
    """The product's rule for stacks of matrices; a stack that was repeated gets the sum."""
    x, y = p.operands
    left, right = b.shape(x), b.shape(y)
    left, right = left if len(left) > 1 else (1, *left), right if len(right) > 1 else (*right, 1)
    whole = *broadcast_leading_shape(left, right), left[-2], right[-1]
    given = b.apply("reshape", p.given, settings=(whole,))
    other, shape = (x, left) if p.position else (y, right)
    back = transpose_matrices(b, b.apply("reshape", other, settings=(shape,)))
    passed = b.apply("matmul", *((back, given) if p.position else (given, back)))
    passed = sum_to_shape(b, passed, right if p.position else left)
    return b.apply("reshape", passed, settings=(b.shape(p.operand),))


def dot_shape(shapes: Sequence[Shape], settings: Settings) -> Shape:
    x, y = shapes
    for shape in shapes:
        if len(shape) != 1:
            raise wrong_rank_error("vectors", shape, "a product with matrices is written @")
    if x != y:
        raise ShapeMismatch("{op} needs vectors of one length")
    return ()


def outer_shape(shapes: Sequence[Shape], settings: Settings) -> Shape:
    for at, shape in enumerate(shapes):
        if len(shape) != 1:
            raise wrong_rank_error(
                "vectors",
                shape,
                f"a matrix as one vector is reshape({{{at}}}, [{shape_size(shape)}])",
            )
    return (*shapes[0], *shapes[1])


# Linear systems and inverses.


def check_square_matrices(shape: Shape, number: str, tensor: str = "") -> None:
    """Raise unless the shape is a square matrix or a stack of them; the help is for numbers and tensors."""
    if len(shape) < 2 or shape[-1] != shape[-2]:
        raise ShapeMismatch(
            "{op} needs a square matrix", shape_text(shape, tensor, number) or None, (0,)
        )


def as_column_matrices(b: NodeBuilder, node: int) -> int:
    """Reshape vectors to matrices of one column."""
    return b.apply("reshape", node, settings=((*b.shape(node), 1),))


def solve_shape(shapes: Sequence[Shape], settings: Settings) -> Shape:
    x, y = shapes
    is_turned = len(y) > 1 and y[-2:] == x[-2:][:1] * 2
    check_square_matrices(
        x,
        "of numbers write {1}/{0}",
        "did you mean solve({bare[1]}, {bare[0]})?" if is_turned else "",
    )
    if not y:
        raise ShapeMismatch("{op} needs a vector or a matrix on the right", None, (1,))
    if y[-2:][0] != x[-1]:
        raise ShapeMismatch(
            "{op} needs as many rows on the right",
            f"for a vector to each matrix write reshape({{1}}, {[*y, 1]})" if y == x[:-1] else None,
        )
    return (*broadcast_leading_shape(x, y), x[-1], *y[-2:][1:])


def solve_matrices(np: Any, x: Any, y: Any) -> Any:
    """Solve x @ out = y by an array library; nan where a matrix is singular."""
    if np.ndim(y) == 1:
        return solve_matrices(np, x, y[:, None])[..., 0]
    lead = broadcast_leading_shape(np.shape(x), np.shape(y))
    x, y = (np.broadcast_to(part, lead + np.shape(part)[-2:]) for part in (x, y))
    try:
        return np.linalg.solve(x, y)
    except np.linalg.LinAlgError:
        if not lead:
            return np.full(np.shape(y), np.nan)
        return np.stack([solve_matrices(np, *pair) for pair in zip(x, y, strict=True)])


def solve_bound(
    np: Any, operands: Sequence[Any], errors: Sequence[Any], out: Any, settings: Settings
) -> Any:
    """Bound the solution's error: the inverse applied to the residual."""
    (x, y), (off, y_off) = operands, errors
    if np.ndim(y) == 1:
        y, y_off, out = y[:, None], y_off[:, None], out[..., None]
        return solve_bound(np, [x, y], [off, y_off], out, settings)[..., 0]
    rounded = (np.shape(x)[-1] + 2) * UNIT * (np.abs(x) @ np.abs(out) + np.abs(y)) + TINY
    return bound_inverse_product(
        np, x, off, np.abs(y - x @ out) + rounded + off @ np.abs(out) + y_off
    )


def bound_inverse_product(np: Any, x: Any, off: Any, errors: Any) -> Any:
    """Bound the inverses of matrices applied to columns of errors; infinite where no bound is known.

    An approximate inverse C bounds the true one if 1 - C x is small: S. M. Rump, Verification methods:
    rigorous results using floating-point arithmetic (2010), section 10.
    """
    count = np.shape(x)[-1]
    one = np.eye(count)
    inverse = solve_matrices(np, x, one)
    sizes = np.abs(inverse)
    apart = np.abs(one - inverse @ x) + sizes @ off
    apart = apart + (count + 2) * UNIT * (sizes @ np.abs(x) + one)
    most = np.max(np.sum(apart, axis=-1), axis=-1)[..., None, None]
    first = sizes @ errors
    rest = most / (1 - most) * np.max(first, axis=-2, keepdims=True)
    return np.where(most < 1, first + rest, np.inf)


def solve_definition(b: NumberBuilder, operands: Sequence[int], settings: Settings) -> int:
    """Solve by Gaussian elimination and back substitution."""
    x, y = operands
    shape = solve_shape([b.shape(x), b.shape(y)], settings)
    if len(b.shape(y)) == 1:
        y = as_column_matrices(b, y)
    found = []
    for place in product(*map(range, broadcast_leading_shape(b.shape(x), b.shape(y)))):
        solution: list[int] = []
        elimination = eliminate_matrix(b, x, place, matrix_at(b, y, place))
        for pivot, row in reversed(elimination.steps):
            right = elements_after(b, row, len(solution))
            for at, known in enumerate(solution):
                right = b.apply("sub", right, b.apply("mul", slice_first_axis(b, row, at), known))
            is_sure = len(elimination.steps) - len(solution) <= elimination.sure
            if is_sure:
                quotient = b.apply("div", right, pivot)
            else:  # nan, with all its derivatives, where the pivot is 0
                nothing = b.apply("mul", b.apply("mul", right, pivot), b.constant(math.nan))
                quotient = b.apply("where", pivot, b.apply("div", right, pivot), nothing)
            solution.insert(0, quotient)
        found.append(b.apply("stack", *solution, settings=(0,)))
    return b.apply("reshape", b.apply("stack", *found, settings=(0,)), settings=(shape,))


class Elimination(NamedTuple):
    """The result of Gaussian elimination: each pivot with the rest of its row, and the rows left.

    ``sure``    the number of pivots that are surely not 0
    ``turned``  whether the rows' permutation is odd
    ``left``    the rows without a pivot
    """

    steps: list[tuple[int, int]]
    sure: int
    turned: bool
    left: list[int]


def eliminate_matrix(
    b: NumberBuilder, x: int, place: Sequence[int], right: int | None = None
) -> Elimination:
    """Eliminate a matrix; with ``right`` on its right-hand side all rows are used.

    The rows come in the order of the greatest pivots, as far as x is known.
    """
    matrix, known = matrix_at(b, x, place), b.known(x)
    count = b.shape(matrix)[0]
    order, sure = [*range(count)], 0
    if known is not None:
        order, sure = pivot_rows(known[unbroadcast_place(place, b.shape(x))].tolist())
    rows = [slice_first_axis(b, matrix, at) for at in order]
    if right is not None:
        ends = [slice_first_axis(b, right, at) for at in order]
        rows = [b.apply("concat", *pair, settings=(0,)) for pair in zip(rows, ends, strict=True)]
    is_partial = right is None and known is not None and count - sure <= MOST_LEFT
    steps = []
    for _ in range(sure if is_partial else count):
        pivot, rest = slice_first_axis(b, rows[0], 0), elements_after(b, rows[0], 1)
        steps.append((pivot, rest))
        factors = [b.apply("div", slice_first_axis(b, row, 0), pivot) for row in rows[1:]]
        rows = [
            b.apply("sub", elements_after(b, row, 1), b.apply("mul", factor, rest))
            for row, factor in zip(rows[1:], factors, strict=True)
        ]
    turned = sum(one > other for one, other in combinations(order, 2)) % 2 == 1
    return Elimination(steps, sure, turned, rows)


def pivot_rows(rows: list[list[float]]) -> tuple[list[int], int]:
    """Return the order of rows that gives the greatest pivots, and how many of them are surely not 0."""
    left, rank = [*enumerate(rows)], 0
    order: list[int] = []
    least = NO_PIVOT * max(abs(x) for row in rows for x in row)
    while left:
        best = max(range(len(left)), key=lambda at: abs(left[at][1][0]))
        place, (pivot, *rest) = left.pop(best)
        rank += rank == len(order) and abs(pivot) > least
        order.append(place)
        left = [
            (at, [x - first / (pivot or 1.0) * y for x, y in zip(row, rest, strict=True)])
            for at, (first, *row) in left
        ]
    return order, rank


def unbroadcast_place(place: Sequence[int], shape: Shape) -> tuple[int, ...]:
    """Return the place in one stack of a place in the broadcast stacks."""
    lead = shape[:-2]
    pairs = zip(place[len(place) - len(lead) :], lead, strict=True)
    return tuple([at if length > 1 else 0 for at, length in pairs])


def matrix_at(b: NodeBuilder, x: int, place: Sequence[int]) -> int:
    """Take the matrix at a place of a stack."""
    return b.apply("index", x, settings=(unbroadcast_place(place, b.shape(x)),))


def slice_first_axis(b: NodeBuilder, x: int, at: int) -> int:
    """Take the slice at a place of the first axis."""
    return b.apply("index", x, settings=((at,),))


def elements_after(b: NodeBuilder, x: int, at: int) -> int:
    """Take the elements of a vector from a place on."""
    return b.apply("index", x, settings=(((at, None),),))


def solve_vjp(b: NodeBuilder, p: Propagation) -> int:
    """Giles (2008), section 2.3.1: a^-T times the cotangent; for a that times out^T, with a minus."""
    x, y = p.operands
    given, out, shape = p.given, p.out, b.shape(y)
    is_plain = (len(b.shape(x)), len(shape)) == (2, 1)
    if len(shape) == 1 and not is_plain:
        given, out, shape = as_column_matrices(b, given), as_column_matrices(b, out), (*shape, 1)
    passed = b.apply("solve", transpose_matrices(b, x), given)
    if p.position == 1:
        return b.apply("reshape", sum_to_shape(b, passed, shape), settings=(b.shape(y),))
    kind = "outer" if is_plain else "matmul"
    return sum_to_shape(
        b, b.apply("neg", b.apply(kind, passed, transpose_matrices(b, out))), b.shape(x)
    )


def solve_jvp(b: NodeBuilder, p: Propagation) -> int:
    """x^-1 times the tangent of y, or minus x^-1 times that of x @ out."""
    x, y = p.operands
    if p.position == 1:
        return b.apply("solve", x, p.given)
    is_stack = len(b.shape(y)) == 1 and len(b.shape(x)) > 2
    out = as_column_matrices(b, p.out) if is_stack else p.out
    found = b.apply("neg", b.apply("solve", x, b.apply("matmul", p.given, out)))
    return b.apply("reshape", found, settings=(b.shape(p.out),))


def square_matrix_shape(
    number: str, left_out: int = 0
) -> Callable[[Sequence[Shape], Settings], Shape]:
    """Return the shape rule of a row that takes square matrices and drops their last axes."""

    def shape(shapes: Sequence[Shape], settings: Settings) -> Shape:
        check_square_matrices(shapes[0], number)
        return shapes[0][: len(shapes[0]) - left_out]

    return shape


def inv_formula(b: TensorBuilder, operands: Sequence[int], settings: Settings) -> int:
    """Build the solution of x @ out = 1."""
    ones = b.apply("broadcast", b.constant(1.0), settings=(b.shape(operands[0])[-1:],))
    return b.apply("solve", operands[0], b.apply("diag", ones, settings=()))


def inverse_change(b: NodeBuilder, inverse: int, change: int) -> int:
    """Build minus the inverse times a change times the inverse."""
    return b.apply("neg", b.apply("matmul", b.apply("matmul", inverse, change), inverse))


# Determinants.


def det_value(np: Any, operands: Sequence[Any], settings: Settings) -> Any:
    """Return determinants, by sums of products; of large matrices, or on overflow, by the library."""
    (x,) = operands
    if np.shape(x)[-1] > BY_PRODUCTS:
        return np.linalg.det(x)
    found = expand_determinant(*matrix_entry_reader(x), np.multiply, np.add, np.subtract)
    is_known = np.isfinite(found)
    return found if np.all(is_known) else np.where(is_known, found, np.linalg.det(x))


def matrix_entry_reader(x: Any) -> tuple[int, Callable[[int, int], Any]]:
    """Return the size of an array's matrices, and a reader of their entry at a row and a column."""
    return x.shape[-1], lambda row, column: x[..., row, column]


def expand_determinant(
    count: int,
    number: Callable[[int, int], Entry],
    multiply: Callable[[Entry, Entry], Entry],
    add: Callable[[Entry, Entry], Entry],
    subtract: Callable[[Entry, Entry], Entry],
) -> Entry:
    """Compute a determinant without division, row by row, from the minors of all choices of columns."""
    found: dict[tuple[int, ...], Entry] = {(at,): number(0, at) for at in range(count)}
    for row in range(1, count):
        numbers = [number(row, at) for at in range(count)]
        before, found = found, {}
        for columns in combinations(range(count), row + 1):
            terms = [
                multiply(numbers[column], before[columns[:at] + columns[at + 1 :]])
                for at, column in enumerate(columns)
            ]
            total = terms.pop()
            for at, term in enumerate(reversed(terms)):
                total = add(total, term) if at % 2 else subtract(total, term)
            found[columns] = total
    return found[(*range(count),)]


def log_det_error(np: Any, x: Any, off: Any) -> Any:
    """Bound the error of a determinant's logarithm by elimination; infinite where no bound is known.

    Elimination is exact for a matrix nearby: N. J. Higham, Accuracy and stability of numerical algorithms
    (2002), theorem 9.3, with a growth factor of n, larger than in practice.
    """
    count = np.shape(x)[-1]
    most = np.max(np.abs(x), axis=-2, keepdims=True) + 0.0 * x
    rounded = 2 * count * count * UNIT * most
    moved = bound_inverse_product(np, x, off, rounded + off)
    radius = np.max(np.sum(moved, axis=-1), axis=-1)
    first, rest = np.trace(moved, axis1=-2, axis2=-1), np.sum(moved * moved, axis=(-2, -1))
    return np.where(radius < 1, first + rest / (2 * (1 - radius)), np.inf)


def det_bound(
    np: Any, operands: Sequence[Any], errors: Sequence[Any], out: Any, settings: Settings
) -> Any:
    """Bound the rounding of sums of products; of large matrices by elimination or Hadamard's inequality."""
    (x,), (off,) = operands, errors
    count, most = np.shape(x)[-1], np.abs(x) + off
    if count <= BY_PRODUCTS:
        whole, sizes, large = [
            expand_determinant(*matrix_entry_reader(part), np.multiply, np.add, np.add)
            for part in (most, np.abs(x), np.maximum(most, 1.0))
        ]
        rounded = 2 * count * UNIT * whole + TINY * large if count > 1 else 0.0
        return whole - sizes + rounded
    growth = 2 * count * count * UNIT * np.max(np.abs(x), axis=-2, keepdims=True)
    lengths = np.sqrt(np.sum(x * x, axis=-1))
    more = lengths * (1 + count * UNIT) + np.sqrt(np.sum((growth + off) ** 2, axis=-1))
    room = (1 + 4 * count * UNIT) * np.prod(more, axis=-1) - np.prod(lengths, axis=-1)
    part = log_det_error(np, x, off) + UNIT * (
        2 * np.abs(np.log(np.abs(out))) + 4
    )  # it is exp(log)
    part = np.where(out == 0, np.inf, np.abs(out) * np.expm1(part))
    return np.fmin(part, room) + TINY


def logdet_bound(
    np: Any, operands: Sequence[Any], errors: Sequence[Any], out: Any, settings: Settings
) -> Any:
    """Bound the error of elimination, and the rounding of the sum of the pivots' logarithms."""
    (x,), (off,) = operands, errors
    count = np.shape(x)[-1]
    most = np.log(np.maximum(count * np.max(np.abs(x), axis=-2), 1.0))
    return log_det_error(np, x, off) + (count + 2) * UNIT * (
        np.abs(out) + 2 * np.sum(most, axis=-1)
    )


def combine_pivots(
    b: NumberBuilder, x: int, kind: str, turned: str, functions: Sequence[str] = ()
) -> int:
    """Combine functions of each matrix's pivots by ``kind``; apply ``turned`` if the rows' order is odd."""
    found = []
    for place in product(*map(range, b.shape(x)[:-2])):
        elimination = eliminate_matrix(b, x, place)
        nodes = [pivot for pivot, _ in elimination.steps]
        if elimination.left:
            nodes.append(division_free_determinant(b, elimination.left))
        for function in functions:
            nodes = [b.apply(function, node) for node in nodes]
        total = nodes[0]
        for node in nodes[1:]:
            total = b.apply(kind, total, node)
        found.append(b.apply(turned, total) if turned and elimination.turned else total)
    return b.apply("reshape", b.apply("stack", *found, settings=(0,)), settings=(b.shape(x)[:-2],))


def division_free_determinant(b: NumberBuilder, rows: Sequence[int]) -> int:
    """Build the determinant of rows.

    R. S. Bird, A simple division-free algorithm for computing determinants (2011): the product so far keeps
    what is above the diagonal; on the diagonal stands minus the sum of what was below.
    """
    count = len(rows)
    found: list[int | None] = [*rows]
    for _ in range(count - 1):
        before, total = found, None
        found = [None] * count
        for at in reversed(range(count)):
            row = before[at]
            terms = [] if total is None else [b.apply("mul", b.apply("neg", total), rows[at])]
            if row is not None:
                if at < count - 1:
                    below = b.apply("stack", *rows[at + 1 :], settings=(0,))
                    terms.append(b.apply("matmul", elements_after(b, row, at + 1), below))
                own = slice_first_axis(b, row, at)
                total = own if total is None else b.apply("add", total, own)
            if terms:
                found[at] = terms[0] if len(terms) == 1 else b.apply("add", *terms)
    assert found[0] is not None
    answer = slice_first_axis(b, found[0], 0)
    return answer if count % 2 else b.apply("neg", answer)


def determinant_by_expansion(b: NumberBuilder, x: int) -> int:
    """Build determinants as sums of products."""
    whole = ((None, None),) * (len(b.shape(x)) - 2)

    def number(row: int, column: int) -> int:
        return b.apply("index", x, settings=((*whole, row, column),))

    kinds = (partial(b.apply, kind) for kind in ("mul", "add", "sub"))
    found: int = expand_determinant(b.shape(x)[-1], number, *kinds)
    return found


def spread_over_matrices(b: NodeBuilder, numbers: int, matrices: int) -> int:
    """Spread a number for each matrix over all of its numbers."""
    return spread_back_reduction(b, numbers, b.shape(matrices), matrix_sum_settings(b, matrices)[0])


def sum_each_matrix(b: NodeBuilder, matrices: int) -> int:
    """Build the sum of each matrix's numbers."""
    return b.apply("sum", matrices, settings=matrix_sum_settings(b, matrices))


def matrix_sum_settings(b: NodeBuilder, matrices: int, _: Settings = ()) -> Settings:
    """Return the settings of a sum over each matrix's numbers."""
    rank = len(b.shape(matrices))
    return None if rank == 2 else (rank - 2, rank - 1), False


def cofactors_formula(b: TensorBuilder, operands: Sequence[int], settings: Settings) -> int:
    """Build the determinants of the minors with their signs; for large matrices det(x) inv(x)^T."""
    (x,) = operands
    count = b.shape(x)[-1]
    if count == 1:
        return b.apply("broadcast", b.constant(1.0), settings=(b.shape(x),))
    if count > BY_MINORS:
        whole = spread_over_matrices(b, b.apply("det", x), x)
        return b.apply("mul", whole, transpose_matrices(b, b.apply("inv", x)))
    return cofactor_signs(b, b.apply("det", minor_matrices(b, x)))


def cofactor_signs(b: NodeBuilder, x: int) -> int:
    """Give numbers the signs of cofactors: every other one is negated."""
    shape = b.shape(x)
    line = b.apply("stack", *[b.constant((-1.0) ** at) for at in range(shape[-1])], settings=(0,))
    return b.apply("mul", x, b.apply("outer", line, line))


def minor_matrices(b: NodeBuilder, x: int) -> int:
    """Build, for each place of each matrix, the matrix without that row and column."""
    count, rank = b.shape(x)[-1], len(b.shape(x))
    for axis, place in ((rank - 2, rank - 2), (rank, rank - 1)):
        parts = [drop_axis_entry(b, x, at, axis) for at in range(count)]
        x = b.apply("stack", *parts, settings=(place,))
    return x


def drop_axis_entry(b: NodeBuilder, x: int, at: int, axis: int) -> int:
    """Drop one place of an axis."""
    length, whole = b.shape(x)[axis], ((None, None),) * axis
    ends = [(start, stop) for start, stop in ((0, at), (at + 1, length)) if start < stop]
    parts = [b.apply("index", x, settings=((*whole, end),)) for end in ends]
    return b.apply("concat", *parts, settings=(axis,)) if len(parts) > 1 else parts[0]


def apply_cofactors_jacobian(b: NodeBuilder, p: Propagation) -> int | None:
    """Giles (2008), section 2.2.4, for each minor; of large matrices for det(x) inv(x)^T."""
    # It is the same forward and back, for second derivatives are symmetric.
    count = b.shape(p.operand)[-1]
    if count == 1:
        return None
    if count > BY_MINORS:
        return cofactors_jacobian_quotient(b, p)
    slopes = b.apply(
        "mul", b.apply("cofactors", minor_matrices(b, p.operand)), minor_matrices(b, p.given)
    )
    return cofactor_signs(b, sum_each_matrix(b, slopes))


def cofactors_jacobian_quotient(b: NodeBuilder, p: Propagation) -> int:
    """The tangent of out = det(x) inv(x)^T, by the product rule."""
    change = spread_over_matrices(b, sum_each_matrix(b, b.apply("mul", p.given, p.out)), p.out)
    turned = b.apply("matmul", b.apply("matmul", p.out, transpose_matrices(b, p.given)), p.out)
    both = b.apply("sub", b.apply("mul", change, p.out), turned)
    return b.apply("div", both, spread_over_matrices(b, b.apply("det", p.operand), p.operand))


# fmt: off
LINEAR_ALGEBRA = (
    Structural(
        "matmul", "x y",
        "the product of matrices or stacks of them, of a matrix and a vector, or of two vectors",
        matmul_shape, lambda np, x, s: np.matmul(*x), matmul_vjp,
        infix="@", latex=r"x \, y", gate="swap multiplier, transposed", foreign_names="bmm mm mv",
        terms=lambda shapes, s: shapes[0][-1],
    ),
    Structural(
        "dot", "x y", "the inner product of two vectors",
        dot_shape, lambda np, x, s: np.dot(*x),
        cite_source(
            "The cotangent times the other vector: Giles (2008), section 2.2.2, with a row and a column.",
            lambda b, p: b.apply("mul", p.given, p.operands[1 - p.position]),
        ),
        latex=r"x \cdot y", gate="swap multiplier", to_number=True, foreign_names="inner vdot vecdot",
    ),
    Structural(
        "outer", "x y", "the matrix of all products of two vectors' numbers",
        outer_shape, lambda np, x, s: np.outer(*x),
        cite_source(
            "Giles (2008), section 2.2.2, with a column and a row.",
            lambda b, p: b.apply(
                "matmul", *((p.operands[0], p.given) if p.position else (p.given, p.operands[1]))
            ),
        ),
        latex=r"x \otimes y", gate="swap multiplier", foreign_names="ger",
    ),
    Structural(
        "solve", "a y", "the solution of a @ out = y: a vector, or a matrix column by column",
        solve_shape, lambda np, x, s: solve_matrices(np, *x), solve_vjp, solve_jvp,
        latex=r"\operatorname{solve}(a, y)", gate="solver, transposed",
        definition=solve_definition, bound=solve_bound, undefined={"nan": SINGULAR},
        foreign_names="LinearSolve linsolve mldivide",
    ),
    Structural(
        "inv", "x", "the inverse of a square matrix",
        square_matrix_shape("of a number write 1/{0}"), None,
        cite_source(
            "Giles (2008), section 2.2.3: -out^T times the cotangent times out^T.",
            lambda b, p: inverse_change(b, transpose_matrices(b, p.out), p.given),
        ),
        lambda b, p: inverse_change(b, p.out, p.given),
        latex=r"\operatorname{inv}(x)", gate="multiplier from both sides",
        fallback=inv_formula, undefined={"nan": SINGULAR}, foreign_names="Inverse MINVERSE inverse",
    ),
    Structural(
        "det", "x", "the determinant of a square matrix",
        square_matrix_shape("a number is its own determinant", 2), det_value,
        **passes_from_partial(
            cite_source(
                "Giles (2008), section 2.2.4: det(x) inv(x)^T, the cofactors, which a singular matrix "
                "has too.",
                lambda b, p: b.apply("cofactors", p.operand),
            ),
            along=matrix_sum_settings,
        ),
        latex=r"\det(x)", gate="scaler, by the cofactors",
        definition=lambda b, x, s: (
            combine_pivots(b, x[0], "mul", "neg")
            if b.shape(x[0])[-1] > BY_MINORS
            else determinant_by_expansion(b, x[0])
        ),
         bound=det_bound, foreign_names="Det MDETERM determinant",
    ),
    Structural(
        "logdet", "x", "log(abs(det(x))): the logarithm of a determinant's size, whatever its sign",
        square_matrix_shape("of a number write log(abs({bare[0]}))", 2),
        lambda np, x, s: np.linalg.slogdet(x[0])[1],
        **passes_from_partial(
            cite_source(
                "Giles (2008), section 2.2.4: inv(x)^T times the cotangent.",
                lambda b, p: transpose_matrices(b, b.apply("inv", p.operand)),
            ),
            along=matrix_sum_settings,
        ),
        latex=r"\operatorname{logdet}(x)", gate="scaler, by the inverse",
        definition=lambda b, x, s: combine_pivots(b, x[0], "add", "", ("abs", "log")),
         bound=logdet_bound, undefined={"-inf": SINGULAR},
        foreign_names="logabsdet",
    ),
    Structural(
        "cofactors", "x", "a determinant's derivatives: the minors' determinants, with their signs",
        square_matrix_shape("a number has none"), None, apply_cofactors_jacobian, apply_cofactors_jacobian,
        cofactors_jacobian_quotient,
        latex=r"\operatorname{cofactors}(x)", gate="scaler, by the minors",
        fallback=cofactors_formula,
    ),
)
# fmt: on
