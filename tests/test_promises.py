"""The table of promises: whatever prints a number is asked for 300 catastrophes, and keeps its promise.

A producer is a row of ``PRODUCERS``: how to ask it, what it promises, and which commands, functions and
methods it stands for.  A new one is asked once it has a row, and one without a row, or a reason to have
none, makes a test fail.  The truth is mpmath's: see ``catastrophes.py``.
"""

from __future__ import annotations

import inspect
import json
import math
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from random import Random
from typing import Any, NamedTuple

import numpy as np
import pytest

import exprgrad
from catastrophes import DIGITS, PLACES, Catastrophe, Truth, collected, truths
from corpus import trades
from exprgrad.cli.commands import COMMANDS
from exprgrad.data.arrow import DoubleColumn
from exprgrad.data.job import BatchJob, compute_rows
from exprgrad.errors import DigitsWarning, ExprgradError
from exprgrad.graph.ops import BY_NAME
from exprgrad.show.page.model import page_model
from lost_digits import VALUE, about
from oracles import Real, decimal, evaluate, mp, mpf
from shell import command
from strategies import SMOOTH, tree

LEAST_ERROR = 1e-318
"""Below the normal numbers doubles have fewer digits: of columns nobody expects more."""
SAMPLE = 40
SEED = 31

Key = str | tuple[str, str]
"""``VALUE``, the input of a first derivative, or the inputs of a second one."""


class Printed(NamedTuple):
    """A number, whether there is a warning about it, and how many digits are said to be right."""

    number: float
    is_flagged: bool
    digits: int | None = None


Answer = Mapping[Key, Printed]


def ask_json(*argv: str) -> dict[str, Any]:
    """What a command answers as JSON; an error fails the test."""
    done = command(*argv, "--json")
    answer: dict[str, Any] = json.loads(done.out)
    assert "error" not in answer, answer["error"]["message"]
    return answer


def has_lost(answer: Mapping[str, Any]) -> bool:
    """Whether a warning of a JSON document is about lost digits."""
    return any(one["code"] == "lost-digits" for one in answer["diagnostics"])


def printed(number: Any, digits: int, is_warned: bool) -> Printed:
    """A number of a JSON document beside its count of digits."""
    return Printed(float(number), is_warned and digits < PLACES, digits)


def by_command(name: str, field: str = "", *more: str) -> Callable[[Catastrophe], Answer]:
    """A command's value, and its derivatives under a field of its JSON document."""

    def ask(case: Catastrophe) -> Answer:
        options = [one.format(first=next(iter(case.inputs))) for one in more]
        if name == "jvp":
            others = [f"{other}=0" for other in [*case.inputs][1:]]
            options = ["--tangent", ",".join([f"{next(iter(case.inputs))}=1", *others])]
        answer = ask_json(name, *case.words, *options)
        counts, is_warned = answer["digits"], has_lost(answer)
        found: dict[Key, Printed] = {VALUE: printed(answer["value"], counts["value"], is_warned)}
        if field == "jvp":
            found[next(iter(case.inputs))] = printed(answer[field], counts[field], is_warned)
        elif field:
            for one, number in answer[field].items():
                found[one] = printed(number, counts[field][one], is_warned)
        for one, row in answer.get("hessian", {}).items():
            for other, number in row.items():
                found[one, other] = printed(number, counts["hessian"][one][other], is_warned)
        return found

    return ask


def trusted(case: Catastrophe) -> Answer:
    """``grad --trust``: the sweep's numbers, and how many of their digits are right."""
    trust = ask_json("grad", *case.words, "--trust")["trust"]
    numbers = {VALUE: trust["value"], **trust["gradient"]}
    return {
        name: Printed(float(one["value"]), one["digits"] < PLACES, one["digits"])
        for name, one in numbers.items()
    }


def over_ranges(case: Catastrophe) -> Answer:
    """The first row of a table over a range of the first input; of numbers, with second derivatives."""
    first, *others = case.inputs
    x = case.inputs[first]
    given = {first: f"{x!r}:{x * 1.25!r}:2"} | {name: case.inputs[name] for name in others}
    name = "hess" if is_elementwise(case) else "grad"
    answer = ask_json(name, case.formula, *(f"{name}={text}" for name, text in given.items()))
    row, is_flagged = answer["rows"][0], has_lost(answer)
    found: dict[Key, Printed] = {VALUE: Printed(float(row["value"]), is_flagged)}
    for name, number in row["gradient"].items():
        found[name] = Printed(float(number), is_flagged)
    for one, line in row.get("hessian", {}).items():
        for other, number in line.items():
            found[one, other] = Printed(float(number), is_flagged)
    return found


def one_line(case: Catastrophe) -> Answer:
    """The functions that answer one question about a formula: true, and they warn."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        value = float(exprgrad.eval(case.formula, case.inputs))
        gradient = exprgrad.grad(case.formula, case.inputs)
        jacobian = exprgrad.jacobian(case.formula, case.inputs)
        hessian = exprgrad.hessian(case.formula, case.inputs)
    is_flagged = any(isinstance(one.message, DigitsWarning) for one in told)
    for name, number in gradient.items():
        assert is_same(number, jacobian[name]), (case, name)
    numbers: dict[Key, float] = {VALUE: value, **in_pairs(hessian)}
    numbers.update(gradient.items())
    return {name: Printed(float(number), is_flagged) for name, number in numbers.items()}


def in_pairs(matrix: Mapping[str, Mapping[str, float]]) -> dict[Key, float]:
    """The entries of a Hessian by their pairs of inputs."""
    return {(one, other): x for one, row in matrix.items() for other, x in row.items()}


def columns_of(case: Catastrophe) -> dict[str, np.ndarray]:
    """The inputs as columns of one row."""
    return {name: np.array([x]) for name, x in case.inputs.items()}


def in_frame(**options: Any) -> Callable[[Catastrophe], Answer]:
    """``f.batch`` of a frame of one row, with what it warns of."""

    def ask(case: Catastrophe) -> Answer:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            found = exprgrad.parse(case.formula).batch(columns_of(case), **options)
        texts = [str(one.message) for one in told]
        return {
            name: Printed(float(found[column][0]), any(f" {column} " in text for text in texts))
            for name, column in column_names(case).items()
        }

    return ask


def column_names(case: Catastrophe) -> dict[Key, str]:
    """What the columns of a batch are called."""
    return {VALUE: "value", **{name: f"d_{name}" for name in case.inputs}}


def with_digits(case: Catastrophe) -> Answer:
    """``f.batch`` with a column of digits: the fewest of the row."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = exprgrad.parse(case.formula).batch(columns_of(case), show_digits=True)
    digits = int(np.nan_to_num(found["digits"][0]))
    return {
        name: Printed(float(found[column][0]), digits < PLACES, digits)
        for name, column in column_names(case).items()
        if math.isfinite(found[column][0])
    }


def by_engine(engine: str) -> Callable[[Catastrophe], Answer]:
    """A batch's kernel in one engine."""

    def ask(case: Catastrophe) -> Answer:
        names = [*case.inputs]
        pairs = tuple((name, name) for name in names)
        job = BatchJob(case.formula, pairs, wrt=tuple(names), engine=engine, digits=PLACES)
        columns = columns_of(case)
        block = compute_rows(job, [DoubleColumn(columns[name]) for name in names], 0, 1)
        return {
            name: Printed(
                float(block.results[at][0]),
                block.bad is not None or (at in block.lost and bool(block.lost[at][0])),
            )
            for at, name in enumerate([VALUE, *names])
        }

    return ask


def reduced(case: Catastrophe) -> Answer:
    """``batch --reduce sum`` of one row, from the shell."""
    text = f"{','.join(case.inputs)}\n{','.join(map(repr, case.inputs.values()))}\n"
    argv = ("batch", case.formula, "--data", "-", "--reduce", "sum", "--json")
    answer = json.loads(command(*argv, stdin=text.encode()).out)
    if answer["bad"]:
        return {}
    lost = answer["lost"]
    found: dict[Key, Printed] = {VALUE: Printed(float(answer["value"]), "value" in lost)}
    for name, number in answer["gradient"].items():
        if name not in answer["undefined"]:
            found[name] = Printed(float(number), name in lost.get("gradient", {}))
    return found


def first_step(case: Catastrophe) -> Answer:
    """The first step of ``descend``: flagged by a warning or a count."""
    answer = ask_json("descend", *case.words, "--max-steps", "1")
    step, *others = answer["steps"]
    lost, counts = answer["lost"], answer["digits"]
    is_poor = {name: name in lost.get("gradient", {}) for name in step["gradient"]}
    has_poor_value = "value" in lost
    if not others:  # the last one is what grad prints
        has_poor_value = has_lost(answer) and counts["value"] < PLACES
        is_poor = {name: has_lost(answer) and counts["gradient"][name] < PLACES for name in is_poor}
    found: dict[Key, Printed] = {VALUE: Printed(float(step["value"]), has_poor_value)}
    for name, number in step["gradient"].items():
        found[name] = Printed(float(number), is_poor[name])
    return found


def on_the_page(case: Catastrophe) -> Answer:
    """The numbers of ``explore``: those that lack digits are marked."""
    run = exprgrad.parse(case.formula).gradient(case.inputs)
    page = page_model(run)
    vague = {field: {*nodes} for field, nodes in page.get("vague", {}).items()}
    places = dict(page["inputs"])
    found: dict[Key, Printed] = {VALUE: Printed(run.value, page["output"] in vague.get("data", ()))}
    marked = {*vague.get("grad", ()), *dict(page.get("corrected", ()))}
    for name, number in run.gradient.items():
        found[name] = Printed(number, places[name] in marked)
    return found


class Producer(NamedTuple):
    """What prints numbers: ``asks`` answers for a catastrophe, or ``judges`` fails where it must.

    ``covers`` are the commands, and the functions and methods of the library, that the row is for; a slow
    one is asked for one in ``every`` so many catastrophes that it ``suits``.
    """

    promise: str
    covers: str
    asks: Callable[[Catastrophe], Answer] | None = None
    judges: Callable[[Catastrophe], None] | None = None
    suits: Callable[[Catastrophe], bool] = lambda case: True
    every: int = 1


def is_elementwise(case: Catastrophe) -> bool:
    """Whether columns can be put into the formula."""
    return exprgrad.parse(case.formula).is_elementwise


def has_tensors(case: Catastrophe) -> bool:
    """Whether the formula is one of tensors."""
    return not is_elementwise(case)


def has_one_input(case: Catastrophe) -> bool:
    """Whether there is one unknown, which is not 0."""
    return len(case.inputs) == 1 and all(case.inputs.values())


# Verdicts

FAR = 1e50
"""Beyond this differences of the formulas have no digits even for the oracle."""


def value_at(case: Catastrophe, x: Real, number: Callable[[float], Real] = mpf) -> Real:
    """The true value of a formula of one input, its literals being doubles, or decimals as typed."""
    (name,) = case.inputs
    with mp.workdps(4 * DIGITS):
        return evaluate(case.graph, {name: x}, number)[case.graph.output]


def judge_minimize(case: Catastrophe) -> None:
    """No minimum where the true function falls, no saddle where it is convex; a true or flagged value."""
    (name,) = case.inputs
    answer = ask_json("minimize", *case.words)
    x, verdict = float(answer["point"][name]), answer["verdict"]
    if not abs(x) < FAR:
        return
    with mp.workdps(4 * DIGITS):
        at, step = mpf(x), mpf(10) ** -DIGITS * (abs(mpf(x)) or 1)
        left, here, right = (value_at(case, at + by * step) for by in (-1, 0, 1))
        if not mp.isfinite(left + here + right):
            return
        slope, bend = (right - left) / (2 * step), (left - 2 * here + right) / step**2
        if verdict == "minimum" and answer["curvature"] is not None:
            assert bend >= -(mpf(10) ** -DIGITS), f"{case}: no minimum at {x}: {mp.nstr(bend)}"
            if bend > mpf(10) ** -DIGITS and not answer["active"]:
                off = abs(slope / bend)
                scale = max(abs(at), abs(case.inputs[name]))
                assert off <= 1e-5 * scale, f"{case}: {mp.nstr(off)} from the minimum"
        if verdict == "saddle":
            assert bend <= 0, f"{case}: no saddle at {x}: {mp.nstr(bend)}"
        shown = printed(answer["value"], answer["digits"]["value"], has_lost(answer))
        assert not is_silent(shown, Truth(here, here), "flagged"), f"{case}: {shown} at {x}"


def judge_solve(case: Catastrophe) -> None:
    """An equation with a root beside the point: what is proved is so, and what is excluded is not there."""
    (name,) = case.inputs
    x = case.inputs[name]
    with mp.workdps(4 * DIGITS):
        level = float(value_at(case, mpf(x) * (1 + mpf(1) / 7000)))
    if not math.isfinite(level) or not level:
        return
    *others, last = case.formula.split("; ")
    equation = "; ".join([*others, f"({last}) = {level!r}"])
    answer = ask_json("solve", equation, f"{name}={x!r}")

    def side(at: float) -> int:
        with mp.workdps(4 * DIGITS):
            return int(mp.sign(value_at(case, mpf(at), decimal) - decimal(level)))

    assert not answer["excluded"], f"{case}: there is a root"
    for root in answer["roots"]:
        ends = root["enclosure"][name]
        if root["proved"]:
            assert side(ends[0]) * side(ends[1]) <= 0, f"{case}: there is no root in {ends}"


def judge_fit(case: Catastrophe) -> None:
    """A factor of data that are twice the true function is 2, or else there is a warning."""
    (name,) = case.inputs
    xs = [case.inputs[name] * (1 + k / 1024) for k in range(8)]
    ys = [2 * float(value_at(case, mpf(x))) for x in xs]
    if not all(map(math.isfinite, ys)) or not any(ys) or not case.first[VALUE].is_one:
        return
    *others, last = case.formula.split("; ")
    text = "; ".join([*others, f"y_measured ~ a_factor*({last})"])
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        data = {name: xs, "y_measured": ys}
        try:
            found = exprgrad.fit(text, data, {"a_factor": 1.0})
        except ExprgradError:
            return  # there is no answer
    factor = found.parameters["a_factor"]
    digits = PLACES if factor.digits is None else factor.digits
    is_flagged = any(isinstance(one.message, DigitsWarning) for one in told) or digits < PLACES
    is_right = abs(factor.value - 2) <= max(1e-5, 10.0**-digits * 2)
    assert is_right or is_flagged or not found.converged, f"{case}: {factor}"


def uncertain(case: Catastrophe) -> Answer:
    """The value of a formula of uncertain inputs; the uncertainty stands under ``u``."""
    given = [f"{name}={x!r}±{abs(x) * 1e-6!r}" for name, x in case.inputs.items()]
    answer = ask_json("eval", case.formula, *given)
    is_flagged = has_lost(answer)
    return {
        VALUE: printed(answer["value"], answer["digits"]["value"], is_flagged),
        "±": Printed(float(answer["uncertainty"]["value"]), is_flagged),
    }


def true_uncertainty(case: Catastrophe) -> Truth:
    """The root of the sum of squares of slopes times deviations."""
    with mp.workdps(4 * DIGITS):
        slopes = {name: case.first[name].read for name in case.inputs}
        parts = [(slopes[name] * mpf(abs(x) * 1e-6)) ** 2 for name, x in case.inputs.items()]
        total = mp.sqrt(mp.fsum(parts))
    return Truth(total, total)


def judge_check(case: Catastrophe) -> None:
    """What ``check`` says agrees does, and what it says disagrees doesn't."""
    with mp.workdps(4 * DIGITS):
        for one in ask_json("check", *case.words)["checks"]:
            true = case.first[one["input"]]
            off = abs(mpf(float(one["analytic"])) - true.read)
            if one["verdict"] == "agrees":
                assert off <= 1e-3 * abs(true.read) + LEAST_ERROR, (case, one)
            assert one["verdict"] != "disagrees", (case, one)


def judge_plot(case: Catastrophe) -> None:
    """The points of a curve are where they belong, to a twentieth of the picture's height, or left out."""
    (name,) = case.inputs
    x = case.inputs[name]
    low, high = sorted((x * (1 - 1e-3), x * (1 + 1e-3)))
    answer = ask_json("plot", case.formula, f"{name}={low!r}:{high!r}")
    if answer["shown"] is None:
        return
    bottom, top = map(float, answer["shown"])
    samples = [
        pair
        for piece in answer["samples"]
        for pair in zip(piece["input"], piece["value"], strict=True)
    ]
    with mp.workdps(4 * DIGITS):
        for at, shown in samples[:: max(1, len(samples) // 8)]:
            if shown is not None and math.isfinite(float(shown)):
                true = value_at(case, mpf(float(at)))
                if bottom <= true <= top or bottom <= float(shown) <= top:
                    off = abs(mpf(float(shown)) - true)
                    told = (
                        f"{case}: {shown} at {at}, true {mp.nstr(true, 17)}, shown {bottom}…{top}"
                    )
                    assert off <= (mpf(top) - bottom) / 20, told


# The sweep's


def judge_sweep(case: Catastrophe) -> None:
    """All that promise the sweep's numbers have the same, to the bit; a Run knows the true ones."""
    f = exprgrad.parse(case.formula)
    run = f.gradient(case.inputs)
    grads = {name: run.grad(node) for name, node in f.graph.inputs.items()}
    values = [float(run), f(case.inputs), f.evaluate(case.inputs).value]
    assert all(is_same(value, run.value) for value in values), (case, values, run.value)
    for found in (run.gradient, f.grad(case.inputs), f.jacobian(case.inputs), f.vjp(case.inputs)):
        for name, number in found.items():
            is_swept = is_same(number, grads[name]) or is_same(number, run.gradient[name])
            assert is_swept, (case, name, number, grads[name])
    if f.is_elementwise:
        value, gradient = f.compile("numpy", precise=True)(columns_of(case))
        assert is_same(value[0], run.value), (case, value[0], run.value)
        for name, column in gradient.items():
            assert is_same(column[0], grads[name]), (case, name, column[0], grads[name])
        if "logsumexp" not in f.graph.kinds:
            value, slopes = f.function()(*[run.inputs[name] for name in f.inputs])
            assert is_same(value, run.value), (case, value, run.value)
            for name, slope in zip(f.inputs, slopes, strict=True):
                assert is_same(slope, grads[name]), (case, name, slope, grads[name])


def is_same(one: float, other: float) -> bool:
    """Whether two floats are the same to the bit, but for the sign of a zero; or both are nan."""
    return one == other or (math.isnan(one) and math.isnan(other))


def true_of_run(case: Catastrophe) -> Answer:
    """``run.true``, with ``run.digits``."""
    run = exprgrad.parse(case.formula).gradient(case.inputs)
    true, digits = run.true, run.digits
    found: dict[Key, Printed] = {VALUE: printed(true.value, digits["value"], is_warned=True)}
    for name, number in true.gradient.items():
        found[name] = printed(number, digits["gradient"][name], is_warned=True)
    return found


def true_of_matrix(case: Catastrophe) -> Answer:
    """``.true`` of a Hessian, with its digits."""
    found: Any = exprgrad.parse(case.formula).hessian(case.inputs)
    digits = in_pairs(found.digits)
    return {
        pair: printed(number, int(digits[pair]), is_warned=True)
        for pair, number in in_pairs(found.true).items()
    }


PRODUCERS: dict[str, Producer] = {
    "eval": Producer("true", "exprgrad eval", by_command("eval")),
    "grad": Producer("true", "exprgrad grad", by_command("grad", "gradient")),
    "jac": Producer("true", "exprgrad jac", by_command("jac", "jacobian"), every=2),
    "hess": Producer("true", "exprgrad hess", by_command("hess", "gradient")),
    "jvp": Producer("true", "exprgrad jvp", by_command("jvp", "jvp"), every=2),
    "vjp": Producer("true", "exprgrad vjp", by_command("vjp", "vjp"), every=2),
    "grad --trust": Producer("flagged", "Run.trust", trusted, every=2),
    "rows over ranges": Producer("true", "Expression.table", over_ranges, every=4),
    "one-line functions": Producer(
        "true", "exprgrad.eval exprgrad.grad exprgrad.jacobian exprgrad.hessian", one_line, every=2
    ),
    "frame": Producer("flagged", "Expression.batch", in_frame(), suits=is_elementwise, every=3),
    "native": Producer("flagged", "exprgrad batch", by_engine("native"), suits=is_elementwise, every=2),
    "numpy": Producer("flagged", "exprgrad batch", by_engine("numpy"), suits=is_elementwise),
    "batch --reduce": Producer("flagged", "exprgrad batch", reduced, suits=is_elementwise, every=4),
    "batch with digits": Producer(
        "flagged", "exprgrad batch", with_digits, suits=is_elementwise, every=3
    ),
    "corrected batch": Producer(
        "true", "exprgrad batch", in_frame(correct=True), suits=is_elementwise, every=3
    ),
    "steps of descend": Producer("flagged", "exprgrad descend Expression.descend", first_step),
    "minimize": Producer(
        "flagged", "exprgrad minimize exprgrad.minimize Expression.minimize",
        judges=judge_minimize, suits=has_one_input, every=8,
    ),
    "solve": Producer(
        "verdict", "exprgrad solve exprgrad.solve Expression.solve",
        judges=judge_solve, suits=lambda case: has_one_input(case) and "root(" not in case.formula,
        every=4,
    ),
    "fit": Producer(
        "verdict", "exprgrad fit exprgrad.fit Expression.fit",
        judges=judge_fit, suits=has_one_input, every=2,
    ),
    "check": Producer(
        "verdict", "exprgrad check exprgrad.check Expression.check",
        judges=judge_check, suits=lambda case: not has_tensors(case), every=2,
    ),
    "check of tensors": Producer("verdict", "exprgrad check", judges=judge_check, suits=has_tensors),
    "uncertainties": Producer("flagged", "exprgrad.uncertain Run.propagate", uncertain, every=4),
    "plot": Producer(
        "flagged", "exprgrad plot Expression.plot", judges=judge_plot,
        suits=lambda case: has_one_input(case) and is_elementwise(case), every=3,
    ),
    "explore": Producer(
        "flagged", "exprgrad explore Run.explore", on_the_page,
        suits=lambda case: not has_tensors(case), every=2,
    ),
    "explore of tensors": Producer("flagged", "exprgrad explore", on_the_page, suits=has_tensors),
    "sweep": Producer(
        "sweep",
        "exprgrad.evaluate Expression.evaluate Expression.gradient Expression.grad"
        " Expression.jacobian Expression.jvp Expression.vjp Expression.compile Expression.function",
        judges=judge_sweep,
    ),
    "a Run's truth": Producer("true", "Expression.gradient", true_of_run),
    "matrices' own truths": Producer("true", "Expression.hessian", true_of_matrix, every=2),
}  # fmt: skip

NO_ROW = {
    "exprgrad ops": "a table of rules",
    "exprgrad diff": "formulas",
    "exprgrad.diff": "formulas",
    "Expression.derivative": "formulas",
    "Expression.diff": "formulas",
    "Expression.latex": "a formula",
    "Expression.expand": "a formula",
    "Expression.simplify": "a formula",
    "Expression.subs": "a formula",
    "exprgrad constants": "a table of constants, as CODATA prints them",
    "exprgrad.codata": "a constant, as CODATA prints it",
    "Expression.steps": "formulas",
    "Expression.hessian_pattern": "zeros by structure",
    "exprgrad code": "programs, which say that they are the sweep; tests/language/test_code.py runs them",
    "Expression.code": "programs, which say that they are the sweep; tests/language/test_code.py runs them",
    "exprgrad.arrow_function": "the kernel of a batch, without its flags, as its documentation says",
    "exprgrad dot": "a picture of the sweep",
    "Expression.dot": "a picture of the formula",
    "exprgrad paths": "the sweep at work, as trusted-digits.md says",
    "exprgrad.parse": "a formula",
    "exprgrad.from_latex": "a formula",
    "exprgrad.file": "a value to be read",
    "exprgrad.draw": "a picture of the sweep",
    "exprgrad.write_course": "pages of the sweep",
}
NO_ROW |= dict.fromkeys(
    (
        f"Expression.{name}"
        for name in [
            "at",
            "derivatives",
            "evaluator",
            "for_shapes",
            "given",
            "in_rows",
            "named",
            "searched",
            "swept",
        ]
    ),
    "a step on the way of the others",
)
"""What prints no number of its own, or says that it is the sweep's: why it has no row."""


# Judgement


def is_silent(shown: Printed, true: Truth, promise: str) -> bool:
    """Whether a number breaks its promise: wrong without a warning, or fewer right digits than it says.

    A *true* number may be wrong, with a warning, only where the decimals as typed lead elsewhere, or where
    the truth is 0, which balls cannot prove.
    """
    least = LEAST_ERROR if promise == "flagged" else 2.0**-1074
    if promise == "flagged" and not math.isfinite(shown.number):
        return False  # nobody takes that for a number
    with mp.workdps(4 * DIGITS):
        if abs(true.read) >= mp.ldexp(1, 1024) * (1 - mp.ldexp(1, -54)):
            return shown.number != mp.sign(true.read) * mp.inf and not shown.is_flagged
        if not mp.isfinite(true.read):
            return False
        off = abs(mpf(shown.number) - true.read) if math.isfinite(shown.number) else mp.inf
        if off > mpf(10) ** -PLACES * abs(true.read) + least:
            is_zero = abs(true.read) < mpf(10) ** (30 - 2 * DIGITS)
            may_be_wrong = promise == "flagged" or is_zero or not true.is_one
            return not (shown.is_flagged and may_be_wrong)
        if not shown.digits:
            return False
        claimed = max(mpf(10) ** -shown.digits, mp.ldexp(1, -53)) * abs(true.read)
        return bool(off > claimed + mp.ldexp(1, -1075))


def truth_of(case: Catastrophe, key: Key) -> Truth:
    if key == "±":
        return true_uncertainty(case)
    return case.second[key] if isinstance(key, tuple) else case.first[key]


def ask_producer(producer: Producer, case: Catastrophe) -> Iterator[str]:
    """What is wrong with the answer of a producer."""
    if producer.judges is not None:
        try:
            producer.judges(case)
        except AssertionError as error:
            yield str(error)
    if producer.asks is not None:
        for key, shown in producer.asks(case).items():
            true = truth_of(case, key)
            if is_silent(shown, true, producer.promise):
                yield f"{case}, {key}: {shown}, true {mp.nstr(true.read, 20)}"


def sampled(cases: Iterable[Catastrophe]) -> list[Catastrophe]:
    return Random(SEED).sample([*cases], SAMPLE)


@pytest.mark.parametrize(
    "choose", [sampled, pytest.param(list, marks=pytest.mark.slow)], ids=["some", "all"]
)
@pytest.mark.parametrize("name", sorted(PRODUCERS))
def test_no_producer_is_silent(
    name: str, choose: Callable[[Iterable[Catastrophe]], list[Catastrophe]]
) -> None:
    producer = PRODUCERS[name]
    suited = [case for case in choose(collected()) if producer.suits(case)]
    cases = suited[:: producer.every]
    silent = [text for case in cases for text in ask_producer(producer, case)]
    assert not silent, "\n".join(silent)


def test_there_are_three_hundred_and_each_has_a_row_of_its_own() -> None:
    texts = [(case.formula, *case.inputs.items()) for case in collected()]
    assert len(texts) == len({*texts}) >= 300


EVERYDAY = tuple(BY_NAME[name] for name in SMOOTH.split())
TYPED = tuple(one for one in trades() if not re.search(r"\b(d|root)\(", one.text))
"""The oracle evaluates no others."""


def ordinary(random: Random) -> tuple[str, dict[str, float]]:
    """A formula of a trade, or one at random of everyday operations, at an everyday point."""
    if random.random() < 0.5:
        text = random.choice(TYPED).text
    else:
        infix = tuple(op for op in EVERYDAY if op.infix)
        leaves = ("x", "y", "z", "x", "y", "2", "0.3")
        text = tree(random, leaves, (*EVERYDAY, *infix * 4), random.randint(1, 8))
    return text, {name: round(random.uniform(0.1, 5), 3) for name in exprgrad.parse(text).inputs}


@pytest.mark.parametrize(
    ("count", "most"), [(60, 1), pytest.param(2000, 8, marks=pytest.mark.slow)]
)
def test_ordinary_formulas_are_left_alone(count: int, most: int) -> None:
    """Few numbers that are right, to six digits, come with a warning."""
    random, alarms, seen = Random(SEED), [], 0
    while seen < count:
        text, point = ordinary(random)
        f = exprgrad.parse(text)
        if f.graph.shapes or not point or not f.is_elementwise:
            continue
        run = f.gradient(point)
        if not math.isfinite(run.value):
            continue
        seen += 1
        told = about(run, [one.message for one in run.diagnostics if one.code == "lost-digits"])
        if not told:
            continue
        true, sweep = truths(run.graph, point), {VALUE: run.value, **run.gradient}
        with mp.workdps(4 * DIGITS):
            for name in told:
                off = abs(mpf(sweep[name]) - true[name].read)
                if true[name].is_one and off <= mpf(10) ** -PLACES * abs(true[name].read):
                    alarms.append((text, point, name))
    assert len(alarms) <= most, alarms


def producers_of_the_house() -> Iterator[str]:
    """The commands, the functions of the package, and the methods of an expression."""
    yield from (f"exprgrad {name}" for name in COMMANDS)
    for name in exprgrad.__all__:
        if inspect.isfunction(getattr(exprgrad, name)):
            yield f"exprgrad.{name}"
    for name, member in vars(exprgrad.Expression).items():
        if inspect.isfunction(member) and not name.startswith("_"):
            yield f"Expression.{name}"


def test_whatever_prints_numbers_has_a_row() -> None:
    covered = {name for producer in PRODUCERS.values() for name in covers(producer)}
    found = {*producers_of_the_house()}
    assert not found - covered - NO_ROW.keys(), "a row of PRODUCERS, or a reason in NO_ROW"
    assert not NO_ROW.keys() - found, "reasons for what is no longer there"
    assert not {name for name in covered - found if not name.startswith("Run.")}
    assert not covered & NO_ROW.keys()


def covers(producer: Producer) -> list[str]:
    """The names that a row is for: 'exprgrad eval' is one."""
    words = producer.covers.replace("exprgrad ", "exprgrad\0").split()
    return [word.replace("\0", " ") for word in words]
