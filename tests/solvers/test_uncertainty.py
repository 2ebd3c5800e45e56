"""Uncertainties of values: shares, correlations, terms of second order, kinks in reach, Monte Carlo."""

from __future__ import annotations

import copy
import math
import pickle
from math import inf, nan
from typing import Any

import numpy as np
import pytest

import exprgrad
from exprgrad import InputError, RequestError, parse
from exprgrad.solvers.elasticity import elasticity_digits
from exprgrad.solvers.uncertainty.propagation import Uncertainty
from together import together

PENDULUM = parse("4*pi^2*L/T^2")
AT = {"L": "1.000(1)", "T": "2.006±0.012"}


def near(value: float, rel: float = 1e-12) -> Any:
    return pytest.approx(value, rel=rel, abs=1e-300)


def test_the_law_of_propagation() -> None:
    run = PENDULUM.gradient(AT)
    found = run.uncertainty
    by_length, by_period = 0.001 * run["L"], 0.012 * run["T"]
    assert found.value == near(math.hypot(by_length, by_period))
    assert found.estimate == run.value
    assert found.shares == {
        "L": near(by_length**2 / found.value**2),
        "T": near(by_period**2 / found.value**2),
    }
    assert found.sensitivities == run.gradient
    assert found.deviations == {"L": 0.001, "T": 0.012}
    assert str(found) == "9.81 ± 0.12" and found.diagnostics == ()
    assert PENDULUM.evaluate(AT).uncertainty.value == found.value
    assert str(PENDULUM(AT)) == "9.81 ± 0.12"


def test_exact_inputs_take_no_part() -> None:
    run = parse("x*y").gradient(x="2±0.1", y=3, wrt=["y"])
    assert run.gradient == {"y": 2.0}
    assert run.uncertainty.value == near(0.3) and run.uncertainty.shares == {"x": 1.0}
    assert parse("x*y").evaluate(x="2±0", y=3).uncertainty.value == 0.0
    assert parse("sqrt(x)").evaluate(x="0±0").uncertainty.value == 0.0


def test_runs_are_copied_with_their_uncertainties() -> None:
    run = PENDULUM.gradient(AT)
    for other in (copy.deepcopy(run), pickle.loads(pickle.dumps(run))):
        assert other.uncertainty.value == run.uncertainty.value
    assert pickle.loads(pickle.dumps(run.uncertainty)).shares == run.uncertainty.shares


def test_correlations() -> None:
    f = parse("x - y")
    run = f.evaluate(x="3±0.3", y="1±0.4")
    assert run.uncertainty.value == near(0.5)
    found = run.propagate(correlation={("x", "y"): 0.5})
    assert found.value == near(math.sqrt(0.09 + 0.16 - 0.12))
    assert found.shares == {"x": near((0.09 - 0.06) / 0.13), "y": near((0.16 - 0.06) / 0.13)}
    assert run.propagate(correlation={("y", "x"): 1}).value == near(0.1)
    matrix = {"x": {"x": 0.09, "y": 0.06}, "y": {"x": 0.06, "y": 0.16}}
    given = f.evaluate(x=3, y=1).propagate(covariance=matrix)
    assert given.value == near(found.value) and given.correlations == {("x", "y"): near(0.5)}
    assert parse("x + z").evaluate(x=1, z=2).propagate(covariance={"x": {"x": 4.0}}).value == 2.0


def test_shares_of_correlated_inputs_may_be_negative() -> None:
    run = parse("x - 2*y").evaluate(x="3±0.3", y="1±0.4")
    found = run.propagate(correlation={("x", "y"): 0.9})
    assert found.shares["x"] < 0 and sum(found.shares.values()) == near(1.0)


BAD_CORRELATIONS: list[tuple[dict[str, Any], str]] = [
    ({"correlation": {("x", "z"): 0.1}}, "'z' is not an uncertain number, and correlates with nothing"),
    ({"correlation": {"x,y": 0.1}}, "correlations are by pairs of names"),
    ({"correlation": {("x", "y"): "much"}}, "the value of 'x, y' is not a constant: it reads 'much'"),
    ({"correlation": {("x", "x"): 0.1}}, "'x' correlates with itself by 1"),
    ({"correlation": {("x", "y"): 0.1, ("y", "x"): 0.1}},
     "the correlation of 'y' and 'x' is given twice"),
    ({"correlation": {("x", "y"): 2}}, "the correlation of 'x' and 'y' is 2, which is not from -1 to 1"),
    ({"covariance": {"x": {"x": 1.0}}},
     "the uncertainty of 'x' is given twice: with its value, and in the matrix"),
    ({"covariance": {"q": {"q": 1.0}}}, "the covariance matrix names no input of the formula"),
    ({"covariance": {"c": {"c": -1.0}}}, "the variance of 'c' is -1"),
    ({"covariance": {"c": {"c": 1.0, "d": 0.5}, "d": {"c": 0.4, "d": 1.0}}},
     "the covariance matrix is not symmetric: 0.5 for 'c' and 'd', and 0.4 for 'd' and 'c'"),
    ({"covariance": {"c": {"c": 1.0, "d": 0.5}, "d": {"c": 0.5}}},
     "the variance of 'd' is missing"),
    ({"covariance": {"c": {"c": 1.0, "d": nan}, "d": {"c": nan, "d": 1.0}}},
     "the covariance of 'c' and 'd' is nan"),
    ({"covariance": {"c": {"c": 1.0, "d": 0.5}, "d": {"c": -inf, "d": 1.0}}},
     "the covariance of 'd' and 'c' is -inf"),
    ({"covariance": {"c": {"c": inf}}}, "the variance of 'c' is inf"),
    ({"covariance": {"c": {"c": 0.0, "d": 0.5}, "d": {"c": 0.5, "d": 1.0}}},
     "the correlation of 'c' and 'd' is inf, which is not from -1 to 1"),
    ({"correlation": {("x", "y"): 1.0, ("y", "w"): 1.0, ("x", "w"): -1.0}},
     "the correlations contradict each other: their matrix is not positive semidefinite"),
]  # fmt: skip


@together(BAD_CORRELATIONS)
def test_what_cannot_correlate_is_refused(asked: dict[str, Any], message: str) -> None:
    run = parse("x*y*w*c*d").evaluate(x="1±0.1", y="1±0.1", w="1±0.1", c=1, d=1)
    with pytest.raises(InputError) as caught:
        run.propagate(**asked)
    assert caught.value.message == message


def test_a_tensor_has_more_than_one_variance() -> None:
    with pytest.raises(InputError) as caught:
        parse("sum(w)").gradient(w=[1, 2]).propagate(covariance={"w": {"w": 0.1}})
    assert caught.value.message == "'w' is a tensor, and has a variance for each of its numbers"


def test_what_is_asked_without_uncertainties_is_refused() -> None:
    run = parse("x*y").gradient(x=1, y=2)
    with pytest.raises(RequestError, match="no input is uncertain"):
        _ = run.uncertainty
    for bad in ({"mc": 1}, {"mc": 10**9}, {"mc": 2.5}, {"mc": 10, "seed": -1}):
        with pytest.raises(RequestError):
            PENDULUM.gradient(AT).propagate(**bad)


@together([
    lambda f: f.check(x="2±1"), lambda f: f.hessian(x="2±1"), lambda f: f.jvp(x="2±1", tangent={"x": 1}),
    lambda f: f.descend(x="2±1"), lambda f: f.jacobian(x=exprgrad.uncertain(2, 1)),
])  # fmt: skip
def test_only_values_and_gradients_have_uncertainties(ask: Any) -> None:
    with pytest.raises(InputError) as caught:
        ask(parse("x^2"))
    assert caught.value.code == "uncertain"


def test_tensors() -> None:
    """A number of tensors, and a tensor of numbers: J·Σ·Jᵀ."""
    found = parse("sum(w*x)").evaluate(w="[1±0.1, 2±0.2]", x=[3, 4]).uncertainty
    assert found.value == near(math.hypot(0.3, 0.8)) and found.shares == {"w": near(1.0)}
    run = parse("sum(w*x)").evaluate(w="[1±0.1, 2±0.2]", x=[3, 4])
    pair = {("w[0]", "w[1]"): -1.0}
    assert run.propagate(correlation=pair).value == near(0.5)
    found = parse("[a + b, a*b, a^2]").evaluate(a="2±0.1", b="3±0.2").uncertainty
    jacobian = np.array([[1, 1], [3, 2], [4, 0]])
    covariance = jacobian @ np.diag([0.01, 0.04]) @ jacobian.T
    assert np.allclose(found.covariance, covariance, rtol=1e-14)
    assert np.allclose(found.value, np.sqrt(np.diag(covariance)), rtol=1e-14)
    assert np.allclose(found.shares["a"] + found.shares["b"], 1)
    assert str(found).startswith("[5.00 ± 0.22, ")
    assert [terms.enough for terms in found.second or ()] == [True, True, False]  # type: ignore[union-attr]


def test_kinks_of_tensors_are_told_of_where_they_stand() -> None:
    run = parse("2*relu(x)").evaluate(x="[0.05±0.1, 2±0.1]")
    (one,) = run.uncertainty.diagnostics
    assert "relu(x[0]) has a kink 0.5 standard uncertainties away" in one.message
    assert run.nodes[one.node].text == "relu(x)" and run.text[slice(*one.span)] == "relu(x)"


def test_simultaneous_resistance_and_reactance() -> None:
    """JCGM 100:2008, H.2: three quantities of three correlated inputs, table H.4."""
    f = parse("[V/I*cos(p), V/I*sin(p), V/I]")
    run = f.evaluate(V="4.9990±0.0032", I="19.661e-3±0.0095e-3", p="1.04446±0.00075")
    found = run.propagate(correlation={("V", "I"): -0.355, ("V", "p"): 0.858, ("I", "p"): -0.645})
    assert found.estimate == pytest.approx([127.732, 219.847, 254.260], abs=6e-4)
    assert found.value == pytest.approx([0.071, 0.295, 0.236], abs=2e-3)
    u = found.value
    r = found.covariance / np.outer(u, u)
    assert [r[0, 1], r[0, 2], r[1, 2]] == pytest.approx([-0.588, -0.485, 0.993], abs=4e-3)


# Where linearising is not enough.


def codes(found: Uncertainty) -> list[str]:
    return [one.message.removeprefix("linearising is not enough: ") for one in found.diagnostics]


@together([
    ("exp(x)", math.exp(0.02), math.exp(0.02) * math.sqrt(math.expm1(0.04))),
    ("x^2", 1.04, math.sqrt(4 * 0.04 + 2 * 0.0016)),
    ("x^3", 1 + 3 * 0.04, None),
    ("log(x + 20)", math.log(21) - 0.04 / 882, None),
])  # fmt: skip
def test_terms_of_second_order(text: str, mean: float, deviation: float | None) -> None:
    """Of a normal x = 1.0 ± 0.2, or x = 0 ± 0.2 of exp: what is left out is of the third order."""
    centre = 0 if text == "exp(x)" else 1
    second = parse(text).evaluate(x=exprgrad.uncertain(centre, 0.2)).uncertainty.second
    assert second is not None and not isinstance(second, list)
    assert parse(text)(x=centre) + second.shift == pytest.approx(mean, abs=3e-4)
    if deviation is not None:
        assert second.value == pytest.approx(deviation, rel=2e-3)


def test_terms_of_correlated_inputs() -> None:
    """The mean of x*y is its product and the covariance; the variance is exact to this order."""
    run = parse("x*y").evaluate(x="2±0.3", y="3±0.4")
    second = run.propagate(correlation={("x", "y"): 0.5}).second
    assert second is not None and not isinstance(second, list)
    assert second.shift == near(0.5 * 0.3 * 0.4)
    linear = 9 * 0.09 + 4 * 0.16 + 2 * 6 * 0.06
    assert second.value == near(math.sqrt(linear + 0.09 * 0.16 + 0.06**2))


@together(
    [("(1 - cos(x))/x^2", "1e-9±1e-10", -1 / 24), ("(exp(x) - 1 - x)/x^2", "1e-7±1e-8", 1 / 24)]
)
def test_rounding_makes_no_terms_of_second_order(text: str, x: str, half: float) -> None:
    """In doubles these second derivatives lose all digits; half of them times u² is what f shifts by."""
    found = parse(text).evaluate(x=x).uncertainty
    (u,) = found.deviations.values()
    assert isinstance(found.second, tuple) and found.second.shift == near(half * u**2, rel=1e-6)


REACH = [
    ("abs(x)", "0.5±0.1", []),
    ("abs(x)", "0.15±0.1", ["abs(x) has a kink 1.5 standard uncertainties away"]),
    ("abs(x)", "0±0.1", ["abs(x) has a kink here"]),
    ("relu(x - 1)", "0.9±0.1", ["relu(x - 1) has a kink 1 standard uncertainty away"]),
    ("floor(x) + x", "2.5±0.1", []),
    ("floor(x) + x", "2.9±0.1", ["floor(x) has a jump 1 standard uncertainty away"]),
    ("floor(x) + x", "3.1±0.1", ["floor(x) has a jump 1 standard uncertainty away"]),
    ("round(x) + x", "2.4±0.1", ["round(x) has a jump 1 standard uncertainty away"]),
    ("x % 2", "1.9±0.1", ["x%2 has a jump 1 standard uncertainty away"]),
    ("x % 2", "1±0.1", []),
    ("max(x, 1)", "1.1±0.1", ["max(x, 1) has a kink 1 standard uncertainty away"]),
    ("where(x > 1, x, 2*x)", "1.1±0.1", ["x > 1 has a jump 1 standard uncertainty away"]),
    ("where(x > 0, x, abs(x - 1))", "1.1±0.1", []),
    ("atan2(x, -1)", "0.01±0.1", ["atan2(x, -1) has a jump 0.1 standard uncertainties away"]),
    ("atan2(x, 1)", "0.001±0.01", []),
]


@together(REACH)
def test_kinks_and_jumps_within_reach(text: str, x: str, expected: list[str]) -> None:
    assert codes(parse(text).evaluate(x=x).uncertainty) == expected


def test_no_derivative_no_uncertainty() -> None:
    found = parse("sqrt(x)").evaluate(x="0±0.1").uncertainty
    assert found.value == math.inf and found.second is None
    assert "the derivative with respect to x is not finite" in found.diagnostics[0].message


def test_a_value_tells_of_derivatives_that_are_not_known() -> None:
    formula = parse("((a + b)^2 - a^2 - 2*a*b)/b^2")
    told = formula.evaluate(a="1e9±1", b="1e-3±1e-5").uncertainty.diagnostics
    assert [one.message.partition(" in")[0] for one in told] == ["b.grad has no right digit"]
    assert parse("a*b").evaluate(a="2±0.01", b="3±0.01").uncertainty.diagnostics == ()


def test_too_much_to_look_at() -> None:
    found = parse("sum(x^2)").evaluate(x=exprgrad.uncertain([1.0] * 400, 0.1)).uncertainty
    assert found.value == near(4.0) and found.second is None
    assert [one.severity for one in found.diagnostics] == ["note"]


# Monte Carlo.


def test_samples() -> None:
    found = PENDULUM.gradient(AT).propagate(mc=100_000, seed=3).sample
    assert found is not None and (found.draws, found.seed, found.without) == (100_000, 3, 0)
    assert found.mean == pytest.approx(9.8117, abs=5 * 0.12 / 316)
    assert found.value == pytest.approx(0.1178, rel=5 / 447)
    assert found.low < 9.59 < 10.03 < found.high
    again = PENDULUM.gradient(AT).propagate(mc=100_000, seed=3).sample
    assert again == found != PENDULUM.gradient(AT).propagate(mc=100_000, seed=4).sample


def test_samples_are_correlated() -> None:
    run = parse("[x - y, x + y]").evaluate(x="3±0.3", y="1±0.3")
    found = run.propagate(correlation={("x", "y"): 1.0}, mc=10_000).sample
    assert found is not None
    assert found.value[0] == pytest.approx(0, abs=1e-7)
    assert found.value[1] == pytest.approx(0.6, rel=0.05)


def test_samples_without_a_value() -> None:
    found = parse("sqrt(x)").evaluate(x="0.1±0.1").propagate(mc=10_000)
    assert found.sample is not None and 1300 < found.sample.without < 1900
    assert "have no finite value" in found.diagnostics[-1].message
    found = parse("log(x)").evaluate(x="-9±0.1").propagate(mc=10)
    assert found.sample is not None and math.isnan(found.sample.mean)


# The package uncertainties.


def test_objects_of_the_package_bring_their_correlations() -> None:
    uncertainties = pytest.importorskip("uncertainties")
    a = uncertainties.ufloat(2, 0.1)
    b = 3 * a + uncertainties.ufloat(0, 0.05)
    run = parse("x*y^2").gradient(x=a, y=b)
    assert run.uncertainty.value == near((a * b**2).std_dev)
    assert parse("sum(w)").evaluate(w=[a, b, 1]).uncertainty.value == near((a + b).std_dev)
    assert parse("x^2")(x=a).uncertainty == near((a**2).std_dev)


# Elasticities.


def test_elasticities() -> None:
    found = parse("4*pi^2*L/T^2").gradient(L=1, T=2).elasticity
    assert [*found.items()] == [("T", near(-2.0)), ("L", near(1.0))]
    assert parse("a*exp(b*x)").gradient(a=2, b=3, x=0.5).elasticity == near_all(
        {"b": 1.5, "x": 1.5, "a": 1.0}
    )
    found = parse("sum(x^2)").gradient(x=[1, 3]).elasticity
    assert found["x"].tolist() == near_list([0.2, 1.8])
    with pytest.raises(RequestError):
        _ = parse("x").evaluate(x=1).elasticity


def test_an_elasticity_has_a_digit_less_than_the_worse_of_its_two_factors() -> None:
    digits = {"value": 12, "gradient": {"a": 15, "b": 7, "c": 0}}
    assert elasticity_digits(digits) == {"a": 11, "b": 6, "c": 0}


def near_all(expected: dict[str, float]) -> Any:
    return pytest.approx(expected, rel=1e-12)


def near_list(expected: list[float]) -> Any:
    return pytest.approx(expected, rel=1e-12)


@together([
    ("x*y", 0.0, 2.0, {"x": math.nan, "y": math.nan}),
    ("x + y", 1.0, -1.0, {"x": math.inf, "y": -math.inf}),
    ("x + y", 0.0, 1.0, {"x": 0.0, "y": 1.0}),
    ("x*y", 1e300, 1e-300, {"x": 1.0, "y": 1.0}),
    ("x^2*1e-200*y", 1e-30, 1e-30, {"x": 2.0, "y": 1.0}),
    ("1e300*(x - 1) + y", 1.0, 1e-300, {"x": math.inf, "y": 1.0}),
    ("1e300*(1 - x) + y", 1.0, 1e-300, {"x": -math.inf, "y": 1.0}),
    ("log(x)*y", -1.0, 1.0, {"x": math.nan, "y": math.nan}),
])  # fmt: skip
def test_elasticities_at_the_ends(
    text: str, x: float, y: float, expected: dict[str, float]
) -> None:
    found = parse(text).gradient(x=x, y=y).elasticity
    assert {name: found[name] for name in expected} == pytest.approx(expected, nan_ok=True)


def test_a_fit_goes_on_with_its_errors(tmp_path: Any) -> None:
    """What `fit --json` wrote is a covariance matrix: that of the estimates."""
    path = tmp_path / "fit.json"
    path.write_text(
        '{"command": "fit", "parameters": {"a": {"value": 1, "error": 0.3}, "b": {"value": 2, '
        '"error": 0.4}, "c": {"value": 3, "error": null}}, "correlation": {"a": {"a": 1, "b": -0.5}, '
        '"b": {"a": -0.5, "b": 1}}}',
        "utf-8",
    )
    found = parse("a + b*x + c").evaluate(a=1, b=2, x=2, c=3).propagate(covariance=path)
    assert found.value == near(math.sqrt(0.09 + 0.64 - 0.24))


def test_runs_print_their_uncertainties() -> None:
    run = parse("1/x").gradient(x="2±0.5")
    assert "1/x = 0.50 ± 0.12, or 0.50(12)" in str(run) and "linearising is not enough" in str(run)
    assert '"text": ["0.50 \\u00b1 0.12", "0.50(12)"]' in run.json()
    assert "±" not in str(parse("1/x").gradient(x=2))
    assert "0.50 ± 0.12" in run._repr_mimebundle_()["text/html"]
    assert PENDULUM.gradient(AT).budget().splitlines()[1].split() == [
        "T",
        "2.006",
        "±",
        "0.012",
        "-9.78131",
        "99.3",
        "%",
    ]


@together([1e-250, 1e-170, 1e170, 1e250])
def test_scales_change_nothing(scale: float) -> None:
    """Squares of what is so small, or so large, are no doubles."""
    for text in ("1/x", "abs(x - 0.9)"):
        plain = parse(text).evaluate(x="1±0.1").uncertainty
        found = parse(f"s*({text})").evaluate(x="1±0.1", s=scale).uncertainty
        assert found.value == pytest.approx(plain.value * scale, rel=1e-12)
        assert [one.message[:50] for one in found.diagnostics] == [
            one.message[:50] for one in plain.diagnostics
        ]
        second = found.second, plain.second
        assert second[0].value == pytest.approx(second[1].value * scale, rel=1e-12)  # type: ignore[union-attr]


# Where derivatives of two orders vanish, and beside sharp features.


VANISHING = [
    ("x^3", {"x": "0±1"}, 0, math.sqrt(15)),
    ("x^4", {"x": "0±1"}, 3, math.sqrt(96)),
    ("x*y*z", {"x": "0±1", "y": "0±1", "z": "0±1"}, 0, 1),
    ("x^2*y^2", {"x": "0±1", "y": "0±1"}, 1, math.sqrt(8)),
    ("1e-200*x^3", {"x": "0±1"}, 0, 1e-200 * math.sqrt(15)),
    ("x^3", {"x": "0±1e70"}, 0, 1e210 * math.sqrt(15)),
]
"""The moments of normal numbers."""


@together(VANISHING)
def test_derivatives_that_vanish_are_not_taken_for_certainty(
    text: str, values: dict[str, str], shift: float, deviation: float
) -> None:
    """65,536 draws know a deviation to a few parts in a hundred, the tails of x^4 being long."""
    found = parse(text).evaluate(values).uncertainty
    (warning,) = found.diagnostics
    assert warning.code == "nonlinear" and "linearising is not enough" in warning.message
    second = found.second
    assert second is not None and not isinstance(second, list) and not second.enough
    assert second.shift == pytest.approx(shift, rel=0.05)
    assert second.value == pytest.approx(deviation, rel=0.08)


def test_a_sharp_peak_within_reach_is_met() -> None:
    """The peak's mean is that of a normal density, and of its square: 100·w/√(w² + 2u²)·exp(…)."""
    found = parse("x + exp(-((x - 3)/0.01)^2)*100").evaluate(x="2.9±0.1").uncertainty
    second = found.second
    assert second is not None and not isinstance(second, list) and not second.enough

    def mean(height: float, width: float) -> float:
        spread = width**2 + 2 * 0.1**2
        return height * width / math.sqrt(spread) * math.exp(-(0.1**2) / spread)

    first, square = mean(100, 0.01), mean(100**2, 0.01 / math.sqrt(2))
    assert second.shift == pytest.approx(first, rel=0.1)
    assert second.value == pytest.approx(math.sqrt(square - first**2), rel=0.1)


def test_draws_without_a_value_are_counted() -> None:
    (warning,) = parse("x + 0*sqrt(x - 2.7)").evaluate(x="3±0.1").uncertainty.diagnostics
    assert "draws have no finite value" in warning.message


@pytest.mark.parametrize("text", ["sqrt(x*x + 9)", "x*x/(x*x + 1e300)", "log(exp(x/1e197))"])
def test_what_overflows_inside_has_an_uncertainty(text: str) -> None:
    """No draw has a value in doubles, and nothing is said of draws."""
    found = parse(text).evaluate(x="1e200±1e194").uncertainty
    assert math.isfinite(found.value)
    assert "beyond second order are not known" in found.diagnostics[-1].message
