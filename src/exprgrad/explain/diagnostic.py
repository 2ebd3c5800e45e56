"""What a diagnostic is: all that those who find some and those who show them need to share."""

from __future__ import annotations

from typing import NamedTuple

from exprgrad.source import Span

__all__ = ["Diagnostic", "Flag", "special_words"]


class Diagnostic(NamedTuple):
    """Something worth knowing about a run.

    ``code`` is ``nan`` or ``infinity`` (of a node's data), ``nan-gradient`` or ``infinite-gradient``,
    ``kink`` or ``jump`` (of a node, or along an input), ``corrected``, ``undecided`` or ``exists`` (of the
    derivative with respect to an input), ``many-inputs`` (too many to look at from both sides),
    ``diverged`` (of a descent), or ``unused`` (a named statement); ``severity`` is ``warning``, or ``note``
    where the answer does not depend on it.
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
