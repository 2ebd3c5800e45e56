"""The notebooks in the docs: each cell runs, in a kernel, and shows what is said of it."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "docs" / "notebooks"
SHOWN = {
    "micrograd-lecture": ("(6.0, -4.0, -2.0, 4.0)", "({'a': 1.0}, {'a': 2.0})"),
    "uncertainty-budget": ("86.1 %", "5.8 %"),
    "fit": ("238.942", "0.00055015"),
}
"""By notebook, what stands in its outputs."""


def test_each_notebook_is_named_and_has_no_outputs() -> None:
    paths = {path.stem: path.read_text("utf-8") for path in FOLDER.glob("*.ipynb")}
    assert paths.keys() == SHOWN.keys()
    assert all(len(re.findall(r'"outputs": \[[^\]]', text)) == 0 for text in paths.values())


@pytest.mark.slow
@pytest.mark.parametrize("name", SHOWN)
def test_notebooks_run(name: str) -> None:
    nbclient = pytest.importorskip("nbclient", reason="pip install nbclient ipykernel")
    nbformat = pytest.importorskip("nbformat", reason="pip install nbclient ipykernel")
    pytest.importorskip("ipykernel", reason="pip install nbclient ipykernel")
    if name == "fit":
        pytest.importorskip("scipy", reason="pip install 'exprgrad[fit]'")
    notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        nbclient.NotebookClient(notebook, timeout=600).execute()
    shown = str([cell.outputs for cell in notebook.cells if cell.cell_type == "code"])
    assert [part for part in SHOWN[name] if part not in shown.replace("\\'", "'")] == []
