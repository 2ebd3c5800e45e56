"""Answers that a notebook shows as tables: in all else they are lists, dictionaries and texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from exprgrad.explain.descent import Descent
from exprgrad.explain.diagnostics import Run, told_once
from exprgrad.explain.limits import COUNTED
from exprgrad.run.evaluation import Guarded
from exprgrad.show.picture.picture import Pictured
from exprgrad.show.text.lines import diagnosed
from exprgrad.show.text.table import Screen, Table, in_html, plain

if TYPE_CHECKING:
    from exprgrad.explain.checking.check import Check
    from exprgrad.explain.walks import Paths
    from exprgrad.run.matrices import Matrix

__all__ = [
    "DIGITS", "Course", "Listed", "Named", "Parts", "Printed", "Text", "as_checks",
    "beside_nodes", "by_input", "gradient_text", "matrix", "traced", "warnings",
]  # fmt: skip

Item = TypeVar("Item")
R = TypeVar("R", bound=Run)
Parts = Callable[[], Iterable[str | Table]]
"""What makes the texts and tables, as a command prints them, when they are looked at."""
DIGITS = 6
MOST_WARNINGS = 20
IN_FULL = Screen()


class Shown:
    """What a notebook shows as the texts and tables of its ``parts``."""

    __slots__ = ()
    parts: Parts

    def _repr_html_(self) -> str:
        return in_html(self.parts())


class Printed(Shown):
    """What prints as its parts, too, as commands print them."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "\n".join(part if isinstance(part, str) else plain(part) for part in self.parts())


class Listed(Shown, list[Item]):
    """A list that is a table in a notebook; copied or pickled it is a list."""

    def __init__(self, items: Iterable[Item], parts: Parts) -> None:
        super().__init__(items)
        self.parts = parts

    def __reduce__(self) -> tuple[Any, ...]:
        return list, ([*self],)


class Named(Shown, dict[str, Item]):
    """A dictionary that is a table in a notebook; copied or pickled it is a dictionary."""

    def __init__(self, items: Mapping[str, Item], parts: Parts) -> None:
        super().__init__(items)
        self.parts = parts

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, ({**self},)


class Text(str):
    """A text that a notebook shows line by line, or as a table."""

    parts: Parts | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return str, (str(self),)

    def _repr_html_(self) -> str:
        return in_html([str(self)] if self.parts is None else self.parts())

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))


class Course(Printed, Pictured, Descent[R]):
    """A descent that prints as the table of its steps; its picture is the value at each of them."""

    __slots__ = ()

    def parts(self) -> Iterable[str | Table]:
        """The table of the steps."""
        from exprgrad.show.text.searches import descent_table

        return [descent_table(self, DIGITS)]

    def drawn(self, format: str, look: str | None) -> bytes:
        """The bytes of a file."""
        from exprgrad.show.text.searches import loss_picture

        return loss_picture(self, format, look)


def gradient_text(run: Run, gradient: str) -> str:
    """A gradient, and the warnings of its run; nothing is asked of the value."""
    true = run.guarded(COUNTED, has_value=False)
    lines = [gradient, *warnings(run, true)]
    if true.corrected.keys() != run.corrected.keys():
        lines.append("the numbers above are the sweep's; f.gradient(…).true has corrected ones")
    return "\n".join(lines)


def warnings(run: Run, answer: Guarded) -> list[str]:
    """What a command that prints an answer of a run warns of on stderr."""
    remarks = told_once(run.remarks, answer)
    told = [diagnosed(one, run.text) for one in remarks if one.severity == "warning"]
    lines = told[:MOST_WARNINGS]
    if told[MOST_WARNINGS:]:
        lines.append(f"… {len(told) - MOST_WARNINGS:,} more in the run's diagnostics")
    return lines


def beside_nodes(run: Any) -> list[str]:
    """The lines printed below a run's nodes: its uncertainty budget, if it has one, and warnings."""
    listed = [*warnings(run, run.true)]
    if run.spread is None:
        return ["\n".join(listed)] if listed else []
    listed += [diagnosed(one, run.text) for one in run.uncertainty.diagnostics]
    return [run.budget(), *(["\n".join(listed)] if listed else [])]


def as_checks(found: Sequence[Check], run: Run | None) -> list[Check]:
    """Checks, a line each; of claims there is no ``run``."""

    def parts() -> Iterable[str | Table]:
        from exprgrad.show.text.checks import check_foot, check_table

        return [check_table(found, DIGITS, check_foot(found, run, DIGITS))]

    return Listed(found, parts)


def traced(run: Run, text: str, digits: int, *, all: bool) -> str:
    """A trace, a contribution a line; of all visits, or over tensors, it is its text."""
    found = Text(text)
    if not (all or run.graph.shapes):
        from exprgrad.show.text.trace import trace_parts

        found.parts = lambda: trace_parts(run, digits)
    return found


def by_input(run: Run, found: dict[str, Paths]) -> dict[str, Paths]:
    """Paths, a line each."""

    def parts() -> Iterable[str | Table]:
        from exprgrad.explain.places import in_numbers
        from exprgrad.explain.walks import web_of
        from exprgrad.show.text.walks import paths_table

        numbers = in_numbers(run).run
        return [paths_table(numbers, found.__getitem__, web_of(numbers), DIGITS)]

    return Named(found, parts)


def matrix(
    answer: dict[str, Any], found: Matrix, called: str, among_tensors: bool
) -> dict[str, Any]:
    """A Jacobian or a Hessian by name; ``called`` is what people call a block among tensors."""

    def parts() -> Iterable[str | Table]:
        from exprgrad.show.text.matrices import Derivative, matrix_parts

        shown = Derivative(found, among_tensors, called)
        return matrix_parts(shown, DIGITS, "", IN_FULL, whole=False)

    return Named(answer, parts)
