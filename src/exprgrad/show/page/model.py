"""A run as plain data for the page's script: nodes, edges, rows and the right order.

Texts are what the user wrote; the page shows them as texts only.  The numbers of inputs and constants are
all that the script starts from: it works out the rest.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from exprgrad.derive.parsed import parse_and_derive
from exprgrad.errors import LanguageError
from exprgrad.explain.diagnostics import DiagnosedRun, doubtful_nodes
from exprgrad.graph.graph import CONST, INPUT, Payload, shape_size
from exprgrad.graph.op import GATES, Op
from exprgrad.graph.ops import BY_NAME
from exprgrad.graph.structural import shape_text
from exprgrad.graph.tensors import STRUCTURAL
from exprgrad.language.write.infix import ATOM, SIGN, SUM, operation_text
from exprgrad.language.write.latex import node_latex
from exprgrad.language.write.mathml import mathml_of_latex
from exprgrad.run.edge_texts import (
    contribution_texts,
    label_in_parentheses,
    label_in_product,
    rule_of,
)
from exprgrad.run.numbers.sweeps import Adjoints, is_gated_edge
from exprgrad.show.documents.document import encode_nonfinite
from exprgrad.show.documents.runs import jacobian_bytes
from exprgrad.show.page.arithmetic import row_keys, selector_inputs
from exprgrad.show.page.listing import OF_NUMBERS, OF_TENSORS, highlight_data
from exprgrad.show.picture.cards import call_size_text, card_operation_text, typeset_text
from exprgrad.show.text.lines import left_to_right, true_minus
from exprgrad.show.text.nodes import call_kind
from exprgrad.show.text.operations import operation_usage
from exprgrad.source import bytes_text, cut_text, printable_text

if TYPE_CHECKING:
    from exprgrad.graph.calls import ClosedCall

__all__ = [
    "call_key", "call_program", "nonempty_fields", "pack_page", "page_edges", "page_model",
    "places_by_node", "rule_mathml", "sentence_names", "tensor_key",
]  # fmt: skip

SHORT_NAME = 24
"""The longest text that stands for a node without a name, in characters."""
END_FIELDS = ("user", "position", "operand")
"""The fields that identify an edge."""
LONG_RULE = 60
"""The length at which the rule of an edge over tensors is cut, in characters."""
OPERAND_MARK = "\0"
"""An operand's place in an operation's text."""


def page_model(
    run: DiagnosedRun, *, digits: int = 6, mark: str = "", has_code: bool = True
) -> dict[str, Any]:
    """A run of ``gradient`` as the page's script takes it; ``mark`` tells its tensors from others' there.

    ``nodes``   those that are seen, by place; ``row`` is the key in the page's arithmetic, and in ``rows``;
                ``data`` is that of an input or a constant; it is ``still`` if no small step can move it: a
                comparison.  Where there are calls, ``origin`` is the run's node, and ``call`` the text of
                the closed call that it is, or of the opened one that it is in
    ``edges``   along which a grad can pass, in the order of the visits, also those into a branch that is
                not taken: another input may take it
    ``rows``    each operation's words and its spelling: ``form`` is the text around its
                operands, ``signs`` says which of them have parentheses if they are negative
    ``inputs``  their names and nodes, in pairs, for a name may be ``__proto__``; ``wrt`` are the nodes of
                those that are differentiated
    ``notes``   the run's diagnostics: they are about the inputs as given
    ``losses``  the nodes that lose digits, with the message, and ``vague`` the numbers that have lost
                some; both are about the inputs as given
    ``corrected``  the derivatives that exist and are not what the sweep finds there, by node, in pairs
    ``spans``, ``code``  where nodes are written, and what they are as code (``listing.beside``)

    Over tensors a node has its ``shape``, and an edge what it passes on, in words, and the size of its
    ``jacobian``; ``fixed`` are the inputs that cannot be edited.

    What does not hold, or is empty, is left out of a node, an edge, a row or all of it.
    """
    assert run.adjoints is not None, "only a run of gradient() has a page"
    graph = run.graph
    places, called, own_keys = places_by_node(run), sentence_names(run), row_keys(run)
    keys = [key or tensor_key(run, node, mark) for node, key in enumerate(own_keys)]
    kinds = {
        keys[node]: page_row(graph.kinds[node], len(graph.operands[node]), graph.payloads[node])
        for node in run.shown
        if keys[node] and node not in run.closed
    }
    kinds |= {call_key(node): page_call(run, closed) for node, closed in run.closed.items()}
    inputs = {name: places[node] for name, node in graph.inputs.items()}
    told = {
        "output": places[graph.output],
        "digits": digits,
        "nodes": [page_node(run, node, called, keys[node], places) for node in run.shown],
        "edges": [page_edge(run, *edge, called, places, own_keys) for edge in page_edges(run)],
        "rows": kinds,
        "inputs": list(inputs.items()),
        "wrt": [inputs[name] for name in run.wrt or ()],
    }
    return told | page_notes(run, places, digits) | fields_by_kind(run, places, has_code=has_code)


def page_notes(run: DiagnosedRun, places: Mapping[int, int], digits: int) -> dict[str, Any]:
    """The fields that are about the inputs as given: ``notes``, ``losses``, ``vague``."""
    notes = [
        {
            "severity": found.severity,
            "message": left_to_right(found.message),
            "help": left_to_right(found.help or ""),
        }
        for found in run.diagnostics
    ]
    data, grad = doubtful_nodes(run, run.shown, digits)
    blamed = [
        {"node": places[found.node], "text": sentence_text(found.message)}
        for found in run.diagnostics
        if found.code == "lost-digits" and found.node in places
    ]
    vague = {
        name: sorted(map(places.__getitem__, nodes))
        for name, nodes in (("data", data), ("grad", grad))
    }
    return {"notes": notes} | nonempty_fields(losses=blamed, vague=vague if data or grad else None)


def fields_by_kind(
    run: DiagnosedRun, places: Mapping[int, int], *, has_code: bool
) -> dict[str, Any]:
    """The code if the page has any, and the inputs that are ``fixed`` over tensors, or ``corrected``."""
    inputs = run.graph.inputs
    if run.graph.shapes:
        chosen, listing = selector_inputs(run), OF_TENSORS
        told = nonempty_fields(fixed=[name for name, node in inputs.items() if node in chosen])
    else:
        both, listing = {**run.corrected, **run.true.corrected}, OF_NUMBERS
        slopes = ((name, encode_nonfinite(x)) for name, (_, x) in both.items() if name in inputs)
        told = nonempty_fields(corrected=[(places[inputs[name]], x) for name, x in slopes])
    return told | highlight_data(run, places, listing if has_code else None)


def places_by_node(run: DiagnosedRun) -> dict[int, int]:
    """Node → its place among those that are seen: what the page calls it."""
    return {node: place for place, node in enumerate(run.shown)}


def sentence_names(run: DiagnosedRun) -> dict[int, str]:
    """Each node's name in sentences: its own or its text, numbered where that says too little.

    A long text gives way to the one on the node's card, where long operands are ``…``.
    """
    texts = {}
    for node in run.shown:
        text = printable_text(run.label(node))
        if node in run.graph.implicit:
            operand = printable_text(run.label(run.graph.operands[node][0]))
            text = f"{cut_text(operand, SHORT_NAME // 2)} as {shape_text(run.graph.shape(node))}"
        elif len(text) > SHORT_NAME and node not in run.names:
            text = printable_text(card_operation_text(run, node))
        texts[node] = cut_text(text, SHORT_NAME)
    count, own = Counter(texts.values()), run.graph.names()
    return {
        node: sentence_text(
            text if count[text] == 1 or own.get(node) == text else f"{text} (#{node})"
        )
        for node, text in texts.items()
    }


def sentence_text(text: str) -> str:
    """A text as it stands in a sentence."""
    return left_to_right(true_minus(text))


def page_node(
    run: DiagnosedRun, node: int, names: Mapping[int, str], row: str, places: Mapping[int, int]
) -> dict[str, Any]:
    """One node, or a closed call."""
    assert run.adjoints is not None
    kind, name, called = run.graph.kinds[node], run.names.get(node), names[node]
    is_leaf, closed = kind in (INPUT, CONST), run.closed.get(node)
    does = sentence_text(
        printable_text(card_operation_text(run, node) if closed is None else closed.call.label)
    )
    if node in run.graph.implicit:
        does = called
    fields: dict[str, Any] = {
        "id": places[node],
        "kind": kind if is_leaf else "op",
        "label": f"{called} = {does}"
        if name and row and called != does
        else called
        if name
        else does,
        "short": called,
    }
    if is_leaf:
        fields["data"] = encode_nonfinite(run.values[node])
    else:
        operands = tuple([places[operand] for operand in run.operands(node)])
        fields |= {"operands": operands, "row": row if closed is None else call_key(node)}
    if run.graph.calls:
        fields["origin"] = node
        call = (
            closed.call
            if closed
            else run.graph.calls[run.opened[node]]
            if node in run.opened
            else None
        )
        fields |= {"call": sentence_text(printable_text(call.label))} if call else {}
    suspects = run.adjoints.tape.suspects if isinstance(run.adjoints, Adjoints) else None
    still = not is_leaf and suspects is not None and not suspects.moving[node]
    return (
        fields
        | nonempty_fields(shape=run.graph.shape(node))
        | set_flags(active=run.adjoints.active[node], still=still)
    )


def nonempty_fields(**fields: Any) -> dict[str, Any]:
    """The fields that are not empty."""
    return {name: value for name, value in fields.items() if value}


def set_flags(**flags: object) -> dict[str, int]:
    """The flags that are set."""
    return dict.fromkeys(nonempty_fields(**flags), 1)


def page_edges(run: DiagnosedRun) -> Iterator[tuple[int, int]]:
    """The edges along which a grad can pass, by user and position, in the order of the visits."""
    assert run.adjoints is not None
    seen = {*run.shown} if run.closed else ()
    for user in run.order:
        if seen and user not in seen:
            continue
        for position, operand in enumerate(run.operands(user)):
            if run.adjoints.active[operand]:
                yield user, position


def page_edge(
    run: DiagnosedRun,
    user: int,
    position: int,
    called: Mapping[int, str],
    places: Mapping[int, int],
    rows: Sequence[str],
) -> dict[str, Any]:
    """One edge, which may be that of a closed ``call``; over tensors its user has none of the ``rows``.

    It is ``gated`` if it passes nothing when its local derivative is 0, a ``branch`` if the user does not
    read the operand then, and ``loose`` if its rule has to stand in parentheses to be a factor.  ``math``
    sets the rule, where it is no mere name or number.
    """
    graph, operand = run.graph, run.operands(user)[position]
    ends = {"user": places[user], "position": position, "operand": places[operand]}
    if user in run.closed:
        name = sentence_text(printable_text(run.closed[user].call.name))
        by = called[operand] if operand in run.names else f"({called[operand]})"
        return {**ends, "rule": f"∂{name}/∂{by}", "call": 1}
    if not rows[user]:
        return ends | tensor_edge_fields(run, user, position)
    text, level = rule_of(graph, user, position, run.names, run.texts)
    fields: dict[str, Any] = {**ends, "rule": typeset_text(sentence_text(printable_text(text)))}
    if not text.removeprefix("-").replace(".", "").isalnum():
        fields["math"] = rule_mathml(run, user, position)
    op = BY_NAME[graph.kinds[user]]
    return fields | set_flags(
        gated=is_gated_edge(op, position), branch=position in op.branches, loose=level <= SUM
    )


def rule_mathml(run: DiagnosedRun, user: int, position: int) -> str:
    """The rule of an edge (``run.rule``) as MathML; nothing where its text was cut to be read.

    Names look as they do in the rule alone: ``e`` is an ``e`` unless there is an ``exp`` beside it.
    """
    try:
        graph = parse_and_derive(run.rule(user, position))
    except LanguageError:
        return ""
    return mathml_of_latex(node_latex(graph, graph.output))


# Tensors.

BY_JACOBIAN = (
    "each operand is passed the product of the grad and its Jacobian, which is never formed"
)
"""The words for a gate that has none of its own."""
FAR = 100
"""The factor for larger axes, at which a Jacobian's size is given as well."""


def tensor_key(run: DiagnosedRun, node: int, mark: str) -> str:
    """The key in the page's arithmetic of a node over tensors; empty for an input or a constant."""
    return f"{run.graph.kinds[node]} {mark}{node}" if run.graph.operands[node] else ""


def tensor_edge_fields(run: DiagnosedRun, user: int, position: int) -> dict[str, Any]:
    """The words on an edge over tensors: its Jacobian's name, and how large it would be."""
    called = partial(label_in_product, run)
    texts = contribution_texts(run, user, called, f"{label_in_parentheses(run, user, called)}.grad")
    passed = texts[position].passed if position in texts else "0"
    ends = run.graph.shape(user), run.graph.shape(run.graph.operands[user][position])
    count, axes = jacobian_bytes(ends), len(ends[0]) + len(ends[1])
    return {
        "rule": sentence_text(printable_text(cut_text(run.rule(user, position), LONG_RULE))),
        "passed": sentence_text(printable_text(cut_text(passed, LONG_RULE))),
        "jacobian": [*map(shape_size, ends), bytes_text(count), bytes_text(count * FAR**axes)],
    }


# Calls.


def call_key(node: int) -> str:
    """Return the page's key for the closed call whose result is ``node``."""
    return f"call {node}"


def page_call(run: DiagnosedRun, closed: ClosedCall) -> dict[str, Any]:
    """A closed call's fields: those of an operation's row without the form."""
    call = closed.call
    return {
        "about": f"{sentence_text(printable_text(call.label))}: {call_size_text(run, closed)}",
        "gate": call_kind(call),
        "pattern": "each operand is passed the grad times its local derivative",
    }


def call_program(run: DiagnosedRun, closed: ClosedCall) -> dict[str, Any]:
    """A closed call as a page of its own, whose inputs are the operands, in order.

    The script's sweeps over it are the call's value and local derivatives.
    """
    assert run.adjoints is not None
    graph, active, keys = run.graph, run.adjoints.active, row_keys(run)
    inside = sorted(closed.inside)
    places = {node: place for place, node in enumerate([*closed.operands, *inside])}

    def fields(node: int) -> dict[str, Any]:
        own: dict[str, Any] = {"id": places[node]} | set_flags(active=active[node])
        if node in closed.operands:
            return own | {"data": 0}
        if not graph.operands[node]:
            return own | {"data": encode_nonfinite(run.values[node])}
        return own | {"row": keys[node], "operands": [places[o] for o in graph.operands[node]]}

    passing = [
        {"user": places[user], "position": position, "operand": places[operand]}
        | set_flags(gated=is_gated_edge(BY_NAME[graph.kinds[user]], position))
        for user in closed.inside
        for position, operand in enumerate(graph.operands[user])
        if active[operand]
    ]
    return {
        "output": places[closed.call.result],
        "count": len(closed.operands),
        "nodes": [fields(node) for node in places],
        "edges": passing,
        "wrt": [places[operand] for operand in closed.operands if active[operand]],
    }


def page_row(kind: str, count: int, settings: Payload = None) -> dict[str, Any]:
    """The page's fields of an operation with ``count`` operands."""
    op = BY_NAME.get(kind) or STRUCTURAL[kind]
    plain = [(OPERAND_MARK, ATOM)] * count
    limit = 8 * count + len(kind) + (8 if settings is None else LONG_RULE)
    manner: Any = {"spaced": True, "limit": limit, "settings": settings}
    text = operation_text(kind, plain, **manner)
    negative = [
        operation_text(kind, [*plain[:at], (OPERAND_MARK, SIGN), *plain[at + 1 :]], **manner)
        for at in range(count)
    ]
    parts = text.split(OPERAND_MARK)
    signs = [int(negative[at] != text or parts[at].strip() == "-") for at in range(count)]
    fields: dict[str, Any] = {
        "about": true_minus(f"{operation_usage(op)}: {op.about}"),
        "gate": op.gate,
        "pattern": GATES.get(op.gate, BY_JACOBIAN),
        "form": true_minus(text).replace(" * ", " × ").split(OPERAND_MARK),
    }
    if any(signs):
        fields["signs"] = signs
    if isinstance(op, Op) and op.domain:  # in words, with an operand's position for each operand
        words = typeset_text(true_minus(op.domain_words or op.domain))
        pieces = filter(None, re.split(rf"\b({'|'.join(op.names)})\b", words))
        fields["domain"] = [op.names.index(x) if x in op.names else x for x in pieces]
    return fields


# What the page can do without.


def pack_page(page: Mapping[str, Any]) -> dict[str, Any]:
    """A page's data without what follows from the rest: ``filled`` in the script puts it back.

    A node's ``id`` is its place, its ``label`` its ``short`` name, its ``kind`` an operation's or an
    input's, and it is ``active``, unless it is a constant.  An edge is ``at`` a user and a position.
    """
    nodes = []
    for place, node in enumerate(page["nodes"]):
        usual = {
            "id": place,
            "origin": place,
            "kind": "op" if "row" in node else INPUT,
            "label": node.get("short"),
            "active": int(node.get("kind") != CONST),
        }
        told = {"active": 0} | node
        nodes.append({name: value for name, value in told.items() if value != usual.get(name)})
    edges = []
    for edge in page["edges"]:
        rest = {key: value for key, value in edge.items() if key not in END_FIELDS}
        math = rest.get("math", "").removeprefix("<math>").removesuffix("</math>")
        at = [edge["user"], edge["position"]]
        edges.append({"at": at} | rest | ({"math": math} if math else {}))
    return {**page, "nodes": nodes, "edges": edges}
