"""Rules as they stand on a page: ``2·x³``, not ``2*x^3``.

It is still a line of text, for a chip in a picture and a sentence: a power is raised where Unicode has
raised characters for all of its exponent.
"""

from __future__ import annotations

import re

__all__ = ["mathematics"]

RAISE = str.maketrans(
    "0123456789+-−abcdefghijklmnoprstuvwxyz", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ", " ()"
)
EXPONENT = re.compile(r"\^([a-pr-z]|[-−]?\d+|\((?:[a-pr-z\d−-]| [+−-] )+\))(?![\w.^(])")
"""A power whose exponent can be raised: a letter, a whole number, or a sum of them in parentheses."""
SIGNS = {"*": "·", "<=": "≤", ">=": "≥", "!=": "≠", "==": "="}
SIGN = re.compile(r" ?\* ?|[<>!=]=")
ABSOLUTE = re.compile(r"\babs\(([^()|]*)\)")
ROOT = re.compile(r"\bsqrt\((?:(\w+)\))?", re.ASCII)
PI = re.compile(r"\bpi\b")


def mathematics(text: str) -> str:
    """A formula's text as mathematics is written, in one line."""
    text = EXPONENT.sub(lambda power: power[1].translate(RAISE), text)
    text = ABSOLUTE.sub(r"|\1|", text)
    text = PI.sub("π", ROOT.sub(lambda root: "√" + (root[1] or "("), text))
    return SIGN.sub(lambda sign: SIGNS[sign[0].strip()], text)
