"""The machine: one core for everybody, and what is worth knowing about it."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

__all__ = ["PEERS", "gcc", "machine", "one_core", "versions"]

ALONE = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
    "JAX_PLATFORMS": "cpu",
    "JAX_ENABLE_X64": "1",
}
"""What tells the peers to take one thread, and JAX to compute in doubles as all the others do."""
PEERS = (
    "numpy", "scipy", "llvmlite", "jax", "numba", "numexpr", "casadi", "torch", "autograd", "micrograd",
    "sympy", "symengine", "lmfit", "iminuit", "lark", "click",
)  # fmt: skip


def one_core() -> int | None:
    """Stay on the last core there is, children too, one thread each: call it before a peer is imported.

    Returns the core's number; None where the system cannot pin.
    """
    os.environ.update(ALONE)
    if not hasattr(os, "sched_setaffinity"):
        return None
    core = max(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {core})
    return core


def machine() -> str:
    """What the numbers were taken on."""
    system = platform.freedesktop_os_release().get("PRETTY_NAME", "") if on_linux() else ""
    return (
        f"{processor()}; {system or platform.system()}; "
        f"{platform.python_implementation()} {platform.python_version()}"
    )


def versions() -> str:
    """The C library, the compiler and the peers, as far as they are there."""
    found = [" ".join(platform.libc_ver()).strip(), gcc()]
    for name in PEERS:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return ", ".join(filter(None, found))


def gcc() -> str:
    """The C compiler and its version; nothing where there is none."""
    try:
        said = subprocess.run(["gcc", "-dumpfullversion"], capture_output=True, text=True)
    except FileNotFoundError:
        return ""
    return f"gcc {said.stdout.strip()}"


def on_linux() -> bool:
    """Whether this system describes itself in files."""
    return Path("/proc/cpuinfo").exists() and Path("/etc/os-release").exists()


def processor() -> str:
    """The processor's model, as far as the system tells, how many cores it shows, and its vectors."""
    model = platform.processor() or platform.machine()
    vectors = ""
    if on_linux():
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            name, _, said = line.partition(":")
            if name.strip() == "model name":
                model = said.strip()
            elif name.strip() == "flags":
                known = [flag for flag in ("avx2", "fma", "avx512f") if flag in said.split()]
                vectors = "".join(f", {flag}" for flag in known)
    return f"{model}, {os.cpu_count()} cores{vectors}{caches()}"


def caches() -> str:
    """The sizes of the first core's caches for data, where the system tells."""
    sizes = []
    for folder in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        if (folder / "type").read_text("utf-8").strip() != "Instruction":
            sizes.append((folder / "size").read_text("utf-8").strip())
    return f", caches {' / '.join(sizes)}" if sizes else ""
