"""Models fitted to data, as people use them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from numbers import Real

from exprgrad.api.displays import DIGITS, Printed
from exprgrad.data.fits import FitRequest, fit_model
from exprgrad.errors import InputError, require_kind
from exprgrad.graph.graph import Graph
from exprgrad.show.picture.picture import Pictured
from exprgrad.show.text.fits import fit_parts, fit_picture
from exprgrad.show.text.table import Table
from exprgrad.solvers.fit.fit import Fit

__all__ = ["Fitted", "fit", "model_text"]


def model_text(response: str, text: str, graph: Graph) -> str:
    """Return ``response ~ EXPR`` for a formula, whose last statement is the model of the response."""
    if graph.output_name is not None:
        return f"{text.rstrip().rstrip(';')}; {response} ~ {graph.output_name}"
    start = graph.starts[graph.output]
    while text[:start].rstrip().endswith("("):
        start = len(text[:start].rstrip()) - 1
    return f"{text[:start]}{response} ~ {text[start:]}"


class Fitted(Printed, Pictured, Fit):
    """A fit that prints as its tables; its picture has data, curve, band and residuals."""

    __slots__ = ()

    def parts(self) -> Iterable[str | Table]:
        """The texts and tables that a command prints."""
        return fit_parts(self, DIGITS, whole=False)

    def drawn(self, format: str, look: str | None) -> bytes:
        """The bytes of a file."""
        return fit_picture(self, format, look)


def fit(
    model: str,
    data: object,
    start: Mapping[str, object] | None = None,
    /,
    *,
    fix: Mapping[str, object] | Iterable[str] = (),
    bounds: Mapping[str, object] | None = None,
    sigma: object = None,
    weights: object = None,
    loss: str | None = None,
    loss_scale: float = 1.0,
    map: Mapping[str, str] | None = None,
    where: str | None = None,
    bad_rows: str = "fail",
    level: float = 0.95,
    starts: int = 1,
    seed: int = 0,
    profile: bool = False,
    objective: bool = False,
    delimiter: str = "",
    decimal: str = "",
    sheet: str = "",
    **parameters: object,
) -> Fitted:
    """The parameters with which a model fits data best: ``fit("y ~ a*exp(-k*x)", data, a=1, k=0.1)``.

    ``data`` are columns by name, arrays or lists; a frame of pandas, polars or pyarrow; a file of rows, or
    a list of files.  Names that are columns are data, each other one is a parameter with a start, given by
    name or in a mapping.  ``fix`` are parameters to hold, at their starts or by name at values; ``bounds``
    are pairs, or texts ``"0:inf"``.  ``sigma`` names the column of the responses' standard deviations,
    ``weights`` one of relative weights.  ``loss`` is ``huber``, ``soft_l1`` or ``cauchy``, from residuals
    as large as ``loss_scale`` on.  ``bad_rows="drop"`` leaves out rows that miss a number.
    With ``objective`` the text is a formula whose sum over all rows is to be least, such as a negative
    log-likelihood.

    The answer prints as its tables: ``.parameters["a"]`` has ``value``, ``error`` and ``interval``,
    ``.converged`` and ``.reason`` say how it ended.  Raises ``InputError`` for what cannot be fitted,
    ``MissingExtraError`` without SciPy.
    """
    require_kind(model, str, "a model is a string, such as 'y ~ a + b*x'")
    require_kind(start or {}, Mapping, "starts are a mapping, such as {'a': 1, 'b': 2}")
    if isinstance(parameters.get("start"), Mapping):
        start = {**(start or {}), **parameters.pop("start")}  # type: ignore[dict-item]
    asked = FitRequest(
        model, data, {**(start or {}), **parameters}, fix, bounds, sigma, weights, loss, loss_scale, map,
        where, bad_rows, level, starts, seed, profile, objective, delimiter, decimal, sheet,
    )  # fmt: skip
    return Fitted(*fit_model(move_options_to_starts(asked)))


def move_options_to_starts(asked: FitRequest) -> FitRequest:
    """The request in which a number for an option such as ``sigma`` is the start of a parameter so called.

    Raises ``InputError`` where it may be either, as for ``level``.
    """
    usual = FitRequest._field_defaults
    for name in usual.keys() & set(re.findall(r"[^\W\d]\w*(?!\w*\s*\()", asked.text)):
        value = getattr(asked, name)
        value = value.item() if getattr(value, "ndim", None) == 0 else value
        if not isinstance(value, Real) or isinstance(value, bool) or value == usual[name]:
            continue
        if isinstance(usual[name], Real):
            raise InputError(
                "given-twice",
                f"'{name}' is an option of fit and a parameter of the model",
                help=f"the start of the parameter is start={{{name!r}: {value!r}}}, the third argument",
            ).about(name)
        asked = asked._replace(start={**asked.start, name: value})._replace(**{name: usual[name]})
    return asked
