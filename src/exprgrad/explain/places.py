"""Where something holds among a node's numbers, and how it is said."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from exprgrad.derive.rules import template
from exprgrad.graph.literal import size
from exprgrad.run.arrays import arrays, measure
from exprgrad.run.result import Run

__all__ = ["Found", "held", "where", "written"]


class Found(NamedTuple):
    """Where something was found in a node's numbers: in how many of how many, and the first."""

    many: int
    of: int
    place: tuple[int, ...]

    def numbers(self, label: str) -> str:
        """What is so: ``3 of 450 numbers of log(X) are``."""
        if not self.place:
            return f"{label} is"
        if self.of == 1:
            return f"the only number of {label} is"
        if self.many == self.of:
            return f"all {self.of:,} numbers of {label} are"
        return (
            f"{self.many:,} of {self.of:,} numbers of {label} {'is' if self.many == 1 else 'are'}"
        )

    def first(self) -> str:
        """Where: ``, the first at [2, 0]``."""
        if not self.place or self.of == 1:
            return ""
        return f", {'the first ' if self.many > 1 else ''}at {list(self.place)}"

    def counted(self) -> str:
        """How many, and where: `` for 2 of 6 numbers, the first at [0]``."""
        if not self.place:
            return ""
        if self.of == 1:
            return " for its only number"
        many = "all" if self.many == self.of else f"{self.many:,} of"
        return f" for {many} {self.of:,} numbers{self.first()}"


def where(flags: Any) -> Found | None:
    """Where a condition holds; None if nowhere."""
    count, index = measure.places(flags)
    return Found(count, size(measure.shape(flags)), index) if count else None


def written(run: Run, node: int) -> str:
    """What a node is called; broadcasting leaves no trace."""
    return run.label(run.graph.operands[node][0] if node in run.graph.implicit else node)


def held(text: str, names: Sequence[str], arguments: Sequence[Any]) -> Any:
    """A condition of a row, evaluated at every number of its arguments."""
    graph = template(text)
    return arrays.forward(graph, dict(zip(names, arguments, strict=True)))[graph.output]
