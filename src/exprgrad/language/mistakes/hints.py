"""Suggestions for foreign and misspelled words.

Foreign calls are in one table: a row has our name, a form for the call's operands, or advice where we lack
the function.  A call is never parsed: its operands and settings are texts.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import islice

from exprgrad.errors import command_or_python
from exprgrad.graph.graph import CONST, INPUT, Graph
from exprgrad.graph.ops import BY_INFIX, BY_NAME, COMMON, FAMILIES, FUNCTIONS, IN_OTHER_WORDS, OPS
from exprgrad.graph.tensors import STRUCTURAL, WORDS
from exprgrad.language.mistakes.foreign import (
    ABSENT,
    ATTRIBUTES,
    CALLS,
    DERIVATIVES,
    ELSEWHERE,
    EXAMPLES,
    NOT_INPUTS,
    OVER_RANGES,
    SETTINGS,
)
from exprgrad.source import bracket_depths, comma_parts

__all__ = [
    "FUNCTION_WORDS", "NAMES_HERE", "arguments_at", "attribute_hint", "called_word", "closing_bracket",
    "constant_hint", "did_you_mean", "factor_text", "find_synonym", "guess_word", "has_room",
    "is_enclosed", "is_reserved", "known_word", "listing_command_hint", "nearest_word",
    "new_axis_hint", "norm_hint", "operation_meant", "owner_before", "probable_call",
    "spreadsheet_call", "suggest_function_spelling", "swap_hint", "translate_brackets",
    "translate_call", "value_hint", "without_parentheses",
]  # fmt: skip

FUNCTION_WORDS = frozenset(FUNCTIONS) | FAMILIES.keys() | IN_OTHER_WORDS.keys() | WORDS.keys()
"""The words that are functions before parentheses."""
ENGLISH = frozenset(
    ("cost", "cosy", "expo", "logo", "sect", "sine", "sing", "sink", "tang", "tank")
)
"""Words that begin like a function, and are no call without parentheses."""
ELEMENTWISE = {word: op.name for op in OPS for word in op.foreign_names.split()}
NAMES_HERE = ELEMENTWISE | {
    word: row.word for row in STRUCTURAL.values() for word in row.foreign_names.split()
}
"""A foreign function → ours that does the same."""


# The texts of a call.

LONGEST_CALL = 80
"""The longest text in parentheses that is read, in characters."""
Arguments = tuple[list[str], dict[str, str]]
"""The texts of a call's operands, and those of its settings by name."""
WHOLE_NUMBER = re.compile(r"[+-]?[0-9]+")


def arguments_at(text: str, start: int) -> Arguments | None:
    """Read the call's parentheses at an offset; None if there are none, or they are too long."""
    end = closing_bracket(text[start : start + LONGEST_CALL])
    if end is None or text[start] != "(":
        return None
    operands, settings = [], {}
    for part in part_texts(text[start + 1 : start + end]):
        keyword = re.match(r"([^\W\d]\w*)\s*=(?!=)\s*", part)
        if keyword:
            settings[keyword[1]] = part[keyword.end() :]
        else:
            operands.append(part)
    return operands, settings


def closing_bracket(text: str) -> int | None:
    """Find the bracket that closes the one at a text's beginning; None if there is none."""
    if text[:1] not in ("(", "["):
        return None
    return next((at for at, depth in enumerate(bracket_depths(text)) if at and not depth), None)


def part_texts(inside: str) -> list[str]:
    """Split a text at its commas, and fold blanks."""
    found = [" ".join(inside[start:end].split()) for start, end in comma_parts(inside)]
    return [part for part in found if part]


def elements_of_list(text: str) -> list[str] | None:
    """Return the elements of ``[a, b]`` or ``(a, b)``; None for other texts."""
    if not is_enclosed(text) or (text[0] == "(" and "," not in text):
        return None
    return part_texts(text[1:-1])


def is_enclosed(text: str) -> bool:
    """Tell whether one pair of brackets holds all of a text."""
    return closing_bracket(text) == len(text) - 1


def owner_before(text: str, end: int) -> str:
    """Return the operand before a dot: ``X``, ``X.T``, ``f(x)[0]``, ``(a + b)``; else ""."""
    least = max(end - LONGEST_CALL, 0)
    seen = text[least:end]
    deep, at = bracket_depths(seen), len(seen)
    while at:
        if seen[at - 1] in ")]":
            at = next((i for i in range(at - 2, -1, -1) if deep[i] <= deep[at - 1]), -1)
            if at < 0 or seen[at] not in "([":
                return "(…)"
            if at and (seen[at - 1].isidentifier() or seen[at - 1] in "0123456789)]"):
                continue
            break
        while at and ("_" + seen[at - 1]).isidentifier():
            at -= 1
        if not at or seen[at - 1] != "." or seen[at : at + 1] != "T":
            break
        at -= 1
    owner = " ".join(seen[at:].split())
    return "" if owner[:1].isdigit() else owner


def factor_text(text: str) -> str:
    """Write an operand for ``.T``, ``@`` or ``^``, in parentheses if it needs them."""
    called = re.match(r"\w+(?:\.T)?(?=[(\[])", text)
    whole = re.fullmatch(r"[\w.]+|…", text) or is_enclosed(text[called.end() :] if called else text)
    return text if whole else f"({text})"


def term_text(text: str) -> str:
    """Write an operand for a sum or a difference."""
    return factor_text(text) if re.search(r"[+\-<>=]", text) else text


def without_parentheses(text: str) -> str:
    """Write an operand for a function, without parentheses of its own."""
    return text[1:-1] if text[:1] == "(" and is_enclosed(text) and "," not in text else text


def square_brackets(text: str) -> str:
    """Write a setting, a tuple as a list."""
    listed = elements_of_list(text)
    return text if listed is None else f"[{', '.join(listed)}]"


def whole_numbers(texts: Sequence[str]) -> list[str] | None:
    """Return sizes or axes, as in ``2, 3`` or ``(2, 3)``; None for anything else."""
    listed = [
        part for text in texts for part in elements_of_list(text) or [without_parentheses(text)]
    ]
    return listed if listed and all(map(WHOLE_NUMBER.fullmatch, listed)) else None


# Foreign calls.


def translate_call(word: str, operands: Sequence[str], settings: Mapping[str, str]) -> str | None:
    """Translate a foreign call, or advise on it; None for an unknown one.

    A method's first operand is its owner.
    """
    if not operands:
        return None
    if ABSENT.get(word) == DERIVATIVES and (derivative := derivative_call(operands)):
        return f"write {derivative}"
    listed = [*operands, *settings.values()]
    counted = f"{word}/{len(listed)}"
    if counted in CALLS:
        return fill_form(CALLS[counted], listed, {})
    if remark := ABSENT.get(counted) or ABSENT.get(word):
        return remark
    name = NAMES_HERE.get(word, word)
    filled = {
        *re.findall(r"\{(\w)", CALLS.get(word, ""))
    }  # by operands x, y, z, or by all that there are
    if word in CALLS and (filled - {*"xyz"} or len(operands) <= max(len(filled), 1)):
        return fill_form(CALLS[word], operands, settings)
    if name in PECULIAR:
        return PECULIAR[name](operands, settings)
    if name not in FUNCTION_WORDS:
        return None
    row = WORDS.get(name)
    kind = row.parameters[0].kind if row is not None and row.parameters else ""
    operands, settings = list(operands), dict(settings)
    if kind == "axis" and len(operands) <= 2:
        given = elements_of_list(operands[0])
        if given is not None:
            settings = ({"axis": operands[1]} if len(operands) > 1 else {}) | settings
            operands = given
    elif word in ("swapaxes", "transpose") and len(operands) == 3:
        return swap_hint(operands[0], operands[1:])
    elif row is not None and len(row.parameters) == 1 and kind in ("order", "shape"):
        numbers = whole_numbers(operands[1:])
        if numbers:
            setting = "axes=" if kind == "order" else ""
            return (
                f"write {name}({without_parentheses(operands[0])}, {setting}[{', '.join(numbers)}])"
            )
        if kind == "shape" and "shape" not in {SETTINGS.get(key, key) for key in settings}:
            return None
    elif row is not None and row.along_axes and word not in ELEMENTWISE and len(operands) > 1:
        operands, settings = reduced_along(operands, settings)
    return f"write {call_text(name, operands, settings)}"


def fill_form(form: str, operands: Sequence[str], settings: Mapping[str, str]) -> str:
    """Fill a form with operands, as help: after "write", unless it is a sentence already."""
    text = form.format_map(form_slots(operands, settings))
    return text if text.startswith(("for ", "the ", "there ")) else f"write {text}"


def translate_brackets(word: str, inside: str) -> str | None:
    """Translate ``word[inside]`` of Mathematica; None where that is not certain."""
    operands = part_texts(inside.translate(LISTS))
    if word in OVER_RANGES:
        return sum_over_ranges(word, operands)
    if word == "Piecewise":
        return translate_piecewise(operands)
    form = CALLS.get(f"{word}[{len(operands)}]")
    if form is not None:
        return form.format_map(form_slots(operands, {}))
    name = known_word(word)
    if name in FUNCTION_WORDS:
        return f"{name}({', '.join(operands)})" if operands else None
    hint = translate_call(word.lower(), operands, {}) or ""
    is_form = word.lower() in CALLS and hint.startswith("write ") and ";" not in hint
    return hint.removeprefix("write ") if is_form else None


DOTTED = re.compile(r"(?<!\w)[A-Z]{3,7}(?:\.[A-Z]{1,7}){1,2}(?=\()")


def spreadsheet_call(text: str, dot: int) -> tuple[int, int, str] | None:
    """Translate the spreadsheet's call around a dot in its name; return its span and our text."""
    name = next((m for m in DOTTED.finditer(text) if m.start() < dot < m.end()), None)
    given = name and arguments_at(text, name.end())
    if not (name and given and given[0]):
        return None
    operands, word = given[0], name[0]
    if operands[-1].upper() in ("TRUE", "FALSE"):
        word += f":{operands.pop().upper()}"
    form = CALLS.get(f"{word}/{len(operands)}", "").format_map(form_slots(operands, {}))
    end = name.end() + (closing_bracket(text[name.end() :]) or 0) + 1
    return (name.start(), end, form) if form else None


ENDLESS = re.compile(r"\b(?:oo|[Ii]nf(?:inity)?)\b|∞")
"""An infinite bound."""
LISTS = str.maketrans("{}", "[]")


def sum_over_ranges(word: str, operands: Sequence[str]) -> str | None:
    """Translate ``Sum[x^k, {k, 1, 10}]``; a step becomes a factor of the index."""
    body, *ranges = operands or [""]
    clauses = ""
    for range_ in ranges:
        bounds = re.fullmatch(r"(\w+)\s*=\s*([^.]+?)\s*\.\.\s*([^.]+)", range_)
        index, *ends = bounds.groups() if bounds else elements_of_list(range_) or [""]
        if not index.isidentifier() or not 1 <= len(ends) <= 3 or ENDLESS.search(range_):
            return None
        low, high = ["1", *ends][:2] if len(ends) == 1 else ends[:2]
        if len(ends) == 3:
            if not all(map(WHOLE_NUMBER.fullmatch, ends)) or ends[2][:1] in "-0":
                return None
            start, step = int(low), int(ends[2])
            moved = f"({start} + {step}*{index})" if start else f"({step}*{index})"
            body = re.sub(rf"\b{index}\b", moved, body)
            low, high = "0", str((int(high) - start) // step)
        clauses += f" for {index} in {low}..{high}"
    return OVER_RANGES[word].format(body + clauses) if clauses else None


def translate_piecewise(operands: Sequence[str]) -> str | None:
    """Translate ``Piecewise[{{x, x > 0}, …}, y]`` and ``Piecewise((x, x > 0), (y, True))``."""
    listed, otherwise = [*operands, "0"][:2] if operands else ("", "")
    cases = [elements_of_list(case) or [] for case in elements_of_list(listed) or []]
    if not all(cases):
        cases = [elements_of_list(case) or [] for case in operands]
        otherwise = cases.pop()[0] if cases[-1][1:] == ["True"] else "nan"
    if not cases or any(len(case) != 2 for case in cases):
        return None
    return nested_choices([(condition, value) for value, condition in reversed(cases)], otherwise)


def nested_choices(cases: Iterable[Sequence[str]], otherwise: str) -> str:
    """Write conditions with their values as one choice; a later condition goes before earlier ones."""
    for condition, value in cases:
        otherwise = f"where({condition}, {value}, {otherwise})"
    return otherwise


def piecewise_hint(operands: Sequence[str], settings: Mapping[str, str]) -> str | None:
    """Translate NumPy's ``piecewise(x, [x < 0, x >= 0], [-x, x])``, and Maple's, which takes turns."""
    if len(operands) < 2:
        return None
    conditions, values = (elements_of_list(text) for text in operands[-2:])
    if conditions is None:  # Maple's first condition that holds counts
        pairs = [*zip(operands[::2], operands[1::2], strict=False)]
        return f"write {nested_choices(pairs[::-1], operands[-1] if len(operands) % 2 else '0')}"
    return choice_of_lists(conditions, values or [], "0", operands[0])


def select_hint(operands: Sequence[str], settings: Mapping[str, str]) -> str | None:
    """Translate NumPy's ``select([x < 0, x >= 0], [-x, x])``: the first condition that holds counts."""
    if len(operands) < 2:
        return None
    conditions, values = ((elements_of_list(text) or [])[::-1] for text in operands[:2])
    return choice_of_lists(conditions, values, [*operands, settings.get("default", "0")][2], "")


def choice_of_lists(
    conditions: Sequence[str], values: Sequence[str], otherwise: str, x: str
) -> str | None:
    """Write conditions and their values as one choice; functions among the values are of ``x``."""
    called = [re.sub(rf"lambda {re.escape(x)}: *", "", value) for value in values]
    words = [known_word(value.rpartition(".")[2]) for value in called]
    found = [f"{word}({x})" if word else text for word, text in zip(words, called, strict=True)]
    if len(found) == len(conditions) + 1 and x:
        otherwise = found.pop()
    if len(found) != len(conditions) or re.search(r"lambda|\.\.", " ".join(found)):
        return None
    return f"write {nested_choices(zip(conditions, found, strict=True), otherwise)}"


def known_word(name: str) -> str:
    """Find the function that a word names, in any case, as ``SQRT`` and ``ArcSin``; else ""."""
    lower = name.lower()
    if name in ("ATAN2", "LOG"):  # a spreadsheet's has its operands the other way, or is to base 10
        return ""
    return lower if lower in FUNCTION_WORDS else NAMES_HERE.get(name) or NAMES_HERE.get(lower, "")


def derivative_call(operands: Sequence[str]) -> str:
    """Translate ``diff(f, x)``, ``diff(f, x, x)`` and ``diff(f, x, 2)``; "" for others."""
    if len(operands) < 2 or not operands[1].isidentifier():
        return ""
    body, name, *more = operands
    order = str(len(more) + 1) if set(more) <= {name} else more[0] if len(more) == 1 else ""
    after = f", {order}" if order != "1" else ""
    return f"d({without_parentheses(body)}, {name}{after})" if order.isdecimal() else ""


def form_slots(operands: Sequence[str], settings: Mapping[str, str]) -> dict[str, str]:
    """Return the texts for the slots of a form."""
    x, y, z = [*operands, "…", "…", "…"][:3]
    axis = operands[1] if len(operands) > 1 else settings.get("axis", settings.get("dim", "None"))
    along_one = whole_numbers([axis]) is not None
    listed = elements_of_list(x) if len(operands) == 1 else None
    conditions = [
        each if re.search("[<>=≤≥≠]", each) else f"{term_text(each)} != 0" for each in operands
    ]
    return {
        "x": without_parentheses(x),
        "x_factor": factor_text(x),
        "x_term": term_text(x),
        "x_list": square_brackets(x),
        "x_sizes": ", ".join(whole_numbers([x]) or ["…"]),
        "y": without_parentheses(y),
        "y_inside": y[1:-1] if y[:1] == "[" and is_enclosed(y) else y,
        "y_factor": factor_text(y),
        "y_term": term_text(y),
        "z_factor": factor_text(z),
        "all": ", ".join(map(without_parentheses, listed or operands)),
        "both": "*".join(map(factor_text, conditions)),
        "either": ", ".join(map(without_parentheses, conditions)),
        "axis": f", axis={square_brackets(axis)}" if along_one else "",
        "kept": f", axis={square_brackets(axis)}, keepdims=True" if along_one else "",
        "last": square_brackets(axis) if along_one else "-1",
        "fill": without_parentheses(y if len(operands) > 1 else settings.get("fill_value", "1")),
        "size": x if WHOLE_NUMBER.fullmatch(x) else "…",
        "sizes": ", ".join(whole_numbers(operands) or ["…"]),
    }


def suggest_function_spelling(word: str) -> str | None:
    """Write an example of a foreign function here; None if it only has another name."""
    form = CALLS.get(word, "for ")
    if word in EXAMPLES or word in FUNCTION_WORDS or word in NAMES_HERE or form[:4] == "for ":
        return EXAMPLES.get(word)
    return form.format_map(form_slots(["x", "y"], {"axis": "None"})).partition(";")[0]


def call_text(word: str, operands: Sequence[str], settings: Mapping[str, str]) -> str:
    """Write a call, without settings that the operation lacks."""
    known = [parameter.name for parameter in WORDS[word].parameters] if word in WORDS else []
    ours = {name if name in known else SETTINGS.get(name): settings[name] for name in settings}
    given = [
        square_brackets(text) if text[:1] == "(" else text
        for text in map(without_parentheses, operands)
    ]
    named = [f"{name}={square_brackets(ours[name])}" for name in known if name in ours]
    return f"{word}({', '.join([*given, *named])})"


def reduced_along(
    operands: Sequence[str], settings: Mapping[str, str]
) -> tuple[list[str], dict[str, str]]:
    """Split the operands of a reduction whose second one may be an axis; return operands and settings."""
    first, second, *more = operands
    if whole_numbers([second]) is None and second != "None":
        return list(operands), dict(settings)
    found = {} if second == "None" else {"axis": without_parentheses(second)}
    if more and more[0].casefold() in ("true", "false"):
        found["keepdims"] = more[0]
    return [first], found | dict(settings)


def norm_hint(operands: Sequence[str], settings: Mapping[str, str]) -> str:
    """Translate ``norm(x, 1)``, whose second operand is an order elsewhere."""
    if len(operands) > 2 and whole_numbers(operands[2:3]):
        settings = {"axis": operands[2], **settings}
    order = operands[1] if len(operands) > 1 else settings.get("ord", settings.get("p"))
    if order is None or order in ("2", "None") or order[:1] in "'\"":
        note = "; of a matrix that is over all its numbers" if order == "2" else ""
        return f"write {call_text('norm', operands[:1], settings)}{note if 'axis' not in settings else ''}"
    x = without_parentheses(operands[0])
    other = f"the 1-norm of a vector is sum(abs({x}))"
    if order in ("inf", "np.inf", "torch.inf", "math.inf", "float('inf')"):
        other = f"the greatest of absolutes is max(abs({x}))"
    return f"norm({x}) is the 2-norm, of all numbers; {other}; an axis is given as axis=…"


def swap_hint(x: str, axes: Sequence[str]) -> str | None:
    """Translate ``transpose(X, 0, 1)``, a swap of two axes, into the new order of all axes."""
    if not all(map(WHOLE_NUMBER.fullmatch, axes)):
        return None
    one, other = sorted(map(int, axes))
    if (one, other) in ((0, 1), (-2, -1)):
        bare = without_parentheses(x)
        return f"the transpose of a matrix is {factor_text(x)}.T, or transpose({bare}, axes=[1, 0])"
    if one < 0 or one == other:
        return "its setting is the new order of all axes, such as axes=[0, 2, 1]"
    order = list(range(other + 1))
    order[one], order[other] = other, one
    return f"write transpose({without_parentheses(x)}, axes={order})"


def clamp_hint(operands: Sequence[str], settings: Mapping[str, str]) -> str:
    """Translate ``x.clip(0, 1)`` and ``torch.clamp(x, min=0)``."""
    named = [settings.get(name, settings.get(f"a_{name}", "None")) for name in ("min", "max")]
    x, low, high = map(without_parentheses, [*operands[:3], *named[len(operands) - 1 :]][:3])
    if low == high == "None":
        return f"write clamp({x}, 0, 1)"
    ours = {low: f"min({x}, {high})", high: f"max({x}, {low})"}
    return f"write {ours.get('None', f'clamp({x}, {low}, {high})')}"


def new_axis_hint(x: str, *, first: bool) -> str:
    """Translate ``x[None]`` and ``x[:, None]``."""
    what, shape = ("row", "1, -1") if first else ("column", "-1, 1")
    return f"to make a {what} of a vector write reshape({x}, [{shape}])"


PECULIAR: dict[str, Callable[[Sequence[str], Mapping[str, str]], str | None]] = {
    "clamp": clamp_hint,
    "norm": norm_hint,
    "piecewise": piecewise_hint,
    "select": select_hint,
    **dict.fromkeys(
        ("expand_dims", "unsqueeze"),
        lambda operands, settings: new_axis_hint(
            without_parentheses(operands[0]),
            first=form_slots(operands, settings)["last"] in ("0", "-2"),
        ),
    ),
}
"""Calls whose operands mean something else elsewhere → what translates them."""


def attribute_hint(owner: str, word: str, *, called: bool, empty: bool) -> str | None:
    """Translate an attribute, such as ``x.shape`` or ``x.t()``; None for an unknown one.

    ``owner`` is the text before the dot; ``empty`` tells that it is called without operands.
    """
    ending = "()" if empty else "" if called else "."
    form = ATTRIBUTES.get(word) or ATTRIBUTES.get(word + ending)
    if form is None:
        return None
    grad, eval = (
        command_or_python("'exprgrad grad'", "f.grad(…)"),
        command_or_python("'exprgrad eval'", "f.evaluate(…)"),
    )
    return form.format(owner, grad=grad, eval=eval)


# Misspelled words, and those of other command lines.


def nearest_word(word: str, candidates: Iterable[str], most: int = 40) -> str | None:
    """Find the candidate that a misspelled word most likely means, within ``most`` slips; or None.

    Of those equally near, one with the same letters comes first, then the shortest.  At most 2,000
    candidates are compared.
    """
    word = word[:40]
    limit = min(max(len(word) // 3, 1), most)
    ranked = [
        (edit_distance(word.casefold(), c.casefold()), sorted(c) != sorted(word), len(c), c)
        for c in islice(candidates, 2_000)
        if abs(len(c) - len(word)) <= limit
    ]
    distance, *_, best = min(ranked, default=(len(word), ""))
    return best if distance <= limit and distance < len(word) else None


def find_synonym(word: str, candidates: Collection[str]) -> str | None:
    """Find the candidate with this name in other tools, or with other dashes; or None."""
    bare = word.lstrip("-")
    key, dashes = bare.casefold().replace("_", "-"), "--" if bare != word else ""
    for ours in [key, *(ours for ours, others in ELSEWHERE.items() if key in others.split())]:
        if dashes + ours.partition(" ")[0] in candidates:
            return dashes + ours
    return None


def guess_word(word: str, candidates: Collection[str]) -> str | None:
    """Guess a candidate: a synonym, the letter of that name, or the nearest word."""
    called = (c for c in candidates if spell_letter(c) == spell_letter(word))
    return find_synonym(word, candidates) or next(called, None) or nearest_word(word, candidates)


def spell_letter(word: str) -> str:
    """Spell a Greek letter, ``tau`` for ``τ``; other words in lower case."""
    name = unicodedata.name(word, "") if len(word) == 1 else ""
    script, _, letter = name.rpartition(" LETTER ")
    letter = letter.lower().replace("lamda", "lambda")
    return letter if script.startswith("GREEK") else word.casefold()


def did_you_mean(
    word: str, candidates: Collection[str], otherwise: str, *, also: bool = False
) -> str:
    """Suggest the likely candidate; without one, or ``also`` with one, the help is ``otherwise``."""
    known = guess_word(word, candidates)
    if known is None:
        return otherwise
    return f"did you mean '{known}'?{f' {otherwise}' if also else ''}"


def operation_meant(word: str, names: Iterable[str], what: str, operands: int = 0) -> str:
    """Suggest the likely operation, foreign spellings included, or the command that lists all.

    It takes at least so many ``operands``.
    """
    common, most = [op.name for op in COMMON if op.name in FUNCTIONS], int(len(word) > 2)
    foreign = NAMES_HERE if len(word) > 6 else ()  # exp10 is not exp1 misspelled
    known = None
    for listed in (common, [*names, *FUNCTIONS, *foreign]):
        fitting = [one for one in listed if has_room(one, operands)]
        known = known or nearest_word(word, fitting, most)
    return (
        f"did you mean '{NAMES_HERE.get(known, known)}'?" if known else listing_command_hint(what)
    )


def has_room(word: str, operands: int) -> bool:
    """Tell whether a function may take so many operands."""
    row = BY_NAME.get(NAMES_HERE.get(word, word))
    return row is None or row.variadic or operands <= len(row.names) + bool(row.binary_expansion)


def listing_command_hint(what: str) -> str:
    """Name the command that lists functions, or operations."""
    return (
        command_or_python("'exprgrad ops'", "[op.name for op in exprgrad.OPS]")
        + f" lists the {what}"
    )


def edit_distance(one: str, other: str) -> int:
    """Count the insertions, deletions, replacements and swaps of neighbours between two words.

    Optimal string alignment; see L. Boytsov, "Indexing methods for approximate dictionary searching"
    (ACM JEA 16, 2011), section 2.
    """
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        above_before, before, row = before, row, [i]
        for j, b in enumerate(other, 1):
            best = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                best = min(best, above_before[j - 2] + 1)
            row.append(best)
    return row[-1]


def value_hint(name: str) -> str | None:
    """Help for a name of an input that was probably meant to be something else; or None."""
    if name in FUNCTION_WORDS or (name[:1].isupper() and name.lower() in FUNCTION_WORDS):
        return f"to call the function, write {name if name in FUNCTION_WORDS else name.lower()}(…)"
    called = probable_call(name)
    return NOT_INPUTS.get(name) or (f"to call the function, write {called}" if called else None)


def probable_call(name: str) -> str:
    """Write a name that reads as a function of one letter, as ``sinx`` and ``sin2x``, as a call; else "".

    ``exp2x`` has two readings, ``exp2(x) or exp(2*x)``.
    """
    if not name.isidentifier() or name in ENGLISH or known_word(name):
        return ""
    called = called_word(name, {*name[-1].strip("s0123456789_")})  # steps, gamma1 are names
    return called if "(" in called else ""


def is_reserved(word: str) -> bool:
    """Tell whether a formula cannot define a function of this name: rows newer than 0.1 give way."""
    return word in FUNCTION_WORDS and getattr(FUNCTIONS.get(word), "since", "0.1") == "0.1"


def called_word(word: str, inputs: Collection[str]) -> str:
    """Write ``sin2x`` as a call, ``xy`` as a product of inputs, ``xsinx`` as both; "" where it is neither.

    Where it has several readings, " or " stands between them.
    """
    found = {0: [""]}
    for end in range(1, min(len(word), LONGEST_WORD) + 1):
        for start in [*found]:
            piece = word[start:end]
            factors = [piece] if piece in inputs else calls_of_inputs(piece, inputs)
            if factors:
                products = [f"{before}*{each}" for before in found[start] for each in factors]
                found.setdefault(end, [product.lstrip("*") for product in products])
    return " or ".join(found.get(len(word), []))


LONGEST_WORD = 40
"""The longest name that is split into a product, in letters."""


def calls_of_inputs(word: str, inputs: Collection[str]) -> list[str]:
    """Write ``sin2x`` as each call that it may be: ``exp2x`` is ``exp2(x)`` or ``exp(2*x)``."""
    found = []
    for at in range(len(word) - 1, 1, -1):
        row, rest = FUNCTIONS.get(known_word(word[:at])), word[at:].lstrip("0123456789")
        number, operand = word[at : len(word) - len(rest)], as_product(rest, inputs)
        is_number_cut = number and word[at - 1].isdecimal()  # exp10x is not exp1(0*x)
        if row and operand and len(row.names) == 1 and not row.variadic and not is_number_cut:
            found.append(f"{known_word(word[:at])}({f'{number}*' if number else ''}{operand})")
    return found


def as_product(word: str, inputs: Collection[str]) -> str:
    """Split a word into a product of inputs; "" where it is none."""
    found = {0: ""}
    for end in range(1, len(word) + 1):
        for start in [start for start in found if word[start:end] in inputs]:
            found[end] = f"{found[start]}*{word[start:end]}".lstrip("*")
    return found.get(len(word), "")


def constant_hint(graph: Graph, text: str, names: Collection[str]) -> str | None:
    """Help for names without a value that were probably meant to be something else; or None."""
    ours = without_e(graph, text, names)
    power = re.search(r"([^\W\d]\w{0,20})\s*(?:\^|\*\*)\s*T\b", text) if "T" in names else None
    hints = (
        f"the transpose is written {power[1]}.T" if power else "",
        f"there is no constant e: write {ours}" if ours else "",
        *map(value_hint, names),
    )
    return next(filter(None, hints), None)


def without_e(graph: Graph, text: str, names: Collection[str]) -> str:
    """Return a text with calls of ``exp`` for powers of ``e`` and ``xe``; "" where that is not certain.

    ``names`` are the inputs without a value.
    """
    edits: list[tuple[int, int, str]] = []
    for user, operands in enumerate(graph.operands if len(text) <= LONGEST_CALL else ()):
        for place, operand in enumerate(operands):
            name = graph.payloads[operand]
            if graph.kinds[operand] != INPUT or name not in names:
                continue
            is_e = name in ("e", "E")
            (start, end), (first, last) = graph.occurrence(user, place), graph.span(user)
            if graph.kinds[user] == BY_INFIX["^"].name and not place:
                factor = "" if is_e else factor_before_e(graph, str(name), graph.operands[user][1])
                inside = graph.occurrence(user, 1)
                is_divided = text[:first].rstrip().endswith(("/", "%", "^", "@"))
                if is_e or factor:
                    opening = "(" if factor and is_divided else ""
                    edits.append((first, inside[0], f"{opening}{factor}exp("))
                    edits.append((inside[1], last, "))" if opening else ")"))
            elif is_e:
                edits.append((start, end, "exp(1)"))
    for start, end, ours in sorted(edits, reverse=True):
        text = text[:start] + ours + text[end:]
    return text if edits and not graph.calls else ""


def factor_before_e(graph: Graph, name: str, exponent: int) -> str:
    """Return the factor before ``e``, as ``x*`` of ``xe``: a letter or inputs; "" for other names."""
    before = name[:-1]
    if name[-1] != "e" or graph.kinds[exponent] == CONST:
        return ""
    product = before if len(before) == 1 else as_product(before, graph.inputs)
    return f"{product}*" if product else ""
