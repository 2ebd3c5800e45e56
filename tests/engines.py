"""The engines over columns as parameters of tests; those whose package is missing are skipped."""

from __future__ import annotations

import os
from collections.abc import Collection
from importlib.util import find_spec
from typing import Any

import pytest

from exprgrad.run.engines.compiled import ENGINES

PACKAGES = {"native": "llvmlite", "numpy": "numpy", "jax": "jax"}


def mark(engine: str, slow: Collection[str] = ("jax",)) -> Any:
    """An engine as a parameter; JAX is an oracle's package, and may be required."""
    there = find_spec(PACKAGES[engine]) is not None
    required = engine == "jax" and os.environ.get("EXPRGRAD_ORACLES") == "require"
    skipped = pytest.mark.skipif(not there and not required, reason=f"no {PACKAGES[engine]}")
    return pytest.param(engine, marks=[skipped, *[pytest.mark.slow] * (engine in slow)])


each_engine = pytest.mark.parametrize("engine", [mark(engine) for engine in ENGINES])
numpy_first = pytest.mark.parametrize(
    "engine", [mark(engine, slow=("native", "jax")) for engine in ENGINES]
)
"""Where ``test_native`` asks the same of native code, the quick suite asks NumPy alone."""
either = pytest.mark.parametrize("engine", [mark(engine) for engine in ("native", "numpy")])
"""The engines that can be precise."""
