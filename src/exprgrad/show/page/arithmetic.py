"""The page's arithmetic in JavaScript, written from the op table: value and local derivatives of each row.

A page needs few rows, so it gets those that its formula uses, each once.  What a rule knows of its node
beside numbers (which operands depend on an input, how many there are) is folded in; rows for which that
makes a difference are written once for each case.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple, cast

from exprgrad.derive.build import GraphBuilder
from exprgrad.derive.lower.lower import lower_program, row_programs
from exprgrad.derive.rules import rule_slots, template
from exprgrad.derive.sweeps.walks import SweepSource
from exprgrad.errors import RequestError
from exprgrad.explain.diagnostics import DiagnosedRun
from exprgrad.explain.kinks_met import SPECIAL_WORDS
from exprgrad.graph.graph import (
    CONST,
    INPUT,
    NUMBERS,
    Graph,
    Literal,
    LoopProgram,
    Program,
    Settings,
    dependent_flags,
    shape_size,
)
from exprgrad.graph.ops import BY_NAME, Op
from exprgrad.graph.tensors import STRUCTURAL
from exprgrad.language.code.program import helper_functions
from exprgrad.language.code.statements import ProgramWriter, Statements
from exprgrad.language.code.target import Routine
from exprgrad.language.code.targets import TARGETS
from exprgrad.language.write.infix import number_text
from exprgrad.run.evaluation import evaluator_for
from exprgrad.run.numbers.sweeps import is_gated_edge
from exprgrad.show.documents.document import encode_nonfinite

__all__ = [
    "OUT", "SPECIAL", "ExpandedNode", "expand_tensor_nodes", "operand_names", "page_arithmetic", "row_keys",
    "selector_inputs", "tensor_program",
]  # fmt: skip

JAVASCRIPT = TARGETS["javascript"]
PREFIX = "op_"
"""The prefix of the helper functions' names."""
OUT = "out"
"""The name of an operation's own result in its rules."""
SPECIAL = "\nspecial: "
"""The heading of a row's kinks and jumps."""


def row_keys(run: DiagnosedRun) -> list[str]:
    """The key of each node's row in ``OPS``; empty for an input, a constant or a tensor.

    It is the row's name and what else its rules know: ``logsumexp/3`` has three operands; in ``pow/x,3``
    only the first depends on an input, and the second is 3.
    """
    graph = run.graph
    varying = dependent_flags(graph, graph.inputs.values())
    found = []
    for node, (kind, operands) in enumerate(zip(graph.kinds, graph.operands, strict=True)):
        if not operands or kind not in BY_NAME or any(map(graph.shape, (node, *operands))):
            found.append("")
        elif has_varies_flags(BY_NAME[kind]):
            told = ["x" if varying[o] else number_text(run.values[o]) for o in operands]
            found.append(f"{kind}/{','.join(told)}")
        elif BY_NAME[kind].variadic:
            found.append(f"{kind}/{len(operands)}")
        else:
            found.append(kind)
    return found


@cache
def has_varies_flags(op: Op) -> bool:
    """Whether a row's rules tell operands that depend on an input from others."""
    names = {name for text in (*op.partials, op.ties) if text for name in template(text).inputs}
    return bool(names - {*op.names, "out", "ties"})


def page_arithmetic(*runs: DiagnosedRun) -> str:
    """The object ``OPS``, in JavaScript, with the functions that it needs before it.

    By the key of each row that the runs' formulas use: ``value``, a function of the operands, and
    ``partials``, one of the operands and ``out`` that returns the list of local derivatives.  Those for
    operands that are nowhere differentiated are 0, and never computed.  Where the row has kinks or jumps,
    ``special`` returns the list of what to say of those that are met; it is also given, as 1 or 0, which
    operands a small step may move.  Where it has poles, ``pole`` says whether the operands are at one.
    """
    nodes, wanted = collect_rows(runs)
    varying = {id(run): dependent_flags(run.graph, run.graph.inputs.values()) for run in runs}
    layout = JAVASCRIPT.layout._replace(
        helper="function {name}({parameters}) {{\n{body}\n}}\n", gaps=("", "")
    )
    writer = ProgramWriter(JAVASCRIPT._replace(layout=layout), PREFIX, {})
    called: dict[Routine, None] = {}
    programs: dict[Routine, Program | LoopProgram] = {}
    entries = []
    for row, (run, node) in nodes.items():
        op, operands = BY_NAME[run.graph.kinds[node]], run.graph.operands[node]
        known = [None if varying[id(run)][o] else float(run.values[o]) for o in operands]
        names = operand_names(op, len(known))
        seen = {
            "value": names,
            "pole": names,
            "partials": (*names, OUT),
            "special": (*names, OUT, *(f"varies_{name}" for name in names)),
        }
        parts = []
        for field, program in build_row_programs(op, known, sorted(wanted[row])).items():
            lowered = lower_program(program, JAVASCRIPT.spelled)
            for needed, formula in row_programs(lowered, JAVASCRIPT.spelled).items():
                programs.setdefault(needed, formula)
            text, used = format_arrow_function(writer, lowered, op, field, seen[field])
            called.update(dict.fromkeys(used))
            parts.append(f"{field}: {text}")
        entries.append(f'"{row}": {{\n' + ",\n".join(parts) + "\n}")
    written = helper_functions(writer, called, programs)
    return "".join(written) + "const OPS = {\n" + ",\n".join(entries) + "\n};\n"


def collect_rows(
    runs: Sequence[DiagnosedRun],
) -> tuple[dict[str, tuple[DiagnosedRun, int]], dict[str, set[int]]]:
    """By key, a node of each row that runs use, and the positions whose local derivatives are wanted."""
    nodes: dict[str, tuple[DiagnosedRun, int]] = {}
    wanted: dict[str, set[int]] = {}
    for run in runs:
        assert run.adjoints is not None
        active = run.adjoints.active
        for node, row in enumerate(row_keys(run)):
            if row:
                nodes.setdefault(row, (run, node))
                places = enumerate(run.graph.operands[node])
                wanted.setdefault(row, set()).update(
                    at for at, operand in places if active[operand]
                )
    return nodes, wanted


def operand_names(op: Op, count: int) -> tuple[str, ...]:
    """The names of a row's operands."""
    return tuple([f"x{n}" for n in range(1, count + 1)]) if op.variadic else op.names


def build_row_programs(
    op: Op, known: Sequence[float | None], positions: Sequence[int]
) -> dict[str, Program]:
    """The programs of one row: its value, and its local derivatives for the operands at some positions.

    Its kinks and jumps follow, if those operands can meet any.
    ``known`` are the numbers of operands that depend on no input, for the rules that ask for them.
    """
    graph = Graph()
    told = has_varies_flags(op)
    for name, value in zip(operand_names(op, len(known)), known, strict=True):
        if value is None or not told:
            graph.inputs[name] = graph.append(INPUT, (), name, (0, 0))
        else:
            graph.append(CONST, (), value, (0, 0))
    operands = tuple(range(len(graph)))
    graph.output = graph.append(op.name, operands, None, (0, 0), ((0, 0),) * len(operands))
    found = {"value": Program(graph, (graph.output,))}
    if positions:
        builder = GraphBuilder()
        source = SweepSource(builder, graph)
        source.image[graph.output] = builder.input(OUT)
        passed = {operand: local for operand, local, _ in source.edges(graph.output, positions)}
        locals_ = [passed[at] if at in passed else builder.constant(0.0) for at in operands]
        found["partials"] = builder.program(locals_)
        special = special_program(op, graph, positions)
        if special is not None:
            found["special"] = special
    if op.poles:
        pole = pole_program(op, graph)
        if pole is not None:
            found["pole"] = pole
    return found


def pole_program(op: Op, graph: Graph) -> Program | None:
    """Build a program that returns nonzero at a pole of a row; None if the operands never meet one."""
    builder = GraphBuilder()
    source = SweepSource(builder, graph)
    given = {
        name: source.image[operand]
        for name, operand in zip(op.names, graph.operands[graph.output], strict=True)
    }
    met = builder.total([source.instantiate(where, given) for where, _ in op.poles])
    return None if builder.value(met) == 0 else builder.program([met])


def special_program(op: Op, graph: Graph, positions: Sequence[int]) -> Program | None:
    """The conditions of a row's kinks and jumps, not 0 where they hold for one of some operands.

    None where they never do: ``x^2`` has no jump, as ``x^y`` has.
    """
    builder = GraphBuilder()
    source = SweepSource(builder, graph)
    operands = graph.operands[graph.output]
    names, out = operand_names(op, len(operands)), builder.input(OUT)
    images = [source.image[operand] for operand in operands]
    flags = [
        builder.constant(0.0) if graph.kinds[operand] == CONST else builder.input(f"varies_{name}")
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
        given = [dict(zip(rule_slots(op), [*images, out, *flags], strict=True))]
    met = [
        builder.total([source.instantiate(special.where, one) for one in given])
        for special in op.special
    ]
    return builder.program(met) if any(builder.value(one) != 0 for one in met) else None


def format_arrow_function(
    writer: ProgramWriter, program: Program, op: Op, field: str, seen: Sequence[str]
) -> tuple[str, list[Routine]]:
    """A program as an arrow function of what it may see, and the helpers that it calls."""
    names = writer.names()
    parameters = {name: names.claim(name) for name in seen}
    body = Statements(writer, program, names, parameters)
    answers = [*body.answers()]
    if field == "special":
        told = [f"{SPECIAL_WORDS[one.code][0]} here: {one.why}" for one in op.special]
        both = zip(answers, told, strict=True)
        answers = [f"({met}) && {json.dumps(words)}" for met, words in both]
    answer = ", ".join(answers)
    if field not in ("value", "pole"):
        answer = f"[{answer}]"
    head = f"({', '.join(parameters.values())}) => "
    if not body.lines:
        return head + answer, [*body.helpers]
    return head + "\n".join(["{", *body.lines, f"return {answer};", "}"]), [*body.helpers]


# Tensors: the program that ``elements`` writes, number by number.


MOST_STEPS = 20_000
"""The most operations on numbers, over all nodes, that a page works out at each edit."""


class ExpandedNode(NamedTuple):
    """A node over tensors, written out.

    ``run``      over numbers: its inputs are those of the operands, in order
    ``outputs``  the nodes of the result's numbers; of an elementwise one, the one that is done to each
    """

    run: DiagnosedRun
    outputs: list[int]


def expand_tensor_nodes(run: DiagnosedRun) -> dict[int, ExpandedNode]:
    """By node, those over tensors written out.  Raises ``RequestError`` where they are too large."""
    keys = row_keys(run)
    nodes = [node for node in run.shown if run.graph.operands[node] and not keys[node]]
    if not nodes:
        return {}
    from exprgrad.run.arrays.elements import refuse_many

    refuse_many(run.graph)
    found = {node: expand_operation(run, node) for node in nodes}
    count = sum(len(one.run.graph) for one in found.values())
    if count > MOST_STEPS:
        raise RequestError(
            "too-large",
            f"a page takes up to {MOST_STEPS:,} operations on the numbers of tensors; "
            f"this formula has {count:,}",
            help="try a smaller example of the same formula: fewer rows, fewer columns",
        )
    return found


def expand_operation(run: DiagnosedRun, node: int) -> ExpandedNode:
    """One operation by itself, over numbers: its operands are inputs."""
    from exprgrad.run.arrays.arrays import array_of_doubles
    from exprgrad.run.arrays.elements import expand_elements

    assert run.adjoints is not None
    graph, kind, operands = run.graph, run.graph.kinds[node], run.graph.operands[node]
    told = [(*array_of_doubles(run.values[operand]).ravel().tolist(),) for operand in operands]
    held = {at: told[at] for at, operand in enumerate(operands) if not run.varying[operand]}
    # A row may ask for the number of an operand that is the same whatever the inputs: it has to be one.
    is_uneven = any(len({*numbers}) > 1 for numbers in held.values())
    by_number = kind in BY_NAME and not (is_uneven and has_varies_flags(BY_NAME[kind]))
    own = Graph(NUMBERS if by_number else [])
    inputs: dict[str, Any] = {}
    for at, operand in enumerate(operands):
        name, shape, numbers = f"x{at}", graph.shape(operand), held.get(at, ())
        if numbers and (not by_number or len({*numbers}) == 1):
            known = Literal(shape, numbers) if shape and not by_number else numbers[0]
            own.append(CONST, (), known, (0, 0))
        else:
            inputs[name] = told[at][0] if by_number else run.values[operand]
            own.inputs[name] = own.append(INPUT, (), name, (0, 0))
        own.shapes.append(shape)
    places = tuple(range(len(own)))
    own.output = own.append(kind, places, graph.payloads[node], (0, 0), ((0, 0),) * len(places))
    own.shapes.append(graph.shape(node))
    wrt = tuple([name for name, at in own.inputs.items() if run.adjoints.active[operands[at]]])
    done = type(run).of("", evaluator_for(own), inputs, wrt)
    if by_number:
        return ExpandedNode(done, [own.output])
    written = expand_elements(done)
    over, nodes = cast(DiagnosedRun, written.run), written.nodes
    return ExpandedNode(over, nodes[own.output].ravel().tolist())


def tensor_program(run: DiagnosedRun, node: int, written: ExpandedNode) -> dict[str, Any]:
    """A node over tensors as the page's script does it.

    ``shape``  the result's
    ``row``    of an elementwise operation, which is done to each number, by the same row
    ``rows``, ``count``, ``nodes``, ``outputs``  of any other: rows by place, how many numbers the operands
               have, the nodes behind those, each a number or a row with its operands, and the result's
    ``gates``  by row, the operands to which nothing is passed where the local derivative is 0
    ``reads``  by row and operand, the operands that its local derivative depends on
    """
    graph, keys = written.run.graph, row_keys(written.run)
    shape = list(run.graph.shape(node))
    used = [*dict.fromkeys(filter(None, keys))]
    kinds = {key: graph.kinds[at] for at, key in enumerate(keys) if key}
    counts = {key: len(graph.operands[at]) for at, key in enumerate(keys) if key}
    told = {
        "shape": shape,
        "gates": [
            [at for at in range(counts[key]) if is_gated_edge(BY_NAME[kinds[key]], at)]
            for key in used
        ],
        "reads": [[partial_operands(kinds[key], at) for at in range(counts[key])] for key in used],
    }
    if run.graph.kinds[node] in BY_NAME and len(used) == 1:
        return told | {"row": used[0]}
    count = sum(shape_size(run.graph.shape(operand)) for operand in run.graph.operands[node])
    nodes = [
        [used.index(keys[at]), *graph.operands[at]]
        if keys[at]
        else encode_nonfinite(written.run.values[at])
        for at in range(count, len(graph))
    ]
    return told | {"rows": used, "count": count, "nodes": nodes, "outputs": written.outputs}


@cache
def partial_operands(kind: str, position: int) -> list[int]:
    """The operands that the local derivative for one of a row's operands depends on."""
    op = BY_NAME[kind]
    names = template(op.display_partial(position)).inputs
    if op.variadic:
        return [position] if names else []
    return [at for at, name in enumerate(op.names) if name in names]


def selector_inputs(run: DiagnosedRun) -> set[int]:
    """The inputs whose numbers choose among others, as labels do: what follows is known for those alone."""
    graph = run.graph
    chosen: set[int] = set()
    for node in reversed(range(len(graph))):
        row = STRUCTURAL.get(graph.kinds[node])
        operands = graph.operands[node]
        if node in chosen or (row is not None and row.gate == "blocker"):
            chosen |= {*operands}
        elif row is not None and row.labels is not None:
            found = row.labels(
                [graph.shape(o) for o in operands], cast(Settings, graph.payloads[node])
            )
            if found is not None:
                chosen.add(operands[found[0]])
    return {node for node in graph.inputs.values() if node in chosen}
