"""The texts of a call and of what stands before a dot, as far as hints need them; nothing is parsed."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = [
    "WHOLE", "Arguments", "arguments", "atom", "bare", "elements", "owner_before", "squared",
    "whole_numbers",
]  # fmt: skip

LONGEST = 80
"""The longest parentheses that are read, in characters."""
Arguments = tuple[list[str], dict[str, str]]
"""The texts of a call's operands, and of its settings by name."""
WHOLE = re.compile(r"[+-]?[0-9]+")


def arguments(text: str, start: int) -> Arguments | None:
    """What stands in the parentheses that begin at an offset; None if there are none, or too long ones."""
    if text[start : start + 1] != "(":
        return None
    depth = 0
    for at in range(start, min(len(text), start + LONGEST)):
        depth += (text[at] in "([") - (text[at] in ")]")
        if depth == 0:
            return sorted_out(parts(text[start + 1 : at]))
    return None


def parts(inside: str) -> list[str]:
    """What stands between commas; one inside brackets separates nothing."""
    found, depth = [""], 0
    for character in inside:
        depth += (character in "([") - (character in ")]")
        if character == "," and not depth:
            found.append("")
        else:
            found[-1] += character
    return [" ".join(part.split()) for part in found if part.strip()]


def sorted_out(listed: Sequence[str]) -> Arguments:
    """Operands, and settings by their names."""
    operands, settings = [], {}
    for part in listed:
        keyword = re.match(r"([^\W\d]\w*)\s*=(?!=)\s*", part)
        if keyword:
            settings[keyword[1]] = part[keyword.end() :]
        else:
            operands.append(part)
    return operands, settings


def elements(text: str) -> list[str] | None:
    """What ``[a, b]`` or ``(a, b)`` lists; None for anything else."""
    if not enclosed(text) or (text[0] == "(" and "," not in text):
        return None
    return parts(text[1:-1])


def enclosed(text: str) -> bool:
    """Whether one pair of brackets holds all of a text."""
    if text[:1] not in ("(", "[") or not text:
        return False
    depth = 0
    for at, character in enumerate(text):
        depth += (character in "([") - (character in ")]")
        if depth == 0:
            return at == len(text) - 1
    return False


def owner_before(text: str, end: int) -> str:
    """What stands before a dot: ``X``, ``X.T``, ``f(x)[0]``, ``(a + b)``; "" if no operand does."""
    least, at = max(end - LONGEST, 0), end
    while at > least:
        if text[at - 1] in ")]":
            depth = 0
            while at > least:
                at -= 1
                depth += (text[at] in ")]") - (text[at] in "([")
                if not depth:
                    break
            else:
                return "(…)"
            if at and (text[at - 1].isidentifier() or text[at - 1] in "0123456789)]"):
                continue
            break
        while at > least and ("_" + text[at - 1]).isidentifier():
            at -= 1
        if at == least or text[at - 1] != "." or text[at : at + 1] != "T":
            break
        at -= 1
    owner = " ".join(text[at:end].split())
    if not owner or owner[0].isdigit():
        return ""
    return owner


def atom(text: str) -> str:
    """An operand before ``.T``, ``@`` or ``^``: in parentheses if an operator would tear it apart."""
    called = re.match(r"\w+(?:\.T)?(?=[(\[])", text)
    whole = re.fullmatch(r"[\w.]+|…", text) or enclosed(text[called.end() :] if called else text)
    return text if whole else f"({text})"


def bare(text: str) -> str:
    """An operand of a function, without parentheses of its own."""
    return text[1:-1] if text[:1] == "(" and enclosed(text) and "," not in text else text


def squared(text: str) -> str:
    """A setting: a tuple as a list."""
    listed = elements(text)
    return text if listed is None else f"[{', '.join(listed)}]"


def whole_numbers(texts: Sequence[str]) -> list[str] | None:
    """Sizes or axes, as in ``2, 3`` or ``(2, 3)``; None if something else is among them."""
    listed = [part for text in texts for part in elements(text) or [bare(text)]]
    return listed if listed and all(map(WHOLE.fullmatch, listed)) else None
