"""What it takes to write a program in a language: spellings, a layout, and words to keep away from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from exprgrad.graph.literal import Settings, Shape

__all__ = [
    "AND", "ATOM", "CHOICE", "COMPARISON", "MATMUL", "OR", "PRODUCT", "SIGN", "SUM", "Form", "Layout",
    "Row", "Target", "Variant",
]  # fmt: skip

CHOICE, OR, AND, COMPARISON, SUM, MATMUL, PRODUCT, SIGN, ATOM = range(9)
"""How tightly texts bind, the same in all targets.

Python's ``@`` binds as ``*`` does; people read it more easily as if it were looser.
"""


class Form(NamedTuple):
    """How something is written: ``text`` with its operands, how it binds, how they must bind."""

    text: str
    level: int
    operands: tuple[int, ...]


class Variant(NamedTuple):
    """A structural row as a function of its own: what it computes depends on settings and shapes too."""

    kind: str
    settings: Settings
    operands: tuple[Shape, ...]


Row = str | Variant
"""What a function is written for: an elementwise row, or a structural one with all that it depends on."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How a function is laid out.

    ``file``       all of it, with ``{comment}``, ``{head}``, ``{body}`` and ``{helpers}``
    ``comment``    what stands before, before each line of, and after the comment
    ``head``       what stands before and after the parameters
    ``parameter``  one of them; ``none`` stands where there are none
    ``helper``     a function for a row that is lowered
    ``gaps``       what stands before and after each helper
    ``define``, ``define_condition``  a statement that names a number or a condition
    ``extra``      a parameter in which the derivatives are returned
    ``indent``     before each statement
    ``unused``     a statement for a parameter that is not used, where the language wants one
    ``answer``     returns the value alone
    ``result``     what stands before, is, and stands after each derivative, where they are returned too
    ``joined``     whether the derivatives are a list, rather than a statement each
    ``lone``       what follows a derivative that is alone in its list
    ``returns``    what is returned, in words
    """

    file: str
    comment: tuple[str, str, str]
    head: tuple[str, str]
    helper: str
    gaps: tuple[str, str]
    define: str
    answer: str
    result: tuple[str, str, str]
    returns: str
    parameter: str = "{name}"
    extra: str = ""
    none: str = ""
    indent: str = "    "
    define_condition: str = ""
    unused: str = ""
    joined: bool = True
    lone: str = ""


@dataclass(frozen=True, slots=True)
class Target:
    """One language, or one library.

    ``forms``      operators, and ``and``, ``or``, ``not``; ``flag`` is a condition as a number
    ``calls``      row → the function that it is
    ``helpers``    row → the source of a function whose name is ``F_`` and the row's
    ``constants``  ``pi``, ``inf`` and ``nan``, where they have names
    ``reserved``   words that cannot be names
    ``library``    names that no function of ours may have
    ``about``      a line for the comment: what the program needs
    ``ascii``      whether names are in ASCII
    ``point``      whether a whole number is written with ``.0``
    ``array``      the function that makes a double or an array of doubles, where there are arrays
    ``broadcast``  an output that does not depend on every input, in the shape of them all
    ``shapes``     the function that finds that shape
    ``strict``     whether library functions take arrays only, no plain numbers
    """

    name: str
    title: str
    layout: Layout
    forms: Mapping[str, Form]
    calls: Mapping[str, str]
    constants: Mapping[str, str]
    reserved: frozenset[str]
    about: str
    helpers: Mapping[str, str]
    library: frozenset[str] = frozenset()
    ascii: bool = False
    point: bool = True
    array: str = ""
    broadcast: str = ""
    shapes: str = ""
    strict: bool = False

    @property
    def spelled(self) -> frozenset[str]:
        """The rows that need no lowering."""
        return frozenset(self.forms) | frozenset(self.calls) | frozenset(self.helpers)

    @property
    def words(self) -> frozenset[str]:
        """Every name that a program may use beside its own, and every reserved word."""
        texts = (*self.calls.values(), *self.constants.values(), self.array)
        texts = (*texts, *(form.text for form in self.forms.values()))
        return self.reserved.union(*(re.findall(r"(?<![\w.])[A-Za-z_]\w*", text) for text in texts))
