"""The certainty of numbers, for people and programs: right digits, uncertainties, elasticities."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from math import isfinite
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from exprgrad.explain.diagnostics import DiagnosedRun
from exprgrad.explain.limits import LONGEST_LABEL
from exprgrad.graph.graph import element_name, unravel_position
from exprgrad.language.write.infix import ATOM, operand_level
from exprgrad.run.values.uncertain import concise_text, plus_minus, to_two_digits
from exprgrad.show.documents.document import Apart, shorten_tensors
from exprgrad.show.documents.runs import node_rows
from exprgrad.show.text.lines import IN_CELL, decimal_text
from exprgrad.show.text.nodes import named_node_text
from exprgrad.show.text.table import Column, Table, csv_column, make_table
from exprgrad.source import WIDTH, Source, cut_text, excerpt_lines, printable_text

if TYPE_CHECKING:
    from exprgrad.explain.digits.trust import Trust, TrustedNumber
    from exprgrad.solvers.uncertainty.propagation import Uncertainty

__all__ = [
    "UNCOUNTED", "elasticity_table", "number_fields", "trust_parts",
    "uncertainty_budget", "uncertainty_field", "uncertainty_rows",
]  # fmt: skip


# Right digits.


VERDICTS = {
    "exact": "exact",
    "rounded": "nearest",
    "wrong": "none",
    "overflow": "too large",
    "underflow": "too small",
    "zero": "nearest",
    "pole": "pole",
    "undefined": "undefined",
    "undecided": "unknown",
    "corrected": "corrected",
}
"""The words shown in place of a count of right digits."""
UNCOUNTED = ("corrected", "undefined", "undecided", "pole")
"""Verdicts on numbers of which no digits can be counted, or none are known to be right."""


def trust_parts(
    run: DiagnosedRun, trust: Trust, width: int | None, *, whole: bool
) -> Iterator[str | Table]:
    """The value and each derivative: as computed, its true number, and the count of right digits.

    A paragraph follows for each place where digits are lost.  A long table is whole only if ``whole``.  CSV
    also says where digits are lost, and why.
    """
    columns = [
        Column(
            "number",
            lambda named: trusted_number_label(run, named[0]),
            flexible=True,
            key="name",
            value=itemgetter(0),
        ),
        Column(
            "computed",
            lambda named: repr(named[1].value),
            style="green",
            key="value",
            value=lambda named: named[1].value,
        ),
        Column("true", lambda named: true_text(named[1]), expendable=1),
        Column(
            "right digits",
            lambda named: right_digits_cell(named[1]),
            style="yellow",
            key="digits",
            value=lambda named: named[1].digits,
        ),
        csv_column(key="verdict", value=lambda named: named[1].verdict),
        csv_column(key="low", value=lambda named: named[1].low),
        csv_column(key="high", value=lambda named: named[1].high),
        csv_column(key="node", value=lambda named: named[1].lost and named[1].lost.node),
        csv_column(key="text", value=lambda named: named[1].lost and run.texts[named[1].lost.node]),
        csv_column(key="why", value=lambda named: named[1].lost and named[1].lost.why),
    ]
    numbers, foot = list(trust.numbers()), "\n".join(verdict_explanations(trust))
    yield make_table(columns, numbers, whole=whole, foot=foot, what="numbers")
    sentences = trust_sentences(run, trust, width or WIDTH)
    if sentences:
        yield f"\n{sentences}"


def trusted_number_label(run: DiagnosedRun, name: str) -> str:
    """A number's label: the output's text, or ``x.grad``."""
    return (
        f"{name}.grad" if name else cut_text(named_node_text(run, run.graph.output), LONGEST_LABEL)
    )


def true_text(number: TrustedNumber) -> str:
    """The true number, or the bounds that enclose it."""
    if number.true is not None:
        return number.true
    if number.low is None or number.high is None:
        return ""
    low, high = (
        round_to_three_digits(number.low, up=False),
        round_to_three_digits(number.high, up=True),
    )
    return low if low == high else f"{low} to {high}"


def round_to_three_digits(text: str, *, up: bool) -> str:
    """A decimal number rounded to 3 digits, up or down; an infinity, or nan, as it is."""
    if text.lstrip("+-") in ("inf", "nan"):
        return text
    from exprgrad.run.balls.balls import scientific_text

    mantissa, _, exponent = text.partition("e")
    before, _, after = mantissa.partition(".")
    whole = int(before + after)
    unit = 10 ** max(len(str(abs(whole))) - 3, 0)
    rounded = -(-whole // unit) if up else whole // unit
    return scientific_text(rounded * unit, int(exponent or 0) - len(after))


def right_digits_cell(number: TrustedNumber) -> str:
    """The count of right digits, or a word in its place."""
    if number.verdict == "zero" and number.value:
        return "none"
    text = VERDICTS.get(number.verdict, str(number.digits))
    return f"{text} *" if number.convention and number.verdict != "corrected" else text


def verdict_explanations(trust: Trust) -> Iterator[str]:
    """The meanings of the words in the last column that occur."""
    words = {right_digits_cell(number).removesuffix(" *") for _, number in trust.numbers()}
    told = {
        "nearest": "nearest: no double is nearer to the true number",
        "too large": "too large: the true number is beyond the doubles, which end at 1.8e308",
        "too small": "too small: the nearest double to the true number is 0",
        "unknown": "unknown: no enclosure was tight enough to tell",
        "corrected": "corrected: found from one side of a kink, and not measured",
    }
    yield from (meaning for word, meaning in told.items() if word in words)
    if any(right_digits_cell(number).endswith("*") for _, number in trust.numbers()):
        yield "*: a convention, at a kink or a jump"


def trust_sentences(run: DiagnosedRun, trust: Trust, width: int) -> str:
    """A paragraph for each place where digits are lost, with what would keep them."""
    places: dict[tuple[Any, ...], list[str]] = {}
    for name, number in trust.numbers():
        if number.lost is not None:
            better = None if number.rewrite is None else number.rewrite.text
            key = (number.lost.node, number.lost.why, number.lost.after, better)
            places.setdefault(key, []).append(name)
    numbers = dict(trust.numbers())
    paragraphs = (loss_paragraph(run, at, numbers[at[0]], width) for at in places.values())
    return "\n\n".join(map("\n".join, paragraphs))


def loss_paragraph(
    run: DiagnosedRun, names: Sequence[str], number: TrustedNumber, width: int
) -> Iterator[str]:
    """The lines on a place where digits are lost: the numbers, the reason, the rewrite that was tried."""
    lost, better = number.lost, number.rewrite
    assert lost is not None
    label = run.label(lost.node)
    is_atom = not lost.place or operand_level(run.graph, lost.node, run.names) == ATOM
    label = element_name(label if is_atom else f"({label})", lost.place)
    who = ", ".join(trusted_number_label(run, name) for name in names[:4]) + ", …" * (
        len(names) > 4
    )
    lose = "lose their digits" if len(names) > 1 else "loses its digits"
    where = "" if who in (label, f"{label}.grad") else f" at {label}"
    after = lost.after if where else max(lost.after, number.digits)
    there = " there" if number.digits > after else ""
    yield printable_text(
        f"{who} {lose}{where}: from {lost.before} right ones to {after or 'none'}{there}"
    )
    yield from excerpt_lines(Source(run.text), lost.span, width=width)
    yield printable_text(f"  why: {lost.why}")
    if better is not None:
        kept = "" if better.verdict == "right" else f", {VERDICTS[better.verdict]}"
        digits = f" ({better.digits} right digits)" if better.verdict == "right" else kept
        yield printable_text(f"  help: {better.advice}; here it gives {better.value!r}{digits}")


def number_fields(number: TrustedNumber | list[Any]) -> Any:
    """One number as JSON has it, or a tensor in nested lists."""
    if isinstance(number, list):
        return [number_fields(one) for one in number]
    lost = number.lost and number.lost._asdict()
    if lost and not lost["place"]:
        del lost["place"]
    return number._asdict() | {"lost": lost, "rewrite": number.rewrite and number.rewrite._asdict()}


# Uncertainties.


MOST_COLUMNS = 6
"""The most numbers of a tensor whose correlations have a column each."""
IN_A_CELL = 4
"""The most uncertain numbers of an input in one cell."""


def uncertainty_budget(
    run: DiagnosedRun, found: Uncertainty, digits: int, *, whole: bool = False
) -> Table:
    """The sources of a value's uncertainty: the inputs, the one with the largest share first.

    Below it stands the value with its uncertainty, rounded, and what Monte Carlo found, if that was asked
    for.  Of a tensor each number has a line, with its correlations and the inputs' shares.
    """
    if not isinstance(found.estimate, float):
        return tensor_budget(run, found, whole=whole)
    columns = [
        Column("input", str, flexible=True),
        Column(
            "value",
            lambda name: uncertain_cell(run.inputs[name], found.deviations[name]),
            style="green",
        ),
        Column(
            "derivative",
            found.sensitivities.__getitem__,
            is_number=True,
            style="yellow",
            expendable=1,
        ),
        Column("share", lambda name: share_percent(found.shares[name]), is_number=True),
    ]
    names = sorted(found.shares, key=lambda name: -abs(found.shares[name]))
    foot = "\n".join(uncertain_value_lines(run, found))
    return make_table(columns, names, digits, whole=whole, how=IN_CELL, foot=foot, what="inputs")


def uncertain_cell(value: Any, uncertainty: Any) -> str:
    """A number and its uncertainty, rounded; the first few of a tensor's."""
    if isinstance(value, float):
        return plus_minus(value, uncertainty)
    pairs = zip(value.flat[:IN_A_CELL].tolist(), uncertainty.flat[:IN_A_CELL].tolist(), strict=True)
    return ", ".join([*(plus_minus(*pair) for pair in pairs), *["…"][: value.size - IN_A_CELL]])


def share_percent(share: float) -> str:
    """A share in percent; nothing where there is none."""
    return f"{100 * share + 0.0:.1f} %" if isfinite(share) else ""


def uncertain_value_lines(run: DiagnosedRun, found: Uncertainty) -> Iterator[str]:
    """The value with its uncertainty, in both notations, and what Monte Carlo found of it."""
    value, uncertainty = found.estimate, found.value
    text = f"{printable_text(run.output_label)} = {plus_minus(value, uncertainty)}"
    brief = concise_text(value, uncertainty)
    yield f"{text}, or {brief}" if "(" in brief else text
    if (sample := found.sample) is not None:
        low, high = (round_to_uncertainty(end, sample.value) for end in (sample.low, sample.high))
        text = f"Monte Carlo: {plus_minus(sample.mean, sample.value)}; 95 % from {low} to {high}"
        yield f"{text}  ({sample.draws:,} draws, seed {sample.seed})"


def round_to_uncertainty(value: float, uncertainty: float) -> str:
    """A number to the place of the second digit of an uncertainty."""
    found = to_two_digits(value, uncertainty)
    if found is None:
        return decimal_text(value, 6)
    number, _, power = found
    return f"{number:f}e{power}" if power else f"{number:f}"


def tensor_budget(run: DiagnosedRun, found: Uncertainty, *, whole: bool) -> Table:
    """The numbers of a tensor: value and uncertainty, correlations, the inputs' shares, Monte Carlo."""

    def uncertain_number(values: Any, deviations: Any, at: int) -> str:
        return plus_minus(float(values.flat[at]), float(deviations.flat[at]))

    def share(shares: Any, at: int) -> str:
        return share_percent(float(shares.flat[at]))

    def correlation(one: int, other: int) -> str:
        scale = float(found.value.flat[one]) * float(found.value.flat[other])
        return f"{found.covariance[one, other] / scale:.3f}" if scale and isfinite(scale) else ""

    value, shape, sample = found.estimate, found.estimate.shape, found.sample
    places = [unravel_position(at, shape) for at in range(value.size)]
    label = printable_text(run.graph.output_name or "")
    pairs = {"value": (value, found.value)}
    pairs |= {} if sample is None else {"Monte Carlo": (sample.mean, sample.value)}
    columns = [
        Column("number", lambda at: element_name(label, places[at]), flexible=True),
        *(
            Column(
                heading,
                partial(uncertain_number, *pair),
                style="green" * (heading == "value"),
            )
            for heading, pair in pairs.items()
        ),
        *(
            Column(
                f"r{[*place]}",
                partial(correlation, other=other),
                is_number=True,
                expendable=2,
            )
            for other, place in enumerate(places)
            if len(places) <= MOST_COLUMNS
        ),
        *(
            Column(
                f"share of {name}",
                partial(share, shares),
                is_number=True,
                expendable=1,
            )
            for name, shares in found.shares.items()
        ),
    ]
    return make_table(columns, range(len(places)), 3, whole=whole, what="numbers")


def uncertainty_field(found: Uncertainty) -> Iterator[tuple[str, Any]]:
    """The field of the JSON document that follows those of the run."""
    estimate, value, second, sample = found.estimate, found.value, found.second, found.sample
    pairs = [{"inputs": [*pair], "value": r} for pair, r in found.correlations.items()]
    orders = [one and one._asdict() for one in (second if isinstance(second, list) else [second])]
    fields = {
        "value": value,
        "shares": found.shares,
        "inputs": shorten_tensors(found.deviations),
        "sensitivities": shorten_tensors(found.sensitivities),
        **(
            {"text": [plus_minus(estimate, value), concise_text(estimate, value)]}
            if isinstance(estimate, float)
            else {"covariance": found.covariance}
        ),
        **({"correlations": pairs} if pairs else {}),
    }
    if second is not None:
        fields["second_order"] = orders if isinstance(second, list) else orders[0]
    if sample is not None:
        fields["monte_carlo"] = {
            "draws": sample.draws, "seed": sample.seed, "mean": sample.mean, "value": sample.value,
            "interval": [sample.low, sample.high], "without": sample.without,
        }  # fmt: skip
    yield "uncertainty", Apart(fields)


def uncertainty_rows(run: DiagnosedRun, found: Uncertainty) -> Iterator[list[Any]]:
    """The nodes as lines of CSV, with the uncertainties of the inputs and of the output, and the shares."""
    graph = run.graph
    shares = {graph.inputs[name]: share for name, share in found.shares.items()}
    deviations = {graph.output: found.value}
    deviations |= {graph.inputs[name]: found.deviations[name] for name in found.shares}
    more: dict[str, Callable[[Any], Any]] = {
        "uncertainty": lambda node: deviations.get(node.id),
        "share": lambda node: shares.get(node.id),
    }
    return node_rows(run, more)


# Elasticities.


def elasticity_table(
    run: DiagnosedRun, found: Mapping[str, Any], digits: int, *, whole: bool
) -> Table:
    """The inputs with their derivatives and elasticities, the largest magnitude first."""
    answer, number = run.guarded(digits), partial(Column, is_number=True)
    columns = [
        Column("input", key="name", value=str, flexible=True),
        number("data", key="data", value=run.inputs.__getitem__, style="green"),
        number(
            "grad",
            answer.gradient.__getitem__,
            key="grad",
            value=lambda name: run.true.gradient[name],
            style="yellow",
        ),
        number("elasticity", key="elasticity", value=found.__getitem__, style="bold"),
    ]
    foot = f"output  {printable_text(run.output_label)} = {decimal_text(answer.value, digits)}"
    return make_table(columns, [*found], digits, whole=whole, how=IN_CELL, foot=foot, what="inputs")
