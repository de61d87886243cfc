"""Graphs made without noting which lines of code made them."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from pytensor import config

# While any thread makes graphs without backtraces: the flag's value before, then one for each.
_NOTING = Lock()
_limits: list[int] = []


@contextmanager
def without_backtraces() -> Iterator[None]:
    """Do not note of every variable made which lines of code made it.

    Of graphs that are made here those lines tell nobody anything, and cost a third of the time.
    PyTensor's flag is one for all threads: the last to leave puts it back.
    """
    with _NOTING:
        if not _limits:
            _limits.append(config.traceback__limit)
            config.traceback__limit = 0
        _limits.append(0)
    try:
        yield
    finally:
        with _NOTING:
            _limits.pop()
            if len(_limits) == 1:
                config.traceback__limit = _limits.pop()
