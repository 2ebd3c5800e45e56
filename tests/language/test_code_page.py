"""Each program on the page about generated code is run in its language, and compared with ``grad``."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from exprgrad import parse
from exprgrad.language.code.targets import TARGETS
from programs import Program, call, near, run

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "generate-code.md"
BLOCK = re.compile(r"^```console\n\$ exprgrad code (.*)\n((?s:.*?))^```$", re.MULTILINE)
POINT = {"a": 2.0, "b": -3.0, "x1": 2.0, "w1": -3.0, "x2": 0.0, "w2": 1.0}
MARKET = {"sigma": 0.2, "T": 0.5, "S": 42.0, "K": 40.0, "r": 0.1}


class Shown:
    """A program on the page: what was typed, and what was printed."""

    def __init__(self, line: str, source: str) -> None:
        self.text, *options = shlex.split(line)
        given = dict(zip(options[::2], options[1::2], strict=True))
        self.target = given["--to"]
        self.name = given.get("--name", "f")
        self.wrt = given.get("--wrt")
        self.of = given.get("--of")
        self.shapes = shapes_in(given.get("--shape", ""))
        self.source = source


def shapes_in(option: str) -> dict[str, tuple[int, ...]]:
    """The shapes in the value of ``--shape``."""
    pairs = [part.split("=") for part in option.split(",") if part]
    return {name: tuple(map(int, sizes.split("x"))) for name, sizes in pairs}


EVERY = [Shown(*found) for found in BLOCK.findall(PAGE.read_text("utf-8"))]
SHOWN = [shown for shown in EVERY if not shown.of]  # for matrices see test_code_matrices


def test_the_neuron_and_an_option_are_shown_in_every_language() -> None:
    for name in ("neuron", "price"):
        assert [shown.target for shown in SHOWN if shown.name == name] == list(TARGETS)


def named(shown: Shown) -> str:
    return f"{shown.name}-{shown.target}"


@pytest.mark.parametrize("shown", [shown for shown in SHOWN if shown.shapes], ids=named)
def test_the_program_of_tensors_finds_what_grad_finds(shown: Shown) -> None:
    random = pytest.importorskip("numpy").random.default_rng(0)
    f = parse(shown.text)
    given = {name: random.normal(size=shown.shapes[name]) for name in f.inputs}
    found = f.gradient(given)
    value, gradient = call(shown.target, shown.source, shown.name, [*given.values()])
    assert near(value, found.value)
    for name, derivative in zip(f.inputs, gradient, strict=True):
        assert near(derivative, found.gradient[name])


@pytest.mark.parametrize("shown", [shown for shown in SHOWN if not shown.shapes], ids=named)
def test_the_program_finds_what_grad_finds(shown: Shown, tmp_path: Path) -> None:
    f = parse(shown.text)
    given = {name: {**POINT, **MARKET}[name] for name in f.inputs}
    if shown.name == "neuron":
        given["b"] = 6.8813735870195432
    found = f.gradient(given, wrt=shown.wrt and shown.wrt.split(","))
    program = Program(shown.source, shown.name, len(found.gradient), [[*given.values()]])
    (((value, gradient),),) = run(shown.target, [program], tmp_path)
    assert value == pytest.approx(found.value, rel=1e-14)
    assert gradient == pytest.approx([*found.gradient.values()], rel=1e-13)
