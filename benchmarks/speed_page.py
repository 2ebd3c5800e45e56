"""The page on speed: the tables of a whole run, and the plot, between the words that people wrote."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import exprgrad
from benchmarks.machine import machine, versions
from benchmarks.measure import Ratio, Report
from benchmarks.pages import fill
from benchmarks.regimes import summary

__all__ = ["write_page"]

DOCS = Path(__file__).parents[1] / "docs"


def write_page(reports: Mapping[str, Report], figures: Mapping[str, Ratio], where: str) -> None:
    """Put the tables into the page, the pictures beside it, and what they were measured with."""
    said = f"exprgrad {exprgrad.__version__} on {machine()}; {where}.\n\nWith {versions()}.\n"
    parts = {"machine": said, "regimes": summary(figures)}
    fill(
        DOCS / "explanation" / "speed.md",
        parts | {name: report.text for name, report in reports.items()},
    )
    for report in reports.values():
        for name, picture in report.pictures.items():
            (DOCS / "images" / name).write_text(picture, "utf-8")
