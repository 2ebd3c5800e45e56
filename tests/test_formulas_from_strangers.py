"""Formulas of strangers: bounded work, by counts, with one error for what is too large."""

from __future__ import annotations

import importlib
import json
import math
import pickle
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import exprgrad
from corpus import table, trades
from exprgrad.derive import placeholders
from exprgrad.derive.build import GraphBuilder
from exprgrad.derive.simplify.forms import Forms
from exprgrad.graph.graph import STEPS, Budget, limit_text
from exprgrad.graph.ops import BY_NAME, MOST_BITS, rational_power
from exprgrad.language.read.expansion import Expander
from shell import command
from strangers import LONGEST, drawn_texts, outcomes
from together import together

DOUBLED = (
    "f0(x)=x+x; " + "; ".join(f"f{i}(x)=f{i - 1}(x)+f{i - 1}(x)" for i in range(1, 30)) + "; f29(x)"
)


@pytest.mark.slow
@together(
    [
        ("eval", "sum(broadcast(x, shape=[100000,100000]))", "broadcast(x, shape=[100000,100000])"),
        ("eval", "linspace(0, x, 2000000000)", "linspace(0, x, 2000000000)"),
        ("grad", "sum(x^k for k in 1..2000000000)", "sum(x^k for k in 1..2000000000)"),
        ("eval", DOUBLED, "f29(x)"),
        ("eval", "s[0] = x; s[k] = s[k-1]/2 for k in 1..2000000000; s[9]", "s"),
        (
            "eval",
            "f(a) = x + sum([2 for j in 1..1000]); sum(f(k) for k in 1..1000)",
            "sum(f(k) for k in 1..1000)",
        ),
        ("grad", "d(exp(2*x), x, 100000)", "d(exp(2*x), x, 100000)"),
    ]
)
def test_what_is_too_large_is_refused(name: str, text: str, place: str) -> None:
    status, out, err = command(name, text, "x=1", "--json")
    error = json.loads(out)["error"]
    assert (status, err, error["code"]) == (2, "", "too-large")
    assert text[slice(*error["span"])] == place
    assert "--limit" in error["help"]


@together(
    [
        ("eval", "sum(x^k for k in 1..100)"), ("hess", "sum(sin(k*x) for k in 1..30)"),
        ("diff", "+".join(f"sin({k}*x)" for k in range(30))),
        ("eval", "sum(linspace(0, x, 1000))"), ("solve", "sum(x^k for k in 1..100) = 3"),
        ("minimize", "sum(x^(2*k) for k in 1..100)"), ("plot", "sum(x^k for k in 1..100)"),
        ("dot", "sum(x^k for k in 1..100)"), ("check", "sum(x^k for k in 1..100)"),
        ("code", "sum(x^k for k in 1..100)", "--to", "c"),
    ]
)  # fmt: skip
def test_every_command_takes_a_limit(name: str, text: str, *options: str) -> None:
    values = {
        "eval": ["x=1"],
        "hess": ["x=1"],
        "solve": ["x=0:1"],
        "minimize": ["x=1"],
        "plot": ["x=0:1"],
    }
    status, out, _ = command(
        name, text, *values.get(name, []), *options, "--limit", "18000", "--json"
    )
    assert (status, json.loads(out)["error"]["code"]) == (2, "too-large")


def test_python_raises_the_same() -> None:
    with pytest.raises(exprgrad.RequestError) as caught:
        exprgrad.parse("sum(x^k for k in 1..1000)", limit=10_000)
    assert caught.value.code == "too-large" and "limit=100000" in str(caught.value.help)
    formula = exprgrad.parse("exp(sin(x)*x)", limit=2_000)
    with pytest.raises(exprgrad.RequestError):
        formula.hessian(x=1)
    with pytest.raises(exprgrad.RequestError):
        pickle.loads(pickle.dumps(formula)).hessian(x=1)
    with pytest.raises(TypeError):
        exprgrad.parse("x", limit="a lot")  # type: ignore[arg-type]


def test_a_greater_limit_allows_more() -> None:
    text = "sum(linspace(0, x, 4000000))"
    with pytest.raises(exprgrad.RequestError):
        exprgrad.parse(text)(x=1)
    assert exprgrad.parse(text, limit=10 * STEPS)(x=1) == pytest.approx(2_000_000)


def test_long_texts_bring_their_own_steps() -> None:
    assert Budget.from_text("x" * 100_000).steps == STEPS
    assert Budget.from_text("x" * 1_000_000).steps == 10 * STEPS
    assert Budget.from_text(limit_text("x" * 1_000_000, 5)).steps == 5


@together([*(text for _, text in table("corpus.txt")), *(each.text for each in trades())], every=8)
def test_formulas_that_people_use_stay_far_below_the_limit(text: str) -> None:
    """A tenth of it is enough; those of the docs are run under the usual one by ``test_docs.py``."""
    formula = exprgrad.parse(text, limit=STEPS // 10)
    if formula.is_elementwise:
        assert formula.code("python")
        assert formula.derivative(formula.inputs[0]).text


@pytest.mark.parametrize(
    ("name", "size"), [("tree", 50_000), ("chain", 50_000), ("product", 1000), ("composition", 100)]
)
def test_formulas_of_the_benchmarks_are_accepted(
    name: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(Path(__file__).parents[1])
    make = getattr(importlib.import_module("benchmarks.formulas"), name)
    formula = exprgrad.parse(make(size))
    assert formula.gradient(dict.fromkeys(formula.inputs, 0.5)).gradient.keys() == {*formula.inputs}


def test_turns_of_all_indices_count_together() -> None:
    """Lists of numbers leave no nodes behind, and are work all the same."""
    for text in (
        "s[0] = x; s[k] = s[k-1]*sum([2 for j in 1..100]) for k in 1..100; s[1]",
        "sum(x + sum([2 for j in 1..100]) for k in 1..100)",
    ):
        with pytest.raises(exprgrad.RequestError):
            exprgrad.parse(text, limit=10**6)


def test_a_named_product_of_nothing_is_no_divisor() -> None:
    text = "root(x+(d(where(0.1 < -1, 40, 1e19), a, 1000000)/elliptic_k((x-x))), x, 0, 2)"
    assert exprgrad.parse(text)(a=1) == 0


def test_numbers_that_grow_without_end_are_not_worked_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """``(1e308*a)^1000`` as a formula: its number would have a million bits."""
    longest: list[int] = []

    def power(base: Fraction, exponent: Fraction) -> Fraction | None:
        found = rational_power(base, exponent)
        longest.append(0 if found is None else (found.numerator * found.denominator).bit_length())
        return found

    monkeypatch.setitem(BY_NAME, "pow", BY_NAME["pow"]._replace(exact=power))
    assert exprgrad.parse("prod(a/1e-308 for n in 1..100)").derivative("a").text
    assert longest and max(longest) <= 2 * MOST_BITS


def test_what_passes_through_a_long_list_grows_in_proportion(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Counted: nodes that are looked up while a gradient is built."""
    looked_up: list[int] = []

    class Images(list[int]):
        def __getitem__(self, node: Any) -> Any:
            looked_up.append(node)
            return super().__getitem__(node)

    include = GraphBuilder.include
    monkeypatch.setattr(
        GraphBuilder, "include", lambda *given, **more: Images(include(*given, **more))
    )
    counts = []
    for length in (100, 400):
        looked_up.clear()
        formula = exprgrad.parse(f"sum(cumsum([x*k for k in 1..{length}]))")
        assert formula.gradient(x=1).gradient["x"] == sum(
            k * (length + 1 - k) for k in range(1, length + 1)
        )
        counts.append(len(looked_up))
    assert counts[1] <= 5 * counts[0]


def test_values_that_are_passed_in_do_not_count() -> None:
    import numpy as np

    formula = exprgrad.parse("sum((x - 1)^2)", limit=100_000)
    assert formula(x=np.ones(50_000)) == 0
    with pytest.raises(exprgrad.RequestError):
        exprgrad.parse("sum(broadcast(x, shape=[50000]))", limit=100_000)(x=1)


def test_what_a_nan_cancels_is_simplified_once() -> None:
    text = "-(-(-(-(-(-(atan(1/(1/(1/(1/(1/(1/(1/(1/((x/nan))))))))))))))))"
    assert exprgrad.parse(text).derivative("x").text


def test_an_index_is_asked_once_whether_its_name_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not once a turn, for that looks at every name: a recurrence of 100,000 turns took minutes."""
    asked: list[str] = []
    refuse = Expander.refuse_taken

    def count(reader: Expander, name: str, *others: Any) -> None:
        asked.append(name)
        refuse(reader, name, *others)

    monkeypatch.setattr(Expander, "refuse_taken", count)
    exprgrad.parse("s[0] = x; s[k] = sum(s[k-1]*i for i in 1..2) for k in 1..100; s[100]")
    assert asked.count("i") <= 3


def test_the_work_stops_at_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted: nothing goes on appending or rewriting beyond the limit."""
    made: list[int] = []
    rewrites: list[int] = []
    append, intern = GraphBuilder.append, Forms.intern

    def count_node(*arguments: Any) -> int:
        made.append(1)
        return append(*arguments)

    def count_rewrite(*arguments: Any) -> int:
        rewrites.append(1)
        return intern(*arguments)

    monkeypatch.setattr(GraphBuilder, "append", count_node)
    monkeypatch.setattr(Forms, "intern", count_rewrite)
    formula = exprgrad.parse("+".join(f"sin(x*{k})^{k}" for k in range(300)), limit=1_000_000)
    with pytest.raises(exprgrad.RequestError):
        formula.hessian(x=1)
    assert not made  # there are more nodes than that already
    with pytest.raises(exprgrad.RequestError):
        formula.code("python")
    assert 1000 <= len(made) <= 1500  # templates of rules are built, too
    formula = exprgrad.parse("+".join(f"sin(x*{k})^{k}" for k in range(300)), limit=2_000_000)
    with pytest.raises(exprgrad.RequestError):
        formula.derivative("x")
    assert len(rewrites) <= 2 * 2_000_000 // 1000 + 1024


@pytest.mark.parametrize(
    ("text", "x", "value"),
    [
        ("d(1/x, x, 40)", 2.0, math.factorial(40) / 2**41),
        ("d(x^100, x, 101)", 2.0, 0.0),
        ("d(x^100, x, 99)", 2.0, 2 * float(math.factorial(100))),
        ("d(exp(x), x, 1000000)", 1.0, math.e),
        ("d(cosh(2 + x), x, 1000001)", 1.0, math.sinh(3)),
        ("d(sin(x) + exp(x), x, 1000003)", 1.0, math.e - math.cos(1)),
        ("sum(d(x^k, x, k) for k in 1..30)", 1.5, float(sum(map(math.factorial, range(1, 31))))),
        ("d(log(x), x, 40)", 1.0, -float(math.factorial(39))),
        ("d(log(x), x, 40)", -1.0, math.nan),
        ("d(exp(sin(x)*x), x, 40)", 1.0, -5.2381725383534614e36),  # mpmath's taylor, in 60 digits
        ("d(x^x, x, 20)", 2.0, 15169897275.595417),
        ("d(acosh(x), x, 30)", -2.0, math.nan),
        ("d(x^2.5, x, 40)", -1.0, math.nan),
        ("f(y) = d(1/y, y, 30); f(2*x)", 1.0, math.factorial(30) / 2**31),
    ],
)
def test_a_derivative_of_high_order_inside(text: str, x: float, value: float) -> None:
    assert exprgrad.parse(text)(x=x) == pytest.approx(value, rel=1e-10, nan_ok=True)


@pytest.mark.parametrize(
    "text", ["d(1/x, x, 40)", "d(log(x), x, 40)", "d(log10(x), x)", "where(x > 0, log(x), nan)"]
)
@pytest.mark.parametrize("name", ["grad", "hess"])
def test_nothing_is_said_of_what_nobody_wrote(name: str, text: str) -> None:
    """No jump between x and itself, and no nan in a branch that is not taken."""
    status, _, err = command(name, text, "x=2", "-q", "--strict")
    assert (status, err) == (0, "")


@pytest.mark.parametrize(
    ("text", "found"),
    [("d(log(x), x)", "-1/x^2"), ("d(log10(x), x)", "-1/(x^2*log(10))")],
)
def test_a_derivative_inside_is_derived_as_a_person_would(text: str, found: str) -> None:
    """By the rules that people read, and not by those that compute."""
    assert command("diff", text, "-q")[:2] == (0, f"{found}\n")
    assert str(exprgrad.parse(text).derivative("x")) == found


def test_few_nodes_are_made_for_a_high_order(monkeypatch: pytest.MonkeyPatch) -> None:
    makers: list[placeholders.PlaceholderResolver] = []
    init = placeholders.PlaceholderResolver.__init__

    def begin(maker: placeholders.PlaceholderResolver, *arguments: Any) -> None:
        makers.append(maker)
        init(maker, *arguments)

    monkeypatch.setattr(placeholders.PlaceholderResolver, "__init__", begin)
    for text in ("d(1/x, x, 40)", "d(x^100, x, 101)", "d(exp(x), x, 1000000)"):
        exprgrad.parse(text)
        assert len(makers.pop().made) < 5 * placeholders.MANY_NODES


def test_a_high_order_as_a_formula_stays_short() -> None:
    found = exprgrad.parse("exp(sin(x)*x)").derivative("x", 40)
    assert len(found.text) < 60_000
    assert found(x=1) == pytest.approx(-5.2381725383534614e36, rel=1e-9)


def test_a_derivative_inside_is_printed_as_the_row_shows_it() -> None:
    text = str(exprgrad.parse("d(elliptic_k(a), a)"))
    assert len(text) < 100
    assert exprgrad.parse(text)(a=0.5) == pytest.approx(
        exprgrad.parse("d(elliptic_k(a), a)")(a=0.5)
    )


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux's limits")
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_no_text_of_a_stranger_brings_a_process_down(seed: int) -> None:
    """An answer or an error for each, in a gigabyte: no traceback, no memory that runs out."""
    texts = drawn_texts(12 if seed == 1 else 60, seed)
    assert max(map(len, texts)) <= LONGEST
    failed = {
        found.text: found.failures
        for found in outcomes(texts, 10**6 if seed == 1 else None)
        if found.failures
    }
    assert not failed


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_that_allows_nothing_is_refused(limit: int) -> None:
    with pytest.raises(exprgrad.RequestError, match="at least 1, not"):
        exprgrad.parse("x", limit=limit)


def test_a_long_text_brings_no_more_work_for_its_second_derivatives() -> None:
    """Its gradient takes work in proportion to it."""
    text = "+".join(f"sin({k}*x)" for k in range(40_000))
    formula = exprgrad.parse(text)
    assert formula.gradient(x=0.5).gradient
    with pytest.raises(exprgrad.RequestError) as caught:
        formula.hessian(x=0.5)
    assert caught.value.code == "too-large"
    short = exprgrad.parse("+".join(f"sin({k}*x)" for k in range(100)), limit=10**7)
    assert short.hessian(x=0.5)
