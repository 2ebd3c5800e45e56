"""The help of every command, as it is printed."""

from __future__ import annotations

import pytest

import golden
from exprgrad import __version__
from exprgrad.cli.main import COMMANDS
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


def test_version() -> None:
    assert command("--version") == (0, f"exprgrad {__version__}\n", "")
