"""Programs simplified, and derivatives as formulas that people read.

A program is read into normal forms, and written again as a person would write it.  Derivatives are made by
the rules that are shown, and long shared parts of them become named steps.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, count

from exprgrad.derive.build import ONE, Exact
from exprgrad.derive.simplify.forms import (
    DEEPEST,
    SHORT,
    CallForm,
    Forms,
    Product,
    RewriteRules,
    Sum,
    read_forms,
)
from exprgrad.derive.simplify.identities import rewrite_inverse_call
from exprgrad.derive.simplify.structural_rules import rewrite_structural
from exprgrad.derive.simplify.sums_and_products import (
    STEPS,
    merge_choices,
    merge_opposites,
    shortest_sum,
    simplify_tie_share,
)
from exprgrad.derive.simplify.write import form_parts, needed_forms, write_forms
from exprgrad.derive.sweeps.gradient import display_rule_derivatives
from exprgrad.errors import RequestError, command_or_python
from exprgrad.graph.graph import CONST, INPUT, Binding, Graph, Literal, Program, transform_graph
from exprgrad.graph.op import names_with
from exprgrad.graph.ops import COMMON, is_root
from exprgrad.graph.structural import shape_text
from exprgrad.language.read.builder import CONSTANTS
from exprgrad.language.read.parse import at_shapes, need_number
from exprgrad.language.write.infix import count_tokens, leaf_text, operand_label, operation_text
from exprgrad.language.write.infix import program_text as infix
from exprgrad.source import Source

__all__ = [
    "bind_known_names", "merge_exponentials", "name_shared_steps", "output_formulas", "read_typed_forms",
    "refuse_tensor_derivative", "restore_shapes", "simplified_derivatives", "simplify_program",
]  # fmt: skip

RULES = RewriteRules(
    STEPS,
    simplify_tie_share,
    (merge_choices, merge_opposites),
    shortest_sum,
    rewrite_structural,
    rewrite_inverse_call,
)


def simplify_program(program: Program, typed: Graph | None = None) -> Program:
    """The same numbers in real arithmetic, in fewer operations and in the usual order.

    ``typed`` is what a person wrote: its terms keep their order.  A subexpression that is used twice stays
    whole, so that the program as a whole is small.
    """
    typed = program.graph if typed is None else typed
    forms, _ = read_typed_forms(typed, typed.bindings, share=True)
    found = read_forms(forms, program.graph, program.outputs, 0)
    return write_forms(forms, [found[output] for output in program.outputs], program.graph.inputs)[
        0
    ]


def output_formulas(
    program: Program,
    typed: Graph,
    bindings: Sequence[Binding] | None = None,
    *,
    by_hand: bool = True,
    all_inputs: bool = True,
) -> Iterator[tuple[Graph, dict[int, str]]]:
    """Yield each output as a formula of its own, with the names that the typed graph has for its nodes.

    Only the names of ``bindings`` count, if given; other named parts are written out.  Without ``by_hand``
    no identity is used, so that the formulas stay closer to the rules.  Without ``all_inputs`` a formula
    lists only the inputs that are in it, which saves time if there are many.
    """
    bindings = typed.bindings if bindings is None else bindings
    forms, names = read_typed_forms(typed, bindings, by_hand=by_hand)
    forms.several = len(program.outputs) > 1
    inputs = program.graph.inputs if all_inputs else ()
    for output in program.outputs:
        form = read_forms(forms, program.graph, (output,), SHORT)[output]
        form = merge_exponentials(forms, form) if by_hand else form
        form = forms.stretched(form, program.graph.shape(output))
        written, nodes = write_forms(forms, [form], inputs)
        yield written.graph, {nodes[f]: name for f, name in names.items() if f in nodes}


def merge_exponentials(forms: Forms, root: int) -> int:
    """Merge the exponentials of each product: ``exp(a*x)*exp(b*x)`` is ``exp(a*x + b*x)``.

    This comes last, since it hides a factor that the terms of a sum have in common.
    """
    used = needed_forms(forms, [root])
    apart: dict[int, list[tuple[int, int, Exact]]] = {}
    for product in [form for form in used if isinstance(forms.forms[form], Product)]:
        found = [
            (base, call.operands[0], q)
            for base, q in forms.factors_of(product).items()
            if isinstance(call := forms.forms[base], CallForm) and call.kind == "exp"
        ]
        if len(found) > 1 and any(q > 0 for _, _, q in found):  # one is above the line
            apart[product] = sorted(found, key=lambda each: each[2] < 0)
    images: dict[int, int] = {}
    attempts, forms.attempts = forms.attempts, DEEPEST  # it is short already
    for form in used if apart else ():
        images[form] = replace_parts(forms, form, images)
        if form in apart and images[form] == form:
            exponent = forms.sum([(operand, q) for _, operand, q in apart[form]])
            gone = {base for base, _, _ in apart[form]}
            rest = [item for item in forms.factors_of(form).items() if item[0] not in gone]
            whole = (forms.call("exp", (exponent,)), ONE)
            images[form] = forms.product([*rest, whole], forms.split(form)[1])
    forms.attempts = attempts
    return images.get(root, root)


def replace_parts(forms: Forms, form: int, images: Mapping[int, int]) -> int:
    """Rebuild a form from the images of its parts; return the form itself if none has changed."""
    found = forms.forms[form]
    if all(part == images[part] for part in form_parts(forms, found)):
        return form
    match found:
        case Product(coefficient, factors):
            return forms.product([(images[base], q) for base, q in factors], coefficient)
        case Sum(terms):
            items = [(images[term], c) for term, c in terms]
            return forms.sum(items, whole={term for term, _ in items})
        case CallForm(kind, operands, None):
            given = [images[operand] for operand in operands]
            return (
                forms.power(given[0], given[1]) if kind == "pow" else forms.call(kind, tuple(given))
            )
        case CallForm(kind, operands, tuple(settings)):
            whole = tuple([(images[operand], forms.shape(operand)) for operand in operands])
            return forms.structural(kind, whole, settings)
    return form


def read_typed_forms(
    typed: Graph, bindings: Sequence[Binding], *, share: bool = False, by_hand: bool = False
) -> tuple[Forms, dict[int, str]]:
    """Read the forms of a typed formula, and the names that its statements give to some of them.

    A statement named like a constant loses its name, since a rule may bring in the constant.
    """
    decimals = any(
        isinstance(payload, float) and math.isfinite(payload) and not payload.is_integer()
        for node, payload in enumerate(typed.payloads)
        if node not in typed.symbols
    )
    forms = Forms(RULES, decimals=decimals, share=share, by_hand=by_hand)
    forms.budget, forms.place = typed.budget, typed.span(typed.output)
    forms.inputs = {name: typed.shape(node) for name, node in typed.inputs.items()}
    bound = [binding.node for binding in bindings]
    found = read_forms(forms, typed, (typed.output, *bound), SHORT, bound)
    forms.typed = len(forms.forms)
    forms.order = {forms.leaf(name, None): place for place, name in enumerate(typed.inputs)}
    kept = [binding for binding in bindings if binding.name not in CONSTANTS]
    return forms, {found[binding.node]: binding.name for binding in reversed(kept)}


# Derivatives, and names for long parts of them.

WORTH_A_NAME = 40
"""The least number of characters that a new name must save."""
WORTH_ITS_NAME = 12
"""The most characters of a named part that is written out all the same."""
EXTREMA = frozenset(op.name for op in COMMON if op.winner)
"""``max`` and ``min``."""
UNORDERED = EXTREMA | names_with(COMMON, "commutes")
"""The rows whose operands may change places."""
SMALL = 500
"""The most nodes of a formula for which it is tried whether it is shorter without a person's names."""


def simplified_derivatives(
    graph: Graph, wrt: Sequence[str], *, steps: bool = True, by_hand: bool = True
) -> Iterator[Graph]:
    """Yield the output's derivative with respect to each input.

    A person's names are used unless writing everything out is shorter; the output's name is never used.
    Without ``steps`` all of a person's names are used and no others, as for a derivative to be derived
    again.  Without ``by_hand`` no identities are used.
    A derivative with respect to a tensor is a tensor of its shape; with ``steps`` its nodes' shapes are not
    known.
    """
    graph = drop_repeated_operands(graph)
    made = display_rule_derivatives(graph, wrt)
    if not steps:
        for formula, names in output_formulas(made, graph, by_hand=by_hand):
            yield restore_shapes(bind_known_names(formula, names), graph)
        return
    inner = [binding for binding in graph.bindings if binding.node != graph.output]
    ways = [inner, []] if inner and len(graph) <= SMALL else [inner]
    for same in zip(
        *[output_formulas(made, graph, way, by_hand=by_hand, all_inputs=False) for way in ways],
        strict=True,
    ):
        texts = [name_shared_steps(formula, known, graph) for formula, known in same]
        several = len(texts) > 1
        yield min(texts, key=lambda formula: count_tokens(infix(formula))) if several else texts[0]


def drop_repeated_operands(graph: Graph) -> Graph:
    """Rewrite ``max(x, x, y)`` as ``max(x, y)``: an operand does not tie with itself."""
    if EXTREMA.isdisjoint(graph.kinds):
        return graph
    met: dict[object, int] = {}
    alike: list[int] = []  # by node: the first that is the same formula

    def rule(made: Graph, node: int, images: Sequence[int]) -> int | None:
        kind, payload = graph.kinds[node], graph.payloads[node]
        operands = tuple([alike[operand] for operand in graph.operands[node]])
        ordered = tuple(sorted(operands)) if kind in UNORDERED else operands
        alike.append(met.setdefault((kind, repr(payload), ordered), node))
        distinct = tuple([images[operand] for operand in dict.fromkeys(operands)])
        if kind not in EXTREMA or len(distinct) == len(operands):
            return None
        if len(distinct) == 1:
            return distinct[0]
        made.shapes.append(graph.shape(node))
        return made.append(kind, distinct, payload, graph.span(node))

    return transform_graph(graph, rule)[0]


def restore_shapes(formula: Graph, graph: Graph) -> Graph:
    """Give a formula's nodes their shapes, if the graph that it was derived from has shapes."""
    shapes = {name: graph.shape(node) for name, node in graph.inputs.items()}
    return at_shapes(formula, "", shapes)


def bind_known_names(graph: Graph, known: dict[int, str]) -> Graph:
    """Bind the names that a person gave to some of a formula's nodes."""
    for node in sorted(known):
        if graph.operands[node] and node != graph.output:
            graph.bindings.append(Binding(known[node], node, graph.span(node)))
    return graph


def name_shared_steps(graph: Graph, known: dict[int, str], typed: Graph) -> Graph:
    """Turn a formula's long parts that are used more than once into named statements.

    ``known`` are the names that a person gave to some of its nodes; new names are t1, t2, …, without those
    of the inputs and the output of ``typed``, the differentiated graph.  If one of a person's names is
    kept, all are.
    """
    own = {node for node in known if graph.operands[node]}
    if own and not nodes_to_name(graph, known, own, typed, WORTH_ITS_NAME) & own:
        own = set()
    nodes_to_name(graph, known, own, typed, 0, bind=True)
    return graph


def nodes_to_name(
    graph: Graph,
    known: dict[int, str],
    own: set[int],
    typed: Graph,
    short: int,
    *,
    bind: bool = False,
) -> set[int]:
    """Choose the nodes to name: those of ``own`` longer than ``short``, and others that are worth it.

    New names avoid those known and those in ``typed``.  With ``bind`` the nodes become statements.
    """
    uses = Counter(chain.from_iterable(graph.operands))
    taken = {*known.values(), *CONSTANTS, typed.output_name}
    fresh = (n for at in count(1) if (n := f"t{at}") not in taken and n not in typed.inputs)
    names = {node: name for name, node in graph.inputs.items()}
    found: set[int] = set()
    written: list[str] = []
    shared = [node for node, times in uses.items() if times > 1 and graph.operands[node]]
    last = max([*own, *shared], default=-1)  # none after it can be worth a name
    for node, kind in enumerate(graph.kinds[: last + 1]):
        operands = graph.operands[node]
        if kind in (INPUT, CONST):
            payload = graph.payloads[node]
            text = str(payload) if kind == INPUT else graph.symbols.get(node, repr(payload))
            if isinstance(payload, Literal):
                text = leaf_text(graph, node)
        else:
            settings = graph.payloads[node]
            called = [operand_label(graph, o, names, written) for o in operands]
            text = operation_text(kind, called, settings=settings)
            saved = (uses[node] - 1) * (len(text) - 2)
            kept = node in own and len(text) > short
            searched = is_root(kind) and uses[node] > 1
            if node != graph.output and (kept or searched or saved > WORTH_A_NAME):
                found.add(node)
                names[node] = known.get(node) or next(fresh)
                if bind:
                    graph.bindings.append(Binding(names[node], node, graph.span(node)))
        written.append(text)
    return found


def refuse_tensor_derivative(graph: Graph, text: str, wrt: Sequence[str], order: int) -> None:
    """Raise an error if a derivative cannot be a formula because of tensors.

    The formula must be a number; beyond the first order, so must each input of ``wrt``.
    """
    need_number(graph, text, "diff")
    for name in wrt if order > 1 else ():
        node = graph.inputs[name]
        if graph.shape(node):
            raise RequestError(
                "bad-order",
                f"derivatives of order {order} need inputs that are numbers, "
                f"and '{name}' is {shape_text(graph.shape(node))}",
                source=Source(text),
                span=graph.span(node),
                help=command_or_python(
                    "hess computes second derivatives with respect to tensors; --wrt a,b chooses inputs",
                    "hessian() computes second derivatives with respect to tensors",
                ),
            )
