"""``exprgrad fit``: what it prints, in every form and width, and its exit status."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import golden
from exprgrad.show.picture.plots import import_matplotlib
from shell import command, on_terminal, spelled

pytest.importorskip("scipy", reason="pip install 'exprgrad[fit]'")
pytest.importorskip("pyarrow", reason="pip install 'exprgrad[data]'")

DATA = Path(__file__).parents[1] / "cases" / "docs" / "misra1a.csv"
MODEL = ["y ~ b1*(1 - exp(-b2*x))", "--data", "rows.csv", "b1=500", "b2=0.0001"]
REQUESTS = {
    "plain": MODEL,
    "two-files": [*MODEL, "--data", "more.csv"],
    "three-parameters": ["y ~ b1*(1 - exp(-b2*x)) + b3", *MODEL[1:], "b3=1", "--digits", "4"],
    "profile": [*MODEL, "--profile", "--level", "0.9"],
    "sigma": [*MODEL, "--sigma", "s", "--where", "x > 200"],
    "fixed": [*MODEL, "--fix", "b1=240"],
    "bounds": [*MODEL[:3], "b1=1", "b2=0.0001", "--bounds", "b1=0:230"],
    "loss": [*MODEL, "--loss", "cauchy", "--loss-scale", "0.1"],
    "starts": [*MODEL, "--starts", "5", "--bounds", "b1=100:1000,b2=1e-5:1e-2"],
    "undetermined": ["y ~ (a + b)*x", "--data", "rows.csv", "a=1", "b=2", "--strict"],
    "runaway": ["y ~ a + b*exp(-k*x)", "--data", "rows.csv", "a=1", "b=1", "k=9", "--strict"],
    "linear": ["y ~ a + b*x", "--data", "rows.csv", "a=0", "b=0"],
    "objective": ["--objective", "log(w) + (y - c*x)^2/(2*w^2)", "--data", "rows.csv", "c=1", "w=9"],
}  # fmt: skip


@pytest.fixture(autouse=True)
def rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _, *lines = DATA.read_text("utf-8").splitlines()
    for name, some in (("rows.csv", lines), ("more.csv", lines[3:7])):
        Path(name).write_text("\n".join(["x,y,s", *(f"{line},0.1" for line in some), ""]), "utf-8")


@pytest.mark.parametrize("name", REQUESTS)
def test_what_is_printed(name: str) -> None:
    argv = ["fit", *REQUESTS[name]]
    status, out, err = command(*argv)
    golden.agree(f"fits/{name}.txt", f"{spelled(argv)}\n{out}{err}exit status {status}\n")


@pytest.mark.parametrize("columns", [100, 60, 40])
def test_on_a_terminal(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = on_terminal(["fit", *MODEL, "--color", "never"], columns, monkeypatch)
    assert all(len(line) <= columns for line in shown.splitlines())
    assert ("95 % interval" in shown) == (columns == 100)


def test_all_forms_have_the_same_numbers() -> None:
    found = json.loads(command("fit", *MODEL, "--json").out)["parameters"]
    lines = command("fit", *MODEL, "--csv").out.splitlines()
    assert lines[0] == "parameter,value,error,low,high,digits,held"
    quiet = command("fit", *MODEL, "-q").out.splitlines()
    for (name, one), line, bare in zip(found.items(), lines[1:], quiet, strict=True):
        numbers = [one["value"], one["error"], *one["interval"], one["digits"]]
        assert line == ",".join([name, *map(repr, numbers), ""])
        assert bare == f"{name}={one['value']!r}"


@pytest.mark.parametrize(
    "form", ["svg", *(pytest.param(form, marks=pytest.mark.slow) for form in ("png", "pdf"))]
)
def test_pictures(form: str) -> None:
    pytest.importorskip("matplotlib", reason="pip install 'exprgrad[plot]'")
    for name in ("sigma", "objective"):
        status, out, err = command("fit", *REQUESTS[name], "-o", f"{name}.{form}")
        if name == "objective":
            assert status == 2 and "has no picture" in err
            continue
        made = Path(f"{name}.{form}").read_bytes()
        assert status == 0 and "converged" in out
        assert made[:4] in (b"<svg", b"\x89PNG", b"%PDF")
        if form == "svg":
            text = made.decode()
            assert "residual" in text and "95 % band of the model" in text and "data" in text
            again = command("fit", *REQUESTS[name], "-o", f"{name}.{form}")
            assert again.status == 0 and Path(f"{name}.{form}").read_bytes() == made


@pytest.mark.parametrize("argv", [["fit", *MODEL], ["plot", "x^2"], ["descend", "x^2", "x=1"]])
def test_without_matplotlib_nothing_is_computed(
    argv: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    import_matplotlib.cache_clear()
    Path("rows.csv").write_text("no rows", "utf-8")
    status, out, err = command(*argv, "-o", "picture.svg")
    assert (status, out) == (2, "") and "a plot as a file needs Matplotlib" in err


MODELS = {
    r"y \sim a x": "y ~ a*x",
    r"y ~ \frac{a}{2} x": "y ~ a/2*x",
    r"$k = \frac{a}{2} \\ \log(y) \sim k x$": "k = a/2; log(y) ~ k*x",
}


@pytest.mark.parametrize("model", MODELS)
def test_a_model_in_latex(model: str) -> None:
    status, out, err = command("fit", model, "--data", "rows.csv", "a=1", "-q")
    assert (status, err) == (0, f"note: read as {MODELS[model]}\n") and out.startswith("a=")
