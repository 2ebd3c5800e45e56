"""The library as people use it: the same words and the same answers as the commands."""

from __future__ import annotations

import copy
import json
import math
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import exprgrad
from exprgrad import Expression, ExprgradError, InputError, LanguageError, RequestError, Run, parse
from shell import command

PRODUCT = parse("(a+b)*c")
AT: dict[str, Any] = {"a": 2, "b": -3, "c": 10}


def test_the_front_page() -> None:
    f = exprgrad.parse("(a+b)*c")
    assert isinstance(f, Expression)
    assert (f.text, f.inputs) == ("(a+b)*c", ("a", "b", "c"))
    run = f.gradient(a=2, b=-3, c=10)
    assert isinstance(run, Run)
    assert (run.value, run.gradient) == (-10.0, {"a": 10.0, "b": 10.0, "c": -1.0})
    assert run.order == [4, 3, 2, 1, 0]
    assert [node.text for node in run.nodes] == ["a", "b", "a + b", "c", "(a + b)*c"]
    assert [edge.contribution for edge in run.edges] == [10.0, -1.0, 10.0, 10.0]
    assert run.diagnostics == []


def test_one_question_in_one_call() -> None:
    assert exprgrad.grad("(a+b)*c", AT) == PRODUCT.grad(AT) == PRODUCT.gradient(AT).gradient
    assert exprgrad.grad(PRODUCT, AT, wrt="c") == {"c": -1.0}
    assert exprgrad.evaluate("(a+b)*c", AT).value == PRODUCT(AT) == PRODUCT(**AT) == -10.0
    assert exprgrad.diff("x^3*y", "x", 2) == parse("6*x*y")
    assert exprgrad.hessian("x^2*y", x=1, y=2) == parse("x^2*y").hessian(x=1, y=2)
    assert exprgrad.jacobian("y1 = a*b; y2 = a/b", a=1, b=2, of="y1") == {
        "y1": {"a": 2.0, "b": 1.0}
    }
    assert [found.verdict for found in exprgrad.check("x^2", x=1)] == ["agrees"]
    run = PRODUCT.gradient(AT)
    assert (run["a"], float(run), f"{run:.1f}", f"{run}") == (10.0, -10.0, "-10.0", run.table())
    assert parse("t = x*y; t^2").gradient(x=1, y=3)["t"] == 6.0


def test_arrays_go_through_compile() -> None:
    """Of numbers in every row; a formula of tensors takes them as they are."""
    numpy = pytest.importorskip("numpy")
    f, xs = parse("x^2*y"), numpy.linspace(0, 1, 7)
    value, gradient = f.compile()({"x": xs, "y": 3})
    assert (f(x=xs, y=3) == value).all() and f.columns is f.columns
    found = f.grad(x=xs, y=3)
    assert [*found] == ["x", "y"] and all((found[name] == gradient[name]).all() for name in found)
    assert [*f.grad({"x": [1, 2]}, y=3, wrt="y")] == ["y"]
    assert parse("sum(x^2)")(x=xs) == sum(xs**2)
    assert (parse("sum(x^2)").grad(x=xs)["x"] == 2 * xs).all()
    assert (parse("x^2", shapes={"x": (7,)})(x=xs) == xs**2).all()
    assert (parse("x^2")(xs) == xs**2).all() and parse("x^2")(3) == 9
    assert f(x="1/2", y=4) == 1.0 and f.grad(x="1/2", y=4) == {"x": 4.0, "y": 0.25}
    assert parse("x*y").derivative("x")(x=xs, y=2).shape == (7,)
    with pytest.raises(InputError, match="different lengths"):
        f(x=[1, 2], y=[1, 2, 3])
    with pytest.raises(ExprgradError, match=r"f\.grad"):
        f.gradient(x=xs, y=1)


def test_the_input_that_is_the_only_one() -> None:
    assert parse("sin(x)").derivative() == parse("cos(x)") == exprgrad.diff("sin(x)")
    assert parse("sin(x)").steps() == parse("sin(x)").steps("x")
    for text in ("x*y", "2"):
        with pytest.raises(InputError) as caught:
            parse(text).derivative()
        assert caught.value.code == "which-input"


def test_equal_formulas() -> None:
    """Node by node: blanks, comments and spellings aside, names and numbers not."""
    one = parse("(a+b)*c")
    for text in ("(a + b) * c", "((a+b)*c)  # the same"):
        assert parse(text) == one and hash(parse(text)) == hash(one)
    for text in ("c*(a+b)", "(a+b)*d", "(a+b)*2", "t = a+b; t*c", "y = (a+b)*c"):
        assert parse(text) != one
    assert parse("x**2") == parse("x^2") and parse("2*x") != parse("2.5*x")
    assert parse("x^2", shapes={"x": (2,)}) != parse("x^2")
    assert one != "(a+b)*c" and {one: 1}[parse("(a + b)*c")] == 1


def test_values_by_mapping_and_by_keyword() -> None:
    f = parse("lambda*x + self + values + wrt")
    run = f.gradient({"lambda": 2, "x": 3, "wrt": 1, "self": 0}, values="1/2")
    assert run.value == 7.5
    assert run.inputs == {"lambda": 2.0, "x": 3.0, "self": 0.0, "values": 0.5, "wrt": 1.0}
    assert f.gradient(
        {"lambda": 2, "x": 3, "wrt": 1, "self": 0, "values": 0}, wrt=["x"]
    ).gradient == {"x": 2.0}


def test_wrt() -> None:
    assert PRODUCT.gradient(AT, wrt=["c"]).gradient == {"c": -1.0}
    assert PRODUCT.gradient(AT, wrt="c").gradient == {"c": -1.0}
    assert list(PRODUCT.gradient(AT, wrt=("c", "a")).gradient) == ["a", "c"]


def test_every_choice_of_inputs_at_several_points() -> None:
    """More choices than are remembered: each has its own edges, in whatever order it comes back."""
    f = parse("t = max(a, b*b, c); t*logsumexp(a, c, d, t) - hypot(b, d)/c")
    names = "abcd"
    points: list[dict[str, Any]] = [
        {"a": 0.5, "b": -2, "c": 3, "d": 1},
        {"a": 9, "b": 2, "c": -1, "d": 0.25},
    ]
    choices = [[n for at, n in enumerate(names) if bits >> at & 1] for bits in range(1, 16)]
    for point in points:
        whole = f.gradient(point).gradient
        for chosen in [*choices, *choices[::-2]]:
            run = f.gradient(point, wrt=chosen)
            assert run.gradient == {name: whole[name] for name in chosen}
            arrived: dict[int, float] = {}
            for edge in run.edges:
                arrived[edge.operand] = arrived.get(edge.operand, -0.0) + edge.contribution
            assert {name: arrived[f.graph.inputs[name]] for name in chosen} == run.gradient


def test_evaluating_has_no_gradient() -> None:
    run = PRODUCT.evaluate(AT)
    assert (run.value, run.gradient, run.edges, run.order) == (-10.0, {}, [], [])
    assert all(node.grad is None for node in run.nodes)


def test_numpy_scalars() -> None:
    numpy = pytest.importorskip("numpy")
    run = PRODUCT.gradient(a=numpy.float64(2), b=numpy.int32(-3), c=numpy.float32(10))
    assert run.value == -10.0 and type(run.value) is float
    assert all(type(grad) is float for grad in run.gradient.values())


@pytest.mark.parametrize("value", [None, ["a"], 1j, "x", "2x", object()])
def test_wrong_types(value: object) -> None:
    with pytest.raises(ExprgradError) as caught:
        PRODUCT.gradient(AT | {"b": value})
    assert isinstance(caught.value, (InputError, LanguageError))


OUTPUTS = parse("y1 = a*b; y2 = a/b; y1^2")


def test_jacobians_and_hessians() -> None:
    at = {"a": 1, "b": "4/2"}
    assert OUTPUTS.jacobian(at) == OUTPUTS.gradient(at).gradient == {"a": 8.0, "b": 4.0}
    assert OUTPUTS.jacobian(at, wrt="b", of="y2") == {"y2": {"b": -0.25}}
    assert OUTPUTS.jacobian(at, of=("y2", "y1")) == {
        "y1": {"a": 2.0, "b": 1.0},
        "y2": {"a": 0.5, "b": -0.25},
    }
    assert OUTPUTS.hessian(a=1, b=2) == {"a": {"a": 8.0, "b": 8.0}, "b": {"a": 8.0, "b": 2.0}}
    assert OUTPUTS.hessian(at, wrt=["b"]) == {"b": {"b": 2.0}}
    assert OUTPUTS.hessian_pattern() == [("a", "a"), ("a", "b"), ("b", "a"), ("b", "b")]
    assert OUTPUTS.hessian_pattern("b") == [("b", "b")]


def test_products_with_vectors() -> None:
    at = {"a": 1, "b": 2}
    assert OUTPUTS.jvp(at, tangent={"a": "1/2", "b": 0}) == 4.0
    assert OUTPUTS.jvp(at, tangent={"a": 1, "b": 1}, of="y1") == {"y1": 3.0}
    assert OUTPUTS.vjp(at) == {"a": 8.0, "b": 4.0}
    assert OUTPUTS.vjp(a=1, b=2, cotangent=-1, wrt="a") == {"a": -8.0}
    assert OUTPUTS.vjp(at, cotangent={"y1": 1, "y2": 4}, of=["y1", "y2"]) == {"a": 4.0, "b": 0.0}
    assert parse("y = a").vjp(a=1, cotangent={"y": 2}) == {"a": 2.0}


def test_answers_are_the_caller_s_own() -> None:
    found = OUTPUTS.hessian(a=1, b=2)
    found["a"].clear()
    assert OUTPUTS.hessian(a=1, b=2)["a"] == {"a": 8.0, "b": 8.0}
    OUTPUTS.hessian_pattern().clear()
    assert len(OUTPUTS.hessian_pattern()) == 4
    assert pickle.loads(pickle.dumps(OUTPUTS)).jacobian(a=1, b=2) == {"a": 8.0, "b": 4.0}


@pytest.mark.parametrize(
    ("ask", "code"),
    [
        (lambda f, at: f.jacobian(at, of="y3"), "unknown-output"),
        (lambda f, at: f.jacobian(at, of=["a"]), "unknown-output"),
        (lambda f, at: f.jacobian(at, of=[]), "unknown-output"),
        (lambda f, at: f.jacobian(at, wrt=["y1"]), "unknown-input"),
        (lambda f, at: f.jacobian(a=1), "missing-input"),
        (lambda f, at: f.hessian(at, wrt=[]), "unknown-input"),
        (lambda f, at: f.hessian_pattern("c"), "unknown-input"),
        (lambda f, at: f.jvp(at, tangent={"a": 1}), "missing-tangent"),
        (lambda f, at: f.jvp(at, tangent={"a": 1, "b": 0, "c": 0}), "unknown-input"),
        (lambda f, at: f.jvp(at, tangent={"a": 1, "b": None}), "bad-value"),
        (lambda f, at: f.jvp(at, tangent={"a": 1, 2: 0}), "unknown-input"),
        (lambda f, at: f.vjp(at, of=["y1", "y2"]), "missing-cotangent"),
        (lambda f, at: f.vjp(at, of=["y1", "y2"], cotangent={"y2": 1}), "missing-cotangent"),
        (lambda f, at: f.vjp(at, cotangent={"y1": 1}), "unknown-output"),
        (lambda f, at: f.vjp(at, cotangent=[1, 2]), "bad-value"),
    ],
)
def test_wrong_questions(ask: Any, code: str) -> None:
    with pytest.raises(InputError) as caught:
        ask(OUTPUTS, {"a": 1, "b": 2})
    assert caught.value.code == code and caught.value.message


def test_errors_are_one_family() -> None:
    with pytest.raises(LanguageError, match="tanh"):
        parse("tahn(x)")
    with pytest.raises(InputError):
        PRODUCT.evaluate(a=1)
    with pytest.raises(RequestError):
        PRODUCT.evaluate(AT).trace()
    assert issubclass(LanguageError, ExprgradError)


@pytest.mark.parametrize("text", [None, 3, b"a+b", ["a"]])
def test_a_formula_is_a_text(text: Any) -> None:
    with pytest.raises((TypeError, ExprgradError)):
        parse(text)


@pytest.mark.parametrize("text", ["max(x, y)*x", "t = x; 2*y", "2+2"])
def test_pickling_and_copying(text: str) -> None:
    f = parse(text)
    values = dict.fromkeys(f.inputs, 2.5)
    for run in (f.gradient(values), f.evaluate(values)):
        for twin in (pickle.loads(pickle.dumps(run)), copy.deepcopy(run)):
            assert twin.json() == run.json() and type(twin) is type(run)
    assert pickle.loads(pickle.dumps(f)).gradient(values).json() == f.gradient(values).json()


def test_calling_twice_gives_the_same() -> None:
    one, other = PRODUCT.gradient(AT), PRODUCT.gradient(AT)
    assert one.gradient == other.gradient == {"a": 10.0, "b": 10.0, "c": -1.0}
    assert one.nodes == other.nodes and one.edges == other.edges
    assert one.gradient == one.gradient
    before = one.json()
    PRODUCT.gradient(a=0, b=0, c=0)
    assert one.json() == before


def test_a_run_does_not_share_the_caller_s_values() -> None:
    values = dict(AT)
    run = PRODUCT.gradient(values)
    values["a"] = 99
    assert run.inputs["a"] == 2.0
    run.gradient["a"] = 5.0
    assert run.gradient["a"] == 10.0


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("(a+b)*c", {"a": 2, "b": -3, "c": 10}), ("b=a+1; c=a*3; d=b*c", {"a": 2}),
        ("log(x)/0 + nan", {"x": -1}), ("where(x > 0, log(x), x)", {"x": -2}), ("2+2", {}),
        ("max(x, y) + abs(x)", {"x": 0, "y": 0}),
    ],
)  # fmt: skip
def test_json_is_what_the_command_prints(text: str, values: dict[str, float]) -> None:
    arguments = [f"{name}={value}" for name, value in values.items()]
    f = parse(text)
    assert f.gradient(values).json() == command("grad", "--json", text, *arguments).out
    assert f.evaluate(values).json() == command("eval", "--json", text, *arguments).out
    assert f.gradient(values).table() + "\n" == command("grad", text, *arguments).out
    assert f.gradient(values).trace() + "\n" == command("grad", "--trace", text, *arguments).out
    assert f.gradient(values).dot() == command("dot", text, *arguments).out
    document = json.loads(f.gradient(values).json())
    assert [d["code"] for d in document["diagnostics"]] == [
        d.code for d in f.gradient(values).diagnostics
    ]


def test_printing() -> None:
    assert str(parse(" ( a+b ) *c # a comment")) == "(a + b)*c"
    assert str(parse("e=a+b;f=e*c")) == "e = a + b; f = e*c"
    assert repr(parse("a + 'b'".replace("'b'", "b"))) == "exprgrad.parse('a + b')"
    run = PRODUCT.gradient(AT)
    assert str(run) == repr(run) == run.table()
    assert run.table(digits=2).endswith("= -10")


def test_a_notebook_shows_a_picture_where_it_can() -> None:
    for shown in (PRODUCT, PRODUCT.gradient(AT)):
        bundle = shown._repr_mimebundle_()
        assert bundle["text/plain"] == str(shown)
        assert "<svg" in bundle.get("image/svg+xml", "<svg")
    assert PRODUCT.gradient(AT)._repr_svg_() == PRODUCT.gradient(AT)._repr_mimebundle_().get(
        "image/svg+xml"
    )


def test_dot_of_a_formula_and_of_a_run() -> None:
    assert PRODUCT.dot().startswith("digraph")
    assert PRODUCT.dot() == command("dot", "(a+b)*c").out
    assert PRODUCT.dot() != PRODUCT.gradient(AT).dot()


def test_saving(tmp_path: Path) -> None:
    PRODUCT.save(tmp_path / "formula.dot")
    PRODUCT.gradient(AT).save(str(tmp_path / "run.DOT"))
    assert (tmp_path / "formula.dot").read_text(encoding="utf-8") == PRODUCT.dot()
    assert (tmp_path / "run.DOT").read_text(encoding="utf-8") == PRODUCT.gradient(AT).dot()
    for wrong in ("run.gif", "run", "missing/run.dot"):
        with pytest.raises(RequestError):
            PRODUCT.save(tmp_path / wrong)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["formula.dot", "run.DOT"]


def test_numbers_are_ieee() -> None:
    """Domain errors and overflow are numbers, never exceptions."""
    f = parse("log(x)^y / (x - x) % exp(z)")
    for x in (0.0, -1.0, math.inf, math.nan, 1e308):
        run = f.gradient(x=x, y=-2, z=1000)
        assert isinstance(run.value, float) and len(run.gradient) == 3


def test_derivatives_are_expressions() -> None:
    f = parse("x*y^2")
    slope = f.derivative("y")
    assert str(slope) == "2*x*y" and slope.evaluate(x=3, y=0.5).value == 3
    assert f.derivative("x").evaluate(x=3, y=2).value == 4  # x is not read, and yet known
    assert str(f.derivative("x").derivative("x")) == "0"
    assert str(f.derivative("y", 2)) == "2*x" and str(f.derivative("y", 3)) == "0"
    copy = pickle.loads(pickle.dumps(f.derivative("x")))
    assert copy.evaluate(x=1, y=3).value == 9 and copy.known == ("x", "y")
    assert f.steps("y").endswith("d/dy = 2*x*y")
    assert f.latex() == "x y^{2}" and f._repr_latex_() == r"$\displaystyle x y^{2}$"
    with pytest.raises(InputError):
        f.derivative("z")
    for order in (0, -1, 101, 1.5, "y"):
        with pytest.raises(RequestError) as caught:
            f.derivative("y", order)  # type: ignore[arg-type]
        assert caught.value.code == "bad-order"


def test_help_is_there() -> None:
    for name in ("parse", "Expression", "Run"):
        assert getattr(exprgrad, name).__doc__
    for owner in (Expression, Run):
        for name, member in vars(owner).items():
            if callable(member) and not name.startswith("_"):
                assert member.__doc__, name


def test_import_in_a_fresh_interpreter() -> None:
    code = "import exprgrad; print(exprgrad.parse('a*a').gradient(a=3).gradient)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("{'a': 6.0}\n", "")


@pytest.mark.parametrize("text", ["sqrt(-x)", "(-x)^0.5", "cbrt(-x)", "log(-x)", "log2(-x)"])
def test_an_infinite_gradient_has_the_sign_of_the_slope_beside_it(text: str) -> None:
    assert parse(text).gradient(x=0).gradient == {"x": -math.inf}
    beside = parse(text).gradient(x=-1e-300).gradient["x"]
    assert beside < 0


def test_the_modulus_s_derivative_for_y_is_whole() -> None:
    for x in range(1, 200):
        found = parse("x % y").gradient(x=x / 10, y=0.1).gradient["y"]
        assert found == round(found)
