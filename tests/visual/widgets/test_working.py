"""A task in a thread or in a workbench can be canceled."""

import asyncio
import threading
import time
from functools import wraps

import pytest

import visual
from lab.errors import ArgumentError
from lab.loops import gallery
from lab.progress import pause
from visual.drawing import draw, study
from visual.widgets.working import TURNS, Job, begin
from visual.workbench import controls, state, workbench
from visual.workbench.workbench import Workbench

TIMEOUT = 60


# In a thread


def run_in_event_loop(test):
    """Return a test that runs the coroutine `test` in an event loop, at most for a minute."""

    @wraps(test)
    def run(**arguments):
        asyncio.run(asyncio.wait_for(test(**arguments), TIMEOUT))

    return run


def running_threads():
    return [thread for thread in threading.enumerate() if thread.name == "workbench"]


async def until(condition):
    while not condition():
        await asyncio.sleep(0.002)


def endless(started):
    started.set()
    while True:
        pause()
        time.sleep(0.001)


@run_in_event_loop
async def test_a_job_that_lets_an_endless_job_run_ends():
    """The first job lets the second run, which never ends; nevertheless the first ends."""
    started, second, long, results = threading.Event(), threading.Event(), Job(), []

    def first():
        started.set()
        while not second.is_set():  # until the second job runs
            pause()
        for _ in range(100):
            pause()
        return "first"

    begin(first, Job(), lambda outcome: results.append(outcome.result()))
    await until(started.is_set)
    begin(lambda: endless(second), long, results.append)
    try:
        await asyncio.wait_for(until(lambda: results), TIMEOUT / 2)
    finally:
        long.cancel()
    assert results == ["first"]
    await until(lambda: not running_threads())
    with TURNS:
        pass


# In a workbench


async def bench_with_endless_work(monkeypatch):
    """Replace the drawing at order 3 with endless work; return a workbench that runs this work."""
    begun, draw, bench = threading.Event(), state.draw_study, Workbench(view="tapes")

    def drawn(study, *chosen):
        return endless(begun) if study.order == 3 else draw(study, *chosen)

    monkeypatch.setattr("visual.workbench.state.draw_study", drawn)
    bench.receive({"number": 1, "key": ["order"], "value": 3})
    await until(begun.is_set)
    assert (bench.state.order, bench.form["answered"]) == (1, -1)
    return bench


@run_in_event_loop
async def test_a_change_cancels_the_previous_request(monkeypatch):
    shown, bench = [], await bench_with_endless_work(monkeypatch)
    bench.observe(lambda _: shown.append(bench.state), "svg")
    bench.receive({"number": 2, "key": ["order"], "value": 2})
    await until(lambda: bench.form["answered"] == 2)
    assert bench.svg == visual.draw(gallery.loops["square"], "tapes", order=2).svg()
    assert [state.order for state in shown] == [2]
    assert bench.form["problem"]["text"] == ""


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        ({"key": ["cancel"], "value": None}, ""),
        ({"key": ["steps"], "value": "none"}, "steps = 'none': expected an integer"),
    ],
)
@run_in_event_loop
async def test_a_canceled_request_changes_nothing(message, problem, monkeypatch):
    bench = await bench_with_endless_work(monkeypatch)
    before = (bench.state, bench.svg)
    bench.receive({"number": 2, **message})
    assert bench.form["answered"] == 2
    assert problem in bench.form["problem"]["text"]
    assert bool(problem) == bool(bench.form["problem"]["text"])
    await until(lambda: not running_threads())
    assert (bench.state, bench.svg) == before


@run_in_event_loop
async def test_a_choice_from_python_cancels_a_request(monkeypatch):
    bench = await bench_with_endless_work(monkeypatch)
    bench.set(taps={"x": (-2,)})
    assert (bench.state.order, dict(bench.state.taps)) == (1, {"x": (-2,)})
    assert bench.form["answered"] == 1
    bench.receive({"number": 2, "key": ["order"], "value": 3})
    with pytest.raises(ArgumentError):
        bench.set(order=99)
    assert bench.form["answered"] == 2


@run_in_event_loop
async def test_another_workbench_does_not_wait(monkeypatch):
    bench = await bench_with_endless_work(monkeypatch)
    other = Workbench(gallery.loops["gap"], view="tapes")
    other.receive({"number": 1, "key": ["order"], "value": 2})
    await until(lambda: other.form["answered"] == 1)
    assert other.state.order == 2
    assert bench.form["answered"] == -1
    bench.close()
    await until(lambda: not running_threads())


# Probable next choices

ASKED = [(["steps"], 6), (["order"], 2), (["order"], 1), (["loop"], "gap"), (["loop"], "square")]
PROBABLE = [(["taps", "x"], [-2, -1]), (["taps", "x"], [-1]), (["steps"], 5)]


def test_pictures_drawn_ahead_equal_pictures_drawn_on_request(monkeypatch):
    monkeypatch.setattr(controls, "SLOW", TIMEOUT)  # a busy computer also draws all pictures
    bench = Workbench(gallery.loops["square"], view="tapes")

    async def look():
        bench.is_shown = True
        await until(lambda: not bench._job.is_canceled and not running_threads())

    def pictures():
        return [bench.receive({"number": 0, "key": k, "value": v}) or bench.svg for k, v in ASKED]

    forget()
    run_in_event_loop(look)()
    misses = draw._draw_study.cache_info().misses
    for key, value in PROBABLE:
        bench.receive({"number": 0, "key": key, "value": value})
    assert draw._draw_study.cache_info().misses == misses
    ahead = pictures()
    forget()
    assert pictures() == ahead
    assert len({*ahead}) == len(ASKED) - 1  # one request returns to an earlier state


@run_in_event_loop
async def test_a_request_interrupts_drawing_ahead(monkeypatch):
    bench = Workbench(gallery.loops["square"], view="tapes")
    started = threading.Event()
    monkeypatch.setattr(workbench, "draw_ahead", lambda *_: endless(started))
    bench.is_shown = True
    await until(started.is_set)
    bench.receive({"number": 1, "key": ["order"], "value": 2})
    await until(lambda: bench.state.order == 2)
    bench.close()
    await until(lambda: not running_threads())


def forget():
    for cache in (draw._draw_study, study._study_of_loop, study._cached_graph):
        cache.cache_clear()
