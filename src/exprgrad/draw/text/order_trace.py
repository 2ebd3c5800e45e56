"""The trace of a reverse sweep in another order: what each visit passed on, and what came too late."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from exprgrad.draw.text.trace import (
    EDGE_VISITS,
    GAP,
    LONGEST_WHOLE,
    Line,
    Names,
    align,
    called,
    contribution,
    define,
    short_names,
    signed,
    stack,
)
from exprgrad.explain.walks.orders import Visited
from exprgrad.explain.walks.visits import Contribution
from exprgrad.graph.graph import CONST, INPUT
from exprgrad.graph.ops import BY_NAME
from exprgrad.run.result import Edge, Run
from exprgrad.source import display_width, printable

__all__ = ["order_trace"]


def order_trace(
    run: Run,
    found: Visited,
    digits: int = 6,
    *,
    whole: bool = False,
    width: int | None = None,
    color: bool = False,
) -> str:
    """The visits of an order as text, in the columns of ``trace``; of many the first and the last."""
    names = short_names(run)
    by_visit: dict[int, list[Contribution]] = {}
    for passed in found.contributions:
        by_visit.setdefault(passed.visit, []).append(passed)
    lines = [Line("seed", called(run, run.graph.output, names), grad="grad = 1")]
    count = len(found.order)
    for at, node in enumerate(found.order):
        if not whole and count > LONGEST_WHOLE and EDGE_VISITS <= at < count - EDGE_VISITS:
            if at == EDGE_VISITS:
                left_out = f"{count - 2 * EDGE_VISITS:,} visits left out; --all shows them"
                lines.append(Line(GAP, left_out))
            continue
        block = list(visit_lines(run, found, node, by_visit.get(at, ()), names, digits))
        if not whole and len(block) > LONGEST_WHOLE:
            skipped = f"{len(block) - 2 * EDGE_VISITS:,} contributions left out; --all shows them"
            block[EDGE_VISITS:-EDGE_VISITS] = [Line(GAP, skipped)]
        lines += block
    unread = [name for name, at in found.reads.items() if at is None]
    shown = unread if whole else unread[:LONGEST_WHOLE]
    for name in shown:
        grad = f"grad = {signed(found.inputs[name].got, digits)}"
        lines.append(Line("read", printable(name), "an input, at the end", grad=grad))
    if len(shown) < len(unread):
        left_out = f"{len(unread) - len(shown):,} inputs left out; --all shows them"
        lines.append(Line(GAP, left_out))
    text = align(lines, color=color)
    if width is not None and max(map(display_width, align(lines, color=False))) > width:
        text = stack(lines, width, color=color)
    return "\n".join(text)


def visit_lines(
    run: Run,
    found: Visited,
    node: int,
    contributions: Sequence[Contribution],
    names: Names,
    digits: int,
) -> Iterator[Line]:
    """The lines of one visit."""
    graph, web = run.graph, found.web
    kind, name = graph.kinds[node], called(run, node, names)
    if kind == INPUT:
        read = found.inputs.get(str(graph.payloads[node]))
        if read is None:
            yield Line("visit", name, "an input, not differentiated")
        else:
            yield Line("visit", name, "an input, read", grad=f"grad = {signed(read.got, digits)}")
        return
    if kind == CONST:
        yield Line("visit", name, "a constant")
        return
    verb, definition, gate = "visit", define(run, node, names), BY_NAME[kind].gate
    if not contributions:
        yield Line(verb, name, "passes nothing on")
    for passed in contributions:
        user, operand = web.users[passed.edge], web.operands[passed.edge]
        edge = Edge(
            user, web.positions[passed.edge], operand, "", web.locals[passed.edge], passed.value, (0, 0)
        )  # fmt: skip
        sign = "=" if found.accumulate == "set" else "+="
        formula, numbers = contribution(run, edge, passed.grad, names, digits, sign)
        grad = f"grad {signed(passed.before, digits)} → {signed(passed.after, digits)}"
        late = "read" if graph.kinds[operand] == INPUT else "visited"
        remark = f"too late: {called(run, operand, names)} was {late}" if passed.late else ""
        if passed.replaced is not None:
            remark = f"overwrites {called(run, web.users[passed.replaced], names)}'s"
        yield Line(verb, definition, formula, numbers, grad, remark, gate)
        verb = definition = gate = ""
