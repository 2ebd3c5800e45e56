"""What leaves the process: answers on stdout, diagnostics and errors on stderr, an exit status."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TextIO

import click

from exprgrad.errors import ExprgradError, RequestError, render
from exprgrad.source import WIDTH, Source, excerpt

if TYPE_CHECKING:
    from exprgrad.explain.diagnostic import Diagnostic

__all__ = ["colorful", "report", "show_diagnostics", "terminal_width", "write", "write_exactly"]

MOST_DIAGNOSTICS = 20
"""How many diagnostics people are shown."""
FOLDED = (("kink", " has a kink", "s have a kink"), ("jump", " jumps", "s jump"))
"""What is said of nodes that are left out, by code: of one, and of several."""
PLAIN = str.maketrans(
    {
        "−": "-",
        "×": "x",
        "→": "->",
        "…": "...",
        "│": "|",
        "─": "-",
        "∂": "d",
        "·": ".",
        "²": "^2",
        "‖": "|",
        **dict(zip("▁▂▃▄▅▆▇█", "_.:-=+*#", strict=True)),
    }
)
"""What takes the place of our own signs where the output's encoding lacks them."""
OURS = {sign: plain for sign, plain in PLAIN.items() if sign != ord("·")}
"""The same without the one sign that a name may have, too."""


def write(pieces: Iterable[str], stream: TextIO | None = None) -> None:
    """Write text; a character that the stream's encoding lacks is replaced, never an error."""
    out = sys.stdout if stream is None else stream
    encoding = (out.encoding or "utf-8").lower()
    for piece in pieces:
        if not encoding.startswith("utf"):
            piece = piece.translate(PLAIN).encode(encoding, "replace").decode(encoding)
        elif not piece.isascii():
            piece = piece.encode(encoding, "replace").decode(encoding)
        out.write(piece)
    out.flush()


def write_exactly(pieces: Iterable[str]) -> None:
    """Write what programs read to stdout: a formula, code, CSV, names with their numbers.

    It is an error if the stream cannot hold a letter: with a ``?`` for two names, they would be one.
    """
    encoding = sys.stdout.encoding or "utf-8"
    for piece in pieces:
        if not encoding.lower().startswith("utf"):
            piece = piece.translate(OURS)
        try:
            piece.encode(encoding)
        except UnicodeEncodeError as error:
            letter = f"U+{ord(piece[error.start]):04X}"
            message = f"standard output is in {encoding}, which lacks the letter {letter}"
            help = "set PYTHONUTF8=1, or take --json, which is ASCII"
            raise RequestError("encoding", message, help=help) from None
        write([piece])


def colorful(choice: str, stream: TextIO) -> bool:
    """Whether to use colour on a stream: as ``--color`` says, else on a terminal without NO_COLOR."""
    if choice != "auto":
        return choice == "always"
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def terminal_width() -> int:
    """How many cells wide the terminal is."""
    import shutil

    return max(shutil.get_terminal_size((WIDTH, 24)).columns, 20)


def report(error: ExprgradError, command: str | None, *, json: bool, color: str) -> None:
    """Render an error, once: as JSON on stdout, or as text on stderr."""
    if json:
        from exprgrad.draw.documents.document import envelope

        write([envelope(command or "", error=error.as_json()) + "\n"])
        return
    width = terminal_width() if sys.stderr.isatty() else 100
    text = render(error, width)
    if colorful(color, sys.stderr):
        head, _, tail = text.partition("\n")
        styled = click.style("error:", fg="red", bold=True) + head.removeprefix("error:")
        text = styled + ("\n" + tail if tail else "")
    write([text, "\n"], sys.stderr)


def show_diagnostics(text: str, diagnostics: Iterable[Diagnostic], color: str) -> None:
    """Print a run's diagnostics on stderr, each with its place in the formula."""
    styled = colorful(color, sys.stderr)
    width = terminal_width() if sys.stderr.isatty() else 100
    shown, left_out = chosen(list(diagnostics))
    for diagnostic in shown:
        severity = diagnostic.severity
        head = f"{severity}:"
        if styled:
            head = click.style(head, fg="yellow" if severity == "warning" else "cyan", bold=True)
        lines = [f"{head} {diagnostic.message}"]
        lines += excerpt(Source(text), diagnostic.span, width=width)
        if diagnostic.path:
            lines.append(f"  path: {diagnostic.path}")
        if diagnostic.help:
            lines.append(f"  help: {diagnostic.help}")
        write(["\n".join(lines), "\n"], sys.stderr)
    if left_out:
        write([f"… {left_out}; --json lists them\n"], sys.stderr)


def chosen(listed: Sequence[Diagnostic]) -> tuple[Sequence[Diagnostic], str]:
    """The diagnostics that people are shown, and what the others are in words.

    Where there are too many, warnings about the answer come first, then notes, and then the nodes that
    meet a kink or a jump: a corrected gradient is never left out for the nodes that it is corrected at.
    """
    if len(listed) <= MOST_DIAGNOSTICS:
        return listed, ""
    from exprgrad.explain.diagnostic import Flag

    def rank(one: Diagnostic) -> int:
        return (
            2
            if isinstance(one, Flag)
            else int(one.severity == "note" and one.code != "many-inputs")
        )

    ranked = sorted(listed, key=rank)
    left_out = ranked[MOST_DIAGNOSTICS:]
    parts = []
    others = sum(not isinstance(one, Flag) for one in left_out)
    if others:
        parts.append(f"{others:,} more warnings and notes")
    for code, singular, plural in FOLDED:
        count = sum(isinstance(one, Flag) and one.code == code for one in left_out)
        if count:
            parts.append(f"{count:,} more node{plural if count > 1 else singular} here")
    return ranked[:MOST_DIAGNOSTICS], " and ".join(parts)
