"""The commands, in files named after those that they hold, each loaded when it is called for."""

from __future__ import annotations

import os

__all__ = ["COMMANDS"]

LESSON = (
    "eval", "grad", "paths", "plot", "descend", "check", "jac", "hess", "jvp", "vjp", "diff", "code",
    "dot", "explore", "batch", "fit", "minimize", "solve", "ops", "constants",
)  # fmt: skip
"""The order in which commands are listed; others follow."""


def find_commands() -> dict[str, str]:
    """Command → its module: the files in ``commands`` are named after the commands that they hold."""
    folder = os.path.dirname(__file__)  # noqa: PTH120
    stems = [file[:-3] for file in sorted(os.listdir(folder)) if file[:1] != "_"]  # noqa: PTH208
    found = {name: stem for stem in stems for name in stem.split("_")}
    listed = [name for name in LESSON if name in found]
    return {name: found[name] for name in dict.fromkeys([*listed, *found])}


COMMANDS = find_commands()
"""Command → the module that has it, as ``NAME_command``; in the order of the lesson."""
