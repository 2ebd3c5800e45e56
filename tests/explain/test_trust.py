"""Trusted digits: what is said of each number, which node is blamed, and the mends that are suggested."""

from __future__ import annotations

import builtins
import importlib
import inspect
import math
import pkgutil
import re
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest

from exprgrad import parse
from exprgrad.errors import MissingExtraError, RequestError, install_command
from exprgrad.explain import digits
from exprgrad.explain.digits.trust import TrustedNumber, measure_trust
from exprgrad.run.balls import balls
from exprgrad.run.evaluation import SweptRun
from oracles import evaluate, mp, mpf
from strategies import FREQUENT, double, tree


def test_the_map_of_the_room_names_its_classes() -> None:
    """Every class of the room is on the map, and what the map names is there: 15 concepts at most."""
    listed = re.findall(r"^``(\w+)\.(\w+)``", digits.__doc__ or "", re.MULTILINE)
    assert 0 < len(listed) <= 15
    classes = set()
    for module in pkgutil.iter_modules(digits.__path__):
        room = importlib.import_module(f"{digits.__name__}.{module.name}")
        own = inspect.getmembers(room, inspect.isclass)
        classes |= {name for name, one in own if one.__module__ == room.__name__}
        named = [name for place, name in listed if place == module.name]
        assert named and all(hasattr(room, name) for name in named), module.name
    assert classes <= {name for _, name in listed}


def number(formula: str, name: str = "", **values: float) -> TrustedNumber:
    """One number of a formula at a point: its value, or the derivative by an input."""
    found = parse(formula).gradient(values).trust()
    return found.gradient[name] if name else found.value


@pytest.mark.parametrize(
    ("formula", "values", "verdict", "digits"),
    [
        ("a*b", {"a": 2, "b": 3}, "exact", 17),
        ("x", {"x": 0.1}, "exact", 17),
        ("x - x", {"x": 0.1}, "exact", 17),
        ("x*0.1", {"x": 3}, "rounded", 16),  # 0.30000000000000004 is 0.3000000000000000166…
        ("sqrt(x)", {"x": 2}, "rounded", 16),
        ("pi*x", {"x": 1}, "rounded", 16),
        ("log(1 + x)", {"x": 1e-10}, "right", 7),
        ("1 - cos(x)", {"x": 1e-8}, "wrong", 0),
        ("floor(x*10)", {"x": 0.3}, "wrong", 0),  # the double 0.3 is below 3/10
        ("exp(x)", {"x": 1000}, "overflow", 0),
        ("-exp(x)", {"x": 1000}, "overflow", 0),
        ("exp(x)", {"x": -1000}, "underflow", 0),
        ("x/2", {"x": 5e-324}, "underflow", 0),
        ("sqrt(2)^2 - 2 + 0*x", {"x": 1}, "zero", 0),
        ("sin(pi) + 0*x", {"x": 1}, "zero", 0),
        ("1/x", {"x": 0}, "pole", 17),
        ("log(x)", {"x": -1}, "undefined", 0),
        ("exp(exp(exp(x)))", {"x": 100}, "undecided", 0),
        ("exp(x)/(1 + exp(x))", {"x": 1000}, "wrong", 0),
    ],
)
def test_verdicts(formula: str, values: dict[str, float], verdict: str, digits: int) -> None:
    """Of values, worked out by hand; of so many digits exactly."""
    found = number(formula, "", **values)
    assert (found.verdict, found.digits) == (verdict, digits), found
    assert found.exact == (verdict == "exact")


@pytest.mark.parametrize(
    ("formula", "name", "values", "text", "why", "better"),
    [
        ("1 - cos(x)", "", {"x": 1e-8}, "1 - cos(x)", "nearly equal", "2*sin(x/2)^2"),
        ("erf2(x, y)", "", {"x": 5.5, "y": 6}, "erf2(x, y)", "nearly equal", "erfc(x) - erfc(y)"),
        ("log(1+x)", "", {"x": 1e-10}, "log(1+x)", "near its zero", "log1p(x)"),
        ("y = 3*log(1+x)", "", {"x": 1e-10}, "log(1+x)", "near its zero", "log1p(x)"),
        (
            "sqrt(x+1) - sqrt(x)", "", {"x": 1e15}, "sqrt(x+1) - sqrt(x)", "nearly equal",
            "1/(sqrt(x + 1) + sqrt(x))",
        ),
        ("sqrt(x+1) - sqrt(x)", "x", {"x": 1e15}, "x", "contributions", "1/(sqrt(x + 1) + sqrt(x))"),
        ("x^2 - y^2", "", {"x": 1e8 + 1, "y": 1e8}, "x^2 - y^2", "nearly equal", "(x - y)*(x + y)"),
        ("a + b*c - d", "", {"a": 1e16, "b": 3, "c": 0.1, "d": 1e16}, "a + b*c - d", "equal", None),
        ("sin(x*y)", "", {"x": 1e10, "y": 1e6 + 0.1}, "sin(x*y)", "large number", None),
        ("sin(x*y)", "x", {"x": 1e10, "y": 1e6 + 0.1}, "sin(x*y)", "local derivative", None),
        ("exp(x*y)", "", {"x": 7.1, "y": 99.9}, "exp(x*y)", "large number", None),
        ("exp(x)/(1+exp(x))", "", {"x": 1000}, "exp(x)", "inf in doubles", "sigmoid(x)"),
        ("exp(x)/(1+exp(x))", "x", {"x": 1000}, "exp(x)", "inf in doubles", "sigmoid(x)"),
        ("floor(x*10)", "", {"x": 0.3}, "floor(x*10)", "other side", None),
        ("(1 - cos(x))/x^2", "", {"x": 1e-8}, "1 - cos(x)", "nearly equal", "sinc(x/2)^2/2"),
        ("acos(1 - x*x)", "", {"x": 1e-7}, "acos(1 - x*x)", "relative error", "2*asin(sqrt(x*x/2))"),
    ],
)  # fmt: skip
def test_where_digits_are_lost(
    formula: str, name: str, values: dict[str, float], text: str, why: str, better: str | None
) -> None:
    """The blamed piece of the text, the reason, and the mend, if one is known that helps here."""
    found = number(formula, name, **values)
    assert found.lost is not None, found
    assert formula[slice(*found.lost.span)] == text
    assert why in found.lost.why
    assert found.lost.before > found.lost.after
    assert (None if found.rewrite is None else found.rewrite.text) == better
    if found.rewrite is not None:
        again = parse(found.rewrite.expression).gradient(values)
        assert found.rewrite.value == (again.gradient[name] if name else again.value)
        assert found.rewrite.digits > found.digits or found.rewrite.verdict == "underflow"


def test_a_mend_that_does_not_help_here_is_not_suggested() -> None:
    """At x = 1 nothing is lost; at the other, cos(x) is so near 1 only by chance of the operands."""
    assert number("1 - cos(x)", x=1).rewrite is None
    assert number("log(1 + x)", x=3).lost is None
    found = number("1 - cos(x*y)", x=1e10, y=1e6 + 0.1)
    assert found.rewrite is None or found.rewrite.digits > found.digits


def test_a_mend_of_another_value_is_not_suggested(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the table of mends says, the enclosures of both formulas must meet."""
    from exprgrad.explain.rewriting import rewrites

    wrong = rewrites.Rewrite("1 - cos(x)", "sin(x)^2/3", "made up", "x=1e-8")
    real = rewrites.rewrites_at_node
    monkeypatch.setattr(
        rewrites, "rewrites_at_node", lambda graph, texts, node: real(graph, texts, node, (wrong,))
    )
    found = number("1 - cos(x)", x=1e-8)
    assert found.lost is not None and found.rewrite is None


@pytest.mark.parametrize(
    ("wrong", "formula", "point"),
    [
        (None, "3*(atan((x^2)/(x+y)))", {"x": -4.000422584547124, "y": 2.0}),
        (
            ("atan(y/x)", "atan2(y, x)", ""),
            "3*(atan((x^2)/(x+y)))",
            {"x": -4.000422584547124, "y": 2.0},
        ),
        (("1 - cos(x)", "2*sin(x/2)^2", "x > 1"), "(1 - cos(x))^2", {"x": 1e-8}),
    ],
)
def test_a_mend_that_is_true_elsewhere_is_not_suggested(
    monkeypatch: pytest.MonkeyPatch,
    wrong: tuple[str, str, str] | None,
    formula: str,
    point: dict[str, float],
) -> None:
    """Left of 0, atan(y/x) and atan2(y, x) have one derivative and two values."""
    from exprgrad.explain.rewriting import rewrites

    real = rewrites.rewrites_at_node
    if wrong is not None:
        made = rewrites.Rewrite(wrong[0], wrong[1], "made up", "x=1", wrong[2])
        monkeypatch.setattr(
            rewrites,
            "rewrites_at_node",
            lambda graph, texts, node: real(graph, texts, node, (made,)),
        )
    found = number(formula, "x", **point)
    assert found.lost is not None and found.rewrite is None


def test_a_mend_that_gives_a_zero_where_the_truth_is_one_is_suggested() -> None:
    """At 715 the derivative of tanh is below 1e-600, and 0 is the double nearest to it."""
    found = number("sinh(x)/cosh(x) + y", "x", x=715, y=0.25)
    assert math.isnan(found.value) and found.rewrite is not None
    assert (found.rewrite.text, found.rewrite.value) == ("tanh(x)", 0.0)
    assert found.rewrite.verdict == "zero"


def test_rounding_alone_is_no_loss() -> None:
    text = " + ".join(f"sin({k}*x)*exp(-{k})" for k in range(1, 40))
    found = parse(text).gradient(x=1.3).trust()
    for _, one in found.numbers():
        assert one.digits >= 13 and one.lost is None


def test_enclosures_are_decimal_texts() -> None:
    found = number("exp(x)", x=1000)
    assert found.low is not None and found.high is not None and found.true is not None
    with mp.workdps(40):
        assert mpf(found.low) < mp.exp(1000) < mpf(found.high)
        assert abs(mpf(found.true) / mp.exp(1000) - 1) < mpf(10) ** -16
    assert number("x*0.1", x=3).true == "0.30000000000000002"
    assert number("1/x", x=0).true == "inf"
    assert number("log(x)", x=-1).low is None


def test_a_kink_is_a_convention() -> None:
    found = number("relu(x)", "x", x=0)
    assert found.convention and found.exact and found.value == 0
    found = number("x*2 + relu(y)", "x", x=1, y=0)
    assert not found.convention and found.exact


def test_an_infinite_local_derivative_is_no_convention() -> None:
    """The derivative of sin(asin(x)) is 1 everywhere; the chain rule has 0 times infinity at 1."""
    found = number("sin(asin(x))", "x", x=1)
    assert found.verdict == "undecided" and not found.convention and found.true is None
    assert number("sin(asin(x)) + abs(y)", "y", x=1, y=0).convention


def test_a_corrected_derivative_is_not_measured() -> None:
    found = number("relu(x) - relu(-x)", "x", x=0)
    assert (found.value, found.verdict, found.exact, found.low) == (1.0, "corrected", False, None)


def test_numbers_that_are_poor() -> None:
    """What --strict minds: fewer than 8 digits, unless no double does better."""
    poor = {"log(1 + x)": 1e-10, "1 - cos(x)": 1e-8, "sqrt(2)^2 - 2 + 0*x": 1.0}
    fine = {"log(1 + x)": 1e-5, "exp(x)": -1000.0, "x/3": 1e-320, "sqrt(4)^2 - 4 + 0*x": 1.0}
    assert all(number(formula, x=x).is_poor for formula, x in poor.items())
    assert not any(number(formula, x=x).is_poor for formula, x in fine.items())


def test_inputs_that_are_not_finite() -> None:
    assert number("tanh(x)", x=math.inf).exact
    assert number("x + 1", x=math.inf).verdict == "pole"
    assert number("x + 1", x=math.nan).verdict == "undefined"


@pytest.mark.parametrize(
    "formula",
    [
        "sin(x) + (nan) % 2",
        "x % 2 + nan",
        "clamp(x, nan, 2)",
        "where(x > 0, nan, x)",
        "floor(log(-x))",
    ],
)
def test_what_has_no_value_has_no_derivative(formula: str) -> None:
    """No digits are claimed of it, in a gradient or in matrices; nor is nan corrected to a number."""
    run = parse(formula).gradient(x=0.7)
    assert run.digits == {"value": 0, "gradient": {"x": 0}}
    assert (run.trust().gradient["x"].verdict, run.corrected) == ("undefined", {})
    told = [diagnostic.code for diagnostic in run.diagnostics]
    assert told == ["nan"]


def test_only_the_chosen_inputs() -> None:
    run = parse("a*b + c").gradient(a=1, b=2, c=3, wrt=["b"])
    assert list(run.trust().gradient) == ["b"]
    assert parse("a*b").evaluate(a=1, b=2).trust().gradient == {}


def test_the_library_twin() -> None:
    run = parse("log(1 + x)").gradient(x=1e-10)
    assert run.trust() == measure_trust(run, run.gradient, run.one_sided)
    assert [name for name, _ in run.trust().numbers()] == ["", "x"]


def test_tensors_are_written_out() -> None:
    """What is said of a tensor's numbers is what is said of them in a formula of numbers."""
    run = parse("sum(log(1 + x)*w)").gradient(x=[1e-10, 2], w=[3, 0.1])
    same = parse("log(1 + a)*c + log(1 + b)*d").gradient(a=1e-10, b=2, c=3, d=0.1)
    found, plain = run.trust(), dict(same.trust().numbers())
    listed = dict(found.numbers())
    assert [*listed] == ["", "x[0]", "x[1]", "w[0]", "w[1]"]
    for name, other in zip(listed, ["", "a", "b", "c", "d"], strict=True):
        mine, theirs = listed[name], plain[other]
        assert (mine.digits, mine.verdict, mine.true) == (
            theirs.digits,
            theirs.verdict,
            theirs.true,
        )
        assert (mine.lost is None) == (theirs.lost is None)
    lost = found.gradient["w"][0].lost
    assert lost is not None and run.texts[lost.node] == "log(1 + x)" and lost.place == (0,)
    assert found.gradient["x"][1] is listed["x[1]"]


def test_large_tensors_are_refused() -> None:
    with pytest.raises(RequestError) as caught:
        parse("sum(x)").gradient(x=[1.0] * 4096).trust()
    assert caught.value.code == "too-large" and caught.value.help


def test_without_flint(monkeypatch: pytest.MonkeyPatch) -> None:
    """One line that says what to install; and nothing else ever asks for it."""
    real = builtins.__import__

    def blocked(name: str, *args: Any, **options: Any) -> Any:
        if name.partition(".")[0] == "flint":
            raise ImportError(name)
        return real(name, *args, **options)

    balls.import_flint.cache_clear()
    monkeypatch.setattr(builtins, "__import__", blocked)
    run = parse("log(1 + x)").gradient(x=1e-10)
    (found,) = run.diagnostics
    assert run.gradient and found.message == (
        "log(1 + x) may have 5 right digits only, as far as bounds tell"
    )
    with pytest.raises(MissingExtraError) as caught:
        run.trust()
    assert caught.value.code == "missing-flint"
    assert caught.value.help == install_command("python-flint")


@pytest.mark.parametrize(
    ("formula", "verdict", "most"),
    [
        ("exp(exp(exp(x)))", "undecided", 16384),
        ("sin(x^(x^x))", "undecided", 16384),
        ("x^x^x^x", "undecided", 16384),
        ("erf(exp(x^9))", "rounded", 1024),
    ],
)
def test_astronomical_numbers_are_answered(formula: str, verdict: str, most: int) -> None:
    """Without more bits than the most that are ever taken, or than it takes to tell."""
    found = parse(formula).gradient(x=100).trust()
    assert (found.value.verdict, found.value.exact) == (verdict, False)
    assert found.bits <= most


def test_many_inputs_are_linear_work() -> None:
    """Where digits are lost is worked out for a few of the numbers only."""
    count = 100
    formula = " + ".join(f"log(1 + x{k})^2" for k in range(count))
    found = parse(formula).gradient({f"x{k}": 1e-10 for k in range(count)}).trust()
    assert sum(one.lost is not None for one in found.gradient.values()) < 20
    assert {one.digits for one in found.gradient.values()} == {7}


def expressions(count: int) -> Sequence[tuple[str, dict[str, float]]]:
    """Generated formulas at points where much goes wrong."""
    found = []
    for seed in range(count):
        random = Random(seed)
        text = tree(random, ("x", "y", "1", "2", "0.1"), FREQUENT, random.randint(1, 6))
        found.append((text, {"x": double(random) + 0.0, "y": random.uniform(-2, 2)}))
    return found


@pytest.mark.parametrize("count", [60, pytest.param(2_000, marks=pytest.mark.slow)])
def test_whatever_is_said_holds_together(count: int) -> None:
    """Of generated formulas: places in the text, counts of digits, and mends that are the same number."""
    for text, point in expressions(count):
        f = parse(text)
        run = f.gradient({name: point[name] for name in f.inputs})
        for name, one in run.trust().numbers():
            assert 0 <= one.digits <= 17, (text, point)
            assert one.lost is None or 0 <= one.lost.span[0] < one.lost.span[1] <= len(text)
            if one.rewrite is not None:
                check_mend(run, name, one)


def check_mend(run: SweptRun, name: str, one: TrustedNumber) -> None:
    """A mend makes a number of more digits: its own value is as near the truth as it says."""
    assert one.rewrite is not None
    assert one.rewrite.digits > one.digits or one.rewrite.verdict in (
        "rounded",
        "exact",
        "underflow",
    )
    if name or one.rewrite.digits == 0:
        return
    with mp.workprec(4000):
        true = evaluate(run.graph, run.inputs)[run.graph.output]
        if mp.isfinite(true):
            far = abs(mpf(one.rewrite.value) - true)
            assert far <= abs(true) * mpf(10) ** -one.rewrite.digits, (run.text, run.inputs, one)
