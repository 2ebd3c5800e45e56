"""What all tests share: the browser, and generated examples without a time limit."""

from __future__ import annotations

from hypothesis import settings

pytest_plugins = ["browsers"]
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
