"""One evaluation: the evaluators of a graph, floats or NumPy's arrays, and the Run with the results;
the nodes, edges and diagnostics by which a run is read, and its answer once digits are counted.

A number is a tensor of shape ``()``.  That a graph of nothing but numbers is swept by a flat plan and a
tape over Python's floats, for which NumPy is never imported, is known here and nowhere else.  An evaluator
keeps what is computed only once; results live in a Run, and never on the graph's nodes.
"""

# Without ``from __future__ import annotations``: typing would compile each field's text at every start.

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from exprgrad.errors import RequestError
from exprgrad.graph.graph import (
    CONST,
    INPUT,
    Graph,
    Program,
    Shape,
    V,
    dependency_flags,
    dependent_flags,
)
from exprgrad.graph.ops import BY_NAME
from exprgrad.language.write.infix import LIMIT, node_texts
from exprgrad.run.numbers.sweeps import (
    Adjoints,
    Plan,
    Tape,
    condition_holds,
    follow_plan,
    forward_numbers,
    is_gated_edge,
    plan_forward,
    play_tape,
    record_tape,
)
from exprgrad.source import Span

if TYPE_CHECKING:
    from exprgrad.graph.calls import ClosedCall
    from exprgrad.run.arrays import arrays as over_arrays

__all__ = [
    "DOUBLE_DIGITS", "NOTHING", "ArrayBounds", "ArrayEvaluator", "Diagnostic", "Edge", "Evaluator", "Flag",
    "Floats", "Guarded", "Node", "Path", "Settled", "SweptRun", "adjoints_of", "evaluator_for",
    "fewest_right_digits", "is_finite", "remember", "right_digits", "shapes_of", "smallest_count",
]  # fmt: skip

Path = tuple[str, ...]
"""A number's place in an answer: its field, then the names that lead to it."""
Folded = tuple[Sequence[int], Mapping[int, "ClosedCall"], Mapping[int, int]]
"""A graph as it is shown: see ``graph.calls.FoldedGraph``."""

NOTHING: Mapping[str, str] = {}
DOUBLE_DIGITS = 16
"""The most right digits of a double."""
SCALES = tuple([10.0**digits + 1 for digits in range(1, DOUBLE_DIGITS + 1)])
"""The ratios of a number to its error that give one right digit, two, and so on."""
NEGLIGIBLE = 16 * 2.0**-1074
"""The error allowed to a 0: some of the least doubles."""
MOST_SWEEPS = 8
"""The number of choices of inputs whose reverse sweeps are kept."""
FEW_POINTS = 200
"""The evaluations from which on it pays to compile a function."""
LONGEST_COMPILED = 1000
"""The most nodes of a graph that is compiled."""


# Evaluators.


def evaluator_for(graph: Graph) -> "Evaluator":
    """Return the evaluator of a graph: over arrays if it carries shapes, else over floats."""
    return ArrayEvaluator(graph) if graph.shapes else Floats(graph)


def shapes_of(values: Mapping[str, Any]) -> dict[str, Shape]:
    """Return the shapes of inputs, given their values."""
    return {name: getattr(value, "shape", ()) for name, value in values.items()}


def remember(memory: dict[Any, V], key: object, make: Callable[[], V], most: int) -> V:
    """Return a value from a memory, made if it is missing; beyond ``most`` the oldest is dropped."""
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
        self.programs: dict[object, Any] = {}
        self.tapes: dict[tuple[str, ...], Tape] = {}
        self.functions: dict[tuple[str, ...], Any] = {}
        self.points = 0

    @cached_property
    def plan(self) -> Plan:
        """The forward sweep's plan, made once."""
        return plan_forward(self.graph)

    def tape(self, wrt: tuple[str, ...]) -> Tape:
        """Return the reverse sweep's tape for some inputs, recorded once."""
        nodes = self.graph.inputs
        return remember(
            self.tapes,
            wrt,
            lambda: record_tape(self.graph, [nodes[name] for name in wrt]),
            MOST_SWEEPS,
        )

    def forward(self, inputs: Mapping[str, Any]) -> list[Any]:
        """Every node's data."""
        return follow_plan(self.plan, inputs)

    def gradient(
        self, inputs: Mapping[str, Any], wrt: tuple[str, ...]
    ) -> tuple[list[Any], Adjoints]:
        """Every node's data and grad."""
        data = follow_plan(self.plan, inputs)
        return data, play_tape(self.tapes.get(wrt) or self.tape(wrt), data)

    def plain_answer(
        self, point: Iterable[float], wrt: tuple[str, ...]
    ) -> tuple[float, Sequence[float]] | None:
        """The value, and a tuple that begins with the derivatives, if no more is worth knowing there.

        Only where all of them are finite, away from kinks and jumps.  None elsewhere, and at the first
        points: the sweeps find the same numbers, except that a 0 may have the other sign.
        """
        function = self.functions.get(wrt)
        if function is None:
            self.points += 1
            if self.points > FEW_POINTS and len(self.graph) <= LONGEST_COMPILED:
                from exprgrad.run.engines.point_function import build_screened_function

                visited = dict.fromkeys(self.tape(wrt).edges.users)
                make = partial(build_screened_function, self.graph, wrt, visited)
                remember(self.functions, wrt, make, MOST_SWEEPS)
            return None
        answer = value, found = function(*point)
        return answer if value and all(found) and isfinite(found[-1]) else None

    def errors(self, values: list[Any], adjoints: Any) -> tuple[list[float], list[float]]:
        """By node: what rounding may have done to its data, and to its grad, as far as bounds tell."""
        from exprgrad.run.numbers.bounds import number_data_errors, number_grad_errors

        data = number_data_errors(self.graph, values)
        return data, [] if adjoints is None else number_grad_errors(adjoints, data)

    def typed_errors(
        self, values: list[Any], adjoints: Any, spelled: Mapping[str, str]
    ) -> tuple[list[float], list[float]]:
        """Return both error bounds relative to the numbers as typed; empty where these are the doubles."""
        from exprgrad.run.numbers.bounds import number_grad_errors, typed_errors

        data = typed_errors(self.graph, values, spelled)
        return data, number_grad_errors(adjoints, data) if data and adjoints is not None else []

    def holds(self, condition: str, names: Sequence[str], values: Sequence[Any]) -> bool:
        """Whether a condition of a row holds."""
        return condition_holds(condition, names, values)

    def answers(self, program: Program, inputs: Mapping[str, Any]) -> list[Any]:
        """The outputs of a derived program."""
        numbers = forward_numbers(program.graph, inputs)
        return [numbers[output] for output in program.outputs]

    def rules(self, run: "SweptRun", user: int) -> Callable[[int], str | None]:
        """See ``Run.rules``."""
        from exprgrad.run.edge_texts import rule_of

        if self.graph.kinds[user] not in BY_NAME:  # shapes decide it, which are not known
            return lambda position: ""
        return lambda position: rule_of(self.graph, user, position, run.names, run.texts)[0]


class ArrayEvaluator:
    """The evaluator of a graph with shapes: NumPy, which is imported as it evaluates and not before."""

    by_entries = False

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.programs: dict[object, Any] = {}
        self.recorded: dict[tuple[str, ...], Any] = {}
        self.edges: dict[tuple[int, frozenset[int]], Any] = {}

    def forward(self, inputs: Mapping[str, Any]) -> list[Any]:
        """Every node's data."""
        from exprgrad.run.arrays import arrays

        return arrays.node_data(self.graph, inputs)

    def gradient(
        self, inputs: Mapping[str, Any], wrt: tuple[str, ...]
    ) -> "tuple[list[Any], over_arrays.ArrayAdjoints]":
        """Every node's data and grad."""
        from exprgrad.run.arrays import arrays

        sweep = remember(
            self.recorded, wrt, lambda: arrays.record_arrays(self.graph, wrt), MOST_SWEEPS
        )
        return arrays.play_arrays(self.graph, inputs, wrt, sweep)

    def plain_answer(self, point: Iterable[float], wrt: tuple[str, ...]) -> None:
        """Tensors are swept."""

    def errors(self, values: list[Any], adjoints: Any) -> tuple[list[Any], list[Any]]:
        """By node: what rounding may have done to its data, and to its grad, as far as bounds tell."""
        from exprgrad.run.arrays.bounds import active_edges, array_data_errors, array_grad_errors

        graph = self.graph
        data = array_data_errors(graph, values, [graph.output])
        if adjoints is None:
            return data, []

        def edges(user: int) -> Any:
            active = frozenset([o for o in graph.operands[user] if adjoints.active[o]])
            return remember(
                self.edges,
                (user, active),
                lambda: active_edges(graph, user, active, adjoints.varying),
                MOST_SWEEPS * len(graph),
            )

        return data, array_grad_errors(adjoints, data, edges)

    def holds(self, condition: str, names: Sequence[str], values: Sequence[Any]) -> bool:
        """Whether a condition of a row holds at some number."""
        from exprgrad.run.arrays import arrays

        return bool((arrays.condition_on_arrays(condition, names, values) != 0).any())

    def typed_errors(
        self, values: list[Any], adjoints: Any, spelled: Mapping[str, str]
    ) -> tuple[list[Any], list[Any]]:
        """Return nothing: the numbers of tensors are the doubles read."""
        return [], []

    def answers(self, program: Program, inputs: Mapping[str, Any]) -> list[Any]:
        """Return a derived program's outputs; none shares memory with an input."""
        from exprgrad.run.arrays import arrays

        found = arrays.copies_apart(arrays.program_outputs(program, inputs), inputs.values())
        return [*map(arrays.float_or_array, found)]

    def rules(self, run: "SweptRun", user: int) -> Callable[[int], str | None]:
        """See ``Run.rules``."""
        from exprgrad.run.edge_texts import pass_texts

        return pass_texts(run, user).get


class ArrayBounds(ArrayEvaluator):
    """An evaluator that answers with each number's error bound instead of the number."""

    def __init__(self, evaluator: ArrayEvaluator) -> None:
        super().__init__(evaluator.graph)
        self.programs = evaluator.programs

    def answers(self, program: Program, inputs: Mapping[str, Any]) -> list[Any]:
        """Return the error bounds of a derived program's outputs."""
        from exprgrad.run.arrays import arrays, bounds

        (graph, outputs), values = program, arrays.forward_arrays(program.graph, inputs)
        errors = bounds.array_data_errors(graph, values, outputs)
        return [arrays.broadcast_view(errors[output], graph.shape(output)) for output in outputs]


Evaluator = Floats | ArrayEvaluator
"""A graph ready to be evaluated at many points, in one of two ways with equal answers.

``programs`` holds the programs derived from the graph, by question.  ``by_entries`` says whether a
matrix of derivatives is one program with an output for each entry; else it goes along basis directions.
In that case kernels compute many rows at a time.
"""


# What they found.


def is_finite(value: Any) -> bool:
    """Whether a number, or every number of a tensor, is finite."""
    if type(value) is float:
        return math.isfinite(value)
    return bool((abs(value) < math.inf).all())


def right_digits(value: Any, error: Any) -> Any:
    """Count each number's right digits, from 0 to 16, given its error bound.

    N digits are right if the error is less than 10^-N of any possible true number.  A 0 that is
    off by a few of the least doubles is right.
    """
    magnitude = abs(value)
    is_right = (error == 0) | ((value == 0) & (error < NEGLIGIBLE))
    counts = sum([is_right | (error < magnitude / scale) for scale in SCALES])
    return counts * (magnitude < math.inf)


def fewest_right_digits(value: Any, error: Any) -> int:
    """Count the right digits of a number, or of the worst in a tensor."""
    return smallest_count(right_digits(value, error))


def smallest_count(counts: Any) -> int:
    """Return a count, or the smallest in a tensor."""
    return int(getattr(counts, "min", counts.__int__)())


class Node(NamedTuple):
    """A node as it is shown: ``op`` is a row's name, ``input`` or ``const``.

    Data and grad are floats; among tensors, where ``shape`` is not None, they may be NumPy arrays.
    ``call`` is the innermost of the graph's ``calls`` around it, if any.
    """

    id: int
    name: str | None
    op: str
    operands: tuple[int, ...]
    text: str
    span: Span
    data: Any
    grad: Any
    shape: Shape | None = None
    call: int | None = None

    def __repr__(self) -> str:
        return python_text(self)


class Edge(NamedTuple):
    """An active edge: its local derivative as formula and number, and its contribution.

    Among tensors ``jacobian`` is the shape that the whole local derivative would have: the node's and
    the operand's.  ``local`` is then its diagonal, or None where it is not even diagonal.
    """

    user: int
    position: int
    operand: int
    rule: str
    local: Any
    contribution: Any
    span: Span
    jacobian: tuple[Shape, Shape] | None = None

    def __repr__(self) -> str:
        return python_text(self)


def python_text(found: Node | Edge) -> str:
    """Write a node or an edge as Python does, without the fields of tensors and calls alone."""
    further = found._field_defaults
    told = {name: x for name, x in found._asdict().items() if x is not None or name not in further}
    return (
        f"{type(found).__name__}({', '.join(f'{name}={value!r}' for name, value in told.items())})"
    )


class Diagnostic(NamedTuple):
    """A finding about a run.

    ``code`` is ``nan`` or ``infinity`` (of a node's data), ``nan-gradient`` or ``infinite-gradient``,
    ``kink`` or ``jump`` (of a node, or along an input), ``corrected``, ``undecided``, ``exists`` or
    ``edge`` (of the derivative with respect to an input), ``many-inputs`` (too many to look at from both
    sides), ``lost-digits`` (of the value or a derivative; as a note of what was typed and is below the
    doubles), ``digits`` (of a descent's steps, or a curve's points), ``diverged`` (of a descent),
    ``nonlinear`` (where linearising tells too little of an uncertainty), ``elasticity`` (where one says
    nothing), ``own-function`` (that has a newer row's name), or ``unused`` (a named statement);
    ``severity`` is ``warning``, or ``note`` where the answer does not depend on it.
    ``path`` is, for a number that is not finite, its way to the output: ``exp(x) → 1 + exp(x) → …``.
    """

    code: str
    severity: str
    message: str
    node: int
    span: Span
    help: str | None
    path: str | None = None


class Flag(Diagnostic):
    """A diagnostic that a node meets a kink or a jump, without its consequences."""

    __slots__ = ()


class SweptRun:
    """One evaluation of an expression: inputs in, every node's data and perhaps grad out.

    ``values`` holds each node's data.  After a reverse sweep ``adjoints`` is its result and ``wrt``
    the inputs that were differentiated; after a forward sweep alone both are None.  Among tensors
    ``graph.shapes`` are the nodes' shapes, and data and grad are floats or NumPy arrays.  ``spelled``
    holds the texts of inputs typed otherwise than their doubles' shortest texts, and empty ones
    for those not typed.

    The result of a reverse sweep has, over numbers and over tensors, by node

    ``active``     whether it depends on a differentiated input
    ``grads``      its grad; None where no gradient arrived: the grad is then ``zero(node)``
    ``locals``     its local derivatives for active operands; None if it passed nothing on
    ``passed(user)``  its active edges: position, local derivative (None if not even diagonal), contribution
    ``ends(user, operand)``  the shapes of an edge's ends; None over numbers
    ``beside``     the fields that an edge has over tensors alone
    ``met``        the kinks and jumps that it meets, with flags of where; ``quiet`` if none does

    At a plain point there may be an ``answer``, value and derivatives alone: then the sweeps are made when
    they are read.
    """

    answer: tuple[Any, Sequence[Any]] | None = None
    evaluator: Evaluator

    def __init__(
        self,
        text: str,
        graph: Graph,
        inputs: Mapping[str, Any],
        values: list[Any] | None,
        adjoints: "Adjoints | over_arrays.ArrayAdjoints | None" = None,
        wrt: tuple[str, ...] | None = None,
        spelled: Mapping[str, str] = NOTHING,
    ) -> None:
        self.text = text
        self.graph = graph
        self.inputs: dict[str, Any] = dict(inputs)
        self.wrt = wrt
        self.spelled = spelled
        if values is not None:
            self.values = values
            self.adjoints = adjoints

    @classmethod
    def of(
        cls,
        text: str,
        evaluator: Evaluator,
        inputs: Mapping[str, Any],
        wrt: tuple[str, ...] | None = None,
        spelled: Mapping[str, str] = NOTHING,
    ) -> Self:
        """Run a forward sweep, or both sweeps where there are inputs to differentiate."""
        if wrt is None:
            values = evaluator.forward(inputs)
            return cls(text, evaluator.graph, inputs, values, spelled=spelled)
        values, adjoints = evaluator.gradient(inputs, wrt)
        return cls(text, evaluator.graph, inputs, values, adjoints, wrt, spelled)

    @classmethod
    def at_plain_point(
        cls, text: str, evaluator: Evaluator, inputs: Mapping[str, Any], wrt: tuple[str, ...]
    ) -> Self | None:
        """The run of both sweeps, which are made when they are read; None unless the point is plain.

        ``inputs`` are in the graph's order.
        """
        answer = evaluator.plain_answer(inputs.values(), wrt)
        if answer is None:
            return None
        run = cls(text, evaluator.graph, inputs, None, None, wrt)
        run.answer, run.evaluator = answer, evaluator
        return run

    @cached_property
    def sweeps(self) -> "tuple[list[Any], Adjoints | over_arrays.ArrayAdjoints]":
        """Both sweeps, which are run when first read if only the answer was asked for."""
        return self.evaluator.gradient(self.inputs, self.wrt or ())

    @cached_property
    def values(self) -> list[Any]:
        """Each node's data."""
        return self.sweeps[0]

    @cached_property
    def adjoints(self) -> "Adjoints | over_arrays.ArrayAdjoints | None":
        """What the reverse sweep found; None without one."""
        return self.sweeps[1]

    @property
    def value(self) -> Any:
        """The output's data: a float, or a NumPy array."""
        return self.values[self.graph.output] if self.answer is None else self.answer[0]

    @cached_property
    def errors(self) -> tuple[list[Any], list[Any]]:
        """The error bounds of the nodes' data and grads."""
        return evaluator_for(self.graph).errors(self.values, self.adjoints)

    @property
    def swept(self) -> dict[str, Any]:
        """The reverse sweep's gradient, with its conventions at kinks and jumps."""
        if self.answer is not None:
            return dict(zip(self.wrt or (), self.answer[1], strict=False))  # the screen is last
        if self.adjoints is None:
            return {}
        grads, nodes = self.adjoints.grads, self.graph.inputs
        found = {}
        for name in self.wrt or ():
            node = nodes[name]
            grad = grads[node]
            found[name] = self.adjoints.zero(node) if grad is None else grad
        return found

    @cached_property
    def order(self) -> list[int]:
        """The reverse sweep's visits, in order: the nodes that the output depends on."""
        if self.adjoints is None:
            return []
        needed = dependency_flags(self.graph, self.graph.output)
        return [node for node in range(self.graph.output, -1, -1) if needed[node]]

    def grad(self, node: int) -> Any:
        """Return a node's grad; None for a constant, or a node that depends on no differentiated input."""
        if self.adjoints is None:
            return None
        try:
            grad = self.adjoints.grads[node]
        except TypeError:
            raise TypeError(f"grad takes a node's number; by name it is run[{node!r}]") from None
        if self.adjoints.active[node]:
            return self.adjoints.zero(node) if grad is None else grad
        return None if self.graph.kinds[node] in (CONST, INPUT) else grad

    def passed(self, node: int) -> bool:
        """Whether a gradient reached the node and went on to its operands."""
        return self.adjoints is not None and self.adjoints.locals[node] is not None

    @cached_property
    def names(self) -> dict[int, str]:
        """Node → its name, for the nodes that have one; the result of a call has the call's text."""
        if not self.graph.calls:
            return self.graph.names()
        from exprgrad.graph.calls import call_labels

        return call_labels(self.graph)

    @cached_property
    def folded(self) -> Folded:
        """The nodes shown, closed calls by result, and the opened call of each node."""
        if not self.graph.calls:
            return range(len(self.graph)), {}, {}
        from exprgrad.graph.calls import fold_calls

        return fold_calls(self.graph)

    @property
    def shown(self) -> Sequence[int]:
        """The nodes shown, in order: of a closed call only its result."""
        return self.folded[0]

    @property
    def closed(self) -> "Mapping[int, ClosedCall]":
        """The calls shown as one card, by their results."""
        return self.folded[1]

    @property
    def opened(self) -> Mapping[int, int]:
        """Node → the innermost opened call around it, if it is in one."""
        return self.folded[2]

    def operands(self, node: int) -> tuple[int, ...]:
        """Return the operands of a node, or of the closed call whose result it is."""
        closed = self.closed.get(node)
        return self.graph.operands[node] if closed is None else closed.operands

    def spelling(self, node: int) -> str:
        """Return the typed text of a literal or an input, if that is not its double's shortest text."""
        name = str(self.graph.payloads[node])
        return self.graph.spelled.get(node) or self.spelled.get(name, "")

    @cached_property
    def texts(self) -> list[str]:
        """Every node's text, cut to 60 characters."""
        return node_texts(self.graph, self.names, LIMIT)

    def label(self, node: int) -> str:
        """Return a node's label: its name, or else its text."""
        return self.names.get(node, self.texts[node])

    @property
    def output_label(self) -> str:
        """The output's label: its name, or else its text, or that of its call."""
        graph = self.graph
        call = self.names.get(graph.output) if graph.calls else None
        return graph.output_name or call or self.texts[graph.output]

    def iter_nodes(self) -> Iterator[Node]:
        """Yield the nodes."""
        graph, names = self.graph, self.graph.names()
        for node, kind in enumerate(graph.kinds):
            yield Node(
                node,
                names.get(node),
                kind,
                graph.operands[node],
                self.texts[node],
                graph.span(node),
                self.values[node],
                self.grad(node),
                graph.told_shape(node),
                None if kind == INPUT else graph.called.get(node),
            )

    @cached_property
    def nodes(self) -> list[Node]:
        """Every node, in topological order."""
        return list(self.iter_nodes())

    def iter_edges(self) -> Iterator[Edge]:
        """Yield the active edges in the order of the visits."""
        for node in self.order:
            yield from self.edges_of(node)

    def edges_of(self, user: int) -> Iterator[Edge]:
        """Yield the active edges from a node to its operands."""
        if self.adjoints is None or not self.passed(user):
            return
        graph, rules = self.graph, self.rules(user)
        for position, local, contribution in self.adjoints.passed(user):
            operand = graph.operands[user][position]
            span = graph.occurrence(user, position)
            ends = self.adjoints.ends(user, operand)
            yield Edge(
                user, position, operand, rules(position) or "0", local, contribution, span, ends
            )

    @cached_property
    def edges(self) -> list[Edge]:
        """Every active edge, in the order of the visits."""
        return list(self.iter_edges())

    def slopes(self, closed: "ClosedCall") -> dict[int, float | None]:
        """Return a call's local derivatives for its operands: products along its paths, added up.

        None where one on the way is a tensor's.  An operand that gets nothing is left out.
        """
        found: dict[int, float | None] = {closed.call.result: 1.0}
        for user in closed.inside:
            if self.adjoints is None or user not in found:
                continue
            slope, operands = found[user], self.graph.operands[user]
            for position, local, _ in self.adjoints.passed(user):
                is_number, operand = type(local) is float, operands[position]
                if (
                    is_number
                    and not local
                    and is_gated_edge(BY_NAME[self.graph.kinds[user]], position)
                ):
                    continue
                before = found.get(operand, 0.0)
                if not is_number or slope is None or before is None:
                    found[operand] = None
                else:
                    found[operand] = before + slope * local
        return {node: found[node] for node in closed.operands if node in found}

    def rules(self, user: int) -> Callable[[int], str | None]:
        """Return the shown local derivatives of a node's edges, by the operand's position.

        The operands' names are filled in.  None for an operand that gets nothing; empty where the rule
        depends on shapes that are not known.
        """
        return evaluator_for(self.graph).rules(self, user)

    def rule(self, user: int, position: int) -> str:
        """Return an edge's shown local derivative; 0 where nothing is passed."""
        return self.rules(user)(position) or "0"

    @cached_property
    def varying(self) -> Sequence[int]:
        """By node: whether it depends on an input."""
        return dependent_flags(self.graph, self.graph.inputs.values())


class Guarded(NamedTuple):
    """A run's answer as commands print it.

    ``value``, ``gradient``  the sweep's numbers, corrected at kinks and by balls
    ``corrected``        by input: the sweep's number and the answer, where they differ
    ``digits``           their right digits, from 0 to 16: an object for each, as in JSON
    ``corrected_value``  the sweep's value and the answer, where they differ
    ``diagnostics``      a warning for each number with fewer right digits than requested
    ``causes``           by warning: the nodes that errors came through which are corrected
    """

    value: Any
    gradient: dict[str, Any]
    corrected: dict[str, tuple[Any, Any]]
    digits: Mapping[str, Any] = {}
    corrected_value: tuple[Any, Any] | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    causes: tuple[frozenset[int], ...] = ()

    def __repr__(self) -> str:
        """Return the answer in a line, without the corrections and their reasons."""
        return f"Guarded(value={self.value!r}, gradient={self.gradient!r}, digits={self.digits!r})"


class Settled(NamedTuple):
    """The outcome for some numbers of an answer, by path.

    ``values``       the printed numbers: the sweep's, corrected by balls
    ``digits``       their right digits, from 0 to 16
    ``corrected``    the sweep's number and the answer, where they differ
    ``diagnostics``  a warning for each number with fewer right digits than requested
    ``causes``       by warning: the nodes that errors came through which are corrected
    """

    values: dict[Path, float]
    digits: dict[Path, int]
    corrected: dict[Path, tuple[float, float]]
    diagnostics: tuple[Diagnostic, ...] = ()
    causes: tuple[frozenset[int], ...] = ()

    def joined(self, other: "Settled") -> "Settled":
        """Return these numbers and others together."""
        return Settled(
            self.values | other.values,
            self.digits | other.digits,
            self.corrected | other.corrected,
            self.diagnostics + other.diagnostics,
            self.causes + other.causes,
        )

    def among(self, field: str) -> "Settled":
        """Return the numbers of one field, by the rest of their paths."""
        values, digits = under_field(self.values, field), under_field(self.digits, field)
        return Settled(values, digits, under_field(self.corrected, field))


def adjoints_of(
    run: SweptRun, what: str, help: str | None = None
) -> "Adjoints | over_arrays.ArrayAdjoints":
    """Return the reverse sweep's result, which ``what`` needs; raises ``RequestError`` without one."""
    if run.adjoints is None:
        raise RequestError("no-gradient", f"only a run of gradient() has {what}", help=help)
    return run.adjoints


def under_field(found: Mapping[Path, V], field: str) -> dict[Path, V]:
    """Select the entries below a field, by the rest of their paths."""
    return {path[1:]: one for path, one in found.items() if path[0] == field}
