"""The command ``exprgrad``: its group, and the one place that turns errors into exit statuses.

0: done.  1: it ran, and the answer is no.  2: the request is wrong.  130: interrupted.
"""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

import click

from exprgrad import __version__
from exprgrad.cli.arguments import unknown_option
from exprgrad.cli.commands import COMMANDS
from exprgrad.cli.output import report, write
from exprgrad.errors import ExprgradError, RequestError
from exprgrad.source import Source

__all__ = ["group", "main", "run"]


class Group(click.Group):
    """The group: commands in the order of the lesson, and a hint for a mistyped one."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands as they were declared."""
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or say which one was probably meant."""
        word = args[0]
        if word in self.commands:
            return word, self.commands[word], args[1:]
        from exprgrad.language.hints import nearest

        known = nearest(word, self.commands) if word.isalpha() else None
        help = f"did you mean '{known}'?" if known else "--help lists the commands"
        if known is None and re.search(r"[^\w-]", word) and not word.startswith("--"):
            help = f'to differentiate a formula, write exprgrad grad "{word}"'
        source = Source(word, is_expression=False)
        message = f"there is no command '{word}'"
        raise RequestError("usage", message, source=source, span=(0, len(word)), help=help)


@click.group(
    cls=Group,
    commands={command.name or "": command for command in COMMANDS},
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog='Example: exprgrad grad "(a+b)*c" a=2 b=-3 c=10',
    no_args_is_help=False,
    invoke_without_command=True,
)
@click.version_option(__version__, message="%(prog)s %(version)s")
@click.pass_context
def group(ctx: click.Context) -> None:
    """Type a formula, and see its value, its gradient and why."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main(argv: list[str]) -> int:
    """Run one command line and return its exit status."""
    command = next((arg for arg in argv if not arg.startswith("-")), None)
    color = "auto"
    for arg, following in zip(argv, [*argv[1:], ""], strict=False):
        if arg.startswith("--color="):
            color = arg.removeprefix("--color=")
        elif arg == "--color":
            color = following
    try:
        try:
            status = group.main(argv, prog_name="exprgrad", standalone_mode=False)
            sys.stdout.flush()
            return status if isinstance(status, int) else 0
        except click.NoSuchOption as error:
            known = [name for p in error.ctx.command.params for name in p.opts] if error.ctx else []
            raise unknown_option(error.option_name, error.option_name, {*known}) from None
        except click.UsageError as error:
            raise RequestError("usage", words(error), help=usage_help(error)) from None
        except click.ClickException as error:
            raise RequestError("usage", words(error)) from None
        except MemoryError:
            raise RequestError("memory", "there is not enough memory for this formula") from None
    except ExprgradError as error:
        report(error, command, json="--json" in argv, color=color)
        return 2


def words(error: click.ClickException) -> str:
    """Click's message in the style of ours."""
    message = error.format_message().removesuffix(".")
    return message[:1].lower() + message[1:]


def usage_help(error: click.UsageError) -> str:
    """Where to read more about a command."""
    path = error.ctx.command_path if error.ctx else "exprgrad"
    return f"'{path} --help' shows the options"


def run() -> NoReturn:
    """The console script: run the process's command line and exit."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the caller
            setattr(sys, name, Path(os.devnull).open("w"))  # noqa: SIM115
    try:
        status = main(sys.argv[1:])
    except (KeyboardInterrupt, click.Abort):
        status = 130
    except click.exceptions.Exit as error:
        status = error.exit_code
    except (BrokenPipeError, SystemExit):  # the reader went away; click exits over that
        discard_output()
        status = 0
    except OSError as error:
        discard_output()
        with suppress(OSError):
            write([f"error: cannot write the answer: {error.strerror or error}\n"], sys.stderr)
        status = 2
    sys.exit(status)


def discard_output() -> None:
    """Keep the interpreter from complaining about stdout when it flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
