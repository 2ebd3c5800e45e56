"""The nodes that somebody names: by its name, by its number, or by its text."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable

from exprgrad.errors import RequestError
from exprgrad.graph.graph import CONST
from exprgrad.run.evaluation import Run
from exprgrad.source import Source, Span

__all__ = ["find_nodes", "node_in"]

MOST_LISTED = 8
"""How many nodes that read the same are listed."""
MOST_TEXTS = 1000
"""How many nodes are looked at for what was probably meant."""
MOST_DIGITS = 18
"""The most digits of a number that is read: no node's is longer."""


def find_nodes(run: Run, wanted: Iterable[str | int] | str | int) -> dict[str, int]:
    """Nodes by what they are called: a statement's name, an input, a node's number, or its text.

    Two that read the same get their numbers too.

    Raises ``RequestError`` for what is none of these, or more than one, or a node without a grad.
    """
    listed = [wanted] if isinstance(wanted, str | int) else wanted
    found = dict.fromkeys(find_node(run, each) for each in listed)
    labels = Counter(map(run.label, found))
    return {
        run.label(node) if labels[run.label(node)] == 1 else f"{run.label(node)} #{node}": node
        for node in found
    }


def find_node(run: Run, wanted: str | int) -> int:
    """One node."""
    source = Source(str(wanted), is_expression=False)
    span = (0, len(source.text))
    node = node_in(run, source, span)
    if run.graph.kinds[node] == CONST or run.grad(node) is None:
        message = f"node {node} '{run.texts[node]}' depends on no input and has no grad"
        help = "the table of grad lists the others"
        raise RequestError("no-grad", message, source=source, span=span, help=help)
    return node


def node_in(run: Run, source: Source, span: Span, others: Iterable[str] = ()) -> int:
    """The node that a part of a text names: a name, a number, ``4`` or ``#4``, or a node's text.

    Blanks aside.  ``others`` are words that could have stood there instead.

    Raises ``RequestError``, with the place in the text, for what names no node, or several.
    """
    graph = run.graph
    written = unicodedata.normalize("NFC", source.text[slice(*span)]).strip()
    called = dict(graph.inputs)
    called.update((binding.name, binding.node) for binding in graph.bindings)
    if written in called:
        return called[written]
    digits = written.removeprefix("#")
    is_number = digits.isascii() and digits.isdigit()
    if is_number and len(digits) <= MOST_DIGITS and int(digits) < len(graph):
        return int(digits)
    same = [] if written.startswith("#") else reading(run, written)
    if len(same) == 1:
        return same[0]
    if same:
        listed = ", ".join(f"#{node}" for node in same[:MOST_LISTED]) + ", …" * (
            len(same) > MOST_LISTED
        )
        message, help = f"{len(same)} nodes read '{written}': {listed}", f"say which, as #{same[0]}"
        raise RequestError("ambiguous-node", message, source=source, span=span, help=help)
    if is_number:
        message = f"there is no node {written}"
        help = f"the nodes' numbers are 0 to {len(graph) - 1}; grad shows them"
    else:
        message = f"the expression has no node '{written}'"
        help = hint(run, written, [*called, *others], others)
    raise RequestError("unknown-node", message, source=source, span=span, help=help)


def reading(run: Run, written: str) -> list[int]:
    """The nodes whose text is this, blanks aside."""
    bare = "".join(written.split())
    return [node for node, text in enumerate(run.texts) if "".join(text.split()) == bare]


def hint(run: Run, written: str, known: Iterable[str], others: Iterable[str]) -> str:
    """What was probably meant by a word that names no node."""
    from exprgrad.language.mistakes.hints import nearest

    near = nearest(written, [*known, *run.texts[:MOST_TEXTS]])
    if near:
        return f"did you mean '{near}'?"
    words = f"; or {', '.join(others)}" if others else ""
    return f"a node is given by its name, its number or its text, as grad shows them{words}"
