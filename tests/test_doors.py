"""Hostile strings, links and names: no door opens a file, or writes one, that nobody asked for.

For damaged records and parts see ``tests/data/test_damaged_runs.py``, for headers ``test_wide_files.py``.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import exprgrad
from exprgrad import InputError, parse
from shell import command

SECRET = "hidden-123"
FILES = {
    "u.csv": f"a,token\n1,{SECRET}\n2,3\n",
    "one.csv": f"token\n{SECRET}\n",
    "u.json": f'["{SECRET}"]',
    "bad.json": f'{{"{SECRET}',
    "twice.json": '["@u.csv:token"]',
    "matrix.csv": f"x\n{SECRET}\n",
    "matrix.json": f'{{"x": {{"x": "{SECRET}"}}}}',
    "fit.json": f'{{"command": "fit", "parameters": {{"x": {{"error": "{SECRET}"}}}}}}',
    "rows.csv": f"x\n1\n{SECRET},2\n",
    "numbers.csv": "1,2\n3,4\n",
    "rows.jsonl": f'{{"x": 1}}\n{{"x": "{SECRET}\n',
}
F = parse("2*x")
V = parse("sum(x)")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with files of secrets."""
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text, encoding="utf-8")
    np.save("u.npy", np.array([1.0, 2.0]))
    (tmp_path / "latin.csv").write_bytes(f"a\n{SECRET}\xe9\n".encode("latin-1"))
    return tmp_path


# Strings.

STRINGS = [
    "@u.csv:token", " @u.csv:a", "@u.csv:*", "@u.json", "@u.npy", "@/etc/passwd", "@", "@@u.csv",
    "@u.csv:a±0.1", "1±@u.csv:a", "[@u.npy, 1]", "u.csv", "u.npy", "u.json", "@numbers.csv",
]  # fmt: skip


def frame() -> Any:
    """A frame of one row."""
    pyarrow = pytest.importorskip("pyarrow", reason="pip install 'exprgrad[data]'")
    return pyarrow.table({"x": [1.0]})


DOORS: dict[str, Callable[[Any], Any]] = {
    "evaluate": lambda text: exprgrad.evaluate("2*x", {"x": text}),
    "grad": lambda text: exprgrad.grad("2*x", x=text),
    "hessian": lambda text: exprgrad.hessian("x^2", x=text),
    "jacobian": lambda text: exprgrad.jacobian("x^2", x=text),
    "check": lambda text: exprgrad.check("2*x", x=text),
    "minimize": lambda text: exprgrad.minimize("x^2", x=text),
    "solve": lambda text: exprgrad.solve("x^2=2", x=text),
    "uncertain": exprgrad.uncertain,
    "uncertainty": lambda text: exprgrad.uncertain(1.0, text),
    "list": lambda text: V.evaluate(x=[1, text]),
    "call": lambda text: F(x=text),
    "f.evaluate": lambda text: F.evaluate(x=text),
    "f.gradient": lambda text: F.gradient(x=text),
    "f.hessian": lambda text: F.hessian(x=text),
    "f.jacobian": lambda text: F.jacobian(x=text),
    "f.jvp": lambda text: F.jvp(x=1, tangent={"x": text}),
    "f.vjp": lambda text: F.vjp(x=1, cotangent=text),
    "f.check": lambda text: F.check(x=text),
    "f.table": lambda text: parse("x*y").table(x="0:1:3", y=text),
    "f.plot": lambda text: parse("x*y").plot(x=(0, 1), y=text),
    "f.descend": lambda text: F.descend(x=text),
    "f.minimize": lambda text: parse("x^2").minimize(x=text),
    "f.solve": lambda text: parse("x^2-2").solve(x=text),
    "correlation": lambda text: parse("x*y").evaluate(x="1±0.1", y="1±0.1").propagate(
        correlation={("x", "y"): text}
    ),
    "covariance": lambda text: F.evaluate(x="1±0.1").propagate(covariance=text),
    "Value": lambda text: F(x=exprgrad.Value(text)),
    "fit": lambda text: exprgrad.fit("y ~ a*x", {"x": [1.0, 2], "y": [2.0, 4]}, a=text),
    "batch": lambda text: parse("a*x").batch(frame(), a=text),
}  # fmt: skip


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("text", STRINGS)
def test_a_string_opens_no_file(door: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []

    def watch(event: str, args: tuple[Any, ...]) -> None:
        if event == "open" and Path(str(args[0])).name in {*FILES, "u.npy", "passwd"}:
            opened.append(str(args[0]))

    with audited(watch), pytest.raises((exprgrad.ExprgradError, TypeError)) as caught:
        DOORS[door](text)
    assert not opened
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("door", sorted(DOORS.keys() - {"covariance"}))
def test_a_string_is_a_constant(door: str) -> None:
    DOORS[door]("1/2")


WATCHED: list[Callable[[str, tuple[Any, ...]], None]] = []


class audited:  # noqa: N801
    """Tells a function of what Python audits; hooks can't be taken away, so there is one."""

    def __init__(self, watch: Callable[[str, tuple[Any, ...]], None]) -> None:
        self.watch = watch

    def __enter__(self) -> None:
        if not HOOKED:
            sys.addaudithook(lambda event, args: [watch(event, args) for watch in WATCHED] and None)
            HOOKED.append(True)
        WATCHED.append(self.watch)

    def __exit__(self, *_: object) -> None:
        WATCHED.remove(self.watch)


HOOKED: list[bool] = []


def test_the_help_names_the_way() -> None:
    with pytest.raises(InputError) as caught:
        exprgrad.evaluate("2*x", {"x": "@u.csv:token"})
    assert "exprgrad.file('u.csv:token')" in str(caught.value)
    with pytest.raises(InputError, match=r"exprgrad\.file\('u\.npy'\)"):
        F(x="u.npy")


def test_files_that_are_meant() -> None:
    file = exprgrad.file
    assert V.evaluate(x=file("u.csv:a")).value == 3.0
    assert V.evaluate(x=file("u.npy")).value == 3.0
    assert V.evaluate(x=Path("u.npy")).value == 3.0
    assert V.evaluate(x=file(Path("numbers.csv"))).value == 10.0
    assert exprgrad.evaluate("sum(x)", {"x": file("u.csv:a")}).value == 3.0
    assert V.jvp(x=[1, 2], tangent={"x": file("u.npy")}) == 3.0
    u = exprgrad.uncertain(file("u.csv:a"), file("u.npy"))
    assert V.gradient(x=u).propagate().value == pytest.approx(5**0.5)
    Path("c.csv").write_text("x,y\n1,0\n0,1\n")
    run = parse("x+y").evaluate(x=1, y=1)
    assert run.propagate(covariance=file("c.csv")).value == pytest.approx(2**0.5)


MEANT = [
    "u.csv:token",
    "one.csv",
    "u.json",
    "bad.json",
    "twice.json",
    "latin.csv",
    "no.csv",
    "u.txt",
    ".",
]


@pytest.mark.parametrize("path", MEANT)
def test_errors_name_the_place_and_not_the_cell(path: str) -> None:
    with pytest.raises(exprgrad.ExprgradError) as caught:
        V.evaluate(x=exprgrad.file(path))
    assert SECRET not in str(caught.value) + repr(caught.value.as_json())
    assert path.partition(":")[0] in str(caught.value)


@pytest.mark.parametrize("path", ["matrix.csv", "matrix.json", "fit.json"])
def test_errors_of_matrices(path: str) -> None:
    with pytest.raises(exprgrad.ExprgradError) as caught:
        F.evaluate(x="1±0.1").propagate(covariance=exprgrad.file(path))
    assert SECRET not in str(caught.value)
    assert path in str(caught.value)
    found = command("eval", "2*x", "x=1±0.1", "--covariance", path)
    assert found.status == 2 and path in found.err


@pytest.mark.parametrize(
    "text",
    ['{"x": {"x": "@u.csv:a"}}', '{"command": "fit"}', '{"command": "fit", "parameters": 5}'],
)
def test_matrices_that_are_none(text: str) -> None:
    Path("m.json").write_text(text)
    found = command("eval", "2*x", "x=1±0.1", "--covariance", "m.json")
    assert found.status == 2 and "'m.json'" in found.err


@pytest.mark.parametrize("path", ["rows.csv", "numbers.csv", "rows.jsonl"])
def test_errors_of_rows(path: str) -> None:
    pytest.importorskip("pyarrow", reason="pip install 'exprgrad[data]'")
    with pytest.raises(exprgrad.ExprgradError) as caught:
        F.batch(path, reduce="sum")
    assert SECRET not in str(caught.value)
    assert path in str(caught.value)


def test_the_shells_user_sees_the_cell() -> None:
    found = command("eval", "2*x", "x=@u.csv:token")
    assert found.status == 2 and f"'{SECRET}' in line 2, column 2 of 'u.csv'" in found.err
    Path("in.json").write_text('{"x": "@u.csv:a"}')
    assert command("eval", "sum(x)", "-q", "--inputs", "in.json").out == "3.0\n"


# Links, and what else may stand where a file will grow.


def batch(*argv: str) -> Any:
    return command("batch", "2*x", "--data", "data.csv", "--threads", "1", *argv)


@pytest.fixture
def victim(folder: Path) -> Path:
    """A file that nobody asks to write."""
    pytest.importorskip("pyarrow", reason="pip install 'exprgrad[data]'")
    Path("data.csv").write_text("x\n1\n2\n")
    Path("other").mkdir()
    Path("other/precious").write_text("precious")
    return folder / "other/precious"


def link(victim: Path, place: str) -> None:
    Path(place).symlink_to(victim)


def dangling(victim: Path, place: str) -> None:
    Path(place).symlink_to(victim.parent / "new")


def second_name(victim: Path, place: str) -> None:
    Path(place).hardlink_to(victim)


def pipe(victim: Path, place: str) -> None:
    os.mkfifo(place)


def folder_there(victim: Path, place: str) -> None:
    Path(place).mkdir()


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
@pytest.mark.parametrize("make", [link, dangling, second_name, pipe, folder_there])
@pytest.mark.parametrize(
    ("out", "place", "options"),
    [
        ("z.csv", ".z.csv.part", []),
        ("z.parquet", ".z.parquet.part", ["--resume"]),
        ("z.json", ".z.json.part", ["--reduce", "sum"]),
        ("z.csv", ".z.csv.resume", ["--resume"]),
    ],
)
def test_what_is_in_the_way(
    make: Callable[[Path, str], None], out: str, place: str, options: list[str], victim: Path
) -> None:
    make(victim, place)
    status, said, err = batch("-o", out, *options)
    assert (status, said) == (2, "")
    assert f"'{place}' is in the way" in err and "remove it" in err
    assert victim.read_text() == "precious"
    assert [one.name for one in victim.parent.iterdir()] == ["precious"]
    assert not Path(out).exists()
    (shutil.rmtree if make is folder_there else os.unlink)(place)
    assert batch("-o", out, *options).status == 0


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
@pytest.mark.parametrize("place", [".z.csv.resume", ".z.csv.resume.part"])
@pytest.mark.parametrize("make", [link, dangling, second_name])
def test_a_record_is_not_written_through_a_link(
    make: Callable[[Path, str], None], place: str, victim: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from exprgrad.data.targets import Manifest

    noted: list[int] = []
    note = Manifest.note

    def watched(kept: Manifest, reached: Any) -> None:
        Path(place).unlink(missing_ok=True)
        make(victim, place)
        note(kept, reached)
        noted.append(reached.done)

    monkeypatch.setattr(Manifest, "note", watched)
    Path("data").mkdir()
    for at in range(3):
        Path(f"data/{at}.csv").write_text("x\n1\n2\n")
    assert batch("-o", "z.csv", "--data", "data").status == 0
    assert noted
    assert victim.read_text() == "precious"
    assert [one.name for one in victim.parent.iterdir()] == ["precious"]


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_folder_of_parts_is_no_link(victim: Path) -> None:
    Path("out").mkdir()
    Path("out/.parts").symlink_to(victim.parent)
    status, _, err = batch("-o", "out/")
    assert status == 2 and "'out/.parts' is in the way" in err
    assert [one.name for one in victim.parent.iterdir()] == ["precious"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root")
def test_another_users_file_is_in_the_way(victim: Path) -> None:
    Path(".z.csv.part").write_text("theirs")
    os.chown(".z.csv.part", 12345, 12345)
    status, _, err = batch("-o", "z.csv")
    assert status == 2 and "'.z.csv.part' is in the way" in err
    assert Path(".z.csv.part").read_text() == "theirs"
