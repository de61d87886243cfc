"""Build graphs without recording source lines."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from pytensor import config

# While a thread is inside: the original value of the flag, then an entry for each thread.
_LOCK = Lock()
_limits: list[int] = []


@contextmanager
def without_backtraces() -> Iterator[None]:
    """Context manager: build variables without recording the source lines that create them.

    The source lines of internal graphs are of no use, and recording them takes a third of the
    time. PyTensor has one flag for all threads: the last thread to leave restores it.
    """
    with _LOCK:
        if not _limits:
            _limits.append(config.traceback__limit)
            config.traceback__limit = 0
        _limits.append(0)
    try:
        yield
    finally:
        with _LOCK:
            _limits.pop()
            if len(_limits) == 1:
                config.traceback__limit = _limits.pop()
