"""``exprgrad.eval``, ``grad``, ``hessian`` and ``jacobian``: true numbers, and warnings of lost digits.

The truth is mpmath's, in hundreds of digits; what the commands print is compared to the bit.  Methods keep
the sweeps' numbers.
"""

from __future__ import annotations

import inspect
import json
import math
import pickle
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pytest

import exprgrad
from corpus import table, trades
from digits import is_right
from exprgrad import DigitsWarning, Expression, parse
from exprgrad.language.read.parse import parse_text as graph_of
from exprgrad.run import matrices
from exprgrad.run.engines.compiled import Compiled
from exprgrad.run.numbers.sweeps import forward_numbers
from oracles import Real, decimal, evaluate, gradient, mp, mpf, second_derivatives
from shell import command

PLACES = 6
DIGITS = 200
"""The digits of the oracle's steps; four times as many are carried."""
CATASTROPHES = [
    (formula, {name: float(text) for name, text in (pair.split("=") for pair in inputs.split())})
    for formula, inputs, _ in table("catastrophes.txt")
]
SOME = CATASTROPHES[::7]
EACH = [pytest.param(*one, id=one[0][:40]) for one in SOME] + [
    pytest.param(*one, id=one[0][:40], marks=pytest.mark.slow)
    for one in CATASTROPHES
    if one not in SOME
]
COSINE = "(1 - cos(x))/x^2"
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "eval": exprgrad.eval,
    "grad": exprgrad.grad,
    "jac": exprgrad.jacobian,
    "hess": exprgrad.hessian,
}
FIELDS = {"eval": "value", "grad": "gradient", "jac": "jacobian", "hess": "hessian"}
METHODS: dict[str, Callable[[Expression, Mapping[str, Any]], Any]] = {
    "eval": lambda f, values: f.evaluate(values).value,
    "grad": lambda f, values: f.grad(values),
    "jac": lambda f, values: f.jacobian(values),
    "hess": lambda f, values: f.hessian(values),
}


def ask(
    name: str, formula: str | Expression, values: Mapping[str, Any], **options: Any
) -> tuple[Any, list[str]]:
    """What a function returns, and what it warns of."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = FUNCTIONS[name](formula, values, **options)
    assert all(one.category is DigitsWarning for one in told)
    return found, [str(one.message) for one in told]


def leaves(found: Any, true: Any) -> Iterator[tuple[Any, Any]]:
    """Numbers beside the same of another answer, by name and place."""
    if isinstance(found, Mapping):
        assert found.keys() == true.keys()
        for name, one in found.items():
            yield from leaves(one, true[name])
    elif isinstance(found, np.ndarray | list):
        assert len(found) == len(true)
        for one, other in zip(found, true, strict=True):
            yield from leaves(one, other)
    else:
        yield found, true


def truths(
    formula: str, inputs: Mapping[str, float], number: Callable[[float], Real]
) -> dict[str, Any]:
    """The true answer to each question, with numbers read in one of two ways."""
    graph = graph_of(formula)
    with mp.workdps(4 * DIGITS):
        exact = {name: number(x) for name, x in inputs.items()}
        value = evaluate(graph, exact, number)[graph.output]
    slopes = gradient(graph, inputs, DIGITS, number)
    second = second_derivatives(graph, inputs, DIGITS, number)
    return {"eval": value, "grad": slopes, "jac": slopes, "hess": second}


@pytest.mark.parametrize(("formula", "inputs"), EACH)
def test_numbers_are_true_or_doubtful_by_their_decimals(
    formula: str, inputs: dict[str, float]
) -> None:
    """A wrong number of a sweep is never returned in silence, and corrected wherever somebody can tell."""
    read, typed = (truths(formula, inputs, number) for number in (mpf, decimal))
    f = parse(formula)
    for name in FUNCTIONS:
        found, told = ask(name, formula, inputs)
        pairs = zip(leaves(found, read[name]), leaves(found, typed[name]), strict=True)
        for (shown, true), (_, by_decimals) in pairs:
            with mp.workdps(4 * DIGITS):
                if is_right(shown, true, PLACES):
                    continue
                assert told, (name, shown)
                is_zero = abs(true) < mpf(10) ** (30 - 2 * DIGITS)
                assert is_zero or abs(true - by_decimals) > mpf(10) ** -PLACES * abs(true), name
        for sweep, true in leaves(METHODS[name](f, inputs), read[name]):
            with mp.workdps(4 * DIGITS):
                assert told or is_right(sweep, true, PLACES), (name, sweep)


TENSORS: list[tuple[str, dict[str, Any]]] = [
    ("sum((1 - cos(x))/x^2)", {"x": [1e-7, 1, 1e-8]}),
    ("-sum(y*log(exp(z)/sum(exp(z))))", {"z": [1000, 0], "y": [0.25, 0.75]}),
    ("norm(x) - norm(y)", {"x": [1e10, 1], "y": [1e10, 2]}),
    ("x @ A @ x", {"A": [[100000001, 1e8], [1e8, 99999999]], "x": [1, -1]}),
    ("A[0, 0]*A[1, 1] - A[0, 1]*A[1, 0]", {"A": [[94906267, 94906266], [94906266, 94906265]]}),
    ("sum((1 - cos(x))/x^2)*y", {"x": [0.5, 1], "y": 2}),
]
AT_KINKS: list[tuple[str, dict[str, Any]]] = [
    ("relu(x) - relu(-x) + y^2", {"x": 0, "y": 3}),
    ("abs(x) + (1 - cos(y))/y^2", {"x": 0, "y": 1e-7}),
    ("max(x, 0)^1.5", {"x": -1}),
    ("max(1 - cos(x), 0)/x^2", {"x": 1e-8}),
    ("max(x + 0.2, 0.3)", {"x": 0.1}),
    ("abs(x*10 - 1)", {"x": 0.1}),
    ("floor(x*10)", {"x": 0.3}),
    ("sqrt(x^2)*y", {"x": 0, "y": 1}),
    ("where(x + 1 > 1, log(x + 1)/x, 1)", {"x": 1e-16}),
]
OPEN: list[tuple[str, dict[str, Any]]] = [
    ("sqrt(a)^2 - a", {"a": 3}),
    ("0.1*a + 0.2 - 0.3", {"a": 1}),
    ("sqrt(x*x + y*y)", {"x": 1e200, "y": 1e200}),
    ("log(x)", {"x": -1}),
    ("1/x", {"x": 0}),
]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_numbers_and_warnings_are_those_of_the_commands(name: str) -> None:
    for formula, values in [*SOME, *TENSORS, *AT_KINKS, *OPEN]:
        words = [f"{one}={json.dumps(value)}" for one, value in values.items()]
        printed = json.loads(command(name, "--json", formula, *words).out)
        found, told = ask(name, formula, values)
        for one, other in leaves(found, printed[FIELDS[name]]):
            assert one == float(other) or (math.isnan(one) and math.isnan(float(other))), formula
        lost = [one for one in printed["diagnostics"] if one["code"] == "lost-digits"]
        if name == "eval":
            assert [one.partition("\n")[0] for one in told] == [one["message"] for one in lost]
        assert bool(lost) >= any("digit" in one for one in told), formula


@pytest.mark.parametrize("name", ["eval", "grad", "hess"])
def test_tensors_are_true_number_by_number(name: str) -> None:
    """Of an array the truth is that of its numbers; ``grad`` takes columns as it always has."""
    xs = [1e-8, 0.5, -1e-4, 3e-7]
    text = f"sum({COSINE})" if name == "hess" else COSINE
    found, told = ask(name, text, {"x": xs})
    assert len(told) == 1 and ("[0]" in told[0] or "numbers of" in told[0])
    for at, x in enumerate(xs):
        true = truths(COSINE, {"x": x}, mpf)[name]
        if name == "eval":
            number = found[at]
        elif name == "grad":
            number, true = found["x"][at], true["x"]
        else:
            number, true = found["x"]["x"][at, at], true["x"]["x"]
        with mp.workdps(4 * DIGITS):
            assert is_right(number, true, PLACES)


def test_columns_are_true_in_every_row() -> None:
    """A number stands in every row; an input may be missing from a gradient, and there may be no rows."""
    found, told = ask("grad", "y*(1 - cos(x))/x^2", {"x": [1e-8, 0.5], "y": 2.0})
    assert told and found["y"].shape == (2,)
    np.testing.assert_allclose(found["y"], [0.5, (1 - math.cos(0.5)) / 0.25], rtol=1e-14)
    assert not ask("grad", "x*y", {"x": [1.0, 2.0], "y": 3})[1]
    assert ask("grad", "x*y", {"x": [1.0, 2.0], "y": 3}, wrt="y")[0].keys() == {"y"}
    assert len(ask("grad", "x*y", {"x": [], "y": 3})[0]["x"]) == 0
    with pytest.raises(exprgrad.InputError, match="different lengths"):
        exprgrad.grad("x*y", x=[1, 2], y=[1, 2, 3])


def test_several_outputs_are_true() -> None:
    text = "u = (1 - cos(x))/x^2; v = x*y; w = u + v; w"
    found, (told,) = ask("jac", text, {"x": 1e-4, "y": 2}, of=["u", "v"])
    assert [*found] == ["u", "v"] and found["v"] == {"x": 2.0, "y": 1e-4}
    assert found["u"]["x"] == pytest.approx(-8.333333327777778e-06, rel=1e-15)
    assert "d u / d x has no right digit in doubles" in told
    assert not ask("jac", text, {"x": 1e-4, "y": 2}, of=["v"])[1]
    assert ask("jac", text, {"x": 1e-4, "y": 2}, of=["u"])[0].keys() == {"u"}


def test_an_uncertain_input_gives_an_uncertain_value() -> None:
    assert str(exprgrad.eval("2*x", x="2.0±0.1")) == "4.00 ± 0.20"


def test_a_warning_points_at_the_line_of_the_caller() -> None:
    """It names the node where digits are lost, and the help."""
    calls: list[Callable[[], object]] = [
        lambda: exprgrad.eval(COSINE, x=1e-8),
        lambda: exprgrad.grad(COSINE, x=1e-8),
        lambda: exprgrad.grad(COSINE, x=[1e-8, 1]),
        lambda: exprgrad.jacobian(COSINE, x=1e-8),
        lambda: exprgrad.hessian(COSINE, x=1e-8),
    ]
    for call in calls:
        with pytest.warns(DigitsWarning) as told:
            call()
        (one,) = told
        assert one.filename == __file__
        assert one.lineno == inspect.getsourcelines(call)[1]
        message = str(one.message)
        assert "right digit" in message and not message.startswith("warning")
        assert "1 │ (1 - cos(x))/x^2" in message and "help: 1 - cos(x" in message


def test_a_warning_may_be_an_error() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert exprgrad.grad("x^2", x=3) == {"x": 6.0}
        with pytest.raises(DigitsWarning):
            exprgrad.hessian(COSINE, x=1e-4)


def test_ordinary_formulas_do_not_warn() -> None:
    """But for zeros of second derivatives that no enclosure proves, of which the command warns, too."""
    count, zeros = 0, []
    for formula in trades():
        texts = formula.values
        given = {name: json.loads(text) if "[" in text else text for name, text in texts.items()}
        for name in FUNCTIONS:
            _, told = ask(name, parse(formula.text), given)
            assert all(name == "hess" and "not proved" in one for one in told), (formula, told)
            zeros += told
            count += 1
    assert count > 200 and len(zeros) < 5


@pytest.mark.parametrize("name", FUNCTIONS)
def test_without_flint_bounds_warn(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exprgrad.explain.digits.guard.has_balls", lambda: False)
    found, (told,) = ask(name, COSINE, {"x": 1e-8})
    assert "as far as bounds tell" in told and "python-flint" in told
    assert found == METHODS[name](parse(COSINE), {"x": 1e-8})
    assert not ask(name, COSINE, {"x": 0.5})[1]


@pytest.mark.parametrize(
    ("formula", "inputs"), [*SOME, (COSINE, {"x": 1e-8}), ("x*y^2", {"x": 0.3, "y": 7.0})]
)
def test_methods_are_the_sweeps_to_the_bit(formula: str, inputs: dict[str, float]) -> None:
    """As the derived graphs have them, which nobody corrects; nothing is warned of."""
    f, graph = parse(formula), graph_of(formula)
    run, data, names = f.gradient(inputs), forward_numbers(graph, inputs), tuple(graph.inputs)
    values = [f(inputs), run.value, float(run), f.evaluate(inputs).value]
    np.testing.assert_array_equal(values, [data[graph.output]] * 4)
    (value,), _ = Compiled(formula, graph, engine="numpy", precise=True)(
        {name: [x] for name, x in inputs.items()}
    )
    np.testing.assert_array_equal(value, data[graph.output])
    program, outputs = f.at_numbers, {"": graph.output}
    grads = [run.grad(graph.inputs[name]) for name in names]
    for found in (f.grad(inputs), f.vjp(inputs)):
        np.testing.assert_array_equal([*found.values()], grads)
    point = matrices.Point(program, inputs, outputs, names)
    for one, other in (
        (f.jacobian(inputs), matrices.jacobian_at(point).row(0)),
        (f.hessian(inputs), matrices.hessian_at(point).whole()),
    ):
        pairs = [*leaves({**one}, other)]
        np.testing.assert_array_equal([found for found, _ in pairs], [found for _, found in pairs])
    direction = {name: float(name == names[0]) for name in names}
    (slope,) = matrices.jvp_at(point._replace(direction=direction)).values()
    np.testing.assert_array_equal(f.jvp(inputs, tangent=direction), slope)


def test_matrices_have_true_numbers_and_digits_to_read() -> None:
    f = parse("u = (1 - cos(x))/x^2*y; v = y^2; v*u")
    hessian = f.hessian(x=1e-4, y=2)
    assert hessian.true == ask("hess", f, {"x": 1e-4, "y": 2})[0]
    assert hessian.digits["x"]["x"] >= PLACES and hessian.digits["y"]["y"] >= PLACES
    assert hessian != hessian.true and type(pickle.loads(pickle.dumps(hessian))) is dict
    jacobian = f.jacobian(x=1e-4, y=2, of=["u", "v"])
    assert jacobian.digits.keys() == {"u", "v"} and jacobian.digits["v"]["x"] == 16
    assert jacobian.true["u"]["x"] == pytest.approx(-1.6666666655555556e-05, rel=1e-15)
    product = f.vjp(x=1e-4, y=2, of=["u"])
    assert product.true == jacobian.true["u"] and product.digits == jacobian.digits["u"]
    product = f.vjp(x=[1e-4, 1], y=2, of=["u"])
    assert product.digits.keys() == {"x", "y"} and min(product.digits.values()) >= PLACES


def test_displays_show_the_true_numbers() -> None:
    f = parse(COSINE)
    displays: list[tuple[Any, float]] = [
        (f.hessian(x=1e-4), -0.08333333316666666),
        (f.jacobian(x=1e-8), -8.333333333333334e-10),
        (f.vjp(x=1e-8), -8.333333333333334e-10),
        (f.grad(x=1e-8), -8.333333333333334e-10),
    ]
    for found, number in displays:
        first, *told = repr(found).splitlines()
        assert str(number) in first and told[0].startswith("warning: ")
        assert (
            told[-1]
            == "these are the true numbers (.true); the dictionary itself holds the sweep's"
        )
        assert str(found.true).startswith(first)
    assert repr(f.hessian(x=1)) == repr({**f.hessian(x=1)})
    html = f.hessian(x=1e-4)._repr_html_()
    assert ">-0.0833333<" in html and "where the sweep has -1.65657" in html and "warning: " in html
    assert ">-8.33333e-10<" in f.vjp(x=1e-8)._repr_html_()
    among = parse(f"sum({COSINE})").jacobian(x=[1e-8, 1])._repr_html_()
    assert "-8.33333e-10" in among and "where the sweep has" in among
    assert repr(ask("hess", f, {"x": 1e-4})[0]).count("\n") == 0


def test_at_a_kink_a_gradient_still_prints_its_warnings() -> None:
    told = repr(exprgrad.grad("abs(x) + y", x=0, y=1)).splitlines()
    assert told[0] == "{'x': 0.0, 'y': 1.0}" and "kink" in told[1]


def test_the_last_texts_are_kept() -> None:
    from exprgrad.api.functions import MOST_TEXTS, as_expression

    assert as_expression("kept + 1") is as_expression("kept + 1")
    first = as_expression("kept + 2")
    for number in range(MOST_TEXTS):
        assert exprgrad.grad(f"kept*{number}", kept=1) == {"kept": number}
    assert as_expression("kept + 2") is not first
    assert as_expression("kept" + " " * 1000) is not as_expression("kept" + " " * 1000)
