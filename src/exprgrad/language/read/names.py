"""Names beyond ASCII: what may be one, and how it is written.

A name is what ``str.isidentifier`` accepts, in NFC, without the characters that look like an operator or
stand above the line: ``a·b`` is a product, and ``xⁿ`` a power.
"""

import unicodedata

__all__ = ["CONSTANT_SIGNS", "LOOK_ALIKES", "SUPERSCRIPTS", "begins_with_pi", "plain"]

SUPERSCRIPTS = str.maketrans("⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "+-0123456789")

CONSTANT_SIGNS = {"π": "pi", "τ": "tau", "∞": "inf"}
"""A constant's sign → its name."""
LOOK_ALIKES = {
    "ˆ": "^", "ǀ": "|", "ǁ": "‖", "ǃ": "!", "ꞏ": "*", "ᐧ": "*", "・": "*", "･": "*", "ᐳ": ">", "ᐸ": "<",
    "ʹ": "'", "ʼ": "'", "ʺ": '"', "ˋ": "`",
}  # fmt: skip
"""Letters, as Unicode has it, that are taken for an operator or a mark → that one."""


def plain(text: str) -> str | None:
    """The name that a word is, in NFC and with constants by their names; None if it is none."""
    if text in CONSTANT_SIGNS:
        return CONSTANT_SIGNS[text]
    name = unicodedata.normalize("NFC", text)
    is_name = name.isidentifier() and not any(map(foreign, name)) and not begins_with_pi(name)
    return name if is_name else None


def foreign(character: str) -> bool:
    """Whether a character is no part of a name although ``isidentifier`` accepts it."""
    return character in LOOK_ALIKES or unicodedata.decomposition(character).startswith("<super>")


def begins_with_pi(name: str) -> bool:
    """Whether a name reads as a product: ``πr`` does, ``π_1`` does not."""
    return name[0] == "π" and name[1:2] not in ("", "_")
