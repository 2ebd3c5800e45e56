"""Plots: the same bytes for the same data, texts as texts, pages in the dark, notes that cover nothing."""

from __future__ import annotations

import builtins
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from exprgrad import MissingExtraError, RequestError, parse
from exprgrad.show.picture import plots
from exprgrad.show.picture.curves import feature_note
from exprgrad.show.picture.plots import (
    Frame,
    Note,
    band_layer,
    dot_layer,
    line_layer,
    plot_frames,
    rule_layer,
)
from exprgrad.show.picture.theme import DARK, DATA
from shell import process

pytest.importorskip("matplotlib", reason="pip install 'exprgrad[plot]'")

FRAME = Frame(
    [
        band_layer([0, 1, 2], [0, 0, 1], [1, 2, 2]),
        line_layer([0, 1, 2], [-1e-3, 1, 1.5], label="the model"),
        dot_layer([0, 2], [0, 1.5], errors=[0.1, 0.2], filled=False),
        rule_layer(y=0.5),
        Note(1, 1, "$x_1$ < −2"),
    ],
    "f = a_1*x^2",
    "x",
    "y",
    (0, 2),
    (-1, 2),
)


def texts(svg: str) -> list[str]:
    root = ElementTree.fromstring(svg)
    return [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text")]


def test_an_svg_has_texts_true_minus_signs_and_a_name() -> None:
    svg = plot_frames([FRAME], "svg").decode()
    shown = texts(svg)
    assert {"f = a_1*x^2", "the model", "$x_1$ < −2", "−1.0", "0", "x", "y"} <= {*shown}
    assert "<title>f = a_1*x^2</title>" in svg
    assert "font-variant-numeric: tabular-nums" in svg
    assert ' style="' not in svg


def test_a_picture_has_one_sort_of_minus_sign() -> None:
    """Those of formulas are those of the numbers on the axes."""
    f = parse("x^2 - 3*x - 2")
    course = f.descend(x=0, rate=0.25)
    curve, surface = f.plot(x=(-2, 2)), parse("x^2 - y").plot(x=(-2, 2), y=(-1, 1))
    for drawn in (curve.svg(), surface.svg(), course.svg()):
        shown = "".join(texts(drawn))
        assert "−" in shown and "-" not in shown


@pytest.mark.slow
@pytest.mark.parametrize("format", ["svg", "png", "pdf"])
def test_the_same_data_make_the_same_bytes(format: str) -> None:
    first, second = (plot_frames([FRAME], format) for _ in range(2))
    assert first == second
    assert first.startswith({"svg": b"<svg", "png": b"\x89PNG", "pdf": b"%PDF"}[format])


@pytest.mark.slow
def test_an_svg_follows_its_page_unless_a_look_is_chosen() -> None:
    follows, light, dark = (
        plot_frames([FRAME], "svg", look).decode() for look in (None, "light", "dark")
    )
    assert "prefers-color-scheme: dark" in follows
    assert "prefers-color-scheme" not in light + dark
    assert DATA in light
    assert DARK[DATA] in dark
    assert DATA not in dark


@pytest.mark.slow
def test_markers_have_the_colours_of_their_page() -> None:
    svg = plot_frames([FRAME], "svg").decode()
    markers = re.findall(r'<path id="m[0-9a-f]+"[^>]*>', svg)
    assert markers
    assert not any("stroke=" in marker for marker in markers)


def test_notes_stand_at_their_own_points(monkeypatch: pytest.MonkeyPatch) -> None:
    """None is nearer to another feature; maxima and minima have theirs, at the frame's edges too."""
    plot_ = parse("sin(x)/x").plot(x=(-15, 15))
    frame = plot_.frames()[0]
    figures: list[Any] = []

    def keep(figure: Any, *rest: Any, **more: Any) -> bytes:
        figures.append(figure)
        return b""

    monkeypatch.setattr(plots, "save_figure", keep)
    plot_frames([frame], "svg")
    axes = figures[0].axes[0]
    spots = {
        feature_note(one): axes.transData.transform((one.x, one.value)) for one in plot_.features
    }
    shown = {text.get_text(): text.get_window_extent() for text in axes.texts}
    for text, box in shown.items():
        gaps = {name: plots.distance_to_box(box, spot) for name, spot in spots.items()}
        assert gaps[text] == min(gaps.values()), text
    wanted = [one for one in plot_.features if one.kind == "minimum" or abs(one.x) < 10]
    assert {feature_note(one) for one in wanted if one.kind in ("minimum", "maximum", "hole")} <= {
        *shown
    }


@pytest.mark.slow
def test_notes_that_have_no_room_are_left_out() -> None:
    notes = [Note(1, 1, f"note {at}") for at in range(40)]
    shown = [text for text in texts(plot_frames([Frame(notes)], "svg").decode()) if "note" in text]
    assert 1 < len(shown) < 40
    assert len({*shown}) == len(shown)


def test_without_matplotlib_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ours = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return ours(name, *rest)

    plots.import_matplotlib.cache_clear()
    monkeypatch.setattr(builtins, "__import__", without)
    drawn = parse("x^2").plot()
    with pytest.raises(MissingExtraError) as caught:
        drawn.save(tmp_path / "x.svg")
    assert "matplotlib" in (caught.value.help or "")
    assert [*drawn._repr_mimebundle_()] == ["text/plain"]
    assert not (tmp_path / "x.svg").exists()
    monkeypatch.undo()
    plots.import_matplotlib.cache_clear()


@pytest.mark.parametrize("name", ["x.gif", "svg", "x", ""])
def test_other_formats_are_refused(name: str) -> None:
    with pytest.raises(RequestError, match=r"\.svg, \.png and \.pdf"):
        parse("x^2").plot().save(name)


CURVES: list[tuple[str, dict[str, Sequence[float]]]] = [
    ("tan(x)", {"x": (-5, 5)}),
    ("floor(x)*x", {"x": (-2, 2)}),
    ("1e-300*x", {"x": (-1, 1)}),
    ("1e300*x", {"x": (-1, 1)}),
    ("sqrt(-1 - x^2)", {"x": (-1, 1)}),
    ("1/x + 1e6", {"x": (-1, 1)}),
    ("x^2 - y^2", {"x": (-1, 1), "y": (-1, 1)}),
    ("0*x*y", {"x": (-1, 1), "y": (-1, 1)}),
    ("log(-1 - x^2*y^2)", {"x": (-1, 1), "y": (-1, 1)}),
]


@pytest.mark.slow
@pytest.mark.parametrize(("text", "ranges"), CURVES, ids=lambda x: str(x)[:12])
@pytest.mark.parametrize("format", ["svg", "png"])
def test_everything_is_drawn(
    text: str, ranges: dict[str, Sequence[float]], format: str, tmp_path: Path
) -> None:
    plot = parse(text).plot(ranges)
    plot.save(tmp_path / f"x.{format}", "dark")
    assert (tmp_path / f"x.{format}").stat().st_size > 5000


@pytest.mark.slow
def test_a_pole_breaks_the_line_and_a_kink_is_noted() -> None:
    svg = parse("1/x + abs(x - 1)").plot(x=(-2, 3)).svg()
    assert {"x = 0", "slopes −2, 0"} <= {*texts(svg)}
    assert "slope" not in "".join(texts(parse("x^2").plot().svg()))


@pytest.mark.slow
def test_values_that_are_next_to_nothing_are_still_drawn() -> None:
    shown = texts(parse("1e-300*x").plot(x=(-5, 5)).svg())
    assert "f = 1e−300*x   (times 1e−300)" in shown
    assert {"−4", "4"} <= {*shown}


@pytest.mark.slow
def test_where_matplotlib_keeps_its_fonts_is_nobodys_business(tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.touch()
    path = tmp_path / "sine.svg"
    done = process(
        "plot", "sin(x)", "x=1:3", "-q", "-o", str(path), env={"MPLCONFIGDIR": str(taken)}
    )
    assert (done.status, done.err) == (0, "") and path.exists()
