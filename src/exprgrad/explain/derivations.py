"""How a derivative comes about, rule by rule, as a textbook would show it: from the inside out.

Every part that needs a rule of its own is a step: inner parts before those around them, equal parts
once.  Parts that the formula names keep their names; parts too long to be written out
are named u1, u2, ….  So a step is short however long the formula.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial, reduce
from itertools import chain, count, islice
from typing import NamedTuple

from exprgrad.derive.build import GraphBuilder
from exprgrad.derive.rules import template
from exprgrad.derive.simplify.formula import output_formulas, simplified_derivatives
from exprgrad.derive.sweeps.gradient import display_rule_derivatives
from exprgrad.derive.sweeps.walks import differentiable_users, reachable_from, varying_operands
from exprgrad.errors import RequestError, command_or_python
from exprgrad.graph.graph import (
    CONST,
    INPUT,
    Graph,
    Payload,
    Program,
    check_scalars_only,
    copy_node,
    copy_nodes,
    dependency_flags,
    dependent_flags,
    transform_graph,
)
from exprgrad.graph.ops import BY_INFIX, BY_NAME, BY_POWERS, BY_SIGNS, LEAF, Op, is_root
from exprgrad.language.read.builder import CONSTANTS
from exprgrad.language.write.infix import (
    POWER,
    SUM,
    leaf_text,
    operand_label,
    operand_level,
    operation_text,
    program_text,
)
from exprgrad.source import Span

__all__ = ["DerivationStep", "derivation_steps"]

SIMPLIFIED = 2000
"""The most nodes for which each step is simplified; beyond, only the whole derivative is."""
SHORT_DERIVATIVE = 15
"""The longest derivative of a named part that is written out, in characters."""
MOST_LETTERS = 3
"""The most operands that get letters, and the most constants that are mentioned."""
QUOTIENT = "(v*du - u*dv)/v^2"
"""The derivative of u/v."""


class StepPart(NamedTuple):
    """The meaning of a letter or a name.

    ``derivative`` is given where no step derives the part, because it is obvious.
    """

    name: str
    text: str
    derivative: str


class DerivationStep(NamedTuple):
    """One application of a rule.

    ``rule``      its name
    ``of``        the part differentiated
    ``name``      its name from here on, if it has one
    ``left``      the derivative as an equation's left side: ``d/dx (x^2 + 1)``, ``dd1/dx``
    ``formulas``  its right sides: in the law's letters, then with the parts put in, then simplified
    ``parts``     the letters, and the names that are new here
    ``notes``     remarks
    ``node``, ``span``  where it is in the user's graph and text

    Formulas are in the language, where ``du/dx`` is what the step says that it is.
    """

    rule: str
    of: str
    name: str
    left: str
    formulas: tuple[str, ...]
    parts: tuple[StepPart, ...]
    notes: tuple[str, ...]
    node: int
    span: Span


class RuleStatement(NamedTuple):
    """A rule applied to a node: in letters, unless that says no more, and with the parts put in."""

    rule: str
    letters: int | None
    whole: int
    parts: list[StepPart]
    notes: list[str]


def derivation_steps(graph: Graph, wrt: str) -> list[DerivationStep]:
    """List the steps from a formula to its derivative for ``wrt``, the last step's last formula.

    Raises ``RequestError`` for a formula of tensors: there a part's derivative is not a formula.
    """
    message = "steps are for formulas of numbers, and this one is about tensors"
    help = command_or_python(
        "diff without --steps gives the derivative; grad --trace shows every step in numbers",
        "derivative() gives it without; a run's trace() shows every step in numbers",
    )
    check_scalars_only(graph, lambda _: RequestError("no-steps", message, help=help))
    answer = next(simplified_derivatives(graph, [wrt]))
    work = Derivation(graph, wrt, answer)
    found = [step for node in work.sheet.read() for step in work.steps_for(node)]
    last, text = found[-1], program_text(answer)
    if last.formulas[-1] != text:
        note = "the whole simplified, with a name for what is long and used twice"
        if work.calls_names(work.sheet.graph.output):
            note = "what the names stand for is put in, and the whole simplified"
        found.append(last._replace(rule="put together", formulas=(text,), parts=(), notes=(note,)))
    return found


class Derivation:
    """A derivation under way; its nodes are those of the ``sheet``.

    ``typed``      the user's graph
    ``answer``     the whole derivative, as ``diff`` gives it
    ``x``          the node of the input ``wrt``; None if the output does not depend on it
    ``found``      the derivatives, by node
    ``open``       the nodes whose derivatives refer to the derivatives of names
    ``glances``    the nodes with an obvious derivative, which get no step
    ``nodes``      the active nodes, by name
    ``explained``  the names that need no explanation: the user's, and those that a step has explained
    ``laws``       an operation's derivatives, by its text and the names
    """

    def __init__(self, graph: Graph, wrt: str, answer: Graph) -> None:
        self.sheet = Worksheet(graph, wrt)
        self.typed = graph
        self.answer = answer
        self.wrt = wrt
        self.x = self.sheet.graph.inputs.get(wrt)
        self.found: dict[int, int] = {}
        self.open: set[int] = set()
        self.glances: set[int] = set()
        self.nodes: dict[str, int] = {}
        self.explained = {*graph.names().values()}
        self.laws: dict[tuple[str, ...], list[Graph]] = {}

    # Steps.

    def steps_for(self, node: int) -> Iterator[DerivationStep]:
        """Yield the step for a node, if it needs one."""
        sheet = self.sheet
        if not sheet.active[node] or node == self.x:
            if node == sheet.graph.output:
                yield self.without_rule(node)
            return
        if sheet.link[node] and node not in sheet.names:
            return
        if sheet.is_wide(node):
            sheet.name(node, output=len(sheet.texts[node]) > LONGEST_PART // 2)
        law = self.linear(node) if sheet.is_linear(node) else self.nonlinear(node)
        self.derive(node, law.whole)
        is_whole = node == sheet.graph.output and not self.answer.bindings
        if is_whole and not self.calls_names(node):
            self.found[node] = sheet.filled(self.answer, {})
        if node not in self.glances:
            yield self.made(node, law, self.found[node])

    def made(self, node: int, law: RuleStatement, final: int) -> DerivationStep:
        """Make a step, from its law to its last formula; no formula is repeated."""
        sheet = self.sheet
        text = sheet.texts[node]
        name = sheet.names.get(node, "") if sheet.graph.operands[node] else ""
        whole = text if operand_level(sheet.graph, node, {}) >= POWER else f"({text})"
        left = sheet.tangent(name) if name else f"d/d{self.wrt} {whole}"
        written = [each for each in (law.letters, law.whole, final) if each is not None]
        origin = sheet.origin[node]
        return DerivationStep(
            law.rule,
            text,
            name,
            left,
            tuple(dict.fromkeys(map(sheet.label, written))),
            (*self.explanations(node), *law.parts),
            tuple(law.notes),
            origin,
            self.typed.span(origin),
        )

    def without_rule(self, node: int) -> DerivationStep:
        """Make the only step of a formula that is the input itself, or that passes no derivative."""
        sheet, kind = self.sheet, self.sheet.graph.kinds[node]
        only = (
            f"only conditions and steps depend on {self.wrt}, and they are flat between their jumps"
        )
        if sheet.active[node]:
            rule, notes = "the input itself", []
        elif not sheet.depends[node]:
            rule, notes = "constant", self.constancies([node])
        else:
            jumps = BY_NAME[kind].gate == "blocker"
            rule, notes = "flat", rule_notes("flat", kind) if jumps else [only]
        value = sheet.constant(float(sheet.active[node]))
        return self.made(node, RuleStatement(rule, None, value, [], notes), value)

    def derive(self, node: int, whole: int) -> None:
        """Keep a node's derivative, simplified if it can be; a long one gives the node a name.

        ``whole`` is the derivative as its rule gives it.
        """
        sheet, label, names = self.sheet, self.sheet.label, self.sheet.names
        for part in sheet.inner(node):
            if part in self.open or (part in names and part != self.x and self.is_opaque(part)):
                self.open.add(node)
        found = self.simplified(node, whole) if sheet.size <= SIMPLIFIED else None
        if found is None or (node in self.open and len(label(found)) >= len(label(whole))):
            found = whole
        self.found[node] = found
        if len(label(found)) > LONGEST_PART:
            sheet.name(node)
        if node in names:
            self.nodes[names[node]] = node
        elif (  # one operation on the input and a constant, such as -x or x/2
            sheet.group(node)[0] == [node]
            and node != sheet.graph.output
            and sheet.is_linear(node)
            and sheet.inner(node) == [self.x]
        ):
            self.glances.add(node)

    # What is known of nodes.

    def derivative(self, node: int) -> int:
        """Return a node's derivative for use in another: by name if it is long."""
        if node == self.x:
            return self.sheet.constant(1.0)
        if node in self.sheet.names and self.is_opaque(node):
            return self.sheet.variable(self.sheet.tangent(self.sheet.names[node]))
        return self.found[node]

    def is_opaque(self, node: int) -> bool:
        """Whether a named node's derivative is called by name too."""
        return node in self.open or len(self.sheet.label(self.found[node])) > SHORT_DERIVATIVE

    def calls_names(self, node: int) -> bool:
        """Whether a node's text has names in it that are not inputs."""
        return any(name not in self.typed.inputs for name in self.sheet.part(node).inputs)

    def constancies(self, nodes: Iterable[int]) -> list[str]:
        """Say why the derivatives of some inactive nodes are 0."""
        from exprgrad.explain.places import join_words

        number = "is a constant", "are constants"
        apart = f"does not depend on {self.wrt}", f"do not depend on {self.wrt}"
        flat = "is flat between its jumps", "are flat between their jumps"
        found: dict[tuple[str, str], list[str]] = {number: [], apart: [], flat: []}
        for node in nodes:
            which = flat if self.sheet.depends[node] else apart
            is_number = self.sheet.graph.kinds[node] == CONST
            found[number if is_number else which].append(self.sheet.label(node))
        return [
            f"{join_words(texts)} {said[len(texts) > 1]}" for said, texts in found.items() if texts
        ]

    def explanations(self, node: int) -> list[StepPart]:
        """List the made-up names in a node's text that no step has explained, operands first."""
        sheet = self.sheet
        fresh: list[int] = []
        todo = [node]
        while todo:
            for name in sheet.part(todo.pop()).inputs:
                if name not in self.explained and not sheet.active[sheet.variables[name]]:
                    inside = sheet.variables[name]
                    self.explained.add(name)
                    fresh.append(inside)
                    todo.append(inside)
        return [StepPart(sheet.names[inside], sheet.texts[inside], "") for inside in sorted(fresh)]

    # Rules applied to one node.

    def linear(self, root: int) -> RuleStatement:
        """Differentiate a sum of multiples term by term, keeping constant factors."""
        sheet, operands = self.sheet, self.sheet.graph.operands
        inside, leaves = sheet.group(root)
        found = {leaf: self.derivative(leaf) for leaf in leaves if sheet.active[leaf]}
        for node in inside:
            found[node] = self.linear_part(node, [found.get(operand) for operand in operands[node]])
        sums = [node for node in inside if len(sheet.row(node).signs) == 2]
        signs = [sheet.row(node).signs for node in sums]
        rule = "sum rule" if sums else "constant factor rule"
        rule = "difference rule" if signs == [(1, -1)] else rule
        notes = rule_notes(rule)
        if len(sums) < len(inside):
            notes.append("constant factors stay")
        terms = {operand for node in sums for operand in operands[node]}
        constants = [leaf for leaf in leaves if not sheet.active[leaf]]
        zero = dict.fromkeys(leaf for leaf in constants if leaf in terms or sheet.depends[leaf])
        if len(zero) <= MOST_LETTERS:
            notes += self.constancies(zero)
        return RuleStatement(rule, None, found[root], [], notes)

    def linear_part(self, node: int, inner: list[int | None]) -> int:
        """Differentiate one operation of a sum of multiples; a constant operand has no derivative.

        The derivative is the same operation on the operands' derivatives.
        """
        sheet, kind, row = self.sheet, self.sheet.graph.kinds[node], self.sheet.row(node)
        found = [term for term in inner if term is not None]
        if row.signs == (1, -1) and len(found) == 2:
            return sheet.apply(kind, *found)
        if row.signs:
            is_taken_away = len(found) == 1 and row.signs[inner.index(found[0])] < 0
            return (
                sheet.apply(BY_SIGNS[-1,], *found)
                if is_taken_away
                else sheet.total((None, x) for x in found)
            )
        (derivative,), (place,) = found, sheet.varying(node)
        factors = list(sheet.graph.operands[node])
        if row.commutes and sheet.value(derivative) == 1:
            return factors[1 - place]
        factors[place] = derivative
        return sheet.apply(kind, *factors)

    def nonlinear(self, node: int) -> RuleStatement:
        """Apply any other rule: the sum over the active operands of local times inner derivative."""
        sheet = self.sheet
        kind, leaves, varying = (
            sheet.graph.kinds[node],
            sheet.graph.operands[node],
            sheet.varying(node),
        )
        if sheet.is_product(node):
            leaves = tuple(sheet.group(node)[1])
            varying = list(range(len(leaves)))
        direct = [leaves[place] for place in varying] == [self.x]
        rule = rule_name(kind, varying, direct=direct)
        notes = rule_notes(rule, kind)
        free = filter(sheet.is_free, chain(LETTERS, (f"v{n}" for n in count(1))))
        letters = [sheet.variable(name) for name in islice(free, len(varying))]
        unused = iter(letters)
        once = [leaf for leaf, times in Counter(leaves).items() if times == 1 and leaf != self.x]
        named = sheet.names.keys() & once
        symbols = {
            place: leaves[place] if direct or leaves[place] in named else next(unused)
            for place in varying
        }
        values = {place: leaves[place] for place in varying}
        derivatives = {place: self.derivative(leaf) for place, leaf in values.items()}
        whole = self.put_in(node, leaves, symbols, values, derivatives)
        if not is_branching(kind):
            flat = [leaf for leaf in leaves if sheet.depends[leaf] and not sheet.active[leaf]]
            notes += self.constancies(flat)
        if direct or len(varying) > MOST_LETTERS:
            return RuleStatement(rule, None, whole, [], notes)
        names = {place: sheet.names[symbol] for place, symbol in symbols.items()}
        seen = {place: self.found[leaf] for place, leaf in values.items() if leaf in self.glances}
        parts = [
            StepPart(
                names[place], sheet.label(leaf), sheet.label(seen[place]) if place in seen else ""
            )
            for place, leaf in values.items()
            if symbols[place] != leaf
        ]
        if rule == "chain rule" and not sheet.is_wide(node):
            model = list(leaves)
            for letter, place in zip(letters, varying, strict=True):
                model[place] = letter
            notes.append(self.said(sheet.apply(kind, *model), [sheet.names[u] for u in letters]))
        tangents = {place: sheet.variable(sheet.tangent(name)) for place, name in names.items()}
        return RuleStatement(
            rule, self.put_in(node, leaves, symbols, symbols, tangents), whole, parts, notes
        )

    def put_in(
        self,
        node: int,
        leaves: Sequence[int],
        symbols: Mapping[int, int],
        values: Mapping[int, int],
        derivatives: Mapping[int, int],
    ) -> int:
        """Fill a law: put nodes in for its letters, the ``symbols``, and for their derivatives.

        All three are indexed by position among the ``leaves``, the active operands.
        """
        sheet, kind = self.sheet, self.sheet.graph.kinds[node]
        if is_branching(kind):
            nothing = sheet.constant(0.0)
            branches = [derivatives.get(place, nothing) for place in BY_NAME[kind].branches]
            return sheet.apply(kind, leaves[0], *branches)
        if sheet.is_wide(node):
            given = [values.get(place, leaf) for place, leaf in enumerate(leaves)]
            own = node if node in sheet.names else sheet.apply(kind, *given)
            equal = BY_INFIX["=="].name
            terms = [(sheet.apply(equal, values[at], own), derivatives[at]) for at in values]
            ties = [sheet.apply(equal, operand, own) for operand in given]
            return sheet.apply(
                BY_POWERS[1, -1], sheet.total(terms), sheet.chained(BY_SIGNS[1, 1], ties)
            )
        if sheet.row(node).powers == (1, -1) and len(values) == 2:
            slots = zip(
                ("u", "v", "du", "dv"), (*values.values(), *derivatives.values()), strict=True
            )
            return sheet.filled(template(QUOTIENT), dict(slots))
        operands = [symbols.get(place, leaf) for place, leaf in enumerate(leaves)]
        names = [sheet.names[symbol] for symbol in symbols.values()]
        model = (
            sheet.chained(kind, operands)
            if sheet.is_product(node)
            else sheet.apply(kind, *operands)
        )
        given_names = dict(zip(names, values.values(), strict=True))
        locals_ = [sheet.filled(law, given_names) for law in self.partials(model, names)]
        if names == [self.wrt]:
            return locals_[0]
        return sheet.total(zip(locals_, derivatives.values(), strict=True))

    def partials(self, model: int, names: Sequence[str]) -> list[Graph]:
        """Return the derivatives of an operation with respect to some of its names, as they are shown."""
        key = (self.sheet.texts[model], *names)
        if key not in self.laws:
            typed = self.sheet.part(model)
            self.laws[key] = simplify_outputs(display_rule_derivatives(typed, names), typed)
        return self.laws[key]

    def said(self, model: int, names: Sequence[str]) -> str:
        """Say the law of an operation on letters, in words."""
        laws = [program_text(law) for law in self.partials(model, names)]
        each = [f"by {name} {law}" for name, law in zip(names, laws, strict=True)]
        which = " and ".join(each) if each[1:] else laws[0]
        return f"the derivative of {self.sheet.texts[model]} is {which}"

    def simplified(self, node: int, whole: int) -> int | None:
        """Simplify a node's derivative as ``diff`` would, with the names; None where that says less."""
        sheet = self.sheet
        typed = sheet.part(node)
        is_wide = sheet.is_wide(node)
        if node in self.open and (is_wide or any(map(is_branching, typed.kinds))):
            return None
        if is_wide:  # with its ties, it would be very long
            raw = sheet.formula(whole)
            return sheet.filled(simplify_outputs(Program(raw, (raw.output,)), typed)[0], {})
        names = [name for name in typed.inputs if name == self.wrt or name in self.nodes]
        found = display_rule_derivatives(typed, names)
        builder = GraphBuilder(typed=True)
        images = builder.include(found.graph)
        total = builder.constant(0.0)
        opaque: dict[str, int] = {}
        for name, output in zip(names, found.outputs, strict=True):
            local = images[output]
            if name != self.wrt and self.is_opaque(self.nodes[name]):
                opaque[name] = local
                continue
            if name != self.wrt:
                inner = sheet.formula(self.found[self.nodes[name]])
                local = builder.apply(BY_POWERS[1, 1], local, builder.include(inner)[inner.output])
            total = (
                local if builder.value(total) == 0 else builder.apply(BY_SIGNS[1, 1], total, local)
            )
        laws = simplify_outputs(builder.program([total, *opaque.values()]), typed)
        first, *rest = [sheet.filled(law, {}) for law in laws]
        tangents = [sheet.variable(sheet.tangent(name)) for name in opaque]
        terms = [(None, first)] if sheet.value(first) != 0 or not rest else []
        return sheet.total([*terms, *zip(rest, tangents, strict=True)])


def simplify_outputs(made: Program, typed: Graph) -> list[Graph]:
    """Simplify a program's outputs; ``typed`` is the user's formula."""
    return [graph for graph, _ in output_formulas(made, typed)]


# Rules in words: only arithmetic has some with names of their own; every other row has the chain rule.


def rule_name(kind: str, varying: Sequence[int], *, direct: bool) -> str:
    """Name the rule of an operation by the operands that vary; ``direct`` means x alone."""
    row = BY_NAME[kind]
    if row.powers:
        quotient = "quotient rule" if len(varying) == 2 else "reciprocal rule"
        return quotient if min(row.powers) < 0 else "product rule"
    if row.gate == "power":
        if len(varying) == 2:
            return "power and exponential rule"
        which = "exponential" if varying[0] else "power"
        return f"{which} rule" if direct else f"{which} and chain rule"
    if row.branches:
        return "branch by branch"
    if row.equation is not None:
        return "implicit function theorem"
    return "known derivative" if direct else "chain rule"


POWER_RULE = "the exponent comes down as a factor and is lowered by 1"
EXPONENTIAL_RULE = "the power stays, times the logarithm of its base"
RULE_WORDS = {
    "power rule": POWER_RULE,
    "power and chain rule": f"{POWER_RULE}, times the derivative of the base",
    "exponential rule": EXPONENTIAL_RULE,
    "exponential and chain rule": f"{EXPONENTIAL_RULE}, times the derivative of the exponent",
    "power and exponential rule": "first as if the exponent were constant, then as if the base were",
    "product rule": "each factor is differentiated in turn, and the results are added",
    "quotient rule": "the denominator times the derivative of the numerator, minus the numerator times "
    "that of the denominator, over the denominator squared",
    "reciprocal rule": "minus the numerator times the derivative of the denominator, over the "
    "denominator squared",
    "implicit function theorem": "minus the derivative of the equation, over that with respect to its "
    "unknown, at the root",
    "branch by branch": "the condition chooses, and is not differentiated",
    "chain rule": "the outer derivative times the inner one",
    "sum rule": "each term is differentiated on its own",
    "difference rule": "each term is differentiated on its own",
}


def rule_notes(rule: str, kind: str = "") -> list[str]:
    """List notes on a rule: what it does, and an operation's meaning, kinks and jumps."""
    notes = [RULE_WORDS[rule]] if rule in RULE_WORDS else []
    if not kind or BY_NAME[kind].branches or is_root(kind):
        return notes
    op = BY_NAME[kind]
    who = op.infix or op.prefix or op.name
    if who == op.name:
        operands = f"{', '.join(op.names)}{', …' * op.variadic}"
        notes.append(f"{op.name}({operands}) is {op.about}")
    verbs = {"kink": "has a kink", "jump": "jumps"}
    notes += [f"{who} {verbs[s.code]} where {s.why}" for s in op.special if "varies" not in s.where]
    return [*notes, "operands that tie share the derivative"] if op.ties and op.special else notes


def is_branching(kind: str) -> bool:
    """Whether an operation chooses a branch."""
    return kind in BY_NAME and bool(BY_NAME[kind].branches)


# The sheet that it is worked out on.


LONGEST_PART = 60
"""The longest part that is written out, in characters."""
LONGEST_CHAIN = 240
"""The longest sum or product."""
LETTERS = "uvwpqrsfgh"
NO_LIMIT = 1 << 30
NOWHERE = (0, 0)


class Worksheet:
    """A formula to differentiate with respect to one of its inputs.

    ``graph``    the nodes that the output needs, equal ones merged; then the nodes that the steps write
    ``size``     the number of the formula's own nodes
    ``origin``   the node of the user's graph that each formula node comes from
    ``texts``    the text of each node read or written so far
    ``names``    the names of nodes; ``pi = …`` is written out, since in texts ``pi`` is the number
    ``variables``  the nodes of inputs, letters and made-up names
    ``active``   whether a derivative passes through a node, from the input to the output
    ``depends``  whether a node depends on the input at all
    ``link``     whether a node is only a link in its user's sum or product
    ``enclosed`` the nodes whose text begins with a parenthesis and a minus
    """

    def __init__(self, graph: Graph, wrt: str) -> None:
        self.wrt = wrt
        self.graph, self.origin = share_equal_nodes(graph)
        self.size = len(self.graph)
        own = graph.names()
        called = {n: own[o] for n, o in enumerate(self.origin) if o in own}
        self.names = {n: name for n, name in called.items() if name not in CONSTANTS}
        self.variables = dict(self.graph.inputs)
        self.taken = {*graph.inputs, *(b.name for b in graph.bindings), *CONSTANTS}
        self.fresh = (name for n in count(1) if self.is_free(name := f"u{n}"))
        seeds = [self.graph.inputs[wrt]] if wrt in self.graph.inputs else []
        self.active = derivative_path_flags(self.graph, seeds)
        self.depends = dependent_flags(self.graph, seeds)
        self.link = self.links()
        self.texts = [""] * self.size
        self.enclosed: set[int] = set()

    # Names and texts.

    def is_free(self, name: str) -> bool:
        """Whether neither a name nor its differential is used by the formula."""
        return name not in self.taken and f"d{name}" not in self.taken

    def tangent(self, name: str) -> str:
        """Write the derivative of a named part."""
        return f"d{name}/d{self.wrt}"

    def read(self) -> Iterator[int]:
        """Yield every node, operands first; its text is then known, and it may be named."""
        for node in range(self.size):
            operands = self.graph.operands[node]
            self.texts[node] = self.text_on(
                node, operands_behind_symbol(self.graph.kinds[node], operands)
            )
            if len(self.texts[node]) > (LONGEST_CHAIN if self.link[node] else LONGEST_PART):
                self.name(node)
            yield node

    def name(self, node: int, *, output: bool = False) -> None:
        """Give a node a name unless it has one; the output needs one only where ``output`` says so."""
        if node not in self.names and (output or node != self.graph.output):
            name = self.names[node] = next(self.fresh)
            self.variables[name] = node

    def label(self, node: int) -> str:
        """Return a node's name or text for use in another."""
        return self.names.get(node, self.texts[node])

    def text_on(self, node: int, guarded: Iterable[int]) -> str:
        """Write a node's text; operands at ``guarded`` positions get parentheses around a minus."""
        graph = self.graph
        operands = graph.operands[node]
        if not operands:
            return leaf_text(graph, node)
        parts = [operand_label(graph, operand, self.names, self.texts) for operand in operands]
        for place in guarded:
            if self.has_minus(operands[place]):
                parts[place] = parts[place][0], SUM
                self.enclosed.update([node] if place == 0 else [])
        return operation_text(graph.kinds[node], parts, limit=NO_LIMIT)

    # Writing.

    def append(
        self, kind: str, operands: tuple[int, ...], payload: Payload, guarded: Iterable[int]
    ) -> int:
        """Append a node."""
        node = self.graph.append(kind, operands, payload, NOWHERE, (NOWHERE,) * len(operands))
        self.texts.append("")
        self.texts[node] = self.text_on(node, guarded)
        return node

    def variable(self, name: str) -> int:
        """Return the node of a name, a letter or a derivative; make it if it is new."""
        if name not in self.variables:
            node = self.variables[name] = self.append(INPUT, (), name, ())
            self.names[node] = name
        return self.variables[name]

    def constant(self, value: float) -> int:
        """Append a number."""
        return self.append(CONST, (), value, ())

    def apply(self, kind: str, *operands: int) -> int:
        """Append an operation; nothing is computed, for it is meant to be read."""
        return self.append(kind, operands, None, operands_behind_symbol(kind, operands))

    def product(self, kind: str, *factors: int) -> int:
        """Append a product or quotient; factors that begin with a minus get parentheses."""
        return self.append(kind, factors, None, range(len(factors)))

    def chained(self, kind: str, operands: Iterable[int]) -> int:
        """Apply an operation of two operands to several, from the left."""
        return reduce(partial(self.apply, kind), operands)

    def filled(self, law: Graph, values: Mapping[str, int]) -> int:
        """Append a formula, with nodes in place of some of its names."""
        slots = set(values.values())

        def rule(node: int, images: Sequence[int]) -> int:
            payload = law.payloads[node]
            if law.kinds[node] == INPUT:
                name = str(payload)
                return values[name] if name in values else self.variable(name)
            operands = tuple([images[operand] for operand in law.operands[node]])
            guarded = [place for place, operand in enumerate(operands) if operand in slots]
            image = self.append(law.kinds[node], operands, payload, guarded)
            if node in law.symbols:
                self.graph.symbols[image] = self.texts[image] = law.symbols[node]
            return image

        return copy_nodes(self.graph, law, rule)[law.output]

    def total(self, terms: Iterable[tuple[int | None, int]]) -> int:
        """Append the sum of products, each of a local derivative (None is 1) and an inner derivative."""
        found: int | None = None
        for local, inner in terms:
            term = inner if local is None else self.scaled(local, inner)
            if found is None:
                found = term
            elif self.has_minus(term):
                found = self.apply(BY_SIGNS[1, -1], found, self.without_minus(term))
            else:
                found = self.apply(BY_SIGNS[1, 1], found, term)
        return self.constant(0.0) if found is None else found

    def scaled(self, local: int, inner: int) -> int:
        """Append a local derivative times an inner one; factors of 1 and -1 are not written."""
        if self.value(local) == 1:
            return inner
        if self.value(local) == -1:
            return self.apply(BY_SIGNS[-1,], inner)
        write = self.product if local < self.size else self.apply
        return write(BY_POWERS[1, 1], local, inner)

    def value(self, node: int) -> float | None:
        """Return the number that a node is, signs included; None if it is not a number."""
        sign = 1.0
        while self.is_negation(node):
            sign, node = -sign, self.graph.operands[node][0]
        payload = self.graph.payloads[node]
        if node in self.graph.symbols or not isinstance(payload, float):
            return None
        return sign * payload

    def has_minus(self, node: int) -> bool:
        """Whether a node is used as a product that begins with a minus."""
        while self.row(node).powers and node not in self.names and node not in self.enclosed:
            node = self.graph.operands[node][0]
        return node not in self.names and (self.is_negation(node) or (self.value(node) or 0.0) < 0)

    def without_minus(self, node: int) -> int:
        """Remove the minus that a product begins with."""
        kinds, operands = self.graph.kinds, self.graph.operands
        factors: list[tuple[str, int]] = []
        while self.row(node).powers:
            factors.append((kinds[node], operands[node][1]))
            node = operands[node][0]
        found = (
            operands[node][0]
            if self.is_negation(node)
            else self.constant(-(self.value(node) or 0.0))
        )
        for kind, factor in reversed(factors):
            found = self.product(kind, found, factor)
        return found

    def part(self, root: int) -> Graph:
        """Return a node written out as a formula, in which named parts are inputs."""
        return self.formula(root, own=root)

    def formula(self, root: int, *, own: int | None = None) -> Graph:
        """Return a node as a formula for use in another; of named parts only ``own`` is written out."""
        graph, found = self.graph, Graph()
        done: list[int] = []
        todo = [(root, False)]
        while todo:
            node, is_ready = todo.pop()
            operands = graph.operands[node]
            name = str(graph.payloads[node]) if graph.kinds[node] == INPUT else self.names.get(node)
            if name is not None and (node != own or not operands):
                if name not in found.inputs:
                    found.inputs[name] = found.append(INPUT, (), name, NOWHERE)
                done.append(found.inputs[name])
            elif operands and not is_ready:
                todo += [(node, True), *[(operand, False) for operand in reversed(operands)]]
            else:
                given = done[len(done) - len(operands) :]
                done[len(done) - len(operands) :] = [copy_node(found, graph, node, tuple(given))]
        found.output = done[0]
        return found

    # Sums and products.

    def row(self, node: int) -> Op:
        """Return a node's row of the op table; an empty one for a leaf."""
        return BY_NAME.get(self.graph.kinds[node], LEAF)

    def links(self) -> bytearray:
        """Flag the nodes that are read as part of their users."""
        graph, found = self.graph, bytearray(len(self.graph))
        uses = Counter(chain.from_iterable(graph.operands))
        full = bytearray(len(graph))  # products of three factors
        for user, operands in enumerate(graph.operands):
            linear, product = self.is_linear(user), self.is_product(user)
            for operand in operands:
                if uses[operand] > 1 or operand in self.names:
                    continue
                if linear and self.is_linear(operand):
                    found[operand] = 1
                elif product and self.is_product(operand) and not full[user] + full[operand]:
                    found[operand] = full[user] = 1
        return found

    def varying(self, node: int) -> list[int]:
        """Return the positions of the operands that a node is differentiated with respect to."""
        edges = varying_operands(self.graph, node)
        return [place for place, operand in edges if self.active[operand]]

    def is_negation(self, node: int) -> bool:
        """Whether a node is the negative of another."""
        return self.row(node).signs == (-1,)

    def is_linear(self, node: int) -> bool:
        """Whether a node is a sum, or a constant times something."""
        varying, row = self.varying(node), self.row(node)
        powers = [row.powers[place] for place in varying] if row.powers else []
        return powers == [1] or bool(row.signs and varying)

    def is_product(self, node: int) -> bool:
        """Whether a node is a product of two active operands."""
        return self.row(node).powers == (1, 1) and len(self.varying(node)) == 2

    def is_wide(self, node: int) -> bool:
        """Whether a node has more than two operands that share a derivative, too many to write out."""
        return bool(self.row(node).winner) and len(self.graph.operands[node]) > 2

    def group(self, root: int) -> tuple[list[int], list[int]]:
        """Return the nodes of a sum or product, operands first, and its operands from left to right."""
        inside, leaves, todo = [], [], [root]
        while todo:
            node = todo.pop()
            if node == root or (self.link[node] and node not in self.names):
                inside.append(node)
                todo += reversed(self.graph.operands[node])
            else:
                leaves.append(node)
        return sorted(inside), leaves

    def inner(self, node: int) -> list[int]:
        """Return the nodes to differentiate before a node: its operands, or those of its sum or product."""
        if self.is_linear(node) or self.is_product(node):
            return [leaf for leaf in self.group(node)[1] if self.active[leaf]]
        return [self.graph.operands[node][place] for place in self.varying(node)]


def operands_behind_symbol(kind: str, operands: Collection[int]) -> range:
    """Return the positions of the operands that follow a symbol."""
    return range(not BY_NAME.get(kind, LEAF).prefix, len(operands))


def derivative_path_flags(graph: Graph, inputs: list[int]) -> list[bool]:
    """Flag the nodes that pass a derivative with respect to an input on to the output."""
    users = differentiable_users(graph, [graph.output])
    reached = set(reachable_from(users, inputs))
    found = [False] * len(graph)
    for node in sorted(reached, reverse=True):
        found[node] = node == graph.output or any(found[user] for user in users[node])
    return found


def share_equal_nodes(graph: Graph) -> tuple[Graph, list[int]]:
    """Return the nodes that the output needs, equal unnamed nodes merged, and each node's origin."""
    wanted, names = dependency_flags(graph, graph.output), graph.names()
    origin: list[int] = []
    known: dict[object, int] = {}

    def rule(made: Graph, node: int, images: Sequence[int]) -> int | None:
        operands = tuple([images[operand] for operand in graph.operands[node]])
        form = graph.kinds[node], operands, repr(graph.payloads[node]), graph.symbols.get(node)
        image = known.setdefault(node if node in names else form, len(made))
        if image < len(made):
            return image
        origin.append(node)
        return None

    return transform_graph(graph, rule, wanted=wanted)[0], origin
