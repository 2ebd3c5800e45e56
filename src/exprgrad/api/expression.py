"""Formulas and their evaluations as people use them: every way to work one out, write it and draw it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from functools import cached_property, partial
from itertools import chain
from typing import TYPE_CHECKING, Any
from warnings import warn

from exprgrad.derive.parsed import parse_and_derive
from exprgrad.errors import (
    Asker,
    DigitsWarning,
    InputError,
    RequestError,
    ShapeError,
    require_kind,
    whole_number,
)  # fmt: skip
from exprgrad.explain import diagnostics
from exprgrad.explain.limits import COUNTED, LISTED_PATHS, check_significant_digits
from exprgrad.graph.graph import (
    Graph,
    Program,
    Shape,
    is_scalar,
    limit_text,
    same_graph,
    unread_statement_views,
)
from exprgrad.language.read.parse import at_shapes, need_number
from exprgrad.language.write.infix import number_text, program_text
from exprgrad.run.evaluation import (
    NOTHING,
    Evaluator,
    adjoints_of,
    evaluator_for,
    remember,
    shapes_of,
)
from exprgrad.run.values.inputs import (
    FLOAT,
    as_number,
    asked_names,
    declared_shapes,
    has_parts,
    missing_values,
    normal_name,
    not_an_input,
    resolve_inputs,
    select_inputs,
    unexpected_uncertainty,
    value_texts,
)
from exprgrad.source import WIDTH

if TYPE_CHECKING:
    from os import PathLike
    from pathlib import Path

    from exprgrad.api.displays import Course, DerivativesByName
    from exprgrad.api.fits import Fitted
    from exprgrad.api.minima import Minimized
    from exprgrad.api.roots import Solved
    from exprgrad.data.grids import RangeTable
    from exprgrad.explain.checking.check import Check
    from exprgrad.explain.derivatives import Derivatives
    from exprgrad.explain.digits.trust import Trust
    from exprgrad.explain.walks import Paths, VisitResult
    from exprgrad.run.engines.compiled import Compiled
    from exprgrad.run.engines.point_function import PointFunction
    from exprgrad.run.matrices import DerivativeKind
    from exprgrad.run.values.uncertain import Spread
    from exprgrad.show.page.lessons import Formula, Lesson
    from exprgrad.show.page.page import Page
    from exprgrad.show.picture.curves import Plot
    from exprgrad.solvers.uncertainty.propagation import Uncertainty

__all__ = ["Expression", "Gradient", "Run", "from_latex", "parse", "run_of_formula"]

MOST_SHAPES = 8
"""The number of input shapes for which evaluators are kept."""
HIGHEST = 100
"""The highest order of a derivative: formulas grow with it."""


def parse(
    text: str, *, shapes: Mapping[str, Sequence[int]] | None = None, limit: int | None = None
) -> Expression:
    """Read a formula.  Raises ``LanguageError``, with the place, where it is not in the language.

    ``shapes`` are those of inputs that are tensors, ``{"X": (150, 4)}``, for derivatives as formulas and
    for code, which have no values.  Raises ``ShapeError`` where they do not fit.
    ``limit`` is the most steps of each stage of the work, 10**8 by default, and more for long texts;
    longer work raises ``RequestError``, with the code ``too-large``.
    """
    if not isinstance(text, str):
        raise not_a_text(text)
    if limit is not None:
        require_kind(limit, int, "a limit is a whole number of steps")
        if limit < 1:
            raise RequestError(
                "usage", f"a limit is a whole number of steps, at least 1, not {limit}"
            )
        text = limit_text(text, limit)
    graph = parse_and_derive(text)
    return Expression(text, graph, shapes=declared_shapes(graph, shapes))


def from_latex(text: str, *, shapes: Mapping[str, Sequence[int]] | None = None) -> Expression:
    r"""Read a formula in LaTeX: ``from_latex(r"\frac{1}{2} m v^2")``; its ``text`` is as we write it.

    ``shapes`` are those of ``parse``.  Raises ``LanguageError``, with the place, for what has two meanings
    or none.
    """
    from exprgrad.language.read.latex import formula_from_latex as ours

    if not isinstance(text, str):
        raise not_a_text(text)
    return parse(ours(text), shapes=shapes)


def by_name(inputs: Sequence[str]) -> InputError:
    """The error for values without names."""
    names = ", ".join(f"{name}=…" for name in inputs[:8]) + ", …" * (len(inputs) > 8)
    return InputError(
        "bad-value", "values are given by name", help=f"write f({names}), or f({{…}})"
    )


def not_a_text(formula: object) -> TypeError:
    """Make the error for an object that is not a formula, with how to turn it into one."""
    message = f"a formula is a string, not {type(formula).__name__}"
    if isinstance(formula, Expression):
        message += ": this is one that has been read"
    elif callable(formula):
        message += ": a function of Python's is written out, 'x^2' for lambda x: x**2"
    elif hasattr(formula, "free_symbols"):
        message += ": str(…) of it is one"
    return TypeError(message)


def rebuild_derivative(
    text: str,
    known: tuple[str, ...],
    shapes: Mapping[str, Shape] | None = None,
    names: Collection[str] = (),
) -> Expression:
    """Build a derivative from its text, also to unpickle or copy it; ``names`` are of opened calls."""
    return Expression(text, with_opened(parse_and_derive(text), names), known, shapes)


def opened_in(graph: Graph) -> list[str]:
    """The names of the calls that are opened."""
    return sorted({call.word for call in graph.calls if call.opened})


def with_opened(graph: Graph, names: Collection[str]) -> Graph:
    """A graph with the calls of some names opened."""
    if not names:
        return graph
    from exprgrad.graph.calls import open_calls

    return open_calls(graph, names)


def order_in(order: object, known: Container[int], what: str, help: str) -> int:
    """Return the order of a derivative; raise ``RequestError`` unless it is one of those known."""
    times = whole_number(order)
    if times is None or times not in known:
        raise RequestError("bad-order", f"there is no {what} of order {order!r}", help=help)
    return times


class Gradient(dict[str, Any]):
    """A gradient as the sweep found it; it prints as the true one, with warnings.

    ``true`` has the true one, computed when it is read.  Copied or pickled it is a dictionary.
    """

    __slots__ = ("run",)
    run: Run

    @property
    def true(self) -> dict[str, Any]:
        """The gradient that the command prints: corrected where fewer than 6 digits are right."""
        return self.run.guarded(COUNTED, has_value=False).gradient

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, ({**self},)

    def __repr__(self) -> str:
        from exprgrad.api.displays import corrected_text, warning_texts

        run, true = self.run, self.run.guarded(COUNTED, has_value=False)
        told = warning_texts(diagnostics.merge_remarks(run.remarks, true), run.text)
        return corrected_text(true.gradient, super().__repr__(), told)


def known_inputs(formula: Expression) -> tuple[str, ...]:
    """The inputs of a formula, and of the one that it is the derivative of."""
    return tuple(dict.fromkeys([*formula.inputs, *formula.known]))


def as_formula(value: object, name: str) -> Expression:
    """Return the formula that replaces an input: an expression, a text, or a number."""
    if isinstance(value, Expression):
        return value
    return parse(value if isinstance(value, str) else number_text(as_number(value, name)))


def replace_inputs(formula: Expression, formulas: Mapping[str, Expression]) -> Expression:
    """Put formulas in the place of inputs; the shapes that were given stay known."""
    from exprgrad.language.write.combine import substitute_inputs

    parts = {name: part.graph for name, part in formulas.items()}
    shapes = {name: shape for name, shape in formula.shapes.items() if name not in parts}
    for part in formulas.values():
        shapes |= part.shapes
    made = parse(substitute_inputs(formula.graph, parts))
    made.shapes = {name: shape for name, shape in shapes.items() if name in made.graph.inputs}
    return made


def is_combined(value: object) -> bool:
    """Whether an operator puts a value together with a formula: another formula, or a real number."""
    from numbers import Real

    return isinstance(value, Expression | Real)


FormulaOperator = Callable[["Expression", "Expression | float"], "Expression"]


def formula_operators(sign: str) -> tuple[FormulaOperator, FormulaOperator]:
    """An operator of formulas and numbers, and the same with its operands exchanged."""
    pattern = f"f {sign} g"

    def combine(one: object, other: object) -> Any:
        if not (is_combined(one) and is_combined(other)):
            return NotImplemented
        formulas = {"f": as_formula(one, "f"), "g": as_formula(other, "g")}
        return replace_inputs(parse(pattern), formulas)

    return combine, lambda one, other: combine(other, one)


class Drawn:
    """An object with a picture: in a file, and in a notebook if Graphviz is installed."""

    dot: Callable[..., str]

    def svg(self, **options: Any) -> str:
        """The picture as SVG; the options are those of ``dot``.

        Raises ``MissingExtraError`` without Graphviz.
        """
        from exprgrad.show.picture.picture import draw

        return draw(self, **options).svg()

    def save(self, path: str | Path, **options: Any) -> None:
        """Write the picture to a ``.dot``, ``.svg``, ``.png`` or ``.pdf`` file; options as in ``dot``."""
        from exprgrad.show.picture.picture import draw

        draw(self, **options).save(path)

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        from exprgrad.show.picture.picture import notebook_bundle

        return notebook_bundle(str(self), self.svg)


class Expression(Drawn):
    """A formula, read once and evaluated as often as you like.

    ``f(x=2)`` is its value, ``f.grad(x=2)`` its gradient, ``f.gradient(x=2)`` a run, with the way there.

    ``text`` is what was typed, ``graph`` its computation graph, ``inputs`` the names it reads, in
    order of appearance.  ``known`` are the inputs of the formula that it is the derivative of: it takes
    values for those too, read or not.  ``shapes`` are the inputs' shapes that were given: without values
    the other inputs count as numbers.
    """

    def __init__(
        self,
        text: str,
        graph: Graph | None = None,
        known: tuple[str, ...] = (),
        shapes: Mapping[str, Shape] | None = None,
    ) -> None:
        self.text = text
        self.graph: Graph = parse_and_derive(text) if graph is None else graph
        self.known = known
        self.shapes: dict[str, Shape] = dict(shapes or {})
        self.by_shape: dict[object, Evaluator] = {}

    @cached_property
    def typed(self) -> Graph:
        """The graph for the shapes that were given, the other inputs being numbers."""
        shapes = {**dict.fromkeys(self.graph.inputs, ()), **self.shapes}
        try:
            return at_shapes(self.graph, self.text, shapes)
        except ShapeError as error:
            from exprgrad.language.read.shaping import suggest_shape_option

            error.help = suggest_shape_option(error, self.graph, self.shapes)
            raise

    @cached_property
    def for_people(self) -> Expression:
        """The formula with inner derivatives in the rules as they are displayed, to print or to derive."""
        if all(call.kind != "derivative" for call in self.graph.calls):
            return self
        from exprgrad.derive.rules import shown

        return Expression(
            self.text, parse_and_derive(self.text, rule=shown), self.known, self.shapes
        )

    @property
    def drawn(self) -> Graph:
        """The graph that people look at: if no shapes were given, every input may be a tensor."""
        return self.typed if self.shapes else self.graph

    @cached_property
    def is_elementwise(self) -> bool:
        """Whether the formula is one of numbers: given columns, it has a result in every row."""
        return is_scalar(self.graph)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names that the expression reads, in order of appearance."""
        return tuple(self.graph.inputs)

    def named(
        self, values: Mapping[str, object] | None, inputs: Mapping[str, object]
    ) -> dict[str, object]:
        """Values by name, from a mapping and from keywords; a value alone is that of the only input."""
        if type(values) is dict and not inputs:
            return values
        if values is None or isinstance(values, Mapping):
            return {**(values or {}), **inputs}
        if len(self.graph.inputs) == 1 and not inputs:
            return dict.fromkeys(self.graph.inputs, values)
        raise by_name(self.inputs)

    def given(
        self,
        values: Mapping[str, object] | None,
        inputs: Mapping[str, object] = NOTHING,
        *,
        partly: bool = False,
    ) -> dict[str, Any]:
        """Every input's value, from a mapping and from keywords: a float, or a NumPy array."""
        wanted = self.named(values, inputs)
        if self.known:
            unread = set(self.known).difference(self.graph.inputs)
            wanted = {name: value for name, value in wanted.items() if name not in unread}
        return resolve_inputs(self.graph, self.text, wanted, partly=partly)

    def at(
        self, values: Mapping[str, object] | None, inputs: Mapping[str, object] = NOTHING
    ) -> tuple[Evaluator, dict[str, Any]]:
        """Return the evaluator for some values, and the values."""
        given = self.given(values, inputs)
        return self.evaluator(given), given

    def __call__(self, /, *values: Any, **inputs: object) -> Any:
        """The value alone: ``f(x=1, y=2)``, or ``f(2)`` where there is one input.

        Values are as in ``evaluate``; uncertain values give an uncertain one.  Arrays and lists give the
        value in every row, for which the formula is compiled (see ``compile``), unless it is one of
        tensors.  It is the sweep's number: ``exprgrad.eval`` and ``f.evaluate(…).true`` have the true one.
        """
        if len(values) > 1:
            raise by_name(self.inputs)
        merged = self.named(values[0] if values else None, inputs)
        if self.in_rows(merged):
            return self.columns(merged).value
        run = self.evaluate(merged)
        return run.value if run.spread is None else run.uncertainty.number

    def grad(
        self,
        values: Mapping[str, object] | None = None,
        /,
        *,
        wrt: Iterable[str] | None = None,
        **inputs: object,
    ) -> dict[str, Any]:
        """The gradient alone, by input: ``f.grad(x=1, y=2)``; arrays give it in every row.

        Values and ``wrt`` are as in ``gradient``, which also shows how it comes about.  It is the sweep's;
        ``.true`` has the true one.
        """
        merged = self.named(values, inputs)
        if not self.in_rows(merged):
            run = self.gradient(merged, wrt=wrt)
            gradient = Gradient(run.gradient)
            gradient.run = run
            return gradient
        chosen, found = select_inputs(self.graph, wrt), self.columns(merged).gradient
        return {name: found[name] for name in chosen}

    @cached_property
    def columns(self) -> Compiled:
        """The formula for columns, compiled once."""
        return self.compile()

    def in_rows(self, values: Mapping[str, object]) -> bool:
        """Whether some of the values are columns, and the formula is one of numbers."""
        columns = (has_parts(value) for value in values.values() if not isinstance(value, str))
        return any(columns) and not self.shapes and self.is_elementwise

    def evaluate(self, values: Mapping[str, object] | None = None, /, **inputs: object) -> Run:
        """Run the forward sweep: every node's data.

        Values are numbers, or constant expressions as text (``"pi/2"``), or uncertain (``"2.0±0.1"``,
        ``exprgrad.uncertain(2.0, 0.1)``).  Names that cannot be keywords go into the mapping.  Raises
        ``InputError`` for a missing or surplus value.
        """
        values = self.named(values, inputs)
        try:
            evaluator, given = self.at(values)
        except InputError as error:
            return run_around(error, values, self.evaluate)
        return Run.of(self.text, evaluator, given, spelled=value_texts(values))

    def evaluator(
        self, given: Mapping[str, Any], origins: Mapping[str, str] | None = None
    ) -> Evaluator:
        """Return the evaluator for values of these shapes; some evaluators are kept.

        ``origins`` says where a value came from, such as a file.  Raises ``ShapeError`` where the
        shapes do not fit.
        """
        if not origins and FLOAT.issuperset(map(type, given.values())):
            return self.at_numbers
        return self.for_shapes(shapes_of(given), origins)

    @cached_property
    def at_numbers(self) -> Evaluator:
        """The evaluator where every input is a number."""
        return self.for_shapes(dict.fromkeys(self.graph.inputs, ()))

    def for_shapes(
        self, shapes: Mapping[str, Shape], origins: Mapping[str, str] | None = None
    ) -> Evaluator:
        """Return the evaluator, given every input's shape, in order."""
        return remember(
            self.by_shape,
            tuple(shapes.values()),
            lambda: evaluator_for(at_shapes(self.graph, self.text, shapes, origins)),
            MOST_SHAPES,
        )

    def gradient(
        self,
        values: Mapping[str, object] | None = None,
        /,
        *,
        wrt: Iterable[str] | None = None,
        **inputs: object,
    ) -> Run:
        """Run both sweeps: every node's data and grad.

        ``wrt`` chooses the inputs to differentiate, all by default.  Values are as in ``evaluate``.
        """
        values = self.named(values, inputs)
        names, numbers = self.graph.inputs, FLOAT.issuperset(map(type, values.values()))
        if numbers and values.keys() == names.keys():
            point = {name: values[name] for name in names}
            run = Run.at_plain_point(
                self.text, self.at_numbers, point, select_inputs(self.graph, wrt)
            )
            if run is not None:
                return run
        try:
            evaluator, given = self.at(values)
        except InputError as error:
            return run_around(error, values, partial(self.gradient, wrt=wrt))
        chosen = select_inputs(self.graph, wrt)
        try:
            return self.swept(evaluator, given, chosen, value_texts(values))
        except ShapeError as error:
            if self.is_elementwise:
                error.help = (
                    "f.grad(x=…) is the gradient in every row, and so is f.compile()(columns)"
                )
            raise

    def swept(
        self,
        evaluator: Evaluator,
        given: Mapping[str, Any],
        wrt: tuple[str, ...],
        texts: Mapping[str, str] = NOTHING,
    ) -> Run:
        """Run both sweeps at values and inputs that were checked: see ``evaluator``.

        ``texts`` are those of inputs, as ``Run.spelled`` has them.
        """
        need_number(evaluator.graph, self.text, "grad")
        return Run.of(self.text, evaluator, given, wrt, texts)

    def searched(
        self, values: Mapping[str, object], wrt: Iterable[str] | None, command: str
    ) -> tuple[Graph, dict[str, Any], tuple[str, ...], Callable[[Mapping[str, Any]], Run]]:
        """Prepare a search: return graph, start, the inputs that move, and the run at any point."""
        evaluator, given = self.at(values)
        chosen = select_inputs(self.graph, wrt)
        need_number(evaluator.graph, self.text, command)
        texts = {**value_texts(values), **dict.fromkeys(chosen, "")}  # where it ends was not typed
        return (
            evaluator.graph,
            given,
            chosen,
            partial(self.swept, evaluator, wrt=chosen, texts=texts),
        )

    def descend(
        self,
        values: Mapping[str, object] | None = None,
        /,
        *,
        rate: float | None = None,
        steps: int = 20,
        momentum: float | None = None,
        adam: bool = False,
        line_search: bool = False,
        wrt: Iterable[str] | None = None,
        **inputs: object,
    ) -> Course[Run]:
        """Gradient descent from some inputs: ``steps`` times, each moves by -``rate`` times its grad.

        The rate is 0.1 if none is given; a negative one climbs.  ``momentum`` is the part of the last
        update that stays, as in PyTorch's SGD, and with ``adam`` steps are Adam's.  With ``line_search``
        the rate, 1 if none is given, is the first that is tried, and halved until the value falls enough.
        ``wrt`` chooses the inputs that move, all by default; the others stay.  The answer has every step,
        and says how it ended: see ``Course``.  Warns with ``DigitsWarning`` of steps with fewer than 6
        right digits of the value or a grad.
        """
        from exprgrad.api.displays import Course
        from exprgrad.explain.descent import choose_method, descend_gradient, lost_step_warnings

        _, given, chosen, at = self.searched(self.named(values, inputs), wrt, "descend")
        require_kind(adam, bool, "adam is True or False")
        require_kind(line_search, bool, "line_search is True or False")
        part = None if momentum is None else as_number(momentum, "momentum")
        method = choose_method(part, adam=adam, line_search=line_search)
        size = method.usual_rate if rate is None else as_number(rate, "rate")
        found = Course(*descend_gradient(at, given, chosen, size, steps, method))
        for one in lost_step_warnings(found):
            if not Asker.by_command:
                warn(one.message, DigitsWarning, stacklevel=2)
        return found

    def table(
        self,
        values: Mapping[str, object] | None = None,
        /,
        *,
        order: int = 1,
        wrt: Iterable[str] | None = None,
        elastic: bool = False,
        **inputs: object,
    ) -> RangeTable:
        """Value and derivatives at each point of ranges: ``f.table(x="0:10:101", y="1:1e6:log:61", z=2)``.

        A range is ``start:stop:count`` or ``start:stop:log:count``, both ends among its points; of several,
        the last varies fastest.  ``order`` 0 finds values alone, 1 the gradient, 2 second derivatives, too;
        with ``elastic`` the gradient comes with elasticities, x/f times it.
        Other values and ``wrt`` are as in ``gradient``.  The numbers are those that commands print at the
        points: corrected at kinks and where digits are lost, of up to 1,000 rows each.
        """
        from exprgrad.data.grids import make_grid, tabulate_grid

        times = order_in(
            order,
            range(3),
            "table",
            "0 is for values, 1 for the gradient, 2 for second derivatives",
        )
        if elastic and times != 1:
            raise RequestError(
                "usage", "elasticities are those of a gradient", help="leave out order"
            )
        given = self.named(values, inputs)
        return tabulate_grid(make_grid(self.graph, self.text, given, wrt, times, elastic=elastic))

    def fit(
        self,
        response: str,
        data: object,
        start: Mapping[str, object] | None = None,
        /,
        **options: Any,
    ) -> Fitted:
        """The parameters that bring the formula nearest to a response: ``f.fit("y", data, a=1, k=0.1)``.

        The response is a column, or a formula of columns.  All else is as in ``exprgrad.fit``.
        """
        from exprgrad.api.fits import fit, model_text

        require_kind(response, str, "a response is a string, such as 'y' or 'log(y)'")
        return fit(model_text(response, self.text, self.graph), data, start, **options)

    def plot(
        self,
        values: Mapping[str, object] | None = None,
        /,
        *,
        order: int = 1,
        shown: object = None,
        tangent: object = None,
        descend: Mapping[str, object] | None = None,
        rate: float | None = None,
        steps: int = 20,
        **inputs: object,
    ) -> Plot:
        """The curve over the range of an input, ``f.plot(x=(-5, 5))``, and what is worth a mark on it.

        The other inputs have values; an input alone that has none goes from -10 to 10.  ``order`` is that
        of the highest derivative that is drawn, 2 at most; ``shown`` are the values that are shown, from
        low to high; ``tangent`` is where to draw one.  A range is a pair or a text, ``"-5:5"``.  Named
        statements that no other one reads are drawn as well.

        Over the ranges of two inputs it is a map with contours and the gradient's field, and with the path
        of a descent whose start is ``descend``; ``rate`` and ``steps`` are then as in ``descend``.
        """
        from exprgrad.show.picture.curves import PlaneMap, Plot
        from exprgrad.solvers.curves.curve import Curve, curve_or_plane, plane_with_descent

        meaning = "0 is for the value alone, 1 for the derivative, 2 for the second one, too"
        times = order_in(order, range(3), "plot", meaning)
        given = self.named(values, inputs)
        options = {"descend", "order", "rate", "shown", "steps", "tangent"}
        for name in self.graph.inputs.keys() & options - given.keys():
            # It is not drawn over its usual range.
            raise missing_values(self.graph, self.text, [name])
        found = curve_or_plane(self.graph, self.text, given, shown, tangent)
        if isinstance(found, Curve):
            if descend is not None:
                raise RequestError("usage", "a descent is drawn over the ranges of two inputs")
            views = unread_statement_views(self.graph, found.name).items()
            curves = {n: curve_or_plane(one, self.text, given, shown) for n, one in views}
            others = {n: one for n, one in curves.items() if isinstance(one, Curve)}
            return Plot(found, times, others)
        if times == 2:
            raise RequestError("usage", "second derivatives are drawn over the range of one input")
        if descend is not None:
            require_kind(descend, Mapping, "the start of a descent is a mapping, such as {'x': -1}")
            start = resolve_inputs(self.graph, self.text, {**found.given, **descend})
            course = self.descend(start, rate=rate, steps=steps, wrt=found.names)
            found = plane_with_descent(found, course)
        return PlaneMap(found)

    def minimize(
        self,
        values: Mapping[str, object] | None = None,
        /,
        *,
        wrt: Iterable[str] | None = None,
        bounds: Mapping[str, object] | None = None,
        subject: str | Iterable[str] = (),
        maximize: bool = False,
        steps: int | None = None,
        starts: int = 1,
        seed: int = 0,
        **inputs: object,
    ) -> Minimized[Run]:
        """Search for a minimum from some inputs, by Newton's method within a trust region, and judge it.

        ``wrt`` chooses the inputs that move, all by default.  ``bounds`` are intervals by name, ``(0,
        inf)`` or ``"0:inf"``, ``subject`` constraints as texts, ``"x^2 + y^2 <= 1"``.  With ``maximize``
        the value is made large.  ``steps`` is the most steps to take; 0 judges the start.  Of several
        ``starts`` the first is the one given, others are drawn around it, or within bounds, by ``seed``.
        See ``Minimum``.
        """
        from exprgrad.api.minima import Minimized
        from exprgrad.run.values.ranges import as_interval
        from exprgrad.solvers.minima.minimize import Wanted, minimize_formula

        graph, given, chosen, at = self.searched(self.named(values, inputs), wrt, "minimize")
        ends = {normal_name(n): as_interval(b, n, infinite=True) for n, b in (bounds or {}).items()}
        listed = (subject,) if isinstance(subject, str) else tuple(subject)
        wanted = Wanted(ends, listed, maximize, steps, starts, seed)
        found = Minimized(*minimize_formula(at, graph, given, chosen, wanted))
        found.start = given
        return found

    def solve(
        self,
        values: Mapping[str, object] | None = None,
        /,
        *,
        wrt: Iterable[str] | None = None,
        **unknowns: object,
    ) -> Solved:
        """The roots of the formula: ``f.solve(x=1)`` near a start, ``f.solve(x=(-10, 10))`` in a range.

        All else is as in ``exprgrad.solve``, which takes equations.
        """
        from exprgrad.api.roots import solve
        from exprgrad.language.read.relations import read_relations

        graph, relations = read_relations(self.text)
        equation = self.text if relations else f"{self.text}\n{graph.output_name}"
        return solve(equation, values, wrt=wrt, **unknowns)

    def jacobian(
        self,
        values: Mapping[str, object] | None = None,
        /,
        *,
        wrt: Iterable[str] | None = None,
        of: Iterable[str] | None = None,
        **inputs: object,
    ) -> DerivativesByName:
        """The derivatives of the output with respect to each input; of several outputs, a row for each.

        ``of`` names statements of the expression (``y1 = …; y2 = …``), and the answer is by their
        names, even for one: ``{"y1": {"a": 1.0}}``.  Values and ``wrt`` are as in ``gradient``.

        The numbers are the sweeps'; ``.true`` has those that the command prints, ``.digits`` how many of
        their digits are right.
        """
        from exprgrad.api.displays import DerivativesByName
        from exprgrad.run.matrices import JACOBIAN

        found = self.derivatives(JACOBIAN, self.named(values, inputs), wrt, of)
        return DerivativesByName(found, several=of is not None)

    def derivatives(
        self,
        kind: DerivativeKind,
        values: Mapping[str, object],
        wrt: Iterable[str] | None = None,
        of: Iterable[str] | None = None,
    ) -> Derivatives:
        """Return derivatives of outputs at some values; they are computed when they are read."""
        from exprgrad.explain.derivatives import Derivatives
        from exprgrad.run.matrices import Point

        evaluator, given = self.at(values)
        outputs, chosen = outputs_of(evaluator, of), select_inputs(self.graph, wrt)
        point = Point(evaluator, given, outputs, chosen, spelled=value_texts(values))
        return Derivatives(self.text, point, kind)

    def hessian(
        self,
        values: Mapping[str, object] | None = None,
        /,
        *,
        wrt: Iterable[str] | None = None,
        **inputs: object,
    ) -> DerivativesByName:
        """The output's second derivatives, row by row, zeros filled in; exactly symmetric.

        Values and ``wrt`` are as in ``gradient``.  The numbers are the sweeps'; ``.true`` has those that
        the command prints, ``.digits`` how many of their digits are right.
        """
        from exprgrad.api.displays import DerivativesByName
        from exprgrad.run.matrices import HESSIAN

        found = self.derivatives(HESSIAN, self.named(values, inputs), wrt)
        need_number(found.point.evaluator.graph, self.text, "hess")
        return DerivativesByName(found)

    def hessian_pattern(self, wrt: Iterable[str] | None = None) -> list[tuple[str, str]]:
        """The entries of the Hessian, (row, column), that are not 0 at every point by its structure."""
        from exprgrad.run import matrices

        need_number(self.typed, self.text, "hess")
        shapes = {name: self.shapes.get(name, ()) for name in self.inputs}
        return matrices.nonzero_blocks(self.for_shapes(shapes), select_inputs(self.graph, wrt))

    def jvp(
        self,
        values: Mapping[str, object] | None = None,
        /,
        *,
        tangent: Mapping[str, object],
        of: Iterable[str] | None = None,
        **inputs: object,
    ) -> Any:
        """The output's derivative along a direction; with ``of`` each output's, by name.

        ``tangent`` says how each input moves; 0 holds one fixed.  Values are as in ``evaluate``.  The
        numbers are the sweep's; ``exprgrad jvp`` prints the true ones.
        """
        from exprgrad.run import matrices
        from exprgrad.run.values import directions

        evaluator, given = self.at(values, inputs)
        outputs = outputs_of(evaluator, of)
        direction = directions.read_tangents(evaluator.graph, self.text, tangent)
        found = matrices.jvp_at(matrices.Point(evaluator, given, outputs, (), direction))
        return next(iter(found.values())) if of is None else found

    def vjp(
        self,
        values: Mapping[str, object] | None = None,
        /,
        *,
        cotangent: object = 1.0,
        of: Iterable[str] | None = None,
        wrt: Iterable[str] | None = None,
        **inputs: object,
    ) -> DerivativesByName:
        """The output's derivatives times ``cotangent``, by input.

        With ``of``, the derivative of the outputs' sum, each weighted by its cotangent:
        ``cotangent={"y1": 1, "y2": 0}``; 0 leaves one out.  Values and ``wrt`` are as in ``gradient``.  The
        numbers are the sweep's; ``.true`` has those that the command prints.
        """
        from exprgrad.api.displays import DerivativesByName
        from exprgrad.run.matrices import VJP
        from exprgrad.run.values import directions

        found = self.derivatives(VJP, self.named(values, inputs), wrt, of)
        outputs, graph = found.point.outputs, found.point.evaluator.graph
        weights = directions.read_cotangents(graph, self.text, outputs, cotangent)
        found.point = found.point._replace(direction=weights)
        return DerivativesByName(found)

    def check(
        self,
        values: Mapping[str, object] | None = None,
        /,
        *,
        wrt: Iterable[str] | None = None,
        nodes: Iterable[str | int] | None = None,
        h: float | str | None = None,
        claims: Mapping[str, object] | None = None,
        **inputs: object,
    ) -> list[Check]:
        """The gradient against numbers, with a verdict for each input.

        ``nodes`` are checked instead of the inputs: names, numbers or texts of nodes.  With ``h`` they are
        bumped by that step, as in the lesson.  ``claims`` are derivatives found by hand, ``{"a": "b*c"}``,
        or expressions; they are checked alone, at the values that are given and at points of our choice
        for the others, and raise ``MissingExtraError`` without python-flint.  Values and ``wrt`` are as in
        ``gradient``.
        """
        from exprgrad.api.displays import as_checks
        from exprgrad.explain.checking.check import check_run

        if claims is not None:
            from exprgrad.explain.checking.claims import check_claims

            require_kind(claims, Mapping, "claims are a mapping, such as {'a': 'b*c'}")
            texts = {normal_name(name): str(claim) for name, claim in claims.items()}
            given = self.given(values, inputs, partly=True)
            return as_checks(check_claims(self.graph, texts, given), None)
        step = None if h is None else as_number(h, "h")
        run = self.gradient(self.named(values, inputs), wrt=wrt if nodes is None else None)
        if nodes is not None:
            require_kind(nodes, Iterable, "nodes are a list of names, numbers or texts")
        for name in () if run.spread is None else run.spread.deviations:
            raise unexpected_uncertainty("", name)
        return as_checks(check_run(run, nodes, step), run)

    def derivative(
        self, name: str | None = None, order: int = 1, *, wrt: str | None = None
    ) -> Expression:
        """The derivative with respect to an input as a formula, simplified: an expression again.

        The input, ``name`` or ``wrt``, need not be named where there is one.
        With respect to a tensor it is a tensor of the same shape; ``shapes`` of ``parse`` says what is one.
        Raises ``InputError`` for what is not an input, ``RequestError`` for an order that is not from 1 to
        100, or above 1 for a tensor, and ``ShapeError`` for a formula that is not a number.
        """
        from exprgrad.derive.build import GraphBuilder
        from exprgrad.derive.simplify.formula import refuse_tensor_derivative
        from exprgrad.derive.simplify.orders import derivatives_of_order

        if wrt is not None:
            if name is not None:
                raise TypeError(f"the input is given twice: as {name!r} and as wrt={wrt!r}")
            require_kind(wrt, str, "a derivative is with respect to one input, such as wrt='x'")
            name = wrt
        name = self.only_input if name is None else normal_name(name)
        help = f"an order is a whole number from 1 to {HIGHEST}; "
        help += "a mixed derivative is f.derivative('x').derivative('y')"
        times = order_in(order, range(1, HIGHEST + 1), "derivative", help)
        names = known_inputs(self)
        if name in names and name not in self.inputs:
            builder = GraphBuilder(Graph([]))
            builder.graph.output = builder.fill(0.0, self.shapes.get(name, ()))
            return rebuild_derivative(program_text(builder.graph), names, self.shapes)
        (chosen,) = select_inputs(self.graph, [name])
        graph = self.for_people.typed
        refuse_tensor_derivative(graph, self.text, [chosen], times)
        ((_, formula),) = derivatives_of_order(graph, [chosen], times, again=bool(self.known))
        return rebuild_derivative(program_text(formula), names, self.shapes)

    diff = derivative

    @property
    def only_input(self) -> str:
        """The name of the input, where there is one.  Raises ``InputError`` where there are others."""
        if len(self.inputs) == 1:
            return self.inputs[0]
        first = self.inputs[0] if self.inputs else "x"
        raise InputError(
            "which-input",
            f"there are {len(self.inputs)} inputs, not one",
            help=f"say which: f.derivative('{first}'); f.grad(…) has those for all inputs",
        )

    def steps(self, name: str | None = None) -> str:
        """How the derivative with respect to an input comes about, rule by rule, as plain text.

        Raises ``RequestError`` for a formula of tensors.
        """
        from exprgrad.api.displays import Text
        from exprgrad.explain.derivations import derivation_steps
        from exprgrad.show.text.formulas import step_lines

        (chosen,) = select_inputs(self.graph, [self.only_input if name is None else name])
        return Text("\n".join(step_lines(self.graph, chosen, derivation_steps(self.typed, chosen))))

    def code(
        self,
        to: str,
        *,
        wrt: Iterable[str] | None = None,
        name: str = "f",
        value_only: bool = False,
        of: Iterable[str] | None = None,
        hessian: bool = False,
    ) -> str:
        """The source of one function for value and gradient, the sweep's, in another language.

        ``to`` is the name of a target, as ``exprgrad code --help`` lists them; ``wrt`` chooses the
        inputs to differentiate.  ``of`` names statements: then it is for their values and their Jacobian.
        With ``hessian`` it is for the second derivatives, too.  Raises ``RequestError`` for another
        target, ``InputError`` for another name.  NumPy, JAX and PyTorch take tensors, of the shapes that
        were given when the formula was read, except for a Jacobian or a Hessian; other targets refuse them.
        """
        from exprgrad.derive.lower.translate import translate_formula
        from exprgrad.run.values.directions import select_outputs

        require_kind(to, str, "the language to write in is a string, such as 'c'")
        require_kind(name, str, "a function's name is a string")
        require_kind(value_only, bool, "value_only is True or False")
        require_kind(hessian, bool, "hessian is True or False")
        chosen = select_inputs(self.graph, wrt)
        asked = None if of is None else select_outputs(self.typed, of)
        return translate_formula(
            self.typed, to, wrt=chosen, name=name, value_only=value_only, of=asked, second=hessian,
            text=self.text,
        )  # fmt: skip

    def compile(
        self,
        engine: str | None = None,
        *,
        wrt: Iterable[str] | None = None,
        precise: bool = False,
        threads: int | None = None,
    ) -> Compiled:
        """The formula for columns: ``value, gradient = f.compile()({"x": xs, "y": ys})``.

        The numbers are the sweep's: nothing is said where they lose digits, as ``f.batch`` does.

        ``engine`` is ``native`` (machine code, the default where llvmlite is installed), ``numpy`` or
        ``jax``.  Each operation is within 5 ulp of the truth; with ``precise`` all is what the sweeps over
        numbers find, to the bit, except for the sign of a zero derivative.  ``jax`` takes what is below
        2.2e-308 for 0.  ``threads`` is how many compute at most.  Raises ``RequestError`` for a
        formula of tensors or another engine, ``MissingExtraError`` without an engine's package.
        """
        from exprgrad.run.engines.compiled import Compiled

        return Compiled(
            self.text,
            self.graph,
            self.known,
            engine=engine,
            wrt=wrt,
            precise=precise,
            threads=threads,
        )

    def function(self, wrt: Iterable[str] | None = None, order: int = 1) -> PointFunction:
        """A fast function of single points: ``value, (dx, dy) = f.function()(1.0, 2.0)``, for optimisers.

        It takes floats in the order of ``inputs``, and returns the value and a tuple of derivatives in the
        order of ``wrt``, all inputs by default; with ``order`` 2 a tuple of the Hessian's rows, too.  Its
        ``vector(x)`` and ``hessian(x)`` take a point as one array, and give arrays, as
        ``scipy.optimize.minimize(h.vector, x0, jac=True)`` wants them.

        The numbers are the sweep's: not corrected at kinks, and nothing is said where they lose digits.
        They are the same doubles, except for the sign of 0 and the last digit of ``logsumexp``.  Overflow
        and points outside a domain give infinities and nan, never an exception.  Raises ``RequestError``
        for a formula of tensors, and for an order other than 1 or 2.
        """
        from exprgrad.run.engines.point_function import build_point_function

        times = order_in(order, (1, 2), "function", "1 is for the gradient, 2 for the Hessian, too")
        listed = self.inputs if wrt is None else tuple(asked_names(wrt))
        if listed:
            select_inputs(self.graph, listed)
        return build_point_function(self.typed, self.text, listed, times)

    def batch(
        self,
        data: Any,
        values: Mapping[str, object] | None = None,
        /,
        *,
        map: Mapping[str, str] | None = None,
        wrt: Iterable[str] | None = None,
        of: Iterable[str] | None = None,
        value_only: bool = False,
        hessian: bool = False,
        where: str | None = None,
        only: bool = False,
        prefix: str = "",
        bad_rows: str = "null",
        reduce: str | None = None,
        by: str | Iterable[str] = (),
        show_digits: bool = False,
        correct: bool = False,
        output: str | PathLike[str] | None = None,
        to: str | None = None,
        resume: bool = False,
        check_content: bool = False,
        cluster: str | None = None,
        threads: int | None = None,
        delimiter: str = "",
        decimal: str = "",
        sheet: str = "",
        **inputs: object,
    ) -> Any:
        """Value and gradient for every row of a frame: the frame again, with columns ``value``, ``d_x``….

        ``data`` is a frame of pandas, polars or pyarrow, columns by name, or an object with Arrow's stream
        protocol; or files of rows, which give an iterator of record batches or, with ``output``, files.
        With ``reduce`` the rows' total is returned: ``.value``, ``.gradient``…; with ``by``, one by group.
        Inputs are columns by name, or others with ``map={"x": "column"}``; a value given is every row's.
        Options are as in ``exprgrad batch``.  Raises ``InputError`` for missing columns and non-numbers.
        """
        from exprgrad.data.frames import BatchOptions, batch_frame
        from exprgrad.run.values.layouts import Layout

        manner = BatchOptions(
            only, prefix, bad_rows, reduce, by, output, to, resume, check_content, cluster, threads,
            layout=Layout(delimiter, decimal, sheet),
        )  # fmt: skip
        return batch_frame(
            self.text, data, manner, constants=self.named(values, inputs), renamed=map, wrt=wrt, of=of,
            value_only=value_only, hessian=hessian, where=where, show_digits=show_digits, correct=correct,
        )  # fmt: skip

    def latex(self) -> str:
        """The formula in LaTeX, for math mode; named statements stand in an ``aligned``."""
        from exprgrad.language.write.latex import graph_latex

        return graph_latex(self.drawn)

    def expand(self, names: Iterable[str]) -> Expression:
        """The formula with some operations taken apart into simpler ones, by their definitions.

        ``["tanh"]`` leaves no ``tanh``, ``"all"`` nothing that has a definition (``exprgrad ops NAME``
        shows it).  The name of a function of one's own opens its calls: pictures, tables and traces show
        what is in them; so do ``sum``, ``d``, ``root`` and a recurrence's name.  Raises ``RequestError``
        for what is no operation, or has no definition.
        """
        from exprgrad.derive.lower.expand import (
            ALL,
            expand_text,
            expand_within_calls,
            rows_to_expand,
        )
        from exprgrad.graph.calls import open_calls

        listed = [names] if isinstance(names, str) else names
        require_kind(listed, Iterable, "operations are a list of names, such as ['tanh']")
        for name in listed:
            require_kind(name, str, "an operation's name is a string")
        kinds, graph = rows_to_expand(listed, self.graph), self.graph
        if not graph.calls:
            return rebuild_derivative(expand_text(graph, kinds), self.known, self.shapes)
        text = self.text
        if not set(kinds).isdisjoint(graph.kinds):
            text, graph = expand_within_calls(graph, kinds)
        return Expression(
            text, open_calls(graph, None if ALL in listed else {*listed}), self.known, self.shapes
        )

    def dot(
        self, *, all: bool = False, direction: str = "LR", wrap: bool = True, gates: bool = False
    ) -> str:
        """The formula's graph as DOT source; above 500 nodes only with ``all``.

        It runs from left to right, or as ``direction`` says: ``TB`` from top to bottom, ``RL``, ``BT``.
        What would be wider than a page stands in rows, without ``wrap`` in one.  With ``gates`` each
        operation says what it does with its grad.
        """
        from exprgrad.show.picture.dot import dot_source

        drawn, text = self.drawn, self.text
        return dot_source(drawn, all=all, text=text, direction=direction, wrap=wrap, gates=gates)

    def subs(self, values: Mapping[str, object] | None = None, /, **inputs: object) -> Expression:
        """The formula with formulas or numbers in the place of inputs, all at once: ``f.subs(x=g, y=2)``.

        They are expressions, texts (``x="u^2"``) or numbers.  What is read twice is a statement of its own.
        Raises ``InputError`` for what is not an input.
        """
        given = {normal_name(name): x for name, x in self.named(values, inputs).items()}
        for name in given:
            if name not in self.graph.inputs:
                raise not_an_input(self.graph, name)
        return replace_inputs(self, {name: as_formula(x, name) for name, x in given.items()})

    def simplify(self) -> Expression:
        """The formula as ``derivative`` writes its answers: in fewer operations and in the usual order."""
        from exprgrad.derive.simplify.formula import output_formulas

        graph = self.for_people.typed
        ((formula, _),) = output_formulas(Program(graph, (graph.output,)), graph)
        names = known_inputs(self)
        return rebuild_derivative(program_text(formula), names, self.shapes)

    __add__, __radd__ = formula_operators("+")
    __sub__, __rsub__ = formula_operators("-")
    __mul__, __rmul__ = formula_operators("*")
    __truediv__, __rtruediv__ = formula_operators("/")
    __mod__, __rmod__ = formula_operators("%")
    __pow__, __rpow__ = formula_operators("^")

    def __neg__(self) -> Expression:
        return replace_inputs(parse("-f"), {"f": self})

    def __pos__(self) -> Expression:
        return self

    def __eq__(self, other: object) -> bool:
        """Whether two formulas are the same, node by node: blanks and spellings of one operator aside."""
        if not isinstance(other, Expression):
            return NotImplemented
        return same_graph(self.graph, other.graph) and self.shapes == other.shapes

    def __hash__(self) -> int:
        return hash((tuple(self.graph.kinds), tuple(self.graph.operands)))

    def __reduce__(self) -> tuple[Any, ...]:
        return rebuild_derivative, (self.text, self.known, self.shapes, opened_in(self.graph))

    def __str__(self) -> str:
        return program_text(self.for_people.graph)

    def __repr__(self) -> str:
        return f"exprgrad.parse({self.text!r})"

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex()}$"

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        return {**super()._repr_mimebundle_(), "text/latex": self._repr_latex_()}


def outputs_of(evaluator: Evaluator, of: Iterable[str] | None) -> Mapping[str, int]:
    """Return the requested outputs, name → node; the formula's own output is named once."""
    from exprgrad.run.matrices import derive_once
    from exprgrad.run.values.directions import select_outputs

    if of is not None:
        return select_outputs(evaluator.graph, of)
    return derive_once(evaluator, select_outputs, evaluator.graph, None)


def run_around(
    error: InputError, values: Mapping[str, object], run_at: Callable[[Mapping[str, object]], Run]
) -> Run:
    """Run at values that turned out to be uncertain, with their spread; raise any other error again.

    So runs at plain numbers pay nothing for uncertainties.
    """
    if error.code != "uncertain":
        raise error
    from exprgrad.run.values.uncertain import split_uncertain

    centres, spread = split_uncertain(values)
    run = run_at(centres)
    run.spread = spread
    return run


def run_again(
    text: str,
    inputs: dict[str, Any],
    wrt: tuple[str, ...] | None,
    spelled: Mapping[str, str],
    names: Collection[str] = (),
    spread: Spread | None = None,
) -> Run:
    """Build a run from its parts, to unpickle or copy it; ``names`` are those of opened calls."""
    graph = at_shapes(with_opened(parse_and_derive(text), names), text, shapes_of(inputs))
    run = Run.of(text, evaluator_for(graph), inputs, wrt, spelled)
    run.spread = spread
    return run


def run_of_formula(formula: Formula) -> Run:
    """The run of one of a lesson's formulas."""
    expression = parse(formula.expression)
    opened = expression.expand(formula.expand) if formula.expand else expression
    return opened.gradient(formula.values)


class Run(Drawn, diagnostics.DiagnosedRun):
    """One evaluation: ``value``, ``gradient``, ``nodes``, ``edges``, ``order`` and ``diagnostics``.

    It prints as its table, with warnings below, and shows as its picture in a notebook where Graphviz is
    at hand.
    ``run["x"]`` is a number of its gradient, ``float(run)`` its value: these are the sweep's, ``run.true``
    has the true ones.
    """

    __iter__ = None  # it is not a row of things, though it has []
    spread: Spread | None = None
    """The spread that the inputs' uncertainties cause; None where every input is exact."""

    def __getitem__(self, name: str) -> Any:
        """The derivative with respect to an input, or the grad of a statement, by name.

        Raises ``RequestError`` after a forward sweep alone, ``InputError`` for any other name.
        """
        gradient = self.gradient
        if name in gradient:
            return gradient[name]
        adjoints_of(self, "derivatives", "value is what evaluate() found")
        node = next((node for node, other in self.names.items() if other == name), None)
        if node is None:
            raise not_an_input(self.graph, normal_name(name))
        return self.grad(node)

    def __float__(self) -> float:
        return float(self.value)

    def __format__(self, spec: str) -> str:
        return format(self.value, spec) if spec else str(self)

    def table(self, *, digits: int = 6, all: bool = False) -> str:
        """The table of nodes as plain text; a long one in full with ``all``."""
        from exprgrad.show.text.nodes import node_table
        from exprgrad.show.text.table import plain_table

        return plain_table(node_table(self, check_significant_digits(digits), all_nodes=all))

    def trace(self, *, digits: int = 6, all: bool = False) -> str:
        """The reverse sweep, visit by visit, as plain text.  Needs a run of ``gradient``."""
        from exprgrad.api.displays import trace_for_notebook
        from exprgrad.show.text.trace import trace_text

        adjoints_of(self, "a reverse sweep to trace")
        text = trace_text(self, check_significant_digits(digits), all_visits=all)
        return trace_for_notebook(self, text, digits, all=all)

    def map(self, *, digits: int = 6, all: bool = False, width: int = WIDTH) -> str:
        """The formula with marks under it: how large the grad of each node is, in quarters of the largest.

        Lines are at most ``width`` cells wide; a long formula is whole with ``all``.  Needs a run of
        ``gradient``.
        """
        from exprgrad.api.displays import Text
        from exprgrad.show.text.grad_map import grad_map
        from exprgrad.show.text.table import Screen

        return Text(grad_map(self, check_significant_digits(digits), Screen(width), whole=all))

    def trust(self) -> Trust:
        """How many digits of the value and of each derivative are right, and where the others are lost.

        Raises ``MissingExtraError`` without python-flint, ``RequestError`` for tensors of more than 4,096
        numbers over all nodes.
        """
        from exprgrad.explain.digits.trust import measure_trust

        return measure_trust(self, self.gradient, self.one_sided)

    @cached_property
    def uncertainty(self) -> Uncertainty:
        """The standard uncertainty of the value, and what it comes from: see ``Uncertainty``.

        ``run.uncertainty.value`` is that of ``run.value``, ``run.uncertainty.shares`` each input's part of
        the variance.  Raises ``RequestError`` where no input is uncertain.
        """
        return self.propagate()

    def propagate(
        self,
        *,
        correlation: Mapping[tuple[str, str], float] | None = None,
        covariance: Mapping[str, Mapping[str, float]] | PathLike[str] | None = None,
        mc: int = 0,
        seed: int = 0,
    ) -> Uncertainty:
        """The uncertainty of the value, with correlations of inputs, and with Monte Carlo beside it.

        ``correlation`` is by pairs, ``{("a", "b"): 0.3}``; ``covariance`` a matrix by names, or its file.
        ``mc`` is how many draws are made, with the ``seed``.  Raises ``RequestError`` where no
        input is uncertain, ``InputError`` for correlations that contradict each other.
        """
        from exprgrad.solvers.uncertainty.propagation import uncertainty_of

        return uncertainty_of(self, self.spread, correlation or {}, covariance, mc, seed)

    @property
    def elasticity(self) -> dict[str, Any]:
        """The percentages by which the value changes as each input changes by one percent: x/f·∂f/∂x.

        The largest magnitude comes first; of a tensor they are number by number.  Needs a run of
        ``gradient``; raises ``RequestError`` for others.
        """
        from exprgrad.solvers.elasticity import list_elasticities

        adjoints_of(self, "elasticities")
        return list_elasticities(self)

    def paths(self, most: int = LISTED_PATHS) -> dict[str, Paths]:
        """The paths from the output to each input: their number, and those with the largest products.

        Over tensors they are the paths to each of an input's numbers, ``X[0, 1]``.  Needs a run of
        ``gradient``; raises ``RequestError`` for others, and for tensors of more than 4,096 numbers.
        """
        from exprgrad.api.displays import by_input
        from exprgrad.explain.walks import list_paths

        return by_input(self, list_paths(self, most))

    def visited(
        self,
        order: str | Iterable[str | int] | None = None,
        accumulate: str = "add",
        *,
        most: int = LISTED_PATHS,
    ) -> VisitResult:
        """The reverse sweep in another order, and what it loses: ``got``, ``true``, the lost paths.

        ``order`` lists names or ids of nodes, or is ``preorder``, ``bfs`` or ``naive``; ``accumulate``
        is ``add``, or ``set`` for ``=`` where ``+=`` should be.  ``most`` lost paths are listed for each
        input.  Over tensors the nodes are their numbers, ``X[0, 1]``.  Needs a run of ``gradient``; raises
        ``RequestError`` for others, for tensors of more than 4,096 numbers, and for what is not an order.
        """
        from exprgrad.explain.walks import visit_in_order

        return visit_in_order(self, order, accumulate, most=most)

    def json(self, command: str | None = None, *, all: bool = False) -> str:
        """The run as the JSON document that the command prints; with ``all`` no tensor is left out."""
        from exprgrad.show.documents.document import json_document
        from exprgrad.show.documents.runs import run_fields

        name = command or ("eval" if self.adjoints is None else "grad")
        fields = run_fields(self, self.diagnostics)
        if self.spread is not None:
            from exprgrad.show.text.uncertainty import uncertainty_field

            fields = chain(fields, uncertainty_field(self.uncertainty))
        return "".join(json_document(name, self.text, fields, whole=all))

    def dot(
        self,
        *,
        digits: int = 6,
        all: bool = False,
        direction: str = "LR",
        wrap: bool = True,
        gates: bool = False,
        contributions: bool = False,
    ) -> str:
        """The graph with its numbers as DOT source; above 500 nodes only with ``all``.

        Kinks and jumps are marked, and where numbers stop being finite.  With ``contributions`` each edge
        says what it added to a grad; ``direction``, ``wrap`` and ``gates`` are as in ``Expression.dot``.
        """
        from exprgrad.show.picture.cards import node_alarms
        from exprgrad.show.picture.dot import dot_source

        return dot_source(
            self.graph,
            self,
            digits=check_significant_digits(digits),
            alarms=node_alarms(self, digits),
            all=all,
            direction=direction,
            wrap=wrap,
            gates=gates,
            contributions=contributions,
        )

    def explore(
        self,
        *,
        digits: int = 6,
        all: bool = False,
        lesson: Lesson | str | None = None,
        descend: bool = False,
    ) -> Page:
        """The page to step through, edit and break; above 500 nodes only with ``all``.

        With ``descend`` it has a panel in which gradient descent goes its way.

        With a ``lesson``, or the name of a built-in one, it has its texts and tasks: they are about the
        lesson's own formula and inputs.  ``digits`` is from 1 to 17.  Needs a run of ``gradient``, of
        numbers; raises ``RequestError`` for others, ``MissingExtraError`` without Graphviz.
        """
        from exprgrad.show.page.page import make_page

        return make_page(
            self, digits=digits, all=all, lesson=lesson, descend=descend, run_of=run_of_formula
        )

    def budget(self, *, digits: int = 6, all: bool = False) -> str:
        """The sources of the value's uncertainty, input by input, as plain text.

        Raises ``RequestError`` where no input is uncertain.
        """
        from exprgrad.api.displays import Text
        from exprgrad.show.text.table import plain_table
        from exprgrad.show.text.uncertainty import uncertainty_budget

        return Text(
            plain_table(
                uncertainty_budget(
                    self, self.uncertainty, check_significant_digits(digits), whole=all
                )
            )
        )

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        from exprgrad.api.displays import beside_nodes
        from exprgrad.show.text.nodes import node_table
        from exprgrad.show.text.table import render_html

        shown, told = super()._repr_mimebundle_(), beside_nodes(self)
        picture = shown.get("image/svg+xml")
        if picture is None:
            shown["text/html"] = render_html([node_table(self), *told])
        elif told:
            shown["text/html"] = picture + render_html(told)
        return shown

    def __reduce__(self) -> tuple[Any, ...]:
        names = opened_in(self.graph)
        return run_again, (self.text, self.inputs, self.wrt, self.spelled, names, self.spread)

    def __str__(self) -> str:
        from exprgrad.api.displays import beside_nodes

        return "\n\n".join([self.table(), *beside_nodes(self)])

    __repr__ = __str__

    def _repr_svg_(self) -> str | None:
        return self._repr_mimebundle_().get("image/svg+xml")
