"""Uncertainties and elasticities as people and programs read them: budgets, sentences, JSON and CSV."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING, Any

from exprgrad.explain.diagnostics import Run
from exprgrad.graph.graph import element_name, place_of
from exprgrad.run.values.uncertain import bracketed, plus_minus, to_two_digits
from exprgrad.show.documents.document import Apart, csv_rows, shorts
from exprgrad.show.documents.runs import node_rows
from exprgrad.show.text.lines import IN_CELL, decimal
from exprgrad.show.text.table import Column, Table, tabulated
from exprgrad.source import printable

if TYPE_CHECKING:
    from exprgrad.solvers.uncertainty.propagation import Sampled, Uncertainty

__all__ = [
    "budget", "elasticity_rows", "elasticity_table", "uncertainty_field", "uncertainty_rows",
]  # fmt: skip

MOST_COLUMNS = 6
"""Up to so many numbers of a tensor have a column for each, of their correlations."""
IN_A_CELL = 4
"""How many uncertain numbers of an input stand in a cell."""


# Uncertainties.


def budget(run: Run, found: Uncertainty, digits: int, *, whole: bool = False) -> Table:
    """What the uncertainty of a value comes from: the inputs, the one with the largest share first.

    Below it stands the value with its uncertainty, rounded, and what Monte Carlo found, if that was asked
    for.  Of a tensor each number has a line, with its correlations and the inputs' shares.
    """
    if not isinstance(found.estimate, float):
        return tensor_budget(run, found, whole=whole)
    columns = [
        Column("input", str, flexible=True),
        Column(
            "value",
            lambda name: in_cell(run.inputs[name], found.deviations[name]),
            style="green",
        ),
        Column(
            "derivative",
            found.sensitivities.__getitem__,
            is_number=True,
            style="yellow",
            expendable=1,
        ),
        Column("share", lambda name: percent(found.shares[name]), is_number=True),
    ]
    names = sorted(found.shares, key=lambda name: -abs(found.shares[name]))
    foot = "\n".join([*answer_lines(run, found), *sample_lines(found.sample)])
    return tabulated(columns, names, digits, whole=whole, how=IN_CELL, foot=foot, what="inputs")


def in_cell(value: Any, uncertainty: Any) -> str:
    """A number and its uncertainty, rounded; the first few of a tensor's."""
    if isinstance(value, float):
        return plus_minus(value, uncertainty)
    pairs = zip(value.flat[:IN_A_CELL].tolist(), uncertainty.flat[:IN_A_CELL].tolist(), strict=True)
    return ", ".join([*(plus_minus(*pair) for pair in pairs), *["…"][: value.size - IN_A_CELL]])


def percent(share: float) -> str:
    """A share in percent; nothing where there is none."""
    return f"{100 * share + 0.0:.1f} %" if isfinite(share) else ""


def answer_lines(run: Run, found: Uncertainty) -> Iterator[str]:
    """The value with its uncertainty, in both notations."""
    value, uncertainty = found.estimate, found.value
    text = f"{printable(run.output_label)} = {plus_minus(value, uncertainty)}"
    brief = bracketed(value, uncertainty)
    yield f"{text}, or {brief}" if "(" in brief else text


def sample_lines(found: Sampled | None) -> Iterator[str]:
    """What Monte Carlo found of a number."""
    if found is not None and isinstance(found.mean, float):
        low, high = (at_place(end, found.value) for end in (found.low, found.high))
        text = f"Monte Carlo: {plus_minus(found.mean, found.value)}; 95 % from {low} to {high}"
        yield f"{text}  ({found.draws:,} draws, seed {found.seed})"


def at_place(value: float, uncertainty: float) -> str:
    """A number to the place of the second digit of an uncertainty."""
    found = to_two_digits(value, uncertainty)
    if found is None:
        return decimal(value, 6)
    number, _, power = found
    return f"{number:f}e{power}" if power else f"{number:f}"


def tensor_budget(run: Run, found: Uncertainty, *, whole: bool) -> Table:
    """The numbers of a tensor: value and uncertainty, correlations, the inputs' shares, Monte Carlo."""
    value, shape, sample = found.estimate, found.estimate.shape, found.sample
    places = [place_of(at, shape) for at in range(value.size)]
    label = printable(run.graph.output_name or "")
    columns = [
        Column("number", lambda at: element_name(label, places[at]), flexible=True),
        Column("value", partial(uncertain, value, found.value), style="green"),
        *(
            []
            if sample is None
            else [Column("Monte Carlo", partial(uncertain, sample.mean, sample.value))]
        ),
        *(
            Column(
                f"r{[*place]}",
                partial(correlation, found, other=other),
                is_number=True,
                expendable=2,
            )
            for other, place in enumerate(places)
            if len(places) <= MOST_COLUMNS
        ),
        *(
            Column(f"share of {name}", partial(share, shares), is_number=True, expendable=1)
            for name, shares in found.shares.items()
        ),
    ]
    return tabulated(columns, range(len(places)), 3, whole=whole, what="numbers")


def uncertain(values: Any, deviations: Any, at: int) -> str:
    """A number of a tensor with its uncertainty."""
    return plus_minus(float(values.flat[at]), float(deviations.flat[at]))


def share(shares: Any, at: int) -> str:
    """An input's share in a number of a tensor."""
    return percent(float(shares.flat[at]))


def correlation(found: Uncertainty, one: int, other: int) -> str:
    """The correlation coefficient of two numbers of a value; nothing for those that are exact."""
    deviations = found.value.flat
    scale = float(deviations[one]) * float(deviations[other])
    return f"{found.covariance[one, other] / scale:.3f}" if scale and isfinite(scale) else ""


def uncertainty_field(found: Uncertainty) -> Iterator[tuple[str, Any]]:
    """The field of the JSON document that follows those of the run."""
    fields: dict[str, Any] = {
        "value": found.value,
        "shares": found.shares,
        "inputs": shorts(found.deviations),
        "sensitivities": shorts(found.sensitivities),
    }
    if isinstance(found.estimate, float):
        fields["text"] = [
            plus_minus(found.estimate, found.value),
            bracketed(found.estimate, found.value),
        ]
    else:
        fields["covariance"] = found.covariance
    if found.correlations:
        pairs = found.correlations.items()
        fields["correlations"] = [{"inputs": [*pair], "value": r} for pair, r in pairs]
    if found.second is not None:
        listed = found.second if isinstance(found.second, list) else [found.second]
        terms = [None if one is None else one._asdict() for one in listed]
        fields["second_order"] = terms if isinstance(found.second, list) else terms[0]
    if found.sample is not None:
        sample = found.sample
        fields["monte_carlo"] = {
            "draws": sample.draws, "seed": sample.seed, "mean": sample.mean, "value": sample.value,
            "interval": [sample.low, sample.high], "without": sample.without,
        }  # fmt: skip
    yield "uncertainty", Apart(fields)


def uncertainty_rows(run: Run, found: Uncertainty) -> Iterator[list[Any]]:
    """The nodes as lines of CSV, with the uncertainties of the inputs and of the output, and the shares."""
    inputs = {run.graph.inputs[name]: name for name in found.shares}
    for at, cells in enumerate(node_rows(run)):
        node = at - 1
        if at == 0:
            yield [*cells, "uncertainty", "share"]
        elif node in inputs:
            name = inputs[node]
            yield [*cells, found.deviations[name], found.shares[name]]
        else:
            yield [*cells, found.value if node == run.graph.output else None, None]


# Elasticities.


def elasticity_table(run: Run, found: Mapping[str, Any], digits: int, *, whole: bool) -> Table:
    """The inputs with their derivatives and elasticities, the largest magnitude first."""
    answer = run.guarded(digits)
    columns = [
        Column("input", str, flexible=True),
        Column("data", run.inputs.__getitem__, is_number=True, style="green"),
        Column("grad", answer.gradient.__getitem__, is_number=True, style="yellow"),
        Column("elasticity", found.__getitem__, is_number=True, style="bold"),
    ]
    foot = f"output  {printable(run.output_label)} = {decimal(answer.value, digits)}"
    return tabulated(columns, [*found], digits, whole=whole, how=IN_CELL, foot=foot, what="inputs")


def elasticity_rows(run: Run, found: Mapping[str, Any]) -> Iterator[list[Any]]:
    """The inputs as lines of CSV: value, derivative, elasticity."""
    columns: dict[str, Callable[[Any], Any]] = {
        "name": str,
        "data": run.inputs.__getitem__,
        "grad": lambda name: run.true.gradient[name],
        "elasticity": found.__getitem__,
    }
    return csv_rows(columns, found)
