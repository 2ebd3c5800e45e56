"""Start-up: the time of a whole process, against ``import click`` alone and against bare Python."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from benchmarks.measure import Call, interleaved, table, times

__all__ = ["report"]

MAIN = "from exprgrad.cli.main import run; run()"
NEURON = ["tanh(x1*w1 + x2*w2 + b)", "x1=2", "w1=-3", "x2=0", "w2=1", "b=6.88"]
BARE = "python -c ''"
CLICK = "python -c 'import click'"
PROCESSES = {
    BARE: [""],
    CLICK: ["import click"],
    "exprgrad --version": [MAIN, "--version"],
    'exprgrad grad -q "(a+b)*c" …': [MAIN, "grad", "-q", "(a+b)*c", "a=2", "b=-3", "c=10"],
    'exprgrad grad --json "(a+b)*c" …': [MAIN, "grad", "--json", "(a+b)*c", "a=2", "b=-3", "c=10"],
    "exprgrad grad --json, a neuron": [MAIN, "grad", "--json", *NEURON],
}


def report(*, quick: bool) -> str:
    """The table, and a warning where this installation would be compiled again at each start."""
    calls = {name: process(arguments) for name, arguments in PROCESSES.items()}
    found = interleaved(calls, 5 if quick else 30)
    rows = [[name, times(t / found[CLICK]), times(t / found[BARE])] for name, t in found.items()]
    text = table(["whole process", "against import click", "against bare Python"], rows)
    return text + "".join(f"\n**Warning:** {warning}\n" for warning in warnings())


def process(arguments: list[str]) -> Call:
    """A run of this interpreter, as the console script would run it."""
    command = [sys.executable, "-P", "-c", *arguments]
    return lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def warnings() -> list[str]:
    """What makes start-up here slower than in an installation from a wheel."""
    spec = find_spec("exprgrad.cli.main")
    if spec is None or spec.origin is None:
        return []
    found = []
    if "site-packages" not in Path(spec.origin).parts:
        found.append("this is an editable install; people install wheels, so measure one")
    if spec.cached is None or not Path(spec.cached).exists():
        reason = "PYTHONDONTWRITEBYTECODE is set" if sys.dont_write_bytecode else "it never ran yet"
        found.append(
            f"exprgrad has no compiled bytecode ({reason}): each start compiles it again, "
            "which an installation from a wheel does not"
        )
    return found
