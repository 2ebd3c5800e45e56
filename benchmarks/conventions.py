"""What PyTorch and JAX answer at critical points: ``python -m benchmarks.conventions`` records it.

``exprgrad ops NAME`` shows the record beside our own answers, on machines that have neither library.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import exprgrad
from benchmarks.libraries import OPERATORS, OWN, Library, jax_library, torch_library
from exprgrad.graph.ops import OPS, Op
from exprgrad.show.documents.document import encode_nonfinite
from exprgrad.show.text.operations import critical_points_of_row

__all__ = ["record", "text"]

RECORD = Path(exprgrad.__file__).parent / "show" / "text" / "conventions.json"
CALLED = {
    "torch": {"heaviside": "(x, 0.5)"},
    "jax": {"heaviside": "(x, 0.5)", "j1": "(x, v=1)[1]", "Si": "(x)[0]", "Ci": "(x)[1]"},
}
"""How a function is called that takes more than the row's operands, or gives more than its result."""
LIBRARIES: dict[str, Callable[[Any], Library]] = {"torch": torch_library, "jax": jax_library}


def record() -> dict[str, Any]:
    """The libraries' versions, and by row: the points, and each library's function and answers there.

    An answer is the value and, by operand, the derivative: null where the library says nothing.
    """
    libraries = {name: maker(import_module(name)) for name, maker in LIBRARIES.items()}
    rows = {op.name: row for op in OPS if (row := recorded(op, libraries))}
    return {
        "versions": {name: library.version for name, library in libraries.items()},
        "operations": rows,
    }


def recorded(op: Op, libraries: dict[str, Library]) -> dict[str, Any]:
    """One row; empty where it has no critical point."""
    points = [point.operands for point in critical_points_of_row(op)]
    found: dict[str, Any] = (
        {"points": [[*map(encode_nonfinite, point)] for point in points]} if points else {}
    )
    for name, library in libraries.items():
        function = OPERATORS[op.name][0] if op.name in OPERATORS else OWN[name].get(op.name)
        if points and function is not None:
            answers = [answer(library, op.name, point) for point in points]
            called = function + CALLED[name].get(op.name, "")
            found[name] = {"function": called, "answers": answers}
    return found


def answer(library: Library, name: str, point: tuple[float, ...]) -> list[Any]:
    """A library's value and derivatives as JSON has them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value, partials = library.gradient(library.words[name], point)
    return [encode_nonfinite(value), [*map(encode_nonfinite, partials)]]


def text() -> str:
    """The record as it is written: a line for each row."""
    found = record()
    rows = [f"  {json.dumps(name)}: {json.dumps(row)}" for name, row in found["operations"].items()]
    versions = json.dumps(found["versions"])
    return f'{{"versions": {versions},\n "operations": {{\n' + ",\n".join(rows) + "\n}}\n"


if __name__ == "__main__":
    RECORD.write_text(text(), "utf-8")
