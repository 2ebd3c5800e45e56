"""Many values in one test: for tables whose rows take less time than pytest takes for a test."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

Check = Callable[..., None]


def together(values: Iterable[Any], every: int = 1) -> Callable[[Check], Callable[..., None]]:
    """Make one test of a check and all values that it is for; it says for which of them it fails.

    A list or a plain tuple stands for several arguments.  With ``every``, one value of so many is for the
    quick suite, and a slow test takes them all.
    """
    table = [value if type(value) in (list, tuple) else (value,) for value in values]

    def one_test(check: Check) -> Callable[..., None]:
        def test() -> None:
            hold(check, table)

        def test_some(step: int) -> None:
            hold(check, table[::step])

        for function in (test, test_some):
            function.__name__, function.__doc__ = check.__name__, check.__doc__
        if every == 1:
            return test
        steps = [every, pytest.param(1, marks=pytest.mark.slow)]
        return pytest.mark.parametrize("step", steps)(test_some)

    return one_test


def hold(check: Check, table: Sequence[Sequence[Any]]) -> None:
    """Hold a check for every row of a table."""
    failures = []
    for arguments in table:
        try:
            check(*arguments)
        except Exception as error:
            error.add_note(f"with {', '.join(map(str, arguments))[:500]}")
            failures.append(error)
    if len(failures) == 1:
        raise failures[0]
    if failures:
        raise ExceptionGroup(f"{len(failures)} of {len(table)} fail", failures)
