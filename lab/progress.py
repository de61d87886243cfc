"""Show the progress of a long run, and let a program interrupt it.

>>> with watch_work(pause):  # pause() is called repeatedly, and may raise Interrupted
...     lab.trace(outputs, given)

By default, a bar shows the progress.  A program can watch the work instead: the work calls `pause`
at every step of a loop, every node of a graph, and several times in a derivative.  To end the work,
`pause` raises `Interrupted`; partial results are discarded.
"""

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from tqdm import tqdm

T = TypeVar("T")
_watching: ContextVar[Callable[[], None] | None] = ContextVar("watching", default=None)


class Interrupted(BaseException):
    """A signal that the watching program ends the work.

    The class does not derive from Exception, so that handlers of errors do not catch the signal.
    """


@contextmanager
def set_context(variable: ContextVar[T], value: T) -> Iterator[None]:
    """Set a context variable to `value` during a block."""
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


def watch_work(pause: Callable[[], None]) -> AbstractContextManager[None]:
    """Call `pause` repeatedly during a block, and hide bars and warnings about long work.

    Only the current thread or asynchronous task is watched.
    """
    return set_context(_watching, pause)


def hide_progress() -> AbstractContextManager[None]:
    """Hide bars and warnings about long work during a block; still call the current watcher."""
    return watch_work(_watching.get() or (lambda: None))


def is_watched() -> bool:
    """Return whether a program watches the current work."""
    return _watching.get() is not None


def pause() -> None:
    """Call the watching program, if any; the program can raise `Interrupted`."""
    watcher = _watching.get()
    if watcher is not None:
        watcher()


NAME = 24  # largest length of the name of a loop in a bar


def progress_bar(items: Iterable[T], name: str, unit: str, total: int | None = None) -> Iterable[T]:
    """Yield the items; after one second, show a bar in a terminal or a notebook."""
    bar = _make_bar(iterable=items, desc=name, total=total, unit=unit, delay=1)
    return items if bar is None else bar


def _make_bar(**options: Any) -> "tqdm | None":
    """Return a tqdm bar; None without tqdm, or if no terminal or notebook shows it.

    A file or pipe would store every update of a bar.
    """
    if type(sys.stdout).__module__.startswith("ipykernel."):
        stream = sys.stdout  # a notebook colors standard error red
    elif sys.stderr is not None and sys.stderr.isatty():
        stream = sys.stderr
    else:
        return None
    try:
        from tqdm import tqdm  # imported late, because the import takes time
    except ImportError:
        return None
    return tqdm(**options, leave=False, file=stream)


class Progress(AbstractContextManager["Progress"]):
    """A progress bar for all loops of a run, which appears after `delay` seconds.

    Every loop fills an equal part of the bar, but loops inside a step fill none.  A watched run
    shows no bar.
    """

    def __init__(self, delay: float = 1.0) -> None:
        self.total, self.done, self.inside = 0, 0, 0
        self.started, self.delay = time.monotonic(), delay
        self.bar: tqdm | None = None

    def expect(self, loops: int) -> None:
        """Add `loops` to the expected number of loops, unless the loops are inside a step."""
        self.total += loops if not self.inside else 0

    def steps(self, name: str, total: int) -> Iterator[int]:
        """Yield the steps 0, …, total − 1 of a loop; call the watcher or update the bar."""
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
        if self.bar is None:
            looks = "{desc}: {percentage:3.0f}%|{bar}| {elapsed}<{remaining}"
            self.bar = _make_bar(desc=name[:NAME], total=self.total, bar_format=looks)
        if self.bar is None:
            return
        self.bar.total = self.total
        self.bar.set_description_str(name[:NAME], refresh=False)
        self.bar.update(max(0, min(self.done + part, self.total) - self.bar.n))

    def __exit__(self, *_: object) -> None:
        """Remove the bar from the screen."""
        if self.bar is not None:
            self.bar.close()
