"""Derivatives and roots inside a formula: the language's placeholders become nodes.

A derivative is made by the sweeps that make every derivative, over the nodes between its body and its
variable and no others, so that a long chain of steps, each with a derivative of its own, takes linear time.
A root becomes one operation, of what its equation reads and of where the search starts (``search.py``): the
nodes that depend on the unknown are the row's, all others are computed once, beside it.  So it has a row of
the op table, made when the equation is met, and everything follows from that as from any other row: its
local derivatives are the implicit function theorem's, -g_p/g_E for a residual g that is 0 at E, in terms of
the operands and of ``out``, so that derivatives of any order are right.
"""

from __future__ import annotations

import sys
from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import count
from math import nan
from typing import cast
from zlib import crc32

from exprgrad.derive.build import GraphBuilder
from exprgrad.derive.rules import Rule, computed, rule_slots, shown, template
from exprgrad.derive.search import OUT, apply_text
from exprgrad.derive.simplify.formula import simplify_program
from exprgrad.derive.simplify.orders import high_order_derivative
from exprgrad.derive.sweeps.gradient import gradient
from exprgrad.derive.sweeps.walks import (
    PARAMETER,
    Edge,
    SweepSource,
    pull_back,
    push_forward,
)
from exprgrad.derive.switches import row_requirements
from exprgrad.errors import LanguageError
from exprgrad.graph.calls import propagate_down_calls
from exprgrad.graph.graph import (
    CONST,
    INPUT,
    PLACEHOLDERS,
    Call,
    Graph,
    copy_node,
    dependency_flags,
    dependent_flags,
    transform_graph,
)
from exprgrad.graph.op import Equation, NonsmoothPoint, Op
from exprgrad.graph.ops import BY_NAME, COMPARISONS, EQUATIONS, is_root
from exprgrad.language.write.infix import COMPARISON, Piece, expression_pieces, name_shared
from exprgrad.language.write.infix import program_text as infix
from exprgrad.source import Source as Text
from exprgrad.source import Span, cut_text

__all__ = ["resolve_placeholders", "root_row"]

MANY_NODES = 1000
"""The nodes from which on a derivative of higher order is made as polynomials, if possible."""
VISITS_FOR_A_NODE = 16
"""The visits that take as long as one node of a formula made by polynomials."""
DEEPEST_ROOTS = 3
"""The deepest nesting of roots: each is searched again at every step of the one around it."""
LONGEST_CALL = 60
"""The longest text of a call, in characters."""
UNKNOWN = "unknown"
WRITTEN = {"derivative": "d", "root": "root"}
"""The words that users write."""


def resolve_placeholders(graph: Graph, text: str, rule: Rule = computed) -> Graph:
    """Replace a text's placeholders by nodes of its derivatives, by some rules, and roots.

    Raises ``LanguageError``, with the place, for a derivative with respect to no name, and for
    an invalid equation.
    """
    maker = PlaceholderResolver(graph, text)
    maker.source.rule = rule
    made, images = transform_graph(graph, maker.rule, into=maker.made)
    made.origins = {}
    used = dependency_flags(graph, graph.output)
    made.mentioned |= {binding.name for binding in graph.bindings if used[binding.node]}
    made.called = {
        images[node]: at
        for node, at in graph.called.items()
        if graph.kinds[node] not in PLACEHOLDERS
    }
    for call, inside in maker.calls:  # after those that the text has
        made.called.update(dict.fromkeys(inside, len(made.calls)))
        made.calls.append(call)
    named = [binding.node for binding in made.bindings]
    kept = dependency_flags(made, made.output, *named, *made.inputs.values())
    bends = [
        node for call in made.calls if call.result >= 0 and kept[call.result] for node in call.bends
    ]
    kept = dependency_flags(made, made.output, *named, *made.inputs.values(), *bends)

    def argument(_: Graph, node: int, again: Sequence[int]) -> int | None:
        """A parameter is what it was given."""
        return again[made.operands[node][0]] if made.kinds[node] == PARAMETER else None

    found = transform_graph(made, argument, wanted=kept)[0]
    drop_idle_calls(found)
    count_enclosed(found)
    return found


class GrowingSource(SweepSource):
    """A graph to which derivatives are appended: every node is its own image."""

    def __init__(self, builder: GraphBuilder) -> None:
        self.builder, self.graph, self.rule = builder, builder.graph, computed
        self.image = cast("list[int]", range(sys.maxsize))
        self.varying = bytearray()

    def edges(self, user: int, active: Container[int]) -> list[Edge]:
        """Return a node's edges to active operands; a parameter passes everything on."""
        if self.graph.kinds[user] != PARAMETER:
            return super().edges(user, active)
        (operand,) = self.graph.operands[user]
        return [(operand, self.builder.constant(1.0), False)] if operand in active else []

    def grow(self) -> None:
        """Flag which of the new nodes vary."""
        graph = self.graph
        for node in range(len(self.varying), len(graph)):
            varies = graph.kinds[node] in (INPUT, PARAMETER, UNKNOWN)
            self.varying.append(varies or any(self.varying[o] for o in graph.operands[node]))


class PlaceholderResolver:
    """Resolves the placeholders of a graph into nodes of ``made``, which holds the nodes before them."""

    def __init__(self, graph: Graph, text: str) -> None:
        self.graph, self.text = graph, text
        self.made = Graph(budget=graph.budget)
        self.builder = GraphBuilder(self.made)
        self.source = GrowingSource(self.builder)
        self.named = {binding.node for binding in graph.bindings}
        self.calls: list[tuple[Call, range]] = []
        self.bends: tuple[int, ...] = ()
        self.visits = 0

    def rule(self, made: Graph, node: int, images: Sequence[int]) -> int | None:
        """Replace a node: a placeholder is resolved, any other node is copied."""
        kind = self.graph.kinds[node]
        if kind not in WRITTEN:
            return None
        before = len(made)
        operands = [images[operand] for operand in self.graph.operands[node]]
        make = self.derivative if kind == "derivative" else self.root
        result = make(node, operands)
        if result >= before:
            made.starts[result], made.ends[result] = self.graph.span(node)
        self.call(node, operands, result, range(before, len(made)))
        return result

    # Derivatives.

    def derivative(self, node: int, operands: Sequence[int]) -> int:
        """Derive a node with respect to another: in reverse, and forward from the second order on."""
        body, variable = operands
        self.check_variable(node)
        (order,) = cast("tuple[int]", self.graph.payloads[node])
        builder, before, derived, most = self.builder, len(self.made), body, MANY_NODES
        builder.known.clear()
        builder.span = self.graph.span(node)
        one, turns = builder.constant(1.0), {body: 0}
        for turn in range(1, order + 1):
            between = self.between(node, derived, variable)
            if turn > 1:
                found = push_forward(self.source, {variable: one}, between).get(derived)
            else:
                self.bends = self.bent(between)
                found = pull_back(self.source, {body: one}, {variable}, {*between}).get(variable)
            if found is None:
                return builder.constant(0.0)
            if found in turns:  # as of exp(x) or sin(x), whose derivatives return
                first = turns[found]
                return [*turns][first + (order - turn) % (turn - first)]
            derived = found
            turns[found] = turn
            if turn > 1 and len(self.made) - before > most:
                self.made.budget.refuse_beyond(order, "orders", self.graph.span(node))
                found = self.polynomial(body, self.between(node, body, variable), order)
                if found is not None:
                    return found
                most = sys.maxsize
        return derived

    def polynomial(self, body: int, between: Sequence[int], order: int) -> int | None:
        """Derive a high order by polynomials; None if they can't."""
        residual, params = self.residual(body, between)
        formula = high_order_derivative(residual, OUT, order)
        if formula is None:
            return None
        self.visits += VISITS_FOR_A_NODE * len(formula)
        values = dict(zip(residual.inputs, (between[0], *params), strict=True))
        found = GraphBuilder(self.made, typed=True).include(formula, values)[formula.output]
        return found if self.source.rule is shown else self.within_domains(found, between)

    def within_domains(self, found: int, between: Iterable[int]) -> int:
        """Restrict a derivative made as a formula to the domains of its operations: log(x) at -1 is nan."""
        builder, made = self.builder, self.made
        for node in between:
            op = BY_NAME.get(made.kinds[node])
            if op is not None and op.domain and not op.infix and "inf" not in op.domain:
                given = dict(zip(op.names, made.operands[node], strict=True))
                inside = apply_text(builder, op.domain, given)
                found = builder.apply("where", inside, found, builder.constant(nan))
        return found

    def between(self, node: int, body: int, variable: int) -> list[int]:
        """Return the nodes between a variable and a body, ascending."""
        self.source.grow()
        seen, todo = {body}, [body]
        while todo:
            for operand in self.made.operands[todo.pop()]:
                if operand >= variable and operand not in seen:
                    seen.add(operand)
                    todo.append(operand)
        self.visits += len(seen)
        self.made.budget.refuse_beyond(self.visits, "visits", self.graph.span(node))
        if variable not in seen:
            return []
        found = {variable}
        for other in sorted(seen):
            if not found.isdisjoint(self.made.operands[other]):
                found.add(other)
        self.refuse_tensors(node, found - {variable})
        return sorted(found)

    def bent(self, between: Sequence[int]) -> tuple[int, ...]:
        """Return the nodes that may have a kink or a jump as the nodes ``between`` move."""
        made, moving = self.made, bytearray(len(self.made))
        for node in between:
            moving[node] = made.kinds[node] not in COMPARISONS
        rows = [(node, BY_NAME.get(made.kinds[node])) for node in between[1:]]
        return tuple(
            node
            for node, op in rows
            if op is not None and op.special and row_requirements(made, node, op, moving) != []
        )

    def check_variable(self, node: int) -> None:
        """Raise ``LanguageError`` unless the variable of a derivative is a name, and can vary."""
        graph = self.graph
        variable = graph.operands[node][1]
        if graph.kinds[variable] in (INPUT, PARAMETER, UNKNOWN) or variable in self.named:
            return
        span = graph.occurrence(node, 1)
        written = cut_text(self.text[slice(*span)], LONGEST_CALL)
        if graph.kinds[variable] == CONST:
            message = (
                f"d needs a name to differentiate with respect to, and {written} is a constant"
            )
            help = "such as d(x^2, x); the order comes third: d(x^2, x, 2)"
        else:
            message = f"d needs a name to differentiate with respect to, not {written}"
            help = f"give it a name first: u = {written}; d(…, u)"
        raise self.error("not-a-name", message, span, help)

    # Roots.

    def root(self, node: int, operands: Sequence[int]) -> int:
        """Build the operation that finds a root: its operands are what the equation reads, and the ends."""
        body, unknown, *ends = operands
        name = self.unknown(node, str(self.made.payloads[unknown]))
        between = self.between(node, body, unknown)
        if not between:
            raise self.error(
                "no-unknown",
                f"the equation does not depend on its unknown, {name}",
                self.graph.occurrence(node, 0),
                f"root(…, {name}, …) is the {name} at which the formula is 0: write {name} in it",
            )
        residual, params = self.residual(body, between)
        if root_nesting_depth(residual) >= DEEPEST_ROOTS:
            raise self.error(
                "too-deep",
                f"roots can be nested {DEEPEST_ROOTS} deep at most",
                self.graph.span(node),
                "each is searched for again at every step of the one around it",
            )
        names = [f"p{at}" for at in range(len(params))]
        op = root_row(name, residual, names, is_bracketed=len(ends) == 2)
        places = [self.graph.occurrence(node, 2 + at) for at in range(len(ends))]
        return self.made.append(
            op.name, (*params, *ends), None, self.graph.span(node), (*params.values(), *places)
        )

    def unknown(self, node: int, name: str) -> str:
        """Return a name for an unknown that nothing else in its equation has."""
        graph = self.graph
        taken = {*graph.inputs, *(bound.name for bound in graph.bindings if bound.node < node)}
        while name in taken:
            name += "_"
        return name

    def residual(self, body: int, between: Sequence[int]) -> tuple[Graph, dict[int, Span]]:
        """Return the residual as a graph of the unknown and its parameters, and the parameters' spans."""
        made, residual = self.made, Graph(budget=self.graph.budget)
        unknown, *rest = between
        place = {unknown: residual.append(INPUT, (), OUT, (0, 0))}
        residual.inputs[OUT] = place[unknown]
        params: dict[int, Span] = {}
        for node in rest:
            for position, operand in enumerate(made.operands[node]):
                if operand in place:
                    continue
                if made.kinds[operand] == CONST:
                    place[operand] = copy_node(residual, made, operand, ())
                    continue
                name = f"p{len(params)}"
                place[operand] = residual.append(INPUT, (), name, (0, 0))
                residual.inputs[name] = place[operand]
                params[operand] = made.occurrence(node, position)
            if made.kinds[node] == PARAMETER:
                place[node] = place[made.operands[node][0]]
            else:
                operands = tuple([place[operand] for operand in made.operands[node]])
                place[node] = copy_node(residual, made, node, operands)
        residual.output = place[body]
        return residual, params

    # Calls, and what is wrong.

    def call(self, node: int, operands: Sequence[int], result: int, inside: range) -> None:
        """Record a call, and the nodes that it made."""
        graph, span = self.graph, self.graph.span(node)
        kind, parent = graph.kinds[node], graph.called.get(node, -1)
        text = cut_text(" ".join(self.text[slice(*span)].split()), LONGEST_CALL)
        given = tuple(operands[1:2]) if kind == "derivative" else self.made.operands[result]
        call = Call(kind, WRITTEN[kind], text, span, parent, given, result, bends=self.bends)
        self.bends = ()
        self.calls.append((call, inside))

    def refuse_tensors(self, node: int, between: Iterable[int]) -> None:
        """Raise ``LanguageError`` if something between a body and its variable is about tensors."""
        made = self.made
        for inner in sorted(between):
            if made.kinds[inner] != PARAMETER and made.kinds[inner] not in BY_NAME:
                word = WRITTEN[self.graph.kinds[node]]
                raise self.error(
                    "no-tensors",
                    f"{word} is for formulas of numbers, and this is an operation on tensors",
                    made.span(inner),
                    "inside of a formula derivatives are of numbers; grad and jac have those of tensors",
                )

    def error(self, code: str, message: str, span: Span, help: str) -> LanguageError:
        """Return an error with its place."""
        return LanguageError(code, message, source=Text(self.text), span=span, help=help)


def drop_idle_calls(graph: Graph) -> None:
    """Drop the calls whose results are not needed any more; other nodes go to the calls around them."""
    live = [at for at, call in enumerate(graph.calls) if call.result >= 0]
    numbers = {at: place for place, at in enumerate(live)}
    places = propagate_down_calls(graph.calls, lambda at, above: numbers.get(at, above))
    kept: list[Call] = []
    for at in live:
        call = graph.calls[at]
        operands, bends = (
            tuple([node for node in nodes if node >= 0]) for nodes in (call.operands, call.bends)
        )
        kept.append(call._replace(parent=places[call.parent], operands=operands, bends=bends))
    graph.calls = kept
    graph.called = {node: places[at] for node, at in graph.called.items() if places[at] >= 0}


def count_enclosed(graph: Graph) -> None:
    """Assign nodes that only a derivative or a root reads to it."""
    calls, called = graph.calls, graph.called
    results = {call.result: at for at, call in enumerate(calls) if call.kind in WRITTEN}
    named = {*graph.inputs.values(), *(binding.node for binding in graph.bindings)}
    readers: list[set[int]] = [set() for _ in graph.kinds]
    for at, call in enumerate(calls):
        for node in call.bends:
            readers[node].add(at)
    for node in range(len(graph) - 1, -1, -1):
        if (
            node in results
            and node not in named
            and called.get(node, -1) == calls[results[node]].parent
        ):
            called[node] = results[node]
        mine = called.get(node, -1)
        inner = mine >= 0 and calls[mine].result == node
        around = calls[mine].parent if inner else mine
        found: set[int] = set()  # the calls directly inside of that around which hold the readers
        for reader in readers[node]:
            while reader >= 0 and calls[reader].parent != around:
                reader = calls[reader].parent
            found.add(reader)
        if node not in named and node != graph.output and len(found) == 1:
            whole = found.pop()
            if whole >= 0 and calls[whole].kind in WRITTEN:
                if inner:
                    calls[mine] = calls[mine]._replace(parent=whole)
                else:
                    called[node] = whole
        for operand in graph.operands[node]:
            readers[operand].add(called.get(node, -1))


# The rows of roots.


NO_BOUND = 2.0**52
"""The stated bound of a root, in ulps: none, for it depends on the equation."""
MOST_PIECES = 5_000
"""The longest pattern; a root with a longer equation is written in short."""
LONGEST_SIMPLIFIED = 100
"""The most operations for which the derivatives are simplified."""


def root_row(unknown: str, residual: Graph, params: Sequence[str], *, is_bracketed: bool) -> Op:
    """Make the row of a root: where a residual, a graph of ``out`` and of ``params``, is 0.

    Its operands are the parameters, then the ends or the start.  The row is in ``BY_NAME`` from now on.
    """
    operands = " ".join([*params, *(("low", "high") if is_bracketed else ("start",))])
    text = graph_as_rule_text(residual)
    key = f"{unknown} {operands}: {text}"
    for number in count(crc32(key.encode())):
        name = f"root_{number:08x}"
        op = BY_NAME.get(name)
        if op is None:
            break
        if (op.equation and f"{op.equation.unknown} {op.operands}: {op.equation.residual}") == key:
            return op
    wrt = [*params, OUT]
    (slope, *partials), (real, *people) = (
        root_derivative_texts(residual, wrt, rule) for rule in (computed, shown)
    )
    none = ["0"] * (1 + is_bracketed)
    names = {node: unknown if name == OUT else name for name, node in residual.inputs.items()}
    said = equation_pieces(residual, names, {})
    op = Op(
        name,
        operands,
        (*partials, *none),
        f"the {unknown} at which {''.join(map(str, said))} is 0",
        display_partials=(*people, *none),
        latex=r"\operatorname{root}",
        special=equation_nonsmooth_points(residual),
        value_ulp=NO_BOUND,
        partial_ulp=NO_BOUND,
        equation=Equation(
            unknown,
            text,
            slope,
            real,
            is_bracketed,
            root_pattern(unknown, residual, operands.split()),
        ),
    )
    BY_NAME[name] = op
    return op


def root_pattern(unknown: str, residual: Graph, operands: Sequence[str]) -> tuple[Piece, ...]:
    """Return the pattern to write a root: ``root(E - e*sin(E) - M, E, 1)``."""
    ends = [at for at, name in enumerate(operands) if name not in residual.inputs]
    given = {node: operands.index(name) for name, node in residual.inputs.items() if name != OUT}
    searched = [piece for end in ends for piece in (", ", (end, COMPARISON))]
    equation = equation_pieces(residual, {residual.inputs[OUT]: unknown}, given)
    return ("root(", *equation, f", {unknown}", *searched, ")")


def equation_pieces(
    residual: Graph, names: Mapping[int, str], given: Mapping[int, int]
) -> list[Piece]:
    """Split an equation into pieces of text and operands."""
    sizes: list[int] = []
    for operands in residual.operands:
        sizes.append(1 + sum(sizes[operand] for operand in operands))
    if sizes[residual.output] > MOST_PIECES:
        return ["…"]
    return [*expression_pieces(residual, residual.output, names, None, given)]


def root_nesting_depth(residual: Graph) -> int:
    """Return the nesting depth of roots in an equation."""
    rows = [BY_NAME[kind].equation for kind in {*residual.kinds} if kind in BY_NAME]
    return max(
        (1 + root_nesting_depth(template(row.residual)) for row in rows if row is not None),
        default=0,
    )


def root_derivative_texts(residual: Graph, wrt: Sequence[str], rule: Rule) -> list[str]:
    """Write the residual's derivative with respect to the unknown, and the root's by each parameter.

    The unknown is the last of ``wrt``.  By the implicit function theorem the latter is -g_p/g_E.
    """
    read = [name for name in wrt if name in residual.inputs]
    found = gradient(residual, read, rule)
    builder = GraphBuilder(typed=rule is shown)
    images = builder.include(found.graph)
    by = dict(zip(read, found.outputs[1:], strict=True))
    zero = builder.constant(0.0)
    *partials, slope = (images[by[name]] if name in by else zero for name in wrt)
    ratios = [
        zero
        if builder.value(node) == 0
        else builder.apply("div", builder.apply("neg", node), slope)
        for node in partials
    ]
    program = builder.program([slope, *ratios])
    if rule is shown and len(program.graph) <= LONGEST_SIMPLIFIED:
        program = simplify_program(program, residual)
    return [graph_as_rule_text(program.graph, output) for output in program.outputs]


def equation_nonsmooth_points(residual: Graph) -> tuple[NonsmoothPoint, ...]:
    """Return an equation's kinks and jumps, from its operations' rows, without their sides."""
    builder, varying = GraphBuilder(), dependent_flags(residual, residual.inputs.values())
    images = builder.include(residual)
    met: dict[str, list[int]] = {"kink": [], "jump": []}
    for node, kind in enumerate(residual.kinds):
        op, operands = BY_NAME.get(kind), residual.operands[node]
        if op is None or not varying[node]:
            continue
        flags = [float(varying[operand]) for operand in operands]
        seen = [images[operand] for operand in operands]
        for special in op.special:
            met[special.code] += nonsmooth_conditions(
                builder, op, special, seen, images[node], flags
            )
    reasons = {"kink": "its equation has one", "jump": "its equation jumps"}
    found = {
        code: graph_as_rule_text(builder.graph, builder.total(met[code]))
        for code in met
        if met[code]
    }
    return tuple(
        [
            NonsmoothPoint(where, code, reasons[code], slope="nan", undecided="1")
            for code, where in found.items()
        ]
    )


def nonsmooth_conditions(
    builder: GraphBuilder,
    op: Op,
    special: NonsmoothPoint,
    seen: Sequence[int],
    out: int,
    moves: Sequence[float],
) -> list[int]:
    """Build nodes that tell whether an operation is at a kink or a jump; none where it never is.

    ``seen`` are its operands, ``out`` its result, and ``moves`` are 1 for the operands that move, else 0.
    """
    if op.name in COMPARISONS and seen[0] == seen[1]:
        return []  # a node never parts from itself
    if op.variadic:  # at two operands that are the greatest, or the least
        equal = [builder.apply("eq", x, out) for x in seen]
        ties = builder.total(equal)
        return [builder.apply("gt", ties, builder.constant(1.0))]
    flags = [builder.constant(flag) for flag in moves]
    given = dict(zip(rule_slots(op), [*seen, out, *flags], strict=True))
    found = apply_text(builder, special.where, given)
    return [] if builder.value(found) == 0 else [found]


def graph_as_rule_text(graph: Graph, output: int | None = None) -> str:
    """Write a graph as a text of the table, with statements for parts used twice.

    The rows of its roots become known to the language.
    """
    builder = GraphBuilder(plain=True)
    node = builder.include(graph)[graph.output if output is None else output]
    alone = builder.program([node]).graph
    alone.inputs = {name: at for name, at in alone.inputs.items() if name in graph.inputs}
    name_shared(alone)
    for kind in {*alone.kinds}:
        if is_root(kind):
            EQUATIONS[kind] = BY_NAME[kind]
    return infix(alone, rows=True)
