"""The page's arithmetic in JavaScript, written from the op table: value and local derivatives of each row.

A page needs few rows, so it gets those that its formula uses, each once.  What a rule knows of its node
beside numbers (which operands depend on an input, how many there are) is folded in; rows for which that
makes a difference are written once for each case.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache

from exprgrad.derive.build import Builder
from exprgrad.derive.lower.lower import formulas, lower
from exprgrad.derive.rules import slots, template
from exprgrad.derive.sweeps.local import Source
from exprgrad.explain.kinks_met import special_words
from exprgrad.graph.graph import CONST, INPUT, Graph, Loop, Program, dependents
from exprgrad.graph.ops import BY_NAME, Op
from exprgrad.language.code.program import helpers
from exprgrad.language.code.statements import Statements, Writer
from exprgrad.language.code.target import Routine
from exprgrad.language.code.targets import TARGETS
from exprgrad.language.write.infix import number
from exprgrad.run.evaluation import Run

__all__ = ["OUT", "SPECIAL", "arithmetic", "is_tensor", "knows_operands", "names_of", "rows"]

JAVASCRIPT = TARGETS["javascript"]
PREFIX = "op_"
"""What the helper functions' names begin with."""
OUT = "out"
"""What rules call the operation's own result."""
SPECIAL = "\nspecial: "
"""What stands before what is told of a row's kinks and jumps."""


def rows(run: Run) -> list[str]:
    """By node the key of its row in ``OPS``; empty for an input or a constant, and for a tensor.

    It is the row's name, with what else its rules know: ``logsumexp/3`` of three operands, ``pow/x,3``
    where only the first depends on an input, and the second is 3.
    """
    graph = run.graph
    varying = dependents(graph, graph.inputs.values())
    found = []
    for node, (kind, operands) in enumerate(zip(graph.kinds, graph.operands, strict=True)):
        if not operands or is_tensor(graph, node):
            found.append("")
        elif knows_operands(BY_NAME[kind]):
            told = ["x" if varying[o] else number(run.values[o]) for o in operands]
            found.append(f"{kind}/{','.join(told)}")
        elif BY_NAME[kind].variadic:
            found.append(f"{kind}/{len(operands)}")
        else:
            found.append(kind)
    return found


def is_tensor(graph: Graph, node: int) -> bool:
    """Whether what a node does is no operation on numbers."""
    nodes = (node, *graph.operands[node])
    return len(nodes) > 1 and (graph.kinds[node] not in BY_NAME or any(map(graph.shape, nodes)))


@cache
def knows_operands(op: Op) -> bool:
    """Whether a row's rules tell operands that depend on an input from others."""
    names = {name for text in (*op.partials, op.ties) if text for name in template(text).inputs}
    return bool(names - {*op.names, "out", "ties"})


def arithmetic(*runs: Run) -> str:
    """The object ``OPS``, in JavaScript, with the functions that it needs before it.

    By the key of each row that the runs' formulas use: ``value``, a function of the operands, and
    ``partials``, one of the operands and ``out`` that returns the list of local derivatives.  Those for
    operands that are nowhere differentiated are 0, and never computed.  Where the row has kinks or jumps,
    ``special`` returns the list of what to say of those that are met; it is also given, as 1 or 0, which
    operands a small step may move.  Where it has poles, ``pole`` says whether the operands are at one.
    """
    nodes, wanted = rows_used(runs)
    varying = {id(run): dependents(run.graph, run.graph.inputs.values()) for run in runs}
    layout = JAVASCRIPT.layout._replace(
        helper="function {name}({parameters}) {{\n{body}\n}}\n", gaps=("", "")
    )
    writer = Writer(JAVASCRIPT._replace(layout=layout), PREFIX, {})
    called: dict[Routine, None] = {}
    programs: dict[Routine, Program | Loop] = {}
    entries = []
    for row, (run, node) in nodes.items():
        op, operands = BY_NAME[run.graph.kinds[node]], run.graph.operands[node]
        known = [None if varying[id(run)][o] else float(run.values[o]) for o in operands]
        names = names_of(op, len(known))
        seen = {
            "value": names,
            "pole": names,
            "partials": (*names, OUT),
            "special": (*names, OUT, *map(varies, names)),
        }
        parts = []
        for field, program in functions(op, known, sorted(wanted[row])).items():
            lowered = lower(program, JAVASCRIPT.spelled)
            for needed, formula in formulas(lowered, JAVASCRIPT.spelled).items():
                programs.setdefault(needed, formula)
            text, used = function(writer, lowered, op, field, seen[field])
            called.update(dict.fromkeys(used))
            parts.append(f"{field}: {text}")
        entries.append(f'"{row}": {{\n' + ",\n".join(parts) + "\n}")
    written = helpers(writer, called, programs)
    return "".join(written) + "const OPS = {\n" + ",\n".join(entries) + "\n};\n"


def rows_used(runs: Sequence[Run]) -> tuple[dict[str, tuple[Run, int]], dict[str, set[int]]]:
    """By key, a node of each row that runs use, and the positions whose local derivatives are wanted."""
    nodes: dict[str, tuple[Run, int]] = {}
    wanted: dict[str, set[int]] = {}
    for run in runs:
        assert run.adjoints is not None
        active = run.adjoints.active
        for node, row in enumerate(rows(run)):
            if row:
                nodes.setdefault(row, (run, node))
                places = enumerate(run.graph.operands[node])
                wanted.setdefault(row, set()).update(
                    at for at, operand in places if active[operand]
                )
    return nodes, wanted


def names_of(op: Op, count: int) -> tuple[str, ...]:
    """What the operands of a row are called."""
    return tuple([f"x{n}" for n in range(1, count + 1)]) if op.variadic else op.names


def varies(name: str) -> str:
    """What says whether a small step may move the operand of this name."""
    return f"varies_{name}"


def functions(
    op: Op, known: Sequence[float | None], positions: Sequence[int]
) -> dict[str, Program]:
    """The programs of one row: its value, and its local derivatives for the operands at some positions.

    Its kinks and jumps follow, if those operands can meet any.
    ``known`` are the numbers of operands that depend on no input; only rules that ask for it are told.
    """
    graph = Graph()
    told = knows_operands(op)
    for name, value in zip(names_of(op, len(known)), known, strict=True):
        if value is None or not told:
            graph.inputs[name] = graph.append(INPUT, (), name, (0, 0))
        else:
            graph.append(CONST, (), value, (0, 0))
    operands = tuple(range(len(graph)))
    graph.output = graph.append(op.name, operands, None, (0, 0), ((0, 0),) * len(operands))
    found = {"value": Program(graph, (graph.output,))}
    if positions:
        builder = Builder()
        source = Source(builder, graph)
        source.image[graph.output] = builder.input(OUT)
        passed = {operand: local for operand, local, _ in source.edges(graph.output, positions)}
        locals_ = [passed[at] if at in passed else builder.constant(0.0) for at in operands]
        found["partials"] = builder.program(locals_)
        special = specials(op, graph, positions)
        if special is not None:
            found["special"] = special
    if op.poles:
        pole = poles(op, graph)
        if pole is not None:
            found["pole"] = pole
    return found


def poles(op: Op, graph: Graph) -> Program | None:
    """Whether the operands are at one of a row's poles: not 0 if so.  None where they never are."""
    builder = Builder()
    source = Source(builder, graph)
    given = {
        name: source.image[operand]
        for name, operand in zip(op.names, graph.operands[graph.output], strict=True)
    }
    met = builder.total([source.instantiate(where, given) for where, _ in op.poles])
    return None if builder.value(met) == 0 else builder.program([met])


def specials(op: Op, graph: Graph, positions: Sequence[int]) -> Program | None:
    """The conditions of a row's kinks and jumps, not 0 where they hold for one of some operands.

    None where they never do: ``x^2`` has no jump, as ``x^y`` has.
    """
    builder = Builder()
    source = Source(builder, graph)
    operands = graph.operands[graph.output]
    names, out = names_of(op, len(operands)), builder.input(OUT)
    images = [source.image[operand] for operand in operands]
    flags = [
        builder.constant(0.0) if graph.kinds[operand] == CONST else builder.input(varies(name))
        for operand, name in zip(operands, names, strict=True)
    ]
    if op.variadic:
        seen = [
            {op.names[0]: image, OUT: out, "varies": flag}
            for image, flag in zip(images, flags, strict=True)
        ]
        ties = builder.total([source.instantiate(op.ties, one) for one in seen])
        given = [seen[position] | {"ties": ties} for position in positions]
    else:
        given = [dict(zip(slots(op), [*images, out, *flags], strict=True))]
    met = [
        builder.total([source.instantiate(special.where, one) for one in given])
        for special in op.special
    ]
    return builder.program(met) if any(builder.value(one) != 0 for one in met) else None


def function(
    writer: Writer, program: Program, op: Op, field: str, seen: Sequence[str]
) -> tuple[str, list[Routine]]:
    """A program as an arrow function of what it may see, and the helpers that it calls."""
    names = writer.names()
    parameters = {name: names.claim(name) for name in seen}
    body = Statements(writer, program, names, parameters)
    answers = [*body.answers()]
    if field == "special":
        told = [f"{special_words(one.code)[0]} here: {one.why}" for one in op.special]
        both = zip(answers, told, strict=True)
        answers = [f"({met}) && {json.dumps(words)}" for met, words in both]
    answer = ", ".join(answers)
    if field not in ("value", "pole"):
        answer = f"[{answer}]"
    head = f"({', '.join(parameters.values())}) => "
    if not body.lines:
        return head + answer, [*body.helpers]
    return head + "\n".join(["{", *body.lines, f"return {answer};", "}"]), [*body.helpers]
