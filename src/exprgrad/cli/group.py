"""The commands: each is loaded when it is called for, since starting takes the most time."""

from __future__ import annotations

import os
import re
from importlib import import_module

import click

from exprgrad import __version__
from exprgrad.cli.request import HELP
from exprgrad.errors import RequestError

__all__ = ["COMMANDS", "group", "load"]

LESSON = (
    "eval", "grad", "paths", "descend", "check", "jac", "hess", "jvp", "vjp", "diff", "code", "dot",
    "explore", "ops",
)  # fmt: skip
"""The order in which commands are listed; others follow."""


def gathered() -> dict[str, str]:
    """Command → its module: the files in ``commands`` are named after the commands that they hold."""
    folder = os.path.join(os.path.dirname(__file__), "commands")  # noqa: PTH118, PTH120
    stems = [file[:-3] for file in sorted(os.listdir(folder)) if file[:1] != "_"]  # noqa: PTH208
    found = {name: stem for stem in stems for name in stem.split("_")}
    listed = [name for name in LESSON if name in found]
    return {name: found[name] for name in dict.fromkeys([*listed, *found])}


COMMANDS = gathered()
"""Command → the module that has it, as ``NAME_command``; in the order of the lesson."""


def load(name: str) -> click.Command:
    """A command, by its name."""
    module = import_module(f"exprgrad.cli.commands.{COMMANDS[name]}")
    command: click.Command = getattr(module, f"{name}_command")
    return command


class Group(click.Group):
    """The group: commands in the order of the lesson, and a hint for a mistyped one."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands' names, in order."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """A command, if there is one of that name."""
        return load(cmd_name) if cmd_name in COMMANDS else None

    def get_help_option(self, ctx: click.Context) -> click.Option:
        """The option that all commands share."""
        return HELP

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or say which one was probably meant."""
        word = args[0]
        if word in COMMANDS:
            return word, load(word), args[1:]
        from exprgrad.language.mistakes.hints import nearest

        known = nearest(word, COMMANDS) if word.isalpha() else None
        help = f"did you mean '{known}'?" if known else "--help lists the commands"
        if known is None and re.search(r"[^\w-]", word) and not word.startswith("--"):
            help = f'to differentiate a formula, write exprgrad grad "{word}"'
        raise RequestError("usage", f"there is no command '{word}'", help=help).about(word)


def show_version(ctx: click.Context, parameter: click.Parameter, wanted: bool) -> None:
    """Print the version and exit, if that is wanted."""
    if wanted:
        click.echo(f"{ctx.info_name} {__version__}")
        ctx.exit()


@click.group(
    cls=Group,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog='Example: exprgrad grad "(a+b)*c" a=2 b=-3 c=10',
    no_args_is_help=False,
    invoke_without_command=True,
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=show_version,
    help="Show the version and exit.",
)
@click.pass_context
def group(ctx: click.Context) -> None:
    """Type a formula, and see its value, its gradient and why."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
