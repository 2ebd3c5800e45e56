"""What a command has written: a file, or a folder of them."""

from __future__ import annotations

import shutil
from pathlib import Path

__all__ = ["content", "removed"]


def content(path: Path) -> dict[str, bytes]:
    """The bytes of a file, or of each file in a folder, by name."""
    if not path.is_dir():
        return {"": path.read_bytes()}
    files = [one for one in path.rglob("*") if one.is_file()]
    return {str(one.relative_to(path)): one.read_bytes() for one in files}


def removed(path: Path) -> None:
    """Remove a file or a folder."""
    shutil.rmtree(path) if path.is_dir() else path.unlink()
