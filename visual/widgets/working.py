"""Tasks that run in threads and can be canceled, while the kernel accepts messages.

>>> task = Task()
>>> begin(lambda: draw(loop, order=6), task, print)  # in an event loop; returns immediately
>>> task.cancel()  # and nothing is printed

Without an event loop, `begin` runs the task immediately.
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
WAKE_UP = 0.001  # seconds; enough for a waiting thread to continue
TURN = 0.02  # seconds of a turn while other threads wait


class Turns:
    """A lock for one task at a time in the process, because drawing libraries share settings.

    A long task lets the waiting ones run first whenever it calls `pause`.
    """

    def __init__(self) -> None:
        self._turn, self._count, self._waiting = RLock(), Lock(), 0
        self._since = 0.0  # the time at which the present turn started

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
        with suppress(RuntimeError):  # the wait for the next turn was interrupted
            self._turn.release()

    def pause(self) -> None:
        """Let waiting threads run first, then wait for the next turn."""
        if self._waiting and time.monotonic() - self._since > TURN:
            self._turn.release()
            time.sleep(WAKE_UP)
            self.__enter__()


TURNS = Turns()


class Job:
    """The state of a computation that any thread can cancel."""

    def __init__(self) -> None:
        self.is_canceled = False

    def cancel(self) -> None:
        """Let the computation raise Interrupted at its next pause."""
        self.is_canceled = True

    def pause(self) -> None:
        """Let other threads run; raise Interrupted if the task is canceled."""
        if not self.is_canceled:
            TURNS.pause()
        if self.is_canceled:
            raise Interrupted

    def run(self, compute: Callable[[], T]) -> T:
        """Return the result of `compute`; raise Interrupted if the task is canceled."""
        with TURNS, watch_work(self.pause):
            self.pause()
            return compute()


def outcome_of(compute: Callable[[], T]) -> Future[T]:
    """Return the result of `compute` or its exception, as a future."""
    outcome = Future[T]()
    try:
        outcome.set_result(compute())
    except BaseException as error:
        outcome.set_exception(error)
    return outcome


def is_in_loop() -> bool:
    """Return whether an event loop runs in this thread."""
    with suppress(RuntimeError):
        return bool(asyncio.get_running_loop())
    return False


def begin(
    compute: Callable[[], T], task: Job, done: Callable[[Future[T]], None], after: float = 0
) -> None:
    """Run `compute` in a new thread `after` some seconds, then `done` in this thread.

    `done` gets the outcome; a canceled task does not call it. The thread has the context of the
    caller, so that its output appears below the same cell.
    """
    if not is_in_loop():
        done(outcome_of(lambda: task.run(compute)))
        return
    loop = asyncio.get_running_loop()
    context = copy_context()

    def finish(outcome: Future[T]) -> None:
        if not task.is_canceled:
            done(outcome)

    def run() -> None:
        time.sleep(after)
        outcome = outcome_of(lambda: context.copy().run(task.run, compute))
        if not task.is_canceled:
            with suppress(RuntimeError):  # the event loop has ended
                loop.call_soon_threadsafe(finish, outcome, context=context)

    Thread(target=run, name="workbench", daemon=True).start()
