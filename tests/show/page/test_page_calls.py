"""A page with calls: a sheet for each choice of what is open, and what a closed call computes."""

from __future__ import annotations

import pytest

from calls import Part, with_calls
from exprgrad.errors import RequestError
from exprgrad.show.page.model import call_program, page_model
from exprgrad.show.page.page import links_between_sheets, sheets_with_opened_calls
from scripts import ask

TEXT = "where(x > 0, x*log(y), y)*3 + (x + y)"
PARTS = (
    Part("f(x, y)", "where(x > 0, x*log(y), y)*3", "x y"),
    Part("g(x, y)", "x + y", "x y"),
)


def test_there_is_a_sheet_for_each_choice_of_names() -> None:
    run = with_calls(TEXT, *PARTS).gradient(x=2, y=3)
    sheets = sheets_with_opened_calls(run, None)
    assert sheets[0] is run
    shown = [[call.word for call in sheet.graph.calls if call.opened] for sheet in sheets]
    assert shown == [[], ["f"], ["g"], ["f", "g"]]
    # From each sheet, a click leads to where that call is open, or closed.
    places = {run.label(node): place for place, node in enumerate(run.shown)}
    assert dict(links_between_sheets(run, sheets)) == {places["f(x, y)"]: 1, places["g(x, y)"]: 2}
    assert {at for _, at in links_between_sheets(sheets[3], sheets)} == {1, 2}
    # What is too large for a page cannot be opened.
    assert [len(sheet.shown) for sheet in sheets_with_opened_calls(run, 6)] == [5, 5]


def test_many_names_open_together() -> None:
    text = "+".join(f"(x*{n})" for n in range(1, 6))
    run = with_calls(text, *[Part(f"f{n}(x)", f"x*{n}", "x") for n in range(1, 6)]).gradient(x=1)
    none, every = sheets_with_opened_calls(run, None)
    assert len(none.closed) == 5 and not every.closed


@pytest.mark.parametrize("x", [2.0, -1.5])
def test_a_closed_call_computes_what_its_nodes_do(x: float) -> None:
    run = with_calls(TEXT, *PARTS).gradient(x=x, y=3)
    (at, closed), *_ = run.closed.items()
    body = """
      const data = forward(ARGS, new Map([[0, given(ARGS.at[0])], [1, given(ARGS.at[1])]]));
      return [data[ARGS.output], simulate(ARGS, localDerivatives(ARGS, data), ORDERS.right(ARGS)).got];
    """
    operands = [run.values[operand] for operand in closed.operands]
    program = {**call_program(run, closed), "at": operands}
    ((value, got),) = ask([(run, body, program)])
    assert value == run.values[at]
    slopes = run.slopes(closed)
    assert {int(place): slope for place, slope in got.items()} == {
        place: slopes.get(operand, 0.0) for place, operand in enumerate(closed.operands)
    }


def test_a_page_is_refused_by_what_is_seen() -> None:
    text = "+".join(["x"] * 600)
    run = with_calls(f"{text} - x", Part("f(x)", text, "x")).gradient(x=1)
    told = page_model(run)
    assert [node["label"] for node in told["nodes"]] == ["x", "f(x)", "f(x) − x"]
    assert [edge["rule"] for edge in told["edges"]] == ["1", "−1", "∂f/∂x"]
    assert len(sheets_with_opened_calls(run, 500)) == 1
    with pytest.raises(RequestError, match="a page of 601 nodes is too large"):
        with_calls(f"{text} - x").gradient(x=1).explore()
