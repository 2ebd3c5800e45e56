"""What there is besides one command: the list of all, the version, and a hint for a mistyped one."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import click

from exprgrad import __version__
from exprgrad.errors import RequestError

__all__ = ["Group"]


class Group(click.Group):
    """All commands, in the order of ``names``, each loaded when it is looked at."""

    def __init__(self, names: Sequence[str], load: Callable[[str], click.Command]) -> None:
        super().__init__(
            "exprgrad",
            callback=self.show,
            invoke_without_command=True,
            context_settings={"help_option_names": ["-h", "--help"]},
            help="Type a formula, and see its value, its gradient and why.",
            epilog='Example: exprgrad grad "(a+b)*c" a=2 b=-3 c=10',
        )
        click.version_option(__version__, message="%(prog)s %(version)s")(self)
        self.names = names
        self.load = load

    def show(self) -> None:
        """Show the list, where there is no command."""
        ctx = click.get_current_context()
        if ctx.invoked_subcommand is None:
            click.echo(ctx.get_help())

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands' names, in order."""
        return list(self.names)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """A command, if there is one of that name."""
        return self.load(cmd_name) if cmd_name in self.names else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or say which one was probably meant."""
        word = args[0]
        if word in self.names:
            return super().resolve_command(ctx, args)
        from exprgrad.language.mistakes.hints import nearest

        known = nearest(word, self.names) if word.isalpha() else None
        help = f"did you mean '{known}'?" if known else "--help lists the commands"
        if known is None and re.search(r"[^\w-]", word) and not word.startswith("--"):
            help = f'to differentiate a formula, write exprgrad grad "{word}"'
        raise RequestError("usage", f"there is no command '{word}'", help=help).about(word)
