"""Paths, and the outcome of an order of visits: for people, and as JSON and CSV."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from exprgrad.explain.diagnostics import DiagnosedRun
from exprgrad.explain.walks import Contribution, LostPath, Outcome, Path, Paths, VisitResult, Web
from exprgrad.graph.graph import CONST, INPUT, collect_by_key
from exprgrad.show.documents.document import Apart, Lines, csv_rows
from exprgrad.show.text.lines import (
    LONGEST_WHOLE,
    YELLOW,
    align_columns,
    break_line,
    cell_width,
    color_text,
    elide_items,
    first_and_last,
    fit_line,
    gap_line,
    pack_pieces,
    show_all_hint,
    signed_number,
)
from exprgrad.show.text.nodes import correction_line, correction_notes
from exprgrad.show.text.table import Column, Screen, Table, csv_column, make_table
from exprgrad.show.text.trace import (
    Names,
    Passed,
    Visit,
    define_node,
    definition_lines,
    lay_out_in_columns,
    name_in_trace,
    trace_names,
)
from exprgrad.source import printable_text

__all__ = [
    "contribution_rows", "count_words", "grads_table", "order_trace", "order_verdict", "path_csv_rows",
    "path_fields", "paths_table", "paths_text", "visit_order_field", "visit_order_parts",
]  # fmt: skip

ARROW = " → "
LONGEST_PATH = 8
"""A path of more nodes shows its first and last ones."""
ENDS_SHOWN = 3
MOST_EXPLAINED = 20
"""The most nodes without a name that are explained."""
MOST_DIGITS = 100
"""A count of more digits is rounded for people."""
LONGEST_ORDER = 24
"""The most visits that are named in one line."""
MOST_CLOBBERED = 20
"""The most overwritten contributions that are listed."""
FURTHER = "  "

PathFinder = Callable[[str], Paths]
"""The paths to an input: found when they are drawn, for those of many inputs may fill a memory."""


class PathLine(NamedTuple):
    """A line below an input: a number, what it is the number of, and a remark."""

    number: str
    what: str
    remark: str = ""


# Paths.


def paths_text(
    run: DiagnosedRun,
    ask: PathFinder,
    web: Web,
    every: int,
    digits: int,
    screen: Screen,
    *,
    whole: bool,
) -> str:
    """Each input with its paths; of many inputs the first and the last, unless ``whole``.

    ``every`` is the number of paths to all inputs, and ``web`` what they are paths of.
    """
    names, width, corrected = node_labels_in_paths(run), screen.width, run.corrected
    inputs = list(run.wrt or ())
    lines: list[str] = []
    for at in elide_items(range(len(inputs)), len(inputs), "inputs", whole=whole):
        if isinstance(at, str):
            lines += [at, ""]
            continue
        name, found = inputs[at], ask(inputs[at])
        told = f"gradient {signed_number(found.gradient, digits)}"
        if name in corrected:
            swept, true = (signed_number(number, digits) for number in corrected[name])
            told = f"by the sweep {swept}; the gradient is {true}"
        rows = path_rows(found, web, names, digits, whole=whole)
        lines += fit_line(f"{printable_text(name)}: {count_words(found.count)}, {told}", width)
        lines += [*path_lines(rows, screen), ""]
    lines += define_numbered_nodes(run, lines, width)
    return "\n".join([*lines, *fit_line(paths_foot(every, web), width)])


def paths_foot(every: int, web: Web) -> str:
    """The count of paths, and of the few nodes that were visited to know it."""
    nodes = f"{web.visited:,} node{'s' * (web.visited != 1)}"
    return f"{count_words(every)} in all; one sweep visited {nodes}"


def paths_table(run: DiagnosedRun, ask: PathFinder, web: Web, digits: int) -> Table:
    """The paths as a table, a line each; an input's first line has their count and their sum."""
    names, rows, every = node_labels_in_paths(run), [], 0
    for name in run.wrt or ():
        found = ask(name)
        every += found.count
        first = [
            printable_text(name),
            count_words(found.count, ""),
            signed_number(found.gradient, digits),
        ]
        for row in path_rows(found, web, names, digits, whole=False) or [PathLine("", "")]:
            rows.append([*first, *row])
            first = ["", "", ""]
    text = Column("path", flexible=True)
    numbers = [Column(name, is_number=True) for name in ("paths", "gradient", "product")]
    columns = [Column("input"), *numbers, text, Column("", style="dim")]
    shown, left_out = first_and_last(rows, whole=False)
    below = define_numbered_nodes(run, [cell for row in shown for cell in row], None)
    told = [correction_line("gradient", run.corrected, digits)] if run.corrected else []
    foot = "\n".join([*below, *told, paths_foot(every, web)])
    return Table(columns, shown, left_out, foot, what="lines")


def path_rows(
    found: Paths, web: Web, names: Sequence[str], digits: int, *, whole: bool
) -> list[PathLine]:
    """The listed paths to an input, and the sum of the others.

    A remark has the local derivatives along a path, where they are more than one and not too many.
    """
    pairs = [
        (path, "= " + " × ".join(signed_number(factor, digits) for factor in path.factors))
        if 1 < len(path.factors) < LONGEST_PATH
        else (path, "")
        for path in found.listed
    ]
    rows = path_rows_with_remarks(pairs, web, names, digits, whole=whole)
    others = found.count - len(found.listed)
    if others and found.listed:
        what = "the other path" if others == 1 else f"the {count_words(others, 'other')}"
        rows.append(PathLine(signed_number(found.rest, digits), what))
    return rows


def path_rows_with_remarks(
    pairs: Sequence[tuple[Path, str]], web: Web, names: Sequence[str], digits: int, *, whole: bool
) -> list[PathLine]:
    """Paths with their products, each with a remark.

    Paths with the same nodes, as in ``x*x``, are distinguished: ``x (operand 1)``.
    """
    alike = Counter(path.nodes for path, _ in pairs)
    return [
        PathLine(
            signed_number(path.product, digits),
            path_text(path, web if alike[path.nodes] > 1 else None, names, whole=whole),
            remark,
        )
        for path, remark in pairs
    ]


def path_lines(rows: Sequence[PathLine], screen: Screen) -> list[str]:
    """Rows with their columns under each other; where they do not fit, broken, remarks below."""
    padded = align_columns([[row.number] for row in rows], right=[0])
    numbers = [color_text(number, YELLOW if screen.color else "") for number in padded]
    table = [[number, *filter(None, row[1:])] for number, row in zip(numbers, rows, strict=True)]
    lines = [f"{FURTHER}{line}" for line in align_columns(table)]
    width = screen.width
    if width is None or max(map(cell_width, lines), default=0) <= width:
        return lines
    indent = " " * (len(FURTHER) + cell_width(numbers[0]) + 2)
    room = max(width - len(indent), 12)
    lines = []
    for number, row in zip(numbers, rows, strict=True):
        first, *more = [*break_line(row.what, room), *break_line(row.remark, room)]
        lines += [f"{FURTHER}{number}  {first}", *(indent + line for line in more)]
    return lines


def node_labels_in_paths(run: DiagnosedRun) -> list[str]:
    """Every node's label in a path."""
    names = trace_names(run)
    return [printable_text(names.get(node, text)) for node, text in enumerate(run.texts)]


def define_numbered_nodes(run: DiagnosedRun, lines: Sequence[str], width: int | None) -> list[str]:
    """Definitions of the nodes that some lines refer to by number."""
    called = {int(number) for line in lines for number in re.findall(r"#([0-9]+)", line)}
    if not called:
        return []
    names = trace_names(run)
    listed = sorted(called, reverse=True)
    pieces = [f"#{node} is {define_node(run, node, {**names, node: ''})}" for node in listed]
    if len(pieces) > MOST_EXPLAINED:
        pieces[MOST_EXPLAINED:] = ["…"]
    return [*pack_pieces([f"{piece}," for piece in pieces[:-1]] + pieces[-1:], width, ""), ""]


def path_text(path: Path, web: Web | None, names: Sequence[str], *, whole: bool) -> str:
    """The nodes of a path, a long one's first and last.

    Given a web, they come with the position of every operand that its user has twice.
    """
    nodes = [names[node] for node in path.nodes]
    for at, edge in enumerate(path.edges if web else (), 1):
        assert web is not None
        user, operand = path.nodes[at - 1 : at + 1]
        if sum(web.users[other] == user for other in web.above[operand]) > 1:
            nodes[at] += f" (operand {web.positions[edge] + 1})"
    if len(nodes) > LONGEST_PATH and not whole:
        nodes[ENDS_SHOWN:-ENDS_SHOWN] = [f"… {len(nodes) - 2 * ENDS_SHOWN:,} more …"]
    return ARROW.join(nodes)


def count_words(count: int, what: str = "path", *, exact: bool = True) -> str:
    """A count of paths, or of something else; exact up to a hundred digits, or up to six."""
    if count < 10 ** (MOST_DIGITS if exact else 6):
        shown = f"{count:,}"
    else:
        from decimal import Decimal

        shown = f"{Decimal(count):.5e}"
    return f"{shown} {what}{'s' * (count != 1)}" if what else shown


def path_fields(path: Path) -> dict[str, Any]:
    """A path as JSON has it."""
    return {"nodes": path.nodes, "product": path.product}


def path_csv_rows(run: DiagnosedRun, ask: PathFinder) -> Iterator[list[Any]]:
    """A path a line: of how many paths, the product, the nodes; the others of an input on one line."""
    yield ["input", "paths", "product", "nodes"]
    for name in run.wrt or ():
        found = ask(name)
        for path in found.listed:
            yield [name, 1, path.product, " ".join(map(str, path.nodes))]
        if found.count > len(found.listed):
            yield [name, found.count - len(found.listed), found.rest, None]


# Orders.


def visit_order_parts(
    run: DiagnosedRun,
    found: VisitResult,
    grads: Table,
    digits: int,
    screen: Screen,
    *,
    whole: bool,
) -> list[str | Table]:
    """The visits, a table of the grads that were read beside the true ones, and what went wrong."""
    names, width = node_labels_in_paths(run), screen.width
    visits = visit_order_text(run, found, names, whole=whole)
    parts: list[str | Table] = ["\n".join([*fit_line(visits, width), ""])]
    if not found.inputs:
        return [*parts, "no input is differentiated"]
    parts.append(grads)
    lines: list[str] = []
    for one in elide_items(found.inputs.items(), len(found.inputs), "inputs", whole=whole):
        if isinstance(one, str):
            lines += ["", one]
            continue
        name, part = one
        if part.is_wrong:
            lines += ["", *fit_line(f"{printable_text(name)}: {paths_verdict(part)}", width)]
            rows = miscounted_path_lines(run, found.web, part, names, digits, whole=whole)
            lines += path_lines(rows, screen)
            lines += fit_line(f"  {balance_line(part, digits)}", width)
    if found.accumulate == "set":
        for line in clobbered_lines(found, names, digits, whole=whole):
            lines += fit_line(line, width)
    lines += ["", *fit_line(order_verdict(found), width)]
    for line in correction_notes(run.guarded(digits), digits):
        lines += ["", *fit_line(line, width)]
    told = define_numbered_nodes(run, [visits, *lines], width)
    return [*parts, "\n".join([*lines, *([""] if told else []), *told[:-1]])]


def order_verdict(found: VisitResult) -> str:
    """Whether the grads are those of the right order, in words."""
    if not found.wrong:
        return "every path counts once: these are the grads of the right order"
    parts = found.inputs
    wrong = [
        printable_text(name)
        for name in found.wrong
        if repr(parts[name].got) != repr(parts[name].true)
    ]
    if not wrong:
        return "paths are not counted once, which makes no difference here: no grad is wrong"
    listed = ", ".join([*wrong[:LONGEST_WHOLE], *["…"] * (len(wrong) > LONGEST_WHOLE)])
    one = len(wrong) == 1
    return f"the grad{'s' * (not one)} of {listed} {'is' if one else 'are'} wrong"


def order_trace(
    run: DiagnosedRun, found: VisitResult, digits: int, screen: Screen, *, whole: bool
) -> str:
    """The visits of an order as text, in the columns of a trace; of many the first and the last."""
    passed = collect_by_key((one.visit, one) for one in found.contributions)
    names = trace_names(run)
    visits = (
        make_visit(run, found, node, passed.get(at, ()), names, whole=whole)
        for at, node in enumerate(found.order)
    )
    shown: list[Visit | str] = [Visit(run.graph.output, grad=1.0, verb="seed")]
    shown += elide_items(visits, len(found.order), "visits", whole=whole)
    unread = [name for name, at in found.reads.items() if at is None]
    for name in unread[: None if whole else LONGEST_WHOLE]:
        node, got = run.graph.inputs[name], found.inputs[name].got
        shown.append(Visit(node, "an input, at the end", got, verb="read"))
    if len(unread) > LONGEST_WHOLE and not whole:
        shown.append(gap_line(len(unread) - LONGEST_WHOLE, "inputs"))
    lines = lay_out_in_columns(run, shown, digits, screen.width, color=screen.color)
    return "\n".join([*definition_lines(run, lines, screen.width), *lines])


def make_visit(
    run: DiagnosedRun,
    found: VisitResult,
    node: int,
    contributions: Sequence[Contribution],
    names: Names,
    *,
    whole: bool,
) -> Visit:
    """One visit, with what it passed on."""
    kind = run.graph.kinds[node]
    if kind == INPUT:
        read = found.inputs.get(str(run.graph.payloads[node]))
        if read is None:
            return Visit(node, "an input, not differentiated")
        return Visit(node, "an input, read", read.got)
    if kind == CONST or not contributions:
        return Visit(node, "a constant" if kind == CONST else "passes nothing on")
    parts = [contribution_with_fate(run, found, passed, names) for passed in contributions]
    return Visit(node, parts=[*elide_items(parts, len(parts), "contributions", whole=whole)])


def contribution_with_fate(
    run: DiagnosedRun, found: VisitResult, passed: Contribution, names: Names
) -> Passed:
    """A contribution with its fate: counted, lost, or overwritten."""
    web = found.web
    operand, remark = web.operands[passed.edge], ""
    if passed.late:
        late = "read" if run.graph.kinds[operand] == INPUT else "visited"
        remark = f"too late: {name_in_trace(run, operand, names)} was {late}"
    if passed.replaced is not None:
        remark = f"overwrites {name_in_trace(run, web.users[passed.replaced], names)}'s"
    sign = "=" if found.accumulate == "set" else "+="
    numbers = web.locals[passed.edge], passed.grad, passed.before, passed.after
    return Passed(web.positions[passed.edge], operand, *numbers, remark, sign=sign)


def visit_order_text(
    run: DiagnosedRun, found: VisitResult, names: Sequence[str], *, whole: bool
) -> str:
    """The nodes that were visited, in order, constants aside."""
    listed = [names[node] for node in found.order if run.graph.kinds[node] != CONST]
    if len(listed) > LONGEST_ORDER and not whole:
        half = LONGEST_ORDER // 2
        listed[half:-half] = [f"… {len(listed) - 2 * half:,} more …"]
    rule = f"{found.rule} visits" if found.rule else "visits"
    sign = ", with = instead of +=" if found.accumulate == "set" else ""
    inputs = "; inputs pass nothing on, and are read last" if found.rule and listed else ""
    return f"{rule} {', '.join(listed) or 'nothing'}{sign}{inputs}"


def grads_table(found: VisitResult, digits: int, *, whole: bool) -> Table:
    """Each input's grad, its true grad, and how many paths counted, were lost, or were repeated."""
    parts = found.inputs
    number = partial(Column, is_number=True)
    columns = [
        Column("input", key="input", value=str, flexible=True),
        number("got", key="got", value=lambda name: parts[name].got, style="yellow"),
        number("true", key="true", value=lambda name: parts[name].true, style="green"),
        Column("paths", lambda name: paths_verdict(parts[name], exact=False), expendable=1),
        csv_column(key="counted", value=lambda name: parts[name].counted.count),
        csv_column(key="lost", value=lambda name: parts[name].lost.count),
        csv_column(key="lost_sum", value=lambda name: parts[name].lost.sum),
        csv_column(key="again", value=lambda name: parts[name].again.count),
        csv_column(key="again_sum", value=lambda name: parts[name].again.sum),
    ]
    return make_table(columns, [*parts], digits, whole=whole, what="inputs")


def paths_verdict(part: Outcome, *, exact: bool = True) -> str:
    """The verdict on an input's paths; large counts are rounded unless ``exact``."""
    if part.lost.count:
        every = part.lost.count + part.counted.count
        lost = count_words(part.lost.count, "", exact=exact)
        return f"lost {lost} of {count_words(every, exact=exact)}"
    if part.again.count:
        times = part.again.count + part.counted.count
        paths = count_words(part.counted.count, exact=exact)
        return f"counted {paths} {count_words(times, 'time', exact=exact)}"
    if not part.counted.count:
        return "no path"
    return "all count"


def miscounted_path_lines(
    run: DiagnosedRun, web: Web, part: Outcome, names: Sequence[str], digits: int, *, whole: bool
) -> list[PathLine]:
    """The paths that were lost or repeated, each with the reason, and what the others come to."""
    lost = [(one.path, lost_path_reason(run, one, names)) for one in part.listed]
    again = [(one.path, f"counted {count_words(one.times, 'time')}") for one in part.repeated]
    rows = path_rows_with_remarks(lost, web, names, digits, whole=whole)
    others = part.lost.count - len(part.listed)
    if others and part.listed:
        rows.append(
            PathLine(signed_number(part.rest, digits), f"{count_words(others, 'other')} lost")
        )
    return rows + path_rows_with_remarks(again, web, names, digits, whole=whole)


def lost_path_reason(run: DiagnosedRun, lost: LostPath, names: Sequence[str]) -> str:
    """The reason why a path was lost."""
    user, operand = (names[node] for node in lost.path.nodes[lost.at : lost.at + 2])
    if lost.why == "unvisited":
        return f"{names[lost.by]} was never visited"
    if lost.why == "overwritten":
        return f"overwritten at {operand} by {names[lost.by]}"
    seen = "visited" if run.graph.operands[lost.by] else "read"
    return f"{operand} was {seen} before {user}{' was visited' * (seen == 'read')}"


def balance_line(part: Outcome, digits: int) -> str:
    """The sum that shows where the difference went."""
    if part.again.count:
        true, again, got = (signed_number(x, digits) for x in (part.true, part.again.sum, part.got))
        return f"true {true} + counted again {again} = got {got}"
    lost, counted, true = (signed_number(x, digits) for x in (part.lost.sum, part.got, part.true))
    return f"lost {lost} + counted {counted} = true {true}"


def clobbered_lines(
    found: VisitResult, names: Sequence[str], digits: int, *, whole: bool
) -> Iterator[str]:
    """The contributions that overwrote others, a line each."""
    web, clobbered = found.web, found.clobbered
    if clobbered:
        yield ""
    shown = clobbered if whole else clobbered[:MOST_CLOBBERED]
    for passed in shown:
        user, operand = names[web.users[passed.edge]], names[web.operands[passed.edge]]
        assert passed.replaced is not None
        by = names[web.users[passed.replaced]]
        before, after = signed_number(passed.before, digits), signed_number(passed.value, digits)
        yield f"{operand} = {after} from {user} overwrote {before} from {by}"
    if len(shown) < len(clobbered):
        yield f"… {len(clobbered) - len(shown):,} more were overwritten; {show_all_hint()} them"


def visit_order_field(found: VisitResult) -> Apart:
    """The field ``visit_order`` of the JSON document."""
    web = found.web
    contributions = [
        {
            "visit": passed.visit,
            "user": web.users[passed.edge],
            "position": web.positions[passed.edge],
            "operand": web.operands[passed.edge],
            "grad": passed.grad,
            "contribution": passed.value,
            "before": passed.before,
            "after": passed.after,
            "late": passed.late,
            "replaced": None if passed.replaced is None else web.users[passed.replaced],
        }
        for passed in found.contributions
    ]
    inputs = {
        name: {
            "got": part.got,
            "true": part.true,
            "counted": {"paths": part.counted.count, "sum": part.counted.sum},
            "lost": {
                "paths": part.lost.count,
                "sum": part.lost.sum,
                "listed": [
                    {**path_fields(one.path), "at": one.at, "why": one.why, "by": one.by}
                    for one in part.listed
                ],
                "rest": part.rest,
            },
            "again": {
                "times": part.again.count,
                "sum": part.again.sum,
                "listed": [{**path_fields(path), "times": times} for path, times in part.repeated],
            },
        }
        for name, part in found.inputs.items()
    }
    rule = {"rule": found.rule, "accumulate": found.accumulate}
    return Apart({**rule, "contributions": contributions, "inputs": Lines(inputs.items(), "{}")})


def contribution_rows(run: DiagnosedRun, found: VisitResult) -> Iterator[list[Any]]:
    """The contributions in the order in which they were passed."""
    web = found.web
    columns = {
        "user": lambda passed: web.users[passed.edge],
        "position": lambda passed: web.positions[passed.edge],
        "operand": lambda passed: web.operands[passed.edge],
        "rule": lambda passed: run.rule(web.users[passed.edge], web.positions[passed.edge]),
        "local": lambda passed: web.locals[passed.edge],
        "contribution": lambda passed: passed.value,
        "before": lambda passed: passed.before,
        "after": lambda passed: passed.after,
        "late": lambda passed: int(passed.late),
    }
    return csv_rows(columns, found.contributions)
