"""Tapes fit where they are seen: 840 × 1,200 pixels, letters of 11 and more, 100 KB."""

import re
from dataclasses import replace

import numpy as np
import pytensor.tensor as pt
import pytest
from pictures import too_large
from strange_loops import LOOPS, trace_of

import lab
import visual
from lab.loops import gallery
from visual.layout.sheet import Sheet
from visual.pictures.tapes.block import TIGHT
from visual.pictures.tapes.fit import BRIEF, FULL, NAMES, Plan, fitting
from visual.scene.shapes import Box, Scene, Text
from visual.scene.theme import LIGHT, Role

pytestmark = pytest.mark.sizes

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


def beyond(scene):
    """Texts that run out of the picture."""
    texts = (shape for shape in scene.walk() if isinstance(shape, Text))
    return [t.content for t in texts if t.left < 0 or t.left + t.width > scene.width]


def rows_of(scene):
    """The steps that have a row."""
    labels = (s.content for s in scene.walk() if isinstance(s, Text) and s.bold)
    return [int(found[1]) for label in labels if (found := re.fullmatch(r"step (\d+)", label))]


@pytest.mark.parametrize("name", gallery.loops)
def test_every_gallery_loop_is_drawn_with_all_its_steps(name):
    for order in (1, 2, 3):
        trace = trace_of(name, order)
        assert rows_of(visual.tapes(trace)) == list(range(trace.scans[0].steps))


def titles(scene, size):
    return [
        s.content
        for s in scene.walk()
        if isinstance(s, Text) and s.bold and s.size == size and " · " in s.content
    ]


@pytest.mark.parametrize("order", [4, 6])
@pytest.mark.filterwarnings("ignore:order 6 makes about 64 Scans")
def test_of_many_scans_those_are_named_that_are_folded(order):
    trace = trace_of("square", order)
    scene = visual.tapes(trace)
    assert too_large(scene.svg()) == []
    assert rows_of(scene) == [0, 1, 2, 3]
    told = scene.text()
    assert f"{2**order} Scans, " in told
    assert "Scans not shown" in told


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("name", LARGE)
def test_large_loops_fit_and_say_what_is_folded(name, order):
    scene = visual.tapes(LARGE[name].trace(order=order))
    assert too_large(scene.svg()) == []
    assert beyond(scene) == []
    rows, steps = rows_of(scene), LARGE[name].steps
    assert {0, steps - 1} <= set(rows)
    if len(rows) < steps:
        assert re.search(r"not shown: unfold=\d+ opens it", scene.text())
    if name == "twenty states":
        assert "more tapes" in scene.text()


@pytest.mark.parametrize("kind", ["unrolled", "rolled"])
@pytest.mark.parametrize("name", LARGE)
def test_large_loops_fit_unrolled_as_well(name, kind):
    """What is folded is counted, with the word that opens it; the result is always there."""
    scene = visual.draw(LARGE[name], kind, order=2)
    assert too_large(scene.svg()) == []
    assert beyond(scene) == []
    told = scene.text()
    if LARGE[name].steps > 12:
        assert "not shown: unfold=STEP opens them" in told
    if name == "twenty states":
        assert "more rows: all=True shows everything" in told
    boxes = [s for s in scene.walk() if isinstance(s, Box) and s.height > 20]
    assert Role.RESULT in {box.role for box in boxes} or kind == "rolled"


@pytest.mark.parametrize("order", [4, 6])
@pytest.mark.filterwarnings("ignore:order 6 makes about 64 Scans")
def test_of_many_scans_the_last_is_unrolled_below_its_loop(order):
    scene = visual.draw(gallery.loops["square"], "unrolled", order=order)
    assert too_large(scene.svg()) == []
    drawn = [s.content for s in scene.walk() if isinstance(s, Text) and s.bold and s.size == 13]
    assert drawn[0].startswith("1 · square")
    assert re.search(rf"{2**order} · C\S+ back through 1\b", " ".join(drawn))


def test_what_is_too_large_is_seen():
    good = visual.tapes(trace_of("square", 1))
    assert too_large(good.svg()) == []
    small = Text(20, 20, "small", 10)
    for wrong in (
        replace(good, width=841),
        replace(good, height=1201),
        replace(good, shapes=(*good.shapes, small)),
        replace(good, shapes=good.shapes * 40),
        visual.tapes(trace_of("square", 2), all=True),
    ):
        assert too_large(wrong.svg())
    assert beyond(Scene(100, 50, (Text(90, 20, "too far"),), "", "", LIGHT)) == ["too far"]


def test_everything_is_drawn_on_demand():
    """Three tapes of four steps each, and the loop."""
    scene = visual.tapes(trace_of("square", 2), all=True)
    assert rows_of(scene) == [0, 1, 2, 3] * 3
    assert [title[:3] for title in titles(scene, 16)] == ["1 ·", "2 ·", "3 ·", "4 ·"]


def test_one_walks_through_all_steps_of_all_scans():
    """Of four Scans of four steps one is open; the slots of the others wait for their steps."""
    scene = visual.tapes(trace_of("square", 2))
    assert list(scene.moments) == list(range(16))
    assert scene.moments[7] == "2 · C back through 1, step 3"


@pytest.mark.parametrize("high", [450, 500, 550, 600])
@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("name", ["square", "gap", "coupled", "rnn", "newton"])
def test_a_low_picture_fits(name, order, high):
    scene = visual.tapes(trace_of(name, order), sheet=Sheet(height=high))
    assert scene.height <= high
    assert beyond(scene) == []


@pytest.mark.parametrize(
    ("room", "expected"),
    [
        (180, (None, None, True, FULL)),
        (179, (None, None, True, BRIEF)),
        (177, (None, None, False, FULL)),
        (176, (None, None, False, BRIEF)),
        (174, (None, 2, True, BRIEF)),
        (97, (8, None, False, FULL)),
        (0, (1, 0, False, NAMES)),
    ],
)
def test_what_is_given_up_comes_back_where_something_dearer_had_to_go(room, expected):
    """By hand: 16 tapes need 10 each, the steps at the ends 5 each, arrows 3, the legend 2."""

    def fits(plan):
        tapes, ends = (most if n is None else n for n, most in ((plan.tapes, 16), (plan.ends, 3)))
        arrows, legend = plan.rows < TIGHT, plan.below == FULL
        return 10 * tapes + 5 * ends + 3 * arrows + 2 * legend <= room

    plan = fitting(Plan(), fits)
    assert (plan.tapes, plan.ends, plan.rows < TIGHT, plan.below) == expected


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("name", ["square", "gap", "coupled", "newton"])
def test_in_a_narrow_picture_what_is_read_stands_above_its_gradient(name, order):
    """As ``x₄`` above dC/dx₄: in no other column."""
    scene = visual.tapes(trace_of(name, order), scan=2**order, sheet=Sheet(width=360))
    boxes = [(g.title.split(" = ")[0].split(":")[0], g.shapes[0]) for g in scene.groups() if g.cell]
    slots = {told: box for told, box in boxes if told.startswith("d") and box.height > 21}
    read = [(told, box) for told, box in boxes if isinstance(box, Box) and box.role is Role.READ]
    assert read
    columns = {round(box.x + box.width / 2) for box in slots.values()}
    for told in {told for told, _ in read}:
        middles = {round(box.x + box.width / 2) for name, box in read if name == told}
        assert middles <= columns, told
