"""A picture as an object: shown in a notebook, turned into SVG, written to a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

from exprgrad.errors import MissingExtraError, RequestError, command_or_python

__all__ = [
    "FORMATS", "Drawable", "Picture", "Pictured", "draw", "format_from_path", "notebook_bundle",
    "plot_format", "write_file", "wrong_ending_error",
]  # fmt: skip

FORMATS = ("dot", "svg", "png", "pdf")
PLOTS = FORMATS[1:]
"""The formats of a plot."""


class Drawable(Protocol):
    """Anything with a picture: a formula, a run, a ``Value``."""

    def dot(self) -> str:
        """Its picture as DOT source."""


class Picture:
    """A picture: ``source`` is its DOT source, which it prints as; a notebook shows it drawn."""

    def __init__(self, source: str) -> None:
        self.source = source

    def svg(self) -> str:
        """The picture as SVG.  Raises ``MissingExtraError`` without Graphviz."""
        return self.drawn("svg").decode()

    def save(self, path: str | Path) -> None:
        """Write the picture to a ``.dot``, ``.svg``, ``.png`` or ``.pdf`` file."""
        write_file(self.drawn(format_from_path(path)), path)

    def drawn(self, format: str) -> bytes:
        """The bytes of a file in one of ``FORMATS``."""
        if format == "dot":
            return self.source.encode()
        from exprgrad.show.picture.dot import render_dot

        return render_dot(self.source, format)

    def __str__(self) -> str:
        return self.source

    def __repr__(self) -> str:
        return f"<Picture: {len(self.source):,} characters of DOT>"

    def _repr_svg_(self) -> str | None:
        return self._repr_mimebundle_().get("image/svg+xml")

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        return notebook_bundle(repr(self), self.svg)


class Pictured:
    """A picture drawn by Matplotlib; without it ``MissingExtraError`` is raised."""

    __slots__ = ()

    def drawn(self, format: str, look: str | None) -> bytes:
        """The bytes of a file."""
        raise NotImplementedError

    def svg(self, look: str | None = None) -> str:
        """The picture as SVG, ``light`` or ``dark``, by default as the page that it stands on."""
        return self.drawn("svg", look).decode()

    def save(self, path: str | Path, look: str | None = None) -> None:
        """Write the picture to a ``.svg``, ``.png`` or ``.pdf`` file; ``look`` is as in ``svg``."""
        write_file(self.drawn(plot_format(path), look), path)


def draw(what: Drawable | str, **options: Any) -> Picture:
    """The picture of a formula, as a text too, of a run or of a ``Value``.

    ``options`` are those of its ``dot``, such as ``direction``; ``all`` is for more than 500 nodes.  Raises
    ``LanguageError`` for a text that is no formula, ``TypeError`` for what has no picture.
    """
    if isinstance(what, str):
        from exprgrad.derive.parsed import parse_and_derive
        from exprgrad.show.picture.dot import dot_source

        return Picture(dot_source(parse_and_derive(what), text=what, **options))
    if not callable(getattr(what, "dot", None)):
        raise TypeError(f"draw takes a formula, a run or a Value, not {type(what).__name__}")
    return Picture(what.dot(**options))


def format_from_path(path: str | Path) -> str:
    """The format that a file's name asks for."""
    suffix = Path(path).suffix.lower().removeprefix(".")
    if suffix in FORMATS:
        return suffix
    raise wrong_ending_error(
        path, "a picture's format", "the formats are .dot, .svg, .png and .pdf"
    )


def plot_format(path: object) -> str:
    """The format that a file's name asks for.  Raises ``RequestError`` for one that no plot has."""
    text = str(path)
    ending = text.rpartition(".")[2].lower()
    if ending in PLOTS and "." in text:
        return ending
    pictures = "the endings are .svg, .png and .pdf"
    raise wrong_ending_error(
        text, "a plot's format", command_or_python(f"{pictures}, or .json, .csv and .txt", pictures)
    )


def wrong_ending_error(path: str | Path, what: str, help: str) -> RequestError:
    """The error for a file whose name does not say ``what`` it should."""
    text = str(path)
    return RequestError("unknown-format", f"'{text}' does not name {what}", help=help).about(text)


def write_file(content: bytes | str | Iterable[str], path: str | Path) -> None:
    """Write a file, text as UTF-8, also in pieces.  Raises ``RequestError`` where that cannot be."""
    pieces = iter([content] if isinstance(content, bytes | str) else content)
    start = next(pieces, "")  # so that an error on the way there leaves the file as it was
    try:
        with Path(path).open("wb") as file:
            for piece in chain([start], pieces):
                file.write(piece.encode() if isinstance(piece, str) else piece)
    except (OSError, ValueError) as error:
        raise RequestError(
            "file", f"cannot write '{path}': {getattr(error, 'strerror', None) or error}"
        ) from None


def notebook_bundle(text: str, svg: Callable[[], str]) -> dict[str, str]:
    """The bundle for a notebook: the text, and the picture where it can be drawn."""
    shown = {"text/plain": text}
    with suppress(MissingExtraError, RequestError):
        shown["image/svg+xml"] = svg()
    return shown
