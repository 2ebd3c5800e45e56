"""The command ``ops``: the rows of the op table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import click

from exprgrad.cli.answer import write_parts, write_text
from exprgrad.cli.command import NameCommand
from exprgrad.cli.options import (
    color_option,
    csv_option,
    document_option,
    json_option,
    refuse_together,
)
from exprgrad.errors import RequestError

__all__ = ["ops_command"]


@click.command("ops", cls=NameCommand)
@click.argument("names", nargs=-1, metavar="[NAME]")
@json_option
@csv_option("one operation per line")
@document_option
@click.option(
    "--lint", "looks_for_faults", is_flag=True,
    help="Say what rows of the table lack, a sentence each; the status is 1 if anything is missing.",
)  # fmt: skip
@color_option
def ops_command(
    names: Sequence[str],
    as_json: bool,
    as_csv: bool,
    document: str | None,
    looks_for_faults: bool,
    color: str,
) -> int:
    """The operations: derivative, domain, kinks, gate pattern."""
    from exprgrad.show.picture.picture import write_file
    from exprgrad.show.text import operations

    name = names[0] if names else None
    if len(names) > 1:
        raise RequestError(
            "usage",
            f"'{names[1]}' is one name too many",
            help=f"ask for one at a time: exprgrad ops {names[1]}",
        ).about(names[1])
    if looks_for_faults:
        refuse_together("--lint", {"--csv": as_csv, "--output": document})
        return write_row_faults(operations.find_rows(name), as_json)
    word = operations.parse_operation_name(name)[0] if name is not None else ""
    if word in operations.STANDING_FOR and not (as_json or as_csv or document):
        write_text(["{}: stands for {}\n".format(*operations.STANDING_FOR[word])])
        return 0
    rows = operations.find_rows(name)
    pieces = operation_pieces(rows, name, as_json, as_csv)
    if document is not None:
        write_file(pieces, document)
    elif name is None and not (as_json or as_csv):
        write_parts(lambda _: operations.overview_parts(rows), color)
    else:
        write_text(pieces)
    return 0


def operation_pieces(
    rows: Sequence[Any], name: str | None, as_json: bool, as_csv: bool
) -> Iterator[str]:
    """The rows in the form that is asked for, piece by piece."""
    from exprgrad.show.documents.document import csv_line
    from exprgrad.show.text import operations
    from exprgrad.show.text.table import plain_table

    if as_json:
        yield operations.operations_document(rows)
    elif as_csv:
        yield from map(csv_line, operations.operation_rows(rows))
    elif name is not None and len(rows) > 2:
        yield plain_table(operations.search_results(rows))
    elif name is not None:
        yield "\n".join(map(operations.operation_details, rows))
    else:
        for part in operations.overview_parts(rows):
            yield (part if isinstance(part, str) else plain_table(part)) + "\n"


def write_row_faults(rows: Sequence[Any], as_json: bool) -> int:
    """Write what rows lack, a line each; the status is 1 if that is anything."""
    from exprgrad.show.documents.document import small_document
    from exprgrad.show.text.row_faults import find_row_faults

    faults = [
        {"operation": row.name, "message": fault} for row in rows for fault in find_row_faults(row)
    ]
    clean = f"nothing is missing: {len(rows)} row{'s' * (len(rows) != 1)} looked at"
    lines = ["{operation}: {message}".format(**fault) for fault in faults] or [clean]
    write_text(
        f"{line}\n" for line in ([small_document("ops", faults=faults)] if as_json else lines)
    )
    return int(bool(faults))
