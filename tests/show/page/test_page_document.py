"""The page's HTML: one file, closed to all that is not its own, in which what a user typed is text."""

from __future__ import annotations

import json
import os
import re
import shutil
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from importlib.resources import files
from importlib.util import find_spec

import pytest

from exprgrad.api import parse
from exprgrad.graph.ops import BY_NAME
from exprgrad.show.page.lessons import LESSONS, LIVE, Lesson, all_tasks
from exprgrad.show.page.page import (
    OWN_PROPERTIES,
    STYLES,
    SWEEPS,
    VIEWS,
    code_html,
    page_document,
    read_asset,
    script_literal,
)
from exprgrad.show.picture import theme as look
from pages import lesson_html
from scripts import complaint

pytestmark = pytest.mark.skipif(
    not (shutil.which("dot") or find_spec("pygraphviz"))
    and os.environ.get("EXPRGRAD_GRAPHVIZ") != "require",
    reason="no Graphviz: pip install 'exprgrad[draw]' or install Graphviz",
)
NASTY = "a*b # </script><img src=x onerror=alert(1)> ]]> <!-- <script> &amp; \" ' {{style}} \u2028\u202e"
LARGEST = 90_000
"""The most bytes of a lesson's page."""
LARGEST_NETWORK = 133_000
"""The same of one that trains a network."""


class Reader(HTMLParser):
    """The elements of a page, and the texts in them."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.open: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element begins."""
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "input"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element of SVG is empty."""
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        """An element ends."""
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """A text."""
        if self.open:
            self.texts.append((self.open[-1], data))


def made(text: str, **inputs: float) -> Reader:
    """The page of a formula."""
    return Reader(page_document(parse(text).gradient(inputs)))


def policy(page: Reader) -> str:
    """The page's Content-Security-Policy."""
    (found,) = [attrs["content"] for tag, attrs in page.tags if "http-equiv" in attrs]
    assert found
    return found


def script(page: Reader) -> str:
    """The page's script."""
    (found,) = ["".join(text for tag, text in page.texts if tag == "script")]
    return found


def test_the_policy_allows_this_script_and_nothing_else() -> None:
    page = made("a*b", a=2, b=3)
    assert [tag for tag, _ in page.tags].count("script") == 1
    digest = b64encode(sha256(script(page).encode()).digest()).decode()
    assert policy(page) == (
        "default-src 'none'; style-src 'unsafe-inline'; "
        f"script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )


def test_it_needs_nothing_else() -> None:
    html = page_document(parse("a*b").gradient(a=2, b=3))
    assert not re.search(r"\b(?:src|href|url)\s*[=(](?!\"#)", html)
    page = Reader(html)
    assert not [tag for tag, _ in page.tags if tag in ("link", "img", "iframe", "object", "base")]
    assert not [name for _, attrs in page.tags for name in attrs if name.startswith("on")]
    assert not page.open, "every element is closed"
    ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
    assert len(ids) == len(set(ids))


def test_what_was_typed_is_text() -> None:
    plain, nasty = made("a*b # x", a=2, b=3), made(NASTY, a=2, b=3)
    assert [tag for tag, _ in nasty.tags] == [tag for tag, _ in plain.tags]
    shown = "".join(text for tag, text in nasty.texts if tag == "code")
    # Line separators are blanks, and a character that would turn the text around is not obeyed.
    assert shown == NASTY.replace("\u2028\u202e", " \ufffd")


def data_of(html: str) -> str:
    """The JSON in the script that a page has as it stands: whatever would end that is still in it."""
    script = html[html.index("<script>") : html.rindex("</script>")]
    found = re.search(r"^const PAGE=(.*);$", script, re.MULTILINE)
    assert found
    return found[1]


def test_the_script_holds_nothing_that_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names and texts are JSON in which no ``<`` is left."""
    run = parse("שלום = a < b; where(שלום, a, b)").gradient(a=1, b=2)
    data = data_of(page_document(run))
    assert "<" not in data
    assert '"\u200eשלום\u200e = a \\u003c b"' in data
    monkeypatch.setattr("exprgrad.show.page.page.pack_page", lambda told: [NASTY])
    data = data_of(page_document(run))
    assert not {*"<\u2028\u2029"} & {*data} and json.loads(data) == [NASTY]


def test_data_in_a_script() -> None:
    """Keys have the script's names and no quotes; texts stay what they are."""
    data = {"user": [{"text": '"user":"\\"'}], "a 1": None}
    assert script_literal(data, {"user": "u"}) == '{u:[{text:"\\"user\\":\\"\\\\\\""}],"a 1":null}'
    assert not OWN_PROPERTIES & BY_NAME.keys(), "a row's key is its name"
    written = "".join(read_asset(f"{name}.js") for name in (*SWEEPS, *VIEWS))
    assert not OWN_PROPERTIES & {*re.findall(r"dataset\.(\w+)", written)}, "the style knows those"


@pytest.mark.parametrize("text, has_them", [("a*b", True), ("sum([a, b]*a)", False)])
def test_numbers_are_dragged_and_wiggle_where_there_are_no_tensors(
    text: str, has_them: bool
) -> None:
    html = parse(text).gradient(a=1.0, b=2.0).explore().html
    assert [words in html for words in ("dragged sideways", '"Wiggle"')] == [has_them] * 2


@pytest.mark.parametrize("tools", [("orders", "code"), ("code",), ()])
def test_a_lesson_s_page_has_the_panels_that_it_asks_for(tools: tuple[str, ...]) -> None:
    """And nothing of the others, neither script nor style."""
    lesson = LESSONS["chain"]._replace(tools=tools)
    run = parse(lesson.expression).gradient(lesson.values)
    html = page_document(run, lesson=lesson)
    orders = ("Visit order", "Break it", "#order", "breadth first", "was never visited", "true ${")
    code = ("<h2>Code</h2>", "import torch", "#code li")
    for name, signs in {"orders": orders, "code": code}.items():
        assert [sign for sign in signs if sign in html] == [*signs] * (name in tools)
    assert complaint(script(Reader(html))) == ""


def test_a_lone_surrogate_can_be_written() -> None:
    page_document(parse("a*b # \udc80").gradient(a=1, b=2)).encode()


@pytest.mark.parametrize("name", LESSONS)
def test_a_lesson_is_small_and_told_on_its_page(name: str) -> None:
    lesson, html = LESSONS[name], lesson_html(name)
    trains = any(part.live == "training" for part in lesson.parts)
    assert len(html.encode()) < (LARGEST_NETWORK if trains else LARGEST)
    page = Reader(html)
    assert ("h1", lesson.title) in page.texts
    assert {lesson.question, lesson.about} - {""} <= {text for _, text in page.texts}
    tasks = all_tasks(lesson)
    told = [text for task in tasks for text in (task.text, task.seen) if text]
    assert [text for tag, text in page.texts if tag in ("span", "p") and text in told] == told
    shown = "".join(text for tag, text in page.texts if tag in ("p", "code", "summary"))
    for part in lesson.parts:
        paragraphs = re.split(r"\n\s*\n", part.text.replace("`", ""))
        assert all(" ".join(text.split()) in shown for text in (part.title, *paragraphs))


PAGES = ("a*b", "f(x) = x*x; f(a) + f(b)", "max(a, abs(b))", "sum(relu(A))", "f(X) = sum(X); f(A)")


@pytest.mark.parametrize("name", [*LESSONS, *PAGES])
def test_a_page_s_script_is_in_order(name: str) -> None:
    """However its files are put together."""
    values = {"a": 2, "b": 3, "A": [[1, -2], [3, 4]]}
    if name in LESSONS:
        html = lesson_html(name)
    else:
        expression = parse(name)
        html = page_document(
            expression.gradient({each: values[each] for each in expression.inputs}),
            descend="a" in expression.inputs,
        )
    assert complaint(script(Reader(html))) == ""


def test_the_style_names_the_properties_that_a_script_uses() -> None:
    html = lesson_html("network")
    parts = re.search(r"<style>(.*?)</style>.*<script>(.*?)</script>", html, re.S)
    assert parts is not None
    style, script = parts.groups()
    used = {*re.findall(r"""["'](--[a-z]+)["']""", script)}
    assert "--z" in used
    assert used <= {*re.findall(r"var\((--\w+)", style), *re.findall(r"(--\w+):", style)}


def test_what_moves_keeps_its_name() -> None:
    """An attribute of the page names it."""
    assert not OWN_PROPERTIES & LIVE.keys()


def test_a_lesson_is_text_too() -> None:
    lesson = Lesson("x", "<b>&", "a*b", {"a": 1.0, "b": 2.0}, "<i>", ("<u>{{head}}",), "<b>?")
    page = Reader(page_document(parse("a*b").gradient(a=1, b=2), lesson=lesson))
    assert not [tag for tag, _ in page.tags if tag in ("b", "i", "u")]
    assert {
        ("h1", "<b>&"),
        ("title", "<b>&"),
        ("p", "<b>?"),
        ("p", "<i>"),
        ("span", "<u>{{head}}"),
    } <= {*page.texts}


def test_a_formula_reads_from_left_to_right() -> None:
    assert (
        code_html("אב - גד*a")
        == '<code dir="ltr" class="whole"><bdi>אב</bdi> - <bdi>גד</bdi>*a</code>'
    )
    assert code_html("a < b\n c & d") == '<code dir="ltr" class="whole">a &lt; b\n c &amp; d</code>'


def test_a_long_formula_is_folded_away() -> None:
    page = made("x # " + 793 * "n", x=1)
    assert "details" in [tag for tag, _ in page.tags]
    assert ("summary", "All 797 characters") in page.texts
    assert [len(text) for tag, text in page.texts if tag == "code"] == [60, 797]
    title = "".join(text for tag, text in page.texts if tag == "title")
    assert len(title) == 60


def test_the_colours_are_those_of_the_picture() -> None:
    """Every colour of the picture is a property, light and dark; none is written a second time."""
    html = page_document(parse("a*b").gradient(a=2, b=3))
    style = html[html.index("<style>") : html.index("</style>")]
    for light, dark in look.DARK.items():
        assert style.count(f":{light}") == 1
        assert style.count(f":{dark}") == 1
    css = files("exprgrad.show.page").joinpath("assets", "page.css").read_text(encoding="utf-8")
    assert not {*look.DARK, *look.DARK.values()} & {*re.findall("#[0-9a-f]{6}", css)}


def test_every_asset_is_used() -> None:
    folder = files("exprgrad.show.page").joinpath("assets")
    assets = {path.name for path in folder.iterdir() if path.is_file()}
    scripts = {f"{name}.js" for name in (*SWEEPS, *VIEWS, "index")}
    styles = {"page.css", "index.css", *STYLES}
    assert assets == {"page.html", "index.html", *styles, *scripts}
