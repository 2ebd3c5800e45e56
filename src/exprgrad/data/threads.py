"""Work shared among threads, whose results come in order: to the bytes of one thread."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from threading import Event, Lock
from typing import Any, TypeVar

__all__ = ["Threads", "map_in_order", "start_threads"]

Given = TypeVar("Given")
Made = TypeVar("Made")


class Threads:
    """Some threads of this process, until they are stopped."""

    def __init__(self, count: int) -> None:
        from concurrent.futures import ThreadPoolExecutor

        import numpy as np

        self.count = count
        # Nothing is said about numbers that are not finite: rows that do not compute are counted.
        self.executor = ThreadPoolExecutor(count, initializer=np.seterr, initargs=("ignore",))
        self.is_over = Event()
        self.lock = Lock()

    def telling(self, progress: Callable[[int], None]) -> Callable[[int], None]:
        """Return a progress function for any thread; it ends the thread's work when all is to stop."""

        def told(rows: int) -> None:
            if self.is_over.is_set():
                raise KeyboardInterrupt
            with self.lock:
                progress(rows)

        return told


@contextmanager
def start_threads(count: int) -> Iterator[Threads | None]:
    """Start threads, and stop them at the end; None if this one is enough."""
    if count <= 1:
        yield None
        return
    threads = Threads(count)
    try:
        yield threads
    finally:
        threads.is_over.set()
        threads.executor.shutdown(cancel_futures=True)


def map_in_order(
    function: Callable[[Given], Made], items: Iterable[Given], threads: Threads | None
) -> Iterator[Made]:
    """Yield a function's results for items, in order; a few items are taken ahead.

    If taking an item raises an error, the results of the items before it come first.
    """
    if threads is None:
        yield from map(function, items)
        return
    waiting: deque[Any] = deque()
    error: Exception | None = None
    left = iter(items)
    while True:
        try:
            item = next(left)
        except StopIteration:
            break
        except Exception as met:
            error = met
            break
        waiting.append(threads.executor.submit(function, item))
        if len(waiting) > threads.count:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()
    if error is not None:
        raise error
