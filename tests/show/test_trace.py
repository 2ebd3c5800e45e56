"""The trace: the reverse sweep visit by visit, as golden files and as arithmetic that must hold."""

from __future__ import annotations

import re

import pytest

import golden
from exprgrad import RequestError, Run, parse
from exprgrad.show.text.lines import LONGEST_WHOLE
from exprgrad.show.text.trace import trace_text

TRACES: dict[str, Run] = {
    "lesson": parse("e = a + b\nf = e*c").gradient(a=2, b=-3, c=10),
    "unnamed": parse("(a+b)*c").gradient(a=2, b=-3, c=10),
    "square": parse("a*a").gradient(a=3),
    "reuse": parse("b=a+1; c=a*3; d=b*c").gradient(a=2),
    "neuron": parse("tanh(x1*w1 + x2*w2 + b)").gradient(
        x1=2, w1=-3, x2=0, w2=1, b=6.8813735870195432
    ),
    "choices": parse("y = where(x > 0, relu(x)*2, log(x)); max(y, z, 1)").gradient(x=3, z=6),
    "dead": parse("where(x > 0, log(x), x^2)").gradient(x=-2),
    "wrt": parse("a*b + c*d").gradient(a=1, b=2, c=3, d=4, wrt=["b", "d"]),
    "unused": parse("t = 2*x; x^3 - 1/x").gradient(x=2),
    "signs": parse("-(a - b)/(a % b)").gradient(a=7, b=-4),
    "infinite": parse("sqrt(x)*log(y)").gradient(x=0, y=0),
    "wide": parse("重み*入力 + e\u0301").gradient(重み=2, 入力=3, é=1),
    "long": parse("+".join(f"sin(x{i})" for i in range(30))).gradient(
        {f"x{i}": i for i in range(30)}
    ),
    "constant": parse("2+2").gradient(),
}


@pytest.mark.parametrize("name", TRACES)
def test_traces(name: str) -> None:
    golden.agree(f"trace/{name}.txt", TRACES[name].trace() + "\n")


@pytest.mark.parametrize("width", [80, 40])
def test_on_a_narrow_terminal_each_contribution_has_its_own_line(width: int) -> None:
    run = TRACES["neuron"]
    narrow = trace_text(run, width=width)
    golden.agree(f"trace/neuron-{width}.txt", narrow + "\n")
    told, visits, _ = narrow.split("\n\n")
    assert max(map(len, [*told.splitlines(), *visits.splitlines()])) <= width
    assert narrow.count(" += ") == run.trace().count(" += ")
    assert trace_text(run, width=200) == run.trace()


def test_grads_are_coloured_where_asked() -> None:
    colored = trace_text(TRACES["lesson"], color=True)
    assert "\x1b[33mgrad 0 → 10\x1b[0m" in colored
    assert re.sub("\x1b\\[[0-9]+m", "", colored) == TRACES["lesson"].trace()


def test_a_visit_of_many_operands_is_cut() -> None:
    run = parse(f"max({', '.join(f'x{i}' for i in range(100))})").gradient(
        {f"x{i}": i for i in range(100)}
    )
    assert "… 60 contributions left out; all=True shows them" in run.trace()
    assert run.trace(all=True).count(" += ") == 100


@pytest.mark.parametrize("name", TRACES)
def test_the_numbers_add_up(name: str) -> None:
    """Each ``grad a → b`` begins where the one before it ended, and the last is the node's grad."""
    run = TRACES[name]
    text = run.trace(digits=17, all=True).replace("−", "-")
    steps = [line for line in text.splitlines() if " += " in line]
    assert len(steps) == len(run.edges)
    sofar: dict[str, float] = {}
    for line, edge in zip(steps, run.edges, strict=True):
        if "passes nothing on" in line:
            assert edge.local == edge.contribution == 0
            continue
        cells = re.split("  +", line)
        (target,) = [cell.split(" += ")[0] for cell in cells if " += " in cell]
        (grads,) = [cell for cell in cells if "→" in cell]
        before, after = map(float, grads.removeprefix("grad ").split(" → "))
        assert before == sofar.get(target, 0.0) or before != before
        assert after == before + edge.contribution or after != after
        sofar[target] = after
    for input_name, grad in run.gradient.items():
        assert sofar.get(input_name, 0.0) == grad or grad != grad


def test_every_visit_is_there_in_order() -> None:
    for run in TRACES.values():
        lines = [line for line in run.trace(all=True).splitlines() if line.startswith("visit")]
        assert len(lines) == len(run.order)
        assert run.order == sorted(run.order, reverse=True)


def test_a_long_trace_says_what_it_left_out() -> None:
    run = TRACES["long"]
    assert f"… {len(run.order) - 40} visits left out; all=True shows them" in run.trace()
    assert "left out" not in run.trace(all=True)


def test_a_forward_run_has_no_trace() -> None:
    with pytest.raises(RequestError, match="reverse sweep"):
        parse("a").evaluate(a=1).trace()


def test_a_visit_of_the_most_contributions_is_whole() -> None:
    for count in (LONGEST_WHOLE, LONGEST_WHOLE + 1):
        run = parse(f"max({', '.join(f'x{i}' for i in range(count))})").gradient(
            {f"x{i}": 1.0 for i in range(count)}
        )
        assert ("contributions left out" in run.trace()) == (count > LONGEST_WHOLE)


@pytest.mark.parametrize("name", TRACES)
@pytest.mark.parametrize("width", [None, 60])
def test_a_number_is_defined_before_it_is_used(name: str, width: int | None) -> None:
    """``#7`` is first met before ``=``, and in a definition only such as are defined above it."""
    defined: set[str] = set()
    for line in trace_text(TRACES[name], width=width).splitlines():
        if found := re.match("(#[0-9]+) = ", line):
            defined.add(found[1])
        assert {*re.findall("#[0-9]+", line)} <= defined


def test_a_long_list_is_defined_too() -> None:
    run = parse("sum(x @ [[1.25, 2.5], [3.75, 4.125]])").gradient(x=[1, 2])
    assert "#1 = [[1.25, 2.5], [3.75, 4.125]]\n" in run.trace()
