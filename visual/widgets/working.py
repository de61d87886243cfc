"""Jobs that run in threads and can be canceled, while the kernel accepts messages.

>>> job = Job()
>>> begin(lambda: draw(loop, order=6), job, print)  # in an event loop; returns immediately
>>> job.cancel()  # and nothing is printed

Without an event loop, `begin` runs the job before it returns.
"""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from contextvars import copy_context
from threading import RLock, Thread
from typing import TypeVar

from lab.progress import Interrupted, watch_work

T = TypeVar("T")
WAKE_UP = 0.001  # seconds; enough for a waiting thread to continue
TURN = 0.02  # seconds before a job lets other threads run
TURNS = RLock()  # lets one job run at a time, because drawing libraries share settings


class Job:
    """A computation that takes turns with other jobs, and that any thread can cancel."""

    is_canceled = False
    _began = 0.0  # the time at which the present turn began

    def cancel(self) -> None:
        """Let the computation raise Interrupted at its next pause."""
        self.is_canceled = True

    def pause(self) -> None:
        """Let other threads run if the turn is over; raise Interrupted if the job is canceled."""
        if not self.is_canceled and time.monotonic() - self._began > TURN:
            TURNS.release()
            time.sleep(WAKE_UP)
            self._begin_turn()
        if self.is_canceled:
            raise Interrupted

    def run(self, compute: Callable[[], T]) -> T:
        """Return the result of `compute`; raise Interrupted if the job is canceled."""
        self._begin_turn()
        try:
            with watch_work(self.pause):
                self.pause()
                return compute()
        finally:
            with suppress(RuntimeError):  # the wait for the next turn was interrupted
                TURNS.release()

    def _begin_turn(self) -> None:
        TURNS.acquire()
        self._began = time.monotonic()


def event_loop() -> asyncio.AbstractEventLoop | None:
    """Return the event loop that runs in this thread, or None."""
    with suppress(RuntimeError):
        return asyncio.get_running_loop()
    return None


def begin(
    compute: Callable[[], T], job: Job, on_end: Callable[[Future[T]], None], delay: float = 0
) -> None:
    """Run `compute` in a new thread after `delay` seconds, then `on_end` in the calling thread.

    `on_end` receives the finished Future, unless the job is canceled. Without an event loop, both
    run in the calling thread. `compute` runs in a copy of the caller's context: its output appears
    below the cell of the caller.
    """
    loop, outcome, context = event_loop(), Future[T](), copy_context()

    def finish() -> None:
        if not job.is_canceled:
            on_end(outcome)

    def work() -> None:
        time.sleep(delay)
        try:
            outcome.set_result(context.copy().run(job.run, compute))
        except BaseException as error:
            outcome.set_exception(error)
        if loop is None:
            finish()
        else:
            with suppress(RuntimeError):  # the event loop has ended
                loop.call_soon_threadsafe(finish, context=context)

    if loop is None:
        work()
    else:
        Thread(target=work, name="workbench", daemon=True).start()
