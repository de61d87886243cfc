"""Pictures are at most 840 pixels wide, with letters of 11 pixels or more; texts fit in cells."""

import re
from unittest.mock import Mock

import numpy as np
import pytest
from pictures import words_of
from pictures.checkers import Picture, inside, sized
from strange_loops import LOOPS, loop_of, trace_of

import lab
import visual
from lab.loops import gallery
from visual.layout import placing
from visual.layout.canvas import with_distinct_numbers
from visual.layout.cells import draw_cell, draw_low_cell, strip
from visual.layout.sheet import Sheet
from visual.layout.table import Cell
from visual.scene.combinators import envelope_of
from visual.scene.shapes import Box, Text
from visual.scene.theme import THEMES, Role, contrast, heat_color

CHAIN = [f"s{number}" for number in range(20)]
LARGE = {
    "two thousand steps": LOOPS["a thousand steps"].with_steps(2000),
    "twenty states": lab.Loop(
        lambda **v: [v[n] * v[m] * 0.9 for n, m in zip(CHAIN, [*CHAIN[1:], CHAIN[0]], strict=True)],
        states=tuple(lab.State(name, 0.5 + 0.02 * n) for n, name in enumerate(CHAIN)),
        n_steps=4,
    ),
    "64 units": lab.Loop.from_text(
        "tanh(w@h)", {"h": np.linspace(-1, 1, 64)}, {}, {"w": np.eye(64) * 0.9}, n_steps=6
    ),
    "thirty steps and far taps": gallery.loops["gap"].with_steps(30),
}


def faults(scene):
    """Return the faults of a picture that must be 840 pixels wide."""
    picture = Picture("", "", scene, {"width": 840})
    return [*sized(picture), *inside(picture)]


def rows_of(scene):
    """Return the numbers of the steps that have a row."""
    labels = (s.content for s in scene.walk() if isinstance(s, Text) and s.bold)
    return [int(match[1]) for label in labels if (match := re.fullmatch(r"step (\d+)", label))]


@pytest.mark.parametrize(("name", "order", "notes"), [("∂C/∂x", 1, 0), ("x", 1, 0), ("x", 2, 1)])
def test_a_note_explains_direct_contributions_only_if_the_picture_shows_some(name, order, notes):
    """A second derivative reads direct contributions. A state can be named ∂C/∂x."""
    scene = visual.tapes(loop_of(name, 0.9, lambda x: x**2).trace(order=order))
    assert sum("∂: the direct contribution" in word for word in words_of(scene)) == notes


@pytest.mark.parametrize("name", ["__", "x = 1", "a, b", "‖x‖", "∂x"])
@pytest.mark.parametrize("kind", ["tapes", "phases"])
def test_every_name_has_the_words_of_v(kind, name):
    def words(state):
        loops = [loop_of(state, np.array(x), lambda v: v**2 + 3 * v) for x in (0.5, [0.5, 1.5])]
        scenes = (visual.draw(loop, kind, cost="sum") for loop in loops)
        return [sorted(" ".join(words_of(s)).replace(state, "v").split()) for s in scenes]

    assert words(name) == words("v")


def test_the_last_of_many_scans_is_shown_and_others_are_counted():
    trace = trace_of("square", 4)
    tapes, unrolled = visual.tapes(trace), visual.unrolled(trace)
    assert faults(tapes) == faults(unrolled) == []
    assert rows_of(tapes) == [0, 1, 2, 3]
    assert re.search(r"16 Scans, .*\n?.*of them not shown", tapes.text())
    bold = [s.content for s in unrolled.walk() if isinstance(s, Text) and s.bold and s.size == 13]
    assert bold[0].startswith("1 · square")
    assert re.search(r"16 · ∇C\S+ through 1\b", " ".join(bold))


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("name", LARGE)
def test_large_loops_fit_and_name_the_hidden_steps(name, order):
    scene = visual.tapes(LARGE[name].trace(order=order))
    assert faults(scene) == []
    rows, steps = rows_of(scene), LARGE[name].steps
    assert {0, steps - 1} <= set(rows)
    if len(rows) < steps:
        assert f"⋯ {steps - len(rows):,} steps are not shown: step=" in scene.text()
    if name == "twenty states":
        assert all(f"buf_d{'2' * (order - 1)}{state}[" in scene.text() for state in CHAIN)


def test_columns_that_cannot_fit_are_omitted_before_any_width_is_computed(monkeypatch):
    pitch = Mock(side_effect=placing._pitch)
    monkeypatch.setattr(placing, "_pitch", pitch)
    assert faults(visual.draw(gallery.loops["square"].with_taps((-999,)), "tapes")) == []
    assert pitch.call_count < 100


@pytest.mark.parametrize("kind", ["tapes", "unrolled", "ssa"])
def test_both_ends_of_a_long_loop_are_shown_and_the_requested_step(kind):
    loop = gallery.loops["square"].with_steps(60)
    for requested, step in (([], None), ([30], 30)):
        scene = visual.draw(loop, kind, step=step)
        if kind == "unrolled":
            middle = {"x₃₀"} if requested else set()
            assert {*words_of(scene)} & {"x₀", "x₃₀", "x₆₀"} == {"x₀", "x₆₀"} | middle
        else:
            assert {0, 59, *requested} <= set(rows_of(scene))
            assert len(rows_of(scene)) <= 6 + 3 * len(requested)


def test_some_steps_are_selected():
    chosen = ("1:3", [1, 2]), (range(1, 3), [1, 2]), (":2", [0, 1]), (6, [*range(6)])
    for steps, rows in chosen:
        scene = visual.draw(gallery.loops["square"], steps=steps)
        assert rows_of(scene) == rows
        assert ("1 step is not shown" in scene.text()) == (1 in rows and 0 not in rows)


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("name", ["square", "gap", "coupled", "newton"])
def test_a_narrow_picture_shows_read_values_above_slots(name, order):
    """A read value is above the slot that the step computes from it, in the same column."""
    scene = visual.tapes(trace_of(name, order), scan=2**order, sheet=Sheet(width=360))
    boxes = [(g.title.split(" = ")[0].split(":")[0], g.shapes[0]) for g in scene.groups() if g.cell]
    slots = {label: box for label, box in boxes if label.startswith("d") and box.height > 21}
    read = [(label, box) for label, box in boxes if isinstance(box, Box) and box.role is Role.READ]
    assert read
    columns = {round(box.x + box.width / 2) for box in slots.values()}
    assert [label for label, box in read if round(box.x + box.width / 2) not in columns] == []


def cell_of(box, value, name):
    cell = Cell(box.role, name, np.asarray(value), key=name, quantity=name[0])
    return draw_cell(cell, box) if box.height > 20 else draw_low_cell(cell, box, "dC/dx₀")


@pytest.mark.parametrize(
    ("values", "texts", "height"),
    [
        ((1.5, 2.5), "1.5 2.5", 40),
        ((1.4142, 1.4143), "1.4142 1.4143", 40),
        ((1.41421, 1.41424, 3.0), "1.41421 1.41424 3", 40),
        ((0.25, 0.25, np.nan, np.nan), "0.25 0.25 ⚠ nan ⚠ nan", 40),  # they are the same
        ((2**0.5, 2**0.5 + 1e-12), "1.414… 1.414…", 40),  # too long for a cell
        ((2.82841, 2.82842), "dC/dx₀ 2.828… dC/dx₀ 2.828…", 20),  # too long next to a label
    ],
)
def test_neighbors_that_differ_look_different(values, texts, height):
    drawn = [cell_of(Box(0, 0, 92, height, Role.SPENT), value, "x") for value in values]
    assert " ".join(words_of(with_distinct_numbers(drawn))) == texts


@pytest.mark.parametrize(("width", "value"), [(72, 0.5), (110, 0.5), (72, [3.0]), (110, [3.0])])
def test_a_name_is_whole_if_it_fits_in_letters_of_11_pixels(width, value):
    """The name is 72 pixels wide in bold letters of 12 pixels, and an array also has a strip."""
    cell = Cell(Role.SPENT, "x", np.asarray(value), label="dC/dx_init₀")
    shapes = draw_cell(cell, Box(0, 0, width, 40, Role.SPENT)).shapes
    (name,) = (shape for shape in shapes if isinstance(shape, Text) and shape.content == cell.label)
    assert name.size >= 11
    assert all(shape.width > 0 for shape in shapes if isinstance(shape, Box))
    assert all(envelope_of(shape).right <= width for shape in shapes)


def test_other_quantities_and_rows_are_not_changed():
    positions = (0, 0, 1.4142, "x₀"), (100, 0, 1.4143, "y₀"), (0, 50, 1.4143, "x₁")
    drawn = [cell_of(Box(x, y, 90, 40, Role.SPENT), value, name) for x, y, value, name in positions]
    assert with_distinct_numbers(drawn) == (*drawn,)


@pytest.mark.parametrize("theme", THEMES.values())
@pytest.mark.parametrize("faded", [False, True])
def test_a_strip_of_zeros_has_a_visible_edge(theme, faded):
    for role in Role:
        box = Box(0, 0, 90, 40, role, faded=faded)
        edge, *entries = strip(box, np.zeros(3), 0.0)
        colors = edge.color(theme), heat_color(0.0, theme)  # at least one contrasts with the box
        assert max(contrast(color, theme.look(role, faded).fill) for color in colors) >= 1.5
        assert len(entries) == 3
        around = envelope_of(edge)
        assert all(envelope_of(entry).around(around) == around for entry in entries)


@pytest.mark.parametrize("shape", [(1,), (3,), (2, 3), (100,), (40, 50)])
def test_a_strip_has_entries_of_the_array_in_order_and_both_ends(shape):
    value = np.arange(1.0, 1 + np.prod(shape)).reshape(shape)
    _, *patches = strip(Box(0, 0, 200, 90, Role.SPENT), value, 0.0)
    shown = [patch.heat for patch in patches]
    assert shown == (value.ravel().tolist() if value.size < 8 else sorted({*shown}))
    assert (shown[0], shown[-1]) == (1, value.size)
