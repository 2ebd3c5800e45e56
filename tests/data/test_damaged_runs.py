"""What an unfinished run has left may be damaged: no wrong rows, and each damage is said."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from amounts import many
from outputs import content, removed
from shell import Outcome, command

pa = pytest.importorskip("pyarrow", reason="pip install 'exprgrad[data]'")

from exprgrad.data import batch  # noqa: E402
from exprgrad.data.targets import Manifest, seal_record  # noqa: E402

DAMAGED = many(80)
"""How many damages the slow test tries for each target."""
HAND = 40
"""How many records written by hand.  700 for each target, 5,600 in all, were tried once."""
TARGETS = {
    "csv": "-o out.csv",
    "jsonl": "-o out.jsonl",
    "parquet": "-o out.parquet",
    "arrow": "-o out.arrow",
    "folder": "-o out/",
    "texts": "-o out/ --to csv",
    "sum": "--reduce sum -o out.json",
    "groups": "--reduce norm --by name -o out.csv",
}
FILES = 5


class Left:
    """What an unfinished run has left in a folder, and what a whole one writes."""

    def __init__(self, options: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.options, self.folder = options.split(), folder
        self.out = folder / self.options[self.options.index("-o") + 1]
        assert self.run().status == 0
        self.expected = content(self.out)
        self.remove()
        work = {name: getattr(batch, name) for name in ("partition_rows", "reduce_rows")}
        left = [3]

        def stopped(name: str) -> Callable[..., Any]:
            def worked(*args: Any) -> Any:
                left[0] -= 1
                if left[0] < 0:
                    raise KeyboardInterrupt
                return work[name](*args)

            return worked

        with monkeypatch.context() as patch:
            for name in work:
                patch.setattr(batch, name, stopped(name))
            patch.setattr(Manifest, "is_due", lambda self, done: True)
            assert self.run().status == 130
        self.files = {path: path.read_bytes() for path in self.paths()}
        record = json.loads(self.record.read_bytes())
        self.size = record["reached"][-1]["size"]

    @property
    def record(self) -> Path:
        """The record."""
        return self.folder / f".{self.out.name}.resume"

    def paths(self) -> list[Path]:
        """The files that count; an empty one has nothing to damage."""
        found = [*self.folder.glob(f".{self.out.name}.*"), *self.out.glob("*")]
        return sorted(path for path in found if path.is_file() and path.stat().st_size)

    def remove(self) -> None:
        """Remove all that a run writes."""
        for path in [*self.folder.glob(".out*"), *self.folder.glob("out*")]:
            removed(path)

    def restore(self) -> None:
        """Leave what was left."""
        self.remove()
        for path, signs in self.files.items():
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(signs)

    def run(self, *more: str) -> Outcome:
        """Run the command."""
        argv = ["x*exp(-y)", "--data", "rows", "--threads", "1", *self.options]
        return command("batch", *argv, *more)


@pytest.fixture(params=TARGETS)
def left(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Left]:
    import pyarrow.parquet as pq

    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows").mkdir()
    numbers = np.random.default_rng(7)
    for at in range(FILES):
        x, y = numbers.standard_normal((2, 12))
        rows = pa.table({"x": x, "y": y, "name": ["a", "b", None] * 4})
        pq.write_table(rows, tmp_path / f"rows/{at}.parquet")
    yield Left(TARGETS[request.param], tmp_path, monkeypatch)


def flip(signs: bytes, numbers: random.Random) -> bytes:
    at = numbers.randrange(len(signs))
    return signs[:at] + bytes([signs[at] ^ numbers.randint(1, 255)]) + signs[at + 1 :]


def truncate(signs: bytes, numbers: random.Random) -> bytes:
    return signs[: numbers.randrange(len(signs))]


def insert(signs: bytes, numbers: random.Random) -> bytes:
    at = numbers.randrange(len(signs))
    return signs[:at] + numbers.randbytes(numbers.randint(1, 9)) + signs[at:]


def zero(signs: bytes, numbers: random.Random) -> bytes:
    at, size = numbers.randrange(len(signs)), numbers.randint(1, 64)
    return signs[:at] + bytes(len(signs[at : at + size])) + signs[at + size :]


def repeat(signs: bytes, numbers: random.Random) -> bytes:
    at, size = numbers.randrange(len(signs)), numbers.randint(1, 64)
    return signs[: at + size] + signs[at : at + size] + signs[at + size :]


def drop(signs: bytes, numbers: random.Random) -> bytes:
    at, size = numbers.randrange(len(signs)), numbers.randint(1, 64)
    return signs[:at] + signs[at + size :]


DAMAGES = (flip, flip, flip, truncate, insert, zero, repeat, drop)


def damage(left: Left, numbers: random.Random) -> bool:
    """Damage one of the files, or swap two; whether what counts of them has changed."""
    path = numbers.choice([*left.files])
    before = left.files[path]
    if numbers.random() < 0.1:
        other = numbers.choice([*left.files])
        path.write_bytes(left.files[other])
        other.write_bytes(before)
        return left.files[other] != before
    after = numbers.choice(DAMAGES)(before, numbers)
    path.write_bytes(after)
    end = left.size if path.name.endswith(".part") else max(len(before), len(after))
    return before[:end] != after[:end]


def damaged(left: Left, count: int, numbers: random.Random) -> int:
    """Damage what is left so often, and resume: how often rows were right; otherwise it is an error."""
    right = 0
    for _ in range(count):
        left.restore()
        is_changed = damage(left, numbers)
        status, out, err = left.run("--resume")
        assert status in (0, 2), (status, out, err)
        assert "Traceback" not in err
        assert bool(err) == is_changed, err
        if status == 0:
            assert content(left.out) == left.expected
            right += 1
    return right


def test_nothing_damaged(left: Left) -> None:
    left.restore()
    assert left.run("--resume") == (0, "", "")
    assert content(left.out) == left.expected


def test_damaged(left: Left) -> None:
    damaged(left, 12, random.Random(29))


@pytest.mark.slow
def test_damaged_in_many_ways(left: Left) -> None:
    right = damaged(left, DAMAGED, random.Random(30))
    print(f"{left.options}: {DAMAGED} damages; done again: {right}")  # noqa: T201


# A record may also be written by hand, checksum and all.

WRONG: list[Any] = [
    None, True, 5, -1, 2**70, 1.5, "", "zz", "0x1p+99999", "x" * 10_000, [], ["a"], [["a", "zz"]],
    [[1, 2, 3]], {}, {"a": 1}, {"a": {"b": []}}, [[[[[]]]]],
]  # fmt: skip


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Each place in a document: what it is in, and its name or its number there."""
    todo = [value]
    while todo:
        part = todo.pop()
        listed = part.items() if isinstance(part, dict) else enumerate(part)
        for key, inner in listed:
            yield part, key
            todo += [inner] * isinstance(inner, dict | list)


def test_records_written_by_hand(left: Left) -> None:
    document = json.loads(left.files[left.record])
    document.pop("checksum")
    numbers = random.Random(31)
    count = sum(1 for _ in places(document))
    for _ in range(HAND):
        changed = copy.deepcopy(document)
        inside, key = [*places(changed)][numbers.randrange(count)]
        inside[key] = copy.deepcopy(numbers.choice(WRONG))
        left.restore()
        left.record.write_bytes(seal_record(json.dumps(changed).removesuffix("}").encode()))
        status, out, err = left.run("--resume")
        assert status in (0, 2), (inside, key, out, err)
        assert "Traceback" not in err


@pytest.mark.parametrize(
    "record",
    [
        b"[" * 100_000,
        b'{"what": ' * 50_000 + b"5" + b"}" * 50_000,
        b'{"what": 5}',
        b"5",
        b"\xff\xfe",
        b"9" * 5000,
        b'{"what": {"NAME=VALUE": [["a", "zz"]]}, "inputs": [], "reached": []}',
    ],
)
@pytest.mark.parametrize("left", ["csv", "sum"], indirect=True)
def test_records_that_are_none(left: Left, record: bytes) -> None:
    for signs in (record, seal_record(record.removesuffix(b"}"))):
        left.restore()
        left.record.write_bytes(signs)
        status, out, err = left.run("--resume")
        assert (status, out) == (2, "")
        assert f"is damaged: '{left.record.name}'" in err
