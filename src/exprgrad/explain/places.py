"""Places in a run, among nodes and within a node's numbers, in words; and nodes by name.

Data, grads and flags are floats and booleans, or NumPy arrays of them: this module uses only what
both support, so that NumPy is not imported.
"""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar, cast

from exprgrad.errors import RequestError
from exprgrad.graph.graph import CONST, Shape, dependency_flags, shape_size, unravel_position
from exprgrad.graph.ops import BY_NAME, Op
from exprgrad.run.evaluation import SweptRun
from exprgrad.source import Source, Span

if TYPE_CHECKING:
    from exprgrad.run.arrays.elements import Origin

__all__ = [
    "Occurrences", "ScalarRun", "element_places", "find_nan", "find_nodes", "find_nonfinite",
    "first_place", "format_tensor_share", "join_words", "live_nodes", "number_in_place", "resolve_node",
    "to_scalar_run", "used_operations",
]  # fmt: skip

R = TypeVar("R", bound=SweptRun)


class Occurrences(NamedTuple):
    """Occurrences of a property among a node's numbers: how many of how many, and the first place.

    A plain number has the place ``()``, which no message mentions.
    """

    many: int
    of: int
    place: Shape

    def numbers(self, label: str) -> str:
        """Write the subject of a sentence: ``3 of 450 numbers of log(X) are``."""
        if not self.place:
            return f"{label} is"
        if self.of == 1:
            return f"the only number of {label} is"
        verb = "is" if self.many == 1 else "are"
        return f"{format_tensor_share(self.many, self.of)} {label} {verb}"

    def first(self) -> str:
        """Write the first place: ``, the first at [2, 0]``."""
        if not self.place or self.of == 1:
            return ""
        return f", {'the first ' if self.many > 1 else ''}at {list(self.place)}"

    def counted(self) -> str:
        """Write how many, and the first place: `` for 2 of 6 numbers, the first at [0]``."""
        if not self.place:
            return ""
        if self.of == 1:
            return " for its only number"
        many = "all" if self.many == self.of else f"{self.many:,} of"
        return f" for {many} {self.of:,} numbers{self.first()}"


def format_tensor_share(many: int, of: int) -> str:
    """Write how many of a tensor's numbers are meant: ``5 of 6 numbers of``."""
    return f"all {of:,} numbers of" if many == of else f"{many:,} of {of:,} numbers of"


def first_place(flags: Any) -> Occurrences | None:
    """Find where a condition holds; None if nowhere."""
    many = int(getattr(flags, "sum", flags.__int__)())
    if not many:
        return None
    shape = getattr(flags, "shape", ())
    first = int(getattr(flags, "argmax", int)())
    return Occurrences(many, shape_size(shape), unravel_position(first, shape))


def number_in_place(value: Any, place: Shape) -> float:
    """Return a tensor's number at a place; a plain number is the same everywhere."""
    return float(value) if isinstance(value, float | int) else float(value[place])


def find_nan(value: Any) -> Occurrences | None:
    """Find where a number or a tensor is nan."""
    return first_place(value != value)


def find_nonfinite(value: Any) -> Occurrences | None:
    """Find where a number or a tensor is nan, or else infinite."""
    return find_nan(value) or first_place(abs(value) == math.inf)


def live_nodes(run: SweptRun) -> bytearray:
    """Flag the nodes that the answer depends on, without those behind a branch that was never taken."""
    graph = run.graph
    branches = {kind: BY_NAME[kind].branches for kind in {*graph.kinds} & BY_NAME.keys()}
    if not any(branches.values()):
        return dependency_flags(graph, graph.output)
    used = bytearray(len(graph))
    used[graph.output] = 1
    for node in range(graph.output, -1, -1):
        operands = graph.operands[node]
        if used[node] and operands:
            untaken = None
            if either := branches.get(graph.kinds[node]):
                taken = first_place(run.values[operands[0]] != 0)
                if taken is None or taken.many == taken.of:
                    untaken = either[0 if taken is None else 1]
            for position, operand in enumerate(operands):
                if position != untaken:
                    used[operand] = 1
    return used


class ScalarRun(NamedTuple, Generic[R]):
    """A run over numbers, mapped to and from the original run, whose tensors it writes out.

    ``origins``  by node: the original node and the place in its tensor; empty if nothing changed
    ``nodes``    by original node: the node of its number, or a tensor's array of nodes
    """

    run: R
    origins: Sequence[Origin]
    nodes: Sequence[Any]

    def node(self, node: int, place: Shape) -> int:
        """Return the node of a number."""
        return int(self.nodes[node][place] if place else self.nodes[node])

    def numbers(self, node: int) -> dict[Shape, int]:
        """Return the nodes of a node's numbers, by place."""
        return {place: self.node(node, place) for place in element_places(self.nodes[node])}

    def origin(self, node: int) -> int:
        """Return the original run's node that a node comes from."""
        return self.origins[node].node if self.origins else node


def to_scalar_run(run: R) -> ScalarRun[R]:
    """Return a run over numbers: the run itself, or one with its tensors written out.

    Raises ``RequestError`` for tensors too large for that.
    """
    if not run.graph.shapes:
        return ScalarRun(run, (), range(len(run.graph)))
    from exprgrad.run.arrays.elements import expand_elements

    return cast("ScalarRun[R]", ScalarRun(*expand_elements(run)))


def element_places(value: Any) -> Iterator[Shape]:
    """Yield the places of an array's numbers; a plain number has the place ``()``."""
    return product(*map(range, getattr(value, "shape", ())))


def used_operations(run: SweptRun, used: Sequence[int]) -> Iterator[tuple[int, Op, list[Any]]]:
    """Yield the operations among the nodes in use, each with its row and its operands' data."""
    graph = run.graph
    for node, operands in enumerate(graph.operands):
        if used[node] and operands:
            yield node, BY_NAME[graph.kinds[node]], [run.values[operand] for operand in operands]


def join_words(words: Sequence[str]) -> str:
    """Join words as in a sentence: ``a``, ``a and b``, ``a, b and c``."""
    *before, last = words
    return f"{', '.join(before)} and {last}" if before else last


# Nodes that somebody names: by a name, by a number, or by their text.

MOST_LISTED = 8
"""The most nodes with the same text that are listed."""
MOST_TEXTS = 1000
"""The most nodes searched for what was probably meant."""
MOST_DIGITS = 18
"""The most digits of a node's number that are read."""


def find_nodes(run: SweptRun, wanted: Iterable[str | int] | str | int) -> dict[str, int]:
    """Find nodes by a statement's name, an input, a node's number, or its text.

    Two with the same text get their numbers too.

    Raises ``RequestError`` for no node, several nodes, or a node without a grad.
    """
    listed = [wanted] if isinstance(wanted, str | int) else wanted
    found = dict.fromkeys(find_node(run, each) for each in listed)
    labels = Counter(map(run.label, found))
    return {
        run.label(node) if labels[run.label(node)] == 1 else f"{run.label(node)} #{node}": node
        for node in found
    }


def find_node(run: SweptRun, wanted: str | int) -> int:
    """Find one node."""
    source = Source(str(wanted), is_expression=False)
    span = (0, len(source.text))
    node = resolve_node(run, source, span)
    if run.graph.kinds[node] == CONST or run.grad(node) is None:
        raise RequestError(
            "no-grad",
            f"node {node} '{run.texts[node]}' depends on no input and has no grad",
            source=source,
            span=span,
            help="the table of grad lists the others",
        )
    return node


def resolve_node(run: SweptRun, source: Source, span: Span, others: Iterable[str] = ()) -> int:
    """Resolve a part of a text to a node: a name, a number, ``4`` or ``#4``, or a node's text.

    Blanks are ignored.  ``others`` are words that are also allowed there.

    Raises ``RequestError``, with the place in the text, for no node or several.
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
    bare = "".join(written.split())
    reading = [node for node, text in enumerate(run.texts) if "".join(text.split()) == bare]
    same = [] if written.startswith("#") else reading
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
        help = suggest_node(run, written, [*called, *others], others)
    raise RequestError("unknown-node", message, source=source, span=span, help=help)


def suggest_node(run: SweptRun, written: str, known: Iterable[str], others: Iterable[str]) -> str:
    """Suggest a name for a word that names no node."""
    from exprgrad.language.mistakes.hints import nearest_word

    near = nearest_word(written, [*known, *run.texts[:MOST_TEXTS]])
    if near:
        return f"did you mean '{near}'?"
    words = f"; or {', '.join(others)}" if others else ""
    return f"a node is given by its name, its number or its text, as grad shows them{words}"
