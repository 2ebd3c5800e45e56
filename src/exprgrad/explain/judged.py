"""A run with what is known of its numbers: diagnostics, one-sided derivatives, corrections.

All of it is found when it is read, and nothing of it at a smooth point.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from exprgrad.run import result

if TYPE_CHECKING:
    from exprgrad.explain.diagnostic import Diagnostic
    from exprgrad.explain.sides.kinks import OneSided

__all__ = ["Run"]


class Run(result.Run):
    """One evaluation, and what its gradient rests on."""

    @cached_property
    def diagnostics(self) -> list[Diagnostic]:
        """Where the numbers stop being finite, and the kinks and jumps that were met."""
        from exprgrad.explain.diagnostics import diagnose

        return diagnose(self, self.one_sided)

    @cached_property
    def one_sided(self) -> Mapping[str, OneSided]:
        """By input, the derivatives from the two sides and what they say, where that is worth asking.

        So it is for inputs that reach a kink or a jump, or whose swept derivative is not finite; empty
        at a smooth point, and for more than 64 differentiated numbers.  Over tensors they are by number:
        ``x[1]``.
        """
        if self.is_plain:
            return {}
        from exprgrad.explain.sides.kinks import one_sided

        return one_sided(self)

    @cached_property
    def is_plain(self) -> bool:
        """Whether the swept gradient rests on no convention and is finite, or cannot be told from one."""
        if self.adjoints is None:
            return True
        finite = all(map(result.is_finite, self.swept.values()))
        if finite and self.adjoints.quiet:
            return True
        from exprgrad.explain.kinks_met import flagged
        from exprgrad.explain.limits import beyond_sides

        return bool(beyond_sides(self)) or (finite and not flagged(self))

    @property
    def gradient(self) -> dict[str, Any]:
        """The output's partial derivative for each differentiated input; empty without a sweep.

        It is what the sweep found (``swept``), but for what is ``corrected``.  A tensor's has the tensor's
        shape.
        """
        gradient = self.swept
        if not self.is_plain:
            gradient |= {name: value for name, (_, value) in self.corrected.items()}
        return gradient

    @cached_property
    def corrected(self) -> Mapping[str, tuple[Any, Any]]:
        """By input: the sweep's number and the derivative, where it exists and is another.

        ``gradient`` has the derivative; nodes, edges, the trace and ``swept`` keep the sweep's number.
        """
        if not self.one_sided:
            return {}
        from exprgrad.explain.sides.kinks import corrections

        return corrections(self, self.one_sided)
