"""The two sweeps over numbers: forward for every node's data, in reverse for every node's grad.

Both are plain loops, and neither recurses: forward over the nodes in index order, which is topological, in
reverse over a tape of edges.  What does not depend on the numbers is worked out once for a graph: a plan
says what a forward sweep has to do, a tape which edges are active, in which order they are met, and where
each finds its local derivative.
"""

# Without ``from __future__ import annotations``: typing would compile each field's text at every start.

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property, partial
from itertools import repeat
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from exprgrad.derive.rules import slots, template
from exprgrad.graph.graph import CONST, INPUT, Graph, dependents
from exprgrad.graph.op import Special
from exprgrad.graph.ops import BY_NAME, Op
from exprgrad.run.numbers.primitives import Template, TemplatePart, functions, part_of, sides

if TYPE_CHECKING:
    from exprgrad.run.numbers.kink_screen import Suspects

__all__ = [
    "TIES", "Adjoints", "LocalRule", "Plan", "Tape", "Visits", "follow", "forward", "gated", "plan", "play",
    "record", "reverse", "row",
]  # fmt: skip


# Forward.


def forward(graph: Graph, inputs: Mapping[str, float]) -> list[float]:
    """Every node's data, given every input's: for a graph that is evaluated once."""
    table = {kind: functions[kind] for kind in {*graph.kinds} - {INPUT, CONST}}
    values: list[float] = []
    push = values.append
    for kind, operands, payload in zip(graph.kinds, graph.operands, graph.payloads, strict=True):
        if len(operands) == 2:
            first, second = operands
            push(table[kind](values[first], values[second]))
        elif operands:
            push(table[kind](*[values[operand] for operand in operands]))
        elif kind == INPUT:
            push(inputs[payload])  # type: ignore[index]
        else:
            push(payload)  # type: ignore[arg-type]
    return values


ALONE = -1
"""Where a second operand would stand: the function takes one."""
MANY = -2
"""The same: it takes more than two, as the graph has them."""


class Plan(NamedTuple):
    """Everything about a forward sweep that does not depend on the numbers, in flat lists.

    ``operands``  those of the graph
    ``start``   by node: a constant's number; what an operation finds takes its place there
    ``inputs``  node and name of each
    ``nodes``, ``functions``, ``firsts``, ``seconds``  by operation: where the result goes, what finds it,
                and its operands; a negative second one says that there are not two
    """

    operands: list[tuple[int, ...]]
    start: list[Any]
    inputs: list[tuple[int, str]]
    nodes: list[int]
    functions: list[Callable[..., float]]
    firsts: list[int]
    seconds: list[int]


def plan(graph: Graph) -> Plan:
    """The plan of a graph of numbers.

    It takes about as long as two sweeps to make, so it is worth while from the third point on.
    """
    kinds, operands = graph.kinds, graph.operands
    table = {kind: functions[kind] for kind in {*kinds} - {INPUT, CONST}}
    nodes = [node for node, mine in enumerate(operands) if mine]
    inputs = [(node, name) for name, node in graph.inputs.items()]
    counts = (ALONE, MANY)
    seconds = [mine[1] if len(mine) == 2 else counts[len(mine) > 2] for mine in operands if mine]
    return Plan(
        operands,
        graph.payloads.copy(),
        inputs,
        close(nodes),
        [table[kinds[node]] for node in nodes],
        close([mine[0] for mine in operands if mine]),
        close(seconds),
    )


def follow(plan: Plan, inputs: Mapping[str, float]) -> list[float]:
    """Every node's data, given every input's: what ``forward`` finds, in two thirds of the time."""
    values = plan.start.copy()
    for node, name in plan.inputs:
        values[node] = inputs[name]
    operations = zip(plan.nodes, plan.functions, plan.firsts, plan.seconds, strict=True)
    for node, function, first, second in operations:
        if second >= 0:
            values[node] = function(values[first], values[second])
        elif second == ALONE:
            values[node] = function(values[first])
        else:
            values[node] = function(*[values[operand] for operand in plan.operands[node]])
    return values


def close(numbers: Iterable[int]) -> list[int]:
    """The numbers as objects that lie side by side in memory: a sweep over them is up to a third faster."""
    return list(array("q", numbers))


# In reverse: the tape.

LocalRule = tuple[TemplatePart, bool]
"""A local derivative: the slot that it names, or a constant, or a function of the slots; if it is gated."""
RowRules = tuple[tuple[LocalRule, ...], bool]
"""The rules of a row of the op table, by operand; and if they see more than values: companions."""
LocalStep = tuple[Template, Callable[[Sequence[float]], Any]]
"""A local derivative to compute: the function, and what picks its arguments from the cells."""
Slope = tuple[str, int]
"""Whose local derivative it is: a row's name and an operand's position, ``TIES`` where it counts ties."""
TIES = -1


class Edges(NamedTuple):
    """Active edges in the order of the visits: the user, the operand, and the local derivative's cell."""

    users: Sequence[int]
    operands: Sequence[int]
    sources: Sequence[int]


class Visits(NamedTuple):
    """The same, one or two edges from a grad at a time.

    Where there is no second edge, its operand is a cell that nothing reads.
    """

    users: list[int]
    firsts: list[int]
    first_sources: list[int]
    seconds: list[int]
    second_sources: list[int]


class Tape(NamedTuple):
    """A graph's active edges in the order of the visits, and where their local derivatives are.

    A sweep's numbers stand in one list of cells: every node's data, then ``constants``, then what
    each of the ``steps`` finds, which are the local derivatives called ``slopes``.

    ``active``    by node: whether it depends on a differentiated input
    ``start``     by node: the grad before the sweep; None where none is certain to arrive.  One more
                  stands behind them, which nothing reads
    ``edges``     the edges, one by one; where ``visits`` are played instead, packed, for few read them
    ``gated``     by edge: whether it passes nothing when the local derivative is 0; None: none is
    ``visits``    the edges, two by two, where there are no gates; but for those of ``passed``
    ``passed``    nodes whose grad is another's, and those others: what a sum passes on to what is
                  used nowhere else
    ``suspects``  the nodes that may meet a kink or a jump, if any
    """

    graph: Graph
    active: bytearray
    start: list[float | None]
    edges: Edges
    gated: bytearray | None
    visits: Visits
    passed: tuple[list[int], list[int]]
    constants: list[float]
    steps: list[LocalStep]
    slopes: list[Slope]
    suspects: "Suspects | None" = None


def gated(op: Op, position: int) -> bool:
    """Whether an edge passes nothing, not even 0 times infinity, when its local derivative is 0.

    So it is for a rule that is the constant 0, and for a branch that a ``where`` did not take.
    """
    return op.partial(position) == "0" or position in op.branches


@cache
def row(op: Op) -> RowRules:
    """The rules of one row, as plain as can be."""
    graphs = [template(op.partial(position)) for position in range(len(op.names))]
    names: tuple[str, ...] = (*op.names, "out")
    companions = not {name for graph in graphs for name in graph.inputs} <= {*names}
    if companions:
        names = slots(op)
    rules = [(part_of(graph, names), gated(op, at)) for at, graph in enumerate(graphs)]
    return tuple(rules), companions


def record(graph: Graph, wrt: Iterable[int]) -> Tape:
    """The tape of a graph for the inputs to differentiate.

    No local derivative is computed for an operand that depends on none of them.
    """
    active = dependents(graph, wrt)
    rows = {kind: row(BY_NAME[kind]) for kind in {*graph.kinds} - {INPUT, CONST}}
    stated = [part for rules, _ in rows.values() for part, _ in rules]
    constants = sorted({0.0, 1.0, *[part for part in stated if isinstance(part, float)]})
    cell = {constant: len(graph) + index for index, constant in enumerate(constants)}
    edges, gates, steps = walked(graph, active, rows, cell)
    certain = not any(gates)
    # Adding a double to -0.0 gives that double, even where it is a zero.
    start: list[float | None] = [None] * len(graph)
    if certain:
        for operand in edges.operands:
            start[operand] = -0.0
    start[graph.output] = 1.0
    suspects = None
    if any(BY_NAME[kind].special for kind in rows):
        from exprgrad.run.numbers.kink_screen import suspects as screened

        suspects = screened(graph, list(dict.fromkeys(edges.users)), active)
    passed: dict[int, int] = {}
    visits = Visits([], [], [], [], [])
    if certain:
        rest, passed = shortened(edges, len(graph), cell[1.0])
        visits = Visits(*map(close, paired(rest, len(graph), cell[0.0])))
    return Tape(
        graph,
        active,
        [*start, 0.0],
        Edges(*[array("q", numbers) if certain else close(numbers) for numbers in edges]),
        None if certain else gates,
        visits,
        (close(passed), close(passed.values())),
        constants,
        [step for step, _ in steps],
        [slope for _, slope in steps],
        suspects,
    )


def walked(
    graph: Graph, active: Sequence[int], rows: Mapping[str, RowRules], cell: Mapping[float, int]
) -> tuple[Edges, bytearray, list[tuple[LocalStep, Slope]]]:
    """The active edges in the order of the visits, which of them are gated, and what has to be computed.

    ``cell`` says where the constants stand; what the steps find comes behind them.
    """
    users: list[int] = []
    operands: list[int] = []
    sources: list[int] = []
    gates = bytearray()
    steps: list[tuple[LocalStep, Slope]] = []
    first_step = len(graph) + len(cell)
    varying: Sequence[int] = ()
    reached = bytearray(len(graph))
    reached[graph.output] = 1
    for node in range(graph.output, -1, -1):
        mine = graph.operands[node]
        if not (mine and reached[node] and active[node]):
            continue
        rules, companions = rows[graph.kinds[node]]
        views: Iterable[tuple[int, ...]] = repeat((*mine, node))
        if companions:
            varying = varying or dependents(graph, graph.inputs.values())
            varies = [cell[float(varying[operand])] for operand in mine]
            rules, views = accompanied(graph, node, rules, varies, steps, first_step)
        edges = zip(mine, views, rules, strict=False)
        for position, (operand, view, (part, gate)) in enumerate(edges):
            if not active[operand]:
                continue
            if isinstance(part, int):
                source = view[part]
            elif isinstance(part, float):
                source = cell[part]
            else:
                source = first_step + len(steps)
                steps.append(((part, itemgetter(*view)), (graph.kinds[node], position)))
            users.append(node)
            operands.append(operand)
            sources.append(source)
            gates.append(gate)
            reached[operand] = 1
    return Edges(users, operands, sources), gates, steps


def accompanied(
    graph: Graph,
    node: int,
    rules: tuple[LocalRule, ...],
    varies: Sequence[int],
    steps: list[tuple[LocalStep, Slope]],
    first_step: int,
) -> tuple[tuple[LocalRule, ...], Iterable[tuple[int, ...]]]:
    """The rules of a node that see more than values, and the cells that each of them sees.

    ``varies`` are the cells that say which operands vary; a variadic row's ties are a step of their own.
    """
    op, operands = BY_NAME[graph.kinds[node]], graph.operands[node]
    view = (*operands, node, *varies)
    if not op.variadic:
        return rules, repeat(view)
    tied = first_step + len(steps)
    steps.append(((partial(ties, op), itemgetter(*view)), (op.name, TIES)))
    seen = [(operand, node, v, tied) for operand, v in zip(operands, varies, strict=True)]
    return rules * len(operands), seen


def shortened(edges: Edges, size: int, one: int) -> tuple[Edges, dict[int, int]]:
    """The edges that take a product or a sum, and the nodes whose grad is another's, by node.

    Where the local derivative is ``one`` and nothing else arrives, the grad is the user's.
    """
    arrivals = [0] * size
    for operand in edges.operands:
        arrivals[operand] += 1
    passed: dict[int, int] = {}
    users: list[int] = []
    operands: list[int] = []
    sources: list[int] = []
    for user, operand, source in zip(*edges, strict=True):
        user = passed.get(user, user)
        if source == one and arrivals[operand] == 1:
            passed[operand] = user
        else:
            users.append(user)
            operands.append(operand)
            sources.append(source)
    return Edges(users, operands, sources), passed


def paired(edges: Edges, nobody: int, zero: int) -> Visits:
    """The edges two by two, as far as they are of one grad; the rest with what stands for no edge."""
    users, firsts, first_sources, seconds, second_sources = found = Visits([], [], [], [], [])
    alone = -1
    for user, operand, source in zip(*edges, strict=True):
        if user == alone:
            seconds[-1], second_sources[-1] = operand, source
            alone = -1
        else:
            users.append(user)
            firsts.append(operand)
            first_sources.append(source)
            seconds.append(nobody)
            second_sources.append(zero)
            alone = user
    return found


def ties(op: Op, values: Sequence[float]) -> Any:
    """A variadic row's ties, from its operands, ``out``, and which of them vary."""
    count = len(values) // 2
    return sides(op, values[: count + 1], values[count + 1 :])[0][-1]


# In reverse: the sweep.


class Adjoints:
    """What a reverse sweep finds.

    ``active``  by node: whether it depends on a differentiated input
    ``grads``   by node; None for a node that no gradient reached
    """

    beside: tuple[str, ...] = ()

    def __init__(self, tape: Tape, grads: list[Any], cells: list[float]) -> None:
        self.tape = tape
        self.grads = grads
        self.cells = cells
        self.active: bytearray = tape.active

    @property
    def quiet(self) -> bool:
        """Whether no node meets a kink or a jump: quicker than to ask which."""
        suspects = self.tape.suspects
        return suspects is None or suspects.quiet(self.cells)

    @cached_property
    def met(self) -> dict[int, list[tuple[Special, Any]]]:
        """By node, in the order of the visits: the kinks and jumps it meets, each with True: it holds."""
        return {} if self.tape.suspects is None else self.tape.suspects.meets(self.cells)

    @cached_property
    def locals(self) -> list[Any]:
        """By node: the local derivatives; None for a node that passed nothing on."""
        tape, cells = self.tape, self.cells
        found: list[Any] = [None] * len(tape.graph)
        sources = iter(tape.edges.sources)
        for user in dict.fromkeys(tape.edges.users):
            operands = tape.graph.operands[user]
            local = [cells[next(sources)] if self.active[o] else None for o in operands]
            if self.grads[user] is not None:
                found[user] = tuple(local)
        return found

    def zero(self, node: int) -> float:
        """The grad of a node that no gradient reached."""
        return 0.0

    def ends(self, user: int, operand: int) -> None:
        """Over numbers an edge's ends have no shapes to speak of."""

    def passed(self, user: int) -> Iterator[tuple[int, float, float]]:
        """A node's active edges: position, local derivative and contribution."""
        locals_, grad = self.locals[user], self.grads[user]
        if locals_ is None or grad is None:
            return
        op = BY_NAME[self.tape.graph.kinds[user]]
        for position, local in enumerate(locals_):
            if local is not None:
                closed = local == 0 and gated(op, position)
                yield position, local, 0.0 if closed else grad * local


def reverse(graph: Graph, values: Sequence[float], wrt: Iterable[int]) -> Adjoints:
    """Every node's grad, given every node's data; ``wrt`` are the inputs to differentiate."""
    return play(record(graph, wrt), values)


def play(tape: Tape, values: Sequence[float]) -> Adjoints:
    """Pass each node's grad on to its operands, edge by edge in the order of the visits."""
    cells = [*values, *tape.constants]
    for function, pick in tape.steps:
        cells.append(function(pick(cells)))
    grads: list[Any] = tape.start.copy()
    if tape.gated is None:
        for user, first, source, second, second_source in zip(*tape.visits, strict=True):
            grad = grads[user]
            grads[first] += grad * cells[source]
            grads[second] += grad * cells[second_source]
        for node, other in zip(*tape.passed, strict=True):
            grads[node] = grads[other]
    else:
        for user, operand, source, gated in zip(*tape.edges, tape.gated, strict=True):
            grad, local = grads[user], cells[source]
            if grad is not None and not (gated and local == 0):
                before = grads[operand]
                grads[operand] = grad * local if before is None else before + grad * local
    grads.pop()
    return Adjoints(tape, grads, cells)
