"""How programs read: names, comments, lines, and what cannot be asked for."""

from __future__ import annotations

import builtins
import ctypes
import json
import keyword
import math
import re
import subprocess
from pathlib import Path

import pytest

from exprgrad import parse
from exprgrad.derive.lower.translate import translate_formula
from exprgrad.errors import RequestError
from exprgrad.language.code.targets import TARGETS
from golden import agree
from programs import C_FLAGS, Program, compiled, function, require, run
from shell import command

each_target = pytest.mark.parametrize("target", TARGETS)
ENDINGS = {
    "python": "py",
    "numpy": "np.py",
    "c": "c",
    "javascript": "js",
    "jax": "jax.py",
    "torch": "pt.py",
}
NEURON = "o = tanh(x1*w1 + x2*w2 + b)"
SAMPLES = {
    "neuron": NEURON,
    "choices": "m = max(a, b, 2); where((a < b)*(b < 3), m % a, relu(a) + sign(b)*round(a/b)^3)",
    "names": "lambda*ψ + y1*class^2 + gradient*value + t1 + exp*sin(exp)",
    "bell": "z = (x - mu)/sigma; exp(-z^2/2)/(sigma*sqrt(2*pi)) + erfc(z)",
    "constant": "2 + 2",
}


def code(text: str, target: str, **options: object) -> str:
    return translate_formula(parse(text).graph, target, **options)  # type: ignore[arg-type]


@each_target
@pytest.mark.parametrize("sample", SAMPLES)
def test_programs_read_as_they_did(target: str, sample: str) -> None:
    agree(f"code/{sample}.{ENDINGS.get(target, target)}", code(SAMPLES[sample], target))


@each_target
def test_a_sum_of_many_terms_is_cut_into_lines(target: str) -> None:
    text = code("+".join(f"x{i}*sin(y)^{i}" for i in range(100)), target)
    assert max(map(len, text.splitlines())) <= 100
    assert not re.search(r"[ \t]$", text, re.MULTILINE) and text.endswith("\n")


def nested(depth: int) -> str:
    return "sin(" * depth + "x" + "*1.1 + x)" * depth


LARGE = {
    "composed": nested(60),
    "summed": "+".join(f"x*{i}.5" for i in range(600)),
    "multiplied": "*".join(f"(x + {i % 7})/(x + {i % 5})" for i in range(120)),
    "wide": "+".join(f"a{i}*a{i + 1}" for i in range(120)),
    "chosen": "min(" + ", ".join(f"x*{i}" for i in range(1, 100)) + ")",
}


@pytest.mark.parametrize("target", ["python", "numpy", "c", "javascript"])
def test_large_programs_compile_and_run(target: str, tmp_path: Path) -> None:
    programs, expected = [], []
    for name, text in LARGE.items():
        f = parse(text)
        found = f.gradient(dict.fromkeys(f.inputs, 0.75))
        expected.append([found.value, *found.gradient.values()])
        source = translate_formula(f.graph, target, name=name)
        programs.append(Program(source, name, len(f.inputs), [[0.75] * len(f.inputs)]))
    for (answer,), wanted in zip(run(target, programs, tmp_path), expected, strict=True):
        assert [answer.value, *answer.gradient] == pytest.approx(wanted, rel=1e-10, nan_ok=True)


ODD = {
    "2 + 2": (),
    "x": (1.5,),
    "3*0": (),
    "0*x + 5": (2.0,),
    "a = x*2; y*3": (1.0, 2.0),
    "lambda + class*double + gradient + shape + value + t1*f + e + N + I + gamma*j0 + y1": range(
        1, 15
    ),
    "Math + np*math + torch + jnp + float + map + undefined + NaN*abs + self + await": range(1, 13),
    "ψ*Δx + 变量 + naïve + ﬁ*fi + _X + __proto__ + _ + __x": range(1, 11),
    "sin(sin) + exp*exp(exp) + tanh": (0.5, 0.25, 0.125),
    "t1 = x*y; t2 = t1 + t1*t1; t1*t2": (2.0, 3.0),
    "inf*x + nan": (1.0,),
    "where(x > 0, log(x), 0/0*y)": (1.0, 2.0),
    "where(x, y, where(y, x, 3))": (0.0, 0.0),
    "max(x, y, z, 1, 2) + min(x, y, z, 0.5, x)": (5.0, 5.0, 1.0),
    "(x < y) + (y == z)*(x >= z)/(1 == 1)": (3.0, 2.0, 2.0),
    "(x < y)%(x != y) + (x < y)^(y < z)": (1.0, 2.0, 3.0),
    "where((x < y) + (y < z), 1, 2)*x": (1.0, 2.0, 3.0),
    "x%3 + -x%y": (-7.5, 2.0),
    "1/0 + x": (1.0,),
    "exp(0.1 + 0.2)*x + log(-1) + 1e308*10 + 1/3": (1.0,),
    "max(2, 3)*min(0.1, 0.3)": (),
    "-(-x) - -3 - (-(y)) - (x - (y - z)) - x/(y/z)/(x*y)": (1.0, 2.0, 3.0),
    "(-8)^(1/3) + x": (1.0,),
    "1e400*x + pi": (2.0,),
    "abs(sign(x)) + (x == x)": (float("nan"),),
}


@each_target
def test_odd_formulas_run(target: str, tmp_path: Path) -> None:
    programs, expected = [], []
    odd = {text: at for text, at in ODD.items() if target != "sql" or not text.startswith("Math")}
    for number, (text, point) in enumerate(odd.items()):
        f = parse(text)
        found = f.gradient(dict(zip(f.inputs, map(float, point), strict=True)))
        expected.append([found.value, *found.gradient.values()])
        source = translate_formula(f.graph, target, name=f"f_{number}")
        programs.append(Program(source, f"f_{number}", len(f.inputs), [[*map(float, point)]]))
    answers = run(target, programs, tmp_path)
    for text, (answer,), wanted in zip(odd, answers, expected, strict=True):
        numbers = [answer.value, *answer.gradient]
        if target == "sql":  # NULL, nan here, for infinity, and wherever an input is not finite
            known = all(map(math.isfinite, ODD[text]))
            pairs = zip(numbers, wanted, strict=True)
            wanted = [n if n != n and not (known and math.isfinite(w)) else w for n, w in pairs]
        assert numbers == pytest.approx(wanted, rel=1e-12, nan_ok=True), text


@each_target
def test_value_only_and_some_of_the_inputs(target: str, tmp_path: Path) -> None:
    alone = code("a*b^2", target, name="alone", value_only=True)
    some = code("a*b^2", target, name="some", wrt=("b",))
    programs = [Program(alone, "alone", None, [(3.0, 5.0)]), Program(some, "some", 1, [(3.0, 5.0)])]
    assert run(target, programs, tmp_path) == [[(75.0, [])], [(75.0, [30.0])]]
    assert "gradient" not in alone.split("\n", 1)[1]


@pytest.mark.parametrize("target", ["numpy", "jax", "torch"])
def test_arrays_broadcast_and_derivatives_stack(target: str) -> None:
    require(target)
    numpy = pytest.importorskip("numpy")
    f = function(Program(code("a*x + 2*b", target), "f", 3, ()))
    value, gradient = f(2.0, numpy.arange(3.0), numpy.ones((2, 1)))
    assert numpy.shape(value) == (2, 3)
    stacked = numpy.stack([numpy.asarray(g) for g in gradient])
    assert stacked.shape == (3, 2, 3)
    assert stacked[:, 1].tolist() == [[0, 1, 2], [2, 2, 2], [2, 2, 2]]
    value, gradient = f(1, 2, 3)
    assert float(value) == 8 and [float(g) for g in gradient] == [2, 1, 2]


def test_jax_can_trace_and_torch_can_differentiate_again() -> None:
    require("jax")
    require("torch")
    import jax
    import torch

    text = "where(x < y, sinh(x)*y, erfc(x)^3) + max(x, y, 2)"
    f = parse(text)
    expected = f.gradient(x=0.5, y=1.5)
    wanted = [expected.value, *expected.gradient.values()]
    traced = jax.jit(function(Program(code(text, "jax"), "f", 2, ())))
    value, gradient = traced(0.5, 1.5)
    assert [float(value), *map(float, gradient)] == pytest.approx(wanted, rel=1e-14)
    x = torch.tensor(0.5, dtype=torch.float64, requires_grad=True)
    value, gradient = function(Program(code(text, "torch"), "f", 2, ()))(x, 1.5)
    value.backward()
    assert x.grad.item() == pytest.approx(gradient[0].item(), rel=1e-14)


@pytest.mark.parametrize("flags", [("-O2",), ("-std=gnu17", "-O3"), ("-O0", "-Wshadow")])
def test_c_compiles_cleanly_under_other_flags(flags: tuple[str, ...], tmp_path: Path) -> None:
    require("c")
    texts = [*SAMPLES.values(), *ODD]
    programs = [
        Program(code(t, "c", name=f"f_{n}"), f"f_{n}", None, ()) for n, t in enumerate(texts)
    ]
    compiled(programs, tmp_path, *flags)
    assert "-pedantic" in C_FLAGS


@pytest.mark.parametrize(
    ("target", "name"),
    [
        ("python", "lambda"), ("python", "2f"), ("python", ""), ("python", "a b"), ("python", "math"),
        ("python", "ψ"), ("numpy", "np"), ("c", "exp"), ("c", "double"), ("c", "gamma"), ("c", "__f"),
        ("c", "main"), ("javascript", "await"), ("javascript", "Math"), ("jax", "jax"), ("torch", "torch"),
    ],
)  # fmt: skip
def test_a_name_that_no_function_can_have(target: str, name: str) -> None:
    with pytest.raises(RequestError) as caught:
        code("x*y", target, name=name)
    assert caught.value.code == "bad-name"


def test_another_target() -> None:
    with pytest.raises(RequestError) as caught:
        code("x*y", "pyton")
    assert caught.value.code == "unknown-target"
    assert "did you mean 'python'?" in str(caught.value) and "javascript" in str(caught.value)


# The command.


def test_the_command_prints_the_program() -> None:
    done = command("code", NEURON, "--to", "c", "--name", "neuron")
    assert done == (0, code(NEURON, "c", name="neuron"), "")


def test_json_holds_the_program() -> None:
    done = command("code", "a*b", "--to", "python", "--wrt", "b", "--json")
    assert json.loads(done.out) == {
        "schema": "exprgrad/1", "command": "code", "expression": "a*b", "to": "python", "name": "f",
        "inputs": ["a", "b"], "wrt": ["b"], "code": code("a*b", "python", wrt=("b",)),
    }  # fmt: skip


def test_a_file_is_written(tmp_path: Path) -> None:
    path = tmp_path / "f.js"
    assert command("code", "a*b", "--to", "javascript", "-o", str(path)) == (0, "", "")
    assert path.read_text("utf-8") == code("a*b", "javascript")


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["a*b"], "missing option '--to'"),
        (["a*b", "--to", "cobol"], "there is no target 'cobol'"),
        (["a*b", "--to", "c", "--wrt", "z"], "'z' is not an input of the expression"),
        (["a*b", "--to", "c", "--name", "int"], "'int' is taken in C99"),
        (["a*b", "a=2", "--to", "c"], "code takes no values"),
        (["a*b", "--to", "c", "--wrt", "a", "--value-only"], "cannot be combined"),
        (["a*b", "--to", "c", "-o", "/nowhere/f.c"], "cannot write '/nowhere/f.c'"),
    ],
)
def test_wrong_requests_are_refused(argv: list[str], message: str) -> None:
    done = command("code", *argv)
    assert done.status == 2 and done.out == "" and message in done.err


@pytest.mark.parametrize("target", TARGETS)
def test_terms_of_recurrences_have_names(target: str) -> None:
    """``x[2]`` is no name there; one that is taken is not given again."""
    code = parse("x[0] = a; x[k] = x[k-1]^2 + x_1*x[k-1] for k in 1..2; x[2]*x[1]").code(target)
    assert "[1]" not in code.split("Inputs")[1].replace("gradient[1]", "")
    for name in ("x_1_", "x_2"):
        name = f"f_{name}" if TARGETS[target].columns else name
        define = TARGETS[target].layout.define.format(name=name, text="\0")
        before, _, after = map(re.escape, define.partition("\0"))
        assert re.search(rf"^ *{before}.*{after}$", code, re.MULTILINE), code


def test_a_list_over_several_lines_may_want_a_comma_at_its_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As in Go; what stands on one line has none."""
    python = TARGETS["python"]
    go = python._replace(layout=python.layout._replace(last=","))
    monkeypatch.setitem(TARGETS, "python", go)
    wide = code("+".join(f"x{i}^2*sin(x{i + 1})" for i in range(40)), "python")
    assert len(re.findall(r"[^,\s]\n *\)", wide)) == 0
    assert len(re.findall(r",\n *\)", wide)) == 2, "parameters and derivatives"
    compile(wide, "<wide>", "exec")
    assert ",)" not in code("x*y", "python").replace(" ", "")


def preprocessed(*flags: str) -> str:
    """What gcc makes of ``#include <math.h>`` in the mode that it has without options."""
    require("c")
    command = ["gcc", *flags, "-E", "-include", "math.h", "-x", "c", "/dev/null"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_no_name_in_c_is_a_macro_or_a_function_of_the_header(tmp_path: Path) -> None:
    macros = re.findall(r"^#define ([A-Za-z]\w*)", preprocessed("-dM"), re.MULTILINE)
    functions = re.findall(r"\b([a-z]\w*) \(", preprocessed())
    assert {"M_PI", "linux", "NAN"} <= {*macros}
    assert {"sin", "drem", "j0"} <= {*functions}
    target = TARGETS["c"]
    assert {*macros} <= target.words
    assert {*functions} <= target.words | target.library | {"__attribute__"}
    others = "*".join(name for name in macros if name != "M_LN2")
    text = f"M_LN2 = {others}; M_LN2 + sin(M_LN2/1e9)"
    f = parse(text)
    program = Program(f.code("c", name="macros"), "macros", len(f.inputs), [[1.25] * len(f.inputs)])
    library = compiled([program], tmp_path, "-std=gnu17", "-D_GNU_SOURCE")
    library.macros.restype = ctypes.c_double
    gradient = (ctypes.c_double * len(f.inputs))()
    value = library.macros(*map(ctypes.c_double, program.points[0]), gradient)
    run = f.gradient(dict.fromkeys(f.inputs, 1.25))
    assert [value, *gradient] == pytest.approx([run.value, *run.gradient.values()], rel=1e-13)


@pytest.mark.parametrize("target", ["python", "numpy"])
def test_names_that_python_keeps_for_itself(target: str, tmp_path: Path) -> None:
    names = [*keyword.kwlist, *keyword.softkwlist, *dir(builtins), "math", "np", "self"]
    text = "sqrt({0}) + log({0})*max({0}, q) + round({0}) + sinh(q/{0}) + {0}^q + abs({0})"
    programs, wanted = [], []
    for name in names:
        f = parse(text.format(name))
        programs.append(Program(f.code(target), "f", 2, [[1.5, 2.25]]))
        run = f.gradient({name: 1.5, "q": 2.25})
        wanted.append([run.value, run.swept[name], run.swept["q"]])
    for program, numbers in zip(programs, wanted, strict=True):
        value, gradient = function(program)(1.5, 2.25)
        assert [value, *gradient] == pytest.approx(numbers, rel=1e-13), program.source
    for name in ("OverflowError", "ValueError", "tuple", "__debug__"):
        with pytest.raises(RequestError, match=r"cannot be a function's name|is taken"):
            parse("sinh(x)").code(target, name=name)


@pytest.mark.parametrize("target", ["numpy", "jax", "torch"])
def test_a_program_with_a_root_takes_numbers(target: str) -> None:
    require(target)
    for text in (
        "root(t^3 + t - 3, t, 0) + x",
        "root(t^3 + t*x - 3, t, 0)*y",
        "root(t^2 - x, t, 0, 9)",
    ):
        f = parse(text)
        called = function(Program(f.code(target), "f", None, ()))
        given = [1.25, 2.5][: len(f.inputs)]
        for points in (given, [1, 2][: len(given)], [[x] * 3 for x in given]):
            columns = [x[0] if isinstance(x, list) else x for x in points]
            run = f.gradient(dict(zip(f.inputs, columns, strict=True)))
            value, gradient = called(*points)
            wanted = [run.value, *(run.swept[name] for name in f.inputs)]
            for found, number in zip((value, *gradient), wanted, strict=True):
                assert tuple(found.shape) == ((3,) if isinstance(points[0], list) else ())
                numbers = found.reshape(-1).tolist()
                assert numbers == pytest.approx([number] * len(numbers), rel=1e-12)


@each_target
def test_products_of_products_are_written_once(target: str) -> None:
    """In the comment the formula is cut before it is written out: 2^200 names would not fit anywhere."""
    f = parse("f(x) = x*x; " + "f(" * 200 + "y" + ")" * 200)
    text = f.code(target)
    assert len(text) < 40_000
    assert "y*y*(y*y)*" in text.split("Inputs", maxsplit=1)[0]
    assert "…" in text.split("Inputs", maxsplit=1)[0]


@each_target
def test_a_program_grows_as_its_recurrence_does(target: str) -> None:
    lengths = [
        len(code(f"s[0] = x; s[k] = r*s[k-1]*(1 - s[k-1]) for k in 1..{n}; s[{n}]", target))
        for n in (200, 400, 800)
    ]
    assert lengths[2] - lengths[1] < 2.2 * (lengths[1] - lengths[0])
