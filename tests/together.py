"""Many values in one test: for tables whose rows take less time than pytest takes for a test."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

Check = Callable[..., None]


def together(values: Iterable[Any]) -> Callable[[Check], Callable[[], None]]:
    """Make one test of a check and all values that it is for; it says for which of them it fails.

    A list or a plain tuple stands for several arguments.
    """
    table = [value if type(value) in (list, tuple) else (value,) for value in values]

    def one_test(check: Check) -> Callable[[], None]:
        def test() -> None:
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

        test.__name__, test.__doc__ = check.__name__, check.__doc__
        return test

    return one_test
