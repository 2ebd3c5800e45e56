"""Programs in the rows that an engine has functions for, with shared work and shorter operations.

A row's rules are each as accurate as doubles allow, and share nothing: tanh calls one function of the C
library, its partial another.  ``Op.fused_partials`` computes them from terms that they share.  Where a row
has those, they replace an operation of a derived program and the partials that belong to it.

A row that an engine lacks is replaced by its formula (``derive/lower/lower.py`` says which).  Some
operations are replaced by faster ones.  All but powers give the same double: a sum with a negative becomes
a difference, signs move out of products, a division by a power of two becomes a product.  Small powers
become products, within 3 ulp.  Conditions become masks for engines that have them, and polynomials use
fused operations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from math import frexp, isfinite
from types import MappingProxyType
from typing import NamedTuple, cast

from exprgrad.derive.build import GraphBuilder, is_zero_or_one
from exprgrad.derive.lower.lower import defining_formula, lower_sum
from exprgrad.derive.rules import join_balanced, rule_slots, template
from exprgrad.graph.graph import (
    CONST,
    INPUT,
    Graph,
    Program,
    copy_node,
    dependency_flags,
    dependent_flags,
)
from exprgrad.graph.ops import BY_NAME, COMPARISONS, LOGIC, by_row_name
from exprgrad.run.numbers.sweeps import functions

__all__ = [
    "FMA", "MASKS", "contract_polynomials", "fuse_partials", "lower_for_engine", "with_truths",
]  # fmt: skip

Read = Callable[[str], Graph]
"""A text's graph, in rows, and in what an engine has beside them."""


# Values and partials that share their work.


def fuse_partials(
    program: Program, but: Container[str] = (), read: Read = template, ready: Container[str] = ()
) -> Program:
    """Replace values and partials by fused ones, which are within 5 ulp, as engines are.

    Rows of ``but`` stay as they are, of those that are ``ready`` only the values.  ``read`` makes a graph
    of a fused text.  A partial is recognised by its form: it is what the row's rule makes of the
    operation's nodes.
    """
    known = [kind for kind in {*program.graph.kinds} & {*BY_NAME} if kind not in but]
    kinds = {kind for kind in known if BY_NAME[kind].fused_partials}
    if not kinds:
        return program
    seen = GraphBuilder(program.graph.empty())
    images = seen.include(program.graph)
    size = len(seen.graph)
    varying = dependent_flags(seen.graph, seen.graph.inputs.values())
    one = seen.constant(1.0)
    chosen: dict[int, tuple[int, str]] = {}
    for node in range(size):
        kind, operands = seen.graph.kinds[node], seen.graph.operands[node]
        if kind in kinds and all(varying[operand] for operand in operands):
            op = BY_NAME[kind]
            if kind not in ready:
                chosen[node] = node, op.fused_partials[0]
            given = dict(zip(rule_slots(op), (*operands, node), strict=False))
            given |= dict.fromkeys([name for name in rule_slots(op) if "varies" in name], one)
            for rule, text in zip(op.partials, op.fused_partials[1:], strict=True):
                graph = template(rule)
                partial = seen.include(graph, given)[graph.output]
                if partial < size:
                    chosen.setdefault(partial, (node, text))
    seen.graph.truncate(size)
    builder = GraphBuilder(program.graph.empty())

    def together(node: int, made: Sequence[int]) -> int | None:
        if node not in chosen:
            return None
        operation, text = chosen[node]
        op, operands = BY_NAME[seen.graph.kinds[operation]], seen.graph.operands[operation]
        given = dict(zip(op.names, [made[operand] for operand in operands], strict=True))
        graph = read(text)
        return builder.include(graph, given)[graph.output]

    made = builder.include(seen.graph, rule=together)
    return builder.program([made[images[output]] for output in program.outputs])


# In the rows of an engine.


def lower_for_engine(
    program: Program,
    rows: Container[str],
    own: Mapping[str, str] = MappingProxyType({}),
    *,
    exact: bool = False,
    read: Read = template,
) -> Program:
    """Rewrite a program in ``rows``, which an engine has functions for; other rows become their formulas.

    ``own`` are the engine's own formulas, by row: of its operands, or for a variadic row of x and y.
    What depends on no input is computed now.  With ``exact`` every operation of ``rows`` stays as it is.
    Otherwise a variadic one is applied to two operands at a time, and operations are shortened.
    """
    builder = GraphBuilder(program.graph.empty())

    def included(graph: Graph, given: Mapping[str, int] | None = None) -> list[int]:
        """Add a graph's nodes, lowered; a formula's inputs are the ``given`` nodes."""

        def rule(node: int, images: Sequence[int]) -> int | None:
            kind = graph.kinds[node]
            if kind == INPUT:
                return None
            if kind == CONST:  # a named one too is but a number
                return builder.constant(cast(float, graph.payloads[node]))
            return operation(kind, [images[operand] for operand in graph.operands[node]])

        return builder.include(graph, given, rule)

    def operation(kind: str, operands: list[int]) -> int:
        """Add one operation, lowered; one of constants is computed as for single numbers."""
        if kind not in BY_NAME:
            return builder.apply(kind, *operands)
        op = BY_NAME[kind]
        values = [builder.value(operand) for operand in operands]
        if None not in values:
            return builder.constant(functions[kind](*values))
        if kind in rows or op.equation is not None:
            if exact:
                return builder.apply(kind, *operands)
            make: Callable[..., int] = partial(shorten_operation, builder, kind)
        else:
            text = read(own.get(kind) or defining_formula(kind))
            make = partial(inline_formula, included, text, op.fallback_names)
        return join_balanced(make, operands) if op.variadic else make(*operands)

    images = included(program.graph)
    return builder.program([images[output] for output in program.outputs])


def inline_formula(
    included: Callable[[Graph, Mapping[str, int]], list[int]],
    text: Graph,
    names: Sequence[str],
    *operands: int,
) -> int:
    """Add a formula in place of an operation."""
    return included(text, dict(zip(names, operands, strict=True)))[text.output]


# Shorter operations.


def shorten_operation(builder: GraphBuilder, kind: str, *operands: int) -> int:
    """Add an operation, in a shorter form if there is one."""
    found = SHORTER[kind](builder, *operands) if kind in SHORTER else None
    return builder.apply(kind, *operands) if found is None else found


def negated_product(builder: GraphBuilder, x: int) -> int | None:
    """Move the sign of a negative product into its constant factor."""
    found = constant_factor(builder, x)
    if found is None:
        return None
    value, y = found
    return builder.apply("mul", builder.constant(-value), y)


def subtract_negative(builder: GraphBuilder, x: int, y: int) -> int | None:
    """Turn a difference from a negative into a sum."""
    other = negated_operand(builder, y)
    return None if other is None else builder.apply("add", x, other)


def shorten_product(kind: str, builder: GraphBuilder, x: int, y: int) -> int | None:
    """Move signs out of a product or quotient; without any, do as ``scale_product`` does."""
    minus_x, minus_y = negated_operand(builder, x), negated_operand(builder, y)
    if minus_x is None and minus_y is None:
        return scale_product(builder, kind, x, y)
    x = x if minus_x is None else minus_x
    y = y if minus_y is None else minus_y
    found = shorten_operation(builder, kind, x, y)
    return builder.apply("neg", found) if minus_x is None or minus_y is None else found


def scale_product(builder: GraphBuilder, kind: str, x: int, y: int) -> int | None:
    """Turn a division by a power of two into a product, and two constant factors into one."""
    value = builder.value(y)
    if kind == "div":
        if value is None or not is_power_of_two(value):
            return None
        return builder.apply("mul", x, builder.constant(1 / value))
    if value is not None:
        x, y = y, x
    else:
        value = builder.value(x)
    found = constant_factor(builder, y)
    if value is None or found is None:
        return None
    inner, z = found
    doubles = is_power_of_two(inner) and abs(inner) > 1 <= abs(value)
    if not (doubles and isfinite(inner * value)):
        return None
    return builder.apply("mul", builder.constant(inner * value), z)


def small_power(builder: GraphBuilder, x: int, y: int) -> int | None:
    """Turn a small power into a product or quotient."""
    value = builder.value(y)
    if value == -1:
        return builder.apply("div", builder.constant(1.0), x)
    if value not in (2, 3, 4):
        return None
    square = builder.apply("mul", x, x)
    return square if value == 2 else builder.apply("mul", square, x if value == 3 else square)


def negated_operand(builder: GraphBuilder, node: int) -> int | None:
    """The operand of a negative; None for any other node."""
    graph = builder.graph
    return graph.operands[node][0] if graph.kinds[node] == "neg" else None


def constant_factor(builder: GraphBuilder, node: int) -> tuple[float, int] | None:
    """A product's constant factor and its other factor; None for a node without one."""
    if builder.graph.kinds[node] == "mul":
        x, y = builder.graph.operands[node]
        for factor, other in ((x, y), (y, x)):
            value = builder.value(factor)
            if value is not None:
                return value, other
    return None


def is_power_of_two(value: float) -> bool:
    """Whether a number is a power of two, or the negative of one, whose inverse is normal too."""
    return abs(frexp(value)[0]) == 0.5 and 2.0**-1000 < abs(value) < 2.0**1000


SHORTER: dict[str, Callable[..., int | None]] = {
    "neg": negated_product,
    **by_row_name(
        {
            "+": lower_sum,
            "-": subtract_negative,
            "*": partial(shorten_product, "mul"),
            "/": partial(shorten_product, "div"),
            "^": small_power,
        }
    ),
}
"""Row → what adds its shorter form, given the builder and the operands; None where it has none."""


# Conditions as truth values: a program in which each node is either numbers or, for engines, a mask.

MASKS = frozenset(("mask", "and", "or", "not", "and-not", "or-not", *COMPARISONS))
"""The operations that give a mask: comparisons of numbers; ``mask``, which holds where a number is not 0;
and logic on masks: ``and-not`` is the second and not the first, ``or-not`` the second or not the first.
``number`` turns a mask back into 1 and 0."""
SPAN = (0, 0)


def with_truths(program: Program, order: Sequence[int] | None = None) -> Program:
    """Turn a program's conditions into masks, and leave out what its outputs do not need.

    ``order`` lists the program's operations in another order to keep.
    """
    graph, outputs = program
    needed = dependency_flags(graph, *outputs)
    if order is None:
        nodes: Iterable[int] = range(len(graph))
    else:
        nodes = chain([node for node, operands in enumerate(graph.operands) if not operands], order)
    made = Graph()
    conditions: set[int] = set()
    numbers: dict[int, int] = {}
    masks: dict[int, int] = {}

    def append(kind: str, *operands: int) -> int:
        return made.append(kind, operands, None, SPAN, (SPAN,) * len(operands))

    def number(node: int) -> int:
        """A node's image as numbers."""
        if node not in numbers:
            numbers[node] = append("number", masks[node])
        return numbers[node]

    def mask(node: int) -> int:
        """A node's image as a mask."""
        if node not in masks:
            masks[node] = append("mask", numbers[node])
        return masks[node]

    for node in nodes:
        if not needed[node]:
            continue
        kind, operands = graph.kinds[node], graph.operands[node]
        logic = as_logic(graph, node, conditions)
        if not operands:
            numbers[node] = copy_node(made, graph, node, ())
        elif logic is not None:
            name, operands = logic
            image = number if name in COMPARISONS else mask
            masks[node] = append(name, *map(image, operands))
            conditions.add(node)
        elif kind == "where":
            c, x, y = operands
            numbers[node] = append(kind, mask(c), number(x), number(y))
        else:
            numbers[node] = append(kind, *map(number, operands))
    return Program(made, tuple(map(number, outputs)))


def as_logic(
    graph: Graph, node: int, conditions: Container[int]
) -> tuple[str, tuple[int, ...]] | None:
    """The mask operation for a node that is always 1 or 0, and its operands; None for any other node."""
    kind, operands = graph.kinds[node], graph.operands[node]
    if kind in COMPARISONS:
        return kind, operands
    if kind in LOGIC and all(operand in conditions for operand in operands):
        return BY_NAME[kind].logic, operands
    if kind != "where":
        return None
    c, x, y = operands
    first, second = flag_value(graph, x), flag_value(graph, y)
    if (first, second) == (1, 0):
        return "or", (c, c)
    if (first, second) == (0, 1):
        return "not", (c,)
    if first is not None and y in conditions:
        return ("or" if first else "and-not"), (c, y)
    if second is not None and x in conditions:
        return ("or-not" if second else "and"), (c, x)
    return None


def flag_value(graph: Graph, node: int) -> float | None:
    """A constant's number, if it is 1 or 0."""
    payload = graph.payloads[node]
    return payload if isinstance(payload, float) and is_zero_or_one(payload) else None


# Polynomials in Horner's form, with one rounding for each multiplication and addition.

FMA = "fma"
"""The kind of x*y + z, rounded once.  It is no row of the op table."""
LEAST_DEGREE = 2
"""The least degree of the polynomials that are contracted."""


class MultiplyAdd(NamedTuple):
    """A sum or difference of a product and a constant: ±x*y ± z, and the node of x*y."""

    minus: bool
    x: int
    y: int
    constant: float
    product: int


def contract_polynomials(program: Program) -> Program:
    """Turn ``x*y + c``, ``x*y - c`` and ``c - x*y`` within polynomials into single steps."""
    graph, outputs = program
    steps = find_contractions(program)
    gone = {step.product for step in steps.values()}
    builder = GraphBuilder(graph.empty())

    def contract(node: int, made: Sequence[int]) -> int | None:
        if node in gone:
            return -1
        if node not in steps:
            return None
        step = steps[node]
        x = builder.apply("neg", made[step.x]) if step.minus else made[step.x]
        return builder.apply(FMA, x, made[step.y], builder.constant(step.constant))

    made = builder.include(graph, rule=contract)
    return builder.program([made[output] for output in outputs])


def find_contractions(program: Program) -> dict[int, MultiplyAdd]:
    """The nodes that become single steps."""
    graph, outputs = program
    uses = Counter(operand for operands in graph.operands for operand in operands)
    uses.update(outputs)
    steps: dict[int, MultiplyAdd] = {}
    degrees: dict[int, int] = {}
    found: dict[int, MultiplyAdd] = {}
    for node, kind in enumerate(graph.kinds):
        step = (
            multiply_add_of(graph, kind, graph.operands[node]) if kind in ("add", "sub") else None
        )
        if step is None or uses[step.product] > 1:
            continue
        steps[node] = step
        inner = nested_factor(step, steps)
        degrees[node] = 1 if inner is None else degrees[inner] + 1
        if degrees[node] >= LEAST_DEGREE:
            link: int | None = node
            while link is not None and link not in found:
                found[link] = steps[link]
                link = nested_factor(steps[link], steps)
    return found


def multiply_add_of(graph: Graph, kind: str, operands: tuple[int, ...]) -> MultiplyAdd | None:
    """A sum or difference of a product and a constant as a single step; None for any other operation."""
    for at in (0, 1):
        product, payload = operands[at], graph.payloads[operands[1 - at]]
        if graph.kinds[product] == "mul" and isinstance(payload, float):
            x, y = graph.operands[product]
            constant = -payload if kind == "sub" and at == 0 else payload
            return MultiplyAdd(kind == "sub" and at == 1, x, y, constant, product)
    return None


def nested_factor(step: MultiplyAdd, steps: dict[int, MultiplyAdd]) -> int | None:
    """The factor that is itself a step, of a polynomial in the other factor; None if neither is."""
    for inner, other in ((step.x, step.y), (step.y, step.x)):
        if inner in steps and other in (steps[inner].x, steps[inner].y):
            return inner
    return None
