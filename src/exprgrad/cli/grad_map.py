"""``grad --map``: the sizes of the grads on the formula itself."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from exprgrad.cli.output import colorful, terminal_width
from exprgrad.errors import RequestError
from exprgrad.source import WIDTH

if TYPE_CHECKING:
    from exprgrad.api import Run

__all__ = ["map_text", "refuse_map"]


def refuse_map(options: dict[str, Any]) -> None:
    """Refuse ``--map`` beside what has no room for it, or speaks of other grads."""
    forms = {"--json": "as_json", "--csv": "as_csv", "--quiet": "quiet", "--trust": "show_trust"}
    for flag, name in forms.items():
        if options[name]:
            raise RequestError("usage", f"--map and {flag} exclude each other", help="choose one")
    if options["order"] is not None or options["accumulate"] == "set":
        help = "leave out one of the two"
        raise RequestError("usage", "--map applies only to the right order", help=help)


def map_text(run: Run, options: dict[str, Any]) -> str:
    """The map, with a blank line below, as it goes above a table or a trace."""
    from exprgrad.draw.text.grad_map import heat

    # A line that nobody broke would part marks from what they mark: a pipe has a width, too.
    width = terminal_width() if sys.stdout.isatty() else WIDTH
    color, whole = colorful(options["color"], sys.stdout), options["show_all"]
    return heat(run, options["digits"], whole=whole, width=width, color=color) + "\n\n"
