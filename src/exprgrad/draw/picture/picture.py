"""A picture as an object: shown in a notebook, turned into SVG, written to a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

from exprgrad.draw.picture.files import notebook, picture, write

__all__ = ["Drawable", "Picture", "draw"]


class Drawable(Protocol):
    """What can be drawn: a formula, a run, a ``Value``."""

    def dot(self) -> str:
        """Its picture as DOT source."""


class Picture:
    """A picture: ``source`` is its DOT source, which it prints as; a notebook shows it drawn."""

    def __init__(self, source: str) -> None:
        self.source = source

    def svg(self) -> str:
        """The picture as SVG.  Raises ``MissingExtraError`` without Graphviz."""
        return picture(self.source, "svg").decode()

    def save(self, path: str | Path) -> None:
        """Write the picture to a ``.dot``, ``.svg``, ``.png`` or ``.pdf`` file."""
        write(self.source, path)

    def __str__(self) -> str:
        return self.source

    def __repr__(self) -> str:
        return f"<Picture: {len(self.source):,} characters of DOT>"

    def _repr_svg_(self) -> str | None:
        return self._repr_mimebundle_().get("image/svg+xml")

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        return notebook(repr(self), self.svg)


def draw(what: Drawable | str, **options: Any) -> Picture:
    """The picture of a formula, as a text too, of a run or of a ``Value``.

    ``options`` are those of its ``dot``: ``digits``, and ``all`` for more than 500 nodes.  Raises
    ``LanguageError`` for a text that is no formula, ``TypeError`` for what has no picture.
    """
    if isinstance(what, str):
        from exprgrad.draw.picture.dot import source
        from exprgrad.language.read.parse import parse

        return Picture(source(parse(what), **options))
    if not callable(getattr(what, "dot", None)):
        raise TypeError(f"draw takes a formula, a run or a Value, not {type(what).__name__}")
    return Picture(what.dot(**options))
