"""What a diagnostic is, and a guarded answer: what those who find them and those who show them share."""

# Without ``from __future__ import annotations``: typing would compile each field's text at every start.

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeVar

from exprgrad.source import Span

__all__ = ["Diagnostic", "Flag", "Guarded", "Path", "Settled", "special_words"]

Counted = TypeVar("Counted")
Path = tuple[str, ...]
"""Where an answer has a number: its field, then the names by which it is found there."""


class Diagnostic(NamedTuple):
    """Something worth knowing about a run.

    ``code`` is ``nan`` or ``infinity`` (of a node's data), ``nan-gradient`` or ``infinite-gradient``,
    ``kink`` or ``jump`` (of a node, or along an input), ``corrected``, ``undecided``, ``exists`` or
    ``edge`` (of the derivative with respect to an input), ``many-inputs`` (too many to look at from both
    sides), ``lost-digits`` (of the value or a derivative; as a note of what was typed and is below the
    doubles), ``diverged`` (of a descent), or ``unused`` (a named statement); ``severity`` is ``warning``,
    or ``note`` where the answer does not depend on it.
    ``path`` is, for a number that is not finite, its way to the output: ``exp(x) → 1 + exp(x) → …``.
    """

    code: str
    severity: str
    message: str
    node: int
    span: Span
    help: str | None
    path: str | None = None


class Flag(Diagnostic):
    """A diagnostic that says of a node that it meets a kink or a jump, and not what that comes to."""

    __slots__ = ()


def special_words(code: str) -> tuple[str, str]:
    """What a node does at a kink or a jump, and help."""
    if code == "kink":
        help = "its derivatives from the two sides may differ; the answer is a convention"
        return "has a kink", help
    help = "there is no derivative at a jump; the answer is that of the side that has the value"
    return "jumps", help


class Guarded(NamedTuple):
    """A run's answer as commands print it.

    ``value``, ``gradient``  the sweep's numbers, but for what is corrected at a kink or by balls
    ``corrected``        by input: the sweep's number and the answer, where they differ
    ``digits``           how many of their digits are right, from 0 to 16: an object for each, as in JSON
    ``corrected_value``  the sweep's value and the answer, where they differ
    ``diagnostics``      a warning for each number that has fewer right digits than are asked for
    ``causes``           by warning: the nodes that errors came through which are corrected
    """

    value: Any
    gradient: dict[str, Any]
    corrected: dict[str, tuple[Any, Any]]
    digits: Mapping[str, Any] = {}
    corrected_value: tuple[Any, Any] | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    causes: tuple[frozenset[int], ...] = ()

    def __repr__(self) -> str:
        """The answer in a line: what was corrected, and why, is for those who ask."""
        return f"Guarded(value={self.value!r}, gradient={self.gradient!r}, digits={self.digits!r})"


class Settled(NamedTuple):
    """What became of some numbers of an answer, by path.

    ``values``       what is printed: the sweep's numbers, but for what balls correct
    ``digits``       how many of their digits are right, from 0 to 16
    ``corrected``    the sweep's number and the answer, where they differ
    ``diagnostics``  a warning for each number that has fewer right digits than are asked for
    ``causes``       by warning: the nodes that errors came through which are corrected
    """

    values: dict[Path, float]
    digits: dict[Path, int]
    corrected: dict[Path, tuple[float, float]]
    diagnostics: tuple[Diagnostic, ...] = ()
    causes: tuple[frozenset[int], ...] = ()

    def joined(self, other: "Settled") -> "Settled":
        """These numbers and others."""
        return Settled(
            self.values | other.values,
            self.digits | other.digits,
            self.corrected | other.corrected,
            self.diagnostics + other.diagnostics,
            self.causes + other.causes,
        )

    def among(self, field: str) -> "Settled":
        """The numbers of one field, by the rest of their paths."""
        values, digits = rest(self.values, field), rest(self.digits, field)
        return Settled(values, digits, rest(self.corrected, field))


def rest(found: Mapping[Path, Counted], field: str) -> dict[Path, Counted]:
    """What stands under a field, by the rest of its path."""
    return {path[1:]: one for path, one in found.items() if path[0] == field}
