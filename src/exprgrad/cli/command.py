"""What all commands share: which command a line asks for, its options, its formula, and how it is answered.

A formula may begin with a minus, so the first argument that is not exactly an option, or an option's
value, is the formula.  Short options are never glued to their values.  After the formula, what looks
like an option and is none is a typo.

An answer goes to stdout, diagnostics and errors to stderr; what is left is an exit status.
"""

# Without ``from __future__ import annotations``: typing would compile each field's text at every start.

import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO, TypeVar

import click

from exprgrad.cli.commands import COMMANDS
from exprgrad.errors import ExprgradError, InputError, RequestError, render
from exprgrad.source import WIDTH, cut, pieces, printable, without_controls

if TYPE_CHECKING:
    from exprgrad.api import Expression, Run
    from exprgrad.graph.graph import Graph
    from exprgrad.run.evaluation import Diagnostic, Evaluator
    from exprgrad.run.values.uncertain import Spread
    from exprgrad.show.text.table import Screen, Table

__all__ = [
    "Answer", "Count", "F", "FormulaCommand", "NameCommand", "Request", "Words", "color_option", "compute",
    "csv_option", "derivative_options", "digits_option", "digits_shown", "document_option",
    "drawing_option", "evaluator_of", "excluded", "expand_option", "former_constants", "formula",
    "formula_alone", "give", "is_read", "json_option", "listed_names", "load", "look_option", "output",
    "output_as", "path_option", "picture_in", "put_content", "put_parts", "quiet_line", "read_request",
    "report", "settle_form", "shape_option", "show_diagnostics", "spellings", "stack", "start",
    "start_alone", "starts_options", "swept", "unknown_option", "with_shapes", "write", "wrt_option",
]  # fmt: skip

NEXT_VALUE = r",\s*[^\W\d]\w*\s*="
"""Where another ``NAME=`` begins after a value."""
ENDINGS = {".json": "--json", ".csv": "--csv", ".txt": ""}
"""The ending of a document → the option that writes it to stdout; a text is a table, or the bare answer."""
LONGEST_NAME = 40
"""Where the name of a file is cut beside a shape."""
LONGEST_PIECE = 8192
"""How many characters are written at once."""
MOST_DIAGNOSTICS = 20
"""How many diagnostics people are shown."""
FOLDED = (("kink", " has a kink", "s have a kink"), ("jump", " jumps", "s jump"))
"""What is said of nodes that are left out, by code: of one, and of several."""
ASCII = str.maketrans(
    {
        "−": "-",
        "×": "x",
        "→": "->",
        "…": "...",
        "│": "|",
        "─": "-",
        "∂": "d",
        "·": ".",
        "²": "^2",
        "‖": "|",
        "±": "+-",
        **dict(zip("▁▂▃▄▅▆▇█", "_.:-=+*#", strict=True)),
        **dict(zip("┤└┬┊┈╌○●◌◇◆▼▲✕", "|++:--o@o+#v^x", strict=True)),
    }
) | dict.fromkeys(range(0x2801, 0x2900), "*")
"""What takes the place of our own signs where the output's encoding lacks them."""
OURS = {sign: plain for sign, plain in ASCII.items() if sign != ord("·")}
"""The same without the one sign that a name may have, too."""


# The command, and its arguments.


def show_help(ctx: click.Context, parameter: click.Parameter, wanted: bool) -> None:
    """Print a command's help and exit, if that was asked for."""
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
    """An option that people may expect → what does it."""

    def get_help_option(self, ctx: click.Context) -> click.Option:
        """The option that all commands share."""
        return HELP

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Sort the arguments into options and others, and have click read them in that order."""
        options, others = split(self, ctx, args, formula=self.takes_formula)
        return super().parse_args(ctx, [*options, "--", *others])

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, after settling how its answer is written."""
        settle_form(ctx.params)
        return super().invoke(ctx)


class FormulaCommand(NameCommand):
    """A command whose first argument that is not an option is a formula."""

    takes_formula = True

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Name the formula first, as it is typed."""
        taken = [p.metavar or "" for p in self.params if isinstance(p, click.Argument)]
        formatter.write_usage(ctx.command_path, " ".join([*taken, "[OPTIONS]"]))


def split(
    command: NameCommand, ctx: click.Context, args: Sequence[str], *, formula: bool = True
) -> tuple[list[str], list[str]]:
    """The options with their values, and the other arguments, of which the first may be a formula.

    Short options become long ones: of others click asks first what they may be mistaken for.
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
        elif arg[:1] == "-" and arg[1:] and (others or not formula or is_no_formula(arg, queue)):
            raise refuse_option(command, ctx, arg, [*reversed(queue)], others)
        else:
            others.append(arg)
    return options, others


def is_no_formula(arg: str, others: Sequence[str]) -> bool:
    """Whether a word with two dashes is an option's, and not a name without a sign: it has no value."""
    word = re.fullmatch(r"--([a-z][a-z-]{2,})(?:=[^=].*)?", arg)
    return word is not None and not any(other.startswith(f"{word[1]}=") for other in others)


def refuse_second(given: dict[str, str], option: str, value: str) -> None:
    """An error for an option that already has a value: neither of the two should get lost."""
    if option in given:
        help = f"its first value is {given[option]}"
        if option in ("--wrt", "--of", "--tangent", "--cotangent", "--expand"):
            help = f"write {option} {given[option]},{value}"
        raise RequestError("usage", f"option '{option}' is given twice", help=help).about(option)
    given[option] = value


def spellings(command: click.Command, ctx: click.Context) -> dict[str, str]:
    """Every option as it is typed, and every word that is an option's value, as if it were an option too.

    ``--latex`` is not an option, but says what is meant: ``--to latex``.
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
    """The error for a word that looks like an option but is not, and is followed by others.

    ``known`` has what might have been meant, as ``spellings`` finds it.
    """
    from exprgrad.language.mistakes.hints import nearest, synonym

    head, equals, value = arg.partition("=")
    value, name = value if equals else next(iter(rest), ""), head.lstrip("-")
    meant = (synonym(f"--{value}", known) if value.isalpha() else None) or synonym(head, known)
    options = {name: load(name).params for name in COMMANDS if not meant}
    takers = [name for name, listed in options.items() if any(head in p.opts for p in listed)]
    is_value = name.isidentifier() and re.fullmatch(r"[-+.]*\d[-+.:\w]*", value)
    is_start = name in ("guess", "p0", "start")  # of other tools
    if not (meant or takers or is_start) and len(name) > 1:
        meant = nearest(head, known)
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
    error, head = unknown_option(arg, rest, spellings(command, ctx)), arg.partition("=")[0]
    error.help = command.elsewhere.get(head, error.help)
    if head == "--data":
        from exprgrad.cli.assignments import columns_as_values

        words = [*others, arg.partition("=")[2], *rest]
        error.help = columns_as_values(words) or "for a result per row, exprgrad batch takes --data"
    return error


def load(name: str) -> click.Command:
    """A command, by its name."""
    module = import_module(f"exprgrad.cli.commands.{COMMANDS[name]}")
    command: click.Command = getattr(module, f"{name}_command")
    return command


def no_value(
    value: str, option: click.Parameter | None, takes: str, known: Sequence[str] = ()
) -> RequestError:
    """The error for a value that an option does not take; it says which one was probably meant."""
    from exprgrad.language.mistakes.hints import meant

    name = option.opts[-1] if option else "the option"
    return RequestError(
        "usage",
        f"'{value}' is not a value for {name}",
        help=meant(value, known, f"{name} takes {takes}", also=True),
    ).about(value)


class Words(click.types.StringParamType):
    """One of a few words; the error for any other says which was probably meant."""

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
        *others, last = self.choices
        raise no_value(value, param, f"{', '.join(others)} or {last}", self.choices)


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
    spread: "Spread | None" = None

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


def read_request(
    options: Mapping[str, Any], *, relates: str = "", alone: bool = False, uncertain: bool = False
) -> Request:
    """Sort out formula and values: the formula comes from an argument, a file or standard input.

    ``relates`` is the sign of statements with two sides, ``=`` or ``~``, where it may have such; ``alone``
    says that it takes no values, ``uncertain`` that they may be uncertain.
    """
    text, rest = formula_in(list(options["arguments"]), options["file"])
    inputs = options.get("inputs")
    if (
        not alone
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
        name, value = assignment(argument, text if options["file"] is None else None, alone=alone)
        if name in spelled:
            raise InputError(
                "given-twice",
                f"'{name}' is given twice",
                help=f"its first value is {spelled[name].partition('=')[2]}",
            ).about(argument, (0, len(name)))
        spelled[name] = argument
        values[name] = value
        origins.pop(name, None)
    for name, given in values.items():
        if isinstance(given, str) and given.startswith("@"):
            origins[name] = file_label(given[1:])
    text = in_our_language(text, options.get("notation"), values, relates=relates)
    if options.get("limit"):
        from exprgrad.graph.graph import limited

        text = limited(text, options["limit"])
    request = Request(text, values, spelled, origins)
    return centred(request) if uncertain else request


def formula_in(arguments: list[str], file: str | None) -> tuple[str, list[str]]:
    """The text of the formula, and the arguments that are left."""
    if file is not None:
        return file_text(file), arguments
    if not arguments:
        raise RequestError(
            "usage",
            "there is no formula",
            help='type one, such as "(a+b)*c", or use -f FILE, or - for standard input',
        )
    first, *rest = arguments
    return file_text(first) if first == "-" else first, rest


def in_our_language(
    text: str, notation: str | None, given: Collection[str], *, relates: str = ""
) -> str:
    """A formula in LaTeX as we write it, which a note shows; any other as it is.

    With the sign that ``relates`` two sides it is of equations or models, whose sides are formulas.
    """
    if notation == "exprgrad" or ("\\" not in text and notation is None):
        return text
    from exprgrad.language.read.latex import (
        equations_from_latex,
        from_latex,
        is_latex,
        with_elements,
    )

    if notation is None and not is_latex(text):
        return text
    ours = equations_from_latex(text, relates) if relates else from_latex(text)
    ours = with_elements(ours, given, relates or "=")
    write([f"note: read as {printable(ours)}\n"], sys.stderr)
    return ours


def file_label(path: str) -> str:
    """A file as an error calls it: by its name, shortened if it is long."""
    return printable(cut(os.path.basename(path), LONGEST_NAME))  # noqa: PTH119


def assignment(argument: str, formula: str | None, *, alone: bool) -> tuple[str, str]:
    """Name and value of ``NAME=VALUE``; ``alone`` where the formula takes none."""
    name, equals, value = argument.partition("=")
    second = second_assignment(value) if equals else None
    if second is None and name.strip().isidentifier() and value.strip()[:1] not in ("", "="):
        from exprgrad.run.values.inputs import normal

        return normal(name.strip()), value.strip()
    from exprgrad.cli.assignments import no_assignment

    raise no_assignment(argument, formula, second, alone=alone)


def second_assignment(value: str) -> int | None:
    """The place in a value, counted from 1, of a comma that another ``NAME=`` follows."""
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


def file_text(path: str) -> str:
    """The text of a file, or of standard input if that is ``-``."""
    from exprgrad.run.values.files import decode, read_bytes

    if path != "-":
        return decode(read_bytes(path), f"'{path}'")
    try:
        content = sys.stdin.buffer.read() if sys.stdin is not None else b""
    except OSError as error:
        raise RequestError("file", f"cannot read standard input: {error.strerror}") from None
    return decode(content, "standard input")


def read_inputs(path: str) -> dict[str, object]:
    """The values in a JSON object: numbers, constant expressions as strings, or lists of these."""
    from exprgrad.run.values.files import json_in, json_value

    if path.lstrip().startswith("{"):
        raise RequestError(
            "file",
            "--inputs takes the name of a file",
            help="values follow the formula, as in x=3 y=2; a JSON object goes in a file",
        ).about(path)
    found = json_in(path)
    if not isinstance(found, dict):
        raise RequestError(
            "file",
            f"'{path}' does not hold a JSON object",
            help='it should read {"a": 2, "w": [1, "pi/2"]}',
        )
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
        reach = "on" if self.most is None else f"to {self.most:,}"
        raise no_value(value, param, f"a whole number from {self.least} {reach}")


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
    help="The notation of the formula.  LaTeX is recognised by its commands.",
)
file_option = click.option("-f", "--file", metavar="FILE", help="Read the formula from a file.")
limit_option = click.option(
    "--limit", type=Count(1), metavar="N",
    help="The most steps that each stage of the work may take: 100000000, and more for long formulas.",
)  # fmt: skip
formula = stack(
    click.argument("arguments", nargs=-1, metavar="EXPR [NAME=VALUE]..."),
    file_option,
    notation_option,
    limit_option,
    click.option("--inputs", metavar="FILE", help="Read values from a JSON object."),
)
formula_alone = stack(
    click.argument("arguments", nargs=-1, metavar="EXPR"),
    file_option,
    notation_option,
    limit_option,
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
    help="Write to a file, in the format of its ending: .json, .csv or .txt.",
)  # fmt: skip


json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


def csv_option(what: str) -> Callable[[F], F]:
    """The option for CSV; what a line is."""
    return click.option("--csv", "as_csv", is_flag=True, help=f"Print CSV, {what}.")


def drawing_option(what: str) -> Callable[[F], F]:
    """The option that names a file for a drawing, and what that shows; or for the answer."""
    return path_option(f"Draw {what}: .svg, .png or .pdf; or write .json, .csv or .txt.")


def path_option(help: str) -> Callable[[F], F]:
    """The option that names a file for something other than a document: a picture, a program, rows."""
    return click.option("-o", "--output", "path", metavar="FILE", help=help)


def output_as(
    csv: str,
    everything: str = "Leave nothing out: every line, tensors whole.",
    document: Callable[[Any], Any] = document_option,
    *,
    digits: int = 6,
) -> Callable[[F], F]:
    """The options that say how an answer is written; what the CSV is, and what ``--all`` does."""
    return stack(
        json_option,
        csv_option(csv),
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
    help="Take these functions apart into simpler operations, and open calls of your own functions; all "
    "does so wherever it can.",
)


def wrt_option(help: str) -> Callable[[F], F]:
    """The option that chooses inputs; ``help`` says what for."""
    return click.option("--wrt", metavar="NAME[,NAME]", help=help)


def derivative_options(wrt: str) -> Callable[[F], F]:
    """The options that choose values and derivatives of a program; ``wrt`` says what for."""
    return stack(
        wrt_option(wrt),
        click.option("--value-only", is_flag=True, help="Leave out the gradient."),
        click.option(
            "--of", metavar="NAME[,NAME]",
            help="The values of these named statements, and their Jacobian.",
        ),
        click.option("--hessian", is_flag=True, help="Also find second derivatives."),
    )  # fmt: skip


starts_options = stack(
    click.option(
        "--starts", type=Count(1, 10_000), default=1, metavar="N", show_default=True,
        help="Try N starts: yours, and others around it or within bounds.",
    ),
    click.option(
        "--seed", type=Count(0), default=0, metavar="N", show_default=True,
        help="The seed from which the other starts are drawn.",
    ),
)  # fmt: skip


def settle_form(options: dict[str, Any]) -> None:
    """The one form that an answer is written in, as an option or the ending of ``-o`` says it.

    Two options, or an option and another ending, are refused.
    """
    forms = {"--json": "as_json", "--csv": "as_csv", "--quiet": "quiet"}
    chosen = [flag for flag, name in forms.items() if options.get(name)]
    if len(chosen) > 1:
        raise RequestError("usage", f"{' and '.join(chosen)} cannot be combined", help="choose one")
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
        raise RequestError(
            "usage",
            f"{chosen[0]} and -o {path} cannot be combined: the ending sets the format",
            help=f"leave out {chosen[0]}",
        )
    if form:
        options[forms[form]] = True


def picture_in(options: dict[str, Any]) -> str:
    """The format of the picture that ``-o`` asks for, as ``path``; or else it is where the answer goes.

    Raises ``MissingExtraError`` where no picture can be drawn, so that nothing is computed in vain.
    """
    path = options["path"]
    if path is not None and not path.lower().endswith(tuple(ENDINGS)):
        from exprgrad.show.picture.picture import plot_format
        from exprgrad.show.picture.plots import matplotlib

        format = plot_format(path)
        matplotlib()
        return format
    options["document"] = path
    settle_form(options)
    if options["look"] is not None:
        raise RequestError(
            "usage", "--look is for pictures", help="write one with -o FILE.svg, .png or .pdf"
        )
    return ""


def is_read(options: Mapping[str, Any]) -> bool:
    """Whether people read the answer: no program asked for it in a form of its own."""
    return not (options["as_json"] or options["as_csv"] or options["quiet"])


def digits_shown(options: Mapping[str, Any]) -> int:
    """How many digits of an answer have to be right: those of a table, or 6 where all are printed."""
    from exprgrad.explain.limits import COUNTED

    digits: int = options["digits"]
    return digits if is_read(options) else COUNTED


def excluded(option: str, others: Mapping[str, object], help: str = "choose one") -> None:
    """Refuse an option beside others, each with whether it is given."""
    for other, is_given in others.items():
        if is_given:
            raise RequestError("usage", f"{option} and {other} cannot be combined", help=help)


def listed_names(listed: str | None, option: str = "--wrt") -> list[str] | None:
    """The names in the value of ``--wrt``, or of another option; None without the option."""
    if listed is None:
        return None
    names = [name.strip() for name in listed.split(",")]
    if "" not in names:
        return names
    place = len(",".join(listed.split(",")[: names.index("")]))
    raise RequestError(
        "usage", "a name is missing", help=f"names are separated by commas: {option} a,b"
    ).about(listed, (place, place + 1))


# Expressions.


def start(
    options: Mapping[str, Any], *, values: bool = True, alone: bool = False, uncertain: bool = False
) -> "tuple[Expression, Request]":
    """The expression of a command line, taken apart as ``--expand`` says, and the request itself.

    ``values``, if there are any, are read before that: so errors about them show the formula as it was
    typed.  A note says if nothing can be taken apart.  All else is as in ``read_request``.
    """
    from exprgrad.api import parse

    request = read_request(options, alone=alone, uncertain=uncertain)
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


def resolved(expression: "Expression", request: Request) -> dict[str, Any]:
    """Every input's value, with the arguments at hand for errors; files are read once."""
    from exprgrad.run.values.inputs import resolve

    values = resolve(expression.graph, expression.text, request.values, request.spelled)
    request.values.update(values)
    return values


def evaluator_of(expression: "Expression", request: Request) -> "tuple[Evaluator, dict[str, Any]]":
    """What evaluates an expression, and its values; an error about shapes names their files."""
    values = resolved(expression, request)
    return expression.evaluator(values, request.origins), values


def compute(
    expression: "Expression",
    request: Request,
    wrt: Sequence[str] | None = None,
    *,
    grad: bool = True,
) -> "Run":
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


def swept(options: Mapping[str, Any], *, grad: bool = True) -> "Run":
    """The run that a command line asks for: of both sweeps, or of the forward one."""
    expression, request = start(options)
    return compute(expression, request, listed_names(options.get("wrt")), grad=grad)


def with_shapes(expression: "Expression", sizes: str) -> "Expression":
    """The expression with the shapes of its inputs, given the value of ``--shape``."""
    from exprgrad.api import Expression
    from exprgrad.cli.assignments import shapes_in
    from exprgrad.run.values.inputs import declared

    graph = expression.graph
    return Expression(expression.text, graph, shapes=declared(graph, shapes_in(sizes)))


MISTAKEN = {"e": "d", "E": "D", "i": "h", "I": "H", "Pi": "", "PI": ""}
"""An input that is a constant elsewhere → the letter before it: beside that, it is just the next one."""


def start_alone(options: Mapping[str, Any], command: str) -> "Expression":
    """The expression of a command that takes no values: its answer holds for all of them.

    A note says where ``--shape`` may be missing, or where a name is no constant here.
    """
    expression, request = start(options, alone=True)
    sizes = options["shape"]
    for name in request.values:
        argument = request.spelled[name]
        raise RequestError(
            "usage",
            f"{command} takes no values: its answer holds for all of them",
            help=f'for numbers at a point, write exprgrad grad "…" {argument}',
        ).about(argument)
    from exprgrad.cli.assignments import missing_shapes

    if sizes is not None:
        expression = with_shapes(expression, sizes)
    missing = missing_shapes(expression.typed, expression.shapes)
    if missing:
        listed = ", ".join(missing[:4] + ["…"][: len(missing) - 4])
        numbers = "count as numbers" if missing[1:] else "counts as a number"
        hint = f"for a tensor give its shape: --shape {missing[0]}=150x4"
        write([f"note: {listed} {numbers}; {hint}\n"], sys.stderr)
    from exprgrad.graph.ops import FUNCTIONS

    inputs = expression.typed.inputs
    doubtful = [name for name in inputs if name in MISTAKEN and MISTAKEN[name] not in inputs]
    calls = (*FUNCTIONS, "arc")
    doubtful += [name for name in inputs if name.startswith(calls) and name not in FUNCTIONS]
    for name in doubtful:
        from exprgrad.language.mistakes.hints import value_hint

        if meaning := value_hint(name):
            write([f"note: '{name}' is an input here; {meaning}\n"], sys.stderr)
    return expression


def former_constants(graph: "Graph") -> "list[Diagnostic]":
    """Notes on names that mean something else in another version, for commands that need no values."""
    former = [(name, node) for name, node in graph.inputs.items() if name in ("tau", "τ")]
    if not former and not graph.calls:
        return []
    from exprgrad.explain.diagnostics import own_functions
    from exprgrad.language.mistakes.hints import value_hint
    from exprgrad.run.evaluation import Diagnostic

    return [*own_functions(graph)] + [
        Diagnostic(
            "was-constant",
            "note",
            f"'{name}' is an input",
            node,
            graph.span(node),
            value_hint(name),
        )
        for name, node in former
    ]


# Answers.


class Answer(NamedTuple):
    """What a command found, said once; JSON, CSV, ``-q`` and what people read are four renderings of it.

    Nothing is worked out for a form that is not asked for.

    ``command``      its name
    ``text``         the formula
    ``fields``       the names and values of the JSON object that follow the formula
    ``rows``         the lines of CSV, headings first
    ``lines``        what ``-q`` prints: names and values
    ``shown``        what people read on a screen: texts and tables
    ``diagnostics``  what else is worth knowing, each with its place in the formula
    ``sources``      the texts that the diagnostics' spans are in, where that is not the formula
    ``aside``        a warning about what tables say and CSV and ``-q`` do not
    ``is_no``        whether the answer is no
    ``is_doubtful``  whether it is no under ``--strict``
    ``apart``        whether each field of the JSON object has a line of its own
    ``exact``        whether people read what programs may read, too: then no letter may get lost
    """

    command: str
    text: str
    fields: Iterable[tuple[str, Any]]
    rows: Iterable[Iterable[Any]]
    lines: Iterable[tuple[str, Any]]
    shown: "Callable[[Screen], Iterable[str | Table]]"
    diagnostics: "Sequence[Diagnostic]" = ()
    sources: Sequence[str] = ()
    aside: str = ""
    is_no: bool = False
    is_doubtful: bool = False
    apart: bool = False
    exact: bool = False


def write(pieces: Iterable[str], stream: TextIO | None = None) -> None:
    """Write text; a character that the stream's encoding lacks is replaced, never an error."""
    out = sys.stdout if stream is None else stream
    encoding = (out.encoding or "utf-8").lower()
    for piece in pieces:
        if not encoding.startswith("utf"):
            piece = piece.translate(ASCII).encode(encoding, "replace").decode(encoding)
        elif not piece.isascii():
            piece = piece.encode(encoding, "replace").decode(encoding)
        out.write(piece)
    out.flush()


def write_exactly(pieces: Iterable[str]) -> None:
    """Write what programs read to stdout: a formula, code, CSV, names with their numbers.

    It is an error if the stream cannot hold a letter: with a ``?`` for two names, they would be one.
    """
    encoding, is_terminal = sys.stdout.encoding or "utf-8", sys.stdout.isatty()
    for piece in together(pieces):
        if not encoding.lower().startswith("utf"):
            piece = piece.translate(OURS)
        if is_terminal:
            piece = without_controls(piece)
        try:
            piece.encode(encoding)
        except UnicodeEncodeError as error:
            letter = f"U+{ord(piece[error.start]):04X}"
            raise RequestError(
                "encoding",
                f"standard output is in {encoding}, which lacks the letter {letter}",
                help="set PYTHONUTF8=1, or take --json, which is ASCII",
            ) from None
        write([piece])


def together(pieces: Iterable[str]) -> Iterator[str]:
    """Pieces of text, short ones joined: to write each by itself takes longer than to make it."""
    held: list[str] = []
    size = 0
    for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size >= LONGEST_PIECE:
            yield "".join(held)
            held, size = [], 0
    yield "".join(held)


def colorful(choice: str, stream: TextIO) -> bool:
    """Whether to use colour on a stream: as ``--color`` says, else on a terminal without NO_COLOR."""
    if choice != "auto":
        return choice == "always"
    if not stream.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    if sys.platform == "win32":  # where a console prints the escapes until it is told not to
        from colorama import just_fix_windows_console  # which click needs there, too

        just_fix_windows_console()
    return True


def terminal_width(stream: TextIO) -> int | None:
    """How many cells wide the terminal is that a stream goes to; None where it goes to none."""
    if not stream.isatty():
        return None
    import shutil

    return max(shutil.get_terminal_size((WIDTH, 24)).columns, 20)


def give(answer: Answer, options: Mapping[str, Any]) -> int:
    """Write an answer in the form that was asked for, and its diagnostics; return the exit status.

    It goes to the file that ``-o`` names, or to stdout.  The status is 1 if the answer is no, and under
    ``--strict`` if there is a warning or a doubt.
    """
    color, path = options["color"], options.get("document")
    if path is not None:
        from exprgrad.show.picture.picture import put

        put(document_in_pieces(answer, options), path)
    elif is_read(options):
        put_parts(answer.shown, color, exact=answer.exact)
    else:
        (write if options["as_json"] else write_exactly)(document_in_pieces(answer, options))
    if path is not None or not options["as_json"]:
        if answer.aside and (options["as_csv"] or options["quiet"]):
            write([f"warning: {answer.aside}\n"], sys.stderr)
        show_diagnostics(answer.text, answer.diagnostics, color, answer.sources)
    warned = any(diagnostic.severity == "warning" for diagnostic in answer.diagnostics)
    is_doubtful = options.get("strict") and (warned or answer.is_doubtful)
    return 1 if answer.is_no or is_doubtful else 0


def document_in_pieces(answer: Answer, options: Mapping[str, Any]) -> Iterator[str]:
    """An answer as JSON, as CSV, as the bare answer, or as people read it where there is no screen."""
    whole = options.get("show_all", False)
    if options["as_json"]:
        from exprgrad.show.documents.document import document

        head = answer.command, answer.text
        yield from document(*head, answer.fields, whole=whole, apart=answer.apart)
    elif options["as_csv"]:
        from exprgrad.show.documents.document import csv_line

        yield from (csv_line(cells, whole=whole) for cells in answer.rows)
    elif options["quiet"]:
        yield from (piece for name, value in answer.lines for piece in quiet_line(name, value))
    else:
        from exprgrad.show.text.table import Screen, drawn

        screen = Screen(None, False)
        for part in answer.shown(screen):
            yield (part if isinstance(part, str) else drawn(part, screen)) + "\n"


def quiet_line(name: str, value: Any) -> Iterator[str]:
    """A value on one line, after ``name=`` if it has a name: a number, a word, or a tensor as lists."""
    if name:
        yield f"{name}="
    if isinstance(value, float):
        yield repr(value)
    elif isinstance(value, str):
        yield value
    else:
        from exprgrad.show.documents.document import lists, whole_text

        yield from [whole_text(value)] if isinstance(value, int) else lists(value, repr)
    yield "\n"


def put_content(
    command: str,
    text: str,
    fields: Mapping[str, Any],
    content: Mapping[str, str],
    path: str | None,
    options: Mapping[str, Any],
) -> None:
    """Write a program or a picture, the only ``content``, to stdout; or as JSON, or which file has it."""
    if options["as_json"]:
        from exprgrad.show.documents.document import envelope

        what = content if path is None else {"file": path}
        write([envelope(command, expression=text, **fields, **what), "\n"])
    elif path is None:
        (write_exactly if command == "code" else write)(content.values())


def put_parts(
    shown: "Callable[[Screen], Iterable[str | Table]]", color: str, *, exact: bool = False
) -> None:
    """Write what people read: texts, and tables as they are drawn for a screen like stdout."""
    from exprgrad.show.text.table import Screen, drawn

    screen = Screen(terminal_width(sys.stdout), bool(colorful(color, sys.stdout)))
    put = write_exactly if exact else write
    for part in shown(screen):
        put([part if isinstance(part, str) else drawn(part, screen), "\n"])


def report(error: ExprgradError, command: str | None, *, json: bool, color: str) -> None:
    """Render an error, once: as JSON on stdout, or as text on stderr."""
    if json:
        from exprgrad.show.documents.document import envelope

        write([envelope(command or "", error=error.as_json()) + "\n"])
        return
    text = render(error, terminal_width(sys.stderr) or 100)
    if colorful(color, sys.stderr):
        head, _, tail = text.partition("\n")
        styled = click.style("error:", fg="red", bold=True) + head.removeprefix("error:")
        text = styled + ("\n" + tail if tail else "")
    write([text, "\n"], sys.stderr)


def show_diagnostics(
    text: str, diagnostics: "Sequence[Diagnostic]", color: str, sources: Sequence[str] = ()
) -> None:
    """Print diagnostics on stderr, each with its place in the formula, or in a text of its own."""
    if not diagnostics:
        return
    from exprgrad.show.text.lines import diagnosed

    styled = colorful(color, sys.stderr)
    width = terminal_width(sys.stderr) or 100
    shown, left_out = (diagnostics, "") if sources else chosen(diagnostics)
    for within, diagnostic in zip(sources or [text] * len(shown), shown, strict=False):
        severity = diagnostic.severity
        head = f"{severity}:"
        if styled:
            head = click.style(head, fg="yellow" if severity == "warning" else "cyan", bold=True)
        write([diagnosed(diagnostic, within, head, width), "\n"], sys.stderr)
    if left_out:
        write([f"… {left_out}; --json lists them\n"], sys.stderr)


def chosen(listed: "Sequence[Diagnostic]") -> "tuple[Sequence[Diagnostic], str]":
    """The diagnostics that people are shown, and what the others are in words.

    Where there are too many, warnings about the answer come first, then notes, and then the nodes that
    meet a kink or a jump: a corrected gradient is never left out for the nodes that it is corrected at.
    """
    if len(listed) <= MOST_DIAGNOSTICS:
        return listed, ""
    from exprgrad.run.evaluation import Flag

    def rank(one: "Diagnostic") -> int:
        return (
            2
            if isinstance(one, Flag)
            else int(one.severity == "note" and one.code != "many-inputs")
        )

    ranked = sorted(listed, key=rank)
    left_out = ranked[MOST_DIAGNOSTICS:]
    parts = []
    others = sum(not isinstance(one, Flag) for one in left_out)
    if others:
        parts.append(f"{others:,} more warnings and notes")
    for code, singular, plural in FOLDED:
        count = sum(isinstance(one, Flag) and one.code == code for one in left_out)
        if count:
            parts.append(f"{count:,} more node{plural if count > 1 else singular} here")
    return ranked[:MOST_DIAGNOSTICS], " and ".join(parts)
