"""Structural rows for the tests: shapes and settings to try, and what each computes, in mpmath and PyTorch.

The references take NumPy arrays of mpmath numbers, or tensors of PyTorch.  Nothing here reads a row's
``value``, ``pull`` or ``push``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

from exprgrad.derive.build import GraphBuilder
from exprgrad.graph.graph import Graph, Settings, Shape
from oracles import Real, mp, mpf

__all__ = [
    "PLAIN", "SAMPLERS", "TORCH", "Case", "case_of", "exact", "graph_of", "narrower", "shapes",
]  # fmt: skip

Array = Any

sizes = st.integers(1, 4)


class Case(NamedTuple):
    """An operation to try: its operands' values and its settings.

    ``smooth`` are the positions of the operands by which there is a derivative.
    """

    name: str
    operands: list[Array]
    settings: Settings
    smooth: tuple[int, ...]


# What to try.


def shapes(low: int = 0, high: int = 3) -> st.SearchStrategy[Shape]:
    """Shapes of some ranks."""
    return st.lists(sizes, min_size=low, max_size=high).map(tuple)


def signed(draw: st.DrawFn, at: int, rank: int) -> int:
    """An axis, counted from the front or from the back."""
    return at - rank if draw(st.booleans()) else at


def axes(draw: st.DrawFn, shape: Shape) -> int | tuple[int, ...] | None:
    """An axis, several in any order, or None."""
    rank = len(shape)
    kind = draw(st.sampled_from(("none", "one", "many"))) if rank else "none"
    if kind == "none":
        return None
    if kind == "one":
        return signed(draw, draw(st.integers(0, rank - 1)), rank)
    chosen = draw(st.permutations(range(rank)))[: draw(st.integers(1, rank))]
    return tuple([signed(draw, at, rank) for at in chosen])


def reduction(draw: st.DrawFn) -> tuple[list[Shape], Settings]:
    shape = draw(shapes())
    return [shape], (axes(draw, shape), draw(st.booleans()))


def softmax(draw: st.DrawFn) -> tuple[list[Shape], Settings]:
    shape = draw(shapes())
    return [shape], (axes(draw, shape),)


def matmul(draw: st.DrawFn) -> tuple[list[Shape], Settings]:
    inner, left, right = draw(sizes), draw(shapes(0, 1)), draw(shapes(0, 1))
    wide = draw(shapes(0, 2))
    one, other = (draw(narrower(wide)) if side else () for side in (left, right))
    return [(*one, *left, inner), (*other, inner, *right)], ()


def dot(draw: st.DrawFn) -> tuple[list[Shape], Settings]:
    shape = draw(shapes(1, 1))
    return [shape, shape], ()


def outer(draw: st.DrawFn) -> tuple[list[Shape], Settings]:
    return [draw(shapes(1, 1)), draw(shapes(1, 1))], ()


def transpose(draw: st.DrawFn) -> tuple[list[Shape], Settings]:
    shape = draw(shapes())
    if draw(st.booleans()):
        return [shape], (None,)
    order = draw(st.permutations(range(len(shape))))
    return [shape], (tuple([signed(draw, at, len(shape)) for at in order]),)


def reshape(draw: st.DrawFn) -> tuple[list[Shape], Settings]:
    """Axes merged, moved about or added, one of them left to be found."""
    shape = draw(shapes())
    ones = [1] * draw(st.integers(0, 2))
    wanted = list(draw(st.permutations([*shape, *ones])))
    if len(wanted) > 1 and draw(st.booleans()):
        wanted[:2] = [wanted[0] * wanted[1]]
    if draw(st.booleans()) and wanted:
        wanted[draw(st.integers(0, len(wanted) - 1))] = -1
    return [shape], (tuple(wanted),)


def broadcast(draw: st.DrawFn) -> tuple[list[Shape], Settings]:
    wide = draw(shapes())
    return [draw(narrower(wide))], (wide,)


@st.composite
def narrower(draw: st.DrawFn, wide: Shape) -> Shape:
    """A shape that broadcasts to another."""
    narrow = [1 if draw(st.booleans()) else length for length in wide]
    return tuple(narrow[draw(st.integers(0, len(narrow))) :])


def places(draw: st.DrawFn, shape: Shape) -> tuple[Any, ...]:
    """Indices and slices, of either sign, for the first axes."""
    found: list[Any] = []
    for length in shape[: draw(st.integers(0, len(shape)))]:
        at = draw(st.integers(0, length - 1))
        if draw(st.booleans()):
            found.append(signed(draw, at, length))
            continue
        stop = draw(st.integers(at + 1, length))
        start = draw(st.sampled_from((at, at - length, *[None] * (at == 0))))
        ends = (stop, *[stop - length] * (stop < length), *[None, stop + 3] * (stop == length))
        found.append((start, draw(st.sampled_from(ends))))
    return tuple(found)


def index(draw: st.DrawFn) -> tuple[list[Shape], Settings]:
    shape = draw(shapes())
    return [shape], (places(draw, shape),)


def place(draw: st.DrawFn) -> tuple[list[Shape], Settings]:
    shape = draw(shapes())
    at = places(draw, shape)
    return [np.zeros(shape)[subscript(at)].shape], (shape, at)


def concat(draw: st.DrawFn) -> tuple[list[Shape], Settings]:
    shape = draw(shapes(1))
    at = draw(st.integers(0, len(shape) - 1))
    parts = draw(st.lists(sizes, min_size=1, max_size=3))
    listed = [(*shape[:at], part, *shape[at + 1 :]) for part in parts]
    return listed, (signed(draw, at, len(shape)),)


def stack(draw: st.DrawFn) -> tuple[list[Shape], Settings]:
    shape = draw(shapes())
    at = draw(st.integers(0, len(shape)))
    return [shape] * draw(st.integers(1, 3)), (signed(draw, at, len(shape) + 1),)


def running(draw: st.DrawFn) -> tuple[list[Shape], Settings]:
    shape = draw(shapes(1))
    at = signed(draw, draw(st.integers(0, len(shape) - 1)), len(shape))
    return [shape], (None if len(shape) == 1 and draw(st.booleans()) else at, draw(st.booleans()))


def linspace(draw: st.DrawFn) -> tuple[list[Shape], Settings]:
    return [(), ()], (draw(sizes),)


def squares(draw: st.DrawFn) -> tuple[list[Shape], Settings]:
    """A square matrix, or a stack of them."""
    return [(*draw(shapes(0, 1)), *(draw(sizes),) * 2)], ()


def solve(draw: st.DrawFn) -> tuple[list[Shape], Settings]:
    """A vector or a matrix on the right; of stacks either may be repeated."""
    count, wide = draw(sizes), draw(shapes(0, 2))
    lead = draw(narrower(wide))
    if draw(st.booleans()):
        return [(*wide, count, count), (count,)], ()
    return [(*lead, count, count), (*draw(narrower(wide)), count, draw(sizes))], ()


def square(draw: st.DrawFn) -> tuple[list[Shape], Settings]:
    return [(draw(sizes),) * 2], ()


def diag(draw: st.DrawFn) -> tuple[list[Shape], Settings]:
    return [(draw(sizes),) * draw(st.integers(1, 2))], ()


def cross_entropy(draw: st.DrawFn) -> tuple[list[Shape], Settings]:
    scores = draw(shapes(1))
    return [scores, draw(st.sampled_from((scores, scores[:-1])))], ()


def onehot(draw: st.DrawFn) -> tuple[list[Shape], Settings]:
    return [draw(shapes(0, 2))], (draw(sizes),)


SAMPLERS: dict[str, Callable[[st.DrawFn], tuple[list[Shape], Settings]]] = {
    **dict.fromkeys(
        ("sum", "mean", "prod", "reduce_max", "reduce_min", "norm", "reduce_logsumexp"), reduction
    ),
    "softmax": softmax, "matmul": matmul, "dot": dot, "outer": outer, "transpose": transpose,
    "reshape": reshape, "broadcast": broadcast, "index": index, "place": place, "concat": concat,
    "stack": stack, "trace": square, "diag": diag, "cross_entropy": cross_entropy, "onehot": onehot,
    "cumsum": running, "cumprod": running, "linspace": linspace, "solve": solve,
    **dict.fromkeys(("inv", "det", "logdet", "cofactors"), squares),
}  # fmt: skip
"""By row: what draws the operands' shapes and the settings."""


@st.composite
def case_of(draw: st.DrawFn, name: str) -> Case:
    """A case of one row; its numbers are everyday ones, of either sign, no two alike."""
    wanted, settings = SAMPLERS[name](draw)
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    operands = [rng.uniform(-2, 2, shape) for shape in wanted]
    smooth = tuple(range(len(operands)))
    if name == "onehot":
        operands, smooth = [np.floor(rng.uniform(0, settings[0], wanted[0]))], ()
    elif name == "cross_entropy" and wanted[0] != wanted[1]:
        operands[1], smooth = np.floor(rng.uniform(0, wanted[0][-1], wanted[1])), (0,)
    elif name == "cross_entropy":
        operands[1] = abs(operands[1])
    elif name in ("solve", "inv", "logdet"):  # away from what is singular
        operands[0] = operands[0] + 3 * np.eye(wanted[0][-1])
    elif name in ("prod", "cumprod") and draw(
        st.booleans()
    ):  # one zero, or several: it is smooth there
        operands = [np.where(rng.uniform(size=wanted[0]) < 0.3, 0.0, operands[0])]
    return Case(name, operands, settings, smooth)


def graph_of(case: Case) -> Graph:
    """The operation alone, on inputs named a0, a1…"""
    builder = GraphBuilder(Graph([]), plain=True)
    operands = [builder.input(f"a{at}", x.shape) for at, x in enumerate(case.operands)]
    output = builder.apply(case.name, *operands, settings=case.settings)
    return builder.program([output]).graph


# What it comes to, in mpmath.


def exact(x: Array) -> Array:
    """An array of mpmath numbers, equal to the doubles."""
    found = np.empty(np.shape(x), dtype=object)
    found[...] = np.vectorize(mpf, otypes=[object])(x) if np.size(x) else x
    return found


def each(function: Callable[[Real], Real]) -> Callable[[Array], Array]:
    """A function of numbers for arrays of mpmath numbers."""
    return np.vectorize(function, otypes=[object])


exp, log, root = each(mp.exp), each(mp.log), each(mp.sqrt)


def subscript(at: Sequence[Any]) -> tuple[Any, ...]:
    """Places as an array takes them in brackets."""
    return tuple([x if isinstance(x, int) else slice(*x) for x in at])


def placed(x: Array, shape: Shape, at: Sequence[Any]) -> Array:
    whole = exact(np.zeros(shape))
    whole[subscript(at)] = x
    return whole


def soft(x: Array, axis: Any) -> Array:
    return exp(x) / np.sum(exp(x), axis=axis, keepdims=True)


def log_sum_exp(x: Array, axis: Any, keepdims: Any = False) -> Array:
    return log(np.sum(exp(x), axis=axis, keepdims=keepdims))


def entropy(x: Array, y: Array) -> Array:
    """Row by row, as the definition says."""
    rows = np.reshape(x, (-1, x.shape[-1]))
    if np.shape(y) == x.shape:
        weights = np.reshape(y, rows.shape)
    else:
        weights = hot(np.reshape(y, (-1,)), x.shape[-1])
    return -np.sum(weights * log(soft(rows, -1))) / mpf(len(rows))


def hot(y: Array, classes: int) -> Array:
    return exact(np.eye(classes))[np.asarray(y, dtype=int)]


def of_matrices(function: Callable[..., Any]) -> Callable[..., Array]:
    """A function of mpmath's matrices, for each of a stack."""

    def call(*operands: Array) -> Array:
        lead = np.broadcast_shapes(*[np.shape(x)[:-2] for x in operands])
        stacks = [np.broadcast_to(x, lead + np.shape(x)[-2:]) for x in operands]
        found = [function(*[mp.matrix(x[at].tolist()) for x in stacks]) for at in np.ndindex(lead)]
        rows = [x.tolist() if isinstance(x, mp.matrix) else x for x in found]
        whole = np.empty(lead + np.shape(rows[0]), dtype=object)
        for at, row in zip(np.ndindex(lead), rows, strict=True):
            whole[at] = row
        return whole

    return call


inverse, determinant = of_matrices(mp.inverse), of_matrices(mp.det)


def solution(a: Array, y: Array) -> Array:
    return inverse(a) @ y


def cofactors(x: Array) -> Array:
    return determinant(x)[..., None, None] * np.swapaxes(inverse(x), -1, -2)


def ran(function: Callable[..., Array]) -> Callable[..., Array]:
    """Something of the first one, two, three, … numbers of an axis."""

    def call(x: Array, axis: Any, reverse: bool) -> Array:
        at = axis or 0
        rows = np.moveaxis(x, at, 0)[:: -1 if reverse else 1]
        found = np.stack([function(rows[: place + 1], axis=0) for place in range(len(rows))])
        return np.moveaxis(found[:: -1 if reverse else 1], 0, at)

    return call


PLAIN: dict[str, Callable[..., Array]] = {
    "matmul": lambda x, y: np.matmul(x, y),
    "dot": lambda x, y: np.sum(x * y),
    "outer": lambda x, y: x[:, None] * y[None, :],
    "sum": lambda x, axis, keep: np.sum(x, axis=axis, keepdims=keep),
    "mean": lambda x, axis, keep: (
        np.sum(x, axis=axis, keepdims=keep) / np.sum(exact(np.ones(x.shape)), axis, keepdims=keep)
    ),
    "prod": lambda x, axis, keep: np.prod(x, axis=axis, keepdims=keep),
    "reduce_max": lambda x, axis, keep: np.max(x, axis=axis, keepdims=keep),
    "reduce_min": lambda x, axis, keep: np.min(x, axis=axis, keepdims=keep),
    "norm": lambda x, axis, keep: root(np.sum(x * x, axis=axis, keepdims=keep)),
    "softmax": soft,
    "reduce_logsumexp": log_sum_exp,
    "cross_entropy": entropy,
    "onehot": hot,
    "transpose": lambda x, order: np.transpose(x, order),
    "reshape": lambda x, shape: np.reshape(x, shape),
    "broadcast": lambda x, shape: np.broadcast_to(x, shape),
    "index": lambda x, at: x[subscript(at)],
    "place": placed,
    "concat": lambda *parts: np.concatenate(parts[:-1], parts[-1]),
    "stack": lambda *parts: np.stack(parts[:-1], parts[-1]),
    "trace": lambda x: sum(x[i, i] for i in range(len(x))),
    "diag": lambda x: np.diag(x),
    "solve": solution,
    "inv": inverse,
    "det": determinant,
    "logdet": lambda x: log(abs(determinant(x))),
    "cofactors": cofactors,
    "cumsum": ran(np.sum),
    "cumprod": ran(np.prod),
    "linspace": lambda a, b, n: np.array([a + (b - a) * i / mpf(max(n - 1, 1)) for i in range(n)]),
}
"""By row: what it computes from operands and settings, straight from its definition."""


# The same in PyTorch.


def torch_axes(x: Any, axis: Any) -> tuple[int, ...]:
    """Axes counted from the front, descending."""
    rank = x.ndim
    listed = range(rank) if axis is None else (axis,) if isinstance(axis, int) else axis
    return tuple(sorted([at % rank for at in listed], reverse=True))


def torch_reducing(name: str) -> Callable[..., Any]:
    def call(x: Any, axis: Any, keep: bool) -> Any:
        import torch

        dims = torch_axes(x, axis)
        if not dims:
            return abs(x) if name == "norm" else x.clone()
        if name == "norm":
            return torch.linalg.vector_norm(x, dim=dims, keepdim=keep)
        if name != "prod":
            return getattr(torch, name)(x, dim=dims, keepdim=keep)
        for dim in dims:
            x = torch.prod(x, dim=dim, keepdim=keep)
        return x

    return call


def torch_softmax(x: Any, axis: Any) -> Any:
    """Axis by axis there is no softmax: the axes are made one."""
    import torch

    dims = torch_axes(x, axis)
    stay = [at for at in range(x.ndim) if at not in dims]
    moved = x.permute([*stay, *dims])
    flat = torch.softmax(moved.reshape(*[x.shape[at] for at in stay], -1), -1)
    order = [*stay, *dims]
    return flat.reshape(moved.shape).permute([order.index(at) for at in range(x.ndim)])


def torch_entropy(x: Any, y: Any) -> Any:
    import torch

    rows = x.reshape(-1, x.shape[-1])
    targets = y.reshape(rows.shape) if y.shape == x.shape else y.reshape(-1).long()
    return torch.nn.functional.cross_entropy(rows, targets)


def torch_placed(x: Any, shape: Shape, at: Sequence[Any]) -> Any:
    import torch

    whole = torch.zeros(shape, dtype=torch.float64)
    whole[subscript(at)] = x
    return whole


def torch_function(name: str) -> Callable[..., Any]:
    def call(*operands: Any) -> Any:
        import torch

        return getattr(torch, name)(*operands)

    return call


def torch_joined(name: str) -> Callable[..., Any]:
    def call(*parts: Any) -> Any:
        import torch

        return getattr(torch, name)(parts[:-1], parts[-1])

    return call


def torch_ran(name: str) -> Callable[..., Any]:
    def call(x: Any, axis: Any, reverse: bool) -> Any:
        at, function = axis or 0, torch_function(name)
        return function(x.flip(at), at).flip(at) if reverse else function(x, at)

    return call


def torch_linspace(a: Any, b: Any, n: int) -> Any:
    """Its own ends carry no derivative."""
    import torch

    return torch.lerp(a, b, torch.linspace(0, 1, n, dtype=torch.float64))


def torch_solve(a: Any, y: Any) -> Any:
    import torch

    return torch.linalg.inv(a) @ y


def torch_cofactors(x: Any) -> Any:
    import torch

    return torch.linalg.det(x)[..., None, None] * torch.linalg.inv(x).transpose(-1, -2)


TORCH: dict[str, Callable[..., Any]] = {
    **{name: torch_function(name) for name in ("matmul", "dot", "outer", "trace", "diag", "reshape")},
    "sum": torch_reducing("sum"),
    "mean": torch_reducing("mean"),
    "prod": torch_reducing("prod"),
    "reduce_max": torch_reducing("amax"),
    "reduce_min": torch_reducing("amin"),
    "norm": torch_reducing("norm"),
    "reduce_logsumexp": torch_reducing("logsumexp"),
    "softmax": torch_softmax,
    "cross_entropy": torch_entropy,
    "transpose": lambda x, order: x.permute(order or tuple(range(x.ndim))[::-1]),
    "broadcast": torch_function("broadcast_to"),
    "index": lambda x, at: x[subscript(at)],
    "place": torch_placed,
    "concat": torch_joined("concatenate"),
    "stack": torch_joined("stack"),
    "solve": torch_solve,
    "inv": torch_function("inverse"),
    "det": torch_function("det"),
    "logdet": lambda x: torch_function("slogdet")(x)[1],
    "cofactors": torch_cofactors,
    "cumsum": torch_ran("cumsum"),
    "cumprod": torch_ran("cumprod"),
    "linspace": torch_linspace,
}  # fmt: skip
"""By row the same in PyTorch; what has no derivative is left out."""
