"""The fields of a row of a structural operation: one that sees its operands' shapes.

Sums, products of matrices, reshapes and slices move numbers about or add them up.  They are linear in each
operand, or nearly, so a row states how a cotangent goes back (``vjp``) and never a Jacobian.  It states
so by building nodes: the same few lines make the derived graph, a step of a sweep and the text in a trace.

Beside it stand rules for shapes: how they broadcast, and what an axis means.
"""

# Without ``from __future__ import annotations``: typing would compile each field's text at every start.

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

from exprgrad.graph.graph import Literal, Settings, Shape, shape_size

__all__ = [
    "MOST_AXES", "TINY", "UNIT", "NodeBuilder", "NumberBuilder", "Parameter", "Propagation",
    "ShapeMismatch", "Structural", "TensorBuilder", "broadcast_shape", "cite_source",
    "count_reduced_elements", "keepdims_shape", "normalize_axes", "normalize_axis", "passes_from_partial",
    "reduce_shape", "repeated_axes", "shape_text", "spread_back_reduction", "sum_to_shape",
]  # fmt: skip

MOST_AXES = 32
"""The most axes that a tensor may have; array libraries have such limits too."""


UNIT = 2.0**-53
"""Half an ulp, relative to the least number with that ulp."""
TINY = 2.0**-1074
"""The error bound of a subnormal result."""


class ShapeMismatch(Exception):
    """Shapes that an operation cannot take.

    ``why`` is what the shapes of the operands follow, as in "matmul needs inner sizes to match: X is …".
    In it and in ``help``, ``{op}`` stands for what the operation is called, ``{0}`` and ``{1}`` for what
    its operands are; in ``help``, ``{bare[0]}`` for one that needs no parentheses.  ``operands`` are the
    positions whose shapes matter, all if it is None.
    """

    def __init__(
        self, why: str, help: str | None = None, operands: tuple[int, ...] | None = None
    ) -> None:
        super().__init__(why)
        self.why = why
        self.help = help
        self.operands = operands


class Parameter(NamedTuple):
    """A setting of a row: ``axis=1``.  A default of ``...`` means that it must be given.

    ``kind`` is ``axis`` (a whole number), ``axes`` (one or a list), ``order`` (all of them, in a list),
    ``flag``, ``size`` (a positive whole number), ``shape`` (a list of them) or ``places`` (what an index
    takes, axis by axis).
    """

    name: str
    kind: str
    default: Any = None


class NodeBuilder(Protocol):
    """A builder of nodes: operations on nodes, constants, and the shape of any node."""

    def apply(self, kind: str, *operands: int, settings: Settings | None = None) -> int:
        """Return the node of an operation; operands of different shapes are broadcast."""

    def constant(self, value: float) -> int:
        """Return the node of a number."""

    def shape(self, node: int) -> Shape:
        """A node's shape."""


class TensorBuilder(NodeBuilder, Protocol):
    """A builder for a row's formula, of nodes or of the arrays themselves."""

    def literal(self, literal: Literal) -> int:
        """Return the node of a literal tensor."""


class NumberBuilder(NodeBuilder, Protocol):
    """A builder of nodes number by number, which can fold an operation over numbers along axes."""

    def fold(self, kind: str, x: int, settings: Settings) -> int:
        """Fold an elementwise row over the numbers along axes; the settings say which, and if they stay."""

    def known(self, x: int) -> Any:
        """Return the operand's numbers as an array; None where they are not known."""


class Propagation(NamedTuple):
    """What a node passes on: its operands, itself, and the cotangent or tangent ``given`` to it.

    Backward ``given`` is the cotangent of the node, forward the tangent of the operand at ``position``.
    """

    operands: tuple[int, ...]
    out: int
    settings: Settings
    position: int
    given: int

    @property
    def operand(self) -> int:
        """The operand at the position."""
        return self.operands[self.position]


PropagationRule = Callable[[NodeBuilder, Propagation], int | None]
"""Builds the node passed on; None where nothing is."""


def cite_source(source: str, rule: PropagationRule) -> PropagationRule:
    """Return a rule with its source, and why it holds, as its docstring."""
    rule.__doc__ = source
    return rule


PartialRule = Callable[[NodeBuilder, Propagation], int | None]
"""Builds a result's derivative with respect to each number of the operand; None: it is 0 everywhere."""


class Structural(NamedTuple):
    """One structural operation.

    ``operands``       names, separated by blanks; ``x...`` takes one or more
    ``shape``          the result's shape from the operands'; raises ``ShapeMismatch``
    ``value``          the result, given an array library such as NumPy, the operands and the settings; None
                       where ``fallback`` says it
    ``vjp``            an operand's cotangent from the result's; its docstring names the source
    ``jvp``            the result's tangent from an operand's; None: the row is linear in each operand
    ``display_vjp``    what people read for ``vjp``, where it differs
    ``parameters``     its settings
    ``spelled``        what a person writes, where that is another row's name too
    ``kink``           where the derivative is a convention, and why: a test of values, as ``value``
    ``picks``          whether it leaves numbers out: those pass nothing, not even 0 times infinity
    ``definition``     what each of its numbers is in elementwise rows, where ``value`` does not say that:
                       it scales against overflow, compares, or counts
    ``labels``         which operand holds labels, if one does, and how many there are to choose from
    ``fallback``       the result in other rows: what a target computes that has no function for it.  A row
                       without a ``value`` is computed by its formula everywhere
    ``moves``          whether each number of its result is one of the operand's
    ``averages``       whether of numbers that are all equal it gives that number
    ``to_number``      whether its result is a number, whatever its operands are
    ``bound``          what its result may be off by, given an array library, the operands, what they may be
                       off by, the result and the settings.  None: what its formula says, where it has no
                       value; nothing is known, where it is not linear, as ``jvp`` says; else it is taken to
                       have no negative coefficients, and to join its operands if it takes any number of
                       them
    ``terms``          how many products, or numbers, a linear row adds up at most for a number of its
                       result, given the operands' shapes and the settings; None: all are used equally often
    ``undefined``      why a number of its result may be nan, or infinite, though no operand's is: in words,
                       by what it is
    ``foreign_names``  what other libraries call it, separated by blanks
    """

    name: str
    operands: str
    about: str
    shape: Callable[[Sequence[Shape], Settings], Shape]
    value: Callable[[Any, Sequence[Any], Settings], Any] | None
    vjp: PropagationRule
    jvp: PropagationRule | None = None
    display_vjp: PropagationRule | None = None
    parameters: tuple[Parameter, ...] = ()
    spelled: str = ""
    infix: str = ""
    latex: str = ""
    gate: str = ""
    kink: Callable[[Any, Sequence[Any], Any, Settings], Any] | None = None
    kink_words: str = ""
    picks: bool = False
    definition: Callable[[NumberBuilder, Sequence[int], Settings], int] | None = None
    labels: Callable[[Sequence[Shape], Settings], tuple[int, int] | None] | None = None
    moves: bool = False
    averages: bool = False
    fallback: Callable[[TensorBuilder, Sequence[int], Settings], int] | None = None
    to_number: bool = False
    bound: Callable[[Any, Sequence[Any], Sequence[Any], Any, Settings], Any] | None = None
    terms: Callable[[Sequence[Shape], Settings], int] | None = None
    undefined: Mapping[str, str] = {}
    foreign_names: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The operands' names; a row that takes any number of them has one."""
        return tuple(self.operands.removesuffix("...").split())

    @property
    def variadic(self) -> bool:
        """Tells whether it takes one or more operands, all alike."""
        return self.operands.endswith("...")

    @property
    def linear(self) -> bool:
        """Tells whether it is linear in each of its operands."""
        return self.jvp is None and not self.variadic

    @property
    def along_axes(self) -> bool:
        """Tells whether it works along axes, which its first setting names."""
        return bool(self.parameters) and self.parameters[0][:2] == ("axis", "axes")

    @property
    def reduces(self) -> bool:
        """Tells whether it takes the numbers along axes together, and can keep the axes with size 1."""
        return self.along_axes and len(self.parameters) == 2

    @property
    def word(self) -> str:
        """The word that users write."""
        return self.spelled or self.name

    def makes_number(self, settings: Settings) -> bool:
        """Whether its result is a number with these settings, whatever its operands are."""
        return self.to_number or (self.reduces and settings == (None, False))

    def given(self, settings: Settings) -> list[tuple[Parameter, Any]]:
        """Return the parameters that differ from their defaults, each with its value."""
        pairs = zip(self.parameters, settings, strict=True)
        return [(parameter, value) for parameter, value in pairs if value != parameter.default]

    def arity_words(self) -> str:
        """How many operands it takes, in words."""
        count = len(self.names)
        return "one or more operands" if self.variadic else f"{count} operand{'s' * (count != 1)}"


def shape_text(shape: Shape, tensor: str = "{}", number: str = "a number") -> str:
    """Write a shape, ``(3, 4)`` or ``(3,)``, or the word for a number.

    ``tensor`` and ``number`` are the words for the one and for the other; ``{}`` is replaced by the shape.
    """
    return tensor.replace("{}", str(tuple(shape))) if shape else number


# Shapes: how they broadcast, what an axis means in one, and the node builders that depend on them.

Axes = int | tuple[int, ...] | None


def broadcast_shape(shapes: Sequence[Shape]) -> Shape:
    """Return the shape that several broadcast to, as in NumPy: right-aligned, a size of 1 stretches."""
    rank = max(map(len, shapes))
    found = []
    for at in range(-rank, 0):
        sizes = {shape[at] for shape in shapes if len(shape) >= -at} - {1}
        if len(sizes) > 1:
            apart = [
                position
                for position, shape in enumerate(shapes)
                if len(shape) >= -at and shape[at] != 1
            ]
            raise ShapeMismatch(
                "{op} needs shapes that broadcast",
                "sizes are matched from the last: they must be equal, or one of them 1",
                tuple(apart),
            )
        found.append(sizes.pop() if sizes else 1)
    return tuple(found)


def normalize_axis(axis: int, shape: Shape) -> int:
    """Return an axis counted from the front."""
    rank = len(shape)
    if not -rank <= axis < rank:
        if not rank:
            raise ShapeMismatch("{op} along an axis needs a tensor", "a number has no axes")
        listed = "its one axis is 0 or -1"
        if rank > 1:
            between = "and" if rank == 2 else "to"
            listed = f"its axes are 0 {between} {rank - 1}, or from the end -1 {between} {-rank}"
        raise ShapeMismatch(f"{{op}} finds no axis {axis}", listed)
    return axis % rank


def normalize_axes(axes: Axes, shape: Shape) -> tuple[int, ...]:
    """Return axes counted from the front, ascending; None stands for all."""
    if axes is None:
        return tuple(range(len(shape)))
    listed = (axes,) if isinstance(axes, int) else axes
    found = sorted(normalize_axis(axis, shape) for axis in listed)
    for one, other in pairwise(found):
        if one == other:
            raise ShapeMismatch(
                f"{{op}} is given axis {one} twice",
                "an axis below 0 counts from the end" if min(listed) < 0 else None,
            )
    return tuple(found)


def keepdims_shape(shape: Shape, axes: Axes) -> Shape:
    """Return a shape with some axes reduced to size 1."""
    gone = normalize_axes(axes, shape)
    return tuple([1 if at in gone else length for at, length in enumerate(shape)])


def reduce_shape(shape: Shape, axes: Axes, keepdims: bool = False) -> Shape:
    """Return a shape without some axes, or with size 1 in their places."""
    if keepdims:
        return keepdims_shape(shape, axes)
    gone = normalize_axes(axes, shape)
    return tuple([length for at, length in enumerate(shape) if at not in gone])


def spread_back_reduction(b: NodeBuilder, reduction: int, shape: Shape, axes: Axes) -> int:
    """Spread a reduction's result back over the shape that it was reduced from."""
    gone = normalize_axes(axes, shape)
    if gone != tuple(range(len(gone))):  # else it lines up at the right as it is
        reduction = b.apply("reshape", reduction, settings=(keepdims_shape(shape, axes),))
    return b.apply("broadcast", reduction, settings=(shape,))


def repeated_axes(narrow: Shape, wide: Shape) -> tuple[int, ...]:
    """Return the axes of the wide shape along which the narrow one was repeated."""
    lead = len(wide) - len(narrow)
    stretched = [
        lead + at for at, length in enumerate(narrow) if length == 1 and wide[lead + at] != 1
    ]
    return (*range(lead), *stretched)


def sum_to_shape(b: NodeBuilder, wide: int, shape: Shape) -> int:
    """Sum a repeated tensor back to the shape that it was repeated from."""
    axes = repeated_axes(shape, b.shape(wide))
    narrow = b.apply("sum", wide, settings=(axes if len(axes) != 1 else axes[0], False))
    return b.apply("reshape", narrow, settings=(shape,))


def count_reduced_elements(shape: Shape, axes: Axes) -> int:
    """Count the numbers that a reduction over some axes combines into one."""
    return shape_size(tuple(shape[at] for at in normalize_axes(axes, shape)))


def passes_from_partial(
    slope: PartialRule,
    shown: PartialRule | None = None,
    along: Callable[[NodeBuilder, int, Settings], Settings] = lambda b, operand, settings: settings,
) -> dict[str, Any]:
    """Make a row's ``vjp`` and ``jvp`` from its result's derivative with respect to each number.

    ``along`` gives the settings of a sum over the numbers that make each number of the result;
    ``shown`` is the derivative to show, where it differs.
    """

    def pull(b: NodeBuilder, p: Propagation, slope: PartialRule = slope) -> int | None:
        given = spread_back_reduction(
            b, p.given, b.shape(p.operand), along(b, p.operand, p.settings)[0]
        )
        found = slope(b, p)
        return None if found is None else b.apply("mul", given, found)

    def push(b: NodeBuilder, p: Propagation) -> int | None:
        found = slope(b, p)
        if found is None:
            return None
        return b.apply(
            "sum", b.apply("mul", p.given, found), settings=along(b, p.operand, p.settings)
        )

    pull.__doc__ = slope.__doc__
    return {"vjp": pull, "jvp": push, "display_vjp": shown and partial(pull, slope=shown)}
