"""A formula as functions of Arrow arrays, which DuckDB and pyarrow's own registry call by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from inspect import Parameter, Signature
from keyword import iskeyword
from typing import Any

import numpy as np

from exprgrad.data.arrow import Doubles, arrow, is_numeric, numbers, one_array, type_words
from exprgrad.data.batch import as_column
from exprgrad.data.job import Job, computed, prepared, result_names
from exprgrad.data.plans import formula_of_numbers
from exprgrad.errors import InputError, RequestError
from exprgrad.run.values.inputs import select
from exprgrad.source import Source

__all__ = ["ArrowFunctions"]

STRUCT = "gradient"
"""The function that finds everything."""


class ArrowFunctions(dict[str, Callable[..., Any]]):
    """A formula's functions of Arrow arrays, by name.

    ``value`` is the formula, ``grad_x`` its derivative with respect to ``x``, for each input that is
    differentiated, and ``gradient`` all at once, a struct of ``value``, ``d_x``….  With a ``name`` they are
    ``name``, ``name_grad_x`` and ``name_gradient``.  Each takes the ``inputs`` in order, an array or a
    number each.  A row is null where an input is, and where it does not compute: where ``grad`` has inf
    or nan.
    """

    def __init__(self, text: str, name: str = "", *, wrt: Iterable[str] | None = None) -> None:
        graph = formula_of_numbers(text)
        self.text, self.inputs, chosen = text, tuple(graph.inputs), select(graph, wrt)
        if not self.inputs:
            message = "a formula that reads nothing is no function of columns"
            raise RequestError("missing-input", message, source=Source(text))
        job, before = Job(text, tuple((x, x) for x in self.inputs)), f"{name}_" if name else ""
        jobs = {name or "value": job}
        jobs |= {f"{before}grad_{x}": job._replace(wrt=(x,)) for x in chosen}
        if chosen:
            jobs[before + STRUCT] = job._replace(wrt=chosen)
        self.fields = {key: result_names(job) for key, job in jobs.items() if key.endswith(STRUCT)}
        super().__init__({key: columnwise(job, key in self.fields) for key, job in jobs.items()})

    def register(self, connection: Any = None) -> None:
        """Make the functions known to a DuckDB connection, or to ``pyarrow.compute`` if none is given."""
        pa = arrow()
        for name, function in self.items():
            fields = self.fields.get(name)
            if connection is not None:
                kind = ", ".join(f'"{field}" DOUBLE' for field in fields or ())
                connection.create_function(
                    name,
                    function,
                    ["DOUBLE"] * len(self.inputs),
                    f"STRUCT({kind})" if fields else "DOUBLE",
                    type="arrow",
                    null_handling="special",
                )
                continue
            told = {
                "summary": f"{name} of {self.text}",
                "description": f"of {', '.join(self.inputs)}",
            }
            kind = (
                pa.struct([(field, pa.float64()) for field in fields]) if fields else pa.float64()
            )
            arrow("compute").register_scalar_function(
                lambda _, *columns, function=function: function(*columns),
                name,
                told,
                dict.fromkeys(self.inputs, pa.float64()),
                kind,
            )


def columnwise(job: Job, is_struct: bool) -> Callable[..., Any]:
    """A job's last result, or all of them, as a function of columns, compiled when first used."""
    kernel = cache(lambda: prepared(job))
    inputs = [name for name, _ in job.columns]

    def function(*columns: Any) -> Any:
        """An Arrow array."""
        pa, given = arrow(), as_columns(inputs, columns)
        block = computed(kernel(), given, 0, len(given[0].values))
        if not is_struct:
            return as_column(block.results[-1], block.bad)
        arrays = [as_column(one, block.bad) for one in block.results]
        mask = None if block.bad is None else pa.array(block.bad)
        return pa.StructArray.from_arrays(arrays, result_names(job), mask=mask)

    names = [name + "_" * iskeyword(name) for name in inputs]
    parameters = [Parameter(name, Parameter.POSITIONAL_ONLY) for name in names]
    function.__signature__ = Signature(parameters)  # type: ignore[attr-defined]  # DuckDB counts them
    return function


def as_columns(inputs: Sequence[str], columns: Sequence[Any]) -> list[Doubles]:
    """Arrow arrays and numbers as doubles, all of one length; errors for what is neither."""
    if len(columns) != len(inputs):
        message = f"the function takes {len(inputs)} columns, and was given {len(columns)}"
        help = f"they are {', '.join(inputs)}, in this order"
        raise InputError("missing-input", message, help=help)
    arrays = [as_array(name, column) for name, column in zip(inputs, columns, strict=True)]
    sizes = {len(array) for array, is_one in arrays if not is_one} or {1}
    if len(sizes) > 1:
        message = f"columns have {' and '.join(map(str, sorted(sizes)))} rows"
        raise InputError("bad-column", message, help="all have the same length")
    (rows,) = sizes
    found = []
    for array, is_one in arrays:
        values, missing, _ = numbers(array)
        if is_one:
            values = np.repeat(values, rows)
            missing = None if missing is None else np.repeat(missing, rows)
        found.append(Doubles(values, missing))
    return found


def as_array(name: str, column: Any) -> tuple[Any, bool]:
    """A column as an Arrow array, and whether it is one number for every row."""
    pa = arrow()
    is_one = isinstance(column, pa.Scalar | int | float)
    if isinstance(column, pa.Scalar):
        array = pa.array([column.as_py()], column.type)
    elif isinstance(column, pa.Array | pa.ChunkedArray):
        array = one_array(column)
    else:
        array = pa.array([column] if is_one else column)
    if not is_numeric(array.type):
        message = f"'{name}' was given {type_words(array.type)}, not numbers"
        raise InputError("bad-column", message)
    return array, is_one
