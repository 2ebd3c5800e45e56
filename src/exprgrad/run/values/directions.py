"""The requested outputs, tangents and cotangents, and their errors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from exprgrad.errors import InputError, command_or_python
from exprgrad.graph.graph import Graph
from exprgrad.graph.structural import shape_text
from exprgrad.language.write.infix import number_text
from exprgrad.run.evaluation import SweptRun
from exprgrad.run.values.inputs import as_value, asked_names, normal_name, not_an_input
from exprgrad.source import Source

__all__ = ["read_cotangents", "read_tangents", "select_outputs"]

LISTED = 8
"""The most names that a hint lists."""
WHAT_0_DOES = {"tangent": "0 holds an input fixed", "cotangent": "0 leaves an output out"}


def select_outputs(graph: Graph, of: Iterable[str] | None) -> dict[str, int]:
    """Select the outputs, name → node, in order of appearance.

    ``of`` names statements of the expression; None stands for the expression's own output.
    """
    if of is None:
        return {SweptRun("", graph, {}, []).output_label: graph.output}
    bound = {binding.name: binding.node for binding in graph.bindings}
    wanted = asked_names(of)
    for name in wanted:
        if name not in bound:
            message = f"no statement is named '{name}'"
            if name in graph.inputs:
                message = f"'{name}' is an input, not an output"
            raise unknown_output(message, name, bound)
    if not wanted:
        raise InputError("unknown-output", "no output is chosen")
    return {name: bound[name] for name in bound if name in set(wanted)}


def unknown_output(message: str, name: str, known: Iterable[str]) -> InputError:
    """Return the error for a name that is no output; ``known`` are the outputs."""
    from exprgrad.language.mistakes.hints import nearest_word

    names = list(known)
    near = nearest_word(name, names)
    help = "an output is a named statement: y1 = …; y2 = …"
    if names:
        few = f"the only named statement is {names[0]}"
        help = few if len(names) == 1 else f"the named statements are {in_a_row(names)}"
    if near is not None:
        help = f"did you mean '{near}'?{f' {help}' * (len(names) > 1)}"
    return InputError("unknown-output", message, help=help).about(name)


def in_a_row(texts: Iterable[str], comma: str = ", ") -> str:
    """Join texts by commas; a long list is cut."""
    listed = list(texts)
    return comma.join([*listed[:LISTED], "…"] if len(listed) > LISTED else listed)


def read_tangents(graph: Graph, text: str, given: Mapping[str, object]) -> dict[str, Any]:
    """Read every input's tangent, in order of appearance; raise for a missing one, or for no input."""
    if not isinstance(given, Mapping):
        raise InputError(
            "bad-value",
            f"a tangent is a mapping from inputs to numbers, not {type(given).__name__}",
        )
    return fit_directions(graph, text, "tangent", graph.inputs, given)


def read_cotangents(
    graph: Graph, text: str, outputs: Mapping[str, int], given: object
) -> dict[str, Any]:
    """Read every output's cotangent; a plain number will do for a single output."""
    if not isinstance(given, Mapping):
        given = dict.fromkeys(outputs, given) if len(outputs) == 1 else {}
    return fit_directions(graph, text, "cotangent", outputs, given)


def fit_directions(
    graph: Graph, text: str, kind: str, nodes: Mapping[str, int], given: Mapping[str, object]
) -> dict[str, Any]:
    """Check the tangents of inputs, or the cotangents of outputs, by name; raise for what does not fit."""
    of_inputs = kind == "tangent"
    numbers = {normal_name(name): value for name, value in given.items()}
    for name in numbers:
        if name not in nodes:
            raise not_an_input(graph, name) if of_inputs else no_such_cotangent(graph, nodes, name)
    for name, node in nodes.items():
        if name not in numbers:
            error = InputError(
                f"missing-{kind}",
                f"{'input' if of_inputs else 'output'} '{name}' has no {kind}",
                help=f"write {example_directions(kind, nodes, numbers)} ({WHAT_0_DOES[kind]})",
            )
            places = {binding.name: binding.span for binding in graph.bindings}
            error.span = places.get(name, graph.span(node))
            raise error.at(Source(text))
    return {
        name: direction_in_shape(graph, node, numbers[name], kind, name)
        for name, node in nodes.items()
    }


def direction_in_shape(graph: Graph, node: int, value: object, kind: str, name: str) -> Any:
    """Return a tangent or cotangent in the shape of its node; a number fills a tensor."""
    found = as_value(value, name)
    shape = graph.shape(node)
    mine = tuple(getattr(found, "shape", ()))
    if mine == shape:
        return found
    if mine:
        help = f"a {kind} has the shape of what it belongs to"
        help += shape_text(shape, "; a number stands for all of its numbers", "")
        raise InputError(
            "bad-value",
            f"the {kind} of '{name}' is {shape_text(mine)}, and '{name}' is {shape_text(shape)}",
            help=help,
        )
    from exprgrad.run.arrays.arrays import broadcast_view

    return broadcast_view(found, shape)


def no_such_cotangent(graph: Graph, outputs: Mapping[str, int], name: str) -> InputError:
    """Return the error for a cotangent of a name that is not among the outputs."""
    bound = [binding.name for binding in graph.bindings]
    if name not in bound:
        return unknown_output(f"'{name}' is not an output", name, bound)
    several = [*(o for o in outputs if o in bound), name]
    return InputError(
        "unknown-output",
        f"'{name}' is not among the chosen outputs",
        help="add it to them: "
        + command_or_python("--of " + in_a_row(several, ","), f"of={several[:LISTED]}"),
    ).about(name)


def example_directions(kind: str, names: Iterable[str], given: Mapping[str, object]) -> str:
    """Write an example for every name: the number given, or else 1 for the first and 0 for others."""
    pairs = []
    for at, name in enumerate(names):
        value = given.get(name, 0 if at or given else 1)
        written = number_text(value) if isinstance(value, float) else str(value)
        pairs.append((name, "…" if getattr(value, "shape", ()) else written))
    listed = in_a_row((f"{name!r}: {value}" for name, value in pairs), ", ")
    options = in_a_row((f"{name}={value}" for name, value in pairs), ",")
    return command_or_python(f"--{kind} {options}", f"{kind}={{{listed}}}")
