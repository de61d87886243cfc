"""The taps picture, compared with the document's table, Jacobians, and PyTensor's own Scans."""

from itertools import chain, combinations

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from pictures import cells
from strange_loops import TAPES, trace_of
from twins import assert_twin

from lab.notation import leaves_of, tap_symbol
from lab.scans.node import is_scan
from lab.tape import Kind, Tape
from visual.pictures.tap_rules import TapRule, conversions, reverse
from visual.pictures.taps import taps
from visual.scene.theme import Role

TWINS = {"one": 3, "gap": 2, "sequence": 2, "unread": 2, "trace": 1}
MEANS = {
    Role.OVERWRITTEN: (True, True),
    Role.PRESERVED: (True, False),
    Role.INTERMEDIATE: (False, True),
    Role.UNNEEDED: (False, False),
}


def drawn(scene, name, order):
    """Return the taps of a line that are reads, and the taps that are writes."""
    reads, writes = set(), set()
    for key, role, words, _, step in cells(scene):
        called, line, tap = key.rsplit(":", 2)
        if (called, line) != (name, f"order {order}"):
            continue
        assert step == order
        assert not words or words[0].endswith(tap_symbol("", int(tap)))
        read, written = MEANS[role]
        reads |= {int(tap)} if read else set()
        writes |= {int(tap)} if written else set()
    return reads, writes


@pytest.mark.parametrize(("name", "orders"), TWINS.items())
def test_text_twins(name, orders):
    tapes = trace_of("extra") if name == "trace" else TAPES[name]
    assert_twin(f"taps-{name}", taps(tapes, orders))


def transposed(tape):
    """Return the reverse of a tape, from the Jacobian of one step and without rules.

    A step replaces the written slots by combinations of the read slots; a parameter and a sink
    represent its other inputs and outputs. The transposed step writes a slot if the row of the slot
    is not a row of the identity, and reads a slot that a written row depends on. Returns reads,
    writes, and the taps to which the transposed step adds.
    """
    everything = sorted({*tape.reads, *tape.writes})
    slots = range(len(everything))
    sink, parameter, size = len(everything), len(everything) + 1, len(everything) + 2
    jacobian = np.eye(size)
    for target, number in [*((everything.index(w), w) for w in tape.writes), (sink, 9)]:
        if target != sink:
            jacobian[target] = 0
            jacobian[target, parameter] = 0.7
        for read in tape.reads:
            jacobian[target, everything.index(read)] = 0.37 + 0.1 * read + 0.03 * number
    back = jacobian.T
    modified = {i for i in slots if not np.array_equal(back[i], np.eye(size)[i])}
    reads = {j for i in {*modified, parameter} for j in slots if back[i, j]}
    kept = {i for i in modified if back[i, i] == 1}
    cleared = {i for i in modified if not back[i].any()}
    if tape.kind is not Kind.MIT_MOT:
        modified -= cleared  # no later step reads the slot: no step writes 0 there
    if tape.kind is Kind.SEQUENCE and len(tape.reads) == 1:
        reads, kept = set(), set()  # a step uses each slot once, and adds to zero
    return tuple({-everything[i] for i in found} for found in (reads, modified, kept))


def small_tapes():
    choices = [-2, -1, 0, 1]
    some = list(chain.from_iterable(combinations(choices, n) for n in range(1, 4)))
    for reads in [(), *some]:
        for writes in [(), *some]:
            if (reads or writes) and not (reads and writes and min(writes) < min(reads)):
                yield Tape(reads, writes)


def test_every_small_tape_is_reversed_as_its_jacobian_is_transposed():
    checked = 0
    for tape in small_tapes():
        for _ in range(3):
            back = reverse(tape)
            reads, writes, kept = transposed(tape)
            assert (set(back.reads), set(back.writes)) == (reads, writes), tape
            added = {-tap for tap, rule in conversions(tape).items() if rule is TapRule.ADDED}
            assert added == kept, tape
            tape = back
            checked += 1
    assert checked > 200


def test_the_oracle_tells_a_wrong_reverse():
    reads, writes, kept = transposed(Tape((0, 1), (1,)))
    assert kept == {0}  # before 3.0, PyTensor also accumulated at -1
    assert (reads, writes) == ({-1, 0}, {-1, 0})


@pytest.mark.parametrize("name", ["square", "gap", "extra", "newton", "rnn", "fibonacci"])
def test_arcs_and_names_are_those_of_the_formulas_that_steps_compute(name):
    trace = trace_of(name, 3)
    scene = taps(trace, 3)
    titles = [group.title for group in scene.groups() if " goes into " in group.title]
    number, tape = 0, trace.scans[0].tapes[0]
    for row in range(4 if name != "fibonacci" else 2):
        goes = {
            " goes into ".join(tap_symbol(tape.name, tap) for tap in (leaf.tap, formula.target.tap))
            for formula in trace.scans[number].formulas
            for leaf in leaves_of(formula.expression)
            if {leaf.variable, formula.target.variable} == {tape.name}
            and leaf.tap != formula.target.tap
        }
        assert {title for title in titles if title.startswith(f"{tape.name}[")} == goes != set()
        drawn = {words[0] for _, _, words, _, step in cells(scene) if words and step == row}
        assert {tap_symbol(tape.name, tap) for tap in tape.tape.taps} <= drawn
        number = min((n for n, s in enumerate(trace.scans) if s.parent == number), default=0)
        held = (one for one in trace.scans[number].tapes if not one.is_total)
        tape = next((one for one in held if one.gradient_of == tape.name), tape)


@pytest.mark.parametrize("chosen", [(-1,), (-2, -1), (-3, -1), (-1, -3), (-2,)])
def test_pytensors_own_scans_have_the_taps_that_are_drawn(chosen):
    start = pt.dvector("start") if chosen != (-1,) else pt.dscalar("start")
    xs = pytensor.scan(
        lambda *read: pt.sin(sum(read)),
        outputs_info=[{"initial": start, "taps": list(chosen)}],
        n_steps=4,
        return_updates=False,
    )
    scene = taps(Tape(chosen, (0,)), 2)
    gradient, found = xs[-1], {}
    for _ in range(2):
        gradient = pytensor.grad(gradient.sum(), start)
        for variable in pytensor.graph.traversal.ancestors([gradient]):
            if is_scan(variable.owner) and variable.owner.op.info.n_mit_mot:
                found.setdefault(variable.owner.op.name.count("grad_of"), variable.owner.op.info)
    assert set(found) == {1, 2}
    for order, info in found.items():
        slices = info.mit_mot_in_slices[0], info.mit_mot_out_slices[0]
        assert drawn(scene, "x", order) == tuple(map(set, slices))
