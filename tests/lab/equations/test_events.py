"""Compare events with raw reads and writes and with buffers of random loops; check tables."""

import pickle
import re
from collections import Counter, defaultdict
from dataclasses import replace
from operator import is_, itemgetter

import numpy as np
import pytensor.tensor as pt
import pytest
from graphs import scan, squares
from hypothesis import given, settings
from hypothesis import strategies as st
from random_loops import costs, loops
from twins import assert_twin

import lab
from lab import eager, gallery
from lab.equations.events.records import SlotRole

KEYS = ["scan", "step", "tape", "position", "row", "quantity", "role", "old", "new"]


TABLES = {  # the numbers are powers of x and their derivatives
    "square-2": lambda: gallery.loops["square"].with_steps(2).trace(order=2),
    "eager": lambda: eager.recording(eager.grad(lambda x: x * x * x), 2.0),
}


@pytest.mark.parametrize("name", TABLES)
def test_events_as_a_table(name):
    assert_twin(f"events-{name}", lab.events(TABLES[name]()))


def test_only_values_that_a_requested_gradient_needs_are_saved():
    """The derivative of z·2·y wrt z does not contain z; the derivative wrt y, 2·z, does."""
    reads = [(n + 6, f"z{'₀₁₂₃'[3 - n]}") for n in range(4)]
    for wrt, expected in (("z", []), ("y", reads)):
        events = lab.events(gallery.loops["sequence"].trace(wrt=wrt))
        roles = ((e.number, slot) for e in events for slot in events.slots if slot.scan == 0)
        saved = [(n, s.quantity) for n, s in roles if events.role(s, n) is SlotRole.SAVED]
        assert saved == expected


def test_the_role_of_a_slot_depends_on_earlier_and_later_events():
    events = lab.events(gallery.loops["square"].trace())
    roles = {
        (0, 0): "input preserved input input input input input input input saved",
        (0, 1): "empty written preserved intermediate intermediate intermediate intermediate "
        "intermediate saved done",
        (0, 4): "empty empty empty empty written result result result result result",
        (1, 0): "empty empty empty empty empty seed preserved done done done",
        (1, 2): "empty empty empty empty empty pending pending overwritten preserved done",
        (1, 4): "empty empty empty empty empty pending pending pending pending overwritten",
    }
    for (number, row), expected in roles.items():
        slot = next(s for s in events.slots if (s.scan, s.row) == (number, row))
        actual = [events.role(slot, moment).value for moment in range(10)]
        assert actual == expected.split(), (number, row)
    with pytest.raises(lab.LabError, match="moment = 10"):
        events.role(events.slots[0], 10)
    accesses = {"preserved", "overwritten", "restored", "written", "saved", "read"}
    assert {role for role in SlotRole if role.is_access} == accesses


def check_replay(trace, events):
    """Check that each read value, and each final value, equals the value in the slot."""
    values = {}
    for number, run in enumerate(trace.scans):
        for tape in run.tapes if run.parent is None else ():
            values |= {(number, tape.argument, row): v for row, v in enumerate(tape.initial)}
    written = set()
    for event in events:
        for read in event.reads:
            if read.slot is not None:
                key = read.slot.scan, read.slot.argument, read.slot.row
                np.testing.assert_array_equal(values[key], read.value)
        for write in event.writes:
            key = write.slot.scan, write.slot.argument, write.slot.row
            values[key] = write.new
            written.add(key)
    for number, argument, row in written:
        final = trace.scans[number].tape(argument).final[row]
        np.testing.assert_array_equal(values[number, argument, row], final)


def check_sums(trace, events):
    """Check that each write is the sum of its terms, in derivatives and on eager tapes."""
    for event in events:
        for write in event.writes:
            if trace is None and not write.terms:  # a node of the eager tape
                continue
            if trace and event.step is not None and trace.scans[event.scan].parent is None:
                assert write.terms == ()
                continue
            if event.step is not None:  # a pullback adds to each slot that it reads and writes
                assert write.adds_old == (write.role is not SlotRole.WRITTEN)
            parts = [np.asarray(term.value) for term in write.terms]
            parts += [write.old] if write.adds_old else []
            total = np.sum(parts, axis=0) if parts else np.zeros_like(write.new)
            np.testing.assert_allclose(total, write.new, rtol=1e-9, atol=1e-12)
            for term in write.terms:
                if term.factor is not None:
                    np.testing.assert_allclose(term.source.value * term.factor, term.value)


def accesses(trace):
    """Yield the event, the slot, and the kind of each access, from positions and feeds only.

    A slot is a Scan, an argument, and a row. A "copy" is a write of the value that was read, and a
    "source" is a value that another Scan reads as an initial value or as a gradient. Each value
    that a step reads from another Scan must affect the outputs.
    """
    event = 0
    for number, run in enumerate(trace.scans):
        states = {tape.argument for tape in run.tapes}
        fed = [(f.into, row, (f.scan, f.argument, n)) for f in run.feeds for row, n, _ in f.rows]
        if run.parent is not None or any(into in states for into, _, _ in fed):
            event += 1
            filled = [(t.argument, row) for t in run.tapes for row in np.flatnonzero(~t.unwritten)]
            yield from ((event, (number, *place), "fill") for place in filled)
            yield from ((event, slot, "source") for into, _, slot in fed if into in states)
        copies = [f.target for f in run.formulas if f.expression == f.target]
        copied = {(target.argument, target.tap) for target in copies}
        for step in range(run.steps):
            event += 1
            for tape in run.buffers:
                place, start = (number, tape.argument), tape.tape.origin + step
                yield from ((event, (*place, start + tap), "read") for tap in tape.tape.reads)
                for tap in tape.tape.writes:
                    kind = "copy" if (tape.argument, tap) in copied else "write"
                    yield event, (*place, start + tap), kind
            read = ((i, slot) for i, row, slot in fed if i not in states and row in (None, step))
            yield from ((event, s, "saved" if run.is_reading(i) else "source") for i, s in read)


def expected_role(trace, slot, moment, touched, rests):
    """Return the role of a slot at a moment, or just after it if the slot `rests`."""
    now = {kind for event, kind in touched if event == moment and not rests}
    past = {kind for event, kind in touched if event <= moment}
    later = {kind for event, kind in touched if event > moment}
    if now & {"copy", "write"}:
        role = "restored" if "copy" in now else "overwritten"
        return role if "read" in now else "written"
    if now - {"fill"}:
        return "preserved" if "read" in now else "saved"
    outputs = {(f.scan, f.argument, row.source) for f in trace.feeds for row in f.rows}
    is_result = (slot in outputs or "source" in past | later) and "write" not in later
    run, (_, argument, row) = trace.scans[slot[0]], slot
    tape = run.tape(argument)
    if past & {"write", "copy"}:
        return "result" if is_result else "intermediate" if later else "done"
    if tape.unwritten[row] or "fill" in later:
        return "empty"
    if run.parent is None:
        return "input"
    if not later:
        return "result" if is_result else "done"
    is_seed, is_complete = np.any(tape.initial[row]), later <= {"source", "saved"}
    return "pending" if not is_seed else "result" if is_result and is_complete else "seed"


def check_roles(trace, role, rests=False):
    """Compare the `role` of each slot at each moment with the role from positions and feeds."""
    events, touched = lab.events(trace), defaultdict(list)
    for event, slot, kind in accesses(trace):
        touched[slot].append((event, kind))
    for slot in events.slots:
        key = slot.scan, slot.argument, slot.row
        moments = range(len(events) + 1)
        expected = [expected_role(trace, key, moment, touched[key], rests) for moment in moments]
        assert [role(slot, moment) for moment in moments] == expected, key


def raw_rows(trace):
    """Return the role and the new value of every row in every step, from the taps only."""
    rows = []
    for number, run in enumerate(trace.scans):
        for tape in run.buffers:
            for step in range(run.steps):
                start = tape.tape.origin + step
                read = {start + access.tap: access.values[step] for access in tape.reads}
                written = {start + access.tap: access.values[step] for access in tape.writes}
                for row, value in (read | written).items():
                    role = "overwritten" if row in written else "preserved"
                    role = role if row in read else "written"
                    place = number + 1, step, tape.name, row
                    rows.append((*place, role, np.asarray(value).tolist()))
    return sorted(rows, key=str)


def check_rows(trace, rows):
    """Check that each row of a step has the keys of the table, and role and value of the trace."""
    assert all(list(row) == KEYS for row in rows)
    touched = [r | {"new": r["new"].tolist()} for r in rows if r["role"] != "read"]
    columns = itemgetter("scan", "step", "tape", "row", "role", "new")
    actual = [columns(row) for row in touched if row["step"] is not None]
    np.testing.assert_equal(sorted(actual, key=str), raw_rows(trace))
    places = Counter(itemgetter("scan", "step", "tape", "row", "quantity")(row) for row in touched)
    assert set(places.values()) <= {1}  # the gradients of a sequence at several taps share a tape


def check_events(trace):
    events = lab.events(trace)
    assert all(map(is_, events, lab.events(trace)))  # the trace caches its events
    assert pickle.loads(pickle.dumps(trace)) == trace
    check_replay(trace, events)
    check_sums(trace, events)
    check_rows(trace, events.rows())
    check_roles(trace, events.role)
    check_roles(trace, events.resting_role, rests=True)


@settings(deadline=None, max_examples=15)
@given(st.data())
def test_events_of_random_loops_replay_the_run(data):
    loop = data.draw(loops())
    of, cost = data.draw(costs(loop))
    trace = loop.trace(order=data.draw(st.integers(0, 2)), of=of, cost=cost)
    check_events(trace)


@settings(deadline=None, max_examples=12)
@given(st.data())
def test_events_of_chained_loops_replay_the_run(data):
    """A second loop starts at a value of the first loop, or reads all its values, or both."""
    steps, order = data.draw(st.integers(1, 3)), data.draw(st.integers(0, 2))
    x0, xs = squares(steps)
    start = data.draw(st.sampled_from([x0, xs[0], xs[-1], x0 + xs[steps // 2]]))
    sequences = [xs] * data.draw(st.integers(0, 1))
    read = {"sequences": sequences, "outputs_info": [start]}
    ys = scan(lambda *values: pt.sin(sum(values)) * values[0], **read, n_steps=steps)
    cost = ys[-1] + data.draw(st.sampled_from([0, 2])) * xs[0]
    trace = lab.trace(lab.derivative(cost, x0, order=order) if order else cost, given={x0: 0.9})
    check_events(trace)


def test_the_checkers_notice_a_wrong_event():
    trace = gallery.loops["coupled"].trace()
    events = lab.events(trace)
    tampered = [*events]
    event = tampered[-1]
    first, *others = event.writes
    term, *terms = first.terms
    doubled = replace(term, value=term.value * 2)
    for check, wrong in (
        (check_replay, replace(first, new=first.new + 1)),
        (check_sums, replace(first, terms=tuple(terms))),
        (check_sums, replace(first, terms=(*terms, doubled))),
        (check_sums, replace(first, adds_old=False, terms=(replace(term, value=first.new),))),
    ):
        tampered[-1] = replace(event, writes=(wrong, *others))
        with pytest.raises(AssertionError):
            check(trace, tampered)
    rows = events.rows()
    index = next(i for i, r in enumerate(rows) if r["role"] == "preserved")
    for wrong in ([rows[index] | {"role": "overwritten"}], []):
        with pytest.raises(AssertionError):
            check_rows(trace, [*rows[:index], *wrong, *rows[index + 1 :]])
    second = gallery.loops["gap"].trace(order=2)
    role = lab.events(second).role
    for each in (each for each in SlotRole if each is not SlotRole.READ):
        with pytest.raises(AssertionError):
            check_roles(second, lambda *at, each=each: None if role(*at) is each else role(*at))
    with pytest.raises(AssertionError):
        check_roles(second, role, rests=True)
    read = event.reads[0]
    tampered[-1] = replace(event, reads=(replace(read, value=read.value + 1),))
    with pytest.raises(AssertionError):
        check_replay(trace, tampered)


def test_each_contribution_is_a_term():
    """The adjoint of a ← W a + b, b ← W a is ā ← Wᵀ ā + Wᵀ b̄, b̄ ← ā, and W̄ ← ā aᵀ + b̄ aᵀ."""
    w, a = np.array([[0.5, 2.0], [-1.0, 0.3]]), [1.0, 2.0]
    start = {"a": a, "b": [3.0, 4.0]}
    loop = lab.Loop.from_text("a = W@a + b; b = W@a", start, (), {"W": w}, n_steps=2)
    g, ones = w.sum(axis=0) + 1, np.ones(2)  # the gradients of a₁ and b₁ for the cost Σ(a₁ + a₂)
    actual = {
        write.slot.tape: [write.adds_old, *(term.value for term in write.terms)]
        for write in lab.events(loop.trace(wrt="W", cost="sum"))[-1].writes
    }
    total = np.outer(ones, loop.trace(order=0).scans[0].tapes[0].final[1])
    products = [np.outer(g, a), np.outer(ones, a)]
    expected = {"da": [True, w.T @ g, w.T @ ones], "db": [True, g], "dW": [False, total, *products]}
    np.testing.assert_equal(actual, expected)


def test_windows_of_long_runs_nested_scans_and_forward_loops_have_events(fast_compile):
    long = gallery.loops["logistic"].with_steps(2000).trace(keep="last")
    events = lab.events(long)
    check_sums(long, events)
    check_rows(long, events.rows())
    printed = str(lab.events(gallery.loops["logistic"].with_steps(47).trace(order=0)))
    assert "7 more" in printed
    shown = re.findall(r"(?m)^[\d…]+", printed)
    assert shown == [*map(str, range(1, 21)), "…", *map(str, range(28, 48))]
    check_events(gallery.loops["window"].trace())  # three tapes of this trace are named du
    check_events(gallery.loops["square"].trace(order=3))  # Scan 6 reads gradients from Scan 5


def test_a_step_with_a_scan_inside_has_the_events_of_that_scan():
    start = pt.dscalar("x0")
    xs = scan(
        lambda x: scan(lambda y: y * y, outputs_info=[x], n_steps=2)[-1],
        outputs_info=[start],
        n_steps=2,
    )
    trace = lab.trace(xs[-1], given={start: 0.9})
    nested = [lab.events(event.nested) for event in lab.events(trace)]
    assert [*map(len, nested)] == [2, 2]
    np.testing.assert_allclose(nested[1][1].writes[0].new, 0.9**16)


def test_the_sources_of_a_filling_are_slots_and_the_rest_comes_from_the_cost():
    """Let C = 3y₃ + x₁ + 10⁻⁷x₂, where the loop y starts at x₂ and reads x."""
    x0, xs = squares()
    ys = scan(lambda u, y: y + u * y, sequences=[xs], outputs_info=[xs[1]])
    trace = lab.trace(lab.derivative(ys[-1] * 3 + xs[0] + 1e-7 * xs[1], x0), given={x0: 0.9})
    events = lab.events(trace)
    check_sums(trace, events)
    check_replay(trace, events)
    filled = [events.timeline.filling(number) for number in range(4)]
    begin, last = (events[filled[number] - 1] for number in (1, 3))
    assert filled[0] is None
    (source,) = (term.source.slot for term in begin.writes[0].terms)
    assert (source.scan, source.row) == (0, 2)
    assert events.role(source, begin.number) is SlotRole.SAVED
    sources = {
        w.slot.quantity: [t.text if t.source is None else t.source.slot.quantity for t in w.terms]
        for w in last.writes
    }
    assert sources == {
        "dC/dx₃": ["dC/ds₂"], "dC/dx₂": ["dC/dv₀", "dC/ds₁", "∂C/∂x₂"],
        "dC/dx₁": ["dC/ds₀", "∂C/∂x₁"], "dC/dx₀": [],
    }  # fmt: skip
    direct = [write.terms[-1].value for write in last.writes[1:3]]  # of the summands x₂ and x₁
    np.testing.assert_allclose(sorted(direct), [1e-7, 1], rtol=1e-6)


def test_an_eager_recording_has_the_events_of_its_nodes_and_gradients():
    """d(x·x·x)/dx = 3x² is 12 at x = 2; the contributions of both factors of x·x add up."""
    events = lab.events(TABLES["eager"]())
    check_sums(None, events)
    arrivals = [e.writes[0] for e in events if e.writes[0].slot.tape == "gradients"]
    assert [[t.factor for t in w.terms] for w in arrivals] == [[None], [2], [4], [2], [2]]
    end, start = arrivals[-1].slot, next(s for s in events.slots if s.tape == "values")
    assert [events.role(end, m).value for m in (0, len(events))] == ["empty", "overwritten"]
    assert [events.role(start, m).value for m in (0, 1, 2)] == ["empty", "written", "preserved"]
    assert events.resting_role(end, len(events)) == "result"
    assert events.resting_role(replace(end, row=99), 1) == "empty"  # of another recording
    resting = [events.resting_role(start, m).value for m in (0, 1, 2, len(events))]
    assert resting == ["empty", "intermediate", "intermediate", "done"]
    assert all(list(row) == KEYS for row in events.rows())
