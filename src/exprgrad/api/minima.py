"""Minima, as a notebook shows them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from exprgrad.api.displays import DIGITS, Shown
from exprgrad.explain.diagnostics import DiagnosedRun
from exprgrad.show.text.searches import minimum_parts
from exprgrad.show.text.table import Table
from exprgrad.solvers.minima.minimize import Minimum

__all__ = ["Minimized"]

R = TypeVar("R", bound=DiagnosedRun)


class Minimized(Shown, Minimum[R]):
    """A minimum that a notebook shows as the table of its point; ``start`` are the inputs it began from."""

    start: Mapping[str, Any]

    def parts(self) -> Iterable[str | Table]:
        """The minima of several starts, if they were asked for, and the point."""
        return minimum_parts(self, self.start, self.value, DIGITS)

    def __reduce__(self) -> tuple[Any, ...]:
        return Minimum, (*self,)
