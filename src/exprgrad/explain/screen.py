"""How many digits of an answer are right, as far as error bounds tell; where too few are, balls say more.

A bound takes little more time than the sweeps, so that every answer has one.  Nothing else is loaded where
the bounds cover the digits that are asked for.
"""

from __future__ import annotations

from collections.abc import Mapping

from exprgrad.explain.diagnostic import Guarded
from exprgrad.run.evaluation import Floats, Run, evaluator_for
from exprgrad.run.numbers.bounds import right_digits

__all__ = ["screened"]

MOST_COUNTED = 15
"""A double has so many digits that can be right whatever the number is."""


def screened(run: Run, answer: Guarded, errors: Mapping[str, float], digits: int) -> Guarded:
    """An answer that is shown with so many digits, and how many of them are right.

    ``answer`` has the sweep's numbers, but for those corrected at a kink, which may be off by ``errors``.
    """
    evaluator, least = evaluator_for(run.graph), min(digits, MOST_COUNTED)
    if not isinstance(evaluator, Floats):
        return answer
    data, grads = evaluator.errors(run.values, run.adjoints)
    value = right_digits(run.value, data[run.graph.output])
    gradient = {
        name: right_digits(slope, errors.get(name, grads[run.graph.inputs[name]]))
        for name, slope in answer.gradient.items()
    }
    counts = {"value": value} if run.adjoints is None else {"value": value, "gradient": gradient}
    answer = answer._replace(digits=counts)
    if min([value, *gradient.values()]) >= least:
        return answer
    from exprgrad.explain.digits.guard import guarded, unproved
    from exprgrad.run.balls.balls import has_balls

    if not has_balls():  # where there are no wheels, such as in a browser
        return unproved(run, answer, {"": value, **gradient}, least)
    return guarded(run, answer, value, gradient, least)
