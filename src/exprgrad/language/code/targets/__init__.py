"""The target languages of programs: a file each, which binds a ``Target`` in capitals."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from exprgrad.language.code.target import Target

__all__ = ["TARGETS"]


def find_targets() -> dict[str, Target]:
    """Find the targets, by name, in the order of lists."""
    names = [module.name for module in iter_modules(__path__)]
    found = [getattr(import_module(f"{__name__}.{name}"), name.upper()) for name in names]
    return {target.name: target for target in sorted(found, key=lambda target: target.place)}


TARGETS = find_targets()
