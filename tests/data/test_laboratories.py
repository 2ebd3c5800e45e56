"""Tables as laboratories write them: read at the first try, or at the second by copying the help."""

from __future__ import annotations

import gzip
import io
import re
import shlex
import zipfile
from pathlib import Path
from typing import Any

import pytest

import exprgrad
from shell import command

pytest.importorskip("pyarrow")
T = [0.5, 1.25, 2.0, 1234.5]
V = [3.75, 2.5, -1.25, 0.125]
SUM = sum(t * v for t, v in zip(T, V, strict=True))
"""Exact in doubles."""


def table(separator: str = ",", decimal: str = ".", header: str = "t,V", end: str = "\n") -> str:
    """The rows as a text; the header's cells are given between commas."""
    cells = [[str(x).replace(".", decimal) for x in row] for row in zip(T, V, strict=True)]
    lines = [header.split(","), *cells]
    return "".join(separator.join(line) + end for line in lines)


def zipped(text: str, name: str = "run 7.csv") -> bytes:
    """A text in an archive."""
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w") as archive:
        archive.writestr(name, text)
    return memory.getvalue()


def workbook(*sheets: tuple[str, list[list[Any]]]) -> bytes:
    """A workbook with inline texts, as ECMA-376 has it."""
    kinds = "http://schemas.openxmlformats.org"
    main = f'xmlns="{kinds}/spreadsheetml/2006/main" xmlns:r="{kinds}/officeDocument/2006/relationships"'
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w") as archive:
        parts = "".join(
            f'<Override PartName="/xl/worksheets/sheet{at}.xml" ContentType="application/vnd.'
            'openxmlformats-officedocument.spreadsheetml.worksheet+xml"/>'
            for at in range(1, len(sheets) + 1)
        )
        archive.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{kinds}/package/2006/content-types"><Default Extension="rels" ContentType='
            '"application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" '
            'ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="application/'
            f'vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>{parts}</Types>',
        )
        relation = f'<Relationships xmlns="{kinds}/package/2006/relationships">'
        office = f"{kinds}/officeDocument/2006/relationships"
        archive.writestr(
            "_rels/.rels",
            f'{relation}<Relationship Id="r1" Type="{office}/officeDocument" Target="xl/workbook.xml"/>'
            "</Relationships>",
        )
        listed, targets = "", ""
        for at, (name, rows) in enumerate(sheets, 1):
            listed += f'<sheet name="{name}" sheetId="{at}" r:id="r{at}"/>'
            place = f'Type="{office}/worksheet" Target="worksheets/sheet{at}.xml"'
            targets += f'<Relationship Id="r{at}" {place}/>'
            lines = ""
            for number, row in enumerate(rows, 1):
                cells = ""
                for letter, cell in zip("ABCDEFG", row, strict=False):
                    text = f'<c r="{letter}{number}" t="inlineStr"><is><t>{cell}</t></is></c>'
                    cells += (
                        text
                        if isinstance(cell, str)
                        else f'<c r="{letter}{number}"><v>{cell}</v></c>'
                    )
                lines += f'<row r="{number}">{cells}</row>'
            archive.writestr(
                f"xl/worksheets/sheet{at}.xml",
                f"<worksheet {main}><sheetData>{lines}</sheetData></worksheet>",
            )
        archive.writestr(
            "xl/workbook.xml", f"<workbook {main}><sheets>{listed}</sheets></workbook>"
        )
        archive.writestr("xl/_rels/workbook.xml.rels", f"{relation}{targets}</Relationships>")
    return memory.getvalue()


ROWS: list[list[Any]] = [["t", "V"], *map(list, zip(T, V, strict=True))]
GROUPED = 't,V\n0.5,3.75\n1.25,2.5\n2,-1.25\n"1,234.5",0.125\n'
FILES: dict[str, bytes] = {
    "semicolons.csv": table(";").encode(),
    "german.csv": table(";", ",").encode(),
    "tabs with commas.tsv": table("\t", ",").encode(),
    "tabs.csv": table("\t").encode(),
    "comments.csv": ("# run 7\n# sensor: A, B, C\n" + table()).encode(),
    "comments between.csv": table().replace("2.0,", "# paused, and on\n# 9,9\n2.0,").encode(),
    "savetxt.csv": ("# " + table()).encode(),
    "matlab.csv": ("% run 7\n" + table()).encode(),
    "matlab, blanks.csv": ("% Model: a.mph\n% t   V\n" + table(" ").partition("\n")[2]).encode(),
    "minus.csv": table().replace("-", "\u2212").encode(),
    "minus, german.csv": table(";", ",").replace("-", "\u2212").encode(),
    "units row.csv": table().replace("t,V\n", "t,V\ns,mV\n").encode(),
    "units in headers.csv": table(header="Time (s),V [mV]").encode(),
    "units in headers, german.csv": table(";", ",", "t / s,V in mV").encode(),
    "mark.csv": b"\xef\xbb\xbf" + table().encode(),
    "windows.csv": table(end="\r\n").encode(),
    "unicode text.csv": table("\t", ",", end="\r\n").encode("utf-16"),
    "trailing.csv": table(";", end=";\n").encode(),
    "trailing below.csv": ("t;V\n" + table(";", ",", end=";\n").partition("\n")[2]).encode(),
    "excel.csv": ("sep=;\r\n" + table(";", ",", end="\r\n")).encode("utf-8-sig"),
    "blanks.csv": table(" ; ").replace("2.0", "\n \n2.0").encode(),
    "columns.csv": table("   ").encode(),
    "packed.csv.zip": zipped(table(";", ",")),
    "packed.csv.gz": gzip.compress(table().encode()),
    "latin.csv": table(header="t,V,µ")
    .replace(",µ\n", ",µ\n")
    .replace("5\n", "5,1\n")
    .encode("latin-1"),
    "quoted.csv": "\n".join(
        ["t,V", *(f'"{t}","{v}"'.replace(".", ",") for t, v in zip(T, V, strict=True))]
    ).encode(),
    "book.xlsx": workbook(("Data", ROWS), ("Notes", [])),
    "two sheets.xlsx": workbook(("Notes", [["by", "Ann"]]), ("Data", ROWS)),
    "holes.csv": table().replace("2.0,", ",\n2.0,").encode(),
}
"""Each holds the same numbers."""


def tried(line: list[str]) -> tuple[int, str, str, int]:
    """A command's outcome, at the second try with what its help said, and how often it was tried."""
    found = command(*line)
    if found[0] == 0:
        return (*found, 1)
    help = found[2].rpartition("help: ")[2]
    help = help.rpartition(" or ")[2]  # of several sheets the one that is meant
    options = re.findall(
        r"""--(?:map|sheet) "[^"]*"|--(?:decimal|delimiter|bad-rows) [^\s;]+""", help
    )
    again = [*line, *(word for option in options for word in shlex.split(option))]
    recoding = re.search(r"iconv -f (\S+) -t UTF-8 (.*) \| exprgrad", help)
    if recoding:
        text = Path(line[line.index("--data") + 1]).read_bytes().decode(recoding[1])
        again = [word if word != line[line.index("--data") + 1] else "-" for word in line]
        return (*command(*again, stdin=text.encode()), 2)
    return (*command(*again), 2)


@pytest.mark.parametrize("name", FILES)
def test_files_of_laboratories(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if name.endswith("xlsx"):
        pytest.importorskip("python_calamine")
    monkeypatch.chdir(tmp_path)
    Path(name).write_bytes(FILES[name])
    status, out, said, tries = tried(
        ["batch", "t*V", "--data", name, "--reduce", "sum", "--value-only", "-q"]
    )
    assert (status, out.strip()) == (0, f"value={SUM!r}"), said
    assert tries <= 2


def test_numbers_after_at_are_read_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    named = {name: text for name, text in FILES.items() if name.endswith(".csv")}
    others = {"latin.csv", "holes.csv", "units in headers.csv", "units in headers, german.csv"}
    assert len(named.keys() - others) >= 14
    for name in named.keys() - others:
        Path("x.csv").write_bytes(FILES[name])
        status, out, said = command("eval", "sum(t*V)", "t=@x.csv:t", "V=@x.csv:V", "-q")
        assert (status, float(out)) == (0, SUM), (name, said)


def test_what_was_found_is_said_once_and_only_to_a_shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.csv", "b.csv"):
        Path(name).write_bytes(FILES["german.csv"])
    line = ["batch", "t*V", "--data", "*.csv", "--reduce", "sum", "-q"]
    said = "note: 'a.csv': cells are separated by ';', decimals by ','\n"
    assert command(*line)[2] == said
    assert command(*line, "--decimal", ",")[2] == ""
    assert exprgrad.parse("t*V").batch("a.csv", reduce="sum").value == SUM
    assert capsys.readouterr() == ("", "")


def test_rows_that_begin_with_a_sign_of_comments_stay_where_they_are_texts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("colours.csv").write_text("colour,x\n#ff0000,1\n#00ff00,2\nred,4\n", encoding="utf-8")
    Path("numbered.csv").write_text("#,x\n1,1\n2,2\n3,4\n", encoding="utf-8")
    Path("quoted.csv").write_text('x,text\n1,"a\n# b"\n# 9,9\n6,c\n', encoding="utf-8")
    for name in ("colours.csv", "numbered.csv", "quoted.csv"):
        found = command("batch", "x", "--data", name, "--reduce", "sum", "--value-only", "-q")
        assert found[:2] == (0, "value=7.0\n"), found


def test_what_is_not_certain_is_not_guessed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """1,234 may be a decimal or a thousand; a text in the first row alone is no unit."""
    monkeypatch.chdir(tmp_path)
    line = ["batch", "t", "--data", "x.csv", "--reduce", "sum", "--value-only", "-q"]
    Path("x.csv").write_text("t;V\n1,234;2\n2,345;3\n", encoding="utf-8")
    status, _, said = command(*line)
    assert status == 2 and "--decimal ," in said
    assert command(*line, "--decimal", ",")[1] == "value=3.579\n"
    Path("x.csv").write_text("t,V\nbad,2\n1,3\n2,4\n", encoding="utf-8")
    status, out, said = command(*line)
    assert (status, out) == (0, "value=3.0\n") and "1 row not computed" in said


def test_cells_pass_through_with_points(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.csv").write_text("t;V;id\n0,5;1,5;a,b\n2;3;02\n", encoding="utf-8")
    out = command("batch", "t", "--data", "x.csv", "--value-only")[1]
    assert out == 't,V,id,value\n0.5,1.5,"a,b",0.5\n2,3,02,2\n'


def test_long_files_are_read_as_they_begin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks after the first, in threads, and with a quote over several lines."""
    monkeypatch.chdir(tmp_path)
    rows = '0,5;1,5;"a\n# b"\n# a comment; with; cells\n1,25;2;c\n' * 100_000
    Path("x.csv").write_text("t;V;text\ns;mV;\n" + rows, encoding="utf-8")
    found = command("batch", "t*V", "--data", "x.csv", "--reduce", "sum", "--value-only", "-q")
    assert found[:2] == (0, "value=325000.0\n"), found


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--delimiter", "ab"], "a delimiter is one character"),
        (["--decimal", "x"], "decimals follow"),
        (["--decimal", ",", "--delimiter", ","], "that is no delimiter"),
    ],
)
def test_wrong_layouts(options: list[str], words: str, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("x\n1\n", encoding="utf-8")
    found = command("batch", "x", "--data", str(path), *options)
    assert found[0] == 2 and words in found[2]


def test_archives_and_workbooks_that_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("cut.csv.zip").write_bytes(b"PK\x03\x04")
    assert "is not a whole zip file" in command("batch", "x", "--data", "cut.csv.zip")[2]
    with zipfile.ZipFile("two.csv.zip", "w") as archive:
        for name in ("a.csv", "b.csv"):
            archive.writestr(name, "x\n1\n")
    assert "holds 2 files" in command("batch", "x", "--data", "two.csv.zip")[2]
    assert "workbooks are only read" in command("batch", "x", "--data", "x.csv", "-o", "x.xlsx")[2]
    Path("cut.xlsx").write_bytes(b"PK\x03\x04")
    found = command("batch", "x", "--data", "cut.xlsx")
    assert found[0] == 2 and (
        "cannot read 'cut.xlsx'" in found[2] or "needs python-calamine" in found[2]
    )


def test_utf_16_through_a_pipe_is_refused_with_the_command_that_mends_it() -> None:
    content = FILES["unicode text.csv"]
    status, _, said = command("batch", "t*V", "--data", "-", stdin=content)
    assert status == 2 and "iconv -f UTF-16 -t UTF-8" in said
    mended = content.decode("utf-16").encode()
    found = command(
        "batch", "t*V", "--data", "-", "--reduce", "sum", "--value-only", "-q", stdin=mended
    )
    assert found[:2] == (0, f"value={SUM!r}\n")


def test_workbooks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("python_calamine")
    monkeypatch.chdir(tmp_path)
    Path("x.xlsx").write_bytes(
        workbook(("A", [["t", "note"], [1, "a,b"], [2.5, "c"]]), ("B", [["t"], [9]]))
    )
    out = command("batch", "t", "--data", "x.xlsx", "--sheet", "A", "--value-only")[1]
    assert out == 't,note,value\n1,"a,b",1\n2.5,c,2.5\n'
    assert exprgrad.parse("t").batch("x.xlsx", sheet="B", reduce="sum").value == 9.0
    assert "no sheet 'C'" in command("batch", "t", "--data", "x.xlsx", "--sheet", "C")[2]
    Path("out").mkdir()
    assert command("batch", "t", "--data", "x.xlsx", "--sheet", "B", "-o", "out/")[0] == 0
    assert Path("out/x.csv").read_text() == "t,value,d_t\n9,9,1\n"


def test_thousands_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    german = table(";", ",").replace("1234,5", "1.234,5").replace("2,0", "1.234")
    for text, cell in ((GROUPED, "1,234.5"), (german, "1'234")):
        Path("grouped.csv").write_text(text, encoding="utf-8")
        status, out, said = command(
            "batch", "t*V", "--data", "grouped.csv", "--reduce", "sum", "-q"
        )
        assert (status, out) == (2, "") and cell in said and "between thousands" in said
