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


def pauses_of(work, limit=None):
    """Return the number of pauses of some work; interrupt the work after `limit` pauses."""
    count = 0

    def watch():
        nonlocal count
        count += 1
        if limit is not None and count > limit:
            raise Interrupted

    with contextlib.suppress(Interrupted), watch_work(watch):
        work()
        assert limit is None
    return count


def rnn():
    """Return a new loop that no cache contains."""
    return gallery.loops["rnn"].with_steps(4)


WORKS = {
    "a run": lambda: rnn().trace(order=0),
    "derivatives": lambda: rnn().derivative(2),
    "a picture": lambda: visual.draw(rnn(), "tapes", order=1),
    "a faulty rule": lambda: lab.break_rule(gallery.loops["square"], "swapped-taps", 1),
}


@pytest.mark.parametrize("name", WORKS)
def test_work_can_be_interrupted_at_every_pause(name):
    WORKS[name]()  # fill the cache of formulas
    pauses = pauses_of(WORKS[name])
    assert pauses > 5
    for limit in (0, pauses // 2, pauses - 1):
        assert pauses_of(WORKS[name], limit) == limit + 1
    assert not is_watched()


def test_watched_work_shows_no_warning_and_no_bar(capsys, monkeypatch):
    monkeypatch.setattr("lab.gradients.derivative.MANY_SCANS", 2)
    graph = gallery.loops["square"].build()
    cost = graph.outputs["x"][-1]
    with pytest.warns(ManyScansWarning, match="about 2 Scans"):
        lab.derivative(cost, graph.inputs["x"], 1)
    for watch in (watch_work(lambda: None), hide_progress()):
        with warnings.catch_warnings(), watch:
            warnings.simplefilter("error")
            lab.derivative(cost, graph.inputs["x"], 1)
            with Progress(delay=-1.0) as bar:
                assert list(bar.steps("loop", 200)) == list(range(200))
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_log_file_gets_no_bar(monkeypatch, is_terminal):
    screen = io.StringIO()
    monkeypatch.setattr(screen, "isatty", lambda: is_terminal, raising=False)
    monkeypatch.setattr(sys, "stderr", screen)
    with Progress(delay=-1.0) as bar:
        bar.expect(1)
        list(bar.steps("loop", 200))
    assert bool(screen.getvalue()) == is_terminal
