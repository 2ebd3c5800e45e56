"""Tables, traces and pictures.

The room can be called: ``exprgrad.draw(run)`` is ``exprgrad.draw.picture.picture.draw(run)``.
"""

import sys
from types import ModuleType
from typing import Any

__all__ = ["Room"]


class Room(ModuleType):
    """A package whose name is a verb, too: Python binds ``exprgrad.draw`` to it once a file is read."""

    def __call__(self, what: Any, **options: Any) -> Any:
        """See ``exprgrad.draw.picture.picture.draw``."""
        from exprgrad.draw.picture.picture import draw

        return draw(what, **options)


sys.modules[__name__].__class__ = Room
