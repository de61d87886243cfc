"""Which slot holds which row: the formula against PyTensor's own runs."""

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from graphs import scan
from graphs.to_compile import counting
from pytensor.compile import Mode, get_mode
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op

from lab.errors import ArgumentError
from lab.reports.compile.circular_buffers import Ring
from lab.reports.compile.rewriting import rewritten
from lab.scans.node import LoopVariable, ScanParts, build_scan
from lab.scans.replacing import scan_nodes
from lab.tape import Kind, Tape

PLAIN = Mode("py", optimizer=None)
TAPS = [(-1,), (-2, -1), (-3, -1), (-4,), (-1, -3)]


def as_row(row):
    return np.nan if row is None else float(row)


@pytest.mark.parametrize("linker", ["CVM", "NUMBA"])
@pytest.mark.parametrize("taps", TAPS)
def test_the_result_of_a_shortened_buffer(taps, linker):
    """The buffer that the rewritten Scan hands over, for many numbers of steps."""
    n = pt.lscalar("n")
    made = rewritten([counting(taps, n)[-1]], linker, ("inplace", "scan_sit_sot_to_untraced"))
    (node,) = made.after
    run = pytensor.function(made.graph.inputs, node.outputs[0], mode=PLAIN)
    names = [v.name for v in made.graph.inputs]
    lengths = set()
    for steps in (1, 2, 3, 4, 5, 8, 11):
        found = run(*({"n": steps, "first": 0.0}[name] for name in names))
        ring = Ring(-min(taps), len(found), steps)
        assert [as_row(row) for row in ring.returned()] == list(found)
        lengths.add(ring.is_circular)
    assert lengths == {True, False} or (linker == "NUMBA" and lengths == {True})


@pytest.mark.parametrize("steps", [1, 2, 5, 6])
def test_any_length_also_longer_than_needed(steps):
    """A buffer of one's own making: what lies behind the last row is nobody's."""
    for length in (3, 4, 5, 7, 8, 9, 12):
        buffer, inner = pt.dvector("buffer"), [pt.dscalar(), pt.dscalar()]
        state = LoopVariable(
            Kind.MIT_SOT, "x", Tape((-3, -1), (0,)), buffer, tuple(inner), (inner[1] + 1,)
        )
        parts = ScanParts("by hand", pt.constant(np.int64(steps)), (state,))
        run = pytensor.function([buffer], build_scan(parts).outputs[0], mode=PLAIN)
        given = np.full(length, -7.0)
        given[:3] = [0, 1, 2]
        expected = [0.0 if row is None else float(row) for row in Ring(3, length, steps).returned()]
        assert list(run(given)) == expected


@pytest.mark.parametrize("length", [1, 2, 3])
def test_an_output_that_feeds_nothing_back(length):
    for steps in (1, 3, 4, 9):
        u, inner = pt.dvector("u"), pt.dscalar()
        rows = LoopVariable(
            Kind.NIT_SOT, "y", Tape((), (0,)), pt.constant(np.int64(length)), (), (inner * 1.0,)
        )
        parts = ScanParts(
            "by hand",
            pt.constant(np.int64(steps)),
            (LoopVariable(Kind.SEQUENCE, "u", Tape((0,), ()), u, (inner,)), rows),
        )
        found = pytensor.function([u], build_scan(parts).outputs[0], mode=PLAIN)(np.arange(9.0))
        ring = Ring(0, length, steps)
        expected = [0.0 if row is None else float(row) for row in ring.returned()]
        assert list(found) == expected[: len(found)]


class Peek(Op):
    """The next value, and a look at the buffers while a step is made."""

    __props__ = ()
    look = staticmethod(lambda: None)

    def make_node(self, x):
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, outputs):
        Peek.look()
        outputs[0][0] = np.asarray(inputs[0] + 1.0)

    def do_constant_folding(self, fgraph, node):
        return False


@pytest.mark.parametrize("linker", ["CVM", "NUMBA"])
@pytest.mark.parametrize("taps", [(-1,), (-2, -1), (-3, -1)])
def test_the_slots_at_every_step(taps, linker, monkeypatch):
    """PyTensor's own loop over the steps, looked at from inside of it."""
    reach, steps = -min(taps), 7
    start = pt.dvector("start")
    made = scan(
        lambda *values: Peek()(values[taps.index(-1)]),
        outputs_info=[{"initial": start if reach > 1 else start[0], "taps": list(taps)}],
        n_steps=steps,
    )
    late = rewritten([made[-1]], linker, ("inplace", "scan_sit_sot_to_untraced"))
    (node,) = late.after
    given = np.arange(reach, dtype="float64")
    buffer = pytensor.function(late.graph.inputs, node.inputs[1], mode=PLAIN)(given)
    cells = {v: [getattr(v, "data", None)] for v in node.inputs} | {node.outputs[0]: [None]}
    cells[node.inputs[1]] = [np.array(buffer)]
    thunk = node.op.make_thunk(node, cells, {v: [True] for v in cells}, [], "py")
    seen = []
    monkeypatch.setattr(Peek, "look", lambda: seen.append(np.array(cells[node.outputs[0]][0])))
    thunk()
    ring = Ring(reach, len(buffer), steps)
    assert ring.is_circular
    assert len(seen) == steps
    for done, slots in enumerate(seen):
        held = ring.contents(done)
        assert [row for row in held if row is not None] == [
            slots[slot] for slot, row in enumerate(held) if row is not None
        ]
    assert list(cells[node.outputs[0]][0]) == [as_row(row) for row in ring.returned()]


def simulated(initial, length, steps):
    """The slots after every step, and who was replaced, by doing it."""
    slots = [row if row < initial else None for row in range(length)]
    yield list(slots), None
    for row in range(initial, initial + steps):
        old = slots[row % length]
        slots[row % length] = row
        yield list(slots), old


@pytest.mark.parametrize("initial", range(5))
def test_a_ring_is_not_shorter_than_its_initial_values(initial):
    for length in range(1, initial):
        with pytest.raises(ArgumentError, match="length"):
            Ring(initial, length, 1)


@pytest.mark.parametrize(
    ("initial", "steps"), [(initial, steps) for initial in range(5) for steps in (0, 1, 2, 5, 12)]
)
def test_every_answer_against_a_simulation(initial, steps):
    for length in range(max(1, initial), 9):
        check_ring(initial, length, steps)


def check_ring(initial, length, steps):
    ring = Ring(initial, length, steps)
    last = set()
    for done, (slots, old) in enumerate(simulated(initial, length, steps)):
        assert list(ring.contents(done)) == slots
        if done:
            assert ring.overwritten(done - 1) == old
        if old is not None:
            last.add(old)
    assert ring.is_circular == bool(last)
    kept = [row for row in ring.returned() if row is not None]
    assert kept == sorted(row for row in range(ring.rows) if row not in last)


def test_negative_numbers_are_refused():
    with pytest.raises(ArgumentError, match="from 0"):
        Ring(-1, 3, 3)


def test_the_checks_see_a_wrong_formula(monkeypatch):
    monkeypatch.setattr(Ring, "slot", lambda self, row: (row + 1) % self.length)
    with pytest.raises(AssertionError):
        test_the_result_of_a_shortened_buffer((-3, -1), "CVM")


def test_both_linkers_are_there():
    assert {type(get_mode(name).linker).__name__ for name in ("CVM", "NUMBA")} == {
        "VMLinker",
        "NumbaLinker",
    }
    assert scan_nodes([counting((-1,), 3)])
