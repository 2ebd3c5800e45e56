"""What all tests share: the browser, and generated examples without a time limit."""

from __future__ import annotations

import gc
import sys

from hypothesis import HealthCheck, settings

# Pipes, terminals and shells of Unix.
collect_ignore = (
    ["cli/test_process.py", "cli/test_completion.py"] if sys.platform == "win32" else []
)
pytest_plugins = ["browsers"]
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


def pytest_collection_finish() -> None:
    """What the modules hold stays to the end: the garbage collector need not look at it again."""
    gc.freeze()
