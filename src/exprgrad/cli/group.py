"""What there is besides one command: the list of all, the version, and a hint for a mistyped one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec

import click

from exprgrad import __version__
from exprgrad.cli.command import load, spellings, unknown_option
from exprgrad.errors import RequestError

__all__ = ["Group", "behind_options"]

EXTRAS = {
    "draw": "pygraphviz", "native": "llvmlite", "data": "pyarrow", "cluster": "distributed", "fit": "scipy",
    "plot": "matplotlib", "jax": "jax",
}  # fmt: skip
"""Extra → the module that it is there for."""
ABSENT = {
    "integrate": "there are no integrals here, only derivatives",
    "simplify": "only derivatives are simplified: 'diff' writes them",
}
"""Commands that people may expect and that are not there, and what to say of them."""


def show_version(ctx: click.Context, parameter: click.Parameter, wanted: bool) -> None:
    """Print the version and which extras are there, and exit, if that is wanted."""
    if not wanted:
        return
    found = {extra: find_spec(module) is not None for extra, module in EXTRAS.items()}
    parts = [
        f"{what}: {', '.join(extra for extra, there in found.items() if there == is_there)}"
        for what, is_there in (("extras", True), ("not installed", False))
        if is_there in found.values()
    ]
    click.echo(f"exprgrad {__version__}\n{'; '.join(parts)}")
    ctx.exit()


def behind_options(args: Sequence[str]) -> list[str]:
    """What follows the options of ``grad``, and their values, that a command line begins with."""
    options = [p for p in load("grad").params if isinstance(p, click.Option)]
    flags = {name: option.is_flag for option in options for name in option.opts}
    rest = list(args)
    while rest:
        head, equals, _ = rest[0].partition("=")
        if head not in flags:
            break
        del rest[: 1 if flags[head] or equals else 2]
    return rest


class Group(click.Group):
    """All commands, in the order of ``names``, each loaded when it is looked at."""

    def __init__(self, names: Sequence[str], load: Callable[[str], click.Command]) -> None:
        super().__init__(
            "exprgrad",
            callback=self.show,
            invoke_without_command=True,
            context_settings={"help_option_names": ["-h", "--help"]},
            help="Type a formula, and see its value, its gradient and why.",
            epilog='A formula alone is for grad: exprgrad "(a+b)*c" a=2 b=-3 c=10',
        )
        shown = click.Option(
            ["--version"], is_flag=True, is_eager=True, expose_value=False, callback=show_version,
            help="Show the version and the extras that are there, and exit.",
        )  # fmt: skip
        self.params.append(shown)
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

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Refuse an option that is a command's, or nobody's; ``--help grad`` is ``grad --help``."""
        if args[:1] in (["-h"], ["--help"]) and args[1:2] and args[1] in self.names:
            args = [args[1], "--help"]
        if args[:1] == ["--version"]:
            args = args[:1]
        if args and args[0].startswith("-"):
            head = args[0].partition("=")[0]
            known = {name for parameter in self.get_params(ctx) for name in parameter.opts}
            if head not in known:
                args = self.without_options(ctx, args)
        return super().parse_args(ctx, args)

    def without_options(self, ctx: click.Context, args: list[str]) -> list[str]:
        """What follows options of ``grad``, if it is no command; raise an error for all else."""
        rest = behind_options(args)
        if len(rest) == len(args):
            options = [name for parameter in load("grad").params for name in parameter.opts]
            known = dict(zip(options, options, strict=True)) | spellings(self, ctx)
            raise unknown_option(args[0], args[1:], known)
        if rest[0] in self.names:
            first = " ".join(args[: len(args) - len(rest)])
            help = f"options follow the command: exprgrad {rest[0]} {first} …"
            message = f"'{rest[0]}' is a command, and comes first"
            raise RequestError("usage", message, help=help).about(rest[0])
        return rest

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or say which one was probably meant."""
        word, *rest = args
        if word in self.names:
            return super().resolve_command(ctx, args)
        from exprgrad.language.mistakes.hints import guess
        from exprgrad.language.read.builder import CONSTANTS

        help = ABSENT.get(word.casefold())
        known = None if help else guess(word, self.names)
        if word == "help" and rest:
            known = guess(rest[0], self.names)
            known = known and f"exprgrad {known} --help"
        elif word in ("help", "version"):
            known = f"exprgrad --{word}"
        if known is None and any(arg.startswith(f"{word}=") for arg in rest):
            help = help or f"as a formula it follows a command: exprgrad grad {word}"
        if word in CONSTANTS:
            help = f"as a formula it follows a command: exprgrad eval {word}"
        help = help or (f"did you mean '{known}'?" if known else "--help lists the commands")
        raise RequestError("usage", f"there is no command '{word}'", help=help).about(word)
