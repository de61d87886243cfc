"""Work for a page that goes on while the kernel hears what is asked next, and can be given up.

>>> work = Work()
>>> begin(lambda: draw(loop, order=6), work, print)  # in an event loop; this returns at once
>>> work.give_up()  # and nothing is printed

Where there is no event loop nobody can ask for anything meanwhile, and the work is done at once.
"""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from contextvars import copy_context
from threading import Lock, RLock, Thread
from typing import TypeVar

from lab.progress import Interrupted, watch_work

T = TypeVar("T")
GLANCE = 0.001  # seconds; enough for a thread that waits to wake up
TURN = 0.02  # seconds of work between two glances, if others wait


class Turns:
    """One piece of work at a time in the whole process: drawing libraries have settings in common.

    A long piece lets those that wait go first whenever it pauses.
    """

    def __init__(self) -> None:
        self._turn, self._count, self._waiting = RLock(), Lock(), 0
        self._since = 0.0  # when the present turn began

    def __enter__(self) -> None:
        with self._count:
            self._waiting += 1
        try:
            self._turn.acquire()
            self._since = time.monotonic()
        finally:
            with self._count:
                self._waiting -= 1

    def __exit__(self, *_: object) -> None:
        with suppress(RuntimeError):  # a person interrupted the wait for the next turn
            self._turn.release()

    def pause(self) -> None:
        """Let others go first, if there are any; whoever did waits like them for another turn."""
        if self._waiting and time.monotonic() - self._since > TURN:
            self._turn.release()
            time.sleep(GLANCE)
            self.__enter__()


TURNS = Turns()


class Work:
    """A piece of work that can be given up, from any thread."""

    def __init__(self) -> None:
        self.wanted = True

    def give_up(self) -> None:
        """Let it end without effect, soon."""
        self.wanted = False

    def pause(self) -> None:
        """Called again and again by the work; raises Interrupted if it was given up."""
        if self.wanted:
            TURNS.pause()
        if not self.wanted:
            raise Interrupted

    def do(self, make: Callable[[], T]) -> T:
        """What `make` returns; Interrupted if that is not wanted any more."""
        with TURNS, watch_work(self.pause):
            self.pause()
            return make()


def outcome_of(make: Callable[[], T]) -> Future[T]:
    """What came of a piece of work: a result, or what it raised."""
    outcome = Future[T]()
    try:
        outcome.set_result(make())
    except BaseException as error:
        outcome.set_exception(error)
    return outcome


def is_in_loop() -> bool:
    """Whether an event loop runs, in which a thread can tell what it has done."""
    with suppress(RuntimeError):
        return bool(asyncio.get_running_loop())
    return False


def begin(
    make: Callable[[], T], work: Work, done: Callable[[Future[T]], None], after: float = 0
) -> None:
    """Have `make` worked on in a thread of its own, and `done` called in this one at the end.

    It begins `after` so many seconds, unless it was given up before.

    `done` is called with the outcome, unless the work was given up before.  The thread has the
    context of the caller, so that what is printed and sent belongs to the same cell.
    """
    if not is_in_loop():
        done(outcome_of(lambda: work.do(make)))
        return
    loop = asyncio.get_running_loop()
    context = copy_context()

    def tell(outcome: Future[T]) -> None:
        if work.wanted:
            done(outcome)

    def run() -> None:
        time.sleep(after)
        outcome = outcome_of(lambda: context.copy().run(work.do, make))
        if work.wanted:
            with suppress(RuntimeError):  # the loop has ended, and the page with it
                loop.call_soon_threadsafe(tell, outcome, context=context)

    Thread(target=run, name="workbench", daemon=True).start()
