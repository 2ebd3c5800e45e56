"""Paths: counted by one sweep as walking all of them counts them, the largest found without."""

from __future__ import annotations

import math
from fractions import Fraction
from heapq import heappop
from random import Random
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from exprgrad import Edge, RequestError, Run, parse
from exprgrad.cli.main import main
from exprgrad.explain import walks as web
from exprgrad.explain.walks import (
    build_web,
    exact_sum,
    list_paths,
    multiply_magnitudes,
    scaled_magnitude,
)
from strategies import everyday, smooth
from together import together
from walks import exact_run, nodes_of, product_of, walks

U = 2.0**-53
"""Half an ulp: the largest relative error of one rounding."""


def test_the_diamond() -> None:
    found = list_paths(parse("b=a+1; c=a*3; d=b*c").gradient(a=2))["a"]
    assert (found.count, found.gradient, found.rest) == (2, 15.0, 0.0)
    assert [(path.nodes, path.factors, path.product) for path in found.listed] == [
        ((5, 4, 0), (3.0, 3.0), 9.0),
        ((5, 2, 0), (6.0, 1.0), 6.0),
    ]


def test_two_edges_to_one_node_are_two_paths() -> None:
    found = list_paths(parse("x*x").gradient(x=3))["x"]
    assert found.count == 2
    assert [path.nodes for path in found.listed] == [(1, 0), (1, 0)]
    assert [path.product for path in found.listed] == [3.0, 3.0]


def test_an_output_that_is_an_input() -> None:
    found = list_paths(parse("x").gradient(x=3))["x"]
    assert (found.count, found.listed[0].nodes, found.listed[0].product) == (1, (0,), 1.0)


def test_no_path() -> None:
    """Not through a statement without users, a branch that was not taken, or a constant rule 0."""
    for text in ("t = x; y", "where(y > 0, y, x)", "y + floor(x)", "y*(x > 1)"):
        found = list_paths(parse(text).gradient(x=1, y=2))["x"]
        assert (found.count, found.gradient, found.listed, found.rest) == (0, 0.0, (), 0.0)
    assert list_paths(parse("2+2").gradient()) == {}


def test_a_path_worth_nothing_is_a_path() -> None:
    found = list_paths(parse("relu(x) + x*y").gradient(x=-1, y=0), 3)["x"]
    assert (found.count, [path.product for path in found.listed]) == (2, [0.0, 0.0])


@together(range(60))
def test_as_walking_them_all(seed: int) -> None:
    """Counts, the largest products, the rest: all exact, for the numbers are whole."""
    random = Random(seed)
    run = exact_run(random)
    most = random.choice((0, 1, 2, 3, 5, 1000))
    for name, found in list_paths(run, most).items():
        walked = walks(run, run.graph.inputs[name])
        products = sorted(map(product_of, walked), key=abs, reverse=True)
        assert found.count == len(walked)
        assert found.gradient == sum(products) == run.gradient[name]
        assert [abs(path.product) for path in found.listed] == [abs(p) for p in products[:most]]
        assert found.rest == found.gradient - sum(path.product for path in found.listed)
        ways = {(nodes_of(run, path), product_of(path)) for path in walked}
        assert {(path.nodes, path.product) for path in found.listed} <= ways
        assert len({path.edges for path in found.listed}) == min(most, len(walked))


@given(smooth(), everyday, everyday, everyday)
def test_in_doubles(text: str, x: float, y: float, z: float) -> None:
    """What is listed is as large as what is not, and all sum to the gradient, to within rounding.

    A path's product and a sweep's sum each take at most two roundings an edge.
    """
    expression = parse(text)
    given = {"x": x, "y": y, "z": z}
    run = expression.gradient({name: given[name] for name in expression.inputs})
    assume(all(math.isfinite(edge.contribution) for edge in run.edges))
    assume(not any(0 < abs(edge.local) < 1e-30 or abs(edge.local) > 1e30 for edge in run.edges))
    relative = 4 * len(run.edges) * U
    for name, found in list_paths(run, 3).items():
        walked = [product_of(path) for path in walks(run, run.graph.inputs[name])]
        sizes = sorted(map(abs, walked), reverse=True)
        assert found.count == len(walked)
        for path, wanted in zip(found.listed, sizes, strict=False):
            assert abs(abs(path.product) - wanted) <= relative * wanted
        listed = sum(Fraction(path.product) for path in found.listed)
        bound = relative * sum(sizes)
        assert abs(listed + Fraction(found.rest) - Fraction(found.gradient)) <= bound
        assert abs(sum(map(Fraction, walked)) - Fraction(found.gradient)) <= bound


def chain(link: str, length: int) -> str:
    """So many diamonds, each made of the one before."""
    links = (link.replace("t", f"t{i}").replace("_", f"t{i + 1}") for i in range(length))
    return "; ".join(["t0 = x*1", *links])


@pytest.mark.parametrize(
    "link",
    ["_ = t + t", "_ = t/3 + t*0.7", "_ = 0.1*t + 0.1*t", "_ = sin(t)*0.7 + cos(t)", "_ = t*t"],
)
def test_two_hundred_diamonds(link: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """2^200 paths, many of them equally large or nearly: exact, and in few steps."""
    run = parse(chain(link, 200)).gradient(x=0.3)
    taken: list[object] = []

    def counted(heap: list[Any]) -> Any:
        taken.append(heap[0])
        return heappop(heap)

    monkeypatch.setattr(web, "heappop", counted)
    found = run.paths(5)["x"]
    assert len(taken) <= 5 * max(len(path.nodes) for path in found.listed)
    assert found.count == 2**200
    assert len({path.edges for path in found.listed}) == 5
    largest = math.prod(
        max(abs(edge.local) for edge in edges) for edges in by_operand(run).values()
    )
    if link != "_ = sin(t)*0.7 + cos(t)":
        assert math.isclose(abs(found.listed[0].product), largest, rel_tol=1000 * U)


def by_operand(run: Run) -> dict[int, list[Edge]]:
    """The edges to each node."""
    found: dict[int, list[Edge]] = {}
    for edge in run.edges:
        found.setdefault(edge.operand, []).append(edge)
    return found


def test_products_beyond_the_doubles_keep_their_order() -> None:
    """1e200^3 overflows, and is still less than 1e200^4; 1e-200^3 is more than 1e-200^4."""
    text = "p = x*a*a*a; q = x*a*a*a*a; p + q"
    for value, first in ((1e200, 6), (1e-200, 5)):
        found = parse(text).gradient(x=1, a=value).paths(1)["x"]
        assert len(found.listed[0].nodes) == first


def test_what_is_not_finite_comes_first() -> None:
    found = parse("1e300*x + sqrt(x)*0 + x").gradient(x=0).paths(3)["x"]
    assert [repr(path.product) for path in found.listed] == ["nan", "1e+300", "1.0"]
    assert math.isnan(found.gradient)
    found = parse("sqrt(x) + x").gradient(x=0).paths(1)["x"]
    assert (found.listed[0].product, found.rest, found.gradient) == (math.inf, 1.0, math.inf)


def test_the_rest_is_summed_without_cancelling() -> None:
    """The gradient less what is listed would be 0: 1e20 has swallowed the 3."""
    found = parse("x*1e20 + x*3").gradient(x=1).paths(1)["x"]
    assert (found.gradient, found.listed[0].product, found.rest) == (1e20, 1e20, 3.0)


def test_answers_do_not_depend_on_chance() -> None:
    run = parse(chain("_ = t + t", 40)).gradient(x=1)
    assert run.paths(7) == run.paths(7)
    assert run.paths(3)["x"].listed == tuple(
        sorted(run.paths(3)["x"].listed, key=lambda p: p.edges)
    )


def test_visited_are_the_nodes_on_the_paths() -> None:
    assert build_web(parse("b=a+1; c=a*3; d=b*c").gradient(a=2)).visited == 4
    assert build_web(parse("t = y; x*2").gradient(x=1, y=2)).visited == 2
    assert build_web(parse("2").gradient()).visited == 0


def test_many_users_of_one_node() -> None:
    found = parse("+".join(["x*x"] * 5_000)).gradient(x=2).paths(2)["x"]
    assert (found.count, found.gradient, found.rest) == (10_000, 20_000.0, 19_996.0)


@pytest.mark.slow
def test_a_hundred_thousand_diamonds() -> None:
    found = parse(chain("_ = t*t", 100_000)).gradient(x=1).paths(1)["x"]
    assert found.count == 2**100_000
    assert found.listed[0].product == 1.0


def test_paths_to_the_numbers_of_tensors() -> None:
    """Those of the same formula, written out by hand."""
    found = parse("sum((X @ w)^2)").gradient(X=[[1, 2], [3, 4]], w=[0.5, -1]).paths()
    plain = parse("(a*x + b*y)^2 + (c*x + d*y)^2").gradient(a=1, b=2, c=3, d=4, x=0.5, y=-1).paths()
    names = dict(
        zip(("X[0, 0]", "X[0, 1]", "X[1, 0]", "X[1, 1]", "w[0]", "w[1]"), "abcdxy", strict=True)
    )
    assert found.keys() == names.keys()
    for name, letter in names.items():
        mine, other = found[name], plain[letter]
        assert (mine.count, mine.gradient, mine.rest) == (other.count, other.gradient, other.rest)
        assert [p.factors for p in mine.listed] == [p.factors for p in other.listed]


def test_what_to_write_instead_is_not_said_number_by_number(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The numbers of a tensor have names, ``Y[0]``, that no formula of numbers reads."""
    for command in (["paths"], ["grad", "--order", "naive"]):
        assert main([*command, "sum(X^Y)", "X=[-1, 2]", "Y=[-2, 1]"]) == 0
        shown = capsys.readouterr().err
        assert "the local derivative of X[0]^Y[0] for Y[0] is nan" in shown
        assert "instead" not in shown


def test_refusals() -> None:
    with pytest.raises(RequestError, match="up to 4,096 elements"):
        parse("sum(x)").gradient(x=[1.0] * 4096).paths()
    with pytest.raises(RequestError, match="only a run of gradient"):
        parse("x").evaluate(x=1).paths()
    for most in (-1, 2.5, True, "5"):
        with pytest.raises(RequestError, match="whole number"):
            parse("x").gradient(x=1).paths(most)  # type: ignore[arg-type]


@given(st.floats(), st.floats())
def test_sizes_are_ordered_as_products(one: float, other: float) -> None:
    found = multiply_magnitudes(scaled_magnitude(one), scaled_magnitude(other))
    if not (math.isfinite(one) and math.isfinite(other)):
        assert found[0] == math.inf
    else:
        truth = abs(Fraction(one) * Fraction(other))
        if not truth:
            assert found == (-math.inf, 0.0)
        else:
            value = Fraction(found[1]) * Fraction(2) ** int(found[0])
            assert abs(value - truth) <= Fraction(U) * truth


def test_totals() -> None:
    assert exact_sum([1e16, 1.0, -1e16]) == 1.0
    assert exact_sum([math.inf, 1.0]) == math.inf
    assert math.isnan(exact_sum([math.inf, -math.inf]))
    assert exact_sum([1e308, 1e308]) == math.inf
