"""Products of vectors and matrices.

Source: M. Giles, An extended collection of matrix derivative results for forward and reverse mode
algorithmic differentiation (2008), section 2.2.2: for C = A B, A' = C' B^T and B' = A^T C' in reverse.
Vectors are matrices of one row or column.  What has more than two axes is a stack of matrices, the last two
being theirs; the others broadcast.
"""

from __future__ import annotations

from collections.abc import Sequence

from exprgrad.graph.graph import Settings, Shape, size
from exprgrad.graph.shapes import broadcast_shape, narrowed
from exprgrad.graph.structural import Mismatch, Nodes, Pass, Structural, shape_text

__all__ = ["LINEAR_ALGEBRA"]


def unfit(needed: str, shape: Shape, help: str) -> Mismatch:
    """The error for an operand of another rank; ``help`` is for a tensor."""
    return Mismatch(
        f"{{op}} needs {needed}", shape_text(shape, help, "a product with a number is written *")
    )


def matmul_shape(shapes: Sequence[Shape], settings: Settings) -> Shape:
    x, y = shapes
    for shape in shapes:
        if not shape:
            raise unfit("vectors or matrices", shape, "")
    if x[-1] != y[-2:][0]:
        raise Mismatch("{op} needs inner sizes to match", transposed_instead(x, y))
    return (*leading(x, y), *x[-2:-1], *y[-2:][1:])


def leading(x: Shape, y: Shape) -> Shape:
    """The axes before the last two of what is made of two operands: theirs, broadcast."""
    try:
        return broadcast_shape([x[:-2], y[:-2]])
    except Mismatch:
        help = (
            "all but the last two are matched from the right: they must be equal, or one of them 1"
        )
        raise Mismatch("{op} needs leading sizes that broadcast", help) from None


def transposed_instead(x: Shape, y: Shape) -> str | None:
    """Which operand to transpose for the inner sizes to match."""
    if len(y) == 2 and x[-1] == y[-1]:
        return "did you mean {0} @ {1}.T?"
    if len(x) == 2 and x[0] == y[-2:][0]:
        return "did you mean {0}.T @ {1}?"
    if len(x) <= 2 and len(y) <= 2 and y[-1] == x[0]:
        return "did you mean {1} @ {0}?"
    return None


def transposed(b: Nodes, node: int) -> int:
    """Matrices transposed; a vector is what it is."""
    rank = len(b.shape(node))
    if rank < 2:
        return node
    order = None if rank == 2 else (*range(rank - 2), rank - 1, rank - 2)
    return b.apply("transpose", node, settings=(order,))


def matmul_pull(b: Nodes, p: Pass) -> int:
    """Giles (2008), section 2.2.2: the cotangent times y^T, or x^T times the cotangent."""
    x, y = p.operands
    ranks = len(b.shape(x)), len(b.shape(y))
    if ranks == (1, 1):
        return b.apply("mul", p.given, y if p.position == 0 else x)
    if max(ranks) > 2:
        return matmul_pull_of_many(b, p)
    if p.position == 0:
        kind = "outer" if ranks[1] == 1 else "matmul"
        return b.apply(kind, p.given, transposed(b, y))
    kind = "outer" if ranks[0] == 1 else "matmul"
    return b.apply(kind, transposed(b, x), p.given)


def matmul_pull_of_many(b: Nodes, p: Pass) -> int:
    """The same of stacks of matrices: one that was repeated gets the sum."""
    x, y = p.operands
    left, right = b.shape(x), b.shape(y)
    left, right = left if len(left) > 1 else (1, *left), right if len(right) > 1 else (*right, 1)
    whole = *leading(left, right), left[-2], right[-1]
    given = b.apply("reshape", p.given, settings=(whole,))
    if p.position == 0:
        other = b.apply("reshape", y, settings=(right,))
        passed = b.apply("matmul", given, transposed(b, other))
    else:
        other = b.apply("reshape", x, settings=(left,))
        passed = b.apply("matmul", transposed(b, other), given)
    passed = narrowed(b, passed, right if p.position else left)
    return b.apply("reshape", passed, settings=(b.shape(p.operand),))


def dot_shape(shapes: Sequence[Shape], settings: Settings) -> Shape:
    x, y = shapes
    for shape in shapes:
        if len(shape) != 1:
            raise unfit("vectors", shape, "a product with matrices is written @")
    if x != y:
        raise Mismatch("{op} needs vectors of one length")
    return ()


def dot_pull(b: Nodes, p: Pass) -> int:
    """The cotangent times the other vector: Giles (2008), section 2.2.2, with a row and a column."""
    return b.apply("mul", p.given, p.operands[1 - p.position])


def outer_shape(shapes: Sequence[Shape], settings: Settings) -> Shape:
    for at, shape in enumerate(shapes):
        if len(shape) != 1:
            help = f"a matrix as one vector is reshape({{{at}}}, [{size(shape)}])"
            raise unfit("vectors", shape, help)
    return (*shapes[0], *shapes[1])


def outer_pull(b: Nodes, p: Pass) -> int:
    """Giles (2008), section 2.2.2, with a column and a row."""
    if p.position == 0:
        return b.apply("matmul", p.given, p.operands[1])
    return b.apply("matmul", p.operands[0], p.given)


# fmt: off
LINEAR_ALGEBRA = (
    Structural(
        "matmul", "x y",
        "the product of matrices or stacks of them, of a matrix and a vector, or of two vectors",
        matmul_shape, lambda np, x, s: np.matmul(*x), matmul_pull,
        infix="@", latex=r"x \, y", gate="swap multiplier, transposed", elsewhere="bmm mm mv",
        terms=lambda shapes, s: shapes[0][-1],
    ),
    Structural(
        "dot", "x y", "the inner product of two vectors",
        dot_shape, lambda np, x, s: np.dot(*x), dot_pull,
        latex=r"x \cdot y", gate="swap multiplier", to_number=True, elsewhere="inner vdot vecdot",
    ),
    Structural(
        "outer", "x y", "the matrix of all products of two vectors' numbers",
        outer_shape, lambda np, x, s: np.outer(*x), outer_pull,
        latex=r"x \otimes y", gate="swap multiplier", elsewhere="ger",
    ),
)
# fmt: on
