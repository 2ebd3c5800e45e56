"""Hints for what is not installed, by how this Python's environment was made; the wheel, by pipx."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from exprgrad import errors

ROOT = Path(__file__).parents[1]


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An environment with Python and pip, in the current folder."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / ".venv" / "bin"
    folder.mkdir(parents=True)
    for name in ("python", "pip"):
        (folder / name).write_text("", encoding="utf-8")
        (folder / name).chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(folder / "python"))
    monkeypatch.setattr(sys, "prefix", str(folder.parent))
    return folder


def test_where_its_pip_is_the_one_on_the_path(
    environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(environment))
    assert errors.install_command("llvmlite") == "pip install llvmlite"


def test_from_a_clone_whose_environment_is_not_activated(environment: Path) -> None:
    pytest.importorskip("pip")
    python = os.path.join(".venv", "bin", "python")  # noqa: PTH118
    assert errors.install_command("llvmlite") == f"{python} -m pip install llvmlite"


def test_from_another_folder(
    environment: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("pip")
    elsewhere = tmp_path / "else where"
    environment.parent.rename(elsewhere)
    python = elsewhere / "bin" / "python"
    monkeypatch.setattr(sys, "executable", str(python))
    monkeypatch.chdir("/")
    said = errors.install_command("llvmlite").replace(str(python.relative_to("/")), "PYTHON")
    assert said == '"PYTHON" -m pip install llvmlite'


def test_in_environments_of_other_tools(environment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    python = os.path.join(".venv", "bin", "python")  # noqa: PTH118
    assert errors.install_command("jax") == f"uv pip install --python {python} jax"
    monkeypatch.setattr(sys, "prefix", os.path.join("home", "pipx", "venvs", "exprgrad"))  # noqa: PTH118
    assert errors.install_command("jax") == "pipx inject exprgrad jax"


def build_wheel(folder: Path, seed: str = "random") -> Path:
    """The wheel of this clone, built in a process whose sets have an order of their own."""
    pytest.importorskip("build", reason="pip install build")
    build = [sys.executable, "-m", "build", "-q", "--wheel", "--outdir", str(folder), str(ROOT)]
    env = {**os.environ, "PYTHONHASHSEED": seed}
    built = subprocess.run(build, capture_output=True, text=True, check=False, env=env)
    if built.returncode and "No matching distribution" in built.stdout + built.stderr:
        pytest.skip("the packages that build a wheel cannot be had here")
    assert built.returncode == 0, built.stderr
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.mark.slow
def test_the_wheel_is_the_same_byte_for_byte(tmp_path: Path) -> None:
    one, other = (build_wheel(tmp_path / seed, seed).read_bytes() for seed in ("1", "2"))
    assert one == other


@pytest.mark.slow
def test_the_wheel_by_pipx(tmp_path: Path) -> None:
    """It needs no extra, nothing of the clone, and no installation."""
    if shutil.which("pipx") is None:
        pytest.skip("there is no pipx")
    wheel = build_wheel(tmp_path)
    env = {**os.environ, "PIPX_HOME": str(tmp_path / "pipx"), "PIPX_BIN_DIR": str(tmp_path / "bin")}
    line = ["pipx", "run", "--spec", str(wheel), "exprgrad", "x^2", "x=3", "-q"]
    done = subprocess.run(
        line, capture_output=True, text=True, check=False, env=env, cwd=tmp_path, timeout=600
    )
    assert (done.returncode, done.stdout) == (0, "x=6.0\n"), done.stderr


MACHINES = [
    ("linux", "x86_64", True),
    ("linux", "aarch64", True),
    ("darwin", "arm64", True),
    ("darwin", "x86_64", True),
    ("win32", "AMD64", True),
    ("win32", "x86", False),
    ("linux", "armv7l", False),
    ("linux", "ppc64le", False),
    ("emscripten", "wasm32", False),
]


@pytest.mark.parametrize("platform, machine, has_wheel", MACHINES)
def test_python_flint_is_asked_for_where_it_has_wheels(
    platform: str, machine: str, has_wheel: bool
) -> None:
    """Elsewhere the package installs without it."""
    requirements = pytest.importorskip("packaging.requirements")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (flint,) = [line for line in project["dependencies"] if line.startswith("python-flint")]
    there = {"sys_platform": platform, "platform_machine": machine}
    marker = requirements.Requirement(flint).marker
    assert marker.evaluate({**there, "implementation_name": "cpython"}) == has_wheel
    assert not marker.evaluate({**there, "implementation_name": "pypy"})
