"""The letters of the SSA form: one for each slot that holds several values."""

import pytest
from strange_loops import trace_of

import lab
import visual
from lab.loops import gallery
from visual.scene.shapes import Text


def letters_of(scene):
    """Return the headings of the columns of the SSA form: a quantity, and its slot below."""
    found = texts(scene)
    above = {(t.x, t.y): t.content for t in found}
    return {
        t.content.removeprefix("slot "): above[t.x, t.y - 13]
        for t in found
        if t.content.startswith("slot ")
    }


def test_every_letter_of_the_ssa_form_is_one_slot_and_has_a_name():
    scene = visual.draw(gallery.loops["square"], "ssa", order=2)
    found = letters_of(scene)
    columns = sum(shape.content.startswith("slot ") for shape in texts(scene))
    assert len(found) == columns == 5
    assert found["a"] == "dC′/dx₄"
    assert found["e"] == "dC′/dx₀"


@pytest.mark.parametrize("name", gallery.loops)
def test_slots_that_hold_several_values_have_a_column(name):
    """Each result of the open Scan has a column, and so has each input if all inputs fit."""
    trace = trace_of(name, 2)
    expected, read = 0, 0
    for tape in trace.scans[-1].tapes:
        if not tape.is_total:
            written = [int(row) for access in tape.writes for row in access.rows]
            read += len({int(row) for access in tape.reads for row in access.rows} - {*written})
            several = (not tape.unwritten[row] or written.count(row) > 1 for row in {*written})
            expected += sum(several)
    scene = visual.ssa(trace)
    assert len(letters_of(scene)) in (expected, expected + read)
    assert name not in ("square", "rnn") or len(letters_of(scene)) == expected + read > expected
    words = ([s for s in g.shapes if isinstance(s, Text)] for g in scene.groups() if g.cell)
    assert sum(len(texts) == 2 for texts in words) >= 2 * expected


def texts(scene):
    return [shape for shape in scene.walk() if isinstance(shape, Text)]


def test_letters_of_slots_are_no_names_of_variables():
    loop = lab.Loop(
        lambda a, d: a * d,
        states=(lab.State("a", 0.5),),
        parameters=(lab.Parameter("d", 2.0),),
        n_steps=3,
    )
    assert sorted(letters_of(visual.draw(loop, "ssa"))) == ["b", "c", "e", "f"]
