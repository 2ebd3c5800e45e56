"""Rows whose results have lost digits: flagged by every engine, and no others; the truth is mpmath's."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random

import numpy as np
import pytest
from jsonschema import validate

import exprgrad
from corpus import table
from exprgrad.data.arrow import Doubles
from exprgrad.data.job import Block, Job, computed
from exprgrad.derive.build import Builder
from exprgrad.derive.parsed import parsed
from exprgrad.derive.sweeps.gradient import gradient as gradient_program
from exprgrad.derive.sweeps.rounding import HALF_ULP, error_bounds
from exprgrad.derive.sweeps.walks import Source
from exprgrad.graph.ops import BY_NAME, OPS, Op
from exprgrad.language.read.parse import parse
from exprgrad.run.arrays import arrays
from oracles import Real, evaluate, gradient, mp, mpf
from shell import command
from strategies import SMOOTH, tree

SCHEMA = json.loads(Path("docs/reference/schema.json").read_text(encoding="utf-8"))
PLACES = 6
LEAST_ERROR = mpf(10) ** -318
"""Below the normal numbers doubles have fewer digits: nobody expects more."""
FURTHER = (
    ("(1 + x - 1)^2", {"x": 1e-17}),  # the power's slope is 0 there
    ("(1 + x - 1)*(1 + y - 1)", {"x": 1e-17, "y": 1e-17}),
    ("cos(1e16 + x - 1e16) - 1", {"x": 1e-3}),
    ("floor(x*100)", {"x": 0.29}),
    ("where(x*y > 0.21, x, 2*y)", {"x": 0.3, "y": 0.7}),
    ("(x*1e-200)*(x*1e-200)*1e300", {"x": 1.5}),
    ("max(1 + x - 1, 1e-20)", {"x": 1e-17}),
)
"""Formulas, each at a point where digits are lost, for rules that the catastrophes don't reach."""
CATASTROPHES = [
    (formula, {name: float(text) for name, text in (pair.split("=") for pair in inputs.split())})
    for formula, inputs, _ in table("catastrophes.txt")
]
ORDINARY = (
    "tanh(x1*w1 + x2*w2 + b)",
    "(1 - x)^2 + 100*(y - x^2)^2",
    "1/(1 + exp(-(a*x + b)))",
    "A*exp(-(x - m)^2/(2*s^2))",
    "d = (log(S/K) + (r + v^2/2)*T)/(v*sqrt(T)); S*normcdf(d) - K*exp(-r*T)*normcdf(d - v*sqrt(T))",
    "2*h*n^3/c^2/(exp(h*n/(k*T)) - 1)",
    "sqrt(x^2 + y^2 + z^2)",
    "(a*b - c)/(d + 1)",
    "x^3 - 2*x*y + y^2 - 1",
    "where(abs(x - y) < 1, (x - y)^2/2, abs(x - y) - 0.5)",
    "relu(x*w + b)^2",
    "logsumexp(x, y, z)",
    "A*exp(-E/(8.314*T))",
)


def flags(
    formula: str, columns: Mapping[str, np.ndarray], engine: str | None
) -> tuple[np.ndarray, Block]:
    """By result, the value's and then the derivatives', which rows are flagged; and the results."""
    names = [*parsed(formula).inputs]
    job = Job(
        formula,
        tuple((name, name) for name in names),
        wrt=tuple(names),
        engine=engine,
        digits=PLACES,
    )
    rows = len(columns[names[0]])
    block = computed(job, [Doubles(columns[name]) for name in names], 0, rows)
    found = np.zeros((1 + len(names), rows), dtype=bool)
    for at, which in block.lost.items():
        found[at] = which
    return found, block


def relative_error(found: float, true: Real) -> float:
    with mp.workdps(800):
        error = abs(mpf(found) - true)
        if error < LEAST_ERROR:
            return 0.0
        return float(error / abs(true)) if true else math.inf


@pytest.mark.parametrize("engine", ["native", "numpy"])
def test_every_wrong_number_is_flagged(engine: str) -> None:
    wrong = 0
    for formula, inputs in [*CATASTROPHES, *FURTHER]:
        graph = parse(formula)
        with mp.workdps(800):
            exact = {name: mpf(x) for name, x in inputs.items()}
            true = [evaluate(graph, exact, mpf)[graph.output]]
        if formula not in dict(FURTHER):
            slopes = gradient(graph, inputs, 200)
            true += [slopes[name] for name in graph.inputs]
        columns = {name: np.array([x]) for name, x in inputs.items()}
        found, block = flags(formula, columns, engine)
        for at, number in enumerate(true):
            result = block.results[at][0]
            if block.bad is not None or not math.isfinite(result):
                continue  # which is said of the row, or of the result
            if relative_error(result, number) > 10.0**-PLACES:
                wrong += 1
                assert found[at][0], (formula, inputs, at)
    assert wrong > 150


@pytest.mark.parametrize("is_whole", [False, True])
@pytest.mark.parametrize("formula", ORDINARY)
def test_ordinary_rows_are_not_flagged(formula: str, is_whole: bool) -> None:
    random = np.random.default_rng(1)
    names = [*parsed(formula).inputs]
    draw = random.integers if is_whole else random.uniform
    columns = {name: draw(1, 9, 20_000).astype(float) for name in names}
    found, _ = flags(formula, columns, None)
    assert not found.any()


NOT_SPECIAL = tuple(op for op in OPS if not op.special)
EVERYDAY = tuple(BY_NAME[name] for name in SMOOTH.split())


@pytest.mark.parametrize(
    ("ops", "count"),
    [
        (EVERYDAY, 60),
        (NOT_SPECIAL, 30),
        pytest.param(EVERYDAY, 2000, marks=pytest.mark.slow),
        pytest.param(NOT_SPECIAL, 700, marks=pytest.mark.slow),
    ],
)
def test_no_bound_is_below_the_true_error(ops: Sequence[Op], count: int) -> None:
    """Of the values and gradients of random formulas; both bounds, and the careful one is no larger."""
    random = Random(f"{len(ops)} {count}")
    infix = tuple(op for op in ops if op.infix)
    compared = 0
    while compared < 4 * count:
        text = tree(
            random, ("x", "y", "z", "x", "y", "2", "0.3"), (*ops, *infix * 4), random.randint(1, 8)
        )
        graph = parse(text)
        inputs = {
            name: random.choice((1, -1)) * 10 ** random.uniform(-3, 1) for name in graph.inputs
        }
        if not inputs:
            continue
        program = gradient_program(graph, [*inputs])
        source = Source(Builder(program.graph.empty()), program.graph)
        builder, zero = source.builder, source.builder.constant(0.0)
        both = [error_bounds(source, program.outputs, careful=careful) for careful in (False, True)]
        bounds = [[some.get(output, zero) for output in program.outputs] for some in both]
        images = [source.image[output] for output in program.outputs]
        made = builder.program([*images, *bounds[0], *bounds[1]])
        with np.errstate(all="ignore"):
            values = arrays.forward(made.graph, inputs, made.outputs)
        rows = np.array([float(values[output]) for output in made.outputs]).reshape(3, -1)
        with mp.workdps(240):
            exact = {name: mpf(x) for name, x in inputs.items()}
            true = [evaluate(graph, exact, mpf)[graph.output], *gradient(graph, inputs).values()]
        for number, loose, careful, truth in zip(*rows, true, strict=True):
            if math.isfinite(number) and mp.isfinite(truth):
                compared += 1
                error = abs(mpf(number) - truth)
                is_noise = (
                    error <= mpf(10) ** -50 * abs(truth) or error < mpf(10) ** -150
                )  # the oracle's
                assert is_noise or not error > careful * HALF_ULP, (text, inputs)
                assert not careful > loose, (text, inputs)


def written(folder: Path, numbers: Sequence[float]) -> str:
    path = folder / "rows.csv"
    path.write_text("\n".join(["x", *map(repr, numbers)]) + "\n", encoding="utf-8")
    return str(path)


def test_the_command_counts_them_and_shows_the_first(tmp_path: Path) -> None:
    path = written(tmp_path, [1e-8, 0.5, 1e-7, 1.0])
    words = ["batch", "(1 - cos(x))/x^2", "--data", path, "--reduce", "sum", "--json"]
    outcome = command(*words)
    assert outcome.status == 0
    answer = json.loads(outcome.out)
    validate(answer, SCHEMA)
    assert answer["lost"] == {"value": 2, "gradient": {"x": 2}}
    first = "2 rows where fewer than 6 digits of value are known to be right"
    assert outcome.err.splitlines()[0] == f"warning: {first} (rows 1, 3 of '{path}')"
    assert command(*words, "--strict").status == 1
    assert command(*words[:-3], "--strict").status == 1
    assert command("batch", "x^2", "--data", path, "--strict").status == 0


def test_several_outputs_and_more_results_than_a_double_has_bits(tmp_path: Path) -> None:
    path = written(tmp_path, [1e-8, 0.5])
    outcome = command(
        "batch", "a = x + 1; b = (1 - cos(x))/x^2; a*b", "--of", "a,b", "--data", path, "--reduce", "max",
        "--json",
    )  # fmt: skip
    assert json.loads(outcome.out)["lost"] == {"value": {"b": 1}, "jacobian": {"b": {"x": 1}}}
    names = [f"x{at}" for at in range(60)]
    formula = "+".join(f"(1 + {name} - 1)" for name in names)
    columns = {name: np.array([1e-17 if name == "x59" else 0.5]) for name in names}
    found, _ = flags(f"x59*0 + 1 + {formula} - {formula}", columns, None)
    assert not found[1:].any()


def test_in_python() -> None:
    formula = exprgrad.parse("(1 - cos(x))/x^2")
    rows = {"x": np.array([1e-8, 0.5, 1e-7])}
    assert formula.batch(rows, reduce="sum").lost == {"value": 2, "gradient": {"x": 2}}
    grouped = formula.batch({**rows, "k": np.array([1, 1, 2])}, reduce="mean", by="k")
    assert grouped.lost == {"value": 2, "gradient": {"x": 2}}


def test_a_frame_and_record_batches_come_with_a_warning(tmp_path: Path) -> None:
    formula, path = exprgrad.parse("(1 - cos(x))/x^2"), written(tmp_path, [0.5, 1e-8])
    with pytest.warns(exprgrad.DigitsWarning) as told:
        formula.batch({"x": np.array([1e-8, 0.5, 1e-7])})
    assert "(rows 1, 3 of 'frame')" in str(told[1].message) and " d_x " in str(told[1].message)
    with pytest.warns(exprgrad.DigitsWarning) as others:
        assert sum(batch.num_rows for batch in formula.batch(path)) == 2
    assert str(others[0].message).startswith("1 row where ") and "row 2 of" in str(
        others[0].message
    )
    assert {Path(one.filename).name for one in [*told, *others]} == {Path(__file__).name}


def test_many_doubtful_rows_are_judged_as_few_are() -> None:
    """By another engine, which takes a while to be ready."""
    numbers = np.tile([1e-8, 0.5, 3.0], 5000)
    found, _ = flags("(1 - cos(x))/x^2", {"x": numbers}, None)
    assert (found == np.tile([[True, False, False]] * 2, 5000)).all()
    whole = np.tile([2.0, 3.0], 10_000)
    assert not flags("x*x - y*y", {"x": whole, "y": whole}, None)[0].any()
