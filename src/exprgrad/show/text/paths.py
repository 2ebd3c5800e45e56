"""Paths as people read them, and as JSON and CSV."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from exprgrad.explain.diagnostic import Diagnostic
from exprgrad.explain.diagnostics import Run
from exprgrad.explain.walks.paths import Path, Paths, Web
from exprgrad.show.documents.answer import Answer, Lines, listed
from exprgrad.show.documents.runs import head_fields, node_fields
from exprgrad.show.text.lines import aligned, broken, cells, elided, fitted, in_yellow, packed
from exprgrad.show.text.table import Screen
from exprgrad.show.text.trace import define, short_names
from exprgrad.show.text.views import signed
from exprgrad.source import printable

__all__ = [
    "PathLine", "count_words", "explained", "labels", "path_fields", "path_lines", "path_texts",
    "paths_answer",
]  # fmt: skip

ARROW = " → "
LONGEST_PATH = 8
"""A path of more nodes shows its first and last ones."""
ENDS = 3
MOST_EXPLAINED = 20
"""How many nodes without a name are explained."""
MOST_DIGITS = 100
"""A count of more digits is rounded for people."""
FURTHER = "  "

Ask = Callable[[str], Paths]
"""The paths to an input: found when they are drawn, for those of many inputs may fill a memory."""


class PathLine(NamedTuple):
    """A line below an input: a number, what it is the number of, and a remark."""

    number: str
    what: str
    remark: str = ""


# Texts.


def paths_text(
    run: Run,
    ask: Ask,
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
    names, width, corrected = labels(run), screen.width, run.corrected
    inputs = list(run.wrt or ())
    lines: list[str] = []
    for at in elided(range(len(inputs)), len(inputs), "inputs", whole=whole):
        if isinstance(at, str):
            lines += [at, ""]
            continue
        name, found = inputs[at], ask(inputs[at])
        told = f"gradient {signed(found.gradient, digits)}"
        if name in corrected:
            swept, true = (signed(number, digits) for number in corrected[name])
            told = f"by the sweep {swept}; the gradient is {true}"
        rows = path_rows(found, web, names, digits, whole=whole)
        lines += fitted(f"{printable(name)}: {count_words(found.count)}, {told}", width)
        lines += [*path_lines(rows, screen), ""]
    lines += explained(run, lines, width)
    nodes = f"{web.visited:,} node{'s' * (web.visited != 1)}"
    foot = f"{count_words(every)} in all; one sweep visited {nodes}"
    return "\n".join([*lines, *fitted(foot, width)])


def path_rows(
    found: Paths, web: Web, names: Sequence[str], digits: int, *, whole: bool
) -> list[PathLine]:
    """The listed paths to an input, and what the others come to."""
    texts = path_texts(found.listed, web, names, whole=whole)
    rows = [
        PathLine(signed(path.product, digits), what, factors_text(path, digits))
        for path, what in zip(found.listed, texts, strict=True)
    ]
    others = found.count - len(found.listed)
    if others and found.listed:
        what = "the other path" if others == 1 else f"the {count_words(others, 'other')}"
        rows.append(PathLine(signed(found.rest, digits), what))
    return rows


def path_lines(rows: Sequence[PathLine], screen: Screen) -> list[str]:
    """Rows with their columns under each other; where they do not fit, broken, remarks below."""
    padded = aligned([[row.number] for row in rows], right=[0])
    numbers = [in_yellow(number, color=screen.color) for number in padded]
    table = [[number, *filter(None, row[1:])] for number, row in zip(numbers, rows, strict=True)]
    lines = [f"{FURTHER}{line}" for line in aligned(table)]
    width = screen.width
    if width is None or max(map(cells, lines), default=0) <= width:
        return lines
    indent = " " * (len(FURTHER) + cells(numbers[0]) + 2)
    room = max(width - len(indent), 12)
    lines = []
    for number, row in zip(numbers, rows, strict=True):
        first, *more = [*broken(row.what, room), *broken(row.remark, room)]
        lines += [f"{FURTHER}{number}  {first}", *(indent + line for line in more)]
    return lines


def labels(run: Run) -> list[str]:
    """What every node is called in a path."""
    names = short_names(run)
    return [printable(names.get(node, text)) for node, text in enumerate(run.texts)]


def explained(run: Run, lines: Sequence[str], width: int | None) -> list[str]:
    """What the nodes are that some lines call by number."""
    called = {int(number) for line in lines for number in re.findall(r"#([0-9]+)", line)}
    if not called:
        return []
    names = short_names(run)
    listed = sorted(called, reverse=True)
    pieces = [f"#{node} is {define(run, node, {**names, node: ''})}" for node in listed]
    if len(pieces) > MOST_EXPLAINED:
        pieces[MOST_EXPLAINED:] = ["…"]
    return [*packed([f"{piece}," for piece in pieces[:-1]] + pieces[-1:], width, ""), ""]


def path_texts(paths: Sequence[Path], web: Web, names: Sequence[str], *, whole: bool) -> list[str]:
    """The nodes of each path; a long one's first and last.

    Where several have the same nodes, as those of ``x*x``, they are told apart: ``x (operand 1)``.
    """
    alike = Counter(path.nodes for path in paths)
    return [
        path_text(path, web if alike[path.nodes] > 1 else None, names, whole=whole)
        for path in paths
    ]


def path_text(path: Path, web: Web | None, names: Sequence[str], *, whole: bool) -> str:
    """The nodes of a path; given a web, with the position of every operand that its user has twice."""
    nodes = [names[node] for node in path.nodes]
    for at, edge in enumerate(path.edges if web else (), 1):
        assert web is not None
        user, operand = path.nodes[at - 1 : at + 1]
        if sum(web.users[other] == user for other in web.above[operand]) > 1:
            nodes[at] += f" (operand {web.positions[edge] + 1})"
    if len(nodes) > LONGEST_PATH and not whole:
        nodes[ENDS:-ENDS] = [f"… {len(nodes) - 2 * ENDS:,} more …"]
    return ARROW.join(nodes)


def factors_text(path: Path, digits: int) -> str:
    """The local derivatives along a path, where they are more than one and not too many."""
    if not 1 < len(path.factors) < LONGEST_PATH:
        return ""
    return "= " + " × ".join(signed(factor, digits) for factor in path.factors)


def count_words(count: int, what: str = "path", *, exact: bool = True) -> str:
    """A count of paths, or of something else; exact up to a hundred digits, or up to six."""
    if count < 10 ** (MOST_DIGITS if exact else 6):
        shown = f"{count:,}"
    else:
        from decimal import Decimal

        shown = f"{Decimal(count):.5e}"
    return f"{shown} {what}{'s' * (count != 1)}" if what else shown


# Documents.


def paths_answer(
    run: Run,
    ask: Ask,
    web: Web,
    counts: Mapping[str, int],
    diagnostics: Sequence[Diagnostic],
    digits: int,
    *,
    whole: bool,
) -> Answer:
    """The answer of ``paths``; ``counts`` are the numbers of paths to each input."""

    def path_field(name: str) -> tuple[str, dict[str, Any]]:
        found = ask(name)
        listed = [path_fields(path) for path in found.listed]
        sums = {"gradient": found.gradient, "listed": listed, "rest": found.rest}
        return name, {"count": found.count, **sums}

    nodes = (node_fields(node, with_grad=True) for node in run.iter_nodes())
    fields = {
        **head_fields(run),
        "visited": web.visited,
        "paths": Lines(map(path_field, run.wrt or ()), "{}"),
        "nodes": Lines(nodes),
        "diagnostics": listed(diagnostics),
    }
    every = sum(counts.values())
    return Answer(
        "paths",
        run.text,
        fields.items(),
        listed_rows(run, ask),
        counts.items(),
        lambda screen: [paths_text(run, ask, web, every, digits, screen, whole=whole)],
        diagnostics,
    )


def path_fields(path: Path) -> dict[str, Any]:
    """A path as JSON has it."""
    return {"nodes": path.nodes, "product": path.product}


def listed_rows(run: Run, ask: Ask) -> Iterator[list[Any]]:
    """A path a line: of how many paths, the product, the nodes; the others of an input on one line."""
    yield ["input", "paths", "product", "nodes"]
    for name in run.wrt or ():
        found = ask(name)
        for path in found.listed:
            yield [name, 1, path.product, " ".join(map(str, path.nodes))]
        if found.count > len(found.listed):
            yield [name, found.count - len(found.listed), found.rest, None]
