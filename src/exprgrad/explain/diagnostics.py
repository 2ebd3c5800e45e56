"""Diagnostics of a run: the first node to become nan or infinite, and every kink or jump met."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from exprgrad.graph.graph import dependencies
from exprgrad.run.numbers.sweeps import Adjoints
from exprgrad.run.result import Run

if TYPE_CHECKING:
    from exprgrad.explain.diagnostic import Diagnostic
    from exprgrad.explain.sides.kinks import OneSided

__all__ = ["diagnose", "unused_bindings"]


def diagnose(run: Run, one_sided: Mapping[str, OneSided] | None = None) -> list[Diagnostic]:
    """Everything worth knowing about a run, in the order in which it came about.

    ``one_sided`` are the derivatives from the sides, where somebody asks what a kink comes to.
    """
    found = [*unused_bindings(run)]
    forward = not all(map(math.isfinite, run.values))
    special = isinstance(run.adjoints, Adjoints) and not run.adjoints.quiet
    reverse = run.adjoints is not None and not all_finite(run)
    if forward or special or reverse:
        found += troubles(run, one_sided, forward=forward, special=special, reverse=reverse)
    if one_sided:
        from exprgrad.explain.sides.kinks import verdicts

        found += verdicts(run, one_sided)
    return found


def troubles(
    run: Run,
    one_sided: Mapping[str, OneSided] | None,
    *,
    forward: bool,
    special: bool,
    reverse: bool,
) -> Iterator[Diagnostic]:
    """What is behind numbers that are not finite, forward and in reverse, and behind special points."""
    from exprgrad.explain.live import live

    used = live(run)
    if forward:
        from exprgrad.explain.blame import forward_trouble

        yield from forward_trouble(run, used)
    if special:
        from exprgrad.explain.kinks_met import special_points

        yield from special_points(run, used, one_sided)
    if reverse:
        from exprgrad.explain.blame import reverse_trouble

        yield from reverse_trouble(run, used)


def all_finite(run: Run) -> bool:
    """Whether the reverse sweep met finite numbers alone.

    What is not finite reaches an input, unless an edge passes nothing on.
    """
    if not all(map(math.isfinite, run.swept.values())):
        return False
    sweep = run.adjoints
    if not isinstance(sweep, Adjoints) or sweep.tape.gated is None:
        return True
    return all(map(math.isfinite, filter(None, sweep.grads)))


def unused_bindings(run: Run) -> Iterator[Diagnostic]:
    """The named statements that the output does not depend on."""
    if not run.graph.bindings:
        return
    from exprgrad.explain.diagnostic import Diagnostic

    needed = dependencies(run.graph, run.graph.output)
    for name, node, span in run.graph.bindings:
        if not needed[node]:
            yield Diagnostic(
                "unused", "note", f"the output does not use '{name}'", node, span, None
            )
