"""What a row of the op table says of one side of a kink or a jump, given how fast its operands move."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import product

from exprgrad.derive.rules import template
from exprgrad.explain.sides.running_error import Measured
from exprgrad.graph.ops import Special
from exprgrad.run.numbers.templates import compile_template

__all__ = ["decide", "names_in"]


@cache
def names_in(special: Special) -> frozenset[str]:
    """The names that what is said of a side uses."""
    texts = filter(None, (special.side, special.slope, special.undecided))
    return frozenset(name for text in texts for name in template(text).inputs)


def decide(special: Special, given: Mapping[str, Measured]) -> float | None:
    """The value just beside a kink or a jump; None where the tangents do not tell.

    Tangents may be off by their errors: the answer has to be the same wherever in between they are, and
    at the ends, at 0 and where two of them are equal it is asked.
    """
    names = [n for n in names_in(special) if n.startswith("d") and given[n].error]
    tangents = [x.value for name, x in given.items() if name.startswith("d")]
    choices = []
    for name in names:
        t, error = given[name]
        inner = [x for x in (0.0, *tangents) if abs(x - t) <= error]
        choices.append({t, t - error, t + error, *inner})
    plain = {name: number.value for name, number in given.items()}
    slots_ = tuple(plain)
    found = set()
    for chosen in product(*choices):
        values = list({**plain, **dict(zip(names, chosen, strict=True))}.values())
        if special.undecided and compile_template(template(special.undecided), slots_)(values):
            return None
        if special.side:
            found.add(compile_template(template(special.side), slots_)(values))
    if not special.side:
        return plain["out"]
    side = found.pop()
    return None if found else side
