"""One question about a formula, in one call: ``grad("x^2", x=2)``.

For several questions about a formula, read it once: ``parse("x^2")`` has these as methods, and more.

``eval``, ``grad``, ``hessian`` and ``jacobian`` return what the commands print, the true numbers, and warn
(``DigitsWarning``) where the sweeps have lost digits.  The methods return the sweeps' numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar
from warnings import warn

from exprgrad.api.expression import Expression, Gradient, Run, parse
from exprgrad.errors import DigitsWarning, require_kind
from exprgrad.explain.diagnostics import merge_remarks
from exprgrad.explain.limits import COUNTED
from exprgrad.run.evaluation import remember

if TYPE_CHECKING:
    from exprgrad.data.frames import ArrowFunctions
    from exprgrad.explain.checking.check import Check
    from exprgrad.explain.derivatives import Derivatives
    from exprgrad.run.evaluation import Guarded, Settled
    from exprgrad.solvers.minima.minimize import Minimum

__all__ = [
    "arrow_function", "check", "diff", "eval", "evaluate", "grad", "hessian", "jacobian", "minimize",
]  # fmt: skip

T = TypeVar("T")
MOST_TEXTS, LONGEST_KEPT = 16, 1000
"""The most texts whose expressions are kept, and the longest such text, in characters."""
TEXTS: dict[str, Expression] = {}
"""The last texts that were read here."""
Values = Mapping[str, object] | None


def as_expression(formula: str | Expression) -> Expression:
    """Return the expression of a formula, which may have been read already."""
    if type(formula) is str and len(formula) <= LONGEST_KEPT:
        return remember(TEXTS, formula, lambda: parse(formula), MOST_TEXTS)
    return formula if isinstance(formula, Expression) else parse(formula)


def with_warnings(found: Run | Derivatives, answer: Guarded | Settled, numbers: T) -> T:
    """Return an answer's numbers; warn of lost digits, as the command does, at the caller's line."""
    if answer.diagnostics:
        from exprgrad.show.text.lines import diagnostic_text

        for one in merge_remarks(found.remarks, answer)[-len(answer.diagnostics) :]:
            message = diagnostic_text(one, found.text).removeprefix(f"{one.severity}: ")
            warn(message, DigitsWarning, stacklevel=3)
    return numbers


def eval(formula: str | Expression, values: Values = None, /, **inputs: object) -> Any:
    """The true value: ``eval("x^2", x=3)`` is 9.0; of an uncertain input it is uncertain, too.

    Values are as in ``Expression.evaluate``.  Warns (``DigitsWarning``) where the sweep has lost digits.
    """
    run = as_expression(formula).evaluate(values, **inputs)
    value = run.true.value if run.spread is None else run.uncertainty.number
    return with_warnings(run, run.true, value)


def evaluate(formula: str | Expression, values: Values = None, /, **inputs: object) -> Run:
    """The forward sweep: ``evaluate("x^2", x=3)`` has every node's data, and ``.true.value``.

    See ``Expression.evaluate``.
    """
    return as_expression(formula).evaluate(values, **inputs)


def grad(
    formula: str | Expression,
    values: Values = None,
    /,
    *,
    wrt: Iterable[str] | None = None,
    **inputs: object,
) -> dict[str, Any]:
    """The true gradient by name: ``grad("x^2", x=2)`` is ``{'x': 4.0}``; of arrays in every row.

    Values and ``wrt`` are as in ``Expression.grad``.  Warns (``DigitsWarning``) where the sweeps have lost
    digits.
    """
    expression = as_expression(formula)
    merged = expression.named(values, inputs)
    found = expression.grad(merged, wrt=wrt)
    if not isinstance(found, Gradient):
        rows = max(map(len, found.values()), default=0)
        if not rows:
            return found
        from exprgrad.run.arrays.arrays import broadcast_view

        # The VJP of all rows together is the gradient in every row.
        given = expression.given(merged).items()
        columns = {name: broadcast_view(one, (rows,)) for name, one in given}
        in_rows = expression.vjp(columns, wrt=wrt)
        return with_warnings(in_rows.derivatives, in_rows.derivatives.settled, {**in_rows.true})
    answer = found.run.guarded(COUNTED, has_value=False)
    return with_warnings(found.run, answer, answer.gradient if answer.diagnostics else found)


def diff(
    formula: str | Expression, name: str | None = None, order: int = 1, *, wrt: str | None = None
) -> Expression:
    """The derivative as a formula: ``diff("x^2", "x")``.  See ``Expression.derivative``."""
    return as_expression(formula).derivative(name, order, wrt=wrt)


def hessian(
    formula: str | Expression,
    values: Values = None,
    /,
    *,
    wrt: Iterable[str] | None = None,
    **inputs: object,
) -> dict[str, dict[str, Any]]:
    """The true second derivatives, row by row: ``hessian("x^2*y", x=1, y=2)``.

    Values and ``wrt`` are as in ``Expression.hessian``.  Warns (``DigitsWarning``) where the sweeps have
    lost digits.
    """
    found = as_expression(formula).hessian(values, wrt=wrt, **inputs)
    return with_warnings(found.derivatives, found.derivatives.settled, found.true)


def jacobian(
    formula: str | Expression,
    values: Values = None,
    /,
    *,
    wrt: Iterable[str] | None = None,
    of: Iterable[str] | None = None,
    **inputs: object,
) -> dict[str, Any]:
    """The true derivatives of one output or of several.

    Values, ``wrt`` and ``of`` are as in ``Expression.jacobian``.  Warns (``DigitsWarning``) where the
    sweeps have lost digits.
    """
    found = as_expression(formula).jacobian(values, wrt=wrt, of=of, **inputs)
    return with_warnings(found.derivatives, found.derivatives.settled, found.true)


def check(
    formula: str | Expression,
    values: Values = None,
    /,
    *,
    wrt: Iterable[str] | None = None,
    nodes: Iterable[str | int] | None = None,
    h: float | str | None = None,
    claims: Mapping[str, object] | None = None,
    **inputs: object,
) -> list[Check]:
    """The gradient against numbers, with a verdict for each input.  See ``Expression.check``."""
    return as_expression(formula).check(values, wrt=wrt, nodes=nodes, h=h, claims=claims, **inputs)


def minimize(
    formula: str | Expression,
    values: Values = None,
    /,
    *,
    wrt: Iterable[str] | None = None,
    bounds: Mapping[str, object] | None = None,
    subject: str | Iterable[str] = (),
    maximize: bool = False,
    **inputs: Any,
) -> Minimum[Run]:
    """A minimum: ``minimize("(x - 3)^2", x=0).point`` is ``{'x': 3.0}``.  See ``Expression.minimize``."""
    chosen: dict[str, Any] = {"wrt": wrt, "bounds": bounds, "subject": subject}
    return as_expression(formula).minimize(values, **chosen, maximize=maximize, **inputs)


def arrow_function(
    formula: str | Expression, name: str = "", *, wrt: Iterable[str] | None = None
) -> ArrowFunctions:
    """Value and derivatives as functions of Arrow arrays, for DuckDB and pyarrow.

    ``arrow_function("x*y^2")["grad_y"](xs, ys)`` is the derivative in every row.  The functions are
    ``value``, ``grad_x`` for each input, and ``gradient``, a struct of all; with a ``name`` it takes the
    place of ``value``, and begins the other names.  ``.register(connection)`` makes them known to
    DuckDB: ``SELECT grad_x(x, y) FROM 'rows.parquet'``; without a connection they are known to
    ``pyarrow.compute``.  Raises ``MissingExtraError`` without pyarrow, ``RequestError`` for a formula of
    tensors.
    """
    from exprgrad.data.frames import ArrowFunctions

    require_kind(name, str, "a function's name is a string")
    return ArrowFunctions(as_expression(formula).text, name, wrt=wrt)
