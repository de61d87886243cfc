"""Compare the taps picture with golden texts, Jacobians, and PyTensor's own Scans."""

from itertools import combinations, product

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from graphs import scan
from pictures import cells
from strange_loops import TAPES, trace_of
from twins import assert_twin

from lab.notation import leaves_of, tap_symbol
from lab.scans.node import is_scan
from lab.tape import Kind, Tape
from visual.pictures.tap_rules import TapRule, conversions
from visual.pictures.taps import taps
from visual.scene.theme import Role

TWINS = {"one": 3, "gap": 2, "sequence": 2, "unread": 2, "trace": 1}
MEANS = {
    Role.OVERWRITTEN: (True, True),
    Role.PRESERVED: (True, False),
    Role.INTERMEDIATE: (False, True),
    Role.UNNEEDED: (False, False),
}


def drawn_taps(scene, name, order):
    """Return the taps of a line that are reads, and the taps that are writes."""
    reads, writes = set(), set()
    for key, role, words, _, step in cells(scene):
        line_name, line, tap = key.rsplit(":", 2)
        if (line_name, line) != (name, f"order {order}"):
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
    positions = sorted({*tape.reads, *tape.writes})
    slots = range(len(positions))
    sink, parameter, size = len(positions), len(positions) + 1, len(positions) + 2
    jacobian = np.eye(size)
    for target, number in [*((positions.index(w), w) for w in tape.writes), (sink, 9)]:
        if target != sink:
            jacobian[target] = 0
            jacobian[target, parameter] = 0.7
        for read in tape.reads:
            jacobian[target, positions.index(read)] = 0.37 + 0.1 * read + 0.03 * number
    transpose = jacobian.T
    modified = {i for i in slots if not np.array_equal(transpose[i], np.eye(size)[i])}
    reads = {j for i in {*modified, parameter} for j in slots if transpose[i, j]}
    accumulated = {i for i in modified if transpose[i, i] == 1}
    cleared = {i for i in modified if not transpose[i].any()}
    if tape.kind is not Kind.MIT_MOT:
        modified -= cleared  # no step writes 0 to the slot, because no later step reads it
    if tape.kind is Kind.SEQUENCE and len(tape.reads) == 1:
        reads, accumulated = set(), set()  # a step uses each slot once, and adds to zero
    return tuple({-positions[i] for i in taps} for taps in (reads, modified, accumulated))


def small_tapes():
    subsets = [taps for n in range(4) for taps in combinations([-2, -1, 0, 1], n)]
    for reads, writes in product(subsets, subsets):
        if (reads or writes) and not (reads and writes and min(writes) < min(reads)):
            yield Tape(reads, writes)


def test_the_reverse_of_each_small_tape_is_the_transpose_of_its_jacobian():
    count = 0
    for tape in small_tapes():
        for _ in range(3):
            reversed_tape = tape.reverse()
            reads, writes, accumulated = transposed(tape)
            assert (set(reversed_tape.reads), set(reversed_tape.writes)) == (reads, writes), tape
            added = {-tap for tap, rule in conversions(tape).items() if rule is TapRule.ADDED}
            assert added == accumulated, tape
            tape = reversed_tape
            count += 1
    assert count > 200


def test_the_oracle_detects_a_wrong_reverse():
    reads, writes, accumulated = transposed(Tape((0, 1), (1,)))
    assert accumulated == {0}  # before 3.0, PyTensor also accumulated at -1
    assert (reads, writes) == ({-1, 0}, {-1, 0})


@pytest.mark.parametrize("name", ["square", "gap", "extra", "newton", "rnn", "fibonacci"])
def test_arcs_and_names_follow_the_formulas_of_the_steps(name):
    trace = trace_of(name, 3)
    scene = taps(trace, 3)
    titles = [group.title for group in scene.groups() if " goes into " in group.title]
    number, tape = 0, trace.scans[0].tapes[0]
    for row in range(4 if name != "fibonacci" else 2):
        expected = {
            " goes into ".join(tap_symbol(tape.name, tap) for tap in (leaf.tap, formula.target.tap))
            for formula in trace.scans[number].formulas
            for leaf in leaves_of(formula.expression)
            if {leaf.variable, formula.target.variable} == {tape.name}
            and leaf.tap != formula.target.tap
        }
        assert {title for title in titles if title.startswith(f"{tape.name}[")} == expected != set()
        drawn_taps = {words[0] for _, _, words, _, step in cells(scene) if words and step == row}
        assert {tap_symbol(tape.name, tap) for tap in tape.tape.taps} <= drawn_taps
        number = min((n for n, s in enumerate(trace.scans) if s.parent == number), default=0)
        tapes = (candidate for candidate in trace.scans[number].tapes if not candidate.is_total)
        tape = next((candidate for candidate in tapes if candidate.gradient_of == tape.name), tape)


@pytest.mark.parametrize("chosen", [(-1,), (-2, -1), (-3, -1), (-1, -3), (-2,)])
def test_the_scans_of_pytensor_have_the_drawn_taps(chosen):
    start = pt.dvector("start") if chosen != (-1,) else pt.dscalar("start")
    xs = scan(
        lambda *read: pt.sin(sum(read)),
        outputs_info=[{"initial": start, "taps": list(chosen)}],
        n_steps=4,
    )
    scene = taps(Tape(chosen, (0,)), 2)
    gradient, infos = xs[-1], {}
    for _ in range(2):
        gradient = pytensor.grad(gradient.sum(), start)
        for variable in pytensor.graph.traversal.ancestors([gradient]):
            if is_scan(variable.owner) and variable.owner.op.info.n_mit_mot:
                infos.setdefault(variable.owner.op.name.count("grad_of"), variable.owner.op.info)
    assert set(infos) == {1, 2}
    for order, info in infos.items():
        slices = info.mit_mot_in_slices[0], info.mit_mot_out_slices[0]
        assert drawn_taps(scene, "x", order) == tuple(map(set, slices))
