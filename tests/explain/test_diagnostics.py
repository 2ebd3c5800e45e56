"""Where numbers stop being finite, kinks and jumps: what is said, and where nothing is said."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import golden
from exprgrad import parse
from exprgrad.explain.diagnostics import drop_exact_bound
from shell import command, spelled
from together import together

# Each: the formula, its values, and the diagnostics as "code" or "code?" for a note.
CASES: dict[str, list[tuple[str, str, str]]] = {
    "values": [
        ("log(x)", "x=-1", "nan"),
        ("log(x)", "x=0", "infinity"),
        ("1/x", "x=0", "infinity"),
        ("1/x", "x=-0.0", "infinity"),
        ("x/y", "x=0 y=0", "nan"),
        ("x % y", "x=1 y=0", "nan"),
        ("exp(x)", "x=1000", "infinity"),
        ("-exp(x)", "x=1000", "infinity"),
        ("-1e200*x", "x=1e200", "infinity"),
        ("x - y", "x=inf y=inf", "nan"),
        ("exp(x) - exp(x)", "x=1000", "lost-digits"),
        ("x*inf", "x=0", "nan"),
        ("nan*x", "x=2", "nan"),
        ("x", "x=nan", "nan"),
        ("x^y", "x=-2 y=0.5", "nan"),
        ("x^-1", "x=0", "infinity"),
        ("sqrt(x)", "x=-4", "nan"),
        ("asin(x)", "x=2", "nan"),
        ("acosh(x)", "x=0.5", "nan"),
        ("atanh(x)", "x=1", "infinity"),
        ("log1p(x)", "x=-1", "infinity"),
        ("sin(x)", "x=inf", "nan"),
        ("a = log(x); b = a + 1; b*b", "x=-1", "nan"),
        ("tanh(exp(x))", "x=1000", "lost-digits"),
        ("1/(1 + exp(x))", "x=1000", "lost-digits"),
        ("where(x > 0, log(x), 0)", "x=-1", "nan?"),
        ("where(x > 0, 1/x, x)", "x=-2", ""),
        ("log(-1)*x", "x=1", "nan"),
        ("1/0 + x", "x=1", "infinity"),
        ("1e400*x", "x=1", "infinity"),
        ("unused = log(x); x*x", "x=-1", "unused?"),
    ],
    "gradients": [
        ("sqrt(x)", "x=0", "infinite-gradient"),
        ("sqrt(x*x)", "x=0", "infinite-gradient kink"),
        ("asin(x)", "x=1", "infinite-gradient"),
        ("cbrt(x)", "x=0", "infinite-gradient"),
        ("x^0.5", "x=0", "infinite-gradient"),
        ("a*(b*1e-300)*1e300", "a=1e200 b=1", "infinite-gradient corrected"),
        ("x*1e308 + x*1e308", "x=0", "infinite-gradient"),
        ("1/x", "x=1e-200", "infinite-gradient"),
        ("exp(-1/x^2)", "x=1e-200", "lost-digits"),
    ],
    "kinks": [
        ("abs(x)", "x=0", "kink kink"),
        ("relu(x)", "x=0", "kink kink"),
        ("relu(x)", "x=-0.0", "kink kink"),
        ("max(a, b)", "a=1 b=1", "kink kink kink"),
        ("min(a, b, c)", "a=1 b=1 c=2", "kink kink kink"),
        ("max(a, b, c)", "a=1 b=1 c=2", ""),
        ("max(x, 0)", "x=0", "kink kink"),
        ("clamp(x, 0, 1)", "x=0", "kink kink"),
        ("clamp(x, 0, 1)", "x=1", "kink kink"),
        ("hypot(x, y)", "x=0 y=0", "kink kink kink"),
        ("abs(a) + abs(b)", "a=0 b=0", "kink kink kink kink"),
        ("x*relu(x)", "x=0", "kink exists?"),
        ("where(x > 1, abs(x), x)", "x=0", ""),
        ("abs(2)*x + max(1, 1)", "x=1", ""),
        ("dead = abs(x); x*x", "x=0", "unused?"),
    ],
    "jumps": [
        ("floor(x)", "x=2", "jump jump"),
        ("ceil(x)", "x=2", "jump jump"),
        ("round(x)", "x=2.5", "jump jump"),
        ("round(x)", "x=2", ""),
        ("sign(x)", "x=0", "jump jump"),
        ("x % 3", "x=6", "jump jump"),
        ("x % 3", "x=7", ""),
        ("x < 1", "x=1", "jump jump"),
        ("(x == y)*x", "x=1 y=1", "jump jump jump"),
        ("(x == y)*x", "x=1 y=2", ""),
        ("where(x >= 0, x, -x)", "x=0", "jump kink"),
        ("where(x, 1, x)", "x=0", "jump jump"),
        ("where((x > 0)*(x < 2), x, -x)", "x=3", ""),
        ("where(floor(x), 1, x)", "x=0.5", ""),
        ("atan2(y, x)", "y=0 x=-1", "jump jump exists?"),
        ("atan2(y, x)", "y=0 x=0", "jump nan-gradient jump jump"),
        ("atan2(y, x)", "y=0 x=1", ""),
        ("0^x", "x=0", "jump jump"),
        ("x^0", "x=0", ""),
    ],
    "smooth": [
        ("tanh(x1*w1 + x2*w2 + b)", "x1=2 w1=-3 x2=0 w2=1 b=6.88", ""),
        ("abs(x)", "x=-2", ""),
        ("x^3", "x=-2", ""),
        ("x^2", "x=0", ""),
        ("sqrt(x)", "x=1e-300", ""),
        ("exp(x)", "x=-1000", ""),
        ("log1p(exp(x))", "x=700", ""),
        ("erf(x) + sigmoid(x) + softplus(x)", "x=0", ""),
        ("sinc(x)", "x=1e-300", ""),
    ],
}  # fmt: skip


@pytest.mark.parametrize("group", CASES)
def test_diagnostics(group: str) -> None:
    """The codes are as listed; --strict exits with 1 exactly if there is a warning."""
    pieces = []
    for formula, values, expected in CASES[group]:
        argv = ["grad", "--strict", formula, *values.split()]
        status, out, err = command(*argv)
        assert out, argv
        assert err.count("warning: ") + err.count("note: ") == len(expected.split()), argv
        document = json.loads(command("grad", "--json", formula, *values.split()).out)
        found = document["diagnostics"]
        marks = {"warning": "", "note": "?"}
        assert " ".join(d["code"] + marks[d["severity"]] for d in found) == expected, argv
        assert status == int(any(d["severity"] == "warning" for d in found)), argv
        for diagnostic in found:
            assert diagnostic["message"] in err
            start, end = diagnostic["span"]
            assert 0 <= start < end <= len(formula)
        if found:
            pieces.append(f"{spelled(argv)}\n{err}exit {status}\n")
    if pieces:
        golden.agree(f"diagnostics/{group}.txt", "\n".join(pieces))


def test_spans_are_those_of_the_node() -> None:
    run = parse("a = 2*x\n1 + log(a - 4)").gradient(x=1)
    (found,) = run.diagnostics
    assert run.text[slice(*found.span)] == "log(a - 4)"
    assert run.nodes[found.node].op == "log"


def test_a_forward_sweep_has_no_kinks() -> None:
    """Kinks are about derivatives, so evaluating says nothing of them; trouble with values it does."""
    assert parse("abs(x)").evaluate(x=0).diagnostics == []
    assert [d.code for d in parse("log(x)").evaluate(x=0).diagnostics] == ["infinity"]


def test_only_chosen_inputs_have_kinks() -> None:
    f = parse("abs(a) + b*b")
    assert f.gradient(a=0, b=1, wrt=["b"]).diagnostics == []
    assert [d.code for d in f.gradient(a=0, b=1, wrt=["a"]).diagnostics] == ["kink", "kink"]


def test_without_strict_the_status_is_0() -> None:
    status, _, err = command("grad", "abs(x)", "x=0")
    assert status == 0 and err.startswith("warning: ")


def test_json_keeps_stderr_clean() -> None:
    status, out, err = command("grad", "--json", "--strict", "log(x)", "x=-1")
    assert (status, err) == (1, "")
    assert json.loads(out)["diagnostics"][0]["code"] == "nan"


def test_a_recurrence_is_used_if_one_of_its_terms_is() -> None:
    text = (
        "x[0] = a; y[0] = 1; x[k] = x[k-1]*y[k-1] for k in 1..3; y[k] = y[k-1] + 1 for k in 1..3; "
    )
    assert parse(text + "x[3]").gradient(a=2).diagnostics == []
    (told,) = parse(text + "z = 2*a; x[3]").gradient(a=2).diagnostics
    assert told.message == "the output does not use 'z'"
    assert {one.code for one in parse(text + "3*a").gradient(a=2).diagnostics} == {"unused"}


@pytest.mark.parametrize(
    ("text", "unused"),
    [
        ("n = 3; k = 2; sum(x^j for j in 1..n)", ["k"]),
        ("n = 3; m = 2; sum(x^j*i for j in 1..n for i in m..j)", []),
        ("n = 2; m = 1; v = [x, x^2, x^3]; v[n - 1]", ["m"]),
        ("n = 4; a[0] = x; a[k] = a[k - 1]/2 for k in 1..n; a[n]", []),
        ("u = x*2; v = u + x; w = 3; d(sin(v)*u, u)", ["w"]),
        ("n = 1; a = 2; y = [a*x, a]; sum(y) + x", ["n"]),
        ("n = 2; f(t) = sum(t^k for k in 1..n); f(x)", []),
        ("n = 2; m = 3; v = [n, x]; sum(v)", ["m"]),
    ],
)
def test_what_a_bound_or_a_derivative_reads_is_used(text: str, unused: list[str]) -> None:
    """A name in a bound, an index, or what is differentiated becomes no operand."""
    told = parse(text).gradient(x=2).diagnostics
    assert [one.message for one in told] == [f"the output does not use '{name}'" for name in unused]


@pytest.mark.parametrize("error", [np.array([[0.1, 0.2], [0.3, 0.4]]), 0.5])
def test_one_number_of_a_tensor_is_off_by_nothing(error: Any) -> None:
    value = np.ones((2, 2))
    left = drop_exact_bound(error, (1, 0), value)
    expected = np.broadcast_to(error, (2, 2)).copy()
    expected[1, 0] = 0.0
    assert np.array_equal(left, expected)
    assert drop_exact_bound(0.5, (), 1.0) == 0.0 and np.all(np.asarray(error) > 0)


@together(
    [
        ("root(1/(t - 0.5) + x, t, 0, 1)", "where its formula changes its sign, it jumps"),
        ("root(log(t) + x, t, -1)", "its formula is nan at t = -1"),
    ]
)
def test_why_a_root_is_not_found(text: str, why: str) -> None:
    run = parse(f"{text} + x").evaluate(x=0)
    assert any(
        "the root is not found" in told.message and why in told.message for told in run.diagnostics
    )
