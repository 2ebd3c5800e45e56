"""The command ``constants``: CODATA's constants of nature."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from exprgrad.cli.answer import Answer, give_answer
from exprgrad.cli.command import NameCommand
from exprgrad.cli.options import color_option, csv_option, document_option, json_option
from exprgrad.errors import RequestError

__all__ = ["constants_command"]


@click.command("constants", cls=NameCommand)
@click.argument("words", nargs=-1, metavar="[WORD]")
@json_option
@csv_option("one constant per line")
@document_option
@color_option
def constants_command(words: Sequence[str], **options: Any) -> int:
    """The constants of nature, for NAME=@codata: CODATA 2022.

    WORD is a symbol, such as m_e, or a part of a name.  G=@codata takes the value and the uncertainty by
    the name of the input, and "m=@codata:electron mass" by the constant's own.
    """
    from exprgrad.run.values.constants import find_constants, list_constants
    from exprgrad.show.text.table import Column, csv_column, make_table

    word = " ".join(words)
    found = find_constants(word) if word else list_constants()
    if not found:
        raise RequestError(
            "usage",
            f"no constant has '{word}' in its name",
            help="exprgrad constants lists all of them",
        ).about(word)
    columns = [
        Column("symbol", lambda one: one.symbols[0] if one.symbols else "", style="bold"),
        csv_column(key="symbols", value=lambda one: " ".join(one.symbols)),
        Column("value", key="value"),
        Column("unit", key="unit"),
        Column("name", key="name", flexible=True),
    ]
    fields = {"constants": [{**one._asdict(), "symbols": [*one.symbols]} for one in found]}
    parts = [make_table(columns, found, whole=True)]
    return give_answer(
        Answer("constants", None, fields.items(), None, (), lambda _: parts), options
    )
