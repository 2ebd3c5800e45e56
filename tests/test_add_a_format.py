"""The file that the how-to adds is all it takes: the page's own text is put beside the other formats."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from shell import command

pa = pytest.importorskip("pyarrow", reason="pip install 'exprgrad[data]'")
orc = pytest.importorskip("pyarrow.orc")

from exprgrad.cli.command import load_command  # noqa: E402
from exprgrad.data import formats  # noqa: E402

PAGE = (Path(__file__).parents[1] / "docs" / "how-to" / "add-a-format.md").read_text("utf-8")


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder of rows; the documented format is gathered with the others for one test."""
    load_command("batch")  # its help lists the formats that there are when it is loaded
    found = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    (tmp_path / "more").mkdir()
    (tmp_path / "more/orc.py").write_text(found[1], "utf-8")
    monkeypatch.setattr(formats, "__path__", [*formats.__path__, str(tmp_path / "more")])
    monkeypatch.delitem(sys.modules, f"{formats.__name__}.orc", raising=False)
    gathered = formats.find_formats()
    assert gathered.keys() == {*formats.FORMATS, "orc"}
    monkeypatch.setitem(formats.FORMATS, "orc", gathered["orc"])
    monkeypatch.setitem(formats.BY_ENDING, ".orc", "orc")
    monkeypatch.chdir(tmp_path)
    orc.write_table(pa.table({"x": [1.0, 5.0], "y": [4.0, 2.0], "name": ["a", None]}), "rows.orc")
    return tmp_path


def test_the_page_shows_what_is_printed(folder: Path) -> None:
    found = re.search(r"```text\n\$ exprgrad batch \"(.*?)\" (.*?)\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    assert command("batch", found[1], *found[2].split()) == (0, found[3], "")


def test_rows_and_errors_follow(folder: Path) -> None:
    assert command("batch", "x*y", "--data", "rows.orc", "-o", "out.orc").status == 0
    back = command("batch", "value + d_x", "--data", "out.orc", "--only", "--value-only")
    assert back.out == "value\n8\n12\n"
    assert orc.read_table("out.orc").column_names == ["x", "y", "name", "value", "d_x", "d_y"]
    Path("rows.xyz").touch()
    assert ", .orc\n" in command("batch", "x", "--data", "rows.xyz").err
    piped = command("batch", "x", "--data", "-", stdin=Path("rows.orc").read_bytes())
    assert "standard input is ORC, which cannot be read through a pipe" in piped.err
    again = command("batch", "x", "--data", "rows.orc", "-o", "out.orc", "--resume")
    assert "--resume needs" in again.err
    Path("cut.orc").write_bytes(Path("rows.orc").read_bytes()[:20])
    assert command("batch", "x", "--data", "cut.orc").err.startswith("error: cannot read 'cut.orc'")
