"""What is to be solved: a text's equations, their unknowns, and where these are looked for."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from exprgrad.derive.parsed import completed
from exprgrad.errors import InputError, LanguageError, RequestError, advice
from exprgrad.graph.graph import Binding, Graph, dependents, is_scalar
from exprgrad.graph.ops import BY_NAME, COMPARISONS
from exprgrad.graph.tensors import STRUCTURAL
from exprgrad.language.read.parse import at_shapes
from exprgrad.language.read.relations import Relations, related
from exprgrad.run.evaluation import Run, evaluator_for, shapes_of
from exprgrad.run.values.inputs import (
    absent,
    as_value,
    asked_names,
    is_range,
    normal,
    spelled,
    surplus,
)
from exprgrad.run.values.ranges import Interval, as_interval
from exprgrad.solvers.roots.system import System, system_of
from exprgrad.source import Source

__all__ = ["Problem", "problem_of"]

USUAL = "xyz"
"""What unknowns are called most often."""
EQUATION = "equation "
"""What the names of equations begin with; no input can bear a name with a blank."""


class Problem(NamedTuple):
    """Equations, and where their unknowns are looked for: all have starts, or all have ranges.

    ``given`` are the values of the other inputs.
    """

    text: str
    system: System
    starts: tuple[float, ...]
    ranges: tuple[Interval, ...]
    given: Mapping[str, Any]


def problem_of(
    text: str,
    values: Mapping[str, object],
    wrt: Iterable[str] | None = None,
    arguments: Mapping[str, str] | None = None,
) -> Problem:
    """The problem that a text and values state.

    A value is a start or a range of an unknown; with ``wrt`` those of other names are what these are.
    ``arguments`` are values as they were typed, for excerpts in errors.  Raises ``LanguageError``,
    ``InputError`` or ``RequestError`` for what cannot be solved.
    """
    values = {normal(name): value for name, value in values.items()}
    unknowns = [*values] if wrt is None else asked_names(wrt)
    graph = equations(text, unknowns)
    missing = [name for name in graph.inputs if name not in values]
    for name in (*values, *unknowns):
        if name not in graph.inputs:
            raise surplus(graph, text, name, missing, arguments or {})
    if missing:
        raise without_start(graph, text, missing)
    ranges = ranges_of(values, unknowns)
    given = {name: as_value(x, name) for name, x in values.items() if name not in ranges}
    typed = spelled({name: x for name, x in values.items() if name not in unknowns})
    if not is_scalar(graph) or any(shapes_of(given).values()):
        graph, given, unknowns = by_elements(graph, text, given, unknowns, ranges)
    nodes = refused(graph, text, unknowns, is_chosen=wrt is not None)
    fixed = {name: x for name, x in given.items() if name not in unknowns}
    starts = [float(given[name]) for name in unknowns if name not in ranges]
    if not all(map(math.isfinite, starts)):
        message = "a start is a finite number"
        raise InputError("bad-value", message, help="write x=-inf:inf for all numbers")
    system = system_of(graph, nodes, unknowns, fixed, typed)
    return Problem(text, system, tuple(starts), tuple(ranges.values()), fixed)


def ranges_of(values: Mapping[str, object], unknowns: Sequence[str]) -> dict[str, Interval]:
    """The ranges of unknowns, ``low:high`` or a pair in a tuple; an error where only some have one."""
    ranges = {
        name: as_interval(values[name], name, infinite=True, outward=True)
        for name in unknowns
        if is_range(values[name]) or isinstance(values[name], tuple)
    }
    others = [name for name in unknowns if name not in ranges]
    if ranges and others:
        message = f"'{others[0]}' has a start, and '{next(iter(ranges))}' has a range"
        ranged = ",".join(ranges)
        help = advice(
            f"{others[0]}=-10:10 is a range; with --wrt {ranged} others keep their values",
            f"{others[0]}=(-10, 10) is a range; with wrt={[*ranges]} others keep their values",
        )
        raise InputError("bad-value", message, help=help)
    return ranges


# Equations.


def equations(text: str, unknowns: Sequence[str]) -> Graph:
    """The graph of a text, in which equations are bindings: what they are called begins as ``EQUATION``."""
    graph, relations = read_equations(text, unknowns)
    if not relations:
        name, _, span = graph.bindings[-1]
        message = f"'{name}' is bound here, and there is no equation"
        help = f"with a start, {name}=1, it is an unknown and this an equation; or write … = 0"
        raise InputError("no-equation", message, source=Source(text), span=span, help=help)
    for one in relations:
        if one.right is None and graph.kinds[one.node] in COMPARISONS:
            message = "this compares two sides, and is 1 or 0"
            help = "an equation has a single sign: write ="
            raise InputError("no-equation", message, source=Source(text), span=one.span, help=help)
    graph.bindings += [
        Binding(f"{EQUATION}{at}", one.node, one.span) for at, one in enumerate(relations)
    ]
    return completed(graph, text)


def read_equations(text: str, unknowns: Sequence[str]) -> Relations:
    """The statements of a text; ``x = cos(x)`` binds nothing, and lacks a start if x is no unknown."""
    try:
        return related(text, "=", unknowns)
    except LanguageError as error:
        if error.code != "bound-twice" or error.span is None:
            raise
        name = normal(text[slice(*error.span)])
        with suppress(LanguageError):
            return related(text, "=", [*unknowns, name])
        raise


def without_start(graph: Graph, text: str, missing: list[str]) -> InputError:
    """The error for inputs without a value."""
    error, name = absent(graph, text, missing), missing[0]
    ends = advice("-10:10", "(-10, 10)")
    error.help = f"{name}=1 is a start, and {name}={ends} a range in which all roots are looked for"
    if len(graph.inputs) > 1:
        wrt = advice("--wrt x", "wrt=['x']")
        error.help = (
            f"{name}=1 is a start, {name}={ends} a range; with {wrt} others keep their values"
        )
    return error


def refused(graph: Graph, text: str, unknowns: Sequence[str], *, is_chosen: bool) -> list[int]:
    """The nodes of the equations; an error where these are not as many as unknowns, or have none."""
    found = [binding for binding in graph.bindings if binding.name.startswith(EQUATION)]
    nodes, source = [binding.node for binding in found], Source(text)
    for node, kind in enumerate(graph.kinds):
        if kind in BY_NAME and BY_NAME[kind].equation is not None:
            message = "nothing is proved of an equation with a root(…) inside"
            help = "make the root an unknown, y, and what it is a root of an equation of its own"
            span = graph.span(node)
            raise RequestError("root-inside", message, source=source, span=span, help=help)
    if len(found) != len(unknowns):
        raise miscounted(text, unknowns, found, is_chosen=is_chosen)
    moves = [dependents(graph, [graph.inputs[name]]) for name in unknowns]
    for _, node, span in found:
        if not any(each[node] for each in moves):
            message, help = "this equation has no unknown in it", "leave it out"
            raise RequestError("unknowns", message, source=source, span=span, help=help)
    for name, each in zip(unknowns, moves, strict=True):
        if not any(each[node] for node in nodes):
            message, span = f"'{name}' is in no equation", graph.span(graph.inputs[name])
            help = f"leave out {name}=…"
            raise RequestError("unknowns", message, source=source, span=span, help=help)
    return nodes


def miscounted(
    text: str, unknowns: Sequence[str], found: Sequence[Binding], *, is_chosen: bool
) -> RequestError:
    """The error for more unknowns than equations, or fewer."""
    many, few = len(unknowns), len(found)
    shown = ", ".join(unknowns[:6]) + ", …" * (many > 6)
    message = f"{many} unknown{'s' * (many > 1)}, {shown}, and {few} equation{'s' * (few > 1)}"
    if many < few:
        help = "leave out equations; what comes nearest to all is the minimum of the sum of squares"
    elif is_chosen:
        help = "as many equations are needed as there are unknowns, separated by ';'"
    else:
        chosen = sorted(unknowns, key=lambda name: name not in USUAL)[:few]
        listed = ",".join(chosen)
        options = advice(f"--wrt {listed} solves for {listed}", f"wrt={chosen} solves for {listed}")
        help = f"{options}: then the other names keep their values"
    span = (found[0].span[0], found[-1].span[1])
    return RequestError("unknowns", message, source=Source(text), span=span, help=help)


# Tensors.


def by_elements(
    graph: Graph,
    text: str,
    given: Mapping[str, Any],
    unknowns: Sequence[str],
    ranges: Mapping[str, Interval],
) -> tuple[Graph, dict[str, Any], list[str]]:
    """The same over numbers: ``x[0]`` and ``x[1]`` for a vector x, and an equation for each number."""
    from exprgrad.run.arrays.elements import elements

    if ranges:
        name = next(iter(ranges))
        message = "in a formula of tensors unknowns have starts, and no ranges"
        raise InputError("bad-value", message, help=f"write {name}=1, or {name}=[1, 2]")
    shaped = at_shapes(graph, text, shapes_of(given))
    for node, kind in enumerate(shaped.kinds):
        if kind in STRUCTURAL and STRUCTURAL[kind].gate == "blocker":
            message, span = "a choice of places in a tensor is not solved for", shaped.span(node)
            raise RequestError("no-tensors", message, source=Source(text), span=span)
    written = elements(Run.of(text, evaluator_for(shaped), given))
    run = written.run
    inputs = [
        str(run.graph.payloads[int(number)])
        for name in unknowns
        for number in written.nodes[shaped.inputs[name]].flat
    ]
    return run.graph, dict(run.inputs), inputs
