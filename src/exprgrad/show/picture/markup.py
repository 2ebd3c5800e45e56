"""Graphviz's HTML-like labels: tables and texts, with whatever a user typed escaped."""

from __future__ import annotations

from html import escape

from exprgrad.show.text.lines import directed
from exprgrad.show.text.views import minus
from exprgrad.source import cut, printable

__all__ = ["NAME", "RULER", "abridged", "cell", "quoted", "row", "shown", "table", "text"]

NAME = 40
"""The most characters of a name on one line."""

RULER = "<HR/>"
"""A hairline between two rows, in the colour of the table."""


WORD_JOINER = "\u2060"


def shown(text: str, limit: int) -> str:
    """A user's text on one line, cut to ``limit`` characters, with true minus signs.

    A mark keeps Graphviz from reading a backslash and a letter as one of its abbreviations.
    """
    return directed(minus(cut(printable(text), limit).replace("\\", "\\" + WORD_JOINER)))


def abridged(name: str, limit: int) -> str:
    """A name with its beginning and its end, where long names differ."""
    end = limit // 3
    return name if len(name) <= limit else f"{name[: limit - end - 1]}…{name[len(name) - end :]}"


def quoted(text: str) -> str:
    """A text as an attribute's value, safe from DOT's backslashes and character entities."""
    return escape(text, quote=False).replace("\\", "\\\\")


def text(content: str, *, colour: str = "", size: str = "", bold: bool = False) -> str:
    """A piece of text in a label."""
    inner = escape(content).replace("\\", "&#92;").replace("  ", " &#160;")
    attributes = attribute("COLOR", colour) + attribute("POINT-SIZE", size)
    inner = f"<B>{inner}</B>" if bold else inner
    return f"<FONT{attributes}>{inner}</FONT>" if attributes else inner


def attribute(name: str, value: str) -> str:
    """An attribute of a tag, or nothing."""
    return f' {name}="{value}"' if value else ""


def cell(content: str, **attributes: str) -> str:
    """A table's cell; the attributes by their names in lower case."""
    return f"<TD{''.join(attribute(k.upper(), v) for k, v in attributes.items())}>{content}</TD>"


def row(*cells: str) -> str:
    """A table's row."""
    return f"<TR>{''.join(cells)}</TR>"


def table(*rows: str, **attributes: str) -> str:
    """A table without borders or gaps of its own, unless the attributes say otherwise."""
    settings = {
        "border": "0",
        "cellborder": "0",
        "cellspacing": "0",
        "cellpadding": "0",
    } | attributes
    given = "".join(attribute(name.upper(), value) for name, value in settings.items())
    return f"<TABLE{given}>{''.join(rows)}</TABLE>"
