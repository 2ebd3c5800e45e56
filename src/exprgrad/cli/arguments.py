"""Which argument is the formula, and what the others are: decided before click reads them.

A formula may begin with a minus, so the first argument that is not exactly an option, or an option's
value, is the formula.  Short options are never glued to their values.  After the formula, what looks
like an option and is none is a typo.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from typing import NamedTuple

import click

from exprgrad.errors import InputError, RequestError
from exprgrad.source import Source, cut, pieces, printable

__all__ = ["HELP", "FormulaCommand", "NameCommand", "Request", "read_request", "unknown_option"]

SECOND = r",\s*[^\W\d]\w*\s*="
"""Where another ``NAME=`` begins behind a value."""
LONGEST_NAME = 40
"""Where the name of a file is cut beside a shape."""


def show_help(ctx: click.Context, parameter: click.Parameter, wanted: bool) -> None:
    """Print a command's help and exit, if that is wanted."""
    if wanted:
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


HELP = click.Option(
    ["-h", "--help"],
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=show_help,
    help="Show this message and exit.",
)
"""The help option of every command.  Click's own looks for a translation, each time it starts."""


class NameCommand(click.Command):
    """A command that takes a name or none, and never a formula: what looks like an option is one."""

    takes_formula = False

    def get_help_option(self, ctx: click.Context) -> click.Option:
        """The option that all commands share."""
        return HELP

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Sort the arguments into options and others, and have click read them in that order."""
        options, others = split(self, ctx, args, formula=self.takes_formula)
        return super().parse_args(ctx, [*options, "--", *others])


class FormulaCommand(NameCommand):
    """A command whose first argument that is no option is a formula."""

    takes_formula = True

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Name the formula first, as it is typed."""
        taken = [p.metavar or "" for p in self.params if isinstance(p, click.Argument)]
        formatter.write_usage(ctx.command_path, " ".join([*taken, "[OPTIONS]"]))


def split(
    command: click.Command, ctx: click.Context, args: Sequence[str], *, formula: bool = True
) -> tuple[list[str], list[str]]:
    """The options with their values, and the other arguments, of which the first may be a formula."""
    flags: set[str] = set()
    valued: set[str] = set()
    once: set[str] = set()
    for parameter in command.get_params(ctx):
        if isinstance(parameter, click.Option):
            (flags if parameter.is_flag else valued).update(parameter.opts)
            once.update(() if parameter.multiple else parameter.opts)
    options: list[str] = []
    others: list[str] = []
    given: dict[str, str] = {}
    queue = list(reversed(args))
    while queue:
        arg = queue.pop()
        head, equals, _ = arg.partition("=")
        if arg == "--":
            others += reversed(queue)
            break
        if arg in flags:
            options.append(arg)
        elif arg in valued:
            if not queue:
                raise option_error(arg, len(arg), f"option '{arg}' needs a value", None)
            if arg in once:
                refuse_second(given, arg, queue[-1])
            options += [arg, queue.pop()]
        elif equals and head in valued and head.startswith("--"):
            if head in once:
                refuse_second(given, head, arg.partition("=")[2])
            options.append(arg)
        elif equals and head in flags:
            raise option_error(arg, len(head), f"option '{head}' takes no value", f"write {head}")
        elif (others or not formula) and arg.startswith("-") and arg != "-":
            raise unknown_option(arg, head, flags | valued)
        else:
            others.append(arg)
    return options, others


def refuse_second(given: dict[str, str], option: str, value: str) -> None:
    """An error for an option that has a value already: neither of the two is to be lost."""
    if option in given:
        help = f"its first value is {given[option]}"
        if option in ("--wrt", "--of", "--tangent", "--cotangent", "--expand"):
            help = f"write {option} {given[option]},{value}"
        raise option_error(option, len(option), f"option '{option}' is given twice", help)
    given[option] = value


def unknown_option(arg: str, head: str, options: set[str]) -> RequestError:
    """The error for a word that looks like an option and is none."""
    from exprgrad.language.mistakes.hints import nearest

    known = nearest(head, options) if len(head) > 2 else None
    help = f"did you mean '{known}'?" if known else "--help lists the options"
    if head[1:2].isdigit():
        help = f"a value is given as NAME=VALUE, such as a={head}"
    elif head[1] != "-" and head[:2] in options:
        help = f"short options stand alone: write {head[:2]}"
    return option_error(arg, len(head), f"there is no option '{head}'", help)


def option_error(arg: str, end: int, message: str, help: str | None) -> RequestError:
    """An error about the option at the beginning of an argument."""
    source = Source(arg, is_expression=False)
    return RequestError("usage", message, source=source, span=(0, end), help=help)


class Request(NamedTuple):
    """A formula and the values given for its inputs.

    ``spelled`` has the arguments as they were typed, ``origins`` the file that a value came from.
    """

    text: str
    values: dict[str, object]
    spelled: dict[str, str]
    origins: dict[str, str]


def read_request(arguments: Sequence[str], file: str | None, inputs: str | None) -> Request:
    """Sort out formula and values: the formula comes from an argument, a file or standard input."""
    rest = list(arguments)
    if file is not None:
        text = file_text(file)
    elif not rest:
        raise RequestError(
            "usage",
            "there is no formula",
            help='type one, such as "(a+b)*c", or use -f FILE, or - for standard input',
        )
    elif rest[0] == "-":
        text = file_text(rest.pop(0))
    else:
        text = rest.pop(0)
    values: dict[str, object] = {}
    origins: dict[str, str] = {}
    if inputs is not None:
        values.update(read_inputs(inputs))
        origins.update(dict.fromkeys(values, called(inputs)))
    spelled: dict[str, str] = {}
    for argument in rest:
        name, value = assignment(argument, text if file is None else None)
        if name in spelled:
            message = f"'{name}' is given twice"
            source = Source(argument, is_expression=False)
            help = f"its first value is {spelled[name].partition('=')[2]}"
            raise InputError("given-twice", message, source=source, span=(0, len(name)), help=help)
        spelled[name] = argument
        values[name] = value
        origins.pop(name, None)
    for name, given in values.items():
        if isinstance(given, str) and given.startswith("@"):
            origins[name] = called(given[1:])
    return Request(text, values, spelled, origins)


def called(path: str) -> str:
    """A file as an error calls it: its name, as far as that goes."""
    return printable(cut(path.rpartition("/")[2], LONGEST_NAME))


def assignment(argument: str, formula: str | None) -> tuple[str, str]:
    """Name and value of ``NAME=VALUE``."""
    name, equals, value = argument.partition("=")
    source = Source(argument, is_expression=False)
    whole = (0, len(argument))
    second = second_assignment(value)
    if equals and second is not None:
        message = "values are separated by spaces, not by ','"
        start = len(name) + second
        more = re.sub(r"\s*=\s*", "=", argument[start + 1 :].strip())
        help = f"write {argument[:start]} {more}"
        raise InputError("usage", message, source=source, span=(start, start + 1), help=help)
    if equals and name.strip().isidentifier() and value.strip()[:1] not in ("", "="):
        from exprgrad.run.values.inputs import normal

        return normal(name.strip()), value.strip()
    if equals and not value.strip():
        message = f"there is no value for '{name}'"
        help = f"write {name}=2, without spaces around the '='"
        raise InputError("usage", message, source=source, span=whole, help=help)
    example = f"{argument if argument.isidentifier() else 'a'}=2"
    help = f"a value is given as NAME=VALUE without spaces, such as {example}"
    help += "; " + (
        "the formula comes from -f" if formula is None else "a formula with spaces needs quotes"
    )
    if argument.rstrip().endswith("]"):
        help = "a list with spaces needs quotes, as in 'x=[1, 2]'"
    if formula is not None and formula.startswith("--"):
        help = f"'{formula}' was taken for the formula; --help lists the options"
    raise InputError("usage", "this is not NAME=VALUE", source=source, span=whole, help=help)


def second_assignment(value: str) -> int | None:
    """Where in a value, counted from 1, the comma stands behind which another ``NAME=`` follows."""
    if "," not in value or not re.search(SECOND, value):
        return None
    second = re.compile(SECOND)
    return next(
        (start for start, _ in pieces(value) if start and second.match(value, start - 1)), None
    )


def file_text(path: str) -> str:
    """The text of a file, or of standard input if that is ``-``."""
    from exprgrad.run.values.files import decode, read_bytes

    if path == "-":
        return decode(read_stdin(), "standard input")
    return decode(read_bytes(path), f"'{path}'")


def read_stdin() -> bytes:
    """All of standard input."""
    try:
        return sys.stdin.buffer.read() if sys.stdin is not None else b""
    except OSError as error:
        raise RequestError("file", f"cannot read standard input: {error.strerror}") from None


def read_inputs(path: str) -> dict[str, object]:
    """The values in a JSON object: numbers, constant expressions as strings, or lists of these."""
    from exprgrad.run.values.files import json_in, json_value

    found = json_in(path)
    if not isinstance(found, dict):
        message = f"'{path}' does not hold a JSON object"
        raise RequestError("file", message, help='it should read {"a": 2, "w": [1, "pi/2"]}')
    return {name: json_value(value, name, path) for name, value in found.items()}
