"""The page as an object: from runs and values, into files and notebooks; what has no page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from exprgrad import LESSONS, Lesson, Page, Run, Value, parse
from exprgrad.errors import RequestError
from exprgrad.show.page.lessons import all_tasks

SQUARE = parse("u = a + b; y = u*u").gradient(a=2, b=1)


def test_saving(tmp_path: Path) -> None:
    page = SQUARE.explore()
    page.save(tmp_path / "page.html")
    page.save(str(tmp_path / "PAGE.HTM"))
    for path in tmp_path.iterdir():
        assert path.read_text("utf-8") == page.html
    for wrong in ("page.svg", "page", "missing/page.html", "a\0b.html"):
        with pytest.raises(RequestError) as caught:
            page.save(tmp_path / wrong)
        assert caught.value.code in ("unknown-format", "file")
    assert len([*tmp_path.iterdir()]) == 2


def test_in_a_notebook() -> None:
    page = Page('<p title="1">a & b</p>')
    frame = page._repr_html_()
    assert 'srcdoc="&lt;p title=&quot;1&quot;&gt;a &amp; b&lt;/p&gt;"' in frame
    assert 'sandbox="allow-scripts"' in frame
    assert repr(page) == "<Page: 22 bytes of HTML>" and str(page) == page.html


@pytest.mark.parametrize(
    ("run", "code"),
    [
        (parse("a*b").evaluate(a=1, b=2), "no-gradient"),
        (parse("sum(x)").gradient(x=[1] * 4100), "too-large"),
        (parse("sum(x)").evaluate(x=[1, 2]), "no-gradient"),
        (parse("+".join(["x"] * 501)).gradient(x=1), "too-large"),
    ],
)
def test_what_has_no_page(run: Run, code: str) -> None:
    with pytest.raises(RequestError) as caught:
        run.explore()
    assert caught.value.code == code


def test_a_large_one_if_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exprgrad.show.page.page.LARGEST", 3)
    with pytest.raises(RequestError):
        SQUARE.explore()
    assert len(SQUARE.explore(all=True).html) > 10_000


def test_a_value_s_page_is_that_of_its_run() -> None:
    a, b = Value(2, label="a"), Value(1, label="b")
    u = a + b
    assert (u * u).explore().html == (u * u).run().explore().html


@pytest.mark.parametrize("digits", [0, -1, 18, 101, 2.5, "6"])
def test_digits_are_those_of_a_double(digits: Any) -> None:
    with pytest.raises(RequestError, match="from 1 to 17"):
        SQUARE.explore(digits=digits)


def test_a_lesson_s_texts_are_on_its_page() -> None:
    lesson = LESSONS["square"]
    plain, taught = SQUARE.explore().html, SQUARE.explore(lesson=lesson).html
    assert SQUARE.explore(lesson="square").html == taught
    for text in (lesson.title, lesson.about, lesson.question, *[t.text for t in all_tasks(lesson)]):
        assert text in taught and text not in plain


WRONG_LESSONS: list[tuple[Lesson | str, str]] = [
    ("squares", "no lesson 'squares'.*did you mean 'square'"),
    (LESSONS["diamond"], "'diamond' is about another formula: b = a"),
    (LESSONS["square"]._replace(values={"a": 2.0, "b": -2.0}), "other inputs: .*b=-2.0 instead"),
]


@pytest.mark.parametrize(("lesson", "said"), WRONG_LESSONS)
def test_a_lesson_on_something_else(lesson: Lesson | str, said: str) -> None:
    with pytest.raises(RequestError) as caught:
        SQUARE.explore(lesson=lesson)
    assert re.search(said, str(caught.value), re.DOTALL)
