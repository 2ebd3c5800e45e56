"""Writes answers: as a table, JSON, CSV or bare numbers, on stdout or to a file.

Diagnostics and errors go to stderr; the result is an exit status.
"""

# Without ``from __future__ import annotations``: typing would compile each field's text at every start.

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

import click

from exprgrad.cli.options import is_for_people
from exprgrad.errors import ExprgradError, RequestError, render_error
from exprgrad.source import WIDTH, without_controls

if TYPE_CHECKING:
    from exprgrad.run.evaluation import Diagnostic
    from exprgrad.show.text.table import Screen, Table

__all__ = [
    "Answer", "bare_line", "give_answer", "report_error", "show_diagnostics", "write_content", "write_text",
]  # fmt: skip


LONGEST_PIECE = 8192
"""The least number of characters written at once."""
MOST_DIAGNOSTICS = 20
"""The most diagnostics shown to people."""
LEFT_OUT = (("kink", " has a kink", "s have a kink"), ("jump", " jumps", "s jump"))
"""Code → the words for nodes left out of a list: for one, and for several."""
ASCII = str.maketrans(
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
        "±": "+-",
        **dict(zip("▁▂▃▄▅▆▇█", "_.:-=+*#", strict=True)),
        **dict(zip("┤└┬┊┈╌○●◌◇◆▼▲✕", "|++:--o@o+#v^x", strict=True)),
    }
) | dict.fromkeys(range(0x2801, 0x2900), "*")
"""Replacements for our own signs where the output's encoding lacks them."""
ASCII_OF_OUR_SIGNS = {sign: plain for sign, plain in ASCII.items() if sign != ord("·")}
"""The same replacements without the middle dot, which names may contain."""


class Answer(NamedTuple):
    """The answer of a command, rendered as JSON, CSV, bare values (``-q``) or text for people.

    Nothing is computed for a form that is not requested.

    ``command``      its name
    ``text``         the formula; None where there is none
    ``fields``       the names and values of the JSON object that follow the formula
    ``rows``         the lines of CSV, headings first; None for those of a table that people read
    ``lines``        what ``-q`` prints: names and values
    ``shown``        what people read on a screen: texts and tables
    ``diagnostics``  warnings and notes, each with its place in the formula
    ``sources``      the texts that the diagnostics' spans are in, where that is not the formula
    ``aside``        a warning about what tables say and CSV and ``-q`` do not
    ``is_no``        whether the answer is no
    ``is_doubtful``  whether the answer is no under ``--strict``
    ``apart``        whether each field of the JSON object has a line of its own
    ``exact``        whether programs may read the text for people too, so that no letter may get lost
    """

    command: str
    text: str | None
    fields: Iterable[tuple[str, Any]]
    rows: Iterable[Iterable[Any]] | None
    lines: Iterable[tuple[str, Any]]
    shown: "Callable[[Screen], Iterable[str | Table]]"
    diagnostics: "Sequence[Diagnostic]" = ()
    sources: Sequence[str] = ()
    aside: str = ""
    is_no: bool = False
    is_doubtful: bool = False
    apart: bool = False
    exact: bool = False


def write_text(pieces: Iterable[str], stream: TextIO | None = None) -> None:
    """Write text; a character that the stream's encoding lacks is replaced, never an error."""
    out = sys.stdout if stream is None else stream
    encoding = (out.encoding or "utf-8").lower()
    for piece in pieces:
        if not encoding.startswith("utf"):
            piece = piece.translate(ASCII).encode(encoding, "replace").decode(encoding)
        elif not piece.isascii():
            piece = piece.encode(encoding, "replace").decode(encoding)
        out.write(piece)
    out.flush()


def write_exactly(pieces: Iterable[str]) -> None:
    """Write text that programs read to stdout: a formula, code, CSV, names with their numbers.

    A letter that the stream's encoding lacks is an error: as ``?`` two names would become one.
    """
    encoding, is_terminal = sys.stdout.encoding or "utf-8", sys.stdout.isatty()
    for piece in join_short_pieces(pieces):
        if not encoding.lower().startswith("utf"):
            piece = piece.translate(ASCII_OF_OUR_SIGNS)
        if is_terminal:
            piece = without_controls(piece)
        try:
            piece.encode(encoding)
        except UnicodeEncodeError as error:
            letter = f"U+{ord(piece[error.start]):04X}"
            raise RequestError(
                "encoding",
                f"standard output is in {encoding}, which lacks the letter {letter}",
                help="set PYTHONUTF8=1, or take --json, which is ASCII",
            ) from None
        write_text([piece])


def join_short_pieces(pieces: Iterable[str]) -> Iterator[str]:
    """Join short pieces of text, because writing a piece takes longer than making it."""
    held: list[str] = []
    size = 0
    for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size >= LONGEST_PIECE:
            yield "".join(held)
            held, size = [], 0
    yield "".join(held)


def uses_color(choice: str, stream: TextIO) -> bool:
    """Whether to use colour on a stream: as ``--color`` says, else on a terminal without NO_COLOR."""
    if choice != "auto":
        return choice == "always"
    if not stream.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    if sys.platform == "win32":  # its consoles print the escapes unless asked to obey them
        from colorama import just_fix_windows_console  # which click needs there, too

        just_fix_windows_console()
    return True


def terminal_width(stream: TextIO) -> int | None:
    """Return the width, in cells, of the terminal behind a stream; None without a terminal."""
    if not stream.isatty():
        return None
    import shutil

    return max(shutil.get_terminal_size((WIDTH, 24)).columns, 20)


def give_answer(answer: Answer, options: Mapping[str, Any]) -> int:
    """Write an answer in the form that was asked for, and its diagnostics; return the exit status.

    It goes to the file that ``-o`` names, or to stdout.  The status is 1 if the answer is no, and under
    ``--strict`` if there is a warning or a doubt.
    """
    color, path = options["color"], options.get("document")
    if path is not None:
        from exprgrad.show.picture.picture import write_file

        write_file(render_answer(answer, options), path)
    elif is_for_people(options):
        width, is_colored = terminal_width(sys.stdout), uses_color(color, sys.stdout)
        for text in draw_parts(answer, options, width, is_colored):
            (write_exactly if answer.exact else write_text)([text])
    else:
        (write_text if options["as_json"] else write_exactly)(render_answer(answer, options))
    if path is not None or not options["as_json"]:
        if answer.aside and (options["as_csv"] or options.get("quiet")):
            write_text([f"warning: {answer.aside}\n"], sys.stderr)
        show_diagnostics(answer.text or "", answer.diagnostics, color, answer.sources)
    warned = any(diagnostic.severity == "warning" for diagnostic in answer.diagnostics)
    is_doubtful = options.get("strict") and (warned or answer.is_doubtful)
    return 1 if answer.is_no or is_doubtful else 0


def draw_parts(
    answer: Answer, options: Mapping[str, Any], width: int | None = None, color: bool = False
) -> Iterator[str]:
    """Draw an answer for people, for a terminal of some width or for a pipe."""
    from exprgrad.show.text.table import WIDEST, Screen, plain_table, rich_table

    screen = Screen(width, color, options.get("digits", 6), options.get("show_all", False))
    for part in answer.shown(screen):
        if isinstance(part, str):
            yield f"{part}\n"
        elif width is None and not color:
            yield f"{plain_table(part)}\n"
        else:
            yield f"{rich_table(part, width or WIDEST, color=color)}\n"


def render_answer(answer: Answer, options: Mapping[str, Any]) -> Iterator[str]:
    """Render an answer as JSON, CSV, bare values, or text for people without a screen."""
    whole = options.get("show_all", False)
    if options["as_json"]:
        from exprgrad.show.documents.document import json_document

        head = answer.command, answer.text
        yield from json_document(*head, answer.fields, whole=whole, apart=answer.apart)
    elif options["as_csv"]:
        from exprgrad.show.documents.document import csv_line
        from exprgrad.show.text.table import Screen

        rows = answer.rows
        if rows is None:
            parts = answer.shown(Screen(whole=whole))
            rows = next(filter(None, (getattr(part, "csv", None) for part in parts)))
        yield from (csv_line(cells, whole=whole) for cells in rows)
    elif options.get("quiet"):
        yield from (piece for name, value in answer.lines for piece in bare_line(name, value))
    else:
        yield from draw_parts(answer, options)


def bare_line(name: str, value: Any) -> Iterator[str]:
    """A value on one line, after ``name=`` if it has a name: a number, a word, or a tensor as lists."""
    if name:
        yield f"{name}="
    if isinstance(value, float):
        yield repr(value)
    elif isinstance(value, str):
        yield value
    else:
        from exprgrad.show.documents.document import integer_text, nested_lists

        yield from [integer_text(value)] if isinstance(value, int) else nested_lists(value, repr)
    yield "\n"


def write_content(
    command: str,
    text: str,
    fields: Mapping[str, Any],
    content: Mapping[str, str],
    path: str | None,
    options: Mapping[str, Any],
) -> None:
    """Write ``content``, one program or picture, to stdout or as JSON; of a file JSON has the name."""
    if options["as_json"]:
        from exprgrad.show.documents.document import small_document

        what = content if path is None else {"file": path}
        write_text([small_document(command, expression=text, **fields, **what), "\n"])
    elif path is None:
        (write_exactly if command == "code" else write_text)(content.values())


def report_error(error: ExprgradError, command: str | None, *, json: bool, color: str) -> None:
    """Render an error, once: as JSON on stdout, or as text on stderr."""
    if json:
        from exprgrad.show.documents.document import small_document

        write_text([small_document(command or "", error=error.as_json()) + "\n"])
        return
    text = render_error(error, terminal_width(sys.stderr) or 100)
    if uses_color(color, sys.stderr):
        head, _, tail = text.partition("\n")
        styled = click.style("error:", fg="red", bold=True) + head.removeprefix("error:")
        text = styled + ("\n" + tail if tail else "")
    write_text([text, "\n"], sys.stderr)


def show_diagnostics(
    text: str, diagnostics: "Sequence[Diagnostic]", color: str, sources: Sequence[str] = ()
) -> None:
    """Print diagnostics on stderr, each with its place in the formula, or in a text of its own."""
    if not diagnostics:
        return
    from exprgrad.show.text.lines import diagnostic_text

    styled = uses_color(color, sys.stderr)
    width = terminal_width(sys.stderr) or 100
    shown, left_out = (diagnostics, "") if sources else choose_diagnostics(diagnostics)
    for within, diagnostic in zip(sources or [text] * len(shown), shown, strict=False):
        severity = diagnostic.severity
        head = f"{severity}:"
        if styled:
            head = click.style(head, fg="yellow" if severity == "warning" else "cyan", bold=True)
        write_text([diagnostic_text(diagnostic, within, head, width), "\n"], sys.stderr)
    if left_out:
        write_text([f"… {left_out}; --json lists them\n"], sys.stderr)


def choose_diagnostics(listed: "Sequence[Diagnostic]") -> "tuple[Sequence[Diagnostic], str]":
    """Choose the diagnostics to show, and describe the others in words.

    Where there are too many, warnings about the answer come first, then notes, and then the nodes that
    meet a kink or a jump: so the many nodes at a kink never crowd out the note on the corrected gradient.
    """
    if len(listed) <= MOST_DIAGNOSTICS:
        return listed, ""
    from exprgrad.run.evaluation import Flag

    ranked = sorted(
        listed,
        key=lambda one: (
            2 if isinstance(one, Flag) else one.severity == "note" and one.code != "many-inputs"
        ),
    )
    left_out = ranked[MOST_DIAGNOSTICS:]
    parts = []
    others = sum(not isinstance(one, Flag) for one in left_out)
    if others:
        parts.append(f"{others:,} more warnings and notes")
    for code, singular, plural in LEFT_OUT:
        count = sum(isinstance(one, Flag) and one.code == code for one in left_out)
        if count:
            parts.append(f"{count:,} more node{plural if count > 1 else singular} here")
    return ranked[:MOST_DIAGNOSTICS], " and ".join(parts)
