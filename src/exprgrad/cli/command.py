"""A command, and how it tells options from the formula and its values.

A formula may begin with a minus, so the first argument that is not exactly an option, or an option's
value, is the formula.  Short options are never glued to their values.  After the formula, a word that
looks like an option but is unknown is a typo.
"""

import re
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import click

from exprgrad.cli.commands import COMMANDS
from exprgrad.cli.options import Words, settle_output_form
from exprgrad.errors import RequestError

__all__ = ["FormulaCommand", "NameCommand", "load_command", "no_such_option", "options_as_typed"]


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
    """A command that takes a name or nothing, never a formula: whatever looks like an option is one."""

    takes_formula = False
    elsewhere: Mapping[str, str] = {}
    """An option that people may expect → what to use instead."""

    def get_help_option(self, ctx: click.Context) -> click.Option:
        """Return the option that all commands share."""
        return HELP

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Sort the arguments into options and others, and have click read them in that order."""
        options, others = sort_arguments(self, ctx, args, formula=self.takes_formula)
        return super().parse_args(ctx, [*options, "--", *others])

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, after settling how its answer is written."""
        settle_output_form(ctx.params)
        return super().invoke(ctx)


class FormulaCommand(NameCommand):
    """A command whose first argument that is not an option is a formula."""

    takes_formula = True

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Name the formula first, as it is typed."""
        taken = [p.metavar or "" for p in self.params if isinstance(p, click.Argument)]
        formatter.write_usage(ctx.command_path, " ".join([*taken, "[OPTIONS]"]))


def sort_arguments(
    command: NameCommand, ctx: click.Context, args: Sequence[str], *, formula: bool = True
) -> tuple[list[str], list[str]]:
    """Sort arguments into options with their values, and others, of which the first may be a formula.

    Short options become long ones: for a short one click would first search for similar options.
    """
    flags, valued, several = set[str](), set[str](), set[str]()
    long: dict[str, str] = {}
    for parameter in command.get_params(ctx):
        if isinstance(parameter, click.Option):
            (flags if parameter.is_flag else valued).update(parameter.opts)
            several.update(parameter.opts if parameter.multiple else ())
            long.update(dict.fromkeys(parameter.opts, parameter.opts[-1]))
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
            options.append(long[arg])
        elif arg in valued:
            if not queue:
                raise RequestError("usage", f"option '{arg}' needs a value").about(arg)
            refuse_second({} if arg in several else given, arg, queue[-1])
            options += [long[arg], queue.pop()]
        elif equals and head in valued and head.startswith("--"):
            refuse_second({} if head in several else given, head, arg.partition("=")[2])
            options.append(arg)
        elif equals and head in flags:
            raise RequestError(
                "usage", f"option '{head}' takes no value", help=f"write {head}"
            ).about(arg, (0, len(head)))
        else:  # an option, if it isn't two minus signs before a name with a value
            word = re.fullmatch(r"--([a-z][a-z-]{2,})(?:=[^=].*)?", arg)
            is_option = word and not any(other.startswith(f"{word[1]}=") for other in queue)
            if arg[:1] == "-" and arg[1:] and (others or not formula or is_option):
                raise refuse_option(command, ctx, arg, [*reversed(queue)], others)
            others.append(arg)
    return options, others


def refuse_second(given: dict[str, str], option: str, value: str) -> None:
    """Refuse a second value for an option, because neither should get lost."""
    if option in given:
        help = f"its first value is {given[option]}"
        if option in ("--wrt", "--of", "--tangent", "--cotangent", "--expand"):
            help = f"write {option} {given[option]},{value}"
        raise RequestError("usage", f"option '{option}' is given twice", help=help).about(option)
    given[option] = value


def options_as_typed(command: click.Command, ctx: click.Context) -> dict[str, str]:
    """Map options, and words for their values typed as options, to what should be typed.

    ``--latex`` is not an option, but its meaning is clear: ``--to latex``.
    """
    options = [p for p in command.get_params(ctx) if isinstance(p, click.Option)]
    words = {
        f"--{word}": f"{option.opts[-1]} {word}"
        for option in options
        if isinstance(option.type, Words)
        for word in option.type.choices
    }
    return words | {name: name for option in options for name in option.opts}


def no_such_option(arg: str, rest: Sequence[str], known: Mapping[str, str]) -> RequestError:
    """The error for a word that looks like an option but is not, and is followed by others.

    ``known`` has what might have been meant, as ``options_as_typed`` finds it.
    """
    from exprgrad.language.mistakes.hints import find_synonym, nearest_word

    head, equals, value = arg.partition("=")
    value, name = value if equals else next(iter(rest), ""), head.lstrip("-")
    meant = (find_synonym(f"--{value}", known) if value.isalpha() else None) or find_synonym(
        head, known
    )
    options = {name: load_command(name).params for name in COMMANDS if not meant}
    takers = [name for name, listed in options.items() if any(head in p.opts for p in listed)]
    is_value = name.isidentifier() and re.fullmatch(r"[-+.]*\d[-+.:\w]*", value)
    is_start = name in ("guess", "p0", "start")  # of other tools
    if not (meant or takers or is_start) and len(name) > 1:
        meant = nearest_word(head, known)
    is_glued = head[1] != "-" and head[:2] in known and len(head) > 2
    helps = {
        f"a value is given as NAME=VALUE, such as a={head}": name[:1].isdigit(),
        f"short options stand alone: write {head[:2]}": is_glued,
        f"did you mean '{known.get(meant or '', meant)}'?": meant,
        f"{head} is an option of {', '.join(takers[:4])}{', …' * (len(takers) > 4)}": takers,
        f"values need no option: write {value}": "=" in value,
        f"a value is given as NAME=VALUE: write {name}={value}": is_value,
        "--help lists the options": True,
    }
    return RequestError(
        "usage",
        f"there is no option '{head}'",
        help=next(help for help, applies in helps.items() if applies),
    ).about(arg, (0, len(head)))


def refuse_option(
    command: NameCommand, ctx: click.Context, arg: str, rest: Sequence[str], others: Sequence[str]
) -> RequestError:
    """The error for an unknown option of a command, with the help that the command has for it."""
    error, head = no_such_option(arg, rest, options_as_typed(command, ctx)), arg.partition("=")[0]
    error.help = command.elsewhere.get(head, error.help)
    if head == "--data":
        from exprgrad.cli.assignments import columns_as_values

        words = [*others, arg.partition("=")[2], *rest]
        error.help = columns_as_values(words) or "for a result per row, exprgrad batch takes --data"
    return error


def load_command(name: str) -> click.Command:
    """A command, by its name."""
    module = import_module(f"exprgrad.cli.commands.{COMMANDS[name]}")
    command: click.Command = getattr(module, f"{name}_command")
    return command
