"""What an order of visits got and lost, as people read it, and as JSON and CSV."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from exprgrad.draw.documents.document import csv_line, finite, text
from exprgrad.draw.text.paths import (
    Row,
    aligned,
    count_words,
    fitted,
    labels,
    legend,
    path_fields,
    path_texts,
    shown_inputs,
    whole_text,
)
from exprgrad.draw.text.table import Column, Table, corrections, decimal
from exprgrad.draw.text.trace import signed
from exprgrad.explain.walks.orders import Lost, Outcome, Part, Visited
from exprgrad.explain.walks.paths import Web
from exprgrad.graph.graph import CONST
from exprgrad.run.result import Run
from exprgrad.source import printable

__all__ = ["contributions_csv", "visit_order_field", "visited_csv", "visited_parts"]

LONGEST_ORDER = 24
"""How many visits are named in one line."""
MOST_CLOBBERED = 20
"""How many overwritten contributions are listed."""


def visited_parts(
    run: Run,
    found: Visited,
    digits: int = 6,
    *,
    whole: bool = False,
    width: int | None = None,
    color: bool = False,
) -> list[str | Table]:
    """The visits, a table of the grads that were read beside the true ones, and what went wrong."""
    names = labels(run)
    visits = visits_text(run, found, names, whole=whole)
    parts: list[str | Table] = ["\n".join([*fitted(visits, width), ""])]
    if not found.inputs:
        return [*parts, "no input is differentiated"]
    parts.append(grads_table(run, found, digits, whole=whole))
    lines: list[str] = []
    for name, part in shown_inputs(run, found.inputs.__getitem__, whole=whole):
        if part is None:
            lines += ["", name]
        elif part.is_wrong:
            lines += ["", *fitted(f"{printable(name)}: {verdict(part)}", width)]
            rows = [*lost_rows(run, found.web, part, names, digits, whole=whole)]
            lines += aligned(rows, width=width, color=color)
            lines += fitted(f"  {balance(part, digits)}", width)
    if found.accumulate == "set":
        for line in clobbered_lines(found, names, digits, whole=whole):
            lines += fitted(line, width)
    if not found.wrong:
        lines += ["", "every path counts once: these are the grads of the right order"]
    for line in corrections(run, digits):
        lines += ["", *fitted(line, width)]
    explained = legend(run, [visits, *lines], width)
    return [*parts, "\n".join([*lines, *([""] if explained else []), *explained[:-1]])]


def visits_text(run: Run, found: Visited, names: Sequence[str], *, whole: bool) -> str:
    """Which nodes were visited, in order, constants aside."""
    listed = [names[node] for node in found.order if run.graph.kinds[node] != CONST]
    if len(listed) > LONGEST_ORDER and not whole:
        half = LONGEST_ORDER // 2
        listed[half:-half] = [f"… {len(listed) - 2 * half:,} more …"]
    rule = f"{found.rule} visits" if found.rule else "visits"
    sign = ", with = instead of +=" if found.accumulate == "set" else ""
    return f"{rule} {', '.join(listed) or 'nothing'}{sign}"


def grads_table(run: Run, found: Visited, digits: int, *, whole: bool) -> Table:
    """What every input got, and its true grad."""
    columns = [
        Column("input", flexible=True),
        Column("got", is_number=True, style="yellow"),
        Column("true", is_number=True, style="green"),
        Column("paths", expendable=1),
    ]
    rows, left_out = [], 0
    for name, part in shown_inputs(run, found.inputs.__getitem__, whole=whole):
        if part is None:
            left_out = len(found.inputs)
            continue
        numbers = decimal(part.got, digits), decimal(part.true, digits)
        rows.append([printable(name), *numbers, verdict(part, exact=False)])
    return Table(columns, rows, left_out and left_out - len(rows), what="inputs")


def verdict(part: Outcome, *, exact: bool = True) -> str:
    """How many of an input's paths counted; many are rounded unless ``exact``."""
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


def lost_rows(
    run: Run, web: Web, part: Outcome, names: Sequence[str], digits: int, *, whole: bool
) -> Iterator[Row]:
    """The paths that were lost or repeated, each with the reason, and what the others come to."""
    texts = path_texts([lost.path for lost in part.listed], web, names, whole=whole)
    for lost, what in zip(part.listed, texts, strict=True):
        yield Row(signed(lost.path.product, digits), what, reason(run, lost, names))
    others = part.lost.count - len(part.listed)
    if others and part.listed:
        yield Row(signed(part.rest, digits), f"{count_words(others, 'other')} lost")
    texts = path_texts([repeated.path for repeated in part.repeated], web, names, whole=whole)
    for repeated, what in zip(part.repeated, texts, strict=True):
        remark = f"counted {count_words(repeated.times, 'time')}"
        yield Row(signed(repeated.path.product, digits), what, remark)


def reason(run: Run, lost: Lost, names: Sequence[str]) -> str:
    """Why a path was lost."""
    user, operand = (names[node] for node in lost.path.nodes[lost.at : lost.at + 2])
    if lost.why == "unvisited":
        return f"{names[lost.by]} was never visited"
    if lost.why == "overwritten":
        return f"overwritten at {operand} by {names[lost.by]}"
    seen = "visited" if run.graph.operands[lost.by] else "read"
    return f"{operand} was {seen} before {user}{' was visited' * (seen == 'read')}"


def balance(part: Outcome, digits: int) -> str:
    """The sum that shows where the difference went."""
    if part.again.count:
        true, again, got = (signed(x, digits) for x in (part.true, part.again.sum, part.got))
        return f"true {true} + counted again {again} = got {got}"
    lost, counted, true = (signed(x, digits) for x in (part.lost.sum, part.got, part.true))
    return f"lost {lost} + counted {counted} = true {true}"


def clobbered_lines(
    found: Visited, names: Sequence[str], digits: int, *, whole: bool
) -> Iterator[str]:
    """Which contribution overwrote which."""
    web, clobbered = found.web, found.clobbered
    if clobbered:
        yield ""
    shown = clobbered if whole else clobbered[:MOST_CLOBBERED]
    for passed in shown:
        user, operand = names[web.users[passed.edge]], names[web.operands[passed.edge]]
        assert passed.replaced is not None
        by = names[web.users[passed.replaced]]
        before, after = signed(passed.before, digits), signed(passed.value, digits)
        yield f"{operand} = {after} from {user} overwrote {before} from {by}"
    if len(shown) < len(clobbered):
        yield f"… {len(clobbered) - len(shown):,} more were overwritten; --all shows them"


# Documents.


def visit_order_field(found: Visited) -> str:
    """The field ``visit_order`` of the JSON document."""
    head = {
        "rule": found.rule,
        "accumulate": found.accumulate,
        "contributions": [
            {
                "visit": passed.visit,
                "user": found.web.users[passed.edge],
                "position": found.web.positions[passed.edge],
                "operand": found.web.operands[passed.edge],
                "grad": finite(passed.grad),
                "contribution": finite(passed.value),
                "before": finite(passed.before),
                "after": finite(passed.after),
                "late": passed.late,
                "replaced": None if passed.replaced is None else found.web.users[passed.replaced],
            }
            for passed in found.contributions
        ],
    }
    inputs = ",\n   ".join(
        f"{text(name)}: {outcome_field(part)}" for name, part in found.inputs.items()
    )
    return f'{text(head)[:-1]},\n  "inputs": {{\n   {inputs}}}}}'


def outcome_field(part: Outcome) -> str:
    """What became of one input."""
    lost = [
        {**path_fields(lost.path), "at": lost.at, "why": lost.why, "by": lost.by}
        for lost in part.listed
    ]
    again = [{**path_fields(path), "times": times} for path, times in part.repeated]
    return (
        f'{{"got": {text(finite(part.got))}, "true": {text(finite(part.true))}, '
        f'"counted": {part_field("paths", part.counted)}, '
        f'"lost": {part_field("paths", part.lost, lost, part.rest)}, '
        f'"again": {part_field("times", part.again, again)}}}'
    )


def part_field(
    counted: str, part: Part, listed: list[Any] | None = None, rest: float | None = None
) -> str:
    """A count, which may be longer than Python turns into text by itself, with its sum."""
    more = "" if listed is None else f', "listed": {text(listed)}'
    more += "" if rest is None else f', "rest": {text(finite(rest))}'
    return f'{{"{counted}": {whole_text(part.count)}, "sum": {text(finite(part.sum))}{more}}}'


def visited_csv(found: Visited) -> Iterator[str]:
    """An input a line: what it got, the true grad, and how many paths counted, were lost, and again."""
    yield csv_line(["input", "got", "true", "counted", "lost", "lost_sum", "again", "again_sum"])
    for name, part in found.inputs.items():
        yield csv_line(
            [name, part.got, part.true, whole_text(part.counted.count),
             whole_text(part.lost.count), part.lost.sum, whole_text(part.again.count), part.again.sum]
        )  # fmt: skip


def contributions_csv(run: Run, found: Visited) -> Iterator[str]:
    """The contributions in the order in which they were passed."""
    yield csv_line(
        ["user", "position", "operand", "rule", "local", "contribution", "before", "after", "late"]
    )
    web = found.web
    for passed in found.contributions:
        user, position = web.users[passed.edge], web.positions[passed.edge]
        rule, local = run.rule(user, position), web.locals[passed.edge]
        numbers = [local, passed.value, passed.before, passed.after, int(passed.late)]
        yield csv_line([user, position, web.operands[passed.edge], rule, *numbers])
