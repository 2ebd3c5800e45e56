"""What Tab offers: by the words typed so far, and in the shells that are installed, through a terminal."""

from __future__ import annotations

import os
import select
import shutil
import signal
import sys
import time
import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest

from exprgrad.cli.group import SCRIPTS, VARIABLE
from shell import command

START = {
    "bash": ["bash", "--norc", "--noprofile", "-i"],
    "zsh": ["zsh", "-f", "-i"],
    "fish": ["fish", "--no-config", "-i"],
}
SOURCE = {
    "bash": f'eval "$({VARIABLE}=bash_source exprgrad)"',
    "zsh": f'eval "$({VARIABLE}=zsh_source exprgrad)"',
    "fish": f"{VARIABLE}=fish_source exprgrad | source",
}
PATIENCE = 120
"""Seconds to wait for what a shell does at once, unless the machine is slow."""
STAND_IN = """#!/bin/sh
if [ -n "${_EXPRGRAD_COMPLETE}" ]; then exec "%s" -m exprgrad "$@"; fi
printf '<%%s>' "$@" > called.part && mv called.part called
"""
"""Completes as exprgrad does, and otherwise says what it was called with."""
FILES = {
    "data.csv": "S,K\n1,2\n",
    "rows.csv.zst": "",
    "dawn.npy": "",
    "notes.txt": "",
    "values.json": "{}",
    "my notes": "x",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, content in FILES.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    (tmp_path / "days").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_wheel_brings_the_scripts() -> None:
    """Shells find them where it is installed for all users, or by ``pip install --user``."""
    root = Path(__file__).parents[2]
    wheel = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]
    brought = wheel["targets"]["wheel"]["shared-data"]
    assert [(root / path).read_text("utf-8") for path in brought] == [*SCRIPTS.values()]


def offered(line: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is offered behind a line; a blank ends what is whole."""
    monkeypatch.setenv(VARIABLE, "zsh_complete")
    monkeypatch.setenv("COMP_LINE", line)
    status, out, err = command()
    assert (status, err) == (0, "")
    return out.splitlines()


@pytest.mark.parametrize(
    ("line", "some"),
    [
        ("exprgrad gr", ["grad "]),
        ("exprgrad d", ["descend ", "diff ", "dot "]),
        ("exprgrad --v", ["--version "]),
        ('exprgrad grad "a*tan', ["a*tan(", "a*tanh("]),
        ('exprgrad "2*sigm', ["2*sigmoid(", "2*sigmoid()"]),
        ('exprgrad grad "a*b" ', ["a=", "b="]), ('exprgrad "a*b" a=2 ', ["b="]),
        ("exprgrad grad -q a*b b=1 ", ["a="]), ("exprgrad grad --digits 3 a ", ["a="]),
        ("exprgrad grad a --wr", ["--wrt "]), ('exprgrad grad "a*b" --wrt ', ["a ", "b "]),
        ('exprgrad grad "a*b" --wrt a,', ["a,a ", "a,b "]), ('exprgrad jac "u=x; v=u" --of ', ["u ", "v "]),
        ("exprgrad diff x --to ", ["infix ", "latex "]),
        ("exprgrad code x --to ja", ["javascript ", "jax "]),
        ("exprgrad grad x --color n", ["never "]), ("exprgrad explore --lesson n", ["neuron "]),
        ("exprgrad ops tan", ["tan ", "tanh "]), ("exprgrad grad x --expand al", ["all "]),
        ("exprgrad grad 'fall(x)=x^2; fall(a)' --expand fal", ["fall "]),
        ("exprgrad grad a a=@da", ["a=@data.csv ", "a=@dawn.npy ", "a=@days/"]),
        ("exprgrad grad a a=@data.csv:", ["a=@data.csv:K ", "a=@data.csv:S "]),
        ("exprgrad grad a --inputs v", ["values.json "]), ("exprgrad grad -f no", ["notes.txt "]),
        ("exprgrad batch S*K --data d", ["data.csv ", "days/"]),
        ("exprgrad batch S*K --data r", ["rows.csv.zst "]),
        ('exprgrad grad "sum(x^k fo', ["sum(x^k for k in 1.."]),
        ("exprgrad grad '2*roo", ["2*root(", "2*root()"]),
        ("exprgrad grad a a=@nothing/", []), ("exprgrad grad a* ", []), ("exprgrad help ", []),
        ("exprgrad eval 'a", ["abs(", "acos(", "acosec("]),
    ],
)  # fmt: skip
def test_what_is_offered(
    line: str, some: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = offered(line, monkeypatch)
    assert found[: len(some)] == some or sorted(found) == some
    assert bool(found) == bool(some)


def test_every_option_and_command_is_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "optimize " not in offered("exprgrad ", monkeypatch)
    assert {"grad ", "hess ", "--help "} <= {*offered("exprgrad ", monkeypatch)}
    assert {"--json ", "--trace ", "--output "} <= {*offered("exprgrad grad x --", monkeypatch)}


def test_no_other_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "tcsh_source")
    status, _, err = command()
    assert status == 2 and "bash_source, zsh_source or fish_source" in err


def typed_in(shell: str, lines: Sequence[str], folder: Path) -> list[str]:
    """What exprgrad is called with once each line has been typed into a shell."""
    import pty  # Windows has none

    stand_in, called = folder / "bin" / "exprgrad", folder / "called"
    stand_in.parent.mkdir()
    stand_in.write_text(STAND_IN % sys.executable, encoding="utf-8")
    stand_in.chmod(0o755)
    path = f"{stand_in.parent}{os.pathsep}{os.environ['PATH']}"
    modules = os.pathsep.join(sys.path)
    env = {**os.environ, "PATH": path, "TERM": "xterm", "HOME": str(folder), "PYTHONPATH": modules}
    process, terminal = pty.fork()
    if process == 0:
        os.execvpe(START[shell][0], START[shell], env)
    seen, found = b"", []
    try:
        for line in [SOURCE[shell], *lines]:
            os.write(terminal, f"{line}\n".encode())
            end = time.monotonic() + PATIENCE
            while line != SOURCE[shell] and not called.exists():
                seen += read_until_quiet(terminal, 0.05)
                assert time.monotonic() < end, seen.decode(errors="replace")
            if called.exists():
                found.append(called.read_text("utf-8"))
                called.unlink()
            seen += read_until_quiet(terminal)  # a shell forgets what is typed before it prompts
        return found
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        os.close(terminal)


def read_until_quiet(terminal: int, quiet: float = 0.4) -> bytes:
    """What a shell prints, until it is silent for so many seconds."""
    seen, end = b"", time.monotonic() + 20
    while time.monotonic() < end and select.select([terminal], [], [], quiet)[0]:
        try:
            seen += os.read(terminal, 65536)
        except OSError:
            break
    return seen


LINES = {
    "exprgrad gra\tx": "<grad><x>",
    "exprgrad grad 'a*b' a\t1": "<grad><a*b><a=1>",
    "exprgrad eval a a=@data\t": "<eval><a><a=@data.csv>",
    "exprgrad eval a a=@data.csv:S\t": "<eval><a><a=@data.csv:S>",
    "exprgrad explore --les\tneu\t": "<explore><--lesson><neuron>",
    "exprgrad ops sigm\t": "<ops><sigmoid>",
    "exprgrad eval '2*sigm\t2)'": "<eval><2*sigmoid(2)>",
    "exprgrad eval a a=@not\te": "<eval><a><a=@note>",
    "exprgrad eval -f my\t": "<eval><-f><my notes>",
}


@pytest.mark.parametrize("shell", SCRIPTS)
def test_in_a_shell(shell: str, folder: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} here")
    found = typed_in(shell, [*LINES], folder)
    assert dict(zip(LINES, found, strict=True)) == LINES
