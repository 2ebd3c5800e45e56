"""The page "The core in 200 lines": every excerpt is the code as it is.

EXPRGRAD_UPDATE=1 quotes the code anew.
"""

from __future__ import annotations

import ast
import os
import re
import textwrap
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "explanation" / "the-core-in-200-lines.md"
EXCERPT = re.compile(r"\*\*`([\w.]+)`\*\* in \[(\S+)\]\((\S+)\)\n\n```py\n(.*?)```\n", re.DOTALL)
EXCERPTS = EXCERPT.findall(PAGE.read_text("utf-8"))


def code_of(name: str, path: Path) -> str:
    """The source of a function, of a method, of what a name is given, or of a row of the op table."""
    text = path.read_text("utf-8")
    found: list[ast.AST] = [ast.parse(text)]
    for part in name.split("."):
        found = [node for top in found for node in ast.walk(top) if called(node) == part]
    node = found[0]
    code = ast.get_source_segment(text, node, padded=True)
    assert code is not None
    return textwrap.dedent(code) + "\n"


def called(node: ast.AST) -> str:
    """What a definition or a row is called; nothing for anything else."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return node.name
    if isinstance(node, ast.AnnAssign):
        return ast.unparse(node.target)
    if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
        return str(node.args[0].value)
    return ""


@pytest.mark.parametrize(("name", "shown", "link", "code"), EXCERPTS, ids=[e[0] for e in EXCERPTS])
def test_an_excerpt_is_the_code(name: str, shown: str, link: str, code: str) -> None:
    path = (PAGE.parent / link).resolve()
    assert path.as_posix().endswith(f"src/exprgrad/{shown}")
    actual = code_of(name, path)
    if os.environ.get("EXPRGRAD_UPDATE"):
        head = f"**`{name}`** in [{shown}]({link})\n\n```py\n"
        page = PAGE.read_text("utf-8")
        PAGE.write_text(page.replace(f"{head}{code}```\n", f"{head}{actual}```\n"), "utf-8")
    else:
        assert code == actual, f"EXPRGRAD_UPDATE=1 pytest tests/{Path(__file__).name}"


def test_the_core_is_quoted_whole_and_in_200_lines() -> None:
    """A row, the graph, the parser, a rule and both sweeps; no block of code without a source."""
    names = [name for name, *_ in EXCERPTS]
    assert {
        "tanh",
        "Graph.append",
        "run_parser",
        "template",
        "forward_numbers",
        "play_tape",
        "pull_back",
    } <= {*names}
    assert PAGE.read_text("utf-8").count("```py\n") == len(EXCERPTS)
    assert sum(code.count("\n") for *_, code in EXCERPTS) <= 200
