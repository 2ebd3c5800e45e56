"""The reverse sweep over tensors as a lesson: each contribution in matrix form, and shape by shape."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from exprgrad.draw.text.packing import INDENT, columned, narrowed, packed
from exprgrad.draw.text.sizes import is_matrix, jacobian_bytes
from exprgrad.draw.text.table import minus
from exprgrad.draw.text.tensors import VIEWS, WHOLE, View, called, view
from exprgrad.graph.graph import CONST, INPUT
from exprgrad.graph.literal import Shape, size
from exprgrad.graph.ops import BY_NAME
from exprgrad.graph.tensors import STRUCTURAL
from exprgrad.language.write.infix import ATOM, operand_level, operation_text
from exprgrad.run.edge_texts import PASSED, EdgeTexts, contribution_texts, grouped
from exprgrad.run.numbers.tape import gated
from exprgrad.run.result import Run
from exprgrad.source import bytes_text, cut, display_width, printable

__all__ = ["tensor_trace"]

WIDEST = 60
"""Where a definition or a formula is cut, in characters."""
LONGEST_UNNAMED = 12
"""A node without a name whose text is longer is called by its number; one that broadcasts, if 4 longer."""
EDGE_VISITS = 20
"""How many visits a long trace shows at each end, or contributions of a visit."""
LONGEST_WHOLE = 60
"""The most visits that are shown whole."""
BRIEF = View(20, ends=False)
"""How a grad is shown that is about to change."""
IN_LINE = View(80)
"""How it is shown then, behind a formula."""

Names = Mapping[int, str]


class Part(NamedTuple):
    """What a visit passes to one operand.

    ``formula``  ``W.grad += X.T @ Y.grad``
    ``shapes``   ``(4, 3) += (4, 150) @ (150, 3)``
    ``before``, ``after``  the operand's grad; without ``after`` nothing is passed, as ``idle`` says
    ``end``      ``complete``, or nothing
    ``notes``    what its local derivative is called, and how large the Jacobian would have been
    ``taken``    the bytes of that
    """

    formula: str
    shapes: str = ""
    before: Any = None
    after: Any = None
    idle: str = ""
    end: str = ""
    notes: Sequence[str] = ()
    taken: int = 0


class Visit(NamedTuple):
    """A visit: its first line, in pieces, and what it passes on."""

    head: Sequence[str]
    grad: Any = None
    parts: Sequence[Part] = ()


def tensor_trace(
    run: Run,
    digits: int = 6,
    *,
    all_visits: bool = False,
    width: int | None = None,
    color: bool = False,
) -> str:
    """The whole trace as text; a long one shows its first and last visits.

    Where a line would not fit ``width`` cells, its pieces stand under each other.  ``color`` marks the
    grads for a terminal.
    """
    order, names = run.order, short_names(run)
    ends = len(order) if all_visits or len(order) <= LONGEST_WHOLE else EDGE_VISITS
    output = run.graph.output
    start = run.grad(output)
    seed = Visit(("seed", grouped(run, output, names.__getitem__)), 1.0 if start is None else start)
    views = (WHOLE,) if all_visits else VIEWS
    lines = drawn(seed, digits, width, views, color=color)
    sofar: dict[int, Any] = {}
    awaited = uses(run)
    taken: list[int] = []
    for position, node in enumerate(order):
        visible = not ends <= position < len(order) - ends
        found = visit(run, node, sofar, awaited, names, visible=visible)
        taken += [part.taken for part in found.parts if part.after is not None]
        if not visible:
            if position == ends:
                lines.append(f"… {len(order) - 2 * ends:,} visits left out; --all shows them")
            continue
        if not all_visits and len(found.parts) > LONGEST_WHOLE:
            skipped = (
                f"… {len(found.parts) - 2 * EDGE_VISITS:,} contributions left out; --all shows them"
            )
            middle = Part(skipped)
            found = found._replace(
                parts=[*found.parts[:EDGE_VISITS], middle, *found.parts[-EDGE_VISITS:]]
            )
        lines += drawn(found, digits, width, views, color=color)
    return "\n".join([*lines, "", *work(run, taken, width)])


def short_names(run: Run) -> Names:
    """What every node is called: its name, its text if that is short, else ``#7``."""
    found = {}
    for node, text in enumerate(run.texts):
        room = LONGEST_UNNAMED
        if node in run.graph.implicit:
            text, room = called(run, node), LONGEST_UNNAMED + 4
        found[node] = printable(run.names.get(node, text if len(text) <= room else f"#{node}"))
    return found


def uses(run: Run) -> list[int]:
    """By node: how many active edges lead to it."""
    assert run.adjoints is not None
    found = [0] * len(run.graph)
    for node in run.order:
        flags = run.adjoints.locals[node] or ()
        for flag, operand in zip(flags, run.graph.operands[node], strict=False):
            found[operand] += flag is not None
    return found


def visit(
    run: Run,
    node: int,
    sofar: dict[int, Any],
    awaited: list[int],
    names: Names,
    *,
    visible: bool,
) -> Visit:
    """One visit; ``sofar``, the grads up to here, and ``awaited`` are brought up to date.

    One that is not ``visible`` has no texts.
    """
    graph, shapes, kind = run.graph, run.graph.shapes, run.graph.kinds[node]
    if kind in (INPUT, CONST) or not run.passed(node):
        return idle(run, node, names)
    assert run.adjoints is not None and shapes is not None
    row = BY_NAME.get(kind) or STRUCTURAL[kind]
    call = names.__getitem__
    passed = {position: found for position, *found in run.adjoints.passed(node)}
    texts: dict[int, EdgeTexts] = {}
    rules: dict[int, EdgeTexts] = {}
    if visible:
        texts = contribution_texts(run, node, call, f"{grouped(run, node, call)}.grad")
        rules = contribution_texts(run, node, call, PASSED)
    parts = []
    for position, operand in enumerate(graph.operands[node]):
        if not run.adjoints.active[operand]:
            continue
        target = f"{grouped(run, operand, call)}.grad"
        awaited[operand] -= 1
        is_last = not awaited[operand]
        end = "complete" if is_last and graph.kinds[operand] == INPUT else ""
        local, contribution = passed.get(position, (0.0, None))
        if contribution is None or closed(kind, position, local):
            parts.append(Part(f"{target} += 0", idle="passes nothing on", end=end))
            continue
        before = sofar.pop(operand, None)
        after = contribution if before is None else before + contribution
        if not is_last:
            sofar[operand] = after
        ends = shapes[node], shapes[operand]
        made = Part(target, taken=jacobian_bytes(ends) if is_matrix(kind, position, ends) else 0)
        if visible:
            made = part(made, ends, texts[position], rules[position])
        parts.append(made._replace(before=before, after=after, end=end))
    return Visit(("visit", define(run, node, names), row.gate), parts=parts)


def closed(kind: str, position: int, local: Any) -> bool:
    """Whether an edge is a branch that is nowhere taken, given its local derivative."""
    op = BY_NAME.get(kind)
    if op is None or local is None or not gated(op, position):
        return False
    return not (local if isinstance(local, float) else local.any())


def part(made: Part, ends: tuple[Shape, Shape], texts: EdgeTexts, rule: EdgeTexts) -> Part:
    """A contribution with its formula, its shapes, and what is worth saying of its local derivative."""
    rows, columns = map(size, ends)
    notes = []
    if made.taken:
        notes = [
            f"local derivative {minus(printable(rule.local or rule.passed))}",
            f"Jacobian of {rows:,} × {columns:,} never formed: would be {bytes_text(made.taken)}",
        ]
    shapes = f"{ends[1]} += {texts.shapes}" if ends != ((), ()) else ""
    formula = f"{made.formula} += {cut(printable(texts.passed), WIDEST)}"
    return made._replace(formula=minus(formula), shapes=minus(shapes), notes=notes)


def idle(run: Run, node: int, names: Names) -> Visit:
    """A visit that passes nothing on."""
    kind, grad = run.graph.kinds[node], run.grad(node)
    if kind == INPUT:
        reads = "an input" if grad is not None else "an input, not differentiated"
        return Visit(("visit", names[node], reads), grad)
    if kind == CONST:
        return Visit(("visit", names[node], "a constant"))
    if grad is None or run.adjoints is None or not run.adjoints.active[node]:
        return Visit(("visit", names[node], "depends on no differentiated input"))
    return Visit(("visit", names[node], "no gradient reached it, none goes on"))


def define(run: Run, node: int, names: Names) -> str:
    """A node as one operation on its operands, after what it is called: ``Y = X @ W``."""
    graph = run.graph
    if node in graph.implicit:
        text = called(run, node)
    else:
        operands = [
            (names[o], operand_level(graph, o, run.names) if names[o] == run.texts[o] else ATOM)
            for o in graph.operands[node]
        ]
        settings = graph.payloads[node]
        kind = graph.kinds[node]
        text = operation_text(kind, operands, spaced=True, limit=WIDEST, settings=settings)
    is_named = node in run.names or names[node].startswith("#")
    return printable(f"{names[node]} = {text}" if is_named else text)


# Lines.


def drawn(
    found: Visit, digits: int, width: int | None, views: Sequence[View], *, color: bool
) -> list[str]:
    """The lines of a visit: its contributions in columns, or piece by piece where those do not fit."""
    verb, *head = found.head
    marked: set[str] = set()
    if found.grad is not None:
        room = None if width is None else width - len(INDENT)
        grad = narrowed([minus(f"grad = {view(found.grad, digits, how)}") for how in views], room)
        marked.add(grad)
        head.append(grad)
    lines = packed([f"{verb:<5}  {head[0]}", *head[1:]], width, "")
    behind = IN_LINE if len(views) > 1 else views[0]
    rows = [
        [part.formula, part.shapes, change(part, digits, behind), part.end] for part in found.parts
    ]
    whole = columned(rows)
    if width is not None and max(map(display_width, whole), default=0) > width:
        for part in found.parts:
            room = width - len(INDENT) * 2
            grad = narrowed([change(part, digits, how) for how in views], room)
            marked.add(grad)
            lines += packed([part.formula], width, INDENT)
            lines += packed([part.shapes, grad, part.end], width, INDENT * 2)
            lines += packed(part.notes, width, INDENT * 2)
    else:
        marked.update(row[2] for row in rows)
        for line, part in zip(whole, found.parts, strict=True):
            lines += [line, *packed(part.notes, width, INDENT * 2)]
    return [painted(line, marked) for line in lines] if color else lines


def change(part: Part, digits: int, how: View) -> str:
    """What a contribution makes of its operand's grad."""
    if part.after is None:
        return part.idle
    before = "0" if part.before is None else view(part.before, digits, BRIEF)
    return minus(f"grad {before} → {view(part.after, digits, how)}")


def painted(line: str, marked: Collection[str]) -> str:
    """A line with what it says of grads in their colour."""
    for text in filter(None, marked):
        before, found, after = line.rpartition(text)
        if found and text.startswith("grad "):
            return f"{before}\x1b[33m{text}\x1b[0m{after}"
    return line


def work(run: Run, taken: Sequence[int], width: int | None) -> list[str]:
    """What the two sweeps did; ``taken``, by contribution, are the bytes of the Jacobians spoken of."""
    graph, shapes = run.graph, run.shapes
    assert shapes is not None and run.adjoints is not None
    forward = sum(bool(operands) for operands in graph.operands)
    grads = sum(8 * size(shapes[node]) for node in run.order if run.adjoints.active[node])
    reverse = f"{len(taken):,} contribution{'s' * (len(taken) != 1)}"
    if taken:
        reverse += f": the grads take {bytes_text(grads)}"
    if any(taken):
        reverse += f"; Jacobians, never formed, would take {bytes_text(sum(taken))}"
    return [
        *packed([f"forward sweep  {forward:,} operation{'s' * (forward != 1)}"], width, ""),
        *packed([f"reverse sweep  {reverse}"], width, ""),
    ]
