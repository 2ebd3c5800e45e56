"""The engine for tensors: operations on NumPy's arrays, and the sweeps over them.

NumPy is imported in this room alone, when a tensor is met.  Elementwise rows are NumPy's functions, or the
row's formula where NumPy has none as accurate; structural rows say how they are computed.  A
number is a NumPy double.  Nothing raises or warns: a domain error is nan, an overflow infinite.

NumPy's functions are within 1.1 ulp (``tanh``; the others within 0.8), formulas within 3 (``erfc``), as
measured against mpmath with NumPy 2.4 on x86-64 Linux; the tests hold them to 5.

Nested lists, or an array of any library, become an array of doubles here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property, partial, reduce
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from exprgrad.derive.lower.lower import defining_formula
from exprgrad.derive.rules import rule_slots, template
from exprgrad.derive.search import root_search
from exprgrad.derive.sweeps import gradient as derive
from exprgrad.derive.sweeps.gradient import GRAD, edge_program
from exprgrad.errors import InputError
from exprgrad.graph.graph import (
    Algebra,
    Graph,
    Literal,
    Program,
    Settings,
    Shape,
    dependency_flags,
    dependent_flags,
    element_name,
    interpret,
    unravel_position,
)
from exprgrad.graph.op import NonsmoothPoint
from exprgrad.graph.ops import BY_NAME, IN_MATH, Op, by_row_name, is_root
from exprgrad.graph.structural import Structural
from exprgrad.graph.tensors import STRUCTURAL
from exprgrad.run.numbers.sweeps import companion_values

if TYPE_CHECKING:
    from exprgrad.derive.switches import Suspects

__all__ = [
    "AT_ONCE", "COMPARED", "NATIVE", "Array", "ArrayAdjoints", "ArraySweep", "AtOnce", "Measure",
    "array_function", "array_of_doubles", "as_tensor", "broadcast_view", "condition_on_arrays",
    "copies_apart", "float_or_array", "forward_arrays", "measure_tensor",
    "node_data", "play_arrays", "program_outputs", "record_arrays", "search_rows",
    "sides_of", "structural_value", "without_warnings", "zero_tensor",
]  # fmt: skip

Array = Any
"""A NumPy array of doubles, or a NumPy double."""
Search = Callable[[Sequence[Array]], Array]
"""A search's program, on columns."""


def fold_arrays(function: Callable[[Any, Any], Any]) -> Callable[..., Array]:
    """Extend a function of two operands to any number of them."""

    return lambda *operands: reduce(function, operands)


def elementwise_power(x: Array, y: Array) -> Array:
    """Raise to a power, as in IEEE.

    NumPy takes the square root for an exponent of 1/2 that stands for many numbers: but the powers of
    -0 and -inf are those of 0 and inf.
    """
    half = np.equal(y, 0.5)
    if half.any():
        x = np.where(half & (np.equal(x, 0) | np.equal(x, -np.inf)), np.abs(x), x)
    return np.power(x, y)


COMPARED: dict[str, Callable[..., Array]] = by_row_name({
    "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal,
    "==": np.equal, "!=": np.not_equal,
})  # fmt: skip
"""The comparisons, whose answers are truth values."""
NATIVE: dict[str, Callable[..., Array]] = {
    **{name: getattr(np, name) for name in IN_MATH - {"cbrt"}},  # NumPy's is off by 3 ulp
    **by_row_name(
        {
            "+": np.add,
            "-": np.subtract,
            "*": np.multiply,
            "/": np.divide,
            "%": np.mod,
            "^": elementwise_power,
        }
    ),
    "neg": np.negative,
    **{
        row: lambda x, y, test=test: np.where(test(x, y), 1.0, 0.0)
        for row, test in COMPARED.items()
    },
    "where": lambda c, x, y: np.where(np.not_equal(c, 0), x, y),
    "min": fold_arrays(np.minimum),
    "max": fold_arrays(np.maximum),
    "logsumexp": fold_arrays(np.logaddexp),
    "logaddexp": np.logaddexp,
    "sign": lambda x: np.where(np.equal(x, 0), x, np.sign(x)),
    "round": np.rint,
    "abs": np.abs,
    "trunc": np.trunc,
}
"""The rows for which NumPy has a function, as accurate as the row requires.

Which of two zeros ``max`` and ``min`` give is no promise.
"""


@cache
def array_function(kind: str) -> Callable[..., Array]:
    """Return an elementwise row as a function of arrays."""
    if kind in NATIVE:
        return NATIVE[kind]
    if is_root(kind):
        return array_root(kind)
    graph, names = template(defining_formula(kind)), BY_NAME[kind].names

    return lambda *operands: forward_arrays(graph, dict(zip(names, operands, strict=True)))[
        graph.output
    ]


def array_root(kind: str) -> Callable[..., Array]:
    """Return a root as a function of arrays, number by number."""
    (state, *programs), names = root_search(kind), BY_NAME[kind].names

    def played(program: Program, columns: Sequence[Array]) -> Array:
        """A program's outputs, for columns of what it reads."""
        found = program_outputs(program, dict(zip((*names, *state), columns, strict=False)))
        return np.array([np.broadcast_to(x, columns[0].shape) for x in found])

    first, turn, last = [partial(played, program) for program in programs]

    def found(*operands: Array) -> Array:
        given = np.broadcast_arrays(*operands)
        columns = np.array([np.ravel(x) for x in given], dtype=np.float64)
        return np.reshape(search_rows(first, turn, last, columns), given[0].shape)[()]

    return found


def search_rows(first: Search, turn: Search, last: Search, columns: Array) -> Array:
    """Search a root in every row; each turn is for the rows in which it is not found yet."""
    given, now = columns, first(columns)
    whole, left = now, np.arange(columns.shape[1])
    while left.size:
        *after, going = turn([*given, *now])
        now = np.array(after)
        more = np.not_equal(going, 0)
        if not more.all():
            whole[:, left[~more]] = now[:, ~more]
            left, now, given = left[more], now[:, more].copy(), given[:, more].copy()
    return last([*columns, *whole])[0]


def program_outputs(program: Program, inputs: Mapping[str, Array]) -> list[Array]:
    """Evaluate the outputs of a program, given every input."""
    graph, outputs = program
    values = forward_arrays(graph, inputs, outputs)
    return [values[output] for output in outputs]


def array_of_doubles(value: object) -> Array:
    """Return a value as an array of doubles, in any order; one that is such an array is not copied."""
    return np.asarray(value, dtype=np.float64)[()]


def zero_tensor(shape: Shape) -> Array:
    """Make a tensor of zeros."""
    return np.zeros(shape)


def broadcast_view(value: Array, shape: Shape) -> Array:
    """Broadcast a number or a tensor to a shape, without taking memory."""
    return float_or_array(np.broadcast_to(value, shape)[()])


def float_or_array(value: Array) -> Array:
    """Return a number as a float, an array unchanged."""
    return float(value) if np.ndim(value) == 0 else value


def without_warnings(operation: Callable[..., Array], *operands: Array) -> Array:
    """Apply an operation without warnings."""
    with np.errstate(all="ignore"):
        return operation(*operands)


def copies_apart(found: Iterable[Array], used: Iterable[Array]) -> list[Array]:
    """Copy the values that share memory with ``used`` or each other, so that they may be changed in place.

    An array that views another's memory has a ``base``.
    """
    taken = {id(value) for value in used}
    answers = []
    for value in found:
        shared = isinstance(value, np.ndarray) and (value.base is not None or id(value) in taken)
        answers.append(value.copy() if shared else value)
        taken.add(id(answers[-1]))
    return answers


def forward_arrays(
    graph: Graph, inputs: Mapping[str, Array], keep: Collection[int] | None = None
) -> list[Array]:
    """Every node's data, given every input's; or that of the nodes to ``keep`` alone, the others None.

    A value that is not kept is freed after its last use, so that memory holds only what is needed.
    """
    with np.errstate(all="ignore"):
        return interpret(graph, ARRAYS, inputs, keep)


def structural_value(row: Structural, operands: Sequence[Array], settings: Settings) -> Array:
    """Compute a structural row's value by its NumPy function, or its formula on the arrays."""
    if row.value is not None:
        return row.value(np, operands, settings)
    assert row.fallback is not None
    return row.fallback(AT_ONCE, operands, settings)


class AtOnce(NamedTuple):
    """A builder of nodes that computes values at once instead.

    ``apply``     an operation's value, given its kind, the operands and ``settings``
    ``constant``  a number
    ``literal``   a tensor that is written out
    ``shape``     a value's shape
    """

    apply: Callable[..., Any]
    constant: Callable[[float], Any]
    literal: Callable[[Literal], Any]
    shape: Callable[[Any], Shape]


def applied_at_once(kind: str, *operands: Array, settings: Settings | None = None) -> Array:
    """Compute an operation's value."""
    if kind in BY_NAME:
        return array_function(kind)(*operands)
    return structural_value(STRUCTURAL[kind], operands, settings or ())


def literal_array(literal: Literal) -> Array:
    """Return a literal tensor as an array."""
    return np.array(literal.numbers, dtype=np.float64).reshape(literal.shape)


AT_ONCE = AtOnce(applied_at_once, np.float64, literal_array, np.shape)


def constant_array(graph: Graph, node: int) -> Array:
    """Return a constant's number, or its tensor."""
    payload = graph.payloads[node]
    if isinstance(payload, Literal):
        return literal_array(payload)
    return np.float64(cast(float, payload))


ARRAYS: Algebra[Array] = Algebra(
    constant_array,
    lambda graph, node, operands: applied_at_once(
        graph.kinds[node], *operands, settings=cast(Settings, graph.payloads[node])
    ),
)


# The sweeps: in reverse the derived graph, with an adjoint for every node, is evaluated forward.


class ArraySweep(NamedTuple):
    """The part of a reverse sweep that does not depend on the numbers.

    ``program``   finds every node's data, then some nodes' adjoints, then conditions
    ``reached``   the nodes with these adjoints
    ``conditional``  the nodes whose adjoints arrive under those conditions
    ``active``    by node: whether it depends on a differentiated input
    ``suspects``  the nodes that may meet a kink or a jump, if any
    """

    program: Program
    reached: list[int]
    conditional: list[int]
    active: Sequence[int]
    suspects: Suspects | None


def node_data(graph: Graph, inputs: Mapping[str, Any]) -> list[Any]:
    """Compute every node's data; a number is a float."""
    return [float_or_array(value) for value in forward_arrays(graph, inputs)]


def record_arrays(graph: Graph, wrt: Sequence[str]) -> ArraySweep:
    """Record the program of a reverse sweep, which does not depend on the numbers."""
    from exprgrad.derive.switches import find_suspects

    active = dependent_flags(graph, [graph.inputs[name] for name in wrt])
    used = dependency_flags(graph, graph.output)
    nodes = [n for n, operands in enumerate(graph.operands) if operands and used[n] and active[n]]
    return ArraySweep(
        *derive.adjoint_program(graph, wrt), active, find_suspects(graph, nodes, active)
    )


class ArrayAdjoints:
    """The result of a reverse sweep over tensors: see ``run.evaluation.SweptRun``.

    ``masks`` are not 0 where a gradient reached a node that a branch not taken may have kept it from.
    """

    beside: tuple[str, ...] = ("jacobian",)

    def __init__(
        self,
        graph: Graph,
        sweep: ArraySweep,
        values: list[Any],
        grads: list[Any],
        masks: Mapping[int, Any],
    ) -> None:
        self.graph = graph
        self.suspects: Suspects | None = sweep.suspects
        self.active: Sequence[int] = sweep.active
        self.values = values
        self.grads = grads
        self.masks = masks

    @cached_property
    def varying(self) -> Sequence[int]:
        """By node: whether it depends on an input."""
        return dependent_flags(self.graph, self.graph.inputs.values())

    def reached(self, node: int) -> bool:
        """Whether a gradient reached some number of a node."""
        if self.grads[node] is None:
            return False
        return bool(np.any(self.masks[node])) if node in self.masks else True

    @cached_property
    def locals(self) -> list[Any]:
        """By node, for each operand True if it is active, else None; None if the node passed nothing."""
        found: list[Any] = []
        for node, operands in enumerate(self.graph.operands):
            reached = operands and self.active[node] and self.reached(node)
            flags = tuple([True if self.active[operand] else None for operand in operands])
            found.append(flags if reached else None)
        return found

    @property
    def quiet(self) -> bool:
        """Whether no node meets a kink or a jump."""
        return not self.met

    @cached_property
    def met(self) -> dict[int, list[tuple[NonsmoothPoint, Any]]]:
        """By node, in the order of the visits: the kinks and jumps that it meets, and where."""
        if self.suspects is None:
            return {}
        nodes = self.suspects.candidates(self.values, lambda x, y: bool(np.any(x == y)))
        found = {node: specials_of_arrays(self.suspects, node, self.values) for node in nodes}
        return {node: listed for node, listed in found.items() if listed}

    def zero(self, node: int) -> Any:
        """The grad of a node that no gradient reached."""
        return float_or_array(zero_tensor(self.graph.shape(node)))

    def ends(self, user: int, operand: int) -> tuple[Shape, Shape]:
        """The shapes of an edge's ends, which its whole local derivative would have had."""
        return self.graph.shape(user), self.graph.shape(operand)

    def passed(self, user: int) -> Iterator[tuple[int, Any, Any]]:
        """A node's active edges: position, local derivative if that is diagonal, and contribution."""
        graph, operands = self.graph, self.graph.operands[user]
        if self.locals[user] is None:
            return
        active = {operand for operand in operands if self.active[operand]}
        edges = edge_program(graph, user, active, self.varying)
        given = {str(node): self.values[node] for node in (*operands, user)}
        program, outputs = edges.program
        numbers = forward_arrays(program, {**given, GRAD: self.grads[user]}, outputs)
        for at, (position, local) in enumerate(zip(edges.positions, edges.locals, strict=True)):
            passed, slope = (numbers[outputs[2 * at + step]] for step in (0, 1))
            if local and user in self.masks:
                passed = np.where(self.masks[user], passed, 0.0)[()]
            diagonal = broadcast_view(slope, graph.shape(user)) if local else None
            yield position, diagonal, float_or_array(passed)


def play_arrays(
    graph: Graph, inputs: Mapping[str, Any], wrt: Sequence[str], sweep: ArraySweep
) -> tuple[list[Any], ArrayAdjoints]:
    """Every node's data and grad."""
    program, reached, conditional, *_ = sweep
    found = forward_arrays(program.graph, inputs, program.outputs)
    answers = [float_or_array(found[output]) for output in program.outputs]
    values, adjoints = answers[: len(graph)], answers[len(graph) :]
    grads: list[Any] = [None] * len(graph)
    for node, adjoint in zip(reached, adjoints[: len(reached)], strict=True):
        grads[node] = adjoint
    asked = dict.fromkeys(graph.inputs[name] for name in wrt)
    others = [grads[node] for node in reached if node not in asked]
    mine = copies_apart([grads[node] for node in asked], [*values, *others])
    for node, grad in zip(asked, mine, strict=True):
        grads[node] = grad
    masks = dict(zip(conditional, adjoints[len(reached) :], strict=True))
    return values, ArrayAdjoints(graph, sweep, values, grads, masks)


# Kinks and jumps: ``derive/switches.py`` says which nodes are suspect.


def specials_of_arrays(
    suspects: Suspects, node: int, values: Sequence[Array]
) -> list[tuple[NonsmoothPoint, Array]]:
    """Return the kinks and jumps that one node meets, each with flags of where."""
    graph, operands = suspects.graph, suspects.graph.operands[node]
    given, out = [values[operand] for operand in operands], values[node]
    tests: list[tuple[NonsmoothPoint, Array]] = []
    if graph.kinds[node] in BY_NAME:
        op = BY_NAME[graph.kinds[node]]
        views = sides_of(op, [*given, out], [float(suspects.moving[o]) for o in operands])
        mine = [v for v, operand in zip(views, operands, strict=True) if suspects.active[operand]]
        for special in op.special:
            held_by = [condition_on_arrays(special.where, rule_slots(op), view) for view in mine]
            tests.append((special, np.any(np.broadcast_arrays(*held_by), axis=0)))
    else:
        row = STRUCTURAL[graph.kinds[node]]
        assert row.kink is not None
        with np.errstate(all="ignore"):
            flags = row.kink(np, given, out, cast(Settings, graph.payloads[node]))
        tests.append((NonsmoothPoint("", "kink", row.kink_words), flags))
    return [(special, flags) for special, flags in tests if np.any(flags)]


def sides_of(op: Op, arguments: Sequence[Array], varies: Sequence[float]) -> list[list[Any]]:
    """Return, for each operand, the values that a rule with companions sees."""
    return companion_values(
        op, arguments, varies, partial(condition_on_arrays, op.ties, rule_slots(op))
    )


def condition_on_arrays(text: str, names: Sequence[str], arguments: Sequence[Array]) -> Array:
    """Evaluate a row's condition at every number of its arguments."""
    graph = template(text)
    return forward_arrays(graph, dict(zip(names, arguments, strict=True)))[graph.output]


# Facts about a tensor.


class Measure(NamedTuple):
    """Summary statistics of a tensor; the extremes ignore nan."""

    shape: Shape
    norm: float
    least: float
    greatest: float
    nans: int


def measure_tensor(value: Array) -> Measure:
    """Measure a tensor: its shape, the root of its sum of squares, its extremes, and its count of nan."""
    with np.errstate(all="ignore"):
        count = int(np.count_nonzero(np.isnan(value)))
        shape = np.shape(value)
        if count:
            known = value[~np.isnan(value)]
            ends = (float(known.min()), float(known.max())) if known.size else (np.nan, np.nan)
            return Measure(shape, np.nan, *ends, count)
        root = float(np.sqrt(np.vdot(value, value)))
        if not 1e-140 < root < 1e150:
            root = float(structural_value(STRUCTURAL["norm"], [value], (None, False)))
        return Measure(shape, root, float(np.min(value)), float(np.max(value)), 0)


# What is given: lists of numbers, and arrays of any library.

MOST_AXES = 32
"""The most axes of a tensor: NumPy 1 has no more."""
NUMBERS = "biuf"
"""The kinds of NumPy types that are real numbers."""


def as_tensor(value: object, name: str, as_number: Callable[[object, str], float]) -> Any:
    """Return nested lists, or an array of some library, as an array of doubles; a float without axes.

    An array of doubles is not copied.  ``as_number`` reads values that NumPy does not accept.  Raises
    ``InputError`` for lists that are ragged or empty, or hold anything but real numbers.
    """
    listed = isinstance(value, Sequence)
    if listed:
        refuse_depth(value, name)
    found = array_of(value)
    if found is None or found.dtype.kind == "O" or (listed and found.dtype.kind not in NUMBERS):
        objects = found is not None and found.dtype.kind == "O" and found.ndim and not listed
        found = number_by_number(found if objects else value, name, as_number)
    elif found.dtype.kind not in NUMBERS:
        found = as_doubles(found)
        if found is None:
            kind = str(getattr(value, "dtype", type(value).__name__))
            raise bad_value(f"the value of '{name}' is not an array of real numbers: {kind}")
    if 0 in found.shape:
        its_shape = f": its shape is {found.shape}" if len(found.shape) > 1 else ""
        raise bad_value(
            f"the value of '{name}' is empty{its_shape}", "a tensor holds at least one number"
        )
    return float_or_array(array_of_doubles(found))


def bad_value(message: str, help: str | None = None) -> InputError:
    """Return the error for a value that is no tensor."""
    return InputError("bad-value", message, help=help)


def refuse_depth(value: object, name: str) -> None:
    """Raise for lists nested too deeply, and for a list that holds itself."""
    part, depth = value, 0
    while isinstance(part, Sequence) and not isinstance(part, str | bytes) and len(part):
        part, depth = part[0], depth + 1
        if depth > MOST_AXES:
            raise bad_value(
                f"the value of '{name}' is nested too deeply",
                f"a tensor has at most {MOST_AXES} axes",
            )


def array_of(value: object) -> Any:
    """Convert a value by NumPy; None if that fails."""
    try:
        found = np.asarray(value)
    except Exception:  # whatever another library raises
        return None
    masked = isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value)
    return None if masked else found


def as_doubles(found: Any) -> Any:
    """Convert an array of a type unknown to NumPy, such as bfloat16; None if it holds no numbers."""
    if found.dtype.kind != "V" or found.dtype.fields is not None:
        return None
    try:
        return found.astype(np.float64)
    except (TypeError, ValueError):
        return None


def number_by_number(value: object, name: str, as_number: Callable[[object, str], float]) -> Any:
    """Convert nested lists number by number, or raise for what is wrong with them."""
    level = [value]
    shape: list[int] = []
    while any(parts_of_value(part) is not None for part in level):
        lists = [parts_of_value(part) for part in level]
        lengths = [None if parts is None else len(parts) for parts in lists]
        if len(set(lengths)) > 1:
            raise ragged_lists(lengths, shape, name)
        shape.append(len(lists[0] or ()))
        level = [part for parts in lists for part in parts or ()]
        if len(shape) > MOST_AXES:
            raise bad_value(f"the value of '{name}' is nested too deeply")
    sizes = tuple(shape)
    numbers = [
        as_number(part, element_name(name, unravel_position(at, sizes)))
        for at, part in enumerate(level)
    ]
    return np.array(numbers, dtype=np.float64).reshape(shape)


def parts_of_value(value: object) -> Sequence[Any] | None:
    """Return the parts of a list, or of an array of any library; None for a value without parts."""
    if isinstance(value, Sequence):
        return None if isinstance(value, str | bytes) else value
    if getattr(value, "ndim", 0):
        to_list = getattr(value, "tolist", None)
        found = to_list() if callable(to_list) else None
        return found if isinstance(found, list) else None
    return None


def ragged_lists(lengths: Sequence[int | None], shape: Sequence[int], name: str) -> InputError:
    """Return the error for ragged lists; ``lengths`` are those at one depth, None for a number."""
    at = next(i for i, length in enumerate(lengths) if length != lengths[0])
    first, other = (
        "a number" if length is None else f"a list of {length}"
        for length in (lengths[0], lengths[at])
    )
    one, another = (element_name(name, unravel_position(flat, tuple(shape))) for flat in (0, at))
    return bad_value(
        f"the lists in the value of '{name}' are ragged: {one} is {first}, and {another} {other}",
        "lists side by side must have the same length",
    )
