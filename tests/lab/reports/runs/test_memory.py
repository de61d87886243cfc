"""`lab.memory`, compared with NumPy's allocations, simulated schedules, and dynamic programs."""

import subprocess
import sys
from functools import cache
from itertools import product

import numpy as np
import pytensor.tensor as pt
import pytest
from fuzzing.outcomes import error_test
from pytensor.scan.checkpoints import scan_checkpoints
from twins import assert_twin

import lab
import visual
from lab import gallery
from lab.errors import KindError
from lab.reports.runs.memory import binomial, every

ENTRIES, STEPS = 2_000, 40


ALLOCATED = """
import sys, tracemalloc
import numpy as np, pytensor, pytensor.tensor as pt
import lab

entries, steps = map(int, sys.argv[1:])
h = lab.State("h", np.linspace(-1, 1, entries))
for order in (0, 1, 2):
    derivative = lab.Loop(lambda h: pt.tanh(h), (h,), n_steps=steps).derivative(order)
    inputs, outputs = list(derivative.given), list(derivative.values)
    function = pytensor.function(inputs, outputs, mode="FAST_COMPILE", on_unused_input="ignore")
    function(*derivative.given.values())
    tracemalloc.start()
    function(*derivative.given.values())
    print(tracemalloc.get_traced_memory()[1])
    tracemalloc.stop()
"""


def test_the_peak_equals_the_allocations_of_numpy():
    # tracemalloc counts allocations of all threads, and a new process has a single thread.
    command = [sys.executable, "-c", ALLOCATED, str(ENTRIES), str(STEPS)]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    h = lab.State("h", np.linspace(-1, 1, ENTRIES))
    loop = lab.Loop(lambda h: pt.tanh(h), (h,), n_steps=STEPS)
    for order, allocated in enumerate(map(int, result.stdout.split())):
        report = lab.memory(lab.trace(loop.derivative(order)))
        assert report.peak == pytest.approx(allocated, rel=0.1)
        incomplete = report.peak - report.buffers[0].bytes
        assert abs(incomplete - allocated) > 0.1 * allocated  # a missing buffer is detected


def simulate(actions, steps, reach=1):
    """Check a schedule action by action; return the peak number of values, and the work.

    A state has `reach` values; adjacent states share values.
    """
    saved, current, peak, work, remaining = set(), 0, 0, 0, steps
    for action, number in actions:
        if action == "keep":
            assert number == current
            saved.add(number)
        elif action == "restore":
            assert number in saved
            current = number
        elif action == "forward":
            assert number == current
            current, work = number + 1, work + 1
        elif action == "back":
            assert number == remaining - 1
            assert number in saved or number in (current, current - 1)
            remaining, work = number, work + 1
        else:
            saved.remove(number)
        peak = max(peak, len({n + k for n in saved for k in range(reach)}))
    assert (remaining, saved) == (0, set())
    return peak, work


@cache
def fewest(length, count):
    """Return the minimum number of forward steps with `count` saved states, for any schedule."""
    if length <= 1:
        return 0
    if count == 1:
        return length * (length - 1) // 2
    distances = range(1, length)
    return min(n + fewest(length - n, count - 1) + fewest(n, count) for n in distances)


@pytest.mark.parametrize(("steps", "count"), [*product((1, 2, 3, 7, 10, 21, 40), (1, 2, 3, 5, 8))])
def test_a_binomial_schedule_has_the_least_work(steps, count):
    peak, work = simulate(binomial(steps, count), steps)
    assert peak <= count
    assert work == fewest(steps, count) + 1 + steps  # one more forward step, to the end


@pytest.mark.parametrize(("steps", "k"), [*product((1, 2, 5, 12, 13), (1, 2, 3, 5, 20))])
def test_every_kth_state_is_enough(steps, k):
    peak, work = simulate(every(steps, k), steps)
    recomputed = sum(min(k, steps - start) - 1 for start in range(0, steps, k))
    assert work == 2 * steps + recomputed
    assert peak <= -(-steps // k) + k - 1


def test_the_simulator_detects_wrong_schedules():
    schedule = list(every(6, 3))
    for wrong in (schedule[1:], schedule[:-1], [a for a in schedule if a[0] != "restore"]):
        with pytest.raises((AssertionError, KeyError)):
            simulate(wrong, 6)


def test_plans_have_the_figures_of_their_schedules():
    report = lab.memory(gallery.loops["logistic"].with_steps(64).trace())
    assert report.plans[0].peak == 64
    assert report.plans[0].work == 128
    figures = [simulate(every(64, k), 64) for k in range(1, 65)]
    assert (report.plans[1].peak, report.plans[1].work) == min(figures)
    assert report.plans[1].peak == 2 * 8 - 1  # about twice the square root of 64
    assert report.best.room <= 64 * 8 / 2
    cheaper = [p for p in report.plans if p.work < report.best.work]
    assert all(plan.room > 64 * 8 / 2 for plan in cheaper)


def test_checkpoints_of_pytensor():
    """Save every fourth of 12 states; the backward step recomputes the states between."""
    x, w = pt.dscalar("x"), pt.dscalar("w")
    xs = scan_checkpoints(
        lambda x, w: pt.sin(x) * w, [], [x], [w], n_steps=12, save_every_N=4, return_updates=False
    )
    trace = lab.trace(lab.derivative(xs[-1], x), {x: 0.5, w: 1.1})
    state, slope = 0.5, 1.0
    for _ in range(12):
        state, slope = np.sin(state) * 1.1, slope * np.cos(state) * 1.1
    np.testing.assert_allclose(trace.outputs, [state, slope], rtol=1e-12)
    steps = [[scan.steps for scan in inner.scans] for inner in trace.scans[1].nested]
    assert steps == [[4, 4]] * 3  # the repeated forward loop, and the backward loop
    marks = [number for action, number in every(12, 4) if action == "keep"][:3]
    (states,) = (b for b in lab.memory(trace).buffers if b.last > b.first)
    assert states.bytes == 8 * (len(marks) + 1)  # the marked states and the last state


def test_the_last_reader_of_a_buffer():
    report = lab.memory(gallery.loops["square"].trace(order=2))
    x = next(b for b in report.buffers if b.name == "x" and b.last > 1)
    assert (x.first, x.last, x.why) == (1, 4, "Scan 4 reads it")
    assert report.during(1) == 80  # 5 rows of 8 bytes, before and after


test_errors = error_test(
    (lambda: lab.memory(5), KindError, "trace = 5"),
    (lambda: lab.memory(gallery.loops["square"].trace(), scan=3), "scan = 3"),
)


def test_the_picture_has_buffers_and_plans():
    assert_twin("memory-rnn-2", visual.memory(lab.memory(gallery.loops["rnn"].trace(order=2))))
    parts = {*visual.draw(gallery.loops["logistic"], "memory").svg().split(">")}
    assert {"dC/dr</text", "every 2 steps</text", "binomial, 4 kept</text"} <= parts


def test_states_share_values():
    """With taps −3 and −1 a state has three values; a value of several states counts once."""
    steps, reach = 12, 3
    report = lab.memory(gallery.loops["gap"].with_steps(steps).trace())
    assert report.state == reach * 8
    assert report.plans[0].room == (steps + reach - 1) * 8
    plan = report.plans[1]
    peak, _ = simulate(every(steps, int(plan.name.split()[1])), steps, reach)
    assert plan.room == peak * 8
