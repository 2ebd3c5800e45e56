"""One evaluation: what evaluates a graph, floats or NumPy's arrays, and the Run that holds what it found;
the nodes, edges and diagnostics by which a run is read, and its answer once digits are counted.

A number is a tensor of shape ``()``.  That a graph of nothing but numbers is swept by a flat plan and a
tape over Python's floats, for which NumPy is never imported, is known here and nowhere else.  An evaluator
has all that is worked out only once; results live in a Run, and never on the graph's nodes.
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
"""Where an answer has a number: its field, then the names by which it is found there."""
Folded = tuple[Sequence[int], Mapping[int, "ClosedCall"], Mapping[int, int]]
"""A graph as people see it: see ``graph.calls.Fold``."""

NOTHING: Mapping[str, str] = {}
DOUBLE_DIGITS = 16
"""The digits that a double can have right."""
SCALES = tuple([10.0**digits + 1 for digits in range(1, DOUBLE_DIGITS + 1)])
"""How many times as large as its error a number has to be to have one right digit, two, and so on."""
NEGLIGIBLE = 16 * 2.0**-1074
"""What a 0 may be off by: some of the least doubles."""
MOST_SWEEPS = 8
"""For how many choices of inputs reverse sweeps are kept."""
FEW_POINTS = 200
"""For fewer points it is not worth while to compile a function."""
LONGEST_COMPILED = 1000
"""The most nodes of a graph that is compiled."""


# Evaluators.


def evaluator_for(graph: Graph) -> "Evaluator":
    """What evaluates a graph: arrays where it carries shapes, else floats."""
    return ArrayEvaluator(graph) if graph.shapes else Floats(graph)


def shapes_of(values: Mapping[str, Any]) -> dict[str, Shape]:
    """The shapes of inputs, given their values."""
    return {name: getattr(value, "shape", ()) for name, value in values.items()}


def remember(memory: dict[Any, V], key: object, make: Callable[[], V], most: int) -> V:
    """A value from a memory, made now if it is not there; beyond ``most`` the oldest goes."""
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
        """The forward sweep, worked out once."""
        return plan_forward(self.graph)

    def tape(self, wrt: tuple[str, ...]) -> Tape:
        """The reverse sweep for some inputs, worked out once."""
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

        So it is where all is finite, away from kinks and jumps.  None elsewhere, and at the first points:
        the sweeps find the same numbers, but for the sign of a 0.
        """
        function = self.functions.get(wrt)
        if function is None:
            self.points += 1
            if self.points > FEW_POINTS and len(self.graph) <= LONGEST_COMPILED:
                self.compile(wrt)
            return None
        answer = value, found = function(*point)
        return answer if value and all(found) and isfinite(found[-1]) else None

    def compile(self, wrt: tuple[str, ...]) -> None:
        """Compile the function that finds the answer at plain points."""
        from exprgrad.run.engines.point_function import build_screened_function

        visited = dict.fromkeys(self.tape(wrt).edges.users)
        make = partial(build_screened_function, self.graph, wrt, visited)
        remember(self.functions, wrt, make, MOST_SWEEPS)

    def errors(self, values: list[Any], adjoints: Any) -> tuple[list[float], list[float]]:
        """By node: what rounding may have done to its data, and to its grad, as far as bounds tell."""
        from exprgrad.run.numbers.bounds import number_data_errors, number_grad_errors

        data = number_data_errors(self.graph, values)
        return data, [] if adjoints is None else number_grad_errors(adjoints, data)

    def typed_errors(
        self, values: list[Any], adjoints: Any, spelled: Mapping[str, str]
    ) -> tuple[list[float], list[float]]:
        """How far both are from what the numbers as typed come to; empty where these are the doubles."""
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
        from exprgrad.run.edge_texts import shown_rules

        return shown_rules(run, user)


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
        """Empty: the numbers of tensors are the doubles that they were read as."""
        return [], []

    def answers(self, program: Program, inputs: Mapping[str, Any]) -> list[Any]:
        """The outputs of a derived program; none of them shares memory with an input."""
        from exprgrad.run.arrays import arrays

        return arrays.own_answers(program, inputs)

    def rules(self, run: "SweptRun", user: int) -> Callable[[int], str | None]:
        """See ``Run.rules``."""
        from exprgrad.run.edge_texts import pass_texts

        return pass_texts(run, user).get


class ArrayBounds(ArrayEvaluator):
    """The same, but that it answers with what each number may be off by, in place of the number."""

    def __init__(self, evaluator: ArrayEvaluator) -> None:
        super().__init__(evaluator.graph)
        self.programs = evaluator.programs

    def answers(self, program: Program, inputs: Mapping[str, Any]) -> list[Any]:
        """What the outputs of a derived program may be off by."""
        from exprgrad.run.arrays.bounds import answer_errors

        return answer_errors(program, inputs)


Evaluator = Floats | ArrayEvaluator
"""A graph, ready to be evaluated at many points, in one of two ways that answer alike.

``programs`` is what was derived from the graph, by what it answers.  ``by_entries`` says whether a
matrix of derivatives is one program with an output for each entry; else it is made along basis directions.
Where it is so, kernels work out many rows at a time.
"""


# What they found.


def is_finite(value: Any) -> bool:
    """Whether a number, or every number of a tensor, is finite."""
    if type(value) is float:
        return math.isfinite(value)
    return bool((abs(value) < math.inf).all())


def right_digits(value: Any, error: Any) -> Any:
    """By number: how many of its digits are right, from 0 to 16, if it is off by less than ``error``.

    N digits are right if the error is less than 10^-N of whatever the number may be in truth.  A 0 that is
    off by a few of the least doubles is right.
    """
    magnitude = abs(value)
    is_right = (error == 0) | ((value == 0) & (error < NEGLIGIBLE))
    counts = sum([is_right | (error < magnitude / scale) for scale in SCALES])
    return counts * (magnitude < math.inf)


def fewest_right_digits(value: Any, error: Any) -> int:
    """How many digits are right of a number, or of the worst of a tensor's."""
    return smallest_count(right_digits(value, error))


def smallest_count(counts: Any) -> int:
    """A count, or the smallest of a tensor's."""
    return int(getattr(counts, "min", counts.__int__)())


class Node(NamedTuple):
    """A node as people read it: ``op`` is a row's name, ``input`` or ``const``.

    Data and grad are floats; among tensors, where ``shape`` is not None, they may be NumPy arrays.
    ``call`` is the innermost of the graph's ``calls`` that it was made in, if any.
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
    """An active edge: its local derivative as formula and number, and what it passed on.

    Among tensors ``jacobian`` is the shape that the whole local derivative would have had: the node's and
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
    """A node or an edge as Python writes it, without what only tensors and calls have."""
    further = found._field_defaults
    told = {name: x for name, x in found._asdict().items() if x is not None or name not in further}
    return (
        f"{type(found).__name__}({', '.join(f'{name}={value!r}' for name, value in told.items())})"
    )


class Diagnostic(NamedTuple):
    """Something worth knowing about a run.

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
    """A diagnostic that says of a node that it meets a kink or a jump, and not what that comes to."""

    __slots__ = ()


class SweptRun:
    """One evaluation of an expression: inputs in, every node's data and perhaps grad out.

    ``values`` holds each node's data.  After a reverse sweep ``adjoints`` is what it found and ``wrt``
    the inputs that were differentiated; after a forward sweep alone both are None.  Among tensors
    ``graph.shapes`` are the nodes' shapes, and data and grad are floats or NumPy arrays.  ``spelled``
    holds the texts of inputs that were typed otherwise than their doubles' shortest texts, and empty ones
    of those that were not typed.

    What a reverse sweep found has, over numbers and over tensors, by node

    ``active``     whether it depends on a differentiated input
    ``grads``      its grad; None for a node that no gradient reached, whose grad is ``zero(node)``
    ``locals``     its local derivatives, as far as its operands are active; None if it passed nothing on
    ``passed(user)``  its active edges: position, local derivative (None if not even diagonal), contribution
    ``ends(user, operand)``  the shapes of an edge's ends; None over numbers
    ``beside``     the fields that an edge has over tensors alone
    ``met``        the kinks and jumps that it meets, with flags that say where; ``quiet`` if none does

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
        """The run of a forward sweep, or of both sweeps where there are inputs to differentiate."""
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
        """Both sweeps of a run that was made without, for those who read more than the answer."""
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
        """By node: what its data and its grad may be off by, as far as bounds tell."""
        return evaluator_for(self.graph).errors(self.values, self.adjoints)

    @property
    def swept(self) -> dict[str, Any]:
        """The gradient as the reverse sweep found it, with its conventions at kinks and jumps."""
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
        """A node's grad: None for a constant, or what depends on no differentiated input."""
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
        """What people see of calls: the nodes shown, closed calls by result, nodes in opened ones."""
        if not self.graph.calls:
            return range(len(self.graph)), {}, {}
        from exprgrad.graph.calls import fold_calls

        return fold_calls(self.graph)

    @property
    def shown(self) -> Sequence[int]:
        """The nodes that people see, in order: of a closed call its result alone."""
        return self.folded[0]

    @property
    def closed(self) -> "Mapping[int, ClosedCall]":
        """The calls that people see as one card, by their results."""
        return self.folded[1]

    @property
    def opened(self) -> Mapping[int, int]:
        """Node → the innermost opened call around it, if it is in one."""
        return self.folded[2]

    def operands(self, node: int) -> tuple[int, ...]:
        """What a node reads, or the closed call that it is the result of."""
        closed = self.closed.get(node)
        return self.graph.operands[node] if closed is None else closed.operands

    def spelling(self, node: int) -> str:
        """The typed text of a literal or an input, if that is not its double's shortest text."""
        name = str(self.graph.payloads[node])
        return self.graph.spelled.get(node) or self.spelled.get(name, "")

    @cached_property
    def texts(self) -> list[str]:
        """Every node's text, cut to 60 characters."""
        return node_texts(self.graph, self.names, LIMIT)

    def label(self, node: int) -> str:
        """What a node is called: its name, else its text."""
        return self.names.get(node, self.texts[node])

    @property
    def output_label(self) -> str:
        """What the output is called: its name, else its text, or that of the call that it is."""
        graph = self.graph
        call = self.names.get(graph.output) if graph.calls else None
        return graph.output_name or call or self.texts[graph.output]

    def iter_nodes(self) -> Iterator[Node]:
        """The nodes, one at a time."""
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
        """The active edges in the order of the visits, one at a time."""
        for node in self.order:
            yield from self.edges_of(node)

    def edges_of(self, user: int) -> Iterator[Edge]:
        """The active edges from a node to its operands."""
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
        """The local derivatives of a call with respect to its operands: products along its paths, added up.

        None where one on the way is that of a tensor.  An operand that nothing is passed to has none.
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
        """The local derivatives of a node's edges as people read them, by the operand's position.

        The operands' names are filled in.  None for an operand that is passed nothing; empty where the rule
        depends on shapes that are not known.
        """
        return evaluator_for(self.graph).rules(self, user)

    def rule(self, user: int, position: int) -> str:
        """The local derivative of one edge as people read it; 0 where nothing is passed."""
        return self.rules(user)(position) or "0"

    @cached_property
    def varying(self) -> Sequence[int]:
        """By node: whether it depends on an input."""
        return dependent_flags(self.graph, self.graph.inputs.values())


class Guarded(NamedTuple):
    """A run's answer as commands print it.

    ``value``, ``gradient``  the sweep's numbers, corrected at kinks and by balls
    ``corrected``        by input: the sweep's number and the answer, where they differ
    ``digits``           how many of their digits are right, from 0 to 16: an object for each, as in JSON
    ``corrected_value``  the sweep's value and the answer, where they differ
    ``diagnostics``      a warning for each number that has fewer right digits than are asked for
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
        """The answer in a line: what was corrected, and why, is for those who ask."""
        return f"Guarded(value={self.value!r}, gradient={self.gradient!r}, digits={self.digits!r})"


class Settled(NamedTuple):
    """The outcome for some numbers of an answer, by path.

    ``values``       the printed numbers: the sweep's, corrected by balls
    ``digits``       how many of their digits are right, from 0 to 16
    ``corrected``    the sweep's number and the answer, where they differ
    ``diagnostics``  a warning for each number that has fewer right digits than are asked for
    ``causes``       by warning: the nodes that errors came through which are corrected
    """

    values: dict[Path, float]
    digits: dict[Path, int]
    corrected: dict[Path, tuple[float, float]]
    diagnostics: tuple[Diagnostic, ...] = ()
    causes: tuple[frozenset[int], ...] = ()

    def joined(self, other: "Settled") -> "Settled":
        """These numbers and others."""
        return Settled(
            self.values | other.values,
            self.digits | other.digits,
            self.corrected | other.corrected,
            self.diagnostics + other.diagnostics,
            self.causes + other.causes,
        )

    def among(self, field: str) -> "Settled":
        """The numbers of one field, by the rest of their paths."""
        values, digits = under_field(self.values, field), under_field(self.digits, field)
        return Settled(values, digits, under_field(self.corrected, field))


def adjoints_of(
    run: SweptRun, what: str, help: str | None = None
) -> "Adjoints | over_arrays.ArrayAdjoints":
    """What the reverse sweep found, for ``what`` needs it; raises ``RequestError`` where there was none."""
    if run.adjoints is None:
        raise RequestError("no-gradient", f"only a run of gradient() has {what}", help=help)
    return run.adjoints


def under_field(found: Mapping[Path, V], field: str) -> dict[Path, V]:
    """The entries below a field, by the rest of their paths."""
    return {path[1:]: one for path, one in found.items() if path[0] == field}
