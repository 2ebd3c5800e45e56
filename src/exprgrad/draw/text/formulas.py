"""Derivatives as formulas, written for people, for scripts and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from exprgrad.derive.simplify.formula import Orders
from exprgrad.draw.documents.document import csv_line, envelope
from exprgrad.graph.graph import Graph
from exprgrad.language.write.infix import program
from exprgrad.language.write.latex import latex, symbol, symbols

__all__ = ["bare", "document", "infix_name", "latex_name", "lines", "table", "written"]

OUTPUTS = ("f", "F", "y", "g", "h", "z")
"""What LaTeX calls an output without a name: the first of these that is not an input."""


def written(formula: Graph, to: str) -> str:
    """A formula on one line, in our language or in LaTeX."""
    return latex(formula) if to == "latex" else program(formula)


def infix_name(graph: Graph, inputs: Orders) -> str:
    """What a derivative is called: ``d/dx``, ``do/dw``, ``d^2/dx^2``, ``d^2/dx dy``."""

    def raised(base: str, times: int) -> str:
        return f"{base}^{times}" if times > 1 else base

    below = [(name, len(list(alike))) for name, alike in groupby(inputs)]
    powers = " ".join(raised(f"d{name}", times) for name, times in below)
    return f"{raised('d', len(inputs))}{graph.output_name or ''}/{powers}"


def latex_name(graph: Graph, inputs: Orders) -> str:
    r"""The same in LaTeX: ``\frac{\partial^{2} f}{\partial x \, \partial y}``, or with d for one input."""
    sign = r"\partial" if len(graph.inputs) > 1 else r"\mathrm{d}"
    order = f"^{{{len(inputs)}}}" if len(inputs) > 1 else ""
    called = symbols(graph)
    below = []
    for name, alike in groupby(inputs):
        times = len(list(alike))
        below.append(f"{sign} {called[name]}" + (f"^{{{times}}}" if times > 1 else ""))
    output = graph.output_name or next((n for n in OUTPUTS if n not in called), "")
    above = f"{sign}{order} {called.get(output) or symbol(output)}" if output else f"{sign}{order}"
    return rf"\frac{{{above}}}{{" + r" \, ".join(below) + "}"


def lines(graph: Graph, found: Iterable[tuple[Orders, Graph]], to: str) -> Iterator[str]:
    """For people: each derivative after its name, its named steps on lines of their own."""
    for inputs, formula in found:
        if to == "latex":
            yield f"{latex(formula, latex_name(graph, inputs))}\n"
        elif not formula.bindings:
            yield f"{infix_name(graph, inputs)} = {program(formula)}\n"
        else:
            yield f"{infix_name(graph, inputs)}\n"
            yield from (f"  {statement}\n" for statement in program(formula).split("; "))


def bare(found: Iterable[tuple[Orders, Graph]], to: str, *, alone: bool) -> Iterator[str]:
    """For scripts: the formula, if there is just one; else ``a=…`` or ``a,b=…`` lines."""
    for inputs, formula in found:
        text = written(formula, to)
        yield f"{text}\n" if alone else f"{','.join(inputs)}={text}\n"


def table(found: Iterable[tuple[Orders, Graph]], to: str) -> Iterator[str]:
    """The derivatives as CSV: the inputs, and the formula."""
    yield csv_line(["wrt", "derivative"])
    for inputs, formula in found:
        yield csv_line([",".join(inputs), written(formula, to)])


def document(
    text: str,
    graph: Graph,
    found: Mapping[Orders, Graph],
    wrt: Sequence[str],
    order: int,
    to: str,
    **more: Any,
) -> str:
    """The JSON document of ``diff``: the derivatives by input, nested as often as they were taken."""
    texts = {inputs: written(formula, to) for inputs, formula in found.items()}
    output = {"node": graph.output, "name": graph.output_name}
    fields = {"output": output, "order": order, "to": to, "derivatives": nest(texts, wrt, order)}
    return envelope("diff", expression=text, **fields, **more)


def nest(texts: Mapping[Orders, str], wrt: Sequence[str], order: int) -> dict[str, Any]:
    """Input → input → … → text; a mixed derivative is found by its inputs in any order."""
    place = {name: number for number, name in enumerate(wrt)}

    def below(inputs: Orders) -> Any:
        if len(inputs) == order:
            return texts[tuple(sorted(inputs, key=place.__getitem__))]
        return {name: below((*inputs, name)) for name in wrt}

    found: dict[str, Any] = below(())
    return found
