"""The page's frames after a key: of a formula of five nodes, and of a thousand in a row, a tree and layers.

``python -m benchmarks.frames`` needs Playwright and Chromium, as the tests of the page do, and a quiet
machine.
"""

from __future__ import annotations

import shutil
import statistics
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from playwright.sync_api import sync_playwright

from benchmarks.machine import machine
from benchmarks.measure import table
from exprgrad import parse

WIDTH, HEIGHT = 1440, 900
PRESSES = 60
"""How often a key is pressed at each place, there and back."""
GAP = 30
"""Milliseconds between a frame and the next key, as when one is held."""
FRAMES = """async ([key, presses, gap]) => {
  const channel = new MessageChannel, taken = [];
  const drawn = () => new Promise(done => requestAnimationFrame(() => {
    channel.port1.onmessage = done;
    channel.port2.postMessage(0);
  }));
  for (let press = 0; press < presses; press++) {
    await new Promise(done => setTimeout(done, gap));
    const start = performance.now();
    document.body.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
    await drawn();
    taken.push(performance.now() - start);
  }
  return taken;
}"""
"""Milliseconds from a key to the end of the frame that it makes: script, style, layout and paint."""
UNBOUND = ("--no-sandbox", "--disable-gpu", "--disable-frame-rate-limit", "--disable-gpu-vsync")
"""A frame begins at once, not at the screen's next refresh."""


def row(nodes: int) -> tuple[str, dict[str, float]]:
    """A formula whose nodes are in a row, each read by the next."""
    lines = [f"t{at + 1} = tanh(t{at})*1.{at % 9 + 1}" for at in range((nodes - 3) // 3)]
    return "; ".join(["t0 = x*1.5", *lines]), {"x": 0.5}


def tree(nodes: int) -> tuple[str, dict[str, float]]:
    """Sums and products of two, over inputs of their own."""
    values = {f"x{at}": 0.5 + at / nodes for at in range(nodes // 2)}
    layer, signs = [*values], "+*"
    while len(layer) > 1:
        pairs = zip(layer[::2], layer[1::2], strict=False)
        layer = [f"({one} {signs[0]} {other})" for one, other in pairs] + layer[len(layer) & ~1 :]
        signs = signs[::-1]
    return layer[0], values


def layers(*widths: int) -> tuple[str, dict[str, float]]:
    """A network of neurons."""
    before, lines = [f"x{at}" for at in range(widths[0])], []
    values = {name: 0.1 * at for at, name in enumerate(before)}
    for layer, width in enumerate(widths[1:], 1):
        names = [f"a{layer}_{at}" for at in range(width)]
        for at, name in enumerate(names):
            weights = [f"w{layer}_{at}_{place}" for place in range(len(before))]
            values |= {w: (at + 2 * place) % 5 / 4 - 0.5 for place, w in enumerate(weights)}
            terms = [f"{w}*{x}" for w, x in zip(weights, before, strict=True)]
            lines.append(f"{name} = tanh({' + '.join(terms)})")
        before = names
    return "; ".join(lines), values


FORMULAS = {
    "(a + b)*c": ("(a + b)*c", {"a": 2.0, "b": -3.0, "c": 10.0}),
    "a row": row(1000),
    "a tree": tree(1000),
    "layers": layers(4, 10, 10, 10, 6, 1),
}


def frames(page: Any) -> list[float]:
    """Milliseconds of each frame: at the first step, in the midst, and at the last."""
    taken: list[float] = []
    for part in (0, 0.5, 1):
        page.locator("#slider").evaluate(
            "(slider, part) => { slider.value = slider.max * part; slider.oninput(); }", part
        )
        for key in ("ArrowRight", "ArrowLeft"):
            taken += page.evaluate(FRAMES, [key, PRESSES, GAP])
    return taken


def report(formulas: Mapping[str, tuple[str, Mapping[str, float]]]) -> str:
    """A table of the nodes, and of the frames' median and worst."""
    rows: list[list[str]] = []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=[*UNBOUND]
        )
        for name, (text, values) in formulas.items():
            run = parse(text).gradient(values)
            path = Path(folder) / f"{len(rows)}.html"
            run.explore(all=True).save(path)
            page = browser.new_page(
                viewport={"width": WIDTH, "height": HEIGHT}, reduced_motion="reduce"
            )
            page.goto(path.as_uri(), timeout=0)
            taken = frames(page)
            page.close()
            figures = [f"{x:.1f} ms" for x in (statistics.median(taken), max(taken))]
            rows.append([f"`{name}`", f"{len(run.nodes):,}", *figures])
        browser.close()
    return table(["formula", "nodes", "median", "worst"], rows)


if __name__ == "__main__":
    click.echo(f"{report(FORMULAS)}\n{machine()}")
