"""A run's diagnostics, one-sided derivatives, corrections and right digits.

All of it is computed when read: where the numbers stop being finite, and every kink or jump met.  At a
smooth point there is nothing to find.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from exprgrad.explain.limits import COUNTED, SHARED, side_limit_reason
from exprgrad.graph.graph import MOST_ELEMENTS, Graph, Shape, dependency_flags, shape_size
from exprgrad.graph.ops import BY_NAME, FUNCTIONS
from exprgrad.language.write.infix import number_text
from exprgrad.run import evaluation
from exprgrad.run.evaluation import (
    Diagnostic,
    Evaluator,
    Guarded,
    Path,
    Settled,
    evaluator_for,
    fewest_right_digits,
    is_finite,
    remember,
    right_digits,
    smallest_count,
)

if TYPE_CHECKING:
    from exprgrad.explain.digits.truths import Truths
    from exprgrad.explain.sides.kinks import OneSided

__all__ = [
    "MOST_COUNTED", "NOT_FINITE", "Bounds", "DiagnosedRun", "diagnose_run", "doubtful_nodes",
    "merge_remarks", "notes_on_names", "resolve_digits", "shadowed_function_notes",
]  # fmt: skip

NOT_FINITE = {"nan", "infinity", "nan-gradient", "infinite-gradient"}
"""The codes that explain by themselves why a second derivative is not finite."""
NO_NUMBER = NOT_FINITE | {"nan-hessian", "infinite-hessian"}
"""The codes for numbers that are not finite."""
ADVICE = "; write "
"""Begins the part of a help that says what to write instead."""
MOST_GUARDS = 100
"""The most answers of a run that are kept, by the digits requested."""
MOST_COUNTED = 15
"""The digits of a double that can be right whatever the number is."""


class DiagnosedRun(evaluation.SweptRun):
    """One evaluation, with its diagnostics."""

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """Where the numbers stop being finite, the kinks and jumps that were met, and lost digits."""
        return merge_remarks(self.remarks, self.true)

    @cached_property
    def remarks(self) -> list[Diagnostic]:
        """The diagnostics except those about lost digits."""
        return diagnose_run(self, self.unsettled, self.rounded_kinks)

    @property
    def unsettled(self) -> Mapping[str, OneSided]:
        """The one-sided derivatives, except where the true numbers make them void.

        That is so for undecided ones that balls settle, and at kinks that only rounding makes.
        """
        sides = self.one_sided
        if not sides or not self.true.diagnostics:
            return sides
        if self.rounded_kinks and self.rounded_kinks.issuperset(self.nonsmooth):
            return {}
        return {
            name: side
            for name, side in sides.items()
            if not (side.corrected or side.verdict == "undecided") or not self.is_proved(side)
        }

    def is_proved(self, side: OneSided) -> bool:
        """Whether the true numbers give an input a derivative that its sides lack or contradict."""
        both, by_sides = (one.get(side.input) for one in (self.true.corrected, self.corrected))
        is_checked = by_sides is None or not side.place  # of tensors no side is
        return both is not None and is_checked and both != by_sides

    @cached_property
    def rounded_kinks(self) -> set[int]:
        """The nodes that are at kinks and jumps by rounding alone, by the true numbers."""
        if not self.one_sided or self.graph.shapes or not self.true.diagnostics:
            return set()
        return self.truths.rounded_kinks(self.nonsmooth)

    @property
    def true(self) -> Guarded:
        """The answer of ``-q`` and JSON: corrected where fewer than 6 digits are right."""
        return self.guarded(COUNTED)

    @property
    def digits(self) -> Mapping[str, Any]:
        """The number of right digits, from 0 to 16, of the answer's ``value`` and ``gradient``."""
        return self.true.digits

    def guarded(self, digits: int, *, has_value: bool = True) -> Guarded:
        """Return the answer at a number of digits: those shown are right, or a warning says which are not.

        The value does not count where the answer shows the gradient alone.
        """
        key = digits, has_value
        return remember(
            self.guards, key, lambda: screen_answer(self, digits, has_value=has_value), MOST_GUARDS
        )

    @property
    def turns(self) -> tuple[Diagnostic, ...]:
        """Warnings about kinks and jumps met by the typed decimals alone."""
        evaluator, bounds = evaluator_for(self.graph), answer_bounds(self, self.unguarded, ())
        unseen = "value", "gradient"
        return resolve_digits(evaluator, bounds, COUNTED, lambda: self.truths, unseen).diagnostics

    @cached_property
    def truths(self) -> Truths:
        """The source of a run's true numbers, computed once on demand."""
        from exprgrad.explain.digits.truths import truths_of_run

        return truths_of_run(self)

    @property
    def unguarded(self) -> Guarded:
        """The sweep's answer with kinks corrected, whatever its digits."""
        return Guarded(self.value, self.gradient, {**self.corrected})

    @cached_property
    def guards(self) -> dict[tuple[int, bool], Guarded]:
        """The answers of ``guarded``, by the digits requested."""
        return {}

    @cached_property
    def one_sided(self) -> Mapping[str, OneSided]:
        """By input, the derivatives from the two sides and their verdicts, where they are needed.

        That is for inputs that reach a kink or a jump, or whose swept derivative is not finite; empty
        at a smooth point, and for more than 64 differentiated numbers.  Over tensors they are by number:
        ``x[1]``.
        """
        if self.is_plain:
            return {}
        from exprgrad.explain.sides.kinks import one_sided_derivatives

        return one_sided_derivatives(self)

    @cached_property
    def is_plain(self) -> bool:
        """Whether the swept gradient is finite and, as far as can be seen, rests on no convention."""
        if self.answer is not None or self.adjoints is None:
            return True
        # An infinite node may pass no slope on, as a pole does in sign(1/x).  The sum is quick.
        is_whole = not self.graph.shapes and math.isfinite(sum(self.values))
        is_cut_short = not (is_whole or side_limit_reason(self) or all(map(is_finite, self.values)))
        finite = all(map(is_finite, self.swept.values())) and not is_cut_short
        if finite and self.adjoints.quiet:
            return True
        return bool(side_limit_reason(self)) or (finite and not self.nonsmooth)

    @cached_property
    def nonsmooth(self) -> list[int]:
        """The nodes at a kink or a jump that the answer depends on, in the order of the visits."""
        from exprgrad.explain.kinks_met import nonsmooth_nodes

        return nonsmooth_nodes(self)

    @property
    def gradient(self) -> dict[str, Any]:
        """The output's partial derivative for each differentiated input; empty without a sweep.

        It is the sweep's number (``swept``), unless it is ``corrected``.  A tensor's has the tensor's
        shape.
        """
        gradient = self.swept
        if self.answer is None and not self.is_plain:
            gradient |= {name: value for name, (_, value) in self.corrected.items()}
        return gradient

    @cached_property
    def corrected(self) -> Mapping[str, tuple[Any, Any]]:
        """By input: the sweep's number and the derivative, where it exists and is another.

        ``gradient`` has the derivative; nodes, edges, the trace and ``swept`` keep the sweep's number.
        """
        if not self.one_sided:
            return {}
        from exprgrad.explain.sides.kinks import derivative_corrections

        return derivative_corrections(self, self.one_sided)


def merge_remarks(remarks: Iterable[Diagnostic], answer: Guarded | Settled) -> list[Diagnostic]:
    """Put remarks before the warnings about lost digits, and report what is not finite once.

    Where its lost digits are corrected, the warning about them is enough.
    """
    kept, told = [], [*answer.diagnostics]
    for one in remarks:
        causes = enumerate(answer.causes if one.code in NO_NUMBER else ())
        place = next((place for place, nodes in causes if one.node in nodes), None)
        if place is None:
            kept.append(one)
        else:
            told[place] = add_cause(told[place], one)
    return [*kept, *told]


def add_cause(lost: Diagnostic, cause: Diagnostic) -> Diagnostic:
    """Add to a warning about lost digits what is known of the number not finite that caused them."""
    if lost.help is None:
        help = "; ".join(part for part in (cause.message, cause.help) if part)
        return lost._replace(node=cause.node, span=cause.span, help=help, path=cause.path)
    if lost.node != cause.node:
        return lost
    is_advised = ADVICE in lost.help or cause.help is None
    help = lost.help if is_advised else f"{lost.help}; {cause.help}"
    return lost._replace(help=help, path=cause.path)


def diagnose_run(
    run: evaluation.SweptRun,
    one_sided: Mapping[str, OneSided] | None = None,
    rounded_kinks: Collection[int] = (),
) -> list[Diagnostic]:
    """Diagnose a run, in the order in which things came about.

    ``one_sided`` are the derivatives from the sides, where kinks are to be explained; nothing is
    said of ``rounded_kinks``, nodes at kinks by rounding alone.
    """
    found = [*notes_on_names(run)]
    if any(call.bends for call in run.graph.calls):
        from exprgrad.explain.kinks_met import inner_derivative_kinks

        found += inner_derivative_kinks(run)
    grads = run.adjoints.grads if run.adjoints is not None else ()
    forward = not all(map(is_finite, run.values))
    special = run.adjoints is not None and not run.adjoints.quiet
    reverse = not all(is_finite(grad) for grad in grads if grad is not None)
    if forward or special or reverse:
        from exprgrad.explain.places import live_nodes

        used = live_nodes(run)
        if forward:
            from exprgrad.explain.not_finite import diagnose_forward_sweep

            found += diagnose_forward_sweep(run, used)
        if special:
            from exprgrad.explain.kinks_met import kink_diagnostics

            met = kink_diagnostics(run, used, one_sided)
            found += [one for one in met if one.node not in rounded_kinks]
        if reverse:
            from exprgrad.explain.not_finite import diagnose_reverse_sweep

            found += diagnose_reverse_sweep(run, used)
    if one_sided:
        from exprgrad.explain.sides.kinks import side_verdicts

        found += side_verdicts(run, one_sided)
    if run.graph.spelled or run.spelled:
        from exprgrad.explain.not_finite import underflowing_literal_notes

        found += underflowing_literal_notes(run)
    if one_sided is not None and (forward or is_at_domain_edge(run)):
        from exprgrad.explain.sides.kinks import one_sided_notes

        found += one_sided_notes(run, one_sided)
    return found


def is_at_domain_edge(run: evaluation.SweptRun) -> bool:
    """Whether a node is at the edge of its domain, with a finite slope."""
    values = run.values
    if run.adjoints is None:
        return False
    evaluator = evaluator_for(run.graph)
    return any(
        evaluator.holds(op.finite_boundary, op.names, [values[operand] for operand in operands])
        for kind, operands in zip(run.graph.kinds, run.graph.operands, strict=True)
        if (op := BY_NAME.get(kind)) and op.finite_boundary
    )


def shadowed_function_notes(graph: Graph) -> Iterator[Diagnostic]:
    """Yield notes on functions that a formula defines although a newer row has their name."""
    calls = (call for call in graph.calls if call.kind == "function" and call.name in FUNCTIONS)
    for name, call in {call.name: call for call in calls}.items():
        yield Diagnostic(
            "own-function",
            "note",
            f"'{name}' is the formula's own function, not the one of exprgrad",
            call.result,
            call.span,
            f"exprgrad has one since version {FUNCTIONS[name].since}; another name keeps them apart",
        )


def notes_on_names(run: evaluation.SweptRun) -> Iterator[Diagnostic]:
    """Yield notes on the formula's own functions, and on named statements that the output does not use.

    A recurrence's terms count as one.
    """
    graph = run.graph
    yield from shadowed_function_notes(graph)
    if graph.bindings:
        needed = dependency_flags(graph, graph.output)
        used = [b.name for b in graph.bindings if needed[b.node] or b.name in graph.mentioned]
        told = {name.partition("[")[0] for name in used}
        for called, node, span in graph.bindings:
            name = called.partition("[")[0]
            if name not in told:
                told.add(name)
                yield Diagnostic(
                    "unused", "note", f"the output does not use '{name}'", node, span, None
                )


# How many digits of an answer are right, as far as error bounds tell; where too few are, balls say more.


def screen_answer(run: DiagnosedRun, digits: int, *, has_value: bool = True) -> Guarded:
    """Return the answer at a number of digits, with the number of right digits.

    Bounds cost little more time than the sweeps; nothing else is loaded where they cover the digits that
    are asked for.  A value that is not shown is checked for kinks and jumps alone.
    """
    answer = run.unguarded
    sides = [side for side in run.one_sided.values() if side.corrected]
    evaluator, bounds = evaluator_for(run.graph), answer_bounds(run, answer, sides)
    unseen = () if has_value else ("value",)
    found = resolve_digits(evaluator, bounds, digits, lambda: run.truths, unseen)
    for side in sides:
        path: Path = "gradient", side.input
        value: Any = found.values[path]
        value = value[side.place] if side.place else value
        found.digits[path] = min(found.digits[path], fewest_right_digits(value, side.error))
    for path, (_, fresh) in found.corrected.items():
        if path[1:]:
            found.corrected[path] = run.swept[path[1]], fresh
    if sides and not run.graph.shapes and any(run.errors[0]):
        from exprgrad.explain.digits.guard import check_sides

        least = min(digits, MOST_COUNTED)
        found = check_sides(found, answer.corrected, sides, least, run.truths)
    if has_value and not run.graph.shapes and math.isnan(run.value) and run.graph.calls:
        found = correct_value_by_sides(run, found, min(digits, MOST_COUNTED))
    counted: dict[str, Any] = {}
    slopes = found.among("gradient")
    if has_value:
        counted["value"] = found.digits["value",]
    if run.adjoints is not None:
        counted["gradient"] = {name: slopes.digits[name,] for name in answer.gradient}
    return Guarded(
        found.values.get(("value",), answer.value),
        answer.gradient | {name: slope for (name,), slope in slopes.values.items()},
        answer.corrected | {name: both for (name,), both in slopes.corrected.items()},
        counted,
        found.corrected.get(("value",)),
        found.diagnostics,
        found.causes,
    )


def correct_value_by_sides(run: DiagnosedRun, found: Settled, least: int) -> Settled:
    """Correct a value that is nan although it exists, where both sides give ``least`` digits of it."""
    from exprgrad.explain.sides.kinks import value_by_sides

    value, error = value_by_sides(run)
    count = right_digits(value, error)
    if math.isnan(value) or count < least:
        return found
    found.values["value",], found.corrected["value",] = value, (run.value, value)
    found.digits["value",] = count
    node = run.graph.output
    message = f"the value exists and is {number_text(value)}; the sweep's nan is wrong"
    warned = Diagnostic("corrected", "warning", message, node, run.graph.span(node), None)
    return found._replace(diagnostics=(*found.diagnostics, warned))


Bounds = tuple[dict[Path, Any], dict[Path, Any], dict[Path, float]]
"""An answer's numbers and tensors, by path; their error bounds; and those for the decimals as typed.

The last are for numbers alone, and are empty where what was typed are the doubles.
"""


def answer_bounds(run: DiagnosedRun, answer: Guarded, sides: Sequence[OneSided]) -> Bounds:
    """Return a run's value and gradient with error bounds.

    Bounds do not cover numbers that ``sides`` have corrected, which come from one-sided rules.
    """
    evaluator, nodes = evaluator_for(run.graph), run.graph.inputs
    data, grads = run.errors
    far, far_grads = evaluator.typed_errors(run.values, run.adjoints, run.spelled)
    values: dict[Path, Any] = {("value",): run.value}
    errors: dict[Path, Any] = {("value",): data[run.graph.output]}
    typed: dict[Path, float] = {("value",): far[run.graph.output]} if far else {}
    for name, slope in answer.gradient.items():
        path = "gradient", name
        is_number = run.value == run.value  # what comes of no value may be anything
        values[path] = slope
        errors[path] = grads[nodes[name]] if is_number else math.inf
        if far_grads:
            typed[path] = far_grads[nodes[name]]
    for side in sides:
        path = "gradient", side.input
        errors[path] = drop_exact_bound(errors[path], side.place, values[path])
        typed.pop(path, None)
    return values, errors, typed


def drop_exact_bound(error: Any, place: Shape, value: Any) -> Any:
    """Set one number's error bound in a tensor to 0; return None for a plain number."""
    if not place:
        return 0.0
    from exprgrad.run.arrays.arrays import broadcast_view

    left = broadcast_view(error, value.shape).copy()
    left[place] = 0.0
    return left


def doubtful_nodes(
    run: DiagnosedRun, nodes: Sequence[int], digits: int
) -> tuple[set[int], set[int]]:
    """Return the nodes whose data, and those whose grad, surely have fewer right digits than ``digits``.

    One such number of a tensor is enough.  Bounds say where that may be, and balls decide there.
    Skips what is not finite, and tensors too large to be written out.
    """
    if sum(map(shape_size, run.graph.shapes)) > MOST_ELEMENTS:
        return set(), set()
    least, (data, grads) = min(digits, MOST_COUNTED), run.errors

    def poor(numbers: Sequence[Any], errors: Sequence[Any]) -> list[int]:
        """The nodes that may be meant, as far as bounds tell."""
        return [
            node
            for node in nodes
            if numbers[node] is not None
            and is_finite(numbers[node])
            and fewest_right_digits(numbers[node], errors[node]) < least
        ]

    some = poor(run.values, data)
    others = poor(run.adjoints.grads, grads) if run.adjoints is not None else []
    if not (some or others):
        return set(), set()
    from exprgrad.explain.digits.guard import confirm_poor_nodes

    return confirm_poor_nodes(run, run.truths, some, others, least)


def resolve_digits(
    evaluator: Evaluator,
    bounds: Bounds,
    digits: int,
    source: Callable[[], Truths],
    unseen: Collection[str] = (),
) -> Settled:
    """Settle numbers that are shown to some digits, given the error bound of each.

    ``source`` gives the true numbers where too few digits are right.  Numbers of ``unseen`` fields are not
    shown: they matter where a kink or a jump of theirs makes others conventions.
    """
    least, shared = min(digits, MOST_COUNTED), min(digits, SHARED)
    values, errors, typed = bounds
    kinds = {*evaluator.graph.kinds} & BY_NAME.keys() if unseen and evaluator.by_entries else ()
    if not any(BY_NAME[kind].special for kind in kinds):  # then nothing has a kink or a jump
        values = {path: one for path, one in values.items() if path[0] not in unseen}
    by_number = {path: right_digits(one, errors[path]) for path, one in values.items()}
    counts = {path: smallest_count(count) for path, count in by_number.items()}
    found = Settled({**values}, counts, {})
    ambiguous = [
        path
        for path, error in typed.items()
        if path in values and right_digits(values[path], error) < shared
    ]
    if ambiguous or any(count < least for count in counts.values()):
        from exprgrad.explain.digits.guard import settle_numbers

        found = settle_numbers(found, by_number, ambiguous, least, source(), unseen)
    for path in [path for path in found.values if path[0] in unseen]:
        for numbers in (found.values, found.digits, found.corrected):
            numbers.pop(path, None)
    return found
