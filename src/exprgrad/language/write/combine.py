"""One formula made of several: others replace its inputs, and the text has each part once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain

from exprgrad.graph.graph import INPUT, Binding, Graph, copy_nodes
from exprgrad.language.write.infix import name_shared, program_text

__all__ = ["substitute_inputs"]

Seen = dict[object, int]


def substitute_inputs(graph: Graph, formulas: Mapping[str, Graph]) -> str:
    """Write a formula with other formulas in the place of some of its inputs, all at once.

    Inputs of one name are one input, and what two formulas have in common is there once.  A part that is
    read twice becomes a statement, with the name of the input that it replaces if nothing else has that
    name; other statements keep theirs likewise.
    """
    made, seen = Graph(), Seen()
    named, known = [], {}
    for name, part in formulas.items():
        images = place_nodes(made, part, {}, seen)
        known[name] = images[part.output]
        named += [(binding.name, images[binding.node]) for binding in part.bindings]
        named.append((name, known[name]))
    images = place_nodes(made, graph, known, seen)
    named += [(binding.name, images[binding.node]) for binding in graph.bindings]
    made.output = images[graph.output]
    name_statements(made, named)
    name_shared(made)
    return program_text(made)


def place_nodes(made: Graph, part: Graph, known: Mapping[str, int], seen: Seen) -> list[int]:
    """Add a formula's nodes but for those that other formulas have; ``known`` replace its inputs."""
    keys = []

    def rule(node: int, images: Sequence[int]) -> int | None:
        kind, payload = part.kinds[node], part.payloads[node]
        operands = tuple([images[operand] for operand in part.operands[node]])
        keys.append((kind, operands, repr(payload), part.symbols.get(node), part.spelled.get(node)))
        return known.get(str(payload)) if kind == INPUT and payload in known else seen.get(keys[-1])

    images = copy_nodes(made, part, rule)
    seen.update(zip(keys, images, strict=True))
    return images


def name_statements(made: Graph, named: Sequence[tuple[str, int]]) -> None:
    """Make statements of operations that are read twice; of two names for one the first counts."""
    uses = Counter(chain.from_iterable(made.operands))
    known: dict[str, int] = {}
    for name, node in named:
        if made.operands[node] and uses[node] > 1 and name not in made.inputs:
            known.setdefault(name, node)
    found = {node: name for name, node in reversed(known.items())}
    made.bindings = [Binding(found[node], node, made.span(node)) for node in sorted(found)]
