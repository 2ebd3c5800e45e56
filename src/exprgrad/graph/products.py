"""Products of vectors and matrices.

Source: M. Giles, An extended collection of matrix derivative results for forward and reverse mode
algorithmic differentiation (2008), section 2.2.2: for C = A B, A' = C' B^T and B' = A^T C' in reverse.
Vectors are matrices of one row or column.
"""

from __future__ import annotations

from collections.abc import Sequence

from exprgrad.graph.graph import Settings, Shape, size
from exprgrad.graph.structural import Mismatch, Nodes, Pass, Structural, shape_text

__all__ = ["PRODUCTS"]


def unfit(needed: str, shape: Shape, help: str) -> Mismatch:
    """The error for an operand of another rank; ``help`` is for a tensor."""
    return Mismatch(
        f"{{op}} needs {needed}", shape_text(shape, help, "a product with a number is written *")
    )


def matmul_shape(shapes: Sequence[Shape], settings: Settings) -> Shape:
    x, y = shapes
    for at, shape in enumerate(shapes):
        if len(shape) not in (1, 2):
            help = f"one matrix of it is {{{at}}}[{', '.join('0' * (len(shape) - 2))}]"
            raise unfit("vectors or matrices", shape, help)
    if x[-1] != y[0]:
        raise Mismatch("{op} needs inner sizes to match", transposed_instead(x, y))
    return (*x[:-1], *y[1:])


def transposed_instead(x: Shape, y: Shape) -> str | None:
    """Which operand to transpose for the inner sizes to match."""
    if len(y) == 2 and x[-1] == y[-1]:
        return "did you mean {0} @ {1}.T?"
    if len(x) == 2 and x[0] == y[0]:
        return "did you mean {0}.T @ {1}?"
    if y[-1] == x[0]:
        return "did you mean {1} @ {0}?"
    return None


def transposed(b: Nodes, node: int) -> int:
    """A matrix transposed; a vector is what it is."""
    return b.apply("transpose", node, settings=(None,)) if len(b.shape(node)) == 2 else node


def matmul_pull(b: Nodes, p: Pass) -> int:
    """Giles (2008), section 2.2.2: the cotangent times y^T, or x^T times the cotangent."""
    x, y = p.operands
    if len(b.shape(x)) == len(b.shape(y)) == 1:
        return b.apply("mul", p.given, y if p.position == 0 else x)
    if p.position == 0:
        kind = "outer" if len(b.shape(y)) == 1 else "matmul"
        return b.apply(kind, p.given, transposed(b, y))
    kind = "outer" if len(b.shape(x)) == 1 else "matmul"
    return b.apply(kind, transposed(b, x), p.given)


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
PRODUCTS = (
    Structural(
        "matmul", "x y", "the product of matrices, of a matrix and a vector, or of two vectors",
        matmul_shape, lambda np, x, s: np.matmul(*x), matmul_pull,
        infix="@", latex=r"x \, y", gate="swap multiplier, transposed", elsewhere="mm mv",
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
