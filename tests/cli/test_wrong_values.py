"""Every way to get a tensor wrong: lists, files, shapes, tangents and cotangents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import golden
from exprgrad.source import display_width
from shell import command, spelled

TEXTS: dict[str, bytes] = {
    "ragged.csv": b"1,2\n3\n", "word.csv": b"a,b\r\n1,2\r\n3,three\r\n", "gap.csv": b"1,2\n3,\n",
    "comma.csv": b"1,234;2,567\n", "blank.csv": b"1 2\n3 4 5\n", "header.csv": b"a,b\n", "empty.csv": b"",
    "mixed.csv": b"5.1,3.5,n/a\n4.9,3.0,1\n", "hole.csv": b"1,,3\n4,5,6\n",
    "years.csv": b"name,2020\n1,2\n",
    "python.csv": b"1,2\n1_000,0x10\n", "latin1.csv": b"gr\xf6\xdfe\n1\n",
    "good.csv": b"a;b\n1;2\n3;4\n\n", "notes.txt": b"1", "escape.csv": b"a\n1\n\x1b[31m\n",
    "broken.json": b"[1, 2", "object.json": b'{"x": [1]}', "ragged.json": b"[[1, 2], [3]]",
    "mixed.json": b"[1, [2]]", "null.json": b"[1, null]", "true.json": b"[1, true]",
    "text.json": b'[1, "two"]',
    "hollow.json": b"[]", "deep.json": b"[" * 40 + b"]" * 40, "deeper.json": b"[" * 100_000,
    "huge.json": b"[1, 1" + b"0" * 400 + b"]", "inputs.json": b'{"x": [1, 2, 3], "W": "@good.csv:*"}',
    "parts.json": b'{"x": [[1, 2], [3, null]]}', "broken.npy": b"NUMPY", "empty.npy": b"",
}  # fmt: skip
ARRAYS: dict[str, Any] = {
    "complex.npy": np.array([1j]), "text.npy": np.array(["a"]), "hollow.npy": np.zeros((0, 3)),
    "objects.npy": np.array([None, 1], dtype=object), "X.npy": np.ones((2, 3)),
    "time.npy": np.array(["2020"], "M8[D]"),
    "fields.npy": np.zeros(2, dtype=[("a", float)]),
}  # fmt: skip

EVAL = ("eval", "x")
PRODUCT = ("jac", "x @ W")
TWO = ("x*w", "x=[1,2]", "w=3")
GROUPS: dict[str, list[list[str]]] = {
    "lists": [[*EVAL, f"x={value}"] for value in (
        "[]", "[", "[1", "[1,", "[1,,2]", "[1 2]", "[[1],[2,3]]", "[1,[2]]", "[a]", "[1,b]", "[Pi,1]",
        "[1;2]", "1,2", "[1,2]x", "[1,2]+[1,2,3]", "[1,2][2]", "[[]]", "{1,2}", "(1,2)", "[1,2],w=3",
        "[tahn(1)]", "1,2,3", "1.5, 2", "[[1,2][3,4]]", "X.npy", "./X.csv", "X.csv:a", "X.JSON",
        "[1,2] y=3",
    )] + [[*EVAL, "x=[1,", "2]"], [*EVAL, "x=[1,2]", "x=[3]"], [*EVAL, "y=[1,2]"],
          ["eval", "x = [1, 2]; x*y", "x=[1,2]", "y=1"], ["eval", "pi*x", "pi=[3]", "x=1"],
          ["eval", "x + y", "x=[1,2]"]],
    "number-files": [[*EVAL, f"x=@{path}"] for path in (
        "", " ", "x", "notes.txt", "X.NPZ", "missing.npy", "missing.csv", "missing.json", "folder.npy",
        "folder.csv", "good.csv:", "good.csv:c", "word.csv:*", "a\0b.npy", "a\0b.csv", "\x1b[31m.csv",
        "a/b.npy", *TEXTS, *ARRAYS,
    ) if path not in ("X.npy", "inputs.json", "parts.json")],
    "shapes": [
        ["eval", "x @ W", "x=@X.npy", "W=@good.csv:*"], ["grad", "x + W", "--inputs", "inputs.json"],
        ["jac", "x + W", "--inputs", "inputs.json"],
        ["vjp", "x + W", "--inputs", "inputs.json", "x=[1,2,3]"],
        ["jvp", "x*y", "x=[1,2]", "y=@X.npy", "--tangent", "x=1,y=1"],
        ["grad", "x*2", "x=[1,2]"], ["hess", "x*2", "x=[1,2]"], ["hess", "y = x*2", "x=@X.npy"],
        ["dot", "x @ x", "x=@X.npy", "-o", "never.dot"], ["eval", "x[3]", "x=[1,2]"],
        ["eval", "sum(x, axis=1)", "x=[1,2]"], [*PRODUCT, "x=1", "W=2"],
        ["jac", "2*x", "x=broadcast(1, [10000])"],
        ["hess", "sum(x)", "x=broadcast(1, [10000])"], ["jac", "2*x", "x=broadcast(1, [1000000])"],
        ["eval", "x", "--inputs", "X.npy"], ["eval", "x", "--inputs", "good.csv"],
        ["eval", "x", "--inputs", "parts.json"], ["eval", "X^T @ X", "X=@X.npy"],
        ["code", "x @ w", "--to", "numpy", "--shape", "x=3x2"], ["code", "x[0]", "--to", "c"],
    ],
    "directions": [
        ["jvp", *TWO], ["jvp", *TWO, "--tangent", "x=[1,2]"], ["jvp", *TWO, "--tangent", "w=1"],
        ["jvp", *TWO, "--tangent", "x=[1,2,3],w=1"], ["jvp", *TWO, "--tangent", "x=[[1,2]],w=1"],
        ["jvp", *TWO, "--tangent", "x=1,w=[1,2]"], ["jvp", *TWO, "--tangent", "x=[1,w=1"],
        ["jvp", *TWO, "--tangent", "x=[1,b],w=1"], ["jvp", *TWO, "--tangent", "[1,2]"],
        ["jvp", *TWO, "--tangent", "x=[1,2];w=1"], ["jvp", *TWO, "--tangent", "x=[1,2] w=1"],
        ["jvp", *TWO, "--tangent", "x=@missing.npy,w=1"], ["jvp", *TWO, "--tangent", "w=1,x=@word.csv:b"],
        ["jvp", *TWO, "--tangent", "x=1,w=1,y=[1]"], ["jvp", *TWO, "--tangent", "x=1,w=[[1],[2,3]]"],
        ["vjp", *TWO, "--cotangent", "[1,2,3]"], ["vjp", *TWO, "--cotangent", "[1,b]"],
        ["vjp", *TWO, "--cotangent", "y=[1,2]"], ["vjp", *TWO, "--cotangent", "1,2"],
        ["vjp", *TWO, "--cotangent", "@X.npy"], ["vjp", *TWO, "--cotangent", "@"],
        ["vjp", "y = x*w; z = sum(y)", *TWO[1:], "--of", "y,z", "--cotangent", "[1,2]"],
        ["vjp", "y = x*w; z = sum(y)", *TWO[1:], "--of", "y,z", "--cotangent", "y=[1,2]"],
        ["vjp", "y = x*w; z = sum(y)", *TWO[1:], "--of", "y,z", "--cotangent", "y=[1,2],z=[1]"],
        ["vjp", *TWO, "--cotangent", "1, 2.5"], ["jvp", *TWO, "--tangent", "x=1,0"],
        ["jvp", *TWO, "--tangent", "w=1,x=1,0,2"], ["jvp", *TWO, "--tangent", "x=X.npy,w=1"],
        ["jac", *TWO, "--of", "x"], ["jac", *TWO, "--wrt", "y"], ["jac", *TWO, "--csv", "-q"],
    ],
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files above, which the command runs in."""
    for name, content in TEXTS.items():
        (tmp_path / name).write_bytes(content)
    for name, array in ARRAYS.items():
        np.save(tmp_path / name, array, allow_pickle=True)
    whole = (tmp_path / "X.npy").read_bytes()
    (tmp_path / "broken.npy").write_bytes(whole[:-8])
    for name in ("folder.npy", "folder.csv"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("group", GROUPS)
def test_wrong_tensors(group: str, folder: Path) -> None:
    """Each has status 2, one error, the same as JSON, and writes nothing."""
    before = sorted(folder.rglob("*"))
    pieces = []
    for argv in GROUPS[group]:
        status, out, err = command(*argv)
        assert (status, out) == (2, ""), argv
        assert err.startswith("error: ") and err.count("error:") == 1, argv
        assert all(c.isprintable() or c == "\n" for c in err), argv
        assert max(map(display_width, err.splitlines())) <= 260, argv
        status, out, silent = command(argv[0], "--json", *argv[1:])
        assert (status, silent) == (2, ""), argv
        error = json.dumps(json.loads(out)["error"], ensure_ascii=False)
        pieces.append(f"{spelled(argv)}\n{err}{error}\n")
    assert sorted(folder.rglob("*")) == before
    golden.agree(f"requests/{group}.txt", "\n".join(pieces))


def test_a_file_that_may_not_be_read(folder: Path) -> None:
    """Where that is enforced: not for an administrator."""
    path = folder / "good.csv"
    path.chmod(0)
    try:
        path.read_bytes()
    except PermissionError:
        assert (
            "cannot read 'good.csv': Permission denied" in command("eval", "x", "x=@good.csv").err
        )
    finally:
        path.chmod(0o600)


def test_an_array_larger_than_its_file(folder: Path) -> None:
    """A header that promises terabytes is an error, and no memory is taken."""
    content = (folder / "X.npy").read_bytes()
    (folder / "vast.npy").write_bytes(
        content.replace(b"(2, 3)", b"(999999999999,)")[: len(content)]
    )
    status, _, err = command("eval", "x", "x=@vast.npy")
    assert status == 2
    assert "vast.npy" in err
