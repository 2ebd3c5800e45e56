"""The shapes of all nodes, before anything is computed; and broadcasting, made explicit.

The graph of a text is the same for numbers and tensors.  Once the inputs' shapes are known,
``infer_shapes`` gives the graph in which every node has its shape, and an operand that is stretched is a
``broadcast`` node: so elementwise rows never see shapes, and gradients sum back by themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from exprgrad.errors import ShapeError, command_or_python
from exprgrad.graph.graph import (
    CONST,
    INPUT,
    Graph,
    Literal,
    Settings,
    Shape,
    copy_node,
    dependency_flags,
    shape_size,
    transform_graph,
)
from exprgrad.graph.ops import BY_INFIX, BY_NAME
from exprgrad.graph.structural import MOST_AXES, ShapeMismatch, broadcast_shape, shape_text
from exprgrad.graph.tensors import STRUCTURAL
from exprgrad.language.write.infix import ATOM, node_texts, operand_level
from exprgrad.source import Source, Span, cut_text

__all__ = ["infer_shapes", "product_sign", "suggest_shape_option"]

LABEL = 32
"""The most characters of an operand in a message."""
MOST_LISTED = 4
"""How many operands a message lists."""


def infer_shapes(
    graph: Graph, text: str, shapes: Mapping[str, Shape], origins: Mapping[str, str] | None = None
) -> Graph:
    """Infer every node's shape from those of the inputs; raises ``ShapeError`` where they do not fit.

    ``origins`` names the source of an input's shape, such as a file.
    """

    def with_shape(made: Graph, node: int, images: Sequence[int]) -> int:
        """Copy a node with its shape, after the operands that are stretched for it."""
        kind, payload = graph.kinds[node], graph.payloads[node]
        operands = [images[operand] for operand in graph.operands[node]]
        given = [made.shape(operand) for operand in operands]
        try:
            if kind == INPUT:
                shape = shapes[str(payload)]
            elif kind == CONST:
                shape = payload.shape if isinstance(payload, Literal) else ()
            elif kind in STRUCTURAL:
                shape = bounded_shape(STRUCTURAL[kind].shape(given, cast(Settings, payload)))
            else:
                refuse_two_meanings(graph, text, node, given)
                shape = bounded_shape(broadcast_shape(given))
                operands = [
                    stretched_to(made, operand, shape, graph.occurrence(node, position))
                    for position, operand in enumerate(operands)
                ]
        except ShapeMismatch as mismatch:
            raise shape_complaint(graph, text, node, given, mismatch, origins or {}) from None
        image = copy_node(made, graph, node, tuple(operands))
        made.shapes[image] = shape
        return image

    made = transform_graph(graph, with_shape, into=Graph([], graph.budget))[0]
    given = max(
        [1, *map(shape_size, shapes.values())]
    )  # a shape no larger than those costs no more than the caller gave
    sizes = [count if (count := shape_size(shape)) > given else 0 for shape in made.shapes]
    graph.budget.refuse_beyond(sum(sizes), "elements", made.span(sizes.index(max(sizes))))
    return made


def suggest_shape_option(
    error: ShapeError, graph: Graph, shapes: Mapping[str, Shape]
) -> str | None:
    """Suggest which inputs are tensors, where only the ``shapes`` of some were given."""
    needed = dependency_flags(graph, *([] if error.node is None else [error.node]))
    unsaid = [name for name, node in graph.inputs.items() if name not in shapes and needed[node]]
    if not unsaid:
        return error.help
    shown = {name: "x".join(map(str, shape)) for name, shape in shapes.items() if shape}
    said = {name: repr(shape) for name, shape in shapes.items() if shape}
    more = dict.fromkeys(unsaid[:MOST_LISTED], "…")
    options = ",".join(f"{name}={shape}" for name, shape in (shown | more).items())
    arguments = ", ".join(f"{name!r}: {shape}" for name, shape in (said | more).items())
    how = command_or_python(
        f"--shape {options}, sizes as in 150x4", f"shapes={{{arguments}}}, sizes as in (150, 4)"
    )
    return f"say what is a tensor: {how}"


def stretched_to(made: Graph, operand: int, shape: Shape, span: Span) -> int:
    """Stretch an operand to the result's shape; a constant stretches by itself."""
    its_shape = made.shape(operand)
    if its_shape == shape or (made.kinds[operand] == CONST and not its_shape):
        return operand
    node = made.append("broadcast", (operand,), (shape,), span, (span,))
    made.shapes.append(shape)
    made.implicit.add(node)
    return node


def product_sign(graph: Graph, text: str, node: int) -> str:
    """Return a product's sign that some read as an inner or a cross product, such as ``·``; else ""."""
    if graph.kinds[node] != BY_INFIX["*"].name:
        return ""
    between = text[graph.occurrence(node, 0)[1] : graph.occurrence(node, 1)[0]]
    return "".join({*between} & {*"·×⋅∙"})


def refuse_two_meanings(graph: Graph, text: str, node: int, given: Sequence[Shape]) -> None:
    """Refuse ``A²``, ``|A|`` and ``v·w``, which some read element by element, and others do not."""
    if product_sign(graph, text, node) and len(given[0]) == len(given[1]) == 1:
        raise ShapeMismatch(
            "a product of two vectors has two meanings",
            "the inner product is dot({bare[0]}, {bare[1]}); element by element, write {0}*{1}",
        )
    if len(given[0]) < 2:
        return
    is_square, sign = given[0][-1] == given[0][-2], text[graph.ends[node] - 1 : graph.ends[node]]
    if graph.kinds[node] == "abs" and sign == "|" and is_square:
        help = (
            "the determinant is det({bare[0]}); abs({bare[0]}) is the size of each of its elements"
        )
        raise ShapeMismatch("a matrix between bars has two meanings", help, (0,))
    if graph.kinds[node] != BY_INFIX["^"].name:
        return
    exponent = graph.operands[node][1]
    turned = graph.operands[exponent] if graph.kinds[exponent] == "neg" else ()
    is_inverse = graph.payloads[exponent] == -1 or [graph.payloads[at] for at in turned] == [1]
    why = "the power of a matrix has two meanings"
    if is_inverse and is_square:
        help = "the inverse is inv({bare[0]}); 1/{0} is one over each of its elements"
        raise ShapeMismatch(why, help, (0,))
    if sign in tuple("⁰¹²³⁴⁵⁶⁷⁸⁹"):
        help = "write {0} @ {0} for the product of matrices, {0}^2 for the squares of its elements"
        raise ShapeMismatch(why, help, (0,))


def bounded_shape(shape: Shape) -> Shape:
    """Return a shape, unless it has more axes than an array can have."""
    if len(shape) > MOST_AXES:
        raise ShapeMismatch(f"{{op}} makes a tensor of more than {MOST_AXES} axes", None, ())
    return shape


def shape_complaint(
    graph: Graph,
    text: str,
    node: int,
    given: Sequence[Shape],
    mismatch: ShapeMismatch,
    origins: Mapping[str, str],
) -> ShapeError:
    """The error for operands whose shapes do not fit, with the shapes and their sources."""
    operands = graph.operands[node]
    names = graph.names()
    written = node_texts(graph, names)
    called = [cut_text(names.get(operand, written[operand]), LABEL) for operand in operands]
    whole = range(len(operands)) if mismatch.operands is None else mismatch.operands
    facts = list(dict.fromkeys(f"{called[at]} is {shape_text(given[at])}" for at in whole))
    listed = ", ".join(facts[:MOST_LISTED] + (["…"] if len(facts) > MOST_LISTED else []))
    related = []
    for at in [*whole][:MOST_LISTED]:
        name = names.get(operands[at], "")
        origin = f", from {origins[name]}" if name in origins else ""
        related.append((f"{shape_text(given[at])}{origin}", graph.occurrence(node, at)))
    kind = graph.kinds[node]
    span = graph.span(node)
    is_list = (kind, text[span[0]]) == ("stack", "[")
    sign = BY_NAME[kind].infix if kind in BY_NAME else ""
    title = STRUCTURAL[kind].word if kind in STRUCTURAL else f"'{sign}'" if sign else kind
    why = mismatch.why.format(*called, op="a list" if is_list else title)
    help = (kind in BY_NAME and elementwise_hint(kind, given, whole)) or mismatch.help
    if kind == "index" and text[span[0]] == "[" and help is None:
        help = "a ',' goes between two lists, as in [[1, 2], [3, 4]]"
    error = ShapeError(
        "shape",
        f"{why}: {listed}" if listed else why,
        source=Source(text),
        span=span,
        help=help and fill_hint(help, called, [operand_level(graph, n, names) for n in operands]),
        related=tuple(related),
    )
    error.node = node
    return error


def elementwise_hint(kind: str, given: Sequence[Shape], apart: Sequence[int]) -> str | None:
    """Suggest a meaning for operands that do not broadcast; ``apart`` are those that differ."""
    if len(apart) != 2 or given[apart[0]] == given[apart[1]]:
        return None
    one, other = apart
    x, y = given[one], given[other]
    if BY_NAME[kind].infix == "*" and 1 <= len(x) <= 2 and 1 <= len(y) <= 2 and x[-1] == y[0]:
        return "for a product of matrices write {0} @ {1}"
    if len(x) == 2 and y == x[::-1]:
        return f"did you mean {{{other}}}.T?"
    for narrow, wide, at in ((x, y, one), (y, x, other)):
        if len(narrow) < len(wide) and wide[: len(narrow)] == narrow:
            column = [*narrow, *[1] * (len(wide) - len(narrow))]
            return f"to match the first axis, write reshape({{{at}}}, {column})"
    return None


def fill_hint(help: str, called: Sequence[str], levels: Sequence[int]) -> str:
    """Fill a hint with the operands' texts, in parentheses where an operator beside them needs these.

    ``bare[0]`` in a hint is an operand without parentheses.
    """
    pairs = zip(called, levels, strict=True)
    atoms = [
        "(…)" if text[-1] == "…" else text if level == ATOM else f"({text})"
        for text, level in pairs
    ]
    found = help.format(*atoms, bare=called)
    for text in called:
        if text.endswith(".T"):
            found = found.replace(f"{text}.T", text.removesuffix(".T"))
    return found
