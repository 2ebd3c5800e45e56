"""Start-up: the time of a whole process, against ``import click`` alone and against bare Python."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from benchmarks.measure import Call, Report, medians, ratio, table, times, turns

__all__ = ["report"]

MAIN = "from exprgrad.cli.main import run; run()"
NEURON = ["tanh(x1*w1 + x2*w2 + b)", "x1=2", "w1=-3", "x2=0", "w2=1", "b=6.88"]
BARE = "python -c ''"
CLICK = "python -c 'import click'"
GRAD = 'exprgrad grad --json "(a+b)*c" …'
PROCESSES = {
    BARE: [""],
    CLICK: ["import click"],
    "exprgrad --version": [MAIN, "--version"],
    'exprgrad grad -q "(a+b)*c" …': [MAIN, "grad", "-q", "(a+b)*c", "a=2", "b=-3", "c=10"],
    GRAD: [MAIN, "grad", "--json", "(a+b)*c", "a=2", "b=-3", "c=10"],
    "exprgrad grad --json, a neuron": [MAIN, "grad", "--json", *NEURON],
}


def report(*, quick: bool) -> Report:
    """The table, and a warning where this is not what people install."""
    calls = {name: process(arguments) for name, arguments in PROCESSES.items()}
    taken = turns(calls, 5 if quick else 40)
    rows = []
    for name, seconds in medians(taken).items():
        against = [times(ratio(taken, name, other).median) for other in (CLICK, BARE)]
        rows.append([f"`{name}`", f"{seconds * 1e3:.0f} ms", *against])
    text = table(["whole process", "time", "against import click", "against bare Python"], rows)
    said = "".join(f"\n**Warning:** {warning}\n" for warning in warnings())
    return Report(text + said, {"startup": ratio(taken, GRAD, CLICK)})


def process(arguments: list[str]) -> Call:
    """A run of this interpreter, as the console script would run it.

    It may write bytecode, so that only the unmeasured round compiles, as pip does when it installs.
    """
    command = [sys.executable, "-P", "-c", *arguments]
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)


def warnings() -> list[str]:
    """What makes start-up here slower than in an installation from a wheel."""
    spec = find_spec("exprgrad.cli.main")
    if spec is None or spec.origin is None or "site-packages" in Path(spec.origin).parts:
        return []
    return ["this is an editable install; people install wheels, so measure one"]
