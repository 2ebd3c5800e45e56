"""The page's picture: the same shapes at the same places as in Graphviz's SVG, marked for the script."""

from __future__ import annotations

import os
import re
import shutil
from importlib.util import find_spec
from pathlib import Path
from xml.etree import ElementTree

import pytest

from exprgrad.api import Run, parse
from exprgrad.show.page.picture import page_picture
from exprgrad.show.picture.dot import dot_source, graphviz_command, run_graphviz
from exprgrad.show.text.lines import signed_number as number

pytestmark = pytest.mark.skipif(
    not (shutil.which("dot") or find_spec("pygraphviz"))
    and os.environ.get("EXPRGRAD_GRAPHVIZ") != "require",
    reason="no Graphviz: pip install 'exprgrad[draw]' or install Graphviz",
)
SVG = "{http://www.w3.org/2000/svg}"
BRANCHES = "u = x*y; v = x^3; where(u > 0, u*u, exp(u)) + max(x, v)*2"
FORMULAS: dict[str, dict[str, float]] = {
    "(a+b)*c": {"a": 2, "b": -3, "c": 10},
    "u = a*a; u*u": {"a": 3},
    BRANCHES: {"x": 1.5, "y": -0.5},
    "node*graph - 'λ'".replace("'", ""): {"node": 1, "graph": 2, "λ": 3},
    "x": {"x": 4},
    "unused = y + 1; x*x": {"x": 3, "y": 1},
}


def drawn(text: str) -> tuple[Run, str, ElementTree.Element]:
    """A run, its picture, and that as a tree."""
    run = parse(text).gradient(FORMULAS[text])
    svg = page_picture(run, 6)
    # As a part of an HTML page it needs no namespace; as XML it does.
    return run, svg, ElementTree.fromstring(svg.replace("<svg ", f'<svg xmlns="{SVG[1:-1]}" ', 1))


@pytest.mark.parametrize("text", FORMULAS)
def test_every_node_and_edge_is_there_once(text: str) -> None:
    run, _, root = drawn(text)
    ids = [group.attrib["id"] for group in root if "id" in group.attrib]
    assert len(ids) == len(set(ids))
    assert {id for id in ids if id[0] == "n"} == {f"n{node.id}" for node in run.nodes}
    edges = {f"{edge.user}_{edge.position}" for edge in run.edges}
    assert {f"c{edge}" for edge in edges} <= set(ids)
    wires = [group.attrib["data-edge"] for group in root if "data-edge" in group.attrib]
    operands = {(node.id, at) for node in run.nodes for at in range(len(node.operands))}
    assert sorted(wires) == sorted(f"{user}_{position}" for user, position in operands)


@pytest.mark.parametrize("text", FORMULAS)
def test_numbers_are_where_the_script_looks_for_them(text: str) -> None:
    run, _, root = drawn(text)
    for node in run.nodes:
        (group,) = [group for group in root if group.get("id") == f"n{node.id}"]
        found = {
            kind: [t.text for t in group if t.get("class") == kind] for kind in ("data", "grad")
        }
        if node.op == "const":
            assert found == {"data": [], "grad": []}
            continue
        grad = "–" if node.grad is None else number(node.grad, 6)
        assert found == {"data": [number(node.data, 6)], "grad": [grad]}
    for edge in run.edges:
        (chip,) = [g for g in root if g.get("id") == f"c{edge.user}_{edge.position}"]
        assert (chip.findtext(f"{SVG}text") or "").endswith(number(edge.local, 6))


def test_it_has_the_layout_of_the_picture() -> None:
    """Each card stands where Graphviz puts it, to the tenth of a point to which it is written."""
    run, _, root = drawn(BRANCHES)
    raw = ElementTree.fromstring(
        run_graphviz(graphviz_command("svg"), dot_source(run.graph, run, digits=6, room=9))
    )
    canvas = raw[0]
    shift = re.findall(r"translate\((\S+) (\S+)\)", canvas.attrib["transform"])[0]
    right, down = (round(float(length)) for length in shift)
    for group in canvas.iterfind(f"{SVG}g[@class='node']"):
        title = group.findtext(f"{SVG}title") or ""
        name = title.replace("n", "c") if "_" in title else title
        outline = " ".join(path.attrib["d"] for path in group.iter(f"{SVG}path"))
        points = re.findall(r"(-?[\d.]+),(-?[\d.]+)", outline)
        xs, ys = (list(map(float, values)) for values in zip(*points, strict=True))
        (mine,) = [g for g in root if g.get("id") == name]
        box = {key: float(value) for key, value in mine[0].attrib.items() if key != "rx"}
        # Rounding to a tenth moves a side by half a tenth, and a length by twice that.
        assert abs(box["x"] - (min(xs) + right)) <= 0.0501
        assert abs(box["y"] - (min(ys) + down)) <= 0.0501
        assert abs(box["width"] - (max(xs) - min(xs))) <= 0.1001
        assert abs(box["height"] - (max(ys) - min(ys))) <= 0.1001


def test_numbers_end_inside_their_hairline() -> None:
    """By the padding of their cell, whatever the font."""
    _, _, root = drawn("(a+b)*c")
    for group in root.iterfind(f"{SVG}g"):
        for text in group.iterfind(f"{SVG}text"):
            if text.get("class") in ("data", "grad"):
                (line,) = group.iterfind(f"{SVG}path")
                assert float(text.attrib["x"]) == float(line.attrib["d"].split("H")[1]) - 3


def test_there_is_room_for_other_numbers() -> None:
    """A card whose numbers are short is as wide as one whose numbers are long."""
    (one, other) = (page_picture(parse("x*y").gradient(x=x, y=3.0), 6) for x in (2.0, -0.1234))
    assert re.findall("<rect[^>]*>", one) == re.findall("<rect[^>]*>", other)


def test_edges_that_pass_nothing_now_have_a_chip() -> None:
    """Another input may take the other branch; what can never pass anything has none."""
    _, svg, root = drawn(BRANCHES)
    ids = {group.get("id") for group in root}
    run = parse(BRANCHES).gradient(FORMULAS[BRANCHES])
    (branch,) = [node for node in run.nodes if node.op == "where"]
    assert {f"c{branch.id}_1", f"c{branch.id}_2"} <= ids
    (square,) = [node for node in run.nodes if node.text == "u*u"]
    assert {f"c{square.id}_0", f"c{square.id}_1"} <= ids
    assert "u = –" in svg
    _, _, plain = drawn("unused = y + 1; x*x")
    assert not [group for group in plain if (group.get("id") or "").startswith("c2_")]


def test_reading_order() -> None:
    """A node stands behind its operands and its chips, and its name before its numbers."""
    _, _, root = drawn("(a+b)*c")
    ids = [group.attrib["id"] for group in root if "id" in group.attrib]
    assert ids == ["n0", "n1", "c2_0", "c2_1", "n2", "n3", "c4_0", "c4_1", "n4"]
    card = root.find(f"{SVG}g[@id='n0']")
    assert card is not None
    said = [part.get("href") or "".join(part.itertext()) for part in card]
    assert [*filter(None, said)] == ["a", "#words", "2", "10"]
    words = root.find(f"{SVG}defs/{SVG}g[@id='words']")
    assert words is not None and [*words.itertext()] == ["data", "grad"]


def test_names_are_text() -> None:
    run = parse("שלום = a < b; where(שלום, a, b)").gradient(a=1, b=2)
    svg = page_picture(run, 6)
    assert "a &lt; b" in svg
    assert "שלום" in svg


def test_pygraphviz_draws_the_same(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Another Graphviz: the same elements, with places that may differ by its fonts."""
    if not find_spec("pygraphviz") or not shutil.which("dot"):
        pytest.skip("needs dot and pygraphviz")
    _, svg, _ = drawn(BRANCHES)
    monkeypatch.setenv("PATH", str(tmp_path))
    _, other, _ = drawn(BRANCHES)
    number = re.compile(r"-?\d+(?:\.\d+)?(?=[ \",<CLHZM]|px)")

    def bare(text: str) -> str:
        return re.sub(r'(?:x|y|d|width|height|viewBox|style)="[^"]*"', "", text)

    assert number.sub("0", bare(svg)) == number.sub("0", bare(other))


def test_a_shape_beside_data_and_grad_has_room() -> None:
    """The page writes it in letters of 12, of which no digit, sign or blank of it needs more than five."""
    svg = page_picture(parse("sum(X @ W)").gradient(X=[[1, 2], [3, -1]], W=[[2, 0], [1, -2]]), 6)
    cards = re.findall(
        r'<g id="n\d+" class="node input">.*?"word note" x="([\d.]+)".*?"word" x="([\d.]+)"', svg
    )
    assert len(cards) == 2
    assert all(float(word) - float(note) >= 5 * len("(2, 2)") for note, word in cards)
