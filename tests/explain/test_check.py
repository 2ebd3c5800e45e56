"""The verdicts of ``check``: at smooth points, kinks, lost digits, overflow; with and without balls."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from random import Random

import pytest

import golden
from exprgrad import Check, RequestError, parse
from exprgrad.explain.checking import check as checks
from exprgrad.graph.ops import BY_NAME, OPS
from exprgrad.run import balls
from shell import command, spelled
from strategies import tree

# Each: formula, values, and the verdicts with python-flint, then without.
CASES: dict[str, list[tuple[str, str, str, str]]] = {
    "smooth": [
        ("(a+b)*c", "a=2 b=-3 c=10", "agrees agrees agrees", ""),
        ("tanh(x1*w1 + x2*w2 + b)", "x1=2 w1=-3 x2=0 w2=1 b=6.88", " ".join(["agrees"] * 5), ""),
        ("erf(x) + x^y", "x=2 y=3", "agrees agrees", ""),
        ("exp(-(x/1e-3)^2)", "x=1e-4", "agrees", ""),
        ("relu(x)", "x=1e-12", "agrees", ""),
        ("sin(1e6*x)", "x=1", "agrees", ""),
        ("log(x)", "x=1e-300", "agrees", ""),
        ("where(x > 0, sqrt(x), 0)", "x=-1", "agrees", ""),
        ("tanh(x)", "x=400", "agrees", ""),
        ("x^2", "x=1e150", "agrees", ""),
        ("unused = y; x*x", "x=3 y=1", "agrees agrees", ""),
        ("atan2(y, x)", "y=0 x=1", "agrees agrees", ""),
    ],
    "kinks": [
        ("abs(x)", "x=0", "kink", ""),
        ("relu(x) - relu(-x)", "x=0", "agrees", ""),
        ("relu(x) + 1", "x=1e-17", "agrees", "kink"),
        ("max(a, b)", "a=1 b=1", "kink kink", ""),
        ("abs(x)*y", "x=0 y=2", "kink agrees", ""),
        ("abs(x-y) - abs(x) - abs(y)", "x=0 y=0", "agrees agrees", ""),
        ("floor(x)*y", "x=2 y=3", "kink agrees", ""),
        ("sqrt(x^2)", "x=0", "kink", ""),
        ("sqrt(abs(x))", "x=0", "kink", ""),
    ],
    "edges": [
        ("x^1.5", "x=0", "agrees", "undecided"),
        ("sqrt(x)", "x=0", "agrees", "undecided"),
        ("cbrt(x)", "x=0", "agrees", "undecided"),
        ("x*log(x)", "x=0", "undecided", ""),
        ("x^y", "x=-1 y=2", "agrees undecided", ""),
        ("log(x - 5)*x", "x=1", "undecided", ""),
    ],
    "digits": [
        ("(1 - cos(x))/x^2", "x=1e-6", "cancellation", ""),
        ("1e16 + x", "x=1", "agrees", "cancellation"),
        ("sin(x)^2 + cos(x)^2", "x=0.3", "agrees", ""),
        ("log(1 + x)", "x=1e-9", "agrees", ""),
    ],
    "overflow": [
        ("exp(x)", "x=1000", "overflow", ""),
        ("1/x", "x=1e-200", "overflow", "undecided"),
        ("exp(x) - exp(x)", "x=1000", "overflow", "undecided"),
        ("x*1e200*1e-200", "x=1e200", "agrees", "overflow"),
        ("x % exp(exp(y))", "x=1 y=1000", "agrees overflow", "agrees undecided"),
    ],
}  # fmt: skip


@pytest.fixture
def no_flint(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As if python-flint were not installed."""
    monkeypatch.setitem(sys.modules, "flint", None)
    balls.flint.cache_clear()
    yield
    balls.flint.cache_clear()


@pytest.mark.parametrize("group", CASES)
def test_verdicts(group: str) -> None:
    pieces = []
    for formula, values, expected, _ in CASES[group]:
        argv = ["check", "--strict", formula, *values.split()]
        status, out, err = command(*argv)
        found = parse(formula).check(given(values))
        assert " ".join(check.verdict for check in found) == expected, argv
        assert status == int({*expected.split()} != {"agrees"}), argv
        assert command(*argv[:1], *argv[2:]).status == 0
        pieces.append(f"{spelled(argv)}\n{out}{err}exit {status}\n")
    golden.agree(f"check/{group}.txt", "\n".join(pieces))


@pytest.mark.parametrize("group", CASES)
def test_verdicts_without_flint(group: str, no_flint: None) -> None:
    pieces = []
    for formula, values, with_flint, without in CASES[group]:
        argv = ["check", formula, *values.split()]
        found = parse(formula).check(given(values))
        assert " ".join(check.verdict for check in found) == (without or with_flint), argv
        _, out, err = command(*argv)
        pieces.append(f"{spelled(argv)}\n{out}{err}")
    golden.agree(f"check/{group}_in_doubles.txt", "\n".join(pieces))


def given(values: str) -> dict[str, str]:
    """Values as they are typed."""
    return dict(value.split("=") for value in values.split())


def test_numbers_of_a_check() -> None:
    (found,) = parse("sin(x)").check(x=1)
    assert found.analytic == found.numeric == math.cos(1)
    assert found.error is not None and 0 < found.error <= 2**-53
    assert found[4:] == (None, None, "agrees", "agrees to 16 digits", None, None, None, (0, (4, 5)))


def test_sides_are_exact_at_a_kink() -> None:
    (found,) = parse("3*abs(x) + x").check(x=0)
    assert (found.left, found.right, found.numeric) == (-2.0, 4.0, None)


def test_the_error_in_doubles_holds(no_flint: None) -> None:
    """The derivative of a polynomial, by hand, is within what differences say they may be off by."""
    for x in (-3.7, -1.0, -1e-3, 0.0, 1e-8, 0.3, 2.0, 1e3, 1e8):
        (found,) = parse("2*x^3 - 5*x + 1").check(x=x)
        assert found.numeric is not None and found.error is not None
        assert abs(found.numeric - (6 * x * x - 5)) <= found.error
        assert found.verdict == "agrees"


def chosen(random: Random) -> float:
    """A double at which something may happen."""
    return random.choice(
        (round(random.uniform(-4, 4), 3), 0.0, 1.0, -1.0, 10 ** random.uniform(-8, 5))
    )


def nobody_is_blamed(seed: int, count: int) -> None:
    """On right rules no check disagrees, and where both arithmetics agree, both mean the same number."""
    random = Random(seed)
    ops = (*OPS, *[BY_NAME[name] for name in ("add", "sub", "mul", "div")] * 4)
    for _ in range(count):
        text = tree(random, ("x", "y", "x", "2", "0.3"), ops, random.randint(1, 10))
        f = parse(text)
        values = {name: chosen(random) for name in f.inputs}
        for found in f.check(values):
            assert found.verdict != "disagrees", (text, values, found)


def test_nobody_is_blamed() -> None:
    nobody_is_blamed(1, 150)


def test_nobody_is_blamed_in_doubles(no_flint: None) -> None:
    nobody_is_blamed(2, 40)


@pytest.mark.slow
def test_nobody_is_blamed_at_length() -> None:
    nobody_is_blamed(3, 3000)


@pytest.mark.slow
def test_nobody_is_blamed_in_doubles_at_length(no_flint: None) -> None:
    nobody_is_blamed(4, 1000)


def test_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "MOST_IN_BALLS", 9)
    monkeypatch.setattr(checks, "MOST_IN_DOUBLES", 9)
    with pytest.raises(RequestError, match="too many to check"):
        parse("a*b + a*b").check(a=1, b=2)
    assert len(parse("a*b + a*b").check(a=1, b=2, wrt=["a"])) == 1


def test_a_large_formula_is_left_to_one_arithmetic(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "MOST_IN_DOUBLES", 1)
    assert [c.verdict for c in parse("a*b").check(a=1, b=2)] == ["agrees", "agrees"]
    monkeypatch.setattr(checks, "MOST_IN_DOUBLES", 50)
    monkeypatch.setattr(checks, "MOST_IN_BALLS", 1)
    found = parse("a*b").check(a=1, b=2)
    assert [c.verdict for c in found] == ["agrees", "agrees"]
    assert all(c.error is not None and c.error > 1e-15 for c in found)


@pytest.mark.parametrize(
    "formula",
    [
        "cbrt(elu(exp(x/y)))",
        "log10(exp(exp(x/y)))",
        "x^(y^z)",
        "floor(exp(exp(x)))",
        "cbrt(1/exp(exp(x)))*log10(exp(-exp(exp(x))) + 1)",
        "tan(x^x^x)",
    ],
)
def test_numbers_beyond_all_counting_do_no_harm(formula: str) -> None:
    """Arb would end the process over a whole number that is too long."""
    f = parse(formula)
    for y in (0.0, 1e-300, 2.0):
        values = {"x": 737.5, "y": y, "z": 1e300}
        assert f.check({name: values[name] for name in f.inputs})


def test_depth_and_length_do_no_harm() -> None:
    deep = "(" * 100_000 + "x" + ")" * 100_000
    assert [c.verdict for c in parse(deep).check(x=2)] == ["agrees"]
    long = "+".join(["sin(x)"] * 500)
    (found,) = parse(long).check(x=2)
    assert found.verdict == "agrees"


def test_the_library_and_the_command_say_the_same() -> None:
    found = parse("x^2*y").check({"x": 3}, y=2, wrt=["y"])
    assert [type(each) for each in found] == [Check]
    assert command("check", "x^2*y", "x=3", "y=2", "--wrt", "y", "-q").out == "y=agrees\n"
