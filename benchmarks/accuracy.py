"""Digits: the error of our gradient in ulp beside four libraries', and the worst of every row.

``python -m benchmarks.accuracy`` writes the tables into ``docs/explanation/accuracy.md``.  The formulas
and points are those of ``tests/cases/accuracy.txt``.
"""

from __future__ import annotations

import math
import platform
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.compositions import compositions_table
from benchmarks.formulas import CASES
from benchmarks.gradients import Gradient, contestants, missing
from benchmarks.machine import machine
from benchmarks.measure import Report, table
from benchmarks.pages import fill
from benchmarks.truth import from_tests, true_gradient
from benchmarks.worst import rows_table
from exprgrad.api import Expression, parse

__all__ = ["report"]

PAGE = Path(__file__).parents[1] / "docs" / "explanation" / "accuracy.md"
COMPOSITIONS = 1500
"""How many formulas are generated for the page."""
LEAD = 2.0
"""By how many ulps another library's gradient may be nearer, at most."""
OTHERS_NEARER = "Where others are nearer"
"""How the group begins in which they are known to be nearer by more."""


class Case(NamedTuple):
    """A formula at a point, under the heading of its group."""

    group: str
    text: str
    where: str

    @property
    def point(self) -> dict[str, float]:
        """Every input's value, by name."""
        pairs = [part.split("=") for part in self.where.split()]
        return {name: float(value) for name, value in pairs}


class Error(NamedTuple):
    """How far a gradient is off: in ulp at its worst component, and as people read it."""

    ulps: float
    text: str


def report(*, quick: bool) -> Report:
    """All tables; of what is sampled, less with ``quick``."""
    generated = compositions_table(contestants(), 25 if quick else COMPOSITIONS)
    parts = (
        ("Hard cases", cases_report()),
        ("Generated formulas", generated),
        ("Every row's worst", rows_table(quick=quick)),
    )
    return Report("\n".join(f"### {title}\n\n{part}" for title, part in parts))


def cases() -> Iterator[Case]:
    """The cases of ``tests/cases/accuracy.txt``; a comment behind an empty line heads a group."""
    group, before = "", "-"
    for line in (CASES / "accuracy.txt").read_text("utf-8").splitlines():
        if line.startswith("#") and not before:
            group = line.removeprefix("#").strip()
        elif line and not line.startswith("#"):
            text, where = line.split(" | ")
            yield Case(group, text, where)
        before = line


def cases_report() -> str:
    """A table for each group of cases, a summary, and what breaks the bars."""
    known = contestants()
    ours, *others = known
    found = {case: measured(case, known) for case in cases()}
    parts = []
    for group in dict.fromkeys(case.group for case in found):
        rows = [
            [f"`{case.text}`, {case.where}", *[errors[name].text for name in known]]
            for case, errors in found.items()
            if case.group == group
        ]
        parts.append(f"**{group}**\n\n{table(['gradient of', *known], rows)}")
    counted = {c: errors for c, errors in found.items() if not c.group.startswith(OTHERS_NEARER)}
    summary = [
        [name, *[str(sum(e[name].ulps <= most for e in counted.values())) for most in (2, 5, 100)]]
        for name in known
    ]
    head = [f"of {len(counted)} gradients", "within 2 ulp", "within 5 ulp", "within 100 ulp"]
    parts.append(f"**All but the last group**\n\n{table(head, summary)}")
    behind = [
        f"`{case.text}` at {case.where}: {name} is nearer\n"
        for case, errors in counted.items()
        for name in others
        if errors[ours].ulps > errors[name].ulps + LEAD
    ]
    said = "".join(f"- {line}" for line in behind) or (
        f"In none of them is another library's gradient nearer by more than {LEAD:g} ulp.\n"
    )
    left_out = f"\nLeft out, not being installed: {', '.join(missing())}.\n" if missing() else ""
    return "\n".join([*parts, said]) + left_out


def measured(case: Case, known: Mapping[str, Gradient]) -> dict[str, Error]:
    """Every contestant's error in one case."""
    expression = parse(case.text)
    point = {name: case.point[name] for name in expression.inputs}
    true = [*true_gradient(expression.graph, point).values()]
    return {name: error(gradient, expression, point, true) for name, gradient in known.items()}


def error(
    gradient: Gradient, expression: Expression, point: Mapping[str, float], true: Sequence[Any]
) -> Error:
    """One contestant's error; beyond all bounds where it has no such operation, or no derivative of it."""
    try:
        found = gradient(expression, point)
    except (KeyError, NotImplementedError):
        return Error(math.inf, "none")
    ulps: list[float] = list(map(from_tests("oracles").ulps, found, true))
    worst = max(range(len(ulps)), key=ulps.__getitem__)
    if math.isfinite(found[worst]) and ulps[worst] < 2.0**51:
        return Error(ulps[worst], number(ulps[worst]))
    return Error(math.inf, "wrong" if math.isfinite(found[worst]) else str(found[worst]))


def number(ulps: float) -> str:
    """An error as people read it."""
    return f"{ulps:.1f}" if ulps < 100 else f"{ulps:.0f}" if ulps < 1e4 else f"{ulps:.0e}"


def write_page() -> None:
    """Put the tables into the page, between its markers, and what they were measured with."""
    import exprgrad

    libc = " ".join(platform.libc_ver())
    parts = {
        "machine": f"Measured with exprgrad {exprgrad.__version__} on {machine()}; {libc}.\n",
        "cases": cases_report(),
        "compositions": compositions_table(contestants(), COMPOSITIONS),
        "rows": rows_table(quick=False),
    }
    fill(PAGE, parts)


if __name__ == "__main__":
    write_page()
