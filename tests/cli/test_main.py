"""How a process ends: done, interrupted, left by its reader, or with an answer that cannot be written."""

from __future__ import annotations

import click
import pytest

from exprgrad.cli import main as entry


class Ended(Exception):
    """Stands for the end of the process; its argument is the status."""


@pytest.fixture
def ends(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is discarded at the end, which raises ``Ended`` here."""
    discarded: list[str] = []

    def leave(status: int) -> None:
        raise Ended(status)

    monkeypatch.setattr(entry, "leave", leave)
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
