"""The engine that JAX runs: the derived graph as one jitted function, on whatever device JAX has.

Columns go to the device whole, and answers come back as NumPy's arrays.  Doubles are switched on for
these calls alone.  JAX compiles anew for every length of columns that it meets, which takes half a second
and, for a formula of some thousand operations, minutes, and 1.5 MB that it keeps.  So from the fifth length
on, columns are made longer, by an eighth at most, to one of a few lengths.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, reduce
from typing import Any

import numpy as np

from exprgrad.derive.lower.lower import defining_formula
from exprgrad.derive.search import root_search
from exprgrad.errors import MissingExtraError, RequestError, install_command
from exprgrad.graph.graph import Algebra, Program, interpret
from exprgrad.graph.ops import ARITHMETIC_OPERATORS, BY_NAME, COMPARISONS
from exprgrad.language.code.targets import TARGETS
from exprgrad.run.engines.programs import fuse_partials, lower_for_engine, with_truths

__all__ = ["JaxKernel", "build_jax_kernel"]

Function = Callable[..., Any]

FIRST = 4
"""The number of lengths that are taken as they come: copies take as long as a small formula."""
PARTS = 4
"""Columns are made longer, to four binary digits, for JAX compiles anew for every length."""
FORMULAS = {
    "tanh": BY_NAME["tanh"].fused_partials[0],
    **{row: defining_formula(row) for row in ("expm1", "cbrt")},
}
"""Closer if written out: XLA's ``tanh`` is off by 7 ulp, ``expm1`` by 4, ``cbrt`` by 3.3."""
OPTIONS = {"xla_disable_hlo_passes": "algsimp"}
"""XLA's algebra is that of real numbers: it makes x/(y*y) of x/y/y, and x of (1 + x) - 1."""


@cache
def import_jax() -> Any:
    """JAX.  Raises ``MissingExtraError`` where it is not installed."""
    try:
        import jax
    except ImportError:
        raise MissingExtraError(
            "missing-jax", "the engine jax needs jax", help=install_command("jax")
        ) from None
    return jax


def jax_function(path: str) -> Function:
    """One of JAX's functions, by its spelling in the table of targets."""
    first, *rest = path.split(".")
    jax = import_jax()
    function: Function = reduce(getattr, rest, {"jnp": jax.numpy, "jax": jax}[first])
    return function


def build_jax_kernel(
    program: Program, inputs: Sequence[str], *, precise: bool = False
) -> JaxKernel:
    """A program of numbers as a kernel over columns, which are given in the order of ``inputs``.

    Raises ``RequestError`` where it is to be precise.
    """
    if precise:
        raise RequestError(
            "not-precise",
            "the engine jax is not precise",
            help="native and numpy are, with precise=True",
        )
    jnp, calls = import_jax().numpy, TARGETS["jax"].calls
    functions: dict[str, Any] = {
        **ARITHMETIC_OPERATORS,
        **{row: BY_NAME[row].exact for row in COMPARISONS},
        "where": jnp.where,
        "mask": lambda x: x != 0,
        "number": lambda x: jnp.where(x, 1.0, 0.0),
        "and": jnp.logical_and,
        "or": jnp.logical_or,
        "not": jnp.logical_not,
        "and-not": lambda x, y: jnp.logical_and(jnp.logical_not(x), y),
        "or-not": lambda x, y: jnp.logical_or(jnp.logical_not(x), y),
        **{row: jax_function(path) for row, path in calls.items() if row not in FORMULAS},
    }
    lowered = lower_for_engine(fuse_partials(program), functions, FORMULAS)
    for kind in {*lowered.graph.kinds}:
        with_roots(functions, kind)
    return JaxKernel(with_truths(lowered), inputs, functions)


def with_roots(table: dict[str, Function], kind: str) -> None:
    """Add a root to a table of functions, and before it the roots in its equation."""
    row = BY_NAME.get(kind)
    if row is None or row.equation is None or kind in table:
        return
    rows = {**table}
    state, *programs = root_search(kind)
    lowered = [lower_for_engine(program, rows, FORMULAS) for program in programs]
    for program in lowered:
        for inner in {*program.graph.kinds}:
            with_roots(table, inner)
    first, turn, last = map(with_truths, lowered)

    def found(*operands: Any) -> Any:
        """The root; rows in which it is found wait for the others."""
        jnp, loop = import_jax().numpy, import_jax().lax.while_loop
        columns = jnp.broadcast_arrays(*[jnp.asarray(x, dtype=float) for x in operands])

        def play(program: Program, now: Sequence[Any]) -> list[Any]:
            given = dict(zip((*row.names, *state), (*columns, *now), strict=False))
            values = interpret_program(program, table, given)
            return [jnp.full_like(columns[0], value) for value in values]

        def turned(now: Any) -> Any:
            after = play(turn, now[:-1])
            return [jnp.where(now[-1] != 0, new, old) for new, old in zip(after, now, strict=True)]

        begun = [*play(first, ()), jnp.ones_like(columns[0])]
        *end, _ = loop(lambda now: jnp.any(now[-1] != 0), turned, begun)
        return play(last, end)[0]

    table[kind] = found


def interpret_program(
    program: Program, table: Mapping[str, Function], inputs: Mapping[str, Any]
) -> list[Any]:
    """The outputs of a program, by a table of functions."""
    graph, outputs = program
    algebra: Algebra[Any] = Algebra(
        lambda graph, node: graph.payloads[node],
        lambda graph, node, operands: table[graph.kinds[node]](*operands),
    )
    values = interpret(graph, algebra, inputs, outputs)
    return [values[output] for output in outputs]


def double_precision() -> Any:
    """A context in which JAX has doubles."""
    jax = import_jax()
    if hasattr(jax, "enable_x64"):
        return jax.enable_x64(True)
    from jax.experimental import enable_x64

    return enable_x64()


class JaxKernel:
    """A program as a jitted function of whole columns; JAX has its own threads."""

    threads, chunk, work = 1, 1, 1

    def __init__(self, program: Program, inputs: Sequence[str], table: dict[str, Function]) -> None:
        self.program = program
        self.inputs = tuple(inputs)
        self.table = table
        self.lengths: set[int] = set()
        self.jitted = import_jax().jit(self.traced, compiler_options=OPTIONS)

    def traced(self, one: Any, *columns: Any) -> list[Any]:
        """Every output, of the columns; this is Python only while JAX looks on.

        Products are multiplied by ``one``, which XLA does not know to be 1.  Without, it makes one
        operation of a product and a sum, rounded once, and then a*b - c*d is not 0 where they are equal.
        Now that operation is what it makes of the rounded product times 1.
        """
        jnp = import_jax().numpy
        table = {**self.table, "mul": lambda x, y: x * y * one}
        values = interpret_program(
            self.program, table, dict(zip(self.inputs, columns, strict=True))
        )
        rows = columns[0].shape if columns else (1,)
        return [jnp.broadcast_to(jnp.asarray(value, dtype=float), rows) for value in values]

    def __call__(
        self, columns: Sequence[Any], outputs: Sequence[Any], start: int, stop: int
    ) -> None:
        """Write rows ``start`` to ``stop`` of every output."""
        rows = stop - start
        length = self.length(rows)
        given = [column[start:stop] for column in columns]
        if length > rows:
            given = [np.pad(column, (0, length - rows), "edge") for column in given]
        with double_precision():
            found = self.jitted(np.float64(1.0), *given)
        for output, column in zip(outputs, found, strict=True):
            np.copyto(output[start:stop], np.asarray(column)[:rows])

    def length(self, rows: int) -> int:
        """The length to which columns of some rows are padded."""
        if len(self.lengths) < FIRST:
            self.lengths.add(rows)
        return rows if rows in self.lengths else padded_rows(rows)


def padded_rows(rows: int) -> int:
    """Round a number of rows up to one of the few lengths between two powers of two."""
    part = 1 << max((rows - 1).bit_length() - PARTS, 0)
    return -(-rows // part) * part
