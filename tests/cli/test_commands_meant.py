"""Helps of commands lead to what was meant: the options, values and columns that they show work."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from shell import command

DECAY = "{},{}\n0,5.1\n1,3.05\n2,2\n3,1.4\n4,1.1\n5,0.75\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with files of rows, where commands run."""
    monkeypatch.chdir(tmp_path)
    for name, (one, other) in {
        "plain.csv": ("t", "V"),
        "messy.csv": ("Time (s)", "V [mV]"),
        **{f"{name}.csv": (name, "r") for name in ("pi", "inf", "nan")},
    }.items():
        Path(name).write_text(DECAY.format(one, other), encoding="utf-8")
    return tmp_path


def help_of(*argv: str) -> str:
    """The help of an error."""
    outcome = command(*argv)
    assert outcome.status == 2, outcome
    return outcome.err.partition("help: ")[2].strip()


@pytest.mark.parametrize("argv", [["batch", "V*t"], ["fit", "V ~ A*exp(-t/tau)", "A=5", "tau=2"]])
@pytest.mark.parametrize("file", ["plain.csv", "@plain.csv"])
def test_a_file_without_its_option(argv: list[str], file: str) -> None:
    help = help_of(*argv[:2], file, *argv[2:])
    assert help == "write --data plain.csv"
    assert command(*argv, *help.split()[1:]).status == 0


@pytest.mark.parametrize("argv", [["V*t", "--data", "plain.csv"], ["--data", "plain.csv", "V*t"]])
@pytest.mark.parametrize("name", ["eval", "grad"])
def test_columns_are_values(name: str, argv: list[str]) -> None:
    values = re.search("write (.*);", help_of(name, *argv))
    assert values is not None and values[1] == "V=@plain.csv:V t=@plain.csv:t"
    assert values[1] in help_of(name, "V*t", "plain.csv")
    assert command("eval", "V*t", *values[1].split()).status == 0


@pytest.mark.parametrize(
    "argv", [["batch", "V*t"], ["fit", "V ~ A*exp(-t/tau)", "A=5", "tau=2"], ["fit", "V ~ k*t"]]
)
def test_messy_headers_show_the_whole_option(argv: list[str]) -> None:
    shown = re.search('--map "[^"]*"', help_of(*argv, "--data", "messy.csv"))
    assert shown is not None and "t=Time (s)" in shown[0] and "V=V [mV]" in shown[0]
    starts = ["k=1"] * ("k" in argv[1])
    assert command(*argv, *starts, "--data", "messy.csv", *shlex.split(shown[0])).status == 0


@pytest.mark.parametrize(
    ("argv", "name", "sign"),
    [
        (["batch", "pi*r"], "pi", "π"),
        (["batch", "r", "--where", "r < pi"], "pi", "π"),
        (["fit", "r ~ a*pi", "a=1"], "pi", "π"),
        (["fit", "pi ~ a*r", "a=1"], "pi", "π"),
        (["batch", "max(r, -inf)"], "inf", "∞"),
        (["batch", "nan*r"], "nan", ""),
    ],
)
def test_a_column_called_like_a_constant_has_two_readings(
    argv: list[str], name: str, sign: str
) -> None:
    data = ["--data", f"{name}.csv"]
    help = help_of(*argv, *data)
    assert f"for the column write {name}_1, and --map {name}_1={name}" in help
    assert (f"for the constant write {sign};" in help) == bool(sign)
    renamed = [re.sub(rf"\b{name}\b", f"{name}_1", each) for each in argv]
    assert command(*renamed, *data, "--map", f"{name}_1={name}").status == 0
    if sign and "pi ~" not in argv[1]:
        assert command(*[re.sub(rf"\b{name}\b", sign, each) for each in argv], *data).status == 0


@pytest.mark.parametrize(
    ("argv", "ours"),
    [
        (["solve", "e^x = 2", "x=1"], "exp(x) = 2"),
        (["fit", "V ~ a*e^(-b*t)", "a=1", "b=1", "--data", "plain.csv"], "V ~ a*exp(-b*t)"),
        (["fit", "V ~ a*e^(-b*t)", "--data", "plain.csv"], "V ~ a*exp(-b*t)"),
        (["batch", "e^t", "--data", "plain.csv"], "exp(1), or exp(x) for e^x"),
        (["minimize", "e^x - x", "x=1"], "exp(x) - x"),
    ],
)
def test_there_is_no_constant_e_in_any_command(argv: list[str], ours: str) -> None:
    help = help_of(*argv)
    assert help.startswith("there is no constant e: ") and ours in help


@pytest.mark.parametrize("word", ["--lessonz", "--lessonz=neuron"])
def test_an_unknown_option_before_the_formula_is_one(word: str) -> None:
    assert help_of("explore", word, "x^2", "x=1") == "did you mean '--lesson'?"


@pytest.mark.parametrize("names", ["x y", "x; y", "x;y", " x  y"])
def test_names_without_commas(names: str) -> None:
    assert help_of("grad", "x*y", "x=1", "y=2", "--wrt", names) == "names are separated by ',': x,y"


def test_help_of_a_command_that_is_not_there_names_that_one() -> None:
    assert "there is no command 'grd'" in command("help", "grd").err
    assert command("help", "grad").out == command("grad", "--help").out


@pytest.mark.parametrize(
    ("formula", "values", "answer"),
    [
        (r"x_0 + \sum_{i=1}^{2} x_i", "x_0=100 x_1=5 x_2=7", 112),
        (r"\sum_{i=2}^{3} x_i", "x_2=5 x_3=7", 12),
        (r"\sum_{i=1}^{3} x_i^2 + x_4", "x_1=1 x_2=5 x_3=7 x_4=3", 78),
        (r"\sum_{i=0}^{1} x_{i+1} y_i", "x_1=1 x_2=2 y_0=3 y_1=4", 11),
        (r"\sum_{i=1}^{2} \sum_{j=1}^{2} i a_{ij}", "a=[[1,2],[3,4]]", 17),
        (r"\sum_{i=1}^{2} \sum_{j=1}^{2} i a_{i,j}", "a=[[1,2],[3,4]]", 17),
        (r"\sum_{i=1}^{2} \sum_{j=1}^{2} i a_{j, i}", "a=[[1,2],[3,4]]", 16),
    ],
)
def test_elements_are_the_names_that_a_sum_reads(formula: str, values: str, answer: float) -> None:
    assert float(command("eval", "-q", formula, *values.split()).out) == answer


@pytest.mark.parametrize(
    ("formula", "values", "said"),
    [
        (r"\sum_{i=1}^{3} x_{i}", "x_1=2", "inputs 'x_2', 'x_3' have no value"),
        (r"\sum_{i=1}^{2} x_i", "x_0=100 x_1=5 x_2=7", "does not read 'x_0'"),
        (r"\sum_{i=0}^{1} x_i", "x_1=5 x_2=7", "does not read 'x_2'"),
        (r"\sum_{i=1}^{2} x_{i-1}", "x_0=1 x_1=5", "which element is 'x' here?"),
        (r"\sum_{i=1}^{2} x_{i-1}", "x=[1,2,3]", "which element is 'x' here?"),
    ],
)
def test_elements_that_a_sum_lacks(formula: str, values: str, said: str) -> None:
    assert said in command("eval", formula, *values.split()).err


@pytest.mark.parametrize("word", ["steps", "betas", "signs", "gamma1"])
def test_plurals_and_counted_names_call_no_function(word: str) -> None:
    assert help_of("eval", f"{word}*2") == f"give it a number: {word}=…"


@pytest.mark.parametrize(
    "word", ["np.exp", "math.exp", "torch.exp", "jax.numpy.exp", "sp.exp", "Math.exp", "exp"]
)
def test_operations_of_libraries_have_no_prefix(word: str) -> None:
    assert command("ops", word).out == command("ops", "exp").out


def test_an_option_of_rows_with_its_value_beside_it() -> None:
    apart, glued = (
        help_of("eval", "V*t", *o) for o in (["--data", "plain.csv"], ["--data=plain.csv"])
    )
    assert apart == glued != ""


@pytest.mark.parametrize(
    ("formula", "call"), [("sinx", "sin(x)"), ("2*sin2x", "sin(2*x)"), ("arctanx", "arctan(x)")]
)
@pytest.mark.parametrize("argv", [["diff"], ["code", "--to", "c"]])
def test_a_call_without_parentheses_is_noted(argv: list[str], formula: str, call: str) -> None:
    found = command(*argv, formula)
    assert found.status == 0 and found.err.endswith(f"to call the function, write {call}\n")
    assert command(*argv, "2*cost + steps + gamma1").err == ""


def test_a_note_on_a_file_is_written_once() -> None:
    Path("said.csv").write_text("# a comment\n" + DECAY.format("t", "V"), encoding="utf-8")
    found = command("eval", "sum(V*t)", "t=@said.csv:t", "V=@said.csv:V")
    assert found.status == 0 and found.err.count("begin with #") == 1


@pytest.mark.parametrize("cell", ["3.5 V", "$3", "20 °C", "5 %", "1e-3mol/l"])
def test_units_in_cells(cell: str) -> None:
    Path("units.csv").write_text(f"t,V\n1,{cell}\n2,{cell}\n", encoding="utf-8")
    said = "leave only numbers in the cells: a unit belongs in the column's name"
    assert help_of("batch", "2*V", "--data", "units.csv") == said
    assert help_of("eval", "sum(V)", "V=@units.csv:V").endswith(said)


def test_a_header_may_begin_with_a_percent_sign() -> None:
    Path("humid.csv").write_text("%RH,V\n45,3\n50,5\n", encoding="utf-8")
    assert command("eval", "-q", "sum(V)", "V=@humid.csv:V") == (0, "8.0\n", "")
    assert command("batch", "x", "--map", "x=%RH", "--data", "humid.csv").err == ""


def test_json_says_which_numbers_it_rounds() -> None:
    numbers = (
        "9007199254740993, 9007199254740994, 1e-400, -0e-999, 0.0, 1e-300, 1e16, 2e400, -1e-500"
    )
    Path("numbers.json").write_text(f'{{"x": [{numbers}, "1e-400"], "y": 12345678901234567890}}')
    Path("list.json").write_text(f"[{numbers}]")
    said = ["too small for a double, read as 0", "too large for a double, read as infinite"]
    for argv, wholes in ((["--inputs", "numbers.json"], 2), (["x=@list.json", "y=1"], 1)):
        whole = f"{wholes} whole number{'s' * (wholes > 1)} beyond 2^53, rounded"
        found = command("eval", "-q", "sum(x)*y*0", *argv).err
        notes = [line.partition(": ")[2].partition(": ")[2] for line in found.splitlines()]
        small = "2 numbers" if wholes == 1 else "3 numbers"
        assert {f"{small} {said[0]}", f"1 number {said[1]}", whole} <= {*notes}, found


@pytest.mark.parametrize("word", ["minimise", "optimize", "optimise", "fmin"])
def test_other_words_for_a_minimum(word: str) -> None:
    assert help_of(word, "x^2", "x=1") == "did you mean 'minimize'?"


def test_rows_wider_than_their_header_are_refused() -> None:
    Path("wide.csv").write_text("t,V\n0,5,1\n1,3,05\n", encoding="utf-8")
    found = command("eval", "sum(V*t)", "t=@wide.csv:t", "V=@wide.csv:V")
    assert found.status == 2 and "has 3 cells instead of 2" in found.err


def test_bars_between_cells() -> None:
    Path("bars.csv").write_text(DECAY.format("t", "V").replace(",", "|"), encoding="utf-8")
    data = ["--data", "bars.csv", "-q"]
    assert command("fit", "V ~ A*exp(-t/tau)", "A=5", "tau=2", *data).status == 0


@pytest.mark.parametrize(
    ("argv", "help"),
    [
        (["plot", "sin(x)", "--x", "0:10"], "a value is given as NAME=VALUE: write x=0:10"),
        (["minimize", "x^2", "--start", "x=1"], "values need no option: write x=1"),
        (["batch", "V*t", "--group-by", "t"], "did you mean '--by'?"),
        (["fit", "V ~ a*t", "--sep", ";"], "did you mean '--delimiter'?"),
        (["eval", "lambda*2", "λ=3"], "did you mean 'lambda'?"),
        (["eval", "Γ(a, x)"], "there is no incomplete gamma function"),
        (["eval", "Gamma(a, x)"], "there is no incomplete gamma function"),
    ],
)
def test_words_of_other_tools(argv: list[str], help: str) -> None:
    assert help_of(*argv) == help


@pytest.mark.parametrize(
    ("formula", "said"),
    [
        ("50% x", "50% x is a remainder; a percentage is (50/100)*x"),
        ("20% + x", "20% + x is a remainder; a percentage is (20/100)+ x"),
        ("x + 7.5% y + 1", "7.5% y is a remainder; a percentage is (7.5/100)*y"),
        ("50%x", ""),
        ("50 % x", ""),
        ("x % 3", ""),
        ("x # 50% of all", ""),
    ],
)
def test_a_remainder_that_looks_like_a_percentage(formula: str, said: str) -> None:
    found = command("eval", formula, *(f"{name}=3" for name in "xy" if f"{name} " in f"{formula} "))
    assert (found.status, found.err) == (0, f"note: {said}\n" * bool(said))


@pytest.mark.parametrize(
    "line",
    [
        "descend x^2 x=1 --steps 5 --max-steps", "minimize x^2 x=1 --steps 5 --max-steps",
        "plot x^2*y x=0:1 y=0:1 --steps=5 --max-steps", "plot x^2 x=0:1 --tangent 1 --tangent-at",
        "plot x^2*y x=0:1 y=0:1 --descend x=1,y=1 --descend-from", "grad x^2 x=1 --map --heatmap",
    ],
)  # fmt: skip
def test_an_option_that_meant_two_things_names_its_new_spelling(line: str) -> None:
    *argv, new = line.split()
    done = command(*argv)
    assert done.status == 2 and f"did you mean '{new}'?" in done.err
