"""Jacobians, Hessians and their products with vectors, as printed: with true numbers and warnings."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from exprgrad.derive.rules import computed
from exprgrad.explain.diagnostics import (
    NOT_FINITE,
    Bounds,
    diagnose_run,
    merge_remarks,
    resolve_digits,
)
from exprgrad.explain.limits import COUNTED, LONGEST_LABEL, side_limit_reason
from exprgrad.explain.places import (
    element_places,
    find_nonfinite,
    live_nodes,
    number_in_place,
    to_scalar_run,
)
from exprgrad.graph.graph import Shape, dependent_flags, element_name, shape_size, with_output
from exprgrad.graph.ops import BENT
from exprgrad.language.write.infix import number_text
from exprgrad.run.evaluation import (
    DOUBLE_DIGITS,
    ArrayBounds,
    ArrayEvaluator,
    Diagnostic,
    Flag,
    Path,
    Settled,
    SweptRun,
    evaluator_for,
    is_finite,
    right_digits,
)
from exprgrad.run.matrices import (
    BY_OUTPUT,
    HESSIAN,
    JVP,
    VJP,
    DerivativeKind,
    Matrix,
    Point,
    blocks_by_path,
    entry_data,
    gradient_program,
    has_motion,
)
from exprgrad.run.numbers.bounds import number_data_errors, typed_errors
from exprgrad.run.numbers.sweeps import forward_numbers
from exprgrad.source import cut_text

if TYPE_CHECKING:
    from exprgrad.explain.digits.truths import Truths

__all__ = ["Derivatives", "group_label", "number_label"]

ONE_GROUP = re.compile(r"\w+\([^()]*\)|\[[^][]*\]")
"""A call, or a list, without another inside."""


class Derivatives:
    """Derivatives at a point: the sweeps' numbers, the true ones, and diagnostics.

    ``kind`` is the question.  Numbers are shown with ``digits`` digits; fields that are ``unseen`` are
    checked for kinks and jumps alone.
    """

    def __init__(
        self,
        text: str,
        point: Point,
        kind: DerivativeKind,
        digits: int = COUNTED,
        unseen: Collection[str] = ("value", "gradient"),
    ) -> None:
        self.text = text
        self.point = point
        self.kind = kind
        self.shown = digits
        self.unseen = unseen

    @cached_property
    def swept(self) -> dict[str, Any]:
        """The sweeps' numbers, by field."""
        return self.kind.sweep(self.point, self.unseen)

    @cached_property
    def run(self) -> SweptRun:
        """The forward sweep."""
        point = self.point
        return SweptRun.of(self.text, point.evaluator, point.inputs, spelled=point.spelled)

    @cached_property
    def fields(self) -> dict[str, Any]:
        """The values of the outputs and the sweeps' numbers."""
        values = {name: self.run.values[node] for name, node in self.point.outputs.items()}
        return {"value": values, **self.swept}

    @cached_property
    def settled(self) -> Settled:
        """The numbers as printed, with their digits and warnings; a Hessian's from the diagonal on."""
        point, kind, unseen = self.point, self.kind, self.unseen
        evaluator = point.evaluator
        if evaluator.by_entries:
            bounds = bounds_by_entries(point, kind)
        else:
            seen = {field: found for field, found in self.fields.items() if field not in unseen}
            bounds = bounds_along_directions(self.run, point, kind, seen)
        found = resolve_digits(evaluator, bounds, self.shown, self.truths, unseen)
        if kind is not HESSIAN:
            return found
        return found.joined(settle_hessian_by_sides(self.text, point, self.swept["hessian"]))

    def truths(self) -> Truths:
        """The source of the true numbers."""
        from exprgrad.explain.digits.truths import truths_of_question

        label = partial(number_label, output=next(iter(self.point.outputs)))
        return truths_of_question(self.run, self.point, self.kind, label)

    @cached_property
    def whole(self) -> Settled:
        """The settled numbers with structural zeros, in order; zeros have all digits right."""
        found, matrix, field = self.settled, self.swept[self.kind.name], self.kind.name
        if field == "hessian":
            found = mirror_hessian(found, matrix)
        if not isinstance(matrix, Matrix) or not found.values:
            return found
        places = [(field, row, column) for row in matrix.rows for column in matrix.columns]
        digits = dict.fromkeys(places, DOUBLE_DIGITS)
        beside = {path: count for path, count in found.digits.items() if path[0] != field}
        return found._replace(digits=beside | digits | found.digits)

    @cached_property
    def true(self) -> dict[str, Any]:
        """The numbers as printed, by field: the sweeps' numbers, corrected."""
        if not self.settled.corrected:
            return self.fields
        return {
            field: replace_numbers(found, self.whole.among(field).values)
            for field, found in self.fields.items()
        }

    @property
    def digits(self) -> Any:
        """The number of right digits of each derivative."""
        counts = self.whole.among(self.kind.name).digits
        return replace_numbers(self.swept[self.kind.name], counts)

    @property
    def remarks(self) -> list[Diagnostic]:
        """The diagnostics except those about lost digits."""
        point, found = self.point, self.true[self.kind.name]
        if self.kind is HESSIAN:
            return diagnose_hessian(self.text, point, found)
        answers = (
            () if point.evaluator.by_entries else blocks_by_path({self.kind.name: found}).values()
        )
        moving = tuple([name for name, one in point.direction.items() if has_motion(one)])
        if self.kind is JVP:
            point = point._replace(wrt=moving)
        return diagnose_outputs(self.text, point, answers, moving if self.kind is VJP else None)

    @cached_property
    def diagnostics(self) -> list[Diagnostic]:
        """The diagnostics of the outputs and their derivatives, lost digits last."""
        return merge_remarks(self.remarks, self.settled)


def diagnose_outputs(
    text: str, point: Point, answers: Iterable[Any] = (), swept: Collection[str] | None = None
) -> list[Diagnostic]:
    """Diagnose a point's outputs and their derivatives, the ``answers``.

    ``swept`` are the differentiated outputs, all by default; the numbers of a tensor
    are differentiated together.  Where the answers are finite, an infinity on the way met a direction
    that is 0 there.  What concerns several outputs is said once, as a warning if it is one for any of them.
    """
    once: dict[tuple[str, int, str], Diagnostic] = {}
    for name, output in point.outputs.items():
        view = with_output(point.evaluator.graph, output)
        chosen = point.wrt if swept is None or name in swept else None
        run = SweptRun.of(text, evaluator_for(view), point.inputs, chosen, point.spelled)
        for diagnostic in [*diagnose_run(run), *pole_side_diagnostics(run)]:
            key = (diagnostic.code, diagnostic.node, diagnostic.message)
            if key not in once or diagnostic.severity == "warning":
                once[key] = diagnostic
    are_finite = answers and all(map(is_finite, answers))
    left_out = {"nan-gradient", "infinite-gradient"} if are_finite else set()
    return [diagnostic for diagnostic in once.values() if diagnostic.code not in left_out]


def pole_side_diagnostics(run: SweptRun) -> Iterator[Diagnostic]:
    """Yield warnings on finite derivatives at a pole whose sides lead to different places.

    Each number of a tensor counts as an output.
    """
    if run.wrt is None or all(map(is_finite, run.values)):
        return
    if run.adjoints is None or not run.adjoints.quiet:
        return
    from exprgrad.explain.sides.kinks import one_sided_derivatives, side_verdicts

    graph = run.graph
    if side_limit_reason(run, shape_size(graph.shape(graph.output))):
        return
    numbers = to_scalar_run(run)
    over = numbers.run
    nodes = [numbers.node(graph.output, place) for place in element_places(run.value)]
    for view in (with_output(over.graph, node) for node in dict.fromkeys(nodes)):
        seen = SweptRun.of(run.text, evaluator_for(view), over.inputs, over.wrt, run.spelled)
        known = {
            n: side for n, side in one_sided_derivatives(seen).items() if is_finite(side.sweep)
        }
        for found in side_verdicts(seen, known):
            yield found._replace(node=numbers.origin(found.node))


def diagnose_hessian(text: str, point: Point, hessian: Matrix) -> list[Diagnostic]:
    """Diagnose the output, its gradient and its second derivatives.

    A kink of a derivative need not be one of the output.  The first second derivative that is not finite
    is named, if everything before it was finite.
    """
    listed, graph = diagnose_outputs(text, point), point.evaluator.graph
    if BENT.intersection(graph.kinds):
        from exprgrad.explain.kinks_met import derivative_kink_diagnostics

        listed += derivative_kink_diagnostics(
            SweptRun.of(text, point.evaluator, point.inputs, point.wrt)
        )
    if any(isinstance(diagnostic, Flag) for diagnostic in listed) and not graph.shapes:
        kinked = second_order_kinks(text, point)
        listed = [d for d in listed if not isinstance(d, Flag) or kinked[d.node]]
    if any(diagnostic.code in NOT_FINITE for diagnostic in listed):
        return listed
    for place, value in sorted(hessian.entries.items()):
        if not is_finite(value):
            return [*listed, diagnose_hessian_entry(text, point, place, value)]
    return listed


def second_order_kinks(text: str, point: Point) -> bytearray:
    """Flag the nodes whose kinks and jumps may reach the output or one of its derivatives.

    In ``relu(x)^3`` they do not: its second derivative is 0 on both sides of 0.
    """
    from exprgrad.explain.sides.kinks import one_sided_derivatives

    own, wrt = point.evaluator.graph, point.wrt
    graph, outputs = gradient_program(point.evaluator, wrt)
    names: set[str] = set()
    for view in (own, *[with_output(graph, output) for output in outputs[1:]]):
        run = SweptRun.of(text, evaluator_for(view), point.inputs, wrt)
        if side_limit_reason(run, len(wrt)):
            names |= {*wrt}
        else:
            sides = one_sided_derivatives(run).items()
            names |= {name for name, one in sides if one.verdict != "exists" or one.corrected}
    return dependent_flags(own, [own.inputs[name] for name in names])


def settle_hessian_by_sides(text: str, point: Point, hessian: Matrix) -> Settled:
    """Settle nan entries of a Hessian of numbers by the gradient's slopes on both sides.

    For ``max(x, 0)^1.5`` at -1 it is 0, not 0 times an infinite second slope.
    """
    settled, own, wrt = Settled({}, {}, {}), point.evaluator.graph, point.wrt
    unknown = [
        (row, column)
        for (row, column), value in sorted(hessian.entries.items())
        if not own.shapes and row <= column and math.isnan(value)
    ]
    if not unknown:
        return settled
    from exprgrad.explain.sides.kinks import one_sided_derivatives

    graph, outputs = gradient_program(point.evaluator, wrt)
    help: str | None = "the entry is corrected; the gradient has this slope on both sides"
    for row, column in unknown:
        view = with_output(graph, outputs[1 + row])
        run = SweptRun.of(text, evaluator_for(view), point.inputs, (wrt[column],))
        side = (
            None
            if side_limit_reason(run, len(unknown))
            else one_sided_derivatives(run).get(wrt[column])
        )
        if side is not None and side.corrected and side.right is not None:
            path = "hessian", wrt[row], wrt[column]
            settled.values[path] = side.right
            settled.digits[path] = right_digits(side.right, side.error)
            settled.corrected[path] = math.nan, side.right
            by = wrt[row] if row == column else f"{wrt[row]} and {wrt[column]}"
            message = f"the second derivative with respect to {by} is {number_text(side.right)}"
            message += "; the sweep's nan is wrong"
            node = own.inputs[wrt[column]]
            told = Diagnostic("corrected", "warning", message, node, own.span(node), help)
            settled = settled._replace(diagnostics=(*settled.diagnostics, told))
            help = None
    return settled


def diagnose_hessian_entry(
    text: str, point: Point, place: tuple[int, int], value: Any
) -> Diagnostic:
    """Diagnose a block of the Hessian that is not finite, at its first node that is not."""
    found = find_nonfinite(value)
    assert found is not None
    graph, names = point.evaluator.graph, [point.wrt[which] for which in place]
    rank = len(graph.shape(graph.inputs[names[0]]))
    indices = found.place[:rank], found.place[rank:]
    one, other = map(element_name, names, indices)
    by = one if one == other else f"{one} and {other}"
    shown = number_in_place(value, found.place)
    derived, entry, data = entry_data(point.evaluator, point.inputs, point.wrt, place, indices[0])
    used = live_nodes(SweptRun(text, with_output(derived, entry), {}, data))
    bad = (node for node in range(entry) if used[node] and not is_finite(data[node]))
    node = derived.origins.get(next(bad, entry), graph.output)
    code = "nan-hessian" if shown != shown else "infinite-hessian"
    message = f"the second derivative with respect to {by} is {number_text(shown)}"
    return Diagnostic(code, "warning", message, node, graph.span(node), None)


def bounds_by_entries(point: Point, kind: DerivativeKind) -> Bounds:
    """Return an answer's numbers, found by one derived graph, with error bounds."""
    question = kind.question(point)
    graph, nodes = question.derive(question.graph, computed, None)
    data = forward_numbers(graph, question.inputs)
    errors, typed = number_data_errors(graph, data), typed_errors(graph, data, question.spelled)
    valueless = {name for name in question.outputs if math.isnan(data[nodes["value", name]])}

    off = {path: errors[node] for path, node in nodes.items()}
    for path in nodes:  # what is derived from what is not a number may be anything
        if path[1] in valueless if path[0] in BY_OUTPUT else valueless:
            off[path] = math.inf
    far = {path: typed[node] for path, node in nodes.items()} if typed else {}
    return {path: data[node] for path, node in nodes.items()}, off, far


def bounds_along_directions(
    run: SweptRun, point: Point, kind: DerivativeKind, fields: Mapping[str, Any]
) -> Bounds:
    """Return an answer's tensors, found along directions, with error bounds."""
    from exprgrad.run.arrays import bounds

    assert isinstance(point.evaluator, ArrayEvaluator)
    data = bounds.array_data_errors(run.graph, run.values, point.outputs.values())
    off = {name: data[node] for name, node in point.outputs.items()}
    evaluator = ArrayBounds(point.evaluator)
    errors = blocks_by_path({"value": off, **kind.sweep(point._replace(evaluator=evaluator))})
    return blocks_by_path(fields), errors, {}


def replace_numbers(found: Any, numbers: Mapping[Path, Any]) -> Any:
    """Replace some numbers of a matrix, or of numbers by name."""
    if not isinstance(found, Matrix):
        return found | {name: one for (name,), one in numbers.items()}
    rows, columns = found.rows.index, found.columns.index
    fresh = {(rows(row), columns(column)): one for (row, column), one in numbers.items()}
    return found._replace(entries=found.entries | fresh)


def mirror_hessian(found: Settled, hessian: Matrix) -> Settled:
    """Mirror a whole Hessian: below the diagonal as above it."""
    ranks = {name: len(shape) for name, shape in zip(hessian.rows, hessian.row_shapes, strict=True)}

    def turned(value: Any, first: str) -> Any:
        """A block whose row is its column, and the other way round."""
        if isinstance(value, float):
            return value
        axes = range(len(value.shape))
        return value.transpose(*axes[ranks[first] :], *axes[: ranks[first]])

    above = found.among("hessian")
    return found.joined(
        Settled(
            {("hessian", y, x): turned(one, x) for (x, y), one in above.values.items() if x != y},
            {("hessian", y, x): one for (x, y), one in above.digits.items()},
            {
                ("hessian", y, x): (turned(one, x), turned(other, x))
                for (x, y), (one, other) in above.corrected.items()
                if x != y
            },
        )
    )


def group_label(label: str) -> str:
    """Put a label in parentheses, unless it is a name, a call or a list."""
    return label if label.isidentifier() or ONE_GROUP.fullmatch(label) else f"({label})"


def number_label(field: str, names: Sequence[tuple[str, Shape]], output: str) -> str:
    """Label a number for messages, given the name of the formula's output.

    ``names`` lead to it, each with a place in its tensor.
    """
    if field == "value" and not names[0][1]:
        return cut_text(names[0][0], LONGEST_LABEL)
    labels = [
        element_name(group_label(cut_text(name, LONGEST_LABEL)), place) for name, place in names
    ]
    first, last = labels[0], labels[-1]
    if field == "value":
        return first
    if field == "hessian":
        return f"d² {group_label(cut_text(output, LONGEST_LABEL))} / d {first} d {last}"
    if field == "jacobian":
        return f"d {first} / d {last}"
    return f"{first}.{'grad' if field == 'gradient' else field}"
