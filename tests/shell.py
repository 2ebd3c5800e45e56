"""The command ``exprgrad``: in this process for speed, or as a process of its own."""

from __future__ import annotations

import io
import os
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from typing import NamedTuple
from unittest import mock

import pytest

from exprgrad.cli.main import main

PROGRAM = (sys.executable, "-m", "exprgrad")


class Outcome(NamedTuple):
    """What a command line did."""

    status: int
    out: str
    err: str


def command(*argv: str, stdin: bytes = b"", encoding: str = "utf-8") -> Outcome:
    """Run a command line in this process, as if its streams were pipes in an encoding."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding=encoding, newline="") for _ in range(2))
    given = io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")
    with redirect_stdout(out), redirect_stderr(err), mock.patch.object(sys, "stdin", given):
        status = main(list(argv))
    return Outcome(status, text_of(out), text_of(err))


def text_of(stream: io.TextIOWrapper) -> str:
    """What was written to a stream made by ``command``."""
    stream.flush()
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode(stream.encoding)


class Terminal(io.TextIOWrapper):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        """Yes."""
        return True


def on_terminal(argv: list[str], columns: int, monkeypatch: pytest.MonkeyPatch, **env: str) -> str:
    """What a command prints on stdout if that is a terminal so many columns wide."""
    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"COLUMNS": str(columns), **env}.items():
        monkeypatch.setenv(name, value)
    content = io.BytesIO()
    with (
        mock.patch.object(sys, "stdout", Terminal(content, encoding="utf-8")) as out,
        mock.patch.object(sys, "stderr", io.StringIO()),
    ):
        assert main(argv) == 0
        out.flush()
    return content.getvalue().decode()


def process(
    *argv: str | bytes, stdin: bytes = b"", env: Mapping[str, str] | None = None
) -> Outcome:
    """Run a command line in a process of its own, its streams pipes."""
    done = subprocess.run(
        [*PROGRAM, *argv],
        input=stdin,
        capture_output=True,
        env={**os.environ, **(env or {})},
        timeout=300,
        check=False,
    )
    out, err = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
    return Outcome(done.returncode, out, err)


def spelled(argv: Sequence[str]) -> str:
    """A command line as one would type it into bash; what does not print stands as an escape."""
    return " ".join(["$ exprgrad", *map(quoted, argv)])


def quoted(argument: str) -> str:
    """One argument in quotes where it needs them, a long one cut."""
    if len(argument) > 300:
        argument = f"{argument[:40]}…({len(argument) - 80:,} more)…{argument[-40:]}"
    if argument.isprintable():
        return shlex.quote(argument)
    return "$" + repr(argument)
