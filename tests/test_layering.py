"""The house: each room knows only those to its left, and heavy packages have one door each."""

from __future__ import annotations

import ast
import graphlib
import importlib
import inspect
import pkgutil
import types
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import exprgrad

ROOT = Path(exprgrad.__file__).parent
ROOMS = [
    "base",
    "graph",
    "language",
    "derive",
    "run",
    "explain",
    "solvers",
    "show",
    "data",
    "api",
    "cli",
]
DOORS: dict[str, str | tuple[str, ...]] = {
    "click": "cli",
    "lark": "language/read/lalr.py",
    "rich": ("show/text/table.py", "show/text/rows.py"),
    "graphviz": "show",
    "pygraphviz": "show",
    "numpy": ("run", "solvers", "data"),
    "scipy": "solvers",
    "matplotlib": "show/picture",
    "flint": "run/balls/balls.py",
    "jax": "run/engines/jax_engine.py",
    "llvmlite": "run/engines/native.py",
    "narwhals": "data/frames.py",
    "pyarrow": "data/arrow.py",
    "dask": "data/cluster.py",
    "distributed": "data/cluster.py",
    "fsspec": "data/places.py",
}
BASE = {"source", "errors", "__init__"}
FILES = sorted(path.relative_to(ROOT) for path in ROOT.rglob("*.py"))
MODULES = sorted(
    name
    for _, name, _ in pkgutil.walk_packages([str(ROOT)], "exprgrad.")
    if name not in ("exprgrad.__main__", "exprgrad.language.read._tables")
)


def room(parts: tuple[str, ...]) -> str:
    """The room of a module, given its path below ``exprgrad``."""
    if not parts or (len(parts) == 1 and parts[0] in BASE):
        return "base"
    return "cli" if parts[0] == "__main__" else parts[0]


@cache
def nodes_of(path: Path) -> list[ast.AST]:
    """All that a file says."""
    return [*ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8")))]


def imports(path: Path) -> Iterator[str]:
    """Every module that a file imports, inside functions and for type checkers too."""
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            assert node.module
            yield node.module


INSIDE = [path for path in FILES if path != Path("__init__.py")]
"""All files but the front door, which shows every room's best."""


def test_a_room_knows_only_those_to_its_left() -> None:
    for path in INSIDE:
        own = room(path.with_suffix("").parts)
        assert own in ROOMS, f"a new room: say where it stands ({own})"
        for name in imports(path):
            top, *rest = name.split(".")
            if top == "exprgrad":
                other = room(tuple(rest))
                assert ROOMS.index(other) <= ROOMS.index(own), f"{path} imports {name}"
            elif top in DOORS:
                assert str(path).startswith(DOORS[top]), f"{path} imports {top}"


def test_no_modules_import_each_other() -> None:
    """Not even by way of others, inside functions, or for type checkers alone."""
    known = {"exprgrad", *MODULES}
    edges: dict[str, set[str]] = {}
    for path in FILES:
        name = ".".join(("exprgrad", *path.with_suffix("").parts)).removesuffix(".__init__")
        taken = {
            f"{node.module}.{alias.name}" if f"{node.module}.{alias.name}" in known else node.module
            for node in nodes_of(path)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        edges[name] = {other for other in taken if other in known} - {name}
    del edges["exprgrad"]  # the front door, which shows every room's best
    graphlib.TopologicalSorter(edges).prepare()  # raises CycleError, and names the circle


def test_errors_and_source_know_nobody() -> None:
    known = {name for file in ("errors.py", "source.py") for name in imports(Path(file))}
    assert {name for name in known if name.startswith("exprgrad")} == {"exprgrad.source"}


EXECUTES = {"eval", "exec", "compile", "os.system", "print", "breakpoint", "pickle.loads"}
EXITS = {"sys.exit", "exit", "quit", "os._exit"}


EXECUTED = {Path("run/engines/point_function.py"): {"exec"}}
"""Where text is executed: its names and numbers are ours, as ``test_point_function.py`` holds."""


def test_only_the_command_speaks() -> None:
    """No print and no exit in the library; nothing a user types is ever executed."""
    for path in FILES:
        calls = {ast.unparse(n.func) for n in nodes_of(path) if isinstance(n, ast.Call)}
        assert calls & EXECUTES == EXECUTED.get(path, set()), path
        if path.parts[0] not in ("cli", "__main__.py"):
            assert not calls & EXITS, path


def test_all_is_the_public_names() -> None:
    """``__all__`` is sorted as ruff sorts, whole and true."""
    for name in ["exprgrad", *MODULES]:
        module = importlib.import_module(name)
        listed = getattr(module, "__all__", None)
        if listed is None:
            assert not list(public_names(module)), name
            continue
        assert len(set(listed)) == len(listed), name
        missing = [n for n in listed if not hasattr(module, n)]
        assert not missing, f"{name} lists what it does not have"
        used = {n for n in public_names(module) if is_used_elsewhere(name, n)}
        assert used <= set(listed), f"{name}: others import what it does not list"
        assert all(not n.startswith("_") or n == "__version__" for n in listed), name


def public_names(module: types.ModuleType) -> Iterator[str]:
    """The names that a module defines itself and does not hide."""
    for name, value in vars(module).items():
        if name.startswith("_") or inspect.ismodule(value):
            continue
        if getattr(value, "__module__", module.__name__) == module.__name__:
            yield name


def is_used_elsewhere(module: str, name: str) -> bool:
    """Whether another file of the package imports a name from a module."""
    return (module, name) in imported_names()


@cache
def imported_names() -> set[tuple[str, str]]:
    """Every (module, name) that some file of the package imports."""
    found = set()
    for path in FILES:
        for node in nodes_of(path):
            if isinstance(node, ast.ImportFrom) and node.module:
                found |= {(node.module, alias.name) for alias in node.names}
    return found


def test_the_front_door() -> None:
    """What the library offers is what can be had by name, and nothing else."""
    assert sorted(exprgrad.__all__) == dir(exprgrad)
    for name in exprgrad.__all__:
        assert getattr(exprgrad, name) is not None
    with pytest.raises(AttributeError):
        _ = exprgrad.nothing  # type: ignore[attr-defined]
