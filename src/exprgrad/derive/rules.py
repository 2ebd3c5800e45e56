"""The op table's texts, read into graphs: templates over a node's operands, ``out`` and companions.

A template is an ordinary graph whose inputs are the names allowed in a rule (see ``graph/ops.py``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import TypeVar

from exprgrad.graph.graph import CONST, INPUT, Graph, is_scalar
from exprgrad.graph.ops import Op
from exprgrad.language.read.parse import parse_text

__all__ = [
    "Rule", "computed", "constant_graph", "exact_rule", "join_balanced", "operation_count", "rule_slots",
    "shown", "template",
]  # fmt: skip

Term = TypeVar("Term")

Rule = Callable[[Op, int], str]
"""Chooses the rule for the operand of an operation at a position."""
computed: Rule = Op.partial
"""The rule that is accurate in doubles."""
shown: Rule = Op.display_partial
"""The rule that is shown."""


template: Callable[[str], Graph] = cache(parse_text)
"""Parses one rule, condition or formula of the op table into a graph."""


def constant_graph(text: str) -> Graph | None:
    """Return the graph of a typed constant expression; None if it has tensors in it."""
    graph = template(text)
    return graph if is_scalar(graph) else None


@cache
def rule_slots(op: Op) -> tuple[str, ...]:
    """Return the names that an operation's rules may use, in the order of their values.

    A variadic rule sees one operand at a time: ``x``, ``out``, ``varies`` and ``ties``.
    """
    if op.variadic:
        return (*op.names, "out", "varies", "ties")
    return (*op.names, "out", *(f"varies_{name}" for name in op.names))


def join_balanced(join: Callable[[Term, Term], Term], terms: Sequence[Term]) -> Term:
    """Join terms in pairs, and the pairs in pairs: no term takes part more than log2(n) times.

    A sum's rounding errors add up no further than that.  N. J. Higham, The accuracy of floating point
    summation, SIAM J. Sci. Comput. 14 (1993), 783-799.
    """
    while len(terms) > 1:
        pairs = [join(*terms[at : at + 2]) for at in range(0, len(terms) - 1, 2)]
        terms = [*pairs, *terms[2 * len(pairs) :]]
    return terms[0]


@cache
def operation_count(text: str) -> int:
    """Count a rule's operations."""
    return sum(kind not in (INPUT, CONST) for kind in template(text).kinds)


@cache
def exact_rule(op: Op, position: int) -> str:
    """Return the rule that is exact in real arithmetic, as balls need it.

    It is the shown rule where the row has a value; but at kinks and jumps, and where it is not
    finite, the computed one, which states the convention.  The same holds at 0 if that has a case of its
    own in the shown rule, as in sinc's: the derivative of such a case is 0.
    """
    *statements, rule = op.partial(position).split(";")
    if op.display_partials:
        shown = op.display_partial(position)
        renamed = shown  # so that no other rule's statements have the names of its own
        for name in re.findall(r"(?:^|;)\s*(\w+) =(?!=)", shown):
            renamed = re.sub(rf"\b{name}\b", f"{name}_shown", renamed)
        *before, slope = renamed.split(";")
        statements = [*before, f"slope = {slope.strip()}", *statements]
        apart = [f"({name} != 0)" for name in op.names if f"{name} == 0," in shown]
        bends = [f"(({one.where}) == 0)" for one in op.special]
        smooth = " * ".join(["(0*slope == 0)", *apart, *bends])
        rule = f"where({smooth}, slope, {rule})"
    if op.domain:
        outside = "*".join(["nan", *op.names])  # whose derivatives are nan too
        rule = f"where(out == out, {rule}, {outside})"
    return "; ".join([*statements, rule])
