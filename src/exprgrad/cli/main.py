"""The process: which command it runs, its streams, its exit status, and the one place that turns errors
into exit statuses.

0: done.  1: it ran, and the answer is no.  2: the request is wrong.  130: interrupted.

Most of the time of a small request is spent on starting and ending, so nothing is imported here at first,
only the one command that is called for is loaded, and the process ends as soon as its answer is out.
"""

from __future__ import annotations

import gc
import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    import click

__all__ = ["COMMANDS", "load", "main", "run"]

LESSON = (
    "eval", "grad", "paths", "descend", "check", "jac", "hess", "jvp", "vjp", "diff", "code", "dot",
    "explore", "ops",
)  # fmt: skip
"""The order in which commands are listed; others follow."""
GARBAGE = 50_000
"""How many more objects call for a look for garbage: what starting up makes is none."""


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


def start(argv: list[str]) -> object:
    """Run the command that the first argument names; all else is about the commands."""
    word, *rest = argv or [""]
    if word in COMMANDS:
        return load(word).main(rest, prog_name=f"exprgrad {word}", standalone_mode=False)
    from exprgrad.cli.group import Group

    return Group(list(COMMANDS), load).main(argv, prog_name="exprgrad", standalone_mode=False)


def main(argv: list[str]) -> int:
    """Run one command line and return its exit status."""
    import click

    from exprgrad.errors import ExprgradError, RequestError

    try:
        try:
            status = start(argv)
            sys.stdout.flush()
            return status if isinstance(status, int) else 0
        except click.NoSuchOption as error:
            from exprgrad.cli.request import unknown_option

            known = [name for p in error.ctx.command.params for name in p.opts] if error.ctx else []
            raise unknown_option(error.option_name, error.option_name, {*known}) from None
        except click.UsageError as error:
            path = error.ctx.command_path if error.ctx else "exprgrad"
            help = f"'{path} --help' shows the options"
            raise RequestError("usage", words(error), help=help) from None
        except click.ClickException as error:
            raise RequestError("usage", words(error)) from None
        except click.exceptions.Exit as error:
            return error.exit_code
        except click.Abort:
            return 130
        except MemoryError:
            raise RequestError("memory", "there is not enough memory for this formula") from None
    except ExprgradError as error:
        from exprgrad.cli.output import report

        command = next((arg for arg in argv if not arg.startswith("-")), None)
        report(error, command, json="--json" in argv, color=color_in(argv))
        return 2


def color_in(argv: list[str]) -> str:
    """The last value of ``--color``, for an error about arguments that could not be read."""
    color = "auto"
    for arg, following in zip(argv, [*argv[1:], ""], strict=False):
        if arg.startswith("--color="):
            color = arg.removeprefix("--color=")
        elif arg == "--color":
            color = following
    return color


def words(error: click.ClickException) -> str:
    """Click's message in the style of ours."""
    message = error.format_message().removesuffix(".")
    return message[:1].lower() + message[1:]


def run() -> NoReturn:
    """The console script: run the process's command line and exit."""
    gc.set_threshold(GARBAGE, *gc.get_threshold()[1:])
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the caller
            setattr(sys, name, open(os.devnull, "w"))  # noqa: PTH123, SIM115
    try:
        status = main(sys.argv[1:])
    except KeyboardInterrupt:
        status = 130
    except (BrokenPipeError, SystemExit):  # the reader went away; click exits over that
        discard_output()
        status = 0
    except OSError as error:
        discard_output()
        complain(f"cannot write the answer: {error.strerror or error}")
        status = 2
    leave(status)


def complain(message: str) -> None:
    """An error on stderr, if that can be."""
    from contextlib import suppress

    from exprgrad.cli.output import write

    with suppress(OSError):
        write([f"error: {message}\n"], sys.stderr)


def leave(status: int) -> NoReturn:
    """End the process without taking its modules and nodes apart one by one, which nobody waits for.

    All files are closed by now, and what stands in the streams is written.
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            status = status or 2
    os._exit(status)


def discard_output() -> None:
    """Keep a later flush from failing again: nobody reads what is still to be written."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
