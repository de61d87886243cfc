"""Recordings of eager runs contain all events in order, as plain data."""

import pickle

import numpy
import pytest
from eager.programs import CALLS, RUNS, squares

import lab
from lab.checks import check
from lab.eager import grad, np, recording
from lab.eager.records import Appended, Popped, Sent, SparseValue, Totaled
from lab.notation import subscript

RESULTS = {
    "square": 16 * 0.95**15,
    "second order": 240 * 0.95**14,
    "closure": 6.0,
    "setters": [4.0, 6.0, 0.0],
    "second order, setters": [32.0, 0.0, 0.0],  # (4·a₀)² + 6²
    "second order, slices": [0.0, 12.0, 18.0],
    "independent": [0.0, 0.0, 0.0],
}


def select(recorded, *kinds):
    return [event for event in recorded.events if isinstance(event, kinds)]


@pytest.mark.parametrize("name", RESULTS)
def test_a_recording_is_plain_data_and_changes_no_number(name):
    (function, argument), recorded = CALLS[name], RUNS[name]()
    assert numpy.array_equal(recorded.result.value, function(argument))
    check.compare(recorded.result.value, RESULTS[name], 1e-14)
    assert pickle.loads(pickle.dumps(recorded)) == recorded == RUNS[name]()
    assert recorded != recording(grad(squares), 0.9)
    with pytest.raises(ValueError, match="read-only"):
        recorded.nodes[0].value.value[...] = 7.0


@pytest.mark.parametrize("name", RESULTS)
def test_the_last_event_of_a_node_writes_its_total_gradient(name):
    recorded = RUNS[name]()
    events = lab.events(recorded)
    assert len(events) == len(select(recorded, Appended, Sent))
    last = {str(write.slot): write.new for event in events for write in event.writes}
    for total in select(recorded, Totaled):
        value = total.total.value
        if isinstance(value, numpy.ndarray) and (name := f"∇n{subscript(total.node)}") in last:
            numpy.testing.assert_allclose(last[name], value, rtol=1e-14)


@pytest.mark.parametrize("name", RESULTS)
def test_the_records_are_consistent(name):
    """Replay every recording with the rules of the tape."""
    recorded = RUNS[name]()
    on_tape, lists = {}, {}
    for event in recorded.events:
        if isinstance(event, Popped):
            assert on_tape[recorded.nodes[event.node].tape].pop() == event.node
        elif isinstance(event, Sent):
            if event.source is not None:
                assert event.target in recorded.nodes[event.source].parents
            lists[event.target].append(event.gradient)
        elif isinstance(event, Totaled) and event.is_sum:
            assert_sum(recorded.nodes[event.node], lists[event.node], event.total)
        elif isinstance(event, Totaled):
            assert [event.total] == lists[event.node]
        else:  # Appended
            node = recorded.nodes[event.node]
            assert all(recorded.nodes[parent].tape == node.tape for parent in node.parents)
            if node.tape not in on_tape:  # every tape that receives another node has lower priority
                outer = {n.tape for n in recorded.nodes[event.node :]} & {*on_tape}
                new = recorded.tapes[node.tape].priority
                assert all(recorded.tapes[tape].priority < new for tape in outer)
            on_tape.setdefault(node.tape, []).append(event.node)
            lists[event.node] = []


def assert_sum(node, gradients, total):
    """Check the total of a node: the sum of its gradients, entry by entry."""
    expected = numpy.zeros(numpy.shape(node.value.value))
    for gradient in gradients:
        part = gradient.value
        if isinstance(part, numpy.ndarray):
            expected = expected + part
        else:
            numpy.add.at(expected.reshape(-1), part.positions, part.value)
    assert numpy.allclose(total.value, expected, rtol=1e-14)


def test_setters_record_their_positions():
    recorded = recording(grad(lambda a: np.sum(a[[2, 0, 0], 1:])), numpy.ones((3, 3)))
    (event,) = (e for e in select(recorded, Sent) if isinstance(e.gradient.value, SparseValue))
    assert event.gradient.value.index == "[2, 0, 0], 1:"
    assert event.gradient.value.positions.tolist() == [[7, 8], [1, 2], [1, 2]]
