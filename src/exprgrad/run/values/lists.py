"""Lists of numbers, and arrays of any library, as NumPy arrays of doubles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from exprgrad.errors import InputError
from exprgrad.graph.graph import element_name, place_of
from exprgrad.run.arrays import arrays

__all__ = ["as_tensor"]

Number = Callable[[object, str], float]
"""What reads a number, given what the value is called."""

MOST_AXES = 32
"""The most axes of a tensor: NumPy 1 has no more."""
NUMBERS = "biuf"
"""The kinds of NumPy's types that are real numbers."""


def as_tensor(value: object, name: str, as_number: Number) -> Any:
    """Nested lists, or an array of some library, as an array of doubles; a float if it has no axes.

    An array of doubles is not copied.  ``as_number`` reads what NumPy does not take for a number.  Raises
    ``InputError`` for what is ragged or empty, or holds what is not a real number.
    """
    listed = isinstance(value, Sequence)
    if listed:
        refuse_depth(value, name)
    found = array_of(value)
    if found is None or found.dtype.kind == "O" or (listed and found.dtype.kind not in NUMBERS):
        objects = found is not None and found.dtype.kind == "O" and found.ndim and not listed
        found = number_by_number(found if objects else value, name, as_number)
    elif found.dtype.kind not in NUMBERS:
        found = as_doubles(found)
        if found is None:
            kind = str(getattr(value, "dtype", type(value).__name__))
            raise bad_value(f"the value of '{name}' is not an array of real numbers: {kind}")
    if 0 in found.shape:
        its_shape = f": its shape is {found.shape}" if len(found.shape) > 1 else ""
        raise bad_value(
            f"the value of '{name}' is empty{its_shape}", "a tensor holds at least one number"
        )
    return arrays.plain(arrays.as_array(found))


def bad_value(message: str, help: str | None = None) -> InputError:
    """The error for a value that is no tensor."""
    return InputError("bad-value", message, help=help)


def refuse_depth(value: object, name: str) -> None:
    """An error for lists in lists in lists, and for a list that holds itself."""
    part, depth = value, 0
    while isinstance(part, Sequence) and not isinstance(part, str | bytes) and len(part):
        part, depth = part[0], depth + 1
        if depth > MOST_AXES:
            message = f"the value of '{name}' is nested too deeply"
            raise bad_value(message, f"a tensor has at most {MOST_AXES} axes")


def array_of(value: object) -> Any:
    """Whatever NumPy makes of a value; None if that is nothing good."""
    try:
        found = np.asarray(value)
    except Exception:  # whatever another library raises
        return None
    masked = isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value)
    return None if masked else found


def as_doubles(found: Any) -> Any:
    """An array of a type that NumPy does not know for numbers, such as bfloat16; None if it holds none."""
    if found.dtype.kind != "V" or found.dtype.fields is not None:
        return None
    try:
        return found.astype(np.float64)
    except (TypeError, ValueError):
        return None


def number_by_number(value: object, name: str, as_number: Number) -> Any:
    """Nested lists whose numbers NumPy does not take as they are; or what is wrong with them."""
    level = [value]
    shape: list[int] = []
    while any(children(part) is not None for part in level):
        lists = [children(part) for part in level]
        lengths = [None if parts is None else len(parts) for parts in lists]
        if len(set(lengths)) > 1:
            raise ragged(lengths, shape, name)
        shape.append(len(lists[0] or ()))
        level = [part for parts in lists for part in parts or ()]
        if len(shape) > MOST_AXES:
            raise bad_value(f"the value of '{name}' is nested too deeply")
    sizes = tuple(shape)
    numbers = [
        as_number(part, element_name(name, place_of(at, sizes))) for at, part in enumerate(level)
    ]
    return np.array(numbers, dtype=np.float64).reshape(shape)


def children(value: object) -> Sequence[Any] | None:
    """The parts of a list, or of an array of any library; None for what has no parts."""
    if isinstance(value, Sequence):
        return None if isinstance(value, str | bytes) else value
    if getattr(value, "ndim", 0):
        to_list = getattr(value, "tolist", None)
        found = to_list() if callable(to_list) else None
        return found if isinstance(found, list) else None
    return None


def ragged(lengths: Sequence[int | None], shape: Sequence[int], name: str) -> InputError:
    """The error for lists that do not line up; ``lengths`` are those at one depth, None for a number."""
    at = next(i for i, length in enumerate(lengths) if length != lengths[0])
    first, other = (
        "a number" if length is None else f"a list of {length}"
        for length in (lengths[0], lengths[at])
    )
    one, another = (element_name(name, place_of(flat, tuple(shape))) for flat in (0, at))
    message = (
        f"the lists in the value of '{name}' are ragged: {one} is {first}, and {another} {other}"
    )
    return bad_value(message, "lists side by side have one length")
