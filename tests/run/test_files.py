"""Files of numbers: what is read from ``.npy``, ``.csv`` and ``.json``.  For wrong ones see tests/cli."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from exprgrad import parse
from exprgrad.errors import Asker, InputError
from exprgrad.run.values.files import decode_text, json_in
from exprgrad.run.values.inputs import as_value
from shell import command

nan, inf = np.nan, np.inf


@pytest.fixture(autouse=True)
def shell(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks is the shell's user: strings name files, and errors quote them."""
    monkeypatch.setattr(Asker, "by_command", True)


def read(path: Path, content: bytes) -> Any:
    path.write_bytes(content)
    return as_value(f"@{path}", "x")


@pytest.mark.parametrize(
    ("content", "numbers"),
    [
        ("1,2\n3,4\n", [[1, 2], [3, 4]]), ("1,2\n\n3,4", [[1, 2], [3, 4]]),
        ("\ufeff1;2\r\n\r\n 3 ; 4\r\n\r\n", [[1, 2], [3, 4]]), ("1\t2\t-3e-2\n", [1, 2, -0.03]),
        ("length\n1\n2\n", [1, 2]), ("1\r2\r3\r", [1, 2, 3]), ("7", [7]), ('"1", "2"', [1, 2]),
        ("nan,inf\n-inf,NaN\n", [[nan, inf], [-inf, nan]]), ("größe\n1\n", [1]),
        ("# 1 2\n\n1\n2", [1, 2]),
        ("12345678901234567890,.1\n1e400,-0\n", [[12345678901234567890, 0.1], [inf, -0.0]]),
    ],
)  # fmt: skip
def test_csv(content: str, numbers: object, tmp_path: Path) -> None:
    found = read(tmp_path / "x.CSV", content.encode())
    np.testing.assert_array_equal(found, np.array(numbers, float), strict=True)


@pytest.mark.parametrize(
    ("content", "columns", "numbers"),
    [
        ("a,b\n1,2\n3,4", "b", [2, 4]), ("a,b\n1,2\n3,4", "*", [[1, 2], [3, 4]]),
        ("a,b,c\n1,2,3\n4,5,6", "c,a", [[3, 1], [6, 4]]), ("a,b\n1,2\n", "a", [1]),
        ("a,b\n1,2\n", "a,b", [[1, 2]]), ("a,b\n1,2\n", "*", [[1, 2]]), ("a\n1\n2\n", "a", [1, 2]),
        ('"x","y"\n"1", "2"', "y", [2]), ("größe;höhe, in cm\n1;2\n", "größe", [1]),
        ("day,b\nMonday,2\nTuesday,4", "b", [2, 4]), ("day,b\nMonday,2\nn/a,", "day , b", None),
        (",a,b\n0,1,2\n1,3,4", "b", [2, 4]), ("a,2020\n1,2\n", "2020", [2]),
        ("1,2\n3,4\n", "*", [[1, 2], [3, 4]]), ("at:noon,b\n1,2\n", "at:noon", [1]),
        ('who,b\n"Smith, J",2\n"a ""b"", c",4\n', "b", [2, 4]), ('"a;b";c\n1;2\n"3,0";"4"', "c", [2, 4]),
    ],
)  # fmt: skip
def test_columns_of_csv(content: str, columns: str, numbers: object, tmp_path: Path) -> None:
    """Only what is chosen has to be numbers."""
    path = tmp_path / "a.csv:b.CSV"
    path.write_bytes(content.encode())
    if numbers is None:
        with pytest.raises(InputError, match="'Monday' in line 2, column 1"):
            as_value(f"@{path}:{columns}", "x")
        return
    found = as_value(f"@{path}:{columns}", "x")
    np.testing.assert_array_equal(found, np.array(numbers, float), strict=True)


@pytest.mark.parametrize(
    ("content", "path", "message"),
    [
        ("a,b\n1,2", "d.csv", "'d.csv' has 2 columns: a, b"),
        ("a,b\n1,2", "d.csv:", 'for one of them write b=@d.csv:b, for all of them "b=@d.csv:*"'),
        ("a a,c\n1,2", "d.csv", 'for one of them write "b=@d.csv:a a", for all'),
        ("a,b\n1,2", "d.csv:A", "'d.csv' has no column 'A'\n  help: did you mean 'a'?"),
        ("a,b\n1,2", "d.csv:a,velocity", "its columns are a, b"),
        ("a,a\n1,2", "d.csv:a", "'d.csv' has several columns 'a'"),
        ("1,2\n", "d.csv:a", "it has no header: b=@d.csv reads all of it"),
        (",".join("abcdefghi") + "\n" + "1," * 8 + "1", "d.csv", "a, b, c, d, e, f, g, h, …"),
        ("a,b\n", "d.csv:a", "'d.csv' holds no numbers"),
    ],
)
def test_wrong_columns_of_csv(
    content: str, path: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("d.csv").write_bytes(content.encode())
    with pytest.raises(InputError) as caught:
        as_value(f"@{path}", "b")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("content", "cell", "help"),
    [
        ("5.1,3.5,n/a\n4.9,3.0,1\n", 8, "leave the row out"),
        ("150,4,setosa\n1,2,0\n", 6, "a header, and it holds no numbers"),
        ("year,2020\n1,2\n", 0, "a header, and it holds no numbers"),
    ],
)
def test_a_first_line_with_a_number_is_no_header(
    content: str, cell: int, help: str, tmp_path: Path
) -> None:
    """A line of data with a gap in it is not left out."""
    with pytest.raises(InputError, match="in line 1, column") as caught:
        read(tmp_path / "x.csv", content.encode())
    assert caught.value.span is not None
    assert caught.value.span[0] == cell
    assert help in (caught.value.help or "")


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (["1e-400", "-0.0001e-330", "0e5", "0.000", "-0"], "2 rows with a number too small"),
        (
            ["9007199254740993", "9007199254740994", "-9007199254740995.0"],
            "2 rows with a whole number",
        ),
        (["1e400", "inf", "nan", "1e308"], "1 row with a number too large"),
        (["5e-324", "9007199254740992", "0.1"], ""),
    ],
)
@pytest.mark.parametrize("where", ["x=@x.csv", "x=@x.csv:b", "x=@x.csv:*"])
def test_cells_that_are_read_as_other_numbers_are_said(
    cells: list[str], said: str, where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = cells if where == "x=@x.csv" else ["b,c", *[f'"{cell}",1' for cell in cells]]
    Path("x.csv").write_text("\n".join(rows) + "\n")
    notes = [
        line for line in command("eval", "-q", "sum(x)", where).err.splitlines() if "note: " in line
    ]
    assert len(notes) == bool(said)
    assert all(note.startswith(f"note: 'x.csv': {said}") for note in notes)


def test_csv_is_read_as_it_is_written(tmp_path: Path) -> None:
    """Every double, to the last bit."""
    wanted = np.random.default_rng(0).normal(size=(300, 7)) * 10.0 ** np.arange(-150, 200, 50)
    rows = "\n".join(",".join(map(repr, row)) for row in wanted.tolist())
    np.testing.assert_array_equal(read(tmp_path / "x.csv", rows.encode()), wanted)


@pytest.mark.parametrize(
    ("content", "numbers"),
    [
        ("[1, 2.5]", [1, 2.5]), ('[["pi/2", "-inf"], [1e3, "nan"]]', [[np.pi / 2, -inf], [1e3, nan]]),
        ("[[[1]]]", [[[1]]]), ("[NaN, Infinity]", [nan, inf]), ("\ufeff [1]\r\n", [1]),
        ("[123456789012345678901234567890]", [123456789012345678901234567890.0]),
    ],
)  # fmt: skip
def test_json(content: str, numbers: object, tmp_path: Path) -> None:
    found = read(tmp_path / "x.json", content.encode())
    np.testing.assert_array_equal(found, np.array(numbers, float), strict=True)


def test_a_file_of_one_number(tmp_path: Path) -> None:
    """A number is a float, as if it had been typed."""
    np.save(tmp_path / "x.npy", np.float32(2.5))
    for found in (
        read(tmp_path / "x.json", b"2.5"),
        read(tmp_path / "y.json", b'"5/2"'),
        as_value(f"@{tmp_path}/x.npy", "x"),
    ):
        assert type(found) is float
        assert found == 2.5


@pytest.mark.parametrize("dtype", ["f8", ">f8", "f4", "f2", "i8", "u1", "?"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_npy(dtype: str, order: Any, tmp_path: Path) -> None:
    wanted = np.asarray(np.random.default_rng(1).normal(size=(3, 2, 4)) * 3).astype(
        dtype, order=order
    )
    np.save(tmp_path / "x.npy", wanted)
    found = as_value(f"@{tmp_path}/x.npy", "x")
    np.testing.assert_array_equal(found, wanted.astype(float), strict=True)


def test_a_file_is_never_unpickled(tmp_path: Path) -> None:
    """A pickle in a ``.npy`` file could run anything."""
    victim = tmp_path / "victim"

    class Trap:
        def __reduce__(self) -> tuple[Any, ...]:
            return victim.touch, ()

    np.save(tmp_path / "x.npy", np.array([Trap()], dtype=object), allow_pickle=True)
    with pytest.raises(Exception, match="Python objects"):
        as_value(f"@{tmp_path}/x.npy", "x")
    assert not victim.exists()


def test_from_python_as_from_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "W.json").write_text(json.dumps([[1, 2], [3, 4]]), encoding="utf-8")
    run = parse("sum(x @ W)").gradient(x=[1, 1], W=f"@{tmp_path}/W.json")
    assert run.value == 10
    assert run.gradient["x"].tolist() == [3, 7]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_texts_say_how_they_are_encoded(encoding: str, tmp_path: Path) -> None:
    """By a mark at the beginning, as PowerShell writes; without one a text is UTF-8."""
    (tmp_path / "x.csv").write_text("größe,b\r\n1,2\r\n3,4\r\n", encoding=encoding, newline="")
    (tmp_path / "x.json").write_text('{"größe": [1, 3]}', encoding=encoding)
    (tmp_path / "f.txt").write_text("sum(größe^2)\r\n", encoding=encoding, newline="")
    f = parse(decode_text((tmp_path / "f.txt").read_bytes(), "f"))
    assert f(größe=f"@{tmp_path / 'x.csv'}:größe") == 10
    assert f(json_in(str(tmp_path / "x.json"))) == 10
