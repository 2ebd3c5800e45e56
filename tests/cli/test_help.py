"""The help of every command, as it is printed."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import golden
from exprgrad import __version__
from exprgrad.cli import group
from exprgrad.cli.commands import COMMANDS
from shell import command

NAMES = list(COMMANDS)


@pytest.mark.parametrize("name", ["", *NAMES])
def test_help(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    argv = [name] if name else []
    status, out, err = command(*argv, "--help")
    assert (status, err) == (0, "")
    assert command(*argv, "-h").out == out
    assert max(map(len, out.splitlines())) <= 80
    golden.agree(f"help/{name or 'exprgrad'}.txt", out)


def test_no_arguments_show_the_help() -> None:
    assert command() == command("--help")


def test_every_command_is_listed() -> None:
    listing = command("--help").out.split("Commands:\n")[1].split("\n\n")[0]
    assert [line.split()[0] for line in listing.splitlines()] == NAMES


@pytest.mark.parametrize(
    ("there", "line"),
    [
        ("", "not installed: draw, native, data, cluster, fit, plot, jax, xlsx"),
        (
            "pygraphviz llvmlite pyarrow distributed scipy matplotlib jax python_calamine",
            "extras: draw, native, data, cluster, fit, plot, jax, xlsx",
        ),
        (
            "llvmlite scipy matplotlib",
            "extras: native, fit, plot; not installed: draw, data, cluster, jax, xlsx",
        ),
    ],
)  # fmt: skip
def test_version(there: str, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group, "find_spec", lambda name: name if name in there.split() else None)
    assert command("--version") == (0, f"exprgrad {__version__}\n{line}\n", "")


def test_every_extra_for_users_is_told_of() -> None:
    """Those in pyproject.toml that bring a package that users may lack."""
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))
    extras = project["project"]["optional-dependencies"]
    others = {"all", "docs", "test", "oracles", "dev", "peers"}
    assert extras.keys() - others == group.EXTRAS.keys()
    for extra, module in group.EXTRAS.items():
        assert re.split("[>=]", extras[extra][0])[0].replace("-", "_") == module
