"""Pictures into files and notebooks."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from exprgrad.errors import MissingExtraError, RequestError
from exprgrad.source import Source

__all__ = ["FORMATS", "format_of", "misnamed", "notebook", "picture", "put", "write"]

FORMATS = ("dot", "svg", "png", "pdf")


def format_of(path: str | Path) -> str:
    """The format that a file's name asks for."""
    suffix = Path(path).suffix.lower().removeprefix(".")
    if suffix in FORMATS:
        return suffix
    raise misnamed(path, "a picture's format", "the formats are .dot, .svg, .png and .pdf")


def misnamed(path: str | Path, what: str, help: str) -> RequestError:
    """The error for a file whose name does not say ``what`` it should."""
    text = str(path)
    message, source = f"'{text}' does not name {what}", Source(text, is_expression=False)
    return RequestError("unknown-format", message, source=source, span=(0, len(text)), help=help)


def picture(source: str, format: str) -> bytes:
    """DOT source as the bytes of a file in one of ``FORMATS``."""
    if format == "dot":
        return source.encode()
    from exprgrad.draw.picture.render import render

    return render(source, format)


def write(source: str, path: str | Path) -> None:
    """Write DOT source as a picture; the file's name says in which format."""
    put(picture(source, format_of(path)), path)


def put(content: bytes, path: str | Path) -> None:
    """Write a file.  Raises ``RequestError`` where that cannot be."""
    try:
        Path(path).write_bytes(content)
    except (OSError, ValueError) as error:
        message = f"cannot write '{path}': {getattr(error, 'strerror', None) or error}"
        raise RequestError("file", message) from None


def notebook(text: str, svg: Callable[[], str]) -> dict[str, str]:
    """What a notebook shows: the picture where it can be drawn, and always the text."""
    shown = {"text/plain": text}
    with suppress(MissingExtraError, RequestError):
        shown["image/svg+xml"] = svg()
    return shown
