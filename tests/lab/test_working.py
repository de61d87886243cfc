"""Work that is given up: in the engine, in a thread, and on a workbench."""

import asyncio
import sys
import threading
import time
import warnings

import pytest

import lab
import visual
from lab.errors import GradientError
from lab.loops import gallery
from lab.progress import Interrupted, Progress, is_watched, pause, quietly, watched
from visual.widgets.working import TURNS, Work, begin
from visual.workbench.workbench import Workbench

PATIENCE = 60


def counting(most=None):
    """A watcher that counts, and interrupts after so many pauses."""
    counted = []

    def watch():
        counted.append(None)
        if most is not None and len(counted) > most:
            raise Interrupted

    return counted, watch


def worked(make):
    counted, watch = counting()
    with watched(watch):
        made = make()
    return len(counted), made


def rnn():
    """A loop of its own, of which nothing is remembered."""
    return gallery.loops["rnn"].with_steps(4)


WORKS = {
    "a run": lambda: rnn().trace(order=0),
    "derivatives": lambda: rnn().derivative(2),
    "a picture": lambda: visual.draw(rnn(), "tapes", order=1),
    "a broken rule": lambda: lab.break_rule(gallery.loops["square"], "swapped-taps", 1),
}


@pytest.mark.parametrize("name", WORKS)
def test_work_can_be_given_up_at_every_pause(name):
    pauses, _ = worked(WORKS[name])
    assert pauses > 5
    for most in (0, pauses // 2, pauses - 1):
        counted, watch = counting(most)
        with pytest.raises(Interrupted), watched(watch):
            WORKS[name]()
        assert len(counted) == most + 1
    assert not is_watched()


def test_every_step_of_a_long_loop_is_a_pause():
    loop = gallery.loops["square"]
    short, long = (worked(lambda n=n: loop.with_steps(n).trace(order=1))[0] for n in (10, 110))
    assert long - short == 2 * 100  # forwards and backwards


def test_what_was_given_up_is_right_when_it_is_asked_for_again():
    loop, (_, watch) = rnn(), counting(60)
    with pytest.raises(Interrupted), watched(watch):
        visual.draw(loop, "tapes", order=2)
    assert visual.draw(loop, "tapes", order=2).svg() == visual.draw(rnn(), order=2).svg()


def test_who_watches_is_not_warned_and_sees_no_bar(capsys, monkeypatch):
    monkeypatch.setattr(sys.modules["lab.derivative"], "MANY_SCANS", 2)
    graph = gallery.loops["square"].build()
    cost = graph.outputs["x"][-1]
    with pytest.warns(lab.gradients.derivative.ManyScansWarning):
        lab.derivative(cost, graph.inputs["x"], 1)
    for watch in (watched(lambda: None), quietly()):
        with warnings.catch_warnings(), watch:
            warnings.simplefilter("error")
            lab.derivative(cost, graph.inputs["x"], 1)
            bar = Progress(delay=-1.0)
            assert list(bar.steps("loop", 200)) == list(range(200))
            bar.close()
    assert capsys.readouterr().err == ""


def test_being_quiet_keeps_the_one_who_watches():
    counted, watch = counting()
    with watched(watch), quietly():
        pause()
    pause()
    assert len(counted) == 1


def test_one_thread_is_watched_and_not_another():
    found = []
    with watched(lambda: None):
        thread = threading.Thread(target=lambda: found.append(is_watched()))
        thread.start()
        thread.join()
    assert found == [False]


# in a thread


def in_a_loop(play):
    """Run `play(loop)` where a page would be heard; fail if it never ends."""

    async def main():
        await asyncio.wait_for(play(), PATIENCE)

    asyncio.run(main())


async def until(condition):
    while not condition():
        await asyncio.sleep(0.002)


def test_work_is_done_at_once_where_nobody_can_ask_meanwhile():
    found = []
    begin(lambda: threading.current_thread(), Work(), lambda outcome: found.append(outcome.get()))
    assert found == [threading.current_thread()]


def test_work_goes_on_in_a_thread_and_is_told_in_this_one():
    found = []

    async def play():
        begin(
            lambda: (threading.current_thread(), is_watched()),
            Work(),
            lambda outcome: found.append((outcome.get(), threading.current_thread())),
        )
        assert found == []
        await until(lambda: found)

    in_a_loop(play)
    (((there, was_watched), here),) = found
    assert was_watched
    assert there is not here
    assert here is threading.current_thread()


def test_an_error_arrives():
    async def play():
        found = []

        def fail():
            raise GradientError("no")

        begin(fail, Work(), found.append)
        await until(lambda: found)
        with pytest.raises(GradientError, match="no"):
            found[0].get()

    in_a_loop(play)


def endless(started):
    def make():
        started.set()
        while True:
            pause()
            time.sleep(0.001)

    return make


def test_what_is_given_up_ends_and_is_not_told():
    async def play():
        started, work, found = threading.Event(), Work(), []
        begin(endless(started), work, found.append)
        await until(started.is_set)
        (thread,) = [t for t in threading.enumerate() if t.name == "workbench"]
        work.give_up()
        await until(lambda: not thread.is_alive())
        assert found == []

    in_a_loop(play)


def test_long_work_lets_others_go_first():
    async def play():
        started, long, found = threading.Event(), Work(), []
        begin(endless(started), long, found.append)
        await until(started.is_set)
        begin(lambda: "short", Work(), lambda outcome: found.append(outcome.get()))
        await until(lambda: found)
        assert Work().do(lambda: "from a cell") == "from a cell"
        assert found == ["short"]
        long.give_up()

    in_a_loop(play)
    with TURNS:
        pass


def test_who_let_others_go_first_has_another_turn():
    """The first piece gives way to the second, which never ends; the first ends all the same."""

    async def play():
        started, second, long, found = threading.Event(), threading.Event(), Work(), []

        def first():
            started.set()
            while not second.is_set():  # until it has given way
                pause()
            for _ in range(100):
                pause()
            return "first"

        begin(first, Work(), lambda outcome: found.append(outcome.get()))
        await until(started.is_set)
        begin(endless(second), long, found.append)
        try:
            await asyncio.wait_for(until(lambda: found), 5)
        finally:
            long.give_up()
        assert found == ["first"]

    in_a_loop(play)
    with TURNS:
        pass


# on a workbench


def slow(monkeypatch, order=3):
    """Pictures of an order that never are finished; how often one was begun."""
    begun, draw = [], visual.drawing.draw

    def drawn(loop, *args, **chosen):
        if chosen.get("order") != order:
            return draw(loop, *args, **chosen)
        begun.append(chosen)
        while True:
            pause()
            time.sleep(0.001)

    monkeypatch.setattr("visual.workbench.loop.draw", drawn)
    return begun


def answered(bench, number):
    return lambda: bench.form["answered"] == number


def test_the_next_change_gives_up_the_one_before(monkeypatch):
    async def play():
        begun, bench, shown = slow(monkeypatch), Workbench(), []
        bench.observe(lambda _: shown.append(bench.state), "svg")
        before = bench.svg
        bench.receive({"number": 1, "key": ["order"], "value": "3"})
        await until(lambda: begun)
        assert (bench.state.order, bench.svg, bench.form["answered"]) == (1, before, -1)
        bench.receive({"number": 2, "key": ["order"], "value": "2"})
        await until(answered(bench, 2))
        assert bench.svg == visual.draw(gallery.loops["square"], "unrolled", order=2).svg()
        assert [state.order for state in shown] == [2]
        assert bench.form["problem"]["text"] == ""

    in_a_loop(play)


def test_of_two_quick_changes_none_is_lost(monkeypatch):
    async def play():
        begun, bench = slow(monkeypatch), Workbench()
        bench.receive({"number": 1, "key": ["order"], "value": "3"})
        bench.receive({"number": 2, "key": ["taps", "x"], "value": [-2, -1]})
        await until(lambda: len(begun) > 0 and begun[-1]["taps"])
        bench.receive({"number": 3, "key": ["order"], "value": "0"})
        await until(answered(bench, 3))
        assert (bench.state.order, dict(bench.state.taps)) == (0, {"x": (-2, -1)})

    in_a_loop(play)


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        ({"cancel": True}, ""),
        ({"key": ["steps"], "value": "none"}, "steps = 'none': expected a whole number"),
    ],
)
def test_what_is_cancelled_leaves_all_as_it_was(message, problem, monkeypatch):
    async def play():
        begun, bench = slow(monkeypatch), Workbench()
        state, svg = bench.state, bench.svg
        bench.receive({"number": 1, "key": ["order"], "value": "3"})
        await until(lambda: begun)
        bench.receive({"number": 2, **message})
        assert bench.form["answered"] == 2
        assert problem in bench.form["problem"]["text"]
        assert bool(problem) == bool(bench.form["problem"]["text"])
        await until(lambda: not any(t.name == "workbench" for t in threading.enumerate()))
        assert (bench.state, bench.svg) == (state, svg)

    in_a_loop(play)


def test_python_comes_first(monkeypatch):
    async def play():
        begun, bench = slow(monkeypatch), Workbench()
        bench.receive({"number": 1, "key": ["order"], "value": "3"})
        await until(lambda: begun)
        bench.set(taps={"x": (-2,)})
        assert (bench.state.order, dict(bench.state.taps)) == (1, {"x": (-2,)})
        assert bench.form["answered"] == 1
        bench.receive({"number": 2, "key": ["order"], "value": "3"})
        with pytest.raises(lab.errors.ArgumentError):
            bench.set(order=99)
        assert bench.form["answered"] == 2

    in_a_loop(play)


def test_another_workbench_does_not_wait(monkeypatch):
    async def play():
        begun, one, other = slow(monkeypatch), Workbench(), Workbench(gallery.loops["gap"])
        one.receive({"number": 1, "key": ["order"], "value": "3"})
        await until(lambda: begun)
        other.receive({"number": 1, "key": ["order"], "value": "2"})
        await until(answered(other, 1))
        assert other.state.order == 2
        assert one.form["answered"] == -1
        one.close()
        await until(lambda: not any(t.name == "workbench" for t in threading.enumerate()))

    in_a_loop(play)


def test_a_mistake_in_a_thread_is_told(monkeypatch):
    async def play():
        seen = []
        asyncio.get_running_loop().set_exception_handler(lambda _, told: seen.append(told))
        bench = Workbench()
        monkeypatch.setattr("visual.workbench.loop.draw", lambda *_, **__: 1 / 0)
        bench.receive({"number": 1, "key": ["order"], "value": "2"})
        await until(lambda: seen)
        assert isinstance(seen[0]["exception"], ZeroDivisionError)
        assert "ZeroDivisionError" in bench.form["problem"]["text"]

    in_a_loop(play)
