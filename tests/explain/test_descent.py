"""Gradient descent: each step as it is done by hand, and every way in which it can end."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from exprgrad import InputError, RequestError, parse
from exprgrad.explain.descent import (
    Descent,
    add_values,
    has_same_numbers,
    nonfinite_word,
    scale_value,
    vector_length,
)
from programs import require
from strategies import everyday, smooth
from together import together

TOO_SMALL = "the step is too small to change the inputs in doubles"
BACK_AND_FORTH = "from step 0 on it goes back and forth between two points"


def runaway(verb: str, count: int) -> str:
    return f"the value {verb} at each of the last {count} steps, ever faster: try a smaller rate"


def test_by_hand() -> None:
    """Halves and quarters, so that nothing is rounded: x - 1/4*2*(x - 3)."""
    found = parse("(x - 3)^2").descend(x=0, rate=0.25, steps=10)
    x = Fraction(0)
    for number, step in enumerate(found.steps):
        slope = 2 * (x - 3)
        assert step.step == number and step.value == float((x - 3) ** 2)
        assert (step.inputs, step.gradient) == ({"x": x}, {"x": slope})
        assert step.update == (None if number == 10 else {"x": -slope / 4})
        x -= slope / 4
    assert (found.verdict, len(found.steps)) == ("steps", 11)
    assert found.message == "not converged after 10 steps"
    assert found.inputs == found.steps[-1].inputs and found.run.value == found.steps[-1].value


def test_pytorch_goes_the_same_way() -> None:
    """Along its own gradients, at points where nothing is rounded."""
    require("torch")
    import torch

    found = parse("(x - 3)^2 + x*y^2").descend(x=0, y=1, rate=0.125, steps=4)
    x, y = (torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in (0.0, 1.0))
    for step in found.steps:
        x.grad = y.grad = None
        loss = (x - 3) ** 2 + x * y**2
        loss.backward()
        theirs = [float(v.detach()) for v in (loss, x, y)]
        assert [step.value, *step.inputs.values()] == theirs
        assert [*step.gradient.values()] == [float(x.grad), float(y.grad)]
        with torch.no_grad():
            x -= 0.125 * x.grad
            y -= 0.125 * y.grad


@pytest.mark.filterwarnings("ignore::exprgrad.DigitsWarning")
@settings(max_examples=60)
@given(smooth(), everyday, st.sampled_from((0.1, -0.01, 1.0, 1e-9)))
def test_each_step_follows_from_the_one_before(text: str, x: float, rate: float) -> None:
    formula = parse(text)
    assume(formula.inputs)
    found = formula.descend(dict.fromkeys(formula.inputs, x), rate=rate, steps=8)
    assert [step.step for step in found.steps] == list(range(len(found.steps)))
    for step, following in zip(found.steps, found.steps[1:], strict=False):
        run = formula.gradient(step.inputs)
        assert (step.value, step.gradient) == (run.value, run.gradient)
        assert step.update == {name: -rate * grad for name, grad in run.gradient.items()}
        moved = {name: value + step.update[name] for name, value in step.inputs.items()}
        assert following.inputs == moved != step.inputs
    numbers = [step.value for step in found.steps[:-1]]
    assert all(map(math.isfinite, numbers)) and found.steps[-1].update is None
    assert (found.verdict == "steps") <= (len(found.steps) == 9)


@together([
        ("(x-3)^2", {"x": 0}, {"rate": 0.5}, "converged", "at step 1 the gradient is 0"),
        ("round(x)", {"x": 1}, {}, "converged", "at step 0 the gradient is 0"),
        (
            "x", {"x": 1}, {"rate": 1e-17}, "stalled",
            f"at step 0 {TOO_SMALL}, though the gradient's norm is 1: try a larger rate",
        ),
        (
            "sum((x - 3)^2)", {"x": [1, 3, 5]}, {"rate": -1e-300}, "stalled",
            f"at step 0 {TOO_SMALL}, though the gradient's norm is 5.66: try a larger rate",
        ),
        ("(x - 3)^2", {"x": 1}, {"steps": 500}, "converged", f"at step 158 {TOO_SMALL}"),
        ("x^2", {"x": 3}, {"rate": 1}, "oscillates", BACK_AND_FORTH),
        ("abs(x)", {"x": 0.25}, {"rate": 0.5}, "oscillates", BACK_AND_FORTH),
        ("x^2", {"x": 3}, {"rate": 2}, "diverged", runaway("rose", 5)),
        ("x^2", {"x": 3}, {"rate": 2, "steps": 3}, "diverged", runaway("rose", 3)),
        ("x^2", {"x": 3}, {"rate": 2, "steps": 2}, "steps", "not converged after 2 steps"),
        ("-x^2", {"x": 3}, {"rate": -2}, "diverged", runaway("fell", 5)),
        ("-x^2", {"x": 3}, {"rate": 2}, "steps", "not converged after 20 steps"),
        ("x^2", {"x": 3}, {"rate": 1e200}, "diverged", "at step 1 the value is infinite"),
        ("x^2", {"x": 1e150}, {"rate": 1e300}, "diverged", "at step 1 input x is infinite"),
        ("sqrt(x)", {"x": 0}, {}, "diverged", "at step 0 the grad of x is infinite"),
        ("log(x)", {"x": 0.05}, {}, "nan", "at step 1 the value is nan"),
        ("x*y", {"x": math.nan, "y": 1}, {}, "nan", "at step 0 input x is nan"),
        ("x*y", {"x": math.nan, "y": 1}, {"wrt": "y"}, "nan", "at step 0 the value is nan"),
        ("0*sqrt(x)", {"x": 0}, {}, "nan", "at step 0 the grad of x is nan"),
        ("sum(x^2)", {"x": [3, 4]}, {"rate": 0.5}, "converged", "at step 1 the gradient is 0"),
        ("sum(x^2)", {"x": [3, 4]}, {"rate": 1}, "oscillates", BACK_AND_FORTH),
        ("sum(log(x))", {"x": [1, 0.05]}, {}, "nan", "at step 1 the value is nan"),
        ("sum(x)^2", {"x": [1e200, 1]}, {}, "diverged", "at step 0 the value is infinite"),
    ])  # fmt: skip
def test_how_it_ends(
    text: str, at: dict[str, Any], options: dict[str, Any], verdict: str, message: str
) -> None:
    found: Descent[Any] = parse(text).descend(at, **options)
    assert (found.verdict, found.message) == (verdict, message)


def test_a_negative_rate_climbs() -> None:
    down = parse("(x - 3)^2").descend(x=0, rate=0.25)
    up = parse("-(x - 3)^2").descend(x=0, rate=-0.25)
    assert [step.inputs for step in up.steps] == [step.inputs for step in down.steps]
    assert up.verdict == down.verdict


def test_a_point_at_rest_in_doubles_is_found() -> None:
    """Close to the minimum the step is lost in rounding, and so it ends before its steps do."""
    found = parse("(x - 3)^2").descend(x=0, steps=10_000)
    assert found.verdict == "converged" and len(found.steps) < 1000
    last = found.steps[-1]
    assert last.inputs["x"] - 0.1 * last.gradient["x"] == last.inputs["x"] != 3


def test_what_is_not_moved_stays() -> None:
    found = parse("(x - a)^2").descend({"x": 0, "a": 2}, wrt=["x"], rate=0.25, steps=1)
    assert found.inputs == {"x": 1} and found.steps[0].gradient == {"x": -4}
    assert found.run.inputs == {"x": 1, "a": 2}


def test_tensors_move() -> None:
    found = parse("sum((X @ w - y)^2)").descend(
        X=[[1, 2], [3, 4]], w=[0, 0], y=[1, 2], wrt="w", rate=0.125, steps=2
    )
    first = found.steps[0]
    assert first.gradient["w"].tolist() == [-14, -20]  # 2*X.T @ (0 - y)
    assert first.update is not None and first.update["w"].tolist() == [1.75, 2.5]
    assert found.steps[1].inputs["w"].tolist() == [1.75, 2.5]


@pytest.mark.parametrize(
    ("text", "options", "error"),
    [
        ("x", {"rate": 0}, RequestError),
        ("x", {"rate": math.inf}, RequestError),
        ("x", {"rate": "x"}, InputError),
        ("x", {"rate": [1]}, InputError),
        ("x", {"steps": 0}, RequestError),
        ("x", {"steps": 100_001}, RequestError),
        ("x", {"wrt": "y"}, InputError),
        ("2", {}, InputError),
    ],
)
def test_refusals(text: str, options: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        parse(text).descend({"x": 1} if text == "x" else {}, **options)


def test_numbers_need_no_numpy() -> None:
    code = (
        "import sys, exprgrad; d = exprgrad.parse('x^2').descend(x=1, rate='1/4'); "
        "assert d.run.value < 1e-10 and 'numpy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


VALLEY = "(1-x)^2 + 100*(y-x^2)^2"
START = {"x": -1.2, "y": 1.0}


def optimizer_steps(kind: str, steps: int, rate: float, **options: Any) -> list[list[float]]:
    """The points that PyTorch's optimizer comes to."""
    import torch

    x, y = (torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in START.values())
    optimizer = getattr(torch.optim, kind)([x, y], lr=rate, **options)
    points = []
    for _ in range(steps + 1):
        points.append([x.item(), y.item()])
        optimizer.zero_grad()
        ((1 - x) ** 2 + 100 * (y - x**2) ** 2).backward()
        optimizer.step()
    return points


@pytest.mark.parametrize(
    ("kind", "theirs", "ours"),
    [
        ("SGD", {"momentum": 0.9}, {"momentum": 0.9}),
        ("SGD", {"momentum": 0.5}, {"momentum": 0.5}),
        ("Adam", {}, {"adam": True}),
    ],
)
def test_methods_are_pytorch_s(kind: str, theirs: dict[str, Any], ours: dict[str, Any]) -> None:
    """A hundred steps, to what rounding does over them."""
    require("torch")
    found = parse(VALLEY).descend(START, rate=1e-3, steps=100, **ours)
    points = [[*step.inputs.values()] for step in found.steps]
    for point, other in zip(points, optimizer_steps(kind, 100, 1e-3, **theirs), strict=True):
        assert point == pytest.approx(other, rel=1e-11)


def test_momentum_is_a_running_sum() -> None:
    """The velocity is B times the last one and the gradient."""
    found = parse(VALLEY).descend(START, rate=1e-3, momentum=0.75, steps=30)
    velocity = {"x": 0.0, "y": 0.0}
    for step in found.steps[:-1]:
        velocity = {name: 0.75 * velocity[name] + step.gradient[name] for name in velocity}
        assert step.update == pytest.approx({name: -1e-3 * v for name, v in velocity.items()})


def test_adam_is_that_of_the_paper() -> None:
    """Means and squares, each over what it lacks at first: Kingma and Ba, algorithm 1."""
    found = parse("sum((x - [1, 2])^2*[1, 50])").descend(x=[5, -4], adam=True, steps=40)
    mean, square = np.zeros(2), np.zeros(2)
    for t, step in enumerate(found.steps[:-1], 1):
        mean = 0.9 * mean + 0.1 * step.gradient["x"]
        square = 0.999 * square + 0.001 * step.gradient["x"] ** 2
        first, second = mean / (1 - 0.9**t), square / (1 - 0.999**t)
        assert step.update is not None
        np.testing.assert_allclose(step.update["x"], -0.1 * first / (np.sqrt(second) + 1e-8))


@pytest.mark.parametrize("rate", [1.0, 0.3, -1.0])
def test_line_search_falls_by_armijo_s_condition(rate: float) -> None:
    """Each step is the rate halved so often; the one twice as long would not have done."""
    sign = 1 if rate > 0 else -1
    f = parse(VALLEY if sign > 0 else f"-({VALLEY})")
    found = f.descend(START, rate=rate, line_search=True, steps=50)
    for step, following in itertools.pairwise(found.steps):
        assert step.update is not None
        size = -step.update["x"] / step.gradient["x"]
        halvings = math.log2(rate / size)
        assert halvings == pytest.approx(round(halvings), abs=1e-9) and round(halvings) >= 0
        slope = math.hypot(*step.gradient.values()) ** 2

        doubled = {n: v - 2 * size * step.gradient[n] for n, v in step.inputs.items()}
        least = 1e-4 * abs(size) * slope
        assert sign * (following.value - step.value) <= -least
        assert round(halvings) == 0 or sign * (f(doubled) - step.value) > -2 * least


@pytest.mark.parametrize(
    ("text", "at", "options", "verdict", "message"),
    [
        ("(x-3)^2", {"x": 0}, {"line_search": True}, "converged", "at step 1 the gradient is 0"),
        ("(x-3)^2 + 5", {"x": 0}, {"line_search": True, "steps": 100}, "converged", ""),
        ("exp(x) - 3*x", {"x": 0}, {"line_search": True, "steps": 100}, "converged", "in doubles"),
        (
            "abs(x) + y/10",
            {"x": 1e-20, "y": 1},
            {"line_search": True},
            "stalled",
            "is this a kink?",
        ),
        (
            "max(x, -2*x)",
            {"x": 0.1},
            {"line_search": True, "rate": 1 / 7},
            "steps",
            "not converged",
        ),
        ("log(x) + x^2", {"x": 0.5}, {"line_search": True, "steps": 5}, "steps", "not converged"),
        ("x^2", {"x": 3}, {"momentum": 0.5, "rate": 3}, "diverged", "ever faster"),
        ("x^2", {"x": 3}, {"momentum": 0.9, "steps": 6}, "steps", "not converged"),
        ("(x-3)^2", {"x": 3}, {"momentum": 0.9}, "converged", "at step 0 the gradient is 0"),
        ("(x-3)^2", {"x": 0}, {"adam": True, "steps": 2000}, "converged", "too small"),
        ("x^2", {"x": 3}, {"adam": True, "rate": 1e200}, "diverged", "the value is infinite"),
        ("log(x)", {"x": 0.05}, {"adam": True}, "nan", "the value is nan"),
        ("sum(x^2)", {"x": [3, 4]}, {"momentum": 0.5, "rate": 1e200}, "diverged", "infinite"),
    ],
)
def test_how_other_methods_end(
    text: str, at: dict[str, Any], options: dict[str, Any], verdict: str, message: str
) -> None:
    """As plain descent does, but that a point met again is no end for what has a memory."""
    found: Descent[Any] = parse(text).descend(at, **options)
    assert found.verdict == verdict, found.message
    assert message in found.message


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"momentum": 1}, "momentum of 1 is not"),
        ({"momentum": -0.1}, "momentum of -0.1 is not"),
        ({"momentum": math.nan}, "momentum of nan is not"),
        ({"momentum": 0.9, "adam": True}, "momentum and adam cannot be combined"),
        ({"adam": True, "line_search": True}, "adam and line_search cannot be combined"),
    ],
)
def test_wrong_methods(options: dict[str, Any], message: str) -> None:
    """One method, and a momentum below 1."""
    with pytest.raises(RequestError, match=message):
        parse("x^2").descend(x=1, **options)


def test_updates_of_numbers() -> None:
    assert scale_value(1e300, 1e300) == math.inf and math.copysign(1, scale_value(0.0, -1.0)) == 1
    assert add_values(1.0, 0.5) == 1.5 and vector_length(-3.0) == 3.0
    assert has_same_numbers(0.0, -0.0) and not has_same_numbers(1.0, math.nextafter(1.0, 2.0))
    assert [nonfinite_word(x) for x in (1.0, math.nan, -math.inf)] == ["", "nan", "infinite"]


def test_updates_of_tensors() -> None:
    x = np.array([3.0, -4.0])
    assert scale_value(x, -2.0).tolist() == [-6, 8] and add_values(x, x).tolist() == [6, -8]
    assert vector_length(x) == 5.0
    assert has_same_numbers(x, x + 0.0) and not has_same_numbers(x, np.array([3.0, 4.0]))
    assert nonfinite_word(np.array([1.0, math.nan])) == "nan"
    assert nonfinite_word(np.array([1.0, -math.inf])) == "infinite" and nonfinite_word(x) == ""
