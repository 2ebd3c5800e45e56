"""The one door to llvmlite: LLVM's language to machine code, and what this machine can do."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any, NamedTuple

from exprgrad.errors import MissingExtraError, install

__all__ = ["Code", "Machine", "compiled", "machine", "symbol"]

OPTIMIZATION = {2_000: 2, 10**9: 1}
"""How hard the code generator tries, of 3, by the most lines; harder takes long texts twice the time."""


class Machine(NamedTuple):
    """This machine: the rows of its widest vectors, and whether it multiplies and adds in one step.

    ``avx512``: it has an instruction that multiplies by powers of two, and others read one number of memory
    for all rows of a vector.
    ``prefix`` is how the vector library's functions for this width are named; empty where it has none.
    """

    width: int
    fused: bool
    avx512: bool
    prefix: str


class Code(NamedTuple):
    """A compiled function: its address, and what must live as long as it is called."""

    address: int
    owner: object


@cache
def binding() -> Any:
    """llvmlite, ready for this machine.

    Raises ``MissingExtraError`` where it is not installed, or is and cannot be loaded.
    """
    try:
        import llvmlite.binding as llvm
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "llvmlite":
            raise broken(error) from error
        raise MissingExtraError(
            "missing-llvmlite",
            "the engine 'native' needs llvmlite",
            help=f"{install('llvmlite')}, or take the engine 'numpy'",
        ) from None
    except (ImportError, OSError) as error:
        raise broken(error) from error
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm


def broken(error: Exception) -> MissingExtraError:
    """The error for a llvmlite that is there and cannot be loaded."""
    return MissingExtraError(
        "missing-llvmlite",
        f"llvmlite is installed, but it cannot be loaded: {error}",
        help=f"{install('--force-reinstall llvmlite')}, or take the engine 'numpy'",
    )


@cache
def machine() -> Machine:
    """What this machine can do."""
    llvm = binding()
    features = llvm.get_host_cpu_features()
    triple = llvm.get_process_triple()
    if not triple.startswith("x86_64"):
        return Machine(2, triple.startswith(("aarch64", "arm64")), False, "")
    if all(features.get(name) for name in ("avx512f", "avx512dq", "avx512vl")):
        found = Machine(8, True, True, "_ZGVeN8")
    elif features.get("avx2") and features.get("fma"):
        found = Machine(4, True, False, "_ZGVdN4")
    else:
        return Machine(2, False, False, "")
    return found if vector_library() is not None else found._replace(prefix="")


@cache
def vector_library() -> ctypes.CDLL | None:
    """glibc's library of vector functions."""
    try:
        library = ctypes.CDLL("libmvec.so.1")
    except OSError:
        return None
    return library


def symbol(name: str) -> int:
    """The address of a vector function; 0 where the library has none of this name, as older ones."""
    function = getattr(vector_library(), name, None)
    return ctypes.cast(function, ctypes.c_void_p).value or 0 if function is not None else 0


def target(lines: int) -> Any:
    """A code generator for this machine and a text; the engine that it is given to owns it."""
    llvm = binding()
    return llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=next(level for most, level in OPTIMIZATION.items() if lines <= most),
        jit=True,
    )


def compiled(text: str, entry: str, symbols: dict[str, int]) -> Code:
    """A module's function; ``symbols`` are the addresses of functions that it calls."""
    llvm = binding()
    for name, address in symbols.items():
        llvm.add_symbol(name, address)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(text), target(text.count("\n")))
    engine.finalize_object()
    return Code(engine.get_function_address(entry), engine)
