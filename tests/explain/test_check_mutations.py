"""Break any rule of the op table, or the value of any primitive, and ``check`` finds the node to blame."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from itertools import product

import pytest

from amounts import LONG
from exprgrad import Op, parse
from exprgrad.derive.sweeps import walks
from exprgrad.explain.checking import check as checks
from exprgrad.explain.checking.check import Check, check_nodes
from exprgrad.graph.ops import BY_NAME, OPS
from exprgrad.run.balls import balls
from exprgrad.run.numbers import sweeps
from exprgrad.run.numbers.sweeps import functions
from oracles import is_special
from shell import command
from strategies import apply
from together import together

NUMBERS = (0.6, 1.7, -0.4, 2.3, -1.2, 0.25, 4.5, -3.0)
PLACES = 9
"""How many points are tried: a wrong rule may be right at some."""
WAYS = ("-({})", "1.001*({})", "({}) + 1")
Place = tuple[str, dict[str, float]]
"""A formula and its inputs."""


def formulas(op: Op) -> list[str]:
    """The operation amid others, so that its node is not the only one there."""
    count = 3 if op.variadic else len(op.names)
    names = [f"a{at}" for at in range(count)]
    written = [apply(op, names)]
    if op.branches:
        written.append(apply(op, ["(a0 > 1)", *names[1:]]))
    other = "exp(b)" if op.name == "cos" else "cos(b)"
    return [f"t = {text}; 3*t - {other}" for text in written]


def places(op: Op) -> list[Place]:
    """Smooth points of the operation's domain."""
    found = []
    count = 3 if op.variadic else len(op.names)
    for formula in formulas(op):
        f = parse(formula)
        smooth = []
        for numbers in product(NUMBERS, repeat=count):
            values = {**{f"a{at}": x for at, x in enumerate(numbers)}, "b": 0.7}
            run = f.gradient(values)
            finite = all(map(math.isfinite, (run.value, *run.gradient.values())))
            if finite and not is_special(op, numbers):
                smooth.append((formula, values))
        found += smooth[:: max(len(smooth) // PLACES, 1)][:PLACES]
    return found


def mutants(op: Op) -> Iterator[Op]:
    """The row with one rule negated, a little off, with 1 more, or with another operand's rule."""
    for at, rule in enumerate(op.partials):
        *before, last = rule.split(";")
        changed = ["; ".join([*before, way.format(last.strip())]) for way in WAYS]
        changed += [other for other in dict.fromkeys(op.partials) if other != rule]
        for text in changed if rule != "0" else [f"{rule} + 1"]:
            partials = list(op.partials)
            partials[at] = text
            yield op._replace(partials=tuple(partials))


def forget() -> None:
    """Nothing that was worked out from a row or a primitive may outlive it."""
    walks.passing_positions.cache_clear()
    sweeps.row_rules.cache_clear()
    sweeps.compile_template.cache_clear()


def gradient(place: Place) -> list[float]:
    """The gradient as it is computed now."""
    return list(parse(place[0]).gradient(place[1]).gradient.values())


def check(place: Place) -> list[Check]:
    """The check of every input."""
    run = parse(place[0]).gradient(place[1])
    return check_nodes(run, run.graph.inputs)


def holds_for_every_mutant(op: Op) -> None:
    """Each wrong rule is blamed, at a node of its operation, wherever it makes the gradient wrong."""
    found = places(op)
    assert found
    right = [gradient(place) for place in found]
    for place in found:
        assert {check.verdict for check in check(place)} == {"agrees"}, place
    for mutant in mutants(op):
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(BY_NAME, op.name, mutant)
            forget()
            wrong = [at for at, place in enumerate(found) if gradient(place) != right[at]]
            assert wrong, mutant.partials
            place = found[wrong[0]]
            blamed = [check for check in check(place) if check.verdict == "disagrees"]
            assert blamed, (mutant.partials, place)
            kinds = parse(place[0]).graph.kinds
            for each in blamed:
                assert each.where is not None and kinds[each.where[0]] == op.name, each.message
        forget()


@together(OPS, every=4)
def test_a_broken_rule_is_found(op: Op) -> None:
    holds_for_every_mutant(op)


@pytest.fixture
def no_flint(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As if python-flint were not installed."""
    monkeypatch.setitem(sys.modules, "flint", None)
    balls.import_flint.cache_clear()
    yield
    balls.import_flint.cache_clear()


@pytest.mark.slow
@pytest.mark.parametrize("op", OPS[:: 3 if LONG == 1 else 1], ids=lambda op: str(op.name))
def test_a_broken_rule_is_found_in_doubles(op: Op, no_flint: None) -> None:
    holds_for_every_mutant(op)


def test_a_broken_rule_makes_the_command_exit_with_1(monkeypatch: pytest.MonkeyPatch) -> None:
    argv = ["check", "y = sin(x)^2; y*exp(x)", "x=1"]
    assert command(*argv).status == 0
    monkeypatch.setitem(BY_NAME, "sin", BY_NAME["sin"]._replace(partials=("sin(x)",)))
    forget()
    status, out, err = command(*argv)
    monkeypatch.undo()
    forget()
    assert status == 1
    assert "disagrees" in out
    message = (
        "the rule of sin for x, at node 1 'sin(x)', is suspect: it says 0.841471, "
        "differences say 0.540302"
    )
    assert message in err
    assert "  1 │ y = sin(x)^2; y*exp(x)\n    │     ^^^^^^\n" in err


@together(OPS, every=3)
def test_a_broken_value_is_found(op: Op) -> None:
    """A primitive that is 0.1 % off is blamed itself, though the rules may suffer from it too."""
    with pytest.MonkeyPatch.context() as patch:
        was = functions[op.name]
        place = places(op)[0]
        patch.setitem(functions, op.name, lambda *operands: 1.001 * was(*operands) + 0.001)
        forget()
        found = check(place)
    forget()
    kinds = parse(place[0]).graph.kinds
    blamed = [each for each in found if each.verdict == "disagrees"]
    assert blamed
    assert {kinds[each.where[0]] for each in blamed if each.where} == {op.name}


def test_a_broken_value_that_does_not_reach_the_output_is_not_blamed() -> None:
    """Times 0 it changes neither the output nor a derivative."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(functions, "erf", lambda x: 2.0)
        forget()
        run = parse("0*erf(x)").gradient(x=1)
        found = check_nodes(run, run.graph.inputs)
    forget()
    assert (run.value, run.gradient) == (0.0, {"x": 0.0})
    assert [each.verdict for each in found] == ["agrees"]


def test_of_very_many_nodes_some_of_each_operation_are_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(checks, "MOST_NODES", 4)
    monkeypatch.setitem(BY_NAME, "sin", BY_NAME["sin"]._replace(partials=("sin(x)",)))
    forget()
    run = parse("exp(sin(x) + sin(2*x) + sin(3*x))").gradient(x=1)
    found = list(checks.wrong_numbers(run, 2**20))
    monkeypatch.undo()
    forget()
    assert [run.graph.kinds[wrong.user] for wrong in found] == ["sin"]
