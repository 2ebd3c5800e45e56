"""The whole formula mended: every mistake's mend in one text, where each of them is certain.

A mistake's mend is an edit of the text.  The text is read again after each, so that the next mistake shows,
until it reads or a mistake has no certain mend.
"""

from __future__ import annotations

from collections.abc import Callable

from exprgrad.errors import LanguageError
from exprgrad.language.mistakes.complaints import complaint
from exprgrad.language.mistakes.foreign import enclosed
from exprgrad.language.read import lalr

__all__ = ["explained", "mended"]

LONGEST = 160
"""The longest text that is mended as a whole, in characters."""
MOST_MENDS = 40


Reader = Callable[[str], object]
"""What reads a text, and raises what is wrong with it."""


def explained(text: str, wrong: lalr.Unexpected | LanguageError, read: Reader) -> LanguageError:
    """The error for what is wrong with a text, with the whole text mended if that says more."""
    error = located(text, wrong)
    whole = mended(text, error, read)
    if whole is not None and whole not in (error.help or ""):
        hint = error.help or ""
        error.help = f"{hint}{'' if hint.endswith('?') else ';'} mended: {whole}"
    return error


def mended(text: str, error: LanguageError, read: Reader) -> str | None:
    """The text with this mistake mended, and all others; None where that is not certain."""
    if len(text) > LONGEST or "\n" in text:
        return None
    for _ in range(MOST_MENDS):
        if error.mend is None:
            return None
        start, end, new = error.mend
        text = (text[:start] + new + text[end:]).strip()
        try:
            read(text)
        except (lalr.Unexpected, LanguageError) as wrong:
            error = located(text, wrong)
        else:
            return text[1:-1] if text[0] == "(" and enclosed(text) else text
    return None


def located(text: str, wrong: lalr.Unexpected | LanguageError) -> LanguageError:
    """What is wrong, as an error: of the grammar's own, the complaint about it."""
    return wrong if isinstance(wrong, LanguageError) else complaint(text, wrong)
