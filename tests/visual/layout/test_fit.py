"""Pictures are 840 pixels wide at most, with letters of 11 and more, and as high as they need."""

import re

import numpy as np
import pytensor.tensor as pt
import pytest
from pictures.checkers import Drawn, inside, sized
from strange_loops import LOOPS, trace_of

import lab
import visual
from lab.loops import gallery
from visual.layout.sheet import Sheet
from visual.scene.shapes import Box, Text
from visual.scene.theme import Role

pytestmark = pytest.mark.same

CHAIN = [f"s{number}" for number in range(20)]
LARGE = {
    "a thousand steps": LOOPS["a thousand steps"],
    "twenty states": lab.Loop(
        lambda **v: [v[n] * v[m] * 0.9 for n, m in zip(CHAIN, [*CHAIN[1:], CHAIN[0]], strict=True)],
        states=tuple(lab.State(name, 0.5 + 0.02 * n) for n, name in enumerate(CHAIN)),
        n_steps=4,
    ),
    "64 units": lab.Loop(
        lambda h, w: pt.tanh(w @ h),
        states=(lab.State("h", np.linspace(-1, 1, 64)),),
        parameters=(lab.Parameter("w", np.eye(64) * 0.9),),
        n_steps=6,
    ),
    "thirty steps and far taps": gallery.loops["gap"].with_steps(30),
}


def faults(scene):
    """Return the faults of a picture that must be 840 pixels wide."""
    drawn = Drawn("", "", scene, {"width": 840})
    return [*sized(drawn), *inside(drawn)]


def rows_of(scene):
    """The steps that have a row."""
    labels = (s.content for s in scene.walk() if isinstance(s, Text) and s.bold)
    return [int(found[1]) for label in labels if (found := re.fullmatch(r"step (\d+)", label))]


@pytest.mark.parametrize("order", [4, 6])
@pytest.mark.filterwarnings("ignore:order 6 builds about 64 Scans")
def test_of_many_scans_the_last_is_shown_and_others_are_counted(order):
    trace = trace_of("square", order)
    tapes, unrolled = visual.tapes(trace), visual.unrolled(trace)
    assert faults(tapes) == faults(unrolled) == []
    assert rows_of(tapes) == [0, 1, 2, 3]
    assert re.search(rf"{2**order} Scans, .*\n?.*of them not shown", tapes.text())
    bold = [s.content for s in unrolled.walk() if isinstance(s, Text) and s.bold and s.size == 13]
    assert bold[0].startswith("1 · square")
    assert re.search(rf"{2**order} · ∇C\S+ through 1\b", " ".join(bold))


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("name", LARGE)
def test_large_loops_fit_and_say_which_steps_are_not_shown(name, order):
    scene = visual.tapes(LARGE[name].trace(order=order))
    assert faults(scene) == []
    rows, steps = rows_of(scene), LARGE[name].steps
    assert {0, steps - 1} <= set(rows)
    if len(rows) < steps:
        assert re.search(r"not shown: step=\d+ shows step \d+", scene.text())
    if name == "twenty states":
        assert all(f"buf_d{'2' * (order - 1)}{state}[" in scene.text() for state in CHAIN)


@pytest.mark.parametrize("kind", ["tapes", "unrolled", "ssa"])
def test_both_ends_of_a_long_loop_are_shown_and_the_requested_steps(kind):
    loop = gallery.loops["square"].with_steps(60)
    wanted = (None, 30, (20, 41))
    plain, one, two = (visual.draw(loop, kind, step=step) for step in wanted)
    rows = [rows_of(scene) for scene in (plain, one, two)] if kind in ("tapes", "ssa") else []
    for found, wanted in zip(rows, ([], [30], [20, 41]), strict=False):
        assert {0, 59, *wanted} <= set(found)
        assert len(found) <= 6 + 3 * len(wanted)
    names = [{s.content for s in scene.walk() if isinstance(s, Text)} for scene in (plain, one)]
    if kind == "unrolled":
        assert "x₃₀" not in names[0]
        assert {"x₀", "x₃₀", "x₆₀"} <= names[1]


@pytest.mark.parametrize(
    ("steps", "rows"), [("1:3", [1, 2]), (range(1, 3), [1, 2]), (":2", [0, 1]), (6, [*range(6)])]
)
def test_some_steps_are_selected(steps, rows):
    scene = visual.draw(gallery.loops["square"], steps=steps)
    assert rows_of(scene) == rows
    assert ("1 step is not shown" in scene.text()) == (1 in rows and 0 not in rows)


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("name", ["square", "gap", "coupled", "newton"])
def test_in_a_narrow_picture_what_is_read_stands_above_a_slot(name, order):
    """It is above a slot that is computed from it, without a separate column."""
    scene = visual.tapes(trace_of(name, order), scan=2**order, sheet=Sheet(width=360))
    boxes = [(g.title.split(" = ")[0].split(":")[0], g.shapes[0]) for g in scene.groups() if g.cell]
    slots = {told: box for told, box in boxes if told.startswith("d") and box.height > 21}
    read = [(told, box) for told, box in boxes if isinstance(box, Box) and box.role is Role.READ]
    assert read
    columns = {round(box.x + box.width / 2) for box in slots.values()}
    for told in {told for told, _ in read}:
        middles = {round(box.x + box.width / 2) for name, box in read if name == told}
        assert middles <= columns, told
