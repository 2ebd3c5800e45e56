"""Arguments of a wrong kind, files that hold something else, and errors on their way between processes."""

from __future__ import annotations

import copy
import inspect
import multiprocessing
import pickle
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import exprgrad
from exprgrad import (
    Expression,
    ExprgradError,
    InputError,
    LanguageError,
    MissingExtraError,
    RequestError,
    ShapeError,
    parse,
)
from exprgrad.run.values.inputs import OPTIONS
from shell import command

ERRORS = [
    LanguageError("unknown-function", "no function 'tahn'", help="try 'tanh'").about("tahn(x)"),
    InputError("missing-input", "input 'x' has no value"),
    ShapeError("shapes", "shapes (2) and (3)", related=(("this", (0, 1)),)),
    RequestError("file", "cannot read").at("x.npy"),
    MissingExtraError("missing-flint", "needs python-flint", help="pip install python-flint"),
]  # fmt: skip


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.code)
@pytest.mark.parametrize("again", [copy.copy, lambda error: pickle.loads(pickle.dumps(error))])
def test_errors_travel(error: ExprgradError, again: Callable[[Any], Any]) -> None:
    found = again(error)
    assert type(found) is type(error) and str(found) == str(error)
    assert vars(found) == vars(error) and found.args == error.args


def test_an_error_in_another_process_comes_back() -> None:
    with (
        multiprocessing.get_context("spawn").Pool(1) as pool,
        pytest.raises(LanguageError, match="did you mean 'tanh'"),
    ):
        pool.apply(exprgrad.parse, ("tahn(x)",))


def test_a_file_does_not_name_files(tmp_path: Path) -> None:
    path = tmp_path / "self.json"
    for content in (f'["@{path}"]', f'"@{path}"', f'[[1], [" @{path}"]]', '"@x.npy"'):
        path.write_text(content)
        with pytest.raises(InputError, match="names another file"):
            parse("x").evaluate(x=exprgrad.file(path))
        found = command("eval", "sum(x)", f"x=@{path}")
        assert found.status == 2 and "names another file" in found.err
    path.write_text('["pi/2", 1]')
    assert parse("sum(x)").evaluate(x=exprgrad.file(path)).value == pytest.approx(np.pi / 2 + 1)


def test_an_array_file_with_more_than_its_header_says(tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    np.save(path, np.arange(3.0))
    assert parse("sum(x)").evaluate(x=exprgrad.file(path)).value == 3
    for more in (b"\0", np.arange(4.0).tobytes()):
        np.save(path, np.arange(3.0))
        with path.open("ab") as file:
            file.write(more)
        with pytest.raises(RequestError, match="not a whole file of one array"):
            parse("sum(x)").evaluate(x=exprgrad.file(path))


F = parse("y = x^2*a; y + sin(x)")
AT = {"x": 1, "a": 2}
COUNTS: dict[str, Callable[[Any], Any]] = {
    "steps": lambda count: F.descend(AT, steps=count),
    "order": lambda count: F.derivative("x", count),
    "paths": lambda count: F.gradient(AT).paths(count),
    "digits": lambda count: F.gradient(AT).table(digits=count),
    "picture": lambda count: F.gradient(AT).dot(digits=count),
    "shape": lambda count: parse("sum(X)", shapes={"X": count}),
    "sizes": lambda count: parse("sum(X)", shapes={"X": (2, count)}),
    "threads": lambda count: F.compile("numpy", threads=count),
}


@pytest.mark.parametrize("ask", COUNTS.values(), ids=COUNTS)
@pytest.mark.parametrize("count", [2, np.int64(2), np.uint8(2), np.array(2)], ids=repr)
def test_whole_numbers_of_any_library_count(ask: Callable[[Any], Any], count: Any) -> None:
    ask(count)


@pytest.mark.parametrize("ask", COUNTS.values(), ids=COUNTS)
@pytest.mark.parametrize("count", [2.5, 2.0, True, np.True_, b"1", "2", object], ids=repr)
def test_nothing_else_counts(ask: Callable[[Any], Any], count: Any) -> None:
    with pytest.raises(ExprgradError):
        ask(count)


OVER_TWO = {"x": (0, 1), "a": (0, 1)}
MAPPINGS: dict[str, Callable[[Any], Any]] = {
    "shapes": lambda it: parse("a", shapes=it),
    "descent": lambda it: F.plot(OVER_TWO, descend=it),
    "claims": lambda it: F.check(claims=it),
}
TEXTS: dict[str, Callable[[Any], Any]] = {
    "formula": parse,
    "target": F.code,
    "function": lambda it: F.code("c", name=it),
    "operation": lambda it: F.expand([it]),
}


@pytest.mark.parametrize("ask", MAPPINGS.values(), ids=MAPPINGS)
@pytest.mark.parametrize("it", [5, "x", [("x", 1)], np.array([1, 2]), b"1"], ids=repr)
def test_what_should_be_a_mapping(ask: Callable[[Any], Any], it: Any) -> None:
    with pytest.raises(TypeError, match=f"mapping, such as .*, not {type(it).__name__}"):
        ask(it)


@pytest.mark.parametrize("ask", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("it", [5, None, b"x", ["c"], F], ids=lambda it: type(it).__name__)
def test_what_should_be_a_text(ask: Callable[[Any], Any], it: object) -> None:
    with pytest.raises(TypeError, match=f" is a string.*, not {type(it).__name__}"):
        ask(it)


@pytest.mark.parametrize(
    ("ask", "what"),
    [
        (F.expand, "operations are a list of names"),
        (lambda it: F.check(AT, nodes=it), "nodes are a list"),
        (lambda it: F.gradient(AT).visited(it), "an order is a string, or a list"),
        (lambda it: F.gradient(AT).explore(lesson=it), "a lesson is"),
    ],
)
def test_other_kinds(ask: Callable[[Any], Any], what: str) -> None:
    with pytest.raises(TypeError, match=f"{what}.*, not int"):
        ask(5)


@pytest.mark.parametrize("it", ["yes", 1, None], ids=repr)
@pytest.mark.parametrize("name", ["adam", "line_search"])
def test_what_should_be_true_or_false(name: str, it: object) -> None:
    with pytest.raises(TypeError, match=f"{name} is True or False, not {type(it).__name__}"):
        F.descend(AT, **{name: it})  # type: ignore[arg-type]


LOOKED_AT: dict[str, Callable[[Any], Any]] = {
    "plot": lambda look: parse("x^2").plot().svg(look),
    "descent": lambda look: F.descend(AT).svg(look),
}


@pytest.mark.parametrize("ask", LOOKED_AT.values(), ids=LOOKED_AT)
@pytest.mark.parametrize("look", ["purple", "", 5], ids=repr)
def test_a_picture_is_light_or_dark(ask: Callable[[Any], Any], look: object) -> None:
    with pytest.raises(RequestError) as caught:
        ask(look)
    assert caught.value.message == f"there is no look {look!r}"
    assert caught.value.help == "it is light or dark"


def test_names_that_are_none() -> None:
    asked: list[Callable[[Any], Any]] = [
        F.derivative,
        F.steps,
        lambda name: F.jacobian(AT, of=name),
        lambda name: F.check(claims={name: "1"}),
    ]
    for ask in asked:
        with pytest.raises(InputError, match="a string, not int"):
            ask(5)


def test_a_claim_may_be_an_expression_or_a_number() -> None:
    claims: dict[str, object] = {"a": Expression("x^2", parse("x^2").graph), "x": 5}
    assert [check.verdict for check in F.check(claims=claims)] == ["agrees", "disagrees"]


SAID: list[Callable[[], Any]] = [
    lambda: F.jvp(AT, tangent={}),
    lambda: F.jvp(AT, tangent={"x": 3}),
    lambda: F.vjp(AT, cotangent={}),
    lambda: F.vjp(AT, of=["y"], cotangent={"z": 1}),
    lambda: parse("y = x; z = x; y + z").vjp(x=1, of=["y"], cotangent={"y": 1, "z": 2}),
    lambda: F.code("c", name="2"),
    lambda: F.code("c", name="int"),
    lambda: parse("sum(X)", shapes={"X": (2,)}).code("c"),
    lambda: parse("sum(X @ w)").derivative("w"),
    lambda: parse("sum(X)", shapes={"X": (2,)}).derivative("X", 2),
    lambda: parse("sum(X)", shapes={"X": (2,)}).steps("X"),
    lambda: F.gradient(AT).visited("y,y"),
    lambda: F.gradient(AT).visited("y,,x"),
    lambda: parse("sum(x)").gradient(x=[1.0] * 5000).explore(),
    lambda: parse("sum(x)").gradient(x=[1, 2]).explore(descend=True),
    lambda: parse("+".join(f"x{k}" for k in range(600))).dot(),
    lambda: parse("sum(x)").check(x=[1, 2], h=0.1),
    lambda: parse("+".join(f"relu(x{k})" for k in range(3000))).check(
        {f"x{k}": 0 for k in range(3000)}
    ),
]


@pytest.mark.parametrize("ask", SAID)
def test_no_option_is_advised_in_python(ask: Callable[[], Any]) -> None:
    with pytest.raises(ExprgradError) as caught:
        ask()
    assert "--" not in str(caught.value)


def test_nothing_else_that_is_read_in_python_speaks_of_options() -> None:
    many = parse("+".join(f"relu(x{k})*x0" for k in range(80)))
    run = many.gradient(dict.fromkeys(many.inputs, 0))
    assert "many-inputs" in {found.code for found in run.diagnostics}
    wide = parse("sum(X)").gradient(X=np.zeros((40, 40)))
    read = [str(run), run.trace(), run.map(), str(wide), wide.trace(), repr(run.diagnostics)]
    read += [repr(F.check(AT, nodes=["y"])), repr(F.check(claims={"x": "1"}))]
    assert sum("all=True shows" in text for text in read) == 3
    assert not [text for text in read if "--" in text.replace("---", "")]


def test_a_command_advises_its_options() -> None:
    assert "help: write --tangent x=1" in command("jvp", "x^2", "x=1", "--tangent", "").err
    with pytest.raises(InputError) as caught:
        parse("x^2").jvp(x=1, tangent={})
    assert caught.value.help == "write tangent={'x': 1} (0 holds an input fixed)"


def test_errors_in_a_formula_do_not_speak_of_options() -> None:
    lines = [
        line
        for path in (Path(__file__).parent / "cases" / "errors").iterdir()
        for line in path.read_bytes().decode().split("\n")
        if line.startswith("$ exprgrad eval '") and not line.count("'") % 2
    ]
    said = [str(caught) for line in lines for caught in [complaint(shlex.split(line)[3])] if caught]
    assert len(said) > 200
    assert not [text for text in said if "help:" in text and "--" in text.split("help:")[1]]


def complaint(formula: str) -> ExprgradError | None:
    """What is wrong with a formula by itself."""
    try:
        parse(formula)
    except ExprgradError as error:
        return error
    return None


def test_inputs_called_like_options_have_values_in_the_first_argument() -> None:
    methods = filter(inspect.isfunction, vars(Expression).values())
    taken = [inspect.signature(method).parameters.values() for method in methods]
    options = {
        parameter.name
        for parameters in taken
        if any(p.kind == p.VAR_KEYWORD and p.name in ("inputs", "unknowns") for p in parameters)
        for parameter in parameters
        if parameter.kind == parameter.KEYWORD_ONLY
    }
    assert options == OPTIONS
    for ask, name in (
        ("descend", "rate"),
        ("descend", "adam"),
        ("check", "h"),
        ("check", "nodes"),
        ("gradient", "wrt"),
        ("plot", "steps"),
        ("plot", "tangent"),
        ("plot", "shown"),
        ("plot", "descend"),
    ):
        f = parse(f"{name}*x^2")
        with pytest.raises(InputError) as caught:
            getattr(f, ask)(x=1, **{name: 2})
        assert caught.value.help is not None
        assert f"write {{'{name}': …}} as the first argument" in caught.value.help
        assert f.gradient({name: 2}, x=3).value == 18
    assert parse("self*x")(self=2, x=3) == 6
    for threads in (2, None):
        with pytest.raises(
            InputError, match=r"for a number \{'threads': 1\} as the second argument"
        ):
            parse("threads*x").batch({"x": [3.0]}, threads=threads)
    assert parse("threads*x").batch({"x": [3.0]}, {"threads": 2})["value"] == [6.0]


def test_a_number_for_an_option_s_name_is_an_input_s_value() -> None:
    """Where the option is no number, and the formula reads the name."""
    data = {"x": np.linspace(0, 1, 9), "y": 2 * np.linspace(0, 1, 9) + 1}
    for start in (0.5, np.float64(0.5), np.array(0.5)):
        for name in ("sigma", "fix", "loss", "map"):
            found = exprgrad.fit(f"y ~ {name}*x + b", data, b=1, **{name: start})  # type: ignore[arg-type]
            assert found.parameters[name].value == pytest.approx(2, abs=1e-12)
        with pytest.raises(InputError, match=r"start=\{'level': 0.5\}, the third argument"):
            exprgrad.fit("y ~ level*x + b", data, b=1, level=start)  # type: ignore[arg-type]
    for solved in (exprgrad.solve("wrt^2 = 2", wrt=1), parse("wrt^2 - 2").solve(wrt=1)):  # type: ignore[arg-type]
        assert solved.roots[0].point["wrt"] == pytest.approx(2**0.5)


def test_starts_of_a_fit_in_a_list() -> None:
    with pytest.raises(TypeError, match="starts are a mapping"):
        exprgrad.fit("y ~ a + b*x", {"x": [1.0, 2, 3], "y": [1.0, 2, 3]}, [1, 1])  # type: ignore[arg-type]
