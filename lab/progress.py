"""How far a long run has come, and how it is given up.

>>> with watched(pause):  # pause() is called again and again, and may raise Interrupted
...     lab.trace(outputs, given)

A person who waits sees a bar, and can interrupt the kernel.  A program that lets the engine
work on something watches it instead: `pause` is called at every step of a loop, every node of
a graph and every phase of a derivative, and ends the work by raising `Interrupted`.  Nothing
that was only half done is kept.
"""

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, TextIO, TypeVar

if TYPE_CHECKING:
    from tqdm import tqdm

T = TypeVar("T")
_watching: ContextVar[Callable[[], None] | None] = ContextVar("watching", default=None)


class Interrupted(BaseException):
    """Work was given up by the one who watched it.

    No Exception, so that nobody who makes the best of errors takes it for one.
    """


@contextmanager
def set_context(variable: ContextVar[T], value: T) -> Iterator[None]:
    """Have a variable of the thread, or of the asynchronous task, hold a value meanwhile."""
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


def watch_work(pause: Callable[[], None]) -> AbstractContextManager[None]:
    """Call `pause` often during the work inside, which then shows no bar and warns of no wait.

    This holds for the thread, or the asynchronous task, that enters.
    """
    return set_context(_watching, pause)


def hide_progress() -> AbstractContextManager[None]:
    """Show no bar and warn of no wait during the work inside; who watches, watches on."""
    return watch_work(_watching.get() or _nothing)


def is_watched() -> bool:
    """Whether somebody watches the present work, and can end it."""
    return _watching.get() is not None


def pause() -> None:
    """Let the one who watches, if there is one, end the work here."""
    watcher = _watching.get()
    if watcher is not None:
        watcher()


def _nothing() -> None:
    """Nobody watches."""


NAME = 24  # letters of a loop's name


def progress_bar(items: Iterable[T], name: str, unit: str, total: int | None = None) -> Iterable[T]:
    """The items, shown as they pass, past a second; not where there is no tqdm."""
    try:
        from tqdm import tqdm  # only who does much pays for the import
    except ImportError:
        return items
    return tqdm(items, name, total, unit=unit, leave=False, delay=1, file=_stream())


def _stream() -> TextIO:
    """Where a bar stands: on standard error, which a notebook paints red."""
    return sys.stdout if "ipykernel" in sys.modules else sys.stderr


class Progress:
    """One bar for all loops of a run that nobody watches, past a second.

    Each of the loops is as much of it as any other; what loops inside a step do is theirs.
    """

    def __init__(self, delay: float = 1.0) -> None:
        self.total, self.done, self.inside = 0, 0, 0
        self.started, self.delay = time.monotonic(), delay
        self.bar: tqdm | None = None

    def expect(self, loops: int) -> None:
        """There will be so many loops more."""
        self.total += loops if not self.inside else 0

    def steps(self, name: str, total: int) -> Iterator[int]:
        """0 … total-1, shown as they pass."""
        watcher = _watching.get()
        self.inside += 1
        try:
            for step in range(total):
                if watcher is not None:
                    watcher()
                elif step % 64 == 0 and time.monotonic() - self.started > self.delay:
                    self._show(name, step / total if self.inside == 1 else 0)
                yield step
        finally:
            self.inside -= 1
        self.done += not self.inside

    def _show(self, name: str, part: float) -> None:
        try:
            from tqdm import tqdm  # only a run that takes long pays for the import
        except ImportError:
            return
        if self.bar is None:
            looks = "{desc}: {percentage:3.0f}%|{bar}| {elapsed}<{remaining}"
            about = {"desc": name[:NAME], "total": self.total, "bar_format": looks}
            self.bar = tqdm(**about, leave=False, file=_stream())
        self.bar.total = self.total
        self.bar.set_description_str(name[:NAME], refresh=False)
        self.bar.update(max(0, min(self.done + part, self.total) - self.bar.n))

    def close(self) -> None:
        """Take the bar off the screen."""
        if self.bar is not None:
            self.bar.close()

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_: object) -> None:
        """Take the bar off the screen."""
        self.close()
