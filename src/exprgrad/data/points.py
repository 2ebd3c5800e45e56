"""A row by itself: the numbers that ``eval``, ``grad``, ``hess`` or ``jac`` prints at its point."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock
from typing import Any, NamedTuple

from exprgrad.explain.derivatives import Derivatives
from exprgrad.explain.diagnostics import DiagnosedRun, merge_remarks
from exprgrad.explain.digits.truths import truths_of_run
from exprgrad.run import matrices
from exprgrad.run.evaluation import DOUBLE_DIGITS, Diagnostic, Evaluator, Path
from exprgrad.run.values.directions import select_outputs
from exprgrad.run.values.inputs import value_texts

__all__ = ["PointAnswer", "PointQuestion", "answer_point"]

ONE_AT_A_TIME = Lock()
"""Held while balls are used: their number of bits is a setting that all threads share."""


class PointQuestion(NamedTuple):
    """A formula, and the numbers that are wanted at each point.

    ``wrt``     the inputs to differentiate, if there are any
    ``of``      the named statements that are the outputs; if empty, the formula's own output
    ``digits``  how many digits of the numbers are shown
    ``fixed``   the inputs that are the same everywhere; ``texts`` of those that were typed otherwise than
                their doubles' shortest texts
    """

    text: str
    evaluator: Evaluator
    wrt: tuple[str, ...]
    of: tuple[str, ...]
    hessian: bool
    digits: int
    fixed: Mapping[str, Any]
    texts: Mapping[str, str]


class PointAnswer(NamedTuple):
    """A point's ``numbers``, in the order of ``result_names``, and how many digits of each are right.

    ``is_corrected`` says whether one of them is not the sweep's.
    """

    numbers: list[Any]
    digits: list[int]
    is_corrected: bool
    diagnostics: list[Diagnostic]


def answer_point(
    question: PointQuestion, point: Mapping[str, float], *, is_explained: bool = True
) -> PointAnswer:
    """The answer at a point.  Its diagnostics name the node that loses digits if ``is_explained``."""
    given = {**question.fixed, **point}
    inputs = {name: given[name] for name in question.evaluator.graph.inputs}
    texts = {**question.texts, **value_texts({name: repr(value) for name, value in point.items()})}
    with ONE_AT_A_TIME:
        if question.hessian or question.of:
            return answer_matrices(question, inputs, texts)
        wrt = question.wrt or None
        run = DiagnosedRun.of(question.text, question.evaluator, inputs, wrt, texts)
        if not is_explained:
            run.truths = truths_of_run(run, is_explained=False)
        found = run.guarded(question.digits)
        return PointAnswer(
            [found.value, *found.gradient.values()],
            [found.digits["value"], *found.digits.get("gradient", {}).values()],
            bool(found.corrected) or found.corrected_value is not None,
            merge_remarks(run.remarks, found),
        )


def answer_matrices(
    question: PointQuestion, inputs: Mapping[str, Any], texts: Mapping[str, str]
) -> PointAnswer:
    """The answer with second derivatives, of which those on and above the diagonal count, or a Jacobian."""
    text, evaluator, wrt, of, is_second, digits, *_ = question
    bound = {binding.name: binding.node for binding in evaluator.graph.bindings}
    chosen = {name: bound[name] for name in of} or select_outputs(evaluator.graph, None)
    kind = matrices.HESSIAN if is_second else matrices.JACOBIAN
    point = matrices.Point(evaluator, inputs, chosen, wrt, spelled=texts)
    found = Derivatives(text, point, kind, digits, ())
    paths: list[Path] = [("value", name) for name in chosen]
    if is_second:
        paths += [("gradient", name) for name in wrt]
        paths += [("hessian", a, b) for at, a in enumerate(wrt) for b in wrt[at:]]
    else:
        paths += [("jacobian", name, x) for name in chosen for x in wrt]
    numbers = matrices.blocks_by_path(found.true)
    return PointAnswer(
        [numbers.get(path, 0.0) for path in paths],
        [found.whole.digits.get(path, DOUBLE_DIGITS) for path in paths],
        bool(found.settled.corrected),
        found.diagnostics,
    )
