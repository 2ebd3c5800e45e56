"""Folders as targets: a file for each file that is read, under the same name."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from exprgrad.data.formats import BY_ENDING, FORMATS, Partition
from exprgrad.data.places import (
    STDIN,
    RowFile,
    exists,
    files_of,
    is_inside,
    keys_of,
    store,
    without_packing,
)
from exprgrad.errors import RequestError

__all__ = ["check_folder", "is_folder", "keys_in_names", "output_of", "whole_of"]


def is_folder(path: str | None) -> bool:
    """Whether a target is a folder: it is called so, or is one already."""
    return path is not None and (path.endswith(("/", os.sep)) or Path(path).is_dir())


def output_of(path: str, format: str, source: RowFile) -> str:
    """The file in a folder that the rows of another file go to."""
    bare, packing = without_packing(source.name)
    name = source.name
    if source.format != format:
        name = bare[: bare.rindex(".")] + FORMATS[format].endings[0]
    elif packing != "gzip":
        name = bare
    return f"{path}/{name}"


def keys_in_names(sources: Sequence[RowFile]) -> set[str]:
    """The columns that the names of folders say which are made anew: files don't have to say them again."""
    said = [{key.name for key in keys} for keys in keys_of([source.name for source in sources])]
    return set.intersection(*said)


def check_folder(path: str, format: str, sources: Sequence[RowFile], data: Iterable[str]) -> None:
    """Errors for a folder that cannot be written, or whose rows would be mixed up with others."""
    if any(source.path == STDIN for source in sources):
        message = "rows from a pipe have no name that a file in a folder could have"
        raise RequestError("usage", message, help="name a file: -o FILE")
    for given in data:
        if is_inside(path, given) or any(is_inside(source.path, path) for source in sources):
            message = f"'{path}' is read, and so cannot be written"
            raise RequestError("file", message, help="name another folder")
    outputs = [output_of(path, format, source) for source in sources]
    twice = next((name for name, count in Counter(outputs).items() if count > 1), None)
    if twice is not None:
        message = f"two files would be written to '{twice}'"
        raise RequestError("usage", message, help="give one folder, or one glob, that has all")
    if not exists(path):
        return
    if store(path) is None and not Path(path).is_dir():
        raise RequestError("file", f"cannot write into '{path}': it is a file")
    known = {name.removeprefix(f"{path}/") for name in outputs}
    others = [name for _, name in files_of(path, tuple(BY_ENDING)) if name not in known]
    if others:
        message = f"'{path}' holds rows that this run would not write: '{others[0]}'"
        raise RequestError("file", message, help="name another folder, or remove what is there")


def whole_of(source: RowFile) -> list[Partition]:
    """A file as one partition."""
    rows = sum(FORMATS[source.format].pieces(source))
    return [Partition(source, rows=rows or -1)]
