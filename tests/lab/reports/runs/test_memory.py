"""Memory: what numpy allocates, and schedules that a simulator follows, beside dynamic programs."""

import tracemalloc
from functools import cache, partial
from itertools import product

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from pytensor.scan.checkpoints import scan_checkpoints
from twins import assert_twin

import lab
import visual
from lab import gallery
from lab.errors import ArgumentError, KindError
from lab.reports.runs.memory import binomial, every

ENTRIES, STEPS = 20_000, 40


@pytest.mark.parametrize("order", [0, 1, 2])
def test_so_many_bytes_are_allocated(order):
    """What numpy allocates at once while PyTensor runs the graph as it stands."""
    loop = lab.Loop(
        lambda h: pt.tanh(h), (lab.State("h", np.linspace(-1, 1, ENTRIES)),), n_steps=STEPS
    )
    derivative = loop.derivative(order)
    inputs, values = list(derivative.given), list(derivative.given.values())
    function = pytensor.function(
        inputs, list(derivative.values), mode="FAST_COMPILE", on_unused_input="ignore"
    )
    function(*values)
    tracemalloc.start()
    function(*values)
    allocated = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    told = lab.memory(lab.trace(derivative))
    assert told.peak == pytest.approx(allocated, rel=0.1)
    assert abs(told.peak - told.buffers[0].bytes - allocated) > 0.1 * allocated  # it would show


def followed(actions, steps):
    """What a schedule does, step by step: the most states that are kept, and the steps made."""
    kept, now, most, work, left = set(), 0, 0, 0, steps
    for what, number in actions:
        if what == "keep":
            assert number == now
            kept.add(number)
        elif what == "restore":
            assert number in kept
            now = number
        elif what == "forward":
            assert number == now
            now, work = number + 1, work + 1
        elif what == "back":
            assert number == left - 1
            assert number in kept or number in (now, now - 1)
            left, work = number, work + 1
        else:
            kept.remove(number)
        most = max(most, len(kept))
    assert (left, kept) == (0, set())
    return most, work


@cache
def fewest(length, count):
    """The fewest steps forwards to go back through `length` steps, by trying all distances."""
    if length <= 1:
        return 0
    if count == 1:
        return length * (length - 1) // 2
    ways = range(1, length)
    return min(n + fewest(length - n, count - 1) + fewest(n, count) for n in ways)


@pytest.mark.parametrize(("steps", "count"), [*product((1, 2, 3, 7, 10, 21, 40), (1, 2, 3, 5, 8))])
def test_a_binomial_schedule_makes_the_least_again(steps, count):
    most, work = followed(binomial(steps, count), steps)
    assert most <= count
    assert work == fewest(steps, count) + 1 + steps  # one more forwards, to the end


@pytest.mark.parametrize(("steps", "k"), [*product((1, 2, 5, 12, 13), (1, 2, 3, 5, 20))])
def test_every_kth_state_is_enough(steps, k):
    most, work = followed(every(steps, k), steps)
    made_again = sum(min(k, steps - start) - 1 for start in range(0, steps, k))
    assert work == 2 * steps + made_again
    assert most <= -(-steps // k) + k - 1


def test_a_schedule_that_is_wrong_is_seen():
    right = list(every(6, 3))
    for wrong in (right[1:], right[:-1], [a for a in right if a[0] != "restore"]):
        with pytest.raises((AssertionError, KeyError)):
            followed(wrong, 6)


def test_plans_tell_what_their_schedules_do():
    found = lab.memory(gallery.loops["logistic"].with_steps(64).trace(), limit=80)
    assert found.plans[0].peak == 64
    assert found.plans[0].work == 128
    tried = [followed(every(64, k), 64) for k in range(1, 65)]
    assert (found.plans[1].peak, found.plans[1].work) == min(tried)
    assert found.plans[1].peak == 2 * 8 - 1  # as with the square root
    assert found.best.room <= 80
    cheaper = [p for p in found.plans if p.work < found.best.work]
    assert all(plan.room > 80 for plan in cheaper)
    none = lab.memory(gallery.loops["logistic"].with_steps(64).trace(), limit=7)
    assert none.best is None
    assert "no plan; one state takes 8 bytes" in str(none)


def test_pytensors_own_checkpoints_are_opened():
    """Of 12 steps every fourth state is kept; the backward step makes those between once more."""
    x, w = pt.dscalar("x"), pt.dscalar("w")
    kept = scan_checkpoints(
        lambda x, w: pt.sin(x) * w, [], [x], [w], n_steps=12, save_every_N=4, return_updates=False
    )
    trace = lab.trace(lab.derivative(kept[-1], x), {x: 0.5, w: 1.1})
    state, slope = 0.5, 1.0
    for _ in range(12):
        state, slope = np.sin(state) * 1.1, slope * np.cos(state) * 1.1
    np.testing.assert_allclose(trace.outputs, [state, slope], rtol=1e-12)
    steps = [[scan.steps for scan in inner.scans] for inner in trace.scans[1].nested]
    assert steps == [[4, 4]] * 3  # forwards again, and back
    marks = [number for what, number in every(12, 4) if what == "keep"][:3]
    (states,) = (b for b in lab.memory(trace).buffers if b.last > b.first)
    assert states.bytes == 8 * (len(marks) + 1)  # the last of all is there as well


def test_who_reads_a_buffer_last():
    found = lab.memory(gallery.loops["square"].trace(order=2))
    x = next(b for b in found.buffers if b.name == "x" and b.last > 1)
    assert (x.first, x.last, x.why) == (1, 4, "Scan 4 reads it")
    assert found.during(1) == 80  # 5 rows of 8 bytes, before and after


def test_a_loop_of_no_step_keeps_what_it_begins_with():
    x, n = pt.dscalar("x"), pt.lscalar("n")
    xs = pytensor.scan(lambda x: x**2, outputs_info=[x], n_steps=n, return_updates=False)
    trace = lab.trace(lab.derivative(xs.sum(), x), {x: 0.9, n: 0})
    found = lab.memory(trace)
    assert found.peak >= 2 * 8  # the row of the given value, before and after
    assert not found.plans  # there is nothing to make again
    drawn = partial(visual.draw, lab.derivative(xs.sum(), x), "memory", given={x: 0.9, n: 0})
    assert drawn().height < 1200


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"trace": 5}, KindError, "trace = 5"),
        ({"scan": 3}, ArgumentError, "scan = 3"),
        ({"limit": 0}, ArgumentError, "limit = 0"),
        ({"limit": True}, ArgumentError, "limit = True"),
    ],
)
def test_what_cannot_be_is_one_sentence(arguments, error, words):
    with pytest.raises(error, match=words):
        lab.memory(**{"trace": gallery.loops["square"].trace(), **arguments})


def limited(name, order, limit):
    """The picture of the plans for a number of bytes."""
    return visual.memory(lab.memory(gallery.loops[name].trace(order=order), limit=limit))


def test_the_picture_in_words():
    assert_twin("memory-rnn-2", limited("rnn", 2, 60))


def test_the_picture_has_buffers_and_plans():
    told = limited("rnn", 2, 60).text()
    assert "Scan 1 to 4" in told
    assert "Within 60 bytes: binomial" in told


def test_a_state_is_all_that_the_next_step_may_read():
    """Of taps −3 and −1 those are three values; of states that are kept, each value counts once."""
    steps, far = 12, 3
    found = lab.memory(gallery.loops["gap"].with_steps(steps).trace())
    assert found.state == far * 8
    assert found.plans[0].room == (steps + far - 1) * 8
    spaced = found.plans[1]
    kept, most = set(), 0
    for what, number in every(steps, int(spaced.name.split()[1])):
        kept = kept | {number} if what == "keep" else kept - {number} if what == "drop" else kept
        most = max(most, len({n + k for n in kept for k in range(far)}))
    assert spaced.room == most * 8


def test_a_picture_has_buffers_and_plans():
    shown = {*visual.draw(gallery.loops["logistic"], "memory").svg().split(">")}
    assert {"x, at first</text", "dC/dr</text"} <= shown
    assert {"every 2 steps</text", "binomial, 4 kept</text"} <= shown
