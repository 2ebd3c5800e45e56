"""How structural operations are written in NumPy, JAX and PyTorch: one table, a spelling a row.

NumPy's spellings serve JAX too, behind its own prefix.  A row that is not in the table is lowered to others
by its own ``value`` (``derive/lower/numpy_stand_in.py``) and becomes a function: a new row needs nothing
here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, cast

from exprgrad.graph.graph import CONST, Graph
from exprgrad.graph.literal import Settings, Shape
from exprgrad.graph.movement import placed
from exprgrad.graph.shapes import axes_of, axis_of
from exprgrad.graph.tensors import STRUCTURAL
from exprgrad.language.code.target import ATOM, CHOICE, MATMUL, SIGN, Form, Variant
from exprgrad.language.write.structural import setting_text

__all__ = [
    "JAX", "LIKE", "NUMPY", "TORCH", "Operation", "Spelling", "operands_of", "operation", "variant",
    "words_of",
]  # fmt: skip


class Operation(NamedTuple):
    """A structural operation that is to be written: settings, operands' shapes, its own.

    ``literal`` says whether its operand is a number that is written out.
    """

    settings: Settings
    operands: tuple[Shape, ...]
    shape: Shape
    literal: bool


Spelling = Callable[[Operation], Form]
LIKE = "{like}"
"""Stands for a tensor of the program, which says on which device a new one is to be."""


def operation(graph: Graph, node: int) -> Operation:
    """What is to be known of a structural node to write it."""
    assert graph.shapes is not None
    operands = graph.operands[node]
    shapes = tuple([graph.shapes[operand] for operand in operands])
    literal = graph.kinds[operands[0]] == CONST and not shapes[0]
    return Operation(cast(Settings, graph.payloads[node]), shapes, graph.shapes[node], literal)


def variant(graph: Graph, node: int) -> Variant:
    """A structural node's row, settings and shapes."""
    found = operation(graph, node)
    return Variant(graph.kinds[node], found.settings, found.operands)


def operands_of(row: Variant) -> tuple[str, ...]:
    """What a row's function calls its operands."""
    names = STRUCTURAL[row.kind].names
    if not STRUCTURAL[row.kind].variadic:
        return names
    return tuple([f"{names[0]}{at}" for at in range(1, len(row.operands) + 1)])


def words_of(row: Variant) -> str:
    """What a row's function computes: of which shapes, with which settings."""
    structural = STRUCTURAL[row.kind]
    shapes = [
        f"{name} {shape or 'a number'}"
        for name, shape in zip(operands_of(row), row.operands, strict=True)
    ]
    settings = [
        f"{parameter.name}={setting_text(value)}"
        for parameter, value in zip(structural.parameters, row.settings, strict=True)
        if value != parameter.default
    ]
    return f"{structural.word} of {', '.join([*shapes, *settings])}: {structural.about}"


# Parts of spellings.


def call(function: str, count: int = 1) -> Spelling:
    """A function of operands and nothing else."""
    operands = ", ".join(f"{{{position}}}" for position in range(count))
    return lambda o: Form(f"{function}({operands})", ATOM, (CHOICE,) * count)


def reshape(function: str, *, number: str = "") -> Spelling:
    """An operand in the result's shape; ``number`` makes a number of an array without axes."""
    return lambda o: Form(
        f"{function}({{0}}, {o.shape}){'' if o.shape else number}", ATOM, (CHOICE,)
    )


ITSELF = Form("{0}", ATOM, (ATOM,))


def reduction(function: str, axis: str = "axis", keep: str = "keepdims") -> Spelling:
    """A reduction; all axes need no mention where none is kept."""

    def spelled(o: Operation) -> Form:
        axes = axes_of(o.settings[0], o.operands[0])
        if not axes:
            return ITSELF
        kept = bool(o.settings[1])
        listed = "" if len(axes) == len(o.operands[0]) and not kept else f", {axis}={one(axes)}"
        text = f"{function}({{0}}{listed}{f', {keep}=True' if kept else ''})"
        return Form(text, ATOM, (CHOICE,))

    return spelled


def one(axes: tuple[int, ...]) -> int | tuple[int, ...]:
    """Axes as a library takes them."""
    return axes[0] if len(axes) == 1 else axes


def one_by_one(function: str, axis: str, keep: str) -> Spelling:
    """A reduction that takes one axis at a time, the last first."""

    def spelled(o: Operation) -> Form:
        axes, kept = axes_of(o.settings[0], o.operands[0]), bool(o.settings[1])
        if len(axes) == len(o.operands[0]) and not kept:
            return Form(f"{function}({{0}})", ATOM, (CHOICE,))
        text = "{0}"
        for at in reversed(axes):
            text = f"{function}({text}, {axis}={at}{f', {keep}=True' if kept else ''})"
        return Form(text, ATOM, (CHOICE,)) if axes else ITSELF

    return spelled


def matmul(o: Operation) -> Form:
    return Form("{0} @ {1}", MATMUL, (MATMUL, SIGN))


def transpose(function: str) -> Spelling:
    """A matrix's ``.T``; else the axes in their new order."""

    def spelled(o: Operation) -> Form:
        rank = len(o.shape)
        axes = o.settings[0]
        order = tuple(range(rank))[::-1] if axes is None else tuple([a % rank for a in axes])
        if order == (1, 0):
            return Form("{0}.T", ATOM, (ATOM,))
        return Form(f"{function}({{0}}, {order})", ATOM, (CHOICE,))

    return spelled


def broadcast(function: str, full: str) -> Spelling:
    """An operand repeated; a number that is written out fills a new tensor."""

    def spelled(o: Operation) -> Form:
        text = full if o.literal else f"{function}({{0}}, {{shape}})"
        return Form(text.replace("{shape}", str(o.shape)), ATOM, (CHOICE,))

    return spelled


def index(o: Operation) -> Form:
    if not o.settings[0]:
        return ITSELF
    return Form(f"{{0}}[{', '.join(map(place_text, o.settings[0]))}]", ATOM, (ATOM,))


def place_text(place: Any) -> str:
    """An index or a slice."""
    if isinstance(place, int):
        return str(place)
    return ":".join("" if end is None else str(end) for end in place)


def margins(o: Operation) -> tuple[list[tuple[int, int]], Shape]:
    """How many zeros go before and after what is put in place, by axis; and its shape with every axis."""
    shape, places = o.settings
    ends = placed(shape, places)
    zeros = [(start, length - stop) for (start, stop), length in zip(ends, shape, strict=True)]
    return zeros, tuple([stop - start for start, stop in ends])


def padded(function: str, reshaping: str, *, turned: bool) -> Spelling:
    """Zeros around an operand, to put it in place; ``turned``: a flat list, the last axis first."""

    def spelled(o: Operation) -> Form:
        found, full = margins(o)
        if o.shape == o.operands[0]:
            return ITSELF
        inner = "{0}" if full == o.operands[0] else f"{reshaping}({{0}}, {full})"
        flat = tuple([zeros for pair in reversed(found) for zeros in pair])
        zeros = flat if turned else tuple(found)
        return Form(f"{function}({inner}, {zeros})", ATOM, (CHOICE,))

    return spelled


def side_by_side(function: str, axis: str) -> Spelling:
    """Operands in a tuple, joined along an axis."""

    def spelled(o: Operation) -> Form:
        at = axis_of(o.settings[0], o.shape)
        count = len(o.operands)
        operands = ", ".join(f"{{{position}}}" for position in range(count))
        listed = f"({operands}{',' * (count == 1)})"
        text = f"{function}({listed}{f', {axis}={at}' if at else ''})"
        return Form(text, ATOM, (CHOICE,) * count)

    return spelled


# The tables.

NUMPY: dict[str, Spelling] = {
    "matmul": matmul,
    "dot": call("np.dot", 2),
    "outer": call("np.outer", 2),
    "sum": reduction("np.sum"),
    "mean": reduction("np.mean"),
    "prod": reduction("np.prod"),
    "reduce_max": reduction("np.max"),
    "reduce_min": reduction("np.min"),
    "transpose": transpose("np.transpose"),
    "reshape": reshape("np.reshape", number="[()]"),
    "broadcast": broadcast("np.broadcast_to", "np.full({shape}, {0})"),
    "index": index,
    "place": padded("np.pad", "np.reshape", turned=False),
    "concat": side_by_side("np.concatenate", "axis"),
    "stack": side_by_side("np.stack", "axis"),
    "trace": call("np.trace"),
    "diag": call("np.diag"),
}
TORCH: dict[str, Spelling] = {
    "matmul": matmul,
    "dot": call("torch.dot", 2),
    "outer": call("torch.outer", 2),
    "sum": reduction("torch.sum", "dim", "keepdim"),
    "mean": reduction("torch.mean", "dim", "keepdim"),
    "prod": one_by_one("torch.prod", "dim", "keepdim"),
    "reduce_max": reduction("torch.amax", "dim", "keepdim"),
    "reduce_min": reduction("torch.amin", "dim", "keepdim"),
    "transpose": transpose("torch.permute"),
    "reshape": reshape("torch.reshape"),
    "broadcast": broadcast("torch.broadcast_to", f"{LIKE}.new_full({{shape}}, {{0}})"),
    "index": index,
    "place": padded("torch.nn.functional.pad", "torch.reshape", turned=True),
    "concat": side_by_side("torch.cat", "dim"),
    "stack": side_by_side("torch.stack", "dim"),
    "trace": call("torch.trace"),
    "diag": call("torch.diag"),
}


def prefixed(spelling: Spelling) -> Spelling:
    """A spelling of NumPy's for JAX."""

    def spelled(o: Operation) -> Form:
        text, level, operands = spelling(o)
        return Form(text.replace("np.", "jnp."), level, operands)

    return spelled


JAX = {row: prefixed(spelling) for row, spelling in NUMPY.items()}
JAX["reshape"] = reshape("jnp.reshape")
