"""The visit-order lab against loops and recursion as people write them, and the theorem about paths."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from random import Random
from typing import Any

import pytest

from exprgrad import Edge, RequestError, Run, parse
from exprgrad.explain import walks as web
from exprgrad.explain.walks import Path, VisitResult, visit_in_order
from together import together
from walks import exact_run, nodes_of, product_of, random_order, walks

LESSON = parse("t=a*b; y=t+t*a").gradient(a=2, b=-3)
DIAMOND = parse("b=a+1; c=a*3; d=b*c").gradient(a=2)


@pytest.mark.parametrize(
    ("order", "accumulate", "got"),
    [
        (None, "add", (-15, 6)),
        ("preorder", "add", (-9, 2)),
        ("bfs", "add", (-9, 2)),
        ("naive", "add", (-18, 8)),
        (None, "set", (-6, 4)),
        ("y,3,t", "add", (-15, 6)),
        ("y,a,b", "add", (0, 0)),
        ("", "add", (0, 0)),
    ],
)
def test_the_numbers_of_the_lesson(
    order: str | None, accumulate: str, got: tuple[float, float]
) -> None:
    found = visit_in_order(LESSON, order if order != "" else [], accumulate)
    assert tuple(found.got.values()) == got
    assert tuple(found.true.values()) == (-15, 6)


def test_the_lost_path_of_the_diamond() -> None:
    found = DIAMOND.visited("d,b,a,c")
    (lost,) = found.inputs["a"].listed
    assert (lost.path.nodes, lost.path.product) == ((5, 4, 0), 9.0)
    assert (lost.at, lost.why, lost.by) == (1, "late", 0)
    assert (found.got, found.true) == ({"a": 6.0}, {"a": 15.0})
    assert (found.inputs["a"].lost.count, found.inputs["a"].lost.sum) == (1, 9.0)


def test_reasons() -> None:
    def why(order: str, accumulate: str = "add") -> list[tuple[tuple[int, ...], str, int]]:
        found = visit_in_order(LESSON, order, accumulate)
        return [(x.path.nodes, x.why, x.by) for x in found.inputs["a"].listed]

    assert why("y,t,3") == [((4, 3, 2, 0), "late", 2)]
    assert why("y,t") == [((4, 3, 2, 0), "unvisited", 3), ((4, 3, 0), "unvisited", 3)]
    assert why("3,t")[0] == ((4, 3, 2, 0), "unvisited", 4)
    assert why("y,3,t", "set") == [((4, 3, 0), "overwritten", 2), ((4, 2, 0), "overwritten", 3)]


def test_which_contribution_clobbered_which() -> None:
    found = visit_in_order(LESSON, accumulate="set")
    assert [
        (
            found.web.operands[passed.edge],
            found.web.users[passed.edge],
            found.web.users[passed.replaced],
        )
        for passed in found.clobbered
        if passed.replaced is not None
    ] == [(2, 3, 4), (0, 2, 3)]
    assert [(passed.value, passed.before) for passed in found.clobbered] == [(2, 1), (-6, -6)]


# Oracles: what people write, over the run's edges.


def edges_below(run: Run) -> dict[int, list[Edge]]:
    """The edges that pass something on, by user."""
    found: dict[int, list[Edge]] = {node: [] for node in range(len(run.graph))}
    for edge in run.edges:
        if edge.local != 0 or edge.rule != "0":
            found[edge.user].append(edge)
    return found


def looped(run: Run, order: Sequence[int], *, overwrite: bool) -> dict[str, float]:
    """Every node of an order passes on what it has; an input is read when its turn comes."""
    below = edges_below(run)
    grads = [0.0] * len(run.graph)
    grads[run.graph.output] = 1.0
    read: dict[int, float] = {}
    for node in order:
        read[node] = grads[node]
        for edge in below[node]:
            contribution = grads[node] * edge.local
            grads[edge.operand] = contribution + (0 if overwrite else grads[edge.operand])
    nodes = {name: run.graph.inputs[name] for name in run.wrt or ()}
    return {name: read.get(node, grads[node]) for name, node in nodes.items()}


def recursed(run: Run, *, seen: set[int] | None, overwrite: bool = False) -> dict[str, float]:
    """Recursion from the output, as one writes it first."""
    below = edges_below(run)
    grads = [0.0] * len(run.graph)
    grads[run.graph.output] = 1.0

    def backward(node: int) -> None:
        for edge in below[node]:
            contribution = grads[node] * edge.local
            grads[edge.operand] = contribution + (0 if overwrite else grads[edge.operand])
        for operand in run.graph.operands[node]:
            if seen is None:
                backward(operand)
            elif operand not in seen:
                seen.add(operand)
                backward(operand)

    backward(run.graph.output)
    return {name: grads[run.graph.inputs[name]] for name in run.wrt or ()}


def by_levels(run: Run) -> list[int]:
    """Breadth first."""
    order, queue = [], [run.graph.output]
    while queue:
        node, *queue = queue
        if node not in order and run.graph.operands[node]:
            order.append(node)
            queue += run.graph.operands[node]
    return order


def counts(path: Sequence[int], order: Sequence[int], run: Run) -> bool:
    """The theorem: each node is visited after the node before it; an input left out is read last."""
    place = {node: at for at, node in enumerate(order)}
    inputs = set(run.graph.inputs.values())
    places = [place.get(node, math.inf if node in inputs else -1) for node in path]
    return places[0] >= 0 and all(a < b for a, b in pairwise(places))


def check_theorem(seed: int) -> int:
    """One random graph in one random order; returns how many paths were lost."""
    random = Random(seed)
    run = exact_run(random)
    order = random_order(random, run)
    most = random.choice((1, 3, 1000))
    found = visit_in_order(run, order, most=most)
    assert found.got == looped(run, order, overwrite=False)
    lost_paths = 0
    for name, outcome in found.inputs.items():
        walked = walks(run, run.graph.inputs[name])
        kept = [path for path in walked if counts(nodes_of(run, path), order, run)]
        lost = [path for path in walked if not counts(nodes_of(run, path), order, run)]
        assert sum(map(product_of, kept)) == outcome.got == outcome.counted.sum
        assert (outcome.counted.count, outcome.lost.count) == (len(kept), len(lost))
        assert outcome.lost.sum == sum(map(product_of, lost)) == outcome.true - outcome.got
        check_listed(run, outcome.listed, lost, most)
        assert sum(x.path.product for x in outcome.listed) + outcome.rest == outcome.lost.sum
        for entry in outcome.listed:
            nodes = entry.path.nodes
            assert not counts(nodes[: entry.at + 2], order, run) or entry.why == "unvisited"
        assert outcome.again == type(outcome.again)(0, 0.0)
        lost_paths += len(lost)
    return lost_paths


def check_listed(
    run: Run, listed: Sequence[object], lost: list[tuple[Edge, ...]], most: int
) -> None:
    """What is listed are the largest of the lost paths, each once."""
    wanted = sorted((abs(product_of(path)) for path in lost), reverse=True)[:most]
    paths = [entry.path for entry in listed]  # type: ignore[attr-defined]
    assert [abs(path.product) for path in paths] == wanted
    assert len({path.edges for path in paths}) == len(paths)
    assert {path.nodes for path in paths} <= {nodes_of(run, path) for path in lost}


def test_a_path_counts_when_each_node_is_visited_after_the_one_before() -> None:
    lost = [check_theorem(seed) for seed in range(80)]
    assert sum(map(bool, lost)) > 30


@pytest.mark.slow
def test_the_theorem_on_many_graphs() -> None:
    lost = [check_theorem(seed) for seed in range(1000, 1500)]
    assert sum(map(bool, lost)) > 200


def check_overwriting(seed: int) -> None:
    """With = instead of +=, one path at most is left to each input."""
    random = Random(seed)
    run = exact_run(random)
    order = random_order(random, run)
    found = visit_in_order(run, order, "set", most=1000)
    assert found.got == looped(run, order, overwrite=True)
    for name, outcome in found.inputs.items():
        walked = walks(run, run.graph.inputs[name])
        assert outcome.counted.count <= 1
        assert outcome.counted.count + outcome.lost.count == len(walked)
        assert outcome.got + outcome.lost.sum == outcome.true
        assert len(outcome.listed) == outcome.lost.count
        assert sum(x.path.product for x in outcome.listed) == outcome.lost.sum


def check_recursion(seed: int) -> None:
    """The wrong orders are those of recursion and of a queue."""
    run = exact_run(Random(seed))
    assert visit_in_order(run, "preorder").got == recursed(run, seen=set())
    assert visit_in_order(run, "bfs").got == looped(run, by_levels(run), overwrite=False)
    for accumulate in ("add", "set"):
        found = visit_in_order(run, "naive", accumulate, most=1000)
        assert found.got == recursed(run, seen=None, overwrite=accumulate == "set")
        for name, outcome in found.inputs.items():
            walked = walks(run, run.graph.inputs[name])
            assert outcome.counted.count + outcome.lost.count == len(walked)
            extra = [(x.times - 1) * x.path.product for x in outcome.repeated]
            assert outcome.again.sum == sum(extra)
            assert outcome.again.count == sum(x.times - 1 for x in outcome.repeated)
            assert outcome.got == outcome.true - outcome.lost.sum + outcome.again.sum
            assert outcome.lost.sum == sum(x.path.product for x in outcome.listed)
            # What a lost path is said to have met is a line of the list of what was overwritten.
            told = {(c.replaced, found.web.users[c.edge]) for c in found.clobbered}
            assert {(x.path.edges[x.at], x.by) for x in outcome.listed} <= told


@together(range(40))
def test_wrong_orders_as_people_write_them(seed: int) -> None:
    check_overwriting(seed)
    check_recursion(seed)


@pytest.mark.slow
def test_wrong_orders_on_many_graphs() -> None:
    for seed in range(2000, 2500):
        check_overwriting(seed)
        check_recursion(seed)


def every_order(found: VisitResult) -> Iterator[int]:
    """The nodes in the order of their visits."""
    yield from found.order


def test_the_right_order_is_right() -> None:
    found = visit_in_order(LESSON)
    assert list(every_order(found)) == LESSON.order
    assert not found.wrong
    assert not any(passed.late for passed in found.contributions)
    assert found.rule is None and found.reads == {"a": 4, "b": 3}


def test_a_wrong_order_may_be_right_by_luck() -> None:
    """A lost path worth 0 is lost all the same."""
    found = parse("t = x*y; t + t*0").gradient(x=2, y=3).visited("preorder")
    assert found.got == found.true
    assert found.wrong == ["x", "y"]
    assert found.inputs["x"].lost.count == 1


def test_nothing_passes_on_nothing() -> None:
    """What nothing has reached passes 0 on, also along an infinite local derivative."""
    run = parse("t = sqrt(x); t*y").gradient(x=0, y=0)
    assert run.visited("1,3,x,y").got == {"x": 0.0, "y": 0.0}


def test_names_and_ids() -> None:
    run = parse("t = a*b; u = t; t + 1").gradient(a=1, b=2)
    orders: list[str | list[str | int]] = [
        "4, t, b, a", "#4,u,1,0", [4, "t", "b", 0], ["4", 2, 1, "a"]
    ]  # fmt: skip
    for order in orders:
        assert visit_in_order(run, order).order == (4, 2, 1, 0)
    named = parse("y = bfs*2").gradient(bfs=1)
    assert named.visited("bfs").order == (2,)
    assert named.visited(["bfs"]).order == (0,)
    accented = parse("é*2").gradient({"é": 1})
    assert accented.visited("e\u0301,2").order == (0, 2)


def test_constants_need_not_be_listed_and_may() -> None:
    run = parse("y = x*2").gradient(x=1)
    assert run.visited("y,x").got == run.visited("y,1,x").got == {"x": 2.0}


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ("y,z", "has no node 'z'"),
        ("y,9", "there is no node 9"),
        ("y,-1", "has no node '-1'"),
        ("y,,t", "a node is missing"),
        (" ", "a node is missing"),
        ("y,t,y", "'y' is visited twice"),
        ("y,t,4", "'4' is the node that 'y' is"),
        (["y", "nothing"], "has no node 'nothing'"),
        ("9" * 5000, "there is no node"),
    ],
)
def test_orders_that_are_none(order: str, message: str) -> None:
    with pytest.raises(RequestError, match=message):
        visit_in_order(LESSON, order)


def test_naive_recursion_through_a_condition() -> None:
    """u is visited for the condition first, when nothing has arrived: that visit passes nothing on."""
    run = parse("u = x*y; where(u > 0, u*u, 2)").gradient(x=1.5, y=0.5)
    found = visit_in_order(run, "naive")
    assert found.true == {"x": 0.75, "y": 2.25} and found.got == {"x": 1.5, "y": 4.5}
    assert [(o.again.count, o.again.sum) for o in found.inputs.values()] == [(2, 0.75), (2, 2.25)]


def test_naive_recursion_is_capped() -> None:
    text = "; ".join(["t0 = x*1", *(f"t{i + 1} = t{i} + t{i}" for i in range(60))])
    run = parse(text).gradient(x=1)
    with pytest.raises(RequestError, match=r"make more than 10\^18 visits"):
        visit_in_order(run, "naive")
    short = parse("; ".join(text.split("; ")[:13])).gradient(x=1)
    found = visit_in_order(short, "naive")
    assert len(found.order) == 2**13 - 1
    assert found.got == recursed(short, seen=None)


def test_no_path_is_walked_that_nobody_wants(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 4096 paths, 4095 counted more than once."""
    walked: list[Path] = []
    plain = web.path_of_entry

    def counting(*arguments: Any) -> Path:
        walked.append(plain(*arguments))
        return walked[-1]

    monkeypatch.setattr(web, "path_of_entry", counting)
    run = parse("; ".join(["t0 = x*1", *(f"t{i + 1} = t{i} + t{i}" for i in range(12))])).gradient(
        x=1
    )
    for most in (5, 1000):
        walked.clear()
        assert len(visit_in_order(run, "naive", most=most).inputs["x"].repeated) == most
        assert len(walked) <= most + 1


def test_deep_and_wide() -> None:
    """Nothing recurses, and every count is exact."""
    run = parse("+".join(["sin(x)"] * 3_000)).gradient(x=1)
    assert visit_in_order(run, "preorder").got == run.gradient
    text = "; ".join(["t0 = x*1", *(f"t{i + 1} = t{i}*t{i}" for i in range(1200))])
    deep = parse(text).gradient(x=1)
    outcome = visit_in_order(deep, accumulate="set").inputs["x"]
    assert (outcome.got, outcome.lost.count) == (1.0, 2**1200 - 1)
    late = visit_in_order(deep, [*reversed(deep.order)]).inputs["x"]
    assert (late.got, late.lost.count) == (0.0, 2**1200)


def test_only_what_is_differentiated_is_read() -> None:
    run = parse("a*b").gradient(a=1, b=2, wrt=["a"])
    found = run.visited("2,b,a")
    assert found.got == {"a": 2.0}


def test_orders_of_the_numbers_of_tensors() -> None:
    """As of the same formula, written out by hand; the commas of ``s[0, 1]`` part no nodes."""
    run = parse("s = X*X; sum(s)").gradient(X=[[1, 2]])
    found = run.visited("X[0, 0], s[0, 0], s[0, 1], X[0, 1]")
    assert (found.got, found.true) == (
        {"X[0, 0]": 0.0, "X[0, 1]": 0.0},
        {"X[0, 0]": 2.0, "X[0, 1]": 4.0},
    )
    plain = parse("s = a*a; t = b*b; s + t").gradient(a=1, b=2)
    for order in ("preorder", "bfs", "naive"):
        for accumulate in ("add", "set"):
            mine, other = (each.visited(order, accumulate) for each in (run, plain))
            assert [*mine.got.values()] == [*other.got.values()]
            assert len(mine.contributions) == len(other.contributions)


def test_refusals() -> None:
    with pytest.raises(RequestError, match="up to 4,096 elements"):
        parse("sum(x)").gradient(x=[1.0] * 4096).visited("x")
    with pytest.raises(RequestError, match="no node 'x'"):
        parse("sum(x)").gradient(x=[1, 2]).visited("x")
    with pytest.raises(RequestError, match="only a run of gradient"):
        parse("x").evaluate(x=1).visited("x")
    with pytest.raises(RequestError, match="not accumulated by 'multiply'"):
        LESSON.visited("y", "multiply")
