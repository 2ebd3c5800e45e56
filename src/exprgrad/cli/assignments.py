"""Options of the form ``NAME=…,NAME=…``, and errors for arguments that are not assignments.

``--tangent`` and ``--cotangent`` take values, ``x=1,y=[1,0],W=@W.npy``, or a value alone; ``--shape`` takes
sizes, ``X=150x4,W=4x3,b=3``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import takewhile
from typing import Any, TypeVar

from exprgrad.errors import ExprgradError, InputError
from exprgrad.run.values.inputs import constant_value, is_plain_number
from exprgrad.run.values.ranges import Interval, as_interval
from exprgrad.source import Source, Span, bracket_depths, comma_parts, cut_text, trim_span

__all__ = [
    "columns_as_values", "formula_names", "no_assignment",
    "read_intervals", "read_weights", "shapes_in", "split_assignments",
]  # fmt: skip

T = TypeVar("T")
BELOW = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
GLUED = re.compile(r"=[^,=]*?[^,=\s](\s*[;\s]\s*)[^\W\d]\w*\s*=(?!=)")
"""Two assignments with something other than a comma between."""
ASSIGNED = re.compile(r"\s*[^\W\d]\w*\s*=(?!=)")
SIZES = re.compile(r"\s*[0-9]{1,15}\s*(?:[x×]\s*[0-9]{1,15}\s*)*")
TUPLE = re.compile(r"\s*[(\[]((?:\s*[0-9]{1,15}\s*,)*\s*(?:[0-9]{1,15}\s*)?)[)\]]\s*")
"""Shapes as Python prints them: ``(150, 4)``, ``(3,)``, and ``()`` for a number."""
SHAPES_HELP = "names and sizes are separated by commas: --shape X=150x4,w=4"


def split_assignments(
    argument: str, what: str, help_at: Callable[[int, bool], str]
) -> Iterator[tuple[str, Span, Span]]:
    """Yield the names in ``NAME=…,NAME=…``, each with the spans of its assignment and of its value.

    ``what`` names the value in errors.  ``help_at`` returns the help for a part that is not an assignment,
    given where it begins and whether others come before it.
    """
    seen: set[str] = set()
    for start, end in comma_parts(argument):
        written, equals, value = argument[start:end].partition("=")
        name = unicodedata.normalize("NFC", written.strip())
        span = trim_span(argument, start, end)
        if not (equals and name.isidentifier()):
            raise InputError(
                "usage", f"this is not NAME={what}", help=help_at(start, bool(seen))
            ).about(argument, span)
        if name in seen:
            span = trim_span(argument, start, start + len(written))
            raise InputError("given-twice", f"'{name}' is given twice").about(argument, span)
        seen.add(name)
        yield name, span, (end - len(value), end)


def read_named_values(
    argument: str,
    what: str,
    help_at: Callable[[int, bool], str],
    missing: Callable[[str], InputError],
    read: Callable[[str, str], T],
) -> dict[str, T]:
    """Read the values in ``NAME=…,NAME=…`` by name; an error shows the place in the argument.

    ``read`` makes a value of its text and name, ``missing`` the error for a name without a value.
    """
    found: dict[str, T] = {}
    for name, span, (start, end) in split_assignments(argument, what, help_at):
        if not argument[start:end].strip():
            raise missing(name).about(argument, span)
        place = trim_span(argument, start, end)
        value = argument[slice(*place)]
        try:
            found[name] = read(value, name)
        except ExprgradError as error:
            if error.span is not None and error.source is not None and error.source.text == value:
                error.at(Source(argument, is_expression=False), place[0])
            raise
    return found


# Arguments.


def no_assignment(
    argument: str, formula: str | None, second: int | None, *, alone: bool
) -> InputError:
    """The error for an argument that is not ``NAME=VALUE``.

    ``second`` is the offset in the value at which another ``NAME=`` follows.
    """
    name, equals, value = argument.partition("=")
    if second is not None:
        start = len(name) + second
        more = re.sub(r"\s*=\s*", "=", argument[start + 1 :].strip())
        return InputError(
            "usage",
            "values are separated by spaces, not by ','",
            help=f"write {argument[:start]} {more}",
        ).about(argument, (start, start + 1))
    if equals and not value.strip():
        return InputError(
            "usage",
            f"there is no value for '{name}'",
            help=f"write {name}=2, without spaces around the '='",
        ).about(argument)
    below = re.sub("[₀-₉]+", lambda found: f"_{found[0].translate(BELOW)}", name.strip())
    if equals and below != name.strip() and below.isidentifier():
        return InputError(
            "usage",
            f"'{name.strip()}' is not a name here",
            help=f"a subscript is written after _: {below}={value.strip()}",
        ).about(argument, (0, len(name)))
    known, columns = with_equals(argument, formula), columns_as_values([argument, formula or ""])
    example = f"{argument if argument.isidentifier() else 'a'}=2"
    other = "the formula comes from -f" if formula is None else "a formula with spaces needs quotes"
    usual = f"a value is given as NAME=VALUE without spaces, such as {example}; {other}"
    helps = {
        f"'{formula}' was taken for the formula; --help lists the options": re.fullmatch(
            r"--[\w-]+|-[^\W\d]", formula or ""
        ),
        f"a value is given as NAME=VALUE: write {known}": known,
        columns: formula is not None and columns,
        f"to differentiate with respect to it, write --wrt {argument}": alone
        and argument.isidentifier(),
        'a list with spaces needs quotes: "x=[1, 2]"': argument.rstrip().endswith("]"),
        usual: True,
    }
    return InputError(
        "usage",
        "this is not NAME=VALUE",
        help=next(help for help, applies in helps.items() if applies),
    ).about(argument)


def formula_names(formula: str) -> tuple[list[str], list[str], list[str]]:
    """Return a formula's inputs, named statements and called functions; nothing for other texts."""
    from exprgrad.api import parse

    with suppress(ExprgradError):
        graph = parse(formula).graph
        calls = dict.fromkeys(call.word for call in graph.calls)
        return [*graph.inputs], [binding.name for binding in graph.bindings], [*calls]
    return [], [], []


def columns_as_values(words: Sequence[str]) -> str:
    """Suggest how to read a formula's inputs from a CSV file, if some words include both; or ""."""
    file = next((word.lstrip("@") for word in words if word.lower().endswith(".csv")), "")
    inputs = next(filter(None, (formula_names(word)[0] for word in words if file)), [])
    values = " ".join(f"{name}=@{file}:{name}" for name in inputs)
    return values and f"a column is a value: write {values}; for a result per row, exprgrad batch"


def with_equals(argument: str, formula: str | None) -> str | None:
    """Return the assignment that was meant: ``x=3`` for ``x:3``, ``{x: 3}``, or 3 for the only input."""
    found = re.fullmatch(r"\{?\s*([^\W\d]\w*)\s*:\s*([^\s,{}]+)\s*\}?", argument)
    if found:
        return f"{found[1]}={found[2]}"
    inputs = formula_names(formula)[0] if formula is not None and is_plain_number(argument) else []
    return f"{inputs[0]}={argument}" if len(inputs) == 1 else None


# Values.


def read_weights(argument: str, option: str) -> dict[str, Any]:
    """Numbers and tensors by name; an error shows the place in the argument."""
    flat = "".join("1" if d else c for c, d in zip(argument, bracket_depths(argument), strict=True))
    glued = GLUED.search(flat)
    if glued:
        start, end = glued.span(1)
        raise InputError(
            "usage",
            "names and values are separated by commas",
            help=f"write {cut_text(f'{option} {argument[:start].strip()},{argument[end:].strip()}', 60)}",
        ).about(argument, (start, end))

    def help_at(start: int, is_later: bool) -> str:
        plain = [is_plain_number(argument[a:b].strip()) for a, b in comma_parts(argument)]
        listed = cut_text(f"[{argument.strip()}]", 40)
        if all(plain) and option == "--tangent":
            return f"say which input moves so: {option} x=1,y=0; a list is x={listed}"
        if all(plain):
            return f"for a list write {option} {listed}; for several outputs, x=1,y=0"
        if is_later and is_plain_number(re.split("[,=]", argument[start:])[0].strip()):
            return f"write a list in square brackets: {last_list(argument, start)}"
        return f"names and values are separated by commas: {option} x=1,y=0"

    def missing(name: str) -> InputError:
        return InputError("usage", f"there is no value for '{name}'", help=f"write {name}=1")

    return read_named_values(argument, "VALUE", help_at, missing, constant_value)


def last_list(argument: str, start: int) -> str:
    """``x=[1,0]`` for the plain numbers around an offset in ``x=1,0,y=2``."""
    name, _, first = argument[:start].rstrip(",").rpartition(",")[2].partition("=")
    more = [argument[a:b].strip() for a, b in comma_parts(argument) if a >= start]
    plain = list(takewhile(is_plain_number, more))
    return cut_text(f"{name.strip()}=[{','.join([first.strip(), *plain])}]", 60)


# Shapes.


def shapes_in(argument: str) -> dict[str, tuple[int, ...]]:
    """Shapes by name; an error shows the place in the argument."""

    def wrong(name: str) -> InputError:
        return InputError(
            "bad-shape",
            f"this is not a shape for '{name}'",
            help=f"sizes are positive whole numbers joined by x, such as {name}=150x4",
        )

    def read(written: str, name: str) -> tuple[int, ...]:
        listed = TUPLE.fullmatch(written)
        if listed or SIZES.fullmatch(written):
            digits = re.findall("[0-9]+", listed[1] if listed else written)
            sizes = tuple(map(int, digits))
            if all(sizes):
                return sizes
        error = wrong(name).about(written)
        error.help = SHAPES_HELP if "=" in written else error.help
        raise error

    return read_named_values(argument, "SIZES", lambda *_: SHAPES_HELP, wrong, read)


# Intervals.


def read_intervals(argument: str, option: str) -> dict[str, Interval]:
    """Intervals by name, ``x=0:inf,y=-1:1``, for an option; an error shows the place in the argument."""

    def help_at(start: int, is_later: bool) -> str:
        return f"names and intervals are separated by commas: {option} x=0:inf,y=-1:1"

    def missing(name: str) -> InputError:
        return InputError("bad-range", f"there is no interval for '{name}'", help=help_at(0, False))

    def read(value: str, name: str) -> Interval:
        return as_interval(value, name, infinite=True)

    return read_named_values(argument, "LOW:HIGH", help_at, missing, read)
