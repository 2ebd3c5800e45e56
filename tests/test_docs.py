"""Every example in the README and the docs is run, and every generated page is current.

A block marked ``console`` holds command lines after ``$`` and what they print; one marked ``python``
with ``>>>`` prompts is a doctest.  EXPRGRAD_UPDATE=1 writes what is printed into the pages instead.
"""

from __future__ import annotations

import doctest
import importlib.util
import os
import re
import shlex
import tomllib
from collections.abc import Iterator
from contextlib import chdir
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType

import pytest

from exprgrad.cli.main import main
from exprgrad.graph.op import Op
from exprgrad.graph.ops import BY_NAME, OPS
from together import together

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", *ROOT.glob("docs/**/*.md")])
BLOCK = re.compile(r"^```(console|python|toml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def page_id(path: Path) -> str:
    return str(path.relative_to(ROOT))


def blocks(path: Path, kind: str) -> list[str]:
    return [body for found, body in BLOCK.findall(path.read_text("utf-8")) if found == kind]


def needs_graphviz(argv: list[str]) -> bool:
    drawn = argv[:1] == ["dot"] and any(arg.endswith((".svg", ".png", ".pdf")) for arg in argv)
    return drawn or argv[:1] == ["explore"]


def commands_of(body: str) -> Iterator[tuple[str, str]]:
    """The command lines of a block, each with what it is said to print."""
    for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        line, _, printed = part.partition("\n")
        yield line, printed


def printed_by(line: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What a command line prints, on stdout and then on stderr."""
    program, *argv = shlex.split(line)
    assert program == "exprgrad", f"examples run exprgrad, not {program}"
    if needs_graphviz(argv):
        pytest.importorskip("pygraphviz", reason="pip install 'exprgrad[draw]'")
    if argv[0] in ("batch", "fit"):
        pytest.importorskip("pyarrow", reason="pip install 'exprgrad[data]'")
    if argv[0] == "fit":
        pytest.importorskip("scipy", reason="pip install 'exprgrad[fit]'")
    try:
        main(argv)
    except SystemExit as stop:
        assert stop.code in (0, 1, 2)
    captured = capsys.readouterr()
    return captured.out + captured.err


def without_counts(text: str) -> str:
    """An example without how often a search within constraints looked: SciPy's versions differ there."""
    return (
        re.sub(r"\d+ (?=values?,|gradients?,|Hessians?)", "", text) if "--subject" in text else text
    )


@pytest.mark.parametrize("path", PAGES, ids=page_id)
def test_console_examples(
    path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("values.json", "neuron.txt", "rows.csv", "run.csv", "small.csv", "misra1a.csv"):
        (tmp_path / name).write_bytes((ROOT / "tests" / "cases" / "docs" / name).read_bytes())
    for body in blocks(path, "toml"):
        (tmp_path / "relu.toml").write_text(body, "utf-8")
    text = path.read_text("utf-8")
    for body in blocks(path, "console"):
        actual = "".join(f"$ {line}\n{printed_by(line, capsys)}" for line, _ in commands_of(body))
        if not os.environ.get("EXPRGRAD_UPDATE"):
            assert without_counts(actual) == without_counts(body)
        elif without_counts(actual) != without_counts(body):
            text = text.replace(f"```console\n{body}```", f"```console\n{actual}```")
    if os.environ.get("EXPRGRAD_UPDATE"):
        path.write_text(text, "utf-8")


@together(PAGES)
def test_python_examples(path: Path) -> None:
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(verbose=False)
    names: dict[str, object] = {}
    for number, body in enumerate(blocks(path, "python")):
        if "import exprgrad, pyarrow" in body and importlib.util.find_spec("pyarrow") is None:
            continue
        test = parser.get_doctest(body, names, f"{path.name}[{number}]", str(path), 0)
        with TemporaryDirectory() as folder, chdir(folder):  # an example may write files
            runner.run(test, clear_globs=False)
        names = test.globs
    assert runner.summarize(verbose=False).failed == 0


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "name",
    [
        "commands.md",
        "formulas.md",
        "gallery.md",
        "operations.md",
        "python.md",
        "rewrites.md",
        "schema.json",
    ],
)
def test_generated_reference_is_current(name: str) -> None:
    path = ROOT / "docs" / "reference" / name
    assert path.read_text("utf-8") == generator().PAGES[name](), "run python docs/generate.py"


def test_the_methods_of_a_value_are_told_to_type_checkers() -> None:
    found = generator()
    assert found.METHODS.read_text("utf-8") == found.methods(), "run python docs/generate.py"


def gallery() -> ModuleType:
    generator()
    return import_module("gallery")


def current_curve(op: Op) -> bool:
    """Whether the picture of an operation is what would be drawn today.

    The points along a curve are left out: which of them are kept may depend on the processor's last bits.
    """
    drawn = gallery()
    path = ROOT / "docs" / "images" / "operations" / f"{op.name}.svg"
    found = path.read_text("utf-8"), drawn.draw_curve(op, drawn.plot_operation(op))
    kept, now = (re.sub(r' d="[^"]*"', "", text) for text in found)
    return bool(kept == now)


@pytest.mark.parametrize("name", ["relu", "atan2", "gamma", "mod"])
def test_curves_of_operations_are_current(name: str) -> None:
    assert current_curve(BY_NAME[name]), "run python docs/generate.py"


def test_every_elementwise_operation_has_its_curve() -> None:
    pictures = {path.stem for path in ROOT.glob("docs/images/operations/*.svg")}
    assert pictures == {op.name for op in OPS}


@pytest.mark.slow
def test_all_curves_of_operations_are_current() -> None:
    assert [op.name for op in OPS if not current_curve(op)] == [], "run python docs/generate.py"


def test_curves_have_their_kinks_jumps_and_poles_in_words() -> None:
    found = gallery()
    relu, tan = (
        found.curve_text(BY_NAME[name], found.plot_operation(BY_NAME[name]))
        for name in ("relu", "tan")
    )
    assert relu == "relu(x) and its derivative for x from -4 to 4, a kink at 0"
    assert tan.endswith("a pole at -1.57, a pole at 1.57")


def test_the_page_of_lessons_is_current() -> None:
    found = generator()
    assert (found.TUTORIAL / "lessons.md").read_text("utf-8") == found.lessons(), (
        "run python docs/generate.py"
    )


def test_the_picture_of_the_sweeps_is_current() -> None:
    """But for where Graphviz puts things; without motion it is the whole picture."""
    found = generator()
    kept, drawn = (
        re.findall(r">([^<]+)</text>|^(@.*|#.*)$", svg, re.MULTILINE)
        for svg in (found.SWEEPS.read_text("utf-8"), found.sweeps())
    )
    assert sorted(kept) == sorted(drawn), "run python docs/generate.py"
    assert ("", "@media (prefers-reduced-motion: no-preference) {") in drawn


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 150


def test_every_command_is_documented() -> None:
    from exprgrad.cli.commands import COMMANDS

    prose = "".join(path.read_text("utf-8") for path in PAGES)
    for name in COMMANDS:
        assert f"exprgrad {name}" in prose


def test_links_lead_somewhere() -> None:
    for path in PAGES:
        prose = re.sub(r"(?ms)^```.*?^```$|`[^`\n]+`", "", path.read_text("utf-8"))
        for target in re.findall(r"\]\(([^)#\s]+)", prose):
            if "://" not in target:
                assert (path.parent / target).exists(), f"{page_id(path)} links to {target}"


def heading_anchors(path: Path) -> set[str]:
    """The anchors that GitHub gives to a page's headings."""
    prose = re.sub(r"(?ms)^```.*?^```$", "", path.read_text("utf-8"))
    headings = re.findall(r"(?m)^#+ (.*)$", prose)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_ten_questions_are_answered_where_the_tutorial_says() -> None:
    """Each row of the first page's table: its sections exist, and so do its lessons and their parts."""
    page = ROOT / "docs" / "tutorial" / "the-chain-rule.md"
    lessons = ROOT / "src" / "exprgrad" / "show" / "page" / "assets" / "lessons"
    rows = re.findall(r"(?m)^\| ([^|]+\?) \| (.+) \| (.+) \|$", page.read_text("utf-8"))
    assert len(rows) == 10
    for _, sections, asked in rows:
        links = re.findall(r"\]\(([^)#]*)#([^)]*)\)", sections)
        assert links and all(
            anchor in heading_anchors(page.parent / (to or page.name)) for to, anchor in links
        )
        named = re.findall(r"`(\w+)`([ \d,]*)", asked)
        assert named
        for name, parts in named:
            lesson = tomllib.loads((lessons / f"{name}.toml").read_text("utf-8"))
            titles = "".join(part["title"] + "\n" for part in lesson.get("parts", []))
            assert all(re.search(rf"(?m)^{part}\. ", titles) for part in re.findall(r"\d", parts))
