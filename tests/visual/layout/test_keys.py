"""A key identifies one quantity in all pictures."""

import re

import pytest
from strange_loops import trace_of

import visual
from lab.loops import gallery
from visual.layout.cells import full_text

pytestmark = pytest.mark.same

LOOPS = ("square", "gap", "rnn", "extra", "coupled")
ONE_STEP = ("stepgraph",)
VALUE = re.compile(r" = (.*?)(?: \(before: (.*)\))?$", re.DOTALL)


def drawn(loop, picture, **options):
    return visual.draw(gallery.loops[loop], picture, order=2, **options)


def values(scene):
    """Return for every key the values in the tooltips of its cells."""
    found = {}
    for group in scene.groups():
        told = VALUE.search(group.title)
        formula = "[t" in group.title.partition(" = ")[2]  # of the saved value
        if group.cell and told and ":node " not in group.cell and not formula:
            found.setdefault(group.cell, set()).update(v for v in told.groups() if v)
    return found


def held(trace):
    """For every key the values that the quantity, or the slot, ever has."""
    found, root = {}, 0
    for number, scan in enumerate(trace.scans):
        for variable in scan.parameters:
            found.setdefault(f"{root}:{variable.name}:r0", []).append(variable.value)
        for sequence in scan.sequences:
            for index, value in zip(sequence.axis.index, sequence.values, strict=True):
                found.setdefault(f"{root}:{sequence.name}:{index}", []).append(value)
        for tape in (*scan.tapes, *scan.outputs):
            for row in range(len(tape.final)):
                in_time = tape.axis is not None
                of = f"{root}:{tape.name}:{tape.axis.index[row]}" if in_time else ""
                key = of or f"{number}:{tape.name}:r{row}"
                passed = [tape.contents(step)[row] for step in range(scan.steps)]
                if tape.is_total and row:  # one slot, which contained the previous total
                    passed.append(tape.final[row - 1])
                found.setdefault(key, []).extend([tape.initial[row], tape.final[row], *passed])
    return {key: {full_text(value) for value in all_} for key, all_ in found.items()}


def cells(scene):
    return {group.cell for group in scene.groups() if group.cell}


def strange(found, known):
    """Return the keys of cells with a value that the quantity never has."""
    return {key: told - known.get(key, set()) for key, told in found.items()}


@pytest.mark.parametrize("picture", [*ONE_STEP, "unrolled"])
@pytest.mark.parametrize("loop", LOOPS)
def test_under_each_key_stands_a_value_that_the_quantity_has(loop, picture):
    trace = trace_of(loop, 2)
    known, compared = held(trace), 0
    for scan in range(1, len(trace.scans) + 1):
        scene = drawn(loop, picture, scan=scan)
        found = {key: told for key, told in values(scene).items() if not key.startswith("C")}
        assert not any(strange(found, known).values()), strange(found, known)
        compared += len(found)
    assert compared > 4


def test_the_checker_sees_another_quantity():
    trace = trace_of("rnn", 2)
    known = held(trace)
    wrong = {"0:h:1": {full_text(trace.scans[1].tapes[0].final[3])}}
    assert strange(wrong, known) == wrong


@pytest.mark.parametrize("loop", LOOPS)
def test_what_a_step_graph_reads_and_writes_is_in_the_tapes(loop):
    trace, tapes = trace_of(loop, 2), cells(drawn(loop, "tapes", all=True))
    for scan, of in enumerate(trace.scans, start=1):
        scene = drawn(loop, "stepgraph", scan=scan)
        inside = {key for key in cells(scene) if re.fullmatch(r"\d+:node \d+", key)}
        written = len({(r.target.argument, r.target.tap) for r in of.results if r.target})
        assert len((cells(scene) - inside) & tapes) >= written
        others = cells(scene) - inside - tapes
        assert not {key for key in others if re.match(r"\d+:d", key)}
