"""The command ``ops``: the rows of the op table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from exprgrad.cli.answer import Answer, give_answer, write_text
from exprgrad.cli.command import NameCommand
from exprgrad.cli.options import (
    color_option,
    csv_option,
    document_option,
    is_for_people,
    json_option,
    refuse_together,
)
from exprgrad.errors import RequestError

if TYPE_CHECKING:
    from exprgrad.show.text.operations import Row
    from exprgrad.show.text.table import Screen, Table

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
def ops_command(names: Sequence[str], looks_for_faults: bool, **options: Any) -> int:
    """The operations: derivative, domain, kinks, gate pattern."""
    from exprgrad.show.documents.document import csv_rows
    from exprgrad.show.text import operations
    from exprgrad.show.text.table import Column, Table

    name = names[0] if names else None
    if len(names) > 1:
        raise RequestError(
            "usage",
            f"'{names[1]}' is one name too many",
            help=f"ask for one at a time: exprgrad ops {names[1]}",
        ).about(names[1])
    if looks_for_faults:
        others = {"--csv": options["as_csv"], "--output": options["document"]}
        refuse_together("--lint", others)
        return give_answer(faults_answer(operations.find_rows(name)), options)
    word = operations.parse_operation_name(name)[0] if name is not None else ""
    if word in operations.STANDING_FOR and is_for_people(options) and not options["document"]:
        write_text(["{}: stands for {}\n".format(*operations.STANDING_FOR[word])])
        return 0
    rows = operations.find_rows(name)

    def lay_out(screen: Screen) -> Iterator[str | Table]:
        if name is None:
            yield from operations.overview_parts(rows)
        elif len(rows) > 2:
            columns = [Column("operation", style="bold"), Column("what it is", flexible=True)]
            yield Table(columns, [[operations.operation_usage(row), row.about] for row in rows])
        else:
            yield "\n".join(map(operations.operation_details, rows)).removesuffix("\n")

    fields = operations.operations_fields(rows).items()
    lines = csv_rows(operations.CSV_COLUMNS, rows)
    return give_answer(Answer("ops", None, fields, lines, (), lay_out), options)


def faults_answer(rows: Sequence[Row]) -> Answer:
    """List what rows lack, a line each; the status is 1 if anything is missing."""
    from exprgrad.show.text.row_faults import find_row_faults

    faults = [
        {"operation": row.name, "message": fault} for row in rows for fault in find_row_faults(row)
    ]
    clean = f"nothing is missing: {len(rows)} row{'s' * (len(rows) != 1)} looked at"
    lines = ["{operation}: {message}".format(**fault) for fault in faults] or [clean]
    fields = {"faults": faults}.items()
    return Answer("ops", None, fields, (), (), lambda _: lines, is_no=bool(faults))
