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
from errno import EINVAL
from typing import TYPE_CHECKING, NoReturn

from exprgrad.cli.commands import COMMANDS

if TYPE_CHECKING:
    import click

__all__ = ["main", "run"]

GARBAGE = 50_000
"""New objects before garbage is collected: starting up creates none."""


def is_formula(word: str) -> bool:
    """Whether a word in a command's place is a formula: no bare word, and no option."""
    if word[:2] == "--":
        return not word[2:].partition("=")[0].replace("-", "_").isidentifier()
    if word[:1] == "-":
        return not (len(word) == 2 and word[1].isalpha())
    if word == "" or word.isascii():
        return word != "" and not word.isidentifier()
    from exprgrad.language.read.names import plain_name

    return "·" in word or plain_name(word) is None  # a name to isidentifier, but a product


def has_options_first(argv: list[str]) -> bool:
    """Whether a formula follows options of ``grad``, or is a name with a minus, as in ``-x x=3``."""
    if argv[0][:1] != "-" or argv[0] in ("-h", "--help"):
        return False
    from exprgrad.cli.commands.eval_grad import behind_options

    rest = behind_options(argv)
    if len(rest) == len(argv):
        return any(arg.startswith(f"{argv[0][1:]}=") for arg in rest)
    return not rest or rest[0][:1] == "-" or is_formula(rest[0])


def run_named_command(argv: list[str]) -> object:
    """Run the command that the first argument names, or else the group of all commands."""
    word, *rest = argv or [""]
    if not argv and "_EXPRGRAD_COMPLETE" in os.environ:
        from exprgrad.cli.group import complete_line

        return complete_line(os.environ["_EXPRGRAD_COMPLETE"])
    from exprgrad.cli.command import load_command

    if word in COMMANDS:
        command = load_command(word)
        return command.main(rest, prog_name=f"exprgrad {word}", standalone_mode=False, obj=argv)
    from exprgrad.cli.group import Group

    return Group().main(argv, prog_name="exprgrad", standalone_mode=False, obj=argv)


def main(argv: list[str]) -> int:
    """Run one command line, where a formula alone means ``grad``, and return its exit status."""
    from functools import cache

    import click

    from exprgrad.errors import Asker, ExprgradError, RequestError, missing_package
    from exprgrad.source import printable_text

    def write_note(text: str) -> None:
        sys.stderr.write(f"note: {printable_text(text)}\n")

    before = Asker.by_command, Asker.take_note
    Asker.by_command, Asker.take_note = True, cache(write_note)  # each note once
    if argv and argv[0] not in COMMANDS and (is_formula(argv[0]) or has_options_first(argv)):
        argv = ["grad", *argv]
    try:
        try:
            status = run_named_command(argv)
            sys.stdout.flush()
            return status if isinstance(status, int) else 0
        except click.UsageError as error:
            path = error.ctx.command_path if error.ctx else "exprgrad"
            help = f"'{path} --help' shows the options"
            if "'--data'" in click_message(error):
                from exprgrad.data.formats import BY_ENDING
                from exprgrad.data.places import PACKED

                endings = (*BY_ENDING, *PACKED)
                files = [arg.lstrip("@") for arg in argv if arg.lower().endswith(endings)]
                help = f"write --data {files[0]}" if files else help
            raise RequestError("usage", click_message(error), help=help) from None
        except click.ClickException as error:
            raise RequestError("usage", click_message(error)) from None
        except click.exceptions.Exit as error:
            return error.exit_code
        except click.Abort:
            return 130
        except ModuleNotFoundError as error:
            raise missing_package(error) from None
        except MemoryError:
            raise RequestError("memory", "there is not enough memory for this formula") from None
    except ExprgradError as error:
        from exprgrad.cli.answer import report_error

        command = next((arg for arg in argv if not arg.startswith("-")), None)
        report_error(error, command, json="--json" in argv, color=color_in(argv))
        return 2
    finally:
        Asker.by_command, Asker.take_note = before


def color_in(argv: list[str]) -> str:
    """The last value of ``--color``, for an error about arguments that could not be read."""
    color = "auto"
    for arg, following in zip(argv, [*argv[1:], ""], strict=False):
        if arg.startswith("--color="):
            color = arg.removeprefix("--color=")
        elif arg == "--color":
            color = following
    return color


def click_message(error: click.ClickException) -> str:
    """Click's message in the style of ours."""
    message = error.format_message().removesuffix(".")
    return message[:1].lower() + message[1:]


def run() -> NoReturn:
    """The console script: run the process's command line and exit."""
    gc.set_threshold(GARBAGE, *gc.get_threshold()[1:])
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the caller
            setattr(sys, name, open(os.devnull, "w"))  # noqa: PTH123, SIM115
        elif sys.platform == "win32":  # what is written is the same everywhere, byte by byte
            getattr(sys, name).reconfigure(newline="\n")
    try:
        status = main(sys.argv[1:])
    except KeyboardInterrupt:
        status = 130
    except ModuleNotFoundError as error:  # of click or Rich, without which nothing can be reported
        from exprgrad.errors import missing_package

        sys.stderr.write(f"error: {missing_package(error).message}\n")
        status = 2
    except SystemExit:  # so click says that the reader went away
        discard_output()
        status = 0
    except OSError as error:
        discard_output()
        is_windows = (
            sys.platform == "win32"
        )  # which calls a reader that went away an invalid argument
        has_no_reader = isinstance(error, BrokenPipeError) or (is_windows and error.errno == EINVAL)
        status = 0 if has_no_reader else 2
        if status:
            print_error(f"cannot write the answer: {error.strerror or error}")
    exit_at_once(status)


def print_error(message: str) -> None:
    """Print an error on stderr, if stderr can be written."""
    from contextlib import suppress

    from exprgrad.cli.answer import write_text

    with suppress(OSError):
        write_text([f"error: {message}\n"], sys.stderr)


def exit_at_once(status: int) -> NoReturn:
    """End the process without taking its modules and nodes apart one by one, which would only cost time.

    All files are closed by now, and the streams are flushed.
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            status = status or 2
    os._exit(status)


def discard_output() -> None:
    """Keep a later flush from failing again: the rest of the output has no reader."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
