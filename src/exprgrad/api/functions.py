"""One question about a formula, in one call: ``grad("x^2", x=2)``.

For several questions about a formula, read it once: ``parse("x^2")`` has these as methods, and more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from exprgrad.api.expression import Expression, Run, parse
from exprgrad.errors import require

if TYPE_CHECKING:
    from exprgrad.data.frames import ArrowFunctions
    from exprgrad.explain.checking.check import Check
    from exprgrad.solvers.minima.minimize import Minimum

__all__ = ["arrow_function", "check", "diff", "evaluate", "grad", "hessian", "jacobian", "minimize"]

Values = Mapping[str, object] | None


def as_expression(formula: str | Expression) -> Expression:
    """A formula that may have been read already."""
    return formula if isinstance(formula, Expression) else parse(formula)


def evaluate(formula: str | Expression, values: Values = None, /, **inputs: object) -> Run:
    """The forward sweep: ``evaluate("x^2", x=3).value``.  See ``Expression.evaluate``."""
    return as_expression(formula).evaluate(values, **inputs)


def grad(
    formula: str | Expression,
    values: Values = None,
    /,
    *,
    wrt: Iterable[str] | None = None,
    **inputs: object,
) -> dict[str, Any]:
    """The gradient by name: ``grad("x^2", x=2)`` is ``{'x': 4.0}``.  See ``Expression.grad``."""
    return as_expression(formula).grad(values, wrt=wrt, **inputs)


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
    """The second derivatives, row by row: ``hessian("x^2*y", x=1, y=2)``.  See ``Expression.hessian``."""
    return as_expression(formula).hessian(values, wrt=wrt, **inputs)


def jacobian(
    formula: str | Expression,
    values: Values = None,
    /,
    *,
    wrt: Iterable[str] | None = None,
    of: Iterable[str] | None = None,
    **inputs: object,
) -> dict[str, Any]:
    """The derivatives of one output or of several.  See ``Expression.jacobian``."""
    return as_expression(formula).jacobian(values, wrt=wrt, of=of, **inputs)


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

    require(name, str, "a function's name is a string")
    return ArrowFunctions(as_expression(formula).text, name, wrt=wrt)
