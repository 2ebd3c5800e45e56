"""The file that the how-to adds is all it takes: the page's own text is put beside the other targets."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from exprgrad import parse
from exprgrad.cli.command import load_command
from exprgrad.cli.main import main
from exprgrad.graph.ops import OPS
from exprgrad.language.code import targets
from exprgrad.language.code.target import Target
from programs import Program, run, run_matrices

DOCS = Path(__file__).parents[1] / "docs"
PAGE = (DOCS / "how-to" / "add-a-target.md").read_text("utf-8")
SAMPLES = {
    "o = tanh(x1*w1 + x2*w2 + b)": (2.0, -3.0, 0.0, 1.0, 6.88),
    "where((a < b)*(b < 3), b % a, relu(a) + sign(b)*round(a/b)^3)": (2.0, -3.5),
    "asinh(x)*acosh(y) + log2(y)*erf(x) + atanh(x)": (0.25, 3.5),
    "double*ψ + class^2.5": (2.0, 3.0, 4.0),
    "max(1/x, y, 2) + clamp(y, 0, 1)": (0.0, 0.5),
    "2 + 2": (),
}
CALL = """
final class Calls {{
    static void say(double value, double[] gradient) {{
        StringBuilder line = new StringBuilder(Double.toString(value));
        for (double one : gradient) line.append(' ').append(one);
        System.out.println(line);
    }}
    public static void main(String[] given) {{
{calls}
    }}
}}
"""


@pytest.fixture
def java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Target:
    """The documented target, gathered with the others for one test."""
    load_command("code")  # its help lists the targets that there are when it is loaded
    found = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    (tmp_path / "java.py").write_text(found[1], "utf-8")
    monkeypatch.setattr(targets, "__path__", [*targets.__path__, str(tmp_path)])
    monkeypatch.delitem(sys.modules, f"{targets.__name__}.java", raising=False)
    gathered = targets.find_targets()
    assert gathered.keys() == {*targets.TARGETS, "java"}
    monkeypatch.setitem(targets.TARGETS, "java", gathered["java"])
    return gathered["java"]


def test_the_page_shows_what_the_target_writes(
    java: Target, capsys: pytest.CaptureFixture[str]
) -> None:
    found = re.search(
        r"```text\n\$ exprgrad code \"(.*?)\" (.*?)\n…\n(.*?)\n…\n```", PAGE, re.DOTALL
    )
    assert found is not None
    assert main(["code", found[1], *found[2].split()]) == 0
    assert f"\n{found[3]}\n" in capsys.readouterr().out


def test_errors_and_the_schema_follow(java: Target, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["code", "x", "--to", "javva"]) == 2
    told = capsys.readouterr().err
    assert "did you mean 'java'?" in told and ", java" in told
    assert main(["code", "sum([x, 2])", "--to", "java"]) == 2
    assert "a program in Java computes with numbers" in capsys.readouterr().err
    spec = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
    assert spec is not None and spec.loader is not None
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    assert ', "java"' in generate.schema()


def test_programs_are_not_run_as_those_of_another_language(java: Target, tmp_path: Path) -> None:
    for runs in (run, lambda name, program, folder: run_matrices(name, program[0], [()], folder)):
        with pytest.raises(pytest.skip.Exception, match="nothing here runs programs in java"):
            runs("java", [Program(parse("x").code("java"), "f", 1, [[1.0]])], tmp_path)


def test_every_row_is_written(java: Target) -> None:
    for op in OPS:
        names = [f"a{at}" for at in range(3 if op.variadic else len(op.names))]
        call = f"{op.name}({', '.join(names)})"
        assert parse(
            op.prefix + names[0] if op.prefix else op.infix.join(names) if op.infix else call
        ).code("java")


@pytest.mark.slow
def test_its_programs_find_what_grad_finds(java: Target, tmp_path: Path) -> None:
    if shutil.which("javac") is None:
        pytest.skip("there is no javac")
    sources, calls = [], []
    for number, (text, point) in enumerate(SAMPLES.items()):
        code = parse(text).code("java", name=f"f{number}")
        sources.append(code.replace("class Formula", f"class Formula{number}"))
        given = ", ".join([*map(repr, point), *["g"] * bool(point)])
        calls.append(
            f"        {{ double[] g = new double[{len(point)}];"
            f" double v = Formula{number}.f{number}({given}); say(v, g); }}"
        )
    (tmp_path / "Calls.java").write_text("\n".join([*sources, CALL.format(calls="\n".join(calls))]))
    subprocess.run(["javac", "-encoding", "UTF-8", "Calls.java"], cwd=tmp_path, check=True)
    done = subprocess.run(
        ["java", "Calls"], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    for (text, point), line in zip(SAMPLES.items(), done.stdout.splitlines(), strict=True):
        f = parse(text)
        run = f.gradient(dict(zip(f.inputs, point, strict=True)))
        wanted = [run.value, *run.swept.values()]
        assert [*map(float, line.replace("Infinity", "inf").split())] == pytest.approx(
            wanted, rel=1e-14, nan_ok=True
        ), text
