"""What a card says in red: a kink or a jump that a node meets, and where numbers stop being finite."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

from exprgrad.explain.diagnostics import Run
from exprgrad.graph.graph import INPUT
from exprgrad.run.evaluation import Diagnostic
from exprgrad.show.text.views import signed

__all__ = ["Alarm", "alarms"]

SAID = {
    "kink": "kink",
    "jump": "jump",
    "undecided": "undecided",
    "corrected": "corrected",
    "nan": "not a number",
    "infinity": "infinite",
    "nan-gradient": "gradient not a number",
    "infinite-gradient": "infinite slope",
}
"""What a card says, by the code of a diagnostic."""
LONGEST = 36
"""The most characters of a line."""


class Alarm(NamedTuple):
    """Short lines on a card, and the whole story where one points at it."""

    lines: tuple[str, ...]
    tooltip: str


def alarms(run: Run, digits: int) -> Mapping[int, Alarm]:
    """By node, what a run says of it, or of what is in the call that it stands for, and has to be shown."""
    found: dict[int, Alarm] = {}
    card = {node: call for call, closed in run.closed.items() for node in closed.inside}
    for one in run.remarks:
        if one.code in SAID:
            node = card.get(one.node, one.node)
            lines, tooltip = found.get(node, ((), ""))
            lines = tuple(dict.fromkeys([*lines, *lines_of(run, one, digits)]))
            found[node] = Alarm(lines, "; ".join(filter(None, [tooltip, one.message])))
    return found


def lines_of(run: Run, one: Diagnostic, digits: int) -> list[str]:
    """A diagnostic in a few words; of an input, what its derivatives from the sides are."""
    if run.graph.kinds[one.node] != INPUT:
        return [SAID[one.code]]
    name = str(run.graph.payloads[one.node])
    if one.code == "corrected":
        truth = run.corrected[name][1]
        return [f"corrected: {signed(truth, digits)}" if isinstance(truth, float) else "corrected"]
    met = (
        each for each in run.one_sided.values() if (each.input, each.verdict) == (name, one.code)
    )
    side = next(met, None)
    if side is None:
        return [one.message if len(one.message) <= LONGEST else SAID[one.code]]
    from exprgrad.explain.sides.kinks import findings

    head, told = (
        f"{one.code} along {side.name}",
        findings(run, side, partial(signed, digits=digits)),
    )
    whole = ", ".join(told)
    first = head if len(head) <= LONGEST else SAID[one.code]
    return [first, *([whole] if len(whole) <= LONGEST else told)]
