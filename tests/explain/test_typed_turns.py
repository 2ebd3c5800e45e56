"""Kinks and jumps that only the decimals as typed meet: every command says so, however it writes."""

from __future__ import annotations

import json

import pytest

from shell import command

JUMPS: dict[str, tuple[str, ...]] = {
    "floor(x*100)": ("x=0.29",),
    "x % y": ("x=1e15", "y=0.1"),
    "ceil(x/0.1)": ("x=0.3",),
    "where(x - 0.1 - 0.2 > 0, 1, x^2)": ("x=0.3",),
    "where(ceil(x*100) > 57.5, 1, 2)": ("x=0.57",),
}
"""Of these the value jumps, and so every derivative is a convention."""
KINKS: dict[str, tuple[str, ...]] = {
    "max(x - 0.1, 0.2)": ("x=0.3",),
    "where(x*3 > 0.3, x, 0.2 - x)": ("x=0.1",),
}
UNDECIDED: dict[str, tuple[str, ...]] = {"floor(x^(1/3))": ("x=64",)}
EVERY = {**JUMPS, **KINKS, **UNDECIDED}
COMMANDS = "grad", "hess", "jac", "vjp"
FORMS = (), ("-q",), ("--json",), ("--csv",)


def warnings(*argv: str) -> list[str]:
    """The warnings of a command, wherever it writes them."""
    _, out, err = command(*argv)
    told = [line.removeprefix("warning: ") for line in err.splitlines() if "warning: " in line]
    if "--json" in argv:
        told += [one["message"] for one in json.loads(out)["diagnostics"]]
    return told


@pytest.mark.parametrize("text", EVERY)
@pytest.mark.parametrize("name", COMMANDS)
def test_every_form_says_the_same(text: str, name: str) -> None:
    first, *others = [warnings(name, *form, text, *EVERY[text]) for form in FORMS]
    assert first and all(other == first for other in others)


@pytest.mark.parametrize("text", EVERY)
@pytest.mark.parametrize("name", [*COMMANDS, "check"])
@pytest.mark.parametrize("form", FORMS)
def test_strict_fails(text: str, name: str, form: tuple[str, ...]) -> None:
    assert command(name, "--strict", *form, text, *EVERY[text]).status == 1


@pytest.mark.parametrize("text", [*JUMPS, *KINKS])
def test_a_check_says_so_too(text: str) -> None:
    assert any(" on how " in one for one in warnings("check", text, *EVERY[text]))


@pytest.mark.parametrize("text", JUMPS)
def test_a_value_that_jumps_is_said_to(text: str) -> None:
    assert any(" on how " in one for one in warnings("eval", text, *JUMPS[text]))


@pytest.mark.parametrize(
    ("text", "x"),
    [
        ("where(x*3 > 0.3, (x - 0.1)^2, (x - 0.1)^3)", "0.1"),
        ("0*floor(x*100) + x", "0.29"),
    ],
)
def test_nothing_is_said_where_both_sides_agree(text: str, x: str) -> None:
    """The branches have the same slope at 0.1; and what is multiplied by 0 does not count."""
    assert not warnings("grad", "-q", text, f"x={x}")


@pytest.mark.parametrize(
    "text",
    [
        "elliptic_k(x)",
        "elliptic_e(x)",
        "elliptic_k(x)*(1 - x)",
        "elliptic_k(x)^2",
        "x*elliptic_k(x)",
    ],
)
@pytest.mark.parametrize("form", FORMS)
def test_second_derivatives_beside_a_pole_depend_on_rounding(
    text: str, form: tuple[str, ...]
) -> None:
    """1 - x is 1.1e-16 in doubles, and 1e-16 as typed."""
    told = warnings("hess", *form, text, "x=0.9999999999999999")
    assert any("d x d x" in one and " on how x is rounded" in one for one in told)


def test_so_do_those_inside_a_formula() -> None:
    for text in ("d(elliptic_k(x), x, 2)", "d(elliptic_k(x), x)"):
        assert any(" on how " in one for one in warnings("eval", text, "x=0.9999999999999999"))
