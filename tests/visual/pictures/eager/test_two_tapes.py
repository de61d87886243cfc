"""A loop on the eager tape and on the tapes of its Scan has the same numbers at each step."""

import re
from dataclasses import replace
from functools import lru_cache

import pytest
from eager.programs import REFUSED, TWO_TAPES
from pictures import at_step, keyed_boxes, touches
from twins import assert_twin

import visual
from lab.loops.gallery import loops
from visual.scene.shapes import Arrow, Box, Group, Text
from visual.scene.theme import Role

drawn = lru_cache(lambda name, wrt: visual.two_tapes(loops[name], wrt=wrt, all=True))


def texts(shapes):
    return [shape.content for shape in shapes if isinstance(shape, Text)]


def value_of(title):
    """The numbers at the end of a tooltip."""
    written = title.rpartition(" = ")[2].split(" (")[0]
    return [float(number) for number in re.findall(r"-?[\d.]+(?:e[-+]?\d+)?|nan|inf", written)]


def middle(scene):
    """Where the half of the Scan begins."""
    return next(s.x for s in scene.walk() if isinstance(s, Text) and s.content == "the Scan")


def unmatched(scene, wrt):
    """Slots of the Scan whose value the eager half does not have in the same moment.

    The eager half has no gradients of initial values except `wrt`, and a gradient that did not
    arrive at a node is a zero in the slot.
    """
    cells = [(title, box, box.x < middle(scene) - 1) for _, title, box in keyed_boxes(scene)]
    wrong = []
    for moment, name in scene.moments.items():
        shapes = at_step(scene, moment)
        here = [(title, is_eager) for title, box, is_eager in cells if box in shapes]
        known = [value_of(title) for title, is_eager in here if is_eager]
        for title, is_eager in here:
            value, is_slot = value_of(title), ", slot " in title
            is_other = name == "gradients of the start" and f"/d{wrt}" not in title
            if is_slot and not is_eager and not is_other and value != [0] * len(value):
                equal = (pytest.approx(value, rel=1e-12) == other for other in known)
                wrong += [] if any(equal) else [title]
    return wrong


# The first step of coupled computes hunters₁ without birth, and therefore without a node.
@pytest.mark.parametrize(("name", "wrt"), [c for c in TWO_TAPES if c != ("coupled", "birth")])
def test_both_sides_have_the_same_values_in_every_moment(name, wrt):
    scene = drawn(name, wrt)
    assert unmatched(scene, wrt) == []
    steps = loops[name].trace(wrt=wrt).scans[0].steps
    assert sum(", slot " in title for _, title, _ in keyed_boxes(scene)) > steps


def test_another_value_on_one_side_is_noticed():
    scene = drawn("square", "x")
    box = Box(middle(scene), 0, 9, 9, Role.SEED)
    wrong = Group((box,), 1, cell="x", title="x₂, slot 2 of x = 0.8146", moment="step 1")
    assert unmatched(replace(scene, shapes=(*scene.shapes, wrong)), "x") == [wrong.title]


@pytest.mark.parametrize(("name", "wrt"), TWO_TAPES)
def test_moments_are_in_the_order_of_the_run_and_no_gradient_comes_early(name, wrt):
    scene, steps = drawn(name, wrt), range(loops[name].trace(wrt=wrt).scans[0].steps)
    outside = ("after the loop", "gradients of what follows the loop")
    assert [moment for moment in scene.moments.values() if moment not in outside] == [
        *(f"step {step} of the loop" for step in steps),
        *(f"gradients of step {step}" for step in reversed(steps)),
        "gradients of the start",
    ]
    early = [m for m, moment in scene.moments.items() if not moment.startswith("gradients of")]
    shown = [word for moment in early for word in texts(at_step(scene, moment))]
    assert shown
    assert [word for word in shown if re.match("[d∂]", word)] == []


def arrows_of(scene, right):
    """(from, to) of all arrows of one half, by the labels of their boxes, values and gradients."""
    boxes = {}
    for shape in scene.groups():
        if shape.cell and (shape.shapes[0].x > middle(scene) - 1) == right:
            boxes[shape.shapes[0]] = shape.title.split(" ")[0].rstrip(",")
            if shape.title.startswith("gradient of the result wrt "):
                boxes[shape.shapes[0]] = f"dC/d{shape.title.split()[5]}"
    found = set()
    for arrow in scene.walk():
        if isinstance(arrow, Arrow) and (arrow.points[0][0] > middle(scene)) == right:
            (start,) = [n for box, n in boxes.items() if touches(arrow.points[0], box, 1.1)]
            (end,) = [n for box, n in boxes.items() if touches(arrow.points[-1], box, 1.1)]
            found.add((start, end))
    return found


def test_arrows_of_the_square_loop():
    scene = drawn("square", "x")
    for right, name in ((False, "n"), (True, "x")):
        values = {(f"{name}{'₀₁₂₃'[i]}", f"{name}{'₁₂₃₄'[i]}") for i in range(4)}
        back = {(f"dC/d{end}", f"dC/d{start}") for start, end in values}
        assert arrows_of(scene, right) == values | back


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_unrolled_is_refused_in_a_sentence(name):
    with pytest.raises(REFUSED[name]):
        visual.two_tapes(loops[name])


def test_long_loops_fold_and_say_so():
    loop = loops["logistic"].with_steps(1000)
    scene = visual.two_tapes(loop, step=500)
    words = texts(scene.walk())
    hidden = [int(w.split()[1].replace(",", "")) for w in words if w.endswith("hidden")]
    shown = {int(w.split()[1].replace(",", "")) for w in words if w.startswith("step ")}
    assert shown == {0, 1, 2, 499, 500, 501, 997, 998, 999}
    assert sum(hidden) + len(shown) == 1000
    steps = [name for name in scene.moments.values() if name.endswith("of the loop")]
    assert steps == [f"step {step} of the loop" for step in sorted(shown)]


@pytest.mark.parametrize(("name", "wrt"), [("square", "x"), ("window", "u")])
def test_twins(name, wrt):
    assert_twin(f"two-tapes-{name}", drawn(name, wrt))
