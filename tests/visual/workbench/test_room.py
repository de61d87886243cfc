"""The picture of a workbench fits the window it is in, with letters that can be read."""

import re
from dataclasses import replace

import pytest

from lab.loops import gallery
from visual.drawing.catalogue import PICTURES
from visual.drawing.draw import drawn
from visual.layout.names import NamedScan, at_moment
from visual.layout.sheet import OFFLINE, PAGE, SCREEN
from visual.scene.shapes import Scene, Text
from visual.scene.theme import Role
from visual.workbench.controls import changed
from visual.workbench.state import BELOW, opened

pytestmark = pytest.mark.sizes

OVER = Role.OVERWRITTEN
WIDE, HIGH, SMALLEST = 1100, 620, 11  # what JupyterLab leaves of 1,280 × 900 below the controls


def too_much(scene, wide, high):
    """What of a picture is too wide, too high or too small."""
    sizes = [shape.size for shape in scene.walk() if isinstance(shape, Text)]
    return [
        *([f"{scene.width} pixels wide"] if scene.width > wide else []),
        *([f"{scene.height} pixels high"] if scene.height > high else []),
        *(f"text of {size} pixels" for size in sizes if size < SMALLEST),
    ]


def seen(name, order, view, room, moment=-1):
    bench = opened(gallery.loops[name]).changed(order=order, view=view)
    return replace(bench, room=room, moment=moment)


@pytest.mark.parametrize("view", ["tapes", "moment", "unrolled", "equations"])
@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("name", gallery.loops)
def test_every_loop_is_seen_whole(name, order, view):
    """Also where most of it is in the Scan that is open: in the third of a second derivative."""
    bench = seen(name, order, view, (WIDE, HIGH))
    third = [m for m, told in bench.moments.items() if told.startswith(f"{2 * order - 1} ·")]
    for moment in (-1, *third[1:2]):
        assert too_much(replace(bench, moment=moment).shown, WIDE, HIGH) == []


def rows(scene):
    """The steps that have a row."""
    return {
        s.content for s in scene.walk() if isinstance(s, Text) and s.content.startswith("step ")
    }


def in_short(scene):
    """The steps whose rows are one line."""
    names = [g.cell.split(":") for g in scene.groups() if g.cell.startswith("row:")]
    closed = closing(scene)
    return {f"step {step}" for what, step in names if f"{what}:{step}" not in closed}


def closing(scene):
    """The keys of what closes a fold that was opened."""
    return {group.cell for group in scene.groups() if group.title == "folded again"}


@pytest.mark.parametrize("order", [1, 2])
def test_who_walks_sees_all_steps_and_the_one_at_hand_whole(order):
    bench = seen("square", order, "tapes", (WIDE, HIGH))
    every = {f"step {step}" for step in range(4)}
    assert rows(bench.shown) == every
    assert in_short(bench.shown) == every - {"step 0"}
    for moment in bench.moments:
        scene = replace(bench, moment=moment).shown
        if not scene.moments[moment].startswith("1 ·"):
            assert in_short(scene) == every - {f"step {moment % 4}"}  # Scans of four steps each
            assert rows(scene) == every


def test_the_name_of_a_row_opens_it_alone():
    bench = seen("square", 2, "tapes", (WIDE, HIGH))
    for step in (2, 3, 1):
        bench = changed(bench, ["row", step], str(step))
        assert in_short(bench.shown) == {f"step {other}" for other in range(4)} - {f"step {step}"}
        assert too_much(bench.shown, WIDE, HIGH) == []


def test_the_row_that_was_opened_is_closed_by_the_same_key():
    bench = usual = seen("coupled", 2, "tapes", (WIDE, HIGH))
    assert closing(usual.shown) == set()
    bench = changed(bench, ["row", 2], "2")
    assert in_short(bench.shown) == {"step 0", "step 1"}
    assert closing(bench.shown) == {"row:2"}
    assert too_much(bench.shown, WIDE, HIGH) == []
    bench = changed(bench, ["row", 2], "2")
    assert in_short(bench.shown) == in_short(usual.shown) == {"step 1", "step 2"}
    walked = replace(usual, moment=[*usual.moments][-1])
    assert closing(walked.shown) == {"row:2"}
    assert changed(walked, ["row", 2], "2").shown == usual.shown


def test_a_fold_of_a_short_loop_in_a_low_place_opens_its_step_alone():
    """Scan 3 of coupled has three steps, of which one finds room, whichever that is."""
    bench = opened(gallery.loops["coupled"]).changed(order=2, view="tapes", options={"scan": 3})
    for high in (380, 480):
        bench = replace(bench, room=(840, high), moment=-1)
        for _ in range(4):
            cells = {group.cell for group in bench.shown.groups()} - closing(bench.shown)
            fold = min(cell for cell in cells if cell.startswith("unfold:"))
            step = int(fold.removeprefix("unfold:"))
            bench = changed(bench, ["fold", step], str(step))
            assert f"step {step}" in rows(bench.shown) - in_short(bench.shown)
            assert bench.shown.height <= high + 200  # a legend below is scrolled to


def test_steps_that_were_opened_are_folded_by_the_same_key_and_no_others_are():
    bench = usual = replace(
        opened(gallery.loops["square"]).changed(steps=40, view="tapes"), room=(WIDE, HIGH)
    )
    before = rows(usual.shown)
    bench = changed(bench, ["fold", 8], "8")
    assert closing(bench.shown) == {"unfold:8"}
    assert rows(bench.shown) >= {"step 8", "step 9", "step 10"}
    assert not before & {"step 8", "step 9", "step 10"}
    assert changed(bench, ["fold", 8], "8").shown == usual.shown
    bench = usual.changed(options={"unfold": (9, 21)})
    assert closing(bench.shown) == {"unfold:9", "unfold:21"}
    less = changed(bench, ["fold", 9], "9")
    assert "step 21" in rows(less.shown)
    assert "step 9" not in rows(less.shown)


def columns_of(scene):
    """The quantities that head a column of a tape, and those that a step writes over."""
    texts = [s.content for s in scene.walk() if isinstance(s, Text) and s.muted]
    heads = {told for told in texts if told.startswith("dC/d")}
    written = [g for g in scene.groups() if g.shapes and getattr(g.shapes[0], "role", "") == OVER]
    return heads, {group.title.split(":")[0] for group in written}


def test_every_step_that_is_opened_has_its_columns():
    """Of square, step k writes dC/dx at n−1−k."""
    bench = replace(
        opened(gallery.loops["square"]).changed(steps=40, view="tapes"), room=(WIDE, HIGH)
    )
    for step in (8, 20, 30):
        bench = changed(bench, ["fold", step], str(step))
        heads, written = columns_of(bench.shown)
        assert written <= heads
        assert len(written) == len({row for row in rows(bench.shown) if row[5:].isdigit()})


def test_where_there_is_no_room_beside_it_the_legend_stands_below():
    for wide in (840, 1091):
        scene = seen("square", 2, "tapes", (wide, HIGH)).shown
        assert too_much(scene, 840, HIGH + BELOW) == []
    assert seen("square", 2, "tapes", (0, 0)).shown == seen("square", 2, "tapes", (0, 0)).picture


CODE = re.compile(r"\b(?:unfold|scan|all|phase|step|tape)=\w+|step shows")


def in_code(sheet, view):
    """What a picture says of options as they are written in Python."""
    long, wide = gallery.loops["square"].with_steps(40), gallery.loops["coupled"]
    return {told for one in (long, wide) for told in CODE.findall(drawn(sheet, one, view).text())}


@pytest.mark.parametrize("view", PICTURES)
def test_what_is_folded_is_opened_by_what_there_is(view):
    assert in_code(PAGE, view) == in_code(OFFLINE, view) == set()


def test_what_is_written_in_code_is_found():
    assert {"unfold=3", "all=True"} <= in_code(SCREEN, "tapes") | in_code(SCREEN, "phases")


def test_what_is_too_large_is_found():
    fits = Scene(WIDE, HIGH, (Text(0, 20, "text", SMALLEST),), "title", "description")
    assert too_much(fits, WIDE, HIGH) == []
    small = replace(fits, shapes=(Text(0, 20, "text", 10.5),))
    for wrong in (replace(fits, width=WIDE + 1), replace(fits, height=HIGH + 1), small):
        assert len(too_much(wrong, WIDE, HIGH)) == 1


def test_a_fold_that_is_opened_closes_none_before_it():
    bench = replace(
        opened(gallery.loops["square"]).changed(steps=20, view="tapes"), room=(WIDE, HIGH)
    )
    clicked = {f"step {step}" for step in (3, 4, 5)}
    for step in (3, 4, 5):
        bench = changed(bench, ["fold", step], str(step))
    assert clicked <= rows(bench.shown)
    assert not clicked <= rows(bench.changed(options={"unfold": (5,)}).shown)


def test_a_fold_opens_some_steps_of_its_own_and_closes_none():
    bench = opened(gallery.loops["square"]).changed(steps=40, view="tapes")
    for room in ((WIDE, HIGH), (840, 720)):
        bench = replace(bench, room=room, moment=-1)
        before = rows(bench.shown)
        folds = [g.cell for g in bench.shown.groups() if g.cell.startswith("unfold:")]
        assert folds
        for step in {int(fold.removeprefix("unfold:")) for fold in folds}:
            after = rows(changed(bench, ["fold", step], str(step)).shown)
            assert after >= before | {f"step {n}" for n in range(step, step + 3)}


def test_each_fold_of_columns_opens_a_step_of_its_own():
    scene = drawn(PAGE, gallery.loops["square"], "tapes", steps=60, unfold=(30,))
    folds = {
        text.content: group.cell
        for group in scene.groups()
        if group.cell.startswith("unfold:")
        for text in group.shapes
        if isinstance(text, Text) and re.fullmatch(r"⋯\d+", text.content)
    }
    assert len(folds) == len({*folds.values()}) == 2


@pytest.mark.parametrize("name", ["square", "coupled"])
def test_on_a_phone_each_step_is_seen_to_write(name):
    """What it leaves in its slots has a column: their keys are those of the run."""
    for moment in seen(name, 1, "tapes", (274, HIGH)).moments:
        scene = seen(name, 1, "tapes", (274, HIGH), moment).shown
        scan, step = at_moment(scene.trace, moment)
        named = NamedScan(scene.trace, scan)
        tape = next(tape for tape in named.scan.held if not tape.is_total)
        written = {named.row_key(tape, int(write.rows[step])) for write in tape.writes}
        numbers = (cell for cell in scene.groups() if any(isinstance(s, Text) for s in cell.shapes))
        shown = {cell.cell for cell in numbers}  # which cells of small tapes have not
        assert written <= shown
