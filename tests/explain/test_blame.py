"""Who is to blame for a nan or an infinity: the piece of the text, its way to the output, and the mend."""

from __future__ import annotations

import io
import json
import math
import re
import subprocess
import sys
from contextlib import redirect_stderr
from pathlib import Path
from typing import NamedTuple

import pytest

import golden
import programs
from exprgrad import Expression, parse
from exprgrad.cli.answer import show_diagnostics
from exprgrad.explain.diagnostics import NOT_FINITE
from shell import command, spelled, text_of
from together import together


class Case(NamedTuple):
    """By hand: what is typed, whom to blame, what for, its way to the output, what to write instead.

    ``codes`` are those of numbers that are not finite, ``?`` marking a note; ``span`` is the text that the
    first underlines, ``said`` a part of its message.  ``path`` and ``mend`` are of the first too; empty
    where there is none.
    """

    formula: str
    values: str
    codes: str
    span: str
    said: str
    path: str = ""
    mend: str = ""


# fmt: off
CASES = {
    "overflow": [
        Case("log(1 + exp(x))", "x=1000", "infinity", "exp(x)", "overflow, at x = 1000",
             "exp(x) → 1 + exp(x) → log(1 + exp(x))", "softplus(x)"),
        Case("1/(1 + exp(-x))", "x=-1000", "infinity", "exp(-x)", "0 times infinity between exp(-x) and -x",
             "exp(-x) → 1 + exp(-x) → 1/(1 + exp(-x))", "sigmoid(x)"),
        Case("1/(1 + exp(x))", "x=1000", "infinity", "exp(x)", "0 times infinity between exp(x) and x",
             "exp(x) → 1 + exp(x) → 1/(1 + exp(x))", "sigmoid(-x)"),
        Case("L/(1 + exp(-k*(t - t0)))", "L=2 k=10 t=0 t0=100", "infinity", "exp(-k*(t - t0))",
             "at -k*(t - t0) = 1000",
             "exp(-k*(t - t0)) → 1 + exp(-k*(t - t0)) → L/(1 + exp(-k*(t - t0)))", "L*sigmoid(k*(t - t0))"),
        Case("p = exp(z)/(1 + exp(z)); p*(1 - p)", "z=720", "infinity nan", "exp(z)",
             "overflow, at z = 720",
             "exp(z) → p → 1 - p → p*(1 - p)", "sigmoid(z)"),
        Case("exp(a)/(exp(a) + exp(b))", "a=1000 b=999", "infinity nan", "exp(a)", "overflow, at a = 1000",
             "exp(a) → exp(a)/(exp(a) + exp(b))", "sigmoid(a - b)"),
        Case("exp(a)/(exp(a) + exp(b) + exp(c))", "a=1000 b=999 c=0", "infinity nan", "exp(a)", "overflow",
             "exp(a) → exp(a)/(exp(a) + exp(b) + exp…", "exp(a - logsumexp(a, b, c))"),
        Case("-log(exp(a) + exp(b))", "a=800 b=2", "infinity", "exp(a)", "overflow",
             "exp(a) → exp(a) + exp(b) → log(exp(a) + exp(b)) → -log(exp(a) + exp(b))", "logsumexp(a, b)"),
        Case("(exp(x) - exp(-x))/(exp(x) + exp(-x))", "x=800", "infinity nan", "exp(x)", "overflow",
             "exp(x) → exp(x) - exp(-x) → (exp(x) - exp(-x))/(exp(x) + …", "tanh(x)"),
        Case("log(cosh(x))", "x=800", "infinity", "cosh(x)", "overflow", "cosh(x) → log(cosh(x))",
             "logsumexp(x, -x) - log(2)"),
        Case("sqrt(x^2 + y^2)", "x=3e200 y=4e200", "infinity", "x^2", "overflow, at x = 3e+200",
             "x^2 → x^2 + y^2 → sqrt(x^2 + y^2)", "hypot(x, y)"),
        Case("log(x*y)", "x=1e200 y=1e200", "infinity", "x*y", "overflow, at x = 1e+200, y = 1e+200",
             "x*y → log(x*y)", "log(x) + log(y)"),
        Case("exp(a)*exp(b)", "a=1000 b=-1000", "infinity nan", "exp(a)", "overflow",
             "exp(a) → exp(a)*exp(b)", "exp(a + b)"),
        Case("log(1 + exp(x)) + log(1 + exp(y))", "x=1000 y=900", "infinity", "exp(x)", "overflow",
             "exp(x) → 1 + exp(x) → log(1 + exp(x)) → log(1 + exp(x)) + log(1 + exp…", "softplus(x)"),
        Case("exp(x)", "x=1000", "infinity", "exp(x)", "overflow"),
        Case("exp(exp(x))", "x=7", "infinity", "exp(exp(x))", "overflow, at exp(x) = 1096.6331584284585"),
        Case("e = exp(x); s = 1/e; t = e - 1; s + t", "x=1000", "infinity", "exp(x)", "e is inf: overflow",
             "e → t → s + t"),
        Case("e = exp(x); s = 1/e; t = 2/e; s + t", "x=1000", "infinity", "exp(x)", "0 times infinity",
             "e → s → s + t"),
        Case("1e400*x", "x=1", "infinity", "1e400", "overflow", "1e400 → inf*x"),
    ],
    "domain": [
        Case("log(x)", "x=0", "infinity", "log(x)", "a pole, at x = 0"),
        Case("y*log(x - 3)", "x=1 y=2", "nan", "log(x - 3)", "outside the domain, at x - 3 = -2",
             "log(x - 3) → y*log(x - 3)"),
        Case("x^(1/3)", "x=-8", "nan", "x^(1/3)", "outside the domain, at x = -8", "", "cbrt(x)"),
        Case("r = x^y; r + 1", "x=-2 y=0.5", "nan", "x^y", "outside the domain", "r → r + 1", "abs(x)^y"),
        Case("asin(v/c)", "v=3 c=2", "nan", "asin(v/c)", "at v/c = 1.5"),
        Case("sqrt(1 - x*x)", "x=2", "nan", "sqrt(1 - x*x)", "at 1 - x*x = -3"),
        Case("acosh(x)", "x=0.5", "nan", "acosh(x)", "outside the domain"),
        Case("sin(x)", "x=inf", "nan", "sin(x)", "outside the domain, at x = inf"),
        Case("a = b*b; c = sqrt(a - 5); d = c + 1; d/a", "b=1", "nan", "sqrt(a - 5)", "c is nan",
             "c → d → d/a"),
        Case("x % y", "x=1 y=0", "nan", "x % y", "outside the domain"),
        Case("x/abs(x)", "x=0", "nan", "x/abs(x)", "0/0, outside the domain"),
    ],
    "forms": [
        Case("sin(x)/x", "x=0", "nan", "sin(x)/x", "0/0, outside the domain", "", "sinc(x)"),
        Case("2*sin(w*t)/(w*t)", "w=0 t=1", "nan", "2*sin(w*t)/(w*t)", "0/0", "",
             "2*sinc(w*t)"),
        Case("(1 - cos(x))/x^2", "x=0", "nan", "(1 - cos(x))/x^2", "0/0", "", "sinc(x/2)^2/2"),
        Case("x*log(y)", "x=0 y=0", "infinity nan", "log(y)",
             "a pole, at y = 0", "log(y) → x*log(y)", "xlogy(x, y)"),
        Case("x - y", "x=inf y=inf", "nan", "x - y", "inf - inf, at x = inf, y = inf"),
        Case("x/y", "x=inf y=-inf", "nan", "x/y", "inf/inf, at x = inf, y = -inf"),
        Case("x*y", "x=0 y=inf", "nan", "x*y", "0*inf, at x = 0, y = inf"),
        Case("x*exp(y)", "x=0 y=1000", "infinity nan", "exp(y)", "overflow", "exp(y) → x*exp(y)"),
        Case("exp(x) - exp(y)", "x=1000 y=1000", "infinity nan", "exp(x)",
             "overflow", "exp(x) → exp(x) - exp(y)"),
        Case("sinh(x)/cosh(x)", "x=800", "infinity nan", "sinh(x)",
             "overflow", "sinh(x) → sinh(x)/cosh(x)", "tanh(x)"),
        Case("x + 1", "x=nan", "nan", "x + 1", "x + 1 is nan, at x = nan"),
    ],
    "sweep": [
        Case("sqrt(x^2 + y^2)", "x=0 y=0", "infinite-gradient", "x^2 + y^2",
             "0 times infinity between y^2 and y", "",
             "hypot(x, y)"),
        Case("d = sqrt(x*x); 2*d", "x=0", "infinite-gradient", "x*x",
             "the local derivative of d for x*x is inf", "d → 2*d",
             "abs(x)"),
        Case("0*sqrt(x)", "x=0", "nan-gradient", "x",
             "0 times infinity between sqrt(x) and x", "sqrt(x) → 0*sqrt(x)"),
        Case("sqrt(x)", "x=0", "infinite-gradient", "x", "is inf at x = 0"),
        Case("atan(y/x)", "x=0 y=1", "infinity", "y/x",
             "a pole, at y = 1, x = 0", "y/x → atan(y/x)", "atan2(y, x)"),
        Case("exp(2*log(x))", "x=0", "infinity", "log(x)", "0 times infinity between log(x) and x",
             "log(x) → 2*log(x) → exp(2*log(x))", "x^2"),
        Case("tanh(exp(x))", "x=1000", "infinity", "exp(x)", "0 times infinity between exp(x) and x",
             "exp(x) → tanh(exp(x))"),
        Case("a*(b*1e-300)*1e300", "a=1e200 b=1", "infinite-gradient", "b*1e-300",
             "overflows: 1e+300 times 1e+200",
             "a*(b*1e-300) → a*(b*1e-300)*1e+300"),
        Case("x*1e308 + x*1e308", "x=0", "infinite-gradient", "x", "add up to inf",
             "x → x*1e+308 → x*1e+308 + x*1e+308"),
        Case("sqrt(floor(x))", "x=0.5", "infinite-gradient?", "floor(x)", "is inf at floor(x) = 0"),
        Case("x^2/cosh(x)", "x=800", "infinity", "cosh(x)", "overflow", "cosh(x) → x^2/cosh(x)",
             "2*x^2*exp(-abs(x))*sigmoid(2*abs(x))"),
        Case("1/cosh(x)", "x=800", "infinity", "cosh(x)", "0 times infinity", "cosh(x) → 1/cosh(x)",
             "2*exp(-abs(x))*sigmoid(2*abs(x))"),
    ],
}
# fmt: on
INSTEAD = re.compile(r"write (.*) instead of (.*?)( for the [a-z ]+| where .*?)?(:.*)?$")


def asked(case: Case) -> list[str]:
    return ["grad", "--strict", case.formula, *case.values.split()]


@pytest.mark.parametrize("group", CASES)
def test_who_is_blamed(group: str) -> None:
    """The span, the code, the way and the mend are those worked out by hand."""
    pieces = []
    for case in CASES[group]:
        status = command(*asked(case)).status
        found = [d._asdict() for d in parse(case.formula).gradient(given(case)).remarks]
        marks = {"warning": "", "note": "?"}
        found = [d for d in found if d["code"] in NOT_FINITE]
        assert " ".join(d["code"] + marks[d["severity"]] for d in found) == case.codes, case
        first = found[0]
        assert case.formula[slice(*first["span"])] == case.span, case
        assert case.said in first["message"], (case, first["message"])
        assert (first["path"] or "") == case.path, case
        instead = INSTEAD.match(first["help"] or "")
        assert (instead[1] if instead else "") == case.mend, (case, first["help"])
        assert status == ("?" not in case.codes)
        pieces.append(f"{spelled(asked(case))}\n{shown(case)}exit {status}\n")
    golden.agree(f"blame/{group}.txt", "\n".join(pieces))


def shown(case: Case) -> str:
    """What people read of a case, kinks and jumps aside."""
    run = parse(case.formula).gradient(given(case))
    mine = [found for found in run.remarks if found.code in NOT_FINITE]
    with redirect_stderr(io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="")) as err:
        show_diagnostics(run.text, mine, "never")
    return text_of(err)


def given(case: Case) -> dict[str, float]:
    """A case's values."""
    return {name: float(x) for name, x in (part.split("=") for part in case.values.split())}


MENDED = [case for group in CASES.values() for case in group if case.mend]


@together(MENDED)
def test_what_is_suggested_is_finite(case: Case) -> None:
    """Put in place by hand, the mend has a finite value and a finite gradient at the point."""
    values = given(case)
    if case.formula.startswith("log(1 + exp(x)) + "):
        values["y"] = 1.0  # it has two such places, and the mend is of the first
    text = parse(case.formula).gradient(values).remarks[0].help
    match = INSTEAD.match(text or "")
    assert match is not None
    was = parse(match[2]).text.replace(" ", "")
    formula = case.formula.replace(" ", "")
    assert was in formula
    run = parse(formula.replace(was, f"({match[1]})")).gradient(values)
    assert math.isfinite(run.value)
    if case.mend == "xlogy(x, y)":  # its derivative for x at 0 is infinite in truth
        assert run.gradient == {"x": -math.inf, "y": 0.0}
        return
    assert all(map(math.isfinite, run.gradient.values()))
    assert not NOT_FINITE & {d.code for d in run.diagnostics}


def test_eval_blames_too() -> None:
    """Without a sweep the value decides; a finite one makes it a note."""
    (found,) = parse("log(1 + exp(x))").evaluate(x=1000).remarks
    assert (found.code, found.severity) == ("infinity", "warning")
    assert found.help is not None and found.help.startswith("write softplus(x) instead of")
    (found,) = parse("1/(1 + exp(x))").evaluate(x=1000).remarks
    assert (found.severity, "sweep" in found.message) == ("note", False)
    assert found.help is not None and found.help.startswith("write sigmoid(-x) instead of")
    first, _ = parse("x*log(x)").evaluate(x=0).diagnostics
    assert (
        first.help
        == "write xlogy(x, x) instead of x*log(x) where x >= 0: log(x) is defined where x > 0"
    )


def test_nothing_is_suggested_that_does_not_help() -> None:
    """The derivative of x*log(x) at 0 is infinite, and the sum of two such exponentials too large."""
    for formula, values in (
        ("exp(x) + log(1 + exp(x))", {"x": 1000}),
        ("1 + exp(x) - 1", {"x": 800}),
    ):
        for found in parse(formula).gradient(values).diagnostics:
            assert "expm1" not in (found.help or "")
    (found,) = parse("sqrt(x*y)").gradient(x=-1, y=1).diagnostics
    assert found.help == "sqrt(x*y) is defined where x*y >= 0"


def test_nothing_is_suggested_that_is_another_function_there() -> None:
    """A rewrite's condition must hold at the point, though what it gives is finite."""
    (found,) = parse("log(x*y)").gradient(x=-1e200, y=-1e200).remarks[:1]
    assert found.help == "the largest double is 1.8e308"
    (found,) = parse("atan(y/x)").gradient(x=-1e-200, y=1e200).remarks[:1]
    assert found.help == "the least double is -1.8e308"
    (found,) = parse("atan(y/x)").gradient(x=1e-200, y=1e200).remarks[:1]
    assert str(found.help).startswith("write atan2(y, x) instead of atan(y/x)")


def test_a_name_that_is_bound_is_no_constant() -> None:
    """A statement may bind pi, and then that is what is tried."""
    (found,) = parse("pi = 1000*x; log(1 + exp(pi))").gradient(x=1).remarks[:1]
    assert str(found.help).startswith("write softplus(pi) instead of log(1 + exp(pi))")
    (found,) = parse("pi = 1e300*x; log(pi*1e200)").gradient(x=-1).remarks[:1]
    assert "instead" not in str(found.help)


def test_several_outputs_share_a_mend() -> None:
    """Of outputs that are chosen, the mend stands in the formula of the one that needs it."""
    status, out, _ = command(
        "jac", "--json", "a = log(1 + exp(x)); b = a*x", "--of", "a,b", "x=1000"
    )
    assert status == 0
    (found,) = json.loads(out)["diagnostics"]
    assert found["code"] == "lost-digits"
    assert "; write softplus(x) instead of log(1 + exp(x))" in found["help"]


def test_one_cause_is_one_warning() -> None:
    """Where the digits that an overflow costs are corrected, nothing else is said of it."""
    for formula, values in (
        ("sqrt(x*x + y*y)", {"x": 1e200, "y": 1e200}),
        ("exp(x)/(1 + exp(x))", {"x": 720}),
        ("exp(x) - exp(x)", {"x": 1000}),
        ("u = exp(x)*exp(x); log(u)", {"x": 400}),
    ):
        run = parse(formula).gradient(values)
        assert run.remarks
        (found,) = run.diagnostics
        assert found.code == "lost-digits" and found.path == run.remarks[0].path
        assert found.node == run.remarks[0].node and found.help
    (found,) = parse("exp(-1/x^2)").gradient(x=1e-200).diagnostics
    assert found.help is not None and found.help.startswith("x^2 loses them: underflow")
    (found,) = parse("p = 1/(1 + exp(x)); log(p)").gradient(x=2000).diagnostics
    assert found.help is not None and found.help.startswith("exp(x) loses them: it is inf")
    assert [d.code for d in parse("exp(x)").gradient(x=1000).diagnostics] == ["infinity"]


# Branches that were not taken.

DEAD = {
    "where(x > 0, sqrt(x), 0)": ({"x": -1.0}, 0.0, {"x": 0.0}),
    "where(x > 0, log(x), x)": ({"x": -1.0}, -1.0, {"x": 1.0}),
    "where(x > 0, 1/x, x^2)": ({"x": -3.0}, 9.0, {"x": -6.0}),
    "where(x == 0, 1, sin(x)/x)*x": ({"x": 0.0}, 0.0, {"x": 1.0}),
    "where(x > 1, where(x > 2, log(x - 2), sqrt(x - 1)), x*x)": ({"x": 0.5}, 0.25, {"x": 1.0}),
    "where(x < 2, where(x < 0, sqrt(-x), x^3), log(x - 2))": ({"x": 1.0}, 1.0, {"x": 3.0}),
    "r = sqrt(x); where(x > 0, r*y, y)": ({"x": -4.0, "y": 5.0}, 5.0, {"x": 0.0, "y": 1.0}),
    "r = sqrt(x*x); where(x > 1, r, r*0 + x)": ({"x": -2.0}, -2.0, {"x": 1.0}),
    "e = exp(x); where(x > 700, x, log(e))": ({"x": 1000.0}, 1000.0, {"x": 1.0}),
    "d = x - 1; q = 1/d; where(d == 0, d*3, q*d)": ({"x": 1.0}, 0.0, {"x": 3.0}),
    "where(y > 0, x/y, x)*where(x > 0, y, sqrt(x))": ({"x": 2.0, "y": 0.0}, 0.0, {"x": 0.0, "y": 2.0}),
    "where(x > 0, x^y, 1)": ({"x": -2.0, "y": 0.5}, 1.0, {"x": 0.0, "y": 0.0}),
    "where(0, log(x), x)": ({"x": -1.0}, -1.0, {"x": 1.0}),
}  # fmt: skip
"""A formula, a point, and value and gradient there by hand."""


@pytest.mark.parametrize("text", DEAD)
def test_a_dead_branch_never_poisons_a_gradient(text: str) -> None:
    """Neither the sweep's nor a Jacobian's, a product's or a derivative's as a formula."""
    given, value, gradient = DEAD[text]
    f = parse(text)
    run = f.gradient(given)
    assert (run.value, run.gradient) == (value, gradient)
    assert f.jacobian(given) == gradient
    assert f.vjp(given) == gradient
    for name, slope in gradient.items():
        assert f.jvp(given, tangent={n: float(n == name) for n in given}) == slope
        assert f.derivative(name).evaluate(only(f.derivative(name), given)).value == slope
    assert all(math.isfinite(x) for row in f.hessian(given).values() for x in row.values())
    assert {d.severity for d in run.diagnostics if d.code in ("nan", "infinity")} <= {"note"}


def only(formula: Expression, given: dict[str, float]) -> dict[str, float]:
    """The values of the inputs that a formula may be given."""
    return {name: x for name, x in given.items() if name in (*formula.inputs, *formula.known)}


TARGETS = [
    *["python", "numpy", "c", "javascript"],
    *[pytest.param(name, marks=pytest.mark.slow) for name in ("jax", "torch")],
]


@pytest.mark.parametrize("target", TARGETS)
def test_a_dead_branch_never_poisons_a_program(target: str, tmp_path: Path) -> None:
    """Nor the gradient of a program in another language."""
    listed = []
    for number, (text, (given, _, _)) in enumerate(DEAD.items()):
        name = f"f{number}"
        source = parse(text).code(target, name=name)
        names = parse(text).inputs
        listed.append(programs.Program(source, name, len(names), [[given[n] for n in names]]))
    answers = programs.run(target, listed, tmp_path)
    for (text, (_, value, gradient)), (answer,) in zip(DEAD.items(), answers, strict=True):
        slopes = [gradient[name] for name in parse(text).inputs]
        assert (answer.value, answer.gradient) == (value, slopes), text


def test_finite_points_load_nothing_of_this() -> None:
    """The machinery of blame is imported where there is something to blame, and not before."""
    code = (
        "import sys, exprgrad; exprgrad.parse('log(x)*abs(x)').gradient(x=2).diagnostics;"
        "assert not [m for m in sys.modules if m.endswith(('not_finite', 'rewrites'))]"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("formula", "inputs", "help"),
    [
        ("1/x", {"x": 0}, "1/x is defined where x != 0"),
        ("a/b", {"a": 1, "b": 0}, "a/b is defined where b != 0"),
        ("y % (x - 1)", {"x": 1, "y": 0}, "y%(x - 1) is defined where x - 1 != 0"),
        ("xlogy(a, b)", {"a": 1, "b": -1}, "xlogy(a, b) is defined where b is positive, or a is 0"),
        ("y/0", {"y": 1}, "x/y is defined where y != 0"),
    ],
)
def test_where_an_operation_is_defined_in_the_words_of_the_formula(
    formula: str, inputs: dict[str, float], help: str
) -> None:
    assert parse(formula).evaluate(inputs).diagnostics[0].help == help
