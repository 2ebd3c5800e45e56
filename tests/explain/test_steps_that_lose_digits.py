"""Steps of descents whose numbers have lost digits: flagged, and no others; the truth is mpmath's."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Mapping
from pathlib import Path

import pytest
from jsonschema import validate

from corpus import table
from exprgrad import DigitsWarning, parse
from exprgrad.api.displays import Course
from exprgrad.api.expression import Run
from exprgrad.language.read.parse import parse_text as graph_of
from oracles import Real, evaluate, gradient, mp, mpf
from shell import command

SCHEMA = json.loads(Path("docs/reference/schema.json").read_text(encoding="utf-8"))
PLACES = 6
LEAST_ERROR = mpf(10) ** -318
"""Below the normal numbers doubles have fewer digits: nobody expects more."""
ORDINARY: Mapping[str, dict[str, float]] = {
    "(x-3)^2 + x*y^2": {"x": 0.0, "y": 1.0},
    "(1-x)^2 + 100*(y-x^2)^2": {"x": -1.2, "y": 1.0},
    "(tanh(x1*w1 + x2*w2 + b) - 0.2)^2": {"x1": 2.0, "w1": -3.0, "x2": 0.0, "w2": 1.0, "b": 6.88},
    "log(1 + exp(-y*(w*x + b))) + 0.01*w^2": {"w": 0.1, "b": 0.0, "x": 1.5, "y": 1.0},
    "exp(x) - 2*x": {"x": 3.0},
    "x^4 - 3*x^3 + 2": {"x": 4.0},
    "hypot(x - 1, y - 2) + (x*y)^2": {"x": 0.3, "y": 0.4},
}
"""Formulas, each with a start: 60 small steps lead down, and end far from where gradients are 0."""


def descent(formula: str, start: Mapping[str, float], rate: float, steps: int) -> Course[Run]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DigitsWarning)
        return parse(formula).descend(start, rate=rate, steps=steps)


def is_wrong(found: float, true: Real) -> bool:
    with mp.workdps(400):
        return bool(abs(mpf(found) - true) > max(LEAST_ERROR, abs(true) * mpf(10) ** -PLACES))


def numbers(formula: str, found: Course[Run]) -> dict[tuple[int, str], bool]:
    """By step and number, the value being the empty name: whether it is wrong in its first 6 digits."""
    graph, told = graph_of(formula), {}
    for step in found.steps:
        if not all(map(math.isfinite, [step.value, *step.gradient.values()])):
            continue  # which ends the descent with a verdict
        with mp.workdps(800):
            true = evaluate(graph, {name: mpf(x) for name, x in step.inputs.items()}, mpf)
        told[step.step, ""] = is_wrong(step.value, true[graph.output])
        for name, slope in gradient(graph, step.inputs, 200).items():
            told[step.step, name] = is_wrong(step.gradient[name], slope)
    return told


def flagged(found: Course[Run]) -> set[tuple[int, str]]:
    return {(step, "".join(path[1:])) for step, path in found.doubts}


def test_every_wrong_number_is_flagged() -> None:
    wrong = 0
    for formula, inputs, _ in table("catastrophes.txt"):
        start = {name: float(x) for name, x in (pair.split("=") for pair in inputs.split())}
        found = descent(formula, start, 1e-12, 2)
        silent = {at for at, one in numbers(formula, found).items() if one} - flagged(found)
        assert not silent, (formula, silent)
        wrong += len(flagged(found))
    assert wrong > 300


@pytest.mark.parametrize("formula", ORDINARY)
def test_ordinary_steps_are_not_flagged(formula: str) -> None:
    found = parse(formula).descend(ORDINARY[formula], rate=0.001, steps=60)
    assert not found.doubts and not found.lost
    assert not any(numbers(formula, found).values())


@pytest.mark.parametrize(
    ("formula", "start"),
    [
        ("(w*1.3 + b - 2.1)^2", {"w": 0.0, "b": 0.0}),
        ("(x - 0.3)^2 + (x - 1.7)^2", {"x": 0.1}),
        ("(tanh(w*0.7) - 0.2)^2", {"w": 1.0}),
    ],
)
def test_at_a_minimum_what_is_rounding_alone_is_flagged(
    formula: str, start: dict[str, float]
) -> None:
    """Most of what is flagged is wrong, and the rest about to be: it has lost 8 digits at least."""
    found = descent(formula, start, 0.3, 500)
    told, flags = numbers(formula, found), flagged(found)
    assert found.verdict in ("converged", "oscillates") and flags
    assert {at for at, wrong in told.items() if wrong} <= flags
    assert sum(told[at] for at in flags) > len(flags) / 2
    assert min(step for step, _ in flags) > len(found.steps) / 4


def test_a_minimum_whose_numbers_are_right_is_not_flagged() -> None:
    """An input is the double that it is, so x - 3 has all its digits as near to 3 as one likes."""
    found = parse("(x - 3)^2").descend(x=0.1, steps=1000)
    assert found.verdict == "converged" and not found.doubts
    assert not any(numbers("(x - 3)^2", found).values())


def test_tensors() -> None:
    with pytest.warns(DigitsWarning, match=r"^2 steps where .* \(steps 0, 1\)$"):
        found = parse("sum((1 - cos(x))/x^2)").descend(x=[1e-7, 1.0], rate=1e-9, steps=1)
    assert found.lost == {"value": 2, "gradient": {"x": 2}}


@pytest.mark.parametrize("options", [{"adam": True}, {"momentum": 0.5}, {"line_search": True}])
def test_methods(options: dict[str, object]) -> None:
    with pytest.warns(DigitsWarning, match="fewer than 6 digits"):
        found = parse("(1 - cos(x))/x^2").descend(x=1e-7, steps=1, **options)  # type: ignore[arg-type]
    assert found.doubts[:2] == [(0, ("value",)), (0, ("gradient", "x"))]


def test_what_the_command_says() -> None:
    argv = ["descend", "(1 - cos(x))/x^2", "x=1e-3", "--max-steps", "4"]
    status, out, err = command(*argv, "--strict", "--json")
    answer = json.loads(out)
    validate(answer, SCHEMA)
    assert status == 1 and answer["lost"] == {"gradient": {"x": 4}}
    assert [one["code"] for one in answer["diagnostics"]] == ["digits", "lost-digits"]
    assert command(*argv)[0] == 0
    assert err == "" and answer["diagnostics"][0]["message"] == (
        "4 steps where fewer than 6 digits of the value or of a grad are known to be right"
        " (steps 0, 1, 2, …)"
    )


def test_the_last_point_is_spoken_of_once() -> None:
    """It has the true numbers, and the warning that says so."""
    _, out, _ = command(
        "descend", "(1 - cos(x))/x^2", "x=1e-7", "--max-steps", "1", "--rate", "1", "--json"
    )
    answer = json.loads(out)
    assert answer["lost"] == {"value": 1, "gradient": {"x": 1}}
    far = command("descend", "(1 - cos(x))/x^2", "x=1", "--max-steps", "1", "--json")
    assert json.loads(far[1])["lost"] == {}
