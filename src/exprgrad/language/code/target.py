"""A target language for programs, as plain data for the generator.

Each target is a file in ``targets/``; targets share what is here, and those with arrays what is in
``numpy.py``.  A target spells a row of the op table as a form (an operator), as a call of a library
function, or as a call of a helper, which the program then contains.  Rows without a spelling are lowered to
others (``derive/lower/lower.py``), so a new row needs no change in any target.
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

Python's ``@`` binds as ``*`` does; here it is looser, for readers.
"""
LIKE = "{like}"
"""A gap in a spelling for one of the program's tensors, whose device a new tensor takes."""


class Form(NamedTuple):
    """A spelling: ``text`` with gaps for operands, how tightly it binds, and how tightly they must.

    Without levels for its operands it takes any text, as a call does.
    """

    text: str
    level: int = ATOM
    operands: tuple[int, ...] = ()


class Variant(NamedTuple):
    """A structural row, with the settings and shapes that a function for it depends on."""

    kind: str
    settings: Settings
    operands: tuple[Shape, ...]


Routine = str | Variant
"""The subject of a helper function: an elementwise row, or a structural one with settings and shapes."""


class Structure(NamedTuple):
    """A structural operation, for its spelling: settings, operands' shapes, its own shape.

    ``literal`` tells whether its operand is a literal number.
    """

    settings: Settings
    operands: tuple[Shape, ...]
    shape: Shape
    literal: bool


Spelling = Callable[[Structure], Form]


class Repeat(NamedTuple):
    """The layout of a loop.

    ``declare``  a statement that declares a number of the state, which changes
    ``opening``  the text before each turn's statements; the loop goes on while the number ``{go}`` is not 0
    ``assign``   a statement that gives a number of the state its new ``{text}``
    ``closing``  the text behind them
    ``before``   a first statement about the function's ``{operands}``
    """

    declare: str
    opening: str
    assign: str
    closing: str = ""
    before: str = ""


class FunctionLayout(NamedTuple):
    """The layout of a function.

    ``file``       the whole, with ``{comment}``, ``{head}``, ``{body}`` and ``{helpers}``
    ``comment``    texts before the comment, before each line of it, and after it
    ``head``       texts before and after the parameters
    ``helper``     a function for a row that is lowered
    ``gaps``       texts before and after each helper
    ``define``, ``define_condition``  a statement that names a number or a condition
    ``answer``     a statement that returns the value alone
    ``result``     texts before, of and after each derivative, where these are returned, too;
                   of a query, the numbered rows, their table, and the final join
    ``returns``    the result, in words
    ``parameter``  one of the parameters; ``none`` is written if there are none
    ``extra``      a parameter that receives derivatives; ``size``: one of its ``{sizes}``
    ``indent``     before each statement
    ``unused``     a statement for an unused parameter, where the language wants one
    ``joined``     whether the derivatives are a list, rather than a statement each
    ``lone``       the text behind a single derivative of a list
    ``last``       the text behind the last item of a list, or of parameters, on several lines
    ``key``        an input's name as the key of its derivative
    ``table``      texts before, of and after each number of a list, if ``joined``
    ``several``    texts before, of and after each part, with its ``{name}``, of a Jacobian or a Hessian
    ``procedure``  the ``head`` of a function that returns its results in parameters
    ``repeat``     the layout of a loop
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
    """The part of a target for programs of tensors.

    ``spellings``  structural row → its spelling
    ``make``       the function that makes a double or an array of doubles
    ``broadcast``  an output that does not depend on every input, broadcast to the shape of them all
    ``shapes``     the function that finds that shape
    ``literal``    a literal tensor; ``range``: the whole numbers from 0 up to one
    ``copy``       a copy of an array, where arrays can be changed
    ``number``     a literal number as an array beside tensors, if not by ``make``
    ``about``      more text for the comment on a program of tensors
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

    ``name``       its name for ``--to``, and its file in ``targets/``
    ``title``      its usual name
    ``place``      its rank in lists, ascending
    ``layout``     the layout of a function
    ``forms``      operators, and ``and``, ``or``, ``not``; ``flag`` is a condition as a number.  A row
                   that has a helper, too, has its form only where its last operand is never 0
    ``calls``      row → the function that it is
    ``helpers``    row → the source of a function whose name is ``F_`` and the row's: ``F_`` stands for the
                   name of the program and an underscore.  ``input`` takes an input of a program of tensors
    ``constants``  ``pi``, ``inf`` and ``nan``, where they have names
    ``reserved``   words that cannot be names, or name something else
    ``about``      a line for the comment: the program's requirements
    ``library``    names that no function of ours may have
    ``ascii``      whether names are in ASCII
    ``point``      whether a whole number is written with ``.0``
    ``slack``      the largest error that the tests allow, in rounding bounds of ``grad``
    ``arrays``     its part for tensors, if it has arrays
    ``guarded``    row → its form where operands may lie outside its domain, if that differs
    ``double``     a literal double, where a plain literal has another type
    ``columns``    whether programs are queries: names and helpers are columns, and there are neither
                   functions nor loops
    ``ending``     the ending of its files' names, which several may share
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
        """The names that a program may use besides its own, and the reserved words."""
        texts = [*self.calls.values(), *self.constants.values()]
        texts += [form.text for form in self.forms.values()]
        texts.append(self.arrays.make if self.arrays else "")
        return self.reserved.union(*(re.findall(r"(?<![\w.])[A-Za-z_]\w*", text) for text in texts))


def node_structure(graph: Graph, node: int) -> Structure:
    """Collect the facts that a structural node's spelling depends on."""
    operands, settings = graph.operands[node], cast(Settings, graph.payloads[node])
    shapes = tuple([graph.shape(operand) for operand in operands])
    literal = graph.kinds[operands[0]] == CONST and not shapes[0]
    return Structure(settings, shapes, graph.shape(node), literal)


def variant_of_node(graph: Graph, node: int) -> Variant:
    """Collect a structural node's row, settings and shapes."""
    settings, shapes, _, _ = node_structure(graph, node)
    return Variant(graph.kinds[node], settings, shapes)


def variant_operands(row: Variant) -> tuple[str, ...]:
    """Name the operands of a structural row's function."""
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
    """Read a list of rows and their functions: ``row``, or ``row=name``; a prefix goes before each."""
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
"""The operators that all targets share."""
C_LIKE = {
    **ARITHMETIC,
    "where": Form("{0} ? {1} : {2}", CHOICE, (OR, OR, CHOICE)),
    "and": operator_form(" && ", AND, AND, COMPARISON),
    "or": operator_form(" || ", OR, COMPARISON, COMPARISON),
    "not": Form("!{0}", SIGN, (ATOM,)),
}
"""The operators of C and similar languages."""
NEEDED_FORMS = (*ARITHMETIC, *["where", "and", "or", "not", "flag"])
"""The forms without a lowering, which each target has to have."""
