"""DOT to pictures: by `dot`, by pygraphviz, and what is said when there is neither."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import threading
from importlib.util import find_spec
from pathlib import Path
from xml.etree import ElementTree

import pytest

from exprgrad.errors import MissingExtraError, RequestError, install_command
from exprgrad.graph.graph import INPUT, Graph
from exprgrad.language.read.parse import parse_text
from exprgrad.run.evaluation import SweptRun
from exprgrad.run.numbers.sweeps import forward_numbers, reverse_sweep
from exprgrad.show.picture.dot import dot_source, finish_svg, render_dot
from exprgrad.show.picture.picture import FORMATS, Picture
from exprgrad.show.picture.theme import DARK, DATA, GRAD, QUIET, WIRE

SVG = "{http://www.w3.org/2000/svg}"
IMAGES = Path(__file__).parents[2] / "docs" / "images"
XLINK = "{http://www.w3.org/1999/xlink}"

have_pygraphviz = find_spec("pygraphviz") is not None
have_any = have_pygraphviz or shutil.which("dot") is not None
required = os.environ.get("EXPRGRAD_GRAPHVIZ") == "require"
needs_graphviz = pytest.mark.skipif(
    not have_any and not required,
    reason="no Graphviz: pip install 'exprgrad[draw]' or install Graphviz",
)
needs_pygraphviz = pytest.mark.skipif(
    not have_pygraphviz and not required, reason="no pygraphviz: pip install 'exprgrad[draw]'"
)
posix_only = pytest.mark.skipif(os.name != "posix", reason="the fake dot is a shell script")


@pytest.fixture
def no_dot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH on which there is no `dot`; the folder that it names."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def fake_dot(folder: Path, script: str) -> None:
    """A `dot` that is a shell script."""
    program = folder / "dot"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)


def picture(text: str, **inputs: float) -> str:
    """The DOT of an expression with both sweeps."""
    graph = parse_text(text)
    inputs = {name: float(value) for name, value in inputs.items()}
    values = forward_numbers(graph, inputs)
    adjoints = reverse_sweep(graph, values, list(graph.inputs.values()))
    return dot_source(graph, SweptRun(text, graph, inputs, values, adjoints, tuple(graph.inputs)))


def texts(svg: ElementTree.Element) -> list[str]:
    """Every text that the SVG shows."""
    return ["".join(text.itertext()) for text in svg.iter(f"{SVG}text")]


@needs_graphviz
@pytest.mark.parametrize(
    ("format", "start"), [("svg", b"<svg "), ("png", b"\x89PNG\r\n"), ("pdf", b"%PDF-")]
)
def test_formats(format: str, start: bytes) -> None:
    assert format in FORMATS
    assert render_dot(picture("(a+b)*c", a=2, b=-3, c=10), format).startswith(start)


@needs_pygraphviz
@pytest.mark.parametrize("format", FORMATS[1:])
def test_pygraphviz_draws_where_there_is_no_dot(no_dot: Path, format: str) -> None:
    assert len(render_dot(picture("a*b", a=2, b=3), format)) > 1000


@needs_graphviz
def test_a_png_is_crisp() -> None:
    def width(dot: str) -> int:
        return int.from_bytes(render_dot(dot, "png")[16:20], "big")

    dot = picture("a*b", a=2, b=3)
    svg = ElementTree.fromstring(render_dot(dot, "svg"))
    points = float(svg.attrib["width"].removesuffix("pt"))
    assert width(dot) == pytest.approx(points * 160 / 72, rel=0.02)


@needs_graphviz
def test_the_svg_is_well_formed_and_named_and_has_a_role() -> None:
    svg = ElementTree.fromstring(render_dot(picture("x = a < b; x*c", a=1, b=2, c=3), "svg"))
    assert svg.tag == f"{SVG}svg"
    assert svg.attrib["role"] == "img"
    titles = list(svg.iter(f"{SVG}title"))
    assert [title.text for title in titles] == ["x = a < b; x*c"]
    assert svg[0] is titles[0]


@needs_graphviz
def test_the_svg_shows_names_data_grads_and_chips() -> None:
    svg = ElementTree.fromstring(render_dot(picture("(a+b)*c", a=2, b=-3, c=10), "svg"))
    assert {"a", "−3", "10", "(a + b) * c", "output", "a + b = −1", "c = 10"} <= set(texts(svg))


@needs_graphviz
def test_the_svg_keeps_literal_colours_and_has_others_for_dark_pages() -> None:
    svg = render_dot(picture("a*b", a=2, b=3), "svg").decode()
    assert f'fill="{DATA}"' in svg and f'fill="{GRAD}"' in svg
    rules = svg[svg.index("@media (prefers-color-scheme: dark)") : svg.index("</style>")]
    for light, dark in DARK.items():
        assert f'[fill="{light}"] {{ fill: {dark} }}' in rules


@needs_graphviz
def test_every_colour_but_the_wires_has_a_dark_counterpart() -> None:
    svg = ElementTree.fromstring(render_dot(picture("where(a>0, a*2, b)", a=2, b=3), "svg"))
    used = {e.attrib[k] for e in svg.iter() for k in ("fill", "stroke") if k in e.attrib}
    assert used - set(DARK) <= {"none", "transparent", "#7e8793", "#9ba3ad"}


@needs_graphviz
def test_numbers_end_at_one_place() -> None:
    svg = ElementTree.fromstring(render_dot(picture("a*b", a=-1.23456, b=3), "svg"))
    (card,) = [g for g in svg.iter(f"{SVG}g") if "a * b" in texts(g) and g.get("class") == "node"]
    numbers = [t for t in card.iter(f"{SVG}text") if t.get("fill") in (DATA, GRAD)]
    assert [number.get("text-anchor") for number in numbers] == ["end", "end"]
    assert numbers[0].get("x") == numbers[1].get("x")


@needs_graphviz
def test_user_text_is_shown_as_text() -> None:
    names = ['<b>&amp;"q"', "it's ]]> x", "-->", "&lt;", "node", "λ", "שלום", "</title>"]
    graph = Graph()
    for name in names:
        graph.inputs[name] = graph.append(INPUT, (), name, (0, 1))
    graph.output = graph.append("max", tuple(range(8)), None, (0, 1), ((0, 1),) * 8)
    svg = ElementTree.fromstring(render_dot(dot_source(graph), "svg"))
    plain = [text.replace("\u200e", "") for text in texts(svg)]
    shown = {name.replace("-", "−") for name in names}
    assert shown <= set(plain)
    tooltips = {a.attrib[f"{XLINK}title"].replace("\u200e", "") for a in svg.iter(f"{SVG}a")}
    assert shown <= tooltips
    (title,) = svg.iter(f"{SVG}title")
    assert title.text is not None and title.text[1:].startswith('max(<b>&amp;"q", it\'s ]]> x, −−>')


@needs_pygraphviz
def test_nothing_is_written_to_stderr(no_dot: Path) -> None:
    script = (
        "from exprgrad.show.picture.dot import render_dot\n"
        "import sys\n"
        "sys.stdout.write(str(len(render_dot('digraph { a -> b }', 'png'))))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    assert int(done.stdout) > 100


@needs_pygraphviz
def test_a_file_in_the_current_folder_does_not_pass_for_pygraphviz(
    no_dot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pygraphviz.py").write_text("raise SystemExit('taken in')")
    monkeypatch.chdir(tmp_path)
    assert render_dot("digraph { a }", "svg").startswith(b"<svg")


@needs_graphviz
def test_two_threads_draw_at_once() -> None:
    made: list[bytes] = []
    dot = picture("a*b", a=2, b=3)
    threads = [
        threading.Thread(target=lambda: made.append(render_dot(dot, "svg"))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 4 and len(set(made)) == 1


@pytest.mark.skipif(
    shutil.which("dot") is None and not required, reason="no dot on the PATH: install Graphviz"
)
@pytest.mark.parametrize("format", ["svg", "png", "pdf"])
def test_the_dot_of_this_machine_draws(format: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert shutil.which("dot") is not None
    monkeypatch.setattr(sys, "executable", "/no/python")  # so pygraphviz cannot be what draws
    made = render_dot(picture("o = tanh(x*w)", x=2, w=0.5), format)
    assert made.startswith({"svg": b"<svg ", "png": b"\x89PNG", "pdf": b"%PDF-"}[format])


@posix_only
def test_dot_on_the_path_comes_first(no_dot: Path) -> None:
    fake_dot(no_dot, f'echo "$@"; {shutil.which("cat", path="/bin:/usr/bin")}; echo noise >&2')
    assert render_dot("digraph { λ }", "pdf").decode() == "-Tpdf\ndigraph { λ }"
    assert render_dot("digraph { }", "png").decode().startswith("-Tpng -Gdpi=")


@posix_only
def test_a_failing_dot_is_a_request_error(no_dot: Path) -> None:
    fake_dot(no_dot, "echo 'Error: it broke' >&2; exit 3")
    with pytest.raises(RequestError) as caught:
        render_dot("digraph { }", "pdf")
    assert caught.value.code == "graphviz-failed"
    assert "it broke" in caught.value.message


@posix_only
def test_a_dot_that_writes_nothing_is_a_request_error(no_dot: Path) -> None:
    fake_dot(no_dot, "exit 0")
    with pytest.raises(RequestError, match="wrote nothing"):
        render_dot("digraph { }", "svg")


@posix_only
def test_a_dot_that_crashes_is_a_request_error(no_dot: Path) -> None:
    fake_dot(no_dot, "kill -SEGV $$")
    with pytest.raises(RequestError, match="Graphviz crashed: the graph is too large"):
        render_dot("digraph { }", "svg")


@posix_only
def test_a_dot_that_does_not_start_is_a_request_error(no_dot: Path) -> None:
    program = no_dot / "dot"
    program.write_text("#!/no/such/interpreter\n")
    program.chmod(0o755)
    with pytest.raises(RequestError, match="did not start"):
        render_dot("digraph { }", "svg")


@needs_graphviz
def test_bad_dot_is_a_request_error() -> None:
    with pytest.raises(RequestError) as caught:
        render_dot("digraph { [", "svg")
    assert caught.value.code == "graphviz-failed"


def test_with_neither_the_two_ways_are_said(no_dot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pygraphviz", None)
    with pytest.raises(MissingExtraError) as caught:
        render_dot("digraph { }", "svg")
    assert caught.value.code == "missing-graphviz"
    assert f"{install_command('pygraphviz')}, or" in (caught.value.help or "")
    assert "install Graphviz" in (caught.value.help or "")


def test_another_format_is_refused() -> None:
    with pytest.raises(RequestError) as caught:
        Picture("digraph { }").save("picture.gif")
    assert caught.value.code == "unknown-format"
    assert ".svg, .png and .pdf" in (caught.value.help or "")


def test_an_svg_without_a_title_gets_one() -> None:
    made = finish_svg('<?xml version="1.0"?>\n<svg width="1pt"><g/></svg>')
    assert made.startswith(
        '<svg class="exprgrad" role="img" width="1pt">\n<title>computation graph'
    )


@pytest.mark.parametrize("path", sorted(IMAGES.glob("*.svg")), ids=lambda path: path.name)
def test_the_pictures_of_the_docs_can_be_read_on_dark_pages(path: Path) -> None:
    """Every colour has a counterpart, the wires' greys aside, which can be seen on both."""
    style, body = path.read_text("utf-8").split("</style>")
    for attribute in ("fill", "stroke"):
        used = set(re.findall(rf'{attribute}="([^"]*)"', body))
        assert used
        for colour in used - {"none", "transparent", WIRE, QUIET["color"]}:
            assert f'[{attribute}="{colour}"] {{ {attribute}: {DARK[colour]} }}' in style


@posix_only
def test_lines_as_graphviz_ends_them_on_windows(no_dot: Path) -> None:
    svg = "<svg><title>a</title>\\r\\n<g></g></svg>"
    fake_dot(no_dot, f"printf '{svg}'")
    assert b"\r" not in render_dot("digraph {}", "svg")


def test_no_program_in_the_current_folder_is_run(
    no_dot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Windows looks there first."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(shutil, "which", lambda name: f".\\{name}.EXE")
    monkeypatch.setattr("exprgrad.show.picture.dot.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError):
        render_dot("digraph {}", "svg")


def test_a_png_is_never_shrunk() -> None:
    """Graphviz would do so, and say it where nobody looks."""
    long = "; ".join(["x0 = a", *(f"x{at} = tanh(x{at - 1})" for at in range(1, 90))])
    large = dot_source(parse_text(long), wrap=False)
    with pytest.raises(
        RequestError, match=r"too large for a PNG, which would be shrunk to \d+ %"
    ) as caught:
        render_dot(large, "png")
    assert ".svg or .pdf" in str(caught.value)
    assert render_dot(large, "svg").startswith(b"<svg")
