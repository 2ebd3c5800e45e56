"""The how-to for notebooks as a notebook: its cells, and what they show where it is run."""

from __future__ import annotations

import re
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "how-to" / "use-in-a-notebook.md"


@cache
def executed() -> list[Any]:
    """The cells with their outputs; run once.  Without nbclient and ipykernel the test is skipped."""
    reason = "pip install nbclient ipykernel"
    nbclient = pytest.importorskip("nbclient", reason=reason)
    pytest.importorskip("ipykernel", reason=reason)
    from nbformat.v4 import new_code_cell, new_notebook

    sources = re.findall(r"(?ms)^```py\n(.*?)^```$", PAGE.read_text("utf-8"))
    notebook = new_notebook(cells=[new_code_cell(source) for source in sources])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        nbclient.NotebookClient(notebook, timeout=600, allow_errors=True).execute()
    cells: list[Any] = notebook.cells
    return cells


def shown(cell: Any) -> Any:
    """The one output of a cell."""
    (output,) = cell.outputs
    return output
