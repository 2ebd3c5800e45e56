"""Golden files: what a program printed once, was looked at, and must print again.

``EXPRGRAD_UPDATE=1 pytest`` writes them anew; then ``git diff`` shows what changed.
"""

from __future__ import annotations

import difflib
import os
from pathlib import Path

CASES = Path(__file__).parent / "cases"


def agree(name: str, text: str) -> None:
    """Fail, with a diff, unless a text is what ``tests/cases/<name>`` holds.

    Lone surrogates are written as ``\\udc80``, so that the files are UTF-8.
    """
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    path = CASES / name
    if os.environ.get("EXPRGRAD_UPDATE") == "1":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        return
    held = path.read_bytes().decode() if path.exists() else ""
    if text == held:
        return
    lines = difflib.unified_diff(
        held.split("\n"), text.split("\n"), f"tests/cases/{name}", "printed now", lineterm=""
    )
    raise AssertionError("\n".join(["the output changed (EXPRGRAD_UPDATE=1 accepts it)", *lines]))
