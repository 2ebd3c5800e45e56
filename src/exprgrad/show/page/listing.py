"""A formula as code to read beside its graph, line by node, in libraries that differentiate.

Every line is one operation of the op table, written by a target of ``exprgrad code`` with a few spellings
of its own.  What a library lacks is defined above them, from the row: in micrograd with its derivatives,
elsewhere by what the operation is in plainer ones.
"""

from __future__ import annotations

import builtins
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, cast

from exprgrad.derive.lower.expand import expand_text
from exprgrad.derive.parsed import parse_and_derive
from exprgrad.explain.diagnostics import DiagnosedRun
from exprgrad.graph.graph import (
    CONST,
    INPUT,
    Graph,
    Payload,
    Program,
    dependency_flags,
    dependent_flags,
)
from exprgrad.graph.ops import BY_NAME, Op
from exprgrad.graph.structural import Axes, normalize_axes
from exprgrad.language.code.statements import Names, ProgramWriter, Statements
from exprgrad.language.code.target import (
    ARITHMETIC,
    ATOM,
    CHOICE,
    LIKE,
    PRODUCT,
    SIGN,
    Form,
    Spelling,
    Structure,
    Target,
    functions_of_rows,
    operator_form,
)
from exprgrad.language.code.targets import TARGETS
from exprgrad.language.code.targets.numpy import operands_alone, reduction_spelling
from exprgrad.language.write.infix import leaf_level, leaf_text, operation_text
from exprgrad.show.page.arithmetic import OUT, operand_names
from exprgrad.source import Span

__all__ = [
    "ARRAY_LIBRARIES", "LIBRARIES", "OF_NUMBERS", "OF_TENSORS", "Library", "Listing", "highlight_data",
    "listing_data",
]  # fmt: skip


class Library(NamedTuple):
    """A library in which a formula is written.

    ``title``     what people call it
    ``target``    how its operations are written
    ``head``      what it needs, line by line
    ``given``     the line of an input; ``{name}`` and ``{number}`` stand for its own
    ``opening``   the line before the operations, with all ``{inputs}``; none where it is empty
    ``indent``    the beginning of each operation's line
    ``closing``   the lines that find the grads of the ``{output}``, as ``{grads}``
    ``grad``      the grad of an input, in that line
    """

    title: str
    target: Target
    head: str
    given: str
    opening: str
    indent: str
    closing: str
    grad: str


POWER = Form("{0}**{1}", SIGN, (ATOM, ATOM))
OTHER_OPERATORS = operator_form("", PRODUCT, PRODUCT, SIGN)


PLAIN = {
    **ARITHMETIC,
    **{
        op.name: POWER
        if op.infix == "^"
        else ARITHMETIC.get(op.name, OTHER_OPERATORS)._replace(text=f"{{0}} {op.infix} {{1}}")
        for op in BY_NAME.values()
        if op.infix
    },
}
"""Operators as people write them in Python."""
EXTREMA = {op.name: op.name for op in BY_NAME.values() if op.winner}
"""Rows that are functions of Python's by their names."""
PYTHON = TARGETS["python"]
MATH = PYTHON._replace(
    forms={**PYTHON.forms, **PLAIN, "sign": Form("(({0} > 0) - ({0} < 0))", ATOM, (ATOM,))},
    calls={
        **PYTHON.calls,
        **{row: f"math.{row}" for row in BY_NAME if hasattr(math, row)},
        **EXTREMA,
    },
    helpers={},
    point=False,
)
"""Python's numbers and its ``math``."""
VALUE = MATH._replace(forms={**PLAIN, "flag": Form("Value({0})")}, calls={})
"""Values as in the lesson; what is no operator is a method."""
OF_MICROGRAD = {
    row: form
    for row, form in PLAIN.items()
    if (row in ARITHMETIC or form is POWER) and not BY_NAME[row].opposite
}
MICROGRAD = VALUE._replace(forms={**OF_MICROGRAD, "relu": Form("{0}.relu()", ATOM, (ATOM,))})
AROUND_VALUES = (
    "{name} = Value({number})", "", "", "{output}.backward()\nprint({grads})", "{name}.grad",
)  # fmt: skip
"""The lines around the operations in both."""


def plain_array_target(
    name: str, calls: Mapping[str, str], spellings: Mapping[str, Spelling]
) -> Target:
    """A target of arrays; ``calls`` and, of tensors, ``spellings`` are functions that people expect.

    They are a little less accurate, or wrong far out.
    """
    target = TARGETS[name]
    assert target.arrays is not None
    arrays = target.arrays._replace(
        make=target.arrays.make.replace("F_", "torch."),
        literal=target.arrays.literal.replace(f"{LIKE}.new_", "torch."),
        number=target.arrays.number.replace(f"{LIKE}.new_", "torch."),
        spellings={**target.arrays.spellings, **spellings},
        copy="{0}",
    )
    return target._replace(
        forms={**target.forms, **PLAIN},
        calls={**target.calls, **calls},
        helpers={},
        point=False,
        arrays=arrays,
    )


class Missing(Exception):
    """A library lacks a ``kind`` of operation, and has not what it takes to define it."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


def axis_spelling(function: str, axis: str, keep: str) -> Spelling:
    """A function that takes its axes as an argument."""

    def spelled(o: Structure) -> Form:
        setting, *kept = cast("tuple[Axes, ...]", o.settings)
        axes = normalize_axes(setting, o.operands[0])
        told = f"{axis}={axes[0] if len(axes) == 1 else axes}" + f", {keep}=True" * any(kept)
        return Form(f"{function}({{0}}, {told})")

    return spelled


def expected_functions(
    softmax: str, logsumexp: str, linalg: str, axis: str, keep: str
) -> dict[str, Spelling]:
    """Functions of tensors that people expect; ``axis`` and ``keep`` are what they call their settings."""
    return {
        "softmax": axis_spelling(softmax, axis, keep),
        "reduce_logsumexp": axis_spelling(logsumexp, axis, keep),
        "norm": reduction_spelling(f"{linalg}.norm", axis, keep),
        "solve": operands_alone(f"{linalg}.solve"),
        "inv": operands_alone(f"{linalg}.inv"),
    }


def cross_entropy(o: Structure) -> Form:
    """PyTorch's, of rows of scores: labels are whole numbers to it, and probabilities are not."""
    scores, targets = o.operands
    if len(scores) > 2:
        raise Missing("cross_entropy")
    labels = "" if scores == targets else ".long()"
    return Form(f"torch.nn.functional.cross_entropy({{0}}, {{1}}{labels})", ATOM, (CHOICE, ATOM))


TORCH = plain_array_target(
    "torch",
    functions_of_rows("torch.", "relu sigmoid sign"),
    {
        **expected_functions("torch.softmax", "torch.logsumexp", "torch.linalg", "dim", "keepdim"),
        "cross_entropy": cross_entropy,
    },
)
JAX = plain_array_target(
    "jax",
    functions_of_rows("jax.nn.", "relu sigmoid softplus"),
    expected_functions(
        "jax.nn.softmax", "jax.scipy.special.logsumexp", "jnp.linalg", "axis", "keepdims"
    ),
)
LIBRARIES = (
    Library("exprgrad", VALUE, "from exprgrad import Value", *AROUND_VALUES),
    Library("micrograd", MICROGRAD, "from micrograd.engine import Value", *AROUND_VALUES),
    Library(
        "PyTorch",
        TORCH,
        "import torch\ntorch.set_default_dtype(torch.float64)",
        "{name} = torch.tensor({number}, requires_grad=True)",
        *AROUND_VALUES[1:],
    ),
    Library(
        "JAX",
        JAX,
        'import jax\nimport jax.numpy as jnp\njax.config.update("jax_enable_x64", True)',
        "{name} = {number}",
        "def {function}({inputs}):",
        "    ",
        "    return {output}\nprint(*jax.grad({function}, {places})({inputs}))",
        "",
    ),
)  # fmt: skip
"""The libraries, in the order in which they are offered."""
ARRAY_LIBRARIES = (
    Library(
        "exprgrad", VALUE, "import exprgrad", "{name} = {number}", 'run = exprgrad.parse("""', "    ",
        '""").gradient({pairs})\nprint({grads})', 'run.gradient["{name}"]',
    ),
    LIBRARIES[2],
    LIBRARIES[3]._replace(given="{name} = jnp.array({number})"),
)  # fmt: skip
"""The libraries for tensors, without micrograd; exprgrad has them in a formula's text."""
RESERVED_NAMES = {"Value", "math", "torch", "jax", "jnp", "print", *EXTREMA}
"""Names that the lines use beside a formula's own."""
LONGEST_LINE = 100_000
"""The most characters of an operation."""
NodeWriter = Callable[[Target, int, dict[str, str]], str]
"""Writes a node for a target in one text, and adds what the library lacks to what is defined."""


class Listing(NamedTuple):
    """The ``libraries`` that are offered, and what makes the ``writer`` of a graph with named nodes."""

    libraries: Sequence[Library]
    writer: Callable[[Graph, Mapping[int, str]], NodeWriter]


OF_NUMBERS = Listing(
    LIBRARIES,
    lambda graph, called: partial(
        number_node_code, graph, called, dependent_flags(graph, graph.inputs.values())
    ),
)
OF_TENSORS = Listing(
    ARRAY_LIBRARIES, lambda graph, called: partial(tensor_node_code, graph, called)
)
FUNCTION = -1
"""The key, in place of a node's, of the function that JAX differentiates."""
MICROGRAD_DEFINITION = """def {name}({listed}):
    out = Value({value}, ({operands}))
    def backward():
{passed}
    out._backward = backward
    return out"""
"""An operation that micrograd lacks."""


def highlight_data(
    run: DiagnosedRun, places: Mapping[int, int], listing: Listing | None
) -> dict[str, Any]:
    """The data with which the page highlights a node, given by its place, in the formula and its code.

    ``spans``  by place where the node is written in the formula: starts and ends in turn
    ``code``   the formula as code; a closed call has the lines of what is in it.  Left out if there is none
               or without a listing
    """
    spans, code = spans_by_node(run), listing_data(run, listing) if listing else {}
    within = {node: places[at] for at, closed in run.closed.items() for node in closed.inside}
    for rows in (code["given"], code["lines"]) if code else ():
        for row in rows:
            row[0] = within.get(row[0], places.get(row[0]))
    told = {"spans": [spans[node] for node in run.shown]}
    return told | ({"code": code} if code else {})


def spans_by_node(run: DiagnosedRun) -> dict[int, list[int]]:
    """Find each node in the shown text: starts and ends in turn.

    An input or a named node is written wherever it is read, and a closed call where it is called.
    """
    graph, text = run.graph, run.text
    found: dict[int, set[Span]] = {}
    for node in run.shown:
        found[node] = {run.closed[node].call.span if node in run.closed else graph.span(node)}
    for user, position, operand in graph.edges():
        if operand in run.names and operand in found:
            found[operand].add(graph.occurrence(user, position))
    for _, node, span in graph.bindings:
        if node in found:
            found[node].add(span)
    before = len(text) - len(text.lstrip())

    def at(offset: int) -> int:
        return len(text[before:offset].replace("\r\n", "\n"))

    return {
        node: [at(end) for span in sorted(spans) if span[1] > span[0] for end in span]
        for node, spans in found.items()
    }


def listing_data(run: DiagnosedRun, listing: Listing) -> dict[str, Any]:
    """The data with which the page shows a run as code in each library; empty without a grad to find.

    ``libraries``  by library its title, its head, the line of an input, the line before the operations,
                   the beginning of each of theirs, and what follows; or its title and what it lacks
    ``given``      the inputs' nodes, and what they are called
    ``lines``      node, and the line's text in each library, or one for all
    """
    graph = run.graph
    kind = graph.kinds[graph.output]
    is_flat = kind in BY_NAME and BY_NAME[kind].opposite
    if run.adjoints is None or not run.adjoints.active[graph.output] or is_flat:
        return {}
    needed = dependency_flags(graph, graph.output)
    nodes = [node for node, operands in enumerate(graph.operands) if operands and needed[node]]
    called = names_in_code(graph, nodes)
    grads = [called[graph.inputs[name]] for name in run.wrt or graph.inputs]
    inputs = [called[node] for node in graph.inputs.values()]
    seen = {
        "output": called[graph.output],
        "inputs": ", ".join(inputs),
        "pairs": ", ".join(f"{name}={name}" for name in inputs),
        "places": repr(tuple([inputs.index(name) for name in grads])),
        "function": called[FUNCTION],
    }
    told: list[list[str]] = []
    texts: list[list[str]] = []
    write = listing.writer(graph, called)
    for library in listing.libraries:
        try:
            head, lines = program_lines(library, write, nodes, called)
        except Missing as lacking:
            told.append([library.title, lacking.kind])
            texts.append([""] * len(nodes))
            continue
        shown = ", ".join(library.grad.format(name=name) for name in grads)
        closing = library.closing.format(grads=shown, **seen)
        opening = library.opening.format(**seen)
        told.append([library.title, head, library.given, opening, library.indent, closing])
        texts.append(lines)
    rows = [
        [node, *(each[:1] if len({*filter(None, each)}) == 1 else each)]
        for node, *each in zip(nodes, *texts, strict=True)
    ]
    given = [[node, called[node]] for node in graph.inputs.values()]
    return {"libraries": told, "given": given, "lines": rows}


def names_in_code(graph: Graph, nodes: Iterable[int]) -> dict[int, str]:
    """Each node's name in the code: its own, else ``t1``, ``t2``…; and ``FUNCTION``."""
    taken = {*PYTHON.reserved, *RESERVED_NAMES, *graph.kinds, *map(function_name, graph.kinds)}
    claimed, found = Names(taken, ascii=False), {}
    for node, name in graph.names().items():
        found[node] = claimed.claim(name)
    for node in nodes:
        if node not in found:
            found[node] = claimed.temporary()
    found[FUNCTION] = claimed.claim("f")
    return found


def program_lines(
    library: Library,
    write: NodeWriter,
    nodes: Sequence[int],
    called: Mapping[int, str],
) -> tuple[str, list[str]]:
    """The head of a program with all that it defines, and the line of each node, as ``write`` writes it."""
    defined: dict[str, str] = {}
    lines = [f"{called[node]} = {write(library.target, node, defined)}" for node in nodes]
    needs = "\n".join([*defined.values(), *lines])
    head = [library.head, *(["import math"] if "math." in needs else []), *defined.values()]
    return "\n".join(head), lines


def number_node_code(
    graph: Graph,
    called: Mapping[int, str],
    varying: Sequence[int],
    target: Target,
    node: int,
    defined: dict[str, str],
) -> str:
    """A node over numbers in one text; what the library lacks is added to what is ``defined``."""
    kind = graph.kinds[node]
    if not varying[node]:
        target = MATH
    elif not is_in_library(target, graph, node, varying):
        try:
            defined.setdefault(kind, function_definition(target, BY_NAME[kind]))
        except Missing:
            raise Missing(kind) from None
    names = operand_texts(target, graph, node, called, varying, kind in defined)
    if kind in defined:
        return call_defined_function(names, kind)
    if target is VALUE and kind not in PLAIN:
        return f"{names[0]}.{kind}({', '.join(names[1:])})"
    return library_operation(target, kind, names)


def tensor_node_code(
    graph: Graph, called: Mapping[int, str], target: Target, node: int, defined: dict[str, str]
) -> str:
    """A node over tensors in one text; constants are written in place."""
    kind, payload, operands = graph.kinds[node], graph.payloads[node], graph.operands[node]
    names = [called.get(operand) or leaf_text(graph, operand) for operand in operands]
    if target is VALUE:
        told = [(text, leaf_level(text)) for text in names]
        return operation_text(kind, told, spaced=True, limit=LONGEST_LINE, settings=payload)
    one = single_node_graph(graph, node, called)
    try:
        return formula_code(target, one, {name: name for name in one.inputs})
    except Missing:
        if kind not in BY_NAME:
            raise Missing(kind) from None
        defined.setdefault(kind, function_definition(target, BY_NAME[kind]))
        return call_defined_function(names, kind)


def single_node_graph(graph: Graph, node: int, called: Mapping[int, str]) -> Graph:
    """A node over tensors by itself, its operands being inputs or constants."""
    own = Graph([])
    places = []
    for operand in graph.operands[node]:
        name = called.get(operand, "")
        if name not in own.inputs:
            kind, payload = (INPUT, name) if name else (CONST, graph.payloads[operand])
            places.append(own.append(kind, (), payload, (0, 0)))
            own.shapes.append(graph.shape(operand))
            if name:
                own.inputs[name] = places[-1]
            elif operand in graph.symbols:
                own.symbols[places[-1]] = graph.symbols[operand]
        else:
            places.append(own.inputs[name])
    kind = graph.kinds[node]
    is_winner = bool(kind in BY_NAME and BY_NAME[kind].winner)
    append_output(own, kind, places, graph.payloads[node], in_pairs=is_winner)
    own.shapes += [graph.shape(node)] * (len(own) - len(own.shapes))
    return own


def append_output(
    graph: Graph, kind: str, operands: Sequence[int], settings: Payload, *, in_pairs: bool
) -> None:
    """Make an operation a graph's output; ``in_pairs``, where libraries have the greater of two alone."""
    graph.output, *others = operands
    for further in [[place] for place in others] if in_pairs else [others]:
        both = (graph.output, *further)
        graph.output = graph.append(kind, both, settings, (0, 0), ((0, 0),) * len(both))


def is_in_library(target: Target, graph: Graph, node: int, varying: Sequence[int]) -> bool:
    """Whether a library has a node's operation: micrograd has powers by numbers only."""
    kind = graph.kinds[node]
    if target is MICROGRAD and target.forms.get(kind) is POWER:
        return not varying[graph.operands[node][1]]
    return target is VALUE or kind in target.spelled


def operand_texts(
    target: Target,
    graph: Graph,
    node: int,
    called: Mapping[int, str],
    varying: Sequence[int],
    is_defined: bool,
) -> list[str]:
    """The operands of a node as its operation takes them; constants are Python's own numbers."""
    found = []
    for position, operand in enumerate(graph.operands[node]):
        is_const = graph.kinds[operand] == CONST
        name = constant_code(target, graph, operand) if is_const else called[operand]
        if not varying[operand] and target is not MATH:
            # A number has no methods, PyTorch's functions take none, and nor does what we define.
            if target.arrays is None:
                takes_numbers = not is_defined and (graph.kinds[node] in PLAIN or position)
                name = name if takes_numbers else f"Value({name})"
            elif target.arrays.strict and graph.kinds[node] not in PLAIN:
                name = f"torch.tensor({name})"
        found.append(name)
    return found


def library_operation(target: Target, kind: str, names: Sequence[str]) -> str:
    """Write a library's call of an operation on ``names``.  Raise ``Missing`` if it has none."""
    one, images = Graph(), {}
    for place, name in enumerate(dict.fromkeys(names)):
        images[name] = one.inputs[f"x{place}"] = one.append(INPUT, (), f"x{place}", (0, 0))
    given = dict(zip(one.inputs, images, strict=True))
    in_pairs = bool(BY_NAME[kind].winner and target.arrays is not None)
    append_output(one, kind, [images[name] for name in names], None, in_pairs=in_pairs)
    return formula_code(target, one, given)


def call_defined_function(names: Sequence[str], kind: str) -> str:
    """An operation that was defined on its operands, of an extremum two by two."""
    function, first, others = function_name(kind), names[0], [names[1:]]
    for rest in [[name] for name in names[1:]] if BY_NAME[kind].winner else others:
        first = f"{function}({', '.join([first, *rest])})"
    return first


def function_name(kind: str) -> str:
    """The name of the function that defines an operation."""
    return kind + "_" if hasattr(builtins, kind) else kind


def constant_code(target: Target, graph: Graph, node: int) -> str:
    """A number that was written out."""
    own = Graph()
    own.output = own.append(CONST, (), graph.payloads[node], (0, 0))
    if node in graph.symbols:
        own.symbols[own.output] = graph.symbols[node]
    return formula_code(target._replace(arrays=None), own, {})


def formula_code(target: Target, graph: Graph, given: Mapping[str, str]) -> str:
    """A formula in one text, its inputs written as they are given.

    Raises ``Missing``, of the first operation that the target lacks, if any.
    """
    writer = ProgramWriter(target, "", {})
    body = Statements(writer, Program(graph, (graph.output,)), Names((), ascii=False), {**given})
    (text,) = body.answers()
    if body.lines or body.helpers:
        raise Missing(str(next(iter(body.helpers), "")))
    return text


def python_op_text(text: str, given: Mapping[str, str]) -> str:
    """A text of the op table in Python, in plainer operations where Python lacks one.

    Raises ``Missing``.
    """
    graph = parse_and_derive(text)
    try:
        return formula_code(MATH, graph, given)
    except Missing as lacking:
        op = BY_NAME.get(lacking.kind)
        if op is None or not op.definition:
            raise
        return formula_code(MATH, parse_and_derive(expand_text(graph, [op.name])), given)


def function_definition(target: Target, op: Op) -> str:
    """An operation that a library lacks, as a function.  Raises ``Missing``."""
    count = 2 if op.winner else len(op.names)
    parameters, plainer = operand_names(op, count), op.definition or op.fallback or op.value
    is_python = target.arrays is None and op.name in MATH.spelled
    if (op.variadic and not op.winner) or not (plainer or is_python):
        raise Missing(op.name)
    if target.arrays is not None:
        body = formula_code(target, parse_and_derive(plainer), {name: name for name in parameters})
        return f"def {function_name(op.name)}({', '.join(parameters)}):\n    return {body}"
    given = {name: f"{name}.data" for name in (*parameters, OUT)}
    if is_python:
        value = library_operation(MATH, op.name, [given[name] for name in parameters])
    else:
        value = python_op_text(plainer, given)
    if op.winner:
        before = BY_NAME[op.winner].infix.strip(" =")
        pairs = parameters, parameters[::-1]
        slopes = [f"where({x} {before} {y}, 1, where({x} == {y}, 1/2, 0))" for x, y in pairs]
    else:
        slopes = [*(op.display_partials or op.partials)]
    factors = [python_op_text(slope, given) if slope != "0" else "" for slope in slopes]
    factors = [text if re.fullmatch(r"[\w.]*", text) else f"({text})" for text in factors]
    passed = [
        f"        {name}.grad += {factor} * out.grad"
        for name, factor in zip(parameters, factors, strict=True)
        if factor
    ]
    listed = ", ".join(parameters)
    operands = listed + "," * (count == 1)
    return MICROGRAD_DEFINITION.format(
        name=function_name(op.name), listed=listed, value=value, operands=operands,
        passed="\n".join(passed or ["        pass"]),
    )  # fmt: skip
