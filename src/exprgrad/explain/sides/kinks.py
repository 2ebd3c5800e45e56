"""Derivatives from the two sides, and their verdict on a gradient: it exists, is wrong, or does not exist.

Asked only where an operation on the active path meets a kink or a jump, or where the sweep's gradient is
not finite although the value is.  The answers are about one input at a time: that partial derivatives exist
does not make a function differentiable, as ``abs(x - y) - abs(x) - abs(y)`` at (0, 0) shows.  At
an edge of a formula's domain derivatives are from one side, for on the other is nothing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple, cast

from exprgrad.derive.parsed import complete_graph
from exprgrad.explain.kinks_met import nonsmooth_nodes
from exprgrad.explain.limits import side_limit_reason
from exprgrad.explain.places import first_place, live_nodes, to_scalar_run, used_operations
from exprgrad.explain.sides.one_sided import (
    RUNNING,
    SURE,
    UNDEFINED,
    Measured,
    OneSidedOutput,
    PointContext,
    build_point_context,
    leading_slope,
    output_on_side,
)
from exprgrad.graph.graph import (
    INPUT,
    Algebra,
    Graph,
    Shape,
    collect_by_key,
    dependency_flags,
    element_name,
    interpret,
    shallow_copy_graph,
)
from exprgrad.language.read.parse import parse_text
from exprgrad.language.write.infix import number_text
from exprgrad.run.balls.balls import enclose_nodes, has_balls
from exprgrad.run.evaluation import Diagnostic, SweptRun, evaluator_for, is_finite
from exprgrad.run.numbers.sweeps import at_pole, condition_holds

__all__ = [
    "OneSided", "derivative_corrections", "one_sided_derivatives", "one_sided_notes", "side_findings",
    "side_verdicts", "value_by_sides",
]  # fmt: skip

Notation = Callable[[float], str]
"""Writes a number."""
BITS = 128
"""The precision that tells a pole from a quotient whose divisor underflows."""


class OneSided(NamedTuple):
    """The output's derivative with respect to an input from each side, and their joint verdict.

    ``left``, ``right``  None where undecided, or where the output is not defined on that side
    ``left_value``, ``right_value``  the output's limits from the sides, as far as they are known
    ``sweep``      the reverse sweep's number, with its conventions
    ``verdict``    ``exists``, ``kink``, ``jump`` or ``undecided``
    ``estimated``  whether any of these is estimated by differences, not by rules
    ``corrected``  whether the derivative exists and the sweep's number is wrong
    ``missing``    the sides on which the output is not defined
    ``apart``      ``right`` less ``left``, which may be too small to be seen in them
    ``place``      the number's place in the input, if that is a tensor
    ``error``      the error bound of a corrected derivative
    """

    input: str
    left: float | None
    right: float | None
    left_value: float | None
    right_value: float | None
    sweep: float
    verdict: str
    estimated: bool
    corrected: bool
    missing: tuple[str, ...]
    apart: float
    place: Shape = ()
    error: float = 0.0

    @property
    def name(self) -> str:
        """The number's name: ``x``, or ``x[1]``."""
        return element_name(self.input, self.place)


def one_sided_derivatives(run: SweptRun) -> dict[str, OneSided]:
    """Find one-sided derivatives for each number affected by a kink, a jump or a number not finite.

    Over tensors they are by number, such as ``x[1]``.  Empty at a point with none of those, and where
    ``limits.side_limit_reason`` says that it would take too long.
    """
    if not run.wrt or side_limit_reason(run):
        return {}
    over = to_scalar_run(run).run
    if side_limit_reason(over):  # a product of matrices has more nodes than elements
        return {}
    sources = {
        element_name(name, place): (name, place)
        for name in run.wrt
        for place in product(*map(range, run.graph.shape(run.graph.inputs[name])))
    }
    names = concerned_inputs(over)
    if not names:
        return {}
    point, found = build_point_context(over), {}
    for element in names:
        judgement = judge_input_sides(over, element, point)
        if judgement is not None:
            name, place = sources[element]
            found[element] = judgement._replace(input=name, place=place)
    return found


def concerned_inputs(run: SweptRun) -> list[str]:
    """Return the differentiated inputs that need one-sided derivatives."""
    inputs, wrt, swept = run.graph.inputs, run.wrt or (), run.swept
    if math.isnan(run.value):
        behind = dependency_flags(run.graph, *used_poles(run))
        return [name for name in wrt if behind[inputs[name]]]
    finite = [name for name in wrt if math.isfinite(swept[name])]
    if math.isinf(run.value):
        behind = dependency_flags(run.graph, *confirmed_poles(run))
        return [name for name in finite if behind[inputs[name]]]
    behind = dependency_flags(run.graph, *nonsmooth_nodes(run), *confirmed_poles(run))
    return [name for name in wrt if name not in finite or behind[inputs[name]]]


def used_poles(run: SweptRun) -> list[int]:
    """Find the poles that the answer depends on.

    They may have made the value nan, as in 0*log(0), where only a limit would tell it; or the
    sides of the pole lead to different places, as in sign(1/x).
    """
    values = run.values
    met = used_operations(run, live_nodes(run))
    return [node for node, op, seen in met if math.isinf(values[node]) and at_pole(op, seen)]


def confirmed_poles(run: SweptRun) -> list[int]:
    """Find the poles confirmed by the doubles or by the decimals as typed, not made by underflow alone."""
    found = used_poles(run)
    if not found or not has_balls():
        return found
    readings = [
        enclose_nodes(run.graph, run.inputs, BITS, typed=typed) for typed in (None, run.spelled)
    ]
    return [node for node in found if not all(balls[node].is_finite() for balls in readings)]


def judge_input_sides(run: SweptRun, name: str, point: PointContext) -> OneSided | None:
    """Judge one input's sides; None where there is nothing to say.

    That is where the sweep's number is right, and no operand that the input moves meets a kink or a jump.
    An infinite limit is reported only at a jump: 1/x^2 is no pole merely because x^2 underflows.
    """
    value = value_by_sides(run).value if math.isnan(run.value) else run.value
    left, right = (
        refine_by_leading_terms(run, value, name, sign, output_on_side(point, name, sign))
        for sign in (-1.0, 1.0)
    )
    sweep = run.swept[name]
    turned = left.turned or right.turned
    missing = tuple(side for side, t in (("left", left), ("right", right)) if t.state == UNDEFINED)
    if len(missing) == 2:
        return None
    values = [None if t.value is None else t.value + 0.0 for t in (left, right)]
    slopes = [None if t.slope is None else t.slope.value + 0.0 for t in (left, right)]
    verdict, estimated = combine_sides(value, left, right), False
    if not turned and math.isnan(sweep) and slopes[0] == slopes[1] in (math.inf, -math.inf):
        verdict = "undecided"  # what overflowed on the way is no vertical tangent
        slopes = [None, None]
    if not turned and any(value is not None and math.isinf(value) for value in values):
        return None
    corrected = False
    if verdict == "exists":
        corrected = is_sweep_wrong(left, sweep) and is_sweep_wrong(right, sweep)
        exact = slopes[1] if corrected else sweep + 0.0
        slopes = [exact, exact]
    elif verdict == "undecided" and not math.isinf(run.value):
        from exprgrad.explain.checking.differences import guess_both_sides

        for at, (side, guess) in enumerate(
            zip((left, right), guess_both_sides(run, name), strict=True)
        ):
            if side.state != UNDEFINED and slopes[at] is None:
                slopes[at] = guess.slope
                values[at] = guess.limit if values[at] is None else values[at]
                estimated |= guess != (None, None)
        if not turned and values == [None, None] and slopes == [sweep, sweep]:
            return None
    known = verdict in ("exists", "kink") and all(slope in (None, sweep) for slope in slopes)
    if known and not (turned and math.isfinite(sweep)):
        return None
    return OneSided(
        name, slopes[0], slopes[1], values[0], values[1], sweep, verdict, estimated, corrected,
        missing, abs(right.off.value - left.off.value),
        error=0.0 if right.slope is None else right.slope.error,
    )  # fmt: skip


def refine_by_leading_terms(
    run: SweptRun, value: float, name: str, sign: float, found: OneSidedOutput
) -> OneSidedOutput:
    """Refine a side that only higher-order terms decide, by its leading terms."""
    if found.slope is not None or found.state == UNDEFINED or not math.isfinite(value):
        return found
    slope = leading_slope(run, value, name, sign)
    return found if slope is None else found._replace(state="", value=value, slope=slope)


def combine_sides(value: float, left: OneSidedOutput, right: OneSidedOutput) -> str:
    """Combine two sides and the output's value into a verdict."""
    if any(side.value is not None and side.value != value for side in (left, right)):
        return "jump"
    if any(side.slope is None and side.state != UNDEFINED for side in (left, right)):
        return "undecided"
    slopes = [side.slope for side in (left, right) if side.slope is not None]
    both_finite = len(slopes) == 2 and all(math.isfinite(slope.value) for slope in slopes)
    if not both_finite or not has_equal_slopes(left, right):
        return "kink"
    # Slopes need two digits, unless the sweep's number can stand for them.
    doubtful = [side.slope for side in (left, right) if not math.isfinite(side.off.value)]
    are_certain = all(s is not None and s.error <= SURE * abs(s.value) for s in doubtful)
    return "exists" if are_certain else "undecided"


def has_equal_slopes(left: OneSidedOutput, right: OneSidedOutput) -> bool:
    """Whether the derivatives from the sides are equal within rounding.

    Their distances from the sweep's number are compared, where that is finite: they are 0 as long as no
    convention is wrong.
    """
    one, other = left.off, right.off
    if not (math.isfinite(one.value) and math.isfinite(other.value)):
        assert left.slope is not None and right.slope is not None
        one, other = left.slope, right.slope
    return abs(one.value - other.value) <= one.error + other.error


def is_sweep_wrong(side: OneSidedOutput, sweep: float) -> bool:
    """Whether the sweep's number differs from the derivative by more than rounding."""
    if not math.isfinite(sweep):
        return True
    off = side.off
    if math.isnan(off.value):
        assert side.slope is not None
        off = Measured(side.slope.value - sweep, side.slope.error)
    return abs(off.value) > off.error


def derivative_corrections(
    run: SweptRun, found: Mapping[str, OneSided]
) -> dict[str, tuple[Any, Any]]:
    """Return, by input, the sweep's number and the derivative, where that exists and differs.

    For a tensor these are all its numbers.
    """
    corrected: dict[str, tuple[Any, Any]] = {}
    for side in found.values():
        if side.corrected and side.right is not None:
            if not side.place:
                corrected[side.input] = side.sweep, side.right
                continue
            if side.input not in corrected:
                sweep = run.swept[side.input]
                corrected[side.input] = sweep, sweep.copy()
            corrected[side.input][1][side.place] = side.right
    return corrected


# In words.


def side_verdicts(run: SweptRun, found: Mapping[str, OneSided]) -> Iterator[Diagnostic]:
    """Yield the verdicts of the sides, input by input; the first of each kind has help.

    Of a tensor's numbers with the same verdict only the first is reported.
    """
    alike = collect_by_key(
        ((side.input, "corrected" if side.corrected else side.verdict), side)
        for side in found.values()
    )
    helped = set()
    for (name, code), (side, *others) in alike.items():
        severity = "note" if code == "exists" else "warning"
        node = run.graph.inputs[name]
        help = None if code in helped else HELP[code]
        helped.add(code)
        if code == "undecided":
            help = help and explain_undecided_side(run, side)
        text = side_message(run, side) + format_more_alike(len(others), name)
        yield Diagnostic(code, severity, text, node, run.graph.span(node), help)


def format_more_alike(more: int, name: str) -> str:
    """Write that the same holds for more numbers of a tensor."""
    return f"; and alike for {more:,} more number{'s' * (more > 1)} of {name}" if more else ""


HELP = {
    "exists": None,
    "corrected": "the gradient is corrected; nodes, edges and trace keep the sweep's numbers",
    "kink": "there is no derivative here: what is returned is a convention",
    "jump": "there is no derivative at a jump; what is returned is a convention",
    "undecided": "terms of higher order tell the sides apart",
}


def explain_undecided_side(run: SweptRun, side: OneSided) -> str:
    """Explain why no rule decides the sides, and what there is instead."""
    why = HELP["undecided"]
    if any(first_place(abs(value) == math.inf) for value in run.values):
        why = "a value on the way is infinite, so that no rule can tell"
    elif side.left == side.right is not None:
        why = "only terms of higher order would tell"
    is_told = side.estimated or None not in (side.left, side.right)
    return f"{why}; {'estimates are by differences' if is_told else 'differences gave no estimate'}"


def side_message(run: SweptRun, side: OneSided) -> str:
    """Write one input's verdict."""
    name, returned = side.name, number_text(side.sweep + 0.0)
    if side.verdict == "exists":
        assert side.right is not None
        text = f"the partial derivative along {name} exists and is {number_text(side.right)}"
        if side.corrected:
            whose = "composed convention" if math.isfinite(side.sweep) else "sweep"
            text += f"; the {whose}'s {returned} is wrong"
        return text
    text = f"{side.verdict} along {name}: {', '.join(side_findings(run, side))}"
    if side.verdict != "kink" and limits_text(run, side):
        return text
    text += f", returned {returned}"
    if side.verdict == "kink" and side.left == side.right and math.isfinite(side.apart):
        text += f" (they are {number_text(side.apart)} apart)"
    return text


def side_findings(run: SweptRun, side: OneSided, write: Notation = number_text) -> list[str]:
    """Write the sides' findings: the slopes, or the value and its limits, where these differ."""
    if side.verdict != "kink" and (told := limits_text(run, side, write)):
        return [f"the value is {write(run.value + 0.0)}", told]
    if side.verdict == "undecided" and side.estimated and side.left == side.right is not None:
        return [f"differences say about {write(side.right)} on both sides"]
    slopes = {"left": side.left, "right": side.right}
    return [slope_text(side, word, slope, write) for word, slope in slopes.items()]


def limits_text(run: SweptRun, side: OneSided, write: Notation = number_text) -> str:
    """Write the output's limits, where they differ from its value."""
    one, many = ("seems to be", "seem to be") if side.estimated else ("is", "are")
    sides = {"the left": side.left_value, "the right": side.right_value}
    told = {w: write(v) for w, v in sides.items() if v is not None and v != run.value}
    if len(told) == 2 and len(set(told.values())) == 1:
        told = {"both sides": told["the left"]}
    if len(told) == 2:
        return f"its limits {many} {' and '.join(f'{v} from {w}' for w, v in told.items())}"
    return "".join(f"its limit from {word} {one} {value}" for word, value in told.items())


def slope_text(side: OneSided, word: str, slope: float | None, write: Notation) -> str:
    """Write a one-sided derivative."""
    if word in side.missing:
        return f"not defined on the {word}"
    if slope is None:
        return f"{word} unknown"
    return f"{word} {'about ' if side.estimated else ''}{write(slope)}"


# Edges of a formula's domain.


def one_sided_notes(run: SweptRun, told: Container[str]) -> Iterator[Diagnostic]:
    """Yield a note for each derivative that is from one side, unless it has a message in ``told``.

    Of a tensor's numbers that end at one node only the first is noted.
    """
    if not is_finite(run.value) or side_limit_reason(run):
        return
    numbers = to_scalar_run(run)
    over = numbers.run
    if side_limit_reason(over):
        return
    graph = over.graph
    ends = [  # where the slope is finite, or at a pole
        node
        for node, op, seen in used_operations(over, live_nodes(over))
        if at_pole(op, seen)
        or (op.finite_boundary and condition_holds(op.finite_boundary, op.names, seen))
    ]
    behind = dependency_flags(graph, *ends)
    names = [name for name in over.wrt or () if behind[graph.inputs[name]] and name not in told]
    point = build_point_context(over) if names else None
    alike: dict[tuple[str, int], list[Diagnostic]] = {}
    for name in names:
        if point is None or not math.isfinite(over.swept[name]):
            continue
        left, right = (output_on_side(point, name, sign) for sign in (-1.0, 1.0))
        missing, there = ("left", right) if left.state == UNDEFINED else ("right", left)
        if {left.state, right.state} != {UNDEFINED, ""} or there.slope is None:
            continue
        node = next(node for node in ends if dependency_flags(graph, node)[graph.inputs[name]])
        side = "right" if missing == "left" else "left"
        message = (
            f"the derivative along {name} is {number_text(there.slope.value + 0.0)} from the {side} alone: "
            f"{over.label(node)} is not defined on the {missing}"
        )
        place = numbers.origin(node)
        found = Diagnostic("edge", "note", message, place, graph.span(node), None)
        alike.setdefault((name.partition("[")[0], place), []).append(found)
    for (name, _), (first, *others) in alike.items():
        yield first._replace(message=first.message + format_more_alike(len(others), name))


# Derivatives inside of a formula that exist and are nan in doubles, as d((x^2)^1.5, x, 2) is at 0: each is
# the slope, on both sides, of what it is the first derivative of.


def value_by_sides(run: SweptRun) -> Measured:
    """Recompute a nan value from the derivatives in it that exist; it may stay nan."""
    unknown = {
        call.span: call.result
        for call in run.graph.calls
        if call.kind == "derivative" and math.isnan(run.values[call.result])
    }
    typed = parse_text(run.text) if unknown else run.graph
    nodes = [node for node, kind in enumerate(typed.kinds) if kind == "derivative"]
    times = Counter(map(typed.span, nodes))  # what is written once in a loop is there several times
    known = {
        unknown[typed.span(node)]: two_sided_slope(run, typed, node)
        for node in nodes
        if typed.span(node) in unknown and times[typed.span(node)] == 1
    }

    def step(graph: Graph, node: int, operands: Sequence[Measured]) -> Measured:
        return known[node] if node in known else RUNNING.apply(graph, node, operands)

    given = {name: Measured(value) for name, value in run.inputs.items()}
    return interpret(run.graph, Algebra(RUNNING.constant, step), given)[run.graph.output]


def two_sided_slope(run: SweptRun, typed: Graph, node: int) -> Measured:
    """Return the derivative inside a formula at a node, where both sides agree; else nan."""
    body, variable = typed.operands[node]
    (order,) = cast("tuple[int]", typed.payloads[node])
    before, name = shallow_copy_graph(typed), str(typed.payloads[variable])
    before.output, before.payloads = body if order == 1 else node, [*typed.payloads]
    before.payloads[node] = (order - 1,)
    if typed.kinds[variable] != INPUT:
        return Measured(math.nan)
    graph = complete_graph(before, run.text)
    graph.calls = []  # its derivatives are not the text's
    inputs = {name: run.inputs[name] for name in graph.inputs}
    side = one_sided_derivatives(SweptRun.of(run.text, evaluator_for(graph), inputs, (name,))).get(
        name
    )
    if side is None or side.right is None or side.verdict != "exists":
        return Measured(math.nan)
    return Measured(side.right, side.error)
