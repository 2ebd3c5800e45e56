"""Names beyond ASCII: what may be one, and how it is written.

A name is what ``str.isidentifier`` accepts, in NFC, without superscripts, invisible characters, and
characters that look like an operator: ``a·b`` is a product, and ``xⁿ`` a power.
"""

import re
import unicodedata

__all__ = [
    "CONSTANT_SIGNS", "INVISIBLE", "LOOK_ALIKES", "SUPERSCRIPTS", "begins_with_pi", "plain_name",
]  # fmt: skip

SUPERSCRIPTS = str.maketrans("⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "+-0123456789")

CONSTANT_SIGNS = {"π": "pi", "∞": "inf"}
"""A constant's sign → its name."""
LOOK_ALIKES = {
    "ˆ": "^", "ǀ": "|", "ǁ": "‖", "ǃ": "!", "ꞏ": "*", "ᐧ": "*", "・": "*", "･": "*", "ᐳ": ">", "ᐸ": "<",
    "ʹ": "'", "ʼ": "'", "ʺ": '"', "ˋ": "`",
}  # fmt: skip
"""Letters, by Unicode, that look like an operator or a mark → that sign."""
INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200c\u200d\u3164\ufe00-\ufe0f\uffa0\U00016fe4\U000e0100-\U000e01ef]"
)
"""Letters and marks, by Unicode, that are invisible: joiners, fillers, selectors of variants."""


def plain_name(text: str) -> str | None:
    """Normalize a name: NFC, and constants by their names; None for a word that is no name."""
    if text in CONSTANT_SIGNS:
        return CONSTANT_SIGNS[text]
    name = unicodedata.normalize("NFC", text)
    is_name = (
        name.isidentifier()
        and LOOK_ALIKES.keys().isdisjoint(name)
        and not INVISIBLE.search(name)
        and not any(unicodedata.decomposition(letter).startswith("<super>") for letter in name)
        and not begins_with_pi(name)
    )
    return name if is_name else None


def begins_with_pi(name: str) -> bool:
    """Whether a name reads as a product: ``πr`` does, ``π_1`` does not."""
    return name[0] == "π" and name[1:2] not in ("", "_")
