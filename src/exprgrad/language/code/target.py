"""A target language for programs: a value of plain data, which the generator reads.

Each target is a file in ``targets/``; what several of them share is here, and in ``numpy.py`` for those
that compute with arrays.  A row of the op table is spelled as a form (an operator), as a call of a library
function, or as a call of a helper, which is written out where it is used.  What a target does not spell is
lowered to what it does (``derive/lower/lower.py``), so a new row needs no change in any target.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple, cast

from exprgrad.graph.graph import CONST, Graph, Settings, Shape
from exprgrad.graph.ops import BY_INFIX, COMMON
from exprgrad.graph.tensors import STRUCTURAL

__all__ = [
    "AND", "ARITHMETIC", "ATOM", "CHOICE", "COMPARISON", "C_LIKE", "LIKE", "MATMUL", "NEEDED_FORMS", "OR",
    "PRODUCT", "SIGN", "SUM", "ArrayTarget", "Form", "FunctionLayout", "Repeat", "Routine", "Spelling",
    "Structure", "Target", "Variant", "application_form", "functions_of_rows", "node_structure",
    "operator_form", "variant_of_node", "variant_operands",
]  # fmt: skip

CHOICE, OR, AND, COMPARISON, SUM, MATMUL, PRODUCT, SIGN, ATOM = range(9)
"""How tightly texts bind, the same in all targets.

Python's ``@`` binds as ``*`` does; people read it more easily as if it were looser.
"""
LIKE = "{like}"
"""In a spelling: a tensor of the program, which says on which device a new one is to be."""


class Form(NamedTuple):
    """How something is written: ``text`` with its operands, how it binds, how they must bind.

    Without levels for its operands, it takes any text as it is, as a call does.
    """

    text: str
    level: int = ATOM
    operands: tuple[int, ...] = ()


class Variant(NamedTuple):
    """A structural row as a function of its own: what it computes depends on settings and shapes too."""

    kind: str
    settings: Settings
    operands: tuple[Shape, ...]


Routine = str | Variant
"""What a function is written for: an elementwise row, or a structural one with all that it depends on."""


class Structure(NamedTuple):
    """A structural operation that is to be written: settings, operands' shapes, its own.

    ``literal`` says whether its operand is a number that is written out.
    """

    settings: Settings
    operands: tuple[Shape, ...]
    shape: Shape
    literal: bool


Spelling = Callable[[Structure], Form]


class Repeat(NamedTuple):
    """How a program is repeated.

    ``declare``  a statement that names a number of the state, which changes
    ``opening``  the text before each turn's statements; ``{go}`` is a number, not 0 while it goes on
    ``assign``   a statement that gives a number of the state its new ``{text}``
    ``closing``  what follows them
    ``before``   a statement about the function's ``{operands}``, first of all
    """

    declare: str
    opening: str
    assign: str
    closing: str = ""
    before: str = ""


class FunctionLayout(NamedTuple):
    """How a function is laid out.

    ``file``       all of it, with ``{comment}``, ``{head}``, ``{body}`` and ``{helpers}``
    ``comment``    texts before the comment, before each line of it, and after it
    ``head``       texts before and after the parameters
    ``helper``     a function for a row that is lowered
    ``gaps``       texts before and after each helper
    ``define``, ``define_condition``  a statement that names a number or a condition
    ``answer``     returns the value alone
    ``result``     texts before, of and after each derivative, where they are returned too;
                   of a query, the numbered rows, where they are from, and what is joined to them
    ``returns``    what is returned, in words
    ``parameter``  one of the parameters; ``none`` is written if there are none
    ``extra``      a parameter in which derivatives are returned; ``size``: one of its ``{sizes}``
    ``indent``     before each statement
    ``unused``     a statement for a parameter that is not used, where the language wants one
    ``joined``     whether the derivatives are a list, rather than a statement each
    ``lone``       what follows a derivative that is alone in its list
    ``last``       what follows the last item of a list, or of parameters, that takes several lines
    ``key``        an input's name as the key of its derivative
    ``table``      texts before, of and after each number in a list of them, if ``joined``
    ``several``    the same of what is returned, each a part with a ``{name}``: of a Jacobian, or a Hessian
    ``procedure``  the ``head`` of a function that returns nothing, as what it finds is in parameters
    ``repeat``     how a program is repeated
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
    none: str = ""
    extra: str = ""
    indent: str = "    "
    define_condition: str = ""
    unused: str = ""
    joined: bool = True
    lone: str = ""
    last: str = ""
    key: Callable[[str], str] = str
    size: str = "[{count}]"
    table: tuple[str, str, str] = ("", "", "")
    several: tuple[str, str, str] = ("", "", "")
    procedure: tuple[str, str] = ("", "")
    repeat: Repeat = Repeat("", "", "")


class ArrayTarget(NamedTuple):
    """What a target with arrays states beside, to write programs of tensors.

    ``spellings``  structural row → how it is written
    ``make``       the function that makes a double or an array of doubles
    ``broadcast``  an output that does not depend on every input, in the shape of them all
    ``shapes``     the function that finds that shape
    ``literal``    a tensor that is written out; ``range``: the numbers 0, 1, 2… below one
    ``copy``       an array of its own, where arrays can be changed
    ``number``     a number that is written out, as an array beside tensors, if not as ``make`` makes it
    ``about``      what else the comment on a program of tensors says
    ``strict``     whether library functions take arrays only, no plain numbers
    """

    spellings: Mapping[str, Spelling]
    make: str
    broadcast: str
    shapes: str
    literal: str
    range: str
    copy: str = "{0}"
    number: str = ""
    about: str = ""
    strict: bool = False


class Target(NamedTuple):
    """One language, or one library.

    ``name``       what ``--to`` calls it, and its file in ``targets/``
    ``title``      what people call it
    ``place``      where it stands in lists: ascending
    ``layout``     how a function is laid out
    ``forms``      operators, and ``and``, ``or``, ``not``; ``flag`` is a condition as a number.  A row
                   that has a helper, too, has its form only where its last operand is never 0
    ``calls``      row → the function that it is
    ``helpers``    row → the source of a function whose name is ``F_`` and the row's: ``F_`` stands for the
                   name of the program and an underscore.  ``input`` takes an input of a program of tensors
    ``constants``  ``pi``, ``inf`` and ``nan``, where they have names
    ``reserved``   words that cannot be names, or name something else
    ``about``      a line for the comment: what the program needs
    ``library``    names that no function of ours may have
    ``ascii``      whether names are in ASCII
    ``point``      whether a whole number is written with ``.0``
    ``slack``      how many times the rounding bound of ``grad`` its numbers may be off; the tests hold it
    ``arrays``     what it has of arrays, if anything
    ``guarded``    row → its form where its operands may lie outside its domain, where that is another
    ``double``     a double that is written out, where numbers that are written out alone are none
    ``columns``    whether programs are queries: names are columns, helpers are columns too, and there are
                   neither functions nor loops
    ``ending``     how the names of its files end, which several may share
    ``numbered``   whether all names are ``v0``, ``v1``…, so that nothing of the user's text is in a program
    """

    name: str
    title: str
    place: int
    layout: FunctionLayout
    forms: Mapping[str, Form]
    calls: Mapping[str, str]
    constants: Mapping[str, str]
    reserved: frozenset[str]
    about: str
    helpers: Mapping[str, str] = {}
    library: frozenset[str] = frozenset()
    ascii: bool = False
    point: bool = True
    slack: float = 2.0
    arrays: ArrayTarget | None = None
    guarded: Mapping[str, Form] = {}
    double: str = ""
    columns: bool = False
    ending: str = ""
    numbered: bool = False

    @property
    def spelled(self) -> frozenset[str]:
        """The rows that need no lowering."""
        spellings = self.arrays.spellings if self.arrays else {}
        return frozenset((*self.forms, *self.calls, *self.helpers, *spellings))

    @property
    def words(self) -> frozenset[str]:
        """Every name that a program may use beside its own, and every reserved word."""
        texts = [*self.calls.values(), *self.constants.values()]
        texts += [form.text for form in self.forms.values()]
        texts.append(self.arrays.make if self.arrays else "")
        return self.reserved.union(*(re.findall(r"(?<![\w.])[A-Za-z_]\w*", text) for text in texts))


def node_structure(graph: Graph, node: int) -> Structure:
    """Facts about a structural node that are needed to write it."""
    operands, settings = graph.operands[node], cast(Settings, graph.payloads[node])
    shapes = tuple([graph.shape(operand) for operand in operands])
    literal = graph.kinds[operands[0]] == CONST and not shapes[0]
    return Structure(settings, shapes, graph.shape(node), literal)


def variant_of_node(graph: Graph, node: int) -> Variant:
    """A structural node's row, settings and shapes."""
    settings, shapes, _, _ = node_structure(graph, node)
    return Variant(graph.kinds[node], settings, shapes)


def variant_operands(row: Variant) -> tuple[str, ...]:
    """What a structural row's function calls its operands."""
    names = STRUCTURAL[row.kind].names
    if not STRUCTURAL[row.kind].variadic:
        return names
    return tuple([f"{names[0]}{at}" for at in range(1, len(row.operands) + 1)])


def operator_form(symbol: str, level: int, left: int, right: int) -> Form:
    """An operator between its operands."""
    return Form(f"{{0}}{symbol}{{1}}", level, (left, right))


def application_form(function: str, count: int) -> Form:
    """A function applied to ``count`` operands."""
    return Form(f"{function}({', '.join(f'{{{position}}}' for position in range(count))})")


def functions_of_rows(prefix: str, rows: str) -> dict[str, str]:
    """Rows whose functions bear their names, after a prefix; ``row=name`` for others."""
    pairs = [row.partition("=") for row in rows.split()]
    return {row: prefix + (name or row) for row, _, name in pairs}


ARITHMETIC = {
    **{BY_INFIX[sign].name: operator_form(f" {sign} ", SUM, SUM, MATMUL) for sign in "+-"},
    **{BY_INFIX[sign].name: operator_form(sign, PRODUCT, PRODUCT, SIGN) for sign in "*/"},
    **{op.name: Form(f"{op.prefix}{{0}}", SIGN, (ATOM,)) for op in COMMON if op.prefix},
    **{
        op.name: operator_form(f" {op.infix} ", COMPARISON, SUM, SUM)
        for op in COMMON
        if op.opposite
    },
}
"""The operators that all targets so far have in common."""
C_LIKE = {
    **ARITHMETIC,
    "where": Form("{0} ? {1} : {2}", CHOICE, (OR, OR, CHOICE)),
    "and": operator_form(" && ", AND, AND, COMPARISON),
    "or": operator_form(" || ", OR, COMPARISON, COMPARISON),
    "not": Form("!{0}", SIGN, (ATOM,)),
}
"""Operators as C and its kin write them."""
NEEDED_FORMS = (*ARITHMETIC, *["where", "and", "or", "not", "flag"])
"""The forms of which there is no lowering: each target states them all."""
