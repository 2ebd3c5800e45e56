"""The command ``code``: a formula as a program in another language."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from exprgrad.cli.answer import show_diagnostics, write_content
from exprgrad.cli.command import FormulaCommand
from exprgrad.cli.options import (
    Words,
    derivative_options,
    formula_without_values,
    json_option,
    path_option,
    refuse_together,
    shape_option,
    split_names,
)
from exprgrad.cli.request import note_former_constants, parse_without_values
from exprgrad.errors import RequestError, ShapeError
from exprgrad.language.code.targets import TARGETS

__all__ = ["code_command"]

NAMES = list(TARGETS)


class FormulaToWrite(FormulaCommand):
    """The command, with hints for options that it lacks."""

    elsewhere: Mapping[str, str] = {
        "--jacobian": "--of y1,y2 finds the values of named statements, and their Jacobian",
        "--order": "--hessian finds order 2; for others write the derivative first: "
        'exprgrad diff -q "…" --wrt x --order 3 | exprgrad code - --to c',
    }


class Language(Words):
    """The name of a target."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name, if there is such a target; the error is the library's."""
        from exprgrad.language.code.program import find_target

        return find_target(value).name


@click.command("code", cls=FormulaToWrite)
@formula_without_values
@shape_option
@click.option(
    "--to",
    "target",
    type=Language(*TARGETS),
    metavar="LANGUAGE",
    help=f"{', '.join(NAMES[:-1])} or {NAMES[-1]}; the ending of -o may say it.",
)
@derivative_options("Differentiate these inputs only.")
@click.option("--name", default="f", show_default=True, metavar="NAME", help="Name the function.")
@path_option("Write a file.")
@json_option
def code_command(target: str | None, value_only: bool, path: str | None, **options: Any) -> int:
    """A program for value and gradient: one self-contained function."""
    from exprgrad.run.values.inputs import select_inputs
    from exprgrad.show.picture.picture import write_file

    target = choose_language(target, path)
    try:
        expression = parse_without_values(options, "code")
    except ShapeError as error:
        error.help = advice_without_tensors(target) or error.help
        raise
    second, of = options["hessian"], split_names(options["of"], "--of")
    others = {"--wrt": options["wrt"] is not None, "--hessian": second}
    refuse_together(
        "--value-only", {other: value_only and given for other, given in others.items()}
    )
    refuse_together(
        "--of", {"--hessian": second and of is not None}, "the Hessian is of the last statement"
    )
    graph, names, name = expression.graph, split_names(options["wrt"]), options["name"]
    listed = [] if value_only else list(select_inputs(graph, names))
    how = {"name": name, "value_only": value_only, "of": of, "hessian": second}
    code = expression.code(target, wrt=names, **how)
    if path is not None:
        write_file(code, path)
    fields = {"to": target, "name": name, "inputs": list(graph.inputs), "wrt": listed}
    fields |= {key: given for key, given in (("of", of), ("hessian", second)) if given}
    notes = note_former_constants(graph)
    if options["as_json"] and notes:
        fields["diagnostics"] = [note._asdict() for note in notes]
    elif notes:
        show_diagnostics(expression.text, notes, "auto")
    write_content("code", expression.text, fields, {"code": code}, path, options)
    return 0


def choose_language(target: str | None, path: str | None) -> str:
    """The target that ``--to`` names, or else the ending of ``-o``; both have to agree."""
    ending = "" if path is None else Path(path).suffix.lower()
    named = [name for name in TARGETS if ending and TARGETS[name].ending == ending]
    choices = named or NAMES
    if path is not None and ending in (".json", ".csv"):
        raise RequestError(
            "unknown-format",
            f"'{path}' does not name a program",
            help="--json, without -o, prints the program in an object",
        ).about(path)
    if target is None and path is not None and not named:
        raise unknown_ending(path, ending)
    if target is None and len(named) != 1:
        help = f"write --to {', '.join(choices[:-1])} or {choices[-1]}"
        help = f"{ending} is for several: {help}" if named else help
        raise RequestError("usage", "missing option '--to'", help=help)
    if target is not None and named and target not in named:
        title, ours = TARGETS[target].title, TARGETS[target].ending
        raise RequestError(
            "usage",
            f"--to {target} and -o {path} cannot be combined",
            help=f"a program in {title} ends in {ours}; {ending} is for {', '.join(named)}",
        )
    return target or named[0]


def unknown_ending(path: str, ending: str) -> RequestError:
    """Make the error for a file whose ending belongs to no language here."""
    from exprgrad.language.mistakes.hints import find_synonym
    from exprgrad.show.picture.picture import wrong_ending_error

    *others, last = sorted({target.ending for target in TARGETS.values()})
    near = find_synonym(ending[1:], TARGETS)
    example = f"{TARGETS[near].title} is --to {near}" if near else "others need --to"
    return wrong_ending_error(
        path, "a language", f"the endings are {', '.join(others)} and {last}; {example}"
    )


def advice_without_tensors(target: str) -> str | None:
    """Return advice where a formula needs tensors that programs in the language lack."""
    from exprgrad.language.code.program import takers_of_tensors

    if target not in TARGETS or TARGETS[target].arrays:
        return None
    title = TARGETS[target].title
    return f"a program in {title} computes with numbers; {takers_of_tensors()}"
