"""What to say about a text that is not in the language: where it goes wrong, why, and the mend."""

from __future__ import annotations

import re
from collections.abc import Iterable

from exprgrad.errors import LanguageError
from exprgrad.graph.ops import BY_NAME, OPS
from exprgrad.language.lalr import END, UNKNOWN, Unexpected
from exprgrad.source import Source, Span

__all__ = ["bad_name", "complaint", "nearest", "unknown_function"]

OTHER_SPELLINGS = {
    "arccos": "acos", "arccosh": "acosh", "arcosh": "acosh", "arcsin": "asin", "arcsinh": "asinh",
    "arsinh": "asinh", "arctan": "atan", "arctan2": "atan2", "arctanh": "atanh", "artanh": "atanh",
    "absolute": "abs", "ceiling": "ceil", "clip": "clamp", "expit": "sigmoid", "fabs": "abs", "fmax": "max",
    "fmin": "min", "int": "floor", "lg": "log10", "ln": "log", "logistic": "sigmoid", "maximum": "max",
    "minimum": "min", "rint": "round", "sgn": "sign", "signum": "sign", "tg": "tan",
}  # fmt: skip
OPERATOR_WORDS = {
    "add": "x + y", "div": "x/y", "divide": "x/y", "eq": "x == y", "fmod": "x%y", "ge": "x >= y",
    "gt": "x > y", "if": "where(condition, x, y)", "if_else": "where(condition, x, y)", "ifelse":
    "where(condition, x, y)", "le": "x <= y", "lt": "x < y", "mod": "x%y", "mul": "x*y",
    "multiply": "x*y", "ne": "x != y", "neg": "-x", "piecewise": "where(condition, x, y)",
    "pow": "x^y", "power": "x^y", "sqr": "x^2", "square": "x^2", "sub": "x - y", "subtract": "x - y",
}  # fmt: skip
WORD_HINTS = {
    "and": "for 'a and b' write a*b on comparisons: (x > 0)*(y > 0)",
    "or": "for 'a or b' write max(a, b) on comparisons: max(x > 0, y > 0)",
    "not": "for 'not a' write a == 0",
    "if": "a choice is where(condition, x, y)",
    "else": "a choice is where(condition, x, y)",
    "mod": "the modulus is written %",
    "lambda": "write the formula alone: its names are its inputs",
}
CHARACTERS = {
    "×": "*", "·": "*", "⋅": "*", "∗": "*", "•": "*", "÷": "/", "∕": "/", "⁄": "/", "−": "-", "–": "-",
    "—": "-", "＋": "+", "－": "-", "＊": "*", "／": "/", "＾": "^", "（": "(", "）": ")", "，": ",",
    "；": ";", "＝": "=", "≤": "<=", "≥": ">=", "≠": "!=", "√": "sqrt(…)", "∛": "cbrt(…)", "∞": "inf",
    "²": "^2", "³": "^3", "¹": "^1", "⁰": "^0", "⁴": "^4", "⁵": "^5", "⁶": "^6", "⁷": "^7", "⁸": "^8",
    "⁹": "^9", "½": "(1/2)", "⅓": "(1/3)", "¼": "(1/4)", "{": "(", "}": ")",
}  # fmt: skip
CHARACTER_HINTS = {
    "[": "lists and indexing are not part of this version, which differentiates numbers",
    "]": "lists and indexing are not part of this version, which differentiates numbers",
    "@": "the matrix product is not part of this version, which differentiates numbers",
    "|": "the absolute value is abs(x)",
    "&": "for a logical and, multiply comparisons: (x > 0)*(y > 0)",
    "!": "'not equal' is !=; there is no factorial",
    "?": "a choice is where(condition, x, y)",
    ":": "a name is bound with =, and a choice is where(condition, x, y)",
    "$": "names are letters, digits and _",
    '"': "names and numbers stand without quotes",
    "'": "names and numbers stand without quotes; write a derivative's name as, say, dx",
    "`": "names and numbers stand without quotes",
    "~": "the negative is -x",
}
OPERATORS = frozenset({"SIGN", "FACTOR", "POWER", "COMPARISON"})
OPERAND_ENDS = frozenset({"NUMBER", "NAME", "RPAR"})


def nearest(word: str, candidates: Iterable[str]) -> str | None:
    """The candidate that a misspelled word most likely means, or None."""
    word = word[:100]
    ranked = [
        (edits(word.casefold(), c.casefold()), sorted(c) != sorted(word), c) for c in candidates
    ]
    distance, _, best = min(ranked, default=(len(word), True, ""))
    return best if distance <= max(len(word) // 3, 1) and distance < len(word) else None


def edits(one: str, other: str) -> int:
    """How many insertions, deletions, replacements and swaps of neighbours turn one into the other.

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


def unknown_function(source: Source, name: str, span: Span, names: Iterable[str]) -> LanguageError:
    """A call of something that is not a function; ``names`` are the names that stand for nodes."""
    functions = [op.name for op in OPS if not op.infix and not op.prefix]
    if name in OTHER_SPELLINGS:
        help = f"here it is called '{OTHER_SPELLINGS[name]}'"
    elif name in OPERATOR_WORDS:
        help = f"write {OPERATOR_WORDS[name]}"
    elif name in names or len(name) == 1:
        help = f"for a product write {name}*(…)"
    else:
        known = nearest(name, [*functions, *OTHER_SPELLINGS])
        known = OTHER_SPELLINGS.get(known or "", known)
        help = f"did you mean '{known}'?" if known else "'exprgrad ops' lists the functions"
    message = f"unknown function '{name}'"
    return LanguageError("unknown-function", message, source=source, span=span, help=help)


def bad_name(source: Source, text: str, span: Span) -> LanguageError:
    """A word with a character that no name may hold, blamed on that character."""
    import unicodedata

    def valid(end: int) -> bool:
        return unicodedata.normalize("NFC", text[:end]).isidentifier()

    length = next(end for end in range(len(text)) if not valid(end + 1))
    place = span[0] + length, span[0] + length + 1
    return bad_character(source, text[length], place)


def bad_character(source: Source, character: str, span: Span) -> LanguageError:
    """A character that is not part of the language."""
    if character in CHARACTERS:
        spelled = CHARACTERS[character]
        before = re.search(r"\w+$", source.text[: span[0]])
        base = before[0] if before and spelled.startswith("^") else ""
        help: str | None = f"write {base}{spelled}"
    elif character in CHARACTER_HINTS:
        help = CHARACTER_HINTS[character]
    elif character == "\\":
        help = latex_hint(source.text[span[0] :])
    elif character == ".":
        help = dot_hint(source.text, span)
    elif unicode_digit(character):
        help = f"digits are 0 to 9: write {unicode_digit(character)}"
    else:
        help = None
    name = f"'{character}'" if character.isprintable() else f"U+{ord(character):04X}"
    message = f"the character {name} is not part of the language"
    return LanguageError("syntax", message, source=source, span=span, help=help)


def unicode_digit(character: str) -> str:
    """The ASCII digit that a character of another script stands for, or nothing."""
    import unicodedata

    return str(unicodedata.digit(character, ""))


def latex_hint(rest: str) -> str:
    """Our spelling of what begins with a backslash."""
    fraction = re.match(r"\\d?frac\{([^{}]{1,20})\}\{([^{}]{1,20})\}", rest)
    if fraction:
        above, below = (s if re.fullmatch(r"\w+", s) else f"({s})" for s in fraction.groups())
        return f"this is not LaTeX: write {above}/{below}"
    command = re.match(r"\\([A-Za-z]+)", rest)
    word = command[1] if command else ""
    spellings = {"frac": "(a)/(b)", "sqrt": "sqrt(x)", "cdot": "*", "times": "*", "left": "(",
                 "right": ")", "infty": "inf"}  # fmt: skip
    if word in spellings:
        return f"this is not LaTeX: write {spellings[word]}"
    word = OTHER_SPELLINGS.get(word, word)
    if word in BY_NAME:
        return f"this is not LaTeX: write {word}(x)"
    return f"this is not LaTeX: write {word}" if word else "a backslash means nothing here"


def dot_hint(text: str, span: Span) -> str:
    """Our spelling of ``np.exp(x)``, or what a lone dot should be."""
    before = re.search(r"[^\W\d]\w*$", text[: span[0]])
    after = re.match(r"([^\W\d]\w*)(\([^()]{0,20}\))?", text[span[1] :])
    if not before or not after:
        return "a number needs a digit beside its point"
    word = OTHER_SPELLINGS.get(after[1], after[1])
    if word in BY_NAME or word in ("pi", "tau", "inf", "nan"):
        return f"write {word}{after[2] or ''}, without '{before[0]}.'"
    if word in OPERATOR_WORDS:
        return f"write {OPERATOR_WORDS[word]}"
    if word == "e":
        return "write exp(1)"
    if word == "T":
        return "transposing is not part of this version, which differentiates numbers"
    return f"names hold no dots: write {before[0]}_{word}"


def complaint(source: Source, unexpected: Unexpected) -> LanguageError:
    """The error for the first token that cannot stand where it stands."""
    kind, span = unexpected.kind, unexpected.span
    last, last_start, last_end = unexpected.last
    text = source.text
    word = text[span[0] : span[1]]
    before = text[last_start:last_end]

    def error(message: str, help: str | None = None, place: Span = span) -> LanguageError:
        return LanguageError("syntax", message, source=source, span=place, help=help)

    unclosed = unclosed_bracket(source, span[0])
    if kind == UNKNOWN:
        return bad_character(source, word, span)
    if kind == "NAME" and not word.isascii():
        wrong = wrong_name(source, word, span)
        if wrong is not None:
            return wrong
    if kind == END and not last:
        return error("there is no expression", "type a formula, such as (a+b)*c", (0, len(text)))
    if kind == END and unclosed is not None and last not in OPERATORS | {"COMMA", "LPAR"}:
        return error("this '(' is never closed", "add a ')'", unclosed)
    if kind == END and unclosed is not None and last in ("LPAR", "COMMA"):
        return error("this '(' is never closed", "add an operand and a ')'", unclosed)
    if kind == "RPAR" and unclosed is None:
        return error("there is no '(' for this ')'", "drop it, or add a '(' before it")
    if kind == "RPAR" and last == "LPAR":
        return error("there is nothing inside these parentheses", None, (last_start, span[1]))
    if kind in ("NUMBER", "NAME", "LPAR") and last in OPERAND_ENDS:
        return juxtaposed(source, unexpected)
    if kind == "EQUALS":
        if last == "NAME" and "COMPARISON" in unexpected.expected and unclosed is not None:
            return error("'=' binds a name and cannot stand inside a formula", "to compare, write ==")
        if last in OPERAND_ENDS:
            help = "to compare, write =="
            return error("only a name at the beginning of a statement can stand before '='", help)
        if before in ("+", "-", "*", "/", "%", "^", "**"):
            whole = last_start, span[1]
            return error(f"'{before}=' is not an operator", f"name the result: y = x {before} …", whole)
        return error("there is no name before '='", "to bind a node's name, write name = expression")
    if kind == "COMPARISON" and last in OPERAND_ENDS:
        return error("comparisons do not chain", "write (a < b)*(b < c)")
    if kind in ("SEMICOLON", "NEWLINE") and unclosed is not None and last in OPERAND_ENDS:
        return error("this '(' is never closed", "add a ')' before the ';'", unclosed)
    if kind == "COMMA" and unclosed is None:
        hint = "a decimal point is '.', and statements are separated by ';'"
        return error("a ',' separates the operands of a function, and there is none here", hint)
    if last in OPERATORS:
        return missing_operand(source, unexpected)
    what = "the end of the text" if kind == END else f"'{word}'" if kind != "NEWLINE" else "the end of the line"
    if last == "COMMA" or (last == "LPAR" and kind == "COMMA"):
        return error(f"an operand is missing before {what}", "drop the ',' or add an operand")
    if last == "EQUALS":
        return error(f"an expression is missing before {what}", "write name = expression")
    return error(f"there is no operand before {what}", f"put an operand before {what}")


def wrong_name(source: Source, word: str, span: Span) -> LanguageError | None:
    """An error if a word is no name, however it came to stand there."""
    import unicodedata

    if unicodedata.normalize("NFC", word).isidentifier():
        return None
    return bad_name(source, word, span)


def missing_operand(source: Source, unexpected: Unexpected) -> LanguageError:
    """An operator with nothing, or another operator, behind it."""
    kind, span = unexpected.kind, unexpected.span
    _, last_start, last_end = unexpected.last
    before, word = source.text[last_start:last_end], source.text[span[0] : span[1]]
    help = f"add an operand after '{before}', or drop it"
    place = last_start, last_end
    if kind in OPERATORS or kind == "EQUALS":
        pair = {"//": "the whole part of a quotient is floor(a/b)", "<>": "'not equal' is !="}
        together = before + word if span[0] == last_end else ""
        if together in pair:
            message = f"'{together}' is not an operator"
            place = last_start, span[1]
            return LanguageError("syntax", message, source=source, span=place, help=pair[together])
        message = f"an operand is missing between '{before}' and '{word}'"
        place = span
    else:
        message = f"an operand is missing after '{before}'"
        if kind == "NEWLINE":
            help = "a formula that spans lines stands in parentheses"
    return LanguageError("syntax", message, source=source, span=place, help=help)


def juxtaposed(source: Source, unexpected: Unexpected) -> LanguageError:
    """Two operands with no operator between them: ``2x``, ``2(a+b)``, ``a b``, ``x if y``."""
    kind, span = unexpected.kind, unexpected.span
    last, last_start, last_end = unexpected.last
    text = source.text
    before, word = text[last_start:last_end], text[span[0] : span[1]]
    group = re.match(r"\([^()\r\n]{1,20}\)", text[span[0] :])
    right = (group[0] if group else "(…)") if kind == "LPAR" else word
    product = f"{'(…)' if last == 'RPAR' else before}*{right}"
    if word in WORD_HINTS or before in WORD_HINTS:
        help = WORD_HINTS.get(word) or WORD_HINTS[before]
    elif before in BY_NAME and last == "NAME":
        help = f"a function's operand stands in parentheses: write {before}({word})"
    elif last == "NUMBER" and re.fullmatch(r"_\w*|[eEjJ]", word):
        help = f"numbers are written like 2, 2.5 or 1e-3; for a product write {product}"
    elif before == "0" and re.fullmatch(r"[xXoObB][0-9A-Fa-f]+", word):
        help = "numbers are decimal, like 2, 2.5 or 1e-3"
    else:
        help = f"for a product write {product}"
    message = f"an operator is missing between '{before}' and '{word}'"
    return LanguageError("syntax", message, source=source, span=span, help=help)


def unclosed_bracket(source: Source, end: int) -> Span | None:
    """The innermost '(' that is still open at an offset."""
    opened: list[int] = []
    in_comment = False
    for offset, character in enumerate(source.text[:end]):
        if character in "\r\n":
            in_comment = False
        elif character == "#":
            in_comment = True
        elif in_comment:
            continue
        elif character == "(":
            opened.append(offset)
        elif character == ")" and opened:
            opened.pop()
    return (opened[-1], opened[-1] + 1) if opened else None
