"""Derivatives as formulas, and their derivations step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from exprgrad.derive.simplify.orders import Orders
from exprgrad.explain.derivations import DerivationStep
from exprgrad.graph.graph import Graph
from exprgrad.language.write.infix import program_text
from exprgrad.language.write.latex import graph_latex, latex_symbol, symbols_of_names
from exprgrad.show.text.lines import break_line
from exprgrad.source import bracket_depths, display_width, printable_text

__all__ = [
    "derivative_lines", "formula_text", "named_formula_lines", "nest_by_input", "step_lines",
    "step_records",
]  # fmt: skip

OUTPUTS = ("f", "F", "y", "g", "h", "z")
"""Names in LaTeX for an output without one: the first that is not an input's is taken."""


LengthReporter = Callable[[str, int, int], None]
"""Called with a derivative's name, length and order before it is shown."""
MARGIN = "     "
LONGEST_LETTERS = 60
"""The most characters of letters and their meanings on one line."""
NEAR = 8
"""The reach of the search for a place to break a formula, in line widths."""
BOLD, PLAIN = "\x1b[1m", "\x1b[0m"


def formula_text(formula: Graph, to: str, left: str = "") -> str:
    """A formula on one line, in our language, or in LaTeX after what is ``left`` of its equals sign."""
    return graph_latex(formula, left) if to == "latex" else program_text(formula)


def infix_name(graph: Graph, inputs: Orders) -> str:
    """A derivative's name: ``d/dx``, ``do/dw``, ``d^2/dx^2``, ``d^2/dx dy``."""
    below = [power_text(f"d{name}", "^{}", len([*alike])) for name, alike in groupby(inputs)]
    return f"{power_text('d', '^{}', len(inputs))}{graph.output_name or ''}/{' '.join(below)}"


def latex_name(graph: Graph, inputs: Orders) -> str:
    r"""A derivative in LaTeX, with d for one input: ``\frac{\partial^{2} f}{\partial x \, \partial y}``."""
    sign = r"\partial" if len(graph.inputs) > 1 else r"\mathrm{d}"
    raised, called = "^{{{}}}", symbols_of_names(graph)
    below = [
        power_text(f"{sign} {called[name]}", raised, len([*alike]))
        for name, alike in groupby(inputs)
    ]
    above = power_text(sign, raised, len(inputs))
    output = graph.output_name or next((n for n in OUTPUTS if n not in called), "")
    if output:
        above += f" {called.get(output) or latex_symbol(output)}"
    return rf"\frac{{{above}}}{{" + r" \, ".join(below) + "}"


def power_text(base: str, raised: str, times: int) -> str:
    """A base to a power, in the format ``raised``; a power of 1 is not written."""
    return base + raised.format(times) if times > 1 else base


def derivative_lines(
    graph: Graph,
    inputs: Orders,
    formula: Graph,
    to: str,
    tell: LengthReporter | None,
    width: int | None,
) -> Iterator[str]:
    """The lines of a derivative for people: after its name, its named steps on lines of their own.

    Breaks lines longer than ``width`` cells, except LaTeX; without a width it breaks none.
    """
    name = infix_name(graph, inputs)
    text = formula_text(formula, to, latex_name(graph, inputs) if to == "latex" else "")
    if tell is not None:
        tell(name, len(text), len(inputs))
    if to == "latex":
        yield text
    else:
        yield from named_formula_lines(name, text, width)


def named_formula_lines(name: str, text: str, width: int | None) -> Iterator[str]:
    """A formula after its name, or below it its statements."""
    first, *others = text.split("; ")
    yield from [name] if others else equation_lines(f"{name} = ", text, width)
    for statement in (first, *others) if others else ():
        yield from equation_lines("  ", statement, width)


def nest_by_input(texts: Mapping[Orders, str], wrt: Sequence[str], order: int) -> dict[str, Any]:
    """Input → input → … → text; a mixed derivative is found by its inputs in any order."""
    place = {name: number for number, name in enumerate(wrt)}

    def below(inputs: Orders) -> Any:
        if len(inputs) == order:
            return texts[tuple(sorted(inputs, key=place.__getitem__))]
        return {name: below((*inputs, name)) for name in wrt}

    found: dict[str, Any] = below(())
    return found


# Step by step.


def step_lines(
    graph: Graph,
    wrt: str,
    steps: Sequence[DerivationStep],
    *,
    width: int | None = None,
    color: bool = False,
) -> Iterator[str]:
    """Each step under its rule, then the answer as ``diff`` prints it.

    A note is made once.  What is longer than ``width`` cells is broken; with no width, nothing is.
    ``color`` sets the rules and the answer in bold, for a terminal.
    """
    said: set[str] = set()
    for number, step in enumerate(steps, 1):
        notes = [note for note in step.notes if note not in said]
        said.update(notes)
        title = f"{number}. {step.rule}"
        heading = title + (": " if notes else "") + "; ".join(notes)
        lines = [printable_text(heading)]
        first, *rest = lines if width is None else break_line(lines[0], width, further="   ")
        yield from (embolden_beginning(first, title) if color else first, *rest)
        if step is not steps[-1] or step.rule != "put together":
            yield from step_equations(step, wrt, width)
        yield ""
    name, answer = infix_name(graph, (wrt,)), steps[-1].formulas[-1]
    final = named_formula_lines(name, answer, width)
    yield from (embolden_beginning(piece, piece) for piece in final) if color else final


def step_equations(step: DerivationStep, wrt: str, width: int | None) -> Iterator[str]:
    """The equations of a step: the meanings of its letters, and its result."""
    parts = [
        f"{name} = {text}" + (f", d{name}/d{wrt} = {derivative}" if derivative else "")
        for name, text, derivative in step.parts
    ]
    together = ["; ".join(parts)] if 0 < sum(map(len, parts)) <= LONGEST_LETTERS else parts
    for part in together:
        yield from equation_lines(f"{MARGIN}with ", part, width)
    if step.name:
        yield from equation_lines(f"{MARGIN}{step.name} = ", step.of, width)
    left = MARGIN + printable_text(step.left)
    margin = " " * display_width(left)
    room = max(map(display_width, step.formulas))
    if width is not None and len(margin) + 3 + room > width:
        yield from equation_lines(MARGIN, step.left, width)
        left = margin = MARGIN + " "
    for place, formula in enumerate(step.formulas):
        yield from equation_lines(f"{margin if place else left} = ", formula, width)


def equation_lines(start: str, formula: str, width: int | None) -> Iterator[str]:
    """A formula after ``start``, in lines no wider than ``width`` where it can be broken."""
    formula, done = printable_text(formula), 0
    indent = " " * (display_width(start) + 2)
    while width is not None:
        near = formula[done : done + NEAR * width]  # a formula may be long, and takes linear work
        if display_width(start + near) <= width:
            break
        at = best_break_position(near, len(prefix_that_fits(near, width - display_width(start))))
        if at is None:
            break
        yield start + near[:at].rstrip()
        done += at + len(near[at:]) - len(near[at:].lstrip())
        start = indent
    yield start + formula[done:]


def prefix_that_fits(text: str, width: int) -> str:
    """As much of a text as ``width`` cells hold."""
    size = min(max(width, 0), len(text))
    while size and display_width(text[:size]) > width:
        size -= 1
    return text[:size]


def best_break_position(formula: str, room: int) -> int | None:
    """The best place to break a formula within ``room`` characters, else the first after; None without any.

    Ends of statements are best, then outer sums, then outer products; among equals the last.
    A break is before a symbol, or after a comma.
    """
    best, late, early = (0, 0), None, None
    for at, (character, depth) in enumerate(zip(formula, bracket_depths(formula), strict=True)):
        before, after = formula[at - 1 : at], formula[at + 1 : at + 2]
        blank = character == " " and (before in (",", ";") or after in tuple("+-<>=!"))
        factor = character == "*" or (character == "/" and after != "d")  # not within du/dx
        if at == 0 or not (blank or factor):
            continue
        cost = 2 * depth + (not blank) - (before == ";"), -at
        if at > room:
            return late or early or at
        if at <= room // 3:
            early = at
        elif late is None or cost <= best:
            best, late = cost, at
    return late or early


def embolden_beginning(line: str, beginning: str) -> str:
    """A line with its beginning in bold."""
    size = min(len(beginning), len(line))
    return f"{BOLD}{line[:size]}{PLAIN}{line[size:]}"


def step_records(steps: Sequence[DerivationStep]) -> list[dict[str, Any]]:
    """The steps for a JSON document; a missing name or derivative is null."""
    return [
        {
            "rule": step.rule,
            "notes": list(step.notes),
            "of": step.of,
            "name": step.name or None,
            "left": step.left,
            "formulas": list(step.formulas),
            "parts": [
                {"name": name, "text": text, "derivative": derivative or None}
                for name, text, derivative in step.parts
            ],
            "node": step.node,
            "span": list(step.span),
        }
        for step in steps
    ]
