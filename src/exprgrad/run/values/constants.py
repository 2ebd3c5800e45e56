"""The constants of nature: CODATA's recommended values of 2022, for ``NAME=@codata`` in a shell.

Source: P. Mohr, D. Newell, B. Taylor, E. Tiesinga, CODATA recommended values of the fundamental physical
constants: 2022, Rev. Mod. Phys. 97, 025002 (2025), and physics.nist.gov/constants.  ``codata.tsv`` has
them as published, the uncertainty of the last digits in brackets; of an exact value with endless
digits it has the nearest double.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from exprgrad.errors import InputError
from exprgrad.run.values.inputs import normal_name

__all__ = ["Constant", "codata", "find_constants", "list_constants"]


class Constant(NamedTuple):
    """A constant: its symbols, its name, its value as text, such as ``6.67430(15)e-11``, and its unit."""

    symbols: tuple[str, ...]
    name: str
    value: str
    unit: str


@cache
def list_constants() -> tuple[Constant, ...]:
    """Read the table of constants, in the order of their names."""
    text = Path(__file__).with_name("codata.tsv").read_text(encoding="utf-8")
    rows = [line.split("\t") for line in text.splitlines()]
    return tuple([Constant(tuple(first.split()), *others) for first, *others in rows])


def find_constants(word: str) -> Sequence[Constant]:
    """Find the constants with this symbol or this name; where there is none, those whose names have it."""
    sought, whole = normal_name(word.strip()), word.strip().casefold()
    found = [one for one in list_constants() if sought in map(normal_name, one.symbols)]
    found += [one for one in list_constants() if whole == one.name.casefold() and one not in found]
    return found or [one for one in list_constants() if whole in one.name.casefold()]


def codata(name: str) -> str:
    """Return a constant's value as text, with its uncertainty: ``f(G=exprgrad.codata("G"))``.

    ``name`` is a symbol, such as ``m_e``, or the name in full, ``electron mass``.  Raises ``InputError``
    for what is neither.
    """
    found = find_constants(name)
    if len(found) == 1:
        return found[0].value
    several = ", ".join(f"'{one.name}'" for one in found[:4]) + ", …" * (len(found) > 4)
    help = f"say which: {several}" if found else "exprgrad constants WORD finds them by their names"
    message = f"no constant of CODATA's is called '{name}'"
    raise InputError("bad-value", message, help=help).about(name)
