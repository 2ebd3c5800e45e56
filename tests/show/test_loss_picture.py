"""The picture of a descent: two panels, of the value and of the gradient's norm."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from exprgrad import parse
from exprgrad.show.picture.plots import power_of_ten
from exprgrad.show.text.searches import loss_picture
from shell import command

pytest.importorskip("matplotlib")


def texts(svg: bytes) -> list[str]:
    """What stands in a picture."""
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg.decode())


@pytest.mark.parametrize(
    ("text", "at", "options", "there"),
    [
        ("(x-3)^2", {"x": 0}, {"steps": 2}, ["(x−3)^2   not converged after 2 steps", "value"]),
        ("L = x^2", {"x": 1}, {"adam": True, "steps": 90}, ["L", "10⁻⁴"]),
        ("sum(x*x)*y", {"x": [1, 2], "y": 1}, {}, ["10¹²⁴"]),  # gradients up to 1e287
        pytest.param(
            "x",
            {"x": float("nan")},
            {},
            ["x   nan: at step 0 input x is nan"],
            marks=pytest.mark.slow,
        ),
    ],
)
def test_pictures(text: str, at: dict[str, Any], options: dict[str, Any], there: list[str]) -> None:
    """The ending above, names beside, and whole numbers of steps below."""
    svg = loss_picture(parse(text).descend(at, **options), "svg")
    assert {*there, "‖grad‖", "step"} <= {*texts(svg)}


def test_ticks_of_logarithmic_axes() -> None:
    """Numbers near 1 are written out."""
    assert [power_of_ten(x) for x in (1e-7, 1e-3, 1, 1e5, 1e12)] == [
        "10⁻⁷", "0.001", "1", "100000", "10¹²",
    ]  # fmt: skip


def test_a_picture_of_the_command(tmp_path: Path) -> None:
    """Beside the answer, whatever form that has."""
    path = tmp_path / "loss.png"
    assert command("descend", "x^2", "x=1", "--max-steps", "1", "-q", "-o", str(path)) == (
        0,
        "x=0.8\n",
        "",
    )
    assert path.read_bytes().startswith(b"\x89PNG")


def test_a_descent_saves_its_picture(tmp_path: Path) -> None:
    course = parse("x^2").descend(x=1)
    course.save(tmp_path / "loss.svg")
    assert (tmp_path / "loss.svg").read_bytes() == loss_picture(course, "svg")
