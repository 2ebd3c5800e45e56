"""What the parser does with calls of structural rows: operands, and settings behind them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from exprgrad.graph.graph import CONST
from exprgrad.graph.structural import Parameter, Structural
from exprgrad.graph.tensors import WORDS
from exprgrad.language.read.literals import Keyword, Setting, first_of_literals, number_or_literal
from exprgrad.source import Span

if TYPE_CHECKING:
    from exprgrad.language.read.parse import Builder, Value

__all__ = ["call"]

SHORT = 40
"""The longest text of an operand that a hint repeats, in characters."""


def call(
    builder: Builder, name: Span, values: list[Value | Keyword], right: Span, *, elementwise: bool
) -> Value | None:
    """A call of a structural row; None if the word before the parentheses is none.

    ``elementwise``: whether the word is also that of an elementwise row, as ``max`` is.
    """
    row = WORDS.get(builder.text[name[0] : name[1]])
    keywords = [value for value in values if isinstance(value, Keyword)]
    operands = [value for value in values if not isinstance(value, Keyword)]
    if row is not None and elementwise and not operands:
        message = f"{row.word} takes one or more operands, but is given 0"
        help = f"write {row.word}(x) of a tensor, or {row.word}(x, y, …) element by element"
        builder.fail("arity", message, (name[0], right[1]), help)
    if row is None or (elementwise and len(operands) != 1):
        if keywords and (row is not None or elementwise):
            refuse_keyword(builder, row, name, keywords[0], several=row is not None)
        return None
    span = name[0], right[1]
    count = len(operands) if row.variadic else len(row.names)
    extra = [] if elementwise else operands[count:]
    reduces = bool(row.parameters) and row.parameters[0].name == "axis"
    surplus = [v for v in extra if reduces and number_or_literal(builder, v[0], v[1]) is None]
    if reduces and extra and is_number(builder, operands[0]):
        surplus = extra
    if len(operands) < max(count, 1) or len(extra) > len(row.parameters) or surplus:
        message = f"{row.word} takes {row.arity_words()}, but is given {len(operands)}"
        builder.fail("arity", message, span, call_hint(builder, row, operands[:count], extra))
    if row.variadic and count == 1 and is_list(builder, operands[0]):
        inside = builder.text[operands[0][-2] + 1 : operands[0][-1] - 1].strip()
        help = f"write {row.word}({inside if len(inside) <= SHORT else 'a, b'})"
        message = f"{row.word} takes its operands one by one, not in a list"
        builder.fail("arity", message, operands[0][-2:], help)  # type: ignore[arg-type]
    settings = settings_of(builder, row, span, extra, keywords)
    operands = operands[:count]
    node = builder.graph.append(
        row.name,
        tuple([value[0] for value in operands]),
        settings,
        span,
        tuple([(value[-2], value[-1]) for value in operands]),
    )
    return node, *span


def is_number(builder: Builder, value: Value) -> bool:
    """Whether an operand is a number that is written out: nothing to reduce along an axis."""
    literal = number_or_literal(builder, value[0], value[1])
    return literal is not None and not literal.shape


def is_list(builder: Builder, value: Value) -> bool:
    """Whether an operand is a list as it stands."""
    kind = builder.graph.kinds[value[0]]
    return kind in ("stack", CONST) and builder.text[value[-2]] == "["


def call_hint(builder: Builder, row: Structural, operands: list[Value], extra: list[Value]) -> str:
    """How a call with too few or too many operands is written."""
    from exprgrad.language.mistakes.rewriting import swap_hint

    last = row.parameters[-1] if row.parameters else None
    written = [builder.text[value[1] : value[2]] for value in (*operands, *extra)]
    if row.name == "transpose" and len(written) == 3 and max(map(len, written)) <= SHORT:
        swap = swap_hint(written[0], written[1:])
        if swap is not None:
            return swap
    if last and extra and last.name in ("axes", "shape") and max(map(len, written)) <= SHORT:
        settings = f"{last.name}=[{', '.join(written[len(operands) :])}]"
        return f"write {row.word}({', '.join(written[: len(operands)])}, {settings})"
    flag = next((text for text in written if text.casefold() in ("true", "false")), None)
    if row.parameters and row.parameters[0].name == "axis" and len(extra) > 0:
        compared = [re.match(r"(axis|keepdims)\s*==", text) for text in written]
        for setting in filter(None, compared):
            return f"a setting has one =: {setting[1]}={'0' if setting[1] == 'axis' else 'True'}"
        if flag and len(row.parameters) > 1:
            return f"write keepdims={flag}"
        return several_hint(row, written)
    names = ["x", "y", "…"] if row.variadic else row.names
    needed = [example(parameter) for parameter in row.parameters if parameter.default is ...]
    return f"write {row.word}({', '.join([*names, *needed])})"


def several_hint(row: Structural, written: list[str]) -> str:
    """What to do with several operands where a row reduces one."""
    aside = "; to add two, write x + y" if row.name == "sum" else ""
    listed = ", ".join(written)
    return f"for several numbers write {row.word}([{listed if len(listed) <= SHORT else 'x, y'}]){aside}"


def example(parameter: Parameter) -> str:
    """How a parameter may be written."""
    examples = {
        "axis": "0", "axes": "0", "flag": "True", "size": "3", "shape": "[2, 3]", "places": "[0]",
    }  # fmt: skip
    if parameter.name == "axes":
        return "axes=[1, 0]"
    return f"{parameter.name}={examples[parameter.kind]}"


def refuse_keyword(
    builder: Builder, row: Structural | None, name: Span, keyword: Keyword, *, several: bool
) -> None:
    """The error for a setting where there is none to set."""
    word = builder.text[name[0] : name[1]]
    key = builder.text[keyword.name[0] : keyword.name[1]]
    help = "its operands are given in order, without names; to compare, write =="
    if several:
        help = f"{word} of several operands goes element by element; for an axis, give it one"
    message = f"{word} takes no setting '{key}'"
    builder.fail("bad-setting", message, keyword.name, help)


def settings_of(
    builder: Builder, row: Structural, span: Span, extra: list[Value], keywords: list[Keyword]
) -> tuple[Any, ...]:
    """A row's settings, from what stands behind the operands and from keywords."""
    found: dict[str, Setting] = {}
    for parameter, value in zip(row.parameters, extra, strict=False):
        found[parameter.name] = Setting(None, value[1], value[2])
    for parameter, value in reversed(list(zip(row.parameters, extra, strict=False))):
        found[parameter.name] = dropped(builder, row, value)
    names = [parameter.name for parameter in row.parameters]
    for keyword in keywords:
        key = builder.text[keyword.name[0] : keyword.name[1]]
        if key not in names:
            from exprgrad.language.mistakes.foreign import SETTINGS
            from exprgrad.language.mistakes.hints import nearest
            from exprgrad.language.mistakes.rewriting import norm_hint

            near = SETTINGS[key] if SETTINGS.get(key) in names else nearest(key, names)
            listed = f"its settings are {', '.join(map(example, row.parameters))}"
            help = f"did you mean '{near}'?" if near else listed if names else "it has none"
            if row.name == "norm" and key in ("ord", "p"):
                help = norm_hint(["x"], {key: str(keyword.setting.value)})
            builder.fail("bad-setting", f"{row.word} has no setting '{key}'", keyword.name, help)
        if key in found:
            builder.fail("bad-setting", f"'{key}' is given twice", keyword.name)
        found[key] = keyword.setting
    return tuple([checked(builder, row, p, found.get(p.name), span) for p in row.parameters])


def dropped(builder: Builder, row: Structural, value: Value) -> Setting:
    """A literal behind the operands, taken out of the graph again: it is a setting, and no node."""
    node = value[0]
    literal = number_or_literal(builder, node, value[1])
    span = value[1], value[2]
    if literal is None or not all(number.is_integer() for number in literal.numbers):
        help = f"after its operands stand settings, such as {example(row.parameters[0])}"
        builder.fail("bad-setting", f"this is not a setting of {row.word}", span, help)
    builder.graph.truncate(first_of_literals(builder, node))
    whole = tuple(map(int, literal.numbers))
    if len(literal.shape) > 1:
        builder.fail("bad-setting", f"this is not a setting of {row.word}", span)
    return Setting(whole if literal.shape else whole[0], *span)


def checked(
    builder: Builder, row: Structural, parameter: Parameter, given: Setting | None, span: Span
) -> Any:
    """A parameter's value, its kind made sure of."""
    if given is None:
        if parameter.default is ...:
            message = f"{row.word} needs its setting '{parameter.name}'"
            needed = [example(p) for p in row.parameters if p.default is ...]
            help = f"write {row.word}({', '.join([*row.names, *needed])})"
            builder.fail("bad-setting", message, span, help)
        return parameter.default
    value = given.value
    whole = isinstance(value, int) and not isinstance(value, bool)
    listed = isinstance(value, tuple) and all(
        isinstance(v, int) and not isinstance(v, bool) for v in value
    )
    words = {
        "axis": (whole, "a whole number"),
        "axes": (whole or listed or value is None, "a whole number or a list of them"),
        "flag": (isinstance(value, bool) or value in (0, 1), "True or False"),
        "size": (whole and value > 0, "a positive whole number"),
        "shape": (
            (whole or listed)
            and all(
                v > 0 or (v == -1 and row.name == "reshape")
                for v in (value if listed else (value,))
            ),
            "a list of positive whole numbers",
        ),
        "places": (is_places(value), "a list of indices and [start, stop] pairs"),
    }
    fits, wanted = words[parameter.kind]
    if parameter.name == "axes" and not (listed or value is None):
        fits, wanted = False, "a list of axes"
    if not fits:
        message = f"{parameter.name} is {wanted}"
        place = given.start, given.end
        builder.fail("bad-setting", message, place, f"such as {example(parameter)}")
    if parameter.kind == "flag":
        return bool(value)
    return (value,) if parameter.kind == "shape" and whole else value


def is_places(value: Any) -> bool:
    """Whether a setting says what an index takes."""

    def one(place: Any) -> bool:
        if isinstance(place, tuple):
            return len(place) == 2 and all(v is None or isinstance(v, int) for v in place)
        return isinstance(place, int) and not isinstance(place, bool)

    return isinstance(value, tuple) and all(map(one, value))
