"""Answers that a notebook shows as tables; otherwise they are lists, dictionaries and texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from exprgrad.explain.derivatives import Derivatives
from exprgrad.explain.descent import Descent, lost_step_warnings
from exprgrad.explain.diagnostics import DiagnosedRun
from exprgrad.run.matrices import Matrix
from exprgrad.show.picture.picture import Pictured
from exprgrad.show.text.lines import diagnostic_text
from exprgrad.show.text.table import Screen, Table, plain_table, render_html

if TYPE_CHECKING:
    from exprgrad.explain.checking.check import Check
    from exprgrad.explain.walks import Paths
    from exprgrad.run.evaluation import Diagnostic

__all__ = [
    "DIGITS", "Course", "DerivativesByName", "Listed", "Named", "Parts", "Printed", "Shown", "Text",
    "as_checks", "beside_nodes", "by_input", "corrected_text", "trace_for_notebook", "warning_texts",
]  # fmt: skip

Item = TypeVar("Item")
R = TypeVar("R", bound=DiagnosedRun)
Parts = Callable[[], Iterable[str | Table]]
"""Makes texts and tables, as a command prints them, when they are shown."""
DIGITS = 6
MOST_WARNINGS = 20
IN_FULL = Screen()
CALLED = {"jacobian": "d {row} / d {column}", "hessian": "d² / d {row} d {column}"}
"""The heading of a block in a matrix among tensors, by field."""


class Shown:
    """An object that a notebook shows as the texts and tables of its ``parts``."""

    __slots__ = ()
    parts: Parts

    def _repr_html_(self) -> str:
        return render_html(self.parts())


class Printed(Shown):
    """An object that also prints as its parts, as commands print them."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "\n".join(
            part if isinstance(part, str) else plain_table(part) for part in self.parts()
        )


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
        return render_html([str(self)] if self.parts is None else self.parts())

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))


class Course(Printed, Pictured, Descent[R]):
    """A descent that prints as the table of its steps; its picture is the value at each of them."""

    __slots__ = ()

    def parts(self) -> Iterable[str | Table]:
        """The table of the steps, and how many of them have lost digits."""
        from exprgrad.show.text.searches import descent_table

        told = [diagnostic_text(one, self.run.text) for one in lost_step_warnings(self)]
        return [descent_table(self, DIGITS, told)]

    def drawn(self, format: str, look: str | None) -> bytes:
        """The bytes of a file."""
        from exprgrad.show.text.searches import loss_picture

        return loss_picture(self, format, look)


NOTE = "these are the true numbers (.true); the dictionary itself holds the sweep's"
"""The note below a display that corrects numbers."""


def corrected_text(true: Mapping[str, Any], swept: str, told: Iterable[str]) -> str:
    """Write true numbers and warnings, and a note if ``swept``, the text of the sweep's, differs."""
    shown = repr({**true})
    return "\n".join([shown, *told, *[NOTE] * (shown != swept)])


def warning_texts(diagnostics: Iterable[Diagnostic], text: str) -> list[str]:
    """The warnings that a command would print on stderr about a formula, with their places in its text."""
    told = [diagnostic_text(one, text) for one in diagnostics if one.severity == "warning"]
    lines = told[:MOST_WARNINGS]
    if told[MOST_WARNINGS:]:
        lines.append(f"… {len(told) - MOST_WARNINGS:,} more in the run's diagnostics")
    return lines


def beside_nodes(run: Any) -> list[str]:
    """The lines printed below a run's nodes: its uncertainty budget, if it has one, and warnings."""
    listed = warning_texts(run.diagnostics, run.text)
    if run.spread is None:
        return ["\n".join(listed)] if listed else []
    listed += [diagnostic_text(one, run.text) for one in run.uncertainty.diagnostics]
    return [run.budget(), *(["\n".join(listed)] if listed else [])]


def as_checks(found: Sequence[Check], run: DiagnosedRun | None) -> list[Check]:
    """Have a notebook show checks, a line each; claims have no ``run``."""

    def parts() -> Iterable[str | Table]:
        from exprgrad.show.text.checks import check_table

        return [check_table(found, run, DIGITS)]

    return Listed(found, parts)


def trace_for_notebook(run: DiagnosedRun, text: str, digits: int, *, all: bool) -> str:
    """Have a notebook show a trace, a contribution a line; as text for all visits, or over tensors."""
    found = Text(text)
    if not (all or run.graph.shapes):
        from exprgrad.show.text.trace import trace_parts

        found.parts = lambda: trace_parts(run, digits)
    return found


def by_input(run: DiagnosedRun, found: dict[str, Paths]) -> dict[str, Paths]:
    """Have a notebook show paths, a line each."""

    def parts() -> Iterable[str | Table]:
        from exprgrad.explain.places import to_scalar_run
        from exprgrad.explain.walks import build_web
        from exprgrad.show.text.walks import paths_table

        numbers = to_scalar_run(run).run
        return [paths_table(numbers, found.__getitem__, build_web(numbers), DIGITS)]

    return Named(found, parts)


class DerivativesByName(Named[Any]):
    """Derivatives by name, as sweeps found them; they print as the true ones, with warnings.

    ``true`` has these, and ``digits`` says how many of their digits are right, from 0 to 16; of a block
    among tensors, the fewest.  Both are computed when they are read.
    """

    def __init__(self, found: Derivatives, *, several: bool = True) -> None:
        self.derivatives = found
        self.several = several
        super().__init__(self.by_name(found.swept[found.kind.name]), self.tables)

    @property
    def true(self) -> dict[str, Any]:
        """The numbers that the command prints: corrected where fewer than 6 digits are right."""
        return Named(self.by_name(self.derivatives.true[self.derivatives.kind.name]), self.tables)

    @property
    def digits(self) -> dict[str, Any]:
        """How many digits of each true number are right."""
        return self.by_name(self.derivatives.digits)

    def by_name(self, found: Matrix | dict[str, Any]) -> dict[str, Any]:
        """Return numbers by name: of a matrix row by row, of a formula's only output its row alone."""
        if not isinstance(found, Matrix):
            return found
        return found.whole() if self.several else found.row(0)

    def warnings(self) -> list[str]:
        """The warnings of the command."""
        return warning_texts(self.derivatives.diagnostics, self.derivatives.text)

    def tables(self) -> Iterable[str | Table]:
        """The true numbers as the command prints them."""
        from exprgrad.show.text import matrices

        found, field = self.derivatives, self.derivatives.kind.name
        true, corrections = (
            found.true[field],
            matrices.matrix_corrections(found.settled, DIGITS, several=self.several),
        )
        foot = "\n".join([*corrections, *self.warnings()])
        if not isinstance(true, Matrix):
            rows = {name: (one,) for name, one in true.items()}
            return [matrices.vector_table(("input", field), rows, DIGITS, foot)]
        shown = matrices.DerivativeMatrix(true, not found.point.evaluator.by_entries, CALLED[field])
        return matrices.matrix_parts(shown, DIGITS, foot, IN_FULL, whole=False)

    def __repr__(self) -> str:
        return corrected_text(self.true, super().__repr__(), self.warnings())
