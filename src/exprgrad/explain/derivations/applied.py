"""Rules applied to one node: what each says in letters, and with the parts put in."""

from __future__ import annotations

from typing import NamedTuple

from exprgrad.explain.derivations.derivation import Derivation, is_choice
from exprgrad.explain.derivations.laws import notes_on, partials, rule_name, said
from exprgrad.explain.derivations.texts import NOTHING, ONE, Text, chained, filled, total, written
from exprgrad.language.write.infix import ATOM

__all__ = ["Law", "Part", "linear", "nonlinear"]

FEW = 3
"""The most operands that get letters, and the most constants that are mentioned."""
QUOTIENT = "(v*du - u*dv)/v^2"
"""The derivative of u/v."""


class Part(NamedTuple):
    """What a letter or a name stands for.

    ``derivative`` is given where no step derives the part, because it is seen at a glance.
    """

    name: str
    text: str
    derivative: str


class Law(NamedTuple):
    """What a rule says of a node: in letters, unless that says no more, and with the parts put in."""

    rule: str
    letters: str
    text: Text
    parts: list[Part]
    notes: list[str]


def linear(work: Derivation, root: int) -> Law:
    """A sum of multiples: each term's derivative, with its constant factor."""
    reading = work.reading
    graph = reading.graph
    inside, leaves = reading.group(root)
    found = {leaf: work.derivative(leaf) for leaf in leaves if reading.active[leaf]}
    for node in inside:
        inner = [found.get(operand) for operand in graph.operands[node]]
        labels = [reading.label(operand) for operand in graph.operands[node]]
        found[node] = linear_part(graph.kinds[node], inner, labels)
    sums = [graph.kinds[node] for node in inside if graph.kinds[node] in ("add", "sub")]
    rule = "difference rule" if sums == ["sub"] else "sum rule" if sums else "constant factor rule"
    notes = notes_on(rule)
    if len(sums) < len(inside):
        notes.append("constant factors stay")
    constants = [leaf for leaf in leaves if not reading.active[leaf]]
    terms = {o for n in inside for o in graph.operands[n] if graph.kinds[n] in ("add", "sub")}
    zero = dict.fromkeys(leaf for leaf in constants if leaf in terms or reading.depends[leaf])
    if len(zero) <= FEW:
        notes += work.constancies(zero)
    return Law(rule, "", found[root], [], notes)


def linear_part(kind: str, inner: list[Text | None], labels: list[Text]) -> Text:
    """The derivative of one operation of a sum of multiples; a constant operand has none."""
    first, second = inner[0], inner[-1]
    if kind == "neg" or (kind == "sub" and first is None):
        assert second is not None
        return written("neg", second)
    if kind in ("add", "sub") and first is not None and second is not None:
        return (
            written("sub", first, second) if kind == "sub" else total([(ONE, first), (ONE, second)])
        )
    if kind in ("add", "sub"):
        found = first or second
        assert found is not None
        return found
    if first is None:
        assert second is not None
        return labels[0] if second[0] == "1" else written("mul", labels[0], second)
    return labels[1] if (kind, first[0]) == ("mul", "1") else written(kind, first, labels[1])


def nonlinear(work: Derivation, node: int) -> Law:
    """Any other rule: the sum over the active operands of local times inner derivative."""
    reading = work.reading
    kind = reading.graph.kinds[node]
    leaves, varying = list(reading.graph.operands[node]), reading.varying(node)
    if kind == "mul":
        leaves = reading.group(node)[1]
        varying = list(range(len(leaves)))
    direct = [leaves[place] for place in varying] == [work.x]
    rule = rule_name(kind, varying, direct=direct)
    notes = notes_on(rule, kind)
    called = {varying[0]: work.wrt} if direct else names_of(work, leaves, varying)
    labels = [
        (called[place], ATOM) if place in called else reading.label(leaf)
        for place, leaf in enumerate(leaves)
    ]
    values = {called[place]: reading.label(leaves[place]) for place in varying}
    derivatives = {called[place]: work.derivative(leaves[place]) for place in varying}
    text = put_in(work, node, labels, called, values, derivatives)
    if not is_choice(kind):
        flat = [leaf for leaf in leaves if reading.depends[leaf] and not reading.active[leaf]]
        notes += work.constancies(flat)
    if direct or len(varying) > FEW:
        return Law(rule, "", text, [], notes)
    symbols = {name: (name, ATOM) for name in values}
    tangents = {name: (reading.tangent(name), ATOM) for name in values}
    parts = [
        Part(name, values[name][0], work.found[leaf][0] if leaf in work.glances else "")
        for name, leaf in ((called[place], leaves[place]) for place in varying)
        if name != reading.names.get(leaf)
    ]
    if rule == "chain rule" and not reading.is_wide(node):
        letters = reading.letters_for(len(varying))
        model = list(labels)
        for letter, place in zip(letters, varying, strict=True):
            model[place] = letter, ATOM
        notes.append(said(written(kind, *model)[0], letters))
    in_letters = put_in(work, node, labels, called, symbols, tangents)
    return Law(rule, in_letters[0], text, parts, notes)


def names_of(work: Derivation, leaves: list[int], varying: list[int]) -> dict[int, str]:
    """By position of an active operand: its own name, or a letter."""
    letters = iter(work.reading.letters_for(len(varying)))
    found = {}
    for place in varying:
        name = work.reading.names.get(leaves[place], work.wrt)
        own = name != work.wrt and leaves.count(leaves[place]) == 1
        found[place] = name if own else next(letters)
    return found


def put_in(
    work: Derivation,
    node: int,
    labels: list[Text],
    called: dict[int, str],
    values: dict[str, Text],
    derivatives: dict[str, Text],
) -> Text:
    """A law with something for each of its names and for their derivatives.

    ``labels`` are the operands, the active ones as they are ``called``.
    """
    kind, names = work.reading.graph.kinds[node], list(values)
    if is_choice(kind):
        branches = [derivatives[called[p]] if p in called else NOTHING for p in (1, 2)]
        return written(kind, labels[0], *branches)
    if work.reading.is_wide(node):
        own = work.reading.names.get(node)
        operands = [values.get(text, (text, binding)) for text, binding in labels]
        whole = (own, ATOM) if own else written(kind, *operands)
        above = total((written("eq", values[n], whole), derivatives[n]) for n in names)
        return written("div", above, chained("add", [written("eq", o, whole) for o in operands]))
    if kind == "div" and len(names) == 2:
        u, v = names
        slots = {"u": values[u], "v": values[v], "du": derivatives[u], "dv": derivatives[v]}
        return filled(QUOTIENT, slots)
    model = chained("mul", labels) if kind == "mul" else written(kind, *labels)
    locals_ = [filled(law, values) for law in partials(model[0], tuple(names))]
    if names == [work.wrt]:
        return locals_[0]
    return total(zip(locals_, derivatives.values(), strict=True))
