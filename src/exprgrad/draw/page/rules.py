"""The local derivative of an edge as a formula that a browser sets."""

from __future__ import annotations

from exprgrad.errors import LanguageError
from exprgrad.language.read.parse import parse
from exprgrad.language.write.latex import formula
from exprgrad.language.write.mathml import mathml
from exprgrad.run.result import Run

__all__ = ["rule_math"]


def rule_math(run: Run, user: int, position: int) -> str:
    """The rule of an edge (``run.rule``) as MathML; nothing where its text was cut to be read.

    Names look as they do in the rule alone: ``e`` is an ``e`` unless there is an ``exp`` beside it.
    """
    try:
        graph = parse(run.rule(user, position))
    except LanguageError:
        return ""
    return mathml(formula(graph, graph.output))
