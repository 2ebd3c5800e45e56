"""Roots as a table, as JSON, as CSV, and as lines for scripts."""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from typing import Any

from exprgrad.run.values.ranges import Interval
from exprgrad.show.text.lines import decimal
from exprgrad.show.text.table import Column, Table, tabulated
from exprgrad.solvers.roots.solve import ALL_OVER, Problem, Root, Solution

__all__ = [
    "ALL_DIGITS",
    "point_text",
    "root_fields",
    "root_lines",
    "root_parts",
    "root_rows",
    "verdict",
]

ALL_DIGITS = 17
MOST_BOXES = 6
"""How many undecided boxes people are shown."""
ENOUGH = 5
"""How many characters two bounds have in common before the second is cut."""


def root_parts(problem: Problem, found: Solution, digits: int, *, whole: bool) -> list[str | Table]:
    """What people read: the roots, a line each, why some are not proved, and what else is known."""
    foot = [verdict(problem, found)]
    if found.roots and not problem.ranges and "[" not in problem.system.unknowns[0]:
        ranges = " ".join(f"{name}=LOW:HIGH" for name in problem.system.unknowns[:3])
        foot = [f"{ranges} looks for all roots in a range"]
    for why in dict.fromkeys(root.why for root in found.roots if not root.proved):
        points = [point_text(root, digits) for root in found.roots if root.why == why]
        shown = "; ".join(points[:MOST_BOXES]) + "; …" * (len(points) > MOST_BOXES)
        foot.append(f"not proved, {shown}: {why}")
    boxes = () if found.reason == ALL_OVER else found.undecided
    for box in boxes[: None if whole else MOST_BOXES]:
        foot.append(f"undecided: {box_text(box)}")
    if not whole and found.undecided[MOST_BOXES:]:
        foot.append(f"… {len(found.undecided) - MOST_BOXES:,} more boxes are undecided")
    if not found.roots:
        return ["\n".join(foot)]
    names = problem.system.unknowns
    columns = [
        *(Column(name, is_number=True, style="green") for name in names),
        Column("proof"),
        *(Column(f"{name} lies in", style="dim", expendable=1) for name in names),
    ]
    rows = [
        [
            *(number_text(root.point[name], digits) for name in names),
            "proved" if root.proved else "not proved",
            *(interval_text(root.enclosure[name]) for name in names),
        ]
        for root in found.roots
    ]
    text = "\n".join(foot)
    return [tabulated(columns, rows, digits, whole=whole, foot=text, what="roots")]


def verdict(problem: Problem, found: Solution) -> str:
    """What is known beside the roots, in words."""
    where = box_text(dict(zip(problem.system.unknowns, problem.ranges, strict=False)))
    place = f" with {where}" if where else ""
    if found.excluded:
        return f"there is no root{place}: proved"
    if found.reason == ALL_OVER:
        return f"{found.reason}{place}"
    if found.reason:
        none = "" if found.roots else "no root is found: "
        return f"{none}{found.reason}" + (f"; not all of {where} was searched" if where else "")
    if found.undecided:
        other = "other " if found.roots else ""
        return f"{other}roots may be where it is undecided; elsewhere{place} there are none: proved"
    if found.is_whole:
        are = "these are all roots" if len(found.roots) > 1 else "this is the only root"
        if not all(root.proved for root in found.roots):
            are = "there is no root elsewhere"
        return f"{are}{place}: proved"
    return "other roots may be elsewhere"


def point_text(root: Root, digits: int) -> str:
    """A root in one line: ``x = 1, y = 2``."""
    return ", ".join(f"{name} = {number_text(x, digits)}" for name, x in root.point.items())


def number_text(number: float, digits: int) -> str:
    """A number; in all digits it is its shortest text."""
    text = repr(number).removesuffix(".0")
    return text if digits == ALL_DIGITS else decimal(number, digits)


def box_text(box: dict[str, Interval]) -> str:
    """A box in one line: ``x in [0, 1], y in [2, 3]``."""
    return ", ".join(f"{name} in {interval_text(ends)}" for name, ends in box.items())


def interval_text(ends: Interval) -> str:
    """An interval, rounded outwards to 17 digits; of its upper bound only the last ones, if few differ."""
    low, high = bound_text(ends.low, ROUND_FLOOR), bound_text(ends.high, ROUND_CEILING)
    common = next((at for at, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), 0)
    if common > ENOUGH and len(low) == len(high) and "E" not in low:
        return f"[{low}, …{high[common - 1 :]}]"
    return f"[{low}, {high}]".lower()


def bound_text(bound: float, rounding: str) -> str:
    """A bound in 17 digits, without zeros at its end."""
    if math.isinf(bound):
        return str(bound)
    digits = Context(prec=ALL_DIGITS, rounding=rounding).create_decimal(bound)
    text = str(digits.normalize())
    return (
        f"{digits:f}"
        if "E" in text and abs(bound) < 10**ALL_DIGITS and bound == int(bound)
        else text
    )


def root_fields(problem: Problem, found: Solution) -> dict[str, Any]:
    """What JSON has."""
    names = problem.system.unknowns
    return {
        "inputs": dict(problem.given),
        "starts": dict(zip(names, problem.starts, strict=False)),
        "ranges": {name: [*ends] for name, ends in zip(names, problem.ranges, strict=False)},
        "roots": [
            {
                "point": root.point,
                "enclosure": {name: [*ends] for name, ends in root.enclosure.items()},
                "proved": root.proved,
                **({} if root.proved else {"why": root.why}),
            }
            for root in found.roots
        ],
        "excluded": found.excluded,
        "undecided": [{name: [*ends] for name, ends in box.items()} for box in found.undecided],
        "whole": found.is_whole,
        "message": verdict(problem, found),
    }


def root_rows(problem: Problem, found: Solution) -> Iterator[list[Any]]:
    """The roots as CSV: the point, whether it is proved, and the bounds."""
    names = problem.system.unknowns
    yield [*names, "proved", *[f"{name}.{end}" for name in names for end in ("low", "high")]]
    for root in found.roots:
        ends = [end for name in names for end in root.enclosure[name]]
        yield [*root.point.values(), str(root.proved).lower(), *ends]


def root_lines(found: Solution) -> Iterator[tuple[str, float]]:
    """The roots as names and values."""
    for root in found.roots:
        yield from root.point.items()
