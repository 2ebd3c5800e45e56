"""The request of a command line: a formula, the values of its inputs, and the run of both."""

# Without ``from __future__ import annotations``: typing would compile each field's text at every start.

import os
import re
import sys
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from exprgrad.cli.answer import write_text
from exprgrad.cli.options import split_names
from exprgrad.errors import InputError, RequestError
from exprgrad.source import comma_parts, cut_text, printable_text

if TYPE_CHECKING:
    from exprgrad.api import Expression, Run
    from exprgrad.graph.graph import Graph
    from exprgrad.run.evaluation import Diagnostic, Evaluator
    from exprgrad.run.values.uncertain import Spread

__all__ = [
    "Request", "declare_shapes", "note_former_constants", "parse_request", "parse_without_values",
    "prepare_evaluator", "read_request", "run_expression", "run_request",
]  # fmt: skip


NEXT_VALUE = r",\s*[^\W\d]\w*\s*="
"""The comma after a value, and the next ``NAME=``."""
LONGEST_NAME = 40
"""The most characters of a file's name beside a shape."""


class Request(NamedTuple):
    """A formula and the values given for its inputs.

    ``spelled`` has the arguments as they were typed, ``origins`` the file that a value came from.  For an
    uncertain input ``values`` has the value alone, ``centres`` its text, and ``spread`` the uncertainty.
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
        from exprgrad.run.values.inputs import value_texts

        typed = {name: argument.partition("=")[2] for name, argument in self.spelled.items()}
        return value_texts({**typed, **self.centres})

    @property
    def has_ranges(self) -> bool:
        """Whether some input is given a range."""
        from exprgrad.run.values.inputs import is_range

        return any(map(is_range, self.values.values()))


def read_request(
    options: Mapping[str, Any], *, relates: str = "", alone: bool = False, uncertain: bool = False
) -> Request:
    """Sort out formula and values: the formula comes from an argument, a file or standard input.

    ``relates`` is the sign, ``=`` or ``~``, of statements with two sides, if the formula may have any;
    ``alone`` says that the command takes no values, ``uncertain`` that they may be uncertain.
    """
    text, rest = find_formula(list(options["arguments"]), options["file"])
    inputs = options.get("inputs")
    if (
        not alone
        and options["arguments"] == (text,)
        and re.fullmatch(r"[^\W\d]\w*=[-+.0-9e]+", text)
    ):
        told = f"note: {text} is taken for the formula, which comes first, or from a pipe for -\n"
        write_text([told], sys.stderr)
    values: dict[str, object] = {}
    origins: dict[str, str] = {}
    if inputs is not None:
        values.update(read_inputs_file(inputs))
        origins.update(dict.fromkeys(values, label_file(inputs)))
    spelled: dict[str, str] = {}
    for argument in rest:
        name, value = split_assignment(
            argument, text if options["file"] is None else None, alone=alone
        )
        if name in spelled:
            raise InputError(
                "given-twice",
                f"'{name}' is given twice",
                help=f"its first value is {spelled[name].partition('=')[2]}",
            ).about(argument, (0, len(name)))
        spelled[name] = argument
        values[name] = read_constant(value, name, uncertain=uncertain)
        origins.pop(name, None)
    for name, given in values.items():
        if isinstance(given, str) and given.startswith("@"):
            origins[name] = label_file(given[1:])
    text = translate_latex(text, options.get("notation"), values, relates=relates)
    if options.get("limit"):
        from exprgrad.graph.graph import limit_text

        text = limit_text(text, options["limit"])
    request = Request(text, values, spelled, origins)
    return split_uncertainties(request) if uncertain else request


def read_constant(value: str, name: str, *, uncertain: bool) -> str:
    """Return the value that ``@codata``, or ``@codata:electron mass``, stands for; any other unchanged.

    It has its uncertainty where the command takes ``uncertain`` values.
    """
    found = re.fullmatch(r"(?i)@codata(?::(.*))?", value) if value[:1] == "@" else None
    if found is None:
        return value
    from exprgrad.run.values.constants import codata

    text = codata(name if found[1] is None else found[1])
    return text if uncertain else re.sub(r"\(\d+\)", "", text)


def find_formula(arguments: list[str], file: str | None) -> tuple[str, list[str]]:
    """The text of the formula, and the arguments that are left."""
    if file is not None:
        return read_file_text(file), arguments
    if not arguments:
        raise RequestError(
            "usage",
            "there is no formula",
            help='type one, such as "(a+b)*c", or use -f FILE, or - for standard input',
        )
    first, *rest = arguments
    return read_file_text(first) if first == "-" else first, rest


def translate_latex(
    text: str, notation: str | None, given: Collection[str], *, relates: str = ""
) -> str:
    """Translate a formula in LaTeX into our language, and show it in a note; return any other unchanged.

    With a sign that ``relates`` two sides, the text may have equations or models, whose sides are formulas.
    """
    if notation == "exprgrad" or ("\\" not in text and notation is None):
        return text
    from exprgrad.language.read.latex import (
        equations_from_latex,
        formula_from_latex,
        is_latex,
        with_elements,
    )

    if notation is None and not is_latex(text):
        return text
    ours = equations_from_latex(text, relates) if relates else formula_from_latex(text)
    ours = with_elements(ours, given, relates or "=")
    write_text([f"note: read as {printable_text(ours)}\n"], sys.stderr)
    return ours


def label_file(path: str) -> str:
    """Return a file's name for error messages, shortened if it is long."""
    return printable_text(cut_text(os.path.basename(path), LONGEST_NAME))  # noqa: PTH119


def split_assignment(argument: str, formula: str | None, *, alone: bool) -> tuple[str, str]:
    """Name and value of ``NAME=VALUE``; ``alone`` where the formula takes none."""
    name, equals, value = argument.partition("=")
    second = find_second_assignment(value) if equals else None
    if second is None and name.strip().isidentifier() and value.strip()[:1] not in ("", "="):
        from exprgrad.run.values.inputs import normal_name

        return normal_name(name.strip()), value.strip()
    from exprgrad.cli.assignments import no_assignment

    raise no_assignment(argument, formula, second, alone=alone)


def find_second_assignment(value: str) -> int | None:
    """The place in a value, counted from 1, of a comma that another ``NAME=`` follows."""
    if "," not in value or not re.search(NEXT_VALUE, value):
        return None
    second = re.compile(NEXT_VALUE)
    return next(
        (start for start, _ in comma_parts(value) if start and second.match(value, start - 1)), None
    )


def split_uncertainties(request: Request) -> Request:
    """Separate the uncertainties from a request's values."""
    from exprgrad.run.values.inputs import is_plain_number, is_uncertain

    def may_be(value: object) -> bool:
        if isinstance(value, str):
            return not is_plain_number(value) and is_uncertain(value)
        return isinstance(value, list)

    if not any(map(may_be, request.values.values())):
        return request
    from exprgrad.run.values.uncertain import split_uncertain

    values, spread = split_uncertain(request.values)
    if not spread.deviations:
        return request
    centres = {name: values[name] for name in spread.deviations}
    texts = {name: text for name, text in centres.items() if isinstance(text, str)}
    return request._replace(values=values, centres=texts, spread=spread)


def read_file_text(path: str) -> str:
    """The text of a file, or of standard input if that is ``-``."""
    from exprgrad.run.values.files import decode_text, read_bytes

    if path != "-":
        return decode_text(read_bytes(path), f"'{path}'")
    try:
        content = sys.stdin.buffer.read() if sys.stdin is not None else b""
    except OSError as error:
        raise RequestError("file", f"cannot read standard input: {error.strerror}") from None
    return decode_text(content, "standard input")


def read_inputs_file(path: str) -> dict[str, object]:
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


def parse_request(
    options: Mapping[str, Any], *, values: bool = True, alone: bool = False, uncertain: bool = False
) -> "tuple[Expression, Request]":
    """Read the expression of a command line, taken apart as ``--expand`` says, and its request.

    Values are read before that, so that errors about them show the formula as typed; ``values`` says that
    the inputs need them.  A note says if nothing can be taken apart.  See ``read_request`` for the rest.
    """
    from exprgrad.api import parse

    request = read_request(options, alone=alone, uncertain=uncertain)
    expression, expand = parse(request.text), options.get("expand")
    if expand is None:
        return expression, request
    from exprgrad.graph.graph import same_graph

    if (values or request.values) and not request.has_ranges:
        resolve_values(expression, request)
    simpler = expression.expand(split_names(expand, "--expand") or ())
    if (
        same_graph(simpler.graph, expression.graph)
        and simpler.graph.calls == expression.graph.calls
    ):
        write_text(
            [f"note: the formula has nothing to take apart for --expand {expand}\n"], sys.stderr
        )
    return simpler, request


def resolve_values(expression: "Expression", request: Request) -> dict[str, Any]:
    """Resolve every input's value, reading files once; errors show the arguments."""
    from exprgrad.run.values.inputs import resolve_inputs

    values = resolve_inputs(expression.graph, expression.text, request.values, request.spelled)
    request.values.update(values)
    return values


def prepare_evaluator(
    expression: "Expression", request: Request
) -> "tuple[Evaluator, dict[str, Any]]":
    """Return an expression's evaluator, and the values; an error about shapes names their files."""
    values = resolve_values(expression, request)
    return expression.evaluator(values, request.origins), values


def run_expression(
    expression: "Expression",
    request: Request,
    wrt: Sequence[str] | None = None,
    *,
    grad: bool = True,
) -> "Run":
    """Evaluate or differentiate."""
    from exprgrad.api import Run
    from exprgrad.run.values.inputs import select_inputs

    evaluator, values = prepare_evaluator(expression, request)
    texts = request.texts
    if grad:
        run = expression.swept(evaluator, values, select_inputs(expression.graph, wrt), texts)
    else:
        run = Run.of(expression.text, evaluator, values, spelled=texts)
    run.spread = request.spread
    return run


def run_request(options: Mapping[str, Any], *, grad: bool = True) -> "Run":
    """The run that a command line asks for: of both sweeps, or of the forward one."""
    expression, request = parse_request(options)
    return run_expression(expression, request, split_names(options.get("wrt")), grad=grad)


def declare_shapes(expression: "Expression", sizes: str) -> "Expression":
    """The expression with the shapes of its inputs, given the value of ``--shape``."""
    from exprgrad.api import Expression
    from exprgrad.cli.assignments import shapes_in
    from exprgrad.run.values.inputs import declared_shapes

    graph = expression.graph
    return Expression(expression.text, graph, shapes=declared_shapes(graph, shapes_in(sizes)))


NEXT_LETTERS = {"e": "d", "E": "D", "i": "h", "I": "H", "Pi": "", "PI": ""}
"""An input that is a constant elsewhere → the letter before it; beside that input, it is just the next."""


def parse_without_values(options: Mapping[str, Any], command: str) -> "Expression":
    """The expression of a command that takes no values: its answer holds for all of them.

    A note says where ``--shape`` may be missing, or where a name is no constant here.
    """
    expression, request = parse_request(options, alone=True)
    sizes = options["shape"]
    for name in request.values:
        argument = request.spelled[name]
        raise RequestError(
            "usage",
            f"{command} takes no values: its answer holds for all of them",
            help=f'for numbers at a point, write exprgrad grad "…" {argument}',
        ).about(argument)
    from exprgrad.graph.graph import dependency_flags
    from exprgrad.graph.tensors import STRUCTURAL

    if sizes is not None:
        expression = declare_shapes(expression, sizes)
    graph, said = expression.typed, expression.shapes
    numbers = [  # that the formula seems to need as tensors
        operands[0]
        for kind, operands in zip(graph.kinds, graph.operands, strict=True)
        if kind in STRUCTURAL and STRUCTURAL[kind].along_axes and not graph.shape(operands[0])
    ]
    needed = dependency_flags(graph, *numbers)
    missing = [name for name, node in graph.inputs.items() if needed[node] and name not in said]
    if missing:
        listed = ", ".join(missing[:4] + ["…"][: len(missing) - 4])
        count = "count as numbers" if missing[1:] else "counts as a number"
        hint = f"for a tensor give its shape: --shape {missing[0]}=150x4"
        write_text([f"note: {listed} {count}; {hint}\n"], sys.stderr)
    from exprgrad.graph.ops import FUNCTIONS

    inputs = graph.inputs
    doubtful = [
        name for name in inputs if name in NEXT_LETTERS and NEXT_LETTERS[name] not in inputs
    ]
    calls = (*FUNCTIONS, "arc")
    doubtful += [name for name in inputs if name.startswith(calls) and name not in FUNCTIONS]
    for name in doubtful:
        from exprgrad.language.mistakes.hints import value_hint

        if meaning := value_hint(name):
            write_text([f"note: '{name}' is an input here; {meaning}\n"], sys.stderr)
    return expression


def note_former_constants(graph: "Graph") -> "list[Diagnostic]":
    """Notes on names that mean something else in another version, for commands that need no values."""
    former = [(name, node) for name, node in graph.inputs.items() if name in ("tau", "τ")]
    if not former and not graph.calls:
        return []
    from exprgrad.explain.diagnostics import shadowed_function_notes
    from exprgrad.language.mistakes.hints import value_hint
    from exprgrad.run.evaluation import Diagnostic

    return [*shadowed_function_notes(graph)] + [
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
