"""What all tests share: the browser, compiled modules, and generated examples without a time limit."""

from __future__ import annotations

import gc
import os
import sys

import pytest
from hypothesis import HealthCheck, settings

# Pipes, terminals and shells of Unix.
collect_ignore = (
    ["cli/test_process.py", "cli/test_completion.py"] if sys.platform == "win32" else []
)
pytest_plugins = ["browsers"]
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


def pytest_configure() -> None:
    """While modules are loaded there is next to no garbage."""
    gc.disable()


def pytest_collection_finish() -> None:
    """What the modules hold stays to the end: the garbage collector need not look at it again."""
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def bytecode(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Processes that tests start share what Python compiles, where none is left beside the source."""
    if sys.dont_write_bytecode:
        os.environ["PYTHONPYCACHEPREFIX"] = str(tmp_path_factory.mktemp("bytecode"))
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
