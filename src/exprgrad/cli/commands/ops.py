"""The command ``ops``: the rows of the op table."""

from __future__ import annotations

import click

from exprgrad.cli.output import put_parts, write
from exprgrad.cli.request import NameCommand, color_option
from exprgrad.errors import RequestError

__all__ = ["ops_command"]


@click.command("ops", cls=NameCommand)
@click.argument("names", nargs=-1, metavar="[NAME]")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@color_option
def ops_command(names: tuple[str, ...], as_json: bool, color: str) -> int:
    """The operations: derivative, domain, kinks, gate pattern."""
    from exprgrad.show.text import operations

    name = names[0] if names else None
    if len(names) > 1:
        help = f"ask for one at a time: exprgrad ops {names[1]}"
        message = f"'{names[1]}' is one name too many"
        raise RequestError("usage", message, help=help).about(names[1])
    rows = operations.find(name)
    if as_json:
        write([operations.operations_document(rows)])
    elif name is None:
        put_parts(lambda _: operations.overview_parts(rows), color)
    else:
        write(["\n".join(map(operations.details, rows))])
    return 0
