"""Every way to get a request wrong: values, options, files.  Formulas are in tests/language.

Each golden file holds the command line, what people read on stderr, and the same error as JSON.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import golden
from exprgrad.source import display_width
from shell import command, spelled

FILES: dict[str, bytes] = {
    "formula.txt": b"(a+b)*c\n",
    "wrong.txt": b"# a comment\n(a + b\n",
    "latin1.txt": b"x = 1\r\na = \xe9 + 1\r\n",
    "utf16.txt": "a+b".encode("utf-16"),
    "nul.txt": b"a\0b",
    "empty.txt": b"",
    "values.json": b'{"a": 2, "b": "pi/2", "c": 10}',
    "broken.json": b'{"a": 2,',
    "list.json": b"[1, 2]",
    "nested.json": b'{"a": [1, [2]]}',
    "null.json": b'{"a": null}',
    "true.json": b'{"a": true}',
    "text.json": b'{"a": "two"}',
    "surplus.json": b'{"a": 2, "b": -3, "c": 10, "d": 1}',
    "deep.json": b"[" * 100_000,
    "latin1.json": b'{"\xe9": 1}',
    "twice.json": b'{"a": 1, "a": 2}',
    "huge.json": b'{"a": 1' + b"0" * 400 + b"}",
}
GOOD = ["a=2", "b=-3", "c=10"]

GROUPS: dict[str, list[list[str]]] = {
    "ranges": [
        ["eval", "x", "x=0:10"], ["eval", "x", "x=0:10:"], ["grad", "x", "x=0:10:0.5"],
        ["eval", "x", "x=:"],
        ["hess", "x", "x=0:1:lin:3"], ["grad", "x", "x=-1:1:log:3"], ["grad", "x", "x=0:1:log:3"],
        ["eval", "x", "x=0:inf:3"], ["eval", "x", "x=0:y:3"], ["eval", "x*y", "x=0:1:3"],
        ["eval", "x", "y=0:1:3"], ["eval", "x", "x=0..1"], ["eval", "x", "x=0:1:3,y=2"],
        ["grad", "x*[1,2]", "x=0:1:3"], ["hess", "sum(w*x)", "x=0:1:3", "w=[1,2]"],
        ["grad", "x", "x=0:1:3", "--trace"],
        ["grad", "x", "x=0:1:3", "--trust"], ["grad", "x", "x=0:1:3", "--heatmap"],
        ["grad", "x", "x=0:1:3", "--order", "0"], ["grad", "x", "x=0:1:3", "--accumulate", "set"],
        ["grad", "x", "x=0:1:3", "--wrt", "y"], ["jac", "x", "x=0:1:3"], ["dot", "x", "x=0:1:3"],
        ["descend", "x", "x=0:1:3"], ["check", "x", "x=0:1:3"], ["paths", "x", "x=0:1:3"],
        ["explore", "x", "x=0:1:3"], ["jvp", "x", "x=0:1:3", "--tangent", "x=1"],
        ["grad", "x", "x=[0:1:3]"], ["grad", "x*y", "x=0:1:3", "y=2±0.1"],
    ],
    "commands": [
        ["gard", "a*b", "a=1"], ["evla", "a"], ["Grad", "a"], ["backward", "a"], ["(a+b)*c", "a=2"],
        ["a*b"], ["derive", "x^2"], ["--colour"], ["-q", "a"], ["", "a"],
        ["\x1b[31m"], ["--version=3"], ["grad\0"],
        ["gradient", "x^2", "x=3"], ["Hessian", "x^2"], ["minimize", "x^2"], ["trace", "x^2"],
        ["help", "hessian"], ["version"], ["plot", "x*y"], ["solve", "x^2"],
        ["--vresion"], ["--json=1"], ["x", "x=3"], ["derivative", "of", "x^2"], ["d/dx x^2"],
        ["diff(x^2, x)"], ["derivative of x^2"],
    ],
    "values": [
        ["grad", "(a+b)*c"], ["grad", "(a+b)*c", "a=2"],
        ["grad", "(a+b)*c", "a=2", "b=-3", "c=10", "d=1"],
        ["grad", "alpha*beta", "alpha=1", "bta=2"], ["grad", "a*b", "A=1", "b=2"],
        ["eval", "2+2", "a=1"], ["eval", "a = 1; a*x", "a=2", "x=1"],
        ["eval", "pi*r^2", "r=1", "pi=3"], ["eval", "r^2", "r=1", "pi=3"],
        ["eval", "a", "a=1", "a=2"], ["eval", "a", "a"], ["eval", "a", "a="], ["eval", "a", "=1"],
        ["eval", "a", "a", "=", "1"], ["eval", "a", "2=1"], ["eval", "a", "a b=1"],
        ["eval", "a", "+", "b"], ["eval", "a", "a==1"], ["eval", "a", "a:1"],
        ["eval", "a", "a=two"], ["eval", "a", "a=b"], ["eval", "a", "a=1,5"],
        ["eval", "a", "a=1.2.3"], ["eval", "a", "a=2x"], ["eval", "a", "a=(1"],
        ["eval", "a", "a=1;2"], ["eval", "a", "a=0x10"], ["eval", "a", "a=1_000"],
        ["eval", "a", "a=--"], ["eval", "a", "a=[1,b]"], ["eval", "a", "a=@data.npy"],
        ["eval", "a", "a=tahn(1)"], ["eval", "a", "a=True"], ["eval", "a", "a=infinity"],
        ["eval", "a", "a=\x1b[31m"], ["eval", "a", "\x1b[31m=1"], ["eval", "a", "a=\udcff"],
        ["eval", "a", "\udcff=1"], ["eval", "a", "a=1\0"], ["eval", "長い", "長=1"],
        ["eval", "é", "e\u0300=1"], ["eval", "a", "a=" + "(" * 50_000],
        ["eval", "a", "b" * 100_000 + "=1"], ["eval", "x1+x2+x3+x4+x5+x6+x7+x8+x9+x10"],
        ["eval", "a+b", "--", "a=1", "--json=2"], ["eval", "lambda*2", "lamda=3"],
        ["eval", "x*y", "x=1", "yy=2"], ["dot", "a*b", "a=1"], ["eval", "a*b", "a=1,b=2"],
        ["eval", "a*b", "a=1, b = 2"],
    ],
    "diff": [
        ["diff"], ["diff", "x^"], ["diff", "x^2", "--wrt", "y"], ["diff", "x^2", "--wrt", ""],
        ["diff", "alpha^2", "--wrt", "alhpa"], ["diff", "t = 2*x; t^2", "--wrt", "t"],
        ["diff", "pi*x", "--wrt", "pi"], ["diff", "x^2", "--order", "0"],
        ["diff", "x^2", "--order", "-1"], ["diff", "x^2", "--order", "1.5"],
        ["diff", "x^2", "--order", "101"], ["diff", "x^2", "--order"], ["diff", "x^2", "x=2"],
        ["diff", "x^2", "2"], ["diff", "x^2", "--to", "tex"],
        ["diff", "x^2", "--ordr", "2"], ["diff", "x^2", "--value-only"],
        ["diff", "a*b*c*d*e*f", "--order", "30"], ["diff", "2+2", "--wrt", "x"],
        ["diff", "-f", "nothing.txt"],
        ["diff", "x^2*y", "--wrt", "x", "--wrt", "y"], ["diff", "x^2", "--order", "1", "--order=2"],
        ["diff", "x^2", "--steps", "--order", "2"], ["diff", "x^2", "--steps", "-q"],
        ["diff", "x^2", "--csv", "-q"], ["diff", "x^2", "x"], ["diff", "x^2", "--latex"],
        ["diff", "x^2", "--var", "x"], ["diff", "x^2", "--format", "tex"], ["diff", "x^2", "--to=js"],
        ["code", "x^2", "--to", "js"], ["code", "x^2", "--lang", "py"], ["code", "x^2", "--c"],
    ],
    "tensor-formulas": [
        ["diff", "X@w"], ["diff", "sum(X@w)", "--shape", "X=150x4"],
        ["diff", "X@w", "--shape", "X=150x4,w=4"], ["diff", "sum(X@w)", "--shape", "X=150x4,w=3"],
        ["diff", "sum(x)^2*c", "--shape", "x=3", "--order", "2"],
        ["diff", "sum(x)", "--shape", "x=3", "--steps"], ["diff", "sum(x)", "--shape"],
        ["diff", "sum(x)", "--shape", ""], ["diff", "sum(x)", "--shape", "x"],
        ["diff", "sum(x)", "--shape", "x="], ["diff", "sum(x)", "--shape", "x=3x"],
        ["diff", "sum(x)", "--shape", "x=0"], ["diff", "sum(x)", "--shape", "x=-1"],
        ["diff", "sum(x)", "--shape", "x=3,y=2"], ["diff", "sum(x)", "--shape", "x=3,x=4"],
        ["diff", "sum(x)", "--shape", "x=3 w=4"], ["diff", "sum(x)", "--shape", "x=(3,4"],
        ["diff", "sum(x)", "--shape", "=3"], ["diff", "sum(x)", "x=[1,2]"],
        ["diff", "sum(x)", "--shape", "x=" + "9" * 30], ["code", "sum(x)", "--to", "c", "--shape", "x"],
        ["diff", "mean(x)", "--shape", "x=" + "x".join(["9" * 15] * 30)],
        ["diff", "sum(alpha)", "--shape", "alhpa=3"],
        ["diff", "sum(x)", "--shape", "x=3", "--shape", "x=4"],
    ],
    "options": [
        ["grad", "a", "a=1", "--jsn"], ["grad", "a", "a=1", "--wtr", "a"],
        ["grad", "a", "a=1", "-z"], ["grad", "a", "a=1", "--digts=3"], ["grad", "a", "a=1", "-3"],
        ["grad", "a", "a=1", "-x=3"], ["grad", "--jsn", "a", "a=1"], ["grad", "--trace"], ["grad"],
        ["grad", "a", "a=1", "--digits"], ["grad", "a", "a=1", "--digits", "0"],
        ["grad", "a", "a=1", "--digits", "18"], ["grad", "a", "a=1", "--digits", "x"],
        ["grad", "a", "a=1", "--digits="], ["grad", "a", "a=1", "--color", "red"],
        ["grad", "a", "a=1", "--color=sometimes"], ["grad", "a", "a=1", "--json=yes"],
        ["eval", "a", "a=1", "--csv", "-q"], ["eval", "a", "a=1", "--trace"],
        ["eval", "a", "a=1", "--wrt", "a"], ["eval", "-qa", "a=1"], ["eval", "a", "-qa"],
        ["grad", "a*b", "a=1", "b=1", "--wrt", "c"], ["grad", "alpha", "alpha=1", "--wrt", "alhpa"],
        ["grad", "a", "a=1", "--wrt", ""], ["grad", "a", "a=1", "--wrt", "a,"],
        ["grad", "a", "a=1", "--wrt", "a,b"], ["grad", "t=a*2; t+1", "a=1", "--wrt", "t"],
        ["grad", "a", "a=1", "--wrt"], ["grad", "a", "a=1", "--wrt", "-a"],
        ["grad", "a*pi", "a=1", "--wrt", "pi"], ["grad", "2+2", "--wrt", "x"], ["ops", "tahn"],
        ["ops", "absloute"], ["ops", "square"], ["ops", "nothing"], ["ops", "sin", "cos"],
        ["ops", "--jsn"], ["ops", ""], ["ops", "\x1b[31m"], ["grad", "a", "a=1", "--\x1b[31m"],
        ["descend", "a^2", "a=1", "--lr", "0.1"], ["descend", "a^2", "a=1", "--learning_rate=0.1"],
        ["grad", "a", "a=1", "--format", "json"], ["grad", "a", "--at", "a=1"], ["grad", "a", "--a", "1"],
        ["grad", "a", "-a", "1"], ["grad", "--lr", "a"], ["eval", "a", "a=1", "--precision", "9"],
        ["grad", "a", "a=1", "--color", "no"], ["grad", "a", "a=1", "--accumulate", "="],
        ["grad", "a", "a=1", "-json"], ["grad", "a", "a=1", "--no-color"],
    ],
    "files": [
        ["eval", "-f", "missing.txt"], ["eval", "-f", "."], ["eval", "-f", "a\0b"], ["eval", "-f"],
        ["eval", "-f", ""], ["eval", "-f", "wrong.txt"], ["eval", "-f", "latin1.txt"],
        ["eval", "-f", "utf16.txt"], ["eval", "-f", "nul.txt"], ["eval", "-f", "empty.txt"],
        ["eval", "-f", "formula.txt"], ["eval", "-f", "formula.txt", "(a+b)*c", "a=1"],
        ["eval", "-f", "\x1b[31m"], ["eval", "-f", "x" * 5_000],
        ["eval", "a", "--inputs", "missing.json"], ["eval", "a", "--inputs", "broken.json"],
        ["eval", "a", "--inputs", "list.json"], ["eval", "a", "--inputs", "nested.json"],
        ["eval", "a", "--inputs", "null.json"], ["eval", "a", "--inputs", "true.json"],
        ["eval", "a", "--inputs", "text.json"], ["eval", "(a+b)*c", "--inputs", "surplus.json"],
        ["eval", "a", "--inputs", "deep.json"], ["eval", "a", "--inputs", "latin1.json"],
        ["eval", "a", "--inputs", "empty.txt"], ["eval", "a", "--inputs", "formula.txt"],
        ["eval", "a", "--inputs", "twice.json"], ["eval", "a", "--inputs", "huge.json"],
        ["eval", "z", "--inputs", "values.json"], ["dot", "a*b", "-o", "picture"],
        ["dot", "a*b", "-o", "picture.gif"], ["dot", "a*b", "-o", "picture.svg.txt"],
        ["dot", "a*b", "-o", "missing/picture.dot"], ["dot", "a*b", "-o", ".dot"],
        ["dot", "a*b", "-o", ""], ["dot", "a*b", "-o"], ["dot", "a*b", "-o", "a\0.dot"],
        ["dot", "a*b", "-o", "folder.dot"], ["dot", "a*", "-o", "never.dot"],
        ["grad", "a", "a=1", "-o", "a.svg"], ["grad", "a", "a=1", "-o", "answer"],
        ["grad", "a", "a=1", "-o", ".json"], ["grad", "a", "a=1", "-o", "missing/a.csv"],
        ["grad", "a", "a=1", "-o"], ["grad", "a", "a=1", "-o", ""], ["grad", "a", "a=1", "-o", "-"],
        ["eval", "a", "a=1", "--csv", "-o", "a.json"], ["eval", "a", "a=1", "-q", "-o", "a.csv"],
        ["jac", "a", "a=1", "--csv", "-o", "a.txt"], ["diff", "a^2", "-o", "a.csv", "--steps"],
        ["grad", "a", "a=1", "--heatmap", "-o", "a.csv"],
        ["grad", "a", "a=1", "-o", "a.txt", "-o", "b.txt"],
        ["code", "a"], ["code", "a", "-o", "a.py"], ["code", "a", "-o", "a.rs"],
        ["code", "a", "--to", "c", "-o", "a.py"], ["code", "a", "--to", "numpy", "-o", "a.js"],
        ["code", "a", "--to", "c", "-o", "a.json"],
        ["dot", "a*b", "a=1", "-o", "never.dot"], ["dot", "+".join(["a"] * 600)],
    ],
    "plots": [
        ["plot", "x^2", "x=1"], ["plot", "3"], ["plot", "x^2", "x=5:-5"], ["plot", "x^2", "x=0:0"],
        ["plot", "x^2", "x=1:2:3"], ["plot", "x^2", "x=-1..1"], ["plot", "x^2", "x=-inf:inf"],
        ["plot", "x*y*z", "x=0:1", "y=0:1", "z=0:1"], ["plot", "x*y", "x=0:1"],
        ["plot", "x + w", "x=0:1", "w=[1,2]"], ["plot", "x^2", "x=0:1", "--y", "3:1"],
        ["plot", "x^2", "x=0:1", "--order", "3"], ["plot", "x*y", "x=0:1", "y=0:1", "--order", "2"],
        ["plot", "abs(x)", "x=-1:1", "--tangent-at", "0"], ["plot", "x^2", "x=0:1", "--rate", "0.1"],
        ["plot", "x*y", "x=0:1", "y=0:1", "--max-steps", "5"],
        ["plot", "x^2", "x=0:1", "--descend-from", "x=1"],
        ["plot", "x^2", "x=0:1", "-o", "curve.bmp"], ["plot", "x^2", "x=0:1", "--look", "dark"],
        ["eval", "x^2", "x=1:2:5:log"], ["eval", "x^2", "x=1:2:lin:5"], ["eval", "x^2", "x=1:2"],
        ["grad", "x*y", "x=1", "y=3", "--correlation", "x,y=0.3"],
    ],
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files above, which the command runs in."""
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "folder.dot").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("group", GROUPS)
def test_wrong_requests(group: str, folder: Path) -> None:
    """Each has status 2, one error, the same as JSON, and writes nothing."""
    before = sorted(folder.rglob("*"))
    pieces = []
    for argv in GROUPS[group]:
        status, out, err = command(*argv)
        assert (status, out) == (2, ""), argv
        assert err.startswith("error: ") and err.count("error:") == 1, argv
        assert "Traceback" not in err
        assert all(c.isprintable() or c == "\n" or display_width(c) == 0 for c in err), argv
        assert max(map(display_width, err.splitlines())) <= 260, argv
        pieces.append(f"{spelled(argv)}\n{err}{as_json(argv)}")
    assert sorted(folder.rglob("*")) == before
    golden.agree(f"requests/{group}.txt", "\n".join(pieces))


def as_json(argv: list[str]) -> str:
    """The error of a command line under --json, which goes right behind the command's name."""
    status, out, err = command(argv[0], "--json", *argv[1:])
    assert (status, err) == (2, ""), argv
    (document,) = out.splitlines()
    return json.dumps(json.loads(document)["error"], ensure_ascii=False) + "\n"
