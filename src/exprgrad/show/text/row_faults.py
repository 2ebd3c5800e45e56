"""Faults of a row of the op table, in sentences that say what to add: ``exprgrad ops NAME --lint``.

The tests hold rows to the truth; these are the missing fields, entries and spellings on which they would
fail.  In a checkout with mpmath the true values of the tests, ``tests/oracles.py``, are asked too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from runpy import run_path
from typing import Any

from exprgrad.derive.lower.translate import translate_formula
from exprgrad.derive.rules import template
from exprgrad.errors import ExprgradError
from exprgrad.graph.graph import Graph
from exprgrad.graph.ops import BY_NAME, Op
from exprgrad.graph.structural import Structural
from exprgrad.language.code.targets import TARGETS
from exprgrad.language.read.latex import formula_from_latex
from exprgrad.language.read.parse import parse_text
from exprgrad.language.write.infix import ATOM, operation_text
from exprgrad.language.write.latex import graph_latex
from exprgrad.run.balls.balls import has_balls, has_own_ball
from exprgrad.run.engines.llvm_text import FAST, VECTOR_LIBRARY
from exprgrad.run.numbers.sweeps import (
    compile_template,
    condition_holds,
    functions,
    refuse_uncomputable,
)
from exprgrad.show.text.operations import Row

__all__ = ["find_row_faults"]

SAMPLES = [s * m * 10.0**k for k in range(-9, 9) for m in (1.0, 1.7, 3.1, 6.4) for s in (1, -1)]
"""The numbers at which formulas are compared with functions; of several operands a few of them."""
ORACLES = Path(__file__).parents[4] / "tests" / "oracles.py"


def find_row_faults(row: Row) -> list[str]:
    """A row's faults, a sentence each; if it cannot be computed or read at all, only that one."""
    try:
        if isinstance(row, Structural):
            return [*structural_faults(row)]
        refuse_uncomputable(row)
        return [*elementwise_faults(row)]
    except (ExprgradError, ValueError) as error:
        return [f"{str(error).splitlines()[0]}: mend its texts"]


@cache
def load_oracles() -> dict[str, Any]:
    """The names in the tests' module of true values; empty outside a checkout, or without mpmath."""
    return run_path(str(ORACLES)) if ORACLES.is_file() and find_spec("mpmath") else {}


def elementwise_faults(op: Op) -> Iterator[str]:
    """The faults of an elementwise row."""
    has_reference = load_oracles().get("has_own_reference", lambda name: True)
    if has_balls() and not has_own_ball(op):
        yield (
            "balls don't know it, so that no digit of it is trusted: add a definition, or arb, a function "
            "of arb's balls"
        )
    if not op.definition and not has_reference(op.name):
        yield (
            f"the tests have no truth for it, as mpmath has no function {op.name}: add a definition, or a "
            "function to CORE in tests/oracles.py"
        )
    if op.partial_abs and op.away_from_zeros is None and op.setting is None:
        yield (
            "its partial_abs is for zeros alone: add away_from_zeros, which says where its derivative's "
            "zeros are far"
        )
    graph = parse_text(operation_text(op.name, [(name, ATOM) for name in op.fallback_names]))
    if not reads_back(op, graph):
        yield (
            f"its LaTeX '{graph_latex(graph)}' does not read back as itself, or as its definition: write "
            rf"\operatorname{{{op.name}}}, or teach language/read/latex.py the notation"
        )
    texts = filter(None, (op.value, op.fallback, *op.partials))
    called = {kind for text in texts for kind in template(text).kinds if kind in BY_NAME}
    for row in (op, *(BY_NAME[kind] for kind in sorted(called - {op.name}))):
        if lost := formula_error(row):
            yield (
                f"{'it calls ' * (row is not op)}{row.name}, for which a formula is computed where a "
                f"target lacks it, off by {lost}: add a more accurate fallback to {row.name}"
            )
    for name, target in TARGETS.items():
        try:
            translate_formula(graph, name)
        except ExprgradError as error:
            yield f"it cannot be written in {target.title}, {error.message}: {error.help}"


def reads_back(op: Op, graph: Graph) -> bool:
    """Whether a row's LaTeX is read as the row, or as its definition."""
    try:
        read = parse_text(formula_from_latex(graph_latex(graph)))
    except ExprgradError:
        return False
    return read.kinds[-1] == op.name or read.kinds == template(op.definition or "0").kinds


@cache
def formula_error(op: Op) -> str:
    """The error of the formula that takes a function's place, and where it is; empty if it is small."""
    spelled = [*(target.spelled for target in TARGETS.values()), VECTOR_LIBRARY.union(FAST)]
    text, names = op.fallback or op.definition, op.fallback_names
    if op.value or not text or all(op.name in rows for rows in spelled):
        return ""
    formula = compile_template(template(text), names)
    errors = {  # from 16 ulp on: the best formulas are off by 1 or 2
        point: abs(formula(point) - true) / math.ulp(true)
        for point in product(SAMPLES[:: 1 if len(names) == 1 else 14], repeat=len(names))
        if op.variadic or not op.domain or condition_holds(op.domain, names, point)
        if math.isfinite(true := functions[op.name](*point))
        if not abs(formula(point) - true) <= op.value_abs + 16 * math.ulp(true)
    }
    place = max(errors, key=errors.__getitem__, default=())
    at = ", ".join(f"{name} = {x:g}" for name, x in zip(names, place, strict=False))
    return f"{errors[place]:.2g} ulp at {at}" if place else ""


def structural_faults(row: Structural) -> Iterator[str]:
    """The faults of a structural row."""
    if not row.vjp.__doc__:
        yield "its vjp names no source: add a docstring that does"
    if not (row.linear or row.variadic or row.value is None or row.bound is not None):
        yield "no digit of it is trusted: add a bound"
    for target in TARGETS.values():
        if target.arrays and row.name not in target.spelled and row.fallback is None:
            yield f"{target.title} has no function for it: add a fallback, or a spelling to its target"
