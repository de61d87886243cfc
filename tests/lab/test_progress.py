"""Interrupt the engine at each of its pauses."""

import contextlib
import io
import sys
import warnings

import pytest

import lab
import visual
from lab.gradients.derivative import ManyScansWarning
from lab.loops import gallery
from lab.progress import Interrupted, Progress, hide_progress, is_watched, watch_work


def pauses_of(make, most=None):
    """Return the number of pauses of some work; interrupt the work after `most` pauses."""
    count = 0

    def watch():
        nonlocal count
        count += 1
        if most is not None and count > most:
            raise Interrupted

    with contextlib.suppress(Interrupted), watch_work(watch):
        make()
        assert most is None
    return count


def rnn():
    """A new loop, which no cache knows."""
    return gallery.loops["rnn"].with_steps(4)


WORKS = {
    "a run": lambda: rnn().trace(order=0),
    "derivatives": lambda: rnn().derivative(2),
    "a picture": lambda: visual.draw(rnn(), "tapes", order=1),
    "a broken rule": lambda: lab.break_rule(gallery.loops["square"], "swapped-taps", 1),
}


@pytest.mark.parametrize("name", WORKS)
def test_work_can_be_given_up_at_every_pause(name):
    pauses = pauses_of(WORKS[name])
    assert pauses > 5
    for most in (0, pauses // 2, pauses - 1):
        assert pauses_of(WORKS[name], most) == most + 1
    assert not is_watched()


def test_who_watches_is_not_warned_and_sees_no_bar(capsys, monkeypatch):
    monkeypatch.setattr("lab.gradients.derivative.MANY_SCANS", 2)
    graph = gallery.loops["square"].build()
    cost = graph.outputs["x"][-1]
    with pytest.warns(ManyScansWarning):
        lab.derivative(cost, graph.inputs["x"], 1)
    for watch in (watch_work(lambda: None), hide_progress()):
        with warnings.catch_warnings(), watch:
            warnings.simplefilter("error")
            lab.derivative(cost, graph.inputs["x"], 1)
            with Progress(delay=-1.0) as bar:
                assert list(bar.steps("loop", 200)) == list(range(200))
    assert capsys.readouterr().err == ""


def test_one_bar_for_all_loops_of_a_run(monkeypatch):
    made = []
    monkeypatch.setattr("lab.progress._stream", lambda: sys.stderr)
    monkeypatch.setattr("tqdm.tqdm", lambda **how: made.append(Bar(**how)) or made[0])
    progress = Progress(delay=-1.0)
    progress.expect(3)
    for name in ("scan", "grad_of_scan", "grad_of_" * 20):
        for _ in progress.steps(name, 100):
            assert list(progress.steps("a loop inside the step", 2)) == [0, 1]
    (bar,) = made
    assert bar.total == 3
    assert bar.seen == sorted(bar.seen)
    assert bar.seen[-1] > 2.5
    assert max(map(len, bar.names)) <= 24


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_log_file_gets_no_bar(monkeypatch, is_terminal):
    screen = io.StringIO()
    monkeypatch.setattr(screen, "isatty", lambda: is_terminal, raising=False)
    monkeypatch.setattr(sys, "stderr", screen)
    with Progress(delay=-1.0) as bar:
        bar.expect(1)
        list(bar.steps("loop", 200))
    assert bool(screen.getvalue()) == is_terminal


class Bar:
    """The messages to a bar of tqdm."""

    def __init__(self, desc, total, **how):
        self.n, self.total, self.seen, self.names = 0, total, [], [desc]

    def update(self, more):
        self.n += more
        self.seen.append(self.n)

    def set_description_str(self, name, refresh):
        self.names.append(name)
