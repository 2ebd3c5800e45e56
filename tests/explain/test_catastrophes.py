"""Formulas that floating-point arithmetic ruins: what a command prints is true, or warned about.

The truth is mpmath's, in hundreds of digits: neither the bounds nor the balls have a say in it.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping

import pytest

from catastrophes import DIGITS, PLACES, Catastrophe, Truth, collected
from digits import is_right
from exprgrad import parse as expression
from lost_digits import VALUE, about
from oracles import Real, mp, mpf
from shell import Outcome, command

NEAREST = 2.0**-53
"""The relative error of the double nearest to a number."""

ALL = [*collected("catastrophes.txt")]
SOME = ALL[::8]
EACH = [pytest.param(one, id=one.formula[:40]) for one in SOME] + [
    pytest.param(one, id=one.formula[:40], marks=pytest.mark.slow) for one in ALL if one not in SOME
]


def is_within(shown: float, true: Real, count: int) -> bool:
    """Whether so many digits are right as are counted; of the nearest double all may be."""
    with mp.workdps(4 * DIGITS):
        allowed = max(mpf(10) ** -count, NEAREST) * abs(true) + mp.ldexp(1, -1075)
        return not count or is_right(shown, true, 17) or bool(abs(shown - true) <= allowed)


def warned(case: Catastrophe, told: str | list[dict[str, str]]) -> set[str]:
    """The value or first derivatives of which stderr, or JSON's diagnostics, say that digits are lost."""
    if isinstance(told, str):
        messages = re.findall(r"^warning: (.*)$", told, re.MULTILINE)
    else:
        messages = [one["message"] for one in told if one["code"] == "lost-digits"]
    return about(expression(case.formula).gradient(case.inputs), messages)


def check(shown: float, true: Truth, has_warning: bool, which: object) -> None:
    """One number that a command printed.

    It may be wrong, with a warning, where the decimals as typed lead elsewhere, or the truth is 0, which
    balls cannot prove.
    """
    with mp.workdps(4 * DIGITS):
        if is_right(shown, true.read, PLACES):
            return
        assert has_warning, f"silent: {which} prints {shown}, true {mp.nstr(true.read, 20)}"
        is_zero = abs(true.read) < mpf(10) ** (30 - 2 * DIGITS)
        assert is_zero or not true.is_one, f"wrong: {which}: {shown}, true {mp.nstr(true.read, 20)}"


def in_table(done: Outcome, names: Mapping[str, float]) -> dict[str, float]:
    """The numbers that a table of nodes shows for the value and, with grads, the derivatives."""
    (value,) = re.findall(r"^output  .* = (\S+)$", done.out, re.MULTILINE)
    found = {VALUE: float(value)}
    head = done.out.splitlines()[0]
    for line in done.out.splitlines():
        cells = line.split()
        if "grad" in head and len(cells) == 5 and cells[2] == "input":
            found[cells[1]] = float(cells[4].strip("*~"))
    for line in re.findall(r"^gradient corrected: (.*)$", done.out, re.MULTILINE):
        for name, number in re.findall(r"(\S+) = ([^ ,]+),? where the sweep", line):
            found[name] = float(number)
    return found


@pytest.mark.parametrize("case", EACH)
def test_every_digit_is_true(case: Catastrophe) -> None:
    """In each form of ``eval`` and ``grad``: no silence, and a wrong number only where nobody can tell."""
    true = case.first
    quiet = command("grad", "-q", *case.words)
    for line in quiet.out.splitlines():
        name, _, text = line.partition("=")
        check(float(text), true[name], name in warned(case, quiet.err), (case, name))
    quiet = command("eval", "-q", *case.words)
    check(float(quiet.out), true[VALUE], VALUE in warned(case, quiet.err), case)
    for name in ("eval", "grad"):
        done = command(name, *case.words)
        for which, number in in_table(done, case.inputs).items():
            check(number, true[which], which in warned(case, done.err), (case, name, which))


def cells(done: Outcome) -> list[dict[str, str]]:
    """The lines of a CSV, by their column."""
    return [*csv.DictReader(io.StringIO(done.out))]


@pytest.mark.parametrize("case", EACH)
def test_csv_is_true(case: Catastrophe) -> None:
    """The output's data and the inputs' grads among the nodes; every entry of a Hessian."""
    graph, true = case.graph, case.first
    for name in ("eval", "grad"):
        done = command(name, "--csv", *case.words)
        told = warned(case, done.err)
        lines = cells(done)
        check(float(lines[graph.output]["data"]), true[VALUE], VALUE in told, (case, name))
        if name == "grad":
            for which, node in graph.inputs.items():
                number = float(lines[node]["grad"])
                check(number, true[which], which in told, (case, name, which))
    done = command("hess", "--csv", *case.words)
    for line in cells(done):
        row = line[""]
        for column in case.inputs:
            check(
                float(line[column]),
                case.second[row, column],
                "right digit" in done.err,
                (case, row, column),
            )


@pytest.mark.parametrize("case", EACH)
def test_products_are_true(case: Catastrophe) -> None:
    """``jac`` and ``vjp`` have the gradient, ``jvp`` along one input a number of it; in all forms."""
    true = case.first
    first, *others = case.inputs
    tangent = ",".join([f"{first}=1", *(f"{name}=0" for name in others)])
    for form in ("-q", "--csv", "--json"):
        for name, *more in (["jac"], ["vjp"], ["jvp", "--tangent", tangent]):
            done = command(name, form, *case.words, *more)
            for which, number in products(name, form, done, first).items():
                is_warned = any(word in done.err + done.out for word in LOST)
                check(number, true[which], is_warned, (case, name, form, which))


LOST = ("right digit", "known to be right", "no true value", "lost-digits")


def products(name: str, form: str, done: Outcome, first: str) -> dict[str, float]:
    """The derivatives that a command printed, by input."""
    if form == "--json":
        answer = json.loads(done.out)
        found = answer["jacobian" if name == "jac" else name]
        numbers = {VALUE: answer["value"]} | ({first: found} if name == "jvp" else found)
    elif form == "--csv":
        if name == "vjp":
            numbers = {line["name"]: line["value"] for line in cells(done)}
        else:
            (line,) = cells(done)
            numbers = {first: line["value"]} if name == "jvp" else {**line}
            numbers.pop("", None)
    elif name == "jvp":
        numbers = {first: done.out}
    else:
        numbers = dict(line.split("=") for line in done.out.splitlines())
    return {which: float(number) for which, number in numbers.items()}


@pytest.mark.parametrize("case", EACH)
def test_json_says_how_many_digits_are_right(case: Catastrophe) -> None:
    """The count never exceeds the truth, and it is small where there is a warning."""
    true = case.first
    done = command("grad", "--json", *case.words)
    answer = json.loads(done.out)
    numbers = {VALUE: answer["value"], **answer["gradient"]}
    counts = {VALUE: answer["digits"]["value"], **answer["digits"]["gradient"]}
    for name, shown in numbers.items():
        number, count = float(shown), counts[name]
        check(number, true[name], name in warned(case, answer["diagnostics"]), (case, name))
        assert is_within(number, true[name].read, count), (case, name)


@pytest.mark.parametrize("case", EACH)
def test_second_derivatives_are_true(case: Catastrophe) -> None:
    """All that ``hess`` prints, and as many digits as it counts."""
    done = command("hess", "--json", *case.words)
    answer = json.loads(done.out)
    counts, has_warning = answer["digits"], "lost-digits" in done.out
    for name, shown in {VALUE: answer["value"], **answer["gradient"]}.items():
        count = counts["value"] if name == VALUE else counts["gradient"][name]
        check(float(shown), case.first[name], has_warning and count < PLACES, (case, name))
    for one, row in answer["hessian"].items():
        for other, shown in row.items():
            true = case.second[one, other]
            is_warned = has_warning and counts["hessian"][one][other] < PLACES
            check(float(shown), true, is_warned, (case, one, other))
            count = counts["hessian"][one][other]
            assert is_within(float(shown), true.read, count), (case, one, other)


@pytest.mark.slow
def test_each_is_a_catastrophe() -> None:
    """Of each formula the sweeps have at least one number wrong; there are three hundred and more."""
    assert len(ALL) >= 100
    assert len(collected()) >= 300
    for case in collected():
        graph, true = expression(case.formula).graph, case.first
        answer = json.loads(command("grad", "--json", *case.words).out)
        nodes = answer["nodes"]
        sweep = {VALUE: nodes[graph.output]["data"]}
        sweep |= {name: nodes[node]["grad"] for name, node in graph.inputs.items()}
        with mp.workdps(4 * DIGITS):
            right = [is_right(float(sweep[name]), true[name].read, PLACES) for name in sweep]
        assert not all(right), case
