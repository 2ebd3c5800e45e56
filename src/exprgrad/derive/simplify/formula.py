"""Derivatives as formulas that people read: shown rules, simplified, long shared parts as named steps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, count

from exprgrad.derive.simplify.simplify import formulas
from exprgrad.derive.sweeps.gradient import unsimplified
from exprgrad.errors import RequestError, advice
from exprgrad.graph.graph import CONST, INPUT, Binding, Graph, Literal, transform
from exprgrad.graph.op import having
from exprgrad.graph.ops import BY_NAME, COMMON
from exprgrad.graph.structural import shape_text
from exprgrad.language.read.builder import CONSTANTS
from exprgrad.language.read.parse import at_shapes, need_number
from exprgrad.language.write.infix import label, leaf, length, operation_text, program
from exprgrad.source import Source

__all__ = ["derivatives", "refuse_tensors", "reshaped", "with_names", "with_steps"]

WORTH_A_NAME = 40
"""How many characters a new name must save."""
WORTH_ITS_NAME = 12
"""The most characters of what is written out although a person gave it a name."""
EXTREMA = frozenset(op.name for op in COMMON if op.winner)
"""``max`` and ``min``."""
UNORDERED = EXTREMA | having(COMMON, "commutes")
"""The rows whose operands may change places."""
SMALL = 500
"""In a formula of more nodes a person's names are used without asking whether they make it shorter."""


def derivatives(
    graph: Graph, wrt: Sequence[str], *, steps: bool = True, by_hand: bool = True
) -> Iterator[Graph]:
    """The output's derivative with respect to each input, in turn.

    A person's names are used where that is no longer than to write everything out, that of the output
    never.  Without ``steps`` they all are, and there are no others, as for a derivative to be derived
    again.  Unless ``by_hand``, no identities are used.
    A derivative with respect to a tensor is a tensor of its shape; with ``steps`` its nodes' shapes are not
    known.
    """
    graph = without_repeats(graph)
    made = unsimplified(graph, wrt)
    if not steps:
        for formula, names in formulas(made, graph, by_hand=by_hand):
            yield reshaped(with_names(formula, names), graph)
        return
    inner = [binding for binding in graph.bindings if binding.node != graph.output]
    ways = [inner, []] if inner and len(graph) <= SMALL else [inner]
    for same in zip(
        *[formulas(made, graph, way, by_hand=by_hand, all_inputs=False) for way in ways],
        strict=True,
    ):
        texts = [with_steps(formula, known, graph) for formula, known in same]
        several = len(texts) > 1
        yield min(texts, key=lambda formula: length(program(formula))) if several else texts[0]


def without_repeats(graph: Graph) -> Graph:
    """``max(x, x, y)`` as ``max(x, y)``, for an operand does not tie with itself."""
    if EXTREMA.isdisjoint(graph.kinds):
        return graph
    met: dict[object, int] = {}
    alike: list[int] = []  # by node: the first that is the same formula

    def rule(made: Graph, node: int, images: Sequence[int]) -> int | None:
        kind, payload = graph.kinds[node], graph.payloads[node]
        operands = tuple([alike[operand] for operand in graph.operands[node]])
        ordered = tuple(sorted(operands)) if kind in UNORDERED else operands
        alike.append(met.setdefault((kind, repr(payload), ordered), node))
        distinct = tuple([images[operand] for operand in dict.fromkeys(operands)])
        if kind not in EXTREMA or len(distinct) == len(operands):
            return None
        if len(distinct) == 1:
            return distinct[0]
        made.shapes.append(graph.shape(node))
        return made.append(kind, distinct, payload, graph.span(node))

    return transform(graph, rule)[0]


def reshaped(formula: Graph, graph: Graph) -> Graph:
    """A formula with the shapes of its nodes, if those of what it was derived from are known."""
    shapes = {name: graph.shape(node) for name, node in graph.inputs.items()}
    return at_shapes(formula, "", shapes)


def with_names(graph: Graph, known: dict[int, str]) -> Graph:
    """A formula with the names that a person gave to some of its nodes."""
    for node in sorted(known):
        if graph.operands[node] and node != graph.output:
            graph.bindings.append(Binding(known[node], node, graph.span(node)))
    return graph


def with_steps(graph: Graph, known: dict[int, str], typed: Graph) -> Graph:
    """A formula in which what is long and used more than once is a named statement.

    ``known`` are names that a person gave to some of its nodes; the others are t1, t2, …, but none that
    an input or the output of ``typed`` has, what was derived.  If one of a person's names is kept, all are.
    """
    own = {node for node in known if graph.operands[node]}
    if own and not naming(graph, known, own, typed, WORTH_ITS_NAME) & own:
        own = set()
    naming(graph, known, own, typed, 0, bind=True)
    return graph


def naming(
    graph: Graph,
    known: dict[int, str],
    own: set[int],
    typed: Graph,
    short: int,
    *,
    bind: bool = False,
) -> set[int]:
    """The nodes that get a name: those of ``own`` that are not ``short``, and what is worth one.

    New names are none that are known or in ``typed``.  With ``bind`` the nodes become statements.
    """
    uses = Counter(chain.from_iterable(graph.operands))
    taken = {*known.values(), *CONSTANTS, typed.output_name}
    fresh = (n for at in count(1) if (n := f"t{at}") not in taken and n not in typed.inputs)
    names = {node: name for name, node in graph.inputs.items()}
    found: set[int] = set()
    written: list[str] = []
    shared = [node for node, times in uses.items() if times > 1 and graph.operands[node]]
    last = max([*own, *shared], default=-1)  # none behind it can be worth a name
    for node, kind in enumerate(graph.kinds[: last + 1]):
        operands = graph.operands[node]
        if kind in (INPUT, CONST):
            payload = graph.payloads[node]
            text = str(payload) if kind == INPUT else graph.symbols.get(node, repr(payload))
            if isinstance(payload, Literal):
                text = leaf(graph, node)
        else:
            settings = graph.payloads[node]
            called = [label(graph, o, names, written) for o in operands]
            text = operation_text(kind, called, settings=settings)
            saved = (uses[node] - 1) * (len(text) - 2)
            kept = node in own and len(text) > short
            searched = kind in BY_NAME and BY_NAME[kind].equation is not None and uses[node] > 1
            if node != graph.output and (kept or searched or saved > WORTH_A_NAME):
                found.add(node)
                names[node] = known.get(node) or next(fresh)
                if bind:
                    graph.bindings.append(Binding(names[node], node, graph.span(node)))
        written.append(text)
    return found


def refuse_tensors(graph: Graph, text: str, wrt: Sequence[str], order: int) -> None:
    """Raise an error for what has no derivative as a formula of tensors.

    The formula must be a number; beyond the first order, so must each input of ``wrt``.
    """
    need_number(graph, text, "diff")
    for name in wrt if order > 1 else ():
        node = graph.inputs[name]
        shape = graph.shape(node)
        if shape:
            message = (
                f"derivatives of order {order} need inputs that are numbers, "
                f"and '{name}' is {shape_text(shape)}"
            )
            help = advice(
                "hess computes second derivatives with respect to tensors; --wrt a,b chooses inputs",
                "hessian() computes second derivatives with respect to tensors",
            )
            span = graph.span(node)
            raise RequestError("bad-order", message, source=Source(text), span=span, help=help)
