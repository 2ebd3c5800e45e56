"""The options that commands share, each declared once, and the consequences of those given."""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import click

from exprgrad.errors import RequestError

__all__ = [
    "Count",
    "F",
    "Words",
    "color_option",
    "combine_options",
    "csv_option",
    "derivative_options",
    "digits_needed",
    "digits_option",
    "document_option",
    "drawing_option",
    "expand_option",
    "formula_arguments",
    "formula_without_values",
    "is_for_people",
    "json_option",
    "look_option",
    "output_options",
    "output_options_as",
    "path_option",
    "picture_format",
    "refuse_together",
    "settle_output_form",
    "shape_option",
    "split_names",
    "starts_options",
    "wrt_option",
]  # fmt: skip

ENDINGS = {".json": "--json", ".csv": "--csv", ".txt": ""}
"""The ending of a document → the option that writes it to stdout; a text is a table, or the bare answer."""


def not_a_value(
    value: str, option: click.Parameter | None, takes: str, known: Sequence[str] = ()
) -> RequestError:
    """The error for a value that an option does not take; it says which one was probably meant."""
    from exprgrad.language.mistakes.hints import did_you_mean

    name = option.opts[-1] if option else "the option"
    return RequestError(
        "usage",
        f"'{value}' is not a value for {name}",
        help=did_you_mean(value, known, f"{name} takes {takes}", also=True),
    ).about(value)


class Words(click.types.StringParamType):
    """One of a few words; the error for any other says which was probably meant."""

    name = "word"

    def __init__(self, *choices: str) -> None:
        self.choices = choices

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """All choices, for the help."""
        return f"[{'|'.join(self.choices)}]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The word, if it is one of them."""
        if value in self.choices:
            return str(value)
        *others, last = self.choices
        raise not_a_value(value, param, f"{', '.join(others)} or {last}", self.choices)


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
        raise not_a_value(value, param, f"a whole number from {self.least} {reach}")


def combine_options(*decorators: Callable[[F], F]) -> Callable[[F], F]:
    """Several decorators as one, the first on top."""

    def apply(function: F) -> F:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return apply


formula_options = combine_options(
    click.option("-f", "--file", metavar="FILE", help="Read the formula from a file."),
    click.option(
        "--from", "notation", type=Words("exprgrad", "latex"),
        help="The notation of the formula.  LaTeX is recognised by its commands.",
    ),
    click.option(
        "--limit", type=Count(1), metavar="N",
        help="The most steps that each stage of the work may take: 100000000, and more for long formulas.",
    ),
)  # fmt: skip

formula_arguments = combine_options(
    click.argument("arguments", nargs=-1, metavar="EXPR [NAME=VALUE]..."),
    formula_options,
    click.option("--inputs", metavar="FILE", help="Read values from a JSON object."),
)

formula_without_values = combine_options(
    click.argument("arguments", nargs=-1, metavar="EXPR"), formula_options
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


def digits_option_of(count: int) -> Callable[[F], F]:
    """The option that says how many digits people read, and its default."""
    return click.option(
        "--digits",
        type=Count(1, 17),
        default=count,
        show_default=True,
        metavar="N",
        help="Significant digits of the numbers people read, 1 to 17.",
    )


digits_option = digits_option_of(6)

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
    """The option ``--csv``; ``what`` describes a line."""
    return click.option("--csv", "as_csv", is_flag=True, help=f"Print CSV, {what}.")


def drawing_option(what: str) -> Callable[[F], F]:
    """The option ``-o`` for a drawing, of which ``what`` says what it shows, or for the answer."""
    return path_option(f"Draw {what}: .svg, .png or .pdf; or write .json, .csv or .txt.")


def path_option(help: str) -> Callable[[F], F]:
    """The option ``-o`` for anything but a document: a picture, a program, rows."""
    return click.option("-o", "--output", "path", metavar="FILE", help=help)


def output_options_as(
    csv: str,
    everything: str = "Leave nothing out: every line, tensors whole.",
    document: Callable[[Any], Any] = document_option,
    *,
    digits: int = 6,
) -> Callable[[F], F]:
    """The options for writing an answer; ``csv`` and ``everything`` describe ``--csv`` and ``--all``."""
    return combine_options(
        json_option,
        csv_option(csv),
        click.option("-q", "--quiet", is_flag=True, help="Print only the answer."),
        document,
        digits_option_of(digits),
        click.option("--all", "show_all", is_flag=True, help=everything),
        color_option,
        click.option(
            "--strict", is_flag=True, help="Exit with 1 if there is a warning, or the answer is no."
        ),
    )


output_options = output_options_as("one node per line")

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
    return combine_options(
        wrt_option(wrt),
        click.option("--value-only", is_flag=True, help="Leave out the gradient."),
        click.option(
            "--of", metavar="NAME[,NAME]",
            help="The values of these named statements, and their Jacobian.",
        ),
        click.option("--hessian", is_flag=True, help="Also find second derivatives."),
    )  # fmt: skip


starts_options = combine_options(
    click.option(
        "--starts", type=Count(1, 10_000), default=1, metavar="N", show_default=True,
        help="Try N starts: yours, and others around it or within bounds.",
    ),
    click.option(
        "--seed", type=Count(0), default=0, metavar="N", show_default=True,
        help="The random seed for the other starts.",
    ),
)  # fmt: skip


def settle_output_form(options: dict[str, Any]) -> None:
    """Settle the form of the answer, as an option or the ending of ``-o`` states it.

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
        from exprgrad.show.picture.picture import FORMATS, wrong_ending_error

        help = "the endings are .json, .csv and .txt"
        help += "; exprgrad dot draws pictures" if ending[1:] in FORMATS else ""
        raise wrong_ending_error(path, "a document's format", help)
    form = ENDINGS[ending]
    if chosen and chosen[0] != (form or "--quiet"):
        raise RequestError(
            "usage",
            f"{chosen[0]} and -o {path} cannot be combined: the ending sets the format",
            help=f"leave out {chosen[0]}",
        )
    if form:
        options[forms[form]] = True


def picture_format(options: dict[str, Any]) -> str:
    """Return the format of the picture that ``-o`` names; "" if the answer goes to that file instead.

    Raises ``MissingExtraError`` where no picture can be drawn, so that nothing is computed in vain.
    """
    path = options["path"]
    if path is not None and not path.lower().endswith(tuple(ENDINGS)):
        from exprgrad.show.picture.picture import plot_format
        from exprgrad.show.picture.plots import import_matplotlib

        format = plot_format(path)
        import_matplotlib()
        return format
    options["document"] = path
    settle_output_form(options)
    if options["look"] is not None:
        raise RequestError(
            "usage", "--look is for pictures", help="write one with -o FILE.svg, .png or .pdf"
        )
    return ""


def is_for_people(options: Mapping[str, Any]) -> bool:
    """Whether people read the answer: no form for programs is requested."""
    return not (options["as_json"] or options["as_csv"] or options.get("quiet"))


def digits_needed(options: Mapping[str, Any]) -> int:
    """Return how many digits must be right: those of a table, or 6 where all digits are printed."""
    from exprgrad.explain.limits import COUNTED

    digits: int = options["digits"]
    return digits if is_for_people(options) else COUNTED


def refuse_together(option: str, others: Mapping[str, object], help: str = "choose one") -> None:
    """Refuse an option beside others, each with whether it is given."""
    for other, is_given in others.items():
        if is_given:
            raise RequestError("usage", f"{option} and {other} cannot be combined", help=help)


def split_names(listed: str | None, option: str = "--wrt") -> list[str] | None:
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
