"""The verdicts of ``check``: at smooth points, kinks, lost digits, overflow; with and without balls."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping
from random import Random

import pytest

import golden
from amounts import many
from exprgrad import Check, RequestError, parse
from exprgrad.errors import install_command
from exprgrad.explain.checking import check as checks
from exprgrad.explain.checking import differences as by_balls
from exprgrad.graph.graph import Graph
from exprgrad.graph.ops import BY_NAME, OPS
from exprgrad.run.balls import balls
from oracles import gradient, mpf
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
        ("log(x)", "x=0", "overflow", ""),
        ("y + 1/(x - 1)", "x=1 y=2", "overflow overflow", ""),
    ],
}  # fmt: skip


@pytest.fixture
def no_flint(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As if python-flint were not installed."""
    monkeypatch.setitem(sys.modules, "flint", None)
    balls.import_flint.cache_clear()
    yield
    balls.import_flint.cache_clear()


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
        err = err.replace(install_command("python-flint"), "pip install python-flint")
        pieces.append(f"{spelled(argv)}\n{out}{err}")
    golden.agree(f"check/{group}_in_doubles.txt", "\n".join(pieces))


def given(values: str) -> dict[str, str]:
    """Values as they are typed."""
    return dict(value.split("=") for value in values.split())


def test_numbers_of_a_check() -> None:
    (found,) = parse("sin(x)").check(x=1)
    assert found.analytic == found.numeric == math.cos(1)
    assert found.error is not None and 0 < found.error <= 2**-53
    assert found[4:] == (
        None,
        None,
        "agrees",
        "agrees to 16 digits",
        None,
        None,
        None,
        (0, (4, 5)),
        None,
        None,
        None,
        None,
        16,
        False,
    )


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


@pytest.mark.parametrize(
    ("formula", "at", "verdict"),
    [
        ("sin(x)", 1e22, "undecided"),  # doubles are two million apart here
        ("sin(x)", 1e15, "undecided"),
        ("sin(x)", 1e12, "agrees"),
        ("exp(cos(x))*x", 1e18, "undecided"),
        ("tan(x)", 3e20, "undecided"),
        ("sin(1e12*x)", 1.0, "undecided"),
        ("sin(1e14*x)", 1.0, "undecided"),
        ("sin(1e6*x)", 1.0, "agrees"),
        ("floor(x)", 1e12 + 0.5, "agrees"),
        ("1/x", 1e-300, "undecided"),  # the steps leap over the pole
        ("1/x^2", 1e-120, "undecided"),
        ("x^2", 1e150, "agrees"),
        ("x^3", 1e12, "agrees"),
    ],
)
def test_steps_that_do_not_follow_the_function_say_nothing(
    formula: str, at: float, verdict: str, no_flint: None
) -> None:
    (found,) = parse(formula).check(x=at)
    assert found.verdict == verdict, found
    assert verdict == "agrees" or (found.numeric, found.error) == (None, None)


@pytest.mark.parametrize("formula", ["x*exp(-x)", "1/(1 + x^2)", "log(2 + cos(x))", "tanh(x)*x"])
def test_the_error_in_doubles_holds_far_out(formula: str, no_flint: None) -> None:
    """Wherever there is a number, it is as near to the true derivative as it says."""
    random = Random(5)
    for _ in range(12):
        x = random.choice((-1, 1)) * 10 ** random.uniform(-20, 20)
        (found,) = parse(formula).check(x=x)
        if found.numeric is not None and math.isfinite(found.numeric):
            assert found.error is not None
            true = gradient(parse(formula).graph, {"x": x})["x"]
            assert abs(mpf(found.numeric) - true) <= found.error, (x, found)


def test_nobody_is_blamed_where_doubles_see_nothing(no_flint: None) -> None:
    (found,) = parse("round(x)*2").check(x=5.2e120)
    assert found.verdict != "disagrees"  # all doubles there are whole numbers
    (found,) = parse("x*x*3").check(x=4.97e-179)
    assert found.verdict != "disagrees"  # x*x underflows, and steps of 1/8 swallow x
    if found.numeric is not None:
        assert found.error is not None and abs(found.numeric - 6 * 4.97e-179) <= found.error


def test_messages_are_ascii() -> None:
    """Numbers can be copied, terms pasted."""
    for argv in (
        ["3*abs(x)", "x=0"],
        ["(1 - cos(x))/x^2", "x=1e-6"],
        ["-x", "x=1", "--h", "-0.001"],
        ["x^2*y + sin(x)", "--claim", "x=2*x*y - cos(x)"],
        ["-x^2", "--claim", "x=2*x"],
    ):
        for form in ([], ["--json"], ["--csv"]):
            _, out, err = command("check", *argv, *form)
            assert "\N{MINUS SIGN}" not in out + err


def test_chances_of_better_digits_are_true(no_flint: None) -> None:
    """Without balls grad --trust has nothing to say."""
    _, _, err = command("check", "(1 - cos(x))/x^2", "x=1e-6")
    assert err.endswith(f"help: ball arithmetic tells more: {install_command('python-flint')}\n")


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
    nobody_is_blamed(3, many(600))


@pytest.mark.slow
def test_nobody_is_blamed_in_doubles_at_length(no_flint: None) -> None:
    nobody_is_blamed(4, many(200))


STEEP = [
    ("log(max(x, 1e-300))", 0.0, "agrees"),
    ("x*log(x + 1e-300)", 0.0, "agrees"),
    ("log(x^2 + 1e-100)", 0.0, "agrees"),
    ("sin(exp(x))", 100.0, "cancellation"),
    ("sin(exp(x))", 700.0, "cancellation"),
    ("x/(abs(x) + 1e-45)", 0.0, "agrees"),
    ("x^1e40", 1.0, "agrees"),
    ("sigmoid(1e40*(x - 1))", 1.0, "agrees"),
    ("max(x, 1e-60)", 0.0, "agrees"),
    ("softplus(1e50*x)/1e50", 0.0, "agrees"),
    ("sqrt(x + 1e-100)", 0.0, "agrees"),
    ("x + 1e-200*tanh(x*1e200)", 0.0, "agrees"),
    ("floor(exp(exp(x)))", 10.0, "overflow"),
]


@pytest.mark.parametrize(("text", "x", "verdict"), STEEP)
def test_no_kink_is_seen_in_a_steep_slope(text: str, x: float, verdict: str) -> None:
    (found,) = parse(text).check(x=x)
    assert found.verdict == verdict, found


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


UNSETTLED = ("abs(x)^1.01", "relu(x)^1.005", "relu(x)^1.01 - relu(-x)^1.02")
"""The derivative at 0 is 0, and no quotient is anywhere near it."""


@pytest.mark.parametrize("formula", UNSETTLED)
def test_quotients_that_tend_to_nothing_are_not_believed(formula: str) -> None:
    (found,) = parse(formula).check(x=0)
    assert (found.analytic, found.verdict, found.left, found.right) == (0, "undecided", None, None)
    assert "differences do not settle" in found.message


@pytest.mark.parametrize("formula", UNSETTLED)
def test_nor_are_they_in_doubles(formula: str, no_flint: None) -> None:
    (found,) = parse(formula).check(x=0)
    assert found.verdict == "undecided"
    assert found.message.endswith("by the rules of both sides it is 0")


@pytest.mark.slow
def test_a_long_check_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """What neither arithmetic tells takes no more than its share of bits times nodes."""
    spent = 0

    def evaluate(
        graph: Graph, inputs: Mapping[str, balls.Ball], *, typed: bool = False
    ) -> list[balls.Ball]:
        nonlocal spent
        spent += len(graph) * balls.import_flint().ctx.prec
        return balls.evaluate_in_balls(graph, inputs, typed=typed)

    monkeypatch.setattr(by_balls, "evaluate_in_balls", evaluate)
    lines = [f"y{at + 1} = sin(y{at})" for at in range(36_000)]
    f = parse("; ".join(["y0 = abs(x)^1.01", *lines]))
    assert [check.verdict for check in f.check(x=0)] == ["undecided"]
    assert 0 < spent <= checks.MOST_WORK


def test_higher_precisions_are_taken_while_the_work_lasts(monkeypatch: pytest.MonkeyPatch) -> None:
    """At 1e-160 the sum cancels beyond the first precision."""
    f = parse("(1e200 + x) - 1e200")
    assert [check.verdict for check in f.check(x=1e-160)] == ["agrees"]
    monkeypatch.setattr(checks, "MOST_WORK", 1)
    assert [check.verdict for check in f.check(x=1e-160)] != ["agrees"]


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
