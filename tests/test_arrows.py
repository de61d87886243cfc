"""Arrows run through no box, and tell where they come from and where they go."""

import pytest
from arrows import ambiguous, arrows, boxes, through_boxes
from strange_loops import LOOPS, WRT

import visual
from lab import gallery
from visual.scene import Arrow, Box, Group, Scene
from visual.theme import Role

EVERY = {**gallery.loops, **LOOPS}
EVERY["ten thousand steps"] = EVERY["ten thousand steps"].with_steps(40)  # folded as well


def drawn(name, picture, order):
    return visual.draw(EVERY[name], picture, order=order, **WRT.get(name, {}))


@pytest.mark.parametrize("name", EVERY)
def test_arrows_of_the_unrolled_picture_are_clear(name):
    scene = drawn(name, "unrolled", 2)
    assert arrows(scene)
    assert through_boxes(scene) == []
    assert ambiguous(scene) == []


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
    assert len(boxes(scene_of())) == 6
    assert through_boxes(scene_of(straight, bent, other, own, over)) == []
    assert len(through_boxes(scene_of(across))) == 1
    assert len(through_boxes(scene_of(curve))) == 1
    assert ambiguous(scene_of(straight, bent, own)) == []
    assert len(ambiguous(scene_of(bent, other))) == 1
