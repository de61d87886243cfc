"""Compiled Scans that are run in stretches: the same bits, and an end when somebody interrupts."""

import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytensor
import pytest
from pytensor.compile.mode import Mode, get_mode

from lab import gallery, progress
from lab.progress import Interrupted, Progress, watched
from lab.scans import stretches
from lab.scans.stretches import compiled_in_stretches

MODES = {"as it stands": "FAST_COMPILE", "rewritten": Mode("py", "fast_run")}
CASES = [("gap", 2), ("coupled", 1), ("rnn", 1), ("delay", 1), ("extra", 1), ("window", 1)]
CASES += [("walk", 1), ("lookup", 1)]


@pytest.fixture
def short(monkeypatch):
    """Stretches as short as can be."""
    monkeypatch.setattr(progress, "SHORTEST", 1)
    monkeypatch.setattr(progress, "STRETCH", 0.0)


def both(name, order, mode):
    """What a derivative, and its whole gradient, come to in stretches, and as PyTensor does it."""
    derivative = gallery.loops[name].derivative(order)
    outputs = [*derivative.values, *derivative.values[1].owner.inputs[:1]]
    inputs, values = list(derivative.given), list(derivative.given.values())
    ours = compiled_in_stretches(inputs, outputs, get_mode(mode))
    theirs = pytensor.function(inputs, outputs, mode=mode, on_unused_input="ignore")
    return ours(*values), theirs(*values)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("name", "order"), CASES)
def test_stretches_leave_the_same_bits(short, name, order, mode):
    ours, theirs = both(name, order, MODES[mode])
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(one, other)


def test_what_is_not_carried_over_is_seen(short, monkeypatch):
    cut = stretches._Held.cut
    monkeypatch.setattr(stretches._Held, "cut", lambda self, first, count: cut(self, 0, count))
    ours, theirs = both("gap", 1, "FAST_COMPILE")
    assert not np.array_equal(ours[0], theirs[0])


def test_stretches_cover_all_steps_and_grow(monkeypatch):
    for total, least in ((0, 1), (1, 1), (1000, 1), (1000, 300), (5, 9)):
        found = list(Progress().stretches("loop", total, least))
        assert [first for first, _ in found] == [0, *np.cumsum([n for _, n in found])[:-1]]
        assert sum(count for _, count in found) == total
        assert all(count >= min(least, total) for _, count in found)
    assert all(b >= 2 * a for a, b in pairwise(n for _, n in list(found)[:-1]))


def test_who_watches_ends_a_compiled_run():
    derivative = gallery.loops["square"].with_steps(2_000).derivative(1)
    looked = []

    def watch():
        looked.append(None)
        if len(looked) == 4:
            raise Interrupted

    function = compiled_in_stretches(
        list(derivative.given),
        list(derivative.values),
        pytensor.compile.mode.get_mode("FAST_COMPILE"),
    )
    whole = function(*derivative.given.values())
    with pytest.raises(Interrupted), watched(watch):
        function(*derivative.given.values())
    assert len(looked) == 4
    assert function(*derivative.given.values()) == whole  # nothing is left behind


INTERRUPTED = """
import os, signal, sys, threading, time
import lab
from lab import gallery
from lab.scans import stretches
kill, run = threading.Event(), stretches.InStretches._run
def interrupt():
    kill.wait()
    time.sleep(0.5)
    at.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)
at = []
def begun(*arguments):
    kill.set()
    return run(*arguments)
signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell's background leaves out
derivative = gallery.loops["logistic"].with_steps({steps}).derivative(1)
lab.trace(derivative, keep="last", backend={backend!r}) if {warm} else None
stretches.InStretches._run = begun
usual = signal.getsignal(signal.SIGINT)
thread = threading.Thread(target=interrupt)
thread.start()
try:
    lab.trace(derivative, keep="last", backend={backend!r})
except KeyboardInterrupt:
    assert signal.getsignal(signal.SIGINT) is usual
    print(time.monotonic() - at[0])
thread.join()
"""


def test_ctrl_c_ends_a_compiled_run_at_once():
    code = INTERRUPTED.format(steps=1_000_000, backend="FAST_COMPILE", warm=False)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert float(done.stdout or "inf") < 2, done.stderr  # on a busy machine
