"""Expansion of operations into simpler ones, by definition: ``tanh`` into ``exp``, ``-`` and ``/``."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import partial, reduce
from itertools import repeat

from exprgrad.derive.parsed import parse_and_derive
from exprgrad.derive.rules import template
from exprgrad.errors import RequestError, command_or_python
from exprgrad.graph.graph import (
    INPUT,
    MISSING,
    Graph,
    copy_node,
    copy_nodes,
    shallow_copy_graph,
    transform_graph,
)
from exprgrad.graph.ops import BY_INFIX, BY_NAME, Op
from exprgrad.graph.tensors import STRUCTURAL, WORDS
from exprgrad.language.write.infix import name_shared, program_text

__all__ = ["ALL", "expand_text", "expand_within_calls", "rows_to_expand"]

ALL = "all"
"""The word for every row that has a definition."""


def rows_to_expand(names: Iterable[str], graph: Graph) -> list[str]:
    """Return the rows meant by some names or symbols; ``all`` is every row with a definition.

    ``graph`` is the formula; names of its calls are ignored.  Raises ``RequestError`` for a name that
    is no operation, with one that may have been meant, and for one that has no definition.
    """
    found: dict[str, None] = {}
    called = {call.word for call in graph.calls}
    for name in names:
        if name in called:
            continue
        op = BY_NAME.get(name) or BY_INFIX.get(name)
        if name == ALL:
            found.update(dict.fromkeys(row.name for row in BY_NAME.values() if row.definition))
        elif op is None or not op.definition:
            raise expansion_refusal(name, op, graph)
        else:
            found[op.name] = None
    return [*found]


def expansion_refusal(name: str, op: Op | None, graph: Graph) -> RequestError:
    """Return the error for a name that cannot be expanded."""
    if op is None and name not in (*WORDS, *STRUCTURAL):
        from exprgrad.language.mistakes.hints import operation_meant

        known = [*[call.word for call in graph.calls], *BY_NAME, *WORDS]
        return RequestError(
            "unknown-operation",
            f"there is no operation '{name}'",
            help=operation_meant(name, known, "operations"),
        ).about(name)
    kinds = [kind for kind in dict.fromkeys(graph.kinds) if kind in BY_NAME]
    listed = ", ".join(kind for kind in kinds if BY_NAME[kind].definition)
    help = f"of this formula's operations these can be taken apart: {listed}"
    if not listed:
        help = command_or_python(
            "what can be taken apart has a line 'the same as' in 'exprgrad ops NAME'",
            "[op.name for op in exprgrad.OPS if op.definition] lists those that are",
        )
    why = (
        "is not made of simpler operations"
        if op
        else "works on whole tensors, not number by number"
    )
    return RequestError("no-definition", f"'{name}' {why}", help=help).about(name)


def expand_text(graph: Graph, kinds: Collection[str]) -> str:
    """Write a formula with operations expanded until none of ``kinds`` is left.

    ``graph`` is as parsed, without shapes.  Statements keep their names; what a definition uses
    more than once becomes a statement of its own, t1, t2, ….
    """
    return program_text(expand_repeatedly(graph, kinds))


def expand_within_calls(graph: Graph, kinds: Collection[str]) -> tuple[str, Graph]:
    """Expand a formula with calls; return its text, and that text's graph, whose nodes keep their calls."""
    made = expand_repeatedly(graph, kinds)
    text = program_text(made)
    found = parse_and_derive(text)
    transfer_calls(found, made)
    return text, found


def expand_repeatedly(graph: Graph, kinds: Collection[str]) -> Graph:
    """Expand a graph's operations, and name what is used more than once."""
    while not set(kinds).isdisjoint(graph.kinds):
        graph = expand_once(graph, kinds)
    named = shallow_copy_graph(graph)
    name_shared(named)
    return named


def transfer_calls(graph: Graph, made: Graph) -> None:
    """Give a graph the calls of the one that its text was written from."""
    nodes = {binding.name: binding.node for binding in made.bindings}
    pairs = [(binding.node, nodes[binding.name]) for binding in graph.bindings]
    pairs.append((graph.output, made.output))
    origin: dict[int, int] = {}
    image: dict[int, int] = {}
    while pairs:
        node, old = pairs.pop()
        if node in origin:
            continue
        origin[node] = old
        image.setdefault(old, node)
        # A negative number is an operation on one, once it is read.
        olds = made.operands[old] or repeat(old)
        pairs += zip(graph.operands[node], olds, strict=False)
    graph.called = {n: made.called[old] for n, old in origin.items() if old in made.called}
    graph.calls = [
        call._replace(
            operands=tuple([image[operand] for operand in call.operands if operand in image]),
            result=image.get(call.result, MISSING),
            span=graph.span(image.get(call.result, graph.output)),
        )
        for call in made.calls
    ]


def expand_once(graph: Graph, kinds: Collection[str]) -> Graph:
    """Replace every operation of ``kinds`` by its definition."""
    bound = {binding.name for binding in graph.bindings}
    called: dict[int, int] = {}

    def rule(made: Graph, node: int, images: Sequence[int]) -> int | None:
        kind = graph.kinds[node]
        if kind not in kinds:
            return None
        operands = [images[operand] for operand in graph.operands[node]]
        start = len(made)
        define, is_folded = partial(include_definition, made, BY_NAME[kind]), BY_NAME[kind].variadic
        image = (
            reduce(lambda *two: define(two, bound), operands)  # over more than two from the left
            if is_folded
            else define(operands, bound)
        )
        if node in graph.called:
            called.update(dict.fromkeys(range(start, len(made)), graph.called[node]))
        return image

    made, _ = transform_graph(graph, rule)
    made.called |= called
    return made


def include_definition(made: Graph, op: Op, operands: Sequence[int], bound: Collection[str]) -> int:
    """Build the nodes of a definition, equal parts once.

    A constant whose name the formula gives to something else (``bound``) is written as a number.
    """
    text = template(op.definition)
    values = dict(zip(op.fallback_names, operands, strict=True))
    known: dict[object, int] = {}

    def rule(node: int, images: Sequence[int]) -> int:
        kind, payload = text.kinds[node], text.payloads[node]
        inner = tuple([images[operand] for operand in text.operands[node]])
        key = kind, inner, repr(payload)
        if kind == INPUT:
            return values[str(payload)]
        if key not in known:
            known[key] = image = copy_node(made, text, node, inner)
            if made.symbols.get(image) in bound:
                del made.symbols[image]
        return known[key]

    return copy_nodes(made, text, rule)[text.output]
