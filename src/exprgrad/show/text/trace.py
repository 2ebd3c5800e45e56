"""The reverse sweep as a lesson: the seed, each visit, each contribution, and the count of the work.

Over numbers the whole trace has common columns; over tensors each contribution stands in matrix form, shape
by shape.  Sweeps in another order are drawn in the same columns.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from exprgrad.derive.rules import operation_count
from exprgrad.explain.diagnostics import Run
from exprgrad.graph.graph import CONST, INPUT, Shape, size
from exprgrad.graph.ops import BY_NAME
from exprgrad.language.write.infix import ATOM, SUM, operand_level, operation_text
from exprgrad.run.edge_texts import rule_of
from exprgrad.run.numbers.sweeps import gated
from exprgrad.show.documents.runs import jacobian_bytes
from exprgrad.show.text.lines import EDGE_ROWS, INDENT, LONGEST_WHOLE, narrowed, packed
from exprgrad.show.text.nodes import corrections, node_title
from exprgrad.show.text.table import minus, signed
from exprgrad.show.text.views import VIEWS, WHOLE_VIEW, View, view
from exprgrad.source import bytes_text, cut, display_width, printable

__all__ = [
    "Names",
    "Passed",
    "Visit",
    "called",
    "define",
    "in_columns",
    "short_names",
    "shortened",
    "trace",
]

LONGEST_IN_COLUMN, LONGEST_FORMULA = 40, 60
"""Where a definition or a formula is cut, in characters: in a column, and where it has more room."""
LONGEST_UNNAMED = 12
"""A node without a name whose text is longer is called by its number; one that broadcasts, if 4 longer."""
GAP = "…"
CHANGING = View(20, ends=False)
"""How a grad is shown that is about to change."""
BEHIND = View(80)
"""How it is shown then, behind a formula."""
IN_COLOR = "\x1b[33m{}\x1b[0m"

Names = Mapping[int, str]


class Passed(NamedTuple):
    """What a visit passes to one operand.

    ``local``   the local derivative; None among tensors, where it is not even diagonal
    ``seed``    the node's own grad
    ``before``, ``after``  the operand's grad; without ``after`` nothing is passed on
    ``remark``  what is to be said of it, such as that the grad is complete
    ``is_closed``  whether the edge is a branch that is not taken
    ``sign``    what the contribution does to the grad
    """

    position: int
    operand: int
    local: Any
    seed: Any
    before: Any
    after: Any
    remark: str = ""
    is_closed: bool = False
    sign: str = "+="


class Visit(NamedTuple):
    """A visit, or another line of the trace: the node, and what it passes on, or else why it does not."""

    node: int
    words: str = ""
    grad: Any = None
    parts: Sequence[Passed | str] = ()
    verb: str = "visit"


def trace(
    run: Run,
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
    shown = shown_visits(run, taken, whole=all_visits)
    if run.graph.shapes:
        views = (WHOLE_VIEW,) if all_visits else VIEWS
        lines = in_pieces(run, shown, digits, width, views, color=color)
        end = work_of_tensors(run, taken, width)
    else:
        lines = in_columns(run, shown, digits, width, color=color)
        end = [*work(run), *corrections(run, digits)]
    return "\n".join([*lines, "", *end])


# Visits.


def shown_visits(run: Run, taken: list[int], *, whole: bool) -> Iterator[Visit | str]:
    """The seed and the visits that are shown, one at a time, and a line for those left out.

    ``taken`` is brought up to date: the bytes of every Jacobian worth speaking of.
    """
    output, count = run.graph.output, len(run.order)
    seed = run.grad(output)
    yield Visit(output, grad=1.0 if seed is None else seed, verb="seed")
    for at, visit in enumerate(visits(run)):
        taken += [jacobian_size(run, visit.node, part) for part in passed_on(visit)]
        if whole or count <= LONGEST_WHOLE or not EDGE_ROWS <= at < count - EDGE_ROWS:
            yield shortened(visit, whole=whole)
        elif at == EDGE_ROWS:
            yield f"{count - 2 * EDGE_ROWS:,} visits left out; --all shows them"


def visits(run: Run) -> Iterator[Visit]:
    """The visits of the sweep, in order; grads are held only while others are added to them."""
    awaited = uses(run)
    sofar: dict[int, Any] = {}
    for node in run.order:
        words = idle(run, node)
        if words:
            is_input = run.graph.kinds[node] == INPUT
            yield Visit(node, words, run.grad(node) if is_input else None)
        else:
            yield Visit(node, parts=[*contributions(run, node, sofar, awaited)])


def uses(run: Run) -> list[int]:
    """By node: how many active edges lead to it."""
    assert run.adjoints is not None
    found = [0] * len(run.graph)
    for node in run.order:
        flags = run.adjoints.locals[node] or ()
        for flag, operand in zip(flags, run.graph.operands[node], strict=False):
            found[operand] += flag is not None
    return found


def idle(run: Run, node: int) -> str:
    """Why a visit passes nothing on; empty for one that does."""
    kind, grad = run.graph.kinds[node], run.grad(node)
    if kind == INPUT:
        return "an input" if grad is not None else "an input, not differentiated"
    if kind == CONST:
        return "a constant"
    if run.passed(node):
        return ""
    if grad is None or run.adjoints is None or not run.adjoints.active[node]:
        return "depends on no differentiated input"
    return "no gradient reached it, none goes on"


def contributions(
    run: Run, node: int, sofar: dict[int, Any], awaited: list[int]
) -> Iterator[Passed]:
    """What a visit passes on; ``sofar``, the grads up to here, and ``awaited`` are brought up to date."""
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
        is_closed = closed(graph.kinds[node], position, local)
        if contribution is None or is_closed:
            yield Passed(position, operand, local, seed, None, None, remark, is_closed=True)
            continue
        before = sofar.pop(operand, None)
        after = contribution if before is None else before + contribution
        if not is_last:
            sofar[operand] = after
        yield Passed(position, operand, local, seed, before, after, remark)


def closed(kind: str, position: int, local: Any) -> bool:
    """Whether an edge is a branch that is nowhere taken, given its local derivative."""
    op = BY_NAME.get(kind)
    if op is None or local is None or not gated(op, position):
        return False
    return not (local if isinstance(local, float) else local.any())


def passed_on(visit: Visit) -> Iterator[Passed]:
    """The parts of a visit that pass something on."""
    for part in visit.parts:
        if not isinstance(part, str) and part.after is not None:
            yield part


def shortened(visit: Visit, *, whole: bool) -> Visit:
    """A visit with the first and the last of many contributions."""
    if whole or len(visit.parts) <= LONGEST_WHOLE:
        return visit
    skipped = f"{len(visit.parts) - 2 * EDGE_ROWS:,} contributions left out; --all shows them"
    return visit._replace(parts=[*visit.parts[:EDGE_ROWS], skipped, *visit.parts[-EDGE_ROWS:]])


# Names.


def short_names(run: Run) -> Names:
    """The nodes' names, and ``#7`` for a node that has none and whose text is long."""
    names = {}
    for node, text in enumerate(run.texts):
        if len(text) > LONGEST_UNNAMED:
            names[node] = f"#{node}"
    for node in run.graph.implicit:
        text = node_title(run, node)
        names[node] = text if len(text) <= LONGEST_UNNAMED + 4 else f"#{node}"
    return names | run.names


def called(run: Run, node: int, names: Names) -> str:
    """What a node is called in the trace."""
    return printable(names.get(node, run.texts[node]))


def define(run: Run, node: int, names: Names, limit: int = LONGEST_IN_COLUMN) -> str:
    """A node as one operation on its operands: ``f = e * c``, or ``tanh(n)`` where it has no name."""
    graph, own = run.graph, names.get(node)
    if node in graph.implicit:
        text = node_title(run, node)
        own = None if own == text else own
    else:
        operands = [
            (names[o], ATOM) if o in names else (run.texts[o], operand_level(graph, o, names))
            for o in graph.operands[node]
        ]
        settings, kind = graph.payloads[node], graph.kinds[node]
        text = operation_text(kind, operands, spaced=True, limit=limit, settings=settings)
    return printable(f"{own} = {text}" if own else text)


# Numbers, in columns.


class Line(NamedTuple):
    """One line of the trace, by columns."""

    verb: str = ""
    definition: str = ""
    formula: str = ""
    numbers: str = ""
    grad: str = ""
    remark: str = ""
    gate: str = ""


def in_columns(
    run: Run, shown: Iterable[Visit | str], digits: int, width: int | None, *, color: bool
) -> list[str]:
    """Visits line by line, their columns under each other.

    Where they do not fit, each contribution has a line of its own under its visit.
    """
    names = short_names(run)
    lines = [line for visit in shown for line in lines_of(run, visit, names, digits)]
    if width is None or max(map(display_width, align(lines, color=False))) <= width:
        return align(lines, color=color)
    return stack(lines, width, color=color)


def lines_of(run: Run, visit: Visit | str, names: Names, digits: int) -> Iterator[Line]:
    """The lines of one visit, or the one that stands for those left out."""
    if isinstance(visit, str):
        yield Line(GAP, visit)
        return
    if not visit.parts:
        grad = "" if visit.grad is None else f"grad = {signed(visit.grad, digits)}"
        yield Line(visit.verb, called(run, visit.node, names), visit.words, grad=grad)
        return
    definition, gate = define(run, visit.node, names), BY_NAME[run.graph.kinds[visit.node]].gate
    head = Line(visit.verb, definition, gate=gate)
    for part in visit.parts:
        if isinstance(part, str):
            yield Line(GAP, part)
            continue
        formula, numbers = contribution(run, visit.node, part, names, digits)
        change = "passes nothing on"
        if not part.is_closed:
            change = f"grad {signed(part.before or 0.0, digits)} → {signed(part.after, digits)}"
        yield head._replace(formula=formula, numbers=numbers, grad=change, remark=part.remark)
        head = Line()


def contribution(run: Run, user: int, part: Passed, names: Names, digits: int) -> tuple[str, str]:
    """What is passed to an operand as formula and, where that says more, as numbers."""
    text, level = rule_of(run.graph, user, part.position, names, run.texts)
    rule = cut(minus(printable(text)), LONGEST_IN_COLUMN)
    local, seed = signed(part.local, digits), signed(part.seed or 0.0, digits)
    numbers = "" if rule == local else f"= {seed} × {local}"
    factor = f"({rule})" if level <= SUM else rule
    return f"{called(run, part.operand, names)} {part.sign} {seed} × {factor}", numbers


def align(lines: Sequence[Line], *, color: bool) -> list[str]:
    """The lines with their columns under each other."""
    in_columns = [line for line in lines if line.verb != GAP]
    widths = [max(display_width(line[i]) for line in in_columns) for i in range(len(Line._fields))]

    def text(line: Line) -> str:
        cells = zip(line, marked(line, color=color), widths, strict=True)
        padded = [s + " " * (width - display_width(c)) for c, s, width in cells if width]
        return "  ".join(padded).rstrip()

    return [" ".join(line[:2]) if line.verb == GAP else text(line) for line in lines]


def stack(lines: Sequence[Line], width: int, *, color: bool) -> list[str]:
    """The lines with each contribution under its visit, as narrow as they can be."""
    text: list[str] = []
    formulas = [f"{INDENT}{line.formula} {line.numbers}".rstrip() for line in lines]
    widest = max((display_width(f) for f in formulas if "= " in f), default=0)
    widest_grad = max(display_width(f"{line.grad}  {line.remark}".rstrip()) for line in lines)
    if widest + 3 + widest_grad > width:
        widest = 0
    for line, formula in zip(lines, formulas, strict=True):
        shown = marked(line, color=color)
        if line.verb == GAP or (not line.numbers and "= " not in line.formula):
            text.append("  ".join(filter(None, shown)))
            continue
        if line.verb:
            text.append("  ".join(filter(None, (line.verb, line.definition, line.gate))))
        padded = formula + " " * max(widest - display_width(formula), 0)
        fits = display_width(f"{padded}   {line.grad}  {line.remark}".rstrip()) <= width
        grad = f"{shown.grad}  {shown.remark}".rstrip()
        text += [f"{padded}   {grad}"] if fits else [formula, f"      {grad}"]
    return text


def marked(line: Line, *, color: bool) -> Line:
    """A line with its grad in the colour of grads, if there is colour."""
    has_grad = color and line.grad.startswith("grad ")
    return line._replace(grad=IN_COLOR.format(line.grad)) if has_grad else line


def work(run: Run) -> list[str]:
    """How many operations the two sweeps take, the local derivatives as they are shown."""
    edges, local = 0, 0
    assert run.adjoints is not None
    for node in run.order:
        for position, factor in enumerate(run.adjoints.locals[node] or ()):
            if factor is not None:
                edges += 1
                shown = BY_NAME[run.graph.kinds[node]].shown_partial(position)
                local += operation_count(shown)
    return [
        forward_work(run),
        f"reverse sweep  {2 * edges + local:,} operations: {edges:,} ×, {edges:,} +, "
        f"{local:,} in local derivatives",
    ]


def forward_work(run: Run) -> str:
    """How many operations the forward sweep takes."""
    count = sum(bool(operands) for operands in run.graph.operands)
    return f"forward sweep  {count:,} operation{'s' * (count != 1)}"


# Tensors, piece by piece.


class Piece(NamedTuple):
    """A contribution in matrix form.

    ``formula``  ``W.grad += X.T @ Y.grad``
    ``shapes``   ``(4, 3) += (4, 150) @ (150, 3)``
    ``grads``    the operand's grad before and after, in ever fewer words
    ``remark``   ``complete``, or nothing
    ``notes``    what its local derivative is called, and how large the Jacobian would have been
    """

    formula: str
    shapes: str = ""
    grads: Sequence[str] = ("",)
    remark: str = ""
    notes: Sequence[str] = ()


def in_pieces(
    run: Run,
    shown: Iterable[Visit | str],
    digits: int,
    width: int | None,
    views: Sequence[View],
    *,
    color: bool,
) -> list[str]:
    """Visits, each contribution in columns of its visit, or piece by piece where those do not fit."""
    names, lines = short_names(run), []
    for visit in shown:
        if isinstance(visit, str):
            lines.append(f"{GAP} {visit}")
            continue
        head, grads = head_of(run, visit, names), []
        if visit.grad is not None:
            room = None if width is None else width - len(INDENT)
            grads = [minus(f"grad = {view(visit.grad, digits, how)}") for how in views]
            grads = [narrowed(grads, room)]
        verb, first, *others = [*head, *grads]
        found = packed([f"{verb:<5}  {first}", *others], width, "")
        body, told = contribution_lines(pieces_of(run, visit, names, digits, views), width)
        found += body
        lines += [painted(line, {*grads, *told}) for line in found] if color else found
    return lines


def head_of(run: Run, visit: Visit, names: Names) -> list[str]:
    """What the first line of a visit says: the verb, the node, and its gate or why it is idle."""
    from exprgrad.graph.tensors import STRUCTURAL
    from exprgrad.run.edge_texts import grouped

    node, kind = visit.node, run.graph.kinds[visit.node]
    if visit.verb == "seed":
        return [visit.verb, grouped(run, node, lambda at: called(run, at, names))]
    if visit.words:
        return [visit.verb, called(run, node, names), visit.words]
    gate = (BY_NAME.get(kind) or STRUCTURAL[kind]).gate
    return [visit.verb, define(run, node, names, LONGEST_FORMULA), gate]


def pieces_of(
    run: Run, visit: Visit, names: Names, digits: int, views: Sequence[View]
) -> Iterator[Piece]:
    """A visit's contributions with their formulas, shapes, grads and notes."""
    from exprgrad.run.edge_texts import PASSED, contribution_texts, grouped

    if not visit.parts:
        return

    def name(node: int) -> str:
        return called(run, node, names)

    texts = contribution_texts(run, visit.node, name, f"{grouped(run, visit.node, name)}.grad")
    rules = contribution_texts(run, visit.node, name, PASSED)
    behind = BEHIND if len(views) > 1 else views[0]
    for part in visit.parts:
        if isinstance(part, str):
            yield Piece(f"{GAP} {part}")
            continue
        target = f"{grouped(run, part.operand, name)}.grad"
        if part.after is None:
            yield Piece(f"{target} += 0", grads=["passes nothing on"], remark=part.remark)
            continue
        text, rule = texts[part.position], rules[part.position]
        rows, columns = run.graph.shape(visit.node), run.graph.shape(part.operand)
        shapes = f"{columns} += {text.shapes}" if rows or columns else ""
        before = "0" if part.before is None else view(part.before, digits, CHANGING)
        grads = [f"grad {before} → {view(part.after, digits, how)}" for how in (behind, *views)]
        size_of = jacobian_size(run, visit.node, part)
        formula = f"{target} += {cut(printable(text.passed), LONGEST_FORMULA)}"
        local = minus(printable(rule.local or rule.passed))
        sizes = f"{size(rows):,} × {size(columns):,}"
        notes = [
            f"local derivative {local}",
            f"Jacobian of {sizes} never formed: would be {bytes_text(size_of)}",
        ]
        grads = [*map(minus, grads)]
        yield Piece(minus(formula), minus(shapes), grads, part.remark, notes if size_of else ())


def contribution_lines(found: Iterator[Piece], width: int | None) -> tuple[list[str], list[str]]:
    """The lines of contributions, and what they say of grads.

    The first way to write a grad stands in columns; where these do not fit, the first other one that does.
    """
    pieces = list(found)
    rows = [[piece.formula, piece.shapes, piece.grads[0], piece.remark] for piece in pieces]
    widths = [max(map(display_width, column)) for column in zip(*rows, strict=True)]
    whole = []
    for row in rows:
        cells = zip(row, widths, strict=True)
        padded = [cell + " " * (width - display_width(cell)) for cell, width in cells if width]
        whole.append(INDENT + "   ".join(padded).rstrip())
    lines = []
    if width is None or max(map(display_width, whole), default=0) <= width:
        for line, piece in zip(whole, pieces, strict=True):
            lines += [line, *packed(piece.notes, width, INDENT * 2)]
        return lines, [row[2] for row in rows]
    told = []
    for piece in pieces:
        grad = narrowed(piece.grads[1:] or piece.grads, width - len(INDENT) * 2)
        told.append(grad)
        lines += packed([piece.formula], width, INDENT)
        lines += packed([piece.shapes, grad, piece.remark], width, INDENT * 2)
        lines += packed(piece.notes, width, INDENT * 2)
    return lines, told


def painted(line: str, grads: Collection[str]) -> str:
    """A line with what it says of grads in their colour."""
    for text in filter(None, grads):
        before, found, after = line.rpartition(text)
        if found and text.startswith("grad "):
            return f"{before}{IN_COLOR.format(text)}{after}"
    return line


def is_matrix(kind: str, position: int, ends: tuple[Shape, Shape]) -> bool:
    """Whether an edge's Jacobian is worth speaking of: more than a row, a column, or ones in a diagonal."""
    op = BY_NAME.get(kind)
    copies = op is not None and op.shown_partial(position) in ("1", "-1")
    return min(map(size, ends)) > 1 and not copies


def jacobian_size(run: Run, user: int, part: Passed) -> int:
    """The bytes of an edge's whole Jacobian, if it is worth speaking of; else 0."""
    graph = run.graph
    ends = graph.shape(user), graph.shape(part.operand)
    return jacobian_bytes(ends) if is_matrix(graph.kinds[user], part.position, ends) else 0


def work_of_tensors(run: Run, taken: Sequence[int], width: int | None) -> list[str]:
    """What the two sweeps did; ``taken``, by contribution, are the bytes of the Jacobians spoken of."""
    assert run.adjoints is not None
    active = [node for node in run.order if run.adjoints.active[node]]
    grads = sum(8 * size(run.graph.shape(node)) for node in active)
    reverse = f"{len(taken):,} contribution{'s' * (len(taken) != 1)}"
    if taken:
        reverse += f": the grads take {bytes_text(grads)}"
    if any(taken):
        reverse += f"; Jacobians, never formed, would take {bytes_text(sum(taken))}"
    return [
        *packed([forward_work(run)], width, ""),
        *packed([f"reverse sweep  {reverse}"], width, ""),
    ]
