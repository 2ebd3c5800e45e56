"""The reverse sweep as a lesson: the seed, each visit, each contribution, and the count of the work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from exprgrad.derive.rules import operation_count
from exprgrad.draw.text.table import corrections, decimal, minus
from exprgrad.graph.graph import CONST, INPUT
from exprgrad.graph.ops import BY_NAME
from exprgrad.language.write.infix import SUM, label, operation_text
from exprgrad.run.numbers.tape import gated
from exprgrad.run.result import Edge, Run, rule_of
from exprgrad.source import cut, display_width, printable

__all__ = [
    "EDGE_VISITS", "GAP", "LONGEST_WHOLE", "Line", "Names", "align", "called", "contribution", "define",
    "short_names", "signed", "stack", "trace",
]  # fmt: skip

WIDEST = 40
"""Where a definition or a formula is cut, in characters."""
LONGEST_UNNAMED = 12
"""A node without a name whose text is longer is called by its number."""
EDGE_VISITS = 20
"""How many visits a long trace shows at each end."""
LONGEST_WHOLE = 60
"""The most visits that are shown whole."""
GAP = "…"


Names = Mapping[int, str]


class Line(NamedTuple):
    """One line of the trace, by columns."""

    verb: str = ""
    definition: str = ""
    formula: str = ""
    numbers: str = ""
    grad: str = ""
    complete: str = ""
    gate: str = ""


def trace(
    run: Run,
    digits: int = 6,
    *,
    all_visits: bool = False,
    width: int | None = None,
    color: bool = False,
) -> str:
    """The whole trace as text; a long one shows its first and last visits.

    Its columns stand under each other; where they would not fit ``width`` cells, each contribution
    has a line of its own under its visit.  ``color`` marks the grads for a terminal.
    """
    if run.shapes is not None:
        from exprgrad.draw.text.tensor_trace import tensor_trace

        return tensor_trace(run, digits, all_visits=all_visits, width=width, color=color)
    order = run.order
    shown = range(len(order))
    if not all_visits and len(order) > LONGEST_WHOLE:
        shown = range(EDGE_VISITS)
    names = short_names(run)
    lines = [Line("seed", called(run, run.graph.output, names), grad="grad = 1")]
    sofar: list[float | None] = [None] * len(run.graph)
    sofar[run.graph.output] = 1.0
    awaited = Counter(edge_operands(run))
    tail: list[Line] = []
    for position, node in enumerate(order):
        visible = position in shown or position >= len(order) - EDGE_VISITS
        block = list(visit(run, node, sofar, awaited, names, digits, visible=visible))
        if not all_visits and len(block) > LONGEST_WHOLE:
            skipped = f"{len(block) - 2 * EDGE_VISITS:,} contributions left out; --all shows them"
            block[EDGE_VISITS:-EDGE_VISITS] = [Line(GAP, skipped)]
        (lines if position in shown else tail).extend(block)
    if tail:
        left_out = len(order) - 2 * EDGE_VISITS
        lines += [Line(GAP, f"{left_out:,} visits left out; --all shows them"), *tail]
    text = align(lines, color=color)
    if width is not None and max(map(display_width, align(lines, color=False))) > width:
        text = stack(lines, width, color=color)
    return "\n".join([*text, "", *work(run), *corrections(run, digits)])


def edge_operands(run: Run) -> Iterator[int]:
    """The operand of every active edge."""
    assert run.adjoints is not None
    for node in run.order:
        for local, operand in zip(
            run.adjoints.locals[node] or (), run.graph.operands[node], strict=False
        ):
            if local is not None:
                yield operand


def visit(
    run: Run,
    node: int,
    sofar: list[float | None],
    awaited: Counter[int],
    names: Names,
    digits: int,
    *,
    visible: bool,
) -> Iterator[Line]:
    """The lines of one visit; ``sofar`` and ``awaited`` are brought up to date either way."""
    kind = run.graph.kinds[node]
    grad = run.grad(node)
    if kind in (INPUT, CONST) or not run.passed(node):
        if visible:
            yield idle(run, node, names, digits)
        return
    verb, definition = "visit", define(run, node, names)
    gate = BY_NAME[kind].gate
    for edge in run.edges_of(node):
        before = sofar[edge.operand] or 0.0
        after = before + edge.contribution
        sofar[edge.operand] = after
        awaited[edge.operand] -= 1
        if not visible:
            continue
        is_input = run.graph.kinds[edge.operand] == INPUT
        formula, numbers = contribution(run, edge, grad or 0.0, names, digits)
        yield Line(
            verb,
            definition,
            formula,
            numbers,
            grads(run, edge, before, after, digits),
            "complete" if is_input and not awaited[edge.operand] else "",
            gate,
        )
        verb = definition = gate = ""


def grads(run: Run, edge: Edge, before: float, after: float, digits: int) -> str:
    """What a contribution makes of its operand's grad."""
    if edge.local == 0 and gated(BY_NAME[run.graph.kinds[edge.user]], edge.position):
        return "passes nothing on"
    return f"grad {signed(before, digits)} → {signed(after, digits)}"


def idle(run: Run, node: int, names: Names, digits: int) -> Line:
    """A visit that passes nothing on."""
    kind, grad = run.graph.kinds[node], run.grad(node)
    who = called(run, node, names)
    if kind == INPUT:
        reads = "an input" if grad is not None else "an input, not differentiated"
        number = "" if grad is None else f"grad = {signed(grad, digits)}"
        return Line("visit", who, reads, grad=number)
    if kind == CONST:
        return Line("visit", who, "a constant")
    if grad is None or run.adjoints is None or not run.adjoints.active[node]:
        return Line("visit", who, "depends on no differentiated input")
    return Line("visit", who, "no gradient reached it, none goes on")


def contribution(
    run: Run, edge: Edge, grad: float, names: Names, digits: int, sign: str = "+="
) -> tuple[str, str]:
    """The contribution of an edge as formula and, where that says more, as numbers."""
    text, level = rule_of(run.graph, edge.user, edge.position, names, run.texts)
    rule = cut(minus(printable(text)), WIDEST)
    local, seed = signed(edge.local, digits), signed(grad, digits)
    numbers = "" if rule == local else f"= {seed} × {local}"
    factor = f"({rule})" if level <= SUM else rule
    return f"{called(run, edge.operand, names)} {sign} {seed} × {factor}", numbers


def define(run: Run, node: int, names: Names) -> str:
    """A node as one operation on its operands: ``f = e * c``, or ``tanh(n)`` where it has no name."""
    graph = run.graph
    operands = [label(graph, operand, names, run.texts) for operand in graph.operands[node]]
    text = operation_text(graph.kinds[node], operands, spaced=True, limit=WIDEST)
    own = names.get(node)
    return printable(f"{own} = {text}" if own else text)


def called(run: Run, node: int, names: Names) -> str:
    """What a node is called in the trace."""
    return printable(names.get(node, run.texts[node]))


def short_names(run: Run) -> Names:
    """The nodes' names, and ``#7`` for a node that has none and whose text is long."""
    texts = enumerate(run.texts)
    numbers = {node: f"#{node}" for node, text in texts if len(text) > LONGEST_UNNAMED}
    return numbers | run.names


def signed(value: float, digits: int) -> str:
    """A number with a true minus sign."""
    return minus(decimal(value, digits))


def painted(cell: str, *, color: bool) -> str:
    """What a terminal shows in the colour of grads."""
    return f"\x1b[33m{cell}\x1b[0m" if color and cell.startswith("grad ") else cell


def align(lines: Sequence[Line], *, color: bool) -> list[str]:
    """The lines with their columns under each other."""
    columned = [line for line in lines if line.verb != GAP]
    widths = [max(display_width(line[i]) for line in columned) for i in range(len(Line._fields))]

    def text(line: Line) -> str:
        shown = line._replace(grad=painted(line.grad, color=color))
        cells = zip(line, shown, widths, strict=True)
        padded = [s + " " * (width - display_width(c)) for c, s, width in cells if width]
        return "  ".join(padded).rstrip()

    return [" ".join(line[:2]) if line.verb == GAP else text(line) for line in lines]


def stack(lines: Sequence[Line], width: int, *, color: bool) -> list[str]:
    """The lines with each contribution under its visit, as narrow as they can be."""
    text: list[str] = []
    formulas = [f"    {line.formula} {line.numbers}".rstrip() for line in lines]
    widest = max((display_width(f) for f in formulas if "= " in f), default=0)
    widest_grad = max(display_width(f"{line.grad}  {line.complete}".rstrip()) for line in lines)
    if widest + 3 + widest_grad > width:
        widest = 0
    for line, formula in zip(lines, formulas, strict=True):
        shown = line._replace(grad=painted(line.grad, color=color))
        if line.verb == GAP or (not line.numbers and "= " not in line.formula):
            text.append("  ".join(filter(None, shown)))
            continue
        if line.verb:
            text.append("  ".join(filter(None, (line.verb, line.definition, line.gate))))
        padded = formula + " " * max(widest - display_width(formula), 0)
        fits = display_width(f"{padded}   {line.grad}  {line.complete}".rstrip()) <= width
        grad = f"{shown.grad}  {shown.complete}".rstrip()
        text += [f"{padded}   {grad}"] if fits else [formula, f"      {grad}"]
    return text


def work(run: Run) -> list[str]:
    """How many operations the two sweeps take, the local derivatives as they are shown."""
    graph, edges, local = run.graph, 0, 0
    assert run.adjoints is not None
    forward = sum(bool(operands) for operands in graph.operands)
    for node in run.order:
        for position, factor in enumerate(run.adjoints.locals[node] or ()):
            if factor is not None:
                edges += 1
                local += operation_count(BY_NAME[graph.kinds[node]].shown_partial(position))
    reverse = 2 * edges + local
    plural = "s" * (forward != 1)
    return [
        f"forward sweep  {forward:,} operation{plural}",
        f"reverse sweep  {reverse:,} operations: {edges:,} ×, {edges:,} +, "
        f"{local:,} in local derivatives",
    ]
