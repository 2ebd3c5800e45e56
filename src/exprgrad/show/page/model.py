"""What the page knows of a run, as plain data for its script: nodes, edges, rows and the right order.

Texts are what the user wrote; the page shows them as texts only.  The numbers of inputs and constants are
all that the script starts from: it works out the rest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from exprgrad.derive.parsed import parsed
from exprgrad.errors import LanguageError
from exprgrad.explain.diagnostics import Run, diagnose
from exprgrad.graph.graph import CONST, INPUT
from exprgrad.graph.op import GATES
from exprgrad.graph.ops import BY_NAME
from exprgrad.language.write.infix import ATOM, SIGN, SUM, operation_text
from exprgrad.language.write.latex import node_latex
from exprgrad.language.write.mathml import mathml
from exprgrad.run.edge_texts import rule_of
from exprgrad.run.numbers.sweeps import Adjoints, gated
from exprgrad.show.documents.document import finite
from exprgrad.show.page.arithmetic import rows
from exprgrad.show.picture.cards import operation
from exprgrad.show.text.lines import directed
from exprgrad.show.text.operations import usage
from exprgrad.show.text.views import minus
from exprgrad.source import cut, printable

__all__ = ["edges", "model", "rule_math"]

SHORT_NAME = 24
"""The most characters of what a node without a name is called."""
MARK = "\0"
"""An operand's place in an operation's text."""


def model(run: Run, *, digits: int = 6) -> dict[str, Any]:
    """A run of ``gradient`` as the page's script takes it.

    ``nodes``   by id; ``row`` is the key in the page's arithmetic, and in ``rows``; ``data`` is that of an
                input or a constant; it is ``still`` if no small step can move it: a comparison
    ``edges``   along which a grad can pass, in the order of the visits, also those into a branch that is
                not taken: another input may take it
    ``rows``    what is told of an operation, and how it is written: ``form`` is the text around its
                operands, ``signs`` says which of them have parentheses if they are negative
    ``inputs``  their names and nodes, in pairs, for a name may be ``__proto__``; ``wrt`` are the nodes of
                those that are differentiated
    ``notes``   the run's diagnostics: they are about the inputs as given
    ``corrected``  the derivatives that exist and are not what the sweep finds there, by node, in pairs

    What does not hold, or is empty, is left out of a node, an edge, a row or all of it.
    """
    assert isinstance(run.adjoints, Adjoints), "only a run of gradient(), of numbers, has a page"
    graph = run.graph
    called = short_names(run)
    keys = rows(run)
    kinds = {
        key: (kind, len(graph.operands[node]))
        for node, (key, kind) in enumerate(zip(keys, graph.kinds, strict=True))
        if key
    }
    corrected = [(graph.inputs[name], finite(x)) for name, (_, x) in run.corrected.items()]
    told = {
        "output": graph.output,
        "digits": digits,
        "nodes": [node_fields(run, node, called[node], keys[node]) for node in range(len(graph))],
        "edges": [edge_fields(run, *edge) for edge in edges(run)],
        "rows": {key: row_fields(*row) for key, row in kinds.items()},
        "inputs": list(graph.inputs.items()),
        "wrt": [graph.inputs[name] for name in run.wrt or ()],
        "notes": [
            {
                "severity": found.severity,
                "message": directed(found.message),
                "help": directed(found.help or ""),
            }
            for found in diagnose(run, run.one_sided)
        ],
    }
    return told | ({"corrected": corrected} if corrected else {})


def short_names(run: Run) -> list[str]:
    """What each node is called in sentences: its name or its text, numbered where that says too little.

    A long text gives way to what stands on the node's card, where long operands are ``…``.
    """
    texts = []
    for node in range(len(run.graph)):
        text = printable(run.label(node))
        if len(text) > SHORT_NAME and node not in run.names:
            text = printable(operation(run, node))
        texts.append(cut(text, SHORT_NAME))
    count = Counter(texts)
    return [
        in_sentence(
            text if count[text] == 1 or run.names.get(node) == text else f"{text} (#{node})"
        )
        for node, text in enumerate(texts)
    ]


def in_sentence(text: str) -> str:
    """A text as it stands in a sentence."""
    return directed(minus(text))


def node_fields(run: Run, node: int, called: str, row: str) -> dict[str, Any]:
    """One node."""
    assert isinstance(run.adjoints, Adjoints)
    kind, name = run.graph.kinds[node], run.names.get(node)
    is_leaf = kind in (INPUT, CONST)
    does = in_sentence(printable(operation(run, node)))
    fields: dict[str, Any] = {
        "id": node,
        "kind": kind if is_leaf else "op",
        "label": f"{called} = {does}" if name and row else called if name else does,
        "short": called,
    }
    if is_leaf:
        fields["data"] = finite(run.values[node])
    else:
        fields |= {"operands": run.graph.operands[node], "row": row}
    suspects = run.adjoints.tape.suspects
    still = not is_leaf and suspects is not None and not suspects.moving[node]
    return fields | flagged(active=run.adjoints.active[node], still=still)


def flagged(**flags: object) -> dict[str, int]:
    """The flags that are set."""
    return {name: 1 for name, flag in flags.items() if flag}


def edges(run: Run) -> Iterator[tuple[int, int]]:
    """The edges along which a grad can pass, by user and position, in the order of the visits."""
    assert run.adjoints is not None
    for user in run.order:
        for position, operand in enumerate(run.graph.operands[user]):
            if run.adjoints.active[operand]:
                yield user, position


def edge_fields(run: Run, user: int, position: int) -> dict[str, Any]:
    """One edge.

    It is ``gated`` if it passes nothing when its local derivative is 0, a ``branch`` if the user does not
    read the operand then, and ``loose`` if its rule has to stand in parentheses to be a factor.  ``math``
    sets the rule, where it is no mere name or number.
    """
    graph = run.graph
    text, level = rule_of(graph, user, position, run.names, run.texts)
    fields: dict[str, Any] = {
        "user": user,
        "position": position,
        "operand": graph.operands[user][position],
        "rule": in_sentence(printable(text)),
    }
    if not text.removeprefix("-").replace(".", "").isalnum():
        fields["math"] = rule_math(run, user, position)
    op = BY_NAME[graph.kinds[user]]
    return fields | flagged(
        gated=gated(op, position), branch=position in op.branches, loose=level <= SUM
    )


def rule_math(run: Run, user: int, position: int) -> str:
    """The rule of an edge (``run.rule``) as MathML; nothing where its text was cut to be read.

    Names look as they do in the rule alone: ``e`` is an ``e`` unless there is an ``exp`` beside it.
    """
    try:
        graph = parsed(run.rule(user, position))
    except LanguageError:
        return ""
    return mathml(node_latex(graph, graph.output))


def row_fields(kind: str, count: int) -> dict[str, Any]:
    """What is told of an operation of so many operands."""
    op = BY_NAME[kind]
    plain = [(MARK, ATOM)] * count
    limit = 8 * count + len(kind) + 8
    text = operation_text(kind, plain, spaced=True, limit=limit)
    negative = [
        operation_text(
            kind, [*plain[:at], (MARK, SIGN), *plain[at + 1 :]], spaced=True, limit=limit
        )
        for at in range(count)
    ]
    parts = text.split(MARK)
    signs = [int(negative[at] != text or parts[at].strip() == "-") for at in range(count)]
    fields: dict[str, Any] = {
        "about": minus(f"{usage(op)}: {op.about}"),
        "gate": op.gate,
        "pattern": GATES[op.gate],
        "form": minus(text).replace(" * ", " × ").split(MARK),
    }
    return fields | ({"signs": signs} if any(signs) else {})
