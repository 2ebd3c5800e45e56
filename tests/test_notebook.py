"""The how-to for notebooks, run as one: what its cells show, and what an error looks like."""

from __future__ import annotations

import copy
import pickle
from html import escape
from html.parser import HTMLParser
from typing import Any

import pytest

import exprgrad
from exprgrad import parse
from exprgrad.api.displays import Text
from exprgrad.show.text.nodes import node_table
from exprgrad.show.text.table import render_html
from exprgrad.solvers.minima.minimize import Minimum
from golden import agree
from notebooks import executed, shown

NEURON = parse("o = tanh(x1*w1 + x2*w2 + b)")
AT = {"x1": 2, "w1": -3, "x2": 0, "w2": 1, "b": 6.88}


@pytest.mark.slow
def test_the_page_is_a_notebook() -> None:
    """Every cell shows one thing, and all but the last are more than text."""
    *cells, wrong = executed()
    for cell in cells:
        output = shown(cell)
        assert output.output_type == "execute_result", (cell.source, output)
        assert {*output.data} & {"text/html", "image/svg+xml"}, cell.source
    error = shown(wrong)
    assert (error.ename, error.traceback) == (
        "LanguageError",
        [
            "LanguageError: unknown function 'tahn'\n  1 │ tahn(x1*w1 + b)\n    │ ^^^^\n"
            "  help: did you mean 'tanh'?",
            '  line 1: exprgrad.parse("tahn(x1*w1 + b)")',
        ],
    )


class Cells(HTMLParser):
    """The text of HTML: a line for each row or line, a bar before each cell.  Tags are closed as opened."""

    def __init__(self) -> None:
        super().__init__()
        self.text = ""
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attributes: Any) -> None:  # noqa: D102
        self.open.append(tag)
        if tag in ("tr", "pre"):
            self.text += "\n"
        elif tag in ("td", "th"):
            self.text += "| "

    def handle_endtag(self, tag: str) -> None:  # noqa: D102
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:  # noqa: D102
        if "style" not in self.open:
            self.text += data + " "


def displays() -> dict[str, Any]:
    """Everything that is a table in a notebook."""
    run = NEURON.gradient(AT)
    square = parse("(x - 3)^2 + x*y^2")
    return {
        "check": NEURON.check(AT),
        "check of claims": parse("x^2*y").check(claims={"x": "2*x*y", "y": "x"}),
        "hessian": exprgrad.hessian("x^2*y + z", x=1, y=2, z=3),
        "hessian of tensors": parse("sum(x^2)*y").hessian(x=[1, 2], y=3),
        "jacobian": exprgrad.jacobian("u = x*y; v = x/y", x=1, y=2, of=["u", "v"]),
        "descend": square.descend(x=0, y=1, rate=1 / 8, steps=4),
        "minimum": square.minimize(x=0, y=1),
        "minima": parse("x^4 - x^2").minimize(x=1, starts=4),
        "paths": run.paths(),
        "paths at a kink": parse("relu(x) - relu(-x) + x*x").gradient(x=0).paths(1),
        "trace": run.trace(),
        "map": run.map(),
        "steps": NEURON.steps("w1"),
    }


def test_tables() -> None:
    """Their HTML is well formed, and says what the command's tables say."""
    said = []
    for name, found in displays().items():
        if type(found) is Text and found.parts is None:
            assert escape(found) in found._repr_html_()
            continue
        parser = Cells()
        parser.feed(found._repr_html_())
        assert not parser.open
        lines = "\n".join(line.rstrip() for line in parser.text.strip().split("\n"))
        said += [f"## {name}\n", lines, ""]
    agree("python/notebook.txt", "\n".join(said))


def test_what_is_left_out_is_said() -> None:
    table = parse("+".join(f"x{n}" for n in range(2_000))).gradient(
        {f"x{n}": n for n in range(2_000)}
    )
    html = render_html([node_table(table)])
    assert 'colspan="5">… 3,' in html and html.count("<tr") < 50
    assert render_html(["a < b & c", ""]).endswith("<pre>a &lt; b &amp; c</pre></div>")


def test_they_are_lists_dictionaries_and_texts() -> None:
    """What is shown goes along with them in no copy."""
    found = displays()
    assert type(found["check"][:1]) is list and repr(found["check"]) == repr([*found["check"]])
    assert (
        found["hessian"] == {**found["hessian"]} and "trace" in found and found["trace"] + "" > ""
    )
    for name in ("check", "hessian", "jacobian", "paths", "trace", "map", "steps", "descend"):
        for twin in (copy.copy(found[name]), pickle.loads(pickle.dumps(found[name]))):
            assert repr(twin) == repr(found[name])


def test_a_minimum_is_a_minimum_when_it_is_copied() -> None:
    found = displays()["minimum"]
    assert "<table" in found._repr_html_() and "minimum at x = 3" in repr(found)
    assert type(copy.copy(found)) is Minimum and copy.copy(found).point == found.point


def test_aligned_texts_keep_their_columns() -> None:
    """Where a notebook, such as one turned into a page, has no font of its own for them."""
    assert "pre {font-family: monospace}" in render_html(["a  b"])


def test_without_graphviz_a_run_is_its_table(monkeypatch: pytest.MonkeyPatch) -> None:
    run = NEURON.gradient(AT)
    monkeypatch.setattr(
        run, "svg", lambda: (_ for _ in ()).throw(exprgrad.MissingExtraError("x", "y"))
    )
    bundle = run._repr_mimebundle_()
    assert [*bundle] == ["text/plain", "text/html"] and "<td" in bundle["text/html"]


def test_an_error_says_where_it_comes_from() -> None:
    def asking() -> None:
        NEURON.gradient(x1=2)

    with pytest.raises(exprgrad.InputError) as caught:
        asking()
    message, line = caught.value._render_traceback_()
    assert message.startswith("InputError: inputs 'w1'") and "help: give each" in message
    assert line.endswith(": NEURON.gradient(x1=2)")
    assert exprgrad.InputError("a", "b")._render_traceback_() == ["InputError: b"]


def test_warnings_stand_below_a_picture() -> None:
    """A run that has none is its picture alone; no digit that it shows is silently wrong."""
    pytest.importorskip("pygraphviz", reason="pip install 'exprgrad[draw]'")
    assert [*NEURON.gradient(AT)._repr_mimebundle_()] == ["text/plain", "image/svg+xml"]
    shown = parse("(1 - cos(x))/x^2").gradient(x=1e-7)._repr_mimebundle_()["text/html"]
    assert shown.startswith("<svg") and "x.grad none: 0.4996 is corrected to 0.5" in shown


def test_a_trace_is_a_table_of_numbers_where_there_is_room() -> None:
    run = exprgrad.parse("x^2*y").gradient(x=2, y=3)
    assert "<table" in run.trace()._repr_html_()  # type: ignore[attr-defined]
    tensors = exprgrad.parse("sum(x)").gradient(x=[1, 2])
    for text in (run.trace(all=True), tensors.trace()):
        assert "<table" not in text._repr_html_()  # type: ignore[attr-defined]
