"""Trusted digits as people and programs read them: a table, sentences, JSON and CSV."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from exprgrad.explain.diagnostics import Run
from exprgrad.explain.digits.trusted import Lost, Trust, Trusted
from exprgrad.graph.graph import element_name
from exprgrad.language.write.infix import ATOM, operand_level
from exprgrad.run.balls.balls import scientific
from exprgrad.show.documents.document import Apart
from exprgrad.show.text.nodes import title
from exprgrad.show.text.table import Column, Table, tabulated
from exprgrad.source import WIDTH, Source, cut, excerpt, printable

__all__ = ["count_text", "trust_fields", "trust_rows", "trust_sentences", "trust_table"]

VERDICTS = {
    "exact": "exact",
    "rounded": "nearest",
    "wrong": "none",
    "overflow": "too large",
    "underflow": "too small",
    "pole": "pole",
    "undefined": "undefined",
    "undecided": "unknown",
    "corrected": "corrected",
}
"""What stands for the count of right digits."""
UNCOUNTED = ("corrected", "undefined", "undecided", "pole")
"""Verdicts on numbers of which no digits can be counted, or none are known to be right."""
LONGEST_LABEL = 40
"""The longest text of a formula in these tables and sentences."""


def trust_table(run: Run, trust: Trust, *, whole: bool = False) -> Table:
    """The value and each derivative: as computed, as it is, and how many of its digits are right.

    A long table is whole only if ``whole``.
    """
    columns = [
        Column("number", lambda named: label_of(run, named[0]), flexible=True),
        Column("computed", lambda named: repr(named[1].value), style="green"),
        Column("true", lambda named: true_text(named[1]), expendable=1),
        Column("right digits", lambda named: digits_text(named[1]), style="yellow"),
    ]
    numbers, foot = list(trust.numbers()), "\n".join(meanings(trust))
    return tabulated(columns, numbers, whole=whole, foot=foot, what="numbers")


def label_of(run: Run, name: str) -> str:
    """What a number is called: the output's text, or ``x.grad``."""
    return f"{name}.grad" if name else cut(title(run, run.graph.output), LONGEST_LABEL)


def true_text(number: Trusted) -> str:
    """The true number, or how near one comes to it."""
    if number.true is not None:
        return number.true
    if number.low is None or number.high is None:
        return ""
    low, high = fewer(number.low, up=False), fewer(number.high, up=True)
    return low if low == high else f"{low} to {high}"


def fewer(text: str, *, up: bool) -> str:
    """A decimal number rounded to 3 digits, up or down; an infinity, or nan, as it is."""
    if text.lstrip("+-") in ("inf", "nan"):
        return text
    mantissa, _, exponent = text.partition("e")
    before, _, after = mantissa.partition(".")
    whole = int(before + after)
    unit = 10 ** max(len(str(abs(whole))) - 3, 0)
    rounded = -(-whole // unit) if up else whole // unit
    return scientific(rounded * unit, int(exponent or 0) - len(after))


def digits_text(number: Trusted) -> str:
    """How many digits are right, or in a word what there is to say instead."""
    if number.verdict == "zero":
        return "none" if number.value else "nearest"
    text = VERDICTS.get(number.verdict, str(number.digits))
    return f"{text} *" if number.convention and number.verdict != "corrected" else text


def meanings(trust: Trust) -> Iterator[str]:
    """What the words in the last column mean, as far as they occur."""
    words = {digits_text(number).removesuffix(" *") for _, number in trust.numbers()}
    told = {
        "nearest": "nearest: no double is nearer to the true number",
        "too large": "too large: the true number is beyond the doubles, which end at 1.8e308",
        "too small": "too small: the nearest double to the true number is 0",
        "unknown": "unknown: no enclosure was tight enough to tell",
        "corrected": "corrected: found from one side of a kink, and not measured",
    }
    yield from (meaning for word, meaning in told.items() if word in words)
    if any(digits_text(number).endswith("*") for _, number in trust.numbers()):
        yield "*: a convention, at a kink or a jump"


def trust_sentences(run: Run, trust: Trust, width: int = WIDTH) -> str:
    """Where digits are lost, and what would keep them: one paragraph for each place."""
    places: dict[tuple[Any, ...], list[str]] = {}
    for name, number in trust.numbers():
        if number.lost is not None:
            better = None if number.rewrite is None else number.rewrite.text
            key = (number.lost.node, number.lost.why, number.lost.after, better)
            places.setdefault(key, []).append(name)
    numbers = dict(trust.numbers())
    paragraphs = (paragraph(run, at, numbers[at[0]], width) for at in places.values())
    return "\n\n".join(map("\n".join, paragraphs))


def paragraph(run: Run, names: Sequence[str], number: Trusted, width: int) -> Iterator[str]:
    """Where some numbers lose digits, told of the first of them, and the mend that was tried."""
    lost, better = number.lost, number.rewrite
    assert lost is not None
    label = lost_at(run, lost)
    who = ", ".join(label_of(run, name) for name in names[:4]) + ", …" * (len(names) > 4)
    lose = "lose their digits" if len(names) > 1 else "loses its digits"
    where = "" if who in (label, f"{label}.grad") else f" at {label}"
    after = lost.after if where else max(lost.after, number.digits)
    there = " there" if number.digits > after else ""
    yield printable(
        f"{who} {lose}{where}: from {lost.before} right ones to {after or 'none'}{there}"
    )
    yield from excerpt(Source(run.text), lost.span, width=width)
    yield printable(f"  why: {lost.why}")
    if better is not None:
        kept = "" if better.verdict == "right" else f", {VERDICTS[better.verdict]}"
        digits = f" ({better.digits} right digits)" if better.verdict == "right" else kept
        yield printable(f"  help: {better.advice}; here it gives {better.value!r}{digits}")


def lost_at(run: Run, lost: Lost) -> str:
    """What the number is called that loses digits: ``log(X)[0, 1]`` is one of a tensor's."""
    label = run.label(lost.node)
    is_atom = not lost.place or operand_level(run.graph, lost.node, run.names) == ATOM
    return element_name(label if is_atom else f"({label})", lost.place)


def trust_fields(trust: Trust) -> Apart:
    """The ``trust`` object of the JSON document."""
    gradient = {name: number_fields(number) for name, number in trust.gradient.items()}
    return Apart({"value": number_fields(trust.value), "gradient": gradient})


def number_fields(number: Trusted | list[Any]) -> Any:
    """One number as JSON has it, or a tensor in nested lists."""
    if isinstance(number, list):
        return [number_fields(one) for one in number]
    fields = number._asdict()
    for name in ("lost", "rewrite"):
        if fields[name] is not None:
            fields[name] = fields[name]._asdict()
    if number.lost is not None and not number.lost.place:
        del fields["lost"]["place"]
    return fields


def count_text(number: Trusted) -> str:
    """How many digits are right, for scripts: a word where a count would say nothing."""
    return number.verdict if number.verdict in UNCOUNTED else str(number.digits)


def trust_rows(run: Run, trust: Trust) -> Iterator[list[Any]]:
    """A line of CSV for each number; where its digits are lost stands in the last columns."""
    yield ["name", "value", "digits", "verdict", "low", "high", "node", "text", "why"]
    for name, number in trust.numbers():
        lost = number.lost
        place = [None] * 3 if lost is None else [lost.node, run.texts[lost.node], lost.why]
        yield [name, number.value, number.digits, number.verdict, number.low, number.high, *place]
