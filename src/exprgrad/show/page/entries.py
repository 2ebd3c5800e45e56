"""What a page over tensors works out: each operation as a program over the numbers of its operands.

The page's arithmetic is that of numbers, so an elementwise operation is done number by number, and any
other is written out: a product of matrices is its products and sums.  Which number comes from which, and
the Jacobian, follow from there; no operation says it by itself.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple, cast

from exprgrad.derive.rules import template
from exprgrad.errors import RequestError
from exprgrad.explain.diagnostics import Run
from exprgrad.graph.graph import CONST, INPUT, NUMBERS, Graph, Literal, Settings, size
from exprgrad.graph.ops import BY_NAME
from exprgrad.graph.tensors import STRUCTURAL
from exprgrad.run.evaluation import evaluator_for
from exprgrad.run.numbers.sweeps import gated
from exprgrad.show.documents.document import finite
from exprgrad.show.page.arithmetic import is_tensor, knows_operands, rows

__all__ = ["Written", "fixed", "tensor_program", "written_out"]

MOST_STEPS = 20_000
"""The most operations on numbers, over all nodes, that a page works out at each edit."""


class Written(NamedTuple):
    """A node over tensors, written out.

    ``run``      over numbers: its inputs are those of the operands, in order
    ``outputs``  the nodes of the result's numbers; of an elementwise one, the one that is done to each
    """

    run: Run
    outputs: list[int]


def written_out(run: Run) -> dict[int, Written]:
    """By node, those over tensors written out.  Raises ``RequestError`` where they are too large."""
    if not run.graph.shapes:
        return {}
    from exprgrad.run.arrays.elements import refuse_many

    refuse_many(run.graph)
    found = {node: alone(run, node) for node in run.shown if is_tensor(run.graph, node)}
    count = sum(len(one.run.graph) for one in found.values())
    if count > MOST_STEPS:
        raise RequestError(
            "too-large",
            f"a page takes up to {MOST_STEPS:,} operations on the numbers of tensors; "
            f"this formula has {count:,}",
            help="try a smaller example of the same formula: fewer rows, fewer columns",
        )
    return found


def alone(run: Run, node: int) -> Written:
    """One operation by itself, over numbers: its operands are inputs."""
    from exprgrad.run.arrays.arrays import as_array
    from exprgrad.run.arrays.elements import elements

    assert run.adjoints is not None
    graph, kind, operands = run.graph, run.graph.kinds[node], run.graph.operands[node]
    told = [(*as_array(run.values[operand]).ravel().tolist(),) for operand in operands]
    held = {at: told[at] for at, operand in enumerate(operands) if not run.varying[operand]}
    # A row may ask for the number of an operand that is the same whatever the inputs: it has to be one.
    is_uneven = any(len({*numbers}) > 1 for numbers in held.values())
    by_number = kind in BY_NAME and not (is_uneven and knows_operands(BY_NAME[kind]))
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
        return Written(done, [own.output])
    written = elements(done)
    over, nodes = cast(Run, written.run), written.nodes
    return Written(over, nodes[own.output].ravel().tolist())


def tensor_program(run: Run, node: int, written: Written) -> dict[str, Any]:
    """A node over tensors as the page's script does it.

    ``shape``  the result's
    ``row``    of an elementwise operation, which is done to each number, by the same row
    ``rows``, ``count``, ``nodes``, ``outputs``  of any other: rows by place, how many numbers the operands
               have, the nodes behind those, each a number or a row with its operands, and the result's
    ``gates``  by row, the operands to which nothing is passed where the local derivative is 0
    ``reads``  by row and operand, the operands that its local derivative depends on
    """
    graph, keys = written.run.graph, rows(written.run)
    shape = list(run.graph.shape(node))
    used = [*dict.fromkeys(filter(None, keys))]
    kinds = {key: graph.kinds[at] for at, key in enumerate(keys) if key}
    counts = {key: len(graph.operands[at]) for at, key in enumerate(keys) if key}
    told = {
        "shape": shape,
        "gates": [
            [at for at in range(counts[key]) if gated(BY_NAME[kinds[key]], at)] for key in used
        ],
        "reads": [[read(kinds[key], at) for at in range(counts[key])] for key in used],
    }
    if run.graph.kinds[node] in BY_NAME and len(used) == 1:
        return told | {"row": used[0]}
    count = sum(size(run.graph.shape(operand)) for operand in run.graph.operands[node])
    nodes = [
        [used.index(keys[at]), *graph.operands[at]] if keys[at] else finite(written.run.values[at])
        for at in range(count, len(graph))
    ]
    return told | {"rows": used, "count": count, "nodes": nodes, "outputs": written.outputs}


@cache
def read(kind: str, position: int) -> list[int]:
    """The operands that the local derivative for one of a row's operands depends on."""
    op = BY_NAME[kind]
    names = template(op.shown_partial(position)).inputs
    if op.variadic:
        return [position] if names else []
    return [at for at, name in enumerate(op.names) if name in names]


def fixed(run: Run) -> set[int]:
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
