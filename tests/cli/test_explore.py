"""``exprgrad explore``: where the page goes, and requests that are wrong."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import webbrowser
from pathlib import Path
from unittest import mock
from urllib.parse import unquote, urlsplit

import pytest

import golden
from exprgrad import LESSONS, parse
from exprgrad.cli.main import main
from pages import lesson_html
from shell import PROGRAM, Terminal, command, process, spelled

SQUARE = ("u = a + b; y = u*u", "a=2", "b=1")
WRONG = [
    ["explore"],
    ["explore", "a*b", "a=1"],
    ["explore", "a*"],
    ["explore", *SQUARE, "-o", "page.svg"],
    ["explore", *SQUARE, "-o", "page"],
    ["explore", *SQUARE, "-o", ""],
    ["explore", *SQUARE, "-o", "missing/page.html"],
    ["explore", *SQUARE, "-o", "-", "--open"],
    ["explore", *SQUARE, "--wrt", "c"],
    ["explore", *SQUARE, "--digits", "0"],
    ["explore", *SQUARE, "--trace"],
    ["explore", "--lesson", "nueron"],
    ["explore", "--lesson", "matrices"],
    ["explore", "--lesson"],
    ["explore", "neuron"],
    ["explore", "diamnd", "-o", "x.html"],
    ["explore", "graphs + 1"],
    ["explore", "--lesson", "square", "b=2"],
    ["explore", "--lesson", "square", "a*b"],
    ["explore", "a*b", "--lesson", "square"],
    ["explore", "--lesson", "square", "-f", "formula.txt"],
    ["explore", "--lesson", "neuron", "--expand", "tanh"],
    ["explore", "--lesson", "neuron", "--descend"],
    ["explore", "--course", ".", "nueron"],
    ["explore", "--course", ".", "square", "diamond", "square"],
    ["explore", "--course", ".", "square", "--wrt", "a"],
    ["explore", "--course", ".", "--lesson", "square"],
    ["explore", "--course"],
    ["explore", "--course", "/dev/null", "square"],
    ["explore", "--course", "/dev/null/course", "square"],
    ["explore", "sum(x*x)", "x=[1,2]", "--descend"],
    ["explore", "2*3", "--descend"],
    ["explore", "sum(x)", f"x={[1] * 4100}"],
    ["explore", "sum(X@X)", f"X={[[1] * 30] * 30}"],
    ["explore", "2*x", "x=[1,2]"],
    ["explore", "+".join(f"x^{n}" for n in range(2, 300)), "x=1"],
]


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses that a browser was asked to show; there is one, and it is always willing."""
    found: list[str] = []

    def show(url: str) -> bool:
        found.append(url)
        return True

    monkeypatch.setattr(webbrowser, "open", show)
    return found


def test_wrong_requests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    listed = []
    for argv in WRONG:
        status, out, err = command(*argv)
        assert (status, out) == (2, "")
        listed.append(f"{spelled(argv)}\n{err}")
    assert not list(tmp_path.iterdir())
    golden.agree("requests/explore.txt", "\n".join(listed))


def test_a_file(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text("what was there before")
    assert command("explore", *SQUARE, "-o", str(path)) == (0, "", "")
    assert path.read_text("utf-8") == parse(SQUARE[0]).gradient(a=2, b=1).explore().html
    found = json.loads(command("explore", *SQUARE, "--json", "-o", str(path)).out)
    assert found == {
        "schema": "exprgrad/1",
        "command": "explore",
        "expression": SQUARE[0],
        "lesson": None,
        "inputs": {"a": 2.0, "b": 1.0},
        "bytes": path.stat().st_size,
        "file": str(path),
    }


def test_a_pipe() -> None:
    """The page as it is, in UTF-8 whatever the locale says; and the same as JSON."""
    page = parse("é*b").gradient({"é": 2, "b": 1}).explore().html
    assert command("explore", "é*b", "é=2", "b=1").out == page
    assert command("explore", "é*b", "é=2", "b=1", "-o", "-").out == page
    out = process("explore", "é*b", "é=2", "b=1", env={"PYTHONIOENCODING": "ascii"}).out
    assert out == page
    found = json.loads(command("explore", "é*b", "é=2", "b=1", "--json").out)
    assert found["html"] == page and found["bytes"] == len(page.encode())


def test_a_reader_that_goes_away() -> None:
    with subprocess.Popen(
        [*PROGRAM, "explore", *SQUARE], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stdout and running.stderr
        running.stdout.close()
        assert running.stderr.read() == b""
        assert running.wait(60) == 0


def test_a_terminal_is_no_place_for_a_page() -> None:
    content = io.BytesIO()
    with (
        mock.patch.object(sys, "stdout", Terminal(content, encoding="utf-8")) as out,
        mock.patch.object(sys, "stderr", io.StringIO()) as err,
    ):
        assert main(["explore", *SQUARE]) == 2
        out.flush()
        assert content.getvalue() == b""
        assert "-o page.html writes it, --open shows it" in err.getvalue()
        assert main(["explore", *SQUARE, "-o", "-"]) == 0
    assert content.getvalue().startswith(b"<!doctype html>")


def test_open_makes_a_new_file_and_says_which(shown: list[str]) -> None:
    status, out, err = command("explore", *SQUARE, "--open")
    path = Path(out.removesuffix("\n"))
    assert (status, err) == (0, "") and path.is_absolute() and path.suffix == ".html"
    assert path.read_text("utf-8") == parse(SQUARE[0]).gradient(a=2, b=1).explore().html
    assert [file_of(url) for url in shown] == [path]
    again = json.loads(command("explore", "--lesson", "graph", "--open", "--json").out)
    assert again["file"] != str(path) and again["file"].endswith("graph.html")
    for made in (path, Path(again["file"])):
        made.unlink()
        made.parent.rmdir()


def test_open_shows_the_file_that_is_written(
    shown: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert command("explore", *SQUARE, "--open", "-o", "a b#?%.html") == (0, "", "")
    assert [file_of(url) for url in shown] == [tmp_path / "a b#?%.html"]
    assert "#" not in shown[0] and (tmp_path / "a b#?%.html").exists()


def test_where_there_is_no_browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webbrowser, "open", lambda url: False)
    path = str(tmp_path / "page.html")
    status, out, err = command("explore", *SQUARE, "--open", "-o", path)
    assert (status, out, err) == (0, "", f"note: there is no browser to show {path} in\n")


def file_of(url: str) -> Path:
    """The file that an address is of."""
    assert url.startswith("file:///")
    return Path(unquote(urlsplit(url).path))


def test_help_names_every_lesson() -> None:
    said = " ".join(command("explore", "--help").out.split())
    assert f"instead of EXPR: {', '.join(LESSONS)}, or a .toml file" in said


@pytest.mark.parametrize("name", LESSONS)
def test_lessons(name: str) -> None:
    found = json.loads(command("explore", "--lesson", name, "--json").out)
    assert (found["lesson"], found["inputs"]) == (name, LESSONS[name].values)
    assert found["html"] == lesson_html(name)


def test_a_lesson_in_a_pipe() -> None:
    assert command("explore", "--lesson", "neuron").out == lesson_html("neuron")


def test_options_say_what_is_on_the_page() -> None:
    run = parse("tanh(x)*y")
    plain, apart = run.gradient(x=1, y=2), run.expand("tanh").gradient(x=1, y=2)
    argv = ("explore", "tanh(x)*y", "x=1", "y=2")
    assert command(*argv, "--digits", "3").out == plain.explore(digits=3).html
    assert command(*argv, "--expand", "tanh").out == apart.explore().html
    only = run.gradient(x=1, y=2, wrt=["y"])
    assert command(*argv, "--wrt", "y").out == only.explore().html != plain.explore().html


def test_descent() -> None:
    """Its panel is there where it is asked for; a lesson has its own."""
    argv = ("explore", "x*y", "x=1", "y=2")
    plain, asked = command(*argv).out, command(*argv, "--descend").out
    assert asked == parse("x*y").gradient(x=1, y=2).explore(descend=True).html
    assert 'id="descent"' in asked and "LIVE" not in plain and 'id="descent"' not in plain


def test_where_graphviz_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("exprgrad.show.picture.dot.find_spec", lambda name: None)
    monkeypatch.setenv("PATH", os.devnull)
    path = tmp_path / "page.html"
    status, out, err = command("explore", *SQUARE, "-o", str(path))
    assert (status, out) == (2, "") and "the page needs Graphviz" in err and "pygraphviz" in err
    assert not path.exists()
