"""What people try who know SymPy, autograd, JAX, PyTorch or micrograd: it works, or is answered."""

from __future__ import annotations

import copy
import json
import math
import re
import warnings
from collections.abc import Callable

import numpy
import pytest

import exprgrad
from exprgrad.api import guesses
from golden import CASES, agree

FUNCTIONS = r"""
exprgrad.grad("x^2", x=2)
exprgrad.grad("x**2*y", {"x": 2, "y": 3}, wrt="y")
exprgrad.grad("x^2")
exprgrad.grad(f, x=1, y=2)
exprgrad.gradient("x^2", x=2)
exprgrad.diff("x^2", "x")
exprgrad.diff("x^3")
exprgrad.diff("x^3", "x", 2)
exprgrad.diff("x*y")
exprgrad.derivative("x^2", "x")
exprgrad.diff("x^2*y", wrt="x")
exprgrad.diff("x^2*y", wrt=["x", "y"])
exprgrad.grad("(1 - cos(x))/x^2", x=1e-7)
exprgrad.parse(r"\frac{x}{2}")
exprgrad.parse("frobnicate(x)")
exprgrad.eval("x^2", x=3)
exprgrad.evaluate("x^2", x=3).value
exprgrad.value_and_grad("x^2", x=3)
exprgrad.hessian("x^2*y", x=1, y=2)
exprgrad.jacobian("u = x*y; v = x/y; v", x=1, y=2, of=["u", "v"])
exprgrad.jvp("x*y", x=1, y=2, tangent={"x": 1, "y": 0})
exprgrad.check("x^2", x=2)[0].verdict
exprgrad.check("x^2", claims={"x": "3*x"})[0].verdict
exprgrad.simplify("x + x")
exprgrad.sympify("x^2")
exprgrad.symbols("x y")
exprgrad.Expression("x^2*y") == f
exprgrad.Variable(2.0)
exprgrad.grad(lambda x: x**2)(2.0)
exprgrad.grad(math.sin)
exprgrad.jit
exprgrad.vmap
exprgrad.lambdify("x", "x^2")
exprgrad.latex("x^2")
exprgrad.solve("x^2 - 2")
exprgrad.pasre("x^2")
exprgrad.parse("x^2 y")
exprgrad.parse("np.tanh(x)")
exprgrad.parse(f)
exprgrad.parse(3)
exprgrad.draw_dot(a)
exprgrad.version
"""
EXPRESSIONS = """
f(x=1, y=2)
f({"x": 1, "y": 2})
f(1, 2)
g(math.pi/2)
f(x=numpy.array([1.0, 2.0]), y=2)
f(x=[1.0, 2.0], y=[3.0, 4.0])
exprgrad.parse("sum(x)")(x=[1.0, 2.0])
f.grad(x=1, y=2)
f.grad(x=1, y=2, wrt=["x"])
f.grad(x=numpy.array([1.0, 2.0]), y=2)
f.grad(x=numpy.array([1.0, 2.0]), y=2, wrt="y")
exprgrad.parse("sum(x^2)").grad(x=[1.0, 2.0])
f.grad("x")
f.diff("x")
f.descend(x=1, y=2, steps=3, wrt="x")
f.derivative()
g.derivative()
g.steps().splitlines()[-1]
f.derivative("x", "y")
f.derivative("x").derivative("y")
f.derivative("z")
f.subs(x=2)
f.eval(x=1, y=2)
f.simplify()
f.free_symbols
f.lambdify()
f.compile()(x=[1.0, 2.0], y=[3.0, 4.0])
f.backward()
f.hessian(x=1, y=2)
f + 1
2*f
f == exprgrad.parse("x ** 2 * y")
f == g
{f: 1}[exprgrad.parse("x^2*y")]
f.gradient([1, 2])
f.gradient(x=1)
f.gradient(x=1, y=2, z=3)
f.gradient(x=1, y=2, wrt="z")
f.gradient(x=numpy.linspace(0, 1, 5), y=2)
f.plot()
f.draw()
f.to_latex()
f.code("np")
f.code("c", hessian=5)
f.derivative("x", wrt="x")
exprgrad.parse("[x, y]").grad(x=1, y=2)
exprgrad.parse("[x*y, x+y]").code("c")
f.to_python()
"""
RUNS = """
run["x"]
run["z"]
run[0]
float(run)
f"{run:.3f}"
run.grads
run.grad("x")
run.data
run.backward()
f.evaluate(x=1, y=2)["x"]
exprgrad.parse("u = x*y; u^2").gradient(x=1, y=2)["u"]
"""
VALUES = """
float(a), round(a, 1), math.exp(a), f"{a:.2f}", a.name
a.item()
a.zero_grad()
a.detach()
a.requires_grad
a.sum()
a.gradient
a + "x"
a.relu(1)
exprgrad.Value(2.0, "a")
exprgrad.Value([1, 2])
exprgrad.Value(numpy.array([1.0, 2.0]))
exprgrad.Value(3.0, (1.0, 2.0))
exprgrad.Value(3.0, 2)
sum([a, a], 0.5)
numpy.exp(a)
"""


@pytest.mark.parametrize("name", ["functions", "expressions", "runs", "values"])
def test_first_guesses(name: str) -> None:
    """What each answers, an error in the words that Python shows last."""
    lines = []
    for guess in globals()[name.upper()].strip().splitlines():
        f, g = exprgrad.parse("x^2*y"), exprgrad.parse("sin(x)")
        a = exprgrad.Value(2.0, label="a")
        names = {"f": f, "g": g, "a": a, "run": f.gradient(x=1, y=2), "math": math}
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            try:
                found = repr(eval(guess, {**names, "numpy": numpy, "exprgrad": exprgrad}))
            except Exception as error:
                found = f"{type(error).__name__}: {error}"
        heard = [f"{one.category.__name__}: {one.message}" for one in told]
        lines += [f">>> {guess}", *heard, found, ""]
    agree(f"python/first-guesses-{name}.txt", "\n".join(lines))


@pytest.mark.parametrize(
    ("table", "owner"),
    [
        (guesses.MODULE, exprgrad),
        (guesses.EXPRESSION, exprgrad.parse("x")),
        (guesses.RUN, exprgrad.parse("x").gradient(x=1)),
        (guesses.VALUE, exprgrad.Value(1.0)),
    ],
    ids=["MODULE", "EXPRESSION", "RUN", "VALUE"],
)
def test_what_is_there_is_no_guess(table: dict[str, str], owner: object) -> None:
    """Each name is answered once, and none that there is."""
    names = " ".join(table.values()).split()
    assert len({*names}) == len(names)
    assert not {*names} & {*dir(owner)}
    for name in names:
        with pytest.raises(AttributeError, match=f"no attribute '{name}': "):
            getattr(owner, name)


def test_no_message_names_what_a_shell_has() -> None:
    """Whoever asks in Python is told what to write in Python."""
    shell = re.compile(
        r"'exprgrad \w|exprgrad (?:ops|code|jac|hess|grad|diff|eval)\b|(?<!\w)--[a-z]"
    )
    typed = (CASES / "notations/typed.txt").read_text(encoding="utf-8").splitlines()
    listed = [path.read_text(encoding="utf-8") for path in (CASES / "errors").glob("*.txt")]
    wrong = re.findall(r"^  1 │ (.*)$", "\n".join(listed), re.MULTILINE)
    assert len(wrong) > 200
    asks: list[Callable[[exprgrad.Expression], object]] = [
        lambda f: f.gradient(),
        lambda f: f.hessian(),
        lambda f: f.derivative(),
        lambda f: f.code("c"),
        lambda f: f.expand(["add"]),
    ]
    for text in dict.fromkeys([*typed, *wrong]):
        try:
            f = exprgrad.parse(text)
        except exprgrad.ExprgradError as error:
            assert not shell.search(str(error)), text
            continue
        for ask in asks:
            try:
                ask(f)
            except exprgrad.ExprgradError as error:
                assert not shell.search(str(error)), text
    for path in (CASES / "python").glob("first-guesses-*.txt"):
        assert not shell.search(path.read_text(encoding="utf-8")), path.name


def test_a_gradient_prints_with_its_warnings() -> None:
    """It prints with the true numbers, and is a dictionary of the sweep's in all else."""
    f = exprgrad.parse("(1 - cos(x))/x^2")
    found, run = f.grad(x=1e-7), f.gradient(x=1e-7)
    assert found == run.gradient and json.loads(json.dumps(found)) == run.gradient
    first, *told = repr(found).splitlines()
    assert first == repr(run.true.gradient) and told[0].startswith("warning: ")
    assert told[-1] == "these are the true numbers (.true); the dictionary itself holds the sweep's"
    assert "warning: " in str(run) and str(run).startswith(run.table())
    assert type(copy.deepcopy(found)) is dict and repr(exprgrad.grad("x^2", x=2)) == "{'x': 4.0}"


def test_classes_stay_fast() -> None:
    """With a ``__getattr__`` Python looks attributes up in a slower way, those that are there, too."""
    for owner in (exprgrad.Expression, exprgrad.Run, exprgrad.Value):
        assert not hasattr(owner, "__getattr__")


def test_protocols_find_nothing() -> None:
    """Whoever asks for a method that may be there gets a plain answer, and no advice."""
    for owner in (exprgrad, exprgrad.parse("x"), exprgrad.Value(1.0)):
        for name in ("_repr_png_", "__array_interface__"):
            assert not hasattr(owner, name)
    with pytest.raises(TypeError):
        iter(exprgrad.parse("x").gradient(x=1))  # type: ignore[call-overload]
