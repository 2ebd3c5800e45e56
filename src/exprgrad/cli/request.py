"""What a command line asks: which command, its options, which argument is the formula, and what others are.

A formula may begin with a minus, so the first argument that is not exactly an option, or an option's
value, is the formula.  Short options are never glued to their values.  After the formula, what looks
like an option and is none is a typo.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from exprgrad.cli.commands import COMMANDS
from exprgrad.cli.output import write
from exprgrad.errors import ExprgradError, InputError, RequestError
from exprgrad.source import cut, pieces, printable

if TYPE_CHECKING:
    from exprgrad.api import Expression, Run
    from exprgrad.run.evaluation import Evaluator
    from exprgrad.run.values.uncertain import Spread

__all__ = [
    "HELP",
    "Count",
    "FormulaCommand",
    "NameCommand",
    "Request",
    "Words",
    "color_option",
    "compute",
    "digits_option",
    "digits_shown",
    "document_option",
    "evaluator_of",
    "excluded",
    "expand_option",
    "formula",
    "formula_alone",
    "listed_names",
    "load",
    "look_option",
    "output",
    "output_as",
    "picture_in",
    "read_request",
    "refuse_two_pipes",
    "resolved",
    "settle_form",
    "shape_option",
    "spellings",
    "stack",
    "start",
    "start_alone",
    "swept",
    "unknown_option",
    "with_shapes",
    "wrt_option",
]  # fmt: skip

NEXT_VALUE = r",\s*[^\W\d]\w*\s*="
"""Where another ``NAME=`` begins behind a value."""
ENDINGS = {".json": "--json", ".csv": "--csv", ".txt": ""}
"""The ending of a document → the option that writes it to stdout; a text is a table, or the bare answer."""
BELOW = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
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
    elsewhere: Mapping[str, str] = {}
    """An option that people may expect → what does it."""

    def get_help_option(self, ctx: click.Context) -> click.Option:
        """The option that all commands share."""
        return HELP

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Sort the arguments into options and others, and have click read them in that order."""
        options, others = split(self, ctx, args, formula=self.takes_formula)
        return super().parse_args(ctx, [*options, "--", *others])

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, once it is settled how its answer is written."""
        settle_form(ctx.params)
        return super().invoke(ctx)


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
    """The options with their values, and the other arguments, of which the first may be a formula.

    Short options become long ones: of others click asks first what they may be mistaken for.
    """
    flags: set[str] = set()
    valued: set[str] = set()
    once: set[str] = set()
    long: dict[str, str] = {}
    for parameter in command.get_params(ctx):
        if isinstance(parameter, click.Option):
            (flags if parameter.is_flag else valued).update(parameter.opts)
            once.update(() if parameter.multiple else parameter.opts)
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
            if arg in once:
                refuse_second(given, arg, queue[-1])
            options += [long[arg], queue.pop()]
        elif equals and head in valued and head.startswith("--"):
            if head in once:
                refuse_second(given, head, arg.partition("=")[2])
            options.append(arg)
        elif equals and head in flags:
            message = f"option '{head}' takes no value"
            raise RequestError("usage", message, help=f"write {head}").about(arg, (0, len(head)))
        elif (others or not formula) and arg.startswith("-") and arg != "-":
            error = unknown_option(arg, [*reversed(queue)], spellings(command, ctx))
            if isinstance(command, NameCommand):
                error.help = command.elsewhere.get(head, error.help)
            raise error
        else:
            others.append(arg)
    return options, others


def refuse_second(given: dict[str, str], option: str, value: str) -> None:
    """An error for an option that has a value already: neither of the two is to be lost."""
    if option in given:
        help = f"its first value is {given[option]}"
        if option in ("--wrt", "--of", "--tangent", "--cotangent", "--expand"):
            help = f"write {option} {given[option]},{value}"
        raise RequestError("usage", f"option '{option}' is given twice", help=help).about(option)
    given[option] = value


def spellings(command: click.Command, ctx: click.Context) -> dict[str, str]:
    """Every option as it is typed, and, as if it were an option, every word that one may have for a value.

    ``--latex`` is no option, but says what is meant: ``--to latex``.
    """
    options = [p for p in command.get_params(ctx) if isinstance(p, click.Option)]
    words = {
        f"--{word}": f"{option.opts[-1]} {word}"
        for option in options
        if isinstance(option.type, Words)
        for word in option.type.choices
    }
    return words | {name: name for option in options for name in option.opts}


def unknown_option(arg: str, rest: Sequence[str], known: Mapping[str, str]) -> RequestError:
    """The error for a word that looks like an option and is none, and is followed by others.

    ``known`` has what might have been meant, as ``spellings`` finds it.
    """
    from exprgrad.language.mistakes.hints import nearest, synonym

    head, equals, value = arg.partition("=")
    value, name = value if equals else next(iter(rest), ""), head.lstrip("-")
    meant = synonym(f"--{value}", known) if value.isalpha() else None
    meant = meant or synonym(head, known)
    takers = [] if meant else commands_with(head)
    if not (meant or takers) and len(head) > 2:
        meant = nearest(head, known)
    if name[:1].isdigit():
        help = f"a value is given as NAME=VALUE, such as a={head}"
    elif head[1] != "-" and head[:2] in known and len(head) > 2:
        help = f"short options stand alone: write {head[:2]}"
    elif meant:
        help = f"did you mean '{known.get(meant, meant)}'?"
    elif takers:
        help = f"{head} is an option of {', '.join(takers[:4])}{', …' * (len(takers) > 4)}"
    elif "=" in value:
        help = f"values need no option: write {value}"
    elif name.isidentifier() and re.fullmatch(r"[-+.]*\d[-+.\w]*", value):
        help = f"a value is given as NAME=VALUE: write {name}={value}"
    else:
        help = "--help lists the options"
    message = f"there is no option '{head}'"
    return RequestError("usage", message, help=help).about(arg, (0, len(head)))


def load(name: str) -> click.Command:
    """A command, by its name."""
    module = import_module(f"exprgrad.cli.commands.{COMMANDS[name]}")
    command: click.Command = getattr(module, f"{name}_command")
    return command


def commands_with(option: str) -> list[str]:
    """The commands that have an option."""
    return [name for name in COMMANDS if any(option in p.opts for p in load(name).params)]


class Words(click.types.StringParamType):
    """One of a few words; an error says which was probably meant."""

    name = "word"

    def __init__(self, *choices: str) -> None:
        self.choices = choices

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """All of them, for the help."""
        return f"[{'|'.join(self.choices)}]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The word, if it is one of them."""
        if value in self.choices:
            return str(value)
        from exprgrad.language.mistakes.hints import meant

        option = param.opts[-1] if param else "the option"
        *others, last = self.choices
        words = f"{option} takes {', '.join(others)} or {last}"
        help = meant(value, self.choices, words, also=True)
        raise RequestError("usage", f"'{value}' is no value for {option}", help=help).about(value)


class Request(NamedTuple):
    """A formula and the values given for its inputs.

    ``spelled`` has the arguments as they were typed, ``origins`` the file that a value came from.  Of what
    is uncertain ``values`` have the value alone, ``centres`` its text, and ``spread`` the rest.
    """

    text: str
    values: dict[str, object]
    spelled: dict[str, str]
    origins: dict[str, str]
    centres: Mapping[str, str] = {}
    spread: Spread | None = None

    @property
    def texts(self) -> Mapping[str, str]:
        """The texts of values, as ``Run.spelled`` has them."""
        from exprgrad.run.values.inputs import spelled

        typed = {name: argument.partition("=")[2] for name, argument in self.spelled.items()}
        return spelled({**typed, **self.centres})

    @property
    def has_ranges(self) -> bool:
        """Whether some input is given a range."""
        from exprgrad.run.values.inputs import is_range

        return any(map(is_range, self.values.values()))


def read_request(options: Mapping[str, Any], *, relates: str = "") -> Request:
    """Sort out formula and values: the formula comes from an argument, a file or standard input.

    ``relates`` is the sign of statements with two sides, ``=`` or ``~``, where it may have such.
    """
    rest, file, inputs = list(options["arguments"]), options["file"], options.get("inputs")
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
    if (
        "inputs" in options
        and options["arguments"] == (text,)
        and re.fullmatch(r"[^\W\d]\w*=[-+.0-9e]+", text)
    ):
        told = f"note: {text} is taken for the formula, which comes first, or from a pipe for -\n"
        write([told], sys.stderr)
    values: dict[str, object] = {}
    origins: dict[str, str] = {}
    if inputs is not None:
        values.update(read_inputs(inputs))
        origins.update(dict.fromkeys(values, file_label(inputs)))
    spelled: dict[str, str] = {}
    for argument in rest:
        name, value = assignment(
            argument, text if file is None else None, alone="inputs" not in options
        )
        if name in spelled:
            message = f"'{name}' is given twice"
            help = f"its first value is {spelled[name].partition('=')[2]}"
            raise InputError("given-twice", message, help=help).about(argument, (0, len(name)))
        spelled[name] = argument
        values[name] = value
        origins.pop(name, None)
    for name, given in values.items():
        if isinstance(given, str) and given.startswith("@"):
            origins[name] = file_label(given[1:])
    request = Request(
        in_our_language(text, options.get("notation"), relates=relates), values, spelled, origins
    )
    return centred(request) if "correlation" in options else request


def in_our_language(text: str, notation: str | None, *, relates: str = "") -> str:
    """A formula in LaTeX as we write it, which a note shows; any other as it is.

    With the sign that ``relates`` two sides it is of equations or models, whose sides are formulas.
    """
    if notation == "exprgrad" or ("\\" not in text and notation is None):
        return text
    from exprgrad.language.read.latex import equations_from_latex, from_latex, is_latex

    if notation is None and not is_latex(text):
        return text
    ours = equations_from_latex(text, relates) if relates else from_latex(text)
    write([f"note: read as {printable(ours)}\n"], sys.stderr)
    return ours


def file_label(path: str) -> str:
    """A file as an error calls it: its name, as far as that goes."""
    return printable(cut(os.path.basename(path), LONGEST_NAME))  # noqa: PTH119


def assignment(argument: str, formula: str | None, *, alone: bool) -> tuple[str, str]:
    """Name and value of ``NAME=VALUE``; ``alone`` where the formula takes none."""
    name, equals, value = argument.partition("=")
    second = second_assignment(value)
    if equals and second is not None:
        message = "values are separated by spaces, not by ','"
        start = len(name) + second
        more = re.sub(r"\s*=\s*", "=", argument[start + 1 :].strip())
        help = f"write {argument[:start]} {more}"
        raise InputError("usage", message, help=help).about(argument, (start, start + 1))
    if equals and name.strip().isidentifier() and value.strip()[:1] not in ("", "="):
        from exprgrad.run.values.inputs import normal

        return normal(name.strip()), value.strip()
    if equals and not value.strip():
        message = f"there is no value for '{name}'"
        help = f"write {name}=2, without spaces around the '='"
        raise InputError("usage", message, help=help).about(argument)
    below = re.sub("[₀-₉]+", lambda found: f"_{found[0].translate(BELOW)}", name.strip())
    if equals and below != name.strip() and below.isidentifier():
        message = f"'{name.strip()}' is not a name here"
        help = f"a number below the line is written behind _: {below}={value.strip()}"
        raise InputError("usage", message, help=help).about(argument, (0, len(name)))
    example = f"{argument if argument.isidentifier() else 'a'}=2"
    help = f"a value is given as NAME=VALUE without spaces, such as {example}"
    help += "; " + (
        "the formula comes from -f" if formula is None else "a formula with spaces needs quotes"
    )
    if argument.rstrip().endswith("]"):
        help = 'a list with spaces needs quotes: "x=[1, 2]"'
    if formula is not None and re.fullmatch(r"--[\w-]+|-[^\W\d]", formula):
        help = f"'{formula}' was taken for the formula; --help lists the options"
    elif (known := with_equals(argument, formula)) is not None:
        help = f"a value is given as NAME=VALUE: write {known}"
    elif alone and argument.isidentifier():
        help = f"to differentiate with respect to it, write --wrt {argument}"
    raise InputError("usage", "this is not NAME=VALUE", help=help).about(argument)


def with_equals(argument: str, formula: str | None) -> str | None:
    """A value as it should be given: ``x=3`` for ``x:3`` or ``{x: 3}``, or for 3 to the only input."""
    from exprgrad.run.values.inputs import is_plain

    found = re.fullmatch(r"\{?\s*([^\W\d]\w*)\s*:\s*([^\s,{}]+)\s*\}?", argument)
    if found:
        return f"{found[1]}={found[2]}"
    if formula is None or not is_plain(argument):
        return None
    from exprgrad.api import parse

    with suppress(ExprgradError):
        inputs = [*parse(formula).inputs]
        return f"{inputs[0]}={argument}" if len(inputs) == 1 else None
    return None


def second_assignment(value: str) -> int | None:
    """Where in a value, counted from 1, the comma stands behind which another ``NAME=`` follows."""
    if "," not in value or not re.search(NEXT_VALUE, value):
        return None
    second = re.compile(NEXT_VALUE)
    return next(
        (start for start, _ in pieces(value) if start and second.match(value, start - 1)), None
    )


def centred(request: Request) -> Request:
    """A request whose values may be uncertain, with the uncertainties apart."""
    from exprgrad.run.values.inputs import is_plain, is_uncertain

    def may_be(value: object) -> bool:
        if isinstance(value, str):
            return not is_plain(value) and is_uncertain(value)
        return isinstance(value, list)

    if not any(map(may_be, request.values.values())):
        return request
    from exprgrad.run.values.uncertain import split

    values, spread = split(request.values)
    if not spread.deviations:
        return request
    centres = {name: values[name] for name in spread.deviations}
    texts = {name: text for name, text in centres.items() if isinstance(text, str)}
    return request._replace(values=values, centres=texts, spread=spread)


def refuse_two_pipes(options: Mapping[str, Any]) -> None:
    """An error for a formula and rows that both come from standard input."""
    if "-" in options["data"] and "-" in (options["file"], *options["arguments"][:1]):
        message = "standard input cannot be both the formula and the rows"
        help = "give one of them as a file, or the formula itself"
        raise RequestError("usage", message, help=help)


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

    if path.lstrip().startswith("{"):
        help = "values follow the formula, as in x=3 y=2; a JSON object stands in a file"
        raise RequestError("file", "--inputs takes the name of a file", help=help).about(path)
    found = json_in(path)
    if not isinstance(found, dict):
        message = f"'{path}' does not hold a JSON object"
        raise RequestError("file", message, help='it should read {"a": 2, "w": [1, "pi/2"]}')
    return {name: json_value(value, name, path) for name, value in found.items()}


# Options.

F = TypeVar("F", bound=Callable[..., Any])


class Count(click.types.IntParamType):
    """A whole number from ``least`` on, and up to ``most`` where there is one."""

    name = "whole number"

    def __init__(self, least: int, most: int | None = None) -> None:
        self.least, self.most = least, most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number, if it is one of them."""
        with suppress(ValueError):
            number = int(value)
            if self.least <= number and (self.most is None or number <= self.most):
                return number
        option = param.opts[-1] if param else "the option"
        reach = (
            f"from {self.least} on" if self.most is None else f"from {self.least} to {self.most:,}"
        )
        help = f"{option} takes a whole number {reach}"
        message = f"'{value}' is no value for {option}"
        raise RequestError("usage", message, help=help).about(value)


def stack(*decorators: Callable[[F], F]) -> Callable[[F], F]:
    """Several decorators as one, the first on top."""

    def apply(function: F) -> F:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return apply


notation_option = click.option(
    "--from",
    "notation",
    type=Words("exprgrad", "latex"),
    help="The notation of the formula.  LaTeX is told by its commands.",
)
formula = stack(
    click.argument("arguments", nargs=-1, metavar="EXPR [NAME=VALUE]..."),
    click.option("-f", "--file", metavar="FILE", help="Read the formula from a file."),
    notation_option,
    click.option("--inputs", metavar="FILE", help="Read values from a JSON object."),
)
formula_alone = stack(
    click.argument("arguments", nargs=-1, metavar="EXPR"),
    click.option("-f", "--file", metavar="FILE", help="Read the formula from a file."),
    notation_option,
)
shape_option = click.option(
    "--shape",
    metavar="NAME=SIZES[,…]",
    help="Shapes of the inputs that are tensors: X=150x4,w=4.  Others are numbers.",
)
color_option = click.option(
    "--color",
    type=Words("auto", "always", "never"),
    default="auto",
    show_default=True,
    help="Use colour: auto means on a terminal, unless NO_COLOR is set.",
)


def with_digits(count: int) -> Callable[[F], F]:
    """The option that says how many digits people read, and its default."""
    return click.option(
        "--digits",
        type=Count(1, 17),
        default=count,
        show_default=True,
        metavar="N",
        help="Significant digits of the numbers people read, 1 to 17.",
    )


digits_option = with_digits(6)


look_option = click.option(
    "--look", type=Words("light", "dark"),
    help="Draw for a light page or a dark one.  An SVG follows its page by default.",
)  # fmt: skip
document_option = click.option(
    "-o", "--output", "document", metavar="FILE",
    help="Write a file: its ending, .json, .csv or .txt, says the form.",
)  # fmt: skip


def output_as(
    csv: str,
    everything: str = "Leave nothing out: every line, tensors whole.",
    document: Callable[[Any], Any] = document_option,
    *,
    digits: int = 6,
) -> Callable[[F], F]:
    """The options that say how an answer is written; what the CSV is, and what ``--all`` does."""
    return stack(
        click.option("--json", "as_json", is_flag=True, help="Print one JSON object."),
        click.option("--csv", "as_csv", is_flag=True, help=f"Print CSV, {csv}."),
        click.option("-q", "--quiet", is_flag=True, help="Print only the answer."),
        document,
        with_digits(digits),
        click.option("--all", "show_all", is_flag=True, help=everything),
        color_option,
        click.option(
            "--strict", is_flag=True, help="Exit with 1 if there is a warning, or the answer is no."
        ),
    )


output = output_as("one node per line")


expand_option = click.option(
    "--expand",
    metavar="NAME[,NAME]",
    help="Take these functions apart into simpler operations, and open calls of your own; all: whatever "
    "can be.",
)


def wrt_option(help: str) -> Callable[[F], F]:
    """The option that chooses inputs; ``help`` says what for."""
    return click.option("--wrt", metavar="NAME[,NAME]", help=help)


def settle_form(options: dict[str, Any]) -> None:
    """The one form that an answer is written in, as an option or the ending of ``-o`` says it.

    Two options, or an option and another ending, are refused.
    """
    forms = {"--json": "as_json", "--csv": "as_csv", "--quiet": "quiet"}
    chosen = [flag for flag, name in forms.items() if options.get(name)]
    if len(chosen) > 1:
        raise RequestError("usage", f"{' and '.join(chosen)} exclude each other", help="choose one")
    path = options.get("document")
    if path is None:
        return
    ending = os.path.splitext(path)[1].lower()  # noqa: PTH122
    if ending not in ENDINGS:
        from exprgrad.show.picture.picture import FORMATS, misnamed

        help = "the endings are .json, .csv and .txt"
        help += "; exprgrad dot draws pictures" if ending[1:] in FORMATS else ""
        raise misnamed(path, "a document's format", help)
    form = ENDINGS[ending]
    if chosen and chosen[0] != (form or "--quiet"):
        message = f"{chosen[0]} and -o {path} exclude each other: the ending says the form"
        raise RequestError("usage", message, help=f"leave out {chosen[0]}")
    if form:
        options[forms[form]] = True


def picture_in(options: dict[str, Any]) -> str:
    """The format of the picture that ``-o`` asks for, as ``path``; or else it is where the answer goes.

    Raises ``MissingExtraError`` where no picture can be drawn, so that nothing is computed in vain.
    """
    path = options["path"]
    if path is not None and not path.lower().endswith(tuple(ENDINGS)):
        from exprgrad.show.picture.plots import matplotlib, plot_format

        format = plot_format(path)
        matplotlib()
        return format
    options["document"] = path
    settle_form(options)
    if options["look"] is not None:
        help = "write one with -o FILE.svg, .png or .pdf"
        raise RequestError("usage", "--look is for pictures", help=help)
    return ""


def digits_shown(options: Mapping[str, Any]) -> int:
    """How many digits of an answer have to be right: those of a table, or 6 where all are printed."""
    from exprgrad.explain.diagnostics import COUNTED

    is_table = not (options["as_json"] or options["as_csv"] or options["quiet"])
    digits: int = options["digits"]
    return digits if is_table else COUNTED


def excluded(option: str, others: Mapping[str, object], help: str = "choose one") -> None:
    """Refuse an option beside others, each with whether it is given."""
    for other, is_given in others.items():
        if is_given:
            raise RequestError("usage", f"{option} and {other} exclude each other", help=help)


def listed_names(listed: str | None, option: str = "--wrt") -> list[str] | None:
    """The names in the value of ``--wrt``, or of another option; None without the option."""
    if listed is None:
        return None
    names = [name.strip() for name in listed.split(",")]
    if "" not in names:
        return names
    place = len(",".join(listed.split(",")[: names.index("")]))
    help = f"names are separated by commas: {option} a,b"
    raise RequestError("usage", "a name is missing", help=help).about(listed, (place, place + 1))


# Expressions.


def start(options: Mapping[str, Any], *, values: bool = True) -> tuple[Expression, Request]:
    """The expression of a command line, taken apart as ``--expand`` says, and the request itself.

    ``values``, if there are any, are read before that: so errors about them show the formula as it was
    typed.  A note says if nothing can be taken apart.
    """
    from exprgrad.api import parse

    request = read_request(options)
    expression, expand = parse(request.text), options.get("expand")
    if expand is None:
        return expression, request
    from exprgrad.graph.graph import same

    if (values or request.values) and not request.has_ranges:
        resolved(expression, request)
    simpler = expression.expand(listed_names(expand, "--expand") or ())
    if same(simpler.graph, expression.graph) and simpler.graph.calls == expression.graph.calls:
        write([f"note: the formula has nothing to take apart for --expand {expand}\n"], sys.stderr)
    return simpler, request


def resolved(expression: Expression, request: Request) -> dict[str, Any]:
    """Every input's value, with the arguments at hand for errors; files are read once."""
    from exprgrad.run.values.inputs import resolve

    values = resolve(expression.graph, expression.text, request.values, request.spelled)
    request.values.update(values)
    return values


def evaluator_of(expression: Expression, request: Request) -> tuple[Evaluator, dict[str, Any]]:
    """What evaluates an expression, and its values; an error about shapes names their files."""
    values = resolved(expression, request)
    return expression.evaluator(values, request.origins), values


def compute(
    expression: Expression, request: Request, wrt: Sequence[str] | None = None, *, grad: bool = True
) -> Run:
    """Evaluate or differentiate."""
    from exprgrad.api import Run
    from exprgrad.run.values.inputs import select

    evaluator, values = evaluator_of(expression, request)
    texts = request.texts
    if grad:
        run = expression.swept(evaluator, values, select(expression.graph, wrt), texts)
    else:
        run = Run.of(expression.text, evaluator, values, spelled=texts)
    run.spread = request.spread
    return run


def swept(options: Mapping[str, Any], *, grad: bool = True) -> Run:
    """The run that a command line asks for: of both sweeps, or of the forward one."""
    expression, request = start(options)
    return compute(expression, request, listed_names(options.get("wrt")), grad=grad)


def with_shapes(expression: Expression, sizes: str) -> Expression:
    """The expression with the shapes of its inputs, given the value of ``--shape``."""
    from exprgrad.api import Expression
    from exprgrad.cli.assignments import shapes_in
    from exprgrad.run.values.inputs import declared

    graph = expression.graph
    return Expression(expression.text, graph, shapes=declared(graph, shapes_in(sizes)))


MISTAKEN = {"e": "d", "E": "D", "i": "h", "I": "H", "Pi": "", "PI": ""}
"""An input that is a constant elsewhere → the letter before it: beside that, it is just the next one."""


def start_alone(options: Mapping[str, Any], command: str) -> Expression:
    """The expression of a command that takes no values: its answer holds for all of them.

    A note says where ``--shape`` may be missing, or where a name is no constant here.
    """
    expression, request = start(options)
    sizes = options["shape"]
    for name in request.values:
        argument = request.spelled[name]
        message = f"{command} takes no values: its answer holds for all of them"
        help = f'for numbers at a point, write exprgrad grad "…" {argument}'
        raise RequestError("usage", message, help=help).about(argument)
    from exprgrad.cli.assignments import missing_shapes

    if sizes is not None:
        expression = with_shapes(expression, sizes)
    missing = missing_shapes(expression.typed, expression.shapes)
    if missing:
        listed = ", ".join(missing[:4] + ["…"][: len(missing) - 4])
        numbers = "count as numbers" if missing[1:] else "counts as a number"
        hint = f"for a tensor give its shape: --shape {missing[0]}=150x4"
        write([f"note: {listed} {numbers}; {hint}\n"], sys.stderr)
    inputs = expression.typed.inputs
    for name in [name for name in inputs if name in MISTAKEN and MISTAKEN[name] not in inputs]:
        from exprgrad.language.mistakes.hints import value_hint

        write([f"note: '{name}' is an input here; {value_hint(name)}\n"], sys.stderr)
    return expression
