"""The process: its streams, its exit status, and the one place that turns errors into exit statuses.

0: done.  1: it ran, and the answer is no.  2: the request is wrong.  130: interrupted.

Most of the time of a small request is spent on starting and ending, so nothing is imported here at first,
and the process ends as soon as its answer is out.
"""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    import click

__all__ = ["main", "run"]

GARBAGE = 50_000
"""How many more objects call for a look for garbage: what starting up makes is none."""


def main(argv: list[str]) -> int:
    """Run one command line and return its exit status."""
    import click

    from exprgrad.cli.group import group
    from exprgrad.errors import ExprgradError, RequestError

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
            from exprgrad.cli.request import unknown_option

            known = [name for p in error.ctx.command.params for name in p.opts] if error.ctx else []
            raise unknown_option(error.option_name, error.option_name, {*known}) from None
        except click.UsageError as error:
            raise RequestError("usage", words(error), help=usage_help(error)) from None
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
