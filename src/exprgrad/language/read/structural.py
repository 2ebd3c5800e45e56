"""The parser's actions for tensors: list literals, indices, and calls of structural rows with settings.

Each function takes the parse's graph and text.  Settings are plain data, not nodes.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, NoReturn

from exprgrad.errors import LanguageError
from exprgrad.graph.graph import CONST, Graph, Literal, nest_entries
from exprgrad.graph.ops import COMMON
from exprgrad.graph.structural import MOST_AXES, Parameter, Structural
from exprgrad.graph.tensors import WORDS
from exprgrad.source import Span

__all__ = [
    "ACTIONS", "Setting", "Value", "append_subscript", "list_literal", "structural_call", "whole_at",
]  # fmt: skip

LONGEST_WHOLE_NUMBER = 12
"""The most digits of a whole number in a setting."""
SHORT_OPERAND = 40
"""The longest text of an operand that a hint repeats, in characters."""
LARGEST_WHOLE = 2**53
"""The greatest number up to which doubles hold every whole number."""
WHOLE_OPERATIONS: dict[str, Callable[[int, int], int]] = {
    **dict.fromkeys("+", operator.add),
    **dict.fromkeys("-−", operator.sub),
    **dict.fromkeys("*·×⋅∗∙\u0387", operator.mul),
}
(NEGATION,) = (op.name for op in COMMON if op.prefix)
FLAGS = {"true": True, "false": False, "none": None}

Value = tuple[int, ...]
"""(node, start, end), and of an operand in parentheses its start and end inside them, too."""


class Setting(NamedTuple):
    """A setting's value and where it is written."""

    value: Any
    start: int
    end: int


class Keyword(NamedTuple):
    """``name = setting`` among the operands of a call."""

    name: Span
    setting: Setting


# Settings.


def integer_setting(graph: Graph, text: str, span: Span) -> Setting:
    """A whole number."""
    digits = text[span[0] : span[1]]
    if digits.isdecimal() and len(digits) <= LONGEST_WHOLE_NUMBER:
        return Setting(int(digits), *span)
    message = "this number is too large" if digits.isdecimal() else "this is not a whole number"
    raise LanguageError(
        "bad-setting", message, span=span, help="an index, an axis or a size is a whole number"
    )


def whole_signed(graph: Graph, text: str, sign: Span, given: Setting) -> Setting:
    """A whole number after a sign."""
    value = given.value if text[sign[0]] == "+" else -given.value
    return Setting(value, sign[0], given.end)


def whole_infix(graph: Graph, text: str, left: Setting, symbol: Span, right: Setting) -> Setting:
    """``k - 1``, ``2*k``."""
    sign = text[symbol[0] : symbol[1]]
    work = WHOLE_OPERATIONS.get(sign)
    if work is None:
        message = f"'{sign}' does not belong in an index or a bound"
        raise LanguageError(
            "bad-setting",
            message,
            span=symbol,
            help="it is one whole number: work it out; + - * are allowed there",
        )
    value = work(left.value, right.value)
    if abs(value) > LARGEST_WHOLE:
        raise LanguageError("bad-setting", "this number is too large", span=(left.start, right.end))
    return Setting(value, left.start, right.end)


def whole_at(graph: Graph, node: int | None) -> int | None:
    """Return the whole number of a literal, or None."""
    if node is None:
        return None
    sign = 1
    while graph.kinds[node] in (NEGATION, "parameter"):
        sign = -sign if graph.kinds[node] == NEGATION else sign
        node = graph.operands[node][0]
    number = graph.payloads[node]
    if graph.kinds[node] != CONST or node in graph.symbols or type(number) is not float:
        return None
    return sign * int(number) if number.is_integer() else None


def word_setting(graph: Graph, text: str, span: Span) -> Setting:
    """A flag, or None."""
    name = text[span[0] : span[1]]
    if name.casefold() not in FLAGS:
        help = "a setting is a whole number, a list of them, True or False"
        raise LanguageError("bad-setting", f"'{name}' is not a setting", span=span, help=help)
    return Setting(FLAGS[name.casefold()], *span)


def slice_of(graph: Graph, text: str, *parts: Any) -> Setting:
    """A slice's start and stop, None for an end of the axis; the colon's part is a plain span."""
    at = next(at for at, part in enumerate(parts) if not isinstance(part, Setting))
    start, stop = parts[:at], parts[at + 1 :]
    ends = start[0].value if start else None, stop[0].value if stop else None
    return Setting(ends, parts[0][-2], parts[-1][-1])


# Nodes.


def empty_list(graph: Graph, text: str, left: Span, right: Span) -> NoReturn:
    """``[]``."""
    help = "a tensor holds at least one number"
    raise LanguageError("empty-list", "this list is empty", span=(left[0], right[1]), help=help)


def list_literal(graph: Graph, text: str, left: Span, elements: list[Value], right: Span) -> Value:
    """Append ``[…]``: one constant if all elements are numbers, else a stack."""
    span = left[0], right[1]
    literal = literal_of(graph, [element[0] for element in elements], span)
    if literal is None:
        return append_structural(graph, "stack", elements, (0,), span)
    graph.truncate(first_of_literal(graph, elements[0][0]))
    return graph.append(CONST, (), literal, span), *span


def append_structural(
    graph: Graph, kind: str, operands: Sequence[Value], settings: tuple[Any, ...], span: Span
) -> Value:
    """Append a structural operation."""
    nodes = tuple([operand[0] for operand in operands])
    occurrences = tuple([(operand[-2], operand[-1]) for operand in operands])
    return graph.append(kind, nodes, settings, span, occurrences), *span


def literal_of(graph: Graph, nodes: list[int], span: Span) -> Literal | None:
    """Join numbers, or literals of one shape, into a literal; None for anything else."""
    known = [part for node in nodes if (part := number_or_literal(graph, node, span)) is not None]
    if len(known) < len(nodes) or len({part.shape for part in known}) > 1:
        return None
    if len(known[0].shape) >= MOST_AXES:
        return None
    numbers = tuple([number for part in known for number in part.numbers])
    return Literal((len(known), *known[0].shape), numbers)


def number_or_literal(graph: Graph, node: int, place: Span) -> Literal | None:
    """Return the literal at a place, a number with or without a minus or a list, or None."""
    first = first_of_literal(graph, node)
    payload = graph.payloads[first]
    is_there = place[0] <= graph.starts[first] and graph.ends[first] <= place[1]
    if graph.kinds[first] != CONST or first in graph.symbols or not is_there:
        return None
    if isinstance(payload, Literal):
        return payload if first == node else None
    assert isinstance(payload, float)
    return Literal((), (payload if first == node else -payload,))


def first_of_literal(graph: Graph, node: int) -> int:
    """Return the first node of a literal, whose sign comes after its number."""
    return graph.operands[node][0] if graph.kinds[node] == NEGATION else node


def append_subscript(
    graph: Graph, text: str, value: Value, left: Span, places: list[Setting], right: Span
) -> Value:
    """``x[0, 1:3]``."""
    at = tuple([place.value for place in places])
    return append_structural(graph, "index", [value], (at,), (value[1], right[1]))


# Calls.


def structural_call(
    graph: Graph,
    text: str,
    name: Span,
    values: Sequence[Value | Keyword],
    right: Span,
    *,
    elementwise: bool,
) -> Value | None:
    """Append a call of a structural row; None if the word before the parentheses names none.

    ``elementwise``: whether the word also names an elementwise row, as ``max`` does.
    """
    row = WORDS.get(text[name[0] : name[1]])
    keywords = [value for value in values if isinstance(value, Keyword)]
    operands = [value for value in values if not isinstance(value, Keyword)]
    span = name[0], right[1]
    if row is not None and elementwise and not operands:
        help = f"write {row.word}(x) of a tensor, or {row.word}(x, y, …) element by element"
        message = f"{row.word} takes one or more operands, but is given 0"
        raise LanguageError("arity", message, span=span, help=help)
    if row is None or (elementwise and len(operands) != 1):
        if keywords and (row is not None or elementwise):
            raise surplus_keyword(text, name, keywords[0], several=row is not None)
        return None
    count = len(operands) if row.variadic else len(row.names)
    extra = [] if elementwise else operands[count:]
    if len(operands) < max(count, 1) or not are_settings(graph, row, operands, extra):
        message = f"{row.word} takes {row.arity_words()}, but is given {len(operands)}"
        ours = suggest_indexed_sum(text, row.word, operands)
        help = (
            f"over an index write {ours}" if ours else call_hint(text, row, operands[:count], extra)
        )
        error = LanguageError("arity", message, span=span, help=help)
        raise error.mended_by((*span, ours) if ours else None)
    if row.variadic and count == 1 and is_list(graph, text, operands[0]):
        inside = text[operands[0][-2] + 1 : operands[0][-1] - 1].strip()
        help = f"write {row.word}({inside if len(inside) <= SHORT_OPERAND else 'a, b'})"
        message = f"{row.word} takes its operands one by one, not in a list"
        raise LanguageError("arity", message, span=operands[0][-2:], help=help)  # type: ignore[arg-type]
    return append_structural(
        graph,
        row.name,
        operands[:count],
        settings_of(graph, text, row, span, extra, keywords),
        span,
    )


def suggest_indexed_sum(text: str, word: str, operands: Sequence[Value]) -> str:
    """``sum(x^k, k, 1, 10)`` and ``sum(k, 1, 10, x^k)`` of other tools in our words, else ""."""
    parts = [text[value[1] : value[2]] for value in operands]
    if len(parts) != 4 or word not in ("sum", "prod", "mean"):
        return ""
    body, index, low, high = parts if parts[1].isidentifier() else (parts[3], *parts[:3])
    whole = re.fullmatch(r"-?\w+", low) and re.fullmatch(r"-?\w+", high)
    named = index.isidentifier() and re.search(rf"\b{index}\b", body)
    return f"{word}({body} for {index} in {low}..{high})" if whole and named else ""


def are_settings(
    graph: Graph, row: Structural, operands: Sequence[Value], extra: Sequence[Value]
) -> bool:
    """Tell settings behind the operands from further operands."""
    if len(extra) > len(row.parameters):
        return False
    if not extra or not row.along_axes:
        return True
    first = number_or_literal(graph, operands[0][0], (operands[0][1], operands[0][2]))
    if first is not None and not first.shape:
        return False  # a number that is written out has no axes
    return all(
        number_or_literal(graph, value[0], (value[1], value[2])) is not None for value in extra
    )


def is_list(graph: Graph, text: str, value: Value) -> bool:
    """Tell whether an operand is written as a list."""
    return graph.kinds[value[0]] in ("stack", CONST) and text[value[-2]] == "["


def call_hint(text: str, row: Structural, operands: Sequence[Value], extra: Sequence[Value]) -> str:
    """Help for a call with too few or too many operands."""
    from exprgrad.language.mistakes.hints import swap_hint

    kinds = [parameter.kind for parameter in row.parameters]
    written = [text[value[1] : value[2]] for value in (*operands, *extra)]
    is_short = bool(extra) and max(map(len, written)) <= SHORT_OPERAND
    if is_short and kinds == ["order"] and len(written) == 3:
        swap = swap_hint(written[0], written[1:])
        if swap is not None:
            return swap
    if is_short and kinds and kinds[-1] in ("order", "shape"):
        given, listed = (
            ", ".join(part) for part in (written[: len(operands)], written[len(operands) :])
        )
        return f"write {row.word}({given}, {row.parameters[-1].name}=[{listed}])"
    if extra and row.along_axes:
        return reduction_hint(row, written)
    return f"write {call_usage(row)}"


def reduction_hint(row: Structural, written: list[str]) -> str:
    """Suggest how to fix a reduction, which takes one operand, that was given several."""
    if row.name == "norm" and written[1:] == ["inf"]:
        from exprgrad.language.mistakes.hints import norm_hint

        return norm_hint(written, {})
    for part in written:
        compared = re.match(r"(axis|keepdims)\s*==", part)
        if compared:
            value = "0" if compared[1] == "axis" else "True"
            return f"a setting has one =: {compared[1]}={value}"
    flag = next((part for part in written if part.casefold() in ("true", "false")), None)
    if flag and len(row.parameters) > 1:
        return f"write keepdims={flag}"
    aside = "; to add two, write x + y" if row.name == "sum" else ""
    listed = ", ".join(written)
    given = listed if len(listed) <= SHORT_OPERAND else "x, y"
    return f"for several numbers write {row.word}([{given}]){aside}"


def call_usage(row: Structural) -> str:
    """Write an example of a call, with the settings that are required."""
    names = ["x", "y", "…"] if row.variadic else row.names
    needed = [
        example_setting(parameter) for parameter in row.parameters if parameter.default is ...
    ]
    return f"{row.word}({', '.join([*names, *needed])})"


def surplus_keyword(text: str, name: Span, keyword: Keyword, *, several: bool) -> LanguageError:
    """The error for a setting of a function that has none."""
    word = text[name[0] : name[1]]
    key = text[keyword.name[0] : keyword.name[1]]
    help = "its operands are given in order, without names; to compare, write =="
    if several:
        help = f"{word} of several operands goes element by element; for an axis, give it one"
    return LanguageError(
        "bad-setting", f"{word} takes no setting '{key}'", span=keyword.name, help=help
    )


# A call's settings.


def settings_of(
    graph: Graph,
    text: str,
    row: Structural,
    span: Span,
    extra: Sequence[Value],
    keywords: Sequence[Keyword],
) -> tuple[Any, ...]:
    """Collect a row's settings from the values behind its operands and from keywords."""
    behind = [*zip(row.parameters, extra, strict=False)][::-1]  # the last nodes are dropped first
    found = {parameter.name: drop_literal(graph, row, value) for parameter, value in behind}
    names = [parameter.name for parameter in row.parameters]
    for keyword in keywords:
        key = text[keyword.name[0] : keyword.name[1]]
        if key not in names:
            help = keyword_hint(row, key, keyword.setting)
            raise LanguageError(
                "bad-setting", f"{row.word} has no setting '{key}'", span=keyword.name, help=help
            )
        if key in found:
            raise LanguageError("bad-setting", f"'{key}' is given twice", span=keyword.name)
        found[key] = keyword.setting
    return tuple([check_setting(row, p, found.get(p.name), span) for p in row.parameters])


def keyword_hint(row: Structural, key: str, setting: Setting) -> str:
    """Help for a setting that a row does not have."""
    from exprgrad.language.mistakes.foreign import SETTINGS
    from exprgrad.language.mistakes.hints import nearest_word, norm_hint

    if row.name == "norm" and key in ("ord", "p"):
        return norm_hint(["x"], {key: str(setting.value)})
    names = [parameter.name for parameter in row.parameters]
    near = SETTINGS[key] if SETTINGS.get(key) in names else nearest_word(key, names)
    if near:
        return f"did you mean '{near}'?"
    return (
        f"its settings are {', '.join(map(example_setting, row.parameters))}"
        if names
        else "it has none"
    )


def drop_literal(graph: Graph, row: Structural, value: Value) -> Setting:
    """Take a literal after the operands out of the graph again, as a setting."""
    node, *span = value[:3]
    literal = number_or_literal(graph, node, (value[1], value[2]))
    message = f"this is not a setting of {row.word}"
    if literal is None or not all(number.is_integer() for number in literal.numbers):
        help = f"settings come after its operands, such as {example_setting(row.parameters[0])}"
        raise LanguageError("bad-setting", message, span=(value[1], value[2]), help=help)
    if len(literal.shape) > 1:
        raise LanguageError("bad-setting", message, span=(value[1], value[2]))
    graph.truncate(first_of_literal(graph, node))
    whole = tuple(map(int, literal.numbers))
    return Setting(nest_entries(whole, literal.shape, tuple), *span)


class SettingKind(NamedTuple):
    """A kind of settings: a test for its values, its name in words, and an example."""

    fits: Callable[[Any], bool]
    words: str
    example: str


def is_whole_setting(value: Any) -> bool:
    """Tell whether a setting is a whole number."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_listed(value: Any) -> bool:
    """Tell whether a setting is a list of whole numbers."""
    return isinstance(value, tuple) and all(map(is_whole_setting, value))


KINDS = {
    "axis": SettingKind(is_whole_setting, "a whole number", "0"),
    "axes": SettingKind(
        lambda v: v is None or is_whole_setting(v) or is_listed(v),
        "a whole number or a list of them",
        "0",
    ),
    "order": SettingKind(lambda v: v is None or is_listed(v), "a list of axes", "[1, 0]"),
    "flag": SettingKind(lambda v: isinstance(v, bool) or v in (0, 1), "True or False", "True"),
    "size": SettingKind(lambda v: is_whole_setting(v) and v > 0, "a positive whole number", "3"),
    "shape": SettingKind(
        lambda v: (
            (is_whole_setting(v) and v > 0) or (is_listed(v) and all(length > 0 for length in v))
        ),
        "a list of positive whole numbers",
        "[2, 3]",
    ),
    "places": SettingKind(
        lambda v: (
            isinstance(v, tuple)
            and all(
                is_whole_setting(place)
                or (
                    isinstance(place, tuple)
                    and len(place) == 2
                    and all(end is None or isinstance(end, int) for end in place)
                )
                for place in v
            )
        ),
        "a list of indices and [start, stop] pairs",
        "[0]",
    ),
}
"""A parameter's kind → the settings that it takes."""


def example_setting(parameter: Parameter) -> str:
    """Write an example of a setting."""
    return f"{parameter.name}={KINDS[parameter.kind].example}"


def check_setting(row: Structural, parameter: Parameter, given: Setting | None, span: Span) -> Any:
    """Return a parameter's value, or its default; refuse one of another kind."""
    if given is None:
        if parameter.default is ...:
            message = f"{row.word} needs its setting '{parameter.name}'"
            raise LanguageError("bad-setting", message, span=span, help=f"write {call_usage(row)}")
        return parameter.default
    kind, value = KINDS[parameter.kind], given.value
    checked = value
    if row.name == "reshape":  # a length of -1 is worked out later
        listed = value if isinstance(value, tuple) else (value,)
        checked = tuple([1 if length == -1 else length for length in listed])
    if not kind.fits(checked):
        place = given.start, given.end
        raise LanguageError(
            "bad-setting",
            f"{parameter.name} is {kind.words}",
            span=place,
            help=f"such as {example_setting(parameter)}",
        )
    if parameter.kind == "flag":
        return bool(value)
    return (value,) if parameter.kind == "shape" and is_whole_setting(value) else value


ACTIONS: dict[str, Callable[..., Any]] = {
    "empty_list": empty_list,
    "integer": integer_setting,
    "keyword": lambda graph, text, name, equals, setting: Keyword(name, setting),
    "list": list_literal,
    "settings": lambda graph, text, left, listed, right: Setting(
        tuple([setting.value for setting in listed]), left[0], right[1]
    ),
    "slice": slice_of,
    "subscript": append_subscript,
    "transposed": lambda graph, text, value, mark: append_structural(
        graph, "transpose", [value], (None,), (value[1], mark[1])
    ),
    "whole_group": lambda graph, text, left, given, right: Setting(given.value, left[0], right[1]),
    "whole_infix": whole_infix,
    "whole_signed": whole_signed,
    "word": word_setting,
}
"""Rule of the grammar for tensors → its action."""
