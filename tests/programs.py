"""Running generated programs: each target's own interpreter or compiler, many programs at a time."""

from __future__ import annotations

import ctypes
import json
import math
import os
import re
import shutil
import sqlite3
import subprocess
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import pytest

C_FLAGS = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic")
NEAR = 1e-12
"""The part of an array's norm by which programs of tensors may be off: see ``test_code_tensors``."""
NODE = """
const programs = JSON.parse(require("fs").readFileSync(0));
const given = x => Number(x);
const shown = x => Number.isFinite(x) ? (Object.is(x, -0) ? "-0" : x) : String(x);
const answers = programs.map(({source, name, points}) => {
  const f = new Function(source + "\\nreturn " + name)();
  return points.map(point => {
    const found = f(...point.map(given));
    if (typeof found === "number") return [shown(found), []];
    return [shown(found.value), Object.values(found.gradient).map(shown)];
  });
});
console.log(JSON.stringify(answers));
"""


Shape = tuple[int, ...]


class Program(NamedTuple):
    """A program's source, the function's name, how many derivatives it returns, and where to call it."""

    source: str
    name: str
    derivatives: int | None
    points: Sequence[Sequence[float]]


class Answer(NamedTuple):
    """What a program returned at one point."""

    value: float
    gradient: list[float]


def require(target: str) -> None:
    """Skip a test whose target is not on this machine; fail where it has to be there."""
    if target not in RUNNERS:
        pytest.skip(f"nothing here runs programs in {target}")
    runner = RUNNERS[target]
    if runner.command and shutil.which(runner.command) is None:
        missing("EXPRGRAD_COMPILERS", f"there is no {runner.command}")
    if runner.module and find_spec(runner.module) is None:
        missing("EXPRGRAD_ORACLES", f"there is no {target}: pip install 'exprgrad[oracles]'")
    if runner.database:
        with connect(runner.database):
            pass


def missing(variable: str, reason: str) -> None:
    """Skip, or fail where an environment variable says that nothing may be missing."""
    if os.environ.get(variable) == "require":
        pytest.fail(reason)
    pytest.skip(reason)


def run(target: str, programs: Sequence[Program], folder: Path) -> list[list[Answer]]:
    """Every program's answers at its points."""
    require(target)
    return RUNNERS[target].run(programs, folder)


def run_matrices(
    target: str, program: Program, shapes: Sequence[Shape], folder: Path
) -> list[float]:
    """All numbers that a program returns at its only point, in order, given the shapes of its parts."""
    require(target)
    found = RUNNERS[target].run_matrices
    if found is None:
        pytest.skip(f"nothing here runs programs in {target} that return matrices")
    return found(program, shapes, folder)


def function(program: Program) -> Any:
    """The function that a program in Python defines."""
    names: dict[str, Any] = {}
    exec(compile(program.source, f"<{program.name}>", "exec"), names)
    return names[program.name]


def run_python(programs: Sequence[Program], folder: Path) -> list[list[Answer]]:
    return [called_at_points(program) for program in programs]


def called_at_points(program: Program) -> list[Answer]:
    called = function(program)
    found = [called(*point) for point in program.points]
    return [Answer(f, []) if program.derivatives is None else Answer(f[0], [*f[1]]) for f in found]


def run_arrays(programs: Sequence[Program], folder: Path) -> list[list[Answer]]:
    return [called_with_columns(program) for program in programs]


def called_with_columns(program: Program) -> list[Answer]:
    """One call with arrays, filled up to few different lengths, for JAX compiles for each."""
    import numpy as np

    count = len(program.points)
    length = 32 if count <= 32 else -count // 256 * -256
    filled = [*program.points, *[program.points[-1]] * (length - count)]
    columns = [np.array(column, dtype=float) for column in zip(*filled, strict=True)]
    called = function(program)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = called(*columns)
    value, gradient = (found, ()) if program.derivatives is None else found
    outputs = [np.asarray(output) for output in (value, *gradient)]
    for output in outputs:
        assert output.dtype == np.float64
        assert output.shape == ((length,) if columns else ()), program.source
    rows = [[float(x) for x in np.broadcast_to(output, (length,))] for output in outputs]
    return [Answer(rows[0][i], [row[i] for row in rows[1:]]) for i in range(count)]


def compiled(programs: Sequence[Program], folder: Path, *flags: str) -> ctypes.CDLL:
    """All programs in one library, compiled once."""
    source, library = folder / "programs.c", folder / "programs.so"
    source.write_text("\n".join(program.source for program in programs), "utf-8")
    command = ["gcc", *C_FLAGS, *flags, "-shared", "-fPIC"]
    files = ["-o", str(library), str(source), "-lm"]
    done = subprocess.run([*command, *files], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:4000]
    return ctypes.CDLL(str(library))


def run_c(programs: Sequence[Program], folder: Path) -> list[list[Answer]]:
    library = compiled(programs, folder)
    answers = []
    for program in programs:
        called = getattr(library, program.name)
        called.restype = ctypes.c_double
        gradient = (ctypes.c_double * (program.derivatives or 1))()
        last = [gradient] if program.derivatives else []
        found = []
        for point in program.points:
            value = called(*map(ctypes.c_double, point), *last)
            found.append(Answer(value, list(gradient)[: program.derivatives or 0]))
        answers.append(found)
    return answers


def run_javascript(programs: Sequence[Program], folder: Path) -> list[list[Answer]]:
    def spelled(x: float) -> object:
        return (
            x if math.isfinite(x) else {"inf": "Infinity", "-inf": "-Infinity"}.get(str(x), "NaN")
        )

    given = [
        {
            "source": p.source,
            "name": p.name,
            "points": [[*map(spelled, point)] for point in p.points],
        }
        for p in programs
    ]
    done = subprocess.run(
        ["node", "-e", NODE], input=json.dumps(given), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[:4000]
    return [
        [Answer(number(value), [*map(number, gradient)]) for value, gradient in rows]
        for rows in json.loads(done.stdout)
    ]


def run_sql(programs: Sequence[Program], folder: Path) -> list[list[Answer]]:
    """SQLite plans a query in a tenth of the time that DuckDB takes, and is in the standard library."""
    with connect("sqlite") as connection:
        return answered(connection, programs)


@contextmanager
def connect(database: str) -> Iterator[Any]:
    """A database in memory; skips where it, or its mathematics, is not there."""
    connector = sqlite3 if database == "sqlite" else pytest.importorskip(database)
    with closing(connector.connect(":memory:")) as connection:
        try:
            connection.execute("SELECT SINH(1.0), MOD(5.0, 3.0)")
        except sqlite3.OperationalError:
            pytest.skip("this SQLite was built without mathematical functions")
        yield connection


def answered(connection: Any, programs: Sequence[Program]) -> list[list[Answer]]:
    """What a database answers, nan where it is NULL."""
    answers = []
    for program in programs:
        read = rf"^    CAST\({program.name}_rows\.(\S+) AS DOUBLE"
        columns = re.findall(read, program.source, re.MULTILINE)
        declared = ", ".join(f"{column} DOUBLE PRECISION" for column in ["row_number_", *columns])
        connection.execute("DROP TABLE IF EXISTS rows")
        connection.execute(f"CREATE TABLE rows ({declared})")
        places = ", ".join("?" * (1 + len(columns)))
        points = [[at, *point[: len(columns)]] for at, point in enumerate(program.points)]
        connection.executemany(f"INSERT INTO rows VALUES ({places})", points)
        count = 1 + (program.derivatives or 0)
        found = connection.execute(program.source).fetchall()
        order = [row[1] for row in found]
        assert order == sorted(order), "the order of the rows stays"
        rows = [[math.nan if x is None else float(x) for x in row[-count:]] for row in found]
        answers.append([Answer(row[0], row[1:]) for row in rows])
    return answers


# Programs that return matrices.


def flat(found: Any) -> Iterator[float]:
    """The numbers in nested tuples or objects, in order."""
    if isinstance(found, dict):
        found = [*found.values()]
    if not isinstance(found, list | tuple):
        yield float(found)
        return
    for part in found:
        yield from flat(part)


def matrices_in_python(program: Program, shapes: Sequence[Shape], folder: Path) -> list[float]:
    return [*flat(function(program)(*program.points[0]))]


def matrices_in_c(program: Program, shapes: Sequence[Shape], folder: Path) -> list[float]:
    called = getattr(compiled([program], folder), program.name)
    called.restype = ctypes.c_double
    kept = [(ctypes.c_double * math.prod(shape))(math.nan) for shape in shapes if shape]
    value = called(*map(ctypes.c_double, program.points[0]), *kept)
    return [*([] if shapes[0] else [value]), *(x for part in kept for x in part)]


def matrices_in_javascript(program: Program, shapes: Sequence[Shape], folder: Path) -> list[float]:
    called = f"{program.name}({', '.join(map(repr, program.points[0]))})"
    script = f"{program.source}\nconsole.log(JSON.stringify({called}))"
    done = subprocess.run(["node", "-e", script], capture_output=True, text=True, check=True)
    return [*flat(json.loads(done.stdout))]


def matrices_in_sql(program: Program, shapes: Sequence[Shape], folder: Path) -> list[float]:
    count = sum(map(math.prod, shapes))
    ((answer,),) = run_sql([program._replace(derivatives=count - 1)], folder)
    return [answer.value, *answer.gradient]


class Runner(NamedTuple):
    """How the programs of a target are run.

    ``run``           each at its points; a folder is there for files
    ``run_matrices``  one that returns matrices, at its only point; None: such programs are not run
    ``command``       the compiler or interpreter that it needs, if it needs one
    ``module``        the module that it needs; ``database``: the database
    """

    run: Callable[[Sequence[Program], Path], list[list[Answer]]]
    run_matrices: Callable[[Program, Sequence[Shape], Path], list[float]] | None = None
    command: str = ""
    module: str = ""
    database: str = ""


RUNNERS = {
    "python": Runner(run_python, matrices_in_python),
    "numpy": Runner(run_arrays, matrices_in_python),
    "c": Runner(run_c, matrices_in_c, command="gcc"),
    "javascript": Runner(run_javascript, matrices_in_javascript, command="node"),
    "jax": Runner(run_arrays, matrices_in_python, module="jax"),
    "torch": Runner(run_arrays, matrices_in_python, module="torch"),
    "sql": Runner(run_sql, matrices_in_sql, database="sqlite"),
}
"""The targets whose programs are run here; a target without a runner has them read, not run."""


def number(shown: float | str) -> float:
    return float(str(shown).replace("Infinity", "inf"))


def call(target: str, source: str, name: str, given: Sequence[Any]) -> tuple[Any, list[Any]]:
    """What a program of tensors returns, as arrays; given numbers or arrays.  JAX compiles it."""
    import numpy as np

    require(target)
    called = function(Program(source, name, None, ()))
    if target == "jax":
        import jax

        called = jax.jit(called)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = called(*given)
    value, gradient = found if isinstance(found, tuple) else (found, ())
    outputs = [np.asarray(output) for output in (value, *gradient)]
    assert all(output.dtype == np.float64 for output in outputs), source
    return outputs[0], outputs[1:]


def near(found: Any, wanted: Any) -> bool:
    """Whether two arrays are equal to ``NEAR`` of the norm."""
    import numpy as np

    return np.shape(found) == np.shape(wanted) and bool(
        np.linalg.norm(np.subtract(found, wanted)) <= NEAR * np.linalg.norm(wanted)
    )
