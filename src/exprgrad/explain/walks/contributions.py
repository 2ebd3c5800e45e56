"""A reverse sweep over a web in any order of visits: every contribution, and what the inputs read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from exprgrad.explain.walks.web import Web

__all__ = ["Contribution", "simulate"]


class Contribution(NamedTuple):
    """What one visit passed to one operand.

    ``visit``   the number of the visit, from 0
    ``edge``    the edge of the web
    ``grad``    the user's grad at that visit
    ``value``   the contribution: the grad times the local derivative
    ``before``, ``after``  the operand's grad
    ``late``    whether the operand had been visited, for the last time, so that this is lost
    ``replaced``  the edge whose contribution this one overwrote before it was passed on; else None
    """

    visit: int
    edge: int
    grad: float
    value: float
    before: float
    after: float
    late: bool
    replaced: int | None


def simulate(
    web: Web, visits: Sequence[int], *, overwrite: bool
) -> tuple[list[Contribution], dict[str, float], dict[str, int | None], set[int]]:
    """The contributions, what each input read and when, and the edges whose contributions went on.

    A grad begins at 0, that of the output at 1.
    """
    below: dict[int, list[int]] = {}
    for edge, user in enumerate(web.users):
        below.setdefault(user, []).append(edge)
    last = {node: at for at, node in enumerate(visits)}
    grads: dict[int, float] = {web.output: 1.0}
    holding: dict[int, list[int]] = {}
    carried: set[int] = set()
    inputs = {node: name for name, node in web.inputs.items()}
    got: dict[str, float] = {}
    reads: dict[str, int | None] = dict.fromkeys(web.inputs)
    passed: list[Contribution] = []
    for at, user in enumerate(visits):
        carried.update(holding.pop(user, ()))
        grad = grads.get(user)
        if user in inputs:
            got[inputs[user]] = grad or 0.0
            reads[inputs[user]] = at
        for edge in below.get(user, ()):
            operand = web.operands[edge]
            # Where nothing has arrived, nothing goes on, not even nothing times infinity.
            value = 0.0 if grad is None else grad * web.locals[edge]
            before = grads.get(operand, 0.0)
            after = value if overwrite else before + value
            late = last.get(operand, len(visits)) <= at
            replaced = None
            if not late:
                held = holding.setdefault(operand, [])
                if overwrite and held:
                    replaced = held.pop()
                held.append(edge)
            passed.append(Contribution(at, edge, grad or 0.0, value, before, after, late, replaced))
            grads[operand] = after
    for name, node in web.inputs.items():
        if name not in got:
            got[name] = grads.get(node, 0.0)
            carried.update(holding.pop(node, ()))
    return passed, got, reads, carried
