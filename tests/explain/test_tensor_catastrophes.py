"""Formulas of tensors that floating-point arithmetic ruins: six commands print what is true, or warn.

The truth is mpmath's, by differences in hundreds of digits of the formula written out number by number.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from exprgrad import parse
from exprgrad.graph.graph import element_name
from exprgrad.run.arrays.elements import expand_elements
from golden import CASES
from oracles import Real, evaluate, mp, mpf
from shell import command

SCHEMA = json.loads((CASES.parents[1] / "docs/reference/schema.json").read_text("utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)
DIGITS = 200
"""The digits of the oracle's steps; six times as many are carried."""
COUNTED = 6
NEAREST = 2.0**-53
UNKNOWN = ("not proved", "depend", "no enclosure")
"""Words of warnings about numbers that stay as they are."""

FORMULAS: list[tuple[str, dict[str, Any]]] = [
    # Softmax and its relatives, by hand.
    ("exp(x)/sum(exp(x))", {"x": [1000, 1000.5, 999]}),
    ("exp(x)/sum(exp(x))", {"x": [-800, -801]}),
    ("log(exp(x)/sum(exp(x)))", {"x": [0, -800]}),
    ("-log(softmax(x))", {"x": [0, -800]}),
    ("log(sum(exp(x))) - x", {"x": [40, 0]}),
    ("logsumexp(x) - x", {"x": [40, 0]}),
    ("-sum(y*log(exp(z)/sum(exp(z))))", {"z": [1000, 0], "y": [0.25, 0.75]}),
    ("log(1 + exp(x))", {"x": [-40, 800]}),
    ("softmax(x) - softmax(y)", {"x": [1, 2], "y": [1, 2.000000000001]}),
    ("p = 1/(1 + exp(-x)); -p*log(p) - (1 - p)*log(1 - p)", {"x": [40, -39]}),
    ("sum(p*log(p/q))", {"p": [0.25, 0.75], "q": [0.25000000001, 0.74999999999]}),
    # Norms and angles.
    ("x/sqrt(sum(x^2))", {"x": [3e200, 4e200]}),
    ("x/sqrt(sum(x^2))", {"x": [3e-200, 4e-200]}),
    ("x/norm(x) - [0.6, 0.8]", {"x": [3.00000000001, 4]}),
    ("dot(x, y)/(norm(x)*norm(y)) - 1", {"x": [1, 1e-9], "y": [1, 3e-9]}),
    ("acos(dot(x, y)/(norm(x)*norm(y)))", {"x": [1, 1e-9], "y": [1, 3e-9]}),
    ("norm(x) - norm(y)", {"x": [1e10, 1], "y": [1e10, 2]}),
    # Sums and means.
    ("x - mean(x)", {"x": [1e15, 1000000000000001, 1000000000000005]}),
    ("mean(x^2) - mean(x)^2", {"x": [1e8, 100000001, 100000002]}),
    ("mean(X^2, axis=0) - mean(X, axis=0)^2", {"X": [[1e9, 3], [1000000001, 5]]}),
    ("sum(x) - x[0]", {"x": [1e17, 3, 0.5]}),
    ("x[1:3] - x[0:2] + sum(x) - sum(x)", {"x": [1e16, 3, 7]}),
    ("prod(x)", {"x": [1e-200, 1e-200, 1e300, 1e300]}),
    # Products of matrices and vectors.
    ("A @ x", {"A": [[1e16, 1, -1e16], [1, 1, 1]], "x": [1, 3, 1]}),
    ("A @ B", {"A": [[1e200, 1e200], [1, 1]], "B": [[1e200, 1], [-1e200, 1]]}),
    ("A @ A @ x", {"A": [[1e8, 1e8], [-1e8, 1]], "x": [1, 1]}),
    ("x @ A @ x", {"A": [[100000001, 1e8], [1e8, 99999999]], "x": [1, -1]}),
    ("outer(x, x) - outer(y, y)", {"x": [1e8, 1], "y": [1e8, 2]}),
    ("trace(A @ B) - sum(A*B.T)", {"A": [[0.5, 1e8], [3, 4]], "B": [[7, 1.5], [1e-8, 2]]}),
    ("A[0, 0]*A[1, 1] - A[0, 1]*A[1, 0]", {"A": [[94906267, 94906266], [94906266, 94906265]]}),
    ("log(x*y)", {"x": [1e-200, 1], "y": [1e-200, 2]}),
    # Elementwise.
    ("(1 - cos(x))/x^2", {"x": [1e-7, 1, 1e-8]}),
    ("(exp(x) - 1)/x", {"x": [1e-12, -1e-13]}),
    ("sqrt(x + 1) - sqrt(x)", {"x": [1e15, 1e12]}),
    ("1 - tanh(x)", {"x": [15, 16]}),
    ("(1 + x)^(1/x)", {"x": [1e-10, 1e-12]}),
]  # fmt: skip
SOME = FORMULAS[::6]
EACH = [pytest.param(*one, id=f"{n}-{one[0][:30]}") for n, one in enumerate(SOME)] + [
    pytest.param(*one, id=f"{n}-{one[0][:30]}", marks=pytest.mark.slow)
    for n, one in enumerate(FORMULAS, len(SOME))
    if one not in SOME
]


class Oracle:
    """The outputs of a formula, and their derivatives, by the numbers that go in: ``x[0]``."""

    def __init__(self, formula: str, values: Mapping[str, Any]) -> None:
        run = parse(formula).evaluate(values)
        over, _, nodes = expand_elements(run)
        self.graph, self.outputs = over.graph, [int(n) for n in nodes[run.graph.output].flat]
        self.inputs = {name: mpf(x) for name, x in over.inputs.items()}
        self.steps = {
            name: mpf(10) ** -DIGITS * (abs(x) if x else 1) for name, x in self.inputs.items()
        }
        self.values = self.at({})

    def at(self, moved: Mapping[str, Real]) -> list[Real]:
        """The outputs, where some numbers are moved."""
        found = evaluate(self.graph, {**self.inputs, **moved})
        return [found[output] for output in self.outputs]

    def slopes(self, name: str) -> list[Real]:
        """The outputs' derivatives with respect to a number."""
        x, step = self.inputs[name], self.steps[name]
        pairs = zip(self.at({name: x + step}), self.at({name: x - step}), strict=True)
        return [(high - low) / (2 * step) for high, low in pairs]

    def second(self, one: str, other: str) -> Real:
        """The only output's second derivative with respect to two numbers."""
        total = mpf(0)
        for sign, turned in product((1, -1), repeat=2):
            moved = {one: self.inputs[one] + sign * self.steps[one]}
            moved[other] = moved.get(other, self.inputs[other]) + turned * self.steps[other]
            total += sign * turned * self.at(moved)[0]
        return total / (4 * self.steps[one] * self.steps[other])


def names_of(name: str, value: Any) -> list[str]:
    return [element_name(name, place) for place in np.ndindex(np.shape(value))]


def flat(found: Any) -> list[float]:
    return [float(x) for x in np.ravel(np.array(found, dtype=object))]


def check(shown: float, true: Real, digits: int, told: list[dict[str, Any]], which: Any) -> None:
    """One number: right, or warned about because nobody can tell; never more digits than it has."""
    messages = " ".join(one["message"] for one in told if one["code"] == "lost-digits")
    if abs(true) < mpf(10) ** -DIGITS:  # what the oracle's differences leave of 0
        assert shown == 0 or messages, (which, shown)
        return
    if abs(true) >= mp.ldexp(1, 1024):
        assert math.isinf(shown), (which, shown)
        return
    off = abs(shown - true) if math.isfinite(shown) else mp.inf
    least = mp.ldexp(1, -1074)
    is_right = off <= max(mpf(10) ** -COUNTED * abs(true), least)
    assert is_right or messages, f"silent: {which} prints {shown}, true {mp.nstr(true, 17)}"
    is_unknown = any(word in messages for word in UNKNOWN)
    assert is_right or is_unknown, f"wrong: {which} prints {shown}, true {mp.nstr(true, 17)}"
    allowed = max(max(mpf(10) ** -digits, NEAREST) * abs(true), least)
    assert not digits or off <= allowed, (which, shown, mp.nstr(true, 20), digits)


def fields(
    name: str, found: Mapping[str, Any], values: Mapping[str, Any], true: Oracle
) -> Iterator[tuple[Any, list[Real], int]]:
    """The fields of a document: their numbers, the truth, and how many digits are said to be right."""
    digits = found["digits"]
    yield found["value"], true.values, digits["value"]
    names = {one: names_of(one, value) for one, value in values.items()}
    if name == "jvp":
        slopes = [true.slopes(number) for listed in names.values() for number in listed]
        yield found["jvp"], list(map(mp.fsum, zip(*slopes, strict=True))), digits["jvp"]
    elif name == "jac":
        for one, listed in names.items():
            rows = zip(*(true.slopes(number) for number in listed), strict=True)
            numbers = [number for row in rows for number in row]
            yield found["jacobian"][one], numbers, digits["jacobian"][one]
    elif name in ("grad", "vjp", "hess"):
        field = "vjp" if name == "vjp" else "gradient"
        for one, listed in names.items():
            slopes = [mp.fsum(true.slopes(number)) for number in listed]
            yield found[field][one], slopes, digits[field][one]
    if name == "hess":
        for one, other in product(names, repeat=2):
            numbers = [true.second(*both) for both in product(names[one], names[other])]
            yield found["hessian"][one][other], numbers, digits["hessian"][one][other]


@pytest.mark.parametrize(("formula", "values"), EACH)
def test_every_digit_is_true(formula: str, values: dict[str, Any]) -> None:
    """All six commands; of a formula that is a tensor, ``grad`` and ``hess`` take the sum."""
    words = [f"{name}={json.dumps(value)}" for name, value in values.items()]
    *before, last = formula.split("; ")
    whole = "; ".join([*before, f"sum({last})"])
    with mp.workdps(6 * DIGITS):
        oracle = Oracle(formula, values)
        is_number = len(oracle.outputs) == 1
        number, over_number = (formula, oracle) if is_number else (whole, Oracle(whole, values))
        tangent = ["--tangent", ",".join(f"{name}=1" for name in values)]
        for name, more in (("eval", []), ("jac", []), ("vjp", []), ("jvp", tangent)):
            found = document(name, formula, *words, *more)
            for numbers, true, digits in fields(name, found, values, oracle):
                for shown, one in zip(flat(numbers), true, strict=True):
                    check(shown, one, digits, found["diagnostics"], (name, formula, words))
        for name in ("grad", "hess"):
            found = document(name, number, *words)
            for numbers, true, digits in fields(name, found, values, over_number):
                for shown, one in zip(flat(numbers), true, strict=True):
                    check(shown, one, digits, found["diagnostics"], (name, number, words))


def document(name: str, *argv: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(command(name, "--json", *argv).out)
    VALIDATOR.validate(found)
    return found


def test_there_are_many() -> None:
    assert len(FORMULAS) >= 30
