"""The page's sweeps and paths against the visit-order lab of ``explain/walks.py``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest

from exprgrad import Run, parse
from exprgrad.explain.walks import WRONG, Path, VisitResult, Web
from exprgrad.show.page.model import page_edges as page_edges
from scripts import ask
from strategies import FREQUENT, tree
from walks import exact_run, random_order, walks

BODY = """
const data = forward(PAGE), locals = localDerivatives(PAGE, data);
return ARGS.map(([order, overwrite, most]) => {
  const visits = typeof order === "string" ? ORDERS[order](PAGE) : order;
  const result = simulate(PAGE, locals, visits, overwrite);
  return {visits, ...result, outcomes: outcomes(PAGE, locals, visits, result, overwrite, most)};
});
"""
Asked = tuple[list[int] | str, bool, int]
Ends = tuple[int, int]


def ends(web: Web, path: Path) -> list[Ends]:
    """A path's edges by user and position."""
    return [(web.users[edge], web.positions[edge]) for edge in path.edges]


def check(run: Run, asked: Asked, answer: dict[str, Any]) -> VisitResult:
    """Hold one order's answer against the lab's."""
    order, overwrite, most = asked
    found = run.visited(order, "set" if overwrite else "add", most=most)
    web, edges = found.web, [*page_edges(run)]
    about = (run.text, run.inputs, asked)
    assert tuple(answer["visits"]) == found.order, about
    by_id = {web.inputs[name]: name for name in web.inputs}
    assert {by_id[int(id)]: at for id, at in answer["reads"].items()} == found.reads, about
    assert {by_id[int(id)]: got for id, got in answer["got"].items()} == found.got, about
    passed = [
        (c["visit"], edges[c["edge"]], c["grad"] or 0.0, c["value"], c["before"], c["after"], c["late"],
         None if c["replaced"] is None else edges[c["replaced"]])
        for c in answer["passed"]
    ]  # fmt: skip
    place = [*zip(web.users, web.positions, strict=True)]
    assert passed == [
        (c.visit, place[c.edge], c.grad, c.value, c.before, c.after, c.late,
         None if c.replaced is None else place[c.replaced])
        for c in found.contributions
    ], about  # fmt: skip
    assert [by_id[part["id"]] for part in answer["outcomes"]] == [*found.inputs]
    for part in answer["outcomes"]:
        wanted = found.inputs[by_id[part["id"]]]
        assert (part["got"], part["true"]) == (wanted.got, wanted.true), about
        for which in ("counted", "lost", "again"):
            assert part[which]["count"] == getattr(wanted, which).count, (which, about)
            assert part[which]["sum"] == getattr(wanted, which).sum, (which, about)
        if most >= ALL:
            check_paths(run, web, part, wanted, edges)
        else:
            sizes = [abs(lost["product"]) for lost in part["losses"]]
            assert sizes == [abs(lost.path.product) for lost in wanted.listed], about
    return found


ALL = 1000
"""More paths than any of the graphs here has."""


def check_paths(run: Run, web: Web, part: Any, wanted: Any, edges: Sequence[Ends]) -> None:
    """Every path is listed, among those that counted or among the lost, with the lab's reasons."""
    losses = [
        ([edges[edge] for edge in lost["edges"]], lost["at"], lost["why"], lost["by"])
        for lost in part["losses"]
    ]
    assert losses == [(ends(web, x.path), x.at, x.why, x.by) for x in wanted.listed], run.text
    walked = [[(edge.user, edge.position) for edge in path] for path in walks(run, part["id"])]
    counted = [[edges[edge] for edge in path["edges"]] for path in part["counts"]]
    assert sorted([*counted, *[path for path, *_ in losses]]) == sorted(walked), run.text
    products = [abs(path["product"]) for path in part["counts"]]
    assert products == sorted(products, reverse=True)
    times = {tuple(ends(web, x.path)): x.times for x in wanted.repeated}
    for path, own in zip(counted, part["counts"], strict=True):
        assert own["times"] == times.get(tuple(path), 1), run.text
        assert own["product"] == math.prod(own["factors"])
        assert own["nodes"] == [run.graph.output, *[run.graph.operands[u][p] for u, p in path]]


def check_graphs(seeds: range) -> tuple[int, int]:
    """Random graphs in random and wrong orders; returns how many orders lost paths, and repeated some."""
    cases: list[tuple[Run, list[Asked]]] = []
    for seed in seeds:
        random = Random(seed)
        run = exact_run(random)
        most = random.choice((0, 1, 3))
        asked: list[Asked] = []
        for overwrite in (False, True):
            for _ in range(2):
                asked.append((random_order(random, run), overwrite, ALL))
            asked.append((random_order(random, run), overwrite, most))
            asked += [(name, overwrite, ALL) for name in WRONG]
        cases.append((run, asked))
    lost = again = 0
    for (run, asked), answers in zip(cases, ask([(r, BODY, a) for r, a in cases]), strict=True):
        for one, answer in zip(asked, answers, strict=True):
            found = check(run, one, answer)
            lost += any(part.lost.count for part in found.inputs.values())
            again += any(part.again.count for part in found.inputs.values())
    return lost, again


def test_orders_get_and_lose_what_the_lab_says() -> None:
    lost, again = check_graphs(range(200, 220))
    assert lost > 66 and again > 5


@pytest.mark.slow
def test_orders_on_many_graphs() -> None:
    lost, again = check_graphs(range(3000, 3400))
    assert lost > 1500 and again > 100


GATED = (
    "u = x*y; where(u > 0, u*u, 2*u) + max(x, u)*y",
    "u = x*y; v = u + x; where(v > u, v*u, x)*where(v < u, v, u)",
    "b = x > y; abs(x*b)*min(x, y, x*y) + floor(x*y)*x",
    "relu(x*y)*(x - y) + where(x*y, x, y)*x",
)


def test_orders_meet_gates() -> None:
    """Naive recursion goes through a condition, too, though nothing is passed to it."""
    points = [
        {"x": 2.0, "y": 3.0},
        {"x": -1.0, "y": 2.0},
        {"x": 4.0, "y": 0.0},
        {"x": 2.0, "y": 2.0},
    ]
    runs = [parse(text).gradient(point) for text in GATED for point in points]
    asked: list[Asked] = [(name, overwrite, 3) for name in WRONG for overwrite in (False, True)]
    for run, answers in zip(runs, ask([(run, BODY, asked) for run in runs]), strict=True):
        for one, answer in zip(asked, answers, strict=True):
            check(run, one, answer)


SWEPT = """
const locals = ARGS.locals.map(given);
return ARGS.orders.map(visits =>
  simulate(PAGE, locals, typeof visits === "string" ? ORDERS[visits](PAGE) : visits).got);
"""


def same(one: float, other: float) -> bool:
    return one == other or (math.isnan(one) and math.isnan(other))


def test_the_sweep_is_that_of_grad_to_the_last_bit() -> None:
    """Given the same local derivatives; nan, infinities and gates that are shut among them."""
    random = Random("swept")
    cases: list[tuple[Run, list[list[int] | str]]] = []
    for _ in range(30):
        f = parse(tree(random, ("x", "y", "z", "x", "2", "0"), FREQUENT, random.randint(3, 25)))
        values = {
            name: random.choice((random.uniform(-4, 4), 0.0, 1e200, -1.0)) for name in f.inputs
        }
        if f.inputs:
            run = f.gradient(values)
            cases.append((run, ["right", *WRONG, random_order(random, run)]))
    asked = []
    for run, orders in cases:
        assert run.adjoints is not None
        locals_ = []
        for user, position in page_edges(run):
            found = run.adjoints.locals[user]
            local = math.nan if found is None else found[position]
            locals_.append(local if math.isfinite(local) else str(local))
        asked.append((run, SWEPT, {"locals": locals_, "orders": orders}))
    infinite = 0
    for (run, orders), answers in zip(cases, ask(asked), strict=True):
        for order, answer in zip(orders, answers, strict=True):
            wanted = run.swept if order == "right" else run.visited(order).got
            infinite += not all(map(math.isfinite, wanted.values()))
            for name, number in wanted.items():
                assert same(answer[str(run.graph.inputs[name])], number), (run.text, order, name)
    assert infinite > 3


def ladder(steps: int) -> Run:
    """A chain of diamonds: 2^steps paths, all products positive."""
    return parse(
        "\n".join([f"t{i + 1} = t{i}*2 + t{i}*3" for i in range(steps)] + [f"t{steps}"])
    ).gradient(t0=1)


def test_paths_are_counted_not_walked() -> None:
    """2^200 of them; the sums differ by no more than 1,200 roundings on either side, all terms positive."""
    run = ladder(200)
    random = Random("ladder")
    order = [node for node in run.order if run.adjoints and run.adjoints.active[node]]
    for _ in range(30):
        at, to = random.randrange(len(order)), random.randrange(len(order))
        order.insert(to, order.pop(at))
    asked: list[Asked] = [(order, False, 5), ("preorder", False, 5), ("right", False, 5)]
    (answers,) = ask([(run, BODY, asked)])
    for (listed, *_), answer in zip(asked, answers, strict=True):
        found = run.visited(None if listed == "right" else listed, most=5).inputs["t0"]
        (part,) = answer["outcomes"]
        assert part["counted"]["count"] + part["lost"]["count"] == 2**200
        assert part["lost"]["count"] == found.lost.count
        assert (part["got"], part["true"]) == (found.got, found.true)
        assert math.isclose(
            part["lost"]["sum"], found.lost.sum, rel_tol=2 * 1200 * 2.0**-53, abs_tol=0
        )
        sizes = [lost["product"] for lost in part["losses"]]
        assert sizes == [lost.path.product for lost in found.listed]
        assert len(part["counts"]) == min(5, part["counted"]["count"])


def test_naive_recursion_is_capped() -> None:
    body = "return ORDERS.naive(PAGE)?.length ?? null;"
    assert ask([(ladder(9), body, None), (ladder(200), body, None)]) == [1533, None]


FRESH = """
const data = forward(PAGE, new Map(ARGS)), locals = localDerivatives(PAGE, data);
return [data[PAGE.output], simulate(PAGE, locals, ORDERS.right(PAGE)).got];
"""


def test_an_edited_input_may_take_another_branch() -> None:
    """What was not taken when the page was made has edges too; a shut gate does not pass even 0*inf."""
    f = parse(
        "t = where(a > 0, a*b, a*a + b)\nt*where(b > 0, 2, 1/(b - b)) + where(b < 0, 1/(b*0)*a, b)"
    )
    run = f.gradient(a=2, b=3)
    points = ({"a": -2, "b": 3}, {"a": -2, "b": -1}, {"a": 2, "b": -1}, {"a": 0, "b": 3})
    given = [[(run.graph.inputs[name], value) for name, value in p.items()] for p in points]
    answers = ask([(run, FRESH, values) for values in given])
    for point, (value, got) in zip(points, answers, strict=True):
        fresh = f.gradient(point)
        assert same(value, fresh.value)
        for name, number in fresh.swept.items():
            assert same(got[str(run.graph.inputs[name])], number), point


def test_a_small_step_of_an_input() -> None:
    run = parse("a*b + 1").gradient(a=2, b=-3)
    body = """
      const data = forward(PAGE), locals = localDerivatives(PAGE, data);
      const {grads} = simulate(PAGE, locals, ORDERS.right(PAGE));
      return PAGE.wrt.map(id => nudges(PAGE, data, grads, id, 0.5));
    """
    assert ask([(run, body, None)]) == [
        [
            {"moved": -1.5, "predicted": -1.5},
            {"moved": 1, "predicted": 1},
        ]
    ]


def test_names_that_javascript_knows() -> None:
    """``__proto__`` is an input like any other, also where the page is written as a program."""
    names = ("__proto__", "constructor", "OPS", "PAGE", "class", "toString")
    run = parse("*".join(names)).gradient({name: at + 1 for at, name in enumerate(names)})
    body = """
      const page = new Function("return " + JSON.stringify(PAGE))(), data = forward(page);
      const {got} = simulate(page, localDerivatives(page, data), ORDERS.right(page));
      return page.inputs.map(([name, id]) => [name, data[id], got[id]]);
    """
    (found,) = ask([(run, body, None)])
    assert found == [[name, run.inputs[name], run.gradient[name]] for name in names]
