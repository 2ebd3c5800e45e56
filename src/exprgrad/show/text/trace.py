"""The reverse sweep as a lesson: the seed, each visit, each contribution, and the count of the work.

Over numbers the whole trace has common columns; over tensors each contribution stands in matrix form, shape
by shape.  Sweeps in another order are drawn in the same columns.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, repeat
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

from exprgrad.derive.rules import operation_count
from exprgrad.explain.diagnostics import DiagnosedRun
from exprgrad.graph.graph import CONST, INPUT, shape_size
from exprgrad.graph.ops import BY_NAME
from exprgrad.language.write.infix import ATOM, SUM, operand_level, operation_text
from exprgrad.run.edge_texts import (
    PASSED,
    EdgeTexts,
    contribution_texts,
    label_in_parentheses,
    rule_of,
)
from exprgrad.run.numbers.sweeps import is_gated_edge
from exprgrad.show.documents.runs import jacobian_bytes
from exprgrad.show.text.lines import (
    FULL,
    INDENT,
    VIEWS,
    WHOLE_VIEW,
    YELLOW,
    View,
    align_columns,
    cell_width,
    color_text,
    decimal_text,
    elide_items,
    first_that_fits,
    fit_line,
    pack_pieces,
    signed_number,
    true_minus,
    value_text,
)
from exprgrad.show.text.nodes import correction_notes, gate_of_kind, is_zero_derivative, node_title
from exprgrad.show.text.table import Column, Table
from exprgrad.source import bytes_text, cut_text, printable_text

if TYPE_CHECKING:
    from exprgrad.graph.calls import ClosedCall

__all__ = [
    "Names", "Passed", "Visit", "define_node", "definition_lines", "lay_out_in_columns", "name_in_trace",
    "trace_names", "trace_parts", "trace_text",
]  # fmt: skip

LONGEST_IN_COLUMN, LONGEST_FORMULA = 40, 60
"""The most characters of a definition or a formula: in a column, and where it has more room."""
LONGEST_UNNAMED = 12
"""A node without a name whose text is longer is called by its number; one that broadcasts, if 4 longer."""
LONGEST_CALL_NAME = 24
"""The longest text of a call's result that is its name: that text was written."""
NOTHING = "passes nothing on"
CHANGING = View(20, ends=False)
"""The view of a grad that is about to change."""
BEHIND = View(80)
"""The view of a grad after a formula."""

Names = Mapping[int, str]


class Passed(NamedTuple):
    """A contribution: what a visit passes to one operand.

    ``local``   the local derivative; None among tensors, where it is not even diagonal
    ``seed``    the node's own grad
    ``before``, ``after``  the operand's grad; without ``after`` nothing is passed on
    ``remark``  a remark, such as that the grad is complete
    ``sign``    what the contribution does to the grad
    """

    position: int
    operand: int
    local: Any
    seed: Any
    before: Any
    after: Any
    remark: str = ""
    sign: str = "+="


class Visit(NamedTuple):
    """A visit, or another line of the trace: the node, and what it passes on, or else why it does not.

    ``call`` says whether it is that of a whole call.
    """

    node: int
    words: str = ""
    grad: Any = None
    parts: Sequence[Passed | str] = ()
    verb: str = "visit"
    call: bool = False


def trace_text(
    run: DiagnosedRun,
    digits: int = 6,
    *,
    all_visits: bool = False,
    width: int | None = None,
    color: bool = False,
) -> str:
    """The whole trace as text; a long one shows its first and last visits.

    Where it would not fit ``width`` cells, its pieces stand under each other.  ``color`` marks the grads
    for a terminal.
    """
    taken: list[int] = []
    shown = visits_to_show(run, taken, whole=all_visits)
    if run.graph.shapes:
        wording = IN_PIECES._replace(views=(WHOLE_VIEW,)) if all_visits else IN_PIECES
        lines = lay_out_in_pieces(visit_entries(run, shown, digits, wording, color=color), width)
        end = tensor_work_lines(run, taken, width)
    else:
        lines = lay_out_in_columns(run, shown, digits, width, color=color)
        end = work_lines(run)
    told = definition_lines(run, lines, width)
    return "\n".join([*told, *lines, "", *end, *correction_notes(run.guarded(digits), digits)])


# Visits.


def visits_to_show(run: DiagnosedRun, taken: list[int], *, whole: bool) -> Iterator[Visit | str]:
    """The seed and the visits that are shown, one at a time, and a line for those left out.

    Appends to ``taken`` the bytes of every Jacobian worth mentioning.
    """
    output, seed = run.graph.output, run.grad(run.graph.output)
    order: Sequence[int] = run.order
    if run.closed:
        seen = {*run.shown}
        order = [node for node in order if node in seen]
    yield Visit(output, grad=1.0 if seed is None else seed, verb="seed")
    yield from elide_items(
        sweep_visits(run, order, taken, whole=whole), len(order), "visits", whole=whole
    )


def sweep_visits(
    run: DiagnosedRun, order: Iterable[int], taken: list[int], *, whole: bool
) -> Iterator[Visit]:
    """The visits of the sweep, in order; grads are held only while others are added to them."""
    assert run.adjoints is not None
    edges = (
        zip(run.adjoints.locals[node] or (), run.graph.operands[node], strict=False)
        for node in run.order
    )
    awaited = Counter(operand for local, operand in chain(*edges) if local is not None)
    sofar: dict[int, Any] = {}
    for node in order:
        words = idle_reason(run, node)
        if words:
            is_input = run.graph.kinds[node] == INPUT
            yield Visit(node, words, run.grad(node) if is_input else None)
            continue
        closed = run.closed.get(node)
        parts = []
        inside = [node] if closed is None else filter(run.passed, closed.inside)
        for inner in inside:
            passed = [*visit_contributions(run, inner, sofar, awaited)]
            taken += [jacobian_size(run, inner, part) for part in passed if part.after is not None]
            parts += passed
        if closed is not None:
            parts = [*call_contributions(run, closed, parts)]
        shown = [*elide_items(parts, len(parts), "contributions", whole=whole)]
        yield Visit(node, parts=shown, call=closed is not None)


def call_contributions(
    run: DiagnosedRun, closed: ClosedCall, parts: Iterable[Passed]
) -> Iterator[Passed]:
    """The contributions of a call to its operands, given those of the nodes in it."""
    slopes, seed = run.slopes(closed), run.grad(closed.call.result)
    by_operand: dict[int, list[Passed]] = {operand: [] for operand in closed.operands}
    for part in parts:
        if part.operand in by_operand:
            by_operand[part.operand].append(part)
    for position, (operand, mine) in enumerate(by_operand.items()):
        if not run.adjoints or not run.adjoints.active[operand]:
            continue
        added = [part for part in mine if part.after is not None]
        before, after = (added[0].before, added[-1].after) if added else (None, None)
        remark = mine[-1].remark if mine else ""
        yield Passed(position, operand, slopes.get(operand, 0.0), seed, before, after, remark)


def idle_reason(run: DiagnosedRun, node: int) -> str:
    """The reason why a visit passes nothing on; empty for one that does."""
    kind, grad = run.graph.kinds[node], run.grad(node)
    if kind == INPUT:
        return "an input" if grad is not None else "an input, not differentiated"
    if kind == CONST:
        return "a constant"
    if run.passed(node):
        return ""
    if grad is None or run.adjoints is None or not run.adjoints.active[node]:
        return "depends on no differentiated input"
    return "no gradient reached it, so none goes on"


def visit_contributions(
    run: DiagnosedRun, node: int, sofar: dict[int, Any], awaited: Counter[int]
) -> Iterator[Passed]:
    """A visit's contributions; updates ``sofar``, the grads up to here, and ``awaited``."""
    assert run.adjoints is not None
    graph, seed = run.graph, run.grad(node)
    passed = {position: found for position, *found in run.adjoints.passed(node)}
    for position, operand in enumerate(graph.operands[node]):
        if not run.adjoints.active[operand]:
            continue
        awaited[operand] -= 1
        is_last = not awaited[operand]
        remark = "complete" if is_last and graph.kinds[operand] == INPUT else ""
        local, contribution = passed.get(position, (0.0, None))
        op = BY_NAME.get(graph.kinds[node])
        is_closed = op is not None and is_gated_edge(op, position) and is_zero_derivative(local)
        if contribution is None or is_closed:
            yield Passed(position, operand, local, seed, None, None, remark)
            continue
        before = sofar.pop(operand, None)
        after = contribution if before is None else before + contribution
        if not is_last:
            sofar[operand] = after
        yield Passed(position, operand, local, seed, before, after, remark)


# Names.


def trace_names(run: DiagnosedRun) -> Names:
    """The nodes' names, and ``#7`` for a node that has none and whose text, or call, is long."""
    names = {}
    for node, text in enumerate(run.texts):
        if len(text) > LONGEST_UNNAMED:
            names[node] = f"#{node}"
    for node in run.graph.implicit:
        text = node_title(run, node)
        names[node] = text if len(text) <= LONGEST_UNNAMED + 4 else f"#{node}"
    names |= run.names
    calls = run.names.keys() - run.graph.names().keys() if run.graph.calls else ()
    return names | {node: f"#{node}" for node in calls if len(names[node]) > LONGEST_CALL_NAME}


def name_in_trace(run: DiagnosedRun, node: int, names: Names) -> str:
    """A node's name in the trace."""
    return printable_text(names.get(node, run.texts[node]))


def define_node(run: DiagnosedRun, node: int, names: Names, limit: int = LONGEST_IN_COLUMN) -> str:
    """A node as one operation on its operands: ``f = e * c``, or ``tanh(n)`` where it has no name."""
    graph, own = run.graph, names.get(node)
    if node in graph.implicit:
        text = node_title(run, node)
        own = None if own == text else own
    elif node in run.closed:
        text = cut_text(run.closed[node].call.label, limit)
        own = None if own == text else own
    else:
        operands = [
            (names[o], ATOM) if o in names else (run.texts[o], operand_level(graph, o, names))
            for o in graph.operands[node]
        ]
        settings, kind = graph.payloads[node], graph.kinds[node]
        text = operation_text(kind, operands, spaced=True, limit=limit, settings=settings)
    return printable_text(f"{own} = {text}" if own else text)


def definition_lines(run: DiagnosedRun, lines: Sequence[str], width: int | None) -> list[str]:
    """Lines that define the nodes which ``lines`` refer to by number, operands first; shown above them."""
    numbered = {int(number) for line in lines for number in re.findall(r"#([0-9]+)", line)}
    names = run.names | {node: f"#{node}" for node in numbered} | run.graph.names()
    told = [
        define_node(run, node, names)
        if run.graph.operands[node]
        else printable_text(f"#{node} = {run.texts[node]}")
        for node in sorted(numbered)
    ]
    return [*(part for line in told for part in fit_line(line, width)), *[""] * bool(told)]


# Lines.


class TraceLine(NamedTuple):
    """A contribution as it is written.

    ``formula``  ``x1 += 0.5 × w1``; among tensors in matrix form: ``W.grad += X.T @ Y.grad``
    ``more``     the same in numbers; or in shapes: ``(4, 3) += (4, 150) @ (150, 3)``
    ``grads``    the operand's grad before and after, in ever fewer words
    ``remark``   ``complete``, or nothing
    ``notes``    what its local derivative is called, and how large the Jacobian would have been
    """

    formula: str
    more: str
    grads: Sequence[str]
    remark: str
    notes: Sequence[str] = ()

    @property
    def cells(self) -> list[str]:
        """The cells of its columns."""
        return [self.formula, self.more, self.grads[0], self.remark]


class Entry(NamedTuple):
    """A visit as it is written; a line is a contribution, or stands for those left out.

    ``head``   the verb, the node, and its gate, or why it passes nothing on
    ``grads``  its own grad, in ever fewer words
    """

    head: tuple[str, str, str]
    grads: Sequence[str]
    lines: Sequence[TraceLine | str]


class Wording(NamedTuple):
    """The style in which visits are written.

    ``views``   how much is shown of a node's own grad
    ``limit``   where a definition is cut, in characters
    ``seeded``  what the node is called that has the seed
    ``lines``   the contributions of a visit
    """

    views: Sequence[View]
    limit: int
    seeded: Callable[[DiagnosedRun, int, Names], str]
    lines: Callable[..., Iterator[TraceLine | str]]


def visit_entries(
    run: DiagnosedRun, shown: Iterable[Visit | str], digits: int, wording: Wording, *, color: bool
) -> Iterator[Entry | str]:
    """Visits as they are written, each with its contributions."""
    names = trace_names(run)
    for visit in shown:
        if isinstance(visit, str):
            yield visit
            continue
        if visit.parts:
            gate = "" if visit.call else gate_of_kind(run.graph.kinds[visit.node])
            head = visit.verb, define_node(run, visit.node, names, wording.limit), gate
        else:
            named = wording.seeded if visit.verb == "seed" else name_in_trace
            head = visit.verb, named(run, visit.node, names), visit.words
        grads = [""]
        if visit.grad is not None:
            grads = [
                true_minus(f"grad = {value_text(visit.grad, digits, how)}") for how in wording.views
            ]
        told = [color_text(grad, YELLOW if color else "") for grad in grads]
        lines = wording.lines(run, visit, names, digits, wording.views, color=color)
        yield Entry(head, told, [*lines])


# Numbers, in columns.


def lay_out_in_columns(
    run: DiagnosedRun, shown: Iterable[Visit | str], digits: int, width: int | None, *, color: bool
) -> list[str]:
    """Visits line by line, their columns under each other.

    Where they do not fit, each contribution has a line of its own under its visit.
    """
    entries = [*visit_entries(run, shown, digits, IN_COLUMNS, color=color)]
    lines = align_columns([*visit_rows(entries)])
    if width is None or max(map(cell_width, lines)) <= width:
        return lines
    return [*stack_visits(entries, width)]


def trace_parts(run: DiagnosedRun, digits: int) -> Iterator[str | Table]:
    """The trace of a run of numbers as a table, with the lines above and below it."""
    shown = visits_to_show(run, [], whole=False)
    entries = [*visit_entries(run, shown, digits, IN_COLUMNS, color=False)]
    headings = ("", "node", "passes on", "", "grad", "", "gate")
    blank = [""] * (len(headings) - 1)
    rows = [[row, *blank] if isinstance(row, str) else row for row in visit_rows(entries)]
    yield "\n".join(definition_lines(run, [" ".join(row) for row in rows], None)).strip()
    below = [*work_lines(run), *correction_notes(run.guarded(digits), digits)]
    yield Table([*map(Column, headings)], rows, foot="\n".join(below))


def number_lines(
    run: DiagnosedRun,
    visit: Visit,
    names: Names,
    digits: int,
    views: Sequence[View],
    *,
    color: bool,
) -> Iterator[TraceLine | str]:
    """A visit's contributions as formulas and, where that says more, as numbers."""
    for part in visit.parts:
        if isinstance(part, str):
            yield part
            continue
        text, level = (
            (decimal_text(part.local, digits), ATOM)
            if visit.call
            else rule_of(run.graph, visit.node, part.position, names, run.texts)
        )
        rule = cut_text(true_minus(printable_text(text)), LONGEST_IN_COLUMN)
        factor = f"({rule})" if level <= SUM else rule
        local, seed = signed_number(part.local, digits), signed_number(part.seed or 0.0, digits)
        formula = f"{name_in_trace(run, part.operand, names)} {part.sign} {seed} × {factor}"
        numbers = "" if rule == local else f"= {seed} × {local}"
        change = NOTHING
        if part.after is not None:
            before, after = (
                signed_number(part.before or 0.0, digits),
                signed_number(part.after, digits),
            )
            change = color_text(f"grad {before} → {after}", YELLOW if color else "")
        yield TraceLine(formula, numbers, [change], part.remark)


IN_COLUMNS = Wording((FULL,), LONGEST_IN_COLUMN, name_in_trace, number_lines)
"""Over numbers."""


def visit_rows(entries: Iterable[Entry | str]) -> Iterator[Sequence[str] | str]:
    """Visits as the rows of one table: a contribution a row, the first one beside its node."""
    for entry in entries:
        if isinstance(entry, str):
            yield entry
        elif not entry.lines:
            yield [*entry.head, "", *entry.grads, "", ""]
        else:
            heads = chain([entry.head], repeat(("", "", "")))
            for (verb, node, gate), line in zip(heads, entry.lines, strict=False):
                yield line if isinstance(line, str) else [verb, node, *line.cells, gate]


def stack_visits(entries: Sequence[Entry | str], width: int) -> Iterator[str]:
    """Visits with each contribution on a line of its own, or on two, as narrow as they can be."""

    def halves(line: TraceLine) -> tuple[str, str]:
        formula, grad = f"{INDENT}{line.formula} {line.more}", f"{line.grads[0]}  {line.remark}"
        return formula.rstrip(), grad.rstrip()

    visits = [entry for entry in entries if isinstance(entry, Entry)]
    pairs = [
        halves(line) for visit in visits for line in visit.lines if isinstance(line, TraceLine)
    ]
    widest, widest_grad = (
        max(map(cell_width, half)) for half in zip(*(pairs or [("", "")]), strict=True)
    )
    if widest + 3 + widest_grad > width:
        widest = 0
    for entry in entries:
        if isinstance(entry, str):
            yield entry
            continue
        yield "  ".join(filter(None, [*entry.head, *entry.grads]))
        for line in entry.lines:
            formula, grad = (line, "") if isinstance(line, str) else halves(line)
            whole = f"{formula}{' ' * (widest - cell_width(formula))}   {grad}".rstrip()
            yield from (
                [whole] if cell_width(whole) <= width or not grad else [formula, f"      {grad}"]
            )


def work_lines(run: DiagnosedRun) -> list[str]:
    """The operations of the two sweeps, counted with the local derivatives as they are shown."""
    assert run.adjoints is not None
    shown = [
        BY_NAME[run.graph.kinds[node]].display_partial(position)
        for node in run.order
        for position, factor in enumerate(run.adjoints.locals[node] or ())
        if factor is not None
    ]
    edges, local = len(shown), sum(map(operation_count, shown))
    return [
        forward_work(run),
        f"reverse sweep  {2 * edges + local:,} operations: {edges:,} ×, {edges:,} +, "
        f"{local:,} in local derivatives",
    ]


def forward_work(run: DiagnosedRun) -> str:
    """The operations of the forward sweep over numbers, counted; a difference is one of the +."""
    graph = run.graph
    signs = Counter(BY_NAME[graph.kinds[n]].infix for n, own in enumerate(graph.operands) if own)
    count, times, plus = signs.total(), signs["*"], signs["+"] + signs["-"]
    rest = count - times - plus
    return (
        f"forward sweep  {count:,} operation{'s' * (count != 1)}: {times:,} ×, {plus:,} +, "
        f"{rest:,} other{'s' * (rest != 1)}"
    )


# Tensors, piece by piece.


def lay_out_in_pieces(entries: Iterable[Entry | str], width: int | None) -> list[str]:
    """Visits, each contribution in columns of its visit, or piece by piece where those do not fit."""
    found: list[str] = []
    for entry in entries:
        found += [entry] if isinstance(entry, str) else visit_pieces(entry, width)
    return found


def visit_pieces(entry: Entry, width: int | None) -> Iterator[str]:
    """A visit and its contributions: in columns, or each in as few lines as its pieces fit."""
    verb, node, words = entry.head
    room = inf if width is None else width
    own = first_that_fits(entry.grads, room - len(INDENT))
    yield from pack_pieces([f"{verb:<5}  {node}", words, own], width, "")
    rows = [line if isinstance(line, str) else line.cells for line in entry.lines]
    whole = [INDENT + line for line in align_columns(rows, "   ")]
    fit = max(map(cell_width, whole), default=0) <= room
    for line, text in zip(entry.lines, whole, strict=True):
        if isinstance(line, str):
            yield text
            continue
        if fit:
            yield text
        else:
            grad = first_that_fits(line.grads[1:] or line.grads, room - 2 * len(INDENT))
            yield from pack_pieces([line.formula], width, INDENT)
            yield from pack_pieces([line.more, grad, line.remark], width, INDENT * 2)
        yield from pack_pieces(line.notes, width, INDENT * 2)


def grouped_name(run: DiagnosedRun, node: int, names: Names) -> str:
    """A node's label before ``.grad``: in parentheses if it is more than a name."""
    return label_in_parentheses(run, node, partial(name_in_trace, run, names=names))


def tensor_lines(
    run: DiagnosedRun,
    visit: Visit,
    names: Names,
    digits: int,
    views: Sequence[View],
    *,
    color: bool,
) -> Iterator[TraceLine | str]:
    """A visit's contributions in matrix form, with their shapes, grads and notes."""
    if not visit.parts:
        return
    name = partial(name_in_trace, run, names=names)
    seed = f"{grouped_name(run, visit.node, names)}.grad"
    if not visit.call:
        texts = contribution_texts(run, visit.node, name, seed)
        rules = contribution_texts(run, visit.node, name, PASSED)
    behind = BEHIND if len(views) > 1 else views[0]
    for part in visit.parts:
        if isinstance(part, str):
            yield part
            continue
        target = f"{grouped_name(run, part.operand, names)}.grad"
        if part.after is None:
            yield TraceLine(f"{target} += 0", "", [NOTHING], part.remark)
            continue
        text = (
            EdgeTexts(f"{seed}, through the call", "", "") if visit.call else texts[part.position]
        )
        rows, columns = run.graph.shape(visit.node), run.graph.shape(part.operand)
        shapes = f"{columns} += {text.shapes}" if text.shapes and (rows or columns) else ""
        before = "0" if part.before is None else value_text(part.before, digits, CHANGING)
        grads = [
            f"grad {before} → {value_text(part.after, digits, how)}" for how in (behind, *views)
        ]
        told = [color_text(true_minus(grad), YELLOW if color else "") for grad in grads]
        formula = f"{target} += {cut_text(printable_text(text.passed), LONGEST_FORMULA)}"
        notes: list[str] = []
        if not visit.call and (taken := jacobian_size(run, visit.node, part)):
            rule = rules[part.position]
            sizes = f"{shape_size(rows):,} × {shape_size(columns):,}"
            notes = [
                f"local derivative {true_minus(printable_text(rule.local or rule.passed))}",
                f"Jacobian of {sizes} never formed: would be {bytes_text(taken)}",
            ]
        yield TraceLine(true_minus(formula), true_minus(shapes), told, part.remark, notes)


IN_PIECES = Wording(VIEWS, LONGEST_FORMULA, grouped_name, tensor_lines)
"""Over tensors."""


def jacobian_size(run: DiagnosedRun, user: int, part: Passed) -> int:
    """The bytes of an edge's whole Jacobian, if it is worth mentioning; else 0.

    It is not if it is a mere row, a column, or ones in a diagonal.
    """
    graph, op = run.graph, BY_NAME.get(run.graph.kinds[user])
    ends = graph.shape(user), graph.shape(part.operand)
    copies = op is not None and op.display_partial(part.position) in ("1", "-1")
    return jacobian_bytes(ends) if min(map(shape_size, ends)) > 1 and not copies else 0


def tensor_work_lines(run: DiagnosedRun, taken: Sequence[int], width: int | None) -> list[str]:
    """The work of the two sweeps; ``taken`` are the bytes of each contribution's Jacobian, or 0."""
    assert run.adjoints is not None
    active = [node for node in run.order if run.adjoints.active[node]]
    grads = sum(8 * shape_size(run.graph.shape(node)) for node in active)
    reverse = f"{len(taken):,} contribution{'s' * (len(taken) != 1)}"
    if taken:
        reverse += f": the grads take {bytes_text(grads)}"
    if any(taken):
        reverse += f"; Jacobians, never formed, would take {bytes_text(sum(taken))}"
    count = sum(map(bool, run.graph.operands))
    return [
        *pack_pieces(
            [f"forward sweep  {count:,} operation{'s' * (count != 1)} on tensors"], width, ""
        ),
        *pack_pieces([f"reverse sweep  {reverse}"], width, ""),
    ]
