"""A formula as a function of floats, for one point at a time: Python's own bytecode.

It is the program that ``code --to python`` writes, compiled.  The text has no names but ours (``v0``,
``v1``…) and no literals but numbers, so that nothing a user typed is ever executed.  It is compiled twice:
the bare text calls ``math`` as it is, and where that raises, the careful text has IEEE's answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from math import nan
from typing import Any, Protocol, cast

from exprgrad.derive.lower.lower import lower_program, missing_rows, row_programs
from exprgrad.derive.lower.translate import build_requested_program
from exprgrad.derive.sweeps.gradient import screened_gradient
from exprgrad.derive.switches import required_pairs
from exprgrad.graph.graph import Graph, Program, refuse_tensors
from exprgrad.graph.ops import BY_NAME
from exprgrad.language.code.program import Result, function_source
from exprgrad.language.code.target import Target
from exprgrad.language.code.targets.python import BARE, CAREFUL, IMPORTED, SHARED
from exprgrad.run.numbers.sweeps import functions

__all__ = ["PointFunction", "build_point_function", "build_screened_function", "point_texts"]

GUARDED = """{{head}}
 try:
{{body}}
 except (ArithmeticError, ValueError):
  return careful({})
{{helpers}}"""
"""The layout of the bare text, in which a function's parameters are still to be listed."""


class PointFunction(Protocol):
    """Value and derivatives at a point: ``value, (dx, dy) = h(1.0, 2.0)``.

    ``vector(x)``   value and gradient, an array, of a point that is one array
    ``hessian(x)``  the second derivatives there, as a matrix
    """

    def __call__(self, /, *point: float) -> Any:
        """The value and the tuple of derivatives at a point; then, if asked for, the Hessian's rows."""

    def vector(self, x: Any, /) -> tuple[float, Any]:
        """The value and the gradient, an array, at a point that is one array."""

    def hessian(self, x: Any, /) -> Any:
        """The second derivatives at a point that is one array."""


def point_texts(graph: Graph, wrt: tuple[str, ...], order: int) -> tuple[str, str]:
    """The careful text and the bare one, in Python, for derivatives up to an order."""
    return program_texts(
        graph,
        *build_requested_program(graph, wrt, value_only=False, of=None, second=order == 2),
    )


def program_texts(graph: Graph, program: Program, parts: Sequence[Result]) -> tuple[str, str]:
    """The careful text and the bare one, in Python, of a program that was derived from a graph."""
    guarded = GUARDED.format(", ".join(f"v{at}" for at in range(len(graph.inputs))))

    def write_program(target: Target) -> str:
        """The program in one of the two ways."""
        lowered = lower_program(program, target.spelled, graph)
        rows = row_programs(lowered, target.spelled)
        return function_source(lowered, target, formula=graph, parts=parts, formulas=rows)

    bare = BARE._replace(layout=BARE.layout._replace(file=guarded))
    return write_program(CAREFUL), write_program(bare)


def compile_texts(careful: str, bare: str) -> Any:
    """The function that the bare text has, which calls the careful one where ``math`` raises."""
    names: dict[str, Any] = {"math": math, **{row: functions[row] for row in SHARED}}
    exec(careful, names)
    imported = {IMPORTED + name: function for name, function in vars(math).items()}
    names = {**names, **imported, "careful": names["f"]}  # the careful one keeps its helpers
    exec(bare, names)
    return names["f"]


def build_screened_function(
    graph: Graph, wrt: tuple[str, ...], visited: Iterable[int]
) -> Callable[..., tuple[float, tuple[float, ...]]]:
    """A function of single points: the value; the derivatives, and last what ``screened_gradient`` says.

    ``visited`` are the nodes that the sweep passes in reverse, at whose kinks there is more to say.
    """
    pairs = required_pairs(graph, visited)
    program = screened_gradient(graph, wrt, pairs or ())
    lacking = [BY_NAME[str(row)] for row in missing_rows(program.graph, CAREFUL.spelled)]
    if pairs is None or not all(row.value or row.equation for row in lacking):  # not the sweep's
        return lambda *_: (nan, (nan,))
    parts = [Result("value"), Result("gradient", ((*wrt, "screen"),))]
    function = compile_texts(*program_texts(graph, program, parts))
    return cast("Callable[..., tuple[float, tuple[float, ...]]]", function)


def build_point_function(
    graph: Graph, text: str, wrt: tuple[str, ...], order: int
) -> PointFunction:
    """The function of a formula of numbers, by the inputs ``wrt``; order 2 is for the Hessian, too.

    Raises ``RequestError`` for a formula of tensors, of which ``text`` is shown.
    """
    refuse_tensors(
        graph,
        text,
        "a function of single points takes numbers, not tensors",
        help="f.compile() takes columns, a number in each row, and f.gradient(…) takes tensors",
    )

    def compile_order(order: int) -> Any:
        """The function for derivatives up to an order; its errors name the inputs, which no text has."""
        function = compile_texts(*point_texts(graph, wrt, order))
        code, count = function.__code__, len(graph.inputs)
        names = (*graph.inputs, *code.co_varnames[count:])
        function.__code__ = code.replace(co_varnames=names)
        return function

    function = compile_order(order)
    second = cache(lambda: function if order == 2 else compile_order(2))

    def vector(x: Any, /) -> tuple[float, Any]:
        """The value and the gradient, an array, at a point that is one array."""
        import numpy as np

        value, gradient, *_ = function(*np.asarray(x, float).tolist())
        return value, np.array(gradient)

    def hessian(x: Any, /) -> Any:
        """The second derivatives at a point that is one array."""
        import numpy as np

        return np.array(second()(*np.asarray(x, float).tolist())[2])

    function.vector, function.hessian = vector, hessian
    function.__doc__ = f"Value and derivatives at ({', '.join(graph.inputs)}): the sweep's numbers."
    return cast(PointFunction, function)
