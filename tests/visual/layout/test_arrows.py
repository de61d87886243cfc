"""Arrows run through no box, and tell where they come from and where they go."""

from itertools import combinations

import pytensor.tensor as pt
import pytest
from pictures import ambiguous, arrows, boxes, through_boxes
from strange_loops import LOOPS, WRT

import lab
import visual
from lab.loops import gallery
from visual.scene.shapes import Arrow, Box, Group, Scene, Text
from visual.scene.theme import Role

pytestmark = pytest.mark.sizes

EVERY = {**gallery.loops, **LOOPS}
EVERY["a thousand steps"] = EVERY["a thousand steps"].with_steps(40)  # folded as well
EVERY["three"] = lab.Loop(
    lambda x, y, z: (x * y, y + z, pt.sin(z) * x),
    states=tuple(lab.State(name, start) for name, start in (("x", 0.5), ("y", 0.6), ("z", 0.7))),
    n_steps=3,
)


def drawn(name, picture, order):
    return visual.draw(EVERY[name], picture, order=order, **WRT.get(name, {}))


@pytest.mark.parametrize("all_", [False, True])
@pytest.mark.parametrize("name", EVERY)
def test_arrows_of_the_unrolled_picture_are_clear(name, all_):
    scene = visual.draw(EVERY[name], "unrolled", order=2, all=all_, **WRT.get(name, {}))
    assert arrows(scene)
    assert through_boxes(scene) == []
    assert ambiguous(scene) == []


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("picture", ["ssa", "tapes"])
def test_arrows_of_tapes_are_clear(name, picture):
    scene = drawn(name, picture, 2)
    assert arrows(scene)
    assert through_boxes(scene) == []
    assert ambiguous(scene) == []


def crowded(scene):
    """Pairs of arrows whose heads lie over one another, though they come from different boxes."""
    heads = [(arrow.points[-1], arrow) for arrow in arrows(scene) if not arrow.faded]
    return [
        (one, other)
        for ((x0, y0), one), ((x1, y1), other) in combinations(heads, 2)
        if abs(x0 - x1) < 7 and abs(y0 - y1) < 7
    ]


@pytest.mark.parametrize("number", range(1, 9))
def test_arrowheads_of_the_figures_are_apart(number):
    assert crowded(visual.figure(number)) == []


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("name", gallery.loops)
def test_arrowheads_of_the_unrolled_picture_are_apart(name, order):
    assert crowded(visual.draw(gallery.loops[name], "unrolled", order=order)) == []


def scene_of(*found):
    corners = [(0, 0), (100, 0), (200, 0), (0, 100), (100, 100), (200, 100)]
    cells = [
        Group((Box(x, y, 50, 20, Role.INPUT),), cell=str(n)) for n, (x, y) in enumerate(corners)
    ]
    return Scene(300, 200, (*cells, *found), "", "")


def test_the_checkers_see_what_is_wrong():
    straight = Arrow(((50, 10), (100, 10)))
    bent = Arrow(((25, 20), (25, 50), (225, 50), (225, 100)), straight=True)
    other = Arrow(((125, 20), (125, 50), (160, 50), (160, 110), (150, 110)), straight=True)
    own = Arrow(((125, 20), (125, 60), (160, 60), (160, 110), (150, 110)), straight=True)
    across = Arrow(((50, 10), (200, 10)))
    curve = Arrow(((50, 10), (90, 20), (160, 20), (200, 10)))
    over = Arrow(((25, 0), (25, -20), (225, -20), (225, 0)))
    assert crowded(scene_of(straight, bent, other, over)) == []
    assert crowded(scene_of(bent, Arrow(((225, 20), (225, 98))))) != []
    assert len(boxes(scene_of())) == 6
    assert through_boxes(scene_of(straight, bent, other, own, over)) == []
    assert len(through_boxes(scene_of(across))) == 1
    assert len(through_boxes(scene_of(curve))) == 1
    assert ambiguous(scene_of(straight, bent, own)) == []
    assert len(ambiguous(scene_of(bent, other))) == 1


def letters_of(scene):
    """What the columns of the SSA form say that they hold: a quantity, and below it its slot."""
    found = texts(scene)
    above = {(t.x, t.y): t.content for t in found}
    return {
        t.content.removeprefix("slot "): above[t.x, t.y - 13]
        for t in found
        if t.content.startswith("slot ")
    }


def test_every_letter_of_the_ssa_form_is_one_slot_and_has_a_name():
    scene = visual.draw(EVERY["square"], "ssa", order=2, all=True)
    found = letters_of(scene)
    columns = sum(shape.content.startswith("slot ") for shape in texts(scene))
    assert len(found) == columns == 15  # five slots each in three Scans
    assert found["a"] == "dC/dx₄"
    assert found["e"] == "dC/dx₀"


@pytest.mark.parametrize("name", gallery.loops)
def test_slots_that_hold_several_values_are_those_that_some_step_writes(name):
    """One column for each, in the Scan that is open, and for what they read if there is room."""
    trace = gallery.loops[name].trace(order=2)
    scan = trace.scans[-1]
    expected, read = 0, 0
    for tape in scan.tapes:
        if not tape.is_total:
            written = [int(row) for access in tape.writes for row in access.rows]
            read += len({int(row) for access in tape.reads for row in access.rows} - {*written})
            expected += len({row for row in written if not tape.unwritten[row]})
            expected += len(
                {row for row in written if tape.unwritten[row] and written.count(row) > 1}
            )
    scene = visual.ssa(trace)
    assert len(letters_of(scene)) in (expected, expected + read)
    assert name not in ("square", "rnn") or len(letters_of(scene)) == expected + read > expected
    boxed = [g.title for g in scene.groups() if g.cell and len(words(g)) == 2]
    assert len(boxed) >= 2 * expected


def words(group):
    return [s for s in group.shapes if isinstance(s, Text)]


def texts(scene):
    return [shape for shape in scene.walk() if isinstance(shape, Text)]


def test_letters_of_slots_are_no_names_of_variables():
    loop = lab.Loop(
        lambda a, d: a * d,
        states=(lab.State("a", 0.5),),
        parameters=(lab.Parameter("d", 2.0),),
        n_steps=3,
    )
    assert list(letters_of(visual.draw(loop, "ssa", all=True))) == ["b", "c", "e", "f"]
