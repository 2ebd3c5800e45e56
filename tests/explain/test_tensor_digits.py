"""What becomes of tensors' numbers that lose digits: they are found, corrected place by place, and said."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from exprgrad import Run, parse
from exprgrad.explain.digits.judgements import enclose_outputs
from exprgrad.graph.graph import MOST_ELEMENTS, element_name
from exprgrad.run.arrays.elements import expand_elements
from exprgrad.run.balls.balls import exact_ball, working_precision
from shell import command

COUNTED = 6
SCHEMA = json.loads((Path(__file__).parents[2] / "docs/reference/schema.json").read_text("utf-8"))

CATASTROPHES: list[tuple[str, dict[str, Any]]] = [
    # Variances as differences.
    ("mean(x^2) - mean(x)^2", {"x": [1e8, 100000001, 100000002]}),
    ("sum(mean(X^2, axis=0) - mean(X, axis=0)^2)", {"X": [[1e9, 3], [1000000001, 5], [1000000002, 9]]}),
    # Log-sum-exp and softmax by hand.
    ("log(sum(exp(x)))", {"x": [1000, 1000.5]}),
    ("log(sum(exp(x)))", {"x": [-1000, -1000.5]}),
    ("sum(exp(x)/sum(exp(x))*[1, 2])", {"x": [1000, 1000.5]}),
    ("sum(exp(x)/sum(exp(x))*[1, 2])", {"x": [-800, -801]}),
    ("-log(softmax(x)[1])", {"x": [0, -800]}),
    # Norms by hand.
    ("sqrt(sum(x^2))", {"x": [1e200, 1e200]}),
    ("sqrt(sum(x^2))", {"x": [1e-200, 3e-200]}),
    ("sqrt(dot(x, x))", {"x": [1e200, 1]}),
    # Products that cancel, overflow or underflow inside.
    ("(A @ x)[0]", {"A": [[1e16, 1, -1e16], [1, 1, 1]], "x": [1, 3, 1]}),
    ("sum(A @ B)", {"A": [[1e200, 1e200], [1, 1]], "B": [[1e200, 1], [-1e200, 1]]}),
    ("trace(A @ A)", {"A": [[1e8, 1e8], [-1e8, 1]]}),
    ("prod(x)", {"x": [1e-200, 1e-200, 1e300, 1e300]}),
    ("prod(x)", {"x": [1e200, 1e200, 1e-300]}),
    ("dot(x, y)", {"x": [1e8, 1, -1e8], "y": [1e8, 1, 1e8]}),
    ("det = A[0, 0]*A[1, 1] - A[0, 1]*A[1, 0]; det", {"A": [[1e8 + 1, 1e8], [1e8, 1e8 - 1]]}),
    # Sums of large and small numbers.
    ("sum(x)", {"x": [1e16, 1, -1e16]}),
    ("mean(x)", {"x": [1e17, 3, -1e17]}),
    ("sum(x) - sum(y)", {"x": [1e16, 3], "y": [1e16, 1]}),
    ("sum(x - mean(x))", {"x": [1e15, 1, 7]}),
    # Elementwise ruin, seen through tensors.
    ("sum((1 - cos(x))/x^2)", {"x": [1e-7, 1e-8, 1]}),
    ("sum(sqrt(x^2 + 1) - x)", {"x": [1e9, 2]}),
    ("max((exp(x) - 1)/x)", {"x": [1e-12, 1e-13]}),
    ("norm(sqrt(x + 1) - sqrt(x))", {"x": [1e15, 1e14]}),
    ("sum(tanh(x) - 1)", {"x": [15, 16, 18]}),
    ("logsumexp(x) - x[0]", {"x": [40, 0]}),
]  # fmt: skip


def numbers(run: Run) -> list[tuple[str, Any, Any]]:
    """The numbers of an answer, as the guard leaves them: name, number, and the truth."""
    over, _, nodes = expand_elements(run)
    outputs = [int(node) for node in nodes[run.graph.output].flat]
    found = enclose_outputs(over.graph, over.inputs, over.wrt, outputs=outputs)
    true = run.true
    listed = [
        (f"value{[*place]}", np.asarray(true.value)[place], found.values[int(node)])
        for place, node in np.ndenumerate(nodes[run.graph.output])
    ]
    for name, grad in true.gradient.items():
        for place, number in np.ndenumerate(np.asarray(grad)):
            assert found.swept is not None
            slope = found.swept.grads[over.graph.inputs[element_name(name, place)]]
            listed.append((f"{name}{[*place]}", number, exact_ball(0) if slope is None else slope))
    return listed


@pytest.mark.parametrize(("formula", "values"), CATASTROPHES)
def test_no_wrong_digit_is_silent(formula: str, values: dict[str, Any]) -> None:
    run = parse(formula).gradient(values)
    warned = " ".join(one.message for one in run.diagnostics if one.code == "lost-digits")
    is_corrected = run.true.corrected_value is not None or run.true.corrected
    assert (
        warned
        or is_corrected
        or min(run.digits["value"], *np.ravel([*run.digits["gradient"].values()])) >= COUNTED
    )
    for name, number, true in numbers(run):
        if math.isfinite(number) and true.is_finite() and bool(true != 0):
            with working_precision(256):
                off = float((abs(exact_ball(float(number)) - true) / abs(true)).abs_upper())
            assert off < 10.0**-COUNTED or "zero" in warned or "depends on how" in warned, (
                name,
                number,
            )


def test_a_tensor_is_corrected_place_by_place() -> None:
    run = parse("exp(x) - 1").evaluate(x=[1.0, 1e-13, 2.0])
    true = run.true
    assert true.corrected_value is not None
    sweep, answer = true.corrected_value
    assert np.array_equal(sweep, run.value) and np.array_equal(answer, true.value)
    assert (answer != sweep).tolist() == [False, True, False]
    assert answer[1] == math.expm1(1e-13)
    assert run.value[1] == math.exp(1e-13) - 1
    assert run.digits["value"] >= COUNTED
    (lost,) = [one for one in run.diagnostics if one.code == "lost-digits"]
    assert lost.message.startswith("(exp(x) - 1)[1] has 3 right digits in doubles")


def test_many_numbers_are_one_warning() -> None:
    run = parse("sum(X^2) - sum(Y^2)*[[1, 2, 3], [4, 5, 6]][0, 0] + 0*sum(X)").gradient(
        X=[[1e8, 2], [3, 4]], Y=[[1e8, 1], [1, 1]]
    )
    assert sum(one.code == "lost-digits" for one in run.diagnostics) == 1
    run = parse("sum((1 - cos(X))/X^2)").gradient(X=[[1e-7, 2e-7, 3e-7], [1e-8, 2, 4e-8]])
    (message,) = [d.message for d in run.diagnostics if "X.grad" in d.message]
    assert message.startswith("sum((1 - cos(X))/X^2) has no right digit in doubles; ")
    assert "; 5 of 6 numbers of X.grad lose digits in doubles, the worst, at [" in message


def test_documents_hold_whole_tensors() -> None:
    found = json.loads(command("grad", "--json", "sum((1-cos(x))/x^2)", "x=[1e-7,1]").out)
    Draft202012Validator(SCHEMA).validate(found)
    assert found["gradient"]["x"] == found["corrected"]["x"]["value"]
    assert len(found["corrected"]["x"]["sweep"]) == 2
    assert found["corrected"]["x"]["sweep"][1] == found["corrected"]["x"]["value"][1]
    found = json.loads(command("eval", "--json", "(1-cos(x))/x^2", "x=[1e-8,1]").out)
    Draft202012Validator(SCHEMA).validate(found)
    assert found["value"] == found["corrected_value"]["value"] == [0.5, 0.45969769413186023]
    assert found["corrected_value"]["sweep"][0] == 0.0


def test_decimals_that_lead_elsewhere_are_not_corrected() -> None:
    run = parse("x*3 - y").evaluate(x=[0.1, 1], y=[0.3, 3])
    assert run.true.corrected_value is None and run.digits["value"] == 0
    (lost,) = run.diagnostics
    assert "the answer depends on how" in lost.message


def test_above_the_limit_bounds_alone_speak() -> None:
    x = 1e8 + np.random.default_rng(0).normal(size=MOST_ELEMENTS)
    run = parse("s = mean(x^2) - mean(x)^2; s*[1, 2]").evaluate(x=x)
    assert run.true.value is run.value and run.digits == {"value": 0}
    (lost,) = run.diagnostics
    assert lost.code == "lost-digits" and run.graph.span(lost.node) == lost.span
    assert lost.message.startswith("all 2 numbers of s*[1, 2] may have no right digit, as far as")
    assert run.label(lost.node) == "s"
    assert lost.help is not None and "up to 4,096 elements over all nodes" in lost.help
    assert parse("mean(x^2)").gradient(x=x).diagnostics == []


def test_kinks_are_corrected_beside_lost_digits() -> None:
    run = parse("sum(abs(x)*abs(x) + x) + (1 - cos(c))/c^2").gradient(x=[0, 1], c=1e-7)
    assert run.true.gradient["x"].tolist() == [1, 3]
    assert run.true.gradient["c"] == pytest.approx(-1e-7 / 12)
    run = parse("sum(relu(x) - relu(-x) + (exp(x) - 1 - x))").gradient(x=[0, 1e-9])
    assert run.true.gradient["x"].tolist() == pytest.approx([1.0, 1.0])
    sweep, answer = run.true.corrected["x"]
    assert sweep.tolist()[0] == 0.0 and answer.tolist() == run.true.gradient["x"].tolist()


def test_a_gradient_too_large_to_write_out_names_the_first_grad_with_few_digits() -> None:
    """The value keeps its digits, and x^2 - 1 near 1 does not."""
    run = parse("sum(x^3/3 - x)").gradient(x=[1 + 1e-13 * place for place in range(1, 5001)])
    (lost,) = run.true.diagnostics
    assert run.digits == {"value": 12, "gradient": {"x": 1}}
    assert lost.message.startswith("all 5,000 numbers of x.grad may have 1 right digit only")
    assert lost.help is not None and lost.help.startswith(
        "x is the first to lose them; true numbers"
    )


def test_trust_and_kinks_up_to_the_limit() -> None:
    """Over all nodes 4,096 elements are looked at number by number, one more is not."""
    count = (MOST_ELEMENTS - 1) // 4
    x = np.linspace(-1, 1, count) + 1e-3
    x[5] = 0.0
    run = parse("sum(abs(x)*x + x)").gradient(x=x)
    assert len(run.graph) * count > count * 3
    assert run.trust().value.digits >= 12
    assert run.gradient["x"][5] == 1.0


def test_tables_mark_tensors_with_a_poor_number() -> None:
    """At the end of what is shown of a tensor; of what has moved from elsewhere, its data alone."""
    done = command("grad", "sum((1-cos(x))/x^2)", "x=[1e-7,1]")
    assert "[7992.78, -0.0779244]~" in done.out and "[4.996e-15, 0.459698]~" in done.out
    assert "[1e-14, 1] " in done.out and "~ fewer right digits than shown" in done.out
    done = command("eval", "sum((1-cos(x)).T)", "x=broadcast(1e-7, [3, 10])")
    assert done.out.count("1.49880") == 0 and "norm 2.7" in done.out.replace("2.736", "2.7")
    assert done.out.count("~") == 4
    assert "~" not in command("grad", "sum((1-cos(x))/x^2)", "x=[2, 1]").out
    assert "~" in command("grad", "--all", "sum((1-cos(x))/x^2)", "x=[1e-7,1]").out


def test_edges_of_a_domain_are_noted() -> None:
    run = parse("sum(x^1.5) + y^1.5").gradient(x=[0, 1, 0], y=0)
    told = [d for d in run.diagnostics if d.code == "edge"]
    assert [d.message for d in told] == [
        "the derivative along x[0] is 0 from the right alone: x[0]^1.5 is not defined on the left; "
        "and alike for 1 more number of x",
        "the derivative along y is 0 from the right alone: y^1.5 is not defined on the left",
    ]
    assert [run.graph.span(d.node) for d in told] == [d.span for d in told]
    assert parse("sum(x^1.5)").gradient(x=[1, 2]).diagnostics == []
