"""Columns in files: gradients beside merely reading, and reading and writing, the same rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.measure import Call, Report, left_out, medians, peer, ratio, table, times, turns
from benchmarks.regimes import COLUMNS, summary
from exprgrad.data.arrow import import_arrow
from exprgrad.data.batch import execute_plan
from exprgrad.data.plans import plan_batch

__all__ = ["report"]

NEURON = "tanh(x1*w1 + x2*w2 + b)"
NAMES = ("x1", "w1", "x2", "w2", "b")
BATCH = 2**16
"""The rows of a batch."""


def report(*, quick: bool) -> Report:
    """Tables for sums and for rows, of Parquet and of CSV."""
    rows, rounds = (200_000, 3) if quick else (2_000_000, 7)
    with TemporaryDirectory() as folder:
        written(Path(folder), rows)
        groups = {
            "columns sums": ("Parquet to sums", "read", sums(f"{folder}/rows.parquet")),
            "columns rows": ("Parquet to Parquet", "read and write", copies(folder, "parquet")),
            "columns csv": ("CSV to sums", "read", csv_sums(f"{folder}/rows.csv")),
        }
        parts, figures = [], {}
        for key, (title, unit, calls) in groups.items():
            taken = turns(calls, rounds)
            lines = [
                [name, f"{seconds / rows * 1e9:.0f}", times(ratio(taken, name, unit).median)]
                for name, seconds in medians(taken).items()
            ]
            parts.append(table([title, "ns a row", f"against {unit}"], lines))
            figures[key] = ratio(taken, "exprgrad", unit)
    missing = [name for name in ("duckdb", "polars", "pandas", "jax") if peer(name) is None]
    parts.append(summary(figures, COLUMNS))
    return Report("\n".join(parts) + left_out(missing), figures)


def written(folder: Path, rows: int) -> None:
    """Rows of the neuron's inputs, as Parquet and as CSV; and with its results, for whoever copies them."""
    random = np.random.default_rng(1)
    rows_of = import_arrow().table({name: random.standard_normal(rows) for name in NAMES})
    import_arrow("parquet").write_table(rows_of, folder / "rows.parquet")
    import_arrow("csv").write_csv(rows_of, folder / "rows.csv")
    execute_plan(
        plan_batch(NEURON, [str(folder / "rows.parquet")], path=str(folder / "done.parquet"))
    )


def read(batches: Callable[[], Any]) -> None:
    """Read all batches, and do nothing."""
    for _ in batches():
        pass


def parquet_batches(path: str) -> Any:
    """A Parquet file's batches."""
    return import_arrow("parquet").ParquetFile(path).iter_batches(BATCH)


def ours(data: str, **options: Any) -> None:
    """What the command does."""
    execute_plan(plan_batch(NEURON, [data], **options))


def sums(path: str) -> dict[str, Call]:
    """The sums of values and derivatives, of Parquet; and what others do for them, by hand."""
    calls: dict[str, Call] = {
        "exprgrad": partial(ours, path, reduce="sum"),
        "read": partial(read, partial(parquet_batches, path)),
    }
    return calls | dict(peers(path))


def csv_sums(path: str) -> dict[str, Call]:
    """The same of CSV; and what pyarrow takes to read it in a stream."""
    return {
        "exprgrad": partial(ours, path, reduce="sum"),
        "read": partial(read, partial(import_arrow("csv").open_csv, path)),
    }


def copies(folder: str, ending: str) -> dict[str, Call]:
    """The rows with their results, written; and the same columns, which are there already."""
    done = import_arrow("parquet").read_table(f"{folder}/done.{ending}")

    def copy() -> None:
        at = 0
        parquet = import_arrow("parquet")
        with parquet.ParquetWriter(f"{folder}/copy.{ending}", done.schema) as writer:
            for batch in parquet_batches(f"{folder}/rows.{ending}"):
                results = done.slice(at, batch.num_rows).combine_chunks().to_batches()[0]
                columns = [*batch.columns, *results.columns[len(NAMES) :]]
                writer.write_batch(
                    import_arrow().RecordBatch.from_arrays(columns, schema=done.schema)
                )
                at += batch.num_rows

    return {
        "exprgrad": partial(ours, f"{folder}/rows.{ending}", path=f"{folder}/out.{ending}"),
        "read and write": copy,
    }


def peers(path: str) -> Iterator[tuple[str, Call]]:
    """Sums of the neuron's value and gradient by others, who are given the derivatives."""
    duckdb, polars, pandas, jax = map(peer, ("duckdb", "polars", "pandas", "jax"))
    if duckdb is not None:
        query = f"""with t as (select *, tanh(x1*w1 + x2*w2 + b) as v from '{path}')
            select sum(v), sum((1 - v*v)*w1), sum((1 - v*v)*x1), sum((1 - v*v)*w2), sum((1 - v*v)*x2),
            sum(1 - v*v) from t"""
        one = duckdb.connect(config={"threads": 1})
        yield "DuckDB", lambda: one.execute(query).fetchall()
    if polars is not None:
        yield "Polars", partial(by_polars, polars, path)
    if pandas is not None:
        yield "pandas", partial(by_pandas, pandas, path)
    if jax is not None:
        yield "JAX", partial(by_jax, compiled_by_jax(jax), path)


def by_polars(polars: Any, path: str) -> Any:
    """The sums as expressions over a lazy frame, read in a stream."""
    x1, w1, x2, w2, b = map(polars.col, NAMES)
    v = polars.col("v")
    slopes = [(1 - v * v) * factor for factor in (w1, x1, w2, x2, 1)]
    frame = polars.scan_parquet(path).with_columns((x1 * w1 + x2 * w2 + b).tanh().alias("v"))
    wanted = [one.sum().alias(str(at)) for at, one in enumerate([v, *slopes])]
    return frame.select(wanted).collect(engine="streaming")


def by_pandas(pandas: Any, path: str) -> Any:
    """The sums of a frame that is read whole."""
    t = pandas.read_parquet(path)
    v = np.tanh(t.x1 * t.w1 + t.x2 * t.w2 + t.b)
    s = 1 - v * v
    return [one.sum() for one in (v, s * t.w1, s * t.x1, s * t.w2, s * t.x2, s)]


def compiled_by_jax(jax: Any) -> Any:
    """The sums of a batch, value and gradient, as one function."""
    jax.config.update("jax_enable_x64", True)

    def value(x1: Any, w1: Any, x2: Any, w2: Any, b: Any) -> Any:
        return jax.numpy.tanh(x1 * w1 + x2 * w2 + b)

    both = jax.vmap(jax.value_and_grad(value, argnums=range(len(NAMES))))

    def summed(*columns: Any) -> Any:
        found, slopes = both(*columns)
        return found.sum(), [slope.sum() for slope in slopes]

    return jax.jit(summed)


def by_jax(summed: Any, path: str) -> Any:
    """The sums, batch by batch as pyarrow reads them."""
    total = np.zeros(1 + len(NAMES))
    for batch in parquet_batches(path):
        value, slopes = summed(*(batch.column(name).to_numpy() for name in NAMES))
        total += np.array([value, *slopes])
    return total
