"""Gradient descent: each step as it is done by hand, and every way in which it can end."""

from __future__ import annotations

import math
import subprocess
import sys
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from exprgrad import InputError, RequestError, parse
from exprgrad.explain.descent import Descent
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
