"""Derivatives from the two sides: by hand, row by row of the op table, and against exact differences."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import product
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest

import golden
from amounts import many
from counting import calls
from exprgrad import Expression, Run, parse
from exprgrad.derive.rules import template
from exprgrad.explain.kinks_met import nonsmooth_nodes, passes_movement
from exprgrad.explain.sides.kinks import OneSided
from exprgrad.explain.sides.one_sided import local_derivative_error, operation_rounding
from exprgrad.graph.ops import BY_NAME, OPS, Op
from exprgrad.run.numbers.sweeps import companion_values, functions
from oracles import Real, Unwieldy, evaluate, is_special, mp, mpf
from shell import command, spelled
from strategies import apply, tree
from together import together

TABLE = Path(__file__).parents[1] / "cases" / "kinks.txt"


class Case(NamedTuple):
    """A line of the table: what is known by hand of one input of a formula."""

    formula: str
    values: str
    input: str
    verdict: str
    left: float | None
    right: float | None
    limits: tuple[float | None, ...] | None


def number(text: str) -> float | None:
    return None if text == "-" else float(text)


def cases() -> Iterator[Case]:
    for line in TABLE.read_text("utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        formula, values, name, verdict, left, right, *rest = line.split(" | ")
        limits = tuple(map(number, rest[0].split())) if rest else None
        yield Case(formula, values, name, verdict, number(left), number(right), limits)


CASES = list(cases())


def run_of(case: Case) -> Run:
    pairs = (pair.split("=") for pair in case.values.split())
    return parse(case.formula).gradient({name: float(value) for name, value in pairs})


MANY = [op for op in OPS if op.variadic or len(op.names) > 1]
"""The rows of more than one operand."""


@together(CASES)
def test_sides_are_those_worked_out_by_hand(case: Case) -> None:
    run = run_of(case)
    found = run.one_sided[case.input]
    assert found.verdict == case.verdict
    for side, true in ((found.left, case.left), (found.right, case.right)):
        assert (side is None) == (true is None)
        assert side is None or true is None or math.isclose(side, true, rel_tol=1e-12)
    if case.limits is not None:
        assert (found.left_value, found.right_value) == case.limits
    elif case.verdict in ("kink", "exists"):
        assert {found.left_value, found.right_value} <= {run.value, None}
    told = case.limits or case.left is not None or case.right is not None
    assert found.estimated == (case.verdict == "undecided" and bool(told))


@together(
    [
        ("exp(log(abs(x)))", -1, 1),
        ("sigmoid(log(abs(x)))", -1, 1),
        ("expm1(log(abs(x)))", -1, 1),
        ("elu(log(abs(x)))", -1, 1),
        ("silu(log(abs(x)))", math.inf, -math.inf),
        ("exp2(log2(abs(x)))", -1, 1),
        ("exp(log(abs(x))/3)", -math.inf, math.inf),
        ("exp(1*log(abs(x)))", -1, 1),
        ("logsumexp(log(abs(x)), 0)", -1, 1),
        ("logaddexp(log(abs(x)), 0)", -1, 1),
        ("erfc(-log(abs(x)))", 0, 0),
        ("sigmoid(log(relu(x)))", 0, 1),
        ("1/floor(1/x)", 1, 1),
        ("exp2(round(log(abs(x))))", -math.inf, math.inf),
        ("where(x > 0, tanh(1/x), 1)", 0, 0),
        ("where(x > 0, atan(1/x), pi/2)", 0, -1),
        ("exp(log(x))", None, 1),
        ("sigmoid(log(x))", None, 1),
        ("expm1(log(x))", None, 1),
        ("elu(log(x))", None, 1),
        ("selu(log(x))", None, 1.7580993408473766),
        ("sinc(1/x)", None, None),
        ("where(x > 0, x^2*sin(log(x)), x)", 1, 0),
        ("where(x > 0, x*sin(1/x), abs(x))", -1, None),
        ("where(x == 0, 0, x*sin(1/x))", None, None),
        ("(1 + x)^(1/abs(x))", None, None),
        ("inf^sqrt(abs(x))", None, None),
        ("cos(0*x)*sin(atan2(3, sqrt(abs(x))))", 1 / 18, -1 / 18),
        ("cbrt(x)*cos(pi/2)", 0, 0),
        ("tan(asin(floor(x)))", None, 0),
        ("cbrt(sin(pi)*abs(x))", 0, 0),
    ]
)
def test_what_only_a_limit_would_tell(
    formula: str, left: float | None, right: float | None
) -> None:
    """At 0 something is infinite: a rule there says nothing of the way, nor does noise times infinity."""
    found = parse(formula).gradient(x=0).one_sided["x"]
    assert found.verdict == "undecided" and not found.corrected
    for said, true in ((found.left, left), (found.right, right)):
        near = true is not None and said is not None and math.isclose(said, true, rel_tol=2**-8)
        assert said is None or near


@pytest.mark.parametrize(
    ("formula", "left", "right"),
    [("exp(log(abs(x)))", -1, 1), ("exp(2*log(x))", None, 0)],
)
def test_differences_tell_past_a_pole(
    formula: str, left: float | None, right: float | None
) -> None:
    """A pole's infinity is exact, and so is what is made of it: differences have their digits."""
    found = parse(formula).gradient(x=0).one_sided["x"]
    assert found.estimated and (found.left, found.right) == (left, right)


@pytest.mark.parametrize(
    ("formula", "x", "left", "right"),
    [
        ("sqrt(1 - cos(x))", 0, -math.sqrt(0.5), math.sqrt(0.5)),
        ("acos(x)^2", 1, -2, None),
        ("sqrt((x*10 - 1)^2)", 0.1, -10, 10),
        ("x + sqrt((x*10 - 1)^2)", 0.1, -9, 11),
        ("cbrt(x)*sqrt(x^2)^(1/3)", 0, math.inf, math.inf),
    ],
)
def test_estimates_are_right_to_the_last_digit(
    formula: str, x: float, left: float | None, right: float | None
) -> None:
    """In doubles the differences of 1 - cos(x) are rounded away; sides tell apart what was typed."""
    found = parse(formula).gradient(x=x).one_sided["x"]
    assert found.verdict == "undecided" and found.estimated
    for said, true in ((found.left, left), (found.right, right)):
        assert said == true or math.isclose(said or 0.0, true or 0.0, rel_tol=2**-52)


@together(
    [
        ("sign(1/x^2)", 0),
        ("x*where(1/x > 0, x, 2*x)", 0),
        ("where(1/x > 0, x, x^2 + x)", 0),
        ("where(exp(x) > 2, x, 2*x)", 1000),
        ("sign(1/(x*1e-200))", 1e-200),
        ("1/x", 0),
    ]
)
def test_a_pole_whose_sides_agree_is_no_kink(formula: str, x: float) -> None:
    """Nor is one that underflow alone makes."""
    run = parse(formula).gradient(x=x)
    assert not run.one_sided and not run.corrected


@pytest.mark.parametrize("line", ["jac", "hess", "jvp --tangent x=1", "vjp"])
def test_the_other_commands_say_what_a_pole_hides(line: str) -> None:
    """Their finite derivatives are conventions as much as those of grad."""
    for formula, said in {
        "sign(1/x)": "jump",
        "where(1/x > 0, x, 2*x)": "kink",
        "1/x^2": "",
    }.items():
        command_name, *options = line.split()
        found = command(command_name, "--json", formula, "x=0", *options)
        codes = {d["code"] for d in json.loads(found.out)["diagnostics"]} & {"jump", "kink"}
        assert codes == ({said} if said else set()), formula


def test_what_balls_tell_is_not_called_undecided() -> None:
    """y.grad has no true number: it alone is undecided."""
    run = parse("sqrt(1 - cos(y)) + 1/(1 + exp(-x))").gradient(x=-1000, y=0)
    assert {**run.one_sided}.keys() == {"x", "y"} and run.true.gradient["x"] == 0
    told = [found.message for found in run.diagnostics if found.code == "undecided"]
    assert told == [
        "undecided along y: left about -0.7071067811865476, right about 0.7071067811865476, returned nan"
    ]


@together(
    [
        ("x^1.5", "x=0", "0 from the right alone: x^1.5 is not defined on the left"),
        (
            "(1 - x)^2.5 + y",
            "x=1 y=2",
            "0 from the left alone: (1 - x)^2.5 is not defined on the right",
        ),
        ("3*x + x^1.5", "x=0", "3 from the right alone: x^1.5 is not defined on the left"),
        ("x^y", "x=0 y=1.5", "0 from the right alone: x^y is not defined on the left"),
        ("heaviside(-log(x))", "x=0", "0 from the right alone: log(x) is not defined on the left"),
        ("x^2", "x=0", ""),
        ("(x^2)^1.5", "x=0", ""),
        ("abs(x)^1.5", "x=0", ""),
        ("where(x > 1, x^1.5, 2)", "x=0", ""),
        ("x^1.5", "x=1", ""),
        ("sqrt(x)", "x=0", ""),
    ]
)
def test_a_derivative_from_one_side_is_said_to_be(formula: str, values: str, said: str) -> None:
    """Where a formula ends with a finite slope; where it goes on, or the slope is infinite, nothing is."""
    pairs = (pair.split("=") for pair in values.split())
    run = parse(formula).gradient({name: float(value) for name, value in pairs})
    told = [(d.severity, d.message) for d in run.diagnostics if d.code == "edge"]
    assert told == ([("note", f"the derivative along x is {said}")] if said else [])
    assert not run.corrected and not run.one_sided.keys() - {"x"}


def test_estimates_of_long_formulas() -> None:
    """Their cost counts, bits times nodes, and it is shared among the inputs."""
    terms = " + ".join(f"{place}*x" for place in range(800))
    side = parse(f"sqrt(1 - cos(x)) + ({terms} - 319600*x)").gradient(x=0).one_sided["x"]
    assert side.estimated and (side.left, side.right) == (-math.sqrt(0.5), math.sqrt(0.5))
    others = " + ".join(f"0*x{place}" for place in range(15))
    many = parse(f"sqrt(1 - cos(x)) + ({terms}) + {others}")
    side = many.gradient(dict.fromkeys(many.inputs, 0)).one_sided["x"]
    assert not side.estimated


def test_no_estimate_without_balls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exprgrad.explain.checking.differences.has_balls", lambda: False)
    found = parse("sqrt(1 - cos(x))").gradient(x=0).one_sided["x"]
    assert (found.left, found.right, found.estimated) == (None, None, False)


@pytest.mark.parametrize(
    ("formula", "left", "right"),
    [
        ("x*log(x)", None, 0),
        ("x*log(abs(x))", 0, 0),
        ("2 + x*log(abs(x))", 2, 2),
        ("sqrt(x)*log(x)", None, 0),
        ("x/(1/log(x))/x", None, None),
    ],
)
def test_limits_where_there_is_no_value(
    formula: str, left: float | None, right: float | None
) -> None:
    run = parse(formula).gradient(x=0)
    found = run.one_sided["x"]
    assert math.isnan(run.value) and found.verdict == "undecided"
    assert found.estimated == ((left, right) != (None, None))
    for said, true in ((found.left_value, left), (found.right_value, right)):
        assert said == true or (said is not None and true and abs(said - true) < 2**-8 * true)


def test_there_are_enough_cases() -> None:
    counts = Counter(case.verdict for case in CASES)
    assert len(CASES) >= 60 and min(counts.values()) >= 8, counts


def test_texts() -> None:
    """What people read of all these cases, a formula's first line of values only."""
    pieces = []
    for formula, values in dict.fromkeys((case.formula, case.values) for case in CASES):
        argv = ["grad", "-q", "--strict", formula, *values.split()]
        status, out, err = command(*argv)
        assert status == 1
        lines = [line for line in err.splitlines() if not line.startswith("  ")]
        pieces.append(f"{spelled(argv)}\n{out}" + "\n".join(lines) + "\n")
    golden.agree("kinks/messages.txt", "\n".join(pieces))


WHOLE = (
    ("relu(x) - relu(-x)", "x=0"),
    ("abs(x) + abs(y)", "x=0 y=0"),
    ("floor(x)*max(x, y)", "x=1 y=1"),
    ("u = sqrt(x^2)\nu + floor(-x^2)", "x=0"),
    ("sqrt(relu(-x)) + x", "x=1"),
    ("1e-20*abs(x) + x", "x=0"),
)


@pytest.mark.parametrize("form", ["table", "trace", "json", "csv"])
def test_whole_outputs(form: str) -> None:
    """Tables, traces and CSV keep the sweep's numbers; what the gradient is instead is said below."""
    options = [] if form == "table" else [f"--{form}"]
    pieces = []
    for formula, values in WHOLE:
        argv = ["grad", *options, formula, *values.split()]
        _, out, err = command(*argv)
        pieces.append(f"{spelled(argv)}\n{out}{err if form != 'csv' else ''}")
    golden.agree(f"kinks/{form}.txt", "\n".join(pieces))


# What the library offers.


def test_the_gradient_is_corrected_and_nothing_else_is() -> None:
    run = parse("relu(x) - relu(-x)").gradient(x=0)
    assert run.gradient == {"x": 1.0} and run.swept == {"x": 0.0}
    assert run.corrected == {"x": (0.0, 1.0)}
    assert run.nodes[0].grad == 0.0
    document = json.loads(run.json())
    assert document["gradient"] == {"x": 1.0}
    assert document["corrected"] == {"x": {"sweep": 0.0, "value": 1.0}}
    assert document["nodes"][0]["grad"] == 0.0
    side = {"left": 1.0, "right": 1.0, "left_value": 0.0, "right_value": 0.0}
    assert document["one_sided"] == {"x": {**side, "verdict": "exists", "estimated": False}}


def test_a_smooth_point_has_nothing_to_say() -> None:
    run = parse("relu(x)*abs(y) + floor(x)").gradient(x=1.5, y=2)
    assert run.one_sided == {} and run.corrected == {} and run.diagnostics == []
    document = json.loads(run.json())
    assert "corrected" not in document and "one_sided" not in document


@pytest.mark.parametrize("sign", ["==", "!=", "<", "<=", ">", ">="])
@pytest.mark.parametrize("text", ["where({}, 3*x, 5*x)", "d(where({}, 3*x, 5*x)*x, x)/2", "({})*x"])
def test_a_number_compared_with_itself_never_switches(sign: str, text: str) -> None:
    run = parse(text.format(f"x {sign} x")).gradient(x=1.0)
    holds = sign in ("==", "<=", ">=")
    assert run.gradient == {
        "x": (1.0 if holds else 0.0) if text[0] == "(" else 3.0 if holds else 5.0
    }
    assert run.diagnostics == [] and run.one_sided == {}


@pytest.mark.parametrize(("x", "told"), [(-1.0, []), (1.0, []), (0.0, ["x > 0 jumps here"])])
def test_a_choice_inside_of_a_derivative_jumps_where_its_condition_does(
    x: float, told: list[str]
) -> None:
    run = parse("d(where(x > 0, 3*x, 5*x)*x, x)").evaluate(x=x)
    assert [one.message.partition(",")[0] for one in run.diagnostics] == told


def test_rows_and_minima_with_a_number_compared_with_itself(tmp_path: Path) -> None:
    text, data = "where(x == x, x^2, 0)", tmp_path / "x.csv"
    data.write_text("x\n1\n2\n")
    status, out, err = command("batch", text, "--data", str(data), "--strict")
    assert (status, out, err) == (0, "x,value,d_x\n1,1,2\n2,4,4\n", "")
    assert json.loads(command("minimize", text, "x=1", "--json").out)["verdict"] == "minimum"


def test_an_operand_that_stays_meets_no_kink() -> None:
    """The outer ``relu`` has an operand of 0, for the inner one is off: nothing there moves."""
    run = parse("relu(relu(x)*y) + abs(0*x)").gradient(x=-1, y=2)
    assert run.diagnostics == [] and run.gradient == {"x": 0.0, "y": 0.0}


@pytest.mark.parametrize("op", MANY, ids=lambda op: op.name)
def test_more_operands_that_move_never_make_a_node_stay(op: Op) -> None:
    """That is why not every operand has to be asked."""
    count = 2 if op.variadic else len(op.names)
    for values in product([-math.inf, -0.5, 0.0, 2.0, math.inf], repeat=count):
        views = companion_values(op, [*values, functions[op.name](*values)], [1.0] * count)
        one, *more = (
            any(flags[at] and passes_movement(op, at, views[at], flags) for at in range(count))
            for flags in ([at <= last for at in range(count)] for last in range(count))
        )
        assert [one, *more] == sorted([one, *more]), values


def test_no_more_operands_are_asked_than_it_takes() -> None:
    """That b moves is enough: nobody asks the 2,000 products."""
    run = parse(f"relu(b*({'*'.join(['a'] * 2001)}))").gradient(a=1, b=0)
    assert nonsmooth_nodes(run)
    assert calls(lambda: nonsmooth_nodes(run))[1] < 200


def test_inputs_that_a_kink_does_not_concern_are_left_out() -> None:
    run = parse("abs(x) + min(x, y, z + 1) + w").gradient(x=0, y=0, z=5, w=1)
    assert set(run.one_sided) == {"x", "y"}


def test_only_chosen_inputs_are_looked_at() -> None:
    f = parse("abs(x) + abs(y)")
    assert set(f.gradient(x=0, y=0, wrt=["y"]).one_sided) == {"y"}
    assert f.gradient(x=0, y=1, wrt=["y"]).one_sided == {}


def test_an_evaluation_has_no_sides() -> None:
    run = parse("abs(x)").evaluate(x=0)
    assert run.one_sided == {} and run.corrected == {} and run.gradient == {}


@pytest.mark.parametrize("count", [64, 65])
def test_above_64_inputs_points_are_flagged_only(count: int) -> None:
    names = [f"x{number}" for number in range(count)]
    run = parse(" + ".join(f"abs({name})" for name in names)).gradient(dict.fromkeys(names, 0.0))
    codes = Counter(diagnostic.code for diagnostic in run.diagnostics)
    if count == 64:
        assert len(run.one_sided) == 64 and codes == {"kink": 128}
    else:
        assert run.one_sided == {} and codes == {"kink": 65, "many-inputs": 1}
    assert sum(diagnostic.help is not None for diagnostic in run.diagnostics) <= 2


def test_help_is_said_once() -> None:
    run = parse("abs(x) + abs(y) + abs(z)").gradient(x=0, y=0, z=0)
    assert len(run.diagnostics) == 6
    assert [d.help is not None for d in run.diagnostics] == [
        False,
        False,
        False,
        True,
        False,
        False,
    ]


def test_verdicts_stand_at_the_first_occurrence() -> None:
    run = parse("2 + abs(x) + x").gradient(x=0)
    verdict = run.diagnostics[-1]
    assert verdict.node == run.graph.inputs["x"]
    assert run.text[slice(*verdict.span)] == "x" and verdict.span == (8, 9)


@pytest.mark.parametrize(
    ("formula", "values", "status"),
    [
        ("relu(x) - relu(-x)", "x=0", 1),
        ("abs(x)*x", "x=0", 1),
        ("sqrt(x^2)", "x=0", 1),
        ("floor(x)", "x=1", 1),
        ("abs(x)", "x=1", 0),
    ],
)
def test_strict(formula: str, values: str, status: int) -> None:
    assert command("grad", "--strict", formula, values).status == status
    assert command("grad", formula, values).status == 0


@together(OPS)
def test_a_local_derivative_may_be_off_by_what_its_row_says(op: Op) -> None:
    """In ulps, and beside a zero absolutely."""
    for position in range(len(op.names)):
        computed = len(template(op.partial(position))) > 1
        assert local_derivative_error(op, position, 1.0) >= computed * op.partial_ulp * math.ulp(
            1.0
        )
        assert local_derivative_error(op, position, 1e-200) >= computed * op.partial_abs


def test_it_is_asked_once_whether_conventions_are_met(monkeypatch: pytest.MonkeyPatch) -> None:
    run = parse("relu(x)*y").gradient(x=0, y=2)
    first = run.gradient
    monkeypatch.setattr(
        "exprgrad.explain.kinks_met.nonsmooth_nodes", lambda run: pytest.fail("asked again")
    )
    assert run.gradient == first == {"x": 0.0, "y": 0.0}


@pytest.mark.parametrize("x", [1e308, 1.7e308, -1.7e308, 1.79769e308, 5e-324, 1e-310, 1e-200])
def test_where_numbers_end(x: float) -> None:
    """At the largest inputs and at the least a guess is right: steps are smaller than any double."""
    for formula, limit in {
        "sign((x - c)*(x - c))": 1.0,
        "where(abs(x - c)*abs(x - c) > 0, c, 0)": x,
    }.items():
        found = parse(formula.replace("c", repr(x))).gradient(x=x).one_sided["x"]
        assert found.verdict == "undecided"
        assert (found.left_value, found.right_value) == (limit, limit)
        assert (found.left, found.right, found.estimated) == (None, None, True)


def test_a_deep_formula() -> None:
    """Nothing recurses."""
    depth = 1_500
    run = parse("abs(" + "0.5 + (" * depth + "x" + ")" * depth + f" - {depth / 2})").gradient(x=0)
    assert (run.one_sided["x"].left, run.one_sided["x"].right) == (-1.0, 1.0)


# Every row of the table, alone.


def special_points(op: Op) -> Iterator[tuple[float, ...]]:
    """Simple points at which the row meets a kink or a jump, of two operands if it is variadic."""
    some = (-3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 6.0)
    count = 2 if op.variadic else len(op.names)
    points = [point for point in product(some, repeat=count) if is_special(op, point)]
    yield from Random(op.name).sample(points, min(len(points), 8))


SPECIAL = [op for op in OPS if op.special]
MOTIONS = (
    *[("x", "x", "x"), ("x", "2*x", "3*x"), ("-x", "x", "0"), ("0", "x", "-2*x"), ("x", "0", "0")],
    *[
        ("0", "0", "x"),
        ("cbrt(x)", "sqrt(abs(x))", "x"),
        ("sqrt(abs(x))", "cbrt(x)", "0"),
        ("x", "cbrt(x)", "x"),
    ],
)
"""How each operand moves as x grows; of roots, the slope is infinite, and the highest moves most."""


@together(SPECIAL)
def test_rows_say_what_is_beside(op: Op) -> None:
    """A kink says its slopes, a jump its value and where that is not told."""
    for special in op.special:
        assert special.slope if special.code == "kink" else special.side
        assert special.code == "kink" or special.undecided


@together(SPECIAL)
def test_every_row_alone(op: Op) -> None:
    """Its operands move with one input, each as fast as it likes; the sides are those of quotients."""
    tried: Counter[str] = Counter()
    for point in special_points(op):
        for motions in MOTIONS:
            operands = [
                f"({value!r} + {motion})" if motion != "0" else f"({value!r})"
                for value, motion in zip(point, motions, strict=False)
            ]
            if {"0"}.issuperset(motions[: len(point)]):
                continue
            run = parse(apply(op, operands)).gradient(x=0)
            tried.update(against_quotients(run, {"x": 0.0}))
    assert tried["kink"] + tried["jump"] > 0, tried


# Against exact differences.

SLOW = {"j0", "j1", "Si", "Ci", "fresnels", "fresnelc", "li"}
"""What dies out in waves, and what goes like a logarithm, does not get nearer with each step."""
STEP, TINY_STEP = -300, -1000
"""The step is 2^-300; one still smaller tells what grows from what is large; 2,500 bits are carried."""


EXPONENTS = 2**17
"""The bits of the longest exponents that the many compositions are held to."""


def beside(
    run: Run, point: Mapping[str, float], name: str, shift: Real, exponents: float
) -> list[Real]:
    """Every node's data with one input a little aside, exactly."""
    at = {n: mpf(x) + (shift if n == name else 0) for n, x in point.items()}
    return evaluate(run.graph, at, exponents=exponents)


def divides_oddly(run: Run, values: list[Real]) -> bool:
    """Whether some node is x % 0 or x % inf, for which mpmath has other answers than IEEE."""
    graph = run.graph
    divisors = [graph.operands[n][1] for n, kind in enumerate(graph.kinds) if kind == "mod"]
    return any(values[divisor] == 0 or mp.isinf(values[divisor]) for divisor in divisors)


def against_quotients(
    run: Run, point: Mapping[str, float], exponents: float = math.inf
) -> Iterator[str]:
    """Hold what is claimed of each side against quotients; the verdicts that were held."""
    if not run.one_sided:
        return
    with mp.workprec(2500):
        exact = evaluate(run.graph, {name: mpf(x) for name, x in point.items()})
        pairs = list(zip(exact, run.values, strict=True))
        if not all(e == mpf(x) for e, x in pairs[:-1]):
            return  # rounded data may be a tie where the truth is none
        for name, found in run.one_sided.items():
            if found.verdict != "jump" and exact[-1] != mpf(run.values[-1]):
                continue
            for sign in (-1, 1):
                hold(run, point, found, sign, exponents)
            if found.verdict == "exists":
                assert found.left == found.right == run.gradient[name]
                assert found.corrected == (run.corrected.get(name) is not None)
            yield found.verdict


def hold_all(run: Run, point: Mapping[str, float]) -> None:
    """Hold every side against quotients, but where mpmath would take minutes for a number, or gives up."""
    with suppress(RecursionError, Unwieldy):
        list(against_quotients(run, point, EXPONENTS))


def hold(
    run: Run, point: Mapping[str, float], found: OneSided, sign: int, exponents: float
) -> None:
    """One side of one input; beside an infinity closer, for a logarithm takes its time."""
    word, slope, value = ("right", found.right, found.right_value)
    if sign < 0:
        word, slope, value = ("left", found.left, found.left_value)
    slowly = not all(map(math.isfinite, run.values))
    far, near = (sign * mp.ldexp(1, exponent) for exponent in (STEP, TINY_STEP))
    step = near if slowly else far
    values = beside(run, point, found.input, step, exponents)

    def at(step: Real) -> Real:
        return beside(run, point, found.input, step, exponents)[run.graph.output]

    def quotient(step: Real) -> Real:
        if found.verdict == "jump":
            return (at(step) - at(step / 2)) / (step / 2)
        return (at(step) - mpf(run.value)) / step

    def apart(step: Real) -> Real:
        return max(abs(at(step / part) - value) for part in (1, 3, 7, 19))

    if divides_oddly(run, values) or not SLOW.isdisjoint(run.graph.kinds):
        return
    context = run.text, dict(point), found, word
    if word in found.missing:
        assert any(map(mp.isnan, values)), context  # the references make a number of 0^nan
        return
    if found.estimated:
        return
    if value is not None and math.isfinite(value) and abs(at(step) - value) >= mp.ldexp(1, -30):
        assert slowly and not apart(near) >= apart(far), context  # 1/log(x), or a root of a root
    if slope is None:
        return
    if math.isinf(slope):
        assert quotient(near) * slope > 0, context
        assert abs(quotient(near)) > max(2 * abs(quotient(far)), 100), context
    else:
        assert abs(quotient(step) - slope) <= mp.ldexp(max(1, abs(slope)), -40), context


LINEAR = "add sub neg mul abs relu max min clamp floor ceil round sign lt le gt ge eq ne where mod"
SMOOTH = "sin cos exp tanh atan sqrt log pow div hypot expm1"
EVERY = " ".join(op.name for op in OPS)


def generated(random: Random, names: str) -> tuple[Expression, dict[str, float]]:
    """A composition at a point of small whole numbers."""
    ops = [BY_NAME[name] for name in names.split()]
    often = [op for op in ops if op.name in ("add", "sub", "mul")]
    leaves = ("x", "y", "z", "x", "0", "1", "2", "3", "0.5")
    formula = parse(tree(random, leaves, (*ops, *often, *often), random.randint(1, 9)))
    return formula, {name: float(random.randint(-2, 2)) for name in formula.inputs}


def infinite(random: Random) -> tuple[Expression, dict[str, float]]:
    """A composition of any rows at a point where something in it is likely to be infinite."""
    often = [BY_NAME[name] for name in ("add", "sub", "mul", "div")]
    poles = ("log(abs(x))", "log(x)", "log2(relu(x))", "1/x", "1/abs(x)", "atanh(x + 1)", "inf")
    leaves = (*[f"({pole})" for pole in poles], "x", "x", "y", "sqrt(x)", "cbrt(x)", "0", "1")
    formula = parse(tree(random, leaves, (*OPS, *often), random.randint(1, 5)))
    return formula, {name: float(random.choice((0, 0, 0, 1, -1))) for name in formula.inputs}


BLOCKS = [0, pytest.param(1, marks=pytest.mark.slow)]


@pytest.mark.parametrize("names", [LINEAR, f"{LINEAR} {SMOOTH}"], ids=["linear", "smooth"])
@pytest.mark.parametrize("block", BLOCKS)
def test_compositions(names: str, block: int) -> None:
    """What is decided is right: kinks, jumps, derivatives that exist, and sides that are not there."""
    found: Counter[str] = Counter()
    for number in range(250):
        formula, point = generated(Random(f"{names} {block} {number}"), names)
        run = formula.gradient(point)
        if math.isfinite(run.value):
            found.update(against_quotients(run, point))
    assert found["kink"] and found["jump"] > 10 and found["exists"] > 10, found
    assert found["undecided"] < sum(found.values()) / 5, found


@pytest.mark.parametrize("block", BLOCKS)
def test_compositions_of_infinities(block: int) -> None:
    """What is decided in spite of an infinity on the way is right, too."""
    found: Counter[str] = Counter()
    held = 0
    for number in range(500):
        formula, point = infinite(Random(f"infinite {block} {number}"))
        run = formula.gradient(point)
        if math.isfinite(run.value):
            verdicts = list(against_quotients(run, point))
            found.update(verdicts)
            held += len(verdicts) * (not all(map(math.isfinite, run.values)))
    assert held > 10 and found["kink"] and found["jump"] and found["exists"] > 5, (held, found)


@pytest.mark.slow
def test_many_infinities() -> None:
    for number in range(many(500)):
        formula, point = infinite(Random(f"many infinite {number}"))
        run = formula.gradient(point)
        if math.isfinite(run.value):
            hold_all(run, point)


@pytest.mark.slow
@pytest.mark.parametrize(
    "names", [LINEAR, f"{LINEAR} {SMOOTH}", EVERY], ids=["linear", "smooth", "every"]
)
def test_many_compositions(names: str) -> None:
    for number in range(many(1_500)):
        formula, point = generated(Random(f"many {names} {number}"), names)
        run = formula.gradient(point)
        if math.isfinite(run.value):
            hold_all(run, point)


@pytest.mark.parametrize("small", [1.0, 1e-20, 1e-300])
def test_kinks_below_rounding_are_seen(small: float) -> None:
    """How far the sides are from the sweep is carried apart, so rounding does not hide it."""
    found = parse("s*abs(x) + x + exp(y)").gradient(s=small, x=0, y=1, wrt=["x"]).one_sided["x"]
    assert found.verdict == "kink" and found.apart == 2 * small


@pytest.mark.parametrize(
    "text",
    [
        "relu(x)*0.1*0.3*0.7 - relu(-x)*0.7*0.3*0.1",
        "relu(x)*2.9*1.3*0.1 - relu(-x)*0.1*1.3*2.9",
        "relu(x)/3*0.7*5.1 - relu(-x)*5.1*0.7/3",
        "tan(1.2 + relu(x)) - relu(-x)/cos(1.2)^2",
        "tan(0.7 + relu(x)) - relu(-x)/cos(0.7)^2",
    ],
)
def test_rounding_alone_makes_no_kink(text: str) -> None:
    """The sides are equal in real arithmetic, and their doubles are not: the bound knows."""
    sides = parse(text).gradient(x=0).one_sided["x"]
    assert sides.verdict == "exists" and sides.corrected


def test_a_kink_of_an_ulp_is_one() -> None:
    """0.3 is not three times 0.1: as doubles, they are 2.8e-17 apart."""
    sides = parse("abs(0.1*x)*3 - abs(0.3*x)").gradient(x=0).one_sided["x"]
    with mp.workprec(200):
        true = mpf(0.1) * 3 - mpf(0.3)
        assert sides.verdict == "kink" and sides.right is not None
        assert 0 < true < sides.right < 3 * true


def test_what_an_operation_rounds_away() -> None:
    """Nothing of whole numbers, where the row is rounded correctly; else its bound in ulps."""
    assert operation_rounding(5.0, (2.0, 3.0)) == operation_rounding(6.0, (2.0, 3.0), 0.5) == 0
    assert (
        operation_rounding(0.5, (1.0, 2.0)) == 2.0**-54
        and operation_rounding(2.0**53, (1.0, 2.0**53)) == 1
    )
    assert operation_rounding(2.0, (4.0,), 2.0) == 2 * math.ulp(2.0)
    assert operation_rounding(math.inf, (1.0,)) == operation_rounding(math.nan, (1.0,), 3.0) == 0


def test_operands_of_a_tie_that_move_alike_are_asked_once() -> None:
    """What they do to each other is known of two: a large tie takes no longer than its operands."""

    def work(count: int) -> int:
        formula = parse("max(" + ", ".join(["x"] * count) + ")/x")
        run = formula.gradient(x=0.5)
        return calls(lambda: run.one_sided)[1]

    work(10)
    assert work(400) < 200 * 400
