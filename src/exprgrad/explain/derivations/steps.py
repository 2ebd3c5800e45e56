"""How a derivative comes about, rule by rule, as a textbook would show it: from the inside out.

Every part that needs a rule of its own is a step: first what is inside, then what contains it, equal parts
once.  What is long has a name (see ``reading``), so that a step is short however long the formula.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from exprgrad.derive.simplify.formula import derivatives
from exprgrad.errors import RequestError
from exprgrad.explain.derivations.applied import Law, Part, linear, nonlinear
from exprgrad.explain.derivations.derivation import Derivation
from exprgrad.explain.derivations.laws import notes_on
from exprgrad.explain.derivations.reading import LONGEST
from exprgrad.explain.derivations.texts import Text
from exprgrad.graph.graph import Graph
from exprgrad.graph.ops import BY_NAME
from exprgrad.language.write.infix import ATOM, POWER, program
from exprgrad.source import Span

__all__ = ["Part", "Step", "steps"]


PUT_IN = "what the names stand for is put in, and the whole simplified"
WHOLE = "the whole simplified, with a name for what is long and used twice"


class Step(NamedTuple):
    """One application of a rule.

    ``rule``      its name
    ``of``        what is derived
    ``name``      what that is called from here on, if it has a name
    ``left``      the derivative as an equation's left side: ``d/dx (x^2 + 1)``, ``dd1/dx``
    ``formulas``  what it equals, first in the law's letters, then with the parts put in, then simplified
    ``parts``     the letters, and the names that are met for the first time
    ``notes``     what is worth saying
    ``node``, ``span``  where it is in the user's graph and text

    Formulas are in the language, where ``du/dx`` is what the step says that it is.
    """

    rule: str
    of: str
    name: str
    left: str
    formulas: tuple[str, ...]
    parts: tuple[Part, ...]
    notes: tuple[str, ...]
    node: int
    span: Span


def steps(graph: Graph, wrt: str) -> list[Step]:
    """The steps from a formula to its derivative with respect to ``wrt``: the last step's last formula.

    Raises ``RequestError`` for a formula of tensors: there a part's derivative is not a formula.
    """
    if graph.shapes is not None:
        message = "steps are for formulas of numbers, and this one is about tensors"
        help = "diff without --steps gives the derivative; grad --trace shows every step in numbers"
        raise RequestError("no-steps", message, help=help)
    answer = program(next(derivatives(graph, [wrt])))
    work = Derivation(graph, wrt)
    found: list[Step] = []
    for node in work.reading.read():
        found += steps_for(work, node, answer)
    last = found[-1]
    if last.formulas[-1] != answer:
        named = work.calls_names(work.reading.graph.output)
        notes = (PUT_IN if named else WHOLE,)
        found.append(last._replace(rule="put together", formulas=(answer,), parts=(), notes=notes))
    return found


def steps_for(work: Derivation, node: int, answer: str) -> Iterator[Step]:
    """The step for a node, if it needs one."""
    reading = work.reading
    is_output = node == reading.graph.output
    if not reading.active[node] or node == work.x:
        if is_output:
            yield without_rule(work, node)
        return
    if reading.link[node] and node not in reading.names:
        return
    if reading.is_wide(node):
        reading.name(node, output=len(reading.texts[node]) > LONGEST // 2)
    law = linear(work, node) if reading.is_linear(node) else nonlinear(work, node)
    final = work.derive(node, law.text)
    if is_output and ";" not in answer and not work.calls_names(node):
        final = work.found[node] = answer, ATOM
    if not work.at_a_glance(node):
        yield made(work, node, law, final)


def made(work: Derivation, node: int, law: Law, final: Text) -> Step:
    """A step, from its law to its last formula; no formula is repeated."""
    reading = work.reading
    text, binding = reading.own(node)
    name = reading.names.get(node, "") if reading.graph.operands[node] else ""
    whole = text if binding >= POWER else f"({text})"
    left = reading.tangent(name) if name else f"d/d{work.wrt} {whole}"
    formulas = dict.fromkeys(filter(None, (law.letters, law.text[0], final[0])))
    explained = [Part(name, text, "") for name, text in work.explanations(node)]
    origin = reading.origin[node]
    return Step(
        law.rule,
        text,
        name,
        left,
        tuple(formulas),
        (*explained, *law.parts),
        tuple(law.notes),
        origin,
        work.typed.span(origin),
    )


def without_rule(work: Derivation, node: int) -> Step:
    """The only step of a formula that is the input itself, or that no derivative passes through."""
    reading = work.reading
    if reading.active[node]:
        law = Law("the input itself", "", ("1", ATOM), [], [])
    elif not reading.depends[node]:
        law = Law("constant", "", ("0", ATOM), [], work.constancies([node]))
    else:
        kind = reading.graph.kinds[node]
        only = (
            f"only conditions and steps depend on {work.wrt}, and they are flat between their jumps"
        )
        notes = notes_on("flat", kind) if BY_NAME[kind].gate == "blocker" else [only]
        law = Law("flat", "", ("0", ATOM), [], notes)
    return made(work, node, law, law.text)
