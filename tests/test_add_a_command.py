"""The file that the how-to adds is all it takes: the page's own text is put into a scratch copy."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "how-to" / "add-a-command.md").read_text("utf-8")


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package with the documented command."""
    found = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    folder = tmp_path_factory.mktemp("scratch")
    for name in ("src", "grammar"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    file = folder / "src" / "exprgrad" / "cli" / "commands" / "sign.py"
    file.write_text(found[1], "utf-8")
    return folder


def printed(folder: Path, *argv: str) -> str:
    """What the copy prints for a command line."""
    done = subprocess.run(
        [sys.executable, "-m", "exprgrad", *argv],
        env=os.environ | {"PYTHONPATH": str(folder / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_page_shows_what_the_command_prints(scratch: Path) -> None:
    shown = re.findall(r"```text\n\$ exprgrad (sign .*?)\n(.*?)```", PAGE, re.DOTALL)
    assert len(shown) == 2
    for line, output in shown:
        assert printed(scratch, *shlex.split(line)) == output


def test_every_form_follows_from_the_answer(scratch: Path) -> None:
    argv = ["sign", "a*b", "a=2", "b=-3"]
    found = json.loads(printed(scratch, *argv, "--json"))
    assert found["command"] == "sign" and found["inputs"] == {"a": 2.0, "b": -3.0}
    assert (found["sign"], found["signs"]) == ("negative", {"a": "negative", "b": "positive"})
    assert printed(scratch, *argv, "--csv") == "name,sign\n,negative\na,negative\nb,positive\n"


def test_the_command_is_listed_last(scratch: Path) -> None:
    listing = printed(scratch, "--help").split("Commands:\n")[1].split("\n\n")[0]
    assert listing.splitlines()[-1].split()[:7] == [
        "sign",
        "The",
        "sign",
        "of",
        "the",
        "value,",
        "and",
    ]
    assert "Print CSV, one sign per line." in printed(scratch, "sign", "--help")
