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
from amounts import many
from corpus import table
from exprgrad.data.arrow import DoubleColumn
from exprgrad.data.job import BatchJob, RowBlock, compute_rows
from exprgrad.derive.error_rules import UNIT
from exprgrad.derive.parsed import parse_and_derive
from exprgrad.derive.sweeps.digit_screen import add_digit_screen
from exprgrad.derive.sweeps.gradient import gradient as gradient_program
from exprgrad.derive.sweeps.rounding import add_error_bounds
from exprgrad.graph.ops import BY_NAME, OPS, Op
from exprgrad.language.read.parse import parse_text
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
    ("(1 + x - 1)*(1e16 + y - 1e16) + 1e-12", {"x": 1e-17, "y": 0.9}),  # both errors at once
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


def gradient_job(formula: str, names: Sequence[str], engine: str | None) -> BatchJob:
    """The job that finds the value and all derivatives of each row, and counts their digits."""
    columns = tuple((name, name) for name in names)
    return BatchJob(formula, columns, wrt=tuple(names), engine=engine, digits=PLACES)


def flags(
    formula: str, columns: Mapping[str, np.ndarray], engine: str | None
) -> tuple[np.ndarray, RowBlock]:
    """By result, the value's and then the derivatives', which rows are flagged; and the results."""
    names = [*parse_and_derive(formula).inputs]
    job = gradient_job(formula, names, engine)
    rows = len(columns[names[0]])
    block = compute_rows(job, [DoubleColumn(columns[name]) for name in names], 0, rows)
    found = np.zeros((1 + len(names), rows), dtype=bool)
    for at, which in block.lost.items():
        found[at] = which
    return found, block


def corrected(formula: str, inputs: Mapping[str, float], engine: str) -> RowBlock:
    """A row's results as ``--correct`` has them."""
    names = tuple(parse_and_derive(formula).inputs)
    job = BatchJob(
        formula,
        tuple((name, name) for name in names),
        wrt=names,
        engine=engine,
        digits=PLACES,
        correct=True,
    )
    return compute_rows(job, [DoubleColumn(np.array([inputs[name]])) for name in names], 0, 1)


def printed_by_grad(formula: str, inputs: Mapping[str, float]) -> list[float]:
    outcome = command("grad", formula, *(f"{name}={x!r}" for name, x in inputs.items()), "--json")
    answer = json.loads(outcome.out)
    return [float(x) for x in (answer["value"], *answer["gradient"].values())]


def relative_error(found: float, true: Real) -> float:
    with mp.workdps(800):
        error = abs(mpf(found) - true)
        if error < LEAST_ERROR:
            return 0.0
        return float(error / abs(true)) if true else math.inf


BOTH = ["numpy", pytest.param("native", marks=pytest.mark.slow)]


@pytest.mark.parametrize("engine", BOTH)
def test_every_wrong_number_is_flagged(engine: str) -> None:
    wrong = 0
    for formula, inputs in [*CATASTROPHES, *FURTHER]:
        graph = parse_text(formula)
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


@pytest.mark.parametrize("engine", BOTH)
def test_a_corrected_row_is_the_row_of_grad(engine: str) -> None:
    """And what is not true then is flagged still."""
    rows = numbers = 0
    for formula, inputs in [*CATASTROPHES, *FURTHER, ("tanh(x*y)", {"x": 2.0, "y": math.inf})]:
        columns = {name: np.array([x]) for name, x in inputs.items()}
        plain, swept = flags(formula, columns, engine)
        if not plain.any() and np.isfinite([one[0] for one in swept.results]).all():
            continue
        found = corrected(formula, inputs, engine)
        results = [float(one[0]) for one in found.results]
        assert np.array_equal(results, printed_by_grad(formula, inputs), equal_nan=True), formula
        assert found.corrected is not None
        rows += bool(found.corrected[0])
        graph = parse_text(formula)
        if not all(map(math.isfinite, inputs.values())) or formula in dict(FURTHER):
            continue
        with mp.workdps(800):
            exact = {name: mpf(x) for name, x in inputs.items()}
            true = [evaluate(graph, exact, mpf)[graph.output]]
        true += [gradient(graph, inputs, 200)[name] for name in graph.inputs]
        for at, (result, number) in enumerate(zip(results, true, strict=True)):
            if math.isfinite(result) and at not in found.lost:
                numbers += 1
                assert relative_error(result, number) <= 10.0**-PLACES, (formula, inputs, at)
    assert rows > 90
    assert numbers > 200


@pytest.mark.parametrize("is_whole", [False, True])
@pytest.mark.parametrize("formula", ORDINARY)
def test_ordinary_rows_are_not_flagged(formula: str, is_whole: bool) -> None:
    random = np.random.default_rng(1)
    names = [*parse_and_derive(formula).inputs]
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
        pytest.param(EVERYDAY, many(150), marks=pytest.mark.slow),
        pytest.param(NOT_SPECIAL, many(100), marks=pytest.mark.slow),
    ],
)
def test_no_bound_is_below_the_true_error(ops: Sequence[Op], count: int) -> None:
    """Of the values and gradients of random formulas; and a row that the screen passes keeps its digits."""
    random = Random(f"{len(ops)} {count}")
    infix = tuple(op for op in ops if op.infix)
    compared = 0
    while compared < 4 * count:
        text = tree(
            random, ("x", "y", "z", "x", "y", "2", "0.3"), (*ops, *infix * 4), random.randint(1, 8)
        )
        graph = parse_text(text)
        inputs = {
            name: random.choice((1, -1)) * 10 ** random.uniform(-3, 1) for name in graph.inputs
        }
        if not inputs:
            continue
        program = gradient_program(graph, [*inputs])
        count_of = len(program.outputs)
        bounded = add_error_bounds(program, count_of)
        screened = add_digit_screen(program, count_of, PLACES)
        with np.errstate(all="ignore"):
            values = arrays.forward_arrays(bounded.graph, inputs, bounded.outputs)
            tested = arrays.forward_arrays(screened.graph, inputs, screened.outputs)
        rows = np.array([float(values[output]) for output in bounded.outputs]).reshape(2, -1)
        is_sure = bool(tested[screened.outputs[-1]])
        with mp.workdps(240):
            exact = {name: mpf(x) for name, x in inputs.items()}
            true = [evaluate(graph, exact, mpf)[graph.output], *gradient(graph, inputs).values()]
        for number, bound, truth in zip(*rows, true, strict=True):
            if math.isfinite(number) and mp.isfinite(truth):
                compared += 1
                error = abs(mpf(number) - truth)
                is_noise = (
                    error <= mpf(10) ** -50 * abs(truth) or error < mpf(10) ** -150
                )  # the oracle's
                assert is_noise or not error > bound * UNIT, (text, inputs)
                assert is_noise or not is_sure or error < 10.0**-PLACES * abs(number), (
                    text,
                    inputs,
                )


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


# Columns of digits, and rows that are corrected.

COSINE = "(1 - cos(x))/x^2"


def sample(folder: Path) -> str:
    """Rows of which the first and the third are doubtful."""
    path = folder / "rows.csv"
    path.write_text("x,k\n1e-8,a\n0.5,a\n1e-7,b\n,b\n", encoding="utf-8")
    return str(path)


def true_of_cosine(x: float) -> tuple[float, float]:
    with mp.workdps(60):
        x = mpf(x)
        value = (1 - mp.cos(x)) / x**2
        return float(value), float(mp.sin(x) / x**2 - 2 * value / x)


@pytest.mark.parametrize("formula", ORDINARY)
@pytest.mark.parametrize("engine", ["native", "numpy"])
def test_no_more_digits_are_shown_than_are_right(formula: str, engine: str) -> None:
    random, graph = Random(formula), parse_text(formula)
    names = [*graph.inputs]
    points = [{name: random.uniform(1, 9) for name in names} for _ in range(20)]
    job = gradient_job(formula, names, engine)._replace(show_digits=True)
    columns = [DoubleColumn(np.array([point[name] for point in points])) for name in names]
    block = compute_rows(job, columns, 0, len(points))
    assert block.digits is not None
    assert not block.lost
    for row, point in enumerate(points):
        with mp.workdps(60):
            exact = {name: mpf(x) for name, x in point.items()}
            true = [evaluate(graph, exact, mpf)[graph.output], *gradient(graph, point).values()]
        errors = [
            relative_error(one[row], number)
            for one, number in zip(block.results, true, strict=True)
        ]
        assert 6 <= block.digits[row] <= 16
        assert max(errors) <= 10.0 ** -float(block.digits[row])


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "arrow", "parquet"])
def test_the_column_of_digits_in_every_format(tmp_path: Path, ending: str) -> None:
    path = str(tmp_path / f"out.{ending}")
    words = ["batch", COSINE, "--data", sample(tmp_path), "--show-digits"]
    assert command(*words, "-o", path).status == 0
    back = command("batch", "digits", "--data", path, "--value-only", "--only", "--to", "jsonl")
    low, high, last, none = [json.loads(line)["value"] for line in back.out.splitlines()]
    assert (low, last, none) == (0, 0, None)
    assert 8 < high < 16
    found = command(*words, "-o", path, "--json")
    assert json.loads(found.out)["columns"] == ["x", "k", "value", "d_x", "digits"]
    validate(json.loads(found.out), SCHEMA)


def test_where_a_column_of_digits_has_no_room(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("x,digits\n1,2\n", encoding="utf-8")
    words = ["batch", "x^2", "--data", str(path), "--show-digits"]
    assert "already has a column 'digits'" in command(*words).err
    assert command(*words, "--prefix", "f_").out.splitlines()[0].endswith(",f_digits")
    assert command(*words, "--only").out.splitlines()[0] == "value,d_x,digits"
    outcome = command(*words, "--reduce", "sum")
    assert outcome.status == 2
    assert "--show-digits is for rows" in outcome.err
    twice = command("batch", "digits = x + 1; digits", "--of", "digits", *words[2:], "--only")
    assert "two results would be called 'digits'" in twice.err


def test_the_fewest_digits_of_what_a_row_has() -> None:
    formula = exprgrad.parse("log(1 + x)")
    rows = {"x": np.array([1e-9, 0.5, -1.0])}
    assert formula.batch(rows, show_digits=True, value_only=True)["digits"][0] == 6
    found = formula.batch(rows, show_digits=True)["digits"]
    assert found[0] == 6  # of the value; its derivative has all
    assert math.isnan(found[2])


def test_corrected_rows_in_files_are_said_and_counted(tmp_path: Path) -> None:
    data, path = sample(tmp_path), str(tmp_path / "out.jsonl")
    words = ["batch", COSINE, "--data", data, "--correct", "--show-digits"]
    outcome = command(*words, "-o", path, "--json")
    answer = json.loads(outcome.out)
    validate(answer, SCHEMA)
    assert (answer["corrected"], answer["lost"]) == (2, {})
    assert outcome.err.splitlines()[1:] == [
        f"note: 2 rows corrected to the true numbers (rows 1, 3 of '{data}')"
    ]
    rows = [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]
    for row, x in ((rows[0], 1e-8), (rows[2], 1e-7)):
        assert (row["value"], row["d_x"]) == true_of_cosine(x)
        assert row["digits"] == 16
    assert rows[3] == {"x": None, "k": "b", "value": None, "d_x": None, "digits": None}


def test_corrected_rows_count_in_sums(tmp_path: Path) -> None:
    data = sample(tmp_path)
    words = ["batch", COSINE, "--data", data, "--correct", "--reduce", "sum", "--json"]
    answer = json.loads(command(*words).out)
    validate(answer, SCHEMA)
    assert (answer["corrected"], answer["lost"]) == (2, {})
    true = [true_of_cosine(x) for x in (1e-8, 0.5, 1e-7)]
    found = answer["value"], answer["gradient"]["x"]
    for number, each in zip(found, zip(*true, strict=True), strict=True):
        assert math.isclose(number, sum(each), rel_tol=10.0**-PLACES)
    groups = json.loads(command(*words, "--by", "k").out)
    validate(groups, SCHEMA)
    assert groups["corrected"] == 2
    last = groups["groups"][1]
    assert (last["value"], last["gradient"]["x"]) == true_of_cosine(1e-7)


def test_nothing_is_left_for_strict_once_rows_are_true(tmp_path: Path) -> None:
    path = written(tmp_path, [1e-8, 0.5])
    words = ["batch", COSINE, "--data", path, "--strict"]
    assert command(*words).status == 1
    assert command(*words, "--correct").status == 0


def test_rows_that_stay_doubtful_stay_flagged(tmp_path: Path) -> None:
    """In ``x + 0.2 - 0.3`` at 0.1 the answer depends on how decimals are rounded."""
    path = written(tmp_path, [0.1, 0.5])
    words = ["batch", "x + 0.2 - 0.3", "--data", path, "--correct", "--reduce", "min", "--json"]
    outcome = command(*words)
    answer = json.loads(outcome.out)
    assert (answer["lost"], answer["corrected"]) == ({"value": 1}, 0)
    assert printed_by_grad("x + 0.2 - 0.3", {"x": 0.1})[0] == answer["value"]


def test_a_row_at_a_kink_is_corrected_where_the_derivative_exists(tmp_path: Path) -> None:
    path = written(tmp_path, [0.0, 2.0])
    words = ["batch", "relu(x) - relu(-x)", "--data", path, "--reduce", "sum", "--json"]
    plain, found = (json.loads(command(*words, *more).out) for more in ([], ["--correct"]))
    assert (plain["gradient"]["x"], found["gradient"]["x"]) == (1, 2)
    assert (found["kinks"], found["corrected"]) == (1, 1)


def test_corrections_of_second_derivatives_and_of_several_outputs() -> None:
    rows = {"x": np.array([1e-3, 0.5])}
    found = exprgrad.parse(COSINE).batch(rows, hessian=True, correct=True)
    with mp.workdps(60):
        true = mp.diff(lambda x: (1 - mp.cos(x)) / x**2, mpf(1e-3), 2)
    assert found["d_x_x"][0] == float(true)
    both = exprgrad.parse("a = (1 - cos(x))/x^2; b = 2*x; a*b")
    found = both.batch({"x": np.array([1e-8])}, of=["a", "b"], correct=True)
    value, slope = true_of_cosine(1e-8)
    assert [found[name][0] for name in ("a", "b", "d_a_x", "d_b_x")] == [value, 2e-8, slope, 2]
    found = both.batch({"x": np.array([1e-8])}, of=["a"], value_only=True, correct=True)
    assert found["a"][0] == value


def test_numbers_given_for_all_rows_are_as_they_were_typed(tmp_path: Path) -> None:
    """As in ``grad``, where 1/3 means the third itself."""
    path = written(tmp_path, [1.0, 2.0])
    outcome = command("batch", "3*a*x - x", "a=1/3", "--data", path, "--correct", "--only")
    rows = [[*map(float, line.split(","))] for line in outcome.out.splitlines()[1:]]
    for x, row in zip((1.0, 2.0), rows, strict=True):
        answer = json.loads(command("grad", "3*a*x - x", "a=1/3", f"x={x}", "--json").out)
        assert row == [answer["value"], *answer["gradient"].values()]


def test_corrections_in_python() -> None:
    formula = exprgrad.parse(COSINE)
    rows = {"x": np.array([1e-8, 0.5, 1e-7])}
    total = formula.batch(rows, reduce="sum", correct=True)
    assert (total.lost, total.corrected) == ({}, 2)
    assert formula.batch(rows, reduce="sum").corrected == 0
    found = formula.batch(rows, correct=True)  # and no warning
    assert (found["value"][0], found["d_x"][0]) == true_of_cosine(1e-8)
    grouped = formula.batch({**rows, "k": np.array([1, 1, 2])}, reduce="sum", by="k", correct=True)
    assert (grouped.corrected, grouped[2].value) == (2, true_of_cosine(1e-7)[0])


def test_many_threads_correct_as_one_does(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    for at in range(4):
        (folder / str(at)).mkdir(parents=True)
        written(folder / str(at), [1e-8, 0.5, 10.0**-at])
    words = ["batch", COSINE, "--data", str(folder), "--correct", "--show-digits"]
    outputs = [command(*words, "--threads", count).out for count in ("1", "4")]
    assert outputs[0] == outputs[1]


def test_without_python_flint_corrections_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exprgrad.data.plans.has_balls", lambda: False)
    formula = exprgrad.parse(COSINE)
    with pytest.raises(exprgrad.MissingExtraError, match="needs python-flint"):
        formula.batch({"x": np.array([1e-8])}, correct=True)
    assert formula.batch({"x": np.array([0.5])}, show_digits=True)["digits"][0] > 8
