"""Values for inputs: numbers, constant expressions, and errors for anything else."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from math import inf
from os import PathLike, fspath
from typing import Any, NoReturn

from exprgrad.derive.parsed import parse_and_derive
from exprgrad.errors import (
    Asker,
    ExprgradError,
    InputError,
    LanguageError,
    command_or_python,
    require_kind,
    whole_number,
)
from exprgrad.graph.graph import Graph, Shape, shape_size
from exprgrad.language.read.builder import CONSTANTS, LEAST_NORMAL, SAFE_DIGITS, has_digits
from exprgrad.language.read.parse import at_shapes
from exprgrad.run.evaluation import NOTHING, evaluator_for
from exprgrad.source import Source, Span, bracket_depths

__all__ = [
    "BRACKETED", "FLOAT", "OPTIONS", "as_held", "as_number", "as_value", "asked_names", "between_colons",
    "constant_value", "declared_shapes", "detach_value", "file", "has_parts", "is_plain_number", "is_range",
    "is_uncertain", "missing_values", "normal_name", "not_an_input", "outer_signs", "refuse_bare_path",
    "refuse_text", "resolve_inputs", "select_inputs", "surplus_value", "unexpected_uncertainty",
    "value_texts",
]  # fmt: skip

FLOAT = frozenset((float,))
PLAIN = frozenset("0123456789+-.eE")
"""The characters of a typed number; Python reads others too, as in ``1_0``."""
FILE = r"(?i)^[^@].*\.(?:npy|json|csv(?::.*)?)$"
"""The name of a file in place of a value."""
PLUS_MINUS = r"±|\+/?[-−]"
"""The sign between a value and its uncertainty."""
BRACKETED = (
    r"\s*([-+−]?(?:[0-9]+\.?[0-9]*|\.[0-9]+))\(\s*([-+]?[0-9.]+)\s*(\)?)((?:[eE][-+]?[0-9]+)?)\s*"
)
"""``2.00(10)`` and ``1.2345(67)e-3``: an uncertainty in the last digits of a value."""
DOTTED = r"([^:=\[\]]+)\.\.([^:=\[\]]+)"
"""A range as in other tools."""
NOT_REAL = "cSUmM"
"""The kinds of NumPy types that are not real, though Python would turn their scalars into floats."""
MOST_NUMBERS = 2**53
"""The most numbers of a tensor with a declared shape: up to here they are counted exactly."""
OPTIONS = frozenset({
    "adam", "bad_rows", "bounds", "by", "check_content", "claims", "cluster", "correct",
    "cotangent", "decimal", "delimiter", "descend", "elastic", "h", "hessian", "line_search", "map",
    "maximize", "momentum", "nodes", "of", "only", "order", "output", "prefix", "rate", "reduce",
    "resume", "seed", "sheet", "show_digits", "shown", "starts", "steps", "subject", "tangent",
    "threads", "to", "value_only", "where", "wrt",
})  # fmt: skip
"""The options of an expression's methods: keywords of these names give no input a value."""
VALUE_WORDS = {
    "e": "exp(1)", "false": "0", "inf": "inf", "infinity": "inf", "nan": "nan", "pi": "pi",
    "tau": "2*pi", "true": "1", "π": "pi", "τ": "2*pi",
}  # fmt: skip


def constant_value(text: str, name: str) -> Any:
    """Read a number, a constant expression (``1/3``, ``[1, pi/2]``), or a file (``@x.npy``)."""
    if is_plain_number(text):
        return float(text)
    if text.lstrip()[:1] == "@":
        return in_file(text.strip()[1:], name) if Asker.by_command else refuse_text(text, name)
    refuse_bare_path(text, name)
    if is_range(text):
        shell = "eval, grad and hess take START:STOP:COUNT, plot and solve LOW:HIGH"
        raise InputError(
            "bad-value",
            f"the value of '{name}' is a range, and here it has to be one number or a list",
            help=f"{command_or_python(shell, 'f.table takes ranges')}; a list is {name}=[0, 0.5, 1]",
        ).about(text)
    if is_uncertain(text):
        raise unexpected_uncertainty(text, name)
    try:
        graph = parse_and_derive(text, is_expression=False)
    except LanguageError as error:
        error.help = list_hint(text, name) or error.help
        raise
    for read, node in graph.inputs.items():
        known = VALUE_WORDS.get(read.casefold())
        help = "a value is a number or a constant expression, such as 1/3 or -2*pi"
        if known is not None:
            help = f"write {name}={known}" if text.strip() == read else f"write {known}"
        raise InputError(
            "bad-value", f"the value of '{name}' is not a constant: it reads '{read}'", help=help
        ).about(text, graph.span(node))
    try:
        graph = at_shapes(graph, text, {})
    except ExprgradError as error:
        raise error.at(Source(text, is_expression=False)) from None
    return evaluator_for(graph).forward({})[graph.output]


def file(path: str | PathLike[str]) -> PathLike[str]:
    """Name a file of numbers: ``f(V=exprgrad.file("data.csv:V"))``; in a shell ``V=@data.csv:V``.

    Any path will do as well.  A string never opens a file, since it may come from strangers.
    """
    from pathlib import Path

    return Path(path)


def refuse_text(text: str, name: str) -> NoReturn:
    """Raise for a string that names a file, as a shell's user may."""
    path = text.strip().removeprefix("@")
    word, _, constant = path.partition(":")
    is_constant = word.casefold() == "codata"
    call = f"exprgrad.codata({constant or name!r})" if is_constant else f"exprgrad.file({path!r})"
    raise InputError(
        "bad-value",
        f"the value of '{name}' is a string, and a string does not open files",
        help=f"if the {'constant' if is_constant else 'file'} is meant, write {call}",
    ).about(text)


def in_file(path: str, name: str) -> Any:
    """Read the number or the tensor in a file."""
    from exprgrad.run.values.files import read_tensor

    return as_held(read_tensor(path, name), name, path)


def as_held(value: object, name: str, path: str) -> Any:
    """Return a file's contents as a double or a tensor; in a shell errors quote them."""
    try:
        return as_value(value, name)
    except ExprgradError as error:
        if hasattr(value, "dtype"):  # an array is described by itself
            raise
        if not Asker.by_command:
            raise InputError(
                "bad-value", f"the value of '{name}' in '{path}' is not a number, nor a tensor"
            ) from None
        if isinstance(error, InputError):
            error.at(path)
        raise


def is_plain_number(text: str) -> bool:
    """Whether a text is a typed number."""
    if not PLAIN.issuperset(text):
        return False
    try:
        float(text)
    except ValueError:
        return False
    return True


def is_range(value: object) -> bool:
    """Whether a value is written as a range or an interval: parts with colons between."""
    return isinstance(value, str) and ":" in value and len(between_colons(value)) > 1


def between_colons(text: str) -> list[Span]:
    """Return the spans between colons; a colon in brackets, or in a file's name, separates nothing."""
    if text.lstrip()[:1] == "@":
        return [(0, len(text))]
    colons = [at for at, _ in outside_brackets(":", text, text)]
    return list(zip([0, *(at + 1 for at in colons)], [*colons, len(text)], strict=True))


def outside_brackets(pattern: str, text: str, bracketed: str) -> list[Span]:
    """Find a pattern outside brackets; ``bracketed``, of the same length, has the brackets."""
    found = [match.span() for match in re.finditer(pattern, text)]
    levels = bracket_depths(bracketed) if found else ()
    return [span for span in found if not levels[span[0]]]


def is_uncertain(text: str) -> bool:
    """Whether a text is written as an uncertain number, ``2.0±0.1``, or has one in a list."""
    if "±" in text or "+/-" in text:
        return True
    is_file = text.lstrip()[:1] == "@"
    bracketed = rf"(?:^|[\[,]){BRACKETED}(?:$|[\],])"
    return not is_file and bool(re.search(bracketed, text) or outer_signs(text, in_lists=True))


def outer_signs(text: str, *, in_lists: bool = False) -> list[Span]:
    """Find ``±``, ``+-`` or ``+/-`` outside brackets, or outside round ones alone."""
    bracketed = text.replace("[", " ").replace("]", " ") if in_lists else text
    return outside_brackets(PLUS_MINUS, text, bracketed)


def unexpected_uncertainty(text: str, name: str) -> InputError:
    """Return the error for an uncertain number in place of an exact one."""
    error = InputError(
        "uncertain",
        f"the value of '{name}' is uncertain, and here it has to be an exact number",
        help="eval and grad take uncertain inputs; elsewhere leave out the uncertainty",
    )
    return error.about(text) if text else error


def value_texts(values: Mapping[str, object]) -> Mapping[str, str]:
    """Return the texts of values that may not be their doubles' texts: long decimals, and constants."""
    if FLOAT.issuperset(map(type, values.values())):
        return NOTHING
    found = {
        name: text.strip()
        for name, text in values.items()
        if isinstance(text, str) and is_spelled(text)
    }
    return {normal_name(name): text for name, text in found.items()} if found else NOTHING


def is_spelled(text: str) -> bool:
    """Whether a value may differ from the shortest text of its double."""
    if not is_plain_number(text):
        return not text.startswith("@")
    is_normal = LEAST_NORMAL <= abs(float(text)) < inf or not has_digits(text)
    return len(text) > SAFE_DIGITS or not is_normal


def refuse_bare_path(text: str, name: str) -> None:
    """Raise for a file's name without '@' before it."""
    path = text.strip()
    if re.search(FILE, path):
        if not Asker.by_command:
            refuse_text(text, name)
        raise InputError(
            "bad-value",
            f"the value of '{name}' is a file's name without '@'",
            help=f"to read a file write {name}=@{path}",
        ).about(text)


def list_hint(text: str, name: str) -> str | None:
    """Suggest how to write a value that is no formula: a list, several values, a quotient; or None."""
    another = re.search(r"\s([^\W\d]\w*)\s*=(?!=)", text)
    before = text[: another.start()] if another else ""
    if another and all(before.count(a) <= before.count(b) for a, b in ("()", "[]")):
        return f"each value is an argument of its own: {name}=… {another[1]}=…"
    plain = text.strip()
    dotted = re.fullmatch(DOTTED, plain)
    if dotted:
        ends = f"{dotted[1].strip()}:{dotted[2].strip()}"
        count = f"{name}={ends} in solve and plot, {name}={ends}:11, with its count, elsewhere"
        return f"a range is {count}; a list, {name}=[0, 0.5, 1]"
    if plain[-1:] == "%" and is_plain_number(plain[:-1].rstrip()):
        return f"a percentage is a quotient: write {name}={plain[:-1].rstrip()}/100"
    if plain[:1] in ("{", "(") and plain[-1:] in ("}", ")"):
        plain = plain[1:-1]
    if re.fullmatch(r"[-+]?[1-9][0-9]{0,2}(,[0-9]{3})+(\.[0-9]*)?", text.strip()):
        return f"write {name}={plain.replace(',', '')}; for a list, {name}=[{plain}]"
    if "," in plain and all(is_plain_number(part.strip()) for part in plain.split(",")):
        decimal = "; a decimal point is '.'" if re.fullmatch(r"[0-9]+,[0-9]+", text.strip()) else ""
        return f"for a list write {name}=[{','.join(part.strip() for part in plain.split(','))}]{decimal}"
    return None


def as_value(value: object, name: str) -> Any:
    """Return a double, or a NumPy array of doubles for a tensor; a text is read as a constant."""
    if type(value) is float:
        return value
    if isinstance(value, str):
        return constant_value(value, name)
    if hasattr(value, "__fspath__"):
        return in_file(fspath(value), name)
    if has_parts(value):
        from exprgrad.run.arrays.arrays import as_tensor

        return as_tensor(detach_value(value), name, as_number)
    return as_number(value, name)


def has_parts(value: object) -> bool:
    """Whether a value is a list or some library's array, not a number."""
    listed = isinstance(value, Sequence) and not isinstance(value, bytes | bytearray)
    return listed or bool(getattr(value, "ndim", 0))


def as_number(value: object, name: str) -> float:
    """Return any number as a double; a text is read as a constant expression."""
    is_read = isinstance(value, str) or hasattr(value, "__fspath__")
    found = as_value(value, name) if is_read else number_as_double(value, name)
    if isinstance(found, float):
        return found
    raise InputError("bad-value", f"the value of '{name}' is not a number but a tensor")


def number_as_double(value: object, name: str) -> float:
    """Return a number of Python or some library as a double."""
    dtype = getattr(value, "dtype", None)
    value = detach_value(value)
    try:
        if getattr(dtype, "kind", "f") in NOT_REAL:
            raise TypeError
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, RuntimeError) as error:
        if getattr(value, "is_uncertain", False) or hasattr(value, "std_dev"):
            raise unexpected_uncertainty("", name) from None
        kind = type(value).__name__ if dtype is None else str(dtype)
        message = f"the value of '{name}' is not a number: {kind}"
        if isinstance(error, RuntimeError):
            message = f"the value of '{name}' is not a real number"
        raise InputError("bad-value", message) from None
    except OverflowError:
        raise InputError("bad-value", f"the value of '{name}' is too large for a double") from None


def detach_value(value: object) -> Any:
    """Return a value; a PyTorch tensor is detached from its gradient."""
    detach = getattr(value, "detach", None)
    return detach() if callable(detach) else value


def resolve_inputs(
    graph: Graph,
    text: str,
    given: Mapping[str, object],
    spelled: Mapping[str, str] | None = None,
    *,
    partly: bool = False,
) -> dict[str, Any]:
    """Return every input's value, in order of appearance; raise for what is missing or unknown.

    ``spelled`` holds the arguments as typed, for the excerpts in errors.  With ``partly``
    inputs may be without a value.
    """
    if given.keys() == graph.inputs.keys() and FLOAT.issuperset(map(type, given.values())):
        return {name: given[name] for name in graph.inputs}  # quick, as every run asks it
    given = {normal_name(name): value for name, value in given.items()}
    missing = [] if partly else [name for name in graph.inputs if name not in given]
    for name in given:
        if name not in graph.inputs:
            raise surplus_value(graph, text, name, missing, spelled or {}, given)
    if missing:
        raise missing_values(graph, text, missing)
    return {name: as_value(given[name], name) for name in graph.inputs if name in given}


def declared_shapes(graph: Graph, shapes: Mapping[str, Sequence[int]] | None) -> dict[str, Shape]:
    """Return the shapes declared for inputs; raise for an unknown name and for a bad shape."""
    found: dict[str, Shape] = {}
    if shapes is None:
        return found
    require_kind(shapes, Mapping, "shapes are a mapping, such as {'X': (150, 4)}")
    for given, sizes in shapes.items():
        name = normal_name(given)
        if name not in graph.inputs:
            raise not_an_input(graph, name)
        is_text = isinstance(sizes, str | bytes) or not isinstance(sizes, Iterable)
        alone = is_text or whole_number(sizes) is not None
        lengths = [whole_number(length) for length in ([sizes] if alone else sizes)]
        listed = tuple([length for length in lengths if length is not None and length > 0])
        if len(listed) < len(lengths):
            raise InputError(
                "bad-shape",
                f"the shape of '{name}' is not a list of positive whole numbers",
                help="such as (150, 4); a number's shape is ()",
            )
        if shape_size(listed) > MOST_NUMBERS:
            raise InputError("bad-shape", f"the shape of '{name}' is for more than 2^53 numbers")
        found[name] = listed
    return found


def normal_name(name: object) -> str:
    """Normalize a name to NFC, as in the language."""
    if not isinstance(name, str):
        raise InputError("unknown-input", f"an input's name is a string, not {type(name).__name__}")
    if name.isascii():
        return name
    import unicodedata

    return unicodedata.normalize("NFC", name)


MOST_JOINED = 20
"""The most names that are tried as products and calls of the inputs that have values."""


def surplus_value(
    graph: Graph,
    text: str,
    name: str,
    missing: list[str],
    spelled: Mapping[str, str],
    given: Collection[str] = (),
) -> InputError:
    """Return the error for a value that the expression does not use."""
    from exprgrad.language.mistakes.hints import called_word, did_you_mean

    expression = Source(text)
    for word in [word for word in missing if name in word][:MOST_JOINED]:
        if ours := called_word(word, given):
            message = f"'{word}' is one name, and '{name}' another"
            place, help = graph.span(graph.inputs[word]), f"write {ours}"
            return InputError("unknown-input", message, source=expression, span=place, help=help)
    for binding in graph.bindings:
        if binding.name == name:
            return InputError(
                "bound-name",
                f"'{name}' is bound by the expression and takes no value",
                source=expression,
                span=binding.span,
                help=f"leave out {name}=…, or the statement that binds it",
            )
    if name in CONSTANTS:
        message = f"'{name}' is a constant and takes no value"
        help = f"leave out {name}=…, or choose another name"
        places: list[Span] = [graph.span(n) for n, s in graph.symbols.items() if s == name]
        if places:
            return InputError("constant", message, source=expression, span=places[0], help=help)
    else:
        message = f"the expression does not read '{name}'"
        help = did_you_mean(name, missing or graph.inputs, inputs_in_words(graph))
    argument = spelled.get(name, name)
    code = "constant" if name in CONSTANTS else "unknown-input"
    return InputError(code, message, help=help).about(argument, (0, min(len(name), len(argument))))


def inputs_in_words(graph: Graph) -> str:
    """Write the inputs of an expression; a long list is cut."""
    names = list(graph.inputs)
    if len(names) < 2:
        return f"its only input is {names[0]}" if names else "it has no inputs"
    return f"its inputs are {', '.join(names[:20])}{', …' if len(names) > 20 else ''}"


def missing_values(graph: Graph, text: str, missing: list[str]) -> InputError:
    """Return the error for inputs without a value."""
    from exprgrad.language.mistakes.hints import constant_hint

    first, *others = missing
    message = f"input '{first}' has no value"
    if others:
        more = f" and {len(others) - 4} more" if len(others) > 5 else ""
        shown = others[:4] if more else others
        message = f"inputs {', '.join(repr(n) for n in [first, *shown])}{more} have no value"
    values = " ".join(f"{name}=…" for name in missing[:8])
    taken = [name for name in missing if name in OPTIONS and not Asker.by_command]
    help = f"give {'each' if others else 'it'} a number: {values}"
    if taken:
        option = taken[0]
        help = f"'{option}' is an option, too: write {{'{option}': …}} as the first argument"
    hint = constant_hint(graph, text, missing)
    if hint is not None:
        help = f"{hint}; or {help}"
    return InputError(
        "missing-input",
        message,
        source=Source(text),
        span=graph.span(graph.inputs[first]),
        help=help,
    )


def asked_names(listed: Iterable[str]) -> list[str]:
    """Return the requested names, of which a single one may be given by itself."""
    several = isinstance(listed, Iterable) and not isinstance(listed, str)
    return list(map(normal_name, listed if several else [listed]))


def select_inputs(graph: Graph, wrt: Iterable[str] | None) -> tuple[str, ...]:
    """Select the inputs to differentiate, in order of appearance; all by default."""
    if wrt is None:
        return tuple(graph.inputs)
    chosen = asked_names(wrt)
    for name in chosen:
        if name not in graph.inputs:
            raise not_an_input(graph, name)
    if not chosen:
        raise InputError("unknown-input", "no input is chosen to differentiate with respect to")
    wanted = set(chosen)
    if len(wanted) < len(chosen):
        twice = next(name for place, name in enumerate(chosen) if name in chosen[:place])
        raise InputError(
            "unknown-input",
            f"'{twice}' appears twice",
            help=f"differentiate twice with {command_or_python('diff --order 2 or hess', 'f.hessian(…)')}",
        ).about(twice)
    return tuple(name for name in graph.inputs if name in wanted)


def not_an_input(graph: Graph, name: str) -> InputError:
    """Return the error for a name in ``wrt`` that is not an input."""
    from exprgrad.language.mistakes.hints import did_you_mean

    help = did_you_mean(name, graph.inputs, inputs_in_words(graph))
    parts = re.findall(r"[^\s;]+", name)
    if parts[1:]:
        help = f"names are separated by ',': {','.join(parts)}"
    message = f"'{name}' is not an input of the expression"
    if any(binding.name == name for binding in graph.bindings):
        message = f"'{name}' is bound by the expression and is not an input"
    elif name in graph.symbols.values():
        message = f"'{name}' is a constant and is not an input"
    return InputError("unknown-input", message, help=help).about(name)
