"""How a process ends: done, interrupted, left by its reader, or with an answer that cannot be written."""

from __future__ import annotations

import errno
import io
import sys

import click
import pytest

from exprgrad.cli import main as entry
from exprgrad.cli.command import load_command, options_as_typed
from exprgrad.cli.commands import COMMANDS
from exprgrad.language.mistakes.foreign import ELSEWHERE
from shell import command


class Ended(Exception):
    """Stands for the end of the process; its argument is the status."""


@pytest.fixture
def ends(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is discarded at the end, which raises ``Ended`` here."""
    discarded: list[str] = []

    def leave(status: int) -> None:
        raise Ended(status)

    monkeypatch.setattr(entry, "exit_at_once", leave)
    monkeypatch.setattr(entry, "discard_output", lambda: discarded.append("output"))
    return discarded


@pytest.mark.parametrize(
    ("trouble", "status", "discarded", "message"),
    [
        (None, 0, [], ""),
        (KeyboardInterrupt(), 130, [], ""),
        (BrokenPipeError(), 0, ["output"], ""),
        (SystemExit(1), 0, ["output"], ""),
        (OSError(28, "No space left on device"), 2, ["output"], "No space left on device"),
    ],
)
def test_the_status_of_the_process(
    trouble: BaseException | None,
    status: int,
    discarded: list[str],
    message: str,
    ends: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def main(argv: list[str]) -> int:
        if trouble:
            raise trouble
        return 0

    monkeypatch.setattr(entry, "main", main)
    with pytest.raises(Ended) as caught:
        entry.run()
    assert (caught.value.args, ends) == ((status,), discarded)
    written = capsys.readouterr().err
    assert written == (f"error: cannot write the answer: {message}\n" if message else "")


def test_a_reader_that_leaves_on_windows(
    ends: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A closed pipe is an invalid argument there; and lines end as they do everywhere."""

    def main(argv: list[str]) -> int:
        sys.stdout.write("x=1\n")
        raise OSError(errno.EINVAL, "Invalid argument")

    stdout = io.TextIOWrapper(io.BytesIO(), newline="\r\n")
    monkeypatch.setattr(entry, "main", main)
    monkeypatch.setattr(sys, "stdout", stdout)
    for platform, status in (("win32", 0), ("linux", 2)):
        monkeypatch.setattr(sys, "platform", platform)
        with pytest.raises(Ended) as caught:
            entry.run()
        assert caught.value.args == (status,)
    assert capsys.readouterr().err == "error: cannot write the answer: Invalid argument\n"
    stdout.flush()
    assert stdout.buffer.getvalue() == b"x=1\nx=1\n"


@pytest.mark.parametrize(
    ("trouble", "status", "message"),
    [
        (click.Abort(), 130, ""),
        (click.exceptions.Exit(3), 3, ""),
        (MemoryError(), 2, "error: there is not enough memory for this formula"),
        (click.ClickException("Something is wrong."), 2, "error: something is wrong\n"),
    ],
)
def test_what_a_command_raises(
    trouble: BaseException,
    status: int,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def main(*_: object, **__: object) -> None:
        raise trouble

    monkeypatch.setattr(click.Command, "main", main)
    assert entry.main(["eval", "1"]) == status
    assert capsys.readouterr().err.startswith(message)


@pytest.mark.parametrize(
    ("word", "is_one"),
    [
        ("x^2", True), ("a-b", True), ("-x*2", True), ("-2", True), ("2", True), ("f=x", True), ("-", True),
        ("--x*2", True), ("--", True), ("x", False), ("f", False), ("-x", False), ("--x", False),
        ("--json=1", False), ("--learning-rate", False), ("", False), ("größe", False), ("a·b", True),
        ("xⁿ", True), ("πr", True), ("π", False), ("x²", True),
    ],
)  # fmt: skip
def test_what_is_a_formula_where_a_command_is_expected(word: str, is_one: bool) -> None:
    assert entry.is_formula(word) == is_one


@pytest.mark.parametrize(
    "line", ["-q x^2 x=3", "--json x^2 x=3", "-x x=3", "-q -x x=3", "--digits=3 x/3 x=1"]
)
def test_options_may_come_before_a_formula(line: str) -> None:
    """What begins with a minus and is no option is a formula there, too."""
    found = command(*line.split())
    assert found == command("grad", *line.split()) and found.status == 0


def test_options_follow_a_command() -> None:
    found = command("-q", "eval", "x^2", "x=3")
    assert found.status == 2 and "exprgrad eval -q" in found.err
    assert "there is no command 'x'" in command("-q", "x", "x=3").err


def test_a_formula_without_a_command_is_for_grad() -> None:
    for argv in (["x^2*y", "x=3", "y=2"], ["-x^2", "--json", "x=3"], ["2+3*4"], ["x+", "--json"]):
        assert command(*argv) == command("grad", *argv)
    assert command("-", "x=3", "-q", stdin=b"x^2") == (0, "x=6.0\n", "")


def test_every_suggestion_is_there() -> None:
    """What the table of synonyms suggests is a command, an option or a value of today."""
    words = {*COMMANDS, "help", "version"}
    for name in COMMANDS:
        loaded = load_command(name)
        words |= {w.removeprefix("--") for w in options_as_typed(loaded, click.Context(loaded))}
    for ours in ELSEWHERE:
        first, _, rest = ours.partition(" ")
        assert first in words, ours
        if rest:
            taker = load_command(first)
            assert rest.split()[0] in options_as_typed(taker, click.Context(taker)), ours
