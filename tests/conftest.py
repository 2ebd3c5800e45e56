"""What all tests share: no generated example has a time limit, for on a busy machine any may exceed it."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
