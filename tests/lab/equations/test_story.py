"""Stories of values: what contributes how much, by a second implementation and differences."""

import re

import numpy as np
import pytest

import lab
from lab.equations.story import Stories
from lab.loops import gallery

NUMBER = r"(-?[\d.]+(?:e-?\d+)?)"
SHARES = re.compile(rf"{NUMBER} of (\S+) = {NUMBER}")


def square_backwards(x, buffer, first):
    """The gradient of the loop x ← x², from its step `first` on."""
    buffer = list(buffer)
    for step in range(first, 4):
        buffer[step + 1] += buffer[step] * 2 * x[3 - step]
    return {4: ("dC/dx₀", buffer[4])}


def gap_backwards(x, buffer, first):
    """The gradient of the loop x[t] = sin(x[t−3]) + x[t−1]·x[t−3], from its step `first` on."""
    buffer = list(buffer)
    for step in range(first, 5):
        out, far, near = buffer[step], x[4 - step], x[6 - step]
        buffer[step + 3] += out * (np.cos(far) + near)
        buffer[step + 1] += out * far
    return {7: ("dC/dx₀", buffer[7]), 6: ("dC/dx₁", buffer[6]), 5: ("dC/dx₂", buffer[5])}


@pytest.mark.parametrize(
    ("name", "backwards"), [("square", square_backwards), ("gap", gap_backwards)]
)
def test_a_contribution_is_what_is_missing_without_it(name, backwards):
    trace = gallery.loops[name].trace()
    stories, tape, x = Stories(trace), trace.scans[1].tapes[0], trace.scans[0].tapes[0].final
    tried = 0
    for after in range(trace.scans[1].steps + 1):
        held = tape.contents(after - 1)
        whole = backwards(x, held, after)
        for row in range(len(held)):
            value = stories.held(1, tape.argument, row, after)[-1]
            assert stories.number(value) == held[row]
            if row < after:
                continue  # it was read already, so that part of it is elsewhere as well
            told = {
                r: float(part) for part, r, _ in SHARES.findall(" ".join(stories.of(value).fate))
            }
            without = backwards(x, [*held[:row], 0.0, *held[row + 1 :]], after)
            for place, (result, number) in whole.items():
                missing = number - without[place][1]
                if (row, value) != (place, stories.flow.latest(1, tape, row)):  # the result itself
                    assert told.get(result, 0.0) == pytest.approx(missing, rel=1e-3, abs=1e-9)
                    tried += bool(missing)
    assert tried >= 4


def loop_from(name, x, row):
    """The last value of a loop in which x has been changed in one place."""
    for t in range(row + 1, len(x)):
        if name == "square":
            x[t] = x[t - 1] ** 2
        elif t >= 3:
            x[t] = np.sin(x[t - 3]) + x[t - 1] * x[t - 3]
    return x[-1]


@pytest.mark.parametrize("name", ["square", "gap"])
def test_how_a_value_changes_the_cost_by_differences(name):
    for order in (1, 2):
        trace = gallery.loops[name].trace(order=order)
        stories, tape = Stories(trace), trace.scans[0].tapes[0]
        for row in range(len(tape.final) - 1):
            value = stories.flow.latest(0, tape, row)
            (told,) = re.findall(
                rf"changes C \S+ = {NUMBER} times", " ".join(stories.of(value).fate)
            )
            up, down = tape.final.copy(), tape.final.copy()
            up[row] += 1e-6
            down[row] -= 1e-6
            slope = (loop_from(name, up, row) - loop_from(name, down, row)) / 2e-6
            assert float(told) == pytest.approx(slope, rel=1e-3)


def test_what_was_replaced_has_a_story_of_its_own():
    trace = gallery.loops["square"].trace(order=2)
    stories = Stories(trace)
    first, second = stories.held(3, 1, row=4, after=4)
    assert (first.version, second.version) == (0, 1)
    assert "buf[4] = 7.803" in stories.of(first).origin[0]
    assert "was there from the start, as ∂C′/∂x₀" in stories.of(first).origin[1]
    assert "buf[4] = 117.0" in stories.of(second).origin[0]
    assert "Step 3 of Scan 4" in stories.of(second).origin[1]
    assert "7.803 (at first), 117.0 (after step 3)" in stories.of(first).fate[0]


def test_a_seed_of_a_later_scan_is_what_an_earlier_one_made_of_it():
    trace = gallery.loops["square"].with_taps({"x": (-2, -1)}).trace(order=2)
    stories, x = Stories(trace), [0.95, 0.95]
    for t in range(2, 6):
        x.append(x[t - 2] * x[t - 1])
    gradient, change = [0.0] * 5 + [1.0], [1.0, 1.0] + [0.0] * 4  # of x₅; and by dC/dx₀ + dC/dx₁
    for t in reversed(range(4)):
        gradient[t] += gradient[t + 2] * x[t + 1]
        gradient[t + 1] += gradient[t + 2] * x[t]
    for t in range(4):
        change[t + 2] = change[t] * x[t + 1] + change[t + 1] * x[t]
    first, second = change[1] * gradient[3], change[3] * gradient[4]  # x₂ is read by steps 1 and 2
    (seed, *_) = stories.held(3, trace.scans[3].tapes[0].argument, row=3, after=0)
    assert stories.number(seed) == pytest.approx(first + second)
    (told,) = re.findall(r"start, as ∂C′/∂x₂: (.*)\.$", stories.of(seed).origin[1])
    parts = {f"{n:.4g} from step {k} of Scan 3" for n, k in ((first, 1), (second, 2))}
    assert {*told.split(", plus ")} == parts
    made = {
        (v.scan, stories.flow.writes[v].step) for v in stories.nearest(seed, stories.flow.writes)
    }
    assert made == {(2, 1), (2, 2)}


def test_the_cost_may_have_a_part_in_a_seed():
    graph = gallery.loops["square"].build()
    (x,) = graph.inputs.values()
    cost = (graph.node.outputs[0] ** 2).sum()  # what Scan 4 begins with is not all from Scan 3
    trace = lab.trace(lab.derivative(cost, x, 2), graph.given, also=graph.node.outputs[:1])
    stories, tape = Stories(trace), trace.scans[3].tapes[0]
    told = [stories.of(stories.held(3, tape.argument, row, 0)[0]).origin[1] for row in range(1, 5)]
    assert all(re.search(r"from step \d of Scan 3", line) for line in told)
    assert all(line.endswith(", and the rest directly.") for line in told[:3])


def test_why_nothing_is_added():
    trace = gallery.loops["square"].trace(order=2)
    stories = Stories(trace)
    kept = stories.held(2, 2, row=1, after=2)[-1]
    assert "nothing is added, for step 2 of Scan 2 replaced" in stories.of(kept).origin[1]


def test_the_way_back_ends_with_what_was_given():
    trace = gallery.loops["gap"].trace()
    stories = Stories(trace)
    tape = trace.scans[1].tapes[0]
    last = stories.flow.latest(1, tape, 7)
    before = stories.ancestors(last)
    given = {v.row for v in before if v.scan == 0 and v not in stories.flow.writes}
    assert given == {0, 1, 2}  # x₀, x₁ and x₂
    sources = stories.flow.writes[last].sources
    assert set(stories.nearest(last, before - {last})) == set(sources)
    assert set(stories.nearest(last, given := before - stories.flow.writes.keys())) == given


def test_of_arrays_shapes_are_told_and_no_shares():
    trace = gallery.loops["rnn"].trace()
    stories = Stories(trace)
    tape = next(t for t in trace.scans[1].tapes if t.name == "dh")
    story = stories.of(stories.flow.latest(1, tape, 2))
    assert "(3)" in story.origin[0]
    assert not SHARES.findall(" ".join(story.fate))
