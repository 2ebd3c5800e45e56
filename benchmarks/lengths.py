"""Derivatives as people read them: how long they are and how long they take, beside SymPy's."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from statistics import median
from typing import Any

from benchmarks.formulas import table_of
from benchmarks.measure import Call, interleaved, table, times
from benchmarks.points import find_point, values
from benchmarks.symbols import sympy_read
from exprgrad.derive.simplify.formula import simplified_derivatives
from exprgrad.graph.graph import Graph, Program
from exprgrad.language.read.parse import parse_text
from exprgrad.language.write.infix import count_tokens
from exprgrad.language.write.infix import program_text as printed

__all__ = ["lengths", "theirs"]

SLOW = 0.5
"""A call that takes more seconds is timed once."""


def lengths(sympy: Any, quick: bool) -> str:
    """The table: SymPy's texts beside exprgrad's, and its time in exprgrad's."""
    tokens: dict[str, list[int]] = {"exprgrad": [], "diff": [], "simplify": []}
    taken: dict[str, list[float]] = {"diff": [], "simplify": []}
    lines = list(table_of("textbook.txt"))[:: 8 if quick else 1]
    for text, name, *_ in lines:
        graph = parse_text(text)
        output, inputs = sympy_read(sympy, graph)
        x = inputs[list(graph.inputs).index(name)]
        texts = {
            "exprgrad": partial(ours, graph, name),
            "diff": partial(theirs, output, x),
            "simplify": partial(theirs, output, x, sympy.simplify),
        }
        compare(sympy, graph, name, [output.diff(x), sympy.simplify(output.diff(x))])
        for way, text_of in texts.items():
            tokens[way].append(count_tokens(text_of()))
        found = measured(texts, sympy.core.cache.clear_cache, 1 if quick else 2)
        for way in taken:
            taken[way].append(found[way] / found["exprgrad"])
    own = tokens["exprgrad"]
    rows = []
    for way, call in (("diff", "diff"), ("simplify", "simplify(diff)")):
        ahead = [
            (mine > other) - (mine < other) for mine, other in zip(own, tokens[way], strict=True)
        ]
        share = 1 - ahead.count(1) / len(ahead)
        rows.append(
            [
                f"SymPy, `{call}`",
                f"{share:.1%}".replace("%", " %"),
                *[f"{ahead.count(sign)}" for sign in (-1, 0, 1)],
                times(sum(tokens[way]) / sum(own)),
                times(median(taken[way])),
            ]
        )
    head = [
        "text",
        "exprgrad no longer",
        "shorter",
        "equal",
        "longer",
        "length, all together",
        "time, median",
    ]
    return (
        f"Derivatives as text: {len(lines)} of `tests/cases/textbook.txt`.  Length in names, numbers, "
        "signs and brackets, in exprgrad's notation for both; time from the formula to the text.  SymPy's "
        "inputs are real.  Each is equal to SymPy's in value.\n\n" + table(head, rows)
    )


def derivative(graph: Graph, name: str) -> Graph:
    """The derivative as `diff` prints it."""
    (found,) = simplified_derivatives(graph, [name])
    return found


def ours(graph: Graph, name: str) -> str:
    """exprgrad's text."""
    return printed(derivative(graph, name))


def theirs(output: Any, x: Any, then: Callable[[Any], Any] | None = None) -> str:
    """SymPy's text, in exprgrad's notation."""
    found = output.diff(x)
    return str(found if then is None else then(found)).replace("**", "^").replace("Abs(", "abs(")


def compare(sympy: Any, graph: Graph, name: str, others: list[Any]) -> None:
    """Raise ``ValueError`` unless SymPy's derivatives are exprgrad's at a point, but for rounding."""
    found = derivative(graph, name)
    program = Program(found, (found.output,))
    point = find_point(program)
    (own,) = values(program, point)
    exact = {sympy.Symbol(n, real=True): sympy.Float(value, 30) for n, value in point.items()}
    for other in others:
        value = complex(other.xreplace(exact).evalf(30))
        if not abs(value - own) <= 1e-9 * abs(own):
            raise ValueError(f"SymPy finds {value}, exprgrad {own}: {other}")


def measured(calls: Mapping[str, Call], clear: Call, rounds: int) -> dict[str, float]:
    """Seconds by call, with SymPy's cache cleared before each."""
    found: dict[str, float] = {}
    turns: dict[str, Call] = {}
    for name, call in calls.items():
        clear()
        start = time.process_time()
        call()
        found[name] = time.process_time() - start
        if found[name] <= SLOW:
            turns |= {f"clear before {name}": clear, name: call}
    return found | interleaved(turns, rounds)
