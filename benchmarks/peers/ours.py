"""exprgrad's engines over columns."""

from __future__ import annotations

from typing import Any

import exprgrad
from benchmarks.problems import Answer, Columns, Problem

__all__ = ["compile_anew", "engine"]


def engine(name: str, problem: Problem, given: Columns) -> Answer:
    """A compiled formula, into columns that are there already."""
    compiled = exprgrad.parse(problem.text).compile(name, threads=1)
    out = compiled(given)
    answer = [out.value, *[out.gradient[name] for name in given]]

    def call() -> Any:
        compiled(given, out=out)
        return answer

    return call


def compile_anew(name: str, problem: Problem) -> object:
    """What the text is compiled to, read anew so that no graph is remembered; what the op table says is."""
    return exprgrad.parse(problem.text).compile(name, threads=1)
