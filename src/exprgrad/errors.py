"""Everything that can go wrong with a request, as values.

    ExprgradError
    ├── LanguageError       the text is not in the language (syntax, names, functions, arity)
    ├── InputError          a value is missing, not asked for, or not a number
    ├── ShapeError          tensors whose shapes an operation cannot take
    ├── RequestError        a request that cannot be met (options, files, sizes)
    └── MissingExtraError   a package that this needs is not installed

An error carries a ``code`` for programs, a ``message`` for people, where it happened (``source`` and
``span``), and ``help``: the likely mend.  Errors are raised anywhere and rendered once, by the caller.
"""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

from exprgrad.source import (
    WIDTH,
    Source,
    Span,
    cut_text,
    excerpt_lines,
    line_and_column,
    printable_text,
    shown_part,
)

__all__ = [
    "Asker", "DigitsWarning", "ExprgradError", "InputError", "LanguageError", "MissingExtraError",
    "RequestError", "ShapeError", "command_or_python", "import_extra", "install_command", "missing_package",
    "render_error", "require_kind", "whole_number",
]  # fmt: skip


class DigitsWarning(UserWarning):
    """Numbers of which fewer digits are known to be right than people expect."""


LONGEST_MESSAGE = 240
"""The most characters of a message: a name may be as long as a book."""


class ExprgradError(Exception):
    """A request that cannot be answered: what, where, why, and what to do.

    ``span`` is a half-open range of code points in ``source``; ``related`` holds further places, each
    with a few words, such as the first of two bindings of one name.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        source: Source | None = None,
        span: Span | None = None,
        help: str | None = None,
        related: tuple[tuple[str, Span], ...] = (),
    ) -> None:
        message = cut_text(message, LONGEST_MESSAGE)
        super().__init__(message)
        self.code: str = code
        self.message: str = message
        self.source: Source | None = source
        self.span: Span | None = span
        self.help: str | None = None if help is None else cut_text(help, LONGEST_MESSAGE)
        self.related: tuple[tuple[str, Span], ...] = related

    def at(self, place: Source | str, start: int = 0) -> Self:
        """The error with its place: the text whose offsets its spans are, or a file's name.

        ``start`` is where that text begins in the source, if it is a part of it.
        """
        if isinstance(place, str):
            self.message += f", in '{place}'"
            return self
        self.source = place
        if self.span is not None:
            self.span = shift_span(self.span, start)
        self.related = tuple([(note, shift_span(span, start)) for note, span in self.related])
        return self

    def about(self, text: str, span: Span | None = None) -> Self:
        """The error with its place in a text that is not the expression: a span, or all of it."""
        self.span = (0, len(text)) if span is None else span
        return self.at(Source(text, is_expression=False))

    def quoting(self, text: str, span: Span | None = None) -> Self:
        """The error with its place in a file's text, which is for the shell's user alone to see."""
        return self.about(text, span) if Asker.by_command else self

    def __reduce__(self) -> tuple[object, ...]:
        return (
            type(self),
            (self.code, *self.args),
            self.__dict__,
        )  # to come back from other processes

    def __str__(self) -> str:
        return render_error(self).removeprefix("error: ")

    def _render_traceback_(self) -> list[str]:
        """Return what IPython and notebooks show: the message, and the user's line that led to it."""
        return [f"{type(self).__name__}: {self}", *caller_line(self.__traceback__)]

    def as_json(self) -> dict[str, object]:
        """The ``error`` object of the JSON envelope; a span is given only within the expression."""
        place: dict[str, object] = {"span": None, "line": None, "column": None}
        if self.source is not None and self.span is not None and self.source.is_expression:
            line, column = line_and_column(self.source.text, self.span[0])
            place = {"span": list(self.span), "line": line, "column": column}
        return {"code": self.code, "message": self.message, **place, "help": self.help}


class LanguageError(ExprgradError):
    """The text is not in the language; ``mend`` is where to write what, if that is certain."""

    mend: tuple[int, int, str] | None = None

    def mended_by(self, mend: tuple[int, int, str] | None) -> Self:
        """The error with its mend."""
        self.mend = mend
        return self


class InputError(ExprgradError):
    """A value is missing, not asked for, or not a number."""


class ShapeError(ExprgradError):
    """Tensors whose shapes an operation cannot take; ``node`` is the operation's in a graph."""

    node: int | None = None


class RequestError(ExprgradError):
    """A request that cannot be met: an option, a file, a size."""


class MissingExtraError(ExprgradError):
    """A package that this needs is not installed."""


class Asker:
    """The caller: a command line, which gets advice in its own words and takes notes, or Python."""

    by_command = False
    take_note: Callable[[str], object] = staticmethod(lambda text: None)


def command_or_python(command: str, python: str) -> str:
    """Advise on how to go on: by a command's option or a Python argument, whichever the caller uses."""
    return command if Asker.by_command else python


def import_extra(module: str, message: str) -> Any:
    """A module of a package that an extra installs.

    Raises ``MissingExtraError``, whose ``message`` says what needs the package, where it is not there.
    """
    from importlib import import_module

    package = module.partition(".")[0]
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtraError(
            f"missing-{package}", message, help=install_command(package)
        ) from None


def missing_package(error: ModuleNotFoundError) -> MissingExtraError:
    """Make the error for a package that is always installed with this one, but is missing.

    Raises the error itself if it is about a module of our own.
    """
    package = (error.name or "exprgrad").partition(".")[0]
    if package == "exprgrad":
        raise error
    message = f"{package} is not installed: {install_command(package)}"
    return MissingExtraError(f"missing-{package}", message)


def install_command(package: str) -> str:
    """The command that installs a package where this Python finds it."""
    import os
    import shutil
    import sys
    from importlib.util import find_spec

    folder, python = os.path.split(sys.executable or "python")
    if f"{os.sep}pipx{os.sep}" in f"{sys.prefix}{os.sep}":
        return f"pipx inject exprgrad {package}"
    if os.path.dirname(shutil.which("pip") or "") == folder:  # noqa: PTH120
        return f"pip install {package}"
    path = sys.executable or "python"
    if folder.startswith(os.getcwd()):  # noqa: PTH109
        path = os.path.join(os.path.relpath(folder), python)  # noqa: PTH118
    path = f'"{path}"' if " " in path else path
    if find_spec("pip") is None:
        return f"uv pip install --python {path} {package}"
    return f"{path} -m pip install {package}"


def whole_number(value: object) -> int | None:
    """Return a whole number, Python's or a library's, as an int; None for bools and all else."""
    try:
        return None if isinstance(value, bool) else index(value)  # type: ignore[arg-type]
    except TypeError:
        return None


def require_kind(value: object, kind: type | tuple[type, ...], what: str) -> None:
    """Raise ``TypeError`` unless a value is of a kind; ``what`` says in words what it has to be."""
    if not isinstance(value, kind):
        raise TypeError(f"{what}, not {type(value).__name__}")


def caller_line(traceback: TracebackType | None) -> list[str]:
    """The last line before this package's own, if it is known."""
    from linecache import getline
    from pathlib import Path

    here = str(Path(__file__).parent)
    line = ""
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        if file.startswith(here):
            break
        line, number = getline(file, traceback.tb_lineno).strip(), traceback.tb_lineno
        traceback = traceback.tb_next
    return [f"  line {number}: {line}"] if line else []


def shift_span(span: Span, by: int) -> Span:
    """Shift a span by some characters."""
    return span[0] + by, span[1] + by


def render_error(error: ExprgradError, width: int = WIDTH) -> str:
    """The error as people read it: message, excerpt with carets, help; no colour, no final newline."""
    lines = [printable_text(f"error: {error.message}")]
    if error.source is not None and error.span is not None:
        left, right = shown_part(error.source, error.span, WIDTH)
        left, right = max(error.span[0], left), min(error.span[1], right)
        parts = [place for place in error.related if left <= place[1][0] and place[1][1] <= right]
        apart = [place for place in error.related if place not in parts]
        for note, span in sorted([("", error.span), *apart], key=lambda place: place[1]):
            inside = parts if span is error.span else ()
            lines.extend(excerpt_lines(error.source, span, note, width, inside))
    if error.help is not None:
        lines.append(printable_text(f"  help: {error.help}"))
    return "\n".join(lines)
