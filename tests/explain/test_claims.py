"""Derivatives found by hand: right ones, wrong ones and what is wrong with them, and bad requests."""

from __future__ import annotations

import json
import math
import re
import sys
from functools import partial
from itertools import islice, pairwise

import pytest

import golden
from counting import calls
from exprgrad import Check, InputError, LanguageError, MissingExtraError, RequestError, parse
from exprgrad.derive.sweeps import walks
from exprgrad.errors import install_command
from exprgrad.explain.checking import claims
from exprgrad.explain.checking.thresholds import (
    find_gaps,
    points_beside,
    points_beside_thresholds,
)
from exprgrad.explain.checking.thresholds import find_thresholds as where_gaps_close
from exprgrad.graph.ops import BY_NAME
from exprgrad.run.balls import balls
from exprgrad.run.numbers import sweeps
from shell import command, spelled
from together import together

RIGHT = [
    ("a*b*c", "a=b*c"),
    ("x^2*y + sin(x)", "x=2*x*y + cos(x)"),
    ("x^2*y + sin(x)", "y=x*x"),
    ("sin(x)^2", "x=sin(2*x)"),
    ("o = tanh(x*w + b); o", "x=(1 - o^2)*w"),
    ("o = tanh(x*w + b); o", "b=1/cosh(x*w + b)^2"),
    ("x^y", "y=x^y*log(x)"),
    ("log(x - 3)", "x=1/(x - 3)"),
    ("relu(x)", "x=x > 0"),
    ("abs(x)", "x=sign(x)"),
    ("sqrt(1 - x^2)", "x=-x/sqrt(1 - x^2)"),
    ("floor(x) + y", "x=0"),
    ("asin(x)", "x=1/sqrt(1 - x^2)"),
    ("x^2", "x=s = x + x; s"),
]
WRONG = [
    ("a*b*c", "a=-b*c"),
    ("x^2*y", "y=2*x^2"),
    ("sqrt(x)", "x=1/sqrt(x)"),
    ("2^x", "x=2^x"),
    ("x^2*y + sin(x)", "x=2*x*y - cos(x)"),
    ("x^2*y + sin(x)", "x=2*y + cos(x)"),
    ("x^2*y + sin(x)", "x=2*x*y"),
    ("x^2*y + sin(x)", "x=2*x*y + cos(y)"),
    ("x^3", "x=3*x^2 + 1"),
    ("x/y", "y=-x/y"),
    ("exp(-x^2)", "x=-2*exp(-x^2)"),
    ("o = tanh(x*w + b); o", "w=(1 - o)*x"),
    ("x*y", "x=0"),
    ("3*x + y*0", "y=x"),
    ("relu(x)*y", "x=y"),
    ("log(abs(x))", "x=1/exp(log(x))"),
    ("sin(x)*cos(x)", "x=cos(x)^2 + sin(x)^2"),
    ("x*y/(1 + z)", "x=y"),
    ("x*sin(y)/(1 + y)", "x=sin(y)/(1 - y)"),
    ("sqrt(1 - x^2)", "x=-x/(1 - x^2)"),
]


def claimed(formula: str, claim: str) -> Check:
    """The check of one claim, ``NAME=FORMULA``."""
    name, _, text = claim.partition("=")
    (found,) = parse(formula).check(claims={name: text})
    return found


@pytest.mark.parametrize(("formula", "claim"), RIGHT)
def test_right_claims_agree(formula: str, claim: str) -> None:
    found = claimed(formula, claim)
    assert found.verdict == "agrees", found
    assert re.search(r"at \d+ sampled points(, on both sides of [a-z] = \d.*)?$", found.message)
    assert found.sampled is not None and found.sampled.points >= 32
    assert found.analytic is not None and found.numeric is not None and found.point
    assert abs(found.analytic - found.numeric) <= 2**-52 * abs(found.analytic)


@together(WRONG)
def test_wrong_claims_do_not(formula: str, claim: str) -> None:
    found = claimed(formula, claim)
    assert found.verdict == "disagrees"
    assert found.point is not None
    gradient = parse(formula).gradient(found.point).gradient[found.input]
    assert found.analytic == pytest.approx(gradient, rel=2**-48)  # that of a few rounded operations
    assert found.numeric != pytest.approx(gradient, rel=2**-20)


def test_what_is_said_of_them() -> None:
    pieces = []
    for formula, claim in [*RIGHT, *WRONG]:
        argv = ["check", formula, "--claim", claim]
        status, out, err = command(*argv)
        assert status == int((formula, claim) in WRONG)
        pieces.append(f"{spelled(argv)}\n{out}{err}")
    golden.agree("check/claims.txt", "\n".join(pieces))


def test_equal_as_formulas_is_said_where_it_is_so() -> None:
    assert "as formulas" in claimed("x^2*y", "x=y*x*2").message
    assert "as formulas" not in claimed("sin(x)^2", "x=sin(2*x)").message


def test_given_values_are_fixed() -> None:
    f = parse("x^2*y")
    (found,) = f.check(y=2, claims={"x": "4*x"})
    assert (found.verdict, found.point) == ("agrees", {"x": 2.0, "y": 2.0})
    (found,) = f.check(x=1, y=2, claims={"x": "x + 3"})
    assert found.message == "agrees: equal at the given point"
    (found,) = f.check(x=1, y=2, claims={"x": "x + 4"})
    assert found.message == "disagrees: at x = 1, y = 2 the derivative is 4, the claim is 5"
    (found,) = f.check(x=1, y=2, claims={"x": "-2*x*y"})
    assert found.message.endswith("the claim is -1 times the derivative: a sign")


@pytest.mark.parametrize(
    ("formula", "claim", "at", "said"),
    [
        ("relu(x) - relu(-x)", "1", 0.0, "agrees: equal at the given point"),
        ("relu(x) - relu(-x)", "0", 0.0, "disagrees: at x = 0 the derivative is 1; the claim is 0"),
        ("relu(x)^2", "2*relu(x)", 0.0, "agrees: equal at the given point"),
        ("abs(x)^1.5", "0", 0.0, "agrees: equal at the given point"),
        ("abs(x)", "sign(x)", 0.0, "kink: there is no derivative at x = 0: left -1, right 1"),
        ("floor(x)", "0", 2.0, "kink: there is no derivative at x = 2: the value jumps"),
        ("cbrt(x)", "5", 0.0, "undecided: the slope is infinite at x = 0"),
        ("x^1.5", "0", 0.0, "undecided: at x = 0 there are values on the right alone, where the "),
        ("sqrt(x)", "x", -1.0, "undecided: the formula has no value at x = -1"),
        ("x^2", "2*x", float("nan"), "undecided: x is nan, where nothing can be compared"),
    ],
)  # fmt: skip
def test_points_that_are_given(formula: str, claim: str, at: float, said: str) -> None:
    """At a kink the true derivative counts, where there is one, and else what there is instead."""
    (found,) = parse(formula).check(x=at, claims={"x": claim})
    assert found.message.startswith(said)
    assert found.verdict == said.partition(":")[0]


def test_a_given_point_may_leave_others_free() -> None:
    f = parse("abs(x)*y")
    (found,) = f.check(x=0, claims={"x": "sign(x)*y"})
    assert (found.verdict, found.left, found.right) == ("kink", -2.0, 2.0)
    (found,) = f.check(x=0, claims={"y": "abs(x)"})
    assert found.verdict == "agrees"
    (found,) = f.check(x=math.nan, claims={"y": "abs(x)"})
    assert found.message == "undecided: x is nan, where nothing can be compared"


def test_a_domain_that_is_far_away() -> None:
    assert claimed("log(x - 100)", "x=1/(x - 100)").message.endswith("at 32 sampled points")
    found = claimed("log(x - 1e6)", "x=1/(x - 1e6)")
    assert (
        found.message == "agrees: equal as formulas; no point of the domain was found to try it at"
    )
    found = claimed("log(t - 1e6)", "t=1/t")
    assert found.message == "undecided: no point of the domain was found; give a value for t"


def test_nothing_is_said_twice() -> None:
    assert claimed("x*y", "x=0").message == (
        "disagrees: at x = 2, y = 3 the derivative is 3; the claim is 0 everywhere: "
        "is the seed of 1 forgotten?"
    )
    assert claimed("3*x + y*0", "y=x").message == (
        "disagrees: at x = 2, y = 3 the claim is 2; the derivative is 0 everywhere"
    )


def test_diagnostics_in_json() -> None:
    found = json.loads(command("check", "a*b", "--claim", "a=a", "--claim", "b=a", "--json").out)
    (told,) = found["diagnostics"]
    assert (told["code"], told["node"], told["span"]) == ("disagrees", 0, None)
    assert told["message"] == f"a: {found['checks'][0]['message']}"


def test_a_long_claim_is_cut_in_the_table() -> None:
    claim = "x=" + "+".join(["x"] * 900)
    out = command("check", "x^2", "--claim", claim).out
    assert "x = x+x+" in out and max(map(len, out.splitlines())) < 160
    assert claim[2:] in command("check", "x^2", "--claim", claim, "--csv").out


def test_our_own_derivative_agrees() -> None:
    f = parse("x^2*y + sin(x)/y")
    found = f.check(claims={name: f.derivative(name) for name in f.inputs})
    assert [check.verdict for check in found] == ["agrees", "agrees"]


def test_several_claims() -> None:
    found = parse("a*b").check(claims={"a": "b", "b": "-a"})
    assert [check.verdict for check in found] == ["agrees", "disagrees"]
    out = command("check", "a*b", "--claim", "a=b", "--claim", "b=-a", "-q").out
    assert out == "a=agrees\nb=disagrees\n"


def test_no_point_of_the_domain() -> None:
    found = claimed("log(-1 - x^2)", "x=x")
    assert (found.verdict, found.point) == ("undecided", None)
    status, _, err = command("check", "log(-1 - x^2)", "--claim", "x=x")
    assert status == 0 and "no point of the domain was found" in err
    assert command("check", "log(-1 - x^2)", "--claim", "x=x", "--strict").status == 1


def test_a_wrong_rule_vouches_for_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """A claim that copies a broken rule is not confirmed: differences deny it."""
    monkeypatch.setitem(
        BY_NAME, "sin", BY_NAME["sin"]._replace(partials=("sin(x)",), display_partials=())
    )
    walks.passing_positions.cache_clear()
    sweeps.row_rules.cache_clear()
    found = claimed("sin(x)", "x=sin(x)")
    assert found.verdict == "undecided"
    assert found.message.startswith("undecided: differences contradict our own formula at x = ")
    monkeypatch.undo()
    walks.passing_positions.cache_clear()
    sweeps.row_rules.cache_clear()


def test_claims_that_cannot_be_read() -> None:
    f = parse("y = a*b; y + c")
    with pytest.raises(InputError, match="is not an input"):
        f.check(claims={"z": "b"})
    with pytest.raises(InputError, match="is bound by the expression"):
        f.check(claims={"y": "1"})
    with pytest.raises(InputError, match="the claim reads 'bb'") as caught:
        f.check(claims={"a": "2*bb"})
    assert (caught.value.span, caught.value.help) == ((2, 4), "did you mean 'b'?")
    with pytest.raises(LanguageError) as wrong:
        f.check(claims={"a": "2*"})
    assert wrong.value.source is not None and wrong.value.source.text == "2*"
    with pytest.raises(RequestError, match="formula of numbers"):
        f.check(claims={"a": "[1, b]"})
    with pytest.raises(RequestError, match="formulas of numbers"):
        parse("sum(x)").check(claims={"x": "1"})
    with pytest.raises(InputError, match="does not read 'd'"):
        f.check(d=1, claims={"a": "b"})


def test_without_flint_the_install_line_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "flint", None)
    balls.import_flint.cache_clear()
    with pytest.raises(MissingExtraError) as caught:
        parse("a*b").check(claims={"a": "b"})
    balls.import_flint.cache_clear()
    assert caught.value.help == install_command("python-flint")
    assert "a claim" in caught.value.message


def test_a_claim_about_a_large_formula_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many points are tried as the work allows, and too large a formula is refused."""
    f = parse("x^2*y")
    monkeypatch.setattr(claims, "MOST_WORK", 300_000)
    (found,) = f.check(claims={"x": "2*x*y"})
    assert found.message == "agrees: equal as formulas, and at 9 sampled points"
    monkeypatch.setattr(claims, "MOST_WORK", 200_000)
    with pytest.raises(RequestError, match="too many to check a claim") as caught:
        f.check(claims={"x": "2*x*y"})
    assert caught.value.code == "too-many"


@pytest.mark.parametrize(
    ("formula", "claim", "values", "true", "said"),
    [
        ("exp(-x^2)", "0", {"x": "30"}, "is -8.18686e-390", "is 0"),
        ("x^2", "2*x + 1e-30", {"x": "3"}, "is 6,", "is 6.000000000000000000000000000001"),
        ("x", "1 + exp(-200)", {"x": "3"}, "is 1,", "1 and 1.3839e-87 more"),
    ],
)
def test_a_claim_that_is_no_other_double_is_told_apart(
    formula: str, claim: str, values: dict[str, str], true: str, said: str
) -> None:
    """What doubles do not tell apart is told by its size, or with the digits that it takes."""
    (found,) = parse(formula).check(values, claims={"x": claim})
    assert found.verdict == "disagrees"
    assert f"the derivative {true}" in found.message and said in found.message, found.message


def test_a_derivative_below_the_doubles_is_confirmed() -> None:
    (found,) = parse("exp(-x^2)").check(x=30, claims={"x": "-60*exp(-900)"})
    assert found.verdict == "agrees"


def test_several_terms_that_differ() -> None:
    """The first of those that are too many is named, and what is missing instead."""
    f = parse("x^2*y + sin(x) + exp(y*x)")
    (found,) = f.check(claims={"x": "x*y*3 + cos(x) + x*exp(x*y) + 7*x"})
    assert "its term x*y*3 is not among the terms y*exp(y*x), 2*y*x" in found.message
    (found,) = f.check(claims={"x": "2*x*y + cos(x)"})
    assert found.message.endswith("it lacks the term y*exp(y*x)")
    (found,) = f.check(claims={"x": "2*x*y + cos(x) + y*exp(x*y) + x^3"})
    assert "its term x^3 is not in the derivative" in found.message
    (found,) = f.check(claims={"x": "7 + 2*x*y + cos(x) + y*exp(x*y) + x^3"})
    assert found.message.endswith("its term 7 is not in the derivative")
    (found,) = f.check(claims={"x": "2*x*y + cos(x) + x^3"})
    assert found.message.endswith("its term x^3 should be y*exp(y*x)")
    (found,) = f.check(claims={"x": "cos(x)"})
    assert found.message.endswith("it lacks the term y*exp(y*x)")


def test_what_was_sampled_is_said() -> None:
    """In words, as data and in JSON: how many points, beside which thresholds, and what was not met."""
    (found,) = parse("where(x > 40, x^2, x)").check(claims={"x": "where(x > 40, 2*x, 1)"})
    assert found.message.endswith("at 36 sampled points, on both sides of x = 40")
    assert found.sampled is not None and found.sampled.points == 36 and not found.sampled.one_sided
    assert [tuple(place[:3]) for place in found.sampled.thresholds] == [("x", 40.0, "x > 40")]
    claim = "x=where(x > 40, 2*x, 1)"
    out = command("check", "where(x > 40, x^2, x)", "--claim", claim, "--json").out
    (checked,) = json.loads(out)["checks"]
    place = {"input": "x", "at": 40.0, "text": "x > 40"}
    assert checked["sampled"] == {"points": 36, "thresholds": [place], "one_sided": []}


def test_three_thresholds_are_named() -> None:
    """The others are in JSON; three dots say that there are others."""
    for most, said in ((3, "x = 1, x = 2, x = 3"), (4, "x = 1, x = 2, x = 3, …")):
        places = range(1, most + 1)
        formula = "+".join(f"abs(x - {place})" for place in places)
        claim = "+".join(f"sign(x - {place})" for place in places)
        (found,) = parse(formula).check(claims={"x": claim})
        assert found.message.endswith(f"sampled points, on both sides of {said}")
        assert found.sampled is not None
        assert [place.at for place in found.sampled.thresholds] == [*places]


@pytest.mark.parametrize(("before", "seen"), [(claims.TRIED, 1), (claims.TRIED + 1, 0)])
def test_the_search_ends_after_so_many_points_without_a_derivative(before: int, seen: int) -> None:
    """``TRIED`` of them, all in the domain, may come before the first that tells."""
    graph, claim = parse("abs(x)").graph, parse("sign(x)").graph
    points = [{"x": 0.0}] * before + [{"x": 3.0}]
    found = claims.compare_at_points(claims.Formulas(graph, claim, claim), "x", points, 32, 2**40)
    assert len(found.places) == seen


def test_a_side_that_was_never_met_is_said() -> None:
    """What no point was found for is not accepted, unless the claim is our own formula."""
    condition = "sin(x)*cos(x) + sin(y)*cos(y) > 1.5"
    formula = f"where({condition}, x^2, x)"
    (found,) = parse(formula).check(claims={"x": "1"})
    assert found.message == (
        f"undecided: equal at 32 sampled points, but only one side of {condition} was met"
    )
    assert found.sampled is not None and found.sampled.one_sided == (condition,)
    (found,) = parse(formula).check(claims={"x": f"where({condition}, x*2, 1)"})
    assert found.message == "agrees: equal as formulas, and at 32 sampled points"


def test_a_side_that_does_not_exist_need_not_be_met() -> None:
    (found,) = parse("where(exp(-x^2) > 2, x^2, x)").check(claims={"x": "1"})
    assert found.message == "agrees: equal at 32 sampled points"
    (found,) = parse("where(sin(x) + sin(y) > 3, x^2, x)").check(claims={"x": "1"})
    assert found.message == "agrees: equal at 32 sampled points"
    (found,) = parse("where(y > 3, x^2, x)").check(y=5, claims={"x": "x + x"})
    assert found.verdict == "agrees" and found.sampled == (32, (), ())


def test_a_side_of_many_operands_need_not_be_met() -> None:
    """Rows of any number of operands are defined by two: ``logsumexp`` ended in a traceback."""
    (found,) = parse("where(logsumexp(x, y) < max(x, y), x, 2*x)").check(claims={"x": "2"})
    assert found.verdict == "undecided" and "only one side of logsumexp" in found.message


def test_a_side_without_values_is_said() -> None:
    (found,) = parse("sqrt(x)*abs(x)").check(claims={"x": "1.5*sqrt(x)"})
    assert found.message == (
        "agrees: equal at 36 sampled points; there was no value on the other side of abs(x)"
    )


def test_a_given_point_is_the_only_one() -> None:
    (found,) = parse("where(x > 40, x^2, x)").check(x=3, claims={"x": "1"})
    assert found.message == "agrees: equal at the given point"
    assert found.sampled == (1, (), ())


@pytest.mark.parametrize(
    ("formula", "thresholds"),
    [
        ("relu(x - 100)", {100}),
        ("max(x, 50)", {50}),
        ("clamp(x, -10, 10)", {-10, 10}),
        ("where(abs(x - 0.3) < 0.01, x^2, x)", {0.29, 0.3, 0.31}),
        ("where((x - 1234.5)^2 < 1e-4, x^2, x)", {1234.49, 1234.51}),
        ("floor(x)", {0, 1}),
        ("round(x)", {-0.5, 0.5}),
        ("x % 3", {0, 3}),
        ("abs(x)^1.5 + sqrt(1 + x^2)", {0}),
        ("elu(1e5 - x)", {1e5}),
        ("where(x > 1e100, x, 0)", {1e100}),
        ("x^2 + sin(x)", set()),
        ("x^x", set()),
        ("(x > 2)*(x < 5)", {2, 5}),
        ("where((x > 2) == (x < 5), x, 0)", {2, 5}),
    ],
)  # fmt: skip
def test_thresholds(formula: str, thresholds: set[float]) -> None:
    graph = parse(formula).graph
    gaps = find_gaps(graph, parse("1").graph)
    found = where_gaps_close(gaps, [{"x": 2.0}], ["x"])
    assert {place.at for place in found} == thresholds


def test_points_beside_thresholds_lie_on_every_side() -> None:
    gaps = find_gaps(parse("where(abs(x - 0.3) < 0.01, x^2, x)").graph, parse("1").graph)
    points = sorted(
        point["x"] for point in points_beside(where_gaps_close(gaps, [{"x": 2.0}], ["x"]), 99, 99)
    )
    ends = [-math.inf, 0.29, 0.3, 0.31, math.inf]
    assert [sum(low < x < high for x in points) for low, high in pairwise(ends)] == [2, 3, 3, 2]
    assert not {0.29, 0.3, 0.31} & {*points}


def test_every_piece_between_a_few_thresholds_has_a_point() -> None:
    """In all combinations of the sides of two inputs' thresholds, each once."""
    gaps = find_gaps(parse("abs(x - 1)*abs(y - 2)*abs(y + 3)").graph, parse("1").graph)
    found = where_gaps_close(gaps, [{"x": 0.5, "y": 0.7}], ["x", "y"])
    places = islice(points_beside_thresholds(found), 65)
    points = [(place["x"], place["y"]) for place in places]
    assert len(points) == len({*points}) <= 64
    pieces = {(x > 1, y > -3, y > 2) for x, y in points}
    assert pieces == {
        (x, *y) for x in (False, True) for y in ((False, False), (True, False), (True, True))
    }


def test_the_search_for_thresholds_ends() -> None:
    """Hundreds of kinks cost no more than so much work."""
    f = parse("+".join(f"relu(x - {place})" for place in range(100)))
    (found,) = f.check(claims={"x": "0"})
    assert found.verdict == "disagrees"


def test_what_the_first_search_leaves_out_is_looked_for() -> None:
    """More kinks than are looked for along each input, and no sampled point beyond the last."""
    kinks = "+".join(f"relu(x - {place})" for place in range(70))
    claim = "+".join(f"(x > {place})" for place in range(70))
    (found,) = parse(f"{kinks} + relu(x - 1e7)").check(claims={"x": f"{claim} + (x > 1e7)"})
    assert found.verdict == "agrees"
    assert found.sampled is not None and found.sampled.one_sided == ()
    assert 1e7 in [place.at for place in found.sampled.thresholds]


@pytest.mark.slow
def test_long_claims_take_linear_time() -> None:
    """A hundred, and four hundred terms; 3,500 (21,000 tokens) took 3 seconds."""
    work = []
    for count in (100, 400):
        formula = "+".join(f"{place}*x" for place in range(count))
        claim = "+".join(map(str, range(count)))
        (found,), turns = calls(partial(parse(formula).check, claims={"x": claim}))
        work.append(turns)
        assert found.verdict == "agrees"
    assert work[1] < 6 * work[0]
