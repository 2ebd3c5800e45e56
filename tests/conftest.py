"""What all tests share: the browser, and generated examples without a time limit."""

from __future__ import annotations

import gc

from hypothesis import HealthCheck, settings

pytest_plugins = ["browsers"]
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


def pytest_collection_finish() -> None:
    """What the modules hold stays to the end: the garbage collector need not look at it again."""
    gc.freeze()
