"""Names for programs: safe in a target's language, distinct, and as near as may be to the user's own."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

__all__ = ["Names", "is_plain"]

PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
BRACKETS = str.maketrans({"[": "_", "-": "m", "]": ""})
"""What becomes of the index in the name of a recurrence's term."""
GREEK = re.compile(r"GREEK (SMALL|CAPITAL) LETTER (?:FINAL )?([A-Z]+)")


class Names:
    """The names of one function: what is taken is not given again.

    ``ascii`` is for languages that know no other letters.  With a ``prefix`` the names are columns of
    tables, in which upper and lower case are the same.
    """

    def __init__(self, taken: Iterable[str], *, ascii: bool, prefix: str = "") -> None:
        self.taken = set(taken)
        self.ascii = ascii
        self.prefix = prefix
        self.count = 0

    def claim(self, wanted: str) -> str:
        """The name itself, or one like it where it is taken or cannot be written: x_1 for x[1]."""
        if "[" in wanted:
            wanted = wanted.translate(BRACKETS)
        name = in_ascii(wanted) if self.ascii else unicodedata.normalize("NFKC", wanted)
        name = self.prefix + name
        while self.key(name) in self.taken:
            name += "_"
        self.taken.add(self.key(name))
        return name

    def key(self, name: str) -> str:
        """What is the same for names that cannot be told apart."""
        return name.lower() if self.prefix else name

    def temporary(self) -> str:
        """The next of ``t1``, ``t2``… that is free."""
        self.count += 1
        while f"{self.prefix}t{self.count}" in self.taken:
            self.count += 1
        return self.claim(f"t{self.count}")


def in_ascii(name: str) -> str:
    """A name in ASCII: Greek letters by their names, accents dropped, others by their number.

    A name that C reserves for its library (``_X``, ``__x``) gets a letter before it.
    """
    if not PLAIN.fullmatch(name):
        name = "".join(map(letter, unicodedata.normalize("NFKC", name)))
    return name if is_plain(name) else f"v{name}"


def is_plain(name: str) -> bool:
    """Whether a name is in ASCII, and none that C reserves for its library."""
    return PLAIN.fullmatch(name) is not None and re.match("__|_[A-Z]", name) is None


def letter(character: str) -> str:
    """One character of a name in ASCII."""
    if PLAIN.fullmatch("_" + character):
        return character
    base = unicodedata.normalize("NFD", character)[0]
    if PLAIN.fullmatch("_" + base):
        return base
    greek = GREEK.match(unicodedata.name(base, ""))
    if greek is None:
        return f"u{ord(character):04x}"
    return greek[2].lower() if greek[1] == "SMALL" else greek[2].capitalize()
