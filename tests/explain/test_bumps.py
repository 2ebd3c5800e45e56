"""Inner nodes, bumped as in the lesson: (L2 - L1)/h beside the grad."""

from __future__ import annotations

import pytest

import golden
from exprgrad import InputError, RequestError, parse
from shell import command, spelled

LESSON = "e = a*b; d = e + c; L = d*f; L"
VALUES = {"a": 2.0, "b": -3.0, "c": 10.0, "f": -2.0}
GIVEN = [f"{name}={value:g}" for name, value in VALUES.items()]


def test_the_lesson() -> None:
    """dL/de is -2: L is linear in e, so any h does."""
    (found,) = parse(LESSON).check(VALUES, nodes=["e"], h=0.001)
    assert (found.input, found.node, found.analytic, found.verdict) == ("e", 2, -2.0, "agrees")
    e, h = -6.0, 0.001
    assert found.numeric == ((e + h + 10) * -2 - (e + 10) * -2) / h
    assert found.message.startswith("agrees to 12 digits at h = 0.001, ")
    assert found.message.endswith(", 16 by a better step")


def test_truncation_is_told_from_disagreement() -> None:
    """(x^3)' at 2 is 12; with h = 0.1 the forward difference is 12.61, the central one 12.01."""
    (found,) = parse("x^3").check(x=2, nodes=["x"], h=0.1)
    assert found.verdict == "agrees" and found.numeric == pytest.approx(12.61)
    assert found.error == pytest.approx(0.61)
    assert found.message == (
        "agrees to 1 digit at h = 0.1, 3 by the central difference, 16 by a better step"
    )


def test_nodes_by_name_number_and_text() -> None:
    f = parse("n = x*w; o = tanh(n + b); o^2")
    run = f.gradient(x=1, w=2, b=0.5)
    names: list[str | int] = ["n", "o", "x", "5", 5, "n + b", "n+b", "tanh(n + b)"]
    found = f.check(x=1, w=2, b=0.5, nodes=names[:4])
    assert [check.node for check in found] == [2, 5, 0]  # 5 is o, which is asked for once
    for name in names:
        (check,) = f.check(x=1, w=2, b=0.5, nodes=[name])
        assert check.node is not None and check.analytic == run.grad(check.node)
        assert check.verdict == "agrees"


def test_a_number_may_have_a_hash_and_any_length() -> None:
    f = parse("e = a*b; e + sin(a)")
    (found,) = f.check(a=1, b=2, nodes=["#2"])
    assert (found.input, found.node) == ("e", 2)
    for wanted in ("9" * 5000, "#9", "5"):
        with pytest.raises(RequestError, match="there is no node") as caught:
            f.check(a=1, b=2, nodes=[wanted])
        assert caught.value.help == "the nodes' numbers are 0 to 4; grad shows them"
    for wanted in ("zz", "", "-1", "#", "#x", "٣"):
        with pytest.raises(RequestError, match="the expression has no node"):
            f.check(a=1, b=2, nodes=[wanted])


def test_orders_and_checks_find_nodes_in_the_same_way() -> None:
    run = parse("e = a*b; e + sin(a)").gradient(a=1, b=2)
    assert run.visited(["e + sin(a)", "#3", "e", "a", "b"]).order == (4, 3, 2, 0, 1)
    with pytest.raises(RequestError, match="has no node 'zz'"):
        run.visited("e,zz")


@pytest.mark.parametrize(
    ("formula", "at", "h", "verdict"),
    [
        ("abs(x)", 0.0005, -0.001, "kink"),
        ("abs(x)", 0.0005, 0.001, "agrees"),  # only the central difference spans the kink
        ("abs(x) + 3*x", 0.0003, -0.001, "kink"),
        ("1e6 + abs(x)", 0.5, -1, "kink"),
        ("floor(x)", 0.9999, 0.001, "kink"),
        ("relu(x)", -0.0005, 0.001, "kink"),
        ("relu(x)^2", -0.0005, 0.001, "agrees"),
        ("x^3", 0.001, 1, "undecided"),
        ("exp(x)", 1, 5, "undecided"),
        ("sin(1e6*x)", 1, 0.01, "undecided"),
        ("1e10 + x", 1, 1e-9, "cancellation"),
    ],
)
def test_no_digit_is_no_agreement(formula: str, at: float, h: float, verdict: str) -> None:
    (found,) = parse(formula).check(x=at, h=h)
    assert found.verdict == verdict, found.message
    assert found.message.startswith("kink between the sample points: " * (verdict == "kink"))
    words = {
        "undecided": "undecided: the step is too large",
        "cancellation": "the step is too small",
    }
    assert words.get(verdict, "") in found.message


def test_a_step_that_is_lost_names_one_that_is_not() -> None:
    f = parse("a*b")
    with pytest.raises(RequestError, match="is lost") as caught:
        f.check(a=1e20, b=2, h=0.001)
    assert caught.value.help == "h = 1e+12 would move it"
    assert all(each.verdict == "agrees" for each in f.check(a=1e20, b=2, h=1e12))


def test_nodes_that_read_the_same() -> None:
    found = parse("sin(x) + sin(x)").check(x=1, nodes=[1, 2, 3])
    assert [check.input for check in found] == ["sin(x) #1", "sin(x) #2", "sin(x) + sin(x)"]
    assert [check.node for check in found] == [1, 2, 3]


def test_without_a_step_the_step_is_chosen() -> None:
    (found,) = parse(LESSON).check(VALUES, nodes="d")
    assert found.message == "agrees to 16 digits"


def test_inputs_can_be_bumped_too() -> None:
    found = parse(LESSON).check(VALUES, h=0.001)
    assert [check.input for check in found] == list(VALUES)
    assert all(check.node is None and "at h = 0.001" in check.message for check in found)


def test_what_is_said() -> None:
    requests = [
        ["check", LESSON, *GIVEN, "--node", "e", "--node", "d", "--h", "0.001"],
        ["check", LESSON, *GIVEN, "--node", "e", "--h", "1e-13"],
        ["check", "y = x^3; y", "x=2", "--h", "0.1"],
        ["check", "u = abs(x); 3*u", "x=0", "--node", "x", "--h", "0.001"],
        ["check", "u = x^2; u*y", "x=1", "y=0", "--node", "u", "--h", "1/8"],
        ["check", "abs(a)", "a=0.0005", "--h", "-0.001"],
        ["check", "1e10 + x", "x=1", "--h", "1e-9"],
        ["check", "a*b", "a=1e20", "b=2", "--h", "0.001"],
        ["check", "sin(x) + 2", "x=2", "--node", "sim(x)"],
        ["check", "sin(x) + sin(x)", "x=2", "--node", "sin(x)"],
        ["check", "sin(x) + 2", "x=2", "--node", "7"],
        ["check", "sin(x) + 2", "x=2", "--node", "2"],
        ["check", "sin(x) + 2", "x=2", "--h", "1e-30"],
        ["check", "sin(x) + 2", "x=2", "--h", "0"],
        ["check", "sin(x) + 2", "x=2", "--h", "inf"],
        ["check", "sin(x) + 2", "x=2", "--h", "small"],
        ["check", "sin(x) + 2", "x=2", "--node", "x", "--wrt", "x"],
        ["check", "sin(x) + 2", "--claim", "x=cos(x)", "--node", "x"],
        ["check", "sin(x) + 2", "--claim", "cos(x)"],
        ["check", "sin(x) + 2", "--claim", "x=cos(x)", "--claim", "x=1"],
        ["check", "sin(x) + 2", "--claim", "x=cos(y)"],
        ["check", "sin(x) + 2", "--claim", "x=cos(x"],
        ["check", "sin(x) + 2", "y=2", "--claim", "x=cos(x)"],
    ]
    pieces = []
    for argv in requests:
        status, out, err = command(*argv)
        pieces.append(f"{spelled(argv)}\n{out}{err}exit {status}\n")
    golden.agree("check/bumps.txt", "\n".join(pieces))


def test_nodes_that_cannot_be_checked() -> None:
    f = parse("2*3 + x")
    with pytest.raises(RequestError, match="has no grad"):
        f.check(x=1, nodes=["2*3"])
    with pytest.raises(RequestError, match="leads nowhere"):
        f.check(x=1, h=float("nan"))
    with pytest.raises(InputError, match="is not a number"):
        f.check(x=1, h=[1.0])  # type: ignore[arg-type]
