"""Wrong visit orders in a browser, against ``grad --order``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pytest

from browsers import axe
from exprgrad.api import parse
from exprgrad.explain.walks import VisitResult
from exprgrad.show.text.lines import signed_number as number
from pages import break_it, edit, follow, html_of, last, lesson_html, panel, press, results, run_of

RULES = {"preorder": "preorder", "bfs": "breadth first", "naive": "naive"}
TWICE = ("t=a*b; y=t+t*a", {"a": 2.0, "b": -3.0})
BRANCH = ("u = x*y; where(u > 0, u*u, exp(u)) + max(x, u)*y", {"x": 1.5, "y": 0.5})
CHAIN = ("s = x*x; t = s*s; t*t + s", {"x": 1.1})
DIAMOND = ("b = a + 1; c = a*3; d = b*c", {"a": 2.0})
CASES = [TWICE, *[pytest.param(case, marks=pytest.mark.slow) for case in (BRANCH, CHAIN, DIAMOND)]]


def choice(page: Any, words: str) -> Any:
    """One of the order's or the sign's choices, by the words that it begins with."""
    name = re.compile(f"^{re.escape(words)}")
    return panel(page, "Visit order").get_by_role("radio", name=name)


def choose(page: Any, words: str) -> None:
    """Choose it."""
    break_it(page)
    choice(page, words).check()


def arrange(page: Any, wanted: Sequence[str]) -> None:
    """Press the buttons of the list until its first visits are these nodes."""
    break_it(page)
    for at, name in enumerate(wanted):
        place = page.locator("#order li bdi").all_inner_texts().index(name)
        for _ in range(place - at):
            page.get_by_role("button", name=f"{name} earlier", exact=True).click()


FATES = """() => [...document.querySelectorAll("#visits ul.paths")].map(list => [
  list.previousElementSibling.textContent.replace("Paths to ", ""),
  [...list.children].map(item => item.textContent),
  list.nextElementSibling.textContent,
])"""


def assert_agrees(page: Any, found: VisitResult) -> None:
    """What the page says of an order is what ``Run.visited`` finds, path by path."""
    shown = results(page)
    assert list(shown) == list(found.inputs)
    fates = {name: (lines, told) for name, lines, told in page.evaluate(FATES)}
    for name, outcome in found.inputs.items():
        assert shown[name] == pytest.approx((outcome.got, outcome.true), rel=1e-12)
        if name not in fates:
            assert not (outcome.lost.count or outcome.again.count)
            continue
        lines, told = fates[name]
        lost = [line for line in lines if line.startswith("✗")]
        products = [number(path.path.product, 6) for path in outcome.listed]
        assert len(lost) == len(products)
        assert all(f"{product}, " in line for line, product in zip(lost, products, strict=True))
        for part in (outcome.counted, outcome.lost, outcome.again):
            assert not part.count or number(part.sum, 6) in told


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_wrong_order_is_that_of_grad(case: tuple[str, dict[str, float]], browse: Any) -> None:
    text, values = case
    run = run_of(text, values)
    page = browse.show(html_of(text, **values))
    last(page)
    for accumulate, words in (("add", "+="), ("set", "=")):
        choose(page, words)
        for rule, name in ((None, "right"), *RULES.items()):
            choose(page, name)
            assert_agrees(page, run.visited(rule, accumulate))


def test_the_contract_s_numbers(browse: Any) -> None:
    """True (-15, 6); preorder (-9, 2); naive (-18, 8); ``=`` for ``+=`` (-6, 4)."""
    text, values = TWICE
    page = browse.show(html_of(text, **values))
    assert results(page) == {}, "nothing is told before the sweep has found it"
    last(page)

    def got() -> tuple[float, ...]:
        assert [true for _, true in results(page).values()] == [-15, 6]
        return tuple(got for got, _ in results(page).values())

    assert got() == (-15, 6)
    choose(page, "preorder")
    assert got() == (-9, 2)
    choose(page, "naive")
    assert got() == (-18, 8)
    choose(page, "right")
    choose(page, "=")
    assert got() == (-6, 4)
    choose(page, "preorder")
    edit(page, "a", "5")
    here = run_of(text, {"a": 5, "b": -3})
    assert_agrees(page, here.visited("preorder", "set"))


def test_orders_wait_until_someone_breaks_it(browse: Any) -> None:
    """They are folded; an address of a wrong order, or of another sign, unfolds them."""
    page = browse.show(lesson_html("diamond"))
    button = page.get_by_role("button", name="Click the order")
    assert not choice(page, "naive").is_visible() and not button.is_visible()
    assert "Each node after all its users" in panel(page, "Visit order").inner_text()
    break_it(page)
    assert choice(page, "naive").is_visible() and button.is_visible()
    for told in ("order=naive", "sign=%3D"):
        page = browse.show(lesson_html("diamond"))
        assert not choice(page, "naive").is_visible()
        follow(page, told)
        assert choice(page, "naive").is_visible()
        browse.asked.clear()


def test_the_diamond_read_too_early(browse: Any) -> None:
    """The order d, b, a, c reads 6 of the true 15: lost d → c → a, worth 9; the graph says so, too."""
    page = browse.show(lesson_html("diamond"))
    arrange(page, ["d", "b", "a", "c"])
    assert results(page) == {"a": (6, 15)}
    (lost,) = [
        line
        for line in panel(page, "Visit order").locator("ul.paths li").all_inner_texts()
        if line.startswith("✗")
    ]
    assert "d → c → a: 3 × 3 = 9" in lost
    assert choice(page, "my own").is_checked()
    # Not by colour alone: a dashed wire, a cross, and the true number.
    card, wire = page.locator("#n0"), page.locator('[data-edge="4_0"] path').first
    assert "✗ true 15" in card.text_content()
    assert "✗ += 9" in page.locator("#c4_0").text_content()
    assert wire.evaluate("path => getComputedStyle(path).strokeDasharray") != "none"
    other = page.locator('[data-edge="2_0"] path').first
    assert other.evaluate("path => getComputedStyle(path).strokeDasharray") == "none"
    run = run_of("b = a + 1; c = a*3; d = b*c", {"a": 2})
    assert_agrees(page, run.visited(["d", "b", "a", "c"]))


TURNS = """() => Object.fromEntries([...document.querySelectorAll("#graph .node")]
  .filter(card => card.querySelector(".turn")?.textContent)
  .map(card => [card.id, card.querySelector(".turn").textContent]))"""


def test_nodes_clicked_one_after_the_other_are_an_order(browse: Any) -> None:
    """By the mouse and by keys: each bears its number, and the last one runs the sweep."""
    page = browse.show(lesson_html("diamond"))
    told = page.locator("#told")
    break_it(page)
    press(page, "Click the order")
    page.locator("#n5").click()
    page.locator("#n5").click()
    assert told.text_content() == "d is taken back"
    assert page.evaluate(TURNS) == {}
    # The mouse leaves the focus at the output, where the keys go on.
    page.keyboard.press("Enter")
    page.locator("#n2").click()
    assert told.text_content() == "b is visit 2 of 4"
    assert page.evaluate(TURNS) == {"n5": "1", "n2": "2"}
    assert panel(page, "Look closer").count() == 0
    assert axe(page, "light") == []
    page.locator("#n0").click()
    page.locator("#n4").click()
    assert results(page) == {"a": (6, 15)}
    assert told.text_content() == "d is 18, a gets 6 of the true 15"
    assert page.evaluate(TURNS) == {"n5": "1", "n2": "2", "n0": "3", "n4": "4"}
    assert choice(page, "my own").is_checked()
    # What is not clicked follows as it is; Esc leaves all as it was.
    press(page, "Click the order")
    page.locator("#n4").click()
    press(page, "The rest as it is")
    order = page.locator("#order li bdi")
    assert order.all_text_contents() == ["c", "d", "b", "a"]
    press(page, "Click the order")
    page.locator("#n0").click()
    page.keyboard.press("Escape")
    assert order.all_text_contents() == ["c", "d", "b", "a"]
    assert page.evaluate(TURNS) == {"n4": "1", "n5": "2", "n2": "3", "n0": "4"}
    choose(page, "right")
    assert page.evaluate(TURNS) == {}


ORDERS = [
    pytest.param(["L", "e", "d", "c", "b", "a", "f"], marks=pytest.mark.slow),
    ["d", "L", "f", "e", "c", "b", "a"],
    pytest.param(["a", "b", "e", "c", "d", "f", "L"], marks=pytest.mark.slow),
]


@pytest.mark.slow
@pytest.mark.parametrize("order", ORDERS, ids="".join)
def test_orders_of_one_s_own(order: list[str], browse: Any) -> None:
    text, values = "e = a*b; d = e + c; L = d*f", {"a": 2.0, "b": -3.0, "c": 10.0, "f": -2.0}
    run = run_of(text, values)
    page = browse.show(html_of(text, **values))
    arrange(page, order)
    assert_agrees(page, run.visited(order))


@pytest.mark.slow
def test_a_naive_order_that_would_not_end_is_not_offered(browse: Any) -> None:
    text = "; ".join(["t0 = x*1", *(f"t{k + 1} = t{k}*t{k}" for k in range(12))])
    page = browse.show(html_of(text, x=1.0))
    break_it(page)
    assert choice(page, "naive").is_disabled()
    assert choice(page, "preorder").is_enabled()


DROP = """index => {
  const brought = new DataTransfer;
  brought.setData("text/plain", "from elsewhere");
  const over = new DragEvent("dragover", {bubbles: true, cancelable: true, dataTransfer: brought});
  const drop = new DragEvent("drop", {bubbles: true, cancelable: true, dataTransfer: brought});
  const item = document.querySelectorAll("#order li")[index];
  return [over, drop].map(event => !item.dispatchEvent(event));
}"""


def test_only_visits_can_be_dropped_onto_visits(browse: Any) -> None:
    page = browse.show(html_of("b = a + 1; c = a*3; d = b*c", a=2.0))
    break_it(page)
    visits = page.locator("#order li bdi").all_inner_texts
    assert page.evaluate(DROP, 1)[0] is False, "it is not welcome"
    assert visits() == ["d", "c", "b", "a"]
    page.locator("#order li").nth(2).drag_to(page.locator("#order li").nth(1))
    assert visits() == ["d", "b", "c", "a"]
    page.evaluate(DROP, 0)
    assert visits() == ["d", "b", "c", "a"], "what was dragged before has been let go"
    assert choice(page, "my own").is_checked() and results(page) == {"a": (15, 15)}


def verdicts(page: Any) -> list[str]:
    """What is said of each input's grad."""
    return list(page.locator("[data-input] td:last-child").all_inner_texts())


@pytest.mark.slow
def test_a_lost_path_that_is_worth_nothing(browse: Any) -> None:
    page = browse.show(html_of("x*y", x=0.0, y=1.0))
    arrange(page, ["y"])
    assert verdicts(page) == ["✓ right", "right by chance"]
    assert_agrees(page, run_of("x*y", {"x": 0.0, "y": 1.0}).visited(["y", "x*y", "x"]))


@pytest.mark.slow
def test_where_no_path_leads(browse: Any) -> None:
    page = browse.show(html_of("where(a > 0, a, b)", a=-1.0, b=2.0))
    last(page)
    told = [line for _, _, line in page.evaluate(FATES)]
    assert told == ["No path leads to a.", "Every path counts once: 1."]


@pytest.mark.slow
def test_what_never_arrived_is_not_multiplied(browse: Any) -> None:
    """Not even by infinity."""
    page = browse.show(html_of("u = log(a); v = u*b; v*c", a=0.0, b=2.0, c=3.0))
    arrange(page, ["v*c", "u"])
    page.locator("#c1_0").click()
    said = panel(page, "Look closer").inner_text()
    assert "The edge from a to u" in said and "No grad had reached u: it passes 0." in said


@pytest.mark.slow
def test_an_order_of_one_s_own_has_each_node_once(browse: Any) -> None:
    """Also after one that repeats nodes, or leaves the inputs out."""
    page = browse.show(lesson_html("square"))
    tip, listed = break_it(page).get_by_text("Drag one"), page.locator("#order li bdi")
    choose(page, "naive")
    assert not tip.is_visible()
    assert (
        page.locator("#told").inner_text()
        == "y is 9, a gets 12 of the true 6, b gets 12 of the true 6"
    )
    choose(page, "my own")
    assert tip.is_visible() and listed.all_inner_texts() == ["y", "u", "b", "a"]
    page = browse.show(lesson_html("diamond"))
    choose(page, "preorder")
    choose(page, "my own")
    arrange(page, ["d", "b", "a", "c"])
    assert results(page) == {"a": (6, 15)}


def test_what_overwrites_does_not_add_up(browse: Any) -> None:
    page = browse.show(lesson_html("diamond"))
    choose(page, "=")
    assert "last overwrites the rest" in page.locator("#why").inner_text()
    page.locator("#n0").click()
    assert "last overwrites the rest" in panel(page, "Look closer").inner_text()
    assert "is complete" not in panel(page, "Visit order").inner_text()


@pytest.mark.slow
def test_where_nothing_is_differentiated_nothing_is_visited(browse: Any) -> None:
    run = parse("y = a*b; z = c+1; y").gradient({"a": 1, "b": 2, "c": 3}, wrt=["c"])
    page = browse.show(run.explore().html)
    press(page, "Run it")
    assert "y depends on no differentiated input" in panel(page, "Visit order").inner_text()
    assert results(page) == {"c": (0, 0)}
